/* test_loops.c: loops of one and of no iteration, unrolling. */
#include "same_values.h"

#define BUFFERS "main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"

static tg_module *after(tg_fixture *f, const char *body)
{
    tg_module *m = tg_test_tir(f, tg_format(f->cx, TIR_FUNC BUFFERS "%s", body));
    return tg_test_pass(f, tg_test_pass(f, m, tg_pass_loops, "loops"), tg_pass_simplify, "simplify");
}

static void a_loop_of_one_iteration_is_its_body(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        after(f, "        for i in range(5, 6):\n            for j in range(1):\n                B[i + j] = A[i]\n");
    tg_test_has(f, m, "B[5] = A[5]");
    tg_test_has_not(f, m, "for ");
}

static void a_loop_of_no_iteration_goes(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for i in range(3, 3):\n            B[i] = A[i]\n        B[0] = A[1]\n");
    tg_test_has_not(f, m, "for ");
    tg_test_has(f, m, "B[0] = A[1]");
}

static void an_unrolled_loop_is_written_out(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        after(f, "        for k in range(3):\n            for i in T.unroll(3):\n                for j in range(2):\n"
                 "                    B[k * 4 + i + j] = B[k * 4 + i + j] * A[i] + A[k]\n");
    tg_test_has_not(f, m, "unroll");
    tg_test_has(f, m, "* A[2] +");
}

/* What one copy binds must not be bound by the next. */
static void copies_bind_variables_of_their_own(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for i in T.unroll(3):\n            C = T.decl_buffer((2,), \"float32\")\n"
                            "            C[0] = A[i]\n            C[1] = A[i + 1]\n            x: T.float32 = C[0] + "
                            "C[1]\n            B[i] = x\n");
    assert_true(tg_verify_module(f->cx, m, true));
}

static void a_long_loop_is_not_unrolled(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for i in T.unroll(100000):\n            B[i % 16] = A[3]\n");
    tg_test_has(f, m, "for i in range(100000)");
    m = after(f, "        for i in T.unroll(64):\n            for j in T.unroll(64):\n                for k in "
                 "T.unroll(64):\n                    B[0] = A[3]\n");
    tg_test_has(f, m, "for i in range(64)");
}

/* The bound of a loop is evaluated once, before the body changes what it was read from. */
static void a_bound_that_is_loaded_is_loaded_once(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(
        f, TIR_FUNC
        "main(N: T.Buffer((4,), \"int32\"), B: T.Buffer((40,), \"int32\")):\n"
        "        N[0] = 5\n        for i in range(N[0], N[0] + 1):\n            N[0] = 7\n            B[i] = i\n");
    tg_test_pass(f, m, tg_pass_loops, "loops");
    m = tg_test_tir(f, TIR_FUNC "main(N: T.Buffer((4,), \"int32\"), B: T.Buffer((40,), \"int32\")):\n"
                                "        N[0] = 5\n        for i in T.serial(N[0], N[0] + 1):\n            N[0] = 7\n  "
                                "          B[i] = N[0]\n");
    tg_test_lower(f, m);
}

/* if inside of a loop, and a choice stored by it. */
static void a_condition_that_stays_the_same_is_tested_once(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(
        f, "        for i in range(4):\n            for j in range(4):\n                if i < 2:\n"
           "                    B[i * 4 + j] = A[j]\n                else:\n                    B[i * 4 + j] = A[i]\n");
    tg_test_has(f, m, "            if i < 2:\n                for j in range(4):");
    m = after(f, "        for i in range(4):\n            for j in range(4):\n"
                 "                B[i * 4 + j] = T.if_then_else(i >= 1, A[i * 4 + j - 4], T.float32(0))\n");
    tg_test_has(f, m, "            if i >= 1:\n                for j in range(4):");
    m = after(f, "        for i in range(4):\n            for j in range(4):\n                if B[0] < T.float32(1):\n"
                 "                    B[i * 4 + j] = A[j] + T.float32(1)\n");
    tg_test_has(f, m, "for i, j in T.grid(4, 4):\n            if B[0] < T.float32(1"); /* the loop may change it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_condition_that_stays_the_same_is_tested_once, tg_test_setup,
                                        tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_loop_of_one_iteration_is_its_body, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_loop_of_no_iteration_goes, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_unrolled_loop_is_written_out, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(copies_bind_variables_of_their_own, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_long_loop_is_not_unrolled, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_bound_that_is_loaded_is_loaded_once, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
