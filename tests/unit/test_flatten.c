/* test_flatten.c: n-d accesses become 1-d ones that touch the same elements. */
#include "same_values.h"

static const struct {
    const char *text, *has;
} cases[] = {
    /* row-major */
    { "main(A: T.Buffer((3, 4, 5), \"float32\"), B: T.Buffer((5, 4), \"float32\")):\n"
      "        for i, j, k in T.grid(3, 4, 5):\n            B[k, j] = B[k, j] + A[i, j, k]\n",
      "A_1[i * 20 + j * 5 + k]" },
    /* rank 0 */
    { "main(A: T.Buffer((), \"float32\"), B: T.Buffer((2,), \"float32\")):\n        B[1] = A[()]\n", "A_1[0]" },
    /* strides and an offset */
    { "main(A: T.Buffer((24,), \"float32\"), B: T.Buffer((2, 3), \"float32\")):\n"
      "        S = T.decl_buffer((2, 3), \"float32\", data=A.data, strides=(8, 2), elem_offset=1)\n"
      "        for i, j in T.grid(2, 3):\n            B[i, j] = S[i, j]\n",
      "S[1 + i * 8 + j * 2]" },
    /* an allocation */
    { "main(A: T.Buffer((4, 4), \"float32\"), B: T.Buffer((4, 4), \"float32\")):\n"
      "        C = T.decl_buffer((4, 4), \"float32\")\n"
      "        for i, j in T.grid(4, 4):\n            C[i, j] = A[i, j]\n        for i, j in T.grid(4, 4):\n           "
      " B[i, j] = C[j, i]\n",
      "C[j * 4 + i]" },
    /* int64 indices stay int64 */
    { "main(A: T.Buffer((T.int64(3), T.int64(4)), \"float32\"), B: T.Buffer((T.int64(3), T.int64(4)), \"float32\")):\n"
      "        for i, j in T.grid(T.int64(3), T.int64(4)):\n            B[i, j] = A[i, j]\n",
      "B_1[i * T.int64(4) + j]" },
    /* a vector along the last axis stays a vector */
    { "main(A: T.Buffer((3, 8), \"float32\"), B: T.Buffer((3, 8), \"float32\")):\n"
      "        for i in range(3):\n            B[i, 0:8] = A[i, 0:8]\n",
      "i * 8:i * 8 + 8" },
};

static void accesses_touch_the_same_elements(void **state)
{
    tg_fixture *f = *state;
    for (size_t c = 0; c < TG_COUNT(cases); ++c) {
        tg_module *m = tg_test_tir(f, tg_format(f->cx, TIR_FUNC "%s", cases[c].text));
        tg_test_has(f, tg_test_pass(f, m, tg_pass_flatten, "flatten"), cases[c].has);
    }
}

static void flat_functions_stay_as_they_are(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                           "        for i in range(8):\n            B[i] = A[7 - i]\n");
    tg_module *c = tg_test_pass(f, m, tg_pass_flatten, "flatten");
    assert_ptr_equal(c->funcs.at[0], m->funcs.at[0]);
}

/* 3 * 46341 * 46341 elements: offsets pass int32 although every index fits. */
static void offsets_beyond_int32_are_int64(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((3, 46341, 46341), \"int8\"), B: T.Buffer((1,), \"int8\")):\n"
                                "        for i in range(3):\n            B[0] = A[i, 46340, 46340]\n");
    tg_module *c = tg_test_copy(f, m);
    tg_options opt = { 0 };
    assert_true(tg_pass_flatten(f->cx, c, &opt));
    tg_test_has(f, c, "T.Cast(\"int64\", i) * T.int64(2147488281)");
}

/* A view of memory that a let binds is declared where the let is. */
static void a_view_is_declared_inside_of_what_binds_its_memory(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((4, 4), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
                                           "        p: T.handle(\"float32\", \"global\") = T.address_of(B[0])\n"
                                           "        S = T.Buffer((4, 4), data=p)\n"
                                           "        for i, j in T.grid(4, 4):\n            S[i, j] = A[j, i]\n");
    tg_test_lower(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accesses_touch_the_same_elements, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(flat_functions_stay_as_they_are, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(offsets_beyond_int32_are_int64, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_view_is_declared_inside_of_what_binds_its_memory, tg_test_setup,
                                        tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
