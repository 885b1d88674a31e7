/* bits.h: operands of a few bits. Private to src/ops. */
#ifndef TG_OPS_BITS_H
#define TG_OPS_BITS_H

#include "build.h"

/* Widths of a bit-serial product; none when activation is 0. Unipolar weights stand for sums of ±2^b instead of 0 or 2^b. */
typedef struct tg_bits { int64_t activation, weight; bool unipolar; } tg_bits;

/* Reads the attributes; @p name is that of the data's width. False after an error. */
bool tg_bits_read(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, tg_bits *out);
tg_expr tg_bits_activation(tg_ctx *cx, const tg_bits *b, tg_expr x);
tg_expr tg_bits_weight(tg_ctx *cx, const tg_bits *b, tg_expr w);

#endif
