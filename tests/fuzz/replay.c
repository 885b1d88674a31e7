/* replay.c: main() for the harnesses where no fuzzing engine is linked: runs each file of the corpus and some mutations of it,
 * always the same ones.   replay SECONDS FILE...   stops early after SECONDS, evenly over the files. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state;

static size_t below(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n == 0 ? 0 : (size_t)(state >> 33) % n;
}

/* @p out has room for 2 * n + 64 bytes. @return the new size. */
static size_t mutate(const uint8_t *in, size_t n, uint8_t *out)
{
    static const char *const words[] = { "%", "(", ")", "[", "]", "{", "}", ",", ";", "\"", "/*", "*/", "0", "-1", "9223372036854775808",
                                         "meta[relay.Constant][0]", "Tensor[", "nanf", "T.", "\n", "    ", ":", "def", "let", "\xff" };
    size_t size = n;
    memcpy(out, in, n);
    for (size_t times = 1 + below(3); times > 0 && size > 0; --times) {
        size_t at = below(size), span = below(size - at < 64 ? size - at : 64);
        switch (below(6)) {
        case 0: out[at] ^= (uint8_t)(1u << below(8)); break;
        case 1: out[at] = (uint8_t)below(256); break;
        case 2:
            memmove(out + at, out + at + span, size - at - span);
            size -= span;
            break;
        case 3:
            if (size + span > 2 * n) break;
            memmove(out + at + span, out + at, size - at);
            size += span;
            break;
        case 4: size = at; break;
        default: {
            const char *word = words[below(sizeof words / sizeof words[0])];
            size_t len = strlen(word);
            if (size + len > 2 * n + 64) break;
            memmove(out + at + len, out + at, size - at);
            memcpy(out + at, word, len);
            size += len;
        }
        }
    }
    return size;
}

static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    uint8_t *at;
    long size;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || (at = malloc((size_t)size + 1)) == NULL) {
        perror(path);
        exit(2);
    }
    rewind(f);
    *n = fread(at, 1, (size_t)size, f);
    fclose(f);
    return at;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double begin = now(), seconds = argc > 1 ? atof(argv[1]) : 0;
    unsigned long runs = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: replay SECONDS FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        size_t n;
        uint8_t *in = read_file(argv[i], &n), *out = malloc(2 * n + 64);
        double until = begin + seconds * (i - 1) / (argc - 2);
        if (out == NULL) return 2;
        state = (uint64_t)i;
        LLVMFuzzerTestOneInput(in, n);
        ++runs;
        for (; now() < until; ++runs) {
            size_t size = mutate(in, n, out);
            uint8_t *exact = malloc(size + 1);      /* so that a read past the end is seen */
            if (exact == NULL) return 2;
            memcpy(exact, out, size);
            if (getenv("FUZZ_KEEP") != NULL) {      /* the text that crashes is then the last one written */
                FILE *f = fopen(getenv("FUZZ_KEEP"), "wb");
                if (f != NULL) {
                    fwrite(exact, 1, size, f);
                    fclose(f);
                }
            }
            LLVMFuzzerTestOneInput(exact, size);
            free(exact);
        }
        free(in);
        free(out);
    }
    printf("%lu texts in %.1f s\n", runs, now() - begin);
    return 0;
}
