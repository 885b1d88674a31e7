/* Pools: windows, ceil mode, what the divisor counts, adaptive and global ones. */
#include "op_case.h"

#define POOL(shape, op, attrs) "def @main(%x: Tensor[" shape ", float32]) { " op "(%x" attrs ") }"

static void ceil_mode_adds_a_window(void **state)
{
    static const op_case c[] = {
        { POOL("(1, 1, 3, 3)", "nn.max_pool2d", ", pool_size=[2, 2], strides=[2, 2], ceil_mode=True"), "0 1 2 3 4 5 6 7 8", "4 5 7 8" },
        { POOL("(1, 1, 3, 3)", "nn.avg_pool2d", ", pool_size=[2, 2], strides=[2, 2], ceil_mode=True"), "0 1 2 3 4 5 6 7 8", "2 3.5 6.5 8" },
        { POOL("(1, 1, 3, 3)", "nn.max_pool2d", ", pool_size=[2, 2], strides=[2, 2]"), "0 1 2 3 4 5 6 7 8", "4" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void the_divisor_counts_what_it_should(void **state)
{
    static const op_case c[] = {
        { POOL("(1, 1, 3, 3)", "nn.avg_pool2d", ", pool_size=[2, 2], strides=[2, 2], padding=[1, 1]"), "1 1 1 1 1 1 1 1 1", "1 1 1 1" },
        { POOL("(1, 1, 3, 3)", "nn.avg_pool2d", ", pool_size=[2, 2], strides=[2, 2], padding=[1, 1], count_include_pad=True"),
          "1 1 1 1 1 1 1 1 1", "0.25 0.5 0.5 1" },
        { POOL("(1, 1, 3)", "nn.avg_pool1d", ", pool_size=[2], dilation=[2], padding=[1, 1]"), "2 4 6", "4 4 4" },
        { POOL("(1, 1, 3)", "nn.avg_pool1d", ", pool_size=[2], strides=[2], padding=[0, 1], ceil_mode=True, count_include_pad=True"),
          "2 4 6", "3 3" },
        { POOL("(1, 1, 2)", "nn.avg_pool1d", ", pool_size=[2], padding=[3, 0]"), "2 4", "0 0 2 3" },
        { "def @main(%x: Tensor[(1, 1, 2), int8]) { nn.avg_pool1d(%x, pool_size=[2]) }", "-128 -127", "-127" },
        { "def @main(%x: Tensor[(1, 1, 4), int32]) { nn.avg_pool1d(%x, pool_size=[4]) }", "-1 -1 -1 -2", "-1" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void padding_never_wins_a_maximum(void **state)
{
    static const op_case c[] = {
        { POOL("(1, 1, 2)", "nn.max_pool1d", ", pool_size=[2], padding=[1, 1]"), "-5 -7", "-5 -5 -7" },
        { "def @main(%x: Tensor[(1, 2, 1), int8]) { nn.max_pool1d(%x, pool_size=[2], padding=[1], layout=\"NWC\") }", "-5 -7", "-5 -5 -7" },
        { POOL("(1, 1, 2, 2, 2)", "nn.max_pool3d", ", pool_size=[2, 2, 2]"), "1 2 3 4 8 6 7 5", "8" },
        { POOL("(1, 2, 2, 1)", "nn.max_pool2d", ", pool_size=[2, 2], layout=\"NHWC\""), "1 2 3 4", "4" },
        { POOL("(1, 1, 1, 2, 2)", "nn.max_pool2d", ", pool_size=[1, 2], layout=\"NCHW2c\""), "1 9 3 4", "3 9" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void adaptive_windows_cover_everything(void **state)
{
    static const op_case c[] = {
        { POOL("(1, 1, 5)", "nn.adaptive_avg_pool1d", ", output_size=[3]"), "1 2 3 4 5", "1.5 3 4.5" },
        { POOL("(1, 1, 5)", "nn.adaptive_max_pool1d", ", output_size=[2]"), "1 5 3 4 2", "5 4" },
        { POOL("(1, 1, 2, 2)", "nn.adaptive_avg_pool2d", ""), "1 2 3 4", "1 2 3 4" },
        { POOL("(1, 1, 2, 2)", "nn.global_avg_pool2d", ""), "1 2 3 4", "2.5" },
        { POOL("(1, 2, 2, 1)", "nn.global_max_pool2d", ", layout=\"NHWC\""), "1 2 3 4", "4" },
        { POOL("(1, 1, 4)", "nn.adaptive_avg_pool1d", ", output_size=[2]"), "1 3 5 7", "2 6" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void shapes_are_checked(void **state)
{
    assert_string_equal(op_type(state, POOL("(1, 2, 7, 7)", "nn.max_pool2d", ", pool_size=[3, 3], strides=[2, 2], padding=[1, 1], ceil_mode=True")),
                        "Tensor[(1, 2, 4, 4), float32]");
    assert_string_equal(op_type(state, POOL("(1, 2, 7)", "nn.max_pool2d", ", pool_size=[3, 3]")),
                        "error: nn.max_pool2d: data has 3 dimensions, expected 4");
    assert_string_equal(op_type(state, POOL("(1, 1, 2, 2)", "nn.max_pool2d", ", pool_size=[3, 3]")),
                        "error: nn.max_pool2d: the window covers 3 elements along H, the padded input has only 2");
    assert_string_equal(op_type(state, POOL("(1, 1, 2, 2)", "nn.max_pool2d", "")), "error: nn.max_pool2d: attribute pool_size is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(ceil_mode_adds_a_window), OP_TEST(the_divisor_counts_what_it_should), OP_TEST(padding_never_wins_a_maximum),
        OP_TEST(adaptive_windows_cover_everything), OP_TEST(shapes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
