/* vec.c: growing the arrays of vec.h. */
#include <string.h>

#include "ctx.h"
#include "vec.h"

void *tg_vec_grow(tg_ctx *cx, void *at, size_t n, size_t *cap, size_t size_bytes)
{
    size_t larger = *cap < 4 ? 8 : *cap * 2;
    void *to = tg_alloc_array(cx, larger, size_bytes);
    if (n > 0) memcpy(to, at, n * size_bytes);
    *cap = larger;
    return to;
}
