/* sort.c: sorting, the largest k, unique values. One stable bottom-up merge sort serves them all. */
#include "sorting.h"

#include <string.h>

/* Whether x must stand before y, which comes earlier in the data. */
static tg_expr stands_before(tg_ctx *cx, tg_expr x, tg_expr y, bool ascending)
{
    tg_expr less = ascending ? tg_lt(cx, x, y) : tg_gt(cx, x, y);
    if (!tg_is_float(tg_dtype_of(x))) return less;
    tg_expr nan_x = tg_call1(cx, "isnan", x), nan_y = tg_call1(cx, "isnan", y);
    return tg_or(cx, less, ascending ? tg_and(cx, nan_y, tg_not(cx, nan_x)) : tg_and(cx, nan_x, tg_not(cx, nan_y)));
}

/* Merges the runs order[low..mid) and order[mid..high) into work. */
static void merge_runs(tg_lower *lo, tg_script *s, const tg_buffer *order, const tg_buffer *work, const tg_buffer *at,
                       tg_expr low, tg_expr mid, tg_expr high, bool ascending, tg_key_fn key, const void *user)
{
    tg_ctx *cx = lo->cx;
    tg_expr zero = tg_ix(lo, 0), one = tg_ix(lo, 1), left = tg_get(lo, at, 0), right = tg_get(lo, at, 1);
    tg_s_store(s, at, low, zero);
    tg_s_store(s, at, mid, one);
    tg_expr k = tg_s_for(s, "k", zero, tg_sub(cx, high, low));
    tg_at l = { 1, { left } }, r = { 1, { right } };
    tg_expr x = key(lo, tg_read(lo, order, &r), user), y = key(lo, tg_read(lo, order, &l), user);
    tg_expr no = tg_int(cx, TG_BOOL, 0), yes = tg_int(cx, TG_BOOL, 1);
    tg_expr take_right = tg_guarded(cx, tg_ge(cx, left, mid), yes,
                                    tg_guarded(cx, tg_ge(cx, right, high), no, stands_before(cx, x, y, ascending)));
    tg_s_if(s, take_right);
    tg_s_store(s, work, tg_read(lo, order, &r), tg_add(cx, low, k));
    tg_s_store(s, at, tg_addi(cx, right, 1), one);
    tg_s_else(s);
    tg_s_store(s, work, tg_read(lo, order, &l), tg_add(cx, low, k));
    tg_s_store(s, at, tg_addi(cx, left, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
}

const tg_buffer *tg_s_sort(tg_lower *lo, tg_block_build *b, tg_script *s, tg_expr n, int64_t max, bool ascending,
                           tg_key_fn key, const void *user)
{
    tg_ctx *cx = lo->cx;
    if (max > INT32_MAX / 4) tg_lower_wide(lo);
    int64_t room = max > 0 ? max : 1;
    const tg_buffer *order = tg_block_local(b, "order", lo->index, room),
                    *work = tg_block_local(b, "work", lo->index, room);
    const tg_buffer *at = tg_block_local(b, "at", lo->index, 3);
    tg_expr zero = tg_ix(lo, 0), two = tg_ix(lo, 2), width = tg_get(lo, at, 2);
    tg_expr i = tg_s_for(s, "i", zero, n);
    tg_s_store(s, order, i, i);
    tg_s_end(s);
    tg_s_store(s, at, tg_ix(lo, 1), two);
    tg_s_while(s, tg_lt(cx, width, n)); /* runs of this length are sorted */
    tg_expr step = tg_s_let(s, "step", tg_muli(cx, width, 2));
    tg_expr run = tg_s_for(s, "run", zero, tg_floordiv(cx, tg_addi(cx, tg_add(cx, n, step), -1), step));
    tg_expr low = tg_s_let(s, "low", tg_mul(cx, run, step));
    tg_expr mid = tg_s_let(s, "mid", tg_min(cx, tg_add(cx, low, width), n)),
            high = tg_s_let(s, "high", tg_min(cx, tg_add(cx, low, step), n));
    merge_runs(lo, s, order, work, at, low, mid, high, ascending, key, user);
    tg_s_end(s);
    i = tg_s_for(s, "i", zero, n);
    tg_at p = { 1, { i } };
    tg_s_store(s, order, tg_read(lo, work, &p), i);
    tg_s_end(s);
    tg_s_store(s, at, step, two);
    tg_s_end(s);
    return order;
}

/* ---- rows along one axis ---- */

typedef struct row {
    tg_at at;
    uint32_t axis;
} row;

static tg_expr row_key(tg_lower *lo, tg_expr i, const void *user)
{
    const row *r = user;
    tg_at at = r->at;
    at.ix[r->axis] = i;
    return tg_in(lo, 0, &at);
}

/* A block with a spatial axis for every dimension but the sorted one. */
static tg_block_build *begin_row(tg_lower *lo, row *r)
{
    const tg_buffer *x = lo->in[0];
    tg_block_build *b = tg_begin(lo, NULL);
    r->at.n = x->ndim;
    for (uint32_t k = 0; k < x->ndim; ++k)
        if (k != r->axis) r->at.ix[k] = tg_spatial(b, tg_axis_letter(k), tg_extent(x, k));
    return b;
}

const tg_type *tg_type_sort(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    uint32_t axis;
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    return strcmp(op->name, "sort") == 0 ? t : tg_like(cx, t, tg_attr_dtype(cx, op, call, "dtype", TG_INT32));
}

static void store_sorted(tg_lower *lo, tg_script *s, const row *r, const tg_buffer *order, int64_t n,
                         const tg_buffer *values, const tg_buffer *indices)
{
    tg_expr i = tg_s_for(s, "i", tg_ix(lo, 0), tg_ix(lo, n));
    tg_at p = { 1, { i } }, to = r->at;
    tg_expr from = tg_s_let(s, "from", tg_read(lo, order, &p));
    to.ix[r->axis] = i;
    if (values != NULL) tg_s_put(s, values, row_key(lo, from, r), &to);
    if (indices != NULL) tg_s_put(s, indices, from, &to);
    tg_s_end(s);
}

bool tg_lower_sort(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    row r = { 0 };
    bool values = strcmp(op->name, "sort") == 0;
    if (!tg_attr_axis(cx, op, call, "axis", lo->in[0]->ndim, &r.axis)) return false;
    int64_t n = tg_extent(lo->in[0], r.axis);
    tg_block_build *b = begin_row(lo, &r);
    tg_script *s = tg_script_new(lo);
    const tg_buffer *order = tg_s_sort(lo, b, s, tg_ix(lo, n), n, tg_attr_bool(cx, op, call, "is_ascend"), row_key, &r);
    store_sorted(lo, s, &r, order, n, values ? lo->out[0] : NULL, values ? NULL : lo->out[0]);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- topk ---- */

enum { TOPK_VALUES = 1, TOPK_INDICES = 2 };

static int read_ret_type(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const char *text = tg_attr_str(cx, op, call, "ret_type");
    if (strcmp(text, "both") == 0) return TOPK_VALUES | TOPK_INDICES;
    return strcmp(text, "values") == 0 ? TOPK_VALUES : strcmp(text, "indices") == 0 ? TOPK_INDICES : 0;
}

const tg_type *tg_type_topk(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t k = tg_attr_int(cx, op, call, "k"), dim[TG_MAX_NDIM];
    int ret = read_ret_type(cx, op, call);
    uint32_t axis;
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
    if (ret == 0) return tg_op_error(cx, call, "ret_type must be both, values or indices");
    if (k > t->dim[axis])
        return tg_arg_error(cx, call, 0, "the largest %lld of %lld elements are asked for", (long long)k,
                            (long long)t->dim[axis]);
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    dim[axis] = k < 1 ? t->dim[axis] : k;
    const tg_type *field[2] = { tg_tensor_type(cx, t->dtype, t->n, dim, t->wide), NULL };
    field[1] = tg_like(cx, field[0], tg_attr_dtype(cx, op, call, "dtype", TG_INT32));
    if (ret == (TOPK_VALUES | TOPK_INDICES)) return tg_tuple_type(cx, 2, field);
    return ret == TOPK_VALUES ? field[0] : field[1];
}

bool tg_lower_topk(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    int ret = read_ret_type(cx, op, call);
    row r = { 0 };
    if (!tg_attr_axis(cx, op, call, "axis", lo->in[0]->ndim, &r.axis)) return false;
    int64_t n = tg_extent(lo->in[0], r.axis);
    tg_block_build *b = begin_row(lo, &r);
    tg_script *s = tg_script_new(lo);
    const tg_buffer *order = tg_s_sort(lo, b, s, tg_ix(lo, n), n, tg_attr_bool(cx, op, call, "is_ascend"), row_key, &r);
    const tg_buffer *values = ret & TOPK_VALUES ? lo->out[0] : NULL,
                    *indices = ret & TOPK_INDICES ? lo->out[lo->nout - 1] : NULL;
    store_sorted(lo, s, &r, order, tg_extent(lo->out[0], r.axis), values, indices);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- unique: values, first positions, inverse, count [, counts] ---- */

const tg_type *tg_type_unique(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_of_rank(cx, call, 0, 1);
    int64_t one = 1;
    if (t == NULL) return NULL;
    const tg_type *n = tg_like(cx, t, TG_INT32), *field[5] = { t, n, n, tg_tensor_type(cx, TG_INT32, 1, &one, 0), n };
    return tg_tuple_type(cx, tg_attr_bool(cx, op, call, "return_counts") ? 5 : 4, field);
}

static tg_expr first_key(tg_lower *lo, tg_expr i, const void *user)
{
    tg_at at = { 1, { i } };
    return tg_read(lo, user, &at);
}

/* Groups of equal values from the sorted order: first[g] the position where value g stands first, group[i] the group of element
 * i, size[g]. @return the number of groups (a local of one element). */
static const tg_buffer *find_groups(tg_lower *lo, tg_block_build *b, tg_script *s, const tg_buffer *order, int64_t n,
                                    const row *r, const tg_buffer *first, const tg_buffer *group, const tg_buffer *size)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *count = tg_block_local(b, "groups", lo->index, 1);
    tg_expr zero = tg_ix(lo, 0), g = tg_get(lo, count, 0);
    tg_s_store(s, count, zero, zero);
    tg_expr i = tg_s_for(s, "i", zero, tg_ix(lo, n));
    tg_at here = { 1, { i } }, before = { 1, { tg_addi(cx, i, -1) } };
    tg_expr at = tg_s_let(s, "pos", tg_read(lo, order, &here));
    tg_expr differs = tg_ne(cx, row_key(lo, at, r), row_key(lo, tg_read(lo, order, &before), r));
    tg_s_if(s, tg_guarded(cx, tg_eq(cx, i, zero), tg_int(cx, TG_BOOL, 1), differs));
    tg_s_store(s, first, at, g);
    tg_s_store(s, size, zero, g);
    tg_s_store(s, count, tg_addi(cx, g, 1), zero);
    tg_s_end(s);
    tg_expr last = tg_s_let(s, "group", tg_addi(cx, g, -1));
    tg_at l = { 1, { last } };
    tg_s_store(s, group, last, at);
    tg_s_store(s, size, tg_addi(cx, tg_read(lo, size, &l), 1), last);
    tg_s_end(s);
    return count;
}

bool tg_lower_unique(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    bool sorted = tg_attr_bool(cx, op, call, "sorted");
    int64_t n = tg_extent(lo->in[0], 0), room = n > 0 ? n : 1;
    row r = { .at = { .n = 1 }, .axis = 0 };
    tg_block_build *b = tg_begin(lo, NULL);
    tg_script *s = tg_script_new(lo);
    const tg_buffer *order = tg_s_sort(lo, b, s, tg_ix(lo, n), n, true, row_key, &r);
    const tg_buffer *first = tg_block_local(b, "first", lo->index, room),
                    *group = tg_block_local(b, "group", lo->index, room);
    const tg_buffer *size = tg_block_local(b, "size", lo->index, room),
                    *place = tg_block_local(b, "place", lo->index, room);
    const tg_buffer *count = find_groups(lo, b, s, order, n, &r, first, group, size);
    tg_expr zero = tg_ix(lo, 0), groups = tg_s_let(s, "count", tg_get(lo, count, 0));
    const tg_buffer *by_first = sorted ? NULL : tg_s_sort(lo, b, s, groups, n, true, first_key, first);
    tg_expr i = tg_s_for(s, "i", zero, groups);
    tg_at p = { 1, { i } };
    tg_expr g = sorted ? i : tg_s_let(s, "from", tg_read(lo, by_first, &p));
    tg_at from = { 1, { g } };
    tg_expr at = tg_s_let(s, "pos", tg_read(lo, first, &from));
    tg_s_store(s, place, i, g); /* where group g stands in the results */
    tg_s_put(s, lo->out[0], row_key(lo, at, &r), &p);
    tg_s_put(s, lo->out[1], at, &p);
    if (lo->nout > 4) tg_s_put(s, lo->out[4], tg_read(lo, size, &from), &p);
    tg_s_end(s);
    i = tg_s_for(s, "i", zero, tg_ix(lo, n));
    p.ix[0] = i;
    tg_at of = { 1, { tg_read(lo, group, &p) } };
    tg_s_put(s, lo->out[2], tg_read(lo, place, &of), &p);
    tg_s_if(s, tg_ge(cx, i, groups)); /* beyond the groups: zeros */
    tg_s_put(s, lo->out[0], tg_const(cx, lo->out[0]->dtype, 0), &p);
    tg_s_put(s, lo->out[1], zero, &p);
    if (lo->nout > 4) tg_s_put(s, lo->out[4], zero, &p);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_store(s, lo->out[3], groups, zero);
    tg_end_body(b, tg_script_done(s));
    return true;
}
