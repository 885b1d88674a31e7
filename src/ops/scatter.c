/* scatter.c: a copy of the data with updates written where index tensors say, in order; scans along an axis. */
#include "build.h"

#include <string.h>

/* ---- how an update meets the old value ---- */

enum meet { MEET_UPDATE, MEET_ADD, MEET_MUL, MEET_MIN, MEET_MAX, MEET_MEAN, MEET_UNKNOWN };

static enum meet meet_of(const char *text)
{
    static const char *const name[] = { "update", "add", "mul", "min", "max", "mean" };
    for (size_t i = 0; i < TG_COUNT(name); ++i)
        if (strcmp(name[i], text) == 0) return (enum meet)i;
    return MEET_UNKNOWN;
}

static tg_expr meet(tg_ctx *cx, enum meet m, tg_expr old, tg_expr x)
{
    bool logic = tg_is_bool(tg_dtype_of(old));
    switch (m) {
    case MEET_ADD: return logic ? tg_or(cx, old, x) : tg_add(cx, old, x);
    case MEET_MUL: return logic ? tg_and(cx, old, x) : tg_mul(cx, old, x);
    case MEET_MIN: return logic ? tg_and(cx, old, x) : tg_min(cx, old, x);
    case MEET_MAX: return logic ? tg_or(cx, old, x) : tg_max(cx, old, x);
    case MEET_MEAN: return logic ? tg_or(cx, old, x) : tg_div(cx, tg_add(cx, old, x), tg_num(cx, old, 2));
    default: return x;
    }
}

/* ---- scatter_elements, scatter, scatter_add ---- */

static enum meet read_reduction(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    if (strcmp(op->name, "scatter") == 0) return MEET_UPDATE;
    if (strcmp(op->name, "scatter_add") == 0) return MEET_ADD;
    return meet_of(tg_attr_str(cx, op, call, strcmp(op->name, "scatter_nd") == 0 ? "mode" : "reduction"));
}

const tg_type *tg_type_scatter_elements(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *i = tg_arg_tensor(cx, call, 1), *u = tg_arg_tensor(cx, call, 2);
    uint32_t axis;
    if (x == NULL || i == NULL || u == NULL || !tg_want_int(cx, call, 1) || !tg_same_dtype(cx, call, 0, 2) ||
        !tg_attr_axis(cx, op, call, "axis", x->n, &axis))
        return NULL;
    if (read_reduction(cx, op, call) == MEET_UNKNOWN)
        return tg_op_error(cx, call, "reduction \"%s\" is not update, add, mul, min, max or mean",
                           tg_attr_str(cx, op, call, "reduction"));
    bool fits = i->n == x->n && tg_type_same_shape(i, u);
    for (uint32_t k = 0; fits && k < x->n; ++k) fits = k == axis || i->dim[k] <= x->dim[k];
    return fits ? x : tg_arg_error(cx, call, 1, "the indices do not fit the data and the updates");
}

/* Along other axes than the scattered one positions do not meet; along it updates come in order. */
bool tg_lower_scatter_elements(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0], *i = lo->in[1];
    enum meet m = read_reduction(cx, op, call);
    uint32_t axis;
    if (!tg_attr_axis(cx, op, call, "axis", out->ndim, &axis)) return false;
    tg_copy_block(lo, NULL, lo->in[0], out);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_at at = { .n = i->ndim }, to;
    for (uint32_t k = 0; k < i->ndim; ++k)
        if (k != axis) at.ix[k] = tg_spatial(b, tg_axis_letter(k), tg_extent(i, k));
    at.ix[axis] = tg_s_for(s, tg_axis_letter(axis), tg_ix(lo, 0), tg_ix(lo, tg_extent(i, axis)));
    int64_t d = tg_extent(out, axis);
    tg_expr p = tg_s_let(s, "at", tg_position(lo, tg_in(lo, 1, &at))), zero = tg_num(cx, p, 0);
    p = tg_s_let(s, "target", tg_add(cx, p, tg_choose(cx, tg_lt(cx, p, zero), tg_num(cx, p, (double)d), zero)));
    to = at;
    to.ix[axis] = tg_index(lo, p);
    tg_s_if(s, tg_within(cx, p, 0, d));
    tg_s_put(s, out, meet(cx, m, tg_read(lo, out, &to), tg_in(lo, 2, &at)), &to);
    tg_s_end(s);
    tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- scatter_nd ---- */

const tg_type *tg_type_scatter_nd(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *i = tg_arg_tensor(cx, call, 1), *u = tg_arg_tensor(cx, call, 2);
    if (x == NULL || i == NULL || u == NULL || !tg_want_int(cx, call, 1) || !tg_same_dtype(cx, call, 0, 2)) return NULL;
    if (read_reduction(cx, op, call) == MEET_UNKNOWN)
        return tg_op_error(cx, call, "mode \"%s\" is not update, add, mul, min or max",
                           tg_attr_str(cx, op, call, "mode"));
    if (i->n < 1 || i->dim[0] > (int64_t)x->n)
        return tg_arg_error(cx, call, 1, "the first axis of the indices must hold at most %u coordinates", x->n);
    uint32_t m = (uint32_t)i->dim[0], y = i->n - 1;
    bool fits = u->n == y + x->n - m;
    for (uint32_t k = 0; fits && k < u->n; ++k) fits = u->dim[k] == (k < y ? i->dim[k + 1] : x->dim[m + k - y]);
    return fits ? x : tg_arg_error(cx, call, 2, "the updates do not fit the indices and the data");
}

bool tg_lower_scatter_nd(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0], *i = lo->in[1], *u = lo->in[2];
    enum meet m = read_reduction(cx, op, call);
    uint32_t coordinates = (uint32_t)tg_extent(i, 0), y = i->ndim - 1;
    tg_copy_block(lo, NULL, lo->in[0], out);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_at at = { 0 }, from = { .n = i->ndim }, to = { 0 };
    tg_expr inside = NULL;
    for (uint32_t k = 0; k < y; ++k) {
        tg_at_push(&at, tg_s_for(s, tg_axis_letter(k), tg_ix(lo, 0), tg_ix(lo, tg_extent(u, k))));
        from.ix[k + 1] = at.ix[k];
    }
    for (uint32_t k = 0; k < coordinates; ++k) {
        from.ix[0] = tg_ix(lo, k);
        tg_expr p = tg_s_let(s, "at", tg_position(lo, tg_in(lo, 1, &from)));
        inside = tg_and(cx, inside, tg_within(cx, p, 0, tg_extent(out, k)));
        tg_at_push(&to, tg_index(lo, p));
    }
    if (inside != NULL) tg_s_if(s, inside);
    for (uint32_t k = y; k < u->ndim; ++k) {
        tg_at_push(&at, tg_s_for(s, tg_axis_letter(k), tg_ix(lo, 0), tg_ix(lo, tg_extent(u, k))));
        tg_at_push(&to, at.ix[k]);
    }
    tg_s_put(s, out, meet(cx, m, tg_read(lo, out, &to), tg_in(lo, 2, &at)), &to);
    for (uint32_t k = 0; k < u->ndim + (inside != NULL); ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- sparse_to_dense ---- */

const tg_type *tg_type_sparse_to_dense(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *i = tg_arg_tensor(cx, call, 0), *v = tg_arg_tensor(cx, call, 1);
    int64_t dim[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "output_shape", dim, TG_MAX_NDIM);
    if (i == NULL || v == NULL || n < 0 || !tg_want_int(cx, call, 0)) return NULL;
    if (call->nkids > 2 && (tg_arg_of_rank(cx, call, 2, 0) == NULL || !tg_same_dtype(cx, call, 1, 2))) return NULL;
    if (i->n > 2 || (i->n < 2 ? n != 1 : i->dim[1] != n))
        return tg_arg_error(cx, call, 0, "the indices do not fit a result of %d dimensions", n);
    if (v->n > 1 || (v->n == 1 && (i->n == 0 || v->dim[0] != i->dim[0])))
        return tg_arg_error(cx, call, 1, "the values do not fit the indices");
    return tg_tensor_of(cx, call, v->dtype, (uint32_t)n, dim);
}

bool tg_lower_sparse_to_dense(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0], *i = lo->in[0];
    tg_fill_block(lo, NULL, out, lo->nin > 2 ? tg_in0(lo, 2) : tg_const(cx, out->dtype, 0));
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_expr inside = NULL;
    tg_at row = { 0 }, at = { 0 }, to = { 0 };
    if (i->ndim > 0) tg_at_push(&row, tg_s_for(s, "i", tg_ix(lo, 0), tg_ix(lo, tg_extent(i, 0))));
    for (uint32_t k = 0; k < out->ndim; ++k) {
        at = row;
        if (i->ndim > 1) tg_at_push(&at, tg_ix(lo, k));
        tg_expr p = tg_s_let(s, "at", tg_position(lo, tg_in(lo, 0, &at)));
        inside = tg_and(cx, inside, tg_within(cx, p, 0, tg_extent(out, k)));
        tg_at_push(&to, tg_index(lo, p));
    }
    if (inside != NULL) tg_s_if(s, inside);
    tg_s_put(s, out, lo->in[1]->ndim == 0 ? tg_in0(lo, 1) : tg_in(lo, 1, &row), &to);
    for (uint32_t k = 0; k < row.n + (inside != NULL); ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- cumsum, cumprod ---- */

const tg_type *tg_type_scan(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    if (t == NULL) return NULL;
    DLDataType d = tg_attr_dtype(cx, op, call, "dtype", t->dtype);
    if (!tg_attr_is_none(cx, op, call, "axis"))
        return tg_attr_axis(cx, op, call, "axis", t->n, &axis) ? tg_like(cx, t, d) : NULL;
    int64_t n = 0;
    tg_type_elements(t, &n);
    return tg_tensor_of(cx, call, d, 1, &n);
}

/* The running value in a variable of its own: float16 results are rounded once each, not accumulated rounded. */
bool tg_lower_scan(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0], *out = lo->out[0];
    bool sum = strcmp(op->name, "cumsum") == 0, exclusive = tg_attr_bool(cx, op, call, "exclusive");
    bool flat = tg_attr_is_none(cx, op, call, "axis");
    DLDataType d = tg_compute_dtype(out->dtype);
    int64_t dim[TG_MAX_NDIM];
    uint32_t axis = 0, loops = 0;
    if (!flat && !tg_attr_axis(cx, op, call, "axis", x->ndim, &axis)) return false;
    tg_buffer_dims(x, dim);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_at at = { .n = x->ndim }, to;
    for (uint32_t k = 0; !flat && k < x->ndim; ++k)
        if (k != axis) at.ix[k] = tg_spatial(b, tg_axis_letter(k), dim[k]);
    const tg_buffer *acc = tg_block_local(b, sum ? "total" : "product", d, 1);
    tg_expr zero = tg_ix(lo, 0);
    tg_s_store(s, acc, tg_const(cx, d, sum ? 0 : 1), zero);
    for (uint32_t k = 0; k < x->ndim; ++k)
        if (flat || k == axis) {
            at.ix[k] = tg_s_for(s, tg_axis_letter(k), zero, tg_ix(lo, dim[k]));
            ++loops;
        }
    to = at;
    if (flat) to = (tg_at){ 1, { tg_ravel(cx, lo->index, x->ndim, at.ix, dim) } };
    tg_expr old = tg_get(lo, acc, 0), v = tg_to(cx, d, tg_in(lo, 0, &at));
    if (exclusive) tg_s_put(s, out, old, &to);
    tg_s_store(s, acc, meet(cx, sum ? MEET_ADD : MEET_MUL, old, v), zero);
    if (!exclusive) tg_s_put(s, out, old, &to);
    for (uint32_t k = 0; k < loops; ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}
