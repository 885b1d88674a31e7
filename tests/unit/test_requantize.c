/* test_requantize.c: requantize against arithmetic in 128 bits: edge multipliers, shifts and values, both roundings,
 * one scale and one a channel; the cases that other compilers got wrong. */
#include "relay_model.h"

#include <math.h>

__extension__ typedef __int128 wide;

/* ---- the reference ---- */

static int32_t low32(wide v)
{
    uint32_t u = (uint32_t)(unsigned long long)v;
    return u > INT32_MAX ? (int32_t)((int64_t)u - ((int64_t)1 << 32)) : (int32_t)u;
}

static wide floor_shift(wide v, int by)
{
    wide unit = (wide)1 << by;
    return v >= 0 ? v / unit : -((-v + unit - 1) / unit);
}

/* x · factor rounded, low 32 bits. */
static int32_t multiply(int32_t x, double factor, bool away, bool channel)
{
    int e = 0;
    double f = frexp(factor, &e);
    int64_t m = (int64_t)round(f * 2147483648.0);
    if (m == (int64_t)1 << 31) {
        m /= 2;
        ++e;
    }
    if (m == 1 << 30 && !away && !channel && e > -31) { /* a power of two: 32 bits, which wrap */
        int left = e - 1;
        return left >= 0 ? low32((wide)x * ((wide)1 << left))
                         : low32(floor_shift(low32((wide)x + ((wide)1 << (-left - 1))), -left));
    }
    wide v = (wide)x * m;
    int right = 31 - e;
    wide half = right > 0 ? (wide)1 << (right - 1) : 0;
    if (away && v < 0) --half;
    return right >= 0 ? low32(floor_shift(v + half, right)) : low32(v * ((wide)1 << -right));
}

static int32_t requantized(int32_t x, int32_t zero, double factor, int32_t zero_out, bool scaled, bool away,
                           bool channel)
{
    int32_t t = low32((wide)x - zero);
    if (scaled) t = multiply(t, factor, away, channel);
    return low32((wide)t + zero_out);
}

/* ---- values ---- */

static const int32_t values[] = {
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    5,
    -5,
    6,
    -6,
    7,
    127,
    -128,
    128,
    -129,
    255,
    1000,
    -1000,
    32767,
    -32768,
    65535,
    123456,
    -123456,
    8388607,
    -8388608,
    1073741823,
    -1073741824,
    1073741824,
    1610612735,
    -1610612736,
    2147483520,
    -2147483520,
    2147483646,
    2147483647,
    -2147483647,
    -2147483647 - 1,
};

/* In double as the compiler has them: quotients of float32. */
static const float scales[] = {
    1.0f,       0.5f,          0.25f,          0.125f,         2.0f,      4.0f,    0.75f,    0.3f,       0.1f,
    0.9999999f, 1.0000001f,    0.49999997f,    0.50000006f,    0.015625f, 3.0f,    7.3f,     0.001f,     1e-5f,
    3.1e-7f,    4.656613e-10f, 2.3283064e-10f, 1.1641532e-10f, 1e-12f,    1000.0f, 65536.0f, 1234567.0f, 1e8f,
};

static void compare(tg_fixture *f, const char *text, const double *factor, bool scaled, bool away, bool channel,
                    int32_t zero, int32_t zero_out, size_t repeat)
{
    double in[8 * TG_COUNT(values)], out[8 * TG_COUNT(values)];
    for (size_t i = 0; i < TG_COUNT(values) * repeat; ++i) in[i] = values[i / repeat];
    if (tg_test_compile(f, text, NULL) != TIRGEN_OK) fail_msg("%s\n%s", text, tg_text_z(&f->log));
    assert_int_equal(tg_test_run(f, in, out), TG_COUNT(values) * repeat);
    for (size_t i = 0; i < TG_COUNT(values) * repeat; ++i) {
        int32_t want = requantized(values[i / repeat], zero, factor[i % repeat], zero_out, scaled, away, channel);
        if (out[i] != want)
            fail_msg("%s\n%d times %.17g: %.0f, expected %d", text, values[i / repeat], factor[i % repeat], out[i],
                     want);
    }
}

static const char *rounding_text(bool away)
{
    return away ? "TONEAREST" : "UPWARD";
}

static void one_scale_equals_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(scales) * 4; ++i) {
        void *own = NULL;
        assert_int_equal(tg_test_setup(&own), 0);
        tg_fixture *f = own;
        float s = scales[i / 4], so = i & 1 ? 0.7f : 1.0f;
        bool away = (i & 2) != 0;
        int32_t zero = i & 1 ? -7 : 0, zero_out = i & 1 ? 100 : 0;
        double factor = (double)s / (double)so;
        const char *text =
            tg_format(f->cx,
                      "#[version = \"0.0.5\"]\ndef @main(%%x: Tensor[(%zu), int32]) {\n  qnn.requantize(%%x, %.9gf, "
                      "%d, %.9gf, %d, rounding=\"%s\", out_dtype=\"int32\")\n}\n",
                      TG_COUNT(values), (double)s, zero, (double)so, zero_out, rounding_text(away));
        compare(f, text, &factor, s != so, away, false, zero, zero_out, 1);
        tg_test_teardown(&own);
    }
}

static const char *vector_text(tg_ctx *cx, const float *s, size_t n)
{
    tg_text t = tg_text_new(cx);
    for (size_t i = 0; i < n; ++i) tg_printf(&t, i > 0 ? ", %.9gf" : "(%.9gf", (double)s[i]);
    tg_puts(&t, ")");
    return tg_text_z(&t);
}

static void one_scale_a_channel_equals_the_reference(void **state)
{
    enum { N = 3 };
    (void)state;
    for (size_t i = 0; i + N <= TG_COUNT(scales); ++i) {
        for (int away = 0; away < 2; ++away) {
            void *own = NULL;
            assert_int_equal(tg_test_setup(&own), 0);
            tg_fixture *f = own;
            double factor[N];
            for (size_t k = 0; k < N; ++k) factor[k] = (double)scales[i + k] / (double)0.9f;
            const char *text = tg_format(
                f->cx,
                "#[version = \"0.0.5\"]\ndef @main(%%x: Tensor[(%zu, 3), int32]) {\n  %%0 = %s;\n"
                "  %%1 = stack(%%0, axis=0);\n  qnn.requantize(%%x, %%1, 0, 0.9f, 0, axis=-1, rounding=\"%s\", "
                "out_dtype=\"int32\")\n}\n",
                TG_COUNT(values), vector_text(f->cx, &scales[i], N), rounding_text(away != 0));
            compare(f, text, factor, true, away != 0, true, 0, 0, N);
            tg_test_teardown(&own);
        }
    }
}

/* ---- known traps ---- */

#define REQUANTIZE(type, n, operands, attrs)                                                                           \
    "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(" n "), " type "]) {\n  qnn.requantize(%x, " operands ", " attrs    \
    ")\n}\n"

static const tg_test_case cases[] = {
    { "halves go up",
      REQUANTIZE("int32", "4", "0.5f, 0, 1f, 0", "rounding=\"UPWARD\", out_dtype=\"int8\""),
      { 1, 3, -1, -3 },
      4,
      { 1, 2, 0, -1 } },
    { "halves go away from zero",
      REQUANTIZE("int32", "4", "0.5f, 0, 1f, 0", "rounding=\"TONEAREST\", out_dtype=\"int8\""),
      { 1, 3, -1, -3 },
      4,
      { 1, 2, -1, -2 } },
    { "without a rounding halves go up",
      REQUANTIZE("int32", "4", "0.5f, 0, 1f, 0", "out_dtype=\"int8\""),
      { 1, 3, -1, -3 },
      4,
      { 1, 2, 0, -1 } },
    { "three quarters", REQUANTIZE("int32", "2", "0.75f, 0, 1f, 0", "out_dtype=\"int8\""), { 2, -2 }, 2, { 2, -1 } },
    { "results saturate",
      REQUANTIZE("int32", "3", "1f, 0, 1f, 0", "out_dtype=\"int8\""),
      { 127, 128, -129 },
      3,
      { 127, 127, -128 } },
    { "unsigned results saturate",
      REQUANTIZE("int32", "3", "1f, 0, 1f, 10", "out_dtype=\"uint8\""),
      { -11, 245, 300 },
      3,
      { 0, 255, 255 } },
    { "sums with zero points wrap",
      REQUANTIZE("int32", "1", "1f, 1, 1f, 0", "out_dtype=\"int32\""),
      { -2147483648.0 },
      1,
      { 2147483647 } },
    { "float32, halves up",
      REQUANTIZE("int8", "4", "0.5f, 0, 1f, 0", "compute_dtype=\"float32\", out_dtype=\"int8\""),
      { 1, 3, -1, -3 },
      4,
      { 1, 2, 0, -1 } },
    { "float64, halves away",
      REQUANTIZE("int8", "4", "0.5f, 0, 1f, 3",
                 "compute_dtype=\"float64\", rounding=\"TONEAREST\", out_dtype=\"int8\""),
      { 1, 3, -1, -3 },
      4,
      { 4, 5, 3, 2 } },
    { "a scale of one element counts as a scalar",
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), int8]) {\n  %0 = (0.5f,);\n  %1 = stack(%0, axis=0);\n"
      "  qnn.requantize(%x, %1, 0, 1f, 0, out_dtype=\"int8\")\n}\n",
      { 4, -6 },
      2,
      { 2, -3 } },
};

static void known_traps(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i) tg_test_case_holds(&cases[i]);
}

static void scales_that_change_at_run_time_are_refused(void **state)
{
    tg_fixture *f = *state;
    const char *text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), int8], %s: float32) {\n  qnn.requantize(%x, "
                       "%s, 0, 1f, 0)\n}\n";
    assert_int_not_equal(tg_test_compile(f, text, NULL), TIRGEN_OK);
    assert_non_null(strstr(tg_text_z(&f->log), "the scales must be constants here"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scale_equals_the_reference),
        cmocka_unit_test(one_scale_a_channel_equals_the_reference),
        cmocka_unit_test(known_traps),
        cmocka_unit_test_setup_teardown(scales_that_change_at_run_time_are_refused, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
