/* linear.c: products of matrices: dense, matmul, batch_matmul and the packed dense. */
#include "build.h"
#include "qnn.h"

#include <string.h>

/* The result's element type; operands of different types need out_dtype. False after an error. */
static bool read_result(tg_ctx *cx, const tg_op *op, const tg_node *call, DLDataType *d)
{
    bool given = tg_attr_str(cx, op, call, "out_dtype")[0] != '\0';
    *d = tg_attr_dtype(cx, op, call, "out_dtype", call->kid[0]->type->dtype);
    if (!given && !tg_same_dtype(cx, call, 0, 1)) return false;
    return !tg_is_bool(*d) || tg_op_error(cx, call, "a product of bool is not possible") != NULL;
}

static const tg_type *lengths_differ(tg_ctx *cx, const tg_node *call, int64_t a, int64_t b)
{
    return tg_arg_error(cx, call, 1, "%lld columns cannot be multiplied with %lld rows", (long long)a, (long long)b);
}

static bool check_units(tg_ctx *cx, const tg_op *op, const tg_node *call, int64_t units)
{
    int64_t said = tg_attr_int(cx, op, call, "units");
    return tg_attr_is_none(cx, op, call, "units") || said == units ||
           tg_arg_error(cx, call, 1, "units is %lld, the weight has %lld", (long long)said, (long long)units) != NULL;
}

/* ---- products over the last axis: dense and matmul ---- */

/* Which of the last two axes of an operand is summed over. nn.dense is matmul(x, wᵀ), and so is the quantised product of batches,
 * whatever its attributes say: TVM has it in no other form. */
static void transposes(tg_ctx *cx, const tg_op *op, const tg_node *call, bool *a, bool *b)
{
    static const char *const fixed[] = { "nn.dense", "qnn.dense", "qnn.batch_matmul" };
    bool turned = false;
    for (size_t i = 0; i < TG_COUNT(fixed); ++i) turned = turned || strcmp(op->name, fixed[i]) == 0;
    *a = !turned && tg_attr_bool(cx, op, call, "transpose_a");
    *b = turned || tg_attr_bool(cx, op, call, "transpose_b");
}

const tg_type *tg_type_matmul(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *a = tg_arg_tensor(cx, call, 0), *b = tg_arg_of_rank(cx, call, 1, 2);
    DLDataType d;
    bool ta, tb;
    if (a == NULL || b == NULL || !read_result(cx, op, call, &d)) return NULL;
    transposes(cx, op, call, &ta, &tb);
    if (a->n < (ta ? 2u : 1u))
        return tg_arg_error(cx, call, 0, "the data has %u dimensions, at least %d are needed", a->n, ta ? 2 : 1);
    int64_t k = a->dim[a->n - (ta ? 2 : 1)], dim[TG_MAX_NDIM];
    if (k != b->dim[tb ? 1 : 0]) return lengths_differ(cx, call, k, b->dim[tb ? 1 : 0]);
    if (!check_units(cx, op, call, b->dim[tb ? 0 : 1])) return NULL;
    memcpy(dim, a->dim, a->n * sizeof dim[0]);
    if (ta) dim[a->n - 2] = a->dim[a->n - 1];
    dim[a->n - 1] = b->dim[tb ? 0 : 1];
    return tg_tensor_of(cx, call, d, a->n, dim);
}

/* Elements of both operands multiplied, without their zero points if they are codes. */
static tg_expr product(tg_lower *lo, DLDataType d, const tg_at *a, const tg_at *b, tg_expr unit)
{
    return tg_mul(lo->cx, tg_qnn_centered(lo, d, 0, tg_in(lo, 0, a), unit), tg_qnn_centered(lo, d, 1, tg_in(lo, 1, b), unit));
}

bool tg_lower_matmul(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    DLDataType d = acc->dtype;
    tg_at to, a, b = { .n = 2 };
    bool ta, tb;
    transposes(cx, op, call, &ta, &tb);
    tg_block_build *block = tg_begin_over(lo, NULL, acc, &to);
    uint32_t last = to.n - 1;
    tg_expr k = tg_reduce(block, "k", tg_extent(lo->in[1], tb ? 1 : 0));
    a = to;
    a.ix[last] = ta ? to.ix[last - 1] : k;
    if (ta) a.ix[last - 1] = k;
    b.ix[tb ? 0 : 1] = to.ix[last];
    b.ix[tb ? 1 : 0] = k;
    tg_begin_init(block, tg_const(cx, d, 0));
    tg_put(
        block, acc,
        tg_add(cx, tg_read(lo, acc, &to), product(lo, d, &a, &b, to.ix[last])),
        &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* ---- batches ---- */

const tg_type *tg_type_batch_matmul(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *a = tg_arg_of_rank(cx, call, 0, 3), *b = tg_arg_of_rank(cx, call, 1, 3);
    DLDataType d;
    if (a == NULL || b == NULL || !read_result(cx, op, call, &d)) return NULL;
    bool ta, tb;
    transposes(cx, op, call, &ta, &tb);
    if (a->dim[0] != b->dim[0] && a->dim[0] != 1 && b->dim[0] != 1)
        return tg_arg_error(cx, call, 1, "batches of %lld and %lld do not fit together", (long long)a->dim[0],
                            (long long)b->dim[0]);
    if (a->dim[ta ? 1 : 2] != b->dim[tb ? 2 : 1])
        return lengths_differ(cx, call, a->dim[ta ? 1 : 2], b->dim[tb ? 2 : 1]);
    int64_t dim[3] = { a->dim[0] == 1 ? b->dim[0] : a->dim[0], a->dim[ta ? 2 : 1], b->dim[tb ? 1 : 2] };
    return tg_tensor_of(cx, call, d, 3, dim);
}

bool tg_lower_batch_matmul(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    DLDataType d = acc->dtype;
    bool ta, tb;
    transposes(cx, op, call, &ta, &tb);
    tg_block_build *block = tg_begin(lo, NULL);
    tg_at to = { .n = 3 }, a = { .n = 3 }, b = { .n = 3 };
    to.ix[0] = tg_spatial(block, "b", tg_extent(acc, 0));
    to.ix[1] = tg_spatial(block, "i", tg_extent(acc, 1));
    to.ix[2] = tg_spatial(block, "j", tg_extent(acc, 2));
    tg_expr k = tg_reduce(block, "k", tg_extent(lo->in[0], ta ? 1 : 2));
    a.ix[0] = tg_extent(lo->in[0], 0) == 1 ? tg_ix(lo, 0) : to.ix[0];
    a.ix[ta ? 2 : 1] = to.ix[1];
    a.ix[ta ? 1 : 2] = k;
    b.ix[0] = tg_extent(lo->in[1], 0) == 1 ? tg_ix(lo, 0) : to.ix[0];
    b.ix[tb ? 1 : 2] = to.ix[2];
    b.ix[tb ? 2 : 1] = k;
    tg_begin_init(block, tg_const(cx, d, 0));
    tg_put(
        block, acc,
        tg_add(cx, tg_read(lo, acc, &to), product(lo, d, &a, &b, to.ix[2])),
        &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}

/* ---- dense with a packed weight: (units/b, K, b) in layout "NK8n" or as the shape says ---- */

static bool packed_layout(tg_ctx *cx, const tg_op *op, const tg_node *call, tg_layout *l)
{
    const char *text = tg_attr_str(cx, op, call, "weight_layout");
    if (strchr(text, 'N') != NULL && text[1] != '\0' && strpbrk(text, "0123456789") != NULL)
        return tg_layout_parse(cx, call, text, l);
    const tg_type *w = tg_arg_of_rank(cx, call, 1, 3); /* "NC": the shape alone tells the block */
    if (w == NULL) return false;
    return tg_layout_parse(cx, call, tg_format(cx, "NC%lldn", (long long)w->dim[2]), l);
}

const tg_type *tg_type_dense_pack(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_tensor(cx, call, 0), *w = tg_arg_tensor(cx, call, 1);
    tg_layout l;
    DLDataType d;
    if (x == NULL || w == NULL || !packed_layout(cx, op, call, &l) || !read_result(cx, op, call, &d)) return NULL;
    if (x->n < 1 || l.n != w->n || tg_layout_find(&l, 'N') < 0 || tg_layout_find(&l, 'C') < 0)
        return tg_arg_error(cx, call, 1, "weight_layout does not fit the weight");
    int64_t k = tg_layout_extent(&l, w->dim, 'C'), units = tg_layout_extent(&l, w->dim, 'N'), dim[TG_MAX_NDIM];
    if (x->dim[x->n - 1] != k) return lengths_differ(cx, call, x->dim[x->n - 1], k);
    if (!check_units(cx, op, call, units)) return NULL;
    memcpy(dim, x->dim, x->n * sizeof dim[0]);
    dim[x->n - 1] = units;
    return tg_tensor_of(cx, call, d, x->n, dim);
}

bool tg_lower_dense_pack(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    tg_layout l;
    if (!packed_layout(cx, op, call, &l)) return false;
    const tg_buffer *acc = tg_accumulator(lo, tg_op_short(op->name), lo->out[0]);
    DLDataType d = acc->dtype;
    tg_at to, a, w;
    tg_block_build *block = tg_begin_over(lo, NULL, acc, &to);
    tg_expr k = tg_reduce(block, "k", tg_extent(lo->in[0], to.n - 1)), primary[26] = { NULL };
    a = to;
    a.ix[to.n - 1] = k;
    primary['N' - 'A'] = to.ix[to.n - 1];
    primary['C' - 'A'] = k;
    tg_layout_index(cx, &l, primary, &w);
    tg_begin_init(block, tg_const(cx, d, 0));
    tg_put(
        block, acc,
        tg_add(cx, tg_read(lo, acc, &to), product(lo, d, &a, &w, to.ix[to.n - 1])),
        &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}
