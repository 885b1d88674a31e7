/* schedule.c: the rules in order. Functions that hold anything but plain blocks keep the loops they came with. */
#include "rules.h"

static bool has_blocks(tg_sched *s)
{
    return tg_nest_next_block(NULL, s->top) != NULL;
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
    if (s == NULL || !has_blocks(s)) return f;
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
