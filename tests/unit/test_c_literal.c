/* test_c_literal.c: numbers read back to the same bits; texts cannot leave the comment or string they stand in. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>

#include "codegen_c/emit.h"

static const char *int_text(tg_fixture *f, DLDataType d, int64_t v, bool exact, int outer)
{
    tg_text t = tg_text_new(f->cx);
    tg_emit e = { .cx = f->cx, .to = &t };
    c_put_int(&e, d, v, exact, outer);
    return tg_text_z(&t);
}

static const struct { uint8_t code, bits; int64_t v; bool exact; int outer; const char *c; } ints[] = {
    { kDLInt, 8, -128, true, C_ANY, "-128" },
    { kDLInt, 32, 5, true, C_ANY, "5" },
    { kDLInt, 32, -5, true, C_POSTFIX, "(-5)" },
    { kDLInt, 32, -5, true, C_UNARY, "-5" },
    { kDLInt, 32, INT32_MIN, true, C_ANY, "INT32_MIN" },
    { kDLInt, 32, INT32_MAX, true, C_ANY, "2147483647" },
    { kDLInt, 64, 5, false, C_ANY, "5" },
    { kDLInt, 64, 5, true, C_ANY, "INT64_C(5)" },
    { kDLInt, 64, -5, true, C_ANY, "-INT64_C(5)" },
    { kDLInt, 64, INT32_MIN, false, C_ANY, "-INT64_C(2147483648)" },
    { kDLInt, 64, 1099511627776, false, C_ANY, "INT64_C(1099511627776)" },
    { kDLInt, 64, INT64_MIN, false, C_ANY, "INT64_MIN" },
    { kDLUInt, 8, 255, true, C_ANY, "255" },
    { kDLUInt, 32, 5, true, C_ANY, "5U" },
    { kDLUInt, 32, 4294967295, true, C_ANY, "4294967295U" },
    { kDLUInt, 64, -1, false, C_ANY, "UINT64_C(18446744073709551615)" },
    { kDLUInt, 64, 7, false, C_ANY, "7U" },
    { kDLUInt, 1, 1, true, C_ANY, "true" },
    { kDLUInt, 1, 0, true, C_ANY, "false" },
};

static void integers_have_the_type_and_value_of_their_dtype(void **state)
{
    for (size_t i = 0; i < TG_COUNT(ints); ++i)
        assert_string_equal(int_text(*state, tg_dtype(ints[i].code, ints[i].bits, 1), ints[i].v, ints[i].exact, ints[i].outer), ints[i].c);
}

static const char *float_text(tg_fixture *f, DLDataType d, double v, unsigned *need)
{
    tg_text t = tg_text_new(f->cx);
    tg_emit e = { .cx = f->cx, .to = &t };
    c_put_float(&e, d, v, C_ANY);
    *need = e.need;
    return tg_text_z(&t);
}

static void numbers_that_are_not_finite_are_macros_of_math_h(void **state)
{
    unsigned need;
    assert_string_equal(float_text(*state, TG_FLOAT32, HUGE_VAL, &need), "INFINITY");
    assert_int_equal(need, C_MATH);
    assert_string_equal(float_text(*state, TG_FLOAT32, -HUGE_VAL, &need), "-INFINITY");
    assert_string_equal(float_text(*state, TG_FLOAT64, (double)NAN, &need), "NAN");
    assert_string_equal(float_text(*state, TG_FLOAT32, 1, &need), "1.0f");
    assert_int_equal(need, 0);
    assert_string_equal(float_text(*state, TG_FLOAT64, 0.1, &need), "0.1");
    assert_string_equal(float_text(*state, TG_FLOAT32, -0.0, &need), "-0.0f");
    assert_string_equal(float_text(*state, TG_FLOAT16, 0.5, &need), "0.5f");
    assert_string_equal(float_text(*state, TG_FLOAT32, 3.4028234663852886e38, &need), "3.4028235e+38f");
}

static void check_hex(double v, bool is_float)
{
    char text[40];
    size_t n = c_hex_float(text, v, is_float);
    assert_true(n <= 32);
    if (is_float)
        assert_int_equal(text[--n], 'f');
    text[n] = '\0';
    char *end;
    double back = strtod(text, &end);
    assert_true(*end == '\0');
    if (memcmp(&back, &v, sizeof v) != 0)
        fail_msg("%a was printed %s", v, text);
}

static void hexadecimal_floats_read_back_to_the_same_bits(void **state)
{
    static const double special[] = { 0, -0.0, 1, -1, 1.5, 0.1, 3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45,
                                      5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308 };
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < TG_COUNT(special); ++i)
        check_hex(special[i], false);
    for (int i = 0; i < 200000; ++i) {
        double d;
        float f;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t low = (uint32_t)(seed >> 32);
        memcpy(&d, &seed, sizeof d);
        memcpy(&f, &low, sizeof f);
        if (isfinite(d))
            check_hex(d, false);
        if (isfinite(f))
            check_hex((double)f, true);
    }
}

static void short_floats_print_short(void **state)
{
    char text[40];
    (void)state;
    assert_int_equal(c_hex_float(text, 0.5, true), 7);
    assert_memory_equal(text, "0x1p-1f", 7);
    assert_int_equal(c_hex_float(text, -1.75, true), 10);
    assert_memory_equal(text, "-0x1.cp+0f", 10);
    assert_int_equal(c_hex_float(text, 0, true), 4);
    assert_memory_equal(text, "0.0f", 4);
}

static const struct { const char *text, *c; } comments[] = {
    { "nn.relu", "nn.relu" }, { "a*/b", "a* /b" }, { "/*", "/ *" }, { "//", "/ /" }, { "x\ny", "x.y" }, { "?\?/", "? ?/" },
    { "a\\", "a |" }, { "caf\xC3\xA9", "caf.." }, { "*/*/", "* / * /" },
};

static void no_text_ends_a_comment(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(comments); ++i) {
        tg_text t = tg_text_new(f->cx);
        tg_emit e = { .cx = f->cx, .to = &t };
        c_put_comment(&e, comments[i].text, strlen(comments[i].text));
        assert_string_equal(tg_text_z(&t), comments[i].c);
    }
}

static void strings_keep_every_byte(void **state)
{
    tg_fixture *f = *state;
    static const struct { const char *text, *c; } row[] = {
        { "plain", "\"plain\"" }, { "a\"b\\", "\"a\\\"b\\\\\"" }, { "\n1", "\"\\0121\"" }, { "\xC3\xA9" "f", "\"\\303\\251f\"" },
        { "what?\?/", "\"what?\\?/\"" },
    };
    for (size_t i = 0; i < TG_COUNT(row); ++i) {
        tg_text t = tg_text_new(f->cx);
        tg_emit e = { .cx = f->cx, .to = &t };
        c_put_string(&e, tg_intern_z(f->cx, row[i].text));
        assert_string_equal(tg_text_z(&t), row[i].c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_have_the_type_and_value_of_their_dtype, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(numbers_that_are_not_finite_are_macros_of_math_h, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(hexadecimal_floats_read_back_to_the_same_bits),
        cmocka_unit_test(short_floats_print_short),
        cmocka_unit_test_setup_teardown(no_text_ends_a_comment, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(strings_keep_every_byte, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
