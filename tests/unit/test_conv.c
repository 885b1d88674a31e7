/* Convolutions: padding, strides, dilation, groups, layouts, element types, transposed ones. */
#include "op_case.h"

static void windows_slide_with_padding_stride_and_dilation(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 3, 3), float32], %w: Tensor[(1, 1, 2, 2), float32]) { nn.conv2d(%x, %w, channels=1, kernel_size=[2, 2]) }",
          "1 2 3 4 5 6 7 8 9; 1 0 0 1", "6 8 12 14" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 3, 3), float32]) { nn.conv2d(%x, %w, padding=[1, 1]) }",
          "1 2 3 4; 1 1 1 1 1 1 1 1 1", "10 10 10 10" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 2, 2), float32]) { nn.conv2d(%x, %w, padding=[1, 0, 0, 1]) }",
          "1 2 3 4; 1 10 100 1000", "2100 200 4321 402" },
        { "def @main(%x: Tensor[(1, 1, 5), float32], %w: Tensor[(1, 1, 2), float32]) { nn.conv1d(%x, %w, strides=[2], dilation=[2]) }",
          "1 2 3 4 5; 1 10", "31 53" },
        { "def @main(%x: Tensor[(1, 1, 2, 2, 2), float32], %w: Tensor[(1, 1, 2, 2, 2), float32]) { nn.conv3d(%x, %w) }",
          "1 2 3 4 5 6 7 8; 1 1 1 1 1 1 1 1", "36" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void groups_see_their_own_channels(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 4, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]) { nn.conv2d(%x, %w, groups=2, channels=2, kernel_size=[1, 1]) }",
          "1 2 3 4; 1 10 1 10", "21 43" },
        { "def @main(%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]) { nn.conv2d(%x, %w, groups=2, channels=4, kernel_size=[1, 1]) }",
          "1 2; 1 10 100 1000", "1 10 200 2000" },
        { "def @main(%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(4, 1, 1, 1), float32]) { nn.conv2d(%x, %w, groups=2, channels=4, kernel_size=[1, 1]) }",
          "1 2; 1 10 100 1000", "1 10 200 2000" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 2, 1), float32]) { nn.conv2d(%x, %w, groups=2, channels=2, kernel_size=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWOI\") }",
          "1 2 3 4; 10 100", "10 200 30 400" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void layouts_place_the_axes(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 2, 3), float32]) { nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\") }",
          "1 2 3 4; 1 2 3 10 20 30", "21 42 63 43 86 129" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(3, 1, 1, 2), float32]) { nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"OHWI\") }",
          "1 2 3 4; 1 10 2 20 3 30", "21 42 63 43 86 129" },
        { "def @main(%x: Tensor[(1, 1, 1, 2, 2), float32], %w: Tensor[(1, 1, 1, 1, 2, 2), float32]) { nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW2c\", kernel_layout=\"OIHW2i2o\", out_layout=\"NCHW2c\", channels=2, kernel_size=[1, 1]) }",
          "1 2 3 4; 1 2 10 20", "21 42 43 86" },
        { "def @main(%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]) { nn.conv2d(%x, %w, out_layout=\"NHWC\") }",
          "1 2; 1 10 2 20", "21 42" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void sums_are_taken_in_the_result_type(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 1, 2), int8], %w: Tensor[(1, 1, 1, 2), int8]) { nn.conv2d(%x, %w, out_dtype=\"int32\") }",
          "100 100; 100 100", "20000" },
        { "def @main(%x: Tensor[(1, 1, 1, 2), int8], %w: Tensor[(1, 1, 1, 2), int8]) { nn.conv2d(%x, %w) }", "100 100; 100 100", "32" },
        { "def @main(%x: Tensor[(1, 1, 1, 2), uint8], %w: Tensor[(1, 1, 1, 2), int8]) { nn.conv2d(%x, %w, out_dtype=\"int32\") }",
          "200 1; -2 3", "-397" },
        { "def @main(%x: Tensor[(1, 1, 1, 3), float16], %w: Tensor[(1, 1, 1, 3), float16]) { nn.conv2d(%x, %w) }", "2048 1 1; 1 1 1", "2050" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void transposed_convolutions_spread(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 1, 2), float32], %w: Tensor[(1, 1, 1, 3), float32]) { nn.conv2d_transpose(%x, %w, strides=[1, 2]) }",
          "1 10; 1 2 3", "1 2 13 20 30" },
        { "def @main(%x: Tensor[(1, 1, 2), float32], %w: Tensor[(1, 1, 3), float32]) { nn.conv1d_transpose(%x, %w, strides=[2], padding=[1], output_padding=[1]) }",
          "1 10; 1 2 3", "2 13 20 30" },
        { "def @main(%x: Tensor[(1, 2, 1), float32], %w: Tensor[(2, 1, 2), float32]) { nn.conv1d_transpose(%x, %w, groups=2, channels=2) }",
          "1 10; 1 2 3 4", "1 2 30 40" },
        { "def @main(%x: Tensor[(1, 2, 1), float32], %w: Tensor[(2, 1, 1), float32]) { nn.conv1d_transpose(%x, %w) }", "1 10; 1 2", "21" },
        { "def @main(%x: Tensor[(1, 1, 2), float32], %w: Tensor[(1, 1, 1), float32]) { nn.conv1d_transpose(%x, %w, padding=[-1, 0]) }",
          "1 10; 1", "0 1 10" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void shapes_and_attributes_are_checked(void **state)
{
#define CONV(x, w, attrs) "def @main(%x: Tensor[" x ", float32], %w: Tensor[" w ", float32]) { nn.conv2d(%x, %w" attrs ") }"
    assert_string_equal(op_type(state, CONV("(2, 4, 9, 9)", "(6, 2, 3, 3)", ", padding=[2, 2, 2, 2], dilation=[2, 2], groups=2")),
                        "Tensor[(2, 6, 9, 9), float32]");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 3, 3, 3)", "")),
                        "error: nn.conv2d: the weight has 3 input channels a group, the data has 4");
    assert_string_equal(op_type(state, CONV("(1, 4, 2, 9)", "(6, 4, 3, 3)", "")),
                        "error: nn.conv2d: the window covers 3 elements along H, the padded input has only 2");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", channels=5")),
                        "error: nn.conv2d: channels is 5, the weight has 6 output channels");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", kernel_size=[3, 5]")),
                        "error: nn.conv2d: kernel_size says 5 along W, the weight has 3");
    assert_string_equal(op_type(state, CONV("(1, 4, 9)", "(6, 4, 3, 3)", "")), "error: nn.conv2d: data has 3 dimensions, expected 4");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", strides=[0, 1]")),
                        "error: nn.conv2d: attribute strides: 0 is outside of 1 to 2147483647");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", padding=[1, 1, 1]")),
                        "error: nn.conv2d: attribute padding has 3 values, expected 1, 2 or 4");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", data_layout=\"NCHX\"")),
                        "error: nn.conv2d: attribute data_layout: \"NCHX\" lacks axis W");
    assert_string_equal(op_type(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", groups=3")),
                        "error: nn.conv2d: 4 input channels do not divide into 3 groups");
}

static tg_func *lowered(void **state, const char *text)
{
    tg_fixture *f = *state;
    const tg_func *main = op_typed(f, text);
    assert_non_null(main);
    return tg_lower_primitive(f->cx, main);
}

static void a_block_pads_only_where_padding_is(void **state)
{
    tg_func *f = lowered(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ""));
    assert_int_equal(f->body->u.block->nallocs, 0);
    f = lowered(state, CONV("(1, 4, 9, 9)", "(6, 4, 3, 3)", ", padding=[1, 1]"));
    assert_int_equal(f->body->u.block->nallocs, 1);
    assert_string_equal(f->body->u.block->alloc[0]->name->text, "pad");
    assert_string_equal(f->buffer[0]->name->text, "x");
    assert_string_equal(f->buffer[2]->name->text, "conv2d");
    assert_string_equal(tg_v_get_str(f->attrs, "tirgen.ops", ""), "nn.conv2d");
    assert_string_equal(tg_v_get_str(f->attrs, "tirgen.layout", ""), "NCHW");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(windows_slide_with_padding_stride_and_dilation), OP_TEST(groups_see_their_own_channels),
        OP_TEST(layouts_place_the_axes), OP_TEST(sums_are_taken_in_the_result_type), OP_TEST(transposed_convolutions_spread),
        OP_TEST(shapes_and_attributes_are_checked), OP_TEST(a_block_pads_only_where_padding_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
