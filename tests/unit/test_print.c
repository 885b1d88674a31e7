/* test_print.c: what messages show of a node; values of attributes in both dialects. */
#include "script_ir.h"

static void a_node_shows_as_one_short_line(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *store = put(&k, k.a, 0, f32(&k, 1)), *sum = at(&k, k.a, 0);
    for (int i = 0; i < 100; ++i)
        sum = tg_bin(cx, TG_ADD, sum, at(&k, k.b, 1));
    assert_string_equal(tg_node_text(cx, tg_bin(cx, TG_MUL, at(&k, k.a, 1), f32(&k, 2))), "A[1] * T.float32(2)");
    assert_string_equal(tg_node_text(cx, store), "A[0] = T.float32(1)");
    assert_string_equal(tg_node_text(cx, loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 8), NULL, store)),
                        "for i in range(8)");
    assert_string_equal(tg_node_text(cx, tg_if(cx, tg_bin(cx, TG_LT, scalar(&k), i32(&k, 3)), store, NULL)),
                        "if s < 3");
    assert_true(strlen(tg_node_text(cx, sum)) < 130);
    assert_string_equal(tg_node_text(cx, tg_rcall(cx, tg_intern_z(cx, "nn.relu"), NULL, TG_NOWHERE, 0, NULL)),
                        "nn.relu");
}

static void values_print_in_both_dialects(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_value *v =
        tg_v_with(cx, NULL, "k",
                  tg_v_list(cx, 3, (const tg_value *[]){ tg_v_int(cx, 1), tg_v_bool(cx, true), tg_v_strz(cx, "s") }));
    tg_text script = tg_text_new(cx), relay = tg_text_new(cx);
    tg_print_value(&script, v, true);
    tg_print_value(&relay, v, false);
    assert_string_equal(tg_text_z(&script), "{\"k\": [1, T.bool(True), \"s\"]}");
    assert_string_equal(tg_text_z(&relay), "{k=[1, True, \"s\"]}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_node_shows_as_one_short_line),
        TEST(values_print_in_both_dialects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
