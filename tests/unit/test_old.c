/* test_old.c: calls as TVM 0.6 printed them. */
#include "op_case.h"

static void scales_and_zero_points_come_from_attributes(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), float32]) { qnn.quantize(%x, out_dtype=\"uint8\", output_zero_point=12, output_scale=0.5f) }", "1 -3 0.25",
          "14 6 13" },
        { "def @main(%q: Tensor[(2), int8]) { qnn.dequantize(%q, input_scale=0.5f, input_zero_point=2) }", "4 0", "1 -1" },
        { "def @main(%x: Tensor[(1, 2), uint8], %w: Tensor[(1, 2), uint8]) {\n"
          "  qnn.dense(%x, %w, units=1, out_dtype=\"int32\", input_zero_point=1, kernel_zero_point=2) }", "0 3; 7 4", "-1" },
        { "def @main(%x: Tensor[(1, 1, 1, 1), uint8], %w: Tensor[(1, 1, 1, 1), uint8]) {\n"
          "  qnn.conv2d(%x, %w, channels=1, kernel_size=[1, 1], out_dtype=\"int32\", input_zero_point=1, kernel_zero_point=2, input_scale=1f,\n"
          "    kernel_scale=0.5f) }", "4; 7", "15" },
        { "def @main(%a: Tensor[(1), uint8], %b: Tensor[(1), uint8]) {\n"
          "  qnn.add(%a, %b, lhs_scale=1f, lhs_zero_point=12, rhs_scale=1f, rhs_zero_point=10, output_scale=1f, output_zero_point=3) }",
          "14; 15", "10" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void a_form_that_lacks_a_number_is_refused(void **state)
{
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(3), float32]) { qnn.quantize(%x, out_dtype=\"uint8\", output_scale=0.5f) }"),
                        "error: qnn.quantize has 1 operands, expected 3");
    assert_string_equal(op_type(state, "def @main(%q: Tensor[(3), int32]) { qnn.requantize(%q, input_scale=0.5f, input_zero_point=0, "
                                       "output_scale=1f, output_zero_point=\"a\", out_dtype=\"int8\") }"),
                        "error: qnn.requantize has 1 operands, expected 5");
    assert_string_equal(op_type(state, "def @main(%q: Tensor[(3), int32]) { qnn.requantize(%q, input_scale=0.5f, input_zero_point=0, "
                                       "output_scale=1f, output_zero_point=0, out_dtype=\"int8\") }"),
                        "Tensor[(3), int8]");
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(scales_and_zero_points_come_from_attributes), OP_TEST(a_form_that_lacks_a_number_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
