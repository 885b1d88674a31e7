/* t.c: the model in bias_add.relay. Made by tirgen 0.1.0. */
#include "t.h"

#include <stddef.h>

/* Kernels stay functions of their own: in profiles, on the stack, and where restrict is promised. */
#ifndef TIRGEN_KERNEL
#if defined(__GNUC__)
#define TIRGEN_KERNEL static __attribute__((noinline))
#else
#define TIRGEN_KERNEL static
#endif
#endif

static inline float max_float(float a, float b)
{
    return a > b ? a : b;
}

/* nn.bias_add, nn.relu  float32[1,4], float32[4] -> float32[1,4]  bias_add.relay:4:8 */
TIRGEN_KERNEL void fused_nn_bias_add_nn_relu(const float *TIRGEN_RESTRICT data,
    const float *TIRGEN_RESTRICT bias, float *TIRGEN_RESTRICT relu)
{
    for (int32_t j = 0; j < 4; ++j) {
        relu[j] = max_float(data[j] + bias[j], 0.0f);
    }
}

/* The operators of the model, in order.  float32[1,4], float32[4] -> float32[1,4]
 * bias_add.relay:3:5 */
static int32_t tvm_main(const float *x, const float *bias, float *output)
{
    fused_nn_bias_add_nn_relu(x, bias, output);
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->x == NULL
        || inputs->bias == NULL
        || outputs->output == NULL) {
        return T_INVALID_ARGUMENT;
    }
    (void)workspace;
    return tvm_main(
        (const float *)inputs->x,
        (const float *)inputs->bias,
        (float *)outputs->output);
}
