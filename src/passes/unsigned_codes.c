/* unsigned_codes.c: where the machine multiplies unsigned bytes by signed ones, codes between operators become unsigned.
 * Needs: types, constants folded, quantised operators as the text has them.  Keeps: every value bit for bit; parameters and results.
 *
 * A code q of int8 with zero point z is q + 128 of uint8 with zero point z + 128: real numbers stay the same, and so do the integers
 * that sums of products give. A tensor changes when all that make and use it can be written for the other type; those that must
 * have one type (the operands of an addition and its result) change together or not at all. */
#include "passes.h"
#include "rebind.h"

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/ops.h"
#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

enum { SHIFT = 128 };

/* What an operator does with codes: data operands, the zero point of each (0: it has none), that of the result, and whether the
 * result has the type of the data. */
static const struct role {
    const char *op;
    uint32_t ndata, zero[2], zero_out;
    bool tied;
} roles[] = {
    { "qnn.requantize", 1, { 2 }, 4, false }, { "qnn.quantize", 0, { 0 }, 2, false },   { "qnn.dequantize", 1, { 2 }, 0, false },
    { "qnn.conv2d", 1, { 2 }, 0, false },     { "qnn.dense", 1, { 2 }, 0, false },      { "qnn.add", 2, { 3, 5 }, 7, true },
    { "qnn.subtract", 2, { 3, 5 }, 7, true }, { "qnn.mul", 2, { 3, 5 }, 7, true },      { "clip", 1, { 0 }, 0, true },
    { "nn.pad", 1, { 0 }, 0, true },          { "nn.max_pool2d", 1, { 0 }, 0, true },   { "reshape", 1, { 0 }, 0, true },
    { "transpose", 1, { 0 }, 0, true },       { "nn.batch_flatten", 1, { 0 }, 0, true }, { "squeeze", 1, { 0 }, 0, true },
};

typedef struct codes {
    tg_rebind r;
    tg_map parent;      /* var id + 1 -> another variable of its group */
    tg_map fixed;       /* id + 1 of a group's variable: it stays as it is */
    tg_map changed;     /* id + 1 of the variables of uint8 that took the place of others */
    bool functions;     /* some value is a function: what it uses is not followed */
} codes;

static const struct role *role_of(const tg_node *v)
{
    for (size_t i = 0; i < TG_COUNT(roles); ++i)
        if (tg_is_op_call(v, roles[i].op)) return &roles[i];
    return NULL;
}

static uint64_t key(const tg_var *v)
{
    return (uint64_t)v->id + 1;
}

static bool is_codes(const tg_type *t)
{
    return t != NULL && t->kind == TG_T_TENSOR && tg_dtype_eq(t->dtype, TG_INT8);
}

/* ---- groups ---- */

static const tg_var *group_of(codes *c, const tg_var *v)
{
    const tg_var *top = v, *next;
    while ((next = tg_map_get(&c->parent, key(top))) != NULL) top = next;
    if (top != v) tg_map_put(c->r.cx, &c->parent, key(v), (void *)(uintptr_t)top);
    return top;
}

static void fix(codes *c, const tg_var *v)
{
    tg_map_put(c->r.cx, &c->fixed, key(group_of(c, v)), c);
}

static void join(codes *c, const tg_var *a, const tg_var *b)
{
    a = group_of(c, a);
    b = group_of(c, b);
    if (a == b) return;
    if (tg_map_get(&c->fixed, key(a)) != NULL) fix(c, b);
    tg_map_put(c->r.cx, &c->parent, key(a), (void *)(uintptr_t)b);
}

static void fix_atom(codes *c, const tg_node *atom)
{
    if (atom->kind == TG_RVAR) fix(c, atom->u.var);
}

/* ---- which operators can ---- */

static double largest(const tg_node *scale)
{
    int64_t n = 0;
    double most = 0;
    if (scale->kind != TG_RCONST || !tg_type_elements(scale->type, &n)) return HUGE_VAL;
    for (int64_t i = 0; i < n; ++i) {
        double v = tg_tensor_f64(scale->u.tensor, i);
        most = v > most ? v : most;
    }
    return most;
}

/* Sums in 32 bits do not wrap around, with one zero point as with the other. */
static bool stays_in_range(tg_ctx *cx, const tg_node *v)
{
    const tg_op *op = tg_op_find(cx, v->u.call->op);
    if (tg_is_op_call(v, "qnn.requantize")) {
        const char *compute = tg_attr_str(cx, op, v, "compute_dtype");
        double most = v->kid[0]->type->dtype.bits > 16 ? 0.5 : 4096;
        return (strcmp(compute, "None") == 0 || strcmp(compute, "int64") == 0) && largest(v->kid[1]) <= most * largest(v->kid[3]);
    }
    if (tg_is_op_call(v, "qnn.mul")) return largest(v->kid[2]) * largest(v->kid[4]) <= 4096 * largest(v->kid[6]);
    if (tg_is_op_call(v, "qnn.add") || tg_is_op_call(v, "qnn.subtract"))
        return largest(v->kid[2]) <= 4096 * largest(v->kid[6]) && largest(v->kid[4]) <= 4096 * largest(v->kid[6]);
    return true;
}

static bool in_range(double v)
{
    return v >= -SHIFT && v < SHIFT;
}

/* The operands beside the data are such that they can be moved. */
static bool is_movable(tg_ctx *cx, const tg_node *v, const struct role *role)
{
    const tg_op *op = tg_op_find(cx, v->u.call->op);
    for (uint32_t i = 0; i < role->ndata; ++i)
        if (role->zero[i] != 0 && v->kid[role->zero[i]]->kind != TG_RCONST) return false;
    if (role->zero_out != 0 && v->kid[role->zero_out]->kind != TG_RCONST) return false;
    if (tg_is_op_call(v, "nn.pad")) return v->nkids == 2 && v->kid[1]->kind == TG_RCONST;
    if (tg_is_op_call(v, "clip"))
        return in_range(tg_attr_float(cx, op, v, "a_min")) && in_range(tg_attr_float(cx, op, v, "a_max"));
    return stays_in_range(cx, v);
}

static void look_at_call(codes *c, const tg_var *var, const tg_node *v)
{
    const struct role *role = role_of(v);
    bool movable = role != NULL && is_movable(c->r.cx, v, role);
    for (uint32_t i = 0; i < v->nkids; ++i) {
        if (v->kid[i]->kind != TG_RVAR) continue;
        if (!movable || i >= role->ndata) fix(c, v->kid[i]->u.var);
        else if (role->tied) join(c, var, v->kid[i]->u.var);
    }
    bool makes = movable && (role->tied || role->zero_out != 0);
    if (!makes || !is_codes(v->type)) fix(c, var);
}

static bool look(tg_ctx *cx, const tg_node *n, void *user)
{
    codes *c = user;
    (void)cx;
    if (n->kind == TG_RFN) c->functions = true;
    if (n->kind == TG_RBIND && n->kid[0]->kind == TG_RCALL && n->kid[0]->u.call->op != NULL) {
        look_at_call(c, n->u.var, n->kid[0]);
        return true;
    }
    if (n->kind == TG_RBIND) {
        fix(c, n->u.var);
        fix_atom(c, n->kid[0]);
    }
    bool seen = n->kind == TG_RCALL && n->u.call->op != NULL; /* with its binding */
    for (uint32_t i = 0; i < n->nkids && !seen && n->kind != TG_RBIND; ++i) fix_atom(c, n->kid[i]);
    return true;
}

/* ---- the other type ---- */

/* A constant of the type with SHIFT added. */
static const tg_node *moved(codes *c, const tg_node *atom, DLDataType d)
{
    int64_t n = 0;
    tg_ctx *cx = c->r.cx;
    if (!tg_type_elements(atom->type, &n)) return atom;
    tg_tensor *t = tg_tensor_new(cx, tg_tensor_type(cx, d, atom->type->n, atom->type->dim, 0), NULL);
    for (int64_t i = 0; i < n; ++i) tg_tensor_set_i64(t, i, tg_tensor_i64(atom->u.tensor, i) + SHIFT);
    t->label = atom->u.tensor->label;
    return tg_node_at(cx, tg_rconst(cx, t), atom->span);
}

static const tg_value *moved_attrs(codes *c, const tg_node *v, bool out)
{
    tg_ctx *cx = c->r.cx;
    const tg_op *op = tg_op_find(cx, v->u.call->op);
    const tg_value *attrs = v->u.call->attrs;
    if (tg_is_op_call(v, "clip")) { /* bounds of whole numbers are cut off before they are used */
        attrs = tg_v_with(cx, attrs, "a_max", tg_v_float(cx, (double)((int64_t)tg_attr_float(cx, op, v, "a_max") + SHIFT)));
        attrs = tg_v_with(cx, attrs, "a_min", tg_v_float(cx, (double)((int64_t)tg_attr_float(cx, op, v, "a_min") + SHIFT)));
    }
    bool names_type = tg_is_op_call(v, "qnn.requantize") || tg_is_op_call(v, "qnn.quantize");
    return out && names_type ? tg_v_with(cx, attrs, "out_dtype", tg_v_strz(cx, "uint8")) : attrs;
}

static const tg_node *rewrite(tg_rebind *r, const tg_var *var, const tg_node *v)
{
    codes *c = r->user;
    tg_ctx *cx = r->cx;
    const struct role *role = v->kind == TG_RCALL && v->u.call->op != NULL ? role_of(v) : NULL;
    if (role == NULL) return v;
    bool out = is_codes(v->type) && tg_map_get(&c->fixed, key(group_of(c, var))) == NULL, any = out;
    const tg_node **arg = tg_copy(cx, v->kid, v->nkids * sizeof v->kid[0]);
    for (uint32_t i = 0; i < role->ndata; ++i) {
        bool variable = arg[i]->kind == TG_RVAR && tg_map_get(&c->changed, key(arg[i]->u.var)) != NULL;
        if (!variable && !(out && role->tied && arg[i]->kind == TG_RCONST)) continue;
        any = true;
        if (!variable) arg[i] = moved(c, arg[i], tg_dtype(kDLUInt, 8, 1));
        if (role->zero[i] != 0) arg[role->zero[i]] = moved(c, arg[role->zero[i]], TG_INT32);
    }
    if (!any) return v;
    if (out && role->zero_out != 0) arg[role->zero_out] = moved(c, arg[role->zero_out], TG_INT32);
    if (tg_is_op_call(v, "nn.pad")) arg[1] = moved(c, arg[1], tg_dtype(kDLUInt, 8, 1));
    const tg_node *now = tg_rebind_call(r, v->u.call->op->text, moved_attrs(c, v, out), v->nkids, arg);
    if (now == NULL) return NULL;
    if (!out) return now;
    now = tg_rebind_let(r, now);
    tg_map_put(cx, &c->changed, key(now->u.var), c);
    return now;
}

bool tg_pass_unsigned_codes(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    codes c = { .r = { .cx = cx, .m = m, .fn = rewrite } };
    tg_target t;
    if (!tg_target_parse(cx, opt->target, &t)) return false;
    c.r.user = &c;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_RELAY) continue;
        for (uint32_t k = 0; k < f->nparams; ++k) fix(&c, f->param[k]);
        tg_visit(cx, f->body, look, &c);
    }
    return !t.unsigned_bytes || opt->keep_layout || c.functions || tg_rebind_module(&c.r);
}
