/* test_simplify_graph.c: which operators go, which stay, and that values are kept. */
#include "graph_ir.h"

#define MAIN "def @main"
#define X23 MAIN "(%x: Tensor[(2, 3), float32]) {\n"
#define BN(stat)                                                                                                       \
    "(%x: Tensor[(2, 3, 4), float32], %" stat "gamma: Tensor[(3), float32], %kbeta: Tensor[(3), float32], "            \
    "%kmean: Tensor[(3), float32], %kvar: Tensor[(3), float32]) {\n"

static const struct { const char *text, *ops;
} cases[] = {
    { X23 "  %0 = nn.dropout(%x, rate=0.5f);\n  %1 = %0.0;\n  exp(%1)\n}", "exp x" },
    { X23 "  %0 = nn.dropout(%x, rate=0.5f);\n  %1 = %0.1;\n  exp(%1)\n}", "nn.dropout .1 exp x" },
    { X23 "  %0 = copy(%x);\n  exp(%0)\n}", "exp x" },
    { X23 "  copy(%x)\n}", "x" },
    { X23 "  %0 = annotation.stop_fusion(%x);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = (%x, %x);\n  %1 = %0.1;\n  exp(%1)\n}", "exp x" },
    { X23 "  %0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0]]);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = nn.pad(%x, 0f, pad_width=[[0, 0], [1, -1]]);\n  exp(%0)\n}", "nn.pad exp x" },
    { X23 "  %0 = cast(%x, dtype=\"float32\");\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = cast(%x, dtype=\"float64\");\n  exp(%0)\n}", "cast exp x" },
    { X23 "  %0 = (%x,);\n  concatenate(%0, axis=1)\n}", "x" },
    { X23 "  %0 = strided_slice(%x, begin=[0, 0], end=[2, 3], strides=[1, 1], axes=None);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = strided_slice(%x, begin=[-1, 0], end=[-3, 3], strides=[-1, 1], axes=None);\n  exp(%0)\n}",
      "strided_slice exp x" },
    { X23 "  %0 = tile(%x, reps=[1, 1]);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = broadcast_to(%x, shape=[2, 3]);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = broadcast_to(%x, shape=[2, 2, 3]);\n  exp(%0)\n}", "broadcast_to exp x" },
    /* shapes */
    { X23 "  %0 = reshape(%x, newshape=[2, -1]);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = reshape(%x, newshape=[6]);\n  %1 = reshape(%0, newshape=[3, 2]);\n  exp(%1)\n}", "reshape exp x" },
    { X23 "  %0 = reshape(%x, newshape=[6]);\n  %1 = reshape(%0, newshape=[2, 3]);\n  exp(%1)\n}", "exp x" },
    { X23 "  %0 = expand_dims(%x, axis=0);\n  %1 = squeeze(%0, axis=[0]);\n  exp(%1)\n}", "exp x" },
    { X23 "  %0 = expand_dims(%x, axis=0);\n  %1 = nn.batch_flatten(%0);\n  exp(%1)\n}", "reshape exp x" },
    { X23 "  %0 = expand_dims(%x, axis=0);\n  exp(%0)\n}", "reshape exp x" },
    { MAIN "(%x: Tensor[(0, 3), float32]) {\n  %0 = expand_dims(%x, axis=0);\n  exp(%0)\n}", "expand_dims exp x" },
    /* transpose */
    { X23 "  %0 = transpose(%x, axes=[0, 1]);\n  exp(%0)\n}", "exp x" },
    { X23 "  %0 = transpose(%x, axes=[1, 0]);\n  %1 = transpose(%0, axes=None);\n  exp(%1)\n}", "exp x" },
    { MAIN "(%x: Tensor[(2, 3, 4), float32]) {\n  %0 = transpose(%x, axes=[0, 2, 1]);\n  %1 = transpose(%0, axes=[1, "
           "0, 2]);\n  exp(%1)\n}",
      "transpose exp x" },
    { MAIN "(%x: Tensor[(1, 3, 1, 4), float32]) {\n  %0 = transpose(%x, axes=[1, 0, 3, -2]);\n  exp(%0)\n}",
      "reshape exp x" },
    /* neutral constants */
    { MAIN "(%x: Tensor[(2), float32]) {\n  %0 = multiply(%x, 1f);\n  %1 = divide(%0, 1f);\n  %2 = subtract(%1, 0f);\n "
           " exp(%2)\n}",
      "exp x" },
    { MAIN "(%x: Tensor[(2), float32]) {\n  %0 = add(%x, 0f);\n  exp(%0)\n}", "add exp x" },
    { MAIN "(%x: Tensor[(2), int32]) {\n  %0 = add(%x, 0);\n  %1 = add(0, %0);\n  negative(%1)\n}", "negative x" },
    { MAIN "(%x: Tensor[(1), float32], %k: Tensor[(3), float32]) {\n  %0 = multiply(%x, 1f);\n  %1 = reshape(%0, "
           "newshape=[1]);\n  exp(%1)\n}",
      "exp x" },
    /* batch_norm */
    { MAIN BN("k") "  %0 = nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar);\n  %1 = %0.0;\n  exp(%1)\n}",
      "multiply add exp x" },
    { MAIN BN("k") "  %0 = nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar);\n  %1 = %0.1;\n  exp(%1)\n}", "exp x" },
    { MAIN BN("") "  %0 = nn.batch_norm(%x, %gamma, %kbeta, %kmean, %kvar);\n  %1 = %0.0;\n  exp(%1)\n}",
      "nn.batch_norm .0 exp x" },
    { MAIN BN("") "  %0 = nn.batch_norm(%x, %gamma, %kbeta, %kmean, %kvar, scale=False);\n  %1 = %0.0;\n  exp(%1)\n}",
      "multiply add exp x" },
    /* inside a branch */
    { MAIN "(%c: Tensor[(), bool], %x: Tensor[(2), float32]) {\n  if (%c) {\n    %0 = copy(%x);\n    exp(%0)\n  } else "
           "{\n    copy(%x)\n  }\n}",
      "if x" },
};

static void identities_go_and_the_rest_stays(void **state)
{
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        tg_module *m = tg_test_graph(*state, cases[i].text, "simplify-graph");
        if (strcmp(tg_test_ops(*state, m), cases[i].ops) != 0)
            fail_msg("\"%s\", expected \"%s\", for\n%s", tg_test_ops(*state, m), cases[i].ops, cases[i].text);
    }
}

static void values_are_kept(void **state)
{
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        tg_test_same(*state, cases[i].text, "simplify-graph", strstr(cases[i].text, "batch_norm") != NULL ? 1e-6 : 0);
}

static void batch_norm_follows_its_axis_and_switches(void **state)
{
    static const char *const call[] = {
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar)",
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar, axis=-2)",
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar, epsilon=0.5f)",
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar, center=False)",
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar, scale=False)",
        "nn.batch_norm(%x, %kgamma, %kbeta, %kmean, %kvar, center=False, scale=False)",
    };
    for (size_t i = 0; i < TG_COUNT(call); ++i) {
        const char *text = tg_format(((tg_fixture *)*state)->cx, "%s  %%0 = %s;\n  %%0.0\n}", MAIN BN("k"), call[i]);
        assert_string_equal(tg_test_ops(*state, tg_test_graph(*state, text, "simplify-graph")), "multiply add x");
        tg_test_same(*state, text, "simplify-graph", 1e-6);
    }
    const char *last =
        MAIN "(%x: Tensor[(2, 3), float32], %kg: Tensor[(3), float32], %kb: Tensor[(3), float32], %km: Tensor[(3), "
             "float32], "
             "%kvar: Tensor[(3), float32]) {\n  %0 = nn.batch_norm(%x, %kg, %kb, %km, %kvar, axis=-1);\n  %0.0\n}";
    tg_test_same(*state, last, "simplify-graph", 1e-6);
}

/* gamma 2, beta 1, mean 3, var 4 - 1e-5: s = 1, y = x + 1 - 3. */
static void batch_norm_has_the_numbers_of_its_definition(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(f, MAIN "(%x: Tensor[(1, 1), float32]) {\n"
        "  %0 = full(2f, shape=[1], dtype=\"float32\");\n  %1 = full(1f, shape=[1], dtype=\"float32\");\n"
        "  %2 = full(3f, shape=[1], dtype=\"float32\");\n  %3 = full(3.5f, shape=[1], dtype=\"float32\");\n"
        "  %4 = nn.batch_norm(%x, %0, %1, %2, %3, epsilon=0.5f);\n  %4.0\n}", "fold-const simplify-graph");
    const tg_node *body = tg_module_find_z(m, "main")->body;
    assert_string_equal(tg_test_ops(f, m), "multiply add x");
    assert_true(tg_tensor_f64(body->kid[0]->kid[0]->kid[1]->u.tensor, 0) == 1);
    assert_true(tg_tensor_f64(body->kid[1]->kid[0]->kid[1]->u.tensor, 0) == -2);
}

static void parameters_and_results_keep_their_types(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(
        f, MAIN "(%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]) -> Tensor[(2, 3), float32] {\n  copy(%x)\n}",
        "simplify-graph");
    const tg_func *g = tg_module_find_z(m, "main");
    assert_int_equal(g->nparams, 2);
    assert_ptr_equal(g->body->kid[0]->u.var, g->param[0]);
    assert_ptr_equal(g->body->type, g->ret);
}

/* A chain of a hundred thousand copies is one pass over the bindings. */
static void long_chains_are_no_problem(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, MAIN "(%x: Tensor[(2), float32]) {\n  %0 = copy(%x);\n");
    for (int i = 1; i < 100000; ++i)
        tg_printf(&t, "  %%%d = copy(%%%d);\n", i, i - 1);
    tg_puts(&t, "  exp(%99999)\n}");
    assert_string_equal(tg_test_ops(f, tg_test_graph(f, tg_text_z(&t), "simplify-graph")), "exp x");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(identities_go_and_the_rest_stays),         TEST(values_are_kept),
        TEST(batch_norm_follows_its_axis_and_switches), TEST(batch_norm_has_the_numbers_of_its_definition),
        TEST(parameters_and_results_keep_their_types),  TEST(long_chains_are_no_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
