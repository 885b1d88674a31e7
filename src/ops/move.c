/* move.c: elements moved along axes: transpose, concatenate, split, tile, repeat, reverse, broadcast. */
#include "build.h"

#include <string.h>

/* ---- transpose ---- */

static bool read_axes(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t ndim, uint32_t *perm)
{
    int64_t axis[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "axes", axis, TG_MAX_NDIM);
    uint32_t seen = 0;
    if (n < 0) return false;
    if (tg_attr_is_none(cx, op, call, "axes") || (n == 0 && ndim > 0)) {
        for (uint32_t k = 0; k < ndim; ++k) perm[k] = ndim - 1 - k;
        return true;
    }
    if ((uint32_t)n != ndim)
        return tg_arg_error(cx, call, 0, "axes has %d values, the data %u dimensions", n, ndim) != NULL;
    for (int i = 0; i < n; ++i) {
        if (!tg_axis_of(cx, call, axis[i], ndim, &perm[i])) return false;
        if (seen >> perm[i] & 1) return tg_op_error(cx, call, "axes names axis %u twice", perm[i]) != NULL;
        seen |= 1u << perm[i];
    }
    return true;
}

const tg_type *tg_type_transpose(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t perm[TG_MAX_NDIM], wide = 0;
    int64_t dim[TG_MAX_NDIM];
    if (t == NULL || !read_axes(cx, op, call, t->n, perm)) return NULL;
    for (uint32_t k = 0; k < t->n; ++k) {
        dim[k] = t->dim[perm[k]];
        wide |= (t->wide >> perm[k] & 1) << k;
    }
    return tg_tensor_type(cx, t->dtype, t->n, dim, wide);
}

bool tg_lower_transpose(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t perm[TG_MAX_NDIM];
    tg_at to, from = { .n = lo->out[0]->ndim };
    if (!read_axes(lo->cx, op, call, from.n, perm)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    for (uint32_t k = 0; k < to.n; ++k) from.ix[perm[k]] = to.ix[k];
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- concatenate, stack, split ---- */

/* The fields of the tuple agree but along axis @p free (none: UINT32_MAX). */
static bool fields_agree(tg_ctx *cx, const tg_node *call, const tg_type *tuple, uint32_t free)
{
    const tg_type *first = tuple->field[0];
    for (uint32_t i = 1; i < tuple->n; ++i) {
        const tg_type *t = tuple->field[i];
        bool same = t->n == first->n && tg_dtype_eq(t->dtype, first->dtype);
        for (uint32_t k = 0; same && k < t->n; ++k) same = k == free || t->dim[k] == first->dim[k];
        if (!same)
            return tg_arg_error(cx, call, 0, "field %u is %s, which does not fit %s", i, tg_type_text(cx, t),
                                tg_type_text(cx, first)) != NULL;
    }
    return true;
}

static const tg_type *tuple_of_some(tg_ctx *cx, const tg_node *call)
{
    const tg_type *t = tg_arg_tuple(cx, call, 0);
    return t != NULL && t->n == 0 ? tg_arg_error(cx, call, 0, "the tuple is empty") : t;
}

const tg_type *tg_type_concatenate(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tuple_of_some(cx, call);
    int64_t dim[TG_MAX_NDIM], sum = 0;
    uint32_t axis;
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->field[0]->n, &axis) || !fields_agree(cx, call, t, axis))
        return NULL;
    for (uint32_t i = 0; i < t->n; ++i)
        if (!tg_add_fits(sum, t->field[i]->dim[axis], &sum)) return tg_op_error(cx, call, "the result is too large");
    memcpy(dim, t->field[0]->dim, t->field[0]->n * sizeof dim[0]);
    dim[axis] = sum;
    return tg_tensor_type(cx, t->field[0]->dtype, t->field[0]->n, dim, t->field[0]->wide);
}

/* One block an input, each into its part of the result. */
bool tg_lower_concatenate(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t axis;
    int64_t offset = 0;
    if (!tg_attr_axis(lo->cx, op, call, "axis", lo->out[0]->ndim, &axis)) return false;
    for (uint32_t i = 0; i < lo->nin; ++i) {
        tg_at from, to;
        tg_block_build *b = tg_begin_over(lo, NULL, lo->in[i], &from);
        to = from;
        to.ix[axis] = tg_addi(lo->cx, from.ix[axis], offset);
        tg_put(b, lo->out[0], tg_in_raw(lo, i, &from), &to);
        offset += tg_extent(lo->in[i], axis);
    }
    return true;
}

const tg_type *tg_type_stack(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tuple_of_some(cx, call);
    int64_t dim[TG_MAX_NDIM + 1];
    uint32_t axis;
    if (t == NULL || !fields_agree(cx, call, t, UINT32_MAX) ||
        !tg_attr_axis(cx, op, call, "axis", t->field[0]->n + 1, &axis))
        return NULL;
    for (uint32_t k = 0; k <= t->field[0]->n; ++k)
        dim[k] = k < axis ? t->field[0]->dim[k] : k == axis ? (int64_t)t->n : t->field[0]->dim[k - 1];
    return tg_tensor_of(cx, call, t->field[0]->dtype, t->field[0]->n + 1, dim);
}

bool tg_lower_stack(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t axis;
    if (!tg_attr_axis(lo->cx, op, call, "axis", lo->out[0]->ndim, &axis)) return false;
    for (uint32_t i = 0; i < lo->nin; ++i) {
        tg_at from, to = { .n = lo->out[0]->ndim };
        tg_block_build *b = tg_begin_over(lo, NULL, lo->in[i], &from);
        for (uint32_t k = 0; k < to.n; ++k)
            to.ix[k] = k < axis ? from.ix[k] : k == axis ? tg_ix(lo, (int64_t)i) : from.ix[k - 1];
        tg_put(b, lo->out[0], tg_in_raw(lo, i, &from), &to);
    }
    return true;
}

enum { MAX_PARTS = 65536 };

/* Where the parts of a split begin, and the extent after the last. @return their number, or -1 after an error. */
static int read_points(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t extent, int64_t **out)
{
    const tg_value *v = tg_attr(cx, op, call, "indices_or_sections");
    bool list = v->kind == TG_V_LIST;
    int64_t parts = list ? (int64_t)v->n + 1 : tg_attr_int(cx, op, call, "indices_or_sections");
    if (parts < 1 || parts > MAX_PARTS || (!list && extent % parts != 0)) {
        tg_arg_error(cx, call, 0, "extent %lld does not divide into %lld equal parts", (long long)extent,
                     (long long)parts);
        return -1;
    }
    int64_t *point = *out = TG_ARRAY(cx, int64_t, parts + 1);
    for (int64_t i = 0; !list && i < parts; ++i) point[i] = i * (extent / parts);
    if (list && tg_attr_ints(cx, op, call, "indices_or_sections", point + 1, (int)v->n) < 0) return -1;
    point[parts] = extent;
    for (int64_t i = 0; i < parts; ++i) {
        if (point[i] > point[i + 1]) {
            tg_arg_error(cx, call, 0, "cut points must rise from 0 to %lld", (long long)extent);
            return -1;
        }
    }
    return (int)parts;
}

const tg_type *tg_type_split(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    int64_t *point, dim[TG_MAX_NDIM];
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    int n = read_points(cx, op, call, t->dim[axis], &point);
    if (n < 0) return NULL;
    const tg_type **field = TG_ARRAY(cx, const tg_type *, n);
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    for (int i = 0; i < n; ++i) {
        dim[axis] = point[i + 1] - point[i];
        field[i] = tg_tensor_type(cx, t->dtype, t->n, dim, t->wide);
    }
    return tg_tuple_type(cx, (uint32_t)n, field);
}

bool tg_lower_split(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t axis;
    int64_t offset = 0;
    if (!tg_attr_axis(lo->cx, op, call, "axis", lo->in[0]->ndim, &axis)) return false;
    for (uint32_t i = 0; i < lo->nout; ++i) {
        tg_at from, to;
        tg_block_build *b = tg_begin_over(lo, NULL, lo->out[i], &to);
        from = to;
        from.ix[axis] = tg_addi(lo->cx, to.ix[axis], offset);
        tg_put(b, lo->out[i], tg_in_raw(lo, 0, &from), &to);
        offset += tg_extent(lo->out[i], axis);
    }
    return true;
}

/* ---- tile, repeat, reverse ---- */

const tg_type *tg_type_tile(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t reps[TG_MAX_NDIM], dim[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "reps", reps, TG_MAX_NDIM);
    if (t == NULL || n < 0) return NULL;
    uint32_t rank = (uint32_t)n > t->n ? (uint32_t)n : t->n;
    for (uint32_t k = 0; k < rank; ++k) { /* k counts from the right */
        int64_t d = k < t->n ? t->dim[t->n - 1 - k] : 1, r = k < (uint32_t)n ? reps[n - 1 - (int)k] : 1;
        if (r < 0 || !tg_mul_fits(d, r, &dim[rank - 1 - k]))
            return tg_op_error(cx, call, "%lld is not a possible number of repetitions", (long long)r);
    }
    return tg_tensor_of(cx, call, t->dtype, rank, dim);
}

bool tg_lower_tile(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    const tg_buffer *x = lo->in[0], *out = lo->out[0];
    tg_at to, from = { 0 };
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    for (uint32_t k = 0; k < x->ndim; ++k) {
        uint32_t at = out->ndim - x->ndim + k;
        bool once = tg_extent(x, k) == tg_extent(out, at);
        tg_at_push(&from, once || tg_extent(x, k) == 0 ? to.ix[at] : tg_floormodi(lo->cx, to.ix[at], tg_extent(x, k)));
    }
    tg_put(b, out, tg_in_raw(lo, 0, &from), &to);
    return true;
}

const tg_type *tg_type_repeat(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t r = tg_attr_int(cx, op, call, "repeats"), dim[TG_MAX_NDIM] = { 0 };
    uint32_t axis = 0;
    if (t == NULL) return NULL;
    if (r < 0) return tg_op_error(cx, call, "%lld is not a possible number of repetitions", (long long)r);
    if (tg_attr_is_none(cx, op, call, "axis")) {
        if (!tg_type_elements(t, &dim[0]) || !tg_mul_fits(dim[0], r, &dim[0]))
            return tg_op_error(cx, call, "the result is too large");
        return tg_tensor_of(cx, call, t->dtype, 1, dim);
    }
    if (!tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    if (!tg_mul_fits(dim[axis], r, &dim[axis])) return tg_op_error(cx, call, "the result is too large");
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

bool tg_lower_repeat(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    int64_t r = tg_attr_int(cx, op, call, "repeats"), dim[TG_MAX_NDIM];
    tg_at to, from = { .n = x->ndim };
    uint32_t axis = 0;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    if (r < 1) r = 1; /* an empty result: never evaluated */
    if (tg_attr_is_none(cx, op, call, "axis")) {
        tg_buffer_dims(x, dim);
        tg_unravel(cx, tg_floordivi(cx, to.ix[0], r), x->ndim, dim, from.ix);
    } else {
        if (!tg_attr_axis(cx, op, call, "axis", x->ndim, &axis)) return false;
        from = to;
        from.ix[axis] = tg_floordivi(cx, to.ix[axis], r);
    }
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

const tg_type *tg_type_reverse(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    return t != NULL && tg_attr_axis(cx, op, call, "axis", t->n, &axis) ? t : NULL;
}

bool tg_lower_reverse(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_at to, from;
    uint32_t axis;
    if (!tg_attr_axis(lo->cx, op, call, "axis", lo->out[0]->ndim, &axis)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    from = to;
    from.ix[axis] = tg_sub(lo->cx, tg_ix(lo, tg_extent(lo->out[0], axis) - 1), to.ix[axis]);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

const tg_type *tg_type_reverse_sequence(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *len = tg_arg_of_rank(cx, call, 1, 1);
    uint32_t seq, batch;
    if (t == NULL || len == NULL || !tg_want_int(cx, call, 1) || !tg_attr_axis(cx, op, call, "seq_axis", t->n, &seq) ||
        !tg_attr_axis(cx, op, call, "batch_axis", t->n, &batch))
        return NULL;
    if (len->dim[0] != t->dim[batch])
        return tg_arg_error(cx, call, 1, "%lld lengths for %lld batches", (long long)len->dim[0],
                            (long long)t->dim[batch]);
    return t;
}

bool tg_lower_reverse_sequence(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    tg_at to, from, one = { 1, { NULL } };
    uint32_t seq, batch;
    if (!tg_attr_axis(cx, op, call, "seq_axis", out->ndim, &seq) ||
        !tg_attr_axis(cx, op, call, "batch_axis", out->ndim, &batch))
        return false;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    one.ix[0] = to.ix[batch];
    tg_expr s = to.ix[seq],
            len = tg_index(lo, tg_clamp(cx, tg_position(lo, tg_in(lo, 1, &one)), 0, tg_extent(out, seq)));
    len = tg_block_let(b, "len", len);
    from = to;
    from.ix[seq] = tg_choose(cx, tg_lt(cx, s, len), tg_sub(cx, tg_addi(cx, len, -1), s), s);
    tg_put(b, out, tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- broadcasting and its inverse ---- */

static const tg_type *broadcast_to(tg_ctx *cx, const tg_node *call, const tg_type *t, uint32_t n, const int64_t *dim)
{
    bool fits = n >= t->n;
    for (uint32_t k = 0; fits && k < t->n; ++k) fits = t->dim[k] == 1 || t->dim[k] == dim[n - t->n + k];
    const tg_type *r = tg_tensor_of(cx, call, t->dtype, n, dim);
    return r == NULL || fits ? r : tg_arg_error(cx, call, 0, "the data does not broadcast to %s", tg_type_text(cx, r));
}

const tg_type *tg_type_broadcast_to(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t dim[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "shape", dim, TG_MAX_NDIM);
    return t != NULL && n >= 0 ? broadcast_to(cx, call, t, (uint32_t)n, dim) : NULL;
}

const tg_type *tg_type_broadcast_to_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0), *like = tg_arg_tensor(cx, call, 1);
    return t != NULL && like != NULL ? broadcast_to(cx, call, t, like->n, like->dim) : NULL;
}

bool tg_lower_broadcast(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_put(b, lo->out[0], tg_in_bcast(lo, 0, &at), &at);
    return true;
}

static const tg_type *collapse_to(tg_ctx *cx, const tg_node *call, const tg_type *t, uint32_t n, const int64_t *dim)
{
    bool fits = n <= t->n;
    for (uint32_t k = 0; fits && k < n; ++k) fits = dim[k] == 1 || dim[k] == t->dim[t->n - n + k];
    const tg_type *r = tg_tensor_of(cx, call, t->dtype, n, dim);
    return r == NULL || fits ? r : tg_arg_error(cx, call, 0, "the data does not collapse to %s", tg_type_text(cx, r));
}

const tg_type *tg_type_collapse_sum_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0), *like = tg_arg_tensor(cx, call, 1);
    return t != NULL && like != NULL ? collapse_to(cx, call, t, like->n, like->dim) : NULL;
}

const tg_type *tg_type_collapse_sum_to(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t dim[TG_MAX_NDIM];
    int n = t != NULL ? tg_const_ints(cx, call, 1, dim, TG_MAX_NDIM) : -1;
    return n >= 0 ? collapse_to(cx, call, t, (uint32_t)n, dim) : NULL;
}

bool tg_lower_collapse_sum(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)call;
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0], *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    tg_at to, from = { .n = x->ndim };
    tg_block_build *b = tg_begin_over(lo, NULL, acc, &to);
    uint32_t lead = x->ndim - acc->ndim;
    for (uint32_t k = 0; k < x->ndim; ++k) {
        bool kept = k >= lead && tg_extent(acc, k - lead) == tg_extent(x, k);
        from.ix[k] = kept ? to.ix[k - lead] : tg_reduce(b, tg_format(cx, "r%s", tg_axis_letter(k)), tg_extent(x, k));
    }
    tg_expr old = tg_read(lo, acc, &to), v = tg_in(lo, 0, &from);
    bool logic = tg_is_bool(acc->dtype);
    tg_begin_init(b, tg_const(cx, acc->dtype, 0));
    tg_put(b, acc, logic ? tg_or(cx, old, v) : tg_add(cx, old, v), &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* ---- meshgrid ---- */

/* Where axis i of the inputs stands in the results: "xy" swaps the first two. */
static uint32_t mesh_axis(uint32_t i, uint32_t n, bool xy)
{
    return xy && n > 1 && i < 2 ? 1 - i : i;
}

const tg_type *tg_type_meshgrid(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tuple_of_some(cx, call);
    int64_t dim[TG_MAX_NDIM];
    bool xy = strcmp(tg_attr_str(cx, op, call, "indexing"), "xy") == 0;
    if (t == NULL) return NULL;
    if (t->n > TG_MAX_NDIM) return tg_op_error(cx, call, "the result has more than %d dimensions", (int)TG_MAX_NDIM);
    for (uint32_t i = 0; i < t->n; ++i) {
        if (t->field[i]->n > 1 || !tg_dtype_eq(t->field[i]->dtype, t->field[0]->dtype))
            return tg_arg_error(cx, call, 0, "fields must be of rank 0 or 1 and of one type");
        dim[mesh_axis(i, t->n, xy)] = t->field[i]->n == 0 ? 1 : t->field[i]->dim[0];
    }
    const tg_type **field = TG_ARRAY(cx, const tg_type *, t->n),
                  *r = tg_tensor_of(cx, call, t->field[0]->dtype, t->n, dim);
    for (uint32_t i = 0; i < t->n; ++i) field[i] = r;
    return r != NULL ? tg_tuple_type(cx, t->n, field) : NULL;
}

bool tg_lower_meshgrid(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    bool xy = strcmp(tg_attr_str(lo->cx, op, call, "indexing"), "xy") == 0;
    for (uint32_t i = 0; i < lo->nout; ++i) {
        tg_at to, from = { 0 };
        tg_block_build *b = tg_begin_over(lo, NULL, lo->out[i], &to);
        if (lo->in[i]->ndim == 1) tg_at_push(&from, to.ix[mesh_axis(i, lo->nin, xy)]);
        tg_put(b, lo->out[i], tg_in_raw(lo, i, &from), &to);
    }
    return true;
}
