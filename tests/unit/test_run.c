/* test_run.c: what one operation computes, against an independent statement of it: every pair of int8 and uint8
 * operands, tables of special floats, conversions. */
#include "fixture.h"
#include "eval/eval.h"
#include "ir/names.h"

#include <math.h>

/* ---- a kernel C[i, j] = op(A[i], B[j]) ---- */

typedef const tg_node *(*make_fn)(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user);

typedef struct kernel { tg_module *m; tg_func *f; } kernel;

static const tg_node *at(tg_ctx *cx, const tg_buffer *b, const tg_node *i)
{
    return tg_load(cx, b, 1, &i);
}

static kernel binary_kernel(tg_ctx *cx, DLDataType da, DLDataType db, DLDataType dc, int64_t na, int64_t nb,
                            make_fn make, const void *user)
{
    DLDataType i32 = TG_INT32;
    const tg_buffer **buf = TG_ARRAY(cx, const tg_buffer *, 3);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, 3);
    buf[0] = tg_buffer_new(cx, tg_intern_z(cx, "A"), da, 1, &na, i32);
    buf[1] = tg_buffer_new(cx, tg_intern_z(cx, "B"), db, 1, &nb, i32);
    buf[2] = tg_buffer_new(cx, tg_intern_z(cx, "C"), dc, 2, (int64_t[]){ na, nb }, i32);
    for (int k = 0; k < 3; ++k)
        param[k] = buf[k]->data;
    const tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), tg_prim(cx, i32)),
                 *j = tg_var_new(cx, tg_intern_z(cx, "j"), tg_prim(cx, i32));
    const tg_node *index[2] = { tg_var_ref(cx, i), tg_var_ref(cx, j) }, *zero = tg_int(cx, i32, 0);
    const tg_node *value = make(cx, at(cx, buf[0], index[0]), at(cx, buf[1], index[1]), user);
    const tg_node *body = tg_store(cx, buf[2], value, 2, index);
    body = tg_for(cx, TG_FOR_SERIAL, j, zero, tg_int(cx, i32, nb), body);
    body = tg_for(cx, TG_FOR_SERIAL, i, zero, tg_int(cx, i32, na), body);
    tg_func *f = TG_NEW(cx, tg_func);
    *f = (tg_func){ .name = tg_intern_z(cx, "kernel"),
                    .kind = TG_FUNC_PRIM,
                    .nparams = 3,
                    .param = param,
                    .buffer = buf,
                    .ret = tg_void(cx),
                    .body = body };
    kernel k = { tg_module_new(cx), f };
    tg_module_add(k.m, f);
    return k;
}

static tg_tensor *vector(tg_ctx *cx, DLDataType d, int64_t n)
{
    return tg_tensor_new(cx, tg_tensor_type(cx, d, 1, &n, 0), NULL);
}

static tg_tensor *run_binary(tg_ctx *cx, kernel k, tg_tensor *a, tg_tensor *b)
{
    tg_tensor *c = tg_tensor_new(
        cx, tg_tensor_type(cx, k.f->buffer[2]->dtype, 2, (int64_t[]){ a->dl.shape[0], b->dl.shape[0] }, 0), NULL);
    DLTensor *args[3] = { &a->dl, &b->dl, &c->dl };
    return tg_eval(cx, k.m, k.f, args, 3, NULL) ? c : NULL;
}

/* ---- integers: every pair of 8-bit operands ---- */

/* Stated on wide integers, without the machine's own division rules. */
static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = 0;
    double exact = (double)a / (double)b;
    for (q = -300; (double)(q + 1) <= exact; ++q)
        ;
    return q;
}

static int64_t trunc_div(int64_t a, int64_t b)
{
    int64_t size = floor_div(a < 0 ? -a : a, b < 0 ? -b : b);
    return (a < 0) != (b < 0) ? -size : size;
}

static int64_t into_range(DLDataType d, int64_t v)
{
    int64_t modulus = (int64_t)1 << d.bits;
    v = ((v % modulus) + modulus) % modulus;
    return d.code == kDLInt && v >= modulus / 2 ? v - modulus : v;
}

static int64_t expected(int op, DLDataType d, int64_t a, int64_t b)
{
    switch (op) {
    case TG_ADD: return into_range(d, a + b);
    case TG_SUB: return into_range(d, a - b);
    case TG_MUL: return into_range(d, a * b);
    case TG_DIV: return into_range(d, trunc_div(a, b));
    case TG_MOD: return into_range(d, a - trunc_div(a, b) * b);
    case TG_FLOORDIV: return into_range(d, floor_div(a, b));
    case TG_FLOORMOD: return into_range(d, a - floor_div(a, b) * b);
    case TG_MIN: return a < b ? a : b;
    case TG_MAX: return a > b ? a : b;
    case TG_EQ: return a == b;
    case TG_NE: return a != b;
    case TG_LT: return a < b;
    case TG_LE: return a <= b;
    case TG_GT: return a > b;
    default: return a >= b;
    }
}

static const tg_node *make_kind(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    return tg_bin(cx, *(const enum tg_kind *)user, a, b);
}

/* All values but, for divisors, zero. */
static tg_tensor *all_values(tg_ctx *cx, DLDataType d, bool zero)
{
    tg_tensor *t = vector(cx, d, zero ? 256 : 255);
    int64_t n = 0;
    for (int64_t v = 0; v < 256; ++v)
        if (zero || v != 0)
            tg_tensor_set_i64(t, n++, v);
    return t;
}

static void check_kind(tg_ctx *cx, enum tg_kind kind, DLDataType d)
{
    DLDataType boolean = TG_BOOL;
    bool divides = kind >= TG_DIV && kind <= TG_FLOORMOD;
    tg_tensor *a = all_values(cx, d, true), *b = all_values(cx, d, !divides);
    kernel k = binary_kernel(cx, d, d, kind >= TG_EQ ? boolean : d, 256, b->dl.shape[0], make_kind, &kind);
    tg_tensor *c = run_binary(cx, k, a, b);
    assert_non_null(c);
    for (int64_t i = 0; i < 256; ++i) {
        for (int64_t j = 0; j < b->dl.shape[0]; ++j) {
            int64_t x = tg_tensor_i64(a, i), y = tg_tensor_i64(b, j), got = tg_tensor_i64(c, i * b->dl.shape[0] + j);
            if (got != expected((int)kind, d, x, y))
                fail_msg("%s of %d and %d: got %d, expected %d", tg_kind_info[kind].text, (int)x, (int)y, (int)got,
                         (int)expected((int)kind, d, x, y));
        }
    }
}

static void every_pair_of_8_bit_operands_is_right(void **state)
{
    tg_fixture *f = *state;
    DLDataType i8 = TG_INT8, u8 = TG_UINT8;
    for (int kind = TG_ADD; kind <= TG_GE; ++kind) {
        check_kind(f->cx, (enum tg_kind)kind, i8);
        check_kind(f->cx, (enum tg_kind)kind, u8);
    }
}

static const tg_node *make_call(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    return tg_call2(cx, user, a, b);
}

static int64_t expected_bits(const char *name, DLDataType d, int64_t a, int64_t b)
{
    if (strcmp(name, "shift_left") == 0) {
        int64_t v = a;
        for (int64_t i = 0; i < b && i < 8; ++i)
            v *= 2;
        return b < 0 || b >= 8 ? 0 : into_range(d, v);
    }
    if (strcmp(name, "shift_right") == 0)
        return b < 0 || b >= 8 ? (a < 0 ? -1 : 0) : floor_div(a, (int64_t)1 << b);
    int64_t r = 0;
    for (int bit = 0; bit < 8; ++bit) {
        int x = (int)(into_range(TG_UINT8, a) >> bit & 1), y = (int)(into_range(TG_UINT8, b) >> bit & 1);
        int v = strcmp(name, "bitwise_and") == 0 ? x * y : strcmp(name, "bitwise_or") == 0 ? x + y > 0 : x != y;
        r += (int64_t)v << bit;
    }
    return into_range(d, r);
}

static void shifts_and_bits_of_8_bit_operands_are_right(void **state)
{
    tg_fixture *f = *state;
    static const char *const name[] = { "shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor" };
    DLDataType type[2] = { TG_INT8, TG_UINT8 };
    for (size_t n = 0; n < TG_COUNT(name); ++n) {
        for (int t = 0; t < 2; ++t) {
            tg_tensor *a = all_values(f->cx, type[t], true);
            kernel k = binary_kernel(f->cx, type[t], type[t], type[t], 256, 256, make_call, name[n]);
            tg_tensor *c = run_binary(f->cx, k, a, a);
            assert_non_null(c);
            for (int64_t i = 0; i < 256; ++i)
                for (int64_t j = 0; j < 256; ++j)
                    assert_int_equal(tg_tensor_i64(c, i * 256 + j),
                                     expected_bits(name[n], type[t], tg_tensor_i64(a, i), tg_tensor_i64(a, j)));
        }
    }
}

/* ---- wide integers ---- */

static int64_t one_pair(tg_ctx *cx, DLDataType d, DLDataType dc, int64_t a, int64_t b, make_fn make, const void *user)
{
    tg_tensor *x = vector(cx, d, 1), *y = vector(cx, d, 1);
    tg_tensor_set_i64(x, 0, a);
    tg_tensor_set_i64(y, 0, b);
    tg_tensor *c = run_binary(cx, binary_kernel(cx, d, d, dc, 1, 1, make, user), x, y);
    assert_non_null(c);
    return tg_tensor_i64(c, 0);
}

static void wide_integers_wrap_and_divide_without_undefined_cases(void **state)
{
    tg_fixture *f = *state;
    DLDataType i32 = TG_INT32, i64 = TG_INT64, u64 = tg_dtype(kDLUInt, 64, 1), u32 = tg_dtype(kDLUInt, 32, 1),
               boolean = TG_BOOL;
    const struct { enum tg_kind kind; DLDataType d; int64_t a, b, want;
    } row[] = {
        { TG_ADD, i32, INT32_MAX, 1, INT32_MIN },
        { TG_SUB, i32, INT32_MIN, 1, INT32_MAX },
        { TG_MUL, i32, 65536, 65536, 0 },
        { TG_MUL, i32, 123456789, 987654321, -67153019 },
        { TG_DIV, i32, INT32_MIN, -1, INT32_MIN },
        { TG_MOD, i32, INT32_MIN, -1, 0 },
        { TG_FLOORDIV, i32, INT32_MIN, -1, INT32_MIN },
        { TG_FLOORMOD, i32, INT32_MIN, -1, 0 },
        { TG_FLOORDIV, i32, -7, 2, -4 },
        { TG_FLOORMOD, i32, -7, 2, 1 },
        { TG_DIV, i32, -7, 2, -3 },
        { TG_MOD, i32, -7, 2, -1 },
        { TG_FLOORDIV, i32, 7, -2, -4 },
        { TG_FLOORMOD, i32, 7, -2, -1 },
        { TG_ADD, i64, INT64_MAX, 1, INT64_MIN },
        { TG_DIV, i64, INT64_MIN, -1, INT64_MIN },
        { TG_MOD, i64, INT64_MIN, -1, 0 },
        { TG_SUB, u32, 1, 2, UINT32_MAX },
        { TG_DIV, u32, UINT32_MAX, 2, INT32_MAX },
        { TG_DIV, u64, -1, 2, INT64_MAX },
        { TG_MOD, u64, -1, 10, 5 },
        { TG_MIN, u64, -1, 1, 1 },
        { TG_MAX, u64, -1, 1, -1 },
    };
    for (size_t i = 0; i < TG_COUNT(row); ++i)
        assert_int_equal(one_pair(f->cx, row[i].d, row[i].d, row[i].a, row[i].b, make_kind, &row[i].kind), row[i].want);
    enum tg_kind less = TG_LT, more = TG_GE;
    assert_int_equal(one_pair(f->cx, u64, boolean, -1, 1, make_kind, &less), 0);
    assert_int_equal(one_pair(f->cx, i64, boolean, -1, 1, make_kind, &less), 1);
    assert_int_equal(one_pair(f->cx, u64, boolean, -1, 1, make_kind, &more), 1);
    assert_int_equal(one_pair(f->cx, u64, u64, -1, 63, make_call, "shift_right"), 1);
    assert_int_equal(one_pair(f->cx, i64, i64, 1, 63, make_call, "shift_left"), INT64_MIN);
    assert_int_equal(one_pair(f->cx, i64, i64, 1, 64, make_call, "shift_left"), 0);
}

static void division_by_zero_is_an_error(void **state)
{
    tg_fixture *f = *state;
    static const enum tg_kind kind[] = { TG_DIV, TG_MOD, TG_FLOORDIV, TG_FLOORMOD };
    DLDataType i32 = TG_INT32;
    for (size_t i = 0; i < TG_COUNT(kind); ++i) {
        tg_tensor *x = vector(f->cx, i32, 1);
        assert_null(run_binary(f->cx, binary_kernel(f->cx, i32, i32, i32, 1, 1, make_kind, &kind[i]), x, x));
    }
    assert_non_null(strstr(tg_text_z(&f->log), "division by zero"));
    assert_int_equal(f->cx->nerrors, 4);
}

/* ---- floats ---- */

static const double special[] = { 0.0,      -0.0,      1.0, -1.0, 2.5, -2.5, 0.1, 1e-45, 3.4028234663852886e38,
                                  INFINITY, -INFINITY, NAN };

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static tg_tensor *special_values(tg_ctx *cx, DLDataType d)
{
    tg_tensor *t = vector(cx, d, (int64_t)TG_COUNT(special));
    for (size_t i = 0; i < TG_COUNT(special); ++i)
        tg_tensor_set_f64(t, (int64_t)i, special[i]);
    return t;
}

static double float_result(enum tg_kind kind, float a, float b)
{
    volatile float r = 0;
    switch ((int)kind) {
    case TG_ADD: r = a + b; break;
    case TG_SUB: r = a - b; break;
    case TG_MUL: r = a * b; break;
    case TG_DIV: r = a / b; break;
    case TG_MOD: r = fmodf(a, b); break;
    case TG_MIN: r = a < b ? a : b; break;
    case TG_MAX: r = a > b ? a : b; break;
    case TG_EQ: r = a == b; break;
    case TG_NE: r = a != b; break;
    case TG_LT: r = a < b; break;
    case TG_LE: r = a <= b; break;
    case TG_GT: r = a > b; break;
    case TG_GE: r = a >= b; break;
    }
    return r;
}

static double double_result(enum tg_kind kind, double a, double b)
{
    switch ((int)kind) {
    case TG_ADD: return a + b;
    case TG_SUB: return a - b;
    case TG_MUL: return a * b;
    case TG_DIV: return a / b;
    case TG_MOD: return fmod(a, b);
    case TG_MIN: return a < b ? a : b;
    case TG_MAX: return a > b ? a : b;
    case TG_EQ: return a == b;
    case TG_NE: return a != b;
    case TG_LT: return a < b;
    case TG_LE: return a <= b;
    case TG_GT: return a > b;
    default: return a >= b;
    }
}

static double expected_float(enum tg_kind kind, DLDataType d, double a, double b)
{
    if (d.bits == 64)
        return double_result(kind, a, b);
    double r = float_result(kind, (float)a, (float)b);
    return kind < TG_EQ ? tg_round_to(d, r) : r;
}

static void special_floats_follow_the_rules(void **state)
{
    tg_fixture *f = *state;
    DLDataType type[] = { TG_FLOAT16, TG_FLOAT32, TG_FLOAT64, tg_dtype(kDLBfloat, 16, 1) }, boolean = TG_BOOL;
    static const enum tg_kind kind[] = { TG_ADD, TG_SUB, TG_MUL, TG_DIV, TG_MOD, TG_MIN, TG_MAX,
                                         TG_EQ,  TG_NE,  TG_LT,  TG_LE,  TG_GT,  TG_GE };
    for (size_t t = 0; t < TG_COUNT(type); ++t) {
        tg_tensor *a = special_values(f->cx, type[t]);
        int64_t n = a->dl.shape[0];
        for (size_t k = 0; k < TG_COUNT(kind); ++k) {
            kernel q =
                binary_kernel(f->cx, type[t], type[t], kind[k] >= TG_EQ ? boolean : type[t], n, n, make_kind, &kind[k]);
            tg_tensor *c = run_binary(f->cx, q, a, a);
            assert_non_null(c);
            for (int64_t i = 0; i < n * n; ++i) {
                double x = tg_tensor_f64(a, i / n), y = tg_tensor_f64(a, i % n),
                       want = expected_float(kind[k], type[t], x, y);
                if (!same(tg_tensor_f64(c, i), want))
                    fail_msg("%s of %s %g, %g: got %g, expected %g", tg_kind_info[kind[k]].text,
                             tg_dtype_text(f->cx, type[t]), x, y, tg_tensor_f64(c, i), want);
            }
        }
    }
}

static const tg_node *make_mul_add(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    (void)user;
    return tg_bin(cx, TG_ADD, tg_bin(cx, TG_MUL, a, b), b);
}

static void a_product_is_rounded_before_it_is_added(void **state)
{
    tg_fixture *f = *state;
    DLDataType f32 = TG_FLOAT32;
    tg_tensor *a = vector(f->cx, f32, 64);
    for (int64_t i = 0; i < 64; ++i)
        tg_tensor_set_f64(a, i, 1.0 + (double)i * 1.1920928955078125e-7 * 977);
    tg_tensor *c = run_binary(f->cx, binary_kernel(f->cx, f32, f32, f32, 64, 64, make_mul_add, NULL), a, a);
    assert_non_null(c);
    for (int64_t i = 0; i < 64 * 64; ++i) {
        volatile float x = (float)tg_tensor_f64(a, i / 64), y = (float)tg_tensor_f64(a, i % 64), product = x * y,
                       sum = product + y;
        assert_true(tg_tensor_f64(c, i) == (double)sum);
    }
}

/* ---- conversions ---- */

static const tg_node *make_cast(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    (void)b;
    return tg_cast(cx, *(const DLDataType *)user, a);
}

static double convert(tg_ctx *cx, DLDataType from, DLDataType to, double v)
{
    tg_tensor *x = vector(cx, from, 1);
    if (tg_is_float(from))
        tg_tensor_set_f64(x, 0, v);
    else
        tg_tensor_set_i64(x, 0, (int64_t)v);
    tg_tensor *c = run_binary(cx, binary_kernel(cx, from, from, to, 1, 1, make_cast, &to), x, x);
    assert_non_null(c);
    return tg_tensor_f64(c, 0);
}

static void float_to_int_saturates_and_nan_is_zero(void **state)
{
    tg_fixture *f = *state;
    DLDataType from[] = { TG_FLOAT32, TG_FLOAT64 };
    const struct { DLDataType to; double v, want;
    } row[] = {
        { TG_INT8, 300, 127 },      { TG_INT8, -300, -128 },      { TG_INT8, -5.9, -5 },
        { TG_INT8, 127.9, 127 },    { TG_INT8, -128.9, -128 },    { TG_INT8, NAN, 0 },
        { TG_INT8, INFINITY, 127 }, { TG_INT8, -INFINITY, -128 }, { TG_UINT8, -5, 0 },
        { TG_UINT8, 255.5, 255 },   { TG_UINT8, 256, 255 },       { TG_UINT8, NAN, 0 },
        { TG_UINT8, 0.99, 0 },      { TG_INT32, 3e9, INT32_MAX }, { TG_INT32, -3e9, INT32_MIN },
        { TG_INT64, 1e19, 0x1p63 }, { TG_INT64, -1e19, -0x1p63 }, { TG_BOOL, NAN, 1 },
        { TG_BOOL, 0.0, 0 },        { TG_BOOL, -0.0, 0 },         { TG_BOOL, 0.25, 1 },
        { TG_BOOL, -3, 1 },
    };
    for (size_t t = 0; t < TG_COUNT(from); ++t)
        for (size_t i = 0; i < TG_COUNT(row); ++i)
            assert_true(convert(f->cx, from[t], row[i].to, row[i].v) == row[i].want);
}

static void every_8_bit_value_converts_to_every_integer_type(void **state)
{
    tg_fixture *f = *state;
    DLDataType type[] = {
        TG_INT8, TG_UINT8, tg_dtype(kDLInt, 16, 1), tg_dtype(kDLUInt, 16, 1), TG_INT32, tg_dtype(kDLUInt, 32, 1)
    };
    for (int s = 0; s < 2; ++s) {
        for (size_t t = 0; t < TG_COUNT(type); ++t) {
            tg_tensor *a = all_values(f->cx, type[s], true);
            tg_tensor *c =
                run_binary(f->cx, binary_kernel(f->cx, type[s], type[s], type[t], 256, 256, make_cast, &type[t]), a, a);
            assert_non_null(c);
            for (int64_t i = 0; i < 256; ++i)
                assert_int_equal(tg_tensor_i64(c, i * 256), into_range(type[t], tg_tensor_i64(a, i)));
        }
    }
}

static void numbers_round_to_the_nearest_float_once(void **state)
{
    tg_fixture *f = *state;
    DLDataType bf16 = tg_dtype(kDLBfloat, 16, 1), i64 = TG_INT64, f16 = TG_FLOAT16, f32 = TG_FLOAT32, f64 = TG_FLOAT64,
               boolean = TG_BOOL;
    assert_true(convert(f->cx, i64, f32, 16777217) == 16777216);
    assert_true(convert(f->cx, i64, f32, 16777219) == 16777220);
    assert_true(convert(f->cx, f64, f32, 0.1) == (double)0.1f);
    assert_true(convert(f->cx, f64, f16, 65520) == INFINITY);
    assert_true(convert(f->cx, f64, f16, 65519.99) == 65504);
    /* halfway between two halves plus a little that float32 cannot hold: twice rounded it would go down */
    assert_true(convert(f->cx, f64, f16, 1.00048828125 + 1e-12) == 1.0009765625);
    assert_true(convert(f->cx, f32, bf16, 1.00390625) == 1.0);
    assert_true(convert(f->cx, f32, bf16, 1.01171875) == 1.0078125); /* bfloat16 is cut off */
    assert_true(isnan(convert(f->cx, f32, bf16, NAN)));
    assert_true(convert(f->cx, f16, f64, 0.333251953125) == 0.333251953125);
    assert_true(convert(f->cx, boolean, f32, 1) == 1);
    assert_true(convert(f->cx, i64, boolean, -5) == 1);
}

/* ---- functions ---- */

static const tg_node *make_function(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    (void)b;
    return tg_call1(cx, user, a);
}

static double function_of(tg_ctx *cx, const char *name, DLDataType d, DLDataType to, double v)
{
    tg_tensor *x = vector(cx, d, 1);
    tg_tensor_set_f64(x, 0, v);
    tg_tensor *c = run_binary(cx, binary_kernel(cx, d, d, to, 1, 1, make_function, name), x, x);
    assert_non_null(c);
    return tg_tensor_f64(c, 0);
}

static void functions_have_their_values(void **state)
{
    tg_fixture *f = *state;
    DLDataType f32 = TG_FLOAT32, f64 = TG_FLOAT64, boolean = TG_BOOL, i32 = TG_INT32, i8 = TG_INT8;
    const struct { const char *name; double v, want;
    } row[] = {
        { "exp", 1, 2.718281828459045 },
        { "exp2", 3, 8 },
        { "exp10", 2, 100 },
        { "expm1", 1e-7, 1.00000005e-7 },
        { "log", 1, 0 },
        { "log2", 8, 3 },
        { "log10", 1000, 3 },
        { "sqrt", 9, 3 },
        { "rsqrt", 4, 0.5 },
        { "sigmoid", 0, 0.5 },
        { "erf", 0, 0 },
        { "tanh", 0.5, 0.46211715726000973 },
        { "fabs", -2.5, 2.5 },
        { "floor", -2.5, -3 },
        { "ceil", -2.5, -2 },
        { "trunc", -2.5, -2 },
        { "round", 2.5, 3 },
        { "round", -2.5, -3 },
        { "round", 0.5, 1 },
        { "nearbyint", 2.5, 2 },
        { "nearbyint", -1.5, -2 },
        { "sin", 0.5, 0.479425538604203 },
        { "cos", 0, 1 },
        { "atan", 1, 0.7853981633974483 },
        { "log1p", 0, 0 },
    };
    for (size_t i = 0; i < TG_COUNT(row); ++i) {
        assert_true(fabs(function_of(f->cx, row[i].name, f64, f64, row[i].v) - row[i].want) <=
                    2e-15 * (1 + fabs(row[i].want)));
        assert_true(fabs(function_of(f->cx, row[i].name, f32, f32, row[i].v) - row[i].want) <=
                    1e-7 * (1 + fabs(row[i].want)));
    }
    assert_true(isnan(function_of(f->cx, "sqrt", f32, f32, -1)));
    assert_true(isnan(function_of(f->cx, "log", f64, f64, -1)));
    assert_true(function_of(f->cx, "log", f32, f32, 0) == -INFINITY);
    assert_true(function_of(f->cx, "exp", f32, f32, 1000) == INFINITY);
    assert_true(function_of(f->cx, "exp", f32, f32, -INFINITY) == 0);
    assert_true(function_of(f->cx, "isnan", f32, boolean, NAN) == 1);
    assert_true(function_of(f->cx, "isinf", f64, boolean, -INFINITY) == 1);
    assert_true(function_of(f->cx, "isinf", f64, boolean, NAN) == 0);
    assert_true(function_of(f->cx, "isfinite", f32, boolean, NAN) == 0);
    assert_true(function_of(f->cx, "isfinite", f32, boolean, 3e38) == 1);
    assert_true(function_of(f->cx, "popcount", i8, i8, -1) == 8);
    assert_true(function_of(f->cx, "clz", i32, i32, 1) == 31);
    assert_true(function_of(f->cx, "clz", i8, i32, 0) == 8);
    assert_true(function_of(f->cx, "fabs", i8, i8, -128) == -128);
    assert_true(function_of(f->cx, "fabs", i8, i8, -5) == 5);
    assert_true(function_of(f->cx, "round", i8, i8, -5) == -5);
    assert_true(function_of(f->cx, "bitwise_not", i8, i8, 5) == -6);
}

static double function2_of(tg_ctx *cx, const char *name, DLDataType d, double a, double b)
{
    tg_tensor *x = vector(cx, d, 1), *y = vector(cx, d, 1);
    tg_tensor_set_f64(x, 0, a);
    tg_tensor_set_f64(y, 0, b);
    tg_tensor *c = run_binary(cx, binary_kernel(cx, d, d, d, 1, 1, make_call, name), x, y);
    assert_non_null(c);
    return tg_tensor_f64(c, 0);
}

static void functions_of_two_have_their_values(void **state)
{
    tg_fixture *f = *state;
    DLDataType f32 = TG_FLOAT32, f64 = TG_FLOAT64;
    assert_true(function2_of(f->cx, "pow", f32, 2, 10) == 1024);
    assert_true(function2_of(f->cx, "fmod", f64, -7.5, 2) == -1.5);
    assert_true(function2_of(f->cx, "hypot", f64, 3, 4) == 5);
    assert_true(function2_of(f->cx, "copysign", f32, 3, -0.0) == -3);
    assert_true(function2_of(f->cx, "atan2", f64, 0, -1) == atan2(0, -1));
    assert_true(function2_of(f->cx, "nextafter", f32, 1, 2) == 1 + 0x1p-23);
    assert_true(function2_of(f->cx, "nextafter", f64, 1, 2) == 1 + 0x1p-52);
}

/* ---- fixed point ---- */

typedef struct shift { int32_t y, s; } shift;

static const tg_node *make_q(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    const shift *q = user;
    (void)b;
    DLDataType i32 = TG_INT32;
    const tg_node *arg[4] = { a, tg_int(cx, i32, q->y), tg_int(cx, i32, 31), tg_int(cx, i32, q->s) };
    return tg_call(cx, "q_multiply_shift", NULL, 4, arg);
}

static void q_multiply_shift_rounds_half_up(void **state)
{
    tg_fixture *f = *state;
    DLDataType i32 = TG_INT32;
    const struct { shift q; int32_t x, want; } row[] = {
        { { 1610612736, 0 }, 2, 2 }, { { 1610612736, 0 }, -2, -1 },            /* 0.75: 1.5 and -1.5 */
        { { 1288490189, -1 }, -5, -2 }, { { 1288490189, -1 }, 5, 2 },          /* 0.3, stored a little above */
        { { 1 << 30, 1 }, 7, 7 }, { { 1 << 30, 0 }, 3, 2 }, { { 1 << 30, 0 }, -3, -1 }, { { 1 << 30, 3 }, 5, 20 },
        { { 1 << 30, -1 }, 6, 2 }, { { 1 << 30, -2 }, 1000, 125 },
        { { 1 << 30, 2 }, INT32_MAX, -2 }, { { 2147483647, 1 }, INT32_MAX, -4 }, { { 1431655765, -8 }, 123456, 321 },
    };
    for (size_t i = 0; i < TG_COUNT(row); ++i)
        assert_int_equal(one_pair(f->cx, i32, i32, row[i].x, 0, make_q, &row[i].q), row[i].want);
}

static const tg_node *make_q_axis(tg_ctx *cx, const tg_node *a, const tg_node *b, const void *user)
{
    const shift *q = user;
    DLDataType i32 = TG_INT32, boolean = TG_BOOL;
    const tg_node *arg[7] = { a,
                              b,
                              tg_int(cx, i32, q->s > 0 ? q->s : 0),
                              tg_int(cx, i32, q->s < 0 ? -q->s : 0),
                              tg_int(cx, i32, 31),
                              tg_int(cx, boolean, q->s > 0),
                              tg_int(cx, boolean, 1) };
    return tg_call(cx, "q_multiply_shift_per_axis", NULL, 7, arg);
}

static void q_multiply_shift_per_axis_has_no_special_case(void **state)
{
    tg_fixture *f = *state;
    DLDataType i32 = TG_INT32;
    shift none = { 0, 0 }, right = { 0, -1 }, left = { 0, 2 };
    assert_int_equal(one_pair(f->cx, i32, i32, -2, 1610612736, make_q_axis, &none), -1);
    assert_int_equal(one_pair(f->cx, i32, i32, -5, 1288490189, make_q_axis, &right), -2);
    assert_int_equal(one_pair(f->cx, i32, i32, 7, 1 << 30, make_q_axis, &left), 14);
    assert_int_equal(one_pair(f->cx, i32, i32, -3, 1 << 30, make_q_axis, &none), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_pair_of_8_bit_operands_is_right, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(shifts_and_bits_of_8_bit_operands_are_right, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(wide_integers_wrap_and_divide_without_undefined_cases, tg_test_setup,
                                        tg_test_teardown),
        cmocka_unit_test_setup_teardown(division_by_zero_is_an_error, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(special_floats_follow_the_rules, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_product_is_rounded_before_it_is_added, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(float_to_int_saturates_and_nan_is_zero, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(every_8_bit_value_converts_to_every_integer_type, tg_test_setup,
                                        tg_test_teardown),
        cmocka_unit_test_setup_teardown(numbers_round_to_the_nearest_float_once, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_have_their_values, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_of_two_have_their_values, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(q_multiply_shift_rounds_half_up, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(q_multiply_shift_per_axis_has_no_special_case, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
