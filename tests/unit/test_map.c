/* test_map.c: the hash table and the hash. */
#include "fixture.h"

static void every_key_finds_its_value(void **state)
{
    tg_fixture *f = *state;
    enum { N = 20000 };
    static int value[N];
    tg_map m = { 0 };
    assert_null(tg_map_get(&m, 5));
    for (size_t i = 0; i < N; ++i) tg_map_put(f->cx, &m, i * 0x100000000u, &value[i]);
    assert_int_equal(m.n, N);
    for (size_t i = 0; i < N; ++i) assert_ptr_equal(tg_map_get(&m, i * 0x100000000u), &value[i]);
    assert_null(tg_map_get(&m, 1));
    assert_null(tg_map_get(&m, UINT64_MAX));
}

static void zero_is_a_key_like_others(void **state)
{
    tg_fixture *f = *state;
    int one = 1;
    tg_map m = { 0 };
    tg_map_put(f->cx, &m, 7, &one);
    assert_null(tg_map_get(&m, 0));
    tg_map_put(f->cx, &m, 0, &one);
    assert_ptr_equal(tg_map_get(&m, 0), &one);
}

static void a_second_put_replaces_the_value(void **state)
{
    tg_fixture *f = *state;
    int one = 1, two = 2;
    tg_map m = { 0 };
    tg_map_put(f->cx, &m, TG_KEY(&m), &one);
    tg_map_put(f->cx, &m, TG_KEY(&m), &two);
    assert_int_equal(m.n, 1);
    assert_ptr_equal(tg_map_get(&m, TG_KEY(&m)), &two);
}

static void the_hash_is_the_published_one(void **state)
{
    (void)state;
    assert_true(tg_hash("", 0, 0) == 0xcbf29ce484222325u);
    assert_true(tg_hash("a", 1, 0) == 0xaf63dc4c8601ec8cu);
    assert_true(tg_hash("foobar", 6, 0) == 0x85944171f73967e8u);
    assert_true(tg_hash("foobar", 6, 1) != tg_hash("foobar", 6, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_key_finds_its_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(zero_is_a_key_like_others, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_second_put_replaces_the_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(the_hash_is_the_published_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
