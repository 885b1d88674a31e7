/* eval_call.c: the value of an operator on constants: the call becomes a function of its own, is lowered and run. */
#include "eval.h"
#include "ops/ops.h"

typedef struct outputs { uint32_t n; tg_tensor **at; } outputs;

static uint32_t count_tensors(const tg_type *t)
{
    if (t->kind == TG_T_TENSOR)
        return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; t->kind == TG_T_TUPLE && i < t->n; ++i)
        n += count_tensors(t->field[i]);
    return n;
}

/* Are all extents known? */
static bool is_static(const tg_type *t)
{
    int64_t bytes;
    if (t->kind == TG_T_TENSOR)
        return tg_type_bytes(t, &bytes);
    for (uint32_t i = 0; t->kind == TG_T_TUPLE && i < t->n; ++i)
        if (!is_static(t->field[i]))
            return false;
    return t->kind == TG_T_TUPLE;
}

static void make_tensors(tg_ctx *cx, const tg_type *t, outputs *out)
{
    if (t->kind == TG_T_TENSOR)
        out->at[out->n++] = tg_tensor_new(cx, t, NULL);
    for (uint32_t i = 0; t->kind == TG_T_TUPLE && i < t->n; ++i)
        make_tensors(cx, t->field[i], out);
}

static const tg_node *bind(tg_ctx *cx, const char *name, const tg_node *value, const tg_var **v)
{
    *v = tg_var_new(cx, tg_intern_z(cx, name), value->type);
    return tg_node_at(cx, tg_rbind(cx, *v, value), value->span);
}

/* fn () { let %tuple = (constants); let %value = op(%tuple, constant); %value } */
static const tg_func *call_function(tg_ctx *cx, const tg_node *call)
{
    const tg_node **bound = TG_ARRAY(cx, const tg_node *, call->nkids + 1),
                  **arg = TG_ARRAY(cx, const tg_node *, call->nkids);
    const tg_var *v;
    uint32_t n = 0;
    for (uint32_t i = 0; i < call->nkids; ++i) {
        arg[i] = call->kid[i];
        if (arg[i]->kind != TG_RTUPLE)
            continue;
        bound[n++] = bind(cx, "tuple", arg[i], &v);
        arg[i] = tg_rvar(cx, v, call->span);
    }
    bound[n++] = bind(cx, "value", tg_node_with(cx, call, call->nkids, arg), &v);
    tg_func *f = TG_NEW(cx, tg_func);
    f->name = tg_internf(cx, "constant %s", call->u.call->op->text);
    f->kind = TG_FUNC_RELAY;
    f->span = call->span;
    f->ret = call->type;
    f->attrs = tg_v_with(cx, NULL, "Primitive", tg_v_int(cx, 1));
    f->body = tg_rblock(cx, n, bound, tg_rvar(cx, v, call->span));
    return f;
}

bool tg_eval_call(tg_ctx *cx, const tg_node *call, const tg_tensor **out, uint32_t nout)
{
    const tg_op *op = call->u.call->op != NULL ? tg_op_find(cx, call->u.call->op) : NULL;
    const tg_type *type = call->type;
    if (op == NULL || op->lower == NULL)
        return false;
    if (type == NULL && (type = tg_op_infer(cx, call)) == NULL)
        return false;
    if (!is_static(type))
        return false;
    outputs o = { 0, TG_ARRAY(cx, tg_tensor *, nout) };
    TG_CHECK(cx, count_tensors(type) == nout, call);
    tg_func *f = tg_lower_primitive(cx, call_function(cx, tg_node_with_type(cx, call, type)));
    if (f == NULL)
        return false;
    make_tensors(cx, type, &o);
    DLTensor **args = TG_ARRAY(cx, DLTensor *, nout);
    for (uint32_t i = 0; i < nout; ++i)
        args[i] = &o.at[i]->dl;
    if (!tg_eval(cx, tg_module_new(cx), f, args, nout, NULL))
        return false;
    for (uint32_t i = 0; i < nout; ++i)
        out[i] = o.at[i];
    return true;
}
