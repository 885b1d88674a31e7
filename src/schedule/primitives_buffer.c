/* primitives_buffer.c: cache_write, duplicate, relayout: what blocks write to. */
#include "block_checks.h"

/* ---- cache_write ---- */

tg_nest *tg_s_cache_write(tg_sched *s, tg_nest *block, const char *hint)
{
    tg_ctx *cx = s->cx;
    if (!tg_s_check_block(s, block)) return NULL;
    if (!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node)) {
        tg_sched_refuse(s, "block %s does more than compute one buffer", tg_s_name(block));
        return NULL;
    }
    const tg_node *store = tg_block_store(cx, block->node);
    const tg_buffer *to = store->u.buf;
    const tg_var *index[TG_MAX_NDIM];
    int64_t dim[TG_MAX_NDIM];
    if (!tg_nest_is_plain(s, block) || !tg_buffer_dims(to, dim)) {
        tg_sched_refuse(s, "the loops of block %s are taken apart", tg_s_name(block));
        return NULL;
    }
    if (!tg_s_check_indices(s, block, index)) return NULL;
    const tg_buffer *local = tg_s_new_buffer(s, to, hint, to->ndim, to->shape);
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
        if (inner != NULL) tg_nest_add(s, inner, 0, loop);
        inner = loop;
        top = top == NULL ? loop : top;
        const tg_var *v = tg_sched_var(s, index[k], "");
        const tg_node *zero = tg_int(cx, v->type->dtype, 0);
        p.iter[p.niters++] = (struct tg_iter_part){ v, TG_ITER_SPATIAL, zero, tg_int(cx, v->type->dtype, old->extent),
                                                    tg_var_ref(cx, loop->var) };
        at[k] = tg_var_ref(cx, v);
    }
    p.body = tg_store(cx, to, tg_load(cx, local, to->ndim, at), to->ndim, at);
    tg_nest *copy = tg_nest_block(s, tg_block_reparted(cx, &p)), *outermost = block;
    if (inner != NULL) tg_nest_add(s, inner, 0, copy);
    while (outermost->parent->kind == TG_NEST_LOOP) outermost = outermost->parent;
    tg_nest_add(s, outermost->parent, tg_nest_index(outermost) + 1, top != NULL ? top : copy);
    return copy;
}

/* ---- duplicate ---- */

tg_nest *tg_s_duplicate(tg_sched *s, tg_nest *block, tg_nest *reader)
{
    tg_ctx *cx = s->cx;
    if (!tg_s_check_block(s, block) || !tg_s_check_block(s, reader)) return NULL;
    const tg_buffer *b = tg_block_output(block->node);
    if ((!tg_block_is_complete(cx, block->node) && !tg_block_is_reduction(cx, block->node)) ||
        !tg_nest_is_plain(s, block)) {
        tg_sched_refuse(s, "block %s is not a plain one", tg_s_name(block));
        return NULL;
    }
    tg_nest *top = block;
    while (top->parent->kind == TG_NEST_LOOP) top = top->parent;
    if (!tg_s_is_private(s, b) || tg_nest_under(reader, top) || !tg_block_reads(cx, reader->node, b) ||
        tg_block_writes(cx, reader->node, b)) {
        tg_sched_refuse(s, "block %s cannot have a copy of %s of its own", tg_s_name(reader), b->name->text);
        return NULL;
    }
    const tg_buffer *own = tg_s_new_buffer(s, b, b->name->text, b->ndim, b->shape);
    tg_nest *loops[TG_MAX_LOOPS], *inner = NULL, *first = NULL;
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    tg_subst by = { { 0 }, { 0 } };
    tg_subst_buf(cx, &by, b, own);
    for (int i = 0; i < n; ++i) {
        tg_nest *copy = tg_nest_loop(s, tg_sched_var(s, loops[i]->var, ""), loops[i]->extent);
        tg_subst_var(cx, &by, loops[i]->var, tg_var_ref(cx, copy->var));
        if (inner != NULL) tg_nest_add(s, inner, 0, copy);
        inner = copy;
        first = first == NULL ? copy : first;
    }
    tg_block_parts p = tg_block_open(cx, tg_freshen(cx, tg_substitute(cx, block->node, &by)));
    p.name = tg_sched_name(s, p.name->text);
    tg_nest *made = tg_nest_block(s, tg_block_new(cx, &p));
    if (inner != NULL) tg_nest_add(s, inner, 0, made);
    tg_nest_add(s, top->parent, tg_nest_index(top) + 1, first != NULL ? first : made);
    tg_subst reads = { { 0 }, { 0 } };
    tg_subst_buf(cx, &reads, b, own);
    reader->node = tg_substitute(cx, reader->node, &reads);
    return made;
}

/* ---- relayout ---- */

typedef struct relaying {
    const tg_buffer *from, *to;
    uint32_t last;
} relaying;

static const tg_node *relay_access(tg_ctx *cx, const tg_node *n, void *user)
{
    relaying *r = user;
    if ((n->kind != TG_LOAD && n->kind != TG_STORE) || n->u.buf != r->from) return n;
    uint32_t skip = n->kind == TG_STORE, k = skip;
    const tg_node **kid = tg_copy(cx, n->kid, n->nkids * sizeof n->kid[0]);
    for (uint32_t d = 0; d < r->from->ndim; ++d)
        if (d != r->last) kid[k++] = n->kid[d + skip];
    kid[k] = n->kid[r->last + skip];
    return tg_node_new(cx, (enum tg_kind)n->kind, n->span, n->type, r->to, n->nkids, kid);
}

bool tg_s_relayout(tg_sched *s, tg_nest *block, uint32_t last)
{
    tg_ctx *cx = s->cx;
    if (!tg_s_check_block(s, block)) return false;
    const tg_buffer *b = tg_block_output(block->node);
    if (b == NULL || !tg_s_is_private(s, b) || last >= b->ndim)
        return tg_sched_refuse(s, "the result of block %s has a given form", tg_s_name(block));
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        bool touched = n->node != NULL && (tg_block_reads(cx, n->node, b) || tg_block_writes(cx, n->node, b));
        if (touched && (n->kind != TG_NEST_BLOCK || n->node->u.block->nmatches > 0))
            return tg_sched_refuse(s, "%s is used outside of simple blocks", b->name->text);
    }
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, b->ndim);
    uint32_t k = 0;
    for (uint32_t d = 0; d < b->ndim; ++d)
        if (d != last) shape[k++] = b->shape[d];
    shape[k] = b->shape[last];
    relaying r = { b, tg_s_new_buffer(s, b, b->name->text, b->ndim, shape), last };
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || (!tg_block_reads(cx, n->node, b) && !tg_block_writes(cx, n->node, b))) continue;
        tg_block_parts p = tg_block_open(cx, n->node);
        p.body = tg_rewrite_node(cx, p.body, relay_access, &r);
        p.init = p.init != NULL ? tg_rewrite_node(cx, p.init, relay_access, &r) : NULL;
        n->node = tg_block_reparted(cx, &p);
    }
    return true;
}
