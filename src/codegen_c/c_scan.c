/* c_scan.c: which functions are printed, in which order, and what each does with its variables.
 * Everything the printer must know before it meets a declaration is gathered here, in one visit of every distinct node. */
#include "emit.h"

#include <math.h>
#include <string.h>

typedef struct scanning {
    tg_emit *e;
    c_fn *fn;
    tg_map seen;                        /* ids of nodes with operands */
    TG_VEC(const tg_node *) todo;
    TG_VEC(const tg_node *) let;        /* LET_STMTs whose values wait: nobody may need them */
} scanning;

/* ---- small questions ---- */

bool c_is_pointer(const tg_node *n)
{
    if (n->type == NULL)
        return false;
    return n->type->kind == TG_T_PTR || (n->type->kind == TG_T_PRIM && n->type->dtype.code == kDLOpaqueHandle && n->kind != TG_STR);
}

const tg_var *c_root(const tg_node *n)
{
    for (;;) {
        if (n->kind == TG_VAR)
            return n->u.var;
        if (n->kind == TG_LET)
            n = n->kid[1];
        else if (tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD)
            return n->kid[0]->u.buf->data;
        else if (tg_is_call(n, "tvm_access_ptr"))
            n = n->kid[1];
        else
            return NULL;
    }
}

static bool is_named_call(const tg_node *n)
{
    return n->kind == TG_CALL && n->nkids > 0 && n->kid[0]->kind == TG_STR
           && (tg_is_call(n, "call_extern") || tg_is_call(n, "call_pure_extern") || tg_is_call(n, "call_cpacked_lowered"));
}

static const tg_func *callee_func(tg_emit *e, const tg_node *call)
{
    return is_named_call(call) ? tg_map_get(&e->symbol, TG_KEY(call->kid[0]->u.name)) : NULL;
}

const c_fn *c_callee(tg_emit *e, const tg_node *call)
{
    const tg_func *f = callee_func(e, call);
    return f == NULL ? NULL : tg_map_get(&e->fn_of, TG_KEY(f));
}

/* ---- facts of one node ---- */

/* Memory seen as elements of @p d. */
static void vote(tg_emit *e, const tg_var *data, DLDataType d)
{
    c_var *v = c_var_of(e, data);
    d.lanes = 1;
    if (v->voted == 2 && !c_same_storage(v->elem, d))
        v->mixed = true;
    if (v->voted < 2) {
        v->elem = d;
        v->voted = 2;
    }
}

static void note_object(tg_emit *e, const tg_node *n, enum c_object as)
{
    if (n->kind == TG_VAR && c_var_of(e, n->u.var)->object == C_DATA)
        c_var_of(e, n->u.var)->object = (uint8_t)as;
}

static void note_escape(tg_emit *e, const tg_node *n)
{
    const tg_var *v = c_is_pointer(n) ? c_root(n) : NULL;
    if (v != NULL) {
        c_var_of(e, v)->used = true;
        c_var_of(e, v)->escapes = true;
    }
}

static bool is_tensor_field(const tg_node *field)
{
    return field->kind == TG_INT && field->u.i != 12;
}

static void note_call(scanning *s, const tg_node *n)
{
    tg_emit *e = s->e;
    const tg_intrin *row = tg_intrin_find(e->cx, n->u.name);
    for (uint32_t i = 0; i < n->nkids; ++i)
        note_escape(e, n->kid[i]);
    switch (row == NULL ? TG_NINTRINS : row->id) {
    case TG_I_call_extern: case TG_I_call_pure_extern:
        TG_PUSH(e->cx, s->fn->calls, n);
        break;
    case TG_I_call_cpacked_lowered: case TG_I_call_packed_lowered:
        TG_PUSH(e->cx, s->fn->calls, n);
        note_object(e, n->kid[1], C_VALUES);
        note_object(e, n->kid[2], C_CODES);
        break;
    case TG_I_tvm_struct_get:
        note_object(e, n->kid[0], is_tensor_field(n->kid[2]) ? C_TENSORS : C_VALUES);
        break;
    case TG_I_tvm_struct_set:
        note_object(e, n->kid[0], is_tensor_field(n->kid[2]) ? C_TENSORS : C_VALUES);
        TG_PUSH(e->cx, s->fn->calls, n);
        if (n->kid[0]->kind == TG_VAR)
            c_var_of(e, n->kid[0]->u.var)->stored = true;
        break;
    case TG_I_address_of:
        if (n->kid[0]->kind == TG_LOAD)
            c_var_of(e, n->kid[0]->u.buf->data)->escapes = true;
        break;
    case TG_I_dot_tile: case TG_I_tap_tile:
        if (c_root(n->kid[0]) != NULL)
            c_var_of(e, c_root(n->kid[0]))->stored = true;
        break;
    case TG_I_ret:
        s->fn->gives_status = s->fn->gives_status || (n->kid[0]->type != NULL && n->kid[0]->type->kind == TG_T_PRIM);
        break;
    case TG_I_tvm_check_return: case TG_I_tvm_throw_last_error:
        s->fn->gives_status = true;
        break;
    default: break;
    }
}

static enum c_object stack_kind(const tg_node *alloca_call)
{
    const tg_name *kind = alloca_call->kid[0]->kind == TG_STR ? alloca_call->kid[0]->u.name : NULL;
    if (kind == NULL)
        return C_DATA;
    return tg_name_is(kind, "arg_value") ? C_VALUES : tg_name_is(kind, "arg_tcode") ? C_CODES
           : tg_name_is(kind, "shape") ? C_SHAPE : tg_name_is(kind, "array") ? C_TENSORS : C_DATA;
}

/* Variables in strides, extents and offset: an access reads them. */
static void note_index_vars(scanning *s, const tg_buffer *b)
{
    for (uint32_t k = 1; b->strides == NULL && k < b->ndim; ++k)
        TG_PUSH(s->e->cx, s->todo, b->shape[k]);
    for (uint32_t k = 0; b->strides != NULL && k < b->ndim; ++k)
        TG_PUSH(s->e->cx, s->todo, b->strides[k]);
    if (b->elem_offset != NULL)
        TG_PUSH(s->e->cx, s->todo, b->elem_offset);
}

static void note_access(scanning *s, const tg_node *n)
{
    tg_emit *e = s->e;
    c_var *v = c_var_of(e, n->u.buf->data);
    v->used = true;
    v->read = v->read || n->kind == TG_LOAD;
    v->stored = v->stored || n->kind == TG_STORE;
    if (v->object == C_DATA)
        vote(e, n->u.buf->data, n->u.buf->dtype);
    note_index_vars(s, n->u.buf);
}

static void note_let(scanning *s, const tg_node *n)
{
    c_var *v = c_var_of(s->e, n->u.var);
    if (tg_is_call(n->kid[0], "tvm_stack_alloca")) {
        v->object = (uint8_t)stack_kind(n->kid[0]);
        v->local = true;
    } else if (c_is_pointer(n->kid[0])) {
        TG_PUSH(s->e->cx, s->fn->lets, n);
    }
    TG_PUSH(s->e->cx, s->let, n);
}

static void note(scanning *s, const tg_node *n)
{
    tg_emit *e = s->e;
    switch (n->kind) {
    case TG_VAR: c_var_of(e, n->u.var)->used = true; break;
    case TG_LOAD: case TG_STORE: note_access(s, n); break;
    case TG_CALL: note_call(s, n); break;
    case TG_LET: s->fn->has_let = true; break;
    case TG_LET_STMT: note_let(s, n); break;
    case TG_ALLOCATE: c_var_of(e, n->u.alloc->var)->local = true; break;
    case TG_ALLOC_CONST:
        c_var_of(e, n->u.alloc->var)->constant = true;
        c_var_of(e, n->u.alloc->var)->data = n->u.alloc->tensor;
        if (n->u.alloc->tensor != NULL)
            vote(e, n->u.alloc->var, n->u.alloc->tensor->type->dtype);
        break;
    default: break;
    }
}

/* Each distinct node once; the values of lets are left for later. */
static void visit(scanning *s, const tg_node *root)
{
    tg_ctx *cx = s->e->cx;
    s->todo.n = 0;
    TG_PUSH(cx, s->todo, root);
    while (s->todo.n > 0) {
        const tg_node *n = s->todo.at[--s->todo.n];
        if (n->nkids > 0) {
            if (tg_map_get(&s->seen, (uint64_t)n->id + 1) != NULL)
                continue;
            tg_map_put(cx, &s->seen, (uint64_t)n->id + 1, s);
        }
        note(s, n);
        for (uint32_t i = n->nkids; i > (n->kind == TG_LET_STMT ? 1U : 0U); --i)
            TG_PUSH(cx, s->todo, n->kid[i - 1]);
    }
}

/* A value counts when its variable is used; variables are used by later values, so the last comes first. */
static void visit_function(scanning *s, const tg_node *body)
{
    visit(s, body);
    for (size_t i = s->let.n; i > 0; --i) {
        const tg_node *n = s->let.at[i - 1];
        if (c_var_of(s->e, n->u.var)->used || tg_has_effect(s->e->cx, n->kid[0]))
            visit(s, n->kid[0]);
    }
}

/* ---- functions ---- */

static void note_params(tg_emit *e, c_fn *fn)
{
    static const uint8_t packed[6] = { C_VALUES, C_CODES, C_DATA, C_VALUES, C_CODES, C_DATA };
    const tg_func *f = fn->f;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_buffer *b = f->buffer == NULL ? NULL : f->buffer[i];
        c_var *v = &e->var[f->param[i]->id];
        if (fn->is_packed)
            v->object = packed[i];
        if (b == NULL)
            continue;
        if (b->data != f->param[i])
            e->var[b->data->id].same = f->param[i];
        vote(e, f->param[i], b->dtype);     /* what the signature says comes first */
    }
}

static c_fn *new_fn(tg_emit *e, const tg_func *f)
{
    c_fn *fn = TG_NEW(e->cx, c_fn);
    fn->f = f;
    fn->is_packed = tg_v_get_int(f->attrs, "calling_conv", 0) == 1 && f->nparams == 6;
    tg_map_put(e->cx, &e->fn_of, TG_KEY(f), fn);
    note_params(e, fn);
    scanning s = { .e = e, .fn = fn };
    visit_function(&s, f->body);
    fn->returns = f->ret != NULL && f->ret->kind == TG_T_PRIM;
    fn->ret = fn->returns ? f->ret->dtype : TG_INT32;
    if (!fn->returns && fn->gives_status)
        fn->returns = true;
    return fn;
}

typedef struct frame { c_fn *fn; size_t next; } frame;

/* Adds @p root and what it calls, callees first. */
static bool add_function(tg_emit *e, const tg_func *root)
{
    TG_VEC(frame) open = { 0 };
    if (tg_map_get(&e->fn_of, TG_KEY(root)) != NULL)
        return true;
    frame first = { new_fn(e, root), 0 };
    TG_PUSH(e->cx, open, first);
    while (open.n > 0) {
        frame *top = &open.at[open.n - 1];
        top->fn->state = 1;
        if (top->next == top->fn->calls.n) {
            top->fn->state = 2;
            TG_PUSH(e->cx, e->fn, top->fn);
            --open.n;
            continue;
        }
        const tg_node *call = top->fn->calls.at[top->next++];
        const tg_func *f = callee_func(e, call);
        c_fn *fn = f == NULL ? NULL : tg_map_get(&e->fn_of, TG_KEY(f));
        if (fn != NULL && fn->state == 1) {
            tg_error(e->cx, call->span, "%s calls itself, by way of %s: emitted code has no recursion", f->name->text,
                     top->fn->f->name->text);
            return false;
        }
        if (f != NULL && fn == NULL) {
            frame next = { new_fn(e, f), 0 };
            TG_PUSH(e->cx, open, next);
        }
    }
    return true;
}

static void note_symbols(tg_emit *e)
{
    for (size_t i = 0; i < e->m->funcs.n; ++i) {
        const tg_func *f = e->m->funcs.at[i];
        const char *symbol = tg_v_get_str(f->attrs, "global_symbol", NULL);
        if (symbol != NULL)
            tg_map_put(e->cx, &e->symbol, TG_KEY(tg_intern_z(e->cx, symbol)), (void *)(uintptr_t)f);
    }
    for (size_t i = 0; i < e->m->funcs.n; ++i)
        tg_map_put(e->cx, &e->symbol, TG_KEY(e->m->funcs.at[i]->name), (void *)(uintptr_t)e->m->funcs.at[i]);
}

/* Without a main function: what has a symbol, and what nobody calls. */
static bool add_kernels(tg_emit *e)
{
    for (int round = 0; round < 2; ++round)
        for (size_t i = 0; i < e->m->funcs.n; ++i) {
            const tg_func *f = e->m->funcs.at[i];
            bool is_root = round == 1 || tg_v_get(f->attrs, "global_symbol") != NULL;
            c_fn *fn = tg_map_get(&e->fn_of, TG_KEY(f));
            if (!is_root || (round == 1 && fn != NULL))
                continue;
            if (!add_function(e, f))
                return false;
            fn = tg_map_get(&e->fn_of, TG_KEY(f));
            fn->is_public = true;
        }
    return true;
}

static bool check_level(tg_emit *e, const tg_func *f)
{
    if (f->kind == TG_FUNC_PRIM && f->body->kind != TG_BLOCK)
        return true;
    tg_error(e->cx, f->span, "%s is not at loop level: it cannot be printed as C yet", f->name->text);
    return false;
}

/* A call whose result is used needs a callee that gives one; TVM declares such kernels void and lets them return 0. */
static void note_wanted(tg_emit *e)
{
    for (size_t i = 0; i < e->fn.n; ++i)
        for (size_t k = 0; k < e->fn.at[i]->calls.n; ++k) {
            const tg_node *call = e->fn.at[i]->calls.at[k];
            c_fn *fn = (c_fn *)(uintptr_t)c_callee(e, call);
            if (fn != NULL && call->type->kind == TG_T_PRIM && call->type->dtype.code == kDLInt)
                fn->returns = true;
        }
}

bool c_scan(tg_emit *e)
{
    e->nvars = e->cx->nvars;
    e->var = TG_TEMP_ARRAY(e->cx, c_var, e->nvars + 1);
    for (uint32_t i = 0; i < e->nvars; ++i) {
        e->var[i].range = (c_range){ INT64_MIN, INT64_MAX };
        e->var[i].real = (c_real){ -HUGE_VAL, HUGE_VAL, true };
        e->var[i].elem = TG_HANDLE;
    }
    note_symbols(e);
    const tg_func *main = NULL;
    for (size_t i = 0; i < e->m->funcs.n; ++i) {
        if (!check_level(e, e->m->funcs.at[i]))
            return false;
        main = tg_is_main(e->m->funcs.at[i]) ? e->m->funcs.at[i] : main;
    }
    if (main != NULL ? !add_function(e, main) : !add_kernels(e))
        return false;
    if (main != NULL) {
        c_fn *fn = tg_map_get(&e->fn_of, TG_KEY(main));
        fn->is_main = true;
        e->model.main = fn;
    }
    note_wanted(e);
    return true;
}
