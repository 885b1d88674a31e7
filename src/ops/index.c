/* index.c: elements chosen by index tensors: take, gather, advanced indexing, searching. */
#include "build.h"

#include <string.h>

/* ---- take ---- */

typedef struct taking {
    bool flat;
    uint32_t axis, batch;
} taking;

static bool read_take(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *x, const tg_type *i, taking *t)
{
    int64_t batch = tg_attr_int(cx, op, call, "batch_dims");
    *t = (taking){ .flat = tg_attr_is_none(cx, op, call, "axis") };
    if (t->flat) return true;
    if (!tg_attr_axis(cx, op, call, "axis", x->n, &t->axis)) return false;
    batch += batch < 0 ? (int64_t)i->n : 0;
    if (batch < 0 || batch > (int64_t)i->n || batch > (int64_t)t->axis)
        return tg_op_error(cx, call, "batch_dims %lld does not fit axis %u and indices of %u dimensions",
                           (long long)batch, t->axis, i->n) != NULL;
    t->batch = (uint32_t)batch;
    for (uint32_t k = 0; k < t->batch; ++k)
        if (x->dim[k] != i->dim[k])
            return tg_arg_error(cx, call, 1, "batch axis %u has extent %lld, the data has %lld", k,
                                (long long)i->dim[k], (long long)x->dim[k]) != NULL;
    return true;
}

/* Nothing can be taken from an axis of extent 0, unless nothing is asked for. */
static const tg_type *from_some(tg_ctx *cx, const tg_node *call, const tg_type *r, int64_t extent)
{
    int64_t n = 0;
    if (r != NULL && extent == 0 && tg_type_elements(r, &n) && n > 0)
        return tg_arg_error(cx, call, 0, "nothing can be taken from an empty axis");
    return r;
}

const tg_type *tg_type_take(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *i = tg_arg_tensor(cx, call, 1);
    const char *mode = tg_attr_str(cx, op, call, "mode");
    taking t;
    int64_t dim[3 * TG_MAX_NDIM], all = 0;
    uint32_t n = 0;
    if (x == NULL || i == NULL || !tg_want_int(cx, call, 1) || !read_take(cx, op, call, x, i, &t)) return NULL;
    if (strcmp(mode, "clip") != 0 && strcmp(mode, "wrap") != 0 && strcmp(mode, "fast") != 0)
        return tg_op_error(cx, call, "mode \"%s\" is not clip, wrap or fast", mode);
    if (t.flat) {
        tg_type_elements(x, &all);
        return from_some(cx, call, tg_tensor_of(cx, call, x->dtype, i->n, i->dim), all);
    }
    for (uint32_t k = 0; k < t.axis; ++k) dim[n++] = x->dim[k];
    for (uint32_t k = t.batch; k < i->n; ++k) dim[n++] = i->dim[k];
    for (uint32_t k = t.axis + 1; k < x->n; ++k) dim[n++] = x->dim[k];
    return from_some(cx, call, tg_tensor_of(cx, call, x->dtype, n, dim), x->dim[t.axis]);
}

/* Indices of gather and its kin are promised to lie inside. Models break that promise where a mask drops the value later, so the
 * read stays inside the data. */
static tg_expr kept_inside(tg_lower *lo, tg_expr i, int64_t d)
{
    return tg_index(lo, tg_clamp(lo->cx, tg_position(lo, i), 0, d > 0 ? d - 1 : 0));
}

/* The index brought into [0, d) as the mode says. */
static tg_expr in_range(tg_lower *lo, tg_expr i, int64_t d, const char *mode)
{
    tg_expr p = tg_position(lo, i);
    if (strcmp(mode, "clip") == 0) p = tg_clamp(lo->cx, p, 0, d - 1);
    else if (strcmp(mode, "wrap") == 0) p = tg_floormodi(lo->cx, p, d);
    return tg_index(lo, p);
}

bool tg_lower_take(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_type *x = call->kid[0]->type, *i = call->kid[1]->type;
    const char *mode = tg_attr_str(cx, op, call, "mode");
    taking t;
    tg_at to, from = { .n = x->n }, at = { 0 };
    if (!read_take(cx, op, call, x, i, &t)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    if (t.flat) {
        int64_t all = 1;
        tg_type_elements(x, &all);
        tg_expr p = tg_block_let(b, "at", in_range(lo, tg_in_raw(lo, 1, &to), all > 0 ? all : 1, mode));
        tg_unravel(cx, p, x->n, x->dim, from.ix);
        tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
        return true;
    }
    uint32_t middle = i->n - t.batch; /* axes of the result that come from the indices */
    for (uint32_t k = 0; k < t.batch; ++k) tg_at_push(&at, to.ix[k]);
    for (uint32_t k = 0; k < middle; ++k) tg_at_push(&at, to.ix[t.axis + k]);
    for (uint32_t k = 0; k < x->n; ++k) from.ix[k] = k < t.axis ? to.ix[k] : k == t.axis ? NULL : to.ix[k - 1 + middle];
    int64_t d = x->dim[t.axis];
    from.ix[t.axis] = in_range(lo, tg_in_raw(lo, 1, &at), d > 0 ? d : 1, mode);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- gather, gather_nd, adv_index ---- */

const tg_type *tg_type_gather(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *i = tg_arg_tensor(cx, call, 1);
    uint32_t axis;
    if (x == NULL || i == NULL || !tg_want_int(cx, call, 1) || !tg_attr_axis(cx, op, call, "axis", x->n, &axis))
        return NULL;
    bool fits = x->n == i->n;
    for (uint32_t k = 0; fits && k < x->n; ++k) fits = k == axis || i->dim[k] <= x->dim[k];
    if (!fits) return tg_arg_error(cx, call, 1, "the indices do not fit the data %s", tg_type_text(cx, x));
    return from_some(cx, call, tg_tensor_of(cx, call, x->dtype, i->n, i->dim), x->dim[axis]);
}

bool tg_lower_gather(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_at to, from;
    uint32_t axis;
    if (!tg_attr_axis(lo->cx, op, call, "axis", lo->in[0]->ndim, &axis)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    from = to;
    from.ix[axis] = kept_inside(lo, tg_in_raw(lo, 1, &to), tg_extent(lo->in[0], axis));
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

static bool read_batch(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *x, const tg_type *i,
                       uint32_t *batch)
{
    int64_t b = tg_attr_int(cx, op, call, "batch_dims");
    if (b < 0 || b + 1 > (int64_t)i->n || b + i->dim[0] > (int64_t)x->n)
        return tg_arg_error(cx, call, 1, "%lld batch axes and %lld coordinates do not fit data of %u dimensions",
                            (long long)b, (long long)i->dim[0], x->n) != NULL;
    *batch = (uint32_t)b;
    return true;
}

const tg_type *tg_type_gather_nd(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *i = tg_arg_tensor(cx, call, 1);
    int64_t dim[3 * TG_MAX_NDIM];
    int64_t least = 1;
    uint32_t n = 0, batch = 0;
    if (x == NULL || i == NULL || !tg_want_int(cx, call, 1)) return NULL;
    if (i->n < 1) return tg_arg_error(cx, call, 1, "the indices need a first axis that holds the coordinates");
    if (!read_batch(cx, op, call, x, i, &batch)) return NULL;
    for (uint32_t k = 0; k < batch; ++k)
        if (i->dim[k + 1] != x->dim[k])
            return tg_arg_error(cx, call, 1, "batch axis %u has extent %lld, the data has %lld", k,
                                (long long)i->dim[k + 1], (long long)x->dim[k]);
    for (uint32_t k = batch; k < batch + (uint32_t)i->dim[0]; ++k) least = x->dim[k] < least ? x->dim[k] : least;
    for (uint32_t k = 1; k < i->n; ++k) dim[n++] = i->dim[k];
    for (uint32_t k = batch + (uint32_t)i->dim[0]; k < x->n; ++k) dim[n++] = x->dim[k];
    return from_some(cx, call, tg_tensor_of(cx, call, x->dtype, n, dim), least);
}

bool tg_lower_gather_nd(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    const tg_type *x = call->kid[0]->type, *i = call->kid[1]->type;
    tg_at to, from = { 0 }, at = { .n = i->n };
    uint32_t batch = 0;
    if (!read_batch(lo->cx, op, call, x, i, &batch)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    for (uint32_t k = 1; k < i->n; ++k) at.ix[k] = to.ix[k - 1];
    for (uint32_t k = 0; k < x->n; ++k) {
        uint32_t coordinates = (uint32_t)i->dim[0];
        if (k < batch) {
            tg_at_push(&from, to.ix[k]);
        } else if (k < batch + coordinates) {
            at.ix[0] = tg_ix(lo, k - batch);
            tg_at_push(&from, kept_inside(lo, tg_in_raw(lo, 1, &at), x->dim[k]));
        } else {
            tg_at_push(&from, to.ix[i->n - 1 + k - batch - coordinates]);
        }
    }
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* Shape that the indices of adv_index broadcast to; fields 1.. of the tuple. */
static bool index_shape(tg_ctx *cx, const tg_node *call, const tg_type *t, uint32_t *n, int64_t *dim)
{
    *n = 0;
    for (uint32_t i = 1; i < t->n; ++i) *n = t->field[i]->n > *n ? t->field[i]->n : *n;
    for (uint32_t k = 0; k < *n; ++k) dim[k] = 1;
    for (uint32_t i = 1; i < t->n; ++i) {
        if (!tg_is_int(t->field[i]->dtype))
            return tg_arg_error(cx, call, 0, "field %u of the tuple must hold integers", i) != NULL;
        for (uint32_t k = 0; k < t->field[i]->n; ++k) {
            int64_t *d = &dim[*n - t->field[i]->n + k], e = t->field[i]->dim[k];
            if (*d != e && *d != 1 && e != 1)
                return tg_arg_error(cx, call, 0, "the shapes of the indices cannot be broadcast together") != NULL;
            *d = *d == 1 ? e : *d;
        }
    }
    return true;
}

const tg_type *tg_type_adv_index(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tuple(cx, call, 0);
    int64_t dim[2 * TG_MAX_NDIM];
    uint32_t n;
    if (t == NULL) return NULL;
    if (t->n < 2 || t->n - 1 > t->field[0]->n)
        return tg_arg_error(cx, call, 0, "the tuple needs the data and at most one index tensor a dimension");
    if (!index_shape(cx, call, t, &n, dim)) return NULL;
    int64_t least = 1;
    for (uint32_t k = 0; k + 1 < t->n; ++k) least = t->field[0]->dim[k] < least ? t->field[0]->dim[k] : least;
    for (uint32_t k = t->n - 1; k < t->field[0]->n; ++k) dim[n++] = t->field[0]->dim[k];
    return from_some(cx, call, tg_tensor_of(cx, call, t->field[0]->dtype, n, dim), least);
}

bool tg_lower_adv_index(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = call->kid[0]->type;
    int64_t dim[TG_MAX_NDIM];
    uint32_t n;
    if (!index_shape(lo->cx, call, t, &n, dim)) return false;
    tg_at to, from = { 0 };
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_at s = to;
    s.n = n;
    for (uint32_t k = 0; k < t->field[0]->n; ++k)
        tg_at_push(&from, k + 1 < t->n ? kept_inside(lo, tg_in_bcast(lo, k + 1, &s), t->field[0]->dim[k])
                                       : to.ix[n + k + 1 - t->n]);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- unravel_index, invert_permutation ---- */

const tg_type *tg_type_unravel_index(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *i = tg_arg_tensor(cx, call, 0), *shape = tg_arg_of_rank(cx, call, 1, 1);
    if (i == NULL || shape == NULL || !tg_want_int(cx, call, 0) || !tg_want_int(cx, call, 1)) return NULL;
    if (i->n > 1) return tg_arg_error(cx, call, 0, "the indices have %u dimensions, at most 1 is possible", i->n);
    if (shape->dim[0] > TG_MAX_NDIM)
        return tg_arg_error(cx, call, 1, "a shape of %lld dimensions is not possible", (long long)shape->dim[0]);
    int64_t dim[2] = { shape->dim[0], i->n > 0 ? i->dim[0] : 0 };
    return tg_tensor_of(cx, call, i->dtype, i->n + 1, dim);
}

/* Column by column: the remainder by each extent, from the last on. */
bool tg_lower_unravel_index(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    tg_at at = { 0 }, to = { 0 };
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_at_push(&to, NULL);
    if (lo->in[0]->ndim > 0) {
        tg_at_push(&at, tg_spatial(b, "j", tg_extent(lo->in[0], 0)));
        tg_at_push(&to, at.ix[0]);
    }
    tg_expr rest = tg_s_let(s, "rest", tg_in(lo, 0, &at));
    for (int64_t r = tg_extent(lo->in[1], 0); r-- > 0;) {
        tg_at k = { 1, { tg_ix(lo, r) } };
        tg_expr extent = tg_to(cx, tg_dtype_of(rest), tg_in(lo, 1, &k));
        to.ix[0] = tg_ix(lo, r);
        tg_s_put(s, lo->out[0], r > 0 ? tg_floormod(cx, rest, extent) : rest, &to);
        if (r > 0) rest = tg_s_let(s, "rest", tg_floordiv(cx, rest, extent));
    }
    tg_end_body(b, tg_script_done(s));
    return true;
}

const tg_type *tg_type_invert_permutation(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_of_rank(cx, call, 0, 1);
    return t != NULL && tg_want_int(cx, call, 0) ? t : NULL;
}

bool tg_lower_invert_permutation(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    int64_t n = tg_extent(lo->in[0], 0);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_at at = { 1, { tg_s_for(s, "i", tg_ix(lo, 0), tg_ix(lo, n)) } };
    tg_expr to = tg_s_let(s, "to", tg_index(lo, tg_position(lo, tg_in(lo, 0, &at))));
    tg_s_if(s, tg_within(lo->cx, to, 0, n));
    tg_s_store(s, lo->out[0], at.ix[0], to);
    tg_s_end(s);
    tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- searchsorted ---- */

const tg_type *tg_type_searchsorted(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *seq = tg_arg_tensor(cx, call, 0), *v = tg_arg_tensor(cx, call, 1);
    if (seq == NULL || v == NULL || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    bool fits = seq->n == 1 || (seq->n == v->n && seq->n > 0);
    for (uint32_t k = 0; fits && seq->n > 1 && k + 1 < seq->n; ++k) fits = seq->dim[k] == v->dim[k];
    if (!fits) return tg_arg_error(cx, call, 1, "the values do not fit the sequences %s", tg_type_text(cx, seq));
    return tg_like(cx, v, tg_attr_dtype(cx, op, call, "dtype", TG_INT32));
}

bool tg_lower_searchsorted(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *seq = lo->in[0];
    bool right = tg_attr_bool(cx, op, call, "right");
    tg_at at, from = { .n = seq->ndim };
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    const tg_buffer *range = tg_block_local(b, "range", lo->index, 2);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), one = tg_ix(lo, 1);
    for (uint32_t k = 0; k + 1 < seq->ndim; ++k) from.ix[k] = at.ix[k];
    tg_s_store(s, range, zero, zero);
    tg_s_store(s, range, tg_ix(lo, tg_extent(seq, seq->ndim - 1)), one);
    tg_expr low = tg_get(lo, range, 0), high = tg_get(lo, range, 1);
    tg_s_while(s, tg_lt(cx, low, high));
    tg_expr mid = tg_s_let(s, "mid", tg_floordivi(cx, tg_add(cx, low, high), 2));
    from.ix[seq->ndim - 1] = mid;
    tg_expr x = tg_in(lo, 0, &from), v = tg_in(lo, 1, &at);
    tg_s_if(s, right ? tg_le(cx, x, v) : tg_lt(cx, x, v));
    tg_s_store(s, range, tg_addi(cx, mid, 1), zero);
    tg_s_else(s);
    tg_s_store(s, range, mid, one);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_put(s, lo->out[0], low, &at);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- argwhere: where a constant is not zero ---- */

static int64_t count_nonzero(const tg_tensor *t)
{
    int64_t n = 0, count = 0;
    if (!tg_type_elements(t->type, &n)) return 0;
    for (int64_t i = 0; i < n; ++i)
        count += tg_is_float(t->type->dtype) ? tg_tensor_f64(t, i) != 0 : tg_tensor_i64(t, i) != 0;
    return count;
}

const tg_type *tg_type_argwhere(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    if (t == NULL) return NULL;
    if (call->kid[0]->kind != TG_RCONST)
        return tg_arg_error(cx, call, 0,
                            "the number of rows of the result depends on the values of the condition, which are known "
                            "only when the model runs");
    int64_t dim[2] = { count_nonzero(call->kid[0]->u.tensor), t->n };
    return tg_tensor_of(cx, call, TG_INT32, 2, dim);
}

bool tg_lower_argwhere(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    const tg_buffer *in = lo->in[0];
    tg_block_build *b = tg_begin(lo, NULL);
    const tg_buffer *row = tg_block_local(b, "row", lo->index, 1);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0);
    tg_s_store(s, row, zero, zero);
    tg_at at = { in->ndim, { NULL } };
    for (uint32_t k = 0; k < in->ndim; ++k) at.ix[k] = tg_s_for(s, "i", zero, tg_ix(lo, tg_extent(in, k)));
    tg_expr to = tg_s_let(s, "to", tg_get(lo, row, 0));
    tg_expr found = tg_bin(lo->cx, TG_NE, tg_in(lo, 0, &at), tg_const(lo->cx, in->dtype, 0));
    tg_s_if(s, tg_bin(lo->cx, TG_AND, found, tg_within(lo->cx, to, 0, tg_extent(lo->out[0], 0))));
    for (uint32_t k = 0; k < in->ndim; ++k) {
        tg_at cell = { 2, { to, tg_ix(lo, k) } };
        tg_s_put(s, lo->out[0], tg_cast(lo->cx, lo->out[0]->dtype, at.ix[k]), &cell);
    }
    tg_s_store(s, row, tg_addi(lo->cx, to, 1), zero);
    for (uint32_t k = 0; k < in->ndim + 1; ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}
