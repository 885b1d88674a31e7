/* Products of matrices and sums in index notation. */
#include "op_case.h"

static void dense_multiplies_with_the_transposed_weight(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32]) { nn.dense(%x, %w, units=3) }", "1 2; 1 10 2 20 3 30", "21 42 63" },
        { "def @main(%x: Tensor[(2), float32], %w: Tensor[(1, 2), float32]) { nn.dense(%x, %w, units=None) }", "1 2; 3 4", "11" },
        { "def @main(%x: Tensor[(1, 2), int8], %w: Tensor[(1, 2), int8]) { nn.dense(%x, %w, out_dtype=\"int32\") }", "100 100; 100 100",
          "20000" },
        { "def @main(%x: Tensor[(2, 0), float32], %w: Tensor[(3, 0), float32]) { nn.dense(%x, %w) }", "", "0 0 0 0 0 0" },
        { "def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(1, 2, 2), float32]) { nn.contrib_dense_pack(%x, %w, units=2) }", "1 2; 1 2 10 20",
          "21 42" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void matmul_transposes_what_it_is_told(void **state)
{
    static const op_case c[] = {
        { "def @main(%a: Tensor[(1, 2), float32], %b: Tensor[(2, 2), float32]) { nn.matmul(%a, %b, units=2) }", "1 2; 1 2 3 4", "7 10" },
        { "def @main(%a: Tensor[(2, 1), float32], %b: Tensor[(2, 2), float32]) { nn.matmul(%a, %b, units=2, transpose_a=True, transpose_b=True) }",
          "1 2; 1 2 3 4", "5 11" },
        { "def @main(%a: Tensor[(1, 1, 2), float32], %b: Tensor[(2, 1, 2), float32]) { nn.batch_matmul(%a, %b, transpose_b=True) }",
          "1 2; 1 2 3 4", "5 11" },
        { "def @main(%a: Tensor[(1, 1, 2), float32], %b: Tensor[(1, 2, 2), float32]) { nn.batch_matmul(%a, %b) }", "1 2; 1 2 3 4", "7 10" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void einsum_reads_numpy_notation(void **state)
{
    static const op_case c[] = {
        { "def @main(%a: Tensor[(2, 2), float32], %b: Tensor[(2), float32]) { %0 = (%a, %b); einsum(%0, equation=\"ij,j->i\") }", "1 2 3 4; 1 10",
          "21 43" },
        { "def @main(%a: Tensor[(2, 2), float32]) { %0 = (%a,); einsum(%0, equation=\"ii\") }", "1 2 3 4", "5" },
        { "def @main(%a: Tensor[(2, 2), float32]) { %0 = (%a,); einsum(%0, equation=\"ba\") }", "1 2 3 4", "1 3 2 4" },
        { "def @main(%a: Tensor[(2, 1, 2), float32], %b: Tensor[(2, 1), float32]) { %0 = (%a, %b); einsum(%0, equation=\"...ij, jk -> ...ik\") }",
          "1 2 3 4; 1 10", "21 43" },
        { "def @main(%a: Tensor[(2, 2), float32]) { %0 = (%a,); einsum(%0, equation=\"...i ->...\") }", "1 2 3 4", "3 7" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void lengths_must_agree(void **state)
{
    tg_fixture *f = *state;
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 5), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, %w) }"),
                        "error: nn.dense: 5 columns cannot be multiplied with 4 rows");
    assert_non_null(strstr(tg_text_z(&f->log), "%w is Tensor[(3, 4), float32]"));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 5), float32], %w: Tensor[(120, 16, 25), float32]) { nn.dense(%x, %w) }"),
                        "error: nn.dense: weight has 3 dimensions, expected 2");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, %w, units=5) }"),
                        "error: nn.dense: units is 5, the weight has 3");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(2, 1, 2), float32], %b: Tensor[(3, 2, 2), float32]) { nn.batch_matmul(%a, %b) }"),
                        "error: nn.batch_matmul: batches of 2 and 3 do not fit together");
    assert_string_equal(op_type(state, "def @main(%a: Tensor[(2, 2), float32]) { %0 = (%a,); einsum(%0, equation=\"ij->ik\") }"),
                        "error: einsum: the result of \"ij->ik\" is not made of letters of its operands, each once");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(dense_multiplies_with_the_transposed_weight), OP_TEST(matmul_transposes_what_it_is_told),
        OP_TEST(einsum_reads_numpy_notation), OP_TEST(lengths_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
