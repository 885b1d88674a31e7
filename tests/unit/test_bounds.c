/* test_bounds.c: ranges hold every value, linear forms equal what they stand for, decisions are right. */
#include "same_values.h"
#include "passes/bounds.h"

static const tg_var *variable(tg_ctx *cx, const char *name)
{
    return tg_var_new(cx, tg_intern_z(cx, name), tg_prim(cx, TG_INT32));
}

static const tg_node *num(tg_ctx *cx, int64_t v)
{
    return tg_int(cx, TG_INT32, v);
}

static int64_t apply(enum tg_kind k, int64_t a, int64_t b)
{
    int64_t q = b != 0 ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
    switch (k) {
    case TG_ADD: return a + b;
    case TG_SUB: return a - b;
    case TG_MUL: return a * b;
    case TG_DIV: return a / b;
    case TG_MOD: return a % b;
    case TG_FLOORDIV: return q;
    case TG_FLOORMOD: return a - q * b;
    case TG_MIN: return a < b ? a : b;
    case TG_MAX: return a > b ? a : b;
    case TG_EQ: return a == b;
    case TG_NE: return a != b;
    case TG_LT: return a < b;
    case TG_LE: return a <= b;
    case TG_GT: return a > b;
    default: return a >= b;
    }
}

/* Every operator on every pair of small intervals: no value outside, and the comparison decided when it can be. */
static void a_range_holds_every_value(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    const tg_var *x = variable(cx, "x"), *y = variable(cx, "y");
    for (int64_t alo = -5; alo <= 5; ++alo)
        for (int64_t ahi = alo; ahi <= 6; ahi += 2)
            for (int64_t blo = -3; blo <= 4; ++blo)
                for (int64_t bhi = blo; bhi <= 5; bhi += 3)
                    for (enum tg_kind k = TG_ADD; k <= TG_GE; ++k) {
                        bool divides = k >= TG_DIV && k <= TG_FLOORMOD;
                        if (divides && (blo != bhi || blo == 0)) continue;
                        tg_ranges r = { { 0 }, { 0 } };
                        tg_range_set(cx, &r, x, (tg_range){ alo, ahi });
                        tg_range_set(cx, &r, y, (tg_range){ blo, bhi });
                        tg_range all = tg_range_of(
                            cx, &r, tg_bin(cx, k, tg_var_ref(cx, x), divides ? num(cx, blo) : tg_var_ref(cx, y)));
                        int64_t low = INT64_MAX, high = INT64_MIN;
                        for (int64_t a = alo; a <= ahi; ++a)
                            for (int64_t b = blo; b <= bhi; ++b) {
                                int64_t v = apply(k, a, b);
                                assert_true(tg_range_has(all, v));
                                low = v < low ? v : low;
                                high = v > high ? v : high;
                            }
                        if (k >= TG_LT) /* order of intervals is decided exactly */
                            assert_true(all.lo == low && all.hi == high);
                    }
}

static void a_wrapped_value_may_be_anywhere(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    tg_ranges r = { { 0 }, { 0 } };
    const tg_var *x = tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT8)),
                 *u = tg_var_new(cx, tg_intern_z(cx, "u"), tg_prim(cx, tg_dtype(kDLUInt, 64, 1)));
    tg_range_set(cx, &r, x, (tg_range){ 100, 120 });
    tg_range sum = tg_range_of(cx, &r, tg_bin(cx, TG_ADD, tg_var_ref(cx, x), tg_int(cx, TG_INT8, 10)));
    assert_true(sum.lo == -128 && sum.hi == 127);
    tg_range all = tg_range_of(cx, &r, tg_var_ref(cx, u));
    assert_true(all.lo == INT64_MIN && all.hi == INT64_MAX);
    assert_int_equal(
        tg_bounds_decide(cx, &r, tg_bin(cx, TG_GE, tg_var_ref(cx, u), tg_int(cx, tg_dtype(kDLUInt, 64, 1), 0))), -1);
}

static void equal_terms_cancel_in_a_comparison(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    tg_ranges r = { { 0 }, { 0 } };
    const tg_var *n = variable(cx, "n"), *j = variable(cx, "j");
    tg_range_set(cx, &r, n, (tg_range){ 0, 1000 });
    tg_range_set(cx, &r, j, (tg_range){ 0, 3 });
    const tg_node *four = tg_bin(cx, TG_MUL, tg_var_ref(cx, n), num(cx, 4));
    const tg_node *here = tg_bin(cx, TG_ADD, four, tg_var_ref(cx, j)), *next = tg_bin(cx, TG_ADD, four, num(cx, 4));
    assert_int_equal(tg_bounds_decide(cx, &r, tg_bin(cx, TG_LT, here, next)), 1);
    assert_int_equal(tg_bounds_decide(cx, &r, tg_bin(cx, TG_GE, here, next)), 0);
    assert_int_equal(tg_bounds_decide(cx, &r, tg_bin(cx, TG_EQ, here, four)), -1);
    assert_int_equal(tg_bounds_decide(cx, &r, tg_bin(cx, TG_NE, here, next)), 1);
}

static void loops_blocks_and_lets_have_ranges(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((64,), \"int32\")):\n        for i in range(3, 7):\n      "
                                           "      y: T.int32 = i * 2\n            A[y] = i\n");
    tg_ranges r = { { 0 }, { 0 } };
    const tg_node *loop = tg_module_find_z(m, "main")->body;
    while (loop->kind == TG_BLOCK) loop = tg_block_body(loop);
    tg_bounds_collect(f->cx, &r, loop);
    assert_int_equal(loop->kind, TG_FOR);
    tg_range i = tg_range_of(f->cx, &r, tg_var_ref(f->cx, loop->u.loop->var)),
             y = tg_range_of(f->cx, &r, tg_var_ref(f->cx, loop->kid[2]->u.var));
    assert_true(i.lo == 3 && i.hi == 6 && y.lo == 6 && y.hi == 12);
}

/* ---- linear forms ---- */

static const tg_node *random_sum(tg_ctx *cx, const tg_var *const *v, uint32_t *seed, unsigned depth)
{
    uint32_t k = tg_test_random(seed) % (depth == 0 ? 2 : 5);
    if (k == 0) return tg_var_ref(cx, v[tg_test_random(seed) % 3]);
    if (k == 1) return num(cx, (int)(tg_test_random(seed) % 21) - 10);
    const tg_node *a = random_sum(cx, v, seed, depth - 1);
    if (k == 2) return tg_bin(cx, TG_MUL, a, num(cx, (int)(tg_test_random(seed) % 7) - 3));
    return tg_bin(cx, k == 3 ? TG_ADD : TG_SUB, a, random_sum(cx, v, seed, depth - 1));
}

static int64_t sum_at(const tg_node *n, const tg_var *const *v, const int64_t *at)
{
    if (n->kind == TG_INT) return n->u.i;
    if (n->kind == TG_VAR) return n->u.var == v[0] ? at[0] : n->u.var == v[1] ? at[1] : at[2];
    return apply((enum tg_kind)n->kind, sum_at(n->kid[0], v, at), sum_at(n->kid[1], v, at));
}

static void a_linear_form_equals_its_expression(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    const tg_var *v[3] = { variable(cx, "a"), variable(cx, "b"), variable(cx, "c") };
    static const int64_t points[4][3] = { { 0, 0, 0 }, { 1, -2, 3 }, { -7, 5, 11 }, { 100, 13, -1 } };
    uint32_t seed = 3;
    for (int round = 0; round < 5000; ++round) {
        tg_linear l;
        const tg_node *e = random_sum(cx, v, &seed, 5);
        assert_true(tg_linear_of(cx, e, &l));
        const tg_node *again = tg_linear_node(cx, &l);
        for (size_t p = 0; p < 4; ++p) {
            int64_t want = sum_at(e, v, points[p]), sum = l.c0;
            for (uint32_t i = 0; i < l.n; ++i) sum += l.c[i] * sum_at(l.x[i], v, points[p]);
            assert_int_equal(sum, want);
            assert_int_equal(sum_at(again, v, points[p]), want);
        }
        tg_linear twice; /* written once, it is written the same again */
        assert_true(tg_linear_of(cx, again, &twice));
        assert_true(tg_node_equal(cx, again, tg_linear_node(cx, &twice)));
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    tg_linear l;
    tg_ranges r = { { 0 }, { 0 } };
    const tg_var *x = variable(cx, "x");
    const tg_node *sum = tg_var_ref(cx, x);
    assert_false(tg_linear_of(cx, tg_float(cx, TG_FLOAT32, 1), &l));
    assert_false(tg_linear_of(cx, tg_int(cx, TG_INT8, 1), &l));
    for (int i = 0; i < 100; ++i) sum = tg_bin(cx, TG_ADD, sum, tg_var_ref(cx, variable(cx, "y")));
    assert_false(tg_linear_of(cx, sum, &l));
    assert_true(tg_linear_of(cx, tg_bin(cx, TG_MUL, tg_var_ref(cx, x), num(cx, 2)), &l));
    assert_false(tg_linear_fits(cx, &r, &l)); /* x may be anything: 2x may overflow */
    tg_range_set(cx, &r, x, (tg_range){ 0, INT32_MAX / 2 - 1 });
    assert_true(tg_linear_fits(cx, &r, &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_range_holds_every_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_wrapped_value_may_be_anywhere, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(equal_terms_cancel_in_a_comparison, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(loops_blocks_and_lets_have_ranges, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_linear_form_equals_its_expression, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
