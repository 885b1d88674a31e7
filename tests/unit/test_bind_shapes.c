/* test_bind_shapes.c: extents left open in the text and closed by -shape. */
#include "relay_model.h"

#define V "#[version = \"0.0.5\"]\n"

static const char model[] = V "def @main(%x: Tensor[(?, 3), float32], %k: float32) -> Tensor[(?, 3), float32] {\n"
                              "  let %y: Tensor[(?, 3), float32] = multiply(%x, %k);\n  add(%y, %x)\n}";

static void a_shape_closes_what_the_text_leaves_open(void **state)
{
    tg_fixture *f = *state;
    assert_int_equal(tirgen_set_option(f->cx, "shape", "x=2,3"), TIRGEN_OK);
    tg_test_good(f, tg_test_compile(f, model, NULL));
    const double in[] = { 1, 2, 3, 4, 5, 6, 10 };
    double out[8];
    assert_int_equal(tg_test_run(f, in, out), 6);
    for (size_t i = 0; i < 6; ++i)
        assert_true(out[i] == 11 * in[i]);
}

static void an_open_shape_is_refused_with_what_needs_it(void **state)
{
    tg_fixture *f = *state;
    assert_int_equal(tg_test_compile(f, model, NULL), TIRGEN_EINPUT);
    const char *log = tg_text_z(&f->log);
    assert_non_null(strstr(log, "t.relay:2:11: error: the shape of %x, Tensor[(?, 3), float32], must be known: give it with -shape x=N,3"));
    assert_non_null(strstr(log, "note: this multiply (%y) needs it"));
}

static const struct { const char *shape, *says; } wrong[] = {
    { "z=2,3", "-shape z: @main has no such parameter" },
    { "x=2,4", "-shape x: Tensor[(2, 4), float32] does not fit the declared Tensor[(?, 3), float32]" },
    { "x=2", "does not fit" },
    { "k=1", "does not fit" },
};

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(wrong); ++i) {
        void *own = NULL;
        tg_test_setup(&own);
        tg_fixture *f = own;
        assert_int_equal(tirgen_set_option(f->cx, "shape", wrong[i].shape), TIRGEN_OK);
        assert_int_equal(tg_test_compile(f, model, NULL), TIRGEN_EINPUT);
        if (strstr(tg_text_z(&f->log), wrong[i].says) == NULL)
            fail_msg("not \"%s\" but: %s", wrong[i].says, tg_text_z(&f->log));
        tg_test_teardown(&own);
    }
}

static void the_option_is_a_name_and_extents(void **state)
{
    tg_fixture *f = *state;
    static const char *const bad[] = { "", "x", "=1,2", "x=1,,2", "x=-1", "x=1x", "x=99999999999999999999", "x=1 2",
                                       "x=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" };
    for (size_t i = 0; i < TG_COUNT(bad); ++i)
        assert_int_equal(tirgen_set_option(f->cx, "shape", bad[i]), TIRGEN_EOPTION);
    assert_int_equal(tirgen_set_option(f->cx, "shape", "a=b:0=1,2"), TIRGEN_OK);
    assert_int_equal(tirgen_set_option(f->cx, "shape", "x="), TIRGEN_OK);
    const tg_options *o = &tg_session_of(f->cx)->options;
    assert_int_equal(o->nshapes, 2);
    assert_string_equal(o->shapes[0].name, "a=b:0");
    assert_int_equal(o->shapes[0].dim[1], 2);
    assert_int_equal(o->shapes[1].ndim, 0);
}

static void a_name_that_the_printer_prefixed_is_found(void **state)
{
    tg_fixture *f = *state;
    assert_int_equal(tirgen_set_option(f->cx, "shape", "0.in=4"), TIRGEN_OK);
    tg_test_good(f, tg_test_compile(f, V "def @main(%v0.in: Tensor[(?), float32]) { negative(%v0.in) }", NULL));
    const double in[] = { 1, 2, 3, 4 };
    double out[8];
    assert_int_equal(tg_test_run(f, in, out), 4);
    assert_true(out[3] == -4);
}

static void functions_inside_see_the_closed_shape(void **state)
{
    tg_fixture *f = *state;
    assert_int_equal(tirgen_set_option(f->cx, "shape", "x=2"), TIRGEN_OK);
    tg_test_good(f, tg_test_compile(f, V "def @g(%a: Tensor[(?), float32]) -> Tensor[(?), float32] { negative(%a) }\n"
                                         "def @main(%x: Tensor[(?), float32]) {\n"
                                         "  let %f = fn (%v: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%v, %x) };\n  @g(%f(%x)) }", NULL));
    const double in[] = { 1, 2 };
    double out[8];
    assert_int_equal(tg_test_run(f, in, out), 2);
    assert_true(out[0] == -2 && out[1] == -4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_shape_closes_what_the_text_leaves_open, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_open_shape_is_refused_with_what_needs_it, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test_setup_teardown(the_option_is_a_name_and_extents, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_name_that_the_printer_prefixed_is_found, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_inside_see_the_closed_shape, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
