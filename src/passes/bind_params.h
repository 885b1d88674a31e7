/* bind_params.h: named tensors in place of a function's parameters. */
#ifndef TG_BIND_PARAMS_H
#define TG_BIND_PARAMS_H

#include "ir/module.h"

/* In the Relay function @p entry, parameters whose names are among @p name become constants. "v0.weight" also matches "0.weight",
 * since TVM's printer puts a v before names that start with a digit. Errors: a tensor of another shape or dtype than the parameter's;
 * a parameter that only ever serves as a weight and has no tensor. Warns about tensors that no parameter takes. */
bool tg_bind_params(tg_ctx *cx, tg_module *m, const char *entry, size_t n, const tg_name *const *name, tg_tensor *const *value,
                    const char *const *file);

#endif
