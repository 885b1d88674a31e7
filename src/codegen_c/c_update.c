/* c_update.c: bounds of loop variables, and which integer accumulators cannot overflow.
 *
 * A[i] = A[i] + v may be printed as plain C only when no sum leaves the type. For each buffer that is so updated:
 *     elements lie in  hull(other stores) + sum over updates of (0 to n times v)
 * where n is how often an update can hit one element between two other stores: the number of its executions within the
 * allocation of a local array, or since the store to the same element that stands before it in the same or an enclosing
 * sequence. The bound holds for every element of a local array, and for others at the place of the update itself. */
#include "emit.h"

enum { MOST_LEVELS = 400, MOST_FIRST = 64 };
#define OFTEN ((int64_t)1 << 40)

/* A store that surely ran before those that follow it in its sequence. */
typedef struct first_store { const tg_node *store; int64_t times; } first_store;

typedef struct update { const tg_node *store; int64_t times; const tg_node *part; bool minus; } update;

typedef struct walking {
    tg_emit *e;
    unsigned level;
    int64_t times;              /* executions of the statement at hand */
    TG_VEC(first_store) first;
    TG_VEC(update) store;       /* every store of integers, in order */
    bool too_deep, no_alias;
} walking;

static int64_t product(int64_t a, int64_t b)
{
    return a >= OFTEN || b >= OFTEN || (b > 0 && a > OFTEN / b) ? OFTEN : a * b;
}

/* ---- A[i] = A[i] + v ---- */

static bool same_index(tg_emit *e, const tg_node *store, const tg_node *load)
{
    if (load->kind != TG_LOAD || load->u.buf->data != store->u.buf->data || load->nkids + 1 != store->nkids
        || (load->u.buf != store->u.buf && (load->nkids != 1 || !tg_dtype_eq(load->u.buf->dtype, store->u.buf->dtype)
                                            || load->u.buf->strides != NULL || store->u.buf->strides != NULL)))
        return false;
    for (uint32_t k = 0; k < load->nkids; ++k)
        if (load->kid[k] != store->kid[k + 1] && !tg_node_equal(e->cx, load->kid[k], store->kid[k + 1]))
            return false;
    return true;
}

/* The leftmost term of a sum is the element itself: everything right of it is the part, one node a time. */
const tg_node *c_update_part(tg_emit *e, const tg_node *store)
{
    const tg_node *v = store->kid[0];
    bool sum = v->kind == TG_ADD || v->kind == TG_SUB || v->kind == TG_MUL;
    return sum && same_index(e, store, v->kid[0]) ? v->kid[1] : NULL;
}

/* Does @p n load from @p data? Looks at a limited number of nodes and then says yes. */
static bool reads_from(tg_emit *e, const tg_node *n, const c_var *data, unsigned *few)
{
    if (*few == 0 || (n->kind == TG_LOAD && c_var_of(e, n->u.buf->data) == data))
        return true;
    --*few;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (reads_from(e, n->kid[i], data, few))
            return true;
    return false;
}

bool c_reads_itself(tg_emit *e, const tg_node *store)
{
    unsigned few = 500;
    return reads_from(e, store->kid[0], c_var_of(e, store->u.buf->data), &few);
}

static void note_update(walking *w, const tg_node *n, const tg_node *part, bool minus, int64_t times)
{
    update u = { n, times, part, minus };
    TG_PUSH(w->e->cx, w->store, u);
}

/* Sums may be nested to the left: A[i] + v + w - x. */
static bool note_sum(walking *w, const tg_node *n, int64_t times)
{
    const tg_node *v = n->kid[0];
    size_t mark = w->store.n;
    while (v->kind == TG_ADD || v->kind == TG_SUB) {
        bool right = v->kind == TG_ADD && same_index(w->e, n, v->kid[1]);
        note_update(w, n, right ? v->kid[0] : v->kid[1], v->kind == TG_SUB, times);
        v = right ? v->kid[1] : v->kid[0];
        if (same_index(w->e, n, v))
            return true;
    }
    w->store.n = mark;
    return false;
}

static const first_store *preceding(walking *w, const tg_node *n)
{
    size_t few = w->first.n > MOST_FIRST ? w->first.n - MOST_FIRST : 0;
    for (size_t i = w->first.n; i > few; --i) {
        const first_store *f = &w->first.at[i - 1];
        if (f->store->u.buf->data != n->u.buf->data)
            continue;
        bool same = f->store->nkids == n->nkids;
        for (uint32_t k = 1; same && k < n->nkids; ++k)
            same = f->store->kid[k] == n->kid[k] || tg_node_equal(w->e->cx, f->store->kid[k], n->kid[k]);
        return same ? f : NULL;
    }
    return NULL;
}

static void note_store(walking *w, const tg_node *n)
{
    tg_emit *e = w->e;
    DLDataType d = n->u.buf->dtype;
    c_var *v = c_var_of(e, n->u.buf->data);
    if (!tg_is_int(d) || d.bits < 32 || d.lanes != 1 || tg_dtype_of(n->kid[0]).lanes != 1) {
        if (v->voted != 0 && tg_is_int(v->elem))
            note_update(w, n, NULL, false, OFTEN);      /* spoils the bound */
        return;
    }
    const first_store *f = v->local ? NULL : preceding(w, n);
    int64_t since = v->local ? v->times : f != NULL ? f->times : 0;
    int64_t times = since > 0 && w->times < OFTEN ? w->times / since : OFTEN;
    if (!note_sum(w, n, times))
        note_update(w, n, NULL, false, c_reads_itself(e, n) ? OFTEN : 1);
}

/* ---- the walk ---- */

static void walk(walking *w, const tg_node *n);

static int64_t most_times(c_range extent)
{
    return extent.hi <= 0 ? 0 : extent.hi >= OFTEN ? OFTEN : extent.hi;
}

static void walk_for(walking *w, const tg_node *n)
{
    c_range min = c_range_of(w->e, n->kid[0]), extent = c_range_of(w->e, n->kid[1]);
    c_var *v = c_var_of(w->e, n->u.loop->var);
    c_range last = c_range_add(c_range_add(min, extent), (c_range){ -1, -1 });
    v->index = true;
    v->range = (c_range){ min.lo, last.hi < min.lo ? min.lo : last.hi };
    int64_t times = w->times;
    size_t mark = w->first.n;
    w->times = product(times, most_times(extent));
    walk(w, n->kid[2]);
    w->times = times;
    w->first.n = mark;
}

static void walk_branch(walking *w, const tg_node *n)
{
    size_t mark = w->first.n;
    walk(w, n);
    w->first.n = mark;
}

/* Statements without braces of their own, one after the other. */
static void walk(walking *w, const tg_node *n)
{
    if (++w->level > MOST_LEVELS) {
        w->too_deep = true;
        --w->level;
        return;
    }
    for (;;) {
        switch (n->kind) {
        case TG_LET_STMT: c_bind_range(w->e, n->u.var, n->kid[0]); break;
        case TG_ALLOCATE: c_var_of(w->e, n->u.alloc->var)->times = w->times; break;
        case TG_ALLOC_CONST: case TG_DECL_BUFFER: case TG_ATTR: case TG_ASSERT: break;
        case TG_SEQ:
            for (uint32_t i = 0; i < n->nkids; ++i)
                walk(w, n->kid[i]);
            --w->level;
            return;
        case TG_STORE: {
            note_store(w, n);
            first_store f = { n, w->times };
            if (!c_reads_itself(w->e, n))
                TG_PUSH(w->e->cx, w->first, f);
            --w->level;
            return;
        }
        case TG_FOR: walk_for(w, n); --w->level; return;
        case TG_IF:
            for (uint32_t i = 1; i < n->nkids; ++i)
                walk_branch(w, n->kid[i]);
            --w->level;
            return;
        case TG_WHILE: {
            int64_t times = w->times;
            w->times = OFTEN;
            walk_branch(w, n->kid[1]);
            w->times = times;
            --w->level;
            return;
        }
        default: --w->level; return;
        }
        n = n->kid[n->nkids - 1];
    }
}

/* ---- the bounds ---- */

static void bound(walking *w, const tg_var *data, size_t from)
{
    tg_emit *e = w->e;
    c_var *v = c_var_of(e, data);
    c_range hull = { INT64_MAX, INT64_MIN }, sum = { 0, 0 };
    v->measured = true;
    if (v->escapes || w->too_deep || (!v->local && !w->no_alias))
        return;
    for (size_t i = from; i < w->store.n; ++i) {
        const update *u = &w->store.at[i];
        if (c_var_of(e, u->store->u.buf->data) != v)
            continue;
        if (u->times >= OFTEN || !tg_dtype_eq(u->store->u.buf->dtype, v->elem))
            return;
        c_range r = c_range_of(e, u->part != NULL ? u->part : u->store->kid[0]);
        if (u->part == NULL) {
            hull = c_range_join(hull, r);
            continue;
        }
        if (u->minus)
            r = (c_range){ r.hi == INT64_MAX ? INT64_MIN : -r.hi, r.lo == INT64_MIN ? INT64_MAX : -r.lo };
        sum = c_range_add(sum, c_range_scale(r, u->times));
    }
    if (hull.lo > hull.hi)
        return;                         /* no store to start from */
    v->range = c_range_add(hull, sum);
    v->bounded = c_fits(v->range, v->elem);
}

void c_scan_updates(tg_emit *e, c_fn *fn)
{
    walking w = { .e = e, .times = 1, .no_alias = tg_v_get_int(fn->f->attrs, "tir.noalias", 0) != 0 };
    walk(&w, fn->f->body);
    for (size_t i = 0; i < w.store.n; ++i) {
        const tg_var *data = w.store.at[i].store->u.buf->data;
        if (!c_var_of(e, data)->measured)
            bound(&w, data, i);
    }
}
