/* harness.c: the small main program around emitted C. It reads input_N.bin, runs the model, writes output_N.bin, all in its
 * working folder. The buffers are exactly as large as the tensors, so that a checking C library notices a write outside. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tirc_harness_file(char *name, size_t room, bool input, size_t i)
{
    snprintf(name, room, "%s_%zu.bin", input ? "input" : "output", i);
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

static const char transfer[] =
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
static bool put_struct(tirc_output *to, const char *what, size_t first, size_t n)
{
    if (n == 0) return true;
    return put(to, "    if (sizeof %s != %zu * sizeof at[0]) return 1;\n    memcpy(&%s, at + %zu, sizeof %s);\n", what, n, what, first, what);
}

static bool put_c_call(tirc_output *to, const char *prefix, size_t nin, size_t nout)
{
    return put(to, "    struct %s_inputs inputs;\n    struct %s_outputs outputs;\n", prefix, prefix)
           && put_struct(to, "inputs", 0, nin) && put_struct(to, "outputs", nin, nout)
           && put(to, "    status = (int)%s_run(&inputs, &outputs);\n", prefix);
}

/* A DLTensor for each input, then for each output. */
static bool put_packed_call(tirc_output *to, const char *prefix, const tirgen_tensor_info *info, size_t n)
{
    bool good = put(to, "    DLTensor tensor[%zu];\n    TVMValue args[%zu], result;\n    int codes[%zu], code;\n", n + 1, n + 1, n + 1)
                && put(to, "    memset(tensor, 0, sizeof tensor);\n");
    for (size_t i = 0; good && i < n; ++i) {
        const tirgen_tensor_info *t = &info[i];
        good = put(to, "    static int64_t shape_%zu[] = { ", i);
        for (int32_t k = 0; good && k < t->ndim; ++k) good = put(to, "%lld, ", (long long)t->shape[k]);
        good = good && put(to, "0 };\n    tensor[%zu].data = at[%zu];\n    tensor[%zu].device.device_type = 1;\n", i, i, i)
               && put(to, "    tensor[%zu].ndim = %d;\n    tensor[%zu].shape = shape_%zu;\n", i, (int)t->ndim, i, i)
               && put(to, "    tensor[%zu].dtype.code = %u;\n    tensor[%zu].dtype.bits = %u;\n    tensor[%zu].dtype.lanes = %u;\n", i,
                      t->dtype.code, i, t->dtype.bits, i, t->dtype.lanes)
               && put(to, "    args[%zu].v_handle = &tensor[%zu];\n    codes[%zu] = 7;\n", i, i, i);
    }
    return good && put(to, "    status = (int)%s_run(args, codes, %zu, &result, &code, NULL);\n", prefix, n);
}

bool tirc_harness_write(tirc_output *to, const char *prefix, bool packed, const tirgen_tensor_info *info, size_t nin, size_t nout)
{
    bool good = put(to, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"%s.h\"\n\n", prefix)
                && put(to, "%sint main(void)\n{\n", transfer) && put_buffers(to, info, nin, nout);
    good = good && (packed ? put_packed_call(to, prefix, info, nin + nout) : put_c_call(to, prefix, nin, nout));
    good = good && put(to, "    if (status != 0) {\n        fprintf(stderr, \"%s_run: status 0x%%x\\n\", (unsigned)status);\n        return 1;\n    }\n",
                       prefix);
    for (size_t i = 0; good && i < nout; ++i) {
        char name[64];
        tirc_harness_file(name, sizeof name, false, i);
        good = put(to, "    if (!transfer(\"%s\", 0, at[%zu], %zu)) return 1;\n", name, nin + i, info[nin + i].size_bytes);
    }
    return good && put(to, "    for (size_t i = 0; i < %zu; ++i) free(at[i]);\n    return 0;\n}\n", nin + nout);
}

bool tirc_harness_write_kernels(tirc_output *to, const char *prefix, const char *const *call, size_t n, const size_t *size, size_t nbuffers)
{
    char name[64];
    bool good = put(to, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"%s.h\"\n\n", prefix)
                && put(to, "%sint main(void)\n{\n    void *at[%zu];\n", transfer, nbuffers + 1);
    for (size_t i = 0; good && i < nbuffers; ++i) {
        tirc_harness_file(name, sizeof name, true, i);
        good = put(to, "    at[%zu] = malloc(%zu);\n    if (at[%zu] == NULL || !transfer(\"%s\", 1, at[%zu], %zu)) return 1;\n", i,
                   size[i] == 0 ? (size_t)1 : size[i], i, name, i, size[i]);
    }
    for (size_t i = 0; good && i < n; ++i) good = put(to, "    ") && tirc_output_bytes(to, call[i], strlen(call[i])) && put(to, ";\n");
    for (size_t i = 0; good && i < nbuffers; ++i) {
        tirc_harness_file(name, sizeof name, false, i);
        good = put(to, "    if (!transfer(\"%s\", 0, at[%zu], %zu)) return 1;\n    free(at[%zu]);\n", name, i, size[i], i);
    }
    return good && put(to, "    return 0;\n}\n");
}
