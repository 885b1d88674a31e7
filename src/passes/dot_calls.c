/* dot_calls.c: loops that multiply and add bytes become calls of dot_tile and tap_tile (ir/dot_tile.h).
 * Needs: accesses of one dimension.  Keeps: what is computed.
 *
 * The form, in any order of the loops and with loops of one iteration among them:
 *     for …: acc[…] = 0
 *     for …: acc[…] = acc[…] + int32(x[…]) * int32(w[…])
 * where each loop takes steps of one kind. dot_tile: the four of a group (x 1, w 1), lanes (acc 1, w 4), rows (acc as
 * many as lanes, w 0), groups (acc 0). Groups that lie one behind the other in x and w count as one loop; what is left
 * may be one loop around them. tap_tile: lanes (acc 1, x 1, w 1), rows, and at most two loops over products (acc 0). */
#include "passes.h"
#include "ir/dot_tile.h"
#include "ir/walk.h"
#include "schedule/linear.h"

enum { GROUP = 4, MOST_LOOPS = 16 };

typedef struct step {
    int64_t extent, acc, x, w;
} step;

typedef struct nest {
    const tg_var *loop[MOST_LOOPS];
    int64_t extent[MOST_LOOPS];
    uint32_t n;
    const tg_node *store;
} nest;

/* Serial loops from 0 over constants around one store; of one iteration: their variable is 0. */
static bool read_nest(const tg_node *s, nest *out)
{
    out->n = 0;
    for (; s->kind == TG_FOR; s = s->kid[2]) {
        if (s->u.loop->kind != TG_FOR_SERIAL || !tg_is_int_const(s->kid[0], 0) || s->kid[1]->kind != TG_INT ||
            s->kid[1]->u.i < 1 || out->n == MOST_LOOPS)
            return false;
        out->loop[out->n] = s->u.loop->var;
        out->extent[out->n++] = s->kid[1]->u.i;
    }
    out->store = s;
    return s->kind == TG_STORE && s->nkids == 2;
}

/* An index without its loops: what is left when they are all 0. */
static bool base_of(tg_ctx *cx, const tg_node *index, const nest *loops, tg_linear *flat, tg_linear *base)
{
    if (!tg_linear_of(cx, index, flat)) return false;
    tg_linear_clear(base, flat->dtype, flat->c0);
    for (uint32_t i = 0; i < flat->n; ++i) {
        bool inner = false;
        for (uint32_t k = 0; k < loops->n; ++k) {
            bool is_var = flat->x[i]->kind == TG_VAR && flat->x[i]->u.var == loops->loop[k];
            if (!is_var && tg_uses_var(cx, flat->x[i], loops->loop[k])) return false;
            inner = inner || is_var;
        }
        if (!inner && !tg_linear_add_term(cx, base, flat->x[i], flat->c[i])) return false;
    }
    return true;
}

static const tg_node *address(tg_ctx *cx, const tg_buffer *b, const tg_linear *at)
{
    const tg_node *index = tg_linear_node(cx, at), *load = tg_load(cx, b, 1, &index);
    return tg_call(cx, "address_of", tg_ptr(cx, b->dtype, NULL), 1, &load);
}

/* ---- the parts of the store ---- */

typedef struct dot {
    tg_ctx *cx;
    const tg_buffer *buf[3]; /* acc, x, w */
    tg_linear flat[3], base[3];
    int64_t value[TG_TAP_OPERANDS]; /* of either call: rows and lanes stand in the same place */
    bool taps;
} dot;

static const tg_node *byte_load(const tg_node *n)
{
    return n->kind == TG_CAST && n->kid[0]->kind == TG_LOAD && n->kid[0]->nkids == 1 &&
                   tg_is_int(tg_dtype_of(n->kid[0])) && tg_dtype_of(n->kid[0]).bits == 8 &&
                   tg_dtype_of(n->kid[0]).lanes == 1
               ? n->kid[0]
               : NULL;
}

static bool read_store(dot *d, const nest *loops)
{
    const tg_node *s = loops->store, *v = s->kid[0];
    if (v->kind != TG_ADD || !tg_dtype_eq(tg_dtype_of(v), TG_INT32) || v->kid[0]->kind != TG_LOAD ||
        v->kid[0]->u.buf != s->u.buf || !tg_node_equal(d->cx, v->kid[0]->kid[0], s->kid[1]) ||
        v->kid[1]->kind != TG_MUL)
        return false;
    const tg_node *x = byte_load(v->kid[1]->kid[0]), *w = byte_load(v->kid[1]->kid[1]);
    if (x == NULL || w == NULL || !tg_dtype_eq(tg_dtype_of(w), TG_INT8)) return false;
    const tg_node *index[3] = { s->kid[1], x->kid[0], w->kid[0] };
    d->buf[0] = s->u.buf;
    d->buf[1] = x->u.buf;
    d->buf[2] = w->u.buf;
    for (int i = 0; i < 3; ++i)
        if (!base_of(d->cx, index[i], loops, &d->flat[i], &d->base[i])) return false;
    return true;
}

/* Groups, innermost last, as steps of four bytes and one loop around them. */
static bool read_groups(dot *d, const step *g, uint32_t n)
{
    int64_t lanes = d->value[TG_DOT_LANES];
    step in = n > 0 ? g[n - 1] : (step){ 1, 0, GROUP, lanes * GROUP }, out = { 1, 0, 0, 0 };
    if (n > 0 && in.x != GROUP) { /* one group at a time */
        in = (step){ 1, 0, GROUP, in.w };
        ++n;
    }
    for (uint32_t i = n > 0 ? n - 1 : 0; i-- > 0;) {
        if (out.extent == 1 && g[i].x == in.x * in.extent && g[i].w == in.w * in.extent) {
            in.extent *= g[i].extent;
        } else if (out.extent == 1) {
            out = g[i];
        } else if (g[i].x == out.x * out.extent && g[i].w == out.w * out.extent) {
            out.extent *= g[i].extent;
        } else {
            return false;
        }
    }
    if (out.extent > 1 && out.w != in.w * in.extent) return false;
    d->value[TG_DOT_STEPS] = in.extent;
    d->value[TG_DOT_W_STEP] = in.w;
    d->value[TG_DOT_OUTER] = out.extent;
    d->value[TG_DOT_X_OUTER] = out.x;
    return true;
}

static step step_at(const dot *d, const nest *loops, uint32_t i)
{
    return (step){ loops->extent[i], tg_linear_coef(&d->flat[0], loops->loop[i]),
                   tg_linear_coef(&d->flat[1], loops->loop[i]), tg_linear_coef(&d->flat[2], loops->loop[i]) };
}

static bool read_row(dot *d, const step *s, int64_t *row_acc)
{
    if (s->w != 0 || s->acc == 0 || d->value[TG_DOT_ROWS] != 1) return false;
    d->value[TG_DOT_ROWS] = s->extent;
    d->value[TG_DOT_X_ROW] = s->x;
    *row_acc = s->acc;
    return true;
}

static bool read_steps(dot *d, const nest *loops)
{
    step group[MOST_LOOPS];
    uint32_t ngroups = 0;
    bool part = false;
    int64_t row_acc = 0;
    d->value[TG_DOT_ROWS] = d->value[TG_DOT_LANES] = 1;
    for (uint32_t i = 0; i < loops->n; ++i) {
        step s = step_at(d, loops, i);
        if (s.extent == 1) continue;
        if (!part && s.acc == 0 && s.x == 1 && s.w == 1 && s.extent == GROUP) part = true;
        else if (s.acc == 0) group[ngroups++] = s;
        else if (s.acc == 1 && s.x == 0 && s.w == GROUP && d->value[TG_DOT_LANES] == 1) d->value[TG_DOT_LANES] = s.extent;
        else if (!read_row(d, &s, &row_acc)) return false;
    }
    return part && (row_acc == 0 || row_acc == d->value[TG_DOT_LANES]) && read_groups(d, group, ngroups);
}

static bool read_taps(dot *d, const nest *loops)
{
    step group[2] = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } };
    uint32_t ngroups = 0;
    int64_t row_acc = 0, row_x = 0;
    d->value[TG_DOT_ROWS] = d->value[TG_DOT_LANES] = 1;
    for (uint32_t i = 0; i < loops->n; ++i) {
        step s = step_at(d, loops, i);
        if (s.extent == 1) continue;
        if (s.acc == 0 && ngroups < 2) group[ngroups++] = s;
        else if (s.acc == 1 && s.x == 1 && s.w == 1 && d->value[TG_DOT_LANES] == 1) d->value[TG_DOT_LANES] = s.extent;
        else if (read_row(d, &s, &row_acc)) row_x = s.x;
        else return false;
    }
    const step *in = ngroups > 0 ? &group[ngroups - 1] : &group[0], *out = ngroups > 1 ? &group[0] : &group[1];
    d->value[TG_TAP_X_ROW] = row_x;
    d->value[TG_TAP_DOWN] = out->extent;
    d->value[TG_TAP_X_DOWN] = out->x;
    d->value[TG_TAP_W_DOWN] = out->w;
    d->value[TG_TAP_ACROSS] = in->extent;
    d->value[TG_TAP_X_ACROSS] = in->x;
    d->value[TG_TAP_W_ACROSS] = in->w;
    d->taps = true;
    return d->value[TG_DOT_LANES] > 1 && (row_acc == 0 || row_acc == d->value[TG_DOT_LANES]);
}

/* The nest in front sets the accumulators of the tile, and no others, to 0. */
static bool is_init(dot *d, const tg_node *s)
{
    nest loops;
    tg_linear flat, base;
    int64_t have = 1, want = d->value[TG_DOT_ROWS] * d->value[TG_DOT_LANES];
    if (!read_nest(s, &loops) || loops.store->u.buf != d->buf[0] || !tg_is_int_const(loops.store->kid[0], 0) ||
        !base_of(d->cx, loops.store->kid[1], &loops, &flat, &base))
        return false;
    for (uint32_t i = loops.n; i-- > 0;) { /* from the inside: each loop goes on where the last ended */
        if (loops.extent[i] != 1 && tg_linear_coef(&flat, loops.loop[i]) != have) return false;
        have *= loops.extent[i];
        if (have > want) return false;
    }
    return have == want && tg_node_equal(d->cx, tg_linear_node(d->cx, &base), tg_linear_node(d->cx, &d->base[0]));
}

static int operands(const dot *d)
{
    return d->taps ? TG_TAP_OPERANDS : TG_DOT_OPERANDS;
}

/* Steps are counted in 32 bits. */
static bool fits_int32(const dot *d)
{
    bool fits = true;
    for (int i = 0; i < 3; ++i) fits = fits && d->flat[i].dtype.bits == 32;
    for (int i = TG_DOT_ROWS; i < operands(d); ++i)
        fits = fits && d->value[i] >= INT32_MIN && d->value[i] <= INT32_MAX;
    return fits;
}

static const tg_node *dot_call(tg_ctx *cx, const tg_node *init, const tg_node *sum)
{
    nest loops;
    dot d = { .cx = cx };
    if (sum->kind != TG_FOR || init->kind != TG_FOR || !read_nest(sum, &loops) || !read_store(&d, &loops) ||
        (!read_steps(&d, &loops) && !read_taps(&d, &loops)) || !fits_int32(&d) || !is_init(&d, init))
        return NULL;
    const tg_node *arg[TG_TAP_OPERANDS];
    for (int i = 0; i < 3; ++i) arg[i] = address(cx, d.buf[i], &d.base[i]);
    for (int i = TG_DOT_ROWS; i < operands(&d); ++i) arg[i] = tg_int(cx, TG_INT32, d.value[i]);
    const tg_node *call = tg_call(cx, d.taps ? "tap_tile" : "dot_tile", NULL, (uint32_t)operands(&d), arg);
    return tg_dot_is_plain(call) ? tg_node_at(cx, tg_evaluate(cx, call), sum->span) : NULL;
}

static const tg_node *replace(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)user;
    if (n->kind != TG_SEQ) return n;
    const tg_node **s = TG_ARRAY(cx, const tg_node *, n->nkids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->nkids; ++i) {
        const tg_node *call = count > 0 ? dot_call(cx, s[count - 1], n->kid[i]) : NULL;
        if (call != NULL) s[count - 1] = call;
        else s[count++] = n->kid[i];
    }
    return count == n->nkids ? n : tg_seq(cx, count, s);
}

bool tg_pass_dot_calls(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    return tg_rewrite(cx, m, replace, NULL);
}
