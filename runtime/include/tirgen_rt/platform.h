/* tirgen_rt/platform.h: what the integrator supplies. Each hook has a weak default that answers "there is none".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_PLATFORM_H
#define TIRGEN_RT_PLATFORM_H

#include <stdint.h>

#include "memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The stack from which TVMBackendAllocWorkspace() takes memory.
 * @param device_type, device_id  As in DLDevice; the CPU is 1, 0.
 * @return A stack made by tirgen_rt_stack_init(), for example one of the calling thread; NULL: there is none.
 */
tirgen_rt_stack *tirgen_rt_platform_stack(int32_t device_type, int32_t device_id);

#ifdef __cplusplus
}
#endif
#endif
