/* canon_qnn.h: the parts of the canon-qnn pass. Each takes a call whose operands are replaced already and gives what
 * stands for it, NULL after an error. */
#ifndef TG_CANON_QNN_H
#define TG_CANON_QNN_H

#include "rebind.h"
#include "ops/ops.h"

const tg_node *tg_canon_product(tg_rebind *r,
                                const tg_node *call);             /* canon_qnn_product.c: conv2d, dense, batch_matmul */
const tg_node *tg_canon_table(tg_rebind *r, const tg_node *call); /* canon_qnn_table.c: functions of one code */

/* One value: a scalar, or a tensor of one element. */
bool tg_canon_is_scalar(const tg_node *atom);
/* A constant scalar; false when @p atom is none. */
bool tg_canon_value(const tg_node *atom, double *v);
const tg_node *tg_canon_int(tg_rebind *r, int64_t v); /* scalar int32 constant */
/* The call bound to a variable; NULL stays NULL. */
const tg_node *tg_canon_let(tg_rebind *r, const tg_node *call);

#endif
