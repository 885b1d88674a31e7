/* conv.c: convolutions of one to three spatial axes in any layout, grouped, depthwise, dilated; and transposed ones. */
#include "bits.h"
#include "conv.h"
#include "qnn.h"

#include <string.h>

/* A convolution's attributes and extents. */
typedef struct conv {
    int n; /* spatial axes */
    tg_window w[3];
    tg_layout data, kernel, out;
    int64_t batch, cin, cout, groups;
    int64_t ki;      /* extent of the kernel's I */
    bool multiplier; /* depthwise kernel written (C, multiplier): O is the input channel, I the multiplier */
    DLDataType result;
    tg_bits bits; /* of a bit-serial convolution */
} conv;

static const char *axes_with(tg_ctx *cx, const char *two, int n)
{
    return tg_format(cx, "%s%s", two, tg_spatial_letters(n));
}

static bool read_layouts(tg_ctx *cx, const tg_op *op, const tg_node *call, conv *c)
{
    const char *data_axes = axes_with(cx, "NC", c->n), *data_text = tg_attr_str(cx, op, call, "data_layout");
    return tg_layout_attr(cx, op, call, "data_layout", "", data_axes, &c->data) &&
           tg_layout_attr(cx, op, call, "kernel_layout", "", axes_with(cx, "OI", c->n), &c->kernel) &&
           tg_layout_attr(cx, op, call, "out_layout", data_text, data_axes, &c->out);
}

/* Negative padding crops: only a transposed convolution can do that. */
static bool read_windows(tg_ctx *cx, const tg_op *op, const tg_node *call, const int64_t *ddim, const int64_t *kdim,
                         bool transposed, conv *c)
{
    int64_t stride[3], dilation[3], size[3];
    if (!tg_window_ints(cx, op, call, "strides", c->n, 1, stride) ||
        !tg_window_ints(cx, op, call, "dilation", c->n, 1, dilation) ||
        !tg_window_padding(cx, op, call, c->n, transposed ? -INT32_MAX : 0, c->w))
        return false;
    bool sized = !tg_attr_is_none(cx, op, call, "kernel_size");
    if (sized && !tg_window_ints(cx, op, call, "kernel_size", c->n, 1, size)) return false;
    for (int i = 0; i < c->n; ++i) {
        tg_window *w = &c->w[i];
        w->letter = tg_spatial_letters(c->n)[i];
        w->stride = stride[i];
        w->dilation = dilation[i];
        w->in = tg_layout_extent(&c->data, ddim, w->letter);
        w->kernel = tg_layout_extent(&c->kernel, kdim, w->letter);
        if (sized && w->kernel != size[i])
            return tg_arg_error(cx, call, 1, "kernel_size says %lld along %c, the weight has %lld", (long long)size[i],
                                w->letter, (long long)w->kernel) != NULL;
    }
    return true;
}

/* Which channels the kernel has: O and I of the text, against groups and channels. */
static bool read_channels(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t ko, conv *c)
{
    int64_t channels = tg_attr_int(cx, op, call, "channels");
    bool plain = c->cin % c->groups == 0 && c->ki == c->cin / c->groups && ko % c->groups == 0;
    bool depthwise = c->groups == c->cin && ko == c->cin;
    if (plain && (channels == 0 || channels == ko)) {
        c->cout = ko;
        return true;
    }
    if (depthwise && (channels == 0 || channels == ko * c->ki)) {
        c->cout = ko * c->ki;
        c->multiplier = true;
        return true;
    }
    if (c->cin % c->groups != 0)
        return tg_arg_error(cx, call, 0, "%lld input channels do not divide into %lld groups", (long long)c->cin,
                            (long long)c->groups) != NULL;
    if (channels != 0 && channels != ko)
        tg_arg_error(cx, call, 1, "channels is %lld, the weight has %lld output channels", (long long)channels,
                     (long long)ko);
    else if (ko % c->groups != 0)
        tg_arg_error(cx, call, 1, "%lld output channels do not divide into %lld groups", (long long)ko,
                     (long long)c->groups);
    else
        tg_arg_error(cx, call, 1, "the weight has %lld input channels a group, the data has %lld", (long long)c->ki,
                     (long long)(c->cin / c->groups));
    return false;
}

/* The result's element type; operands of different types need out_dtype. */
static bool read_result(tg_ctx *cx, const tg_op *op, const tg_node *call, DLDataType *result)
{
    DLDataType d = call->kid[0]->type->dtype;
    *result = tg_attr_dtype(cx, op, call, "out_dtype", d);
    if (tg_attr_str(cx, op, call, "out_dtype")[0] == '\0' && !tg_same_dtype(cx, call, 0, 1)) return false;
    if (tg_is_bool(*result)) return tg_op_error(cx, call, "a convolution of bool is not possible") != NULL;
    return true;
}

static bool read_conv(tg_ctx *cx, const tg_op *op, const tg_node *call, bool transposed, conv *c)
{
    *c = (conv){ .n = tg_spatial_count(op), .groups = tg_attr_int(cx, op, call, "groups") };
    if (!read_layouts(cx, op, call, c)) return false;
    const tg_type *data = tg_arg_of_rank(cx, call, 0, c->data.n), *weight = tg_arg_of_rank(cx, call, 1, c->kernel.n);
    if (data == NULL || weight == NULL || !read_windows(cx, op, call, data->dim, weight->dim, transposed, c) ||
        !read_result(cx, op, call, &c->result))
        return false;
    if (c->groups < 1 || c->groups > INT32_MAX)
        return tg_op_error(cx, call, "attribute groups must be at least 1") != NULL;
    bool serial = strcmp(op->name, "nn.bitserial_conv2d") == 0;
    if (serial && (!tg_bits_read(cx, op, call, "activation_bits", &c->bits) || !tg_want_int(cx, call, 0) ||
                   !tg_want_int(cx, call, 1)))
        return false;
    c->batch = tg_layout_extent(&c->data, data->dim, 'N');
    c->cin = tg_layout_extent(&c->data, data->dim, 'C');
    int64_t ko = tg_layout_extent(&c->kernel, weight->dim, 'O');
    c->ki = tg_layout_extent(&c->kernel, weight->dim, 'I');
    if (!transposed) return read_channels(cx, op, call, ko, c) && tg_window_out(cx, call, c->n, c->w, false);
    if (c->ki != c->cin || c->cin % c->groups != 0)
        return tg_arg_error(cx, call, 1, "the weight has %lld input channels, the data %lld in %lld groups",
                            (long long)c->ki, (long long)c->cin, (long long)c->groups) != NULL;
    c->cout = ko * c->groups;
    int64_t channels = tg_attr_int(cx, op, call, "channels");
    if (channels != 0 && channels != c->cout)
        return tg_arg_error(cx, call, 1, "channels is %lld, the weight has %lld output channels", (long long)channels,
                            (long long)c->cout) != NULL;
    return true;
}

static const tg_type *result_type(tg_ctx *cx, const tg_node *call, const conv *c)
{
    int64_t primary[26] = { 0 }, dim[TG_MAX_NDIM];
    primary['N' - 'A'] = c->batch;
    primary['C' - 'A'] = c->cout;
    for (int i = 0; i < c->n; ++i) primary[c->w[i].letter - 'A'] = c->w[i].out;
    if (!tg_layout_shape(&c->out, primary, dim))
        return tg_op_error(cx, call, "out_layout does not divide %lld channels", (long long)c->cout);
    return tg_tensor_of(cx, call, c->result, c->out.n, dim);
}

const tg_type *tg_type_conv(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    conv c;
    return read_conv(cx, op, call, false, &c) ? result_type(cx, call, &c) : NULL;
}

/* ---- transposed: windows of the equivalent convolution ---- */

static bool read_transposed(tg_ctx *cx, const tg_op *op, const tg_node *call, conv *c, int64_t *spacing)
{
    int64_t extra[3];
    if (!read_conv(cx, op, call, true, c) || !tg_window_ints(cx, op, call, "output_padding", c->n, 0, extra))
        return false;
    for (int i = 0; i < c->n; ++i) {
        tg_window *w = &c->w[i];
        if (extra[i] >= w->stride && extra[i] > 0)
            return tg_op_error(cx, call, "output_padding %lld must be less than the stride %lld", (long long)extra[i],
                               (long long)w->stride) != NULL;
        if (w->in < 1 || w->kernel < 1)
            return tg_op_error(cx, call, "the data or the kernel is empty along %c", w->letter) != NULL;
        int64_t reach, length;
        if (!tg_mul_fits(w->kernel - 1, w->dilation, &reach) || !tg_mul_fits(w->in - 1, w->stride, &length) ||
            reach > TG_MAX_ELEMENTS || length > TG_MAX_ELEMENTS)
            return tg_op_error(cx, call, "the result is too large along %c", w->letter) != NULL;
        spacing[i] = w->stride;
        w->before = reach - w->before;
        w->after = reach - w->after + extra[i];
        w->out = length + 1 + w->before + w->after - reach;
        w->stride = 1;
    }
    return true;
}

const tg_type *tg_type_conv_transpose(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    conv c;
    int64_t spacing[3];
    return read_transposed(cx, op, call, &c, spacing) ? result_type(cx, call, &c) : NULL;
}

/* ---- blocks ---- */

/* A kernel's tap along window i. */
static tg_expr reduce_axis(tg_block_build *b, tg_ctx *cx, const tg_window *w)
{
    return tg_reduce(b, tg_format(cx, "k%c", w->letter - 'A' + 'a'), w->kernel);
}

/* Where an output channel reads: the data's channel and the kernel's I and O. */
typedef struct channels {
    tg_expr data, kernel_i, kernel_o;
} channels;

/* @p ic runs over the channels of the group; NULL when a group has one. */
static channels channels_of(tg_lower *lo, const conv *c, tg_expr oc, tg_expr ic, bool transposed)
{
    tg_ctx *cx = lo->cx;
    int64_t in_group = c->cin / c->groups, out_group = c->cout / c->groups;
    tg_expr group = c->groups == 1 ? tg_ix(lo, 0) : tg_floordivi(cx, oc, out_group > 0 ? out_group : 1);
    if (c->multiplier)
        return (channels){ tg_floordivi(cx, oc, c->ki), tg_floormodi(cx, oc, c->ki), tg_floordivi(cx, oc, c->ki) };
    tg_expr inner = ic != NULL ? ic : tg_ix(lo, 0), data = tg_add(cx, tg_muli(cx, group, in_group), inner);
    if (transposed) return (channels){ data, data, c->groups == 1 ? oc : tg_floormodi(cx, oc, out_group) };
    return (channels){ data, inner, oc };
}

/* acc[n, oc, y…] += data[n, ic, y·stride + ky·dilation…] · weight[oc, ic, ky…]; mirrored kernels run from their end. */
static void conv_block(tg_lower *lo, const conv *c, const tg_buffer *data, const tg_buffer *out, bool mirrored)
{
    tg_ctx *cx = lo->cx;
    tg_block_build *b = tg_begin(lo, NULL);
    tg_at to = { 0 }, from = { 0 }, wt = { 0 };
    tg_expr at[26], in[26] = { NULL }, kernel[26] = { NULL }, ic = NULL;
    for (uint32_t k = 0; k < c->out.n; ++k)
        tg_at_push(&to, tg_spatial(b, tg_layout_axis_name(cx, &c->out, k, "o"), tg_extent(out, k)));
    tg_layout_primary(cx, &c->out, &to, at);
    tg_expr oc = at['C' - 'A'];
    bool loop = !c->multiplier && (c->groups == 1 || c->cin != c->groups);
    bool last =
        c->data.axis[c->data.n - 1].letter == 'C' && !c->data.axis[c->data.n - 1].inner; /* channels run innermost */
    if (loop && !last) ic = tg_reduce(b, "ic", c->cin / c->groups);
    for (int i = 0; i < c->n; ++i) {
        const tg_window *w = &c->w[i];
        tg_expr tap = reduce_axis(b, cx, w), y = tg_muli(cx, at[w->letter - 'A'], w->stride);
        in[w->letter - 'A'] = tg_add(cx, y, tg_muli(cx, tap, w->dilation));
        kernel[w->letter - 'A'] = mirrored ? tg_sub(cx, tg_ix(lo, w->kernel - 1), tap) : tap;
    }
    if (loop && last) ic = tg_reduce(b, "ic", c->cin / c->groups);
    channels ch = channels_of(lo, c, oc, ic, mirrored);
    in['N' - 'A'] = at['N' - 'A'];
    in['C' - 'A'] = ch.data;
    kernel['O' - 'A'] = ch.kernel_o;
    kernel['I' - 'A'] = ch.kernel_i;
    tg_layout_index(cx, &c->data, in, &from);
    tg_layout_index(cx, &c->kernel, kernel, &wt);
    DLDataType d = out->dtype;
    tg_expr x = tg_qnn_centered(lo, d, 0, tg_read(lo, data, &from), oc), k = tg_qnn_centered(lo, d, 1, tg_in(lo, 1, &wt), oc);
    if (c->bits.activation > 0) {
        x = tg_bits_activation(cx, &c->bits, x);
        k = tg_bits_weight(cx, &c->bits, k);
    }
    tg_begin_init(b, tg_const(cx, d, 0));
    tg_put(b, out, tg_add(cx, tg_read(lo, out, &to), tg_mul(cx, x, k)), &to);
}

/* Around codes: the code of zero. */
static tg_expr padding_value(tg_lower *lo)
{
    return lo->nin < 4 ? tg_const(lo->cx, lo->in[0]->dtype, 0) : tg_to(lo->cx, lo->in[0]->dtype, tg_in0(lo, 2));
}

bool tg_lower_conv(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    conv c;
    if (!read_conv(lo->cx, op, call, false, &c)) return false;
    const tg_buffer *data = tg_pad_windows(lo, 0, &c.data, c.n, c.w, NULL, padding_value(lo));
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    conv_block(lo, &c, data, acc, false);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* The data with stride - 1 zeros between neighbours, padded by the kernel's reach, convolved with the kernel turned around. */
bool tg_lower_conv_transpose(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    conv c;
    int64_t spacing[3];
    if (!read_transposed(lo->cx, op, call, &c, spacing)) return false;
    const tg_buffer *data = tg_pad_windows(lo, 0, &c.data, c.n, c.w, spacing, padding_value(lo));
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    conv_block(lo, &c, data, acc, true);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}
