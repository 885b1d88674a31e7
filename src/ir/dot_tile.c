/* dot_tile.c: see dot_tile.h. */
#include "dot_tile.h"
#include "walk.h"

static bool is_address(const tg_node *n, uint8_t bits)
{
    return tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD && n->kid[0]->nkids == 1 &&
           n->kid[0]->u.buf->ndim == 1 && tg_is_int(n->kid[0]->u.buf->dtype) && n->kid[0]->u.buf->dtype.lanes == 1 &&
           n->kid[0]->u.buf->dtype.bits == bits;
}

bool tg_dot_is_plain(const tg_node *call)
{
    if (call->nkids != TG_DOT_OPERANDS || !is_address(call->kid[TG_DOT_ACC], 32) ||
        !is_address(call->kid[TG_DOT_X], 8) || !is_address(call->kid[TG_DOT_W], 8))
        return false;
    for (uint32_t i = TG_DOT_ROWS; i < TG_DOT_OPERANDS; ++i)
        if (call->kid[i]->kind != TG_INT || call->kid[i]->u.i < (i < TG_DOT_X_ROW ? 1 : INT32_MIN) ||
            call->kid[i]->u.i > INT32_MAX)
            return false;
    return tg_dtype_of(call->kid[TG_DOT_ACC]->kid[0]).code == kDLInt &&
           tg_dtype_of(call->kid[TG_DOT_W]->kid[0]).code == kDLInt;
}

/* ---- the loops ---- */

typedef struct spelling {
    tg_ctx *cx;
    const tg_node *call;
    DLDataType index;
} spelling;

static const tg_node *constant(const spelling *s, enum tg_dot_operand i)
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

const tg_node *tg_dot_loops(tg_ctx *cx, const tg_node *call)
{
    static const char *const name[5] = { "row", "lane", "outer", "step", "part" };
    spelling s = { cx, call, tg_dtype_of(call->kid[TG_DOT_X]->kid[0]->kid[0]) };
    const tg_var *v[5];
    const tg_node *at[5], *four = tg_int(cx, s.index, 4), *one = tg_int(cx, s.index, 1);
    for (int i = 0; i < 5; ++i) {
        v[i] = tg_var_new(cx, tg_intern_z(cx, name[i]), tg_prim(cx, s.index));
        at[i] = tg_var_ref(cx, v[i]);
    }
    const tg_node *lanes = constant(&s, TG_DOT_LANES), *rows = constant(&s, TG_DOT_ROWS);
    const tg_node *acc = plus(&s, plus(&s, base(&s, TG_DOT_ACC), at[0], lanes), at[1], one);
    const tg_node *x = plus(&s, plus(&s, base(&s, TG_DOT_X), at[2], constant(&s, TG_DOT_X_OUTER)), at[3], four);
    x = plus(&s, plus(&s, x, at[4], one), at[0], constant(&s, TG_DOT_X_ROW));
    const tg_node *step = plus(&s, at[3], at[2], constant(&s, TG_DOT_STEPS));
    const tg_node *w = plus(&s, plus(&s, base(&s, TG_DOT_W), step, constant(&s, TG_DOT_W_STEP)), at[1], four);
    w = plus(&s, w, at[4], one);
    const tg_buffer *out = call->kid[TG_DOT_ACC]->kid[0]->u.buf;
    const tg_node *product =
        tg_bin(cx, TG_MUL, tg_cast(cx, TG_INT32, load(&s, TG_DOT_X, x)), tg_cast(cx, TG_INT32, load(&s, TG_DOT_W, w)));
    const tg_node *sum = tg_bin(cx, TG_ADD, load(&s, TG_DOT_ACC, acc), product);
    const tg_node *clear = loop(&s, v[1], lanes, tg_store(cx, out, tg_int(cx, TG_INT32, 0), 1, &acc));
    const tg_node *add = loop(&s, v[1], lanes, tg_store(cx, out, sum, 1, &acc));
    add = loop(&s, v[0], rows, add);
    add = loop(&s, v[3], constant(&s, TG_DOT_STEPS), loop(&s, v[4], four, add));
    const tg_node *both[2] = { loop(&s, v[0], rows, clear), loop(&s, v[2], constant(&s, TG_DOT_OUTER), add) };
    return tg_freshen(cx, tg_seq(cx, 2, both));
}
