/* test_c_names.c: names become identifiers of C and C++ that clash with nothing. */
#include "fixture.h"

#include "codegen_c/emit.h"

static const struct { const char *name, *c; } clean[] = {
    { "x", "x" }, { "input:0", "input_0" }, { "onnx::Conv_12", "onnx_Conv_12" }, { "_x__y_", "x_y" }, { "", "v" }, { "___", "v" },
    { "1st-class", "v_1st_class" }, { "\xC3\xA9", "v" }, { "a b\tc", "a_b_c" }, { "int", "v_int" }, { "E2BIG", "v_E2BIG" },
    { "Energy", "Energy" }, { "SIGINT", "v_SIGINT" }, { "signal_in", "signal_in" }, { "I", "v_I" }, { "errno", "v_errno" },
    { "unix", "v_unix" }, { "y0", "v_y0" }, { "gamma", "v_gamma" }, { "main", "v_main" }, { "min", "v_min" }, { "near", "v_near" },
    { "xor", "v_xor" }, { "class", "v_class" }, { "data", "data" }, { "weight", "weight" }, { "INT_MAX", "v_INT_MAX" },
    { "TIRGEN_ALIGN", "v_TIRGEN_ALIGN" }, { "size_t", "v_size_t" }, { "expf", "v_expf" },
};

static tg_emit emit_of(tg_fixture *f)
{
    return (tg_emit){ .cx = f->cx };
}

static void every_name_becomes_an_identifier_that_nobody_else_uses(void **state)
{
    for (size_t i = 0; i < TG_COUNT(clean); ++i) {
        tg_emit e = emit_of(*state);
        assert_string_equal(c_local(&e, clean[i].name, strlen(clean[i].name), "v")->text, clean[i].c);
    }
}

static void a_name_in_scope_is_not_given_again_until_its_scope_ends(void **state)
{
    tg_emit e = emit_of(*state);
    const tg_name *global = c_global(&e, "relu", 4, "f");
    size_t outer = c_scope_open(&e);
    assert_string_equal(c_local(&e, "i", 1, "v")->text, "i");
    size_t inner = c_scope_open(&e);
    assert_string_equal(c_local(&e, "i", 1, "v")->text, "i_1");
    assert_string_equal(c_local(&e, "relu", 4, "v")->text, "relu_1");
    c_scope_close(&e, inner);
    assert_string_equal(c_local(&e, "i", 1, "v")->text, "i_1");
    c_scope_close(&e, outer);
    assert_string_equal(c_local(&e, "i", 1, "v")->text, "i");
    assert_string_equal(global->text, "relu");
}

static void a_suffix_that_the_source_uses_itself_is_skipped(void **state)
{
    tg_emit e = emit_of(*state);
    assert_string_equal(c_local(&e, "x_1", 3, "v")->text, "x_1");
    assert_string_equal(c_local(&e, "x", 1, "v")->text, "x");
    assert_string_equal(c_local(&e, "x", 1, "v")->text, "x_2");
}

static void ten_thousand_equal_names_stay_different(void **state)
{
    tg_emit e = emit_of(*state);
    const tg_name *last = NULL;
    for (int i = 0; i < 10000; ++i)
        last = c_local(&e, "sid", 3, "v");
    assert_string_equal(last->text, "sid_9999");
}

static void names_longer_than_c_tells_apart_end_in_a_hash(void **state)
{
    char a[200], b[200];
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    b[199] = 'b';
    tg_emit e = emit_of(*state);
    const tg_name *x = c_local(&e, a, sizeof a, "v"), *y = c_local(&e, b, sizeof b, "v");
    assert_int_equal(x->len, 63);
    assert_int_equal(y->len, 63);
    assert_true(x != y);
}

/* Any bytes at all: an identifier, no underscore at an end, no two in a row, and never the same twice. */
static void random_bytes_become_distinct_identifiers(void **state)
{
    tg_emit e = emit_of(*state);
    tg_map seen = { 0 };
    uint32_t seed = 1;
    for (int i = 0; i < 5000; ++i) {
        char name[12];
        size_t n = (size_t)i % sizeof name;
        for (size_t k = 0; k < n; ++k) {
            seed = seed * 1664525u + 1013904223u;
            name[k] = (seed >> 28) < 10 ? (char)("aE_:/xI01."[seed >> 24 & 7]) : (char)(seed >> 24);
        }
        const tg_name *c = c_local(&e, name, n, "v");
        assert_true(c_is_identifier(c->text));
        assert_false(c_is_reserved(c->text));
        assert_null(strstr(c->text, "__"));
        assert_true(c->text[0] != '_' && c->text[c->len - 1] != '_');
        assert_null(tg_map_get(&seen, TG_KEY(c)));
        tg_map_put(e.cx, &seen, TG_KEY(c), &e);
    }
}

static const struct { const char *prefix, *reason; } prefixes[] = {
    { "tvmgen_default", NULL }, { "tvmgen_net", NULL }, { "m", NULL }, { "Net2", NULL }, { "a_b_c", NULL }, { "edge_net", NULL },
    { "", "empty" }, { "_net", "underscore" }, { "2net", "digit" }, { "a-b", "letters" }, { "n\xC3\xA9t", "letters" },
    { "a__b", "in a row" }, { "net_", "ends" }, { "int", "word" }, { "class", "word" }, { "errno", "word" }, { "unix", "word" },
    { "EDGE", "family" }, { "E2", "family" }, { "main", "word" }, { "exp", "word" }, { "tirgen", "runtime" }, { "tirgen_rt", "runtime" },
    { "a23456789_123456789_123456789_123456789_12345", "44" },
};

static void a_prefix_that_cannot_begin_symbols_is_refused_with_the_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(prefixes); ++i) {
        const char *why = tg_prefix_check(prefixes[i].prefix);
        if (prefixes[i].reason == NULL) {
            if (why != NULL)
                fail_msg("%s %s", prefixes[i].prefix, why);
        } else if (why == NULL || strstr(why, prefixes[i].reason) == NULL) {
            fail_msg("'%s': %s", prefixes[i].prefix, why == NULL ? "accepted" : why);
        }
    }
    assert_non_null(tg_prefix_check(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_name_becomes_an_identifier_that_nobody_else_uses, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_name_in_scope_is_not_given_again_until_its_scope_ends, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_suffix_that_the_source_uses_itself_is_skipped, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(ten_thousand_equal_names_stay_different, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(names_longer_than_c_tells_apart_end_in_a_hash, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(random_bytes_become_distinct_identifiers, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_prefix_that_cannot_begin_symbols_is_refused_with_the_rule, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
