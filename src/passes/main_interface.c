/* main_interface.c: modules that TVM lowered say nothing of the parameters of their main: the attributes input_vars and output_vars
 * are added, with the names of the parameters.
 * Needs: pointers bound once.  Keeps: everything but those attributes.
 * Outputs are the parameters that main or what it calls writes; the memory pools of the attribute pool_args stand behind them. */
#include "passes.h"
#include "ir/pool_info.h"
#include "ir/walk.h"

typedef struct writes {
    tg_module *m;
    tg_map param;   /* parameter's variable id + 1: it is written */
    tg_map stands;  /* pointer's variable id + 1 -> the parameter it points into */
    bool changed;
} writes;

static const tg_var *root_of(const writes *w, const tg_node *pointer)
{
    if (tg_is_call(pointer, "tvm_stack_make_array")) pointer = pointer->kid[0];
    if (tg_is_call(pointer, "address_of") && pointer->kid[0]->kind == TG_LOAD)
        return tg_map_get(&w->stands, (uint64_t)pointer->kid[0]->u.buf->data->id + 1);
    return pointer->kind == TG_VAR ? tg_map_get(&w->stands, (uint64_t)pointer->u.var->id + 1) : NULL;
}

static bool is_written(const writes *w, const tg_var *param)
{
    return tg_map_get(&w->param, (uint64_t)param->id + 1) != NULL;
}

static void note_written(tg_ctx *cx, writes *w, const tg_var *param)
{
    if (param == NULL || is_written(w, param)) return;
    tg_map_put(cx, &w->param, (uint64_t)param->id + 1, w);
    w->changed = true;
}

/* call_cpacked("f", arguments…, handle) and call_extern("f", arguments…). */
static void note_call(tg_ctx *cx, writes *w, const tg_node *call)
{
    const tg_func *f = call->nkids > 0 && call->kid[0]->kind == TG_STR ? tg_module_find(w->m, call->kid[0]->u.name) : NULL;
    for (uint32_t i = 1; f != NULL && i < call->nkids && i <= f->nparams; ++i)
        if (is_written(w, f->param[i - 1])) note_written(cx, w, root_of(w, call->kid[i]));
}

static bool note(tg_ctx *cx, const tg_node *n, void *user)
{
    writes *w = user;
    if (n->kind == TG_LET_STMT && root_of(w, n->kid[0]) != NULL)
        tg_map_put(cx, &w->stands, (uint64_t)n->u.var->id + 1, (void *)(uintptr_t)root_of(w, n->kid[0]));
    else if (n->kind == TG_STORE)
        note_written(cx, w, tg_map_get(&w->stands, (uint64_t)n->u.buf->data->id + 1));
    else if (n->kind == TG_CALL)
        note_call(cx, w, n);
    return true;
}

static void find_writes(tg_ctx *cx, writes *w)
{
    for (size_t i = 0; i < w->m->funcs.n; ++i) {
        const tg_func *f = w->m->funcs.at[i];
        for (uint32_t k = 0; f->kind == TG_FUNC_PRIM && k < f->nparams; ++k) {
            const tg_var *data = f->buffer != NULL && f->buffer[k] != NULL ? f->buffer[k]->data : f->param[k];
            tg_map_put(cx, &w->stands, (uint64_t)data->id + 1, (void *)(uintptr_t)f->param[k]);
            tg_map_put(cx, &w->stands, (uint64_t)f->param[k]->id + 1, (void *)(uintptr_t)f->param[k]);
        }
    }
    do {
        w->changed = false;
        for (size_t i = 0; i < w->m->funcs.n; ++i)
            if (w->m->funcs.at[i]->kind == TG_FUNC_PRIM) tg_visit(cx, w->m->funcs.at[i]->body, note, w);
    } while (w->changed);
}

static const tg_value *names_of(tg_ctx *cx, const tg_var *const *param, uint32_t n)
{
    const tg_value **name = TG_ARRAY(cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i) name[i] = tg_v_str(cx, param[i]->name);
    return tg_v_list(cx, n, name);
}

static bool add_interface(tg_ctx *cx, tg_module *m, const tg_func *f)
{
    writes w = { .m = m };
    find_writes(cx, &w);
    const tg_value *pools = tg_pools_of(f);
    uint32_t n = f->nparams - (pools == NULL ? 0 : pools->n), nin = 0, nout = 0;
    while (nin < n && !is_written(&w, f->param[nin])) ++nin;
    while (nin + nout < n && is_written(&w, f->param[nin + nout])) ++nout;
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
