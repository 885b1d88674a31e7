/* linear.c: ranges and linear forms of integer expressions. Saturating arithmetic: the ends of int64 mean "unbounded". */
#include "linear.h"

#include "ir/module.h"

enum { MAX_DEPTH = 64, MAX_TODO = 256 };

/* ---- saturating numbers ---- */

static bool add_fits(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *out = a + b;
    return true;
}

static bool mul_fits(int64_t a, int64_t b, int64_t *out)
{
    *out = 0;
    if (a == 0 || b == 0) return true;
    if (a == INT64_MIN || b == INT64_MIN) {
        *out = INT64_MIN;
        return (a == INT64_MIN ? b : a) == 1;
    }
    int64_t ma = a < 0 ? -a : a, mb = b < 0 ? -b : b;
    if (ma > INT64_MAX / mb) return false;
    *out = a * b;
    return true;
}

static bool is_end(int64_t v)
{
    return v == INT64_MIN || v == INT64_MAX;
}

static int64_t sat_add(int64_t a, int64_t b)
{
    if (is_end(a) || is_end(b)) return is_end(a) ? a : b;
    int64_t r;
    return add_fits(a, b, &r) ? r : b > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t sat_mul(int64_t a, int64_t b)
{
    int64_t r;
    if (a == 0 || b == 0) return 0;
    if (!is_end(a) && !is_end(b) && mul_fits(a, b, &r)) return r;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t floor_div(int64_t a, int64_t b) /* b > 0 */
{
    return is_end(a) ? a : a / b - (a % b < 0);
}

/* ---- ranges ---- */

tg_range tg_range_add(tg_range a, tg_range b)
{
    return (tg_range){ sat_add(a.lo, b.lo), sat_add(a.hi, b.hi) };
}

tg_range tg_range_scale(tg_range a, int64_t c)
{
    return c >= 0 ? (tg_range){ sat_mul(a.lo, c), sat_mul(a.hi, c) } : (tg_range){ sat_mul(a.hi, c), sat_mul(a.lo, c) };
}

tg_range tg_range_join(tg_range a, tg_range b)
{
    return (tg_range){ min64(a.lo, b.lo), max64(a.hi, b.hi) };
}

static tg_range range_mul(tg_range a, tg_range b)
{
    int64_t p = sat_mul(a.lo, b.lo), q = sat_mul(a.lo, b.hi), r = sat_mul(a.hi, b.lo), s = sat_mul(a.hi, b.hi);
    return (tg_range){ min64(min64(p, q), min64(r, s)), max64(max64(p, q), max64(r, s)) };
}

tg_range tg_range_of_dtype(DLDataType d)
{
    if (d.lanes != 1 || (d.code != kDLInt && d.code != kDLUInt) || d.bits >= 64)
        return TG_RANGE_ALL; /* uint64 too: its upper half is no int64 */
    if (d.code == kDLUInt) return (tg_range){ 0, ((int64_t)1 << d.bits) - 1 };
    return (tg_range){ -((int64_t)1 << (d.bits - 1)), ((int64_t)1 << (d.bits - 1)) - 1 };
}

void tg_range_set(tg_ctx *cx, tg_ranges *r, const tg_var *v, tg_range range)
{
    tg_range *known = tg_map_get(&r->var, (uint64_t)v->id + 1);
    if (known != NULL) {
        *known = range;
        return;
    }
    tg_map_put(cx, &r->var, (uint64_t)v->id + 1, tg_copy(cx, &range, sizeof range));
}

void tg_range_forget(tg_ranges *r)
{
    r->memo = (tg_map){ 0 };
}

static tg_range range_at(tg_ctx *cx, tg_ranges *r, const tg_node *e, unsigned depth);

static tg_range range_divided(tg_range a, tg_range b, enum tg_kind kind)
{
    if (b.lo != b.hi || b.lo <= 0) return TG_RANGE_ALL;
    int64_t c = b.lo;
    switch (kind) {
    case TG_FLOORDIV: return (tg_range){ floor_div(a.lo, c), floor_div(a.hi, c) };
    case TG_DIV: return (tg_range){ is_end(a.lo) ? a.lo : a.lo / c, is_end(a.hi) ? a.hi : a.hi / c };
    case TG_FLOORMOD:
        if (!is_end(a.lo) && !is_end(a.hi) && floor_div(a.lo, c) == floor_div(a.hi, c))
            return (tg_range){ a.lo - floor_div(a.lo, c) * c, a.hi - floor_div(a.lo, c) * c };
        return (tg_range){ 0, c - 1 };
    default: /* MOD: the sign of a */
        if (a.lo >= 0) return range_divided(a, b, TG_FLOORMOD);
        return (tg_range){ -(c - 1), a.hi <= 0 ? 0 : c - 1 };
    }
}

static tg_range range_compared(tg_range a, tg_range b, enum tg_kind kind)
{
    int yes = -1;
    switch (kind) {
    case TG_LT: yes = a.hi < b.lo ? 1 : a.lo >= b.hi ? 0 : -1; break;
    case TG_LE: yes = a.hi <= b.lo ? 1 : a.lo > b.hi ? 0 : -1; break;
    case TG_GT: yes = a.lo > b.hi ? 1 : a.hi <= b.lo ? 0 : -1; break;
    case TG_GE: yes = a.lo >= b.hi ? 1 : a.hi < b.lo ? 0 : -1; break;
    case TG_EQ: yes = a.hi < b.lo || a.lo > b.hi ? 0 : a.lo == a.hi && b.lo == b.hi && a.lo == b.lo ? 1 : -1; break;
    case TG_NE: yes = a.hi < b.lo || a.lo > b.hi ? 1 : a.lo == a.hi && b.lo == b.hi && a.lo == b.lo ? 0 : -1; break;
    default: break;
    }
    return yes < 0 ? (tg_range){ 0, 1 } : (tg_range){ yes, yes };
}

/* An end of int64 stands for "unbounded": comparisons must not take it for a number. */
static bool is_unbounded(tg_range a)
{
    return is_end(a.lo) || is_end(a.hi);
}

static tg_range range_of_call(tg_ctx *cx, tg_ranges *r, const tg_node *e, unsigned depth)
{
    tg_range all = tg_range_of_dtype(tg_dtype_of(e));
    if (tg_is_call(e, "if_then_else"))
        return tg_range_join(range_at(cx, r, e->kid[1], depth), range_at(cx, r, e->kid[2], depth));
    if (tg_is_call(e, "likely")) return range_at(cx, r, e->kid[0], depth);
    if (tg_is_call(e, "bitwise_and") && e->kid[1]->kind == TG_INT && e->kid[1]->u.i >= 0)
        return (tg_range){ 0, e->kid[1]->u.i };
    if (tg_is_call(e, "shift_right") && e->kid[1]->kind == TG_INT && e->kid[1]->u.i >= 0 && e->kid[1]->u.i < 63) {
        tg_range a = range_at(cx, r, e->kid[0], depth);
        return range_divided(a, (tg_range){ (int64_t)1 << e->kid[1]->u.i, (int64_t)1 << e->kid[1]->u.i }, TG_FLOORDIV);
    }
    return all;
}

static tg_range range_of_binary(tg_ctx *cx, tg_ranges *r, const tg_node *e, unsigned depth)
{
    DLDataType d = tg_dtype_of(e->kid[0]);
    if (d.lanes != 1 || (d.code != kDLInt && d.code != kDLUInt)) return TG_RANGE_ALL;
    tg_range a = range_at(cx, r, e->kid[0], depth), b = range_at(cx, r, e->kid[1], depth);
    switch (e->kind) {
    case TG_ADD: return tg_range_add(a, b);
    case TG_SUB: return tg_range_add(a, tg_range_scale(b, -1));
    case TG_MUL: return range_mul(a, b);
    case TG_DIV:
    case TG_MOD:
    case TG_FLOORDIV:
    case TG_FLOORMOD: return range_divided(a, b, (enum tg_kind)e->kind);
    case TG_MIN: return (tg_range){ min64(a.lo, b.lo), min64(a.hi, b.hi) };
    case TG_MAX: return (tg_range){ max64(a.lo, b.lo), max64(a.hi, b.hi) };
    case TG_AND: return (tg_range){ a.lo != 0 && b.lo != 0, a.hi != 0 && b.hi != 0 };
    case TG_OR: return (tg_range){ a.lo != 0 || b.lo != 0, a.hi != 0 || b.hi != 0 };
    default:
        return is_unbounded(a) || is_unbounded(b) ? (tg_range){ 0, 1 } : range_compared(a, b, (enum tg_kind)e->kind);
    }
}

static tg_range range_fresh(tg_ctx *cx, tg_ranges *r, const tg_node *e, unsigned depth)
{
    switch (e->kind) {
    case TG_INT:
        return tg_dtype_of(e).code == kDLUInt && tg_dtype_of(e).bits == 64 && e->u.i < 0 ? TG_RANGE_ALL
                                                                                         : (tg_range){ e->u.i, e->u.i };
    case TG_VAR: {
        const tg_range *known = tg_map_get(&r->var, (uint64_t)e->u.var->id + 1);
        return known != NULL ? *known : tg_range_of_dtype(tg_dtype_of(e));
    }
    case TG_NOT: {
        tg_range a = range_at(cx, r, e->kid[0], depth);
        return (tg_range){ a.hi == 0, a.lo == 0 };
    }
    case TG_SELECT: return tg_range_join(range_at(cx, r, e->kid[1], depth), range_at(cx, r, e->kid[2], depth));
    case TG_LET: return range_at(cx, r, e->kid[1], depth);
    case TG_CAST: {
        DLDataType from = tg_dtype_of(e->kid[0]);
        return from.code == kDLInt || from.code == kDLUInt ? range_at(cx, r, e->kid[0], depth) : TG_RANGE_ALL;
    }
    case TG_CALL: return range_of_call(cx, r, e, depth);
    default: return e->kind >= TG_ADD && e->kind <= TG_OR ? range_of_binary(cx, r, e, depth) : TG_RANGE_ALL;
    }
}

static tg_range range_at(tg_ctx *cx, tg_ranges *r, const tg_node *e, unsigned depth)
{
    DLDataType d = tg_dtype_of(e);
    if (d.lanes != 1 || (d.code != kDLInt && d.code != kDLUInt)) return TG_RANGE_ALL;
    tg_range all = tg_range_of_dtype(d);
    if (depth == 0) return all;
    const tg_range *known = e->nkids > 0 ? tg_map_get(&r->memo, (uint64_t)e->id + 1) : NULL;
    if (known != NULL) return *known;
    tg_range range = range_fresh(cx, r, e, depth - 1);
    if (!tg_range_within(range, all.lo, all.hi)) /* a wrapped value may be anywhere */
        range = all;
    if (d.code == kDLUInt && d.bits == 64 && (range.lo < 0 || is_end(range.hi))) range = all;
    if (e->nkids > 0 && depth > MAX_DEPTH / 2) /* what was cut short deep inside is not remembered */
        tg_map_put(cx, &r->memo, (uint64_t)e->id + 1, tg_copy(cx, &range, sizeof range));
    return range;
}

tg_range tg_range_of(tg_ctx *cx, tg_ranges *r, const tg_node *e)
{
    return range_at(cx, r, e, MAX_DEPTH);
}

/* ---- linear forms ---- */

void tg_linear_clear(tg_linear *a, DLDataType dtype, int64_t c0)
{
    a->dtype = dtype;
    a->n = 0;
    a->c0 = c0;
}

static bool same_term(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    if (a == b) return true;
    if (a->kind != b->kind) return false;
    return a->kind == TG_VAR ? a->u.var == b->u.var : a->nkids == b->nkids && tg_node_equal(cx, a, b);
}

bool tg_linear_add_term(tg_ctx *cx, tg_linear *a, const tg_node *x, int64_t c)
{
    for (uint32_t i = 0; i < a->n; ++i) {
        if (!same_term(cx, a->x[i], x)) continue;
        if (!add_fits(a->c[i], c, &a->c[i])) return false;
        if (a->c[i] == 0) {
            for (--a->n; i < a->n; ++i) {
                a->c[i] = a->c[i + 1];
                a->x[i] = a->x[i + 1];
            }
        }
        return true;
    }
    if (c == 0) return true;
    if (a->n == TG_LINEAR_MAX) return false;
    a->c[a->n] = c;
    a->x[a->n++] = x;
    return true;
}

bool tg_linear_add(tg_ctx *cx, tg_linear *a, const tg_linear *b, int64_t times)
{
    int64_t c;
    if (!mul_fits(b->c0, times, &c) || !add_fits(a->c0, c, &a->c0)) return false;
    for (uint32_t i = 0; i < b->n; ++i)
        if (!mul_fits(b->c[i], times, &c) || !tg_linear_add_term(cx, a, b->x[i], c)) return false;
    return true;
}

bool tg_linear_of(tg_ctx *cx, const tg_node *e, tg_linear *out)
{
    struct {
        const tg_node *e;
        int64_t c;
    } todo[MAX_TODO];
    uint32_t n = 0;
    DLDataType d = tg_dtype_of(e);
    if (d.code != kDLInt || d.bits < 32 || d.lanes != 1) return false;
    tg_linear_clear(out, d, 0);
    todo[n].e = e;
    todo[n++].c = 1;
    for (unsigned steps = 0; n > 0; ++steps) {
        const tg_node *x = todo[--n].e;
        int64_t c = todo[n].c, k;
        if (steps > 8 * MAX_TODO) /* a shared sub-expression may be met very often */
            return false;
        if (x->kind == TG_INT) {
            if (!mul_fits(x->u.i, c, &k) || !add_fits(out->c0, k, &out->c0)) return false;
        } else if (x->kind == TG_ADD || x->kind == TG_SUB) {
            if (n + 2 > MAX_TODO || c == INT64_MIN) return false;
            todo[n].e = x->kid[1];
            todo[n++].c = x->kind == TG_ADD ? c : -c;
            todo[n].e = x->kid[0];
            todo[n++].c = c;
        } else if (x->kind == TG_MUL && (x->kid[0]->kind == TG_INT || x->kid[1]->kind == TG_INT)) {
            int side = x->kid[1]->kind == TG_INT;
            if (!mul_fits(c, x->kid[side]->u.i, &k)) return false;
            todo[n].e = x->kid[1 - side];
            todo[n++].c = k;
        } else if (!tg_linear_add_term(cx, out, x, c)) {
            return false;
        }
    }
    return true;
}

int64_t tg_linear_coef(const tg_linear *a, const tg_var *v)
{
    for (uint32_t i = 0; i < a->n; ++i)
        if (a->x[i]->kind == TG_VAR && a->x[i]->u.var == v) return a->c[i];
    return 0;
}

tg_range tg_linear_range(tg_ctx *cx, tg_ranges *r, const tg_linear *a)
{
    tg_range sum = { a->c0, a->c0 };
    for (uint32_t i = 0; i < a->n; ++i) sum = tg_range_add(sum, tg_range_scale(tg_range_of(cx, r, a->x[i]), a->c[i]));
    return sum;
}

bool tg_linear_fits(tg_ctx *cx, tg_ranges *r, const tg_linear *a)
{
    tg_range all = tg_range_of_dtype(a->dtype);
    int64_t low = min64(a->c0, 0), high = max64(a->c0, 0);
    if (is_end(a->c0)) return false;
    for (uint32_t i = 0; i < a->n; ++i) {
        tg_range x = tg_range_of(cx, r, a->x[i]);
        if (is_unbounded(x)) return false;
        tg_range t = tg_range_scale(x, a->c[i]);
        low = sat_add(low, min64(t.lo, 0));
        high = sat_add(high, max64(t.hi, 0));
    }
    return low > all.lo && high < all.hi && a->c0 > all.lo && a->c0 < all.hi;
}

static const tg_node *term(tg_ctx *cx, const tg_linear *a, uint32_t i, int64_t c)
{
    return c == 1 ? a->x[i] : tg_bin(cx, TG_MUL, a->x[i], tg_int(cx, a->dtype, c));
}

/* Terms in order, the constant last; what is subtracted waits until something stands before it. */
const tg_node *tg_linear_node(tg_ctx *cx, const tg_linear *a)
{
    const tg_node *sum = NULL;
    uint32_t first = 0;
    while (first < a->n && a->c[first] < 0) ++first;
    if (first < a->n) sum = term(cx, a, first, a->c[first]);
    else if (a->n > 0 && a->c0 > 0) sum = tg_int(cx, a->dtype, a->c0);
    else if (a->n > 0) sum = term(cx, a, first = 0, a->c[0]);
    else return tg_int(cx, a->dtype, a->c0);
    bool constant_done = first == a->n;
    for (uint32_t i = 0; i < a->n; ++i) {
        if (i == first) continue;
        bool minus = a->c[i] < 0 && a->c[i] != INT64_MIN;
        sum = tg_bin(cx, minus ? TG_SUB : TG_ADD, sum, term(cx, a, i, minus ? -a->c[i] : a->c[i]));
    }
    if (constant_done || a->c0 == 0) return sum;
    bool minus = a->c0 < 0 && a->c0 != INT64_MIN;
    return tg_bin(cx, minus ? TG_SUB : TG_ADD, sum, tg_int(cx, a->dtype, minus ? -a->c0 : a->c0));
}

const tg_node *tg_linear_simplest(tg_ctx *cx, const tg_node *e)
{
    tg_linear a;
    if ((e->kind < TG_ADD || e->kind > TG_MUL) || !tg_linear_of(cx, e, &a)) return e;
    const tg_node *now = tg_linear_node(cx, &a);
    return tg_node_equal(cx, now, e) ? e : now;
}
