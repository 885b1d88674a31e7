/* pad.c: padding, cropping and dilating; space to batch and back; space to depth and back; layout changes. */
#include "build.h"

#include <string.h>

/* ---- nn.pad, nn.mirror_pad ---- */

typedef struct widths {
    int64_t before[TG_MAX_NDIM], after[TG_MAX_NDIM];
} widths;

static bool as_int(const tg_value *v, int64_t *out)
{
    *out = v->i;
    return v->kind == TG_V_INT;
}

/* A list of pairs [[before, after], …], exactly n of them. */
static bool read_pairs(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, uint32_t n, widths *w)
{
    const tg_value *v = tg_attr(cx, op, call, name);
    if (v->kind != TG_V_LIST || v->n != n)
        return tg_op_error(cx, call, "%s must be a list of %u pairs", name, n) != NULL;
    for (uint32_t k = 0; k < n; ++k) {
        const tg_value *p = v->item[k];
        if (p->kind != TG_V_LIST || p->n != 2 || !as_int(p->item[0], &w->before[k]) ||
            !as_int(p->item[1], &w->after[k]))
            return tg_op_error(cx, call, "entry %u of %s must be a pair of integers", k, name) != NULL;
        if (w->before[k] > TG_MAX_ELEMENTS || w->after[k] > TG_MAX_ELEMENTS || w->before[k] < -TG_MAX_ELEMENTS ||
            w->after[k] < -TG_MAX_ELEMENTS)
            return tg_op_error(cx, call, "entry %u of %s is too large", k, name) != NULL;
    }
    return true;
}

static const tg_type *padded_type(tg_ctx *cx, const tg_node *call, const tg_type *t, const widths *w)
{
    int64_t dim[TG_MAX_NDIM];
    for (uint32_t k = 0; k < t->n; ++k) dim[k] = t->dim[k] + w->before[k] + w->after[k];
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_SYMMETRIC, PAD_UNKNOWN };

static enum pad_mode read_mode(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    bool mirror = strcmp(op->name, "nn.mirror_pad") == 0;
    const char *text = tg_attr_str(cx, op, call, mirror ? "mode" : "pad_mode");
    if (mirror)
        return strcmp(text, "SYMMETRIC") == 0 ? PAD_SYMMETRIC
               : strcmp(text, "REFLECT") == 0 ? PAD_REFLECT
                                              : PAD_UNKNOWN;
    if (strcmp(text, "constant") == 0) return PAD_CONSTANT;
    return strcmp(text, "edge") == 0 ? PAD_EDGE : strcmp(text, "reflect") == 0 ? PAD_REFLECT : PAD_UNKNOWN;
}

const tg_type *tg_type_pad(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    enum pad_mode mode = read_mode(cx, op, call);
    widths w;
    if (t == NULL || !read_pairs(cx, op, call, "pad_width", t->n, &w)) return NULL;
    if (call->nkids > 1 && (tg_arg_tensor(cx, call, 1) == NULL || !tg_same_dtype(cx, call, 0, 1))) return NULL;
    int64_t values = 1;
    if (call->nkids > 1 && (!tg_type_elements(call->kid[1]->type, &values) || values != 1))
        return tg_arg_error(cx, call, 1, "the padding value must be one number");
    if (mode == PAD_UNKNOWN) return tg_op_error(cx, call, "unknown padding mode");
    for (uint32_t k = 0; k < t->n && mode != PAD_CONSTANT; ++k) {
        int64_t most = mode == PAD_EDGE ? (t->dim[k] > 0 ? INT64_MAX : 0) : t->dim[k] - (mode == PAD_REFLECT);
        if (w.before[k] > most || w.after[k] > most)
            return tg_arg_error(cx, call, 0, "axis %u of extent %lld is too short for a padding of %lld and %lld", k,
                                (long long)t->dim[k], (long long)w.before[k], (long long)w.after[k]);
    }
    return padded_type(cx, call, t, &w);
}

/* Where position q outside of [0, d) reads. */
static tg_expr fold_position(tg_ctx *cx, enum pad_mode mode, tg_expr q, int64_t d, bool before, bool after)
{
    DLDataType t = tg_dtype_of(q);
    if (mode == PAD_EDGE) {
        q = after ? tg_min(cx, q, tg_int(cx, t, d - 1)) : q;
        return before ? tg_max(cx, q, tg_int(cx, t, 0)) : q;
    }
    int64_t skip = mode == PAD_REFLECT ? 0 : 1; /* symmetric: the border is repeated */
    tg_expr low = tg_sub(cx, tg_int(cx, t, -skip), q), high = tg_sub(cx, tg_int(cx, t, 2 * d - 2 + skip), q), r = q;
    if (after) r = tg_choose(cx, tg_ge(cx, q, tg_int(cx, t, d)), high, r);
    return before ? tg_choose(cx, tg_lt(cx, q, tg_int(cx, t, 0)), low, r) : r;
}

/* out[p] = in[p - before] inside, the value outside. */
static void pad_block(tg_lower *lo, const widths *w, enum pad_mode mode, tg_expr value)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0], *out = lo->out[0];
    tg_at to, from = { 0 };
    tg_expr inside = NULL;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    for (uint32_t k = 0; k < to.n; ++k) {
        bool before = w->before[k] > 0, after = w->after[k] > 0;
        tg_expr q = tg_addi(cx, to.ix[k], -w->before[k]);
        if (mode != PAD_CONSTANT) q = fold_position(cx, mode, q, tg_extent(x, k), before, after);
        else if (before) inside = tg_and(cx, inside, tg_ge(cx, to.ix[k], tg_ix(lo, w->before[k])));
        if (mode == PAD_CONSTANT && after)
            inside = tg_and(cx, inside, tg_lt(cx, to.ix[k], tg_ix(lo, w->before[k] + tg_extent(x, k))));
        tg_at_push(&from, q);
    }
    tg_put(b, out, tg_guarded(cx, inside, tg_in_raw(lo, 0, &from), value), &to);
}

static tg_expr pad_value(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    DLDataType d = lo->in[0]->dtype;
    if (lo->nin < 2)
        return strcmp(op->name, "nn.pad") == 0 ? tg_const(lo->cx, d, tg_attr_float(lo->cx, op, call, "pad_value"))
                                               : tg_const(lo->cx, d, 0);
    return tg_to(lo->cx, d, tg_in0(lo, 1));
}

bool tg_lower_pad(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    widths w;
    if (!read_pairs(lo->cx, op, call, "pad_width", lo->in[0]->ndim, &w)) return false;
    pad_block(lo, &w, read_mode(lo->cx, op, call), pad_value(lo, op, call));
    return true;
}

/* ---- nn.dilate: values spread apart ---- */

static bool read_strides(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t n, int64_t *stride)
{
    int count = tg_attr_ints(cx, op, call, "strides", stride, TG_MAX_NDIM);
    if (count < 0) return false;
    if ((uint32_t)count != n)
        return tg_op_error(cx, call, "strides has %d values, the data %u dimensions", count, n) != NULL;
    for (int i = 0; i < count; ++i)
        if (stride[i] < 1 || stride[i] > INT32_MAX)
            return tg_op_error(cx, call, "a stride of %lld is not possible", (long long)stride[i]) != NULL;
    return true;
}

const tg_type *tg_type_dilate(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t stride[TG_MAX_NDIM], dim[TG_MAX_NDIM];
    if (t == NULL || !read_strides(cx, op, call, t->n, stride)) return NULL;
    for (uint32_t k = 0; k < t->n; ++k)
        if (t->dim[k] == 0) dim[k] = 0;
        else if (!tg_mul_fits(t->dim[k] - 1, stride[k], &dim[k]) || !tg_add_fits(dim[k], 1, &dim[k]))
            return tg_op_error(cx, call, "the result is too large");
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

bool tg_lower_dilate(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    int64_t stride[TG_MAX_NDIM];
    tg_at to, from = { 0 };
    tg_expr inside = NULL;
    if (!read_strides(cx, op, call, out->ndim, stride)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    for (uint32_t k = 0; k < to.n; ++k) {
        if (stride[k] > 1) inside = tg_and(cx, inside, tg_eq(cx, tg_floormodi(cx, to.ix[k], stride[k]), tg_ix(lo, 0)));
        tg_at_push(&from, tg_floordivi(cx, to.ix[k], stride[k]));
    }
    tg_expr fill = tg_const(cx, out->dtype, tg_attr_float(cx, op, call, "dilation_value"));
    tg_put(b, out, tg_guarded(cx, inside, tg_in_raw(lo, 0, &from), fill), &to);
    return true;
}

/* ---- space to batch, batch to space ---- */

typedef struct blocks {
    int n;
    int64_t size[TG_MAX_NDIM], product;
    widths w;
} blocks;

static bool read_blocks(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, const char *pairs,
                        blocks *b)
{
    b->n = tg_attr_ints(cx, op, call, "block_shape", b->size, TG_MAX_NDIM);
    b->product = 1;
    if (b->n < 0) return false;
    if (b->n + 1 > (int)t->n)
        return tg_arg_error(cx, call, 0, "%d block axes need at least %d dimensions", b->n, b->n + 1) != NULL;
    for (int i = 0; i < b->n; ++i)
        if (b->size[i] < 1 || !tg_mul_fits(b->product, b->size[i], &b->product) || b->product > INT32_MAX)
            return tg_op_error(cx, call, "a block of %lld is not possible", (long long)b->size[i]) != NULL;
    if (!read_pairs(cx, op, call, pairs, (uint32_t)b->n, &b->w)) return false;
    for (int i = 0; i < b->n; ++i)
        if (b->w.before[i] < 0 || b->w.after[i] < 0)
            return tg_op_error(cx, call, "%s must not be negative", pairs) != NULL;
    return true;
}

const tg_type *tg_type_space_to_batch(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    blocks s;
    int64_t dim[TG_MAX_NDIM];
    if (t == NULL || !read_blocks(cx, op, call, t, "paddings", &s)) return NULL;
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    if (!tg_mul_fits(dim[0], s.product, &dim[0])) return tg_op_error(cx, call, "the result is too large");
    for (int i = 0; i < s.n; ++i) {
        int64_t padded = t->dim[i + 1] + s.w.before[i] + s.w.after[i];
        if (padded % s.size[i] != 0)
            return tg_arg_error(cx, call, 0, "the padded extent %lld of axis %d does not divide by %lld",
                                (long long)padded, i + 1, (long long)s.size[i]);
        dim[i + 1] = padded / s.size[i];
    }
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

bool tg_lower_space_to_batch(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0], *out = lo->out[0];
    blocks s;
    tg_at to, from;
    tg_expr offset[TG_MAX_NDIM], inside = NULL;
    if (!read_blocks(cx, op, call, call->kid[0]->type, "paddings", &s)) return false;
    int64_t batch = tg_extent(x, 0) > 0 ? tg_extent(x, 0) : 1;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    tg_unravel(cx, tg_floordivi(cx, to.ix[0], batch), (uint32_t)s.n, s.size, offset);
    from = to;
    from.ix[0] = tg_floormodi(cx, to.ix[0], batch);
    for (int i = 0; i < s.n; ++i) {
        tg_expr y = tg_add(cx, tg_muli(cx, to.ix[i + 1], s.size[i]), offset[i]);
        if (s.w.before[i] > 0) inside = tg_and(cx, inside, tg_ge(cx, y, tg_ix(lo, s.w.before[i])));
        if (s.w.after[i] > 0)
            inside = tg_and(cx, inside, tg_lt(cx, y, tg_ix(lo, s.w.before[i] + tg_extent(x, (uint32_t)i + 1))));
        from.ix[i + 1] = tg_addi(cx, y, -s.w.before[i]);
    }
    tg_expr fill = tg_const(cx, out->dtype, tg_attr_float(cx, op, call, "pad_value"));
    tg_put(b, out, tg_guarded(cx, inside, tg_in_raw(lo, 0, &from), fill), &to);
    return true;
}

const tg_type *tg_type_batch_to_space(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    blocks s;
    int64_t dim[TG_MAX_NDIM];
    if (t == NULL || !read_blocks(cx, op, call, t, "crops", &s)) return NULL;
    if (t->dim[0] % s.product != 0)
        return tg_arg_error(cx, call, 0, "the batch %lld does not divide by %lld", (long long)t->dim[0],
                            (long long)s.product);
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    dim[0] /= s.product;
    for (int i = 0; i < s.n; ++i) {
        int64_t full;
        if (!tg_mul_fits(t->dim[i + 1], s.size[i], &full) || full < s.w.before[i] + s.w.after[i])
            return tg_arg_error(cx, call, 0, "the crops take more than axis %d has", i + 1);
        dim[i + 1] = full - s.w.before[i] - s.w.after[i];
    }
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

bool tg_lower_batch_to_space(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    blocks s;
    tg_at to, from;
    tg_expr offset[TG_MAX_NDIM];
    if (!read_blocks(cx, op, call, call->kid[0]->type, "crops", &s)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    from = to;
    for (int i = 0; i < s.n; ++i) {
        tg_expr y = tg_addi(cx, to.ix[i + 1], s.w.before[i]);
        offset[i] = tg_floormodi(cx, y, s.size[i]);
        from.ix[i + 1] = tg_floordivi(cx, y, s.size[i]);
    }
    tg_expr block = tg_ravel(cx, lo->index, (uint32_t)s.n, offset, s.size);
    from.ix[0] = tg_add(cx, tg_muli(cx, block, tg_extent(out, 0)), to.ix[0]);
    tg_put(b, out, tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- space to depth, depth to space ---- */

/* Positions of channel, height and width. */
static bool depth_axes(tg_ctx *cx, const tg_op *op, const tg_node *call, int *c, int *h, int *w)
{
    tg_layout l;
    if (!tg_layout_parse(cx, call, tg_attr_str(cx, op, call, "layout"), &l)) return false;
    *c = tg_layout_find(&l, 'C');
    *h = tg_layout_find(&l, 'H');
    *w = tg_layout_find(&l, 'W');
    return (l.n == 4 && *c >= 0 && *h >= 0 && *w >= 0 && tg_layout_find(&l, 'N') >= 0) ||
           tg_op_error(cx, call, "layout must be NCHW or NHWC") != NULL;
}

static const tg_type *depth_type(tg_ctx *cx, const tg_op *op, const tg_node *call, bool to_depth)
{
    const tg_type *t = tg_arg_of_rank(cx, call, 0, 4);
    int64_t block = tg_attr_int(cx, op, call, "block_size"), dim[4];
    int c, h, w;
    if (t == NULL || !depth_axes(cx, op, call, &c, &h, &w)) return NULL;
    if (block < 1 || block > 32767)
        return tg_op_error(cx, call, "a block size of %lld is not possible", (long long)block);
    memcpy(dim, t->dim, sizeof dim);
    if (to_depth ? dim[h] % block != 0 || dim[w] % block != 0 : dim[c] % (block * block) != 0)
        return tg_arg_error(cx, call, 0, "the extents do not divide by the block size %lld", (long long)block);
    dim[h] = to_depth ? dim[h] / block : dim[h] * block;
    dim[w] = to_depth ? dim[w] / block : dim[w] * block;
    if (!to_depth) dim[c] /= block * block;
    else if (!tg_mul_fits(dim[c], block * block, &dim[c])) return tg_op_error(cx, call, "the result is too large");
    return tg_tensor_of(cx, call, t->dtype, 4, dim);
}

const tg_type *tg_type_space_to_depth(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return depth_type(cx, op, call, true);
}
const tg_type *tg_type_depth_to_space(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return depth_type(cx, op, call, false);
}

bool tg_lower_space_to_depth(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    int64_t block = tg_attr_int(cx, op, call, "block_size");
    tg_at to, from;
    int c, h, w;
    if (!depth_axes(cx, op, call, &c, &h, &w)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    int64_t channels = tg_extent(lo->in[0], (uint32_t)c) > 0 ? tg_extent(lo->in[0], (uint32_t)c) : 1;
    tg_expr cell = tg_floordivi(cx, to.ix[c], channels);
    from = to;
    from.ix[c] = tg_floormodi(cx, to.ix[c], channels);
    from.ix[h] = tg_add(cx, tg_muli(cx, to.ix[h], block), tg_floordivi(cx, cell, block));
    from.ix[w] = tg_add(cx, tg_muli(cx, to.ix[w], block), tg_floormodi(cx, cell, block));
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

bool tg_lower_depth_to_space(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    int64_t block = tg_attr_int(cx, op, call, "block_size");
    bool crd =
        strcmp(tg_attr_str(cx, op, call, "mode"), "CDR") == 0 || strcmp(tg_attr_str(cx, op, call, "mode"), "CRD") == 0;
    tg_at to, from;
    int c, h, w;
    if (!depth_axes(cx, op, call, &c, &h, &w)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_expr cell = tg_add(cx, tg_muli(cx, tg_floormodi(cx, to.ix[h], block), block), tg_floormodi(cx, to.ix[w], block));
    from = to;
    from.ix[c] = crd ? tg_add(cx, tg_muli(cx, to.ix[c], block * block), cell)
                     : tg_add(cx, tg_muli(cx, cell, tg_extent(lo->out[0], (uint32_t)c)), to.ix[c]);
    from.ix[h] = tg_floordivi(cx, to.ix[h], block);
    from.ix[w] = tg_floordivi(cx, to.ix[w], block);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- layout_transform ---- */

static bool read_layouts(tg_ctx *cx, const tg_op *op, const tg_node *call, tg_layout *src, tg_layout *dst)
{
    const char *from = tg_attr_str(cx, op, call, "src_layout"), *to = tg_attr_str(cx, op, call, "dst_layout");
    if (!tg_layout_parse(cx, call, from, src) || !tg_layout_parse(cx, call, to, dst)) return false;
    for (uint32_t k = 0; k < src->n; ++k)
        if (tg_layout_find(dst, src->axis[k].letter) < 0)
            return tg_op_error(cx, call, "\"%s\" lacks axis %c of \"%s\"", to, src->axis[k].letter, from) != NULL;
    for (uint32_t k = 0; k < dst->n; ++k)
        if (tg_layout_find(src, dst->axis[k].letter) < 0)
            return tg_op_error(cx, call, "\"%s\" lacks axis %c of \"%s\"", from, dst->axis[k].letter, to) != NULL;
    return true;
}

const tg_type *tg_type_layout_transform(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    tg_layout src, dst;
    int64_t primary[26] = { 0 }, dim[TG_MAX_NDIM];
    if (!read_layouts(cx, op, call, &src, &dst)) return NULL;
    const tg_type *t = tg_arg_of_rank(cx, call, 0, src.n);
    if (t == NULL) return NULL;
    for (uint32_t k = 0; k < src.n; ++k) {
        char letter = src.axis[k].letter;
        if (src.axis[k].inner && t->dim[k] != src.axis[k].factor)
            return tg_arg_error(cx, call, 0, "dimension %u must be %lld", k, (long long)src.axis[k].factor);
        primary[letter - 'A'] = tg_layout_extent(&src, t->dim, letter);
    }
    if (!tg_layout_shape(&dst, primary, dim))
        return tg_arg_error(cx, call, 0, "an extent does not divide by its factor in \"%s\"",
                            tg_attr_str(cx, op, call, "dst_layout"));
    return tg_tensor_of(cx, call, t->dtype, dst.n, dim);
}

bool tg_lower_layout_transform(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_layout src, dst;
    tg_at to, from;
    tg_expr primary[26];
    if (!read_layouts(lo->cx, op, call, &src, &dst)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_layout_primary(lo->cx, &dst, &to, primary);
    tg_layout_index(lo->cx, &src, primary, &from);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}
