/* tvmscript_call.c: calls. Those of the table that compute become expressions; rows of intrins.def become CALL nodes; all
 * others stay forms, for the statement or the attribute around them. Formats: tvmscript-tir.md sections 9 to 11. */
#include "tvmscript_elab.h"

#include <math.h>
#include <string.h>

static tg_val failed(const tg_syn *at)
{
    return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
}

static tg_val of_type(const tg_syn *at, const tg_type *type)
{
    tg_val v = { .kind = type != NULL ? TG_VAL_TYPE : TG_VAL_ERROR, .at = at, .called = true };
    v.u.type = type;
    return v;
}

static tg_val form(tg_elab *e, const tg_syn *at, const tg_word *word, const tg_name *name, const tg_val *arg,
                   uint32_t n)
{
    tg_val *copy = TG_TEMP_ARRAY(e->cx, tg_val, n), v = { .kind = TG_VAL_FORM, .at = at, .n = n };
    for (uint32_t i = 0; i < n; ++i) {
        if (arg[i].kind == TG_VAL_ERROR)
            return arg[i];
        copy[i] = arg[i];
    }
    v.u.item = copy;
    v.w.word = word;
    v.name = name;
    return v;
}

/* ---- types called: T.int64(5), T.float32("inf"), T.int32(), T.handle("float32", "global") ---- */

static tg_val pointer_type(tg_elab *e, const tg_syn *at, const tg_val *call)
{
    const tg_val *slot[3];
    if (!tg_el_args(e, call, "| dtype scope/storage_scope type", slot))
        return failed(at);
    if (slot[0] == NULL)
        return of_type(at, e->handle);
    if (slot[0]->kind == TG_VAL_TUPLE && slot[0]->n == 2) {     /* T.Ptr[global T.float32] */
        slot[1] = &slot[0]->u.item[1];
        slot[0] = &slot[0]->u.item[0];
    }
    DLDataType to;
    const tg_name *name = slot[0]->kind == TG_VAL_STR ? slot[0]->u.name : NULL;
    if (name != NULL ? !tg_dtype_parse(name->text, name->len, &to) : !tg_el_dtype(e, slot[0], &to))
        return name != NULL ? tg_el_wrong(e, slot[0]->at, "\"%s\" is no data type", name->text) : failed(at);
    const tg_name *scope = slot[1] != NULL ? tg_el_str(e, slot[1], "the storage scope") : NULL;
    return slot[1] != NULL && scope == NULL ? failed(at) : of_type(at, tg_ptr(e->cx, to, scope));
}

static tg_val named_float(tg_elab *e, const tg_val *v, DLDataType d)
{
    const tg_name *name = v->u.name;
    bool minus = name->len > 0 && name->text[0] == '-';
    const char *text = name->text + minus;
    double f;
    if (strcmp(text, "inf") == 0 || strcmp(text, "infinity") == 0)
        f = (double)INFINITY;
    else if (strcmp(text, "nan") == 0)
        f = (double)NAN;
    else
        return tg_el_wrong(e, v->at, "\"%s\" is no number", name->text);
    if (!tg_is_float(d))
        return tg_el_wrong(e, v->at, "%s has no %s", tg_dtype_text(e->cx, d), text);
    return tg_el_of_expr(v->at, tg_float(e->cx, d, minus ? -f : f));
}

static tg_val scalar_type(tg_elab *e, const tg_syn *at, const tg_val *call, DLDataType d)
{
    const tg_val *slot[2];
    if (!tg_el_args(e, call, "| value/expr is_size_var", slot))
        return failed(at);
    if (slot[0] == NULL)
        return of_type(at, tg_prim(e->cx, d));
    tg_val v =
        slot[0]->kind == TG_VAL_STR ? named_float(e, slot[0], d) : tg_el_of_expr(at, tg_el_expr_as(e, slot[0], d));
    v.at = at;
    return v;
}

static tg_val call_type(tg_elab *e, const tg_syn *at, const tg_val *callee, const tg_val *arg, uint32_t n)
{
    if (callee->called)
        return tg_el_wrong(e, at, "a type is called twice");
    tg_val call = form(e, at, NULL, tg_intern_z(e->cx, "a type"), arg, n);
    if (call.kind == TG_VAL_ERROR)
        return call;
    return callee->u.type->kind == TG_T_PTR ? pointer_type(e, at, &call)
                                            : scalar_type(e, at, &call, callee->u.type->dtype);
}

/* ---- intrinsics ---- */

/* Where a printed call of a row with a given result carries its type. */
enum place { FIRST, LAST, NOWHERE };

static enum place result_place(enum tg_intrin_id id)
{
    return id == TG_I_tvm_struct_get ? LAST : id == TG_I_large_uint_imm ? NOWHERE : FIRST;
}

static const tg_node *argument(tg_elab *e, const tg_val *v)
{
    if (v->kind == TG_VAL_BUFFER)       /* hand-written: a buffer stands for its pointer */
        return tg_var_ref(e->cx, v->w.buf->data);
    return tg_el_expr(e, v);
}

/* Takes a dtype= out of the arguments; old text gives it with every call, ours where the type is not the usual one. */
static bool take_dtype(tg_elab *e, const tg_val *call, const tg_val **arg, uint32_t *n, const tg_type **type)
{
    *n = 0;
    *type = NULL;
    for (uint32_t i = 0; i < call->n; ++i) {
        const tg_val *v = &call->u.item[i];
        if (v->key == NULL) {
            arg[(*n)++] = v;
        } else if (tg_name_is(v->key, "dtype")) {
            if ((*type = tg_el_result_type(e, v)) == NULL)
                return false;
        } else {
            tg_el_error(e, v->at, "%s has no parameter '%s'", call->name->text, v->key->text);
            return false;
        }
    }
    return true;
}

static bool takes_equal_types(enum tg_intrin_id id)
{
    return id == TG_I_pow || id == TG_I_fmod || id == TG_I_atan2 || id == TG_I_hypot || id == TG_I_copysign ||
           id == TG_I_nextafter;
}

/* What the builders take for granted of the operands. */
static bool operands_good(tg_elab *e, const tg_val *call, const tg_intrin *row, const tg_node **x, uint32_t n)
{
    if (takes_equal_types(row->id) && !tg_el_agree(e, call->at, &x[0], &x[1]))
        return false;
    if (row->id == TG_I_if_then_else && !tg_el_agree(e, call->at, &x[1], &x[2]))
        return false;
    if (row->id == TG_I_address_of && x[0]->kind != TG_LOAD) {
        tg_el_error(e, call->at, "address_of takes an element of a buffer");
        return false;
    }
    bool named = row->id == TG_I_call_extern || row->id == TG_I_call_pure_extern || row->id == TG_I_call_packed ||
                 row->id == TG_I_call_cpacked || row->id == TG_I_call_packed_lowered ||
                 row->id == TG_I_call_cpacked_lowered || row->id == TG_I_tvm_stack_alloca;
    if (named && (n == 0 || x[0]->kind != TG_STR)) {
        tg_el_error(e, call->at, "%s begins with a name in quotes", call->name->text);
        return false;
    }
    if (row->effect == TG_EFFECT_PURE && row->result == TG_RESULT_SAME &&
        (x[0]->type->kind != TG_T_PRIM || x[0]->kind == TG_STR)) {
        tg_el_error(e, call->at, "%s takes a number", call->name->text);
        return false;
    }
    return true;
}

static tg_val intrinsic(tg_elab *e, const tg_val *call, const tg_intrin *row)
{
    const tg_val **arg = TG_TEMP_ARRAY(e->cx, const tg_val *, call->n + 1);
    const tg_node **x = TG_TEMP_ARRAY(e->cx, const tg_node *, call->n + 1);
    const tg_type *type;
    uint32_t n;
    if (!take_dtype(e, call, arg, &n, &type))
        return failed(call->at);
    if (row->result == TG_RESULT_GIVEN && type == NULL) {
        enum place where = result_place(row->id);
        if (where == NOWHERE) {
            type = tg_prim(e->cx, tg_dtype(kDLUInt, 64, 1));
        } else if (n == 0) {
            return tg_el_wrong(e, call->at, "%s: the result type is missing", call->name->text);
        } else {
            if ((type = tg_el_result_type(e, where == FIRST ? arg[0] : arg[n - 1])) == NULL)
                return failed(call->at);
            arg += where == FIRST;
            --n;
        }
    }
    bool usual = row->result == TG_RESULT_PTR && type != NULL && type->kind == TG_T_PRIM;   /* dtype="handle" of old text */
    if (row->id == TG_I_ret || usual)
        type = NULL;
    if (row->nargs >= 0 && (uint32_t)row->nargs != n)
        return tg_el_wrong(e, call->at, "%s takes %d argument%s, %u given", call->name->text, row->nargs,
                           row->nargs == 1 ? "" : "s", (unsigned)n);
    for (uint32_t i = 0; i < n; ++i)
        if ((x[i] = argument(e, arg[i])) == NULL)
            return failed(call->at);
    if (!operands_good(e, call, row, x, n))
        return failed(call->at);
    return tg_el_of_expr(call->at, tg_node_at(e->cx, tg_call(e->cx, row->name, type, n, x), tg_el_span(e, call->at)));
}

static const tg_intrin *intrin_by_id(tg_elab *e, int id)
{
    static const char *const names[] = {
#define TG_INTRIN(name, nargs, result, effect) #name,
#include "ir/intrins.def"
#undef TG_INTRIN
    };
    return tg_intrin_find(e->cx, tg_intern_z(e->cx, names[id]));
}

/* T.call_intrin("float32", "tir.exp", x) */
static tg_val call_intrin(tg_elab *e, const tg_val *call)
{
    const tg_name *name = call->n >= 2 ? tg_el_str(e, &call->u.item[1], "the intrinsic's name") : NULL;
    const char *plain = name == NULL ? "" : strncmp(name->text, "tir.", 4) == 0 ? name->text + 4 : name->text;
    const tg_intrin *row = tg_intrin_find(e->cx, tg_intern_z(e->cx, plain));
    if (row == NULL)
        return name == NULL ? failed(call->at) : tg_el_wrong(e, call->at, "intrinsic %s is not supported", name->text);
    tg_val *arg = TG_TEMP_ARRAY(e->cx, tg_val, call->n), inner = *call;
    memcpy(arg, call->u.item + 2, (call->n - 2) * sizeof arg[0]);
    arg[call->n - 2] = call->u.item[0];
    arg[call->n - 2].key = tg_intern_z(e->cx, "dtype");
    inner.u.item = arg;
    inner.n = call->n - 1;
    return intrinsic(e, &inner, row);
}

/* T.call_llvm_pure_intrin("float32", "llvm.exp", T.uint32(1), x): the number counts the signature's types, until 0.21. */
static tg_val call_llvm(tg_elab *e, const tg_val *call)
{
    static const struct llvm_name { const char *llvm, *here; } known[] = {
        { "exp", "exp" }, { "exp2", "exp2" }, { "log", "log" }, { "log2", "log2" }, { "log10", "log10" }, { "sqrt", "sqrt" },
        { "fabs", "fabs" }, { "floor", "floor" }, { "ceil", "ceil" }, { "trunc", "trunc" }, { "round", "round" },
        { "nearbyint", "nearbyint" }, { "rint", "nearbyint" }, { "pow", "pow" }, { "sin", "sin" }, { "cos", "cos" },
        { "fma", "fma" }, { "copysign", "copysign" }, { "ctpop", "popcount" },
    };
    const tg_name *name = call->n >= 3 && call->u.item[1].kind == TG_VAL_STR ? call->u.item[1].u.name : NULL;
    for (size_t i = 0; name != NULL && strncmp(name->text, "llvm.", 5) == 0 && i < TG_COUNT(known); ++i) {
        const char *rest = name->text + 5;
        size_t n = strlen(known[i].llvm);
        if (strncmp(rest, known[i].llvm, n) != 0 || (rest[n] != '\0' && rest[n] != '.'))
            continue;
        const tg_intrin *row = tg_intrin_find(e->cx, tg_intern_z(e->cx, known[i].here));
        bool counted = row->nargs >= 0 && call->n == (uint32_t)row->nargs + 3;
        tg_val inner = *call;
        inner.u.item += counted ? 3 : 2;
        inner.n -= counted ? 3 : 2;
        return intrinsic(e, &inner, row);
    }
    return tg_el_wrong(e, call->at, "%s: this LLVM intrinsic is not supported", call->name->text);
}

static tg_val call_global(tg_elab *e, const tg_syn *at, const tg_name *name, const tg_val *arg, uint32_t n)
{
    const tg_syn *def = tg_map_get(&e->globals, TG_KEY(name));
    tg_val call = form(e, at, NULL, name, arg, n);
    if (call.kind == TG_VAL_ERROR)
        return call;
    if (def == NULL)
        return tg_el_wrong(e, at, "the module has no function '%s'", name->text);
    const tg_val **positional = TG_TEMP_ARRAY(e->cx, const tg_val *, n + 1);
    const tg_type *type;
    uint32_t count;
    if (!take_dtype(e, &call, positional, &count, &type) ||
        (type == NULL && (type = tg_el_return_type(e, def)) == NULL))
        return failed(at);
    const tg_node **x = TG_TEMP_ARRAY(e->cx, const tg_node *, count + 1);
    x[0] = tg_str(e->cx, tg_map_get(&e->renamed, TG_KEY(name)));
    for (uint32_t i = 0; i < count; ++i)
        if ((x[i + 1] = argument(e, positional[i])) == NULL)
            return failed(at);
    return tg_el_of_expr(at, tg_node_at(e->cx, tg_call(e->cx, "call_extern", type, count + 1, x), tg_el_span(e, at)));
}

/* ---- expressions of the table ---- */

static tg_val node(tg_elab *e, const tg_syn *at, enum tg_kind kind, const tg_type *type, const void *payload,
                   uint32_t n, const tg_node *const *kid)
{
    return tg_el_of_expr(at, tg_node_new(e->cx, kind, tg_el_span(e, at), type, payload, n, kid));
}

/* An explicit cast stays a node, also of a constant: T.Cast("float32", 0) is printed as such. */
static tg_val cast(tg_elab *e, const tg_val *call, bool value_first)
{
    const tg_val *slot[2];
    DLDataType d;
    if (!tg_el_args(e, call, value_first ? "value dtype" : "dtype value", slot) ||
        !tg_el_dtype(e, slot[value_first], &d))
        return failed(call->at);
    const tg_node *x = tg_el_expr(e, slot[!value_first]);
    if (x == NULL)
        return failed(call->at);
    if (x->type->kind != TG_T_PRIM || x->kind == TG_STR)
        return tg_el_wrong(e, call->at, "a cast takes a number");
    if (tg_dtype_of(x).lanes != d.lanes)
        return tg_el_wrong(e, call->at, "a cast from %u lanes to %u", (unsigned)tg_dtype_of(x).lanes,
                           (unsigned)d.lanes);
    return node(e, call->at, TG_CAST, tg_prim(e->cx, d), NULL, 1, &x);
}

static tg_val repeated(tg_elab *e, const tg_syn *at, const tg_node *x, int64_t lanes)
{
    DLDataType d = tg_dtype_of(x);
    if (x->type->kind != TG_T_PRIM || d.lanes != 1 || lanes < 2 || lanes > UINT16_MAX)
        return tg_el_wrong(e, at, "a vector is made of a scalar and 2 to %d lanes", UINT16_MAX);
    d.lanes = (uint16_t)lanes;
    return node(e, at, TG_BROADCAST, tg_prim(e->cx, d), NULL, 1, &x);
}

static tg_val select(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[3];
    if (!tg_el_args(e, call, "condition/cond true_value/t/tvalue false_value/f/fvalue", slot))
        return failed(call->at);
    const tg_node *kid[3] = { tg_el_cond(e, slot[0]), tg_el_expr(e, slot[1]), tg_el_expr(e, slot[2]) };
    if (kid[0] == NULL || kid[1] == NULL || kid[2] == NULL || !tg_el_agree(e, call->at, &kid[1], &kid[2]))
        return failed(call->at);
    uint16_t lanes = tg_dtype_of(kid[0]).lanes;
    for (int k = 1; k < 3 && lanes > 1; ++k) {
        if (tg_dtype_of(kid[k]).lanes == lanes)
            continue;
        tg_val v = repeated(e, call->at, kid[k], lanes);
        if (v.kind == TG_VAL_ERROR)
            return v;
        kid[k] = v.u.expr;
    }
    return node(e, call->at, TG_SELECT, kid[1]->type, NULL, 3, kid);
}

static tg_val ramp(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[4];
    int64_t lanes;
    if (!tg_el_args(e, call, "base stride lanes | dtype", slot) || !tg_el_int(e, slot[2], "lanes", &lanes))
        return failed(call->at);
    const tg_node *kid[2] = { tg_el_expr(e, slot[0]), tg_el_expr(e, slot[1]) };
    if (kid[0] == NULL || kid[1] == NULL || !tg_el_agree(e, call->at, &kid[0], &kid[1]))
        return failed(call->at);
    tg_val v = repeated(e, call->at, kid[0], lanes);
    return v.kind == TG_VAL_ERROR ? v : node(e, call->at, TG_RAMP, v.u.expr->type, NULL, 2, kid);
}

static tg_val broadcast(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[3];
    int64_t lanes;
    if (!tg_el_args(e, call, "value lanes | dtype", slot) || !tg_el_int(e, slot[1], "lanes", &lanes))
        return failed(call->at);
    const tg_node *x = tg_el_expr(e, slot[0]);
    return x != NULL ? repeated(e, call->at, x, lanes) : failed(call->at);
}

static tg_val shuffle(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[3], *vector, *index;
    if (!tg_el_args(e, call, "vectors indices | dtype", slot))
        return failed(call->at);
    uint32_t nvectors = tg_el_list(slot[0], &vector), nindices = tg_el_list(slot[1], &index);
    const tg_node **kid = TG_TEMP_ARRAY(e->cx, const tg_node *, (size_t)nvectors + nindices);
    if (nvectors == 0 || nindices == 0 || nindices > UINT16_MAX)
        return tg_el_wrong(e, call->at, "a shuffle takes vectors and the numbers of their lanes");
    for (uint32_t i = 0; i < nvectors; ++i) {
        if ((kid[i] = tg_el_expr(e, &vector[i])) == NULL)
            return failed(call->at);
        if (kid[i]->type->kind != TG_T_PRIM || kid[i]->type->dtype.code != kid[0]->type->dtype.code ||
            kid[i]->type->dtype.bits != kid[0]->type->dtype.bits)
            return tg_el_wrong(e, vector[i].at, "the vectors of a shuffle have one element type");
    }
    for (uint32_t i = 0; i < nindices; ++i)
        if ((kid[nvectors + i] = tg_el_index(e, &index[i])) == NULL)
            return failed(call->at);
    DLDataType d = tg_dtype(kid[0]->type->dtype.code, kid[0]->type->dtype.bits, (uint16_t)nindices);
    return node(e, call->at, TG_SHUFFLE, tg_prim(e->cx, d), (const void *)(uintptr_t)nvectors, nvectors + nindices,
                kid);
}

static tg_val let_of(tg_elab *e, const tg_syn *at, const tg_val *var, const tg_val *value, const tg_node *body)
{
    const tg_node *v = tg_el_expr(e, var);
    if (v == NULL || body == NULL)
        return failed(at);
    if (v->kind != TG_VAR)
        return tg_el_wrong(e, var->at, "expected a variable");
    const tg_node *x = v->type->kind == TG_T_PRIM ? tg_el_expr_as(e, value, v->type->dtype) : tg_el_expr(e, value);
    return x != NULL ? node(e, at, TG_LET, body->type, v->u.var, 2, (const tg_node *[]){ x, body }) : failed(at);
}

/* T.Let(body, where={x: e}): the last pair is the innermost. */
static tg_val let(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[2];
    if (!tg_el_args(e, call, "body where", slot))
        return failed(call->at);
    if (slot[1]->kind != TG_VAL_DICT)
        return tg_el_wrong(e, slot[1]->at, "where= takes a dictionary from variables to values");
    tg_val v = tg_el_of_expr(call->at, tg_el_expr(e, slot[0]));
    for (uint32_t i = slot[1]->n; i > 0 && v.kind == TG_VAL_EXPR; i -= 2)
        v = let_of(e, call->at, &slot[1]->u.item[i - 2], &slot[1]->u.item[i - 1], v.u.expr);
    return v;
}

static tg_val limit(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[1];
    DLDataType d;
    if (!tg_el_args(e, call, "dtype", slot) || !tg_el_dtype(e, slot[0], &d))
        return failed(call->at);
    bool low = call->w.word->arg == 1;
    if (tg_is_float(d)) {
        double max = d.code == kDLBfloat ? 3.3895313892515355e38
                     : d.bits == 16      ? 65504
                     : d.bits == 32      ? 3.4028234663852886e38
                                         : 1.7976931348623157e308;
        max = call->w.word->arg == 2 ? (double)INFINITY : max;
        return tg_el_of_expr(call->at, tg_float(e->cx, d, low ? -max : max));
    }
    if (call->w.word->arg == 2)
        return tg_el_wrong(e, call->at, "%s has no infinity", tg_dtype_text(e->cx, d));
    if (d.code == kDLUInt)
        return tg_el_of_expr(call->at, tg_int(e->cx, d, low ? 0 : -1));
    int64_t min = d.bits == 64 ? INT64_MIN : -((int64_t)1 << (d.bits - 1));
    return tg_el_of_expr(call->at, tg_int(e->cx, d, low ? min : -(min + 1)));
}

static tg_val absolute(tg_elab *e, const tg_val *call)
{
    const tg_node *x = tg_el_expr(e, &call->u.item[0]);
    if (x == NULL)
        return failed(call->at);
    if (x->type->kind != TG_T_PRIM || x->kind == TG_STR)
        return tg_el_wrong(e, call->at, "abs takes a number");
    if (tg_is_float(tg_dtype_of(x)))
        return tg_el_of_expr(call->at, tg_call1(e->cx, "fabs", x));
    const tg_node *zero = tg_int(e->cx, tg_dtype_of(x), 0);
    return tg_el_of_expr(call->at, tg_select(e->cx, tg_bin(e->cx, TG_GE, x, zero), x, tg_bin(e->cx, TG_SUB, zero, x)));
}

static tg_val ceildiv(tg_elab *e, const tg_syn *at, const tg_val *a, const tg_val *b)
{
    tg_val one = { .kind = TG_VAL_INT, .at = at };
    one.u.mag = 1;
    tg_val sum = tg_el_binary(e, at, TG_OP_ADD, a, b);
    sum = tg_el_binary(e, at, TG_OP_SUB, &sum, &one);
    return tg_el_binary(e, at, TG_OP_FLOORDIV, &sum, b);
}

/* T.load("float32x4", p, index, predicate) of 0.7 and 0.8 */
static tg_val load(tg_elab *e, const tg_val *call)
{
    const tg_val *slot[4];
    if (!tg_el_args(e, call, "dtype ptr index | predicate", slot))
        return failed(call->at);
    if (slot[3] != NULL && !tg_el_is_true(e, slot[3]))
        return tg_el_wrong(e, call->at, "loads with a predicate are not supported");
    return tg_el_pointer_access(e, call->at, slot[1], slot[2]);
}

/* Operands of a word that takes @p count of them; old text adds dtype=. */
static bool take(tg_elab *e, const tg_val *call, uint32_t count, const tg_val **arg)
{
    const tg_val **all = TG_TEMP_ARRAY(e->cx, const tg_val *, call->n + 1);
    const tg_type *type;
    uint32_t n;
    if (!take_dtype(e, call, all, &n, &type))
        return false;
    if (n != count) {
        tg_el_error(e, call->at, "%s takes %u argument%s, %u given", call->name->text, (unsigned)count,
                    count == 1 ? "" : "s", (unsigned)n);
        return false;
    }
    memcpy(arg, all, count * sizeof arg[0]);
    return true;
}

/* The operands of words that take nothing but values. */
static uint32_t operand_count(enum tg_word_id id)
{
    switch (id) {
    case TG_W_BINARY: case TG_W_ARITH: case TG_W_CEILDIV: return 2;
    case TG_W_CHOOSE: return 3;
    case TG_W_ABS: case TG_W_NOT: case TG_W_SAME: case TG_W_STRING: case TG_W_PY_FLOAT: return 1;
    default: return 0;
    }
}

static tg_val operator_call(tg_elab *e, const tg_val *call, const tg_val *const *arg)
{
    const tg_syn *at = call->at;
    switch (call->w.word->id) {
    case TG_W_BINARY: return tg_el_binary(e, at, (enum tg_op)call->w.word->arg, arg[0], arg[1]);
    case TG_W_ARITH: return tg_el_arith(e, at, (enum tg_kind)call->w.word->arg, arg[0], arg[1]);
    case TG_W_CEILDIV: return ceildiv(e, at, arg[0], arg[1]);
    case TG_W_CHOOSE: return tg_el_choice(e, at, arg[0], arg[1], arg[2]);
    case TG_W_ABS: return absolute(e, call);
    case TG_W_NOT: return tg_el_unary(e, at, TG_OP_NOT, arg[0]);
    case TG_W_STRING: {
        const tg_name *s = tg_el_str(e, arg[0], "StringImm's value");
        return tg_el_of_expr(at, s != NULL ? tg_str(e->cx, s) : NULL);
    }
    case TG_W_PY_FLOAT: {
        if (arg[0]->kind != TG_VAL_STR)
            return *arg[0];
        return named_float(e, arg[0], TG_FLOAT32);
    }
    default: return *arg[0];
    }
}

static tg_val other_call(tg_elab *e, const tg_val *call)
{
    const tg_word *word = call->w.word;
    const tg_intrin *row = word->family == TG_FAMILY_T ? tg_intrin_find(e->cx, call->name) : NULL;
    if (row != NULL)
        return intrinsic(e, call, row);
    if (word->family == TG_FAMILY_I || word->family == TG_FAMILY_TVM)
        return *call;
    return tg_el_wrong(e, call->at, "%s.%s is not supported", word->name, call->name->text);
}

static tg_val call_word(tg_elab *e, const tg_syn *at, const tg_val *callee, const tg_val *arg, uint32_t n)
{
    const tg_word *word = callee->w.word;
    tg_val call = form(e, at, word, callee->name, arg, n);
    if (call.kind == TG_VAL_ERROR)
        return call;
    uint32_t count = operand_count(word->id);
    if (count > 0) {
        const tg_val *operand[3];
        return take(e, &call, count, operand) ? operator_call(e, &call, operand) : failed(at);
    }
    switch (word->id) {
    case TG_W_CAST: return cast(e, &call, word->arg != 0);
    case TG_W_SELECT: return select(e, &call);
    case TG_W_RAMP: return ramp(e, &call);
    case TG_W_BROADCAST: return broadcast(e, &call);
    case TG_W_SHUFFLE: return shuffle(e, &call);
    case TG_W_LET: return let(e, &call);
    case TG_W_LIMIT: return limit(e, &call);
    case TG_W_LOAD: return load(e, &call);
    case TG_W_INTRIN: return intrinsic(e, &call, intrin_by_id(e, word->arg));
    case TG_W_LLVM: return call_llvm(e, &call);
    case TG_W_CALL_INTRIN: return call_intrin(e, &call);
    case TG_W_VAR:
        return n == 1 ? of_type(at, tg_el_result_type(e, &call.u.item[0])) : tg_el_wrong(e, at, "T.var takes a type");
    case TG_W_LET_NAME:
        if (n == 3)
            return let_of(e, at, &call.u.item[0], &call.u.item[1], tg_el_expr(e, &call.u.item[2]));
        return n == 1 ? of_type(at, tg_el_result_type(e, &call.u.item[0])) : call;
    case TG_W_OTHER: return other_call(e, &call);
    default: return call;
    }
}

/* ---- methods ---- */

static tg_val access_ptr(tg_elab *e, const tg_val *call, const tg_buffer *b)
{
    const tg_val *slot[5];
    int64_t rw = 0;
    if (!tg_el_args(e, call, "access_mask | ptr_type content_lanes offset extent", slot))
        return failed(call->at);
    const tg_node *extent = slot[4] != NULL ? tg_el_index(e, slot[4]) : NULL;
    for (uint32_t k = 0; slot[4] == NULL && k < b->ndim; ++k) {
        const tg_node *dim = b->shape[k];
        if (extent != NULL && !tg_el_agree(e, call->at, &extent, &dim))
            return failed(call->at);
        extent = extent == NULL ? dim : tg_bin(e->cx, TG_MUL, extent, dim);
    }
    if (slot[0]->kind == TG_VAL_STR)
        rw = (strchr(slot[0]->u.name->text, 'r') != NULL) + 2 * (strchr(slot[0]->u.name->text, 'w') != NULL);
    else if (!tg_el_int(e, slot[0], "access_mask", &rw))
        return failed(call->at);
    const tg_node *offset = slot[3] != NULL          ? tg_el_index(e, slot[3])
                            : b->elem_offset != NULL ? b->elem_offset
                                                     : tg_int(e->cx, TG_INT32, 0);
    if (offset == NULL || (slot[4] != NULL && extent == NULL))
        return failed(call->at);
    const tg_node *arg[5] = { tg_call(e->cx, "type_annotation", tg_prim(e->cx, b->dtype), 0, NULL),
                              tg_var_ref(e->cx, b->data), offset, extent != NULL ? extent : tg_int(e->cx, TG_INT32, 1),
                              tg_int(e->cx, TG_INT32, rw) };
    return tg_el_of_expr(call->at,
                         tg_node_at(e->cx, tg_call(e->cx, "tvm_access_ptr", NULL, 5, arg), tg_el_span(e, call->at)));
}

static tg_val call_method(tg_elab *e, const tg_syn *at, const tg_val *callee, const tg_val *arg, uint32_t n)
{
    static const tg_word store = { TG_FAMILY_T, "vstore", TG_W_STORE, 1 };
    const tg_val *self = &callee->u.item[0], *slot[3];
    tg_val call = form(e, at, &store, callee->name, arg, n);
    if (call.kind == TG_VAL_ERROR)
        return call;
    if (tg_name_is(callee->name, "astype")) {
        DLDataType d;
        if (!tg_el_args(e, &call, "dtype", slot) || !tg_el_dtype(e, slot[0], &d))
            return failed(at);
        const tg_node *x = tg_el_expr(e, self);
        if (x != NULL && d.lanes == 1)
            d.lanes = tg_dtype_of(x).lanes;
        return tg_el_of_expr(at, x != NULL ? tg_el_expr_as(e, self, d) : NULL);
    }
    if (tg_name_is(callee->name, "scope")) {
        tg_val v = { .kind = TG_VAL_STR, .at = at };
        v.u.name = self->w.buf->scope;
        return v;
    }
    if (tg_name_is(callee->name, "access_ptr"))
        return access_ptr(e, &call, self->w.buf);
    bool stores = tg_name_is(callee->name, "vstore");
    if (!tg_el_args(e, &call, stores ? "begin value | predicate" : "begin | dtype predicate", slot))
        return failed(at);
    if (slot[2] != NULL && !tg_el_is_true(e, slot[2]))
        return tg_el_wrong(e, at, "accesses with a predicate are not supported");
    const tg_val *index;
    uint32_t count = tg_el_list(slot[0], &index);
    tg_val access = tg_el_subscript(e, at, self, index, count);
    if (!stores || access.kind == TG_VAL_ERROR)
        return access;
    tg_val pair[2] = { access, *slot[1] };
    return form(e, at, &store, callee->name, pair, 2);
}

tg_val tg_el_call(tg_elab *e, const tg_syn *at, const tg_val *callee, const tg_val *arg, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        if (arg[i].kind == TG_VAL_ERROR)
            return arg[i];
    switch (callee->kind) {
    case TG_VAL_ERROR: return *callee;
    case TG_VAL_TYPE: return call_type(e, at, callee, arg, n);
    case TG_VAL_WORD: return call_word(e, at, callee, arg, n);
    case TG_VAL_METHOD: return call_method(e, at, callee, arg, n);
    case TG_VAL_GLOBAL: case TG_VAL_STR: return call_global(e, at, callee->u.name, arg, n);
    default: return tg_el_wrong(e, at, "%s cannot be called", tg_el_what(callee));
    }
}
