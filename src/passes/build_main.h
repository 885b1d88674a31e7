/* build_main.h: the AOT main function as a PrimFunc of packed calls. */
#ifndef TG_BUILD_MAIN_H
#define TG_BUILD_MAIN_H

#include "ir/module.h"

/* Adds __tvm_main__ for the Relay function @p entry, whose bindings call PrimFuncs of @p prims and loops of @p graph. Adds copy
 * kernels where an output is an input, a constant, or another output, and for what loops carry. Reports errors. */
bool tg_build_main(tg_ctx *cx, const tg_module *graph, tg_module *prims, const tg_func *entry);

/* Removes the functions nobody calls any more (aliased reshapes), main and public ones apart. */
void tg_drop_unused(tg_ctx *cx, tg_module *m);

#endif
