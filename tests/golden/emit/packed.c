/* t.c: the model in packed.relay. Made by tirgen 0.1.0. */
#include "t.h"

#include <stddef.h>

#include <tirgen_rt/packed.h>

/* Kernels stay functions of their own: in profiles, on the stack, and where restrict is promised. */
#ifndef TIRGEN_KERNEL
#if defined(__GNUC__)
#define TIRGEN_KERNEL static __attribute__((noinline))
#else
#define TIRGEN_KERNEL static
#endif
#endif

/* divide  packed.relay:4:3 */
TIRGEN_KERNEL int32_t fused_divide(TVMValue *args, int *arg_type_ids, int num_args,
    TVMValue *out_ret_value, int *out_ret_tcode, void *resource_handle)
{
    (void)arg_type_ids;
    (void)num_args;
    (void)out_ret_value;
    (void)out_ret_tcode;
    (void)resource_handle;
    const DLTensor *lhs_handle = (const DLTensor *)args[0].v_handle;
    const DLTensor *rhs_handle = (const DLTensor *)args[1].v_handle;
    const DLTensor *divide_handle = (const DLTensor *)args[2].v_handle;
    const float *lhs = (const float *)lhs_handle->data;
    const float *rhs = (const float *)rhs_handle->data;
    float *divide = (float *)divide_handle->data;
    for (int32_t i = 0; i < 2; ++i) {
        divide[i] = lhs[i] / rhs[0];
    }
    return 0;
}

/* The operators of the model, in order.  float32[2], float32[] -> float32[2]  packed.relay:3:5 */
static int32_t tvm_main(const float *x, const float *s, float *output)
{
    TVMValue ret_value;
    int ret_tcode;
    TVMValue stack_value[3];
    int stack_tcode[3];
    DLTensor stack_array[3];
    int64_t stack_shape[3];
    stack_shape[0] = 2;
    stack_array[0].data = (void *)(uintptr_t)x;
    stack_array[0].shape = stack_shape;
    stack_array[0].strides = NULL;
    stack_array[0].ndim = 1;
    stack_array[0].dtype.code = 2;
    stack_array[0].dtype.bits = 32;
    stack_array[0].dtype.lanes = 1;
    stack_array[0].byte_offset = 0;
    stack_array[0].device.device_id = 0;
    stack_array[0].device.device_type = 1;
    stack_value[0].v_handle = &stack_array[0];
    stack_tcode[0] = 7;
    stack_array[1].data = (void *)(uintptr_t)s;
    stack_array[1].shape = stack_shape + 1;
    stack_array[1].strides = NULL;
    stack_array[1].ndim = 0;
    stack_array[1].dtype.code = 2;
    stack_array[1].dtype.bits = 32;
    stack_array[1].dtype.lanes = 1;
    stack_array[1].byte_offset = 0;
    stack_array[1].device.device_id = 0;
    stack_array[1].device.device_type = 1;
    stack_value[1].v_handle = &stack_array[1];
    stack_tcode[1] = 7;
    stack_shape[2] = 2;
    stack_array[2].data = output;
    stack_array[2].shape = stack_shape + 2;
    stack_array[2].strides = NULL;
    stack_array[2].ndim = 1;
    stack_array[2].dtype.code = 2;
    stack_array[2].dtype.bits = 32;
    stack_array[2].dtype.lanes = 1;
    stack_array[2].byte_offset = 0;
    stack_array[2].device.device_id = 0;
    stack_array[2].device.device_type = 1;
    stack_value[2].v_handle = &stack_array[2];
    stack_tcode[2] = 7;
    const int32_t rc = fused_divide(stack_value, stack_tcode, 3, &ret_value, &ret_tcode, NULL);
    if (rc != 0) {
        return rc;
    }
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->x == NULL
        || inputs->s == NULL
        || outputs->output == NULL) {
        return T_INVALID_ARGUMENT;
    }
    (void)workspace;
    return tvm_main(
        (const float *)inputs->x,
        (const float *)inputs->s,
        (float *)outputs->output);
}
