/* dot_tile.h: the intrinsic dot_tile: a tile of sums of products of bytes, weights in groups of four along the sum.
 *     acc[r * lanes + l] = sum over o < outer, s < steps, p < 4 of
 *                          x[o * x_outer + s * 4 + p + r * x_row] * w[(o * steps + s) * w_step + l * 4 + p]
 * acc int32, x int8 or uint8, w int8: addresses of elements. The rest are constants. Sums wrap; the form lets a
 * machine's byte dot products do the work, and means the same as the loops of tg_dot_loops(). */
#ifndef TG_DOT_TILE_H
#define TG_DOT_TILE_H

#include "node.h"

enum tg_dot_operand {
    TG_DOT_ACC,
    TG_DOT_X,
    TG_DOT_W,
    TG_DOT_ROWS,
    TG_DOT_LANES,
    TG_DOT_OUTER,
    TG_DOT_STEPS,
    TG_DOT_X_ROW,
    TG_DOT_X_OUTER,
    TG_DOT_W_STEP,
    TG_DOT_OPERANDS
};

/* Whether @p call has operands of that form; the verifier and readers of text ask. */
bool tg_dot_is_plain(const tg_node *call);
/* The loops that compute the same. */
const tg_node *tg_dot_loops(tg_ctx *cx, const tg_node *call);

#endif
