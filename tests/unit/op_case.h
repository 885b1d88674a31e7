/* op_case.h: operators tried from Relay text: @main is typed, lowered as one primitive function and evaluated. */
#ifndef TG_TEST_OP_CASE_H
#define TG_TEST_OP_CASE_H

#include <math.h>
#include <stdio.h>

#include "fixture.h"
#include "eval/eval.h"
#include "grammar/parse.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "passes/passes.h"

/* Inputs and results are numbers; a semicolon stands between tensors. */
typedef struct op_case { const char *text, *inputs, *results; } op_case;

/* @main of @p text after type inference; NULL after an error. */
static inline const tg_func *op_typed(tg_fixture *f, const char *text)
{
    const char *all = tg_format(f->cx, "#[version = \"0.0.5\"]\n%s", text);
    tg_module *m = tg_module_new(f->cx);
    if (!tg_parse_any(f->cx, m, tg_source_add(f->cx, "case.relay", all, strlen(all))))
        return NULL;
    return tg_pass_infer_types(f->cx, m, NULL) ? tg_module_find_z(m, "main") : NULL;
}

/* The first line of the diagnostics, from "error: " on. */
static inline const char *op_diagnostic(tg_fixture *f)
{
    const char *at = strstr(tg_text_z(&f->log), "error: ");
    return at == NULL ? "no error" : tg_format(f->cx, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Type of @main's result, or the diagnostic. */
static inline const char *op_type(void **state, const char *text)
{
    tg_fixture *f = *state;
    tg_test_clear_log(f);
    const tg_func *main = op_typed(f, text);
    return main == NULL ? op_diagnostic(f) : tg_type_text(f->cx, main->ret);
}

static inline tg_tensor *op_input(tg_ctx *cx, const tg_type *type, const char **inputs)
{
    tg_tensor *t = tg_tensor_new(cx, type, NULL);
    int64_t n = 0;
    assert_true(tg_type_elements(type, &n));
    for (int64_t i = 0; i < n; ++i) {
        char *end;
        double v = strtod(*inputs, &end);
        assert_ptr_not_equal(end, *inputs);                     /* too few numbers */
        if (tg_is_float(type->dtype))
            tg_tensor_set_f64(t, i, v);
        else
            tg_tensor_set_i64(t, i, strtoll(*inputs, NULL, 10));
        *inputs = end;
    }
    *inputs += strspn(*inputs, " ;");
    return t;
}

static inline void op_print(tg_text *to, const tg_tensor *t)
{
    int64_t n = 0;
    tg_type_elements(t->type, &n);
    for (int64_t i = 0; i < n; ++i) {
        double v = tg_is_float(t->dl.dtype) ? tg_tensor_f64(t, i) : 0;
        if (i > 0)
            tg_putc(to, ' ');
        if (isnan(v))
            tg_puts(to, "nan");
        else if (tg_is_float(t->dl.dtype))
            tg_printf(to, "%.6g", v);
        else
            tg_put_int(to, tg_tensor_i64(t, i));
    }
}

static inline void op_outputs(tg_ctx *cx, const tg_type *t, tg_tensor **out, uint32_t *n)
{
    if (t->kind == TG_T_TENSOR)
        out[(*n)++] = tg_tensor_new(cx, t, NULL);
    for (uint32_t i = 0; t->kind == TG_T_TUPLE && i < t->n; ++i)
        op_outputs(cx, t->field[i], out, n);
}

/* The results of @main, or the diagnostic. */
static inline const char *op_run(void **state, const char *text, const char *inputs)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    tg_test_clear_log(f);
    const tg_func *main = op_typed(f, text);
    if (main == NULL)
        return op_diagnostic(f);
    tg_func *prim = tg_lower_primitive(cx, main);
    if (prim == NULL)
        return op_diagnostic(f);
    tg_module *m = tg_module_new(cx);
    tg_module_add(m, prim);
    assert_true(tg_verify_module(cx, m, false));
    DLTensor *arg[64];
    tg_tensor *out[32];
    uint32_t n = 0, nout = 0;
    for (uint32_t i = 0; i < main->nparams; ++i)
        arg[n++] = &op_input(cx, main->param[i]->type, &inputs)->dl;
    op_outputs(cx, main->ret, out, &nout);
    for (uint32_t i = 0; i < nout; ++i)
        arg[n++] = &out[i]->dl;
    int64_t ret;
    if (!tg_eval(cx, m, prim, arg, n, &ret))
        return op_diagnostic(f);
    tg_text t = tg_text_new(cx);
    for (uint32_t i = 0; i < nout; ++i) {
        tg_puts(&t, i > 0 ? "; " : "");
        op_print(&t, out[i]);
    }
    return tg_text_z(&t);
}

/* Every row computes what it says. */
static inline void op_check(void **state, const op_case *c, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const char *got = op_run(state, c[i].text, c[i].inputs);
        if (strcmp(got, c[i].results) != 0)
            print_error("%s\n  with %s\n", c[i].text, c[i].inputs);
        assert_string_equal(got, c[i].results);
    }
}

#define OP_TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)

#endif
