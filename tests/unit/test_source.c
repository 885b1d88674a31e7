/* test_source.c: places in loaded texts. */
#include "fixture.h"
#include "ir/source.h"

static const struct { uint32_t byte, line, column; } places[] = {
    { 0, 1, 1 }, { 2, 1, 3 }, { 3, 1, 4 }, { 4, 2, 1 }, { 5, 3, 1 }, { 7, 3, 3 }, { 8, 3, 4 }, { 1000, 3, 4 },
};

static void lines_and_columns_count_from_one(void **state)
{
    tg_fixture *f = *state;
    tg_source *s = tg_source_add(f->cx, "dir/a.relay", "abc\n\nxyz", 8);
    for (size_t i = 0; i < TG_COUNT(places); ++i) {
        uint32_t line, column;
        tg_locate(f->cx, (tg_span){ s->id, places[i].byte, places[i].byte }, &line, &column);
        assert_int_equal(line, places[i].line);
        assert_int_equal(column, places[i].column);
    }
}

static void an_empty_text_has_one_line(void **state)
{
    tg_fixture *f = *state;
    tg_source *s = tg_source_add(f->cx, "empty", NULL, 0);
    uint32_t line, column;
    tg_locate(f->cx, (tg_span){ s->id, 0, 0 }, &line, &column);
    assert_int_equal(line, 1);
    assert_int_equal(column, 1);
}

static void nowhere_has_no_place(void **state)
{
    tg_fixture *f = *state;
    uint32_t line = 9, column = 9;
    tg_locate(f->cx, TG_NOWHERE, &line, &column);
    assert_int_equal(line, 0);
    assert_int_equal(column, 0);
    assert_null(tg_source_of(f->cx, TG_NOWHERE));
    assert_null(tg_source_of(f->cx, (tg_span){ 5, 0, 0 }));
    assert_string_equal(tg_place(f->cx, TG_NOWHERE), "");
}

static void a_place_shows_the_base_name(void **state)
{
    tg_fixture *f = *state;
    for (int i = 0; i < 20; ++i) tg_source_add(f->cx, "other", "x", 1);
    char name[] = "some/dir/lenet.relay";
    tg_source *s = tg_source_add(f->cx, name, "a\nbcd\n", 6);
    name[0] = '?';                                  /* the name was copied */
    assert_int_equal(s->id, 21);
    assert_ptr_equal(tg_source_of(f->cx, (tg_span){ 21, 0, 0 }), s);
    assert_string_equal(s->name, "some/dir/lenet.relay");
    assert_string_equal(tg_place(f->cx, (tg_span){ 21, 4, 5 }), "lenet.relay:2:3");
}

static void a_text_past_the_limit_is_refused(void **state)
{
    tg_fixture *f = *state;
    if (TG_UNWIND(f) == 0) {
        tg_source_add(f->cx, "huge", "", TG_MAX_TEXT + 1);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_ELIMIT);
    assert_string_equal(tg_text_z(&f->log), "error: huge: a text may have at most 2 GiB, this one has 2147483649 bytes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_and_columns_count_from_one, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_empty_text_has_one_line, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nowhere_has_no_place, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_place_shows_the_base_name, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_text_past_the_limit_is_refused, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
