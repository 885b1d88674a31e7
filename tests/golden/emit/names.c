/* t.c: the model in names.relay. Made by tirgen 0.1.0. */
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

/* add, add  float32[2], float32[2], float32[2] -> float32[2]  names.relay:4:8 */
TIRGEN_KERNEL void fused_add_add(const float *TIRGEN_RESTRICT lhs,
    const float *TIRGEN_RESTRICT rhs, const float *TIRGEN_RESTRICT rhs_1,
    float *TIRGEN_RESTRICT add_1)
{
    for (int32_t i = 0; i < 2; ++i) {
        add_1[i] = lhs[i] + rhs[i] + rhs_1[i];
    }
}

/* The operators of the model, in order.  float32[2], float32[2], float32[2] -> float32[2]
 * names.relay:3:5 */
static int32_t tvm_main(const float *v_int, const float *serving_default_input_0,
    const float *serving_default_input_0_1, float *output)
{
    fused_add_add(v_int, serving_default_input_0, serving_default_input_0_1, output);
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->v_int == NULL
        || inputs->serving_default_input_0_1 == NULL
        || inputs->serving_default_input_0 == NULL
        || outputs->output == NULL) {
        return T_INVALID_ARGUMENT;
    }
    (void)workspace;
    return tvm_main(
        (const float *)inputs->v_int,
        (const float *)inputs->serving_default_input_0_1,
        (const float *)inputs->serving_default_input_0,
        (float *)outputs->output);
}
