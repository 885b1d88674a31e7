/* test_fold_const.c: what becomes a constant, what stays, and that values are kept. */
#include "graph_ir.h"

#define MAIN "def @main"

static const struct { const char *text, *ops;
} cases[] = {
    /* constants of constants, in a chain */
    { MAIN "(%x: Tensor[(2, 3), float32], %k: Tensor[(3), float32]) {\n  %0 = negative(%k);\n  %1 = add(%0, %0);\n  "
           "add(%x, %1)\n}",
      "add x" },
    /* nothing constant: nothing happens */
    { MAIN "(%x: Tensor[(2), float32]) {\n  %0 = add(%x, %x);\n  negative(%0)\n}", "add negative x" },
    /* a result that is a constant */
    { MAIN "(%k: Tensor[(3), float32]) {\n  negative(%k)\n}", "k" },
    /* a tuple of constants, and a field of it */
    { MAIN "(%k1: Tensor[(2), float32], %k2: Tensor[(3), float32]) {\n  %0 = (%k1, %k2);\n  concatenate(%0)\n}", "k" },
    { MAIN
      "(%k1: Tensor[(2), float32], %x: Tensor[(3), float32]) {\n  %0 = (%x, %k1);\n  %1 = %0.1;\n  negative(%1)\n}",
      "k" },
    { MAIN "(%k1: Tensor[(2), float32], %x: Tensor[(3), float32]) {\n  %0 = (%x, %k1);\n  concatenate(%0)\n}",
      "(,) concatenate x" },
    /* an operator with several results */
    { MAIN "(%k: Tensor[(4), float32]) {\n  %0 = split(%k, indices_or_sections=2);\n  %1 = %0.1;\n  negative(%1)\n}",
      "k" },
    /* shapes are known without data */
    { MAIN "(%x: Tensor[(2, 3), float32]) {\n  %0 = shape_of(%x, dtype=\"int32\");\n  add(%0, %0)\n}", "k" },
    { MAIN "(%x: Tensor[(2, 3), float32]) {\n  %0 = ndarray_size(%x, dtype=\"int32\");\n  add(%0, %0)\n}", "k" },
    /* a large fill stays a call, but what is computed from it is a constant again */
    { MAIN "(%x: Tensor[(64, 64), float32]) {\n  %0 = zeros(shape=[64, 64], dtype=\"float32\");\n  add(%x, %0)\n}",
      "zeros add x" },
    { MAIN "(%x: Tensor[(), float32]) {\n  %0 = ones(shape=[64, 64], dtype=\"float32\");\n  %1 = negative(%0);\n  %2 = "
           "sum(%1);\n"
           "  add(%x, %2)\n}",
      "add x" },
    { MAIN "(%x: Tensor[(2), float32]) {\n  %0 = zeros(shape=[2], dtype=\"float32\");\n  add(%x, %0)\n}", "add x" },
    /* what nobody uses goes */
    { MAIN "(%x: Tensor[(2), float32]) {\n  let %a = exp(%x);\n  let %b = negative(%a);\n  exp(%x)\n}", "exp x" },
    /* a division that fails is left alone */
    { MAIN "(%x: Tensor[(), int32]) {\n  %0 = divide(1, 0);\n  add(%x, %0)\n}", "divide add x" },
    /* a branch whose condition is known */
    { MAIN "(%x: Tensor[(2), float32]) {\n  let %c = less(1, 2);\n  let %r = if (%c) {\n    exp(%x)\n  } else {\n    "
           "negative(%x)\n  };\n  %r\n}",
      "exp x" },
    /* constants inside a branch */
    { MAIN "(%x: Tensor[(), bool], %k: Tensor[(2), float32]) {\n  if (%x) {\n    negative(%k)\n  } else {\n    "
           "exp(%k)\n  }\n}",
      "if x" },
};

static void constants_are_folded_and_the_rest_stays(void **state)
{
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const char *ops = tg_test_ops(*state, tg_test_graph(*state, cases[i].text, "fold-const"));
        if (strcmp(ops, cases[i].ops) != 0)
            fail_msg("\"%s\", expected \"%s\", for\n%s", ops, cases[i].ops, cases[i].text);
    }
}

static void values_are_kept(void **state)
{
    static const char *const text[] = {
        MAIN "(%x: Tensor[(2, 3), float32], %k: Tensor[(3), float32]) {\n  %0 = exp(%k);\n  %1 = sqrt(%0);\n  add(%x, "
             "%1)\n}",
        MAIN "(%x: Tensor[(4, 3), float32], %k: Tensor[(3, 4), float32]) {\n  %0 = transpose(%k, axes=[1, 0]);\n  "
             "multiply(%x, %0)\n}",
        MAIN "(%x: Tensor[(4), int8], %k: Tensor[(4), int8]) {\n  %0 = multiply(%k, %k);\n  %1 = add(%0, %0);\n  "
             "add(%x, %1)\n}",
        MAIN "(%x: Tensor[(4), float16], %k: Tensor[(4), float16]) {\n  %0 = multiply(%k, %k);\n  add(%x, %0)\n}",
        MAIN "(%x: Tensor[(), float32]) {\n  %0 = ones(shape=[64, 64], dtype=\"float32\");\n  %1 = sum(%0);\n  add(%x, "
             "%1)\n}",
    };
    for (size_t i = 0; i < TG_COUNT(text); ++i)
        tg_test_same(*state, text[i], "fold-const", 0);
}

static void numbers_are_those_of_the_operators(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(
        f,
        MAIN
        "() {\n  %0 = multiply(3f, 0.5f);\n  %1 = (%0, -2f);\n  %2 = stack(%1);\n  %3 = cast(%2, dtype=\"int8\");\n"
        "  concatenate((%3, %3))\n}",
        "fold-const");
    const tg_node *body = tg_module_find_z(m, "main")->body;
    assert_string_equal(tg_test_ops(f, m), "k");
    const tg_tensor *t = body->kid[0]->u.tensor;
    const int64_t want[] = { 1, -2, 1, -2 };
    for (int64_t i = 0; i < 4; ++i)
        assert_int_equal(tg_tensor_i64(t, i), want[i]);
}

static void a_folded_weight_keeps_its_name(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(f,
                                 MAIN "(%x: Tensor[(2, 4), float32], %kernel: Tensor[(4, 3), float32]) {\n"
                                      "  %0 = transpose(%kernel, axes=[1, 0]);\n  nn.dense(%x, %0, units=3)\n}",
                                 "fold-const");
    const tg_node *call = tg_module_find_z(m, "main")->body->kid[0]->kid[0];
    assert_int_equal(call->kid[1]->kind, TG_RCONST);
    assert_string_equal(call->kid[1]->u.tensor->label->text, "kernel");
}

/* Each step could be a constant of 16 KiB made from nothing; only the end is small enough. */
static void a_long_chain_of_large_constants_is_folded_at_its_end(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, MAIN "(%x: Tensor[(), float32]) {\n  %0 = ones(shape=[64, 64], dtype=\"float32\");\n");
    for (int i = 1; i <= 300; ++i)
        tg_printf(&t, "  %%%d = negative(%%%d);\n", i, i - 1);
    tg_puts(&t, "  %301 = sum(%300);\n  add(%x, %301)\n}");
    tg_module *m = tg_test_graph(f, tg_text_z(&t), "fold-const");
    assert_string_equal(tg_test_ops(f, m), "add x");
    const tg_node *call = tg_module_find_z(m, "main")->body->kid[0]->kid[0];
    assert_true(tg_tensor_f64(call->kid[1]->u.tensor, 0) == 4096);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(constants_are_folded_and_the_rest_stays), TEST(values_are_kept), TEST(numbers_are_those_of_the_operators),
        TEST(a_folded_weight_keeps_its_name), TEST(a_long_chain_of_large_constants_is_folded_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
