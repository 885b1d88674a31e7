/* fixed.h: a real factor as integer multiplier and shift: m·2^(s-31). Private to src/ops. */
#ifndef TG_OPS_FIXED_H
#define TG_OPS_FIXED_H

#include "build.h"

/* Multiplier and shift of the positive number @p m. */
void tg_fixed_of(double m, int32_t *multiplier, int32_t *shift);
/* int32 x times multiplier·2^(shift-31) through 64 bits, low 32 bits of the result; halves upward, or away from zero. */
tg_expr tg_fixed_multiply(tg_ctx *cx, tg_expr x, int32_t multiplier, int32_t shift, bool away);

#endif
