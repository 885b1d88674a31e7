/* schedule_funcs.c: every function of blocks is computed the way the rules of schedule/ choose for the target.
 * Needs: TensorIR.  Keeps: what each function computes; sums of floats may be reassociated.
 * Loops from text stay as they are with keep_schedule, and where a function says that it is scheduled. */
#include "passes.h"

#include "schedule/schedule.h"

bool tg_pass_schedule_funcs(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    tg_target t;
    if (!tg_target_parse(cx, opt->target, &t)) return false;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_PRIM || opt->keep_schedule || tg_v_get_int(f->attrs, "tir.is_scheduled", 0) != 0)
            continue;
        const tg_func *now = tg_schedule_func(cx, f, &t);
        if (now != f) tg_module_set(m, now);
        tg_temp_reset(cx);          /* nothing of one function helps the next, and there may be thousands */
    }
    return true;
}
