/* walk.c: visit and rewrite with a stack of our own, and what stands on them: substitution, fresh copies. */
#include "walk.h"

#include <string.h>

/* ---- scratch tables: node id -> node, growing in the temp arena ---- */

typedef struct memo { uint32_t *key; const tg_node **val; size_t n, cap; } memo;

static size_t slot_of(const memo *m, uint32_t id)
{
    size_t i = (id * 2654435761u) & (m->cap - 1);
    while (m->key[i] != 0 && m->key[i] != id + 1)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static void memo_grow(tg_ctx *cx, memo *m)
{
    memo old = *m;
    m->cap = old.cap == 0 ? 64 : old.cap * 2;
    m->key = TG_TEMP_ARRAY(cx, uint32_t, m->cap);
    m->val = TG_TEMP_ARRAY(cx, const tg_node *, m->cap);
    for (size_t i = 0; i < old.cap; ++i) {
        if (old.key[i] != 0) {
            size_t k = slot_of(m, old.key[i] - 1);
            m->key[k] = old.key[i];
            m->val[k] = old.val[i];
        }
    }
}

static const tg_node *memo_get(const memo *m, uint32_t id)
{
    return m->cap == 0 ? NULL : m->val[slot_of(m, id)];
}

static void memo_put(tg_ctx *cx, memo *m, uint32_t id, const tg_node *v)
{
    if (m->n * 2 >= m->cap)
        memo_grow(cx, m);
    size_t i = slot_of(m, id);
    m->n += m->key[i] == 0;
    m->key[i] = id + 1;
    m->val[i] = v;
}

/* ---- stacks ---- */

typedef struct frame { const tg_node *n; uint32_t next; size_t base; } frame;
typedef struct stack { void *at; size_t n, cap; } stack;

static void *push(tg_ctx *cx, stack *s, size_t size)
{
    if (s->n == s->cap) {
        size_t cap = s->cap == 0 ? 64 : s->cap * 2;
        void *at = tg_temp_array(cx, cap, size);
        if (s->n > 0)
            memcpy(at, s->at, s->n * size);
        s->at = at;
        s->cap = cap;
    }
    return (char *)s->at + size * s->n++;
}

static void push_frame(tg_ctx *cx, stack *s, const tg_node *n, size_t base)
{
    frame *f = push(cx, s, sizeof *f);
    *f = (frame){ n, 0, base };
}

static void push_node(tg_ctx *cx, stack *s, const tg_node *n)
{
    const tg_node **p = push(cx, s, sizeof *p);
    *p = n;
}

/* ---- rewrite ---- */

/* The node with its new operands; a sequence takes in the statements of a sequence that came into it, as tg_seq() builds it. */
static const tg_node *rebuild(tg_ctx *cx, const tg_node *n, const tg_node *const *kid)
{
    const tg_node *now = tg_node_with(cx, n, n->nkids, kid);
    if (n->kind == TG_SEQ && now != n)
        for (uint32_t i = 0; i < n->nkids; ++i)
            if (kid[i]->kind == TG_SEQ)
                return tg_seq(cx, n->nkids, kid);
    return now;
}

const tg_node *tg_rewrite_node(tg_ctx *cx, const tg_node *root, tg_rewrite_fn fn, void *user)
{
    stack todo = { 0 }, done = { 0 };
    memo seen = { 0 };
    push_frame(cx, &todo, root, 0);
    while (todo.n > 0) {
        frame *f = &((frame *)todo.at)[todo.n - 1];
        if (f->next < f->n->nkids) {
            const tg_node *kid = f->n->kid[f->next++];
            const tg_node *known = kid->nkids == 0 ? fn(cx, kid, user) : memo_get(&seen, kid->id);
            if (known != NULL)
                push_node(cx, &done, known);
            else if (kid->nkids == 0)
                return NULL;
            else
                push_frame(cx, &todo, kid, done.n);
            continue;
        }
        const tg_node **kids = (const tg_node **)done.at;
        const tg_node *old = f->n;
        const tg_node *now = fn(cx, rebuild(cx, old, kids == NULL ? NULL : kids + f->base), user);
        if (now == NULL)
            return NULL;
        memo_put(cx, &seen, old->id, now);
        done.n = f->base;
        --todo.n;
        push_node(cx, &done, now);
    }
    return ((const tg_node **)done.at)[0];
}

bool tg_rewrite(tg_ctx *cx, tg_module *m, tg_rewrite_fn fn, void *user)
{
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_PRIM)
            continue;
        const tg_node *body = tg_rewrite_node(cx, f->body, fn, user);
        if (body == NULL)
            return false;
        if (body != f->body) {
            tg_func *g = tg_func_copy(cx, f);
            g->body = body;
            m->funcs.at[i] = g;
        }
    }
    return true;
}

/* ---- visit ---- */

void tg_visit(tg_ctx *cx, const tg_node *root, tg_visit_fn fn, void *user)
{
    stack todo = { 0 };
    memo seen = { 0 };
    push_node(cx, &todo, root);
    while (todo.n > 0) {
        const tg_node *n = ((const tg_node **)todo.at)[--todo.n];
        if (n->nkids > 0) {
            if (memo_get(&seen, n->id) != NULL)
                continue;
            memo_put(cx, &seen, n->id, n);
        }
        if (!fn(cx, n, user))
            continue;
        for (uint32_t i = n->nkids; i > 0; --i)
            push_node(cx, &todo, n->kid[i - 1]);
    }
}

/* ---- substitution ---- */

void tg_subst_var(tg_ctx *cx, tg_subst *s, const tg_var *v, const tg_node *by)
{
    tg_map_put(cx, &s->var, (uint64_t)v->id + 1, (void *)(uintptr_t)by);
}

void tg_subst_buf(tg_ctx *cx, tg_subst *s, const tg_buffer *b, const tg_buffer *by)
{
    tg_map_put(cx, &s->buf, (uint64_t)b->id + 1, (void *)(uintptr_t)by);
}

/* rebind: variables bound inside are renamed too; depth: functions within functions */
typedef struct applying { tg_subst s; bool rebind; uint32_t depth; } applying;
enum { MAX_FUNCTIONS = 1000 };

static const tg_node *var_by(const tg_subst *s, const tg_var *v)
{
    return v == NULL ? NULL : tg_map_get(&s->var, (uint64_t)v->id + 1);
}

static const tg_var *bound_by(const applying *a, const tg_var *v)
{
    const tg_node *by = a->rebind ? var_by(&a->s, v) : NULL;
    return by != NULL && by->kind == TG_VAR ? by->u.var : v;
}

static const tg_node *apply(tg_ctx *cx, const tg_node *n, void *user);

/* The list with each expression substituted; the list itself when nothing changes. */
static const tg_node *const *apply_list(tg_ctx *cx, applying *a, uint32_t n, const tg_node *const *list)
{
    const tg_node **now = NULL;
    for (uint32_t i = 0; list != NULL && i < n; ++i) {
        if (list[i]->kind == TG_INT)
            continue;
        const tg_node *e = tg_rewrite_node(cx, list[i], apply, a);
        if (e == list[i])
            continue;
        if (now == NULL)
            now = tg_copy(cx, list, n * sizeof list[0]);
        now[i] = e;
    }
    return now != NULL ? now : list;
}

static const tg_buffer *apply_buffer(tg_ctx *cx, applying *a, const tg_buffer *b)
{
    const tg_buffer *by = tg_map_get(&a->s.buf, (uint64_t)b->id + 1);
    if (by != NULL)
        return by;
    const tg_node *data = var_by(&a->s, b->data);
    const tg_node *const *shape = apply_list(cx, a, b->ndim, b->shape);
    const tg_node *const *strides = apply_list(cx, a, b->ndim, b->strides);
    const tg_node *offset = b->elem_offset == NULL ? NULL : tg_rewrite_node(cx, b->elem_offset, apply, a);
    bool moved = data != NULL && data->kind == TG_VAR && data->u.var != b->data;
    if (!moved && shape == b->shape && strides == b->strides && offset == b->elem_offset)
        return b;
    tg_buffer *c = tg_buffer_copy(cx, b);
    c->data = moved ? data->u.var : b->data;
    c->shape = shape;
    c->strides = strides;
    c->elem_offset = offset;
    tg_map_put(cx, &a->s.buf, (uint64_t)b->id + 1, c);
    return c;
}

static const tg_node *with_payload(tg_ctx *cx, const tg_node *n, const tg_type *type, const void *payload)
{
    return tg_node_new(cx, (enum tg_kind)n->kind, n->span, type, payload, n->nkids, n->kid);
}

static const tg_node *apply_access(tg_ctx *cx, applying *a, const tg_node *n)
{
    const tg_buffer *b = apply_buffer(cx, a, n->u.buf);
    if (b == n->u.buf)
        return n;
    const tg_type *type = n->type;
    if (n->kind == TG_LOAD && !tg_dtype_eq(b->dtype, n->u.buf->dtype)) {
        DLDataType d = b->dtype;
        d.lanes = n->type->dtype.lanes;
        type = tg_prim(cx, d);
    }
    return with_payload(cx, n, type, b);
}

static const tg_buffer **apply_buffers(tg_ctx *cx, applying *a, uint32_t n, const tg_buffer *const *list, bool *changed)
{
    const tg_buffer **now = TG_ARRAY(cx, const tg_buffer *, n);
    for (uint32_t i = 0; i < n; ++i) {
        now[i] = apply_buffer(cx, a, list[i]);
        *changed = *changed || now[i] != list[i];
    }
    return now;
}

static const tg_node *apply_block(tg_ctx *cx, applying *a, const tg_node *n)
{
    const tg_block *old = n->u.block;
    tg_block *b = tg_copy(cx, old, sizeof *old);
    bool changed = false;
    b->read = apply_buffers(cx, a, old->nreads, old->read, &changed);
    b->write = apply_buffers(cx, a, old->nwrites, old->write, &changed);
    b->alloc = apply_buffers(cx, a, old->nallocs, old->alloc, &changed);
    struct tg_block_match *match = TG_ARRAY(cx, struct tg_block_match, old->nmatches);
    for (uint32_t i = 0; i < old->nmatches; ++i) {
        match[i].view = apply_buffer(cx, a, old->match[i].view);
        match[i].source = apply_buffer(cx, a, old->match[i].source);
        changed = changed || match[i].view != old->match[i].view || match[i].source != old->match[i].source;
    }
    b->match = match;
    struct tg_block_iter *iter = TG_ARRAY(cx, struct tg_block_iter, old->niters);
    for (uint32_t i = 0; i < old->niters; ++i) {
        iter[i] = old->iter[i];
        iter[i].var = bound_by(a, iter[i].var);
        changed = changed || iter[i].var != old->iter[i].var;
    }
    b->iter = iter;
    return changed ? with_payload(cx, n, n->type, b) : n;
}

/* A function value uses the variables around it. */
static const tg_node *apply_function(tg_ctx *cx, applying *a, const tg_node *n)
{
    if (++a->depth > MAX_FUNCTIONS)
        tg_fail(cx, TIRGEN_ELIMIT, n->span, "functions are nested more than %d deep", MAX_FUNCTIONS);
    const tg_node *body = tg_rewrite_node(cx, n->u.func->body, apply, a);
    --a->depth;
    if (body == n->u.func->body)
        return n;
    tg_func *f = tg_func_copy(cx, n->u.func);
    f->body = body;
    return with_payload(cx, n, n->type, f);
}

static const tg_node *apply(tg_ctx *cx, const tg_node *n, void *user)
{
    applying *a = user;
    switch (n->kind) {
    case TG_RFN:
        return apply_function(cx, a, n);
    case TG_VAR:
    case TG_RVAR: {
        const tg_node *by = var_by(&a->s, n->u.var);
        return by != NULL ? by : n;
    }
    case TG_LOAD:
    case TG_STORE:
        return apply_access(cx, a, n);
    case TG_DECL_BUFFER: {
        const tg_buffer *b = apply_buffer(cx, a, n->u.buf);
        return b == n->u.buf ? n : with_payload(cx, n, n->type, b);
    }
    case TG_BLOCK:
        return apply_block(cx, a, n);
    case TG_LET:
    case TG_LET_STMT: {
        const tg_var *v = bound_by(a, n->u.var);
        return v == n->u.var ? n : with_payload(cx, n, n->type, v);
    }
    case TG_FOR: {
        const tg_var *v = bound_by(a, n->u.loop->var);
        if (v == n->u.loop->var)
            return n;
        tg_loop *loop = tg_copy(cx, n->u.loop, sizeof *loop);
        loop->var = v;
        return with_payload(cx, n, n->type, loop);
    }
    case TG_ALLOCATE:
    case TG_ALLOC_CONST: {
        const tg_var *v = bound_by(a, n->u.alloc->var);
        if (v == n->u.alloc->var)
            return n;
        tg_alloc_info *alloc = tg_copy(cx, n->u.alloc, sizeof *alloc);
        alloc->var = v;
        return with_payload(cx, n, n->type, alloc);
    }
    default:
        return n;
    }
}

const tg_node *tg_substitute(tg_ctx *cx, const tg_node *root, const tg_subst *s)
{
    if (s->var.n == 0 && s->buf.n == 0)
        return root;
    applying a = { *s, false, 0 };
    /* buffers that follow from a replaced variable are remembered for this call alone */
    a.s.buf = (tg_map){ 0 };
    for (size_t i = 0; i < s->buf.cap; ++i)
        if (s->buf.val[i] != NULL)
            tg_map_put(cx, &a.s.buf, s->buf.key[i], s->buf.val[i]);
    return tg_rewrite_node(cx, root, apply, &a);
}

/* ---- fresh copies ---- */

static void fresh_var(tg_ctx *cx, tg_subst *s, const tg_var *v)
{
    tg_var *w = tg_var_new(cx, v->name, v->type);
    w->numbered = v->numbered;
    w->span = v->span;
    tg_subst_var(cx, s, v, tg_var_ref(cx, w));
}

static void fresh_buffer(tg_ctx *cx, tg_subst *s, const tg_buffer *b)
{
    if (tg_map_get(&s->var, (uint64_t)b->data->id + 1) == NULL)
        fresh_var(cx, s, b->data);
}

static bool collect_bound(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_subst *s = user;
    switch (n->kind) {
    case TG_LET:
    case TG_LET_STMT: fresh_var(cx, s, n->u.var); break;
    case TG_FOR: fresh_var(cx, s, n->u.loop->var); break;
    case TG_ALLOCATE:
    case TG_ALLOC_CONST: fresh_var(cx, s, n->u.alloc->var); break;
    case TG_BLOCK:
        for (uint32_t i = 0; i < n->u.block->niters; ++i)
            fresh_var(cx, s, n->u.block->iter[i].var);
        for (uint32_t i = 0; i < n->u.block->nallocs; ++i)
            fresh_buffer(cx, s, n->u.block->alloc[i]);
        for (uint32_t i = 0; i < n->u.block->nmatches; ++i)
            fresh_buffer(cx, s, n->u.block->match[i].view);
        break;
    default: break;
    }
    return true;
}

const tg_node *tg_freshen(tg_ctx *cx, const tg_node *root)
{
    applying a = { { { 0 }, { 0 } }, true, 0 };
    tg_visit(cx, root, collect_bound, &a.s);
    return tg_rewrite_node(cx, root, apply, &a);
}

typedef struct searching { const tg_var *v; bool found; } searching;

static bool search_var(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    searching *s = user;
    s->found = s->found || ((n->kind == TG_VAR || n->kind == TG_RVAR) && n->u.var == s->v);
    return !s->found;
}

bool tg_uses_var(tg_ctx *cx, const tg_node *root, const tg_var *v)
{
    searching s = { v, false };
    tg_visit(cx, root, search_var, &s);
    return s.found;
}

static bool search_effect(tg_ctx *cx, const tg_node *n, void *user)
{
    bool *found = user;
    if (n->kind == TG_CALL) {
        const tg_intrin *row = tg_intrin_find(cx, n->u.name);
        *found = *found || row == NULL || row->effect == TG_EFFECT_EFFECT;
    }
    return !*found;
}

bool tg_has_effect(tg_ctx *cx, const tg_node *expr)
{
    bool found = false;
    tg_visit(cx, expr, search_effect, &found);
    return found;
}
