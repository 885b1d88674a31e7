/* test_layout.c: channels last inside: the same values, transposes at the edges alone, parameters and results as they were. */
#include "graph_ir.h"

/* ---- what is left of the graph ---- */

static const char *ops_after(tg_fixture *f, const char *text)
{
    return tg_test_ops(f, tg_test_graph(f, text, "simplify-graph layout fold-layout"));
}

static const struct {
    const char *text, *ops;
} graphs[] = {
    /* two convolutions: one transpose in, one out */
    { "def @main(%x: Tensor[(1, 3, 8, 8), float32], %k1: Tensor[(4, 3, 3, 3), float32], %k2: Tensor[(5, 4, 3, 3), "
      "float32]) {\n"
      "  %0 = nn.conv2d(%x, %k1, padding=[1, 1, 1, 1]);\n  %1 = nn.relu(%0);\n  nn.conv2d(%1, %k2)\n}\n",
      "transpose nn.conv2d nn.relu nn.conv2d transpose x" },
    /* one input channel and a global pool: memory is the same either way */
    { "def @main(%x: Tensor[(1, 1, 8, 8), float32], %k1: Tensor[(4, 1, 3, 3), float32], %kb: Tensor[(4), float32], "
      "%k2: Tensor[(9, 4), float32]) {\n"
      "  %0 = nn.conv2d(%x, %k1, padding=[1, 1, 1, 1]);\n  %1 = nn.bias_add(%0, %kb);\n  %2 = nn.conv2d(%1, %k1, "
      "groups=4, channels=4, kernel_size=[3, 3]);\n"
      "  %3 = nn.global_avg_pool2d(%2);\n  %4 = nn.batch_flatten(%3);\n  nn.dense(%4, %k2, units=9)\n}\n",
      "reshape nn.conv2d nn.bias_add nn.conv2d nn.global_avg_pool2d reshape nn.matmul x" },
    /* residual, concatenation, padding, pooling, mean over the image */
    { "def @main(%x: Tensor[(1, 4, 6, 6), float32], %k1: Tensor[(4, 4, 3, 3), float32]) {\n"
      "  %0 = nn.conv2d(%x, %k1, padding=[1, 1, 1, 1]);\n  %1 = add(%0, %x);\n  %2 = nn.pad(%1, 0f, pad_width=[[0, 0], "
      "[1, 0], [1, 1], [0, 2]]);\n"
      "  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);\n  %4 = nn.avg_pool2d(%3, pool_size=[2, 2]);\n  %5 "
      "= (%3, %3);\n"
      "  %6 = concatenate(%5, axis=1);\n  %7 = nn.conv2d(%0, %k1);\n  %8 = mean(%6, axis=[2, 3]);\n  %9 = mean(%7, "
      "axis=[2, 3], keepdims=True);\n"
      "  %10 = sum(%4);\n  %11 = sum(%9);\n  %12 = add(%10, %11);\n  add(%8, %12)\n}\n",
      NULL },
    /* the result is one of the values inside */
    { "def @main(%x: Tensor[(1, 4, 6, 6), float32], %k1: Tensor[(4, 4, 1, 1), float32]) {\n"
      "  %0 = nn.conv2d(%x, %k1);\n  %1 = nn.conv2d(%0, %k1);\n  %2 = (%0, %1);\n  %2\n}\n",
      NULL },
    /* a transpose that the model has cancels */
    { "def @main(%x: Tensor[(1, 6, 6, 4), float32], %k1: Tensor[(4, 4, 1, 1), float32]) {\n"
      "  %0 = transpose(%x, axes=[0, 3, 1, 2]);\n  %1 = nn.conv2d(%0, %k1);\n  %2 = nn.conv2d(%1, %k1);\n  "
      "transpose(%2, axes=[0, 2, 3, 1])\n}\n",
      NULL },
};

static void what_is_left(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(graphs); ++i)
        if (graphs[i].ops != NULL) assert_string_equal(ops_after(f, graphs[i].text), graphs[i].ops);
    assert_null(strstr(ops_after(f, graphs[4].text), "transpose nn.conv2d transpose nn.conv2d"));
}

static void values_stay(void **state)
{
    for (size_t i = 0; i < TG_COUNT(graphs); ++i)
        tg_test_same(*state, graphs[i].text, "simplify-graph layout fold-layout", 1e-6);
}

static void parameters_and_results_keep_their_types(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(graphs); ++i) {
        tg_module *a = tg_test_graph(f, graphs[i].text, ""),
                  *b = tg_test_graph(f, graphs[i].text, "simplify-graph layout");
        const tg_func *x = tg_module_find_z(a, "main"), *y = tg_module_find_z(b, "main");
        assert_int_equal(x->nparams, y->nparams);
        for (uint32_t k = 0; k < x->nparams; ++k) assert_ptr_equal(x->param[k]->type, y->param[k]->type);
        assert_ptr_equal(x->body->type, y->body->type);
    }
}

/* ---- every operator that carries the order along, between two convolutions ---- */

static const struct {
    const char *ops, *shape;
} between[] = {
    { "nn.relu(%0)", "6, 7" },
    { "clip(%0, a_min=-1f, a_max=2f)", "6, 7" },
    { "nn.leaky_relu(%0, alpha=0.5f)", "6, 7" },
    { "nn.bias_add(%0, %kb)", "6, 7" },
    { "nn.prelu(%0, %kb)", "6, 7" },
    { "nn.softmax(%0, axis=1)", "6, 7" },
    { "nn.softmax(%0, axis=-1)", "6, 7" },
    { "nn.softmax(%0, axis=2)", "6, 7" },
    { "add(%0, %kc)", "6, 7" },
    { "multiply(%kw, %0)", "6, 7" },
    { "subtract(%0, %ks)", "6, 7" },
    { "maximum(%0, %kf)", "6, 7" },
    { "add(%0, %0)", "6, 7" },
    { "add(%0, 2f)", "6, 7" },
    { "nn.max_pool2d(%0, pool_size=[2, 2])", "5, 6" },
    { "nn.avg_pool2d(%0, pool_size=[3, 2], padding=[1, 0, 1, 1])", "6, 7" },
    { "nn.adaptive_avg_pool2d(%0, output_size=[3, 3])", "3, 3" },
    { "nn.global_max_pool2d(%0)", "1, 1" },
    { "mean(%0, axis=[1], keepdims=True)", "6, 7" },
    { "max(%0, axis=[2, 3], keepdims=True)", "1, 1" },
    { "sum(%0, axis=[0, 1], exclude=True, keepdims=True)", "1, 1" },
    { "sum(%0, axis=[-1], keepdims=True)", "6, 1" },
    { "nn.pad(%0, 1f, pad_width=[[0, 0], [0, 0], [2, 0], [0, 1]])", "8, 8" },
    { "image.resize2d(%0, size=[9, 4])", "9, 4" },
    { "nn.upsampling(%0, scale_h=2f, scale_w=2f)", "12, 14" },
    { "image.resize2d(%0, size=[9, 4], roi=[0f, 0f, 0f, 0f])", "9, 4" },
    { "transpose(%0, axes=[0, 1, 3, 2])", "7, 6" },
    { "reshape(%0, newshape=[1, 4, 7, 6])", "7, 6" },
    { "nn.conv2d_transpose(%0, %kt, channels=4, kernel_size=[2, 3], strides=[2, 1])", "12, 9" },
    { "strided_slice(%0, begin=[0, 0, 1, 1], end=[1, 4, 5, 6])", "4, 5" },
};

static void operators_between_convolutions(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(between); ++i) {
        bool channels = strstr(between[i].ops, "axis=[1], keepdims") == NULL; /* the mean over channels leaves one */
        const char *text = tg_format(f->cx,
                                     "def @main(%%x: Tensor[(1, 3, 6, 7), float32], %%k1: Tensor[(4, 3, 1, 1), "
                                     "float32], %%k2: Tensor[(2, %d, 1, 1), float32], %%kb: Tensor[(4), float32],\n"
                                     "          %%kc: Tensor[(4, 1, 1), float32], %%kw: Tensor[(7), float32], %%ks: "
                                     "Tensor[(1), float32], %%kf: Tensor[(1, 4, 6, 1), float32],\n"
                                     "          %%kt: Tensor[(4, 4, 2, 3), float32]) {\n"
                                     "  %%0 = nn.conv2d(%%x, %%k1);\n  %%1 = %s;\n  nn.conv2d(%%1, %%k2)\n}\n",
                                     channels ? 4 : 1, between[i].ops);
        tg_test_same(f, text, "simplify-graph layout fold-layout", 1e-5);
    }
}

/* ---- convolutions of other ranks and kinds ---- */

static const char *const convolutions[] = {
    "def @main(%x: Tensor[(2, 3, 9), float32], %k1: Tensor[(4, 3, 3), float32], %k2: Tensor[(2, 4, 3), float32]) {\n"
    "  %0 = nn.conv1d(%x, %k1, padding=[1, 1]);\n  nn.conv1d(%0, %k2)\n}\n",
    "def @main(%x: Tensor[(1, 2, 4, 5, 6), float32], %k1: Tensor[(3, 2, 3, 3, 3), float32], %k2: Tensor[(2, 3, 1, 1, "
    "1), float32]) {\n"
    "  %0 = nn.conv3d(%x, %k1, padding=[1, 1, 1]);\n  nn.conv3d(%0, %k2)\n}\n",
    "def @main(%x: Tensor[(1, 4, 7, 7), float32], %k1: Tensor[(8, 1, 3, 3), float32], %k2: Tensor[(6, 4, 3, 3), "
    "float32]) {\n" /* multiplier, groups */
    "  %0 = nn.conv2d(%x, %k1, groups=4, channels=8, kernel_size=[3, 3]);\n  nn.conv2d(%0, %k2, groups=2, channels=6, "
    "kernel_size=[3, 3], strides=[2, 1])\n}\n",
    "def @main(%x: Tensor[(1, 4, 7, 7), float32], %w: Tensor[(8, 4, 3, 3), float32], %k2: Tensor[(6, 8, 3, 3), "
    "float32]) {\n" /* weights that are not constant */
    "  %0 = nn.conv2d(%x, %w, dilation=[2, 2]);\n  nn.conv2d(%0, %k2)\n}\n",
};

static void convolutions_of_every_kind(void **state)
{
    for (size_t i = 0; i < TG_COUNT(convolutions); ++i)
        tg_test_same(*state, convolutions[i], "simplify-graph layout fold-layout", 1e-5);
}

/* A twin made inside of a branch is not used behind it. */
static void branches_see_only_what_is_visible(void **state)
{
    tg_test_same(*state,
                 "def @main(%x: Tensor[(1, 3, 8, 8), float32], %kp: Tensor[(), bool], %k1: Tensor[(4, 3, 3, 3), "
                 "float32], %k2: Tensor[(4, 3, 3, 3), float32]) {\n"
                 "  %0 = if (%kp) {\n    %1 = nn.conv2d(%x, %k1);\n    nn.relu(%1)\n  } else {\n    %2 = nn.conv2d(%x, "
                 "%k2);\n    %3 = add(%2, 1f);\n    nn.relu(%3)\n  };\n"
                 "  %4 = nn.conv2d(%x, %k1);\n  add(%0, %4)\n}\n",
                 "simplify-graph layout fold-layout", 1e-5);
}

static void a_graph_that_gains_nothing_stays(void **state)
{
    tg_fixture *f = *state;
    assert_string_equal(ops_after(f,
                                  "def @main(%x: Tensor[(1, 4, 8, 8), float32], %k1: Tensor[(4, 1, 3, 3), float32]) {\n"
                                  "  %0 = nn.conv2d(%x, %k1, groups=4, channels=4, kernel_size=[3, 3]);\n  "
                                  "nn.max_pool2d(%0, pool_size=[2, 2])\n}\n"),
                        "nn.conv2d nn.max_pool2d x");
    assert_string_equal(ops_after(f, "def @main(%x: Tensor[(1, 4, 8, 8), float32]) {\n  %0 = nn.relu(%x);\n  "
                                     "nn.max_pool2d(%0, pool_size=[2, 2])\n}\n"),
                        "nn.relu nn.max_pool2d x");
}

static void keep_layout_turns_it_off(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_graph(f, graphs[0].text, "");
    tg_options opt = tg_test_options;
    opt.keep_layout = true;
    assert_true(tg_pass_layout(f->cx, m, &opt));
    assert_string_equal(tg_test_ops(f, m), "nn.conv2d nn.relu nn.conv2d x");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_left),
        TEST(values_stay),
        TEST(parameters_and_results_keep_their_types),
        TEST(operators_between_convolutions),
        TEST(convolutions_of_every_kind),
        TEST(branches_see_only_what_is_visible),
        TEST(a_graph_that_gains_nothing_stays),
        TEST(keep_layout_turns_it_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
