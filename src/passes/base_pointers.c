/* base_pointers.c: the part of an index that a loop does not change moves in front of the loop, as a pointer:
 *     for i: acc[i] += x[h*64 + k] * w[h*256 + k*16 + i]; acc[i + 8] += x[h*64 + k + 32] * …
 * becomes
 *     x_at = &x[h*64 + k], w_at = &w[h*256 + k*16]
 *     for i: acc[i] += x_at[0] * w_at[i]; acc[i + 8] += x_at[32] * …
 * Needs: accesses of one dimension.  Keeps: what is computed.
 *
 * Only where that shortens the text, and only when the pointer provably stays inside its buffer: C has no others.
 * A buffer that the loop both reads and writes is left alone, so that whoever asks whether two of its accesses may meet sees
 * that they have the same data pointer. */
#include "passes.h"
#include "bounds.h"
#include "ir/text.h"
#include "ir/vec.h"
#include "ir/walk.h"

enum { FEWEST_TERMS = 2 }; /* of a part that is worth a pointer */

/* Accesses of one buffer whose indices differ by constants and by what the loop binds. */
typedef struct base {
    const tg_buffer *of, *view; /* view: NULL when not worth it */
    tg_linear at;               /* the shared terms; c0: the least of what is left of the indices */
    int64_t last;               /* the greatest */
} base;

typedef struct hoisting {
    tg_ctx *cx;
    tg_ranges ranges;
    tg_map loops;           /* node id + 1: a statement with a loop inside, or one */
    tg_map local;           /* data variable's id + 1: a tile that should stay in registers */
    /* of the loop at hand */
    tg_map loaded, stored;  /* data variable's id + 1 */
    tg_map bound;           /* variable's id + 1 */
    TG_VEC(base) bases;
} hoisting;

static void mark(tg_ctx *cx, tg_map *map, uint32_t id)
{
    tg_map_put(cx, map, (uint64_t)id + 1, map);
}

static bool marked(const tg_map *map, uint32_t id)
{
    return tg_map_get(map, (uint64_t)id + 1) != NULL;
}

static bool note_local(tg_ctx *cx, const tg_node *n, void *user)
{
    hoisting *h = user;
    if (n->kind == TG_ALLOCATE && tg_name_is(n->u.alloc->scope, "local")) mark(cx, &h->local, n->u.alloc->var->id);
    return tg_is_stmt(n);
}

static bool note_use(tg_ctx *cx, const tg_node *n, void *user)
{
    hoisting *h = user;
    if (n->kind == TG_LOAD) mark(cx, &h->loaded, n->u.buf->data->id);
    if (n->kind == TG_STORE) mark(cx, &h->stored, n->u.buf->data->id);
    if (n->kind == TG_FOR) mark(cx, &h->bound, n->u.loop->var->id);
    if (n->kind == TG_LET || n->kind == TG_LET_STMT) mark(cx, &h->bound, n->u.var->id);
    return true;
}

typedef struct question {
    const hoisting *h;
    bool changes;
} question;

static bool find_change(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    question *q = user;
    q->changes = q->changes || n->kind == TG_LOAD || n->kind == TG_CALL || (n->kind == TG_VAR && marked(&q->h->bound, n->u.var->id));
    return !q->changes;
}

static bool is_invariant(const hoisting *h, const tg_node *term)
{
    question q = { h, false };
    tg_visit(h->cx, term, find_change, &q);
    return !q.changes;
}

/* ---- one access ---- */

static bool is_candidate(const hoisting *h, const tg_buffer *b)
{
    return b->ndim == 1 && b->shape[0]->kind == TG_INT && b->strides == NULL && b->elem_offset == NULL && b->dtype.lanes == 1 &&
           !marked(&h->local, b->data->id) && !(marked(&h->loaded, b->data->id) && marked(&h->stored, b->data->id));
}

static const tg_node *index_of(const tg_node *access)
{
    return access->kid[access->nkids - 1];
}

/* The index as what the loop changes and what it does not; the constant is with the former. */
static bool split(const hoisting *h, const tg_node *access, tg_linear *inner, tg_linear *outer)
{
    tg_linear all;
    if ((access->kind != TG_LOAD && access->kind != TG_STORE) || !is_candidate(h, access->u.buf) ||
        !tg_linear_of(h->cx, index_of(access), &all))
        return false;
    tg_linear_clear(inner, all.dtype, all.c0);
    tg_linear_clear(outer, all.dtype, 0);
    for (uint32_t i = 0; i < all.n; ++i)
        if (!tg_linear_add_term(h->cx, is_invariant(h, all.x[i]) ? outer : inner, all.x[i], all.c[i])) return false;
    return outer->n > 0;
}

static bool same_terms(tg_ctx *cx, const tg_linear *a, const tg_linear *b)
{
    if (a->n != b->n || !tg_dtype_eq(a->dtype, b->dtype)) return false;
    for (uint32_t i = 0; i < a->n; ++i) {
        uint32_t k = 0;
        while (k < b->n && !tg_node_equal(cx, a->x[i], b->x[k])) ++k;
        if (k == b->n || b->c[k] != a->c[i]) return false;
    }
    return true;
}

static base *base_of(hoisting *h, const tg_buffer *b, const tg_linear *outer)
{
    for (size_t i = 0; i < h->bases.n; ++i)
        if (h->bases.at[i].of == b && same_terms(h->cx, &h->bases.at[i].at, outer)) return &h->bases.at[i];
    return NULL;
}

static bool note_access(tg_ctx *cx, const tg_node *n, void *user)
{
    hoisting *h = user;
    tg_linear inner, outer;
    if (!split(h, n, &inner, &outer)) return true;
    tg_range left = tg_linear_range(cx, &h->ranges, &inner);
    base *b = base_of(h, n->u.buf, &outer);
    if (b == NULL) {
        base fresh = { n->u.buf, NULL, outer, left.hi };
        fresh.at.c0 = left.lo;
        TG_PUSH(cx, h->bases, fresh);
        b = &h->bases.at[h->bases.n - 1];
    }
    b->at.c0 = left.lo < b->at.c0 ? left.lo : b->at.c0;
    b->last = left.hi > b->last ? left.hi : b->last;
    return true;
}

/* ---- one loop ---- */

/* Every index that the loop can form lies inside the buffer, on whichever path it is formed. */
static bool is_worth_it(hoisting *h, const base *b)
{
    int64_t elements = b->of->shape[0]->u.i;
    tg_range first = tg_linear_range(h->cx, &h->ranges, &b->at), left = { b->at.c0, b->last };
    return b->at.n >= FEWEST_TERMS && tg_range_within(left, -elements, elements) && tg_range_within(first, 0, elements) &&
           first.hi + (left.hi - left.lo) < elements;
}

static void make_view(hoisting *h, base *b)
{
    tg_ctx *cx = h->cx;
    const tg_name *name = tg_intern_z(cx, tg_format(cx, "%s_at", b->of->name->text));
    tg_buffer *view = tg_buffer_copy(cx, b->of);
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, 1);
    shape[0] = tg_int(cx, tg_dtype_of(b->of->shape[0]), b->last - b->at.c0 + 1);
    view->name = name;
    view->data = tg_var_new(cx, name, b->of->data->type);
    view->shape = shape;
    b->view = view;
}

static const tg_node *rebase(tg_ctx *cx, const tg_node *n, void *user)
{
    hoisting *h = user;
    tg_linear inner, outer;
    if (!split(h, n, &inner, &outer)) return n;
    const base *b = base_of(h, n->u.buf, &outer);
    if (b == NULL || b->view == NULL) return n;
    inner.c0 -= b->at.c0;
    const tg_node *index = tg_linear_node(cx, &inner);
    const tg_node *now = n->kind == TG_LOAD ? tg_load(cx, b->view, 1, &index) : tg_store(cx, b->view, n->kid[0], 1, &index);
    return tg_node_at(cx, now, n->span);
}

static const tg_node *hoist(hoisting *h, const tg_node *loop)
{
    tg_ctx *cx = h->cx;
    h->bases.n = 0;
    h->bound = h->loaded = h->stored = (tg_map){ 0 };
    tg_visit(cx, loop, note_use, h);
    tg_visit(cx, loop->kid[2], note_access, h);
    bool any = false;
    for (size_t i = 0; i < h->bases.n; ++i)
        if (is_worth_it(h, &h->bases.at[i])) {
            make_view(h, &h->bases.at[i]);
            any = true;
        }
    if (!any) return loop;
    const tg_node *body = tg_rewrite_node(cx, loop->kid[2], rebase, h);
    const tg_node *now = tg_node_with(cx, loop, 3, (const tg_node *[]){ loop->kid[0], loop->kid[1], body });
    for (size_t i = h->bases.n; i-- > 0;) {
        const base *b = &h->bases.at[i];
        if (b->view == NULL) continue;
        now = tg_decl_buffer(cx, b->view, now);
        const tg_node *index = tg_linear_node(cx, &b->at), *load = tg_load(cx, b->of, 1, &index);
        now = tg_let_stmt(cx, b->view->data, tg_call(cx, "address_of", b->view->data->type, 1, &load), now);
    }
    return now;
}

static const tg_node *innermost(tg_ctx *cx, const tg_node *n, void *user)
{
    hoisting *h = user;
    if (!tg_is_stmt(n)) return n;
    bool inside = false;
    for (uint32_t i = 0; i < n->nkids; ++i) inside = inside || marked(&h->loops, n->kid[i]->id);
    const tg_node *now = n->kind == TG_FOR && !inside ? hoist(h, n) : n;
    if (inside || n->kind == TG_FOR) mark(cx, &h->loops, now->id);
    return now;
}

bool tg_pass_base_pointers(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_PRIM) continue;
        hoisting h = { .cx = cx };
        tg_bounds_collect(cx, &h.ranges, f->body);
        tg_visit(cx, f->body, note_local, &h);
        const tg_node *body = tg_rewrite_node(cx, f->body, innermost, &h);
        if (body == f->body) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        tg_module_set(m, g);
    }
    return true;
}
