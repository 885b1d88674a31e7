/* reshape.c: the same elements in the same order under another shape. */
#include "build.h"

#include <string.h>

/* ---- reshape's list of special values (relay-ops.md section 6) ---- */

typedef struct shape_list {
    const int64_t *in;
    uint32_t nin, at;
    int64_t out[TG_MAX_NDIM];
    uint32_t n;
    int infer;
} shape_list;

static bool push_dim(tg_ctx *cx, const tg_node *call, shape_list *s, int64_t d)
{
    if (s->n == TG_MAX_NDIM)
        return tg_op_error(cx, call, "the new shape has more than %d dimensions", (int)TG_MAX_NDIM) != NULL;
    s->out[s->n++] = d;
    return true;
}

static bool next_input(tg_ctx *cx, const tg_node *call, shape_list *s, int64_t *d)
{
    *d = 0;
    if (s->at >= s->nin)
        return tg_op_error(cx, call, "the new shape refers to more dimensions than the data has") != NULL;
    *d = s->in[s->at++];
    return true;
}

/* -1, once */
static bool push_inferred(tg_ctx *cx, const tg_node *call, shape_list *s)
{
    if (s->infer >= 0) return tg_op_error(cx, call, "the new shape has more than one -1") != NULL;
    s->infer = (int)s->n;
    ++s->at;
    return push_dim(cx, call, s, 1);
}

/* -4 a b: one dimension of the data becomes two, one of which may be -1 */
static bool push_split(tg_ctx *cx, const tg_node *call, shape_list *s, int64_t a, int64_t b)
{
    int64_t d = 0, product = 0;
    if (!next_input(cx, call, s, &d)) return false;
    if (a == -1 && b > 0 && d % b == 0) a = d / b;
    else if (b == -1 && a > 0 && d % a == 0) b = d / a;
    if (a < 0 || b < 0 || !tg_mul_fits(a, b, &product) || product != d)
        return tg_op_error(cx, call, "extent %lld does not split into %lld and %lld", (long long)d, (long long)a,
                           (long long)b) != NULL;
    return push_dim(cx, call, s, a) && push_dim(cx, call, s, b);
}

static bool push_entry(tg_ctx *cx, const tg_node *call, shape_list *s, const int64_t *spec, int n, int *i,
                       bool allowzero)
{
    int64_t d = 0, e = 0;
    switch (spec[*i]) {
    case 0:
        if (allowzero) {
            ++s->at;
            return push_dim(cx, call, s, 0);
        }
        return next_input(cx, call, s, &d) && push_dim(cx, call, s, d);
    case -1: return push_inferred(cx, call, s);
    case -2:
        while (s->at < s->nin)
            if (!push_dim(cx, call, s, s->in[s->at++])) return false;
        return true;
    case -3:
        if (!next_input(cx, call, s, &d) || !next_input(cx, call, s, &e)) return false;
        if (!tg_mul_fits(d, e, &d)) return tg_op_error(cx, call, "the result is too large") != NULL;
        return push_dim(cx, call, s, d);
    case -4:
        if (*i + 2 >= n) return tg_op_error(cx, call, "-4 in the new shape needs two entries after it") != NULL;
        *i += 2;
        return push_split(cx, call, s, spec[*i - 1], spec[*i]);
    default:
        if (spec[*i] < 0)
            return tg_op_error(cx, call, "%lld has no meaning in a new shape", (long long)spec[*i]) != NULL;
        ++s->at;
        return push_dim(cx, call, s, spec[*i]);
    }
}

static int64_t product(const int64_t *dim, uint32_t n)
{
    int64_t p = 1;
    for (uint32_t k = 0; k < n; ++k)
        if (!tg_mul_fits(p, dim[k], &p)) return -1;
    return p;
}

static const char *shape_text(tg_ctx *cx, uint32_t n, const int64_t *dim)
{
    const char *s = "";
    for (uint32_t k = 0; k < n; ++k) s = tg_format(cx, "%s%s%lld", s, k > 0 ? ", " : "", (long long)dim[k]);
    return tg_format(cx, "(%s)", s);
}

/* The result of a reshape of @p t to @p spec, checked. */
static const tg_type *reshaped(tg_ctx *cx, const tg_node *call, const tg_type *t, const int64_t *dims,
                               const int64_t *spec, int n, bool allowzero, shape_list *s)
{
    *s = (shape_list){ .in = dims, .nin = t->n, .infer = -1 };
    for (int i = 0; i < n; ++i)
        if (!push_entry(cx, call, s, spec, n, &i, allowzero)) return NULL;
    int64_t have = product(t->dim, t->n), want = product(s->out, s->n);
    if (s->infer >= 0 && want > 0 && have % want == 0) {
        s->out[s->infer] = have / want;
        want = have;
    }
    if (have != want || (s->infer >= 0 && want == 0 && product(s->out, s->n) != have))
        return tg_arg_error(cx, call, 0, "%lld elements cannot take the shape %s", (long long)have,
                            shape_text(cx, s->n, s->out));
    return tg_tensor_of(cx, call, t->dtype, s->n, s->out);
}

static void flip(int64_t *a, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; ++i) {
        int64_t t = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = t;
    }
}

const tg_type *tg_type_reshape(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t spec[3 * TG_MAX_NDIM], dim[TG_MAX_NDIM];
    int n = tg_attr_ints(cx, op, call, "newshape", spec, (int)TG_COUNT(spec));
    shape_list s;
    if (t == NULL || n < 0) return NULL;
    bool reverse = strcmp(op->name, "reshape") != 0 || tg_attr_bool(cx, op, call, "reverse");
    for (uint32_t k = 0; k < t->n; ++k) dim[k] = t->dim[k];
    if (reverse) { /* special values are matched from the right */
        flip(spec, (uint32_t)n);
        flip(dim, t->n);
    }
    const tg_type *r = reshaped(cx, call, t, dim, spec, n, tg_attr_bool(cx, op, call, "allowzero"), &s);
    if (r == NULL || !reverse) return r;
    flip(s.out, s.n);
    return tg_tensor_type(cx, t->dtype, s.n, s.out, 0);
}

static bool range_end(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, uint32_t n, int64_t *out)
{
    *out = tg_attr_is_none(cx, op, call, name) ? (int64_t)n : tg_attr_int(cx, op, call, name);
    *out += *out < 0 ? (int64_t)n : 0;
    return (*out >= 0 && *out <= (int64_t)n) ||
           tg_op_error(cx, call, "%s is outside of %u dimensions", name, n) != NULL;
}

const tg_type *tg_type_reshape_like(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *y = tg_arg_tensor(cx, call, 1);
    int64_t l0, l1, r0, r1, dim[3 * TG_MAX_NDIM];
    uint32_t n = 0;
    if (x == NULL || y == NULL || !range_end(cx, op, call, "lhs_begin", x->n, &l0) ||
        !range_end(cx, op, call, "lhs_end", x->n, &l1) || !range_end(cx, op, call, "rhs_begin", y->n, &r0) ||
        !range_end(cx, op, call, "rhs_end", y->n, &r1))
        return NULL;
    if (l0 > l1 || r0 > r1) return tg_op_error(cx, call, "a range of dimensions ends before it begins");
    for (int64_t k = 0; k < l0; ++k) dim[n++] = x->dim[k];
    for (int64_t k = r0; k < r1; ++k) dim[n++] = y->dim[k];
    for (int64_t k = l1; k < (int64_t)x->n; ++k) dim[n++] = x->dim[k];
    if (product(dim, n) != product(x->dim, x->n))
        return tg_arg_error(cx, call, 0, "%lld elements cannot take the shape %s", (long long)product(x->dim, x->n),
                            shape_text(cx, n, dim));
    return tg_tensor_of(cx, call, x->dtype, n, dim);
}

const tg_type *tg_type_batch_flatten(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    if (t == NULL) return NULL;
    if (t->n == 0) return tg_arg_error(cx, call, 0, "a scalar has no batch axis");
    int64_t dim[2] = { t->dim[0], product(t->dim + 1, t->n - 1) };
    return tg_tensor_of(cx, call, t->dtype, 2, dim);
}

const tg_type *tg_type_squeeze(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t axis[TG_MAX_NDIM], dim[TG_MAX_NDIM];
    uint32_t gone = 0, n = 0, a, wide = 0;
    int count = tg_attr_ints(cx, op, call, "axis", axis, TG_MAX_NDIM);
    if (t == NULL || count < 0) return NULL;
    for (uint32_t k = 0; tg_attr_is_none(cx, op, call, "axis") && k < t->n; ++k) gone |= t->dim[k] == 1 ? 1u << k : 0;
    for (int i = 0; i < count; ++i) {
        if (!tg_axis_of(cx, call, axis[i], t->n, &a)) return NULL;
        if (t->dim[a] != 1)
            return tg_arg_error(cx, call, 0, "axis %u has extent %lld and cannot be dropped", a, (long long)t->dim[a]);
        gone |= 1u << a;
    }
    for (uint32_t k = 0; k < t->n; ++k) {
        if (gone >> k & 1) continue;
        wide |= (t->wide >> k & 1) << n;
        dim[n++] = t->dim[k];
    }
    return tg_tensor_type(cx, t->dtype, n, dim, wide);
}

const tg_type *tg_type_expand_dims(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    int64_t count = tg_attr_int(cx, op, call, "num_newaxis"), dim[2 * TG_MAX_NDIM];
    uint32_t axis, n = 0;
    if (t == NULL || !tg_attr_axis(cx, op, call, "axis", t->n + 1, &axis)) return NULL;
    if (count < 0 || count > TG_MAX_NDIM)
        return tg_op_error(cx, call, "num_newaxis is outside of 0 to %d", (int)TG_MAX_NDIM);
    for (uint32_t k = 0; k <= t->n; ++k) {
        for (int64_t i = 0; k == axis && i < count; ++i) dim[n++] = 1;
        if (k < t->n) dim[n++] = t->dim[k];
    }
    return tg_tensor_of(cx, call, t->dtype, n, dim);
}

/* ---- blocks ---- */

/* Runs of dimensions with equal products on both sides keep their index arithmetic apart: (2, 12) to (2, 3, 4) divides by 4 only. */
bool tg_reshape_block(tg_lower *lo, const char *name, const tg_buffer *from, const tg_buffer *to)
{
    tg_ctx *cx = lo->cx;
    int64_t in[TG_MAX_NDIM], out[TG_MAX_NDIM];
    tg_at at, src = { .n = from->ndim };
    tg_block_build *b = tg_begin_over(lo, name, to, &at);
    tg_buffer_dims(from, in);
    tg_buffer_dims(to, out);
    for (uint32_t i = 0, j = 0; i < from->ndim || j < to->ndim;) {
        uint32_t i0 = i, j0 = j;
        int64_t p = 1, q = 1;
        if (i < from->ndim) p = in[i++];
        if (j < to->ndim) q = out[j++];
        while (p != q && (i < from->ndim || j < to->ndim)) {
            if (i < from->ndim && (p < q || j == to->ndim)) p *= in[i++];
            else q *= out[j++];
        }
        tg_expr flat = tg_ravel(cx, lo->index, j - j0, at.ix + j0, out + j0);
        tg_unravel(cx, flat, i - i0, in + i0, src.ix + i0);
    }
    tg_put(b, to, tg_load(cx, from, src.n, src.ix), &at);
    return true;
}

bool tg_lower_reshape(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    if (lo->imm[0] != NULL) /* a scalar constant */
        return tg_fill_block(lo, NULL, lo->out[0], lo->imm[0]);
    return tg_reshape_block(lo, NULL, lo->in[0], lo->out[0]);
}
