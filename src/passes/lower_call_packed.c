/* lower_call_packed.c: arguments, binding and results of calls: all of it, and here alone.
 * Needs: calls in the form of docs/ir.md, section 2.  Gives: per call one of
 *   plain     call_extern(name, pointers…)                         callees stay as they are
 *   packed    arrays filled by tvm_struct_set, call_cpacked_lowered callees get the six-parameter signature
 * and in both a result that is not 0 leaves the caller at once, unchanged. A void callee cannot fail and is not checked.
 * Public kernels whose shapes are open get the packed signature too (packed_entry.c): only there are extents known. */
#include "passes.h"
#include "packed_entry.h"
#include "ir/vec.h"
#include "ir/walk.h"

#include <string.h>

typedef struct lowering {
    tg_ctx *cx;
    tg_module *m;
    const tg_func *caller;
    /* stacks of the packed form, shared by all calls of the caller */
    const tg_var *value, *tcode, *array, *shape;
    const tg_buffer *tcodes, *shapes;
    int64_t nvalues, narrays, ndims;
} lowering;

static const tg_node *i32(tg_ctx *cx, int64_t v)
{
    return tg_int(cx, TG_INT32, v);
}

/* rc = call; if (rc != 0) return rc */
static const tg_node *checked(tg_ctx *cx, const tg_node *call)
{
    tg_var *rc = tg_var_new(cx, tg_intern_z(cx, "rc"), tg_prim(cx, TG_INT32));
    const tg_node *failed = tg_bin(cx, TG_NE, tg_var_ref(cx, rc), i32(cx, 0));
    const tg_node *leave = tg_evaluate(cx, tg_call1(cx, "ret", tg_var_ref(cx, rc)));
    return tg_let_stmt(cx, rc, call, tg_if(cx, failed, leave, NULL));
}

/* ---- plain pointers ---- */

static const tg_node *plain_argument(const tg_node *arg)
{
    return tg_is_call(arg, "tvm_stack_make_array") ? arg->kid[0] : arg;
}

static const tg_node *plain_call(lowering *l, const tg_node *call, const tg_func *callee)
{
    tg_ctx *cx = l->cx;
    uint32_t n = call->nkids - 1;                           /* the resource handle is for packed callees */
    const tg_node **arg = TG_ARRAY(cx, const tg_node *, n);
    arg[0] = call->kid[0];
    for (uint32_t i = 1; i < n; ++i)
        arg[i] = plain_argument(call->kid[i]);
    bool can_fail = callee == NULL || callee->ret->kind != TG_T_VOID;
    const tg_type *ret = can_fail ? tg_prim(cx, TG_INT32) : tg_void(cx);
    const tg_node *now = tg_node_at(cx, tg_call(cx, "call_extern", ret, n, arg), call->span);
    return can_fail ? checked(cx, now) : tg_evaluate(cx, now);
}

/* ---- the packed convention, caller's side ---- */

static const tg_node *set_field(tg_ctx *cx, const tg_var *stack, int64_t index, int64_t field, const tg_node *value)
{
    const tg_node *arg[4] = { tg_var_ref(cx, stack), i32(cx, index), i32(cx, field), value };
    return tg_evaluate(cx, tg_call(cx, "tvm_struct_set", NULL, 4, arg));
}

static const tg_node *store_at(tg_ctx *cx, const tg_buffer *b, int64_t index, const tg_node *value)
{
    const tg_node *at = i32(cx, index);
    return tg_store(cx, b, value, 1, &at);
}

typedef TG_VEC(const tg_node *) statements;

static void put(lowering *l, statements *s, const tg_node *n)
{
    TG_PUSH(l->cx, *s, n);
}

/* Fills element @p at of the array stack from a tvm_stack_make_array. */
static void put_tensor(lowering *l, statements *s, const tg_node *make, int64_t at, int64_t *dims)
{
    tg_ctx *cx = l->cx;
    const tg_node *shape = make->kid[1], *first = i32(cx, *dims);
    DLDataType d = tg_dtype_of(make->kid[4]), u64 = tg_dtype(kDLUInt, 64, 1), u8 = TG_UINT8, u16 = tg_dtype(kDLUInt, 16, 1);
    for (uint32_t k = 0; k < shape->nkids; ++k)
        put(l, s, store_at(cx, l->shapes, *dims + k, tg_cast(cx, TG_INT64, shape->kid[k])));
    const tg_node *slot = tg_load(cx, l->shapes, 1, &first);
    put(l, s, set_field(cx, l->array, at, TG_FIELD_DATA, make->kid[0]));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_SHAPE, tg_call1(cx, "address_of", slot)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_STRIDES, make->kid[2]));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_NDIM, i32(cx, shape->nkids)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_CODE, tg_int(cx, u8, d.code)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_BITS, tg_int(cx, u8, d.bits)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_LANES, tg_int(cx, u16, d.lanes)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_BYTE_OFFSET, tg_int(cx, u64, 0)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_DEVICE_ID, i32(cx, 0)));
    put(l, s, set_field(cx, l->array, at, TG_FIELD_DEVICE_TYPE, i32(cx, kDLCPU)));
    *dims += shape->nkids > 0 ? shape->nkids : 1;           /* a rank-0 tensor still has an address to show */
}

static const tg_node *packed_call(lowering *l, const tg_node *call)
{
    tg_ctx *cx = l->cx;
    statements s = { 0 };
    int64_t arrays = 0, dims = 0, nargs = call->nkids - 2;
    for (int64_t i = 0; i < nargs; ++i) {
        const tg_node *arg = call->kid[i + 1], *value = arg;
        int64_t code = TG_CODE_HANDLE;
        if (tg_is_call(arg, "tvm_stack_make_array")) {
            put_tensor(l, &s, arg, arrays, &dims);
            const tg_node *get[3] = { tg_var_ref(cx, l->array), i32(cx, arrays++), i32(cx, TG_FIELD_ADDRESS) };
            value = tg_call(cx, "tvm_struct_get", tg_prim(cx, TG_HANDLE), 3, get);
            code = TG_CODE_TENSOR;
        } else if (arg->type->kind == TG_T_PRIM && tg_is_float(tg_dtype_of(arg))) {
            value = tg_cast(cx, TG_FLOAT64, arg);
            code = TG_CODE_FLOAT;
        } else if (arg->type->kind == TG_T_PRIM && tg_dtype_of(arg).code != kDLOpaqueHandle) {
            value = tg_cast(cx, TG_INT64, arg);
            code = TG_CODE_INT;
        }
        put(l, &s, set_field(cx, l->value, i, TG_FIELD_VALUE, value));
        put(l, &s, store_at(cx, l->tcodes, i, i32(cx, code)));
    }
    const tg_node *arg[6] = { call->kid[0], tg_var_ref(cx, l->value), tg_var_ref(cx, l->tcode), i32(cx, 0), i32(cx, nargs),
                              call->kid[call->nkids - 1] };
    put(l, &s, checked(cx, tg_node_at(cx, tg_call(cx, "call_cpacked_lowered", NULL, 6, arg), call->span)));
    return tg_seq(cx, (uint32_t)s.n, s.at);
}

/* Room that the calls of a function need on their shared stacks. */
static bool measure_stacks(tg_ctx *cx, const tg_node *n, void *user)
{
    lowering *l = user;
    (void)cx;
    if (!tg_is_call(n, "call_cpacked"))
        return true;
    int64_t arrays = 0, dims = 0, values = n->nkids - 2;
    for (uint32_t i = 1; i + 1 < n->nkids; ++i) {
        if (!tg_is_call(n->kid[i], "tvm_stack_make_array"))
            continue;
        uint32_t ndim = n->kid[i]->kid[1]->nkids;
        ++arrays;
        dims += ndim > 0 ? ndim : 1;
    }
    l->nvalues = values > l->nvalues ? values : l->nvalues;
    l->narrays = arrays > l->narrays ? arrays : l->narrays;
    l->ndims = dims > l->ndims ? dims : l->ndims;
    return true;
}

static const tg_var *stack_var(tg_ctx *cx, const char *name, DLDataType to)
{
    return tg_var_new(cx, tg_intern_z(cx, name), tg_ptr(cx, to, NULL));
}

static const tg_buffer *stack_buffer(tg_ctx *cx, const tg_var *v, DLDataType d, int64_t n)
{
    tg_buffer *b = tg_buffer_new(cx, v->name, d, 1, &n, TG_INT32);
    b->data = v;
    return b;
}

static void make_stacks(lowering *l)
{
    tg_ctx *cx = l->cx;
    l->value = stack_var(cx, "stack_value", TG_HANDLE);
    l->tcode = stack_var(cx, "stack_tcode", TG_INT32);
    l->array = stack_var(cx, "stack_array", TG_HANDLE);
    l->shape = stack_var(cx, "stack_shape", TG_INT64);
    l->tcodes = stack_buffer(cx, l->tcode, TG_INT32, l->nvalues);
    l->shapes = stack_buffer(cx, l->shape, TG_INT64, l->ndims > 0 ? l->ndims : 1);
}

static const tg_node *with_stacks(lowering *l, const tg_node *body)
{
    tg_ctx *cx = l->cx;
    struct { const tg_var *v; const char *kind; int64_t n; } row[] = {
        { l->value, "arg_value", l->nvalues }, { l->tcode, "arg_tcode", l->nvalues },
        { l->array, "array", l->narrays > 0 ? l->narrays : 1 }, { l->shape, "shape", l->ndims > 0 ? l->ndims : 1 },
    };
    body = tg_decl_buffer(cx, l->shapes, body);
    body = tg_decl_buffer(cx, l->tcodes, body);
    for (size_t i = TG_COUNT(row); i > 0; --i) {
        const tg_node *arg[2] = { tg_strz(cx, row[i - 1].kind), i32(cx, row[i - 1].n) };
        body = tg_let_stmt(cx, row[i - 1].v, tg_call(cx, "tvm_stack_alloca", row[i - 1].v->type, 2, arg), body);
    }
    return body;
}

/* ---- the pass ---- */

static bool is_public(const tg_func *f)
{
    return tg_v_get(f->attrs, "global_symbol") != NULL || tg_is_main(f);
}

/* A public function that takes its parameters plainly, and no model's main. */
static bool is_kernel(const tg_func *f)
{
    return tg_v_get(f->attrs, "global_symbol") != NULL && !tg_is_main(f) && tg_v_get_int(f->attrs, "calling_conv", 0) != 1;
}

static const tg_node *lower_plain(tg_ctx *cx, const tg_node *n, void *user)
{
    lowering *l = user;
    (void)cx;
    if (n->kind != TG_EVALUATE || !tg_is_call(n->kid[0], "call_cpacked"))
        return n;
    const tg_node *call = n->kid[0];
    return plain_call(l, call, tg_module_find(l->m, call->kid[0]->u.name));
}

static const tg_node *lower_packed(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    return n->kind == TG_EVALUATE && tg_is_call(n->kid[0], "call_cpacked") ? packed_call(user, n->kid[0]) : n;
}

static bool find_callees(tg_ctx *cx, const tg_node *n, void *user)
{
    if (tg_is_call(n, "call_cpacked") && n->kid[0]->kind == TG_STR)
        tg_map_put(cx, user, TG_KEY(n->kid[0]->u.name), user);
    return true;
}

static bool check_calls(tg_ctx *cx, const tg_module *m, const tg_node *n)
{
    if (n->nkids < 2 || n->kid[0]->kind != TG_STR) {
        tg_error(cx, n->span, "call_cpacked: expected a name, arguments and a resource handle");
        return false;
    }
    const tg_func *f = tg_module_find(m, n->kid[0]->u.name);
    if (f != NULL && f->nparams != n->nkids - 2 && tg_v_get_int(f->attrs, "calling_conv", 0) != 1) {
        tg_error(cx, n->span, "%s takes %u arguments, the call has %u", f->name->text, f->nparams, n->nkids - 2);
        return false;
    }
    return true;
}

typedef struct checking { const tg_module *m; bool good; } checking;

static bool check_node(tg_ctx *cx, const tg_node *n, void *user)
{
    checking *c = user;
    if (tg_is_call(n, "call_cpacked"))
        c->good = check_calls(cx, c->m, n) && c->good;
    return true;
}

bool tg_pass_lower_call_packed(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    checking c = { m, true };
    tg_map callee = { 0 };
    for (size_t i = 0; i < m->funcs.n; ++i) {
        tg_visit(cx, m->funcs.at[i]->body, check_node, &c);
        tg_visit(cx, m->funcs.at[i]->body, find_callees, &callee);
    }
    if (!c.good)
        return false;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        lowering l = { .cx = cx, .m = m, .caller = f };
        tg_visit(cx, f->body, measure_stacks, &l);
        if (l.nvalues == 0)
            continue;
        tg_func *g = tg_func_copy(cx, f);
        if (opt->unpacked_api) {
            g->body = tg_rewrite_node(cx, f->body, lower_plain, &l);
        } else {
            make_stacks(&l);
            g->body = with_stacks(&l, tg_rewrite_node(cx, f->body, lower_packed, &l));
        }
        m->funcs.at[i] = g;
    }
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        bool asked = opt->interface_api == TG_INTERFACE_PACKED && tg_module_main(m) == NULL;
        if (f->kind == TG_FUNC_PRIM && is_kernel(f) && (asked || tg_has_open_shape(cx, f)))
            m->funcs.at[i] = tg_packed_entry(cx, f, true);
    }
    for (size_t i = 0; !opt->unpacked_api && i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        bool called = tg_map_get(&callee, TG_KEY(f->name)) != NULL;
        if (called && !is_public(f) && tg_v_get_int(f->attrs, "calling_conv", 0) != 1)
            m->funcs.at[i] = tg_packed_entry(cx, f, false);
    }
    return true;
}
