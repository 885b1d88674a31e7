/* scalar.h: what one operation on integers computes, for every operand. Division by zero gives 0: the compiler puts a
 * check before it. Sources: the integer rules of TIR (wrap to the dtype, floor and truncating division) with the cases
 * that C leaves undefined given a value: the most negative number over -1 wraps, a shift by the width or more moves
 * every bit out. */
#ifndef TG_EVAL_SCALAR_H
#define TG_EVAL_SCALAR_H

#include <stdint.h>
#include <string.h>

#include "ir/tensor.h"

static inline int64_t signed_of(uint64_t u)
{
    int64_t i;
    memcpy(&i, &u, sizeof i);
    return i;
}

static inline int64_t wrap32(uint64_t u)
{
    uint32_t low = (uint32_t)u;
    int32_t i;
    memcpy(&i, &low, sizeof i);
    return i;
}

/* The largest signed number of @p bits bits, 1 to 64. */
static inline int64_t signed_max(unsigned bits)
{
    return signed_of(((uint64_t)1 << (bits - 1)) - 1);
}

/* The low 64 - @p cut bits of @p u as a signed number. */
static inline int64_t sign_extend(uint64_t u, unsigned cut)
{
    uint64_t sign = (uint64_t)1 << (63 - cut), low = u & (sign | (sign - 1));
    return signed_of((low ^ sign) - sign);
}

static inline int64_t div_trunc(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? signed_of(0 - (uint64_t)a) : a / b;
}

static inline int64_t mod_trunc(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static inline int64_t div_floor(int64_t a, int64_t b)
{
    int64_t q = div_trunc(a, b);
    return mod_trunc(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static inline int64_t mod_floor(int64_t a, int64_t b)
{
    int64_t r = mod_trunc(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t mul_size(int64_t a, int64_t b, int64_t cap)
{
    if (a < 0 || b < 0 || (a != 0 && b > cap / a))
        return cap;
    return a * b;
}

static inline uint64_t shift_left(uint64_t a, int64_t count, int64_t width)
{
    return count < 0 || count >= width ? 0 : a << count;
}

static inline int64_t shift_right(int64_t a, int64_t count, int64_t width)
{
    if (count < 0 || count >= width)
        return a < 0 ? -1 : 0;
    return a < 0 ? signed_of(~(~(uint64_t)a >> count)) : signed_of((uint64_t)a >> count);
}

static inline uint64_t shift_right_unsigned(uint64_t a, int64_t count, int64_t width)
{
    return count < 0 || count >= width ? 0 : a >> count;
}

static inline uint64_t low_bits(uint64_t a, int64_t width)
{
    return width >= 64 ? a : a & (((uint64_t)1 << width) - 1);
}

static inline int64_t count_ones(uint64_t a)
{
    int64_t n = 0;
    for (; a != 0; a &= a - 1)
        ++n;
    return n;
}

static inline int64_t count_leading_zeros(uint64_t a, int64_t width)
{
    int64_t n = width;
    for (; a != 0; a >>= 1)
        --n;
    return n;
}

static inline int64_t saturate_signed(double v, int64_t bits)
{
    double limit = bits >= 64 ? 0x1p63 : (double)((int64_t)1 << (bits - 1));
    int64_t top = signed_max((unsigned)bits);
    if (v != v)
        return 0;
    if (v >= limit)
        return top;
    return v < -limit ? -top - 1 : (int64_t)v;
}

static inline uint64_t saturate_unsigned(double v, int64_t bits)
{
    double limit = bits >= 64 ? 0x1p64 : (double)((uint64_t)1 << bits);
    if (!(v > 0))
        return 0;
    return v >= limit ? low_bits(UINT64_MAX, bits) : (uint64_t)v;
}

static inline uint32_t bits_of_float(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float float_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline float float_of_bf16(uint16_t h)
{
    return float_of_bits((uint32_t)h << 16);
}

/* The upper half, so toward zero; a nan stays one. */
static inline uint16_t bf16_of_float(float f)
{
    return (uint16_t)(bits_of_float(f) >> 16 | (f != f ? 0x40u : 0));
}

#endif
