/* tensor.h: constant tensors. The bytes are borrowed from a mapped file where that is possible, never copied twice. */
#ifndef TG_TENSOR_H
#define TG_TENSOR_H

#include "type.h"

/* A DLTensor on the CPU: compact, row-major, native byte order, byte_offset 0. */
typedef struct tg_tensor {
    DLTensor dl;
    const tg_type *type;            /* its TG_T_TENSOR */
    size_t size_bytes;
    const tg_name *label;           /* a name from the model ("conv1.weight"), or NULL */
} tg_tensor;

/* Tensor over @p bytes (kept, not copied; may be NULL: zeroed memory from the arena). Checked sizes. */
tg_tensor *tg_tensor_new(tg_ctx *cx, const tg_type *type, void *bytes);
tg_tensor *tg_tensor_scalar(tg_ctx *cx, DLDataType d, double v);
tg_tensor *tg_tensor_scalar_int(tg_ctx *cx, DLDataType d, int64_t v);
bool tg_tensor_equal(const tg_tensor *a, const tg_tensor *b);           /* type and bytes */
/* Element i converted; bool, integers, float16/32/64, bfloat16. */
double tg_tensor_f64(const tg_tensor *t, int64_t i);
int64_t tg_tensor_i64(const tg_tensor *t, int64_t i);
void tg_tensor_set_f64(tg_tensor *t, int64_t i, double v);
void tg_tensor_set_i64(tg_tensor *t, int64_t i, int64_t v);
/* The float16 <-> float32 conversions everything shares. */
float tg_half_to_float(uint16_t h);
uint16_t tg_float_to_half(float f);                                     /* nearest, ties to even */
/* Rounding of @p v to @p d, as a double. */
double tg_round_to(DLDataType d, double v);
/* Wraps an int64 into the range of an integer dtype (two's complement); bool: v != 0. */
int64_t tg_wrap_to(DLDataType d, int64_t v);

#endif
