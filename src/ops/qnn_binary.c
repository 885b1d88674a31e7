/* qnn_binary.c: quantised operators element by element: add, subtract, mul, leaky_relu. Scales are constants. */
#include "fixed.h"
#include "qnn.h"

#include <string.h>

enum { A, B, SCALE_A, ZERO_A, SCALE_B, ZERO_B, SCALE_OUT, ZERO_OUT }; /* operands of the binary ones */

const tg_type *tg_type_qnn_binary(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    int64_t dim[TG_MAX_NDIM];
    uint32_t ndim, wide, axis;
    static const char *const axes[2] = { "lhs_axis", "rhs_axis" };
    if (!tg_broadcast_dims(cx, call, 0, 2, &ndim, dim, &wide) || !tg_same_dtype(cx, call, A, B)) return NULL;
    for (uint32_t k = 0; k < 2; ++k) {
        const tg_type *t = call->kid[k]->type, *s = tg_arg_tensor(cx, call, SCALE_A + 2 * k),
                      *z = tg_arg_tensor(cx, call, ZERO_A + 2 * k);
        int64_t extent = 0;
        if (s == NULL || z == NULL) return NULL;
        if ((s->n == 1 && s->dim[0] != 1) || (z->n == 1 && z->dim[0] != 1)) {
            if (!tg_attr_axis(cx, op, call, axes[k], t->n, &axis)) return NULL;
            extent = t->dim[axis];
        }
        if (!tg_qnn_check_scale(cx, call, SCALE_A + 2 * k, extent) ||
            !tg_qnn_check_zero(cx, call, ZERO_A + 2 * k, extent))
            return NULL;
    }
    if (!tg_qnn_check_scale(cx, call, SCALE_OUT, 0) || !tg_qnn_check_zero(cx, call, ZERO_OUT, 0)) return NULL;
    DLDataType d = call->kid[A]->type->dtype;
    if (!tg_qnn_is_code(d)) return tg_arg_error(cx, call, A, "%s is no type of quantised values", tg_dtype_text(cx, d));
    return tg_tensor_type(cx, d, ndim, dim, wide);
}

static tg_expr int32_of(tg_lower *lo, uint32_t k)
{
    return tg_to(lo->cx, TG_INT32, tg_in0(lo, k));
}

/* Both operands in the result's scale and zero point; of the two zero points one is too many, or missing. */
bool tg_lower_qnn_add(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    bool minus = strcmp(op->name, "qnn.subtract") == 0;
    tg_at at;
    tg_block_build *block = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr a, b, zero = int32_of(lo, ZERO_OUT);
    (void)call;
    if (!tg_qnn_rescaled(lo, tg_in_bcast(lo, A, &at), SCALE_A, ZERO_A, SCALE_OUT, ZERO_OUT, &a) ||
        !tg_qnn_rescaled(lo, tg_in_bcast(lo, B, &at), SCALE_B, ZERO_B, SCALE_OUT, ZERO_OUT, &b))
        return false;
    tg_expr v = minus ? tg_add(cx, tg_sub(cx, a, b), zero) : tg_sub(cx, tg_add(cx, a, b), zero);
    tg_put(block, lo->out[0], tg_qnn_narrow(cx, lo->out[0]->dtype, v), &at);
    return true;
}

bool tg_lower_qnn_mul(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    double sa, sb, so;
    tg_at at;
    (void)op;
    (void)call;
    if (!tg_qnn_const(lo, SCALE_A, &sa) || !tg_qnn_const(lo, SCALE_B, &sb) || !tg_qnn_const(lo, SCALE_OUT, &so))
        return false;
    tg_block_build *block = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr a = tg_sub(cx, tg_to(cx, TG_INT32, tg_in_bcast(lo, A, &at)), int32_of(lo, ZERO_A));
    tg_expr b = tg_sub(cx, tg_to(cx, TG_INT32, tg_in_bcast(lo, B, &at)), int32_of(lo, ZERO_B)), v = tg_mul(cx, a, b);
    double product = tg_round_to(TG_FLOAT32, sa * sb);
    if (product != so && !tg_qnn_multiply(lo, v, product / so, 31, &v)) return false;
    v = tg_add(cx, v, int32_of(lo, ZERO_OUT));
    tg_put(block, lo->out[0], tg_qnn_narrow(cx, lo->out[0]->dtype, v), &at);
    return true;
}

/* ---- leaky_relu ---- */

const tg_type *tg_type_qnn_unary(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    (void)op;
    if (t == NULL || !tg_qnn_check_unary(cx, call, 1)) return NULL;
    if (!tg_qnn_is_code(t->dtype))
        return tg_arg_error(cx, call, 0, "%s is no type of quantised values", tg_dtype_text(cx, t->dtype));
    return t;
}

bool tg_lower_qnn_leaky_relu(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    enum { X, SCALE, ZERO, OUT_SCALE, OUT_ZERO };
    tg_ctx *cx = lo->cx;
    double alpha = tg_attr_float(cx, op, call, "alpha");
    if (!(alpha >= 0 && alpha <= 1)) return tg_op_error(cx, call, "alpha is %g, expected 0 to 1", alpha) != NULL;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr x = tg_to(cx, TG_INT32, tg_in(lo, X, &at)), r, steep, rest;
    if (!tg_qnn_rescaled(lo, x, SCALE, ZERO, OUT_SCALE, OUT_ZERO, &r) || !tg_qnn_multiply(lo, r, alpha, 31, &steep) ||
        !tg_qnn_multiply(lo, int32_of(lo, OUT_ZERO), 1 - alpha, 31, &rest))
        return false;
    tg_expr v = tg_choose(cx, tg_lt(cx, x, int32_of(lo, ZERO)), tg_add(cx, steep, rest), r);
    tg_put(b, lo->out[0], tg_to(cx, lo->out[0]->dtype, v), &at);
    return true;
}
