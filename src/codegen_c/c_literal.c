/* c_literal.c: numbers that read back to the same bits, strings, and text inside comments. */
#include "emit.h"

#include <stdio.h>
#include <string.h>

/* ---- integers ---- */

typedef struct number { char at[40]; } number;

static void set(number *t, const char *format, unsigned long long v)
{
    snprintf(t->at, sizeof t->at, format, v);
}

static void int_text(tg_emit *e, number *t, DLDataType d, int64_t v, bool exact)
{
    unsigned long long bits = (uint64_t)v, size = v < 0 ? 0 - bits : bits;
    if (tg_is_bool(d)) {
        e->need |= C_STDBOOL;
        set(t, v != 0 ? "true" : "false", 0);
    } else if (d.code == kDLUInt && d.bits == 64 && (exact || bits > UINT32_MAX)) {
        set(t, "UINT64_C(%llu)", bits);
    } else if (d.code == kDLUInt) {
        set(t, d.bits >= 32 ? "%lluU" : "%llu", bits);
    } else if (v == INT64_MIN) {
        set(t, "INT64_MIN", 0);
    } else if (v == INT32_MIN && d.bits == 32) {
        set(t, "INT32_MIN", 0);     /* -2147483648 is a long, or unsigned in old compilers */
    } else if (d.bits == 64 && (exact || size > INT32_MAX)) {
        set(t, v < 0 ? "-INT64_C(%llu)" : "INT64_C(%llu)", size);
    } else {
        set(t, v < 0 ? "-%llu" : "%llu", size);
    }
}

void c_put_int(tg_emit *e, DLDataType d, int64_t v, bool exact, int outer)
{
    number t;
    int_text(e, &t, d, v, exact);
    bool bracket = t.at[0] == '-' && outer > C_UNARY;
    tg_printf(e->to, bracket ? "(%s)" : "%s", t.at);
}

/* ---- floats ---- */

void c_put_float(tg_emit *e, DLDataType d, double v, int outer)
{
    bool is_double = d.code == kDLFloat && d.bits == 64;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bool negative = bits >> 63 != 0, bracket = negative && outer > C_UNARY;
    if (bracket)
        tg_putc(e->to, '(');
    if (v != v || v - v != 0) {
        e->need |= C_MATH;
        tg_printf(e->to, "%s%s", negative ? "-" : "", v != v ? "NAN" : "INFINITY");
    } else {
        tg_put_float(e->to, v, is_double ? 64 : 32, true);
        if (!is_double)
            tg_putc(e->to, 'f');
    }
    if (bracket)
        tg_putc(e->to, ')');
}

static char *put_number(char *to, int v)
{
    char digits[8];
    int n = 0;
    *to++ = v < 0 ? '-' : '+';
    v = v < 0 ? -v : v;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/* Hexadecimal, normalised, without trailing zeros: 0x1.8p+1f. Much faster than the shortest decimal, and exact by itself. */
size_t c_hex_float(char *to, double v, bool is_float)
{
    static const char digit[] = "0123456789abcdef";
    char *start = to;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (bits >> 63 != 0)
        *to++ = '-';
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == -1023 && fraction == 0) {
        memcpy(to, "0.0", 3);
        to += 3;
    } else {
        if (exponent == -1023) {            /* subnormal: move the leading one to its place */
            exponent = -1022;
            while (fraction >> 52 == 0) {
                fraction <<= 1;
                --exponent;
            }
            fraction &= ((uint64_t)1 << 52) - 1;
        }
        memcpy(to, "0x1", 3);
        to += 3;
        if (fraction != 0)
            *to++ = '.';
        for (uint64_t rest = fraction << 12; rest != 0; rest <<= 4)
            *to++ = digit[rest >> 60];
        *to++ = 'p';
        to = put_number(to, exponent);
    }
    if (is_float)
        *to++ = 'f';
    return (size_t)(to - start);
}

/* ---- text ---- */

void c_put_string(tg_emit *e, const tg_name *s)
{
    tg_putc(e->to, '"');
    for (uint32_t i = 0; i < s->len; ++i) {
        unsigned char c = (unsigned char)s->text[i];
        bool trigraph = c == '?' && i > 0 && s->text[i - 1] == '?';
        if (c == '"' || c == '\\' || trigraph)
            tg_printf(e->to, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            tg_printf(e->to, "\\%03o", c);      /* three digits: what follows cannot join the escape */
        else
            tg_putc(e->to, (char)c);
    }
    tg_putc(e->to, '"');
}

void c_put_comment(tg_emit *e, const char *text, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        unsigned char c = (unsigned char)text[i];
        char last = i > 0 ? text[i - 1] : ' ';
        if ((c == '/' && (last == '*' || last == '/')) || (c == '*' && last == '/') || (c == '?' && last == '?') || c == '\\')
            tg_putc(e->to, ' ');                /* no end, no beginning, no trigraph, no joined line */
        tg_putc(e->to, c < 0x20 || c >= 0x7f ? '.' : c == '\\' ? '|' : (char)c);
    }
}

void c_put_shape(tg_emit *e, DLDataType d, uint32_t ndim, const int64_t *dim)
{
    tg_printf(e->to, "%s[", tg_dtype_text(e->cx, d));
    for (uint32_t k = 0; k < ndim; ++k)
        tg_printf(e->to, "%s%lld", k > 0 ? "," : "", (long long)dim[k]);
    tg_putc(e->to, ']');
}
