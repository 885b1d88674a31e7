/* simplify_const.c: expressions whose operands are constants, and the few float identities that keep every bit of the value.
 * Nothing is folded whose result the target might compute differently: exp and its like stay calls. */
#include "simplify.h"

#include <math.h>

static bool is_float_const(const tg_node *n, double v)
{
    return n->kind == TG_FLOAT && n->u.f == v && signbit(n->u.f) == signbit(v);
}

static bool both(const tg_node *n, enum tg_kind kind)
{
    return n->kid[0]->kind == kind && n->kid[1]->kind == kind;
}

/* ---- integers ---- */

static int compare_ints(const tg_node *a, const tg_node *b)
{
    if (tg_dtype_of(a).code == kDLUInt) return (uint64_t)a->u.i < (uint64_t)b->u.i ? -1 : a->u.i != b->u.i;
    return a->u.i < b->u.i ? -1 : a->u.i > b->u.i;
}

static const tg_node *boolean(tg_ctx *cx, bool v)
{
    return tg_int(cx, TG_BOOL, v);
}

static const tg_node *divide_ints(tg_ctx *cx, const tg_node *n)
{
    int64_t a = n->kid[0]->u.i, b = n->kid[1]->u.i;
    DLDataType d = tg_dtype_of(n);
    if (b == 0 || (d.code == kDLInt && b == -1)) /* undefined, or the one quotient that overflows */
        return n;
    if (d.code == kDLUInt) {
        uint64_t q = (uint64_t)a / (uint64_t)b, m = (uint64_t)a % (uint64_t)b;
        return tg_int(cx, d, (int64_t)(n->kind == TG_DIV || n->kind == TG_FLOORDIV ? q : m));
    }
    int64_t q = a / b, m = a % b;
    if ((n->kind == TG_FLOORDIV || n->kind == TG_FLOORMOD) && m != 0 && (m < 0) != (b < 0)) {
        --q;
        m += b;
    }
    return tg_int(cx, d, n->kind == TG_DIV || n->kind == TG_FLOORDIV ? q : m);
}

static const tg_node *fold_ints(tg_ctx *cx, const tg_node *n)
{
    const tg_node *a = n->kid[0], *b = n->kid[1];
    DLDataType d = tg_dtype_of(n);
    switch (n->kind) {
    case TG_ADD: return tg_int(cx, d, (int64_t)((uint64_t)a->u.i + (uint64_t)b->u.i));
    case TG_SUB: return tg_int(cx, d, (int64_t)((uint64_t)a->u.i - (uint64_t)b->u.i));
    case TG_MUL: return tg_int(cx, d, (int64_t)((uint64_t)a->u.i * (uint64_t)b->u.i));
    case TG_DIV:
    case TG_MOD:
    case TG_FLOORDIV:
    case TG_FLOORMOD: return divide_ints(cx, n);
    case TG_MIN: return compare_ints(a, b) < 0 ? a : b;
    case TG_MAX: return compare_ints(a, b) > 0 ? a : b;
    case TG_EQ: return boolean(cx, a->u.i == b->u.i);
    case TG_NE: return boolean(cx, a->u.i != b->u.i);
    case TG_LT: return boolean(cx, compare_ints(a, b) < 0);
    case TG_LE: return boolean(cx, compare_ints(a, b) <= 0);
    case TG_GT: return boolean(cx, compare_ints(a, b) > 0);
    case TG_GE: return boolean(cx, compare_ints(a, b) >= 0);
    default: return n;
    }
}

/* ---- floats ---- */

/* float16, bfloat16 and float32 sums and products are exact enough in double that rounding twice changes nothing. */
static const tg_node *fold_floats(tg_ctx *cx, const tg_node *n)
{
    double a = n->kid[0]->u.f, b = n->kid[1]->u.f;
    DLDataType d = tg_dtype_of(n);
    switch (n->kind) {
    case TG_ADD: return tg_float(cx, d, a + b);
    case TG_SUB: return tg_float(cx, d, a - b);
    case TG_MUL: return tg_float(cx, d, a * b);
    case TG_DIV: return b == 0 ? n : tg_float(cx, d, a / b);
    case TG_MIN: return a < b ? n->kid[0] : n->kid[1];
    case TG_MAX: return a > b ? n->kid[0] : n->kid[1];
    case TG_EQ: return boolean(cx, a == b);
    case TG_NE: return boolean(cx, a != b);
    case TG_LT: return boolean(cx, a < b);
    case TG_LE: return boolean(cx, a <= b);
    case TG_GT: return boolean(cx, a > b);
    case TG_GE: return boolean(cx, a >= b);
    default: return n;
    }
}

static const tg_node *float_identity(const tg_node *n)
{
    const tg_node *a = n->kid[0], *b = n->kid[1];
    switch (n->kind) {
    case TG_ADD:
        return is_float_const(b, -0.0) ? a : is_float_const(a, -0.0) ? b : n; /* +0.0 would turn -0.0 into +0.0 */
    case TG_SUB: return is_float_const(b, 0.0) ? a : n;
    case TG_MUL: return is_float_const(b, 1.0) ? a : is_float_const(a, 1.0) ? b : n;
    case TG_DIV: return is_float_const(b, 1.0) ? a : n;
    default: return n;
    }
}

/* ---- conversions ---- */

static const tg_node *fold_cast(tg_ctx *cx, const tg_node *n)
{
    const tg_node *a = n->kid[0];
    DLDataType d = tg_dtype_of(n), from = tg_dtype_of(a);
    const double exact = 9007199254740992.0; /* 2^53 */
    if (tg_dtype_eq(d, from)) return a;
    if (a->kind == TG_INT && (tg_is_int(d) || tg_is_bool(d))) return tg_int(cx, d, a->u.i);
    if (a->kind == TG_INT && tg_is_float(d) && fabs((double)a->u.i) < exact && !(from.code == kDLUInt && a->u.i < 0))
        return tg_float(cx, d, (double)a->u.i);
    if (a->kind == TG_FLOAT && tg_is_float(d)) return tg_float(cx, d, a->u.f);
    if (a->kind == TG_FLOAT && tg_is_bool(d)) return tg_int(cx, d, a->u.f != 0);
    if (a->kind == TG_FLOAT && tg_is_int(d) && fabs(a->u.f) < exact) {
        int64_t v = (int64_t)a->u.f;
        return tg_wrap_to(d, v) == v && !(d.code == kDLUInt && v < 0) ? tg_int(cx, d, v) : n;
    }
    return n;
}

static const tg_node *fold_bits(tg_ctx *cx, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    if (n->nkids == 1 && tg_is_call(n, "bitwise_not") && n->kid[0]->kind == TG_INT)
        return tg_int(cx, d, ~n->kid[0]->u.i);
    if (n->nkids != 2 || !both(n, TG_INT)) return n;
    int64_t a = n->kid[0]->u.i, b = n->kid[1]->u.i;
    if (tg_is_call(n, "bitwise_and")) return tg_int(cx, d, a & b);
    if (tg_is_call(n, "bitwise_or")) return tg_int(cx, d, a | b);
    if (tg_is_call(n, "bitwise_xor")) return tg_int(cx, d, a ^ b);
    if (b < 0 || b >= d.bits) return n;
    if (tg_is_call(n, "shift_left")) return tg_int(cx, d, (int64_t)((uint64_t)a << b));
    if (tg_is_call(n, "shift_right") && d.code == kDLInt) return tg_int(cx, d, a >= 0 ? a >> b : ~(~a >> b));
    if (tg_is_call(n, "shift_right")) return tg_int(cx, d, (int64_t)((uint64_t)a >> b));
    return n;
}

const tg_node *tg_simplify_const(tg_ctx *cx, const tg_node *n)
{
    if (n->kind >= TG_ADD && n->kind <= TG_GE) {
        if (both(n, TG_INT)) return fold_ints(cx, n);
        if (both(n, TG_FLOAT)) return fold_floats(cx, n);
        return tg_is_float(tg_dtype_of(n)) ? float_identity(n) : n;
    }
    if (n->kind == TG_CAST) return fold_cast(cx, n);
    return n->kind == TG_CALL ? fold_bits(cx, n) : n;
}
