/* primitives.h: rewrites of loops and blocks. Each is checked: it changes nothing and returns false (or NULL) when it cannot
 * show that the function still computes the same, and then s->why says what stood in the way. Float sums may be reassociated. */
#ifndef TG_PRIMITIVES_H
#define TG_PRIMITIVES_H

#include "nest.h"

/* ---- loops (primitives.c) ---- */
/* i = outer * factor + inner; a predicate is added when @p factor does not divide the extent. */
bool tg_s_split(tg_sched *s, tg_nest *loop, int64_t factor, tg_nest **outer, tg_nest **inner);
/* One loop over [0, at), then a copy over the rest. */
bool tg_s_partition(tg_sched *s, tg_nest *loop, int64_t at, tg_nest **first, tg_nest **rest);
/* The loops of one chain, outermost first; others of the chain keep their places. */
bool tg_s_reorder(tg_sched *s, uint32_t n, tg_nest *const *order);
/* @p inner is all that stands in @p outer. */
bool tg_s_fuse(tg_sched *s, tg_nest *outer, tg_nest *inner, tg_nest **fused);
bool tg_s_mark(tg_sched *s, tg_nest *loop, enum tg_for_kind mode);

/* ---- blocks (primitives_block.c, primitives_buffer.c, primitives_reduce.c) ---- */
/* What the block computes is computed where it is read; the block goes. */
bool tg_s_inline(tg_sched *s, tg_nest *block);
/* The block is computed inside @p loop of its readers, only as much as an iteration of it reads. */
bool tg_s_compute_at(tg_sched *s, tg_nest *block, tg_nest *loop);
/* The block writes a new buffer @p hint; the block returned copies it to where the result belongs. */
tg_nest *tg_s_cache_write(tg_sched *s, tg_nest *block, const char *hint);
/* A copy of the block, with a buffer of its own, for one of the blocks that read it. */
tg_nest *tg_s_duplicate(tg_sched *s, tg_nest *block, tg_nest *reader);
/* Dimension @p last of what the block computes becomes the innermost in memory. */
bool tg_s_relayout(tg_sched *s, tg_nest *block, uint32_t last);
/* Init becomes a block of its own in front of @p loop, which holds all reduce loops of the block. */
tg_nest *tg_s_decompose(tg_sched *s, tg_nest *block, tg_nest *loop);
/* Partial results for each value of the reduce loop @p loop in a buffer @p hint; the block then reduces those. Returns the block of
 * the partial results, which has the loops; the old block gets new ones behind them. */
tg_nest *tg_s_rfactor(tg_sched *s, tg_nest *block, tg_nest *loop, const char *hint);

#endif
