/* graph_ir.h: Relay functions from text for tests of graph passes: parameters whose names begin with k become
 * constants, the operators that are left can be listed, and main can be evaluated on random inputs. */
#ifndef TG_TEST_GRAPH_IR_H
#define TG_TEST_GRAPH_IR_H

#include "fixture.h"
#include "eval/eval.h"
#include "grammar/parse.h"
#include "ir/names.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "passes/passes.h"

#include <math.h>

static const tg_options tg_test_options = { .prefix = "tvmgen_test",
                                            .target = "c",
                                            .unpacked_api = true,
                                            .workspace_align = 16,
                                            .constant_align = 16,
                                            .entry = "main" };

/* Numbers that differ from element to element and from tensor to tensor, halves and quarters so that sums are exact. */
static inline double tg_test_value(const char *name, int64_t i)
{
    uint64_t h = tg_hash(name, strlen(name), (uint64_t)i * 977 + 1);
    return (double)((int64_t)(h >> 20 & 15) - 7) / 4;
}

static inline tg_tensor *tg_test_tensor(tg_ctx *cx, const char *name, const tg_type *type)
{
    int64_t n;
    assert_true(tg_type_elements(type, &n));
    tg_tensor *t = tg_tensor_new(cx, type, NULL);
    t->label = tg_intern_z(cx, name);
    bool positive = strstr(name, "var") != NULL;
    for (int64_t i = 0; i < n; ++i) {
        double v = tg_test_value(name, i);
        if (tg_is_float(type->dtype))
            tg_tensor_set_f64(t, i, positive ? fabs(v) + 0.5 : v);
        else
            tg_tensor_set_i64(t, i, tg_is_bool(type->dtype) ? v > 0 : (int64_t)(v * 4));
    }
    return t;
}

/* Parameters named k… of @p f as constants in front of its body. */
static inline const tg_func *tg_test_bind(tg_ctx *cx, const tg_func *f)
{
    tg_func *g = tg_func_copy(cx, f);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, f->nparams);
    tg_subst s = { { 0 }, { 0 } };
    g->nparams = 0;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_var *p = f->param[i];
        if (p->name->text[0] == 'k')
            tg_subst_var(cx, &s, p, tg_rconst(cx, tg_test_tensor(cx, p->name->text, p->type)));
        else
            param[g->nparams++] = p;
    }
    g->param = param;
    g->body = tg_substitute(cx, f->body, &s);
    return g;
}

/* The functions of @p text with types, after the passes named in @p passes ("fold-const simplify-graph", may be
 * empty). */
static inline tg_module *tg_test_graph(tg_fixture *f, const char *text, const char *passes)
{
    tg_ctx *cx = f->cx;
    tg_module *m = tg_module_new(cx);
    const char *all = tg_format(cx, "#[version = \"0.0.5\"]\n%s", text);
    if (!tg_parse_relay(cx, m, tg_source_add(cx, "test.relay", all, strlen(all))))
        fail_msg("%s", tg_text_z(&f->log));
    for (size_t i = 0; i < m->funcs.n; ++i)
        m->funcs.at[i] = tg_test_bind(cx, m->funcs.at[i]);
    if (!tg_pass_infer_types(cx, m, &tg_test_options))
        fail_msg("%s", tg_text_z(&f->log));
    for (const char *p = passes, *end; *p != '\0'; p = *end == ' ' ? end + 1 : end) {
        end = p + strcspn(p, " ");
        const tg_pass *pass = tg_pass_find(tg_format(cx, "%.*s", (int)(end - p), p));
        assert_non_null(pass);
        if (!pass->run(cx, m, &tg_test_options) || !tg_verify_module(cx, m, false))
            fail_msg("%s", tg_text_z(&f->log));
    }
    return m;
}

/* What main binds, in order: "nn.conv2d add (,) .0 if"; then the result: "x" a variable, "k" a constant. */
static inline const char *tg_test_ops(tg_fixture *f, tg_module *m)
{
    tg_text t = tg_text_new(f->cx);
    const tg_node *body = tg_module_find_z(m, "main")->body;
    for (uint32_t i = 0; i + 1 < body->nkids; ++i) {
        const tg_node *v = body->kid[i]->kid[0];
        switch (v->kind) {
        case TG_RCALL: tg_printf(&t, "%s ", v->u.call->op != NULL ? v->u.call->op->text : "call"); break;
        case TG_RTUPLE: tg_puts(&t, "(,) "); break;
        case TG_RGET: tg_printf(&t, ".%d ", (int)v->u.i); break;
        case TG_RIF: tg_puts(&t, "if "); break;
        default: tg_printf(&t, "%s ", tg_kind_info[v->kind].text); break;
        }
    }
    const tg_node *result = body->kid[body->nkids - 1];
    tg_puts(&t, result->kind == TG_RCONST ? "k" : result->kind == TG_RVAR ? "x" : tg_kind_info[result->kind].text);
    return tg_text_z(&t);
}

/* Runs main of @p m (which is lowered by that) on inputs made from the parameters' names. @return its first output. */
static inline const tg_tensor *tg_test_run(tg_fixture *f, tg_module *m)
{
    DLTensor *arg[16];
    tg_tensor *out = NULL;
    const tg_func *main_graph = tg_module_find_z(m, "main");
    uint32_t nin = main_graph->nparams;
    if (!tg_pass_fuse_ops(f->cx, m, &tg_test_options) || !tg_pass_lower_ops(f->cx, m, &tg_test_options))
        fail_msg("%s", tg_text_z(&f->log));
    const tg_func *fn = tg_module_find_z(m, "__tvm_main__");
    for (uint32_t i = 0; i < fn->nparams; ++i) {
        const tg_buffer *b = fn->buffer[i];
        int64_t dim[TG_MAX_NDIM];
        assert_true(tg_buffer_dims(b, dim));
        tg_tensor *t = tg_test_tensor(f->cx, i < nin ? main_graph->param[i]->name->text : "out",
                                      tg_tensor_type(f->cx, b->dtype, b->ndim, dim, 0));
        arg[i] = &t->dl;
        out = i == nin ? t : out;
    }
    if (!tg_eval(f->cx, m, fn, arg, fn->nparams, NULL))
        fail_msg("%s", tg_text_z(&f->log));
    return out;
}

/* main computes the same with and without @p passes, to @p tolerance times the size of the numbers. */
static inline void tg_test_same(tg_fixture *f, const char *text, const char *passes, double tolerance)
{
    const tg_tensor *a = tg_test_run(f, tg_test_graph(f, text, "")),
                    *b = tg_test_run(f, tg_test_graph(f, text, passes));
    int64_t n;
    assert_true(tg_type_elements(a->type, &n) && a->type == b->type);
    for (int64_t i = 0; i < n; ++i) {
        double x = tg_tensor_f64(a, i), y = tg_tensor_f64(b, i);
        if (!(fabs(x - y) <= tolerance * (1 + fabs(x))) && !(isnan(x) && isnan(y)) && x != y)
            fail_msg("element %d: %.9g became %.9g after %s of\n%s", (int)i, x, y, passes, text);
    }
}

#endif
