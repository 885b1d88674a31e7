/* ffi.c: arguments and errors of tvm-ffi's calling convention. SPDX-License-Identifier: Apache-2.0 */
#include <tirgen_rt/ffi.h>
#include <tirgen_rt/model.h>

/* From libtvm_ffi, which has loaded the object; weak, so that the object also loads and links without it. */
#if defined(__GNUC__) && !defined(_WIN32)
#define TIRGEN_RT_FFI_WEAK __attribute__((weak, visibility("default")))
#else
#define TIRGEN_RT_FFI_WEAK
#endif
TIRGEN_RT_FFI_WEAK void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);

typedef char tirgen_rt_layout_of_any[sizeof(tirgen_rt_ffi_any) == 16 && offsetof(tirgen_rt_ffi_any, u) == 8 ? 1 : -1];

/* Kinds of values. */
enum {
    FFI_NONE = 0,
    FFI_INT = 1,
    FFI_BOOL = 2,
    FFI_FLOAT = 3,
    FFI_POINTER = 4,
    FFI_TENSOR_VIEW = 7,
    FFI_C_STRING = 8,
    FFI_SHORT_STRING = 11,
    FFI_TENSOR = 70,
    FFI_HEADER_BYTES = 24       /* of an object; its DLTensor follows */
};

static int convert(const tirgen_rt_ffi_any *from, TVMValue *to)
{
    to->v_int64 = from->u.v_int64;
    switch (from->type_index) {
    case FFI_NONE: to->v_handle = NULL; return kTVMNullptr;
    case FFI_INT:
    case FFI_BOOL: return kTVMArgInt;
    case FFI_FLOAT: to->v_float64 = from->u.v_float64; return kTVMArgFloat;
    case FFI_POINTER: to->v_handle = from->u.v_ptr; return kTVMOpaqueHandle;
    case FFI_TENSOR_VIEW: to->v_handle = from->u.v_ptr; return kTVMDLTensorHandle;
    case FFI_TENSOR:
        to->v_handle = from->u.v_ptr == NULL ? NULL : (unsigned char *)from->u.v_ptr + FFI_HEADER_BYTES;
        return kTVMDLTensorHandle;
    case FFI_C_STRING: to->v_str = (const char *)from->u.v_ptr; return kTVMStr;
    case FFI_SHORT_STRING: to->v_str = from->u.v_bytes; return kTVMStr;
    default: to->v_handle = from->u.v_ptr; return kTVMObjectHandle;
    }
}

int32_t tirgen_rt_ffi_args(const char *function, const tirgen_rt_ffi_any *args, int32_t num_args, TVMValue *value, int *code,
                           int32_t count)
{
    if (num_args != count || (count > 0 && args == NULL)) {     /* the one place that words it */
        return tirgen_rt_check_args(function, NULL, NULL, num_args, NULL, count);
    }
    for (int32_t i = 0; i < count; ++i) {
        code[i] = convert(&args[i], &value[i]);
    }
    return TIRGEN_RT_OK;
}

int tirgen_rt_ffi_return(int32_t status)
{
    const char *kind = "RuntimeError";
    const char *text = tirgen_rt_status_text(status);
    if (status == TIRGEN_RT_OK) {
        return 0;
    }
    if (status == TIRGEN_RT_ARGUMENT_COUNT || status == TIRGEN_RT_ARGUMENT_TYPE) {
        kind = "TypeError";
        text = TVMGetLastError();
    } else if (status == TIRGEN_RT_ARGUMENT_INVALID) {
        kind = "ValueError";
        text = TVMGetLastError();
    }
    if (TVMFFIErrorSetRaisedFromCStr != NULL) {
        TVMFFIErrorSetRaisedFromCStr(kind, text);
    }
    return -1;
}
