/* place_alloc.c: the lowest place of an allocation. A tile of accumulators that a schedule computes inside a loop becomes a
 * small array inside that loop, although the block that owns it stands outside.
 * An allocation may move into a loop only if each iteration overwrites, before it reads, all that it reads: the first
 * statement that touches the buffer must be an unconditional nest of stores that covers the box of all accesses. */
#include "place_alloc.h"

#include "bounds.h"
#include "ir/walk.h"
#include "ir/vec.h"

/* One dimension of all accesses: base (what is fixed outside) + [lo, hi]. */
typedef struct interval {
    tg_linear base;
    int64_t lo, hi;
    bool whole;
} interval;

typedef struct placing {
    tg_ctx *cx;
    const tg_buffer *b;
    tg_ranges ranges;
    int64_t dim[TG_MAX_NDIM];
    interval box[TG_MAX_NDIM];
    tg_map touch; /* node id + 1 -> READS, WRITES of the buffer in it */
    tg_map inner; /* var id + 1: bound inside the statement looked at */
    bool opaque;  /* the memory is used other than by plain accesses */
    size_t naccesses;
} placing;

/* ---- who touches the buffer ---- */

enum { READS = 1, WRITES = 2 };

static unsigned touch_of(const placing *p, const tg_node *n)
{
    return (unsigned)(uintptr_t)tg_map_get(&p->touch, (uint64_t)n->id + 1);
}

/* Operands first: a node touches what they do, and its own buffer or variable. Only nodes that touch are remembered. */
static const tg_node *note_touch(tg_ctx *cx, const tg_node *n, void *user)
{
    placing *p = user;
    unsigned t = 0;
    for (uint32_t i = 0; i < n->nkids; ++i) t |= touch_of(p, n->kid[i]);
    if ((n->kind == TG_LOAD || n->kind == TG_STORE) && n->u.buf->data == p->b->data)
        t |= n->kind == TG_LOAD ? READS : WRITES;
    if (n->kind == TG_VAR && n->u.var == p->b->data) t |= READS | WRITES;
    if (t != 0) tg_map_put(cx, &p->touch, (uint64_t)n->id + 1, (void *)(uintptr_t)t);
    return n;
}

static bool is_touched(const placing *p, const tg_node *n)
{
    return touch_of(p, n) != 0;
}

static bool is_read(const placing *p, const tg_node *n)
{
    return (touch_of(p, n) & READS) != 0;
}

/* ---- the box of all accesses in a statement ---- */

static bool find_bound(tg_ctx *cx, const tg_node *n, void *user)
{
    placing *p = user;
    const tg_var *v = n->kind == TG_FOR                             ? n->u.loop->var
                      : n->kind == TG_LET || n->kind == TG_LET_STMT ? n->u.var
                                                                    : NULL;
    if (v != NULL) tg_map_put(cx, &p->inner, (uint64_t)v->id + 1, (void *)(uintptr_t)n);
    return true;
}

typedef struct asking {
    const tg_map *inner;
    bool yes;
} asking;

static bool ask(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    asking *a = user;
    a->yes =
        a->yes || n->kind == TG_LOAD || (n->kind == TG_VAR && tg_map_get(a->inner, (uint64_t)n->u.var->id + 1) != NULL);
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
    if (!tg_linear_of(p->cx, index, &all)) return false;
    tg_range r = { all.c0, all.c0 };
    tg_linear_clear(&e->base, all.dtype, 0);
    for (uint32_t i = 0; i < all.n; ++i) {
        if (!varies(p, all.x[i])) {
            if (!tg_linear_add_term(p->cx, &e->base, all.x[i], all.c[i])) return false;
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
    p->opaque = p->opaque || (n->kind == TG_VAR && n->u.var == p->b->data) ||
                (n->kind == TG_DECL_BUFFER && n->u.buf->data == p->b->data) ||
                (tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD && n->kid[0]->u.buf->data == p->b->data);
    if ((n->kind != TG_LOAD && n->kind != TG_STORE) || n->u.buf->data != p->b->data) return true;
    p->opaque = p->opaque || n->u.buf != p->b;
    for (uint32_t k = 0; !p->opaque && k < p->b->ndim; ++k) {
        interval e;
        bool plain = interval_of(p, n->kid[k + (n->kind == TG_STORE)], &e);
        if (!plain) p->box[k].whole = true;
        else if (p->naccesses == 0) p->box[k] = e;
        else if (!p->box[k].whole) join_interval(p, &p->box[k], &e);
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
    for (uint32_t k = 0; k < p->b->ndim; ++k) p->box[k].whole = false;
    tg_visit(p->cx, stmt, find_access, p);
    for (uint32_t k = 0; k < p->b->ndim; ++k)
        if (p->box[k].whole || p->box[k].hi - p->box[k].lo + 1 >= p->dim[k]) p->box[k].whole = true;
}

/* ---- does an iteration begin by overwriting everything ---- */

/* The box that one store fills while the loops around it run. */
typedef struct box {
    int64_t lo[TG_MAX_NDIM], hi[TG_MAX_NDIM];
} box;

enum { MAX_BOXES = 24, MAX_LOOPS = 2 * TG_MAX_NDIM };

typedef struct filling {
    placing *p;
    const tg_node *loop[MAX_LOOPS]; /* around the store looked at, inside of the statement */
    uint32_t nloops, nboxes;
    box at[MAX_BOXES];
} filling;

/* What moves an index: a whole loop, or the quotient or remainder of one that was fused. parts: 1 quotient, 2 remainder. */
typedef struct mover {
    uint32_t loop, parts;
    int64_t extent, by;
} mover;

static bool mover_of(const filling *f, const tg_node *x, mover *m)
{
    const tg_node *v = x;
    bool div = x->kind == TG_FLOORDIV || x->kind == TG_DIV, mod = x->kind == TG_FLOORMOD || x->kind == TG_MOD;
    *m = (mover){ .parts = div ? 1 : mod ? 2 : 3 };
    if (div || mod) {
        v = x->kid[0];
        if (x->kid[1]->kind != TG_INT || x->kid[1]->u.i < 1) return false;
        m->by = x->kid[1]->u.i;
    }
    for (uint32_t i = 0; v->kind == TG_VAR && i < f->nloops; ++i) {
        if (f->loop[i]->u.loop->var != v->u.var) continue;
        int64_t whole = f->loop[i]->kid[1]->u.i;
        m->loop = i;
        m->extent = div ? whole / m->by : mod ? m->by : whole;
        return (!div && !mod) || (whole % m->by == 0 && tg_is_int_const(f->loop[i]->kid[0], 0));
    }
    return false;
}

/* Parts of loops that indices of a store have used, and by what a fused one was divided. */
typedef struct used {
    uint32_t parts[MAX_LOOPS];
    int64_t by[MAX_LOOPS];
} used;

/* The index takes every value of its range: coefficients 1, then at most the number of values below. A loop that moves two
 * dimensions would go along a diagonal. */
static bool is_dense(filling *f, const tg_node *index, used *u)
{
    tg_linear a;
    if (!tg_linear_of(f->p->cx, index, &a)) return false;
    int64_t values = 1;
    for (uint32_t round = 0; round <= a.n; ++round) {
        uint32_t best = a.n;
        for (uint32_t i = 0; i < a.n; ++i)
            if (a.c[i] > 0 && (best == a.n || a.c[i] < a.c[best])) best = i;
        if (best == a.n) break;
        const tg_node *x = a.x[best];
        int64_t c = a.c[best];
        a.c[best] = 0;
        mover m;
        if (!varies(f->p, x)) continue;
        if (!mover_of(f, x, &m) || c > values || (u->parts[m.loop] & m.parts) != 0 ||
            (u->parts[m.loop] != 0 && u->by[m.loop] != m.by))
            return false;
        u->parts[m.loop] |= m.parts;
        u->by[m.loop] = m.by;
        values += c * (m.extent - 1);
    }
    for (uint32_t i = 0; i < a.n; ++i)
        if (a.c[i] < 0) return false;
    return true;
}

/* The box of a store, relative to the box of all accesses. */
static bool add_box(filling *f, const tg_node *store)
{
    placing *p = f->p;
    used u = { { 0 }, { 0 } };
    if (store->u.buf != p->b || f->nboxes == MAX_BOXES) return false;
    box *b = &f->at[f->nboxes++];
    for (uint32_t k = 0; k < p->b->ndim; ++k) {
        interval e;
        if (!interval_of(p, store->kid[k + 1], &e) || !is_dense(f, store->kid[k + 1], &u)) return false;
        bool same_base =
            p->box[k].whole ? e.base.n == 0 : tg_linear_add(p->cx, &e.base, &p->box[k].base, -1) && e.base.n == 0;
        if (!same_base) return false;
        b->lo[k] = e.lo;
        b->hi[k] = e.hi;
    }
    return true;
}

/* The boxes of all stores of a statement that does nothing but fill the buffer, unconditionally. */
static bool add_boxes(filling *f, const tg_node *s)
{
    if (s->kind == TG_STORE) return add_box(f, s);
    if (s->kind == TG_SEQ) {
        for (uint32_t i = 0; i < s->nkids; ++i)
            if (s->kid[i]->kind == TG_SEQ || !add_boxes(f, s->kid[i])) /* no deeper than MAX_LOOPS allows */
                return false;
        return true;
    }
    if (s->kind != TG_FOR || f->nloops == MAX_LOOPS || s->kid[1]->kind != TG_INT || s->kid[1]->u.i < 1) return false;
    f->loop[f->nloops++] = s;
    bool good = add_boxes(f, s->kid[2]);
    --f->nloops;
    return good;
}

/* Joins two boxes that differ in one dimension, where they touch or overlap. */
static bool join_boxes(box *a, const box *b, uint32_t ndim)
{
    uint32_t differ = ndim;
    for (uint32_t k = 0; k < ndim; ++k) {
        if (a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k]) continue;
        if (differ < ndim || a->lo[k] > b->hi[k] + 1 || b->lo[k] > a->hi[k] + 1) return false;
        differ = k;
    }
    if (differ < ndim) {
        a->lo[differ] = a->lo[differ] < b->lo[differ] ? a->lo[differ] : b->lo[differ];
        a->hi[differ] = a->hi[differ] > b->hi[differ] ? a->hi[differ] : b->hi[differ];
    }
    return true;
}

static bool fills_box(filling *f)
{
    uint32_t ndim = f->p->b->ndim;
    for (uint32_t i = 0; i < f->nboxes; ++i) {
        for (uint32_t j = 0; j < f->nboxes; ++j) {
            if (i == j || !join_boxes(&f->at[i], &f->at[j], ndim)) continue;
            f->at[j] = f->at[--f->nboxes];
            i = j = 0; /* what did not fit before may fit now */
            if (f->nboxes == 1) break;
        }
    }
    for (uint32_t k = 0; f->nboxes == 1 && k < ndim; ++k) {
        const interval *all = &f->p->box[k];
        if (f->at[0].lo[k] > (all->whole ? 0 : all->lo) || f->at[0].hi[k] < (all->whole ? f->p->dim[k] - 1 : all->hi))
            return false;
    }
    return f->nboxes == 1;
}

typedef struct parts {
    TG_VEC(const tg_node *) at;
} parts;

/* Appends the statements of @p n that touch the buffer, in the order they run: sequences and scopes are opened. False when the
 * value of a scope touches it. */
static bool list_parts(placing *p, const tg_node *n, parts *out)
{
    TG_VEC(const tg_node *) todo = { 0 };
    TG_PUSH(p->cx, todo, n);
    while (todo.n > 0) {
        const tg_node *s = todo.at[--todo.n];
        bool scope = s->kind == TG_LET_STMT || s->kind == TG_ALLOCATE || s->kind == TG_ALLOC_CONST ||
                     s->kind == TG_DECL_BUFFER || s->kind == TG_ATTR;
        if (!is_touched(p, s)) continue;
        if (s->kind != TG_SEQ && !scope) {
            TG_PUSH(p->cx, out->at, s);
            continue;
        }
        for (uint32_t i = s->nkids; i > 0; --i) {
            if (scope && i < s->nkids && is_touched(p, s->kid[i - 1])) return false;
            if (!scope || i == s->nkids) TG_PUSH(p->cx, todo, s->kid[i - 1]);
        }
    }
    return true;
}

/* Does each run of @p body overwrite what it reads before it reads? A loop that is alone in touching the buffer, and itself begins
 * each iteration so, will do. */
static bool overwrites_first(placing *p, const tg_node *body)
{
    for (;;) {
        parts list = { { 0 } };
        filling f = { .p = p };
        measure(p, body);
        if (p->opaque || !list_parts(p, body, &list)) return false;
        for (size_t i = 0; i < list.at.n && !is_read(p, list.at.at[i]); ++i)
            if (!add_boxes(&f, list.at.at[i])) return false;
        if (f.nboxes > 0) return fills_box(&f);
        if (list.at.n != 1 || list.at.at[0]->kind != TG_FOR) return false;
        body = list.at.at[0]->kid[2];
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
    case TG_SEQ:
    case TG_IF:
    case TG_LET_STMT:
    case TG_ALLOCATE:
    case TG_ALLOC_CONST:
    case TG_DECL_BUFFER:
    case TG_ATTR:
    case TG_ASSERT:
    case TG_FOR: break;
    default: return n->nkids;
    }
    for (uint32_t i = 0; i < n->nkids; ++i) {
        if (!is_touched(p, n->kid[i])) continue;
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
    if (e->whole || !tg_linear_of(cx, index, &a)) return index;
    tg_linear_add(cx, &a, &e->base, -1);
    a.c0 -= e->lo;
    return tg_linear_node(cx, &a);
}

typedef struct shrinking {
    const placing *p;
    const tg_buffer *now;
} shrinking;

static const tg_node *shrink(tg_ctx *cx, const tg_node *n, void *user)
{
    shrinking *s = user;
    if ((n->kind != TG_LOAD && n->kind != TG_STORE) || n->u.buf != s->p->b) return n;
    uint32_t skip = n->kind == TG_STORE;
    const tg_node **kid = tg_copy(cx, n->kid, n->nkids * sizeof n->kid[0]);
    for (uint32_t k = 0; k < s->p->b->ndim; ++k) kid[k + skip] = index_in_box(cx, kid[k + skip], &s->p->box[k]);
    return tg_node_new(cx, (enum tg_kind)n->kind, n->span, n->type, s->now, n->nkids, kid);
}

static const tg_node *allocate(tg_ctx *cx, const tg_buffer *b, const tg_node *body)
{
    body = tg_decl_buffer(cx, b, body);
    tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
    info->var = b->data;
    info->dtype = b->dtype;
    info->scope = b->scope;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, b->ndim + 1);
    for (uint32_t k = 0; k < b->ndim; ++k) kid[k] = b->shape[k];
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
    for (uint32_t k = 0; k < b->ndim; ++k) smaller = smaller || !p->box[k].whole;
    if (p->opaque || !smaller || b->strides != NULL || b->elem_offset != NULL) return allocate(cx, b, n);
    tg_buffer *now = tg_buffer_copy(cx, b);
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, b->ndim);
    for (uint32_t k = 0; k < b->ndim; ++k)
        shape[k] =
            p->box[k].whole ? b->shape[k] : tg_int(cx, tg_dtype_of(b->shape[k]), p->box[k].hi - p->box[k].lo + 1);
    now->shape = shape;
    shrinking s = { p, now };
    return allocate(cx, now, tg_rewrite_node(cx, n, shrink, &s));
}

/* In a sequence only from the first to the last statement that touches the buffer. */
static const tg_node *allocate_here(placing *p, const tg_node *n)
{
    if (n->kind != TG_SEQ) return allocate_box(p, n);
    uint32_t first = n->nkids, last = 0;
    for (uint32_t i = 0; i < n->nkids; ++i) {
        if (!is_touched(p, n->kid[i])) continue;
        first = first == n->nkids ? i : first;
        last = i;
    }
    const tg_node *within = allocate_box(p, tg_seq(p->cx, last - first + 1, n->kid + first));
    const tg_node **kid = TG_ARRAY(p->cx, const tg_node *, n->nkids);
    uint32_t k = 0;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (i <= first || i > last) kid[k++] = i == first ? within : n->kid[i];
    return tg_seq(p->cx, k, kid);
}

const tg_node *tg_place_alloc(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b)
{
    placing p = { .cx = cx, .b = b };
    tg_rewrite_node(cx, stmt, note_touch, &p);
    if (!is_touched(&p, stmt)) return stmt;
    if (!tg_buffer_dims(b, p.dim)) return allocate(cx, b, stmt);
    tg_bounds_collect(cx, &p.ranges, stmt);
    TG_VEC(const tg_node *) path = { 0 };
    TG_VEC(uint32_t) turn = { 0 };
    const tg_node *n = stmt;
    for (uint32_t i; (i = way_down(&p, n)) < n->nkids; n = n->kid[i]) {
        TG_PUSH(cx, path, n);
        TG_PUSH(cx, turn, i);
    }
    n = allocate_here(&p, n);
    for (size_t i = path.n; i > 0; --i) n = with_kid(cx, path.at[i - 1], turn.at[i - 1], n);
    return n;
}
