/* plan_verify.c: an independent check of every plan; the search is not trusted. */
#include "plan.h"

bool tg_plan_check(const tg_life *life, size_t n, int64_t align, int64_t peak_bytes)
{
    for (size_t i = 0; i < n; ++i) {
        const tg_life *a = &life[i];
        if (a->offset < 0 || a->offset % align != 0 || a->first > a->last || a->offset + a->size_bytes > peak_bytes)
            return false;
        for (size_t j = i + 1; j < n; ++j) {
            const tg_life *b = &life[j];
            bool apart_in_time = a->last < b->first || b->last < a->first;
            bool apart_in_space = a->offset + a->size_bytes <= b->offset || b->offset + b->size_bytes <= a->offset;
            if (!apart_in_time && !apart_in_space)
                return false;
        }
    }
    return true;
}
