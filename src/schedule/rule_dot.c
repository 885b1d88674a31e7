/* rule_dot.c: sums of products of bytes.
 *
 * Weights in groups of four along the reduction (passes/pack_dot.c): a tile of accumulators is computed by one nest
 * of the form that passes/dot_calls.c turns into a call: the init, then
 *     for reductions: for the four of a group: for rows: for lanes: acc[row, lane] += data[…] * weight[…]
 * Lanes: the output axis along which weights are one group apart. Rows: an axis that the weights do not move along.
 *
 * Few products whose two operands both move along the output, as in depthwise convolutions: a tile in the same way,
 *     for products: for rows: for lanes: acc[row, lane] += data[…] * weight[…]
 * Lanes: the axis along which all move. */
#include "rules.h"

enum {
    GROUP = 4,
    MOST_ACCUMULATORS = 256, /* of a tile: 1 KiB on the stack of the function */
    MOST_SMALL = 64,         /* where memory is short */
    MOST_ROWS = 16,
    GOOD_ROWS = 8,
    MOST_TAPS = 32,
    MOST_TAP_ROWS = 64
};

typedef struct dot {
    tg_sched *s;
    tg_nest *block;
    uint32_t part, lane, row; /* iterators of the block; part, row UINT32_MAX: none */
    int64_t nrows, nlanes;
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

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Enough rows to share what is read of the weights; all of them when they are few. */
static int64_t choose_rows(int64_t extent)
{
    int64_t n = divisor(extent, GOOD_ROWS);
    return n >= GOOD_ROWS / 2 || extent > MOST_ROWS ? n : extent;
}

/* [reductions, the four of a group if there are, rows, lanes], the init in front. */
static bool order_block(dot *d, const tg_nest *at)
{
    tg_sched *s = d->s;
    const struct tg_block_iter *iter = d->block->node->u.block->iter;
    tg_nest *loop[TG_MAX_LOOPS], *order[TG_MAX_LOOPS], *part = NULL, *row = NULL;
    if (d->part != UINT32_MAX && (part = tg_rule_loop_under(s, d->block, iter[d->part].var, at)) == NULL) return false;
    tg_nest *lane = tg_rule_loop_under(s, d->block, iter[d->lane].var, at);
    if (d->row != UINT32_MAX) row = tg_rule_loop_under(s, d->block, iter[d->row].var, at);
    uint32_t nreduce = tg_rule_reduce_loops(s, d->block, at, loop), n = 0;
    for (uint32_t i = 0; i < nreduce; ++i)
        if (loop[i] != part) order[n++] = loop[i];
    if (part != NULL) order[n++] = part;
    if (row != NULL) order[n++] = row;
    order[n++] = lane;
    return lane != NULL && nreduce > 0 && tg_s_reorder(s, n, order) && tg_s_decompose(s, d->block, order[0]) != NULL;
}

/* The block within the loops of its reader, a tile of at most @p most accumulators at a time. */
static bool make_tile(dot *d, int64_t most, int64_t most_rows)
{
    tg_sched *s = d->s;
    tg_nest *reader = tg_rule_epilogue_or_copy(s, d->block), *loops[TG_MAX_LOOPS], *order[TG_MAX_LOOPS];
    if (reader == NULL) return false;
    tg_rule_name_loops(s, d->block, reader);
    const struct tg_block_iter *iter = d->block->node->u.block->iter;
    tg_nest *lane = tg_rule_reader_loop(s, d->block, reader, iter[d->lane].var), *lanes_out, *lanes, *rows_out = NULL,
            *rows = NULL;
    tg_nest *row = d->row != UINT32_MAX ? tg_rule_reader_loop(s, d->block, reader, iter[d->row].var) : NULL;
    if (lane == NULL) return false;
    bool groups = d->part != UINT32_MAX;
    d->nlanes = groups ? 0 : divisor(lane->extent, most);
    d->nrows = row == NULL ? 1 : groups ? choose_rows(row->extent) : divisor(row->extent, min_of(most / d->nlanes, most_rows));
    if (groups) d->nlanes = divisor(lane->extent, most / d->nrows);
    if (!tg_s_split(s, lane, d->nlanes, &lanes_out, &lanes) ||
        (row != NULL && !tg_s_split(s, row, d->nrows, &rows_out, &rows)))
        return false;
    int n = tg_nest_loops(reader, loops, TG_MAX_LOOPS);
    uint32_t k = 0;
    for (int i = 0; i < n; ++i)
        if (loops[i] != lanes_out && loops[i] != lanes && loops[i] != rows_out && loops[i] != rows)
            order[k++] = loops[i];
    if (rows_out != NULL) order[k++] = rows_out;
    order[k++] = lanes_out;
    if (rows != NULL) order[k++] = rows;
    order[k++] = lanes;
    return tg_s_reorder(s, k, order) && tg_s_compute_at(s, d->block, lanes_out) && order_block(d, lanes_out);
}

bool tg_rule_dot(tg_sched *s, tg_nest *block)
{
    dot d = { .s = s, .block = block };
    tg_accesses a;
    if (!tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block)) return false;
    tg_block_accesses(s->cx, block->node, &a);
    if (!a.complete || !tg_dtype_eq(a.at[0].buf->dtype, TG_INT32) || !find_axes(&d, &a) ||
        !make_tile(&d, tg_tile_is_scalar(s->target) ? MOST_SMALL : MOST_ACCUMULATORS, MOST_ROWS))
        return false;
    tg_rule_say(s, "tile of %lld by %lld byte dot products", (long long)d.nrows, (long long)d.nlanes);
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

/* Lanes and rows of the tile: UINT32_MAX where there is none. */
static int64_t find_taps(dot *d, const tg_accesses *a)
{
    const tg_node *n = d->block->node;
    int64_t taps = 1, least = INT64_MAX;
    d->part = d->lane = d->row = UINT32_MAX;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        if (n->u.block->iter[i].kind == TG_ITER_REDUCE) taps *= extent_of(n, i);
        else if (extent_of(n, i) >= 8 && moves_by_one(a, v)) d->lane = i;
    }
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_var *v = n->u.block->iter[i].var;
        int64_t y = tg_access_stride(&a->at[0], v), x = 0, still = 0;
        for (uint32_t k = 0; k < a->n; ++k) {
            if (a->at[k].own) continue;
            int64_t s = tg_access_stride(&a->at[k], v);
            x += s;
            still += s == 0;
        }
        if (n->u.block->iter[i].kind == TG_ITER_REDUCE || i == d->lane || x <= 0 || still != 1 || y <= 0 || y >= least ||
            extent_of(n, i) < 2)
            continue;
        least = y;
        d->row = i;
    }
    return taps;
}

bool tg_rule_taps(tg_sched *s, tg_nest *block)
{
    dot d = { .s = s, .block = block };
    tg_accesses a;
    if (tg_tile_is_scalar(s->target) || !tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block))
        return false;
    tg_block_accesses(s->cx, block->node, &a);
    if (!are_bytes(&a)) return false;
    int64_t taps = find_taps(&d, &a);
    if (d.lane == UINT32_MAX || taps < 1 || taps > MOST_TAPS || !make_tile(&d, MOST_ACCUMULATORS, MOST_TAP_ROWS)) return false;
    tg_rule_say(s, "%lld products at a time (%s)", (long long)taps, block->node->u.block->iter[d.lane].var->name->text);
    return true;
}
