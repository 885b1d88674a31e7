/* inline_calls.c: the program with calls of functions written out. What is left binds calls of operators, tuples, projections, ifs,
 * and calls of two kinds of functions: loops (inline_loops.c) and fused functions that stand in the module already.
 * Needs: nothing; types are not inferred yet.  Keeps: the value of the entry function; declared types, as bindings that declare them.
 *
 * The entry is run binding by binding with a stack of the blocks that are open, so no nesting of the text grows the C stack. Every
 * call is written out at its place, since equal kernels are shared by fuse-ops: a call costs a line of main for each operator.
 * Programs that grow too much by this are refused (TG_GROWTH_*). Recursion is decided here: by a match on a value that is known, it
 * or a condition made of numbers that are known, it runs to its end; as the last step behind an if, it is a loop; otherwise there is no
 * way to compile it. Where the branches of an if give different functions or constructors, what follows goes into both. */
#include "inline_calls.h"
#include "prim_call.h"
#include "passes.h"
#include "eval/eval.h"
#include "ops/ops.h"
#include "ir/text.h"

#include <string.h>

tg_out *tg_new_out(tg_inliner *e, tg_unit *unit)
{
    tg_out *out = TG_NEW(e->cx, tg_out);
    out->unit = unit;
    return out;
}

static tg_frame *top(tg_inliner *e)
{
    return &e->frames.at[e->frames.n - 1];
}

static const tg_node *binding_of(const tg_frame *f)
{
    return f->block->kid[f->next - 1];
}

/* ---- recursion ---- */

static const char *call_name(tg_inliner *e, const tg_static *fn)
{
    return fn->name == NULL ? "a function" : tg_format(e->cx, "%c%s", fn->env == NULL ? '@' : '%', fn->name->text);
}

/* "@f calls @g calls @f", from the activation of @p fn that is open to the call at hand. */
static const char *cycle_text(tg_inliner *e, const tg_static *fn)
{
    enum { MOST = 8 };
    const tg_static *chain[MOST];
    size_t n = 0;
    for (size_t i = e->frames.n; i > 0; --i) {
        const tg_static *c = e->frames.at[i - 1].callee;
        if (c == NULL)
            continue;
        if (n < MOST)
            chain[n] = c;
        ++n;
        if (c->func == fn->func && c->env == fn->env)
            break;
    }
    tg_text t = tg_text_new(e->cx);
    tg_printf(&t, "%s calls ", call_name(e, fn));
    if (n > MOST)
        tg_puts(&t, "… calls ");
    for (size_t i = n < MOST ? n : MOST; i > 0; --i)
        if (chain[i - 1]->func != fn->func || chain[i - 1]->env != fn->env)
            tg_printf(&t, "%s calls ", call_name(e, chain[i - 1]));
    tg_puts(&t, call_name(e, fn));
    return tg_text_z(&t);
}

static tg_active *active_of(tg_inliner *e, const tg_static *fn)
{
    uint64_t pair[2] = { TG_KEY(fn->func), TG_KEY(fn->env) }, key = tg_hash(pair, sizeof pair, 0);
    tg_active *a = tg_map_get(&e->active, key);
    if (a == NULL) {
        a = TG_NEW(e->cx, tg_active);
        tg_map_put(e->cx, &e->active, key, a);
    }
    return a;
}

static bool refuse_recursion(tg_inliner *e, const tg_node *call, const tg_static *fn, const char *why)
{
    const tg_loop_shape *shape = tg_shape_of(e, fn);
    tg_error(e->cx, call->span, "recursion that cannot be compiled: %s, and %s", cycle_text(e, fn), why);
    if (shape->kind == TG_REC_OTHER)
        tg_note(e->cx, shape->not_last, "here something is still to be done with the result");
    return false;
}

static const char decided_late[] = "whether it goes on is known only when the model runs: only a function that calls itself as its last "
                                   "step becomes a loop";

/* Notes one more activation in @p f, which calls @p fn. */
static bool enter(tg_inliner *e, tg_frame *f, const tg_static *fn)
{
    tg_active *a = active_of(e, fn);
    f->previous = a->branches;
    f->guarded = a->live > 0 && f->branches > a->branches;
    a->guarded += f->guarded;
    a->live += 1;
    a->branches = f->branches;
    if (a->guarded > TG_MAX_GUARDED)
        return refuse_recursion(e, f->at, fn, decided_late);
    if (e->frames.n >= TG_MAX_ACTIVE)
        return refuse_recursion(e, f->at, fn, "it does not end");
    return true;
}

static void leave(tg_inliner *e, const tg_frame *f)
{
    tg_active *a = active_of(e, f->callee);
    a->live -= 1;
    a->guarded -= f->guarded;
    a->branches = f->previous;
}

bool tg_push_frame(tg_inliner *e, tg_frame f)
{
    if (e->frames.n >= (size_t)TG_MAX_ACTIVE + 1000)
        tg_fail(e->cx, TIRGEN_ELIMIT, f.at->span, "more than %d blocks are open at once", TG_MAX_ACTIVE);
    TG_PUSH(e->cx, e->frames, f);
    return true;
}

bool tg_too_deep(tg_inliner *e, const tg_node *at)
{
    if (top(e)->branches < TG_MAX_BRANCHES)
        return false;
    for (size_t i = e->frames.n; i > 0; --i) {
        const tg_static *c = e->frames.at[i - 1].callee;
        if (c != NULL && active_of(e, c)->guarded > 0) {
            refuse_recursion(e, at, c, decided_late);
            return true;
        }
    }
    tg_error(e->cx, at->span, "more than %d ifs and loops stand inside one another: C compilers stop not far from there", TG_MAX_BRANCHES);
    return true;
}

/* ---- a binding gets its value ---- */

static bool check_size(tg_inliner *e, const tg_static *v, tg_span at)
{
    if (v->atom == NULL || (v->depth <= TG_MAX_TUPLE_DEPTH && v->leaves <= TG_MAX_TUPLE_FIELDS))
        return true;
    tg_error(e->cx, at, "a tuple is nested more than %d deep or holds more than %d tensors", TG_MAX_TUPLE_DEPTH, TG_MAX_TUPLE_FIELDS);
    return false;
}

static bool take(tg_inliner *e, const tg_static *v);

/* No value at run time can stand for @p either: the rest of the block is run for each side, inside the if. */
static bool fork_rest(tg_inliner *e, const tg_static *either)
{
    const tg_frame *f = top(e), *open = either->open;
    if (tg_too_deep(e, open->at))
        return false;
    if (++e->nforks > TG_MAX_FORKS) {
        tg_error(e->cx, open->at->span, "the branches of this if give %s: which one is known only when the model runs, and what follows "
                                        "would have to be written more than %d times", tg_s_text(e, either), TG_MAX_FORKS);
        return false;
    }
    tg_frame rest = { .kind = TG_F_THEN, .block = f->block, .next = f->next, .from = f->next, .branches = f->branches + 1, .out = open->then_out,
                      .at = open->at, .condition = open->condition, .either = either, .env = TG_NEW(e->cx, tg_env) };
    rest.env->outer = f->env;
    return tg_push_frame(e, rest) && take(e, open->then_value);
}

/* The binding where the top frame stands takes @p v, which may be declared otherwise. */
static bool take(tg_inliner *e, const tg_static *v)
{
    tg_frame *f = top(e);
    const tg_node *bind = binding_of(f);
    if (v == NULL || !check_size(e, v, bind->span))
        return false;
    if (v->kind == TG_S_EITHER)
        return fork_rest(e, v);
    v = tg_static_declare(e, f->out, v, bind->u.var, bind->u.var->type, bind->span);
    if (v == NULL)
        return false;
    tg_env_put(e, top(e)->env, bind->u.var, v);
    return true;
}

/* The binding is written as it stands, with other operands. */
static const tg_static *write_value(tg_inliner *e, const tg_node *value, uint32_t depth, uint32_t leaves)
{
    const tg_node *bind = binding_of(top(e));
    value = tg_node_with_type(e->cx, value, tg_plain(e, value->type));
    const tg_var *v = tg_write(e, top(e)->out, bind->u.var, tg_plain(e, bind->u.var->type), value, bind->span);
    return tg_s_runtime(e, tg_rvar(e->cx, v, bind->span), depth, leaves);
}

static const tg_static **operands(tg_inliner *e, const tg_node *v, uint32_t from)
{
    const tg_static **arg = TG_ARRAY(e->cx, const tg_static *, v->nkids - from);
    for (uint32_t i = from; i < v->nkids; ++i)
        if ((arg[i - from] = tg_env_get(e, top(e)->env, v->kid[i])) == NULL)
            return NULL;
    return arg;
}

static bool in_callee(const tg_inliner *e)
{
    for (size_t i = e->frames.n; i > 0; --i)
        if (e->frames.at[i - 1].callee != NULL)
            return true;
    return false;
}

/* Arithmetic on numbers that are known, inside functions: it may decide how often they call themselves. */
static bool counts(const tg_inliner *e, const tg_node *call)
{
    static const char *const op[] = { "add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
                                      "greater", "greater_equal", "logical_and", "logical_or", "logical_not" };
    for (uint32_t i = 0; i < call->nkids; ++i)
        if (call->kid[i]->kind != TG_RCONST || call->kid[i]->type->n != 0)
            return false;
    for (size_t k = 0; k < TG_COUNT(op); ++k)
        if (tg_name_is(call->u.call->op, op[k]))
            return in_callee(e);
    return false;
}

static const tg_static *count(tg_inliner *e, const tg_node *call)
{
    const tg_type *type = tg_op_infer(e->cx, call);
    const tg_tensor *value;
    if (type == NULL || !tg_eval_call(e->cx, tg_node_with_type(e->cx, call, type), &value, 1))
        return NULL;
    return tg_s_runtime(e, tg_node_at(e->cx, tg_rconst(e->cx, value), call->span), 0, 1);
}

static bool run_operator(tg_inliner *e, const tg_node *v)
{
    const tg_node **kid = TG_ARRAY(e->cx, const tg_node *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i) {
        const tg_static *arg = tg_env_get(e, top(e)->env, v->kid[i]);
        kid[i] = arg == NULL ? NULL : tg_to_atom(e, top(e)->out, arg, v->span, tg_format(e->cx, "operand %u of %s", i, v->u.call->op->text));
        if (kid[i] == NULL)
            return false;
    }
    const tg_node *call = tg_node_with(e->cx, v, v->nkids, kid);
    return take(e, counts(e, call) ? count(e, call) : write_value(e, call, 1, 1));
}

static bool run_tuple(tg_inliner *e, const tg_node *v)
{
    const tg_static **field = operands(e, v, 0);
    if (field == NULL)
        return false;
    const tg_static *tuple = tg_s_fields(e, TG_S_TUPLE, NULL, v->nkids, field);
    const tg_node **kid = TG_ARRAY(e->cx, const tg_node *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i) {
        if (field[i]->atom == NULL)
            return take(e, tuple);
        kid[i] = tg_atom_in(e, top(e)->out->unit, field[i]->atom);
        if (kid[i] == NULL)
            return false;
    }
    tg_static *both = tg_copy(e->cx, tuple, sizeof *tuple);
    both->atom = write_value(e, tg_node_with(e->cx, v, v->nkids, kid), tuple->depth, tuple->leaves)->atom;
    return take(e, both);
}

static bool run_projection(tg_inliner *e, const tg_node *v)
{
    const tg_static *tuple = tg_env_get(e, top(e)->env, v->kid[0]);
    if (tuple == NULL)
        return false;
    if (tuple->kind == TG_S_TUPLE) {
        if (v->u.i >= 0 && v->u.i < (int64_t)tuple->n)
            return take(e, tuple->field[v->u.i]);
        tg_error(e->cx, v->span, "the tuple has %u fields: there is no field %lld", tuple->n, (long long)v->u.i);
        return false;
    }
    const tg_node *atom = tg_to_atom(e, top(e)->out, tuple, v->span, "what a field is taken of");
    return atom != NULL && take(e, write_value(e, tg_node_with(e->cx, v, 1, &atom), tuple->depth, tuple->leaves));
}

/* ---- references: they live only here, in the block that made them ---- */

static bool run_reference(tg_inliner *e, const tg_node *v)
{
    const tg_static *first = tg_env_get(e, top(e)->env, v->kid[0]);
    if (first == NULL)
        return false;
    if (v->u.i == 0) {
        tg_static *s = TG_NEW(e->cx, tg_static);
        s->kind = TG_S_CELL;
        s->depth = 1;
        s->cell = TG_NEW(e->cx, tg_cell);
        *s->cell = (tg_cell){ first, top(e)->out };
        return take(e, s);
    }
    if (first->kind != TG_S_CELL) {
        tg_error(e->cx, v->span, "%s is used as a reference", tg_s_text(e, first));
        return false;
    }
    if (v->u.i == 1)
        return take(e, first->cell->now);
    const tg_static *value = tg_env_get(e, top(e)->env, v->kid[1]);
    if (value == NULL)
        return false;
    if (first->cell->made_in != top(e)->out) {
        tg_error(e->cx, v->span, "a reference is written inside an if or a loop, and was made outside: what it holds is known only when "
                                 "the model runs");
        return false;
    }
    first->cell->now = value;
    const tg_node *unit = tg_node_new(e->cx, TG_RTUPLE, v->span, tg_tuple_type(e->cx, 0, NULL), NULL, 0, NULL);
    return run_tuple(e, unit);
}

/* ---- calls ---- */

/* A fused function of the module, of operators that have kernels: fuse-ops takes it as it is. */
static bool is_fused(tg_inliner *e, const tg_static *fn)
{
    const tg_func *f = fn->func;
    if (fn->env != NULL || f->kind != TG_FUNC_RELAY || tg_v_get_int(f->attrs, "Primitive", 0) != 1 || f->ret == NULL || !tg_is_plain(e, f->ret))
        return fn->env == NULL && f->kind == TG_FUNC_PRIM;
    for (uint32_t i = 0; i + 1 < f->body->nkids; ++i) {
        const tg_node *v = f->body->kid[i]->kid[0];
        const tg_op *op = v->kind == TG_RCALL && v->u.call->op != NULL ? tg_op_find(e->cx, v->u.call->op) : NULL;
        if (v->kind != TG_RTUPLE && v->kind != TG_RGET && (op == NULL || op->lower == NULL))
            return false;
    }
    return true;
}

static bool call_fused(tg_inliner *e, const tg_node *call, const tg_static *fn, const tg_static *const *arg)
{
    const tg_node **kid = TG_ARRAY(e->cx, const tg_node *, call->nkids);
    kid[0] = tg_rglobal(e->cx, fn->func->name, NULL);
    for (uint32_t i = 1; i < call->nkids; ++i)
        if ((kid[i] = tg_to_atom(e, top(e)->out, arg[i - 1], call->span, "an argument of a fused function")) == NULL)
            return false;
    tg_map_put(e->cx, &e->kept, TG_KEY(fn->func->name), (void *)(uintptr_t)fn->func);
    return take(e, write_value(e, tg_node_with(e->cx, call, call->nkids, kid), 1, 1));
}

static bool check_count(tg_inliner *e, const tg_node *call, uint32_t n, tg_span declared, const char *what)
{
    if (call->nkids - 1 == n)
        return true;
    tg_error(e->cx, call->span, "%s takes %u arguments, not %u", what, n, call->nkids - 1);
    if (declared.file != 0)
        tg_note(e->cx, declared, "it is declared here");
    return false;
}

static bool call_inline(tg_inliner *e, const tg_node *call, const tg_static *fn, const tg_static *const *arg)
{
    const tg_func *f = fn->func;
    tg_env *env = TG_NEW(e->cx, tg_env);
    env->outer = fn->env;
    for (uint32_t k = 0; k < f->nparams; ++k) {
        const tg_static *v = tg_static_declare(e, top(e)->out, arg[k], f->param[k], f->param[k]->type, call->span);
        if (v == NULL)
            return false;
        tg_env_put(e, env, f->param[k], v);
    }
    tg_frame frame = { .kind = TG_F_BODY, .block = f->body, .branches = top(e)->branches, .env = env, .out = top(e)->out, .at = call, .callee = fn };
    return enter(e, &frame, fn) && tg_push_frame(e, frame);
}

static bool call_function(tg_inliner *e, const tg_node *call, const tg_static *fn, const tg_static *const *arg)
{
    if (fn->kind == TG_S_MAKER || (fn->kind == TG_S_CTOR && fn->n == 0)) {
        const tg_ctor *c = tg_map_get(&e->ctors, TG_KEY(fn->name));
        return check_count(e, call, c->n, TG_NOWHERE, tg_s_text(e, fn)) && take(e, tg_s_fields(e, TG_S_CTOR, fn->name, c->n, arg));
    }
    if (fn->kind != TG_S_FN) {
        const char *hint = fn->kind == TG_S_RUNTIME ? ": which function it is must be known at compile time" : "";
        tg_error(e->cx, call->span, "%s is called%s", tg_s_text(e, fn), hint);
        return false;
    }
    const tg_type *prim = fn->func->kind == TG_FUNC_PRIM ? tg_prim_type(e->cx, e->m, fn->func) : NULL;
    if (!check_count(e, call, prim != NULL ? prim->n : fn->func->nparams, fn->func->span, tg_s_text(e, fn)))
        return false;
    if (is_fused(e, fn))
        return call_fused(e, call, fn, arg);
    if (tg_is_own_loop(top(e)->out->unit, fn))
        return take(e, tg_continue_loop(e, top(e)->out, binding_of(top(e))->u.var, call, arg));
    const tg_loop_shape *shape = tg_shape_of(e, fn);
    if (shape->kind == TG_REC_ENDLESS)
        return refuse_recursion(e, call, fn, "nothing ends it");
    return tg_can_loop(shape, fn->func->nparams, arg) ? tg_start_loop(e, call, fn, arg) : call_inline(e, call, fn, arg);
}

/* call_lowered(@f, (x, y)) is @f(x, y). */
static bool run_lowered_call(tg_inliner *e, const tg_node *call)
{
    const tg_static *args = call->nkids == 2 ? tg_env_get(e, top(e)->env, call->kid[1]) : NULL;
    if (args == NULL || args->kind != TG_S_TUPLE) {
        tg_error(e->cx, call->span, "call_lowered: expected a function and a tuple of its arguments");
        return false;
    }
    const tg_node **kid = TG_ARRAY(e->cx, const tg_node *, args->n);
    for (uint32_t i = 0; i < args->n; ++i)
        if ((kid[i] = tg_to_atom(e, top(e)->out, args->field[i], call->span, "an argument of call_lowered")) == NULL)
            return false;
    const tg_static *fn = tg_env_get(e, top(e)->env, call->kid[0]);
    return fn != NULL && call_function(e, tg_node_at(e->cx, tg_rapply(e->cx, call->kid[0], call->span, args->n, kid), call->span), fn, args->field);
}

static bool run_call(tg_inliner *e, const tg_node *call)
{
    const tg_static *fn = tg_env_get(e, top(e)->env, call->kid[0]);
    const tg_static **arg = fn == NULL ? NULL : operands(e, call, 1);
    return arg != NULL && call_function(e, call, fn, arg);
}

/* ---- branches ---- */

static bool run_if(tg_inliner *e, const tg_node *v)
{
    tg_frame *f = top(e);
    const tg_static *c = tg_env_get(e, f->env, v->kid[0]);
    if (c == NULL)
        return false;
    tg_frame frame = { .kind = TG_F_BODY, .block = v->kid[1], .branches = f->branches, .env = f->env, .out = f->out, .at = v };
    if (c->atom != NULL && c->atom->kind == TG_RCONST && c->atom->type->n == 0 && tg_is_bool(c->atom->type->dtype)) {
        frame.block = tg_tensor_i64(c->atom->u.tensor, 0) != 0 ? v->kid[1] : v->kid[2];
        return tg_push_frame(e, frame);
    }
    frame.condition = tg_to_atom(e, f->out, c, v->span, "the condition of an if");
    if (frame.condition == NULL || tg_too_deep(e, v))
        return false;
    frame.kind = TG_F_THEN;
    frame.branches += 1;
    frame.out = tg_new_out(e, f->out->unit);
    return tg_push_frame(e, frame);
}

static bool run_match(tg_inliner *e, const tg_node *v)
{
    tg_frame *f = top(e);
    const tg_static *s = tg_env_get(e, f->env, v->kid[0]);
    const tg_node *arm = s == NULL ? NULL : tg_resolve_match(e, f->out, f->env, v, s);
    return arm != NULL && tg_push_frame(e, (tg_frame){ .kind = TG_F_BODY, .block = arm->kid[1], .branches = f->branches, .env = f->env,
                                                       .out = f->out, .at = v });
}

/* ---- the run ---- */

static bool run_binding(tg_inliner *e)
{
    tg_frame *f = top(e);
    const tg_node *bind = f->block->kid[f->next++], *v = bind->kid[0];
    switch (v->kind) {
    case TG_RCALL:
        if (tg_is_op_call(v, "call_lowered")) return run_lowered_call(e, v);
        return v->u.call->op != NULL ? run_operator(e, v) : run_call(e, v);
    case TG_RTUPLE: return run_tuple(e, v);
    case TG_RGET: return run_projection(e, v);
    case TG_RIF: return run_if(e, v);
    case TG_RMATCH: return run_match(e, v);
    case TG_RREF: return run_reference(e, v);
    case TG_RFN: {
        tg_static *fn = tg_copy(e->cx, tg_env_get(e, f->env, v), sizeof *fn);
        fn->self = bind->u.var;
        fn->name = bind->u.var->numbered ? NULL : bind->u.var->name;
        return take(e, fn);
    }
    default: return take(e, tg_env_get(e, f->env, v));
    }
}

static bool finish_call(tg_inliner *e, const tg_static *result)
{
    tg_frame f = e->frames.at[--e->frames.n];
    if (f.callee != NULL) {
        leave(e, &f);
        if (result->kind != TG_S_EITHER)
            result = tg_static_declare(e, f.out, result, NULL, f.callee->func->ret, f.at->span);
    }
    return take(e, result);
}

static bool finish_then(tg_inliner *e, const tg_static *result)
{
    tg_frame *f = top(e);
    f->kind = TG_F_ELSE;
    f->then_value = result;
    f->then_out = f->out;
    f->result = NULL;
    if (f->either != NULL) {
        tg_env *env = TG_NEW(e->cx, tg_env);
        env->outer = f->env->outer;
        f->env = env;
        f->out = f->either->open->out;
        f->next = f->from;
        return take(e, f->either->field[0]);
    }
    f->out = tg_new_out(e, f->then_out->unit);
    f->block = f->at->kid[2];
    f->next = 0;
    return true;
}

static const tg_static *either_of(tg_inliner *e, const tg_frame *f, const tg_static *otherwise)
{
    tg_static *s = TG_NEW(e->cx, tg_static);
    s->kind = TG_S_EITHER;
    s->depth = 1;
    s->n = 1;
    s->open = tg_copy(e->cx, f, sizeof *f);
    s->field = tg_copy(e->cx, &otherwise, sizeof otherwise);
    return s;
}

static bool finish_else(tg_inliner *e, const tg_static *result)
{
    tg_frame f = e->frames.at[--e->frames.n], *below = top(e);
    const tg_var unnamed = { .name = tg_intern_z(e->cx, ""), .numbered = true, .span = f.at->span };
    const tg_static *both = !tg_can_join(f.then_value, result) ? either_of(e, &f, result)
                            : tg_join(e, &f, result, below->out, f.either != NULL ? &unnamed : binding_of(below)->u.var);
    if (f.either == NULL)
        return take(e, both);
    below->result = both;           /* both sides have run to the end of its block */
    below->next = below->block->nkids - 1;
    return both != NULL;
}

static bool finish_entry(tg_inliner *e, const tg_static *result)
{
    tg_frame f = e->frames.at[--e->frames.n];
    const tg_node *atom = tg_to_atom(e, f.out, result, f.block->kid[f.block->nkids - 1]->span, "the result of the model");
    if (atom == NULL || !check_size(e, result, atom->span))
        return false;
    e->result_of_entry = tg_rblock(e->cx, (uint32_t)f.out->bind.n, f.out->bind.at, atom);
    return true;
}

static bool run_block_end(tg_inliner *e)
{
    tg_frame *f = top(e);
    const tg_static *result = f->result != NULL ? f->result : tg_env_get(e, f->env, f->block->kid[f->block->nkids - 1]);
    if (result == NULL)
        return false;
    switch (f->kind) {
    case TG_F_ENTRY: return finish_entry(e, result);
    case TG_F_THEN: return finish_then(e, result);
    case TG_F_ELSE: return finish_else(e, result);
    case TG_F_LOOP: return take(e, tg_finish_loop(e, result));
    default: return finish_call(e, result);
    }
}

/* ---- the module ---- */

typedef struct scanned { const tg_node *n; const tg_var *ends; } scanned;   /* ends: the function bound to it has been scanned */

/* Counts bindings, and notes the local functions that mention themselves. */
static void scan_module(tg_inliner *e)
{
    enum { OPEN = 1, CLOSED };
    tg_ctx *cx = e->cx;
    TG_VEC(scanned) todo = { 0 };
    tg_map state = { 0 };           /* var id + 1 of a local function */
    for (size_t i = 0; i < e->m->funcs.n; ++i)
        if (e->m->funcs.at[i]->kind == TG_FUNC_RELAY)
            TG_PUSH(cx, todo, ((scanned){ e->m->funcs.at[i]->body, NULL }));
    while (todo.n > 0) {
        scanned s = todo.at[--todo.n];
        if (s.ends != NULL) {
            tg_map_put(cx, &state, (uint64_t)s.ends->id + 1, (void *)(uintptr_t)CLOSED);
            continue;
        }
        if (s.n->kind == TG_RVAR && (uintptr_t)tg_map_get(&state, (uint64_t)s.n->u.var->id + 1) == OPEN)
            tg_map_put(cx, &e->recursive, (uint64_t)s.n->u.var->id + 1, e);
        if (s.n->kind == TG_RBIND) {
            ++e->nbindings;
            if (s.n->kid[0]->kind == TG_RFN) {
                tg_map_put(cx, &state, (uint64_t)s.n->u.var->id + 1, (void *)(uintptr_t)OPEN);
                TG_PUSH(cx, todo, ((scanned){ NULL, s.n->u.var }));
            }
        }
        if (s.n->kind == TG_RFN)
            TG_PUSH(cx, todo, ((scanned){ s.n->u.func->body, NULL }));
        for (uint32_t i = s.n->nkids; i > 0; --i)
            TG_PUSH(cx, todo, ((scanned){ s.n->kid[i - 1], NULL }));
    }
}

static void prepare(tg_inliner *e, const tg_func *entry)
{
    const tg_module *m = e->m;
    for (size_t i = 0; i < m->adts.n; ++i)
        for (uint32_t k = 0; k < m->adts.at[i]->nctors; ++k)
            tg_map_put(e->cx, &e->ctors, TG_KEY(m->adts.at[i]->ctor[k].name), (void *)(uintptr_t)&m->adts.at[i]->ctor[k]);
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f == entry || f->kind == TG_FUNC_PRIM || tg_v_get_int(f->attrs, "Primitive", 0) == 1)
            tg_map_put(e->cx, &e->taken, TG_KEY(f->name), e);
    }
    scan_module(e);
    e->limit = e->nbindings * TG_GROWTH_FACTOR + TG_GROWTH_BINDINGS;
}

static bool start(tg_inliner *e, const tg_func *entry)
{
    tg_unit *unit = TG_NEW(e->cx, tg_unit);
    unit->name = entry->name;
    tg_env *env = TG_NEW(e->cx, tg_env);
    for (uint32_t k = 0; k < entry->nparams; ++k) {
        const tg_var *p = entry->param[k];
        if (p->type != NULL && p->type->kind != TG_T_UNKNOWN && !tg_is_plain(e, p->type)) {
            tg_error(e->cx, p->span, "@%s: parameter %%%s of type %s cannot be an input of a compiled model", entry->name->text, p->name->text,
                     tg_type_text(e->cx, p->type));
            return false;
        }
        tg_write_param(e, unit, p);
        tg_env_put(e, env, p, tg_s_runtime(e, tg_rvar(e->cx, p, p->span), 1, 1));
    }
    return tg_push_frame(e, (tg_frame){ .kind = TG_F_ENTRY, .block = entry->body, .env = env, .out = tg_new_out(e, unit) });
}

/* What the entry does not call is gone; loops stand before it. */
static void replace_functions(tg_inliner *e, tg_module *m, const tg_func *entry)
{
    TG_VEC(const tg_func *) old = { m->funcs.at, m->funcs.n, m->funcs.cap };
    m->funcs.at = NULL;
    m->funcs.n = m->funcs.cap = 0;
    m->by_name = (tg_map){ 0 };
    m->adts.n = 0;
    for (size_t i = 0; i < old.n; ++i) {
        const tg_func *f = old.at[i];
        if (f == entry) {
            for (size_t k = 0; k < e->made.n; ++k)
                tg_module_add(m, e->made.at[k]);
            tg_func *g = tg_func_copy(e->cx, entry);
            g->body = e->result_of_entry;
            g->ret = tg_plain(e, entry->ret);
            tg_module_add(m, g);
        } else if (f->kind == TG_FUNC_PRIM || tg_map_get(&e->kept, TG_KEY(f->name)) != NULL) {
            tg_module_add(m, f);
        }
    }
}

bool tg_pass_inline_calls(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    const tg_func *entry = tg_module_find_z(m, opt->entry);
    if (entry == NULL || entry->kind != TG_FUNC_RELAY) {
        tg_error(cx, TG_NOWHERE, "the module has no Relay function @%s to compile", opt->entry);
        return false;
    }
    tg_inliner e = { .cx = cx, .m = m };
    prepare(&e, entry);
    if (!start(&e, entry))
        return false;
    while (e.frames.n > 0) {
        const tg_frame *f = top(&e);
        if (!(f->next + 1 < f->block->nkids ? run_binding(&e) : run_block_end(&e)) || e.failed)
            return false;
    }
    replace_functions(&e, m, entry);
    return true;
}
