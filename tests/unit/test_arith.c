/* Expressions of the lowering rules: integer constants fold, floats are left alone; layouts; flat offsets. */
#include "op_case.h"
#include "ops/build.h"

typedef struct vars { tg_ctx *cx; tg_expr x, y, f; } vars;

static vars make(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    vars v = { cx, tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT32))),
               tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "y"), tg_prim(cx, TG_INT32))),
               tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "f"), tg_prim(cx, TG_FLOAT32))) };
    return v;
}

static tg_expr i32(vars v, int64_t c)
{
    return tg_int(v.cx, TG_INT32, c);
}

static void neutral_constants_vanish(void **state)
{
    vars v = make(state);
    assert_ptr_equal(tg_addi(v.cx, v.x, 0), v.x);
    assert_ptr_equal(tg_muli(v.cx, v.x, 1), v.x);
    assert_true(tg_is_int_const(tg_muli(v.cx, v.x, 0), 0));
    assert_ptr_equal(tg_floordivi(v.cx, v.x, 1), v.x);
    assert_true(tg_is_int_const(tg_floormodi(v.cx, v.x, 1), 0));
    assert_true(tg_is_int_const(tg_sub(v.cx, v.x, v.x), 0));
    assert_int_equal(tg_add(v.cx, v.f, tg_float(v.cx, TG_FLOAT32, 0))->kind, TG_ADD);   /* -0.0 + 0.0 is not -0.0 */
}

static void constants_gather_at_the_end(void **state)
{
    vars v = make(state);
    assert_true(tg_node_equal(v.cx, tg_addi(v.cx, tg_addi(v.cx, v.x, 2), -5), tg_bin(v.cx, TG_SUB, v.x, i32(v, 3))));
    assert_true(tg_node_equal(v.cx, tg_add(v.cx, i32(v, 2), v.x), tg_bin(v.cx, TG_ADD, v.x, i32(v, 2))));
    assert_true(tg_node_equal(v.cx, tg_muli(v.cx, tg_muli(v.cx, v.x, 2), 3), tg_bin(v.cx, TG_MUL, v.x, i32(v, 6))));
    assert_true(tg_node_equal(v.cx, tg_floordivi(v.cx, tg_muli(v.cx, v.x, 6), 2), tg_bin(v.cx, TG_MUL, v.x, i32(v, 3))));
    assert_true(tg_is_int_const(tg_floormodi(v.cx, tg_muli(v.cx, v.x, 6), 3), 0));
    assert_true(tg_is_int_const(tg_floordivi(v.cx, i32(v, -7), 2), -4));
    assert_true(tg_is_int_const(tg_floormodi(v.cx, i32(v, -7), 2), 1));
    assert_true(tg_is_int_const(tg_div(v.cx, i32(v, -7), i32(v, 2)), -3));
    assert_true(tg_is_int_const(tg_addi(v.cx, i32(v, INT32_MAX), 1), INT32_MIN));
    assert_int_equal(tg_floordivi(v.cx, i32(v, 5), 0)->kind, TG_FLOORDIV);              /* left to whoever runs it */
}

static void conditions_fold(void **state)
{
    vars v = make(state);
    tg_expr c = tg_lt(v.cx, v.x, v.y), yes = tg_int(v.cx, TG_BOOL, 1);
    assert_ptr_equal(tg_and(v.cx, NULL, c), c);
    assert_ptr_equal(tg_and(v.cx, yes, c), c);
    assert_ptr_equal(tg_or(v.cx, yes, c), yes);
    assert_true(tg_is_int_const(tg_lt(v.cx, i32(v, 1), i32(v, 2)), 1));
    assert_ptr_equal(tg_guarded(v.cx, NULL, v.x, v.y), v.x);
    assert_ptr_equal(tg_guarded(v.cx, tg_int(v.cx, TG_BOOL, 0), v.x, v.y), v.y);
    assert_true(tg_is_int_const(tg_min(v.cx, tg_int(v.cx, TG_UINT8, 200), tg_int(v.cx, TG_UINT8, 100)), 100));
}

static void limits_follow_the_type(void **state)
{
    tg_fixture *f = *state;
    assert_true(tg_is_int_const(tg_lowest(f->cx, TG_INT8, TG_INT8), -128));
    assert_true(tg_is_int_const(tg_highest(f->cx, TG_UINT8, TG_UINT8), 255));
    assert_true(tg_is_int_const(tg_lowest(f->cx, TG_INT64, TG_INT64), INT64_MIN));
    assert_float_equal(tg_lowest(f->cx, TG_FLOAT32, TG_FLOAT16)->u.f, -65504, 0);
    int64_t r;
    assert_false(tg_mul_fits((int64_t)1 << 40, (int64_t)1 << 40, &r));
    assert_true(tg_mul_fits(0, INT64_MAX, &r));
    assert_false(tg_add_fits(INT64_MAX, 1, &r));
}

static void offsets_flatten_and_come_apart(void **state)
{
    vars v = make(state);
    tg_expr ix[3] = { v.x, i32(v, 0), v.y }, back[3];
    int64_t dim[3] = { 4, 1, 5 };
    tg_expr flat = tg_ravel(v.cx, TG_INT32, 3, ix, dim);
    assert_true(tg_node_equal(v.cx, flat, tg_bin(v.cx, TG_ADD, tg_bin(v.cx, TG_MUL, v.x, i32(v, 5)), v.y)));
    tg_unravel(v.cx, flat, 3, dim, back);
    assert_true(tg_node_equal(v.cx, back[0], tg_bin(v.cx, TG_FLOORDIV, flat, i32(v, 5))));
    assert_true(tg_is_int_const(back[1], 0));
    assert_true(tg_node_equal(v.cx, back[2], tg_bin(v.cx, TG_FLOORMOD, flat, i32(v, 5))));
}

static void layouts_name_and_split_axes(void **state)
{
    vars v = make(state);
    tg_layout l;
    const tg_node *call = tg_rcall(v.cx, tg_intern_z(v.cx, "layout_transform"), NULL, TG_NOWHERE, 0, NULL);
    assert_true(tg_layout_parse(v.cx, call, "OIHW4i2o", &l));
    assert_int_equal(l.n, 6);
    assert_int_equal(tg_layout_find(&l, 'W'), 3);
    assert_int_equal(tg_layout_find(&l, 'C'), -1);
    assert_int_equal(tg_layout_inner(&l, 'I'), 4);
    assert_true(tg_layout_plain(&l, 'H'));
    assert_false(tg_layout_plain(&l, 'O'));
    int64_t dim[6] = { 3, 2, 5, 7, 4, 2 };
    assert_int_equal(tg_layout_extent(&l, dim, 'I'), 8);
    assert_int_equal(tg_layout_extent(&l, dim, 'O'), 6);
    static const char *const wrong[] = { "N4", "4N", "NN", "n", "N0n", "N c" };
    for (size_t i = 0; i < TG_COUNT(wrong); ++i)
        assert_false(tg_layout_parse(v.cx, call, wrong[i], &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(neutral_constants_vanish), OP_TEST(constants_gather_at_the_end), OP_TEST(conditions_fold), OP_TEST(limits_follow_the_type),
        OP_TEST(offsets_flatten_and_come_apart), OP_TEST(layouts_name_and_split_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
