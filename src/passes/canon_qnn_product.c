/* canon_qnn_product.c: sums of products of codes. With constant weights and zero points,
 *     Σ (x - zx)(w - zw)  =  Σ x (w - zw)  -  zx · Σ (w - zw)
 * and the last term is a constant a channel, which the bias takes in later (fold-batch-norm). Codes around the data
 * hold zx, so the data is padded with it before. Weights lose their zero point when all of them still fit in 8 bits. */
#include "canon_qnn.h"
#include "eval/eval.h"

#include <string.h>

static bool is_conv(const tg_node *call)
{
    return tg_is_op_call(call, "qnn.conv2d");
}

/* nn.<name> of the same attributes. */
static const char *plain_name(const tg_node *call)
{
    return call->u.call->op->text + 1;
}

static const tg_node *scale_one(tg_rebind *r)
{
    return tg_rconst(r->cx, tg_tensor_scalar(r->cx, TG_FLOAT32, 1));
}

/* ---- the constant ---- */

/* Attribute @p key as @p n values. */
static bool read_ints(tg_rebind *r, const tg_node *call, const char *key, int64_t *out, int n)
{
    int count = tg_attr_ints(r->cx, tg_op_find(r->cx, call->u.call->op), call, key, out, n);
    for (int i = 1; count == 1 && i < n; ++i) out[i] = out[0];
    return count == 1 || count == n;
}

/* Before and after along both spatial axes. */
static bool read_padding(tg_rebind *r, const tg_node *call, int64_t before[2], int64_t after[2])
{
    int64_t p[4];
    int n = tg_attr_ints(r->cx, tg_op_find(r->cx, call->u.call->op), call, "padding", p, 4);
    if (n != 1 && n != 2 && n != 4) return false;
    for (int i = 0; i < 2; ++i) {
        before[i] = n == 1 ? p[0] : p[i];
        after[i] = n == 4 ? p[2 + i] : before[i];
    }
    return true;
}

/* Data of zeros for which the product has one row: its value is -zx · Σ (w - zw) for every channel. */
static const tg_node *zeros(tg_rebind *r, const tg_node *call)
{
    const tg_type *t = call->kid[0]->type;
    int64_t dim[TG_MAX_NDIM], dilation[2], size[2];
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    if (!is_conv(call)) {
        for (uint32_t k = 0; k + 1 < t->n; ++k) dim[k] = 1;
    } else {
        const tg_op *op = tg_op_find(r->cx, call->u.call->op);
        const char *layout = tg_attr_str(r->cx, op, call, "data_layout"),
                   *kernel = tg_attr_str(r->cx, op, call, "kernel_layout");
        if (strlen(layout) != t->n || strlen(kernel) != 4 || !read_ints(r, call, "dilation", dilation, 2)) return NULL;
        for (int i = 0; i < 2; ++i) {
            const char *at = strchr(kernel, "HW"[i]);
            if (at == NULL) return NULL;
            size[i] = (call->kid[1]->type->dim[at - kernel] - 1) * dilation[i] + 1;
        }
        for (uint32_t k = 0; k < t->n; ++k)
            dim[k] = layout[k] == 'N' ? 1 : layout[k] == 'H' ? size[0] : layout[k] == 'W' ? size[1] : t->dim[k];
    }
    return tg_rconst(r->cx, tg_tensor_new(r->cx, tg_tensor_type(r->cx, t->dtype, t->n, dim, 0), NULL));
}

static const tg_value *without_padding(tg_rebind *r, const tg_node *call, bool strides)
{
    const tg_value *attrs = call->u.call->attrs, *zero = tg_v_ints(r->cx, 2, (int64_t[]){ 0, 0 });
    if (!is_conv(call)) return attrs;
    attrs = tg_v_with(r->cx, attrs, "padding", zero);
    return strides ? attrs : tg_v_without(r->cx, attrs, "strides");
}

/* @return the constant, NULL when there is none or (*failed) after an error. */
static const tg_node *correction(tg_rebind *r, const tg_node *call, bool *failed)
{
    const tg_node *data = zeros(r, call),
                  *arg[6] = { data, call->kid[1], call->kid[2], call->kid[3], scale_one(r), scale_one(r) };
    const tg_tensor *out;
    if (data == NULL) return NULL;
    const tg_node *one = tg_rebind_call(r, call->u.call->op->text, without_padding(r, call, false), 6, arg);
    *failed = one == NULL || !tg_eval_call(r->cx, one, &out, 1);
    tg_temp_reset(r->cx);
    return *failed ? NULL : tg_node_at(r->cx, tg_rconst(r->cx, out), call->span);
}

/* ---- weights ---- */

/* w - zw in 8 bits, if all of them fit. */
static const tg_node *centered(tg_rebind *r, const tg_node *weight, const tg_node *zero)
{
    double z;
    int64_t n, low = 0, high = 0;
    const tg_tensor *w = weight->u.tensor;
    if (!tg_canon_value(zero, &z) || weight->type->dtype.bits != 8 || !tg_type_elements(weight->type, &n)) return NULL;
    for (int64_t i = 0; i < n; ++i) {
        int64_t v = tg_tensor_i64(w, i) - (int64_t)z;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    bool fits = low >= -128 && high <= 127;
    if (!fits && (low < 0 || high > 255)) return NULL;
    DLDataType d = fits ? TG_INT8 : TG_UINT8;
    tg_tensor *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, d, weight->type->n, weight->type->dim, 0), NULL);
    for (int64_t i = 0; i < n; ++i) tg_tensor_set_i64(t, i, tg_tensor_i64(w, i) - (int64_t)z);
    t->label = w->label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), weight->span);
}

/* ---- the data ---- */

/* The data with its zero point around it where the convolution pads. */
static const tg_node *padded(tg_rebind *r, const tg_node *call, double zx)
{
    tg_ctx *cx = r->cx;
    const tg_node *data = call->kid[0];
    int64_t before[2], after[2];
    if (!is_conv(call) || !read_padding(r, call, before, after) || (before[0] | before[1] | after[0] | after[1]) == 0)
        return data;
    const char *layout = tg_attr_str(cx, tg_op_find(cx, call->u.call->op), call, "data_layout");
    const tg_value *width[TG_MAX_NDIM];
    for (uint32_t k = 0; k < data->type->n; ++k) {
        int64_t pair[2] = { 0, 0 };
        if (layout[k] == 'H' || layout[k] == 'W') {
            pair[0] = before[layout[k] == 'W'];
            pair[1] = after[layout[k] == 'W'];
        }
        width[k] = tg_v_ints(cx, 2, pair);
    }
    const tg_value *attrs = tg_v_with(cx, NULL, "pad_width", tg_v_list(cx, data->type->n, width));
    const tg_node *fill = tg_rconst(cx, tg_tensor_scalar_int(cx, data->type->dtype, (int64_t)zx));
    return tg_canon_let(r, tg_rebind_call(r, "nn.pad", attrs, 2, (const tg_node *[]){ data, fill }));
}

/* ---- the rule ---- */

/* The product stays, without the scales that it does not use. */
static const tg_node *unscaled(tg_rebind *r, const tg_node *call)
{
    const tg_node *arg[6] = { call->kid[0], call->kid[1], call->kid[2], call->kid[3], scale_one(r), scale_one(r) };
    return tg_node_with(r->cx, call, 6, arg);
}

static bool has_code(const tg_type *t, double z)
{
    int bits = t->dtype.bits;
    double low = t->dtype.code == kDLInt ? -(double)((int64_t)1 << (bits - 1)) : 0;
    return z >= low && z < low + (double)((int64_t)1 << bits);
}

const tg_node *tg_canon_product(tg_rebind *r, const tg_node *call)
{
    double zx, zw;
    const tg_node *weight = call->kid[1], *sum = NULL;
    bool failed = false;
    if (weight->kind != TG_RCONST || !tg_canon_value(call->kid[2], &zx) ||
        tg_is_op_call(call, "qnn.conv2d_transpose") || call->kid[3]->kind != TG_RCONST ||
        !has_code(call->kid[0]->type, zx))
        return unscaled(r, call);
    if (zx != 0 && (sum = correction(r, call, &failed)) == NULL) return failed ? NULL : unscaled(r, call);
    /* Padding by itself: then the data is gone before the result comes. */
    const tg_node *data = padded(r, call, zx);
    if (data == NULL) return NULL;
    bool plain = tg_canon_value(call->kid[3], &zw) && zw == 0;
    if (!plain) {
        const tg_node *now = centered(r, weight, call->kid[3]);
        plain = now != NULL;
        weight = plain ? now : weight;
    }
    const tg_value *attrs = data != call->kid[0] ? without_padding(r, call, true) : call->u.call->attrs;
    const tg_node *arg[6] = { data, weight, tg_canon_int(r, 0), call->kid[3], scale_one(r), scale_one(r) };
    attrs = tg_v_with(r->cx, attrs, "out_dtype", tg_v_strz(r->cx, "int32"));
    const tg_node *y = tg_rebind_call(r, plain ? plain_name(call) : call->u.call->op->text, attrs, plain ? 2 : 6, arg);
    if (y == NULL || sum == NULL) return y;
    return tg_rebind_call(r, "add", NULL, 2, (const tg_node *[]){ tg_rebind_let(r, y), sum });
}
