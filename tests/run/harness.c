/* harness.c: runs an emitted model on the inputs of a folder and compares with the outputs there.
 *
 *     harness FOLDER [RTOL ATOL]        with input_N.npy and output_N.npy in FOLDER
 *
 * Compiled with the emitted files and -DPREFIX=tvmgen_net -DMACRO=TVMGEN_NET -DHEADER='"tvmgen_net.h"' -DNIN=1 -DNOUT=1, as C99
 * or C++17. The model runs three times with the default workspace and three times with a workspace of the caller. Patterns around every tensor and around the workspace must survive, the inputs must not change, and the
 * outputs must be the same in each run. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include HEADER
#include "npy.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define P(name) JOIN(PREFIX, name)
#define M(name) JOIN(MACRO, name)

enum { GUARD = 64, RUNS = 3 };

/* @p n bytes aligned to 64 with a guard on both sides; the inside holds a pattern that is no sensible number. In front of
 * the first guard stands where the memory begins. */
static unsigned char *guarded(size_t n)
{
    unsigned char *all = (unsigned char *)malloc(n + 4 * GUARD), *at;
    if (all == NULL) npy_die("harness", "out of memory");
    at = all + 2 * GUARD + (GUARD - (uintptr_t)all % GUARD) % GUARD;
    memcpy(at - 2 * GUARD, &all, sizeof all);
    memset(at - GUARD, 0xa5, GUARD);
    memset(at, 0xc3, n);
    memset(at + n, 0xa5, GUARD);
    return at;
}

static void release(unsigned char *at)
{
    unsigned char *all;
    if (at == NULL) return;
    memcpy(&all, at - 2 * GUARD, sizeof all);
    free(all);
}

static int guards_hold(const unsigned char *at, size_t n, const char *what)
{
    for (size_t i = 0; i < GUARD; ++i) {
        if (at[-1 - (ptrdiff_t)i] != 0xa5) {
            fprintf(stderr, "FAILED %s: written %lu bytes before it\n", what, (unsigned long)(i + 1));
            return 0;
        }
        if (at[n + i] != 0xa5) {
            fprintf(stderr, "FAILED %s: written %lu bytes after it\n", what, (unsigned long)(i + 1));
            return 0;
        }
    }
    return 1;
}

typedef struct tensor {
    npy file;
    size_t size;
    unsigned char *at, *first;      /* the buffer; a copy of what the first run gave */
} tensor;

static tensor load(const char *folder, const char *kind, int i)
{
    tensor t;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%d.npy", folder, kind, i);
    t.file = npy_read(path);
    t.size = t.file.count * t.file.itemsize;
    t.at = guarded(t.size);
    t.first = NULL;
    return t;
}

static void unload(tensor *t)
{
    release(t->at);
    release(t->first);
    free(t->file.data);
}

static int check(tensor *in, tensor *out, int run, double rtol, double atol)
{
    int good = 1;
    for (int i = 0; i < NIN; ++i) {
        good = guards_hold(in[i].at, in[i].size, "input") && good;
        if (memcmp(in[i].at, in[i].file.data, in[i].size) != 0) {
            fprintf(stderr, "FAILED run %d changed input %d\n", run, i);
            good = 0;
        }
    }
    for (int i = 0; i < NOUT; ++i) {
        double worst;
        size_t bad = npy_compare(&out[i].file, out[i].at, rtol, atol, &worst);
        good = guards_hold(out[i].at, out[i].size, "output") && good;
        if (bad > 0) {
            fprintf(stderr, "FAILED run %d: output %d: %lu of %lu elements are off, largest error %g\n", run, i,
                    (unsigned long)bad, (unsigned long)out[i].file.count, worst);
            good = 0;
        }
        if (out[i].first == NULL) {
            out[i].first = guarded(out[i].size);
            memcpy(out[i].first, out[i].at, out[i].size);
            if (out[i].file.kind == 'f') printf("output %d: largest error %g\n", i, worst);
        } else if (memcmp(out[i].first, out[i].at, out[i].size) != 0) {
            fprintf(stderr, "FAILED run %d: output %d differs from the first run's\n", run, i);
            good = 0;
        }
        memset(out[i].at, 0x3c, out[i].size);
    }
    return good;
}

int main(int argc, char **argv)
{
    tensor in[NIN + 1], out[NOUT + 1];
    void *at[NIN + NOUT + 1];
    double rtol = argc > 2 ? atof(argv[2]) : 1e-3, atol = argc > 3 ? atof(argv[3]) : 1e-5;
    int good = 1;
    struct P(_inputs) inputs;
    struct P(_outputs) outputs;
    size_t size = (size_t)M(_WORKSPACE_SIZE);
    unsigned char *workspace = guarded(size);
    if (argc < 2) {
        fprintf(stderr, "usage: harness FOLDER [RTOL ATOL]\n");
        return 2;
    }
    for (int i = 0; i < NIN; ++i) {
        in[i] = load(argv[1], "input", i);
        memcpy(in[i].at, in[i].file.data, in[i].size);
        at[i] = in[i].at;
    }
    for (int i = 0; i < NOUT; ++i) {
        out[i] = load(argv[1], "output", i);
        at[NIN + i] = out[i].at;
    }
#if NIN > 0
    if (sizeof inputs != NIN * sizeof at[0]) npy_die(argv[1], "another number of inputs than the model");
    memcpy(&inputs, at, sizeof inputs);
#endif
#if NOUT > 0
    if (sizeof outputs != NOUT * sizeof at[0]) npy_die(argv[1], "another number of outputs than the model");
    memcpy(&outputs, at + NIN, sizeof outputs);
#endif
    for (int run = 0; run < RUNS; ++run) {
        int status = (int)P(_run)(&inputs, &outputs);
        if (status != 0) {
            fprintf(stderr, "FAILED run %d: status %d\n", run, status);
            return 1;
        }
        good = check(in, out, run, rtol, atol) && good;
    }
    for (int run = RUNS; run < 2 * RUNS; ++run) {
        int status = (int)P(_run_with_workspace)(&inputs, &outputs, workspace);
        if (status != 0) {
            fprintf(stderr, "FAILED run %d: status %d\n", run, status);
            return 1;
        }
        good = check(in, out, run, rtol, atol) && guards_hold(workspace, size, "workspace") && good;
        memset(workspace, 0x5a + run, size);
    }
    release(workspace);
    for (int i = 0; i < NIN; ++i) unload(&in[i]);
    for (int i = 0; i < NOUT; ++i) unload(&out[i]);
    return good ? 0 : 1;
}
