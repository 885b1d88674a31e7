/* test_c_expr.c: expressions of TIR as C. Each row is an expression and the text it becomes, with the casts and brackets that
 * C needs and no others. What the texts compute is checked in test_c_semantics.c. */
#include "emitted.h"

static const char *c_of_expr(tg_fixture *f, const char *dtype, const char *expr)
{
    const char *script = tg_format(f->cx,
        "from tvm.script import tir as T\n@T.prim_func\n"
        "def f(A: T.Buffer((64,), \"%s\"), B: T.Buffer((64,), \"%s\"), J: T.Buffer((64,), \"int32\"), x: T.%s, y: T.%s, z: T.%s, n: T.int32):\n"
        "    for i in range(8):\n        B[i] = %s\n", dtype, dtype, dtype, dtype, dtype, expr);
    const char *body = last_body(f, c_of(f, script)), *start = strstr(body, "B[i] ");
    const char *end = strstr(start, ";\n");
    assert_non_null(end);
    return tg_format(f->cx, "%.*s", (int)(end - start), start);
}

typedef struct row { const char *dtype, *tir, *c; } row;

static void check(tg_fixture *f, const row *rows, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const char *c = c_of_expr(f, rows[i].dtype, rows[i].tir);
        if (strcmp(c, rows[i].c) != 0)
            fail_msg("%s %s\n  gives    %s\n  expected %s", rows[i].dtype, rows[i].tir, c, rows[i].c);
    }
}

static void brackets_stand_only_where_c_needs_them(void **state)
{
    static const row rows[] = {
        { "float32", "x - (y - z)", "B[i] = x - (y - z)" },
        { "float32", "x - y - z", "B[i] = x - y - z" },
        { "float32", "x * (y + z)", "B[i] = x * (y + z)" },
        { "float32", "x * y + z", "B[i] = x * y + z" },
        { "float32", "x / (y * z)", "B[i] = x / (y * z)" },
        { "float32", "x * y / z", "B[i] = x * y / z" },
        { "float32", "(x + T.float32(1)) * (x - T.float32(1))", "B[i] = (x + 1.0f) * (x - 1.0f)" },
        { "float32", "x - T.float32(-1)", "B[i] = x + 1.0f" },
        { "float32", "x + T.float32(-1)", "B[i] = x - 1.0f" },
        { "float32", "x * T.float32(-1)", "B[i] = x * -1.0f" },
        { "float32", "T.Cast(\"float32\", i) / x", "B[i] = (float)i / x" },
        { "float32", "T.Cast(\"float32\", i + 1)", "B[i] = (float)(i + 1)" },
        { "float32", "T.Select(x > y, x, T.Select(y > z, y, z))", "B[i] = x > y ? x : y > z ? y : z" },
        { "float32", "T.Select(x > y, x, y) + z", "B[i] = (x > y ? x : y) + z" },
        { "float32", "T.Select(x > y and y > z or x > z, x, y)", "B[i] = (x > y && y > z) || x > z ? x : y" },
        { "float32", "T.Select((x > y or y > z) and x > z, x, y)", "B[i] = (x > y || y > z) && x > z ? x : y" },
        { "float32", "T.Select(not x > y, x, y)", "B[i] = !(x > y) ? x : y" },
        { "float32", "T.exp(x) * y", "B[i] = expf(x) * y" },
        { "float32", "T.sigmoid(x) * y", "B[i] = 1.0f / (1.0f + expf(-x)) * y" },
        { "float32", "y * T.sigmoid(x + z)", "B[i] = y * (1.0f / (1.0f + expf(-(x + z))))" },
        { "float32", "T.rsqrt(x)", "B[i] = 1.0f / sqrtf(x)" },
        { "float64", "T.exp(x) + T.pow(x, y)", "B[i] = exp(x) + pow(x, y)" },
        { "float32", "x + T.float32(\"inf\")", "B[i] = x + INFINITY" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void index_arithmetic_stays_plain(void **state)
{
    static const row rows[] = {
        { "float32", "A[i * 4 + 3]", "B[i] = A[i * 4 + 3]" },
        { "float32", "A[i * 4 - 1 + n * (n + 1)]", "B[i] = A[i * 4 - 1 + n * (n + 1)]" },
        { "float32", "A[i // 4 * 2 + i % 4]", "B[i] = A[i / 4 * 2 + i % 4]" },
        { "float32", "A[(i - 4) // 4 + (i - 4) % 4]", "B[i] = A[((i - 4) >> 2) + ((i - 4) & 3)]" },
        { "float32", "A[J[i] * 4 + 1]", "B[i] = A[J[i] * 4 + 1]" },
        { "float32", "T.if_then_else(2 <= i and i < 6, A[i - 2], T.float32(0))", "B[i] = 2 <= i && i < 6 ? A[i - 2] : 0.0f" },
        { "int32", "i * 1000 + 7", "B[i] = i * 1000 + 7" },
        { "int32", "i * 1000000000", "B[i] = (int32_t)((uint32_t)i * 1000000000U)" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void sums_that_may_overflow_wrap(void **state)
{
    static const row rows[] = {
        { "int32", "x + y", "B[i] = (int32_t)((uint32_t)x + (uint32_t)y)" },
        { "int32", "x - (y - z)", "B[i] = (int32_t)((uint32_t)x - ((uint32_t)y - (uint32_t)z))" },
        { "int32", "x + y * z - 3", "B[i] = (int32_t)((uint32_t)x + (uint32_t)y * (uint32_t)z - 3U)" },
        { "int32", "T.Cast(\"int32\", T.Cast(\"int8\", x)) * 3 + 1", "B[i] = (int32_t)(int8_t)x * 3 + 1" },
        { "int64", "x * y", "B[i] = (int64_t)((uint64_t)x * (uint64_t)y)" },
        { "uint32", "x * y + T.uint32(1)", "B[i] = x * y + 1U" },
        { "int8", "x + y", "B[i] = (int8_t)(x + y)" },
        { "int8", "x + y - z * T.int8(3)", "B[i] = (int8_t)(x + y - z * 3)" },
        { "int8", "T.shift_right(x + y, T.int8(1))", "B[i] = (int8_t)((int8_t)(x + y) >> 1)" },
        { "uint16", "x * y", "B[i] = (uint16_t)((uint32_t)x * (uint32_t)y)" },
        { "int8", "T.Cast(\"int8\", J[0] + J[1])", "B[i] = (int8_t)((uint32_t)J[0] + (uint32_t)J[1])" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void a_cast_stands_only_where_c_would_convert_differently(void **state)
{
    static const row rows[] = {
        { "int32", "T.Cast(\"int32\", T.Cast(\"int8\", x))", "B[i] = (int8_t)x" },
        { "int64", "x + T.Cast(\"int64\", J[i])", "B[i] = (int64_t)((uint64_t)x + (uint64_t)J[i])" },
        { "int64", "T.truncdiv(x, T.Cast(\"int64\", i + 1))", "B[i] = x / (i + 1)" },
        { "int64", "T.Cast(\"int64\", J[i]) * T.Cast(\"int64\", J[i])", "B[i] = (int64_t)J[i] * J[i]" },
        { "int32", "T.Cast(\"int32\", x > y)", "B[i] = (int32_t)(x > y)" },
        { "float32", "T.Cast(\"float32\", T.Cast(\"float64\", x) * T.float64(2))", "B[i] = (float)((double)x * 2.0)" },
        { "bool", "T.Cast(\"bool\", J[i])", "B[i] = J[i] != 0" },
        { "bool", "A[i]", "B[i] = A[i] != 0" },
        { "bool", "A[i] and not x", "B[i] = A[i] != 0 && !x" },
        { "bool", "x or not A[i]", "B[i] = x || A[i] == 0" },
        { "bool", "not T.isnan(T.Cast(\"float32\", J[i]))", "B[i] = (uint8_t)(isnan((float)J[i]) == 0)" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void conversion_from_float_is_defined_for_every_value(void **state)
{
    static const row rows[] = {
        { "int8", "T.Cast(\"int8\", T.Cast(\"float32\", J[i]) * T.float32(0.5))", "B[i] = float_to_int8((float)J[i] * 0.5f)" },
        { "int8", "T.Cast(\"int8\", T.max(T.min(T.sqrt(T.Cast(\"float32\", J[i])), T.float32(127)), T.float32(-128)))",
          "B[i] = (int8_t)max_float(min_float(sqrtf((float)J[i]), 127.0f), -128.0f)" },
        { "int32", "T.Cast(\"int32\", T.floor(T.Cast(\"float32\", i) * T.float32(0.5)))",
          "B[i] = float_to_int32(floorf((float)i * 0.5f))" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void minimum_and_maximum_evaluate_operands_once(void **state)
{
    static const row rows[] = {
        { "float32", "T.max(A[i], T.float32(0))", "B[i] = A[i] > 0.0f ? A[i] : 0.0f" },
        { "float32", "T.max(A[i] + x, T.float32(0))", "B[i] = max_float(A[i] + x, 0.0f)" },
        { "int32", "T.min(x, y)", "B[i] = x < y ? x : y" },
        { "int8", "T.max(A[i], T.int8(0))", "B[i] = A[i] > 0 ? A[i] : 0" },
        { "int8", "T.max(A[i] + x, T.int8(0))", "B[i] = (int8_t)max_int32((int8_t)(A[i] + x), 0)" },
        { "int64", "T.max(x, T.int64(5))", "B[i] = x > 5 ? x : 5" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void divisions_follow_what_is_known_of_their_operands(void **state)
{
    static const row rows[] = {
        { "int32", "T.truncdiv(x, 4)", "B[i] = x / 4" },
        { "int32", "T.truncmod(x, 4)", "B[i] = x % 4" },
        { "int32", "x // 4", "B[i] = x >> 2" },
        { "int32", "x % 4", "B[i] = x & 3" },
        { "int32", "x // 3", "B[i] = floordiv_int32(x, 3)" },
        { "int32", "x % 3", "B[i] = floormod_int32(x, 3)" },
        { "int32", "T.truncdiv(x, y)", "B[i] = div_int32(x, y)" },
        { "uint32", "x // T.uint32(3)", "B[i] = x / 3U" },
        { "int16", "x // T.int16(3)", "B[i] = (int16_t)floordiv_int32(x, 3)" },
        { "int32", "T.truncdiv(i, i + 1)", "B[i] = i / (i + 1)" },
        { "float32", "T.truncmod(x, y)", "B[i] = fmodf(x, y)" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void bits_are_moved_without_undefined_shifts(void **state)
{
    static const row rows[] = {
        { "int32", "T.shift_right(x, 3)", "B[i] = x >> 3" },
        { "int32", "T.shift_left(x, 3)", "B[i] = (int32_t)((uint32_t)x << 3)" },
        { "int32", "T.shift_left(i, 3)", "B[i] = i << 3" },
        { "int32", "T.shift_left(x, y)", "B[i] = shift_left_int32(x, y)" },
        { "int64", "T.shift_left(T.int64(1), T.int64(40))", "B[i] = INT64_C(1) << 40" },
        { "int32", "T.bitwise_and(x, y + 1)", "B[i] = x & (int32_t)((uint32_t)y + 1U)" },
        { "int32", "T.bitwise_or(T.bitwise_and(x, y), z)", "B[i] = (x & y) | z" },
        { "int8", "T.bitwise_not(x)", "B[i] = (int8_t)(~x)" },
        { "int32", "T.popcount(x)", "B[i] = popcount_uint32((uint32_t)x)" },
        { "int32", "T.reinterpret(\"int32\", T.Cast(\"float32\", x))", "B[i] = int32_bits_of_float((float)x)" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void literals_of_64_bits_have_that_width_where_nothing_else_has(void **state)
{
    static const row rows[] = {
        { "int64", "x * T.int64(3)", "B[i] = (int64_t)((uint64_t)x * 3U)" },
        { "int64", "T.Select(x > T.int64(0), T.int64(1), T.int64(2))", "B[i] = x > 0 ? INT64_C(1) : INT64_C(2)" },
        { "int64", "T.int64(5)", "B[i] = 5" },
        { "int64", "T.int64(-9223372036854775808)", "B[i] = INT64_MIN" },
        { "int32", "-2147483648", "B[i] = INT32_MIN" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void halves_are_rounded_after_each_operation(void **state)
{
    static const row rows[] = {
        { "float16", "x + y", "B[i] = float_to_half(x + y)" },
        { "float16", "x * y + z", "B[i] = float_to_half(round_to_half(x * y) + z)" },
        { "float16", "A[i] * T.float16(0.5)", "B[i] = float_to_half(half_to_float(A[i]) * 0.5f)" },
        { "float16", "T.Cast(\"float16\", T.Cast(\"float32\", x) * T.float32(3))", "B[i] = float_to_half(x * 3.0f)" },
        { "float16", "T.max(A[i], T.float16(0))", "B[i] = float_to_half(max_float(half_to_float(A[i]), 0.0f))" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void updates_in_place_are_compound_assignments(void **state)
{
    static const row rows[] = {
        { "float32", "B[i] + x * y", "B[i] += x * y" },
        { "float32", "B[i] - x", "B[i] -= x" },
        { "float32", "B[i] + x - y", "B[i] = B[i] + x - y" },
        { "uint32", "B[i] + x", "B[i] += x" },
        { "int32", "B[i] + x", "B[i] = (int32_t)((uint32_t)B[i] + (uint32_t)x)" },
        { "int8", "B[i] + x", "B[i] = (int8_t)(B[i] + x)" },
        { "float32", "B[i + 1] + x", "B[i] = B[i + 1] + x" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void comparisons_that_the_type_decides_are_constants(void **state)
{
    static const row rows[] = {
        { "uint8", "T.Select(x >= T.uint8(0), y, z)", "B[i] = true ? y : z" },
        { "uint32", "T.Select(x < T.uint32(0), y, z)", "B[i] = false ? y : z" },
        { "uint8", "T.Select(x > T.uint8(0), y, z)", "B[i] = x > 0 ? y : z" },
    };
    check(*state, rows, TG_COUNT(rows));
}

static void long_sums_do_not_nest(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "x");
    for (int i = 0; i < 1500; ++i)
        tg_puts(&t, i % 2 == 0 ? " + y" : " - z");
    const char *c = c_of_expr(f, "float32", tg_text_z(&t));
    assert_null(strchr(c, '('));
    size_t width = 0, widest = 0, terms = 1;
    for (const char *p = c; *p != '\0'; ++p) {
        width = *p == '\n' ? 0 : width + 1;
        widest = width > widest ? width : widest;
        terms += *p == '+' || *p == '-';
    }
    assert_int_equal(terms, 1501);
    assert_true(widest <= 100);
}

static void an_expression_that_grew_beyond_reason_is_an_error(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "from tvm.script import tir as T\n@T.prim_func\ndef f(A: T.Buffer((1,), \"float32\"), B: T.Buffer((1,), \"float32\")):\n");
    tg_module *m = emitted_parse(f, tg_format(f->cx, "%s    B[0] = A[0]\n", tg_text_z(&t)));
    const tg_func *old = m->funcs.at[0];
    const tg_node *store = old->body, *x = store->kid[0];
    for (int i = 0; i < 40; ++i)                        /* shared operands: 2^40 when written out */
        x = tg_bin(f->cx, TG_ADD, x, x);
    tg_func *g = tg_func_copy(f->cx, old);
    g->body = tg_store(f->cx, store->u.buf, x, 1, &store->kid[1]);
    tg_module_set(m, g);
    emitted e;
    tg_options opt = emitted_options();
    assert_false(emit_module(&e, f, m, &opt));
    assert_non_null(strstr(tg_text_z(&f->log), "more than"));
}

static const struct { const char *dtype, *expr, *message; } refused[] = {
    { "int32", "T.truncdiv(x, 0)", "division by zero" },
    { "int64", "T.reinterpret(\"int64\", T.float32(1) + T.Cast(\"float32\", n))", "differ in size" },
    { "int32", "T.call_extern(\"int32\", \"no good\", x)", "not a name that C can call" },
    { "int32", "T.call_extern(\"int32\", \"g\", x) + T.call_extern(\"int32\", \"g\", x, y)", "called in two ways" },
};

static void what_c_cannot_say_is_an_error_with_its_place(void **state)
{
    for (size_t i = 0; i < TG_COUNT(refused); ++i) {
        tg_fixture *f = *state;
        tg_test_clear_log(f);
        const char *d = refused[i].dtype;
        const char *log = refusal_of(f, tg_format(f->cx, "from tvm.script import tir as T\n@T.prim_func\n"
            "def f(B: T.Buffer((64,), \"%s\"), x: T.%s, y: T.%s, n: T.int32):\n    B[0] = %s\n", d, d, d, refused[i].expr));
        if (strstr(log, refused[i].message) == NULL || strncmp(log, "t.py:4:", 7) != 0)
            fail_msg("%s: %s", refused[i].expr, log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(brackets_stand_only_where_c_needs_them, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(index_arithmetic_stays_plain, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(sums_that_may_overflow_wrap, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_cast_stands_only_where_c_would_convert_differently, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(conversion_from_float_is_defined_for_every_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(minimum_and_maximum_evaluate_operands_once, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(divisions_follow_what_is_known_of_their_operands, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(bits_are_moved_without_undefined_shifts, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(literals_of_64_bits_have_that_width_where_nothing_else_has, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(halves_are_rounded_after_each_operation, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(updates_in_place_are_compound_assignments, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(comparisons_that_the_type_decides_are_constants, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(long_sums_do_not_nest, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_expression_that_grew_beyond_reason_is_an_error, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_c_cannot_say_is_an_error_with_its_place, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
