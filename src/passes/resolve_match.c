/* resolve_match.c: which arm of a match takes a value that is known while compiling. Constructors must be known; what their fields
 * hold may be tensors of the run time. */
#include "inline_calls.h"
#include "ir/text.h"

typedef struct pair { const tg_node *pattern; const tg_static *value; } pair;

typedef struct matching {
    tg_inliner *e;
    tg_out *out;
    const tg_node *match;
    TG_VEC(pair) todo, bound;       /* bound: variables of the pattern, given to them once the whole pattern fits */
} matching;

enum fit { FITS, DIFFERS, FAILS };  /* FAILS: reported */

static enum fit unknown(matching *t, const tg_node *pattern, const tg_static *v)
{
    tg_ctx *cx = t->e->cx;
    tg_error(cx, t->match->span, "which arm of this match is taken is known only when the model runs: %s is compared with %s",
             pattern->u.pattern->ctor->text, tg_s_text(t->e, v));
    if (v->atom != NULL && v->atom->kind == TG_RVAR)
        tg_note(cx, v->atom->u.var->span, "the value comes from here");
    return FAILS;
}

static enum fit fit_ctor(matching *t, const tg_node *p, const tg_static *v)
{
    const tg_name *name = p->u.pattern->ctor;
    const tg_ctor *c = tg_map_get(&t->e->ctors, TG_KEY(name));
    if (c == NULL || c->n != p->nkids) {
        if (c == NULL)
            tg_error(t->e->cx, p->span, "%s is no constructor of a type in this module", name->text);
        else
            tg_error(t->e->cx, p->span, "%s has %u fields, the pattern %u", name->text, c->n, p->nkids);
        return FAILS;
    }
    if (v->kind != TG_S_CTOR)
        return unknown(t, p, v);
    if (v->name != name)
        return DIFFERS;
    for (uint32_t i = p->nkids; i > 0; --i)
        TG_PUSH(t->e->cx, t->todo, ((pair){ p->kid[i - 1], v->field[i - 1] }));
    return FITS;
}

static enum fit fit_tuple(matching *t, const tg_node *p, const tg_static *v)
{
    tg_inliner *e = t->e;
    if (v->kind != TG_S_TUPLE && v->kind != TG_S_RUNTIME) {
        tg_error(e->cx, p->span, "a tuple pattern is compared with %s", tg_s_text(e, v));
        return FAILS;
    }
    if (v->kind == TG_S_TUPLE && v->n != p->nkids) {
        tg_error(e->cx, p->span, "the tuple has %u fields, the pattern %u", v->n, p->nkids);
        return FAILS;
    }
    for (uint32_t i = p->nkids; i > 0; --i) {
        const tg_static *field;
        if (v->kind == TG_S_TUPLE) {
            field = v->field[i - 1];
        } else {
            const tg_node *tuple = tg_atom_in(e, t->out->unit, v->atom);
            if (tuple == NULL)
                return FAILS;
            const tg_var *get = tg_write(e, t->out, NULL, NULL, tg_node_at(e->cx, tg_rget(e->cx, tuple, i - 1), p->span), p->span);
            field = tg_s_runtime(e, tg_rvar(e->cx, get, p->span), v->depth, v->leaves);
        }
        TG_PUSH(e->cx, t->todo, ((pair){ p->kid[i - 1], field }));
    }
    return FITS;
}

static enum fit fit(matching *t, const tg_node *pattern, const tg_static *v)
{
    t->todo.n = t->bound.n = 0;
    TG_PUSH(t->e->cx, t->todo, ((pair){ pattern, v }));
    while (t->todo.n > 0) {
        pair p = t->todo.at[--t->todo.n];
        const tg_pattern *kind = p.pattern->u.pattern;
        enum fit now = FITS;
        if (kind->ctor != NULL)
            now = fit_ctor(t, p.pattern, p.value);
        else if (kind->tuple)
            now = fit_tuple(t, p.pattern, p.value);
        else if (kind->var != NULL)
            TG_PUSH(t->e->cx, t->bound, p);
        if (now != FITS)
            return now;
    }
    return FITS;
}

static bool bind_variables(matching *t, tg_env *env)
{
    for (size_t i = 0; i < t->bound.n; ++i) {
        pair p = t->bound.at[i];
        const tg_var *v = p.pattern->u.pattern->var;
        const tg_static *value = tg_static_declare(t->e, t->out, p.value, v, v->type, p.pattern->span);
        if (value == NULL)
            return false;
        tg_env_put(t->e, env, v, value);
    }
    return true;
}

const tg_node *tg_resolve_match(tg_inliner *e, tg_out *out, tg_env *env, const tg_node *match, const tg_static *v)
{
    matching t = { .e = e, .out = out, .match = match };
    for (uint32_t i = 1; i < match->nkids; ++i) {
        enum fit now = fit(&t, match->kid[i]->kid[0], v);
        if (now == FAILS)
            return NULL;
        if (now == FITS)
            return bind_variables(&t, env) ? match->kid[i] : NULL;
    }
    tg_error(e->cx, match->span, "no arm of this match takes %s", tg_s_text(e, v));
    return NULL;
}
