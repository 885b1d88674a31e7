/* place_alloc.c: the lowest place of an allocation. A tile of accumulators that a schedule computes inside a loop becomes a
 * small array inside that loop, although the block that owns it stands outside.
 * An allocation may move into a loop only if each iteration overwrites, before it reads, all that it reads: the first
 * statement that touches the buffer must be an unconditional nest of stores that covers the box of all accesses. */
#include "place_alloc.h"

#include "bounds.h"
#include "ir/walk.h"

/* One dimension of all accesses: base (what is fixed outside) + [lo, hi]. */
typedef struct interval { tg_linear base; int64_t lo, hi; bool whole; } interval;

typedef struct placing {
    tg_ctx *cx;
    const tg_buffer *b;
    tg_ranges ranges;
    int64_t dim[TG_MAX_NDIM];
    interval box[TG_MAX_NDIM];
    tg_map inner;                   /* var id + 1: bound inside the statement looked at */
    bool opaque;                    /* the memory is used other than by plain accesses */
    size_t naccesses;
} placing;

/* ---- who touches the buffer ---- */

typedef struct touching { const tg_buffer *b; bool reads, writes; } touching;

static bool touch(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    touching *t = user;
    if ((n->kind == TG_LOAD || n->kind == TG_STORE) && n->u.buf->data == t->b->data) {
        t->reads = t->reads || n->kind == TG_LOAD;
        t->writes = t->writes || n->kind == TG_STORE;
    }
    if (n->kind == TG_VAR && n->u.var == t->b->data)
        t->reads = t->writes = true;
    return !(t->reads && t->writes);
}

static touching touches(tg_ctx *cx, const tg_node *n, const tg_buffer *b)
{
    touching t = { b, false, false };
    tg_visit(cx, n, touch, &t);
    return t;
}

static bool is_touched(tg_ctx *cx, const tg_node *n, const tg_buffer *b)
{
    touching t = touches(cx, n, b);
    return t.reads || t.writes;
}

/* ---- the box of all accesses in a statement ---- */

static bool find_bound(tg_ctx *cx, const tg_node *n, void *user)
{
    placing *p = user;
    const tg_var *v = n->kind == TG_FOR ? n->u.loop->var : n->kind == TG_LET || n->kind == TG_LET_STMT ? n->u.var : NULL;
    if (v != NULL)
        tg_map_put(cx, &p->inner, (uint64_t)v->id + 1, (void *)(uintptr_t)n);
    return true;
}

typedef struct asking { const tg_map *inner; bool yes; } asking;

static bool ask(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    asking *a = user;
    a->yes = a->yes || n->kind == TG_LOAD || (n->kind == TG_VAR && tg_map_get(a->inner, (uint64_t)n->u.var->id + 1) != NULL);
    return !a->yes;
}

static bool varies(placing *p, const tg_node *e)
{
    asking a = { &p->inner, false };
    tg_visit(p->cx, e, ask, &a);
    return a.yes;
}

/* @p index as base + [lo, hi]. */
static bool interval_of(placing *p, const tg_node *index, interval *e)
{
    tg_linear all;
    if (!tg_linear_of(p->cx, index, &all))
        return false;
    tg_range r = { all.c0, all.c0 };
    tg_linear_clear(&e->base, all.dtype, 0);
    for (uint32_t i = 0; i < all.n; ++i) {
        if (!varies(p, all.x[i])) {
            if (!tg_linear_add_term(p->cx, &e->base, all.x[i], all.c[i]))
                return false;
            continue;
        }
        r = tg_range_add(r, tg_range_scale(tg_range_of(p->cx, &p->ranges, all.x[i]), all.c[i]));
    }
    e->lo = r.lo;
    e->hi = r.hi;
    e->whole = false;
    return r.lo > INT32_MIN && r.hi < INT32_MAX && r.lo <= r.hi;
}

static void join_interval(placing *p, interval *all, const interval *e)
{
    tg_linear difference = all->base;
    if (!tg_linear_add(p->cx, &difference, &e->base, -1) || difference.n > 0) {
        all->whole = true;
        return;
    }
    all->lo = e->lo < all->lo ? e->lo : all->lo;
    all->hi = e->hi > all->hi ? e->hi : all->hi;
}

static bool find_access(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    placing *p = user;
    p->opaque = p->opaque || (n->kind == TG_VAR && n->u.var == p->b->data) || (n->kind == TG_DECL_BUFFER && n->u.buf->data == p->b->data)
                || (tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD && n->kid[0]->u.buf->data == p->b->data);
    if ((n->kind != TG_LOAD && n->kind != TG_STORE) || n->u.buf->data != p->b->data)
        return true;
    p->opaque = p->opaque || n->u.buf != p->b;
    for (uint32_t k = 0; !p->opaque && k < p->b->ndim; ++k) {
        interval e;
        bool plain = interval_of(p, n->kid[k + (n->kind == TG_STORE)], &e);
        if (!plain)
            p->box[k].whole = true;
        else if (p->naccesses == 0)
            p->box[k] = e;
        else if (!p->box[k].whole)
            join_interval(p, &p->box[k], &e);
    }
    ++p->naccesses;
    return true;
}

static void measure(placing *p, const tg_node *stmt)
{
    p->inner = (tg_map){ 0 };
    p->opaque = false;
    p->naccesses = 0;
    tg_visit(p->cx, stmt, find_bound, p);
    for (uint32_t k = 0; k < p->b->ndim; ++k)
        p->box[k].whole = false;
    tg_visit(p->cx, stmt, find_access, p);
    for (uint32_t k = 0; k < p->b->ndim; ++k)
        if (p->box[k].whole || p->box[k].hi - p->box[k].lo + 1 >= p->dim[k])
            p->box[k].whole = true;
}

/* ---- does an iteration begin by overwriting everything ---- */

/* The statement that touches the buffer first, always reached; NULL when a condition stands before it. */
static const tg_node *first_toucher(placing *p, const tg_node *n)
{
    for (;;) {
        const tg_node *next = NULL;
        switch (n->kind) {
        case TG_SEQ:
            for (uint32_t i = 0; next == NULL && i < n->nkids; ++i)
                if (is_touched(p->cx, n->kid[i], p->b))
                    next = n->kid[i];
            break;
        case TG_LET_STMT: case TG_ALLOCATE: case TG_ALLOC_CONST: case TG_DECL_BUFFER: case TG_ATTR:
            for (uint32_t i = 0; i + 1 < n->nkids; ++i)
                if (is_touched(p->cx, n->kid[i], p->b))
                    return NULL;
            next = n->kid[n->nkids - 1];
            break;
        case TG_FOR: case TG_STORE: return n;
        default: return NULL;
        }
        if (next == NULL)
            return NULL;
        n = next;
    }
}

/* The loops of a nest that ends in one store to the buffer. */
typedef struct nest { const tg_node *loop[2 * TG_MAX_NDIM], *store; uint32_t n; } nest;

static bool nest_of(placing *p, const tg_node *s, nest *out)
{
    out->n = 0;
    for (;;) {
        if (s->kind == TG_STORE) {
            out->store = s;
            return s->u.buf == p->b;
        }
        if (s->kind != TG_FOR || out->n == TG_COUNT(out->loop) || s->kid[1]->kind != TG_INT || s->kid[1]->u.i < 1)
            return false;
        out->loop[out->n++] = s;
        s = s->kid[2];
    }
}

static int64_t loop_extent(const nest *w, const tg_var *v)
{
    for (uint32_t i = 0; i < w->n; ++i)
        if (w->loop[i]->u.loop->var == v)
            return w->loop[i]->kid[1]->u.i;
    return 0;
}

/* The index takes every value of its range: coefficients 1, then at most the number of values below. Marks its loops. */
static bool is_dense(placing *p, const nest *w, const tg_node *index, uint32_t *used)
{
    tg_linear a;
    if (!tg_linear_of(p->cx, index, &a))
        return false;
    int64_t values = 1;
    for (uint32_t round = 0; round <= a.n; ++round) {
        uint32_t best = a.n;
        for (uint32_t i = 0; i < a.n; ++i)
            if (a.c[i] > 0 && (best == a.n || a.c[i] < a.c[best]))
                best = i;
        if (best == a.n)
            break;
        const tg_node *x = a.x[best];
        int64_t c = a.c[best];
        a.c[best] = 0;
        if (!varies(p, x))
            continue;
        int64_t extent = x->kind == TG_VAR ? loop_extent(w, x->u.var) : 0;
        if (extent == 0 || c > values)
            return false;
        for (uint32_t i = 0; i < w->n; ++i) {
            if (w->loop[i]->u.loop->var != x->u.var)
                continue;
            if (*used >> i & 1)
                return false;                       /* one loop moves two dimensions: a diagonal */
            *used |= 1u << i;
        }
        values += c * (extent - 1);
    }
    for (uint32_t i = 0; i < a.n; ++i)
        if (a.c[i] < 0)
            return false;
    return true;
}

/* The stores of @p w, first in @p body, cover the box of all accesses in it. */
static bool covers(placing *p, const nest *w, const tg_node *body)
{
    measure(p, body);
    if (p->opaque)
        return false;
    uint32_t used = 0;
    for (uint32_t k = 0; k < p->b->ndim; ++k) {
        interval e;
        const tg_node *index = w->store->kid[k + 1];
        if (!interval_of(p, index, &e) || !is_dense(p, w, index, &used))
            return false;
        if (p->box[k].whole) {
            if (e.base.n > 0 || e.lo > 0 || e.hi < p->dim[k] - 1)
                return false;
        } else if (!tg_linear_add(p->cx, &e.base, &p->box[k].base, -1) || e.base.n > 0 || e.lo != p->box[k].lo || e.hi != p->box[k].hi) {
            return false;
        }
    }
    return true;
}

static uint32_t count_touchers(placing *p, const tg_node *n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->nkids; ++i)
        count += is_touched(p->cx, n->kid[i], p->b);
    return count;
}

/* A loop that is alone in touching the buffer and itself begins each iteration so will do. */
static bool overwrites_first(placing *p, const tg_node *body)
{
    for (;;) {
        const tg_node *first = first_toucher(p, body);
        nest w;
        if (first == NULL)
            return false;
        if (!touches(p->cx, first, p->b).reads)
            return nest_of(p, first, &w) && covers(p, &w, body);
        if (first->kind != TG_FOR || (body->kind == TG_SEQ && count_touchers(p, body) != 1))
            return false;
        body = first->kid[2];
    }
}

/* ---- the place ---- */

/* @p n with its operand @p i replaced. */
static const tg_node *with_kid(tg_ctx *cx, const tg_node *n, uint32_t i, const tg_node *kid)
{
    const tg_node **kids = tg_copy(cx, n->kid, n->nkids * sizeof n->kid[0]);
    kids[i] = kid;
    return tg_node_with(cx, n, n->nkids, kids);
}

/* The operand to go down to, or nkids to stay. */
static uint32_t way_down(placing *p, const tg_node *n)
{
    uint32_t only = n->nkids, count = 0;
    switch (n->kind) {
    case TG_SEQ: case TG_IF: case TG_LET_STMT: case TG_ALLOCATE: case TG_ALLOC_CONST: case TG_DECL_BUFFER: case TG_ATTR: case TG_ASSERT: case TG_FOR: break;
    default: return n->nkids;
    }
    for (uint32_t i = 0; i < n->nkids; ++i) {
        if (!is_touched(p->cx, n->kid[i], p->b))
            continue;
        only = i;
        ++count;
    }
    if (count != 1 || !tg_is_stmt(n->kid[only]) || (n->kind == TG_DECL_BUFFER && n->u.buf->data == p->b->data))
        return n->nkids;
    return n->kind != TG_FOR || overwrites_first(p, n->kid[2]) ? only : n->nkids;
}

static const tg_node *index_in_box(tg_ctx *cx, const tg_node *index, const interval *e)
{
    tg_linear a;
    if (e->whole || !tg_linear_of(cx, index, &a))
        return index;
    tg_linear_add(cx, &a, &e->base, -1);
    a.c0 -= e->lo;
    return tg_linear_node(cx, &a);
}

typedef struct shrinking { const placing *p; const tg_buffer *now; } shrinking;

static const tg_node *shrink(tg_ctx *cx, const tg_node *n, void *user)
{
    shrinking *s = user;
    if ((n->kind != TG_LOAD && n->kind != TG_STORE) || n->u.buf != s->p->b)
        return n;
    uint32_t skip = n->kind == TG_STORE;
    const tg_node **kid = tg_copy(cx, n->kid, n->nkids * sizeof n->kid[0]);
    for (uint32_t k = 0; k < s->p->b->ndim; ++k)
        kid[k + skip] = index_in_box(cx, kid[k + skip], &s->p->box[k]);
    return tg_node_new(cx, (enum tg_kind)n->kind, n->span, n->type, s->now, n->nkids, kid);
}

static const tg_node *allocate(tg_ctx *cx, const tg_buffer *b, const tg_node *body)
{
    body = tg_node_new(cx, TG_DECL_BUFFER, body->span, NULL, b, 1, &body);
    tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
    info->var = b->data;
    info->dtype = b->dtype;
    info->scope = b->scope;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, b->ndim + 1);
    for (uint32_t k = 0; k < b->ndim; ++k)
        kid[k] = b->shape[k];
    kid[b->ndim] = body;
    return tg_node_new(cx, TG_ALLOCATE, body->span, NULL, info, b->ndim + 1, kid);
}

/* The allocation around @p n, no larger than what is accessed in it. */
static const tg_node *allocate_box(placing *p, const tg_node *n)
{
    tg_ctx *cx = p->cx;
    const tg_buffer *b = p->b;
    measure(p, n);
    bool smaller = false;
    for (uint32_t k = 0; k < b->ndim; ++k)
        smaller = smaller || !p->box[k].whole;
    if (p->opaque || !smaller || b->strides != NULL || b->elem_offset != NULL)
        return allocate(cx, b, n);
    tg_buffer *now = tg_buffer_copy(cx, b);
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, b->ndim);
    for (uint32_t k = 0; k < b->ndim; ++k)
        shape[k] = p->box[k].whole ? b->shape[k] : tg_int(cx, tg_dtype_of(b->shape[k]), p->box[k].hi - p->box[k].lo + 1);
    now->shape = shape;
    shrinking s = { p, now };
    return allocate(cx, now, tg_rewrite_node(cx, n, shrink, &s));
}

/* In a sequence only from the first to the last statement that touches the buffer. */
static const tg_node *allocate_here(placing *p, const tg_node *n)
{
    if (n->kind != TG_SEQ)
        return allocate_box(p, n);
    uint32_t first = n->nkids, last = 0;
    for (uint32_t i = 0; i < n->nkids; ++i) {
        if (!is_touched(p->cx, n->kid[i], p->b))
            continue;
        first = first == n->nkids ? i : first;
        last = i;
    }
    const tg_node *within = allocate_box(p, tg_seq(p->cx, last - first + 1, n->kid + first));
    const tg_node **kid = TG_ARRAY(p->cx, const tg_node *, n->nkids);
    uint32_t k = 0;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (i <= first || i > last)
            kid[k++] = i == first ? within : n->kid[i];
    return tg_seq(p->cx, k, kid);
}

const tg_node *tg_place_alloc(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b)
{
    if (!is_touched(cx, stmt, b))
        return stmt;
    placing p = { .cx = cx, .b = b };
    if (!tg_buffer_dims(b, p.dim))
        return allocate(cx, b, stmt);
    tg_bounds_collect(cx, &p.ranges, stmt);
    TG_VEC(const tg_node *) path = { 0 };
    TG_VEC(uint32_t) turn = { 0 };
    const tg_node *n = stmt;
    for (uint32_t i; (i = way_down(&p, n)) < n->nkids; n = n->kid[i]) {
        TG_PUSH(cx, path, n);
        TG_PUSH(cx, turn, i);
    }
    n = allocate_here(&p, n);
    for (size_t i = path.n; i > 0; --i)
        n = with_kid(cx, path.at[i - 1], turn.at[i - 1], n);
    return n;
}
