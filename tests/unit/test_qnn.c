/* test_qnn.c: quantised operators: values worked out by hand from their definitions, refusals, and what they become. */
#include "relay_model.h"

#define MAIN(params) "#[version = \"0.0.5\"]\ndef @main(" params ") {\n"

/* ---- values ---- */

static const tg_test_case cases[] = {
    { "quantize rounds halves away from zero and saturates",
      MAIN("%x: Tensor[(6), float32]") "  qnn.quantize(%x, 1f, 0, out_dtype=\"int8\")\n}\n",
      { 0.5, -0.5, 2.5, -2.5, 1000, -1000 },
      6,
      { 1, -1, 3, -3, 127, -128 } },
    { "quantize to uint8",
      MAIN("%x: Tensor[(3), float32]") "  qnn.quantize(%x, 0.5f, 10, out_dtype=\"uint8\")\n}\n",
      { -100, 1, 1000 },
      3,
      { 0, 12, 255 } },
    { "quantize to int16",
      MAIN("%x: Tensor[(2), float32]") "  qnn.quantize(%x, 1f, 0, out_dtype=\"int16\")\n}\n",
      { -1e6, 1e6 },
      2,
      { -32768, 32767 } },
    { "quantize to int32",
      MAIN("%x: Tensor[(2), float32]") "  qnn.quantize(%x, 1f, 0, out_dtype=\"int32\")\n}\n",
      { -1e12, 1e12 },
      2,
      { -2147483648.0, 2147483647 } },
    { "dequantize along a negative axis",
      MAIN("%x: Tensor[(2, 2), int8], %s: Tensor[(2), float32], %z: Tensor[(2), int32]") "  qnn.dequantize(%x, %s, %z, "
                                                                                         "axis=-1)\n}\n",
      { 1, 1, 1, 1, 1, 2, 0, 0 },
      4,
      { 1, 2, 1, 2 } },
    { "dequantize with zero points",
      MAIN("%x: Tensor[(2), uint8]") "  qnn.dequantize(%x, 0.5f, 128)\n}\n",
      { 0, 255 },
      2,
      { -64, 63.5 } },
    { "add with equal scales is a sum",
      MAIN("%a: Tensor[(3), int8], %b: Tensor[(3), int8]") "  qnn.add(%a, %b, 1f, 0, 1f, 0, 1f, 0)\n}\n",
      { 100, 1, -100, 100, 2, -100 },
      3,
      { 127, 3, -128 } },
    { "add takes each operand to the scale of the result",
      MAIN("%a: Tensor[(2), uint8], %b: Tensor[(2), uint8]") "  qnn.add(%a, %b, 0.5f, 10, 0.25f, 20, 1f, 5)\n}\n",
      { 14, 10, 28, 21 },
      2,
      { 9, 5 } },
    { "subtract",
      MAIN("%a: Tensor[(2), int8], %b: Tensor[(2), int8]") "  qnn.subtract(%a, %b, 0.5f, 0, 0.5f, 0, 1f, 3)\n}\n",
      { 8, -100, 2, 100 },
      2,
      { 6, -97 } },
    { "mul",
      MAIN("%a: Tensor[(2), int8], %b: Tensor[(2), int8]") "  qnn.mul(%a, %b, 0.5f, 1, 0.5f, -1, 1f, 2)\n}\n",
      { 5, -7, 3, 7 },
      2,
      { 6, -14 } },
    { "concatenate keeps a part of the right scale and changes the other",
      MAIN("%a: Tensor[(2), int8], %b: Tensor[(2), int8]") "  %0 = (%a, %b);\n  %1 = (1f, 0.5f);\n  %2 = (0, 0);\n  "
                                                           "qnn.concatenate(%0, %1, %2, 1f, 0)\n}\n",
      { 1, 2, 6, -6 },
      4,
      { 1, 2, 3, -3 } },
    { "conv2d pads with the zero point of the data",
      MAIN("%x: Tensor[(1, 1, 1, 2), uint8], %w: Tensor[(1, 1, 1, 3), int8]") "  qnn.conv2d(%x, %w, 10, 0, 1f, 1f, "
                                                                              "padding=[0, 1], channels=1, "
                                                                              "kernel_size=[1, 3], "
                                                                              "out_dtype=\"int32\")\n}\n",
      { 11, 13, 1, 2, 3 },
      2,
      { 11, 7 } },
    { "dense takes both zero points off",
      MAIN("%x: Tensor[(1, 2), uint8], %w: Tensor[(2, 2), uint8]") "  qnn.dense(%x, %w, 1, 2, 1f, 1f, units=2, "
                                                                   "out_dtype=\"int32\")\n}\n",
      { 3, 4, 1, 2, 5, 6 },
      2,
      { -2, 18 } },
    { "avg_pool2d truncates toward zero",
      MAIN(
          "%x: Tensor[(1, 1, 1, 4), int8]") "  qnn.avg_pool2d(%x, 1f, 0, 1f, 0, pool_size=[1, 2], strides=[1, 2])\n}\n",
      { -2, -3, 3, 4 },
      2,
      { -2, 3 } },
    { "leaky_relu",
      MAIN("%x: Tensor[(3), int8]") "  qnn.leaky_relu(%x, 1f, 0, 1f, 0, alpha=0.5f)\n}\n",
      { 8, -8, -3 },
      3,
      { 8, -4, -1 } },
    { "abs by a table",
      MAIN("%x: Tensor[(3), int8]") "  qnn.abs(%x, 1f, 0, 1f, 0)\n}\n",
      { -128, -5, 7 },
      3,
      { 127, 5, 7 } },
    { "log of what has none gives the largest code",
      MAIN("%x: Tensor[(2), int8]") "  qnn.log(%x, 1f, 0, 0.1f, 0)\n}\n",
      { -3, 1 },
      2,
      { 127, 0 } },
    { "sqrt of uint8", MAIN("%x: Tensor[(2), uint8]") "  qnn.sqrt(%x, 1f, 0, 1f, 0)\n}\n", { 225, 2 }, 2, { 15, 1 } },
    { "softmax of equal codes",
      MAIN("%x: Tensor[(1, 4), int8]") "  qnn.softmax(%x, 0.1f, 0, 0.00390625f, -128)\n}\n",
      { 7, 7, 7, 7 },
      4,
      { -66, -66, -66, -66 } },
    { "casts around an average are no memory of their own",
      MAIN("%x: Tensor[(1, 2, 2, 1), int8]") "  %0 = cast(%x, dtype=\"int32\");\n  %1 = nn.avg_pool2d(%0, "
                                             "pool_size=[2, 2], layout=\"NHWC\");\n  cast(%1, dtype=\"int8\")\n}\n",
      { -1, -2, -3, -4 },
      1,
      { -2 } },
};

static void values(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i) tg_test_case_holds(&cases[i]);
}

/* ---- refusals ---- */

static const tg_test_refusal refusals[] = {
    { MAIN("%x: Tensor[(2), float32]") "  qnn.dequantize(%x, 1f, 0)\n}\n", "must be of an integer type" },
    { MAIN("%x: Tensor[(2), float32]") "  qnn.quantize(%x, 1f, 0, out_dtype=\"float32\")\n}\n",
      "no type of quantised values" },
    { MAIN("%x: Tensor[(2), float32], %s: Tensor[(3), float32]") "  qnn.quantize(%x, %s, 0, out_dtype=\"int8\", "
                                                                 "axis=0)\n}\n",
      "expected a scalar or 2 values" },
    { MAIN("%x: Tensor[(2), int8]") "  qnn.requantize(%x, 1f, 0, 2f, 0, rounding=\"DOWN\")\n}\n",
      "\"DOWN\" is not known" },
    { MAIN("%x: Tensor[(2), int8]") "  qnn.requantize(%x, -1f, 0, 2f, 0)\n}\n", "cannot be computed in 64 bits" },
    { MAIN("%x: Tensor[(2), int8], %y: Tensor[(2), uint8]") "  qnn.add(%x, %y, 1f, 0, 1f, 0, 1f, 0)\n}\n",
      "different types" },
    { MAIN("%x: Tensor[(2), int8], %s: float32") "  qnn.tanh(%x, %s, 0, 1f, 0)\n}\n", "must be constants" },
    { MAIN("%x: Tensor[(2), int32]") "  qnn.tanh(%x, 1f, 0, 1f, 0)\n}\n", "expected 8 or 16 bits" },
    { MAIN("%x: Tensor[(1, 2), int8]") "  qnn.softmax(%x, 2f, 0, 1f, 0)\n}\n", "at most 1" },
    { MAIN("%x: Tensor[(1, 2), int8], %w: Tensor[(3, 2), int8]") "  qnn.dense(%x, %w, 0, 0, 1f, 1f, units=3, "
                                                                 "out_dtype=\"float32\")\n}\n",
      "out_dtype must be int32" },
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(refusals); ++i) {
        if (strstr(refusals[i].relay, "softmax") == NULL) {
            tg_test_refused(&refusals[i]);
            continue;
        }
        void *own = NULL; /* where the scale is looked at: in lowering */
        assert_int_equal(tg_test_setup(&own), 0);
        assert_int_not_equal(tg_test_compile(own, refusals[i].relay, NULL), TIRGEN_OK);
        assert_non_null(strstr(tg_text_z(&((tg_fixture *)own)->log), refusals[i].says));
        tg_test_teardown(&own);
    }
}

/* ---- what they become ---- */

static const char *const block =
    MAIN("%x: Tensor[(1, 6, 6, 4), int8]") "  %0 = ones(shape=[3, 3, 4, 8], dtype=\"int8\");\n  %1 = ones(shape=[8], "
                                           "dtype=\"int32\");\n"
                                           "  %2 = qnn.conv2d(%x, %0, -128, 0, 0.1f, 0.1f, padding=[1, 1, 1, 1], "
                                           "channels=8, kernel_size=[3, 3], data_layout=\"NHWC\", "
                                           "kernel_layout=\"HWIO\", out_dtype=\"int32\");\n"
                                           "  %3 = nn.bias_add(%2, %1, axis=3);\n  %4 = qnn.requantize(%3, 0.01f, 0, "
                                           "0.2f, -128, axis=3, out_dtype=\"int8\");\n"
                                           "  clip(%4, a_min=-128f, a_max=127f)\n}\n";

static void a_convolution_and_what_follows_are_one_function_on_bytes(void **state)
{
    tg_fixture *f = *state;
    tg_test_good(f, tg_test_compile(f, block, "fuse-ops"));
    const char *text = tg_test_printed(f);
    assert_non_null(strstr(text, "@fused_nn_dot_conv2d_add_qnn_rescale_clip"));
    assert_null(strstr(text, "nn.bias_add")); /* one sum with what the zero point adds */
    assert_null(strstr(text, "-> Tensor[(1, 6, 6, 8), int32]"));
}

static void byte_products_become_a_call(void **state)
{
    tg_fixture *f = *state;
    tg_test_good(f, tg_test_compile(f, block, "dot-calls"));
    assert_non_null(strstr(tg_test_printed(f), "T.dot_tile("));
}

static void the_printed_call_reads_back(void **state)
{
    tg_fixture *f = *state;
    tg_test_good(f, tg_test_compile(f, block, "dot-calls"));
    const char *text = tg_test_printed(f), *again;
    tg_ctx *other = tg_ctx_new(NULL);
    assert_non_null(other);
    assert_int_equal(tirgen_load_text(other, "t.py", text, strlen(text)), TIRGEN_OK);
    tg_text t = tg_text_new(other);
    tg_print_module(&t, tg_session_of(other)->module);
    again = tg_text_z(&t);
    assert_string_equal(again, text);
    tg_ctx_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(refused),
        cmocka_unit_test_setup_teardown(a_convolution_and_what_follows_are_one_function_on_bytes, tg_test_setup,
                                        tg_test_teardown),
        cmocka_unit_test_setup_teardown(byte_products_become_a_call, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_printed_call_reads_back, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
