/* bounds.c: interval analysis of a function body. A variable is bound once, so one table serves the whole body. */
#include "bounds.h"

#include "ir/walk.h"

typedef struct collecting {
    tg_ranges *r;
} collecting;

static tg_range range_from(tg_ctx *cx, tg_ranges *r, const tg_node *min, const tg_node *extent)
{
    tg_range a = tg_range_of(cx, r, min), n = tg_range_of(cx, r, extent);
    tg_range last = tg_range_add((tg_range){ a.hi, a.hi }, (tg_range){ n.hi, n.hi });
    if (last.hi != INT64_MAX && last.hi != INT64_MIN) --last.hi;
    tg_range all = tg_range_of_dtype(tg_dtype_of(min));
    return (tg_range){ a.lo, last.hi < all.hi ? last.hi : all.hi };
}

static bool collect(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_ranges *r = ((collecting *)user)->r;
    switch (n->kind) {
    case TG_FOR: tg_range_set(cx, r, n->u.loop->var, range_from(cx, r, n->kid[0], n->kid[1])); break;
    case TG_BLOCK:
        for (uint32_t i = 0; i < n->u.block->niters; ++i)
            tg_range_set(cx, r, n->u.block->iter[i].var, range_from(cx, r, n->kid[3 * i], n->kid[3 * i + 1]));
        break;
    case TG_LET:
    case TG_LET_STMT:
        if (n->kid[0]->type != NULL && n->kid[0]->type->kind == TG_T_PRIM)
            tg_range_set(cx, r, n->u.var, tg_range_of(cx, r, n->kid[0]));
        break;
    default: break;
    }
    return true;
}

void tg_bounds_collect(tg_ctx *cx, tg_ranges *r, const tg_node *body)
{
    collecting c = { r };
    tg_visit(cx, body, collect, &c); /* outer before inner: a range may stand on those outside */
    tg_range_forget(r);
}

/* ---- decisions ---- */

/* a - b as a range, terms of both cancelled. */
static bool difference(tg_ctx *cx, tg_ranges *r, const tg_node *a, const tg_node *b, tg_range *out)
{
    tg_linear x, y;
    if (!tg_linear_of(cx, a, &x) || !tg_linear_of(cx, b, &y) || !tg_linear_add(cx, &x, &y, -1)) return false;
    *out = tg_linear_range(cx, r, &x);
    return true;
}

static int decide_comparison(tg_ctx *cx, tg_ranges *r, const tg_node *cond)
{
    tg_range d;
    if (!difference(cx, r, cond->kid[0], cond->kid[1], &d)) return -1;
    switch (cond->kind) {
    case TG_LT: return d.hi < 0 ? 1 : d.lo >= 0 ? 0 : -1;
    case TG_LE: return d.hi <= 0 ? 1 : d.lo > 0 ? 0 : -1;
    case TG_GT: return d.lo > 0 ? 1 : d.hi <= 0 ? 0 : -1;
    case TG_GE: return d.lo >= 0 ? 1 : d.hi < 0 ? 0 : -1;
    case TG_EQ: return d.lo > 0 || d.hi < 0 ? 0 : d.lo == 0 && d.hi == 0 ? 1 : -1;
    default: return d.lo > 0 || d.hi < 0 ? 1 : d.lo == 0 && d.hi == 0 ? 0 : -1;
    }
}

int tg_bounds_decide(tg_ctx *cx, tg_ranges *r, const tg_node *cond)
{
    tg_range v = tg_range_of(cx, r, cond);
    if (v.lo == v.hi) return v.lo != 0;
    if (cond->kind >= TG_EQ && cond->kind <= TG_GE) return decide_comparison(cx, r, cond);
    return -1;
}
