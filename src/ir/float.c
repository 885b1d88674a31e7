/* float.c: tg_put_float() of text.h: the shortest decimal that reads back to the same number.
 *
 * A candidate of p digits is an integer D and a power of ten. While D < 2^53 and the power is at most 10^22 both are
 * exact doubles, so one multiplication or division gives the correctly rounded value of the decimal: reading back costs
 * a few instructions. Everything else goes through snprintf and strtod, with the digits written as an integer and an
 * exponent so that the decimal point of the locale never appears. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor.h"
#include "text.h"

enum { EXACT_POWER = 22, FAST_DIGITS = 15, MOST_DIGITS = 17 };

static const double power[EXACT_POWER + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

/* The first digit stands for 10^exponent. */
typedef struct decimal { char digit[MOST_DIGITS + 1]; int n, exponent; } decimal;

/* Does a reader of the target width get @p v from the decimal whose nearest double is @p read? A half is read through
 * double or through float. */
static bool reads_back(double read, double v, int bits)
{
    if (bits == 64) return read == v;
    if (bits == 16) return tg_round_to(TG_FLOAT16, read) == v && tg_round_to(TG_FLOAT16, (float)read) == v;
    return (double)(float)read == v;
}

/* Half way between two floats, the double alone does not tell how a reader of float32 rounds the decimal. */
static bool is_float_tie(double read)
{
    uint64_t pattern;
    memcpy(&pattern, &read, sizeof(pattern));
    return (pattern & 0x1fffffffu) == 0x10000000u;
}

static int floor_log10(double v)
{
    int e = 0;
    while (e < EXACT_POWER && v >= power[e + 1]) ++e;
    if (v < 1) for (e = -1; e > -EXACT_POWER && v * power[-e] < 1; --e) {}
    return e;
}

static void set_digits(decimal *d, uint64_t value, int exponent, int p)
{
    for (int i = p; i-- > 0; value /= 10) d->digit[i] = (char)('0' + value % 10);
    d->n = p;
    d->exponent = exponent;
}

/* Digits to start from and to end with. Every decimal of 15 (6, 3) digits survives a normal double (float, half), so with
 * that many digits the shorter ones are seen as trailing zeros; subnormal numbers have no such promise. */
static int fewest_digits(double v, int bits)
{
    if (bits == 64) return v < 2.3e-308 ? 1 : 15;
    if (bits == 32) return v < 1.2e-38 ? 1 : 6;
    return v < 6.2e-5 ? 1 : 3;
}

static int most_digits(int bits)
{
    return bits == 64 ? 17 : bits == 32 ? 9 : 5;
}

/* v > 0. @return false when the exact arithmetic above does not reach. */
static bool fast(decimal *d, double v, int bits)
{
    if (!(v >= 1e-13 && v < 1e22)) return false;
    int e = floor_log10(v);
    int most = most_digits(bits) < FAST_DIGITS ? most_digits(bits) : FAST_DIGITS;
    for (int p = fewest_digits(v, bits); p <= most; ++p) {
        int scale = p - 1 - e;              /* v * 10^scale has p digits before the point */
        if (scale > EXACT_POWER) return false;
        double scaled = scale >= 0 ? v * power[scale] : v / power[-scale];
        uint64_t digits = (uint64_t)(scaled + 0.5);
        double read = scale >= 0 ? (double)digits / power[scale] : (double)digits * power[-scale];
        if (bits == 32 && is_float_tie(read)) return false;
        if (!reads_back(read, v, bits)) continue;
        if ((double)digits >= power[p]) set_digits(d, digits / 10, e + 1, p);     /* rounded up to a power of ten */
        else set_digits(d, digits, e, p);
        return true;
    }
    return false;
}

static void slow(decimal *d, double v, int bits)
{
    for (int p = fewest_digits(v, bits); p <= most_digits(bits); ++p) {
        char text[64], plain[64];
        snprintf(text, sizeof(text), "%.*e", p - 1, v);
        const char *e = strchr(text, 'e');
        d->n = 0;
        for (const char *s = text; s < e; ++s) {
            if (*s >= '0' && *s <= '9') d->digit[d->n++] = *s;
        }
        d->exponent = (int)strtol(e + 1, NULL, 10);
        snprintf(plain, sizeof(plain), "%.*se%d", d->n, d->digit, d->exponent - (d->n - 1));
        double read = bits == 32 ? (double)strtof(plain, NULL) : strtod(plain, NULL);
        if (bits == 16 ? reads_back(read, v, 16) : read == v) return;
    }
}

static void put_decimal(tg_text *t, const decimal *d, bool point)
{
    int n = d->n;
    while (n > 1 && d->digit[n - 1] == '0') --n;
    if (d->exponent < -4 || d->exponent > 15) {
        tg_putc(t, d->digit[0]);
        if (n > 1) tg_putc(t, '.');
        tg_putn(t, d->digit + 1, (size_t)(n - 1));
        tg_printf(t, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
        return;
    }
    if (d->exponent < 0) {
        tg_putn(t, "0.0000", (size_t)(1 - d->exponent));
        tg_putn(t, d->digit, (size_t)n);
        return;
    }
    for (int i = 0; i <= d->exponent; ++i) tg_putc(t, i < n ? d->digit[i] : '0');
    if (n > d->exponent + 1) {
        tg_putc(t, '.');
        tg_putn(t, d->digit + d->exponent + 1, (size_t)(n - d->exponent - 1));
    } else if (point) {
        tg_putn(t, ".0", 2);
    }
}

void tg_put_float(tg_text *t, double v, int bits, bool point)
{
    if (v != v) {
        tg_puts(t, "nan");
        return;
    }
    uint64_t pattern;
    memcpy(&pattern, &v, sizeof(pattern));
    if (pattern >> 63 != 0) tg_putc(t, '-');
    if (bits == 32) v = (float)v;
    if (bits == 16) v = tg_round_to(TG_FLOAT16, v);
    if (v < 0) v = -v;
    if (v - v != 0) {
        tg_puts(t, "inf");
        return;
    }
    decimal d = { { '0' }, 1, 0 };
    if (v != 0 && !fast(&d, v, bits)) slow(&d, v, bits);
    put_decimal(t, &d, point);
}
