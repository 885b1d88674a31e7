/* infer_value.c: the type of one expression whose operands are typed: calls, tuples, branches, matches, references. */
#include "infer.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "shape_value.h"
#include "unify.h"

#include <string.h>

struct tg_infer_ctor {
    const tg_adt *adt;
    const tg_ctor *ctor;
};

void tg_infer_adts(tg_infer *t)
{
    for (size_t i = 0; i < t->m->adts.n; ++i) {
        const tg_adt *a = t->m->adts.at[i];
        for (uint32_t k = 0; k < a->nctors; ++k) {
            struct tg_infer_ctor *c = TG_NEW(t->cx, struct tg_infer_ctor);
            *c = (struct tg_infer_ctor){ a, &a->ctor[k] };
            tg_map_put(t->cx, &t->ctors, TG_KEY(a->ctor[k].name), c);
        }
    }
}

static const char *type_text(tg_infer *t, const tg_type *type)
{
    return type != NULL ? tg_type_text(t->cx, type) : "unknown";
}

/* ---- atoms ---- */

static const tg_type *adt_type(tg_infer *t, const struct tg_infer_ctor *c, const tg_type_binding *bind)
{
    const tg_type **arg = TG_ARRAY(t->cx, const tg_type *, c->adt->nparams);
    for (uint32_t i = 0; i < c->adt->nparams; ++i)
        arg[i] = bind != NULL && bind->type[i] != NULL ? bind->type[i] : tg_unknown(t->cx);
    return tg_named_type(t->cx, TG_T_ADT, c->adt->name, c->adt->nparams, arg);
}

/* A constructor as a value: without fields an instance, else a function. */
static const tg_type *ctor_type(tg_infer *t, const tg_name *name)
{
    const struct tg_infer_ctor *c = tg_map_get(&t->ctors, TG_KEY(name));
    if (c == NULL) return NULL;
    tg_type_binding none = tg_type_binding_new(t->cx, c->adt->nparams, c->adt->param);
    if (c->ctor->n == 0) return adt_type(t, c, &none);
    const tg_type **field = TG_ARRAY(t->cx, const tg_type *, c->ctor->n);
    for (uint32_t i = 0; i < c->ctor->n; ++i) field[i] = tg_type_replace(t->cx, c->ctor->field[i], &none);
    return tg_func_type(t->cx, c->ctor->n, field, adt_type(t, c, &none));
}

const tg_type *tg_infer_atom_type(tg_infer *t, const tg_node *n)
{
    switch (n->kind) {
    case TG_RVAR: {
        const tg_var *v = tg_map_get(&t->now, (uint64_t)n->u.var->id + 1);
        return v != NULL ? v->type : NULL;
    }
    case TG_RCONST: return n->u.tensor->type;
    case TG_RGLOBAL: {
        const tg_infer_fn *fn = tg_map_get(&t->fns, TG_KEY(n->u.name));
        return fn != NULL ? fn->type : NULL;
    }
    case TG_RCTOR: return ctor_type(t, n->u.name);
    default: return n->type;
    }
}

static const tg_node *typed_atom(tg_infer *t, const tg_node *n)
{
    const tg_type *type = tg_infer_atom_type(t, n);
    if (type == NULL) {
        const char *name = n->kind == TG_RVAR ? n->u.var->name->text : n->kind == TG_RCTOR ? n->u.name->text : "this";
        tg_error(t->cx, n->span, "%s%s has no type here", n->kind == TG_RVAR ? "%" : "", name);
        return NULL;
    }
    if (n->kind != TG_RVAR) return tg_node_with_type(t->cx, n, type);
    const tg_var *v = tg_map_get(&t->now, (uint64_t)n->u.var->id + 1);
    return v == n->u.var && n->type == type ? n : tg_rvar(t->cx, v, n->span);
}

/* The operands of @p v from number @p first on; functions among them come from the parts. */
static const tg_node **typed_kids(tg_infer *t, const tg_node *v, const tg_infer_part *part)
{
    const tg_node **kid = TG_ARRAY(t->cx, const tg_node *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i) {
        kid[i] = v->kid[i]->kind == TG_RFN ? (part++)->node : typed_atom(t, v->kid[i]);
        if (kid[i] == NULL) return NULL;
    }
    return kid;
}

static const tg_node *retype(tg_infer *t, const tg_node *v, const tg_node *const *kid, const tg_type *type)
{
    return type == NULL ? NULL : tg_node_with_type(t->cx, tg_node_with(t->cx, v, v->nkids, kid), type);
}

/* ---- calls ---- */

/* Operands that decide the shape of the result become constants where their value can be told. */
static const tg_node *with_constants(tg_infer *t, const tg_node *call)
{
    const tg_op *op = tg_op_find(t->cx, call->u.call->op);
    if (op == NULL || strchr(op->args, '#') == NULL) return tg_op_static(t->cx, call);
    const tg_node **kid = tg_copy(t->cx, call->kid, call->nkids * sizeof call->kid[0]);
    const char *s = op->args;
    for (uint32_t i = 0; i < call->nkids && *s != '\0'; ++i) {
        size_t len = strcspn(s, " ");
        if (len > 0 && s[len - 1] == '#') {
            const tg_node *value = tg_shape_value(t->cx, &t->values, kid[i]);
            kid[i] = value != NULL ? value : kid[i];
        }
        s += len;
        s += strspn(s, " ");
    }
    return tg_op_static(t->cx, tg_node_with(t->cx, call, call->nkids, kid));
}

static const tg_node *op_call(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    const tg_node *call = with_constants(t, tg_node_with(t->cx, v, v->nkids, kid));
    const tg_type *type = tg_op_infer(t->cx, call);
    return type != NULL ? tg_node_with_type(t->cx, call, type) : NULL;
}

/* The arguments of a call against the parameters of its callee. */
static bool check_args(tg_infer *t, const tg_node *call, const tg_node *const *kid, uint32_t n,
                       const tg_type *const *param, tg_type_binding *bind, const char *what)
{
    if (call->nkids - 1 != n) {
        tg_error(t->cx, call->span, "%s takes %u arguments, %u are given", what, n, call->nkids - 1);
        return false;
    }
    for (uint32_t i = 0; i < n; ++i) {
        if (tg_unify(t->cx, param[i], kid[i + 1]->type, bind) != NULL) continue;
        tg_error(t->cx, kid[i + 1]->span.file != 0 ? kid[i + 1]->span : call->span,
                 "argument %u of %s is %s, expected %s", i + 1, what, type_text(t, kid[i + 1]->type),
                 type_text(t, param[i]));
        return false;
    }
    return true;
}

static const tg_node *ctor_call(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    const struct tg_infer_ctor *c = tg_map_get(&t->ctors, TG_KEY(kid[0]->u.name));
    tg_type_binding bind = tg_type_binding_new(t->cx, c->adt->nparams, c->adt->param);
    if (!check_args(t, v, kid, c->ctor->n, c->ctor->field, &bind, c->ctor->name->text)) return NULL;
    return retype(t, v, kid, adt_type(t, c, &bind));
}

static const tg_node *apply(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    const tg_type *callee = kid[0]->type;
    if (kid[0]->kind == TG_RCTOR) return ctor_call(t, v, kid);
    if (callee->kind != TG_T_FUNC) {
        tg_error(t->cx, v->span, "what is called here is %s, not a function", type_text(t, callee));
        return NULL;
    }
    tg_type_binding bind = { 0 };
    const tg_infer_fn *fn = kid[0]->kind == TG_RGLOBAL ? tg_map_get(&t->fns, TG_KEY(kid[0]->u.name)) : NULL;
    const tg_func *f = fn != NULL ? fn->f : kid[0]->kind == TG_RFN ? kid[0]->u.func : NULL;
    if (f != NULL && f->ntype_params > 0) bind = tg_type_binding_new(t->cx, f->ntype_params, f->type_param);
    const char *what = kid[0]->kind == TG_RGLOBAL ? tg_format(t->cx, "@%s", kid[0]->u.name->text)
                       : kid[0]->kind == TG_RVAR  ? tg_format(t->cx, "%%%s", kid[0]->u.var->name->text)
                                                  : "the function";
    if (!check_args(t, v, kid, callee->n, callee->field, &bind, what)) return NULL;
    return retype(t, v, kid, tg_type_replace(t->cx, callee->ret, &bind));
}

/* ---- tuples ---- */

static const tg_node *tuple(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    const tg_type **field = TG_ARRAY(t->cx, const tg_type *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i) field[i] = kid[i]->type;
    return retype(t, v, kid, tg_tuple_type(t->cx, v->nkids, field));
}

static const tg_node *projection(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    const tg_type *of = kid[0]->type;
    if (of->kind != TG_T_TUPLE) {
        tg_error(t->cx, v->span, ".%lld needs a tuple, this is %s", (long long)v->u.i, type_text(t, of));
        return NULL;
    }
    if (v->u.i < 0 || v->u.i >= (int64_t)of->n) {
        tg_error(t->cx, v->span, "the tuple has %u fields, there is no field %lld", of->n, (long long)v->u.i);
        return NULL;
    }
    return retype(t, v, kid, of->field[v->u.i]);
}

/* ---- branches ---- */

static const tg_node *branches(tg_infer *t, const tg_node *v, const tg_infer_part *part)
{
    const tg_node *c = typed_atom(t, v->kid[0]);
    if (c == NULL) return NULL;
    if (c->type->kind != TG_T_TENSOR || c->type->n != 0 || !tg_is_bool(c->type->dtype)) {
        tg_error(t->cx, c->span.file != 0 ? c->span : v->span, "the condition is %s, expected bool",
                 type_text(t, c->type));
        return NULL;
    }
    const tg_type *type = tg_unify(t->cx, part[0].block->type, part[1].block->type, NULL);
    if (type == NULL) {
        tg_error(t->cx, v->span, "the branches have different types: %s and %s", type_text(t, part[0].block->type),
                 type_text(t, part[1].block->type));
        return NULL;
    }
    return retype(t, v, (const tg_node *[]){ c, part[0].block, part[1].block }, type);
}

static const tg_node *match(tg_infer *t, const tg_node *v, const tg_infer_part *part)
{
    const tg_node **kid = TG_ARRAY(t->cx, const tg_node *, v->nkids);
    const tg_type *type = NULL;
    kid[0] = typed_atom(t, v->kid[0]);
    if (kid[0] == NULL) return NULL;
    if (v->nkids < 2) {
        tg_error(t->cx, v->span, "a match needs at least one arm");
        return NULL;
    }
    for (uint32_t i = 1; i < v->nkids; ++i) {
        const tg_node *block = part[i - 1].block;
        const tg_type *both = type == NULL ? block->type : tg_unify(t->cx, type, block->type, NULL);
        if (both == NULL) {
            tg_error(t->cx, v->kid[i]->span, "the arms have different types: %s and %s", type_text(t, type),
                     type_text(t, block->type));
            return NULL;
        }
        type = both;
        kid[i] = tg_node_with(t->cx, v->kid[i], 2, (const tg_node *[]){ part[i - 1].pattern, block });
        kid[i] = tg_node_with_type(t->cx, kid[i], block->type);
    }
    return retype(t, v, kid, type);
}

/* ---- patterns ---- */

enum { MAX_PATTERN_DEPTH = 200 };

static const tg_node *sub_patterns(tg_infer *t, const tg_node *p, uint32_t n, const tg_type *const *field,
                                   const tg_type *of, int depth)
{
    if (p->nkids != n) {
        tg_error(t->cx, p->span, "the pattern has %u parts, %s has %u", p->nkids, type_text(t, of), n);
        return NULL;
    }
    const tg_node **kid = TG_ARRAY(t->cx, const tg_node *, n);
    for (uint32_t i = 0; i < n; ++i)
        if ((kid[i] = tg_infer_pattern(t, p->kid[i], field[i], depth + 1)) == NULL) return NULL;
    return retype(t, p, kid, of);
}

static const tg_node *ctor_pattern(tg_infer *t, const tg_node *p, const tg_type *of, int depth)
{
    const struct tg_infer_ctor *c = tg_map_get(&t->ctors, TG_KEY(p->u.pattern->ctor));
    if (c == NULL ||
        (of->kind != TG_T_UNKNOWN && (of->kind != TG_T_ADT || of->name != c->adt->name || of->n != c->adt->nparams))) {
        tg_error(t->cx, p->span, "%s is not a constructor of %s", p->u.pattern->ctor->text, type_text(t, of));
        return NULL;
    }
    tg_type_binding bind = tg_type_binding_new(t->cx, c->adt->nparams, c->adt->param);
    for (uint32_t i = 0; i < bind.n && of->kind == TG_T_ADT; ++i)
        bind.type[i] = of->field[i]->kind == TG_T_UNKNOWN ? NULL : of->field[i];
    const tg_type **field = TG_ARRAY(t->cx, const tg_type *, c->ctor->n);
    for (uint32_t i = 0; i < c->ctor->n; ++i) field[i] = tg_type_replace(t->cx, c->ctor->field[i], &bind);
    return sub_patterns(t, p, c->ctor->n, field, of, depth);
}

const tg_node *tg_infer_pattern(tg_infer *t, const tg_node *p, const tg_type *of, int depth)
{
    const tg_pattern *what = p->u.pattern;
    if (depth > MAX_PATTERN_DEPTH) {
        tg_error(t->cx, p->span, "patterns nest more than %d deep", (int)MAX_PATTERN_DEPTH);
        return NULL;
    }
    if (what->ctor != NULL) return ctor_pattern(t, p, of, depth);
    if (what->tuple) {
        if (of->kind == TG_T_TUPLE) return sub_patterns(t, p, of->n, of->field, of, depth);
        tg_error(t->cx, p->span, "a tuple pattern does not match %s", type_text(t, of));
        return NULL;
    }
    if (what->var == NULL) return tg_node_with_type(t->cx, p, of);
    const tg_var *v = tg_infer_bind(t, what->var, of, p->span);
    if (v == NULL || (v == what->var && p->type == v->type)) return v == NULL ? NULL : p;
    tg_pattern now = *what;
    now.var = v;
    return tg_node_new(t->cx, TG_RPATTERN, p->span, v->type, tg_copy(t->cx, &now, sizeof now), 0, NULL);
}

/* ---- references ---- */

static const tg_node *reference(tg_infer *t, const tg_node *v, const tg_node *const *kid)
{
    if (v->u.i == 0) return retype(t, v, kid, tg_ref_type(t->cx, kid[0]->type));
    if (kid[0]->type->kind != TG_T_REF) {
        tg_error(t->cx, v->span, "a reference is needed, this is %s", type_text(t, kid[0]->type));
        return NULL;
    }
    if (v->u.i == 1) return retype(t, v, kid, kid[0]->type->field[0]);
    if (tg_unify(t->cx, kid[0]->type->field[0], kid[1]->type, NULL) == NULL) {
        tg_error(t->cx, v->span, "a reference to %s cannot hold %s", type_text(t, kid[0]->type->field[0]),
                 type_text(t, kid[1]->type));
        return NULL;
    }
    return retype(t, v, kid, tg_tuple_type(t->cx, 0, NULL));
}

const tg_node *tg_infer_value(tg_infer *t, const tg_node *v, const tg_infer_part *part)
{
    switch (v->kind) {
    case TG_RFN: return part->node;
    case TG_RIF: return branches(t, v, part);
    case TG_RMATCH: return match(t, v, part);
    case TG_RCALL:
    case TG_RTUPLE:
    case TG_RGET:
    case TG_RREF: break;
    default: return typed_atom(t, v);
    }
    const tg_node **kid = typed_kids(t, v, part);
    if (kid == NULL) return NULL;
    if (v->kind == TG_RTUPLE) return tuple(t, v, kid);
    if (v->kind == TG_RGET) return projection(t, v, kid);
    if (v->kind == TG_RREF) return reference(t, v, kid);
    return v->u.call->op != NULL ? op_call(t, v, kid) : apply(t, v, kid);
}
