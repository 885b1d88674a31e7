/* test_schedule.c: the rules on kernels of many shapes and for several machines: each scheduled function, and each pass behind it,
 * computes what the plain blocks do; and what the rules are there for has happened. */
#include "graph_ir.h"
#include "same_values.h"
#include "schedule/schedule.h"

static const char *const targets[] = {
    "c", "c -mcpu=cortex-m4", "c -mcpu=cortex-m0", "c -mcpu=x86-64-v3", "c -mcpu=skylake-avx512", "c -mcpu=cortex-a53"
};

/* Blocks of the graph's kernels. */
static tg_module *kernels(tg_fixture *f, const char *text, const char *passes)
{
    tg_module *m = tg_test_graph(f, text, passes);
    if (!tg_pass_fuse_ops(f->cx, m, &tg_test_options) || !tg_pass_lower_ops(f->cx, m, &tg_test_options))
        fail_msg("%s", tg_text_z(&f->log));
    return m;
}

static tg_module *scheduled(tg_fixture *f, const tg_module *m, const char *target)
{
    tg_module *c = tg_test_copy(f, m);
    tg_options opt = { .target = target };
    if (!tg_pass_schedule_funcs(f->cx, c, &opt) || !tg_verify_module(f->cx, c, true))
        fail_msg("%s: %s", target, tg_text_z(&f->log));
    tg_test_same_values(f, m, c, tg_format(f->cx, "schedule for %s", target));
    return c;
}

static void check(tg_fixture *f, const char *text, const char *passes)
{
    tg_module *m = kernels(f, text, passes);
    for (size_t t = 0; t < TG_COUNT(targets); ++t) {
        tg_module *c = scheduled(f, m, targets[t]);
        if (t == 0) tg_test_lower(f, c);
    }
}

/* ---- convolutions ---- */

typedef struct shape {
    int h, w, ci, co, kernel, stride, padding, groups;
} shape;

static const char *conv(tg_fixture *f, const shape *s, bool last, bool epilogue)
{
    int oh = (s->h + 2 * s->padding - s->kernel) / s->stride + 1,
        ow = (s->w + 2 * s->padding - s->kernel) / s->stride + 1;
    const char *data = last ? "1, %d, %d, %d" : "1, %d, %d, %d";
    const char *x = last ? tg_format(f->cx, data, s->h, s->w, s->ci) : tg_format(f->cx, data, s->ci, s->h, s->w);
    const char *y = last ? tg_format(f->cx, data, oh, ow, s->co) : tg_format(f->cx, data, s->co, oh, ow);
    const char *w = last ? tg_format(f->cx, "%d, %d, %d, %d", s->kernel, s->kernel, s->ci / s->groups, s->co)
                         : tg_format(f->cx, "%d, %d, %d, %d", s->co, s->ci / s->groups, s->kernel, s->kernel);
    return tg_format(
        f->cx,
        "def @main(%%x: Tensor[(%s), float32], %%w: Tensor[(%s), float32], %%b: Tensor[(%d), float32], %%r: "
        "Tensor[(%s), float32]) {\n"
        "  %%0 = nn.conv2d(%%x, %%w, strides=[%d, %d], padding=[%d, %d, %d, %d], groups=%d, channels=%d, "
        "kernel_size=[%d, %d]%s);\n"
        "%s}\n",
        x, w, s->co, y, s->stride, s->stride, s->padding, s->padding, s->padding, s->padding, s->groups, s->co,
        s->kernel, s->kernel, last ? ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"" : "",
        epilogue ? tg_format(f->cx, "  %%1 = nn.bias_add(%%0, %%b, axis=%d);\n  %%2 = add(%%1, %%r);\n  nn.relu(%%2)\n",
                             last ? 3 : 1)
                 : "  %0\n");
}

static void convolutions_of_many_shapes(void **state)
{
    tg_fixture *f = *state;
    static const int widths[] = { 1, 2, 3, 5, 7, 8, 11, 14 }, channels[] = { 1, 3, 6, 8, 10, 12, 16, 20, 24, 33 };
    int n = 0;
    for (size_t w = 0; w < TG_COUNT(widths); ++w)
        for (size_t c = 0; c < TG_COUNT(channels); ++c, ++n) {
            shape s = { 2 + n % 3, widths[w], 1 + n % 4, channels[c], n % 2 ? 1 : 2, 1 + (n / 2) % 2, n % 3 == 0, 1 };
            if (s.h + 2 * s.padding < s.kernel || s.w + 2 * s.padding < s.kernel) s.kernel = 1;
            check(f, conv(f, &s, n % 4 != 0, n % 3 != 0), "");
        }
}

static void depthwise_and_grouped_convolutions(void **state)
{
    tg_fixture *f = *state;
    static const shape shapes[] = { { 5, 5, 8, 8, 3, 1, 1, 8 },    { 7, 6, 16, 16, 3, 2, 1, 16 },
                                    { 4, 9, 20, 20, 3, 1, 0, 20 }, { 3, 3, 5, 10, 3, 1, 1, 5 },
                                    { 4, 4, 6, 9, 3, 1, 1, 3 },    { 1, 1, 32, 32, 1, 1, 0, 32 } };
    for (size_t i = 0; i < TG_COUNT(shapes); ++i)
        for (int last = 0; last < 2; ++last) check(f, conv(f, &shapes[i], last, true), "");
}

/* What the rule is for: one nest, accumulators in a small array, nothing of the size of the image between the operators. */
static void a_convolution_and_its_epilogue_share_a_tile(void **state)
{
    tg_fixture *f = *state;
    shape s = { 8, 8, 4, 16, 1, 1, 0, 1 };
    tg_module *m = scheduled(f, kernels(f, conv(f, &s, true, true), ""), "c");
    tg_test_has(f, m, "\"tirgen.schedule\": \"tile ow 8, oc 16; accumulators in registers\"");
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "conv2d = T.decl_buffer((128,))");
    tg_test_has_not(f, flat, "T.decl_buffer((1024,))");
    tg_test_has_not(f, flat, "if ");
    tg_test_has(f, flat, "for oc_i in T.vectorized(8)");
}

/* Of a large image only the rows that some rows of the result need are copied. */
static void padding_is_done_in_bands(void **state)
{
    tg_fixture *f = *state;
    shape s = { 16, 16, 8, 8, 3, 1, 1, 1 };
    tg_module *m = scheduled(f, kernels(f, conv(f, &s, true, true), ""), "c");
    tg_test_has(f, m, "padded for 4 oh at a time");
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "pad = T.decl_buffer((864,))"); /* 6 rows of 18 pixels of 8 channels */
    s = (shape){ 16, 16, 64, 64, 3, 1, 1, 64 };
    flat = tg_test_lower(f, scheduled(f, kernels(f, conv(f, &s, true, true), ""), "c"));
    tg_test_has(
        f, flat,
        "for oh_o, oc_o in T.grid(4, 2):\n            pad = T.decl_buffer((3456,))"); /* 6 rows of a slice of channels */
}

/* Few channels, a wide image: pixels make better lanes, side by side in the accumulators though not in the result. */
static void few_channels_have_lanes_along_the_image(void **state)
{
    tg_fixture *f = *state;
    shape s = { 5, 36, 1, 6, 5, 1, 2, 1 };
    tg_module *m = scheduled(f, kernels(f, conv(f, &s, true, true), ""), "c");
    tg_test_has(f, m, "ow 32; accumulators");
    tg_test_lower(f, m);
}

static void padding_divides_its_loops(void **state)
{
    tg_fixture *f = *state;
    shape s = { 6, 6, 4, 8, 3, 1, 1, 1 };
    tg_module *flat = tg_test_lower(f, scheduled(f, kernels(f, conv(f, &s, true, false), ""), "c"));
    tg_test_has_not(f, flat, "if_then_else");
    tg_test_has_not(f, flat, "T.Select");
}

static void a_microcontroller_gets_scalars(void **state)
{
    tg_fixture *f = *state;
    shape s = { 4, 4, 4, 8, 1, 1, 0, 1 };
    tg_module *flat = tg_test_lower(f, scheduled(f, kernels(f, conv(f, &s, true, true), ""), "c -mcpu=cortex-m4"));
    tg_test_has_not(f, flat, "vectorized");
}

/* ---- products of matrices ---- */

static void products_of_many_shapes(void **state)
{
    tg_fixture *f = *state;
    static const int ms[] = { 1, 2, 5 }, ns[] = { 1, 3, 7, 8, 16, 20, 33 }, ks[] = { 1, 4, 7, 8, 16, 24 };
    for (size_t m = 0; m < TG_COUNT(ms); ++m)
        for (size_t n = 0; n < TG_COUNT(ns); ++n)
            for (size_t k = 0; k < TG_COUNT(ks); ++k) {
                check(
                    f,
                    tg_format(
                        f->cx,
                        "def @main(%%x: Tensor[(%d, %d), float32], %%w: Tensor[(%d, %d), float32], %%b: Tensor[(%d), "
                        "float32]) {\n"
                        "  %%0 = nn.dense(%%x, %%w, units=None);\n  %%1 = nn.bias_add(%%0, %%b);\n  nn.relu(%%1)\n}\n",
                        ms[m], ks[k], ns[n], ks[k], ns[n]),
                    "");
                if (n % 2 == 0)
                    check(f,
                          tg_format(f->cx,
                                    "def @main(%%x: Tensor[(%d, %d), float32], %%kw: Tensor[(%d, %d), float32]) {\n  "
                                    "nn.dense(%%x, %%kw, units=None)\n}\n",
                                    ms[m], ks[k], ns[n], ks[k]),
                          "layout fold-layout");
            }
}

static void dense_rows_have_partial_sums(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = scheduled(f,
                             kernels(f,
                                     "def @main(%x: Tensor[(1, 64), float32], %w: Tensor[(12, 64), float32]) {\n  "
                                     "nn.dense(%x, %w, units=12)\n}\n",
                                     ""),
                             "c");
    tg_test_has(f, m, "8 partial sums along k for 12 outputs at a time");
}

/* ---- pools, reductions, chains of them ---- */

static const char *const others[] = {
    "def @main(%x: Tensor[(1, 9, 9, 5), float32]) {\n  nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, "
    "1, 1, 1], layout=\"NHWC\")\n}\n",
    "def @main(%x: Tensor[(1, 6, 7, 16), float32]) {\n  nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], "
    "layout=\"NHWC\")\n}\n",
    "def @main(%x: Tensor[(1, 5, 9, 9), float32]) {\n  nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, "
    "1, 1, 1])\n}\n",
    "def @main(%x: Tensor[(1, 5, 9, 9), float32]) {\n  nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, "
    "1, 1, 1], ceil_mode=True, count_include_pad=True)\n}\n",
    "def @main(%x: Tensor[(1, 4, 5, 24), float32]) {\n  nn.global_avg_pool2d(%x, layout=\"NHWC\")\n}\n",
    "def @main(%x: Tensor[(1, 24, 4, 5), float32]) {\n  nn.global_avg_pool2d(%x)\n}\n",
    "def @main(%x: Tensor[(3, 5, 7), float32]) {\n  sum(%x, axis=[0, 2])\n}\n",
    "def @main(%x: Tensor[(3, 5, 7), float32]) {\n  mean(%x)\n}\n",
    "def @main(%x: Tensor[(3, 5, 64), float32]) {\n  max(%x, axis=[2], keepdims=True)\n}\n",
    "def @main(%x: Tensor[(1, 10), float32]) {\n  nn.softmax(%x, axis=1)\n}\n",
    "def @main(%x: Tensor[(4, 5, 6), float32]) {\n  nn.softmax(%x, axis=1)\n}\n",
    "def @main(%x: Tensor[(4, 5, 6), float32]) {\n  nn.softmax(%x)\n}\n",
    "def @main(%x: Tensor[(3, 4, 8), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32]) {\n  "
    "nn.layer_norm(%x, %g, %b)\n}\n",
    "def @main(%x: Tensor[(2, 6, 4), float32], %m: Tensor[(2, 6, 1), float32]) {\n  variance(%x, %m, axis=[2], "
    "keepdims=True)\n}\n",
    "def @main(%x: Tensor[(3, 4, 5), float32], %y: Tensor[(3, 6, 5), float32]) {\n  nn.batch_matmul(%x, %y, "
    "transpose_b=True)\n}\n",
    "def @main(%x: Tensor[(3, 4, 16), float32], %y: Tensor[(3, 6, 16), float32]) {\n  nn.batch_matmul(%x, %y, "
    "transpose_b=True)\n}\n",
    "def @main(%x: Tensor[(3, 4, 5), float32], %y: Tensor[(3, 5, 9), float32]) {\n  nn.batch_matmul(%x, %y, "
    "transpose_b=False)\n}\n",
    "def @main(%x: Tensor[(4, 6), int8], %y: Tensor[(9, 6), int8]) {\n  nn.dense(%x, %y, out_dtype=\"int32\", "
    "units=9)\n}\n",
    "def @main(%x: Tensor[(1, 5, 5, 4), int8], %y: Tensor[(3, 3, 4, 32), int8]) {\n  nn.conv2d(%x, %y, padding=[1, 1, "
    "1, 1], channels=32, kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWIO\", out_dtype=\"int32\")\n}\n",
    "def @main(%x: Tensor[(1, 3, 5, 5), float16], %y: Tensor[(4, 3, 3, 3), float16]) {\n  nn.conv2d(%x, %y)\n}\n",
    "def @main(%x: Tensor[(1, 3, 4, 4), float32], %y: Tensor[(3, 4, 3, 3), float32]) {\n  nn.conv2d_transpose(%x, %y, "
    "channels=4, kernel_size=[3, 3], strides=[2, 2])\n}\n",
    "def @main(%x: Tensor[(2, 3, 4), float32], %y: Tensor[(2, 5, 4), float32]) {\n  %0 = (%x, %y, %x);\n  "
    "concatenate(%0, axis=1)\n}\n",
    "def @main(%x: Tensor[(2, 3, 4), float32]) {\n  nn.pad(%x, 1f, pad_width=[[1, 0], [0, 2], [3, 1]])\n}\n",
    "def @main(%x: Tensor[(2, 3, 4), float32]) {\n  %0 = transpose(%x, axes=[2, 0, 1]);\n  %1 = add(%0, 1f);\n  "
    "reshape(%1, newshape=[24])\n}\n",
    "def @main(%x: Tensor[(4, 6), float32], %y: Tensor[(6), float32], %z: Tensor[(4, 1), float32]) {\n  %0 = add(%x, "
    "%y);\n  %1 = multiply(%0, %z);\n  %2 = exp(%1);\n  divide(%2, %y)\n}\n",
    "def @main(%x: Tensor[(4, 6), float32]) {\n  cumsum(%x, axis=1)\n}\n",
    "def @main(%x: Tensor[(4, 6), float32]) {\n  argmax(%x, axis=[1])\n}\n",
    "def @main(%x: Tensor[(0, 6), float32], %y: Tensor[(3, 6), float32]) {\n  nn.dense(%x, %y, units=3)\n}\n",
};

static void everything_else(void **state)
{
    for (size_t i = 0; i < TG_COUNT(others); ++i) check(*state, others[i], "");
}

static void softmax_goes_row_by_row(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        scheduled(f, kernels(f, "def @main(%x: Tensor[(40, 50), float32]) {\n  nn.softmax(%x)\n}\n", ""), "c");
    tg_test_has(f, m, "one row at a time");
    tg_test_has_not(f, tg_test_lower(f, m), "T.decl_buffer((2000,))");
}

static void a_chain_of_elementwise_operators_is_one_loop(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = kernels(f,
                           "def @main(%x: Tensor[(4, 6, 5), float32]) {\n  %0 = add(%x, 1f);\n  %1 = nn.relu(%0);\n  "
                           "multiply(%1, %x)\n}\n",
                           "");
    tg_module *flat = tg_test_lower(f, scheduled(f, m, "c"));
    tg_test_has(f, flat, "in range(120)");
    tg_test_has_not(f, flat, "decl_buffer((120,))\n        for");
}

/* ---- functions from text ---- */

/* Blocks that are not plain keep the loops they came with. */
static const char *const given[] = {
    TIR_FUNC "main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8, 8), \"float32\")):\n"
             "        for io, ii, j in T.grid(2, 4, 8):\n"
             "            with T.block(\"B\"):\n"
             "                vi = T.axis.spatial(8, io * 4 + ii)\n"
             "                vj = T.axis.spatial(8, j)\n"
             "                T.reads(A[vj, vi])\n"
             "                T.writes(B[vi, vj])\n"
             "                B[vi, vj] = A[vj, vi]\n",
    TIR_FUNC "main(A: T.Buffer((9,), \"float32\"), B: T.Buffer((9,), \"float32\")):\n"
             "        for i in range(8):\n"
             "            with T.block(\"scan\"):\n"
             "                v = T.axis.scan(8, i)\n"
             "                T.reads(B[v], A[v])\n"
             "                T.writes(B[v + 1])\n"
             "                B[v + 1] = B[v] + A[v]\n",
    TIR_FUNC "main(A: T.Buffer((4, 4), \"float32\"), B: T.Buffer((4,), \"float32\")):\n" /* in place */
             "        for i, k in T.grid(4, 4):\n"
             "            with T.block(\"B\"):\n"
             "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
             "                T.reads(A[vi, vk])\n"
             "                T.writes(B[vi])\n"
             "                with T.init():\n"
             "                    B[vi] = T.float32(1)\n"
             "                B[vi] = B[vi] * A[vi, vk]\n"
             "        for i, j in T.grid(4, 4):\n"
             "            with T.block(\"A\"):\n"
             "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
             "                T.reads(A[vi, vj], B[vi])\n"
             "                T.writes(A[vi, vj])\n"
             "                A[vi, vj] = A[vi, vj] - B[vi]\n",
    TIR_FUNC "main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
             "        C = T.alloc_buffer((16,))\n"
             "        for i in range(4):\n"
             "            with T.block(\"C\"):\n"
             "                vi = T.axis.spatial(4, i)\n"
             "                T.reads(A[vi * 4:vi * 4 + 4])\n"
             "                T.writes(C[vi * 4:vi * 4 + 4])\n"
             "                for j in range(4):\n"
             "                    C[vi * 4 + j] = A[vi * 4 + 3 - j]\n"
             "        for i in range(16):\n"
             "            with T.block(\"B\"):\n"
             "                vi = T.axis.spatial(16, i)\n"
             "                T.reads(C[vi])\n"
             "                T.writes(B[vi])\n"
             "                B[vi] = C[vi] + T.float32(1)\n",
    TIR_FUNC "main(A: T.Buffer((6, 6), \"float32\"), B: T.Buffer((6,), \"float32\")):\n" /* a diagonal */
             "        C = T.alloc_buffer((6, 6))\n"
             "        for i in range(6):\n"
             "            with T.block(\"zero\"):\n"
             "                v = T.axis.spatial(6, i)\n"
             "                T.reads(A[v, v])\n"
             "                T.writes(C[v, v])\n"
             "                C[v, v] = A[v, v]\n"
             "        for i in range(6):\n"
             "            with T.block(\"B\"):\n"
             "                v = T.axis.spatial(6, i)\n"
             "                T.reads(C[v, v])\n"
             "                T.writes(B[v])\n"
             "                B[v] = C[v, v] * T.float32(2)\n",
};

static void blocks_from_text(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(given); ++i) {
        tg_module *m = tg_test_tir(f, given[i]);
        for (size_t t = 0; t < TG_COUNT(targets); ++t) tg_test_lower(f, scheduled(f, m, targets[t]));
    }
}

static void keep_schedule_turns_it_off(void **state)
{
    tg_fixture *f = *state;
    shape s = { 4, 4, 4, 8, 1, 1, 0, 1 };
    tg_module *m = kernels(f, conv(f, &s, true, true), ""), *c = tg_test_copy(f, m);
    tg_options opt = { .target = "c", .keep_schedule = true };
    assert_true(tg_pass_schedule_funcs(f->cx, c, &opt));
    for (size_t i = 0; i < m->funcs.n; ++i) assert_ptr_equal(m->funcs.at[i], c->funcs.at[i]);
    opt = (tg_options){ .target = "c -no-such-option" };
    assert_false(tg_pass_schedule_funcs(f->cx, c, &opt));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(convolutions_of_many_shapes),
        TEST(depthwise_and_grouped_convolutions),
        TEST(a_convolution_and_its_epilogue_share_a_tile),
        TEST(padding_divides_its_loops),
        TEST(padding_is_done_in_bands),
        TEST(few_channels_have_lanes_along_the_image),
        TEST(a_microcontroller_gets_scalars),
        TEST(products_of_many_shapes),
        TEST(dense_rows_have_partial_sums),
        TEST(everything_else),
        TEST(softmax_goes_row_by_row),
        TEST(a_chain_of_elementwise_operators_is_one_loop),
        TEST(blocks_from_text),
        TEST(keep_schedule_turns_it_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
