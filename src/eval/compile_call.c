/* compile_call.c: calls: intrinsics to instructions, functions to call sites. */
#include "compile.h"
#include "scalar.h"

#include <math.h>
#include <string.h>

/* ---- functions of numbers ---- */

static enum tg_intrin_id id_of(tg_comp *c, const tg_node *n)
{
    const tg_intrin *row = tg_intrin_find(c->cx, n->u.name);
    return row != NULL ? row->id : TG_NINTRINS;
}

/* Rounding an integer is no work; its absolute value wraps; the rest of the functions are of floats only. */
static uint32_t math_of_int(tg_comp *c, const tg_node *n, enum tg_intrin_id id, DLDataType d, uint32_t x)
{
    uint32_t minus;
    switch (id) {
    case TG_I_floor: case TG_I_ceil: case TG_I_trunc: case TG_I_round: case TG_I_nearbyint:
        return x;
    case TG_I_fabs:
        if (d.code != kDLInt)
            return x;
        minus = tg_wrap(c, tg_op2(c, TG_OP_SUB, tg_build_int(&c->b, 0), x), d);
        return tg_build_op(&c->b, TG_OP_SELECT, tg_op2(c, TG_OP_LT, x, tg_build_int(&c->b, 0)), minus, x, 0);
    default:
        tg_comp_error(c, n->span, "%s of %s cannot be evaluated", n->u.name->text, tg_dtype_text(c->cx, d));
        return x;
    }
}

static uint32_t lane_math(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    enum tg_intrin_id id = id_of(c, n);
    const tg_math *m = &tg_maths[id];
    DLDataType d = tg_dtype_of(n->kid[0]);
    if (tg_class_of(d) == TG_CLASS_INT)
        return math_of_int(c, n, id, d, x[0]);
    if (id == TG_I_nextafter && d.bits == 16) {
        tg_comp_error(c, n->span, "nextafter of %s cannot be evaluated", tg_dtype_text(c->cx, d));
        return x[0];
    }
    if (m->n < 3)
        return tg_math_op(c, id, d, m->n, x[0], m->n > 1 ? x[1] : 0);
    bool wide = tg_class_of(d) == TG_CLASS_DOUBLE;
    return tg_wrap(c, tg_build_op(&c->b, wide ? TG_OP_MATH3_D : TG_OP_MATH3_F, x[0], x[1], x[2], (int64_t)id), d);
}

/* x * 2^n, exactly rounded: through double, whose exponents reach further than any float32 needs. */
static uint32_t lane_ldexp(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    DLDataType d = tg_dtype_of(n), wide = TG_FLOAT64;
    uint32_t value = tg_convert(c, x[0], d, wide), by = tg_convert(c, x[1], tg_dtype_of(n->kid[1]), wide);
    return tg_convert(c, tg_build_op(&c->b, TG_OP_MATH2_D, value, by, 0, (int64_t)TG_I_ldexp), wide, d);
}

static uint32_t lane_is(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    enum tg_intrin_id id = id_of(c, n);
    DLDataType d = tg_dtype_of(n->kid[0]);
    if (tg_class_of(d) == TG_CLASS_INT)
        return tg_build_int(&c->b, id == TG_I_isfinite);
    if (id == TG_I_isnan)
        return tg_arith(c, n, TG_NE, d, x[0], x[0]);
    tg_reg inf = { 0 };
    if (tg_class_of(d) == TG_CLASS_DOUBLE)
        inf.d = (double)INFINITY;
    else
        inf.f = INFINITY;
    uint32_t size = tg_math_op(c, TG_I_fabs, d, 1, x[0], 0);
    return tg_arith(c, n, id == TG_I_isinf ? TG_EQ : TG_LT, d, size, tg_build_bits(&c->b, inf));
}

/* ---- bits ---- */

static uint32_t lane_shift(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    DLDataType d = tg_dtype_of(n->kid[0]);
    bool left = id_of(c, n) == TG_I_shift_left;
    enum tg_opcode op = left ? TG_OP_SHL : d.code == kDLInt ? TG_OP_SHR : TG_OP_SHR_U;
    return tg_wrap(c, tg_build_op(&c->b, op, x[0], x[1], 0, d.bits), d);
}

static uint32_t lane_bits(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    DLDataType d = tg_dtype_of(n->kid[0]);
    uint32_t r;
    switch (id_of(c, n)) {
    case TG_I_bitwise_and: r = tg_op2(c, TG_OP_AND, x[0], x[1]); break;
    case TG_I_bitwise_or: r = tg_op2(c, TG_OP_OR, x[0], x[1]); break;
    case TG_I_bitwise_xor: r = tg_op2(c, TG_OP_XOR, x[0], x[1]); break;
    case TG_I_bitwise_not:
        return tg_is_bool(d) ? tg_op1(c, TG_OP_IS_ZERO, x[0]) : tg_wrap(c, tg_op1(c, TG_OP_NOT, x[0]), d);
    default:
        return tg_build_op(&c->b, id_of(c, n) == TG_I_popcount ? TG_OP_POPCOUNT : TG_OP_CLZ, x[0], 0, 0, d.bits);
    }
    if (c->b.info[r].lo == INT64_MIN && !c->b.info[r].constant)
        tg_set_int_range(c, r, d);          /* bits of values in range are in range */
    return r;
}

/* The bits of a value, and a value of bits. */
static uint32_t lane_reinterpret(tg_comp *c, const tg_node *n, const uint32_t *x)
{
    DLDataType handle = TG_HANDLE, from = n->kid[0]->type->kind == TG_T_PRIM ? tg_dtype_of(n->kid[0]) : handle;
    DLDataType to = n->type->kind == TG_T_PRIM ? tg_dtype_of(n) : handle;
    uint32_t bits = x[0];
    if (from.bits != to.bits) {
        tg_comp_error(c, n->span, "reinterpret of %s as %s", tg_dtype_text(c->cx, from), tg_dtype_text(c->cx, to));
        return bits;
    }
    if (tg_class_of(from) == TG_CLASS_FLOAT)
        bits = tg_op1(c,
                      from.code == kDLBfloat ? TG_OP_BF16_BITS
                      : from.bits == 16      ? TG_OP_F16_BITS
                                             : TG_OP_F_BITS,
                      bits);
    if (tg_class_of(to) == TG_CLASS_FLOAT)
        return tg_op1(c, to.code == kDLBfloat ? TG_OP_BITS_BF16 : to.bits == 16 ? TG_OP_BITS_F16 : TG_OP_BITS_F, bits);
    return tg_class_of(to) == TG_CLASS_INT ? tg_wrap(c, bits, to) : bits;
}

/* ---- fixed point ---- */

/* Counts of shifts are taken modulo the width: defined for every operand, and what processors do. */
static uint32_t count_of(tg_comp *c, uint32_t count, int64_t width)
{
    return tg_op2(c, TG_OP_AND, count, tg_build_int(&c->b, width - 1));
}

/* (p + 2^(t-1)) >> t in 64 bits, as int32. */
static uint32_t round_shift(tg_comp *c, uint32_t p, uint32_t count)
{
    tg_build *b = &c->b;
    uint32_t one = tg_build_int(b, 1), t = count_of(c, count, 64);
    uint32_t half = tg_build_op(b, TG_OP_SHL, one, tg_op2(c, TG_OP_SUB, t, one), 0, 64);
    return tg_wrap(c, tg_build_op(b, TG_OP_SHR, tg_op2(c, TG_OP_ADD, p, half), t, 0, 64), TG_INT32);
}

/* The multiplier 2^30 is a plain shift by s - 1, in 32 bits. */
static uint32_t power_shift(tg_comp *c, uint32_t x, uint32_t s)
{
    tg_build *b = &c->b;
    uint32_t one = tg_build_int(b, 1), zero = tg_build_int(b, 0), e = tg_op2(c, TG_OP_SUB, s, one),
             n = tg_op2(c, TG_OP_SUB, zero, e);
    uint32_t left = tg_wrap(c, tg_build_op(b, TG_OP_SHL, x, count_of(c, e, 32), 0, 32), TG_INT32);
    uint32_t half = tg_build_op(b, TG_OP_SHL, one, count_of(c, tg_op2(c, TG_OP_SUB, n, one), 32), 0, 32);
    uint32_t sum = tg_wrap(c, tg_op2(c, TG_OP_ADD, x, half), TG_INT32);
    uint32_t right = tg_build_op(b, TG_OP_SHR, sum, count_of(c, n, 32), 0, 32);
    right = tg_build_op(b, TG_OP_SELECT, tg_op1(c, TG_OP_IS_ZERO, e), x, right, 0);
    return tg_build_op(b, TG_OP_SELECT, tg_op2(c, TG_OP_LT, zero, e), left, right, 0);
}

/* x, y, q, s */
static uint32_t q_multiply_shift(tg_comp *c, uint32_t x, uint32_t y, uint32_t q, uint32_t s)
{
    tg_build *b = &c->b;
    uint32_t zero = tg_build_int(b, 0), left = tg_op2(c, TG_OP_MAX, s, zero);
    uint32_t right = tg_op2(c, TG_OP_MAX, tg_op2(c, TG_OP_SUB, zero, s), zero);
    uint32_t product = tg_op2(c, TG_OP_MUL, tg_build_op(b, TG_OP_SHL, x, count_of(c, left, 64), 0, 64), y);
    uint32_t general = round_shift(c, product, tg_op2(c, TG_OP_ADD, right, q));
    uint32_t power = tg_op2(c, TG_OP_EQ, y, tg_build_int(b, (int64_t)1 << 30));
    int64_t v;
    if (tg_build_is_const(b, power, &v))
        return v != 0 ? power_shift(c, x, s) : general;
    return tg_build_op(b, TG_OP_SELECT, power, power_shift(c, x, s), general, 0);
}

/* x, y, left shift, right shift, q, is left needed, is right needed */
static uint32_t q_multiply_shift_per_axis(tg_comp *c, const uint32_t *x)
{
    tg_build *b = &c->b;
    uint32_t left = tg_build_op(b, TG_OP_SELECT, x[5], x[2], tg_build_int(b, 0), 0);
    uint32_t product = tg_op2(c, TG_OP_MUL, tg_build_op(b, TG_OP_SHL, x[0], count_of(c, left, 64), 0, 64), x[1]);
    return round_shift(c, product, tg_op2(c, TG_OP_ADD, x[3], x[4]));
}

static tg_val fixed_point(tg_comp *c, const tg_node *n, const tg_val *v)
{
    uint32_t lanes = 1, x[7];
    for (uint32_t i = 0; i < n->nkids; ++i)
        lanes = v[i].lanes > lanes ? v[i].lanes : lanes;
    uint32_t one[1] = { 0 }, *regs = lanes > 1 ? TG_TEMP_ARRAY(c->cx, uint32_t, lanes) : one;
    for (uint32_t l = 0; l < lanes; ++l) {
        for (uint32_t i = 0; i < n->nkids; ++i)
            x[i] = tg_lane(&v[i], v[i].lanes == 1 ? 0 : l);
        regs[l] = n->nkids == 4 ? q_multiply_shift(c, x[0], x[1], x[2], x[3]) : q_multiply_shift_per_axis(c, x);
    }
    return (tg_val){ lanes, regs[0], lanes > 1 ? regs : NULL, NULL };
}

/* ---- memory ---- */

static tg_val access_ptr(tg_comp *c, const tg_node *n, const tg_val *v)
{
    const tg_type *t = n->kid[0]->type;
    int64_t unit = t != NULL && t->kind == TG_T_PRIM ? (int64_t)tg_dtype_bytes(t->dtype) : 1, at;
    tg_pointee *p = tg_temp(c->cx, sizeof *p);
    *p = (tg_pointee){ 0, -1, NULL, false };
    if (v[0].ptr != NULL) {
        *p = *v[0].ptr;
        bool known = p->after >= 0 && tg_build_is_const(&c->b, v[1].reg, &at) && at >= 0 && at <= p->after / unit;
        p->before = known ? p->before + at * unit : 0;
        p->after = known ? p->after - at * unit : -1;
    }
    return (tg_val){ 1, tg_build_op(&c->b, TG_OP_MUL_ADD, v[0].reg, v[1].reg, 0, unit), NULL, p };
}

static void field_of(tg_comp *c, const tg_node *n, uint16_t *field)
{
    const tg_node *f = n->kid[2];
    if (f->kind == TG_INT && f->u.i >= 0 && f->u.i < 64)
        *field = (uint16_t)f->u.i;
    else
        tg_comp_error(c, n->span, "%s needs a constant field", n->u.name->text);
}

/* A packed value holds integers as int64 and floats as double. */
static tg_val struct_get(tg_comp *c, const tg_node *n, const tg_val *v)
{
    tg_ins in = { .op = TG_OP_STRUCT_GET, .b = v[0].reg, .c = v[1].reg, .k.p = tg_trap_new(c, n, "tvm_struct_get", 0) };
    field_of(c, n, &in.x);
    in.a = tg_build_reg(&c->b);
    tg_build_ins(&c->b, in);
    if (n->type->kind != TG_T_PRIM)
        return tg_scalar(in.a);
    DLDataType d = tg_dtype_of(n), wide = TG_FLOAT64;
    return tg_scalar(tg_class_of(d) == TG_CLASS_INT ? tg_wrap(c, in.a, d) : tg_convert(c, in.a, wide, d));
}

static tg_val struct_set(tg_comp *c, const tg_node *n, const tg_val *v)
{
    tg_ins in = { .op = TG_OP_STRUCT_SET,
                  .a = v[3].reg,
                  .b = v[0].reg,
                  .c = v[1].reg,
                  .k.p = tg_trap_new(c, n, "tvm_struct_set", 0) };
    field_of(c, n, &in.x);
    DLDataType wide = TG_FLOAT64;
    if (n->kid[3]->type->kind == TG_T_PRIM && tg_is_float(tg_dtype_of(n->kid[3])))
        in.a = tg_convert(c, in.a, tg_dtype_of(n->kid[3]), wide);
    tg_build_ins(&c->b, in);
    return tg_scalar(tg_build_int(&c->b, 0));
}

static tg_val stack_alloca(tg_comp *c, const tg_node *n, tg_val count)
{
    size_t unit = n->kid[0]->kind == TG_STR ? tg_stack_unit(n->kid[0]->u.name->text) : 0;
    if (unit == 0) {
        tg_comp_error(c, n->span, "tvm_stack_alloca of an unknown kind");
        return count;
    }
    return tg_allocate(c, n, "tvm_stack_alloca", count.reg, (int64_t)unit, 0);
}

static tg_val take_workspace(tg_comp *c, const tg_node *n, const tg_val *v)
{
    uint32_t reg = tg_build_reg(&c->b);
    tg_build_ins(&c->b,
                 (tg_ins){ .op = TG_OP_TAKE, .a = reg, .b = v[2].reg, .k.p = tg_trap_new(c, n, "a workspace", 0) });
    return tg_scalar(reg);
}

/* ---- leaving ---- */

static void leave_with(tg_comp *c, uint32_t reg, DLDataType d)
{
    if (c->prog->ret.bits == 0)
        c->prog->ret = d;
    tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_RETURN, .a = tg_convert(c, reg, d, c->prog->ret) });
}

static DLDataType value_dtype(const tg_node *n)
{
    DLDataType handle = TG_HANDLE;
    return n->type != NULL && n->type->kind == TG_T_PRIM ? n->type->dtype : handle;
}

/* expected, what to return otherwise, the call */
static tg_val check_return(tg_comp *c, const tg_node *n, const tg_val *v)
{
    uint32_t ok = tg_build_label(&c->b);
    tg_build_jump(&c->b, TG_OP_JUMP_NONZERO, tg_op2(c, TG_OP_EQ, v[2].reg, v[0].reg), 0, ok);
    leave_with(c, v[1].reg, value_dtype(n->kid[1]));
    tg_build_place(&c->b, ok);
    return v[2];
}

/* ---- calls of functions ---- */

static const tg_func *find_callee(tg_comp *c, const tg_name *name)
{
    const tg_func *f = tg_module_find(c->vm->m, name);
    for (size_t i = 0; f == NULL && i < c->vm->m->funcs.n; ++i) {
        const tg_func *g = c->vm->m->funcs.at[i];
        if (strcmp(tg_v_get_str(g->attrs, "global_symbol", ""), name->text) == 0)
            f = g;
    }
    return f;
}

static bool is_make_array(const tg_node *n)
{
    return tg_is_call(n, "tvm_stack_make_array");
}

/* Operands of a call: of an array its data, its extents and its offset. */
static void list_args(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    uint32_t count = 0;
    for (uint32_t i = 1; i < n->nkids; ++i)
        count += is_make_array(n->kid[i]) ? 2 + n->kid[i]->kid[1]->nkids : 1;
    const tg_node **list = TG_TEMP_ARRAY(c->cx, const tg_node *, count);
    t->list = list;
    for (uint32_t i = 1; i < n->nkids; ++i) {
        const tg_node *a = n->kid[i];
        if (!is_make_array(a)) {
            list[t->nlist++] = a;
            continue;
        }
        list[t->nlist++] = a->kid[0];
        bool shaped = tg_is_call(a->kid[1], "tvm_stack_make_shape");
        for (uint32_t k = 0; shaped && k < a->kid[1]->nkids; ++k)
            list[t->nlist++] = a->kid[1]->kid[k];
        list[t->nlist++] = a->kid[5];
        if (!shaped && !(a->kid[3]->kind == TG_INT && a->kid[3]->u.i == 0))
            tg_comp_error(c, n->span, "an array whose shape is not made by tvm_stack_make_shape");
    }
}

static const tg_val *site_array(tg_comp *c, const tg_node *n, const tg_val *v, tg_site_arg *a)
{
    uint32_t ndim = tg_is_call(n->kid[1], "tvm_stack_make_shape") ? n->kid[1]->nkids : 0;
    a->kind = TG_ARG_TENSOR;
    a->dtype = value_dtype(n->kid[4]);
    a->ndim = ndim;
    uint32_t *dim = TG_TEMP_ARRAY(c->cx, uint32_t, ndim);
    for (uint32_t k = 0; k < ndim; ++k)
        dim[k] = v[1 + k].reg;
    a->dim = dim;
    a->reg = tg_build_op(&c->b, TG_OP_MUL_ADD, v[0].reg, v[1 + ndim].reg, 0, (int64_t)tg_dtype_bytes(a->dtype));
    if (ndim > TG_MAX_NDIM || (n->kid[3]->kind == TG_INT && n->kid[3]->u.i != (int64_t)ndim))
        tg_comp_error(c, n->span, "an array whose rank is not that of its shape");
    return v + 2 + ndim;
}

static const tg_val *site_scalar(tg_comp *c, const tg_node *n, const tg_val *v, tg_site_arg *a)
{
    DLDataType d = value_dtype(n), wide = TG_FLOAT64;
    a->dtype = d;
    a->kind = d.code == kDLOpaqueHandle || n->kind == TG_STR ? TG_ARG_POINTER
              : tg_is_float(d)                               ? TG_ARG_FLOAT
                                                             : TG_ARG_INT;
    a->reg = a->kind == TG_ARG_FLOAT ? tg_convert(c, v->reg, d, wide) : v->reg;
    if (v->lanes > 1)
        tg_comp_error(c, n->span, "a vector cannot be passed to a function");
    return v + 1;
}

/* What a call needs in its frame: the arguments, their tensors with shapes, the packed form of each with its code. */
static size_t site_bytes(const tg_site *s)
{
    size_t each = sizeof(tg_arg) + sizeof(DLTensor) + TG_MAX_NDIM * sizeof(int64_t) + 2 * sizeof(tg_packed_value);
    return (s->nargs + 2) * each + 64;
}

static tg_val call_result(tg_comp *c, tg_site *s)
{
    uint32_t r = tg_build_reg(&c->b);
    s->memory = c->prog->memory_bytes;
    tg_region_new(c, site_bytes(s), NULL);
    tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_CALL, .a = r, .k.p = s });
    if (s->result.bits != 0)
        tg_set_int_range(c, r, s->result);
    ++c->statement;             /* memory may have changed: loads before it are not those after it */
    return tg_scalar(r);
}

static tg_site *site_new(tg_comp *c, const tg_node *n, enum tg_convention convention)
{
    tg_site *s = tg_temp(c->cx, sizeof *s);
    s->at = n;
    s->name = n->kid[0]->u.name;
    s->callee = find_callee(c, s->name);
    s->convention = convention;
    if (n->type->kind != TG_T_VOID)
        s->result = value_dtype(n);
    return s;
}

static tg_val no_callee(tg_comp *c, const tg_node *n)
{
    const char *text = tg_format(c->cx, "there is no function %s to call", n->kid[0]->u.name->text);
    tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_FAIL, .k.p = tg_trap_new(c, n, text, 0) });
    return tg_scalar(tg_build_int(&c->b, 0));
}

static tg_val call_function(tg_comp *c, const tg_node *n, const tg_val *v, enum tg_convention convention)
{
    tg_site *s = site_new(c, n, convention);
    tg_site_arg *arg = TG_TEMP_ARRAY(c->cx, tg_site_arg, n->nkids);
    for (uint32_t i = 1; i < n->nkids; ++i)
        v = is_make_array(n->kid[i]) ? site_array(c, n->kid[i], v, &arg[s->nargs++])
                                     : site_scalar(c, n->kid[i], v, &arg[s->nargs++]);
    s->arg = arg;
    return s->callee == NULL ? no_callee(c, n) : call_result(c, s);
}

static tg_val call_lowered(tg_comp *c, const tg_node *n, const tg_val *v)
{
    tg_site *s = site_new(c, n, TG_CALL_LOWERED);
    int64_t begin, end;
    s->values = v[0].reg;
    s->tcodes = v[1].reg;
    s->begin = v[2].reg;
    s->end = v[3].reg;
    bool known = tg_build_is_const(&c->b, s->begin, &begin);
    known = tg_build_is_const(&c->b, s->end, &end) && known;
    if (!known || begin < 0 || end < begin || end - begin > 100000) {
        tg_comp_error(c, n->span, "%s needs constant bounds of its arguments", n->u.name->text);
        return v[0];
    }
    s->nargs = (uint32_t)(end - begin);
    return s->callee == NULL ? no_callee(c, n) : call_result(c, s);
}

/* A function of the C mathematics library called by name: expf is exp of float32, exp of float64. */
static const tg_math *library_math(tg_comp *c, const tg_node *n, enum tg_intrin_id *id, DLDataType *d)
{
    const tg_name *name = n->kid[0]->u.name;
    for (int narrow = 0; narrow < 2; ++narrow) {
        if (narrow == 1 && (name->len == 0 || name->text[name->len - 1] != 'f'))
            break;
        const tg_intrin *row = tg_intrin_find(c->cx, tg_intern(c->cx, name->text, name->len - (uint32_t)narrow));
        if (row == NULL || tg_maths[row->id].n == 0 || (uint32_t)tg_maths[row->id].n != n->nkids - 1)
            continue;
        *id = row->id;
        *d = narrow ? TG_FLOAT32 : TG_FLOAT64;
        return &tg_maths[row->id];
    }
    return NULL;
}

static bool call_math(tg_comp *c, const tg_node *n, const tg_val *v, tg_val *out)
{
    enum tg_intrin_id id;
    DLDataType d;
    const tg_math *m = find_callee(c, n->kid[0]->u.name) == NULL ? library_math(c, n, &id, &d) : NULL;
    if (m == NULL || n->type->kind != TG_T_PRIM)
        return false;
    uint32_t x[3] = { 0, 0, 0 };
    for (int i = 0; i < m->n; ++i)
        x[i] = tg_convert(c, v[i].reg, value_dtype(n->kid[1 + i]), d);
    uint32_t r;
    if (m->n < 3)
        r = tg_math_op(c, id, d, m->n, x[0], x[1]);
    else
        r = tg_build_op(&c->b, d.bits == 64 ? TG_OP_MATH3_D : TG_OP_MATH3_F, x[0], x[1], x[2], (int64_t)id);
    *out = tg_scalar(tg_convert(c, r, d, value_dtype(n)));
    return true;
}

/* ---- the call on top ---- */

/* The operands that are values. */
static void list_operands(tg_comp *c, tg_task *t, enum tg_intrin_id id)
{
    const tg_node *n = t->n;
    t->list = n->kid;
    t->nlist = n->nkids;
    switch (id) {
    case TG_I_call_extern: case TG_I_call_pure_extern: case TG_I_call_packed: case TG_I_call_cpacked:
        t->nlist = 0;
        if (n->nkids == 0 || n->kid[0]->kind != TG_STR)
            tg_comp_error(c, n->span, "%s needs the name of a function", n->u.name->text);
        else
            list_args(c, t);
        break;
    case TG_I_call_packed_lowered: case TG_I_call_cpacked_lowered:
        if (n->kid[0]->kind != TG_STR)
            tg_comp_error(c, n->span, "%s needs the name of a function", n->u.name->text);
        t->list = n->kid + 1;
        t->nlist = n->nkids - 1;
        break;
    case TG_I_tvm_access_ptr: case TG_I_tvm_stack_alloca:
        t->list = n->kid + 1;
        t->nlist = n->nkids - 1;
        break;
    case TG_I_address_of:
        if (n->kid[0]->kind != TG_LOAD) {
            tg_comp_error(c, n->span, "address_of needs an element of a buffer");
            break;
        }
        t->list = n->kid[0]->kid;
        t->nlist = n->kid[0]->nkids;
        break;
    case TG_I_type_annotation: case TG_NINTRINS: case TG_I_tvm_stack_make_shape: case TG_I_tvm_stack_make_array:
        t->nlist = 0;
        break;
    default:
        break;
    }
}

static tg_val pure_value(tg_comp *c, tg_task *t, enum tg_intrin_id id, const tg_val *v)
{
    const tg_node *n = t->n;
    switch (id) {
    case TG_I_shift_left: case TG_I_shift_right: return tg_each_lane(c, n, 2, v, lane_shift);
    case TG_I_bitwise_and: case TG_I_bitwise_or: case TG_I_bitwise_xor: return tg_each_lane(c, n, 2, v, lane_bits);
    case TG_I_bitwise_not: case TG_I_popcount: case TG_I_clz: return tg_each_lane(c, n, 1, v, lane_bits);
    case TG_I_isnan: case TG_I_isinf: case TG_I_isfinite: return tg_each_lane(c, n, 1, v, lane_is);
    case TG_I_ldexp: return tg_each_lane(c, n, 2, v, lane_ldexp);
    case TG_I_if_then_else: {       /* both sides are cheap: see tg_step_call */
        return tg_scalar(tg_build_op(&c->b, TG_OP_SELECT, v[0].reg, v[1].reg, v[2].reg, 0));
    }
    case TG_I_likely: return v[0];
    case TG_I_reinterpret: {
        tg_val r = tg_each_lane(c, n, 1, v, lane_reinterpret);
        r.ptr = v[0].ptr;
        return r;
    }
    case TG_I_q_multiply_shift: case TG_I_q_multiply_shift_per_axis: return fixed_point(c, n, v);
    case TG_I_large_uint_imm: {
        uint32_t high = tg_build_op(&c->b, TG_OP_SHL, v[1].reg, tg_build_int(&c->b, 32), 0, 64);
        return tg_scalar(tg_op2(c, TG_OP_OR, high, tg_build_op(&c->b, TG_OP_ZERO_EXTEND, v[0].reg, 0, 0, 32)));
    }
    case TG_I_isnullptr: return tg_scalar(tg_op1(c, TG_OP_IS_ZERO, v[0].reg));
    case TG_I_tvm_access_ptr: return access_ptr(c, n, v);
    case TG_I_type_annotation: return tg_scalar(tg_build_int(&c->b, 0));
    case TG_I_address_of: return tg_address_of(c, n, tg_find_view(c, n->kid[0]->u.buf, n->span), v);
    default:
        if (id < TG_NINTRINS && tg_maths[id].n > 0)
            return tg_each_lane(c, n, (uint32_t)tg_maths[id].n, v, lane_math);
        tg_comp_error(c, n->span, "%s cannot be evaluated", n->u.name->text);
        return tg_scalar(0);
    }
}

static tg_val effect_value(tg_comp *c, tg_task *t, enum tg_intrin_id id, const tg_val *v)
{
    const tg_node *n = t->n;
    tg_val zero = tg_scalar(tg_build_int(&c->b, 0)), out;
    DLDataType i32 = TG_INT32;
    switch (id) {
    case TG_I_call_extern: case TG_I_call_pure_extern:
        return call_math(c, n, v, &out) ? out : call_function(c, n, v, TG_CALL_PLAIN);
    case TG_I_call_packed: case TG_I_call_cpacked: return call_function(c, n, v, TG_CALL_PACKED);
    case TG_I_call_packed_lowered: case TG_I_call_cpacked_lowered: return call_lowered(c, n, v);
    case TG_I_tvm_check_return: return check_return(c, n, v);
    case TG_I_ret:
        leave_with(c, v[0].reg, value_dtype(n->kid[0]));
        return zero;
    case TG_I_tvm_throw_last_error:
        leave_with(c, tg_build_int(&c->b, -1), i32);
        return zero;
    case TG_I_tvm_stack_alloca: return stack_alloca(c, n, v[0]);
    case TG_I_tvm_struct_get: return struct_get(c, n, v);
    case TG_I_tvm_struct_set: return struct_set(c, n, v);
    case TG_I_TVMBackendAllocWorkspace: return take_workspace(c, n, v);
    case TG_I_TVMBackendFreeWorkspace:
        tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_GIVE, .a = v[2].reg });
        return zero;
    default:
        tg_comp_error(c, n->span, "%s cannot be evaluated here", n->u.name->text);
        return zero;
    }
}

static bool is_pure(enum tg_intrin_id id)
{
    return id < TG_I_call_extern;
}

void tg_step_call(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    enum tg_intrin_id id = id_of(c, n);
    if (id == TG_I_if_then_else &&
        !(tg_is_cheap(n->kid[1], 3) && tg_is_cheap(n->kid[2], 3) && n->type->dtype.lanes == 1)) {
        tg_lazy(c, t, n->kid[0], n->kid[1], n->kid[2]);
        return;
    }
    if (t->stage == 0) {
        if (id == TG_I_address_of && n->kid[0]->kind == TG_LOAD && tg_find_view(c, n->kid[0]->u.buf, n->span) == NULL)
            return;
        list_operands(c, t, id);
        if (c->failed)
            return;
    }
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, t->nlist);
    if (is_pure(id)) {
        tg_result(c, t, pure_value(c, t, id, v));
        return;
    }
    tg_val r = effect_value(c, t, id, v);
    tg_done(c);
    tg_push(c, r);
}
