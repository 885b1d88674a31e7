/* test_c_unit.c: the files of a model: what the header offers, what is static, what is const, and that nothing clashes. */
#include "emitted.h"

#include "ir/module.h"

/* A model as the last pass leaves it: constants, a kernel, main with pointers into the workspace. */
static const char model[] =
    "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
    "    @T.prim_func(private=True)\n"
    "    def fused_add(data: T.Buffer((2, 3), \"float32\"), bias: T.Buffer((3,), \"float32\"), add: T.Buffer((2, 3), \"float32\")):\n"
    "        T.func_attr({\"tir.noalias\": T.bool(True), \"tirgen.ops\": \"nn.bias_add, add\", \"tirgen.layout\": \"NC\"})\n"
    "        for i, j in T.grid(2, 3):\n"
    "            add[i, j] = data[i, j] + bias[j]\n\n"
    "    @T.prim_func\n"
    "    def __tvm_main__(x: T.Buffer((2, 3), \"float32\"), y: T.Buffer((2, 3), \"float32\"), workspace: T.Buffer((32,), \"uint8\")) -> T.int32:\n"
    "        T.func_attr({\"runner_function\": T.bool(True), \"input_vars\": [$IN], \"output_vars\": [$OUT], \"tirgen.workspace_bytes\": 32})\n"
    "        b = T.allocate_const([0.5, 1.0, float_inf], \"float32\", [3])\n"
    "        sid_1: T.handle(\"float32\", \"global.workspace\") = T.address_of(workspace[0])\n"
    "        T.call_extern(\"void\", \"fused_add\", x.data, b, sid_1)\n"
    "        T.call_extern(\"void\", \"fused_add\", sid_1, b, y.data)\n"
    "        return 0\n";

static const char *replaced(tg_fixture *f, const char *text, const char *what, const char *by)
{
    tg_text t = tg_text_new(f->cx);
    for (const char *p; (p = strstr(text, what)) != NULL; text = p + strlen(what)) {
        tg_putn(&t, text, (size_t)(p - text));
        tg_puts(&t, by);
    }
    tg_puts(&t, text);
    return tg_text_z(&t);
}

static const char *model_with(tg_fixture *f, const char *in, const char *out)
{
    return replaced(f, replaced(f, replaced(f, model, "$IN", in), "$OUT", out), "float_inf", "T.float32(\"inf\")");
}

static emitted emit(tg_fixture *f, const char *script, enum tg_interface api)
{
    emitted x;
    tg_options opt = emitted_options();
    opt.prefix = "tvmgen_net";
    opt.interface_api = api;
    if (!emit_module(&x, f, emitted_parse(f, script), &opt))
        fail_msg("%s", tg_text_z(&f->log));
    return x;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' is in\n%s", part, text);
}

static void a_model_has_a_header_two_sources_and_a_build_file(void **state)
{
    emitted x = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_C);
    assert_int_equal(x.n, 4);
    assert_string_equal(x.name[0], "tvmgen_net.h");
    assert_string_equal(x.name[1], "tvmgen_net.c");
    assert_string_equal(x.name[2], "tvmgen_net_workspace.c");
    assert_string_equal(x.name[3], "CMakeLists.txt");
    has(emitted_file(&x, "CMakeLists.txt"), "add_library(tvmgen_net STATIC tvmgen_net.c tvmgen_net_workspace.c)");
}

static void the_header_is_that_of_microtvm_and_more(void **state)
{
    emitted x = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_C);
    const char *h = emitted_file(&x, "tvmgen_net.h");
    has(h, "#ifndef TVMGEN_NET_H_\n#define TVMGEN_NET_H_\n\n#include <stdint.h>\n");
    has(h, "#define TVMGEN_NET_X_SIZE 24\n");
    has(h, "#define TVMGEN_NET_X_SHAPE { 2, 3 }\n");
    has(h, "#define TVMGEN_NET_Y_DTYPE \"float32\"\n");
    has(h, "#define TVMGEN_NET_WORKSPACE_SIZE 32\n");
    has(h, "struct tvmgen_net_inputs {\n    const float *x; /* float32[2,3] */\n};");
    has(h, "struct tvmgen_net_outputs {\n    float *y; /* float32[2,3] */\n};");
    has(h, "struct tvmgen_net_inputs {\n    const void *x; /* float32[2,3] */\n};");
    has(h, "int32_t tvmgen_net_run(struct tvmgen_net_inputs *inputs, struct tvmgen_net_outputs *outputs);");
    has(h, "int32_t tvmgen_net_run_with_workspace(const struct tvmgen_net_inputs *inputs,\n"
           "    const struct tvmgen_net_outputs *outputs, void *workspace);");
}

static void constants_and_kernels_are_static_and_const(void **state)
{
    emitted x = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_C);
    const char *c = emitted_file(&x, "tvmgen_net.c");
    has(c, "#include \"tvmgen_net.h\"\n\n#include <math.h>\n#include <stddef.h>\n");
    has(c, "/* float32[3] */\nstatic const TIRGEN_ALIGN(16) TIRGEN_CONST_SECTION float b[3] = {\n    0x1p-1f, 0x1p+0f, INFINITY\n};\n");
    has(c, "/* nn.bias_add, add  NC  float32[2,3], float32[3] -> float32[2,3]  t.py:5:5 */\n"
           "TIRGEN_KERNEL void fused_add(const float *TIRGEN_RESTRICT data, const float *TIRGEN_RESTRICT bias,\n"
           "    float *TIRGEN_RESTRICT add)\n{\n");
    has(c, "static int32_t tvm_main(const float *x, float *y, uint8_t *workspace)\n{\n"
           "    float *sid_1 = (float *)(void *)workspace;\n    fused_add(x, b, sid_1);\n    fused_add(sid_1, b, y);\n    return 0;\n}\n");
    has(c, "    if (inputs == NULL || outputs == NULL\n        || inputs->x == NULL\n        || outputs->y == NULL\n"
           "        || workspace == NULL || (uintptr_t)workspace % TVMGEN_NET_WORKSPACE_ALIGN != 0) {\n"
           "        return TVMGEN_NET_INVALID_ARGUMENT;\n    }\n");
    has(emitted_file(&x, "tvmgen_net_workspace.c"), "return tvmgen_net_run_with_workspace(inputs, outputs, workspace);");
}

static const struct { const char *in, *out, *member_in, *member_out, *size_in, *size_out; } names[] = {
    { "\"input:0\"", "\"output\"", "*input_0;", "*output;", "NET_INPUT_0_SIZE", "NET_OUTPUT_SIZE" },
    { "\"x\"", "\"x\"", "*x;", "*x;", "NET_X_SIZE", "NET_X_1_SIZE" },
    { "\"class\"", "\"int\"", "*v_class;", "*v_int;", "NET_V_CLASS_SIZE", "NET_V_INT_SIZE" },
    { "\"workspace\"", "\"E1\"", "*workspace;", "*v_E1;", "NET_WORKSPACE_1_SIZE", "NET_V_E1_SIZE" },
    { "\"a*/b\"", "\"\\\\\"", "*a_b;", "*output;", "NET_A_B_SIZE", "NET_OUTPUT_SIZE" },
    { "\"1\"", "\"_\"", "*v_1;", "*output;", "NET_V_1_SIZE", "NET_OUTPUT_SIZE" },
};

static void names_of_tensors_become_members_and_macros_that_do_not_clash(void **state)
{
    for (size_t i = 0; i < TG_COUNT(names); ++i) {
        emitted x = emit(*state, model_with(*state, names[i].in, names[i].out), TG_INTERFACE_C);
        const char *h = emitted_file(&x, "tvmgen_net.h");
        has(h, names[i].member_in);
        has(h, names[i].member_out);
        has(h, names[i].size_in);
        has(h, names[i].size_out);
    }
}

static void two_inputs_that_look_alike_keep_apart_and_a_plain_name_keeps_itself(void **state)
{
    tg_fixture *f = *state;
    const char *script = replaced(f, model_with(f, "\"a.b\", \"a_b\"", "\"y\""), "def __tvm_main__(", "def __tvm_main__(w: T.Buffer((1,), \"int8\"), ");
    emitted x = emit(f, script, TG_INTERFACE_C);
    has(emitted_file(&x, "tvmgen_net.h"), "    const int8_t *a_b_1; /* int8[1] */\n    const float *a_b; /* float32[2,3] */\n");
}

static void the_packed_entry_checks_its_arguments(void **state)
{
    emitted x = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_PACKED);
    has(emitted_file(&x, "tvmgen_net.h"), "#include <tirgen_rt/packed.h>\n");
    has(emitted_file(&x, "tvmgen_net.h"), "int32_t tvmgen_net_run(TVMValue *args, int *type_codes, int num_args,\n"
                                          "    TVMValue *out_ret_value, int *out_ret_tcode, void *resource_handle);\n");
    const char *w = emitted_file(&x, "tvmgen_net_workspace.c");
    has(w, "        { \"x\", shape_0, 2, 2, 32, 1 },\n        { \"y\", shape_1, 2, 2, 32, 1 },\n");
    has(w, "tirgen_rt_check_args(\"tvmgen_net_run\", args, type_codes, num_args, expected, 2)");
    has(emitted_file(&x, "CMakeLists.txt"), "tirgen_rt");
    lacks(emitted_file(&x, "tvmgen_net.c"), "packed.h");
}

static void kernels_alone_are_declared_in_the_header(void **state)
{
    static const char script[] =
        "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def scale(A: T.Buffer((8,), \"bool\"), n: T.int32) -> T.int32:\n        T.call_extern(\"void\", \"part\", A.data)\n        return n\n\n"
        "    @T.prim_func\n    def main(A: T.Buffer((8,), \"float32\")):\n        A[0] = T.float32(0)\n\n"
        "    @T.prim_func(private=True)\n    def part(A: T.Buffer((8,), \"bool\")):\n        A[0] = T.bool(True)\n";
    emitted x = emit(*state, script, TG_INTERFACE_C);
    assert_int_equal(x.n, 3);
    const char *h = emitted_file(&x, "tvmgen_net.h"), *c = emitted_file(&x, "tvmgen_net.c");
    has(h, "int32_t scale(uint8_t *A, int32_t n);");
    has(h, "void tvmgen_net_main(float *A);");
    lacks(h, "part");
    has(c, "static void part(uint8_t *A)\n{\n    A[0] = true;\n}\n");
    has(c, "int32_t scale(uint8_t *A, int32_t n)\n{\n    part(A);\n    return n;\n}\n");
}

static void functions_of_other_files_are_declared_once_with_what_they_may_change(void **state)
{
    static const char script[] =
        "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def f(A: T.Buffer((8,), \"float32\")):\n"
        "        c = T.allocate_const([1, 2], \"int8\", [2])\n        T.call_extern(\"int32\", \"dbg\", A.data, c, 3)\n\n"
        "    @T.prim_func\n    def g(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
        "        c = T.allocate_const([1, 2], \"int8\", [2])\n"
        "        T.call_extern(\"int32\", \"dbg\", A.data, c, 4)\n        T.call_extern(\"void\", \"memcpy\", B.data, A.data, 32)\n"
        "        B[0] = T.call_pure_extern(\"float32\", \"cbrtf\", B[1])\n";
    emitted x = emit(*state, script, TG_INTERFACE_C);
    const char *c = emitted_file(&x, "tvmgen_net.c"), *first = strstr(c, "dbg(float *, const int8_t *, int32_t);");
    assert_non_null(first);
    assert_null(strstr(first + 1, "dbg(float *, const int8_t *, int32_t);"));
    has(c, "#include <math.h>\n#include <string.h>\n");
    lacks(c, "void memcpy(");
    lacks(c, "float cbrtf(float)");
    const char *table = strstr(c, "int8_t c[2]");
    assert_non_null(table);
    assert_null(strstr(table + 1, "int8_t c"));             /* equal constants are one */
}

static void a_sum_with_a_constant_is_plain_when_its_numbers_allow(void **state)
{
    static const char script[] =
        "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func(private=True)\n    def add(x: T.Buffer((2,), \"int8\"), b: T.Buffer((2,), \"int32\"), y: T.Buffer((2,), \"int32\")):\n"
        "        for i in range(2):\n            y[i] = T.Cast(\"int32\", x[i]) + b[i]\n\n"
        "    @T.prim_func\n    def f(x: T.Buffer((2,), \"int8\"), y: T.Buffer((2,), \"int32\"), z: T.Buffer((2,), \"int32\")):\n"
        "        b = T.allocate_const([100000, -7], \"int32\", [2])\n        T.call_extern(\"void\", \"add\", x.data, $, y.data)\n"
        "        T.call_extern(\"void\", \"add\", x.data, b, y.data)\n";
    tg_fixture *f = *state;
    emitted x = emit(f, replaced(f, script, "$", "b"), TG_INTERFACE_C);
    has(emitted_file(&x, "tvmgen_net.c"), "y[i] = x[i] + b_1[i];");
    x = emit(f, replaced(f, script, "$", "z.data"), TG_INTERFACE_C);
    has(emitted_file(&x, "tvmgen_net.c"), "y[i] = (int32_t)((uint32_t)x[i] + (uint32_t)b_1[i]);");
}

static void a_cycle_of_calls_is_refused(void **state)
{
    static const char script[] =
        "from tvm.script import ir as I\nfrom tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def f(A: T.Buffer((8,), \"float32\")):\n        T.call_extern(\"void\", \"g\", A.data)\n\n"
        "    @T.prim_func\n    def g(A: T.Buffer((8,), \"float32\")):\n        T.call_extern(\"void\", \"f\", A.data)\n";
    has(refusal_of(*state, script), "emitted code has no recursion");
}

static void a_wrong_prefix_is_refused(void **state)
{
    tg_fixture *f = *state;
    emitted x;
    tg_options opt = emitted_options();
    opt.prefix = "a__b";
    assert_false(emit_module(&x, f, emitted_parse(f, model_with(f, "\"x\"", "\"y\"")), &opt));
    has(tg_text_z(&f->log), "the prefix 'a__b' has two underscores in a row");
}

static bool refuse_bytes(void *user, const char *at, size_t n)
{
    (void)user;
    (void)at;
    (void)n;
    return false;
}

static void a_file_that_cannot_be_written_ends_the_work(void **state)
{
    tg_fixture *f = *state;
    emitted x = { .f = f };
    tg_options opt = emitted_options();
    const tg_files files = { emitted_open, refuse_bytes, emitted_close, NULL, &x };
    assert_false(tg_codegen_c(f->cx, emitted_parse(f, model_with(f, "\"x\"", "\"y\"")), &opt, &files));
    assert_int_equal(x.n, 1);                               /* closed, and no other begun */
}

static void two_runs_give_the_same_bytes(void **state)
{
    emitted a = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_C);
    emitted b = emit(*state, model_with(*state, "\"x\"", "\"y\""), TG_INTERFACE_C);
    for (unsigned i = 0; i < a.n; ++i)
        assert_string_equal(tg_text_z(&a.text[i]), tg_text_z(&b.text[i]));
}

static void numbers_of_a_table_are_rows_of_a_hundred_columns(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "from tvm.script import tir as T\n@T.prim_func\ndef f(B: T.Buffer((1,), \"int64\")):\n    c = T.allocate_const([");
    for (int i = 0; i < 150; ++i)
        tg_printf(&t, "%s%d", i > 0 ? ", " : "", i * 1000003);
    tg_puts(&t, ", -9223372036854775808, 9223372036854775807], \"int64\", [152])\n    V = T.Buffer((152,), \"int64\", data=c)\n    B[0] = V[3]\n");
    const char *c = strstr(c_of(f, tg_text_z(&t)), "int64_t c[152] = {\n");
    assert_non_null(c);
    c += strlen("int64_t c[152] = {\n");
    for (const char *end; c[0] == ' '; c = end + 1) {
        end = strchr(c, '\n');
        assert_true(end - c <= 100);
    }
    has(c, "};");
    has(c - 60, "INT64_MIN, INT64_C(9223372036854775807)\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_model_has_a_header_two_sources_and_a_build_file),
        TEST(the_header_is_that_of_microtvm_and_more),
        TEST(constants_and_kernels_are_static_and_const),
        TEST(names_of_tensors_become_members_and_macros_that_do_not_clash),
        TEST(two_inputs_that_look_alike_keep_apart_and_a_plain_name_keeps_itself),
        TEST(the_packed_entry_checks_its_arguments),
        TEST(kernels_alone_are_declared_in_the_header),
        TEST(functions_of_other_files_are_declared_once_with_what_they_may_change),
        TEST(a_sum_with_a_constant_is_plain_when_its_numbers_allow),
        TEST(a_cycle_of_calls_is_refused),
        TEST(a_wrong_prefix_is_refused),
        TEST(a_file_that_cannot_be_written_ends_the_work),
        TEST(two_runs_give_the_same_bytes),
        TEST(numbers_of_a_table_are_rows_of_a_hundred_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
