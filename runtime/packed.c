/* packed.c: the text of the last failure, and the checks of a packed call. SPDX-License-Identifier: Apache-2.0 */
#include <tirgen_rt/config.h>
#include <tirgen_rt/model.h>
#include <tirgen_rt/packed.h>

/* What the convention says about layout; a compiler that disagrees stops here. */
typedef char tirgen_rt_layout_of_dtype[sizeof(DLDataType) == 4 ? 1 : -1];
typedef char tirgen_rt_layout_of_device[sizeof(DLDevice) == 8 ? 1 : -1];
typedef char tirgen_rt_layout_of_value[sizeof(TVMValue) == 8 ? 1 : -1];
typedef char tirgen_rt_layout_of_tensor[offsetof(DLTensor, dtype) == offsetof(DLTensor, ndim) + 4 ? 1 : -1];

/* ---- the last error: the one writable object of the runtime ---- */

#if TIRGEN_RT_LAST_ERROR_BYTES > 0

static char last_error[TIRGEN_RT_LAST_ERROR_BYTES];

static size_t append(size_t at, const char *text)
{
    while (*text != '\0' && at + 1 < sizeof last_error) {
        last_error[at++] = *text++;
    }
    last_error[at] = '\0';
    return at;
}

void TVMAPISetLastError(const char *message)
{
    (void)append(0, message == NULL ? "" : message);
}

const char *TVMGetLastError(void)
{
    return last_error;
}

#else

static size_t append(size_t at, const char *text)
{
    (void)text;
    return at;
}

void TVMAPISetLastError(const char *message)
{
    (void)message;
}

const char *TVMGetLastError(void)
{
    return "";
}

#endif

static size_t append_number(size_t at, int64_t v)
{
    char digits[24];
    size_t n = sizeof digits;
    uint64_t rest = v < 0 ? 0U - (uint64_t)v : (uint64_t)v;
    digits[--n] = '\0';
    do {
        digits[--n] = (char)('0' + rest % 10U);
        rest /= 10U;
    } while (rest > 0U);
    if (v < 0) {
        digits[--n] = '-';
    }
    return append(at, digits + n);
}

/* ---- the checks ---- */

/* "function: name: reason" */
static int32_t refuse(int32_t status, const char *function, const char *name, const char *reason)
{
    size_t at = append(0, function);
    at = append(at, ": ");
    at = append(at, name);
    at = append(at, ": ");
    (void)append(at, reason);
    return status;
}

static int32_t refuse_number(const char *function, const char *name, const char *what, int64_t got, int64_t wanted)
{
    size_t at = append(0, function);
    at = append(at, ": ");
    at = append(at, name);
    at = append(at, ": ");
    at = append(at, what);
    at = append(at, " is ");
    at = append_number(at, got);
    at = append(at, ", expected ");
    (void)append_number(at, wanted);
    return TIRGEN_RT_ARGUMENT_TYPE;
}

/* A bool may also come with the code that newer versions of DLPack have for it. */
static int same_dtype(DLDataType d, const tirgen_rt_tensor_type *t)
{
    if (t->code == 1 && t->bits == 1 && d.code == 6 && d.bits == 8 && d.lanes == t->lanes) {
        return 1;
    }
    return d.code == t->code && d.bits == t->bits && d.lanes == t->lanes;
}

static int is_compact(const DLTensor *t)
{
    int64_t step = 1;
    if (t->strides == NULL) {
        return 1;
    }
    for (int32_t k = t->ndim - 1; k >= 0; --k) {
        if (t->shape[k] != 1 && t->strides[k] != step) {
            return 0;
        }
        step *= t->shape[k];
    }
    return 1;
}

static int32_t check_tensor(const char *function, const DLTensor *t, const tirgen_rt_tensor_type *expected)
{
    const char *name = expected->name;
    int64_t elements = 1;
    if (!same_dtype(t->dtype, expected)) {
        return refuse(TIRGEN_RT_ARGUMENT_TYPE, function, name, "wrong dtype");
    }
    if (t->ndim != expected->ndim) {
        return refuse_number(function, name, "rank", t->ndim, expected->ndim);
    }
    for (int32_t k = 0; k < t->ndim; ++k) {
        if (t->shape[k] != expected->shape[k]) {
            return refuse_number(function, name, "an extent", t->shape[k], expected->shape[k]);
        }
        elements *= t->shape[k];
    }
    if (elements == 0) {
        return TIRGEN_RT_OK;
    }
    if (t->data == NULL) {
        return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, name, "no data");
    }
    if (t->device.device_type != 1) {
        return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, name, "not in memory of the CPU");
    }
    if (!is_compact(t)) {
        return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, name, "not compact");
    }
    if (((uintptr_t)t->data + (uintptr_t)t->byte_offset) % ((expected->bits + 7U) / 8U) != 0) {
        return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, name, "not aligned");
    }
    return TIRGEN_RT_OK;
}

int32_t tirgen_rt_check_args(const char *function, const TVMValue *args, const int *type_codes, int num_args,
                             const tirgen_rt_tensor_type *expected, int count)
{
    if (num_args != count) {
        (void)refuse_number(function, "arguments", "their number", num_args, count);
        return TIRGEN_RT_ARGUMENT_COUNT;
    }
    if (count > 0 && (args == NULL || type_codes == NULL)) {
        return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, "arguments", "NULL");
    }
    for (int i = 0; i < count; ++i) {
        const int code = type_codes[i];
        if (code != kTVMOpaqueHandle && code != kTVMDLTensorHandle && code != kTVMNDArrayHandle) {
            return refuse(TIRGEN_RT_ARGUMENT_TYPE, function, expected[i].name, "not a tensor");
        }
        const DLTensor *tensor = (const DLTensor *)args[i].v_handle;
        if (tensor == NULL) {
            return refuse(TIRGEN_RT_ARGUMENT_INVALID, function, expected[i].name, "NULL");
        }
        const int32_t status = check_tensor(function, tensor, &expected[i]);
        if (status != TIRGEN_RT_OK) {
            return status;
        }
    }
    return TIRGEN_RT_OK;
}

void *tirgen_rt_tensor_data(const TVMValue *value)
{
    const DLTensor *tensor = (const DLTensor *)value->v_handle;
    return tensor->data == NULL ? NULL : (unsigned char *)tensor->data + (size_t)tensor->byte_offset;
}
