/* norm.c: normalisation by stored or computed statistics; dropout; losses. */
#include "build.h"

#include <string.h>

/* ---- batch_norm: stored statistics ---- */

static bool vector_of(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t extent)
{
    const tg_type *v = tg_arg_of_rank(cx, call, i, 1);
    if (v == NULL || !tg_want_float(cx, call, i)) return false;
    const tg_op *op = tg_op_find(cx, call->u.call->op);
    return v->dim[0] == extent ||
           tg_arg_error(cx, call, i, "%s has %lld values, the axis has extent %lld", tg_op_arg_name(cx, op, i)->text,
                        (long long)v->dim[0], (long long)extent) != NULL;
}

const tg_type *tg_type_batch_norm(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    if (t == NULL || !tg_want_float(cx, call, 0) || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    for (uint32_t i = 1; i < 5; ++i)
        if (!vector_of(cx, call, i, t->dim[axis])) return NULL;
    const tg_type *field[3] = { t, call->kid[3]->type, call->kid[4]->type };
    return tg_tuple_type(cx, 3, field);
}

/* s = (1 / sqrt(v + eps))·gamma, y = x·s + (beta - mean·s) */
bool tg_lower_batch_norm(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    DLDataType d = tg_compute_dtype(out->dtype);
    uint32_t axis;
    if (!tg_attr_axis(cx, op, call, "axis", out->ndim, &axis)) return false;
    int64_t channels = tg_extent(out, axis);
    const tg_buffer *scale = tg_temp_of(lo, "scale", d, 1, &channels),
                    *shift = tg_temp_of(lo, "shift", d, 1, &channels);
    tg_at c, at;
    tg_block_build *b = tg_begin_over(lo, "scale", scale, &c);
    tg_expr eps = tg_float(cx, d, tg_attr_float(cx, op, call, "epsilon"));
    tg_expr s = tg_div(cx, tg_float(cx, d, 1), tg_call1(cx, "sqrt", tg_add(cx, tg_to(cx, d, tg_in(lo, 4, &c)), eps)));
    tg_put(b, scale, tg_attr_bool(cx, op, call, "scale") ? tg_mul(cx, s, tg_to(cx, d, tg_in(lo, 1, &c))) : s, &c);

    b = tg_begin_over(lo, "shift", shift, &c);
    tg_expr moved = tg_mul(cx, tg_to(cx, d, tg_in(lo, 3, &c)), tg_read(lo, scale, &c));
    bool center = tg_attr_bool(cx, op, call, "center");
    tg_put(b, shift, center ? tg_sub(cx, tg_to(cx, d, tg_in(lo, 2, &c)), moved) : tg_neg(cx, moved), &c);

    b = tg_begin_over(lo, NULL, out, &at);
    c.ix[0] = at.ix[axis];
    tg_put(b, out, tg_add(cx, tg_mul(cx, tg_in(lo, 0, &at), tg_read(lo, scale, &c)), tg_read(lo, shift, &c)), &at);
    return tg_copy_block(lo, "mean", lo->in[3], lo->out[1]) && tg_copy_block(lo, "var", lo->in[4], lo->out[2]);
}

/* ---- computed statistics: layer_norm, group_norm, instance_norm, l2_normalize ---- */

/* Statistics of groups of elements: a row is what shares one mean. Rows have the data's rank: extent 1 along axes in mask,
 * the number of groups along the axis that is split. */
typedef struct rows {
    uint32_t mask, axis; /* axis: of gamma and beta */
    bool split;          /* axis is split into groups */
    int64_t groups;
    double count; /* elements a row */
    const tg_buffer *mean, *spread;
} rows;

static bool read_rows(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, rows *r)
{
    *r = (rows){ 0 };
    if (!tg_attr_axis(cx, op, call, "axis", t->n, &r->axis)) return false;
    uint32_t every = (1u << t->n) - 1;
    if (strcmp(op->name, "nn.layer_norm") == 0) r->mask = 1u << r->axis;
    else r->mask = every & ~1u & ~(1u << r->axis);
    r->count = 1;
    if (strcmp(op->name, "nn.group_norm") == 0) {
        r->split = true;
        r->groups = tg_attr_int(cx, op, call, "num_groups");
        if (r->groups < 1 || t->dim[r->axis] % r->groups != 0 || r->axis == 0)
            return tg_arg_error(cx, call, 0, "axis %u does not divide into %lld groups", r->axis,
                                (long long)r->groups) != NULL;
        r->count = (double)(t->dim[r->axis] / r->groups);
    }
    for (uint32_t k = 0; k < t->n; ++k) r->count *= r->mask >> k & 1 ? (double)t->dim[k] : 1;
    return true;
}

const tg_type *tg_type_norm(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    rows r;
    if (t == NULL || !tg_want_float(cx, call, 0) || !read_rows(cx, op, call, t, &r)) return NULL;
    return vector_of(cx, call, 1, t->dim[r.axis]) && vector_of(cx, call, 2, t->dim[r.axis]) ? t : NULL;
}

static const tg_buffer *row_buffer(tg_lower *lo, const char *hint, const rows *r)
{
    const tg_buffer *x = lo->in[0];
    int64_t dim[TG_MAX_NDIM];
    for (uint32_t k = 0; k < x->ndim; ++k)
        dim[k] = r->mask >> k & 1 ? 1 : r->split && k == r->axis ? r->groups : tg_extent(x, k);
    return tg_temp_of(lo, hint, tg_compute_dtype(x->dtype), x->ndim, dim);
}

/* A block that runs over all elements of all rows. */
static tg_block_build *begin_moment(tg_lower *lo, const char *name, const rows *r, tg_at *row, tg_at *at)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    tg_block_build *b = tg_begin(lo, name);
    row->n = at->n = x->ndim;
    for (uint32_t k = 0; k < x->ndim; ++k) {
        if (r->split && k == r->axis) row->ix[k] = tg_spatial(b, "g", r->groups);
        else if (r->mask >> k & 1) row->ix[k] = tg_ix(lo, 0);
        else row->ix[k] = tg_spatial(b, tg_axis_letter(k), tg_extent(x, k));
    }
    for (uint32_t k = 0; k < x->ndim; ++k) {
        int64_t group = r->split && k == r->axis ? tg_extent(x, k) / r->groups : 0;
        if (r->split && k == r->axis)
            at->ix[k] = tg_add(cx, tg_muli(cx, row->ix[k], group), tg_reduce(b, tg_axis_letter(k), group));
        else at->ix[k] = r->mask >> k & 1 ? tg_reduce(b, tg_axis_letter(k), tg_extent(x, k)) : row->ix[k];
    }
    return b;
}

static void divide_rows(tg_lower *lo, const char *name, const tg_buffer *total, const tg_buffer *to, double count,
                        tg_expr eps)
{
    tg_ctx *cx = lo->cx;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, name, to, &at);
    tg_expr v = tg_div(cx, tg_read(lo, total, &at), tg_float(cx, to->dtype, count));
    tg_put(b, to, eps != NULL ? tg_call1(cx, "sqrt", tg_add(cx, v, eps)) : v, &at);
}

/* Mean, then sqrt(variance + eps), two passes. */
static void moments(tg_lower *lo, rows *r, tg_expr eps)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *sum = row_buffer(lo, "row_sum", r), *squares = row_buffer(lo, "squares", r);
    tg_at row, at;
    r->mean = row_buffer(lo, "mean", r);
    r->spread = row_buffer(lo, "deviation", r);
    tg_block_build *b = begin_moment(lo, "row_sum", r, &row, &at);
    tg_begin_init(b, tg_float(cx, sum->dtype, 0));
    tg_put(b, sum, tg_add(cx, tg_read(lo, sum, &row), tg_in(lo, 0, &at)), &row);
    divide_rows(lo, "mean", sum, r->mean, r->count, NULL);

    b = begin_moment(lo, "squares", r, &row, &at);
    tg_begin_init(b, tg_float(cx, sum->dtype, 0));
    tg_expr d = tg_block_let(b, "d", tg_sub(cx, tg_in(lo, 0, &at), tg_read(lo, r->mean, &row)));
    tg_put(b, squares, tg_add(cx, tg_read(lo, squares, &row), tg_mul(cx, d, d)), &row);
    divide_rows(lo, "deviation", squares, r->spread, r->count, eps);
}

/* The row of an element. */
static tg_at row_of(tg_lower *lo, const rows *r, const tg_at *at)
{
    tg_at row = *at;
    for (uint32_t k = 0; k < at->n; ++k) {
        if (r->mask >> k & 1) row.ix[k] = tg_ix(lo, 0);
        else if (r->split && k == r->axis)
            row.ix[k] = tg_floordivi(lo->cx, at->ix[k], tg_extent(lo->in[0], k) / r->groups);
    }
    return row;
}

bool tg_lower_norm(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    DLDataType d = tg_compute_dtype(out->dtype);
    rows r;
    tg_at at;
    if (!read_rows(cx, op, call, call->kid[0]->type, &r)) return false;
    moments(lo, &r, tg_float(cx, d, tg_attr_float(cx, op, call, "epsilon")));
    tg_block_build *b = tg_begin_over(lo, NULL, out, &at);
    tg_at row = row_of(lo, &r, &at), c = { 1, { at.ix[r.axis] } };
    tg_expr y = tg_div(cx, tg_sub(cx, tg_in(lo, 0, &at), tg_read(lo, r.mean, &row)), tg_read(lo, r.spread, &row));
    if (tg_attr_bool(cx, op, call, "scale")) y = tg_mul(cx, y, tg_to(cx, d, tg_in(lo, 1, &c)));
    if (tg_attr_bool(cx, op, call, "center")) y = tg_add(cx, y, tg_to(cx, d, tg_in(lo, 2, &c)));
    tg_put(b, out, y, &at);
    return true;
}

static bool read_l2(tg_ctx *cx, const tg_op *op, const tg_node *call, uint32_t ndim, rows *r)
{
    int64_t axis[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "axis", axis, TG_MAX_NDIM);
    *r = (rows){ 0 };
    for (int i = 0; i < n; ++i) {
        uint32_t a;
        if (!tg_axis_of(cx, call, axis[i], ndim, &a)) return false;
        r->mask |= 1u << a;
    }
    if (n == 0) /* no list: over everything */
        r->mask = (1u << ndim) - 1;
    return n >= 0;
}

const tg_type *tg_type_l2_normalize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    rows r;
    return t != NULL && tg_want_float(cx, call, 0) && read_l2(cx, op, call, t->n, &r) ? t : NULL;
}

bool tg_lower_l2_normalize(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    DLDataType d = tg_compute_dtype(out->dtype);
    rows r;
    tg_at row, at;
    if (!read_l2(cx, op, call, out->ndim, &r)) return false;
    const tg_buffer *squares = row_buffer(lo, "squares", &r);
    tg_block_build *b = begin_moment(lo, "squares", &r, &row, &at);
    tg_begin_init(b, tg_float(cx, d, 0));
    tg_expr x = tg_block_let(b, "x", tg_in(lo, 0, &at));
    tg_put(b, squares, tg_add(cx, tg_read(lo, squares, &row), tg_mul(cx, x, x)), &row);
    b = tg_begin_over(lo, NULL, out, &at);
    row = row_of(lo, &r, &at);
    tg_expr sum = tg_max(cx, tg_read(lo, squares, &row), tg_float(cx, d, tg_attr_float(cx, op, call, "eps")));
    tg_put(b, out, tg_div(cx, tg_in(lo, 0, &at), tg_call1(cx, "sqrt", sum)), &at);
    return true;
}

/* ---- lrn: x / (bias + alpha·S / size)^beta, S over neighbouring channels ---- */

const tg_type *tg_type_lrn(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    int64_t size = tg_attr_int(cx, op, call, "size");
    if (t == NULL || !tg_want_float(cx, call, 0) || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    if (size < 1 || size % 2 == 0 || size > INT32_MAX)
        return tg_op_error(cx, call, "size is %lld, it must be odd and positive", (long long)size);
    return t;
}

bool tg_lower_lrn(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    DLDataType d = tg_compute_dtype(out->dtype);
    int64_t size = tg_attr_int(cx, op, call, "size"), dim[TG_MAX_NDIM];
    uint32_t axis;
    tg_at to, from;
    if (!tg_attr_axis(cx, op, call, "axis", out->ndim, &axis)) return false;
    tg_buffer_dims(out, dim);
    const tg_buffer *squares = tg_temp_of(lo, "squares", d, out->ndim, dim);
    tg_block_build *b = tg_begin_over(lo, "squares", squares, &to);
    from = to;
    from.ix[axis] = tg_addi(cx, tg_add(cx, to.ix[axis], tg_reduce(b, "c", size)), -(size / 2));
    tg_expr x = tg_in(lo, 0, &from), old = tg_read(lo, squares, &to);
    tg_expr square = tg_guarded(cx, tg_within(cx, from.ix[axis], 0, dim[axis]), tg_mul(cx, x, x), tg_float(cx, d, 0));
    tg_begin_init(b, tg_float(cx, d, 0));
    tg_put(b, squares, tg_add(cx, old, square), &to);
    b = tg_begin_over(lo, NULL, out, &to);
    double alpha = tg_attr_float(cx, op, call, "alpha");
    tg_expr mean =
        tg_div(cx, tg_mul(cx, tg_float(cx, d, alpha), tg_read(lo, squares, &to)), tg_float(cx, d, (double)size));
    tg_expr base = tg_add(cx, tg_float(cx, d, tg_attr_float(cx, op, call, "bias")), mean);
    tg_put(
        b, out,
        tg_div(cx, tg_in(lo, 0, &to), tg_call2(cx, "pow", base, tg_float(cx, d, tg_attr_float(cx, op, call, "beta")))),
        &to);
    return true;
}

/* ---- dropout: the data and a mask of ones ---- */

const tg_type *tg_type_dropout(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0), *field[2] = { t, t };
    return t != NULL ? tg_tuple_type(cx, 2, field) : NULL;
}

bool tg_lower_dropout(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    return tg_copy_block(lo, NULL, lo->in[0], lo->out[0]) &&
           tg_fill_block(lo, "mask", lo->out[1], tg_const(lo->cx, lo->out[1]->dtype, 1));
}

/* ---- losses ---- */

const tg_type *tg_type_cross_entropy(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 2), *y = tg_arg_of_rank(cx, call, 1, 2);
    if (x == NULL || y == NULL || !tg_want_float(cx, call, 0) || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    if (!tg_type_same_shape(x, y)) return tg_arg_error(cx, call, 1, "the shapes differ");
    return tg_tensor_type(cx, x->dtype, 0, NULL, 0);
}

/* -mean over the batch of Σ y·log(x), or of Σ y·x when x holds logarithms */
bool tg_lower_cross_entropy(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)call;
    tg_ctx *cx = lo->cx;
    DLDataType d = tg_compute_dtype(lo->out[0]->dtype);
    bool logits = strcmp(op->name, "nn.cross_entropy_with_logits") == 0;
    const tg_buffer *sum = tg_temp_of(lo, "sum", d, 0, NULL);
    tg_at none = { 0 }, at = { .n = 2 };
    tg_block_build *b = tg_begin(lo, "sum");
    at.ix[0] = tg_reduce(b, "i", tg_extent(lo->in[0], 0));
    at.ix[1] = tg_reduce(b, "j", tg_extent(lo->in[0], 1));
    tg_expr x = tg_in(lo, 0, &at);
    tg_begin_init(b, tg_float(cx, d, 0));
    tg_put(b, sum,
           tg_add(cx, tg_read(lo, sum, &none), tg_mul(cx, tg_in(lo, 1, &at), logits ? x : tg_call1(cx, "log", x))),
           &none);
    b = tg_begin(lo, NULL);
    tg_put(b, lo->out[0],
           tg_div(cx, tg_neg(cx, tg_read(lo, sum, &none)), tg_float(cx, d, (double)tg_extent(lo->in[0], 0))), &none);
    return true;
}

const tg_type *tg_type_nll_loss(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *p = tg_arg_tensor(cx, call, 0), *t = tg_arg_tensor(cx, call, 1), *w = tg_arg_of_rank(cx, call, 2, 1);
    const char *reduction = tg_attr_str(cx, op, call, "reduction");
    if (p == NULL || t == NULL || w == NULL || !tg_want_float(cx, call, 0) || !tg_want_int(cx, call, 1) ||
        !tg_same_dtype(cx, call, 0, 2))
        return NULL;
    bool fits = p->n == t->n + 1 && t->n >= 1 && w->dim[0] == p->dim[1] && p->dim[0] == t->dim[0];
    for (uint32_t k = 1; fits && k < t->n; ++k) fits = t->dim[k] == p->dim[k + 1];
    if (!fits)
        return tg_arg_error(cx, call, 1, "predictions (N, C, …), targets (N, …) and weights (C) do not fit together");
    if (strcmp(reduction, "none") == 0) return tg_like(cx, t, p->dtype);
    if (strcmp(reduction, "mean") != 0 && strcmp(reduction, "sum") != 0)
        return tg_op_error(cx, call, "reduction \"%s\" is not none, mean or sum", reduction);
    return tg_tensor_type(cx, p->dtype, 0, NULL, 0);
}

/* The weight of the target at @p at, 0 when it is ignored; negative log likelihood if @p loss. */
static tg_expr target_value(tg_lower *lo, const tg_at *at, int64_t ignore, bool loss)
{
    tg_ctx *cx = lo->cx;
    int64_t classes = tg_extent(lo->in[2], 0);
    tg_expr target = tg_in(lo, 1, at),
            c = tg_index(lo, tg_clamp(cx, tg_position(lo, target), 0, classes > 0 ? classes - 1 : 0));
    tg_at w = { 1, { c } }, p = { .n = at->n + 1 };
    p.ix[0] = at->ix[0];
    p.ix[1] = c;
    for (uint32_t k = 1; k < at->n; ++k) p.ix[k + 1] = at->ix[k];
    tg_expr weight = tg_in(lo, 2, &w), v = loss ? tg_mul(cx, tg_neg(cx, weight), tg_in(lo, 0, &p)) : weight;
    return tg_guarded(cx, tg_ne(cx, target, tg_int(cx, tg_dtype_of(target), ignore)), v, tg_num(cx, v, 0));
}

static const tg_buffer *sum_targets(tg_lower *lo, const char *name, int64_t ignore, bool loss)
{
    tg_ctx *cx = lo->cx;
    DLDataType d = tg_compute_dtype(lo->out[0]->dtype);
    const tg_buffer *sum = tg_temp_of(lo, name, d, 0, NULL), *t = lo->in[1];
    tg_at none = { 0 }, at = { 0 };
    tg_block_build *b = tg_begin(lo, name);
    for (uint32_t k = 0; k < t->ndim; ++k) tg_at_push(&at, tg_reduce(b, tg_axis_letter(k), tg_extent(t, k)));
    tg_begin_init(b, tg_float(cx, d, 0));
    tg_put(b, sum, tg_add(cx, tg_read(lo, sum, &none), target_value(lo, &at, ignore, loss)), &none);
    return sum;
}

bool tg_lower_nll_loss(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    const char *reduction = tg_attr_str(lo->cx, op, call, "reduction");
    int64_t ignore = tg_attr_int(lo->cx, op, call, "ignore_index");
    tg_at at = { 0 };
    if (strcmp(reduction, "none") == 0) {
        tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
        tg_put(b, lo->out[0], target_value(lo, &at, ignore, true), &at);
        return true;
    }
    const tg_buffer *loss = sum_targets(lo, "loss", ignore, true);
    const tg_buffer *weight = strcmp(reduction, "mean") == 0 ? sum_targets(lo, "weights", ignore, false) : NULL;
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr v = tg_read(lo, loss, &at);
    tg_put(b, lo->out[0], weight != NULL ? tg_div(lo->cx, v, tg_read(lo, weight, &at)) : v, &at);
    return true;
}
