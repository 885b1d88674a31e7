/* block_checks.h: for the primitives on blocks alone. Each check that fails says why in s->why. */
#ifndef TG_BLOCK_CHECKS_H
#define TG_BLOCK_CHECKS_H

#include "primitives.h"

const char *tg_s_name(const tg_nest *block);
bool tg_s_check_block(tg_sched *s, const tg_nest *n);
/* A buffer that only this function sees, allocated by its root block. */
bool tg_s_is_private(const tg_sched *s, const tg_buffer *b);
/* Another one, compact, with the element type of @p like. */
const tg_buffer *tg_s_new_buffer(tg_sched *s, const tg_buffer *like, const char *hint, uint32_t ndim,
                                 const tg_node *const *shape);
/* The store's indices are spatial iterators, each once; what is left over has extent 1. at[k]: the iterator of dimension k,
 * NULL where the index is the constant 0. */
bool tg_s_check_indices(tg_sched *s, const tg_nest *block, const tg_var **at);

#endif
