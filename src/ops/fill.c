/* fill.c: tensors made rather than moved: zeros, ranges, one-hot, shapes; masks and diagonals. */
#include "build.h"

#include <math.h>
#include <string.h>

/* ---- zeros, ones, full ---- */

static bool read_shape(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t *n, int64_t *dim)
{
    int count = tg_attr_ints(cx, op, call, "shape", dim, TG_MAX_NDIM);
    *n = count < 0 ? 0 : (uint32_t)count;
    return count >= 0;
}

const tg_type *tg_type_zeros(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    int64_t dim[TG_MAX_NDIM];
    uint32_t n;
    return read_shape(cx, op, call, &n, dim)
               ? tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "dtype", TG_FLOAT32), n, dim)
               : NULL;
}

bool tg_lower_zeros(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)call;
    return tg_fill_block(lo, NULL, lo->out[0], tg_const(lo->cx, lo->out[0]->dtype, strcmp(op->name, "ones") == 0));
}

const tg_type *tg_type_full(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *v = tg_arg_of_rank(cx, call, 0, 0);
    int64_t dim[TG_MAX_NDIM];
    uint32_t n;
    if (v == NULL || !read_shape(cx, op, call, &n, dim)) return NULL;
    return tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "dtype", v->dtype), n, dim);
}

/* ---- arange: start + i·step, as many as the constants say ---- */

const tg_type *tg_type_arange(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    double v[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const tg_type *t = tg_arg_tensor(cx, call, i);
        int64_t n;
        if (t == NULL) return NULL;
        if (call->kid[i]->kind != TG_RCONST || !tg_type_elements(t, &n) || n != 1)
            return tg_arg_error(cx, call, i, "%s decides the shape of the result and must be a constant number",
                                tg_op_arg_name(cx, op, i)->text);
        v[i] = tg_tensor_f64(call->kid[i]->u.tensor, 0);
    }
    double count = ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || isnan(count) || count > (double)TG_MAX_ELEMENTS)
        return tg_op_error(cx, call, "from %g to %g by %g there is no finite number of steps", v[0], v[1], v[2]);
    int64_t dim = count > 0 ? (int64_t)count : 0;
    return tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "dtype", call->kid[0]->type->dtype), 1, &dim);
}

bool tg_lower_arange(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr start = tg_in0(lo, 0), step = tg_in0(lo, 2), i = tg_to(cx, tg_dtype_of(start), at.ix[0]);
    tg_put(b, lo->out[0], tg_add(cx, start, tg_mul(cx, i, tg_to(cx, tg_dtype_of(start), step))), &at);
    return true;
}

/* ---- one_hot ---- */

const tg_type *tg_type_one_hot(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t depth = tg_attr_int(cx, op, call, "depth"), dim[TG_MAX_NDIM + 1];
    uint32_t axis;
    if (t == NULL || !tg_want_int(cx, call, 0) || tg_arg_of_rank(cx, call, 1, 0) == NULL ||
        tg_arg_of_rank(cx, call, 2, 0) == NULL || !tg_same_dtype(cx, call, 1, 2) ||
        !tg_attr_axis(cx, op, call, "axis", t->n + 1, &axis))
        return NULL;
    if (depth < 0) return tg_op_error(cx, call, "a depth of %lld is not possible", (long long)depth);
    for (uint32_t k = 0; k <= t->n; ++k) dim[k] = k < axis ? t->dim[k] : k == axis ? depth : t->dim[k - 1];
    return tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "dtype", call->kid[1]->type->dtype), t->n + 1, dim);
}

bool tg_lower_one_hot(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    tg_at at, from = { 0 };
    uint32_t axis;
    if (!tg_attr_axis(cx, op, call, "axis", out->ndim, &axis)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &at);
    for (uint32_t k = 0; k < at.n; ++k)
        if (k != axis) tg_at_push(&from, at.ix[k]);
    tg_expr i = tg_in(lo, 0, &from), hit = tg_eq(cx, i, tg_to(cx, tg_dtype_of(i), at.ix[axis]));
    if (tg_dtype_of(i).bits < 32 && tg_extent(out, axis) > 127) /* the depth may not fit the index type */
        hit = tg_eq(cx, tg_to(cx, lo->index, i), at.ix[axis]);
    tg_put(b, out, tg_choose(cx, hit, tg_in0(lo, 1), tg_in0(lo, 2)), &at);
    return true;
}

/* ---- shape_of, ndarray_size ---- */

const tg_type *tg_type_shape_of(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t n = t != NULL ? (int64_t)t->n : 0;
    return t != NULL ? tg_tensor_type(cx, tg_attr_dtype(cx, op, call, "dtype", TG_INT32), 1, &n, 0) : NULL;
}

bool tg_lower_shape_of(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_at at;
    for (uint32_t k = 0; k < lo->in[0]->ndim; ++k) { /* one store an extent */
        tg_block_build *b = tg_begin(lo, NULL);
        at = (tg_at){ 1, { tg_ix(lo, k) } };
        tg_put(b, lo->out[0], tg_int(lo->cx, lo->out[0]->dtype, tg_extent(lo->in[0], k)), &at);
    }
    return true;
}

const tg_type *tg_type_ndarray_size(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    return t != NULL ? tg_tensor_type(cx, tg_attr_dtype(cx, op, call, "dtype", TG_INT32), 0, NULL, 0) : NULL;
}

bool tg_lower_ndarray_size(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    int64_t n = 0;
    tg_type_elements(call->kid[0]->type, &n);
    DLDataType d = lo->out[0]->dtype;
    return tg_fill_block(lo, NULL, lo->out[0], tg_is_float(d) ? tg_float(lo->cx, d, (double)n) : tg_int(lo->cx, d, n));
}

/* ---- trilu: the upper or lower triangle about diagonal k ---- */

const tg_type *tg_type_trilu(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    if (t == NULL || tg_arg_of_rank(cx, call, 1, 0) == NULL || !tg_want_int(cx, call, 1)) return NULL;
    return t->n < 2 ? tg_arg_error(cx, call, 0, "the data has %u dimensions, at least 2 are needed", t->n) : t;
}

bool tg_lower_trilu(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr k = tg_in0(lo, 1), d = tg_to(cx, tg_dtype_of(k), tg_sub(cx, at.ix[at.n - 1], at.ix[at.n - 2]));
    tg_expr keep = tg_attr_bool(cx, op, call, "upper") ? tg_ge(cx, d, k) : tg_le(cx, d, k);
    tg_expr x = tg_in(lo, 0, &at);
    tg_put(b, lo->out[0], tg_choose(cx, keep, x, tg_num(cx, x, 0)), &at);
    return true;
}

/* ---- matrix_set_diag ---- */

typedef struct diagonals {
    int64_t k1, k2, rows, cols, longest;
    bool super_right, sub_right;
} diagonals;

static bool read_diagonals(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, diagonals *g)
{
    *g = (diagonals){ .k1 = tg_attr_int(cx, op, call, "k1"),
                      .k2 = tg_attr_int(cx, op, call, "k2"),
                      .rows = t->dim[t->n - 2],
                      .cols = t->dim[t->n - 1],
                      .super_right = tg_attr_bool(cx, op, call, "super_diag_right_align"),
                      .sub_right = tg_attr_bool(cx, op, call, "sub_diag_right_align") };
    if (g->k1 > g->k2 || g->k1 <= -g->rows || g->k2 >= g->cols)
        return tg_op_error(cx, call, "diagonals %lld to %lld do not lie in a matrix of %lld x %lld", (long long)g->k1,
                           (long long)g->k2, (long long)g->rows, (long long)g->cols) != NULL;
    int64_t below = g->rows + (g->k2 < 0 ? g->k2 : 0), right = g->cols - (g->k1 > 0 ? g->k1 : 0);
    g->longest = below < right ? below : right;
    return true;
}

const tg_type *tg_type_matrix_set_diag(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *d = tg_arg_tensor(cx, call, 1);
    diagonals g;
    if (t == NULL || d == NULL || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    if (t->n < 2) return tg_arg_error(cx, call, 0, "the data has %u dimensions, at least 2 are needed", t->n);
    if (!read_diagonals(cx, op, call, t, &g)) return NULL;
    bool one = g.k1 == g.k2, fits = d->n == t->n - (one ? 1 : 0) && d->n >= 1 && d->dim[d->n - 1] == g.longest &&
                                    (one || d->dim[d->n - 2] == g.k2 - g.k1 + 1);
    for (uint32_t k = 0; fits && k + 2 < t->n; ++k) fits = t->dim[k] == d->dim[k];
    return fits ? t
                : tg_arg_error(cx, call, 1, "the diagonals need %lld rows of %lld values", (long long)(g.k2 - g.k1 + 1),
                               (long long)g.longest);
}

/* Where diagonal k's values begin in their row of g->longest: right-aligned ones leave a gap before. */
static tg_expr aligned(tg_lower *lo, const diagonals *g, tg_expr k)
{
    tg_ctx *cx = lo->cx;
    if (g->k1 == g->k2 || (!g->super_right && !g->sub_right)) return tg_ix(lo, 0);
    tg_expr zero = tg_ix(lo, 0);
    tg_expr below = tg_add(cx, tg_ix(lo, g->rows), tg_min(cx, k, zero)),
            right = tg_sub(cx, tg_ix(lo, g->cols), tg_max(cx, k, zero));
    tg_expr gap = tg_sub(cx, tg_ix(lo, g->longest), tg_min(cx, below, right));
    tg_expr super = g->super_right ? gap : zero, sub = g->sub_right ? gap : zero;
    return tg_choose(cx, tg_ge(cx, k, zero), super, sub);
}

bool tg_lower_matrix_set_diag(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    diagonals g;
    tg_at at, from;
    if (!read_diagonals(cx, op, call, call->kid[0]->type, &g)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr row = at.ix[at.n - 2], col = at.ix[at.n - 1], k = tg_block_let(b, "k", tg_sub(cx, col, row));
    tg_expr along = tg_min(cx, row, col); /* position on the diagonal */
    from = at;
    from.n = lo->in[1]->ndim;
    from.ix[from.n - 1] = tg_add(cx, along, aligned(lo, &g, k));
    if (g.k1 != g.k2) from.ix[from.n - 2] = tg_sub(cx, tg_ix(lo, g.k2), k);
    tg_expr on = tg_and(cx, tg_ge(cx, k, tg_ix(lo, g.k1)), tg_le(cx, k, tg_ix(lo, g.k2)));
    tg_put(b, lo->out[0], tg_guarded(cx, on, tg_in_raw(lo, 1, &from), tg_in_raw(lo, 0, &at)), &at);
    return true;
}

/* ---- sequence_mask ---- */

const tg_type *tg_type_sequence_mask(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *len = tg_arg_of_rank(cx, call, 1, 1);
    uint32_t axis;
    if (t == NULL || len == NULL || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    if (t->n < 2 || axis > 1) return tg_op_error(cx, call, "axis must be 0 or 1 of at least 2 dimensions");
    if (len->dim[0] != t->dim[1 - axis])
        return tg_arg_error(cx, call, 1, "%lld lengths for %lld batches", (long long)len->dim[0],
                            (long long)t->dim[1 - axis]);
    return t;
}

bool tg_lower_sequence_mask(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    tg_at at, one = { 1, { NULL } };
    uint32_t axis;
    if (!tg_attr_axis(cx, op, call, "axis", lo->out[0]->ndim, &axis)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    one.ix[0] = at.ix[1 - axis];
    tg_expr len = tg_in(lo, 1, &one), x = tg_in(lo, 0, &at);
    tg_expr masked = tg_ge(cx, tg_to(cx, tg_dtype_of(len), at.ix[axis]), len);
    tg_put(b, lo->out[0], tg_choose(cx, masked, tg_num(cx, x, tg_attr_float(cx, op, call, "mask_value")), x), &at);
    return true;
}

/* ---- fifo_buffer: the last extents of (buffer, data) ---- */

const tg_type *tg_type_fifo_buffer(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *buf = tg_arg_tensor(cx, call, 1);
    uint32_t axis;
    if (x == NULL || buf == NULL || !tg_same_dtype(cx, call, 0, 1) ||
        !tg_attr_axis(cx, op, call, "axis", buf->n, &axis))
        return NULL;
    bool fits = x->n == buf->n && x->dim[axis] <= buf->dim[axis];
    for (uint32_t k = 0; fits && k < x->n; ++k) fits = k == axis || x->dim[k] == buf->dim[k];
    return fits ? buf : tg_arg_error(cx, call, 0, "the data does not fit the buffer");
}

bool tg_lower_fifo_buffer(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    uint32_t axis;
    if (!tg_attr_axis(cx, op, call, "axis", lo->out[0]->ndim, &axis)) return false;
    tg_at at, old, fresh;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    int64_t added = tg_extent(lo->in[0], axis), kept = tg_extent(lo->in[1], axis) - added;
    old = fresh = at;
    old.ix[axis] = tg_addi(cx, at.ix[axis], added);
    fresh.ix[axis] = tg_addi(cx, at.ix[axis], -kept);
    tg_expr is_old = tg_lt(cx, at.ix[axis], tg_ix(lo, kept));
    tg_put(b, lo->out[0], tg_guarded(cx, is_old, tg_in_raw(lo, 1, &old), tg_in_raw(lo, 0, &fresh)), &at);
    return true;
}
