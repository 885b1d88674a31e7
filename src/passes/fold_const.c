/* fold_const.c: calls whose operands are constants become constants; branches on constants are taken.
 * Needs: types.  Keeps: every value; the parameters and the result of each function.
 *
 * A constant takes memory that a call does not. A result is kept as a constant up to 4 KiB, or up to 16 times the
 * bytes of the constants it comes from; never beyond 64 MiB. A larger one (zeros, a scalar broadcast) stays a call,
 * but what follows from it may still become a constant: its value is then computed on the way. */
#include "passes.h"
#include "rebind.h"
#include "eval/eval.h"
#include "ops/ops.h"

enum { SMALL_BYTES = 4096, GROWTH = 16 };
#define MAX_BYTES ((int64_t)64 << 20)

/* A call that could be a constant but is too large to become one. */
typedef struct held { const tg_node *call; const tg_node *value; int64_t bytes; } held;

typedef struct folding { tg_map held; } folding;      /* var id + 1 -> held */

/* ---- what is constant ---- */

static held *held_of(const tg_rebind *r, const tg_node *atom)
{
    const folding *f = r->user;
    return atom->kind == TG_RVAR ? tg_map_get(&f->held, (uint64_t)atom->u.var->id + 1) : NULL;
}

static bool is_constant(const tg_rebind *r, const tg_node *atom, int64_t *bytes)
{
    const held *h = held_of(r, atom);
    if (atom->kind == TG_RCONST) {
        *bytes += (int64_t)atom->u.tensor->size_bytes;
        return true;
    }
    if (h != NULL) {
        *bytes += h->bytes;
        return true;
    }
    const tg_node *v = tg_rebind_value(r, atom);
    if (v->kind != TG_RTUPLE)
        return false;
    for (uint32_t i = 0; i < v->nkids; ++i)
        if (v->kid[i]->kind != TG_RCONST && held_of(r, v->kid[i]) == NULL)
            return false;
    for (uint32_t i = 0; i < v->nkids; ++i)
        is_constant(r, v->kid[i], bytes);
    return true;
}

static bool type_bytes(const tg_type *t, int64_t *bytes, uint32_t *ntensors)
{
    int64_t n;
    if (t != NULL && t->kind == TG_T_TENSOR && tg_type_bytes(t, &n)) {
        *bytes = *bytes > MAX_BYTES || n > MAX_BYTES ? MAX_BYTES + 1 : *bytes + n;
        ++*ntensors;
        return true;
    }
    if (t == NULL || t->kind != TG_T_TUPLE)
        return false;
    for (uint32_t i = 0; i < t->n; ++i)
        if (t->field[i]->kind != TG_T_TENSOR || !type_bytes(t->field[i], bytes, ntensors))
            return false;
    return true;
}

/* A division that would fail is left where it stands: its place may never be reached. */
static bool divides_by_zero(const tg_rebind *r, const tg_node *call)
{
    static const char *const op[] = { "divide", "mod", "floor_divide", "floor_mod", "trunc_divide", "trunc_mod" };
    for (size_t k = 0; k < TG_COUNT(op); ++k) {
        if (!tg_is_op_call(call, op[k]) || call->nkids != 2 || tg_is_float(call->kid[1]->type->dtype))
            continue;
        const tg_node *by = call->kid[1]->kind == TG_RCONST ? call->kid[1] : NULL;
        int64_t n;
        if (by == NULL || !tg_type_elements(by->type, &n))
            return held_of(r, call->kid[1]) != NULL;
        for (int64_t i = 0; i < n; ++i)
            if (tg_tensor_i64(by->u.tensor, i) == 0)
                return true;
    }
    return false;
}

/* ---- computing ---- */

static const tg_node *constant_operand(const tg_rebind *r, const tg_node *atom)
{
    const held *h = held_of(r, atom);
    return h != NULL ? h->value : atom;
}

/* The call with constants, and tuples of constants, for operands. */
static const tg_node *with_constants(const tg_rebind *r, const tg_node *call)
{
    const tg_node **arg = TG_ARRAY(r->cx, const tg_node *, call->nkids);
    for (uint32_t i = 0; i < call->nkids; ++i) {
        const tg_node *v = tg_rebind_value(r, call->kid[i]);
        arg[i] = constant_operand(r, call->kid[i]);
        if (v->kind != TG_RTUPLE)
            continue;
        const tg_node **field = TG_ARRAY(r->cx, const tg_node *, v->nkids);
        for (uint32_t k = 0; k < v->nkids; ++k)
            field[k] = constant_operand(r, v->kid[k]);
        arg[i] = tg_rtuple(r->cx, v->nkids, field);
    }
    return tg_node_with(r->cx, call, call->nkids, arg);
}

/* A folded weight keeps the name of the weight it comes from: the largest operand's. */
static const tg_name *label_of(const tg_node *call)
{
    const tg_tensor *best = NULL;
    for (uint32_t i = 0; i < call->nkids; ++i) {
        const tg_tensor *t = call->kid[i]->kind == TG_RCONST ? call->kid[i]->u.tensor : NULL;
        if (t != NULL && t->label != NULL && (best == NULL || t->size_bytes > best->size_bytes))
            best = t;
    }
    return best != NULL ? best->label : NULL;
}

static const tg_node *constant_node(tg_rebind *r, const tg_tensor *t, const tg_name *label, tg_span span)
{
    tg_tensor *named = tg_copy(r->cx, t, sizeof *t);
    named->label = label;
    return tg_node_at(r->cx, tg_rconst(r->cx, named), span);
}

/* RCONST, or RTUPLE of them; NULL after an error. */
static const tg_node *evaluate(tg_rebind *r, const tg_node *call, uint32_t ntensors)
{
    const tg_node *ready = with_constants(r, call);
    const tg_tensor **out = TG_ARRAY(r->cx, const tg_tensor *, ntensors);
    bool good = tg_eval_call(r->cx, ready, out, ntensors);
    tg_temp_reset(r->cx);
    if (!good)
        return NULL;
    const tg_name *label = label_of(ready);
    if (call->type->kind == TG_T_TENSOR)
        return constant_node(r, out[0], label, call->span);
    const tg_node **field = TG_ARRAY(r->cx, const tg_node *, ntensors);
    for (uint32_t i = 0; i < ntensors; ++i)
        field[i] = constant_node(r, out[i], label, call->span);
    return tg_rtuple(r->cx, ntensors, field);
}

typedef TG_VEC(held *) held_list;

static bool is_waiting(tg_rebind *r, held_list *todo, const tg_node *atom)
{
    held *h = held_of(r, atom);
    if (h == NULL || h->value != NULL)
        return false;
    TG_PUSH(r->cx, *todo, h);
    return true;
}

/* Pushes the held operands of @p call that have no value yet. */
static bool waits_for(tg_rebind *r, held_list *todo, const tg_node *call)
{
    bool waits = false;
    for (uint32_t i = 0; i < call->nkids; ++i) {
        const tg_node *v = tg_rebind_value(r, call->kid[i]);
        waits = is_waiting(r, todo, call->kid[i]) || waits;
        for (uint32_t k = 0; v->kind == TG_RTUPLE && k < v->nkids; ++k)
            waits = is_waiting(r, todo, v->kid[k]) || waits;
    }
    return waits;
}

/* Computes the held values that @p call depends on, a long chain without nesting. */
static bool compute_held(tg_rebind *r, const tg_node *call)
{
    held_list todo = { 0 };
    waits_for(r, &todo, call);
    while (todo.n > 0) {
        held *h = todo.at[todo.n - 1];
        if (h->value == NULL && waits_for(r, &todo, h->call))
            continue;
        --todo.n;
        if (h->value == NULL && (h->value = evaluate(r, h->call, 1)) == NULL)
            return false;
    }
    return true;
}

/* ---- the rules ---- */

/* Shapes are known from types alone. */
static const tg_node *fold_shape(tg_rebind *r, const tg_node *call)
{
    int64_t total;
    bool size = tg_is_op_call(call, "ndarray_size") || tg_is_op_call(call, "contrib.ndarray_size");
    if ((!size && !tg_is_op_call(call, "shape_of")) || call->nkids != 1)
        return NULL;
    const tg_type *of = call->kid[0]->type;
    if (of == NULL || of->kind != TG_T_TENSOR || !tg_type_elements(of, &total) || call->type == NULL ||
        call->type->kind != TG_T_TENSOR)
        return NULL;
    tg_tensor *t = tg_tensor_new(r->cx, call->type, NULL);
    if (size)
        tg_tensor_set_i64(t, 0, total);
    for (uint32_t k = 0; !size && k < of->n; ++k)
        tg_tensor_set_i64(t, k, of->dim[k]);
    return tg_node_at(r->cx, tg_rconst(r->cx, t), call->span);
}

static void hold(tg_rebind *r, const tg_var *v, const tg_node *call, int64_t bytes)
{
    folding *f = r->user;
    held *h = TG_NEW(r->cx, held);
    *h = (held){ call, NULL, bytes };
    tg_map_put(r->cx, &f->held, (uint64_t)v->id + 1, h);
}

static const tg_node *fold_call(tg_rebind *r, const tg_var *v, const tg_node *call)
{
    const tg_node *shape = fold_shape(r, call);
    if (shape != NULL)
        return shape;
    const tg_op *op = tg_op_find(r->cx, call->u.call->op);
    int64_t from = 0, bytes = 0;
    uint32_t ntensors = 0;
    if (op == NULL || op->lower == NULL)
        return call;
    for (uint32_t i = 0; i < call->nkids; ++i)
        if (!is_constant(r, call->kid[i], &from))
            return call;
    if (!type_bytes(call->type, &bytes, &ntensors) || bytes > MAX_BYTES || divides_by_zero(r, call))
        return call;
    if (bytes <= SMALL_BYTES || bytes / GROWTH <= from)
        return compute_held(r, call) ? evaluate(r, call, ntensors) : NULL;
    if (call->type->kind == TG_T_TENSOR)
        hold(r, v, call, from);
    return call;
}

static const tg_node *fold(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    const tg_node *of;
    switch (value->kind) {
    case TG_RCALL:
        return value->u.call->op != NULL ? fold_call(r, v, value) : value;
    case TG_RGET:
        of = tg_rebind_value(r, value->kid[0]);
        return of->kind == TG_RTUPLE && value->u.i >= 0 && value->u.i < (int64_t)of->nkids ? of->kid[value->u.i]
                                                                                           : value;
    case TG_RIF:
        of = value->kid[0];
        if (of->kind != TG_RCONST)
            return value;
        return tg_rebind_splice(r, tg_tensor_i64(of->u.tensor, 0) != 0 ? value->kid[1] : value->kid[2]);
    default:
        return value;
    }
}

bool tg_pass_fold_const(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    folding f = { { 0 } };
    tg_rebind r = { .cx = cx, .m = m, .fn = fold, .user = &f };
    (void)opt;
    return tg_rebind_module(&r);
}
