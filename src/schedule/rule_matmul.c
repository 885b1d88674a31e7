/* rule_matmul.c: products whose operands are contiguous along the reduction: dense with weights [units][inputs].
 * Each output has several partial sums, one a lane, and a tile of outputs shares what it reads; the lanes are summed at the end. */
#include "rules.h"

enum { MAX_SPATIAL = 8 };

static int64_t extent_of(const tg_node *block, uint32_t i)
{
    return block->kid[3 * i + 1]->kind == TG_INT ? block->kid[3 * i + 1]->u.i : 0;
}

/* The reduce iterator along which loads are contiguous or constant, when lanes along the output are not to be had. */
static const tg_var *choose_reduce(const tg_node *n, const tg_accesses *a, int64_t *extent)
{
    for (uint32_t i = n->u.block->niters; i-- > 0;) {
        const tg_var *v = n->u.block->iter[i].var;
        bool contiguous = n->u.block->iter[i].kind == TG_ITER_REDUCE, moves = false;
        for (uint32_t k = 0; k < a->n; ++k) {
            int64_t stride = tg_access_stride(&a->at[k], v);
            if (a->at[k].own) continue;
            contiguous = contiguous && a->at[k].linear && (stride == 0 || stride == 1);
            moves = moves || stride == 1;
        }
        if (contiguous && moves && extent_of(n, i) > 1) {
            *extent = extent_of(n, i);
            return v;
        }
    }
    return NULL;
}

/* Lanes that divide the reduction, and enough of it that summing them at the end is the smaller part. */
static int64_t choose_lanes(const tg_target *t, DLDataType d, int64_t extent)
{
    if (tg_tile_is_scalar(t)) return 0;
    for (int64_t n = tg_tile_lanes(t, d); n >= 4; n /= 2)
        if (extent % n == 0 && extent / n >= 2) return n;
    return 0;
}

/* The two innermost spatial loops of the reader, split: outer parts outside, tile inside. */
static tg_nest *tile_reader(tg_sched *s, tg_nest *reader, DLDataType d, int64_t *n_tile, int64_t *m_tile)
{
    tg_nest *loops[TG_MAX_LOOPS], *inner[2] = { NULL, NULL }, *outer[2] = { NULL, NULL }, *order[TG_MAX_LOOPS + 2];
    int n = tg_nest_loops(reader, loops, TG_MAX_LOOPS), found = 0;
    int64_t size[2] = { 1, 1 }, room = tg_tile_statements(s->target, d);
    uint32_t k = 0;
    for (int i = n; i-- > 0 && found < 2;) {
        if (loops[i]->extent == 1) continue;
        int64_t most = found == 0 ? room : room / size[0];
        for (size[found] = most < loops[i]->extent ? most : loops[i]->extent; loops[i]->extent % size[found] != 0;
             --size[found])
            ;
        if (!tg_s_split(s, loops[i], size[found], &outer[found], &inner[found])) return NULL;
        ++found;
    }
    if (found == 0) return NULL;
    n = tg_nest_loops(reader, loops, TG_MAX_LOOPS);
    for (int i = 0; i < n; ++i)
        if (loops[i] != inner[0] && loops[i] != inner[1]) order[k++] = loops[i];
    tg_nest *at = order[k - 1];
    for (int i = found; i-- > 0;) order[k++] = inner[i];
    *n_tile = size[0];
    *m_tile = size[1];
    return tg_s_reorder(s, k, order) ? at : NULL;
}

/* Loops of the block below @p at that do not reduce, outermost first. */
static uint32_t spatial_loops(tg_sched *s, tg_nest *block, const tg_nest *at, tg_nest **out)
{
    tg_nest *loops[TG_MAX_LOOPS], *reduce[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    uint32_t nreduce = tg_rule_reduce_loops(s, block, at, reduce), count = 0;
    for (int i = 0; i < n; ++i) {
        bool spatial = loops[i] != at && tg_nest_under(loops[i], at);
        for (uint32_t k = 0; k < nreduce; ++k) spatial = spatial && loops[i] != reduce[k];
        if (spatial) out[count++] = loops[i];
    }
    return count;
}

/* Partial sums: reduction outside, then the lanes, in them a statement for each output of the tile. */
static bool order_partial(tg_sched *s, tg_nest *part, const tg_nest *at)
{
    tg_nest *order[2 * TG_MAX_LOOPS], *spatial[TG_MAX_LOOPS];
    uint32_t n = tg_rule_reduce_loops(s, part, at, order), nspatial = spatial_loops(s, part, at, spatial);
    if (n == 0 || nspatial == 0) return false;
    tg_nest *lane = spatial[nspatial - 1];
    if (tg_s_decompose(s, part, tg_rule_outermost_under(part, at)) == NULL) return false;
    order[n++] = lane;
    for (uint32_t i = 0; i + 1 < nspatial; ++i) order[n++] = spatial[i];
    if (!tg_s_reorder(s, n, order)) return false;
    for (uint32_t i = 0; i + 1 < nspatial; ++i) tg_s_mark(s, spatial[i], TG_FOR_UNROLLED);
    return tg_s_mark(s, lane, TG_FOR_VECTORIZED);
}

bool tg_rule_matmul(tg_sched *s, tg_nest *block)
{
    tg_accesses a;
    int64_t extent, n_tile, m_tile;
    if (!tg_block_is_reduction(s->cx, block->node) || !tg_nest_is_plain(s, block)) return false;
    tg_block_accesses(s->cx, block->node, &a);
    DLDataType d = a.n > 0 ? a.at[0].buf->dtype : TG_FLOAT32;
    const tg_var *k = a.complete && tg_is_float(d) ? choose_reduce(block->node, &a, &extent) : NULL;
    int64_t lanes = k != NULL ? choose_lanes(s->target, d, extent) : 0;
    if (lanes == 0) return false;
    tg_nest *reader = tg_rule_epilogue_or_copy(s, block), *ko, *ki;
    const char *reduce_name = tg_nest_loop_of(s, block, k)->var->name->text;
    if (reader == NULL || !tg_s_split(s, tg_nest_loop_of(s, block, k), lanes, &ko, &ki)) return false;
    tg_nest *part = tg_s_rfactor(s, block, ki, "part");
    if (part == NULL) return false;
    tg_nest *at = tile_reader(s, reader, d, &n_tile, &m_tile), *reduce[TG_MAX_LOOPS];
    if (at == NULL || !tg_s_compute_at(s, block, at) || !tg_s_compute_at(s, part, at) || !order_partial(s, part, at))
        return false;
    if (tg_rule_reduce_loops(s, block, at, reduce) > 0) tg_s_decompose(s, block, reduce[0]);
    tg_rule_say(s, "%lld partial sums along %s for %lld outputs at a time", (long long)lanes, reduce_name,
                (long long)(n_tile * m_tile));
    return true;
}
