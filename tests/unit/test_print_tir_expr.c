/* test_print_tir_expr.c: every kind of expression and every intrinsic prints as text that reads back to an equal module and
 * prints the same bytes again. */
#include "script_ir.h"

#include <math.h>

/* ---- expressions ---- */

static void literals_keep_their_type_and_bits(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const struct { const tg_node *n; const char *text; } cases[] = {
        { i32(&k, 0), "T.evaluate(0)" },
        { i32(&k, -128), "T.evaluate(-128)" },
        { i32(&k, INT32_MIN), "T.evaluate(-2147483648)" },
        { tg_int(cx, TG_BOOL, 1), "T.evaluate(T.bool(True))" },
        { tg_int(cx, TG_INT8, -5), "T.evaluate(T.int8(-5))" },
        { tg_int(cx, TG_UINT8, 255), "T.evaluate(T.uint8(255))" },
        { tg_int(cx, TG_INT64, INT64_MIN), "T.evaluate(T.int64(-9223372036854775808))" },
        { tg_int(cx, tg_dtype(kDLUInt, 64, 1), -1), "T.evaluate(T.uint64(18446744073709551615))" },
        { f32(&k, 1), "T.evaluate(T.float32(1))" },
        { f32(&k, 0.1), "T.evaluate(T.float32(0.1))" },
        { f32(&k, -0.0), "T.evaluate(T.float32(-0))" },
        { f32(&k, 3.4028234663852886e38), "T.evaluate(T.float32(3.4028234663852886e+38))" },
        { f32(&k, 1e-45), "T.evaluate(T.float32(1.401298464324817e-45))" },
        { f32(&k, (double)INFINITY), "T.evaluate(T.float32(\"inf\"))" },
        { f32(&k, -(double)INFINITY), "T.evaluate(T.float32(\"-inf\"))" },
        { f32(&k, (double)NAN), "T.evaluate(T.float32(\"nan\"))" },
        { tg_float(cx, TG_FLOAT64, 0.1), "T.evaluate(T.float64(0.1))" },
        { tg_float(cx, TG_FLOAT64, 5e-324), "T.evaluate(T.float64(5e-324))" },
        { tg_float(cx, TG_FLOAT16, 0.1), "T.evaluate(T.float16(" },
        { tg_float(cx, tg_dtype(kDLBfloat, 16, 1), 0.1), "T.evaluate(T.bfloat16(" },
        { tg_strz(cx, "a\"b\\\n\xc3\xa9"), "T.evaluate(\"a\\\"b\\\\\\n\\xC3\\xA9\")" },
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
        { tg_bin(cx, TG_SUB, a, tg_bin(cx, TG_SUB, b, a)), "A[0] - (B[1] - A[0])" },
        { tg_bin(cx, TG_SUB, tg_bin(cx, TG_SUB, a, b), a), "A[0] - B[1] - A[0]" },
        { tg_bin(cx, TG_MUL, tg_bin(cx, TG_ADD, a, b), a), "(A[0] + B[1]) * A[0]" },
        { tg_bin(cx, TG_ADD, a, tg_bin(cx, TG_MUL, b, a)), "A[0] + B[1] * A[0]" },
        { tg_bin(cx, TG_DIV, a, b), "A[0] / B[1]" },
        { tg_bin(cx, TG_DIV, s, n), "T.Div(s, N[2])" },
        { tg_bin(cx, TG_MOD, s, n), "T.truncmod(s, N[2])" },
        { tg_bin(cx, TG_MOD, a, b), "T.truncmod(A[0], B[1])" },
        { tg_bin(cx, TG_FLOORDIV, s, n), "s // N[2]" },
        { tg_bin(cx, TG_FLOORMOD, tg_bin(cx, TG_FLOORDIV, s, n), n), "s // N[2] % N[2]" },
        { tg_bin(cx, TG_MIN, a, b), "T.min(A[0], B[1])" },
        { tg_bin(cx, TG_MAX, a, b), "T.max(A[0], B[1])" },
        { tg_bin(cx, TG_EQ, lt, ge), "(s < N[2]) == (N[2] >= 3)" },
        { tg_bin(cx, TG_NE, s, n), "s != N[2]" },
        { tg_bin(cx, TG_LE, s, n), "s <= N[2]" },
        { tg_bin(cx, TG_GT, s, n), "s > N[2]" },
        { tg_bin(cx, TG_OR, lt, tg_bin(cx, TG_AND, ge, lt)), "s < N[2] or N[2] >= 3 and s < N[2]" },
        { tg_bin(cx, TG_AND, tg_bin(cx, TG_OR, lt, ge), lt), "(s < N[2] or N[2] >= 3) and s < N[2]" },
        { tg_bin(cx, TG_AND, lt, tg_bin(cx, TG_AND, ge, lt)), "s < N[2] and (N[2] >= 3 and s < N[2])" },
        { tg_not(cx, tg_bin(cx, TG_AND, lt, ge)), "not (s < N[2] and N[2] >= 3)" },
        { tg_bin(cx, TG_AND, tg_not(cx, lt), ge), "not s < N[2] and N[2] >= 3" },
        { tg_not(cx, tg_not(cx, lt)), "not not s < N[2]" },
        { tg_bin(cx, TG_EQ, tg_not(cx, lt), ge), "(not s < N[2]) == (N[2] >= 3)" },
        { tg_bin(cx, TG_ADD, i32(&k, 1), i32(&k, 2)), "T.Add(1, 2)" },
        { tg_bin(cx, TG_SUB, i32(&k, 1), i32(&k, 2)), "T.Sub(1, 2)" },
        { tg_bin(cx, TG_LT, i32(&k, 1), i32(&k, 2)), "T.LT(1, 2)" },
        { tg_bin(cx, TG_FLOORDIV, i32(&k, 7), i32(&k, 2)), "T.FloorDiv(7, 2)" },
        { tg_bin(cx, TG_DIV, f32(&k, 7), f32(&k, 2)), "T.Div(T.float32(7), T.float32(2))" },
        { tg_bin(cx, TG_ADD, s, i32(&k, -3)), "s + -3" },
        { tg_bin(cx, TG_MUL, i32(&k, -3), s), "-3 * s" },
        { tg_bin(cx, TG_ADD, tg_bin(cx, TG_ADD, i32(&k, 1), i32(&k, 2)), s), "T.Add(1, 2) + s" },
        { tg_not(cx, tg_int(cx, TG_BOOL, 0)), "T.Not(T.bool(False))" },
        { tg_bin(cx, TG_AND, tg_int(cx, TG_BOOL, 0), tg_int(cx, TG_BOOL, 1)), "T.And(T.bool(False), T.bool(True))" },
        { tg_bin(cx, TG_MUL, wide(&k), tg_int(cx, TG_INT64, 4)), "l * T.int64(4)" },
        { tg_select(cx, lt, a, b), "T.Select(s < N[2], A[0], B[1])" },
        { tg_cast(cx, TG_INT8, tg_bin(cx, TG_ADD, s, n)), "T.Cast(\"int8\", s + N[2])" },
        { tg_node_new(cx, TG_CAST, TG_NOWHERE, tg_prim(cx, TG_FLOAT32), NULL, 1, (const tg_node *[]){ i32(&k, 0) }),
          "T.Cast(\"float32\", 0)" },
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
        { ramp(&k, zero, 1, 4), "A[0:4]" },
        { ramp(&k, zero, 2, 4), "A[0:8:2]" },
        { ramp(&k, s, 1, 4), "A[s:s + 4]" },
        { ramp(&k, tg_bin(cx, TG_ADD, s, i32(&k, 4)), 3, 2), "A[s + 4:s + 4 + 6:3]" },
        { ramp(&k, s, -1, 4), "A[T.Ramp(s, -1, 4)]" },
        { ramp(&k, tg_int(cx, TG_INT64, 8), 1, 8), "A[T.int64(8):T.int64(16)]" },
        { ramp(&k, i32(&k, INT32_MAX - 2), 1, 4), "A[T.Ramp(2147483645, 1, 4)]" },
        { tg_node_new(cx, TG_BROADCAST, TG_NOWHERE, tg_prim(cx, tg_dtype(kDLInt, 32, 4)), NULL, 1, &s),
          "A[T.Broadcast(s, 4)]" },
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
    assert_holds(text_of(&k, tg_select(cx, tg_bin(cx, TG_LT, v, f32(&k, 0)), v, f32(&k, 1))),
                 "T.Select(A[0:4] < T.Broadcast(T.float32(0), 4), A[0:4], T.Broadcast(T.float32(1), 4))");
}

static void lets_of_expressions_declare_their_variable_before(void **state)
{
    maker k = make(state);
    const tg_var *t = tg_var_new(k.cx, tg_intern_z(k.cx, "t"), tg_prim(k.cx, TG_FLOAT32)),
                 *u = tg_var_new(k.cx, tg_intern_z(k.cx, "t"), t->type);
    const tg_node *tt = tg_bin(k.cx, TG_MUL, tg_var_ref(k.cx, t), tg_var_ref(k.cx, u));
    const tg_node *inner =
        tg_node_new(k.cx, TG_LET, TG_NOWHERE, t->type, u, 2, (const tg_node *[]){ at(&k, k.b, 0), tt });
    const tg_node *outer =
        tg_node_new(k.cx, TG_LET, TG_NOWHERE, t->type, t, 2, (const tg_node *[]){ at(&k, k.a, 0), inner });
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

/* Operands of one call of each row. */
static const tg_node *call_of(const maker *k, const tg_intrin *row)
{
    tg_ctx *cx = k->cx;
    const tg_node *a = at(k, k->a, 0), *b = at(k, k->b, 1), *s = scalar(k), *n = at(k, k->n, 2),
                  *name = tg_strz(cx, "callee"), *p = pointer(k);
    const tg_type *handle = tg_prim(cx, TG_HANDLE), *i32_type = tg_prim(cx, TG_INT32),
                  *u64 = tg_prim(cx, tg_dtype(kDLUInt, 64, 1));
#define CALL(type, ...)                                                                                                \
    tg_call(cx, row->name, (type), (uint32_t)TG_COUNT(((const tg_node *[]){ __VA_ARGS__ })),                           \
            (const tg_node *[]){ __VA_ARGS__ })
    switch (row->id) {
    case TG_I_pow:
    case TG_I_fmod:
    case TG_I_atan2:
    case TG_I_hypot:
    case TG_I_copysign:
    case TG_I_nextafter: return CALL(NULL, a, b);
    case TG_I_ldexp: return CALL(NULL, a, s);
    case TG_I_fma: return CALL(NULL, a, b, a);
    case TG_I_shift_left:
    case TG_I_shift_right:
    case TG_I_bitwise_and:
    case TG_I_bitwise_or:
    case TG_I_bitwise_xor: return CALL(NULL, s, n);
    case TG_I_bitwise_not: case TG_I_popcount: case TG_I_clz: return CALL(NULL, s);
    case TG_I_if_then_else: return CALL(NULL, tg_bin(cx, TG_LT, s, n), a, b);
    case TG_I_likely: return CALL(NULL, tg_bin(cx, TG_LT, s, n));
    case TG_I_reinterpret: return CALL(i32_type, a);
    case TG_I_q_multiply_shift: return CALL(NULL, s, i32(k, 1 << 30), i32(k, 31), i32(k, -7));
    case TG_I_q_multiply_shift_per_axis:
        return CALL(NULL, s, n, n, n, i32(k, 31), tg_int(cx, TG_BOOL, 0), tg_int(cx, TG_BOOL, 1));
    case TG_I_large_uint_imm:
        return CALL(u64, tg_int(cx, tg_dtype(kDLUInt, 32, 1), 1), tg_int(cx, tg_dtype(kDLUInt, 32, 1), 2));
    case TG_I_isnullptr: return CALL(NULL, p);
    case TG_I_dot_tile:
        return CALL(NULL, p, p, p, i32(k, 1), i32(k, 2), i32(k, 1), i32(k, 2), i32(k, 0), i32(k, 0), i32(k, 8));
    case TG_I_tap_tile:
        return CALL(NULL, p, p, p, i32(k, 1), i32(k, 2), i32(k, 3), i32(k, 2), i32(k, 0), i32(k, 8), i32(k, 2), i32(k, 4),
                    i32(k, 2));
    case TG_I_address_of: return CALL(NULL, a);
    case TG_I_type_annotation: return tg_call(cx, "type_annotation", tg_prim(cx, TG_FLOAT32), 0, NULL);
    case TG_I_tvm_access_ptr:
        return CALL(NULL, tg_call(cx, "type_annotation", tg_prim(cx, TG_FLOAT32), 0, NULL), p, i32(k, 0), i32(k, 8),
                    i32(k, 1));
    case TG_I_call_extern: return CALL(i32_type, name, p, s, tg_strz(cx, "text"), null(k));
    case TG_I_call_pure_extern: return CALL(tg_prim(cx, TG_FLOAT32), name, a);
    case TG_I_call_packed: case TG_I_call_cpacked: return CALL(NULL, name, p, null(k));
    case TG_I_call_packed_lowered: return CALL(NULL, name, p, p, i32(k, 0), i32(k, 2));
    case TG_I_call_cpacked_lowered: return CALL(NULL, name, p, p, i32(k, 0), i32(k, 2), null(k));
    case TG_I_tvm_check_return:
        return CALL(NULL, i32(k, 0), i32(k, -1), tg_call(cx, "call_extern", i32_type, 1, &name));
    case TG_I_ret: return CALL(NULL, i32(k, 0));
    case TG_I_tvm_throw_last_error: return tg_call(cx, row->name, NULL, 0, NULL);
    case TG_I_tvm_stack_alloca: return CALL(NULL, tg_strz(cx, "array"), i32(k, 2));
    case TG_I_tvm_stack_make_shape: return CALL(NULL, i32(k, 1), i32(k, 8));
    case TG_I_tvm_stack_make_array:
        return CALL(NULL, p, tg_call(cx, "tvm_stack_make_shape", NULL, 1, (const tg_node *[]){ i32(k, 8) }), null(k),
                    tg_int(cx, tg_dtype(kDLUInt, 32, 1), 1), f32(k, 0), i32(k, 0));
    case TG_I_tvm_struct_get: return CALL(handle, p, i32(k, 0), i32(k, 1));
    case TG_I_tvm_struct_set: return CALL(NULL, p, i32(k, 0), i32(k, 1), null(k));
    case TG_I_TVMBackendAllocWorkspace:
        return CALL(NULL, i32(k, 1), i32(k, 0), tg_int(cx, tg_dtype(kDLUInt, 64, 1), 64), i32(k, 2), i32(k, 32));
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
        if (row->id == TG_I_break_loop || row->id == TG_I_continue_loop) continue; /* only while a loop is read */
        tg_module_add(m, function(&k, tg_format(k.cx, "f_%s", names[i]), tg_evaluate(k.cx, call_of(&k, row))));
    }
    const char *text = round_trip(&k, m);
    assert_holds(text, "T.reinterpret(\"int32\", A[0])");
    assert_holds(text,
                 "T.call_extern(\"int32\", \"callee\", A.data, s, \"text\", T.reinterpret(\"handle\", T.uint64(0)))");
    assert_holds(text, "T.tvm_struct_get(A.data, 0, 1, \"handle\")");
    assert_holds(text, "T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, 0, 8, 1)");
    assert_holds(text, "        return 0\n");
}

static void results_of_other_types_name_them(void **state)
{
    maker k = make(state);
    const tg_type *typed = tg_ptr(k.cx, TG_INT8, tg_intern_z(k.cx, "global.workspace"));
    const tg_node *a = at(&k, k.a, 0), *p[3] = { pointer(&k), i32(&k, 0), i32(&k, 1) }, *name = tg_strz(k.cx, "f");
    assert_holds(text_of(&k, tg_call(k.cx, "address_of", typed, 1, &a)),
                 "T.address_of(A[0], dtype=T.handle(\"int8\", \"global.workspace\"))");
    assert_holds(text_of(&k, tg_call(k.cx, "tvm_struct_get", typed, 3, p)),
                 "T.tvm_struct_get(A.data, 0, 1, T.handle(\"int8\", \"global.workspace\"))");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", tg_ptr(k.cx, TG_HANDLE, NULL), 1, &name)),
                 "T.call_extern(T.handle, \"f\")");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", tg_void(k.cx), 1, &name)), "T.call_extern(\"void\", \"f\")");
    assert_holds(text_of(&k, tg_call(k.cx, "call_extern", typed, 1, &name)),
                 "T.call_extern(T.handle(\"int8\", \"global.workspace\"), \"f\")");
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(literals_keep_their_type_and_bits),
        TEST(every_float32_reads_back_to_its_bits),
        TEST(operators_take_the_fewest_brackets),
        TEST(vectors_print_as_slices_where_that_is_exact),
        TEST(lets_of_expressions_declare_their_variable_before),
        TEST(every_intrinsic_prints_and_reads_back),
        TEST(results_of_other_types_name_them),
        TEST(long_chains_and_deep_calls_print_without_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
