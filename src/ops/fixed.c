/* fixed.c: multiplication by a real number held as integer and shift (relay-ops.md section 12.3). */
#include "fixed.h"

#include <math.h>

void tg_fixed_of(double m, int32_t *multiplier, int32_t *shift)
{
    int e = 0;
    double f = frexp(m, &e);
    int64_t q = (int64_t)round(f * 2147483648.0);
    if (q == (int64_t)1 << 31) {
        q /= 2;
        ++e;
    }
    *multiplier = (int32_t)q;
    *shift = m == 0 ? 0 : e;
}

static tg_expr wide(tg_ctx *cx, int64_t v)
{
    return tg_int(cx, TG_INT64, v);
}

tg_expr tg_fixed_multiply(tg_ctx *cx, tg_expr x, int32_t multiplier, int32_t shift, bool away)
{
    int left = shift > 0 ? shift : 0, right = 31 + (shift < 0 ? -shift : 0);
    tg_expr v = tg_mul(cx, tg_to(cx, TG_INT64, x), wide(cx, (int64_t)1 << left));
    v = tg_mul(cx, v, wide(cx, multiplier));
    tg_expr half = wide(cx, (int64_t)1 << (right - 1));
    if (away) /* halves away from zero */
        half = tg_choose(cx, tg_ge(cx, v, wide(cx, 0)), half, wide(cx, ((int64_t)1 << (right - 1)) - 1));
    return tg_to(cx, TG_INT32, tg_call2(cx, "shift_right", tg_add(cx, v, half), wide(cx, right)));
}

/* ---- fixed_point_multiply ---- */

const tg_type *tg_type_fixed_point_multiply(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t shift = tg_attr_int(cx, op, call, "shift"), m = tg_attr_int(cx, op, call, "multiplier");
    if (t == NULL) return NULL;
    if (!tg_dtype_eq(t->dtype, TG_INT32)) return tg_arg_error(cx, call, 0, "the data must be int32");
    if (shift >= 32 || shift < -31 || m < INT32_MIN || m > INT32_MAX)
        return tg_op_error(cx, call, "multiplier %lld with shift %lld cannot be computed in 64 bits", (long long)m,
                           (long long)shift);
    return t;
}

/* Powers of two: a shift, rounded in 32 bits. */
static tg_expr power_of_two(tg_ctx *cx, tg_expr x, int32_t e)
{
    tg_expr count = tg_int(cx, TG_INT32, e < 0 ? -e : e);
    if (e >= 0) return e == 0 ? x : tg_mul(cx, x, tg_int(cx, TG_INT32, (int64_t)1 << e));
    return tg_call2(cx, "shift_right", tg_addi(cx, x, (int64_t)1 << (-e - 1)), count);
}

bool tg_lower_fixed_point_multiply(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    int32_t m = (int32_t)tg_attr_int(lo->cx, op, call, "multiplier"),
            shift = (int32_t)tg_attr_int(lo->cx, op, call, "shift");
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr x = tg_in(lo, 0, &at);
    bool power = m == 1 << 30 && shift > -31;
    tg_put(b, lo->out[0], power ? power_of_two(lo->cx, x, shift - 1) : tg_fixed_multiply(lo->cx, x, m, shift, false),
           &at);
    return true;
}

/* ---- fixed_point_multiply_per_axis ---- */

/* The axes of the data that index the multipliers. */
static int read_axes(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t ndim, uint32_t *axis)
{
    int64_t value[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "axes", value, TG_MAX_NDIM);
    for (int i = 0; i < n; ++i)
        if (!tg_axis_of(cx, call, value[i], ndim, &axis[i])) return -1;
    return n;
}

const tg_type *tg_type_fixed_point_per_axis(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis[TG_MAX_NDIM];
    int n = t != NULL ? read_axes(cx, op, call, t->n, axis) : -1;
    if (n < 0) return NULL;
    for (uint32_t i = 0; i < 4; ++i) {
        const tg_type *v = tg_arg_tensor(cx, call, i);
        if (v == NULL) return NULL;
        if (!tg_dtype_eq(v->dtype, TG_INT32)) return tg_arg_error(cx, call, i, "operand %u must be int32", i);
        bool fits = i == 0 || v->n == (uint32_t)n;
        for (uint32_t k = 0; i > 0 && fits && k < v->n; ++k) fits = v->dim[k] == t->dim[axis[k]];
        if (!fits) return tg_arg_error(cx, call, i, "operand %u does not fit the axes", i);
    }
    return t;
}

bool tg_lower_fixed_point_per_axis(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    uint32_t axis[TG_MAX_NDIM];
    tg_at at, by = { 0 };
    int n = read_axes(cx, op, call, lo->out[0]->ndim, axis);
    if (n < 0) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    for (int k = 0; k < n; ++k) tg_at_push(&by, at.ix[axis[k]]);
    tg_expr left = tg_to(cx, TG_INT64, tg_in(lo, 2, &by)),
            right = tg_block_let(b, "shift", tg_addi(cx, tg_to(cx, TG_INT64, tg_in(lo, 3, &by)), 31));
    tg_expr v = tg_call2(cx, "shift_left", tg_to(cx, TG_INT64, tg_in(lo, 0, &at)), left);
    v = tg_mul(cx, v, tg_to(cx, TG_INT64, tg_in(lo, 1, &by)));
    tg_expr half = tg_call2(cx, "shift_left", wide(cx, 1), tg_addi(cx, right, -1));
    tg_put(b, lo->out[0], tg_call2(cx, "shift_right", tg_add(cx, v, half), right), &at);
    return true;
}
