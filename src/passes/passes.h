/* passes.h: every pass with its one-line contract; pipeline.c is the only place that knows the order. */
#ifndef TG_PASSES_H
#define TG_PASSES_H

#include "ir/module.h"
#include "ir/options.h"
#include "ir/diag.h"

/* A pass changes the module or returns false after an error; it prints nothing and keeps no state. */
typedef bool (*tg_pass_fn)(tg_ctx *cx, tg_module *m, const tg_options *opt);
typedef struct tg_pass { const char *name; tg_pass_fn run; const char *help; } tg_pass;
extern const tg_pass tg_pipeline[];     /* in order; ends with a NULL name */

/* Called after each pass that ran; false stops. */
typedef bool (*tg_after_pass)(void *user, const tg_pass *pass, const tg_module *m, double seconds);
/* Runs the pipeline from the level the module is at up to and with pass @p last (NULL: to the end), verifying after each. */
bool tg_run_pipeline(tg_ctx *cx, tg_module *m, const tg_options *opt, const char *last, tg_after_pass after, void *user);
/* One pass, verified, with the scratch arena cleared behind it. */
bool tg_run_pass(tg_ctx *cx, tg_module *m, const tg_options *opt, const tg_pass *p, tg_after_pass after, void *user);
const tg_pass *tg_pass_find(const char *name);      /* NULL when unknown */

/* on Relay */
bool tg_pass_bind_shapes(tg_ctx *cx, tg_module *m, const tg_options *opt);      /* extents given by -shape */
bool tg_pass_inline_calls(tg_ctx *cx, tg_module *m, const tg_options *opt);     /* calls written out, matches resolved; loops stay */
bool tg_pass_infer_types(tg_ctx *cx, tg_module *m, const tg_options *opt);      /* every expression gets its type */
bool tg_pass_simplify_graph(tg_ctx *cx, tg_module *m, const tg_options *opt);   /* identities go; batch_norm, dropout unpacked */
bool tg_pass_fold_const(tg_ctx *cx, tg_module *m, const tg_options *opt);       /* calls on constants become constants */
bool tg_pass_unsigned_codes(tg_ctx *cx, tg_module *m, const tg_options *opt);   /* int8 to uint8 between operators, on x86 */
bool tg_pass_canon_qnn(tg_ctx *cx, tg_module *m, const tg_options *opt);        /* quantised operators to integer ones */
bool tg_pass_fold_batch_norm(tg_ctx *cx, tg_module *m, const tg_options *opt);  /* scale and shift into weights and bias */
bool tg_pass_layout(tg_ctx *cx, tg_module *m, const tg_options *opt);           /* channels last inside */
bool tg_pass_pack_dot(tg_ctx *cx, tg_module *m, const tg_options *opt);         /* weights of byte products in fours */
bool tg_pass_fuse_ops(tg_ctx *cx, tg_module *m, const tg_options *opt);         /* groups become functions with Primitive=1 */
bool tg_pass_lower_ops(tg_ctx *cx, tg_module *m, const tg_options *opt);        /* fused functions and main to PrimFuncs */
/* on TIR */
bool tg_pass_main_interface(tg_ctx *cx, tg_module *m, const tg_options *opt);   /* inputs and outputs of a main that was read */
bool tg_pass_schedule_funcs(tg_ctx *cx, tg_module *m, const tg_options *opt);   /* rules of schedule/ */
bool tg_pass_lower_blocks(tg_ctx *cx, tg_module *m, const tg_options *opt);     /* blocks to loops */
bool tg_pass_flatten(tg_ctx *cx, tg_module *m, const tg_options *opt);          /* n-d buffers to 1-d */
bool tg_pass_simplify(tg_ctx *cx, tg_module *m, const tg_options *opt);         /* integer algebra with ranges, dead code */
bool tg_pass_dot_calls(tg_ctx *cx, tg_module *m, const tg_options *opt);        /* loops of byte products to dot_tile */
bool tg_pass_loops(tg_ctx *cx, tg_module *m, const tg_options *opt);            /* unit loops go, unrolled loops unroll */
bool tg_pass_base_pointers(tg_ctx *cx, tg_module *m, const tg_options *opt);    /* what a loop keeps of its indices moves before it */
bool tg_pass_plan_memory(tg_ctx *cx, tg_module *m, const tg_options *opt);      /* allocations to offsets in the workspace */
bool tg_pass_parallel_tasks(tg_ctx *cx, tg_module *m, const tg_options *opt);   /* parallel loops to functions over a range */
bool tg_pass_lower_call_packed(tg_ctx *cx, tg_module *m, const tg_options *opt);/* arguments, binding and results of calls */

#endif
