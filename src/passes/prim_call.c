/* prim_call.c: PrimFuncs as the graph sees them, see prim_call.h. */
#include "prim_call.h"
#include "ir/walk.h"

static const tg_var *root_of(const tg_writes *w, const tg_node *pointer)
{
    if (tg_is_call(pointer, "tvm_stack_make_array")) pointer = pointer->kid[0];
    if (tg_is_call(pointer, "address_of") && pointer->kid[0]->kind == TG_LOAD)
        return tg_map_get(&w->stands, (uint64_t)pointer->kid[0]->u.buf->data->id + 1);
    return pointer->kind == TG_VAR ? tg_map_get(&w->stands, (uint64_t)pointer->u.var->id + 1) : NULL;
}

bool tg_is_written(const tg_writes *w, const tg_var *param)
{
    return tg_map_get(&w->param, (uint64_t)param->id + 1) != NULL;
}

static void note_written(tg_ctx *cx, tg_writes *w, const tg_var *param)
{
    if (param == NULL || tg_is_written(w, param)) return;
    tg_map_put(cx, &w->param, (uint64_t)param->id + 1, w);
    w->changed = true;
}

/* call_cpacked("f", arguments…, handle) and call_extern("f", arguments…). */
static void note_call(tg_ctx *cx, tg_writes *w, const tg_node *call)
{
    const tg_func *f = call->nkids > 0 && call->kid[0]->kind == TG_STR ? tg_module_find(w->m, call->kid[0]->u.name) : NULL;
    for (uint32_t i = 1; f != NULL && i < call->nkids && i <= f->nparams; ++i)
        if (tg_is_written(w, f->param[i - 1])) note_written(cx, w, root_of(w, call->kid[i]));
}

static bool note(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_writes *w = user;
    if (n->kind == TG_LET_STMT && root_of(w, n->kid[0]) != NULL)
        tg_map_put(cx, &w->stands, (uint64_t)n->u.var->id + 1, (void *)(uintptr_t)root_of(w, n->kid[0]));
    else if (n->kind == TG_STORE)
        note_written(cx, w, tg_map_get(&w->stands, (uint64_t)n->u.buf->data->id + 1));
    else if (n->kind == TG_CALL)
        note_call(cx, w, n);
    return true;
}

tg_writes tg_find_writes(tg_ctx *cx, const tg_module *m)
{
    tg_writes now = { .m = m }, *w = &now;
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
    return now;
}

const tg_type *tg_prim_type(tg_ctx *cx, const tg_module *m, const tg_func *f)
{
    tg_writes w = tg_find_writes(cx, m);
    const tg_type **param = TG_ARRAY(cx, const tg_type *, f->nparams);
    uint32_t nin = 0;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        int64_t dim[TG_MAX_NDIM];
        const tg_buffer *b = f->buffer == NULL ? NULL : f->buffer[i];
        if (b == NULL || !tg_buffer_dims(b, dim)) return NULL;
        param[i] = tg_tensor_type(cx, b->dtype, b->ndim, dim, 0);
        if (tg_is_written(&w, f->param[i])) continue;
        if (nin < i) return NULL;
        nin = i + 1;
    }
    uint32_t nout = f->nparams - nin;
    if (nout == 0) return NULL;
    return tg_func_type(cx, nin, param, nout == 1 ? param[nin] : tg_tuple_type(cx, nout, param + nin));
}
