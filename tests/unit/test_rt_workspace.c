/* test_rt_workspace.c: the stack of blocks never gives out what it has not got, and sees a wrong free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <tirgen_rt/memory.h>
#include <tirgen_rt/model.h>
#include <tirgen_rt/packed.h>
#include <tirgen_rt/platform.h>

static unsigned char memory[1024 + 15];
static tirgen_rt_stack platform_stack;

tirgen_rt_stack *tirgen_rt_platform_stack(int32_t device_type, int32_t device_id)
{
    return device_type == 1 && device_id == 0 ? &platform_stack : NULL;
}

static void blocks_are_aligned_wherever_the_memory_begins(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 16; ++shift) {
        tirgen_rt_stack s;
        void *a = NULL, *b = NULL;
        assert_int_equal(tirgen_rt_stack_init(&s, memory + shift, 200), TIRGEN_RT_OK);
        assert_int_equal(tirgen_rt_stack_alloc(&s, 1, &a), TIRGEN_RT_OK);
        assert_int_equal(tirgen_rt_stack_alloc(&s, 33, &b), TIRGEN_RT_OK);
        assert_int_equal((uintptr_t)a % TIRGEN_RT_ALIGN, 0);
        assert_int_equal((uintptr_t)b % TIRGEN_RT_ALIGN, 0);
        assert_true((unsigned char *)b >= (unsigned char *)a + 1);
        assert_true((unsigned char *)b + 33 <= memory + shift + 200);
    }
}

static void one_byte_too_little_is_no_memory_and_changes_nothing(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    void *p = &s;
    tirgen_rt_stack_init(&s, (unsigned char *)((uintptr_t)(memory + 15) & ~(uintptr_t)15), TIRGEN_RT_STACK_BYTES(100) - 1);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 100, &p), TIRGEN_RT_NO_MEMORY);
    assert_ptr_equal(p, &s);
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(tirgen_rt_stack_alloc(&s, SIZE_MAX, &p), TIRGEN_RT_NO_MEMORY);
    assert_int_equal(tirgen_rt_stack_alloc(&s, SIZE_MAX - 20, &p), TIRGEN_RT_NO_MEMORY);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 80, &p), TIRGEN_RT_OK);
}

static void a_block_of_no_bytes_is_a_block(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    void *a = NULL, *b = NULL;
    tirgen_rt_stack_init(&s, memory, sizeof memory);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 0, &a), TIRGEN_RT_OK);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 0, &b), TIRGEN_RT_OK);
    assert_ptr_not_equal(a, b);
    assert_int_equal(tirgen_rt_stack_free(&s, b), TIRGEN_RT_OK);
    assert_int_equal(tirgen_rt_stack_free(&s, a), TIRGEN_RT_OK);
    assert_int_equal(s.used_bytes, 0);
}

static void only_the_newest_block_can_be_freed_and_only_once(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    void *a = NULL, *b = NULL;
    tirgen_rt_stack_init(&s, memory, sizeof memory);
    assert_int_equal(tirgen_rt_stack_free(&s, memory), TIRGEN_RT_BAD_FREE);
    tirgen_rt_stack_alloc(&s, 10, &a);
    tirgen_rt_stack_alloc(&s, 10, &b);
    assert_int_equal(tirgen_rt_stack_free(&s, a), TIRGEN_RT_BAD_FREE);
    assert_int_equal(tirgen_rt_stack_free(&s, NULL), TIRGEN_RT_BAD_FREE);
    assert_int_equal(tirgen_rt_stack_free(&s, b), TIRGEN_RT_OK);
    assert_int_equal(tirgen_rt_stack_free(&s, b), TIRGEN_RT_BAD_FREE);
    assert_int_equal(tirgen_rt_stack_free(&s, a), TIRGEN_RT_OK);
}

static void a_header_that_was_overwritten_is_seen(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    void *a = NULL, *b = NULL;
    tirgen_rt_stack_init(&s, memory, sizeof memory);
    tirgen_rt_stack_alloc(&s, 16, &a);
    tirgen_rt_stack_alloc(&s, 16, &b);
    memset(a, 0xff, 24);                /* beyond its end */
    assert_int_equal(tirgen_rt_stack_free(&s, b), TIRGEN_RT_BAD_FREE);
}

static void the_high_water_mark_is_what_a_run_needs(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    void *p = NULL, *q = NULL;
    tirgen_rt_stack_init(&s, memory, sizeof memory);
    tirgen_rt_stack_alloc(&s, 100, &p);
    tirgen_rt_stack_alloc(&s, 50, &q);
    tirgen_rt_stack_free(&s, q);
    tirgen_rt_stack_alloc(&s, 10, &q);
    assert_int_equal(s.peak_bytes, TIRGEN_RT_STACK_BYTES(100) + TIRGEN_RT_STACK_BYTES(50));
    size_t need = s.peak_bytes;
    tirgen_rt_stack_init(&s, (unsigned char *)((uintptr_t)(memory + 15) & ~(uintptr_t)15), need);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 100, &p), TIRGEN_RT_OK);
    assert_int_equal(tirgen_rt_stack_alloc(&s, 50, &q), TIRGEN_RT_OK);
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    tirgen_rt_stack s;
    assert_int_equal(tirgen_rt_stack_init(NULL, memory, 10), TIRGEN_RT_ARGUMENT_INVALID);
    assert_int_equal(tirgen_rt_stack_init(&s, NULL, 10), TIRGEN_RT_ARGUMENT_INVALID);
    assert_int_equal(tirgen_rt_stack_init(&s, memory + 1, 3), TIRGEN_RT_OK);
    void *p;
    assert_int_equal(tirgen_rt_stack_alloc(&s, 0, &p), TIRGEN_RT_NO_MEMORY);
}

static void kernels_take_memory_from_the_stack_of_the_platform(void **state)
{
    (void)state;
    tirgen_rt_stack_init(&platform_stack, memory, 200);
    TVMAPISetLastError("");
    void *a = TVMBackendAllocWorkspace(1, 0, 100, 2, 32);
    assert_non_null(a);
    assert_null(TVMBackendAllocWorkspace(1, 0, 100, 2, 32));
    assert_string_equal(TVMGetLastError(), "TVMBackendAllocWorkspace: out of memory");
    assert_null(TVMBackendAllocWorkspace(2, 0, 1, 2, 32));
    assert_int_equal(TVMBackendFreeWorkspace(2, 0, a), TIRGEN_RT_BAD_FREE);
    assert_int_equal(TVMBackendFreeWorkspace(1, 0, memory), TIRGEN_RT_BAD_FREE);
    assert_int_equal(TVMBackendFreeWorkspace(1, 0, a), 0);
    assert_int_equal(platform_stack.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_wherever_the_memory_begins),
        cmocka_unit_test(one_byte_too_little_is_no_memory_and_changes_nothing),
        cmocka_unit_test(a_block_of_no_bytes_is_a_block),
        cmocka_unit_test(only_the_newest_block_can_be_freed_and_only_once),
        cmocka_unit_test(a_header_that_was_overwritten_is_seen),
        cmocka_unit_test(the_high_water_mark_is_what_a_run_needs),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(kernels_take_memory_from_the_stack_of_the_platform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
