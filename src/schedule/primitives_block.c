/* primitives_block.c: inline and compute_at: where blocks are computed. */
#include "block_checks.h"

/* Whether something between @p from and @p to (not included) writes what @p block reads, or its result. */
static bool check_between(tg_sched *s, const tg_nest *block, const tg_nest *from, const tg_nest *to)
{
    for (const tg_nest *n = tg_nest_next(from, s->top); n != NULL && n != to; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block) continue;
        if (tg_block_writes(s->cx, n->node, tg_block_output(block->node)))
            return tg_sched_refuse(s, "%s is written again before it is read",
                                   tg_block_output(block->node)->name->text);
        for (uint32_t i = 0; i < block->node->u.block->nreads; ++i)
            if (tg_block_writes(s->cx, n->node, block->node->u.block->read[i]))
                return tg_sched_refuse(s, "%s changes before %s is read", block->node->u.block->read[i]->name->text,
                                       tg_s_name(block));
    }
    return true;
}

/* Whether anything in @p where writes what @p block reads. */
static bool check_writes(tg_sched *s, const tg_nest *block, const tg_nest *where)
{
    for (const tg_nest *n = where; n != NULL; n = tg_nest_next(n, where))
        for (uint32_t i = 0; n->node != NULL && i < block->node->u.block->nreads; ++i)
            if (tg_block_writes(s->cx, n->node, block->node->u.block->read[i]))
                return tg_sched_refuse(s, "%s changes while %s is needed", block->node->u.block->read[i]->name->text,
                                       tg_s_name(block));
    return true;
}

/* ---- inline ---- */

typedef struct inlining {
    const tg_node *store;
    const tg_var *at[TG_MAX_NDIM];
    const tg_buffer *b;
    const tg_node *block;
} inlining;

static const tg_node *inline_load(tg_ctx *cx, const tg_node *n, void *user)
{
    inlining *in = user;
    if (n->kind != TG_LOAD || n->u.buf != in->b) return n;
    tg_subst by = { { 0 }, { 0 } };
    for (uint32_t i = 0; i < in->block->u.block->niters; ++i) /* those of extent 1 that are no index */
        tg_subst_var(cx, &by, in->block->u.block->iter[i].var,
                     tg_int(cx, in->block->u.block->iter[i].var->type->dtype, 0));
    for (uint32_t k = 0; k < in->b->ndim; ++k)
        if (in->at[k] != NULL) tg_subst_var(cx, &by, in->at[k], tg_cast(cx, in->at[k]->type->dtype, n->kid[k]));
    return tg_freshen(cx, tg_substitute(cx, in->store->kid[0], &by));
}

bool tg_s_inline(tg_sched *s, tg_nest *block)
{
    tg_ctx *cx = s->cx;
    if (!tg_s_check_block(s, block)) return false;
    if (!tg_block_is_complete(cx, block->node) || tg_block_body(block->node)->kind != TG_STORE)
        return tg_sched_refuse(s, "block %s does more than store one value for each element", tg_s_name(block));
    inlining in = { .store = tg_block_store(cx, block->node), .block = block->node };
    in.b = in.store->u.buf;
    if (!tg_s_is_private(s, in.b)) return tg_sched_refuse(s, "%s is seen outside of the function", in.b->name->text);
    if (!tg_nest_is_plain(s, block))
        return tg_sched_refuse(s, "the loops of block %s are taken apart", tg_s_name(block));
    if (!tg_s_check_indices(s, block, in.at)) return false;
    const tg_nest *last = NULL;
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block || !tg_block_reads(cx, n->node, in.b)) continue;
        if (n->kind != TG_NEST_BLOCK || n->node->u.block->nmatches > 0)
            return tg_sched_refuse(s, "%s is read outside of simple blocks", in.b->name->text);
        last = n;
    }
    if (last != NULL && (!check_between(s, block, block, last) || !check_writes(s, block, last))) return false;
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->kind != TG_NEST_BLOCK || n == block || !tg_block_reads(cx, n->node, in.b)) continue;
        tg_block_parts p = tg_block_open(cx, n->node);
        p.body = tg_rewrite_node(cx, p.body, inline_load, &in);
        p.init = p.init != NULL ? tg_rewrite_node(cx, p.init, inline_load, &in) : NULL;
        n->node = tg_block_reparted(cx, &p);
    }
    tg_nest_remove(block);
    return true;
}

/* ---- compute_at ---- */

/* One dimension of what the readers under a loop read: base + [lo, hi]. */
typedef struct interval {
    tg_linear base;
    int64_t lo, hi;
    bool whole;
} interval;
typedef struct reading {
    tg_sched *s;
    const tg_buffer *b;
    tg_nest *loop, *reader;
    tg_subst bound; /* the reader's iterators by their bindings */
    tg_ranges ranges;
    interval at[TG_MAX_NDIM];
    uint32_t count;
} reading;

static bool is_inner_loop(const reading *r, const tg_var *v)
{
    for (const tg_nest *p = r->reader->parent; p != NULL && p != r->loop; p = p->parent)
        if (p->kind == TG_NEST_LOOP && p->var == v) return true;
    return false;
}

static bool is_outer_loop(const reading *r, const tg_var *v)
{
    for (const tg_nest *p = r->loop; p != NULL; p = p->parent)
        if (p->kind == TG_NEST_LOOP && p->var == v) return true;
    return false;
}

static interval interval_of(reading *r, const tg_node *index)
{
    tg_ctx *cx = r->s->cx;
    interval e = { .whole = true };
    tg_linear all;
    if (!tg_linear_of(cx, tg_substitute(cx, index, &r->bound), &all)) return e;
    tg_range span = { all.c0, all.c0 };
    tg_linear_clear(&e.base, all.dtype, 0);
    for (uint32_t i = 0; i < all.n; ++i) {
        const tg_node *x = all.x[i];
        if (x->kind == TG_VAR && is_outer_loop(r, x->u.var)) {
            if (!tg_linear_add_term(cx, &e.base, x, all.c[i])) return e;
        } else if (x->kind == TG_VAR && !is_inner_loop(r, x->u.var)) {
            return e;
        } else {
            span = tg_range_add(span, tg_range_scale(tg_range_of(cx, &r->ranges, x), all.c[i]));
        }
    }
    e.lo = span.lo;
    e.hi = span.hi;
    e.whole = span.lo <= INT32_MIN || span.hi >= INT32_MAX;
    return e;
}

static void join(reading *r, interval *all, const interval *e)
{
    tg_linear difference = all->base;
    if (all->whole || e->whole || !tg_linear_add(r->s->cx, &difference, &e->base, -1) || difference.n > 0) {
        all->whole = true;
        return;
    }
    all->lo = e->lo < all->lo ? e->lo : all->lo;
    all->hi = e->hi > all->hi ? e->hi : all->hi;
}

static bool read_access(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    reading *r = user;
    if (n->kind != TG_LOAD || n->u.buf != r->b) return true;
    for (uint32_t k = 0; k < r->b->ndim; ++k) {
        interval e = interval_of(r, n->kid[k]);
        if (r->count == 0) r->at[k] = e;
        else join(r, &r->at[k], &e);
    }
    ++r->count;
    return true;
}

static void bind_iterators(tg_ctx *cx, const tg_node *block, tg_subst *by)
{
    *by = (tg_subst){ { 0 }, { 0 } };
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        tg_subst_var(cx, by, block->u.block->iter[i].var, block->kid[3 * i + 2]);
}

/* Dimensions no longer than needed, inside of the buffer where that is certain. */
static void clip(reading *r)
{
    int64_t dim[TG_MAX_NDIM];
    if (!tg_buffer_dims(r->b, dim)) return;
    for (uint32_t k = 0; k < r->b->ndim; ++k) {
        interval *e = &r->at[k];
        if (!e->whole && e->base.n == 0) {
            e->lo = e->lo < 0 ? 0 : e->lo;
            e->hi = e->hi >= dim[k] ? dim[k] - 1 : e->hi;
        }
        if (e->whole || e->hi - e->lo + 1 >= dim[k] || e->hi < e->lo) {
            tg_linear_clear(&e->base, tg_dtype_of(r->b->shape[k]), 0);
            e->lo = 0;
            e->hi = dim[k] - 1;
        }
    }
}

/* Puts the block, bound to new loops over the region, in front of operand @p at of the loop. */
static void place_block(tg_sched *s, tg_nest *block, reading *r, const tg_var *const *index, size_t at)
{
    tg_ctx *cx = s->cx;
    tg_block_parts p = tg_block_open(cx, block->node);
    tg_nest *inner = r->loop, *outermost = NULL;
    const tg_node *inside = NULL;
    for (uint32_t i = 0; i < p.niters; ++i) {
        const interval *e = NULL;
        for (uint32_t k = 0; k < r->b->ndim; ++k) e = index[k] == p.iter[i].var ? &r->at[k] : e;
        DLDataType d = p.iter[i].var->type->dtype;
        int64_t extent = e != NULL ? e->hi - e->lo + 1 : p.iter[i].extent->u.i;
        const tg_nest *old = tg_nest_loop_of(s, block, p.iter[i].var);
        tg_linear value;
        tg_linear_clear(&value, d, e != NULL ? e->lo : 0);
        if (e != NULL) tg_linear_add(cx, &value, &e->base, 1);
        if (extent > 1) {
            const tg_var *v = tg_sched_var(s, old->var, "");
            tg_nest *loop = tg_nest_loop(s, v, extent);
            tg_nest_add(s, inner, inner == r->loop ? at : 0, loop);
            inner = loop;
            outermost = outermost == NULL ? loop : outermost;
            tg_linear_add_term(cx, &value, tg_var_ref(cx, v), 1);
            tg_range_set(cx, &r->ranges, v, (tg_range){ 0, extent - 1 });
        }
        p.iter[i].binding = tg_linear_node(cx, &value);
        tg_range span = tg_linear_range(cx, &r->ranges, &value);
        const tg_node *c = NULL;
        if (span.lo < 0) c = tg_bin(cx, TG_GE, p.iter[i].binding, tg_int(cx, d, 0));
        if (span.hi >= p.iter[i].extent->u.i) {
            const tg_node *below = tg_bin(cx, TG_LT, p.iter[i].binding, tg_int(cx, d, p.iter[i].extent->u.i));
            c = c == NULL ? below : tg_bin(cx, TG_AND, c, below);
        }
        if (c != NULL) inside = inside == NULL ? c : tg_bin(cx, TG_AND, inside, c);
    }
    p.predicate = inside;
    tg_nest *moved = tg_nest_block(s, tg_block_new(cx, &p));
    tg_nest_add(s, inner, inner == r->loop ? at : 0, moved);
    tg_nest_remove(block);
    block->node = moved->node; /* the caller's pointer stays the block */
    moved->parent->kid.at[tg_nest_index(moved)] = block;
    block->parent = moved->parent;
}

static bool check_constant_domains(tg_sched *s, const tg_nest *block)
{
    for (uint32_t i = 0; i < block->node->u.block->niters; ++i)
        if (!tg_is_int_const(block->node->kid[3 * i], 0) || block->node->kid[3 * i + 1]->kind != TG_INT)
            return tg_sched_refuse(s, "an iterator of block %s has no constant domain from 0", tg_s_name(block));
    return true;
}

bool tg_s_compute_at(tg_sched *s, tg_nest *block, tg_nest *loop)
{
    tg_ctx *cx = s->cx;
    const tg_var *index[TG_MAX_NDIM];
    if (!tg_s_check_block(s, block)) return false;
    if (loop->kind != TG_NEST_LOOP || tg_nest_under(block, loop))
        return tg_sched_refuse(s, "block %s stands in that loop already", tg_s_name(block));
    if (!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node))
        return tg_sched_refuse(s, "block %s cannot be computed in parts", tg_s_name(block));
    reading r = { .s = s, .b = tg_block_output(block->node), .loop = loop };
    if (!tg_s_is_private(s, r.b)) return tg_sched_refuse(s, "%s is seen outside of the function", r.b->name->text);
    if (!tg_nest_is_plain(s, block))
        return tg_sched_refuse(s, "the loops of block %s are taken apart", tg_s_name(block));
    if (!check_constant_domains(s, block) || !tg_s_check_indices(s, block, index)) return false;
    const tg_nest *first = NULL;
    tg_sched_ranges(s, &r.ranges);
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block || !tg_block_reads(cx, n->node, r.b)) continue;
        if (n->kind != TG_NEST_BLOCK || !tg_nest_under(n, loop))
            return tg_sched_refuse(s, "%s is read outside of loop %s", r.b->name->text, loop->var->name->text);
        first = first == NULL ? n : first;
        r.reader = n;
        bind_iterators(cx, n->node, &r.bound);
        tg_visit(cx, tg_block_body(n->node), read_access, &r);
        if (tg_block_init(n->node) != NULL) tg_visit(cx, tg_block_init(n->node), read_access, &r);
    }
    if (first == NULL || r.count == 0) return tg_sched_refuse(s, "nobody reads %s", r.b->name->text);
    if (!check_between(s, block, block, first) || !check_writes(s, block, loop)) return false;
    clip(&r);
    size_t at = 0;
    while (!tg_nest_under(first, loop->kid.at[at])) ++at;
    place_block(s, block, &r, index, at);
    return true;
}
