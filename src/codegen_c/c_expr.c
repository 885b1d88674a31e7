/* c_expr.c: expressions, with the fewest brackets that compilers accept without a warning.
 *
 * An expression of dtype d prints as C whose value is that of TIR. Its C type is the type of d, or int where both sides of a
 * ?: are narrower; either way it can be assigned to d without a warning. So:
 *   - arithmetic of 8 and 16 bits happens in int and is cast back;
 *   - sums and products of int32 and int64 that may overflow are computed unsigned, which wraps; those that cannot overflow
 *     (known bounds, or an index, which is in range by contract) stay plain;
 *   - a literal beside a 64-bit operand needs no suffix, since C widens it; two literals would be computed in int. */
#include "emit.h"

enum { MOST_NODES = 200000, MOST_LEVELS = 1000 };

static const struct { const char *text; int prec; } binary[TG_NKINDS] = {
    [TG_MUL] = { "*", C_MUL }, [TG_DIV] = { "/", C_MUL }, [TG_MOD] = { "%", C_MUL },
    [TG_ADD] = { "+", C_ADD }, [TG_SUB] = { "-", C_ADD },
    [TG_LT] = { "<", C_LESS }, [TG_LE] = { "<=", C_LESS }, [TG_GT] = { ">", C_LESS }, [TG_GE] = { ">=", C_LESS },
    [TG_EQ] = { "==", C_EQUAL }, [TG_NE] = { "!=", C_EQUAL }, [TG_AND] = { "&&", C_AND }, [TG_OR] = { "||", C_OR },
};

bool c_enter(tg_emit *e, const tg_node *n)
{
    if (e->failed)
        return false;
    if (e->budget == 0 || e->depth >= MOST_LEVELS) {
        tg_error(e->cx, n->span, e->budget == 0 ? "the statement has more than %d operations: bind common parts to variables"
                 : "expressions and statements nest deeper than %d levels", e->budget == 0 ? MOST_NODES : MOST_LEVELS);
        e->failed = true;
        return false;
    }
    --e->budget;
    ++e->depth;
    return true;
}

void c_leave(tg_emit *e)
{
    --e->depth;
}

static bool open_bracket(tg_emit *e, int prec, int outer)
{
    if (prec < outer)
        tg_putc(e->to, '(');
    return prec < outer;
}

static void close_bracket(tg_emit *e, bool open)
{
    if (open)
        tg_putc(e->to, ')');
}

/* ---- long lines ---- */

enum { LONG_LINE = 88, LONG_INDEX = 108 };   /* columns; inside an index only when there is no other way */

static bool is_long(const tg_emit *e)
{
    return e->to->n - e->line > (e->index > 0 ? LONG_INDEX : LONG_LINE);
}

size_t c_next_column(const tg_emit *e)
{
    return 4 * ((size_t)e->level + 2);
}

void c_next_line(tg_emit *e)
{
    tg_putc(e->to, '\n');
    e->line = e->to->n;
    tg_indent(e->to, e->level + 2);
}

void c_operator(tg_emit *e, const char *op)
{
    if (is_long(e))
        c_next_line(e);
    else
        tg_putc(e->to, ' ');
    tg_printf(e->to, "%s ", op);
}

void c_comma(tg_emit *e)
{
    tg_putc(e->to, ',');
    if (is_long(e))
        c_next_line(e);
    else
        tg_putc(e->to, ' ');
}

void c_aside_begin(tg_emit *e, c_aside *a, size_t column)
{
    a->text = tg_text_new(e->cx);
    a->to = e->to;
    a->line = e->line;
    e->to = &a->text;
    e->line = (size_t)0 - column;
}

void c_aside_end(tg_emit *e, c_aside *a)
{
    e->to = a->to;
    e->line = a->line;
}

/* ---- operands ---- */

static bool is_literal(const tg_node *n)
{
    if (n->kind == TG_BROADCAST)
        n = n->kid[0];
    return n->kind == TG_INT || n->kind == TG_FLOAT;
}

static const tg_node *literal_of(const tg_node *n)
{
    return n->kind == TG_BROADCAST ? n->kid[0] : n;
}

static void operand(tg_emit *e, const tg_node *n, const tg_node *other, bool other_is_wide, int outer)
{
    const tg_node *lit = literal_of(n);
    if (is_literal(n) && lit->kind == TG_INT)
        c_put_int(e, tg_dtype_of(lit), lit->u.i, is_literal(other), outer);
    else
        c_expr(e, other_is_wide ? c_without_widening(n) : n, outer);    /* C widens this one by itself */
}

void c_operand(tg_emit *e, const tg_node *n, const tg_node *other, int outer)
{
    operand(e, n, other, !is_literal(other) && !c_widens(other), outer);
}

/* The left operand keeps a cast that both have, so the right one need not. */
static void right_operand(tg_emit *e, const tg_node *n, const tg_node *left, int outer)
{
    operand(e, n, left, !is_literal(left), outer);
}

/* x + -5 is x - 5, and x - -5 is x + 5. */
static const char *sign_of(const tg_node *n, const tg_node **right, tg_emit *e)
{
    const tg_node *b = n->kid[1], *lit = literal_of(b);
    bool minus = n->kind == TG_SUB;
    DLDataType d = tg_dtype_of(lit);
    *right = b;
    if (is_literal(b) && lit->kind == TG_INT && d.code == kDLInt && lit->u.i < 0 && lit->u.i > -INT32_MAX) {
        *right = tg_int(e->cx, d, -lit->u.i);
        minus = !minus;
    } else if (is_literal(b) && lit->kind == TG_FLOAT && lit->u.f < 0) {
        *right = tg_float(e->cx, d, -lit->u.f);
        minus = !minus;
    }
    return minus ? "-" : "+";
}

static bool is_comparison(const tg_node *n)
{
    return n->kind >= TG_EQ && n->kind <= TG_GE;
}

/* What a compiler wants bracketed beyond precedence: && inside ||, a comparison of comparisons. */
static int outer_for(const tg_node *parent, const tg_node *operand, int by_precedence)
{
    if (parent->kind == TG_OR && operand->kind == TG_AND)
        return C_BITOR;
    return is_comparison(parent) ? C_SHIFT : by_precedence;
}

static bool is_plain(tg_emit *e, const tg_node *n);

static uint32_t chain_length(tg_emit *e, const tg_node *n)
{
    int prec = binary[n->kind].prec;
    uint32_t length = 1;
    if (is_comparison(n))
        return length;
    for (const tg_node *left = n->kid[0]; binary[left->kind].text != NULL && binary[left->kind].prec == prec && is_plain(e, left);
         left = left->kid[0])
        ++length;
    return length;
}

/* a op b; a chain that leans to the left is printed in a loop, however long it is. */
static void infix(tg_emit *e, const tg_node *n, int outer)
{
    enum { FEW = 8 };
    uint32_t length = chain_length(e, n);
    const tg_node *few[FEW], **chain = length <= FEW ? few : TG_TEMP_ARRAY(e->cx, const tg_node *, length);
    int prec = binary[n->kind].prec;
    bool open = open_bracket(e, prec, outer);
    for (uint32_t i = length; i > 0; --i) {
        chain[i - 1] = n;
        n = n->kid[0];
    }
    c_operand(e, n, chain[0]->kid[1], outer_for(chain[0], n, prec));
    for (uint32_t i = 0; i < length && !e->failed; ++i) {
        const tg_node *x = chain[i], *right = x->kid[1];
        const char *op = x->kind == TG_ADD || x->kind == TG_SUB ? sign_of(x, &right, e) : binary[x->kind].text;
        c_operator(e, op);
        right_operand(e, right, x->kid[0], outer_for(x, right, prec + 1));
        e->budget -= e->budget > 0;
    }
    close_bracket(e, open);
}

/* ---- sums and products of integers ---- */

/* The sum itself cannot leave its type. */
static bool stays(tg_emit *e, const tg_node *n)
{
    return c_fits(c_raw_range(e, n), tg_dtype_of(n));
}

/* Printed as infix, nothing around it. */
static bool is_plain(tg_emit *e, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    if (is_comparison(n) || n->kind == TG_AND || n->kind == TG_OR)
        return true;
    if (tg_is_float(d))
        return n->kind != TG_MOD && !c_is_half(d);
    if (tg_is_bool(d) || c_is_narrow(d) || !c_is_ring(n))
        return false;
    return d.code == kDLUInt || e->index > 0 || stays(e, n);
}

static DLDataType unsigned_of(DLDataType d)
{
    return tg_dtype(kDLUInt, d.bits > 32 ? 64 : 32, 1);
}

/* The same value modulo 2^n, computed in an unsigned type. */
static void modular(tg_emit *e, const tg_node *n, DLDataType as, int outer)
{
    if (!c_enter(e, n))
        return;
    if (is_literal(n)) {
        int64_t v = literal_of(n)->u.i;
        if (v >= 0)
            c_put_int(e, as, v, false, outer);
        else
            c_put_int(e, as, tg_wrap_to(as, v), false, outer);
    } else if (c_is_ring(n) && (c_is_narrow(tg_dtype_of(n)) || (tg_dtype_of(n).code == kDLInt && !stays(e, n)))) {
        int prec = binary[n->kind].prec;
        bool open = open_bracket(e, prec, outer);
        const tg_node *right = n->kid[1];
        const char *op = n->kind == TG_MUL ? "*" : sign_of(n, &right, e);
        modular(e, n->kid[0], as, prec);
        c_operator(e, op);
        modular(e, right, as, prec + 1);
        close_bracket(e, open);
    } else {
        bool open = open_bracket(e, C_UNARY, outer);
        tg_printf(e->to, "(%s)", c_type(e, as, n->span));
        c_expr(e, c_without_widening(n), C_UNARY);
        close_bracket(e, open);
    }
    c_leave(e);
}

static void cast_open(tg_emit *e, DLDataType d, tg_span at)
{
    tg_printf(e->to, "(%s)", c_type(e, d, at));
}

/* Sums of sums of narrow integers, which int computes without overflow: one cast around the whole is enough. */
static void unwrapped(tg_emit *e, const tg_node *n, int outer)
{
    if (!c_is_ring(n)) {
        c_expr(e, n, outer);
        return;
    }
    if (!c_enter(e, n))
        return;
    int prec = binary[n->kind].prec;
    bool open = open_bracket(e, prec, outer);
    const tg_node *right = n->kid[1];
    const char *op = n->kind == TG_MUL ? "*" : sign_of(n, &right, e);
    unwrapped(e, n->kid[0], prec);
    c_operator(e, op);
    unwrapped(e, right, prec + 1);
    close_bracket(e, open);
    c_leave(e);
}

static void ring(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n);
    bool open = open_bracket(e, C_UNARY, outer);
    cast_open(e, d, n->span);
    tg_putc(e->to, '(');
    if (c_is_narrow(d) && c_fits(c_unwrapped_range(e, n), TG_INT32))
        unwrapped(e, n, C_ANY);
    else                                        /* uint16 * uint16 does not fit int either */
        modular(e, n, unsigned_of(d), C_ANY);
    tg_putc(e->to, ')');
    close_bracket(e, open);
}

/* ---- divisions ---- */

static bool is_power_of_two(const tg_node *n, int *log)
{
    const tg_node *lit = literal_of(n);
    if (!is_literal(n) || lit->kind != TG_INT || lit->u.i <= 0 || (lit->u.i & (lit->u.i - 1)) != 0)
        return false;
    for (*log = 0; (int64_t)1 << *log != lit->u.i; ++*log) { }
    return true;
}

static void plain_division(tg_emit *e, const tg_node *n, const char *op, int outer)
{
    DLDataType d = tg_dtype_of(n);
    bool cast = c_is_narrow(d), open = open_bracket(e, cast ? C_UNARY : C_MUL, outer);
    if (cast) {
        cast_open(e, d, n->span);
        tg_putc(e->to, '(');
    }
    c_operand(e, n->kid[0], n->kid[1], C_MUL);
    c_operator(e, op);
    right_operand(e, n->kid[1], n->kid[0], C_MUL + 1);
    if (cast)
        tg_putc(e->to, ')');
    close_bracket(e, open);
}

/* Of a value that may be negative by 2^k: a shift or a mask of two's complement. */
static void power_division(tg_emit *e, const tg_node *n, int log, int outer)
{
    DLDataType d = tg_dtype_of(n);
    bool shift = n->kind == TG_FLOORDIV, cast = c_is_narrow(d);
    bool open = open_bracket(e, cast ? C_UNARY : shift ? C_SHIFT : C_BITAND, outer);
    if (cast) {
        cast_open(e, d, n->span);
        tg_putc(e->to, '(');
    }
    c_expr(e, n->kid[0], C_UNARY);
    tg_puts(e->to, shift ? " >> " : " & ");
    c_put_int(e, TG_INT32, shift ? log : ((int64_t)1 << log) - 1, false, C_UNARY);
    if (cast)
        tg_putc(e->to, ')');
    close_bracket(e, open);
}

static void division(tg_emit *e, const tg_node *n, int outer)
{
    static const enum c_helper helper[] = { [TG_DIV - TG_DIV] = C_H_DIV, [TG_MOD - TG_DIV] = C_H_MOD,
                                            [TG_FLOORDIV - TG_DIV] = C_H_FLOORDIV, [TG_FLOORMOD - TG_DIV] = C_H_FLOORMOD };
    DLDataType d = tg_dtype_of(n);
    c_range a = c_range_of(e, n->kid[0]), b = c_range_of(e, n->kid[1]);
    bool floor = n->kind == TG_FLOORDIV || n->kind == TG_FLOORMOD, mod = n->kind == TG_MOD || n->kind == TG_FLOORMOD;
    int log = 0;
    if (b.lo == 0 && b.hi == 0) {
        tg_error(e->cx, n->span, "division by zero");
        e->failed = true;
        return;
    }
    if (b.lo > 0 && (!floor || a.lo >= 0)) {
        plain_division(e, n, mod ? "%" : "/", outer);
        return;
    }
    if (floor && is_power_of_two(n->kid[1], &log) && log < 31) {
        power_division(e, n, log, outer);
        return;
    }
    bool cast = c_is_narrow(d), open = cast && open_bracket(e, C_UNARY, outer);
    DLDataType wide = d.bits > 32 ? d : tg_dtype(d.bits < 32 ? kDLInt : d.code, 32, 1);
    if (cast)
        cast_open(e, d, n->span);
    tg_printf(e->to, "%s(", c_helper(e, helper[n->kind - TG_DIV], wide, wide));
    c_assigned(e, n->kid[0], wide);
    c_comma(e);
    c_assigned(e, n->kid[1], wide);
    tg_putc(e->to, ')');
    close_bracket(e, open);
}

/* ---- minimum, maximum, selection ---- */

bool c_simple(tg_emit *e, const tg_node *n)
{
    if (n->kind == TG_VAR || is_literal(n))
        return true;
    if (n->kind != TG_LOAD || c_is_half(n->u.buf->dtype) || tg_is_bool(n->u.buf->dtype) || n->nkids > 1)
        return false;
    if (!c_same_storage(n->u.buf->dtype, c_var_of(e, n->u.buf->data)->elem))
        return false;
    const tg_node *i = n->nkids == 1 ? n->kid[0] : NULL;
    if (i == NULL || i->kind == TG_VAR || i->kind == TG_INT)
        return n->u.buf->strides == NULL && n->u.buf->elem_offset == NULL;
    return (i->kind == TG_ADD || i->kind == TG_SUB) && i->kid[0]->kind == TG_VAR && i->kid[1]->kind == TG_INT;
}

static DLDataType operand_type(DLDataType d)
{
    if (tg_is_float(d))
        return d.bits == 64 ? TG_FLOAT64 : TG_FLOAT32;
    return d.bits > 32 ? tg_dtype(d.code, 64, 1) : tg_dtype(d.bits < 32 ? kDLInt : d.code, 32, 1);
}

static void extreme(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n), wide = operand_type(d);
    const tg_node *a = n->kid[0], *b = n->kid[1];
    if (c_simple(e, a) && c_simple(e, b)) {
        bool open = open_bracket(e, C_TERNARY, outer);
        c_operand(e, a, b, C_SHIFT);
        tg_puts(e->to, n->kind == TG_MIN ? " < " : " > ");
        c_operand(e, b, a, C_SHIFT);
        c_operator(e, "?");
        c_operand(e, a, b, C_OR);
        c_operator(e, ":");
        c_operand(e, b, a, C_OR);
        close_bracket(e, open);
        return;
    }
    bool cast = c_is_narrow(d), open = cast && open_bracket(e, C_UNARY, outer);
    if (cast)
        cast_open(e, d, n->span);
    tg_printf(e->to, "%s(", c_helper(e, n->kind == TG_MIN ? C_H_MIN : C_H_MAX, wide, wide));
    c_assigned(e, a, wide);
    c_comma(e);
    c_assigned(e, b, wide);
    tg_putc(e->to, ')');
    close_bracket(e, open);
}

/* c ? a : b, for SELECT and if_then_else alike: only one side is evaluated. */
static void choice(tg_emit *e, const tg_node *n, int outer)
{
    bool open = open_bracket(e, C_TERNARY, outer);
    c_expr(e, n->kid[0], C_OR);
    c_operator(e, "?");
    c_operand(e, n->kid[1], n->kid[2], C_OR);
    c_operator(e, ":");
    c_operand(e, n->kid[2], n->kid[1], C_TERNARY);
    close_bracket(e, open);
}

/* ---- casts ---- */

static bool is_defined(tg_emit *e, const tg_node *x, DLDataType to)
{
    c_real r = c_real_of(e, x);
    c_range all = c_dtype_range(to);
    if (r.nan || to.bits == 64)
        return !r.nan && r.lo > -9.0e18 && r.hi < 9.0e18 && (to.code == kDLInt || r.lo >= 0);
    return r.lo >= (double)all.lo && r.hi <= (double)all.hi;
}

static void cast_from_float(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType to = tg_dtype_of(n), from = operand_type(tg_dtype_of(n->kid[0]));
    to.lanes = 1;
    if (is_defined(e, n->kid[0], to)) {
        bool open = open_bracket(e, C_UNARY, outer);
        cast_open(e, to, n->span);
        c_expr(e, n->kid[0], C_UNARY);
        close_bracket(e, open);
        return;
    }
    if (c_storage(to) == NULL)
        c_type(e, to, n->span);                 /* reports it */
    tg_printf(e->to, "%s(", c_helper(e, C_H_TO_INT, to, from));
    c_expr(e, n->kid[0], C_TERNARY);
    tg_putc(e->to, ')');
}

static void cast_to_half(tg_emit *e, const tg_node *n)
{
    DLDataType to = tg_dtype_of(n), from = tg_dtype_of(n->kid[0]);
    tg_printf(e->to, "%s(", c_helper(e, to.code == kDLBfloat ? C_H_ROUND_BF16 : C_H_ROUND_HALF, to, to));
    bool is_float = tg_is_float(from) && from.bits <= 32;
    if (!is_float)
        tg_puts(e->to, "(float)");
    c_expr(e, n->kid[0], is_float ? C_TERNARY : C_UNARY);
    tg_putc(e->to, ')');
}

static void cast(tg_emit *e, const tg_node *n, int outer)
{
    const tg_node *x = n->kid[0];
    DLDataType to = tg_dtype_of(n), from = tg_dtype_of(x);
    if (tg_is_bool(to) && !tg_is_bool(from)) {
        bool open = open_bracket(e, C_EQUAL, outer);
        c_expr(e, x, C_SHIFT);
        tg_puts(e->to, tg_is_float(from) ? (from.bits == 64 ? " != 0.0" : " != 0.0f") : " != 0");
        close_bracket(e, open);
        return;
    }
    if (tg_is_bool(to) || (c_is_half(from) && to.code == kDLFloat && to.bits == 32)) {
        c_expr(e, x, outer);
        return;
    }
    if (c_is_half(to)) {
        cast_to_half(e, n);
        return;
    }
    if (tg_is_float(from) && !tg_is_float(to)) {
        cast_from_float(e, n, outer);
        return;
    }
    bool open = open_bracket(e, C_UNARY, outer);
    cast_open(e, to, n->span);
    bool wraps = tg_is_int(to) && to.bits < from.bits && c_is_ring(x) && from.code == kDLInt && from.bits >= 32 && !is_plain(e, x);
    if (wraps)                                  /* (int8_t)(a + b), computed unsigned: what is cut off does not matter */
        modular(e, x, unsigned_of(from), C_UNARY);
    else if (x->kind == TG_INT)
        c_put_int(e, from, x->u.i, true, C_UNARY);
    else
        c_expr(e, x, C_UNARY);
    close_bracket(e, open);
}

/* ---- vectors: one lane at a time ---- */

void c_put_lane(tg_emit *e)
{
    if (e->lane_at >= 0)
        tg_printf(e->to, "[%lld]", (long long)e->lane_at);
    else
        tg_printf(e->to, "[%s]", e->lane);
}

static bool is_number(const tg_node *n, int v)
{
    return tg_is_int_const(n, v) || (n->kind == TG_FLOAT && !(n->u.f < v) && !(n->u.f > v));
}

static void ramp(tg_emit *e, const tg_node *n, int outer)
{
    const tg_node *base = n->kid[0], *stride = n->kid[1];
    DLDataType d = tg_dtype_of(base);
    if (e->lane_at >= 0) {
        const tg_node *at = tg_const(e->cx, d, (double)e->lane_at);
        const tg_node *off = tg_is_int_const(stride, 1) || e->lane_at == 0 ? at
                             : stride->kind == TG_INT ? tg_int(e->cx, d, stride->u.i * e->lane_at) : tg_bin(e->cx, TG_MUL, stride, at);
        bool zero = tg_is_int_const(base, 0);
        c_expr(e, e->lane_at == 0 ? base : zero ? off : base->kind == TG_INT && off->kind == TG_INT
               ? tg_int(e->cx, d, base->u.i + off->u.i) : tg_bin(e->cx, TG_ADD, base, off), outer);
        return;
    }
    const char *lane = tg_is_float(d) ? tg_format(e->cx, "(%s)%s", c_type(e, d, n->span), e->lane) : e->lane;
    bool zero = is_number(base, 0), one = is_number(stride, 1);
    bool open = open_bracket(e, !zero ? C_ADD : !one ? C_MUL : tg_is_float(d) ? C_UNARY : C_POSTFIX, outer);
    if (!zero) {
        c_expr(e, base, C_ADD);
        tg_puts(e->to, " + ");
    }
    tg_puts(e->to, lane);
    if (!one) {
        tg_puts(e->to, " * ");
        c_expr(e, stride, C_UNARY);
    }
    close_bracket(e, open);
}

static void shuffle(tg_emit *e, const tg_node *n, int outer)
{
    uint32_t nvec = (uint32_t)n->u.i, nlanes = n->nkids - nvec;
    int64_t keep = e->lane_at, want = n->kid[nvec + (uint32_t)(keep >= 0 && keep < nlanes ? keep : 0)]->u.i;
    for (uint32_t i = 0; i < nvec; ++i) {
        uint16_t lanes = tg_dtype_of(n->kid[i]).lanes;
        if (want < lanes) {
            e->lane_at = want;
            c_expr(e, n->kid[i], outer);
            e->lane_at = keep;
            return;
        }
        want -= lanes;
    }
    tg_error(e->cx, n->span, "a shuffle takes a lane that its vectors do not have");
    e->failed = true;
}

/* ---- all of them ---- */

static void variable(tg_emit *e, const tg_node *n)
{
    const c_var *v = c_var_of(e, n->u.var);
    if (v->name == NULL) {
        tg_error(e->cx, n->span, "%s has no value here: a variable of a shape must also be a parameter",
                 n->u.var->name->text);
        e->failed = true;
        return;
    }
    tg_puts(e->to, v->name->text);
    if (n->type->kind == TG_T_PRIM && n->type->dtype.lanes > 1)
        c_put_lane(e);
}

/* Operations on bool: + is or, * is and, - is exclusive or. */
static void bool_ring(tg_emit *e, const tg_node *n, int outer)
{
    enum tg_kind as = n->kind == TG_ADD ? TG_OR : n->kind == TG_MUL ? TG_AND : TG_NE;
    infix(e, tg_node_new(e->cx, as, n->span, n->type, NULL, 2, n->kid), outer);
}

static void rounded(tg_emit *e, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    tg_printf(e->to, "%s(", c_helper(e, d.code == kDLBfloat ? C_H_ROUND_BF16 : C_H_ROUND_HALF, d, d));
    infix(e, n, C_ANY);
    tg_putc(e->to, ')');
}

static void float_mod(tg_emit *e, const tg_node *n)
{
    e->need |= C_MATH;
    tg_puts(e->to, tg_dtype_of(n).bits == 64 ? "fmod(" : "fmodf(");
    c_expr(e, n->kid[0], C_TERNARY);
    tg_puts(e->to, ", ");
    c_expr(e, n->kid[1], C_TERNARY);
    tg_putc(e->to, ')');
}

static void arithmetic(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n);
    if (is_plain(e, n))
        infix(e, n, outer);
    else if (tg_is_bool(d) && c_is_ring(n))
        bool_ring(e, n, outer);
    else if (n->kind == TG_MOD && tg_is_float(d))
        float_mod(e, n);
    else if (tg_is_float(d))
        rounded(e, n);
    else if (c_is_ring(n))
        ring(e, n, outer);
    else
        division(e, n, outer);
}

/* A comparison that the type alone decides is one that compilers warn about: x >= 0 of an unsigned x. */
static bool decided(tg_emit *e, const tg_node *n, bool *value)
{
    const tg_node *a = n->kid[0], *b = n->kid[1];
    DLDataType d = a->type->kind == TG_T_PRIM ? tg_dtype_of(a) : TG_HANDLE;
    if (!tg_is_int(d) || (d.code == kDLInt && d.bits >= 32) || is_literal(a) == is_literal(b))
        return false;
    c_range x = c_dtype_range(d), y = x;
    *(is_literal(a) ? &x : &y) = c_range_of(e, is_literal(a) ? a : b);
    if (d.bits >= 32 && (x.lo != 0 || y.lo != 0))
        return false;
    bool less = x.hi < y.lo, less_equal = x.hi <= y.lo, more = x.lo > y.hi, more_equal = x.lo >= y.hi;
    switch (n->kind) {
    case TG_LT: *value = less; return less || more_equal;
    case TG_LE: *value = less_equal; return less_equal || more;
    case TG_GT: *value = more; return more || less_equal;
    case TG_GE: *value = more_equal; return more_equal || less;
    case TG_EQ: *value = false; return less || more;
    default: *value = true; return less || more;
    }
}

static void comparison(tg_emit *e, const tg_node *n, int outer)
{
    bool value;
    if (decided(e, n, &value))
        c_put_int(e, TG_BOOL, value, false, outer);
    else
        infix(e, n, outer);
}

/* Some conditions are comparisons with 0 in C; those are turned around instead of negated. */
static bool compares_with_zero(tg_emit *e, const tg_node *n)
{
    bool classifies = tg_is_call(n, "isnan") || tg_is_call(n, "isinf") || tg_is_call(n, "isfinite");
    return (classifies || n->kind == TG_LOAD) && (e->hoisted.n == 0 || tg_map_get(&e->hoisted, (uint64_t)n->id + 1) == NULL);
}

static void negation(tg_emit *e, const tg_node *n, int outer)
{
    if (compares_with_zero(e, n->kid[0])) {
        e->inverted = true;
        c_expr(e, n->kid[0], outer);
        e->inverted = false;
        return;
    }
    bool open = open_bracket(e, C_UNARY, outer);
    tg_putc(e->to, '!');
    c_expr(e, n->kid[0], C_UNARY);
    close_bracket(e, open);
}

static void print(tg_emit *e, const tg_node *n, int outer)
{
    switch (n->kind) {
    case TG_INT: c_put_int(e, tg_dtype_of(n), n->u.i, true, outer); break;
    case TG_FLOAT: c_put_float(e, tg_dtype_of(n), n->u.f, outer); break;
    case TG_STR: c_put_string(e, n->u.name); break;
    case TG_VAR: variable(e, n); break;
    case TG_ADD: case TG_SUB: case TG_MUL: case TG_DIV: case TG_MOD: case TG_FLOORDIV: case TG_FLOORMOD:
        arithmetic(e, n, outer);
        break;
    case TG_MIN: case TG_MAX: extreme(e, n, outer); break;
    case TG_EQ: case TG_NE: case TG_LT: case TG_LE: case TG_GT: case TG_GE: comparison(e, n, outer); break;
    case TG_AND: case TG_OR: infix(e, n, outer); break;
    case TG_NOT: negation(e, n, outer); break;
    case TG_SELECT: choice(e, n, outer); break;
    case TG_CAST: cast(e, n, outer); break;
    case TG_LOAD: c_load(e, n, outer); break;
    case TG_CALL:
        if (tg_is_call(n, "if_then_else"))
            choice(e, n, outer);
        else
            c_call_expr(e, n, outer);
        break;
    case TG_LET: c_expr(e, n->kid[1], outer); break;     /* its variable stands in front of the statement: c_stmt.c */
    case TG_RAMP: ramp(e, n, outer); break;
    case TG_BROADCAST: c_expr(e, n->kid[0], outer); break;
    case TG_SHUFFLE: shuffle(e, n, outer); break;
    default: TG_CHECK(e->cx, false, n);
    }
}

void c_expr(tg_emit *e, const tg_node *n, int outer)
{
    if (!c_enter(e, n))
        return;
    const tg_name *held = e->hoisted.n > 0 ? tg_map_get(&e->hoisted, (uint64_t)n->id + 1) : NULL;
    if (held != NULL)
        tg_puts(e->to, held->text);
    else
        print(e, n, outer);
    c_leave(e);
}

void c_assigned(tg_emit *e, const tg_node *n, DLDataType to)
{
    n = c_without_widening(n);
    const tg_node *lit = literal_of(n);
    if (is_literal(n) && lit->kind == TG_INT)
        c_put_int(e, tg_is_bool(to) ? to : tg_dtype_of(lit), lit->u.i, false, C_TERNARY);
    else
        c_expr(e, n, C_TERNARY);
}

void c_unrounded(tg_emit *e, const tg_node *n, DLDataType to)
{
    bool sum = c_is_ring(n) || n->kind == TG_DIV;
    if (n->type->kind == TG_T_PRIM && c_is_half(tg_dtype_of(n)) && sum)
        infix(e, n, C_TERNARY);
    else
        c_assigned(e, n, to);
}

void c_index(tg_emit *e, const tg_node *n, int outer)
{
    ++e->index;
    n = c_without_widening(n);
    if (n->kind == TG_INT)
        c_put_int(e, tg_dtype_of(n), n->u.i, false, outer);
    else
        c_expr(e, n, outer);
    --e->index;
}

typedef struct mixture { unsigned few; bool data, loop, other; } mixture;

/* What an expression is made of; looks at a few nodes only. */
static void take_apart(tg_emit *e, const tg_node *n, mixture *m)
{
    bool pure = n->kind != TG_CALL || tg_is_call(n, "if_then_else") || tg_is_call(n, "likely");
    if (n->kind == TG_LOAD || !pure || m->few == 0)
        m->data = true;
    if (m->data)
        return;
    --m->few;
    if (n->kind == TG_VAR)
        *(c_var_of(e, n->u.var)->index ? &m->loop : &m->other) = true;
    for (uint32_t i = 0; i < n->nkids; ++i)
        take_apart(e, n->kid[i], m);
}

/* An expression on loop variables, with parameters or without, is index arithmetic; one on data or parameters alone is not. */
bool c_is_index(tg_emit *e, const tg_node *n)
{
    mixture m = { .few = 100 };
    take_apart(e, n, &m);
    return !m.data && (m.loop || !m.other);
}

void c_condition(tg_emit *e, const tg_node *n)
{
    bool index = c_is_index(e, n);
    e->index += index;
    c_expr(e, n, C_ANY);
    e->index -= index;
}
