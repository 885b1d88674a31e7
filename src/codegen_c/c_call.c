/* c_call.c: calls inside expressions: math.h, bits, fixed point, functions of the module and elsewhere, fields of structs. */
#include "emit.h"

static const struct { enum tg_intrin_id id; const char *text; } math[] = {
    { TG_I_exp, "exp" }, { TG_I_exp2, "exp2" }, { TG_I_expm1, "expm1" }, { TG_I_log, "log" }, { TG_I_log2, "log2" },
    { TG_I_log10, "log10" }, { TG_I_log1p, "log1p" }, { TG_I_sqrt, "sqrt" }, { TG_I_sin, "sin" }, { TG_I_cos, "cos" },
    { TG_I_tan, "tan" }, { TG_I_asin, "asin" }, { TG_I_acos, "acos" }, { TG_I_atan, "atan" }, { TG_I_sinh, "sinh" },
    { TG_I_cosh, "cosh" }, { TG_I_tanh, "tanh" }, { TG_I_asinh, "asinh" }, { TG_I_acosh, "acosh" }, { TG_I_atanh, "atanh" },
    { TG_I_erf, "erf" }, { TG_I_fabs, "fabs" }, { TG_I_floor, "floor" }, { TG_I_ceil, "ceil" }, { TG_I_trunc, "trunc" },
    { TG_I_round, "round" }, { TG_I_nearbyint, "nearbyint" }, { TG_I_pow, "pow" }, { TG_I_fmod, "fmod" }, { TG_I_atan2, "atan2" },
    { TG_I_hypot, "hypot" }, { TG_I_copysign, "copysign" }, { TG_I_nextafter, "nextafter" }, { TG_I_fma, "fma" },
};

static const char *math_name(enum tg_intrin_id id)
{
    for (size_t i = 0; i < TG_COUNT(math); ++i)
        if (math[i].id == id)
            return math[i].text;
    return NULL;
}

static void unsupported(tg_emit *e, const tg_node *n, const char *why)
{
    if (!e->failed)
        tg_error(e->cx, n->span, "%s: %s", n->u.name->text, why);
    e->failed = true;
}

static void open(tg_emit *e, bool bracket)
{
    if (bracket)
        tg_putc(e->to, '(');
}

static void close(tg_emit *e, bool bracket)
{
    if (bracket)
        tg_putc(e->to, ')');
}

static void arguments(tg_emit *e, const tg_node *n, uint32_t from)
{
    for (uint32_t i = from; i < n->nkids; ++i) {
        if (i > from)
            c_comma(e);
        c_assigned(e, n->kid[i], tg_dtype_of(n->kid[i]));
    }
    tg_putc(e->to, ')');
}

/* ---- math.h ---- */

static bool is_double(const tg_node *n)
{
    return tg_dtype_of(n).code == kDLFloat && tg_dtype_of(n).bits == 64;
}

/* Results of half are rounded; the functions work in float. */
static bool round_open(tg_emit *e, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    if (!c_is_half(d))
        return false;
    tg_printf(e->to, "%s(", c_helper(e, d.code == kDLBfloat ? C_H_ROUND_BF16 : C_H_ROUND_HALF, d, d));
    return true;
}

static void math_call(tg_emit *e, const tg_node *n, const char *name)
{
    if (!tg_is_float(tg_dtype_of(n))) {
        enum tg_intrin_id id = tg_intrin_find(e->cx, n->u.name)->id;
        if (id == TG_I_floor || id == TG_I_ceil || id == TG_I_trunc || id == TG_I_round || id == TG_I_nearbyint)
            c_expr(e, n->kid[0], C_UNARY);      /* of an integer: itself */
        else
            unsupported(e, n, "is not defined for integers");
        return;
    }
    bool rounded = round_open(e, n);
    e->need |= C_MATH;
    tg_printf(e->to, "%s%s(", name, is_double(n) ? "" : "f");
    arguments(e, n, 0);
    close(e, rounded);
}

/* Functions that C99 does not have, in terms of those it has. */
static void math_formula(tg_emit *e, const tg_node *n, enum tg_intrin_id id, int outer)
{
    const char *one = is_double(n) ? "1.0" : "1.0f", *f = is_double(n) ? "" : "f";
    bool rounded = round_open(e, n), bracket = !rounded && id != TG_I_exp10 && C_MUL < outer;
    e->need |= C_MATH;
    open(e, bracket);
    if (id == TG_I_exp10) {
        tg_puts(e->to, is_double(n) ? "pow(10.0, " : "powf(10.0f, ");
        c_expr(e, n->kid[0], C_TERNARY);
        tg_putc(e->to, ')');
    } else if (id == TG_I_rsqrt) {
        tg_printf(e->to, "%s / sqrt%s(", one, f);
        c_expr(e, n->kid[0], C_TERNARY);
        tg_putc(e->to, ')');
    } else {                                    /* sigmoid */
        tg_printf(e->to, "%s / (%s + exp%s(-", one, one, f);
        c_expr(e, n->kid[0], C_POSTFIX);
        tg_puts(e->to, "))");
    }
    close(e, bracket);
    close(e, rounded);
}

static void load_exponent(tg_emit *e, const tg_node *n)
{
    bool rounded = round_open(e, n);
    DLDataType by = tg_dtype_of(n->kid[1]);
    e->need |= C_MATH;
    tg_printf(e->to, "ldexp%s(", is_double(n) ? "" : "f");
    c_expr(e, n->kid[0], C_TERNARY);
    tg_puts(e->to, ", (int)");
    if (tg_is_float(by)) {
        tg_printf(e->to, "%s(", c_helper(e, C_H_TO_INT, TG_INT32, by.bits == 64 ? TG_FLOAT64 : TG_FLOAT32));
        c_expr(e, n->kid[1], C_TERNARY);
        tg_putc(e->to, ')');
    } else {
        c_expr(e, n->kid[1], C_UNARY);
    }
    tg_putc(e->to, ')');
    close(e, rounded);
}

/* isnan and the like are macros that may give any value that is not 0. Where a byte is stored, gcc does not see
 * that their comparison with 0 is one bit. */
static void classify(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n->kid[0]);
    bool stored = outer <= C_TERNARY, bracket = C_EQUAL < outer, inverted = e->inverted;
    e->inverted = false;
    if (!tg_is_float(d)) {
        c_put_int(e, TG_BOOL, tg_is_call(n, "isfinite") != inverted, false, outer);
        return;
    }
    e->need |= C_MATH;
    if (stored)
        tg_puts(e->to, "(uint8_t)");
    open(e, stored || bracket);
    tg_printf(e->to, "%s(", n->u.name->text);
    c_expr(e, n->kid[0], C_TERNARY);
    tg_puts(e->to, inverted ? ") == 0" : ") != 0");
    close(e, stored || bracket);
}

/* ---- bits ---- */

static void cast_open(tg_emit *e, DLDataType d, tg_span at)
{
    tg_printf(e->to, "(%s)(", c_type(e, d, at));
}

static void bit_operation(tg_emit *e, const tg_node *n, const char *op, int prec, int outer)
{
    DLDataType d = tg_dtype_of(n);
    bool flags = tg_is_bool(d), cast = c_is_narrow(d);
    if (flags) {
        op = *op == '&' ? "&&" : *op == '|' ? "||" : "!=";
        prec = *op == '&' ? C_AND : *op == '|' ? C_OR : C_EQUAL;
    }
    bool bracket = (cast ? C_UNARY : prec) < outer || (flags && outer > C_TERNARY);
    open(e, bracket);
    if (cast)
        cast_open(e, d, n->span);
    c_operand(e, n->kid[0], n->kid[1], C_UNARY);
    c_operator(e, op);
    c_operand(e, n->kid[1], n->kid[0], C_UNARY);
    if (cast)
        tg_putc(e->to, ')');
    close(e, bracket);
}

static void bit_not(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n);
    bool cast = c_is_narrow(d), bracket = C_UNARY < outer;
    open(e, bracket);
    if (cast)
        cast_open(e, d, n->span);
    tg_puts(e->to, tg_is_bool(d) ? "!" : "~");
    c_expr(e, n->kid[0], C_UNARY);
    if (cast)
        tg_putc(e->to, ')');
    close(e, bracket);
}

/* No bit is lost and none reaches the sign. */
static bool shifts_exactly(c_range a, c_range b, DLDataType d)
{
    int64_t most = d.bits > 32 ? INT64_MAX : INT32_MAX;
    return a.lo >= 0 && b.lo >= 0 && b.hi < (d.bits > 32 ? 63 : 31) && a.hi < INT64_MAX && a.hi <= most >> b.hi;
}

static void shift_by_helper(tg_emit *e, const tg_node *n, bool left, int outer)
{
    DLDataType d = tg_dtype_of(n), wide = d.bits > 32 ? d : tg_dtype(d.bits < 32 ? kDLInt : d.code, 32, 1);
    bool cast = c_is_narrow(d), bracket = cast && C_UNARY < outer;
    open(e, bracket);
    if (cast)
        tg_printf(e->to, "(%s)", c_type(e, tg_dtype(d.code, d.bits, 1), n->span));
    tg_printf(e->to, "%s(", c_helper(e, left ? C_H_SHL : C_H_SHR, wide, wide));
    arguments(e, n, 0);
    close(e, bracket);
}

/* To the left: unsigned, since C leaves a shift out of or into the sign undefined. A count that may be out of range goes to a
 * helper. */
static void shift(tg_emit *e, const tg_node *n, int outer)
{
    DLDataType d = tg_dtype_of(n);
    c_range count = c_range_of(e, n->kid[1]);
    bool left = tg_is_call(n, "shift_left"), exact = shifts_exactly(c_range_of(e, n->kid[0]), count, d);
    bool modular = left && !exact && (c_is_signed(d) || c_is_narrow(d)), cast = c_is_narrow(d) || modular;
    bool bracket = (cast ? C_UNARY : C_SHIFT) < outer;
    if (count.lo < 0 || count.hi > (d.bits > 32 ? 63 : 31)) {
        shift_by_helper(e, n, left, outer);
        return;
    }
    open(e, bracket);
    if (cast)
        cast_open(e, d, n->span);
    if (modular)
        tg_printf(e->to, "(%s)", d.bits > 32 ? "uint64_t" : "uint32_t");
    c_expr(e, n->kid[0], C_UNARY);
    tg_puts(e->to, left ? " << " : " >> ");
    const tg_node *by = c_without_widening(n->kid[1]);
    if (by->kind == TG_INT)
        c_put_int(e, TG_INT32, by->u.i, false, C_UNARY);
    else
        c_expr(e, by, C_UNARY);
    if (cast)
        tg_putc(e->to, ')');
    close(e, bracket);
}

static void count_bits(tg_emit *e, const tg_node *n, enum c_helper helper, int outer)
{
    DLDataType d = tg_dtype_of(n->kid[0]), as = tg_dtype(kDLUInt, d.bits > 32 ? 64 : 32, 1), to = tg_dtype_of(n);
    bool cast = helper == C_H_POPCOUNT && !(to.code == kDLInt && to.bits == 32), less = helper == C_H_CLZ && d.bits < 32;
    bool bracket = cast ? C_UNARY < outer : less && C_ADD < outer;
    to.lanes = 1;
    open(e, bracket);
    if (cast)
        tg_printf(e->to, "(%s)", c_type(e, to, n->span));
    tg_printf(e->to, "%s(", c_helper(e, helper, as, as));
    if (c_is_signed(d))                         /* without copies of the sign */
        tg_printf(e->to, "(%s)", c_type(e, tg_dtype(kDLUInt, d.bits, 1), n->span));
    c_expr(e, n->kid[0], c_is_signed(d) ? C_UNARY : C_TERNARY);
    tg_putc(e->to, ')');
    if (less)                                   /* 16 or 24 zeros more in the wider type */
        tg_printf(e->to, " - %d", 32 - d.bits);
    close(e, bracket);
}

/* ---- reinterpretation ---- */

static void reinterpret(tg_emit *e, const tg_node *n, int outer)
{
    const tg_node *x = n->kid[0];
    DLDataType to = tg_dtype_of(n), from = x->type->kind == TG_T_PTR ? TG_HANDLE : tg_dtype_of(x);
    bool bracket = C_UNARY < outer;
    if (to.code == kDLOpaqueHandle || n->type->kind == TG_T_PTR || from.code == kDLOpaqueHandle) {
        bool address = from.code != kDLOpaqueHandle;
        open(e, bracket);
        tg_puts(e->to, address ? "(void *)(uintptr_t)" : n->type->kind == TG_T_PTR ? "(void *)" : "(uintptr_t)");
        c_expr(e, x, C_UNARY);
        close(e, bracket);
        return;
    }
    if (to.bits != from.bits) {
        unsupported(e, n, tg_format(e->cx, "%s and %s differ in size", tg_dtype_text(e->cx, from), tg_dtype_text(e->cx, to)));
        return;
    }
    to.lanes = from.lanes = 1;
    if (tg_is_int(to) && tg_is_int(from)) {
        open(e, bracket);
        tg_printf(e->to, "(%s)", c_type(e, to, n->span));
        c_expr(e, x, C_UNARY);
        close(e, bracket);
        return;
    }
    if (c_is_half(to) && c_is_half(from) && to.code == from.code) {
        c_expr(e, x, outer);
        return;
    }
    /* a half is a float as a value: to its bits and back */
    if (c_is_half(from)) {
        bool cast = tg_is_int(to);
        open(e, cast && bracket);
        if (cast)
            tg_printf(e->to, "(%s)", c_type(e, to, n->span));
        else
            tg_printf(e->to, "%s(", c_helper(e, to.code == kDLBfloat ? C_H_BF16_TO_FLOAT : C_H_HALF_TO_FLOAT, to, to));
        tg_printf(e->to, "%s(", c_helper(e, from.code == kDLBfloat ? C_H_FLOAT_TO_BF16 : C_H_FLOAT_TO_HALF, from, from));
        c_expr(e, x, C_TERNARY);
        tg_puts(e->to, cast ? ")" : "))");
        close(e, cast && bracket);
        return;
    }
    if (c_is_half(to)) {
        tg_printf(e->to, "%s((uint16_t)", c_helper(e, to.code == kDLBfloat ? C_H_BF16_TO_FLOAT : C_H_HALF_TO_FLOAT, to, to));
        c_expr(e, x, C_UNARY);
        tg_putc(e->to, ')');
        return;
    }
    tg_printf(e->to, "%s(", c_helper(e, C_H_BITS, to, from));
    c_expr(e, x, C_TERNARY);
    tg_putc(e->to, ')');
}

/* ---- functions ---- */

/* One argument, converted to what the parameter is in C. */
static void argument(tg_emit *e, const tg_node *n, const tg_var *param, const struct c_extern_arg *arg)
{
    bool pointer = n->kind == TG_STR || c_is_pointer(n);
    if (pointer && param != NULL) {
        const c_var *v = c_var_of(e, param);
        c_pointer(e, n, param->type->kind == TG_T_PTR ? v->elem : TG_HANDLE, !v->stored, C_TERNARY);
    } else if (pointer) {
        c_pointer(e, n, arg != NULL ? arg->dtype : TG_HANDLE, arg != NULL && arg->constant, C_TERNARY);
    } else if (tg_dtype_of(n).lanes > 1) {
        unsupported(e, n, "a vector cannot be an argument of a C function");
    } else {
        c_assigned(e, n, param != NULL ? param->type->dtype : tg_dtype_of(n));
    }
}

void c_call_function(tg_emit *e, const tg_node *n)
{
    const c_fn *to = c_callee(e, n);
    const c_extern *x = to != NULL ? NULL : tg_map_get(&e->extern_of, TG_KEY(n->kid[0]->u.name));
    if (to != NULL && to->f->nparams != n->nkids - 1) {
        unsupported(e, n, tg_format(e->cx, "%s takes %u arguments, the call has %u", to->f->name->text, to->f->nparams,
                                    n->nkids - 1));
        return;
    }
    tg_printf(e->to, "%s(", to != NULL ? to->name->text : n->kid[0]->u.name->text);
    for (uint32_t i = 1; i < n->nkids; ++i) {
        if (i > 1)
            c_comma(e);
        const struct c_extern_arg *arg = x != NULL && i - 1 < x->nargs ? &x->arg[i - 1] : NULL;
        argument(e, n->kid[i], to != NULL ? to->f->param[i - 1] : NULL, arg);
    }
    tg_putc(e->to, ')');
}

static void stack_at(tg_emit *e, const tg_node *stack, const tg_node *begin)
{
    c_expr(e, stack, C_ADD);
    if (!tg_is_int_const(begin, 0)) {
        tg_puts(e->to, " + ");
        c_index(e, begin, C_MUL);
    }
}

/* callee(values, codes, count, &result, &code, handle), or the same through a function found by name. */
static void packed_call(tg_emit *e, const tg_node *n, bool by_name)
{
    const c_fn *to = c_callee(e, n);
    const tg_node *begin = n->kid[3], *end = n->kid[4];
    e->need |= C_PACKED;
    if (n->kid[0]->kind != TG_STR || (!by_name && to == NULL) || (to != NULL && !to->is_packed)) {
        unsupported(e, n, "the callee must be a function of the module with the packed signature");
        return;
    }
    if (by_name) {
        tg_printf(e->to, "%s(", c_helper(e, C_H_CALL_PACKED, TG_INT32, TG_INT32));
        c_put_string(e, n->kid[0]->u.name);
        tg_puts(e->to, ", ");
    } else {
        tg_printf(e->to, "%s(", to->name->text);
    }
    stack_at(e, n->kid[1], begin);
    tg_puts(e->to, ", ");
    stack_at(e, n->kid[2], begin);
    tg_puts(e->to, ", ");
    if (tg_is_int_const(begin, 0)) {
        c_index(e, end, C_TERNARY);
    } else {
        c_index(e, end, C_ADD);
        tg_puts(e->to, " - ");
        c_index(e, begin, C_MUL);
    }
    tg_printf(e->to, ", &%s, &%s", e->ret_value->text, e->ret_code->text);
    if (!by_name) {
        tg_puts(e->to, ", ");
        c_pointer(e, n->kid[5], TG_HANDLE, false, C_TERNARY);
    }
    tg_putc(e->to, ')');
}

/* ---- structs of the packed convention ---- */

static const char *const tensor_field[] = {
    [1] = "data", [2] = "shape", [3] = "strides", [4] = "ndim", [5] = "dtype.code", [6] = "dtype.bits", [7] = "dtype.lanes",
    [8] = "byte_offset", [9] = "device.device_id", [10] = "device.device_type",
};

static const char *value_field(const tg_node *n)
{
    const tg_type *t = n->nkids == 4 ? n->kid[3]->type : n->type;
    if (n->nkids == 4 && n->kid[3]->kind == TG_STR)
        return "v_str";
    if (t->kind != TG_T_PRIM || t->dtype.code == kDLOpaqueHandle)
        return "v_handle";
    return tg_is_float(t->dtype) ? "v_float64" : "v_int64";
}

/* handle[index].field, without what surrounds it. */
void c_object_field(tg_emit *e, const tg_node *n)
{
    const tg_node *h = n->kid[0], *field = n->kid[2];
    const c_var *v = h->kind == TG_VAR ? c_var_of(e, h->u.var) : NULL;
    int64_t k = field->kind == TG_INT ? field->u.i : -1;
    bool value = k == 12;
    e->need |= C_PACKED;
    if (v == NULL || v->name == NULL || k < 0 || (!value && k >= (int64_t)TG_COUNT(tensor_field))
        || v->object != (value ? C_VALUES : C_TENSORS)) {
        unsupported(e, n, "field or handle is not one of the packed convention");
        return;
    }
    if (k == 0)
        tg_putc(e->to, '&');
    tg_puts(e->to, v->name->text);
    bool first = tg_is_int_const(n->kid[1], 0) && !v->local && k != 0 && !value;
    if (!first) {
        tg_putc(e->to, '[');
        c_index(e, n->kid[1], C_ANY);
        tg_putc(e->to, ']');
    }
    if (k != 0)
        tg_printf(e->to, "%s%s", first ? "->" : ".", value ? value_field(n) : tensor_field[k]);
}

/* ---- all of them ---- */

static void named(tg_emit *e, const tg_node *n, const char *name)
{
    tg_printf(e->to, "%s(", name);
    arguments(e, n, 0);
}

static void large_constant(tg_emit *e, const tg_node *n, int outer)
{
    if (n->kid[0]->kind != TG_INT || n->kid[1]->kind != TG_INT) {
        unsupported(e, n, "expected two constants");
        return;
    }
    uint64_t v = (uint64_t)(uint32_t)n->kid[1]->u.i << 32 | (uint32_t)n->kid[0]->u.i;
    c_put_int(e, tg_dtype(kDLUInt, 64, 1), (int64_t)v, true, outer);
}

void c_call_expr(tg_emit *e, const tg_node *n, int outer)
{
    const tg_intrin *row = tg_intrin_find(e->cx, n->u.name);
    enum tg_intrin_id id = row == NULL ? TG_NINTRINS : row->id;
    DLDataType i32 = TG_INT32;
    const char *name = math_name(id);
    if (name != NULL) {
        math_call(e, n, name);
        return;
    }
    switch (id) {
    case TG_I_exp10: case TG_I_rsqrt: case TG_I_sigmoid: math_formula(e, n, id, outer); break;
    case TG_I_ldexp: load_exponent(e, n); break;
    case TG_I_isnan: case TG_I_isinf: case TG_I_isfinite: classify(e, n, outer); break;
    case TG_I_shift_left: case TG_I_shift_right: shift(e, n, outer); break;
    case TG_I_bitwise_and: bit_operation(e, n, "&", C_BITAND, outer); break;
    case TG_I_bitwise_or: bit_operation(e, n, "|", C_BITOR, outer); break;
    case TG_I_bitwise_xor: bit_operation(e, n, "^", C_BITXOR, outer); break;
    case TG_I_bitwise_not: bit_not(e, n, outer); break;
    case TG_I_popcount: count_bits(e, n, C_H_POPCOUNT, outer); break;
    case TG_I_clz: count_bits(e, n, C_H_CLZ, outer); break;
    case TG_I_likely: c_expr(e, n->kid[0], outer); break;
    case TG_I_reinterpret: reinterpret(e, n, outer); break;
    case TG_I_q_multiply_shift: named(e, n, c_helper(e, C_H_Q_MULTIPLY, i32, i32)); break;
    case TG_I_q_multiply_shift_per_axis: named(e, n, c_helper(e, C_H_Q_MULTIPLY_AXIS, i32, i32)); break;
    case TG_I_large_uint_imm: large_constant(e, n, outer); break;
    case TG_I_isnullptr:
        e->need |= C_STDDEF;
        open(e, C_EQUAL < outer);
        c_expr(e, n->kid[0], C_SHIFT);
        tg_puts(e->to, " == NULL");
        close(e, C_EQUAL < outer);
        break;
    case TG_I_address_of: case TG_I_tvm_access_ptr: c_pointer(e, n, TG_HANDLE, true, outer); break;
    case TG_I_call_extern: case TG_I_call_pure_extern:
        if (n->nkids == 0 || n->kid[0]->kind != TG_STR)
            unsupported(e, n, "expected the name of a function");
        else
            c_call_function(e, n);
        break;
    case TG_I_call_cpacked_lowered: packed_call(e, n, false); break;
    case TG_I_call_packed_lowered: packed_call(e, n, true); break;
    case TG_I_tvm_struct_get: c_object_field(e, n); break;
    case TG_I_dot_tile: case TG_I_tap_tile: c_dot_call(e, n); break;
    case TG_I_TVMBackendAllocWorkspace: case TG_I_TVMBackendFreeWorkspace:
        e->need |= C_PACKED;
        named(e, n, n->u.name->text);
        break;
    case TG_I_call_packed: case TG_I_call_cpacked:
        unsupported(e, n, "its arguments are not lowered: the pass lower-call-packed comes first");
        break;
    default: unsupported(e, n, "has no place in an expression of emitted C"); break;
    }
}
