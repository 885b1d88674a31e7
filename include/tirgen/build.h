/* tirgen/build.h: modules built from C, without text, for authors of other compilers. SPDX-License-Identifier: Apache-2.0
 *
 * Two builders: a graph of operators (Relay's), and one PrimFunc of loops (TIR's). Handles belong to the context. A call that
 * fails reports a diagnostic and returns NULL; NULL operands make later calls fail quietly, so checking the end is enough. */
#ifndef TIRGEN_BUILD_H
#define TIRGEN_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <dlpack/dlpack.h>

#include "tirgen/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tirgen_ctx;
typedef struct tirgen_value tirgen_value;   /**< A tensor or tuple of a graph; an expression of a PrimFunc. */
typedef struct tirgen_graph tirgen_graph;
typedef struct tirgen_prim tirgen_prim;
typedef struct tirgen_buffer tirgen_buffer;

/* ---- graphs ---- */

/** One attribute of an operator call. Set name and kind, and the member the kind says. */
typedef struct tirgen_attr {
    const char *name;
    enum { TIRGEN_ATTR_INT, TIRGEN_ATTR_BOOL, TIRGEN_ATTR_FLOAT, TIRGEN_ATTR_STR, TIRGEN_ATTR_INTS, TIRGEN_ATTR_NONE } kind;
    int64_t i;              /**< INT, BOOL */
    double f;               /**< FLOAT */
    const char *s;          /**< STR */
    const int64_t *list;    /**< INTS: n values */
    size_t n;
} tirgen_attr;

/** Begin the function @p name ("main" is the model). One builder at a time. */
TIRGEN_API tirgen_graph *tirgen_graph_begin(struct tirgen_ctx *ctx, const char *name);
/** A parameter: input @p name of @p ndim extents @p shape. */
TIRGEN_API tirgen_value *tirgen_graph_input(tirgen_graph *g, const char *name, DLDataType dtype, int32_t ndim, const int64_t *shape);
/** A constant. @p t is compact, on the CPU; its bytes are copied. */
TIRGEN_API tirgen_value *tirgen_graph_constant(tirgen_graph *g, const DLTensor *t);
/** A call of the operator @p op ("nn.dense"). Attributes left out have their defaults. Types are checked in tirgen_graph_end(). */
TIRGEN_API tirgen_value *tirgen_graph_call(tirgen_graph *g, const char *op, tirgen_value *const *arg, size_t nargs,
                                           const tirgen_attr *attr, size_t nattrs);
TIRGEN_API tirgen_value *tirgen_graph_tuple(tirgen_graph *g, tirgen_value *const *field, size_t n);
/** Field @p index of a tuple. */
TIRGEN_API tirgen_value *tirgen_graph_get(tirgen_graph *g, tirgen_value *tuple, size_t index);
/** Finish: the function returns @p result and joins the module. TIRGEN_EINPUT if any earlier call failed. */
TIRGEN_API tirgen_status tirgen_graph_end(tirgen_graph *g, tirgen_value *result);

/* ---- PrimFuncs ---- */

typedef enum tirgen_binary {
    TIRGEN_ADD, TIRGEN_SUB, TIRGEN_MUL, TIRGEN_DIV, TIRGEN_MOD, TIRGEN_FLOORDIV, TIRGEN_FLOORMOD, TIRGEN_MIN, TIRGEN_MAX,
    TIRGEN_EQ, TIRGEN_NE, TIRGEN_LT, TIRGEN_LE, TIRGEN_GT, TIRGEN_GE, TIRGEN_AND, TIRGEN_OR
} tirgen_binary;

/** Begin the public PrimFunc @p name; it becomes an external C function of that name. */
TIRGEN_API tirgen_prim *tirgen_prim_begin(struct tirgen_ctx *ctx, const char *name);
/** A buffer parameter, row-major. */
TIRGEN_API tirgen_buffer *tirgen_prim_buffer(tirgen_prim *p, const char *name, DLDataType dtype, int32_t ndim, const int64_t *shape);
/** Open a loop from 0 to @p extent; @return its index, int32. Statements go inside until tirgen_prim_end_scope(). */
TIRGEN_API tirgen_value *tirgen_prim_loop(tirgen_prim *p, const char *name, int64_t extent);
/** Open a conditional. */
TIRGEN_API void tirgen_prim_if(tirgen_prim *p, tirgen_value *condition);
/** Close the innermost loop or conditional. */
TIRGEN_API void tirgen_prim_end_scope(tirgen_prim *p);
TIRGEN_API tirgen_value *tirgen_prim_int(tirgen_prim *p, DLDataType dtype, int64_t v);
TIRGEN_API tirgen_value *tirgen_prim_float(tirgen_prim *p, DLDataType dtype, double v);
TIRGEN_API tirgen_value *tirgen_prim_load(tirgen_prim *p, tirgen_buffer *b, tirgen_value *const *index, size_t n);
/** Both operands have the same dtype; comparisons give bool. */
TIRGEN_API tirgen_value *tirgen_prim_binary(tirgen_prim *p, tirgen_binary op, tirgen_value *a, tirgen_value *b);
TIRGEN_API tirgen_value *tirgen_prim_cast(tirgen_prim *p, DLDataType dtype, tirgen_value *a);
/** A math intrinsic of one or more operands of one dtype: "exp", "sqrt", "pow" … */
TIRGEN_API tirgen_value *tirgen_prim_call(tirgen_prim *p, const char *intrinsic, tirgen_value *const *arg, size_t nargs);
TIRGEN_API void tirgen_prim_store(tirgen_prim *p, tirgen_buffer *b, tirgen_value *value, tirgen_value *const *index, size_t n);
/** Finish: the function joins the module. TIRGEN_EINPUT if any earlier call failed or a scope is open. */
TIRGEN_API tirgen_status tirgen_prim_end(tirgen_prim *p);

#ifdef __cplusplus
}
#endif
#endif
