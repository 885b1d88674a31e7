/* test_rt_status.c: every status code has a text of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <tirgen_rt/model.h>

/* The codes TVM's C runtime has, by category: how many there are in each. */
static const struct { int32_t category; int count; } codes[] = { { 1, 5 }, { 2, 5 }, { 3, 2 }, { 4, 3 }, { 5, 6 }, { 6, 1 }, { 7, 3 }, { 8, 4 }, { 9, 1 } };

static void every_code_has_a_text_of_its_own(void **state)
{
    const char *seen[64];
    size_t n = 0;
    (void)state;
    seen[n++] = tirgen_rt_status_text(0);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i)
        for (int k = 0; k < codes[i].count; ++k) {
            const char *text = tirgen_rt_status_text(codes[i].category << 8 | k);
            assert_string_not_equal(text, "unknown status");
            for (size_t j = 0; j < n; ++j)
                assert_string_not_equal(text, seen[j]);
            seen[n++] = text;
        }
}

static void other_numbers_are_unknown_or_of_the_platform(void **state)
{
    (void)state;
    assert_string_equal(tirgen_rt_status_text(0x105), "unknown status");
    assert_string_equal(tirgen_rt_status_text(1), "unknown status");
    assert_string_equal(tirgen_rt_status_text(-1), "platform error");
    assert_string_equal(tirgen_rt_status_text(INT32_MIN), "platform error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text_of_its_own),
        cmocka_unit_test(other_numbers_are_unknown_or_of_the_platform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
