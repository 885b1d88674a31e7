/* static_values.c: values of the run that inline-calls makes, the variables that stand for them in what is written, and the types of
 * those variables. Types are inferred here only for what a loop takes from outside, since a function must declare its parameters;
 * all else is left to infer-types. */
#include "inline_calls.h"
#include "prim_call.h"
#include "ops/ops.h"
#include "ir/text.h"

#include <string.h>

/* ---- values ---- */

static uint32_t capped(uint64_t leaves)
{
    return leaves > TG_MAX_TUPLE_FIELDS ? TG_MAX_TUPLE_FIELDS + 1 : (uint32_t)leaves;
}

const tg_static *tg_s_runtime(tg_inliner *e, const tg_node *atom, uint32_t depth, uint32_t leaves)
{
    tg_static *s = TG_NEW(e->cx, tg_static);
    s->kind = TG_S_RUNTIME;
    s->atom = atom;
    s->depth = depth;
    s->leaves = capped(leaves);
    return s;
}

const tg_static *tg_s_fields(tg_inliner *e, enum tg_static_kind kind, const tg_name *name, uint32_t n, const tg_static *const *field)
{
    tg_static *s = TG_NEW(e->cx, tg_static);
    uint64_t leaves = 0;
    for (uint32_t i = 0; i < n; ++i) {
        s->depth = field[i]->depth > s->depth ? field[i]->depth : s->depth;
        leaves += field[i]->leaves;
    }
    s->kind = kind;
    s->name = name;
    s->n = n;
    s->field = field;
    s->depth += 1;
    s->leaves = capped(leaves);
    return s;
}

const char *tg_s_text(tg_inliner *e, const tg_static *v)
{
    switch (v->kind) {
    case TG_S_FN: return v->name == NULL ? "a function" : tg_format(e->cx, "the function %s%s", v->env == NULL ? "@" : "%", v->name->text);
    case TG_S_CTOR: return tg_format(e->cx, v->n == 0 ? "%s" : "%s(…)", v->name->text);
    case TG_S_MAKER: return tg_format(e->cx, "the constructor %s", v->name->text);
    case TG_S_CELL: return "a reference";
    case TG_S_TUPLE: return "a tuple";
    case TG_S_EITHER: return tg_format(e->cx, "%s or %s", tg_s_text(e, v->open->then_value), tg_s_text(e, v->field[0]));
    default: return "a tensor";
    }
}

/* ---- types ---- */

static bool dims_known(const tg_type *t)
{
    for (uint32_t k = 0; k < t->n; ++k)
        if (t->dim[k] < 0)
            return false;
    return true;
}

bool tg_is_plain(tg_inliner *e, const tg_type *type)
{
    if (type->kind == TG_T_TENSOR)
        return dims_known(type);
    TG_VEC(const tg_type *) todo = { 0 };
    tg_map seen = { 0 };
    TG_PUSH(e->cx, todo, type);
    while (todo.n > 0) {
        const tg_type *t = todo.at[--todo.n];
        if ((t->kind != TG_T_TENSOR && t->kind != TG_T_TUPLE) || (t->kind == TG_T_TENSOR && !dims_known(t)))
            return false;
        if (t->kind == TG_T_TENSOR || tg_map_get(&seen, TG_KEY(t)) != NULL)
            continue;
        tg_map_put(e->cx, &seen, TG_KEY(t), &seen);
        for (uint32_t i = 0; i < t->n; ++i)
            TG_PUSH(e->cx, todo, t->field[i]);
    }
    return true;
}

const tg_type *tg_plain(tg_inliner *e, const tg_type *type)
{
    return type != NULL && tg_is_plain(e, type) ? type : NULL;
}

static tg_written *written(tg_inliner *e, const tg_var *v)
{
    return tg_map_get(&e->written, (uint64_t)v->id + 1);
}

const tg_type *tg_known_type(tg_inliner *e, const tg_node *atom)
{
    if (atom->kind != TG_RVAR)
        return atom->type;
    const tg_written *w = written(e, atom->u.var);
    if (atom->u.var->type != NULL || w == NULL)
        return atom->u.var->type;
    return w->type != NULL && w->type->kind != TG_T_UNKNOWN ? w->type : w->value == NULL ? NULL : tg_plain(e, w->value->type);
}

typedef TG_VEC(const tg_var *) vars;

static const tg_type *type_now(tg_inliner *e, const tg_node *atom)
{
    if (atom->kind != TG_RVAR)
        return atom->type;
    const tg_type *t = written(e, atom->u.var)->type;
    return t == NULL || t->kind == TG_T_UNKNOWN ? NULL : t;
}

static bool wait_for(tg_inliner *e, const tg_node *atom, vars *todo)
{
    if (atom->kind != TG_RVAR || written(e, atom->u.var)->type != NULL)
        return false;
    TG_PUSH(e->cx, *todo, atom->u.var);
    return true;
}

static const tg_node *result_of(const tg_node *block)
{
    return block->kid[block->nkids - 1];
}

/* Pushes the operands of @p v that have no type yet. */
static bool wait_for_operands(tg_inliner *e, const tg_node *v, vars *todo)
{
    bool wait = false;
    if (v->kind == TG_RIF) {
        wait = wait_for(e, result_of(v->kid[1]), todo);
        return wait_for(e, result_of(v->kid[2]), todo) || wait;
    }
    if (v->kind == TG_RVAR)
        return wait_for(e, v, todo);
    for (uint32_t i = 0; i < v->nkids; ++i)
        wait = wait_for(e, v->kid[i], todo) || wait;
    return wait;
}

static const tg_type *infer_call(tg_inliner *e, const tg_node *v)
{
    if (v->u.call->op == NULL) {
        const tg_func *f = tg_map_get(&e->made_by_name, TG_KEY(v->kid[0]->u.name));
        f = f != NULL ? f : tg_module_find(e->m, v->kid[0]->u.name);
        const tg_type *prim = f != NULL && f->kind == TG_FUNC_PRIM ? tg_prim_type(e->cx, e->m, f) : NULL;
        return f == NULL ? NULL : tg_plain(e, prim != NULL ? prim->ret : f->ret);
    }
    const tg_node **kid = TG_ARRAY(e->cx, const tg_node *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i) {
        const tg_type *t = type_now(e, v->kid[i]);
        if (t == NULL)
            return NULL;
        kid[i] = tg_node_with_type(e->cx, v->kid[i], t);
    }
    const tg_type *t = tg_op_infer(e->cx, tg_op_static(e->cx, tg_node_with(e->cx, v, v->nkids, kid)));
    e->failed = e->failed || t == NULL;
    return t;
}

static const tg_type *infer_value(tg_inliner *e, const tg_node *v)
{
    const tg_type *t;
    switch (v->kind) {
    case TG_RCALL:
        return infer_call(e, v);
    case TG_RTUPLE: {
        const tg_type **field = TG_ARRAY(e->cx, const tg_type *, v->nkids);
        for (uint32_t i = 0; i < v->nkids; ++i)
            if ((field[i] = type_now(e, v->kid[i])) == NULL)
                return NULL;
        return tg_tuple_type(e->cx, v->nkids, field);
    }
    case TG_RGET:
        t = type_now(e, v->kid[0]);
        return t != NULL && t->kind == TG_T_TUPLE && v->u.i >= 0 && v->u.i < (int64_t)t->n ? t->field[v->u.i] : NULL;
    case TG_RIF:
        t = type_now(e, result_of(v->kid[1]));
        return t != NULL ? t : type_now(e, result_of(v->kid[2]));
    default:
        return type_now(e, v);
    }
}

const tg_type *tg_type_of_atom(tg_inliner *e, const tg_node *atom)
{
    vars todo = { 0 };
    wait_for(e, atom, &todo);
    while (todo.n > 0) {
        const tg_var *v = todo.at[todo.n - 1];
        tg_written *w = written(e, v);
        if (w->type == NULL)
            w->type = v->type != NULL ? v->type : w->value == NULL ? tg_unknown(e->cx) : tg_plain(e, w->value->type);
        if (w->type == NULL && wait_for_operands(e, w->value, &todo))
            continue;
        if (w->type == NULL)
            w->type = infer_value(e, w->value);
        if (w->type == NULL)
            w->type = tg_unknown(e->cx);
        --todo.n;
    }
    return type_now(e, atom);
}

/* ---- writing ---- */

static void note_written(tg_inliner *e, const tg_var *v, tg_unit *unit, const tg_node *value)
{
    tg_written *w = TG_NEW(e->cx, tg_written);
    w->unit = unit;
    w->value = value;
    tg_map_put(e->cx, &e->written, (uint64_t)v->id + 1, w);
}

static void too_large(tg_inliner *e, tg_span at)
{
    const char *name = "";
    for (size_t i = e->frames.n; i > 0 && name[0] == '\0'; --i)
        if (e->frames.at[i - 1].callee != NULL)
            name = tg_format(e->cx, ", at last in %s", tg_s_text(e, e->frames.at[i - 1].callee));
    tg_fail(e->cx, TIRGEN_ELIMIT, at, "with all calls written out the model has more than %zu bindings; its text has %zu%s", e->limit,
            e->nbindings, name);
}

const tg_var *tg_write(tg_inliner *e, tg_out *out, const tg_var *like, const tg_type *type, const tg_node *value, tg_span at)
{
    if (++e->nwritten > e->limit)
        too_large(e, at);
    tg_var *v = tg_var_new(e->cx, like != NULL ? like->name : tg_intern_z(e->cx, ""), type);
    v->numbered = like == NULL || like->numbered;
    v->span = like != NULL ? like->span : at;
    note_written(e, v, out->unit, value);
    const tg_node *bind = tg_node_new(e->cx, TG_RBIND, at, NULL, v, 1, &value);
    TG_PUSH(e->cx, out->bind, bind);
    return v;
}

/* The same, and errors about its type point at @p at: a call, whose callee declares it. */
static const tg_var *write_declared(tg_inliner *e, tg_out *out, const tg_var *like, const tg_type *type, const tg_node *value, tg_span at)
{
    tg_var here = { .name = like != NULL ? like->name : tg_intern_z(e->cx, "result"), .span = at };
    return tg_write(e, out, &here, type, tg_node_at(e->cx, value, at), at);
}

void tg_write_param(tg_inliner *e, tg_unit *unit, const tg_var *v)
{
    TG_PUSH(e->cx, unit->param, v);
    note_written(e, v, unit, NULL);
}

static const tg_name *param_name(tg_inliner *e, const tg_unit *unit, const tg_var *v)
{
    const char *hint = v->numbered || v->name->len == 0 ? "outer" : v->name->text;
    const tg_name *name = tg_intern_z(e->cx, hint);
    unsigned k = 0;
    for (size_t i = 0; i < unit->param.n; ++i) {
        if (unit->param.at[i]->name == name) {
            name = tg_internf(e->cx, "%s_%u", hint, ++k);
            i = (size_t)-1;
        }
    }
    return name;
}

static const tg_node *lift(tg_inliner *e, tg_unit *unit, const tg_node *atom)
{
    const tg_var *v = atom->u.var;
    const tg_written *w = written(e, v);
    TG_CHECK(e->cx, w != NULL && unit != NULL, atom);
    if (w->unit == unit)
        return atom;
    const tg_node *known = tg_map_get(&unit->lifted, (uint64_t)v->id + 1);
    if (known != NULL)
        return known;
    const tg_node *outer = lift(e, unit->outer, atom);
    if (outer == NULL)
        return NULL;
    const tg_type *type = tg_type_of_atom(e, outer);
    if (type == NULL) {
        if (!e->failed)
            tg_error(e->cx, v->span, "the loop %s uses %%%s, whose type is not known: declare it", unit->name->text, v->name->text);
        return NULL;
    }
    tg_var *p = tg_var_new(e->cx, param_name(e, unit, v), type);
    p->span = v->span;
    tg_write_param(e, unit, p);
    TG_PUSH(e->cx, unit->init, outer);
    const tg_node *inner = tg_rvar(e->cx, p, atom->span);
    tg_map_put(e->cx, &unit->lifted, (uint64_t)v->id + 1, (void *)(uintptr_t)inner);
    return inner;
}

const tg_node *tg_atom_in(tg_inliner *e, tg_unit *unit, const tg_node *atom)
{
    return atom->kind == TG_RVAR ? lift(e, unit, atom) : atom;
}

const tg_node *tg_to_atom(tg_inliner *e, tg_out *out, const tg_static *v, tg_span at, const char *what)
{
    if (v->atom != NULL)
        return tg_atom_in(e, out->unit, v->atom);
    const tg_static *part = v;
    while (part->kind == TG_S_TUPLE) {
        const tg_static *next = NULL;
        for (uint32_t i = 0; i < part->n && next == NULL; ++i)
            next = part->field[i]->atom == NULL ? part->field[i] : NULL;
        if (next == NULL)
            break;
        part = next;
    }
    tg_error(e->cx, at, "%s is%s %s: only tensors and tuples of them exist when the model runs", what,
             part == v ? "" : " a tuple that holds", tg_s_text(e, part));
    return NULL;
}

static bool same_tensor_type(const tg_type *a, const tg_type *b)
{
    return a == b || (a->kind == TG_T_TENSOR && b->kind == TG_T_TENSOR && tg_dtype_eq(a->dtype, b->dtype) && tg_type_same_shape(a, b));
}

static const tg_static *refuse_declared(tg_inliner *e, const tg_var *like, const tg_type *declared, const char *is, tg_span at)
{
    const char *name = like == NULL || like->name->len == 0 ? "this value" : tg_format(e->cx, "%%%s", like->name->text);
    tg_error(e->cx, at, "%s is declared as %s, but its value is %s", name, tg_type_text(e->cx, declared), is);
    if (like != NULL && like->span.file != 0 && (like->span.begin < at.begin || like->span.begin >= at.end))
        tg_note(e->cx, like->span, "it is declared here");
    return NULL;
}

const tg_static *tg_static_declare(tg_inliner *e, tg_out *out, const tg_static *v, const tg_var *like, const tg_type *type, tg_span at)
{
    const tg_type *declared = tg_plain(e, type);
    if (declared == NULL)
        return v;
    if (v->atom == NULL)
        return refuse_declared(e, like, declared, tg_s_text(e, v), at);
    const tg_type *known = tg_known_type(e, v->atom);
    if (known != NULL && same_tensor_type(known, declared))
        return v;
    if (known != NULL && known->kind == TG_T_TENSOR)
        return refuse_declared(e, like, declared, tg_type_text(e->cx, known), at);
    const tg_node *atom = tg_atom_in(e, out->unit, v->atom);
    if (atom == NULL)
        return NULL;
    const tg_var *alias = write_declared(e, out, like, declared, atom, at);
    bool teaches = known == NULL && written(e, v->atom->u.var)->value == NULL;     /* a parameter without a type */
    return teaches ? tg_s_runtime(e, tg_rvar(e->cx, alias, at), v->depth, v->leaves) : v;
}

/* ---- environments ---- */

void tg_env_put(tg_inliner *e, tg_env *env, const tg_var *v, const tg_static *value)
{
    tg_map_put(e->cx, &env->value, (uint64_t)v->id + 1, (void *)(uintptr_t)value);
}

static const tg_static *function_value(tg_inliner *e, const tg_func *f, const tg_name *name, tg_env *env)
{
    tg_static *s = TG_NEW(e->cx, tg_static);
    s->kind = TG_S_FN;
    s->func = f;
    s->name = name;
    s->env = env;
    return s;
}

const tg_static *tg_env_get(tg_inliner *e, const tg_env *env, const tg_node *atom)
{
    switch (atom->kind) {
    case TG_RVAR:
        for (const tg_env *s = env; s != NULL; s = s->outer) {
            const tg_static *v = tg_map_get(&s->value, (uint64_t)atom->u.var->id + 1);
            if (v != NULL)
                return v;
        }
        tg_error(e->cx, atom->span, "%%%s is not defined here", atom->u.var->name->text);
        return NULL;
    case TG_RGLOBAL: {
        const tg_func *f = tg_module_find(e->m, atom->u.name);
        if (f == NULL) {
            tg_error(e->cx, atom->span, "function @%s is not defined", atom->u.name->text);
            return NULL;
        }
        return function_value(e, f, f->name, NULL);
    }
    case TG_RFN:
        return function_value(e, atom->u.func, NULL, (tg_env *)(uintptr_t)env);
    case TG_RCTOR: {
        const tg_ctor *c = tg_map_get(&e->ctors, TG_KEY(atom->u.name));
        if (c == NULL) {
            tg_error(e->cx, atom->span, "%s is no constructor of a type in this module", atom->u.name->text);
            return NULL;
        }
        return tg_s_fields(e, c->n == 0 ? TG_S_CTOR : TG_S_MAKER, c->name, 0, NULL);
    }
    default:
        TG_CHECK(e->cx, atom->kind == TG_RCONST, atom);
        return tg_s_runtime(e, atom, 0, 1);
    }
}

/* ---- both branches of an if ---- */

typedef struct joining {
    tg_inliner *e;
    const tg_frame *f;
    TG_VEC(const tg_node *) then, otherwise;    /* what goes through the if */
    const tg_var *through;
    uint32_t taken;
    tg_out *out;
} joining;

static bool same_atom(const tg_static *a, const tg_static *b)
{
    if (a->atom == NULL || b->atom == NULL || a->atom->kind != b->atom->kind)
        return false;
    return a->atom->kind == TG_RVAR ? a->atom->u.var == b->atom->u.var : a->atom->u.tensor == b->atom->u.tensor;
}

static bool same_form(const tg_static *a, const tg_static *b)
{
    if (a->kind != b->kind || a->n != b->n || a->name != b->name)
        return false;
    switch (a->kind) {
    case TG_S_FN: return a->func == b->func && a->env == b->env;
    case TG_S_CELL: return a->cell == b->cell;
    case TG_S_EITHER: return false;
    default: return true;
    }
}

bool tg_can_join(const tg_static *a, const tg_static *b)
{
    if (same_atom(a, b) || (a->atom != NULL && b->atom != NULL))
        return true;
    bool can = same_form(a, b) && a->depth <= TG_MAX_ACTIVE / 4;
    for (uint32_t i = 0; can && i < a->n; ++i)
        can = tg_can_join(a->field[i], b->field[i]);
    return can;
}

static bool collect(joining *j, const tg_static *a, const tg_static *b)
{
    tg_inliner *e = j->e;
    if (same_atom(a, b))
        return true;
    if (a->atom != NULL && b->atom != NULL) {
        const tg_node *x = tg_atom_in(e, j->f->then_out->unit, a->atom), *y = tg_atom_in(e, j->f->out->unit, b->atom);
        if (x == NULL || y == NULL)
            return false;
        TG_PUSH(e->cx, j->then, x);
        TG_PUSH(e->cx, j->otherwise, y);
        return true;
    }
    for (uint32_t i = 0; i < a->n; ++i)
        if (!collect(j, a->field[i], b->field[i]))
            return false;
    return true;
}

static const tg_static *rebuild(joining *j, const tg_static *a, const tg_static *b)
{
    tg_inliner *e = j->e;
    if (same_atom(a, b))
        return a;
    if (a->atom != NULL && b->atom != NULL) {
        const tg_node *get = tg_rget(e->cx, tg_rvar(e->cx, j->through, j->f->at->span), j->taken++);
        const tg_var *v = tg_write(e, j->out, NULL, NULL, get, j->f->at->span);
        return tg_s_runtime(e, tg_rvar(e->cx, v, j->f->at->span), a->depth > b->depth ? a->depth : b->depth,
                            a->leaves > b->leaves ? a->leaves : b->leaves);
    }
    if (a->n == 0)
        return a;
    const tg_static **field = TG_ARRAY(e->cx, const tg_static *, a->n);
    for (uint32_t i = 0; i < a->n; ++i)
        field[i] = rebuild(j, a->field[i], b->field[i]);
    return tg_s_fields(e, a->kind, a->name, a->n, field);
}

static const tg_var *write_if(tg_inliner *e, const tg_frame *f, tg_out *out, const tg_var *like, const tg_type *type, const tg_node *a,
                              const tg_node *b)
{
    const tg_node *kid[3] = { f->condition, tg_rblock(e->cx, (uint32_t)f->then_out->bind.n, f->then_out->bind.at, a),
                              tg_rblock(e->cx, (uint32_t)f->out->bind.n, f->out->bind.at, b) };
    return tg_write(e, out, like, type, tg_node_new(e->cx, TG_RIF, f->at->span, NULL, NULL, 3, kid), f->at->span);
}

static const tg_node *tuple_in(tg_inliner *e, tg_out *out, size_t n, const tg_node *const *field, tg_span at)
{
    return tg_rvar(e->cx, tg_write(e, out, NULL, NULL, tg_node_at(e->cx, tg_rtuple(e->cx, (uint32_t)n, field), at), at), at);
}

const tg_static *tg_join(tg_inliner *e, const tg_frame *f, const tg_static *otherwise, tg_out *out, const tg_var *like)
{
    const tg_static *a = f->then_value, *b = otherwise;
    tg_span at = f->at->span;
    if (a->atom != NULL && b->atom != NULL) {
        const tg_node *x = tg_atom_in(e, f->then_out->unit, a->atom), *y = tg_atom_in(e, f->out->unit, b->atom);
        if (x == NULL || y == NULL)
            return NULL;
        const tg_var *v = write_if(e, f, out, like, tg_plain(e, like->type), x, y);
        return tg_s_runtime(e, tg_rvar(e->cx, v, at), a->depth > b->depth ? a->depth : b->depth, a->leaves > b->leaves ? a->leaves : b->leaves);
    }
    joining j = { .e = e, .f = f, .out = out };
    if (!collect(&j, a, b))
        return NULL;
    if (j.then.n == 0)
        return a;                   /* the same in both */
    j.through = write_if(e, f, out, NULL, NULL, tuple_in(e, f->then_out, j.then.n, j.then.at, at),
                         tuple_in(e, f->out, j.otherwise.n, j.otherwise.at, at));
    return rebuild(&j, a, b);
}
