/* test_value.c: attribute values. */
#include <math.h>

#include "fixture.h"
#include "ir/value.h"

static const tg_value *dict_of(tg_fixture *f, const char *a, int64_t x, const char *b, int64_t y)
{
    const tg_name *key[2] = { tg_intern_z(f->cx, a), tg_intern_z(f->cx, b) };
    const tg_value *item[2] = { tg_v_int(f->cx, x), tg_v_int(f->cx, y) };
    return tg_v_dict(f->cx, 2, key, item);
}

static void the_order_of_keys_does_not_count(void **state)
{
    tg_fixture *f = *state;
    assert_true(tg_value_equal(dict_of(f, "a", 1, "b", 2), dict_of(f, "b", 2, "a", 1)));
    assert_false(tg_value_equal(dict_of(f, "a", 1, "b", 2), dict_of(f, "b", 1, "a", 2)));
    assert_false(tg_value_equal(dict_of(f, "a", 1, "b", 2), dict_of(f, "a", 1, "c", 2)));
    assert_false(tg_value_equal(dict_of(f, "a", 1, "b", 2), tg_v_with(f->cx, NULL, "a", tg_v_int(f->cx, 1))));
}

static void nothing_equals_an_empty_dict_and_only_that(void **state)
{
    tg_fixture *f = *state;
    const tg_value *empty = tg_v_dict(f->cx, 0, NULL, NULL);
    assert_true(tg_value_equal(NULL, NULL));
    assert_true(tg_value_equal(NULL, empty));
    assert_true(tg_value_equal(empty, NULL));
    assert_false(tg_value_equal(NULL, tg_v_none(f->cx)));
    assert_false(tg_value_equal(tg_v_list(f->cx, 0, NULL), NULL));
    assert_false(tg_value_equal(NULL, dict_of(f, "a", 1, "b", 2)));
}

static void values_compare_by_kind_and_content(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    static const int64_t three[] = { 1, 2, 3 }, other[] = { 1, 2, 4 };
    const tg_value *all[] = {
        tg_v_none(cx), tg_v_bool(cx, true), tg_v_bool(cx, false), tg_v_int(cx, 1), tg_v_int(cx, (int64_t)1 << 40), tg_v_float(cx, 1),
        tg_v_float(cx, 0.0), tg_v_float(cx, -0.0), tg_v_strz(cx, "1"), tg_v_strz(cx, ""), tg_v_ints(cx, 3, three),
        tg_v_ints(cx, 3, other), tg_v_ints(cx, 2, three), tg_v_list(cx, 0, NULL), dict_of(f, "a", 1, "b", 2),
        tg_v_tensor(cx, tg_tensor_scalar(cx, TG_FLOAT32, 1)), tg_v_tensor(cx, tg_tensor_scalar(cx, TG_INT32, 1)), tg_v_float(cx, NAN),
    };
    for (size_t i = 0; i < TG_COUNT(all); ++i) {
        for (size_t k = 0; k < TG_COUNT(all); ++k) assert_int_equal(tg_value_equal(all[i], all[k]), i == k);
    }
    assert_true(tg_value_equal(tg_v_ints(cx, 3, three), tg_v_ints(cx, 3, three)));
    assert_true(tg_value_equal(tg_v_float(cx, NAN), tg_v_float(cx, NAN)));
    assert_true(tg_value_equal(tg_v_strz(cx, "x"), tg_v_strz(cx, "x")));
    assert_true(tg_value_equal(all[15], tg_v_tensor(cx, tg_tensor_scalar(cx, TG_FLOAT32, 1))));
    assert_int_equal(all[3]->bits, 32);
    assert_int_equal(all[4]->bits, 64);
    assert_int_equal(all[1]->bits, 1);
}

static void objects_compare_by_name_too(void **state)
{
    tg_fixture *f = *state;
    tg_value a = *dict_of(f, "kind", 1, "keys", 2), b = *dict_of(f, "keys", 2, "kind", 1);
    a.kind = b.kind = TG_V_OBJECT;
    a.s = b.s = tg_intern_z(f->cx, "Target");
    assert_true(tg_value_equal(&a, &b));
    assert_int_equal(tg_v_get_int(&a, "keys", 0), 2);
    b.s = tg_intern_z(f->cx, "Device");
    assert_false(tg_value_equal(&a, &b));
    const tg_value *c = tg_v_with(f->cx, &a, "extra", tg_v_int(f->cx, 3));
    assert_int_equal(c->kind, TG_V_OBJECT);
    assert_ptr_equal(c->s, a.s);
}

static void setting_a_key_copies_and_sorts(void **state)
{
    tg_fixture *f = *state;
    const tg_value *a = dict_of(f, "z", 1, "m", 2);
    const tg_value *b = tg_v_with(f->cx, a, "ma", tg_v_int(f->cx, 3));
    assert_int_equal(a->n, 2);
    assert_int_equal(b->n, 3);
    assert_string_equal(b->key[0]->text, "m");
    assert_string_equal(b->key[1]->text, "ma");
    assert_string_equal(b->key[2]->text, "z");
    const tg_value *c = tg_v_with(f->cx, b, "m", tg_v_strz(f->cx, "new"));
    assert_int_equal(c->n, 3);
    assert_string_equal(tg_v_get_str(c, "m", ""), "new");
    assert_int_equal(tg_v_get_int(b, "m", 0), 2);
}

static void removing_a_key_leaves_the_others(void **state)
{
    tg_fixture *f = *state;
    const tg_value *a = dict_of(f, "z", 1, "m", 2);
    assert_ptr_equal(tg_v_without(f->cx, a, "x"), a);
    const tg_value *b = tg_v_without(f->cx, a, "z");
    assert_int_equal(b->n, 1);
    assert_int_equal(tg_v_get_int(b, "m", 0), 2);
    assert_null(tg_v_without(f->cx, b, "m"));
    assert_null(tg_v_without(f->cx, NULL, "m"));
}

static void missing_keys_and_other_kinds_give_the_default(void **state)
{
    tg_fixture *f = *state;
    const tg_value *a = tg_v_with(f->cx, NULL, "flag", tg_v_bool(f->cx, true));
    assert_int_equal(tg_v_get_int(a, "flag", 7), 1);
    assert_int_equal(tg_v_get_int(a, "fla", 7), 7);
    assert_int_equal(tg_v_get_int(NULL, "flag", 7), 7);
    assert_string_equal(tg_v_get_str(a, "flag", "none"), "none");
    assert_null(tg_v_get_str(a, "x", NULL));
    assert_null(tg_v_get(tg_v_int(f->cx, 1), "flag"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_order_of_keys_does_not_count, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nothing_equals_an_empty_dict_and_only_that, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(values_compare_by_kind_and_content, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(objects_compare_by_name_too, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(setting_a_key_copies_and_sorts, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(removing_a_key_leaves_the_others, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(missing_keys_and_other_kinds_give_the_default, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
