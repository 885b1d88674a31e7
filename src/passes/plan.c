/* plan.c: dynamic storage allocation: gap search in several orders, then a short search over swaps.
 * The problem is NP-hard; on the networks at hand the bound is mostly reached by the first orders. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROUNDS = 4000,
    SEARCH_LIMIT = 4096             /* with more buffers, only the order of their starts is tried: each order costs n * n */
};

typedef struct placing {
    const tg_life *life;
    size_t n;
    int64_t align;
    uint32_t *sorted;               /* placed buffers by offset */
    int64_t *offset;
    int64_t *size;                  /* rounded up to the alignment: sizes then keep offsets aligned */
} placing;

static bool together(const tg_life *a, const tg_life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Lowest gap among the placed buffers that live together with buffer @p i. */
static int64_t lowest_gap(const placing *p, size_t nplaced, uint32_t i)
{
    int64_t at = 0;
    for (size_t k = 0; k < nplaced; ++k) {
        uint32_t j = p->sorted[k];
        if (!together(&p->life[i], &p->life[j]))
            continue;
        if (at + p->size[i] <= p->offset[j])
            break;
        if (p->offset[j] + p->size[j] > at)
            at = p->offset[j] + p->size[j];
    }
    return at;
}

/* Forgets placed buffers that ended before position @p now; @return how many are left. */
static size_t drop_ended(placing *p, size_t nplaced, uint32_t now)
{
    size_t kept = 0;
    for (size_t k = 0; k < nplaced; ++k)
        if (p->life[p->sorted[k]].last >= now)
            p->sorted[kept++] = p->sorted[k];
    return kept;
}

/* Places all buffers in @p order; the peak, or INT64_MAX once it passes @p limit. @p by_start: the order is that of the starts,
 * so what has ended never matters again. */
static int64_t place(placing *p, const uint32_t *order, bool by_start, int64_t limit)
{
    int64_t peak = 0;
    size_t nplaced = 0;
    for (size_t k = 0; k < p->n; ++k) {
        uint32_t i = order[k];
        if (by_start)
            nplaced = drop_ended(p, nplaced, p->life[i].first);
        int64_t at = p->size[i] == 0 ? 0 : lowest_gap(p, nplaced, i);
        p->offset[i] = at;
        peak = at + p->size[i] > peak ? at + p->size[i] : peak;
        if (peak > limit)
            return INT64_MAX;
        size_t pos = nplaced++;
        while (pos > 0 && p->offset[p->sorted[pos - 1]] > at) {
            p->sorted[pos] = p->sorted[pos - 1];
            --pos;
        }
        p->sorted[pos] = i;
    }
    return peak;
}

/* ---- orders ---- */

typedef struct ranked { uint32_t i; int64_t size, span, first; } ranked;

static int by_size(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    if (x->span != y->span)
        return x->span < y->span ? 1 : -1;
    return x->i < y->i ? -1 : 1;
}

static int by_span(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->span != y->span)
        return x->span < y->span ? 1 : -1;
    return by_size(a, b);
}

static int by_area(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    double s = (double)x->size * (double)x->span, t = (double)y->size * (double)y->span;
    if (s < t || s > t)
        return s < t ? 1 : -1;
    return by_size(a, b);
}

static int by_start(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return by_size(a, b);
}

/* Most bytes alive at once: the maximum is reached where some buffer starts, so the starts are swept in order. */
static int64_t lower_bound(const placing *p, const ranked *started, uint32_t *alive)
{
    int64_t best = 0, sum = 0;
    size_t nalive = 0;
    for (size_t k = 0; k < p->n; ++k) {
        uint32_t i = started[k].i;
        size_t kept = 0;
        for (size_t a = 0; a < nalive; ++a) {
            if (p->life[alive[a]].last >= p->life[i].first)
                alive[kept++] = alive[a];
            else
                sum -= p->size[alive[a]];
        }
        alive[kept++] = i;
        nalive = kept;
        sum += p->size[i];
        best = sum > best ? sum : best;
    }
    return best;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

tg_plan tg_plan_place(tg_ctx *cx, tg_life *life, size_t n, int64_t align)
{
    placing p = { life, n, align, TG_TEMP_ARRAY(cx, uint32_t, n), TG_TEMP_ARRAY(cx, int64_t, n), TG_TEMP_ARRAY(cx, int64_t, n) };
    ranked *rank = TG_TEMP_ARRAY(cx, ranked, n);
    uint32_t *order = TG_TEMP_ARRAY(cx, uint32_t, n), *best_order = TG_TEMP_ARRAY(cx, uint32_t, n);
    for (size_t i = 0; i < n; ++i) {
        p.size[i] = (life[i].size_bytes + align - 1) & ~(align - 1);
        rank[i] = (ranked){ (uint32_t)i, p.size[i], (int64_t)life[i].last - life[i].first + 1, life[i].first };
    }
    qsort(rank, n, sizeof rank[0], by_start);
    int64_t bound = lower_bound(&p, rank, order), best = INT64_MAX;
    static int (*const by[])(const void *, const void *) = { by_start, by_size, by_area, by_span };
    for (size_t k = 0; k < TG_COUNT(by) && best > bound && (k == 0 || n <= SEARCH_LIMIT); ++k) {
        qsort(rank, n, sizeof rank[0], by[k]);
        for (size_t i = 0; i < n; ++i)
            order[i] = rank[i].i;
        int64_t peak = place(&p, order, k == 0, best == INT64_MAX ? INT64_MAX : best - 1);
        if (peak < best) {
            best = peak;
            memcpy(best_order, order, n * sizeof order[0]);
            for (size_t i = 0; i < n; ++i)
                life[i].offset = p.offset[i];
        }
    }
    uint32_t seed = 1;
    size_t rounds = n < 2 || n > SEARCH_LIMIT ? 0 : MAX_ROUNDS / (1 + n / 64);
    for (size_t k = 0; k < rounds && best > bound; ++k) {
        memcpy(order, best_order, n * sizeof order[0]);
        for (unsigned swaps = 1 + next_random(&seed) % 3; swaps > 0; --swaps) {
            size_t a = next_random(&seed) % n, b = next_random(&seed) % n;
            uint32_t t = order[a];
            order[a] = order[b];
            order[b] = t;
        }
        int64_t peak = place(&p, order, false, best);
        if (peak > best)
            continue;
        if (peak < best)
            for (size_t i = 0; i < n; ++i)
                life[i].offset = p.offset[i];
        best = peak;
        memcpy(best_order, order, n * sizeof order[0]);
    }
    return (tg_plan){ n == 0 ? 0 : best, bound };
}
