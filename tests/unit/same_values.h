/* same_values.h: the same function before and after a pass or a schedule, run by the evaluator on the same numbers.
 * Inputs are multiples of 1/8 between -2 and 2: products and sums of them are exact, so that the order of a sum is not seen. */
#ifndef TG_TEST_SAME_VALUES_H
#define TG_TEST_SAME_VALUES_H

#include "fixture.h"
#include "eval/eval.h"
#include "grammar/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/passes.h"

#include <math.h>

#define TIR_HEAD "# from tvm.script import ir as I\n# from tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
#define TIR_FUNC "    @T.prim_func\n    def "

static inline tg_module *tg_test_tir(tg_fixture *f, const char *text)
{
    tg_module *m = tg_module_new(f->cx);
    const char *all = tg_format(f->cx, TIR_HEAD "%s", text);
    if (!tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "test.py", all, strlen(all))))
        fail_msg("%s", tg_text_z(&f->log));
    return m;
}

/* The same functions in a module of their own: passes put new ones in place of old. */
static inline tg_module *tg_test_copy(tg_fixture *f, const tg_module *m)
{
    tg_module *c = tg_module_new(f->cx);
    c->attrs = m->attrs;
    for (size_t i = 0; i < m->funcs.n; ++i) tg_module_add(c, m->funcs.at[i]);
    return c;
}

static inline uint32_t tg_test_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline void tg_test_fill(tg_tensor *t, uint32_t *state)
{
    int64_t n;
    tg_type_elements(t->type, &n);
    DLDataType d = t->dl.dtype;
    for (int64_t i = 0; i < n; ++i) {
        int v = (int)(tg_test_random(state) % 33) - 16;
        if (tg_is_float(d)) tg_tensor_set_f64(t, i, v / 8.0);
        else tg_tensor_set_i64(t, i, d.code == kDLUInt ? (d.bits == 1 ? v & 1 : v + 16) : v);
    }
}

enum { TG_TEST_MAX_ARGS = 16 };
typedef struct tg_test_args {
    uint32_t n;
    tg_tensor *at[TG_TEST_MAX_ARGS];
} tg_test_args;

/* Runs @p fn on pseudo-random numbers; all buffers afterwards. */
static inline tg_test_args tg_test_eval(tg_fixture *f, const tg_module *m, const tg_func *fn, uint32_t seed)
{
    tg_test_args a = { fn->nparams, { NULL } };
    DLTensor *dl[TG_TEST_MAX_ARGS];
    int64_t dim[TG_MAX_NDIM], ret = 0;
    assert_true(fn->nparams <= TG_TEST_MAX_ARGS);
    for (uint32_t i = 0; i < fn->nparams; ++i) {
        const tg_buffer *b = fn->buffer[i];
        assert_non_null(b);
        assert_true(tg_buffer_dims(b, dim));
        a.at[i] = tg_tensor_new(f->cx, tg_tensor_type(f->cx, b->dtype, b->ndim, dim, 0), NULL);
        tg_test_fill(a.at[i], &seed);
        dl[i] = &a.at[i]->dl;
    }
    if (!tg_eval(f->cx, m, fn, dl, fn->nparams, &ret)) fail_msg("%s: %s", fn->name->text, tg_text_z(&f->log));
    return a;
}

static inline bool tg_test_near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-5 + 1e-4 * fabs(a);
}

/* Every function of @p after that takes constant buffers computes what it did in @p before. */
static inline void tg_test_same_values(tg_fixture *f, const tg_module *before, const tg_module *after, const char *what)
{
    for (size_t i = 0; i < before->funcs.n; ++i) {
        const tg_func *old = before->funcs.at[i], *now = tg_module_find(after, old->name);
        assert_non_null(now);
        tg_test_args a = tg_test_eval(f, before, old, (uint32_t)i + 7),
                     b = tg_test_eval(f, after, now, (uint32_t)i + 7);
        for (uint32_t k = 0; k < a.n; ++k) {
            int64_t n;
            tg_type_elements(a.at[k]->type, &n);
            for (int64_t e = 0; e < n; ++e) {
                double x = tg_tensor_f64(a.at[k], e), y = tg_tensor_f64(b.at[k], e);
                if (tg_test_near(x, y)) continue;
                tg_text t = tg_text_new(f->cx);
                tg_print_module(&t, after);
                fail_msg("%s: %s, argument %u, element %lld: %g before, %g after\n%s", what, old->name->text, k,
                         (long long)e, x, y, tg_text_z(&t));
            }
        }
    }
}

/* Runs one pass on a copy of @p m, compares values, and checks that the pass run again changes nothing. */
static inline tg_module *tg_test_pass(tg_fixture *f, const tg_module *m, tg_pass_fn pass, const char *name)
{
    tg_options opt = { .target = "c" };
    tg_module *c = tg_test_copy(f, m);
    f->cx->pass = name;
    if (!pass(f->cx, c, &opt)) fail_msg("%s: %s", name, tg_text_z(&f->log));
    tg_test_same_values(f, m, c, name);
    tg_module *again = tg_test_copy(f, c);
    assert_true(pass(f->cx, again, &opt));
    for (size_t i = 0; i < c->funcs.n; ++i) {
        const char *why = NULL;
        if (!tg_func_equal(f->cx, c->funcs.at[i], again->funcs.at[i], &why))
            fail_msg("%s is not idempotent: %s", name, why);
    }
    f->cx->pass = NULL;
    return c;
}

/* Blocks all the way to flat loops, each pass compared with the one before it. */
static inline tg_module *tg_test_lower(tg_fixture *f, const tg_module *m)
{
    static const struct {
        tg_pass_fn run;
        const char *name;
    } passes[] = { { tg_pass_lower_blocks, "lower-blocks" },
                   { tg_pass_flatten, "flatten" },
                   { tg_pass_simplify, "simplify" },
                   { tg_pass_loops, "loops" },
                   { tg_pass_simplify, "simplify-loops" } };
    tg_module *now = tg_test_copy(f, m);
    for (size_t i = 0; i < TG_COUNT(passes); ++i) now = tg_test_pass(f, now, passes[i].run, passes[i].name);
    return now;
}

/* The body of function @p name as text. */
static inline const char *tg_test_text(tg_fixture *f, const tg_module *m)
{
    tg_text t = tg_text_new(f->cx);
    tg_print_module(&t, m);
    return tg_text_z(&t);
}

static inline void tg_test_has(tg_fixture *f, const tg_module *m, const char *part)
{
    const char *text = tg_test_text(f, m);
    if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in\n%s", part, text);
}

static inline void tg_test_has_not(tg_fixture *f, const tg_module *m, const char *part)
{
    const char *text = tg_test_text(f, m);
    if (strstr(text, part) != NULL) fail_msg("\"%s\" is in\n%s", part, text);
}

#endif
