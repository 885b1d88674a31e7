/* inline_loops.c: functions that call themselves last stay functions, with the attribute tirgen.tail_loop=1, which build-main turns
 * into loops. Each place of call gets a function of its own: invariant parameters are replaced by what is passed, and variables
 * from around the function become parameters, so that it stands in the module by itself. */
#include "inline_calls.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <string.h>

const tg_loop_shape *tg_shape_of(tg_inliner *e, const tg_static *fn)
{
    tg_loop_shape *s = tg_map_get(&e->shapes, TG_KEY(fn->func));
    if (s == NULL) {
        s = TG_NEW(e->cx, tg_loop_shape);
        bool local = fn->env != NULL;
        if (!local)
            *s = tg_loop_shape_of(e->cx, fn->func, NULL, fn->func->name);
        else if (fn->self != NULL && tg_map_get(&e->recursive, (uint64_t)fn->self->id + 1) != NULL)
            *s = tg_loop_shape_of(e->cx, fn->func, fn->self, NULL);
        tg_map_put(e->cx, &e->shapes, TG_KEY(fn->func), s);
    }
    return s;
}

bool tg_can_loop(const tg_loop_shape *shape, uint32_t n, const tg_static *const *arg)
{
    bool can = shape->kind == TG_REC_TAIL;
    for (uint32_t k = 0; can && k < n; ++k)
        can = shape->invariant[k] || arg[k]->atom != NULL;
    return can;
}

static const tg_name *new_name(tg_inliner *e, const tg_name *hint)
{
    const char *text = hint == NULL ? "loop" : hint->text;
    const tg_name *name = tg_intern_z(e->cx, text);
    for (unsigned k = 1; tg_map_get(&e->taken, TG_KEY(name)) != NULL; ++k)
        name = tg_internf(e->cx, "%s_%u", text, k);
    tg_map_put(e->cx, &e->taken, TG_KEY(name), e);
    return name;
}

static bool carry(tg_inliner *e, tg_unit *unit, tg_frame *f, const tg_var *param, const tg_static *arg, tg_span at)
{
    const tg_node *init = tg_to_atom(e, f->out, arg, at, "a value carried by a loop");
    if (init == NULL)
        return false;
    const tg_type *type = tg_plain(e, param->type);
    if (type == NULL)
        type = tg_type_of_atom(e, init);
    if (type == NULL) {
        if (!e->failed)
            tg_error(e->cx, param->span, "the loop %s carries %%%s, whose type is not known: declare it", unit->name->text, param->name->text);
        return false;
    }
    tg_var *v = tg_var_new(e->cx, param->name, type);
    v->span = param->span;
    tg_write_param(e, unit, v);
    TG_PUSH(e->cx, unit->init, init);
    tg_env_put(e, f->env, param, tg_s_runtime(e, tg_rvar(e->cx, v, param->span), arg->depth, arg->leaves));
    return true;
}

bool tg_start_loop(tg_inliner *e, const tg_node *call, const tg_static *fn, const tg_static *const *arg)
{
    if (tg_too_deep(e, call))
        return false;
    tg_frame caller = e->frames.at[e->frames.n - 1];
    tg_unit *unit = TG_NEW(e->cx, tg_unit);
    unit->outer = caller.out->unit;
    unit->name = new_name(e, fn->name);
    unit->callee = fn;
    unit->shape = tg_shape_of(e, fn);
    tg_env *env = TG_NEW(e->cx, tg_env);
    env->outer = fn->env;
    tg_frame in_caller = caller;
    in_caller.env = env;
    for (uint32_t k = 0; k < fn->func->nparams; ++k) {
        const tg_var *p = fn->func->param[k];
        if (!unit->shape->invariant[k]) {
            if (!carry(e, unit, &in_caller, p, arg[k], call->span))
                return false;
            continue;
        }
        if (arg[k]->atom != NULL && p->type != NULL && tg_type_of_atom(e, arg[k]->atom) == NULL && e->failed)
            return false;           /* with its type known, no binding need compare it with the declared one */
        const tg_static *value = tg_static_declare(e, caller.out, arg[k], p, p->type, call->span);
        if (value == NULL)
            return false;
        tg_env_put(e, env, p, value);
    }
    return tg_push_frame(e, (tg_frame){ .kind = TG_F_LOOP, .block = fn->func->body, .branches = caller.branches + 1, .env = env,
                                        .out = tg_new_out(e, unit), .at = call, .callee = fn });
}

bool tg_is_own_loop(const tg_unit *unit, const tg_static *fn)
{
    return unit->callee != NULL && unit->callee->func == fn->func && unit->callee->env == fn->env;
}

const tg_static *tg_continue_loop(tg_inliner *e, tg_out *out, const tg_var *like, const tg_node *call, const tg_static *const *arg)
{
    tg_unit *unit = out->unit;
    const tg_node **carried = TG_ARRAY(e->cx, const tg_node *, call->nkids);
    uint32_t n = 0;
    for (uint32_t k = 0; k + 1 < call->nkids; ++k) {
        if (unit->shape->invariant[k])
            continue;
        carried[n] = tg_to_atom(e, out, arg[k], call->span, "a value carried by a loop");
        if (carried[n++] == NULL)
            return NULL;
    }
    const tg_node *self = tg_rglobal(e->cx, unit->name, NULL);
    const tg_var *v = tg_write(e, out, like, NULL, tg_rapply(e->cx, self, call->span, n, carried), call->span);
    return tg_s_runtime(e, tg_rvar(e->cx, v, call->span), 0, 1);
}

/* Calls of itself pass the parameters on that were found to be needed from outside. */
static const tg_node *pass_outer(tg_ctx *cx, const tg_node *n, void *user)
{
    const tg_unit *unit = user;
    if (!tg_calls(n, unit->name) || n->nkids == unit->param.n + 1)
        return n;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, unit->param.n + 1);
    memcpy(kid, n->kid, n->nkids * sizeof kid[0]);
    for (size_t k = n->nkids - 1; k < unit->param.n; ++k)
        kid[k + 1] = tg_rvar(cx, unit->param.at[k], n->span);
    return tg_node_with(cx, n, (uint32_t)unit->param.n + 1, kid);
}

/* Is there a way out of the loop? */
static bool ends(tg_inliner *e, const tg_unit *unit, const tg_node *result)
{
    TG_VEC(const tg_node *) todo = { 0 };
    TG_PUSH(e->cx, todo, result);
    while (todo.n > 0) {
        const tg_node *atom = todo.at[--todo.n];
        const tg_written *w = atom->kind == TG_RVAR ? tg_map_get(&e->written, (uint64_t)atom->u.var->id + 1) : NULL;
        if (w == NULL || w->value == NULL || (w->value->kind != TG_RIF && !tg_calls(w->value, unit->name)))
            return true;
        for (uint32_t i = 1; w->value->kind == TG_RIF && i <= 2; ++i)
            TG_PUSH(e->cx, todo, w->value->kid[i]->kid[w->value->kid[i]->nkids - 1]);
    }
    return false;
}

static const tg_func *loop_function(tg_inliner *e, const tg_unit *unit, const tg_out *out, const tg_func *from, const tg_node *result)
{
    tg_ctx *cx = e->cx;
    tg_func *f = TG_NEW(cx, tg_func);
    f->name = unit->name;
    f->kind = TG_FUNC_RELAY;
    f->span = from->span;
    f->nparams = (uint32_t)unit->param.n;
    f->param = unit->param.at;
    f->ret = tg_plain(e, from->ret);
    if (f->ret == NULL)
        f->ret = tg_type_of_atom(e, result);
    if (f->ret == NULL) {
        if (!e->failed)
            tg_error(cx, from->span, "the type of what the loop %s returns is not known: declare it", unit->name->text);
        return NULL;
    }
    f->attrs = tg_v_with(cx, NULL, TG_TAIL_LOOP, tg_v_int(cx, 1));
    const tg_node *body = tg_rblock(cx, (uint32_t)out->bind.n, out->bind.at, result);
    f->body = tg_rewrite_node(cx, body, pass_outer, (void *)(uintptr_t)unit);
    return f;
}

const tg_static *tg_finish_loop(tg_inliner *e, const tg_static *result)
{
    tg_ctx *cx = e->cx;
    tg_frame f = e->frames.at[--e->frames.n];
    tg_unit *unit = f.out->unit;
    const tg_frame *caller = &e->frames.at[e->frames.n - 1];
    const tg_node *atom = tg_to_atom(e, f.out, result, f.at->span, "the result of a loop");
    if (atom == NULL)
        return NULL;
    if (!ends(e, unit, atom)) {
        tg_error(cx, f.at->span, "the loop %s never ends", unit->name->text);
        return NULL;
    }
    const tg_func *fn = loop_function(e, unit, f.out, f.callee->func, atom);
    if (fn == NULL)
        return NULL;
    TG_PUSH(cx, e->made, fn);
    tg_map_put(cx, &e->made_by_name, TG_KEY(fn->name), (void *)(uintptr_t)fn);
    const tg_node *call = tg_rapply(cx, tg_rglobal(cx, fn->name, NULL), f.at->span, fn->nparams, unit->init.at);
    const tg_var *like = caller->block->kid[caller->next - 1]->u.var;
    const tg_var *v = tg_write(e, caller->out, like, tg_plain(e, like->type), call, f.at->span);
    return tg_s_runtime(e, tg_rvar(cx, v, f.at->span), result->depth, result->leaves);
}
