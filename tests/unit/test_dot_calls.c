/* test_dot_calls.c: loops over bytes become dot_tile or tap_tile when they have the form, and stay when they have not. */
#include "same_values.h"

#define HEAD(x, w, acc)                                                                                                \
    TIR_FUNC "f(x: T.Buffer((" x ",), \"int8\"), w: T.Buffer((" w ",), \"int8\"), acc: T.Buffer((" acc                 \
             ",), \"int32\")):\n"
#define STORE(acc, x, w)                                                                                               \
    "            acc[" acc "] = acc[" acc "] + T.Cast(\"int32\", x[" x "]) * T.Cast(\"int32\", w[" w "])\n"

static const char *const good[] = {
    /* rows of a product: groups run through data and weights */
    HEAD("24", "48", "18") "        for i in range(18):\n            acc[i] = 0\n"
                           "        for k, p, r, l in T.grid(2, 4, 3, 6):\n" STORE("r * 6 + l", "r * 8 + k * 4 + p",
                                                                                   "k * 24 + l * 4 + p"),
    /* a window: rows of the kernel around columns and channels that lie behind each other; loops of one iteration
     * between */
    HEAD("200", "192", "8") "        for r, l in T.grid(2, 4):\n            acc[r * 4 + l] = 0\n"
                            "        for a, b, kw, c, p, u, r, l in T.grid(2, 1, 3, 2, 4, 1, 2, 4):\n" STORE(
                                "r * 4 + l + b", "a * 40 + kw * 8 + c * 4 + p + r * 8",
                                "a * 96 + kw * 32 + c * 16 + l * 4 + p"),
    /* one row; other orders of the loops */
    HEAD("8", "64", "10") "        for l in range(8):\n            acc[l + 2] = 0\n"
                          "        for l, k, p in T.grid(8, 2, 4):\n" STORE("l + 2", "k * 4 + p", "k * 32 + l * 4 + p"),
};

/* Products that move along the result. */
static const char *const taps[] = {
    /* a window of a depthwise convolution, with a stride of two pixels */
    HEAD("400", "72", "24") "        for r, l in T.grid(3, 8):\n            acc[r * 8 + l] = 0\n"
                            "        for a, b, r, l in T.grid(3, 3, 3, 8):\n" STORE("r * 8 + l", "a * 80 + b * 8 + r * 16 + l",
                                                                                  "a * 24 + b * 8 + l"),
    /* one row of the window, and one of the result */
    HEAD("64", "64", "16") "        for l in range(16):\n            acc[l] = 0\n"
                           "        for b, l in T.grid(4, 16):\n" STORE("l", "b * 16 + l", "b * 16 + l"),
};

static const char *const bad[] = {
    /* more products than the form allows */
    HEAD("640", "640", "16") "        for l in range(16):\n            acc[l] = 0\n"
                             "        for b, l in T.grid(33, 16):\n" STORE("l", "b * 16 + l", "b * 16 + l"),
    /* lanes of the weights lie apart */
    HEAD("64", "128", "16") "        for l in range(16):\n            acc[l] = 0\n"
                            "        for b, l in T.grid(4, 16):\n" STORE("l", "b * 16 + l", "b * 32 + l * 2"),
    /* the init leaves an accumulator out */
    HEAD("8", "64", "8") "        for l in range(7):\n            acc[l] = 0\n"
                         "        for k, p, l in T.grid(2, 4, 8):\n" STORE("l", "k * 4 + p", "k * 32 + l * 4 + p"),
    /* sums go on from what stands there */
    HEAD("8", "64", "8") "        for k, p, l in T.grid(2, 4, 8):\n" STORE("l", "k * 4 + p", "k * 32 + l * 4 + p"),
    /* groups that lie apart in the weights */
    HEAD("16", "128", "8") "        for l in range(8):\n            acc[l] = 0\n"
                           "        for a, k, p, l in T.grid(2, 2, 4, 8):\n" STORE("l", "a * 8 + k * 4 + p",
                                                                                   "a * 64 + k * 16 + l * 4 + p"),
    /* three in a group */
    HEAD("8", "64", "8") "        for l in range(8):\n            acc[l] = 0\n"
                         "        for k, p, l in T.grid(2, 3, 8):\n" STORE("l", "k * 4 + p", "k * 32 + l * 4 + p"),
};

static tg_module *after(tg_fixture *f, const char *text)
{
    return tg_test_pass(f, tg_test_tir(f, text), tg_pass_dot_calls, "dot-calls");
}

static void loops_of_the_form_become_calls(void **state)
{
    for (size_t i = 0; i < TG_COUNT(good); ++i) tg_test_has(*state, after(*state, good[i]), "T.dot_tile(");
    for (size_t i = 0; i < TG_COUNT(taps); ++i) tg_test_has(*state, after(*state, taps[i]), "T.tap_tile(");
}

static void other_loops_stay(void **state)
{
    for (size_t i = 0; i < TG_COUNT(bad); ++i) tg_test_has_not(*state, after(*state, bad[i]), "_tile(");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_of_the_form_become_calls, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(other_loops_stay, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
