/* rule_reduce.c: reductions that have no tile: one accumulator for each output. And chains of reductions along one axis, such as
 * softmax and layer normalization: everything for one row, then the next row, so that temporaries are as long as a row. */
#include "rules.h"

enum { MAX_BLOCKS = 32 };

bool tg_rule_reduce(tg_sched *s, tg_nest *block)
{
    if (!tg_block_is_reduction(s->cx, block->node)) return false;
    tg_nest *reduce[TG_MAX_LOOPS], *loops[TG_MAX_LOOPS];
    if (tg_nest_is_plain(s, block)) {
        tg_nest *reader = tg_rule_epilogue_or_copy(s, block);
        int n = reader != NULL ? tg_nest_loops(reader, loops, TG_MAX_LOOPS) : 0;
        if (n > 0) tg_s_compute_at(s, block, loops[n - 1]);
    }
    if (tg_rule_reduce_loops(s, block, NULL, reduce) > 0) tg_s_decompose(s, block, reduce[0]);
    return true;
}

/* ---- rows ---- */

/* Blocks in order, and for each the iterator that runs over rows. */
typedef struct chain {
    tg_nest *block[MAX_BLOCKS];
    const tg_var *row[MAX_BLOCKS];
    uint32_t n;
} chain;

static int index_of_writer(const chain *c, const tg_buffer *b)
{
    for (uint32_t i = 0; i < c->n; ++i)
        if (tg_block_output(c->block[i]->node) == b) return (int)i;
    return -1;
}

typedef struct spreading {
    chain *c;
    uint32_t reader;
    tg_sched *s;
    bool good;
} spreading;

/* What a block reads of another must be of the same row. */
static bool spread(tg_ctx *cx, const tg_node *n, void *user)
{
    spreading *sp = user;
    chain *c = sp->c;
    if (n->kind != TG_LOAD || n->u.buf == tg_block_output(c->block[sp->reader]->node)) return true;
    int w = index_of_writer(c, n->u.buf);
    if (w < 0) return true;
    const tg_node *store = tg_block_store(cx, c->block[w]->node);
    bool found = false;
    for (uint32_t k = 0; k < n->nkids; ++k) {
        if (n->kid[k]->kind != TG_VAR || n->kid[k]->u.var != c->row[sp->reader] || store->kid[k + 1]->kind != TG_VAR)
            continue;
        const tg_var *v = store->kid[k + 1]->u.var;
        found = c->row[w] == NULL || c->row[w] == v;
        c->row[w] = v;
    }
    sp->good = sp->good && found;
    return true;
}

static bool is_spatial(const tg_node *block, const tg_var *v)
{
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].var == v) return block->u.block->iter[i].kind == TG_ITER_SPATIAL;
    return false;
}

/* Whether iterator @p v of the last block is a row of every block before it. */
static bool is_row(tg_sched *s, chain *c, const tg_var *v)
{
    for (uint32_t i = 0; i < c->n; ++i) c->row[i] = NULL;
    c->row[c->n - 1] = v;
    for (uint32_t i = c->n; i-- > 0;) {
        if (c->row[i] == NULL || !is_spatial(c->block[i]->node, c->row[i])) return false;
        spreading sp = { c, i, s, true };
        tg_visit(s->cx, tg_block_body(c->block[i]->node), spread, &sp);
        if (!sp.good) return false;
    }
    return true;
}

bool tg_rule_rows(tg_sched *s)
{
    chain c = { .n = 0 };
    uint32_t reductions = 0;
    for (tg_nest *b = tg_nest_next_block(NULL, s->top); b != NULL; b = tg_nest_next_block(b, s->top)) {
        bool plain =
            tg_nest_is_plain(s, b) && (tg_block_is_complete(s->cx, b->node) || tg_block_is_reduction(s->cx, b->node));
        if (c.n == MAX_BLOCKS || !plain) return false;
        reductions += tg_block_is_reduction(s->cx, b->node);
        c.block[c.n++] = b;
    }
    if (reductions < 2 || !tg_block_is_complete(s->cx, c.block[c.n - 1]->node)) return false;
    tg_nest *loops[TG_MAX_LOOPS], *at = NULL, *last = c.block[c.n - 1];
    int n = tg_nest_loops(last, loops, TG_MAX_LOOPS);
    for (int i = 0; i < n; ++i) {
        const tg_var *v = NULL;
        for (uint32_t k = 0; k < last->node->u.block->niters; ++k)
            if (tg_nest_loop_of(s, last, last->node->u.block->iter[k].var) == loops[i])
                v = last->node->u.block->iter[k].var;
        if (loops[i]->extent == 1) continue;
        if (v == NULL || !is_row(s, &c, v)) break;
        at = loops[i];
    }
    for (uint32_t i = c.n - 1; at != NULL && i-- > 0;)
        if (!tg_s_compute_at(s, c.block[i], at)) return false;
    for (uint32_t i = 0; i < c.n; ++i) {
        tg_nest *reduce[TG_MAX_LOOPS];
        if (tg_block_is_reduction(s->cx, c.block[i]->node) && tg_rule_reduce_loops(s, c.block[i], NULL, reduce) > 0)
            tg_s_decompose(s, c.block[i], reduce[0]);
    }
    if (at != NULL) tg_rule_say(s, "one row at a time (%s)", at->var->name->text);
    return true;
}
