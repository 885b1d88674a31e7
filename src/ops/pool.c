/* pool.c: windows reduced to their maximum or average; adaptive and global pools. */
#include "conv.h"

#include <string.h>

typedef struct pool {
    int n;
    tg_window w[3];
    tg_layout layout;
    bool max, include_pad;
} pool;

static bool is_max(const tg_op *op)
{
    return strstr(op->name, "max_pool") != NULL;
}

static bool read_layout(tg_ctx *cx, const tg_op *op, const tg_node *call, pool *p)
{
    tg_layout out;
    const char *text = tg_attr_str(cx, op, call, "layout"), *out_text = tg_attr_str(cx, op, call, "out_layout");
    const char *need = tg_format(cx, "NC%s", tg_spatial_letters(p->n));
    if (!tg_layout_attr(cx, op, call, "layout", "", need, &p->layout) ||
        !tg_layout_attr(cx, op, call, "out_layout", text, need, &out))
        return false;
    if (out_text[0] != '\0' && strcmp(text, out_text) != 0)
        return tg_op_error(cx, call, "out_layout \"%s\" differs from layout \"%s\"", out_text, text) != NULL;
    return true;
}

static const tg_type *read_data(tg_ctx *cx, const tg_op *op, const tg_node *call, pool *p)
{
    *p = (pool){ .n = tg_spatial_count(op), .max = is_max(op) };
    if (!read_layout(cx, op, call, p)) return NULL;
    const tg_type *t = tg_arg_of_rank(cx, call, 0, p->layout.n);
    if (t == NULL) return NULL;
    if (!p->max && tg_is_bool(t->dtype)) return tg_arg_error(cx, call, 0, "bool is not a number");
    for (int i = 0; i < p->n; ++i) {
        p->w[i].letter = tg_spatial_letters(p->n)[i];
        p->w[i].in = tg_layout_extent(&p->layout, t->dim, p->w[i].letter);
    }
    return t;
}

static const tg_type *pooled_type(tg_ctx *cx, const tg_node *call, const tg_type *t, const pool *p)
{
    int64_t dim[TG_MAX_NDIM];
    memcpy(dim, t->dim, t->n * sizeof dim[0]);
    for (int i = 0; i < p->n; ++i) dim[tg_layout_find(&p->layout, p->w[i].letter)] = p->w[i].out;
    return tg_tensor_of(cx, call, t->dtype, t->n, dim);
}

/* ---- pools with a window ---- */

static const tg_type *read_pool(tg_ctx *cx, const tg_op *op, const tg_node *call, pool *p)
{
    const tg_type *t = read_data(cx, op, call, p);
    int64_t size[3], stride[3], dilation[3];
    if (t == NULL || !tg_window_ints(cx, op, call, "pool_size", p->n, 1, size) ||
        !tg_window_ints(cx, op, call, "strides", p->n, 1, stride) ||
        !tg_window_ints(cx, op, call, "dilation", p->n, 1, dilation) || !tg_window_padding(cx, op, call, p->n, 0, p->w))
        return NULL;
    for (int i = 0; i < p->n; ++i) {
        p->w[i].kernel = size[i];
        p->w[i].stride = stride[i];
        p->w[i].dilation = dilation[i];
    }
    p->include_pad = !p->max && tg_attr_bool(cx, op, call, "count_include_pad");
    return tg_window_out(cx, call, p->n, p->w, tg_attr_bool(cx, op, call, "ceil_mode")) ? t : NULL;
}

const tg_type *tg_type_pool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    pool p;
    const tg_type *t = read_pool(cx, op, call, &p);
    return t != NULL ? pooled_type(cx, call, t, &p) : NULL;
}

/* The dtype in which averages are summed. */
static DLDataType sum_dtype(DLDataType d)
{
    if (tg_is_float(d)) return tg_compute_dtype(d);
    return d.bits < 32 ? TG_INT32 : d;
}

/* acc[...] = fold over the window of data; padding holds the neutral value already. */
static void window_block(tg_lower *lo, const pool *p, const char *name, const tg_buffer *data, const tg_buffer *acc,
                         DLDataType of)
{
    tg_ctx *cx = lo->cx;
    tg_block_build *b = tg_begin(lo, name);
    tg_at to = { 0 }, from = { 0 };
    for (uint32_t k = 0; k < p->layout.n; ++k)
        tg_at_push(&to, tg_spatial(b, tg_layout_axis_name(cx, &p->layout, k, ""), tg_extent(acc, k)));
    from = to;
    for (int i = 0; i < p->n; ++i) {
        const tg_window *w = &p->w[i];
        int at = tg_layout_find(&p->layout, w->letter);
        tg_expr tap = tg_reduce(b, tg_format(cx, "k%c", w->letter - 'A' + 'a'), w->kernel);
        from.ix[at] = tg_add(cx, tg_muli(cx, to.ix[at], w->stride), tg_muli(cx, tap, w->dilation));
    }
    tg_expr old = tg_read(lo, acc, &to), x = tg_to(cx, acc->dtype, tg_read(lo, data, &from));
    bool logic = tg_is_bool(acc->dtype);
    tg_begin_init(b, p->max && !logic ? tg_lowest(cx, acc->dtype, of) : tg_const(cx, acc->dtype, 0));
    tg_put(b, acc, logic ? tg_or(cx, old, x) : p->max ? tg_max(cx, old, x) : tg_add(cx, old, x), &to);
}

/* Windows of the last outputs may pass the padded input in ceil mode: more padding then. */
static void widen_for_ceil(pool *p)
{
    for (int i = 0; i < p->n; ++i) {
        tg_window *w = &p->w[i];
        int64_t need = (w->out - 1) * w->stride + (w->kernel - 1) * w->dilation + 1 - w->in - w->before;
        if (need > w->after) w->after = need;
    }
}

/* Taps of window i at output coordinate o that lie in [0, limit) of the input shifted by @p first. */
static tg_expr taps_inside(tg_lower *lo, const tg_window *w, tg_expr o, int64_t first, int64_t limit)
{
    tg_ctx *cx = lo->cx;
    tg_expr start = tg_addi(cx, tg_muli(cx, o, w->stride), first);
    tg_expr low = tg_ix(lo, 0), high = tg_ix(lo, w->kernel);
    if (first < 0) /* ceil(-start / dilation) taps come before the input */
        low = tg_max(cx, tg_floordivi(cx, tg_sub(cx, tg_ix(lo, w->dilation - 1), start), w->dilation), tg_ix(lo, 0));
    if (first + (w->out - 1) * w->stride + (w->kernel - 1) * w->dilation >= limit)
        high = tg_min(cx, tg_floordivi(cx, tg_sub(cx, tg_ix(lo, limit - 1 + w->dilation), start), w->dilation),
                      tg_ix(lo, w->kernel));
    tg_expr taps = tg_sub(cx, high, low);
    bool outside = first + (w->kernel - 1) * w->dilation < 0 || first + (w->out - 1) * w->stride >= limit;
    return outside ? tg_max(cx, taps, tg_ix(lo, 0)) : taps; /* some windows lie in the padding altogether */
}

/* out = total / number of taps that count */
static void average_block(tg_lower *lo, const pool *p, const pool *declared, const tg_buffer *total,
                          const tg_buffer *out)
{
    tg_ctx *cx = lo->cx;
    tg_block_build *b = tg_begin(lo, NULL);
    tg_at at = { 0 };
    tg_expr count = tg_ix(lo, 1);
    for (uint32_t k = 0; k < p->layout.n; ++k)
        tg_at_push(&at, tg_spatial(b, tg_layout_axis_name(cx, &p->layout, k, ""), tg_extent(out, k)));
    for (int i = 0; i < p->n; ++i) {
        const tg_window *w = &declared->w[i];
        tg_expr o = at.ix[tg_layout_find(&p->layout, w->letter)];
        tg_expr taps = p->include_pad ? taps_inside(lo, w, o, 0, w->before + w->in + w->after)
                                      : taps_inside(lo, w, o, -w->before, w->in);
        count = tg_mul(cx, count, taps);
    }
    if (count->kind != TG_INT) count = tg_max(cx, count, tg_ix(lo, 1));
    tg_expr sum = tg_read(lo, total, &at);
    tg_put(b, out, tg_div(cx, sum, tg_to(cx, tg_dtype_of(sum), count)), &at);
}

bool tg_lower_pool(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    pool p;
    if (read_pool(cx, op, call, &p) == NULL) return false;
    pool declared = p;
    const tg_buffer *out = lo->out[0];
    DLDataType d = out->dtype;
    widen_for_ceil(&p);
    tg_expr fill = p.max && !tg_is_bool(d) ? tg_lowest(cx, d, d) : tg_const(cx, d, 0);
    const tg_buffer *data = tg_pad_windows(lo, 0, &p.layout, p.n, p.w, NULL, fill);
    if (p.max) {
        const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), out);
        window_block(lo, &p, NULL, data, acc, d);
        tg_round_into(lo, acc, out);
        return true;
    }
    int64_t dim[TG_MAX_NDIM];
    tg_buffer_dims(out, dim);
    const tg_buffer *total = tg_temp_of(lo, "pool_sum", sum_dtype(d), out->ndim, dim);
    window_block(lo, &p, "pool_sum", data, total, d);
    average_block(lo, &p, &declared, total, out);
    return true;
}

/* ---- adaptive and global pools: window of output i is [i·in/out, ceil((i+1)·in/out)) ---- */

static const tg_type *read_adaptive(tg_ctx *cx, const tg_op *op, const tg_node *call, pool *p)
{
    const tg_type *t = read_data(cx, op, call, p);
    int64_t size[3] = { 1, 1, 1 };
    int count = 0;
    bool global = strstr(op->name, "global") != NULL;
    if (t == NULL || (!global && (count = tg_attr_ints(cx, op, call, "output_size", size, 3)) < 0)) return NULL;
    if (count != 0 && count != 1 && count != p->n)
        return tg_op_error(cx, call, "attribute output_size has %d values, expected %d", count, p->n);
    for (int i = 0; i < p->n; ++i) {
        tg_window *w = &p->w[i];
        w->out = global ? 1 : count == 0 ? w->in : size[count == 1 ? 0 : i];
        if (w->out < 1 || w->out > INT32_MAX || w->in < 1)
            return tg_op_error(cx, call, "%lld elements along %c cannot be pooled to %lld", (long long)w->in, w->letter,
                               (long long)w->out);
        w->kernel = 0;
        w->stride = w->in % w->out == 0 ? w->in / w->out : 0; /* 0: windows differ */
    }
    return t;
}

const tg_type *tg_type_adaptive_pool(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    pool p;
    const tg_type *t = read_adaptive(cx, op, call, &p);
    return t != NULL ? pooled_type(cx, call, t, &p) : NULL;
}

static tg_expr window_start(tg_lower *lo, const tg_window *w, tg_expr o)
{
    if (w->stride > 0) return tg_muli(lo->cx, o, w->stride);
    return tg_floordivi(lo->cx, tg_muli(lo->cx, o, w->in), w->out);
}

static tg_expr window_length(tg_lower *lo, const tg_window *w, tg_expr o)
{
    tg_ctx *cx = lo->cx;
    if (w->stride > 0) return tg_ix(lo, w->stride);
    tg_expr end = tg_floordivi(cx, tg_addi(cx, tg_muli(cx, o, w->in), w->in + w->out - 1), w->out);
    return tg_sub(cx, end, window_start(lo, w, o));
}

static int64_t longest_window(const tg_window *w)
{
    if (w->stride > 0) return w->stride;
    int64_t most = w->in / w->out + 2; /* a window straddles at most two more elements */
    return most < w->in ? most : w->in;
}

bool tg_lower_adaptive_pool(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    pool p;
    if (read_adaptive(cx, op, call, &p) == NULL) return false;
    const tg_buffer *out = lo->out[0];
    DLDataType d = out->dtype, ad = p.max ? tg_compute_dtype(d) : sum_dtype(d);
    int64_t dim[TG_MAX_NDIM];
    tg_buffer_dims(out, dim);
    const tg_buffer *acc = p.max ? tg_accumulator(lo, "pool_max", out) : tg_temp_of(lo, "pool_sum", ad, out->ndim, dim);
    tg_block_build *b = tg_begin(lo, p.max ? NULL : "pool_sum");
    tg_at to = { 0 }, from;
    for (uint32_t k = 0; k < p.layout.n; ++k)
        tg_at_push(&to, tg_spatial(b, tg_layout_axis_name(cx, &p.layout, k, ""), tg_extent(out, k)));
    from = to;
    tg_expr inside = NULL;
    for (int i = 0; i < p.n; ++i) {
        const tg_window *w = &p.w[i];
        if (w->stride == 0 && w->in > INT32_MAX / (w->out + 1)) tg_lower_wide(lo);
        int k = tg_layout_find(&p.layout, w->letter);
        tg_expr tap = tg_reduce(b, tg_format(cx, "k%c", w->letter - 'A' + 'a'), longest_window(w));
        if (w->stride == 0) inside = tg_and(cx, inside, tg_lt(cx, tap, window_length(lo, w, to.ix[k])));
        from.ix[k] = tg_add(cx, window_start(lo, w, to.ix[k]), tap);
    }
    bool logic = tg_is_bool(ad);
    tg_expr neutral = p.max && !logic ? tg_lowest(cx, ad, d) : tg_const(cx, ad, 0), old = tg_read(lo, acc, &to);
    tg_expr x = tg_guarded(cx, inside, tg_to(cx, ad, tg_in(lo, 0, &from)), neutral);
    tg_begin_init(b, neutral);
    tg_put(b, acc, logic ? tg_or(cx, old, x) : p.max ? tg_max(cx, old, x) : tg_add(cx, old, x), &to);
    if (p.max) {
        tg_round_into(lo, acc, out);
        return true;
    }
    b = tg_begin(lo, NULL);
    tg_at at = { 0 };
    tg_expr count = tg_ix(lo, 1);
    for (uint32_t k = 0; k < p.layout.n; ++k)
        tg_at_push(&at, tg_spatial(b, tg_layout_axis_name(cx, &p.layout, k, ""), tg_extent(out, k)));
    for (int i = 0; i < p.n; ++i)
        count = tg_mul(cx, count, window_length(lo, &p.w[i], at.ix[tg_layout_find(&p.layout, p.w[i].letter)]));
    tg_expr sum = tg_read(lo, acc, &at);
    tg_put(b, out, tg_div(cx, sum, tg_to(cx, ad, count)), &at);
    return true;
}
