/* pack_dot.c: products of bytes with constant weights get the weights in groups of four along the reduction
 * (ops/dot.c), the form that byte dot products of many machines read, and that costs others nothing.
 * Needs: types, channels last.  Keeps: every value; parameters and results of functions.
 *
 * Where input channels do not come in fours, a row of the window does the same: the channels of its columns lie one
 * behind the other, so to speak columns of one channel. The row is filled up to fours with weights of zero, and so are the
 * data where the last window would end behind them; all of that may add a 25th to the weights of the model, and what
 * would add more stays. Padding becomes nn.pad, one with a pad that stands before already. */
#include "passes.h"
#include "rebind.h"
#include "ir/walk.h"
#include "ops/ops.h"

#include <string.h>

enum { GROUP = 4, SPARE = 25 };

/* How much larger weights may still become, in bytes. */
typedef struct packing {
    int64_t spare;
} packing;

static bool is_byte(const tg_type *t)
{
    return t != NULL && t->kind == TG_T_TENSOR && t->dtype.bits == 8 && t->dtype.lanes == 1;
}

/* Data of bytes, constant weights of int8, sums in int32. */
static bool is_candidate(const tg_node *v)
{
    if (v->nkids != 2 || v->type == NULL || v->type->kind != TG_T_TENSOR || !tg_dtype_eq(v->type->dtype, TG_INT32))
        return false;
    return is_byte(v->kid[0]->type) && v->kid[1]->kind == TG_RCONST && tg_dtype_eq(v->kid[1]->type->dtype, TG_INT8);
}

static const tg_node *constant(tg_rebind *r, const tg_node *from, tg_tensor *t)
{
    t->label = from->u.tensor->label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), from->span);
}

/* ---- convolutions ---- */

typedef struct conv {
    const tg_node *call, *data, *weight;
    int64_t stride[2], dilation[2], before[2], after[2];
    int64_t rows, columns, in, out; /* of the kernel [rows][columns][in][out] */
    bool by_rows;                   /* channels of a row of the window as columns of one channel */
    int64_t wide;                   /* bytes of a row of the kernel: columns and channels, in fours */
} conv;

static bool read_pair(tg_rebind *r, const tg_node *v, const char *key, int64_t *out)
{
    int n = tg_attr_ints(r->cx, tg_op_find(r->cx, v->u.call->op), v, key, out, 2);
    if (n == 1) out[1] = out[0];
    return n == 1 || n == 2;
}

static bool read_conv(tg_rebind *r, const tg_node *v, conv *c)
{
    tg_ctx *cx = r->cx;
    int64_t p[4];
    const tg_op *op = tg_op_find(cx, v->u.call->op);
    const char *out = tg_attr_str(cx, op, v, "out_layout");
    *c = (conv){ .call = v, .data = v->kid[0], .weight = v->kid[1] };
    if (strcmp(tg_attr_str(cx, op, v, "data_layout"), "NHWC") != 0 ||
        strcmp(tg_attr_str(cx, op, v, "kernel_layout"), "HWIO") != 0 || (out[0] != '\0' && strcmp(out, "NHWC") != 0) ||
        tg_attr_int(cx, op, v, "groups") != 1 || !read_pair(r, v, "strides", c->stride) ||
        !read_pair(r, v, "dilation", c->dilation))
        return false;
    int n = tg_attr_ints(cx, op, v, "padding", p, 4);
    for (int i = 0; i < 2; ++i) {
        c->before[i] = n == 1 ? p[0] : p[i];
        c->after[i] = n == 4 ? p[2 + i] : c->before[i];
    }
    const int64_t *dim = c->weight->type->dim;
    c->rows = dim[0];
    c->columns = dim[1];
    c->in = dim[2];
    c->out = dim[3];
    c->wide = (c->columns * c->in + GROUP - 1) / GROUP * GROUP;
    c->by_rows = c->in % GROUP != 0;
    return (n == 1 || n == 2 || n == 4) && (c->columns == 1 || c->dilation[1] == 1) && c->in > 0 && c->out > 1;
}

/* A pad of rows and columns before the convolution that nobody else uses: taken into *pad. */
static bool merge_pad(tg_rebind *r, const conv *c, const tg_node **data, const tg_node **fill, int64_t pad[2][2])
{
    const tg_node *of = tg_rebind_value(r, c->data);
    const tg_value *width = tg_is_op_call(of, "nn.pad") ? tg_v_get(of->u.call->attrs, "pad_width") : NULL;
    int64_t all[4][2];
    if (width == NULL || of->nkids != 2 || width->n != 4 || tg_rebind_uses(r, c->data) != 1 ||
        tg_v_get(of->u.call->attrs, "pad_mode") != NULL)
        return false;
    for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t i = 0; i < 2; ++i) all[k][i] = width->item[k]->item[i]->i;
    if ((all[0][0] | all[0][1] | all[3][0] | all[3][1]) != 0) return false;
    memcpy(pad, all + 1, 2 * sizeof all[0]);
    *data = of->kid[0];
    *fill = of->kid[1];
    return true;
}

static const tg_node *reshaped(tg_rebind *r, const tg_node *data, const int64_t dim[4])
{
    const tg_value *attrs = tg_v_with(r->cx, NULL, "newshape", tg_v_ints(r->cx, 4, dim));
    const tg_node *call = tg_rebind_call(r, "reshape", attrs, 1, &data);
    return call != NULL ? tg_rebind_let(r, call) : NULL;
}

/* The data with what is around it; by rows: each row as columns of one channel, with what the last window needs. */
static const tg_node *padded(tg_rebind *r, const conv *c)
{
    tg_ctx *cx = r->cx;
    int64_t pad[2][2] = { { c->before[0], c->after[0] }, { c->before[1], c->after[1] } }, unit = 1, extra = 0;
    bool borders = (pad[0][0] | pad[0][1] | pad[1][0] | pad[1][1]) != 0;
    const tg_node *data = c->data, *fill = tg_rconst(cx, tg_tensor_scalar_int(cx, data->type->dtype, 0));
    bool merged = c->by_rows && !borders && merge_pad(r, c, &data, &fill, pad);
    if (c->by_rows) {
        const int64_t *dim = data->type->dim;
        unit = c->in;
        extra = (c->call->type->dim[2] - 1) * c->stride[1] * unit + c->wide - (pad[1][0] + dim[2] + pad[1][1]) * unit;
        extra = extra > 0 ? extra : 0;
        if (unit > 1) data = reshaped(r, data, (int64_t[]){ dim[0], dim[1], dim[2] * unit, 1 });
    }
    if (data == NULL || (!borders && !merged && extra == 0)) return data;
    int64_t all[4][2] = { { 0, 0 }, { pad[0][0], pad[0][1] }, { pad[1][0] * unit, pad[1][1] * unit + extra }, { 0, 0 } };
    const tg_value *item[4];
    for (uint32_t k = 0; k < 4; ++k) item[k] = tg_v_ints(cx, 2, all[k]);
    const tg_value *attrs = tg_v_with(cx, NULL, "pad_width", tg_v_list(cx, 4, item));
    const tg_node *call = tg_rebind_call(r, "nn.pad", attrs, 2, (const tg_node *[]){ data, fill });
    return call != NULL ? tg_rebind_let(r, call) : NULL;
}

/* [rows][columns][in][out] to [rows][columns][in / 4][out][4], or by rows to [rows][wide / 4][1][out][4]. */
static const tg_node *packed_kernel(tg_rebind *r, const conv *c)
{
    int64_t dim[5] = { c->rows, c->by_rows ? c->wide / GROUP : c->columns, c->by_rows ? 1 : c->in / GROUP, c->out, GROUP };
    tg_tensor *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, TG_INT8, 5, dim, 0), NULL);
    const int8_t *from = c->weight->u.tensor->dl.data;
    int8_t *to = t->dl.data;
    for (int64_t row = 0; row < c->rows; ++row) {
        for (int64_t k = 0; k < c->columns * c->in; ++k) {
            int64_t at = row * c->wide + k; /* along the reduction */
            for (int64_t o = 0; o < c->out; ++o)
                to[(at / GROUP * c->out + o) * GROUP + at % GROUP] = from[(row * c->columns * c->in + k) * c->out + o];
        }
    }
    return constant(r, c->weight, t);
}

static const tg_node *pack_conv(tg_rebind *r, const tg_node *v)
{
    conv c;
    packing *p = r->user;
    if (!read_conv(r, v, &c)) return v;
    int64_t more = c.rows * (c.wide - c.columns * c.in) * c.out, stride[2] = { c.stride[0], c.stride[1] };
    if (more > p->spare) return v;
    p->spare -= more;
    const tg_node *arg[2] = { padded(r, &c), packed_kernel(r, &c) };
    if (arg[0] == NULL) return NULL;
    if (c.by_rows) stride[1] *= c.in;
    const tg_value *attrs = tg_v_with(r->cx, NULL, "strides", tg_v_ints(r->cx, 2, stride));
    if (c.rows > 1 && c.dilation[0] > 1) attrs = tg_v_with(r->cx, attrs, "dilation", tg_v_int(r->cx, c.dilation[0]));
    return tg_rebind_call(r, "nn.dot_conv2d", attrs, 2, arg);
}

/* ---- dense ---- */

static const tg_node *pack_dense(tg_rebind *r, const tg_node *v)
{
    const tg_type *w = v->kid[1]->type;
    if (w->n != 2 || w->dim[1] % GROUP != 0 || w->dim[1] == 0 || w->dim[0] < 2) return v;
    int64_t units = w->dim[0], inputs = w->dim[1], dim[3] = { inputs / GROUP, units, GROUP };
    tg_tensor *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, TG_INT8, 3, dim, 0), NULL);
    const int8_t *from = v->kid[1]->u.tensor->dl.data;
    int8_t *to = t->dl.data;
    for (int64_t n = 0; n < units; ++n)
        for (int64_t k = 0; k < inputs; ++k) to[(k / GROUP * units + n) * GROUP + k % GROUP] = from[n * inputs + k];
    const tg_node *arg[2] = { v->kid[0], constant(r, v->kid[1], t) };
    return tg_rebind_call(r, "nn.dot_dense", NULL, 2, arg);
}

/* ---- the pass ---- */

static const tg_node *pack(tg_rebind *r, const tg_var *var, const tg_node *v)
{
    (void)var;
    if (v->kind != TG_RCALL || v->u.call->op == NULL || !is_candidate(v)) return v;
    if (tg_is_op_call(v, "nn.conv2d")) return pack_conv(r, v);
    return tg_is_op_call(v, "nn.dense") ? pack_dense(r, v) : v;
}

static bool count_weights(tg_ctx *cx, const tg_node *n, void *user)
{
    packing *p = user;
    int64_t elements;
    (void)cx;
    if (n->kind == TG_RCONST && tg_dtype_eq(n->type->dtype, TG_INT8) && n->type->n >= 2 && tg_type_elements(n->type, &elements))
        p->spare += elements;
    return true;
}

bool tg_pass_pack_dot(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    packing p = { 0 };
    tg_rebind r = { .cx = cx, .m = m, .fn = pack, .user = &p };
    if (opt->keep_layout) return true;
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (m->funcs.at[i]->kind == TG_FUNC_RELAY) tg_visit(cx, m->funcs.at[i]->body, count_weights, &p);
    p.spare /= SPARE;
    return tg_rebind_module(&r);
}
