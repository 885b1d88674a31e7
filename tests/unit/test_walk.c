/* Visiting, rewriting, substituting: no recursion, shared nodes once, bound names stay apart. */
#include "build_ir.h"

static const tg_node *negate_ints(tg_ctx *cx, const tg_node *n, void *user)
{
    ++*(unsigned *)user;
    return n->kind == TG_INT ? tg_int(cx, n->type->dtype, -n->u.i) : n;
}

static void a_chain_of_a_hundred_thousand_nodes_is_rewritten(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_node *n = tg_int(cx, TG_INT32, 1), *one = n;
    for (int i = 0; i < 100000; ++i)
        n = tg_bin(cx, TG_ADD, n, one);
    unsigned calls = 0;
    const tg_node *now = tg_rewrite_node(cx, n, negate_ints, &calls);
    assert_int_equal(now->kid[1]->u.i, -1);
    assert_true(calls >= 200000);
}

static void a_shared_node_is_rewritten_once(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_node *n = tg_bin(cx, TG_ADD, tg_int(cx, TG_INT32, 1), tg_int(cx, TG_INT32, 2));
    for (int i = 0; i < 60; ++i)        /* as a tree this has 2^60 leaves */
        n = tg_bin(cx, TG_ADD, n, n);
    unsigned calls = 0;
    const tg_node *now = tg_rewrite_node(cx, n, negate_ints, &calls);
    assert_ptr_equal(now->kid[0], now->kid[1]);
    assert_true(calls < 100);
}

static const tg_node *keep(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    (void)user;
    return n;
}

static void nothing_changed_means_the_same_node(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_func *f = tg_test_add(cx, "f", 8, 1);
    assert_ptr_equal(tg_rewrite_node(cx, f->body, keep, NULL), f->body);
}

static void substitution_reaches_buffers_through_their_pointer(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_func *f = tg_test_add(cx, "f", 8, 1);
    tg_var *p = tg_var_new(cx, tg_intern_z(cx, "p"), f->param[0]->type);
    tg_subst s = { { 0 }, { 0 } };
    tg_subst_var(cx, &s, f->param[0], tg_var_ref(cx, p));
    const tg_node *body = tg_substitute(cx, f->body, &s);
    const tg_node *store = body->kid[2];
    assert_ptr_equal(store->kid[0]->kid[0]->u.buf->data, p);
    assert_ptr_equal(store->u.buf->data, f->param[1]);
}

static void a_fresh_copy_shares_no_bound_variable(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_func *f = tg_test_add(cx, "f", 8, 1);
    const tg_node *copy = tg_freshen(cx, f->body);
    assert_ptr_not_equal(copy->u.loop->var, f->body->u.loop->var);
    assert_false(tg_uses_var(cx, copy, f->body->u.loop->var));
    assert_true(tg_uses_var(cx, copy, copy->u.loop->var));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_of_a_hundred_thousand_nodes_is_rewritten, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_shared_node_is_rewritten_once, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nothing_changed_means_the_same_node, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(substitution_reaches_buffers_through_their_pointer, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_fresh_copy_shares_no_bound_variable, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
