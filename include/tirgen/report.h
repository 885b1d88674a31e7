/* tirgen/report.h: what a compiled model takes and needs. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_REPORT_H
#define TIRGEN_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <dlpack/dlpack.h>

#include "tirgen/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tirgen_ctx;

/** An input or output of the model. Texts and shape live as long as the context. */
typedef struct tirgen_tensor_info {
    const char *name;       /**< As in the model's text, not as in C. */
    DLDataType dtype;
    int32_t ndim;           /**< At most 16. */
    const int64_t *shape;   /**< ndim extents. */
    size_t size_bytes;
} tirgen_tensor_info;

/** Sizes of a compiled model. */
typedef struct tirgen_report {
    size_t ninputs, noutputs;
    size_t workspace_bytes;     /**< Peak of tensors between operators and scratch, as planned. */
    size_t workspace_bound;     /**< No plan for this order of operators can be smaller than this, in bytes. */
    size_t constant_bytes;      /**< Weights and tables. */
    size_t nkernels;
} tirgen_report;

/** @retval TIRGEN_EOPTION  The model was not compiled to the end. */
TIRGEN_API tirgen_status tirgen_get_report(struct tirgen_ctx *ctx, tirgen_report *out);
/** @param i  0 … ninputs-1 are the inputs, then the outputs. Works from lower-ops on. */
TIRGEN_API tirgen_status tirgen_get_tensor(struct tirgen_ctx *ctx, size_t i, tirgen_tensor_info *out);

#ifdef __cplusplus
}
#endif
#endif
