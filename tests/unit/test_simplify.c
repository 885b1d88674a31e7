/* test_simplify.c: every rule against direct computation over all values of small variables, and what is simplified to what. */
#include "same_values.h"
#include "passes/bounds.h"

/* ---- a small interpreter of integer expressions ---- */

enum { NVARS = 3 };
typedef struct space {
    const tg_var *var[NVARS];
    int64_t lo[NVARS], hi[NVARS];
} space;

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t value_of(const tg_node *n, const space *s, const int64_t *at)
{
    if (n->kind == TG_INT) return n->u.i;
    if (n->kind == TG_VAR) {
        for (int i = 0; i < NVARS; ++i)
            if (s->var[i] == n->u.var) return at[i];
        fail_msg("unknown variable %s", n->u.var->name->text);
    }
    if (n->kind == TG_SELECT || tg_is_call(n, "if_then_else"))
        return value_of(n->kid[value_of(n->kid[0], s, at) != 0 ? 1 : 2], s, at);
    if (n->kind == TG_CAST) return tg_wrap_to(tg_dtype_of(n), value_of(n->kid[0], s, at));
    int64_t a = value_of(n->kid[0], s, at), b = n->nkids > 1 ? value_of(n->kid[1], s, at) : 0;
    switch (n->kind) {
    case TG_ADD: return tg_wrap_to(tg_dtype_of(n), a + b);
    case TG_SUB: return tg_wrap_to(tg_dtype_of(n), a - b);
    case TG_MUL: return tg_wrap_to(tg_dtype_of(n), a * b);
    case TG_DIV: return a / b;
    case TG_MOD: return a % b;
    case TG_FLOORDIV: return floor_div(a, b);
    case TG_FLOORMOD: return a - floor_div(a, b) * b;
    case TG_MIN: return a < b ? a : b;
    case TG_MAX: return a > b ? a : b;
    case TG_EQ: return a == b;
    case TG_NE: return a != b;
    case TG_LT: return a < b;
    case TG_LE: return a <= b;
    case TG_GT: return a > b;
    case TG_GE: return a >= b;
    case TG_AND: return a && b;
    case TG_OR: return a || b;
    case TG_NOT: return !a;
    default: fail_msg("no rule for %s", tg_kind_info[n->kind].text); return 0;
    }
}

static space new_space(tg_ctx *cx, DLDataType d)
{
    static const int64_t lo[NVARS] = { 0, -3, 2 }, hi[NVARS] = { 6, 4, 5 };
    static const char *const name[NVARS] = { "x", "y", "z" };
    space s;
    for (int i = 0; i < NVARS; ++i) {
        s.var[i] = tg_var_new(cx, tg_intern_z(cx, name[i]), tg_prim(cx, d));
        s.lo[i] = lo[i];
        s.hi[i] = hi[i];
    }
    return s;
}

/* for x, y, z: Out[0] = e, so that the pass knows the ranges; the expression after the pass. */
static const tg_node *simplified(tg_fixture *f, const space *s, const tg_node *e)
{
    tg_ctx *cx = f->cx;
    int64_t one = 1;
    DLDataType d = tg_dtype_of(e), index = s->var[0]->type->dtype;
    const tg_buffer *out = tg_buffer_new(cx, tg_intern_z(cx, "Out"), d, 1, &one, TG_INT32);
    const tg_node *zero = tg_int(cx, TG_INT32, 0), *body = tg_store(cx, out, e, 1, &zero);
    for (int i = NVARS; i-- > 0;)
        body = tg_for(cx, TG_FOR_SERIAL, s->var[i], tg_int(cx, index, s->lo[i]),
                      tg_int(cx, index, s->hi[i] - s->lo[i] + 1), body);
    body = tg_simplify_node(cx, body);
    assert_ptr_equal(tg_simplify_node(cx, body), body);
    while (body->kind == TG_FOR) body = body->kid[2];
    assert_int_equal(body->kind, TG_STORE);
    return body->kid[0];
}

static void check_everywhere(tg_fixture *f, const space *s, const tg_node *e, const tg_node *now)
{
    int64_t at[NVARS];
    for (at[0] = s->lo[0]; at[0] <= s->hi[0]; ++at[0])
        for (at[1] = s->lo[1]; at[1] <= s->hi[1]; ++at[1])
            for (at[2] = s->lo[2]; at[2] <= s->hi[2]; ++at[2]) {
                int64_t want = value_of(e, s, at), got = value_of(now, s, at);
                if (want != got)
                    fail_msg("%s became %s: %lld and %lld at x=%lld y=%lld z=%lld", tg_node_text(f->cx, e),
                             tg_node_text(f->cx, now), (long long)want, (long long)got, (long long)at[0],
                             (long long)at[1], (long long)at[2]);
            }
}

/* ---- random expressions ---- */

static const tg_node *random_int(tg_ctx *cx, const space *s, uint32_t *seed, unsigned depth);

static const tg_node *random_bool(tg_ctx *cx, const space *s, uint32_t *seed, unsigned depth)
{
    static const enum tg_kind compare[] = { TG_EQ, TG_NE, TG_LT, TG_LE, TG_GT, TG_GE };
    uint32_t k = depth == 0 ? 0 : tg_test_random(seed) % 9;
    if (k < 6)
        return tg_bin(cx, compare[tg_test_random(seed) % 6], random_int(cx, s, seed, depth > 0 ? depth - 1 : 0),
                      random_int(cx, s, seed, depth > 0 ? depth - 1 : 0));
    if (k == 8) return tg_not(cx, random_bool(cx, s, seed, depth - 1));
    return tg_bin(cx, k == 6 ? TG_AND : TG_OR, random_bool(cx, s, seed, depth - 1),
                  random_bool(cx, s, seed, depth - 1));
}

static const tg_node *random_int(tg_ctx *cx, const space *s, uint32_t *seed, unsigned depth)
{
    DLDataType d = s->var[0]->type->dtype;
    uint32_t k = depth == 0 ? tg_test_random(seed) % 4 : tg_test_random(seed) % 16;
    if (k < 3) return tg_var_ref(cx, s->var[k]);
    if (k == 3) return tg_int(cx, d, (int)(tg_test_random(seed) % 13) - 4);
    const tg_node *a = random_int(cx, s, seed, depth - 1);
    switch (k) {
    case 4:
    case 5: return tg_bin(cx, TG_ADD, a, random_int(cx, s, seed, depth - 1));
    case 6: return tg_bin(cx, TG_SUB, a, random_int(cx, s, seed, depth - 1));
    case 7:
    case 8: return tg_bin(cx, TG_MUL, a, tg_int(cx, d, (int)(tg_test_random(seed) % 9) - 2));
    case 9: return tg_bin(cx, TG_MIN, a, random_int(cx, s, seed, depth - 1));
    case 10: return tg_bin(cx, TG_MAX, a, random_int(cx, s, seed, depth - 1));
    case 11: return tg_select(cx, random_bool(cx, s, seed, depth - 1), a, random_int(cx, s, seed, depth - 1));
    default: {
        static const enum tg_kind divide[] = { TG_FLOORDIV, TG_FLOORMOD, TG_DIV, TG_MOD };
        static const int64_t by[] = { 1, 2, 3, 4, 6, 8, 12 };
        return tg_bin(cx, divide[k % 4], a, tg_int(cx, d, by[tg_test_random(seed) % TG_COUNT(by)]));
    }
    }
}

static void random_expressions_keep_their_value(void **state)
{
    tg_fixture *f = *state;
    uint32_t seed = 42;
    for (int round = 0; round < 12000; ++round) {
        space s = new_space(f->cx, round % 3 == 0 ? TG_INT64 : TG_INT32);
        const tg_node *e = random_int(f->cx, &s, &seed, 2 + (unsigned)round % 4);
        check_everywhere(f, &s, e, simplified(f, &s, e));
    }
}

static void conditions_keep_their_value(void **state)
{
    tg_fixture *f = *state;
    uint32_t seed = 7;
    for (int round = 0; round < 6000; ++round) {
        space s = new_space(f->cx, TG_INT32);
        const tg_node *e = random_bool(f->cx, &s, &seed, 3);
        check_everywhere(f, &s, e, simplified(f, &s, e));
    }
}

/* Divisions of sums are where the rules are: all coefficients, all divisors. */
static void divided_sums_keep_their_value(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    static const enum tg_kind divide[] = { TG_FLOORDIV, TG_FLOORMOD, TG_DIV, TG_MOD };
    for (int64_t c = -4; c <= 8; ++c)
        for (int64_t k = -3; k <= 5; k += 2)
            for (int64_t by = 1; by <= 8; ++by)
                for (size_t i = 0; i < TG_COUNT(divide); ++i) {
                    space s = new_space(cx, TG_INT32);
                    const tg_node *e = tg_bin(cx, TG_MUL, tg_var_ref(cx, s.var[0]), tg_int(cx, TG_INT32, c));
                    e = tg_bin(cx, TG_ADD, e, tg_var_ref(cx, s.var[i % 2 + 1]));
                    e = tg_bin(cx, divide[i], tg_bin(cx, TG_ADD, e, tg_int(cx, TG_INT32, k)), tg_int(cx, TG_INT32, by));
                    check_everywhere(f, &s, e, simplified(f, &s, e));
                }
}

/* Narrow types wrap: all pairs of int8 and uint8 operands, the right one a constant. */
static void constants_of_narrow_types_fold_as_they_wrap(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    static const enum tg_kind kind[] = { TG_ADD,      TG_SUB, TG_MUL, TG_DIV, TG_MOD, TG_FLOORDIV,
                                         TG_FLOORMOD, TG_MIN, TG_MAX, TG_LT,  TG_GE };
    space s = new_space(cx, TG_INT32);
    const int64_t at[NVARS] = { 0 };
    for (int is_signed = 0; is_signed < 2; ++is_signed) {
        DLDataType d = is_signed ? TG_INT8 : TG_UINT8;
        for (int a = -128; a < 128; a += 3)
            for (int b = -128; b < 128; b += 5)
                for (size_t k = 0; k < TG_COUNT(kind); ++k) {
                    const tg_node *x = tg_int(cx, d, a), *y = tg_int(cx, d, b);
                    if (k >= 3 && k <= 6 && (y->u.i == 0 || y->u.i == -1)) continue;
                    const tg_node *e = tg_bin(cx, kind[k], x, y), *now = simplified(f, &s, e);
                    assert_int_equal(now->kind, TG_INT);
                    assert_int_equal(now->u.i, tg_wrap_to(tg_dtype_of(e), value_of(e, &s, at)));
                }
    }
}

/* ---- text to text ---- */

/* A[0] = @p before within loops i in [0, 8), j in [0, 4), k in [0, 16) becomes A[0] = @p after. */
static const struct {
    const char *before, *after;
} becomes[] = {
    { "i * 4 + j + 0", "i * 4 + j" },
    { "(i * 4 + j) // 4", "i" },
    { "(i * 4 + j) % 4", "j" },
    { "(i * 8 + j * 2 + 1) // 2", "i * 4 + j" },
    { "(i * 8 + j * 2) // 4", "i * 2 + T.Div(j, 2)" },
    { "k // 4 * 4 + k % 4", "k" },
    { "k // 4 * 40 + k % 4 * 10", "k * 10" },
    { "(k // 2 // 4 * 2 + k // 4 % 2) * 4 + k % 4", "k" },
    { "i - i", "0" },
    { "2 * i - j + i * 3 - 7", "i * 5 - j - 7" },
    { "T.min(i, 7)", "i" },
    { "T.max(i, j - 4)", "i" },
    { "T.min(i, 3)", "T.min(i, 3)" },
    { "T.Select(i * 4 + j < 32, i, j)", "i" },
    { "T.if_then_else(j >= 4, j, k)", "k" },
    { "T.if_then_else(1 <= i, j, k)", "T.if_then_else(1 <= i, j, k)" },
    { "T.Cast(\"int32\", T.Cast(\"int64\", i))", "i" },
    { "T.truncmod(i - 8, 16)", "i - 8" },
    { "T.Div(i - 8, 3)", "T.Div(i - 8, 3)" },
    { "(i - 8) // 3", "T.Div(i + 1, 3) - 3" },
    { "(A[0] + i) // 3", "(A[0] + i) // 3" },
    { "k // 3 // 2", "T.Div(k, 6)" },
    { "k % 8 % 4", "T.truncmod(k, 4)" },
};

static void what_becomes_of_expressions(void **state)
{
    tg_fixture *f = *state;
    for (size_t c = 0; c < TG_COUNT(becomes); ++c) {
        const char *form = TIR_FUNC
            "main(A: T.Buffer((1,), \"int32\")):\n        for i, j, k in T.grid(8, 4, 16):\n            A[0] = %s\n";
        tg_module *m = tg_test_tir(f, tg_format(f->cx, form, becomes[c].before));
        tg_module *now = tg_test_pass(f, m, tg_pass_simplify, "simplify"),
                  *want = tg_test_tir(f, tg_format(f->cx, form, becomes[c].after));
        if (!tg_node_equal(f->cx, tg_module_find_z(now, "main")->body, tg_module_find_z(want, "main")->body))
            tg_test_has(f, now, tg_format(f->cx, "A[0] = %s\n", becomes[c].after));
    }
}

#define BUFFERS "main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
static const struct {
    const char *before, *gone, *stays;
} statements[] = {
    { "        for i in range(0):\n            B[i] = A[i]\n        B[0] = T.float32(1)\n", "for i",
      "B[0] = T.float32(1" },
    { "        for i in range(8):\n            if i < 8:\n                B[i] = A[i]\n            else:\n             "
      "   B[i] = T.float32(0)\n",
      "if i", "B[i] = A[i]" },
    { "        for i in range(8):\n            if i >= 8:\n                B[i] = A[i]\n        B[9] = A[9]\n", "for i",
      "B[9] = A[9]" },
    { "        x: T.int32 = 3\n        B[x] = A[x + 1]\n", "x", "B[3] = A[4]" },
    { "        x: T.float32 = A[2]\n        B[0] = T.float32(2)\n", "A[2]", "B[0] = T.float32(2" },
    { "        for i in range(4):\n            y: T.int32 = i * 2\n            B[y] = A[y]\n", "nothing is gone",
      "B[y] = A[y]" },
    { "        C = T.allocate([4], \"float32\", \"global\")\n        B[0] = A[0]\n", "allocate", "B[0] = A[0]" },
    { "        B[0] = A[0] * T.float32(1) - T.float32(0)\n", "*", "B[0] = A[0]" },
    { "        B[0] = A[0] + T.float32(0)\n", "nothing is gone", "A[0] + T.float32(0" },
    { "        B[0] = A[0] + T.float32(1) * T.float32(0.5)\n", "*", "A[0] + T.float32(0.5)" },
    { "        assert 1 < 2, \"message\"\n        B[0] = A[0]\n", "assert", "B[0] = A[0]" },
    { "        while T.bool(False):\n            B[0] = A[1]\n        B[0] = A[0]\n", "while", "B[0] = A[0]" },
};

static void what_becomes_of_statements(void **state)
{
    tg_fixture *f = *state;
    for (size_t c = 0; c < TG_COUNT(statements); ++c) {
        tg_module *m = tg_test_tir(f, tg_format(f->cx, TIR_FUNC BUFFERS "%s", statements[c].before));
        tg_module *now = tg_test_pass(f, m, tg_pass_simplify, "simplify");
        const char *text = strstr(tg_test_text(f, now), "def main");
        text = strchr(text, '\n');
        if (strstr(text, statements[c].gone) != NULL || strstr(text, statements[c].stays) == NULL)
            fail_msg("case %zu: %s", c, text);
    }
}

/* A condition may not be assumed for a load that it guards when the range says nothing. */
static void nothing_is_assumed_of_parameters(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(n: T.int32, A: T.Buffer((4,), \"int32\")):\n        for i in "
                                           "range(n):\n            if i < 4:\n                A[i] = T.max(n, 0)\n");
    tg_module *c = tg_test_copy(f, m);
    tg_options opt = { 0 };
    assert_true(tg_pass_simplify(f->cx, c, &opt));
    tg_test_has(f, c, "if i < 4");
    tg_test_has(f, c, "T.max(n, 0)");
}

/* Deep and wide expressions end in reasonable time, and do not grow the stack. */
static void long_chains_are_no_burden(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    space s = new_space(cx, TG_INT32);
    const tg_node *sum = tg_var_ref(cx, s.var[0]), *deep = sum, *shared = sum;
    for (int i = 0; i < 20000; ++i)
        sum = tg_bin(cx, TG_ADD, sum,
                     tg_load(cx, tg_buffer_new(cx, tg_intern_z(cx, "A"), TG_INT32, 0, NULL, TG_INT32), 0, NULL));
    for (int i = 0; i < 20000; ++i)
        deep = tg_bin(cx, i % 2 ? TG_FLOORMOD : TG_ADD, deep, tg_int(cx, TG_INT32, i % 2 ? 7 : 3));
    for (int i = 0; i < 60; ++i)
        shared = tg_bin(cx, TG_ADD, tg_bin(cx, TG_FLOORMOD, shared, tg_int(cx, TG_INT32, 5)), shared);
    simplified(f, &s, sum);
    simplified(f, &s, deep);
    simplified(f, &s, shared);
}

/* Memory that nobody reads but to update it is not written; memory whose address goes somewhere is. */
static void stores_that_nobody_reads_go(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                                  "        d = T.allocate([4], \"float32\")\n        D = T.decl_buffer((4,), data=d)\n"
                                  "        e = T.allocate([4], \"float32\")\n        E = T.decl_buffer((4,), data=e)\n"
                                  "        for i in range(4):\n            D[i] = A[i]\n            E[i] = A[i]\n"
                                  "            D[i] = D[i] + A[3 - i]\n            E[i] = E[3 - i] + A[i]\n"
                                  "        for i in range(4):\n            B[i] = E[3 - i]\n");
    m = tg_test_pass(f, m, tg_pass_simplify, "simplify");
    tg_test_has_not(f, m, "D[");
    tg_test_has(f, m, "E[i] = A[i]");
    tg_test_has(f, m, "E[i] = E[3 - i] + A[i]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stores_that_nobody_reads_go, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(random_expressions_keep_their_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(conditions_keep_their_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(divided_sums_keep_their_value, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(constants_of_narrow_types_fold_as_they_wrap, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_becomes_of_expressions, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_becomes_of_statements, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_assumed_of_parameters, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(long_chains_are_no_burden, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
