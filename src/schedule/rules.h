/* rules.h: decisions. A rule looks at the structure of blocks (which iterators move through which operand by how much), never at
 * the operator they came from, and says with primitives how they are computed. */
#ifndef TG_RULES_H
#define TG_RULES_H

#include "access.h"
#include "primitives.h"

/* Sizes that follow from the target and the accumulators' type (tile.c). A tile has rows * vectors statements in the loop over its
 * lanes; lanes * vectors neighbours of the contiguous axis, rows of another. */
typedef struct tg_tile {
    int64_t lanes, vectors, rows;
} tg_tile;
/* The extents need not divide: rests get tiles of their own. row_extent 1: there are no rows. */
tg_tile tg_tile_choose(const tg_target *t, DLDataType d, int64_t lane_extent, int64_t row_extent);
int64_t tg_tile_lanes(const tg_target *t, DLDataType d);
int64_t tg_tile_statements(const tg_target *t, DLDataType d); /* most in a loop over lanes */
bool tg_tile_is_scalar(const tg_target *t);                   /* no vectors: lanes are unrolled into scalars */
int64_t tg_tile_cache(const tg_target *t);                    /* bytes that may stay near while a loop runs */

/* The one block that reads what @p block computes, element for element, and may be computed together with it; NULL. */
tg_nest *tg_rule_epilogue(tg_sched *s, tg_nest *block);
/* That block, or a copy block made for the purpose. */
tg_nest *tg_rule_epilogue_or_copy(tg_sched *s, tg_nest *block);
/* The loop below @p above that the iterator's binding mentions; NULL when none does. */
tg_nest *tg_rule_loop_under(tg_sched *s, tg_nest *block, const tg_var *iter, const tg_nest *above);
/* Loops of reduce iterators below @p above, outermost first. */
uint32_t tg_rule_reduce_loops(tg_sched *s, tg_nest *block, const tg_nest *above, tg_nest **out);
/* The outermost loop around the block below @p above. */
tg_nest *tg_rule_outermost_under(tg_nest *block, const tg_nest *above);
/* The loop of @p reader that runs over dimension @p dim of what @p block computes. */
tg_nest *tg_rule_reader_loop(tg_sched *s, tg_nest *block, tg_nest *reader, const tg_var *iter);
/* The reader's loops take the names of the block's: oh, ow, oc rather than i, j, k. */
void tg_rule_name_loops(tg_sched *s, tg_nest *block, tg_nest *reader);
void tg_rule_say(tg_sched *s, const char *fmt, ...) TG_PRINTF(2, 3);

void tg_rule_inline(tg_sched *s);               /* rule_eltwise.c: small values are computed where they are used */
void tg_rule_eltwise(tg_sched *s);              /* rule_eltwise.c: nests without reductions */
bool tg_rule_rows(tg_sched *s);                 /* rule_reduce.c: several reductions along one axis: row by row */
bool tg_rule_dot(tg_sched *s, tg_nest *block);    /* rule_dot.c: bytes with weights in groups of four */
bool tg_rule_taps(tg_sched *s, tg_nest *block);   /* rule_dot.c: few products of bytes that move along the output */
bool tg_rule_conv(tg_sched *s, tg_nest *block); /* rule_conv.c: a tile of accumulators, lanes along a contiguous axis */
bool tg_rule_matmul(tg_sched *s, tg_nest *block); /* rule_matmul.c: products along a contiguous reduction */
bool tg_rule_reduce(tg_sched *s, tg_nest *block); /* rule_reduce.c: one accumulator */

#endif
