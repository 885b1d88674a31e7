/* options.c: the command line of tirc: getopt_long_only over the rows of options.def, so that one dash or two will do. */
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    enum tirc_option id;
    const char *spelling, *argument, *values, *otherwise, *modes, *excludes, *help;
    const char *title;          /* of a group; the other members are empty then */
    bool alias;
} row;

static const row rows[] = {
#define TIRC_OPTION(id, spelling, argument, values, otherwise, modes, excludes, help) \
    { TIRC_##id, spelling, argument, values, otherwise, modes, excludes, help, NULL, false },
#define TIRC_ALIAS(spelling, id) { TIRC_##id, spelling, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true },
#define TIRC_GROUP(title) { TIRC_NOPTIONS, NULL, NULL, NULL, NULL, NULL, NULL, NULL, title, false },
#include "options.def"
#undef TIRC_OPTION
#undef TIRC_ALIAS
#undef TIRC_GROUP
};

#define NROWS (sizeof rows / sizeof rows[0])

void tirc_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("tirc: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

static const row *row_of(enum tirc_option id)
{
    for (size_t i = 0; i < NROWS; ++i)
        if (rows[i].id == id && !rows[i].alias) return &rows[i];
    return NULL;
}

static const row *row_spelled(const char *spelling)
{
    for (size_t i = 0; i < NROWS; ++i)
        if (rows[i].spelling != NULL && strcmp(rows[i].spelling, spelling) == 0) return &rows[i];
    return NULL;
}

/* ---- near spellings ---- */

enum { MAX_WORD = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete or replace between two short words; MAX_WORD when one is too long to be a misspelling. */
static size_t distance(const char *a, const char *b)
{
    size_t before[MAX_WORD + 1], now[MAX_WORD + 1], n = strlen(a), m = strlen(b);
    if (n > MAX_WORD || m > MAX_WORD) return MAX_WORD;
    for (size_t j = 0; j <= m; ++j) before[j] = j;
    for (size_t i = 1; i <= n; ++i) {
        now[0] = i;
        for (size_t j = 1; j <= m; ++j)
            now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
        memcpy(before, now, sizeof before);
    }
    return before[m];
}

const char *tirc_nearest(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t limit = 1 + strlen(word) / 4, found = limit + 1;
    for (size_t i = 0; i < n; ++i) {
        size_t d = distance(word, words[i]);
        if (d < found) {
            found = d;
            best = words[i];
        }
    }
    return best;
}

/* ---- what is wrong with an option ---- */

/* The name in "--name=value", copied to @p name; what follows is cut. */
static void bare_name(const char *arg, char name[MAX_WORD + 1])
{
    size_t n;
    while (*arg == '-') ++arg;
    n = least(strcspn(arg, "="), MAX_WORD);
    memcpy(name, arg, n);
    name[n] = '\0';
}

static void say_unknown(const char *arg)
{
    const char *words[NROWS], *near;
    char name[MAX_WORD + 1];
    size_t n = 0, prefixed = 0;
    bare_name(arg, name);
    for (size_t i = 0; i < NROWS; ++i) {
        if (rows[i].spelling == NULL) continue;
        words[n++] = rows[i].spelling;
        if (strncmp(rows[i].spelling, name, strlen(name)) == 0) ++prefixed;
    }
    if (row_spelled(name) != NULL) {
        tirc_say("option '%s': takes no value", arg);
        return;
    }
    if (prefixed > 1 && name[0] != '\0') {
        fprintf(stderr, "tirc: option '%s' is not clear: could be", arg);
        for (size_t i = 0; i < n; ++i)
            if (strncmp(words[i], name, strlen(name)) == 0) fprintf(stderr, " -%s", words[i]);
        fputc('\n', stderr);
        return;
    }
    near = tirc_nearest(name, words, n);
    if (near != NULL)
        tirc_say("unknown option '%s'; did you mean -%s?", arg, near);
    else
        tirc_say("unknown option '%s'; tirc --help lists them", arg);
}

static bool is_one_of(const char *values, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = values; at != NULL; at = strchr(at, '|')) {
        if (*at == '|') ++at;
        if (strncmp(at, value, len) == 0 && (at[len] == '|' || at[len] == '\0')) return true;
    }
    return false;
}

static bool mode_allows(const row *r, enum tirc_mode mode)
{
    static const char letter[] = { [TIRC_COMPILE] = 'C', [TIRC_VERIFY] = 'V', [TIRC_RUN] = 'R' };
    return strchr(r->modes, letter[mode]) != NULL;
}

static bool check_given(const tirc_args *args, const tirc_given *g)
{
    static const char *const verb[] = { "compiling to C", "tirc verify", "tirc run" };
    const row *r = row_of(g->id), *other;
    if (!mode_allows(r, args->mode)) {
        tirc_say("option '-%s' has no meaning for %s", r->spelling, verb[args->mode]);
        return false;
    }
    if (r->values[0] != '\0' && !is_one_of(r->values, g->value)) {
        tirc_say("option '-%s': '%s' is not one of %s", r->spelling, g->value, r->values);
        return false;
    }
    if (g->value[0] == '\0') {
        tirc_say("option '-%s' needs a value: %s", r->spelling, r->argument);
        return false;
    }
    other = row_spelled(r->excludes);
    if (other != NULL && tirc_option(args, other->id) != NULL) {
        tirc_say("options '-%s' and '-%s' exclude each other", r->spelling, other->spelling);
        return false;
    }
    return true;
}

/* ---- reading ---- */

static void no_memory(void)
{
    tirc_say("out of memory");
    exit(1);
}

enum { FIRST_ROW = 256 };    /* beyond what getopt itself returns: ':', '?' and other characters */

static void fill_table(struct option *table)
{
    size_t n = 0;
    for (size_t i = 0; i < NROWS; ++i) {
        const row *r = &rows[i];
        if (r->spelling == NULL) continue;
        table[n].name = r->spelling;
        table[n].has_arg = row_of(r->id)->argument[0] == '\0' ? optional_argument : required_argument;
        table[n].flag = NULL;
        table[n].val = FIRST_ROW + (int)i;
        ++n;
    }
    memset(&table[n], 0, sizeof table[n]);
}

bool tirc_options_read(tirc_args *args, int argc, char **argv)
{
    struct option table[NROWS + 1];
    int c;
    memset(args, 0, sizeof *args);
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    if (args->given == NULL) no_memory();
    if (argc > 1 && (strcmp(argv[1], "verify") == 0 || strcmp(argv[1], "run") == 0)) {
        args->mode = argv[1][0] == 'v' ? TIRC_VERIFY : TIRC_RUN;
        argv[1] = argv[0];
        ++argv;
        --argc;
    }
    fill_table(table);
    opterr = 0;
    while ((c = getopt_long_only(argc, argv, ":", table, NULL)) != -1) {
        if (c == ':') {
            char name[MAX_WORD + 1];
            bare_name(argv[optind - 1], name);
            const row *r = row_spelled(name);
            tirc_say("option '%s' needs a value%s%s", argv[optind - 1], r == NULL ? "" : ": ",
                     r == NULL ? "" : row_of(r->id)->argument);
            return false;
        }
        if (c == '?') {
            say_unknown(argv[optind - 1]);
            return false;
        }
        args->given[args->ngiven].id = rows[c - FIRST_ROW].id;
        args->given[args->ngiven].value = optarg == NULL ? "1" : optarg;
        ++args->ngiven;
    }
    args->model = argv + optind;
    args->nmodels = (size_t)(argc - optind);
    if (tirc_option_on(args, TIRC_HELP) || tirc_option_on(args, TIRC_VERSION)) return true;
    for (size_t i = 0; i < args->ngiven; ++i)
        if (!check_given(args, &args->given[i])) return false;
    return true;
}

void tirc_options_free(tirc_args *args)
{
    free(args->given);
    memset(args, 0, sizeof *args);
}

/* ---- asking ---- */

const char *tirc_option(const tirc_args *args, enum tirc_option id)
{
    for (size_t i = args->ngiven; i-- > 0;)
        if (args->given[i].id == id) return args->given[i].value;
    return NULL;
}

bool tirc_option_on(const tirc_args *args, enum tirc_option id)
{
    const char *value = tirc_option(args, id);
    return value != NULL && strcmp(value, "0") != 0;
}

bool tirc_option_number(const tirc_args *args, enum tirc_option id, double *out)
{
    const char *value = tirc_option(args, id);
    char *end;
    double v;
    if (value == NULL) return true;
    v = strtod(value, &end);
    if (end == value || *end != '\0' || !(v >= 0) || v > 1e300) {
        tirc_say("option '%s': '%s' is not a number from 0", tirc_option_name(id), value);
        return false;
    }
    *out = v;
    return true;
}

size_t tirc_option_count(const tirc_args *args, enum tirc_option id)
{
    size_t n = 0;
    for (size_t i = 0; i < args->ngiven; ++i)
        if (args->given[i].id == id) ++n;
    return n;
}

const char *tirc_option_at(const tirc_args *args, enum tirc_option id, size_t k)
{
    for (size_t i = 0; i < args->ngiven; ++i)
        if (args->given[i].id == id && k-- == 0) return args->given[i].value;
    return NULL;
}

const char *tirc_option_name(enum tirc_option id)
{
    static const char *const names[] = {
#define TIRC_OPTION(id, spelling, ...) "-" spelling,
#define TIRC_ALIAS(spelling, id)
#define TIRC_GROUP(title)
#include "options.def"
#undef TIRC_OPTION
#undef TIRC_ALIAS
#undef TIRC_GROUP
    };
    return names[id];
}

/* ---- --help ---- */

static void help_row(FILE *out, const row *r)
{
    char left[80];
    int n = snprintf(left, sizeof left, "-%s%s%s", r->spelling, r->argument[0] == '\0' ? "" : "=", r->argument);
    fprintf(out, "  %s%*s%s", left, n < 30 ? 30 - n : 1, "", r->help);
    if (r->otherwise[0] != '\0' && strcmp(r->otherwise, "0") != 0) fprintf(out, " [%s]", r->otherwise);
    fputc('\n', out);
    for (size_t i = 0; i < NROWS; ++i)
        if (rows[i].alias && rows[i].id == r->id) fprintf(out, "  %30salso -%s\n", "", rows[i].spelling);
}

void tirc_options_help(FILE *out)
{
    fputs("usage: tirc MODEL... [-target c] [-prefix P] [-params FILE] [-o DIR]    the model as C, in DIR\n"
          "       tirc MODEL... -emit=relay|tensorir|tir [-stop-after=PASS]       the model as text\n"
          "       tirc verify MODEL... [-input X.npy]... [-expect Y.npy]...       compile, run, compare\n"
          "       tirc run MODEL... -input X.npy... -output Y.npy...              compile and run\n"
          "MODEL is Relay text or TVMScript; several files merge into one module. Options take one dash or two, and their\n"
          "value after = or as the next word. Exit status: 0 good, 1 the input is wrong, 2 the command line is wrong.\n",
          out);
    for (size_t i = 0; i < NROWS; ++i) {
        if (rows[i].title != NULL)
            fprintf(out, "\n%s:\n", rows[i].title);
        else if (!rows[i].alias)
            help_row(out, &rows[i]);
    }
}
