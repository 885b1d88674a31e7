/* tvmscript_expr.c: operators: Python's on numbers, TIR's on expressions, and the rules that bring operands to one type.
 * Printed text never needs those rules, its operands agree; hand-written text does. Formats: tvmscript-tir.md section 23. */
#include "tvmscript_elab.h"

#include <math.h>
#include <string.h>

bool tg_el_is_number(const tg_val *v)
{
    return v->kind == TG_VAL_BOOL || v->kind == TG_VAL_INT || v->kind == TG_VAL_FLOAT;
}

static double number_f(const tg_val *v)
{
    return v->kind == TG_VAL_FLOAT ? v->u.f : v->negative ? -(double)v->u.mag : (double)v->u.mag;
}

/* ---- constants and casts ---- */

const tg_node *tg_el_literal(tg_elab *e, const tg_val *v, DLDataType d)
{
    if (tg_is_float(d))
        return tg_float(e->cx, d, number_f(v));
    if (v->kind == TG_VAL_FLOAT) {
        if (tg_is_bool(d))
            return tg_int(e->cx, d, v->u.f != 0);
        if (!(fabs(v->u.f) < 9e18)) {
            tg_el_error(e, v->at, "this number does not fit %s", tg_dtype_text(e->cx, d));
            return NULL;
        }
        return tg_int(e->cx, d, (int64_t)v->u.f);
    }
    int64_t i;
    if (d.code == kDLUInt && d.bits == 64 && !v->negative)
        return tg_int(e->cx, d, (int64_t)v->u.mag);
    return tg_el_int(e, v, "the constant", &i) ? tg_int(e->cx, d, i) : NULL;
}

const tg_node *tg_el_expr(tg_elab *e, const tg_val *v)
{
    switch (v->kind) {
    case TG_VAL_ERROR:
        return NULL;
    case TG_VAL_EXPR:
        return v->u.expr;
    case TG_VAL_BOOL:
        return tg_el_literal(e, v, TG_BOOL);
    case TG_VAL_INT: {
        bool small = v->u.mag <= (uint64_t)INT32_MAX + (v->negative ? 1 : 0);
        return tg_el_literal(e, v, small ? TG_INT32 : TG_INT64);
    }
    case TG_VAL_FLOAT:
        return tg_el_literal(e, v, TG_FLOAT32);
    case TG_VAL_STR:
        return tg_str(e->cx, v->u.name);
    case TG_VAL_ACCESS:
        return tg_el_load(e, v);
    case TG_VAL_FORM: case TG_VAL_WORD:
        tg_el_error(e, v->at, "%s does not stand in an expression", v->name->text);
        return NULL;
    case TG_VAL_BUFFER:
        tg_el_error(e, v->at, "buffer %s stands without indices", v->w.buf->name->text);
        return NULL;
    default:
        tg_el_error(e, v->at, "expected an expression, not %s", tg_el_what(v));
        return NULL;
    }
}

const tg_node *tg_el_cast(tg_elab *e, const tg_node *a, DLDataType d)
{
    d.lanes = tg_dtype_of(a).lanes;
    if (tg_dtype_eq(d, tg_dtype_of(a)))
        return a;
    if (a->kind == TG_INT)
        return tg_is_float(d) ? tg_float(e->cx, d, (double)a->u.i)
                              : tg_int(e->cx, d, tg_is_bool(d) ? a->u.i != 0 : a->u.i);
    if (a->kind == TG_FLOAT && (tg_is_float(d) || fabs(a->u.f) < 9e18))
        return tg_is_float(d) ? tg_float(e->cx, d, a->u.f)
                              : tg_int(e->cx, d, tg_is_bool(d) ? a->u.f != 0 : (int64_t)a->u.f);
    return tg_node_new(e->cx, TG_CAST, a->span, tg_prim(e->cx, d), NULL, 1, &a);
}

static bool is_scalar_or_vector(const tg_node *a)
{
    return a->type->kind == TG_T_PRIM && a->type->dtype.code != kDLOpaqueHandle;
}

const tg_node *tg_el_expr_as(tg_elab *e, const tg_val *v, DLDataType d)
{
    if (tg_el_is_number(v))
        return tg_el_literal(e, v, d);
    const tg_node *a = tg_el_expr(e, v);
    if (a == NULL)
        return NULL;
    if (!is_scalar_or_vector(a)) {
        tg_el_error(e, v->at, "expected a value of type %s", tg_dtype_text(e->cx, d));
        return NULL;
    }
    DLDataType own = tg_dtype_of(a);
    if (own.lanes == 1 && d.lanes > 1) {
        const tg_node *element = tg_el_cast(e, a, tg_dtype(d.code, d.bits, 1));
        return tg_node_new(e->cx, TG_BROADCAST, element->span, tg_prim(e->cx, d), NULL, 1, &element);
    }
    if (own.lanes != d.lanes) {
        tg_el_error(e, v->at, "the value has %u lanes, expected %u", (unsigned)own.lanes, (unsigned)d.lanes);
        return NULL;
    }
    return tg_el_cast(e, a, d);
}

const tg_node *tg_el_cond(tg_elab *e, const tg_val *v)
{
    if (tg_el_is_number(v))
        return tg_int(e->cx, TG_BOOL, number_f(v) != 0);
    const tg_node *a = tg_el_expr(e, v);
    if (a == NULL || (is_scalar_or_vector(a) && tg_is_bool(tg_dtype_of(a))))
        return a;
    tg_el_error(e, v->at, "a condition must be bool, this is %s",
                a->type->kind == TG_T_PRIM ? tg_dtype_text(e->cx, tg_dtype_of(a)) : "no scalar");
    return NULL;
}

bool tg_el_is_true(tg_elab *e, const tg_val *v)
{
    const tg_node *a = tg_el_cond(e, v);
    if (a != NULL && a->kind == TG_BROADCAST)
        a = a->kid[0];
    return a != NULL && tg_is_int_const(a, 1);
}

const tg_node *tg_el_index(tg_elab *e, const tg_val *v)
{
    if (v->kind == TG_VAL_FLOAT) {
        tg_el_error(e, v->at, "expected an integer");
        return NULL;
    }
    const tg_node *a = tg_el_expr(e, v);
    if (a != NULL && (!is_scalar_or_vector(a) || !tg_is_int(tg_dtype_of(a)))) {
        tg_el_error(e, v->at, "expected an integer, this is %s",
                    a->type->kind == TG_T_PRIM ? tg_dtype_text(e->cx, tg_dtype_of(a)) : "a pointer");
        return NULL;
    }
    return a;
}

/* ---- operands of one type ---- */

static const tg_node *repeat(tg_elab *e, const tg_node *a, uint16_t lanes)
{
    DLDataType d = tg_dtype_of(a);
    if (d.lanes == lanes)
        return a;
    d.lanes = lanes;
    return tg_node_new(e->cx, TG_BROADCAST, a->span, tg_prim(e->cx, d), NULL, 1, &a);
}

/* The element type both sides take; false when there is none. */
static bool common_type(DLDataType a, DLDataType b, DLDataType *out)
{
    bool fa = tg_is_float(a), fb = tg_is_float(b);
    if (fa && fb) {
        if (a.bits == b.bits && a.code != b.code)
            return false;
        *out = a.bits >= b.bits ? a : b;
    } else if (fa || fb) {
        *out = fa ? a : b;
    } else if (a.bits == b.bits) {
        *out = a.code == kDLUInt ? a : b;
    } else {
        *out = a.bits > b.bits ? a : b;
    }
    return true;
}

static const char *type_text(tg_elab *e, const tg_node *a)
{
    return a->type->kind == TG_T_PRIM  ? tg_dtype_text(e->cx, a->type->dtype)
           : a->type->kind == TG_T_PTR ? "handle"
                                       : "void";
}

bool tg_el_is_handle(const tg_type *t)
{
    return t->kind == TG_T_PTR || (t->kind == TG_T_PRIM && t->dtype.code == kDLOpaqueHandle);
}

bool tg_el_agree(tg_elab *e, const tg_syn *at, const tg_node **a, const tg_node **b)
{
    if ((*a)->type == (*b)->type || (tg_el_is_handle((*a)->type) && tg_el_is_handle((*b)->type)))
        return true;
    DLDataType da = tg_dtype_of(*a), db = tg_dtype_of(*b), d;
    bool good = is_scalar_or_vector(*a) && is_scalar_or_vector(*b) &&
                (da.lanes == db.lanes || da.lanes == 1 || db.lanes == 1) && common_type(da, db, &d);
    if (!good) {
        tg_el_error(e, at, "operands of types %s and %s do not go together", type_text(e, *a), type_text(e, *b));
        return false;
    }
    uint16_t lanes = da.lanes > db.lanes ? da.lanes : db.lanes;
    *a = repeat(e, tg_el_cast(e, *a, d), lanes);
    *b = repeat(e, tg_el_cast(e, *b, d), lanes);
    return true;
}

/* ---- Python's operators on numbers ---- */

static tg_val of_bool(const tg_syn *at, bool b)
{
    tg_val v = { .kind = TG_VAL_BOOL, .at = at };
    v.u.mag = b;
    return v;
}

static tg_val of_int(const tg_syn *at, int64_t i)
{
    tg_val v = { .kind = TG_VAL_INT, .at = at, .negative = i < 0 };
    v.u.mag = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    return v;
}

static tg_val of_float(const tg_syn *at, double f)
{
    tg_val v = { .kind = TG_VAL_FLOAT, .at = at };
    v.u.f = f;
    return v;
}

static bool add_fits(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
}

static bool mul_fits(int64_t a, int64_t b, int64_t *out)
{
    bool fits = a == 0 || b == 0
                || (a > 0 ? (b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a)
                          : (b > 0 ? a >= INT64_MIN / b : a != INT64_MIN && b != INT64_MIN && -a <= INT64_MAX / -b));
    if (fits)
        *out = a * b;
    return fits;
}

static bool pow_fits(int64_t a, int64_t n, int64_t *out)
{
    if (n < 0 || n > 63 * 64)
        return false;
    *out = 1;
    for (int64_t i = 0; i < n; ++i)
        if (!mul_fits(*out, a, out))
            return false;
    return true;
}

static bool python_ints(enum tg_op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case TG_OP_ADD: return add_fits(a, b, out);
    case TG_OP_SUB: return b != INT64_MIN && add_fits(a, -b, out);
    case TG_OP_MUL: return mul_fits(a, b, out);
    case TG_OP_POW: return pow_fits(a, b, out);
    case TG_OP_FLOORDIV:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
        return true;
    case TG_OP_FLOORMOD:
        if (b == 0)
            return false;
        *out = b == -1 ? 0 : a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
        return true;
    case TG_OP_SHL: return b >= 0 && b < 63 && mul_fits(a, (int64_t)1 << b, out);
    case TG_OP_SHR: *out = a >> (b < 0 || b > 63 ? 63 : b); return b >= 0;
    case TG_OP_BITAND: *out = a & b; return true;
    case TG_OP_BITOR: *out = a | b; return true;
    case TG_OP_BITXOR: *out = a ^ b; return true;
    default: return false;
    }
}

static bool python_floats(enum tg_op op, double a, double b, double *out)
{
    switch (op) {
    case TG_OP_ADD: *out = a + b; return true;
    case TG_OP_SUB: *out = a - b; return true;
    case TG_OP_MUL: *out = a * b; return true;
    case TG_OP_DIV: *out = a / b; return b != 0;
    case TG_OP_POW: *out = pow(a, b); return true;
    case TG_OP_FLOORDIV: *out = floor(a / b); return b != 0;
    case TG_OP_FLOORMOD: *out = a - b * floor(a / b); return b != 0;
    default: return false;
    }
}

static bool compare(enum tg_op op, double a, double b)
{
    switch (op) {
    case TG_OP_LT: return a < b;
    case TG_OP_LE: return a <= b;
    case TG_OP_GT: return a > b;
    case TG_OP_GE: return a >= b;
    case TG_OP_EQ: return a == b;
    default: return a != b;
    }
}

static bool is_comparison(enum tg_op op)
{
    return op >= TG_OP_LT && op <= TG_OP_NE;
}

static tg_val python_binary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a, const tg_val *b)
{
    if (op == TG_OP_AND || op == TG_OP_OR)
        return (number_f(a) != 0) == (op == TG_OP_AND) ? *b : *a;
    bool floats = a->kind == TG_VAL_FLOAT || b->kind == TG_VAL_FLOAT;
    if (is_comparison(op) && floats)
        return of_bool(at, compare(op, number_f(a), number_f(b)));
    if (floats || op == TG_OP_DIV) {
        double f;
        return python_floats(op, number_f(a), number_f(b), &f) ? of_float(at, f)
                                                               : tg_el_wrong(e, at, "this cannot be computed");
    }
    int64_t x, y, out;
    if (!tg_el_int(e, a, "an operand", &x) || !tg_el_int(e, b, "an operand", &y))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (is_comparison(op))
        return of_bool(at, compare(op, x < y ? -1 : x > y, 0));
    return python_ints(op, x, y, &out) ? of_int(at, out) : tg_el_wrong(e, at, "this cannot be computed in 64 bits");
}

/* ---- TIR's operators ---- */

static tg_val make(tg_elab *e, const tg_syn *at, enum tg_kind kind, const tg_node *a, const tg_node *b)
{
    const tg_type *type = a->type;
    if (kind >= TG_EQ && kind <= TG_OR)
        type = a->type->kind != TG_T_PRIM || tg_dtype_of(a).lanes == 1
                   ? e->boolean
                   : tg_prim(e->cx, tg_dtype(kDLUInt, 1, tg_dtype_of(a).lanes));
    return tg_el_of_expr(at, tg_node_new(e->cx, kind, tg_el_span(e, at), type, NULL, 2, (const tg_node *[]){ a, b }));
}

/* A literal beside an operand in a comparison takes the operand's type, where it fits. */
static const tg_node *beside(tg_elab *e, const tg_val *literal, const tg_node *other)
{
    DLDataType d = tg_dtype_of(other);
    bool whole = literal->kind != TG_VAL_FLOAT;
    if (!is_scalar_or_vector(other) || (!whole && !tg_is_float(d)) || tg_is_bool(d))
        return tg_el_expr(e, literal);
    d.lanes = 1;
    if (whole && tg_is_int(d)) {
        int64_t i;
        if (d.bits < 64 && (!tg_el_int(e, literal, "the constant", &i) || tg_wrap_to(d, i) != i))
            return tg_el_expr(e, literal);
    }
    return tg_el_literal(e, literal, d);
}

static bool operands(tg_elab *e, const tg_syn *at, bool adapt, const tg_val *a, const tg_val *b, const tg_node **x,
                     const tg_node **y)
{
    *x = adapt && tg_el_is_number(a) ? NULL : tg_el_expr(e, a);
    *y = adapt && tg_el_is_number(b) ? NULL : tg_el_expr(e, b);
    if (adapt && tg_el_is_number(a) && *y != NULL)
        *x = beside(e, a, *y);
    if (adapt && tg_el_is_number(b) && *x != NULL)
        *y = beside(e, b, *x);
    return *x != NULL && *y != NULL && tg_el_agree(e, at, x, y);
}

static const char *const no_numbers = "operands must be numbers here";

tg_val tg_el_arith(tg_elab *e, const tg_syn *at, enum tg_kind kind, const tg_val *a, const tg_val *b)
{
    const tg_node *x, *y;
    bool comparison = kind >= TG_EQ && kind <= TG_GE;
    if (tg_el_is_number(a) && tg_el_is_number(b))
        comparison = false;             /* two literals: int32, float32 */
    if (!operands(e, at, comparison, a, b, &x, &y))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (!is_scalar_or_vector(x) && kind != TG_EQ && kind != TG_NE)
        return tg_el_wrong(e, at, "%s", no_numbers);
    if ((kind == TG_FLOORDIV || kind == TG_FLOORMOD) && tg_is_float(tg_dtype_of(x)))
        return tg_el_wrong(e, at, "'%s' takes integers only", kind == TG_FLOORDIV ? "//" : "%");
    return make(e, at, kind, x, y);
}

static tg_val logic(tg_elab *e, const tg_syn *at, enum tg_kind kind, const tg_val *a, const tg_val *b)
{
    const tg_node *x = tg_el_cond(e, a), *y = tg_el_cond(e, b);
    if (x == NULL || y == NULL || !tg_el_agree(e, at, &x, &y))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    return make(e, at, kind, x, y);
}

static tg_val intrinsic(tg_elab *e, const tg_syn *at, const char *name, const tg_val *a, const tg_val *b)
{
    const tg_node *x, *y;
    if (!operands(e, at, false, a, b, &x, &y))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (!is_scalar_or_vector(x))
        return tg_el_wrong(e, at, "%s", no_numbers);
    return tg_el_of_expr(at, tg_node_at(e->cx, tg_call2(e->cx, name, x, y), tg_el_span(e, at)));
}

/* Operators of call form, T.Add(1, 2), and infix ones whose operands are not both Python numbers. */
static tg_val tir_binary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a, const tg_val *b)
{
    switch (op) {
    case TG_OP_OR: return logic(e, at, TG_OR, a, b);
    case TG_OP_AND: return logic(e, at, TG_AND, a, b);
    case TG_OP_LT: return tg_el_arith(e, at, TG_LT, a, b);
    case TG_OP_LE: return tg_el_arith(e, at, TG_LE, a, b);
    case TG_OP_GT: return tg_el_arith(e, at, TG_GT, a, b);
    case TG_OP_GE: return tg_el_arith(e, at, TG_GE, a, b);
    case TG_OP_EQ: return tg_el_arith(e, at, TG_EQ, a, b);
    case TG_OP_NE: return tg_el_arith(e, at, TG_NE, a, b);
    case TG_OP_ADD: return tg_el_arith(e, at, TG_ADD, a, b);
    case TG_OP_SUB: return tg_el_arith(e, at, TG_SUB, a, b);
    case TG_OP_MUL: return tg_el_arith(e, at, TG_MUL, a, b);
    case TG_OP_FLOORDIV: return tg_el_arith(e, at, TG_FLOORDIV, a, b);
    case TG_OP_FLOORMOD: return tg_el_arith(e, at, TG_FLOORMOD, a, b);
    case TG_OP_SHL: return intrinsic(e, at, "shift_left", a, b);
    case TG_OP_SHR: return intrinsic(e, at, "shift_right", a, b);
    case TG_OP_BITAND: return intrinsic(e, at, "bitwise_and", a, b);
    case TG_OP_BITOR: return intrinsic(e, at, "bitwise_or", a, b);
    case TG_OP_BITXOR: return intrinsic(e, at, "bitwise_xor", a, b);
    case TG_OP_POW: return intrinsic(e, at, "pow", a, b);
    case TG_OP_DIV: {
        tg_val v = tg_el_arith(e, at, TG_DIV, a, b);
        if (v.kind == TG_VAL_EXPR && !e->old && !tg_is_float(tg_dtype_of(v.u.expr)))
            return tg_el_wrong(e, at, "'/' divides floats; for integers write // or T.Div");
        return v;
    }
    default: return tg_el_wrong(e, at, "operator '%s' is not supported", tg_op_text(op));
    }
}

tg_val tg_el_binary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a, const tg_val *b)
{
    if (a->kind == TG_VAL_ERROR || b->kind == TG_VAL_ERROR)
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    return tir_binary(e, at, op, a, b);
}

static tg_val infix(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a, const tg_val *b)
{
    if (tg_el_is_number(a) && tg_el_is_number(b))
        return python_binary(e, at, op, a, b);
    return tg_el_binary(e, at, op, a, b);
}

/* ---- chains ---- */

static bool is_truth(const tg_val *v)
{
    if (v->kind == TG_VAL_ACCESS)
        return tg_is_bool(v->w.buf->dtype);
    return v->kind == TG_VAL_BOOL ||
           (v->kind == TG_VAL_EXPR && v->u.expr->type->kind == TG_T_PRIM && tg_is_bool(tg_dtype_of(v->u.expr)));
}

static bool is_order(enum tg_op op)
{
    return op >= TG_OP_LT && op <= TG_OP_GE;
}

/* a < b == c: left to right where the right side is a truth value, as TVM's printer means it; where no side is one, as
 * Python chains: a < b and b == c. In old text p == i < n is p == (i < n). */
static tg_val comparisons(tg_elab *e, const tg_syn *at, const tg_val *v, uint32_t n)
{
    tg_val all = v[0], last = v[0];
    const tg_syn *s = tg_syn_first(at);
    for (uint32_t i = 1; i < n; ++i) {
        s = s->next;
        enum tg_op op = (enum tg_op)s->link, then = i + 1 < n ? (enum tg_op)s->next->link : TG_OP_NONE;
        tg_val right = v[i];
        if (!is_order(op) && is_truth(&all) && !is_truth(&right) && is_order(then)) {
            right = infix(e, at, then, &v[i], &v[i + 1]);
            s = s->next;
            ++i;
        }
        if (i == 1 || is_truth(&right) || is_truth(&last)) {
            all = infix(e, at, op, &all, &right);
        } else {
            tg_val next = infix(e, at, op, &last, &right);
            all = infix(e, at, TG_OP_AND, &all, &next);
        }
        last = right;
    }
    return all;
}

tg_val tg_el_chain(tg_elab *e, const tg_syn *at, const tg_val *v, uint32_t n)
{
    if (n > 2 && is_comparison((enum tg_op)at->last->link))
        return comparisons(e, at, v, n);
    tg_val all = v[0];
    const tg_syn *s = tg_syn_first(at);
    for (uint32_t i = 1; i < n; ++i) {
        s = s->next;
        all = infix(e, at, (enum tg_op)s->link, &all, &v[i]);
    }
    return all;
}

tg_val tg_el_unary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a)
{
    if (a->kind == TG_VAL_ERROR)
        return *a;
    if (op == TG_OP_NOT && tg_el_is_number(a))
        return of_bool(at, number_f(a) == 0);
    if (tg_el_is_number(a)) {
        int64_t i;
        if (op == TG_OP_INVERT)
            return tg_el_int(e, a, "the operand", &i) ? of_int(at, ~i) : (tg_val){ .kind = TG_VAL_ERROR, .at = at };
        tg_val v = *a;
        v.at = at;
        v.kind = a->kind == TG_VAL_BOOL ? TG_VAL_INT : a->kind;
        v.negative = a->kind != TG_VAL_FLOAT && (op == TG_OP_NEG) != a->negative;
        if (a->kind == TG_VAL_FLOAT)
            v.u.f = op == TG_OP_NEG ? -a->u.f : a->u.f;
        return v;
    }
    const tg_node *x = op == TG_OP_NOT ? tg_el_cond(e, a) : tg_el_expr(e, a);
    if (x == NULL)
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (!is_scalar_or_vector(x))
        return tg_el_wrong(e, at, "%s", no_numbers);
    bool truth = tg_is_bool(tg_dtype_of(x));
    if (op == TG_OP_POS)
        return tg_el_of_expr(at, x);
    if (op == TG_OP_NOT || (op == TG_OP_INVERT && truth))
        return tg_el_of_expr(at, tg_node_new(e->cx, TG_NOT, tg_el_span(e, at), x->type, NULL, 1, &x));
    if (op == TG_OP_INVERT)
        return tg_el_of_expr(at, tg_node_at(e->cx, tg_call1(e->cx, "bitwise_not", x), tg_el_span(e, at)));
    if (x->kind == TG_INT && x->u.i != INT64_MIN)
        return tg_el_of_expr(at, tg_int(e->cx, tg_dtype_of(x), -x->u.i));
    if (x->kind == TG_FLOAT)
        return tg_el_of_expr(at, tg_float(e->cx, tg_dtype_of(x), -x->u.f));
    return make(e, at, TG_MUL, x, tg_const(e->cx, tg_dtype_of(x), -1));
}

tg_val tg_el_choice(tg_elab *e, const tg_syn *at, const tg_val *c, const tg_val *a, const tg_val *b)
{
    if (tg_el_is_number(c))
        return number_f(c) != 0 ? *a : *b;
    const tg_node *cond = tg_el_cond(e, c), *x, *y;
    if (cond == NULL || !operands(e, at, false, a, b, &x, &y))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    return tg_el_of_expr(at, tg_node_at(e->cx, tg_call3(e->cx, "if_then_else", cond, x, y), tg_el_span(e, at)));
}

/* ---- extents ---- */

/* Equal expressions, seen without the cost of a general comparison where they are short, as bounds are. */
static bool same_expr(tg_elab *e, const tg_node *a, const tg_node *b)
{
    const tg_node *todo[32][2] = { { a, b } };
    for (size_t n = 1; n > 0;) {
        a = todo[--n][0];
        b = todo[n][1];
        if (a == b)
            continue;
        bool simple = a->kind == TG_INT || a->kind == TG_VAR || (a->kind >= TG_ADD && a->kind <= TG_MAX);
        if (!simple || n + 2 > TG_COUNT(todo)) {
            if (!tg_node_equal(e->cx, a, b))
                return false;
            continue;
        }
        if (a->kind != b->kind || a->type != b->type || (a->kind == TG_INT && a->u.i != b->u.i)
            || (a->kind == TG_VAR && a->u.var != b->u.var))
            return false;
        for (uint32_t i = 0; i < a->nkids; ++i, ++n) {
            todo[n][0] = a->kid[i];
            todo[n][1] = b->kid[i];
        }
    }
    return true;
}

/* Sums of multiples of what is not taken apart further. */
typedef struct term { const tg_node *n; int64_t times; } term;
typedef struct sum { TG_VEC(term) todo; TG_VEC(term) terms; int64_t constant; bool lost; } sum;

enum { MOST_TERMS = 64 };

static void add_term(tg_elab *e, sum *s, term t)
{
    for (size_t i = 0; i < s->terms.n; ++i) {
        if (same_expr(e, s->terms.at[i].n, t.n)) {
            s->lost = s->lost || !add_fits(s->terms.at[i].times, t.times, &s->terms.at[i].times);
            return;
        }
    }
    TG_PUSH(e->cx, s->terms, t);
    s->lost = s->lost || s->terms.n > MOST_TERMS;
}

static void take_apart(tg_elab *e, sum *s, const tg_node *n, int64_t times)
{
    TG_PUSH(e->cx, s->todo, ((term){ n, times }));
    while (s->todo.n > 0 && !s->lost) {
        term t = s->todo.at[--s->todo.n];
        int64_t k;
        if (t.n->kind == TG_INT) {
            s->lost = !mul_fits(t.n->u.i, t.times, &k) || !add_fits(s->constant, k, &s->constant);
        } else if (t.n->kind == TG_ADD || t.n->kind == TG_SUB) {
            TG_PUSH(e->cx, s->todo, ((term){ t.n->kid[0], t.times }));
            TG_PUSH(e->cx, s->todo, ((term){ t.n->kid[1], t.n->kind == TG_ADD ? t.times : -t.times }));
        } else if (t.n->kind == TG_MUL && t.n->kid[1]->kind == TG_INT) {
            s->lost = !mul_fits(t.n->kid[1]->u.i, t.times, &k) || k == INT64_MIN;
            TG_PUSH(e->cx, s->todo, ((term){ t.n->kid[0], k }));
        } else {
            add_term(e, s, t);
        }
    }
}

const tg_node *tg_el_extent(tg_elab *e, const tg_syn *at, const tg_node *min, const tg_node *end)
{
    if (!tg_el_agree(e, at, &min, &end))
        return NULL;
    if (end->kind == TG_ADD && same_expr(e, end->kid[0], min))
        return end->kid[1];
    if (tg_is_int_const(min, 0))
        return end;
    sum s = { 0 };
    take_apart(e, &s, end, 1);
    take_apart(e, &s, min, -1);
    bool constant = !s.lost;
    for (size_t i = 0; i < s.terms.n; ++i)
        constant = constant && s.terms.at[i].times == 0;
    if (constant)
        return tg_int(e->cx, tg_dtype_of(end), s.constant);
    return tg_node_new(e->cx, TG_SUB, tg_el_span(e, at), end->type, NULL, 2, (const tg_node *[]){ end, min });
}
