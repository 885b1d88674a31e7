/* c_pool.c: memory pools of TVM's planner, which its lowered modules take as parameters behind the outputs of main. A workspace
 * pool is a part of our workspace. A constant pool is a struct with one array for each tensor at its offset: that keeps the
 * numbers readable and gives each byte the type that kernels read it with. */
#include "emit.h"
#include "ir/pool_info.h"

#include <string.h>

/* Constants in the order of their offsets; each with data, inside the pool, aligned to its elements, behind the one before. */
static bool order_constants(tg_emit *e, c_pool *p, const tg_value *list, tg_span at)
{
    p->nparts = list->n;
    p->part = TG_ARRAY(e->cx, c_pool_part, list->n);
    for (uint32_t i = 0; i < list->n; ++i) {
        tg_pool_constant c = tg_pool_constant_at(list, i);
        c_pool_part x = { c.offset, c.data, c.name, NULL };
        uint32_t k = i;
        for (; k > 0 && p->part[k - 1].offset > x.offset; --k)
            p->part[k] = p->part[k - 1];
        p->part[k] = x;
    }
    int64_t end = 0;
    for (uint32_t i = 0; i < p->nparts; ++i) {
        const c_pool_part *x = &p->part[i];
        int64_t size = x->data == NULL ? 0 : (int64_t)x->data->size_bytes;
        int64_t element = x->data == NULL ? 1 : (x->data->dl.dtype.bits + 7) / 8;
        if (x->data == NULL || x->offset < end || x->offset % element != 0 || size > p->size_bytes - x->offset) {
            tg_error(e->cx, at, "constant %s of a memory pool has no data or lies wrongly at byte %lld", x->name,
                     (long long)x->offset);
            return false;
        }
        end = x->offset + size;
    }
    return true;
}

bool c_pools_make(tg_emit *e, const tg_value *list)
{
    c_model *m = &e->model;
    const tg_func *f = m->main->f;
    int64_t used = 0;
    m->npools = list->n;
    m->pool = TG_ARRAY(e->cx, c_pool, list->n);
    for (uint32_t i = 0; i < list->n; ++i) {
        c_pool *p = &m->pool[i];
        const tg_value *constants = tg_pool_constants(list->item[i]);
        p->size_bytes = tg_pool_size(list->item[i]);
        if (p->size_bytes < 0 || p->size_bytes > TG_MAX_ELEMENTS) {
            tg_error(e->cx, f->span, "%s: pool %u has no size", f->name->text, i);
            return false;
        }
        if (constants != NULL) {
            if (constants->kind != TG_V_LIST || !order_constants(e, p, constants, f->span))
                return false;
            p->constant = true;
            continue;
        }
        p->offset = used;
        used = (used + p->size_bytes + 15) / 16 * 16;
        m->workspace_bytes = p->offset + p->size_bytes;
    }
    m->has_workspace = used > 0;
    return true;
}

void c_pools_name(tg_emit *e)
{
    for (uint32_t i = 0; i < e->model.npools; ++i) {
        c_pool *p = &e->model.pool[i];
        tg_map seen = { 0 };
        if (!p->constant)
            continue;
        p->name = c_global(e, "constants", strlen("constants"), "constants");
        for (uint32_t k = 0; k < p->nparts; ++k) {      /* members of one struct */
            const char *base = c_clean(e, p->part[k].name, strlen(p->part[k].name), "constant"), *name = base;
            for (unsigned n = 1; tg_map_get(&seen, TG_KEY(tg_intern_z(e->cx, name))) != NULL; ++n)
                name = tg_format(e->cx, "%s_%u", base, n);
            p->part[k].member = tg_intern_z(e->cx, name);
            tg_map_put(e->cx, &seen, TG_KEY(p->part[k].member), p);
        }
    }
}

static void put_members(tg_emit *e, const c_pool *p)
{
    int64_t end = 0;
    unsigned gaps = 0;
    for (uint32_t i = 0; i < p->nparts; ++i) {
        const c_pool_part *x = &p->part[i];
        DLDataType d = x->data->dl.dtype;
        int64_t size = (d.bits + 7) / 8, count = (int64_t)x->data->size_bytes / size;
        if (x->offset > end)
            tg_printf(e->to, "    uint8_t gap%u[%lld];\n", gaps++, (long long)(x->offset - end));
        if (count > 0)
            tg_printf(e->to, "    %s %s[%lld];\n", c_element(e, d, TG_NOWHERE), x->member->text, (long long)count);
        end = x->offset + count * size;
    }
    if (p->size_bytes > end || p->nparts == 0)
        tg_printf(e->to, "    uint8_t gap%u[%lld];\n", gaps, (long long)(p->size_bytes > end ? p->size_bytes - end : 1));
}

static void put_values(tg_emit *e, const c_pool *p)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < p->nparts; ++i) {
        const c_pool_part *x = &p->part[i];
        if (x->offset > end)
            tg_puts(e->to, "    { 0 },\n");
        if (x->data->size_bytes > 0) {
            tg_printf(e->to, "    { /* %s */\n", x->member->text);
            c_put_rows(e, x->data);
            tg_puts(e->to, "    },\n");
        }
        end = x->offset + (int64_t)x->data->size_bytes;
    }
    if (p->size_bytes > end || p->nparts == 0)
        tg_puts(e->to, "    { 0 },\n");
}

/* The struct lies as the planner has it, or the file does not compile. Its name has the prefix: to C++ it is the same in all
 * files of a program. */
static void put_pool(tg_emit *e, const c_pool *p)
{
    const char *name = p->name->text, *type = tg_format(e->cx, "%s_%s_pool", e->prefix, name);
    tg_printf(e->to, "\nstruct %s {\n", type);
    put_members(e, p);
    tg_puts(e->to, "};\n");
    for (uint32_t i = 0; i < p->nparts; ++i)
        if (p->part[i].data->size_bytes > 0)
            tg_printf(e->to, "typedef char %s_at_%s\n    [offsetof(struct %s, %s) == %lld ? 1 : -1];\n", type,
                      p->part[i].member->text, type, p->part[i].member->text, (long long)p->part[i].offset);
    tg_printf(e->to, "\nstatic const TIRGEN_ALIGN(16) TIRGEN_CONST_SECTION struct %s %s = {\n", type, name);
    put_values(e, p);
    tg_puts(e->to, "};\n");
}

bool c_has_constant_pools(const tg_emit *e)
{
    for (uint32_t i = 0; i < e->model.npools; ++i)
        if (e->model.pool[i].constant)
            return true;
    return false;
}

void c_put_pools(tg_emit *e)
{
    for (uint32_t i = 0; i < e->model.npools; ++i)
        if (e->model.pool[i].constant)
            put_pool(e, &e->model.pool[i]);
}

/* The arguments of main that are pools. */
void c_pass_pools(tg_emit *e, const char *workspace)
{
    const c_model *m = &e->model;
    for (uint32_t i = 0; i < m->npools; ++i) {
        const c_pool *p = &m->pool[i];
        uint32_t at = m->nin + m->nout + i;
        const c_var *v = c_var_of(e, m->main->f->param[at]);
        const char *type = c_element(e, v->elem, TG_NOWHERE);
        tg_printf(e->to, "%s\n        (%s%s *)", at > 0 ? "," : "", v->stored ? "" : "const ", type);
        if (p->constant)
            tg_printf(e->to, "&%s", p->name->text);
        else if (p->offset == 0)
            tg_puts(e->to, workspace);
        else
            tg_printf(e->to, "((uint8_t *)%s + %lld)", workspace, (long long)p->offset);
    }
}
