/* Placing buffers: never an overlap, never below the bound, the checker catches a bad plan. */
#include "fixture.h"
#include "passes/plan.h"

static uint32_t next(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

static void random_graphs_are_placed_without_overlap(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    static const int64_t sizes[] = { 0, 1, 15, 16, 17, 31, 64, 100, 1000, 4096 };
    uint32_t seed = 7;
    for (int round = 0; round < 2000; ++round) {
        tg_life life[24];
        size_t n = 1 + next(&seed) % TG_COUNT(life);
        for (size_t i = 0; i < n; ++i) {
            uint32_t first = next(&seed) % 20;
            life[i] = (tg_life){ sizes[next(&seed) % TG_COUNT(sizes)], first, first + next(&seed) % 6, -1 };
        }
        int64_t align = (int64_t)1 << (next(&seed) % 7);
        tg_plan plan = tg_plan_place(cx, life, n, align);
        assert_true(tg_plan_check(cx, life, n, align, plan.peak_bytes));
        assert_true(plan.peak_bytes >= plan.bound_bytes);
        tg_temp_reset(cx);
    }
}

static void a_chain_of_equal_tensors_takes_two(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_life life[50];
    for (uint32_t i = 0; i < 50; ++i)
        life[i] = (tg_life){ 1024, i, i + 1, 0 };
    tg_plan plan = tg_plan_place(cx, life, 50, 16);
    assert_int_equal(plan.peak_bytes, 2048);
    assert_int_equal(plan.bound_bytes, 2048);
}

static void a_hole_below_a_placed_tensor_is_used(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_life life[] = { { 96, 0, 1, 0 }, { 32, 1, 3, 0 }, { 64, 2, 4, 0 }, { 32, 4, 5, 0 } };
    tg_plan plan = tg_plan_place(cx, life, TG_COUNT(life), 16);
    assert_int_equal(plan.peak_bytes, 128);
}

static void the_checker_catches_overlap_and_misalignment(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_life life[] = { { 64, 0, 2, 0 }, { 64, 1, 3, 32 } };
    assert_false(tg_plan_check(cx, life, 2, 16, 1024));
    life[1].offset = 72;
    assert_false(tg_plan_check(cx, life, 2, 16, 1024));
    life[1].offset = 64;
    assert_false(tg_plan_check(cx, life, 2, 16, 100));
    assert_true(tg_plan_check(cx, life, 2, 16, 128));
}

static void nothing_to_place_takes_nothing(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    assert_int_equal(tg_plan_place(cx, NULL, 0, 16).peak_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_graphs_are_placed_without_overlap, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_chain_of_equal_tensors_takes_two, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_hole_below_a_placed_tensor_is_used, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_checker_catches_overlap_and_misalignment, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_place_takes_nothing, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
