/* workspace.c: a stack of blocks over memory of the caller. Every block has a header with the offset of the block below, so
 * that a free in the wrong order is seen and nothing else is kept. SPDX-License-Identifier: Apache-2.0 */
#include <tirgen_rt/memory.h>
#include <tirgen_rt/model.h>

#include <string.h>

int32_t tirgen_rt_stack_init(tirgen_rt_stack *stack, void *memory, size_t size_bytes)
{
    if (stack == NULL || memory == NULL) {
        return TIRGEN_RT_ARGUMENT_INVALID;
    }
    const size_t lost = (TIRGEN_RT_ALIGN - (uintptr_t)memory % TIRGEN_RT_ALIGN) % TIRGEN_RT_ALIGN;
    stack->base = (unsigned char *)memory + (lost < size_bytes ? lost : size_bytes);
    stack->size_bytes = lost < size_bytes ? size_bytes - lost : 0;
    stack->used_bytes = 0;
    stack->peak_bytes = 0;
    stack->newest = 0;
    return TIRGEN_RT_OK;
}

int32_t tirgen_rt_stack_alloc(tirgen_rt_stack *stack, size_t size_bytes, void **out)
{
    const size_t room = stack->size_bytes - stack->used_bytes;
    if (size_bytes > room || TIRGEN_RT_STACK_BYTES(size_bytes) > room) {
        return TIRGEN_RT_NO_MEMORY;
    }
    const size_t block = stack->used_bytes + TIRGEN_RT_ALIGN;
    memcpy(stack->base + stack->used_bytes, &stack->newest, sizeof stack->newest);
    stack->newest = block;
    stack->used_bytes += TIRGEN_RT_STACK_BYTES(size_bytes);
    if (stack->used_bytes > stack->peak_bytes) {
        stack->peak_bytes = stack->used_bytes;
    }
    *out = stack->base + block;
    return TIRGEN_RT_OK;
}

int32_t tirgen_rt_stack_free(tirgen_rt_stack *stack, void *block)
{
    size_t below;
    if (stack->newest == 0 || block != stack->base + stack->newest) {
        return TIRGEN_RT_BAD_FREE;
    }
    memcpy(&below, stack->base + stack->newest - TIRGEN_RT_ALIGN, sizeof below);
    if (below >= stack->newest) { /* something wrote in front of its block */
        return TIRGEN_RT_BAD_FREE;
    }
    stack->used_bytes = stack->newest - TIRGEN_RT_ALIGN;
    stack->newest = below;
    return TIRGEN_RT_OK;
}
