/* test_names.c: interned strings. */
#include "fixture.h"
#include "ir/names.h"

static void equal_bytes_are_one_pointer(void **state)
{
    tg_fixture *f = *state;
    const tg_name *a = tg_intern(f->cx, "conv2d_weight", 6);
    assert_ptr_equal(a, tg_intern_z(f->cx, "conv2d"));
    assert_ptr_equal(a, tg_internf(f->cx, "conv%dd", 2));
    assert_string_equal(a->text, "conv2d");
    assert_int_equal(a->len, 6);
    assert_ptr_not_equal(a, tg_intern_z(f->cx, "conv2D"));
    assert_ptr_equal(tg_intern(f->cx, "", 0), tg_intern_z(f->cx, ""));
}

static void a_name_may_hold_any_byte(void **state)
{
    tg_fixture *f = *state;
    const tg_name *a = tg_intern(f->cx, "a\0b", 3), *b = tg_intern(f->cx, "a\0c", 3), *c = tg_intern(f->cx, "a", 1);
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_memory_equal(a->text, "a\0b", 4);
}

static void ids_are_dense_and_in_order(void **state)
{
    tg_fixture *f = *state;
    for (int i = 0; i < 5000; ++i) assert_int_equal(tg_internf(f->cx, "v%d", i)->id, i);
    for (int i = 0; i < 5000; ++i) assert_int_equal(tg_internf(f->cx, "v%d", i)->id, i);
    assert_int_equal(f->cx->nnames, 5000);
}

static void formatted_names_may_be_long(void **state)
{
    tg_fixture *f = *state;
    char text[3000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    const tg_name *n = tg_internf(f->cx, "%s_%d", text, 7);
    assert_int_equal(n->len, 3001);
    assert_memory_equal(n->text, text, 2999);
    assert_string_equal(n->text + 2999, "_7");
}

static void a_name_compares_with_a_whole_string(void **state)
{
    tg_fixture *f = *state;
    const tg_name *n = tg_intern_z(f->cx, "nn.relu");
    assert_true(tg_name_is(n, "nn.relu"));
    assert_false(tg_name_is(n, "nn.rel"));
    assert_false(tg_name_is(n, "nn.relu6"));
    assert_false(tg_name_is(n, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_bytes_are_one_pointer, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_name_may_hold_any_byte, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(ids_are_dense_and_in_order, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(formatted_names_may_be_long, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_name_compares_with_a_whole_string, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
