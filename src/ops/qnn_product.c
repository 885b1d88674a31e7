/* qnn_product.c: type rules of sums of products of codes without their zero points: conv2d, dense, batch_matmul and
 * relatives; of pooling and concatenation. What they compute is in the files of the operators they are named after
 * (conv.c, linear.c), or comes from passes/canon_qnn.c. */
#include "qnn.h"

#include <string.h>

/* Zero points and scales of the two operands, in the printed order: of the data, of the weight. Extent: output
 * channels. */
static bool check_params(tg_ctx *cx, const tg_node *call, int64_t extent)
{
    return tg_qnn_check_zero(cx, call, 2, 0) && tg_qnn_check_zero(cx, call, 3, extent) &&
           tg_qnn_check_scale(cx, call, 4, 0) && tg_qnn_check_scale(cx, call, 5, extent);
}

/* The accumulators: int32 when the text leaves it open. */
static const tg_node *with_result(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    if (tg_attr_str(cx, op, call, "out_dtype")[0] != '\0') return call;
    tg_rcall_info *info = TG_NEW(cx, tg_rcall_info);
    *info = *call->u.call;
    info->attrs = tg_v_with(cx, info->attrs, "out_dtype", tg_v_strz(cx, "int32"));
    return tg_node_new(cx, TG_RCALL, call->span, call->type, info, call->nkids, call->kid);
}

static const tg_type *check_codes(tg_ctx *cx, const tg_node *call, const tg_type *t, uint32_t axis)
{
    if (t == NULL) return NULL;
    for (uint32_t i = 0; i < 2; ++i)
        if (!tg_qnn_is_code(call->kid[i]->type->dtype))
            return tg_arg_error(cx, call, i, "%s is no type of quantised values",
                                tg_dtype_text(cx, call->kid[i]->type->dtype));
    if (!tg_dtype_eq(t->dtype, TG_INT32))
        return tg_op_error(cx, call, "out_dtype must be int32, not %s", tg_dtype_text(cx, t->dtype));
    return check_params(cx, call, t->dim[axis]) ? t : NULL;
}

static const tg_type *conv_type(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t)
{
    const char *layout = tg_attr_str(cx, op, call, "out_layout");
    tg_layout l;
    if (t == NULL ||
        !tg_layout_parse(cx, call, layout[0] != '\0' ? layout : tg_attr_str(cx, op, call, "data_layout"), &l))
        return NULL;
    if (!tg_layout_plain(&l, 'C')) return tg_op_error(cx, call, "layout \"%s\" splits the channels", layout);
    return check_codes(cx, call, t, (uint32_t)tg_layout_find(&l, 'C'));
}

const tg_type *tg_type_qnn_conv(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_node *as_int = with_result(cx, op, call);
    return conv_type(cx, op, call, tg_type_conv(cx, op, as_int));
}

const tg_type *tg_type_qnn_conv_transpose(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_node *as_int = with_result(cx, op, call);
    return conv_type(cx, op, call, tg_type_conv_transpose(cx, op, as_int));
}

static const tg_type *matrix_type(tg_ctx *cx, const tg_node *call, const tg_type *t)
{
    return t != NULL ? check_codes(cx, call, t, t->n - 1) : NULL;
}

const tg_type *tg_type_qnn_dense(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return matrix_type(cx, call, tg_type_matmul(cx, op, with_result(cx, op, call)));
}

const tg_type *tg_type_qnn_dense_pack(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return matrix_type(cx, call, tg_type_dense_pack(cx, op, with_result(cx, op, call)));
}

const tg_type *tg_type_qnn_batch_matmul(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return matrix_type(cx, call, tg_type_batch_matmul(cx, op, with_result(cx, op, call)));
}

const tg_type *tg_type_qnn_avg_pool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_type_pool(cx, op, call);
    if (t == NULL || !tg_qnn_check_unary(cx, call, 1)) return NULL;
    return tg_qnn_is_code(t->dtype)
               ? t
               : tg_arg_error(cx, call, 0, "%s is no type of quantised values", tg_dtype_text(cx, t->dtype));
}

/* ---- concatenate: a tuple of parts, one of their scales, one of their zero points ---- */

static bool check_fields(tg_ctx *cx, const tg_node *call, uint32_t i, uint32_t n, bool scale)
{
    const tg_type *t = tg_arg_tuple(cx, call, i);
    if (t == NULL) return false;
    if (t->n != n) return tg_arg_error(cx, call, i, "the tuple has %u fields, the data has %u", t->n, n) != NULL;
    for (uint32_t k = 0; k < n; ++k) {
        const tg_type *f = t->field[k];
        bool fits = f->n == 0 || (f->n == 1 && f->dim[0] == 1);
        if (!fits || (scale ? !tg_dtype_eq(f->dtype, TG_FLOAT32) : !tg_is_int(f->dtype)))
            return tg_arg_error(cx, call, i, "field %u is %s, expected a scalar %s", k, tg_type_text(cx, f),
                                scale ? "of float32" : "integer") != NULL;
    }
    return true;
}

const tg_type *tg_type_qnn_concatenate(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_type_concatenate(cx, op, call);
    if (t == NULL || !check_fields(cx, call, 1, call->kid[0]->type->n, true) ||
        !check_fields(cx, call, 2, call->kid[0]->type->n, false) || !tg_qnn_check_scale(cx, call, 3, 0) ||
        !tg_qnn_check_zero(cx, call, 4, 0))
        return NULL;
    return tg_qnn_is_code(t->dtype)
               ? t
               : tg_arg_error(cx, call, 0, "%s is no type of quantised values", tg_dtype_text(cx, t->dtype));
}
