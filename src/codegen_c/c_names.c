/* c_names.c: the one place where names become C identifiers.
 *
 * A name keeps its letters and digits; every run of other characters becomes one underscore. None starts or ends with an
 * underscore or holds two in a row; one that begins with a digit or is a word of C or C++, of a standard header or a usual
 * macro gets v_ in front. Two different things that are visible at one place never share a name: the later one gets _1, _2
 * and so on, in the order of the text, so that the same input always gives the same names. Names longer than C99 promises to
 * tell apart end in a hash of the whole. */
#include "emit.h"

#include <string.h>

enum { SIGNIFICANT = 63, KEPT = 54 };   /* C99 5.2.4.1: initial characters of an internal identifier that count */

struct c_cell {
    uint32_t visible;           /* how many things in scope bear this name; a global one never leaves */
    uint32_t epoch, next;       /* the suffix to try next, in this function */
};

static const char *const words[] = {
    /* C */
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "alignas", "alignof", "bool", "constexpr", "false",
    "nullptr", "static_assert", "thread_local", "true", "typeof", "typeof_unqual", "noreturn", "complex", "imaginary", "asm",
    "fortran",
    /* C++ */
    "and", "and_eq", "atomic_cancel", "atomic_commit", "atomic_noexcept", "bitand", "bitor", "catch", "char8_t", "char16_t",
    "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constinit",
    "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace",
    "new", "noexcept", "not", "not_eq", "operator", "or", "or_eq", "private", "protected", "public", "reflexpr",
    "reinterpret_cast", "requires", "static_cast", "synchronized", "template", "this", "throw", "try", "typeid", "typename",
    "using", "virtual", "wchar_t", "xor", "xor_eq", "std",
    /* macros that are not spelled like macros, and those of compilers for small machines */
    "errno", "I", "unix", "linux", "i386", "sun", "sparc", "mips", "vax", "m68k", "hpux", "near", "far", "huge", "pascal",
    "cdecl", "interrupt", "reentrant", "sbit", "sfr", "min", "max", "assert",
    "offsetof", "setjmp", "stdin", "stdout", "stderr", "signgam", "va_arg", "va_copy", "va_end", "va_start", "NULL", "EOF", "NAN",
    "INFINITY", "BUFSIZ", "TRUE", "FALSE", "DOMAIN", "SING", "OVERFLOW", "UNDERFLOW", "PLOSS", "TLOSS", "HUGE", "MAXFLOAT",
    "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "CHAR_BIT", "RAND_MAX", "PI", "main",
    /* math.h, with what Unix systems add */
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "exp10", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb", "ldexp", "lgamma",
    "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter",
    "nexttoward", "pow", "pow10", "remainder", "remquo", "rint", "round", "roundeven", "scalbln", "scalbn", "sin", "sincos",
    "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "acosf", "acoshf", "asinf", "asinhf", "atanf", "atan2f", "atanhf", "cbrtf",
    "ceilf", "copysignf", "cosf", "coshf", "erff", "erfcf", "expf", "exp2f", "exp10f", "expm1f", "fabsf", "fdimf", "floorf", "fmaf",
    "fmaxf", "fminf", "fmodf", "frexpf", "hypotf", "ilogbf", "ldexpf", "lgammaf", "logf", "log10f", "log1pf", "log2f", "logbf",
    "lrintf", "lroundf", "modff", "nanf", "nearbyintf", "nextafterf", "powf", "remainderf", "rintf", "roundf", "scalbnf", "sinf",
    "sinhf", "sqrtf", "tanf", "tanhf", "tgammaf", "truncf", "isnan", "isinf", "isfinite", "isnormal", "signbit", "fpclassify",
    "isgreater", "isless", "isunordered", "y0", "y1", "yn", "j0", "j1", "jn", "y0f", "y1f", "ynf", "j0f", "j1f", "jnf", "gamma",
    "gammaf", "drem", "scalb", "significand", "finite", "float_t", "double_t",
    /* other functions and types that compilers know or headers bring along */
    "abort", "abs", "atexit", "atof", "atoi", "atol", "bsearch", "calloc", "clock", "div", "exit", "free", "getenv", "labs", "ldiv",
    "llabs", "malloc", "qsort", "rand", "realloc", "srand", "strtod", "strtol", "system", "memchr", "memcmp", "memcpy", "memmove",
    "memset", "strcat", "strchr", "strcmp", "strcpy", "strlen", "strncat", "strncmp", "strncpy", "strrchr", "strstr", "strtok",
    "strdup", "bcmp", "bcopy", "bzero", "ffs", "rindex", "printf", "fprintf", "sprintf", "snprintf", "puts", "putchar",
    "scanf", "fopen", "fclose", "fread", "fwrite", "getc", "gets", "putc", "remove", "rename", "isalpha", "isdigit", "islower",
    "isspace", "isupper", "tolower", "toupper", "signal", "raise", "longjmp", "alloca",
    "FILE", "size_t", "ptrdiff_t", "ssize_t", "div_t", "time_t", "va_list", "jmp_buf", "max_align_t",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "intmax_t",
    "uintmax_t", "int_fast8_t", "int_least8_t", "uint", "ushort", "ulong", "half",
    /* what the packed convention brings */
    "DLTensor", "DLDevice", "DLDataType", "DLManagedTensor", "TVMValue", "TVMFunctionHandle", "TVMFuncCall"
};

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Families of macros that headers may define at any time: E2BIG, SIGINT, LC_ALL, PRId32, INT_MAX … */
static bool in_family(const char *n)
{
    if (n[0] == 'E' && (is_upper(n[1]) || is_digit(n[1])))
        return true;
    if (begins(n, "SIG") && (is_upper(n[3]) || n[3] == '_'))
        return true;
    if ((begins(n, "LC_") || begins(n, "FE_") || begins(n, "FP_")) && is_upper(n[3]))
        return true;
    if ((begins(n, "PRI") || begins(n, "SCN")) && (is_lower(n[3]) || n[3] == 'X'))
        return true;
    if ((begins(n, "INT") || begins(n, "UINT")) && strchr(n, '_') != NULL && is_upper(n[strlen(n) - 1]) && !is_lower(n[4]))
        return true;
    if ((begins(n, "FLT_") || begins(n, "DBL_") || begins(n, "LDBL_") || begins(n, "M_")) && is_upper(n[strlen(n) - 1]))
        return true;
    return begins(n, "TIRGEN_") || begins(n, "kTVM") || begins(n, "kDL");
}

bool c_is_reserved(const char *name)
{
    for (size_t i = 0; i < TG_COUNT(words); ++i)
        if (strcmp(name, words[i]) == 0)
            return true;
    return in_family(name);
}

bool c_is_identifier(const char *name)
{
    if (is_digit(name[0]) || name[0] == '\0')
        return false;
    for (const char *p = name; *p != '\0'; ++p)
        if (!is_word(*p) && *p != '_')
            return false;
    return true;
}

/* ---- making a name ---- */

static const char *shorten(tg_emit *e, char *name, size_t n, const char *whole, size_t whole_n)
{
    if (n <= SIGNIFICANT)
        return name;
    uint64_t h = tg_hash(whole, whole_n, 0);
    size_t kept = KEPT;
    while (kept > KEPT / 2 && name[kept] != '_')        /* whole words, where they are short enough */
        --kept;
    kept = kept > KEPT / 2 ? kept : KEPT;
    while (kept > 1 && name[kept - 1] == '_')
        --kept;
    return tg_format(e->cx, "%.*s_%08x", (int)kept, name, (unsigned)(uint32_t)(h ^ h >> 32));
}

const char *c_clean(tg_emit *e, const char *hint, size_t n, const char *otherwise)
{
    char *to = tg_temp(e->cx, n + 4);
    size_t k = 0;
    for (size_t i = 0; i < n; ++i) {
        if (is_word(hint[i]))
            to[k++] = hint[i];
        else if (k > 0 && to[k - 1] != '_')
            to[k++] = '_';
    }
    if (k > 0 && to[k - 1] == '_')
        --k;
    to[k] = '\0';
    if (k == 0)
        return otherwise;
    if (is_digit(to[0]) || c_is_reserved(to)) {
        memmove(to + 2, to, k + 1);
        memcpy(to, "v_", 2);
        k += 2;
    }
    return shorten(e, to, k, hint, n);
}

const char *c_upper(tg_emit *e, const char *name)
{
    size_t n = strlen(name);
    char *to = tg_temp(e->cx, n + 1);
    for (size_t i = 0; i <= n; ++i)
        to[i] = is_lower(name[i]) ? (char)(name[i] - 'a' + 'A') : name[i];
    return to;
}

/* ---- making it unique ---- */

static struct c_cell *cell_of(tg_emit *e, const tg_name *name)
{
    struct c_cell *c = tg_map_get(&e->cell, TG_KEY(name));
    if (c == NULL) {
        c = tg_temp(e->cx, sizeof *c);
        *c = (struct c_cell){ 0, 0, 0 };
        tg_map_put(e->cx, &e->cell, TG_KEY(name), c);
    }
    return c;
}

void c_reserve(tg_emit *e, const char *name)
{
    ++cell_of(e, tg_intern_z(e->cx, name))->visible;
}

/* The first of base, base_1, base_2 … that nothing visible bears. */
static const tg_name *unique(tg_emit *e, const char *base)
{
    enum { FEW = 8 };           /* so many low suffixes are tried again, since they come free when a scope ends */
    const tg_name *name = tg_intern_z(e->cx, base);
    struct c_cell *first = cell_of(e, name);
    if (first->visible == 0)
        return name;
    if (first->epoch != e->epoch) {
        first->epoch = e->epoch;
        first->next = 1;
    }
    for (uint32_t i = 1;; ++i) {
        if (i > FEW && i < first->next)
            i = first->next;
        name = tg_internf(e->cx, "%s_%u", base, (unsigned)i);
        if (cell_of(e, name)->visible != 0)
            continue;
        first->next = i + 1;
        return name;
    }
}

const tg_name *c_global(tg_emit *e, const char *hint, size_t n, const char *otherwise)
{
    const tg_name *name = unique(e, c_clean(e, hint, n, otherwise));
    ++cell_of(e, name)->visible;
    return name;
}

const tg_name *c_local(tg_emit *e, const char *hint, size_t n, const char *otherwise)
{
    const tg_name *name = unique(e, c_clean(e, hint, n, otherwise));
    struct c_cell *c = cell_of(e, name);
    ++c->visible;
    if (e->nvisible == e->cvisible) {
        size_t cap = e->cvisible == 0 ? 64 : e->cvisible * 2;
        struct c_cell **to = TG_TEMP_ARRAY(e->cx, struct c_cell *, cap);
        if (e->nvisible > 0)
            memcpy(to, e->visible, e->nvisible * sizeof to[0]);
        e->visible = to;
        e->cvisible = cap;
    }
    e->visible[e->nvisible++] = c;
    return name;
}

size_t c_scope_open(tg_emit *e)
{
    return e->nvisible;
}

void c_scope_close(tg_emit *e, size_t mark)
{
    while (e->nvisible > mark)
        --e->visible[--e->nvisible]->visible;
}

/* ---- the prefix ---- */

const char *tg_prefix_check(const char *prefix)
{
    if (prefix == NULL || prefix[0] == '\0')
        return "is empty";
    if (prefix[0] == '_')
        return "starts with an underscore: such names belong to the compiler";
    if (is_digit(prefix[0]))
        return "starts with a digit";
    for (const char *p = prefix; *p != '\0'; ++p) {
        if (!is_word(*p) && *p != '_')
            return "may hold only letters of the English alphabet, digits and underscores";
        if (p[0] == '_' && p[1] == '_')
            return "has two underscores in a row: such names belong to C++";
        if (p[0] == '_' && p[1] == '\0')
            return "ends with an underscore, which would give two in a row in every symbol";
    }
    if (strlen(prefix) + strlen("_run_with_workspace") > SIGNIFICANT)
        return "is longer than 44 characters: its symbols would pass the 63 that C99 tells apart";
    if (in_family(prefix))
        return "belongs to a family of names that headers define as macros";
    if (c_is_reserved(prefix))
        return "is a word of C or C++ or a name from their libraries";
    if (strcmp(prefix, "tirgen") == 0 || begins(prefix, "tirgen_rt"))
        return "belongs to the runtime library";
    return NULL;
}
