/* nest.c: the working tree of a schedule, made from nodes and made into nodes. */
#include "nest.h"

#include <stdio.h>

enum { MAX_TREE_DEPTH = 64 };

bool tg_sched_refuse(tg_sched *s, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->why = tg_format(s->cx, "%s", text);
    return false;
}

/* ---- the tree ---- */

static tg_nest *new_nest(tg_ctx *cx, enum tg_nest_kind kind)
{
    tg_nest *n = TG_NEW(cx, tg_nest);
    n->kind = kind;
    return n;
}

tg_nest *tg_nest_loop(tg_sched *s, const tg_var *v, int64_t extent)
{
    tg_nest *n = new_nest(s->cx, TG_NEST_LOOP);
    n->var = v;
    n->extent = extent;
    return n;
}

tg_nest *tg_nest_block(tg_sched *s, const tg_node *block)
{
    tg_nest *n = new_nest(s->cx, TG_NEST_BLOCK);
    n->node = block;
    return n;
}

void tg_nest_add(tg_sched *s, tg_nest *parent, size_t at, tg_nest *kid)
{
    TG_PUSH(s->cx, parent->kid, kid);
    for (size_t i = parent->kid.n - 1; i > at; --i) parent->kid.at[i] = parent->kid.at[i - 1];
    parent->kid.at[at] = kid;
    kid->parent = parent;
}

size_t tg_nest_index(const tg_nest *n)
{
    size_t i = 0;
    while (n->parent->kid.at[i] != n) ++i;
    return i;
}

void tg_nest_remove(tg_nest *n)
{
    for (;;) {
        tg_nest *p = n->parent;
        for (size_t i = tg_nest_index(n); i + 1 < p->kid.n; ++i) p->kid.at[i] = p->kid.at[i + 1];
        --p->kid.n;
        n->parent = NULL;
        if (p->kid.n > 0 || p->kind != TG_NEST_LOOP || p->parent == NULL) return;
        n = p;
    }
}

bool tg_nest_under(const tg_nest *n, const tg_nest *above)
{
    while (n != NULL && n != above) n = n->parent;
    return n != NULL;
}

tg_nest *tg_nest_next(const tg_nest *n, const tg_nest *within)
{
    if (n->kid.n > 0) return n->kid.at[0];
    while (n != within) {
        size_t i = tg_nest_index(n) + 1;
        n = n->parent;
        if (i < n->kid.n) return n->kid.at[i];
    }
    return NULL;
}

tg_nest *tg_nest_next_block(const tg_nest *n, const tg_nest *within)
{
    if (n == NULL && within->kind == TG_NEST_BLOCK) return (tg_nest *)(uintptr_t)within;
    tg_nest *k = tg_nest_next(n == NULL ? within : n, within);
    while (k != NULL && k->kind != TG_NEST_BLOCK) k = tg_nest_next(k, within);
    return k;
}

tg_nest *tg_nest_chain_end(tg_nest *n)
{
    while (n->kid.n == 1) n = n->kid.at[0];
    return n;
}

int tg_nest_loops(const tg_nest *n, tg_nest **out, int max)
{
    int count = 0;
    for (const tg_nest *p = n->parent; p != NULL; p = p->parent) count += p->kind == TG_NEST_LOOP;
    if (count > max) return -1;
    int i = count;
    for (tg_nest *p = n->parent; p != NULL; p = p->parent)
        if (p->kind == TG_NEST_LOOP) out[--i] = p;
    return count;
}

tg_nest *tg_nest_find(tg_sched *s, const char *block)
{
    for (tg_nest *b = tg_nest_next_block(NULL, s->top); b != NULL; b = tg_nest_next_block(b, s->top))
        if (tg_name_is(b->node->u.block->name, block)) return b;
    return NULL;
}

const tg_name *tg_sched_name(tg_sched *s, const char *hint)
{
    const tg_name *name = tg_intern_z(s->cx, hint);
    for (unsigned i = 1; tg_map_get(&s->names, TG_KEY(name)) != NULL; ++i) name = tg_internf(s->cx, "%s_%u", hint, i);
    tg_map_put(s->cx, &s->names, TG_KEY(name), s);
    return name;
}

const tg_var *tg_sched_var(tg_sched *s, const tg_var *like, const char *suffix)
{
    return tg_var_new(s->cx, tg_internf(s->cx, "%s%s", like->name->text, suffix), like->type);
}

void tg_nest_subst(tg_sched *s, tg_nest *n, const tg_subst *by)
{
    for (tg_nest *k = n; k != NULL; k = tg_nest_next(k, n))
        if (k->node != NULL) k->node = tg_substitute(s->cx, k->node, by);
}

/* ---- nodes to tree ---- */

static bool is_plain_loop(const tg_node *n)
{
    return n->kind == TG_FOR && tg_is_int_const(n->kid[0], 0) && n->kid[1]->kind == TG_INT && n->kid[1]->u.i > 0 &&
           n->u.loop->kind != TG_FOR_THREAD;
}

static void add_statement(tg_sched *s, tg_nest *parent, const tg_node *n, unsigned depth)
{
    if (n->kind == TG_SEQ && depth < MAX_TREE_DEPTH) {
        for (uint32_t i = 0; i < n->nkids; ++i) add_statement(s, parent, n->kid[i], depth + 1);
        return;
    }
    bool loop = is_plain_loop(n) && depth < MAX_TREE_DEPTH;
    tg_nest *k = new_nest(s->cx, loop ? TG_NEST_LOOP : n->kind == TG_BLOCK ? TG_NEST_BLOCK : TG_NEST_OTHER);
    tg_nest_add(s, parent, parent->kid.n, k);
    if (!loop) {
        k->node = n;
        if (n->kind == TG_BLOCK) tg_map_put(s->cx, &s->names, TG_KEY(n->u.block->name), s);
        return;
    }
    k->var = n->u.loop->var;
    k->extent = n->kid[1]->u.i;
    k->mode = n->u.loop->kind;
    k->annotations = n->u.loop->annotations;
    add_statement(s, k, n->kid[2], depth + 1);
}

tg_sched *tg_sched_open(tg_ctx *cx, const tg_func *f, const tg_target *t)
{
    if (f->kind != TG_FUNC_PRIM || f->body->kind != TG_BLOCK || f->body->u.block->niters > 0 ||
        f->body->u.block->nmatches > 0)
        return NULL;
    tg_sched *s = TG_NEW(cx, tg_sched);
    s->cx = cx;
    s->func = f;
    s->target = t;
    s->root = tg_block_open(cx, f->body);
    s->says = tg_text_new(cx);
    s->top = new_nest(cx, TG_NEST_TOP);
    const tg_node *body = s->root.body;
    while (body->kind == TG_ALLOC_CONST || body->kind == TG_DECL_BUFFER) {
        TG_PUSH(cx, s->wrap, body);
        body = body->kid[0];
    }
    if (s->root.init != NULL) return NULL;
    add_statement(s, s->top, body, 0);
    return s;
}

/* ---- tree to nodes ---- */

static const tg_node *statement_of(tg_sched *s, const tg_nest *n)
{
    tg_ctx *cx = s->cx;
    if (n->node != NULL) return n->node;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, n->kid.n);
    for (size_t i = 0; i < n->kid.n; ++i)
        kid[i] = statement_of(s, n->kid.at[i]); /* as deep as the tree: MAX_TREE_DEPTH and a few */
    const tg_node *body = tg_seq(cx, (uint32_t)n->kid.n, kid);
    if (n->kind == TG_NEST_TOP) return body;
    tg_loop *loop = TG_NEW(cx, tg_loop);
    loop->var = n->var;
    loop->kind = n->mode;
    loop->annotations = n->annotations;
    DLDataType d = n->var->type->dtype;
    return tg_for_with(cx, loop, tg_int(cx, d, 0), tg_int(cx, d, n->extent), body);
}

const tg_func *tg_sched_close(tg_sched *s)
{
    tg_ctx *cx = s->cx;
    tg_func *f = tg_func_copy(cx, s->func);
    const tg_buffer **alloc = TG_ARRAY(cx, const tg_buffer *, s->root.nallocs);
    uint32_t n = 0;
    const tg_node *body = statement_of(s, s->top);
    for (uint32_t i = 0; i < s->root.nallocs; ++i) /* what was inlined needs no memory */
        if (tg_block_reads(cx, body, s->root.alloc[i]) || tg_block_writes(cx, body, s->root.alloc[i]))
            alloc[n++] = s->root.alloc[i];
    for (size_t i = s->wrap.n; i > 0; --i) body = tg_node_with(cx, s->wrap.at[i - 1], 1, &body);
    tg_block_parts p = s->root;
    p.alloc = alloc;
    p.nallocs = n;
    p.body = body;
    f->body = tg_block_new(cx, &p);
    const char *says = tg_text_z(&s->says);
    if (says[0] != '\0') f->attrs = tg_v_with(cx, f->attrs, "tirgen.schedule", tg_v_strz(cx, says));
    return f;
}

/* ---- blocks ---- */

static bool is_output(const tg_node *block, const tg_buffer *b)
{
    for (uint32_t i = 0; i < block->u.block->nwrites; ++i)
        if (block->u.block->write[i] == b) return true;
    return false;
}

const tg_buffer *tg_block_output(const tg_node *block)
{
    return block->u.block->nwrites == 1 ? block->u.block->write[0] : NULL;
}

const tg_node *tg_block_store(tg_ctx *cx, const tg_node *block)
{
    const tg_node *s = tg_block_body(block);
    (void)cx;
    while (s->kind == TG_LET_STMT) s = s->kid[1];
    return s->kind == TG_STORE && is_output(block, s->u.buf) ? s : NULL;
}

typedef struct searching {
    const tg_buffer *b;
    enum tg_kind kind;
    bool found;
} searching;

static bool search(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    searching *s = user;
    bool raw = n->kind == TG_VAR && n->u.var == s->b->data; /* the pointer itself: anything may happen */
    s->found = s->found || raw || (n->kind == s->kind && n->u.buf->data == s->b->data);
    return !s->found;
}

bool tg_block_reads(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b)
{
    searching s = { b, TG_LOAD, false };
    tg_visit(cx, stmt, search, &s);
    return s.found;
}

bool tg_block_writes(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b)
{
    searching s = { b, TG_STORE, false };
    tg_visit(cx, stmt, search, &s);
    return s.found;
}

bool tg_block_has(const tg_node *block, enum tg_iter_kind kind)
{
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].kind == kind) return true;
    return false;
}

/* No effects, no inner blocks or views: what a primitive may copy, move and repeat. */
static bool is_simple(tg_ctx *cx, const tg_node *block)
{
    const tg_block *b = block->u.block;
    if (b->nallocs > 0 || b->nmatches > 0 || tg_has_effect(cx, block) || tg_block_has(block, TG_ITER_OPAQUE) ||
        tg_block_has(block, TG_ITER_SCAN))
        return false;
    return tg_block_store(cx, block) != NULL;
}

static bool same_index(tg_ctx *cx, const tg_node *a, uint32_t skip_a, const tg_node *b, uint32_t skip_b)
{
    for (uint32_t i = 0; i < a->u.buf->ndim; ++i)
        if (!tg_node_equal(cx, a->kid[i + skip_a], b->kid[i + skip_b])) return false;
    return true;
}

bool tg_block_is_complete(tg_ctx *cx, const tg_node *block)
{
    if (!is_simple(cx, block) || tg_block_has(block, TG_ITER_REDUCE) || block->u.block->has_init) return false;
    return !tg_block_reads(cx, tg_block_body(block), tg_block_store(cx, block)->u.buf);
}

typedef struct comparing {
    const tg_node *store;
    bool same;
} comparing;

static bool compare_load(tg_ctx *cx, const tg_node *n, void *user)
{
    comparing *c = user;
    if (n->kind == TG_LOAD && n->u.buf->data == c->store->u.buf->data)
        c->same = c->same && n->u.buf == c->store->u.buf && same_index(cx, n, 0, c->store, 1);
    return true;
}

/* Every load of the buffer is of the element that the store writes, and that element does not depend on reduce iterators. */
static bool accumulates(tg_ctx *cx, const tg_node *block)
{
    const tg_node *store = tg_block_store(cx, block);
    comparing c = { store, true };
    tg_visit(cx, tg_block_body(block), compare_load, &c);
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].kind == TG_ITER_REDUCE)
            for (uint32_t k = 1; k < store->nkids; ++k)
                c.same = c.same && !tg_uses_var(cx, store->kid[k], block->u.block->iter[i].var);
    return c.same;
}

bool tg_block_is_reduction(tg_ctx *cx, const tg_node *block)
{
    if (!is_simple(cx, block) || !block->u.block->has_init) return false;
    const tg_node *store = tg_block_store(cx, block), *init = tg_block_init(block);
    return init->kind == TG_STORE && init->u.buf == store->u.buf && same_index(cx, init, 1, store, 1) &&
           !tg_block_reads(cx, init, store->u.buf) && accumulates(cx, block);
}

bool tg_block_is_update(tg_ctx *cx, const tg_node *block)
{
    return is_simple(cx, block) && !block->u.block->has_init && tg_block_has(block, TG_ITER_REDUCE) &&
           accumulates(cx, block);
}

tg_nest *tg_nest_loop_of(tg_sched *s, tg_nest *block, const tg_var *iter)
{
    (void)s;
    const tg_node *n = block->node;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_node *v = n->kid[3 * i + 2];
        if (n->u.block->iter[i].var != iter || v->kind != TG_VAR) continue;
        for (tg_nest *p = block->parent; p != NULL; p = p->parent)
            if (p->kind == TG_NEST_LOOP && p->var == v->u.var) return p;
    }
    return NULL;
}

bool tg_nest_is_plain(tg_sched *s, tg_nest *block)
{
    const tg_node *n = block->node;
    tg_nest *loop[TG_MAX_LOOPS];
    int nloops = tg_nest_loops(block, loop, TG_MAX_LOOPS);
    if (nloops < 0 || (uint32_t)nloops != n->u.block->niters) return false;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        tg_nest *l = tg_nest_loop_of(s, block, n->u.block->iter[i].var);
        if (l == NULL || !tg_is_int_const(n->kid[3 * i], 0) || !tg_is_int_const(n->kid[3 * i + 1], l->extent))
            return false;
        for (int k = 0; k < nloops; ++k) seen |= loop[k] == l ? (uint64_t)1 << k : 0;
    }
    for (int k = 0; k < nloops; ++k)
        if (!(seen >> k & 1) || loop[k]->kid.n != 1) return false;
    return tg_is_int_const(n->kid[3 * n->u.block->niters], 1);
}

const tg_node *tg_block_reparted(tg_ctx *cx, tg_block_parts *p)
{
    tg_infer_regions(cx, p);
    return tg_block_new(cx, p);
}

bool tg_sched_is_param(const tg_sched *s, const tg_buffer *b)
{
    for (uint32_t i = 0; i < s->func->nparams; ++i)
        if (s->func->param[i] == b->data) return true;
    for (size_t i = 0; i < s->wrap.n; ++i)
        if (s->wrap.at[i]->kind == TG_ALLOC_CONST && s->wrap.at[i]->u.alloc->var == b->data) return true;
    return false;
}

void tg_sched_ranges(tg_sched *s, tg_ranges *r)
{
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->kind == TG_NEST_LOOP) tg_range_set(s->cx, r, n->var, (tg_range){ 0, n->extent - 1 });
        if (n->kind != TG_NEST_BLOCK) continue;
        for (uint32_t i = 0; i < n->node->u.block->niters; ++i) {
            const tg_node *min = n->node->kid[3 * i], *extent = n->node->kid[3 * i + 1];
            if (min->kind == TG_INT && extent->kind == TG_INT)
                tg_range_set(s->cx, r, n->node->u.block->iter[i].var,
                             (tg_range){ min->u.i, min->u.i + extent->u.i - 1 });
        }
    }
}
