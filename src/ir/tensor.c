/* tensor.c: constant tensors, their elements as numbers, and the roundings between number formats. */
#include <string.h>

#include "tensor.h"

tg_tensor *tg_tensor_new(tg_ctx *cx, const tg_type *type, void *bytes)
{
    TG_CHECK(cx, type->kind == TG_T_TENSOR, NULL);
    int64_t size;
    if (!tg_type_bytes(type, &size) || (uint64_t)size > SIZE_MAX / 2) {
        tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "%s is too large for a constant", tg_type_text(cx, type));
    }
    tg_tensor *t = TG_NEW(cx, tg_tensor);
    t->type = type;
    t->size_bytes = (size_t)size;
    t->dl.data = bytes != NULL ? bytes : tg_alloc(cx, (size_t)size);
    t->dl.device.device_type = kDLCPU;
    t->dl.ndim = (int)type->n;
    t->dl.dtype = type->dtype;
    t->dl.shape = tg_copy(cx, type->dim, type->n * sizeof(*type->dim));
    return t;
}

tg_tensor *tg_tensor_scalar(tg_ctx *cx, DLDataType d, double v)
{
    tg_tensor *t = tg_tensor_new(cx, tg_tensor_type(cx, d, 0, NULL, 0), NULL);
    tg_tensor_set_f64(t, 0, v);
    return t;
}

tg_tensor *tg_tensor_scalar_int(tg_ctx *cx, DLDataType d, int64_t v)
{
    tg_tensor *t = tg_tensor_new(cx, tg_tensor_type(cx, d, 0, NULL, 0), NULL);
    tg_tensor_set_i64(t, 0, v);
    return t;
}

bool tg_tensor_equal(const tg_tensor *a, const tg_tensor *b)
{
    if (a == b) return true;
    if (a == NULL || b == NULL || a->size_bytes != b->size_bytes) return false;
    if (!tg_dtype_eq(a->dl.dtype, b->dl.dtype) || a->dl.ndim != b->dl.ndim) return false;
    for (int k = 0; k < a->dl.ndim; ++k) {
        if (a->dl.shape[k] != b->dl.shape[k]) return false;
    }
    return a->dl.data == b->dl.data || memcmp(a->dl.data, b->dl.data, a->size_bytes) == 0;
}

/* ---- number formats ---- */

static uint32_t float_bits(float f)
{
    uint32_t b;
    memcpy(&b, &f, sizeof(b));
    return b;
}

static float float_of_bits(uint32_t b)
{
    float f;
    memcpy(&f, &b, sizeof(f));
    return f;
}

float tg_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 0x3ffu;
    if (exponent == 31) return float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float size = (float)fraction * 0x1p-24f;        /* subnormal or zero: exact */
    return sign != 0 ? -size : size;
}

/* @p kept with the nearest choice for the bits that were cut: @p cut of them, @p whole held both. Ties to even. */
static uint32_t round_off(uint32_t whole, unsigned cut)
{
    uint32_t kept = whole >> cut, rest = whole & ((1u << cut) - 1), half = 1u << (cut - 1);
    return rest > half || (rest == half && (kept & 1) != 0) ? kept + 1 : kept;
}

uint16_t tg_float_to_half(float f)
{
    uint32_t b = float_bits(f), sign = b >> 16 & 0x8000u, size = b & 0x7fffffffu;
    if (size > 0x7f800000u) {
        uint32_t fraction = size >> 13 & 0x3ffu;
        return (uint16_t)(sign | 0x7c00u | (fraction != 0 ? fraction : 0x200u));    /* stays a nan */
    }
    if (size >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);                     /* 2^16 and more */
    if (size >= 0x38800000u) return (uint16_t)(sign | round_off(size - (112u << 23), 13));  /* carries into inf */
    if (size < 0x33000000u) return (uint16_t)sign;                                  /* below half the smallest */
    uint32_t whole = (size & 0x7fffffu) | 0x800000u;                                /* subnormal: in units of 2^-24 */
    return (uint16_t)(sign | round_off(whole, 126 - (size >> 23)));
}

/* The upper half, so toward zero: what ONNX expects of a cast, too. A nan stays one. */
static uint16_t float_to_bfloat(float f)
{
    uint32_t b = float_bits(f), size = b & 0x7fffffffu;
    return (uint16_t)(b >> 16 | (size > 0x7f800000u && (b & 0x7f0000u) == 0 ? 0x40u : 0));
}

static float bfloat_to_float(uint16_t h)
{
    return float_of_bits((uint32_t)h << 16);
}

/* The float next to @p v towards zero, last bit set if anything was cut off: rounding that to a narrower format gives
 * the same as rounding @p v directly. */
static float round_to_odd(double v)
{
    float f = (float)v;
    if (v != v || (double)f == v) return f;
    double size = v < 0 ? -v : v, near = f < 0 ? -(double)f : (double)f;
    uint32_t b = float_bits(f);
    if (near > size) --b;
    return float_of_bits(b | 1u);
}

double tg_round_to(DLDataType d, double v)
{
    if (d.code == kDLFloat && d.bits == 32) return (float)v;
    if (d.code == kDLFloat && d.bits == 16) return tg_half_to_float(tg_float_to_half(round_to_odd(v)));
    if (d.code == kDLBfloat && d.bits == 16) return bfloat_to_float(float_to_bfloat(round_to_odd(v)));
    return v;
}

int64_t tg_wrap_to(DLDataType d, int64_t v)
{
    if (tg_is_bool(d)) return v != 0;
    if ((d.code != kDLInt && d.code != kDLUInt) || d.bits >= 64 || d.bits == 0) return v;
    uint64_t mask = ((uint64_t)1 << d.bits) - 1, low = (uint64_t)v & mask;
    if (d.code == kDLInt && (low >> (d.bits - 1)) != 0) low |= ~mask;
    int64_t out;
    memcpy(&out, &low, sizeof(out));
    return out;
}

/* ---- elements; memcpy, since a borrowed tensor may stand at any address ---- */

/* Bytes of one element: vectors count as their lanes. */
static size_t element_bytes(const tg_tensor *t)
{
    return (size_t)((t->dl.dtype.bits + 7) / 8);
}

static const unsigned char *element(const tg_tensor *t, int64_t i)
{
    return (const unsigned char *)t->dl.data + t->dl.byte_offset + (size_t)i * element_bytes(t);
}

static uint64_t raw_get(const tg_tensor *t, int64_t i)
{
    const unsigned char *p = element(t, i);
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (element_bytes(t)) {
    case 1: return *p;
    case 2: memcpy(&two, p, 2); return two;
    case 4: memcpy(&four, p, 4); return four;
    default: memcpy(&eight, p, 8); return eight;
    }
}

static void raw_set(tg_tensor *t, int64_t i, uint64_t v)
{
    unsigned char *p = (unsigned char *)t->dl.data + t->dl.byte_offset + (size_t)i * element_bytes(t);
    uint16_t two = (uint16_t)v;
    uint32_t four = (uint32_t)v;
    switch (element_bytes(t)) {
    case 1: *p = (unsigned char)v; break;
    case 2: memcpy(p, &two, 2); break;
    case 4: memcpy(p, &four, 4); break;
    default: memcpy(p, &v, 8); break;
    }
}

static double float_get(const tg_tensor *t, int64_t i)
{
    uint64_t raw = raw_get(t, i);
    if (t->dl.dtype.code == kDLBfloat) return bfloat_to_float((uint16_t)raw);
    if (t->dl.dtype.bits == 16) return tg_half_to_float((uint16_t)raw);
    if (t->dl.dtype.bits == 32) return float_of_bits((uint32_t)raw);
    double v;
    memcpy(&v, &raw, sizeof(v));
    return v;
}

/* Towards zero, into the range of int64; nan is 0. */
static int64_t int_of(double v)
{
    if (v != v) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    if (v < -0x1p63) return INT64_MIN;
    return (int64_t)v;
}

int64_t tg_tensor_i64(const tg_tensor *t, int64_t i)
{
    if (tg_is_float(t->dl.dtype)) return int_of(float_get(t, i));
    uint64_t raw = raw_get(t, i);
    int64_t v;
    memcpy(&v, &raw, sizeof(v));
    return tg_wrap_to(t->dl.dtype, v);
}

double tg_tensor_f64(const tg_tensor *t, int64_t i)
{
    if (tg_is_float(t->dl.dtype)) return float_get(t, i);
    if (t->dl.dtype.code == kDLUInt && t->dl.dtype.bits == 64) return (double)raw_get(t, i);
    return (double)tg_tensor_i64(t, i);
}

static void float_set(tg_tensor *t, int64_t i, double v)
{
    uint64_t raw;
    if (t->dl.dtype.code == kDLBfloat) raw = float_to_bfloat(round_to_odd(v));
    else if (t->dl.dtype.bits == 16) raw = tg_float_to_half(round_to_odd(v));
    else if (t->dl.dtype.bits == 32) raw = float_bits((float)v);
    else memcpy(&raw, &v, sizeof(raw));
    raw_set(t, i, raw);
}

void tg_tensor_set_i64(tg_tensor *t, int64_t i, int64_t v)
{
    if (tg_is_float(t->dl.dtype)) float_set(t, i, (double)v);
    else raw_set(t, i, (uint64_t)tg_wrap_to(t->dl.dtype, v));
}

/* A number outside the range of an integer dtype becomes its nearest end. */
void tg_tensor_set_f64(tg_tensor *t, int64_t i, double v)
{
    DLDataType d = t->dl.dtype;
    if (tg_is_float(d)) {
        float_set(t, i, v);
    } else if (tg_is_bool(d)) {
        raw_set(t, i, v != 0);
    } else if (d.code == kDLUInt) {
        double limit = d.bits >= 64 ? 0x1p64 : (double)((uint64_t)1 << d.bits);
        uint64_t top = d.bits >= 64 ? UINT64_MAX : ((uint64_t)1 << d.bits) - 1;
        raw_set(t, i, v >= limit ? top : v > 0 ? (uint64_t)v : 0);
    } else {
        int64_t n = int_of(v), top = d.bits >= 64 ? INT64_MAX : ((int64_t)1 << (d.bits - 1)) - 1;
        raw_set(t, i, (uint64_t)(n > top ? top : n < -top - 1 ? -top - 1 : n));
    }
}
