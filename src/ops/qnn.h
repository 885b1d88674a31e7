/* qnn.h: what the quantised operators share: scales, zero points, products with a real factor. Private to src/ops. */
#ifndef TG_OPS_QNN_H
#define TG_OPS_QNN_H

#include "build.h"

/* ---- type rules ---- */
/* Operand @p i is a scale (float32) or a zero point (an integer): a scalar, one element, or @p extent values when
 * that is not 0. */
bool tg_qnn_check_scale(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t extent);
bool tg_qnn_check_zero(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t extent);
/* Operands first … first + 4: scale and zero point of the input, then of the output, all scalars. */
bool tg_qnn_check_unary(tg_ctx *cx, const tg_node *call, uint32_t first);
bool tg_qnn_is_code(DLDataType d); /* int8, uint8, int16, uint16 or int32 */

/* ---- lowering ---- */
/* Scale or zero point @p k at the result's index: a scalar, or the value of channel @p axis. */
tg_expr tg_qnn_param(tg_lower *lo, uint32_t k, const tg_at *at, uint32_t axis);
/* The value of a scalar constant operand; false after an error that asks for a constant. */
bool tg_qnn_const(tg_lower *lo, uint32_t k, double *value);

/* x (int32, of which @p bits are in use besides the sign) times the positive number @p factor in 64-bit fixed point,
 * halves upward; false after an error: out of range. */
bool tg_qnn_multiply(tg_lower *lo, tg_expr x, double factor, int bits, tg_expr *out);
/* x times multiplier / 2^(base + shift), 0 to 62 bits; shift is at least 0. Halves upward, or away from zero. */
tg_expr tg_qnn_scale(tg_ctx *cx, tg_expr x, tg_expr multiplier, tg_expr shift, int64_t base, bool away);
/* (code - zero) · scale / scale_out + zero_out as int32, of operands. */
bool tg_qnn_rescaled(tg_lower *lo, tg_expr code, uint32_t scale, uint32_t zero, uint32_t scale_out, uint32_t zero_out,
                     tg_expr *out);
/* An int32 value limited to the codes of @p d, in d. */
tg_expr tg_qnn_narrow(tg_ctx *cx, DLDataType d, tg_expr v);
/* Operand @p k of a product, an element of dtype d, without its zero point (operand @p k + 2) when the operator has
 * one. */
tg_expr tg_qnn_centered(tg_lower *lo, DLDataType d, uint32_t k, tg_expr value, tg_expr channel);

#endif
