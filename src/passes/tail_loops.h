/* tail_loops.h: how a function calls itself. */
#ifndef TG_TAIL_LOOPS_H
#define TG_TAIL_LOOPS_H

#include "ir/module.h"

#define TG_TAIL_LOOP "tirgen.tail_loop"     /* attribute of a function whose calls run as a loop */

enum tg_recursion {
    TG_REC_NONE,        /* not by its own name */
    TG_REC_TAIL,        /* always last, and an if decides: a loop */
    TG_REC_STATIC,      /* last, but a match decides: as many steps as the value has parts */
    TG_REC_ENDLESS,     /* last, and nothing decides */
    TG_REC_OTHER        /* not last: something is still to be done with the result */
};

typedef struct tg_loop_shape {
    enum tg_recursion kind;
    const bool *invariant;          /* TAIL: by parameter; every call of itself passes it on */
    tg_span not_last;               /* OTHER: one of the places */
} tg_loop_shape;

/* The function is known to itself as @p self (a variable, may be NULL) or, in a module, as @p name (may be NULL). */
tg_loop_shape tg_loop_shape_of(tg_ctx *cx, const tg_func *f, const tg_var *self, const tg_name *name);
/* Is @p v a call of the module's function @p name? */
bool tg_calls(const tg_node *v, const tg_name *name);

#endif
