/* test_arena.c: blocks, growing arrays, and running out of memory at every point. */
#include "fixture.h"
#include "ir/source.h"
#include "ir/value.h"
#include "ir/vec.h"

static void blocks_are_zeroed_and_aligned_whatever_their_size(void **state)
{
    tg_fixture *f = *state;
    static const size_t size[] = { 0, 1, 15, 16, 17, 1000, 65536, 65537, 3000000, 8, 20000000, 1 };
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < TG_COUNT(size); ++i) {
            unsigned char *p = tg_alloc(f->cx, size[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < size[i]; ++k) {
                if (p[k] != 0) fail_msg("byte %zu of %zu is not zero", k, size[i]);
            }
            memset(p, 0xa5, size[i]);
        }
    }
}

static void blocks_do_not_overlap(void **state)
{
    tg_fixture *f = *state;
    enum { N = 3000 };
    static unsigned char *block[N];
    for (size_t i = 0; i < N; ++i) {
        block[i] = tg_alloc(f->cx, i % 257 + (i % 500 == 0 ? 40000 : 0));
        memset(block[i], (int)(i % 251), i % 257 + (i % 500 == 0 ? 40000 : 0));
    }
    for (size_t i = 0; i < N; ++i) {
        for (size_t k = 0; k < i % 257; ++k) assert_int_equal(block[i][k], i % 251);
    }
}

static void a_large_block_leaves_the_current_chunk_in_use(void **state)
{
    tg_fixture *f = *state;
    char *before = tg_alloc(f->cx, 16);
    tg_alloc(f->cx, 10000000);
    char *after = tg_alloc(f->cx, 16);
    assert_true(after > before && after - before <= 64);
}

static void a_product_that_overflows_is_out_of_memory(void **state)
{
    tg_fixture *f = *state;
    if (TG_UNWIND(f) == 0) {
        tg_alloc_array(f->cx, SIZE_MAX / 2, 4);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_ENOMEM);
    if (TG_UNWIND(f) == 0) {
        tg_temp(f->cx, SIZE_MAX - 3);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_ENOMEM);
    assert_string_equal(tg_text_z(&f->log), "");
}

static void scratch_memory_is_given_back_at_reset(void **state)
{
    tg_fixture *f = *state;
    for (int i = 0; i < 100; ++i) tg_temp(f->cx, 5000);
    assert_true(f->cx->temp.total_bytes >= 500000);
    tg_temp_reset(f->cx);
    assert_int_equal(f->cx->temp.total_bytes, 0);
    int *p = TG_TEMP_ARRAY(f->cx, int, 10);
    for (int i = 0; i < 10; ++i) assert_int_equal(p[i], 0);
}

static void an_array_keeps_its_elements_while_it_grows(void **state)
{
    tg_fixture *f = *state;
    TG_VEC(int) v = { 0 };
    for (int i = 0; i < 10000; ++i) TG_PUSH(f->cx, v, i * 3);
    assert_int_equal(v.n, 10000);
    for (int i = 0; i < 10000; ++i) assert_int_equal(v.at[i], i * 3);
}

/* A little of everything that allocates. */
static void use_all(tg_ctx *cx)
{
    static const char text[] = "first line\nsecond line\n";
    tg_source *s = tg_source_add(cx, "some.relay", text, sizeof(text) - 1);
    tg_error(cx, (tg_span){ s->id, 12, 15 }, "wrong: %s", "this");
    int64_t dim[2] = { 300, 400 };
    const tg_type *t = tg_tensor_type(cx, TG_FLOAT32, 2, dim, 0);
    const tg_tensor *big = tg_tensor_new(cx, t, NULL);
    const tg_value *dict = NULL;
    for (int i = 0; i < 3000; ++i) {
        const tg_name *name = tg_internf(cx, "name%d", i);
        dim[0] = i;
        t = tg_tensor_type(cx, TG_INT8, 2, dim, 1);
        if (i < 20) dict = tg_v_with(cx, dict, name->text, tg_v_tensor(cx, big));
    }
    tg_text out = tg_text_new(cx);
    for (int i = 0; i < 2000; ++i) tg_printf(&out, "%s ", tg_type_text(cx, t));
    tg_temp(cx, 1000000);
}

static void ignore(void *user, const tirgen_diag *d)
{
    (void)user;
    (void)d;
}

static void memory_may_run_out_at_any_point(void **state)
{
    (void)state;
    volatile bool done = false;
    volatile long points = 0;
    while (!done) {
        tg_test_budget budget = { .left = points };
        tg_allocator from = tg_test_allocator(&budget);
        jmp_buf jump;
        tg_ctx *cx = tg_ctx_new(&from);
        if (cx == NULL) {
            assert_int_equal(points, 0);
        } else {
            cx->unwind = &jump;
            cx->diag = ignore;
            if (setjmp(jump) == 0) {
                use_all(cx);
                done = true;
            } else {
                assert_int_equal(cx->failure, TIRGEN_ENOMEM);
            }
            tg_ctx_free(cx);
        }
        assert_int_equal(budget.live, 0);
        ++points;
    }
    assert_true(points > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_zeroed_and_aligned_whatever_their_size, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(blocks_do_not_overlap, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_large_block_leaves_the_current_chunk_in_use, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_product_that_overflows_is_out_of_memory, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(scratch_memory_is_given_back_at_reset, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_array_keeps_its_elements_while_it_grows, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(memory_may_run_out_at_any_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
