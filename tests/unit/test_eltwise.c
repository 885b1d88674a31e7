/* Unary operators: values, corner cases, types that are refused. */
#include "op_case.h"

static void rounding_goes_half_away_from_zero(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(4), float32]) { round(%x) }", "0.5 1.5 2.5 -0.5", "1 2 3 -1" },
        { "def @main(%x: Tensor[(4), float32]) { floor(%x) }", "0.5 -1.5 2 -0.5", "0 -2 2 -1" },
        { "def @main(%x: Tensor[(4), float32]) { ceil(%x) }", "0.5 -1.5 2 -0.5", "1 -1 2 -0" },
        { "def @main(%x: Tensor[(4), float32]) { trunc(%x) }", "0.5 -1.5 2 -0.5", "0 -1 2 -0" },
        { "def @main(%x: Tensor[(2), int32]) { round(%x) }", "5 -7", "5 -7" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void nan_follows_the_stated_rules(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), float32]) { clip(%x, a_min=0f, a_max=6f) }", "nan -1 7", "6 0 6" },
        { "def @main(%x: Tensor[(3), float32]) { nn.relu(%x) }", "nan -0.0 2", "0 0 2" },
        { "def @main(%x: Tensor[(3), float32]) { sign(%x) }", "nan -3 0", "0 -1 0" },
        { "def @main(%x: Tensor[(3), float32]) { isnan(%x) }", "nan 1 inf", "1 0 0" },
        { "def @main(%x: Tensor[(3), float32]) { isinf(%x) }", "1 inf -inf", "0 1 1" },
        { "def @main(%x: Tensor[(3), float32]) { isfinite(%x) }", "nan 1 inf", "0 1 0" },
        { "def @main(%x: Tensor[(2), int8]) { isfinite(%x) }", "1 2", "1 1" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void integers_wrap_and_bounds_saturate(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), int8]) { abs(%x) }", "-128 -5", "-128 5" },
        { "def @main(%x: Tensor[(2), int8]) { negative(%x) }", "-128 5", "-128 -5" },
        { "def @main(%x: Tensor[(2), uint8]) { abs(%x) }", "200 5", "200 5" },
        { "def @main(%x: Tensor[(3), int32]) { clip(%x, a_min=-3.7f, a_max=2.9f) }", "-9 9 1", "-3 2 1" },
        { "def @main(%x: Tensor[(2), uint8]) { clip(%x, a_min=-1f, a_max=300f) }", "0 255", "0 255" },
        { "def @main(%x: Tensor[(2), int8]) { clip(%x, a_min=-inff, a_max=6f) }", "-128 127", "-128 6" },
        { "def @main(%x: Tensor[(4), float32]) { cast(%x, dtype=\"int8\") }", "300 nan -inf -5.9", "127 0 -128 -5" },
        { "def @main(%x: Tensor[(2), int32]) { cast(%x, dtype=\"int8\") }", "300 -129", "44 127" },
        { "def @main(%x: Tensor[(3), float32]) { cast(%x, dtype=\"bool\") }", "0.5 0 nan", "1 0 1" },
        { "def @main(%x: Tensor[(2), bool]) { cast(%x, dtype=\"float32\") }", "1 0", "1 0" },
        { "def @main(%x: Tensor[(2), int32]) { bitwise_not(%x) }", "0 5", "-1 -6" },
        { "def @main(%x: Tensor[(1), float32]) { reinterpret(%x, dtype=\"int32\") }", "1", "1065353216" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void activations_follow_their_formulas(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x) }", "-4 3", "-1 3" },
        { "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x, alpha=0.5f) }", "-4 3", "-2 3" },
        { "def @main(%x: Tensor[(1, 2), float32], %a: Tensor[(2), float32]) { nn.prelu(%x, %a) }", "-4 -4; 0.5 2", "-2 -8" },
        { "def @main(%x: Tensor[(2), float32]) { sigmoid(%x) }", "0 2", "0.5 0.880797" },
        { "def @main(%x: Tensor[(2), float32]) { rsqrt(%x) }", "4 16", "0.5 0.25" },
        { "def @main(%x: Tensor[(2), float32]) { erf(%x) }", "0 0.5", "0 0.5205" },
        { "def @main(%x: Tensor[(2), float32]) { fast_exp(%x) }", "0 1", "1 2.71828" },
        { "def @main(%x: Tensor[(2), float32]) { fast_tanh(%x) }", "0 0.5", "0 0.462117" },
        { "def @main(%x: Tensor[(2), float32]) { fast_erf(%x) }", "0 0.5", "0 0.5205" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void half_types_are_computed_in_float(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), float16]) { exp(%x) }", "0 1", "1 2.71875" },
        { "def @main(%x: Tensor[(2), float16]) { cast(%x, dtype=\"int32\") }", "2.5 -3", "2 -3" },
        { "def @main(%x: Tensor[(2), int32]) { cast(%x, dtype=\"float16\") }", "2049 1", "2048 1" },
        { "def @main(%x: Tensor[(1), bfloat16]) { sqrt(%x) }", "4", "2" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void constants_and_likes_are_filled(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), float32]) { zeros_like(%x) }", "7 8", "0 0" },
        { "def @main(%x: Tensor[(2), int32]) { full_like(%x, 3) }", "7 8", "3 3" },
        { "def @main(%x: Tensor[(2), float32], %y: Tensor[(1), int8]) { cast_like(%x, %y) }", "7.5 -8.5; 0", "7 -8" },
        { "def @main(%x: Tensor[(0, 3), float32]) { nn.relu(%x) }", "", "" },
        { "def @main(%x: float32) { exp(%x) }", "0", "1" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void wrong_types_are_refused(void **state)
{
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), int32]) { exp(%x) }"),
                        "error: exp: data must be of a floating type");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { logical_not(%x) }"),
                        "error: logical_not: the operand must be bool");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { reinterpret(%x, dtype=\"int64\") }"),
                        "error: reinterpret: int64 has another width");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 2), float32], %a: Tensor[(3), float32]) { nn.prelu(%x, %a) }"),
                        "error: nn.prelu: alpha has 3 values, axis 1 of the data has extent 2");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, ?), float32]) { exp(%x) }"),
                        "error: exp: dimension 1 of data is not known at compile time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(rounding_goes_half_away_from_zero), OP_TEST(nan_follows_the_stated_rules),
        OP_TEST(integers_wrap_and_bounds_saturate), OP_TEST(activations_follow_their_formulas),
        OP_TEST(half_types_are_computed_in_float), OP_TEST(constants_and_likes_are_filled), OP_TEST(wrong_types_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
