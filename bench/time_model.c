/* Times an emitted model: median of two seconds of runs, in microseconds, and the first outputs.
 *
 *     cc -O3 -march=native -DMODEL_HEADER='"tvmgen_net.h"' -DMODEL=tvmgen_net -DMODEL_UPPER=TVMGEN_NET -DMODEL_INPUT=input
 *        -DMODEL_OUTPUT=output -DMODEL_INPUT_SIZE=TVMGEN_NET_INPUT_SIZE -DMODEL_OUTPUT_SIZE=TVMGEN_NET_OUTPUT_SIZE
 *        -I net time_model.c net/tvmgen_net*.c -lm
 *     ./a.out input.f32
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include MODEL_HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

static float input[MODEL_INPUT_SIZE / sizeof(float)], output[MODEL_OUTPUT_SIZE / sizeof(float)];
static double times[1000000];

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

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (f == NULL || fread(input, 1, sizeof input, f) != sizeof input) {
        fprintf(stderr, "usage: %s input.f32 (%zu bytes)\n", argv[0], sizeof input);
        return 1;
    }
    fclose(f);
    struct JOIN(MODEL, _inputs) in = { .MODEL_INPUT = input };
    struct JOIN(MODEL, _outputs) out = { .MODEL_OUTPUT = output };
    size_t n = 0;
    double end = now() + 2e6;
    while (now() < end && n < sizeof times / sizeof times[0]) {
        double start = now();
        if (JOIN(MODEL, _run)(&in, &out) != 0)
            return 1;
        times[n++] = now() - start;
    }
    qsort(times, n, sizeof times[0], ascending);
    printf("%.1f", times[n / 2]);
    for (size_t i = 0; i < 4 && i < sizeof output / sizeof output[0]; ++i)
        printf(" %.5f", (double)output[i]);
    printf("\n");
    return 0;
}
