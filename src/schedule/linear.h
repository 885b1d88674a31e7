/* linear.h: what is known of an integer expression: the range it stays in, and its form c0 + c1*x1 + c2*x2 + …
 * Both the rewrites of schedule/ and the algebra of passes/ stand on it. Everything here is exact: "unknown" is an answer. */
#ifndef TG_LINEAR_H
#define TG_LINEAR_H

#include "ir/node.h"

/* All values v with lo <= v <= hi; lo > hi: none. */
typedef struct tg_range {
    int64_t lo, hi;
} tg_range;
#define TG_RANGE_ALL ((tg_range){ INT64_MIN, INT64_MAX })

/* Ranges of variables: var id + 1 -> tg_range *; a variable that is not there may have any value of its type. */
typedef struct tg_ranges {
    tg_map var, memo;
} tg_ranges;
void tg_range_set(tg_ctx *cx, tg_ranges *r, const tg_var *v, tg_range range);
void tg_range_forget(tg_ranges *r); /* ranges of variables changed: drop what was derived from them */
/* Where the value of @p e lies, if its evaluation does not overflow its type by contract (int32, int64) or wraps (others). */
tg_range tg_range_of(tg_ctx *cx, tg_ranges *r, const tg_node *e);
tg_range tg_range_of_dtype(DLDataType d);
tg_range tg_range_add(tg_range a, tg_range b);
tg_range tg_range_scale(tg_range a, int64_t c);
tg_range tg_range_join(tg_range a, tg_range b);
static inline bool tg_range_has(tg_range a, int64_t v)
{
    return a.lo <= v && v <= a.hi;
}
static inline bool tg_range_within(tg_range a, int64_t lo, int64_t hi)
{
    return lo <= a.lo && a.hi <= hi;
}

/* c0 + sum of c[i] * x[i]; no x twice, no c 0; in the order the x first occur. */
enum { TG_LINEAR_MAX = 32 };
typedef struct tg_linear {
    DLDataType dtype;
    uint32_t n;
    int64_t c0;
    int64_t c[TG_LINEAR_MAX];
    const tg_node *x[TG_LINEAR_MAX]; /* variables, and what is not linear: x // 3, A[i] */
} tg_linear;

/* False when @p e is no int32/int64 scalar, has too many terms, or a coefficient passes int64. */
bool tg_linear_of(tg_ctx *cx, const tg_node *e, tg_linear *out);
bool tg_linear_add(tg_ctx *cx, tg_linear *a, const tg_linear *b,
                   int64_t times); /* a += times * b; false: does not fit */
bool tg_linear_add_term(tg_ctx *cx, tg_linear *a, const tg_node *x, int64_t c);
void tg_linear_clear(tg_linear *a, DLDataType dtype, int64_t c0);
int64_t tg_linear_coef(const tg_linear *a, const tg_var *v); /* of a variable; 0 when it does not occur as a term */
tg_range tg_linear_range(tg_ctx *cx, tg_ranges *r, const tg_linear *a);
/* No partial sum, in any order, leaves the dtype. */
bool tg_linear_fits(tg_ctx *cx, tg_ranges *r, const tg_linear *a);
const tg_node *tg_linear_node(tg_ctx *cx, const tg_linear *a);   /* the one way such a sum is written */
const tg_node *tg_linear_simplest(tg_ctx *cx, const tg_node *e); /* @p e written that way, or @p e itself */

#endif
