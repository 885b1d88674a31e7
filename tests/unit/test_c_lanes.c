/* test_c_lanes.c: which loops are written with lanes, what they look like then, and that the plain loop stays beside
 * them. What they compute is shown by tests/run, on machines with vectors. */
#include "emitted.h"

#define FUNC(rows)                                                                                                                 \
    "from tvm.script import tir as T\n@T.prim_func\n"                                                                              \
    "def f(A: T.Buffer((" rows ",), \"int32\"), M: T.Buffer((16,), \"int32\"), S: T.Buffer((16,), \"int8\"), C: T.Buffer((" rows       \
    ",), \"int8\")):\n    T.func_attr({\"tir.noalias\": T.bool(True)})\n"
#define HIGH(a, m) "T.Cast(\"int32\", T.shift_right(T.Cast(\"int64\", " a ") * T.Cast(\"int64\", " m "), T.int64(32)))"
#define NARROWED(v) "T.Cast(\"int8\", T.max(T.min(" v ", 127), -128))\n"

static const struct example {
    const char *what, *script, *has;    /* has: NULL when the loop stays plain */
} examples[] = {
    { "a rescaling of sixteen",
      FUNC("16") "    for i in range(16):\n        C[i] = " NARROWED("T.shift_right(" HIGH("A[i]", "M[i]") ", T.Cast(\"int32\", S[i]))"),
      "#ifdef TIRGEN_LANES\n"
      "    for (int32_t i = 0; i < 16; i += TIRGEN_LANES) {\n"
      "        const int32_lanes high = lanes_mul_high(lanes_load_int32(A + i), lanes_load_int32(M + i));\n"
      "        const int32_lanes shifted = lanes_shift_right(high, lanes_load_int8(S + i));\n"
      "        lanes_store_int8(C + i, shifted);\n"
      "    }\n"
      "#else\n"
      "    for (int32_t i = 0; i < 16; ++i) {\n" },
    { "one factor for all, and narrower than the elements allow",
      FUNC("32") "    for i in range(32):\n        C[i] = T.Cast(\"int8\", T.max(T.min(" HIGH("A[i] + 3", "M[2]") ", 100), -100))\n",
      "        const int32_lanes high = lanes_mul_high(sum, lanes_of(M[2]));\n"
      "        const int32_lanes least = lanes_min(high, lanes_of(100));\n"
      "        const int32_lanes most = lanes_max(least, lanes_of(-100));\n" },
    { "two rows of eight",
      FUNC("32") "    for r in range(4):\n        for i in range(8):\n            C[r * 8 + i] = " NARROWED(HIGH("A[r * 8 + i]", "M[i]")),
      "#if defined(TIRGEN_LANES) && TIRGEN_LANES >= 8\n"
      "    for (int32_t r = 0; r < 4; r += TIRGEN_LANES / 8) {\n"
      "        const int32_lanes high = lanes_mul_high(lanes_load_int32(A + r * 8), lanes_repeat_int32(M));\n"
      "        lanes_store_int8(C + r * 8, high);\n" },
    { "not rows that lie apart",
      FUNC("64") "    for r in range(4):\n        for i in range(8):\n            C[r * 16 + i] = " NARROWED(HIGH("A[r * 8 + i]", "M[i]")), NULL },
    { "not an odd number of them",
      FUNC("24") "    for r in range(3):\n        for i in range(8):\n            C[r * 8 + i] = " NARROWED(HIGH("A[r * 8 + i]", "M[i]")), NULL },
    { "not twelve", FUNC("12") "    for i in range(12):\n        C[i] = " NARROWED(HIGH("A[i]", "M[i]")), NULL },
    { "not elements two apart", FUNC("32") "    for i in range(16):\n        C[i] = " NARROWED(HIGH("A[i * 2]", "M[i]")), NULL },
    { "not backwards", FUNC("16") "    for i in range(16):\n        C[15 - i] = " NARROWED(HIGH("A[i]", "M[i]")), NULL },
    { "not what may be cut off", FUNC("16") "    for i in range(16):\n        C[i] = T.Cast(\"int8\", " HIGH("A[i]", "M[i]") ")\n", NULL },
    { "not what compilers make vectors of", FUNC("16") "    for i in range(16):\n        C[i] = " NARROWED("A[i] + M[i]"), NULL },
    { "not with an index of its own value", FUNC("16") "    for i in range(16):\n        C[i] = " NARROWED(HIGH("A[i] + i", "M[i]")), NULL },
};

static void loops_with_and_without_lanes(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(examples); ++i) {
        void *own = NULL;
        assert_int_equal(tg_test_setup(&own), 0);
        const char *c = c_of(own, examples[i].script), *has = examples[i].has;
        if (has != NULL ? strstr(c, has) == NULL : strstr(c, "lanes") != NULL) fail_msg("%s\n%s", examples[i].what, last_body(own, c));
        tg_test_teardown(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(loops_with_and_without_lanes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
