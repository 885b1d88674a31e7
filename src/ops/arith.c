/* arith.c: expressions that the lowering rules write. Integer constants fold here, so that what a block shows is what a
 * person would have written; floats are left as they are, bit for bit. */
#include "build.h"

#include <float.h>

static bool is_int_dtype(DLDataType d)
{
    return tg_is_int(d) && d.lanes == 1;
}

static bool both_const(tg_expr a, tg_expr b)
{
    return a->kind == TG_INT && b->kind == TG_INT;
}

/* The sum as base + constant: base NULL when there is only a constant. */
static tg_expr take_constant(tg_expr n, int64_t *c)
{
    *c = 0;
    if (n->kind == TG_INT) {
        *c = n->u.i;
        return NULL;
    }
    if ((n->kind == TG_ADD || n->kind == TG_SUB) && n->kid[1]->kind == TG_INT && tg_dtype_of(n).code == kDLInt) {
        *c = n->kind == TG_ADD ? n->kid[1]->u.i : (int64_t)(0 - (uint64_t)n->kid[1]->u.i);
        return n->kid[0];
    }
    return n;
}

/* base + c, written as a subtraction when c is negative. */
static tg_expr put_constant(tg_ctx *cx, tg_expr base, DLDataType d, int64_t c)
{
    if (base == NULL) return tg_int(cx, d, c);
    c = tg_wrap_to(d, c);
    if (c == 0) return base;
    if (c < 0 && d.code == kDLInt && c != INT64_MIN && tg_wrap_to(d, -c) > 0)
        return tg_bin(cx, TG_SUB, base, tg_int(cx, d, -c));
    return tg_bin(cx, TG_ADD, base, tg_int(cx, d, c));
}

const tg_node *tg_add(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    DLDataType d = tg_dtype_of(a);
    if (!is_int_dtype(d)) return tg_bin(cx, TG_ADD, a, b);
    int64_t ca, cb;
    tg_expr xa = take_constant(a, &ca), xb = take_constant(b, &cb);
    int64_t c = (int64_t)((uint64_t)ca + (uint64_t)cb);
    if (xa == NULL || xb == NULL) return put_constant(cx, xa == NULL ? xb : xa, d, c);
    if (ca == 0 && cb == 0) return tg_bin(cx, TG_ADD, a, b);
    return put_constant(cx, tg_bin(cx, TG_ADD, xa, xb), d, c);
}

const tg_node *tg_sub(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    DLDataType d = tg_dtype_of(a);
    if (!is_int_dtype(d)) return tg_bin(cx, TG_SUB, a, b);
    int64_t ca, cb;
    tg_expr xa = take_constant(a, &ca), xb = take_constant(b, &cb);
    int64_t c = (int64_t)((uint64_t)ca - (uint64_t)cb);
    if (xb == NULL) return put_constant(cx, xa, d, c);
    if (xa == xb) return tg_int(cx, d, c);
    if (xa == NULL) /* c - x */
        return tg_bin(cx, TG_SUB, tg_int(cx, d, c), xb);
    return put_constant(cx, tg_bin(cx, TG_SUB, xa, xb), d, c);
}

const tg_node *tg_mul(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    DLDataType d = tg_dtype_of(a);
    if (!is_int_dtype(d)) return tg_bin(cx, TG_MUL, a, b);
    if (both_const(a, b)) return tg_int(cx, d, (int64_t)((uint64_t)a->u.i * (uint64_t)b->u.i));
    if (a->kind == TG_INT) { /* the constant stands to the right */
        tg_expr t = a;
        a = b;
        b = t;
    }
    if (tg_is_int_const(b, 0)) return b;
    if (tg_is_int_const(b, 1)) return a;
    if (b->kind == TG_INT && a->kind == TG_MUL && a->kid[1]->kind == TG_INT)
        return tg_mul(cx, a->kid[0], tg_mul(cx, a->kid[1], b));
    return tg_bin(cx, TG_MUL, a, b);
}

const tg_node *tg_addi(tg_ctx *cx, const tg_node *a, int64_t c)
{
    return tg_add(cx, a, tg_int(cx, tg_dtype_of(a), c));
}

const tg_node *tg_muli(tg_ctx *cx, const tg_node *a, int64_t c)
{
    return tg_mul(cx, a, tg_int(cx, tg_dtype_of(a), c));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Signed constants that host arithmetic can divide. */
static bool can_divide(tg_expr a, tg_expr b)
{
    return both_const(a, b) && tg_dtype_of(a).code == kDLInt && b->u.i != 0 && !(b->u.i == -1 && a->u.i == INT64_MIN);
}

/* @p n is x * m with c dividing m. */
static bool is_multiple(tg_expr n, int64_t c)
{
    return n->kind == TG_MUL && n->kid[1]->kind == TG_INT && c > 0 && n->kid[1]->u.i % c == 0;
}

tg_expr tg_floordiv(tg_ctx *cx, tg_expr a, tg_expr b)
{
    DLDataType d = tg_dtype_of(a);
    if (can_divide(a, b)) return tg_int(cx, d, floor_div(a->u.i, b->u.i));
    if (is_int_dtype(d) && tg_is_int_const(b, 1)) return a;
    if (b->kind == TG_INT && d.code == kDLInt && is_multiple(a, b->u.i))
        return tg_muli(cx, a->kid[0], a->kid[1]->u.i / b->u.i);
    return tg_bin(cx, TG_FLOORDIV, a, b);
}

tg_expr tg_floormod(tg_ctx *cx, tg_expr a, tg_expr b)
{
    DLDataType d = tg_dtype_of(a);
    if (can_divide(a, b)) return tg_int(cx, d, a->u.i - floor_div(a->u.i, b->u.i) * b->u.i);
    if (is_int_dtype(d) && (tg_is_int_const(b, 1) || (b->kind == TG_INT && d.code == kDLInt && is_multiple(a, b->u.i))))
        return tg_int(cx, d, 0);
    return tg_bin(cx, TG_FLOORMOD, a, b);
}

const tg_node *tg_floordivi(tg_ctx *cx, const tg_node *a, int64_t c)
{
    return tg_floordiv(cx, a, tg_int(cx, tg_dtype_of(a), c));
}

const tg_node *tg_floormodi(tg_ctx *cx, const tg_node *a, int64_t c)
{
    return tg_floormod(cx, a, tg_int(cx, tg_dtype_of(a), c));
}

tg_expr tg_div(tg_ctx *cx, tg_expr a, tg_expr b)
{
    if (can_divide(a, b)) return tg_int(cx, tg_dtype_of(a), a->u.i / b->u.i);
    if (is_int_dtype(tg_dtype_of(a)) && tg_is_int_const(b, 1)) return a;
    return tg_bin(cx, TG_DIV, a, b);
}

tg_expr tg_num(tg_ctx *cx, tg_expr like, double v)
{
    return tg_const(cx, tg_dtype_of(like), v);
}

/* ---- comparisons and logic ---- */

static bool less(tg_expr a, tg_expr b)
{
    return tg_dtype_of(a).code == kDLUInt ? (uint64_t)a->u.i < (uint64_t)b->u.i : a->u.i < b->u.i;
}

tg_expr tg_min(tg_ctx *cx, tg_expr a, tg_expr b)
{
    if (both_const(a, b)) return less(a, b) ? a : b;
    return tg_bin(cx, TG_MIN, a, b);
}

tg_expr tg_max(tg_ctx *cx, tg_expr a, tg_expr b)
{
    if (both_const(a, b)) return less(b, a) ? a : b;
    return tg_bin(cx, TG_MAX, a, b);
}

tg_expr tg_clamp(tg_ctx *cx, tg_expr v, int64_t lo, int64_t hi)
{
    DLDataType d = tg_dtype_of(v);
    return tg_max(cx, tg_min(cx, v, tg_int(cx, d, hi)), tg_int(cx, d, lo));
}

static tg_expr compare(tg_ctx *cx, enum tg_kind kind, tg_expr a, tg_expr b)
{
    if (!both_const(a, b)) return tg_bin(cx, kind, a, b);
    bool lt = less(a, b), eq = a->u.i == b->u.i, r = false;
    switch (kind) {
    case TG_LT: r = lt; break;
    case TG_LE: r = lt || eq; break;
    case TG_GT: r = !lt && !eq; break;
    case TG_GE: r = !lt; break;
    case TG_EQ: r = eq; break;
    default: r = !eq; break;
    }
    return tg_int(cx, TG_BOOL, r);
}

tg_expr tg_lt(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_LT, a, b);
}
tg_expr tg_le(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_LE, a, b);
}
tg_expr tg_gt(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_GT, a, b);
}
tg_expr tg_ge(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_GE, a, b);
}
tg_expr tg_eq(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_EQ, a, b);
}
tg_expr tg_ne(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return compare(cx, TG_NE, a, b);
}

tg_expr tg_and(tg_ctx *cx, tg_expr a, tg_expr b)
{
    if (a == NULL || b == NULL) return a == NULL ? b : a;
    if (a->kind == TG_INT) return a->u.i != 0 ? b : a;
    if (b->kind == TG_INT) return b->u.i != 0 ? a : b;
    return tg_bin(cx, TG_AND, a, b);
}

tg_expr tg_or(tg_ctx *cx, tg_expr a, tg_expr b)
{
    if (a->kind == TG_INT) return a->u.i != 0 ? a : b;
    if (b->kind == TG_INT) return b->u.i != 0 ? b : a;
    return tg_bin(cx, TG_OR, a, b);
}

tg_expr tg_within(tg_ctx *cx, tg_expr v, int64_t lo, int64_t hi)
{
    DLDataType d = tg_dtype_of(v);
    return tg_and(cx, tg_ge(cx, v, tg_int(cx, d, lo)), tg_lt(cx, v, tg_int(cx, d, hi)));
}

tg_expr tg_guarded(tg_ctx *cx, tg_expr c, tg_expr a, tg_expr b)
{
    if (c == NULL || (c->kind == TG_INT && c->u.i != 0)) return a;
    if (c->kind == TG_INT) return b;
    return tg_call3(cx, "if_then_else", c, a, b);
}

tg_expr tg_choose(tg_ctx *cx, tg_expr c, tg_expr a, tg_expr b)
{
    if (c->kind == TG_INT) return c->u.i != 0 ? a : b;
    return tg_select(cx, c, a, b);
}

/* ---- conversions and limits ---- */

tg_expr tg_to(tg_ctx *cx, DLDataType d, tg_expr a)
{
    DLDataType from = tg_dtype_of(a);
    if (tg_dtype_eq(d, from)) return a;
    if (tg_is_bool(d)) return tg_ne(cx, a, tg_const(cx, from, 0));
    if (a->kind == TG_INT && !tg_is_float(d)) return tg_int(cx, d, a->u.i);
    if (a->kind == TG_INT && !(from.code == kDLUInt && from.bits == 64)) return tg_float(cx, d, (double)a->u.i);
    if (a->kind == TG_FLOAT && tg_is_float(d)) return tg_float(cx, d, a->u.f);
    bool half = (tg_is_float(d) && d.bits < 32) || (tg_is_float(from) && from.bits < 32);
    if (half && !tg_dtype_eq(d, TG_FLOAT32) && !tg_dtype_eq(from, TG_FLOAT32))
        a = tg_cast(cx, TG_FLOAT32, a); /* the only conversions of half types are to and from float32 */
    return tg_cast(cx, d, a);
}

tg_expr tg_neg(tg_ctx *cx, tg_expr a)
{
    DLDataType d = tg_dtype_of(a);
    if (a->kind == TG_INT) return tg_int(cx, d, (int64_t)(0 - (uint64_t)a->u.i));
    if (a->kind == TG_FLOAT) return tg_float(cx, d, -a->u.f);
    /* -0.0 - x and not 0 - x: the sign of zero survives */
    return tg_bin(cx, TG_SUB, tg_const(cx, d, tg_is_float(d) ? -0.0 : 0.0), a);
}

static double float_limit(DLDataType of)
{
    if (of.code == kDLBfloat) return 3.3895313892515355e38;
    return of.bits == 16 ? 65504.0 : of.bits == 32 ? (double)FLT_MAX : DBL_MAX;
}

tg_expr tg_lowest(tg_ctx *cx, DLDataType d, DLDataType of)
{
    if (tg_is_float(of)) return tg_float(cx, d, -float_limit(of));
    if (of.code == kDLUInt) return tg_int(cx, d, 0);
    return tg_int(cx, d, of.bits >= 64 ? INT64_MIN : -((int64_t)1 << (of.bits - 1)));
}

tg_expr tg_highest(tg_ctx *cx, DLDataType d, DLDataType of)
{
    if (tg_is_float(of)) return tg_float(cx, d, float_limit(of));
    if (of.code == kDLUInt) return tg_int(cx, d, of.bits >= 64 ? -1 : ((int64_t)1 << of.bits) - 1);
    return tg_int(cx, d, of.bits >= 64 ? INT64_MAX : ((int64_t)1 << (of.bits - 1)) - 1);
}

bool tg_mul_fits(int64_t a, int64_t b, int64_t *out)
{
    const int64_t limit = (int64_t)1 << 62;
    if (b != 0 && (a > limit / (b < 0 ? -b : b) || a < -(limit / (b < 0 ? -b : b)))) return false;
    *out = a * b;
    return true;
}

bool tg_add_fits(int64_t a, int64_t b, int64_t *out)
{
    const int64_t limit = (int64_t)1 << 62;
    if (a > limit || a < -limit || b > limit || b < -limit) return false;
    *out = a + b;
    return true;
}

/* ---- flat offsets ---- */

tg_expr tg_ravel(tg_ctx *cx, DLDataType index, uint32_t n, const tg_expr *ix, const int64_t *dim)
{
    tg_expr flat = tg_int(cx, index, 0);
    for (uint32_t k = 0; k < n; ++k) {
        flat = tg_muli(cx, flat, dim[k]);
        if (dim[k] != 1) /* the only coordinate is 0 */
            flat = tg_add(cx, flat, ix[k]);
    }
    return flat;
}

void tg_unravel(tg_ctx *cx, tg_expr flat, uint32_t n, const int64_t *dim, tg_expr *ix)
{
    DLDataType d = tg_dtype_of(flat);
    int64_t stride = 1;
    bool outermost = true;
    for (uint32_t k = n; k-- > 0;) {
        outermost = true;
        for (uint32_t j = 0; j < k; ++j) outermost = outermost && dim[j] == 1;
        if (dim[k] <= 1) ix[k] = tg_int(cx, d, 0);
        else if (outermost) ix[k] = tg_floordivi(cx, flat, stride);
        else ix[k] = tg_floormodi(cx, tg_floordivi(cx, flat, stride), dim[k]);
        stride *= dim[k] > 0 ? dim[k] : 1;
    }
}
