/* plan.h: placing buffers with lifetimes into one pool: the search, its lower bound, and an independent check. */
#ifndef TG_PLAN_H
#define TG_PLAN_H

#include "ir/ctx.h"

typedef struct tg_life {
    int64_t size_bytes;
    uint32_t first, last;           /* positions of the first and last statement that touches it, both included */
    int64_t offset;                 /* result */
} tg_life;

typedef struct tg_plan { int64_t peak_bytes, bound_bytes; } tg_plan;

/* Sets the offsets, multiples of @p align (a power of two), so that buffers alive together never overlap; the peak is the best of
 * several orders and a bounded local search with a fixed seed. bound_bytes: most bytes alive at one position, never to be beaten. */
tg_plan tg_plan_place(tg_ctx *cx, tg_life *life, size_t n, int64_t align);

/* True when no two buffers alive together overlap, all are aligned and inside the peak. Shares no code with the search. */
bool tg_plan_check(tg_ctx *cx, const tg_life *life, size_t n, int64_t align, int64_t peak_bytes);

#endif
