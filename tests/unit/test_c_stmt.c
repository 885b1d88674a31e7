/* test_c_stmt.c: statements of TIR as C. A row is the body of a function, and the body it becomes. */
#include "emitted.h"

#include "ir/module.h"

static const char *c_of_body(tg_fixture *f, const char *params, const char *body)
{
    return last_body(f, c_of(f, tg_format(f->cx, "from tvm.script import tir as T\n@T.prim_func\ndef f(%s):\n%s", params, body)));
}

#define A8 "A: T.Buffer((8,), \"float32\")"
#define B8 "B: T.Buffer((8,), \"float32\")"
#define I8 "J: T.Buffer((8,), \"int32\")"

static const struct { const char *params, *tir, *c; } rows[] = {
    /* loops */
    { B8, "    for i in range(8):\n        for j in T.unroll(1, 5):\n            for k in T.vectorized(2):\n                B[i] = T.float32(0)\n",
      "    for (int32_t i = 0; i < 8; ++i) {\n        for (int32_t j = 1; j < 5; ++j) {\n            for (int32_t k = 0; k < 2; ++k) {\n"
      "                B[i] = 0.0f;\n            }\n        }\n    }" },
    { B8 ", n: T.int32", "    for i in T.parallel(n):\n        B[i] = T.float32(0)\n    for i in range(n, n * 2):\n        B[i] = T.float32(1)\n",
      "    for (int32_t i = 0; i < n; ++i) {\n        B[i] = 0.0f;\n    }\n    for (int32_t i = n; i < n * 2; ++i) {\n        B[i] = 1.0f;\n    }" },
    { B8 ", " I8, "    for i in range(J[0]):\n        B[i] = T.float32(0)\n",
      "    const int32_t i_end = J[0];\n    for (int32_t i = 0; i < i_end; ++i) {\n        B[i] = 0.0f;\n    }" },
    { I8, "    while J[0] < 10:\n        J[0] = J[1]\n", "    while (J[0] < 10) {\n        J[0] = J[1];\n    }" },
    /* branches */
    { A8 ", " B8, "    for i in range(8):\n        if A[i] > T.float32(0):\n            B[i] = A[i]\n        else:\n            if A[i] < T.float32(-1):\n"
                   "                B[i] = T.float32(-1)\n            else:\n                B[i] = T.float32(0)\n",
      "    for (int32_t i = 0; i < 8; ++i) {\n        if (A[i] > 0.0f) {\n            B[i] = A[i];\n        } else if (A[i] < -1.0f) {\n"
      "            B[i] = -1.0f;\n        } else {\n            B[i] = 0.0f;\n        }\n    }" },
    /* let */
    { A8 ", " B8, "    for i in range(4):\n        x: T.float32 = A[i] * A[i]\n        unused: T.float32 = A[i + 1]\n        j: T.int32 = i * 2\n        B[j] = x + x\n",
      "    for (int32_t i = 0; i < 4; ++i) {\n        const float x = A[i] * A[i];\n        const int32_t j = i * 2;\n        B[j] = x + x;\n    }" },
    { A8 ", " B8, "    with T.LetStmt(A[0]) as x:\n        B[0] = x\n    with T.LetStmt(A[1]) as x:\n        B[1] = x\n",
      "    const float x = A[0];\n    B[0] = x;\n    const float x_1 = A[1];\n    B[1] = x_1;" },
    { A8 ", " B8, "    t = T.float32()\n    B[0] = T.Let(t * t, where={t: A[0] + A[1]})\n", "    const float t = A[0] + A[1];\n    B[0] = t * t;" },
    { A8 ", " B8 ", n: T.int32", "    t = T.float32()\n    B[0] = T.if_then_else(n > 2, T.Let(t * t, where={t: A[n - 2]}), T.float32(0)) + T.float32(1)\n",
      "    float value;\n    if (n > 2) {\n        const float t = A[n - 2];\n        value = t * t;\n    } else {\n        value = 0.0f;\n    }\n"
      "    B[0] = value + 1.0f;" },
    { B8 ", n: T.int32", "    t = T.int32()\n    if n > 0 and T.Let(t * t < 9, where={t: n // 2}):\n        B[0] = T.float32(1)\n",
      "    bool value = n > 0;\n    if (value) {\n        const int32_t t = n >> 1;\n        value = (int32_t)((uint32_t)t * (uint32_t)t) < 9;\n    }\n    if (value) {\n        B[0] = 1.0f;\n    }" },
    /* memory */
    { A8 ", " B8, "    p = T.allocate([8], \"float32\", \"global\")\n    V = T.Buffer((8,), data=p)\n    for i in range(8):\n        V[i] = A[7 - i]\n"
                   "    for i in range(8):\n        B[i] = V[i]\n",
      "    float p[8];\n    for (int32_t i = 0; i < 8; ++i) {\n        p[i] = A[7 - i];\n    }\n    for (int32_t i = 0; i < 8; ++i) {\n        B[i] = p[i];\n    }" },
    { A8 ", " B8, "    p = T.allocate([1], \"float32\", \"local\")\n    V = T.Buffer((1,), data=p)\n    V[0] = T.float32(0)\n    for i in range(8):\n        V[0] = V[0] + A[i]\n    B[0] = V[0]\n",
      "    float p = 0.0f;\n    for (int32_t i = 0; i < 8; ++i) {\n        p += A[i];\n    }\n    B[0] = p;" },
    { B8, "    p = T.allocate([64], \"int8\", \"global\")\n    V = T.decl_buffer((16,), \"int32\", data=p)\n    V[1] = 7\n    B[0] = T.Cast(\"float32\", V[1])\n",
      "    int32_t p[16];\n    p[1] = 7;\n    B[0] = (float)p[1];" },
    { B8, "    p = T.allocate([4], \"int32\", \"global\")\n    V = T.decl_buffer((4,), \"int32\", data=p)\n    W = T.decl_buffer((4,), \"float32\", data=p)\n    V[0] = 1065353216\n    B[0] = W[0]\n",
      "    int32_t p[4];\n    p[0] = 1065353216;\n    B[0] = load_float(p, 0);" },
    { "A: T.Buffer((4, 5, 6), \"float32\"), B: T.Buffer((4, 5, 6), \"float32\")", "    for i, j, k in T.grid(4, 5, 6):\n        B[i, j, k] = A[i, 0, k]\n",
      "    for (int32_t i = 0; i < 4; ++i) {\n        for (int32_t j = 0; j < 5; ++j) {\n            for (int32_t k = 0; k < 6; ++k) {\n"
      "                B[(i * 5 + j) * 6 + k] = A[i * 5 * 6 + k];\n            }\n        }\n    }" },
    { "a: T.handle, " B8, "    A = T.match_buffer(a, (4, 4), strides=(16, 2), elem_offset=3)\n    for i, j in T.grid(4, 2):\n        B[i * 2 + j] = A[i, j]\n",
      "    for (int32_t i = 0; i < 4; ++i) {\n        for (int32_t j = 0; j < 2; ++j) {\n            B[i * 2 + j] = a[i * 16 + j * 2 + 3];\n        }\n    }" },
    { "A: T.Buffer((3, 46341, 46341), \"int8\"), B: T.Buffer((1,), \"int8\")", "    for i in range(3):\n        B[0] = A[i, 46340, 46340]\n",
      "    for (int32_t i = 0; i < 3; ++i) {\n        B[0] = A[((int64_t)i * 46341 + 46340) * 46341 + 46340];\n    }" },
    /* vectors */
    { A8 ", " B8, "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    B[0:4] = A[0:8:2] * T.Broadcast(T.float32(2), 4)\n",
      "    for (int32_t lane = 0; lane < 4; ++lane) {\n        B[lane] = A[lane * 2] * 2.0f;\n    }" },
    { B8, "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    B[0:4] = B[1:5]\n",
      "    {\n        float lanes[4];\n        for (int32_t lane = 0; lane < 4; ++lane) {\n            lanes[lane] = B[1 + lane];\n        }\n"
      "        for (int32_t lane = 0; lane < 4; ++lane) {\n            B[lane] = lanes[lane];\n        }\n    }" },
    { A8 ", " B8, "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    B[0:2] = T.Shuffle([A[0:2], A[4:6]], [3, 0])\n",
      "    B[0] = A[5];\n    B[1] = A[0];" },
    { A8 ", " B8, "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    for i in range(2):\n        v: T.float32x4 = A[i * 4:i * 4 + 4]\n        B[i * 4:i * 4 + 4] = v * v\n",
      "    for (int32_t i = 0; i < 2; ++i) {\n        float v[4];\n        for (int32_t lane = 0; lane < 4; ++lane) {\n            v[lane] = A[i * 4 + lane];\n        }\n"
      "        for (int32_t lane = 0; lane < 4; ++lane) {\n            B[i * 4 + lane] = v[lane] * v[lane];\n        }\n    }" },
    /* calls */
    { A8, "    T.call_extern(\"int32\", \"dbg\", A.data, 3)\n", "    (void)dbg(A, 3);" },
    { A8, "    T.call_extern(\"void\", \"dbg\", T.address_of(A[3]))\n", "    dbg(A + 3);" },
    { A8, "    T.tvm_check_return(0, -1, T.call_extern(\"int32\", \"dbg\", A.data))\n",
      "    if (dbg(A) != 0) {\n        return -1;\n    }\n    return 0;" },
    { I8, "    assert J[0] > 0, \"J must not be empty\"\n    J[1] = 1\n",
      "    if (TIRGEN_CHECKS && (J[0] <= 0)) {\n        TIRGEN_CHECK_FAILED(\"J must not be empty\");\n        return;\n    }\n    J[1] = 1;" },
    { A8, "    T.evaluate(0)\n", "    (void)A;" },
};

static void a_statement_becomes_what_a_careful_person_writes(void **state)
{
    for (size_t i = 0; i < TG_COUNT(rows); ++i) {
        const char *c = c_of_body(*state, rows[i].params, rows[i].tir);
        if (strcmp(c, rows[i].c) != 0)
            fail_msg("%s\ngives\n%s\nexpected\n%s", rows[i].tir, c, rows[i].c);
    }
}

static void accumulators_with_known_bounds_are_added_plainly(void **state)
{
    static const char params[] = "x: T.Buffer((64,), \"int8\"), w: T.Buffer((16, 64), \"int8\"), y: T.Buffer((16,), \"int32\")";
    const char *c = c_of_body(*state, params,
        "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    for i in range(16):\n        y[i] = 0\n        for k in range(64):\n"
        "            y[i] = y[i] + T.Cast(\"int32\", x[k]) * T.Cast(\"int32\", w[i, k])\n");
    assert_non_null(strstr(c, "y[i] += (int32_t)x[k] * w[i * 64 + k];"));
    c = c_of_body(*state, params,           /* nothing says where y starts */
        "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    for i in range(16):\n        for k in range(64):\n"
        "            y[i] = y[i] + T.Cast(\"int32\", x[k]) * T.Cast(\"int32\", w[i, k])\n");
    assert_non_null(strstr(c, "y[i] = (int32_t)((uint32_t)y[i] + (uint32_t)((int32_t)x[k] * w[i * 64 + k]));"));
    c = c_of_body(*state, params,           /* x may be y */
        "    for i in range(16):\n        y[i] = 0\n        for k in range(64):\n            y[i] = y[i] + T.Cast(\"int32\", x[k])\n");
    assert_non_null(strstr(c, "y[i] = (int32_t)((uint32_t)y[i] + (uint32_t)x[k]);"));
    c = c_of_body(*state, params,           /* too many: 2^27 times 127 */
        "    T.func_attr({\"tir.noalias\": T.bool(True)})\n    y[0] = 0\n    for k, l in T.grid(16384, 8192):\n"
        "        y[0] = y[0] + T.Cast(\"int32\", x[0])\n");
    assert_non_null(strstr(c, "y[0] = (int32_t)((uint32_t)y[0] + (uint32_t)x[0]);"));
}

/* Lets, views and constants stand in one another's bodies: as many as a model has operators. */
static void a_chain_of_a_hundred_thousand_lets_prints(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = emitted_parse(f, "from tvm.script import tir as T\n@T.prim_func\ndef f(B: T.Buffer((1,), \"int32\"), n: T.int32):\n    B[0] = n\n");
    const tg_func *old = m->funcs.at[0];
    enum { MANY = 100000 };
    const tg_var **v = TG_ARRAY(f->cx, const tg_var *, MANY);
    for (int i = 0; i < MANY; ++i)
        v[i] = tg_var_new(f->cx, tg_intern_z(f->cx, "x"), tg_prim(f->cx, TG_INT32));
    const tg_node *body = tg_store(f->cx, old->body->u.buf, tg_var_ref(f->cx, v[MANY - 1]), 1, &old->body->kid[1]);
    for (int i = MANY; i > 0; --i)
        body = tg_let_stmt(f->cx, v[i - 1], tg_bin(f->cx, TG_MAX, tg_var_ref(f->cx, i > 1 ? v[i - 2] : old->param[1]), tg_int(f->cx, TG_INT32, i)), body);
    tg_func *g = tg_func_copy(f->cx, old);
    g->body = body;
    tg_module_set(m, g);
    emitted x;
    tg_options opt = emitted_options();
    assert_true(emit_module(&x, f, m, &opt));
    assert_non_null(strstr(emitted_file(&x, "t.c"), "B[0] = x_99999;"));
}

static const struct { const char *params, *body, *message; } refused[] = {
    { B8 ", n: T.int32", "    p = T.allocate([n], \"float32\", \"global\")\n    V = T.Buffer((8,), data=p)\n    B[0] = V[0]\n", "variable length" },
    { B8, "    n = T.int32()\n    B[0] = T.Cast(\"float32\", n)\n", "n has no value here" },
    { B8, "    with T.attr(0, \"pragma_import_c\", \"int x;\"):\n        B[0] = T.float32(0)\n", "not supported" },
    { B8, "    c = T.allocate_const([1.0, 2.0], \"float32\", [4])\n    V = T.Buffer((4,), data=c)\n    B[0] = V[0]\n", "constant c, Tensor[(4), float32]: the text has lost 2 of its 4 values" },
    { B8, "    c = T.allocate_const([1.0, 2.0], \"float32\", [2])\n    V = T.Buffer((2,), data=c)\n    V[0] = B[0]\n", "constant c is stored to" },
    { B8, "    T.call_cpacked(\"g\", B.data, T.reinterpret(\"handle\", T.uint64(0)))\n", "lower-call-packed" },
};

static void what_c_cannot_say_is_an_error_with_its_place(void **state)
{
    for (size_t i = 0; i < TG_COUNT(refused); ++i) {
        tg_fixture *f = *state;
        tg_test_clear_log(f);
        emitted x;
        tg_options opt = emitted_options();
        const char *script = tg_format(f->cx, "from tvm.script import tir as T\n@T.prim_func\ndef f(%s):\n%s", refused[i].params, refused[i].body);
        tg_module *m = tg_module_new(f->cx);
        bool good = tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "t.py", script, strlen(script))) && emit_module(&x, f, m, &opt);
        const char *log = tg_text_z(&f->log);
        if (good || strstr(log, refused[i].message) == NULL || strncmp(log, "t.py:", 5) != 0)
            fail_msg("%s: %s", refused[i].body, good ? "accepted" : log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_statement_becomes_what_a_careful_person_writes, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(accumulators_with_known_bounds_are_added_plainly, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_chain_of_a_hundred_thousand_lets_prints, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_c_cannot_say_is_an_error_with_its_place, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
