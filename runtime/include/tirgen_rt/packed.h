/* tirgen_rt/packed.h: the packed calling convention under its published names, and checks for it.
 *
 * The types are those of DLPack 0.7 and of TVM's C runtime. Where the original headers are used too, include them first:
 * their types are then taken. Enumerations inside the structs are int32_t here, since a compiler may make enums shorter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_PACKED_H
#define TIRGEN_RT_PACKED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack ---- */
#ifndef DLPACK_DLPACK_H_
/** Element type: code 0 signed, 1 unsigned, 2 float, 3 handle, 4 bfloat; bool is code 1 with 1 bit, stored as a byte. */
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/** Where memory is; the CPU is { 1, 0 }. */
typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

/** A view of memory. strides count elements; NULL: row-major and compact. The first element is byte_offset behind data. */
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;
#endif

/* ---- values and functions ---- */
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
/** One argument. Integers are passed as 64 bits, floats as double. */
typedef union {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
    DLDataType v_type;
    DLDevice v_device;
} TVMValue;

/** What an argument is. */
enum {
    kTVMArgInt = 0,
    kTVMArgFloat = 2,
    kTVMOpaqueHandle = 3,
    kTVMNullptr = 4,
    kTVMDataType = 5,
    kTVMDLTensorHandle = 7,
    kTVMObjectHandle = 8,
    kTVMModuleHandle = 9,
    kTVMPackedFuncHandle = 10,
    kTVMStr = 11,
    kTVMBytes = 12,
    kTVMNDArrayHandle = 13
};

typedef void *TVMFunctionHandle;

/** A packed function. @return 0, or a status. */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/** Keep a text for TVMGetLastError(), cut where the buffer ends. One buffer for all threads. */
void TVMAPISetLastError(const char *message);

/** @return The text of the last failure, "" when there was none; never NULL. */
const char *TVMGetLastError(void);

/** Call a function found by name. @return 0, or a status. */
int TVMFuncCall(TVMFunctionHandle function, TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value,
                int *out_ret_tcode);
#endif

#ifndef TVM_RUNTIME_C_BACKEND_API_H_
/**
 * Memory of a kernel, from the stack of tirgen_rt_platform_stack().
 * @return A block aligned to 16 bytes, or NULL after TVMAPISetLastError().
 */
void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint, int dtype_bits_hint);

/** Give back the newest block. @return 0, or a status. */
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

/** Of a parallel launch: how many tasks there are. */
typedef struct {
    void *sync_handle;
    int32_t num_task;
} TVMParallelGroupEnv;

/** One task of a parallel launch, 0 <= @p task_id < penv->num_task. @return 0, or a status. */
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv *penv, void *cdata);

/**
 * Run a function once for each task, and return when all are done. A port with threads defines its own; this one runs one
 * task after the other.
 * @param num_task  How many tasks; 0: as many as there are threads, here 1.
 * @return 0, or the first status that was not.
 */
int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task);

/** Find a function that the application registered. @return 0, or 0x100. */
int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);
#endif

/* ---- checks ---- */

/** What a tensor argument must be. */
typedef struct tirgen_rt_tensor_type {
    const char *name;     /**< For messages. */
    const int64_t *shape; /**< ndim extents; NULL for ndim 0. */
    int32_t ndim;
    uint8_t code, bits;   /**< As in DLDataType. */
    uint16_t lanes;
} tirgen_rt_tensor_type;

/**
 * Check the arguments of a packed call before they are used.
 * @param function             Name for messages.
 * @param args, type_codes     @p num_args values and what they are.
 * @param expected             @p count tensors.
 * @retval TIRGEN_RT_OK                All fit: tensors of the CPU with that dtype, rank and shape, compact, aligned, with data.
 * @retval TIRGEN_RT_ARGUMENT_COUNT    @p num_args is not @p count.
 * @retval TIRGEN_RT_ARGUMENT_TYPE     Kind, dtype, rank or shape of one.
 * @retval TIRGEN_RT_ARGUMENT_INVALID  One has no data, or lies elsewhere, not compact or not aligned.
 * After a failure TVMGetLastError() names the argument and the reason.
 */
int32_t tirgen_rt_check_args(const char *function, const TVMValue *args, const int *type_codes, int num_args,
                             const tirgen_rt_tensor_type *expected, int count);

/** @return The first element of the tensor in @p value. */
void *tirgen_rt_tensor_data(const TVMValue *value);

#ifdef __cplusplus
}
#endif
#endif
