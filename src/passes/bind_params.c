/* bind_params.c: named tensors in place of a function's parameters. */
#include "bind_params.h"
#include "ir/diag.h"
#include "ir/walk.h"

#include <ctype.h>

/* Operators and their operands that hold weights: the first such operand; all after it count too. */
static const struct { const char *op; uint32_t first; } weights[] = {
    { "nn.conv1d", 1 }, { "nn.conv2d", 1 }, { "nn.conv3d", 1 }, { "nn.conv1d_transpose", 1 }, { "nn.conv2d_transpose", 1 },
    { "nn.conv3d_transpose", 1 }, { "nn.dense", 1 }, { "nn.bias_add", 1 }, { "nn.batch_norm", 1 }, { "nn.prelu", 1 },
    { "nn.layer_norm", 1 }, { "nn.instance_norm", 1 }, { "nn.group_norm", 1 }, { "qnn.conv2d", 1 }, { "qnn.dense", 1 },
};

typedef struct uses { tg_map *weight, *other; } uses;       /* var id + 1 -> call */

static bool is_weight_operand(const tg_node *call, uint32_t i)
{
    for (size_t k = 0; k < TG_COUNT(weights); ++k)
        if (tg_is_op_call(call, weights[k].op))
            return i >= weights[k].first;
    return false;
}

static bool note_uses(tg_ctx *cx, const tg_node *n, void *user)
{
    uses *u = user;
    for (uint32_t i = 0; i < n->nkids; ++i) {
        if (n->kid[i]->kind != TG_RVAR)
            continue;
        bool weight = n->kind == TG_RCALL && is_weight_operand(n, i);
        tg_map_put(cx, weight ? u->weight : u->other, (uint64_t)n->kid[i]->u.var->id + 1, (void *)(uintptr_t)n);
    }
    return true;
}

static size_t find(const tg_name *param, size_t n, const tg_name *const *name, const char *taken)
{
    const char *printed = param->text;
    for (size_t i = 0; i < n; ++i)
        if (name[i] == param)
            return i;
    if (printed[0] != 'v' || isalpha((unsigned char)printed[1]))
        return n;
    for (size_t i = 0; i < n; ++i)
        if (taken[i] == 0 && tg_name_is(name[i], printed + 1))
            return i;
    return n;
}

static bool fits(tg_ctx *cx, const tg_var *p, const tg_tensor *t, const char *file)
{
    if (p->type == NULL || (p->type->kind == TG_T_TENSOR && tg_type_same_shape(p->type, t->type) && tg_dtype_eq(p->type->dtype, t->type->dtype)))
        return true;
    tg_error(cx, p->span, "parameter %%%s is %s, its value in %s is %s", p->name->text, tg_type_text(cx, p->type), file,
             tg_type_text(cx, t->type));
    return false;
}

bool tg_bind_params(tg_ctx *cx, tg_module *m, const char *entry, size_t n, const tg_name *const *name, tg_tensor *const *value,
                    const char *const *file)
{
    const tg_func *f = tg_module_find_z(m, entry);
    if (n == 0 || f == NULL || f->kind != TG_FUNC_RELAY)
        return true;
    tg_map weight = { 0 }, other = { 0 };
    uses u = { &weight, &other };
    tg_visit(cx, f->body, note_uses, &u);
    char *taken = tg_temp(cx, n);
    tg_subst s = { { 0 }, { 0 } };
    const tg_var **kept = TG_ARRAY(cx, const tg_var *, f->nparams);
    uint32_t nkept = 0;
    bool good = true;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_var *p = f->param[i];
        uint64_t key = (uint64_t)p->id + 1;
        size_t at = find(p->name, n, name, taken);
        if (at < n) {
            taken[at] = 1;
            good = fits(cx, p, value[at], file[at]) && good;
            value[at]->label = name[at];
            const tg_node *c = tg_rconst(cx, value[at]);
            tg_subst_var(cx, &s, p, p->type == NULL ? c : tg_node_with_type(cx, c, p->type));
            continue;
        }
        const tg_node *call = tg_map_get(&weight, key);
        if (call != NULL && tg_map_get(&other, key) == NULL) {
            tg_error(cx, p->span, "parameter %%%s has no value in %s", p->name->text, file[0]);
            tg_note(cx, call->span, "it is a weight of this %s", call->u.call->op->text);
            good = false;
        }
        kept[nkept++] = p;
    }
    for (size_t i = 0; i < n; ++i)
        if (!taken[i])
            tg_warning(cx, f->span, "@%s has no parameter for the tensor %s of %s", entry, name[i]->text, file[i]);
    if (!good)
        return false;
    tg_func *g = tg_func_copy(cx, f);
    g->param = kept;
    g->nparams = nkept;
    g->body = tg_substitute(cx, f->body, &s);
    tg_module_set(m, g);
    return true;
}
