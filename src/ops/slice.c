/* slice.c: parts of a tensor: strided_slice and its relatives, sliding windows. */
#include "build.h"

#include <string.h>

/* One axis of a slice: count elements from begin, stride apart. */
typedef struct cut {
    int64_t begin, stride, count;
} cut;

/* begin and end as the text gives them, negative ones counted from the end; relay-ops.md section 6. */
static cut cut_axis(int64_t d, bool has_begin, int64_t begin, bool has_end, int64_t end, int64_t stride)
{
    if (!has_begin) begin = stride > 0 ? 0 : d - 1;
    else if (begin < 0) begin += d;
    if (!has_end) end = stride > 0 ? d : 0;
    else if (end < 0) end += d;
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? d : d - 1;
    begin = begin < low ? low : begin > high ? high : begin;
    end = end < low ? low : end > high ? high : end;
    int64_t span = stride > 0 ? end - begin : begin - end, step = stride > 0 ? stride : -stride;
    return (cut){ begin, stride, span > 0 ? (span - 1) / step + 1 : 0 };
}

typedef struct slice_lists {
    int64_t begin[TG_MAX_NDIM], end[TG_MAX_NDIM], stride[TG_MAX_NDIM];
    int nbegin, nend, nstride;
} slice_lists;

/* Entry i of the lists as a cut of an axis of extent @p d. */
static bool cut_entry(tg_ctx *cx, const tg_node *call, const slice_lists *s, int i, int64_t d, bool size_mode, cut *out)
{
    int64_t stride = s->nstride == 0 ? 1 : i < s->nstride ? s->stride[i] : s->nstride == 1 ? s->stride[0] : 1;
    bool has_begin = i < s->nbegin, has_end = i < s->nend;
    int64_t begin = has_begin ? s->begin[i] : 0, end = has_end ? s->end[i] : 0;
    if (size_mode) {
        begin += begin < 0 ? d : 0;
        has_end = has_end && end >= 0;
        if (has_end && !tg_add_fits(begin, end, &end)) end = INT64_MAX;
        stride = 1;
    }
    if (stride == 0 || stride == INT64_MIN)
        return tg_op_error(cx, call, "a stride of %lld is not possible", (long long)stride) != NULL;
    *out = cut_axis(d, has_begin, begin, has_end, end, stride);
    return true;
}

static bool read_lists(tg_ctx *cx, const tg_op *op, const tg_node *call, slice_lists *s)
{
    s->nbegin = tg_attr_ints(cx, op, call, "begin", s->begin, TG_MAX_NDIM);
    s->nend = tg_attr_ints(cx, op, call, "end", s->end, TG_MAX_NDIM);
    s->nstride = tg_attr_ints(cx, op, call, "strides", s->stride, TG_MAX_NDIM);
    return s->nbegin >= 0 && s->nend >= 0 && s->nstride >= 0;
}

static bool read_cuts(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, cut *c)
{
    slice_lists s;
    int64_t axes[TG_MAX_NDIM];
    int naxes = tg_attr_ints(cx, op, call, "axes", axes, TG_MAX_NDIM);
    bool listed = !tg_attr_is_none(cx, op, call, "axes") && naxes != 0;
    const char *mode = tg_attr_str(cx, op, call, "slice_mode");
    if (naxes < 0 || !read_lists(cx, op, call, &s)) return false;
    if (strcmp(mode, "end") != 0 && strcmp(mode, "size") != 0)
        return tg_op_error(cx, call, "slice_mode \"%s\" is neither end nor size", mode) != NULL;
    int n = listed ? naxes : s.nbegin > s.nend ? s.nbegin : s.nend;
    if (n > (int)t->n) return tg_arg_error(cx, call, 0, "%d axes are sliced, the data has %u", n, t->n) != NULL;
    for (uint32_t k = 0; k < t->n; ++k) c[k] = (cut){ 0, 1, t->dim[k] };
    for (int i = 0; i < n; ++i) {
        uint32_t k = (uint32_t)i;
        if (listed && !tg_axis_of(cx, call, axes[i], t->n, &k)) return false;
        if (!cut_entry(cx, call, &s, i, t->dim[k], strcmp(mode, "size") == 0, &c[k])) return false;
    }
    return true;
}

const tg_type *tg_type_strided_slice(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    cut c[TG_MAX_NDIM];
    int64_t dim[TG_MAX_NDIM];
    if (t == NULL || !read_cuts(cx, op, call, t, c)) return NULL;
    for (uint32_t k = 0; k < t->n; ++k) dim[k] = c[k].count;
    return tg_tensor_type(cx, t->dtype, t->n, dim, t->wide);
}

bool tg_lower_strided_slice(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    cut c[TG_MAX_NDIM];
    tg_at to, from = { 0 };
    if (!read_cuts(cx, op, call, call->kid[0]->type, c)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    for (uint32_t k = 0; k < to.n; ++k) {
        bool backward = c[k].stride < 0;
        tg_expr step = c[k].count > 1 ? tg_muli(cx, to.ix[k], backward ? -c[k].stride : c[k].stride) : tg_ix(lo, 0);
        tg_at_push(&from, backward ? tg_sub(cx, tg_ix(lo, c[k].begin), step) : tg_addi(cx, step, c[k].begin));
    }
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}

/* ---- strided_set: begin, end and strides are operands; constants in practice, loaded as they are ---- */

const tg_type *tg_type_strided_set(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0), *v = tg_arg_tensor(cx, call, 1);
    if (t == NULL || v == NULL || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    if (v->n != t->n) return tg_arg_error(cx, call, 1, "the values have %u dimensions, the data %u", v->n, t->n);
    for (uint32_t i = 2; i < 5; ++i) {
        const tg_type *list = tg_arg_of_rank(cx, call, i, 1);
        if (list == NULL || !tg_want_int(cx, call, i)) return NULL;
        if (list->dim[0] > (int64_t)t->n)
            return tg_arg_error(cx, call, i, "the list has more entries than the data has dimensions");
    }
    return t;
}

/* Entry k of operand i, or @p otherwise when the list is shorter. */
static tg_expr list_entry(tg_lower *lo, uint32_t i, uint32_t k, tg_expr otherwise)
{
    tg_at at = { 1, { tg_ix(lo, k) } };
    return (int64_t)k < tg_extent(lo->in[i], 0) ? tg_to(lo->cx, lo->index, tg_in(lo, i, &at)) : otherwise;
}

/* A copy of the data, then v[i] at begin + i·stride. */
bool tg_lower_strided_set(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    tg_at from, to = { 0 };
    const tg_buffer *out = lo->out[0];
    tg_copy_block(lo, NULL, lo->in[0], out);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    tg_expr inside = NULL;
    from = (tg_at){ 0 };
    for (uint32_t k = 0; k < out->ndim; ++k) {
        tg_expr d = tg_ix(lo, tg_extent(out, k)), zero = tg_ix(lo, 0);
        tg_expr stride = tg_s_let(s, "stride", list_entry(lo, 4, k, tg_ix(lo, 1)));
        tg_expr begin = tg_s_let(s, "begin", list_entry(lo, 2, k, zero));
        begin = tg_add(cx, begin, tg_choose(cx, tg_lt(cx, begin, zero), d, zero));
        tg_expr back = tg_lt(cx, stride, zero);
        tg_expr low = tg_choose(cx, back, tg_ix(lo, -1), zero), high = tg_choose(cx, back, tg_addi(cx, d, -1), d);
        begin = tg_s_let(s, "first", tg_max(cx, tg_min(cx, begin, high), low));
        tg_expr i = tg_s_for(s, tg_axis_letter(k), zero, tg_ix(lo, tg_extent(lo->in[1], k)));
        tg_at_push(&from, i);
        tg_at_push(&to, tg_add(cx, begin, tg_mul(cx, i, stride)));
        inside = tg_and(cx, inside, tg_within(cx, to.ix[k], 0, tg_extent(out, k)));
    }
    if (inside != NULL) tg_s_if(s, inside);
    tg_s_put(s, out, tg_in_raw(lo, 1, &from), &to);
    for (uint32_t k = 0; k < out->ndim + (inside != NULL); ++k) tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- slice_like: cut x to y's extents ---- */

const tg_type *tg_type_slice_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *y = tg_arg_tensor(cx, call, 1);
    int64_t axes[TG_MAX_NDIM], dim[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "axes", axes, TG_MAX_NDIM);
    uint32_t mask = 0, a;
    if (x == NULL || y == NULL || n < 0) return NULL;
    for (int i = 0; i < n; ++i) {
        if (!tg_axis_of(cx, call, axes[i], x->n, &a)) return NULL;
        mask |= 1u << a;
    }
    for (uint32_t k = 0; k < x->n; ++k) {
        bool cut_here = n == 0 ? k < y->n : (mask >> k & 1) != 0;
        if (cut_here && (k >= y->n || y->dim[k] > x->dim[k]))
            return tg_arg_error(cx, call, 1, "axis %u of the data cannot be cut to that shape", k);
        dim[k] = cut_here ? y->dim[k] : x->dim[k];
    }
    return tg_tensor_type(cx, x->dtype, x->n, dim, x->wide);
}

bool tg_lower_slice_like(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &at), &at);
    return true;
}

/* ---- sliding_window ---- */

typedef struct sliding {
    uint32_t axis;
    int n;
    int64_t size[TG_MAX_NDIM], stride[TG_MAX_NDIM];
} sliding;

static bool read_sliding(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, sliding *w)
{
    if (!tg_attr_axis(cx, op, call, "axis", t->n, &w->axis)) return false;
    w->n = tg_attr_ints(cx, op, call, "window_shape", w->size, TG_MAX_NDIM);
    int ns = tg_attr_ints(cx, op, call, "strides", w->stride, TG_MAX_NDIM);
    if (w->n < 0 || ns < 0) return false;
    if (w->n != (int)(t->n - w->axis) || ns != w->n)
        return tg_arg_error(cx, call, 0, "window_shape and strides need %u values", t->n - w->axis) != NULL;
    for (int i = 0; i < w->n; ++i)
        if (w->size[i] < 1 || w->stride[i] < 1 || w->size[i] > t->dim[w->axis + (uint32_t)i])
            return tg_arg_error(cx, call, 0, "a window of %lld with stride %lld does not fit axis %u",
                                (long long)w->size[i], (long long)w->stride[i], w->axis + (uint32_t)i) != NULL;
    return true;
}

const tg_type *tg_type_sliding_window(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    sliding w;
    int64_t dim[2 * TG_MAX_NDIM];
    if (t == NULL || !read_sliding(cx, op, call, t, &w)) return NULL;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w.axis; ++k) dim[n++] = t->dim[k];
    for (int i = 0; i < w.n; ++i) dim[n++] = (t->dim[w.axis + (uint32_t)i] - w.size[i]) / w.stride[i] + 1;
    for (int i = 0; i < w.n; ++i) dim[n++] = w.size[i];
    return tg_tensor_of(cx, call, t->dtype, n, dim);
}

bool tg_lower_sliding_window(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    sliding w;
    tg_at to, from = { 0 };
    if (!read_sliding(cx, op, call, call->kid[0]->type, &w)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    for (uint32_t k = 0; k < lo->in[0]->ndim; ++k) {
        bool windowed = k >= w.axis;
        tg_expr start = windowed ? tg_muli(cx, to.ix[k], w.stride[k - w.axis]) : to.ix[k];
        tg_at_push(&from, windowed ? tg_add(cx, start, to.ix[k + (uint32_t)w.n]) : start);
    }
    tg_put(b, lo->out[0], tg_in_raw(lo, 0, &from), &to);
    return true;
}
