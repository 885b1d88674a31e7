/* qnn.c: numbers held as integer codes, real = scale · (code - zero point): quantize, dequantize, rescale
 * (relay-ops.md section 12). */
#include "fixed.h"
#include "qnn.h"

#include <string.h>

/* ---- operands ---- */

bool tg_qnn_is_code(DLDataType d)
{
    return d.lanes == 1 && ((d.code == kDLInt && (d.bits == 8 || d.bits == 16 || d.bits == 32)) ||
                            (d.code == kDLUInt && (d.bits == 8 || d.bits == 16)));
}

static const char *operand_name(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    return tg_op_arg_name(cx, tg_op_find(cx, call->u.call->op), i)->text;
}

static bool check_extent(tg_ctx *cx, const tg_node *call, uint32_t i, const tg_type *t, int64_t extent)
{
    if (t->n == 0 || (t->n == 1 && (t->dim[0] == 1 || (extent > 0 && t->dim[0] == extent)))) return true;
    if (extent > 0)
        tg_arg_error(cx, call, i, "%s is %s, expected a scalar or %lld values", operand_name(cx, call, i),
                     tg_type_text(cx, t), (long long)extent);
    else tg_arg_error(cx, call, i, "%s is %s, expected a scalar", operand_name(cx, call, i), tg_type_text(cx, t));
    return false;
}

bool tg_qnn_check_scale(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t extent)
{
    const tg_type *t = tg_arg_tensor(cx, call, i);
    if (t == NULL || !check_extent(cx, call, i, t, extent)) return false;
    return tg_dtype_eq(t->dtype, TG_FLOAT32) ||
           tg_arg_error(cx, call, i, "%s must be float32, not %s", operand_name(cx, call, i),
                        tg_dtype_text(cx, t->dtype)) != NULL;
}

bool tg_qnn_check_zero(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t extent)
{
    const tg_type *t = tg_arg_tensor(cx, call, i);
    return t != NULL && check_extent(cx, call, i, t, extent) && tg_want_int(cx, call, i);
}

bool tg_qnn_check_unary(tg_ctx *cx, const tg_node *call, uint32_t first)
{
    return tg_qnn_check_scale(cx, call, first, 0) && tg_qnn_check_zero(cx, call, first + 1, 0) &&
           tg_qnn_check_scale(cx, call, first + 2, 0) && tg_qnn_check_zero(cx, call, first + 3, 0);
}

static bool want_code(tg_ctx *cx, const tg_node *call, DLDataType d)
{
    return tg_qnn_is_code(d) ||
           tg_op_error(cx, call, "%s is no type of quantised values", tg_dtype_text(cx, d)) != NULL;
}

/* Scale and zero point as operands @p i and @p i + 1 of data @p t: along attribute axis when they are vectors. */
static bool check_along_axis(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, uint32_t scale,
                             uint32_t zero)
{
    int64_t extent = 0;
    uint32_t axis;
    const tg_type *s = tg_arg_tensor(cx, call, scale), *z = tg_arg_tensor(cx, call, zero);
    if (s == NULL || z == NULL) return false;
    if ((s->n == 1 && s->dim[0] != 1) || (z->n == 1 && z->dim[0] != 1)) {
        if (!tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return false;
        extent = t->dim[axis];
    }
    return tg_qnn_check_scale(cx, call, scale, extent) && tg_qnn_check_zero(cx, call, zero, extent);
}

/* The axis of the scales; any when they are scalars. */
static uint32_t scale_axis(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    int64_t a = tg_attr_int(lo->cx, op, call, "axis"), n = lo->out[0]->ndim;
    a += a < 0 ? n : 0;
    return a >= 0 && a < n ? (uint32_t)a : 0;
}

tg_expr tg_qnn_param(tg_lower *lo, uint32_t k, const tg_at *at, uint32_t axis)
{
    if (lo->imm[k] != NULL || lo->in[k]->ndim == 0 || tg_extent(lo->in[k], 0) == 1) return tg_in0(lo, k);
    tg_at channel = { 1, { at->ix[axis] } };
    return tg_in(lo, k, &channel);
}

bool tg_qnn_const(tg_lower *lo, uint32_t k, double *value)
{
    const tg_node *n = lo->imm[k] != NULL ? lo->imm[k] : lo->call->kid[k];
    int64_t count;
    if (n->kind == TG_INT || n->kind == TG_FLOAT) {
        *value = n->kind == TG_INT ? (double)n->u.i : n->u.f;
        return true;
    }
    if (n->kind == TG_RCONST && tg_type_elements(n->type, &count) && count == 1) {
        *value = tg_tensor_f64(n->u.tensor, 0);
        return true;
    }
    return tg_arg_error(lo->cx, lo->call, k, "%s must be a constant", operand_name(lo->cx, lo->call, k)) != NULL;
}

/* ---- products with real factors ---- */

tg_expr tg_qnn_narrow(tg_ctx *cx, DLDataType d, tg_expr v)
{
    if (d.bits < 32) v = tg_max(cx, tg_min(cx, v, tg_highest(cx, TG_INT32, d)), tg_lowest(cx, TG_INT32, d));
    return tg_to(cx, d, v);
}

tg_expr tg_qnn_scale(tg_ctx *cx, tg_expr x, tg_expr multiplier, tg_expr shift, int64_t base, bool away)
{
    tg_expr v = tg_mul(cx, tg_to(cx, TG_INT64, x), tg_to(cx, TG_INT64, multiplier)), one = tg_int(cx, TG_INT32, 1);
    bool known = shift->kind == TG_INT;
    if (base >= 33 && !away) {
        /* The bit that rounds lies in the upper half of the product: shifted to just before its end, plus one, and the
         * last bit off. No sum overflows. The mask says what is promised: the count is in range. */
        tg_expr high = tg_to(cx, TG_INT32, tg_call2(cx, "shift_right", v, tg_int(cx, TG_INT64, 32)));
        tg_expr count = tg_addi(cx, shift, base - 33);
        if (!known) count = tg_call2(cx, "bitwise_and", count, tg_int(cx, TG_INT32, 31));
        if (!tg_is_int_const(count, 0)) high = tg_call2(cx, "shift_right", high, count);
        return tg_call2(cx, "shift_right", tg_add(cx, high, one), one);
    }
    /* One less below zero for halves that go down there: taken off before the last bit of 2^r goes, so that without a
     * shift there is nothing to round. */
    tg_expr r = tg_addi(cx, tg_to(cx, TG_INT64, shift), base), half;
    if (known) {
        half = tg_int(cx, TG_INT64, r->u.i > 0 ? (int64_t)1 << (r->u.i - 1) : 0);
        if (away && r->u.i > 0) half = tg_add(cx, half, tg_call2(cx, "shift_right", v, tg_int(cx, TG_INT64, 63)));
    } else {
        r = tg_call2(cx, "bitwise_and", r, tg_int(cx, TG_INT64, 63));
        half = tg_call2(cx, "shift_left", tg_int(cx, TG_INT64, 1), r);
        if (away) half = tg_add(cx, half, tg_call2(cx, "shift_right", v, tg_int(cx, TG_INT64, 63)));
        half = tg_call2(cx, "shift_right", half, tg_int(cx, TG_INT64, 1));
    }
    v = tg_add(cx, v, half);
    if (!tg_is_int_const(r, 0)) v = tg_call2(cx, "shift_right", v, r);
    return tg_to(cx, TG_INT32, v);
}

/* Powers of two round in 32 bits. */
static tg_expr power_of_two(tg_ctx *cx, tg_expr x, int32_t left)
{
    if (left >= 0) return left == 0 ? x : tg_mul(cx, x, tg_int(cx, TG_INT32, (int64_t)1 << left));
    return tg_call2(cx, "shift_right", tg_addi(cx, x, (int64_t)1 << (-left - 1)), tg_int(cx, TG_INT32, -left));
}

/* By a constant: multiplier / 2^right. Of x at most @p bits are in use besides the sign: where there is room, x and
 * the shift grow together, to the form that needs 32 bits only. */
static tg_expr scale_by(tg_ctx *cx, tg_expr x, int32_t multiplier, int32_t right, int bits, bool away)
{
    if (multiplier == 1 << 30 && !away && right < 62) return power_of_two(cx, x, 30 - right);
    if (right < 33 && !away && bits + 33 - right <= 31) {
        x = tg_mul(cx, x, tg_int(cx, TG_INT32, (int64_t)1 << (33 - right)));
        right = 33;
    }
    return tg_qnn_scale(cx, x, tg_int(cx, TG_INT32, multiplier), tg_int(cx, TG_INT32, 0), right, away);
}

/* Bits of a code of type @p d less a zero point, the sign apart. */
static int bits_of(DLDataType d, tg_expr zero)
{
    bool small = d.bits <= 16 && zero->kind == TG_INT && zero->u.i >= -65536 && zero->u.i <= 65536;
    return small ? 18 : 31;
}

bool tg_qnn_multiply(tg_lower *lo, tg_expr x, double factor, int bits, tg_expr *out)
{
    int32_t m, shift;
    tg_fixed_of(factor, &m, &shift);
    if (shift < -31) { /* less than half of one for every value */
        *out = tg_int(lo->cx, TG_INT32, 0);
        return true;
    }
    if (!(factor >= 0) || shift > 31)
        return tg_op_error(lo->cx, lo->call, "the factor %g between two scales cannot be computed in 64 bits",
                           factor) != NULL;
    *out = scale_by(lo->cx, x, m, 31 - shift, bits, false);
    return true;
}

bool tg_qnn_rescaled(tg_lower *lo, tg_expr code, uint32_t scale, uint32_t zero, uint32_t scale_out, uint32_t zero_out,
                     tg_expr *out)
{
    tg_ctx *cx = lo->cx;
    double s = 1, so = 1;
    if (!tg_qnn_const(lo, scale, &s) || !tg_qnn_const(lo, scale_out, &so)) return false;
    tg_expr z = tg_to(cx, TG_INT32, tg_in0(lo, zero)), t = tg_sub(cx, tg_to(cx, TG_INT32, code), z);
    if (s != so && !tg_qnn_multiply(lo, t, s / so, bits_of(tg_dtype_of(code), z), &t)) return false;
    *out = tg_add(cx, t, tg_to(cx, TG_INT32, tg_in0(lo, zero_out)));
    return true;
}

tg_expr tg_qnn_centered(tg_lower *lo, DLDataType d, uint32_t k, tg_expr value, tg_expr channel)
{
    tg_expr x = tg_to(lo->cx, d, value);
    if (lo->nin < 4) return x;
    tg_at at = { 1, { channel } };
    return tg_sub(lo->cx, x, tg_to(lo->cx, d, tg_qnn_param(lo, k + 2, &at, 0)));
}

/* ---- quantize, dequantize ---- */

const tg_type *tg_type_qnn_quantize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    if (t == NULL || !tg_want_float(cx, call, 0) || !check_along_axis(cx, op, call, t, 1, 2)) return NULL;
    DLDataType d = tg_attr_dtype(cx, op, call, "out_dtype", TG_INT8);
    return want_code(cx, call, d) ? tg_like(cx, t, d) : NULL;
}

bool tg_lower_qnn_quantize(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    uint32_t axis = scale_axis(lo, op, call);
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &at);
    tg_expr x = tg_to(cx, TG_FLOAT32, tg_in(lo, 0, &at));
    tg_expr q = tg_call1(cx, "round", tg_div(cx, x, tg_qnn_param(lo, 1, &at, axis)));
    q = tg_add(cx, q, tg_to(cx, TG_FLOAT32, tg_qnn_param(lo, 2, &at, axis)));
    tg_expr high = tg_to(cx, TG_FLOAT32, tg_highest(cx, TG_INT32, out->dtype));
    tg_expr low = tg_to(cx, TG_FLOAT32, tg_lowest(cx, TG_INT32, out->dtype));
    tg_put(b, out, tg_to(cx, out->dtype, tg_max(cx, tg_min(cx, q, high), low)), &at);
    return true;
}

const tg_type *tg_type_qnn_dequantize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    if (t == NULL || !tg_want_int(cx, call, 0) || !check_along_axis(cx, op, call, t, 1, 2)) return NULL;
    DLDataType d = tg_attr_dtype(cx, op, call, "out_dtype", TG_FLOAT32);
    return tg_is_float(d) ? tg_like(cx, t, d) : tg_op_error(cx, call, "out_dtype must be a floating type");
}

bool tg_lower_qnn_dequantize(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    uint32_t axis = scale_axis(lo, op, call);
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr q = tg_sub(cx, tg_to(cx, TG_INT32, tg_in(lo, 0, &at)), tg_to(cx, TG_INT32, tg_qnn_param(lo, 2, &at, axis)));
    tg_expr real = tg_mul(cx, tg_to(cx, TG_FLOAT32, q), tg_qnn_param(lo, 1, &at, axis));
    tg_put(b, lo->out[0], tg_to(cx, tg_compute_dtype(lo->out[0]->dtype), real), &at);
    return true;
}

/* ---- requantize: what the text says; passes/canon_qnn.c turns it into rescale ---- */

const tg_type *tg_type_qnn_requantize(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    static const char *const rounding[] = { "None", "UPWARD", "TONEAREST" }, *const compute[] = { "None", "int64",
                                                                                                  "float32",
                                                                                                  "float64" };
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    const char *r = tg_attr_str(cx, op, call, "rounding"), *c = tg_attr_str(cx, op, call, "compute_dtype");
    bool known = false, computed = false;
    if (t == NULL || !want_code(cx, call, t->dtype) || !check_along_axis(cx, op, call, t, 1, 2) ||
        !tg_qnn_check_scale(cx, call, 3, 0) || !tg_qnn_check_zero(cx, call, 4, 0))
        return NULL;
    for (size_t i = 0; i < TG_COUNT(rounding); ++i) known = known || strcmp(r, rounding[i]) == 0;
    for (size_t i = 0; i < TG_COUNT(compute); ++i) computed = computed || strcmp(c, compute[i]) == 0;
    if (!known || !computed)
        return tg_op_error(cx, call, "attribute %s: \"%s\" is not known", known ? "compute_dtype" : "rounding",
                           known ? c : r);
    DLDataType d = tg_attr_dtype(cx, op, call, "out_dtype", TG_INT8);
    return want_code(cx, call, d) ? tg_like(cx, t, d) : NULL;
}

/* ---- rescale: the same with multipliers and shifts in place of scales ----
 * data - zero_point, times multiplier / 2^(base + shift), plus output_zero_point, narrowed to out_dtype. Without a
 * multiplier: times one. Integer multiplier and shift: fixed point in 64 bits. A floating multiplier: in its type. */

const tg_type *tg_type_qnn_rescale(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t extent = 0;
    uint32_t axis;
    if (t == NULL || !want_code(cx, call, t->dtype)) return NULL;
    if (t->n > 0) {
        if (!tg_attr_axis(cx, op, call, "axis", t->n, &axis)) return NULL;
        extent = t->dim[axis];
    }
    if (!tg_qnn_check_zero(cx, call, 1, extent) || !tg_qnn_check_zero(cx, call, 2, 0)) return NULL;
    if (call->nkids == 4 && (tg_arg_tensor(cx, call, 3) == NULL || !tg_want_float(cx, call, 3) ||
                             !check_extent(cx, call, 3, call->kid[3]->type, extent)))
        return NULL;
    int64_t base = tg_attr_int(cx, op, call, "base");
    if (base < 0 || base > 62) return tg_op_error(cx, call, "attribute base must lie between 0 and 62");
    if (call->nkids == 5 && (!tg_qnn_check_zero(cx, call, 3, extent) || !tg_qnn_check_zero(cx, call, 4, extent)))
        return NULL;
    DLDataType d = tg_attr_dtype(cx, op, call, "out_dtype", TG_INT8);
    return want_code(cx, call, d) ? tg_like(cx, t, d) : NULL;
}

/* In floating point of type @p f. */
static tg_expr rescale_float(tg_lower *lo, DLDataType f, const tg_at *at, uint32_t axis, bool away)
{
    tg_ctx *cx = lo->cx;
    tg_expr t = tg_sub(cx, tg_to(cx, f, tg_in(lo, 0, at)), tg_to(cx, f, tg_qnn_param(lo, 1, at, axis)));
    if (lo->nin == 4) t = tg_mul(cx, t, tg_to(cx, f, tg_qnn_param(lo, 3, at, axis)));
    t = tg_add(cx, t, tg_to(cx, f, tg_in0(lo, 2)));
    t = away ? tg_call1(cx, "round", t) : tg_call1(cx, "floor", tg_add(cx, t, tg_float(cx, f, 0.5)));
    return tg_to(cx, TG_INT32, t);
}

static tg_expr rescale_fixed(tg_lower *lo, const tg_at *at, uint32_t axis, int64_t base, bool away)
{
    tg_ctx *cx = lo->cx;
    tg_expr z = tg_to(cx, TG_INT32, tg_qnn_param(lo, 1, at, axis)),
            t = tg_sub(cx, tg_to(cx, TG_INT32, tg_in(lo, 0, at)), z);
    if (lo->nin == 5) {
        tg_expr m = tg_qnn_param(lo, 3, at, axis), shift = tg_to(cx, TG_INT32, tg_qnn_param(lo, 4, at, axis));
        if (m->kind == TG_INT && shift->kind == TG_INT)
            t = scale_by(cx, t, (int32_t)m->u.i, (int32_t)(base + shift->u.i), bits_of(lo->in[0]->dtype, z), away);
        else t = tg_qnn_scale(cx, t, m, shift, base, away);
    }
    return tg_add(cx, t, tg_to(cx, TG_INT32, tg_in0(lo, 2)));
}

bool tg_lower_qnn_rescale(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const char *compute = tg_attr_str(cx, op, call, "compute_dtype");
    bool away = strcmp(tg_attr_str(cx, op, call, "rounding"), "TONEAREST") == 0,
         single = strcmp(compute, "float32") == 0;
    uint32_t axis = scale_axis(lo, op, call);
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    tg_expr v;
    if (single || strcmp(compute, "float64") == 0)
        v = rescale_float(lo, single ? TG_FLOAT32 : TG_FLOAT64, &at, axis, away);
    else v = rescale_fixed(lo, &at, axis, tg_attr_int(cx, op, call, "base"), away);
    tg_put(b, lo->out[0], tg_qnn_narrow(cx, lo->out[0]->dtype, v), &at);
    return true;
}
