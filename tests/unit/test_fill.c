/* Tensors that are made: constants, ranges, one-hot, shapes, triangles, diagonals, masks. */
#include "op_case.h"

static void tensors_are_made_from_attributes(void **state)
{
    static const op_case c[] = {
        { "def @main() { zeros(shape=[2], dtype=\"int8\") }", "", "0 0" },
        { "def @main() { ones(shape=[2], dtype=\"float32\") }", "", "1 1" },
        { "def @main(%v: float32) { full(%v, shape=[2]) }", "3", "3 3" },
        { "def @main() { full(3, shape=[2], dtype=\"float32\") }", "", "3 3" },
        { "def @main() { arange(1, 8, 3, start=1, stop=8, step=3, dtype=\"int32\") }", "", "1 4 7" },
        { "def @main() { arange(1f, 0f, -0.25f, dtype=\"float32\") }", "", "1 0.75 0.5 0.25" },
        { "def @main(%x: Tensor[(2, 3), float32]) { shape_of(%x, dtype=\"int64\") }", "1 2 3 4 5 6", "2 3" },
        { "def @main(%x: Tensor[(2, 3), float32]) { ndarray_size(%x) }", "1 2 3 4 5 6", "6" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%n: int32) { arange(0, %n, 1, dtype=\"int32\") }"),
                        "error: arange: stop decides the shape of the result and must be a constant number");
}

static void one_hot_turns_off_what_is_outside(void **state)
{
    static const op_case c[] = {
        { "def @main(%i: Tensor[(3), int32]) { one_hot(%i, 5f, -1f, depth=3, axis=0, dtype=\"float32\") }", "2 0 7", "-1 5 -1 -1 -1 -1 5 -1 -1" },
        { "def @main(%i: Tensor[(2), int64]) { one_hot(%i, 1, 0, depth=2, dtype=\"int32\") }", "1 0", "0 1 1 0" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void triangles_and_diagonals_are_cut(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3, 3), int8], %k: int32) { trilu(%x, %k, upper=False) }", "1 1 1 1 1 1 1 1 1; 1", "1 1 0 1 1 1 1 1 1" },
        { "def @main(%x: Tensor[(2, 2), int8]) { trilu(%x, 1) }", "1 2 3 4", "0 2 0 0" },
        { "def @main(%x: Tensor[(2, 3), int8], %d: Tensor[(2), int8]) { matrix_set_diag(%x, %d) }", "0 0 0 0 0 0; 7 8", "7 0 0 0 8 0" },
        { "def @main(%x: Tensor[(3, 3), int8], %d: Tensor[(2, 3), int8]) { matrix_set_diag(%x, %d, k1=-1, k2=0) }", "0 0 0 0 0 0 0 0 0; 1 2 3 4 5 0",
          "1 0 0 4 2 0 0 5 3" },
        { "def @main(%x: Tensor[(3, 3), int8], %d: Tensor[(2, 3), int8]) { matrix_set_diag(%x, %d, k1=0, k2=1) }", "0 0 0 0 0 0 0 0 0; 0 4 5 1 2 3",
          "1 4 0 0 2 5 0 0 3" },
        { "def @main(%x: Tensor[(3, 2), float32], %n: Tensor[(2), int32]) { sequence_mask(%x, %n, mask_value=-1f) }", "1 2 3 4 5 6; 1 2", "1 2 -1 4 -1 -1" },
        { "def @main(%x: Tensor[(1, 2), float32], %b: Tensor[(1, 3), float32]) { nn.fifo_buffer(%x, %b, axis=1) }", "8 9; 1 2 3", "3 8 9" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(tensors_are_made_from_attributes), OP_TEST(one_hot_turns_off_what_is_outside),
                                        OP_TEST(triangles_and_diagonals_are_cut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
