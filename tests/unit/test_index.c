/* Elements chosen by index tensors. */
#include "op_case.h"

static void take_clips_wraps_and_batches(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), int32], %i: Tensor[(6), int32]) { take(%x, %i, axis=0) }", "1 2 3; -1 -5 0 2 3 9", "1 1 1 3 3 3" },
        { "def @main(%x: Tensor[(3), int32], %i: Tensor[(6), int32]) { take(%x, %i, axis=0, mode=\"wrap\") }", "1 2 3; -1 -5 0 2 3 9", "3 2 1 3 1 1" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(2), int64]) { take(%x, %i) }", "1 2 3 4; 3 1", "4 2" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: int64) { take(%x, %i, axis=1) }", "1 2 3 4; 1", "2 4" },
        { "def @main(%x: Tensor[(2, 3), int32], %i: Tensor[(2, 1), int32]) { take(%x, %i, axis=1, batch_dims=1) }", "1 2 3 4 5 6; 2 0", "3 4" },
        { "def @main(%x: Tensor[(300), uint8], %i: Tensor[(1), uint8]) { %0 = zeros_like(%x); take(%0, %i, axis=0) }",
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0; 255",
          "0" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(0, 2), int32], %i: Tensor[(1), int32]) { take(%x, %i, axis=0) }"),
                        "error: take: nothing can be taken from an empty axis");
}

static void gather_reads_along_an_axis(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(2, 2), int64]) { gather(%x, %i, axis=1) }", "1 2 3 4; 0 0 1 0", "1 1 4 3" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(1, 2), int64]) { gather(%x, %i, axis=0) }", "1 2 3 4; 1 0", "3 2" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(2, 2), int64]) { gather_nd(%x, %i) }", "1 2 3 4; 0 1 1 0", "2 3" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(1, 2), int64]) { gather_nd(%x, %i) }", "1 2 3 4; 1 0", "3 4 1 2" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(1, 2), int64]) { gather_nd(%x, %i, batch_dims=1) }", "1 2 3 4; 1 0", "2 3" },
        { "def @main(%x: Tensor[(3, 2), int32], %i: Tensor[(2, 1), int32], %j: Tensor[(2), int32]) { %0 = (%x, %i, %j); adv_index(%0) }",
          "1 2 3 4 5 6; 0 2; 1 0", "2 1 6 5" },
        { "def @main(%x: Tensor[(3, 2), int32], %i: Tensor[(2), int32]) { %0 = (%x, %i); adv_index(%0) }", "1 2 3 4 5 6; 2 0", "5 6 1 2" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void positions_are_found(void **state)
{
    static const op_case c[] = {
        { "def @main(%i: Tensor[(2), int32], %s: Tensor[(2), int32]) { unravel_index(%i, %s) }", "5 2; 2 3", "1 0 2 2" },
        { "def @main(%x: Tensor[(3), int32]) { invert_permutation(%x) }", "2 0 1", "1 2 0" },
        { "def @main(%s: Tensor[(4), float32], %v: Tensor[(3), float32]) { searchsorted(%s, %v) }", "1 3 3 5; 3 0 9", "1 0 4" },
        { "def @main(%s: Tensor[(4), float32], %v: Tensor[(3), float32]) { searchsorted(%s, %v, right=True, dtype=\"int64\") }", "1 3 3 5; 3 0 9",
          "3 0 4" },
        { "def @main(%s: Tensor[(2, 2), int32], %v: Tensor[(2, 1), int32]) { searchsorted(%s, %v) }", "1 3 5 7; 2 6", "1 1" },
        { "def @main() { argwhere(reshape(mod(arange(0, 6, 1, start=0, stop=6, step=1, dtype=\"int32\"), 2), newshape=[2, 3])) }", "",
          "0 1 1 0 1 2" },
        { "def @main() { argwhere(less(arange(0f, 4f, 1f, start=0f, stop=4f, step=1f, dtype=\"float32\"), 0f)) }", "", "" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%c: Tensor[(3), bool]) { argwhere(%c) }"),
                        "error: argwhere: the number of rows of the result depends on the values of the condition, which are known only when "
                        "the model runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(take_clips_wraps_and_batches), OP_TEST(gather_reads_along_an_axis), OP_TEST(positions_are_found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
