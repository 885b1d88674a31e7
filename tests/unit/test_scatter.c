/* Updates written where index tensors say, and scans. */
#include "op_case.h"

#define ELEMENTS(how) "def @main(%x: Tensor[(3), float32], %i: Tensor[(3), int32], %u: Tensor[(3), float32]) { scatter_elements(%x, %i, %u, axis=0, reduction=\"" how "\") }"

static void updates_meet_old_values_in_order(void **state)
{
    static const op_case c[] = {
        { ELEMENTS("mean"), "10 0 0; 0 0 -1; 1 2 3", "3.75 0 1.5" },
        { ELEMENTS("update"), "10 0 0; 0 0 -1; 1 2 3", "2 0 3" },
        { ELEMENTS("add"), "10 0 0; 0 0 -1; 1 2 3", "13 0 3" },
        { ELEMENTS("mul"), "10 1 2; 0 0 -1; 1 2 3", "20 1 6" },
        { ELEMENTS("min"), "10 1 2; 0 0 -1; 1 2 3", "1 1 2" },
        { ELEMENTS("max"), "1.5 1 2; 0 0 -1; 1 2 3", "2 1 3" },
        { ELEMENTS("update"), "10 1 2; 7 1 -9; 1 2 3", "10 2 2" },
        { "def @main(%x: Tensor[(2, 2), int8], %i: Tensor[(1, 2), int64], %u: Tensor[(1, 2), int8]) { scatter_elements(%x, %i, %u) }",
          "1 2 3 4; 1 0; 8 9", "1 9 8 4" },
        { "def @main(%x: Tensor[(2), int8], %i: Tensor[(2), int64], %u: Tensor[(2), int8]) { scatter_add(%x, %i, %u) }", "1 2; 1 1; 8 9", "1 19" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(1, 2), int64], %u: Tensor[(2, 2), int32]) { scatter_nd(%x, %i, %u) }",
          "1 2 3 4; 1 1; 5 6 7 8", "1 2 7 8" },
        { "def @main(%x: Tensor[(2, 2), int32], %i: Tensor[(2, 2), int64], %u: Tensor[(2), int32]) { scatter_nd(%x, %i, %u, mode=\"add\") }",
          "1 2 3 4; 1 1 0 0; 5 6", "1 2 14 4" },
        { "def @main(%i: Tensor[(2, 2), int32], %v: Tensor[(2), float32]) { sparse_to_dense(%i, %v, 9f, output_shape=[2, 2]) }", "0 1 1 0; 5 6", "9 5 6 9" },
        { "def @main(%i: Tensor[(2), int32], %v: float32) { sparse_to_dense(%i, %v, 0f, output_shape=[3]) }", "0 2; 5", "5 0 5" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, ELEMENTS("median")), "error: scatter_elements: reduction \"median\" is not update, add, mul, min, max or mean");
}

static void scans_run_along_an_axis(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 2), int8]) { cumsum(%x) }", "100 100 1 2", "100 -56 -55 -53" },
        { "def @main(%x: Tensor[(2, 2), int8]) { cumsum(%x, axis=0, dtype=\"int32\") }", "100 100 100 2", "100 100 200 102" },
        { "def @main(%x: Tensor[(2, 3), float32]) { cumsum(%x, axis=-1, exclusive=True) }", "1 2 3 4 5 6", "0 1 3 0 4 9" },
        { "def @main(%x: Tensor[(3), float32]) { cumprod(%x) }", "2 3 4", "2 6 24" },
        { "def @main(%x: Tensor[(3), float32]) { cumprod(%x, axis=0, exclusive=True) }", "2 3 4", "1 2 6" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(updates_meet_old_values_in_order), OP_TEST(scans_run_along_an_axis) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
