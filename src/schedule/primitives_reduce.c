/* primitives_reduce.c: decompose and rfactor: reductions in two steps. */
#include "block_checks.h"

enum { MAX_CONDITIONS = 16 }; /* of one predicate */

/* ---- decompose ---- */

/* Whether a reduce iterator's binding mentions the loop. */
static bool is_reduce_loop(tg_ctx *cx, const tg_node *block, const tg_var *loop, enum tg_iter_kind kind)
{
    for (uint32_t i = 0; i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].kind == kind && tg_uses_var(cx, block->kid[3 * i + 2], loop)) return true;
    return false;
}

/* Conditions on reduce loops do not concern the init; those on spatial loops do. */
static bool split_predicate(tg_sched *s, const tg_nest *block, const tg_node *predicate, unsigned depth,
                            const tg_node **kept)
{
    tg_nest *loop[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loop, TG_MAX_LOOPS);
    bool reduce = false, spatial = false;
    for (int i = 0; i < n; ++i) {
        if (!tg_uses_var(s->cx, predicate, loop[i]->var)) continue;
        reduce = reduce || is_reduce_loop(s->cx, block->node, loop[i]->var, TG_ITER_REDUCE);
        spatial = spatial || is_reduce_loop(s->cx, block->node, loop[i]->var, TG_ITER_SPATIAL);
    }
    if (predicate->kind == TG_AND && reduce && spatial && depth > 0) {
        const tg_node *a = NULL, *b = NULL;
        if (!split_predicate(s, block, predicate->kid[0], depth - 1, &a) ||
            !split_predicate(s, block, predicate->kid[1], depth - 1, &b))
            return false;
        *kept = a == NULL ? b : b == NULL ? a : tg_bin(s->cx, TG_AND, a, b);
        return true;
    }
    *kept = reduce ? NULL : predicate;
    return !(reduce && spatial);
}

/* All reduce loops stand in @p loop, nothing else does, and none of them is spatial too. */
static bool check_decompose(tg_sched *s, const tg_nest *block, const tg_nest *loop)
{
    tg_ctx *cx = s->cx;
    if (loop->kind != TG_NEST_LOOP || !tg_nest_under(block, loop) || !tg_block_is_reduction(cx, block->node))
        return tg_sched_refuse(s, "block %s is no reduction inside of that loop", tg_s_name(block));
    for (const tg_nest *p = loop->parent; p != NULL; p = p->parent)
        if (p->kind == TG_NEST_LOOP && is_reduce_loop(cx, block->node, p->var, TG_ITER_REDUCE))
            return tg_sched_refuse(s, "%s reduces too, outside of %s", p->var->name->text, loop->var->name->text);
    for (const tg_nest *p = block->parent; p != loop->parent; p = p->parent) {
        if (p->kid.n != 1)
            return tg_sched_refuse(s, "%s holds more than block %s", p->var->name->text, tg_s_name(block));
        if (is_reduce_loop(cx, block->node, p->var, TG_ITER_REDUCE) &&
            is_reduce_loop(cx, block->node, p->var, TG_ITER_SPATIAL))
            return tg_sched_refuse(s, "%s is spatial and reduces", p->var->name->text);
    }
    return true;
}

/* The init as a block over the spatial iterators alone, with the loop variables it has now. */
static const tg_node *init_block(tg_sched *s, const tg_nest *block, const tg_node *predicate)
{
    tg_block_parts p = tg_block_open(s->cx, block->node);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p.niters; ++i)
        if (p.iter[i].kind != TG_ITER_REDUCE) p.iter[n++] = p.iter[i];
    p.niters = n;
    p.name = tg_sched_name(s, tg_format(s->cx, "%s_init", tg_s_name(block)));
    p.predicate = predicate;
    p.body = p.init;
    p.init = NULL;
    return tg_block_reparted(s->cx, &p);
}

tg_nest *tg_s_decompose(tg_sched *s, tg_nest *block, tg_nest *loop)
{
    tg_ctx *cx = s->cx;
    if (!tg_s_check_block(s, block) || !check_decompose(s, block, loop)) return NULL;
    tg_block_parts p = tg_block_open(cx, block->node);
    const tg_node *predicate = NULL;
    if (!split_predicate(s, block, p.predicate, MAX_CONDITIONS, &predicate)) {
        tg_sched_refuse(s, "the predicate of block %s mixes loops", tg_s_name(block));
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
        if (inner != NULL) tg_nest_add(s, inner, 0, copy);
        inner = copy;
        top = top == NULL ? copy : top;
    }
    tg_nest *made = tg_nest_block(s, tg_freshen(cx, tg_substitute(cx, init_block(s, block, predicate), &by)));
    p.init = NULL;
    block->node = tg_block_reparted(cx, &p);
    if (inner != NULL) tg_nest_add(s, inner, 0, made);
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
            if (v->kid[*side]->kind == TG_LOAD && v->kid[*side]->u.buf == store->u.buf &&
                !tg_block_reads(s->cx, v->kid[1 - *side], store->u.buf))
                return v;
    }
    tg_sched_refuse(s, "block %s does not combine with +, max or min", tg_s_name(block));
    return NULL;
}

static bool check_factor_loops(tg_sched *s, tg_nest *block, const tg_nest *loop)
{
    tg_nest *loops[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    for (int i = 0; i < n; ++i) {
        bool reduce = is_reduce_loop(s->cx, block->node, loops[i]->var, TG_ITER_REDUCE);
        if (loops[i]->kid.n != 1 || (reduce && is_reduce_loop(s->cx, block->node, loops[i]->var, TG_ITER_SPATIAL)))
            return tg_sched_refuse(s, "the loops of block %s serve more than one purpose", tg_s_name(block));
        if (loops[i] == loop && !reduce) return tg_sched_refuse(s, "%s does not reduce", loop->var->name->text);
    }
    if (!tg_is_int_const(block->node->kid[3 * block->node->u.block->niters], 1))
        return tg_sched_refuse(s, "block %s has a predicate: some partial results might never begin", tg_s_name(block));
    for (uint32_t i = 0; i < block->node->u.block->niters; ++i) {
        const tg_nest *l = tg_nest_loop_of(s, block, block->node->u.block->iter[i].var);
        bool plain = l != NULL && tg_is_int_const(block->node->kid[3 * i], 0) &&
                     tg_is_int_const(block->node->kid[3 * i + 1], l->extent);
        if (block->node->u.block->iter[i].kind == TG_ITER_SPATIAL && !plain)
            return tg_sched_refuse(s, "the spatial loops of block %s are taken apart", tg_s_name(block));
    }
    return n > 0 || tg_sched_refuse(s, "block %s has no loops", tg_s_name(block));
}

static const tg_node *with_index(tg_ctx *cx, const tg_node *store, const tg_buffer *b, const tg_node *last,
                                 const tg_node *value)
{
    const tg_node **at = TG_ARRAY(cx, const tg_node *, b->ndim);
    for (uint32_t k = 0; k + 1 < b->ndim; ++k) at[k] = store->kid[k + 1];
    at[b->ndim - 1] = last;
    return value == NULL ? tg_load(cx, b, b->ndim, at) : tg_store(cx, b, value, b->ndim, at);
}

static const tg_node *combine(tg_ctx *cx, const tg_node *op, uint32_t side, const tg_node *old, const tg_node *rest)
{
    return tg_bin(cx, (enum tg_kind)op->kind, side == 0 ? old : rest, side == 0 ? rest : old);
}

/* The block of partial results: each reduce loop becomes an iterator, the factored one a spatial one. */
static const tg_node *partial_block(tg_sched *s, tg_nest *block, const tg_nest *loop, const tg_buffer *rf,
                                    const tg_node *op, uint32_t side)
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
        if (old.iter[i].kind != TG_ITER_REDUCE) p.iter[p.niters++] = old.iter[i];
    for (int i = 0; i < n; ++i) {
        if (!is_reduce_loop(cx, block->node, loops[i]->var, TG_ITER_REDUCE)) continue;
        const tg_var *v = tg_var_new(cx, tg_internf(cx, "v_%s", loops[i]->var->name->text), loops[i]->var->type);
        DLDataType d = v->type->dtype;
        p.iter[p.niters++] =
            (struct tg_iter_part){ v, loops[i] == loop ? TG_ITER_SPATIAL : TG_ITER_REDUCE, tg_int(cx, d, 0),
                                   tg_int(cx, d, loops[i]->extent), tg_var_ref(cx, loops[i]->var) };
        tg_subst_var(cx, &by, loops[i]->var, tg_var_ref(cx, v));
        lane = loops[i] == loop ? tg_var_ref(cx, v) : lane;
    }
    for (uint32_t i = 0; i < old.niters; ++i)
        if (old.iter[i].kind == TG_ITER_REDUCE)
            tg_subst_var(cx, &by, old.iter[i].var, tg_substitute(cx, old.iter[i].binding, &by));
    const tg_node *store = tg_block_store(cx, block->node);
    DLDataType d = rf->dtype;
    const tg_node *start =
        op->kind == TG_ADD ? tg_const(cx, d, 0) : old.init->kid[0]; /* max and min may start there again */
    p.name = tg_sched_name(s, tg_format(cx, "%s_part", old.name->text));
    p.init = with_index(cx, store, rf, lane, start);
    p.body = with_index(
        cx, store, rf, lane,
        combine(cx, op, side, with_index(cx, store, rf, lane, NULL), tg_substitute(cx, op->kid[1 - side], &by)));
    return tg_freshen(cx, tg_block_reparted(cx, &p));
}

/* The block as it reduces the partial results, in new loops behind @p outermost: its spatial ones and one over the lanes. */
static void final_block(tg_sched *s, tg_nest *block, const tg_nest *loop, tg_nest *outermost, const tg_buffer *rf,
                        const tg_node *op, uint32_t side)
{
    tg_ctx *cx = s->cx;
    tg_block_parts p = tg_block_open(cx, block->node);
    struct tg_iter_part *iter = TG_ARRAY(cx, struct tg_iter_part, p.niters + 1);
    tg_nest *top = NULL, *inner = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i <= p.niters; ++i) {
        bool last = i == p.niters;
        if (!last && p.iter[i].kind == TG_ITER_REDUCE) continue;
        const tg_nest *from = last ? loop : tg_nest_loop_of(s, block, p.iter[i].var);
        tg_nest *now = tg_nest_loop(s, tg_sched_var(s, from->var, ""), from->extent);
        const tg_var *v =
            last ? tg_var_new(cx, tg_internf(cx, "v_%s", from->var->name->text), from->var->type) : p.iter[i].var;
        DLDataType d = v->type->dtype;
        iter[n++] = (struct tg_iter_part){ v, last ? TG_ITER_REDUCE : TG_ITER_SPATIAL, tg_int(cx, d, 0),
                                           tg_int(cx, d, from->extent), tg_var_ref(cx, now->var) };
        if (inner != NULL) tg_nest_add(s, inner, 0, now);
        inner = now;
        top = top == NULL ? now : top;
    }
    const tg_node *store = tg_block_store(cx, block->node), *lane = tg_var_ref(cx, iter[n - 1].var);
    const tg_node *value = combine(cx, op, side, op->kid[side], with_index(cx, store, rf, lane, NULL));
    p.iter = iter;
    p.niters = n;
    p.predicate = NULL;
    p.body = tg_store(cx, store->u.buf, value, store->u.buf->ndim, store->kid + 1);
    block->node = tg_block_reparted(cx, &p);
    tg_nest_add(s, inner, 0, block);
    tg_nest_add(s, outermost->parent, tg_nest_index(outermost) + 1, top);
}

tg_nest *tg_s_rfactor(tg_sched *s, tg_nest *block, tg_nest *loop, const char *hint)
{
    tg_ctx *cx = s->cx;
    uint32_t side;
    if (!tg_s_check_block(s, block)) return NULL;
    if (loop->kind != TG_NEST_LOOP || !tg_nest_under(block, loop) || !tg_block_is_reduction(cx, block->node)) {
        tg_sched_refuse(s, "block %s is no reduction inside of that loop", tg_s_name(block));
        return NULL;
    }
    const tg_node *op = combiner(s, block, &side), *store = tg_block_store(cx, block->node);
    if (op == NULL || !check_factor_loops(s, block, loop)) return NULL;
    uint32_t ndim = store->u.buf->ndim;
    if (ndim + 1 > TG_MAX_NDIM) {
        tg_sched_refuse(s, "%s has no room for another dimension", store->u.buf->name->text);
        return NULL;
    }
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, ndim + 1);
    for (uint32_t k = 0; k < ndim; ++k) shape[k] = store->u.buf->shape[k];
    shape[ndim] = tg_int(cx, loop->var->type->dtype, loop->extent);
    const tg_buffer *rf = tg_s_new_buffer(s, store->u.buf, hint, ndim + 1, shape);
    tg_nest *part = tg_nest_block(s, partial_block(s, block, loop, rf, op, side)), *outermost = block->parent,
            *place = block->parent;
    size_t at = tg_nest_index(block);
    while (outermost->parent->kind == TG_NEST_LOOP) outermost = outermost->parent;
    final_block(s, block, loop, outermost, rf, op, side);
    place->kid.at[at] = part;
    part->parent = place;
    return part;
}
