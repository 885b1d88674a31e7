/* canon_qnn_table.c: a function of one code becomes a table over all codes: its entry is the quantised value of the
 * function of the code's real number. Entries stand in the order of the codes read as unsigned. */
#include "canon_qnn.h"
#include "ir/diag.h"

#include <math.h>

/* The steps of NumPy on float32: what is not arithmetic is computed in double and rounded. */
static float tanh_of(float x)
{
    return (float)tanh((double)x);
}
static float exp_of(float x)
{
    return (float)exp((double)x);
}
static float log_of(float x)
{
    return (float)log((double)x);
}
static float sqrt_of(float x)
{
    return (float)sqrt((double)x);
}
static float rsqrt_of(float x)
{
    return 1.0f / sqrt_of(x);
}
static float erf_of(float x)
{
    return (float)erf((double)x);
}
static float sigmoid_of(float x)
{
    return 1.0f / (1.0f + exp_of(-x));
}
static float abs_of(float x)
{
    return fabsf(x);
}

static float hardswish_of(float x)
{
    float gate = x + 3.0f;
    gate = gate < 0.0f ? 0.0f : gate > 6.0f ? 6.0f : gate;
    return x * gate / 6.0f;
}

static const struct {
    const char *op;
    float (*fn)(float x);
} functions[] = {
    { "qnn.tanh", tanh_of },   { "qnn.exp", exp_of }, { "qnn.log", log_of },         { "qnn.sqrt", sqrt_of },
    { "qnn.rsqrt", rsqrt_of }, { "qnn.erf", erf_of }, { "qnn.sigmoid", sigmoid_of }, { "qnn.hardswish", hardswish_of },
    { "qnn.abs", abs_of },
};

/* Scales and zero points of input and output. */
typedef struct codes {
    float scale, scale_out;
    int32_t zero, zero_out;
    int64_t low, high;
} codes;

static int64_t entry(const codes *c, float (*fn)(float), int64_t code)
{
    float real = (float)(int32_t)(code - c->zero) * c->scale;
    float q = roundf(fn(real) / c->scale_out) + (float)c->zero_out;
    if (!(q < (float)c->high)) /* NaN too */
        return c->high;
    return q > (float)c->low ? (int64_t)q : c->low;
}

static const tg_node *table(tg_rebind *r, const tg_type *t, const codes *c, float (*fn)(float))
{
    int64_t n = (int64_t)1 << t->dtype.bits;
    tg_tensor *out = tg_tensor_new(r->cx, tg_tensor_type(r->cx, t->dtype, 1, &n, 0), NULL);
    for (int64_t i = 0; i < n; ++i) tg_tensor_set_i64(out, i, entry(c, fn, tg_wrap_to(t->dtype, i)));
    return tg_rconst(r->cx, out);
}

const tg_node *tg_canon_table(tg_rebind *r, const tg_node *call)
{
    tg_ctx *cx = r->cx;
    const tg_type *t = call->type;
    double v[4];
    for (uint32_t i = 0; i < 4; ++i) {
        if (tg_canon_value(call->kid[i + 1], &v[i])) continue;
        tg_error(cx, call->span, "%s: scales and zero points must be constants", call->u.call->op->text);
        return NULL;
    }
    if (t->dtype.bits > 16) {
        tg_error(cx, call->span, "%s: the data is %s, expected 8 or 16 bits", call->u.call->op->text,
                 tg_dtype_text(cx, t->dtype));
        return NULL;
    }
    codes c = { .scale = (float)v[0], .scale_out = (float)v[2], .zero = (int32_t)v[1], .zero_out = (int32_t)v[3] };
    bool is_signed = t->dtype.code == kDLInt;
    c.high = ((int64_t)1 << (t->dtype.bits - (is_signed ? 1 : 0))) - 1;
    c.low = is_signed ? -c.high - 1 : 0;
    for (size_t i = 0; i < TG_COUNT(functions); ++i) {
        if (!tg_is_op_call(call, functions[i].op)) continue;
        const tg_node *arg[2] = { table(r, t, &c, functions[i].fn), call->kid[0] };
        if (is_signed) {
            const char *as = t->dtype.bits == 8 ? "uint8" : "uint16";
            arg[1] = tg_canon_let(
                r, tg_rebind_call(r, "reinterpret", tg_v_with(cx, NULL, "dtype", tg_v_strz(cx, as)), 1, &arg[1]));
        }
        if (arg[1] == NULL) return NULL;
        const tg_value *attrs =
            tg_v_with(cx, tg_v_with(cx, NULL, "axis", tg_v_int(cx, 0)), "mode", tg_v_strz(cx, "fast"));
        return tg_rebind_call(r, "take", attrs, 2, arg);
    }
    return call;
}
