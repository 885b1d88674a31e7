/* compile_expr.c: expressions to instructions: arithmetic by dtype, conversions, conditions, vectors lane by lane. */
#include "compile.h"
#include "scalar.h"

#include <string.h>

/* ---- dtypes ---- */

enum tg_class tg_class_of(DLDataType d)
{
    if (d.code == kDLFloat && d.bits == 64)
        return TG_CLASS_DOUBLE;
    return tg_is_float(d) ? TG_CLASS_FLOAT : TG_CLASS_INT;
}

bool tg_dtype_runs(tg_comp *c, tg_span at, DLDataType d)
{
    bool runs = false;
    switch (d.code) {
    case kDLInt: case kDLUInt:
        runs = d.bits <= 8 || d.bits == 16 || d.bits == 32 || d.bits == 64;
        break;
    case kDLFloat: runs = d.bits == 16 || d.bits == 32 || d.bits == 64; break;
    case kDLBfloat: runs = d.bits == 16; break;
    case kDLOpaqueHandle: runs = true; break;
    }
    if (!runs || d.lanes == 0)
        tg_comp_error(c, at, "values of type %s cannot be evaluated", tg_dtype_text(c->cx, d));
    return runs && d.lanes > 0;
}

static bool in_range(const tg_comp *c, uint32_t reg, DLDataType d)
{
    const tg_reg_info *i = &c->b.info[reg];
    if (d.bits >= 64 || d.code == kDLOpaqueHandle)
        return true;
    if (d.code == kDLUInt)
        return i->lo >= 0 && i->hi <= signed_max(d.bits + 1u);
    return i->lo >= -signed_max(d.bits) - 1 && i->hi <= signed_max(d.bits);
}

uint32_t tg_wrap(tg_comp *c, uint32_t reg, DLDataType d)
{
    if (d.code == kDLBfloat)
        return tg_build_op(&c->b, TG_OP_ROUND_BF16, reg, 0, 0, 0);
    if (d.code == kDLFloat)
        return d.bits == 16 ? tg_build_op(&c->b, TG_OP_ROUND_F16, reg, 0, 0, 0) : reg;
    if (in_range(c, reg, d))
        return reg;
    if (tg_is_bool(d))
        return tg_build_op(&c->b, TG_OP_IS_NONZERO, reg, 0, 0, 0);
    return tg_build_op(&c->b, d.code == kDLInt ? TG_OP_SIGN_EXTEND : TG_OP_ZERO_EXTEND, reg, 0, 0, 64 - d.bits);
}

/* ---- conversions ---- */

uint32_t tg_op1(tg_comp *c, enum tg_opcode op, uint32_t x)
{
    return tg_build_op(&c->b, op, x, 0, 0, 0);
}

uint32_t tg_op2(tg_comp *c, enum tg_opcode op, uint32_t x, uint32_t y)
{
    return tg_build_op(&c->b, op, x, y, 0, 0);
}

static bool is_u64(DLDataType d)
{
    return d.code == kDLUInt && d.bits == 64;
}

/* To a small float by way of double, so that it is rounded once. */
static uint32_t double_to(tg_comp *c, uint32_t x, DLDataType to)
{
    if (to.code == kDLBfloat)
        return tg_op1(c, TG_OP_D_TO_BF16, x);
    if (to.bits == 64)
        return x;
    return tg_op1(c, to.bits == 16 ? TG_OP_D_TO_F16 : TG_OP_D_TO_F, x);
}

static uint32_t int_to_float(tg_comp *c, uint32_t x, DLDataType from, DLDataType to)
{
    bool is_unsigned = is_u64(from);
    if (to.code == kDLFloat && to.bits == 32)
        return tg_op1(c, is_unsigned ? TG_OP_UINT_TO_F : TG_OP_INT_TO_F, x);
    return double_to(c, tg_op1(c, is_unsigned ? TG_OP_UINT_TO_D : TG_OP_INT_TO_D, x), to);
}

static uint32_t float_to_int(tg_comp *c, uint32_t x, DLDataType from, DLDataType to)
{
    bool wide = tg_class_of(from) == TG_CLASS_DOUBLE;
    if (tg_is_bool(to))
        return tg_op2(c, wide ? TG_OP_NE_D : TG_OP_NE_F, x, tg_build_int(&c->b, 0));
    uint32_t d = wide ? x : tg_op1(c, TG_OP_F_TO_D, x);
    return tg_build_op(&c->b, to.code == kDLInt ? TG_OP_D_TO_INT : TG_OP_D_TO_UINT, d, 0, 0, to.bits);
}

uint32_t tg_convert(tg_comp *c, uint32_t x, DLDataType from, DLDataType to)
{
    enum tg_class fc = tg_class_of(from), tc = tg_class_of(to);
    if (from.code == to.code && from.bits == to.bits)
        return x;
    if (fc == TG_CLASS_INT)
        return tc == TG_CLASS_INT ? tg_wrap(c, x, to) : int_to_float(c, x, from, to);
    if (tc == TG_CLASS_INT)
        return float_to_int(c, x, from, to);
    if (fc == TG_CLASS_DOUBLE)
        return double_to(c, x, to);
    return tc == TG_CLASS_DOUBLE ? tg_op1(c, TG_OP_F_TO_D, x) : tg_wrap(c, x, to);
}

/* ---- arithmetic ---- */

/* The instruction for a kind: integers, uint64 where it differs, float, double. HALT: none. */
static const struct { uint16_t kind, i, u64, f, d; } binary[] = {
    { TG_ADD, TG_OP_ADD, TG_OP_ADD, TG_OP_ADD_F, TG_OP_ADD_D },
    { TG_SUB, TG_OP_SUB, TG_OP_SUB, TG_OP_SUB_F, TG_OP_SUB_D },
    { TG_MUL, TG_OP_MUL, TG_OP_MUL, TG_OP_MUL_F, TG_OP_MUL_D },
    { TG_DIV, TG_OP_DIV, TG_OP_DIV_U, TG_OP_DIV_F, TG_OP_DIV_D },
    { TG_MOD, TG_OP_MOD, TG_OP_MOD_U, TG_OP_HALT, TG_OP_HALT },
    { TG_FLOORDIV, TG_OP_FLOOR_DIV, TG_OP_DIV_U, TG_OP_HALT, TG_OP_HALT },
    { TG_FLOORMOD, TG_OP_FLOOR_MOD, TG_OP_MOD_U, TG_OP_HALT, TG_OP_HALT },
    { TG_MIN, TG_OP_MIN, TG_OP_MIN_U, TG_OP_MIN_F, TG_OP_MIN_D },
    { TG_MAX, TG_OP_MAX, TG_OP_MAX_U, TG_OP_MAX_F, TG_OP_MAX_D },
    { TG_EQ, TG_OP_EQ, TG_OP_EQ, TG_OP_EQ_F, TG_OP_EQ_D },
    { TG_NE, TG_OP_NE, TG_OP_NE, TG_OP_NE_F, TG_OP_NE_D },
    { TG_LT, TG_OP_LT, TG_OP_LT_U, TG_OP_LT_F, TG_OP_LT_D },
    { TG_LE, TG_OP_LE, TG_OP_LE_U, TG_OP_LE_F, TG_OP_LE_D },
    { TG_AND, TG_OP_AND, TG_OP_AND, TG_OP_HALT, TG_OP_HALT },
    { TG_OR, TG_OP_OR, TG_OP_OR, TG_OP_HALT, TG_OP_HALT },
};

static enum tg_opcode binary_op(enum tg_kind kind, DLDataType d)
{
    for (size_t i = 0; i < TG_COUNT(binary); ++i) {
        if (binary[i].kind != kind)
            continue;
        switch (tg_class_of(d)) {
        case TG_CLASS_DOUBLE: return (enum tg_opcode)binary[i].d;
        case TG_CLASS_FLOAT: return (enum tg_opcode)binary[i].f;
        default: return (enum tg_opcode)(is_u64(d) ? binary[i].u64 : binary[i].i);
        }
    }
    return TG_OP_HALT;
}

uint32_t tg_math_op(tg_comp *c, enum tg_intrin_id id, DLDataType d, int n, uint32_t x, uint32_t y)
{
    bool wide = tg_class_of(d) == TG_CLASS_DOUBLE;
    enum tg_opcode op = n == 1 ? (wide ? TG_OP_MATH1_D : TG_OP_MATH1_F) : (wide ? TG_OP_MATH2_D : TG_OP_MATH2_F);
    return tg_wrap(c, tg_build_op(&c->b, op, x, y, 0, (int64_t)id), d);
}

/* % of floats is fmod; // and its remainder go through floor(a / b). */
static uint32_t float_division(tg_comp *c, enum tg_kind kind, DLDataType d, uint32_t x, uint32_t y)
{
    if (kind == TG_MOD)
        return tg_math_op(c, TG_I_fmod, d, 2, x, y);
    uint32_t q = tg_math_op(c, TG_I_floor, d, 1, tg_wrap(c, tg_op2(c, binary_op(TG_DIV, d), x, y), d), 0);
    if (kind == TG_FLOORDIV)
        return q;
    uint32_t part = tg_wrap(c, tg_op2(c, binary_op(TG_MUL, d), q, y), d);
    return tg_wrap(c, tg_op2(c, binary_op(TG_SUB, d), x, part), d);
}

static void check_divisor(tg_comp *c, const tg_node *at, uint32_t y)
{
    const tg_reg_info *i = &c->b.info[y];
    if (i->lo > 0 || i->hi < 0)
        return;
    tg_build_check(&c->b,
                   (tg_ins){ .op = TG_OP_CHECK_NONZERO, .a = y, .k.p = tg_trap_new(c, at, "division by zero", 0) });
}

uint32_t tg_arith(tg_comp *c, const tg_node *at, enum tg_kind kind, DLDataType d, uint32_t x, uint32_t y)
{
    if (kind == TG_GT || kind == TG_GE)
        return tg_arith(c, at, kind == TG_GT ? TG_LT : TG_LE, d, y, x);
    bool integer = tg_class_of(d) == TG_CLASS_INT;
    if (!integer && (kind == TG_MOD || kind == TG_FLOORDIV || kind == TG_FLOORMOD))
        return float_division(c, kind, d, x, y);
    if (integer && kind >= TG_DIV && kind <= TG_FLOORMOD)
        check_divisor(c, at, y);
    enum tg_opcode op = binary_op(kind, d);
    if (op == TG_OP_HALT) {
        tg_comp_error(c, at->span, "%s of %s cannot be evaluated", tg_kind_info[kind].text, tg_dtype_text(c->cx, d));
        return x;
    }
    uint32_t r = tg_op2(c, op, x, y);
    if (kind >= TG_EQ && kind <= TG_OR)
        return r;
    if (integer && d.code == kDLInt && d.bits == 32 && !in_range(c, r, d) && kind <= TG_MUL)
        return tg_op2(c, kind == TG_ADD ? TG_OP_ADD_32 : kind == TG_SUB ? TG_OP_SUB_32 : TG_OP_MUL_32, x, y);
    return tg_wrap(c, r, d);
}

/* ---- lanes ---- */

tg_val tg_each_lane(tg_comp *c, const tg_node *n, uint32_t nargs, const tg_val *arg, tg_lane_fn fn)
{
    uint32_t lanes = 1, x[3];
    for (uint32_t i = 0; i < nargs; ++i)
        lanes = arg[i].lanes > lanes ? arg[i].lanes : lanes;
    for (uint32_t i = 0; i < nargs; ++i) {
        if (arg[i].lanes != lanes && arg[i].lanes != 1) {
            tg_comp_error(c, n->span, "operands of %u and %u lanes", arg[i].lanes, lanes);
            return arg[0];
        }
    }
    uint32_t one[1] = { 0 }, *regs = lanes > 1 ? TG_TEMP_ARRAY(c->cx, uint32_t, lanes) : one;
    for (uint32_t l = 0; l < lanes && !c->failed; ++l) {
        for (uint32_t i = 0; i < nargs; ++i)
            x[i] = tg_lane(&arg[i], l);
        regs[l] = fn(c, n, x);
    }
    return (tg_val){ lanes, regs[0], lanes > 1 ? regs : NULL, NULL };
}

static uint32_t lane_binary(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    return tg_arith(c, n, (enum tg_kind)n->kind, tg_dtype_of(n->kid[0]), x[0], x[1]);
}

static uint32_t lane_not(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    (void)n;
    return tg_op1(c, TG_OP_IS_ZERO, x[0]);
}

static uint32_t lane_select(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    (void)n;
    return tg_build_op(&c->b, TG_OP_SELECT, x[0], x[1], x[2], 0);
}

static uint32_t lane_cast(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    DLDataType handle = TG_HANDLE, from = n->kid[0]->type->kind == TG_T_PRIM ? tg_dtype_of(n->kid[0]) : handle;
    return tg_convert(c, x[0], from, n->type->kind == TG_T_PRIM ? tg_dtype_of(n) : handle);
}

static tg_val ramp(tg_comp *c, const tg_node *n, const tg_val *v)
{
    DLDataType d = tg_dtype_of(n);
    DLDataType one = tg_dtype(d.code, d.bits, 1);
    uint32_t *regs = TG_TEMP_ARRAY(c->cx, uint32_t, d.lanes);
    for (uint32_t l = 0; l < d.lanes; ++l) {
        tg_reg k = { .i = l };
        if (tg_class_of(d) == TG_CLASS_FLOAT)
            k = (tg_reg){ .f = (float)l };
        else if (tg_class_of(d) == TG_CLASS_DOUBLE)
            k.d = l;
        uint32_t step = tg_arith(c, n, TG_MUL, one, v[1].reg, tg_build_bits(&c->b, k));
        regs[l] = tg_arith(c, n, TG_ADD, one, v[0].reg, step);
    }
    return (tg_val){ d.lanes, regs[0], d.lanes > 1 ? regs : NULL, NULL };
}

static tg_val broadcast(tg_comp *c, const tg_node *n, tg_val v)
{
    uint32_t lanes = tg_dtype_of(n).lanes;
    uint32_t *regs = TG_TEMP_ARRAY(c->cx, uint32_t, lanes);
    for (uint32_t l = 0; l < lanes; ++l)
        regs[l] = tg_lane(&v, l % v.lanes);
    return (tg_val){ lanes, regs[0], lanes > 1 ? regs : NULL, NULL };
}

/* The lanes of all vectors in a row, picked by constant indices. */
static void step_shuffle(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    uint32_t nvec = (uint32_t)n->u.i, npick = n->nkids - nvec, total = 0, k = 0;
    t->list = n->kid;
    t->nlist = nvec;
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, nvec);
    for (uint32_t i = 0; i < nvec; ++i)
        total += v[i].lanes;
    uint32_t *all = TG_TEMP_ARRAY(c->cx, uint32_t, total), *regs = TG_TEMP_ARRAY(c->cx, uint32_t, npick);
    for (uint32_t i = 0; i < nvec; ++i)
        for (uint32_t l = 0; l < v[i].lanes; ++l)
            all[k++] = tg_lane(&v[i], l);
    for (uint32_t i = 0; i < npick; ++i) {
        const tg_node *at = n->kid[nvec + i];
        if (at->kind != TG_INT || at->u.i < 0 || at->u.i >= (int64_t)total) {
            tg_comp_error(c, n->span, "a shuffle picks a lane that is no constant below %u", total);
            return;
        }
        regs[i] = all[at->u.i];
    }
    tg_result(c, t, (tg_val){ npick, npick > 0 ? regs[0] : 0, npick > 1 ? regs : NULL, NULL });
}

/* ---- conditions ---- */

/* Small and unable to fail: computing it costs less than a jump. */
bool tg_is_cheap(const tg_node *n, int depth)
{
    switch (n->kind) {
    case TG_INT: case TG_FLOAT: case TG_VAR:
        return true;
    case TG_FLOORDIV: case TG_FLOORMOD: case TG_DIV: case TG_MOD:
        if (n->kid[1]->kind != TG_INT || n->kid[1]->u.i == 0)
            return false;
        break;
    case TG_ADD: case TG_SUB: case TG_MUL: case TG_MIN: case TG_MAX: case TG_EQ: case TG_NE: case TG_LT: case TG_LE:
    case TG_GT: case TG_GE: case TG_AND: case TG_OR: case TG_NOT: case TG_CAST: case TG_SELECT:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (depth == 0 || !tg_is_cheap(n->kid[i], depth - 1))
            return false;
    return true;
}

typedef struct lazy_state { tg_val to; } lazy_state;      /* where both sides leave their value */

static void lazy_branch(tg_comp *c, const tg_node *branch, bool otherwise)
{
    if (branch != NULL)
        tg_want(c, branch);
    else
        tg_push(c, tg_scalar(tg_build_int(&c->b, otherwise)));
}

static void lazy_store(tg_comp *c, const tg_task *t, bool first)
{
    tg_val v = tg_pop(c), to = ((const lazy_state *)t->state)->to;
    if (v.lanes != to.lanes) {
        tg_comp_error(c, t->n->span, "a choice between %u and %u lanes", to.lanes, v.lanes);
        return;
    }
    for (uint32_t l = 0; l < v.lanes; ++l) {
        uint32_t r = tg_lane(&to, l), from = tg_lane(&v, l);
        const tg_reg_info *i = &c->b.info[from];
        if (first)
            tg_build_range(&c->b, r, i->lo, i->hi);
        else
            tg_build_range(&c->b, r, i->lo < c->b.info[r].lo ? i->lo : c->b.info[r].lo,
                           i->hi > c->b.info[r].hi ? i->hi : c->b.info[r].hi);
        tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_MOV, .a = r, .b = from });
    }
}

static tg_val fresh_lanes(tg_comp *c, uint32_t lanes)
{
    uint32_t one[1] = { 0 }, *regs = lanes > 1 ? TG_TEMP_ARRAY(c->cx, uint32_t, lanes) : one;
    for (uint32_t l = 0; l < lanes; ++l)
        regs[l] = tg_build_reg(&c->b);
    return (tg_val){ lanes, regs[0], lanes > 1 ? regs : NULL, NULL };
}

/* Only the chosen side is computed. A side that is NULL is the constant of "and" (else: 0) or "or" (then: 1). */
void tg_lazy(tg_comp *c, tg_task *t, const tg_node *cond, const tg_node *then, const tg_node *otherwise)
{
    int64_t v;
    uint32_t reg;
    lazy_state *s = t->state;
    switch (t->stage++) {
    case 0:
        tg_want(c, cond);
        break;
    case 1:
        reg = tg_pop(c).reg;
        if (tg_build_is_const(&c->b, reg, &v)) {
            t->stage = 4;
            lazy_branch(c, v != 0 ? then : otherwise, v != 0);
            break;
        }
        s = t->state = tg_temp(c->cx, sizeof *s);
        s->to = fresh_lanes(c, t->n->type->kind == TG_T_PRIM ? tg_dtype_of(t->n).lanes : 1);
        t->label = tg_build_label(&c->b);
        t->label2 = tg_build_label(&c->b);
        tg_build_jump(&c->b, TG_OP_JUMP_ZERO, reg, 0, t->label);
        tg_build_enter(&c->b);
        lazy_branch(c, then, true);
        break;
    case 2:
        lazy_store(c, t, true);
        tg_build_leave(&c->b);
        tg_build_jump(&c->b, TG_OP_JUMP, 0, 0, t->label2);
        tg_build_place(&c->b, t->label);
        tg_build_enter(&c->b);
        lazy_branch(c, otherwise, false);
        break;
    case 3:
        lazy_store(c, t, false);
        tg_build_leave(&c->b);
        tg_build_place(&c->b, t->label2);
        tg_result(c, t, s->to);
        break;
    default:
        tg_done(c);             /* the one side's value is the result */
    }
}

static bool is_vector(const tg_node *n)
{
    return n->type != NULL && n->type->kind == TG_T_PRIM && n->type->dtype.lanes > 1;
}

/* True when the task was stepped as a choice; vectors and cheap operands are computed in full. */
static bool step_choice(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    if (is_vector(n->kid[0]))
        return false;
    switch (n->kind) {
    case TG_AND:
        if (tg_is_cheap(n->kid[1], 3))
            return false;
        tg_lazy(c, t, n->kid[0], n->kid[1], NULL);
        return true;
    case TG_OR:
        if (tg_is_cheap(n->kid[1], 3))
            return false;
        tg_lazy(c, t, n->kid[0], NULL, n->kid[1]);
        return true;
    case TG_SELECT:
        if (tg_is_cheap(n->kid[1], 3) && tg_is_cheap(n->kid[2], 3))
            return false;
        tg_lazy(c, t, n->kid[0], n->kid[1], n->kid[2]);
        return true;
    default:
        return false;
    }
}

/* ---- the expression on top ---- */

static void step_let(tg_comp *c, tg_task *t)
{
    tg_val v;
    switch (t->stage++) {
    case 0:
        tg_want(c, t->n->kid[0]);
        break;
    case 1:
        v = tg_pop(c);
        tg_build_enter(&c->b);
        tg_bind(c, t->n->u.var, v, NULL);
        tg_want(c, t->n->kid[1]);
        break;
    default:
        v = tg_pop(c);
        tg_build_leave(&c->b);
        tg_result(c, t, v);
    }
}

static void step_load(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    if (t->stage == 0 && tg_find_view(c, n->u.buf, n->span) == NULL)
        return;
    t->list = n->kid;
    t->nlist = n->nkids;
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, n->nkids);
    tg_result(c, t, tg_load_lanes(c, n, tg_find_view(c, n->u.buf, n->span), v));
}

void tg_step_expr(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    switch (n->kind) {
    case TG_CALL: tg_step_call(c, t); return;
    case TG_LET: step_let(c, t); return;
    case TG_LOAD: step_load(c, t); return;
    case TG_SHUFFLE: step_shuffle(c, t); return;
    default: break;
    }
    if (n->nkids > 0 && step_choice(c, t))
        return;
    t->list = n->kid;
    t->nlist = n->nkids;
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, n->nkids);
    switch (n->kind) {
    case TG_NOT: tg_result(c, t, tg_each_lane(c, n, 1, v, lane_not)); break;
    case TG_CAST: tg_result(c, t, tg_each_lane(c, n, 1, v, lane_cast)); break;
    case TG_SELECT: tg_result(c, t, tg_each_lane(c, n, 3, v, lane_select)); break;
    case TG_RAMP: tg_result(c, t, ramp(c, n, v)); break;
    case TG_BROADCAST: tg_result(c, t, broadcast(c, n, v[0])); break;
    default:
        if (n->nkids == 2 && n->kind >= TG_ADD && n->kind <= TG_OR)
            tg_result(c, t, tg_each_lane(c, n, 2, v, lane_binary));
        else
            tg_comp_error(c, n->span, "a %s expression cannot be evaluated", tg_kind_info[n->kind].text);
    }
}
