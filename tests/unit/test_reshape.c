/* Reshapes: the list of special values, and the relatives. */
#include "op_case.h"

#define RESHAPE(shape, spec) "def @main(%x: Tensor[" shape ", float32]) { reshape(%x, newshape=" spec ") }"

static void special_values_consume_the_input_from_the_left(void **state)
{
    static const struct { const char *text, *type; } c[] = {
        { RESHAPE("(2, 3, 4)", "[4, 6]"), "Tensor[(4, 6), float32]" },
        { RESHAPE("(2, 3, 4)", "[4, -1]"), "Tensor[(4, 6), float32]" },
        { RESHAPE("(2, 3, 4)", "[0, -1]"), "Tensor[(2, 12), float32]" },
        { RESHAPE("(2, 3, 4)", "[6, 1, -2]"), "Tensor[(6, 1, 4), float32]" },
        { RESHAPE("(2, 3, 4)", "[-3, -2]"), "Tensor[(6, 4), float32]" },
        { RESHAPE("(2, 3, 4)", "[-4, 1, 2, -2]"), "Tensor[(1, 2, 3, 4), float32]" },
        { RESHAPE("(2, 3, 4)", "[2, -4, -1, 3, -2]"), "Tensor[(2, 1, 3, 4), float32]" },
        { RESHAPE("(2, 3, 4)", "[-1]"), "Tensor[(24), float32]" },
        { RESHAPE("(2, 3)", "[-1, -1]"), "error: reshape: the new shape has more than one -1" },
        { RESHAPE("(2, 3)", "[2, 3, 0]"), "error: reshape: the new shape refers to more dimensions than the data has" },
        { RESHAPE("(2, 3)", "[4, -1]"), "error: reshape: 6 elements cannot take the shape (4, 1)" },
        { RESHAPE("(1, 1)", "[]"), "float32" },
        { "def @main(%x: Tensor[(0, 3), float32]) { reshape(%x, newshape=[3, 0], allowzero=True) }", "Tensor[(3, 0), float32]" },
        { "def @main(%x: Tensor[(2, 3, 4), float32]) { contrib_reverse_reshape(%x, newshape=[-1, 0]) }", "Tensor[(6, 4), float32]" },
        { "def @main(%x: Tensor[(2, 3, 4), float32]) { nn.batch_flatten(%x) }", "Tensor[(2, 12), float32]" },
        { "def @main(%x: Tensor[(1, 2, 1), float32]) { squeeze(%x) }", "Tensor[(2), float32]" },
        { "def @main(%x: Tensor[(1, 2, 1), float32]) { squeeze(%x, axis=[-1]) }", "Tensor[(1, 2), float32]" },
        { "def @main(%x: Tensor[(1, 2, 1), float32]) { squeeze(%x, axis=[1]) }", "error: squeeze: axis 1 has extent 2 and cannot be dropped" },
        { "def @main(%x: Tensor[(2), float32]) { expand_dims(%x, axis=-1, num_newaxis=2) }", "Tensor[(2, 1, 1), float32]" },
        { "def @main(%x: Tensor[(2, 6), float32], %y: Tensor[(3, 4), int8]) { reshape_like(%x, %y) }", "Tensor[(3, 4), float32]" },
        { "def @main(%x: Tensor[(2, 6), float32], %y: Tensor[(9, 3, 2), int8]) { reshape_like(%x, %y, lhs_begin=1, rhs_begin=1) }",
          "Tensor[(2, 3, 2), float32]" },
    };
    for (size_t i = 0; i < TG_COUNT(c); ++i)
        assert_string_equal(op_type(state, c[i].text), c[i].type);
}

static void elements_keep_their_order(void **state)
{
    static const op_case c[] = {
        { RESHAPE("(2, 3)", "[3, 2]"), "1 2 3 4 5 6", "1 2 3 4 5 6" },
        { RESHAPE("(2, 1, 3)", "[1, 6, 1]"), "1 2 3 4 5 6", "1 2 3 4 5 6" },
        { RESHAPE("(2, 6)", "[2, 2, 3]"), "1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5 6 7 8 9 10 11 12" },
        { RESHAPE("(4, 3)", "[2, 6]"), "1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5 6 7 8 9 10 11 12" },
        { RESHAPE("(1)", "[]"), "7", "7" },
        { "def @main(%x: float32) { expand_dims(%x, axis=0) }", "7", "7" },
        { "def @main(%x: float32) { reshape(2f, newshape=[1, 1]) }", "7", "2" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(special_values_consume_the_input_from_the_left), OP_TEST(elements_keep_their_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
