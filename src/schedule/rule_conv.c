/* rule_conv.c: reductions that can run over a tile of accumulators: convolutions, depthwise ones, products of matrices with the
 * output contiguous in the weights, pooling, sums over outer axes.
 * Lanes: the axis along which every operand is contiguous or constant. Rows: another axis of the output, so that what does not
 * depend on it (the weights of a convolution, the pixels of a product) is read once for all rows.
 * The tile is a small array that the compiler keeps in registers: reduction loops outside, then a plain loop over the lanes of one
 * vector, in it a statement for each row and vector (tile.c). */
#include "rules.h"

typedef struct plan {
    tg_sched *s;
    tg_nest *block, *reader;
    const tg_var *lane, *row; /* iterators of the block; row may be NULL */
    uint32_t lane_at, row_at; /* their places among the iterators, the same in copies of the block */
    DLDataType dtype;         /* of the accumulators */
    bool rows_are_neighbours; /* in the result, lanes are not */
    tg_tile largest;          /* for the record */
} plan;

static int64_t extent_of(const tg_node *block, uint32_t i)
{
    return block->kid[3 * i + 1]->kind == TG_INT ? block->kid[3 * i + 1]->u.i : 0;
}

/* Along @p v every load is contiguous or constant, and some operand moves. */
static bool can_be_lane(const tg_accesses *a, const tg_var *v)
{
    bool moves = false;
    for (uint32_t i = 0; i < a->n; ++i) {
        int64_t stride = tg_access_stride(&a->at[i], v);
        if (a->at[i].own) continue;
        if (!a->at[i].linear || (stride != 0 && stride != 1)) return false;
        moves = moves || stride == 1;
    }
    return moves;
}

/* Of full use in percent: an odd rest costs as much as a vector, and more when the results are not neighbours in memory, which is
 * made up for by a long reduction. */
static int64_t use_of_lanes(const plan *p, int64_t extent, int64_t stride, int64_t reduction)
{
    int64_t lanes = tg_tile_lanes(p->s->target, p->dtype), rest = extent % lanes;
    int64_t use = 100 * extent / (extent - rest + (rest > 0 ? lanes + lanes / 4 : 0));
    return stride == 1 ? use : reduction >= 16 ? use * 9 / 10 : 0;
}

static const tg_var *choose_lane(plan *p, const tg_accesses *a)
{
    const tg_node *n = p->block->node;
    const tg_var *best = NULL;
    int64_t best_use = 0, best_stride = INT64_MAX, reduction = 1;
    for (uint32_t i = 0; i < n->u.block->niters; ++i)
        if (n->u.block->iter[i].kind == TG_ITER_REDUCE && reduction < INT32_MAX) reduction *= extent_of(n, i);
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        int64_t stride = tg_access_stride(&a->at[0], v); /* of the store */
        if (n->u.block->iter[i].kind != TG_ITER_SPATIAL || extent_of(n, i) < 2 || stride < 1 || !can_be_lane(a, v))
            continue;
        int64_t use = use_of_lanes(p, extent_of(n, i), stride, reduction);
        if (use < best_use || (use == best_use && stride > best_stride)) continue;
        best = v;
        best_use = use;
        best_stride = stride;
        p->lane_at = i;
    }
    return best;
}

/* Another axis, if possible one for which some operand stands still. */
static const tg_var *choose_row(plan *p, const tg_accesses *a)
{
    const tg_node *n = p->block->node;
    const tg_var *best = NULL;
    bool best_shares = false;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        if (n->u.block->iter[i].kind != TG_ITER_SPATIAL || extent_of(n, i) < 2 || v == p->lane) continue;
        bool shares = false;
        for (uint32_t k = 0; k < a->n; ++k) shares = shares || (!a->at[k].own && tg_access_stride(&a->at[k], v) == 0);
        int64_t stride = tg_access_stride(&a->at[0], v);
        if (stride > 0 && (shares > best_shares || (shares == best_shares && stride < least))) {
            best_shares = shares;
            least = stride;
            best = v;
            p->row_at = i;
        }
    }
    return best;
}

/* [lanes outside, what lies between, rows outside, rows, lanes], or lanes, rows if those are the neighbours in memory. Returns the
 * loop around the tile. */
static tg_nest *order_tile(plan *p, tg_nest *vo, tg_nest *vi, tg_nest *uo, tg_nest *ui, const tg_nest *reader)
{
    tg_sched *s = p->s;
    tg_nest *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    int n = tg_nest_loops(reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    order[k++] = vo;
    for (int i = 0; i < n; ++i)
        if (tg_nest_under(loops[i], vo) && loops[i] != vo && loops[i] != vi && loops[i] != uo && loops[i] != ui)
            order[k++] = loops[i];
    if (uo != NULL) order[k++] = uo;
    tg_nest *at = order[k - 1];
    if (ui != NULL && p->rows_are_neighbours) {
        order[k++] = vi;
        order[k++] = ui;
    } else {
        if (ui != NULL) order[k++] = ui;
        order[k++] = vi;
    }
    return tg_s_reorder(s, k, order) ? at : NULL;
}

/* The init in front, then the block's loops below @p at: reduction, lanes of a vector, rows, vectors. */
static bool order_block(plan *p, tg_nest *block, const tg_nest *at, const tg_tile *size)
{
    tg_sched *s = p->s;
    const struct tg_block_iter *iter = block->node->u.block->iter;
    tg_nest *loop[TG_MAX_LOOPS], *v = tg_rule_loop_under(s, block, iter[p->lane_at].var, at), *lane = v, *vector = NULL;
    tg_nest *row = p->row != NULL ? tg_rule_loop_under(s, block, iter[p->row_at].var, at) : NULL;
    uint32_t nreduce = tg_rule_reduce_loops(s, block, at, loop), n = nreduce;
    tg_nest *outermost = tg_rule_outermost_under(block, at);
    if (nreduce > 0 && tg_s_decompose(s, block, outermost) == NULL) return false;
    if (size->lanes == 1 || v == NULL) {
        vector = v;
        lane = NULL;
    } else if (size->vectors > 1 && !tg_s_split(s, v, size->lanes, &vector, &lane)) {
        return false;
    }
    if (lane != NULL) loop[n++] = lane;
    if (row != NULL) loop[n++] = row;
    if (vector != NULL) loop[n++] = vector;
    if (nreduce > 0 && !tg_s_reorder(s, n, loop)) return false;
    if (row != NULL) tg_s_mark(s, row, TG_FOR_UNROLLED);
    if (vector != NULL) tg_s_mark(s, vector, TG_FOR_UNROLLED);
    if (lane != NULL) tg_s_mark(s, lane, TG_FOR_VECTORIZED);
    return true;
}

/* One nest of the reader, all of whose extents divide: its tile loops, and the block inside. */
static bool tile(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row, tg_tile size)
{
    tg_sched *s = p->s;
    const tg_nest *reader = tg_nest_next_block(NULL, lane);
    tg_nest *vo, *vi, *uo = NULL, *ui = NULL;
    if (!tg_s_split(s, lane, size.lanes * size.vectors, &vo, &vi) ||
        (row != NULL && !tg_s_split(s, row, size.rows, &uo, &ui)))
        return false;
    tg_nest *at = order_tile(p, vo, vi, uo, ui, reader);
    if (at == NULL || !tg_s_compute_at(s, block, at) || !order_block(p, block, at, &size)) return false;
    if (size.lanes * size.vectors * size.rows > p->largest.lanes * p->largest.vectors * p->largest.rows)
        p->largest = size;
    return true;
}

static tg_nest *reader_in(tg_nest *within)
{
    return tg_nest_next_block(NULL, within);
}

/* In a copied nest: the loop that was called so. */
static tg_nest *loop_named(tg_nest *n, const tg_name *name)
{
    while (n->kind == TG_NEST_LOOP && n->var->name != name) n = n->kid.at[0];
    return n;
}

/* The rows of one nest: whole tiles, then what is left with a smaller one. */
static bool tile_rows(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row, tg_tile size)
{
    tg_sched *s = p->s;
    int64_t whole = row != NULL ? row->extent / size.rows * size.rows : 0;
    if (row == NULL || whole == row->extent) return tile(p, block, lane, row, size);
    tg_nest *first, *rest;
    if (!tg_s_reorder(s, 2, (tg_nest *[]){ row, lane }) || !tg_s_partition(s, row, whole, &first, &rest)) return false;
    tg_nest *other = tg_s_duplicate(s, block, reader_in(rest)), *rest_lane = loop_named(rest, lane->var->name);
    if (other == NULL || !tg_s_reorder(s, 2, (tg_nest *[]){ lane, first }) ||
        !tg_s_reorder(s, 2, (tg_nest *[]){ rest_lane, rest }))
        return false;
    tg_tile smaller = { size.lanes, size.vectors, rest->extent };
    return tile(p, block, lane, first, size) && tile(p, other, rest_lane, rest, smaller);
}

/* The lanes likewise. */
static bool tile_lanes(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row)
{
    tg_sched *s = p->s;
    tg_tile size = tg_tile_choose(s->target, p->dtype, lane->extent, row != NULL ? row->extent : 1);
    int64_t whole = lane->extent / size.lanes * size.lanes;
    if (whole == lane->extent) return tile_rows(p, block, lane, row, size);
    tg_nest *first, *rest;
    if (!tg_s_partition(s, lane, whole, &first, &rest)) return false;
    tg_nest *other = tg_s_duplicate(s, block, reader_in(rest)),
            *rest_row = row == NULL ? NULL : loop_named(rest, row->var->name);
    tg_tile smaller = tg_tile_choose(s->target, p->dtype, rest->extent, row != NULL ? row->extent : 1);
    return other != NULL && tile_rows(p, block, first, row, size) && tile_rows(p, other, rest, rest_row, smaller);
}

/* Whether there is an operand that does not move along the lanes, and it stays in the cache over a whole pass: then one slice of
 * lanes is finished before the next begins, and its weights stay nearest. */
static bool lane_goes_first(plan *p, const tg_accesses *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->n; ++i) {
        int64_t elements = 0;
        bool shared = !a->at[i].own && tg_access_stride(&a->at[i], p->lane) == 0;
        any = any || shared;
        if (shared && tg_buffer_elements(a->at[i].buf, &elements) &&
            elements * (int64_t)tg_dtype_bytes(a->at[i].buf->dtype) > tg_tile_cache(p->s->target))
            return false;
    }
    return any;
}

/* ---- what the block reads of a padded copy ---- */

/* A block that pads what the reduction reads, and how many rows of the output share a band of it. */
typedef struct band {
    tg_nest *pad;
    const tg_var *iter; /* of the reduction: which rows; NULL: there is no band */
    int64_t rows;
    bool by_lanes; /* each slice of lanes reads a slice of the copy */
} band;

static bool find_guard(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    *(bool *)user = *(bool *)user || tg_is_call(n, "if_then_else");
    return true;
}

/* The block that writes @p b under conditions on the index, if it is plain and @p reader alone reads it. */
static tg_nest *padding_of(tg_sched *s, const tg_buffer *b, const tg_nest *reader)
{
    tg_nest *pad = NULL;
    bool guarded = false;
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == reader) continue;
        if (n->kind == TG_NEST_BLOCK && tg_block_output(n->node) == b && pad == NULL) pad = n;
        else if (tg_block_reads(s->cx, n->node, b) || tg_block_writes(s->cx, n->node, b)) return NULL;
    }
    if (pad == NULL || !tg_block_is_complete(s->cx, pad->node) || !tg_nest_is_plain(s, pad)) return NULL;
    tg_visit(s->cx, tg_block_body(pad->node), find_guard, &guarded);
    return guarded ? pad : NULL;
}

/* Rows so that a band, which overlaps the next one, is no more than half as much again as what its rows need. */
static int64_t rows_of_band(int64_t extent, int64_t stride, int64_t reach)
{
    for (int64_t r = 1; r < extent; ++r)
        if (extent % r == 0 && 2 * ((r - 1) * stride + reach) <= 3 * r * stride) return r;
    return extent;
}

/* The outermost dimension of the copy along which windows slide, other than along lanes and rows of the tile. */
static void look_for_band(plan *p, const tg_access *a, band *b)
{
    const tg_node *n = p->block->node;
    for (uint32_t d = 0; d < a->buf->ndim; ++d) {
        tg_linear index;
        int64_t reach = 1, stride = 0, extent = 0;
        const tg_var *iter = NULL;
        if (!tg_linear_of(p->s->cx, a->at->kid[d], &index)) return;
        for (uint32_t i = 0; i < n->u.block->niters; ++i) {
            const tg_var *v = n->u.block->iter[i].var;
            int64_t c = tg_linear_coef(&index, v);
            if (c == 0) continue;
            if (n->u.block->iter[i].kind == TG_ITER_REDUCE) reach += c * (extent_of(n, i) - 1);
            else if (v != p->lane && v != p->row) {
                iter = v;
                stride = c;
                extent = extent_of(n, i);
            }
        }
        if (iter == NULL || stride < 1 || extent < 2 || reach < 1) continue;
        b->rows = rows_of_band(extent, stride, reach);
        b->iter = b->rows < extent ? iter : NULL;
        return;
    }
}

enum { SMALL_COPY = 4096 }; /* bytes that a copy of the whole may take */

static band find_band(plan *p, const tg_accesses *a)
{
    for (uint32_t i = 0; i < a->n; ++i) {
        int64_t elements;
        band b = { .pad = a->at[i].own || !a->at[i].linear ? NULL : padding_of(p->s, a->at[i].buf, p->block) };
        if (b.pad == NULL || !tg_buffer_elements(a->at[i].buf, &elements) ||
            elements * (int64_t)tg_dtype_bytes(a->at[i].buf->dtype) <= SMALL_COPY)
            continue;
        b.by_lanes = tg_access_stride(&a->at[i], p->lane) != 0;
        look_for_band(p, &a->at[i], &b);
        return b;
    }
    return (band){ .pad = NULL };
}

/* ---- the rule ---- */

/* [others…, lane, row], or the lane outermost; with a band: [others as far as the bands, lane, rows of the band, others, row]. */
static bool order_reader(plan *p, tg_nest *lane, tg_nest *row, const tg_nest *bands, bool lane_first)
{
    tg_nest *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    int n = tg_nest_loops(p->reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    if (lane_first && bands == NULL) order[k++] = lane;
    for (int i = 0; i < n; ++i) {
        if (loops[i] != lane && loops[i] != row) order[k++] = loops[i];
        if (loops[i] == bands) order[k++] = lane;
    }
    if (!lane_first && bands == NULL) order[k++] = lane;
    if (row != NULL) order[k++] = row;
    return tg_s_reorder(p->s, k, order);
}

/* The accumulators of the lanes are neighbours, whatever the result looks like. */
static bool lanes_innermost(plan *p)
{
    const tg_node *store = tg_block_store(p->s->cx, p->block->node);
    const tg_buffer *b = store->u.buf;
    uint32_t at = b->ndim, last = 0;
    for (uint32_t d = 0; d < b->ndim; ++d) {
        if (store->kid[d + 1]->kind == TG_VAR && store->kid[d + 1]->u.var == p->lane) at = d;
        if (!tg_is_int_const(b->shape[d], 1)) last = d;
    }
    return at < b->ndim && (at == last || tg_s_relayout(p->s, p->block, at));
}

bool tg_rule_conv(tg_sched *s, tg_nest *block)
{
    plan p = { .s = s, .block = block };
    tg_accesses a;
    if (!tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block)) return false;
    tg_block_accesses(s->cx, block->node, &a);
    if (!a.complete) return false;
    p.dtype = a.at[0].buf->dtype;
    if ((p.lane = choose_lane(&p, &a)) == NULL) return false;
    p.row = choose_row(&p, &a);
    p.reader = tg_rule_epilogue_or_copy(s, block);
    if (p.reader == NULL) return false;
    tg_rule_name_loops(s, block, p.reader);
    tg_nest *lane = tg_rule_reader_loop(s, block, p.reader, p.lane),
            *row = p.row != NULL ? tg_rule_reader_loop(s, block, p.reader, p.row) : NULL;
    if (lane == NULL) return false;
    if (row == NULL) p.row = NULL;
    p.rows_are_neighbours = p.row != NULL && tg_access_stride(&a.at[0], p.row) < tg_access_stride(&a.at[0], p.lane);
    if (!lanes_innermost(&p)) return false;
    band b = find_band(&p, &a);
    tg_nest *bands = b.iter != NULL ? tg_rule_reader_loop(s, block, p.reader, b.iter) : NULL, *within;
    const char *lane_name = lane->var->name->text, *row_name = row != NULL ? row->var->name->text : NULL;
    const char *band_name = bands != NULL ? bands->var->name->text : NULL;
    if (bands != NULL && !tg_s_split(s, bands, b.rows, &bands, &within)) return false;
    if (!order_reader(&p, lane, row, bands, lane_goes_first(&p, &a)) || !tile_lanes(&p, block, lane, row)) return false;
    long long wide = (long long)(p.largest.lanes * p.largest.vectors);
    if (row_name != NULL)
        tg_rule_say(s, "tile %s %lld, %s %lld; accumulators in registers", row_name, (long long)p.largest.rows,
                    lane_name, wide);
    else tg_rule_say(s, "tile %s %lld; accumulators in registers", lane_name, wide);
    bool one_nest = bands != NULL && bands->kid.n == 1 && bands->kid.at[0] == lane;
    if (bands != NULL && tg_s_compute_at(s, b.pad, b.by_lanes && one_nest ? lane : bands))
        tg_rule_say(s, "padded for %lld %s at a time", (long long)b.rows, band_name);
    return true;
}
