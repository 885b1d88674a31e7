/* test_eval.c: whole PrimFuncs, blocks and loops, read from text and run on small arrays with results worked out by
 * hand. */
#include "fixture.h"
#include "eval/eval.h"
#include "grammar/parse.h"
#include "ir/names.h"

#include <math.h>

#define HEAD "# from tvm.script import ir as I\n# from tvm.script import tir as T\n@I.ir_module\nclass Module:\n"
#define FUNC "    @T.prim_func\n    def "

/* ---- running text ---- */

static tg_module *parse(tg_fixture *f, const char *text)
{
    tg_module *m = tg_module_new(f->cx);
    const char *all = tg_format(f->cx, HEAD "%s", text);
    if (!tg_parse_tvmscript(f->cx, m, tg_source_add(f->cx, "test.py", all, strlen(all))))
        fail_msg("%s", tg_text_z(&f->log));
    return m;
}

static tg_tensor *array(tg_ctx *cx, DLDataType d, size_t n, const double *v)
{
    int64_t dim = (int64_t)n;
    tg_tensor *t = tg_tensor_new(cx, tg_tensor_type(cx, d, 1, &dim, 0), NULL);
    for (size_t i = 0; i < n; ++i)
        tg_tensor_set_f64(t, (int64_t)i, v[i]);
    return t;
}

static tg_tensor *reshaped(tg_ctx *cx, tg_tensor *t, uint32_t ndim, const int64_t *dim)
{
    return tg_tensor_new(cx, tg_tensor_type(cx, t->dl.dtype, ndim, dim, 0), t->dl.data);
}

#define VALUES(...) sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (double[]){ __VA_ARGS__ }
#define FLOATS(f, ...) array((f)->cx, TG_FLOAT32, VALUES(__VA_ARGS__))
#define INTS(f, ...) array((f)->cx, TG_INT32, VALUES(__VA_ARGS__))

static bool run(tg_fixture *f, const char *text, uint32_t n, tg_tensor *const *t, int64_t *ret)
{
    DLTensor *args[8];
    tg_module *m = parse(f, text);
    for (uint32_t i = 0; i < n; ++i)
        args[i] = &t[i]->dl;
    return tg_eval(f->cx, m, tg_module_find_z(m, "main"), args, n, ret);
}

static void expect(const tg_tensor *t, size_t n, const double *want)
{
    for (size_t i = 0; i < n; ++i) {
        double got = tg_tensor_f64(t, (int64_t)i);
        if (got != want[i] && !(isnan(got) && isnan(want[i])))
            fail_msg("element %zu is %g, expected %g", i, got, want[i]);
    }
}

static void runs(tg_fixture *f, const char *text, uint32_t n, tg_tensor *const *t)
{
    if (!run(f, text, n, t, NULL))
        fail_msg("%s", tg_text_z(&f->log));
}

static void refuses(tg_fixture *f, const char *text, uint32_t n, tg_tensor *const *t, const char *message)
{
    tg_test_clear_log(f);
    assert_false(run(f, text, n, t, NULL));
    if (strstr(tg_text_z(&f->log), message) == NULL)
        fail_msg("expected \"%s\" in:\n%s", message, tg_text_z(&f->log));
}

/* ---- blocks ---- */

static void a_reduction_starts_from_init(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = reshaped(f->cx, FLOATS(f, 1, 2, 3, 4, 5, 6), 2, (int64_t[]){ 2, 3 });
    tg_tensor *b = reshaped(f->cx, FLOATS(f, 1, 0, 2, 1, 0, 1), 2, (int64_t[]){ 3, 2 });
    tg_tensor *c = reshaped(f->cx, FLOATS(f, 9, 9, 9, 9), 2, (int64_t[]){ 2, 2 });
    runs(f,
         FUNC
         "main(A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((3, 2), \"float32\"), C: T.Buffer((2, 2), \"float32\")):\n"
         "        for i, j, k in T.grid(2, 2, 3):\n"
         "            with T.block(\"C\"):\n"
         "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
         "                with T.init():\n"
         "                    C[vi, vj] = T.float32(0)\n"
         "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n",
         3, (tg_tensor *[]){ a, b, c });
    expect(c, VALUES(5, 5, 14, 11));
}

static void init_follows_the_start_of_a_reduce_domain(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = FLOATS(f, 0, 0, 0, 0);
    runs(f, FUNC "main(A: T.Buffer((4,), \"float32\")):\n"
         "        for i, k in T.grid(4, 3):\n"
         "            with T.block(\"A\"):\n"
         "                vi = T.axis.spatial(4, i)\n"
         "                vk = T.axis.reduce((2, 5), k + 2)\n"
         "                with T.init():\n"
         "                    A[vi] = T.float32(100)\n"
         "                A[vi] = A[vi] + T.Cast(\"float32\", vk)\n", 1, &a);
    expect(a, VALUES(109, 109, 109, 109));
}

static void where_guards_the_block(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), FLOATS(f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
    static const char text[] = FUNC "main(A: T.Buffer((10,), \"float32\"), B: T.Buffer((10,), \"float32\")):\n"
        "        for io, ii in T.grid(3, 4):\n"
        "            with T.block(\"B\"):\n"
        "                vi = T.axis.spatial(10, io * 4 + ii)\n"
        "                T.where(io * 4 + ii < %d)\n"
        "                B[vi] = A[vi] + T.float32(1)\n";
    runs(f, tg_format(f->cx, text, 10), 2, t);
    expect(t[1], VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    refuses(f, tg_format(f->cx, text, 12), 2, t, "iterator vi of block B: index 10 is out of bounds of extent 10");
}

/* The example of tvmscript-tir.md section 19: C holds A[i * 4 + j + 4] of the flat A. */
static void a_matched_buffer_is_a_view_of_its_region(void **state)
{
    tg_fixture *f = *state;
    double v[32], want[32] = { 0 };
    for (int i = 0; i < 32; ++i)
        v[i] = i;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (i * 4 + j < 13)
                want[i * 8 + j] = i * 4 + j + 4;
    tg_tensor *a = reshaped(f->cx, array(f->cx, TG_FLOAT32, 32, v), 2, (int64_t[]){ 8, 4 });
    double none[32] = { 0 };
    tg_tensor *b = reshaped(f->cx, array(f->cx, TG_FLOAT32, 32, none), 2, (int64_t[]){ 4, 8 });
    runs(f, FUNC "main(A: T.Buffer((8, 4), \"float32\"), B: T.Buffer((4, 8), \"float32\")):\n"
         "        for i, j in T.grid(4, 4):\n"
         "            with T.block(\"z\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                T.where(i * 4 + j < 13)\n"
         "                T.reads(A[vi:vi + 2, vj])\n"
         "                T.writes(B[vi, vj])\n"
         "                C = T.alloc_buffer((2,))\n"
         "                W = T.match_buffer(A[vi:vi + 2, vj], (2, 1), strides=(\"W_q\", \"W_r\"), offset_factor=1)\n"
         "                C[0] = W[1, 0]\n"
         "                B[vi, vj] = C[0]\n", 2, (tg_tensor *[]){ a, b });
    expect(b, 32, want);
}

static void a_matched_buffer_stays_inside_its_source(void **state)
{
    tg_fixture *f = *state;
    static const struct { const char *match, *message; } row[] = {
        { "A[0:n], (n,)", "the region of A: index 9 is out of bounds" },
        { "A[n:n + 2], (2,)", "A: index 9 is out of bounds" },
        { "A[0:2], (n,)", "W: 2 is not 9" },
        { "A[2:4], (2,), strides=(-1,)", "the strides of W: 1 is not -1" },
    };
    for (size_t i = 0; i < TG_COUNT(row); ++i) {
        tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), INTS(f, 9) };
        const char *text = tg_format(f->cx, FUNC "main(A: T.Buffer((4,), \"float32\"), N: T.Buffer((1,), \"int32\")):\n"
            "        n: T.int32 = N[0]\n"
            "        with T.block(\"b\"):\n"
            "            W = T.match_buffer(%s)\n"
            "            W[1] = T.float32(0)\n", row[i].match);
        refuses(f, text, 2, t, row[i].message);
        expect(t[0], VALUES(1, 2, 3, 4));
    }
}

/* ---- loops and statements ---- */

static void loops_of_every_kind_run_in_order(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *d = INTS(f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    runs(f, FUNC "main(D: T.Buffer((18,), \"int32\")):\n"
         "        for i in T.parallel(2):\n"
         "            for j in T.unroll(1, 3):\n"
         "                for k in T.vectorized(4):\n"
         "                    D[i * 8 + (j - 1) * 4 + k] = i * 100 + j * 10 + k\n"
         "        for i in range(5, 5):\n"
         "            D[0] = 99\n"
         "        for t in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
         "            D[16 + t] = t + 1\n", 1, &d);
    expect(d, VALUES(10, 11, 12, 13, 20, 21, 22, 23, 110, 111, 112, 113, 120, 121, 122, 123, 1, 2));
}

static void while_let_and_if_do_what_they_say(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = INTS(f, 27, 0);
    runs(f, FUNC "main(A: T.Buffer((2,), \"int32\")):\n"        /* steps of the Collatz sequence from 27 */
         "        while A[0] != 1:\n"
         "            n: T.int32 = A[0]\n"
         "            if n % 2 == 0:\n"
         "                A[0] = n // 2\n"
         "            else:\n"
         "                A[0] = n * 3 + 1\n"
         "            A[1] = A[1] + 1\n", 1, &a);
    expect(a, VALUES(1, 111));
}

static void only_the_chosen_side_is_evaluated(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 5, 6, 7, 8), FLOATS(f, 9, 9, 9, 9) };
    runs(f, FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
         "        for i in range(4):\n"
         "            B[i] = T.if_then_else(i >= 2, A[i - 2], T.float32(0))\n", 2, t);
    expect(t[1], VALUES(0, 0, 5, 6));
    runs(f, FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
         "        for i in range(4):\n"
         "            if i >= 2 and A[i - 2] > T.float32(5):\n"
         "                B[i] = T.float32(1)\n"
         "            if i < 2 or A[i - 2] == T.float32(5):\n"
         "                B[i] = T.float32(2)\n", 2, t);
    expect(t[1], VALUES(2, 2, 2, 1));
}

static void a_let_expression_binds_inside(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *b = INTS(f, 0, 0);
    runs(f, FUNC "main(B: T.Buffer((2,), \"int32\")):\n"
         "        x = T.int32()\n"
         "        for i in range(2):\n"
         "            B[i] = T.Let(x * x + 1, where={x: i + 2})\n", 1, &b);
    expect(b, VALUES(5, 10));
}

static void a_failed_assert_is_an_error(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = INTS(f, 3);
    static const char text[] = FUNC "main(A: T.Buffer((1,), \"int32\")):\n"
        "        assert A[0] < 3, \"A is too large\"\n"
        "        A[0] = A[0] + 1\n";
    refuses(f, text, 1, &a, "A is too large");
    expect(a, VALUES(3));
    tg_tensor_set_i64(a, 0, 2);
    runs(f, text, 1, &a);
    expect(a, VALUES(3));
}

/* ---- vectors ---- */

static void a_vector_store_reads_all_lanes_first(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = FLOATS(f, 1, 2, 3, 4, 5);
    runs(f, FUNC "main(A: T.Buffer((5,), \"float32\")):\n        A[1:5] = A[0:4]\n", 1, &a);
    expect(a, VALUES(1, 1, 2, 3, 4));
}

static void ramps_broadcasts_and_shuffles_have_their_lanes(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), FLOATS(f, 0, 0, 0, 0, 0, 0, 0, 0) };
    runs(f, FUNC "main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
         "        C[0:4] = A[0:4] + T.Broadcast(T.float32(2), 4)\n"
         "        C[4:8] = T.Shuffle([A[0:4]], [3, 2, 1, 0])\n", 2, t);
    expect(t[1], VALUES(3, 4, 5, 6, 4, 3, 2, 1));
    runs(f,
         FUNC "main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
              "        C[0:8:2] = T.Ramp(T.float32(0.5), T.float32(1), 4)\n"
              "        C[T.Ramp(7, -2, 4)] = T.Select(A[0:4] < T.Broadcast(T.float32(3), 4), A[0:4], "
              "T.Broadcast(T.float32(9), 4))\n",
         2, t);
    expect(t[1], VALUES(0.5, 9, 1.5, 9, 2.5, 2, 3.5, 1));
}

static void buffers_of_vectors_hold_their_lanes_in_a_row(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *b = FLOATS(f, 0, 0, 0, 0, 0, 0, 0, 0);
    runs(f, FUNC "main(B: T.Buffer((8,), \"float32\")):\n"
         "        p = T.allocate([2], \"float32x4\", \"global\")\n"
         "        V = T.Buffer((2,), \"float32x4\", data=p)\n"
         "        V[0] = T.Ramp(T.float32(0), T.float32(1), 4)\n"
         "        V[1] = V[0] * T.Broadcast(T.float32(10), 4)\n"
         "        B[0:4] = V[1]\n"
         "        B[4:8] = V[0]\n", 1, &b);
    expect(b, VALUES(0, 10, 20, 30, 0, 1, 2, 3));
}

/* ---- bounds ---- */

static void every_access_is_checked(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), FLOATS(f, 0, 0, 0, 0) };
    refuses(f,
            FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                 "        for i in range(5):\n            B[i] = A[0]\n",
            2, t, "B: index 4 is out of bounds in dimension 0 of extent 4");
    expect(t[1], VALUES(1, 1, 1, 1));
    refuses(f,
            FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                 "        for i in range(4):\n            B[i] = A[i - 1]\n",
            2, t, "A: index -1 is out of bounds in dimension 0 of extent 4");
    refuses(f, FUNC "main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
            "        B[1:5] = A[0:4]\n", 2, t, "B: index 4 is out of bounds");
    t[0] = reshaped(f->cx, t[0], 2, (int64_t[]){ 2, 2 });
    refuses(f,
            FUNC "main(A: T.Buffer((2, 2), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                 "        for i in range(4):\n            B[i] = A[0, i]\n",
            2, t, "A: index 2 is out of bounds in dimension 1 of extent 2");
    assert_non_null(strstr(tg_text_z(&f->log), "test.py:8:"));
}

static void a_view_must_fit_its_memory(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = FLOATS(f, 0);
    refuses(f, FUNC "main(A: T.Buffer((1,), \"float32\")):\n"
            "        p = T.allocate([16], \"int8\", \"global\")\n"
            "        V = T.Buffer((8,), \"float32\", data=p)\n"
            "        V[0] = A[0]\n", 1, &a, "V: bytes 0 to 32 are needed, but its memory ends after 16");
    refuses(f, FUNC "main(A: T.Buffer((1,), \"float32\")):\n"
            "        p: T.handle(\"float32\") = T.reinterpret(\"handle\", T.uint64(4096))\n"
            "        V = T.Buffer((8,), \"float32\", data=p)\n"
            "        V[0] = A[0]\n", 1, &a, "V: the address points to no memory that is live");
}

static void fresh_memory_shows_reads_before_writes(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *b = FLOATS(f, 0, 0);
    runs(f, FUNC "main(B: T.Buffer((2,), \"float32\")):\n"
         "        for i in range(2):\n"
         "            p = T.allocate([2], \"float32\", \"global\")\n"
         "            V = T.Buffer((2,), \"float32\", data=p)\n"
         "            if i == 0:\n"
         "                V[0] = T.float32(3)\n"
         "            B[i] = V[0]\n", 1, &b);
    expect(b, VALUES(3, NAN));
}

/* ---- arguments ---- */

static void shapes_bind_variables_and_are_checked(void **state)
{
    tg_fixture *f = *state;
    static const char text[] = FUNC "main(a: T.handle, b: T.handle):\n"
        "        n = T.int32()\n"
        "        A = T.match_buffer(a, (n, 2))\n"
        "        B = T.match_buffer(b, (n * 2,))\n"
        "        for i, j in T.grid(n, 2):\n"
        "            B[i * 2 + j] = A[i, j] + T.Cast(\"float32\", n)\n";
    tg_tensor *t[2] = { reshaped(f->cx, FLOATS(f, 1, 2, 3, 4, 5, 6), 2, (int64_t[]){ 3, 2 }),
                        FLOATS(f, 0, 0, 0, 0, 0, 0) };
    runs(f, text, 2, t);
    expect(t[1], VALUES(4, 5, 6, 7, 8, 9));
    t[1] = FLOATS(f, 0, 0, 0, 0);
    refuses(f, text, 2, t, "B: 6 is not 4 in dimension 0");
    tg_tensor *one = FLOATS(f, 0);
    refuses(f, FUNC "main(A: T.Buffer((2,), \"float32\")):\n        A[0] = A[1]\n", 1, &one,
            "argument 0 (A): extent 1 in dimension 0, expected 2");
    one = INTS(f, 0, 0);
    refuses(f, FUNC "main(A: T.Buffer((2,), \"float32\")):\n        A[0] = A[1]\n", 1, &one,
            "its dtype is int32, expected float32");
    one = reshaped(f->cx, FLOATS(f, 0, 0), 2, (int64_t[]){ 1, 2 });
    refuses(f, FUNC "main(A: T.Buffer((2,), \"float32\")):\n        A[0] = A[1]\n", 1, &one,
            "its rank is 2, expected 1");
    refuses(f, FUNC "main(A: T.Buffer((2,), \"float32\")):\n        A[0] = A[1]\n", 0, &one, "0 arguments, expected 1");
}

static void scalars_are_tensors_of_rank_0(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[3] = { tg_tensor_scalar_int(f->cx, TG_INT32, 3), tg_tensor_scalar(f->cx, TG_FLOAT32, 0.5),
                        FLOATS(f, 0, 0, 0) };
    runs(f, FUNC "main(n: T.int32, s: T.float32, A: T.Buffer((3,), \"float32\")):\n"
         "        for i in range(n):\n            A[i] = s * T.Cast(\"float32\", i)\n", 3, t);
    expect(t[2], VALUES(0, 0.5, 1));
}

static void empty_tensors_are_no_problem(void **state)
{
    tg_fixture *f = *state;
    int64_t none = 0;
    tg_tensor *t = tg_tensor_new(f->cx, tg_tensor_type(f->cx, TG_FLOAT32, 1, &none, 0), NULL);
    runs(f, FUNC "main(A: T.Buffer((0,), \"float32\")):\n        for i in range(0):\n            A[i] = T.float32(1)\n",
         1, &t);
}

/* ---- calls ---- */

static void returned_values_reach_the_caller(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = INTS(f, 5);
    int64_t ret = 0;
    static const char text[] =
        FUNC "half(n: T.int32) -> T.int32:\n"
        "        if n % 2 == 1:\n"
        "            return -7\n"
        "        return n // 2\n"
        FUNC "main(A: T.Buffer((1,), \"int32\")) -> T.int32:\n"
        "        A[0] = T.call_extern(\"int32\", \"half\", 20)\n"
        "        T.tvm_check_return(-7, 3, T.call_extern(\"int32\", \"half\", 5))\n"
        "        T.tvm_check_return(0, 4, T.call_extern(\"int32\", \"half\", A[0]))\n"
        "        return 5\n";
    assert_true(run(f, text, 1, &a, &ret));
    expect(a, VALUES(10));
    assert_int_equal(ret, 4);
}

static void calls_pass_pointers_and_arrays(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), FLOATS(f, 0, 0, 0, 0) };
    runs(f,
         FUNC "twice(A: T.Buffer((2,), \"float32\"), B: T.Buffer((2,), \"float32\")):\n"
              "        for i in range(2):\n            B[i] = A[i] * T.float32(2)\n" FUNC
              "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
              "        T.call_extern(\"int32\", \"twice\", x.data, y.data)\n"
              "        T.call_extern(\"int32\", \"twice\", T.address_of(x[2]), T.address_of(y[2]))\n"
              "        T.call_cpacked(\"twice\", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(2), "
              "T.reinterpret(\"handle\", T.uint64(0)), "
              "T.uint32(1), T.Cast(\"float32\", 0), 0), T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(2), "
              "T.reinterpret(\"handle\", T.uint64(0)), T.uint32(1), T.Cast(\"float32\", 0), 2), "
              "T.reinterpret(\"handle\", T.uint64(0)))\n",
         2, t);
    expect(t[1], VALUES(2, 4, 4, 8));
}

static void callees_check_what_they_are_given(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), FLOATS(f, 0, 0, 0, 0) };
#define CALLEE FUNC "first(A: T.Buffer((3,), \"float32\")):\n        A[0] = A[2]\n"
    refuses(f,
            CALLEE FUNC "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
                        "        T.call_extern(\"int32\", \"first\", T.address_of(x[2]))\n",
            2, t, "12 bytes are needed where it points");
    refuses(f,
            CALLEE FUNC "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
                        "        T.call_cpacked(\"first\", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(2), "
                        "T.reinterpret(\"handle\", T.uint64(0)), "
                        "T.uint32(1), T.Cast(\"float32\", 0), 0), T.reinterpret(\"handle\", T.uint64(0)))\n",
            2, t, "extent 2 in dimension 0, expected 3");
    refuses(f, FUNC "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
            "        T.call_extern(\"int32\", \"nowhere\", x.data)\n", 2, t, "there is no function nowhere to call");
    refuses(f, CALLEE FUNC "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
            "        c = T.allocate_const([1.0, 2.0, 3.0], \"float32\", [3])\n"
            "        T.call_extern(\"int32\", \"first\", c)\n", 2, t, "its memory is a constant");
    refuses(f, FUNC "main(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")):\n"
            "        T.call_extern(\"int32\", \"main\", x.data, y.data)\n", 2, t, "calls nest more than");
}

static void functions_of_the_c_library_are_known_by_name(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *a = FLOATS(f, 9, 2);
    runs(f, FUNC "main(A: T.Buffer((2,), \"float32\")):\n"
         "        A[0] = T.call_pure_extern(\"float32\", \"sqrtf\", A[0])\n"
         "        A[1] = T.call_pure_extern(\"float32\", \"powf\", A[1], T.float32(3))\n", 1, &a);
    expect(a, VALUES(3, 8));
}

static void workspaces_are_cut_into_views(void **state)
{
    tg_fixture *f = *state;
    double none[64] = { 0 };
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3, 4), array(f->cx, TG_UINT8, 64, none) };
    runs(f, FUNC "main(x: T.Buffer((4,), \"float32\"), ws_var: T.handle(\"uint8\", \"global\")):\n"
         "        ws = T.match_buffer(ws_var, (64,), \"uint8\", strides=(1,), align=16)\n"
         "        sid_1_let: T.handle(\"float32\", \"global.workspace\") = T.address_of(ws[16])\n"
         "        sid_1 = T.Buffer((4,), \"float32\", data=sid_1_let)\n"
         "        for i in range(4):\n            sid_1[i] = x[i] * T.float32(0.5)\n"
         "        for i in range(4):\n            x[i] = sid_1[3 - i]\n", 2, t);
    expect(t[0], VALUES(2, 1.5, 1, 0.5));
    uint8_t *bytes = (uint8_t *)t[1]->dl.data;
    float half;
    memcpy(&half, bytes + 16, sizeof half);
    assert_true(half == 0.5f);
}

/* The form after lower-call-packed: values and type codes in stack arrays, tensors as structs. */
static void the_lowered_packed_convention_is_followed(void **state)
{
    tg_fixture *f = *state;
    tg_tensor *t[2] = { FLOATS(f, 1, 2, 3), FLOATS(f, 0, 0, 0) };
    runs(f,
         FUNC "negate(args: T.handle, arg_type_ids: T.handle(\"int32\"), num_args: T.int32, out_ret_value: "
              "T.handle(\"void\"), "
              "out_ret_tcode: T.handle(\"int32\"), resource_handle: T.handle) -> T.int32:\n"
              "        T.func_attr({\"calling_conv\": 1})\n"
              "        assert num_args == 2, \"two arguments\"\n"
              "        x: T.handle = T.tvm_struct_get(args, 0, 12, \"handle\")\n"
              "        y: T.handle = T.tvm_struct_get(args, 1, 12, \"handle\")\n"
              "        assert T.tvm_struct_get(x, 0, 4, \"int32\") == 1, \"rank\"\n"
              "        xp: T.handle(\"float32\") = T.tvm_struct_get(x, 0, 1, \"handle\")\n"
              "        yp: T.handle(\"float32\") = T.tvm_struct_get(y, 0, 1, \"handle\")\n"
              "        X = T.Buffer((3,), \"float32\", data=xp)\n"
              "        Y = T.Buffer((3,), \"float32\", data=yp)\n"
              "        for i in range(3):\n            Y[i] = T.float32(0) - X[i]\n"
              "        return 0\n" FUNC "main(x: T.Buffer((3,), \"float32\"), y: T.Buffer((3,), \"float32\")):\n"
              "        T.call_cpacked(\"negate\", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(3), "
              "T.reinterpret(\"handle\", T.uint64(0)), "
              "T.uint32(1), T.Cast(\"float32\", 0), 0), T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(3), "
              "T.reinterpret(\"handle\", T.uint64(0)), T.uint32(1), T.Cast(\"float32\", 0), 0), "
              "T.reinterpret(\"handle\", T.uint64(0)))\n",
         2, t);
    expect(t[1], VALUES(-1, -2, -3));
}

/* ---- size ---- */

static tg_func *store_one(tg_ctx *cx, const tg_node *value)
{
    int64_t n = 1;
    const tg_buffer **b = TG_ARRAY(cx, const tg_buffer *, 1);
    const tg_var **p = TG_ARRAY(cx, const tg_var *, 1);
    const tg_node *zero = tg_int(cx, TG_INT32, 0);
    b[0] = tg_buffer_new(cx, tg_intern_z(cx, "A"), TG_INT32, 1, &n, TG_INT32);
    p[0] = b[0]->data;
    tg_func *f = TG_NEW(cx, tg_func);
    *f = (tg_func){ .name = tg_intern_z(cx, "f"),
                    .kind = TG_FUNC_PRIM,
                    .nparams = 1,
                    .param = p,
                    .buffer = b,
                    .ret = tg_void(cx),
                    .body = tg_store(cx, b[0], value, 1, &zero) };
    return f;
}

static int64_t value_of(tg_fixture *f, const tg_node *value)
{
    double none = 0;
    tg_tensor *t = array(f->cx, TG_INT32, 1, &none);
    DLTensor *arg = &t->dl;
    tg_func *fn = store_one(f->cx, value);
    assert_true(tg_eval(f->cx, tg_module_new(f->cx), fn, &arg, 1, NULL));
    return tg_tensor_i64(t, 0);
}

static void a_shared_expression_is_computed_once(void **state)
{
    tg_fixture *f = *state;
    const tg_node *e = tg_call1(f->cx, "popcount", tg_int(f->cx, TG_INT32, 4));
    for (int i = 0; i < 30; ++i)                    /* a tree of it would have 2^30 leaves */
        e = tg_bin(f->cx, TG_ADD, e, e);
    assert_int_equal(value_of(f, e), 1 << 30);
}

static void a_long_chain_does_not_grow_the_stack(void **state)
{
    tg_fixture *f = *state;
    const tg_node *e = tg_call1(f->cx, "popcount", tg_int(f->cx, TG_INT32, 1)), *one = tg_int(f->cx, TG_INT32, 1);
    for (int i = 0; i < 200000; ++i)
        e = tg_bin(f->cx, i % 4 == 0 ? TG_SUB : TG_ADD, e, one);
    assert_int_equal(value_of(f, e), 100001);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_reduction_starts_from_init),
        TEST(init_follows_the_start_of_a_reduce_domain),
        TEST(where_guards_the_block),
        TEST(a_matched_buffer_is_a_view_of_its_region),
        TEST(a_matched_buffer_stays_inside_its_source),
        TEST(loops_of_every_kind_run_in_order),
        TEST(while_let_and_if_do_what_they_say),
        TEST(only_the_chosen_side_is_evaluated),
        TEST(a_let_expression_binds_inside),
        TEST(a_failed_assert_is_an_error),
        TEST(a_vector_store_reads_all_lanes_first),
        TEST(ramps_broadcasts_and_shuffles_have_their_lanes),
        TEST(buffers_of_vectors_hold_their_lanes_in_a_row),
        TEST(every_access_is_checked),
        TEST(a_view_must_fit_its_memory),
        TEST(fresh_memory_shows_reads_before_writes),
        TEST(shapes_bind_variables_and_are_checked),
        TEST(scalars_are_tensors_of_rank_0),
        TEST(empty_tensors_are_no_problem),
        TEST(returned_values_reach_the_caller),
        TEST(calls_pass_pointers_and_arrays),
        TEST(callees_check_what_they_are_given),
        TEST(functions_of_the_c_library_are_known_by_name),
        TEST(workspaces_are_cut_into_views),
        TEST(the_lowered_packed_convention_is_followed),
        TEST(a_shared_expression_is_computed_once),
        TEST(a_long_chain_does_not_grow_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
