/* bind_shapes.c: extents that the text leaves open ("?") get the values that -shape gives.
 * Gives: an entry function whose parameters have known shapes, or an error that names the binding that needs one. What is declared
 * further inside with "?" is inferred anew. */
#include "passes.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <ctype.h>
#include <string.h>

static bool is_open(const tg_type *t)
{
    for (uint32_t k = 0; t != NULL && t->kind == TG_T_TENSOR && k < t->n; ++k)
        if (t->dim[k] == TG_DIM_ANY)
            return true;
    return false;
}

/* "0.weight" also names the parameter that TVM's printer calls %v0.weight. */
static bool names(const char *option, const tg_name *param)
{
    bool prefixed = param->text[0] == 'v' && !isalpha((unsigned char)option[0]);
    return tg_name_is(param, option) || (prefixed && strcmp(param->text + 1, option) == 0);
}

static const tg_type *closed(tg_ctx *cx, const tg_var *p, const tg_shape_option *s)
{
    const tg_type *t = p->type;
    if (t == NULL || t->kind != TG_T_TENSOR) {
        tg_error(cx, p->span, "-shape %s: %%%s is not declared as a tensor", s->name, p->name->text);
        return NULL;
    }
    bool fits = t->n == s->ndim;
    for (uint32_t k = 0; fits && k < t->n; ++k)
        fits = t->dim[k] == TG_DIM_ANY || t->dim[k] == s->dim[k];
    if (!fits) {
        const tg_type *given = tg_tensor_type(cx, t->dtype, s->ndim, s->dim, 0);
        tg_error(cx, p->span, "-shape %s: %s does not fit the declared %s", s->name, tg_type_text(cx, given), tg_type_text(cx, t));
        return NULL;
    }
    return tg_tensor_type(cx, t->dtype, t->n, s->dim, t->wide);
}

typedef struct using { const tg_var *v; const tg_node *bind; } using;

static bool find_use(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    using *u = user;
    for (uint32_t i = 0; u->bind == NULL && n->kind == TG_RBIND && i < n->kid[0]->nkids; ++i)
        if (n->kid[0]->kid[i]->kind == TG_RVAR && n->kid[0]->kid[i]->u.var == u->v)
            u->bind = n;
    return u->bind == NULL;
}

static void refuse(tg_ctx *cx, const tg_func *f, const tg_var *p)
{
    tg_text t = tg_text_new(cx);
    for (uint32_t k = 0; k < p->type->n; ++k) {
        if (k > 0)
            tg_putc(&t, ',');
        if (p->type->dim[k] == TG_DIM_ANY)
            tg_putc(&t, 'N');
        else
            tg_put_int(&t, p->type->dim[k]);
    }
    tg_error(cx, p->span, "the shape of %%%s, %s, must be known: give it with -shape %s=%s", p->name->text, tg_type_text(cx, p->type), p->name->text,
             tg_text_z(&t));
    using u = { p, NULL };
    tg_visit(cx, f->body, find_use, &u);
    if (u.bind == NULL)
        return;
    const tg_node *v = u.bind->kid[0];
    const char *what = v->kind == TG_RCALL && v->u.call->op != NULL ? v->u.call->op->text : tg_kind_info[v->kind].text + 1;
    const char *name = u.bind->u.var->numbered ? "" : tg_format(cx, " (%%%s)", u.bind->u.var->name->text);
    tg_note(cx, u.bind->span, "this %s%s needs it", what, name);
}

bool tg_pass_bind_shapes(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    const tg_func *f = tg_module_find_z(m, opt->entry);
    if (f == NULL || f->kind != TG_FUNC_RELAY) {
        tg_error(cx, TG_NOWHERE, "the module has no Relay function @%s to compile", opt->entry);
        return false;
    }
    const tg_var **param = TG_ARRAY(cx, const tg_var *, f->nparams);
    tg_subst s = { { 0 }, { 0 } };
    bool good = true;
    for (uint32_t i = 0; i < f->nparams; ++i)
        param[i] = f->param[i];
    for (uint32_t k = 0; k < opt->nshapes; ++k) {
        const tg_shape_option *o = &opt->shapes[k];
        uint32_t i = 0;
        while (i < f->nparams && !names(o->name, f->param[i]->name))
            ++i;
        if (i == f->nparams) {
            tg_error(cx, f->span, "-shape %s: @%s has no such parameter", o->name, opt->entry);
            good = false;
            continue;
        }
        const tg_type *t = closed(cx, f->param[i], o);
        good = good && t != NULL;
        if (t == NULL || t == f->param[i]->type)
            continue;
        tg_var *v = tg_copy(cx, f->param[i], sizeof *v);
        v->type = t;
        v->id = cx->nvars++;
        param[i] = v;
        tg_subst_var(cx, &s, f->param[i], tg_rvar(cx, v, f->param[i]->span));
    }
    for (uint32_t i = 0; good && i < f->nparams; ++i) {
        if (!is_open(param[i]->type))
            continue;
        refuse(cx, f, f->param[i]);
        good = false;
    }
    if (!good || s.var.n == 0)
        return good;
    tg_func *g = tg_func_copy(cx, f);
    g->param = param;
    g->body = tg_substitute(cx, f->body, &s);
    tg_module_set(m, g);
    return true;
}
