/* c_range.c: bounds of expressions, only as far as printing needs them: may this sum be written as a plain sum, does this
 * division need the helper, is this conversion from float defined?
 *
 * INT64_MIN and INT64_MAX mean "no bound", so that the arithmetic here saturates and never lies. A query looks at a limited
 * number of nodes; beyond that it answers with what the type alone promises. */
#include "emit.h"

#include <math.h>

enum { MOST_NODES = 2000, MOST_LEVELS = 200 };

typedef struct query { tg_emit *e; unsigned nodes, level; } query;

static c_range range(query *q, const tg_node *n);
static c_real real(query *q, const tg_node *n);

/* ---- arithmetic on bounds ---- */

static int64_t sat_add(int64_t a, int64_t b)
{
    if (a == INT64_MIN || b == INT64_MIN || (a < 0 && b < INT64_MIN - a))
        return INT64_MIN;
    if (a == INT64_MAX || b == INT64_MAX || (a > 0 && b > INT64_MAX - a))
        return INT64_MAX;
    return a + b;
}

static int64_t sat_neg(int64_t a)
{
    return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a;
}

static int64_t sat_mul(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return 0;
    bool negative = (a < 0) != (b < 0);
    int64_t end = negative ? INT64_MIN : INT64_MAX;
    if (a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX)
        return end;
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    if (x > (uint64_t)INT64_MAX / y)
        return end;
    return negative ? -(int64_t)(x * y) : (int64_t)(x * y);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

c_range c_range_join(c_range a, c_range b)
{
    return (c_range){ least(a.lo, b.lo), most(a.hi, b.hi) };
}

c_range c_range_add(c_range a, c_range b)
{
    return (c_range){ sat_add(a.lo, b.lo), sat_add(a.hi, b.hi) };
}

c_range c_range_scale(c_range a, int64_t times)
{
    return (c_range){ least(0, sat_mul(a.lo, times)), most(0, sat_mul(a.hi, times)) };
}

static c_range range_mul(c_range a, c_range b)
{
    int64_t p = sat_mul(a.lo, b.lo), q = sat_mul(a.lo, b.hi), r = sat_mul(a.hi, b.lo), s = sat_mul(a.hi, b.hi);
    return (c_range){ least(least(p, q), least(r, s)), most(most(p, q), most(r, s)) };
}

c_range c_dtype_range(DLDataType d)
{
    if (tg_is_bool(d))
        return (c_range){ 0, 1 };
    if (d.code == kDLUInt)
        return (c_range){ 0, d.bits >= 63 ? INT64_MAX : ((int64_t)1 << d.bits) - 1 };
    if (d.code == kDLInt && d.bits < 64)
        return (c_range){ -((int64_t)1 << (d.bits - 1)), ((int64_t)1 << (d.bits - 1)) - 1 };
    return (c_range){ INT64_MIN, INT64_MAX };
}

bool c_fits(c_range r, DLDataType d)
{
    c_range all = c_dtype_range(d);
    if (d.bits == 64)           /* the ends also stand for "no bound" */
        return r.lo > INT64_MIN && r.hi < INT64_MAX && (d.code == kDLInt || r.lo >= 0);
    return r.lo >= all.lo && r.hi <= all.hi;
}

static c_range within(c_range r, DLDataType d)
{
    return c_fits(r, d) ? r : c_dtype_range(d);
}

/* ---- integers ---- */

bool c_is_ring(const tg_node *n)
{
    return n->kind == TG_ADD || n->kind == TG_SUB || n->kind == TG_MUL;
}

static c_range combine(const tg_node *n, c_range a, c_range b)
{
    if (n->kind == TG_MUL)
        return range_mul(a, b);
    return c_range_add(a, n->kind == TG_ADD ? b : (c_range){ sat_neg(b.hi), sat_neg(b.lo) });
}

static c_range raw(query *q, const tg_node *n)
{
    return combine(n, range(q, n->kid[0]), range(q, n->kid[1]));
}

static c_range unwrapped(query *q, const tg_node *n)
{
    if (!c_is_ring(n))
        return range(q, n);
    if (++q->nodes > MOST_NODES || q->level > MOST_LEVELS)
        return (c_range){ INT64_MIN, INT64_MAX };
    ++q->level;
    c_range a = unwrapped(q, n->kid[0]), b = unwrapped(q, n->kid[1]);
    --q->level;
    return combine(n, a, b);
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a == INT64_MIN || a == INT64_MAX ? a : a / b - (a % b < 0);
}

static int64_t trunc_of(int64_t a, int64_t b)
{
    return a == INT64_MIN || a == INT64_MAX ? a : a / b;
}

/* Divisions by something that is known to be positive. */
static c_range division(query *q, const tg_node *n)
{
    c_range a = range(q, n->kid[0]), b = range(q, n->kid[1]);
    DLDataType d = tg_dtype_of(n);
    if (b.lo <= 0)
        return c_dtype_range(d);
    switch (n->kind) {
    case TG_FLOORDIV:
        return (c_range){ floor_of(a.lo, a.lo < 0 ? b.lo : b.hi), floor_of(a.hi, a.hi < 0 ? b.hi : b.lo) };
    case TG_DIV:
        return (c_range){ trunc_of(a.lo, a.lo < 0 ? b.lo : b.hi), trunc_of(a.hi, a.hi < 0 ? b.hi : b.lo) };
    case TG_FLOORMOD:
        if (a.lo >= 0 && a.hi < b.lo)
            return a;
        return (c_range){ 0, sat_add(b.hi, -1) };
    default:
        if (a.lo > sat_neg(b.lo) && a.hi < b.lo)
            return a;
        return (c_range){ a.lo >= 0 ? 0 : most(a.lo, sat_add(sat_neg(b.hi), 1)), a.hi <= 0 ? 0 : least(a.hi, sat_add(b.hi, -1)) };
    }
}

static c_range of_float(query *q, const tg_node *n)
{
    c_real r = real(q, n->kid[0]);
    c_range all = c_dtype_range(tg_dtype_of(n));
    double limit = 9.0e18;
    int64_t lo = r.lo > -limit ? (int64_t)r.lo : INT64_MIN, hi = r.hi < limit ? (int64_t)r.hi : INT64_MAX;
    if (r.nan) {
        lo = least(lo, 0);
        hi = most(hi, 0);
    }
    lo = least(most(lo, all.lo), all.hi);       /* the conversion saturates */
    hi = least(most(hi, all.lo), all.hi);
    return (c_range){ lo, hi };
}

static c_range cast(query *q, const tg_node *n)
{
    const tg_node *x = n->kid[0];
    if (tg_is_float(tg_dtype_of(x)))
        return tg_is_bool(tg_dtype_of(n)) ? (c_range){ 0, 1 } : of_float(q, n);
    return within(range(q, x), tg_dtype_of(n));
}

static c_range call(query *q, const tg_node *n)
{
    const tg_intrin *row = tg_intrin_find(q->e->cx, n->u.name);
    DLDataType d = tg_dtype_of(n);
    switch (row == NULL ? TG_NINTRINS : row->id) {
    case TG_I_if_then_else: return c_range_join(range(q, n->kid[1]), range(q, n->kid[2]));
    case TG_I_likely: return range(q, n->kid[0]);
    case TG_I_popcount: case TG_I_clz: return (c_range){ 0, 64 };
    case TG_I_shift_right: {
        c_range a = range(q, n->kid[0]), b = range(q, n->kid[1]);
        if (b.lo < 0 || b.hi > 62 || b.lo != b.hi || a.hi == INT64_MAX || a.lo == INT64_MIN)
            return a.lo >= 0 ? (c_range){ 0, a.hi } : c_dtype_range(d);
        int64_t by = (int64_t)1 << b.lo;
        return (c_range){ floor_of(a.lo, by), floor_of(a.hi, by) };
    }
    case TG_I_shift_left: {
        c_range a = range(q, n->kid[0]), b = range(q, n->kid[1]);
        if (b.lo < 0 || b.hi > 62)
            return c_dtype_range(d);
        return within(range_mul(a, (c_range){ (int64_t)1 << b.lo, (int64_t)1 << b.hi }), d);
    }
    case TG_I_bitwise_and: {
        c_range a = range(q, n->kid[0]), b = range(q, n->kid[1]);
        if (a.lo >= 0 && b.lo >= 0)
            return (c_range){ 0, least(a.hi, b.hi) };
        return a.lo >= 0 ? (c_range){ 0, a.hi } : b.lo >= 0 ? (c_range){ 0, b.hi } : c_dtype_range(d);
    }
    default: return c_dtype_range(d);
    }
}

/* The elements of a buffer, where an analysis bounds them. */
static c_range load(query *q, const tg_node *n)
{
    tg_emit *e = q->e;
    const c_var *v = c_var_of(e, n->u.buf->data);
    bool updated = e->self != NULL && c_var_of(e, e->self) == v;
    bool known = v->fixed ? tg_dtype_eq(tg_dtype_of(n), v->elem) : v->bounded && (v->local || updated);
    return known ? v->range : c_dtype_range(tg_dtype_of(n));
}

static c_range scalar(query *q, const tg_node *n)
{
    c_range a, b;
    switch (n->kind) {
    case TG_INT:
        if (tg_dtype_of(n).code == kDLUInt && n->u.i < 0)
            return (c_range){ 0, INT64_MAX };
        return (c_range){ n->u.i, n->u.i };
    case TG_VAR: return within(c_var_of(q->e, n->u.var)->range, tg_dtype_of(n));
    case TG_LOAD: return load(q, n);
    case TG_ADD: case TG_SUB: case TG_MUL: return within(raw(q, n), tg_dtype_of(n));
    case TG_DIV: case TG_MOD: case TG_FLOORDIV: case TG_FLOORMOD: return division(q, n);
    case TG_MIN: case TG_MAX:
        a = range(q, n->kid[0]);
        b = range(q, n->kid[1]);
        if (n->kind == TG_MIN)
            return (c_range){ least(a.lo, b.lo), least(a.hi, b.hi) };
        return (c_range){ most(a.lo, b.lo), most(a.hi, b.hi) };
    case TG_SELECT: return c_range_join(range(q, n->kid[1]), range(q, n->kid[2]));
    case TG_CAST: return cast(q, n);
    case TG_CALL: return call(q, n);
    case TG_LET: return range(q, n->kid[1]);
    case TG_BROADCAST: return range(q, n->kid[0]);
    case TG_RAMP:
        a = range(q, n->kid[0]);
        b = c_range_scale(range(q, n->kid[1]), (int64_t)tg_dtype_of(n).lanes - 1);
        return within(c_range_add(a, b), tg_dtype_of(n));
    default: return c_dtype_range(tg_dtype_of(n));
    }
}

static c_range range(query *q, const tg_node *n)
{
    if (n->type == NULL || n->type->kind != TG_T_PRIM)
        return (c_range){ INT64_MIN, INT64_MAX };
    if (++q->nodes > MOST_NODES || q->level > MOST_LEVELS)
        return c_dtype_range(tg_dtype_of(n));
    ++q->level;
    c_range r = scalar(q, n);
    --q->level;
    return r;
}

c_range c_range_of(tg_emit *e, const tg_node *n)
{
    query q = { e, 0, 0 };
    return range(&q, n);
}

c_range c_raw_range(tg_emit *e, const tg_node *n)
{
    query q = { e, 0, 0 };
    return raw(&q, n);
}

c_range c_unwrapped_range(tg_emit *e, const tg_node *n)
{
    query q = { e, 0, 0 };
    return unwrapped(&q, n);
}

/* ---- floats ---- */

static c_real anything(void)
{
    return (c_real){ -HUGE_VAL, HUGE_VAL, true };
}

/* MIN is a < b ? a : b: when either is no number, b is the result. */
static c_real extreme(query *q, const tg_node *n)
{
    c_real a = real(q, n->kid[0]), b = real(q, n->kid[1]), r = { 0, 0, b.nan };
    bool min = n->kind == TG_MIN;
    r.lo = min ? fmin(a.lo, b.lo) : (a.nan || b.nan ? b.lo : fmax(a.lo, b.lo));
    r.hi = !min ? fmax(a.hi, b.hi) : (a.nan || b.nan ? b.hi : fmin(a.hi, b.hi));
    return r;
}

static c_real join(c_real a, c_real b)
{
    return (c_real){ fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.nan || b.nan };
}

static c_real real_call(query *q, const tg_node *n)
{
    const tg_intrin *row = tg_intrin_find(q->e->cx, n->u.name);
    c_real r;
    switch (row == NULL ? TG_NINTRINS : row->id) {
    case TG_I_if_then_else: return join(real(q, n->kid[1]), real(q, n->kid[2]));
    case TG_I_floor: case TG_I_ceil: case TG_I_trunc: case TG_I_round: case TG_I_nearbyint:
        r = real(q, n->kid[0]);
        return (c_real){ floor(r.lo), ceil(r.hi), r.nan };
    case TG_I_tanh: case TG_I_sin: case TG_I_cos: case TG_I_erf: return (c_real){ -1, 1, true };
    case TG_I_sigmoid: return (c_real){ 0, 1, true };
    default: return anything();
    }
}

static c_real real_cast(query *q, const tg_node *n)
{
    const tg_node *x = n->kid[0];
    if (tg_is_float(tg_dtype_of(x))) {          /* rounding keeps the order */
        c_real r = real(q, x);
        DLDataType d = tg_dtype_of(n);
        return (c_real){ tg_round_to(d, r.lo), tg_round_to(d, r.hi), r.nan };
    }
    c_range r = range(q, x);
    double slack = 1.0000002;                   /* for the rounding of the conversion */
    double lo = r.lo == INT64_MIN ? -HUGE_VAL : (double)r.lo, hi = r.hi == INT64_MAX ? HUGE_VAL : (double)r.hi;
    if (c_is_half(tg_dtype_of(n)))
        slack = 1.01;
    bool large = r.lo < -2048 || r.hi > 2048;
    return (c_real){ large && lo < 0 ? lo * slack : lo, large && hi > 0 ? hi * slack : hi, false };
}

static c_real real(query *q, const tg_node *n)
{
    if (++q->nodes > MOST_NODES || q->level > MOST_LEVELS || n->type == NULL || n->type->kind != TG_T_PRIM)
        return anything();
    c_real r = anything();
    ++q->level;
    switch (n->kind) {
    case TG_FLOAT: r = (c_real){ n->u.f, n->u.f, n->u.f != n->u.f }; break;
    case TG_VAR: r = c_var_of(q->e, n->u.var)->real; break;
    case TG_MIN: case TG_MAX: r = extreme(q, n); break;
    case TG_SELECT: r = join(real(q, n->kid[1]), real(q, n->kid[2])); break;
    case TG_CAST: r = real_cast(q, n); break;
    case TG_CALL: r = real_call(q, n); break;
    case TG_LET: r = real(q, n->kid[1]); break;
    case TG_BROADCAST: r = real(q, n->kid[0]); break;
    default: break;
    }
    --q->level;
    return r;
}

c_real c_real_of(tg_emit *e, const tg_node *n)
{
    query q = { e, 0, 0 };
    return real(&q, n);
}

void c_bind_range(tg_emit *e, const tg_var *v, const tg_node *value)
{
    if (v->type == NULL || v->type->kind != TG_T_PRIM)
        return;
    c_var *c = c_var_of(e, v);
    if (tg_is_float(v->type->dtype))
        c->real = c_real_of(e, value);
    else
        c->range = c_range_of(e, value);
}
