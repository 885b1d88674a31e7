/* test_options.c: the command line of tirc (src/driver/options.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <getopt.h>
#include <cmocka.h>

#include "driver/options.h"

enum { MAX_WORDS = 12 };

/* Reads "tirc" and the words of @p line; what is said goes to @p said (of @p room bytes). */
static bool read_line(tirc_args *args, const char *line, char *said, size_t room)
{
    static char text[512], *argv[MAX_WORDS + 2];
    int argc = 0, keep = dup(STDERR_FILENO);
    FILE *catch = tmpfile();
    bool good;
    assert_non_null(catch);
    strcpy(text, line);
    argv[argc++] = strcpy(text + 500, "tirc");
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    optind = 0;                 /* getopt's own state: start anew */
    fflush(stderr);
    dup2(fileno(catch), STDERR_FILENO);
    good = tirc_options_read(args, argc, argv);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(catch);
    said[fread(said, 1, room - 1, catch)] = '\0';
    fclose(catch);
    return good;
}

static void values_come_after_an_equals_sign_or_as_the_next_word(void **state)
{
    static const char *const lines[] = { "-prefix=p m.relay -o d", "--prefix p m.relay --output=d", "m.relay -pref p -output d" };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        tirc_args args;
        char said[512];
        assert_true(read_line(&args, lines[i], said, sizeof said));
        assert_string_equal(said, "");
        assert_string_equal(tirc_option(&args, TIRC_PREFIX), "p");
        assert_string_equal(tirc_option(&args, TIRC_OUTPUT), "d");
        assert_int_equal(args.nmodels, 1);
        assert_string_equal(args.model[0], "m.relay");
        tirc_options_free(&args);
    }
}

static void the_last_value_counts_and_all_are_kept(void **state)
{
    tirc_args args;
    char said[512];
    (void)state;
    assert_true(read_line(&args, "verify -input a -input b m -rtol 1 -rtol 2", said, sizeof said));
    assert_int_equal(args.mode, TIRC_VERIFY);
    assert_int_equal(tirc_option_count(&args, TIRC_INPUT), 2);
    assert_string_equal(tirc_option_at(&args, TIRC_INPUT, 0), "a");
    assert_string_equal(tirc_option_at(&args, TIRC_INPUT, 1), "b");
    assert_null(tirc_option_at(&args, TIRC_INPUT, 2));
    assert_string_equal(tirc_option(&args, TIRC_RTOL), "2");
    tirc_options_free(&args);
}

static void a_switch_is_on_alone_and_off_with_0(void **state)
{
    tirc_args args;
    char said[512];
    (void)state;
    assert_true(read_line(&args, "-time-passes -keep-layout=0 m", said, sizeof said));
    assert_true(tirc_option_on(&args, TIRC_TIME_PASSES));
    assert_false(tirc_option_on(&args, TIRC_KEEP_LAYOUT));
    assert_false(tirc_option_on(&args, TIRC_VERBOSE));
    tirc_options_free(&args);
}

static void spellings_of_tvm_are_the_same_options(void **state)
{
    tirc_args args;
    char said[512];
    (void)state;
    assert_true(read_line(&args, "--executor-aot-interface-api=packed --target-c-constants-byte-alignment 8 m", said, sizeof said));
    assert_string_equal(tirc_option(&args, TIRC_INTERFACE_API), "packed");
    assert_string_equal(tirc_option(&args, TIRC_CONSTANT_ALIGN), "8");
    tirc_options_free(&args);
}

static const struct { const char *line, *said; } wrong[] = {
    { "-prefx=a m", "tirc: unknown option '-prefx=a'; did you mean -prefix?\n" },
    { "--zzz m", "tirc: unknown option '--zzz'; tirc --help lists them\n" },
    { "m -p a", "tirc: option '-p' is not clear: could be -prefix -params -parallel -passes -print-after\n" },
    { "m -params", "tirc: option '-params' needs a value: FILE\n" },
    { "m -prefix=", "tirc: option '-prefix' needs a value: P\n" },
    { "m -emit=relai", "tirc: option '-emit': 'relai' is not one of c|relay|tensorir|tir\n" },
    { "m -emit=rel", "tirc: option '-emit': 'rel' is not one of c|relay|tensorir|tir\n" },
    { "m -expect y.npy", "tirc: option '-expect' has no meaning for compiling to C\n" },
    { "verify m -output y.npy", "tirc: option '-output' has no meaning for tirc verify\n" },
    { "run m -evaluator -cc gcc", "tirc: options '-evaluator' and '-cc' exclude each other\n" },
    { "m -executor=graph", "tirc: option '-executor': 'graph' is not one of aot\n" },
};

static void what_is_wrong_is_said_with_the_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        tirc_args args;
        char said[512];
        assert_false(read_line(&args, wrong[i].line, said, sizeof said));
        assert_string_equal(said, wrong[i].said);
        tirc_options_free(&args);
    }
}

static void numbers_are_checked(void **state)
{
    tirc_args args;
    char said[512];
    double v = 7;
    (void)state;
    assert_true(read_line(&args, "verify m -rtol 1e-2 -atol=-1 -seed=nan", said, sizeof said));
    assert_true(tirc_option_number(&args, TIRC_RTOL, &v));
    assert_true(v == 1e-2);
    assert_false(tirc_option_number(&args, TIRC_ATOL, &v));
    assert_false(tirc_option_number(&args, TIRC_SEED, &v));
    assert_true(v == 1e-2);
    tirc_options_free(&args);
}

static void the_nearest_word_is_near(void **state)
{
    static const char *const words[] = { "fuse-ops", "fold-const", "lower-ops" };
    (void)state;
    assert_string_equal(tirc_nearest("fuse-op", words, 3), "fuse-ops");
    assert_string_equal(tirc_nearest("flod-const", words, 3), "fold-const");
    assert_null(tirc_nearest("simplify", words, 3));
}

/* Every row, whatever its number: getopt's own answers are small numbers too. */
static void every_option_is_known_by_its_spelling(void **state)
{
    (void)state;
    for (int id = 0; id < TIRC_NOPTIONS; ++id) {
        tirc_args args;
        char said[512], line[128];
        snprintf(line, sizeof line, "-help %s=1 m", tirc_option_name((enum tirc_option)id));
        assert_true(read_line(&args, line, said, sizeof said));
        assert_string_equal(said, "");
        assert_true(tirc_option_count(&args, (enum tirc_option)id) >= 1);
        tirc_options_free(&args);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_known_by_its_spelling),
        cmocka_unit_test(values_come_after_an_equals_sign_or_as_the_next_word),
        cmocka_unit_test(the_last_value_counts_and_all_are_kept),
        cmocka_unit_test(a_switch_is_on_alone_and_off_with_0),
        cmocka_unit_test(spellings_of_tvm_are_the_same_options),
        cmocka_unit_test(what_is_wrong_is_said_with_the_option),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(the_nearest_word_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
