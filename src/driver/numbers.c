/* numbers.c: random inputs and the comparison of results, see numbers.h. */
#include "numbers.h"

#include <math.h>

/* splitmix64: every state gives another number, so any seed will do. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void tirc_fill_random(tg_tensor *t, int64_t n, uint64_t *state)
{
    DLDataType d = t->type->dtype;
    for (int64_t i = 0; i < n; ++i) {
        uint64_t r = next_random(state);
        if (tg_is_float(d))
            tg_tensor_set_f64(t, i, (double)(r >> 11) / 4503599627370496.0 - 1.0);
        else if (tg_is_bool(d))
            tg_tensor_set_i64(t, i, (int64_t)(r & 1));
        else
            tg_tensor_set_i64(t, i, d.code == kDLInt ? (int64_t)(r & 255) - 128 : (int64_t)(r & 255));
    }
}

tirc_difference tirc_compare(const tg_tensor *got, const tg_tensor *want, int64_t n, double rtol, double atol)
{
    tirc_difference d = { 0, 0, 0 };
    bool real = tg_is_float(want->type->dtype);
    for (int64_t i = 0; i < n; ++i) {
        double g = real ? tg_tensor_f64(got, i) : (double)tg_tensor_i64(got, i);
        double w = real ? tg_tensor_f64(want, i) : (double)tg_tensor_i64(want, i), error;
        if (real ? g == w || (isnan(g) && isnan(w)) : tg_tensor_i64(got, i) == tg_tensor_i64(want, i)) continue;
        error = fabs(g - w);
        if (!(error <= d.absolute)) d.absolute = error;
        if (w != 0 && !(error / fabs(w) <= d.relative)) d.relative = error / fabs(w);
        if (!real || !(error <= atol + rtol * fabs(w))) ++d.bad;
    }
    return d;
}
