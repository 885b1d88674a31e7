/* rule_dot.c: sums of products of bytes.
 *
 * Weights in groups of four along the reduction (passes/pack_dot.c): a tile of accumulators is computed by one nest
 * of the form that passes/dot_calls.c turns into a call: the init, then
 *     for reductions: for the four of a group: for rows: for lanes: acc[row, lane] += data[…] * weight[…]
 * Lanes: the output axis along which weights are one group apart. Rows: an axis that the weights do not move along.
 *
 * Few products whose two operands both move along the output, as in depthwise convolutions: all of them in one
 * statement sequence in the loop over that axis, with what is done to the sum. Nothing is kept between two
 * iterations, so any compiler can make vectors of it. */
#include "rules.h"

enum {
    GROUP = 4,
    MOST_ACCUMULATORS = 256, /* of a tile: 1 KiB on the stack of the function */
    MOST_SMALL = 64,         /* where memory is short */
    MOST_ROWS = 16,
    GOOD_ROWS = 8,
    MOST_TAPS = 32
};

typedef struct dot {
    tg_sched *s;
    tg_nest *block;
    uint32_t part, lane, row; /* iterators of the block, row UINT32_MAX: none */
} dot;

static int64_t extent_of(const tg_node *block, uint32_t i)
{
    return block->kid[3 * i + 1]->kind == TG_INT ? block->kid[3 * i + 1]->u.i : 0;
}

/* The two operands: data and weight, told apart by who stands still along the lanes. */
static bool find_axes(dot *d, const tg_accesses *a)
{
    const tg_node *n = d->block->node;
    const tg_access *in[2] = { NULL, NULL };
    uint32_t count = 0;
    for (uint32_t k = 0; k < a->n; ++k) {
        if (a->at[k].own) continue;
        if (count == 2 || !a->at[k].linear || a->at[k].buf->dtype.bits != 8) return false;
        in[count++] = &a->at[k];
    }
    d->part = d->lane = d->row = UINT32_MAX;
    if (count != 2) return false;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        bool reduce = n->u.block->iter[i].kind == TG_ITER_REDUCE;
        int64_t x = tg_access_stride(in[0], v), w = tg_access_stride(in[1], v), y = tg_access_stride(&a->at[0], v);
        if (reduce && x == 1 && w == 1 && extent_of(n, i) == GROUP) d->part = i;
        if (!reduce && x == 0 && w == GROUP && y == 1) d->lane = i;
        if (!reduce && x != 0 && w == 0 && y > 0 && y < least && extent_of(n, i) > 1) {
            least = y;
            d->row = i;
        }
    }
    return d->part != UINT32_MAX && d->lane != UINT32_MAX && tg_dtype_eq(in[1]->buf->dtype, TG_INT8);
}

/* The largest part of @p extent that divides it and is at most @p most. */
static int64_t divisor(int64_t extent, int64_t most)
{
    int64_t n = extent < most ? extent : most;
    while (n > 1 && extent % n != 0) --n;
    return n;
}

/* Enough rows to share what is read of the weights; all of them when they are few. */
static int64_t choose_rows(int64_t extent)
{
    int64_t n = divisor(extent, GOOD_ROWS);
    return n >= GOOD_ROWS / 2 || extent > MOST_ROWS ? n : extent;
}

/* [reductions, the four, rows, lanes], the init in front. */
static bool order_block(dot *d, const tg_nest *at)
{
    tg_sched *s = d->s;
    const struct tg_block_iter *iter = d->block->node->u.block->iter;
    tg_nest *loop[TG_MAX_LOOPS], *order[TG_MAX_LOOPS], *part = tg_rule_loop_under(s, d->block, iter[d->part].var, at);
    tg_nest *lane = tg_rule_loop_under(s, d->block, iter[d->lane].var, at);
    tg_nest *row = d->row != UINT32_MAX ? tg_rule_loop_under(s, d->block, iter[d->row].var, at) : NULL;
    uint32_t nreduce = tg_rule_reduce_loops(s, d->block, at, loop), n = 0;
    for (uint32_t i = 0; i < nreduce; ++i)
        if (loop[i] != part) order[n++] = loop[i];
    order[n++] = part;
    if (row != NULL) order[n++] = row;
    order[n++] = lane;
    return part != NULL && lane != NULL && tg_s_reorder(s, n, order) && tg_s_decompose(s, d->block, order[0]) != NULL;
}

bool tg_rule_dot(tg_sched *s, tg_nest *block)
{
    dot d = { .s = s, .block = block };
    tg_accesses a;
    if (!tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block)) return false;
    tg_block_accesses(s->cx, block->node, &a);
    if (!a.complete || !tg_dtype_eq(a.at[0].buf->dtype, TG_INT32) || !find_axes(&d, &a)) return false;
    tg_nest *reader = tg_rule_epilogue_or_copy(s, block), *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    if (reader == NULL) return false;
    tg_rule_name_loops(s, block, reader);
    const struct tg_block_iter *iter = block->node->u.block->iter;
    tg_nest *lane = tg_rule_reader_loop(s, block, reader, iter[d.lane].var), *lanes_out, *lanes, *rows_out = NULL,
            *rows = NULL;
    tg_nest *row = d.row != UINT32_MAX ? tg_rule_reader_loop(s, block, reader, iter[d.row].var) : NULL;
    if (lane == NULL) return false;
    int64_t most = tg_tile_is_scalar(s->target) ? MOST_SMALL : MOST_ACCUMULATORS,
            nrows = row != NULL ? choose_rows(row->extent) : 1;
    int64_t nlanes = divisor(lane->extent, most / nrows);
    if (!tg_s_split(s, lane, nlanes, &lanes_out, &lanes) ||
        (row != NULL && !tg_s_split(s, row, nrows, &rows_out, &rows)))
        return false;
    int n = tg_nest_loops(reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    for (int i = 0; i < n; ++i)
        if (loops[i] != lanes_out && loops[i] != lanes && loops[i] != rows_out && loops[i] != rows)
            order[k++] = loops[i];
    if (rows_out != NULL) order[k++] = rows_out;
    order[k++] = lanes_out;
    tg_nest *at = lanes_out;
    if (rows != NULL) order[k++] = rows;
    order[k++] = lanes;
    if (!tg_s_reorder(s, k, order) || !tg_s_compute_at(s, block, at) || !order_block(&d, at)) return false;
    tg_rule_say(s, "tile of %lld by %lld byte dot products", (long long)nrows, (long long)nlanes);
    return true;
}

/* ---- products along the output ---- */

static bool moves_by_one(const tg_accesses *a, const tg_var *v)
{
    for (uint32_t k = 0; k < a->n; ++k)
        if (!a->at[k].linear || tg_access_stride(&a->at[k], v) != 1) return false;
    return true;
}

static bool are_bytes(const tg_accesses *a)
{
    uint32_t loads = 0;
    for (uint32_t k = 0; k < a->n; ++k) {
        loads += !a->at[k].own;
        if (!a->at[k].own && a->at[k].buf->dtype.bits != 8) return false;
    }
    return a->complete && loads == 2 && tg_dtype_eq(a->at[0].buf->dtype, TG_INT32);
}

bool tg_rule_taps(tg_sched *s, tg_nest *block)
{
    tg_accesses a;
    int64_t taps = 1;
    uint32_t lane = UINT32_MAX;
    if (tg_tile_is_scalar(s->target) || !tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block))
        return false;
    tg_block_accesses(s->cx, block->node, &a);
    const tg_node *n = block->node;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        if (n->u.block->iter[i].kind == TG_ITER_REDUCE) taps *= extent_of(n, i);
        else if (extent_of(n, i) >= 8 && moves_by_one(&a, n->u.block->iter[i].var)) lane = i;
    }
    if (!are_bytes(&a) || lane == UINT32_MAX || taps < 1 || taps > MOST_TAPS) return false;
    tg_nest *reader = tg_rule_epilogue_or_copy(s, block), *reduce[TG_MAX_LOOPS];
    if (reader == NULL) return false;
    tg_rule_name_loops(s, block, reader);
    tg_nest *at = tg_rule_reader_loop(s, block, reader, n->u.block->iter[lane].var);
    tg_nest *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    int count = tg_nest_loops(reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    for (int i = 0; i < count; ++i)
        if (loops[i] != at) order[k++] = loops[i];
    order[k++] = at;
    if (at == NULL || !tg_s_reorder(s, k, order) || !tg_s_compute_at(s, block, at)) return false;
    uint32_t nreduce = tg_rule_reduce_loops(s, block, at, reduce);
    if (nreduce > 0 && tg_s_decompose(s, block, tg_rule_outermost_under(block, at)) == NULL) return false;
    for (uint32_t i = 0; i < nreduce; ++i) tg_s_mark(s, reduce[i], TG_FOR_UNROLLED);
    tg_rule_say(s, "%lld products at a time (%s)", (long long)taps, at->var->name->text);
    return true;
}
