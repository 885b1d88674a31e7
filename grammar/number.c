/* number.c: decimal text to numbers. strtod() and strtof() round correctly but expect the decimal point of the locale, so
 * the digits are handed to them as an integer with an exponent. */
#include "number.h"

#include <errno.h>
#include <stdlib.h>

enum { SHORT_NUMBER = 100, LARGEST_EXPONENT = 1000000 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent after e; moves *at. Very large ones saturate: the result is infinity or zero anyway. */
static bool read_exponent(const char *text, size_t n, size_t *at, int64_t *out)
{
    size_t i = *at;
    bool negative = i < n && text[i] == '-';
    int64_t e = 0;
    if (i < n && (text[i] == '-' || text[i] == '+'))
        ++i;
    if (i == n || !is_digit(text[i]))
        return false;
    for (; i < n && is_digit(text[i]); ++i)
        e = e < LARGEST_EXPONENT ? e * 10 + (text[i] - '0') : e;
    *out = negative ? -e : e;
    *at = i;
    return true;
}

/* Ends @p digits, which has room for ten more characters, in e and the exponent. */
static void put_exponent(char *digits, size_t n, int64_t e)
{
    char reversed[8];
    size_t k = 0;
    uint64_t rest = e < 0 ? (uint64_t)-e : (uint64_t)e;
    rest = rest > LARGEST_EXPONENT ? LARGEST_EXPONENT : rest;
    digits[n++] = 'e';
    digits[n++] = e < 0 ? '-' : '+';
    do {
        reversed[k++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (k > 0)
        digits[n++] = reversed[--k];
    digits[n] = '\0';
}

bool tg_read_decimal(tg_ctx *cx, const char *text, size_t n, tg_decimal *out)
{
    char small[SHORT_NUMBER + 16];
    char *digits = n <= SHORT_NUMBER ? small : tg_temp(cx, n + 16);
    size_t count = 0, i = 0;
    int64_t shift = 0, exponent = 0;
    bool point = false, any = false;
    for (; i < n && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        any = true;
        shift -= point ? 1 : 0;
        if (count > 0 || text[i] != '0')
            digits[count++] = text[i];
    }
    if (any && i < n && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        any = read_exponent(text, n, &i, &exponent);
    }
    if (!any || i != n)
        return false;
    if (count == 0)
        digits[count++] = '0';
    put_exponent(digits, count, exponent + shift);
    int saved = errno;
    out->f64 = strtod(digits, NULL);
    out->f32 = strtof(digits, NULL);
    errno = saved;
    return true;
}

bool tg_read_int(const char *text, size_t n, int64_t *out)
{
    bool negative = n > 0 && text[0] == '-';
    uint64_t v = 0, most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    size_t i = negative ? 1 : 0;
    if (i == n)
        return false;
    for (; i < n; ++i) {
        if (!is_digit(text[i]))
            return false;
        uint64_t d = (uint64_t)(text[i] - '0');
        if (v > (most - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
