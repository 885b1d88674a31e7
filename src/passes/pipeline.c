/* pipeline.c: the order of the passes, and nothing else. */
#include "passes.h"
#include "ir/verify.h"

#include <string.h>
#include <time.h>

const tg_pass tg_pipeline[] = {
    /* graph level */
    { "bind-shapes", tg_pass_bind_shapes, "extents given by -shape" },
    { "inline-calls", tg_pass_inline_calls, "calls are written out, matches resolved; loops stay functions" },
    { "infer-types", tg_pass_infer_types, "every expression gets its type" },
    { "fold-inputs", tg_pass_fold_const, "what the text computes from constants alone" },
    { "simplify-graph", tg_pass_simplify_graph, "identities go; batch_norm and dropout are unpacked" },
    { "fold-const", tg_pass_fold_const, "calls on constants become constants" },
    { "unsigned-codes", tg_pass_unsigned_codes, "codes between operators take the signs that the machine multiplies" },
    { "canon-qnn", tg_pass_canon_qnn, "quantised operators become integer ones" },
    { "fold-batch-norm", tg_pass_fold_batch_norm, "scales and shifts move into weights and bias" },
    { "layout", tg_pass_layout, "channels last inside, transposes at the edges" },
    { "fold-layout", tg_pass_fold_const, "weights take the layout that was chosen" },
    { "pack-dot", tg_pass_pack_dot, "weights of products of bytes come in groups of four" },
    { "fuse-ops", tg_pass_fuse_ops, "operators that share a loop nest become one function" },
    { "lower-ops", tg_pass_lower_ops, "fused functions become blocks, main becomes packed calls" },
    /* TensorIR level */
    { "main-interface", tg_pass_main_interface, "a main that was read says which parameters are outputs" },
    { "schedule-funcs", tg_pass_schedule_funcs, "tiles, orders and epilogues are chosen" },
    { "lower-blocks", tg_pass_lower_blocks, "blocks become loops" },
    /* loop level */
    { "flatten", tg_pass_flatten, "n-d buffers become 1-d" },
    { "simplify", tg_pass_simplify, "integer algebra with ranges, dead code" },
    { "dot-calls", tg_pass_dot_calls, "loops that multiply and add bytes become calls of dot_tile, tap_tile" },
    { "loops", tg_pass_loops, "unit loops go, unrolled loops unroll" },
    { "simplify-loops", tg_pass_simplify, "what the loops left to fold" },
    { "plan-memory", tg_pass_plan_memory, "allocations become offsets in the workspace" },
    { "base-pointers", tg_pass_base_pointers, "what a loop keeps of its indices moves before it" },
    { "parallel-tasks", tg_pass_parallel_tasks, "with -parallel: parallel loops become functions over a range" },
    { "lower-call-packed", tg_pass_lower_call_packed, "arguments, binding and results of calls" },
    { NULL, NULL, NULL }
};

const tg_pass *tg_pass_find(const char *name)
{
    for (const tg_pass *p = tg_pipeline; p->name != NULL; ++p)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Where a module of PrimFuncs enters. */
static const tg_pass *first_pass(const tg_module *m)
{
    return tg_module_level(m) == TG_LEVEL_RELAY ? tg_pipeline : tg_pass_find("main-interface");
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool tg_run_pass(tg_ctx *cx, tg_module *m, const tg_options *opt, const tg_pass *p, tg_after_pass after, void *user)
{
    double start = seconds();
    uint32_t errors = cx->nerrors;
    cx->pass = p->name;
    bool good = p->run(cx, m, opt);
    TG_CHECK(cx, good || cx->nerrors > errors, NULL);       /* a pass that gives up says why */
    good = good && tg_verify_module(cx, m, false);
    cx->pass = NULL;
    tg_temp_reset(cx);
    return good && (after == NULL || after(user, p, m, seconds() - start));
}

bool tg_run_pipeline(tg_ctx *cx, tg_module *m, const tg_options *opt, const char *last, tg_after_pass after, void *user)
{
    for (const tg_pass *p = first_pass(m); p->name != NULL; ++p) {
        if (!tg_run_pass(cx, m, opt, p, after, user))
            return false;
        if (last != NULL && strcmp(p->name, last) == 0)
            break;
    }
    return true;
}
