/* rule_conv.c: reductions that can run over a tile of accumulators: convolutions, depthwise ones, products of matrices with the
 * output contiguous in the weights, pooling, sums over outer axes.
 * Lanes: the axis along which every operand is contiguous or constant. Rows: another axis of the output, so that what does not
 * depend on it (the weights of a convolution, the pixels of a product) is read once for all rows.
 * The tile is a small array that the compiler keeps in registers: reduction loops outside, rows unrolled, lanes a plain loop. */
#include "rules.h"

typedef struct plan {
    tg_sched *s;
    tg_nest *block, *reader;
    const tg_var *lane, *row;       /* iterators of the block; row may be NULL */
    DLDataType dtype;               /* of the accumulators */
    int64_t best_lanes, best_rows;
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
        if (a->at[i].own)
            continue;
        if (!a->at[i].linear || (stride != 0 && stride != 1))
            return false;
        moves = moves || stride == 1;
    }
    return moves;
}

static const tg_var *choose_lane(plan *p, const tg_accesses *a)
{
    const tg_node *n = p->block->node;
    const tg_var *best = NULL;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        if (n->u.block->iter[i].kind != TG_ITER_SPATIAL || extent_of(n, i) < 2 || !can_be_lane(a, v))
            continue;
        int64_t stride = tg_access_stride(&a->at[0], v);        /* of the store */
        if (stride > 0 && stride < least) {
            least = stride;
            best = v;
        }
    }
    return best;
}

/* Another axis for which something that moves along the lanes, or along the reduction, stands still. */
static const tg_var *choose_row(plan *p, const tg_accesses *a)
{
    const tg_node *n = p->block->node;
    const tg_var *best = NULL;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        if (n->u.block->iter[i].kind != TG_ITER_SPATIAL || extent_of(n, i) < 2 || v == p->lane)
            continue;
        bool shares = false;
        for (uint32_t k = 0; k < a->n; ++k)
            shares = shares || (!a->at[k].own && tg_access_stride(&a->at[k], v) == 0);
        int64_t stride = tg_access_stride(&a->at[0], v);
        if (shares && stride > 0 && stride < least) {
            least = stride;
            best = v;
        }
    }
    return best;
}

/* One nest of the reader, all of whose extents divide: its tile loops, the block inside, the reduction around the tile. */
static bool tile(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row, int64_t lanes, int64_t rows)
{
    tg_sched *s = p->s;
    tg_nest *vo, *vi, *uo = NULL, *ui = NULL, *at;
    if (!tg_s_split(s, lane, lanes, &vo, &vi) || (row != NULL && !tg_s_split(s, row, rows, &uo, &ui)))
        return false;
    tg_nest *order[4] = { vo, uo, ui, vi };
    if (row != NULL && !tg_s_reorder(s, 4, order))
        return false;
    at = row != NULL ? uo : vo;
    if (!tg_s_compute_at(s, block, at))
        return false;
    tg_nest *loop[TG_MAX_LOOPS];
    uint32_t nreduce = tg_rule_reduce_loops(s, block, at, loop), n = nreduce;
    tg_nest *v = tg_rule_loop_under(s, block, p->lane, at), *u = row != NULL ? tg_rule_loop_under(s, block, p->row, at) : NULL;
    bool inside = tg_tile_rows_inside(lanes);
    if (u != NULL && !inside)
        loop[n++] = u;
    if (v != NULL)
        loop[n++] = v;
    if (u != NULL && inside)
        loop[n++] = u;
    if (nreduce > 0 && (!tg_s_reorder(s, n, loop) || tg_s_decompose(s, block, loop[0]) == NULL))
        return false;
    if (u != NULL)
        tg_s_mark(s, u, TG_FOR_UNROLLED);
    if (v != NULL)
        tg_s_mark(s, v, tg_tile_is_scalar(s->target) ? TG_FOR_UNROLLED : TG_FOR_VECTORIZED);
    if (lanes * rows > p->best_lanes * p->best_rows) {
        p->best_lanes = lanes;
        p->best_rows = rows;
    }
    return true;
}

static tg_nest *reader_in(tg_nest *within)
{
    return tg_nest_next_block(NULL, within);
}

/* The rows of one nest: whole tiles, then what is left with a smaller one. */
static bool tile_rows(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row, int64_t lanes)
{
    tg_sched *s = p->s;
    if (row == NULL)
        return tile(p, block, lane, NULL, lanes, 1);
    int64_t rows = tg_tile_rows(s->target, p->dtype, lanes, row->extent), whole = row->extent / rows * rows;
    if (whole == row->extent)
        return tile(p, block, lane, row, lanes, rows);
    tg_nest *first, *rest;
    if (!tg_s_reorder(s, 2, (tg_nest *[]){ row, lane }) || !tg_s_partition(s, row, whole, &first, &rest))
        return false;
    tg_nest *other = tg_s_duplicate(s, block, reader_in(rest));
    if (other == NULL || !tg_s_reorder(s, 2, (tg_nest *[]){ lane, first }))
        return false;
    tg_nest *rest_lane = rest->kid.at[0];
    if (!tg_s_reorder(s, 2, (tg_nest *[]){ rest_lane, rest }))
        return false;
    return tile(p, block, lane, first, lanes, rows) && tile(p, other, rest_lane, rest, lanes, rest->extent);
}

/* The lanes likewise. In the reader's nest @p lane stands next to @p row. */
static bool tile_lanes(plan *p, tg_nest *block, tg_nest *lane, tg_nest *row)
{
    tg_sched *s = p->s;
    int64_t lanes = tg_tile_lanes(s->target, p->dtype, lane->extent), whole = lane->extent / lanes * lanes;
    if (whole == lane->extent)
        return tile_rows(p, block, lane, row, lanes);
    tg_nest *first, *rest;
    if (!tg_s_partition(s, lane, whole, &first, &rest))
        return false;
    tg_nest *other = tg_s_duplicate(s, block, reader_in(rest));
    tg_nest *rest_row = row == NULL ? NULL : rest->kid.at[0];
    while (rest_row != NULL && rest_row->var->name != row->var->name)
        rest_row = rest_row->kid.at[0];
    return other != NULL && tile_rows(p, block, first, row, lanes) && tile_rows(p, other, rest, rest_row, rest->extent);
}

/* Whether the operand that does not move along the lanes stays in the cache over a whole pass: then one slice of lanes can be
 * finished before the next begins. */
static bool is_small(plan *p, const tg_accesses *a)
{
    for (uint32_t i = 0; i < a->n; ++i) {
        int64_t elements = 0;
        bool shared = !a->at[i].own && tg_access_stride(&a->at[i], p->lane) == 0;
        if (shared && tg_buffer_elements(a->at[i].buf, &elements)
            && elements * (int64_t)tg_dtype_bytes(a->at[i].buf->dtype) > tg_tile_cache(p->s->target))
            return false;
    }
    return true;
}

/* [others…, lane, row], or the lane outermost. */
static bool order_reader(plan *p, tg_nest *lane, tg_nest *row, bool lane_first)
{
    tg_nest *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    int n = tg_nest_loops(p->reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    if (lane_first)
        order[k++] = lane;
    for (int i = 0; i < n; ++i)
        if (loops[i] != lane && loops[i] != row)
            order[k++] = loops[i];
    if (!lane_first)
        order[k++] = lane;
    if (row != NULL)
        order[k++] = row;
    return tg_s_reorder(p->s, k, order);
}

bool tg_rule_conv(tg_sched *s, tg_nest *block)
{
    plan p = { .s = s, .block = block };
    tg_accesses a;
    if (!tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block))
        return false;
    tg_block_accesses(s->cx, block->node, &a);
    if (!a.complete || (p.lane = choose_lane(&p, &a)) == NULL)
        return false;
    p.row = choose_row(&p, &a);
    p.dtype = a.at[0].buf->dtype;
    p.reader = tg_rule_epilogue_or_copy(s, block);
    if (p.reader == NULL)
        return false;
    tg_nest *lane = tg_rule_reader_loop(s, block, p.reader, p.lane), *row = p.row != NULL ? tg_rule_reader_loop(s, block, p.reader, p.row) : NULL;
    if (lane == NULL || !order_reader(&p, lane, row, is_small(&p, &a)))
        return false;
    const char *lane_name = lane->var->name->text, *row_name = row != NULL ? row->var->name->text : NULL;
    if (row == NULL)
        p.row = NULL;
    /* rows stand right below lanes while the nest is divided */
    if (row != NULL && row->parent != lane) {
        tg_nest *below[TG_MAX_LOOPS];
        uint32_t n = 0;
        for (tg_nest *l = lane->kid.at[0]; l != row; l = l->kid.at[0])
            below[n++] = l;
        (void)below;
    }
    if (!tile_lanes(&p, block, lane, row))
        return false;
    if (row_name != NULL)
        tg_rule_say(s, "tile %s %lld, %s %lld: accumulators in registers", row_name, (long long)p.best_rows, lane_name, (long long)p.best_lanes);
    else
        tg_rule_say(s, "tile %s %lld: accumulators in registers", lane_name, (long long)p.best_lanes);
    return true;
}
