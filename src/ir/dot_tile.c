/* dot_tile.c: see dot_tile.h. */
#include "dot_tile.h"
#include "walk.h"

static bool is_address(const tg_node *n, uint8_t bits)
{
    return tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD && n->kid[0]->nkids == 1 &&
           n->kid[0]->u.buf->ndim == 1 && tg_is_int(n->kid[0]->u.buf->dtype) && n->kid[0]->u.buf->dtype.lanes == 1 &&
           n->kid[0]->u.buf->dtype.bits == bits;
}

bool tg_is_dot_call(const tg_node *n)
{
    return tg_is_call(n, "dot_tile") || tg_is_call(n, "tap_tile");
}

bool tg_dot_is_plain(const tg_node *call)
{
    bool taps = tg_is_call(call, "tap_tile");
    uint32_t operands = taps ? TG_TAP_OPERANDS : TG_DOT_OPERANDS, steps = taps ? TG_TAP_X_ROW : TG_DOT_X_ROW;
    if (call->nkids != operands || !is_address(call->kid[TG_DOT_ACC], 32) || !is_address(call->kid[TG_DOT_X], 8) ||
        !is_address(call->kid[TG_DOT_W], 8))
        return false;
    for (uint32_t i = TG_DOT_ROWS; i < operands; ++i)
        if (call->kid[i]->kind != TG_INT || call->kid[i]->u.i < (i < steps ? 1 : INT32_MIN) ||
            call->kid[i]->u.i > INT32_MAX)
            return false;
    return tg_dtype_of(call->kid[TG_DOT_ACC]->kid[0]).code == kDLInt &&
           tg_dtype_of(call->kid[TG_DOT_W]->kid[0]).code == kDLInt &&
           (!taps || call->kid[TG_TAP_DOWN]->u.i * call->kid[TG_TAP_ACROSS]->u.i <= TG_TAP_MOST);
}

/* ---- the loops ---- */

typedef struct spelling {
    tg_ctx *cx;
    const tg_node *call;
    DLDataType index;
} spelling;

static const tg_node *constant(const spelling *s, int i)
{
    return tg_int(s->cx, s->index, s->call->kid[i]->u.i);
}

static const tg_node *plus(const spelling *s, const tg_node *a, const tg_node *b, const tg_node *times)
{
    return tg_bin(s->cx, TG_ADD, a, tg_bin(s->cx, TG_MUL, b, times));
}

static const tg_node *base(const spelling *s, enum tg_dot_operand i)
{
    return s->call->kid[i]->kid[0]->kid[0];
}

static const tg_node *load(const spelling *s, enum tg_dot_operand i, const tg_node *at)
{
    return tg_load(s->cx, s->call->kid[i]->kid[0]->u.buf, 1, &at);
}

static const tg_node *loop(const spelling *s, const tg_var *v, const tg_node *extent, const tg_node *body)
{
    return tg_for(s->cx, TG_FOR_SERIAL, v, tg_int(s->cx, s->index, 0), extent, body);
}

/* Loop variables of the names, and references to them. */
static void loop_vars(const spelling *s, int n, const char *const *name, const tg_var **v, const tg_node **at)
{
    for (int i = 0; i < n; ++i) {
        v[i] = tg_var_new(s->cx, tg_intern_z(s->cx, name[i]), tg_prim(s->cx, s->index));
        at[i] = tg_var_ref(s->cx, v[i]);
    }
}

/* acc[…] = 0, acc[…] = acc[…] + x[…] * w[…] */
static void statements(const spelling *s, const tg_node *acc, const tg_node *x, const tg_node *w, const tg_node **clear,
                       const tg_node **add)
{
    tg_ctx *cx = s->cx;
    const tg_buffer *out = s->call->kid[TG_DOT_ACC]->kid[0]->u.buf;
    const tg_node *product =
        tg_bin(cx, TG_MUL, tg_cast(cx, TG_INT32, load(s, TG_DOT_X, x)), tg_cast(cx, TG_INT32, load(s, TG_DOT_W, w)));
    *clear = tg_store(cx, out, tg_int(cx, TG_INT32, 0), 1, &acc);
    *add = tg_store(cx, out, tg_bin(cx, TG_ADD, load(s, TG_DOT_ACC, acc), product), 1, &acc);
}

static const tg_node *dot_loops(const spelling *s)
{
    static const char *const name[5] = { "row", "lane", "outer", "step", "part" };
    tg_ctx *cx = s->cx;
    const tg_var *v[5];
    const tg_node *at[5], *four = tg_int(cx, s->index, 4), *one = tg_int(cx, s->index, 1), *clear, *add;
    loop_vars(s, 5, name, v, at);
    const tg_node *lanes = constant(s, TG_DOT_LANES), *rows = constant(s, TG_DOT_ROWS);
    const tg_node *acc = plus(s, plus(s, base(s, TG_DOT_ACC), at[0], lanes), at[1], one);
    const tg_node *x = plus(s, plus(s, base(s, TG_DOT_X), at[2], constant(s, TG_DOT_X_OUTER)), at[3], four);
    x = plus(s, plus(s, x, at[4], one), at[0], constant(s, TG_DOT_X_ROW));
    const tg_node *step = plus(s, at[3], at[2], constant(s, TG_DOT_STEPS));
    const tg_node *w = plus(s, plus(s, base(s, TG_DOT_W), step, constant(s, TG_DOT_W_STEP)), at[1], four);
    statements(s, acc, x, plus(s, w, at[4], one), &clear, &add);
    add = loop(s, v[0], rows, loop(s, v[1], lanes, add));
    add = loop(s, v[3], constant(s, TG_DOT_STEPS), loop(s, v[4], four, add));
    const tg_node *both[2] = { loop(s, v[0], rows, loop(s, v[1], lanes, clear)),
                               loop(s, v[2], constant(s, TG_DOT_OUTER), add) };
    return tg_seq(cx, 2, both);
}

static const tg_node *tap_loops(const spelling *s)
{
    static const char *const name[4] = { "row", "lane", "down", "across" };
    tg_ctx *cx = s->cx;
    const tg_var *v[4];
    const tg_node *at[4], *one = tg_int(cx, s->index, 1), *clear, *add;
    loop_vars(s, 4, name, v, at);
    const tg_node *lanes = constant(s, TG_DOT_LANES), *rows = constant(s, TG_DOT_ROWS);
    const tg_node *acc = plus(s, plus(s, base(s, TG_DOT_ACC), at[0], lanes), at[1], one);
    const tg_node *x = plus(s, plus(s, base(s, TG_DOT_X), at[2], constant(s, TG_TAP_X_DOWN)), at[3],
                            constant(s, TG_TAP_X_ACROSS));
    x = plus(s, plus(s, x, at[0], constant(s, TG_TAP_X_ROW)), at[1], one);
    const tg_node *w = plus(s, plus(s, base(s, TG_DOT_W), at[2], constant(s, TG_TAP_W_DOWN)), at[3],
                            constant(s, TG_TAP_W_ACROSS));
    statements(s, acc, x, plus(s, w, at[1], one), &clear, &add);
    add = loop(s, v[0], rows, loop(s, v[1], lanes, add));
    add = loop(s, v[2], constant(s, TG_TAP_DOWN), loop(s, v[3], constant(s, TG_TAP_ACROSS), add));
    const tg_node *both[2] = { loop(s, v[0], rows, loop(s, v[1], lanes, clear)), add };
    return tg_seq(cx, 2, both);
}

const tg_node *tg_dot_loops(tg_ctx *cx, const tg_node *call)
{
    spelling s = { cx, call, tg_dtype_of(call->kid[TG_DOT_X]->kid[0]->kid[0]) };
    return tg_freshen(cx, tg_is_call(call, "tap_tile") ? tap_loops(&s) : dot_loops(&s));
}
