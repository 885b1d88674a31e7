/* dyn.c: operators that take attributes as operands (dyn.*): rewritten to the static operator when those operands are constants. */
#include "build.h"

#include <string.h>

enum form { INT, INTS, PAIRS, FLOAT, FLOATS };

/* Operands of a dyn.* operator that become attributes; the others stay, in order. */
typedef struct moved {
    uint32_t operand;
    const char *attr;
    enum form form;
} moved;
typedef struct rewrite {
    const char *from, *to;
    uint32_t n;
    moved at[3];
} rewrite;

static const rewrite rewrites[] = {
    { "dyn.reshape", "reshape", 1, { { 1, "newshape", INTS } } },
    { "dyn.broadcast_to", "broadcast_to", 1, { { 1, "shape", INTS } } },
    { "dyn.full", "full", 1, { { 1, "shape", INTS } } },
    { "dyn.ones", "ones", 1, { { 0, "shape", INTS } } },
    { "dyn.zeros", "zeros", 1, { { 0, "shape", INTS } } },
    { "dyn.tile", "tile", 1, { { 1, "reps", INTS } } },
    { "dyn.topk", "topk", 1, { { 1, "k", INT } } },
    { "dyn.expand_dims", "expand_dims", 1, { { 1, "axis", INT } } },
    { "dyn.squeeze", "squeeze", 1, { { 1, "axis", INTS } } },
    { "dyn.strided_slice", "strided_slice", 3, { { 1, "begin", INTS }, { 2, "end", INTS }, { 3, "strides", INTS } } },
    { "dyn.one_hot", "one_hot", 1, { { 3, "depth", INT } } },
    { "dyn.nn.pad", "nn.pad", 1, { { 1, "pad_width", PAIRS } } },
    { "dyn.nn.upsampling", "nn.upsampling", 2, { { 1, "scale_h", FLOAT }, { 2, "scale_w", FLOAT } } },
    { "dyn.nn.upsampling3d",
      "nn.upsampling3d",
      3,
      { { 1, "scale_d", FLOAT }, { 2, "scale_h", FLOAT }, { 3, "scale_w", FLOAT } } },
    { "dyn.image.resize2d", "image.resize2d", 2, { { 1, "size", INTS }, { 2, "roi", FLOATS } } },
    { "dyn.sparse_to_dense", "sparse_to_dense", 1, { { 1, "output_shape", INTS } } },
};

static const rewrite *find(const char *name)
{
    for (size_t i = 0; strncmp(name, "dyn.", 4) == 0 && i < TG_COUNT(rewrites); ++i)
        if (strcmp(rewrites[i].from, name) == 0) return &rewrites[i];
    return NULL;
}

static const moved *moved_operand(const rewrite *r, uint32_t i)
{
    for (uint32_t k = 0; k < r->n; ++k)
        if (r->at[k].operand == i) return &r->at[k];
    return NULL;
}

enum { MAX_VALUES = 4 * TG_MAX_NDIM };

/* The tensor as an attribute; NULL when it has a shape that no attribute has. */
static const tg_value *as_value(tg_ctx *cx, const tg_tensor *t, enum form form)
{
    int64_t n = 0;
    const tg_value *item[MAX_VALUES];
    uint32_t rank = form == PAIRS ? 2 : form == INT || form == FLOAT ? 0 : 1;
    if (!tg_type_elements(t->type, &n) || n > MAX_VALUES || t->type->n > 2 || (rank == 0 && n != 1) ||
        (rank == 2 && (t->type->n != 2 || t->type->dim[1] != 2)))
        return NULL;
    for (int64_t k = 0; k < n; ++k)
        item[k] =
            form == FLOAT || form == FLOATS ? tg_v_float(cx, tg_tensor_f64(t, k)) : tg_v_int(cx, tg_tensor_i64(t, k));
    if (rank == 0) return item[0];
    if (rank == 1) return tg_v_list(cx, (uint32_t)n, item);
    for (int64_t k = 0; k < n / 2; ++k) item[k] = tg_v_list(cx, 2, &item[2 * k]);
    return tg_v_list(cx, (uint32_t)(n / 2), item);
}

const tg_node *tg_op_static(tg_ctx *cx, const tg_node *call)
{
    if (call->u.call->op == NULL) return call;
    call = tg_op_current(cx, call);
    const rewrite *r = find(call->u.call->op->text);
    if (r == NULL) return call;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, call->nkids);
    tg_rcall_info info = *call->u.call;
    uint32_t n = 0, found = 0;
    for (uint32_t i = 0; i < call->nkids; ++i) {
        const moved *m = moved_operand(r, i);
        if (m == NULL) {
            kid[n++] = call->kid[i];
            continue;
        }
        const tg_value *v = call->kid[i]->kind == TG_RCONST ? as_value(cx, call->kid[i]->u.tensor, m->form) : NULL;
        if (v == NULL) return call;
        info.attrs = tg_v_with(cx, info.attrs, m->attr, v);
        ++found;
    }
    if (found != r->n) return call;
    info.op = tg_intern_z(cx, r->to);
    return tg_node_new(cx, TG_RCALL, call->span, NULL, tg_copy(cx, &info, sizeof info), n, kid);
}

/* Reached only by calls that could not be rewritten: says which operand is in the way. */
const tg_type *tg_type_dyn(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const rewrite *r = find(op->name);
    const tg_node *now = tg_op_static(cx, call);
    if (now != call) return tg_op_infer(cx, now);
    for (uint32_t i = 0; r != NULL && i < call->nkids; ++i) {
        if (moved_operand(r, i) == NULL) continue;
        const char *name = tg_op_arg_name(cx, op, i)->text;
        if (call->kid[i]->kind != TG_RCONST)
            return tg_arg_error(
                cx, call, i,
                "%s decides the shape of the result and must be a constant; it is computed at run time here", name);
        if (as_value(cx, call->kid[i]->u.tensor, moved_operand(r, i)->form) == NULL)
            return tg_arg_error(cx, call, i, "%s has a shape that is not possible", name);
    }
    return tg_op_error(cx, call, "the shape of the result cannot be told");
}
