/* t.c: the model in dense_chain.relay. Made by tirgen 0.1.0. */
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

/* nn.dense, nn.relu  float32[1,4], float32[3,4] -> float32[1,3]  dense_chain.relay:4:8 */
TIRGEN_KERNEL void fused_nn_dense_nn_relu(const float *TIRGEN_RESTRICT data,
    const float *TIRGEN_RESTRICT weight, float *TIRGEN_RESTRICT relu)
{
    for (int32_t j = 0; j < 3; ++j) {
        float dense = 0.0f;
        for (int32_t k = 0; k < 4; ++k) {
            dense += data[k] * weight[j * 4 + k];
        }
        relu[j] = dense > 0.0f ? dense : 0.0f;
    }
}

/* nn.dense  float32[1,3], float32[2,3] -> float32[1,2]  dense_chain.relay:6:8 */
TIRGEN_KERNEL void fused_nn_dense(const float *TIRGEN_RESTRICT data,
    const float *TIRGEN_RESTRICT weight, float *TIRGEN_RESTRICT dense)
{
    for (int32_t j = 0; j < 2; ++j) {
        float acc = 0.0f;
        for (int32_t k = 0; k < 3; ++k) {
            acc += data[k] * weight[j * 3 + k];
        }
        dense[j] = acc;
    }
}

/* nn.softmax  float32[1,2] -> float32[1,2]  dense_chain.relay:7:3 */
TIRGEN_KERNEL void fused_nn_softmax(const float *TIRGEN_RESTRICT data,
    float *TIRGEN_RESTRICT softmax)
{
    float row_exp[2];
    {
        float row_max = -3.4028235e+38f;
        for (int32_t j = 0; j < 2; ++j) {
            row_max = row_max > data[j] ? row_max : data[j];
        }
        for (int32_t j = 0; j < 2; ++j) {
            row_exp[j] = expf(data[j] - row_max);
        }
    }
    float row_sum = 0.0f;
    for (int32_t j = 0; j < 2; ++j) {
        row_sum += row_exp[j];
    }
    for (int32_t j = 0; j < 2; ++j) {
        softmax[j] = row_exp[j] / row_sum;
    }
}

/* The operators of the model, in order.  float32[1,4], float32[3,4], float32[2,3] ->
 * float32[1,2]  dense_chain.relay:3:5 */
static int32_t tvm_main(const float *x, const float *w1, const float *w2, float *output,
    uint8_t *workspace)
{
    float *sid_0 = (float *)(void *)workspace;
    float *sid_1 = (float *)(void *)(workspace + 16);
    fused_nn_dense_nn_relu(x, w1, sid_0);
    fused_nn_dense(sid_0, w2, sid_1);
    fused_nn_softmax(sid_1, output);
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->x == NULL
        || inputs->w1 == NULL
        || inputs->w2 == NULL
        || outputs->output == NULL
        || workspace == NULL || (uintptr_t)workspace % T_WORKSPACE_ALIGN != 0) {
        return T_INVALID_ARGUMENT;
    }
    return tvm_main(
        (const float *)inputs->x,
        (const float *)inputs->w1,
        (const float *)inputs->w2,
        (float *)outputs->output,
        (uint8_t *)workspace);
}
