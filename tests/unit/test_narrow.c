/* test_narrow.c: int64 loops and indices become int32 where every value fits. */
#include "same_values.h"

#define BUFFERS "main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"

static tg_module *after(tg_fixture *f, const char *body)
{
    tg_module *m = tg_test_tir(f, tg_format(f->cx, TIR_FUNC BUFFERS "%s", body));
    return tg_test_pass(f, m, tg_pass_narrow, "narrow");
}

static void loops_and_indices_that_fit_are_narrow(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for i in range(T.int64(4)):\n            for j in range(T.int64(8)):\n"
                            "                if i * T.int64(8) + j < T.int64(30):\n"
                            "                    B[i * T.int64(8) + j] = A[T.floormod(i, T.int64(3)) * T.int64(8) + j // T.int64(2)] + T.Cast(\"float32\", i)\n");
    tg_test_has_not(f, m, "int64");
    tg_test_has(f, m, "if i * 8 + j < 30:");
}

static void what_may_not_fit_stays_wide(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for i in range(T.int64(8)):\n"
                            "            B[T.floormod(i * T.int64(1000000000000), T.int64(64))] = A[i]\n"
                            "        for j in range(T.int64(3000000000), T.int64(3000000004)):\n            B[j - T.int64(3000000000)] = A[0]\n");
    tg_test_has(f, m, "T.int64(1000000000000)");
    tg_test_has(f, m, "A[i]");
    tg_test_has(f, m, "for j in range(T.int64(3000000000)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_and_indices_that_fit_are_narrow, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_may_not_fit_stays_wide, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
