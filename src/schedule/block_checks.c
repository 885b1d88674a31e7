/* block_checks.c: questions that primitives on blocks share, and the buffers they make. */
#include "block_checks.h"

const char *tg_s_name(const tg_nest *block)
{
    return block->node->u.block->name->text;
}

bool tg_s_check_block(tg_sched *s, const tg_nest *n)
{
    return n->kind == TG_NEST_BLOCK || tg_sched_refuse(s, "not a block");
}

/* A buffer that only this function sees, allocated by its root block. */
bool tg_s_is_private(const tg_sched *s, const tg_buffer *b)
{
    for (uint32_t i = 0; i < s->root.nallocs; ++i)
        if (s->root.alloc[i] == b) return true;
    return false;
}

const tg_buffer *tg_s_new_buffer(tg_sched *s, const tg_buffer *like, const char *hint, uint32_t ndim,
                                 const tg_node *const *shape)
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
    for (uint32_t i = 0; i < s->root.nallocs; ++i) alloc[i] = s->root.alloc[i];
    alloc[s->root.nallocs++] = b;
    s->root.alloc = alloc;
    return b;
}

/* The iterator that is index @p e, or NULL. */
static const tg_var *iterator_at(const tg_node *block, const tg_node *e)
{
    for (uint32_t i = 0; e->kind == TG_VAR && i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].var == e->u.var) return e->u.var;
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
bool tg_s_check_indices(tg_sched *s, const tg_nest *block, const tg_var **at)
{
    const tg_node *n = block->node, *store = tg_block_store(s->cx, n);
    for (uint32_t k = 0; k < store->u.buf->ndim; ++k) {
        at[k] = iterator_at(n, store->kid[k + 1]);
        bool zero = tg_is_int_const(store->kid[k + 1], 0) && tg_is_int_const(store->u.buf->shape[k], 1);
        if (at[k] == NULL && !zero)
            return tg_sched_refuse(s, "block %s does not store at its iterators alone", tg_s_name(block));
        for (uint32_t j = 0; at[k] != NULL && j < k; ++j)
            if (at[j] == at[k]) return tg_sched_refuse(s, "block %s stores along a diagonal", tg_s_name(block));
    }
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        bool used = n->u.block->iter[i].kind == TG_ITER_REDUCE || has_extent_one(n, n->u.block->iter[i].var);
        for (uint32_t k = 0; k < store->u.buf->ndim; ++k) used = used || at[k] == n->u.block->iter[i].var;
        if (!used) return tg_sched_refuse(s, "block %s stores each element more than once", tg_s_name(block));
    }
    return true;
}
