/* t.c: functions in scalars.py. Made by tirgen 0.1.0. */
#include "t.h"

#include <math.h>
#include <string.h>

static inline int32_t min_int32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t max_int32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* a / b toward zero: defined for every operand; a divisor of 0 gives 0, the one overflow wraps. */
static inline int32_t div_int32(int32_t a, int32_t b)
{
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return (int32_t)(0U - (uint32_t)a);
    }
    return a / b;
}

/* Remainder of a / b: defined for every operand; a divisor of 0 gives 0. */
static inline int32_t mod_int32(int32_t a, int32_t b)
{
    if (b == 0 || b == -1) {
        return 0;
    }
    return a % b;
}

/* What a / b rounded down leaves: it has the sign of b. */
static inline int32_t floormod_int32(int32_t a, int32_t b)
{
    const int32_t r = mod_int32(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* float to int8_t toward zero; beyond the ends the nearest limit, and 0 for what is no number. */
static inline int8_t float_to_int8(float x)
{
    if (x >= 128.0f) {
        return INT8_MAX;
    }
    if (x > -128.0f) {
        return (int8_t)x;
    }
    return x <= -128.0f ? INT8_MIN : 0;
}

/* Exact: every half is a float. */
static inline float half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000U) << 16;
    const uint32_t exponent = (uint32_t)h >> 10 & 0x1fU;
    const uint32_t fraction = h & 0x3ffU;
    uint32_t bits = sign | (exponent == 31 ? 0x7f800000U : (exponent + 112) << 23) | fraction << 13;
    float f;
    if (exponent == 0) { /* fraction * 2^-24 */
        f = (float)fraction / 16777216.0f;
        memcpy(&bits, &f, sizeof bits);
        bits |= sign;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* To the nearest half, ties to even. */
static inline uint16_t float_to_half(float f)
{
    uint32_t bits, result;
    memcpy(&bits, &f, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000U;
    bits &= 0x7fffffffU;
    if (bits >= 0x7f800000U) { /* infinite, or no number */
        result = bits > 0x7f800000U ? 0x7e00U : 0x7c00U;
    } else if (bits < 0x33000000U) { /* below half of the smallest */
        result = 0;
    } else if (bits < 0x38800000U) { /* subnormal: a multiple of 2^-24 */
        const uint32_t shift = 126U - (bits >> 23);
        const uint32_t fraction = (bits & 0x7fffffU) | 0x800000U;
        const uint32_t rest = fraction & ((1U << shift) - 1U);
        const uint32_t tie = 1U << (shift - 1U);
        result = fraction >> shift;
        result += rest > tie || (rest == tie && (result & 1U) != 0) ? 1U : 0U;
    } else {
        bits += 0xfffU + (bits >> 13 & 1U);
        result = (bits - 0x38000000U) >> 13;
        result = result > 0x7c00U ? 0x7c00U : result;
    }
    return (uint16_t)(sign | result);
}

static inline float round_to_half(float f)
{
    return half_to_float(float_to_half(f));
}

/* x * y * 2^(s - q), rounded half up, in 64 bits; the result wraps. A y of 2^30 is a shift in 32 bits. Counts of shifts
 * are taken modulo the width. */
static inline int32_t q_multiply_shift(int32_t x, int32_t y, int32_t q, int32_t s)
{
    if (y == 1073741824) {
        if (s >= 1) {
            return (int32_t)((uint32_t)x << ((s - 1) & 31));
        }
        return (int32_t)((uint32_t)x + (1U << ((0U - (uint32_t)s) & 31U))) >> ((1U - (uint32_t)s) & 31U);
    }
    const uint32_t shift = ((uint32_t)q + (s < 0 ? 0U - (uint32_t)s : 0U)) & 63U;
    const uint64_t wide = (uint64_t)x << (s > 0 ? s & 63 : 0);
    const uint64_t sum = wide * (uint64_t)y + (shift > 0 ? UINT64_C(1) << (shift - 1) : 0U);
    return (int32_t)((int64_t)sum >> shift);
}

/* arithmetic  int32[8], int32[8] -> int32[8]  scalars.py:7:5 */
void arithmetic(const int32_t *TIRGEN_RESTRICT a, const int32_t *TIRGEN_RESTRICT b,
    int32_t *TIRGEN_RESTRICT c)
{
    for (int32_t i = 0; i < 8; ++i) {
        c[i] = (int32_t)((uint32_t)a[i] - ((uint32_t)b[i] - (uint32_t)c[i]) * 3U);
        c[i] = (int32_t)((uint32_t)((a[i] >> 2) + floormod_int32(b[i], 3)) + (uint32_t)div_int32(a[i],
                b[i]));
        c[i] = max_int32(min_int32((int32_t)((uint32_t)a[i] + (uint32_t)b[i]), 127), -128);
    }
}

/* narrow  -> int8[8], uint16[8], float16[8]  scalars.py:15:5 */
void narrow(int8_t *TIRGEN_RESTRICT a, uint16_t *TIRGEN_RESTRICT b, uint16_t *TIRGEN_RESTRICT c)
{
    for (int32_t i = 0; i < 8; ++i) {
        a[i] = (int8_t)(a[i] + a[i] * 3);
        b[i] = (uint16_t)((uint32_t)b[i] * (uint32_t)b[i]);
        c[i] = float_to_half(round_to_half(half_to_float(c[i]) * half_to_float(c[i])) + 0.5f);
    }
}

/* convert  float32[8] -> int8[8], bool[8]  scalars.py:23:5 */
void convert(const float *TIRGEN_RESTRICT x, int8_t *TIRGEN_RESTRICT q,
    uint8_t *TIRGEN_RESTRICT m)
{
    for (int32_t i = 0; i < 8; ++i) {
        q[i] = float_to_int8(x[i]);
        m[i] = x[i] > 0.0f && isinf(x[i]) == 0;
    }
}

/* dense  int8[64], int8[16,64], int32[16] -> int8[16]  scalars.py:30:5 */
void dense(const int8_t *TIRGEN_RESTRICT x, const int8_t *TIRGEN_RESTRICT w,
    const int32_t *TIRGEN_RESTRICT bias, int8_t *TIRGEN_RESTRICT y)
{
    for (int32_t i = 0; i < 16; ++i) {
        int32_t sum_1 = 0;
        for (int32_t k = 0; k < 64; ++k) {
            sum_1 += (int32_t)x[k] * w[i * 64 + k];
        }
        y[i] = (int8_t)max_int32(min_int32(q_multiply_shift((int32_t)((uint32_t)sum_1 + (uint32_t)bias[i]),
                1431655765, 31, -6), 127), -128);
    }
}
