/* node.c: building nodes, variables and buffers. A builder checks what its caller must keep: operand types that agree. */
#include "node.h"
#include "text.h"

#include <string.h>

const struct tg_kind_info tg_kind_info[TG_NKINDS] = {
#define TG_KIND(name, text, nkids) { text, nkids },
#include "kinds.def"
#undef TG_KIND
};

/* ---- the general form ---- */

static tg_node *make(tg_ctx *cx, enum tg_kind kind, tg_span span, const tg_type *type, uint32_t nkids, const tg_node *const *kid)
{
    tg_node *n = tg_alloc(cx, sizeof *n + (size_t)nkids * sizeof n->kid[0]);
    n->kind = (uint16_t)kind;
    n->nkids = nkids;
    n->id = cx->nnodes++;
    n->span = span;
    n->type = type;
    if (nkids > 0)
        memcpy(n->kid, kid, (size_t)nkids * sizeof n->kid[0]);
    return n;
}

const tg_node *tg_node_new(tg_ctx *cx, enum tg_kind kind, tg_span span, const tg_type *type, const void *payload,
                           uint32_t nkids, const tg_node *const *kid)
{
    tg_node *n = make(cx, kind, span, type, nkids, kid);
    n->u.any = payload;
    return n;
}

static const tg_node *leaf_i(tg_ctx *cx, enum tg_kind kind, const tg_type *type, int64_t i, uint32_t nkids, const tg_node *const *kid)
{
    tg_node *n = make(cx, kind, TG_NOWHERE, type, nkids, kid);
    n->u.i = i;
    return n;
}

static tg_node *duplicate(tg_ctx *cx, const tg_node *n, uint32_t nkids, const tg_node *const *kid)
{
    tg_node *c = make(cx, (enum tg_kind)n->kind, n->span, n->type, nkids, kid);
    c->u = n->u;
    c->flags = n->flags;
    return c;
}

const tg_node *tg_node_with(tg_ctx *cx, const tg_node *n, uint32_t nkids, const tg_node *const *kid)
{
    if (nkids == n->nkids && (nkids == 0 || memcmp(kid, n->kid, (size_t)nkids * sizeof kid[0]) == 0))
        return n;
    return duplicate(cx, n, nkids, kid);
}

const tg_node *tg_node_with_type(tg_ctx *cx, const tg_node *n, const tg_type *type)
{
    if (n->type == type)
        return n;
    tg_node *c = duplicate(cx, n, n->nkids, n->kid);
    c->type = type;
    return c;
}

const tg_node *tg_node_at(tg_ctx *cx, const tg_node *n, tg_span span)
{
    tg_node *c = duplicate(cx, n, n->nkids, n->kid);
    c->span = span;
    return c;
}

/* ---- variables and buffers ---- */

tg_var *tg_var_new(tg_ctx *cx, const tg_name *name, const tg_type *type)
{
    tg_var *v = TG_NEW(cx, tg_var);
    v->name = name;
    v->type = type;
    v->id = cx->nvars++;
    return v;
}

tg_buffer *tg_buffer_new(tg_ctx *cx, const tg_name *name, DLDataType d, uint32_t ndim, const int64_t *dim, DLDataType index)
{
    tg_buffer *b = TG_NEW(cx, tg_buffer);
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, ndim);
    for (uint32_t k = 0; k < ndim; ++k)
        shape[k] = tg_int(cx, index, dim[k]);
    b->name = name;
    b->dtype = d;
    b->ndim = ndim;
    b->id = cx->nbuffers++;
    b->shape = shape;
    b->scope = tg_intern_z(cx, "global");
    b->data = tg_var_new(cx, name, tg_ptr(cx, d, b->scope));
    return b;
}

tg_buffer *tg_buffer_copy(tg_ctx *cx, const tg_buffer *b)
{
    tg_buffer *c = tg_copy(cx, b, sizeof *b);
    c->id = cx->nbuffers++;
    return c;
}

bool tg_buffer_dims(const tg_buffer *b, int64_t *dim)
{
    for (uint32_t k = 0; k < b->ndim; ++k) {
        if (b->shape[k]->kind != TG_INT)
            return false;
        dim[k] = b->shape[k]->u.i;
    }
    return true;
}

bool tg_buffer_elements(const tg_buffer *b, int64_t *out)
{
    int64_t n = 1;
    for (uint32_t k = 0; k < b->ndim; ++k) {
        int64_t d = b->shape[k]->kind == TG_INT ? b->shape[k]->u.i : -1;
        if (d < 0 || (d > 0 && n > TG_MAX_ELEMENTS / d))
            return false;
        n *= d;
    }
    *out = n;
    return true;
}

/* ---- expressions ---- */

const tg_node *tg_int(tg_ctx *cx, DLDataType d, int64_t v)
{
    DLDataType scalar = tg_dtype(d.code, d.bits, 1);
    const tg_node *n = leaf_i(cx, TG_INT, tg_prim(cx, scalar), tg_wrap_to(scalar, v), 0, NULL);
    return d.lanes > 1 ? tg_node_new(cx, TG_BROADCAST, TG_NOWHERE, tg_prim(cx, d), NULL, 1, &n) : n;
}

const tg_node *tg_float(tg_ctx *cx, DLDataType d, double v)
{
    DLDataType scalar = tg_dtype(d.code, d.bits, 1);
    tg_node *n = make(cx, TG_FLOAT, TG_NOWHERE, tg_prim(cx, scalar), 0, NULL);
    n->u.f = tg_round_to(scalar, v);
    if (d.lanes == 1)
        return n;
    const tg_node *kid = n;
    return tg_node_new(cx, TG_BROADCAST, TG_NOWHERE, tg_prim(cx, d), NULL, 1, &kid);
}

const tg_node *tg_const(tg_ctx *cx, DLDataType d, double v)
{
    return tg_is_float(d) ? tg_float(cx, d, v) : tg_int(cx, d, (int64_t)v);
}

const tg_node *tg_str(tg_ctx *cx, const tg_name *s)
{
    return tg_node_new(cx, TG_STR, TG_NOWHERE, tg_prim(cx, TG_HANDLE), s, 0, NULL);
}

const tg_node *tg_strz(tg_ctx *cx, const char *s)
{
    return tg_str(cx, tg_intern_z(cx, s));
}

const tg_node *tg_rvar(tg_ctx *cx, const tg_var *v, tg_span span)
{
    return tg_node_new(cx, TG_RVAR, span, v->type, v, 0, NULL);
}

const tg_node *tg_var_ref(tg_ctx *cx, const tg_var *v)
{
    bool tir = v->type != NULL && (v->type->kind == TG_T_PRIM || v->type->kind == TG_T_PTR);
    return tg_node_new(cx, tir ? TG_VAR : TG_RVAR, TG_NOWHERE, v->type, v, 0, NULL);
}

/* A scalar beside a vector is repeated over its lanes. */
static const tg_node *widen(tg_ctx *cx, const tg_node *n, uint16_t lanes)
{
    DLDataType d = tg_dtype_of(n);
    if (d.lanes == lanes || d.lanes != 1)
        return n;
    d.lanes = lanes;
    return tg_node_new(cx, TG_BROADCAST, TG_NOWHERE, tg_prim(cx, d), NULL, 1, &n);
}

static bool is_comparison(enum tg_kind k)
{
    return k >= TG_EQ && k <= TG_OR;
}

const tg_node *tg_bin(tg_ctx *cx, enum tg_kind kind, const tg_node *a, const tg_node *b)
{
    uint16_t lanes = tg_dtype_of(a).lanes > tg_dtype_of(b).lanes ? tg_dtype_of(a).lanes : tg_dtype_of(b).lanes;
    const tg_node *kid[2] = { widen(cx, a, lanes), widen(cx, b, lanes) };
    TG_CHECK(cx, tg_dtype_eq(tg_dtype_of(kid[0]), tg_dtype_of(kid[1])), a);
    const tg_type *type = is_comparison(kind) ? tg_prim(cx, tg_dtype(kDLUInt, 1, lanes)) : kid[0]->type;
    return tg_node_new(cx, kind, tg_span_join(a->span, b->span), type, NULL, 2, kid);
}

const tg_node *tg_not(tg_ctx *cx, const tg_node *a)
{
    return tg_node_new(cx, TG_NOT, a->span, a->type, NULL, 1, &a);
}

const tg_node *tg_select(tg_ctx *cx, const tg_node *c, const tg_node *a, const tg_node *b)
{
    uint16_t lanes = tg_dtype_of(c).lanes;
    lanes = tg_dtype_of(a).lanes > lanes ? tg_dtype_of(a).lanes : lanes;
    lanes = tg_dtype_of(b).lanes > lanes ? tg_dtype_of(b).lanes : lanes;
    const tg_node *kid[3] = { c, widen(cx, a, lanes), widen(cx, b, lanes) };
    TG_CHECK(cx, kid[1]->type == kid[2]->type, a);
    return tg_node_new(cx, TG_SELECT, c->span, kid[1]->type, NULL, 3, kid);
}

const tg_node *tg_cast(tg_ctx *cx, DLDataType d, const tg_node *a)
{
    d.lanes = tg_dtype_of(a).lanes;
    if (tg_dtype_eq(d, tg_dtype_of(a)))
        return a;
    return tg_node_new(cx, TG_CAST, a->span, tg_prim(cx, d), NULL, 1, &a);
}

/* Lanes of an access: those of the last index times those of the buffer's element. */
static const tg_type *access_type(tg_ctx *cx, const tg_buffer *b, uint32_t n, const tg_node *const *index)
{
    DLDataType d = b->dtype;
    if (n > 0)
        d.lanes = (uint16_t)(d.lanes * tg_dtype_of(index[n - 1]).lanes);
    return tg_prim(cx, d);
}

const tg_node *tg_load(tg_ctx *cx, const tg_buffer *b, uint32_t n, const tg_node *const *index)
{
    TG_CHECK(cx, n == b->ndim, n > 0 ? index[0] : NULL);
    return tg_node_new(cx, TG_LOAD, TG_NOWHERE, access_type(cx, b, n, index), b, n, index);
}

const tg_node *tg_call(tg_ctx *cx, const char *intrin, const tg_type *type, uint32_t n, const tg_node *const *arg)
{
    const tg_name *name = tg_intern_z(cx, intrin);
    const tg_intrin *row = tg_intrin_find(cx, name);
    TG_CHECK(cx, row != NULL && (row->nargs < 0 || (uint32_t)row->nargs == n), n > 0 ? arg[0] : NULL);
    if (type == NULL) {
        switch (row->result) {
        case TG_RESULT_SAME: type = arg[0]->type; break;
        case TG_RESULT_SECOND: type = arg[1]->type; break;
        case TG_RESULT_BOOL: type = tg_prim(cx, tg_dtype(kDLUInt, 1, tg_dtype_of(arg[0]).lanes)); break;
        case TG_RESULT_I32: type = tg_prim(cx, TG_INT32); break;
        case TG_RESULT_PTR: type = tg_ptr(cx, TG_HANDLE, NULL); break;
        case TG_RESULT_VOID: type = tg_void(cx); break;
        case TG_RESULT_GIVEN: TG_CHECK(cx, type != NULL, n > 0 ? arg[0] : NULL); break;
        }
    }
    return tg_node_new(cx, TG_CALL, TG_NOWHERE, type, name, n, arg);
}

const tg_node *tg_call1(tg_ctx *cx, const char *intrin, const tg_node *a)
{
    return tg_call(cx, intrin, NULL, 1, &a);
}

const tg_node *tg_call2(tg_ctx *cx, const char *intrin, const tg_node *a, const tg_node *b)
{
    return tg_call(cx, intrin, NULL, 2, (const tg_node *[]){ a, b });
}

const tg_node *tg_call3(tg_ctx *cx, const char *intrin, const tg_node *a, const tg_node *b, const tg_node *c)
{
    return tg_call(cx, intrin, NULL, 3, (const tg_node *[]){ a, b, c });
}

/* ---- statements ---- */

const tg_node *tg_store(tg_ctx *cx, const tg_buffer *b, const tg_node *value, uint32_t n, const tg_node *const *index)
{
    TG_CHECK(cx, n == b->ndim, value);
    value = widen(cx, value, access_type(cx, b, n, index)->dtype.lanes);
    TG_CHECK(cx, value->type == access_type(cx, b, n, index), value);
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, n + 1);
    kid[0] = value;
    if (n > 0)
        memcpy(kid + 1, index, n * sizeof kid[0]);
    return tg_node_new(cx, TG_STORE, TG_NOWHERE, NULL, b, n + 1, kid);
}

const tg_node *tg_for_with(tg_ctx *cx, const tg_loop *loop, const tg_node *min, const tg_node *extent, const tg_node *body)
{
    TG_CHECK(cx, min->type == extent->type && loop->var->type == min->type, body);
    return tg_node_new(cx, TG_FOR, body->span, NULL, loop, 3, (const tg_node *[]){ min, extent, body });
}

const tg_node *tg_for(tg_ctx *cx, enum tg_for_kind kind, const tg_var *v, const tg_node *min, const tg_node *extent, const tg_node *body)
{
    tg_loop *loop = TG_NEW(cx, tg_loop);
    loop->var = v;
    loop->kind = kind;
    return tg_for_with(cx, loop, min, extent, body);
}

const tg_node *tg_if(tg_ctx *cx, const tg_node *c, const tg_node *then, const tg_node *otherwise)
{
    return tg_node_new(cx, TG_IF, c->span, NULL, NULL, otherwise != NULL ? 3 : 2, (const tg_node *[]){ c, then, otherwise });
}

const tg_node *tg_seq(tg_ctx *cx, uint32_t n, const tg_node *const *s)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; ++i)
        total += s[i]->kind == TG_SEQ ? s[i]->nkids : 1;
    if (total == 1) {
        for (uint32_t i = 0; i < n; ++i) {
            if (s[i]->kind != TG_SEQ)
                return s[i];
            if (s[i]->nkids == 1)
                return s[i]->kid[0];
        }
    }
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, total);
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; ++i) {
        if (s[i]->kind != TG_SEQ) {
            kid[k++] = s[i];
            continue;
        }
        for (uint32_t j = 0; j < s[i]->nkids; ++j)
            kid[k++] = s[i]->kid[j];
    }
    return tg_node_new(cx, TG_SEQ, total > 0 ? kid[0]->span : TG_NOWHERE, NULL, NULL, total, kid);
}

const tg_node *tg_nop(tg_ctx *cx)
{
    return tg_node_new(cx, TG_SEQ, TG_NOWHERE, NULL, NULL, 0, NULL);
}

const tg_node *tg_evaluate(tg_ctx *cx, const tg_node *e)
{
    return tg_node_new(cx, TG_EVALUATE, e->span, NULL, NULL, 1, &e);
}

const char *tg_lost_text(tg_ctx *cx, const tg_alloc_info *a)
{
    const tg_type *t = tg_tensor_type(cx, a->dtype, a->ndim, a->extent, 0);
    int64_t all = 0;
    tg_type_elements(t, &all);
    return tg_format(cx, "constant %s, %s: the text has lost %lld of its %lld values", a->var->name->text, tg_type_text(cx, t),
                     (long long)a->missing, (long long)all);
}

const tg_node *tg_decl_buffer(tg_ctx *cx, const tg_buffer *view, const tg_node *body)
{
    return tg_node_new(cx, TG_DECL_BUFFER, body->span, NULL, view, 1, &body);
}

const tg_node *tg_let_stmt(tg_ctx *cx, const tg_var *v, const tg_node *value, const tg_node *body)
{
    return tg_node_new(cx, TG_LET_STMT, value->span, NULL, v, 2, (const tg_node *[]){ value, body });
}

/* ---- Relay ---- */

const tg_node *tg_rcall(tg_ctx *cx, const tg_name *op, const tg_value *attrs, tg_span span, uint32_t n, const tg_node *const *arg)
{
    tg_rcall_info *call = TG_NEW(cx, tg_rcall_info);
    call->op = op;
    call->attrs = attrs;
    return tg_node_new(cx, TG_RCALL, span, NULL, call, n, arg);
}

const tg_node *tg_rapply(tg_ctx *cx, const tg_node *callee, tg_span span, uint32_t n, const tg_node *const *arg)
{
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, n + 1);
    kid[0] = callee;
    if (n > 0)
        memcpy(kid + 1, arg, n * sizeof kid[0]);
    return tg_node_new(cx, TG_RCALL, span, NULL, TG_NEW(cx, tg_rcall_info), n + 1, kid);
}

const tg_node *tg_rbind(tg_ctx *cx, const tg_var *v, const tg_node *value)
{
    return tg_node_new(cx, TG_RBIND, value->span, NULL, v, 1, &value);
}

const tg_node *tg_rblock(tg_ctx *cx, uint32_t nbinds, const tg_node *const *bind, const tg_node *result)
{
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, nbinds + 1);
    if (nbinds > 0)
        memcpy(kid, bind, nbinds * sizeof kid[0]);
    kid[nbinds] = result;
    return tg_node_new(cx, TG_RBLOCK, result->span, result->type, NULL, nbinds + 1, kid);
}

const tg_node *tg_rconst(tg_ctx *cx, const tg_tensor *t)
{
    return tg_node_new(cx, TG_RCONST, TG_NOWHERE, t->type, t, 0, NULL);
}

const tg_node *tg_rget(tg_ctx *cx, const tg_node *tuple, int64_t index)
{
    const tg_type *type = NULL;
    if (tuple->type != NULL && tuple->type->kind == TG_T_TUPLE && index >= 0 && index < (int64_t)tuple->type->n)
        type = tuple->type->field[index];
    return leaf_i(cx, TG_RGET, type, index, 1, &tuple);
}

const tg_node *tg_rtuple(tg_ctx *cx, uint32_t n, const tg_node *const *field)
{
    const tg_type **type = TG_ARRAY(cx, const tg_type *, n);
    bool typed = true;
    for (uint32_t i = 0; i < n; ++i) {
        type[i] = field[i]->type;
        typed = typed && type[i] != NULL;
    }
    return tg_node_new(cx, TG_RTUPLE, TG_NOWHERE, typed ? tg_tuple_type(cx, n, type) : NULL, NULL, n, field);
}

const tg_node *tg_rglobal(tg_ctx *cx, const tg_name *name, const tg_type *type)
{
    return tg_node_new(cx, TG_RGLOBAL, TG_NOWHERE, type, name, 0, NULL);
}

/* ---- questions ---- */

bool tg_is_stmt(const tg_node *n)
{
    return n->kind >= TG_STORE && n->kind <= TG_BLOCK;
}

bool tg_is_relay(const tg_node *n)
{
    return n->kind >= TG_RVAR;
}

/* ---- intrinsics ---- */

static const tg_intrin intrins[] = {
#define TG_INTRIN(name, nargs, result, effect) { #name, nargs, TG_RESULT_##result, TG_EFFECT_##effect, TG_I_##name },
#include "intrins.def"
#undef TG_INTRIN
};

const tg_intrin *tg_intrin_find(tg_ctx *cx, const tg_name *name)
{
    tg_map *m = cx->table[TG_TABLE_INTRIN];
    if (m == NULL) {
        m = TG_NEW(cx, tg_map);
        for (size_t i = 0; i < TG_COUNT(intrins); ++i)
            tg_map_put(cx, m, TG_KEY(tg_intern_z(cx, intrins[i].name)), (void *)(uintptr_t)(i + 1));
        cx->table[TG_TABLE_INTRIN] = m;
    }
    uintptr_t i = (uintptr_t)tg_map_get(m, TG_KEY(name));
    return i == 0 ? NULL : &intrins[i - 1];
}
