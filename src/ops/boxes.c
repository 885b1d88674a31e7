/* boxes.c: single-shot detection: prior boxes, and predictions turned into boxes. */
#include "build.h"

#include <math.h>
#include <string.h>

enum { MAX_SHAPES = 64 };

/* ---- multibox_prior ---- */

typedef struct priors {
    double size[MAX_SHAPES], ratio[MAX_SHAPES], step[2], offset[2];
    int nsizes, nratios;
} priors;

static bool read_priors(tg_ctx *cx, const tg_op *op, const tg_node *call, priors *p)
{
    p->nsizes = tg_attr_floats(cx, op, call, "sizes", p->size, MAX_SHAPES);
    p->nratios = tg_attr_floats(cx, op, call, "ratios", p->ratio, MAX_SHAPES);
    int ns = tg_attr_floats(cx, op, call, "steps", p->step, 2),
        no = tg_attr_floats(cx, op, call, "offsets", p->offset, 2);
    if (p->nsizes < 0 || p->nratios < 0 || ns < 0 || no < 0) return false;
    return (p->nsizes > 0 && p->nratios > 0 && ns == 2 && no == 2) ||
           tg_op_error(cx, call, "sizes and ratios need values, steps and offsets two each") != NULL;
}

const tg_type *tg_type_multibox_prior(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *x = tg_arg_of_rank(cx, call, 0, 4);
    priors p;
    int64_t dim[3] = { 1, 0, 4 };
    if (x == NULL || !read_priors(cx, op, call, &p)) return NULL;
    if (!tg_mul_fits(x->dim[2], x->dim[3], &dim[1]) || !tg_mul_fits(dim[1], p.nsizes + p.nratios - 1, &dim[1]))
        return tg_op_error(cx, call, "the result is too large");
    return tg_tensor_of(cx, call, TG_FLOAT32, 3, dim);
}

bool tg_lower_multibox_prior(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    int64_t h = tg_extent(lo->in[0], 2), w = tg_extent(lo->in[0], 3);
    priors p;
    if (!read_priors(cx, op, call, &p)) return false;
    int shapes = p.nsizes + p.nratios - 1;
    bool clip = tg_attr_bool(cx, op, call, "clip");
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr i = tg_spatial(b, "i", h), j = tg_spatial(b, "j", w), centre[2];
    tg_script *s = tg_script_new(lo);
    for (int a = 0; a < 2; ++a) { /* y, x */
        float step = p.step[a] > 0 ? (float)p.step[a] : 1.0f / (float)(a == 0 ? h : w);
        tg_expr at = tg_add(cx, tg_to(cx, TG_FLOAT32, a == 0 ? i : j), tg_float(cx, TG_FLOAT32, p.offset[a]));
        centre[a] = tg_s_let(s, a == 0 ? "y" : "x", tg_mul(cx, at, tg_float(cx, TG_FLOAT32, step)));
    }
    tg_expr cell = tg_s_let(s, "first", tg_muli(cx, tg_add(cx, tg_muli(cx, i, w), j), shapes));
    for (int k = 0; k < shapes; ++k) {
        float size = (float)p.size[k < p.nsizes ? k : 0],
              ratio = k < p.nsizes ? 1.0f : sqrtf((float)p.ratio[k - p.nsizes + 1]);
        float half[2] = { size / ratio / 2, size * (float)h / (float)w * ratio / 2 };
        for (int c = 0; c < 4; ++c) { /* left, top, right, bottom */
            int a = c % 2 == 0 ? 1 : 0;
            tg_expr move = tg_float(cx, TG_FLOAT32, half[a]);
            tg_expr v = c < 2 ? tg_sub(cx, centre[a], move) : tg_add(cx, centre[a], move);
            if (clip) v = tg_max(cx, tg_min(cx, v, tg_num(cx, v, 1)), tg_num(cx, v, 0));
            tg_at to = { 3, { tg_ix(lo, 0), tg_addi(cx, cell, k), tg_ix(lo, c) } };
            tg_s_put(s, lo->out[0], v, &to);
        }
    }
    tg_end_body(b, tg_script_done(s));
    return true;
}

/* ---- multibox_transform_loc ---- */

const tg_type *tg_type_multibox_transform_loc(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    const tg_type *prob = tg_arg_of_rank(cx, call, 0, 3), *loc = tg_arg_of_rank(cx, call, 1, 2),
                  *anchor = tg_arg_of_rank(cx, call, 2, 3);
    if (prob == NULL || loc == NULL || anchor == NULL || !tg_want_float(cx, call, 0) ||
        !tg_same_dtype(cx, call, 0, 1) || !tg_same_dtype(cx, call, 0, 2))
        return NULL;
    int64_t n = prob->dim[2], dim[3] = { prob->dim[0], n, 6 };
    if (loc->dim[0] != prob->dim[0] || loc->dim[1] != 4 * n || anchor->dim[0] != 1 || anchor->dim[1] != n ||
        anchor->dim[2] != 4)
        return tg_arg_error(cx, call, 1,
                            "probabilities (B, C, N), locations (B, 4N) and anchors (1, N, 4) do not fit together");
    const tg_type *field[2] = { tg_tensor_of(cx, call, prob->dtype, 3, dim), tg_tensor_type(cx, TG_INT32, 1, dim, 0) };
    return tg_tuple_type(cx, 2, field);
}

/* The box of anchor j: centre and half size moved by the prediction. */
static void put_box(tg_lower *lo, tg_script *s, tg_expr i, tg_expr j, tg_expr row, const double *variance, bool clip)
{
    tg_ctx *cx = lo->cx;
    tg_expr side[4], centre[2], half[2];
    for (int64_t k = 0; k < 4; ++k) {
        tg_at a = { 3, { tg_ix(lo, 0), j, tg_ix(lo, k) } };
        side[k] = tg_s_let(s, "side", tg_in(lo, 2, &a));
    }
    for (int a = 0; a < 2; ++a) { /* x, y */
        tg_at at = { 2, { i, tg_addi(cx, tg_muli(cx, j, 4), a) } },
              size_at = { 2, { i, tg_addi(cx, tg_muli(cx, j, 4), a + 2) } };
        tg_expr size = tg_s_let(s, "size", tg_sub(cx, side[a + 2], side[a]));
        tg_expr old = tg_div(cx, tg_add(cx, side[a], side[a + 2]), tg_num(cx, size, 2));
        tg_expr shift = tg_mul(cx, tg_mul(cx, tg_in(lo, 1, &at), tg_num(cx, size, variance[a])), size);
        centre[a] = tg_s_let(s, "centre", tg_add(cx, shift, old));
        tg_expr grow = tg_call1(cx, "exp", tg_mul(cx, tg_in(lo, 1, &size_at), tg_num(cx, size, variance[a + 2])));
        half[a] = tg_s_let(s, "half", tg_div(cx, tg_mul(cx, grow, size), tg_num(cx, size, 2)));
    }
    for (int64_t k = 0; k < 4; ++k) {
        tg_expr v = k < 2 ? tg_sub(cx, centre[k], half[k]) : tg_add(cx, centre[k - 2], half[k - 2]);
        if (clip) v = tg_max(cx, tg_min(cx, v, tg_num(cx, v, 1)), tg_num(cx, v, 0));
        tg_at to = { 3, { i, row, tg_ix(lo, 2 + k) } };
        tg_s_put(s, lo->out[0], v, &to);
    }
}

bool tg_lower_multibox_transform_loc(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *prob = lo->in[0];
    double variance[4];
    if (tg_attr_floats(cx, op, call, "variances", variance, 4) != 4)
        return tg_op_error(cx, call, "variances needs 4 values") != NULL;
    bool background = tg_attr_bool(cx, op, call, "keep_background"), clip = tg_attr_bool(cx, op, call, "clip");
    DLDataType d = tg_compute_dtype(prob->dtype);
    int64_t classes = tg_extent(prob, 1), first = background ? 0 : 1;
    tg_fill_block(lo, "unused", lo->out[0], tg_const(cx, lo->out[0]->dtype, -1));
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr i = tg_spatial(b, "b", tg_extent(prob, 0)), zero = tg_ix(lo, 0);
    const tg_buffer *count = tg_block_local(b, "count", lo->index, 1), *id = tg_block_local(b, "id", lo->index, 1);
    const tg_buffer *best = tg_block_local(b, "best", d, 1);
    tg_script *s = tg_script_new(lo);
    tg_expr kept = tg_get(lo, count, 0), score = tg_get(lo, best, 0), cls = tg_get(lo, id, 0);
    tg_s_store(s, count, zero, zero);
    tg_expr j = tg_s_for(s, "j", zero, tg_ix(lo, tg_extent(prob, 2)));
    tg_s_store(s, best, tg_float(cx, d, -1), zero);
    tg_s_store(s, id, zero, zero);
    tg_expr c = tg_addi(cx, tg_s_for(s, "c", zero, tg_ix(lo, classes > first ? classes - first : 0)), first);
    tg_at at = { 3, { i, c, j } };
    tg_expr x = tg_s_let(s, "x", tg_in(lo, 0, &at));
    tg_s_if(s, tg_gt(cx, x, score));
    tg_s_store(s, best, x, zero);
    tg_s_store(s, id, c, zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_if(s, tg_lt(cx, score, tg_float(cx, d, tg_attr_float(cx, op, call, "threshold"))));
    tg_s_store(s, id, zero, zero); /* too unsure: background */
    tg_s_end(s);
    tg_s_if(s, background ? tg_int(cx, TG_BOOL, 1) : tg_gt(cx, cls, zero));
    tg_expr row = tg_s_let(s, "row", kept);
    tg_at to = { 3, { i, row, tg_ix(lo, 0) } };
    tg_s_put(s, lo->out[0], tg_addi(cx, cls, background ? 0 : -1), &to);
    to.ix[2] = tg_ix(lo, 1);
    tg_s_put(s, lo->out[0], score, &to);
    put_box(lo, s, i, j, row, variance, clip);
    tg_s_store(s, count, tg_addi(cx, row, 1), zero);
    tg_s_end(s);
    tg_s_end(s);
    tg_s_store(s, lo->out[1], kept, i);
    tg_end_body(b, tg_script_done(s));
    return true;
}
