/* Builders of nodes: what they fold, what they keep, what they refuse. */
#include "build_ir.h"

static void integers_wrap_to_their_dtype(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    assert_int_equal(tg_int(cx, TG_INT8, 200)->u.i, -56);
    assert_int_equal(tg_int(cx, TG_UINT8, -1)->u.i, 255);
    assert_int_equal(tg_int(cx, TG_BOOL, 7)->u.i, 1);
}

static void floats_round_to_their_dtype(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    assert_true(tg_float(cx, TG_FLOAT32, 0.1)->u.f == (double)0.1f);
    assert_true(tg_float(cx, TG_FLOAT16, 65536.0)->u.f > 1e30);
}

static void a_scalar_beside_a_vector_is_broadcast(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_node *ramp[2] = { tg_int(cx, TG_INT32, 0), tg_int(cx, TG_INT32, 1) };
    const tg_node *v = tg_node_new(cx, TG_RAMP, TG_NOWHERE, tg_prim(cx, tg_dtype(kDLInt, 32, 4)), NULL, 2, ramp);
    const tg_node *sum = tg_bin(cx, TG_ADD, v, tg_int(cx, TG_INT32, 3));
    assert_int_equal(sum->kid[1]->kind, TG_BROADCAST);
    assert_int_equal(sum->type->dtype.lanes, 4);
}

static void nested_sequences_flatten(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_node *s = tg_evaluate(cx, tg_int(cx, TG_INT32, 0));
    const tg_node *inner = tg_seq(cx, 2, (const tg_node *[]){ s, s });
    const tg_node *outer = tg_seq(cx, 3, (const tg_node *[]){ s, inner, tg_nop(cx) });
    assert_int_equal(outer->nkids, 3);
    assert_ptr_equal(tg_seq(cx, 2, (const tg_node *[]){ tg_nop(cx), s }), s);
}

static void operands_of_two_types_are_a_bug(void **state)
{
    tg_fixture *f = *state;
    const tg_node *a = tg_int(f->cx, TG_INT32, 1), *b = tg_int(f->cx, TG_INT64, 1);
    if (TG_UNWIND(f) == 0) {
        tg_bin(f->cx, TG_ADD, a, b);
        fail();
    }
    assert_int_equal(f->cx->failure, TIRGEN_EBUG);
}

static void equal_operands_give_the_same_node(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    const tg_node *a = tg_int(cx, TG_INT32, 1), *sum = tg_bin(cx, TG_ADD, a, a);
    assert_ptr_equal(tg_node_with(cx, sum, 2, (const tg_node *[]){ a, a }), sum);
    assert_ptr_not_equal(tg_node_with(cx, sum, 2, (const tg_node *[]){ a, tg_int(cx, TG_INT32, 2) }), sum);
}

static void every_intrinsic_is_found_by_name(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    static const char *const name[] = {
#define TG_INTRIN(n, nargs, result, effect) #n,
#include "ir/intrins.def"
#undef TG_INTRIN
    };
    for (size_t i = 0; i < TG_COUNT(name); ++i) {
        const tg_intrin *row = tg_intrin_find(cx, tg_intern_z(cx, name[i]));
        assert_non_null(row);
        assert_int_equal(row->id, i);
    }
    assert_null(tg_intrin_find(cx, tg_intern_z(cx, "no_such")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_wrap_to_their_dtype, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(floats_round_to_their_dtype, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_scalar_beside_a_vector_is_broadcast, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nested_sequences_flatten, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(operands_of_two_types_are_a_bug, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(equal_operands_give_the_same_node, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(every_intrinsic_is_found_by_name, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
