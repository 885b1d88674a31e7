/* simplify.h: the parts of the simplify pass. Each takes a node whose operands are simplified already and returns it, or
 * a node of the same value. */
#ifndef TG_SIMPLIFY_H
#define TG_SIMPLIFY_H

#include "bounds.h"

typedef struct tg_simplify {
    tg_ctx *cx;
    tg_ranges ranges;
    unsigned depth;
} tg_simplify;

const tg_node *tg_simplify_int(tg_simplify *s, const tg_node *n); /* simplify_int.c: + - * / % min max on integers */
const tg_node *tg_simplify_const(tg_ctx *cx,
                                 const tg_node *n); /* simplify_const.c: constant operands; float identities */

#endif
