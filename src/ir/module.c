/* module.c: the functions of a module, by order and by name. */
#include "module.h"
#include "walk.h"

#include <string.h>

tg_module *tg_module_new(tg_ctx *cx)
{
    tg_module *m = TG_NEW(cx, tg_module);
    m->cx = cx;
    return m;
}

static size_t index_of(const tg_module *m, const tg_name *name)
{
    return (size_t)(uintptr_t)tg_map_get(&m->by_name, TG_KEY(name));     /* 0: absent, else index + 1 */
}

const tg_func *tg_module_find(const tg_module *m, const tg_name *name)
{
    size_t i = index_of(m, name);
    return i == 0 ? NULL : m->funcs.at[i - 1];
}

const tg_func *tg_module_find_z(tg_module *m, const char *name)
{
    return tg_module_find(m, tg_intern_z(m->cx, name));
}

void tg_module_add(tg_module *m, const tg_func *f)
{
    TG_CHECK(m->cx, index_of(m, f->name) == 0, f->body);
    TG_PUSH(m->cx, m->funcs, f);
    tg_map_put(m->cx, &m->by_name, TG_KEY(f->name), (void *)(uintptr_t)m->funcs.n);
}

void tg_module_set(tg_module *m, const tg_func *f)
{
    size_t i = index_of(m, f->name);
    if (i == 0)
        tg_module_add(m, f);
    else
        m->funcs.at[i - 1] = f;
}

void tg_module_remove(tg_module *m, const tg_name *name)
{
    size_t i = index_of(m, name);
    if (i == 0)
        return;
    memmove(&m->funcs.at[i - 1], &m->funcs.at[i], (m->funcs.n - i) * sizeof m->funcs.at[0]);
    --m->funcs.n;
    m->by_name = (tg_map){ 0 };
    for (size_t k = 0; k < m->funcs.n; ++k)
        tg_map_put(m->cx, &m->by_name, TG_KEY(m->funcs.at[k]->name), (void *)(uintptr_t)(k + 1));
}

const tg_name *tg_module_unique(tg_module *m, const char *hint)
{
    const tg_name *name = tg_intern_z(m->cx, hint);
    for (unsigned k = 1; index_of(m, name) != 0; ++k)
        name = tg_internf(m->cx, "%s_%u", hint, k);
    return name;
}

tg_func *tg_func_copy(tg_ctx *cx, const tg_func *f)
{
    return tg_copy(cx, f, sizeof *f);
}

static bool find_block(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    bool *found = user;
    *found = *found || n->kind == TG_BLOCK;
    return !*found && tg_is_stmt(n);
}

bool tg_is_main(const tg_func *f)
{
    return tg_v_get_int(f->attrs, "runner_function", 0) != 0 || tg_name_is(f->name, "__tvm_main__");
}

const tg_func *tg_module_main(const tg_module *m)
{
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (tg_is_main(m->funcs.at[i])) return m->funcs.at[i];
    return NULL;
}

enum tg_level tg_module_level(const tg_module *m)
{
    bool blocks = false;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        if (m->funcs.at[i]->kind == TG_FUNC_RELAY)
            return TG_LEVEL_RELAY;
        if (!blocks)
            tg_visit(m->cx, m->funcs.at[i]->body, find_block, &blocks);
    }
    if (m->funcs.n == 0 && m->adts.n > 0)
        return TG_LEVEL_RELAY;
    return blocks ? TG_LEVEL_TENSORIR : TG_LEVEL_LOOP;
}
