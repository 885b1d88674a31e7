/* test_primitives.c: each primitive keeps what the function computes, or refuses and says why. */
#include "same_values.h"
#include "schedule/primitives.h"

/* C = A * B, D = max(C + bias, 0) */
#define PRODUCT                                                                                                        \
    TIR_FUNC "main(A: T.Buffer((6, 10), \"float32\"), B: T.Buffer((10, 8), \"float32\"), bias: T.Buffer((8,), "        \
             "\"float32\"), D: T.Buffer((6, 8), \"float32\")):\n"                                                      \
             "        C = T.alloc_buffer((6, 8))\n"                                                                    \
             "        for i, j, k in T.grid(6, 8, 10):\n"                                                              \
             "            with T.block(\"C\"):\n"                                                                      \
             "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                         \
             "                T.reads(A[vi, vk], B[vk, vj])\n"                                                         \
             "                T.writes(C[vi, vj])\n"                                                                   \
             "                with T.init():\n"                                                                        \
             "                    C[vi, vj] = T.float32(0)\n"                                                          \
             "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"                                         \
             "        for i, j in T.grid(6, 8):\n"                                                                     \
             "            with T.block(\"D\"):\n"                                                                      \
             "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"                                                 \
             "                T.reads(C[vi, vj], bias[vj])\n"                                                          \
             "                T.writes(D[vi, vj])\n"                                                                   \
             "                D[vi, vj] = T.max(C[vi, vj] + bias[vj], T.float32(0))\n"

/* P = padded A, S = sums over windows of three */
#define WINDOW                                                                                                         \
    TIR_FUNC "main(A: T.Buffer((9, 4), \"float32\"), S: T.Buffer((9, 4), \"float32\")):\n"                             \
             "        P = T.alloc_buffer((11, 4))\n"                                                                   \
             "        for h, c in T.grid(11, 4):\n"                                                                    \
             "            with T.block(\"P\"):\n"                                                                      \
             "                vh, vc = T.axis.remap(\"SS\", [h, c])\n"                                                 \
             "                T.reads(A[vh - 1, vc])\n"                                                                \
             "                T.writes(P[vh, vc])\n"                                                                   \
             "                P[vh, vc] = T.if_then_else(1 <= vh and vh < 10, A[vh - 1, vc], T.float32(0))\n"          \
             "        for h, c, k in T.grid(9, 4, 3):\n"                                                               \
             "            with T.block(\"S\"):\n"                                                                      \
             "                vh, vc, vk = T.axis.remap(\"SSR\", [h, c, k])\n"                                         \
             "                T.reads(P[vh + vk, vc])\n"                                                               \
             "                T.writes(S[vh, vc])\n"                                                                   \
             "                with T.init():\n"                                                                        \
             "                    S[vh, vc] = T.float32(0)\n"                                                          \
             "                S[vh, vc] = S[vh, vc] + P[vh + vk, vc]\n"

typedef struct bench {
    tg_fixture *f;
    tg_module *m;
    tg_target target;
    tg_sched *s;
} bench;

static bench start(tg_fixture *f, const char *text)
{
    bench b = { .f = f, .m = tg_test_tir(f, text), .target = { .kind = "c" } };
    b.s = tg_sched_open(f->cx, b.m->funcs.at[0], &b.target);
    assert_non_null(b.s);
    return b;
}

static tg_nest *block(const bench *b, const char *name)
{
    tg_nest *n = tg_nest_find(b->s, name);
    if (n == NULL) fail_msg("no block %s", name);
    return n;
}

static tg_nest *loop(const bench *b, const char *of, int i)
{
    tg_nest *loops[TG_MAX_LOOPS];
    int n = tg_nest_loops(block(b, of), loops, TG_MAX_LOOPS);
    assert_true(i < n);
    return loops[i];
}

/* The function as it is now computes what it did, as blocks and lowered to loops. */
static void check(const bench *b, const char *what)
{
    tg_module *now = tg_test_copy(b->f, b->m);
    tg_module_set(now, tg_sched_close(b->s));
    assert_true(tg_verify_module(b->f->cx, now, true));
    tg_test_same_values(b->f, b->m, now, what);
    tg_test_lower(b->f, now);
}

#define DONE(b, call)                                                                                                  \
    do {                                                                                                               \
        if (!(call)) fail_msg("%s: %s", #call, (b).s->why);                                                            \
        check(&(b), #call);                                                                                            \
    } while (0)
#define REFUSED(b, call, reason)                                                                                       \
    do {                                                                                                               \
        (b).s->why = "";                                                                                               \
        if (call) fail_msg("%s was done", #call);                                                                      \
        if (strstr((b).s->why, reason) == NULL) fail_msg("%s: refused because %s", #call, (b).s->why);                 \
        check(&(b), #call);                                                                                            \
    } while (0)

static void split_with_every_factor(void **state)
{
    for (int64_t factor = 1; factor <= 12; ++factor) {
        for (int i = 0; i < 3; ++i) {
            bench b = start(*state, PRODUCT);
            tg_nest *o, *in;
            DONE(b, tg_s_split(b.s, loop(&b, "C", i), factor, &o, &in));
            assert_int_equal(in->extent, factor);
        }
    }
    bench b = start(*state, PRODUCT);
    tg_nest *o, *in;
    REFUSED(b, tg_s_split(b.s, loop(&b, "C", 0), 0, &o, &in), "cannot be split");
    REFUSED(b, tg_s_split(b.s, block(&b, "C"), 2, &o, &in), "not a loop");
}

static void partition_at_every_place(void **state)
{
    for (int i = 0; i < 3; ++i) {
        for (int64_t at = 1; at < 10; ++at) {
            bench b = start(*state, PRODUCT);
            tg_nest *first, *rest;
            if (at >= loop(&b, "C", i)->extent)
                REFUSED(b, tg_s_partition(b.s, loop(&b, "C", i), at, &first, &rest), "no place");
            else DONE(b, tg_s_partition(b.s, loop(&b, "C", i), at, &first, &rest));
        }
    }
}

static void reorder_in_every_order(void **state)
{
    static const int order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (size_t i = 0; i < 6; ++i) {
        bench b = start(*state, PRODUCT);
        tg_nest *l[3] = { loop(&b, "C", order[i][0]), loop(&b, "C", order[i][1]), loop(&b, "C", order[i][2]) };
        DONE(b, tg_s_reorder(b.s, 3, l));
        for (int k = 0; k < 3; ++k) assert_ptr_equal(loop(&b, "C", k), l[k]);
    }
    bench b = start(*state, PRODUCT);
    REFUSED(b, tg_s_reorder(b.s, 2, (tg_nest *[]){ loop(&b, "C", 0), loop(&b, "D", 1) }), "not nested");
}

/* A loop that holds two blocks keeps its place: the second needs what the first wrote. */
static void reorder_refuses_two_blocks(void **state)
{
    bench b = start(*state, PRODUCT);
    DONE(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "D", 1)));
    REFUSED(b, tg_s_reorder(b.s, 2, (tg_nest *[]){ loop(&b, "D", 1), loop(&b, "D", 0) }), "more than one block");
}

/* Instances that see each other's results are not free: S[v] = S[v - 1] + A[v] */
static void reorder_refuses_blocks_that_depend_on_themselves(void **state)
{
    bench b = start(*state, TIR_FUNC "main(A: T.Buffer((5, 5), \"float32\"), S: T.Buffer((6, 6), \"float32\")):\n"
                                     "        for i, j in T.grid(5, 5):\n"
                                     "            with T.block(\"S\"):\n"
                                     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                     "                T.reads(A[vi, vj], S[vi, vj + 1])\n"
                                     "                T.writes(S[vi + 1, vj])\n"
                                     "                S[vi + 1, vj] = S[vi, vj + 1] + A[vi, vj]\n");
    REFUSED(b, tg_s_reorder(b.s, 2, (tg_nest *[]){ loop(&b, "S", 1), loop(&b, "S", 0) }), "depend on each other");
    REFUSED(b, tg_s_mark(b.s, loop(&b, "S", 1), TG_FOR_VECTORIZED), "depend on each other");
}

static void fuse_and_mark(void **state)
{
    bench b = start(*state, PRODUCT);
    tg_nest *fused, *o, *i;
    DONE(b, tg_s_fuse(b.s, loop(&b, "D", 0), loop(&b, "D", 1), &fused));
    assert_int_equal(fused->extent, 48);
    DONE(b, tg_s_split(b.s, fused, 7, &o, &i));
    DONE(b, tg_s_mark(b.s, i, TG_FOR_VECTORIZED));
    DONE(b, tg_s_mark(b.s, o, TG_FOR_UNROLLED));
    REFUSED(b, tg_s_mark(b.s, loop(&b, "C", 2), TG_FOR_VECTORIZED), "is a reduction");
    REFUSED(b, tg_s_fuse(b.s, loop(&b, "C", 0), loop(&b, "C", 2), &fused), "not all that stands");
    DONE(b, tg_s_fuse(b.s, loop(&b, "C", 1), loop(&b, "C", 2), &fused));
}

static void inline_into_a_reader(void **state)
{
    bench b = start(*state, WINDOW);
    DONE(b, tg_s_inline(b.s, block(&b, "P")));
    assert_null(tg_nest_find(b.s, "P"));
    b = start(*state, PRODUCT);
    REFUSED(b, tg_s_inline(b.s, block(&b, "C")), "more than store one value");
    REFUSED(b, tg_s_inline(b.s, block(&b, "D")), "seen outside");
}

/* What a block reads must still be there where it is inlined. */
static void inline_refuses_what_changes_in_between(void **state)
{
    bench b = start(*state, TIR_FUNC "main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                                     "        C = T.alloc_buffer((8,))\n"
                                     "        for i in range(8):\n"
                                     "            with T.block(\"C\"):\n"
                                     "                v = T.axis.spatial(8, i)\n"
                                     "                T.reads(A[v])\n"
                                     "                T.writes(C[v])\n"
                                     "                C[v] = A[v] * T.float32(2)\n"
                                     "        for i in range(8):\n"
                                     "            with T.block(\"A\"):\n"
                                     "                v = T.axis.spatial(8, i)\n"
                                     "                T.reads()\n"
                                     "                T.writes(A[v])\n"
                                     "                A[v] = T.float32(1)\n"
                                     "        for i in range(8):\n"
                                     "            with T.block(\"B\"):\n"
                                     "                v = T.axis.spatial(8, i)\n"
                                     "                T.reads(C[v])\n"
                                     "                T.writes(B[v])\n"
                                     "                B[v] = C[v]\n");
    REFUSED(b, tg_s_inline(b.s, block(&b, "C")), "changes");
    REFUSED(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "B", 0)), "changes");
}

static void compute_at_every_loop(void **state)
{
    for (int i = 0; i < 2; ++i) {
        bench b = start(*state, PRODUCT);
        DONE(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "D", i)));
        b = start(*state, WINDOW);
        DONE(b, tg_s_compute_at(b.s, block(&b, "P"), loop(&b, "S", i)));
    }
    bench b = start(*state, WINDOW);
    DONE(b, tg_s_compute_at(b.s, block(&b, "P"), loop(&b, "S", 2)));
}

/* Tiles that do not divide: the last one reads less, never beyond. */
static void compute_at_in_uneven_tiles(void **state)
{
    for (int64_t factor = 1; factor <= 9; ++factor) {
        bench b = start(*state, WINDOW);
        tg_nest *o, *i;
        DONE(b, tg_s_split(b.s, loop(&b, "S", 0), factor, &o, &i));
        DONE(b, tg_s_compute_at(b.s, block(&b, "P"), o));
        b = start(*state, PRODUCT);
        DONE(b, tg_s_split(b.s, loop(&b, "D", 1), factor, &o, &i));
        DONE(b, tg_s_compute_at(b.s, block(&b, "C"), o));
    }
}

static void compute_at_refuses_readers_outside(void **state)
{
    bench b = start(*state, PRODUCT);
    REFUSED(b, tg_s_compute_at(b.s, block(&b, "D"), loop(&b, "C", 0)), "seen outside");
    REFUSED(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "C", 0)), "already");
    tg_nest *o, *i;
    DONE(b, tg_s_split(b.s, loop(&b, "C", 2), 5, &o, &i));
    REFUSED(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "D", 0)), "taken apart");
}

static void cache_write_and_duplicate(void **state)
{
    bench b = start(*state, PRODUCT);
    tg_nest *copy = tg_s_cache_write(b.s, block(&b, "D"), "local");
    assert_non_null(copy);
    check(&b, "cache_write of an elementwise block");
    b = start(*state, WINDOW);
    copy = tg_s_cache_write(b.s, block(&b, "S"), "acc");
    assert_non_null(copy);
    check(&b, "cache_write of a reduction");
    tg_nest *loops[TG_MAX_LOOPS], *first, *rest;
    assert_int_equal(tg_nest_loops(copy, loops, TG_MAX_LOOPS), 2);
    DONE(b, tg_s_partition(b.s, loops[0], 5, &first, &rest));
    DONE(b, tg_s_duplicate(b.s, block(&b, "S"), tg_nest_next_block(NULL, rest)));
    DONE(b, tg_s_compute_at(b.s, block(&b, "S"), first));
    DONE(b, tg_s_compute_at(b.s, block(&b, "S_2"), rest));
    REFUSED(b, tg_s_duplicate(b.s, block(&b, "P"), block(&b, "P")), "cannot have a copy");
}

static void relayout_of_a_private_buffer(void **state)
{
    for (uint32_t last = 0; last < 2; ++last) {
        bench b = start(*state, PRODUCT);
        DONE(b, tg_s_relayout(b.s, block(&b, "C"), last));
        DONE(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "D", 0)));
    }
    bench b = start(*state, PRODUCT);
    REFUSED(b, tg_s_relayout(b.s, block(&b, "D"), 0), "given form");
    REFUSED(b, tg_s_relayout(b.s, block(&b, "C"), 2), "given form");
}

static void decompose_at_every_loop(void **state)
{
    for (int i = 0; i < 3; ++i) {
        bench b = start(*state, PRODUCT);
        DONE(b, tg_s_decompose(b.s, block(&b, "C"), loop(&b, "C", i)));
        assert_non_null(tg_nest_find(b.s, "C_init"));
        assert_false(block(&b, "C")->node->u.block->has_init);
    }
    bench b = start(*state, PRODUCT);
    DONE(b, tg_s_reorder(b.s, 2, (tg_nest *[]){ loop(&b, "C", 2), loop(&b, "C", 0) }));
    REFUSED(b, tg_s_decompose(b.s, block(&b, "C"), loop(&b, "C", 1)), "reduces too");
    REFUSED(b, tg_s_decompose(b.s, block(&b, "D"), loop(&b, "D", 0)), "no reduction");
    DONE(b, tg_s_decompose(b.s, block(&b, "C"), loop(&b, "C", 0)));
}

/* Splits that do not divide leave predicates: those of spatial loops concern the init too, those of reduce loops do not. */
static void decompose_with_predicates(void **state)
{
    bench b = start(*state, PRODUCT);
    tg_nest *o, *i, *ro, *ri;
    DONE(b, tg_s_split(b.s, loop(&b, "C", 1), 3, &o, &i));
    DONE(b, tg_s_split(b.s, loop(&b, "C", 3), 4, &ro, &ri));
    DONE(b, tg_s_decompose(b.s, block(&b, "C"), ro));
}

static void partial_sums(void **state)
{
    static const int64_t lanes[] = { 2, 5, 10 };
    for (size_t n = 0; n < TG_COUNT(lanes); ++n) {
        bench b = start(*state, PRODUCT);
        tg_nest *o, *i, *part;
        DONE(b, tg_s_split(b.s, loop(&b, "C", 2), lanes[n], &o, &i));
        DONE(b, (part = tg_s_rfactor(b.s, block(&b, "C"), i, "part")) != NULL);
        DONE(b, tg_s_compute_at(b.s, block(&b, "C"), loop(&b, "D", 0)));
        DONE(b, tg_s_compute_at(b.s, part, loop(&b, "D", 0)));
        DONE(b, tg_s_decompose(b.s, part, loop(&b, part->node->u.block->name->text, 1)));
    }
    bench b = start(*state, PRODUCT);
    REFUSED(b, tg_s_rfactor(b.s, block(&b, "C"), loop(&b, "C", 0), "part"), "does not reduce");
    tg_nest *o, *i;
    DONE(b, tg_s_split(b.s, loop(&b, "C", 2), 3, &o, &i));
    REFUSED(b, tg_s_rfactor(b.s, block(&b, "C"), i, "part"), "predicate");
}

/* A whole schedule, as the rules make it, with sizes that do not divide. */
static void many_primitives_after_another(void **state)
{
    bench b = start(*state, PRODUCT);
    tg_nest *io, *ii, *jo, *ji, *c = block(&b, "C");
    DONE(b, tg_s_split(b.s, loop(&b, "D", 1), 4, &jo, &ji));
    DONE(b, tg_s_split(b.s, loop(&b, "D", 0), 3, &io, &ii));
    DONE(b, tg_s_reorder(b.s, 4, (tg_nest *[]){ io, jo, ii, ji }));
    DONE(b, tg_s_compute_at(b.s, c, jo));
    DONE(b, tg_s_reorder(b.s, 3, (tg_nest *[]){ loop(&b, "C", 4), loop(&b, "C", 2), loop(&b, "C", 3) }));
    DONE(b, tg_s_decompose(b.s, c, loop(&b, "C", 2)));
    DONE(b, tg_s_mark(b.s, loop(&b, "C", 3), TG_FOR_UNROLLED));
    DONE(b, tg_s_mark(b.s, loop(&b, "C", 4), TG_FOR_VECTORIZED));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(split_with_every_factor),
        TEST(partition_at_every_place),
        TEST(reorder_in_every_order),
        TEST(reorder_refuses_two_blocks),
        TEST(reorder_refuses_blocks_that_depend_on_themselves),
        TEST(fuse_and_mark),
        TEST(inline_into_a_reader),
        TEST(inline_refuses_what_changes_in_between),
        TEST(compute_at_every_loop),
        TEST(compute_at_in_uneven_tiles),
        TEST(compute_at_refuses_readers_outside),
        TEST(cache_write_and_duplicate),
        TEST(relayout_of_a_private_buffer),
        TEST(decompose_at_every_loop),
        TEST(decompose_with_predicates),
        TEST(partial_sums),
        TEST(many_primitives_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
