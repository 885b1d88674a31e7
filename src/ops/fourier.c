/* fourier.c: discrete Fourier transforms, whole (dft) and of windows that slide (stft). Sines come from tables of one period. */
#include "build.h"

#include <math.h>

/* cos or sin of 2πk/n for k < n, as a temporary. */
static const tg_buffer *period(tg_lower *lo, const char *name, DLDataType d, int64_t n, double sign)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *t = tg_temp_of(lo, name, d, 1, &n);
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, name, t, &at);
    tg_expr angle =
        tg_mul(cx, tg_to(cx, d, at.ix[0]), tg_float(cx, d, 2 * 3.14159265358979323846 / (double)(n > 0 ? n : 1)));
    tg_expr v = tg_call1(cx, name[0] == 'c' ? "cos" : "sin", angle);
    tg_put(b, t, sign < 0 ? tg_neg(cx, v) : v, &at);
    return t;
}

/* table[(a·b) mod n] */
static tg_expr turned(tg_lower *lo, const tg_buffer *table, tg_expr a, tg_expr b)
{
    tg_at at = { 1, { tg_floormodi(lo->cx, tg_mul(lo->cx, a, b), tg_extent(table, 0)) } };
    return tg_read(lo, table, &at);
}

/* ---- dft ---- */

const tg_type *tg_type_dft(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *re = tg_arg_tensor(cx, call, 0), *im = tg_arg_tensor(cx, call, 1), *field[2] = { re, im };
    if (re == NULL || im == NULL || !tg_want_float(cx, call, 0) || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    if (!tg_type_same_shape(re, im) || re->n == 0)
        return tg_arg_error(cx, call, 1, "real and imaginary part need one shape of at least one dimension");
    return tg_tuple_type(cx, 2, field);
}

bool tg_lower_dft(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    bool inverse = tg_attr_bool(cx, op, call, "inverse");
    DLDataType d = tg_compute_dtype(lo->in[0]->dtype);
    uint32_t last = lo->in[0]->ndim - 1;
    int64_t n = tg_extent(lo->in[0], last);
    if (n > 46340) /* n·k passes 2^31 */
        tg_lower_wide(lo);
    const tg_buffer *cosine = period(lo, "cosine", d, n, 1), *sine = period(lo, "sine", d, n, inverse ? -1 : 1);
    for (uint32_t part = 0; part < 2; ++part) { /* (re + i·im)(cos - i·sin) */
        const tg_buffer *acc = tg_accumulator(lo, "sum", lo->out[part]);
        tg_at to, from;
        tg_block_build *b = tg_begin_over(lo, part == 0 ? "dft_re" : "dft_im", acc, &to);
        tg_expr k = tg_reduce(b, "k", n);
        from = to;
        from.ix[last] = k;
        tg_expr c = turned(lo, cosine, to.ix[last], k), s = turned(lo, sine, to.ix[last], k);
        tg_expr re = tg_in(lo, 0, &from), im = tg_in(lo, 1, &from);
        tg_expr term = part == 0 ? tg_add(cx, tg_mul(cx, re, c), tg_mul(cx, im, s))
                                 : tg_sub(cx, tg_mul(cx, im, c), tg_mul(cx, re, s));
        if (inverse) term = tg_div(cx, term, tg_float(cx, d, (double)n));
        tg_begin_init(b, tg_float(cx, d, 0));
        tg_put(b, acc, tg_add(cx, tg_read(lo, acc, &to), term), &to);
        tg_round_into(lo, acc, lo->out[part]);
    }
    return true;
}

/* ---- stft ---- */

typedef struct stft {
    int64_t fft, hop, window, rows, columns;
} stft;

static bool read_stft(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t length, int64_t window, stft *p)
{
    p->fft = tg_attr_int(cx, op, call, "n_fft");
    p->hop = tg_attr_int(cx, op, call, "hop_length");
    p->window = tg_attr_int(cx, op, call, "win_length");
    if (p->hop < 0) p->hop = p->fft / 4;
    if (p->window < 0) p->window = p->fft;
    if (p->fft < 1 || p->hop < 1 || p->window < 1 || p->window > p->fft || p->fft > length)
        return tg_op_error(cx, call, "n_fft %lld, hop_length %lld and win_length %lld do not fit %lld samples",
                           (long long)p->fft, (long long)p->hop, (long long)p->window, (long long)length) != NULL;
    if (window < p->window)
        return tg_arg_error(cx, call, 1, "the window has %lld values, win_length is %lld", (long long)window,
                            (long long)p->window) != NULL;
    p->rows = tg_attr_bool(cx, op, call, "onesided") ? p->fft / 2 + 1 : p->fft;
    p->columns = (length - p->fft) / p->hop + 1;
    return true;
}

const tg_type *tg_type_stft(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 2), *w = tg_arg_of_rank(cx, call, 1, 1);
    stft p;
    if (x == NULL || w == NULL || !tg_want_float(cx, call, 0) || !tg_same_dtype(cx, call, 0, 1) ||
        !read_stft(cx, op, call, x->dim[1], w->dim[0], &p))
        return NULL;
    int64_t dim[4] = { x->dim[0], p.rows, p.columns, 2 };
    return tg_tensor_of(cx, call, x->dtype, 4, dim);
}

bool tg_lower_stft(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    stft p;
    DLDataType d = tg_compute_dtype(lo->in[0]->dtype);
    if (!read_stft(cx, op, call, tg_extent(lo->in[0], 1), tg_extent(lo->in[1], 0), &p)) return false;
    if (p.fft > 46340) tg_lower_wide(lo);
    const tg_buffer *cosine = period(lo, "cosine", d, p.window, 1), *sine = period(lo, "sine", d, p.window, -1);
    const tg_buffer *acc = tg_accumulator(lo, "sum", lo->out[0]);
    for (int64_t part = 0; part < 2; ++part) {
        tg_at to = { .n = 4 };
        tg_block_build *b = tg_begin(lo, part == 0 ? "stft_re" : "stft_im");
        to.ix[0] = tg_spatial(b, "b", tg_extent(acc, 0));
        to.ix[1] = tg_spatial(b, "row", p.rows);
        to.ix[2] = tg_spatial(b, "col", p.columns);
        to.ix[3] = tg_ix(lo, part);
        tg_expr w = tg_reduce(b, "w", p.window);
        tg_at x = { 2, { to.ix[0], tg_add(cx, tg_muli(cx, to.ix[2], p.hop), w) } }, at = { 1, { w } };
        tg_expr term = tg_mul(cx, tg_mul(cx, tg_in(lo, 1, &at), tg_in(lo, 0, &x)),
                              turned(lo, part == 0 ? cosine : sine, to.ix[1], w));
        if (tg_attr_bool(cx, op, call, "normalized")) term = tg_div(cx, term, tg_float(cx, d, sqrt((double)p.fft)));
        tg_begin_init(b, tg_float(cx, d, 0));
        tg_put(b, acc, tg_add(cx, tg_read(lo, acc, &to), term), &to);
    }
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}
