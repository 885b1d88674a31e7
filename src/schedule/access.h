/* access.h: how far apart in memory the elements are that a block touches from one iteration to the next. */
#ifndef TG_ACCESS_H
#define TG_ACCESS_H

#include "nest.h"

/* One access of a block. flat: its element offset over the block's iterators, when linear is set. */
typedef struct tg_access {
    const tg_node *at; /* LOAD or STORE */
    const tg_buffer *buf;
    bool linear, store, own; /* own: of the buffer the block writes */
    tg_linear flat;
} tg_access;

enum { TG_MAX_ACCESSES = 24 };
typedef struct tg_accesses {
    uint32_t n;
    bool complete;
    tg_access at[TG_MAX_ACCESSES];
} tg_accesses;

/* The store first, then each load of the body once. complete: all were listed and the store is linear. */
void tg_block_accesses(tg_ctx *cx, const tg_node *block, tg_accesses *out);
/* Elements between neighbours along @p iter. */
static inline int64_t tg_access_stride(const tg_access *a, const tg_var *iter)
{
    return tg_linear_coef(&a->flat, iter);
}
bool tg_buffer_offset(tg_ctx *cx, const tg_buffer *b, const tg_node *const *index, tg_linear *out);

#endif
