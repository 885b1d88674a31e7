/* test_process.c: other programs, their words and their folders (src/driver/process.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "driver/output.h"
#include "driver/process.h"

static const struct { const char *text; unsigned n; const char *word[4]; } splits[] = {
    { "gcc", 1, { "gcc" } },
    { "  gcc\t-O3 ", 2, { "gcc", "-O3" } },
    { "'/opt/my cc/gcc' -DA=\"b c\" ''", 3, { "/opt/my cc/gcc", "-DA=b c", "" } },
    { "", 0, { NULL } },
};

static void words_split_at_blanks_outside_quotes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; ++i) {
        tirc_words w = { 0 };
        assert_true(tirc_words_split(&w, splits[i].text));
        assert_int_equal(w.n, splits[i].n);
        for (unsigned k = 0; k < w.n; ++k) assert_string_equal(w.word[k], splits[i].word[k]);
        tirc_words_free(&w);
    }
}

static void an_open_quote_is_refused(void **state)
{
    tirc_words w = { 0 };
    (void)state;
    assert_false(tirc_words_split(&w, "gcc 'a"));
    tirc_words_free(&w);
}

static bool run(const char *command, int *status)
{
    tirc_words w = { 0 };
    bool ran;
    tirc_words_add(&w, "sh");
    tirc_words_add(&w, "-c");
    tirc_words_add(&w, command);
    ran = tirc_process_run(&w, "", status);
    tirc_words_free(&w);
    return ran;
}

static void the_exit_status_comes_back(void **state)
{
    int status = -1;
    (void)state;
    assert_true(run("exit 0", &status));
    assert_int_equal(status, 0);
    assert_true(run("exit 3", &status));
    assert_int_equal(status, 3);
}

static void death_by_a_signal_is_no_result(void **state)
{
    int status;
    (void)state;
    assert_false(run("kill -9 $$", &status));
}

static void a_program_that_is_not_there_is_no_result(void **state)
{
    tirc_words w = { 0 };
    int status;
    (void)state;
    tirc_words_add(&w, "no-such-program-anywhere");
    assert_false(tirc_process_run(&w, "", &status));
    tirc_words_free(&w);
}

static void a_temporary_folder_goes_with_what_is_in_it(void **state)
{
    char *dir = tirc_temp_folder(), *name;
    tirc_output *o;
    (void)state;
    assert_non_null(dir);
    name = tirc_path(dir, "sub");
    o = tirc_output_new(name);
    assert_true(tirc_output_open(o, "file") && tirc_output_close(o) && tirc_output_commit(o));
    tirc_output_free(o);
    tirc_temp_remove(dir);
    assert_int_not_equal(access(dir, F_OK), 0);
    free(name);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_split_at_blanks_outside_quotes),
        cmocka_unit_test(an_open_quote_is_refused),
        cmocka_unit_test(the_exit_status_comes_back),
        cmocka_unit_test(death_by_a_signal_is_no_result),
        cmocka_unit_test(a_program_that_is_not_there_is_no_result),
        cmocka_unit_test(a_temporary_folder_goes_with_what_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
