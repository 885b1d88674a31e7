/* sorting.h: a stable sort inside a sequential block. Private to src/ops. */
#ifndef TG_OPS_SORTING_H
#define TG_OPS_SORTING_H

#include "build.h"

/* The key of element @p i (an index expression). */
typedef tg_expr (*tg_key_fn)(tg_lower *lo, tg_expr i, const void *user);

/* Writes statements after which order[0..n) (a local of the block) lists the elements in order: equal keys keep the lower index
 * first; a NaN counts as greater than everything. @p max bounds n. */
const tg_buffer *tg_s_sort(tg_lower *lo, tg_block_build *b, tg_script *s, tg_expr n, int64_t max, bool ascending, tg_key_fn key,
                           const void *user);

#endif
