/* infer_types.c: every expression of every Relay function gets its type.
 * Needs: a module as it was read or as another pass left it.  Keeps: nodes that are typed already and whose operands are.
 *
 * Blocks are typed binding by binding. What nests (branches, arms, functions as values, functions of the module whose type a call
 * needs first) waits on a stack of frames, so no text makes the C stack grow. After an error the rest of that function is left. */
#include "infer.h"
#include "prim_call.h"
#include "passes.h"
#include "shape_value.h"
#include "unify.h"

#include <string.h>

/* ---- variables and functions ---- */

static const tg_var *typed_var(tg_infer *t, const tg_var *v, const tg_type *type)
{
    const tg_var *now = v;
    if (v->type != type) {
        tg_var *c = tg_var_new(t->cx, v->name, type);
        c->numbered = v->numbered;
        c->span = v->span;
        now = c;
    }
    tg_map_put(t->cx, &t->now, (uint64_t)v->id + 1, (void *)(uintptr_t)now);
    return now;
}

const tg_var *tg_infer_bind(tg_infer *t, const tg_var *v, const tg_type *type, tg_span at)
{
    if (v->type == NULL || v->numbered) return typed_var(t, v, type);
    const tg_type *both = tg_unify(t->cx, v->type, type, NULL);
    if (both != NULL) return typed_var(t, v, both);
    tg_error(t->cx, v->span.file != 0 ? v->span : at, "%%%s is declared as %s, but its value is %s", v->name->text,
             tg_type_text(t->cx, v->type), tg_type_text(t->cx, type));
    return NULL;
}

static bool params_known(const tg_func *f)
{
    for (uint32_t i = 0; i < f->nparams; ++i)
        if (f->param[i]->type == NULL || f->param[i]->type->kind == TG_T_UNKNOWN) return false;
    return true;
}

static const tg_type *signature(tg_infer *t, const tg_func *f, const tg_var *const *param, const tg_type *ret)
{
    const tg_type **type = TG_ARRAY(t->cx, const tg_type *, f->nparams);
    for (uint32_t i = 0; i < f->nparams; ++i) type[i] = param[i]->type;
    return tg_func_type(t->cx, f->nparams, type, ret);
}

/* The type a function declares, NULL when something is left out. */
static const tg_type *declared(tg_infer *t, const tg_func *f)
{
    return params_known(f) && tg_type_complete(f->ret) ? signature(t, f, f->param, f->ret) : NULL;
}

/* Parameters with types: their own, else those of the arguments of the call at hand (NULL: there is none). */
static const tg_var *const *open_params(tg_infer *t, const tg_func *f, const tg_node *call)
{
    const tg_var **param = TG_ARRAY(t->cx, const tg_var *, f->nparams);
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_type *type = f->param[i]->type;
        if (type == NULL || type->kind == TG_T_UNKNOWN)
            type = call != NULL && i + 1 < call->nkids ? tg_infer_atom_type(t, call->kid[i + 1]) : NULL;
        if (type == NULL) {
            tg_error(t->cx, f->param[i]->span, "the type of parameter %%%s is not given and cannot be inferred",
                     f->param[i]->name->text);
            return NULL;
        }
        param[i] = typed_var(t, f->param[i], type);
    }
    return param;
}

/* The function with its parts replaced; itself when nothing changed. NULL after an error. */
static const tg_func *close_func(tg_infer *t, const tg_func *f, const tg_var *const *param, const tg_node *body)
{
    tg_ctx *cx = t->cx;
    const tg_type *ret = f->ret != NULL ? tg_unify(cx, f->ret, body->type, NULL) : body->type;
    if (ret == NULL) {
        const tg_node *result = body->kid[body->nkids - 1];
        tg_error(cx, result->span.file != 0 ? result->span : f->span, "%s%s returns %s, but is declared to return %s",
                 f->name != NULL ? "@" : "the function", f->name != NULL ? f->name->text : "",
                 tg_type_text(cx, body->type), tg_type_text(cx, f->ret));
        return NULL;
    }
    bool same = body == f->body && ret == f->ret;
    for (uint32_t i = 0; i < f->nparams; ++i) same = same && param[i] == f->param[i];
    if (same) return f;
    tg_func *c = tg_func_copy(cx, f);
    c->param = param;
    c->body = body;
    c->ret = ret;
    return c;
}

/* ---- frames ---- */

static tg_infer_frame *top(tg_infer *t)
{
    return &t->frame.at[t->frame.n - 1];
}

static void push_frame(tg_infer *t, tg_infer_frame f)
{
    f.out = TG_ARRAY(t->cx, const tg_node *, f.block->nkids);
    TG_PUSH(t->cx, t->frame, f);
}

static enum tg_infer_step push_function(tg_infer *t, tg_infer_fn *fn, const tg_node *call)
{
    fn->state = TG_FN_ACTIVE;
    fn->param = open_params(t, fn->f, call);
    if (fn->param == NULL) {
        fn->state = TG_FN_FAILED;
        t->good = false;
        return TG_STEP_FAILED;
    }
    if (tg_type_complete(fn->f->ret)) fn->type = signature(t, fn->f, fn->param, fn->f->ret);
    push_frame(t, (tg_infer_frame){ .block = fn->f->body, .fn = fn });
    return TG_STEP_PUSHED;
}

/* A PrimFunc that the graph calls. */
static tg_infer_fn *add_prim(tg_infer *t, const tg_node *g)
{
    const tg_func *f = tg_module_find(t->m, g->u.name);
    const tg_type *type = f != NULL && f->kind == TG_FUNC_PRIM ? tg_prim_type(t->cx, t->m, f) : NULL;
    if (type == NULL) {
        tg_error(t->cx, g->span, f == NULL ? "@%s is not a function of this module"
                                           : "@%s cannot be called from the graph: it takes something else than tensors of constant shape, inputs "
                                             "first, then those that it writes", g->u.name->text);
        return NULL;
    }
    tg_infer_fn *fn = TG_NEW(t->cx, tg_infer_fn);
    *fn = (tg_infer_fn){ .f = f, .type = type, .state = TG_FN_DONE };
    tg_map_put(t->cx, &t->fns, TG_KEY(g->u.name), fn);
    return fn;
}

/* A global that the value at hand mentions has a type, or its function is typed first. */
static enum tg_infer_step need_global(tg_infer *t, const tg_node *g, const tg_node *call)
{
    tg_infer_fn *fn = tg_map_get(&t->fns, TG_KEY(g->u.name));
    if (fn == NULL) fn = add_prim(t, g);
    if (fn == NULL) return TG_STEP_FAILED;
    if (fn->type != NULL) return TG_STEP_READY;
    if (fn->state == TG_FN_NEW) return push_function(t, fn, call);
    if (fn->state == TG_FN_ACTIVE)
        tg_error(t->cx, g->span, "@%s calls itself: its result type must be declared", g->u.name->text);
    return TG_STEP_FAILED; /* failed before: said there */
}

/* A function bound by let without the types of its parameters is typed at its first call. */
static enum tg_infer_step need_local(tg_infer *t, const tg_node *v, const tg_node *call)
{
    tg_infer_later *l = tg_map_get(&t->later, (uint64_t)v->u.var->id + 1);
    if (l == NULL || l->done) return TG_STEP_READY;
    if (l->busy || call == NULL) {
        tg_error(t->cx, v->span, "the type of %%%s must be declared", v->u.var->name->text);
        return TG_STEP_FAILED;
    }
    const tg_func *f = l->bind->kid[0]->u.func;
    l->busy = true;
    l->param = open_params(t, f, call);
    if (l->param == NULL) return TG_STEP_FAILED;
    if (tg_type_complete(f->ret)) typed_var(t, l->bind->u.var, signature(t, f, l->param, f->ret));
    push_frame(t, (tg_infer_frame){ .block = f->body, .later = l });
    return TG_STEP_PUSHED;
}

static enum tg_infer_step need_operands(tg_infer *t, const tg_node *v)
{
    const tg_node *one = v;
    uint32_t n = tg_is_atom(v) ? 1 : v->kind == TG_RIF || v->kind == TG_RMATCH ? 1 : v->nkids;
    for (uint32_t i = 0; i < n; ++i) {
        const tg_node *k = tg_is_atom(v) ? one : v->kid[i];
        const tg_node *call = v->kind == TG_RCALL && v->u.call->op == NULL && i == 0 ? v : NULL;
        enum tg_infer_step s = TG_STEP_READY;
        if (k->kind == TG_RGLOBAL) s = need_global(t, k, call);
        else if (k->kind == TG_RVAR) s = need_local(t, k, call);
        if (s != TG_STEP_READY) return s;
    }
    return TG_STEP_READY;
}

/* ---- what nests in a value ---- */

/* Functions among the operands, or the value itself. */
static const tg_node *nth_function(const tg_node *v, uint32_t i)
{
    if (v->kind == TG_RFN) return i == 0 ? v : NULL;
    for (uint32_t k = 0; k < v->nkids; ++k)
        if (v->kid[k]->kind == TG_RFN && i-- == 0) return v->kid[k];
    return NULL;
}

static bool has_part(const tg_node *v, uint32_t i)
{
    if (v->kind == TG_RIF) return i < 2;
    if (v->kind == TG_RMATCH) return i + 1 < v->nkids;
    return nth_function(v, i) != NULL;
}

static bool begin_part(tg_infer *t, const tg_node *v)
{
    tg_infer_frame *f = top(t);
    tg_infer_part part = { 0 };
    const tg_node *block;
    uint32_t i = (uint32_t)f->part.n;
    if (v->kind == TG_RIF) {
        block = v->kid[1 + i];
    } else if (v->kind == TG_RMATCH) {
        const tg_node *arm = v->kid[1 + i];
        const tg_type *of = tg_infer_atom_type(t, v->kid[0]);
        part.pattern = of != NULL ? tg_infer_pattern(t, arm->kid[0], of, 0) : NULL;
        if (part.pattern == NULL) return false;
        block = arm->kid[1];
    } else {
        const tg_node *fn = nth_function(v, i);
        bool called = v->kind == TG_RCALL && v->u.call->op == NULL && v->kid[0] == fn;
        part.fn = fn;
        part.param = open_params(t, fn->u.func, called ? v : NULL);
        if (part.param == NULL) return false;
        block = fn->u.func->body;
    }
    TG_PUSH(t->cx, f->part, part);
    push_frame(t, (tg_infer_frame){ .block = block });
    return true;
}

static const tg_node *typed_function(tg_infer *t, const tg_node *fn, const tg_var *const *param, const tg_node *body)
{
    const tg_func *f = close_func(t, fn->u.func, param, body);
    if (f == NULL) return NULL;
    const tg_type *type = signature(t, f, f->param, f->ret);
    return f == fn->u.func && fn->type == type ? fn : tg_node_new(t->cx, TG_RFN, fn->span, type, f, 0, NULL);
}

/* ---- one binding ---- */

/* A function's own name is known inside it when its type is declared. */
static void bind_early(tg_infer *t, const tg_node *bind)
{
    const tg_type *type = bind->u.var->type;
    if (!tg_type_complete(type)) type = declared(t, bind->kid[0]->u.func);
    if (type != NULL) typed_var(t, bind->u.var, type);
}

static bool put_binding(tg_infer *t, const tg_node *bind, const tg_node *value, const tg_node **out)
{
    const tg_var *v = tg_map_get(&t->now, (uint64_t)bind->u.var->id + 1);
    if (v != NULL && v->type != value->type && tg_unify(t->cx, v->type, value->type, NULL) == NULL)
        v = NULL; /* bound early as something else: say so */
    if (v == NULL) v = tg_infer_bind(t, bind->u.var, value->type, value->span);
    if (v == NULL) return false;
    *out = v == bind->u.var && value == bind->kid[0] ? bind : tg_node_at(t->cx, tg_rbind(t->cx, v, value), bind->span);
    tg_map_put(t->cx, &t->values, (uint64_t)v->id + 1, (void *)(uintptr_t)value);
    return true;
}

static bool uses_wrong(const tg_infer *t, const tg_node *v)
{
    for (uint32_t i = 0; i < v->nkids; ++i)
        if (v->kid[i]->kind == TG_RVAR && tg_map_get(&t->wrong, (uint64_t)v->kid[i]->u.var->id + 1) != NULL) return true;
    return v->kind == TG_RVAR && tg_map_get(&t->wrong, (uint64_t)v->u.var->id + 1) != NULL;
}

/* After an error in one binding the next ones are still looked at, but for those that need its type.
 * @return false when nothing is left to look at. */
static bool go_on(tg_infer *t, const tg_node *bind)
{
    tg_infer_frame *f = top(t);
    t->good = false;
    f->wrong = true;
    if (bind == NULL || f->part.n > 0) return false;
    tg_map_put(t->cx, &t->wrong, (uint64_t)bind->u.var->id + 1, t);
    f->out[f->at++] = bind;
    return true;
}

static bool step(tg_infer *t)
{
    tg_infer_frame *f = top(t);
    const tg_node *kid = f->block->kid[f->at], *bind = f->at + 1 < f->block->nkids ? kid : NULL;
    const tg_node *v = bind != NULL ? bind->kid[0] : kid;
    if (f->wrong && uses_wrong(t, v)) return go_on(t, bind);
    enum tg_infer_step s = need_operands(t, v);
    if (s != TG_STEP_READY) return s == TG_STEP_PUSHED;
    if (bind != NULL && v->kind == TG_RFN && f->part.n == 0) {
        if (!params_known(v->u.func)) {
            tg_infer_later *l = TG_NEW(t->cx, tg_infer_later);
            *l = (tg_infer_later){ .bind = bind, .out = &f->out[f->at++] };
            tg_map_put(t->cx, &t->later, (uint64_t)bind->u.var->id + 1, l);
            return true;
        }
        bind_early(t, bind);
    }
    if (has_part(v, (uint32_t)f->part.n)) return begin_part(t, v);
    const tg_node *typed = tg_infer_value(t, v, f->part.at);
    if (typed == NULL || (bind != NULL && !put_binding(t, bind, typed, &f->out[f->at]))) return go_on(t, bind);
    if (bind == NULL) f->out[f->at] = typed;
    ++f->at;
    f->part.n = 0;
    return true;
}

/* ---- the end of a block ---- */

static bool all_typed(tg_infer *t, const tg_infer_frame *f)
{
    for (uint32_t i = 0; i < f->block->nkids; ++i) {
        if (f->out[i] != NULL) continue;
        const tg_func *fn = f->block->kid[i]->kid[0]->u.func;
        for (uint32_t k = 0; k < fn->nparams; ++k)
            if (fn->param[k]->type == NULL)
                tg_error(t->cx, fn->param[k]->span,
                         "the type of parameter %%%s is not given and the function is never called",
                         fn->param[k]->name->text);
        return false;
    }
    return true;
}

static bool close_function(tg_infer *t, tg_infer_fn *fn, const tg_node *body)
{
    const tg_func *f = close_func(t, fn->f, fn->param, body);
    if (f == NULL) return false;
    if (f != fn->f) tg_module_set(t->m, f);
    fn->f = f;
    fn->type = signature(t, f, f->param, f->ret);
    fn->state = TG_FN_DONE;
    return true;
}

static bool close_later(tg_infer *t, tg_infer_later *l, const tg_node *body)
{
    const tg_node *fn = typed_function(t, l->bind->kid[0], l->param, body);
    l->done = fn != NULL && put_binding(t, l->bind, fn, l->out);
    return l->done;
}

static bool close_frame(tg_infer *t)
{
    tg_infer_frame f = *top(t);
    if (f.wrong || !all_typed(t, &f)) return false;
    const tg_node *body = tg_node_with(t->cx, f.block, f.block->nkids, f.out);
    body = tg_node_with_type(t->cx, body, f.out[f.block->nkids - 1]->type);
    bool good = true;
    if (f.fn != NULL) good = close_function(t, f.fn, body);
    else if (f.later != NULL) good = close_later(t, f.later, body);
    if (!good) return false;
    --t->frame.n;
    if (f.fn != NULL || f.later != NULL) return true;
    tg_infer_frame *outer = top(t);
    tg_infer_part *part = &outer->part.at[outer->part.n - 1];
    part->block = body;
    if (part->fn != NULL) part->node = typed_function(t, part->fn, part->param, body);
    return part->fn == NULL || part->node != NULL;
}

/* The function that an error is in is given up; what waits for it finds out. */
static void abandon(tg_infer *t)
{
    t->good = false;
    while (top(t)->fn == NULL) --t->frame.n;
    top(t)->fn->state = TG_FN_FAILED;
    top(t)->fn->type = declared(t, top(t)->fn->f);
    --t->frame.n;
}

static void infer_function(tg_infer *t, tg_infer_fn *fn)
{
    push_function(t, fn, NULL);
    while (t->frame.n > 0) {
        bool end = top(t)->at == top(t)->block->nkids;
        if (!(end ? close_frame(t) : step(t))) abandon(t);
    }
}

bool tg_pass_infer_types(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    tg_infer t = { .cx = cx, .m = m, .good = true };
    tg_infer_fn **fn = TG_ARRAY(cx, tg_infer_fn *, m->funcs.n);
    size_t n = 0;
    tg_infer_adts(&t);
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_RELAY) continue;
        fn[n] = TG_NEW(cx, tg_infer_fn);
        *fn[n] = (tg_infer_fn){ .f = f, .type = declared(&t, f) };
        tg_map_put(cx, &t.fns, TG_KEY(f->name), fn[n++]);
    }
    for (int round = 0; round < 2; ++round) /* functions that need a call to tell their types come last */
        for (size_t i = 0; i < n; ++i)
            if (fn[i]->state == TG_FN_NEW && (round == 1 || params_known(fn[i]->f))) infer_function(&t, fn[i]);
    return t.good;
}
