/* Structural equality: what counts and what does not. */
#include "build_ir.h"

static bool equal(tg_ctx *cx, const tg_func *a, const tg_func *b)
{
    const char *why = NULL;
    bool same = tg_func_equal(cx, a, b, &why);
    assert_true(same == (why == NULL));
    assert_true(same == tg_func_equal(cx, b, a, NULL));
    return same;
}

static void functions_built_twice_are_equal_and_hash_alike(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_func *a = tg_test_add(cx, "f", 8, 1), *b = tg_test_add(cx, "g", 8, 1);
    assert_true(equal(cx, a, b));
    assert_true(tg_func_hash(cx, a) == tg_func_hash(cx, b));
}

static void constants_extents_and_signs_of_zero_count(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_func *a = tg_test_add(cx, "f", 8, 0.0);
    assert_false(equal(cx, a, tg_test_add(cx, "f", 8, 2.0)));
    assert_false(equal(cx, a, tg_test_add(cx, "f", 9, 0.0)));
    assert_false(equal(cx, a, tg_test_add(cx, "f", 8, -0.0)));
}

static void names_of_parameters_count_and_names_of_loops_do_not(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_func *a = tg_test_add(cx, "f", 8, 1), *b = tg_test_add(cx, "f", 8, 1);
    tg_var *j = tg_var_new(cx, tg_intern_z(cx, "j"), b->body->u.loop->var->type);
    const tg_node *loop = b->body;
    tg_subst s = { { 0 }, { 0 } };
    tg_subst_var(cx, &s, loop->u.loop->var, tg_var_ref(cx, j));
    b->body = tg_for(cx, TG_FOR_SERIAL, j, loop->kid[0], loop->kid[1], tg_substitute(cx, loop->kid[2], &s));
    assert_true(equal(cx, a, b));
    tg_buffer *renamed = tg_buffer_copy(cx, b->buffer[0]);
    renamed->name = tg_intern_z(cx, "other");
    tg_subst_buf(cx, &s, b->buffer[0], renamed);
    b->body = tg_substitute(cx, b->body, &s);
    const tg_buffer *buffers[2] = { renamed, b->buffer[1] };
    b->buffer = buffers;
    assert_false(equal(cx, a, b));
}

static void exchanged_parameters_are_seen(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_func *a = tg_test_add(cx, "f", 8, 1), *b = tg_test_add(cx, "f", 8, 1);
    const tg_buffer *old[2] = { b->buffer[0], b->buffer[1] };
    tg_subst s = { { 0 }, { 0 } };
    tg_subst_buf(cx, &s, old[0], old[1]);
    tg_subst_buf(cx, &s, old[1], old[0]);
    b->body = tg_substitute(cx, b->body, &s);
    assert_false(equal(cx, a, b));
}

static void modules_differ_by_a_missing_function(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_module *a = tg_module_new(cx), *b = tg_module_new(cx);
    tg_module_add(a, tg_test_add(cx, "f", 8, 1));
    tg_module_add(b, tg_test_add(cx, "g", 8, 1));
    const char *why = NULL;
    assert_false(tg_module_equal(cx, a, b, &why));
    assert_string_equal(why, "f is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(functions_built_twice_are_equal_and_hash_alike, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(constants_extents_and_signs_of_zero_count, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(names_of_parameters_count_and_names_of_loops_do_not, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(exchanged_parameters_are_seen, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(modules_differ_by_a_missing_function, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
