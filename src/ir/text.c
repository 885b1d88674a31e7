/* text.c: string builder over the arena, or through one buffer to a flush function. Numbers do not depend on the locale. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { FLUSH_BYTES = 64 * 1024 };

tg_text tg_text_new(tg_ctx *cx)
{
    return (tg_text){ .cx = cx };
}

tg_text tg_text_to(tg_ctx *cx, tg_flush_fn flush, void *user)
{
    tg_text t = { .cx = cx, .flush = flush, .user = user };
    t.cap = FLUSH_BYTES;
    t.at = tg_alloc(cx, t.cap);
    return t;
}

static void drain(tg_text *t)
{
    if (t->n > 0 && !t->failed && !t->flush(t->user, t->at, t->n)) t->failed = true;
    t->n = 0;
}

/* Room for @p more bytes and a NUL. With a flush function @p more must be less than the buffer. */
static void reserve(tg_text *t, size_t more)
{
    if (t->cap - t->n > more) return;
    if (t->flush != NULL) {
        drain(t);
        return;
    }
    if (more > SIZE_MAX / 4 || t->n > SIZE_MAX / 4) tg_fail(t->cx, TIRGEN_ENOMEM, TG_NOWHERE, "out of memory");
    size_t cap = t->cap == 0 ? 128 : t->cap * 2;
    while (cap - t->n <= more) cap *= 2;
    char *to = tg_alloc(t->cx, cap);
    if (t->n > 0) memcpy(to, t->at, t->n);
    t->at = to;
    t->cap = cap;
}

void tg_putc(tg_text *t, char c)
{
    if (t->cap - t->n <= 1) reserve(t, 1);
    t->at[t->n++] = c;
}

void tg_puts(tg_text *t, const char *s)
{
    tg_putn(t, s, strlen(s));
}

void tg_putn(tg_text *t, const char *s, size_t n)
{
    if (n == 0) return;
    if (t->flush != NULL && n >= t->cap) {
        drain(t);
        if (!t->failed && !t->flush(t->user, s, n)) t->failed = true;
        return;
    }
    reserve(t, n);
    memcpy(t->at + t->n, s, n);
    t->n += n;
}

static void put_formatted(tg_text *t, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    reserve(t, 200);
    int len = vsnprintf(t->at + t->n, t->cap - t->n, fmt, args);
    TG_CHECK(t->cx, len >= 0, NULL);
    size_t n = (size_t)len;
    if (n < t->cap - t->n) {
        t->n += n;
    } else if (t->flush == NULL || n < t->cap) {
        reserve(t, n);
        vsnprintf(t->at + t->n, n + 1, fmt, again);
        t->n += n;
    } else {
        char *large = tg_temp(t->cx, n + 1);
        vsnprintf(large, n + 1, fmt, again);
        tg_putn(t, large, n);
    }
    va_end(again);
}

void tg_printf(tg_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_formatted(t, fmt, args);
    va_end(args);
}

void tg_vprintf(tg_text *t, const char *fmt, va_list args)
{
    put_formatted(t, fmt, args);
}

void tg_indent(tg_text *t, unsigned level)
{
    static const char blanks[] = "                                ";
    for (size_t n = (size_t)level * 4; n > 0;) {
        size_t piece = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;
        tg_putn(t, blanks, piece);
        n -= piece;
    }
}

void tg_put_int(tg_text *t, int64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (v < 0) tg_putc(t, '-');
    tg_putn(t, digits + at, sizeof(digits) - at);
}

/* Three bytes become four characters. */
static size_t base64_piece(char *to, const unsigned char *p, size_t n)
{
    static const char code[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *start = to;
    for (; n >= 3; n -= 3, p += 3) {
        uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *to++ = code[three >> 18];
        *to++ = code[three >> 12 & 63];
        *to++ = code[three >> 6 & 63];
        *to++ = code[three & 63];
    }
    if (n > 0) {
        uint32_t rest = (uint32_t)p[0] << 16 | (n == 2 ? (uint32_t)p[1] << 8 : 0);
        *to++ = code[rest >> 18];
        *to++ = code[rest >> 12 & 63];
        *to++ = n == 2 ? code[rest >> 6 & 63] : '=';
        *to++ = '=';
    }
    return (size_t)(to - start);
}

void tg_put_base64(tg_text *t, const void *bytes, size_t n)
{
    enum { PIECE = FLUSH_BYTES / 8 * 3 };           /* a multiple of 3 that fits half a buffer */
    const unsigned char *p = bytes;
    if (t->flush == NULL) reserve(t, n / 3 * 4 + 4);
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        reserve(t, piece / 3 * 4 + 4);
        t->n += base64_piece(t->at + t->n, p, piece);
        p += piece;
        n -= piece;
    }
}

void tg_put_quoted(tg_text *t, const char *s, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";
    tg_putc(t, '"');
    for (size_t i = 0; i < n; ++i) {
        unsigned char c = (unsigned char)s[i];
        switch (c) {
        case '"': tg_putn(t, "\\\"", 2); break;
        case '\\': tg_putn(t, "\\\\", 2); break;
        case '\n': tg_putn(t, "\\n", 2); break;
        case '\t': tg_putn(t, "\\t", 2); break;
        case '\r': tg_putn(t, "\\r", 2); break;
        default:
            if (c >= 0x20 && c < 0x7f) {
                tg_putc(t, (char)c);
            } else {
                const char escape[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
                tg_putn(t, escape, 4);
            }
        }
    }
    tg_putc(t, '"');
}

const char *tg_text_z(tg_text *t)
{
    if (t->cap == 0) reserve(t, 0);
    t->at[t->n] = '\0';
    return t->at;
}

bool tg_text_end(tg_text *t)
{
    if (t->flush != NULL) drain(t);
    return !t->failed;
}

const char *tg_format(tg_ctx *cx, const char *fmt, ...)
{
    tg_text t = tg_text_new(cx);
    va_list args;
    va_start(args, fmt);
    put_formatted(&t, fmt, args);
    va_end(args);
    return tg_text_z(&t);
}
