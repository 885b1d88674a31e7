/* tirgen_rt/memory.h: allocators over memory of the caller. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_MEMORY_H
#define TIRGEN_RT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Alignment of every block, in bytes. */
#define TIRGEN_RT_ALIGN 16

/** Bytes that a block of @p size_bytes takes: a header that detects wrong frees, and the block rounded up. */
#define TIRGEN_RT_STACK_BYTES(size_bytes) \
    ((size_t)TIRGEN_RT_ALIGN + (((size_t)(size_bytes) + TIRGEN_RT_ALIGN - 1) & ~((size_t)TIRGEN_RT_ALIGN - 1)))

/** An allocator whose blocks are given back in reverse order. The members are for reading only. */
typedef struct tirgen_rt_stack {
    unsigned char *base;  /**< First aligned byte. */
    size_t size_bytes;    /**< Usable from there. */
    size_t used_bytes;    /**< Headers and rounding included. */
    size_t peak_bytes;    /**< The most that used_bytes has been. */
    size_t newest;        /**< Offset of the newest block; 0: none. */
} tirgen_rt_stack;

/**
 * Make an empty stack. Again later: forget all blocks, for example after a run that failed half-way.
 * @param[out] stack  Its memory belongs to the caller.
 * @param memory      Kept in use as long as the stack is. Any alignment; up to 15 bytes are lost to reach 16.
 * @param size_bytes  Size of @p memory.
 * @retval TIRGEN_RT_OK                Done.
 * @retval TIRGEN_RT_ARGUMENT_INVALID  A pointer is NULL.
 */
int32_t tirgen_rt_stack_init(tirgen_rt_stack *stack, void *memory, size_t size_bytes);

/**
 * @param[out] out  A block of @p size_bytes (0 is allowed), aligned to TIRGEN_RT_ALIGN; unchanged on failure.
 * @retval TIRGEN_RT_OK         Done.
 * @retval TIRGEN_RT_NO_MEMORY  It does not fit; nothing has changed.
 */
int32_t tirgen_rt_stack_alloc(tirgen_rt_stack *stack, size_t size_bytes, void **out);

/**
 * Give back the newest block.
 * @retval TIRGEN_RT_OK        Done.
 * @retval TIRGEN_RT_BAD_FREE  @p block is not the newest one; nothing has changed.
 */
int32_t tirgen_rt_stack_free(tirgen_rt_stack *stack, void *block);

#ifdef __cplusplus
}
#endif
#endif
