/* qnn_softmax.c: softmax over codes in integers alone (relay-ops.md section 12.5): powers of two by shifts, between
 * them a line. With X0 = round(1 / scale), 2^x for x <= 0 is 2^-n · 2^(r / X0), n whole and r / X0 in (-1, 0], and
 * 2^f is close to 1 + f / 2. */
#include "qnn.h"

#include <math.h>

enum { X, SCALE_IN, ZERO_IN, SCALE_OUT, ZERO_OUT, MOST_HALVINGS = 20 };

typedef struct softmax {
    tg_lower *lo;
    uint32_t axis;
    tg_expr x0; /* steps of the input in 1 */
    tg_expr zero;
    const tg_buffer *high, *halvings, *sum; /* without the axis */
} softmax;

const tg_type *tg_type_qnn_softmax(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, X);
    uint32_t axis;
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->n, &axis) || !tg_qnn_check_unary(cx, call, SCALE_IN))
        return NULL;
    if (!tg_dtype_eq(t->dtype, TG_INT8)) return tg_arg_error(cx, call, X, "the data must be int8");
    return t;
}

/* The index of a row: all but the axis. */
static void outer(const softmax *s, const tg_at *at, tg_at *without)
{
    without->n = 0;
    for (uint32_t k = 0; k < at->n; ++k)
        if (k != s->axis) tg_at_push(without, at->ix[k]);
}

static tg_expr i32(const softmax *s, int64_t v)
{
    return tg_int(s->lo->cx, TG_INT32, v);
}

static tg_expr shift(const softmax *s, const char *way, tg_expr a, int64_t by)
{
    return tg_call2(s->lo->cx, way, a, i32(s, by));
}

/* Code minus zero point. */
static tg_expr input(const softmax *s, const tg_at *at)
{
    return tg_sub(s->lo->cx, tg_to(s->lo->cx, TG_INT32, tg_in(s->lo, X, at)), s->zero);
}

/* The distance from the largest in halvings: times log2(e), nearly 1 + 1/2 - 1/16. */
static tg_expr power(const softmax *s, const tg_at *at)
{
    tg_at o;
    outer(s, at, &o);
    tg_expr x = tg_sub(s->lo->cx, input(s, at), tg_read(s->lo, s->high, &o));
    tg_expr p = tg_add(s->lo->cx, x, shift(s, "shift_right", x, 1));
    return tg_sub(s->lo->cx, p, shift(s, "shift_right", x, 4));
}

static tg_expr whole(const softmax *s, tg_expr p)
{
    tg_ctx *cx = s->lo->cx;
    return tg_clamp(cx, tg_div(cx, p, tg_sub(cx, i32(s, 0), s->x0)), 0, MOST_HALVINGS);
}

/* 2^x in units that the smallest of the row decides. */
static tg_expr exponential(const softmax *s, const tg_at *at)
{
    tg_ctx *cx = s->lo->cx;
    tg_at o;
    outer(s, at, &o);
    tg_expr p = power(s, at), n = whole(s, p), r = tg_add(cx, p, tg_mul(cx, n, s->x0));
    tg_expr base = tg_add(cx, shift(s, "shift_right", r, 1), s->x0);
    return tg_call2(cx, "shift_left", base, tg_sub(cx, tg_read(s->lo, s->halvings, &o), n));
}

/* A block that reduces each row: @p at is the index of the data, @p o of the result. */
static tg_block_build *begin_row(softmax *s, const char *name, tg_at *at, tg_at *o)
{
    tg_lower *lo = s->lo;
    tg_block_build *b = tg_begin(lo, name);
    at->n = 0;
    for (uint32_t k = 0; k < lo->in[X]->ndim; ++k) {
        int64_t extent = tg_extent(lo->in[X], k);
        tg_at_push(at, k == s->axis ? tg_reduce(b, "k", extent) : tg_spatial(b, tg_axis_letter(k), extent));
    }
    outer(s, at, o);
    return b;
}

static void row_blocks(softmax *s)
{
    tg_lower *lo = s->lo;
    tg_ctx *cx = lo->cx;
    tg_at at, o;
    tg_block_build *b = begin_row(s, "softmax_max", &at, &o);
    tg_begin_init(b, tg_lowest(cx, TG_INT32, TG_INT32));
    tg_put(b, s->high, tg_max(cx, tg_read(lo, s->high, &o), input(s, &at)), &o);

    b = begin_row(s, "softmax_halvings", &at, &o);
    tg_begin_init(b, i32(s, 0));
    tg_put(b, s->halvings, tg_max(cx, tg_read(lo, s->halvings, &o), whole(s, power(s, &at))), &o);

    b = begin_row(s, "softmax_sum", &at, &o);
    tg_begin_init(b, i32(s, 0));
    tg_put(b, s->sum, tg_add(cx, tg_read(lo, s->sum, &o), exponential(s, &at)), &o);
}

bool tg_lower_qnn_softmax(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    double scale, scale_out;
    softmax s = { .lo = lo };
    if (!tg_attr_axis(cx, op, call, "axis", lo->out[0]->ndim, &s.axis) || !tg_qnn_const(lo, SCALE_IN, &scale) ||
        !tg_qnn_const(lo, SCALE_OUT, &scale_out))
        return false;
    if (!(scale > 0 && scale <= 1))
        return tg_arg_error(cx, call, SCALE_IN, "the scale of the input is %g, expected more than 0 and at most 1",
                            scale) != NULL;
    float steps = roundf(1.0f / (float)scale);
    if (!(steps <= 1 << 20))
        return tg_arg_error(cx, call, SCALE_IN, "the scale of the input, %g, is too small to compute with in 32 bits",
                            scale) != NULL;
    s.x0 = i32(&s, (int64_t)steps);
    s.zero = tg_to(cx, TG_INT32, tg_in0(lo, ZERO_IN));
    int64_t dim[TG_MAX_NDIM];
    uint32_t n = 0;
    for (uint32_t k = 0; k < lo->in[X]->ndim; ++k)
        if (k != s.axis) dim[n++] = tg_extent(lo->in[X], k);
    s.high = tg_temp_of(lo, "softmax_max", TG_INT32, n, dim);
    s.halvings = tg_temp_of(lo, "softmax_halvings", TG_INT32, n, dim);
    s.sum = tg_temp_of(lo, "softmax_sum", TG_INT32, n, dim);
    row_blocks(&s);

    tg_at at, o;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &at);
    outer(&s, &at, &o);
    tg_expr y = tg_mul(cx, tg_div(cx, i32(&s, 1 << 30), tg_read(lo, s.sum, &o)), exponential(&s, &at));
    y = shift(&s, "shift_right", y, 23);
    if (scale_out != 1.0 / 128 && !tg_qnn_multiply(lo, y, 1.0 / 128 / scale_out, 31, &y)) return false;
    y = tg_add(cx, y, tg_to(cx, TG_INT32, tg_in0(lo, ZERO_OUT)));
    tg_put(b, lo->out[0], tg_qnn_narrow(cx, TG_INT8, y), &at);
    return true;
}
