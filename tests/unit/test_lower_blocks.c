/* test_lower_blocks.c: blocks to loops; where the memory of blocks goes and how much of it is left. */
#include "same_values.h"

/* The example of a block with a predicate, an allocation and a view, and what becomes of it. */
static void bindings_predicates_allocations_and_views(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(
        f, TIR_FUNC
        "main(A: T.Buffer((8, 4), \"float32\"), B: T.Buffer((4, 8), \"float32\")):\n"
        "        for i, j in T.grid(4, 4):\n"
        "            with T.block(\"z\"):\n"
        "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
        "                T.where(i * 4 + j < 13)\n"
        "                T.reads(A[vi:vi + 2, vj])\n"
        "                T.writes(B[vi, vj])\n"
        "                C = T.alloc_buffer((2,))\n"
        "                W = T.match_buffer(A[vi:vi + 2, vj], (2, 1), strides=(\"W_q\", \"W_r\"), offset_factor=1)\n"
        "                C[0] = W[1, 0]\n"
        "                B[vi, vj] = C[0]\n");
    tg_module *loops = tg_test_pass(f, m, tg_pass_lower_blocks, "lower-blocks");
    tg_test_has_not(f, loops, "T.block(");
    tg_test_has(f, loops, "if i * 4 + j < 13");
    tg_test_lower(f, m);
}

/* init runs when all reduce iterators are at their start, and only those. */
static void init_runs_at_the_start_of_the_reduction(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((3, 4, 5), \"float32\"), B: T.Buffer((3,), \"float32\")):\n"
                                "        for k, i, j in T.grid(4, 3, 5):\n"
                                "            with T.block(\"s\"):\n"
                                "                vi, vk, vj = T.axis.remap(\"SRR\", [i, k, j])\n"
                                "                T.reads(A[vi, vk, vj])\n"
                                "                T.writes(B[vi])\n"
                                "                with T.init():\n"
                                "                    B[vi] = T.float32(0.5)\n"
                                "                B[vi] = B[vi] + A[vi, vk, vj]\n");
    tg_module *loops = tg_test_pass(f, m, tg_pass_lower_blocks, "lower-blocks");
    tg_test_has(f, loops, "if k == 0 and j == 0");
    tg_test_lower(f, m);
}

static void domains_need_not_begin_at_zero(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((12,), \"float32\"), B: T.Buffer((1,), \"float32\")):\n"
                                           "        for r in range(8):\n"
                                           "            with T.block(\"s\"):\n"
                                           "                vr = T.axis.reduce((2, 10), r + 2)\n"
                                           "                T.reads(A[vr])\n"
                                           "                T.writes(B[0])\n"
                                           "                with T.init():\n"
                                           "                    B[0] = T.float32(1)\n"
                                           "                B[0] = B[0] + A[vr]\n");
    tg_test_lower(f, m);
}

static void blocks_in_blocks(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(
        f, TIR_FUNC "main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8, 8), \"float32\")):\n"
                    "        for io, jo in T.grid(2, 4):\n"
                    "            with T.block(\"outer\"):\n"
                    "                vo, wo = T.axis.remap(\"SS\", [io, jo])\n"
                    "                T.reads(A[vo * 4:vo * 4 + 4, wo * 2:wo * 2 + 2])\n"
                    "                T.writes(B[vo * 4:vo * 4 + 4, wo * 2:wo * 2 + 2])\n"
                    "                V = T.match_buffer(A[vo * 4:vo * 4 + 4, wo * 2:wo * 2 + 2], (4, 2), "
                    "strides=(\"s0\", 1), offset_factor=1)\n"
                    "                for i, j in T.grid(4, 2):\n"
                    "                    with T.block(\"inner\"):\n"
                    "                        vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "                        T.reads(V[vi, vj])\n"
                    "                        T.writes(B[vo * 4 + vi, wo * 2 + vj])\n"
                    "                        U = T.match_buffer(V[vi, vj], (), strides=[], offset_factor=1)\n"
                    "                        B[vo * 4 + vi, wo * 2 + vj] = U[()] + T.float32(1)\n");
    tg_test_lower(f, m);
}

/* ---- allocations ---- */

#define TILES(init, update)                                                                                            \
    TIR_FUNC "main(A: T.Buffer((64, 6), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"                             \
             "        S = T.alloc_buffer((64,))\n"                                                                     \
             "        for o in range(8):\n" init update "            for i in range(8):\n"                             \
             "                with T.block(\"out\"):\n"                                                                \
             "                    v = T.axis.spatial(64, o * 8 + i)\n"                                                 \
             "                    T.reads(S[v])\n"                                                                     \
             "                    T.writes(B[v])\n"                                                                    \
             "                    B[v] = S[v] * T.float32(2)\n"
#define INIT(first, n)                                                                                                 \
    "            for i in range(" n "):\n"                                                                             \
    "                with T.block(\"init\"):\n"                                                                        \
    "                    v = T.axis.spatial(64, o * 8 + i" first ")\n"                                                 \
    "                    T.reads()\n"                                                                                  \
    "                    T.writes(S[v])\n"                                                                             \
    "                    S[v] = T.float32(0)\n"
#define UPDATE                                                                                                         \
    "            for k, i in T.grid(6, 8):\n"                                                                          \
    "                with T.block(\"sum\"):\n"                                                                         \
    "                    v = T.axis.spatial(64, o * 8 + i)\n"                                                          \
    "                    w = T.axis.reduce(6, k)\n"                                                                    \
    "                    T.reads(S[v], A[v, w])\n"                                                                     \
    "                    T.writes(S[v])\n"                                                                             \
    "                    S[v] = S[v] + A[v, w]\n"

/* A tile of accumulators that each iteration overwrites first moves into the loop and shrinks to the tile. */
static void a_tile_becomes_a_small_array(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TILES(INIT("", "8"), UPDATE));
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "for o in range(8):\n            S = T.decl_buffer((8,))");
}

/* It stays outside when an iteration reads what an earlier one wrote, or when that cannot be excluded. */
static void what_is_carried_between_iterations_stays_outside(void **state)
{
    tg_fixture *f = *state;
    static const char *const texts[] = {
        TILES(INIT("", "7"), UPDATE), /* the last element is not written first */
        TILES("", UPDATE),            /* nothing is */
    };
    for (size_t i = 0; i < TG_COUNT(texts); ++i) {
        tg_module *m = tg_test_tir(f, texts[i]), *c = tg_test_copy(f, m);
        tg_options opt = { 0 };
        assert_true(tg_pass_lower_blocks(f->cx, c, &opt));
        tg_test_has(f, c, "S = T.decl_buffer((64,))\n        for o in range(8)");
    }
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                           "        S = T.alloc_buffer((8,))\n"
                                           "        for i in range(8):\n"
                                           "            with T.block(\"a\"):\n"
                                           "                v = T.axis.spatial(8, i)\n"
                                           "                T.reads(A[v])\n"
                                           "                T.writes(S[v])\n"
                                           "                S[v] = A[v]\n"
                                           "            with T.block(\"b\"):\n"
                                           "                v = T.axis.spatial(8, i)\n"
                                           "                T.reads(S[T.max(v - 1, 0)])\n"
                                           "                T.writes(B[v])\n"
                                           "                B[v] = S[T.max(v - 1, 0)]\n");
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "S = T.decl_buffer((8,))\n        for i in range(8)");
}

/* A write that a condition guards does not count as overwriting. */
static void a_guarded_write_is_no_overwrite(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                           "        S = T.alloc_buffer((1,))\n"
                                           "        for i in range(8):\n"
                                           "            with T.block(\"a\"):\n"
                                           "                v = T.axis.opaque(8, i)\n"
                                           "                T.where(i % 2 == 0)\n"
                                           "                T.reads(A[v])\n"
                                           "                T.writes(S[0])\n"
                                           "                S[0] = A[v]\n"
                                           "            with T.block(\"b\"):\n"
                                           "                v = T.axis.opaque(8, i)\n"
                                           "                T.reads(S[0])\n"
                                           "                T.writes(B[v])\n"
                                           "                B[v] = S[0]\n");
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "S = T.decl_buffer((1,))\n        for i in range(8)");
}

/* Rows of a larger buffer: one dimension shrinks, the other stays; the window moves with the outer loop. */
static void only_what_is_accessed_is_allocated(void **state)
{
    tg_fixture *f = *state;
    tg_module *m =
        tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((10, 8), \"float32\"), B: T.Buffer((8, 8), \"float32\")):\n"
                                "        P = T.alloc_buffer((10, 8))\n"
                                "        for h in range(8):\n"
                                "            for r, w in T.grid(3, 8):\n"
                                "                with T.block(\"rows\"):\n"
                                "                    vr = T.axis.spatial(10, h + r)\n"
                                "                    vw = T.axis.spatial(8, w)\n"
                                "                    T.reads(A[vr, vw])\n"
                                "                    T.writes(P[vr, vw])\n"
                                "                    P[vr, vw] = A[vr, vw] * T.float32(2)\n"
                                "            for w in range(8):\n"
                                "                with T.block(\"sum\"):\n"
                                "                    vh, vw = T.axis.remap(\"SS\", [h, w])\n"
                                "                    T.reads(P[vh:vh + 3, vw])\n"
                                "                    T.writes(B[vh, vw])\n"
                                "                    B[vh, vw] = P[vh, vw] + P[vh + 1, vw] + P[vh + 2, vw]\n");
    tg_module *flat = tg_test_lower(f, m);
    tg_test_has(f, flat, "P = T.decl_buffer((24,))");
}

static void a_buffer_nobody_uses_is_not_allocated(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                           "        C = T.alloc_buffer((1000,))\n"
                                           "        for i in range(8):\n"
                                           "            with T.block(\"a\"):\n"
                                           "                v = T.axis.spatial(8, i)\n"
                                           "                T.reads(A[v])\n"
                                           "                T.writes(B[v])\n"
                                           "                B[v] = A[v]\n");
    tg_test_has_not(f, tg_test_lower(f, m), "1000");
}

static void functions_without_blocks_stay_as_they_are(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_test_tir(f, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                           "        for i in range(8):\n            B[i] = A[i]\n");
    tg_module *c = tg_test_lower(f, m);
    assert_ptr_equal(c->funcs.at[0], m->funcs.at[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bindings_predicates_allocations_and_views, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(init_runs_at_the_start_of_the_reduction, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(domains_need_not_begin_at_zero, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(blocks_in_blocks, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_tile_becomes_a_small_array, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_is_carried_between_iterations_stays_outside, tg_test_setup,
                                        tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_guarded_write_is_no_overwrite, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(only_what_is_accessed_is_allocated, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_buffer_nobody_uses_is_not_allocated, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_without_blocks_stay_as_they_are, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
