/* tile.c: how large a tile of accumulators is. Without a target the tile is one that every compiler keeps in registers on SSE, AVX2,
 * AVX-512 and NEON: measured in bench/, 16 lanes by up to 6 rows. */
#include "rules.h"

enum {
    PORTABLE_BYTES = 32, PORTABLE_REGISTERS = 16,       /* what the portable tile is sized for */
    SPARE_REGISTERS = 4,                                /* operands on their way */
    MAX_ROWS = 14,
    FEW_LANES = 12                                      /* up to here compilers unroll a loop over lanes before they vectorize */
};

static int64_t vector_bytes(const tg_target *t)
{
    return t->vector_bytes > 0 ? t->vector_bytes : PORTABLE_BYTES;
}

static int64_t element_bytes(DLDataType d)
{
    return d.bits >= 8 ? (int64_t)tg_dtype_bytes(d) : 1;
}

bool tg_tile_is_scalar(const tg_target *t)
{
    return t->vector_bytes > 0 && t->vector_bytes < 8;
}

/* Accumulators that fit into the registers. */
static int64_t budget(const tg_target *t, DLDataType d)
{
    int64_t registers = t->vector_bytes > 0 ? t->vector_registers : PORTABLE_REGISTERS;
    int64_t spare = registers > 2 * SPARE_REGISTERS ? SPARE_REGISTERS : registers / 2;
    int64_t n = (registers - spare) * vector_bytes(t) / element_bytes(d);
    return n > 0 ? n : 1;
}

bool tg_tile_rows_inside(int64_t lanes)
{
    return lanes <= FEW_LANES;
}

int64_t tg_tile_lanes(const tg_target *t, DLDataType d, int64_t extent)
{
    if (tg_tile_is_scalar(t)) {
        for (int64_t n = 4; n > 1; --n)
            if (extent % n == 0)
                return n;
        return extent < 4 ? extent : 4;
    }
    int64_t wide = vector_bytes(t) >= 64 ? 128 / element_bytes(d) : 64 / element_bytes(d);     /* two vectors, four of SSE */
    for (int64_t n = wide; n >= 64 / element_bytes(d); n -= 64 / element_bytes(d))
        if (extent % n == 0)
            return n;
    int64_t n = 64 / element_bytes(d);
    if (extent % (n + n / 2) == 0 && extent <= 3 * n)
        return n + n / 2;
    return extent < n ? extent : n;
}

/* Fewest tiles, each with a cost of its own; a rest costs a second copy of the code. */
int64_t tg_tile_rows(const tg_target *t, DLDataType d, int64_t lanes, int64_t extent)
{
    int64_t most = budget(t, d) / lanes, best = 1, least = INT64_MAX;
    most = most > MAX_ROWS ? MAX_ROWS : most < 1 ? 1 : most;
    for (int64_t n = 1; n <= most && n <= extent; ++n) {
        int64_t rest = extent % n, cost = 20 * (extent / n) * n + 30 * (extent / n);
        if (rest > 0)
            cost += 20 * rest + 30 + 3 * extent;
        if (cost <= least) {
            least = cost;
            best = n;
        }
    }
    return best;
}

int64_t tg_tile_cache(const tg_target *t)
{
    return t->l2_bytes > 0 ? t->l2_bytes / 2 : 128 << 10;
}
