/* tile.c: how large a tile of accumulators is. The innermost loop runs over the lanes of one vector, and every accumulator of the
 * tile has a statement in it: about ten statements of eight lanes is the form that gcc and clang turn into vectors held in
 * registers at every level of optimization from -O2 on, with and without -ffast-math (measured in bench/tile_forms.py; shorter
 * bodies are unrolled before they are vectorized, more statements than registers spill). */
#include "rules.h"

enum {
    LANE_BYTES = 32, /* a vector of AVX2, two of SSE or NEON; wider ones are left to the C compiler */
    PORTABLE_STATEMENTS = 16,
    MOST_STATEMENTS = 16,
    FEW_STATEMENTS = 8,
    SPARE_REGISTERS = 4, /* operands on their way */
    MOST_ROWS = 14,
    MOST_VECTORS = 12
};

static int64_t element_bytes(DLDataType d)
{
    return d.bits >= 8 ? (int64_t)tg_dtype_bytes(d) : 1;
}

bool tg_tile_is_scalar(const tg_target *t)
{
    return t->vector_bytes > 0 && t->vector_bytes < 8;
}

int64_t tg_tile_lanes(const tg_target *t, DLDataType d)
{
    int64_t n = LANE_BYTES / element_bytes(d);
    return tg_tile_is_scalar(t) || n < 1 ? 1 : n;
}

int64_t tg_tile_statements(const tg_target *t, DLDataType d)
{
    if (t->vector_bytes == 0) return PORTABLE_STATEMENTS;
    int64_t spare = t->vector_registers > 2 * SPARE_REGISTERS ? SPARE_REGISTERS : t->vector_registers / 2;
    int64_t bytes = tg_tile_is_scalar(t) ? element_bytes(d) : LANE_BYTES,
            most = (t->vector_registers - spare) * (int64_t)t->vector_bytes / bytes;
    int64_t least = tg_tile_is_scalar(t) ? 2 : FEW_STATEMENTS;
    return most > MOST_STATEMENTS ? MOST_STATEMENTS : most < least ? least : most;
}

/* Time of one tile in tenths of a statement: a short body leaves the adders waiting for each other; each row and each vector is
 * loaded once. */
static int64_t cost_of(int64_t rows, int64_t vectors, int64_t few)
{
    int64_t statements = rows * vectors;
    return 10 * (statements > few ? statements : few) + 2 * (rows + vectors) + 15;
}

tg_tile tg_tile_choose(const tg_target *t, DLDataType d, int64_t lane_extent, int64_t row_extent)
{
    int64_t lanes = tg_tile_lanes(t, d), groups = lane_extent / lanes, most = tg_tile_statements(t, d),
            least = INT64_MAX;
    int64_t few = most < FEW_STATEMENTS ? most : FEW_STATEMENTS;
    bool whole = lane_extent < 2 * lanes && lane_extent % lanes != 0; /* an odd few: one group of so many lanes */
    tg_tile best = { .lanes = whole ? lane_extent : lanes, .vectors = 1, .rows = 1 };
    if (whole) groups = 1;
    for (int64_t v = 1; v <= groups && v <= MOST_VECTORS && v <= most; ++v) {
        for (int64_t r = 1; groups % v == 0 && r <= row_extent && r <= MOST_ROWS && r * v <= most; ++r) {
            int64_t rest = row_extent % r, cost = row_extent / r * cost_of(r, v, few);
            if (rest > 0) /* a second copy of the code, and a smaller tile */
                cost += cost_of(rest, v, few) + row_extent * v;
            cost *= groups / v;
            if (cost > least) continue;
            least = cost;
            best.vectors = v;
            best.rows = r;
        }
    }
    return best;
}

int64_t tg_tile_cache(const tg_target *t)
{
    return t->l2_bytes > 0 ? t->l2_bytes / 2 : 128 << 10;
}
