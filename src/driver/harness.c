/* harness.c: the small main program around emitted C. It reads input_N.bin, runs the model, writes output_N.bin, all in its
 * working folder. The buffers are exactly as large as the tensors, so that a checking C library notices a write outside. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tirc_harness_file(char *name, size_t room, bool input, size_t i)
{
    snprintf(name, room, "%s_%zu.bin", input ? "input" : "output", i);
}

void tirc_harness_words(tirc_words *w, const char *prefix, bool has_workspace, const char *runtime)
{
    static const char *const flags[] = { "-std=c99", "-O2", "-I." };
    char text[4096];
    tirc_words all = { 0 };
    tirc_words_add(&all, w->word[0]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) tirc_words_add(&all, flags[i]);
    if (runtime != NULL) {
        snprintf(text, sizeof text, "-I%s/include", runtime);
        tirc_words_add(&all, text);
    }
    for (unsigned i = 1; i < w->n; ++i) tirc_words_add(&all, w->word[i]);
    snprintf(text, sizeof text, "%s.c", prefix);
    tirc_words_add(&all, text);
    if (has_workspace) {
        snprintf(text, sizeof text, "%s_workspace.c", prefix);
        tirc_words_add(&all, text);
    }
    tirc_words_add(&all, TIRC_HARNESS_C);
    tirc_words_add(&all, "-lm");
    tirc_words_add(&all, "-o");
    tirc_words_add(&all, TIRC_HARNESS_PROGRAM);
    tirc_words_free(w);
    *w = all;
}

static bool put(tirc_output *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool put(tirc_output *to, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    int n;
    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return n >= 0 && (size_t)n < sizeof text && tirc_output_bytes(to, text, (size_t)n);
}

static const char files[] =
    "static int transfer(const char *name, int input, void *at, size_t n)\n"
    "{\n"
    "    FILE *f = fopen(name, input ? \"rb\" : \"wb\");\n"
    "    size_t done = f == NULL ? 0 : input ? fread(at, 1, n, f) : fwrite(at, 1, n, f);\n"
    "    int good = f != NULL && done == n;\n"
    "    if (f != NULL && fclose(f) != 0) good = 0;\n"
    "    if (!good) perror(name);\n"
    "    return good;\n"
    "}\n\n";

/* One buffer for each tensor, inputs read. */
static bool put_buffers(tirc_output *to, const tirgen_tensor_info *info, size_t nin, size_t nout)
{
    bool good = put(to, "    void *at[%zu];\n    int status;\n", nin + nout + 1);
    for (size_t i = 0; good && i < nin + nout; ++i)
        good = put(to, "    at[%zu] = malloc(%zu);\n    if (at[%zu] == NULL) return 1;\n", i,
                   info[i].size_bytes == 0 ? (size_t)1 : info[i].size_bytes, i);
    for (size_t i = 0; good && i < nin; ++i) {
        char name[64];
        tirc_harness_file(name, sizeof name, true, i);
        good = put(to, "    if (!transfer(\"%s\", 1, at[%zu], %zu)) return 1;\n", name, i, info[i].size_bytes);
    }
    return good;
}

/* The structs hold nothing but pointers, in the model's order. */
static bool put_struct(tirc_output *to, const char *prefix, const char *what, size_t first, size_t n)
{
    if (n == 0) return true;
    return put(to, "    if (sizeof %s != %zu * sizeof at[0]) return 1;\n    memcpy(&%s, at + %zu, sizeof %s);\n", what, n, what, first, what)
           && prefix != NULL;
}

static bool put_c_call(tirc_output *to, const char *prefix, size_t nin, size_t nout)
{
    return put_struct(to, prefix, "inputs", 0, nin) && put_struct(to, prefix, "outputs", nin, nout)
           && put(to, "    status = (int)%s_run(%s%s%s);\n", prefix, nin > 0 ? "&inputs" : "", nin > 0 && nout > 0 ? ", " : "",
                  nout > 0 ? "&outputs" : "");
}

bool tirc_harness_write(tirc_output *to, const char *prefix, bool packed, const tirgen_tensor_info *info, size_t nin, size_t nout)
{
    bool good = put(to, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"%s.h\"\n\n", prefix)
                && put(to, "%s", files) && put(to, "int main(void)\n{\n");
    if (good && nin > 0) good = put(to, "    struct %s_inputs inputs;\n", prefix);
    if (good && nout > 0) good = put(to, "    struct %s_outputs outputs;\n", prefix);
    good = good && put_buffers(to, info, nin, nout) && put_c_call(to, prefix, nin, nout);
    good = good && put(to, "    if (status != 0) {\n        fprintf(stderr, \"%s_run: status %%d\\n\", status);\n        return 1;\n    }\n", prefix);
    for (size_t i = 0; good && i < nout; ++i) {
        char name[64];
        tirc_harness_file(name, sizeof name, false, i);
        good = put(to, "    if (!transfer(\"%s\", 0, at[%zu], %zu)) return 1;\n", name, nin + i, info[nin + i].size_bytes);
    }
    (void)packed;
    return good && put(to, "    for (size_t i = 0; i < %zu; ++i) free(at[i]);\n    return 0;\n}\n", nin + nout);
}
