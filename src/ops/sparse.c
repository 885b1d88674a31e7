/* sparse.c: products and sums with compressed sparse matrices (CSR, or BSR with dense blocks); sparse_reshape. */
#include "build.h"

#include <string.h>

/* A sparse matrix in operands first (data), first + 1 (indices), first + 2 (indptr). Blocks of 1 x 1 for CSR. */
typedef struct sparse {
    uint32_t first;
    int64_t rows, br, bc;
} sparse;

static bool read_sparse(tg_ctx *cx, const tg_node *call, uint32_t first, bool blocks, sparse *s)
{
    const tg_type *data = tg_arg_tensor(cx, call, first), *indices = tg_arg_of_rank(cx, call, first + 1, 1);
    const tg_type *indptr = tg_arg_of_rank(cx, call, first + 2, 1);
    if (data == NULL || indices == NULL || indptr == NULL || !tg_want_int(cx, call, first + 1) ||
        !tg_want_int(cx, call, first + 2))
        return false;
    if (data->n != 1 && !(blocks && data->n == 3))
        return tg_arg_error(cx, call, first, "the values have %u dimensions, expected 1%s", data->n,
                            blocks ? " or 3" : "") != NULL;
    if (indptr->dim[0] < 1 || data->dim[0] != indices->dim[0])
        return tg_arg_error(cx, call, first + 1, "values, indices and row pointers do not fit together") != NULL;
    *s = (sparse){ first, indptr->dim[0] - 1, data->n == 3 ? data->dim[1] : 1, data->n == 3 ? data->dim[2] : 1 };
    return (s->br > 0 && s->bc > 0 && tg_mul_fits(s->rows, s->br, &s->rows)) ||
           tg_arg_error(cx, call, first, "the blocks are not possible") != NULL;
}

/* Entry i of an index operand, kept inside [0, most]: a wrong matrix must not lead the code astray. */
static tg_expr integer_at(tg_lower *lo, uint32_t operand, tg_expr i, int64_t most)
{
    tg_at at = { 1, { i } };
    return tg_index(lo, tg_clamp(lo->cx, tg_position(lo, tg_in(lo, operand, &at)), 0, most > 0 ? most : 0));
}

/* Opens a loop over the stored elements of block row @p r; @return their number. */
static tg_expr each_element(tg_lower *lo, tg_script *s, const sparse *m, tg_expr r)
{
    tg_ctx *cx = lo->cx;
    int64_t n = tg_extent(lo->in[m->first], 0);
    tg_expr begin = tg_s_let(s, "begin", integer_at(lo, m->first + 2, r, n)),
            end = integer_at(lo, m->first + 2, tg_addi(cx, r, 1), n);
    tg_expr count = tg_s_let(s, "count", tg_max(cx, tg_sub(cx, end, begin), tg_ix(lo, 0)));
    return tg_add(cx, begin, tg_s_for(s, "e", tg_ix(lo, 0), count));
}

static tg_expr value_at(tg_lower *lo, const sparse *m, tg_expr e, tg_expr i, tg_expr j)
{
    tg_at at = { lo->in[m->first]->ndim, { e, i, j } };
    return tg_in(lo, m->first, &at);
}

/* Stored elements need @p extent rows or columns to lie in. */
static bool has_room(tg_ctx *cx, const tg_node *call, const sparse *m, int64_t extent)
{
    return extent > 0 || call->kid[m->first]->type->dim[0] == 0 ||
           tg_arg_error(cx, call, m->first, "an empty matrix cannot have elements") != NULL;
}

/* ---- sparse_dense: dense rows times sparse rows ---- */

const tg_type *tg_type_sparse_dense(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 2);
    sparse m;
    if (x == NULL || !read_sparse(cx, call, 1, true, &m) || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    bool lhs = tg_attr_bool(cx, op, call, "sparse_lhs");
    int64_t dim[2] = { lhs ? m.rows : x->dim[0], lhs ? x->dim[0] : m.rows };
    if (x->dim[1] % m.bc != 0)
        return tg_arg_error(cx, call, 0, "%lld columns do not divide into blocks of %lld", (long long)x->dim[1],
                            (long long)m.bc);
    if (!has_room(cx, call, &m, x->dim[1])) return NULL;
    return tg_tensor_of(cx, call, x->dtype, 2, dim);
}

bool tg_lower_sparse_dense(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    sparse m;
    if (!read_sparse(cx, call, 1, true, &m)) return false;
    bool lhs = tg_attr_bool(cx, op, call, "sparse_lhs");
    DLDataType d = tg_compute_dtype(lo->out[0]->dtype);
    tg_at to;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    tg_expr row = to.ix[lhs ? 0 : 1], dense = to.ix[lhs ? 1 : 0], zero = tg_ix(lo, 0);
    const tg_buffer *acc = tg_block_local(b, "acc", d, 1);
    tg_script *s = tg_script_new(lo);
    tg_s_store(s, acc, tg_const(cx, d, 0), zero);
    tg_expr e = tg_s_let(s, "element", each_element(lo, s, &m, tg_floordivi(cx, row, m.br)));
    tg_expr block = tg_s_let(s, "block", integer_at(lo, m.first + 1, e, tg_extent(lo->in[0], 1) / m.bc - 1));
    tg_expr j = m.bc == 1 ? zero : tg_s_for(s, "j", zero, tg_ix(lo, m.bc));
    tg_at x = { 2, { dense, tg_add(cx, tg_muli(cx, block, m.bc), j) } };
    tg_expr v = value_at(lo, &m, e, tg_floormodi(cx, row, m.br), j);
    tg_s_store(s, acc, tg_add(cx, tg_get(lo, acc, 0), tg_mul(cx, v, tg_in(lo, 0, &x))), zero);
    for (int k = 0; k < (m.bc == 1 ? 1 : 2); ++k) tg_s_end(s);
    tg_s_put(s, lo->out[0], tg_get(lo, acc, 0), &to);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- sparse_add: dense + CSR ---- */

const tg_type *tg_type_sparse_add(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 2);
    sparse m;
    if (x == NULL || !read_sparse(cx, call, 1, false, &m) || !tg_same_dtype(cx, call, 0, 1) ||
        !has_room(cx, call, &m, x->dim[1]))
        return NULL;
    return m.rows == x->dim[0] ? x
                               : tg_arg_error(cx, call, 3, "%lld sparse rows do not fit the data", (long long)m.rows);
}

bool tg_lower_sparse_add(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    tg_ctx *cx = lo->cx;
    sparse m;
    if (!read_sparse(cx, call, 1, false, &m)) return false;
    tg_copy_block(lo, NULL, lo->in[0], lo->out[0]);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr i = tg_spatial(b, "i", tg_extent(lo->out[0], 0));
    tg_script *s = tg_script_new(lo);
    tg_expr e = tg_s_let(s, "element", each_element(lo, s, &m, i)),
            j = tg_s_let(s, "j", integer_at(lo, 2, e, tg_extent(lo->out[0], 1) - 1));
    tg_at to = { 2, { i, j } };
    tg_s_put(s, lo->out[0], tg_add(cx, tg_read(lo, lo->out[0], &to), value_at(lo, &m, e, NULL, NULL)), &to);
    tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- sparse_transpose: CSR of a square matrix to CSR of its transpose ---- */

const tg_type *tg_type_sparse_transpose(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    sparse m;
    if (!read_sparse(cx, call, 0, false, &m) || !has_room(cx, call, &m, m.rows)) return NULL;
    const tg_type *field[3] = { call->kid[0]->type, call->kid[1]->type, call->kid[2]->type };
    return tg_tuple_type(cx, 3, field);
}

/* Counts per column, their running sum, then the elements row by row: each column comes out in row order. */
bool tg_lower_sparse_transpose(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    tg_ctx *cx = lo->cx;
    sparse m;
    if (!read_sparse(cx, call, 0, false, &m)) return false;
    tg_block_build *b = tg_begin(lo, NULL);
    const tg_buffer *next = tg_block_local(b, "next", lo->index, m.rows + 1);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), n = tg_ix(lo, m.rows), i = tg_s_for(s, "i", zero, tg_ix(lo, m.rows + 1));
    tg_s_store(s, next, zero, i);
    tg_s_end(s);
    tg_expr e = tg_s_for(s, "e", zero, tg_ix(lo, tg_extent(lo->in[1], 0)));
    tg_at column = { 1, { tg_s_let(s, "column", integer_at(lo, 1, e, m.rows - 1)) } },
          after = { 1, { tg_addi(cx, column.ix[0], 1) } };
    tg_s_store(s, next, tg_addi(cx, tg_read(lo, next, &after), 1), after.ix[0]);
    tg_s_end(s);
    i = tg_s_for(s, "i", zero, n);
    tg_at here = { 1, { i } };
    after.ix[0] = tg_addi(cx, i, 1);
    tg_s_put(s, lo->out[2], tg_read(lo, next, &here), &here);
    tg_s_store(s, next, tg_add(cx, tg_read(lo, next, &after), tg_read(lo, next, &here)), after.ix[0]);
    tg_s_end(s);
    here.ix[0] = n;
    tg_s_put(s, lo->out[2], tg_read(lo, next, &here), &here);
    tg_expr row = tg_s_for(s, "row", zero, n); /* next[c]: where the next element of column c goes */
    e = tg_s_let(s, "element", each_element(lo, s, &m, row));
    column.ix[0] = tg_s_let(s, "column", integer_at(lo, 1, e, m.rows - 1));
    here.ix[0] = tg_s_let(s, "to", tg_read(lo, next, &column));
    tg_s_if(s, tg_lt(cx, here.ix[0], tg_ix(lo, tg_extent(lo->out[0], 0))));
    tg_s_put(s, lo->out[0], value_at(lo, &m, e, NULL, NULL), &here);
    tg_s_put(s, lo->out[1], row, &here);
    tg_s_store(s, next, tg_addi(cx, here.ix[0], 1), column.ix[0]);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- sparse_conv2d: BSR weights, 1x1 or 3x3 without padding ---- */

typedef struct sparse_conv {
    sparse m;
    int64_t k;
    bool last;
} sparse_conv;

static bool read_sparse_conv(tg_ctx *cx, const tg_op *op, const tg_node *call, sparse_conv *c)
{
    int64_t size[2];
    const char *layout = tg_attr_str(cx, op, call, "layout");
    int n = tg_attr_ints(cx, op, call, "kernel_size", size, 2);
    if (n < 0 || !read_sparse(cx, call, 1, true, &c->m)) return false;
    if (n != 2 || size[0] != size[1] || (size[0] != 1 && size[0] != 3))
        return tg_op_error(cx, call, "kernel_size must be [1, 1] or [3, 3]") != NULL;
    c->k = size[0];
    c->last = strcmp(layout, "NHWC") == 0;
    return c->last || strcmp(layout, "NCHW") == 0 ||
           tg_op_error(cx, call, "layout \"%s\" is not NHWC or NCHW", layout) != NULL;
}

const tg_type *tg_type_sparse_conv2d(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4);
    sparse_conv c;
    if (x == NULL || !read_sparse_conv(cx, op, call, &c) || !tg_same_dtype(cx, call, 0, 1)) return NULL;
    int64_t columns = c.k * c.k * x->dim[c.last ? 3 : 1];
    if (columns % c.m.bc != 0 || columns == 0)
        return tg_arg_error(cx, call, 0, "%lld columns do not divide into blocks of %lld", (long long)columns,
                            (long long)c.m.bc);
    int64_t h = x->dim[c.last ? 1 : 2] - c.k + 1, w = x->dim[c.last ? 2 : 3] - c.k + 1;
    int64_t nhwc[4] = { x->dim[0], h, w, c.m.rows }, nchw[4] = { x->dim[0], c.m.rows, h, w };
    return tg_tensor_of(cx, call, x->dtype, 4, c.last ? nhwc : nchw);
}

bool tg_lower_sparse_conv2d(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    sparse_conv c;
    if (!read_sparse_conv(cx, op, call, &c)) return false;
    uint32_t ch = c.last ? 3 : 1, h = c.last ? 1 : 2, w = c.last ? 2 : 3;
    int64_t channels = tg_extent(lo->in[0], ch);
    DLDataType d = tg_compute_dtype(lo->out[0]->dtype);
    tg_at to, from;
    tg_block_build *b = tg_begin_over(lo, NULL, lo->out[0], &to);
    const tg_buffer *acc = tg_block_local(b, "acc", d, 1);
    tg_script *s = tg_script_new(lo);
    tg_expr zero = tg_ix(lo, 0), row = to.ix[ch];
    tg_s_store(s, acc, tg_const(cx, d, 0), zero);
    tg_expr e = tg_s_let(s, "element", each_element(lo, s, &c.m, tg_floordivi(cx, row, c.m.br)));
    int64_t columns = c.k * c.k * channels;
    tg_expr block = tg_s_let(s, "block", integer_at(lo, c.m.first + 1, e, columns / c.m.bc - 1)),
            j = tg_s_for(s, "j", zero, tg_ix(lo, c.m.bc));
    tg_expr column = tg_s_let(s, "column", tg_add(cx, tg_muli(cx, block, c.m.bc), j)); /* (ky, kx, channel) */
    int64_t per_tap = channels > 0 ? channels : 1;
    tg_expr tap = tg_floordivi(cx, column, per_tap);
    from = to;
    from.ix[ch] = tg_floormodi(cx, column, per_tap);
    from.ix[h] = tg_add(cx, to.ix[h], tg_floordivi(cx, tap, c.k));
    from.ix[w] = tg_add(cx, to.ix[w], tg_floormodi(cx, tap, c.k));
    tg_expr v = value_at(lo, &c.m, e, tg_floormodi(cx, row, c.m.br), j);
    tg_s_store(s, acc, tg_add(cx, tg_get(lo, acc, 0), tg_mul(cx, v, tg_in(lo, 0, &from))), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_put(s, lo->out[0], tg_get(lo, acc, 0), &to);
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- sparse_reshape: coordinates under another shape, one of whose extents may be -1 ---- */

const tg_type *tg_type_sparse_reshape(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *i = tg_arg_of_rank(cx, call, 0, 2), *from = tg_arg_of_rank(cx, call, 1, 1),
                  *to = tg_arg_of_rank(cx, call, 2, 1);
    if (i == NULL || from == NULL || to == NULL) return NULL;
    for (uint32_t k = 0; k < 3; ++k)
        if (!tg_want_int(cx, call, k)) return NULL;
    if (i->dim[1] != from->dim[0]) return tg_arg_error(cx, call, 1, "the shape does not fit the indices");
    int64_t dim[2] = { i->dim[0], to->dim[0] };
    const tg_type *field[2] = { tg_tensor_of(cx, call, i->dtype, 2, dim), to };
    return tg_tuple_type(cx, 2, field);
}

bool tg_lower_sparse_reshape(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    (void)call;
    tg_ctx *cx = lo->cx;
    int64_t n = tg_extent(lo->in[1], 0), m = tg_extent(lo->in[2], 0);
    tg_block_build *b = tg_begin(lo, NULL);
    const tg_buffer *size = tg_block_local(b, "size", TG_INT64, 3); /* elements, product of the given extents, rest */
    tg_script *s = tg_script_new(lo);
    tg_expr one = tg_int(cx, TG_INT64, 1), zero = tg_int(cx, TG_INT64, 0);
    tg_s_store(s, size, one, tg_ix(lo, 0));
    tg_s_store(s, size, one, tg_ix(lo, 1));
    for (int which = 0; which < 2; ++which) {
        tg_expr k = tg_s_for(s, "k", tg_ix(lo, 0), tg_ix(lo, which == 0 ? n : m));
        tg_at at = { 1, { k } };
        tg_expr e = tg_s_let(s, "extent", tg_to(cx, TG_INT64, tg_in(lo, (uint32_t)which + 1, &at)));
        tg_s_if(s, tg_ne(cx, e, tg_int(cx, TG_INT64, -1)));
        tg_s_store(s, size, tg_mul(cx, tg_get(lo, size, which), e), tg_ix(lo, which));
        tg_s_end(s);
        tg_s_end(s);
    }
    tg_expr k = tg_s_for(s, "k", tg_ix(lo, 0), tg_ix(lo, m));
    tg_at at = { 1, { k } };
    tg_expr e = tg_s_let(s, "extent", tg_to(cx, TG_INT64, tg_in(lo, 2, &at)));
    tg_expr given = tg_max(cx, tg_get(lo, size, 1), one);
    tg_s_put(s, lo->out[1],
             tg_choose(cx, tg_eq(cx, e, tg_int(cx, TG_INT64, -1)), tg_div(cx, tg_get(lo, size, 0), given), e), &at);
    tg_s_end(s);
    tg_expr row = tg_s_for(s, "row", tg_ix(lo, 0), tg_ix(lo, tg_extent(lo->in[0], 0))), rest = tg_ix(lo, 2);
    tg_s_store(s, size, zero, rest);
    k = tg_s_for(s, "k", tg_ix(lo, 0), tg_ix(lo, n));
    tg_at from = { 2, { row, k } }, extent = { 1, { k } };
    tg_expr flat = tg_mul(cx, tg_get(lo, size, 2), tg_to(cx, TG_INT64, tg_in(lo, 1, &extent)));
    tg_s_store(s, size, tg_add(cx, flat, tg_to(cx, TG_INT64, tg_in(lo, 0, &from))), rest);
    tg_s_end(s);
    k = tg_s_for(s, "k", tg_ix(lo, 0), tg_ix(lo, m)); /* from the last coordinate to the first */
    tg_expr back = tg_s_let(s, "axis", tg_sub(cx, tg_ix(lo, m - 1), k));
    tg_at to = { 2, { row, back } }, last = { 1, { back } };
    e = tg_s_let(s, "extent", tg_max(cx, tg_to(cx, TG_INT64, tg_read(lo, lo->out[1], &last)), one));
    tg_s_put(s, lo->out[0], tg_floormod(cx, tg_get(lo, size, 2), e), &to);
    tg_s_store(s, size, tg_floordiv(cx, tg_get(lo, size, 2), e), rest);
    tg_s_end(s);
    tg_s_end(s);
    tg_end_body(b, tg_script_done(s));
    return true;
}
