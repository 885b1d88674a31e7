/* t.c: functions in statements.py. Made by tirgen 0.1.0. */
#include "t.h"

/* Called with a text when a check fails; the function then returns. -DTIRGEN_NO_CHECKS leaves the checks out. */
#ifndef TIRGEN_CHECK_FAILED
#define TIRGEN_CHECK_FAILED(message) ((void)0)
#endif
#ifdef TIRGEN_NO_CHECKS
#define TIRGEN_CHECKS 0
#else
#define TIRGEN_CHECKS 1
#endif

/* From other files */
#ifdef __cplusplus
extern "C" {
#endif
int32_t vendor_kernel(float *, float *, int32_t);
#ifdef __cplusplus
}
#endif

/* loops  float32[8] -> float32[8]  statements.py:7:5 */
int32_t loops(const float *TIRGEN_RESTRICT A, float *TIRGEN_RESTRICT B, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        if (A[i] > 1.0f) {
            B[i] = 1.0f;
        } else if (A[i] < -1.0f) {
            B[i] = -1.0f;
        } else {
            B[i] = i >= 2 ? A[i - 2] : A[i];
        }
    }
    while (B[0] < 10.0f) {
        B[0] *= 2.0f;
    }
    return 7;
}

/* vectors  float32[8] -> float32[8]  statements.py:22:5 */
void vectors(const float *TIRGEN_RESTRICT A, float *TIRGEN_RESTRICT B)
{
    for (int32_t lane = 0; lane < 4; ++lane) {
        B[lane] = A[lane * 2] * 2.0f;
    }
    {
        float lanes[4];
        for (int32_t lane = 0; lane < 4; ++lane) {
            lanes[lane] = B[1 + lane];
        }
        for (int32_t lane = 0; lane < 4; ++lane) {
            B[lane] = lanes[lane];
        }
    }
    for (int32_t i = 0; i < 4; ++i) {
        if (A[i] > 0.0f) {
            B[i] = A[i];
        }
    }
}

/* lets  float32[4] -> float32[4]  statements.py:31:5 */
void lets(const float *TIRGEN_RESTRICT A, float *TIRGEN_RESTRICT B)
{
    for (int32_t i = 0; i < 4; ++i) {
        const float x = A[i] * A[i];
        float value;
        if (i >= 1) {
            const float t = A[i - 1];
            value = t * t;
        } else {
            value = x;
        }
        B[i] = value;
    }
}

/* calls  -> float32[4], float32[4], float32[4]  statements.py:39:5 */
int32_t calls(float *A, float *v_int, float *v_y0)
{
    (void)vendor_kernel(A, v_int + 2, 3);
    if (vendor_kernel(A, v_y0, 4) != 0) {
        return -1;
    }
    if (TIRGEN_CHECKS && !(A[0] > 0.0f)) {
        TIRGEN_CHECK_FAILED("A must be positive */");
        return 0x500; /* a check failed */
    }
    return 0;
}
