/* slide.c: windows that are no plain convolution: deformable convolution, morphological dilation, correlation of two images. */
#include "conv.h"

#include <string.h>

/* ---- windows and layouts of an operator with data and kernel ---- */

typedef struct slide {
    tg_window w[2];
    tg_layout data, kernel;
    int64_t channels;
    DLDataType result;
} slide;

static bool read_slide(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t kernel, const char *letters,
                       const char *dilation, slide *s)
{
    int64_t stride[2], dil[2];
    *s = (slide){ .channels = 0 };
    if (!tg_layout_attr(cx, op, call, "data_layout", "", "NCHW", &s->data) ||
        !tg_layout_attr(cx, op, call, "kernel_layout",
                        strchr(letters, 'O') == NULL && s->data.axis[3].letter == 'C' ? "HWI" : "", letters,
                        &s->kernel))
        return false;
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4), *k = tg_arg_of_rank(cx, call, kernel, s->kernel.n);
    if (x == NULL || k == NULL) return false;
    if (s->data.n != 4) return tg_op_error(cx, call, "data_layout must not split an axis") != NULL;
    if (!tg_window_ints(cx, op, call, "strides", 2, 1, stride) || !tg_window_ints(cx, op, call, dilation, 2, 1, dil) ||
        !tg_window_padding(cx, op, call, 2, 0, s->w))
        return false;
    for (int i = 0; i < 2; ++i) {
        tg_window *w = &s->w[i];
        w->letter = "HW"[i];
        w->stride = stride[i];
        w->dilation = dil[i];
        w->in = tg_layout_extent(&s->data, x->dim, w->letter);
        w->kernel = tg_layout_extent(&s->kernel, k->dim, w->letter);
    }
    s->channels = tg_layout_extent(&s->data, x->dim, 'C');
    if (tg_layout_extent(&s->kernel, k->dim, 'I') != s->channels)
        return tg_arg_error(cx, call, kernel, "the kernel has %lld input channels, the data %lld",
                            (long long)tg_layout_extent(&s->kernel, k->dim, 'I'), (long long)s->channels) != NULL;
    s->result = tg_attr_dtype(cx, op, call, "out_dtype", x->dtype);
    return tg_window_out(cx, call, 2, s->w, false);
}

static const tg_type *slide_type(tg_ctx *cx, const tg_node *call, const slide *s, int64_t channels)
{
    int64_t primary[26] = { 0 }, dim[TG_MAX_NDIM];
    primary['N' - 'A'] = tg_layout_extent(&s->data, call->kid[0]->type->dim, 'N');
    primary['C' - 'A'] = channels;
    primary['H' - 'A'] = s->w[0].out;
    primary['W' - 'A'] = s->w[1].out;
    tg_layout_shape(&s->data, primary, dim);
    return tg_tensor_of(cx, call, s->result, s->data.n, dim);
}

/* Spatial axes of a block over out, by letter. */
static tg_block_build *begin_slide(tg_lower *lo, const char *name, const tg_layout *l, const tg_buffer *out, tg_at *to,
                                   tg_expr *at)
{
    tg_block_build *b = tg_begin(lo, name);
    to->n = 0;
    for (uint32_t k = 0; k < l->n; ++k)
        tg_at_push(to, tg_spatial(b, tg_layout_axis_name(lo->cx, l, k, "o"), tg_extent(out, k)));
    tg_layout_primary(lo->cx, l, to, at);
    return b;
}

/* ---- image.dilation2d: the greatest x + w of a window ---- */

const tg_type *tg_type_dilation2d(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    slide s;
    if (!read_slide(cx, op, call, 1, "IHW", "dilations", &s)) return NULL;
    return tg_same_dtype(cx, call, 0, 1) ? slide_type(cx, call, &s, s.channels) : NULL;
}

bool tg_lower_dilation2d(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    slide s;
    tg_at to, from, wt;
    tg_expr at[26], in[26] = { NULL }, kernel[26] = { NULL };
    if (!read_slide(cx, op, call, 1, "IHW", "dilations", &s)) return false;
    const tg_buffer *data = tg_pad_windows(lo, 0, &s.data, 2, s.w, NULL, tg_const(cx, lo->in[0]->dtype, 0));
    const tg_buffer *acc = tg_accumulator(lo, "dilation", lo->out[0]);
    tg_block_build *b = begin_slide(lo, NULL, &s.data, acc, &to, at);
    for (int i = 0; i < 2; ++i) {
        char c = s.w[i].letter;
        kernel[c - 'A'] = tg_reduce(b, i == 0 ? "kh" : "kw", s.w[i].kernel);
        in[c - 'A'] =
            tg_add(cx, tg_muli(cx, at[c - 'A'], s.w[i].stride), tg_muli(cx, kernel[c - 'A'], s.w[i].dilation));
    }
    in['N' - 'A'] = at['N' - 'A'];
    in['C' - 'A'] = kernel['I' - 'A'] = at['C' - 'A'];
    tg_layout_index(cx, &s.data, in, &from);
    tg_layout_index(cx, &s.kernel, kernel, &wt);
    tg_expr x = tg_to(cx, acc->dtype, tg_read(lo, data, &from)), w = tg_to(cx, acc->dtype, tg_in(lo, 1, &wt));
    tg_begin_init(b, tg_lowest(cx, acc->dtype, lo->out[0]->dtype));
    tg_put(b, acc, tg_max(cx, tg_read(lo, acc, &to), tg_add(cx, x, w)), &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* ---- nn.deformable_conv2d ---- */

typedef struct deform {
    slide s;
    int64_t cout, groups;
} deform;

static bool read_deform(tg_ctx *cx, const tg_op *op, const tg_node *call, deform *d)
{
    if (!read_slide(cx, op, call, 2, "OIHW", "dilation", &d->s)) return false;
    const tg_type *off = tg_arg_of_rank(cx, call, 1, 4), *k = call->kid[2]->type;
    if (off == NULL || !tg_want_float(cx, call, 0) || !tg_want_float(cx, call, 1) || !tg_same_dtype(cx, call, 0, 2))
        return false;
    d->groups = tg_attr_int(cx, op, call, "deformable_groups");
    d->cout = tg_layout_extent(&d->s.kernel, k->dim, 'O');
    int64_t channels = tg_attr_int(cx, op, call, "channels");
    if (tg_attr_int(cx, op, call, "groups") != 1) return tg_op_error(cx, call, "groups must be 1") != NULL;
    if (channels != 0 && channels != d->cout)
        return tg_arg_error(cx, call, 2, "channels is %lld, the weight has %lld", (long long)channels,
                            (long long)d->cout) != NULL;
    if (d->groups < 1 || d->s.channels % d->groups != 0)
        return tg_op_error(cx, call, "%lld channels do not divide into %lld groups", (long long)d->s.channels,
                           (long long)d->groups) != NULL;
    const tg_layout *l = &d->s.data;
    if (tg_layout_extent(l, off->dim, 'N') != tg_layout_extent(l, call->kid[0]->type->dim, 'N') ||
        tg_layout_extent(l, off->dim, 'C') != 2 * d->groups * d->s.w[0].kernel * d->s.w[1].kernel ||
        tg_layout_extent(l, off->dim, 'H') != d->s.w[0].out || tg_layout_extent(l, off->dim, 'W') != d->s.w[1].out)
        return tg_arg_error(cx, call, 1, "the offsets need %lld channels of %lld x %lld",
                            (long long)(2 * d->groups * d->s.w[0].kernel * d->s.w[1].kernel), (long long)d->s.w[0].out,
                            (long long)d->s.w[1].out) != NULL;
    return true;
}

const tg_type *tg_type_deformable_conv2d(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    deform d;
    return read_deform(cx, op, call, &d) ? slide_type(cx, call, &d.s, d.cout) : NULL;
}

/* The pixel at whole coordinates (y, x), 0 outside. */
static tg_expr pixel(tg_lower *lo, const deform *d, const tg_expr *at, tg_expr y, tg_expr x)
{
    tg_ctx *cx = lo->cx;
    tg_expr p[26];
    tg_at from;
    memcpy(p, at, sizeof p);
    p['H' - 'A'] = y;
    p['W' - 'A'] = x;
    tg_layout_index(cx, &d->s.data, p, &from);
    tg_expr inside = tg_and(cx, tg_within(cx, y, 0, d->s.w[0].in), tg_within(cx, x, 0, d->s.w[1].in)),
            v = tg_in(lo, 0, &from);
    return tg_guarded(cx, inside, v, tg_num(cx, v, 0));
}

/* Samples of every tap and output position: [n, ic, kh, kw, oh, ow]. */
static const tg_buffer *sample_taps(tg_lower *lo, const deform *d)
{
    tg_ctx *cx = lo->cx;
    const tg_window *w = d->s.w;
    DLDataType t = tg_compute_dtype(lo->in[0]->dtype);
    int64_t batch = tg_extent(lo->in[0], (uint32_t)tg_layout_find(&d->s.data, 'N'));
    int64_t dim[6] = { batch, d->s.channels, w[0].kernel, w[1].kernel, w[0].out, w[1].out };
    const tg_buffer *out = tg_temp_of(lo, "samples", t, 6, dim);
    tg_block_build *b = tg_begin(lo, "samples");
    static const char *const names[6] = { "n", "ic", "kh", "kw", "oh", "ow" };
    tg_at to = { .n = 6 };
    for (uint32_t k = 0; k < 6; ++k) to.ix[k] = tg_spatial(b, names[k], dim[k]);
    tg_expr at[26] = { NULL }, v[2], whole[2], first[2];
    at['N' - 'A'] = to.ix[0];
    at['C' - 'A'] = to.ix[1];
    tg_expr group = tg_floordivi(cx, to.ix[1], d->s.channels / d->groups);
    tg_expr tap = tg_add(cx, tg_muli(cx, tg_add(cx, tg_muli(cx, group, dim[2]), to.ix[2]), dim[3]), to.ix[3]);
    tg_expr inside = NULL;
    for (int i = 0; i < 2; ++i) {
        tg_expr p[26] = { NULL };
        tg_at off;
        p['N' - 'A'] = to.ix[0];
        p['C' - 'A'] = tg_addi(cx, tg_muli(cx, tap, 2), i);
        p['H' - 'A'] = to.ix[4];
        p['W' - 'A'] = to.ix[5];
        tg_layout_index(cx, &d->s.data, p, &off);
        tg_expr base =
            tg_addi(cx, tg_add(cx, tg_muli(cx, to.ix[4 + i], w[i].stride), tg_muli(cx, to.ix[2 + i], w[i].dilation)),
                    -w[i].before);
        v[i] = tg_block_let(b, i == 0 ? "y" : "x", tg_add(cx, tg_to(cx, t, base), tg_to(cx, t, tg_in(lo, 1, &off))));
        inside =
            tg_and(cx, inside,
                   tg_and(cx, tg_ge(cx, v[i], tg_float(cx, t, 0)), tg_lt(cx, v[i], tg_float(cx, t, (double)w[i].in))));
        whole[i] = tg_block_let(b, i == 0 ? "y0" : "x0", tg_call1(cx, "floor", v[i]));
        first[i] = tg_block_let(b, i == 0 ? "iy" : "ix", tg_to(cx, lo->index, whole[i]));
        v[i] = tg_block_let(b, i == 0 ? "ty" : "tx", tg_sub(cx, v[i], whole[i]));
    }
    tg_expr one = tg_float(cx, t, 1), rows[2];
    for (int k = 0; k < 2; ++k) {
        tg_expr y = tg_addi(cx, first[0], k);
        tg_expr l = pixel(lo, d, at, y, first[1]), r = pixel(lo, d, at, y, tg_addi(cx, first[1], 1));
        rows[k] = tg_add(cx, tg_mul(cx, l, tg_sub(cx, one, v[1])), tg_mul(cx, r, v[1]));
    }
    tg_expr sum = tg_add(cx, tg_mul(cx, rows[0], tg_sub(cx, one, v[0])), tg_mul(cx, rows[1], v[0]));
    tg_put(b, out, tg_guarded(cx, inside, sum, tg_float(cx, t, 0)), &to);
    return out;
}

bool tg_lower_deformable_conv2d(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    deform d;
    tg_at to, wt;
    tg_expr at[26], kernel[26] = { NULL };
    if (!read_deform(cx, op, call, &d)) return false;
    const tg_buffer *samples = sample_taps(lo, &d), *acc = tg_accumulator(lo, "sum", lo->out[0]);
    tg_block_build *b = begin_slide(lo, NULL, &d.s.data, acc, &to, at);
    kernel['O' - 'A'] = at['C' - 'A'];
    kernel['I' - 'A'] = tg_reduce(b, "ic", d.s.channels);
    kernel['H' - 'A'] = tg_reduce(b, "kh", d.s.w[0].kernel);
    kernel['W' - 'A'] = tg_reduce(b, "kw", d.s.w[1].kernel);
    tg_layout_index(cx, &d.s.kernel, kernel, &wt);
    tg_at from = {
        6, { at['N' - 'A'], kernel['I' - 'A'], kernel['H' - 'A'], kernel['W' - 'A'], at['H' - 'A'], at['W' - 'A'] }
    };
    tg_expr term =
        tg_mul(cx, tg_to(cx, acc->dtype, tg_read(lo, samples, &from)), tg_to(cx, acc->dtype, tg_in(lo, 2, &wt)));
    tg_begin_init(b, tg_const(cx, acc->dtype, 0));
    tg_put(b, acc, tg_add(cx, tg_read(lo, acc, &to), term), &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* ---- nn.correlation ---- */

typedef struct correlation {
    tg_window w[2];
    int64_t kernel, reach, stride, step, side;
    bool multiply;
} correlation;

static bool read_correlation(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *a, correlation *c)
{
    *c = (correlation){ .kernel = tg_attr_int(cx, op, call, "kernel_size"),
                        .reach = tg_attr_int(cx, op, call, "max_displacement"),
                        .stride = tg_attr_int(cx, op, call, "stride1"),
                        .step = tg_attr_int(cx, op, call, "stride2"),
                        .multiply = tg_attr_bool(cx, op, call, "is_multiply") };
    if (strcmp(tg_attr_str(cx, op, call, "layout"), "NCHW") != 0)
        return tg_op_error(cx, call, "layout must be NCHW") != NULL;
    if (c->kernel < 1 || c->kernel % 2 == 0 || c->kernel > 32767 || c->reach < 0 || c->reach > 32767 || c->stride < 1 ||
        c->step < 1)
        return tg_op_error(cx, call, "a kernel, displacement or stride is not possible") != NULL;
    if (!tg_window_padding(cx, op, call, 2, 0, c->w)) return false;
    c->side = 2 * (c->reach / c->step) + 1;
    for (int i = 0; i < 2; ++i) {
        tg_window *w = &c->w[i];
        w->letter = "HW"[i];
        w->in = a->dim[2 + i];
        w->kernel = w->stride = w->dilation = 1;
        int64_t room = w->in + w->before + w->after - 2 * (c->reach + (c->kernel - 1) / 2);
        w->out = room > 0 ? (room - 1) / c->stride + 1 : 0;
        if (w->out < 1) return tg_arg_error(cx, call, 0, "the image is too small along %c", w->letter) != NULL;
    }
    return true;
}

const tg_type *tg_type_correlation(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *a = tg_arg_of_rank(cx, call, 0, 4), *b = tg_arg_of_rank(cx, call, 1, 4);
    correlation c;
    if (a == NULL || b == NULL || !tg_same_dtype(cx, call, 0, 1) || !read_correlation(cx, op, call, a, &c)) return NULL;
    if (!tg_type_same_shape(a, b)) return tg_arg_error(cx, call, 1, "the two images have different shapes");
    int64_t dim[4] = { a->dim[0], c.side * c.side, c.w[0].out, c.w[1].out };
    return tg_tensor_of(cx, call, a->dtype, 4, dim);
}

bool tg_lower_correlation(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    correlation c;
    tg_layout nchw;
    if (!read_correlation(cx, op, call, call->kid[0]->type, &c) || !tg_layout_parse(cx, call, "NCHW", &nchw))
        return false;
    const tg_buffer *image[2];
    for (uint32_t k = 0; k < 2; ++k)
        image[k] = tg_pad_windows(lo, k, &nchw, 2, c.w, NULL, tg_const(cx, lo->in[k]->dtype, 0));
    const tg_buffer *out = lo->out[0], *total = NULL;
    int64_t dim[4];
    tg_buffer_dims(out, dim);
    total = tg_temp_of(lo, "sum", tg_compute_dtype(out->dtype), 4, dim);
    tg_at to, p[2];
    tg_block_build *b = tg_begin_over(lo, "sum", total, &to);
    p[0] = p[1] = to;
    p[0].ix[1] = p[1].ix[1] = tg_reduce(b, "c", tg_extent(lo->in[0], 1));
    for (int i = 0; i < 2; ++i) {
        tg_expr tap = tg_reduce(b, i == 0 ? "kh" : "kw", c.kernel), q = to.ix[1];
        tg_expr at = tg_addi(cx, tg_add(cx, tg_muli(cx, to.ix[2 + i], c.stride), tap), c.reach);
        tg_expr cell = i == 0 ? tg_floordivi(cx, q, c.side) : tg_floormodi(cx, q, c.side);
        p[0].ix[2 + i] = at;
        p[1].ix[2 + i] = tg_add(cx, at, tg_muli(cx, tg_addi(cx, cell, -(c.side / 2)), c.step));
    }
    tg_expr x = tg_read(lo, image[0], &p[0]), y = tg_read(lo, image[1], &p[1]), diff = tg_sub(cx, x, y),
            term = tg_mul(cx, x, y);
    if (!c.multiply)
        term = tg_is_float(tg_dtype_of(x))
                   ? tg_call1(cx, "fabs", diff)
                   : tg_choose(cx, tg_lt(cx, diff, tg_num(cx, diff, 0)), tg_neg(cx, diff), diff);
    tg_begin_init(b, tg_const(cx, total->dtype, 0));
    tg_put(b, total, tg_add(cx, tg_read(lo, total, &to), term), &to);
    b = tg_begin_over(lo, NULL, out, &to);
    tg_expr sum = tg_read(lo, total, &to);
    double count = (double)(c.kernel * c.kernel * tg_extent(lo->in[0], 1));
    tg_put(b, out, tg_div(cx, sum, tg_num(cx, sum, count > 0 ? count : 1)), &to);
    return true;
}
