/* build.c: the builder API: modules from C calls, without text. Handles are the nodes and buffers themselves. */
#include "tirgen/build.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/guard.h"
#include "ir/verify.h"
#include "session.h"

/* A handle hides its node: the struct exists only as a name. */
static const tg_node *node_of(const tirgen_value *v)
{
    return (const tg_node *)(const void *)v;
}

static tirgen_value *value_of(const tg_node *n)
{
    return (tirgen_value *)(uintptr_t)n;
}

struct tirgen_graph {
    tg_ctx *cx;
    const tg_name *name;
    bool failed;
    TG_VEC(const tg_var *) param;
    TG_VEC(const tg_node *) bind;
};

struct tirgen_prim {
    tg_ctx *cx;
    const tg_name *name;
    bool failed;
    TG_VEC(const tg_var *) param;
    TG_VEC(const tg_buffer *) buffer;
    TG_VEC(struct open_scope *) scope;      /* innermost last; the first is the body */
};

/* What one public call asks of its guarded half. */
typedef struct request {
    tg_ctx *cx;
    tirgen_graph *g;
    tirgen_prim *p;
    const char *text;
    DLDataType dtype;
    int64_t i;
    double f;
    int32_t ndim;
    const int64_t *shape;
    size_t n, nattrs;
    tirgen_value *const *arg;
    tirgen_value *a, *b;
    const tirgen_attr *attr;
    const DLTensor *tensor;
    tirgen_buffer *buf;
    void *result;
} request;

static void *ask(request *r, bool (*fn)(tg_ctx *cx, void *arg))
{
    bool *failed = r->g != NULL ? &r->g->failed : r->p != NULL ? &r->p->failed : NULL;
    if (failed != NULL && *failed)
        return NULL;
    r->result = NULL;
    if (tg_guard(r->cx, fn, r) != TIRGEN_OK) {
        if (failed != NULL)
            *failed = true;
        return NULL;
    }
    return r->result;
}

static bool have_all(tg_ctx *cx, const request *r)
{
    for (size_t i = 0; i < r->n; ++i)
        if (r->arg[i] == NULL)
            return false;
    (void)cx;
    return r->n <= UINT32_MAX / 2;
}

static bool check_shape(tg_ctx *cx, const request *r)
{
    if (r->ndim < 0 || r->ndim > TG_MAX_NDIM) {
        tg_error(cx, TG_NOWHERE, "%s: %d dimensions; there may be 0 to %d", r->text, r->ndim, TG_MAX_NDIM);
        return false;
    }
    for (int32_t k = 0; k < r->ndim; ++k) {
        if (r->shape[k] >= 0)
            continue;
        tg_error(cx, TG_NOWHERE, "%s: extent %d is %lld", r->text, k, (long long)r->shape[k]);
        return false;
    }
    return true;
}

/* ---- graphs ---- */

static bool graph_begin(tg_ctx *cx, void *arg)
{
    request *r = arg;
    tirgen_graph *g = TG_NEW(cx, tirgen_graph);
    g->cx = cx;
    g->name = tg_intern_z(cx, r->text);
    r->result = g;
    return true;
}

tirgen_graph *tirgen_graph_begin(struct tirgen_ctx *ctx, const char *name)
{
    request r = { .cx = ctx, .text = name };
    return ask(&r, graph_begin);
}

static bool graph_input(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!check_shape(cx, r))
        return false;
    tg_var *v = tg_var_new(cx, tg_intern_z(cx, r->text), tg_tensor_type(cx, r->dtype, (uint32_t)r->ndim, r->shape, 0));
    TG_PUSH(cx, r->g->param, v);
    r->result = value_of(tg_rvar(cx, v, TG_NOWHERE));
    return true;
}

tirgen_value *tirgen_graph_input(tirgen_graph *g, const char *name, DLDataType dtype, int32_t ndim, const int64_t *shape)
{
    if (g == NULL)
        return NULL;
    request r = { .cx = g->cx, .g = g, .text = name, .dtype = dtype, .ndim = ndim, .shape = shape };
    return ask(&r, graph_input);
}

static bool graph_constant(tg_ctx *cx, void *arg)
{
    request *r = arg;
    const DLTensor *t = r->tensor;
    r->text = "a constant";
    r->ndim = t->ndim;
    r->shape = t->shape;
    if (!check_shape(cx, r))
        return false;
    if (t->strides != NULL || t->device.device_type != kDLCPU) {
        tg_error(cx, TG_NOWHERE, "a constant must be compact and on the CPU");
        return false;
    }
    tg_tensor *c = tg_tensor_new(cx, tg_tensor_type(cx, t->dtype, (uint32_t)t->ndim, t->shape, 0), NULL);
    if (c->size_bytes > 0)
        memcpy(c->dl.data, (const char *)t->data + t->byte_offset, c->size_bytes);
    r->result = value_of(tg_rconst(cx, c));
    return true;
}

tirgen_value *tirgen_graph_constant(tirgen_graph *g, const DLTensor *t)
{
    if (g == NULL)
        return NULL;
    request r = { .cx = g->cx, .g = g, .tensor = t };
    return ask(&r, graph_constant);
}

static const tg_value *attr_value(tg_ctx *cx, const tirgen_attr *a)
{
    switch (a->kind) {
    case TIRGEN_ATTR_INT: return tg_v_int(cx, a->i);
    case TIRGEN_ATTR_BOOL: return tg_v_bool(cx, a->i != 0);
    case TIRGEN_ATTR_FLOAT: return tg_v_float(cx, a->f);
    case TIRGEN_ATTR_STR: return tg_v_strz(cx, a->s);
    case TIRGEN_ATTR_INTS: return tg_v_ints(cx, (uint32_t)a->n, a->list);
    case TIRGEN_ATTR_NONE: break;
    }
    return tg_v_none(cx);
}

static tirgen_value *bind(tirgen_graph *g, const tg_node *value)
{
    tg_var *v = tg_var_new(g->cx, tg_intern_z(g->cx, ""), value->type);
    v->numbered = true;
    TG_PUSH(g->cx, g->bind, tg_rbind(g->cx, v, value));
    return value_of(tg_rvar(g->cx, v, TG_NOWHERE));
}

static bool graph_call(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!have_all(cx, r))
        return false;
    const tg_name **key = TG_ARRAY(cx, const tg_name *, r->nattrs);
    const tg_value **item = TG_ARRAY(cx, const tg_value *, r->nattrs);
    for (size_t i = 0; i < r->nattrs; ++i) {
        key[i] = tg_intern_z(cx, r->attr[i].name);
        item[i] = attr_value(cx, &r->attr[i]);
    }
    const tg_value *attrs = r->nattrs == 0 ? NULL : tg_v_dict(cx, (uint32_t)r->nattrs, key, item);
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, r->n);
    for (size_t i = 0; i < r->n; ++i)
        kid[i] = node_of(r->arg[i]);
    r->result = bind(r->g, tg_rcall(cx, tg_intern_z(cx, r->text), attrs, TG_NOWHERE, (uint32_t)r->n, kid));
    return true;
}

tirgen_value *tirgen_graph_call(tirgen_graph *g, const char *op, tirgen_value *const *arg, size_t nargs, const tirgen_attr *attr,
                                size_t nattrs)
{
    if (g == NULL)
        return NULL;
    request r = { .cx = g->cx, .g = g, .text = op, .arg = arg, .n = nargs, .attr = attr, .nattrs = nattrs };
    return ask(&r, graph_call);
}

static bool graph_tuple(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!have_all(cx, r))
        return false;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, r->n);
    for (size_t i = 0; i < r->n; ++i)
        kid[i] = node_of(r->arg[i]);
    r->result = bind(r->g, tg_rtuple(cx, (uint32_t)r->n, kid));
    return true;
}

tirgen_value *tirgen_graph_tuple(tirgen_graph *g, tirgen_value *const *field, size_t n)
{
    if (g == NULL)
        return NULL;
    request r = { .cx = g->cx, .g = g, .arg = field, .n = n };
    return ask(&r, graph_tuple);
}

static bool graph_get(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!have_all(cx, r) || r->i < 0)
        return false;
    r->result = bind(r->g, tg_rget(cx, node_of(r->arg[0]), r->i));
    return true;
}

tirgen_value *tirgen_graph_get(tirgen_graph *g, tirgen_value *tuple, size_t index)
{
    if (g == NULL)
        return NULL;
    request r = { .cx = g->cx, .g = g, .arg = &tuple, .n = 1, .i = (int64_t)index };
    return ask(&r, graph_get);
}

static bool add_function(tg_ctx *cx, tg_func *f)
{
    tg_module *m = tg_session_of(cx)->module;
    if (tg_module_find(m, f->name) != NULL) {
        tg_error(cx, TG_NOWHERE, "the module has a function %s already", f->name->text);
        return false;
    }
    tg_module one = *tg_module_new(cx);
    tg_module_add(&one, f);
    if (!tg_verify_module(cx, &one, true))
        return false;
    tg_module_add(m, f);
    tg_temp_reset(cx);
    return true;
}

static bool graph_end(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!have_all(cx, r))
        return false;
    tg_func *f = TG_NEW(cx, tg_func);
    f->name = r->g->name;
    f->kind = TG_FUNC_RELAY;
    f->nparams = (uint32_t)r->g->param.n;
    f->param = r->g->param.at;
    f->body = tg_rblock(cx, (uint32_t)r->g->bind.n, r->g->bind.at, node_of(r->arg[0]));
    r->result = f;
    return add_function(cx, f);
}

tirgen_status tirgen_graph_end(tirgen_graph *g, tirgen_value *result)
{
    if (g == NULL)
        return TIRGEN_EINPUT;
    request r = { .cx = g->cx, .g = g, .arg = &result, .n = 1 };
    return ask(&r, graph_end) != NULL ? TIRGEN_OK : TIRGEN_EINPUT;
}

/* ---- PrimFuncs ---- */

struct open_scope {
    const tg_var *loop;                     /* NULL: a conditional, or the body */
    const tg_node *condition, *extent;
    TG_VEC(const tg_node *) body;
};

static void put(tirgen_prim *p, const tg_node *statement)
{
    struct open_scope *s = p->scope.at[p->scope.n - 1];
    TG_PUSH(p->cx, s->body, statement);
}

static struct open_scope *open_scope(tirgen_prim *p)
{
    struct open_scope *s = TG_NEW(p->cx, struct open_scope);
    TG_PUSH(p->cx, p->scope, s);
    return s;
}

static bool prim_begin(tg_ctx *cx, void *arg)
{
    request *r = arg;
    tirgen_prim *p = TG_NEW(cx, tirgen_prim);
    p->cx = cx;
    p->name = tg_intern_z(cx, r->text);
    open_scope(p);
    r->result = p;
    return true;
}

tirgen_prim *tirgen_prim_begin(struct tirgen_ctx *ctx, const char *name)
{
    request r = { .cx = ctx, .text = name };
    return ask(&r, prim_begin);
}

static bool prim_buffer(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!check_shape(cx, r))
        return false;
    tg_buffer *b = tg_buffer_new(cx, tg_intern_z(cx, r->text), r->dtype, (uint32_t)r->ndim, r->shape, TG_INT32);
    TG_PUSH(cx, r->p->param, b->data);
    TG_PUSH(cx, r->p->buffer, b);
    r->result = b;
    return true;
}

tirgen_buffer *tirgen_prim_buffer(tirgen_prim *p, const char *name, DLDataType dtype, int32_t ndim, const int64_t *shape)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .text = name, .dtype = dtype, .ndim = ndim, .shape = shape };
    return ask(&r, prim_buffer);
}

static bool prim_loop(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (r->i < 0 || r->i > INT32_MAX) {
        tg_error(cx, TG_NOWHERE, "loop %s: extent %lld does not fit int32", r->text, (long long)r->i);
        return false;
    }
    struct open_scope *s = open_scope(r->p);
    s->loop = tg_var_new(cx, tg_intern_z(cx, r->text), tg_prim(cx, TG_INT32));
    s->extent = tg_int(cx, TG_INT32, r->i);
    r->result = value_of(tg_var_ref(cx, s->loop));
    return true;
}

tirgen_value *tirgen_prim_loop(tirgen_prim *p, const char *name, int64_t extent)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .text = name, .i = extent };
    return ask(&r, prim_loop);
}

static bool prim_if(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (r->a == NULL || !tg_is_bool(tg_dtype_of(node_of(r->a)))) {
        tg_error(cx, TG_NOWHERE, "%s: the condition of an if is not bool", r->p->name->text);
        return false;
    }
    open_scope(r->p)->condition = node_of(r->a);
    return true;
}

void tirgen_prim_if(tirgen_prim *p, tirgen_value *condition)
{
    if (p == NULL)
        return;
    request r = { .cx = p->cx, .p = p, .a = condition };
    ask(&r, prim_if);
}

static bool prim_end_scope(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (r->p->scope.n < 2) {
        tg_error(cx, TG_NOWHERE, "%s: no loop or conditional is open", r->p->name->text);
        return false;
    }
    const struct open_scope *s = r->p->scope.at[--r->p->scope.n];
    const tg_node *body = tg_seq(cx, (uint32_t)s->body.n, s->body.at);
    if (s->loop != NULL)
        put(r->p, tg_for(cx, TG_FOR_SERIAL, s->loop, tg_int(cx, TG_INT32, 0), s->extent, body));
    else
        put(r->p, tg_if(cx, s->condition, body, NULL));
    return true;
}

void tirgen_prim_end_scope(tirgen_prim *p)
{
    if (p == NULL)
        return;
    request r = { .cx = p->cx, .p = p };
    ask(&r, prim_end_scope);
}

static bool prim_int(tg_ctx *cx, void *arg)
{
    request *r = arg;
    r->result = value_of(tg_int(cx, r->dtype, r->i));
    return true;
}

tirgen_value *tirgen_prim_int(tirgen_prim *p, DLDataType dtype, int64_t v)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .dtype = dtype, .i = v };
    return ask(&r, prim_int);
}

static bool prim_float(tg_ctx *cx, void *arg)
{
    request *r = arg;
    r->result = value_of(tg_float(cx, r->dtype, r->f));
    return true;
}

tirgen_value *tirgen_prim_float(tirgen_prim *p, DLDataType dtype, double v)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .dtype = dtype, .f = v };
    return ask(&r, prim_float);
}

static const tg_node *const *nodes_of(tg_ctx *cx, const request *r)
{
    const tg_node **n = TG_ARRAY(cx, const tg_node *, r->n);
    for (size_t i = 0; i < r->n; ++i)
        n[i] = node_of(r->arg[i]);
    return n;
}

static bool check_index(tg_ctx *cx, const request *r)
{
    const tg_buffer *b = (const void *)r->buf;
    if (b == NULL || !have_all(cx, r))
        return false;
    if (r->n != b->ndim) {
        tg_error(cx, TG_NOWHERE, "%s: buffer %s has %u dimensions, the access %zu indices", r->p->name->text, b->name->text, b->ndim, r->n);
        return false;
    }
    return true;
}

static bool prim_load(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (!check_index(cx, r))
        return false;
    r->result = value_of(tg_load(cx, (const void *)r->buf, (uint32_t)r->n, nodes_of(cx, r)));
    return true;
}

tirgen_value *tirgen_prim_load(tirgen_prim *p, tirgen_buffer *b, tirgen_value *const *index, size_t n)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .buf = b, .arg = index, .n = n };
    return ask(&r, prim_load);
}

static bool prim_binary(tg_ctx *cx, void *arg)
{
    request *r = arg;
    static const enum tg_kind kind[] = {
        [TIRGEN_ADD] = TG_ADD, [TIRGEN_SUB] = TG_SUB, [TIRGEN_MUL] = TG_MUL, [TIRGEN_DIV] = TG_DIV, [TIRGEN_MOD] = TG_MOD,
        [TIRGEN_FLOORDIV] = TG_FLOORDIV, [TIRGEN_FLOORMOD] = TG_FLOORMOD, [TIRGEN_MIN] = TG_MIN, [TIRGEN_MAX] = TG_MAX,
        [TIRGEN_EQ] = TG_EQ, [TIRGEN_NE] = TG_NE, [TIRGEN_LT] = TG_LT, [TIRGEN_LE] = TG_LE, [TIRGEN_GT] = TG_GT,
        [TIRGEN_GE] = TG_GE, [TIRGEN_AND] = TG_AND, [TIRGEN_OR] = TG_OR,
    };
    if (r->a == NULL || r->b == NULL)
        return false;
    if (node_of(r->a)->type != node_of(r->b)->type) {
        tg_error(cx, TG_NOWHERE, "%s: operands of types %s and %s", r->p->name->text, tg_type_text(cx, node_of(r->a)->type),
                 tg_type_text(cx, node_of(r->b)->type));
        return false;
    }
    r->result = value_of(tg_bin(cx, kind[r->i], node_of(r->a), node_of(r->b)));
    return true;
}

tirgen_value *tirgen_prim_binary(tirgen_prim *p, tirgen_binary op, tirgen_value *a, tirgen_value *b)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .i = (int64_t)op, .a = a, .b = b };
    return ask(&r, prim_binary);
}

static bool prim_cast(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (r->a == NULL)
        return false;
    r->result = value_of(tg_cast(cx, r->dtype, node_of(r->a)));
    return true;
}

tirgen_value *tirgen_prim_cast(tirgen_prim *p, DLDataType dtype, tirgen_value *a)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .dtype = dtype, .a = a };
    return ask(&r, prim_cast);
}

static bool prim_call(tg_ctx *cx, void *arg)
{
    request *r = arg;
    const tg_intrin *row = tg_intrin_find(cx, tg_intern_z(cx, r->text));
    if (!have_all(cx, r))
        return false;
    if (row == NULL || row->effect != TG_EFFECT_PURE || row->result == TG_RESULT_GIVEN || row->nargs != (int)r->n) {
        tg_error(cx, TG_NOWHERE, "%s: there is no math intrinsic %s of %zu operands", r->p->name->text, r->text, r->n);
        return false;
    }
    r->result = value_of(tg_call(cx, r->text, NULL, (uint32_t)r->n, nodes_of(cx, r)));
    return true;
}

tirgen_value *tirgen_prim_call(tirgen_prim *p, const char *intrinsic, tirgen_value *const *arg, size_t nargs)
{
    if (p == NULL)
        return NULL;
    request r = { .cx = p->cx, .p = p, .text = intrinsic, .arg = arg, .n = nargs };
    return ask(&r, prim_call);
}

static bool prim_store(tg_ctx *cx, void *arg)
{
    request *r = arg;
    if (r->a == NULL || !check_index(cx, r))
        return false;
    const tg_buffer *b = (const void *)r->buf;
    if (!tg_dtype_eq(tg_dtype_of(node_of(r->a)), b->dtype)) {
        tg_error(cx, TG_NOWHERE, "%s: buffer %s holds %s, the value is %s", r->p->name->text, b->name->text,
                 tg_dtype_text(cx, b->dtype), tg_type_text(cx, node_of(r->a)->type));
        return false;
    }
    put(r->p, tg_store(cx, b, node_of(r->a), (uint32_t)r->n, nodes_of(cx, r)));
    return true;
}

void tirgen_prim_store(tirgen_prim *p, tirgen_buffer *b, tirgen_value *value, tirgen_value *const *index, size_t n)
{
    if (p == NULL)
        return;
    request r = { .cx = p->cx, .p = p, .buf = b, .a = value, .arg = index, .n = n };
    ask(&r, prim_store);
}

static bool prim_end(tg_ctx *cx, void *arg)
{
    request *r = arg;
    tirgen_prim *p = r->p;
    if (p->scope.n != 1) {
        tg_error(cx, TG_NOWHERE, "%s: %zu loops or conditionals are still open", p->name->text, p->scope.n - 1);
        return false;
    }
    tg_func *f = TG_NEW(cx, tg_func);
    f->name = p->name;
    f->kind = TG_FUNC_PRIM;
    f->nparams = (uint32_t)p->param.n;
    f->param = p->param.at;
    f->buffer = p->buffer.at;
    f->ret = tg_void(cx);
    f->attrs = tg_v_with(cx, tg_v_with(cx, NULL, "global_symbol", tg_v_str(cx, p->name)), "tir.noalias", tg_v_bool(cx, true));
    f->body = tg_seq(cx, (uint32_t)p->scope.at[0]->body.n, p->scope.at[0]->body.at);
    r->result = f;
    return add_function(cx, f);
}

tirgen_status tirgen_prim_end(tirgen_prim *p)
{
    if (p == NULL)
        return TIRGEN_EINPUT;
    request r = { .cx = p->cx, .p = p };
    return ask(&r, prim_end) != NULL ? TIRGEN_OK : TIRGEN_EINPUT;
}
