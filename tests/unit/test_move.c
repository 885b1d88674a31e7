/* Elements moved along axes. */
#include "op_case.h"

static void axes_permute(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 3), float32]) { transpose(%x, axes=None) }", "1 2 3 4 5 6", "1 4 2 5 3 6" },
        { "def @main(%x: Tensor[(1, 2, 3), float32]) { transpose(%x, axes=[0, -1, 1]) }", "1 2 3 4 5 6", "1 4 2 5 3 6" },
        { "def @main(%x: Tensor[(3), float32]) { reverse(%x, axis=0) }", "1 2 3", "3 2 1" },
        { "def @main(%x: Tensor[(3, 2), float32], %n: Tensor[(2), int32]) { reverse_sequence(%x, %n, seq_axis=0, batch_axis=1) }",
          "0 1 2 3 4 5; 2 3", "2 5 0 3 4 1" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, 3, 4), float32]) { transpose(%x, axes=[1, 2, 0]) }"), "Tensor[(3, 4, 2), float32]");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, 3, 4), float32]) { transpose(%x, axes=[2, 0, 1]) }"), "Tensor[(4, 2, 3), float32]");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, 3), float32]) { transpose(%x, axes=[0, 0]) }"),
                        "error: transpose: axes names axis 0 twice");
}

static void tensors_join_and_part(void **state)
{
    static const op_case c[] = {
        { "def @main(%a: Tensor[(1, 2), float32], %b: Tensor[(1, 1), float32]) { %0 = (%a, %b); concatenate(%0, axis=-1) }", "1 2; 3", "1 2 3" },
        { "def @main(%a: Tensor[(0, 2), float32], %b: Tensor[(1, 2), float32]) { %0 = (%a, %b); concatenate(%0) }", "; 3 4", "3 4" },
        { "def @main(%a: Tensor[(2), float32]) { %0 = (%a, %a); stack(%0, axis=1) }", "1 2", "1 1 2 2" },
        { "def @main(%a: Tensor[(2), float32]) { %0 = (%a, %a); stack(%0, axis=-1) }", "1 2", "1 1 2 2" },
        { "def @main(%a: float32) { %0 = (%a, 2f); stack(%0) }", "1", "1 2" },
        { "def @main(%a: Tensor[(6), int32]) { %0 = split(%a, indices_or_sections=2); %1 = %0.1; %2 = %0.0; (%1, %2) }", "1 2 3 4 5 6", "4 5 6; 1 2 3" },
        { "def @main(%a: Tensor[(1, 4), int32]) { split(%a, indices_or_sections=[1, 3], axis=1) }", "1 2 3 4", "1; 2 3; 4" },
        { "def @main(%a: Tensor[(2), int8], %b: Tensor[(3), int8]) { %0 = (%a, %b); meshgrid(%0) }", "1 2; 3 4 5", "1 1 1 2 2 2; 3 4 5 3 4 5" },
        { "def @main(%a: Tensor[(2), int8], %b: Tensor[(3), int8]) { %0 = (%a, %b); meshgrid(%0, indexing=\"xy\") }", "1 2; 3 4 5",
          "1 2 1 2 1 2; 3 3 4 4 5 5" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(5), float32]) { split(%a, indices_or_sections=2) }"),
                        "error: split: extent 5 does not divide into 2 equal parts");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(5), float32]) { split(%a, indices_or_sections=[3, 2]) }"),
                        "error: split: cut points must rise from 0 to 5");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(1, 2), float32], %b: Tensor[(2, 2), float32]) { %0 = (%a, %b); concatenate(%0, axis=1) }"),
                        "error: concatenate: field 1 is Tensor[(2, 2), float32], which does not fit Tensor[(1, 2), float32]");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(1, 2), float32]) { concatenate(%a) }"),
                        "error: concatenate: data must be a tuple of tensors");
}

static void elements_repeat(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), float32]) { tile(%x, reps=[2, 2]) }", "1 2", "1 2 1 2 1 2 1 2" },
        { "def @main(%x: Tensor[(2, 1), float32]) { tile(%x, reps=[2]) }", "1 2", "1 1 2 2" },
        { "def @main(%x: Tensor[(2, 2), float32]) { repeat(%x, repeats=2, axis=1) }", "1 2 3 4", "1 1 2 2 3 3 4 4" },
        { "def @main(%x: Tensor[(2, 2), float32]) { repeat(%x, repeats=2) }", "1 2 3 4", "1 1 2 2 3 3 4 4" },
        { "def @main(%x: Tensor[(2, 1), float32]) { broadcast_to(%x, shape=[2, 2]) }", "1 2", "1 1 2 2" },
        { "def @main(%x: float32, %y: Tensor[(3), int8]) { broadcast_to_like(%x, %y) }", "4; 0 0 0", "4 4 4" },
        { "def @main(%x: Tensor[(2, 2), float32], %y: Tensor[(2, 1), int8]) { collapse_sum_like(%x, %y) }", "1 2 3 4; 0 0", "3 7" },
        { "def @main(%x: Tensor[(2, 2), float32]) { %0 = shape_of(%x); %1 = take(%0, 1); %2 = reshape(%1, newshape=[1]); collapse_sum_to(%x, %2) }",
          "1 2 3 4", "4 6" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(axes_permute), OP_TEST(tensors_join_and_part), OP_TEST(elements_repeat) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
