/* Slices in both modes, with negative ends and strides; strided_set; windows. */
#include "op_case.h"

#define SLICE(n, attrs) "def @main(%x: Tensor[(" #n "), int32]) { strided_slice(%x, " attrs ") }"

static void slices_clamp_like_the_stated_rules(void **state)
{
    static const op_case c[] = {
        { SLICE(4, "begin=[-1], end=[-5], strides=[-1]"), "1 2 3 4", "4 3 2 1" },
        { SLICE(4, "begin=[3], end=[0], strides=[-2]"), "1 2 3 4", "4 2" },
        { SLICE(4, "begin=[1], end=[-1], strides=[1], slice_mode=\"size\""), "1 2 3 4", "2 3 4" },
        { SLICE(4, "begin=[1], end=[2], slice_mode=\"size\""), "1 2 3 4", "2 3" },
        { SLICE(4, "begin=[10], end=[20], strides=[1]"), "1 2 3 4", "" },
        { SLICE(4, "begin=[-1], end=[-10], strides=[-1]"), "1 2 3 4", "4 3 2 1" },
        { SLICE(4, "begin=[1], end=[9223372036854775807i64]"), "1 2 3 4", "2 3 4" },
        { SLICE(4, "begin=[0], end=[4], strides=[3]"), "1 2 3 4", "1 4" },
        { "def @main(%x: Tensor[(2, 3), int32]) { strided_slice(%x, begin=[1], end=[3], strides=[1], axes=[1]) }", "1 2 3 4 5 6", "2 3 5 6" },
        { "def @main(%x: Tensor[(2, 3), int32]) { strided_slice(%x, begin=[1], end=[2], strides=[1]) }", "1 2 3 4 5 6", "4 5 6" },
        { "def @main(%x: Tensor[(2, 3), int32], %y: Tensor[(1, 2), int8]) { slice_like(%x, %y, axes=[1]) }", "1 2 3 4 5 6; 0 0", "1 2 4 5" },
        { "def @main(%x: Tensor[(2, 3), int32], %y: Tensor[(1, 2), int8]) { slice_like(%x, %y) }", "1 2 3 4 5 6; 0 0", "1 2" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, SLICE(4, "begin=[0], end=[4], strides=[0]")), "error: strided_slice: a stride of 0 is not possible");
    assert_string_equal(op_type(state, SLICE(4, "begin=[0, 0], end=[1, 1]")), "error: strided_slice: 2 axes are sliced, the data has 1");
    assert_string_equal(op_type(state, SLICE(4, "begin=[0], end=[1], slice_mode=\"mid\"")),
                        "error: strided_slice: slice_mode \"mid\" is neither end nor size");
}

static void strided_set_writes_where_a_slice_would_read(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(4), int32], %v: Tensor[(2), int32], %b: Tensor[(1), int64], %e: Tensor[(1), int64], %s: Tensor[(1), int64])"
          " { strided_set(%x, %v, %b, %e, %s) }", "1 2 3 4; 8 9; 0; 4; 2", "8 2 9 4" },
        { "def @main(%x: Tensor[(4), int32], %v: Tensor[(2), int32], %b: Tensor[(1), int64], %e: Tensor[(1), int64], %s: Tensor[(1), int64])"
          " { strided_set(%x, %v, %b, %e, %s) }", "1 2 3 4; 8 9; -1; -4; -1", "1 2 9 8" },
        { "def @main(%x: Tensor[(2, 2), int32], %v: Tensor[(1, 2), int32], %b: Tensor[(1), int64], %e: Tensor[(1), int64], %s: Tensor[(1), int64])"
          " { strided_set(%x, %v, %b, %e, %s) }", "1 2 3 4; 8 9; 1; 2; 1", "1 2 8 9" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void windows_slide_over_trailing_axes(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(4), int32]) { sliding_window(%x, axis=0, window_shape=[2], strides=[1]) }", "1 2 3 4", "1 2 2 3 3 4" },
        { "def @main(%x: Tensor[(1, 5), int32]) { sliding_window(%x, axis=1, window_shape=[3], strides=[2]) }", "1 2 3 4 5", "1 2 3 3 4 5" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(slices_clamp_like_the_stated_rules), OP_TEST(strided_set_writes_where_a_slice_would_read),
                                        OP_TEST(windows_slide_over_trailing_axes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
