/* bits.c: operands of a few bits: packing bit planes, products of low-bit activations and weights. */
#include "bits.h"

#include <string.h>

bool tg_bits_read(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, tg_bits *out)
{
    *out = (tg_bits){ tg_attr_int(cx, op, call, name), tg_attr_int(cx, op, call, "weight_bits"),
                      tg_attr_bool(cx, op, call, "unipolar") };
    if (out->activation < 1 || out->activation > 16 || out->weight < 1 || out->weight > 16)
        return tg_op_error(cx, call, "operands of %lld and %lld bits are not possible", (long long)out->activation,
                           (long long)out->weight) != NULL;
    return true;
}

static tg_expr low_bits(tg_ctx *cx, tg_expr x, int64_t bits)
{
    return tg_call2(cx, "bitwise_and", x, tg_num(cx, x, (double)(((int64_t)1 << bits) - 1)));
}

tg_expr tg_bits_activation(tg_ctx *cx, const tg_bits *b, tg_expr x)
{
    return low_bits(cx, x, b->activation);
}

/* Each weight bit counts 2^b, or ±2^b: 2w - (2^bits - 1). */
tg_expr tg_bits_weight(tg_ctx *cx, const tg_bits *b, tg_expr w)
{
    tg_expr low = low_bits(cx, w, b->weight);
    return b->unipolar ? tg_addi(cx, tg_muli(cx, low, 2), -(((int64_t)1 << b->weight) - 1)) : low;
}

/* ---- nn.bitserial_dense ---- */

const tg_type *tg_type_bitserial_dense(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 2), *w = tg_arg_of_rank(cx, call, 1, 2);
    tg_bits bits;
    if (x == NULL || w == NULL || !tg_want_int(cx, call, 0) || !tg_want_int(cx, call, 1) ||
        !tg_bits_read(cx, op, call, "data_bits", &bits))
        return NULL;
    if (x->dim[1] != w->dim[1])
        return tg_arg_error(cx, call, 1, "%lld columns cannot be multiplied with %lld rows", (long long)x->dim[1],
                            (long long)w->dim[1]);
    int64_t dim[2] = { x->dim[0], w->dim[0] };
    return tg_tensor_of(cx, call, tg_attr_dtype(cx, op, call, "out_dtype", x->dtype), 2, dim);
}

bool tg_lower_bitserial_dense(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *out = lo->out[0];
    tg_bits bits;
    tg_at to;
    if (!tg_bits_read(cx, op, call, "data_bits", &bits)) return false;
    tg_block_build *b = tg_begin_over(lo, NULL, out, &to);
    tg_expr k = tg_reduce(b, "k", tg_extent(lo->in[0], 1));
    tg_at x = { 2, { to.ix[0], k } }, w = { 2, { to.ix[1], k } };
    tg_expr a = tg_bits_activation(cx, &bits, tg_to(cx, out->dtype, tg_in(lo, 0, &x)));
    tg_expr v = tg_bits_weight(cx, &bits, tg_to(cx, out->dtype, tg_in(lo, 1, &w)));
    tg_begin_init(b, tg_const(cx, out->dtype, 0));
    tg_put(b, out, tg_add(cx, tg_read(lo, out, &to), tg_mul(cx, a, v)), &to);
    return true;
}

/* ---- nn.bitpack: bit planes of neighbours along pack_axis in one word, the first in its highest bit ---- */

typedef struct packing {
    int64_t bits, width;
    uint32_t pack, bit;
    DLDataType type;
} packing;

static bool read_packing(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, packing *p)
{
    int64_t bit = tg_attr_int(cx, op, call, "bit_axis");
    *p = (packing){ .bits = tg_attr_int(cx, op, call, "bits"),
                    .type = tg_attr_dtype(cx, op, call, "pack_type", tg_dtype(kDLUInt, 32, 1)) };
    if (!tg_attr_axis(cx, op, call, "pack_axis", t->n, &p->pack)) return false;
    p->width = p->type.bits;
    p->bit = (uint32_t)(bit < 0 ? (int64_t)t->n : bit);
    if (bit > (int64_t)t->n || p->bits < 1 || p->bits > 16 || p->type.code != kDLUInt || p->width < 8)
        return tg_op_error(cx, call, "bits, bit_axis or pack_type is not possible") != NULL;
    if (t->dim[p->pack] % p->width != 0)
        return tg_arg_error(cx, call, 0, "extent %lld does not divide into words of %lld bits",
                            (long long)t->dim[p->pack], (long long)p->width) != NULL;
    return true;
}

const tg_type *tg_type_bitpack(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = tg_arg_tensor(cx, call, 0);
    packing p;
    int64_t dim[TG_MAX_NDIM + 1];
    uint32_t n = 0;
    if (t == NULL || !tg_want_int(cx, call, 0) || !read_packing(cx, op, call, t, &p)) return NULL;
    for (uint32_t k = 0; k <= t->n; ++k) {
        if (k == p.bit) dim[n++] = p.bits;
        if (k < t->n) dim[n++] = k == p.pack ? t->dim[k] / p.width : t->dim[k];
    }
    return tg_tensor_of(cx, call, p.type, n, dim);
}

bool tg_lower_bitpack(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    packing p;
    tg_at to, from = { 0 };
    if (!read_packing(cx, op, call, call->kid[0]->type, &p)) return false;
    tg_block_build *b = tg_begin(lo, NULL);
    to.n = 0;
    for (uint32_t k = 0; k < lo->out[0]->ndim; ++k)
        tg_at_push(&to, tg_spatial(b, tg_axis_letter(k), tg_extent(lo->out[0], k)));
    tg_script *s = tg_script_new(lo);
    const tg_buffer *word = tg_block_local(b, "word", p.type, 1);
    tg_expr zero = tg_ix(lo, 0), one = tg_int(cx, p.type, 1);
    tg_s_store(s, word, tg_int(cx, p.type, 0), zero);
    tg_expr i = tg_s_for(s, "i", zero, tg_ix(lo, p.width));
    for (uint32_t k = 0; k < to.n; ++k)
        if (k != p.bit) tg_at_push(&from, to.ix[k]);
    from.ix[p.pack] = tg_add(cx, tg_muli(cx, from.ix[p.pack], p.width), i);
    tg_expr x = tg_to(cx, p.type, tg_in(lo, 0, &from));
    tg_expr bit = tg_call2(cx, "bitwise_and", tg_call2(cx, "shift_right", x, tg_to(cx, p.type, to.ix[p.bit])), one);
    tg_s_store(s, word, tg_call2(cx, "bitwise_or", tg_call2(cx, "shift_left", tg_get(lo, word, 0), one), bit), zero);
    tg_s_end(s);
    tg_s_put(s, lo->out[0], tg_get(lo, word, 0), &to);
    tg_end_body(b, tg_script_done(s));
    return true;
}
