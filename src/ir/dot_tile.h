/* dot_tile.h: intrinsics that compute a tile of sums of products of bytes.
 *
 * dot_tile: weights in groups of four along the sum.
 *     acc[r * lanes + l] = sum over o < outer, s < steps, p < 4 of
 *                          x[o * x_outer + s * 4 + p + r * x_row] * w[(o * steps + s) * w_step + l * 4 + p]
 * tap_tile: few products that move along the result, as in depthwise convolutions.
 *     acc[r * lanes + l] = sum over i < taps_down, j < taps_across of
 *                          x[i * x_down + j * x_across + r * x_row + l] * w[i * w_down + j * w_across + l]
 * acc int32, x int8 or uint8, w int8: addresses of elements. The rest are constants. Sums wrap; the forms let a
 * machine's byte dot products do the work, and mean the same as the loops of tg_dot_loops(). */
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

enum tg_tap_operand {
    TG_TAP_DOWN = TG_DOT_LANES + 1, /* up to there as in dot_tile */
    TG_TAP_ACROSS,
    TG_TAP_X_ROW,
    TG_TAP_X_DOWN,
    TG_TAP_X_ACROSS,
    TG_TAP_W_DOWN,
    TG_TAP_W_ACROSS,
    TG_TAP_OPERANDS
};

enum { TG_TAP_MOST = 32 }; /* products in a sum of tap_tile */

bool tg_is_dot_call(const tg_node *n); /* of one of the two */
/* Whether @p call has operands of that form; the verifier and readers of text ask. */
bool tg_dot_is_plain(const tg_node *call);
/* The loops that compute the same. */
const tg_node *tg_dot_loops(tg_ctx *cx, const tg_node *call);

#endif
