/* t.c: functions in kernel_alone.py. Made by tirgen 0.1.0. */
#include "t.h"

/* saxpy  float32[8] -> float32[8]  kernel_alone.py:7:5 */
void saxpy(const float *TIRGEN_RESTRICT x, float *TIRGEN_RESTRICT y, float a)
{
    for (int32_t i = 0; i < 8; ++i) {
        y[i] += a * x[i];
    }
}
