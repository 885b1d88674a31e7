/* math.c: the functions of real numbers that calls in TIR name. */
#include "code.h"

#include <math.h>

/* The C library's macros are functions here, so that they can stand in a table. */
static double rsqrt(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double ldexp_of(double x, double by) { return ldexp(x, by > 5000 ? 5000 : by < -5000 ? -5000 : (int)by); }
static double exp10_of(double x) { return pow(10, x); }

const tg_math tg_maths[TG_NINTRINS] = {
    [TG_I_exp] = { .n = 1, .d1 = exp },
    [TG_I_exp2] = { .n = 1, .d1 = exp2 },
    [TG_I_exp10] = { .n = 1, .d1 = exp10_of },
    [TG_I_expm1] = { .n = 1, .d1 = expm1 },
    [TG_I_log] = { .n = 1, .d1 = log },
    [TG_I_log2] = { .n = 1, .d1 = log2 },
    [TG_I_log10] = { .n = 1, .d1 = log10 },
    [TG_I_log1p] = { .n = 1, .d1 = log1p },
    [TG_I_sqrt] = { .n = 1, .d1 = sqrt },
    [TG_I_rsqrt] = { .n = 1, .d1 = rsqrt },
    [TG_I_sin] = { .n = 1, .d1 = sin },
    [TG_I_cos] = { .n = 1, .d1 = cos },
    [TG_I_tan] = { .n = 1, .d1 = tan },
    [TG_I_asin] = { .n = 1, .d1 = asin },
    [TG_I_acos] = { .n = 1, .d1 = acos },
    [TG_I_atan] = { .n = 1, .d1 = atan },
    [TG_I_sinh] = { .n = 1, .d1 = sinh },
    [TG_I_cosh] = { .n = 1, .d1 = cosh },
    [TG_I_tanh] = { .n = 1, .d1 = tanh },
    [TG_I_asinh] = { .n = 1, .d1 = asinh },
    [TG_I_acosh] = { .n = 1, .d1 = acosh },
    [TG_I_atanh] = { .n = 1, .d1 = atanh },
    [TG_I_erf] = { .n = 1, .d1 = erf },
    [TG_I_sigmoid] = { .n = 1, .d1 = sigmoid },
    [TG_I_fabs] = { .n = 1, .d1 = fabs },
    [TG_I_floor] = { .n = 1, .d1 = floor },
    [TG_I_ceil] = { .n = 1, .d1 = ceil },
    [TG_I_trunc] = { .n = 1, .d1 = trunc },
    [TG_I_round] = { .n = 1, .d1 = round },
    [TG_I_nearbyint] = { .n = 1, .d1 = nearbyint },
    [TG_I_pow] = { .n = 2, .d2 = pow },
    [TG_I_fmod] = { .n = 2, .d2 = fmod },
    [TG_I_atan2] = { .n = 2, .d2 = atan2 },
    [TG_I_hypot] = { .n = 2, .d2 = hypot },
    [TG_I_copysign] = { .n = 2, .d2 = copysign },
    [TG_I_nextafter] = { .n = 2, .d2 = nextafter, .f2 = nextafterf },
    [TG_I_ldexp] = { .n = 0, .d2 = ldexp_of },      /* its second operand is an integer: compiled apart */
    [TG_I_fma] = { .n = 3, .d3 = fma, .f3 = fmaf },
};
