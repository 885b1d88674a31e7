/* test_diag.c: what a diagnostic looks like, and the ways out of a call. */
#include "fixture.h"
#include "ir/source.h"

static tg_span span_of(tg_fixture *f, const char *name, const char *text, const char *word)
{
    tg_source *s = tg_source_add(f->cx, name, text, strlen(text));
    const char *at = strstr(text, word);
    assert_non_null(at);
    return (tg_span){ s->id, (uint32_t)(at - text), (uint32_t)((size_t)(at - text) + strlen(word)) };
}

static void an_error_shows_place_line_and_caret_and_a_note_only_its_place(void **state)
{
    tg_fixture *f = *state;
    tg_span at = span_of(f, "m.relay", "def\n  %4 = nn.dense(%3);\n", "nn.dense(%3)");
    tg_error(f->cx, at, "nn.dense: weight has %d dimensions", 3);
    tg_note(f->cx, at, "it is here");
    tg_warning(f->cx, at, "odd");
    assert_string_equal(tg_text_z(&f->log),
                        "m.relay:2:8: error: nn.dense: weight has 3 dimensions\n"
                        "    2 |   %4 = nn.dense(%3);\n"
                        "      |        ^~~~~~~~~~~~\n"
                        "m.relay:2:8: note: it is here\n"
                        "m.relay:2:8: warning: odd\n"
                        "    2 |   %4 = nn.dense(%3);\n"
                        "      |        ^~~~~~~~~~~~\n");
    assert_int_equal(f->cx->nerrors, 1);
}

static void a_range_over_several_lines_is_marked_on_its_first(void **state)
{
    tg_fixture *f = *state;
    tg_error(f->cx, span_of(f, "m", "ab cd\r\nef", "cd\r\nef"), "x");
    assert_string_equal(tg_text_z(&f->log), "m:1:4: error: x\n    1 | ab cd\n      |    ^~\n");
}

static void the_end_of_the_text_has_a_caret_too(void **state)
{
    tg_fixture *f = *state;
    tg_source *s = tg_source_add(f->cx, "m", "abc", 3);
    tg_error(f->cx, (tg_span){ s->id, 3, 3 }, "unexpected end");
    s = tg_source_add(f->cx, "n", "abc\n", 4);
    tg_error(f->cx, (tg_span){ s->id, 4, 4 }, "unexpected end");
    assert_string_equal(tg_text_z(&f->log),
                        "m:1:4: error: unexpected end\n    1 | abc\n      |    ^\n"
                        "n:2:1: error: unexpected end\n    2 | \n      | ^\n");
}

static void tabs_stay_and_strange_bytes_do_not(void **state)
{
    tg_fixture *f = *state;
    tg_error(f->cx, span_of(f, "m", "\t\x1b[31m \xc3\xa9 \xff X", "X"), "name is '%s'", "a\x1b\n\xc3\xa9\xc2\x9b");
    assert_string_equal(tg_text_z(&f->log),
                        "m:1:13: error: name is 'a?\?\xc3\xa9?\?'\n"
                        "    1 | \t?[31m \xc3\xa9 ? X\n"
                        "      | \t          ^\n");
}

static void a_long_line_is_cut_around_the_place(void **state)
{
    tg_fixture *f = *state;
    static char text[5001];
    memset(text, '.', 5000);
    memcpy(text + 3000, "HERE", 4);
    tg_error(f->cx, span_of(f, "m", text, "HERE"), "x");
    const char *log = tg_text_z(&f->log);
    const char *line = strstr(log, "    1 | ...");
    assert_non_null(line);
    assert_true(strlen(log) < 400);
    const char *word = strstr(line, "HERE"), *end = strchr(line, '\n');
    const char *caret = strstr(end, "^~~~");
    assert_int_equal(caret - (end + 1), word - line);
    assert_memory_equal(end - 3, "...", 3);
}

static void the_start_and_end_of_a_long_line_can_be_marked(void **state)
{
    tg_fixture *f = *state;
    static char text[1001];
    memset(text, '.', 1000);
    memcpy(text, "FIRST", 5);
    memcpy(text + 996, "LAST", 4);
    tg_error(f->cx, span_of(f, "m", text, "FIRST"), "x");
    const char *log = tg_text_z(&f->log);
    assert_non_null(strstr(log, "    1 | FIRST..."));
    assert_non_null(strstr(log, "\n      | ^~~~~\n"));
    tg_test_clear_log(f);
    tg_error(f->cx, span_of(f, "m", text, "LAST"), "x");
    log = tg_text_z(&f->log);
    assert_non_null(strstr(log, "LAST\n"));
    assert_non_null(strstr(log, " ^~~~\n"));
}

static void line_numbers_may_be_wide(void **state)
{
    tg_fixture *f = *state;
    static char text[200001];
    memset(text, '\n', 200000);
    text[200000] = 'x';
    tg_source *s = tg_source_add(f->cx, "m", text, sizeof(text));
    tg_error(f->cx, (tg_span){ s->id, 200000, 200001 }, "y");
    assert_string_equal(tg_text_z(&f->log), "m:200001:1: error: y\n    200001 | x\n           | ^\n");
}

static void an_error_without_a_place_is_one_line(void **state)
{
    tg_fixture *f = *state;
    tg_error(f->cx, TG_NOWHERE, "no function named %s", "main");
    tg_error_file(f->cx, "dir/net.params", 123456789012, "bad magic");
    assert_string_equal(tg_text_z(&f->log),
                        "error: no function named main\ndir/net.params: at byte 123456789012: error: bad magic\n");
    assert_int_equal(f->cx->nerrors, 2);
}

static void too_many_errors_end_the_call(void **state)
{
    tg_fixture *f = *state;
    if (TG_UNWIND(f) == 0) {
        for (int i = 0; i < 1000; ++i) tg_error(f->cx, TG_NOWHERE, "e");
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_EINPUT);
    const char *log = tg_text_z(&f->log);
    size_t lines = 0;
    for (const char *p = log; (p = strchr(p, '\n')) != NULL; ++p) ++lines;
    assert_int_equal(lines, TG_MAX_ERRORS + 1);
    assert_non_null(strstr(log, "error: too many errors"));
}

static void without_a_callback_nothing_is_shown(void **state)
{
    tg_fixture *f = *state;
    f->cx->diag = NULL;
    tg_error(f->cx, TG_NOWHERE, "e");
    tg_note(f->cx, TG_NOWHERE, "n");
    tg_error_file(f->cx, "f", 1, "e");
    assert_int_equal(f->cx->nerrors, 2);
    assert_string_equal(tg_text_z(&f->log), "");
}

static void a_failed_check_names_pass_and_condition(void **state)
{
    tg_fixture *f = *state;
    f->cx->pass = "simplify";
    if (TG_UNWIND(f) == 0) {
        TG_CHECK(f->cx, 1 + 1 == 3, NULL);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_EBUG);
    const char *log = tg_text_z(&f->log);
    assert_non_null(strstr(log, "error: internal error in pass simplify: '1 + 1 == 3' does not hold at test_diag.c:"));
}

static void the_callback_gets_the_parts(void *user, const tirgen_diag *d)
{
    int *calls = user;
    ++*calls;
    assert_int_equal(d->severity, TIRGEN_WARNING);
    assert_string_equal(d->file, "m.relay");
    assert_int_equal(d->line, 1);
    assert_int_equal(d->column, 3);
    assert_string_equal(d->message, "odd 7");
}

static void a_callback_sees_message_and_place_apart(void **state)
{
    tg_fixture *f = *state;
    int calls = 0;
    f->cx->diag = the_callback_gets_the_parts;
    f->cx->diag_user = &calls;
    tg_warning(f->cx, span_of(f, "m.relay", "a b", "b"), "odd %d", 7);
    assert_int_equal(calls, 1);
    assert_int_equal(f->cx->nerrors, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_error_shows_place_line_and_caret_and_a_note_only_its_place, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_range_over_several_lines_is_marked_on_its_first, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_end_of_the_text_has_a_caret_too, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(tabs_stay_and_strange_bytes_do_not, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_long_line_is_cut_around_the_place, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_start_and_end_of_a_long_line_can_be_marked, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(line_numbers_may_be_wide, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_error_without_a_place_is_one_line, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(too_many_errors_end_the_call, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(without_a_callback_nothing_is_shown, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_failed_check_names_pass_and_condition, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_callback_sees_message_and_place_apart, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
