/* old.c: calls in the form of TVM 0.6, whose quantised operators had scales and zero points as attributes: they become the operands
 * that later versions print. */
#include "build.h"

#include <string.h>

enum { MOST = 6 };

/* The attributes that follow the first operands, in the order of the operands. */
static const struct old_form {
    const char *op;
    uint32_t first;
    const char *attr[MOST];
    bool carried;           /* scales are only carried, and may be left out */
} forms[] = {
    { "qnn.quantize", 1, { "output_scale", "output_zero_point" }, false },
    { "qnn.dequantize", 1, { "input_scale", "input_zero_point" }, false },
    { "qnn.requantize", 1, { "input_scale", "input_zero_point", "output_scale", "output_zero_point" }, false },
    { "qnn.conv2d", 2, { "input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale" }, true },
    { "qnn.dense", 2, { "input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale" }, true },
    { "qnn.add", 2, { "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point", "output_scale", "output_zero_point" }, false },
    { "qnn.mul", 2, { "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point", "output_scale", "output_zero_point" }, false },
};

static const struct old_form *form_of(const tg_node *call)
{
    const char *name = call->u.call->op->text;
    if (strncmp(name, "qnn.", 4) != 0) return NULL;
    for (size_t i = 0; i < TG_COUNT(forms); ++i)
        if (strcmp(forms[i].op, name) == 0 && call->nkids == forms[i].first
            && tg_v_get(call->u.call->attrs, forms[i].attr[0]) != NULL)
            return &forms[i];
    return NULL;
}

/* The attribute as a constant: scales are float32, zero points int32. NULL when it is no number. */
static const tg_node *operand_of(tg_ctx *cx, const tg_node *call, const struct old_form *f, const char *attr)
{
    const tg_value *v = tg_v_get(call->u.call->attrs, attr);
    bool scale = strstr(attr, "scale") != NULL;
    if (v == NULL && !(scale && f->carried)) return NULL;
    if (v != NULL && v->kind != TG_V_INT && !(scale && v->kind == TG_V_FLOAT)) return NULL;
    const tg_tensor *t = scale ? tg_tensor_scalar(cx, TG_FLOAT32, v == NULL ? 1.0 : v->kind == TG_V_INT ? (double)v->i : v->f)
                               : tg_tensor_scalar_int(cx, TG_INT32, v->i);
    return tg_node_at(cx, tg_rconst(cx, t), call->span);
}

const tg_node *tg_op_current(tg_ctx *cx, const tg_node *call)
{
    const struct old_form *f = form_of(call);
    if (f == NULL) return call;
    const tg_node *kid[2 + MOST];
    uint32_t n = 0;
    tg_rcall_info info = *call->u.call;
    while (n < f->first) {
        kid[n] = call->kid[n];
        ++n;
    }
    for (size_t k = 0; k < MOST && f->attr[k] != NULL; ++k) {
        const tg_node *operand = operand_of(cx, call, f, f->attr[k]);
        if (operand == NULL) return call;
        kid[n++] = operand;
        info.attrs = tg_v_without(cx, info.attrs, f->attr[k]);
    }
    return tg_node_new(cx, TG_RCALL, call->span, NULL, tg_copy(cx, &info, sizeof info), n, kid);
}
