/* tail_loops.c: how a function calls itself, seen from its text alone.
 * A function is a loop when each mention of itself is a call whose result is the function's own result, and an if stands before each
 * such call. Parameters that every such call passes on unchanged are invariant: they need no memory of the loop's own. */
#include "tail_loops.h"
#include "ir/vec.h"

typedef struct tail { const tg_node *block; bool guarded, matched; } tail;

typedef struct looking {
    tg_ctx *cx;
    const tg_func *f;
    const tg_var *self;
    const tg_name *name;
    tg_map bind;                    /* var id + 1 -> its RBIND, of the function but not of functions inside */
    tg_map block;                   /* var id + 1 -> the block that binds it */
    tg_map matched;                 /* var id + 1: taken apart by a match */
    uint32_t mentions, tail_calls;
    tg_span mention;                /* the first */
    bool unguarded, by_match;       /* some tail call has no if, a match before it */
    bool *invariant;
    TG_VEC(tail) tails;
} looking;

static bool is_self(const looking *l, const tg_node *n)
{
    return (n->kind == TG_RVAR && l->self != NULL && n->u.var == l->self) || (n->kind == TG_RGLOBAL && l->name != NULL && n->u.name == l->name);
}

static void put(looking *l, tg_map *m, const tg_var *v, const void *p)
{
    tg_map_put(l->cx, m, (uint64_t)v->id + 1, (void *)(uintptr_t)p);
}

/* ---- one scan of everything ---- */

typedef struct place { const tg_node *n; bool inside; } place;     /* inside: a function within the function */

static void note_block(looking *l, const tg_node *block)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        put(l, &l->bind, block->kid[i]->u.var, block->kid[i]);
        put(l, &l->block, block->kid[i]->u.var, block);
    }
}

static void scan(looking *l)
{
    TG_VEC(place) todo = { 0 };
    TG_PUSH(l->cx, todo, ((place){ l->f->body, false }));
    while (todo.n > 0) {
        place p = todo.at[--todo.n];
        if (is_self(l, p.n) && l->mentions++ == 0)
            l->mention = p.n->span;
        if (p.n->kind == TG_RBLOCK && !p.inside)
            note_block(l, p.n);
        if (p.n->kind == TG_RMATCH && p.n->kid[0]->kind == TG_RVAR)
            put(l, &l->matched, p.n->kid[0]->u.var, p.n);
        if (p.n->kind == TG_RFN)
            TG_PUSH(l->cx, todo, ((place){ p.n->u.func->body, true }));
        for (uint32_t i = p.n->nkids; i > 0; --i)
            TG_PUSH(l->cx, todo, ((place){ p.n->kid[i - 1], p.inside }));
    }
}

/* ---- what is last ---- */

static const tg_node *value_of(const looking *l, const tg_node *atom)
{
    const tg_node *bind = atom->kind == TG_RVAR ? tg_map_get(&l->bind, (uint64_t)atom->u.var->id + 1) : NULL;
    return bind == NULL ? NULL : bind->kid[0];
}

/* Follows variables that only rename others. */
static const tg_node *origin(const looking *l, const tg_node *atom)
{
    for (const tg_node *v = value_of(l, atom); v != NULL && v->kind == TG_RVAR; v = value_of(l, atom))
        atom = v;
    return atom;
}

static void tail_call(looking *l, const tg_node *call, const tail *t)
{
    ++l->tail_calls;
    l->unguarded = l->unguarded || (!t->guarded && !t->matched);
    l->by_match = l->by_match || (!t->guarded && t->matched);
    for (uint32_t k = 0; k < l->f->nparams; ++k) {
        const tg_node *arg = k + 1 < call->nkids ? origin(l, call->kid[k + 1]) : NULL;
        if (arg == NULL || arg->kind != TG_RVAR || arg->u.var != l->f->param[k])
            l->invariant[k] = false;
    }
}

static void visit_tail(looking *l, const tail *t)
{
    const tg_node *result = origin(l, t->block->kid[t->block->nkids - 1]), *v = value_of(l, result);
    if (v == NULL || tg_map_get(&l->block, (uint64_t)result->u.var->id + 1) != t->block)
        return;                     /* from further out: computed before */
    if (v->kind == TG_RCALL && v->u.call->op == NULL && is_self(l, v->kid[0]))
        tail_call(l, v, t);
    else if (v->kind == TG_RIF)
        for (uint32_t i = 1; i <= 2; ++i)
            TG_PUSH(l->cx, l->tails, ((tail){ v->kid[i], true, t->matched }));
    else if (v->kind == TG_RMATCH)
        for (uint32_t i = 1; i < v->nkids; ++i)
            TG_PUSH(l->cx, l->tails, ((tail){ v->kid[i]->kid[1], t->guarded, true }));
}

/* Does a value of this type hold what exists only while compiling? */
static bool has_static_part(tg_ctx *cx, const tg_type *type)
{
    TG_VEC(const tg_type *) todo = { 0 };
    tg_map seen = { 0 };
    if (type != NULL)
        TG_PUSH(cx, todo, type);
    while (todo.n > 0) {
        const tg_type *t = todo.at[--todo.n];
        if (tg_map_get(&seen, TG_KEY(t)) != NULL)
            continue;
        tg_map_put(cx, &seen, TG_KEY(t), &seen);
        if (t->kind == TG_T_ADT || t->kind == TG_T_FUNC || t->kind == TG_T_REF)
            return true;
        for (uint32_t i = 0; t->kind == TG_T_TUPLE && i < t->n; ++i)
            TG_PUSH(cx, todo, t->field[i]);
    }
    return false;
}

static bool carries_static(looking *l)
{
    for (uint32_t k = 0; k < l->f->nparams; ++k) {
        const tg_var *p = l->f->param[k];
        if (!l->invariant[k] && (has_static_part(l->cx, p->type) || tg_map_get(&l->matched, (uint64_t)p->id + 1) != NULL))
            return true;
    }
    return false;
}

tg_loop_shape tg_loop_shape_of(tg_ctx *cx, const tg_func *f, const tg_var *self, const tg_name *name)
{
    tg_loop_shape shape = { TG_REC_NONE, NULL, TG_NOWHERE };
    if (self == NULL && name == NULL)
        return shape;
    looking l = { .cx = cx, .f = f, .self = self, .name = name };
    scan(&l);
    if (l.mentions == 0)
        return shape;
    l.invariant = TG_ARRAY(cx, bool, f->nparams);
    for (uint32_t k = 0; k < f->nparams; ++k)
        l.invariant[k] = true;
    TG_PUSH(cx, l.tails, ((tail){ f->body, false, false }));
    while (l.tails.n > 0) {
        tail t = l.tails.at[--l.tails.n];
        visit_tail(&l, &t);
    }
    shape.invariant = l.invariant;
    shape.not_last = l.mention;
    if (l.tail_calls != l.mentions)
        shape.kind = TG_REC_OTHER;
    else if (carries_static(&l))
        shape.kind = TG_REC_STATIC;
    else if (l.unguarded)
        shape.kind = TG_REC_ENDLESS;
    else
        shape.kind = l.by_match ? TG_REC_STATIC : TG_REC_TAIL;
    return shape;
}

bool tg_calls(const tg_node *v, const tg_name *name)
{
    return v->kind == TG_RCALL && v->u.call->op == NULL && v->kid[0]->kind == TG_RGLOBAL && v->kid[0]->u.name == name;
}
