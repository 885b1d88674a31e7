/* npy.h: just enough of the .npy format for the harness: little-endian, row-major arrays of one dtype, turned round where the
 * machine is big-endian. C99 and C++17. */
#ifndef TEST_NPY_H
#define TEST_NPY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct npy {
    char kind;                  /* f, i, u, b */
    size_t itemsize, count;     /* bytes of one element; elements */
    unsigned char *data;        /* malloc */
} npy;

static void npy_die(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

static void npy_to_native(npy *a)
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    for (size_t i = 0; low == 0 && i < a->count; ++i) {
        unsigned char *at = a->data + i * a->itemsize;
        for (size_t k = 0; k < a->itemsize / 2; ++k) {
            unsigned char swap = at[k];
            at[k] = at[a->itemsize - 1 - k];
            at[a->itemsize - 1 - k] = swap;
        }
    }
}

static npy npy_read(const char *path)
{
    npy a;
    unsigned char head[12];
    char *text, *at;
    size_t len, start;
    FILE *f = fopen(path, "rb");
    if (f == NULL) npy_die(path, "cannot be opened");
    if (fread(head, 1, 12, f) != 12 || memcmp(head, "\x93NUMPY", 6) != 0) npy_die(path, "not an .npy file");
    start = head[6] == 1 ? 10u : 12u;
    len = (size_t)head[8] | (size_t)head[9] << 8;
    if (head[6] != 1) len |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    text = (char *)malloc(len + 1);
    if (text == NULL || fseek(f, (long)start, SEEK_SET) != 0 || fread(text, 1, len, f) != len) npy_die(path, "cut short");
    text[len] = '\0';
    at = strstr(text, "'descr': '");
    if (at == NULL || at[10] == '>' || strstr(text, "'fortran_order': False") == NULL) npy_die(path, "layout not handled");
    a.kind = at[11];
    a.itemsize = (size_t)strtoul(at + 12, NULL, 10);
    at = strchr(strstr(text, "'shape'"), '(');
    if (at == NULL) npy_die(path, "has no shape");
    for (a.count = 1, ++at; *at != ')' && *at != '\0';) {
        if (*at >= '0' && *at <= '9')
            a.count *= (size_t)strtoul(at, &at, 10);
        else
            ++at;
    }
    a.data = (unsigned char *)malloc(a.count * a.itemsize + 1);
    if (a.data == NULL || fread(a.data, a.itemsize, a.count, f) != a.count) npy_die(path, "cut short");
    free(text);
    fclose(f);
    npy_to_native(&a);
    return a;
}

static double npy_half(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 0 ? m / 1024.0 / 16384.0 : 1 + m / 1024.0;
    if (e == 31) {
        v = 1e300 * 1e300;
        if (m != 0) v -= v;
    } else {
        for (; e > 15; --e) v *= 2;
        for (; e > 0 && e < 15; ++e) v /= 2;
    }
    return (h & 0x8000) != 0 ? -v : v;
}

/* Element i of floating point data. */
static double npy_float(const npy *a, const unsigned char *data, size_t i)
{
    double d;
    float s;
    uint16_t h;
    if (a->itemsize == 8) {
        memcpy(&d, data + 8 * i, 8);
        return d;
    }
    if (a->itemsize == 4) {
        memcpy(&s, data + 4 * i, 4);
        return (double)s;
    }
    memcpy(&h, data + 2 * i, 2);
    return npy_half(h);
}

/* How many elements of @p got differ from @p want; the largest absolute error goes to *worst. Integers compare exactly. */
static size_t npy_compare(const npy *want, const unsigned char *got, double rtol, double atol, double *worst)
{
    size_t bad = 0;
    *worst = 0;
    for (size_t i = 0; i < want->count; ++i) {
        double w, g, error;
        if (want->kind != 'f') {
            if (memcmp(want->data + i * want->itemsize, got + i * want->itemsize, want->itemsize) != 0) ++bad;
            continue;
        }
        w = npy_float(want, want->data, i);
        g = npy_float(want, got, i);
        if (w == g || (w != w && g != g)) continue;
        error = w < g ? g - w : w - g;
        if (error > *worst) *worst = error;
        if (!(error <= atol + rtol * (w < 0 ? -w : w))) ++bad;
    }
    return bad;
}

#endif
