/* bounds.h: ranges of all integer variables of a function, and what follows from them. */
#ifndef TG_BOUNDS_H
#define TG_BOUNDS_H

#include "ir/module.h"
#include "schedule/linear.h"

/* Loop variables, block iterators and lets of @p body, added to @p r. Variables from outside (parameters) stay unknown. */
void tg_bounds_collect(tg_ctx *cx, tg_ranges *r, const tg_node *body);

/* 1: @p cond holds whenever it is reached; 0: it never does; -1: not known. Differences of equal terms cancel first:
 * i*4 + j < i*4 + 4 holds for j in [0, 3]. */
int tg_bounds_decide(tg_ctx *cx, tg_ranges *r, const tg_node *cond);

/* simplify.c: one statement or expression with the ranges of everything bound inside known; used by other passes too. */
const tg_node *tg_simplify_node(tg_ctx *cx, const tg_node *root);

#endif
