/* lower_ops.c: from the graph to PrimFuncs: each function with Primitive=1 becomes its TensorIR blocks, main and the loops it calls
 * become __tvm_main__.
 * Needs: fuse-ops.  Gives: a module of PrimFuncs alone (docs/ir.md, section 2). */
#include "passes.h"
#include "build_main.h"
#include "tail_loops.h"
#include "ops/ops.h"
#include "ir/walk.h"

/* Marks parameters that every call binds to a constant: their layout is ours to choose. */
typedef struct calls { tg_map *variable; const tg_module *m; } calls;   /* name -> bit mask of parameters bound to variables */

static bool note_call(tg_ctx *cx, const tg_node *n, void *user)
{
    calls *c = user;
    if (n->kind != TG_RCALL || n->u.call->op != NULL || n->kid[0]->kind != TG_RGLOBAL)
        return true;
    uint64_t key = TG_KEY(n->kid[0]->u.name);
    uint64_t *mask = tg_map_get(c->variable, key);
    if (mask == NULL) {
        mask = TG_NEW(cx, uint64_t);
        tg_map_put(cx, c->variable, key, mask);
    }
    for (uint32_t i = 1; i < n->nkids && i <= 64; ++i)
        if (n->kid[i]->kind != TG_RCONST)
            *mask |= (uint64_t)1 << (i - 1);
    return true;
}

static const tg_value *constant_params(tg_ctx *cx, const tg_func *f, const uint64_t *variable)
{
    int64_t index[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nparams && i < 64; ++i)
        if (variable != NULL && (*variable >> i & 1) == 0)
            index[n++] = i;
    return n == 0 ? NULL : tg_v_ints(cx, n, index);
}

static bool is_loop(const tg_func *f)
{
    return f->kind == TG_FUNC_RELAY && tg_v_get_int(f->attrs, TG_TAIL_LOOP, 0) == 1;
}

bool tg_pass_lower_ops(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    const tg_func *entry = tg_module_find_z(m, opt->entry);
    if (entry == NULL) {
        tg_error(cx, TG_NOWHERE, "the module has no function @%s to compile", opt->entry);
        return false;
    }
    tg_map variable = { 0 };
    calls c = { &variable, m };
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (m->funcs.at[i] == entry || is_loop(m->funcs.at[i]))
            tg_visit(cx, m->funcs.at[i]->body, note_call, &c);

    tg_module prims = *tg_module_new(cx);
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        const uint64_t *mask = tg_map_get(&variable, TG_KEY(f->name));
        if (f->kind == TG_FUNC_PRIM) {
            tg_module_add(&prims, f);
            continue;
        }
        if (mask == NULL || is_loop(f))
            continue;               /* not called; or part of main */
        tg_func *p = tg_lower_primitive(cx, f);
        if (p == NULL)
            return false;
        const tg_value *free_layout = constant_params(cx, f, mask);
        if (free_layout != NULL)
            p->attrs = tg_v_with(cx, p->attrs, "layout_free_buffers", free_layout);
        if (tg_v_get_int(f->attrs, "relay.reshape_only", 0) == 1)
            p->attrs = tg_v_with(cx, p->attrs, "relay.reshape_only", tg_v_int(cx, 1));
        tg_module_add(&prims, p);
    }
    if (!tg_build_main(cx, m, &prims, entry))
        return false;
    m->funcs.n = 0;
    m->by_name = (tg_map){ 0 };
    m->adts.n = 0;
    for (size_t i = 0; i < prims.funcs.n; ++i)
        tg_module_add(m, prims.funcs.at[i]);
    return true;
}
