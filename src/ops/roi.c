/* roi.c: regions of interest: roi_align, roi_pool; Darknet's reorg. */
#include "build.h"

#include <string.h>

/* ---- what the two share ---- */

typedef struct region {
    int64_t ph, pw;
    bool channels_last;
    double scale;
} region;

static bool read_region(tg_ctx *cx, const tg_op *op, const tg_node *call, region *r)
{
    int64_t size[2];
    const char *layout = tg_attr_str(cx, op, call, "layout");
    int n = tg_attr_ints(cx, op, call, "pooled_size", size, 2);
    if (n < 0) return false;
    if (n == 0 || size[0] < 1 || size[n - 1] < 1 || size[0] > INT32_MAX || size[n - 1] > INT32_MAX)
        return tg_op_error(cx, call, "pooled_size must be one or two positive numbers") != NULL;
    *r = (region){ size[0], size[n - 1], strcmp(layout, "NHWC") == 0, tg_attr_float(cx, op, call, "spatial_scale") };
    return r->channels_last || strcmp(layout, "NCHW") == 0 ||
           tg_op_error(cx, call, "layout \"%s\" is not NCHW or NHWC", layout) != NULL;
}

static const tg_type *region_type(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4), *rois = tg_arg_of_rank(cx, call, 1, 2);
    region r;
    if (x == NULL || rois == NULL || !tg_want_float(cx, call, 1) || !read_region(cx, op, call, &r)) return NULL;
    if (rois->dim[1] != 5) return tg_arg_error(cx, call, 1, "rois must be (R, 5): batch, x0, y0, x1, y1");
    if (x->dim[0] < 1 || x->dim[1] < 1 || x->dim[2] < 1 || x->dim[3] < 1)
        return tg_arg_error(cx, call, 0, "the image is empty");
    int64_t nchw[4] = { rois->dim[0], x->dim[1], r.ph, r.pw }, nhwc[4] = { rois->dim[0], r.ph, r.pw, x->dim[3] };
    return tg_tensor_of(cx, call, x->dtype, 4, r.channels_last ? nhwc : nchw);
}

const tg_type *tg_type_roi_align(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const char *mode = tg_attr_str(cx, op, call, "mode");
    if (strcmp(mode, "avg") != 0 && strcmp(mode, "max") != 0)
        return tg_op_error(cx, call, "mode \"%s\" is not avg or max", mode);
    return region_type(cx, op, call);
}

const tg_type *tg_type_roi_pool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    return region_type(cx, op, call);
}

/* A region being computed: one block over roi, channel and bin. */
typedef struct bins {
    const region *r;
    tg_at out, in; /* in.ix[h], in.ix[w] are left to the samples */
    uint32_t h, w; /* positions of height and width */
    tg_expr ph, pw;
    int64_t height, width;
} bins;

static tg_block_build *begin_bins(tg_lower *lo, const region *r, bins *n)
{
    const tg_buffer *out = lo->out[0], *x = lo->in[0];
    *n = (bins){ .r = r, .h = r->channels_last ? 1 : 2, .w = r->channels_last ? 2 : 3 };
    tg_block_build *b = tg_begin(lo, NULL);
    n->out.n = n->in.n = 4;
    n->out.ix[0] = tg_spatial(b, "r", tg_extent(out, 0));
    for (uint32_t k = 1; k < 4; ++k)
        n->out.ix[k] = tg_spatial(b, k == n->h ? "ph" : k == n->w ? "pw" : "c", tg_extent(out, k));
    n->in = n->out;
    n->ph = n->out.ix[n->h];
    n->pw = n->out.ix[n->w];
    n->height = tg_extent(x, n->h);
    n->width = tg_extent(x, n->w);
    return b;
}

/* Entry k of the region's row, as float. */
static tg_expr entry(tg_lower *lo, const bins *n, int64_t k)
{
    tg_at at = { 2, { n->out.ix[0], tg_ix(lo, k) } };
    return tg_in(lo, 1, &at);
}

static tg_expr image_of(tg_lower *lo, const bins *n)
{
    return tg_index(lo, tg_clamp(lo->cx, tg_to(lo->cx, TG_INT32, entry(lo, n, 0)), 0, tg_extent(lo->in[0], 0) - 1));
}

/* ---- roi_align ---- */

/* Value between pixels at (y, x); 0 more than one pixel outside. */
static tg_expr bilinear(tg_lower *lo, tg_script *s, const bins *n, tg_expr y, tg_expr x)
{
    tg_ctx *cx = lo->cx;
    tg_expr h = tg_num(cx, y, (double)n->height), w = tg_num(cx, x, (double)n->width), minus = tg_num(cx, y, -1),
            zero = tg_num(cx, y, 0);
    tg_expr inside =
        tg_and(cx, tg_and(cx, tg_ge(cx, y, minus), tg_le(cx, y, h)), tg_and(cx, tg_ge(cx, x, minus), tg_le(cx, x, w)));
    tg_expr v[2] = { y, x }, low[2], high[2], t[2], sum = NULL;
    int64_t extent[2] = { n->height, n->width };
    for (int k = 0; k < 2; ++k) {
        v[k] = tg_s_let(s, k == 0 ? "yc" : "xc",
                        tg_max(cx, tg_min(cx, v[k], tg_num(cx, y, (double)(extent[k] - 1))), zero));
        low[k] = tg_s_let(s, k == 0 ? "y0" : "x0",
                          tg_clamp(cx, tg_to(cx, lo->index, tg_call1(cx, "floor", v[k])), 0, extent[k] - 1));
        high[k] = tg_s_let(s, k == 0 ? "y1" : "x1", tg_min(cx, tg_addi(cx, low[k], 1), tg_ix(lo, extent[k] - 1)));
        t[k] = tg_s_let(s, k == 0 ? "ty" : "tx", tg_sub(cx, v[k], tg_to(cx, tg_dtype_of(y), low[k])));
    }
    tg_at at = n->in;
    for (int k = 0; k < 4; ++k) {
        at.ix[n->h] = k < 2 ? low[0] : high[0];
        at.ix[n->w] = k % 2 == 0 ? low[1] : high[1];
        tg_expr one = tg_num(cx, y, 1), wy = k < 2 ? tg_sub(cx, one, t[0]) : t[0],
                wx = k % 2 == 0 ? tg_sub(cx, one, t[1]) : t[1];
        tg_expr part = tg_mul(cx, tg_mul(cx, wy, wx), tg_to(cx, tg_dtype_of(y), tg_in(lo, 0, &at)));
        sum = sum == NULL ? part : tg_add(cx, sum, part);
    }
    return tg_choose(cx, inside, sum, zero);
}

bool tg_lower_roi_align(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    region r;
    bins n;
    if (!read_region(cx, op, call, &r)) return false;
    bool max = strcmp(tg_attr_str(cx, op, call, "mode"), "max") == 0;
    int64_t ratio = tg_attr_int(cx, op, call, "sample_ratio");
    tg_block_build *b = begin_bins(lo, &r, &n);
    DLDataType d = tg_compute_dtype(lo->in[1]->dtype);
    tg_expr zero = tg_ix(lo, 0), scale = tg_float(cx, d, r.scale), one = tg_float(cx, d, 1);
    const tg_buffer *acc = tg_block_local(b, "acc", d, 1);
    tg_script *s = tg_script_new(lo);
    n.in.ix[0] = tg_s_let(s, "image", image_of(lo, &n));
    tg_expr start[2], bin[2], count[2], step[2], at[2];
    for (int k = 0; k < 2; ++k) { /* y, x */
        start[k] = tg_s_let(s, k == 0 ? "y_start" : "x_start", tg_mul(cx, entry(lo, &n, 2 - k), scale));
        tg_expr size = tg_max(cx, tg_sub(cx, tg_mul(cx, entry(lo, &n, 4 - k), scale), start[k]), one);
        bin[k] =
            tg_s_let(s, k == 0 ? "bin_h" : "bin_w", tg_div(cx, size, tg_float(cx, d, (double)(k == 0 ? r.ph : r.pw))));
        count[k] =
            ratio > 0 ? tg_ix(lo, ratio) : tg_s_let(s, "samples", tg_to(cx, lo->index, tg_call1(cx, "ceil", bin[k])));
        step[k] = tg_s_let(s, k == 0 ? "step_h" : "step_w", tg_div(cx, bin[k], tg_to(cx, d, count[k])));
    }
    tg_s_store(s, acc, max ? tg_lowest(cx, d, d) : tg_float(cx, d, 0), zero);
    for (int k = 0; k < 2; ++k) {
        tg_expr i = tg_s_for(s, k == 0 ? "iy" : "ix", zero, count[k]), p = tg_to(cx, d, k == 0 ? n.ph : n.pw);
        tg_expr inner = tg_mul(cx, tg_add(cx, tg_to(cx, d, i), tg_float(cx, d, 0.5)), step[k]);
        at[k] = tg_s_let(s, k == 0 ? "y" : "x", tg_add(cx, tg_add(cx, start[k], tg_mul(cx, p, bin[k])), inner));
    }
    tg_expr v = bilinear(lo, s, &n, at[0], at[1]), old = tg_get(lo, acc, 0);
    tg_s_store(s, acc, max ? tg_max(cx, old, v) : tg_add(cx, old, v), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_put(s, lo->out[0], max ? old : tg_div(cx, old, tg_to(cx, d, tg_mul(cx, count[0], count[1]))), &n.out);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- roi_pool ---- */

bool tg_lower_roi_pool(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    region r;
    bins n;
    if (!read_region(cx, op, call, &r)) return false;
    tg_block_build *b = begin_bins(lo, &r, &n);
    DLDataType d = tg_compute_dtype(lo->in[1]->dtype), xd = tg_compute_dtype(lo->in[0]->dtype);
    const tg_buffer *acc = tg_block_local(b, "acc", xd, 1);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), low[2], high[2];
    n.in.ix[0] = tg_s_let(s, "image", image_of(lo, &n));
    for (int k = 0; k < 2; ++k) { /* y, x */
        int64_t extent = k == 0 ? n.height : n.width, pooled = k == 0 ? r.ph : r.pw;
        tg_expr scale = tg_float(cx, d, r.scale), p = tg_to(cx, d, k == 0 ? n.ph : n.pw), eps = tg_float(cx, d, 1e-5);
        tg_expr begin =
            tg_s_let(s, "begin", tg_to(cx, TG_INT32, tg_call1(cx, "round", tg_mul(cx, entry(lo, &n, 2 - k), scale))));
        tg_expr end = tg_to(cx, TG_INT32, tg_call1(cx, "round", tg_mul(cx, entry(lo, &n, 4 - k), scale)));
        tg_expr size = tg_max(cx, tg_addi(cx, tg_sub(cx, end, begin), 1), tg_int(cx, TG_INT32, 1));
        tg_expr bin = tg_s_let(s, "bin", tg_div(cx, tg_to(cx, d, size), tg_float(cx, d, (double)pooled)));
        tg_expr first = tg_call1(cx, "floor", tg_add(cx, tg_mul(cx, p, bin), eps));
        tg_expr last = tg_call1(cx, "ceil", tg_sub(cx, tg_mul(cx, tg_add(cx, p, tg_float(cx, d, 1)), bin), eps));
        low[k] = tg_s_let(s, k == 0 ? "y0" : "x0",
                          tg_index(lo, tg_clamp(cx, tg_add(cx, begin, tg_to(cx, TG_INT32, first)), 0, extent)));
        high[k] = tg_s_let(s, k == 0 ? "y1" : "x1",
                           tg_index(lo, tg_clamp(cx, tg_add(cx, begin, tg_to(cx, TG_INT32, last)), 0, extent)));
    }
    tg_expr empty = tg_or(cx, tg_le(cx, high[0], low[0]), tg_le(cx, high[1], low[1]));
    tg_s_store(s, acc, tg_choose(cx, empty, tg_const(cx, xd, 0), tg_lowest(cx, xd, lo->in[0]->dtype)), zero);
    for (int k = 0; k < 2; ++k) {
        tg_expr i = tg_s_for(s, k == 0 ? "y" : "x", zero, tg_sub(cx, tg_max(cx, high[k], low[k]), low[k]));
        n.in.ix[k == 0 ? n.h : n.w] = tg_add(cx, low[k], i);
    }
    tg_s_store(s, acc, tg_max(cx, tg_get(lo, acc, 0), tg_in(lo, 0, &n.in)), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_put(s, lo->out[0], tg_get(lo, acc, 0), &n.out);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- yolo_reorg: Darknet's reorg, addressed as Darknet does (relay-ops.md section 11) ---- */

const tg_type *tg_type_yolo_reorg(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4);
    int64_t s = tg_attr_int(cx, op, call, "stride");
    if (x == NULL) return NULL;
    if (s < 1 || s > 32767 || x->dim[1] % (s * s) != 0 || x->dim[2] % s != 0 || x->dim[3] % s != 0)
        return tg_arg_error(cx, call, 0, "the extents do not divide by the stride %lld", (long long)s);
    if (x->dim[0] != 1) return tg_arg_error(cx, call, 0, "more than one image is not possible");
    int64_t dim[4] = { 1, x->dim[1] * s * s, x->dim[2] / s, x->dim[3] / s };
    return tg_tensor_of(cx, call, x->dtype, 4, dim);
}

bool tg_lower_yolo_reorg(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0], *out = lo->out[0];
    int64_t s = tg_attr_int(cx, op, call, "stride"), dim[4], od[4];
    tg_at to, from = { .n = 4 };
    tg_buffer_dims(x, dim);
    tg_buffer_dims(out, od);
    int64_t c = dim[1] / (s * s);
    tg_expr t[4];
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    tg_unravel(cx, tg_ravel(cx, lo->index, 4, to.ix, od), 4, dim, t);
    tg_expr q = tg_floordivi(cx, t[1], c > 0 ? c : 1), k = tg_floormodi(cx, t[1], c > 0 ? c : 1);
    tg_expr row = tg_muli(cx, tg_add(cx, tg_muli(cx, t[2], s), tg_floordivi(cx, q, s)), s),
            col = tg_add(cx, tg_muli(cx, t[3], s), tg_floormodi(cx, q, s));
    tg_expr flat = tg_add(cx, tg_muli(cx, tg_add(cx, tg_muli(cx, k, s * s * dim[2]), row), dim[3]), col);
    tg_unravel(cx, flat, 4, dim, from.ix);
    from.ix[0] = tg_ix(lo, 0);
    tg_put(b, out, tg_in_raw(lo, 0, &from), &to);
    return true;
}
