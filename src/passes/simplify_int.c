/* simplify_int.c: algebra on integers. A sum is brought to one form (linear.h) when no partial sum can overflow; division and
 * remainder by a constant are resolved by what the ranges of the terms prove. Every rule is exact, floor and truncation apart. */
#include "simplify.h"

enum { MAX_DEPTH = 6 }; /* divisions inside divisions that one rule looks into */

static const tg_node *divide(tg_simplify *s, enum tg_kind kind, const tg_node *x, int64_t c);

static int64_t floor_div(int64_t a, int64_t b) /* b > 0 */
{
    return a / b - (a % b < 0);
}

static int64_t gcd(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    while (b != 0) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static bool is_finite(tg_range r)
{
    return r.lo != INT64_MIN && r.hi != INT64_MAX && r.lo <= r.hi;
}

static bool is_division(const tg_node *n)
{
    return n->kind == TG_FLOORDIV || n->kind == TG_DIV;
}

static bool is_remainder(const tg_node *n)
{
    return n->kind == TG_FLOORMOD || n->kind == TG_MOD;
}

/* ---- sums ---- */

static void remove_term(tg_linear *a, uint32_t i)
{
    for (--a->n; i < a->n; ++i) {
        a->c[i] = a->c[i + 1];
        a->x[i] = a->x[i + 1];
    }
}

/* (x / b) * (b * k) + (x % b) * k is x * k. */
static bool join_quotient(tg_simplify *s, tg_linear *a)
{
    for (uint32_t i = 0; i < a->n; ++i) {
        const tg_node *mod = a->x[i];
        if (!is_remainder(mod) || mod->kid[1]->kind != TG_INT || mod->kid[1]->u.i <= 1) continue;
        int64_t b = mod->kid[1]->u.i, k = a->c[i];
        if (k > INT32_MAX || k < -INT32_MAX || b > INT32_MAX) continue;
        const tg_node *div = divide(s, mod->kind == TG_MOD ? TG_DIV : TG_FLOORDIV, mod->kid[0], b);
        for (uint32_t j = 0; j < a->n; ++j) {
            tg_linear x;
            if (j == i || a->c[j] != k * b || !tg_node_equal(s->cx, a->x[j], div) ||
                !tg_linear_of(s->cx, mod->kid[0], &x))
                continue;
            tg_linear sum = *a;
            remove_term(&sum, i > j ? i : j);
            remove_term(&sum, i > j ? j : i);
            if (!tg_linear_add(s->cx, &sum, &x, k) || !tg_linear_fits(s->cx, &s->ranges, &sum)) continue;
            *a = sum;
            return true;
        }
    }
    return false;
}

static const tg_node *unless_equal(tg_simplify *s, const tg_node *n, const tg_node *now)
{
    return now == n || tg_node_equal(s->cx, n, now) ? n : now;
}

static const tg_node *sum(tg_simplify *s, const tg_node *n)
{
    tg_linear a;
    if (!tg_linear_of(s->cx, n, &a) || !tg_linear_fits(s->cx, &s->ranges, &a)) return n;
    while (join_quotient(s, &a))
        ;
    return unless_equal(s, n, tg_linear_node(s->cx, &a));
}

/* What holds in every integer type, whatever the ranges. */
static const tg_node *identity(tg_simplify *s, const tg_node *n)
{
    const tg_node *a = n->kid[0], *b = n->kid[1];
    DLDataType d = tg_dtype_of(n);
    switch (n->kind) {
    case TG_ADD:
        if (tg_is_int_const(b, 0)) return a;
        if (tg_is_int_const(a, 0)) return b;
        /* (x + 1) + 2 is x + 3: the same value, so it overflows no more often */
        if (b->kind == TG_INT && (a->kind == TG_ADD || a->kind == TG_SUB) && a->kid[1]->kind == TG_INT &&
            d.bits >= 32 && d.code == kDLInt) {
            uint64_t c = a->kind == TG_ADD ? (uint64_t)a->kid[1]->u.i : 0 - (uint64_t)a->kid[1]->u.i;
            int64_t total = (int64_t)(c + (uint64_t)b->u.i);
            if (d.bits == 64 || tg_wrap_to(d, total) != total) return n;
            return total == 0 ? a->kid[0] : tg_bin(s->cx, TG_ADD, a->kid[0], tg_int(s->cx, d, total));
        }
        return n;
    case TG_SUB: return tg_is_int_const(b, 0) ? a : n;
    case TG_MUL:
        if (tg_is_int_const(b, 1)) return a;
        if (tg_is_int_const(a, 1)) return b;
        if ((tg_is_int_const(b, 0) && !tg_has_effect(s->cx, a)) || (tg_is_int_const(a, 0) && !tg_has_effect(s->cx, b)))
            return tg_int(s->cx, d, 0);
        return n;
    default: return n;
    }
}

/* ---- division ---- */

/* kind of the result where x >= 0: C's own operator. */
static const tg_node *plain_division(tg_simplify *s, enum tg_kind kind, const tg_node *x, int64_t c)
{
    tg_range r = tg_range_of(s->cx, &s->ranges, x);
    if (kind == TG_FLOORDIV && r.lo >= 0) kind = TG_DIV;
    if (kind == TG_FLOORMOD && r.lo >= 0) kind = TG_MOD;
    return tg_bin(s->cx, kind, x, tg_int(s->cx, tg_dtype_of(x), c));
}

static const tg_node *of_linear(tg_simplify *s, tg_linear *a)
{
    return sum(s, tg_linear_node(s->cx, a));
}

/* x with the terms that @p c divides in q (divided), the rest and the constant in r. */
static bool split_multiples(tg_simplify *s, const tg_linear *x, int64_t c, tg_linear *q, tg_linear *r)
{
    tg_linear_clear(q, x->dtype, 0);
    tg_linear_clear(r, x->dtype, x->c0);
    for (uint32_t i = 0; i < x->n; ++i) {
        bool multiple = x->c[i] % c == 0;
        if (!tg_linear_add_term(s->cx, multiple ? q : r, x->x[i], multiple ? x->c[i] / c : x->c[i])) return false;
    }
    return true;
}

/* The largest g > 1 that divides c, such that x = g * y + small with small in [0, g). */
static int64_t common_factor(tg_simplify *s, const tg_linear *x, int64_t c, tg_linear *y, tg_linear *small)
{
    int64_t best = 1;
    for (uint32_t i = 0; i < x->n; ++i) {
        int64_t g = gcd(x->c[i], c);
        if (g <= best || g >= c || !split_multiples(s, x, g, y, small)) continue;
        small->c0 = x->c0 - floor_div(x->c0, g) * g;
        if (tg_range_within(tg_linear_range(s->cx, &s->ranges, small), 0, g - 1)) best = g;
    }
    if (best > 1) {
        split_multiples(s, x, best, y, small);
        y->c0 = floor_div(x->c0, best);
        small->c0 = x->c0 - y->c0 * best;
    }
    return best;
}

static const tg_node *divide_atom(tg_simplify *s, enum tg_kind kind, const tg_node *x, int64_t c)
{
    const tg_node *by = is_division(x) || is_remainder(x) ? x->kid[1] : NULL;
    bool plain = by != NULL && by->kind == TG_INT && by->u.i > 0 && by->u.i <= INT32_MAX && c <= INT32_MAX;
    bool same_way = plain && (x->kind == TG_FLOORDIV || x->kind == TG_FLOORMOD ||
                              tg_range_of(s->cx, &s->ranges, x->kid[0]).lo >= 0);
    bool quotient = kind == TG_FLOORDIV || kind == TG_DIV;
    kind = quotient ? TG_FLOORDIV : TG_FLOORMOD; /* what is inside may be negative although x is not */
    if (same_way && is_division(x) && quotient &&
        tg_range_within((tg_range){ by->u.i * c, by->u.i * c }, 1, tg_range_of_dtype(tg_dtype_of(x)).hi))
        return divide(s, kind, x->kid[0], by->u.i * c); /* (x / a) / c */
    if (same_way && is_remainder(x) && !quotient && by->u.i % c == 0)
        return divide(s, kind, x->kid[0], c); /* (x % (a*c)) % c */
    return plain_division(s, kind, x, c);
}

/* floor(x / c) or x mod c for c > 0, x >= 0 or floor semantics. */
static const tg_node *divide_floor(tg_simplify *s, enum tg_kind kind, const tg_node *n, const tg_linear *x, int64_t c)
{
    bool quotient = kind == TG_FLOORDIV || kind == TG_DIV;
    tg_linear q, r;
    if (!split_multiples(s, x, c, &q, &r)) return plain_division(s, kind, n, c);
    tg_range rest = tg_linear_range(s->cx, &s->ranges, &r);
    if (is_finite(rest) && floor_div(rest.lo, c) == floor_div(rest.hi, c)) {
        q.c0 = floor_div(rest.lo, c);
        r.c0 -= q.c0 * c;
        return of_linear(s, quotient ? &q : &r);
    }
    int64_t whole = floor_div(r.c0, c);
    if (q.n > 0 || whole != 0) {
        r.c0 -= whole * c;
        const tg_node *small = of_linear(s, &r);
        const tg_node *part = divide(s, quotient ? TG_FLOORDIV : TG_FLOORMOD, small, c);
        q.c0 = whole;
        if (!quotient) return part;
        if (tg_linear_add_term(s->cx, &q, part, 1) && tg_linear_fits(s->cx, &s->ranges, &q)) return of_linear(s, &q);
        return plain_division(s, kind, n, c);
    }
    tg_linear y, small;
    int64_t g = common_factor(s, x, c, &y, &small);
    if (g > 1) {
        const tg_node *part = divide(s, quotient ? TG_FLOORDIV : TG_FLOORMOD, of_linear(s, &y), c / g);
        if (quotient) return part;
        if (tg_linear_add_term(s->cx, &small, part, g)) return of_linear(s, &small);
    }
    return x->n == 1 && x->c[0] == 1 && x->c0 == 0 ? divide_atom(s, kind, x->x[0], c) : plain_division(s, kind, n, c);
}

/* x / c and x % c; the result does not pass the magnitude of x, so what fitted still does. */
static const tg_node *divide(tg_simplify *s, enum tg_kind kind, const tg_node *x, int64_t c)
{
    bool quotient = kind == TG_FLOORDIV || kind == TG_DIV, floors = kind == TG_FLOORDIV || kind == TG_FLOORMOD;
    DLDataType d = tg_dtype_of(x);
    if (c == 1) return quotient ? x : tg_int(s->cx, d, 0);
    tg_range r = tg_range_of(s->cx, &s->ranges, x);
    tg_linear a;
    if (s->depth == MAX_DEPTH || !is_finite(r) || !tg_linear_of(s->cx, x, &a) || !tg_linear_fits(s->cx, &s->ranges, &a))
        return plain_division(s, kind, x, c);
    if (!floors && r.lo < 0) {
        if (tg_range_within(r, -(c - 1), c - 1)) return quotient ? tg_int(s->cx, d, 0) : x;
        return plain_division(s, kind, x, c);
    }
    ++s->depth;
    const tg_node *now = divide_floor(s, kind, x, &a, c);
    --s->depth;
    return now;
}

static const tg_node *division(tg_simplify *s, const tg_node *n)
{
    const tg_node *a = n->kid[0], *b = n->kid[1];
    DLDataType d = tg_dtype_of(n);
    if (b->kind != TG_INT || b->u.i <= 0 || (d.code == kDLUInt && d.bits == 64)) return n;
    if (d.code != kDLInt || d.bits < 32) { /* narrow types: only what needs no linear form */
        if (b->u.i == 1) return is_division(n) ? a : tg_int(s->cx, d, 0);
        return unless_equal(s, n, plain_division(s, (enum tg_kind)n->kind, a, b->u.i));
    }
    return unless_equal(s, n, divide(s, (enum tg_kind)n->kind, a, b->u.i));
}

/* ---- the rest ---- */

static const tg_node *smaller(tg_simplify *s, const tg_node *n)
{
    enum tg_kind first = n->kind == TG_MIN ? TG_LE : TG_GE; /* equal values: either operand */
    int yes = tg_bounds_decide(s->cx, &s->ranges, tg_bin(s->cx, first, n->kid[0], n->kid[1]));
    if (yes < 0)
        yes =
            tg_bounds_decide(s->cx, &s->ranges, tg_bin(s->cx, n->kind == TG_MIN ? TG_LT : TG_GT, n->kid[0], n->kid[1]));
    return yes < 0 ? n : yes ? n->kid[0] : n->kid[1];
}

const tg_node *tg_simplify_int(tg_simplify *s, const tg_node *n)
{
    switch (n->kind) {
    case TG_ADD:
    case TG_SUB:
    case TG_MUL: {
        const tg_node *now = identity(s, n);
        return now != n ? now : sum(s, n);
    }
    case TG_DIV:
    case TG_MOD:
    case TG_FLOORDIV:
    case TG_FLOORMOD: return division(s, n);
    case TG_MIN:
    case TG_MAX: return smaller(s, n);
    default: return n;
    }
}
