/* plan_verify.c: an independent check of every plan; the search is not trusted. */
#include "plan.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const tg_life *x = *(const tg_life *const *)a, *y = *(const tg_life *const *)b;
    return (x->first > y->first) - (x->first < y->first);
}

static bool apart(const tg_life *a, const tg_life *b)
{
    return a->offset + a->size_bytes <= b->offset || b->offset + b->size_bytes <= a->offset;
}

bool tg_plan_check(tg_ctx *cx, const tg_life *life, size_t n, int64_t align, int64_t peak_bytes)
{
    const tg_life **started = TG_TEMP_ARRAY(cx, const tg_life *, n), **alive = TG_TEMP_ARRAY(cx, const tg_life *, n);
    size_t nalive = 0;
    for (size_t i = 0; i < n; ++i) {
        const tg_life *a = &life[i];
        if (a->offset < 0 || a->offset % align != 0 || a->first > a->last || a->offset + a->size_bytes > peak_bytes)
            return false;
        started[i] = a;
    }
    qsort(started, n, sizeof started[0], by_first);
    for (size_t i = 0; i < n; ++i) {        /* each against all that started before it and still live */
        size_t kept = 0;
        for (size_t k = 0; k < nalive; ++k) {
            if (alive[k]->last < started[i]->first)
                continue;
            if (!apart(alive[k], started[i]))
                return false;
            alive[kept++] = alive[k];
        }
        alive[kept++] = started[i];
        nalive = kept;
    }
    return true;
}
