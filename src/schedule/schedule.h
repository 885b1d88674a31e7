/* schedule.h: how a PrimFunc is computed well. Rules choose; primitives rewrite blocks and are checked. */
#ifndef TG_SCHEDULE_H
#define TG_SCHEDULE_H

#include "ir/module.h"

/* What -target says of the machine (target.c). */
typedef struct tg_target {
    const char *kind;         /* "c" */
    const char *mcpu, *mattr; /* "" when not given */
    int32_t vector_bytes;     /* 0: no vector unit assumed; a portable tile is chosen */
    int32_t vector_registers;
    int32_t l1_bytes, l2_bytes;
    bool dsp;            /* Arm DSP extension */
    bool unsigned_bytes; /* products of bytes take an unsigned and a signed one */
} tg_target;
bool tg_target_parse(tg_ctx *cx, const char *text, tg_target *out); /* reports an error naming the key */

/* Applies the first rule that fits; the function unchanged when none does. */
const tg_func *tg_schedule_func(tg_ctx *cx, const tg_func *f, const tg_target *t);

#endif
