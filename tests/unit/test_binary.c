/* Broadcast operators: integer and float arithmetic, comparisons, logic, select. */
#include "op_case.h"

#define TWO(type, op) "def @main(%a: Tensor[(2), " type "], %b: Tensor[(2), " type "]) { " op "(%a, %b) }"

static void division_has_its_four_flavours(void **state)
{
    static const op_case c[] = {
        { TWO("int32", "divide"), "-7 7; 2 -2", "-3 -3" },
        { TWO("int32", "floor_divide"), "-7 7; 2 -2", "-4 -4" },
        { TWO("int32", "mod"), "-7 7; 2 -2", "-1 1" },
        { TWO("int32", "floor_mod"), "-7 7; 2 -2", "1 -1" },
        { TWO("int32", "trunc_divide"), "-7 7; 2 -2", "-3 -3" },
        { TWO("float32", "mod"), "-7 7.5; 2 -2", "-1 1.5" },
        { TWO("float32", "floor_mod"), "-7 7.5; 2 -2", "1 -0.5" },
        { TWO("float32", "floor_divide"), "-7 7.5; 2 -2", "-4 -4" },
        { TWO("float32", "trunc_divide"), "-7 7.5; 2 -2", "-3 -3" },
        { TWO("float16", "divide"), "1 2; 3 4", "0.333252 0.5" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void arithmetic_wraps_in_its_type(void **state)
{
    static const op_case c[] = {
        { TWO("int8", "add"), "127 1; 1 2", "-128 3" },
        { TWO("uint8", "subtract"), "0 9; 1 2", "255 7" },
        { TWO("int32", "multiply"), "2147483647 3; 2 4", "-2 12" },
        { TWO("bool", "add"), "1 0; 1 0", "1 0" },
        { TWO("int32", "left_shift"), "1 3; 4 1", "16 6" },
        { TWO("int32", "right_shift"), "-16 7; 2 1", "-4 3" },
        { TWO("uint32", "right_shift"), "4294967295 8; 28 3", "15 1" },
        { TWO("int32", "bitwise_xor"), "5 12; 3 10", "6 6" },
        { TWO("bool", "bitwise_and"), "1 1; 1 0", "1 0" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void maximum_prefers_the_second_operand_for_nan(void **state)
{
    static const op_case c[] = {
        { TWO("float32", "maximum"), "nan 1; 1 nan", "1 nan" },
        { TWO("float32", "minimum"), "nan 1; 1 nan", "1 nan" },
        { TWO("int8", "maximum"), "-3 4; 2 -9", "2 4" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void comparisons_and_logic_give_bool(void **state)
{
    static const op_case c[] = {
        { TWO("float32", "less"), "1 nan; 2 1", "1 0" },
        { TWO("float32", "not_equal"), "nan 1; nan 1", "1 0" },
        { TWO("uint8", "greater"), "200 1; 100 2", "1 0" },
        { TWO("bool", "logical_xor"), "1 1; 1 0", "0 1" },
        { TWO("int64", "greater_equal"), "5 4; 5 5", "1 0" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void shapes_broadcast_from_the_right(void **state)
{
    static const op_case c[] = {
        { "def @main(%a: Tensor[(2, 1), float32], %b: Tensor[(3), float32]) { add(%a, %b) }", "10 20; 1 2 3", "11 12 13 21 22 23" },
        { "def @main(%a: Tensor[(2), float32]) { multiply(%a, 0.5f) }", "3 4", "1.5 2" },
        { "def @main(%c: bool, %x: Tensor[(2), float32], %y: float32) { where(%c, %x, %y) }", "0; 1 2; 7", "7 7" },
        { "def @main(%c: Tensor[(2), float32], %x: Tensor[(2), int8], %y: Tensor[(2), int8]) { where(%c, %x, %y) }", "0 0.5; 1 2; 3 4",
          "3 2" },
        { "def @main(%x: Tensor[(1, 2, 2), float32], %b: Tensor[(2), float32]) { nn.bias_add(%x, %b) }", "1 2 3 4; 10 20", "11 12 23 24" },
        { "def @main(%x: Tensor[(1, 2, 2), float32], %b: Tensor[(2), float32]) { nn.bias_add(%x, %b, axis=-1) }", "1 2 3 4; 10 20",
          "11 22 13 24" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void operands_that_do_not_fit_are_named(void **state)
{
    tg_fixture *f = *state;
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(2, 3), float32], %b: Tensor[(4), float32]) { add(%a, %b) }"),
                        "error: add: the shapes of the operands cannot be broadcast together");
    assert_non_null(strstr(tg_text_z(&f->log), "%a is Tensor[(2, 3), float32]"));
    assert_non_null(strstr(tg_text_z(&f->log), "%b is Tensor[(4), float32]"));
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(2), float32], %b: Tensor[(2), int32]) { add(%a, %b) }"),
                        "error: add: operands have different types: float32 and int32");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(2), int32]) { left_shift(%a, 32) }"),
                        "error: left_shift: shift count 32 is outside of 0 to 31");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 2), float32], %b: Tensor[(3), float32]) { nn.bias_add(%x, %b) }"),
                        "error: nn.bias_add: bias has 3 values, axis 1 of the data has extent 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(division_has_its_four_flavours), OP_TEST(arithmetic_wraps_in_its_type),
        OP_TEST(maximum_prefers_the_second_operand_for_nan), OP_TEST(comparisons_and_logic_give_bool),
        OP_TEST(shapes_broadcast_from_the_right), OP_TEST(operands_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
