/* packed_entry.h: the packed calling convention, callee's side. */
#ifndef TG_PACKED_ENTRY_H
#define TG_PACKED_ENTRY_H

#include "ir/module.h"

/* Fields of tvm_struct_get and tvm_struct_set. */
enum { TG_FIELD_ADDRESS = 0, TG_FIELD_DATA = 1, TG_FIELD_SHAPE = 2, TG_FIELD_STRIDES = 3, TG_FIELD_NDIM = 4, TG_FIELD_CODE = 5, TG_FIELD_BITS = 6,
       TG_FIELD_LANES = 7, TG_FIELD_BYTE_OFFSET = 8, TG_FIELD_DEVICE_ID = 9, TG_FIELD_DEVICE_TYPE = 10, TG_FIELD_VALUE = 12 };
/* Type codes of packed arguments. */
enum { TG_CODE_INT = 0, TG_CODE_FLOAT = 2, TG_CODE_HANDLE = 3, TG_CODE_TENSOR = 7, TG_CODE_ARRAY = 13 };

/* The same function with the six parameters of a packed one; its old parameters are read from the arguments, and the variables
 * of their shapes, strides and offsets with them. checked: count, kinds, dtypes, ranks, extents, strides and alignment are tested
 * first; a call that is wrong leaves a text as the last error and returns a status. */
const tg_func *tg_packed_entry(tg_ctx *cx, const tg_func *f, bool checked);
/* Some extent, stride or offset of a parameter's buffer is a variable that no parameter gives. */
bool tg_has_open_shape(tg_ctx *cx, const tg_func *f);

#endif
