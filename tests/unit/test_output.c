/* test_output.c: files that appear all together or not at all (src/driver/output.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "driver/output.h"
#include "driver/process.h"

static int make_folder(void **state)
{
    *state = tirc_temp_folder();
    return *state == NULL ? -1 : 0;
}

static int drop_folder(void **state)
{
    tirc_temp_remove(*state);
    free(*state);
    return 0;
}

static bool add(tirc_output *o, const char *name, const char *text)
{
    return tirc_output_open(o, name) && tirc_output_bytes(o, text, strlen(text)) && tirc_output_close(o);
}

/* The text of DIR/NAME, or NULL; static. */
static const char *text_of(const char *dir, const char *name)
{
    static char text[64];
    char *path = tirc_path(dir, name);
    FILE *f = fopen(path, "r");
    free(path);
    if (f == NULL) return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void nothing_is_there_before_the_commit(void **state)
{
    tirc_output *o = tirc_output_new(*state);
    assert_true(add(o, "a", "1"));
    assert_null(text_of(*state, "a"));
    assert_true(tirc_output_commit(o));
    assert_string_equal(text_of(*state, "a"), "1");
    tirc_output_free(o);
    assert_string_equal(text_of(*state, "a"), "1");
}

static void without_a_commit_old_files_stay_and_new_folders_vanish(void **state)
{
    char *dir = tirc_path(*state, "x/y");
    tirc_output *o = tirc_output_new(*state);
    assert_true(add(o, "a", "old") && tirc_output_commit(o));
    tirc_output_free(o);
    o = tirc_output_new(*state);
    assert_true(add(o, "a", "new"));
    tirc_output_free(o);
    assert_string_equal(text_of(*state, "a"), "old");
    o = tirc_output_new(dir);
    assert_true(add(o, "b", "new"));
    tirc_output_free(o);
    assert_int_not_equal(access(dir, F_OK), 0);
    free(dir);
}

static void when_one_file_cannot_be_placed_none_changes(void **state)
{
    char *folder = tirc_path(*state, "b");
    tirc_output *o = tirc_output_new(*state);
    assert_true(add(o, "a", "old") && tirc_output_commit(o));
    tirc_output_free(o);
    o = tirc_output_new(*state);
    assert_true(add(o, "a", "new") && add(o, "n", "new") && add(o, "b", "new"));
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_false(tirc_output_commit(o));
    assert_string_equal(text_of(*state, "a"), "old");
    assert_null(text_of(*state, "n"));
    tirc_output_free(o);
    (void)rmdir(folder);
    free(folder);
}

static void a_file_in_the_place_of_a_folder_is_refused(void **state)
{
    char *dir = tirc_path(*state, "a/b");
    tirc_output *o = tirc_output_new(*state);
    assert_true(add(o, "a", "file") && tirc_output_commit(o));
    tirc_output_free(o);
    o = tirc_output_new(dir);
    assert_false(tirc_output_open(o, "c"));
    tirc_output_free(o);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_there_before_the_commit, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(without_a_commit_old_files_stay_and_new_folders_vanish, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(when_one_file_cannot_be_placed_none_changes, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_file_in_the_place_of_a_folder_is_refused, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
