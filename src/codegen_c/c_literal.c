/* c_literal.c: numbers that read back to the same bits, strings, and text inside comments. */
#include "emit.h"

#include <string.h>

/* ---- integers ---- */

static const char *int_text(tg_emit *e, DLDataType d, int64_t v, bool exact)
{
    if (tg_is_bool(d)) {
        e->need |= C_STDBOOL;
        return v != 0 ? "true" : "false";
    }
    if (d.code == kDLUInt && d.bits == 64 && (exact || (uint64_t)v > UINT32_MAX))
        return tg_format(e->cx, "UINT64_C(%llu)", (unsigned long long)(uint64_t)v);
    if (d.code == kDLUInt)
        return tg_format(e->cx, d.bits >= 32 ? "%lluU" : "%llu", (unsigned long long)(uint64_t)v);
    if (v == INT64_MIN)
        return "INT64_MIN";
    if (v == INT32_MIN && d.bits == 32)
        return "INT32_MIN";         /* -2147483648 is a long, or unsigned in old compilers */
    if (d.bits == 64 && (exact || v > INT32_MAX || v < -INT32_MAX))
        return tg_format(e->cx, v < 0 ? "-INT64_C(%llu)" : "INT64_C(%llu)", v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v);
    return tg_format(e->cx, "%lld", (long long)v);
}

void c_put_int(tg_emit *e, DLDataType d, int64_t v, bool exact, int outer)
{
    const char *text = int_text(e, d, v, exact);
    bool bracket = text[0] == '-' && outer > C_UNARY;
    tg_printf(e->to, bracket ? "(%s)" : "%s", text);
}

/* ---- floats ---- */

void c_put_float(tg_emit *e, DLDataType d, double v, int outer)
{
    bool is_double = d.code == kDLFloat && d.bits == 64;
    tg_text t = tg_text_new(e->cx);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (v != v || v - v != 0) {
        e->need |= C_MATH;
        if (bits >> 63 != 0)
            tg_putc(&t, '-');
        tg_puts(&t, v != v ? "NAN" : "INFINITY");
    } else {
        tg_put_float(&t, v, is_double ? 64 : 32, true);
        if (!is_double)
            tg_putc(&t, 'f');
    }
    const char *text = tg_text_z(&t);
    bool bracket = text[0] == '-' && outer > C_UNARY;
    tg_printf(e->to, bracket ? "(%s)" : "%s", text);
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
