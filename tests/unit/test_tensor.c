/* test_tensor.c: elements of constant tensors and the number formats. */
#include <math.h>

#include "fixture.h"
#include "ir/tensor.h"

/* The value of a half, from the definition of the format. */
static double half_by_definition(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return (h & 0x8000) != 0 ? -size : size;
}

static bool is_nan_half(uint16_t h)
{
    return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0;
}

static void every_half_converts_exactly_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= 0xffff; ++i) {
        uint16_t h = (uint16_t)i;
        float v = tg_half_to_float(h);
        if (is_nan_half(h)) {
            assert_true(v != v);
        } else if ((h & 0x7c00) == 0x7c00) {
            assert_true(isinf(v) && (v < 0) == (h >> 15 != 0));
        } else {
            assert_true(v == half_by_definition(h) && !signbit(v) == !signbit(half_by_definition(h)));
        }
        assert_int_equal(tg_float_to_half(v), h);
    }
}

/* The nearest half by search among neighbours; ties to the even one. */
static uint16_t nearest_half(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0, low = 0, high = 0x7c00;
    double size = fabs(v);
    while (high - low > 1) {                                            /* value(low) <= size < value(high) */
        uint16_t mid = (uint16_t)((low + high) / 2);
        if (half_by_definition(mid) <= size) low = mid;
        else high = mid;
    }
    if (size >= 65536) return (uint16_t)(sign | 0x7c00);
    double below = half_by_definition(low), above = low == 0x7bff ? 65536 : half_by_definition((uint16_t)(low + 1));
    double to_low = size - below, to_high = above - size;
    bool up = to_high < to_low || (to_high == to_low && (low & 1) != 0);
    return (uint16_t)(sign | (up ? low + 1 : low));
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 ^ *seed << 13;
}

static void floats_round_to_the_nearest_half_ties_to_even(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 1000000; ++i) {
        uint32_t b = (uint32_t)next_random(&seed);
        if (i % 4 != 0) b = (b & 0x807fffffu) | (95 + b % 55) << 23;    /* mostly in and around the range of halves */
        if (i % 4 == 1) b &= 0xfffff000u;                               /* and often a tie */
        float v;
        memcpy(&v, &b, 4);
        if (v != v) continue;
        if (tg_float_to_half(v) != nearest_half(v)) fail_msg("%a gives %x, not %x", v, tg_float_to_half(v), nearest_half(v));
    }
    assert_int_equal(tg_float_to_half(65519.996f), 0x7bff);
    assert_int_equal(tg_float_to_half(65520), 0x7c00);
    assert_int_equal(tg_float_to_half(0x1p-25f), 0);
    assert_int_equal(tg_float_to_half(0x1.000002p-25f), 1);
    assert_int_equal(tg_float_to_half(-INFINITY), 0xfc00);
}

static void nan_stays_nan_in_every_format(void **state)
{
    (void)state;
    static const uint32_t patterns[] = { 0x7f800001u, 0x7fc00000u, 0xff800001u, 0x7fffffffu, 0x7f801fffu };
    for (size_t i = 0; i < TG_COUNT(patterns); ++i) {
        float v;
        memcpy(&v, &patterns[i], 4);
        assert_true(is_nan_half(tg_float_to_half(v)));
        assert_true(isnan(tg_round_to(TG_FLOAT16, v)));
        assert_true(isnan(tg_round_to(tg_dtype(kDLBfloat, 16, 1), v)));
    }
}

static void doubles_round_once(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < 300000; ++i) {
        uint16_t h = (uint16_t)(next_random(&seed) % 0x7bff);
        double tie = (half_by_definition(h) + half_by_definition((uint16_t)(h + 1))) / 2;
        assert_int_equal(tg_float_to_half((float)tg_round_to(TG_FLOAT16, tie)), nearest_half(tie));
        double over = nextafter(tie, INFINITY), under = nextafter(tie, 0);
        assert_true(tg_round_to(TG_FLOAT16, over) == half_by_definition((uint16_t)(h + 1)));
        assert_true(tg_round_to(TG_FLOAT16, under) == half_by_definition(h));
        assert_true(tg_round_to(TG_FLOAT16, -over) == -half_by_definition((uint16_t)(h + 1)));
    }
    DLDataType b = tg_dtype(kDLBfloat, 16, 1);
    assert_true(tg_round_to(b, 1.00390625) == 1);                       /* bfloat16 is cut off */
    assert_true(tg_round_to(b, nextafter(1.0078125, 0)) == 1 && tg_round_to(b, nextafter(-1.0078125, 0)) == -1);
    assert_true(tg_round_to(b, 1.01171875) == 1.0078125);
    assert_true(tg_round_to(b, 3.4e38) < INFINITY && isinf(tg_round_to(b, INFINITY)));
    assert_true(tg_round_to(TG_FLOAT32, 0.1) == 0.1f);
    assert_true(tg_round_to(TG_FLOAT64, 0.1) == 0.1);
    assert_true(tg_round_to(TG_INT32, 7) == 7);
    assert_true(tg_round_to(TG_FLOAT16, 1e300) == INFINITY && tg_round_to(TG_FLOAT16, -1e300) == -INFINITY);
    assert_true(tg_round_to(TG_FLOAT16, 1e-300) == 0 && signbit(tg_round_to(TG_FLOAT16, -1e-300)));
}

static const struct { uint8_t code, bits; int64_t v, wrapped; } wraps[] = {
    { kDLInt, 8, 127, 127 }, { kDLInt, 8, 128, -128 }, { kDLInt, 8, -129, 127 }, { kDLUInt, 8, -1, 255 }, { kDLUInt, 8, 256, 0 },
    { kDLInt, 16, 40000, -25536 }, { kDLInt, 32, INT64_C(0x80000000), INT32_MIN }, { kDLUInt, 32, -1, UINT32_MAX },
    { kDLInt, 64, INT64_MIN, INT64_MIN }, { kDLUInt, 64, -1, -1 }, { kDLUInt, 1, 2, 1 }, { kDLUInt, 1, 0, 0 }, { kDLUInt, 16, 65537, 1 },
};

static void integers_wrap_into_their_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(wraps); ++i) {
        assert_int_equal(tg_wrap_to(tg_dtype(wraps[i].code, wraps[i].bits, 1), wraps[i].v), wraps[i].wrapped);
    }
}

static const struct { uint8_t code, bits; double in, out; int64_t i; } elements[] = {
    { kDLUInt, 1, 5, 1, 1 }, { kDLUInt, 1, 0, 0, 0 }, { kDLUInt, 1, 0.5, 1, 1 },
    { kDLInt, 8, -100, -100, -100 }, { kDLInt, 8, 1000, 127, 127 }, { kDLInt, 8, -1000, -128, -128 }, { kDLInt, 8, -1.9, -1, -1 },
    { kDLInt, 16, 30000, 30000, 30000 }, { kDLInt, 32, 2e9, 2e9, 2000000000 }, { kDLInt, 32, 1e10, INT32_MAX, INT32_MAX },
    { kDLInt, 64, -9e15, -9e15, -9000000000000000 }, { kDLInt, 64, 1e19, 0x1p63, INT64_MAX }, { kDLInt, 64, -1e19, -0x1p63, INT64_MIN },
    { kDLUInt, 8, 300, 255, 255 }, { kDLUInt, 8, -3, 0, 0 }, { kDLUInt, 16, 65535, 65535, 65535 }, { kDLUInt, 32, 4e9, 4e9, 4000000000 },
    { kDLUInt, 64, 0x1p63, 0x1p63, INT64_MIN }, { kDLUInt, 64, 1e20, 0x1p64, -1 }, { kDLInt, 32, NAN, 0, 0 }, { kDLUInt, 32, NAN, 0, 0 },
    { kDLFloat, 16, 0.1, 0.0999755859375, 0 }, { kDLFloat, 32, 0.1, 0.1f, 0 }, { kDLFloat, 64, 0.1, 0.1, 0 },
    { kDLBfloat, 16, 1.01171875, 1.0078125, 1 }, { kDLFloat, 64, -1e300, -1e300, INT64_MIN }, { kDLFloat, 32, 1e300, INFINITY, INT64_MAX },
};

static void elements_of_every_dtype_are_stored_and_read(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(elements); ++i) {
        tg_tensor *t = tg_tensor_scalar(f->cx, tg_dtype(elements[i].code, elements[i].bits, 1), elements[i].in);
        assert_int_equal(t->dl.ndim, 0);
        assert_int_equal(t->size_bytes, (elements[i].bits + 7) / 8);
        assert_true(tg_tensor_f64(t, 0) == elements[i].out);
        assert_int_equal(tg_tensor_i64(t, 0), elements[i].i);
    }
    assert_int_equal(tg_tensor_i64(tg_tensor_scalar_int(f->cx, TG_UINT8, -1), 0), 255);
    assert_true(tg_tensor_f64(tg_tensor_scalar_int(f->cx, TG_FLOAT16, 2049), 0) == 2048);
    assert_true(tg_tensor_f64(tg_tensor_scalar_int(f->cx, TG_INT64, INT64_MAX), 0) == 0x1p63);
}

static void a_borrowed_tensor_may_stand_at_any_address(void **state)
{
    tg_fixture *f = *state;
    int64_t dim[2] = { 2, 3 };
    const tg_type *type = tg_tensor_type(f->cx, TG_FLOAT32, 2, dim, 0);
    unsigned char bytes[25] = { 0 };
    tg_tensor *t = tg_tensor_new(f->cx, type, bytes + 1);
    for (int i = 0; i < 6; ++i) tg_tensor_set_f64(t, i, i * 1.5);
    for (int i = 0; i < 6; ++i) assert_true(tg_tensor_f64(t, i) == i * 1.5);
    assert_ptr_equal(t->dl.data, bytes + 1);
    assert_int_equal(t->dl.ndim, 2);
    assert_int_equal(t->dl.shape[1], 3);
    assert_int_equal(t->size_bytes, 24);
    assert_int_equal(t->dl.device.device_type, kDLCPU);
    tg_tensor *same = tg_tensor_new(f->cx, type, NULL);
    assert_false(tg_tensor_equal(t, same));
    for (int i = 0; i < 6; ++i) tg_tensor_set_f64(same, i, i * 1.5);
    assert_true(tg_tensor_equal(t, same));
    dim[0] = 3;
    dim[1] = 2;
    tg_tensor *other = tg_tensor_new(f->cx, tg_tensor_type(f->cx, TG_FLOAT32, 2, dim, 0), bytes + 1);
    assert_false(tg_tensor_equal(t, other));
}

static void a_tensor_of_unknown_or_absurd_size_is_refused(void **state)
{
    tg_fixture *f = *state;
    static const int64_t dims[][2] = { { TG_DIM_ANY, 1 }, { (int64_t)1 << 40, (int64_t)1 << 40 }, { -3, 1 } };
    for (volatile size_t i = 0; i < TG_COUNT(dims); ++i) {
        const tg_type *type = tg_tensor_type(f->cx, TG_FLOAT64, 2, dims[i], 0);
        if (TG_UNWIND(f) == 0) {
            tg_tensor_new(f->cx, type, NULL);
            fail_msg("came back");
        }
        assert_int_equal(f->cx->failure, TIRGEN_ELIMIT);
    }
    int64_t none[1] = { 0 };
    assert_int_equal(tg_tensor_new(f->cx, tg_tensor_type(f->cx, TG_FLOAT64, 1, none, 0), NULL)->size_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_converts_exactly_and_back),
        cmocka_unit_test(floats_round_to_the_nearest_half_ties_to_even),
        cmocka_unit_test(nan_stays_nan_in_every_format),
        cmocka_unit_test(doubles_round_once),
        cmocka_unit_test(integers_wrap_into_their_range),
        cmocka_unit_test_setup_teardown(elements_of_every_dtype_are_stored_and_read, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_borrowed_tensor_may_stand_at_any_address, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_tensor_of_unknown_or_absurd_size_is_refused, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
