/* rebind.c: see rebind.h. */
#include "rebind.h"
#include "ir/diag.h"
#include "ir/walk.h"
#include "ops/ops.h"

#include <string.h>

enum { MAX_DEPTH = 1000 };          /* blocks inside blocks */

struct tg_rebind_block {
    struct tg_rebind_block *outer;
    TG_VEC(const tg_node *) bind;
};

/* ---- counting uses ---- */

static uint32_t *uses_of(tg_rebind *r, const tg_var *v)
{
    uint32_t *n = tg_map_get(&r->uses, (uint64_t)v->id + 1);
    if (n == NULL) {
        n = TG_NEW(r->cx, uint32_t);
        tg_map_put(r->cx, &r->uses, (uint64_t)v->id + 1, n);
    }
    return n;
}

static bool count_one(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_rebind *r = user;
    if (n->kind == TG_RVAR)
        ++*uses_of(r, n->u.var);
    else if (n->kind == TG_RFN)
        tg_visit(cx, n->u.func->body, count_one, r);
    return true;
}

/* An occurrence is gone. What a variable without any was bound to is not computed any more, and so on. */
static void release(tg_rebind *r, const tg_node *atom)
{
    TG_VEC(const tg_node *) todo = { 0 };
    TG_PUSH(r->cx, todo, atom);
    while (todo.n > 0) {
        const tg_node *a = todo.at[--todo.n];
        if (a->kind != TG_RVAR)
            continue;
        uint32_t *n = uses_of(r, a->u.var);
        const tg_node *value = tg_map_get(&r->value, (uint64_t)a->u.var->id + 1);
        if (*n == 0 || --*n > 0 || value == NULL)
            continue;
        for (uint32_t i = 0; i < value->nkids; ++i)
            TG_PUSH(r->cx, todo, value->kid[i]);
    }
}

static void retain(tg_rebind *r, const tg_node *atom, uint32_t times)
{
    if (atom->kind == TG_RVAR)
        *uses_of(r, atom->u.var) += times;
}

static void exchange_uses(tg_rebind *r, const tg_node *now, const tg_node *old)
{
    for (uint32_t i = 0; i < now->nkids; ++i)
        retain(r, now->kid[i], 1);
    for (uint32_t i = 0; i < old->nkids; ++i)
        release(r, old->kid[i]);
}

/* ---- for passes ---- */

const tg_node *tg_rebind_value(const tg_rebind *r, const tg_node *atom)
{
    const tg_node *v = atom->kind == TG_RVAR ? tg_map_get(&r->value, (uint64_t)atom->u.var->id + 1) : NULL;
    return v != NULL ? v : atom;
}

uint32_t tg_rebind_uses(tg_rebind *r, const tg_node *atom)
{
    return atom->kind == TG_RVAR ? *uses_of(r, atom->u.var) : 1;
}

const tg_node *tg_rebind_call(tg_rebind *r, const char *op, const tg_value *attrs, uint32_t n,
                              const tg_node *const *arg)
{
    tg_rcall_info *info = TG_NEW(r->cx, tg_rcall_info);
    info->op = tg_intern_z(r->cx, op);
    info->attrs = attrs;
    info->layer = r->origin->kind == TG_RCALL ? r->origin->u.call->layer : NULL;
    const tg_node *call = tg_node_new(r->cx, TG_RCALL, r->origin->span, NULL, info, n, arg);
    const tg_type *type = tg_op_infer(r->cx, call);
    return type != NULL ? tg_node_with_type(r->cx, call, type) : NULL;
}

static const tg_node *bind_new(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    tg_map_put(r->cx, &r->value, (uint64_t)v->id + 1, (void *)(uintptr_t)value);
    const tg_node *b = tg_node_at(r->cx, tg_rbind(r->cx, v, value), value->span);
    TG_PUSH(r->cx, r->block->bind, b);
    return b;
}

const tg_node *tg_rebind_let(tg_rebind *r, const tg_node *value)
{
    tg_var *v = tg_var_new(r->cx, tg_intern_z(r->cx, "t"), value->type);
    v->numbered = true;
    v->span = value->span;
    for (uint32_t i = 0; i < value->nkids; ++i)
        retain(r, value->kid[i], 1);
    bind_new(r, v, value);
    return tg_rvar(r->cx, v, value->span);
}

const tg_node *tg_rebind_splice(tg_rebind *r, const tg_node *block)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i)
        TG_PUSH(r->cx, r->block->bind, block->kid[i]);
    return block->kid[block->nkids - 1];
}

/* ---- replacing operands ---- */

static const tg_node *rewrite_block(tg_rebind *r, const tg_node *block);

static const tg_node *rewrite_function(tg_rebind *r, const tg_node *n)
{
    const tg_node *body = rewrite_block(r, n->u.func->body);
    if (body == NULL || body == n->u.func->body)
        return body == NULL ? NULL : n;
    tg_func *f = tg_func_copy(r->cx, n->u.func);
    f->body = body;
    return tg_node_new(r->cx, TG_RFN, n->span, n->type, f, n->nkids, n->kid);
}

static const tg_node *rewrite_atom(tg_rebind *r, const tg_node *n)
{
    if (n->kind == TG_RFN)
        return rewrite_function(r, n);
    const tg_node *now = n->kind == TG_RVAR ? tg_map_get(&r->atom, (uint64_t)n->u.var->id + 1) : NULL;
    return now != NULL ? now : n;
}

static const tg_node *rewrite_operand(tg_rebind *r, const tg_node *n)
{
    if (n->kind == TG_RBLOCK)
        return rewrite_block(r, n);
    if (n->kind != TG_RARM)
        return rewrite_atom(r, n);
    const tg_node *kid[2] = { n->kid[0], rewrite_block(r, n->kid[1]) };
    return kid[1] != NULL ? tg_node_with(r->cx, n, 2, kid) : NULL;
}

/* A value with its operands replaced. */
static const tg_node *rewrite_value(tg_rebind *r, const tg_node *v)
{
    if (v->nkids == 0)
        return rewrite_atom(r, v);
    const tg_node **kid = TG_ARRAY(r->cx, const tg_node *, v->nkids);
    for (uint32_t i = 0; i < v->nkids; ++i)
        if ((kid[i] = rewrite_operand(r, v->kid[i])) == NULL)
            return NULL;
    return tg_node_with(r->cx, v, v->nkids, kid);
}

/* ---- what is still used ---- */

typedef struct live { tg_ctx *cx; tg_map seen; } live;

static bool mark(tg_ctx *cx, const tg_node *n, void *user)
{
    live *l = user;
    if (n->kind == TG_RVAR)
        tg_map_put(cx, &l->seen, (uint64_t)n->u.var->id + 1, l);
    else if (n->kind == TG_RFN)
        tg_visit(cx, n->u.func->body, mark, l);
    return true;
}

static bool find_reference(tg_ctx *cx, const tg_node *n, void *user)
{
    bool *found = user;
    if (n->kind == TG_RREF)
        *found = true;
    else if (n->kind == TG_RFN)
        tg_visit(cx, n->u.func->body, find_reference, user);
    return true;
}

static bool find_effect(tg_ctx *cx, const tg_node *n, void *user)
{
    bool *found = user;
    (void)cx;
    if (n->kind == TG_RREF || (n->kind == TG_RCALL && n->u.call->op == NULL))
        *found = true;
    return true;
}

/* May computing @p value be seen by others than its user? Only in a module that writes references: there a call may be
 * one. */
static bool has_effect(const tg_rebind *r, const tg_node *value)
{
    bool found = false;
    if (r->references)
        tg_visit(r->cx, value, find_effect, &found);
    return found;
}

/* Leaves the bindings that the result, or one behind them, needs. @return their number. */
static uint32_t drop_unused(tg_rebind *r, struct tg_rebind_block *b, const tg_node *result)
{
    live l = { r->cx, { 0 } };
    mark(r->cx, result, &l);
    size_t kept = b->bind.n;
    for (size_t i = b->bind.n; i-- > 0;) {
        const tg_node *bind = b->bind.at[i], *value = bind->kid[0];
        if (tg_map_get(&l.seen, (uint64_t)bind->u.var->id + 1) == NULL && !has_effect(r, value))
            continue;
        tg_visit(r->cx, value, mark, &l);
        b->bind.at[--kept] = bind;
    }
    uint32_t n = (uint32_t)(b->bind.n - kept);
    if (n > 0 && kept > 0)
        memmove(b->bind.at, b->bind.at + kept, n * sizeof b->bind.at[0]);
    return n;
}

/* ---- blocks ---- */

static bool is_plain_atom(const tg_node *n)
{
    return tg_is_atom(n) && n->kind != TG_RFN;
}

static bool rewrite_bind(tg_rebind *r, const tg_node *bind)
{
    const tg_var *v = bind->u.var;
    const tg_node *value = rewrite_value(r, bind->kid[0]);
    if (value == NULL)
        return false;
    r->origin = value;
    const tg_node *now = r->fn(r, v, value);
    if (now == NULL)
        return false;
    if (is_plain_atom(now)) {
        retain(r, now, *uses_of(r, v));
        if (value->nkids > 0)
            exchange_uses(r, now, value);
        else
            release(r, value);
        tg_map_put(r->cx, &r->atom, (uint64_t)v->id + 1, (void *)(uintptr_t)now);
        return true;
    }
    if (now != value)
        exchange_uses(r, now, value);
    if (now == bind->kid[0]) {
        tg_map_put(r->cx, &r->value, (uint64_t)v->id + 1, (void *)(uintptr_t)now);
        TG_PUSH(r->cx, r->block->bind, bind);
    } else {
        bind_new(r, v, now);
    }
    return true;
}

/* The block as it was when nothing in it changed. */
static const tg_node *rewrite_block(tg_rebind *r, const tg_node *block)
{
    uint32_t nbinds = block->nkids - 1;
    struct tg_rebind_block b = { .outer = r->block };
    if (++r->depth > MAX_DEPTH) {
        tg_error(r->cx, block->span, "blocks nest more than %d deep", MAX_DEPTH);
        return NULL;
    }
    r->block = &b;
    bool good = true;
    for (uint32_t i = 0; i < nbinds && good; ++i)
        good = rewrite_bind(r, block->kid[i]);
    const tg_node *result = good ? rewrite_atom(r, block->kid[nbinds]) : NULL;
    r->block = b.outer;
    --r->depth;
    if (result == NULL)
        return NULL;
    uint32_t n = drop_unused(r, &b, result);
    if (n == nbinds && result == block->kid[nbinds] &&
        (n == 0 || memcmp(b.bind.at, block->kid, n * sizeof b.bind.at[0]) == 0))
        return block;
    const tg_node *now = tg_node_at(r->cx, tg_rblock(r->cx, n, b.bind.at, result), block->span);
    return tg_node_with_type(r->cx, now, block->type);
}

bool tg_rebind_module(tg_rebind *r)
{
    for (size_t i = 0; i < r->m->funcs.n; ++i)
        if (r->m->funcs.at[i]->kind == TG_FUNC_RELAY)
            tg_visit(r->cx, r->m->funcs.at[i]->body, find_reference, &r->references);
    for (size_t i = 0; i < r->m->funcs.n; ++i) {
        const tg_func *f = r->m->funcs.at[i];
        if (f->kind != TG_FUNC_RELAY)
            continue;
        tg_visit(r->cx, f->body, count_one, r);
        const tg_node *body = rewrite_block(r, f->body);
        if (body == NULL)
            return false;
        if (body == f->body)
            continue;
        tg_func *g = tg_func_copy(r->cx, f);
        g->body = body;
        r->m->funcs.at[i] = g;
    }
    return true;
}
