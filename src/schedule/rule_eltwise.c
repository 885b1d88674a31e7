/* rule_eltwise.c: what is computed element by element. Cheap values are computed where they are used; conditions on an index, as
 * padding and concatenation have them, divide the loops instead of being tested in them; loops that walk through memory as one
 * become one. */
#include "rules.h"

enum {
    CHEAP = 4,      /* operations worth repeating rather than storing the result */
    MAX_PIECES = 12 /* nests that conditions may divide one nest into */
};

/* ---- inline ---- */

typedef struct weighing {
    int operations;
    bool slow, guarded;
} weighing;

static bool weigh(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    weighing *w = user;
    if (n->kind == TG_LOAD) return false; /* arithmetic on indices is not counted */
    if (n->kind == TG_CALL || n->kind == TG_SELECT) {
        bool guard = tg_is_call(n, "if_then_else");
        w->guarded = w->guarded || guard;
        w->slow = w->slow || (n->kind == TG_CALL && !guard && !tg_is_call(n, "likely"));
    }
    w->slow =
        w->slow || ((n->kind == TG_DIV || n->kind == TG_MOD || n->kind == TG_FLOORDIV || n->kind == TG_FLOORMOD) &&
                    n->kid[1]->kind != TG_INT);
    w->operations += n->nkids > 0;
    return true;
}

static int64_t iterations(const tg_node *block)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->kid[3 * i + 1]->kind == TG_INT && n < TG_MAX_ELEMENTS) n *= block->kid[3 * i + 1]->u.i;
    return n;
}

static bool worth_inlining(tg_sched *s, tg_nest *block)
{
    const tg_node *store = tg_block_store(s->cx, block->node);
    const tg_buffer *b = store->u.buf;
    weighing w = { 0, false, false };
    int64_t elements, uses = 0;
    int readers = 0;
    bool reduced = false;
    tg_visit(s->cx, store->kid[0], weigh, &w);
    for (tg_nest *n = tg_nest_next_block(NULL, s->top); n != NULL; n = tg_nest_next_block(n, s->top)) {
        if (n == block || !tg_block_reads(s->cx, n->node, b)) continue;
        ++readers;
        uses += iterations(n->node);
        reduced = reduced || tg_block_has(n->node, TG_ITER_REDUCE);
    }
    if (readers == 0 || !tg_buffer_elements(b, &elements)) return false;
    if (w.guarded && reduced) return false; /* a condition does not belong into a reduction */
    bool repeated = uses > elements;
    return !repeated || (w.operations <= CHEAP && !w.slow && !(reduced && uses > 2 * elements && w.operations > 1));
}

void tg_rule_inline(tg_sched *s)
{
    for (tg_nest *b = tg_nest_next_block(NULL, s->top), *next; b != NULL; b = next) {
        next = tg_nest_next_block(b, s->top);
        if (tg_block_is_complete(s->cx, b->node) && tg_block_body(b->node)->kind == TG_STORE && worth_inlining(s, b))
            tg_s_inline(s, b);
    }
}

/* ---- conditions ---- */

static void bind_iterators(tg_ctx *cx, const tg_node *block, tg_subst *by)
{
    *by = (tg_subst){ { 0 }, { 0 } };
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        tg_subst_var(cx, by, block->u.block->iter[i].var, block->kid[3 * i + 2]);
}

typedef struct deciding {
    tg_sched *s;
    tg_nest *block;
    tg_subst bound;
    tg_ranges ranges;
    tg_nest *loop;
    int64_t at;
} deciding;

/* Comparisons that hold everywhere or nowhere, and what follows from them. */
static const tg_node *decide(tg_ctx *cx, const tg_node *n, void *user)
{
    deciding *d = user;
    if (n->kind >= TG_LT && n->kind <= TG_GE) {
        tg_range r = tg_range_of(cx, &d->ranges, tg_substitute(cx, n, &d->bound));
        return r.lo == r.hi ? tg_int(cx, TG_BOOL, r.lo) : n;
    }
    if (n->kind == TG_AND || n->kind == TG_OR) {
        for (uint32_t i = 0; i < 2; ++i) /* x and true is x, x and false is false */
            if (n->kid[i]->kind == TG_INT)
                return (n->kid[i]->u.i != 0) == (n->kind == TG_AND) ? n->kid[1 - i] : n->kid[i];
        return n;
    }
    bool chooses = n->kind == TG_SELECT || tg_is_call(n, "if_then_else");
    return chooses && n->kid[0]->kind == TG_INT ? n->kid[n->kid[0]->u.i != 0 ? 1 : 2] : n;
}

/* The loop of that variable, if nothing but the block stands in it. */
static tg_nest *own_loop(tg_nest *block, const tg_var *v)
{
    tg_nest *p = block->parent;
    while (p->kind == TG_NEST_LOOP && p->kid.n == 1 && p->var != v) p = p->parent;
    return p->kind == TG_NEST_LOOP && p->kid.n == 1 ? p : NULL;
}

/* @p c is loop + c0 < 0 in some spelling: the first value of the loop where it changes. */
static bool find_change(deciding *d, const tg_node *c, tg_nest **loop, int64_t *at)
{
    tg_linear a, b;
    tg_ctx *cx = d->s->cx;
    if (c->kind < TG_LT || c->kind > TG_GE || !tg_linear_of(cx, tg_substitute(cx, c->kid[0], &d->bound), &a) ||
        !tg_linear_of(cx, tg_substitute(cx, c->kid[1], &d->bound), &b) || !tg_linear_add(cx, &a, &b, -1))
        return false;
    if (a.n != 1 || a.x[0]->kind != TG_VAR || (a.c[0] != 1 && a.c[0] != -1)) return false;
    bool strict = c->kind == TG_LT || c->kind == TG_GE; /* changes between -1 and 0, else between 0 and 1 */
    int64_t zero = a.c[0] == 1 ? -a.c0 : a.c0;          /* where the difference is 0 */
    *at = a.c[0] == 1 ? zero + !strict : zero + strict;
    *loop = own_loop(d->block, a.x[0]->u.var);
    return *loop != NULL && *at > 0 && *at < (*loop)->extent;
}

/* The change in the outermost loop; among those the first. */
static bool look_for_change(tg_ctx *cx, const tg_node *n, void *user)
{
    deciding *d = user;
    tg_nest *loop;
    int64_t at;
    (void)cx;
    if (n->kind >= TG_LT && n->kind <= TG_GE && find_change(d, n, &loop, &at)) {
        bool outer = d->loop == NULL || (loop != d->loop && tg_nest_under(d->loop, loop));
        if (outer || (loop == d->loop && at < d->at)) {
            d->loop = loop;
            d->at = at;
        }
    }
    return true;
}

static bool look_for_guard(tg_ctx *cx, const tg_node *n, void *user)
{
    if (n->kind == TG_SELECT || tg_is_call(n, "if_then_else")) tg_visit(cx, n->kid[0], look_for_change, user);
    return true;
}

/* Conditions that the ranges of the loops decide go. */
static void decide_guards(tg_sched *s, tg_nest *block, deciding *d)
{
    *d = (deciding){ .s = s, .block = block };
    bind_iterators(s->cx, block->node, &d->bound);
    tg_sched_ranges(s, &d->ranges);
    tg_block_parts p = tg_block_open(s->cx, block->node);
    const tg_node *body = tg_rewrite_node(s->cx, p.body, decide, d);
    if (body == p.body) return;
    p.body = body;
    block->node = tg_block_reparted(s->cx, &p);
}

static void divide_at_guards(tg_sched *s, tg_nest *block, unsigned *pieces)
{
    TG_VEC(tg_nest *) todo = { 0 };
    TG_PUSH(s->cx, todo, block);
    while (todo.n > 0) {
        tg_nest *b = todo.at[--todo.n], *first, *rest;
        deciding d;
        decide_guards(s, b, &d);
        tg_visit(s->cx, tg_block_body(b->node), look_for_guard, &d);
        if (d.loop == NULL || *pieces == MAX_PIECES || !tg_s_partition(s, d.loop, d.at, &first, &rest)) continue;
        ++*pieces;
        TG_PUSH(s->cx, todo, tg_nest_next_block(NULL, rest));
        TG_PUSH(s->cx, todo, tg_nest_next_block(NULL, first));
    }
}

/* ---- fusing loops ---- */

enum { MAX_VALUES = 16 };
typedef struct using
{
    const tg_node *block;
    uint32_t n;
    const tg_node *binding[MAX_VALUES];
    bool many;
}
using;

/* Bindings of iterators that are used as values, not in the indices of accesses. */
static bool find_values(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    using *u = user;
    for (uint32_t i = 0; n->kind == TG_VAR && i < u->block->u.block->niters; ++i) {
        if (u->block->u.block->iter[i].var != n->u.var) continue;
        if (u->n < MAX_VALUES) u->binding[u->n++] = u->block->kid[3 * i + 2];
        else u->many = true;
    }
    return n->kind != TG_LOAD;
}

static bool is_value(tg_ctx *cx, const using *u, const tg_var *loop)
{
    for (uint32_t i = 0; i < u->n; ++i)
        if (tg_uses_var(cx, u->binding[i], loop)) return true;
    return false;
}

/* Strides of every access along a loop, through the bindings of the iterators; false when one is not linear. */
static bool strides_along(tg_sched *s, const tg_node *block, const tg_accesses *a, const tg_var *loop, int64_t *stride)
{
    for (uint32_t k = 0; k < a->n; ++k) stride[k] = 0;
    for (uint32_t i = 0; i < block->u.block->niters; ++i) {
        tg_linear binding;
        if (!tg_linear_of(s->cx, block->kid[3 * i + 2], &binding)) return false;
        int64_t c = tg_linear_coef(&binding, loop);
        if (c == 0 && tg_uses_var(s->cx, block->kid[3 * i + 2], loop)) return false;
        for (uint32_t k = 0; k < a->n; ++k) stride[k] += c * tg_access_stride(&a->at[k], block->u.block->iter[i].var);
    }
    return true;
}

/* Loops around a block with what each moves the accesses by; found before loops are fused and bindings no longer linear. */
typedef struct walked {
    tg_nest *loop;
    bool linear;
    int64_t stride[TG_MAX_ACCESSES];
} walked;

static bool walks_on(const walked *outer, const walked *inner, const tg_accesses *a)
{
    if (outer->loop->extent == 1 || inner->loop->extent == 1) return true; /* the variable of one iteration is 0 */
    for (uint32_t k = 0; k < a->n; ++k)
        if (outer->stride[k] != inner->stride[k] * inner->loop->extent) return false;
    return outer->linear && inner->linear;
}

/* From the inside: a loop takes in the one around it while memory is walked through as one. */
static void fuse_loops(tg_sched *s, tg_nest *block)
{
    tg_accesses a;
    walked w[TG_MAX_LOOPS];
    tg_nest *loops[TG_MAX_LOOPS];
    using u = { .block = block->node };
    tg_block_accesses(s->cx, block->node, &a);
    tg_visit(s->cx, tg_block_store(s->cx, block->node)->kid[0], find_values, &u);
    for (uint32_t k = 0; k < a.n; ++k) a.complete = a.complete && a.at[k].linear;
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    if (!a.complete || u.many || n < 2 || block->parent->kid.n != 1) return;
    for (int i = 0; i < n; ++i) {
        w[i].loop = loops[i];
        w[i].linear =
            strides_along(s, block->node, &a, loops[i]->var, w[i].stride) && !is_value(s->cx, &u, loops[i]->var);
    }
    for (int inner = n - 1, outer = n - 2; outer >= 0 && loops[outer]->kid.n == 1; --outer) {
        tg_nest *fused;
        bool unit = w[inner].loop->extent == 1;
        if (!walks_on(&w[outer], &w[inner], &a)) {
            inner = outer;
            continue;
        }
        if (!tg_s_fuse(s, w[outer].loop, w[inner].loop, &fused)) return;
        w[inner].loop = fused; /* it moves the accesses as the inner loop did */
        if (unit) w[inner] = (walked){ fused, w[outer].linear, { 0 } };
        for (uint32_t k = 0; unit && k < a.n; ++k) w[inner].stride[k] = w[outer].stride[k];
    }
}

/* The outermost loop that holds nothing but the block. */
static tg_nest *top_of(tg_nest *block)
{
    while (block->parent->kind == TG_NEST_LOOP && block->parent->kid.n == 1) block = block->parent;
    return block;
}

void tg_rule_eltwise(tg_sched *s)
{
    TG_VEC(tg_nest *) blocks = { 0 };
    for (tg_nest *b = tg_nest_next_block(NULL, s->top); b != NULL; b = tg_nest_next_block(b, s->top))
        if (tg_block_is_complete(s->cx, b->node)) TG_PUSH(s->cx, blocks, b);
    for (size_t i = 0; i < blocks.n; ++i) {
        unsigned pieces = 1;
        tg_nest *parent = top_of(blocks.at[i])->parent;
        size_t first = tg_nest_index(top_of(blocks.at[i])), behind = parent->kid.n - first;
        divide_at_guards(s, blocks.at[i], &pieces);
        for (size_t k = first; k + behind <= parent->kid.n; ++k)
            for (tg_nest *b = tg_nest_next_block(NULL, parent->kid.at[k]); b != NULL;
                 b = tg_nest_next_block(b, parent->kid.at[k]))
                fuse_loops(s, b);
    }
}
