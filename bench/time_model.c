/* time_model.c: times an emitted model with one input and one output: warm-up, then the median of two seconds of runs, in microseconds.
 *
 *     cc -O3 -march=native -DHEADER='"tvmgen_net.h"' -DPREFIX=tvmgen_net -I tvmgen_net time_model.c tvmgen_net/*.c -lm
 *     ./a.out input_0.npy BYTES_OF_OUTPUT
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { MOST = 1000000, WARM_UP = 20 };

static double times[MOST];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What stands behind the header of an .npy file of version 1, aligned to 64 bytes. */
static void *read_npy(const char *path)
{
    unsigned char head[10];
    FILE *f = fopen(path, "rb");
    long start, size;
    void *at = NULL;
    if (f == NULL || fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, "\x93NUMPY\x01", 7) != 0) return NULL;
    start = 10 + head[8] + 256L * head[9];
    fseek(f, 0, SEEK_END);
    size = ftell(f) - start;
    fseek(f, start, SEEK_SET);
    if (posix_memalign(&at, 64, (size_t)size + 64) != 0 || fread(at, 1, (size_t)size, f) != (size_t)size) return NULL;
    fclose(f);
    return at;
}

int main(int argc, char **argv)
{
    void *input = argc == 3 ? read_npy(argv[1]) : NULL, *output = NULL;
    struct JOIN(PREFIX, _inputs) in;
    struct JOIN(PREFIX, _outputs) out;
    if (input == NULL || posix_memalign(&output, 64, (size_t)atol(argv[2]) + 64) != 0 || sizeof in != sizeof input || sizeof out != sizeof output) {
        fprintf(stderr, "usage: %s input_0.npy BYTES_OF_OUTPUT, for a model with one input and one output\n", argv[0]);
        return 1;
    }
    memcpy(&in, &input, sizeof in);     /* the structs hold one pointer each */
    memcpy(&out, &output, sizeof out);
    for (int i = 0; i < WARM_UP; ++i)
        if (JOIN(PREFIX, _run)(&in, &out) != 0) return 1;
    size_t n = 0;
    for (double end = now() + 2e6; n == 0 || (now() < end && n < MOST);) {
        double start = now();
        if (JOIN(PREFIX, _run)(&in, &out) != 0) return 1;
        times[n++] = now() - start;
    }
    qsort(times, n, sizeof times[0], ascending);
    printf("%.1f\n", times[n / 2]);
    return 0;
}
