/* place_alloc.h: where the memory of a block's buffer is allocated once blocks are loops, and how much of it. */
#ifndef TG_PLACE_ALLOC_H
#define TG_PLACE_ALLOC_H

#include "ir/module.h"

/* @p stmt with an allocation of @p b around the lowest statement that holds all its accesses and in which nothing is
 * carried from one iteration of a loop around it to the next; dimensions shrink to what is accessed there.
 * @p stmt itself when @p b is not accessed. */
const tg_node *tg_place_alloc(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b);

#endif
