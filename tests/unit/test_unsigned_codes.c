/* test_unsigned_codes.c: which tensors become uint8 where the machine multiplies unsigned bytes, and that values stay. */
#include "relay_model.h"

#define MAIN(params) "#[version = \"0.0.5\"]\ndef @main(" params ") {\n"
#define X "%x: Tensor[(1, 2, 3, 4), int8]"
#define DATA "Tensor[(1, 2, 3, 4), uint8]"

/* What stands in the text after the pass, and what does not. */
static const struct change {
    const char *what, *relay, *has, *has_not;
} changes[] = {
    { "between two operators",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n  %1 = clip(%0, a_min=-100f, a_max=90f);\n"
              "  qnn.requantize(%1, 1f, -7, 0.5f, 2, out_dtype=\"int8\")\n}\n",
      "a_min=28f", DATA ") {" },
    { "padding, pooling and moves take it along",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n"
              "  %1 = nn.pad(%0, -7i8, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);\n  %2 = nn.max_pool2d(%1, pool_size=[2, 2]);\n"
              "  %3 = transpose(%2, axes=[0, 2, 3, 1]);\n  qnn.dequantize(%3, 1f, -7)\n}\n",
      "Tensor[(1, 4, 5, 2), uint8]", "int8] {\n  %1" },
    { "not what is averaged in 32 bits, toward zero",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n  %1 = cast(%0, dtype=\"int32\");\n"
              "  %2 = nn.global_avg_pool2d(%1);\n  cast(%2, dtype=\"int8\")\n}\n",
      "int8", "uint8" },
    { "not what the model gives",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n  clip(%0, a_min=-100f, a_max=90f)\n}\n", "int8",
      "uint8" },
    { "not what is added to what stays",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n"
              "  %1 = qnn.add(%0, %x, 1f, -7, 0.5f, 3, 1f, 0);\n  qnn.requantize(%1, 1f, 0, 0.5f, 2, out_dtype=\"int8\")\n}\n",
      "int8", "uint8" },
    { "not where an operator uses it that has no other form",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.5f, 3, 1f, -7, out_dtype=\"int8\");\n"
              "  %1 = qnn.leaky_relu(%0, 1f, -7, 1f, -7);\n  qnn.requantize(%1, 1f, -7, 0.5f, 2, out_dtype=\"int8\")\n}\n",
      "int8", "uint8" },
    { "not where 32 bits might wrap around",
      MAIN("%x: Tensor[(1, 2, 3, 4), int32]") "  %0 = qnn.requantize(%x, 1f, 3, 1f, -7, out_dtype=\"int8\");\n"
                                              "  qnn.requantize(%0, 1f, -7, 0.5f, 2, out_dtype=\"int8\")\n}\n",
      "int8", "uint8" },
    { "not where floats round differently",
      MAIN(X) "  %0 = qnn.requantize(%x, 0.3f, 3, 1f, -7, compute_dtype=\"float32\", out_dtype=\"int8\");\n"
              "  qnn.requantize(%0, 1f, -7, 0.5f, 2, out_dtype=\"int8\")\n}\n",
      "int8", "uint8" },
};

static void which_tensors_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(changes); ++i) {
        void *own = NULL;
        assert_int_equal(tg_test_setup(&own), 0);
        tg_fixture *f = own;
        assert_int_equal(tirgen_set_option(f->cx, "target", "c -mcpu=x86-64-v4"), TIRGEN_OK);
        tg_test_good(f, tg_test_compile(f, changes[i].relay, "unsigned-codes"));
        const char *text = tg_test_printed(f);
        if (strstr(text, changes[i].has) == NULL || (changes[i].has_not != NULL && strstr(text, changes[i].has_not) != NULL))
            fail_msg("%s:\n%s", changes[i].what, text);
        tg_test_teardown(&own);
    }
}

/* The codes that %x runs through: all of them, as far as they go. */
static size_t run(const char *relay, const char *target, double *out)
{
    double in[24];
    void *own = NULL;
    assert_int_equal(tg_test_setup(&own), 0);
    tg_fixture *f = own;
    for (int i = 0; i < 24; ++i) in[i] = i < 20 ? i * 13 - 128 : i % 2 == 0 ? 127 : -128;
    assert_int_equal(tirgen_set_option(f->cx, "target", target), TIRGEN_OK);
    tg_test_good(f, tg_test_compile(f, relay, NULL));
    size_t n = tg_test_run(f, in, out);
    tg_test_teardown(&own);
    return n;
}

static void values_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(changes); ++i) {
        double as_text[64], changed[64];
        size_t n = run(changes[i].relay, "c", as_text);
        assert_int_equal(run(changes[i].relay, "c -mcpu=x86-64-v4", changed), n);
        for (size_t k = 0; k < n; ++k)
            if (as_text[k] != changed[k]) fail_msg("%s: number %zu is %g instead of %g", changes[i].what, k, changed[k], as_text[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_tensors_change),
        cmocka_unit_test(values_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
