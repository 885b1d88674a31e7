/* test_c_semantics.c: emitted C computes what the evaluator computes, for every pair of 8-bit operands, for the edges of wider
 * types, and for floats that are no numbers, with undefined behaviour turned into a trap. Needs a C compiler: $CC, or cc. */
#include "emitted.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "eval/eval.h"
#include "passes/passes.h"

static const char *compiler(void)
{
    const char *cc = getenv("CC");
    return cc != NULL && cc[0] != '\0' ? cc : "cc";
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* The functions of @p m as a loaded library. */
static void *compile(tg_fixture *f, const tg_module *m)
{
    static const char flags[] = "-std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror "
                                "-fsanitize=undefined -fsanitize-undefined-trap-on-error -fPIC -shared";
    char folder[] = "/tmp/tirgen-test-XXXXXX";
    emitted x;
    tg_options opt = emitted_options();
    if (!emit_module(&x, f, m, &opt))
        fail_msg("%s", tg_text_z(&f->log));
    assert_non_null(mkdtemp(folder));
    write_file(folder, "t.h", emitted_file(&x, "t.h"));
    write_file(folder, "t.c", emitted_file(&x, "t.c"));
    const char *command = tg_format(f->cx, "%s %s -o %s/t.so %s/t.c -lm", compiler(), flags, folder, folder);
    if (system(command) != 0)
        fail_msg("%s\n%s", command, emitted_file(&x, "t.c"));
    void *lib = dlopen(tg_format(f->cx, "%s/t.so", folder), RTLD_NOW);
    if (lib == NULL)
        fail_msg("%s", dlerror());
    static const char *const files[] = { "t.c", "t.h", "t.so" };
    for (size_t i = 0; i < TG_COUNT(files); ++i)
        unlink(tg_format(f->cx, "%s/%s", folder, files[i]));
    rmdir(folder);
    return lib;
}

typedef void (*kernel)(const void *a, const void *b, void *c);

static kernel find(void *lib, const char *name)
{
    void *symbol = dlsym(lib, name);
    kernel k;
    assert_non_null(symbol);
    memcpy(&k, &symbol, sizeof k);          /* ISO C does not convert data pointers to functions */
    return k;
}

/* ---- operands ---- */

static tg_tensor *operands(tg_fixture *f, DLDataType d, int64_t n)
{
    return tg_tensor_new(f->cx, tg_tensor_type(f->cx, d, 1, &n, 0), NULL);
}

static const int64_t edges[] = { 0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 31, 63, 77, 100, 127, 128, 129, 255, 256, 1000, 32767, 32768, 65535,
                                 65536, 1000003, 2147483646, 2147483647, 2147483648, 4294967295, 1099511627776, INT64_MAX };

/* Every pair for 8 bits; else all pairs of edges, both signs. */
static int64_t fill(tg_fixture *f, DLDataType d, tg_tensor **a, tg_tensor **b)
{
    int64_t m = d.bits == 8 ? 256 : 2 * (int64_t)TG_COUNT(edges), n = m * m;
    *a = operands(f, d, n);
    *b = operands(f, d, n);
    for (int64_t i = 0; i < n; ++i) {
        int64_t p = i / m, q = i % m, e = (int64_t)TG_COUNT(edges);
        tg_tensor_set_i64(*a, i, tg_wrap_to(d, d.bits == 8 ? p : p < e ? edges[p] : -1 - edges[p - e]));
        tg_tensor_set_i64(*b, i, tg_wrap_to(d, d.bits == 8 ? q : q < e ? edges[q] : -1 - edges[q - e]));
    }
    return n;
}

/* ---- a module of one function an expression ---- */

static tg_module *module_of(tg_fixture *f, const char *dtype, int64_t n, const char *const *expr, size_t nexpr, const char *result)
{
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n");
    for (size_t k = 0; k < nexpr; ++k) {
        tg_text line = tg_text_new(f->cx);      /* D stands for the dtype */
        for (const char *p = expr[k]; *p != '\0'; ++p)
            if (*p == '$')
                tg_puts(&line, dtype);
            else
                tg_putc(&line, *p);
        tg_printf(&t, "    @T.prim_func\n    def f%zu(A: T.Buffer((%lld,), \"%s\"), B: T.Buffer((%lld,), \"%s\"), C: T.Buffer((%lld,), \"%s\")):\n"
                  "        T.func_attr({\"tir.noalias\": T.bool(True)})\n"
                  "        for i in range(%lld):\n            a: T.%s = A[i]\n            b: T.%s = B[i]\n            C[i] = %s\n\n",
                  k, (long long)n, dtype, (long long)n, dtype, (long long)n, result, (long long)n, dtype, dtype, tg_text_z(&line));
    }
    return emitted_parse(f, tg_text_z(&t));
}

static void compare(tg_fixture *f, const tg_module *m, void *lib, size_t k, const char *expr, tg_tensor *a, tg_tensor *b, tg_tensor *want,
                    tg_tensor *got)
{
    const char *name = tg_format(f->cx, "f%zu", k);
    DLTensor *args[3] = { &a->dl, &b->dl, &want->dl };
    int64_t ret;
    if (!tg_eval(f->cx, m, tg_module_find(m, tg_intern_z(f->cx, name)), args, 3, &ret))
        fail_msg("%s: %s", expr, tg_text_z(&f->log));
    find(lib, name)(a->dl.data, b->dl.data, got->dl.data);
    size_t size = tg_dtype_bytes(want->dl.dtype);
    for (int64_t i = 0; i < want->dl.shape[0]; ++i) {
        const char *w = (const char *)want->dl.data + (size_t)i * size, *g = (const char *)got->dl.data + (size_t)i * size;
        if (memcmp(w, g, size) == 0 || (tg_is_float(want->dl.dtype) && isnan(tg_tensor_f64(want, i)) && isnan(tg_tensor_f64(got, i))))
            continue;
        fail_msg("%s %s: a = %.17g, b = %.17g gives %.17g, the evaluator says %.17g", tg_dtype_text(f->cx, a->dl.dtype), expr,
                 tg_tensor_f64(a, i), tg_tensor_f64(b, i), tg_tensor_f64(got, i), tg_tensor_f64(want, i));
    }
}

static void check(tg_fixture *f, const char *dtype, tg_tensor *a, tg_tensor *b, const char *result, const char *const *expr, size_t n)
{
    DLDataType out;
    int64_t count = a->dl.shape[0];
    assert_true(tg_dtype_parse(result, strlen(result), &out));
    tg_module *m = module_of(f, dtype, count, expr, n, result);
    void *lib = compile(f, m);
    for (size_t k = 0; k < n; ++k)
        compare(f, m, lib, k, expr[k], a, b, operands(f, out, count), operands(f, out, count));
    dlclose(lib);
}

/* ---- integers ---- */

static const char *const integer_expr[] = {
    "a + b", "a - b", "a * b", "a + b - a * b", "(a - b) * (a + b) * a", "a - (b - a)", "a * a * a * b",
    "T.min(a, b)", "T.max(a, b)", "T.min(a + b, a * b)", "T.max(a, T.$(3))", "T.max(T.min(a - b, T.$(100)), T.$(7))",
    "T.if_then_else(b != T.$(0), T.truncdiv(a, b), T.$(0))", "T.if_then_else(b != T.$(0), T.truncmod(a, b), T.$(0))",
    "T.if_then_else(b != T.$(0), a // b, T.$(0))", "T.if_then_else(b != T.$(0), a % b, T.$(0))",
    "a // T.$(4) + b % T.$(4)", "a // T.$(3) - b % T.$(5)", "T.truncdiv(a - b, T.$(8)) + T.truncmod(a + b, T.$(16))",
    "(a + b) // T.$(2)", "(a * b) % T.$(64)", "T.truncdiv(a, T.$(10)) * T.$(10) + T.truncmod(a, T.$(10))",
    "T.shift_left(a, T.bitwise_and(b, T.$(7)))", "T.shift_right(a, T.bitwise_and(b, T.$(7)))", "T.shift_right(a + b, T.$(1))",
    "T.shift_left(a, b)", "T.shift_right(a, b)", "T.shift_left(a, T.$(3)) + T.shift_right(b, T.$(3))",
    "T.bitwise_and(a, b)", "T.bitwise_or(a, T.bitwise_and(b, T.$(15)))", "T.bitwise_xor(a + b, b)", "T.bitwise_not(a)",
    "T.popcount(a)", "T.Cast(\"$\", T.clz(T.bitwise_or(a, T.$(1))))",
    "T.Select(a < b, a, b)", "T.Select(a <= b and a != T.$(0), a - b, b + a)", "T.Select(a > b or b == T.$(1), T.$(1), T.$(2))",
    "T.Select(not a >= b, a, b)", "T.Select((a < b) == (b < T.$(9)), a, b)", "T.Cast(\"$\", a < b) + T.Cast(\"$\", a == b)",
    "T.Cast(\"$\", T.Cast(\"int32\", a) * T.Cast(\"int32\", b) - 3)", "T.Cast(\"$\", T.Cast(\"int8\", a + b))",
    "T.Cast(\"$\", T.Cast(\"uint8\", a) + T.Cast(\"uint8\", b))", "T.Cast(\"$\", T.Cast(\"int64\", a) - T.Cast(\"int64\", b))",
    "T.Cast(\"$\", T.Cast(\"uint32\", a * b))", "T.Cast(\"$\", T.Cast(\"int16\", a) * T.Cast(\"int16\", b))",
    "T.Cast(\"$\", T.Cast(\"uint16\", a) * T.Cast(\"uint16\", b))",
    "T.Cast(\"$\", T.q_multiply_shift(T.Cast(\"int32\", a), 1431655765, 31, -2))",
    "T.Cast(\"$\", T.q_multiply_shift(T.Cast(\"int32\", a), 1073741824, 31, -3))",
    "T.Cast(\"$\", T.q_multiply_shift(T.Cast(\"int32\", a) + T.Cast(\"int32\", b), 1717986918, 31, 2))",
    "T.Cast(\"$\", T.Cast(\"float32\", a) * T.float32(0.5))", "T.Cast(\"$\", T.Cast(\"float64\", a) / T.float64(3))",
    "T.Cast(\"$\", T.Cast(\"float32\", a) * T.Cast(\"float32\", b))",
    "T.Cast(\"$\", T.max(T.min(T.round(T.Cast(\"float32\", a) * T.float32(0.3)), T.float32(100)), T.float32(0)))",
};

static void integers_of_every_width_agree_with_the_evaluator(void **state)
{
    static const char *const dtype[] = { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" };
    for (size_t i = 0; i < TG_COUNT(dtype); ++i) {
        DLDataType d;
        tg_tensor *a, *b;
        assert_true(tg_dtype_parse(dtype[i], strlen(dtype[i]), &d));
        fill(*state, d, &a, &b);
        check(*state, dtype[i], a, b, dtype[i], integer_expr, TG_COUNT(integer_expr));
    }
}

/* ---- floats ---- */

static const double reals[] = { 0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.7, -3.7, 127, 128, -128, -129, 255.5, 256, 32768, 65504,
                                2147483648.0, -2147483649.0, 4294967296.0, 9.3e18, -9.3e18, 1e-8, 6e-8, 1e-40, 3.4e38, HUGE_VAL, -HUGE_VAL,
                                (double)NAN };

static const char *const float_expr[] = {
    "a + b", "a - (b - a)", "a * b + a", "a / (b * a)", "T.min(a, b)", "T.max(a, b)", "T.max(b, a)", "T.max(a * b, T.$(0))",
    "T.max(T.min(a, T.$(6)), T.$(0))", "T.floor(a) + T.ceil(b)", "T.trunc(a)", "T.round(a)", "T.nearbyint(a)", "T.fabs(a) - b", "T.sqrt(a)",
    "T.copysign(a, b)", "T.truncmod(a, b)", "T.Select(a < b, a, b)", "T.Select(a == b, a, b + a)", "T.Select(a != a, T.$(1), a)",
    "T.if_then_else(T.isnan(a), b, a)", "T.if_then_else(T.isfinite(a) and not T.isinf(b), b, T.$(\"inf\"))", "a + T.$(-1.5)",
    "T.Cast(\"$\", T.Cast(\"int32\", a))", "T.Cast(\"$\", T.Cast(\"int8\", a))", "T.Cast(\"$\", T.Cast(\"uint8\", b))",
    "T.Cast(\"$\", T.Cast(\"int64\", a))", "T.Cast(\"$\", T.Cast(\"uint32\", a))", "T.Cast(\"$\", T.Cast(\"bool\", a))",
    "T.Cast(\"$\", T.Cast(\"float16\", a))", "T.Cast(\"$\", T.Cast(\"float64\", a) * T.Cast(\"float64\", b))",
};

static void floats_agree_with_the_evaluator_also_where_they_are_no_numbers(void **state)
{
    static const char *const dtype[] = { "float32", "float64", "float16" };
    for (size_t i = 0; i < TG_COUNT(dtype); ++i) {
        DLDataType d;
        int64_t m = (int64_t)TG_COUNT(reals);
        assert_true(tg_dtype_parse(dtype[i], strlen(dtype[i]), &d));
        tg_tensor *a = operands(*state, d, m * m), *b = operands(*state, d, m * m);
        for (int64_t k = 0; k < m * m; ++k) {
            tg_tensor_set_f64(a, k, reals[k / m]);
            tg_tensor_set_f64(b, k, reals[k % m]);
        }
        check(*state, dtype[i], a, b, dtype[i], float_expr, TG_COUNT(float_expr));
    }
}

/* Every half there is, through the conversions in both directions. */
static void every_half_survives(void **state)
{
    static const char *const expr[] = { "a", "a + b", "a * T.float16(0.3333)", "T.Cast(\"float16\", T.Cast(\"float32\", a) * T.float32(0.7))" };
    tg_tensor *a = operands(*state, TG_FLOAT16, 65536), *b = operands(*state, TG_FLOAT16, 65536);
    for (int64_t i = 0; i < 65536; ++i) {
        uint16_t x = (uint16_t)i, y = (uint16_t)(i * 40503);
        memcpy((char *)a->dl.data + i * 2, &x, sizeof x);
        memcpy((char *)b->dl.data + i * 2, &y, sizeof y);
    }
    check(*state, "float16", a, b, "float16", expr, TG_COUNT(expr));
}

static void bools_are_true_for_any_byte_but_zero_and_are_written_0_or_1(void **state)
{
    static const char *const expr[] = { "a", "a and b", "a or not b", "a == b", "T.Select(a, b, not b)", "T.bitwise_xor(a, b)" };
    tg_tensor *a = operands(*state, TG_BOOL, 16), *b = operands(*state, TG_BOOL, 16);
    for (int64_t i = 0; i < 16; ++i) {
        ((uint8_t *)a->dl.data)[i] = (uint8_t)(i % 4 == 3 ? 255 : i % 4);
        ((uint8_t *)b->dl.data)[i] = (uint8_t)(i / 4);
    }
    tg_module *m = module_of(*state, "bool", 16, expr, TG_COUNT(expr), "bool");
    void *lib = compile(*state, m);
    for (size_t k = 0; k < TG_COUNT(expr); ++k) {
        uint8_t got[16];
        find(lib, tg_format(((tg_fixture *)*state)->cx, "f%zu", k))(a->dl.data, b->dl.data, got);
        for (int i = 0; i < 16; ++i) {
            bool x = i % 4 != 0, y = i / 4 != 0;
            bool want[] = { x, x && y, x || !y, x == y, x ? y : !y, x != y };
            assert_int_equal(got[i], want[k]);
        }
    }
    dlclose(lib);
}

int main(void)
{
    char command[300];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compiler());
    if (system(command) != 0) {
        printf("no C compiler: skipped\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_of_every_width_agree_with_the_evaluator, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(floats_agree_with_the_evaluator_also_where_they_are_no_numbers, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(every_half_survives, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(bools_are_true_for_any_byte_but_zero_and_are_written_0_or_1, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
