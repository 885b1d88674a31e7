/* main_interface.c: modules that TVM lowered say nothing of the parameters of their main: the attributes input_vars and output_vars
 * are added, with the names of the parameters.
 * Needs: pointers bound once.  Keeps: everything but those attributes.
 * Outputs are the parameters that main or what it calls writes; the memory pools of the attribute pool_args stand behind them. */
#include "passes.h"
#include "prim_call.h"
#include "ir/pool_info.h"

static const tg_value *names_of(tg_ctx *cx, const tg_var *const *param, uint32_t n)
{
    const tg_value **name = TG_ARRAY(cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i) name[i] = tg_v_str(cx, param[i]->name);
    return tg_v_list(cx, n, name);
}

static bool add_interface(tg_ctx *cx, tg_module *m, const tg_func *f)
{
    tg_writes w = tg_find_writes(cx, m);
    const tg_value *pools = tg_pools_of(f);
    uint32_t n = f->nparams - (pools == NULL ? 0 : pools->n), nin = 0, nout = 0;
    while (nin < n && !tg_is_written(&w, f->param[nin])) ++nin;
    while (nin + nout < n && tg_is_written(&w, f->param[nin + nout])) ++nout;
    if (nin + nout < n) {
        tg_error(cx, f->param[nin + nout]->span, "%s: parameter %s is not written, though one before it is: inputs stand before outputs",
                 f->name->text, f->param[nin + nout]->name->text);
        return false;
    }
    tg_func *g = tg_func_copy(cx, f);
    g->attrs = tg_v_with(cx, g->attrs, "input_vars", names_of(cx, f->param, nin));
    g->attrs = tg_v_with(cx, g->attrs, "output_vars", names_of(cx, f->param + nin, nout));
    tg_module_set(m, g);
    return true;
}

bool tg_pass_main_interface(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    const tg_func *f = tg_module_main(m);
    if (f == NULL || f->kind != TG_FUNC_PRIM || tg_v_get(f->attrs, "output_vars") != NULL) return true;
    return add_interface(cx, m, f);
}
