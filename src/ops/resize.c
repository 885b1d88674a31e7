/* resize.c: images at another size: nearest, linear and cubic interpolation in one to three dimensions (relay-ops.md section 10). */
#include "conv.h"

#include <math.h>
#include <string.h>

enum method { NEAREST, LINEAR, CUBIC, NO_METHOD };
enum mode {
    HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    PYTORCH_HALF_PIXEL,
    TF_HALF_PIXEL_FOR_NN,
    TF_CROP_AND_RESIZE,
    NO_MODE
};

typedef struct resize {
    int n; /* spatial axes */
    tg_layout layout;
    enum method method;
    enum mode mode;
    const char *rounding;
    int64_t in[3], out[3];
    float roi_begin[3], roi_end[3];
    double alpha, extrapolation;
    bool exclude;
    DLDataType result;
} resize;

/* ---- attributes ---- */

static enum method method_of(const char *s)
{
    if (strcmp(s, "nearest_neighbor") == 0) return NEAREST;
    if (strcmp(s, "linear") == 0 || strcmp(s, "bilinear") == 0 || strcmp(s, "trilinear") == 0) return LINEAR;
    return strcmp(s, "cubic") == 0 || strcmp(s, "bicubic") == 0 ? CUBIC : NO_METHOD;
}

static enum mode mode_of(const char *s)
{
    static const char *const name[] = { "half_pixel",         "align_corners",        "asymmetric",
                                        "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize" };
    for (size_t i = 0; i < TG_COUNT(name); ++i)
        if (strcmp(name[i], s) == 0) return (enum mode)i;
    return NO_MODE;
}

/* Layout, extents of the data, method: what all forms share. */
static const tg_type *read_common(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    *r = (resize){ .n = tg_spatial_count(op),
                   .rounding = "",
                   .alpha = -0.5,
                   .method = method_of(tg_attr_str(cx, op, call, "method")) };
    if (!tg_layout_attr(cx, op, call, "layout", "", tg_format(cx, "NC%s", tg_spatial_letters(r->n)), &r->layout))
        return NULL;
    const tg_type *t = tg_arg_of_rank(cx, call, 0, r->layout.n);
    if (t == NULL) return NULL;
    if (r->method == NO_METHOD)
        return tg_op_error(cx, call, "unknown method \"%s\"", tg_attr_str(cx, op, call, "method"));
    for (int i = 0; i < r->n; ++i) {
        r->in[i] = tg_layout_extent(&r->layout, t->dim, tg_spatial_letters(r->n)[i]);
        if (r->in[i] < 1 || r->in[i] > INT32_MAX)
            return tg_arg_error(cx, call, 0, "extent %lld cannot be resized", (long long)r->in[i]);
    }
    r->result = t->dtype;
    return t;
}

static const tg_type *resized_type(tg_ctx *cx, const tg_node *call, const tg_type *t, const resize *r)
{
    int64_t dim[TG_MAX_NDIM];
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    for (int i = 0; i < r->n; ++i) {
        if (r->out[i] < 1 || r->out[i] > INT32_MAX)
            return tg_op_error(cx, call, "a size of %lld is not possible", (long long)r->out[i]);
        dim[tg_layout_find(&r->layout, tg_spatial_letters(r->n)[i])] = r->out[i];
    }
    return tg_tensor_of(cx, call, r->result, t->n, dim);
}

static bool read_size(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    int n = tg_attr_ints(cx, op, call, "size", r->out, 3);
    return n == r->n || (n >= 0 && tg_op_error(cx, call, "size has %d values, expected %d", n, r->n) != NULL);
}

/* roi: starts of all axes, then ends; in three dimensions x, y, z where the axes are z, y, x. */
static bool read_roi(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    double roi[6] = { 0 };
    int n = tg_attr_floats(cx, op, call, "roi", roi, 6);
    if (n < 0) return false;
    if (r->mode == TF_CROP_AND_RESIZE && n != 2 * r->n)
        return tg_op_error(cx, call, "roi has %d values, expected %d", n, 2 * r->n) != NULL;
    for (int i = 0; i < r->n; ++i) {
        int at = r->n == 3 ? 2 - i : i;
        r->roi_begin[i] = (float)roi[at];
        r->roi_end[i] = (float)roi[r->n + at];
    }
    return true;
}

static bool known_rounding(const char *s)
{
    static const char *const name[] = { "", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
    for (size_t i = 0; i < TG_COUNT(name); ++i)
        if (strcmp(name[i], s) == 0) return true;
    return false;
}

static const tg_type *read_resize(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    const tg_type *t = read_common(cx, op, call, r);
    if (t == NULL || !read_size(cx, op, call, r)) return NULL;
    const char *mode = tg_attr_str(cx, op, call, "coordinate_transformation_mode");
    r->mode = mode_of(mode);
    if (r->mode == NO_MODE) return tg_op_error(cx, call, "unknown coordinate_transformation_mode \"%s\"", mode);
    r->rounding = tg_attr_str(cx, op, call, "rounding_method");
    if (!known_rounding(r->rounding)) return tg_op_error(cx, call, "unknown rounding_method \"%s\"", r->rounding);
    r->alpha = tg_attr_float(cx, op, call, "cubic_alpha");
    r->exclude = tg_attr_int(cx, op, call, "cubic_exclude") != 0;
    r->extrapolation = tg_attr_float(cx, op, call, "extrapolation_value");
    r->result = tg_attr_dtype(cx, op, call, "out_dtype", t->dtype);
    return read_roi(cx, op, call, r) ? t : NULL;
}

/* image.resize of 0.6 and 0.7 */
static const tg_type *read_old(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    const tg_type *t = read_common(cx, op, call, r);
    if (t == NULL || !read_size(cx, op, call, r)) return NULL;
    const char *mode = tg_attr_str(cx, op, call, "coordinate_transformation_mode");
    r->mode = mode_of(mode);
    if (!tg_attr_is_none(cx, op, call, "align_corners")) /* 0.6 */
        r->mode = tg_attr_bool(cx, op, call, "align_corners") ? ALIGN_CORNERS : ASYMMETRIC;
    if (r->mode == NO_MODE) return tg_op_error(cx, call, "unknown coordinate_transformation_mode \"%s\"", mode);
    r->result = tg_attr_dtype(cx, op, call, "out_dtype", t->dtype);
    return t;
}

static const tg_type *read_upsampling(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    static const char *const scale[3] = { "scale_d", "scale_h", "scale_w" };
    const tg_type *t = read_common(cx, op, call, r);
    if (t == NULL) return NULL;
    for (int i = 0; i < r->n; ++i) {
        double v = round((double)r->in[i] * tg_attr_float(cx, op, call, scale[3 - r->n + i]));
        r->out[i] = v >= 1 && v <= INT32_MAX ? (int64_t)v : 0;
    }
    if (r->n == 2) r->mode = tg_attr_bool(cx, op, call, "align_corners") ? ALIGN_CORNERS : ASYMMETRIC;
    else r->mode = mode_of(tg_attr_str(cx, op, call, "coordinate_transformation_mode"));
    return r->mode == NO_MODE ? tg_op_error(cx, call, "unknown coordinate_transformation_mode") : t;
}

static const tg_type *read_any(tg_ctx *cx, const tg_op *op, const tg_node *call, resize *r)
{
    if (strncmp(op->name, "nn.upsampling", 13) == 0) return read_upsampling(cx, op, call, r);
    return strcmp(op->name, "image.resize") == 0 ? read_old(cx, op, call, r) : read_resize(cx, op, call, r);
}

const tg_type *tg_type_resize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    resize r;
    const tg_type *t = read_any(cx, op, call, &r);
    return t != NULL ? resized_type(cx, call, t, &r) : NULL;
}

/* ---- coordinates, in float32 ---- */

static tg_expr f32(tg_lower *lo, double v)
{
    return tg_float(lo->cx, TG_FLOAT32, v);
}

static tg_expr source(tg_lower *lo, const resize *r, int axis, tg_expr x)
{
    tg_ctx *cx = lo->cx;
    float w = (float)r->in[axis], t = (float)r->out[axis], s = w / t, begin = r->roi_begin[axis],
          end = r->roi_end[axis];
    bool one = r->out[axis] == 1;
    tg_expr v = tg_to(cx, TG_FLOAT32, x), middle = tg_mul(cx, tg_add(cx, v, f32(lo, 0.5)), f32(lo, s));
    switch (r->mode) {
    case ALIGN_CORNERS: return one ? f32(lo, 0) : tg_mul(cx, f32(lo, (w - 1) / (t - 1)), v);
    case ASYMMETRIC: return tg_mul(cx, f32(lo, s), v);
    case PYTORCH_HALF_PIXEL: return one ? f32(lo, 0) : tg_sub(cx, middle, f32(lo, 0.5));
    case TF_HALF_PIXEL_FOR_NN: return middle;
    case TF_CROP_AND_RESIZE:
        if (one) return f32(lo, 0.5f * (begin + end) * (w - 1));
        return tg_add(cx, f32(lo, begin * (w - 1)), tg_mul(cx, v, f32(lo, (end - begin) * (w - 1) / (t - 1))));
    default: return tg_sub(cx, middle, f32(lo, 0.5));
    }
}

static tg_expr rounded(tg_lower *lo, const resize *r, tg_expr v)
{
    tg_ctx *cx = lo->cx;
    const char *how = r->rounding[0] != '\0' ? r->rounding : r->mode == ALIGN_CORNERS ? "round" : "floor";
    if (strcmp(how, "round") == 0) v = tg_call1(cx, "round", v);
    else if (strcmp(how, "round_prefer_floor") == 0) v = tg_call1(cx, "ceil", tg_sub(cx, v, f32(lo, 0.5)));
    else if (strcmp(how, "round_prefer_ceil") == 0) v = tg_call1(cx, "floor", tg_add(cx, v, f32(lo, 0.5)));
    else if (strcmp(how, "floor") == 0) v = tg_call1(cx, "floor", tg_add(cx, v, f32(lo, 1e-5)));
    else v = tg_call1(cx, "ceil", tg_sub(cx, v, f32(lo, 1e-5)));
    return tg_to(cx, lo->index, v);
}

/* ---- what one axis contributes: pixels and their weights ---- */

typedef struct taps {
    int n;
    tg_expr at[4], weight[4];
} taps;

static void cubic_weights(tg_lower *lo, const resize *r, int axis, tg_block_build *b, tg_expr first, tg_expr t, taps *p)
{
    tg_ctx *cx = lo->cx;
    tg_expr a = f32(lo, r->alpha), t2 = tg_block_let(b, "t2", tg_mul(cx, t, t)),
            t3 = tg_block_let(b, "t3", tg_mul(cx, t2, t)), sum = NULL;
    tg_expr a2 = f32(lo, (float)r->alpha + 2), a3 = f32(lo, (float)r->alpha + 3),
            two_a3 = f32(lo, 2 * (float)r->alpha + 3);
    p->weight[0] = tg_mul(cx, a, tg_add(cx, tg_sub(cx, t3, tg_mul(cx, f32(lo, 2), t2)), t));
    p->weight[1] = tg_add(cx, tg_sub(cx, tg_mul(cx, a2, t3), tg_mul(cx, a3, t2)), f32(lo, 1));
    p->weight[2] = tg_sub(cx, tg_sub(cx, tg_mul(cx, two_a3, t2), tg_mul(cx, a2, t3)), tg_mul(cx, a, t));
    p->weight[3] = tg_mul(cx, a, tg_sub(cx, t2, t3));
    for (int k = 0; k < 4; ++k) {
        if (r->exclude) /* pixels outside do not count */
            p->weight[k] =
                tg_choose(cx, tg_within(cx, tg_addi(cx, first, k), 0, r->in[axis]), p->weight[k], f32(lo, 0));
        p->weight[k] = tg_block_let(b, "weight", p->weight[k]);
        sum = sum == NULL ? p->weight[k] : tg_add(cx, sum, p->weight[k]);
    }
    if (!r->exclude) return;
    sum = tg_block_let(b, "sum", sum);
    for (int k = 0; k < 4; ++k) p->weight[k] = tg_div(cx, p->weight[k], sum);
}

static taps taps_of(tg_lower *lo, const resize *r, int axis, tg_block_build *b, tg_expr x, tg_expr v)
{
    tg_ctx *cx = lo->cx;
    taps p = { .n = r->method == NEAREST ? 1 : r->method == LINEAR ? 2 : 4 };
    int64_t last = r->in[axis] - 1;
    if (r->method == NEAREST) {
        bool whole = r->n == 2 && r->mode == ASYMMETRIC && r->out[axis] % r->in[axis] == 0;
        p.at[0] = whole ? tg_floordivi(cx, x, r->out[axis] / r->in[axis]) : tg_clamp(cx, rounded(lo, r, v), 0, last);
        return p;
    }
    tg_expr whole = tg_block_let(b, "whole", tg_call1(cx, "floor", v)), t = tg_block_let(b, "t", tg_sub(cx, v, whole));
    tg_expr first = tg_block_let(b, "first", tg_addi(cx, tg_to(cx, lo->index, whole), r->method == CUBIC ? -1 : 0));
    for (int k = 0; k < p.n; ++k) p.at[k] = tg_block_let(b, "at", tg_clamp(cx, tg_addi(cx, first, k), 0, last));
    if (r->method == CUBIC) {
        cubic_weights(lo, r, axis, b, first, t, &p);
    } else {
        p.weight[0] = tg_block_let(b, "weight", tg_sub(cx, f32(lo, 1), t));
        p.weight[1] = t;
    }
    return p;
}

/* The weighted sum over axes from @p axis on: the last axis (x) is summed first. */
static tg_expr interpolate(tg_lower *lo, const resize *r, const taps *p, int axis, tg_at *at)
{
    tg_ctx *cx = lo->cx;
    if (axis >= r->n || axis >= 3) {
        tg_expr x = tg_in_raw(lo, 0, at);
        return r->method == NEAREST ? x : tg_to(cx, TG_FLOAT32, x);
    }
    int dim = tg_layout_find(&r->layout, tg_spatial_letters(r->n)[axis]);
    tg_expr sum = NULL;
    for (int k = 0; k < p[axis].n; ++k) {
        at->ix[dim] = p[axis].at[k];
        tg_expr x = interpolate(lo, r, p, axis + 1, at);
        if (p[axis].n > 1) x = tg_mul(cx, x, p[axis].weight[k]);
        sum = sum == NULL ? x : tg_add(cx, sum, x);
    }
    return sum;
}

bool tg_lower_resize(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    resize r;
    taps p[3];
    tg_at to = { 0 };
    tg_expr inside = NULL;
    if (read_any(cx, op, call, &r) == NULL) return false;
    for (int i = 0; i < r.n; ++i)
        r.out[i] = tg_extent(lo->out[0], (uint32_t)tg_layout_find(&r.layout, tg_spatial_letters(r.n)[i]));
    tg_block_build *b = tg_begin(lo, NULL);
    for (uint32_t k = 0; k < r.layout.n; ++k)
        tg_at_push(&to, tg_spatial(b, tg_layout_axis_name(cx, &r.layout, k, ""), tg_extent(lo->out[0], k)));
    for (int i = 0; i < r.n; ++i) {
        tg_expr x = to.ix[tg_layout_find(&r.layout, tg_spatial_letters(r.n)[i])];
        tg_expr v = tg_block_let(b,
                                 tg_format(cx, "%c",
                                           tg_spatial_letters(r.n)[i] == 'W'   ? 'x'
                                           : tg_spatial_letters(r.n)[i] == 'H' ? 'y'
                                                                               : 'z'),
                                 source(lo, &r, i, x));
        p[i] = taps_of(lo, &r, i, b, x, v);
        if (r.mode == TF_CROP_AND_RESIZE && !(r.n == 3 && i == 0)) /* z is not tested */
            inside =
                tg_and(cx, inside, tg_and(cx, tg_ge(cx, v, f32(lo, 0)), tg_le(cx, v, f32(lo, (double)(r.in[i] - 1)))));
    }
    tg_at from = to;
    tg_expr value = tg_to(cx, lo->out[0]->dtype, interpolate(lo, &r, p, 0, &from));
    if (inside != NULL) value = tg_guarded(cx, inside, value, tg_to(cx, lo->out[0]->dtype, f32(lo, r.extrapolation)));
    tg_put(b, lo->out[0], value, &to);
    return true;
}
