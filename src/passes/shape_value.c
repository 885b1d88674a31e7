/* shape_value.c: the value of an expression that does not depend on the model's inputs, such as the shape handed to dyn.reshape.
 * The bindings it needs are lowered as one function and evaluated. */
#include "shape_value.h"
#include "eval/eval.h"
#include "ops/ops.h"

#include <string.h>

enum { MAX_BINDINGS = 1000 };

typedef struct slice {
    tg_ctx *cx;
    const tg_map *values;
    TG_VEC(const tg_node *) todo; /* variables to visit; the second visit binds */
    TG_VEC(const tg_node *) bind;
    tg_map state; /* variable id + 1 -> 1: on the way, 2: bound */
} slice;

/* shape_of and ndarray_size ask for a type alone: their value as a constant. */
static const tg_node *from_type(tg_ctx *cx, const tg_node *v)
{
    bool shape = tg_is_op_call(v, "shape_of");
    if (!shape && !tg_is_op_call(v, "ndarray_size") && !tg_is_op_call(v, "contrib.ndarray_size")) return NULL;
    const tg_type *of = v->kid[0]->type;
    int64_t n = 0;
    tg_tensor *t = tg_tensor_new(cx, v->type, NULL);
    if (!shape && tg_type_elements(of, &n)) tg_tensor_set_i64(t, 0, n);
    for (uint32_t k = 0; shape && k < of->n; ++k) tg_tensor_set_i64(t, k, of->dim[k]);
    return tg_rconst(cx, t);
}

static bool can_compute(const tg_node *v)
{
    return (v->kind == TG_RCALL && v->u.call->op != NULL) || v->kind == TG_RTUPLE || v->kind == TG_RGET ||
           tg_is_atom(v);
}

static void *state_of(const slice *s, const tg_var *v)
{
    return tg_map_get(&s->state, (uint64_t)v->id + 1);
}

/* The bindings that @p root needs, in order. */
static bool collect(slice *s, const tg_node *root)
{
    tg_ctx *cx = s->cx;
    TG_PUSH(cx, s->todo, root);
    while (s->todo.n > 0) {
        const tg_node *n = s->todo.at[s->todo.n - 1];
        const tg_node *v = tg_map_get(s->values, (uint64_t)n->u.var->id + 1);
        uintptr_t state = (uintptr_t)state_of(s, n->u.var);
        if (v == NULL || !can_compute(v) || s->bind.n >= MAX_BINDINGS) return false;
        const tg_node *known = from_type(cx, v);
        bool second = state != 0 || known != NULL;
        if (state == 0) tg_map_put(cx, &s->state, (uint64_t)n->u.var->id + 1, (void *)(uintptr_t)1);
        for (uint32_t i = 0; state == 0 && known == NULL && i < v->nkids; ++i) {
            if (v->kid[i]->kind == TG_RVAR && state_of(s, v->kid[i]->u.var) == NULL) TG_PUSH(cx, s->todo, v->kid[i]);
            else if (v->kid[i]->kind != TG_RVAR && v->kid[i]->kind != TG_RCONST) return false;
        }
        if (state == 0 && known == NULL && v->kind == TG_RVAR) TG_PUSH(cx, s->todo, v);
        if (!second) continue;
        --s->todo.n;
        if (state == 2) continue;
        tg_map_put(cx, &s->state, (uint64_t)n->u.var->id + 1, (void *)(uintptr_t)2);
        TG_PUSH(cx, s->bind, tg_rbind(cx, n->u.var, known != NULL ? known : v));
    }
    return true;
}

const tg_node *tg_shape_value(tg_ctx *cx, const tg_map *values, const tg_node *atom)
{
    if (atom->kind == TG_RCONST) return atom;
    if (atom->kind != TG_RVAR || atom->type == NULL || atom->type->kind != TG_T_TENSOR) return NULL;
    slice s = { .cx = cx, .values = values };
    if (!collect(&s, atom)) return NULL;
    const tg_node *body = tg_rblock(cx, (uint32_t)s.bind.n, s.bind.at, atom);
    tg_func f = {
        .name = tg_intern_z(cx, "shape"), .kind = TG_FUNC_RELAY, .span = atom->span, .ret = atom->type, .body = body
    };
    const tg_func *prim = tg_lower_primitive(cx, &f);
    tg_tensor *t = tg_tensor_new(cx, atom->type, NULL);
    DLTensor *arg = &t->dl;
    int64_t ret;
    if (prim == NULL || !tg_eval(cx, tg_module_new(cx), prim, &arg, 1, &ret)) return NULL;
    return tg_node_at(cx, tg_rconst(cx, t), atom->span);
}
