/* t.c: the model in two_ops.relay. Made by tirgen 0.1.0. */
#include "t.h"

#include <math.h>
#include <stddef.h>

/* Kernels stay functions of their own: in profiles, on the stack, and where restrict is promised. */
#ifndef TIRGEN_KERNEL
#if defined(__GNUC__)
#define TIRGEN_KERNEL static __attribute__((noinline))
#else
#define TIRGEN_KERNEL static
#endif
#endif

/* nn.softmax  float32[1,3] -> float32[1,3]  two_ops.relay:4:8 */
TIRGEN_KERNEL void fused_nn_softmax(const float *TIRGEN_RESTRICT data,
    float *TIRGEN_RESTRICT softmax)
{
    float row_exp[3];
    {
        float row_max = -3.4028235e+38f;
        for (int32_t j = 0; j < 3; ++j) {
            row_max = row_max > data[j] ? row_max : data[j];
        }
        for (int32_t j = 0; j < 3; ++j) {
            row_exp[j] = expf(data[j] - row_max);
        }
    }
    float row_sum = 0.0f;
    for (int32_t j = 0; j < 3; ++j) {
        row_sum += row_exp[j];
    }
    for (int32_t j = 0; j < 3; ++j) {
        softmax[j] = row_exp[j] / row_sum;
    }
}

/* The operators of the model, in order.  float32[1,3] -> float32[1,3]  two_ops.relay:3:5 */
static int32_t tvm_main(const float *x, float *output, uint8_t *workspace)
{
    float *sid_0 = (float *)(void *)workspace;
    fused_nn_softmax(x, sid_0);
    fused_nn_softmax(sid_0, output);
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->x == NULL
        || outputs->output == NULL
        || workspace == NULL || (uintptr_t)workspace % T_WORKSPACE_ALIGN != 0) {
        return T_INVALID_ARGUMENT;
    }
    return tvm_main(
        (const float *)inputs->x,
        (float *)outputs->output,
        (uint8_t *)workspace);
}
