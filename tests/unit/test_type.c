/* test_type.c: dtypes and interned types. */
#include "fixture.h"
#include "ir/type.h"

static const struct { const char *text; uint8_t code, bits; uint16_t lanes; const char *printed; } dtypes[] = {
    { "int8", kDLInt, 8, 1, "int8" }, { "int", kDLInt, 32, 1, "int32" }, { "int64", kDLInt, 64, 1, "int64" },
    { "uint", kDLUInt, 32, 1, "uint32" }, { "uint8", kDLUInt, 8, 1, "uint8" }, { "uint1", kDLUInt, 1, 1, "bool" },
    { "float", kDLFloat, 32, 1, "float32" }, { "float16", kDLFloat, 16, 1, "float16" },
    { "float64x2", kDLFloat, 64, 2, "float64x2" }, { "bfloat16", kDLBfloat, 16, 1, "bfloat16" },
    { "bool", kDLUInt, 1, 1, "bool" }, { "boolx4", kDLUInt, 1, 4, "boolx4" }, { "handle", kDLOpaqueHandle, 64, 1, "handle" },
    { "int8x65535", kDLInt, 8, 65535, "int8x65535" }, { "void", kDLOpaqueHandle, 0, 0, "void" },
};

static const char *const no_dtypes[] = {
    "", "i", "int7", "int08", "int8x", "int8x0", "int8x65536", "int8x4y", "float8", "float33", "bfloat", "bfloat32",
    "bool8", "double", "int 8", "int8 ", "x4", "int8x4x4", "float128", "handle32", "void1", "int99999999999",
};

static void dtypes_are_read_and_printed(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(dtypes); ++i) {
        DLDataType d;
        assert_true(tg_dtype_parse(dtypes[i].text, strlen(dtypes[i].text), &d));
        assert_true(tg_dtype_eq(d, tg_dtype(dtypes[i].code, dtypes[i].bits, dtypes[i].lanes)));
        assert_string_equal(tg_dtype_text(f->cx, d), dtypes[i].printed);
    }
    for (size_t i = 0; i < TG_COUNT(no_dtypes); ++i) {
        DLDataType d;
        if (tg_dtype_parse(no_dtypes[i], strlen(no_dtypes[i]), &d)) fail_msg("'%s' was taken for a dtype", no_dtypes[i]);
    }
}

static const tg_type *tensor(tg_fixture *f, DLDataType d, uint32_t n, int64_t a, int64_t b, int64_t c, uint32_t wide)
{
    int64_t dim[3] = { a, b, c };
    return tg_tensor_type(f->cx, d, n, dim, wide);
}

static void equal_types_are_one_pointer(void **state)
{
    tg_fixture *f = *state;
    const tg_type *a = tensor(f, TG_FLOAT32, 2, 3, 4, 0, 0);
    assert_ptr_equal(a, tensor(f, TG_FLOAT32, 2, 3, 4, 9, 4));          /* what is past n does not count */
    assert_ptr_not_equal(a, tensor(f, TG_FLOAT32, 2, 4, 3, 0, 0));
    assert_ptr_not_equal(a, tensor(f, TG_FLOAT16, 2, 3, 4, 0, 0));
    assert_ptr_not_equal(a, tensor(f, TG_FLOAT32, 3, 3, 4, 0, 0));
    assert_ptr_not_equal(a, tensor(f, TG_FLOAT32, 2, 3, 4, 0, 1));
    const tg_type *pair[2] = { a, tg_prim(f->cx, TG_INT32) };
    const tg_type *t = tg_tuple_type(f->cx, 2, pair);
    assert_ptr_equal(t, tg_tuple_type(f->cx, 2, pair));
    assert_ptr_not_equal(t, tg_tuple_type(f->cx, 1, pair));
    assert_ptr_not_equal(t, tg_func_type(f->cx, 2, pair, NULL));
    assert_ptr_equal(tg_func_type(f->cx, 2, pair, a), tg_func_type(f->cx, 2, pair, a));
    assert_ptr_not_equal(tg_func_type(f->cx, 2, pair, a), tg_func_type(f->cx, 2, pair, t));
    assert_ptr_equal(tg_void(f->cx), tg_void(f->cx));
    assert_ptr_equal(tg_unknown(f->cx), tg_unknown(f->cx));
    const tg_name *global = tg_intern_z(f->cx, "global"), *local = tg_intern_z(f->cx, "local");
    assert_ptr_equal(tg_ptr(f->cx, TG_INT8, global), tg_ptr(f->cx, TG_INT8, global));
    assert_ptr_not_equal(tg_ptr(f->cx, TG_INT8, global), tg_ptr(f->cx, TG_INT8, local));
    assert_ptr_not_equal(tg_ptr(f->cx, TG_INT8, global), tg_ptr(f->cx, TG_INT8, NULL));
    assert_int_equal(tensor(f, TG_FLOAT32, 3, 1, 2, 3, 5)->nwide, 2);
}

static void types_print_as_relay_prints_them(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    const tg_type *a = tensor(f, TG_FLOAT32, 1, 6, 0, 0, 0), *s = tensor(f, TG_INT64, 0, 0, 0, 0, 0);
    const tg_type *both[2] = { a, s };
    assert_string_equal(tg_type_text(cx, s), "int64");
    assert_string_equal(tg_type_text(cx, a), "Tensor[(6), float32]");
    assert_string_equal(tg_type_text(cx, tensor(f, TG_INT8, 3, 2, TG_DIM_ANY, 7, 3)), "Tensor[(2i64, ?, 7), int8]");
    assert_string_equal(tg_type_text(cx, tg_tuple_type(cx, 0, NULL)), "()");
    assert_string_equal(tg_type_text(cx, tg_tuple_type(cx, 1, both)), "(Tensor[(6), float32],)");
    assert_string_equal(tg_type_text(cx, tg_tuple_type(cx, 2, both)), "(Tensor[(6), float32], int64)");
    const tg_type *fn = tg_func_type(cx, 2, both, s);
    assert_string_equal(tg_type_text(cx, fn), "fn (Tensor[(6), float32], int64) -> int64");
    assert_string_equal(tg_type_text(cx, tg_func_type(cx, 1, &fn, tg_tuple_type(cx, 1, &fn))),
                        "fn (fn (Tensor[(6), float32], int64) -> int64) -> (fn (Tensor[(6), float32], int64) -> int64,)");
    assert_string_equal(tg_type_text(cx, tg_func_type(cx, 0, NULL, NULL)), "fn ()");
    const tg_name *list = tg_intern_z(cx, "List"), *var = tg_intern_z(cx, "A");
    const tg_type *v = tg_named_type(cx, TG_T_VAR, var, 0, NULL);
    assert_string_equal(tg_type_text(cx, tg_named_type(cx, TG_T_ADT, list, 1, &v)), "List[A]");
    assert_string_equal(tg_type_text(cx, tg_named_type(cx, TG_T_ADT, list, 0, NULL)), "List[]");
    assert_string_equal(tg_type_text(cx, tg_ref_type(cx, tg_unknown(cx))), "ref(_)");
    assert_string_equal(tg_type_text(cx, tg_prim(cx, tg_dtype(kDLFloat, 32, 4))), "float32x4");
    assert_string_equal(tg_type_text(cx, tg_ptr(cx, TG_INT8, tg_intern_z(cx, "global"))), "handle(\"int8\", \"global\")");
    assert_string_equal(tg_type_text(cx, tg_void(cx)), "void");
}

static void nesting_does_not_use_the_c_stack(void **state)
{
    tg_fixture *f = *state;
    const tg_type *t = tg_prim(f->cx, TG_INT8);
    for (int i = 0; i < 200000; ++i) t = tg_tuple_type(f->cx, 1, &t);
    assert_int_equal(strlen(tg_type_text(f->cx, t)), 200000 * 3 + 4);
}

static void a_type_whose_text_explodes_is_refused(void **state)
{
    tg_fixture *f = *state;
    const tg_type *t = tg_prim(f->cx, TG_INT8);
    for (int i = 0; i < 64; ++i) {
        const tg_type *twice[2] = { t, t };
        t = tg_tuple_type(f->cx, 2, twice);
    }
    if (TG_UNWIND(f) == 0) {
        tg_type_text(f->cx, t);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_ELIMIT);
}

static void too_many_dimensions_are_refused(void **state)
{
    tg_fixture *f = *state;
    int64_t dim[TG_MAX_NDIM + 1] = { 0 };
    assert_int_equal(tg_tensor_type(f->cx, TG_INT8, TG_MAX_NDIM, dim, UINT32_MAX)->nwide, TG_MAX_NDIM);
    if (TG_UNWIND(f) == 0) {
        tg_tensor_type(f->cx, TG_INT8, TG_MAX_NDIM + 1, dim, 0);
        fail_msg("came back");
    }
    assert_int_equal(f->cx->failure, TIRGEN_ELIMIT);
    assert_string_equal(tg_text_z(&f->log), "error: a tensor of 17 dimensions: at most 16 are supported\n");
}

static const struct { int64_t a, b, c; bool known; int64_t n; } counts[] = {
    { 2, 3, 4, true, 24 }, { 0, 3, 4, true, 0 }, { 2, TG_DIM_ANY, 4, false, 0 }, { 0, TG_DIM_ANY, 4, false, 0 }, { -5, 1, 1, false, 0 },
    { 1 << 20, 1 << 20, 1, true, (int64_t)1 << 40 }, { 1 << 20, 1 << 20, 2, false, 0 },
    { INT64_MAX, INT64_MAX, INT64_MAX, false, 0 }, { INT64_MAX, INT64_MAX, 0, true, 0 }, { INT64_MAX, 1, 1, false, 0 },
};

static void elements_are_counted_without_overflow(void **state)
{
    tg_fixture *f = *state;
    int64_t n;
    for (size_t i = 0; i < TG_COUNT(counts); ++i) {
        const tg_type *t = tensor(f, TG_FLOAT32, 3, counts[i].a, counts[i].b, counts[i].c, 0);
        assert_int_equal(tg_type_elements(t, &n), counts[i].known);
        if (counts[i].known) assert_int_equal(n, counts[i].n);
        assert_int_equal(tg_type_bytes(t, &n), counts[i].known);
        if (counts[i].known) assert_int_equal(n, counts[i].n * 4);
    }
    assert_true(tg_type_elements(tensor(f, TG_BOOL, 0, 0, 0, 0, 0), &n));
    assert_int_equal(n, 1);
    assert_true(tg_type_bytes(tensor(f, TG_BOOL, 1, 5, 0, 0, 0), &n));
    assert_int_equal(n, 5);
    assert_false(tg_type_elements(tg_void(f->cx), &n));
}

static void shapes_compare_apart_from_literal_width(void **state)
{
    tg_fixture *f = *state;
    const tg_type *a = tensor(f, TG_FLOAT32, 2, 3, 4, 0, 0);
    assert_true(tg_type_same_shape(a, tensor(f, TG_FLOAT32, 2, 3, 4, 0, 3)));
    assert_false(tg_type_same_shape(a, tensor(f, TG_FLOAT32, 2, 3, 5, 0, 0)));
    assert_false(tg_type_same_shape(a, tensor(f, TG_FLOAT32, 1, 3, 0, 0, 0)));
    assert_false(tg_type_same_shape(a, tg_void(f->cx)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dtypes_are_read_and_printed, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(equal_types_are_one_pointer, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(types_print_as_relay_prints_them, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nesting_does_not_use_the_c_stack, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_type_whose_text_explodes_is_refused, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(too_many_dimensions_are_refused, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(elements_are_counted_without_overflow, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(shapes_compare_apart_from_literal_width, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
