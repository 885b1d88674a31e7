/* numbers.h: random inputs and the comparison of results. */
#ifndef TIRC_NUMBERS_H
#define TIRC_NUMBERS_H

#include "ir/tensor.h"

/* Floats from -1 to 1, narrow integers over their whole range, wide ones over that of int8 or uint8. The same *state, the same
 * numbers; it moves on. */
void tirc_fill_random(tg_tensor *t, int64_t n, uint64_t *state);

typedef struct tirc_difference {
    double absolute, relative;  /* the largest; relative to what is expected */
    int64_t bad;                /* elements outside the tolerance; integers have none */
} tirc_difference;

/* The first @p n elements of two tensors of one type. NaNs are equal. */
tirc_difference tirc_compare(const tg_tensor *got, const tg_tensor *want, int64_t n, double rtol, double atol);

#endif
