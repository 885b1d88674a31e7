/* fold_batch_norm.c: products and sums by constants a channel move into the weights and the bias of the operator
 * before them.
 * Needs: types, constants folded (simplify-graph has turned batch_norm into a product and a sum).
 * Keeps: values up to rounding; parameters and results of functions.
 *
 *     conv(x, w) * s             conv(x, w * s)
 *     (conv(x, w) + b) * s       conv(x, w * s) + b * s
 *     (y + b) + t                y + (b + t)             y a product or b a bias_add, or integers
 * where the left sides are used once and w, b, s, t are constants. Weights are scaled in double and rounded once;
 * whatever the layouts are, the channel of each weight is found from them. */
#include "passes.h"
#include "rebind.h"
#include "eval/eval.h"
#include "ops/ops.h"

#include <string.h>

/* ---- where channels are ---- */

/* Along each dimension, how far one step goes in the axis of a letter: 0 along other axes. */
typedef struct steps { uint32_t ndim; int64_t by[TG_MAX_NDIM], extent; } steps;

/* Layout text "NCHW4c": for @p letter C, C goes by 4, c by 1. The text is known to be well formed and of the type's
 * rank. */
static bool find_steps(const char *layout, char letter, const tg_type *t, steps *s)
{
    int64_t inner = 1;
    uint32_t k = 0;
    *s = (steps){ .ndim = t->n, .extent = 1 };
    for (const char *p = layout; *p != '\0'; ++p) {
        if (*p >= '0' && *p <= '9')
            continue;
        if (k >= t->n)
            return false;
        bool here = *p == letter || *p == letter + ('a' - 'A');
        s->by[k] = here ? 1 : 0;
        s->extent *= here ? t->dim[k] : 1;
        ++k;
    }
    for (uint32_t i = k; i-- > 0;) {
        if (s->by[i] == 0)
            continue;
        s->by[i] = inner;
        inner *= t->dim[i];
    }
    return k == t->n && strchr(layout, letter) != NULL;
}

static int64_t coordinate(const steps *s, const int64_t *at)
{
    int64_t c = 0;
    for (uint32_t k = 0; k < s->ndim; ++k)
        c += at[k] * s->by[k];
    return c;
}

/* An operator that multiplies by weights: its result's channels and those of its weights. */
typedef struct product {
    const tg_node *call;
    steps out, o, i;
    bool multiplier;                /* depthwise weights (channel, multiplier) */
    int64_t in_group;               /* transposed: input channels of a group; else 0 */
} product;

static bool read_conv(tg_rebind *r, const tg_op *op, const tg_node *call, product *p)
{
    const tg_type *data = call->kid[0]->type, *weight = call->kid[1]->type;
    const char *in = tg_attr_str(r->cx, op, call, "data_layout"), *out = tg_attr_str(r->cx, op, call, "out_layout");
    const char *kernel = tg_attr_str(r->cx, op, call, "kernel_layout");
    steps channels;
    if (data == NULL || data->kind != TG_T_TENSOR || !find_steps(out[0] != '\0' ? out : in, 'C', call->type, &p->out) ||
        !find_steps(in, 'C', data, &channels) || !find_steps(kernel, 'O', weight, &p->o) ||
        !find_steps(kernel, 'I', weight, &p->i))
        return false;
    if (strstr(call->u.call->op->text, "transpose") != NULL) {
        int64_t groups = tg_attr_int(r->cx, op, call, "groups");
        p->in_group = groups > 0 ? channels.extent / groups : 0;
        return p->in_group > 0 && p->o.extent * groups == p->out.extent;
    }
    p->multiplier = p->o.extent != p->out.extent;
    return !p->multiplier || p->o.extent * p->i.extent == p->out.extent;
}

static bool read_matrix(tg_rebind *r, const tg_op *op, const tg_node *call, product *p)
{
    const tg_type *weight = call->kid[1]->type;
    bool columns = tg_is_op_call(call, "nn.matmul") && !tg_attr_bool(r->cx, op, call, "transpose_b");
    if (weight->n != 2 || call->type->n == 0)
        return false;
    p->out = (steps){ .ndim = call->type->n, .extent = weight->dim[columns] };
    p->out.by[call->type->n - 1] = 1;
    p->o = p->i = (steps){ .ndim = 2, .extent = p->out.extent };
    p->o.by[columns] = 1;
    return p->out.extent == call->type->dim[call->type->n - 1];
}

/* Is @p v such an operator with constant floating point weights of its result's type? */
static bool read_product(tg_rebind *r, const tg_node *v, product *p)
{
    static const char *const conv[] = { "nn.conv1d",
                                        "nn.conv2d",
                                        "nn.conv3d",
                                        "nn.contrib_conv2d_NCHWc",
                                        "nn.contrib_depthwise_conv2d_NCHWc",
                                        "nn.conv1d_transpose",
                                        "nn.conv2d_transpose",
                                        "nn.conv3d_transpose" };
    *p = (product){ .call = v };
    if (v->kind != TG_RCALL || v->u.call->op == NULL || v->nkids != 2 || v->kid[1]->kind != TG_RCONST)
        return false;
    const tg_op *op = tg_op_find(r->cx, v->u.call->op);
    int64_t n;
    if (op == NULL || v->type == NULL || v->type->kind != TG_T_TENSOR || !tg_type_elements(v->type, &n) ||
        !tg_is_float(v->type->dtype) || !tg_dtype_eq(v->type->dtype, v->kid[1]->type->dtype))
        return false;
    for (size_t i = 0; i < TG_COUNT(conv); ++i)
        if (tg_is_op_call(v, conv[i]))
            return read_conv(r, op, v, p);
    return (tg_is_op_call(v, "nn.dense") || tg_is_op_call(v, "nn.matmul")) && read_matrix(r, op, v, p);
}

static int64_t weight_channel(const product *p, const int64_t *at)
{
    int64_t o = coordinate(&p->o, at), i = coordinate(&p->i, at);
    if (p->multiplier)
        return o * p->i.extent + i;
    return p->in_group > 0 ? i / p->in_group * p->o.extent + o : o;
}

/* ---- scaling weights ---- */

/* One value a channel: @p s broadcast to the result may differ along channels only. NULL when it does not. */
static double *channel_values(tg_rebind *r, const product *p, const tg_node *s)
{
    const tg_type *t = s->type, *y = p->call->type;
    if (s->kind != TG_RCONST || t->n > y->n || !tg_dtype_eq(t->dtype, y->dtype))
        return NULL;
    uint32_t lead = y->n - t->n;
    int64_t stride[TG_MAX_NDIM], step = 1;
    for (uint32_t k = t->n; k-- > 0;) {
        if (t->dim[k] != 1 && (t->dim[k] != y->dim[lead + k] || p->out.by[lead + k] == 0))
            return NULL;
        stride[k] = t->dim[k] != 1 ? step : 0;
        step *= t->dim[k];
    }
    double *v = TG_ARRAY(r->cx, double, p->out.extent);
    for (int64_t c = 0; c < p->out.extent && step > 0; ++c) {
        int64_t at = 0;
        for (uint32_t k = 0; k < t->n; ++k)
            at += p->out.by[lead + k] != 0 ? c / p->out.by[lead + k] % y->dim[lead + k] * stride[k] : 0;
        v[c] = tg_tensor_f64(s->u.tensor, at);
    }
    return v;
}

static bool advance(const tg_type *t, int64_t *at)
{
    for (uint32_t k = t->n; k-- > 0;) {
        if (++at[k] < t->dim[k])
            return true;
        at[k] = 0;
    }
    return false;
}

static const tg_node *scaled_weights(tg_rebind *r, const product *p, const double *s, bool divide)
{
    const tg_node *old = p->call->kid[1];
    const tg_tensor *w = old->u.tensor;
    tg_tensor *t = tg_tensor_new(r->cx, old->type, NULL);
    int64_t at[TG_MAX_NDIM] = { 0 }, i = 0;
    if (t->size_bytes > 0) {
        do {
            double v = tg_tensor_f64(w, i), by = s[weight_channel(p, at)];
            tg_tensor_set_f64(t, i++, divide ? v / by : v * by);
        } while (advance(old->type, at));
    }
    t->label = w->label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), old->span);
}

/* The operator with scaled weights, NULL when @p s is not one value a channel. */
static const tg_node *scaled(tg_rebind *r, const product *p, const tg_node *s, bool divide)
{
    const double *v = channel_values(r, p, s);
    if (v == NULL)
        return NULL;
    const tg_node *kid[2] = { p->call->kid[0], scaled_weights(r, p, v, divide) };
    return tg_node_with(r->cx, p->call, 2, kid);
}

/* ---- sums by constants ---- */

/* y + b in one of its forms; b in a shape that broadcasts to y. */
typedef struct shifted { const tg_node *y, *b; bool bias_add; } shifted;

/* A vector along @p axis as a constant of shape (n, 1, …). */
static const tg_node *along_axis(tg_rebind *r, const tg_node *b, uint32_t axis, uint32_t ndim)
{
    int64_t dim[TG_MAX_NDIM];
    for (uint32_t k = 0; k < ndim - axis; ++k)
        dim[k] = k == 0 ? b->type->dim[0] : 1;
    tg_tensor *t =
        tg_tensor_new(r->cx, tg_tensor_type(r->cx, b->type->dtype, ndim - axis, dim, 0), b->u.tensor->dl.data);
    t->dl.byte_offset = b->u.tensor->dl.byte_offset;
    t->label = b->u.tensor->label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), b->span);
}

static bool read_shifted(tg_rebind *r, const tg_node *v, shifted *s)
{
    if (v->nkids != 2 || v->type == NULL || v->type->kind != TG_T_TENSOR)
        return false;
    uint32_t constant = v->kid[1]->kind == TG_RCONST ? 1 : 0;
    if (v->kid[constant]->kind != TG_RCONST || v->kid[1 - constant]->kind != TG_RVAR)
        return false;
    *s = (shifted){ v->kid[1 - constant], v->kid[constant], false };
    if (tg_is_op_call(v, "add"))
        return true;
    if (!tg_is_op_call(v, "nn.bias_add") || constant != 1 || s->b->type->n != 1)
        return false;
    int64_t axis = tg_attr_int(r->cx, tg_op_find(r->cx, v->u.call->op), v, "axis");
    axis += axis < 0 ? v->type->n : 0;
    if (axis < 0 || axis >= (int64_t)v->type->n)
        return false;
    s->bias_add = true;
    s->b = along_axis(r, s->b, (uint32_t)axis, v->type->n);
    return true;
}

/* op(a, b) of constants; NULL when the result would be larger than both, or after an error (*failed). */
static const tg_node *combine(tg_rebind *r, const char *op, const tg_node *a, const tg_node *b, bool *failed)
{
    const tg_tensor *out, *name = a->u.tensor->label != NULL ? a->u.tensor : b->u.tensor;
    const tg_node *call = tg_rebind_call(r, op, NULL, 2, (const tg_node *[]){ a, b });
    int64_t n, na, nb;
    *failed = call == NULL;
    if (*failed || !tg_type_elements(call->type, &n) || !tg_type_elements(a->type, &na) ||
        !tg_type_elements(b->type, &nb))
        return NULL;
    if (n > na && n > nb)
        return NULL;
    *failed = !tg_eval_call(r->cx, call, &out, 1);
    tg_temp_reset(r->cx);
    if (*failed)
        return NULL;
    tg_tensor *t = tg_copy(r->cx, out, sizeof *out);
    t->label = name->label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), a->span);
}

/* y + b with the form of @p like, if b still fits it. */
static const tg_node *shift_again(tg_rebind *r, const tg_node *like, const shifted *s, const tg_node *y,
                                  const tg_node *b)
{
    if (!s->bias_add || b->type != s->b->type)
        return tg_rebind_call(r, "add", NULL, 2, (const tg_node *[]){ y, b });
    tg_tensor *t = tg_tensor_new(r->cx, like->kid[1]->type, b->u.tensor->dl.data);
    t->label = b->u.tensor->label;
    const tg_node *kid[2] = { y, tg_node_at(r->cx, tg_rconst(r->cx, t), b->span) };
    return tg_node_with(r->cx, like, 2, kid);
}

/* ---- the rules ---- */

static const tg_node *once(tg_rebind *r, const tg_node *atom)
{
    return atom->kind == TG_RVAR && tg_rebind_uses(r, atom) == 1 ? tg_rebind_value(r, atom) : NULL;
}

static const tg_node *fold_scale(tg_rebind *r, const tg_node *v, const tg_node *y, const tg_node *s, bool divide)
{
    product p;
    shifted sum;
    bool failed = false;
    const tg_node *of = once(r, y);
    if (of == NULL || s->kind != TG_RCONST || v->type == NULL || of->type == NULL ||
        !tg_type_same_shape(v->type, of->type))
        return v;
    if (read_product(r, of, &p)) {
        const tg_node *now = scaled(r, &p, s, divide);
        return now != NULL ? tg_node_with_type(r->cx, now, v->type) : v;
    }
    if (of->kind != TG_RCALL || of->u.call->op == NULL || !read_shifted(r, of, &sum))
        return v;
    const tg_node *inner = once(r, sum.y);
    if (inner == NULL || !read_product(r, inner, &p) || channel_values(r, &p, s) == NULL)
        return v;
    const tg_node *b = combine(r, divide ? "divide" : "multiply", sum.b, s, &failed);
    if (b == NULL)
        return failed ? NULL : v;
    const tg_node *now = shift_again(r, of, &sum, tg_rebind_let(r, scaled(r, &p, s, divide)), b);
    return now != NULL ? tg_node_with_type(r->cx, now, v->type) : NULL;
}

static const tg_node *fold_shift(tg_rebind *r, const tg_node *v, const tg_node *y, const tg_node *t, bool minus)
{
    shifted sum;
    bool failed = false;
    const tg_node *of = once(r, y);
    if (of == NULL || of->kind != TG_RCALL || of->u.call->op == NULL || v->type == NULL || of->type == NULL ||
        !tg_type_same_shape(v->type, of->type) || tg_is_bool(v->type->dtype) || !read_shifted(r, of, &sum))
        return v;
    product p;
    if (tg_is_float(v->type->dtype) && !sum.bias_add && !read_product(r, tg_rebind_value(r, sum.y), &p))
        return v;                       /* another order of float sums: only where a bias is meant */
    const tg_node *b = combine(r, minus ? "subtract" : "add", sum.b, t, &failed);
    if (b == NULL)
        return failed ? NULL : v;
    const tg_node *now = shift_again(r, of, &sum, sum.y, b);
    return now != NULL ? tg_node_with_type(r->cx, now, v->type) : NULL;
}

static const tg_node *fold(tg_rebind *r, const tg_var *var, const tg_node *v)
{
    shifted sum;
    (void)var;
    if (v->kind != TG_RCALL || v->u.call->op == NULL || v->nkids != 2)
        return v;
    bool first = v->kid[0]->kind == TG_RCONST;
    if (tg_is_op_call(v, "multiply"))
        return fold_scale(r, v, v->kid[first], v->kid[!first], false);
    if (tg_is_op_call(v, "divide") && !first)
        return fold_scale(r, v, v->kid[0], v->kid[1], true);
    if (tg_is_op_call(v, "subtract"))
        return v->kid[1]->kind == TG_RCONST ? fold_shift(r, v, v->kid[0], v->kid[1], true) : v;
    return read_shifted(r, v, &sum) ? fold_shift(r, v, sum.y, sum.b, false) : v;
}

bool tg_pass_fold_batch_norm(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    tg_rebind r = { .cx = cx, .m = m, .fn = fold };
    (void)opt;
    return tg_rebind_module(&r);
}
