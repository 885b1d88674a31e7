/* target.c: the target string ("c -mcpu=cortex-m4 -mattr=+dsp") and what it says of the machine.
 * Source: option names of TVM's C target, 0.8 to 0.16; those that only concern TVM's own executors are accepted and say nothing. */
#include "schedule.h"

#include "ir/diag.h"
#include "ir/text.h"

#include <string.h>

/* What a -mcpu= name implies; the first row whose name begins the given one counts. */
typedef struct cpu {
    const char *name;
    int32_t vector_bytes, vector_registers, l1_bytes, l2_bytes;
    bool dsp, unsigned_bytes;
} cpu;
static const cpu cpus[] = {
    { "generic", 0, 0, 0, 0, false, false },
    { "x86-64-v4", 64, 32, 32 << 10, 1 << 20, false, true },
    { "x86-64-v3", 32, 16, 32 << 10, 256 << 10, false, true },
    { "x86-64", 16, 16, 32 << 10, 256 << 10, false, false },
    { "haswell", 32, 16, 32 << 10, 256 << 10, false, true },
    { "core-avx2", 32, 16, 32 << 10, 256 << 10, false, true },
    { "broadwell", 32, 16, 32 << 10, 256 << 10, false, true },
    { "skylake-avx512", 64, 32, 32 << 10, 1 << 20, false, true },
    { "skylake", 32, 16, 32 << 10, 256 << 10, false, true },
    { "cascadelake", 64, 32, 32 << 10, 1 << 20, false, true },
    { "cooperlake", 64, 32, 32 << 10, 1 << 20, false, true },
    { "icelake", 64, 32, 48 << 10, 1 << 20, false, true },
    { "sapphirerapids", 64, 32, 48 << 10, 2 << 20, false, true },
    { "alderlake", 32, 16, 32 << 10, 1 << 20, false, true },
    { "znver4", 64, 32, 32 << 10, 1 << 20, false, true },
    { "znver", 32, 16, 32 << 10, 512 << 10, false, true },
    { "cortex-m0", 4, 8, 0, 0, false, false },
    { "cortex-m1", 4, 8, 0, 0, false, false },
    { "cortex-m23", 4, 8, 0, 0, false, false },
    { "cortex-m33", 4, 32, 0, 0, true, false },
    { "cortex-m35", 4, 32, 0, 0, true, false },
    { "cortex-m3", 4, 8, 0, 0, false, false },
    { "cortex-m4", 4, 32, 0, 0, true, false },
    { "cortex-m55", 16, 8, 0, 0, true, false },
    { "cortex-m85", 16, 8, 32 << 10, 0, true, false },
    { "cortex-m7", 4, 32, 16 << 10, 0, true, false },
    { "cortex-r", 4, 32, 16 << 10, 0, true, false },
    { "cortex-a", 16, 32, 32 << 10, 512 << 10, false, false },
    { "apple-", 16, 32, 64 << 10, 4 << 20, false, false },
    { "neoverse", 16, 32, 64 << 10, 1 << 20, false, false },
    { "rocket", 4, 32, 16 << 10, 0, false, false },
    { "sifive", 4, 32, 16 << 10, 0, false, false },
    { "generic-rv", 4, 32, 0, 0, false, false },
};

/* What a feature of -mattr= adds. */
static const struct {
    const char *name;
    int32_t vector_bytes, vector_registers;
    bool dsp;
} features[] = {
    { "sse2", 16, 16, false },       { "sse4.2", 16, 16, false },   { "avx", 32, 16, false },
    { "avx2", 32, 16, false },       { "fma", 0, 0, false },        { "avx512f", 64, 32, false },
    { "avx512bw", 64, 32, false },   { "avx512vl", 64, 32, false }, { "avx512dq", 64, 32, false },
    { "avx512vnni", 64, 32, false }, { "neon", 16, 32, false },     { "mve", 16, 8, true },
    { "dsp", 0, 0, true },           { "fp16", 0, 0, false },       { "fullfp16", 0, 0, false },
    { "fp-armv8", 0, 0, false },     { "vfp3", 0, 0, false },       { "vfp4", 0, 0, false },
    { "sve", 16, 32, false },        { "dotprod", 0, 0, false },    { "v", 16, 32, false },
};

/* Options without a meaning here. A name that ends in '=' has a value. */
static const char *const accepted[] = {
    "-keys=",
    "-link-params",
    "-link-params=",
    "-device=",
    "-model=",
    "-march=",
    "-mtriple=",
    "-mfloat-abi=",
    "-mabi=",
    "-runtime=",
    "-executor=",
    "-interface-api=",
    "-unpacked-api",
    "-unpacked-api=",
    "-workspace-byte-alignment=",
    "-constants-byte-alignment=",
    "-system-lib",
    "-system-lib=",
    "-libs=",
    "-tag=",
    "-host=",
    "-num-cores=",
    "-opt-level=",
    "-fast-math",
    "-fast-math=",
    "-from_device=",
};

typedef struct word {
    const char *at;
    size_t n;
} word;

static bool is_word(word w, const char *text)
{
    return strlen(text) == w.n && strncmp(w.at, text, w.n) == 0;
}

static bool begins(word w, const char *text)
{
    return strlen(text) <= w.n && strncmp(w.at, text, strlen(text)) == 0;
}

static bool next_word(const char **text, char separator, word *out)
{
    const char *p = *text;
    while (*p == separator || *p == ' ') ++p;
    out->at = p;
    while (*p != '\0' && *p != separator && *p != ' ') ++p;
    out->n = (size_t)(p - out->at);
    *text = p;
    return out->n > 0;
}

static void set_vectors(tg_target *t, int32_t bytes, int32_t registers)
{
    if (bytes <= t->vector_bytes) return;
    t->vector_bytes = bytes;
    t->vector_registers = registers;
}

/* Of the machine that compiles: asked for by -mcpu=native alone. */
static void use_native(tg_target *t)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") != 0, avx512 = __builtin_cpu_supports("avx512f") != 0;
    set_vectors(t, avx512 ? 64 : avx2 ? 32 : 16, avx512 ? 32 : 16);
    t->unsigned_bytes = avx2;
#elif defined(__aarch64__)
    set_vectors(t, 16, 32);
#endif
    t->l1_bytes = 32 << 10;
    t->l2_bytes = 512 << 10;
}

static void use_cpu(tg_ctx *cx, word name, tg_target *t)
{
    t->mcpu = tg_format(cx, "%.*s", (int)name.n, name.at);
    if (is_word(name, "native")) {
        use_native(t);
        return;
    }
    for (size_t i = 0; i < TG_COUNT(cpus); ++i) {
        if (!begins(name, cpus[i].name)) continue;
        set_vectors(t, cpus[i].vector_bytes, cpus[i].vector_registers);
        t->l1_bytes = cpus[i].l1_bytes;
        t->l2_bytes = cpus[i].l2_bytes;
        t->dsp = cpus[i].dsp;
        t->unsigned_bytes = cpus[i].unsigned_bytes;
        return;
    } /* a name we know nothing of: the portable tile fits */
}

static void use_features(tg_ctx *cx, word list, tg_target *t)
{
    const char *copy = t->mattr = tg_format(cx, "%.*s", (int)list.n, list.at);
    word w;
    while (next_word(&copy, ',', &w)) {
        bool on = w.at[0] != '-';
        if (w.at[0] == '+' || w.at[0] == '-') {
            ++w.at;
            --w.n;
        }
        for (size_t i = 0; on && i < TG_COUNT(features); ++i) {
            if (!is_word(w, features[i].name)) continue;
            set_vectors(t, features[i].vector_bytes, features[i].vector_registers);
            t->dsp = t->dsp || features[i].dsp;
        }
    }
}

static bool is_accepted(word w)
{
    for (size_t i = 0; i < TG_COUNT(accepted); ++i)
        if (accepted[i][strlen(accepted[i]) - 1] == '=' ? begins(w, accepted[i]) : is_word(w, accepted[i])) return true;
    return false;
}

bool tg_target_parse(tg_ctx *cx, const char *text, tg_target *out)
{
    word w;
    *out = (tg_target){ .kind = "c", .mcpu = "", .mattr = "" };
    if (text == NULL) return true;
    if (next_word(&text, ' ', &w)) {
        if (!is_word(w, "c")) {
            tg_error(cx, TG_NOWHERE, "target: kind \"%.*s\" is not known, only \"c\" is", (int)(w.n < 64 ? w.n : 64),
                     w.at);
            return false;
        }
    }
    while (next_word(&text, ' ', &w)) {
        if (w.n > 2 && w.at[0] == '-' && w.at[1] == '-') { /* one dash or two */
            ++w.at;
            --w.n;
        }
        if (begins(w, "-mcpu=")) use_cpu(cx, (word){ w.at + 6, w.n - 6 }, out);
        else if (begins(w, "-mattr=")) use_features(cx, (word){ w.at + 7, w.n - 7 }, out);
        else if (!is_accepted(w)) {
            size_t n = 0;
            while (n < w.n && w.at[n] != '=') ++n;
            tg_error(cx, TG_NOWHERE, "target: unknown option \"%.*s\"", (int)(n < 64 ? n : 64), w.at);
            return false;
        }
    }
    return true;
}
