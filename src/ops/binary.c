/* binary.c: two tensors broadcast against each other: arithmetic, comparison, logic, where. */
#include "build.h"

#include <string.h>

/* ---- type rules ---- */

static const tg_type *broadcast(tg_ctx *cx, const tg_node *call)
{
    uint32_t ndim, wide;
    int64_t dim[TG_MAX_NDIM];
    if (!tg_broadcast_dims(cx, call, 0, 2, &ndim, dim, &wide) || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    return tg_tensor_type(cx, call->kid[0]->type->dtype, ndim, dim, wide);
}

const tg_type *tg_type_binary(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    return broadcast(cx, call);
}

const tg_type *tg_type_binary_number(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL && tg_is_bool(t->dtype) ? tg_arg_error(cx, call, 0, "bool is not a number") : t;
}

const tg_type *tg_type_binary_float(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL && tg_want_float(cx, call, 0) ? t : NULL;
}

/* A constant shift count must be less than the width: at run time the result would be undefined. */
static bool count_fits(tg_ctx *cx, const tg_node *call)
{
    const tg_node *n = call->kid[1];
    int64_t elements = 0;
    if (n->kind != TG_RCONST || !tg_type_elements(n->type, &elements)) return true;
    for (int64_t i = 0; i < elements; ++i) {
        int64_t c = tg_tensor_i64(n->u.tensor, i);
        if (c < 0 || c >= n->type->dtype.bits) {
            tg_arg_error(cx, call, 1, "shift count %lld is outside of 0 to %d", (long long)c, n->type->dtype.bits - 1);
            return false;
        }
    }
    return true;
}

const tg_type *tg_type_shift(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL && tg_want_int(cx, call, 0) && count_fits(cx, call) ? t : NULL;
}

const tg_type *tg_type_bitwise(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL && tg_is_float(t->dtype) ? tg_arg_error(cx, call, 0, "operands must be of an integer type") : t;
}

const tg_type *tg_type_logical(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL && !tg_is_bool(t->dtype) ? tg_arg_error(cx, call, 0, "operands must be bool") : t;
}

const tg_type *tg_type_compare(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = broadcast(cx, call);
    return t != NULL ? tg_like(cx, t, TG_BOOL) : NULL;
}

const tg_type *tg_type_where(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    uint32_t ndim, wide;
    int64_t dim[TG_MAX_NDIM];
    if (!tg_broadcast_dims(cx, call, 0, 3, &ndim, dim, &wide) || !tg_same_dtype(cx, call, 1, 2)) return NULL;
    return tg_tensor_type(cx, call->kid[1]->type->dtype, ndim, dim, wide);
}

/* ---- values ---- */

typedef tg_expr (*binary_fn)(tg_ctx *cx, tg_expr a, tg_expr b);

static bool is_float_expr(tg_expr a)
{
    return tg_is_float(tg_dtype_of(a));
}

/* bool adds as or, multiplies as and, subtracts as exclusive or: arithmetic of one bit, sums saturated. */
static tg_expr add(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_or(cx, a, b) : tg_add(cx, a, b);
}

static tg_expr subtract(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_ne(cx, a, b) : tg_sub(cx, a, b);
}

static tg_expr multiply(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_and(cx, a, b) : tg_mul(cx, a, b);
}

static tg_expr mod(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_bin(cx, TG_MOD, a, b);
}

static tg_expr floor_divide(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return is_float_expr(a) ? tg_call1(cx, "floor", tg_div(cx, a, b)) : tg_floordiv(cx, a, b);
}

static tg_expr floor_mod(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return is_float_expr(a) ? tg_sub(cx, a, tg_mul(cx, floor_divide(cx, a, b), b)) : tg_floormod(cx, a, b);
}

static tg_expr trunc_divide(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return is_float_expr(a) ? tg_call1(cx, "trunc", tg_div(cx, a, b)) : tg_div(cx, a, b);
}

static tg_expr power(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_call2(cx, "pow", a, b);
}

static tg_expr maximum(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_or(cx, a, b) : tg_max(cx, a, b);
}

static tg_expr minimum(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_and(cx, a, b) : tg_min(cx, a, b);
}

static tg_expr left_shift(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_call2(cx, "shift_left", a, b);
}
static tg_expr right_shift(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_call2(cx, "shift_right", a, b);
}

static tg_expr bit_and(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_and(cx, a, b) : tg_call2(cx, "bitwise_and", a, b);
}

static tg_expr bit_or(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_or(cx, a, b) : tg_call2(cx, "bitwise_or", a, b);
}

static tg_expr bit_xor(tg_ctx *cx, tg_expr a, tg_expr b)
{
    return tg_is_bool(tg_dtype_of(a)) ? tg_ne(cx, a, b) : tg_call2(cx, "bitwise_xor", a, b);
}

static const struct {
    const char *op;
    binary_fn value;
} binary[] = {
    { "add", add },
    { "subtract", subtract },
    { "multiply", multiply },
    { "divide", tg_div },
    { "mod", mod },
    { "floor_divide", floor_divide },
    { "floor_mod", floor_mod },
    { "trunc_divide", trunc_divide },
    { "trunc_mod", mod },
    { "power", power },
    { "maximum", maximum },
    { "minimum", minimum },
    { "left_shift", left_shift },
    { "right_shift", right_shift },
    { "bitwise_and", bit_and },
    { "bitwise_or", bit_or },
    { "bitwise_xor", bit_xor },
    { "logical_and", bit_and },
    { "logical_or", bit_or },
    { "logical_xor", bit_xor },
    { "equal", tg_eq },
    { "not_equal", tg_ne },
    { "less", tg_lt },
    { "less_equal", tg_le },
    { "greater", tg_gt },
    { "greater_equal", tg_ge },
};

/* ---- blocks ---- */

bool tg_lower_binary(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)call;
    tg_at at;
    for (size_t i = 0; i < TG_COUNT(binary); ++i) {
        if (strcmp(binary[i].op, op->name) != 0) continue;
        tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
        tg_put(b, lo->out[0], binary[i].value(lo->cx, tg_in_bcast(lo, 0, &at), tg_in_bcast(lo, 1, &at)), &at);
        return true;
    }
    return tg_lower_none(lo, op, call);
}

bool tg_lower_where(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr c = tg_to(lo->cx, TG_BOOL, tg_in_bcast(lo, 0, &at));
    tg_put(b, lo->out[0], tg_choose(lo->cx, c, tg_in_bcast(lo, 1, &at), tg_in_bcast(lo, 2, &at)), &at);
    return true;
}

/* x + b along one axis */
const tg_type *tg_type_bias_add(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *bias = tg_arg_of_rank(cx, call, 1, 1);
    uint32_t axis;
    if (t == NULL || bias == NULL || !tg_same_dtype(cx, call, 0, 1) || !tg_attr_axis(cx, op, call, "axis", t->n, &axis))
        return NULL;
    if (bias->dim[0] == t->dim[axis]) return t;
    return tg_arg_error(cx, call, 1, "bias has %lld values, axis %u of the data has extent %lld",
                        (long long)bias->dim[0], axis, (long long)t->dim[axis]);
}

bool tg_lower_bias_add(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_at at, one = { 1, { NULL } };
    uint32_t axis = 0;
    tg_attr_axis(lo->cx, op, call, "axis", lo->out[0]->ndim, &axis);
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    one.ix[0] = at.ix[axis];
    tg_put(b, lo->out[0], add(lo->cx, tg_in(lo, 0, &at), tg_in(lo, 1, &one)), &at);
    return true;
}
