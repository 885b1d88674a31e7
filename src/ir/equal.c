/* equal.c: structural equality up to the identity of variables and buffers, and a hash that goes with it.
 * Pairs of nodes wait on a stack; the two sides are walked in step, binders pair their variables as they are met. */
#include "module.h"
#include "text.h"
#include "walk.h"

typedef struct pair { const tg_node *a, *b; } pair;

typedef struct compare {
    tg_ctx *cx;
    TG_VEC(pair) todo;
    tg_map var, rvar;               /* id + 1 of one side's variable -> the other side's */
    tg_map buf, rbuf;
    tg_map seen;                    /* id + 1 of a node of a -> the node of b it was found equal to */
    bool free_by_identity;          /* tg_node_equal: a variable met without a binder equals itself alone */
    const char *why;
} compare;

static bool differ(compare *c, const char *what, const tg_node *a)
{
    if (c->why == NULL)
        c->why = a == NULL ? tg_format(c->cx, "%s differs", what) : tg_format(c->cx, "%s differs at %s", what, tg_kind_info[a->kind].text);
    return false;
}

/* Types are interned. In Relay they follow from the operators and the parameters, so a side that has none yet agrees. */
static bool same_type(const tg_type *a, const tg_type *b)
{
    return a == b || a == NULL || b == NULL;
}

static bool pair_vars(compare *c, const tg_var *a, const tg_var *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (!same_type(a->type, b->type) || a->numbered != b->numbered)
        return differ(c, "a variable's type", NULL);
    tg_map_put(c->cx, &c->var, (uint64_t)a->id + 1, (void *)(uintptr_t)b);
    tg_map_put(c->cx, &c->rvar, (uint64_t)b->id + 1, (void *)(uintptr_t)a);
    return true;
}

static bool same_var(compare *c, const tg_var *a, const tg_var *b)
{
    const tg_var *to = tg_map_get(&c->var, (uint64_t)a->id + 1);
    if (to != NULL)
        return to == b;
    if (tg_map_get(&c->rvar, (uint64_t)b->id + 1) != NULL)
        return false;
    return c->free_by_identity ? a == b : pair_vars(c, a, b);
}

static void later(compare *c, const tg_node *a, const tg_node *b)
{
    TG_PUSH(c->cx, c->todo, ((pair){ a, b }));
}

static int32_t align_of(const tg_buffer *b)
{
    return b->align <= 0 ? 64 : b->align;
}

static bool same_buffer(compare *c, const tg_buffer *a, const tg_buffer *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    const tg_buffer *to = tg_map_get(&c->buf, (uint64_t)a->id + 1);
    if (to != NULL)
        return to == b;
    if (tg_map_get(&c->rbuf, (uint64_t)b->id + 1) != NULL)
        return false;
    if (c->free_by_identity)
        return a == b;
    if (!tg_dtype_eq(a->dtype, b->dtype) || a->ndim != b->ndim || a->scope != b->scope || align_of(a) != align_of(b)
        || a->auto_broadcast != b->auto_broadcast || (a->strides == NULL) != (b->strides == NULL)
        || (a->elem_offset == NULL) != (b->elem_offset == NULL) || !same_var(c, a->data, b->data))
        return false;
    for (uint32_t k = 0; k < a->ndim; ++k) {
        later(c, a->shape[k], b->shape[k]);
        if (a->strides != NULL)
            later(c, a->strides[k], b->strides[k]);
    }
    if (a->elem_offset != NULL)
        later(c, a->elem_offset, b->elem_offset);
    tg_map_put(c->cx, &c->buf, (uint64_t)a->id + 1, (void *)(uintptr_t)b);
    tg_map_put(c->cx, &c->rbuf, (uint64_t)b->id + 1, (void *)(uintptr_t)a);
    return true;
}

static bool same_block(compare *c, const tg_block *a, const tg_block *b)
{
    if (a->name != b->name || a->niters != b->niters || a->nreads != b->nreads || a->nwrites != b->nwrites
        || a->nallocs != b->nallocs || a->nmatches != b->nmatches || a->has_init != b->has_init
        || !tg_value_equal(a->annotations, b->annotations))
        return false;
    for (uint32_t i = 0; i < a->niters; ++i)
        if (a->iter[i].kind != b->iter[i].kind || !pair_vars(c, a->iter[i].var, b->iter[i].var))
            return false;
    for (uint32_t i = 0; i < a->nallocs; ++i)
        if (!same_buffer(c, a->alloc[i], b->alloc[i]))
            return false;
    for (uint32_t i = 0; i < a->nreads; ++i)
        if (!same_buffer(c, a->read[i], b->read[i]))
            return false;
    for (uint32_t i = 0; i < a->nwrites; ++i)
        if (!same_buffer(c, a->write[i], b->write[i]))
            return false;
    for (uint32_t i = 0; i < a->nmatches; ++i)
        if (!same_buffer(c, a->match[i].source, b->match[i].source) || !same_buffer(c, a->match[i].view, b->match[i].view))
            return false;
    return true;
}

static bool same_alloc(compare *c, const tg_alloc_info *a, const tg_alloc_info *b)
{
    if (!tg_dtype_eq(a->dtype, b->dtype) || a->scope != b->scope || a->missing != b->missing || a->ndim != b->ndim
        || !tg_value_equal(a->annotations, b->annotations) || (a->tensor == NULL) != (b->tensor == NULL))
        return false;
    for (uint32_t k = 0; k < a->ndim; ++k)
        if (a->extent[k] != b->extent[k])
            return false;
    return (a->tensor == NULL || tg_tensor_equal(a->tensor, b->tensor)) && pair_vars(c, a->var, b->var);
}

static bool same_func(compare *c, const tg_func *a, const tg_func *b, bool named);

static bool same_payload(compare *c, const tg_node *a, const tg_node *b)
{
    switch (a->kind) {
    case TG_INT: case TG_SHUFFLE: case TG_RGET: case TG_RMATCH: case TG_RREF:
        return a->u.i == b->u.i;
    case TG_FLOAT:
        return a->u.f == b->u.f ? (a->u.f != 0 || (1 / a->u.f > 0) == (1 / b->u.f > 0)) : a->u.f != a->u.f && b->u.f != b->u.f;
    case TG_STR: case TG_CALL: case TG_RGLOBAL: case TG_RCTOR:
        return a->u.name == b->u.name;
    case TG_VAR: case TG_RVAR:
        return same_var(c, a->u.var, b->u.var);
    case TG_LOAD: case TG_STORE: case TG_DECL_BUFFER:
        return same_buffer(c, a->u.buf, b->u.buf);
    case TG_LET: case TG_LET_STMT:
        return pair_vars(c, a->u.var, b->u.var);
    case TG_RBIND:
        return pair_vars(c, a->u.var, b->u.var) && (a->u.var->numbered || a->u.var->name == b->u.var->name);
    case TG_FOR:
        return a->u.loop->kind == b->u.loop->kind && a->u.loop->thread == b->u.loop->thread
               && tg_value_equal(a->u.loop->annotations, b->u.loop->annotations) && pair_vars(c, a->u.loop->var, b->u.loop->var);
    case TG_ALLOCATE: case TG_ALLOC_CONST:
        return same_alloc(c, a->u.alloc, b->u.alloc);
    case TG_ATTR:
        return a->u.attr->key == b->u.attr->key;
    case TG_BLOCK:
        return same_block(c, a->u.block, b->u.block);
    case TG_RCONST:
        return a->u.tensor == b->u.tensor || tg_tensor_equal(a->u.tensor, b->u.tensor);
    case TG_RCALL:
        return a->u.call->op == b->u.call->op && tg_value_equal(a->u.call->attrs, b->u.call->attrs);
    case TG_RPATTERN:
        return a->u.pattern->ctor == b->u.pattern->ctor && a->u.pattern->tuple == b->u.pattern->tuple
               && pair_vars(c, a->u.pattern->var, b->u.pattern->var);
    case TG_RFN:
        return same_func(c, a->u.func, b->u.func, false);
    default:
        return true;
    }
}

/* Compares what waits on the stack down to @p floor. The last pushed comes first, so operands are pushed in reverse. */
static bool run(compare *c, size_t floor)
{
    while (c->todo.n > floor) {
        pair p = c->todo.at[--c->todo.n];
        if (p.a == p.b && c->free_by_identity)
            continue;
        if (p.a->kind != p.b->kind || p.a->nkids != p.b->nkids || !same_type(p.a->type, p.b->type))
            return differ(c, "kind, operand count or type", p.a);
        if (p.a->nkids > 0 && !tg_is_stmt(p.a)) {
            if (tg_map_get(&c->seen, (uint64_t)p.a->id + 1) == p.b)
                continue;
            tg_map_put(c->cx, &c->seen, (uint64_t)p.a->id + 1, (void *)(uintptr_t)p.b);
        }
        if (!same_payload(c, p.a, p.b))
            return differ(c, "content", p.a);
        for (uint32_t i = p.a->nkids; i > 0; --i)
            later(c, p.a->kid[i - 1], p.b->kid[i - 1]);
    }
    return true;
}

static bool same_func(compare *c, const tg_func *a, const tg_func *b, bool named)
{
    if (a->kind != b->kind || (named && a->name != b->name) || a->nparams != b->nparams || !same_type(a->ret, b->ret)
        || !tg_value_equal(a->attrs, b->attrs) || a->ntype_params != b->ntype_params)
        return differ(c, "signature or attributes", a->body);
    for (uint32_t i = 0; i < a->nparams; ++i) {
        const tg_buffer *ba = a->buffer == NULL ? NULL : a->buffer[i], *bb = b->buffer == NULL ? NULL : b->buffer[i];
        const tg_name *na = ba != NULL ? ba->name : a->param[i]->name, *nb = bb != NULL ? bb->name : b->param[i]->name;
        if (na != nb || !pair_vars(c, a->param[i], b->param[i]))
            return differ(c, "a parameter", NULL);
        if (!same_buffer(c, ba, bb))
            return differ(c, "a parameter's buffer", NULL);
    }
    size_t floor = c->todo.n;
    later(c, a->body, b->body);
    return run(c, floor);
}

static bool finish(compare *c, bool equal, const char *name, const char **why)
{
    equal = equal && run(c, 0);
    if (!equal && why != NULL)
        *why = tg_format(c->cx, "%s%s%s", name, name[0] != '\0' ? ": " : "", c->why != NULL ? c->why : "they differ");
    return equal;
}

bool tg_func_equal(tg_ctx *cx, const tg_func *a, const tg_func *b, const char **why)
{
    compare c = { .cx = cx };
    return finish(&c, same_func(&c, a, b, false), a->name != NULL ? a->name->text : "", why);
}

static bool same_adt(const tg_adt *a, const tg_adt *b)
{
    if (a->name != b->name || a->nparams != b->nparams || a->nctors != b->nctors)
        return false;
    for (uint32_t i = 0; i < a->nctors; ++i) {
        if (a->ctor[i].name != b->ctor[i].name || a->ctor[i].n != b->ctor[i].n)
            return false;
        for (uint32_t k = 0; k < a->ctor[i].n; ++k)
            if (a->ctor[i].field[k] != b->ctor[i].field[k])
                return false;
    }
    return true;
}

bool tg_module_equal(tg_ctx *cx, const tg_module *a, const tg_module *b, const char **why)
{
    const char *reason = NULL;
    if (a->funcs.n != b->funcs.n || a->adts.n != b->adts.n)
        reason = "the number of definitions differs";
    else if (!tg_value_equal(a->attrs, b->attrs))
        reason = "module attributes differ";
    for (size_t i = 0; reason == NULL && i < a->adts.n; ++i)
        if (!same_adt(a->adts.at[i], b->adts.at[i]))
            reason = tg_format(cx, "type %s differs", a->adts.at[i]->name->text);
    for (size_t i = 0; reason == NULL && i < a->funcs.n; ++i) {
        const tg_func *f = a->funcs.at[i], *g = tg_module_find(b, f->name);
        compare c = { .cx = cx };
        if (g == NULL)
            reason = tg_format(cx, "%s is missing", f->name->text);
        else if (!finish(&c, same_func(&c, f, g, true), f->name->text, &reason) && reason == NULL)
            reason = "they differ";
    }
    if (why != NULL)
        *why = reason;
    return reason == NULL;
}

bool tg_node_equal(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    if (a == b)
        return true;
    compare c = { .cx = cx, .free_by_identity = true };
    later(&c, a, b);
    return run(&c, 0);
}

/* ---- hash ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    return tg_hash(&v, sizeof v, h);
}

typedef struct hashing { uint64_t h; } hashing;

static bool hash_node(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    hashing *s = user;
    s->h = mix(mix(mix(s->h, n->kind), n->nkids), n->type == NULL ? 0 : n->type->id + 1u);
    if (n->kind == TG_RCALL)
        s->h = mix(s->h, n->u.call->op == NULL ? 0 : n->u.call->op->id + 1u);
    else if (n->kind == TG_INT || n->kind == TG_RGET)
        s->h = mix(s->h, (uint64_t)n->u.i);
    return true;
}

uint64_t tg_func_hash(tg_ctx *cx, const tg_func *f)
{
    hashing s = { mix(f->nparams, f->kind) };
    for (uint32_t i = 0; i < f->nparams; ++i)
        s.h = mix(s.h, f->param[i]->type == NULL ? 0 : f->param[i]->type->id + 1u);
    tg_visit(cx, f->body, hash_node, &s);
    return s.h;
}
