/* test_base_pointers.c: parts of indices that a loop does not change move in front of it. */
#include "same_values.h"

#define BUFFERS "main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"

static tg_module *after(tg_fixture *f, const char *body)
{
    tg_module *m = tg_test_tir(f, tg_format(f->cx, TIR_FUNC BUFFERS "%s", body));
    return tg_test_pass(f, m, tg_pass_base_pointers, "base-pointers");
}

static void accesses_with_the_same_part_share_a_pointer(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(3, 3):\n            for i in range(4):\n"
                            "                B[h * 16 + w * 4 + i] = A[h * 16 + w * 4 + i + 2] * A[h * 16 + w * 4 + i + 7]\n");
    tg_test_has(f, m, "T.address_of(A[h * 16 + w * 4 + 2]");
    tg_test_has(f, m, "A_at_1[i] * A_at_1[i + 5]");
    tg_test_has(f, m, "B_at_1[i] = ");
}

static void a_pointer_before_its_buffer_is_not_made(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(3, 3):\n            for i in range(16):\n"
                            "                if h * 16 + w * 4 + i >= 17:\n"
                            "                    B[h * 16 + w * 4 + i - 17] = A[i]\n");
    tg_test_has_not(f, m, "address_of");
}

static void a_pointer_behind_its_buffer_is_not_made(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(9, 9):\n            for i in range(4):\n"
                            "                if h * 9 + w + i < 64:\n                    B[h * 9 + w + i] = A[i]\n");
    tg_test_has_not(f, m, "address_of");
}

/* What may be the same memory keeps the same name. */
static void a_buffer_that_the_loop_reads_and_writes_stays(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(3, 3):\n            for i in range(4):\n"
                            "                B[h * 16 + w * 4 + i] = B[h * 16 + w * 4 + i + 1] + A[i]\n");
    tg_test_has_not(f, m, "address_of");
}

static void what_the_loop_changes_stays_in_the_index(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(3, 3):\n            for i in range(4):\n"
                            "                k: T.int32 = i // 2\n"
                            "                B[h * 4 + w * 16 + k + i // 3] = A[h * 4 + w * 16 + k]\n");
    tg_test_has(f, m, "B_at_1[k + i // 3] = A_at_1[k]");
}

static void one_term_is_not_worth_a_pointer(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, i in T.grid(4, 4):\n            B[h * 4 + i] = A[h * 4 + i]\n");
    tg_test_has_not(f, m, "address_of");
}

static void a_register_tile_is_not_pointed_into(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = after(f, "        for h, w in T.grid(3, 3):\n            t = T.allocate([64], \"float32\", \"local\")\n"
                            "            tile = T.decl_buffer((64,), data=t, scope=\"local\")\n"
                            "            for i in range(4):\n                tile[h * 16 + w * 4 + i] = A[i]\n"
                            "            B[h * 4 + w] = tile[h * 16 + w * 4]\n");
    tg_test_has_not(f, m, "address_of(tile");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accesses_with_the_same_part_share_a_pointer, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_pointer_before_its_buffer_is_not_made, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_pointer_behind_its_buffer_is_not_made, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_buffer_that_the_loop_reads_and_writes_stays, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_the_loop_changes_stays_in_the_index, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(one_term_is_not_worth_a_pointer, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_register_tile_is_not_pointed_into, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
