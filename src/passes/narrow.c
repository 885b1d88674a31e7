/* narrow.c: loop variables and index arithmetic of 64 bits become 32 bits wide where ranges prove that every value on the way fits.
 * Needs: loops over flat buffers.  Keeps: the value of every expression.
 * Texts of TVM count in int64 throughout; a 32-bit processor pays for each such number twice. */
#include "passes.h"
#include "bounds.h"
#include "ir/walk.h"

typedef struct narrowing {
    tg_ctx *cx;
    tg_ranges ranges;
    tg_map var;             /* variable's id + 1 -> its narrow twin */
} narrowing;

static bool is_wide(const tg_node *n)
{
    return n->type != NULL && n->type->kind == TG_T_PRIM && tg_dtype_eq(tg_dtype_of(n), TG_INT64);
}

static bool fits(narrowing *w, const tg_node *n)
{
    return tg_range_within(tg_range_of(w->cx, &w->ranges, n), INT32_MIN, INT32_MAX);
}

/* The same number as an int32; NULL when some part of it may not fit. Index expressions are shallow: @p few bounds the depth. */
static const tg_node *narrow(narrowing *w, const tg_node *n, unsigned few)
{
    tg_ctx *cx = w->cx;
    if (few == 0 || !is_wide(n) || !fits(w, n)) return NULL;
    switch (n->kind) {
    case TG_INT: return tg_int(cx, TG_INT32, n->u.i);
    case TG_CAST: return tg_dtype_eq(tg_dtype_of(n->kid[0]), TG_INT32) ? n->kid[0] : tg_cast(cx, TG_INT32, n);
    case TG_ADD: case TG_SUB: case TG_MUL: case TG_MIN: case TG_MAX: case TG_DIV: case TG_MOD: case TG_FLOORDIV: case TG_FLOORMOD: {
        const tg_node *a = narrow(w, n->kid[0], few - 1), *b = narrow(w, n->kid[1], few - 1);
        return a == NULL || b == NULL ? NULL : tg_bin(cx, (enum tg_kind)n->kind, a, b);
    }
    default: return NULL;
    }
}

enum { DEPTH = 40 };

/* Operands @p first to @p end that can be narrow are. */
static const tg_node *operands(narrowing *w, const tg_node *n, uint32_t first, uint32_t end)
{
    const tg_node **kid = tg_copy(w->cx, n->kid, n->nkids * sizeof n->kid[0]);
    bool any = false;
    for (uint32_t i = first; i < end; ++i) {
        const tg_node *now = narrow(w, n->kid[i], DEPTH);
        any = any || now != NULL;
        if (now != NULL) kid[i] = now;
    }
    return any ? tg_node_with(w->cx, n, n->nkids, kid) : n;
}

static const tg_node *loop(narrowing *w, const tg_node *n)
{
    const tg_var *twin = tg_map_get(&w->var, (uint64_t)n->u.loop->var->id + 1);
    if (twin == NULL) return n;
    const tg_node *min = narrow(w, n->kid[0], DEPTH), *extent = narrow(w, n->kid[1], DEPTH);
    TG_CHECK(w->cx, min != NULL && extent != NULL, n);      /* asked before: see note_loop */
    tg_loop *l = tg_copy(w->cx, n->u.loop, sizeof *l);
    l->var = twin;
    return tg_node_at(w->cx, tg_for_with(w->cx, l, min, extent, n->kid[2]), n->span);
}

static const tg_node *comparison(narrowing *w, const tg_node *n)
{
    const tg_node *a = narrow(w, n->kid[0], DEPTH), *b = narrow(w, n->kid[1], DEPTH);
    return a == NULL || b == NULL ? n : tg_bin(w->cx, (enum tg_kind)n->kind, a, b);
}

static const tg_node *rewrite(tg_ctx *cx, const tg_node *n, void *user)
{
    narrowing *w = user;
    switch (n->kind) {
    case TG_VAR: {
        const tg_var *twin = tg_map_get(&w->var, (uint64_t)n->u.var->id + 1);
        return twin == NULL ? n : tg_cast(cx, TG_INT64, tg_var_ref(cx, twin));
    }
    case TG_FOR: return loop(w, n);
    case TG_LOAD: return operands(w, n, 0, n->nkids);
    case TG_STORE: return operands(w, n, 1, n->nkids);
    case TG_CAST: return operands(w, n, 0, 1);
    case TG_EQ: case TG_NE: case TG_LT: case TG_LE: case TG_GT: case TG_GE: return comparison(w, n);
    default: return n;
    }
}

/* A loop with bounds that are numbers, or narrow themselves, whose variable and end fit. */
static bool note_loop(tg_ctx *cx, const tg_node *n, void *user)
{
    narrowing *w = user;
    if (n->kind != TG_FOR || !tg_dtype_eq(n->u.loop->var->type->dtype, TG_INT64)) return tg_is_stmt(n);
    tg_range end = tg_range_add(tg_range_of(cx, &w->ranges, n->kid[0]), tg_range_of(cx, &w->ranges, n->kid[1]));
    bool bounds = narrow(w, n->kid[0], DEPTH) != NULL && narrow(w, n->kid[1], DEPTH) != NULL;
    if (!bounds || !tg_range_within(end, INT32_MIN, INT32_MAX) || !fits(w, tg_var_ref(cx, n->u.loop->var))) return true;
    tg_var *twin = tg_var_new(cx, n->u.loop->var->name, tg_prim(cx, TG_INT32));
    tg_range_set(cx, &w->ranges, twin, tg_range_of(cx, &w->ranges, tg_var_ref(cx, n->u.loop->var)));
    tg_map_put(cx, &w->var, (uint64_t)n->u.loop->var->id + 1, twin);
    return true;
}

bool tg_pass_narrow(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_PRIM) continue;
        narrowing w = { .cx = cx };
        tg_bounds_collect(cx, &w.ranges, f->body);
        tg_visit(cx, f->body, note_loop, &w);
        const tg_node *body = tg_rewrite_node(cx, f->body, rewrite, &w);
        if (body == f->body) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        tg_module_set(m, g);
    }
    return true;
}
