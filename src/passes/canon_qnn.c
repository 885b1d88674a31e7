/* canon_qnn.c: quantised operators become integer ones; real scales become integer multipliers and shifts.
 * Needs: types, constants folded.  Keeps: every value bit for bit; parameters and results of functions.
 *
 *     requantize                 rescale: multipliers and shifts computed here in double, one a channel where scales are
 *     conv2d, dense, …           the plain operator on codes, plus a constant for the zero points (canon_qnn_product.c)
 *     avg_pool2d                 rescale to int32, average, clip, cast
 *     concatenate                every part rescaled, concatenated
 *     add, subtract, mul         stay when their scales are scalars; else rescaled operands in int32
 *     tanh, exp, sigmoid …       a table over all codes (canon_qnn_table.c)
 * quantize and dequantize stay: they are arithmetic on floats. Scales must be constants where a multiplier follows
 * from them. */
#include "canon_qnn.h"
#include "passes.h"
#include "ir/diag.h"
#include "ops/fixed.h"

#include <string.h>

/* ---- operands ---- */

bool tg_canon_is_scalar(const tg_node *atom)
{
    int64_t n;
    return atom->type->kind == TG_T_TENSOR && atom->type->n <= 1 && tg_type_elements(atom->type, &n) && n == 1;
}

bool tg_canon_value(const tg_node *atom, double *v)
{
    if (atom->kind != TG_RCONST || !tg_canon_is_scalar(atom)) return false;
    *v = tg_tensor_f64(atom->u.tensor, 0);
    return true;
}

static const tg_node *constant(tg_rebind *r, const tg_tensor *t)
{
    return tg_node_at(r->cx, tg_rconst(r->cx, t), r->origin->span);
}

const tg_node *tg_canon_int(tg_rebind *r, int64_t v)
{
    return constant(r, tg_tensor_scalar_int(r->cx, TG_INT32, v));
}

const tg_node *tg_canon_let(tg_rebind *r, const tg_node *call)
{
    return call == NULL || tg_is_atom(call) ? call : tg_rebind_let(r, call);
}

/* Constants of shape (1) become scalars: those stay inside the function that uses them. */
static const tg_node *scalar_of(tg_rebind *r, const tg_node *atom)
{
    if (atom->kind != TG_RCONST || atom->type->n == 0 || !tg_canon_is_scalar(atom)) return atom;
    tg_tensor *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, atom->type->dtype, 0, NULL, 0), atom->u.tensor->dl.data);
    return tg_node_at(r->cx, tg_rconst(r->cx, t), atom->span);
}

static const tg_node *with_scalars(tg_rebind *r, const tg_node *call, uint32_t first)
{
    const tg_node **kid = TG_ARRAY(r->cx, const tg_node *, call->nkids);
    for (uint32_t i = 0; i < call->nkids; ++i)
        kid[i] = i >= first && call->kid[i]->type->kind == TG_T_TENSOR ? scalar_of(r, call->kid[i]) : call->kid[i];
    return tg_node_with(r->cx, call, call->nkids, kid);
}

static const tg_node *needs_constant(tg_rebind *r, const tg_node *call, const tg_node *atom)
{
    tg_error(r->cx, atom->span.file != 0 ? atom->span : call->span,
             "%s: the scales must be constants here; this one is computed at run time", call->u.call->op->text);
    return NULL;
}

static bool same_value(const tg_node *a, const tg_node *b)
{
    double va, vb;
    return tg_canon_value(a, &va) && tg_canon_value(b, &vb) && va == vb;
}

/* ---- rescale ---- */

/* Codes of one scale and zero point to those of another. */
typedef struct rescaling {
    const tg_node *scale, *zero, *scale_out, *zero_out;
    int64_t axis;
    const char *rounding, *compute;
    DLDataType out;
} rescaling;

static const tg_node *constant_like(tg_rebind *r, const tg_node *scale, DLDataType d, tg_tensor **t)
{
    *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, d, scale->type->n, scale->type->dim, 0), NULL);
    return constant(r, *t);
}

/* Multipliers, and shifts less what they have in common (*base): 33 is where 32 bits are enough for the rest. */
static bool fixed_factors(tg_rebind *r, const tg_node *call, const rescaling *q, double out, const tg_node **arg,
                          int64_t *base)
{
    enum { HIGH = 33 };
    tg_tensor *m, *right;
    int64_t n = 1;
    tg_type_elements(q->scale->type, &n);
    arg[0] = constant_like(r, q->scale, TG_INT32, &m);
    arg[1] = constant_like(r, q->scale, TG_INT8, &right);
    *base = HIGH;
    for (int64_t i = 0; i < n; ++i) {
        double factor = tg_tensor_f64(q->scale->u.tensor, i) / out;
        int32_t multiplier, shift;
        tg_fixed_of(factor, &multiplier, &shift);
        if (shift < -31) { /* less than half of one for every value */
            multiplier = 0;
            shift = -31;
        }
        if (!(factor >= 0) || shift > 31) {
            tg_error(r->cx, call->span, "%s: the factor %g between two scales cannot be computed in 64 bits",
                     call->u.call->op->text, factor);
            return false;
        }
        tg_tensor_set_i64(m, i, multiplier);
        tg_tensor_set_i64(right, i, 31 - shift);
        *base = 31 - shift < HIGH ? 0 : *base;
    }
    for (int64_t i = 0; i < n; ++i) tg_tensor_set_i64(right, i, tg_tensor_i64(right, i) - *base);
    return true;
}

/* In the type of the computation: the quotient in double, rounded once. */
static const tg_node *float_factors(tg_rebind *r, const rescaling *q, double out, DLDataType f)
{
    tg_tensor *m;
    int64_t n = 1;
    tg_type_elements(q->scale->type, &n);
    const tg_node *c = constant_like(r, q->scale, f, &m);
    for (int64_t i = 0; i < n; ++i) tg_tensor_set_f64(m, i, tg_tensor_f64(q->scale->u.tensor, i) / out);
    return c;
}

static const tg_node *rescale(tg_rebind *r, const tg_node *call, const tg_node *data, const rescaling *q)
{
    tg_ctx *cx = r->cx;
    const tg_node *arg[5] = { data, q->zero, q->zero_out };
    uint32_t n = 3;
    double out;
    int64_t base = 0;
    bool single = strcmp(q->compute, "float32") == 0, real = single || strcmp(q->compute, "float64") == 0;
    if (q->scale->kind != TG_RCONST || !tg_canon_value(q->scale_out, &out))
        return needs_constant(r, call, q->scale->kind != TG_RCONST ? q->scale : q->scale_out);
    if (same_value(q->scale, q->scale_out)) {
        n = 3;
    } else if (real) {
        arg[n++] = float_factors(r, q, out, single ? TG_FLOAT32 : TG_FLOAT64);
    } else {
        if (!fixed_factors(r, call, q, out, &arg[n], &base)) return NULL;
        n += 2;
    }
    const tg_value *attrs = tg_v_with(cx, NULL, "out_dtype", tg_v_strz(cx, tg_dtype_text(cx, q->out)));
    if (!tg_canon_is_scalar(q->scale) || !tg_canon_is_scalar(q->zero))
        attrs = tg_v_with(cx, attrs, "axis", tg_v_int(cx, q->axis));
    if (strcmp(q->rounding, "TONEAREST") == 0) attrs = tg_v_with(cx, attrs, "rounding", tg_v_strz(cx, "TONEAREST"));
    if (real) attrs = tg_v_with(cx, attrs, "compute_dtype", tg_v_strz(cx, q->compute));
    if (base > 0) attrs = tg_v_with(cx, attrs, "base", tg_v_int(cx, base));
    return tg_rebind_call(r, "qnn.rescale", attrs, n, arg);
}

static const tg_node *canon_requantize(tg_rebind *r, const tg_node *call)
{
    const tg_op *op = tg_op_find(r->cx, call->u.call->op);
    rescaling q = { call->kid[1],
                    call->kid[2],
                    call->kid[3],
                    call->kid[4],
                    tg_attr_int(r->cx, op, call, "axis"),
                    tg_attr_str(r->cx, op, call, "rounding"),
                    tg_attr_str(r->cx, op, call, "compute_dtype"),
                    call->type->dtype };
    return rescale(r, call, call->kid[0], &q);
}

/* The same value when scale and zero point are; as int32, or as codes of its own type. */
static const tg_node *moved(tg_rebind *r, const tg_node *call, const tg_node *data, const rescaling *q)
{
    if (!same_value(q->scale, q->scale_out) || !same_value(q->zero, q->zero_out)) return rescale(r, call, data, q);
    if (tg_dtype_eq(data->type->dtype, q->out)) return data;
    const tg_value *attrs = tg_v_with(r->cx, NULL, "dtype", tg_v_strz(r->cx, tg_dtype_text(r->cx, q->out)));
    return tg_rebind_call(r, "cast", attrs, 1, &data);
}

/* ---- int32 back to codes ---- */

static const tg_node *narrow(tg_rebind *r, const tg_node *v, DLDataType d)
{
    tg_ctx *cx = r->cx;
    bool is_signed = d.code == kDLInt;
    if (v == NULL || tg_dtype_eq(v->type->dtype, d)) return v;
    double high = (double)(((int64_t)1 << (d.bits - (is_signed ? 1 : 0))) - 1), low = is_signed ? -high - 1 : 0;
    const tg_value *attrs = tg_v_with(cx, NULL, "a_min", tg_v_float(cx, low));
    attrs = tg_v_with(cx, attrs, "a_max", tg_v_float(cx, high));
    v = tg_canon_let(r, v);
    v = v != NULL ? tg_canon_let(r, tg_rebind_call(r, "clip", attrs, 1, &v)) : NULL;
    attrs = tg_v_with(cx, NULL, "dtype", tg_v_strz(cx, tg_dtype_text(cx, d)));
    return v != NULL ? tg_rebind_call(r, "cast", attrs, 1, &v) : NULL;
}

static const tg_node *canon_avg_pool(tg_rebind *r, const tg_node *call)
{
    rescaling q = { call->kid[1], call->kid[2], call->kid[3], call->kid[4], -1, "UPWARD", "int64", TG_INT32 };
    const tg_node *x = tg_canon_let(r, moved(r, call, call->kid[0], &q));
    return x != NULL ? narrow(r, tg_rebind_call(r, "nn.avg_pool2d", call->u.call->attrs, 1, &x), call->type->dtype)
                     : NULL;
}

/* ---- concatenate ---- */

static const tg_node *field_of(tg_rebind *r, const tg_node *tuple, uint32_t i)
{
    const tg_node *v = tg_rebind_value(r, tuple);
    return v->kind == TG_RTUPLE ? v->kid[i] : tg_rebind_let(r, tg_rget(r->cx, tuple, i));
}

static const tg_node *canon_concatenate(tg_rebind *r, const tg_node *call)
{
    uint32_t n = call->kid[0]->type->n;
    const tg_node **part = TG_ARRAY(r->cx, const tg_node *, n);
    for (uint32_t i = 0; i < n; ++i) {
        rescaling q = { scalar_of(r, field_of(r, call->kid[1], i)),
                        scalar_of(r, field_of(r, call->kid[2], i)),
                        call->kid[3],
                        call->kid[4],
                        -1,
                        "UPWARD",
                        "int64",
                        call->type->dtype };
        part[i] = tg_canon_let(r, moved(r, call, field_of(r, call->kid[0], i), &q));
        if (part[i] == NULL) return NULL;
    }
    const tg_node *tuple = tg_rebind_let(r, tg_rtuple(r->cx, n, part));
    return tg_rebind_call(r, "concatenate", call->u.call->attrs, 1, &tuple);
}

/* ---- binary operators with one scale a channel ---- */

static const tg_node *as_int32(tg_rebind *r, const tg_node *atom)
{
    if (atom == NULL || tg_dtype_eq(atom->type->dtype, TG_INT32)) return atom;
    return tg_canon_let(
        r, tg_rebind_call(r, "cast", tg_v_with(r->cx, NULL, "dtype", tg_v_strz(r->cx, "int32")), 1, &atom));
}

static const tg_node *binary(tg_rebind *r, const char *op, const tg_node *a, const tg_node *b)
{
    return a == NULL || b == NULL ? NULL : tg_canon_let(r, tg_rebind_call(r, op, NULL, 2, (const tg_node *[]){ a, b }));
}

/* Operand @p k in int32: in the result's scale and zero point, or only without its zero point. */
static const tg_node *operand(tg_rebind *r, const tg_node *call, uint32_t k, bool scaled)
{
    const tg_op *op = tg_op_find(r->cx, call->u.call->op);
    const tg_node *scale = call->kid[2 + 2 * k], *zero = call->kid[3 + 2 * k];
    rescaling q = {
        scale,    zero,    call->kid[6], call->kid[7], tg_attr_int(r->cx, op, call, k == 0 ? "lhs_axis" : "rhs_axis"),
        "UPWARD", "int64", TG_INT32
    };
    if (!scaled) {
        q.scale = q.scale_out;
        q.zero_out = tg_canon_int(r, 0);
    }
    return tg_canon_let(r, moved(r, call, call->kid[k], &q));
}

/* The scale of a product: in float32, a vector if one of the two is. */
static const tg_node *product_scale(tg_rebind *r, const tg_node *call, int64_t *axis)
{
    const tg_op *op = tg_op_find(r->cx, call->u.call->op);
    const tg_node *a = call->kid[2], *b = call->kid[4], *like = tg_canon_is_scalar(a) ? b : a;
    tg_tensor *t;
    int64_t n, na;
    if (a->kind != TG_RCONST || b->kind != TG_RCONST) return needs_constant(r, call, a->kind != TG_RCONST ? a : b);
    *axis = tg_attr_int(r->cx, op, call, like == a ? "lhs_axis" : "rhs_axis");
    *axis = *axis < 0 ? *axis : *axis - (int64_t)(like == a ? call->kid[0]->type->n : call->kid[1]->type->n);
    const tg_node *c = constant_like(r, like, TG_FLOAT32, &t);
    if (!tg_type_elements(like->type, &n) || !tg_type_elements(a->type, &na)) return NULL;
    for (int64_t i = 0; i < n; ++i) {
        double vb = tg_tensor_f64(b->u.tensor, tg_canon_is_scalar(b) ? 0 : i);
        tg_tensor_set_f64(t, i, tg_tensor_f64(a->u.tensor, na == 1 ? 0 : i) * vb);
    }
    return c;
}

static const tg_node *canon_mul(tg_rebind *r, const tg_node *call)
{
    rescaling q = { NULL, tg_canon_int(r, 0), call->kid[6], call->kid[7], -1, "UPWARD", "int64", call->type->dtype };
    q.scale = product_scale(r, call, &q.axis);
    const tg_node *p =
        q.scale != NULL ? binary(r, "multiply", operand(r, call, 0, false), operand(r, call, 1, false)) : NULL;
    return p != NULL ? rescale(r, call, p, &q) : NULL;
}

static const tg_node *canon_binary(tg_rebind *r, const tg_node *call)
{
    bool scalars = true, minus = tg_is_op_call(call, "qnn.subtract");
    double v;
    for (uint32_t i = 2; i < call->nkids; i += 2)
        if (call->kid[i]->kind != TG_RCONST) return needs_constant(r, call, call->kid[i]);
    for (uint32_t i = 2; i < call->nkids; ++i) scalars = scalars && tg_canon_is_scalar(call->kid[i]);
    if (scalars) return call;
    if (tg_is_op_call(call, "qnn.mul")) return canon_mul(r, call);
    const tg_node *sum = binary(r, minus ? "subtract" : "add", operand(r, call, 0, true), operand(r, call, 1, true));
    if (!tg_canon_value(call->kid[7], &v) || v != 0)
        sum = binary(r, minus ? "add" : "subtract", sum, as_int32(r, call->kid[7]));
    return narrow(r, sum, call->type->dtype);
}

/* ---- the pass ---- */

static const tg_node *keep(tg_rebind *r, const tg_node *call)
{
    (void)r;
    return call;
}

static const struct rule {
    const char *op;
    uint32_t first;
    const tg_node *(*fn)(tg_rebind *r, const tg_node *call);
} rules[] = {
    { "qnn.requantize", 1, canon_requantize }, /* first: of the operands that are scales and zero points */
    { "qnn.quantize", 1, keep },
    { "qnn.dequantize", 1, keep },
    { "qnn.add", 2, canon_binary },
    { "qnn.subtract", 2, canon_binary },
    { "qnn.mul", 2, canon_binary },
    { "qnn.concatenate", 3, canon_concatenate },
    { "qnn.avg_pool2d", 1, canon_avg_pool },
    { "qnn.leaky_relu", 1, keep },
    { "qnn.softmax", 1, keep },
    { "qnn.conv2d", 2, tg_canon_product },
    { "qnn.conv2d_transpose", 2, tg_canon_product },
    { "qnn.dense", 2, tg_canon_product },
    { "qnn.contrib_dense_pack", 2, tg_canon_product },
    { "qnn.batch_matmul", 2, tg_canon_product },
    { "qnn.tanh", 1, tg_canon_table },
    { "qnn.exp", 1, tg_canon_table },
    { "qnn.log", 1, tg_canon_table },
    { "qnn.sqrt", 1, tg_canon_table },
    { "qnn.rsqrt", 1, tg_canon_table },
    { "qnn.erf", 1, tg_canon_table },
    { "qnn.sigmoid", 1, tg_canon_table },
    { "qnn.hardswish", 1, tg_canon_table },
    { "qnn.abs", 1, tg_canon_table },
};

static const tg_node *canon(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    (void)v;
    if (value->kind != TG_RCALL || value->u.call->op == NULL || strncmp(value->u.call->op->text, "qnn.", 4) != 0)
        return value;
    for (size_t i = 0; i < TG_COUNT(rules); ++i)
        if (tg_is_op_call(value, rules[i].op)) return rules[i].fn(r, with_scalars(r, value, rules[i].first));
    return value;
}

bool tg_pass_canon_qnn(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    tg_rebind r = { .cx = cx, .m = m, .fn = canon };
    (void)opt;
    return tg_rebind_module(&r);
}
