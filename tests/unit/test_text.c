/* test_text.c: the string builder: pieces, flushing, numbers, base64. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "fixture.h"
#include "ir/tensor.h"

static void pieces_of_all_kinds_stand_side_by_side(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    assert_string_equal(tg_text_z(&t), "");
    tg_indent(&t, 1);
    tg_putc(&t, 'a');
    tg_puts(&t, "bc");
    tg_putn(&t, "defg", 2);
    tg_printf(&t, "[%d|%s]", 42, "x");
    tg_put_int(&t, INT64_MIN);
    tg_put_int(&t, 0);
    tg_put_int(&t, INT64_MAX);
    assert_string_equal(tg_text_z(&t), "    abcde[42|x]-922337203685477580809223372036854775807");
    tg_putc(&t, '!');
    assert_int_equal(strlen(tg_text_z(&t)), t.n);
    assert_true(tg_text_end(&t));
    assert_string_equal(tg_format(f->cx, "%s-%d", "a", 1), "a-1");
}

static void strings_are_quoted_with_escapes(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_put_quoted(&t, "a\"b\\c\n\t\r\0\x7f\xc3z", 12);
    assert_string_equal(tg_text_z(&t), "\"a\\\"b\\\\c\\n\\t\\r\\x00\\x7F\\xC3z\"");
}

typedef struct sink { char *at; size_t n, most; int calls, stop_at; } sink;

static bool into_sink(void *user, const char *bytes, size_t n)
{
    sink *s = user;
    if (++s->calls == s->stop_at) return false;
    if (n > s->most) s->most = n;
    memcpy(s->at + s->n, bytes, n);
    s->n += n;
    return true;
}

/* The same pieces, small ones and ones larger than any buffer. */
static void write_much(tg_text *t, const char *large, size_t n)
{
    for (int i = 0; i < 20000; ++i) {
        tg_printf(t, "line %d of many\n", i);
        tg_put_int(t, i);
        tg_putc(t, ' ');
        tg_put_float(t, i * 0.25, 32, true);
        if (i % 5000 == 4999) {
            tg_putn(t, large, n);
            tg_printf(t, "<%s>", large);
            tg_put_base64(t, large, n);
            tg_indent(t, 100);
        }
    }
}

static void flushed_text_is_the_same_as_kept_text(void **state)
{
    tg_fixture *f = *state;
    static char large[200001];
    for (size_t i = 0; i + 1 < sizeof(large); ++i) large[i] = (char)('a' + i % 26);
    tg_text kept = tg_text_new(f->cx);
    write_much(&kept, large, sizeof(large) - 1);

    sink s = { malloc(kept.n), 0, 0, 0, 0 };
    assert_non_null(s.at);
    tg_text flushed = tg_text_to(f->cx, into_sink, &s);
    size_t before = f->cx->keep.total_bytes;
    write_much(&flushed, large, sizeof(large) - 1);
    assert_true(tg_text_end(&flushed));
    assert_int_equal(s.n, kept.n);
    assert_memory_equal(s.at, kept.at, kept.n);
    assert_int_equal(f->cx->keep.total_bytes, before);
    free(s.at);
}

static void output_stops_at_the_first_failure(void **state)
{
    tg_fixture *f = *state;
    static char large[100000];
    static char room[400000];
    sink s = { room, 0, 0, 0, 2 };
    tg_text t = tg_text_to(f->cx, into_sink, &s);
    for (int i = 0; i < 5; ++i) tg_putn(&t, large, sizeof(large));
    for (int i = 0; i < 500; ++i) tg_printf(&t, "%400d", i);
    assert_false(tg_text_end(&t));
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.n, sizeof(large));
}

static const struct { const char *plain, *code; } base64_cases[] = {
    { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" }, { "\xff\xfe\xfd\xfb", "//79+w==" },
};

static void base64_is_the_standard_one(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(base64_cases); ++i) {
        tg_text t = tg_text_new(f->cx);
        tg_put_base64(&t, base64_cases[i].plain, strlen(base64_cases[i].plain));
        assert_string_equal(tg_text_z(&t), base64_cases[i].code);
    }
}

static const char *float_text(tg_fixture *f, double v, int bits, bool point)
{
    tg_text t = tg_text_new(f->cx);
    tg_put_float(&t, v, bits, point);
    return tg_text_z(&t);
}

static const struct { double v; int bits; const char *bare, *point; } float_cases[] = {
    { 0, 32, "0", "0.0" }, { -0.0, 64, "-0", "-0.0" }, { 1, 32, "1", "1.0" }, { -2.5, 32, "-2.5", "-2.5" },
    { 0.1f, 32, "0.1", "0.1" }, { 0.1f, 64, "0.10000000149011612", "0.10000000149011612" }, { 0.1, 64, "0.1", "0.1" },
    { 1.0 / 3, 64, "0.3333333333333333", "0.3333333333333333" }, { 1.0f / 3, 32, "0.33333334", "0.33333334" },
    { 1e-4, 64, "0.0001", "0.0001" }, { 1e-5, 64, "1e-05", "1e-05" }, { 1.5e-5f, 32, "1.5e-05", "1.5e-05" },
    { 16777216, 32, "16777216", "16777216.0" }, { 16777217, 64, "16777217", "16777217.0" },
    { 1e15, 64, "1000000000000000", "1000000000000000.0" }, { 1e16, 64, "1e+16", "1e+16" },
    { FLT_MAX, 32, "3.4028235e+38", "3.4028235e+38" }, { FLT_MIN, 32, "1.1754944e-38", "1.1754944e-38" },
    { 0x1p-149, 32, "1e-45", "1e-45" }, { 5e-324, 64, "5e-324", "5e-324" },
    { DBL_MAX, 64, "1.7976931348623157e+308", "1.7976931348623157e+308" }, { 1e23, 64, "1e+23", "1e+23" },
    { 9007199254740993.0, 64, "9007199254740992", "9007199254740992.0" }, { 123456.789, 64, "123456.789", "123456.789" },
    { 65504, 16, "65500", "65500.0" }, { 0.0999755859375, 16, "0.1", "0.1" }, { 0x1p-24, 16, "6e-08", "6e-08" },
    { INFINITY, 32, "inf", "inf" }, { -INFINITY, 64, "-inf", "-inf" }, { NAN, 32, "nan", "nan" },
    { 1e300, 32, "inf", "inf" }, { 99999.9921875f, 32, "99999.99", "99999.99" }, { 9.5367431640625e-07, 32, "9.536743e-07", "9.536743e-07" },
};

static void floats_are_the_shortest_that_read_back(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(float_cases); ++i) {
        assert_string_equal(float_text(f, float_cases[i].v, float_cases[i].bits, false), float_cases[i].bare);
        assert_string_equal(float_text(f, float_cases[i].v, float_cases[i].bits, true), float_cases[i].point);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 ^ *seed << 13;
}

/* Significant digits of a printed number. */
static int digits_of(const char *text)
{
    int n = 0, zeros = 0;
    for (const char *p = text; *p != '\0' && *p != 'e'; ++p) {
        if (*p < '0' || *p > '9' || (n == 0 && *p == '0')) continue;
        zeros = *p == '0' ? zeros + 1 : 0;
        ++n;
    }
    return n - zeros;
}

static void random_float32_reads_back_and_no_shorter_one_does(void **state)
{
    tg_fixture *f = *state;
    uint64_t seed = 1;
    char room[64];
    tg_text t = tg_text_new(f->cx);
    for (int i = 0; i < 300000; ++i) {
        uint32_t b = (uint32_t)next_random(&seed);
        if (i % 2 == 0) b = (b & 0x807fffffu) | (uint32_t)(100 + b % 50) << 23;     /* sizes that weights have */
        float v;
        memcpy(&v, &b, 4);
        if (v != v || v - v != 0) continue;
        t.n = 0;
        tg_put_float(&t, v, 32, i % 3 == 0);
        const char *text = tg_text_z(&t);
        if (strtof(text, NULL) != v) fail_msg("%.9g printed as %s", v, text);
        int n = digits_of(text);
        if (n > 1) {
            snprintf(room, sizeof(room), "%.*e", n - 2, v);
            if (strtof(room, NULL) == v) fail_msg("%s is longer than %s", text, room);
        }
    }
}

static void random_float64_reads_back_and_no_shorter_one_does(void **state)
{
    tg_fixture *f = *state;
    uint64_t seed = 2;
    char room[64];
    tg_text t = tg_text_new(f->cx);
    for (int i = 0; i < 200000; ++i) {
        uint64_t b = next_random(&seed);
        double v;
        memcpy(&v, &b, 8);
        if (i % 2 == 0) v = (double)(int64_t)(b >> 40) / pow(10, (double)(b % 12));
        if (v != v || v - v != 0) continue;
        t.n = 0;
        tg_put_float(&t, v, 64, false);
        const char *text = tg_text_z(&t);
        if (strtod(text, NULL) != v) fail_msg("%.17g printed as %s", v, text);
        int n = digits_of(text);
        if (n > 1) {
            snprintf(room, sizeof(room), "%.*e", n - 2, v);
            if (strtod(room, NULL) == v) fail_msg("%s is longer than %s", text, room);
        }
    }
}

static void every_half_reads_back(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    for (uint32_t h = 0; h < 0x7c00; ++h) {
        t.n = 0;
        tg_put_float(&t, tg_half_to_float((uint16_t)h), 16, false);
        const char *text = tg_text_z(&t);
        assert_true(digits_of(text) <= 5);
        assert_int_equal(tg_float_to_half(strtof(text, NULL)), h);
        assert_true(tg_round_to(TG_FLOAT16, strtod(text, NULL)) == tg_half_to_float((uint16_t)h));
    }
}

static void the_locale_does_not_matter(void **state)
{
    tg_fixture *f = *state;
    static const char *const comma[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "da_DK.UTF-8" };
    const char *got = NULL;
    for (size_t i = 0; i < TG_COUNT(comma) && got == NULL; ++i) got = setlocale(LC_NUMERIC, comma[i]);
    if (got == NULL) skip();
    assert_string_equal(float_text(f, 1e-30, 64, true), "1e-30");
    assert_string_equal(float_text(f, 1.25e-30, 64, true), "1.25e-30");
    assert_string_equal(float_text(f, 0.1f, 64, true), "0.10000000149011612");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_of_all_kinds_stand_side_by_side, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(strings_are_quoted_with_escapes, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(flushed_text_is_the_same_as_kept_text, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(output_stops_at_the_first_failure, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(base64_is_the_standard_one, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(floats_are_the_shortest_that_read_back, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(random_float32_reads_back_and_no_shorter_one_does, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(random_float64_reads_back_and_no_shorter_one_does, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(every_half_reads_back, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_locale_does_not_matter, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
