/* Padding in all modes, space to depth and batch and back, layouts. */
#include "op_case.h"

static void borders_are_filled_by_mode(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), float32]) { nn.pad(%x, 9f, pad_width=[[2, 1]]) }", "1 2 3", "9 9 1 2 3 9" },
        { "def @main(%x: Tensor[(3), float32]) { nn.pad(%x, 9f, pad_width=[[-1, 1]]) }", "1 2 3", "2 3 9" },
        { "def @main(%x: Tensor[(3), float32]) { nn.pad(%x, pad_width=[[0, 1]], pad_value=7f) }", "1 2 3", "1 2 3 7" },
        { "def @main(%x: Tensor[(3), float32]) { nn.pad(%x, 0f, pad_width=[[2, 1]], pad_mode=\"edge\") }", "1 2 3", "1 1 1 2 3 3" },
        { "def @main(%x: Tensor[(3), float32]) { nn.pad(%x, 0f, pad_width=[[2, 1]], pad_mode=\"reflect\") }", "1 2 3", "3 2 1 2 3 2" },
        { "def @main(%x: Tensor[(3), float32]) { nn.mirror_pad(%x, pad_width=[[2, 1]]) }", "1 2 3", "2 1 1 2 3 3" },
        { "def @main(%x: Tensor[(3), float32]) { nn.mirror_pad(%x, mode=\"REFLECT\", pad_width=[[2, 1]]) }", "1 2 3", "3 2 1 2 3 2" },
        { "def @main(%x: Tensor[(2), int8]) { nn.dilate(%x, strides=[3], dilation_value=7f) }", "1 2", "1 7 7 2" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.pad(%x, 0f, pad_width=[[2, 0]], pad_mode=\"reflect\") }"),
                        "error: nn.pad: axis 0 of extent 2 is too short for a padding of 2 and 0");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.pad(%x, 0f, pad_width=[[1, 1], [1, 1]]) }"),
                        "error: nn.pad: pad_width must be a list of 1 pairs");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.pad(%x, 0, pad_width=[[1, 1]]) }"),
                        "error: nn.pad: operands have different types: float32 and int32");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.pad(%x, 0f, pad_width=[[-2, -1]]) }"),
                        "error: nn.pad: extent 0 of the result would be -1");
}

static void space_moves_to_depth_and_batch_and_back(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 8, 1, 1), int8]) { nn.depth_to_space(%x, block_size=2) }", "0 1 2 3 4 5 6 7", "0 2 4 6 1 3 5 7" },
        { "def @main(%x: Tensor[(1, 8, 1, 1), int8]) { nn.depth_to_space(%x, block_size=2, mode=\"CDR\") }", "0 1 2 3 4 5 6 7", "0 1 2 3 4 5 6 7" },
        { "def @main(%x: Tensor[(1, 2, 2, 2), int8]) { nn.space_to_depth(%x, block_size=2) }", "0 2 4 6 1 3 5 7", "0 1 2 3 4 5 6 7" },
        { "def @main(%x: Tensor[(1, 2, 2, 1), int8]) { nn.space_to_depth(%x, block_size=2, layout=\"NHWC\") }", "0 1 2 3", "0 1 2 3" },
        { "def @main(%x: Tensor[(1, 2, 2), int8]) { nn.space_to_batch_nd(%x, block_shape=[2, 1], paddings=[[0, 0], [0, 1]]) }", "1 2 3 4",
          "1 2 0 3 4 0" },
        { "def @main(%x: Tensor[(2, 1, 3), int8]) { nn.batch_to_space_nd(%x, block_shape=[2, 1], crops=[[0, 0], [0, 1]]) }", "1 2 0 3 4 0",
          "1 2 3 4" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void layouts_convert_by_coordinates(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 4, 1, 2), int8]) { layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW2c\") }", "0 1 2 3 4 5 6 7",
          "0 2 1 3 4 6 5 7" },
        { "def @main(%x: Tensor[(1, 2, 1, 2, 2), int8]) { layout_transform(%x, src_layout=\"NCHW2c\", dst_layout=\"NCHW\") }",
          "0 2 1 3 4 6 5 7", "0 1 2 3 4 5 6 7" },
        { "def @main(%x: Tensor[(1, 2, 1, 2), int8]) { layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\") }", "0 1 2 3", "0 2 1 3" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 3, 1, 2), int8]) { layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW2c\") }"),
                        "error: layout_transform: an extent does not divide by its factor in \"NCHW2c\"");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 3), int8]) { layout_transform(%x, src_layout=\"NC\", dst_layout=\"Nc\") }"),
                        "error: layout_transform: layout \"Nc\": a factor belongs before a lower-case letter, and only there");
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(borders_are_filled_by_mode), OP_TEST(space_moves_to_depth_and_batch_and_back),
                                        OP_TEST(layouts_convert_by_coordinates) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
