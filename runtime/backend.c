/* backend.c: memory of kernels, from a stack that the platform names; parallel loops, one part after the other. SPDX-License-Identifier: Apache-2.0 */
#include <tirgen_rt/config.h>
#include <tirgen_rt/model.h>
#include <tirgen_rt/packed.h>
#include <tirgen_rt/platform.h>

/* Stands in until the integrator defines the hook, so that images that never call it link. */
TIRGEN_RT_WEAK tirgen_rt_stack *tirgen_rt_platform_stack(int32_t device_type, int32_t device_id)
{
    (void)device_type;
    (void)device_id;
    return NULL;
}

void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint, int dtype_bits_hint)
{
    void *block = NULL;
    tirgen_rt_stack *stack = tirgen_rt_platform_stack(device_type, device_id);
    (void)dtype_code_hint;
    (void)dtype_bits_hint;
    if (stack == NULL) {
        TVMAPISetLastError("TVMBackendAllocWorkspace: the platform has no stack for this device");
        return NULL;
    }
    if (nbytes > SIZE_MAX || tirgen_rt_stack_alloc(stack, (size_t)nbytes, &block) != TIRGEN_RT_OK) {
        TVMAPISetLastError("TVMBackendAllocWorkspace: out of memory");
        return NULL;
    }
    return block;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr)
{
    tirgen_rt_stack *stack = tirgen_rt_platform_stack(device_type, device_id);
    const int32_t status = stack == NULL ? (int32_t)TIRGEN_RT_BAD_FREE : tirgen_rt_stack_free(stack, ptr);
    if (status != TIRGEN_RT_OK) {
        TVMAPISetLastError("TVMBackendFreeWorkspace: not the newest block");
    }
    return (int)status;
}

/* Weak: a port with threads has its own. */
TIRGEN_RT_WEAK int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task)
{
    TVMParallelGroupEnv env;
    int status = 0;
    env.sync_handle = NULL;
    env.num_task = num_task > 0 ? (int32_t)num_task : 1;
    for (int32_t task = 0; task < env.num_task && status == 0; ++task) {
        status = flambda((int)task, &env, cdata);
    }
    return status;
}
