/* test_print_tir.c: every kind of TIR node and every intrinsic prints as text that reads back to an equal module and prints
 * the same bytes again; the text itself where it matters. */
#include "fixture.h"

#include "grammar/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

#include <math.h>

/* ---- a function under construction ---- */

typedef struct maker {
    tg_fixture *f;
    tg_ctx *cx;
    tg_buffer *a, *b, *n;           /* float32[8], float32[8], int32[8]: parameters */
    const tg_var *s, *l;            /* int32 and int64 parameters */
} maker;

static maker make(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    const int64_t eight = 8;
    return (maker){ f, cx, tg_buffer_new(cx, tg_intern_z(cx, "A"), TG_FLOAT32, 1, &eight, TG_INT32),
                    tg_buffer_new(cx, tg_intern_z(cx, "B"), TG_FLOAT32, 1, &eight, TG_INT32),
                    tg_buffer_new(cx, tg_intern_z(cx, "N"), TG_INT32, 1, &eight, TG_INT32),
                    tg_var_new(cx, tg_intern_z(cx, "s"), tg_prim(cx, TG_INT32)), tg_var_new(cx, tg_intern_z(cx, "l"), tg_prim(cx, TG_INT64)) };
}

static const tg_func *function(const maker *m, const char *name, const tg_node *body)
{
    tg_func *f = TG_NEW(m->cx, tg_func);
    const tg_var *param[5] = { m->a->data, m->b->data, m->n->data, m->s, m->l };
    const tg_buffer *buffer[5] = { m->a, m->b, m->n, NULL, NULL };
    *f = (tg_func){ .name = tg_intern_z(m->cx, name), .kind = TG_FUNC_PRIM, .nparams = 5, .ret = tg_void(m->cx), .body = body,
                    .param = tg_copy(m->cx, param, sizeof param), .buffer = tg_copy(m->cx, buffer, sizeof buffer) };
    return f;
}

/* Prints, reads, compares, prints again. */
static const char *round_trip(const maker *k, const tg_module *m)
{
    tg_ctx *cx = k->cx;
    tg_text text = tg_text_new(cx), again = tg_text_new(cx);
    const char *why = NULL;
    tg_print_module(&text, m);
    const char *printed = tg_text_z(&text);
    tg_module *back = tg_module_new(cx);
    if (!tg_parse_tvmscript(cx, back, tg_source_add(cx, "printed.py", printed, text.n)))
        fail_msg("%s\n%s", tg_text_z(&k->f->log), printed);
    if (!tg_module_equal(cx, m, back, &why))
        fail_msg("%s\n%s", why, printed);
    tg_print_module(&again, back);
    assert_string_equal(tg_text_z(&again), printed);
    return printed;
}

static const char *text_of_body(const maker *k, const tg_node *body)
{
    tg_module *m = tg_module_new(k->cx);
    tg_module_add(m, function(k, "f", body));
    return round_trip(k, m);
}

static void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
}

static const tg_node *at(const maker *k, const tg_buffer *b, int64_t i)
{
    const tg_node *index = tg_int(k->cx, TG_INT32, i);
    return tg_load(k->cx, b, 1, &index);
}

static const tg_node *i32(const maker *k, int64_t v)
{
    return tg_int(k->cx, TG_INT32, v);
}

static const tg_node *f32(const maker *k, double v)
{
    return tg_float(k->cx, TG_FLOAT32, v);
}

static const tg_node *scalar(const maker *k)
{
    return tg_var_ref(k->cx, k->s);
}

static const tg_node *wide(const maker *k)
{
    return tg_var_ref(k->cx, k->l);
}

static const tg_node *put(const maker *k, const tg_buffer *b, int64_t i, const tg_node *v)
{
    const tg_node *index = tg_int(k->cx, TG_INT32, i);
    return tg_store(k->cx, b, v, 1, &index);
}

static const char *text_of(const maker *k, const tg_node *e)
{
    return text_of_body(k, tg_evaluate(k->cx, e));
}

/* ---- expressions ---- */

static void literals_keep_their_type_and_bits(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const struct { const tg_node *n; const char *text; } cases[] = {
        { i32(&k, 0), "T.evaluate(0)" }, { i32(&k, -128), "T.evaluate(-128)" }, { i32(&k, INT32_MIN), "T.evaluate(-2147483648)" },
        { tg_int(cx, TG_BOOL, 1), "T.evaluate(T.bool(True))" }, { tg_int(cx, TG_INT8, -5), "T.evaluate(T.int8(-5))" },
        { tg_int(cx, TG_UINT8, 255), "T.evaluate(T.uint8(255))" }, { tg_int(cx, TG_INT64, INT64_MIN), "T.evaluate(T.int64(-9223372036854775808))" },
        { tg_int(cx, tg_dtype(kDLUInt, 64, 1), -1), "T.evaluate(T.uint64(18446744073709551615))" },
        { f32(&k, 1), "T.evaluate(T.float32(1))" }, { f32(&k, 0.1), "T.evaluate(T.float32(0.1))" }, { f32(&k, -0.0), "T.evaluate(T.float32(-0))" },
        { f32(&k, 3.4028234663852886e38), "T.evaluate(T.float32(3.4028234663852886e+38))" }, { f32(&k, 1e-45), "T.evaluate(T.float32(1.401298464324817e-45))" },
        { f32(&k, (double)INFINITY), "T.evaluate(T.float32(\"inf\"))" }, { f32(&k, -(double)INFINITY), "T.evaluate(T.float32(\"-inf\"))" },
        { f32(&k, (double)NAN), "T.evaluate(T.float32(\"nan\"))" }, { tg_float(cx, TG_FLOAT64, 0.1), "T.evaluate(T.float64(0.1))" },
        { tg_float(cx, TG_FLOAT64, 5e-324), "T.evaluate(T.float64(5e-324))" }, { tg_float(cx, TG_FLOAT16, 0.1), "T.evaluate(T.float16(" },
        { tg_float(cx, tg_dtype(kDLBfloat, 16, 1), 0.1), "T.evaluate(T.bfloat16(" }, { tg_strz(cx, "a\"b\\\n\xc3\xa9"), "T.evaluate(\"a\\\"b\\\\\\n\\xC3\\xA9\")" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(text_of(&k, cases[i].n), cases[i].text);
}

/* Floats of all magnitudes, by their bits. */
static void every_float32_reads_back_to_its_bits(void **state)
{
    maker k = make(state);
    tg_module *m = tg_module_new(k.cx);
    const tg_node *stmt[1000];
    uint32_t bits = 1;
    for (size_t i = 0; i < TG_COUNT(stmt); ++i) {
        float v;
        bits = bits * 1664525u + 1013904223u;
        memcpy(&v, &bits, sizeof v);
        stmt[i] = put(&k, k.a, 0, f32(&k, isnan(v) ? 0.0 : (double)v));
    }
    tg_module_add(m, function(&k, "f", tg_seq(k.cx, (uint32_t)TG_COUNT(stmt), stmt)));
    round_trip(&k, m);
}

static void operators_take_the_fewest_brackets(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *s = scalar(&k), *a = at(&k, k.a, 0), *b = at(&k, k.b, 1), *n = at(&k, k.n, 2);
    const tg_node *lt = tg_bin(cx, TG_LT, s, n), *ge = tg_bin(cx, TG_GE, n, i32(&k, 3));
    const struct { const tg_node *e; const char *text; } cases[] = {
        { tg_bin(cx, TG_SUB, a, tg_bin(cx, TG_SUB, b, a)), "A[0] - (B[1] - A[0])" }, { tg_bin(cx, TG_SUB, tg_bin(cx, TG_SUB, a, b), a), "A[0] - B[1] - A[0]" },
        { tg_bin(cx, TG_MUL, tg_bin(cx, TG_ADD, a, b), a), "(A[0] + B[1]) * A[0]" }, { tg_bin(cx, TG_ADD, a, tg_bin(cx, TG_MUL, b, a)), "A[0] + B[1] * A[0]" },
        { tg_bin(cx, TG_DIV, a, b), "A[0] / B[1]" }, { tg_bin(cx, TG_DIV, s, n), "T.Div(s, N[2])" }, { tg_bin(cx, TG_MOD, s, n), "T.truncmod(s, N[2])" },
        { tg_bin(cx, TG_MOD, a, b), "T.truncmod(A[0], B[1])" }, { tg_bin(cx, TG_FLOORDIV, s, n), "s // N[2]" },
        { tg_bin(cx, TG_FLOORMOD, tg_bin(cx, TG_FLOORDIV, s, n), n), "s // N[2] % N[2]" }, { tg_bin(cx, TG_MIN, a, b), "T.min(A[0], B[1])" },
        { tg_bin(cx, TG_MAX, a, b), "T.max(A[0], B[1])" }, { tg_bin(cx, TG_EQ, lt, ge), "(s < N[2]) == (N[2] >= 3)" },
        { tg_bin(cx, TG_NE, s, n), "s != N[2]" }, { tg_bin(cx, TG_LE, s, n), "s <= N[2]" }, { tg_bin(cx, TG_GT, s, n), "s > N[2]" },
        { tg_bin(cx, TG_OR, lt, tg_bin(cx, TG_AND, ge, lt)), "s < N[2] or N[2] >= 3 and s < N[2]" },
        { tg_bin(cx, TG_AND, tg_bin(cx, TG_OR, lt, ge), lt), "(s < N[2] or N[2] >= 3) and s < N[2]" },
        { tg_bin(cx, TG_AND, lt, tg_bin(cx, TG_AND, ge, lt)), "s < N[2] and (N[2] >= 3 and s < N[2])" },
        { tg_not(cx, tg_bin(cx, TG_AND, lt, ge)), "not (s < N[2] and N[2] >= 3)" }, { tg_bin(cx, TG_AND, tg_not(cx, lt), ge), "not s < N[2] and N[2] >= 3" },
        { tg_not(cx, tg_not(cx, lt)), "not not s < N[2]" }, { tg_bin(cx, TG_EQ, tg_not(cx, lt), ge), "(not s < N[2]) == (N[2] >= 3)" },
        { tg_bin(cx, TG_ADD, i32(&k, 1), i32(&k, 2)), "T.Add(1, 2)" }, { tg_bin(cx, TG_SUB, i32(&k, 1), i32(&k, 2)), "T.Sub(1, 2)" },
        { tg_bin(cx, TG_LT, i32(&k, 1), i32(&k, 2)), "T.LT(1, 2)" }, { tg_bin(cx, TG_FLOORDIV, i32(&k, 7), i32(&k, 2)), "T.FloorDiv(7, 2)" },
        { tg_bin(cx, TG_DIV, f32(&k, 7), f32(&k, 2)), "T.Div(T.float32(7), T.float32(2))" }, { tg_bin(cx, TG_ADD, s, i32(&k, -3)), "s + -3" },
        { tg_bin(cx, TG_MUL, i32(&k, -3), s), "-3 * s" }, { tg_bin(cx, TG_ADD, tg_bin(cx, TG_ADD, i32(&k, 1), i32(&k, 2)), s), "T.Add(1, 2) + s" },
        { tg_not(cx, tg_int(cx, TG_BOOL, 0)), "T.Not(T.bool(False))" }, { tg_bin(cx, TG_AND, tg_int(cx, TG_BOOL, 0), tg_int(cx, TG_BOOL, 1)), "T.And(T.bool(False), T.bool(True))" },
        { tg_bin(cx, TG_MUL, wide(&k), tg_int(cx, TG_INT64, 4)), "l * T.int64(4)" }, { tg_select(cx, lt, a, b), "T.Select(s < N[2], A[0], B[1])" },
        { tg_cast(cx, TG_INT8, tg_bin(cx, TG_ADD, s, n)), "T.Cast(\"int8\", s + N[2])" },
        { tg_node_new(cx, TG_CAST, TG_NOWHERE, tg_prim(cx, TG_FLOAT32), NULL, 1, (const tg_node *[]){ i32(&k, 0) }), "T.Cast(\"float32\", 0)" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(text_of(&k, cases[i].e), cases[i].text);
}

static const tg_node *ramp(const maker *k, const tg_node *base, int64_t stride, uint16_t lanes)
{
    DLDataType d = tg_dtype_of(base);
    const tg_node *kid[2] = { base, tg_int(k->cx, d, stride) };
    d.lanes = lanes;
    return tg_node_new(k->cx, TG_RAMP, TG_NOWHERE, tg_prim(k->cx, d), NULL, 2, kid);
}

static void vectors_print_as_slices_where_that_is_exact(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *s = scalar(&k), *zero = i32(&k, 0);
    const struct { const tg_node *index; const char *text; } cases[] = {
        { ramp(&k, zero, 1, 4), "A[0:4]" }, { ramp(&k, zero, 2, 4), "A[0:8:2]" }, { ramp(&k, s, 1, 4), "A[s:s + 4]" },
        { ramp(&k, tg_bin(cx, TG_ADD, s, i32(&k, 4)), 3, 2), "A[s + 4:s + 4 + 6:3]" }, { ramp(&k, s, -1, 4), "A[T.Ramp(s, -1, 4)]" },
        { ramp(&k, tg_int(cx, TG_INT64, 8), 1, 8), "A[T.int64(8):T.int64(16)]" }, { ramp(&k, i32(&k, INT32_MAX - 2), 1, 4), "A[T.Ramp(2147483645, 1, 4)]" },
        { tg_node_new(cx, TG_BROADCAST, TG_NOWHERE, tg_prim(cx, tg_dtype(kDLInt, 32, 4)), NULL, 1, &s), "A[T.Broadcast(s, 4)]" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const tg_node *v = tg_load(cx, k.a, 1, &cases[i].index);
        const tg_node *store = tg_store(cx, k.b, v, 1, &cases[i].index);
        assert_holds(text_of_body(&k, store), cases[i].text);
    }
    const tg_node *index = ramp(&k, zero, 1, 4);
    const tg_node *v = tg_load(cx, k.a, 1, &index);
    const tg_node *kid[6] = { v, v, i32(&k, 0), i32(&k, 7), i32(&k, 3), i32(&k, 1) };
    const tg_node *shuffle = tg_node_new(cx, TG_SHUFFLE, TG_NOWHERE, v->type, (const void *)(uintptr_t)2, 6, kid);
    assert_holds(text_of(&k, shuffle), "T.Shuffle([A[0:4], A[0:4]], [0, 7, 3, 1])");
    const tg_node *stored = tg_store(cx, k.b, f32(&k, 2), 1, &index);
    assert_holds(text_of_body(&k, stored), "B[0:4] = T.Broadcast(T.float32(2), 4)");
    assert_holds(text_of(&k, tg_cast(cx, TG_INT32, v)), "T.Cast(\"int32x4\", A[0:4])");
    assert_holds(text_of(&k, tg_select(cx, tg_bin(cx, TG_LT, v, f32(&k, 0)), v, f32(&k, 1))), "T.Select(A[0:4] < T.Broadcast(T.float32(0), 4), A[0:4], T.Broadcast(T.float32(1), 4))");
}

static void lets_of_expressions_declare_their_variable_before(void **state)
{
    maker k = make(state);
    const tg_var *t = tg_var_new(k.cx, tg_intern_z(k.cx, "t"), tg_prim(k.cx, TG_FLOAT32)), *u = tg_var_new(k.cx, tg_intern_z(k.cx, "t"), t->type);
    const tg_node *tt = tg_bin(k.cx, TG_MUL, tg_var_ref(k.cx, t), tg_var_ref(k.cx, u));
    const tg_node *inner = tg_node_new(k.cx, TG_LET, TG_NOWHERE, t->type, u, 2, (const tg_node *[]){ at(&k, k.b, 0), tt });
    const tg_node *outer = tg_node_new(k.cx, TG_LET, TG_NOWHERE, t->type, t, 2, (const tg_node *[]){ at(&k, k.a, 0), inner });
    const char *text = text_of_body(&k, put(&k, k.b, 1, outer));
    assert_holds(text, "        t = T.float32()\n        t_1 = T.float32()\n");
    assert_holds(text, "B[1] = T.Let(T.Let(t * t_1, where={t_1: B[0]}), where={t: A[0]})");
}

/* ---- intrinsics ---- */

static const tg_node *null(const maker *k)
{
    const tg_node *zero = tg_int(k->cx, tg_dtype(kDLUInt, 64, 1), 0);
    return tg_call(k->cx, "reinterpret", tg_prim(k->cx, TG_HANDLE), 1, &zero);
}

static const tg_node *pointer(const maker *k)
{
    return tg_var_ref(k->cx, k->a->data);
}

/* Operands of one call of each row. */
static const tg_node *call_of(const maker *k, const tg_intrin *row)
{
    tg_ctx *cx = k->cx;
    const tg_node *a = at(k, k->a, 0), *b = at(k, k->b, 1), *s = scalar(k), *n = at(k, k->n, 2), *name = tg_strz(cx, "callee"), *p = pointer(k);
    const tg_type *handle = tg_prim(cx, TG_HANDLE), *i32_type = tg_prim(cx, TG_INT32), *u64 = tg_prim(cx, tg_dtype(kDLUInt, 64, 1));
#define CALL(type, ...) tg_call(cx, row->name, (type), (uint32_t)TG_COUNT(((const tg_node *[]){ __VA_ARGS__ })), (const tg_node *[]){ __VA_ARGS__ })
    switch (row->id) {
    case TG_I_pow: case TG_I_fmod: case TG_I_atan2: case TG_I_hypot: case TG_I_copysign: case TG_I_nextafter: return CALL(NULL, a, b);
    case TG_I_ldexp: return CALL(NULL, a, s);
    case TG_I_fma: return CALL(NULL, a, b, a);
    case TG_I_shift_left: case TG_I_shift_right: case TG_I_bitwise_and: case TG_I_bitwise_or: case TG_I_bitwise_xor: return CALL(NULL, s, n);
    case TG_I_bitwise_not: case TG_I_popcount: case TG_I_clz: return CALL(NULL, s);
    case TG_I_if_then_else: return CALL(NULL, tg_bin(cx, TG_LT, s, n), a, b);
    case TG_I_likely: return CALL(NULL, tg_bin(cx, TG_LT, s, n));
    case TG_I_reinterpret: return CALL(i32_type, a);
    case TG_I_q_multiply_shift: return CALL(NULL, s, i32(k, 1 << 30), i32(k, 31), i32(k, -7));
    case TG_I_q_multiply_shift_per_axis: return CALL(NULL, s, n, n, n, i32(k, 31), tg_int(cx, TG_BOOL, 0), tg_int(cx, TG_BOOL, 1));
    case TG_I_large_uint_imm: return CALL(u64, tg_int(cx, tg_dtype(kDLUInt, 32, 1), 1), tg_int(cx, tg_dtype(kDLUInt, 32, 1), 2));
    case TG_I_isnullptr: return CALL(NULL, p);
    case TG_I_address_of: return CALL(NULL, a);
    case TG_I_type_annotation: return tg_call(cx, "type_annotation", tg_prim(cx, TG_FLOAT32), 0, NULL);
    case TG_I_tvm_access_ptr: return CALL(NULL, tg_call(cx, "type_annotation", tg_prim(cx, TG_FLOAT32), 0, NULL), p, i32(k, 0), i32(k, 8), i32(k, 1));
    case TG_I_call_extern: return CALL(i32_type, name, p, s, tg_strz(cx, "text"), null(k));
    case TG_I_call_pure_extern: return CALL(tg_prim(cx, TG_FLOAT32), name, a);
    case TG_I_call_packed: case TG_I_call_cpacked: return CALL(NULL, name, p, null(k));
    case TG_I_call_packed_lowered: return CALL(NULL, name, p, p, i32(k, 0), i32(k, 2));
    case TG_I_call_cpacked_lowered: return CALL(NULL, name, p, p, i32(k, 0), i32(k, 2), null(k));
    case TG_I_tvm_check_return: return CALL(NULL, i32(k, 0), i32(k, -1), tg_call(cx, "call_extern", i32_type, 1, &name));
    case TG_I_ret: return CALL(NULL, i32(k, 0));
    case TG_I_tvm_throw_last_error: return tg_call(cx, row->name, NULL, 0, NULL);
    case TG_I_tvm_stack_alloca: return CALL(NULL, tg_strz(cx, "array"), i32(k, 2));
    case TG_I_tvm_stack_make_shape: return CALL(NULL, i32(k, 1), i32(k, 8));
    case TG_I_tvm_stack_make_array:
        return CALL(NULL, p, tg_call(cx, "tvm_stack_make_shape", NULL, 1, (const tg_node *[]){ i32(k, 8) }), null(k), tg_int(cx, tg_dtype(kDLUInt, 32, 1), 1), f32(k, 0), i32(k, 0));
    case TG_I_tvm_struct_get: return CALL(handle, p, i32(k, 0), i32(k, 1));
    case TG_I_tvm_struct_set: return CALL(NULL, p, i32(k, 0), i32(k, 1), null(k));
    case TG_I_TVMBackendAllocWorkspace: return CALL(NULL, i32(k, 1), i32(k, 0), tg_int(cx, tg_dtype(kDLUInt, 64, 1), 64), i32(k, 2), i32(k, 32));
    case TG_I_TVMBackendFreeWorkspace: return CALL(NULL, i32(k, 1), i32(k, 0), p);
    default: return CALL(NULL, a);
    }
}

static void every_intrinsic_prints_and_reads_back(void **state)
{
    static const char *const names[] = {
#define TG_INTRIN(name, nargs, result, effect) #name,
#include "ir/intrins.def"
#undef TG_INTRIN
    };
    maker k = make(state);
    tg_module *m = tg_module_new(k.cx);
    for (size_t i = 0; i < TG_COUNT(names); ++i) {
        const tg_intrin *row = tg_intrin_find(k.cx, tg_intern_z(k.cx, names[i]));
        tg_module_add(m, function(&k, tg_format(k.cx, "f_%s", names[i]), tg_evaluate(k.cx, call_of(&k, row))));
    }
    const char *text = round_trip(&k, m);
    assert_holds(text, "T.reinterpret(\"int32\", A[0])");
    assert_holds(text, "T.call_extern(\"int32\", \"callee\", A.data, s, \"text\", T.reinterpret(\"handle\", T.uint64(0)))");
    assert_holds(text, "T.tvm_struct_get(A.data, 0, 1, \"handle\")");
    assert_holds(text, "T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, 0, 8, 1)");
    assert_holds(text, "        return 0\n");
}

static void results_of_other_types_name_them(void **state)
{
    maker k = make(state);
    const tg_type *typed = tg_ptr(k.cx, TG_INT8, tg_intern_z(k.cx, "global.workspace"));
    const tg_node *a = at(&k, k.a, 0), *p[3] = { pointer(&k), i32(&k, 0), i32(&k, 1) }, *name = tg_strz(k.cx, "f");
    assert_holds(text_of(&k, tg_call(k.cx, "address_of", typed, 1, &a)), "T.address_of(A[0], dtype=T.handle(\"int8\", \"global.workspace\"))");
    assert_holds(text_of(&k, tg_call(k.cx, "tvm_struct_get", typed, 3, p)), "T.tvm_struct_get(A.data, 0, 1, T.handle(\"int8\", \"global.workspace\"))");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", tg_ptr(k.cx, TG_HANDLE, NULL), 1, &name)), "T.call_extern(T.handle, \"f\")");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", tg_void(k.cx), 1, &name)), "T.call_extern(\"void\", \"f\")");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", typed, 1, &name)), "T.call_extern(T.handle(\"int8\", \"global.workspace\"), \"f\")");
}

/* ---- statements ---- */

static const tg_node *heads(const maker *k, enum tg_kind kind, const tg_node *body)
{
    tg_ctx *cx = k->cx;
    switch (kind) {
    case TG_LET_STMT:
        return tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT32)), tg_bin(cx, TG_ADD, scalar(k), i32(k, 1)), body);
    case TG_ALLOCATE: {
        tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
        *info = (tg_alloc_info){ .dtype = TG_INT8, .scope = tg_intern_z(cx, "global.workspace") };
        info->var = tg_var_new(cx, tg_intern_z(cx, "p"), tg_ptr(cx, TG_INT8, info->scope));
        info->annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "alignment") }, (const tg_value *[]){ tg_v_int(cx, 16) });
        return tg_node_new(cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 3, (const tg_node *[]){ i32(k, 4), i32(k, 16), body });
    }
    case TG_ALLOC_CONST: {
        static const float value[6] = { 1, 2, 3, 4, 5, 0.1f };
        static const int64_t extent[2] = { 2, 3 };
        tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
        *info = (tg_alloc_info){ .dtype = TG_FLOAT32, .scope = tg_intern_z(cx, "global"), .ndim = 2, .extent = extent };
        info->var = tg_var_new(cx, tg_intern_z(cx, "w"), tg_ptr(cx, TG_FLOAT32, info->scope));
        info->tensor = tg_tensor_new(cx, tg_tensor_type(cx, TG_FLOAT32, 2, extent, 0), tg_copy(cx, value, sizeof value));
        return tg_node_new(cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, info, 1, &body);
    }
    case TG_DECL_BUFFER: {
        tg_buffer *b = tg_buffer_new(cx, tg_intern_z(cx, "V"), TG_INT32, 2, (const int64_t[]){ 2, 4 }, TG_INT32);
        b->data = k->a->data;
        b->strides = tg_copy(cx, (const tg_node *[]){ i32(k, 4), i32(k, 1) }, 2 * sizeof(tg_node *));
        b->elem_offset = i32(k, 0);
        b->align = 16;
        b->offset_factor = 4;
        b->auto_broadcast = true;
        return tg_node_new(cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, b, 1, &body);
    }
    case TG_ATTR: {
        tg_attr_stmt *attr = TG_NEW(cx, tg_attr_stmt);
        attr->key = tg_intern_z(cx, "pragma_unroll_explicit");
        return tg_node_new(cx, TG_ATTR, TG_NOWHERE, NULL, attr, 3, (const tg_node *[]){ pointer(k), i32(k, 1), body });
    }
    default:
        return tg_node_new(cx, TG_ASSERT, TG_NOWHERE, NULL, NULL, 3,
                           (const tg_node *[]){ tg_bin(cx, TG_LT, scalar(k), i32(k, 8)), tg_strz(cx, "s is \"too\" large"), body });
    }
}

static void heads_are_flat_at_the_end_of_a_suite_and_a_with_before_it(void **state)
{
    static const struct { enum tg_kind kind; const char *flat, *with; } cases[] = {
        { TG_LET_STMT, "        x: T.int32 = s + 1\n        A[0] =", "        with T.LetStmt(s + 1) as x:\n            A[0] =" },
        { TG_ALLOCATE, "        p = T.allocate([4, 16], \"int8\", \"global.workspace\", annotations={\"alignment\": 16})\n        A[0] =",
          "        with T.allocate([4, 16], \"int8\", \"global.workspace\", annotations={\"alignment\": 16}) as p:\n            A[0] =" },
        { TG_ALLOC_CONST, "        w = T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3])\n        A[0] =",
          "        with T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3]) as w:\n            A[0] =" },
        { TG_DECL_BUFFER, "        V = T.decl_buffer((2, 4), \"int32\", data=A.data, strides=(4, 1), elem_offset=0, align=16, offset_factor=4, buffer_type=\"auto\")\n        A[0] =",
          "        with T.decl_buffer((2, 4), \"int32\", data=A.data, strides=(4, 1), elem_offset=0, align=16, offset_factor=4, buffer_type=\"auto\") as V:\n            A[0] =" },
        { TG_ATTR, "        T.attr(A.data, \"pragma_unroll_explicit\", 1)\n        A[0] =", "        with T.attr(A.data, \"pragma_unroll_explicit\", 1):\n            A[0] =" },
        { TG_ASSERT, "        assert s < 8, \"s is \\\"too\\\" large\"\n        A[0] =", "        with T.Assert(s < 8, \"s is \\\"too\\\" large\"):\n            A[0] =" },
    };
    maker k = make(state);
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1)), *after = put(&k, k.a, 1, f32(&k, 2));
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const tg_node *head = heads(&k, cases[i].kind, body);
        assert_holds(text_of_body(&k, head), cases[i].flat);
        assert_holds(text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ head, after })), cases[i].with);
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ after, head }));
        text_of_body(&k, heads(&k, cases[i].kind, tg_nop(k.cx)));
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ heads(&k, cases[i].kind, tg_nop(k.cx)), after }));
        for (size_t j = 0; j < TG_COUNT(cases); ++j)
            text_of_body(&k, heads(&k, cases[j].kind, head));
    }
}

static void an_allocation_around_its_buffer_is_one_declaration(void **state)
{
    maker k = make(state);
    tg_buffer *b = tg_buffer_new(k.cx, tg_intern_z(k.cx, "t"), TG_FLOAT32, 1, (const int64_t[]){ 16 }, TG_INT32);
    tg_alloc_info *info = TG_NEW(k.cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = b->data, .dtype = b->dtype, .scope = b->scope };
    const tg_node *use = tg_evaluate(k.cx, tg_call(k.cx, "call_extern", tg_void(k.cx), 2, (const tg_node *[]){ tg_strz(k.cx, "f"), tg_var_ref(k.cx, b->data) }));
    const tg_node *decl = tg_node_new(k.cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, b, 1, &use);
    const tg_node *alloc = tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ b->shape[0], decl });
    assert_holds(text_of_body(&k, alloc), "        t = T.decl_buffer((16,))\n        T.call_extern(\"void\", \"f\", t.data)\n");
    assert_holds(text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ alloc, put(&k, k.a, 0, f32(&k, 1)) })), "        with T.decl_buffer((16,)) as t:\n");
    const tg_node *other = tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ i32(&k, 32), decl });
    assert_holds(text_of_body(&k, other), "        t = T.allocate([32], \"float32\", \"global\")\n        t_1 = T.decl_buffer((16,), data=t)\n");
}

static void pointers_of_unusual_types_say_so(void **state)
{
    maker k = make(state);
    tg_alloc_info *info = TG_NEW(k.cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = tg_var_new(k.cx, tg_intern_z(k.cx, "p"), tg_ptr(k.cx, TG_INT8, NULL)), .dtype = TG_FLOAT32, .scope = tg_intern_z(k.cx, "local") };
    const tg_node *alloc = tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ i32(&k, 4), tg_nop(k.cx) });
    assert_holds(text_of_body(&k, alloc), "p: T.handle(\"int8\") = T.allocate([4], \"float32\", \"local\")");
    const tg_type *types[] = { tg_ptr(k.cx, TG_HANDLE, NULL), tg_ptr(k.cx, TG_INT8, NULL), tg_ptr(k.cx, TG_INT8, tg_intern_z(k.cx, "global")) };
    const char *texts[] = { "q: T.handle = ", "q: T.handle(\"int8\") = ", "q: T.handle(\"int8\", \"global\") = " };
    const tg_node *a = at(&k, k.a, 0), *value = tg_call1(k.cx, "address_of", a);
    for (size_t i = 0; i < TG_COUNT(types); ++i) {
        const tg_node *let = tg_let_stmt(k.cx, tg_var_new(k.cx, tg_intern_z(k.cx, "q"), types[i]), value, tg_nop(k.cx));
        assert_holds(text_of_body(&k, let), texts[i]);
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ let, put(&k, k.a, 0, a) }));
    }
}

static const tg_node *loop(const maker *k, enum tg_for_kind kind, const char *name, const tg_node *min, const tg_node *extent, const tg_value *annotations, const tg_node *body)
{
    tg_loop *l = TG_NEW(k->cx, tg_loop);
    *l = (tg_loop){ tg_var_new(k->cx, tg_intern_z(k->cx, name), min->type), kind, kind == TG_FOR_THREAD ? tg_intern_z(k->cx, "threadIdx.x") : NULL, annotations };
    return tg_for_with(k->cx, l, min, extent, body);
}

static void loops_of_all_kinds_keep_bounds_and_annotations(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *s = scalar(&k), *body = put(&k, k.a, 0, f32(&k, 1)), *zero = i32(&k, 0);
    const tg_value *hint = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "pragma_auto_unroll_max_step") }, (const tg_value *[]){ tg_v_int(cx, 16) });
    const tg_node *lz = tg_int(cx, TG_INT64, 0), *sum0 = tg_bin(cx, TG_ADD, zero, s);
    const struct { const tg_node *n; const char *text; } cases[] = {
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, body), "for i in range(8):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", i32(&k, 2), i32(&k, 6), NULL, body), "for i in range(2, 8):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", s, tg_bin(cx, TG_SUB, i32(&k, 5), s), NULL, body), "for i in range(s, s + (5 - s)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", i32(&k, 2), s, NULL, body), "for i in range(2, 2 + s):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, tg_bin(cx, TG_ADD, s, i32(&k, 1)), NULL, body), "for i in range(s + 1):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, sum0, NULL, body), "for i in range(0, 0 + (0 + s)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", lz, tg_int(cx, TG_INT64, 8), NULL, body), "for i in range(T.int64(8)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), hint, body), "for i in T.serial(8, annotations={\"pragma_auto_unroll_max_step\": 16}):\n" },
        { loop(&k, TG_FOR_PARALLEL, "i", zero, i32(&k, 8), NULL, body), "for i in T.parallel(8):\n" },
        { loop(&k, TG_FOR_VECTORIZED, "i", zero, i32(&k, 8), NULL, body), "for i in T.vectorized(8):\n" },
        { loop(&k, TG_FOR_UNROLLED, "i", i32(&k, 1), i32(&k, 4), hint, body), "for i in T.unroll(1, 5, annotations={" },
        { loop(&k, TG_FOR_THREAD, "i", zero, i32(&k, 8), NULL, body), "for i in T.thread_binding(8, thread=\"threadIdx.x\"):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, loop(&k, TG_FOR_SERIAL, "j", lz, tg_int(cx, TG_INT64, 4), NULL, body)), "for i, j in T.grid(8, T.int64(4)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, loop(&k, TG_FOR_SERIAL, "i", zero, s, NULL, body)), "for i, i_1 in T.grid(8, s):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, loop(&k, TG_FOR_SERIAL, "j", i32(&k, 1), i32(&k, 4), NULL, body)), "for i in range(8):\n            for j in range(1, 5):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, tg_nop(cx)), "for i in range(8):\n            pass\n" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(text_of_body(&k, cases[i].n), cases[i].text);
    /* a triangle is no grid */
    const tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), s->type);
    const tg_node *triangle = tg_for(cx, TG_FOR_SERIAL, i, zero, i32(&k, 8), loop(&k, TG_FOR_SERIAL, "j", zero, tg_var_ref(cx, i), NULL, body));
    assert_holds(text_of_body(&k, triangle), "for i in range(8):\n            for j in range(i):\n");
}

static void control_flow_prints_as_pythons(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *c = tg_bin(cx, TG_LT, scalar(&k), i32(&k, 3)), *a = put(&k, k.a, 0, f32(&k, 1)), *b = put(&k, k.a, 1, f32(&k, 2));
    assert_holds(text_of_body(&k, tg_if(cx, c, a, NULL)), "        if s < 3:\n            A[0] = T.float32(1)\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, b)), "        else:\n            A[1] = T.float32(2)\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, tg_if(cx, c, b, a))), "        elif s < 3:\n            A[1] = T.float32(2)\n        else:\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, tg_if(cx, c, b, NULL))), "        elif s < 3:\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, tg_nop(cx), tg_seq(cx, 2, (const tg_node *[]){ tg_if(cx, c, b, NULL), a }))), "            pass\n        else:\n            if s < 3:\n");
    text_of_body(&k, tg_if(cx, c, tg_if(cx, c, a, NULL), b));
    assert_holds(text_of_body(&k, tg_node_new(cx, TG_WHILE, TG_NOWHERE, NULL, NULL, 2, (const tg_node *[]){ c, a })), "        while s < 3:\n");
    assert_holds(text_of_body(&k, tg_nop(cx)), "        pass\n");
    assert_holds(text_of_body(&k, tg_evaluate(cx, i32(&k, 0))), "        T.evaluate(0)\n");
    assert_holds(text_of_body(&k, tg_seq(cx, 2, (const tg_node *[]){ a, tg_evaluate(cx, tg_call1(cx, "ret", scalar(&k))) })), "        return s\n");
}

static void buffers_of_rank_zero_take_an_empty_index(void **state)
{
    maker k = make(state);
    tg_buffer *r = tg_buffer_new(k.cx, tg_intern_z(k.cx, "r"), TG_FLOAT32, 0, NULL, TG_INT32);
    r->data = k.a->data;
    const tg_node *store = tg_store(k.cx, r, tg_load(k.cx, r, 0, NULL), 0, NULL);
    assert_holds(text_of_body(&k, tg_node_new(k.cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, r, 1, &store)), "r = T.decl_buffer((), data=A.data)\n        r[()] = r[()]\n");
}

/* ---- blocks ---- */

typedef struct block_case { maker k; tg_block_parts p; struct tg_iter_part iter[3]; tg_region read, write; const tg_node *loops[2]; } block_case;

/* A matrix product's block inside loops i, j of extents 8 and 4. */
static void begin_block(block_case *c, void **state)
{
    tg_ctx *cx = (c->k = make(state)).cx;
    const tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), tg_prim(cx, TG_INT32)), *j = tg_var_new(cx, tg_intern_z(cx, "j"), tg_prim(cx, TG_INT32));
    const tg_node *zero = i32(&c->k, 0);
    c->loops[0] = tg_var_ref(cx, i);
    c->loops[1] = tg_var_ref(cx, j);
    c->iter[0] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vi"), i->type), TG_ITER_SPATIAL, zero, i32(&c->k, 8), c->loops[0] };
    c->iter[1] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vj"), i->type), TG_ITER_REDUCE, zero, i32(&c->k, 4), c->loops[1] };
    const tg_node *vi = tg_var_ref(cx, c->iter[0].var), *one = i32(&c->k, 1);
    c->read = (tg_region){ c->k.a, tg_copy(cx, &vi, sizeof vi), tg_copy(cx, &one, sizeof one) };
    c->write = (tg_region){ c->k.b, c->read.min, c->read.extent };
    c->p = (tg_block_parts){ .name = tg_intern_z(cx, "C"), .niters = 2, .iter = c->iter, .nreads = 1, .read = &c->read, .nwrites = 1, .write = &c->write,
                             .init = tg_store(cx, c->k.b, f32(&c->k, 0), 1, &vi), .body = tg_store(cx, c->k.b, tg_load(cx, c->k.a, 1, &vi), 1, &vi) };
}

static const tg_node *in_root(tg_ctx *cx, const tg_node *body, uint32_t nallocs, const tg_buffer **alloc)
{
    tg_block_parts root = { .name = tg_intern_z(cx, "root"), .nallocs = nallocs, .alloc = alloc, .body = body };
    return tg_block_new(cx, &root);
}

static const char *text_of_block(const block_case *c)
{
    tg_ctx *cx = c->k.cx;
    const tg_node *zero = i32(&c->k, 0), *body = tg_block_new(cx, &c->p);
    body = tg_for(cx, TG_FOR_SERIAL, c->loops[1]->u.var, zero, i32(&c->k, 4), body);
    body = tg_for(cx, TG_FOR_SERIAL, c->loops[0]->u.var, zero, i32(&c->k, 8), body);
    return text_of_body(&c->k, in_root(cx, body, 0, NULL));
}

static void blocks_print_their_axes_regions_and_init(void **state)
{
    block_case c;
    begin_block(&c, state);
    assert_holds(text_of_block(&c), "        # with T.block(\"root\"):\n        for i, j in T.grid(8, 4):\n            with T.block(\"C\"):\n"
                                    "                vi, vj = T.axis.remap(\"SR\", [i, j])\n                T.reads(A[vi])\n                T.writes(B[vi])\n"
                                    "                with T.init():\n                    B[vi] = T.float32(0)\n                B[vi] = A[vi]\n");
}

static void axes_that_are_no_loop_say_their_domain(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    c.iter[0].binding = tg_bin(cx, TG_ADD, tg_bin(cx, TG_MUL, c.loops[0], i32(&c.k, 4)), c.loops[1]);
    c.iter[0].extent = i32(&c.k, 32);
    c.iter[1].min = i32(&c.k, 2);
    c.iter[1].extent = i32(&c.k, 8);
    c.iter[2] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vo"), tg_prim(cx, TG_INT64)), TG_ITER_OPAQUE, tg_int(cx, TG_INT64, 0), tg_int(cx, TG_INT64, 3), wide(&c.k) };
    c.p.niters = 3;
    c.p.predicate = tg_bin(cx, TG_LT, c.loops[0], i32(&c.k, 7));
    c.p.annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "schedule_rule") }, (const tg_value *[]){ tg_v_strz(cx, "None") });
    assert_holds(text_of_block(&c), "                vi = T.axis.spatial(32, i * 4 + j)\n                vj = T.axis.reduce((2, 10), j)\n                vo = T.axis.opaque(T.int64(3), l)\n"
                                    "                T.where(i < 7)\n                T.reads(A[vi])\n                T.writes(B[vi])\n                T.block_attr({\"schedule_rule\": \"None\"})\n");
    c.iter[2].kind = TG_ITER_SCAN;
    c.iter[2].min = wide(&c.k);
    assert_holds(text_of_block(&c), "vo = T.axis.scan((l, l + T.int64(3)), l)\n");
}

static void regions_keep_their_extents(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    const tg_node *vi = tg_var_ref(cx, c.iter[0].var), *vi4 = tg_bin(cx, TG_MUL, vi, i32(&c.k, 4)), *n = scalar(&c.k);
    const struct { const tg_node *min, *extent; const char *text; } cases[] = {
        { vi, i32(&c.k, 1), "T.reads(A[vi])" }, { vi4, i32(&c.k, 4), "T.reads(A[vi * 4:vi * 4 + 4])" }, { i32(&c.k, 0), i32(&c.k, 8), "T.reads(A[0:8])" },
        { i32(&c.k, 2), i32(&c.k, 3), "T.reads(A[2:5])" }, { i32(&c.k, 0), n, "T.reads(A[0:s])" }, { i32(&c.k, 2), n, "T.reads(A[2:2 + s])" },
        { vi, n, "T.reads(A[vi:vi + s])" }, { tg_bin(cx, TG_SUB, vi, n), tg_bin(cx, TG_ADD, n, vi), "T.reads(A[vi - s:vi - s + (s + vi)])" },
        { vi, i32(&c.k, 0), "T.reads(A[vi:vi + 0])" }, { i32(&c.k, 0), tg_bin(cx, TG_ADD, i32(&c.k, 0), n), "T.reads(A[0:0 + (0 + s)])" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        c.read.min = &cases[i].min;
        c.read.extent = &cases[i].extent;
        assert_holds(text_of_block(&c), cases[i].text);
    }
}

static void allocations_and_views_of_blocks_keep_their_fields(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    tg_buffer *t = tg_buffer_new(cx, tg_intern_z(cx, "t"), TG_INT8, 2, (const int64_t[]){ 2, 3 }, TG_INT64);
    t->scope = tg_intern_z(cx, "local");
    t->data = tg_var_new(cx, t->name, tg_ptr(cx, TG_INT8, t->scope));
    tg_buffer *view = tg_buffer_new(cx, tg_intern_z(cx, "W"), TG_FLOAT32, 1, (const int64_t[]){ 4 }, TG_INT32);
    const tg_node *stride = tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "W_s"), tg_prim(cx, TG_INT32)));
    view->strides = tg_copy(cx, &stride, sizeof stride);
    view->elem_offset = tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "off"), tg_prim(cx, TG_INT32)));
    view->offset_factor = 1;
    const tg_node *vi4 = tg_bin(cx, TG_MUL, tg_var_ref(cx, c.iter[0].var), i32(&c.k, 4)), *four = i32(&c.k, 4);
    struct tg_match_part match = { view, { c.k.a, &vi4, &four } };
    const tg_buffer *alloc = t;
    c.p.nallocs = 1;
    c.p.alloc = &alloc;
    c.p.nmatches = 1;
    c.p.match = &match;
    const tg_node *arg[5] = { tg_strz(cx, "gemv"), tg_var_ref(cx, view->data), view->elem_offset, stride, tg_var_ref(cx, t->data) };
    c.p.body = tg_evaluate(cx, tg_call(cx, "call_extern", tg_void(cx), 5, arg));
    const char *text = text_of_block(&c);
    assert_holds(text, "                t = T.alloc_buffer((T.int64(2), T.int64(3)), \"int8\", scope=\"local\")\n"
                       "                W = T.match_buffer(A[vi * 4:vi * 4 + 4], (4,), strides=(\"W_s\",), offset_factor=1)\n");
    assert_holds(text, "T.call_extern(\"void\", \"gemv\", W.data, W.elem_offset, W.strides[0], t.data)");
}

static void the_root_block_is_left_out_where_the_reader_puts_it_back(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1));
    const tg_buffer *t = tg_buffer_new(cx, tg_intern_z(cx, "t"), TG_INT8, 1, (const int64_t[]){ 2 }, TG_INT32);
    tg_block_parts inner = { .name = tg_intern_z(cx, "x"), .body = body }, named = { .name = tg_intern_z(cx, "root"), .body = body, .nallocs = 1, .alloc = &t,
                             .annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "a") }, (const tg_value *[]){ tg_v_int(cx, 1) }) };
    const tg_node *block = tg_block_new(cx, &inner);
    assert_holds(text_of_body(&k, in_root(cx, body, 1, &t)), "        # with T.block(\"root\"):\n        t = T.alloc_buffer((2,), \"int8\")\n");
    assert_holds(text_of_body(&k, in_root(cx, body, 0, NULL)), "        with T.block(\"root\"):\n            T.reads()\n            T.writes()\n            A[0] =");
    assert_holds(text_of_body(&k, in_root(cx, block, 0, NULL)), "        with T.block(\"root\"):\n");
    assert_holds(text_of_body(&k, in_root(cx, tg_seq(cx, 2, (const tg_node *[]){ block, body }), 0, NULL)), "        # with T.block(\"root\"):\n        with T.block(\"x\"):\n");
    assert_holds(text_of_body(&k, tg_block_new(cx, &named)), "        with T.block(\"root\"):\n");
    assert_holds(text_of_body(&k, block), "        with T.block(\"x\"):\n");
}

/* ---- functions and modules ---- */

static void signatures_keep_buffers_pointers_and_scalars(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *n = tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "n"), tg_prim(cx, TG_INT32)));
    tg_buffer *x = tg_buffer_new(cx, tg_intern_z(cx, "X"), TG_INT8, 2, (const int64_t[]){ 4, 4 }, TG_INT32);
    x->shape = tg_copy(cx, (const tg_node *[]){ n, i32(&k, 4) }, 2 * sizeof(tg_node *));
    tg_buffer *y = tg_buffer_new(cx, tg_intern_z(cx, "Y"), TG_FLOAT32, 1, (const int64_t[]){ 4 }, TG_INT32);
    y->strides = tg_copy(cx, &n, sizeof n);
    y->align = 16;
    y->data = tg_var_new(cx, tg_intern_z(cx, "y"), y->data->type);
    tg_buffer *z = tg_buffer_new(cx, tg_intern_z(cx, "Z"), TG_FLOAT32, 0, NULL, TG_INT32);
    z->scope = tg_intern_z(cx, "shared");
    z->data = tg_var_new(cx, z->name, tg_ptr(cx, TG_FLOAT32, z->scope));
    const tg_var *p = tg_var_new(cx, tg_intern_z(cx, "p"), tg_ptr(cx, TG_HANDLE, NULL)), *q = tg_var_new(cx, tg_intern_z(cx, "q"), tg_ptr(cx, TG_UINT8, tg_intern_z(cx, "global")));
    const tg_var *param[6] = { x->data, y->data, z->data, p, q, k.l };
    const tg_buffer *buffer[6] = { x, y, z, NULL, NULL, NULL };
    tg_func f = { .name = tg_intern_z(cx, "f"), .kind = TG_FUNC_PRIM, .nparams = 6, .param = param, .buffer = buffer, .ret = tg_prim(cx, TG_INT32),
                  .body = tg_evaluate(cx, tg_call1(cx, "ret", i32(&k, 0))) };
    tg_module *m = tg_module_new(cx);
    tg_module_add(m, &f);
    assert_holds(round_trip(&k, m), "    def f(X_handle: T.handle, y: T.handle, Z: T.Buffer((), \"float32\", scope=\"shared\"), p: T.handle, q: T.handle(\"uint8\", \"global\"), l: T.int64) -> T.int32:\n"
                                    "        n = T.int32()\n        X = T.match_buffer(X_handle, (n, 4), \"int8\")\n        Y = T.match_buffer(y, (4,), strides=(n,), align=16)\n        return 0\n");
}

static void attributes_of_all_kinds_read_back(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    tg_tensor *shared = tg_tensor_scalar_int(cx, TG_INT8, 3);
    tg_value *wide_int = tg_copy(cx, tg_v_int(cx, 7), sizeof *wide_int), *target = tg_copy(cx, tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "kind") }, (const tg_value *[]){ tg_v_strz(cx, "c") }), sizeof *target);
    wide_int->bits = 64;
    target->kind = TG_V_OBJECT;
    target->s = tg_intern_z(cx, "Target");
    tg_value *pool = tg_copy(cx, tg_v_dict(cx, 3, (const tg_name *[]){ tg_intern_z(cx, ""), tg_intern_z(cx, "byte_offset"), tg_intern_z(cx, "data") },
                                           (const tg_value *[]){ tg_v_strz(cx, "w"), tg_v_int(cx, 64), tg_v_tensor(cx, shared) }), sizeof *pool);
    pool->kind = TG_V_OBJECT;
    pool->s = tg_intern_z(cx, "I.ConstantInfo");
    tg_value *object = tg_copy(cx, target, sizeof *object);
    object->s = tg_intern_z(cx, "relay.backend.FunctionInfo");
    const tg_value *items[] = { tg_v_none(cx), tg_v_bool(cx, true), tg_v_int(cx, -5), wide_int, tg_v_int(cx, INT64_MAX), tg_v_float(cx, 0.1), tg_v_float(cx, (double)INFINITY),
                                tg_v_strz(cx, "a\"b\n"), tg_v_ints(cx, 2, (const int64_t[]){ 1, 2 }), tg_v_list(cx, 0, NULL), tg_v_dict(cx, 0, NULL, NULL), target, pool, object, tg_v_tensor(cx, shared) };
    const tg_value *attrs = tg_v_with(cx, tg_v_with(cx, NULL, "all", tg_v_list(cx, TG_COUNT(items), items)), "global_symbol", tg_v_strz(cx, "g"));
    tg_func *f = tg_func_copy(cx, function(&k, "g", tg_nop(cx)));
    f->attrs = attrs;
    tg_module *m = tg_module_new(cx);
    tg_module_add(m, f);
    m->attrs = tg_v_with(cx, NULL, "runtime", object);
    const char *text = round_trip(&k, m);
    assert_holds(text, "    @T.prim_func\n    def g(");
    assert_holds(text, "        T.func_attr({\"all\": [None, T.bool(True), -5, T.int64(7), T.int64(9223372036854775807), 0.1, T.float32(\"inf\"), \"a\\\"b\\n\", [1, 2], [], {}, "
                       "T.target({\"kind\": \"c\"}), I.ConstantInfo(\"w\", byte_offset=64, data=metadata[\"runtime.NDArray\"][0]), "
                       "I.object(\"relay.backend.FunctionInfo\", {\"kind\": \"c\"}), metadata[\"runtime.NDArray\"][0]]})\n");
    assert_holds(text, "    I.module_attrs({\"runtime\": I.object(");
}

static void tensors_stand_once_in_the_metadata(void **state)
{
    maker k = make(state);
    const tg_node *one = heads(&k, TG_ALLOC_CONST, tg_nop(k.cx));
    tg_alloc_info *info = tg_copy(k.cx, one->u.alloc, sizeof *info);
    info->var = tg_var_new(k.cx, info->var->name, info->var->type);
    const tg_node *two = tg_node_new(k.cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, info, 1, &one);
    const char *text = text_of_body(&k, two);
    assert_holds(text, "        w = T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3])\n        w_1 = T.allocate_const(metadata[\"runtime.NDArray\"][0], ");
    assert_ptr_equal(strstr(strstr(text, "P6G0lvBAXt0") + 1, "P6G0lvBAXt0"), NULL);
}

static void lost_values_stay_lost(void **state)
{
    maker k = make(state);
    tg_alloc_info *info = tg_copy(k.cx, heads(&k, TG_ALLOC_CONST, tg_nop(k.cx))->u.alloc, sizeof *info);
    info->tensor = NULL;
    info->missing = 4;
    const tg_node *n = tg_node_new(k.cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, info, 1, (const tg_node *[]){ tg_nop(k.cx) });
    assert_holds(text_of_body(&k, n), "w = T.allocate_const([...], \"float32\", [2, 3], missing=4)");
}

static void names_become_identifiers_and_stay_apart(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    static const struct { const char *name, *text; } cases[] = {
        { "x.y/z", "x_y_z" }, { "", "v" }, { "0a", "v_0a" }, { "for", "for_1" }, { "T", "T_1" }, { "A", "A_1" }, { "caf\xc3\xa9", "caf__" }, { "range", "range_1" }
    };
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1));
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const tg_node *let = tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, cases[i].name), tg_prim(cx, TG_INT32)), scalar(&k), body);
        assert_holds(text_of_body(&k, let), tg_format(cx, "        %s: T.int32 = s\n", cases[i].text));
    }
    /* free again after their scope */
    const tg_node *one = loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 8), NULL, body), *two = loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 4), NULL, body);
    assert_holds(text_of_body(&k, tg_seq(cx, 2, (const tg_node *[]){ one, two })), "for i in range(4):");
    /* a thousand of one name */
    const tg_node *all = body;
    for (int i = 0; i < 1000; ++i)
        all = tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT32)), scalar(&k), all);
    assert_holds(text_of_body(&k, all), "        x_999: T.int32 = s\n");
}

static void long_chains_and_deep_calls_print_without_recursion(void **state)
{
    maker k = make(state);
    const tg_node *sum = at(&k, k.a, 0), *max = sum, *right = sum;
    for (int i = 0; i < 50000; ++i)
        sum = tg_bin(k.cx, TG_ADD, sum, at(&k, k.b, i % 8));
    for (int i = 0; i < 2000; ++i) {
        max = tg_bin(k.cx, TG_MAX, max, at(&k, k.b, i % 8));
        right = tg_bin(k.cx, TG_SUB, at(&k, k.b, i % 8), right);
    }
    text_of_body(&k, put(&k, k.a, 0, sum));
    text_of_body(&k, put(&k, k.a, 0, max));
    text_of_body(&k, put(&k, k.a, 0, right));
}

static void a_module_without_functions_prints_pass(void **state)
{
    maker k = make(state);
    tg_text t = tg_text_new(k.cx);
    tg_print_tir(&t, tg_module_new(k.cx));
    assert_holds(tg_text_z(&t), "class Module:\n    pass\n");
}

static void a_node_shows_as_one_short_line(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *store = put(&k, k.a, 0, f32(&k, 1)), *sum = at(&k, k.a, 0);
    for (int i = 0; i < 100; ++i)
        sum = tg_bin(cx, TG_ADD, sum, at(&k, k.b, 1));
    assert_string_equal(tg_node_text(cx, tg_bin(cx, TG_MUL, at(&k, k.a, 1), f32(&k, 2))), "A[1] * T.float32(2)");
    assert_string_equal(tg_node_text(cx, store), "A[0] = T.float32(1)");
    assert_string_equal(tg_node_text(cx, loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 8), NULL, store)), "for i in range(8)");
    assert_string_equal(tg_node_text(cx, tg_if(cx, tg_bin(cx, TG_LT, scalar(&k), i32(&k, 3)), store, NULL)), "if s < 3");
    assert_true(strlen(tg_node_text(cx, sum)) < 130);
    assert_string_equal(tg_node_text(cx, tg_rcall(cx, tg_intern_z(cx, "nn.relu"), NULL, TG_NOWHERE, 0, NULL)), "nn.relu");
}

static void values_print_in_both_dialects(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_value *v = tg_v_with(cx, NULL, "k", tg_v_list(cx, 3, (const tg_value *[]){ tg_v_int(cx, 1), tg_v_bool(cx, true), tg_v_strz(cx, "s") }));
    tg_text script = tg_text_new(cx), relay = tg_text_new(cx);
    tg_print_value(&script, v, true);
    tg_print_value(&relay, v, false);
    assert_string_equal(tg_text_z(&script), "{\"k\": [1, T.bool(True), \"s\"]}");
    assert_string_equal(tg_text_z(&relay), "{k=[1, True, \"s\"]}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(literals_keep_their_type_and_bits), TEST(every_float32_reads_back_to_its_bits), TEST(operators_take_the_fewest_brackets),
        TEST(vectors_print_as_slices_where_that_is_exact), TEST(lets_of_expressions_declare_their_variable_before),
        TEST(every_intrinsic_prints_and_reads_back), TEST(results_of_other_types_name_them),
        TEST(heads_are_flat_at_the_end_of_a_suite_and_a_with_before_it), TEST(an_allocation_around_its_buffer_is_one_declaration),
        TEST(pointers_of_unusual_types_say_so), TEST(loops_of_all_kinds_keep_bounds_and_annotations), TEST(control_flow_prints_as_pythons),
        TEST(buffers_of_rank_zero_take_an_empty_index), TEST(blocks_print_their_axes_regions_and_init), TEST(axes_that_are_no_loop_say_their_domain),
        TEST(regions_keep_their_extents), TEST(allocations_and_views_of_blocks_keep_their_fields),
        TEST(the_root_block_is_left_out_where_the_reader_puts_it_back), TEST(signatures_keep_buffers_pointers_and_scalars),
        TEST(attributes_of_all_kinds_read_back), TEST(tensors_stand_once_in_the_metadata), TEST(lost_values_stay_lost),
        TEST(names_become_identifiers_and_stay_apart), TEST(long_chains_and_deep_calls_print_without_recursion),
        TEST(a_module_without_functions_prints_pass), TEST(a_node_shows_as_one_short_line), TEST(values_print_in_both_dialects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
