/* eltwise.c: one tensor in, one value out of one value: type rules and blocks of the unary operators. */
#include "build.h"

#include <math.h>
#include <string.h>

/* ---- type rules ---- */

const tg_type *tg_type_same(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    return tg_arg_tensor(cx, call, 0);
}

const tg_type *tg_type_same_float(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL && tg_want_float(cx, call, 0) ? t : NULL;
}

const tg_type *tg_type_same_number(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL && tg_is_bool(t->dtype) ? tg_arg_error(cx, call, 0, "bool is not a number") : t;
}

const tg_type *tg_type_same_bool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL && !tg_is_bool(t->dtype) ? tg_arg_error(cx, call, 0, "the operand must be bool") : t;
}

const tg_type *tg_type_bitwise_not(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL && tg_is_float(t->dtype) ? tg_arg_error(cx, call, 0, "the operand must be of an integer type") : t;
}

const tg_type *tg_type_to_bool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL ? tg_like(cx, t, TG_BOOL) : NULL;
}

const tg_type *tg_type_cast(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL ? tg_like(cx, t, tg_attr_dtype(cx, op, call, "dtype", t->dtype)) : NULL;
}

const tg_type *tg_type_cast_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0), *like = tg_arg_tensor(cx, call, 1);
    return t != NULL && like != NULL ? tg_like(cx, t, like->dtype) : NULL;
}

const tg_type *tg_type_reinterpret(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_type_cast(cx, op, call), *from = call->kid[0]->type;
    if (t != NULL && t->dtype.bits != from->dtype.bits)
        return tg_arg_error(cx, call, 0, "%s has another width", tg_dtype_text(cx, t->dtype));
    return t;
}

const tg_type *tg_type_full_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL && tg_arg_of_rank(cx, call, 1, 0) != NULL && tg_same_dtype(cx, call, 0, 1) ? t : NULL;
}

const tg_type *tg_type_prelu(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *a = tg_arg_of_rank(cx, call, 1, 1);
    uint32_t axis;
    if (t == NULL || a == NULL || !tg_same_dtype(cx, call, 0, 1) || !tg_attr_axis(cx, op, call, "axis", t->n, &axis))
        return NULL;
    if (a->dim[0] != t->dim[axis])
        return tg_arg_error(cx, call, 1, "alpha has %lld values, axis %u of the data has extent %lld",
                            (long long)a->dim[0], axis, (long long)t->dim[axis]);
    return t;
}

/* ---- values ---- */

/* The rule of one unary operator: x is widened already. */
typedef tg_expr (*unary_fn)(tg_lower *lo, const tg_op *op, const tg_node *call, tg_expr x);

#define UNARY(name) static tg_expr name(tg_lower *lo, const tg_op *op, const tg_node *call, tg_expr x)
#define UNUSED_ROW  ((void)op, (void)call)

/* Operators named as in intrins.def. */
UNARY(intrinsic)
{
    (void)call;
    return tg_call1(lo->cx, op->name, x);
}

UNARY(identity)
{
    (void)lo;
    UNUSED_ROW;
    return x;
}

UNARY(zero)
{
    UNUSED_ROW;
    return tg_num(lo->cx, x, 0);
}

UNARY(one)
{
    UNUSED_ROW;
    return tg_num(lo->cx, x, 1);
}

UNARY(rounding)
{
    return tg_is_float(tg_dtype_of(x)) ? intrinsic(lo, op, call, x) : x;
}

UNARY(absolute)
{
    UNUSED_ROW;
    DLDataType d = tg_dtype_of(x);
    if (tg_is_float(d)) return tg_call1(lo->cx, "fabs", x);
    return d.code == kDLUInt ? x : tg_choose(lo->cx, tg_lt(lo->cx, x, tg_num(lo->cx, x, 0)), tg_neg(lo->cx, x), x);
}

UNARY(negative)
{
    UNUSED_ROW;
    return tg_neg(lo->cx, x);
}

UNARY(sign)
{
    UNUSED_ROW;
    tg_ctx *cx = lo->cx;
    tg_expr zero = tg_num(cx, x, 0), one = tg_num(cx, x, 1);
    tg_expr below = tg_dtype_of(x).code == kDLUInt ? zero : tg_choose(cx, tg_lt(cx, x, zero), tg_num(cx, x, -1), zero);
    return tg_choose(cx, tg_gt(cx, x, zero), one, below);
}

UNARY(rsqrt)
{
    UNUSED_ROW;
    return tg_div(lo->cx, tg_num(lo->cx, x, 1), tg_call1(lo->cx, "sqrt", x));
}

UNARY(sigmoid)
{
    UNUSED_ROW;
    tg_expr one = tg_num(lo->cx, x, 1);
    return tg_div(lo->cx, one, tg_add(lo->cx, one, tg_call1(lo->cx, "exp", tg_neg(lo->cx, x))));
}

UNARY(invert)
{
    UNUSED_ROW;
    return tg_is_bool(tg_dtype_of(x)) ? tg_not(lo->cx, x) : tg_call1(lo->cx, "bitwise_not", x);
}

UNARY(classify)
{
    if (tg_is_float(tg_dtype_of(x))) return intrinsic(lo, op, call, x);
    return tg_int(lo->cx, TG_BOOL, strcmp(op->name, "isfinite") == 0);
}

UNARY(relu)
{
    UNUSED_ROW;
    return tg_max(lo->cx, x, tg_num(lo->cx, x, 0));
}

UNARY(leaky_relu)
{
    DLDataType d = lo->in[0]->dtype;
    double alpha = tg_attr_float(lo->cx, op, call, "alpha");
    tg_expr a = tg_is_float(d) ? tg_num(lo->cx, x, tg_round_to(d, alpha)) : tg_num(lo->cx, x, trunc(alpha));
    return tg_choose(lo->cx, tg_gt(lo->cx, x, tg_num(lo->cx, x, 0)), x, tg_mul(lo->cx, x, a));
}

/* A bound of clip as the tensor's type holds it: truncated, saturated. */
static tg_expr bound(tg_lower *lo, tg_expr x, double v)
{
    DLDataType d = lo->in[0]->dtype;
    if (tg_is_float(d)) return tg_num(lo->cx, x, tg_round_to(d, v));
    tg_expr least = tg_lowest(lo->cx, d, d), most = tg_highest(lo->cx, d, d);
    double top = d.code == kDLUInt && d.bits == 64 ? 18446744073709551616.0 : (double)most->u.i;
    if (isnan(v) || v <= (double)least->u.i) return isnan(v) ? tg_int(lo->cx, d, 0) : least;
    if (v >= top) return most;
    return tg_int(lo->cx, d, v >= 9223372036854775808.0 ? (int64_t)(uint64_t)v : (int64_t)v);
}

UNARY(clip)
{
    tg_expr least = bound(lo, x, tg_attr_float(lo->cx, op, call, "a_min")),
            most = bound(lo, x, tg_attr_float(lo->cx, op, call, "a_max"));
    return tg_max(lo->cx, tg_min(lo->cx, x, most), least);
}

/* ---- fast forms (relay-ops.md section 3) ---- */

/* c[0] + t(c[1] + t(c[2] + …)) */
static tg_expr horner(tg_ctx *cx, tg_expr t, const double *c, int n)
{
    tg_expr r = tg_num(cx, t, c[n - 1]);
    for (int i = n - 2; i >= 0; --i) r = tg_add(cx, tg_mul(cx, r, t), tg_num(cx, t, c[i]));
    return r;
}

static tg_expr clamp_float(tg_ctx *cx, tg_expr x, double limit)
{
    return tg_max(cx, tg_min(cx, x, tg_num(cx, x, limit)), tg_num(cx, x, -limit));
}

tg_expr tg_fast_exp(tg_ctx *cx, tg_expr x)
{
    static const double c[] = { 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2,
                                8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4 };
    if (!tg_dtype_eq(tg_dtype_of(x), TG_FLOAT32)) return tg_call1(cx, "exp", x);
    tg_expr v = clamp_float(cx, x, 88.376263);
    tg_expr n = tg_call1(cx, "floor", tg_add(cx, tg_mul(cx, v, tg_num(cx, x, 1.44269504)), tg_num(cx, x, 0.5)));
    tg_expr f = tg_sub(cx, v, tg_mul(cx, n, tg_num(cx, x, 0.69314718)));
    tg_expr y = tg_add(cx, tg_add(cx, tg_mul(cx, horner(cx, f, c, 6), tg_mul(cx, f, f)), f), tg_num(cx, x, 1));
    tg_expr bits = tg_mul(cx, tg_to(cx, TG_INT32, tg_add(cx, n, tg_num(cx, x, 127))), tg_int(cx, TG_INT32, 1 << 23));
    tg_expr power = tg_call(cx, "reinterpret", tg_prim(cx, TG_FLOAT32), 1, &bits);
    return tg_max(cx, tg_mul(cx, power, y), x);
}

/* x·p(x²) / q(x²) */
static tg_expr rational(tg_ctx *cx, tg_expr x, const double *p, int np, const double *q, int nq)
{
    tg_expr t = tg_mul(cx, x, x);
    return tg_div(cx, tg_mul(cx, x, horner(cx, t, p, np)), horner(cx, t, q, nq));
}

UNARY(fast_exp)
{
    UNUSED_ROW;
    return tg_fast_exp(lo->cx, x);
}

UNARY(fast_tanh)
{
    static const double p[] = { 4.89352455891786e-3,   6.37261928875436e-4,  1.48572235717979e-5,  5.12229709037114e-8,
                                -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16 };
    static const double q[] = { 4.89352518554385e-3, 2.26843463243900e-3, 1.18534705686654e-4, 1.19825839466702e-6 };
    UNUSED_ROW;
    if (!tg_dtype_eq(tg_dtype_of(x), TG_FLOAT32)) return tg_call1(lo->cx, "tanh", x);
    return rational(lo->cx, clamp_float(lo->cx, x, 9), p, 7, q, 4);
}

UNARY(fast_erf)
{
    static const double p[] = { -1.60960333262415e-2, -2.95459980854025e-3, -7.34990630326855e-4, -5.69250639462346e-5,
                                -2.10102402082508e-6, 2.77068142495902e-8,  -2.72614225801306e-10 };
    static const double q[] = { -1.42647390514189e-2, -7.37332916720468e-3, -1.68282697438203e-3, -2.13374055278905e-4,
                                -1.45660718464996e-5 };
    UNUSED_ROW;
    if (!tg_dtype_eq(tg_dtype_of(x), TG_FLOAT32)) return tg_call1(lo->cx, "erf", x);
    return rational(lo->cx, clamp_float(lo->cx, x, 4), p, 7, q, 5);
}

static const struct {
    const char *op;
    unary_fn value;
} unary[] = {
    { "exp", intrinsic },      { "log", intrinsic },      { "log2", intrinsic },
    { "log10", intrinsic },    { "sqrt", intrinsic },     { "sin", intrinsic },
    { "cos", intrinsic },      { "tan", intrinsic },      { "asin", intrinsic },
    { "acos", intrinsic },     { "atan", intrinsic },     { "sinh", intrinsic },
    { "cosh", intrinsic },     { "tanh", intrinsic },     { "asinh", intrinsic },
    { "acosh", intrinsic },    { "atanh", intrinsic },    { "erf", intrinsic },
    { "rsqrt", rsqrt },        { "sigmoid", sigmoid },    { "floor", rounding },
    { "ceil", rounding },      { "trunc", rounding },     { "round", rounding },
    { "abs", absolute },       { "negative", negative },  { "sign", sign },
    { "logical_not", invert }, { "bitwise_not", invert }, { "isnan", classify },
    { "isinf", classify },     { "isfinite", classify },  { "copy", identity },
    { "cast", identity },      { "cast_like", identity }, { "zeros_like", zero },
    { "ones_like", one },      { "fast_exp", fast_exp },  { "fast_tanh", fast_tanh },
    { "fast_erf", fast_erf },  { "nn.relu", relu },       { "nn.leaky_relu", leaky_relu },
    { "clip", clip },
};

/* ---- blocks ---- */

bool tg_lower_unary(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    unary_fn value = identity;
    for (size_t i = 0; i < TG_COUNT(unary); ++i)
        if (strcmp(unary[i].op, op->name) == 0) value = unary[i].value;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_put(b, lo->out[0], value(lo, op, call, tg_in(lo, 0, &at)), &at);
    return true;
}

bool tg_lower_reinterpret(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr x = tg_in_raw(lo, 0, &at);
    if (!tg_dtype_eq(tg_dtype_of(x), lo->out[0]->dtype))
        x = tg_call(lo->cx, "reinterpret", tg_prim(lo->cx, lo->out[0]->dtype), 1, &x);
    tg_end_at(b, lo->out[0], x, at.n, at.ix);
    return true;
}

/* full_like(x, v) and full(v) */
bool tg_lower_full(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    return tg_fill_block(lo, NULL, lo->out[0], tg_in0(lo, lo->nin - 1));
}

bool tg_lower_prelu(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    tg_at at, one = { 1, { NULL } };
    uint32_t axis = 0;
    tg_attr_axis(cx, op, call, "axis", lo->out[0]->ndim, &axis);
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    one.ix[0] = at.ix[axis];
    tg_expr x = tg_in(lo, 0, &at);
    tg_put(b, lo->out[0], tg_choose(cx, tg_gt(cx, x, tg_num(cx, x, 0)), x, tg_mul(cx, x, tg_in(lo, 1, &one))), &at);
    return true;
}

/* Markers of other passes and devices: the tensors themselves. */
const tg_type *tg_type_identity(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = call->kid[0]->type;
    return t != NULL && t->kind == TG_T_TUPLE ? tg_arg_tuple(cx, call, 0) : tg_arg_tensor(cx, call, 0);
}

bool tg_lower_identity(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    for (uint32_t i = 0; i < lo->nout; ++i) {
        tg_at at;
        tg_block_build *b = tg_begin_over(lo, "copy", lo->out[i], &at);
        tg_put(b, lo->out[i], tg_in(lo, i, &at), &at);
    }
    return true;
}
