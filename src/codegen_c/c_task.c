/* c_task.c: functions over a range that may run in parts at the same time (attribute TG_TASK). NAME hands its arguments in a struct to
 * the runtime, which calls NAME_part for each part, which calls NAME_range with that part of the range. */
#include "emit.h"

#include <string.h>

static void put_struct(tg_emit *e, const c_fn *fn)
{
    tg_printf(e->to, "\n/* The arguments of %s, as the runtime passes them on. */\nstruct %s_args {\n", fn->name->text, fn->name->text);
    for (uint32_t i = 0; i < fn->f->nparams; ++i)
        tg_printf(e->to, "    %s;\n", c_param_text(e, fn, i, false));
    tg_puts(e->to, "};\n");
}

static const char *name_of(tg_emit *e, const c_fn *fn, uint32_t i)
{
    return c_var_of(e, fn->f->param[i])->name->text;
}

static void put_part(tg_emit *e, const c_fn *fn)
{
    const char *name = fn->name->text, *type = c_type(e, fn->f->param[fn->f->nparams - 1]->type->dtype, fn->f->span);
    uint32_t n = fn->f->nparams;
    const char *begin = name_of(e, fn, n - 2), *end = name_of(e, fn, n - 1);
    tg_printf(e->to, "\nstatic int %s_part(int task_id, TVMParallelGroupEnv *env, void *args)\n{\n", name);
    tg_printf(e->to, "    const struct %s_args *a = (const struct %s_args *)args;\n", name, name);
    tg_printf(e->to, "    const int64_t all = (int64_t)a->%s - a->%s;\n", end, begin);
    tg_printf(e->to, "    const %s first = a->%s + (%s)(all * task_id / env->num_task);\n", type, begin, type);
    tg_printf(e->to, "    const %s last = a->%s + (%s)(all * (task_id + 1) / env->num_task);\n    return (int)%s_range(", type, begin, type, name);
    for (uint32_t i = 0; i + 2 < n; ++i)
        tg_printf(e->to, "a->%s, ", name_of(e, fn, i));
    tg_puts(e->to, "first, last);\n}\n");
}

static void put_launch(tg_emit *e, const c_fn *fn)
{
    c_put_signature(e, fn);
    tg_printf(e->to, "\n{\n    struct %s_args args;\n", fn->name->text);
    for (uint32_t i = 0; i < fn->f->nparams; ++i)
        tg_printf(e->to, "    args.%s = %s;\n", name_of(e, fn, i), name_of(e, fn, i));
    tg_printf(e->to, "    return TVMBackendParallelLaunch(%s_part, &args, 0);\n}\n", fn->name->text);
}

void c_put_task(tg_emit *e, c_fn *fn)
{
    const tg_name *name = fn->name;
    e->need |= C_PACKED;
    fn->name = tg_internf(e->cx, "%s_range", name->text);
    c_function(e, fn);
    fn->name = name;
    size_t mark = c_scope_open(e);
    ++e->epoch;
    static const char *const own[] = { "a", "all", "args", "env", "first", "last", "task_id" };
    for (size_t i = 0; i < TG_COUNT(own); ++i)
        c_local(e, own[i], strlen(own[i]), own[i]);
    c_name_params(e, fn);
    put_struct(e, fn);
    put_part(e, fn);
    tg_putc(e->to, '\n');
    put_launch(e, fn);
    c_scope_close(e, mark);
}
