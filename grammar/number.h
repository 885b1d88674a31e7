/* number.h: decimal text to the nearest number, the same under every locale. */
#ifndef TG_NUMBER_H
#define TG_NUMBER_H

#include "ir/ctx.h"

/* The whole of @p text must be digits with at most one point and an exponent: "1", "1.5", "1e-05", "2.". No sign, no
 * inf or nan. Both roundings start from the decimal text. @return false when it is anything else. */
typedef struct tg_decimal { double f64; float f32; } tg_decimal;
bool tg_read_decimal(tg_ctx *cx, const char *text, size_t n, tg_decimal *out);

/* [-]digits that fit an int64. */
bool tg_read_int(const char *text, size_t n, int64_t *out);

#endif
