/* test_archive.c: tars out of memory and into it, and the JSON in them (src/driver/archive.c, src/driver/json.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "driver/archive.h"
#include "driver/json.h"
#include "driver/process.h"

static void file_of(tirc_archive *a, const char *name, const char *text)
{
    tirc_archive_open(a, name);
    tirc_archive_bytes(a, text, strlen(text));
}

static void members_come_back_sorted_with_their_bytes(void **state)
{
    tirc_archive a = { NULL, 0 }, b = { NULL, 0 };
    char *dir = tirc_temp_folder(), *path = tirc_path(dir, "a.tar");
    tirc_output *o = tirc_output_new(dir);
    (void)state;
    file_of(&a, "./z/last", "");
    file_of(&a, "./a", "one");
    tirc_archive_bytes(&a, " two", 4);
    assert_true(tirc_output_open(o, "a.tar"));
    assert_true(tirc_archive_write(&a, o, 0));
    assert_true(tirc_output_close(o) && tirc_output_commit(o));
    assert_true(tirc_archive_is(path));
    assert_true(tirc_archive_read(&b, path));
    assert_int_equal(b.n, 2);                   /* folders are none of them */
    assert_string_equal(b.at[0].name, "./a");
    assert_int_equal(b.at[0].size, 7);
    assert_memory_equal(b.at[0].bytes, "one two", 7);
    assert_int_equal(tirc_archive_find(&b, "./z/last")->size, 0);
    assert_null(tirc_archive_find(&b, "./z/"));
    tirc_output_free(o);
    tirc_archive_free(&a);
    tirc_archive_free(&b);
    tirc_temp_remove(dir);
    free(path);
    free(dir);
}

static yajl_val json(const char *text, char *wrong, size_t room)
{
    tirc_member m = { NULL, (char *)(uintptr_t)text, strlen(text), 0 };
    return tirc_json_read(&m, wrong, room);
}

static void json_nests_64_deep_and_no_deeper(void **state)
{
    char text[200], wrong[100];
    (void)state;
    for (int depth = 64; depth <= 65; ++depth) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        yajl_val tree = json(text, wrong, sizeof wrong);
        assert_int_equal(tree != NULL, depth == 64);
        yajl_tree_free(tree);
    }
    yajl_val tree = json("{\"k\": \"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}", wrong, sizeof wrong);
    assert_non_null(tree);                      /* brackets in a string do not count */
    assert_non_null(tirc_json_text_of(tree, "k"));
    assert_null(tirc_json_text_of(tree, "other"));
    yajl_tree_free(tree);
}

static void json_that_is_none_has_a_reason(void **state)
{
    static const char *const bad[] = { "", "{", "{\"a\" 1}", "[1,]", "{} {}", "\"\xff\"" };
    char wrong[100];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        wrong[0] = '\0';
        assert_null(json(bad[i], wrong, sizeof wrong));
        assert_true(wrong[0] != '\0' && strchr(wrong, '\n') == NULL);
    }
}

static void text_that_is_not_utf8_is_told_at_the_end(void **state)
{
    static const struct { const char *text; bool good; } cases[] = { { "caf\xc3\xa9 \"\\\n", true }, { "caf\xe9", false } };
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        tirc_archive a = { NULL, 0 };
        tirc_json j;
        tirc_archive_open(&a, "./x.json");
        tirc_json_begin(&j);
        tirc_json_open(&j, NULL, '{');
        tirc_json_key_text(&j, "k", cases[i].text);
        tirc_json_close(&j, '}');
        assert_int_equal(tirc_json_end(&j, &a), cases[i].good);
        if (cases[i].good) {
            char wrong[100];
            yajl_val tree = tirc_json_read(&a.at[0], wrong, sizeof wrong);
            assert_string_equal(tirc_json_text_of(tree, "k"), cases[i].text);
            yajl_tree_free(tree);
        }
        tirc_archive_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_back_sorted_with_their_bytes),
        cmocka_unit_test(json_nests_64_deep_and_no_deeper),
        cmocka_unit_test(json_that_is_none_has_a_reason),
        cmocka_unit_test(text_that_is_not_utf8_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
