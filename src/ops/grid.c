/* grid.c: images sampled where a tensor says: grid_sample, affine_grid, crop_and_resize. */
#include "conv.h"

#include <string.h>

static tg_expr f32(tg_lower *lo, double v)
{
    return tg_float(lo->cx, TG_FLOAT32, v);
}

/* ---- grid_sample ---- */

typedef struct grid {
    int n; /* spatial axes */
    bool nearest, cubic, align;
    enum { ZEROS, BORDER, REFLECTION } padding;
    int64_t in[3];
} grid;

static bool read_grid(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *x, grid *g)
{
    const char *layout = tg_attr_str(cx, op, call, "layout"), *method = tg_attr_str(cx, op, call, "method");
    const char *padding = tg_attr_str(cx, op, call, "padding_mode");
    *g = (grid){ .n = (int)x->n - 2, .align = tg_attr_bool(cx, op, call, "align_corners") };
    if (strcmp(layout, x->n == 4 ? "NCHW" : "NCDHW") != 0)
        return tg_op_error(cx, call, "layout \"%s\" is not NCHW or NCDHW, or does not fit the data", layout) != NULL;
    g->nearest = strcmp(method, "nearest") == 0;
    g->cubic = strcmp(method, "bicubic") == 0 && g->n == 2;
    if (!g->nearest && !g->cubic && strcmp(method, "bilinear") != 0)
        return tg_op_error(cx, call, "method \"%s\" is not possible here", method) != NULL;
    if (strcmp(padding, "border") == 0) g->padding = BORDER;
    else if (strcmp(padding, "reflection") == 0) g->padding = REFLECTION;
    else if (strcmp(padding, "zeros") != 0)
        return tg_op_error(cx, call, "padding_mode \"%s\" is not zeros, border or reflection", padding) != NULL;
    for (int i = 0; i < g->n; ++i) {
        g->in[i] = x->dim[2 + i];
        if (g->in[i] < 1) return tg_arg_error(cx, call, 0, "the image is empty") != NULL;
    }
    return true;
}

const tg_type *tg_type_grid_sample(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *at = tg_arg_tensor(cx, call, 1);
    grid g;
    int64_t dim[5];
    if (x == NULL || at == NULL || !tg_want_float(cx, call, 0) || !tg_want_float(cx, call, 1)) return NULL;
    if (x->n != 4 && x->n != 5) return tg_arg_error(cx, call, 0, "the data has %u dimensions, expected 4 or 5", x->n);
    if (!read_grid(cx, op, call, x, &g)) return NULL;
    if (at->n != x->n || at->dim[0] != x->dim[0] || at->dim[1] != g.n)
        return tg_arg_error(cx, call, 1, "the grid must be (%lld, %d, ...)", (long long)x->dim[0], g.n);
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    for (int i = 0; i < g.n; ++i) dim[2 + i] = at->dim[2 + i];
    return tg_tensor_of(cx, call, x->dtype, x->n, dim);
}

/* A whole coordinate mirrored about the edges of [0, extent), as often as needed. */
static tg_expr reflected(tg_lower *lo, tg_block_build *b, tg_expr i, int64_t extent, bool align)
{
    tg_ctx *cx = lo->cx;
    int64_t period = align ? 2 * (extent - 1) : 2 * extent; /* edges at 0 and W - 1, or at -0.5 and W - 0.5 */
    if (period == 0) return tg_ix(lo, 0);
    tg_expr p = tg_block_let(b, "p", tg_floormodi(cx, i, period));
    return tg_min(cx, p, tg_sub(cx, tg_ix(lo, align ? period : period - 1), p));
}

typedef struct tap {
    tg_expr at, weight, inside;
} tap;

/* Pixel @p i of an axis, with what padding does when it lies outside. */
static tap make_tap(tg_lower *lo, tg_block_build *b, const grid *g, int axis, tg_expr i, tg_expr weight)
{
    tg_ctx *cx = lo->cx;
    tap t = { .weight = weight };
    if (g->padding == ZEROS) t.inside = tg_within(cx, i, 0, g->in[axis]);
    if (g->padding == REFLECTION) i = reflected(lo, b, i, g->in[axis], g->align);
    t.at = g->padding == BORDER ? tg_clamp(cx, i, 0, g->in[axis] - 1) : i;
    return t;
}

/* ((A·d - 5A)·d + 8A)·d - 4A for 1 <= d < 2, ((A+2)·d - (A+3))·d² + 1 for d < 1; A = -0.75 */
static tg_expr cubic_weight(tg_lower *lo, tg_expr t, int k)
{
    tg_ctx *cx = lo->cx;
    const double a = -0.75;
    tg_expr d = k == 0 ? tg_add(cx, t, f32(lo, 1)) : k == 1 ? t : tg_sub(cx, f32(lo, k - 1), t);
    if (k == 1 || k == 2) {
        tg_expr inner = tg_sub(cx, tg_mul(cx, f32(lo, a + 2), d), f32(lo, a + 3));
        return tg_add(cx, tg_mul(cx, tg_mul(cx, inner, d), d), f32(lo, 1));
    }
    tg_expr outer = tg_add(cx, tg_mul(cx, tg_sub(cx, tg_mul(cx, f32(lo, a), d), f32(lo, 5 * a)), d), f32(lo, 8 * a));
    return tg_sub(cx, tg_mul(cx, outer, d), f32(lo, 4 * a));
}

static int axis_taps(tg_lower *lo, tg_block_build *b, const grid *g, int axis, tg_expr v, tap *out)
{
    tg_ctx *cx = lo->cx;
    if (g->nearest) {
        out[0] =
            make_tap(lo, b, g, axis, tg_block_let(b, "i", tg_to(cx, lo->index, tg_call1(cx, "nearbyint", v))), NULL);
        return 1;
    }
    tg_expr whole = tg_block_let(b, "whole", tg_call1(cx, "floor", v)), t = tg_block_let(b, "t", tg_sub(cx, v, whole));
    tg_expr first = tg_block_let(b, "i", tg_to(cx, lo->index, whole));
    if (!g->cubic) {
        out[0] = make_tap(lo, b, g, axis, first, tg_block_let(b, "weight", tg_sub(cx, f32(lo, 1), t)));
        out[1] = make_tap(lo, b, g, axis, tg_addi(cx, first, 1), t);
        return 2;
    }
    for (int k = 0; k < 4; ++k)
        out[k] = make_tap(lo, b, g, axis, tg_addi(cx, first, k - 1), tg_block_let(b, "weight", cubic_weight(lo, t, k)));
    return 4;
}

static tg_expr sample(tg_lower *lo, const grid *g, tap (*taps)[4], const int *n, int axis, tg_at *at, tg_expr inside)
{
    tg_ctx *cx = lo->cx;
    if (axis >= g->n || axis >= 3) {
        tg_expr x = tg_to(cx, TG_FLOAT32, tg_in(lo, 0, at));
        return tg_guarded(cx, inside, x, f32(lo, 0));
    }
    tg_expr sum = NULL;
    for (int k = 0; k < n[axis]; ++k) {
        const tap *t = &taps[axis][k];
        at->ix[2 + axis] = t->at;
        tg_expr x = sample(lo, g, taps, n, axis + 1, at, t->inside != NULL ? tg_and(cx, inside, t->inside) : inside);
        x = t->weight != NULL ? tg_mul(cx, x, t->weight) : x;
        sum = sum == NULL ? x : tg_add(cx, sum, x);
    }
    return sum;
}

bool tg_lower_grid_sample(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    grid g;
    tap taps[3][4];
    int n[3];
    tg_at to, from;
    if (!read_grid(cx, op, call, call->kid[0]->type, &g)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    for (int i = 0; i < g.n; ++i) {
        tg_at p = to;
        p.ix[1] = tg_ix(lo, g.n - 1 - i); /* the grid holds x, y[, z] */
        tg_expr c = tg_to(cx, TG_FLOAT32, tg_in(lo, 1, &p)), one = f32(lo, 1);
        tg_expr v = g.align ? tg_mul(cx, tg_add(cx, c, one), f32(lo, (double)(g.in[i] - 1) / 2))
                            : tg_sub(cx, tg_mul(cx, tg_add(cx, c, one), f32(lo, (double)g.in[i] / 2)), f32(lo, 0.5));
        n[i] = axis_taps(lo, b, &g, i, tg_block_let(b, i == g.n - 1 ? "x" : i == g.n - 2 ? "y" : "z", v), taps[i]);
    }
    from = to;
    tg_put(b, lo->out[0], sample(lo, &g, taps, n, 0, &from, NULL), &to);
    return true;
}

/* ---- affine_grid ---- */

const tg_type *tg_type_affine_grid(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_of_rank(cx, call, 0, 3);
    int64_t size[2];
    int n = tg_attr_ints(cx, op, call, "target_shape", size, 2);
    if (t == NULL || n < 0 || !tg_want_float(cx, call, 0)) return NULL;
    if (n != 2 || t->dim[1] != 2 || t->dim[2] != 3)
        return tg_arg_error(cx, call, 0, "theta must be (N, 2, 3) and target_shape [height, width]");
    int64_t dim[4] = { t->dim[0], 2, size[0], size[1] };
    return tg_tensor_of(cx, call, t->dtype, 4, dim);
}

bool tg_lower_affine_grid(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    DLDataType d = tg_compute_dtype(lo->out[0]->dtype);
    tg_expr along[2];
    for (uint32_t k = 0; k < 2; ++k) { /* y, x */
        int64_t n = tg_extent(lo->out[0], 2 + k);
        double step = n > 1 ? (2.0 - 1e-7) / (double)(n - 1) : 0;
        along[k] = tg_block_let(
            b, k == 0 ? "y" : "x",
            tg_add(cx, tg_float(cx, d, -1), tg_mul(cx, tg_to(cx, d, at.ix[2 + k]), tg_float(cx, d, step))));
    }
    tg_at p = { 3, { at.ix[0], at.ix[1], NULL } };
    tg_expr term[3];
    for (int64_t k = 0; k < 3; ++k) {
        p.ix[2] = tg_ix(lo, k);
        term[k] = tg_in(lo, 0, &p);
    }
    tg_expr sum = tg_add(cx, tg_mul(cx, term[0], along[1]), tg_mul(cx, term[1], along[0]));
    tg_put(b, lo->out[0], tg_add(cx, sum, term[2]), &at);
    return true;
}

/* ---- crop_and_resize ---- */

static bool read_crop(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t *size, int *h, int *w, int *c)
{
    tg_layout l;
    const char *method = tg_attr_str(cx, op, call, "method");
    int n = tg_attr_ints(cx, op, call, "crop_size", size, 2);
    if (n < 0 || !tg_layout_parse(cx, call, tg_attr_str(cx, op, call, "layout"), &l)) return false;
    if (n != 2 || size[0] < 1 || size[1] < 1)
        return tg_op_error(cx, call, "crop_size must be two positive numbers") != NULL;
    *h = tg_layout_find(&l, 'H');
    *w = tg_layout_find(&l, 'W');
    *c = tg_layout_find(&l, 'C');
    if (l.n != 4 || *h < 0 || *w < 0 || *c < 0 || tg_layout_find(&l, 'N') != 0)
        return tg_op_error(cx, call, "layout must be NCHW or NHWC") != NULL;
    return strcmp(method, "bilinear") == 0 || strcmp(method, "nearest_neighbor") == 0 ||
           tg_op_error(cx, call, "unknown method \"%s\"", method) != NULL;
}

const tg_type *tg_type_crop_and_resize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4), *boxes = tg_arg_of_rank(cx, call, 1, 2),
                  *which = tg_arg_of_rank(cx, call, 2, 1);
    int64_t size[2], dim[4];
    int h, w, c;
    if (x == NULL || boxes == NULL || which == NULL || !tg_want_float(cx, call, 1) || !tg_want_int(cx, call, 2) ||
        !read_crop(cx, op, call, size, &h, &w, &c))
        return NULL;
    if (boxes->dim[1] != 4 || boxes->dim[0] != which->dim[0])
        return tg_arg_error(cx, call, 1, "boxes must be (%lld, 4)", (long long)which->dim[0]);
    if (x->dim[h] < 1 || x->dim[w] < 1 || x->dim[0] < 1) return tg_arg_error(cx, call, 0, "the image is empty");
    dim[0] = boxes->dim[0];
    dim[c] = x->dim[c];
    dim[h] = size[0];
    dim[w] = size[1];
    return tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "out_dtype", x->dtype), 4, dim);
}

/* The source coordinate along one axis: box side begin..end of the image, @p t samples. */
static tg_expr crop_coordinate(tg_lower *lo, tg_expr box, tg_expr i, int64_t begin, int64_t in, int64_t t)
{
    tg_ctx *cx = lo->cx;
    tg_at p = { 2, { box, tg_ix(lo, begin) } }, q = { 2, { box, tg_ix(lo, begin + 2) } };
    tg_expr y1 = tg_to(cx, TG_FLOAT32, tg_in(lo, 1, &p)), y2 = tg_to(cx, TG_FLOAT32, tg_in(lo, 1, &q)),
            most = f32(lo, (double)(in - 1));
    if (t == 1) return tg_mul(cx, tg_mul(cx, f32(lo, 0.5), tg_add(cx, y1, y2)), most);
    tg_expr step = tg_div(cx, tg_mul(cx, tg_sub(cx, y2, y1), most), f32(lo, (double)(t - 1)));
    return tg_add(cx, tg_mul(cx, y1, most), tg_mul(cx, tg_to(cx, TG_FLOAT32, i), step));
}

bool tg_lower_crop_and_resize(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    int64_t size[2];
    int axis[2], c;
    tg_at to, from;
    if (!read_crop(cx, op, call, size, &axis[0], &axis[1], &c)) return false;
    bool nearest = tg_attr_str(cx, op, call, "method")[0] == 'n';
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_at one = { 1, { to.ix[0] } };
    from = to;
    from.ix[0] = tg_block_let(b, "image",
                              tg_index(lo, tg_clamp(cx, tg_position(lo, tg_in(lo, 2, &one)), 0, tg_extent(x, 0) - 1)));
    tg_expr inside = NULL, low[2], high[2], t[2];
    for (int k = 0; k < 2; ++k) {
        int64_t in = tg_extent(x, (uint32_t)axis[k]);
        tg_expr v = tg_block_let(b, k == 0 ? "y" : "x", crop_coordinate(lo, to.ix[0], to.ix[axis[k]], k, in, size[k]));
        inside = tg_and(cx, inside, tg_and(cx, tg_ge(cx, v, f32(lo, 0)), tg_le(cx, v, f32(lo, (double)(in - 1)))));
        tg_expr whole = tg_block_let(b, "whole", tg_call1(cx, nearest ? "round" : "floor", v));
        tg_expr first = tg_to(cx, lo->index, whole);
        low[k] = tg_block_let(b, "low", tg_clamp(cx, first, 0, in - 1));
        high[k] = nearest ? low[k] : tg_block_let(b, "high", tg_clamp(cx, tg_addi(cx, first, 1), 0, in - 1));
        t[k] = nearest ? NULL : tg_block_let(b, "t", tg_sub(cx, v, whole));
    }
    tg_expr rows[2];
    for (int k = 0; k < (nearest ? 1 : 2); ++k) {
        from.ix[axis[0]] = k == 0 ? low[0] : high[0];
        from.ix[axis[1]] = low[1];
        rows[k] = tg_to(cx, TG_FLOAT32, tg_in(lo, 0, &from));
        if (nearest) continue;
        from.ix[axis[1]] = high[1];
        tg_expr right = tg_to(cx, TG_FLOAT32, tg_in(lo, 0, &from));
        rows[k] = tg_add(cx, tg_mul(cx, rows[k], tg_sub(cx, f32(lo, 1), t[1])), tg_mul(cx, right, t[1]));
    }
    tg_expr v =
        nearest ? rows[0] : tg_add(cx, tg_mul(cx, rows[0], tg_sub(cx, f32(lo, 1), t[0])), tg_mul(cx, rows[1], t[0]));
    tg_put(b, lo->out[0], tg_guarded(cx, inside, v, f32(lo, tg_attr_float(cx, op, call, "extrapolation_value"))), &to);
    return true;
}
