/* Reductions, positions of extremes, softmax. */
#include "op_case.h"

static void sums_run_over_the_chosen_axes(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 3), float32]) { sum(%x) }", "1 2 3 4 5 6", "21" },
        { "def @main(%x: Tensor[(2, 3), float32]) { sum(%x, axis=[0]) }", "1 2 3 4 5 6", "5 7 9" },
        { "def @main(%x: Tensor[(2, 3), float32]) { sum(%x, axis=[-1], keepdims=True) }", "1 2 3 4 5 6", "6 15" },
        { "def @main(%x: Tensor[(2, 3), float32]) { sum(%x, axis=[0], exclude=True) }", "1 2 3 4 5 6", "6 15" },
        { "def @main(%x: Tensor[(2, 3), float32]) { prod(%x, axis=1) }", "1 2 3 4 5 6", "6 120" },
        { "def @main(%x: Tensor[(2), int8]) { sum(%x) }", "100 100", "-56" },
        { "def @main(%x: Tensor[(3), bool]) { sum(%x) }", "0 1 1", "1" },
        { "def @main(%x: Tensor[(3), bool]) { all(%x) }", "0 1 1", "0" },
        { "def @main(%x: Tensor[(3), bool]) { any(%x) }", "0 1 0", "1" },
        { "def @main(%x: Tensor[(4), float16]) { sum(%x) }", "2048 1 1 1", "2052" },
        { "def @main(%x: float32) { sum(%x) }", "4", "4" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void extremes_start_at_the_finite_limits(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), float32]) { max(%x) }", "nan 1 2", "2" },
        { "def @main(%x: Tensor[(3), float32]) { max(%x) }", "nan 1 nan", "nan" },
        { "def @main(%x: Tensor[(2), float32]) { max(%x) }", "-inf -inf", "-3.40282e+38" },
        { "def @main(%x: Tensor[(3), int8]) { min(%x) }", "5 -7 3", "-7" },
        { "def @main(%x: Tensor[(2), uint8]) { max(%x) }", "200 3", "200" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void means_of_integers_truncate(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), int32]) { mean(%x) }", "-3 -4", "-3" },
        { "def @main(%x: Tensor[(2, 2), float32]) { mean(%x, axis=[0]) }", "1 2 3 5", "2 3.5" },
        { "def @main(%x: Tensor[(2, 2), float32]) { %0 = mean(%x, axis=[1], keepdims=True); variance(%x, %0, axis=[1]) }", "1 3 2 8",
          "1 9" },
        { "def @main(%x: Tensor[(2, 2), float32]) { %0 = mean(%x, axis=[1], keepdims=True); variance(%x, %0, axis=[1], unbiased=True) }",
          "1 3 2 8", "2 18" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void nothing_reduces_to_the_neutral_value(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(0, 3), float32]) { sum(%x, axis=[0]) }", "", "0 0 0" },
        { "def @main(%x: Tensor[(0, 2), float32]) { prod(%x, axis=[0]) }", "", "1 1" },
        { "def @main(%x: Tensor[(0, 2), int8]) { max(%x, axis=[0]) }", "", "-128 -128" },
        { "def @main(%x: Tensor[(0), float32]) { mean(%x) }", "", "nan" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void positions_of_extremes_follow_tvm(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), float32]) { argmax(%x) }", "2 nan 7", "2" },
        { "def @main(%x: Tensor[(3), float32]) { argmax(%x) }", "7 nan 2", "2" },
        { "def @main(%x: Tensor[(3), float32]) { argmax(%x) }", "3 3 1", "0" },
        { "def @main(%x: Tensor[(3), float32]) { argmax(%x, select_last_index=True) }", "3 3 1", "1" },
        { "def @main(%x: Tensor[(3), int8]) { argmax(%x) }", "-128 -128 -128", "0" },
        { "def @main(%x: Tensor[(2, 3), float32]) { argmin(%x, axis=[1], keepdims=True) }", "3 1 2 0 5 0", "1 0" },
        { "def @main(%x: Tensor[(2, 3), float32]) { argmin(%x, axis=[1], select_last_index=True) }", "3 1 2 0 5 0", "1 2" },
        { "def @main(%x: Tensor[(2, 2, 2), float32]) { argmax(%x, axis=[0, 2]) }", "1 2 3 4 9 6 7 8", "2 3" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2i64, 3), float32]) { argmax(%x, axis=[1]) }"), "Tensor[(2i64), int64]");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, 3i64), float32]) { argmax(%x, axis=[1]) }"), "Tensor[(2), int32]");
}

static void softmax_sums_to_one(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 2), float32]) { nn.softmax(%x) }", "1000 1000", "0.5 0.5" },
        { "def @main(%x: Tensor[(2, 2), float32]) { nn.softmax(%x, axis=0) }", "0 1 0 1", "0.5 0.5 0.5 0.5" },
        { "def @main(%x: Tensor[(3), float32]) { nn.softmax(%x) }", "1 2 3", "0.0900306 0.244728 0.665241" },
        { "def @main(%x: Tensor[(3), float32]) { nn.log_softmax(%x) }", "1 2 3", "-2.40761 -1.40761 -0.407606" },
        { "def @main(%x: Tensor[(3), float32]) { nn.fast_softmax(%x) }", "1 2 3", "0.0900306 0.244728 0.665241" },
        { "def @main(%x: Tensor[(2), float16]) { nn.softmax(%x) }", "1 1", "0.5 0.5" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void impossible_axes_are_refused(void **state)
{
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { sum(%x, axis=[1]) }"),
                        "error: sum: axis 1 is outside of 1 dimensions");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { sum(%x, axis=[]) }"), "error: sum: the list of axes is empty");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(0), float32]) { argmax(%x) }"),
                        "error: argmax: the position of an extreme among no elements does not exist");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), int32]) { nn.softmax(%x) }"),
                        "error: nn.softmax: data must be of a floating type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(sums_run_over_the_chosen_axes), OP_TEST(extremes_start_at_the_finite_limits), OP_TEST(means_of_integers_truncate),
        OP_TEST(nothing_reduces_to_the_neutral_value), OP_TEST(positions_of_extremes_follow_tvm), OP_TEST(softmax_sums_to_one),
        OP_TEST(impossible_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
