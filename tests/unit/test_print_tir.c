/* test_print_tir.c: signatures, attributes, metadata and names of functions as text, and back. */
#include "script_ir.h"

#include <math.h>

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
    const tg_var *p = tg_var_new(cx, tg_intern_z(cx, "p"), tg_ptr(cx, TG_HANDLE, NULL)),
                 *q = tg_var_new(cx, tg_intern_z(cx, "q"), tg_ptr(cx, TG_UINT8, tg_intern_z(cx, "global")));
    const tg_var *param[6] = { x->data, y->data, z->data, p, q, k.l };
    const tg_buffer *buffer[6] = { x, y, z, NULL, NULL, NULL };
    tg_func f = { .name = tg_intern_z(cx, "f"),
                  .kind = TG_FUNC_PRIM,
                  .nparams = 6,
                  .param = param,
                  .buffer = buffer,
                  .ret = tg_prim(cx, TG_INT32),
                  .body = tg_evaluate(cx, tg_call1(cx, "ret", i32(&k, 0))) };
    tg_module *m = tg_module_new(cx);
    tg_module_add(m, &f);
    assert_holds(round_trip(&k, m),
                 "    def f(X_handle: T.handle, y: T.handle, Z: T.Buffer((), \"float32\", scope=\"shared\"), p: "
                 "T.handle, q: T.handle(\"uint8\", \"global\"), l: T.int64) -> T.int32:\n"
                 "        n = T.int32()\n        X = T.match_buffer(X_handle, (n, 4), \"int8\")\n        Y = "
                 "T.match_buffer(y, (4,), strides=(n,), align=16)\n        return 0\n");
}

static void attributes_of_all_kinds_read_back(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    tg_tensor *shared = tg_tensor_scalar_int(cx, TG_INT8, 3);
    tg_value *wide_int = tg_copy(cx, tg_v_int(cx, 7), sizeof *wide_int),
             *target = tg_copy(cx,
                               tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "kind") },
                                         (const tg_value *[]){ tg_v_strz(cx, "c") }),
                               sizeof *target);
    wide_int->bits = 64;
    target->kind = TG_V_OBJECT;
    target->s = tg_intern_z(cx, "Target");
    tg_value *pool = tg_copy(
        cx,
        tg_v_dict(cx, 3,
                  (const tg_name *[]){ tg_intern_z(cx, ""), tg_intern_z(cx, "byte_offset"), tg_intern_z(cx, "data") },
                  (const tg_value *[]){ tg_v_strz(cx, "w"), tg_v_int(cx, 64), tg_v_tensor(cx, shared) }),
        sizeof *pool);
    pool->kind = TG_V_OBJECT;
    pool->s = tg_intern_z(cx, "I.ConstantInfo");
    tg_value *object = tg_copy(cx, target, sizeof *object);
    object->s = tg_intern_z(cx, "relay.backend.FunctionInfo");
    const tg_value *items[] = { tg_v_none(cx),
                                tg_v_bool(cx, true),
                                tg_v_int(cx, -5),
                                wide_int,
                                tg_v_int(cx, INT64_MAX),
                                tg_v_float(cx, 0.1),
                                tg_v_float(cx, (double)INFINITY),
                                tg_v_strz(cx, "a\"b\n"),
                                tg_v_ints(cx, 2, (const int64_t[]){ 1, 2 }),
                                tg_v_list(cx, 0, NULL),
                                tg_v_dict(cx, 0, NULL, NULL),
                                target,
                                pool,
                                object,
                                tg_v_tensor(cx, shared) };
    const tg_value *attrs = tg_v_with(cx, tg_v_with(cx, NULL, "all", tg_v_list(cx, TG_COUNT(items), items)),
                                      "global_symbol", tg_v_strz(cx, "g"));
    tg_func *f = tg_func_copy(cx, function(&k, "g", tg_nop(cx)));
    f->attrs = attrs;
    tg_module *m = tg_module_new(cx);
    tg_module_add(m, f);
    m->attrs = tg_v_with(cx, NULL, "runtime", object);
    const char *text = round_trip(&k, m);
    assert_holds(text, "    @T.prim_func\n    def g(");
    assert_holds(
        text,
        "        T.func_attr({\"all\": [None, T.bool(True), -5, T.int64(7), T.int64(9223372036854775807), 0.1, "
        "T.float32(\"inf\"), \"a\\\"b\\n\", [1, 2], [], {}, "
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
    assert_holds(text, "        w = T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3])\n        "
                       "w_1 = T.allocate_const(metadata[\"runtime.NDArray\"][0], ");
    assert_ptr_equal(strstr(strstr(text, "P6G0lvBAXt0") + 1, "P6G0lvBAXt0"), NULL);
}

static void lost_values_stay_lost(void **state)
{
    maker k = make(state);
    tg_alloc_info *info = tg_copy(k.cx, heads(&k, TG_ALLOC_CONST, tg_nop(k.cx))->u.alloc, sizeof *info);
    info->tensor = NULL;
    info->missing = 4;
    const tg_node *n =
        tg_node_new(k.cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, info, 1, (const tg_node *[]){ tg_nop(k.cx) });
    assert_holds(text_of_body(&k, n), "w = T.allocate_const([...], \"float32\", [2, 3], missing=4)");
}

static void names_become_identifiers_and_stay_apart(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    static const struct { const char *name, *text; } cases[] = { { "x.y/z", "x_y_z" }, { "", "v" },    { "0a", "v_0a" },           { "for", "for_1" },
                  { "T", "T_1" },       { "A", "A_1" }, { "caf\xc3\xa9", "caf__" }, { "range", "range_1" } };
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1));
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const tg_node *let =
            tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, cases[i].name), tg_prim(cx, TG_INT32)), scalar(&k), body);
        assert_holds(text_of_body(&k, let), tg_format(cx, "        %s: T.int32 = s\n", cases[i].text));
    }
    /* free again after their scope */
    const tg_node *one = loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 8), NULL, body),
                  *two = loop(&k, TG_FOR_SERIAL, "i", i32(&k, 0), i32(&k, 4), NULL, body);
    assert_holds(text_of_body(&k, tg_seq(cx, 2, (const tg_node *[]){ one, two })), "for i in range(4):");
    /* a thousand of one name */
    const tg_node *all = body;
    for (int i = 0; i < 1000; ++i)
        all = tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT32)), scalar(&k), all);
    assert_holds(text_of_body(&k, all), "        x_999: T.int32 = s\n");
}

static void a_module_without_functions_prints_pass(void **state)
{
    maker k = make(state);
    tg_text t = tg_text_new(k.cx);
    tg_print_tir(&t, tg_module_new(k.cx));
    assert_holds(tg_text_z(&t), "class Module:\n    pass\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(signatures_keep_buffers_pointers_and_scalars),
        TEST(attributes_of_all_kinds_read_back),
        TEST(tensors_stand_once_in_the_metadata),
        TEST(lost_values_stay_lost),
        TEST(names_become_identifiers_and_stay_apart),
        TEST(a_module_without_functions_prints_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
