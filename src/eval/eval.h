/* eval.h: the reference evaluator: executes any PrimFunc at TensorIR or loop level with checked bounds. */
#ifndef TG_EVAL_H
#define TG_EVAL_H

#include "ir/module.h"

/* Run @p f. args: one DLTensor per buffer parameter (compact; data is read and written in place), scalars as rank-0
 * tensors. Calls of other functions of @p m (call_cpacked, call_packed, call_extern by name) are followed. Contents of
 * fresh allocations are a fixed pattern (signalling a read before write in the results). False after an error: shape
 * or dtype of an argument, an index out of bounds (buffer, index, extent named), an unknown callee, an assert that
 * failed. *ret gets the value of T.ret, 0 otherwise. */
bool tg_eval(tg_ctx *cx, const tg_module *m, const tg_func *f, DLTensor *const *args, uint32_t nargs, int64_t *ret);

/* The value of a Relay operator call whose operands are RCONST, or RTUPLE of those: out[0..nout) get its tensors,
 * tuples flattened. False after an error, and without one when the operator has no lowering or an extent of the result
 * is not known. For constant folding. */
bool tg_eval_call(tg_ctx *cx, const tg_node *call, const tg_tensor **out, uint32_t nout);

#endif
