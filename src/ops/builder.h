/* builder.h: the PrimFunc under construction. Shared by lower.c (the function) and build.c (its blocks). */
#ifndef TG_OPS_BUILDER_H
#define TG_OPS_BUILDER_H

#include "build.h"

struct tg_prim_builder {
    TG_VEC(const tg_node *) stmt;
    TG_VEC(const tg_buffer *) alloc;
    tg_map buffer_names, block_names;   /* interned name -> how often it was asked for + 1 */
    const char *op;                     /* short name of the operator being lowered: default name of its blocks */
    bool too_wide;                      /* a temporary needs 64-bit indices */
};

/* @p hint, or hint_1, hint_2 … when it is taken. */
const tg_name *tg_name_once(tg_ctx *cx, tg_map *names, const char *hint);

#endif
