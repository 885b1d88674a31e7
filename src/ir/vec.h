/* vec.h: a growable array in the keep arena: TG_VEC(int) v = { 0 }; TG_PUSH(cx, v, 7); v.at[0], v.n */
#ifndef TG_VEC_H
#define TG_VEC_H

#include "arena.h"

#define TG_VEC(T) struct { T *at; size_t n, cap; }
#define TG_PUSH(cx, v, x) \
    ((v).at = (v).n < (v).cap ? (v).at : tg_vec_grow((cx), (v).at, (v).n, &(v).cap, sizeof(*(v).at)), \
     (v).at[(v).n++] = (x))

/* Its elements from @p i on: no pointer is made of an array that was never there. */
#define TG_FROM(v, i) ((v).at == NULL ? NULL : (v).at + (i))

/* @return a copy of @p at with room for more elements; *cap is at least doubled. */
void *tg_vec_grow(struct tirgen_ctx *cx, void *at, size_t n, size_t *cap, size_t size_bytes);

#endif
