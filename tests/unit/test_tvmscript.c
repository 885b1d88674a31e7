/* test_tvmscript.c: what the reader makes of TVMScript: the typing rules of hand-written text, the dialects of TVM's versions,
 * Python's lexical rules, limits, and the errors it reports. What our own printer writes is tested in test_print_tir.c. */
#include "fixture.h"

#include "grammar/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

static const char head[] = "from tvm.script import tir as T\n"
                           "@T.prim_func\n"
                           "def f(A: T.Buffer((8,), \"float32\"), N: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), "
                           "\"int8\"), H: T.Buffer((8,), \"float16\"),\n"
                           "      U: T.Buffer((8,), \"uint32\"), L: T.Buffer((8,), \"int64\"), P: T.Buffer((8,), "
                           "\"bool\"), n: T.int32, l: T.int64):\n";

static tg_module *read_text(tg_fixture *f, const char *text)
{
    tg_module *m = tg_module_new(f->cx);
    return tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "test.py", text, strlen(text))) ? m : NULL;
}

/* Reads, verifies, prints, reads again, compares. @return the printed text. */
static const char *printed(tg_fixture *f, const char *text)
{
    tg_module *m = read_text(f, text), *back;
    const char *why = NULL;
    if (m == NULL || !tg_verify_module(f->cx, m, true))
        fail_msg("%s\n%s", tg_text_z(&f->log), text);
    tg_text t = tg_text_new(f->cx);
    tg_print_tir(&t, m);
    const char *out = tg_text_z(&t);
    back = read_text(f, out);
    if (back == NULL || !tg_module_equal(f->cx, m, back, &why))
        fail_msg("%s %s\n%s", why, tg_text_z(&f->log), out);
    return out;
}

/* The body of f as it prints; @p body is indented by four. */
static const char *printed_body(tg_fixture *f, const char *body)
{
    const char *out = printed(f, tg_format(f->cx, "%s%s", head, body));
    return strstr(out, "l: T.int64):\n") + strlen("l: T.int64):\n");
}

static const char *errors(tg_fixture *f, const char *text)
{
    tg_test_clear_log(f);
    if (TG_UNWIND(f) == 0)
        assert_null(read_text(f, text));
    return tg_text_z(&f->log);
}

static void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
}

typedef struct text_case { const char *from, *to; } text_case;

static void check_bodies(void **state, const text_case *c, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        assert_holds(printed_body(*state, tg_format(((tg_fixture *)*state)->cx, "    %s\n", c[i].from)),
                     tg_format(((tg_fixture *)*state)->cx, "        %s\n", c[i].to));
}

/* ---- types of hand-written text ---- */

static void literals_take_the_types_of_section_23_1(void **state)
{
    static const text_case cases[] = {
        { "P[0] = B[0] < 3", "P[0] = B[0] < T.int8(3)" },
        { "P[0] = 3 < B[0]", "P[0] = T.int8(3) < B[0]" },
        { "N[0] = B[1] + 1", "N[0] = T.Cast(\"int32\", B[1]) + 1" },
        { "A[0] = H[0] + 1.0", "A[0] = T.Cast(\"float32\", H[0]) + T.float32(1)" },
        { "H[0] = H[0] + 1", "H[0] = H[0] + T.float16(1)" },
        { "U[0] = U[0] - 1", "U[0] = U[0] - T.uint32(1)" },
        { "L[0] = L[0] * 3", "L[0] = L[0] * T.int64(3)" },
        { "A[0] = n * 0.5", "A[0] = T.Cast(\"float32\", n) * T.float32(0.5)" },
        { "A[0] = A[0] + N[0]", "A[0] = A[0] + T.Cast(\"float32\", N[0])" },
        { "L[0] = L[0] + N[0]", "L[0] = L[0] + T.Cast(\"int64\", N[0])" },
        { "U[0] = U[0] + N[0]", "U[0] = U[0] + T.Cast(\"uint32\", N[0])" },
        { "B[0] = n", "B[0] = T.Cast(\"int8\", n)" },
        { "B[0] = 3", "B[0] = T.int8(3)" },
        { "B[0] = 300", "B[0] = T.int8(44)" },
        { "A[0] = 1", "A[0] = T.float32(1)" },
        { "P[0] = B[0] < 300", "P[0] = T.Cast(\"int32\", B[0]) < 300" },
        { "N[0] = T.max(n, 127)", "N[0] = T.max(n, 127)" },
        { "N[0] = 2 ** 3 + 7 // 2 - (-7) % 3", "N[0] = 9" },
        { "A[0] = 7 / 2", "A[0] = T.float32(3.5)" },
        { "N[0] = -n", "N[0] = n * -1" },
        { "A[0] = -A[1]", "A[0] = A[1] * T.float32(-1)" },
        { "N[0] = ~n", "N[0] = T.bitwise_not(n)" },
        { "N[0] = n << 2 | n & 3", "N[0] = T.bitwise_or(T.shift_left(n, 2), T.bitwise_and(n, 3))" },
        { "A[0] = A[1] if n < 3 else 0.0", "A[0] = T.if_then_else(n < 3, A[1], T.float32(0))" },
        { "A[0] = A[1] ** 2.0", "A[0] = T.pow(A[1], T.float32(2))" },
        { "N[0] = T.abs(n)", "N[0] = T.Select(n >= 0, n, 0 - n)" },
        { "A[0] = T.abs(A[1])", "A[0] = T.fabs(A[1])" },
        { "N[0] = T.ceildiv(n, 4)", "N[0] = (n + 4 - 1) // 4" },
        { "A[0] = A[1].astype(\"float32\") + N[0].astype(\"float32\")", "A[0] = A[1] + T.Cast(\"float32\", N[0])" },
        { "A[0] = T.float32(n)", "A[0] = T.Cast(\"float32\", n)" },
        { "A[0] = T.min_value(\"float32\")", "A[0] = T.float32(-3.4028234663852886e+38)" },
        { "B[0] = T.max_value(\"int8\")", "B[0] = T.int8(127)" },
        { "A[0:4] = A[4:8] * 2.0", "A[0:4] = A[4:8] * T.Broadcast(T.float32(2), 4)" },
        { "A[0:4] = 1", "A[0:4] = T.Broadcast(T.float32(1), 4)" },
        { "A[0:1] = A[1:2]", "A[0] = A[1]" },
        { "x: T.int64 = n", "x: T.int64 = T.Cast(\"int64\", n)" },
        { "x = n + 1", "x: T.int32 = n + 1" },
        { "A[n] += 1.5", "A[n] = A[n] + T.float32(1.5)" },
        { "N[0] = 0x1F + 1_000", "N[0] = 1031" },
        { "N[0] = T.call_extern(\"int32\", \"f\", A, T.address_of(A[1]))",
          "N[0] = T.call_extern(\"int32\", \"f\", A.data, T.address_of(A[1]))" },
        { "T.evaluate(T.float32(-0))", "T.evaluate(T.float32(-0))" },
        { "T.evaluate(T.float32(10000000000))", "T.evaluate(T.float32(10000000000))" },
        { "T.evaluate(T.float32(0.10000000149011612))", "T.evaluate(T.float32(0.1))" },
        { "A[0] = T.call_intrin(\"float32\", \"tir.exp\", A[1])", "A[0] = T.exp(A[1])" },
        { "A[0] = T.call_llvm_pure_intrin(\"float32\", \"llvm.sqrt.f32\", T.uint32(1), A[1])", "A[0] = T.sqrt(A[1])" },
        { "T.call_extern(\"void\", \"f\", A.access_ptr(\"rw\"))",
          "T.call_extern(\"void\", \"f\", T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, 0, 8, 3))" },
    };
    check_bodies(state, cases, TG_COUNT(cases));
}

static void comparisons_chain_by_the_types_of_their_sides(void **state)
{
    static const text_case cases[] = {
        { "P[0] = n < 3 == (l < T.int64(3))", "P[0] = (n < 3) == (l < T.int64(3))" },
        { "P[0] = n < 3 == P[1]", "P[0] = (n < 3) == P[1]" },
        { "P[0] = 0 < n < 4", "P[0] = 0 < n and n < 4" },
        { "P[0] = P[1] == n < 4", "P[0] = P[1] == (n < 4)" },
        { "P[0] = 1 <= n < 4 <= l", "P[0] = 1 <= n and n < 4 and T.int64(4) <= l" },
        { "P[0] = (n < 3) != (n < 4)", "P[0] = (n < 3) != (n < 4)" },
        { "P[0] = not n == 4", "P[0] = not n == 4" },
    };
    check_bodies(state, cases, TG_COUNT(cases));
}

/* ---- Python's surface ---- */

static void pythons_lexical_rules_hold(void **state)
{
    tg_fixture *f = *state;
    static const text_case cases[] = {
        { "    A[0] = (A[1] +\n  A[2]  # a comment ) inside\n\n      + A[3])\n", "A[0] = A[1] + A[2] + A[3]\n" },
        { "    A[0] = A[1] + \\\n A[2]\n", "A[0] = A[1] + A[2]\n" },
        { "    if n < 3: A[0] = A[1]\n", "if n < 3:\n            A[0] = A[1]\n" },
        { "\tif n < 3:\n\t    A[0] = A[1]\n\tA[2] = A[3]\n", "            A[0] = A[1]\n        A[2] = A[3]\n" },
        { "    A[0] = A[1]\r\n\r\n    A[2] = A[3]\r\n", "        A[0] = A[1]\n        A[2] = A[3]\n" },
        { "    \"\"\"A docstring\n of two lines\"\"\"\n    A[0] = A[1]\n", "        A[0] = A[1]\n" },
        { "    A[0] = A[1]\n    ^^^^^^^^^^^\n    A[2] = A[3]\n", "        A[2] = A[3]\n" },
        { "    T.evaluate(\"a\" 'b' \"\\x41\\101\\n\")\n", "T.evaluate(\"abAA\\n\")\n" },
        { "    T.evaluate(r\"\\n\")\n", "T.evaluate(\"\\\\n\")\n" },
        { "    T.evaluate(\"\\u00e9\")\n", "T.evaluate(\"\\xC3\\xA9\")\n" },
        { "    0a: T.int32 = n\n    N[0] = 0a\n", "v_0a: T.int32 = n\n" },
        { "    ...\n", "pass\n" },
        { "    pass\n", "pass\n" },
        { "    for (i, j,) in T.grid(\n        2,\n        4,\n    ):\n        A[i] = A[j,]\n",
          "for i, j in T.grid(2, 4):\n            A[i] = A[j]\n" },
        { "    if n < 3:\n        pass\n    elif n < 4:\n        A[0] = 1.0\n    else:\n        A[1] = 1.0\n",
          "        elif n < 4:\n" },
        { "    for i in range(2):\n            A[i] = 1.0\n    # trailing\n",
          "for i in range(2):\n            A[i] = T.float32(1)\n" },
        { "    a, b = n, l\n    L[0] = a + b\n", "L[0] = T.Cast(\"int64\", a) + b\n" },
        { "    C = A\n    C[0] = C[1]\n", "A[0] = A[1]\n" },
        { "    k = 4\n    A[k] = A[k + 1]\n", "A[4] = A[5]\n" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(printed_body(f, cases[i].from), cases[i].to);
    assert_holds(printed(f, "from tvm.script import tir as X, ir as Y\nimport tvm\n@Y.ir_module\nclass M:\n  "
                            "@X.prim_func\n  def g(a: X.int32) -> None:\n    X.evaluate(a)"),
                 "def g(a: T.int32):\n        T.evaluate(a)\n");
    assert_holds(
        printed(f, "# from tvm.script import tir as TT\n@TT.prim_func\ndef f/x.y(a: TT.int32):\n    TT.evaluate(a)\n"),
        "def f/x.y(a: T.int32):\n");
}

static void names_are_visible_from_their_definition_to_the_end_of_the_suite(void **state)
{
    tg_fixture *f = *state;
    printed_body(f, "    for i in range(4):\n        x: T.int32 = i\n        N[x] = x\n    for i in "
                    "range(T.int64(4)):\n        x: T.int64 = i\n        L[x] = x\n");
    assert_holds(errors(f, tg_format(f->cx, "%s    for i in range(4):\n        x: T.int32 = i\n    N[0] = x\n", head)),
                 "test.py:7:12: error: 'x' is not defined\n");
    assert_holds(errors(f, tg_format(f->cx, "%s    N[0] = i\n    for i in range(4):\n        pass\n", head)),
                 "'i' is not defined\n");
    assert_holds(printed_body(f, "    x: T.int32 = n\n    x: T.int32 = x + 1\n    N[0] = x\n"),
                 "        x_1: T.int32 = x + 1\n        N[0] = x_1\n");
}

/* ---- buffers ---- */

static void buffers_take_their_arguments_in_any_order(void **state)
{
    static const text_case cases[] = {
        { "V = T.decl_buffer([2, 4], dtype=\"int8\", scope=\"local\", align=16)",
          "V = T.decl_buffer((2, 4), \"int8\", scope=\"local\", align=16)" },
        { "V = T.Buffer(8, data=A.data, offset_factor=4)", "V = T.decl_buffer((8,), data=A.data, offset_factor=4)" },
        { "V = T.decl_buffer(data=A.data, shape=())", "V = T.decl_buffer((), data=A.data)" },
        { "V = T.Buffer((4,), data=A.data, strides=(n,), elem_offset=n + 1, buffer_type=\"auto\")",
          "V = T.decl_buffer((4,), data=A.data, strides=(n,), elem_offset=n + 1, buffer_type=\"auto\")" },
        { "p = T.allocate([n, 4], \"int8\", \"local\")", "p = T.allocate([n, 4], \"int8\", \"local\")" },
        { "p = T.allocate((16,), \"float32x4\", scope=\"global\", condition=T.bool(True))",
          "p = T.allocate([16], \"float32x4\", \"global\")" },
        { "w = T.allocate_const([1, 2, 3], \"int8\", [4])", "w = T.allocate_const([...], \"int8\", [4], missing=1)" },
        { "w = T.allocate_const([1, 2, 3...], \"int8\", [64])",
          "w = T.allocate_const([...], \"int8\", [64], missing=61)" },
        { "w = T.allocate_const(, \"int8\", [8])", "w = T.allocate_const([...], \"int8\", [8], missing=8)" },
        { "w = T.allocate_const([0.5, -1.5, T.float32(\"inf\"), 2], \"float32\", [2, 2])",
          "w = T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 2])" },
        { "with T.allocate([4], \"float32\", \"global\") as p, T.decl_buffer((4,), data=p) as q: q[0] = 1.0",
          "q = T.decl_buffer((4,))" },
    };
    check_bodies(state, cases, TG_COUNT(cases));
}

static void float16_constants_are_bit_patterns(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        read_text(f, tg_format(f->cx, "%s    w = T.allocate_const([15360, -16384], \"float16\", [2])\n", head));
    assert_non_null(m);
    const tg_tensor *t = m->funcs.at[0]->body->u.alloc->tensor;
    assert_true(tg_tensor_f64(t, 0) == 1 && tg_tensor_f64(t, 1) == -2);
}

static void matched_buffers_define_their_variables(void **state)
{
    tg_fixture *f = *state;
    const char *out = printed(f, "from tvm.script import tir as T\n@T.prim_func\ndef g(a: T.handle, b: "
                                 "T.handle(\"int8\", \"global\"), m: T.int32):\n    n, k = T.int32(), T.int64()\n"
                                 "    X = T.match_buffer(a, (n, m, 4), strides=(\"s0\", k, 1), offset_factor=1)\n    Y "
                                 "= T.match_buffer(b, [n], \"int8\")\n"
                                 "    T.evaluate(X.strides[0] + X.elem_offset + X.shape[1])\n    T.evaluate(X.data)\n");
    assert_holds(out, "    def g(a: T.handle, b: T.handle, m: T.int32):\n        n = T.int32()\n        k = "
                      "T.int64()\n        X = T.match_buffer(a, (n, m, 4), strides=(\"s0\", k, 1), offset_factor=1)\n"
                      "        Y = T.match_buffer(b, (n,), \"int8\")\n        T.evaluate(X.strides[0] + X.elem_offset "
                      "+ m)\n        T.evaluate(X.data)\n");
}

/* ---- blocks ---- */

static void blocks_without_regions_get_them_from_their_body(void **state)
{
    assert_holds(printed_body(*state, "    for i in range(8):\n        with T.block():\n            v = T.axis.S(8, "
                                      "i)\n            A[v] = A[v] + H[v].astype(\"float32\")\n"),
                 "            with T.block(\"\"):\n                v = T.axis.spatial(8, i)\n                "
                 "T.reads(A[v], H[v])\n                T.writes(A[v])\n");
    assert_holds(
        printed_body(*state,
                     "    for i in range(8):\n        with T.block(\"b\"):\n            v = T.axis.R((2, 10), i)\n     "
                     "       T.reads([A[v], H])\n            T.writes([A[v : v + 4]])\n            T.evaluate(0)\n"),
        "                v = T.axis.reduce((2, 10), i)\n                T.reads(A[v], H[0:8])\n                "
        "T.writes(A[v:v + 4])\n");
    assert_holds(printed_body(*state, "    for i, j in T.grid(8, T.int64(4)):\n        with T.block(\"b\"):\n          "
                                      "  v, w = T.axis.remap(\"SR\", [i, j])\n            T.writes(A[v])\n            "
                                      "with T.init():\n                A[v] = 0.0\n            A[v] = A[v] + A[w]\n"),
                 "                v, w = T.axis.remap(\"SR\", [i, j])\n");
}

static void extents_of_regions_and_loops_are_simplified(void **state)
{
    static const text_case cases[] = {
        { "for i in range(n * 4 + 1, n * 4 + 5): N[i] = i", "for i in range(n * 4 + 1, n * 4 + 1 + 4):" },
        { "for i in range((n + 1) * 4, n * 4 + 6): N[i] = i", "for i in range((n + 1) * 4, (n + 1) * 4 + 2):" },
        { "for i in range(2, n): N[i] = i", "for i in range(2, 2 + (n - 2)):" },
        { "A[n * 2:n * 2 + 4] = A[n + n:2 + n * 2 + 2]", "A[n * 2:n * 2 + 4] = A[n + n:n + n + 4]" },
        { "for i in range(0, 10, 3): N[i] = i", "for i in range(4):" },
        { "for i in T.serial(T.int64(2), 5): L[i] = i", "for i in range(T.int64(2), T.int64(5)):" },
        { "for i in T.thread_binding(0, 8, \"threadIdx.x\"): N[i] = i",
          "for i in T.thread_binding(8, thread=\"threadIdx.x\"):" },
    };
    check_bodies(state, cases, TG_COUNT(cases));
}

/* ---- versions ---- */

static void text_of_0_7_reads(void **state)
{
    const char *out = printed(
        *state, "@tvm.script.tir\nclass Module:\n    def mm(a: ty.handle, b: ty.handle) -> None:\n        # function "
                "attr dict\n        tir.func_attr({\"global_symbol\": \"mm\", \"tir.noalias\": True})\n"
                "        A = tir.match_buffer(a, [8], elem_offset=0, align=128, offset_factor=1)\n        B = "
                "tir.match_buffer(b, [8], dtype=\"int8\", elem_offset=0, align=128, offset_factor=1)\n"
                "        # body\n        for i in tir.serial(0, 8):\n            tir.store(B.data, i, "
                "(tir.load(\"float32\", A.data, i)*tir.float32(2)).astype(\"int8\"), True)\n");
    assert_holds(out, "        for i in range(8):\n            B[i] = T.Cast(\"int8\", A[i] * T.float32(2))\n");
}

static void text_of_0_8_reads(void **state)
{
    const char *out = printed(
        *state, "# from tvm.script import tir as T\n@tvm.script.ir_module\nclass Module:\n    @T.prim_func\n    def "
                "f(a: T.handle, b: T.handle) -> None:\n"
                "        T.func_attr({\"global_symbol\": \"f\", \"tir.noalias\": True})\n        A = T.match_buffer(a, "
                "[2, 8], dtype=\"float32\")\n        B = T.match_buffer(b, [16], dtype=\"float32\")\n"
                "        # var definition\n        x = T.var(\"float32\")\n        y = T.var(\"float32\")\n        # "
                "body\n        with T.allocate([16], \"float32\", \"global\") as p:\n            for i in "
                "T.parallel(0, 16):\n                T.store(p, i, T.load(\"float32\", A.data, i), True)\n"
                "            for i in T.serial(0, 4):\n                T.store(B.data, T.ramp((i*4), 1, 4), "
                "(T.load(\"float32x4\", p, T.ramp((i*4), 1, 4), T.broadcast(True, 4)) + "
                "T.broadcast(T.exp(T.float32(1), dtype=\"float32\"), 4)), T.broadcast(True, 4))\n"
                "            T.evaluate(T.call_extern(\"g\", T.tvm_access_ptr(T.type_annotation(dtype=\"float32\"), "
                "A.data, 0, 8, 1, dtype=\"handle\"), dtype=\"int32\"))\n"
                "            with T.let(x, T.load(\"float32\", p, 0)):\n                T.store(p, 1, T.let(y, x, "
                "(y*y)), True)\n");
    assert_holds(
        out,
        "        p = T.decl_buffer((16,))\n        for i in T.parallel(16):\n            p[i] = a_1[i]\n        for i "
        "in range(4):\n            B[i * 4:i * 4 + 4] = p[i * 4:i * 4 + 4] + T.Broadcast(T.exp(T.float32(1)), 4)\n");
    assert_holds(out, "        x: T.float32 = p[0]\n        p[1] = T.Let(y * y, where={y: x})\n");
}

static void text_of_0_10_reads(void **state)
{
    assert_holds(printed(*state, "# from tvm.script import tir as T\n@T.prim_func\ndef scale(A: T.Buffer[16, "
                                 "\"float32\"], B: T.Buffer[(4, 4), \"float32\"], p: T.Ptr[T.float32], q: "
                                 "T.Ptr[T.int8, \"global\"], r: T.Ptr[global T.float32]) -> None:\n"
                                 "    T.func_attr({\"global_symbol\": \"scale\"})\n    A_1 = T.preflattened_buffer(A, "
                                 "[16], dtype=\"float32\", data=A.data)\n    for i in T.serial(16):\n        A[i] = "
                                 "T.cast(T.floor(A[i], dtype=\"float32\"), \"float32\")\n"),
                 "    def scale(A: T.Buffer((16,), \"float32\"), B: T.Buffer((4, 4), \"float32\"), p: "
                 "T.handle(\"float32\"), q: T.handle(\"int8\", \"global\"), r: T.handle(\"float32\", \"global\")):\n"
                 "        for i in range(16):\n            A[i] = T.Cast(\"float32\", T.floor(A[i]))\n");
}

static void text_of_0_24_and_later_reads(void **state)
{
    const char *out = printed(
        *state,
        "# from tvm.script import tirx as T\n# from tvm.tirx.layout import Axis\n\n@T.prim_func(s_tir=True)\ndef f(X: "
        "T.Buffer((\"n\", \"n + 1\"), \"float32\", layout=None), Y: T.Buffer((n, 4), \"float32\")):\n    n = "
        "T.int64()\n"
        "    w: T.let[T.int64] = n // T.int64(2)\n    c: T.int32 = 5\n    t = T.alloc_buffer((8,), \"int32\", "
        "scope=\"local\")\n    for i in range(T.int64(0), w, 2):\n        c = c + 1\n        with T.sblock(\"b\"):\n"
        "            v = T.axis.spatial(n, i)\n            u = T.sblock_alloc_buffer((2,))\n            T.reads(X[v, "
        "0])\n            T.writes(Y[v, 0])\n            Y[v, 0] = X[v, 0]\n    t[0] = c\n    assert t[0] == 0, "
        "(\"RuntimeError\", [\"bad \", \"start\"])\n");
    assert_holds(out, "        n = T.int64()\n");
    assert_holds(out, "        c = T.decl_buffer((1,), \"int32\")\n        c[0] = 5\n        t = T.decl_buffer((8,), "
                      "\"int32\", scope=\"local\")\n");
    assert_holds(out, "            c[0] = c[0] + 1\n            with T.block(\"b\"):\n                v = "
                      "T.axis.spatial(n, i_1)\n                T.reads(X[v, 0])\n");
    assert_holds(printed(*state, "@T.prim_func\ndef g(n: T.int32):\n    T.attr({\"a\": 1, \"b\": \"x\"})\n    T.evaluate(n)\n"),
                 "        T.attr(0, \"a\", 1)\n        T.attr(0, \"b\", \"x\")\n        T.evaluate(n)\n");
    assert_holds(out, "        t[0] = c[0]\n        assert t[0] == 0, \"bad start\"\n");
}

static void functions_of_the_module_are_called_by_name(void **state)
{
    tg_fixture *f = *state;
    const char *text = "from tvm.script import ir as I, tir as T\n@I.ir_module\nclass Mod:\n    @T.prim_func\n    def "
                       "a(x: T.int32) -> T.int32:\n        return %s(x)\n    @T.prim_func(private=True)\n    def g(x: "
                       "T.int32) -> T.int32:\n        return x\n";
    static const char *const callees[] = { "Mod.g", "cls.g", "g", "\"g\"" };
    for (size_t i = 0; i < TG_COUNT(callees); ++i)
        assert_holds(printed(f, tg_format(f->cx, text, callees[i])), "return T.call_extern(\"int32\", \"g\", x)");
    assert_holds(errors(f, tg_format(f->cx, text, "Mod.h")), "test.py:6:16: error: the module has no function 'h'\n");
}

static void modules_one_after_the_other_keep_their_functions_apart(void **state)
{
    tg_fixture *f = *state;
    const char *one = "# task: x\n# from tvm.script import tir as T\n@I.ir_module\nclass Module:\n    @T.prim_func\n   "
                      " def main(x: T.int32):\n        T.evaluate(x)\n";
    const char *out = printed(f, tg_format(f->cx, "%s%s", one, one));
    assert_holds(out, "    @T.prim_func\n    def main(x: T.int32):\n");
    assert_holds(out, "    @T.prim_func\n    def main_1(x: T.int32):\n");
    tg_module *m = read_text(f, one);
    const char *other = "@T.prim_func\ndef main(y: T.int64):\n    pass\n";
    assert_true(tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "other.py", other, strlen(other))));
    assert_int_equal(m->funcs.n, 1);        /* a later text replaces */
    assert_string_equal(m->funcs.at[0]->param[0]->name->text, "y");
}

/* ---- metadata ---- */

#define BLOB "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM="
#define META(q)                                                                                                        \
    "{" q "root" q ": 1, " q "nodes" q ": [{" q "type_key" q ": " q q "}, {" q "type_key" q ": " q "Map" q ", " q      \
    "keys" q ": [" q "runtime.NDArray" q "], " q "data" q ": [2]}, "                                                   \
    "{" q "type_key" q ": " q "Array" q ", " q "data" q ": [3]}, {" q "type_key" q ": " q "runtime.NDArray" q ", " q   \
    "repr_str" q ": " q BLOB q "}], " q "b64ndarrays" q ": [], " q "attrs" q ": {}}"

static void metadata_reads_in_the_forms_of_all_versions(void **state)
{
    tg_fixture *f = *state;
    const char *func = "@T.prim_func\ndef f():\n    w = T.allocate_const(%s[\"runtime.NDArray\"][0], \"int8\", [])\n   "
                       " T.evaluate(w)\n";
    const char *forms[] = {
        tg_format(f->cx, "metadata = tvm.ir.load_json(\"\"\"" META("\\\"") "\"\"\")\n%s",
                  tg_format(f->cx, func, "metadata")),
        tg_format(f->cx, "metadata = tvm.ir.load_json(\"" META("\\\"") "\")\n%s", tg_format(f->cx, func, "metadata")),
        tg_format(f->cx, "%s\n__tvm_meta__ = " META("\"") "\n", tg_format(f->cx, func, "meta")),
    };
    for (size_t i = 0; i < TG_COUNT(forms); ++i) {
        tg_module *m = read_text(f, forms[i]);
        if (m == NULL)
            fail_msg("%s", tg_text_z(&f->log));
        assert_int_equal(tg_tensor_i64(m->funcs.at[0]->body->u.alloc->tensor, 0), 3);
    }
    assert_holds(errors(f, tg_format(f->cx, func, "metadata")),
                 "test.py:3:26: error: this text was printed without its metadata");
    assert_holds(errors(f, "metadata = tvm.ir.load_json(\"\"\"{\\\"root\\\": \"\"\")\n"), "test.py:1:");
    assert_holds(errors(f, "metadata = tvm.ir.load_json(\"\"\"{}"), "this string is not closed");
}

/* ---- errors ---- */

static void errors_name_place_and_construct(void **state)
{
    static const text_case cases[] = {
        { "    A[0] = A[1\n", "test.py:6:1: error: the text ends inside brackets" },
        { "    A[0] = $\n", "test.py:5:12: error: '$' is no part of TVMScript" },
        { "    A[0] = \"abc\n", "test.py:5:12: error: this string is not closed" },
        { "    A[0] = A[1]\n  A[1] = A[2]\n", "test.py:6:1: error: this indentation fits no suite around it" },
        { "    A[0] = = 1\n", "test.py:5:12: error: syntax error, unexpected '='" },
        { "    A[0] = A[n, n]\n", "test.py:5:12: error: buffer A has 1 dimension, 2 indices are given" },
        { "    A[0] = T.foo(1)\n", "test.py:5:12: error: T.foo is not supported" },
        { "    A[0] = zz\n", "test.py:5:12: error: 'zz' is not defined" },
        { "    A[1.5] = A[0]\n", "error: expected an integer" },
        { "    A[A[0]] = A[0]\n", "error: expected an integer, this is float32" },
        { "    A[0] = A\n", "error: buffer A stands without indices" },
        { "    N[0] = N[1] / n\n", "error: '/' divides floats" },
        { "    A[0] = A[1] // A[2]\n", "'//' takes integers only" },
        { "    if n: pass\n", "error: a condition must be bool, this is int32" },
        { "    for i in T.grid(2, 3): pass\n", "error: 2 loops, 1 name" },
        { "    for i in A: pass\n", "a buffer is nothing to loop over" },
        { "    with T.block(\"b\"):\n        v = T.axis.remap(\"S\", [n])\n", "error: remap takes variables of loops" },
        { "    v = T.axis.spatial(8, n)\n", "an axis stands in a block" },
        { "    T.reads(A[0])\n", "reads stands in a block" },
        { "    with T.init(): pass\n", "init stands in a block" },
        { "    x = T.grid(2)\n", "grid does not stand right of '='" },
        { "    T.grid(2)\n", "grid is no statement" },
        { "    n + 1\n", "an expression does nothing here" },
        { "    T.exp(A[0], A[1])\n", "exp takes 1 argument, 2 given" },
        { "    V = T.decl_buffer((4,), shape=(2,))\n", "'shape' is given twice" },
        { "    V = T.decl_buffer((4,), colour=1)\n", "decl_buffer has no parameter 'colour'" },
        { "    V = T.decl_buffer()\n", "decl_buffer: 'shape' is missing" },
        { "    V = T.Buffer((4,))\n", "a buffer in a body needs data=" },
        { "    V = T.decl_buffer((4,), \"float99\")\n", "\"float99\" is no data type" },
        { "    V = T.decl_buffer((4,), data=n)\n", "data must be a pointer variable" },
        { "    p = T.allocate([1.5], \"int8\", \"global\")\n", "expected an integer" },
        { "    T.func_attr({1: 2})\n", "the keys of an attribute's dictionary are strings" },
        { "    T.func_attr({\"a\": n})\n", "an attribute must be constant" },
        { "    T.func_attr(n)\n", "expected a dictionary, not an expression" },
        { "    break\n", "break stands outside of a loop over one variable" },
        { "    w = T.allocate_const([1, 2, 3], \"int8\", [2])\n", "3 values for 2 elements" },
        { "    A[0] = T.float32(\"big\")\n", "\"big\" is no number" },
        { "    N[0] = T.int32(\"inf\")\n", "int32 has no inf" },
        { "    N[0] = 99999999999999999999\n", "this number does not fit" },
        { "    N[0] = 1 << 70\n", "this cannot be computed in 64 bits" },
        { "    N[0] = 1 // 0\n", "this cannot be computed in 64 bits" },
        { "    T.address_of(n)\n", "address_of takes an element of a buffer" },
        { "    A[0:n] = A[0:n]\n", "a vector access needs a constant number of lanes" },
        { "    A[0] = A[0] if A[1] else A[2]\n", "a condition must be bool" },
        { "    T.call_extern(\"int32\")\n", "call_extern begins with a name in quotes" },
        { "    T.call_extern()\n", "call_extern: the result type is missing" },
        { "    A.data[0] = A.nothing\n", "buffer A has no attribute 'nothing'" },
        { "    T.where(n < 3)\n", "where stands in a block" },
        { "    x: T.int32\n", "a let needs a value" },
        { "    x: n = 3\n", "expected a type after ':'" },
        { "    T.Ramp(n, n, 1)\n", "2 to 65535 lanes" },
        { "    T.evaluate(A[0], 1)\n", "evaluate takes 1 argument at most" },
        { "    def g(): pass\n", "a definition does not stand in a function" },
        { "    f(*n)\n", "'*' arguments are not supported" },
        { "    T.tvm_storage_sync(\"shared\")\n", "T.tvm_storage_sync is not supported" },
    };
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(errors(f, tg_format(f->cx, "%s%s", head, cases[i].from)), cases[i].to);
    assert_holds(errors(f, "@R.function\ndef f(): pass\n"), "test.py:1:2: error: Relax functions are not supported");
    assert_holds(errors(f, "def f(): pass\n"), "test.py:1:1: error: function f has no decorator");
    assert_holds(errors(f, "@T.prim_func\ndef f(a): pass\n"), "test.py:2:7: error: parameter a needs a type");
    assert_holds(errors(f, "x = 1\n"), "expected a module or a function");
    assert_holds(errors(f, "@I.ir_module\nclass M:\n    x = 1\n"), "a module holds functions and I.module_attrs");
}

static void several_errors_are_reported_and_the_module_stays_as_it_was(void **state)
{
    tg_fixture *f = *state;
    const char *text = "@T.prim_func\ndef f(n: T.int32):\n    T.evaluate(zz)\n    y: T.int32 = qq\n    "
                       "T.evaluate(y)\n@T.prim_func\ndef g(n: T.int32):\n    T.evaluate(uu)\n@T.prim_func\ndef h(n: "
                       "T.int32):\n    T.evaluate(n)\n";
    tg_module *m = tg_module_new(f->cx);
    assert_false(tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "test.py", text, strlen(text))));
    assert_int_equal(m->funcs.n, 0);
    assert_int_equal(f->cx->nerrors, 3);    /* the use of y, whose definition failed, is not one */
}

/* ---- limits ---- */

static const char *repeated(tg_fixture *f, const char *before, const char *s, int n, const char *after)
{
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, head);
    tg_puts(&t, before);
    while (n-- > 0)
        tg_puts(&t, s);
    tg_puts(&t, after);
    return tg_text_z(&t);
}

static void long_and_deep_text_reads_up_to_limits_with_a_message(void **state)
{
    tg_fixture *f = *state;
    printed(f, repeated(f, "    A[0] = A[1]", " + A[2]", 20000, "\n"));
    printed(f, repeated(f, "    P[0] = ", "not ", 20000, "P[1]\n"));
    printed(f, repeated(f, "    A[0] = ", "T.max(A[1], ", 2000, "A[2]") == NULL
                   ? ""
                   : tg_format(f->cx, "%s%s\n", repeated(f, "    A[0] = ", "T.max(A[1], ", 2000, "A[2]"),
                               repeated(f, "", ")", 2000, "") + strlen(head)));
    printed(f, repeated(f, "", "    x: T.int32 = n\n", 5000, "    N[0] = x\n"));
    printed(f, repeated(f, "    if n < 3:\n        A[0] = A[1]\n", "    elif n < 4:\n        A[1] = A[2]\n", 3000, ""));
    assert_holds(errors(f, repeated(f, "    A[0] = ", "(", 100000, "")), "more than 4000 brackets are open");
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, head);
    for (int i = 1; i < 2000; ++i)
        tg_printf(&t, "%*sif n < 3:\n", i, "");
    assert_holds(errors(f, tg_text_z(&t)), "suites nest more than 400 deep");
}

/* ---- hostile text ---- */

static unsigned pseudo_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A text that uses most of the language, cut and damaged everywhere, never does worse than fail with an error. */
static void damaged_text_ends_in_an_error_or_reads(void **state)
{
    static const char text[] = "metadata = tvm.ir.load_json(\"\"\"" META(
        "\\\"") "\"\"\")\n# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass "
                "Module:\n    I.module_attrs({\"runtime\": None, \"c\": [metadata[\"runtime.NDArray\"][0], "
                "T.bool(True), 1.5]})\n"
                "    @T.prim_func(private=True)\n    def f(A: T.Buffer((8, 4), \"float32\", strides=(4, 1)), b: "
                "T.handle, n: T.int32) -> T.int32:\n        T.func_attr({\"target\": T.target({\"kind\": \"c\"}), "
                "\"k\": [1, {\"x\": -2}]})\n"
                "        B = T.match_buffer(b, (8, n), \"int8\", offset_factor=2)\n        t = T.float32()\n        # "
                "with T.block(\"root\"):\n        W = T.alloc_buffer((4,))\n        for i, j in T.grid(8, 4):\n        "
                "    with T.block(\"x\"):\n"
                "                vi, vj = T.axis.remap(\"SR\", [i, j])\n                vk = T.axis.spatial((0, 8), i "
                "* 2 + j)\n                T.where(i < 3 and not j == 2)\n                T.reads(A[vi, 0:4])\n        "
                "        T.writes(B[vi, vj])\n"
                "                T.block_attr({\"a\": 1})\n                M = T.match_buffer(A[vi, 0:4], (1, 4), "
                "strides=(\"s\", 1), offset_factor=1)\n                with T.init():\n                    B[vi, vj] = "
                "T.int8(0)\n"
                "                B[vi, vj] = T.Cast(\"int8\", T.max(M[0, vj] * T.float32(2), T.Let(t, where={t: A[vi, "
                "vj]})))\n        p = T.allocate([64], \"int8\", \"global\", annotations={\"q\": 1})\n        w = "
                "T.allocate_const(metadata[\"runtime.NDArray\"][0], \"int8\", [])\n"
                "        V = T.decl_buffer((16,), data=p)\n        V[0:8:2] = V[T.Ramp(0, 1, 4)] + "
                "T.Broadcast(T.float32(\"inf\"), 4)\n        with T.LetStmt(n + 1) as y:\n            while y < 3:\n   "
                "             T.call_extern(\"int32\", \"g\", V.data, T.address_of(V[1]), \"s\\x41\\n\")\n"
                "        assert n < 8, \"msg\"\n        if n < 2:\n            return 1\n        elif n == 3:\n        "
                "    pass\n        T.attr(p, \"align\", 4)\n        return 0\n";
    tg_fixture *f = *state;
    size_t n = sizeof text - 1;
    char *damaged = malloc(n + 1);
    static unsigned seed = 1;   /* static: setjmp() below must not lose it */
    assert_non_null(damaged);
    for (size_t i = 0; i < 3 * n; ++i) {
        size_t length = i < n ? i : n;
        memcpy(damaged, text, n);
        if (i >= n)
            for (unsigned k = pseudo_random(&seed) % 3 + 1; k > 0; --k)
                damaged[pseudo_random(&seed) % n] = "()[]{}:,=.\"'\\ \n#@T0-*"[pseudo_random(&seed) % 22];
        tg_ctx *cx = tg_ctx_new(NULL);
        jmp_buf jump;
        cx->unwind = &jump;
        if (setjmp(jump) == 0) {
            tg_module *m = tg_module_new(cx);
            tg_source *src = tg_source_add(cx, "damaged.py", tg_copy(cx, damaged, length), length);
            if (!tg_parse_tvmscript(cx, m, src) && cx->nerrors == 0)
                fail_msg("refused without an error: %.*s", (int)length, damaged);
        } else if (cx->failure == TIRGEN_EBUG) {
            fail_msg("a check failed for: %.*s", (int)length, damaged);
        }
        tg_ctx_free(cx);
    }
    free(damaged);
    (void)f;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(literals_take_the_types_of_section_23_1),
        TEST(comparisons_chain_by_the_types_of_their_sides),
        TEST(pythons_lexical_rules_hold),
        TEST(names_are_visible_from_their_definition_to_the_end_of_the_suite),
        TEST(buffers_take_their_arguments_in_any_order),
        TEST(float16_constants_are_bit_patterns),
        TEST(matched_buffers_define_their_variables),
        TEST(blocks_without_regions_get_them_from_their_body),
        TEST(extents_of_regions_and_loops_are_simplified),
        TEST(text_of_0_7_reads),
        TEST(text_of_0_8_reads),
        TEST(text_of_0_10_reads),
        TEST(text_of_0_24_and_later_reads),
        TEST(functions_of_the_module_are_called_by_name),
        TEST(modules_one_after_the_other_keep_their_functions_apart),
        TEST(metadata_reads_in_the_forms_of_all_versions),
        TEST(errors_name_place_and_construct),
        TEST(several_errors_are_reported_and_the_module_stays_as_it_was),
        TEST(long_and_deep_text_reads_up_to_limits_with_a_message),
        TEST(damaged_text_ends_in_an_error_or_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
