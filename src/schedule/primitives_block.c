/* primitives_block.c: inline, compute_at, cache_write, decompose, rfactor: where and when blocks are computed. */
#include "primitives.h"

enum { MAX_CONDITIONS = 16 };       /* of one predicate */

static const char *name_of(const tg_nest *block)
{
    return block->node->u.block->name->text;
}

static bool check_block(tg_sched *s, const tg_nest *n)
{
    return n->kind == TG_NEST_BLOCK || tg_sched_refuse(s, "not a block");
}

/* A buffer that only this function sees, allocated by its root block. */
static bool is_private(const tg_sched *s, const tg_buffer *b)
{
    for (uint32_t i = 0; i < s->root.nallocs; ++i)
        if (s->root.alloc[i] == b)
            return true;
    return false;
}

static const tg_buffer *new_buffer(tg_sched *s, const tg_buffer *like, const char *hint, uint32_t ndim, const tg_node *const *shape)
{
    tg_buffer *b = tg_buffer_copy(s->cx, like);
    b->name = tg_intern_z(s->cx, hint);
    b->scope = tg_intern_z(s->cx, "global");
    b->data = tg_var_new(s->cx, b->name, tg_ptr(s->cx, like->dtype, b->scope));
    b->ndim = ndim;
    b->shape = shape;
    b->strides = NULL;
    b->elem_offset = NULL;
    b->offset_factor = 0;
    const tg_buffer **alloc = TG_ARRAY(s->cx, const tg_buffer *, s->root.nallocs + 1);
    for (uint32_t i = 0; i < s->root.nallocs; ++i)
        alloc[i] = s->root.alloc[i];
    alloc[s->root.nallocs++] = b;
    s->root.alloc = alloc;
    return b;
}

/* The iterator that is index @p e, or NULL. */
static const tg_var *iterator_at(const tg_node *block, const tg_node *e)
{
    for (uint32_t i = 0; e->kind == TG_VAR && i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].var == e->u.var)
            return e->u.var;
    return NULL;
}

static bool has_extent_one(const tg_node *block, const tg_var *iter)
{
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].var == iter)
            return tg_is_int_const(block->kid[3 * i + 1], 1) && tg_is_int_const(block->kid[3 * i], 0);
    return false;
}

/* The store's indices are spatial iterators, each once; what is left over has extent 1. at[k]: the iterator of dimension k,
 * NULL where the index is the constant 0. */
static bool check_indices(tg_sched *s, const tg_nest *block, const tg_var **at)
{
    const tg_node *n = block->node, *store = tg_block_store(s->cx, n);
    for (uint32_t k = 0; k < store->u.buf->ndim; ++k) {
        at[k] = iterator_at(n, store->kid[k + 1]);
        bool zero = tg_is_int_const(store->kid[k + 1], 0) && tg_is_int_const(store->u.buf->shape[k], 1);
        if (at[k] == NULL && !zero)
            return tg_sched_refuse(s, "block %s does not store at its iterators alone", name_of(block));
        for (uint32_t j = 0; at[k] != NULL && j < k; ++j)
            if (at[j] == at[k])
                return tg_sched_refuse(s, "block %s stores along a diagonal", name_of(block));
    }
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        bool used = n->u.block->iter[i].kind == TG_ITER_REDUCE || has_extent_one(n, n->u.block->iter[i].var);
        for (uint32_t k = 0; k < store->u.buf->ndim; ++k)
            used = used || at[k] == n->u.block->iter[i].var;
        if (!used)
            return tg_sched_refuse(s, "block %s stores each element more than once", name_of(block));
    }
    return true;
}

/* Whether something between @p from and @p to (not included) writes what @p block reads, or its result. */
static bool check_between(tg_sched *s, const tg_nest *block, const tg_nest *from, const tg_nest *to)
{
    for (const tg_nest *n = tg_nest_next(from, s->top); n != NULL && n != to; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block)
            continue;
        if (tg_block_writes(s->cx, n->node, tg_block_output(block->node)))
            return tg_sched_refuse(s, "%s is written again before it is read", tg_block_output(block->node)->name->text);
        for (uint32_t i = 0; i < block->node->u.block->nreads; ++i)
            if (tg_block_writes(s->cx, n->node, block->node->u.block->read[i]))
                return tg_sched_refuse(s, "%s changes before %s is read", block->node->u.block->read[i]->name->text, name_of(block));
    }
    return true;
}

/* Whether anything in @p where writes what @p block reads. */
static bool check_writes(tg_sched *s, const tg_nest *block, const tg_nest *where)
{
    for (const tg_nest *n = where; n != NULL; n = tg_nest_next(n, where))
        for (uint32_t i = 0; n->node != NULL && i < block->node->u.block->nreads; ++i)
            if (tg_block_writes(s->cx, n->node, block->node->u.block->read[i]))
                return tg_sched_refuse(s, "%s changes while %s is needed", block->node->u.block->read[i]->name->text, name_of(block));
    return true;
}

/* ---- inline ---- */

typedef struct inlining { const tg_node *store; const tg_var *at[TG_MAX_NDIM]; const tg_buffer *b; const tg_node *block; } inlining;

static const tg_node *inline_load(tg_ctx *cx, const tg_node *n, void *user)
{
    inlining *in = user;
    if (n->kind != TG_LOAD || n->u.buf != in->b)
        return n;
    tg_subst by = { { 0 }, { 0 } };
    for (uint32_t i = 0; i < in->block->u.block->niters; ++i)       /* those of extent 1 that are no index */
        tg_subst_var(cx, &by, in->block->u.block->iter[i].var, tg_int(cx, in->block->u.block->iter[i].var->type->dtype, 0));
    for (uint32_t k = 0; k < in->b->ndim; ++k)
        if (in->at[k] != NULL)
            tg_subst_var(cx, &by, in->at[k], tg_cast(cx, in->at[k]->type->dtype, n->kid[k]));
    return tg_freshen(cx, tg_substitute(cx, in->store->kid[0], &by));
}

bool tg_s_inline(tg_sched *s, tg_nest *block)
{
    tg_ctx *cx = s->cx;
    if (!check_block(s, block))
        return false;
    if (!tg_block_is_complete(cx, block->node) || tg_block_body(block->node)->kind != TG_STORE)
        return tg_sched_refuse(s, "block %s does more than store one value for each element", name_of(block));
    inlining in = { .store = tg_block_store(cx, block->node), .block = block->node };
    in.b = in.store->u.buf;
    if (!is_private(s, in.b))
        return tg_sched_refuse(s, "%s is seen outside of the function", in.b->name->text);
    if (!tg_nest_is_plain(s, block))
        return tg_sched_refuse(s, "the loops of block %s are taken apart", name_of(block));
    if (!check_indices(s, block, in.at))
        return false;
    const tg_nest *last = NULL;
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block || !tg_block_reads(cx, n->node, in.b))
            continue;
        if (n->kind != TG_NEST_BLOCK || n->node->u.block->nmatches > 0)
            return tg_sched_refuse(s, "%s is read outside of simple blocks", in.b->name->text);
        last = n;
    }
    if (last != NULL && (!check_between(s, block, block, last) || !check_writes(s, block, last)))
        return false;
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->kind != TG_NEST_BLOCK || n == block || !tg_block_reads(cx, n->node, in.b))
            continue;
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
typedef struct interval { tg_linear base; int64_t lo, hi; bool whole; } interval;
typedef struct reading {
    tg_sched *s;
    const tg_buffer *b;
    tg_nest *loop, *reader;
    tg_subst bound;                 /* the reader's iterators by their bindings */
    tg_ranges ranges;
    interval at[TG_MAX_NDIM];
    uint32_t count;
} reading;

static bool is_inner_loop(const reading *r, const tg_var *v)
{
    for (const tg_nest *p = r->reader->parent; p != NULL && p != r->loop; p = p->parent)
        if (p->kind == TG_NEST_LOOP && p->var == v)
            return true;
    return false;
}

static bool is_outer_loop(const reading *r, const tg_var *v)
{
    for (const tg_nest *p = r->loop; p != NULL; p = p->parent)
        if (p->kind == TG_NEST_LOOP && p->var == v)
            return true;
    return false;
}

static interval interval_of(reading *r, const tg_node *index)
{
    tg_ctx *cx = r->s->cx;
    interval e = { .whole = true };
    tg_linear all;
    if (!tg_linear_of(cx, tg_substitute(cx, index, &r->bound), &all))
        return e;
    tg_range span = { all.c0, all.c0 };
    tg_linear_clear(&e.base, all.dtype, 0);
    for (uint32_t i = 0; i < all.n; ++i) {
        const tg_node *x = all.x[i];
        if (x->kind == TG_VAR && is_outer_loop(r, x->u.var)) {
            if (!tg_linear_add_term(cx, &e.base, x, all.c[i]))
                return e;
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
    if (n->kind != TG_LOAD || n->u.buf != r->b)
        return true;
    for (uint32_t k = 0; k < r->b->ndim; ++k) {
        interval e = interval_of(r, n->kid[k]);
        if (r->count == 0)
            r->at[k] = e;
        else
            join(r, &r->at[k], &e);
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
    if (!tg_buffer_dims(r->b, dim))
        return;
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
        for (uint32_t k = 0; k < r->b->ndim; ++k)
            e = index[k] == p.iter[i].var ? &r->at[k] : e;
        DLDataType d = p.iter[i].var->type->dtype;
        int64_t extent = e != NULL ? e->hi - e->lo + 1 : p.iter[i].extent->u.i;
        const tg_nest *old = tg_nest_loop_of(s, block, p.iter[i].var);
        tg_linear value;
        tg_linear_clear(&value, d, e != NULL ? e->lo : 0);
        if (e != NULL)
            tg_linear_add(cx, &value, &e->base, 1);
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
        if (span.lo < 0)
            c = tg_bin(cx, TG_GE, p.iter[i].binding, tg_int(cx, d, 0));
        if (span.hi >= p.iter[i].extent->u.i) {
            const tg_node *below = tg_bin(cx, TG_LT, p.iter[i].binding, tg_int(cx, d, p.iter[i].extent->u.i));
            c = c == NULL ? below : tg_bin(cx, TG_AND, c, below);
        }
        if (c != NULL)
            inside = inside == NULL ? c : tg_bin(cx, TG_AND, inside, c);
    }
    p.predicate = inside;
    tg_nest *moved = tg_nest_block(s, tg_block_new(cx, &p));
    tg_nest_add(s, inner, inner == r->loop ? at : 0, moved);
    tg_nest_remove(block);
    block->node = moved->node;                      /* the caller's pointer stays the block */
    moved->parent->kid.at[tg_nest_index(moved)] = block;
    block->parent = moved->parent;
}

static bool check_constant_domains(tg_sched *s, const tg_nest *block)
{
    for (uint32_t i = 0; i < block->node->u.block->niters; ++i)
        if (!tg_is_int_const(block->node->kid[3 * i], 0) || block->node->kid[3 * i + 1]->kind != TG_INT)
            return tg_sched_refuse(s, "an iterator of block %s has no constant domain from 0", name_of(block));
    return true;
}

bool tg_s_compute_at(tg_sched *s, tg_nest *block, tg_nest *loop)
{
    tg_ctx *cx = s->cx;
    const tg_var *index[TG_MAX_NDIM];
    if (!check_block(s, block))
        return false;
    if (loop->kind != TG_NEST_LOOP || tg_nest_under(block, loop))
        return tg_sched_refuse(s, "block %s stands in that loop already", name_of(block));
    if (!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node))
        return tg_sched_refuse(s, "block %s cannot be computed in parts", name_of(block));
    reading r = { .s = s, .b = tg_block_output(block->node), .loop = loop };
    if (!is_private(s, r.b))
        return tg_sched_refuse(s, "%s is seen outside of the function", r.b->name->text);
    if (!tg_nest_is_plain(s, block))
        return tg_sched_refuse(s, "the loops of block %s are taken apart", name_of(block));
    if (!check_constant_domains(s, block) || !check_indices(s, block, index))
        return false;
    const tg_nest *first = NULL;
    tg_sched_ranges(s, &r.ranges);
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block || !tg_block_reads(cx, n->node, r.b))
            continue;
        if (n->kind != TG_NEST_BLOCK || !tg_nest_under(n, loop))
            return tg_sched_refuse(s, "%s is read outside of loop %s", r.b->name->text, loop->var->name->text);
        first = first == NULL ? n : first;
        r.reader = n;
        bind_iterators(cx, n->node, &r.bound);
        tg_visit(cx, tg_block_body(n->node), read_access, &r);
        if (tg_block_init(n->node) != NULL)
            tg_visit(cx, tg_block_init(n->node), read_access, &r);
    }
    if (first == NULL || r.count == 0)
        return tg_sched_refuse(s, "nobody reads %s", r.b->name->text);
    if (!check_between(s, block, block, first) || !check_writes(s, block, loop))
        return false;
    clip(&r);
    size_t at = 0;
    while (!tg_nest_under(first, loop->kid.at[at]))
        ++at;
    place_block(s, block, &r, index, at);
    return true;
}

/* ---- cache_write ---- */

tg_nest *tg_s_cache_write(tg_sched *s, tg_nest *block, const char *hint)
{
    tg_ctx *cx = s->cx;
    if (!check_block(s, block))
        return NULL;
    if (!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node)) {
        tg_sched_refuse(s, "block %s does more than compute one buffer", name_of(block));
        return NULL;
    }
    const tg_node *store = tg_block_store(cx, block->node);
    const tg_buffer *to = store->u.buf;
    const tg_var *index[TG_MAX_NDIM];
    int64_t dim[TG_MAX_NDIM];
    if (!tg_nest_is_plain(s, block) || !tg_buffer_dims(to, dim)) {
        tg_sched_refuse(s, "the loops of block %s are taken apart", name_of(block));
        return NULL;
    }
    if (!check_indices(s, block, index))
        return NULL;
    const tg_buffer *local = new_buffer(s, to, hint, to->ndim, to->shape);
    tg_subst by = { { 0 }, { 0 } };
    tg_subst_buf(cx, &by, to, local);
    block->node = tg_substitute(cx, block->node, &by);

    tg_block_parts p = { .name = tg_sched_name(s, to->name->text), .span = block->node->span };
    p.iter = TG_ARRAY(cx, struct tg_iter_part, to->ndim);
    const tg_node **at = TG_ARRAY(cx, const tg_node *, to->ndim);
    tg_nest *top = NULL, *inner = NULL;
    for (uint32_t k = 0; k < to->ndim; ++k) {
        if (index[k] == NULL) {
            at[k] = tg_int(cx, tg_dtype_of(store->kid[k + 1]), 0);
            continue;
        }
        const tg_nest *old = tg_nest_loop_of(s, block, index[k]);
        tg_nest *loop = tg_nest_loop(s, tg_sched_var(s, old->var, ""), old->extent);
        if (inner != NULL)
            tg_nest_add(s, inner, 0, loop);
        inner = loop;
        top = top == NULL ? loop : top;
        const tg_var *v = tg_sched_var(s, index[k], "");
        const tg_node *zero = tg_int(cx, v->type->dtype, 0);
        p.iter[p.niters++] = (struct tg_iter_part){ v, TG_ITER_SPATIAL, zero, tg_int(cx, v->type->dtype, old->extent), tg_var_ref(cx, loop->var) };
        at[k] = tg_var_ref(cx, v);
    }
    p.body = tg_store(cx, to, tg_load(cx, local, to->ndim, at), to->ndim, at);
    tg_nest *copy = tg_nest_block(s, tg_block_reparted(cx, &p)), *outermost = block;
    if (inner != NULL)
        tg_nest_add(s, inner, 0, copy);
    while (outermost->parent->kind == TG_NEST_LOOP)
        outermost = outermost->parent;
    tg_nest_add(s, outermost->parent, tg_nest_index(outermost) + 1, top != NULL ? top : copy);
    return copy;
}

/* ---- duplicate ---- */

tg_nest *tg_s_duplicate(tg_sched *s, tg_nest *block, tg_nest *reader)
{
    tg_ctx *cx = s->cx;
    if (!check_block(s, block) || !check_block(s, reader))
        return NULL;
    const tg_buffer *b = tg_block_output(block->node);
    if ((!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node)) || !tg_nest_is_plain(s, block)) {
        tg_sched_refuse(s, "block %s is not a plain one", name_of(block));
        return NULL;
    }
    tg_nest *top = block;
    while (top->parent->kind == TG_NEST_LOOP)
        top = top->parent;
    if (!is_private(s, b) || tg_nest_under(reader, top) || !tg_block_reads(cx, reader->node, b) || tg_block_writes(cx, reader->node, b)) {
        tg_sched_refuse(s, "block %s cannot have a copy of %s of its own", name_of(reader), b->name->text);
        return NULL;
    }
    const tg_buffer *own = new_buffer(s, b, b->name->text, b->ndim, b->shape);
    tg_nest *loops[TG_MAX_LOOPS], *inner = NULL, *first = NULL;
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    tg_subst by = { { 0 }, { 0 } };
    tg_subst_buf(cx, &by, b, own);
    for (int i = 0; i < n; ++i) {
        tg_nest *copy = tg_nest_loop(s, tg_sched_var(s, loops[i]->var, ""), loops[i]->extent);
        tg_subst_var(cx, &by, loops[i]->var, tg_var_ref(cx, copy->var));
        if (inner != NULL)
            tg_nest_add(s, inner, 0, copy);
        inner = copy;
        first = first == NULL ? copy : first;
    }
    tg_block_parts p = tg_block_open(cx, tg_freshen(cx, tg_substitute(cx, block->node, &by)));
    p.name = tg_sched_name(s, p.name->text);
    tg_nest *made = tg_nest_block(s, tg_block_new(cx, &p));
    if (inner != NULL)
        tg_nest_add(s, inner, 0, made);
    tg_nest_add(s, top->parent, tg_nest_index(top) + 1, first != NULL ? first : made);
    tg_subst reads = { { 0 }, { 0 } };
    tg_subst_buf(cx, &reads, b, own);
    reader->node = tg_substitute(cx, reader->node, &reads);
    return made;
}

/* ---- decompose ---- */

/* Whether a reduce iterator's binding mentions the loop. */
static bool is_reduce_loop(tg_ctx *cx, const tg_node *block, const tg_var *loop, enum tg_iter_kind kind)
{
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].kind == kind && tg_uses_var(cx, block->kid[3 * i + 2], loop))
            return true;
    return false;
}

/* Conditions on reduce loops do not concern the init; those on spatial loops do. */
static bool split_predicate(tg_sched *s, const tg_nest *block, const tg_node *predicate, unsigned depth, const tg_node **kept)
{
    tg_nest *loop[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loop, TG_MAX_LOOPS);
    bool reduce = false, spatial = false;
    for (int i = 0; i < n; ++i) {
        if (!tg_uses_var(s->cx, predicate, loop[i]->var))
            continue;
        reduce = reduce || is_reduce_loop(s->cx, block->node, loop[i]->var, TG_ITER_REDUCE);
        spatial = spatial || is_reduce_loop(s->cx, block->node, loop[i]->var, TG_ITER_SPATIAL);
    }
    if (predicate->kind == TG_AND && reduce && spatial && depth > 0) {
        const tg_node *a = NULL, *b = NULL;
        if (!split_predicate(s, block, predicate->kid[0], depth - 1, &a) || !split_predicate(s, block, predicate->kid[1], depth - 1, &b))
            return false;
        *kept = a == NULL ? b : b == NULL ? a : tg_bin(s->cx, TG_AND, a, b);
        return true;
    }
    *kept = reduce ? NULL : predicate;
    return !(reduce && spatial);
}

tg_nest *tg_s_decompose(tg_sched *s, tg_nest *block, tg_nest *loop)
{
    tg_ctx *cx = s->cx;
    if (!check_block(s, block))
        return NULL;
    if (!tg_block_is_reduction(cx, block->node) || !tg_nest_under(block, loop) || loop->kind != TG_NEST_LOOP) {
        tg_sched_refuse(s, "block %s is no reduction inside of that loop", name_of(block));
        return NULL;
    }
    for (tg_nest *p = loop->parent; p != NULL; p = p->parent) {
        if (p->kind == TG_NEST_LOOP && is_reduce_loop(cx, block->node, p->var, TG_ITER_REDUCE)) {
            tg_sched_refuse(s, "%s reduces too, outside of %s", p->var->name->text, loop->var->name->text);
            return NULL;
        }
    }
    for (tg_nest *p = block->parent; p != loop->parent; p = p->parent) {
        if (p->kid.n != 1) {
            tg_sched_refuse(s, "%s holds more than block %s", p->var->name->text, name_of(block));
            return NULL;
        }
        if (is_reduce_loop(cx, block->node, p->var, TG_ITER_REDUCE) && is_reduce_loop(cx, block->node, p->var, TG_ITER_SPATIAL)) {
            tg_sched_refuse(s, "%s is spatial and reduces", p->var->name->text);
            return NULL;
        }
    }
    tg_block_parts p = tg_block_open(cx, block->node), q = p;
    if (!split_predicate(s, block, p.predicate, MAX_CONDITIONS, &q.predicate)) {
        tg_sched_refuse(s, "the predicate of block %s mixes loops", name_of(block));
        return NULL;
    }
    tg_nest *loops[TG_MAX_LOOPS], *top = NULL, *inner = NULL;
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    tg_subst by = { { 0 }, { 0 } };
    for (int i = 0; i < n; ++i) {
        if (!tg_nest_under(loops[i], loop) || !is_reduce_loop(cx, block->node, loops[i]->var, TG_ITER_SPATIAL))
            continue;
        tg_nest *copy = tg_nest_loop(s, tg_sched_var(s, loops[i]->var, ""), loops[i]->extent);
        tg_subst_var(cx, &by, loops[i]->var, tg_var_ref(cx, copy->var));
        if (inner != NULL)
            tg_nest_add(s, inner, 0, copy);
        inner = copy;
        top = top == NULL ? copy : top;
    }
    q.name = tg_sched_name(s, tg_format(cx, "%s_init", name_of(block)));
    q.niters = 0;
    for (uint32_t i = 0; i < p.niters; ++i)
        if (p.iter[i].kind != TG_ITER_REDUCE)
            q.iter[q.niters++] = p.iter[i];
    q.body = p.init;
    q.init = NULL;
    const tg_node *init = tg_freshen(cx, tg_substitute(cx, tg_block_reparted(cx, &q), &by));
    p = tg_block_open(cx, block->node);
    p.init = NULL;
    block->node = tg_block_reparted(cx, &p);
    tg_nest *made = tg_nest_block(s, init);
    if (inner != NULL)
        tg_nest_add(s, inner, 0, made);
    tg_nest_add(s, loop->parent, tg_nest_index(loop), top != NULL ? top : made);
    return made;
}

/* ---- rfactor ---- */

/* The store's value is op(old, rest) or op(rest, old) with op + max min; side: where old stands. */
static const tg_node *combiner(tg_sched *s, const tg_nest *block, uint32_t *side)
{
    const tg_node *store = tg_block_store(s->cx, block->node), *v = store->kid[0];
    if (tg_block_body(block->node)->kind == TG_STORE && (v->kind == TG_ADD || v->kind == TG_MAX || v->kind == TG_MIN)) {
        for (*side = 0; *side < 2; ++*side)
            if (v->kid[*side]->kind == TG_LOAD && v->kid[*side]->u.buf == store->u.buf && !tg_block_reads(s->cx, v->kid[1 - *side], store->u.buf))
                return v;
    }
    tg_sched_refuse(s, "block %s does not combine with +, max or min", name_of(block));
    return NULL;
}

static bool check_factor_loops(tg_sched *s, tg_nest *block, const tg_nest *loop)
{
    tg_nest *loops[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    for (int i = 0; i < n; ++i) {
        bool reduce = is_reduce_loop(s->cx, block->node, loops[i]->var, TG_ITER_REDUCE);
        if (loops[i]->kid.n != 1 || (reduce && is_reduce_loop(s->cx, block->node, loops[i]->var, TG_ITER_SPATIAL)))
            return tg_sched_refuse(s, "the loops of block %s serve more than one purpose", name_of(block));
        if (loops[i] == loop && !reduce)
            return tg_sched_refuse(s, "%s does not reduce", loop->var->name->text);
    }
    if (!tg_is_int_const(block->node->kid[3 * block->node->u.block->niters], 1))
        return tg_sched_refuse(s, "block %s has a predicate: some partial results might never begin", name_of(block));
    for (uint32_t i = 0; i < block->node->u.block->niters; ++i) {
        const tg_nest *l = tg_nest_loop_of(s, block, block->node->u.block->iter[i].var);
        bool plain = l != NULL && tg_is_int_const(block->node->kid[3 * i], 0) && tg_is_int_const(block->node->kid[3 * i + 1], l->extent);
        if (block->node->u.block->iter[i].kind == TG_ITER_SPATIAL && !plain)
            return tg_sched_refuse(s, "the spatial loops of block %s are taken apart", name_of(block));
    }
    return n > 0 || tg_sched_refuse(s, "block %s has no loops", name_of(block));
}

static const tg_node *with_index(tg_ctx *cx, const tg_node *store, const tg_buffer *b, const tg_node *last, const tg_node *value)
{
    const tg_node **at = TG_ARRAY(cx, const tg_node *, b->ndim);
    for (uint32_t k = 0; k + 1 < b->ndim; ++k)
        at[k] = store->kid[k + 1];
    at[b->ndim - 1] = last;
    return value == NULL ? tg_load(cx, b, b->ndim, at) : tg_store(cx, b, value, b->ndim, at);
}

static const tg_node *combine(tg_ctx *cx, const tg_node *op, uint32_t side, const tg_node *old, const tg_node *rest)
{
    return tg_bin(cx, (enum tg_kind)op->kind, side == 0 ? old : rest, side == 0 ? rest : old);
}

/* The block of partial results: each reduce loop becomes an iterator, the factored one a spatial one. */
static const tg_node *partial_block(tg_sched *s, tg_nest *block, const tg_nest *loop, const tg_buffer *rf, const tg_node *op, uint32_t side)
{
    tg_ctx *cx = s->cx;
    tg_block_parts old = tg_block_open(cx, block->node), p = old;
    tg_nest *loops[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    tg_subst by = { { 0 }, { 0 } };
    const tg_node *lane = NULL;
    p.iter = TG_ARRAY(cx, struct tg_iter_part, old.niters + (uint32_t)n);
    p.niters = 0;
    for (uint32_t i = 0; i < old.niters; ++i)
        if (old.iter[i].kind != TG_ITER_REDUCE)
            p.iter[p.niters++] = old.iter[i];
    for (int i = 0; i < n; ++i) {
        if (!is_reduce_loop(cx, block->node, loops[i]->var, TG_ITER_REDUCE))
            continue;
        const tg_var *v = tg_var_new(cx, tg_internf(cx, "v_%s", loops[i]->var->name->text), loops[i]->var->type);
        DLDataType d = v->type->dtype;
        p.iter[p.niters++] = (struct tg_iter_part){ v, loops[i] == loop ? TG_ITER_SPATIAL : TG_ITER_REDUCE, tg_int(cx, d, 0),
                                                    tg_int(cx, d, loops[i]->extent), tg_var_ref(cx, loops[i]->var) };
        tg_subst_var(cx, &by, loops[i]->var, tg_var_ref(cx, v));
        lane = loops[i] == loop ? tg_var_ref(cx, v) : lane;
    }
    for (uint32_t i = 0; i < old.niters; ++i)
        if (old.iter[i].kind == TG_ITER_REDUCE)
            tg_subst_var(cx, &by, old.iter[i].var, tg_substitute(cx, old.iter[i].binding, &by));
    const tg_node *store = tg_block_store(cx, block->node);
    DLDataType d = rf->dtype;
    const tg_node *start = op->kind == TG_ADD ? tg_const(cx, d, 0) : old.init->kid[0];  /* max and min may start there again */
    p.name = tg_sched_name(s, tg_format(cx, "%s_part", old.name->text));
    p.init = with_index(cx, store, rf, lane, start);
    p.body = with_index(cx, store, rf, lane, combine(cx, op, side, with_index(cx, store, rf, lane, NULL),
                                                     tg_substitute(cx, op->kid[1 - side], &by)));
    return tg_freshen(cx, tg_block_reparted(cx, &p));
}

tg_nest *tg_s_rfactor(tg_sched *s, tg_nest *block, tg_nest *loop, const char *hint)
{
    tg_ctx *cx = s->cx;
    uint32_t side;
    if (!check_block(s, block))
        return NULL;
    if (loop->kind != TG_NEST_LOOP || !tg_nest_under(block, loop) || !tg_block_is_reduction(cx, block->node)) {
        tg_sched_refuse(s, "block %s is no reduction inside of that loop", name_of(block));
        return NULL;
    }
    const tg_node *op = combiner(s, block, &side), *store = tg_block_store(cx, block->node);
    if (op == NULL || !check_factor_loops(s, block, loop))
        return NULL;
    uint32_t ndim = store->u.buf->ndim;
    if (ndim + 1 > TG_MAX_NDIM) {
        tg_sched_refuse(s, "%s has no room for another dimension", store->u.buf->name->text);
        return NULL;
    }
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, ndim + 1);
    for (uint32_t k = 0; k < ndim; ++k)
        shape[k] = store->u.buf->shape[k];
    shape[ndim] = tg_int(cx, loop->var->type->dtype, loop->extent);
    const tg_buffer *rf = new_buffer(s, store->u.buf, hint, ndim + 1, shape);
    tg_nest *part = tg_nest_block(s, partial_block(s, block, loop, rf, op, side)), *outermost = block;
    while (outermost->parent->kind == TG_NEST_LOOP)
        outermost = outermost->parent;

    tg_block_parts p = tg_block_open(cx, block->node);
    struct tg_iter_part *iter = TG_ARRAY(cx, struct tg_iter_part, p.niters + 1);
    tg_nest *top = NULL, *inner = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i <= p.niters; ++i) {
        bool last = i == p.niters;
        if (!last && p.iter[i].kind == TG_ITER_REDUCE)
            continue;
        const tg_nest *from = last ? loop : tg_nest_loop_of(s, block, p.iter[i].var);
        tg_nest *now = tg_nest_loop(s, tg_sched_var(s, from->var, ""), from->extent);
        const tg_var *v = last ? tg_var_new(cx, tg_internf(cx, "v_%s", from->var->name->text), from->var->type) : p.iter[i].var;
        iter[n++] = (struct tg_iter_part){ v, last ? TG_ITER_REDUCE : TG_ITER_SPATIAL, tg_int(cx, v->type->dtype, 0),
                                           tg_int(cx, v->type->dtype, from->extent), tg_var_ref(cx, now->var) };
        if (inner != NULL)
            tg_nest_add(s, inner, 0, now);
        inner = now;
        top = top == NULL ? now : top;
    }
    const tg_node *lane = tg_var_ref(cx, iter[n - 1].var);
    const tg_node *value = combine(cx, op, side, op->kid[side], with_index(cx, store, rf, lane, NULL));
    p.iter = iter;
    p.niters = n;
    p.predicate = NULL;
    p.body = tg_store(cx, store->u.buf, value, ndim, store->kid + 1);
    block->parent->kid.at[tg_nest_index(block)] = part;
    part->parent = block->parent;
    block->node = tg_block_reparted(cx, &p);
    tg_nest_add(s, inner, 0, block);
    tg_nest_add(s, outermost->parent, tg_nest_index(outermost) + 1, top);
    return part;
}
