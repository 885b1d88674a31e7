/* tirgen_rt/ffi.h: what functions called __tvm_ffi_NAME, which tvm-ffi (TVM 0.22 and later) finds in a shared object, need to
 * become calls of the packed convention. Hosted; leave runtime/ffi.c out of images that have no such functions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_FFI_H
#define TIRGEN_RT_FFI_H

#include <stdint.h>

#include "packed.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A value that carries its type: TVMFFIAny, 16 bytes. */
typedef struct tirgen_rt_ffi_any {
    int32_t type_index;
    uint32_t small_length;      /**< Of a short string; else 0. */
    union {
        int64_t v_int64;
        double v_float64;
        void *v_ptr;
        char v_bytes[8];
    } u;
} tirgen_rt_ffi_any;

/** Makes a function visible in a shared object whatever the compiler's default is. */
#if defined(__GNUC__) && !defined(_WIN32)
#define TIRGEN_RT_FFI_EXPORT __attribute__((visibility("default")))
#elif defined(_WIN32)
#define TIRGEN_RT_FFI_EXPORT __declspec(dllexport)
#else
#define TIRGEN_RT_FFI_EXPORT
#endif

/**
 * Turn arguments into those of a packed call. Tensors stay where they are; both forms of them, borrowed and object, are taken.
 * @param function         Name for messages.
 * @param args             @p num_args values.
 * @param[out] value,code  @p count values and what they are; strings point into @p args.
 * @retval TIRGEN_RT_ARGUMENT_COUNT    @p num_args is not @p count.
 * @retval TIRGEN_RT_ARGUMENT_INVALID  @p args is NULL.
 */
int32_t tirgen_rt_ffi_args(const char *function, const tirgen_rt_ffi_any *args, int32_t num_args, TVMValue *value, int *code,
                           int32_t count);

/** What such a function returns for @p status: 0, or -1 after raising a TypeError, ValueError or RuntimeError with the text. */
int tirgen_rt_ffi_return(int32_t status);

#ifdef __cplusplus
}
#endif
#endif
