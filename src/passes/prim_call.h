/* prim_call.h: PrimFuncs as the graph sees them: tensors in, tensors out. */
#ifndef TG_PRIM_CALL_H
#define TG_PRIM_CALL_H

#include "ir/module.h"

/* Which parameters the functions of a module write, themselves or through what they call: variable's id + 1. */
typedef struct tg_writes {
    const tg_module *m;
    tg_map param;
    tg_map stands;  /* pointer's variable id + 1 -> the parameter it points into */
    bool changed;
} tg_writes;
tg_writes tg_find_writes(tg_ctx *cx, const tg_module *m);
bool tg_is_written(const tg_writes *w, const tg_var *param);

/* fn(inputs) -> output, or a tuple of outputs: the parameters of @p f, of which the last ones are written. NULL when it is no
 * such function: a parameter that is no tensor of constant shape, nothing written, or an input behind an output. */
const tg_type *tg_prim_type(tg_ctx *cx, const tg_module *m, const tg_func *f);

#endif
