/* dot.c: convolution and dense on codes with the weights in groups of four along the reduction: what instructions
 * that multiply and add four bytes at once read as one word (passes/pack_dot.c makes them).
 *     weight of dot_conv2d  [kernel rows][kernel columns][input channels / 4][output channels][4]
 *            with one input channel [kernel rows][kernel columns / 4][1][output channels][4]
 *     weight of dot_dense   [inputs / 4][outputs][4] */
#include "build.h"

enum { GROUP = 4 };

static bool want_bytes(tg_ctx *cx, const tg_node *call)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const tg_type *t = tg_arg_tensor(cx, call, i);
        if (t == NULL || !tg_want_int(cx, call, i)) return false;
        if (t->dtype.bits != 8) return tg_arg_error(cx, call, i, "operand %u must have elements of 8 bits", i) != NULL;
    }
    return true;
}

/* ---- convolution ---- */

typedef struct dot_conv {
    int64_t stride[2], dilation;
    int64_t rows, columns, groups; /* of the kernel; groups of four channels */
    bool narrow;                   /* one channel: the four are neighbours in a row */
} dot_conv;

static bool read_conv(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *x, const tg_type *w, dot_conv *c)
{
    if (tg_attr_ints(cx, op, call, "strides", c->stride, 2) != 2 || c->stride[0] < 1 || c->stride[1] < 1)
        return tg_op_error(cx, call, "attribute strides must be two positive numbers") != NULL;
    c->dilation = tg_attr_int(cx, op, call, "dilation");
    if (c->dilation < 1) return tg_op_error(cx, call, "attribute dilation must be at least 1") != NULL;
    c->rows = w->dim[0];
    c->columns = w->dim[1];
    c->groups = w->dim[2];
    c->narrow = x->dim[3] == 1;
    bool fits = w->dim[4] == GROUP && (c->narrow ? c->groups == 1 : c->groups * GROUP == x->dim[3]);
    return fits ||
           tg_arg_error(cx, call, 1, "the weight does not fit %lld input channels", (long long)x->dim[3]) != NULL;
}

/* Positions of a window of @p reach elements. */
static int64_t positions(int64_t extent, int64_t reach, int64_t stride)
{
    return extent < reach ? -1 : (extent - reach) / stride + 1;
}

const tg_type *tg_type_dot_conv2d(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4), *w = tg_arg_of_rank(cx, call, 1, 5);
    dot_conv c;
    int64_t reach;
    if (x == NULL || w == NULL || !want_bytes(cx, call) || !read_conv(cx, op, call, x, w, &c)) return NULL;
    if (c.rows < 1 || c.columns < 1 || !tg_mul_fits(c.rows - 1, c.dilation, &reach))
        return tg_arg_error(cx, call, 1, "the kernel is empty or too large");
    int64_t columns = c.narrow ? c.columns * GROUP : c.columns;
    int64_t dim[4] = { x->dim[0], positions(x->dim[1], reach + 1, c.stride[0]),
                       positions(x->dim[2], columns, c.stride[1]), w->dim[3] };
    if (dim[1] < 0 || dim[2] < 0) return tg_arg_error(cx, call, 1, "the kernel is larger than the data");
    return tg_tensor_of(cx, call, TG_INT32, 4, dim);
}

/* out[at] += x · w in int32. */
static void accumulate(tg_lower *lo, tg_block_build *b, const tg_at *to, const tg_at *from, const tg_at *weight)
{
    tg_ctx *cx = lo->cx;
    tg_expr x = tg_to(cx, TG_INT32, tg_in(lo, 0, from)), w = tg_to(cx, TG_INT32, tg_in(lo, 1, weight));
    tg_begin_init(b, tg_int(cx, TG_INT32, 0));
    tg_put(b, lo->out[0], tg_add(cx, tg_read(lo, lo->out[0], to), tg_mul(cx, x, w)), to);
}

bool tg_lower_dot_conv2d(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    static const char *const name[4] = { "n", "oh", "ow", "oc" };
    tg_ctx *cx = lo->cx;
    dot_conv c;
    tg_at to = { 0 }, from = { .n = 4 }, weight = { .n = 5 };
    if (!read_conv(cx, op, call, call->kid[0]->type, call->kid[1]->type, &c)) return false;
    tg_block_build *b = tg_begin(lo, NULL);
    for (uint32_t k = 0; k < 4; ++k) tg_at_push(&to, tg_spatial(b, name[k], tg_extent(lo->out[0], k)));
    tg_expr kh = tg_reduce(b, "kh", c.rows), kw = tg_reduce(b, "kw", c.columns), ic = tg_reduce(b, "ic", c.groups);
    tg_expr part = tg_reduce(b, "part", GROUP);
    tg_expr column = c.narrow ? tg_add(cx, tg_muli(cx, kw, GROUP), part) : kw;
    from.ix[0] = to.ix[0];
    from.ix[1] = tg_add(cx, tg_muli(cx, to.ix[1], c.stride[0]), tg_muli(cx, kh, c.dilation));
    from.ix[2] = tg_add(cx, tg_muli(cx, to.ix[2], c.stride[1]), column);
    from.ix[3] = c.narrow ? tg_ix(lo, 0) : tg_add(cx, tg_muli(cx, ic, GROUP), part);
    tg_expr at[5] = { kh, kw, ic, to.ix[3], part };
    for (uint32_t k = 0; k < 5; ++k) weight.ix[k] = at[k];
    accumulate(lo, b, &to, &from, &weight);
    return true;
}

/* ---- dense ---- */

const tg_type *tg_type_dot_dense(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *w = tg_arg_of_rank(cx, call, 1, 3);
    int64_t dim[TG_MAX_NDIM];
    (void)op;
    if (x == NULL || w == NULL || !want_bytes(cx, call)) return NULL;
    if (x->n < 1 || w->dim[2] != GROUP || w->dim[0] * GROUP != x->dim[x->n - 1])
        return tg_arg_error(cx, call, 1, "the weight does not fit the data");
    for (uint32_t k = 0; k < x->n; ++k) dim[k] = x->dim[k];
    dim[x->n - 1] = w->dim[1];
    return tg_tensor_of(cx, call, TG_INT32, x->n, dim);
}

bool tg_lower_dot_dense(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    tg_at to, from, weight = { .n = 3 };
    (void)op;
    (void)call;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_expr k = tg_reduce(b, "k", tg_extent(lo->in[1], 0)), part = tg_reduce(b, "part", GROUP);
    from = to;
    from.ix[to.n - 1] = tg_add(cx, tg_muli(cx, k, GROUP), part);
    weight.ix[0] = k;
    weight.ix[1] = to.ix[to.n - 1];
    weight.ix[2] = part;
    accumulate(lo, b, &to, &from, &weight);
    return true;
}
