/* type.h: interned types: equal types are equal pointers within one context. */
#ifndef TG_TYPE_H
#define TG_TYPE_H

#include "names.h"

enum tg_type_kind {
    TG_T_PRIM,      /* a TIR value of dtype (lanes > 1: a vector) */
    TG_T_PTR,       /* a TIR pointer: dtype of the pointee (code kDLOpaqueHandle: untyped), name: storage scope or NULL */
    TG_T_VOID,
    TG_T_TENSOR,    /* dtype, n dims */
    TG_T_TUPLE,     /* n fields */
    TG_T_FUNC,      /* n parameters, ret */
    TG_T_VAR,       /* a type parameter: name */
    TG_T_ADT,       /* name, n arguments */
    TG_T_REF,       /* field[0] */
    TG_T_UNKNOWN    /* "_" */
};

#define TG_DIM_ANY (-1)     /* "?": not known at compile time */

struct tg_type {
    tg_type *next;                  /* chain of the intern table */
    uint16_t kind;                  /* enum tg_type_kind */
    uint16_t nwide;
    uint32_t id;
    DLDataType dtype;
    uint32_t n;
    uint32_t wide;                  /* bit k: dim k was written as an int64 literal (3i64) */
    const int64_t *dim;             /* n extents, TG_DIM_ANY for unknown */
    const tg_type *const *field;    /* n fields, parameters or arguments */
    const tg_type *ret;
    const tg_name *name;
};

/* dtypes */
DLDataType tg_dtype(uint8_t code, uint8_t bits, uint16_t lanes);
#define TG_BOOL tg_dtype(kDLUInt, 1, 1)
#define TG_INT8 tg_dtype(kDLInt, 8, 1)
#define TG_INT32 tg_dtype(kDLInt, 32, 1)
#define TG_INT64 tg_dtype(kDLInt, 64, 1)
#define TG_UINT8 tg_dtype(kDLUInt, 8, 1)
#define TG_FLOAT16 tg_dtype(kDLFloat, 16, 1)
#define TG_FLOAT32 tg_dtype(kDLFloat, 32, 1)
#define TG_FLOAT64 tg_dtype(kDLFloat, 64, 1)
#define TG_HANDLE tg_dtype(kDLOpaqueHandle, 64, 1)
bool tg_dtype_eq(DLDataType a, DLDataType b);
bool tg_dtype_parse(const char *text, size_t n, DLDataType *out);       /* "float32x4", "bool", "int8", "handle" … */
const char *tg_dtype_text(tg_ctx *cx, DLDataType d);                    /* "float32", "bool", "int8x4" */
static inline bool tg_is_bool(DLDataType d) { return d.code == kDLUInt && d.bits == 1; }
static inline bool tg_is_float(DLDataType d) { return d.code == kDLFloat || d.code == kDLBfloat; }
static inline bool tg_is_int(DLDataType d) { return (d.code == kDLInt || d.code == kDLUInt) && d.bits > 1; }
static inline size_t tg_dtype_bytes(DLDataType d) { return (size_t)((d.bits + 7) / 8) * d.lanes; }   /* bool: 1 */

/* types */
const tg_type *tg_prim(tg_ctx *cx, DLDataType d);
const tg_type *tg_ptr(tg_ctx *cx, DLDataType to, const tg_name *scope);
const tg_type *tg_void(tg_ctx *cx);
const tg_type *tg_tensor_type(tg_ctx *cx, DLDataType d, uint32_t ndim, const int64_t *dim, uint32_t wide);
const tg_type *tg_tuple_type(tg_ctx *cx, uint32_t n, const tg_type *const *field);
const tg_type *tg_func_type(tg_ctx *cx, uint32_t n, const tg_type *const *param, const tg_type *ret);
const tg_type *tg_named_type(tg_ctx *cx, enum tg_type_kind kind, const tg_name *name, uint32_t n, const tg_type *const *arg);
const tg_type *tg_ref_type(tg_ctx *cx, const tg_type *to);
const tg_type *tg_unknown(tg_ctx *cx);

const char *tg_type_text(tg_ctx *cx, const tg_type *t);                 /* as Relay prints it: "Tensor[(1, 3), float32]" */
bool tg_type_same_shape(const tg_type *a, const tg_type *b);            /* tensors: extents equal, literal widths apart */
/* Elements of a tensor type; false when a dim is unknown or the product passes TG_MAX_ELEMENTS. */
bool tg_type_elements(const tg_type *t, int64_t *out);
bool tg_type_bytes(const tg_type *t, int64_t *out);

#endif
