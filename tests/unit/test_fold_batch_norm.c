/* test_fold_batch_norm.c: products and sums a channel move into weights and bias, in every layout, and only where they
 * may. */
#include "graph_ir.h"

#define MAIN "def @main"

/* A product by %ks and a sum with %kt behind an operator; what is left, or NULL where the text says it. */
static const struct { const char *data, *weight, *scale, *call;
} operators[] = {
    { "(1, 4, 5, 5)", "(6, 4, 3, 3)", "(6, 1, 1)",
      "nn.conv2d(%x, %kw, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3])" },
    { "(1, 5, 5, 4)", "(3, 3, 4, 6)", "(6)",
      "nn.conv2d(%x, %kw, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3], data_layout=\"NHWC\", "
      "kernel_layout=\"HWIO\")" },
    { "(1, 5, 5, 4)", "(6, 3, 3, 4)", "(1, 1, 6)",
      "nn.conv2d(%x, %kw, strides=[2, 2], channels=6, kernel_size=[3, 3], data_layout=\"NHWC\", "
      "kernel_layout=\"OHWI\")" },
    { "(1, 4, 5, 5)", "(6, 2, 3, 3)", "(1, 6, 1, 1)", "nn.conv2d(%x, %kw, groups=2, channels=6, kernel_size=[3, 3])" },
    { "(1, 4, 5, 5)", "(4, 1, 3, 3)", "(4, 1, 1)", "nn.conv2d(%x, %kw, groups=4, channels=4, kernel_size=[3, 3])" },
    { "(1, 4, 5, 5)", "(4, 2, 3, 3)", "(8, 1, 1)", "nn.conv2d(%x, %kw, groups=4, channels=8, kernel_size=[3, 3])" },
    { "(1, 5, 5, 4)", "(3, 3, 4, 2)", "(8)",
      "nn.conv2d(%x, %kw, groups=4, channels=8, kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWOI\")" },
    { "(1, 1, 5, 5, 4)", "(2, 1, 3, 3, 4, 3)", "(2, 1, 1, 3)",
      "nn.contrib_conv2d_NCHWc(%x, %kw, channels=6, kernel_size=[3, 3], data_layout=\"NCHW4c\", "
      "kernel_layout=\"OIHW4i3o\", out_layout=\"NCHW3c\")" },
    { "(1, 4, 9)", "(6, 4, 3)", "(6, 1)", "nn.conv1d(%x, %kw, channels=6, kernel_size=[3])" },
    { "(1, 2, 4, 4, 4)", "(3, 2, 2, 2, 2)", "(3, 1, 1, 1)", "nn.conv3d(%x, %kw, channels=3, kernel_size=[2, 2, 2])" },
    { "(1, 4, 5, 5)", "(4, 6, 3, 3)", "(6, 1, 1)",
      "nn.conv2d_transpose(%x, %kw, channels=6, kernel_size=[3, 3], strides=[2, 2])" },
    { "(1, 4, 5, 5)", "(4, 3, 3, 3)", "(6, 1, 1)",
      "nn.conv2d_transpose(%x, %kw, channels=6, kernel_size=[3, 3], groups=2)" },
    { "(1, 4, 9)", "(4, 6, 3)", "(6, 1)", "nn.conv1d_transpose(%x, %kw, channels=6, kernel_size=[3])" },
    { "(5, 4)", "(6, 4)", "(6)", "nn.dense(%x, %kw, units=6)" },
    { "(5, 4)", "(6, 4)", "(1, 6)", "nn.dense(%x, %kw, units=6)" },
    { "(5, 4)", "(4, 6)", "(6)", "nn.matmul(%x, %kw, units=6)" },
    { "(5, 4)", "(6, 4)", "(6)", "nn.matmul(%x, %kw, units=6, transpose_b=True)" },
    { "(5, 4)", "(6, 4)", "()", "nn.dense(%x, %kw, units=6)" },
};

static const char *head(tg_fixture *f, size_t i)
{
    return tg_format(f->cx,
                     MAIN "(%%x: Tensor[%s, float32], %%kw: Tensor[%s, float32], %%ks: Tensor[%s, float32], "
                          "%%kt: Tensor[%s, float32]) {\n  %%0 = %s;\n",
                     operators[i].data, operators[i].weight, operators[i].scale, operators[i].scale, operators[i].call);
}

static void folds(tg_fixture *f, const char *text, const char *ops)
{
    const char *got = tg_test_ops(f, tg_test_graph(f, text, "fold-const fold-batch-norm"));
    if (strcmp(got, ops) != 0)
        fail_msg("\"%s\", expected \"%s\", for\n%s", got, ops, text);
    tg_test_same(f, text, "fold-const fold-batch-norm", 2e-6);
}

static const char *op_name(tg_fixture *f, size_t i)
{
    return tg_format(f->cx, "%.*s", (int)strcspn(operators[i].call, "("), operators[i].call);
}

static void scales_move_into_weights_of_every_layout(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(operators); ++i) {
        folds(f, tg_format(f->cx, "%s  multiply(%%0, %%ks)\n}", head(f, i)), tg_format(f->cx, "%s x", op_name(f, i)));
        folds(
            f,
            tg_format(f->cx, "%s  %%1 = multiply(%%ks, %%0);\n  %%2 = add(%%1, %%kt);\n  nn.relu(%%2)\n}", head(f, i)),
            tg_format(f->cx, "%s add nn.relu x", op_name(f, i)));
        folds(f,
              tg_format(
                  f->cx,
                  "%s  %%1 = add(%%0, %%kt);\n  %%2 = multiply(%%1, %%ks);\n  %%3 = add(%%kt, %%2);\n  nn.relu(%%3)\n}",
                  head(f, i)),
              tg_format(f->cx, "%s add nn.relu x", op_name(f, i)));
    }
}

#define CONV                                                                                                           \
    "(%x: Tensor[(1, 4, 5, 5), float32], %kw: Tensor[(6, 4, 3, 3), float32], %kb: Tensor[(6), float32], %ks: "         \
    "Tensor[(6, 1, 1), float32], %kt: Tensor[(5), float32], "                                                          \
    "%kgamma: Tensor[(6), float32], %kbeta: Tensor[(6), float32], %kmean: Tensor[(6), float32], %kvar: Tensor[(6), "   \
    "float32]) {\n"                                                                                                    \
    "  %0 = nn.conv2d(%x, %kw, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);\n"

static void batch_norm_ends_in_weights_and_bias(void **state)
{
    tg_fixture *f = *state;
    static const char *const text[] = {
        MAIN CONV "  %1 = nn.bias_add(%0, %kb);\n  %2 = nn.batch_norm(%1, %kgamma, %kbeta, %kmean, %kvar);\n  %3 = "
                  "%2.0;\n  nn.relu(%3)\n}",
        MAIN CONV "  %1 = nn.batch_norm(%0, %kgamma, %kbeta, %kmean, %kvar);\n  %2 = %1.0;\n  nn.relu(%2)\n}",
    };
    static const char *const ops[] = { "nn.conv2d nn.bias_add nn.relu x", "nn.conv2d add nn.relu x" };
    for (size_t i = 0; i < TG_COUNT(text); ++i) {
        assert_string_equal(tg_test_ops(f, tg_test_graph(f, text[i], "simplify-graph fold-const fold-batch-norm")),
                            ops[i]);
        tg_test_same(f, text[i], "simplify-graph fold-const fold-batch-norm", 2e-6);
    }
}

static void other_forms_of_scale_and_shift_fold_too(void **state)
{
    tg_fixture *f = *state;
    folds(f, MAIN CONV "  divide(%0, %kt)\n}", "nn.conv2d divide x"); /* along the width: not a channel of its own */
    folds(f, MAIN CONV "  %1 = expand_dims(%kvar, axis=1, num_newaxis=2);\n  divide(%0, %1)\n}", "nn.conv2d x");
    folds(f, MAIN CONV "  %1 = nn.bias_add(%0, %kb);\n  subtract(%1, %ks)\n}", "nn.conv2d nn.bias_add x");
    folds(f,
          MAIN CONV
          "  %1 = nn.bias_add(%0, %kb);\n  %2 = nn.bias_add(%1, %kbeta);\n  %3 = multiply(%2, 0.5f);\n  add(%3, 1f)\n}",
          "nn.conv2d nn.bias_add x");
}

static void what_is_used_twice_stays(void **state)
{
    tg_fixture *f = *state;
    folds(f, MAIN CONV "  %1 = multiply(%0, %ks);\n  add(%0, %1)\n}", "nn.conv2d multiply add x");
    folds(f, MAIN CONV "  %1 = nn.bias_add(%0, %kb);\n  %2 = multiply(%1, %ks);\n  add(%1, %2)\n}",
          "nn.conv2d nn.bias_add multiply add x");
    folds(f, MAIN CONV "  %1 = multiply(%0, %ks);\n  add(%1, %1)\n}", "nn.conv2d add x");
}

static void what_is_no_constant_of_a_channel_stays(void **state)
{
    tg_fixture *f = *state;
    folds(f,
          MAIN
          "(%x: Tensor[(1, 4, 5, 5), float32], %kw: Tensor[(6, 4, 3, 3), float32], %k: Tensor[(3, 3), float32]) {\n"
          "  %0 = nn.conv2d(%x, %kw, channels=6, kernel_size=[3, 3]);\n  multiply(%0, %k)\n}",
          "nn.conv2d multiply x");
    folds(f,
          MAIN
          "(%x: Tensor[(1, 4, 5, 5), float32], %kw: Tensor[(6, 4, 3, 3), float32], %s: Tensor[(6, 1, 1), float32]) {\n"
          "  %0 = nn.conv2d(%x, %kw, channels=6, kernel_size=[3, 3]);\n  multiply(%0, %s)\n}",
          "nn.conv2d multiply x");
    folds(f,
          MAIN
          "(%x: Tensor[(1, 4, 5, 5), float32], %w: Tensor[(6, 4, 3, 3), float32], %ks: Tensor[(6, 1, 1), float32]) {\n"
          "  %0 = nn.conv2d(%x, %w, channels=6, kernel_size=[3, 3]);\n  multiply(%0, %ks)\n}",
          "nn.conv2d multiply x");
    folds(f, MAIN "(%x: Tensor[(2, 4), int8], %kw: Tensor[(6, 4), int8]) {\n"
          "  %0 = nn.dense(%x, %kw, units=6, out_dtype=\"int32\");\n  multiply(%0, 3)\n}", "nn.dense multiply x");
    folds(f, MAIN "(%x: Tensor[(2, 4), float32], %kw: Tensor[(6, 4), float32], %k: Tensor[(5, 2, 6), float32]) {\n"
          "  %0 = nn.dense(%x, %kw, units=6);\n  multiply(%0, %k)\n}", "nn.dense multiply x");
}

static void integer_biases_are_merged_exactly(void **state)
{
    folds(*state,
          MAIN
          "(%x: Tensor[(2, 4), int8], %kw: Tensor[(6, 4), int8], %kb: Tensor[(6), int32], %kc: Tensor[(6), int32]) {\n"
          "  %0 = nn.dense(%x, %kw, units=6, out_dtype=\"int32\");\n  %1 = nn.bias_add(%0, %kb);\n  add(%1, %kc)\n}",
          "nn.dense nn.bias_add x");
}

static void layers_and_labels_stay(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(f, MAIN CONV "  multiply(%0, %ks) /* span=/bn:0:0 */\n}", "fold-batch-norm");
    const tg_node *call = tg_module_find_z(m, "main")->body->kid[0]->kid[0];
    assert_string_equal(call->kid[1]->u.tensor->label->text, "kw");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(scales_move_into_weights_of_every_layout),
        TEST(batch_norm_ends_in_weights_and_bias),
        TEST(other_forms_of_scale_and_shift_fold_too),
        TEST(what_is_used_twice_stays),
        TEST(what_is_no_constant_of_a_channel_stays),
        TEST(integer_biases_are_merged_exactly),
        TEST(layers_and_labels_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
