/* Sorting, the largest k, unique values. */
#include "op_case.h"

static void sorting_is_stable_both_ways(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(5), int32]) { argsort(%x, dtype=\"int32\") }", "3 1 3 2 1", "1 4 3 0 2" },
        { "def @main(%x: Tensor[(5), int32]) { argsort(%x, is_ascend=False, dtype=\"int64\") }", "3 1 3 2 1", "0 2 3 1 4" },
        { "def @main(%x: Tensor[(7), float32]) { sort(%x) }", "5 -1 nan 3 8 0 2", "-1 0 2 3 5 8 nan" },
        { "def @main(%x: Tensor[(3), float32]) { sort(%x, is_ascend=False) }", "5 nan 7", "nan 7 5" },
        { "def @main(%x: Tensor[(3, 2), float32]) { sort(%x, axis=0) }", "5 1 4 2 3 0", "3 0 4 1 5 2" },
        { "def @main(%x: Tensor[(2, 0), float32]) { sort(%x) }", "", "" },
        { "def @main(%x: Tensor[(1), float32]) { sort(%x) }", "4", "4" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void topk_keeps_the_first_of_equals(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(4), int32]) { topk(%x, k=2) }", "3 1 3 2", "3 3; 0 2" },
        { "def @main(%x: Tensor[(4), int32]) { topk(%x, k=0, ret_type=\"values\", is_ascend=True) }", "3 1 3 2", "1 2 3 3" },
        { "def @main(%x: Tensor[(2, 3), float32]) { topk(%x, k=1, axis=1, ret_type=\"indices\", dtype=\"int64\") }", "1 3 2 9 7 8", "1 0" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(4), int32]) { topk(%x, k=5) }"),
                        "error: topk: the largest 5 of 4 elements are asked for");
}

static void unique_values_come_with_their_places(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(4), int32]) { unique(%x) }", "3 1 3 2", "1 2 3 0; 1 3 0 0; 2 0 2 1; 3" },
        { "def @main(%x: Tensor[(4), int32]) { unique(%x, sorted=False, return_counts=True) }", "3 1 3 2",
          "3 1 2 0; 0 1 3 0; 0 1 0 2; 3; 2 1 1 0" },
        { "def @main(%x: Tensor[(2), float32]) { unique(%x) }", "5 5", "5 0; 0 0; 0 0; 1" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(sorting_is_stable_both_ways), OP_TEST(topk_keeps_the_first_of_equals),
                                        OP_TEST(unique_values_come_with_their_places) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
