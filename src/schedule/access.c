/* access.c: accesses of a block as linear functions of its iterators. */
#include "access.h"

bool tg_buffer_offset(tg_ctx *cx, const tg_buffer *b, const tg_node *const *index, tg_linear *out)
{
    int64_t dim[TG_MAX_NDIM], stride = 1;
    if (b->strides != NULL || !tg_buffer_dims(b, dim)) return false;
    tg_linear_clear(out, b->ndim > 0 ? tg_dtype_of(index[0]) : TG_INT32, 0);
    for (uint32_t k = b->ndim; k-- > 0;) {
        tg_linear one;
        if (!tg_linear_of(cx, index[k], &one) || !tg_linear_add(cx, out, &one, stride)) return false;
        stride *= dim[k] > 0 ? dim[k] : 1; /* TG_MAX_ELEMENTS bounds the product of a valid buffer */
    }
    return true;
}

typedef struct listing {
    tg_accesses *out;
    const tg_buffer *own;
} listing;

static void add_access(tg_ctx *cx, listing *l, const tg_node *n, bool store)
{
    if (l->out->n == TG_MAX_ACCESSES) {
        l->out->complete = false;
        return;
    }
    tg_access *a = &l->out->at[l->out->n++];
    a->at = n;
    a->buf = n->u.buf;
    a->store = store;
    a->own = n->u.buf == l->own;
    a->linear = tg_buffer_offset(cx, n->u.buf, n->kid + store, &a->flat);
    for (uint32_t i = 0; a->linear && i < a->flat.n; ++i) a->linear = a->flat.x[i]->kind == TG_VAR;
}

static bool list(tg_ctx *cx, const tg_node *n, void *user)
{
    if (n->kind == TG_LOAD) add_access(cx, user, n, false);
    return true;
}

void tg_block_accesses(tg_ctx *cx, const tg_node *block, tg_accesses *out)
{
    const tg_node *store = tg_block_store(cx, block);
    out->n = 0;
    out->complete = store != NULL;
    if (store == NULL) return;
    listing l = { out, store->u.buf };
    add_access(cx, &l, store, true);
    out->complete = out->at[0].linear;
    tg_visit(cx, tg_block_body(block), list, &l);
}
