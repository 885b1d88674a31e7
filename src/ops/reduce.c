/* reduce.c: sums, products, extremes and means over axes; positions of extremes; softmax. */
#include "build.h"

#include <string.h>

/* ---- axes ---- */

/* The axes that attribute "axis" (and "exclude") selects, as a mask. */
static bool reduced_axes(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t ndim, uint32_t *mask)
{
    int64_t axis[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "axis", axis, TG_MAX_NDIM);
    bool all = tg_attr_is_none(cx, op, call, "axis"), exclude = tg_attr_bool(cx, op, call, "exclude");
    *mask = 0;
    if (n < 0) return false;
    for (int i = 0; i < n; ++i) {
        uint32_t a;
        if (!tg_axis_of(cx, call, axis[i], ndim, &a)) return false;
        *mask |= 1u << a;
    }
    uint32_t every = ndim > 0 ? (1u << ndim) - 1 : 0;
    if (all) *mask = every;
    else if (n == 0 && !exclude && ndim > 0) return tg_op_error(cx, call, "the list of axes is empty") != NULL;
    else if (exclude) *mask = every & ~*mask;
    return true;
}

static const tg_type *reduced_type(tg_ctx *cx, const tg_type *t, DLDataType d, uint32_t mask, bool keepdims)
{
    int64_t dim[TG_MAX_NDIM];
    uint32_t n = 0, wide = 0;
    for (uint32_t k = 0; k < t->n; ++k) {
        bool gone = mask >> k & 1;
        if (gone && !keepdims) continue;
        wide |= !gone && (t->wide >> k & 1) ? 1u << n : 0;
        dim[n++] = gone ? 1 : t->dim[k];
    }
    return tg_tensor_type(cx, d, n, dim, wide);
}

/* ---- type rules ---- */

const tg_type *tg_type_reduce(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t mask;
    if (t == NULL || !reduced_axes(cx, op, call, t->n, &mask)) return NULL;
    return reduced_type(cx, t, t->dtype, mask, tg_attr_bool(cx, op, call, "keepdims"));
}

const tg_type *tg_type_reduce_bool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_type_reduce(cx, op, call);
    return t != NULL && !tg_is_bool(t->dtype) ? tg_arg_error(cx, call, 0, "the operand must be bool") : t;
}

static int64_t reduced_count(const tg_type *t, uint32_t mask)
{
    int64_t n = 1;
    for (uint32_t k = 0; k < t->n; ++k) n *= mask >> k & 1 ? t->dim[k] : 1;
    return n;
}

const tg_type *tg_type_mean(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0), *r = tg_type_reduce(cx, op, call);
    uint32_t mask;
    if (r == NULL || !reduced_axes(cx, op, call, t->n, &mask)) return NULL;
    if (tg_is_bool(t->dtype)) return tg_arg_error(cx, call, 0, "bool is not a number");
    if (!tg_is_float(t->dtype) && reduced_count(t, mask) == 0)
        return tg_arg_error(cx, call, 0, "the mean of no integers does not exist");
    return r;
}

const tg_type *tg_type_variance(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *r = tg_type_mean(cx, op, call);
    uint32_t ndim, wide;
    int64_t dim[TG_MAX_NDIM];
    if (r == NULL || !tg_broadcast_dims(cx, call, 0, 2, &ndim, dim, &wide) || !tg_same_dtype(cx, call, 0, 1))
        return NULL;
    if (ndim != call->kid[0]->type->n) return tg_arg_error(cx, call, 1, "the mean has more dimensions than the data");
    uint32_t mask;
    if (!tg_is_float(r->dtype) && tg_attr_bool(cx, op, call, "unbiased") &&
        (!reduced_axes(cx, op, call, ndim, &mask) || reduced_count(call->kid[0]->type, mask) < 2))
        return tg_arg_error(cx, call, 0, "the unbiased variance of one integer does not exist");
    return r;
}

const tg_type *tg_type_argreduce(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t mask, first = 0;
    int64_t elements = 0;
    if (t == NULL || !reduced_axes(cx, op, call, t->n, &mask)) return NULL;
    while (first < t->n && !(mask >> first & 1)) ++first;
    if (reduced_count(t, mask) == 0 &&
        (!tg_type_elements(reduced_type(cx, t, t->dtype, mask, false), &elements) || elements > 0))
        return tg_arg_error(cx, call, 0, "the position of an extreme among no elements does not exist");
    bool wide = t->n > 0 && (t->wide & 1); /* the literal of the first dimension decides */
    return reduced_type(cx, t, wide ? TG_INT64 : TG_INT32, mask, tg_attr_bool(cx, op, call, "keepdims"));
}

const tg_type *tg_type_softmax(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    return t != NULL && tg_want_float(cx, call, 0) && tg_attr_axis(cx, op, call, "axis", t->n, &axis) ? t : NULL;
}

/* ---- blocks ---- */

/* Axes of a reduction: spatial ones in the result's order, then reduce ones; out and in are the indices. */
static tg_block_build *begin_reduce(tg_lower *lo, const char *name, const tg_buffer *from, uint32_t mask, bool keepdims,
                                    tg_at *out, tg_at *in)
{
    tg_block_build *b = tg_begin(lo, name);
    *out = *in = (tg_at){ 0 };
    in->n = from->ndim;
    for (uint32_t k = 0; k < from->ndim; ++k) {
        if (mask >> k & 1) {
            if (keepdims) tg_at_push(out, tg_ix(lo, 0));
        } else {
            in->ix[k] = tg_spatial(b, tg_axis_letter(k), tg_extent(from, k));
            tg_at_push(out, in->ix[k]);
        }
    }
    for (uint32_t k = 0; k < from->ndim; ++k)
        if (mask >> k & 1) in->ix[k] = tg_reduce(b, tg_axis_letter(k), tg_extent(from, k));
    return b;
}

enum fold { FOLD_SUM, FOLD_PROD, FOLD_MAX, FOLD_MIN };

static tg_expr fold_start(tg_ctx *cx, enum fold f, DLDataType d, DLDataType of)
{
    if (tg_is_bool(of)) return tg_int(cx, of, f == FOLD_PROD || f == FOLD_MIN);
    switch (f) {
    case FOLD_SUM: return tg_const(cx, d, 0);
    case FOLD_PROD: return tg_const(cx, d, 1);
    case FOLD_MAX: return tg_lowest(cx, d, of);
    default: return tg_highest(cx, d, of);
    }
}

static tg_expr fold_step(tg_ctx *cx, enum fold f, tg_expr acc, tg_expr x)
{
    bool logic = tg_is_bool(tg_dtype_of(acc));
    switch (f) {
    case FOLD_SUM: return logic ? tg_or(cx, acc, x) : tg_add(cx, acc, x);
    case FOLD_PROD: return logic ? tg_and(cx, acc, x) : tg_mul(cx, acc, x);
    case FOLD_MAX: return logic ? tg_or(cx, acc, x) : tg_max(cx, acc, x);
    default: return logic ? tg_and(cx, acc, x) : tg_min(cx, acc, x);
    }
}

/* acc[...] = fold of in over the axes in mask; operand 0. acc has the compute dtype. */
static void fold_block(tg_lower *lo, const char *name, enum fold f, const tg_buffer *acc, uint32_t mask, bool keepdims)
{
    tg_at out, in;
    tg_block_build *b = begin_reduce(lo, name, lo->in[0], mask, keepdims, &out, &in);
    tg_begin_init(b, fold_start(lo->cx, f, acc->dtype, lo->in[0]->dtype));
    tg_put(b, acc, fold_step(lo->cx, f, tg_read(lo, acc, &out), tg_in(lo, 0, &in)), &out);
}

static enum fold fold_of(const char *name)
{
    if (strcmp(name, "prod") == 0) return FOLD_PROD;
    if (strcmp(name, "max") == 0 || strcmp(name, "any") == 0) return FOLD_MAX;
    return strcmp(name, "min") == 0 || strcmp(name, "all") == 0 ? FOLD_MIN : FOLD_SUM;
}

bool tg_lower_reduce(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t mask;
    if (!reduced_axes(lo->cx, op, call, lo->in[0]->ndim, &mask)) return false;
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    fold_block(lo, NULL, fold_of(op->name), acc, mask, tg_attr_bool(lo->cx, op, call, "keepdims"));
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* total / count in the dtype of total */
static void divide_block(tg_lower *lo, const tg_buffer *total, const tg_buffer *out, double count)
{
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &at);
    tg_expr sum = tg_read(lo, total, &at);
    tg_put(b, out, tg_div(lo->cx, sum, tg_num(lo->cx, sum, count)), &at);
}

static const tg_buffer *total_like(tg_lower *lo, const char *hint, const tg_buffer *out)
{
    int64_t dim[TG_MAX_NDIM];
    tg_buffer_dims(out, dim);
    return tg_temp_of(lo, hint, tg_compute_dtype(out->dtype), out->ndim, dim);
}

bool tg_lower_mean(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    uint32_t mask;
    if (!reduced_axes(lo->cx, op, call, lo->in[0]->ndim, &mask)) return false;
    const tg_buffer *total = total_like(lo, "sum", lo->out[0]);
    fold_block(lo, "sum", FOLD_SUM, total, mask, tg_attr_bool(lo->cx, op, call, "keepdims"));
    divide_block(lo, total, lo->out[0], (double)reduced_count(call->kid[0]->type, mask));
    return true;
}

bool tg_lower_variance(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    uint32_t mask;
    tg_at out, in;
    if (!reduced_axes(cx, op, call, lo->in[0]->ndim, &mask)) return false;
    const tg_buffer *total = total_like(lo, "squares", lo->out[0]);
    tg_block_build *b = begin_reduce(lo, "squares", lo->in[0], mask, tg_attr_bool(cx, op, call, "keepdims"), &out, &in);
    tg_begin_init(b, tg_const(cx, total->dtype, 0));
    tg_expr d = tg_block_let(b, "d", tg_sub(cx, tg_in(lo, 0, &in), tg_in_bcast(lo, 1, &in)));
    tg_put(b, total, tg_add(cx, tg_read(lo, total, &out), tg_mul(cx, d, d)), &out);
    double count = (double)reduced_count(call->kid[0]->type, mask);
    divide_block(lo, total, lo->out[0], tg_attr_bool(cx, op, call, "unbiased") ? count - 1 : count);
    return true;
}

/* One element of the result at a time: the best value so far and where it was. Starting with the first element instead of the
 * lowest value gives what TVM computes wherever TVM does not answer -1. */
bool tg_lower_argreduce(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *from = lo->in[0];
    int64_t dim[TG_MAX_NDIM];
    uint32_t mask, nreduced = 0;
    if (!reduced_axes(cx, op, call, from->ndim, &mask)) return false;
    bool keepdims = tg_attr_bool(cx, op, call, "keepdims"), last = tg_attr_bool(cx, op, call, "select_last_index");
    bool max = strcmp(op->name, "argmax") == 0;
    tg_at out = { 0 }, in = { .n = from->ndim };
    tg_block_build *b = tg_begin(lo, NULL);
    for (uint32_t k = 0; k < from->ndim; ++k) {
        bool gone = mask >> k & 1;
        in.ix[k] = gone ? tg_ix(lo, 0) : tg_spatial(b, tg_axis_letter(k), tg_extent(from, k));
        if (!gone || keepdims) tg_at_push(&out, in.ix[k]);
    }
    const tg_buffer *best = tg_block_local(b, "best", tg_compute_dtype(from->dtype), 1);
    tg_script *s = tg_script_new(lo);
    tg_s_store(s, best, tg_in(lo, 0, &in), tg_ix(lo, 0));
    tg_s_put(s, lo->out[0], tg_ix(lo, 0), &out);
    tg_expr pos[TG_MAX_NDIM];
    for (uint32_t k = 0; k < from->ndim; ++k) {
        if (!(mask >> k & 1)) continue;
        in.ix[k] = tg_s_for(s, tg_axis_letter(k), tg_ix(lo, 0), tg_ix(lo, tg_extent(from, k)));
        dim[nreduced] = tg_extent(from, k);
        pos[nreduced++] = in.ix[k];
    }
    tg_expr x = tg_s_let(s, "x", tg_in(lo, 0, &in)), acc = tg_get(lo, best, 0);
    enum tg_kind keep = max ? (last ? TG_GT : TG_GE) : (last ? TG_LT : TG_LE);
    tg_s_if(s, tg_not(cx, tg_bin(cx, keep, acc, x))); /* not "x is better": a NaN is replaced by what follows it */
    tg_s_store(s, best, x, tg_ix(lo, 0));
    tg_s_put(s, lo->out[0], tg_ravel(cx, lo->index, nreduced, pos, dim), &out);
    for (uint32_t k = 0; k <= nreduced; ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- softmax ---- */

/* A row is what the axis runs over; stat has one value a row (the axis with extent 1). */
typedef struct rows {
    uint32_t axis;
    const tg_buffer *max, *sum;
    tg_at at, row;
} rows;

static tg_block_build *begin_rows(tg_lower *lo, const char *name, rows *r, bool reduce)
{
    const tg_buffer *x = lo->in[0];
    tg_block_build *b = tg_begin(lo, name);
    r->at.n = r->row.n = x->ndim;
    for (uint32_t k = 0; k < x->ndim; ++k)
        if (k != r->axis || !reduce) r->at.ix[k] = tg_spatial(b, tg_axis_letter(k), tg_extent(x, k));
    if (reduce) r->at.ix[r->axis] = tg_reduce(b, tg_axis_letter(r->axis), tg_extent(x, r->axis));
    for (uint32_t k = 0; k < x->ndim; ++k) r->row.ix[k] = k == r->axis ? tg_ix(lo, 0) : r->at.ix[k];
    return b;
}

bool tg_lower_softmax(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    DLDataType d = tg_compute_dtype(x->dtype);
    int64_t dim[TG_MAX_NDIM], row_dim[TG_MAX_NDIM];
    rows r = { 0 };
    bool log_form = strcmp(op->name, "nn.log_softmax") == 0, fast = strcmp(op->name, "nn.fast_softmax") == 0;
    if (!tg_attr_axis(cx, op, call, "axis", x->ndim, &r.axis)) return false;
    tg_buffer_dims(x, dim);
    memcpy(row_dim, dim, sizeof dim);
    row_dim[r.axis] = 1;
    r.max = tg_temp_of(lo, "row_max", d, x->ndim, row_dim);
    tg_block_build *b = begin_rows(lo, "row_max", &r, true);
    tg_begin_init(b, tg_lowest(cx, d, x->dtype));
    tg_put(b, r.max, tg_max(cx, tg_read(lo, r.max, &r.row), tg_in(lo, 0, &r.at)), &r.row);

    const tg_buffer *e = tg_temp_of(lo, "row_exp", d, x->ndim, dim);
    b = begin_rows(lo, "row_exp", &r, false);
    tg_expr shifted = tg_sub(cx, tg_in(lo, 0, &r.at), tg_read(lo, r.max, &r.row));
    tg_put(b, e, fast ? tg_fast_exp(cx, shifted) : tg_call1(cx, "exp", shifted), &r.at);

    r.sum = tg_temp_of(lo, "row_sum", d, x->ndim, row_dim);
    b = begin_rows(lo, "row_sum", &r, true);
    tg_begin_init(b, tg_const(cx, d, 0));
    tg_put(b, r.sum, tg_add(cx, tg_read(lo, r.sum, &r.row), tg_read(lo, e, &r.at)), &r.row);

    b = begin_rows(lo, NULL, &r, false);
    if (log_form) {
        shifted = tg_sub(cx, tg_in(lo, 0, &r.at), tg_read(lo, r.max, &r.row));
        tg_put(b, lo->out[0], tg_sub(cx, shifted, tg_call1(cx, "log", tg_read(lo, r.sum, &r.row))), &r.at);
    } else {
        tg_put(b, lo->out[0], tg_div(cx, tg_read(lo, e, &r.at), tg_read(lo, r.sum, &r.row)), &r.at);
    }
    return true;
}
