/* schedule.c: the rules in order. Functions that hold anything but plain blocks keep the loops they came with. */
#include "rules.h"

#include "ir/walk.h"

static bool has_blocks(tg_sched *s)
{
    return tg_nest_next_block(NULL, s->top) != NULL;
}

/* A block whose body names a loop around it, not one of its own iterators, ties its statements to that loop: text may hold
 * such blocks, and moving them would leave the name behind. */
typedef struct outer_loops { tg_map var; bool found; } outer_loops;

static bool find_outer(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    outer_loops *o = user;
    o->found = o->found || (n->kind == TG_VAR && tg_map_get(&o->var, (uint64_t)n->u.var->id + 1) != NULL);
    return !o->found;
}

static bool note_loops(tg_ctx *cx, const tg_node *n, void *user)
{
    outer_loops *o = user;
    if (n->kind == TG_FOR) tg_map_put(cx, &o->var, (uint64_t)n->u.loop->var->id + 1, o);
    if (n->kind != TG_BLOCK || n->u.block->niters == 0) return !o->found && tg_is_stmt(n);
    for (uint32_t i = 0; i < n->nkids && !o->found; ++i)
        if (i >= 3 * n->u.block->niters + 1 || i % 3 != 2) /* bindings and the predicate name loops by right */
            if (i != 3 * n->u.block->niters) tg_visit(cx, n->kid[i], find_outer, o);
    return false;
}

static bool names_outer_loops(tg_ctx *cx, const tg_node *body)
{
    outer_loops o = { { 0 }, false };
    tg_visit(cx, body, note_loops, &o);
    return o.found;
}

static void schedule_reduction(tg_sched *s, tg_nest *block)
{
    if (tg_rule_dot(s, block) || tg_rule_taps(s, block)) return;
    if (!tg_rule_conv(s, block) && tg_block_is_reduction(s->cx, block->node) && tg_nest_is_plain(s, block) &&
        !tg_rule_matmul(s, block) && tg_block_is_reduction(s->cx, block->node))
        tg_rule_reduce(s, block);
}

const tg_func *tg_schedule_func(tg_ctx *cx, const tg_func *f, const tg_target *t)
{
    tg_sched *s = tg_sched_open(cx, f, t);
    if (s == NULL || !has_blocks(s) || names_outer_loops(cx, f->body)) return f;
    tg_rule_inline(s);
    if (!tg_rule_rows(s)) {
        TG_VEC(tg_nest *) reductions = { 0 };
        for (tg_nest *b = tg_nest_next_block(NULL, s->top); b != NULL; b = tg_nest_next_block(b, s->top))
            if (tg_block_is_reduction(cx, b->node)) TG_PUSH(cx, reductions, b);
        for (size_t i = 0; i < reductions.n; ++i) schedule_reduction(s, reductions.at[i]);
    }
    tg_rule_eltwise(s);
    return tg_sched_close(s);
}
