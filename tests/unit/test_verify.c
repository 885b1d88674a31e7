/* The verifier finds what a broken pass or a wrong text would leave behind. */
#include "build_ir.h"
#include "ir/verify.h"

static bool good(tg_fixture *f, const tg_func *fn)
{
    tg_module *m = tg_module_new(f->cx);
    tg_module_add(m, fn);
    tg_test_clear_log(f);
    return tg_verify_module(f->cx, m, true);
}

static void a_sound_function_passes(void **state)
{
    tg_fixture *f = *state;
    assert_true(good(f, tg_test_add(f->cx, "f", 8, 1)));
}

static void a_variable_outside_its_loop_is_found(void **state)
{
    tg_fixture *f = *state;
    tg_func *fn = tg_test_add(f->cx, "f", 8, 1);
    fn->body = fn->body->kid[2];        /* the loop's body without its loop */
    assert_false(good(f, fn));
    assert_non_null(strstr(tg_text_z(&f->log), "variable i is used outside its scope"));
}

static void memory_that_does_not_exist_is_found(void **state)
{
    tg_fixture *f = *state;
    tg_func *fn = tg_test_add(f->cx, "f", 8, 1);
    fn->nparams = 1;
    assert_false(good(f, fn));
    assert_non_null(strstr(tg_text_z(&f->log), "buffer B is used where its memory does not exist"));
}

static void a_wrong_rank_is_found(void **state)
{
    tg_fixture *f = *state;
    tg_func *fn = tg_test_add(f->cx, "f", 8, 1);
    const tg_node *store = fn->body->kid[2];
    const tg_node *kid[3] = { store->kid[0], store->kid[1], store->kid[1] };
    const tg_node *bad = tg_node_new(f->cx, TG_STORE, TG_NOWHERE, NULL, store->u.buf, 3, kid);
    fn->body = tg_node_with(f->cx, fn->body, 3, (const tg_node *[]){ fn->body->kid[0], fn->body->kid[1], bad });
    assert_false(good(f, fn));
    assert_non_null(strstr(tg_text_z(&f->log), "buffer B has 1 dimensions, the access 2 indices"));
}

static void a_pass_that_breaks_a_rule_is_an_internal_error(void **state)
{
    tg_fixture *f = *state;
    tg_func *fn = tg_test_add(f->cx, "f", 8, 1);
    fn->body = fn->body->kid[2];
    tg_module *m = tg_module_new(f->cx);
    tg_module_add(m, fn);
    if (TG_UNWIND(f) == 0) {
        tg_verify_module(f->cx, m, false);
        fail();
    }
    assert_int_equal(f->cx->failure, TIRGEN_EBUG);
}

static void relay_names_must_be_defined_first(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    int64_t dim = 4;
    tg_var *x = tg_var_new(cx, tg_intern_z(cx, "x"), tg_tensor_type(cx, TG_FLOAT32, 1, &dim, 0));
    const tg_node *arg = tg_rvar(cx, x, TG_NOWHERE);
    tg_var *y = tg_var_new(cx, tg_intern_z(cx, "y"), x->type);
    const tg_node *bind = tg_rbind(cx, y, tg_rcall(cx, tg_intern_z(cx, "nn.relu"), NULL, TG_NOWHERE, 1, &arg));
    tg_func fn = { .name = tg_intern_z(cx, "main"), .kind = TG_FUNC_RELAY, .body = tg_rblock(cx, 1, &bind, tg_rvar(cx, y, TG_NOWHERE)) };
    assert_false(good(f, &fn));
    assert_non_null(strstr(tg_text_z(&f->log), "%x is used before its definition"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_function_passes, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_variable_outside_its_loop_is_found, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(memory_that_does_not_exist_is_found, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_wrong_rank_is_found, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_pass_that_breaks_a_rule_is_an_internal_error, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(relay_names_must_be_defined_first, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
