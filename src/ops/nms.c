/* nms.c: detection boxes kept or suppressed: valid counts and the forms of non-maximum suppression. All sequential by definition. */
#include "sorting.h"

#include <string.h>

/* ---- boxes ---- */

typedef struct box {
    tg_expr side[4];
} box; /* two corners, in the order of the data */

/* Width times height of the overlap over the area of both; corners in any order. */
static tg_expr iou(tg_ctx *cx, tg_script *s, const box *a, const box *b)
{
    tg_expr zero = tg_num(cx, a->side[0], 0), extent[2], area_a[2], area_b[2];
    for (int k = 0; k < 2; ++k) {
        tg_expr la = tg_min(cx, a->side[k], a->side[k + 2]), ra = tg_max(cx, a->side[k], a->side[k + 2]);
        tg_expr lb = tg_min(cx, b->side[k], b->side[k + 2]), rb = tg_max(cx, b->side[k], b->side[k + 2]);
        extent[k] = tg_max(cx, tg_sub(cx, tg_min(cx, ra, rb), tg_max(cx, la, lb)), zero);
        area_a[k] = tg_sub(cx, ra, la);
        area_b[k] = tg_sub(cx, rb, lb);
    }
    tg_expr both = tg_s_let(s, "overlap", tg_mul(cx, extent[0], extent[1]));
    tg_expr sum = tg_add(cx, tg_mul(cx, area_a[0], area_a[1]), tg_mul(cx, area_b[0], area_b[1]));
    tg_expr all = tg_s_let(s, "all", tg_sub(cx, sum, both));
    return tg_choose(cx, tg_le(cx, all, zero), zero, tg_div(cx, both, all));
}

static box box_at(tg_lower *lo, uint32_t operand, tg_at at, tg_expr row, int64_t first)
{
    box b;
    at.ix[1] = row;
    for (int64_t k = 0; k < 4; ++k) {
        at.ix[2] = tg_ix(lo, first + k);
        b.side[k] = tg_in(lo, operand, &at);
    }
    return b;
}

static tg_expr load_at(tg_lower *lo, const tg_buffer *b, tg_expr i)
{
    tg_at at = { 1, { i } };
    return tg_read(lo, b, &at);
}

/* ---- get_valid_counts ---- */

const tg_type *tg_type_get_valid_counts(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 3);
    int64_t score = tg_attr_int(cx, op, call, "score_index"), id = tg_attr_int(cx, op, call, "id_index");
    if (x == NULL || (call->nkids > 1 && tg_arg_tensor(cx, call, 1) == NULL)) return NULL;
    if (score < 0 || score >= x->dim[2] || id >= x->dim[2])
        return tg_arg_error(cx, call, 0, "score_index or id_index is outside of a row");
    const tg_type *field[3] = { tg_tensor_type(cx, TG_INT32, 1, x->dim, 0), x,
                                tg_tensor_type(cx, TG_INT32, 2, x->dim, 0) };
    return tg_tuple_type(cx, 3, field);
}

bool tg_lower_get_valid_counts(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    int64_t n = tg_extent(x, 1), e = tg_extent(x, 2), score = tg_attr_int(cx, op, call, "score_index"),
            id = tg_attr_int(cx, op, call, "id_index");
    DLDataType d = tg_compute_dtype(x->dtype);
    tg_expr limit =
        lo->nin > 1 ? tg_to(cx, d, tg_in0(lo, 1)) : tg_const(cx, d, tg_attr_float(cx, op, call, "score_threshold"));
    tg_expr zero = tg_ix(lo, 0), minus = tg_num(cx, limit, -1);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr i = tg_spatial(b, "b", tg_extent(x, 0));
    const tg_buffer *count = tg_block_local(b, "count", lo->index, 1);
    tg_script *s = tg_script_new(lo);
    tg_expr kept = tg_get(lo, count, 0);
    tg_s_store(s, count, zero, zero);
    tg_expr j = tg_s_for(s, "j", zero, tg_ix(lo, n));
    tg_at at = { 3, { i, j, tg_ix(lo, score) } }, to = { 3, { i, j, NULL } }, row = { 2, { i, j } };
    tg_expr good = tg_gt(cx, tg_in(lo, 0, &at), limit);
    at.ix[2] = tg_ix(lo, id);
    if (id >= 0) good = tg_and(cx, good, tg_ge(cx, tg_in(lo, 0, &at), tg_num(cx, limit, 0)));
    tg_s_if(s, good);
    tg_expr k = tg_s_for(s, "k", zero, tg_ix(lo, e));
    at.ix[2] = to.ix[2] = k;
    to.ix[1] = kept;
    tg_s_put(s, lo->out[1], tg_in(lo, 0, &at), &to);
    tg_s_end(s);
    row.ix[1] = kept;
    tg_s_put(s, lo->out[2], j, &row);
    tg_s_store(s, count, tg_addi(cx, kept, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
    j = tg_s_for(s, "j", zero, tg_ix(lo, n)); /* rows beyond the count */
    tg_s_if(s, tg_ge(cx, j, kept));
    k = tg_s_for(s, "k", zero, tg_ix(lo, e));
    to.ix[1] = row.ix[1] = j;
    to.ix[2] = k;
    tg_s_put(s, lo->out[1], minus, &to);
    tg_s_end(s);
    tg_s_put(s, lo->out[2], tg_ix(lo, -1), &row);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_store(s, lo->out[0], kept, i);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- greedy suppression: shared ---- */

/* order[0..n): candidates by falling score. A candidate that good() accepts survives unless an earlier survivor overlaps it;
 * keep[] lists survivors, kept[0] their number, at most @p most. */
typedef struct greedy {
    tg_expr n, most, threshold;
    const tg_buffer *order, *keep, *kept;
    bool strict; /* suppressed by an overlap greater than the threshold, not equal */
    box (*box_of)(tg_lower *lo, tg_expr i, const void *user);
    tg_expr (*good)(tg_lower *lo, tg_expr i, const void *user);                  /* may be NULL */
    tg_expr (*same_class)(tg_lower *lo, tg_expr i, tg_expr j, const void *user); /* may be NULL: always */
    const void *user;
} greedy;

static void suppress(tg_lower *lo, tg_block_build *b, tg_script *s, const greedy *g)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *alive = tg_block_local(b, "alive", TG_BOOL, 1);
    tg_expr zero = tg_ix(lo, 0), kept = tg_get(lo, g->kept, 0), yes = tg_int(cx, TG_BOOL, 1),
            no = tg_int(cx, TG_BOOL, 0);
    tg_s_store(s, g->kept, zero, zero);
    tg_expr j = tg_s_for(s, "j", zero, g->n), i = tg_s_let(s, "candidate", load_at(lo, g->order, j));
    tg_expr wanted = tg_lt(cx, kept, g->most);
    if (g->good != NULL) wanted = tg_and(cx, wanted, g->good(lo, i, g->user));
    tg_s_if(s, wanted);
    tg_s_store(s, alive, yes, zero);
    tg_expr k = tg_s_for(s, "k", zero, kept), other = tg_s_let(s, "survivor", load_at(lo, g->keep, k));
    tg_expr matters = tg_get(lo, alive, 0);
    if (g->same_class != NULL) matters = tg_and(cx, matters, g->same_class(lo, i, other, g->user));
    tg_s_if(s, matters);
    box mine = g->box_of(lo, i, g->user), theirs = g->box_of(lo, other, g->user);
    tg_expr overlap = iou(cx, s, &mine, &theirs);
    tg_s_if(s, g->strict ? tg_gt(cx, overlap, g->threshold) : tg_ge(cx, overlap, g->threshold));
    tg_s_store(s, alive, no, zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_if(s, tg_get(lo, alive, 0));
    tg_s_store(s, g->keep, i, kept);
    tg_s_store(s, g->kept, tg_addi(cx, kept, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_end(s);
}

/* ---- non_max_suppression ---- */

typedef struct nms {
    tg_at at;
    int64_t score, id, coord;
    bool same_class_only;
} nms;

static tg_expr nms_field(tg_lower *lo, tg_expr i, const nms *p, int64_t field)
{
    tg_at at = p->at;
    at.ix[1] = i;
    at.ix[2] = tg_ix(lo, field);
    return tg_in(lo, 0, &at);
}

static tg_expr nms_key(tg_lower *lo, tg_expr i, const void *user)
{
    const nms *p = user;
    return nms_field(lo, i, p, p->score);
}

static box nms_box(tg_lower *lo, tg_expr i, const void *user)
{
    const nms *p = user;
    return box_at(lo, 0, p->at, i, p->coord);
}

static tg_expr nms_good(tg_lower *lo, tg_expr i, const void *user)
{
    tg_expr score = nms_key(lo, i, user);
    return tg_gt(lo->cx, score, tg_num(lo->cx, score, 0));
}

static tg_expr nms_same(tg_lower *lo, tg_expr i, tg_expr j, const void *user)
{
    const nms *p = user;
    return tg_eq(lo->cx, nms_field(lo, i, p, p->id), nms_field(lo, j, p, p->id));
}

const tg_type *tg_type_non_max_suppression(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 3), *count = tg_arg_of_rank(cx, call, 1, 1),
                  *indices = tg_arg_of_rank(cx, call, 2, 2);
    int64_t coord = tg_attr_int(cx, op, call, "coord_start"), score = tg_attr_int(cx, op, call, "score_index");
    if (x == NULL || count == NULL || indices == NULL) return NULL;
    for (uint32_t i = 3; i < call->nkids; ++i)
        if (tg_arg_tensor(cx, call, i) == NULL) return NULL;
    if (count->dim[0] != x->dim[0] || indices->dim[0] != x->dim[0] || indices->dim[1] != x->dim[1])
        return tg_arg_error(cx, call, 1, "the counts or indices do not fit the data");
    if (coord < 0 || coord + 4 > x->dim[2] || score < 0 || score >= x->dim[2] ||
        tg_attr_int(cx, op, call, "id_index") >= x->dim[2])
        return tg_arg_error(cx, call, 0, "coord_start, score_index or id_index is outside of a row");
    if (!tg_attr_bool(cx, op, call, "return_indices")) return x;
    int64_t one[2] = { x->dim[0], 1 };
    const tg_type *field[2] = { tg_tensor_type(cx, TG_INT32, 2, x->dim, 0), tg_tensor_type(cx, TG_INT32, 2, one, 0) };
    return tg_tuple_type(cx, 2, field);
}

/* The survivors' positions in the operand "indices", then -1. */
static void put_indices(tg_lower *lo, tg_script *s, const greedy *g, tg_expr batch, int64_t n)
{
    tg_ctx *cx = lo->cx;
    tg_expr kept = tg_get(lo, g->kept, 0), j = tg_s_for(s, "j", tg_ix(lo, 0), tg_ix(lo, n));
    tg_at to = { 2, { batch, j } };
    tg_s_if(s, tg_lt(cx, j, kept));
    tg_at from = { 2, { batch, load_at(lo, g->keep, j) } };
    tg_s_put(s, lo->out[0], tg_in(lo, 2, &from), &to);
    tg_s_else(s);
    tg_s_put(s, lo->out[0], tg_ix(lo, -1), &to);
    tg_s_end(s);
    tg_s_end(s);
    to.ix[1] = tg_ix(lo, 0);
    tg_s_put(s, lo->out[1], kept, &to);
}

/* Rows of the data: survivors at their place in the sorted order, or one after another when @p compact; else -1. */
static void put_rows(tg_lower *lo, tg_script *s, const greedy *g, tg_expr batch, int64_t n, int64_t e, bool compact)
{
    tg_ctx *cx = lo->cx;
    tg_expr zero = tg_ix(lo, 0), minus = tg_const(cx, tg_compute_dtype(lo->out[0]->dtype), -1);
    tg_expr j = tg_s_for(s, "j", zero, tg_ix(lo, n)), k = tg_s_for(s, "k", zero, tg_ix(lo, e));
    tg_at to = { 3, { batch, j, k } };
    tg_s_put(s, lo->out[0], minus, &to);
    tg_s_end(s);
    tg_s_end(s);
    tg_expr i = tg_s_for(s, "i", zero, tg_get(lo, g->kept, 0)), row = tg_s_let(s, "survivor", load_at(lo, g->keep, i));
    if (!compact) { /* survivors keep the order: find where it stands */
        j = tg_s_for(s, "j", zero, g->n);
        tg_s_if(s, tg_eq(cx, load_at(lo, g->order, j), row));
    }
    k = tg_s_for(s, "k", zero, tg_ix(lo, e));
    to = (tg_at){ 3, { batch, compact ? i : j, k } };
    tg_at from = { 3, { batch, row, k } };
    tg_s_put(s, lo->out[0], tg_in(lo, 0, &from), &to);
    for (int c = 0; c < (compact ? 2 : 4); ++c) tg_s_end(s);
}

bool tg_lower_non_max_suppression(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *x = lo->in[0];
    int64_t n = tg_extent(x, 1), e = tg_extent(x, 2), top = tg_attr_int(cx, op, call, "top_k");
    nms p = { .score = tg_attr_int(cx, op, call, "score_index"),
              .id = tg_attr_int(cx, op, call, "id_index"),
              .coord = tg_attr_int(cx, op, call, "coord_start") };
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr batch = tg_spatial(b, "b", tg_extent(x, 0));
    p.at = (tg_at){ 3, { batch, NULL, NULL } };
    const tg_buffer *keep = tg_block_local(b, "keep", lo->index, n > 0 ? n : 1),
                    *kept = tg_block_local(b, "kept", lo->index, 1);
    tg_script *s = tg_script_new(lo);
    tg_at one = { 1, { batch } };
    tg_expr valid = tg_s_let(s, "valid", tg_index(lo, tg_clamp(cx, tg_position(lo, tg_in(lo, 1, &one)), 0, n)));
    greedy g = { .keep = keep, .kept = kept, .box_of = nms_box, .good = nms_good, .user = &p };
    g.order = tg_s_sort(lo, b, s, valid, n, false, nms_key, &p);
    g.n = top > 0 ? tg_min(cx, valid, tg_ix(lo, top < n ? top : n)) : valid;
    g.most = tg_ix(lo, n);
    if (lo->nin > 3) { /* -1: no limit */
        tg_expr most = tg_s_let(s, "most", tg_position(lo, tg_in0(lo, 3)));
        g.most =
            tg_choose(cx, tg_lt(cx, most, tg_num(cx, most, 0)), tg_ix(lo, n), tg_index(lo, tg_clamp(cx, most, 0, n)));
    }
    DLDataType d = tg_compute_dtype(x->dtype);
    g.threshold =
        lo->nin > 4 ? tg_to(cx, d, tg_in0(lo, 4)) : tg_const(cx, d, tg_attr_float(cx, op, call, "iou_threshold"));
    bool classes = !tg_attr_bool(cx, op, call, "force_suppress") && p.id >= 0;
    g.same_class = classes ? nms_same : NULL;
    suppress(lo, b, s, &g);
    if (tg_attr_bool(cx, op, call, "return_indices")) put_indices(lo, s, &g, batch, n);
    else put_rows(lo, s, &g, batch, n, e, tg_attr_bool(cx, op, call, "invalid_to_bottom"));
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- all_class_non_max_suppression ---- */

typedef struct per_class {
    tg_expr batch, column;
    tg_expr limit;
    bool inclusive;
    bool scores_last;
    int64_t offset;
} per_class;

static tg_expr class_score(tg_lower *lo, tg_expr i, const void *user)
{
    const per_class *p = user;
    tg_at at = { 3, { p->batch, p->column, i } }, last = { 3, { p->batch, i, p->column } };
    if (p->offset != 0) last.ix[2] = tg_addi(lo->cx, p->column, p->offset);
    return tg_in(lo, 1, p->scores_last ? &last : &at);
}

static tg_expr class_good(tg_lower *lo, tg_expr i, const void *user)
{
    const per_class *p = user;
    tg_expr score = class_score(lo, i, user);
    return p->inclusive ? tg_ge(lo->cx, score, p->limit) : tg_gt(lo->cx, score, p->limit);
}

static box class_box(tg_lower *lo, tg_expr i, const void *user)
{
    const per_class *p = user;
    tg_at at = { 3, { p->batch, NULL, NULL } };
    return box_at(lo, 0, at, i, 0);
}

const tg_type *tg_type_all_class_nms(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *boxes = tg_arg_of_rank(cx, call, 0, 3), *scores = tg_arg_of_rank(cx, call, 1, 3);
    const char *format = tg_attr_str(cx, op, call, "output_format");
    int64_t each, all, one = 1;
    if (boxes == NULL || scores == NULL || !tg_want_float(cx, call, 0) || !tg_want_float(cx, call, 1)) return NULL;
    for (uint32_t i = 2; i < 5; ++i)
        if (tg_arg_tensor(cx, call, i) == NULL) return NULL;
    if (boxes->dim[2] != 4 || boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[2])
        return tg_arg_error(cx, call, 1, "boxes (B, N, 4) and scores (B, C, N) do not fit together");
    if (!tg_mul_fits(scores->dim[1], scores->dim[2], &each) || !tg_mul_fits(scores->dim[0], each, &all))
        return tg_op_error(cx, call, "the result is too large");
    int64_t onnx[2] = { all, 3 }, tf[3] = { scores->dim[0], each, 2 };
    if (strcmp(format, "onnx") == 0) {
        const tg_type *field[2] = { tg_tensor_type(cx, TG_INT64, 2, onnx, 0),
                                    tg_tensor_type(cx, TG_INT64, 1, &one, 0) };
        return tg_tuple_type(cx, 2, field);
    }
    if (strcmp(format, "tensorflow") != 0)
        return tg_op_error(cx, call, "output_format \"%s\" is not onnx or tensorflow", format);
    const tg_type *field[3] = { tg_tensor_type(cx, TG_INT64, 3, tf, 0), tg_tensor_type(cx, scores->dtype, 2, tf, 0),
                                tg_tensor_type(cx, TG_INT64, 1, tf, 0) };
    return tg_tuple_type(cx, 3, field);
}

bool tg_lower_all_class_nms(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *scores = lo->in[1];
    bool onnx = strcmp(tg_attr_str(cx, op, call, "output_format"), "onnx") == 0;
    int64_t nb = tg_extent(scores, 0), nc = tg_extent(scores, 1), n = tg_extent(scores, 2);
    DLDataType d = tg_compute_dtype(scores->dtype);
    for (uint32_t k = 0; k + 1 < lo->nout; ++k)
        tg_fill_block(lo, "zeros", lo->out[k], tg_const(cx, lo->out[k]->dtype, 0));
    tg_block_build *b = tg_begin(lo, NULL);
    const tg_buffer *total = tg_block_local(b, "total", lo->index, 1), *kept = tg_block_local(b, "kept", lo->index, 1);
    const tg_buffer *keep = tg_block_local(b, "keep", lo->index, n > 0 ? n : 1);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), count = tg_get(lo, total, 0);
    tg_expr most = tg_s_let(s, "most", tg_index(lo, tg_clamp(cx, tg_position(lo, tg_in0(lo, 2)), 0, n)));
    per_class p = { .limit = tg_to(cx, d, tg_in0(lo, 4)) };
    if (onnx) tg_s_store(s, total, zero, zero);
    p.batch = tg_s_for(s, "b", zero, tg_ix(lo, nb));
    if (!onnx) tg_s_store(s, total, zero, zero);
    p.column = tg_s_for(s, "c", zero, tg_ix(lo, nc));
    greedy g = {
        .n = tg_ix(lo, n), .most = most, .keep = keep, .kept = kept, .box_of = class_box, .good = class_good, .user = &p
    };
    g.threshold = tg_to(cx, tg_compute_dtype(lo->in[0]->dtype), tg_in0(lo, 3));
    g.order = tg_s_sort(lo, b, s, g.n, n, false, class_score, &p);
    suppress(lo, b, s, &g);
    tg_expr j = tg_s_for(s, "j", zero, tg_get(lo, kept, 0)), row = tg_s_let(s, "survivor", load_at(lo, keep, j));
    tg_expr part[3] = { p.batch, p.column, row };
    for (int64_t k = onnx ? 0 : 1; k < 3; ++k) {
        tg_at to = onnx ? (tg_at){ 2, { count, tg_ix(lo, k) } } : (tg_at){ 3, { p.batch, count, tg_ix(lo, k - 1) } };
        tg_s_put(s, lo->out[0], part[k], &to);
    }
    tg_at to = { 2, { p.batch, count } };
    if (!onnx) tg_s_put(s, lo->out[1], class_score(lo, row, &p), &to);
    tg_s_store(s, total, tg_addi(cx, count, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
    if (!onnx) tg_s_store(s, lo->out[2], count, p.batch);
    tg_s_end(s);
    if (onnx) tg_s_store(s, lo->out[1], count, zero);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- regular_non_max_suppression: TensorFlow Lite's ---- */

typedef struct regular {
    int64_t per_class, detections, classes, offset;
} regular;

static bool read_regular(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t columns, regular *r)
{
    *r = (regular){ tg_attr_int(cx, op, call, "max_detections_per_class"), tg_attr_int(cx, op, call, "max_detections"),
                    tg_attr_int(cx, op, call, "num_classes"), 0 };
    r->offset = columns - r->classes;
    return (r->per_class >= 1 && r->detections >= 1 && r->classes >= 1 && r->offset >= 0 && r->per_class <= INT32_MAX &&
            r->detections <= INT32_MAX) ||
           tg_op_error(cx, call, "a count of detections or classes is not possible") != NULL;
}

const tg_type *tg_type_regular_nms(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *boxes = tg_arg_of_rank(cx, call, 0, 3), *scores = tg_arg_of_rank(cx, call, 1, 3);
    regular r;
    if (boxes == NULL || scores == NULL || !tg_want_float(cx, call, 0) || !tg_same_dtype(cx, call, 0, 1) ||
        !read_regular(cx, op, call, scores->dim[2], &r))
        return NULL;
    if (boxes->dim[2] != 4 || boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[1])
        return tg_arg_error(cx, call, 1, "boxes (B, N, 4) and scores (B, N, C) do not fit together");
    int64_t dim[3] = { boxes->dim[0], r.detections, 4 };
    const tg_type *field[4] = { tg_tensor_of(cx, call, boxes->dtype, 3, dim), tg_tensor_type(cx, TG_FLOAT32, 2, dim, 0),
                                tg_tensor_type(cx, scores->dtype, 2, dim, 0), tg_tensor_type(cx, TG_INT32, 1, dim, 0) };
    return tg_tuple_type(cx, 4, field);
}

/* Survivors of all classes, gathered: which box, which class. */
typedef struct gathered {
    const tg_buffer *which, *column;
    per_class *p;
} gathered;

static tg_expr gathered_score(tg_lower *lo, tg_expr i, const void *user)
{
    const gathered *h = user;
    per_class p = *h->p;
    p.column = load_at(lo, h->column, i);
    return class_score(lo, load_at(lo, h->which, i), &p);
}

bool tg_lower_regular_nms(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *scores = lo->in[1];
    int64_t n = tg_extent(scores, 1), room;
    regular r;
    if (!read_regular(cx, op, call, tg_extent(scores, 2), &r)) return false;
    int64_t each = r.per_class < n ? r.per_class : n;
    if (!tg_mul_fits(each > 0 ? each : 1, r.classes, &room) || room > INT32_MAX)
        return tg_op_error(cx, call, "there are too many candidates") != NULL;
    DLDataType d = tg_compute_dtype(scores->dtype);
    for (uint32_t k = 0; k < 3; ++k) tg_fill_block(lo, "zeros", lo->out[k], tg_const(cx, lo->out[k]->dtype, 0));
    tg_block_build *b = tg_begin(lo, NULL);
    per_class p = { .batch = tg_spatial(b, "b", tg_extent(scores, 0)),
                    .limit = tg_float(cx, d, tg_attr_float(cx, op, call, "score_threshold")),
                    .inclusive = true,
                    .scores_last = true,
                    .offset = r.offset };
    const tg_buffer *total = tg_block_local(b, "total", lo->index, 1), *kept = tg_block_local(b, "kept", lo->index, 1);
    const tg_buffer *keep = tg_block_local(b, "keep", lo->index, n > 0 ? n : 1);
    gathered h = { tg_block_local(b, "which", lo->index, room), tg_block_local(b, "column", lo->index, room), &p };
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), count = tg_get(lo, total, 0);
    tg_s_store(s, total, zero, zero);
    p.column = tg_s_for(s, "c", zero, tg_ix(lo, r.classes));
    greedy g = { .n = tg_ix(lo, n),
                 .most = tg_ix(lo, each),
                 .keep = keep,
                 .kept = kept,
                 .box_of = class_box,
                 .good = class_good,
                 .user = &p,
                 .strict = true,
                 .threshold = tg_float(cx, d, tg_attr_float(cx, op, call, "iou_threshold")) };
    g.order = tg_s_sort(lo, b, s, g.n, n, false, class_score, &p);
    suppress(lo, b, s, &g);
    tg_expr j = tg_s_for(s, "j", zero, tg_get(lo, kept, 0));
    tg_s_store(s, h.which, load_at(lo, keep, j), count);
    tg_s_store(s, h.column, p.column, count);
    tg_s_store(s, total, tg_addi(cx, count, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_expr found = tg_s_let(s, "found", count), best = tg_s_let(s, "best", tg_min(cx, found, tg_ix(lo, r.detections)));
    const tg_buffer *order = tg_s_sort(lo, b, s, found, room, false, gathered_score, &h);
    j = tg_s_for(s, "j", zero, best);
    tg_expr from = tg_s_let(s, "from", load_at(lo, order, j)), row = tg_s_let(s, "box", load_at(lo, h.which, from));
    tg_at to = { 2, { p.batch, j } };
    tg_s_put(s, lo->out[1], load_at(lo, h.column, from), &to);
    tg_s_put(s, lo->out[2], gathered_score(lo, from, &h), &to);
    for (int64_t k = 0; k < 4; ++k) {
        tg_at src = { 3, { p.batch, row, tg_ix(lo, k) } }, dst = { 3, { p.batch, j, tg_ix(lo, k) } };
        tg_s_put(s, lo->out[0], tg_in(lo, 0, &src), &dst);
    }
    tg_s_end(s);
    tg_s_store(s, lo->out[3], best, p.batch);
    tg_end_body(b, tg_script_done(s));
    return true;
}
