/* text.h: string builder. With a flush function the text goes out in pieces and memory stays small. */
#ifndef TG_TEXT_H
#define TG_TEXT_H

#include <stdarg.h>
#include "ctx.h"

/* Receives a piece; false stops the output, tg_text.failed is then set. */
typedef bool (*tg_flush_fn)(void *user, const char *bytes, size_t n);

typedef struct tg_text {
    tg_ctx *cx;
    char *at;                       /* NUL-terminated after tg_text_z() */
    size_t n, cap;
    tg_flush_fn flush;              /* may be NULL: everything stays in at */
    void *user;
    bool failed;
} tg_text;

tg_text tg_text_new(tg_ctx *cx);
tg_text tg_text_to(tg_ctx *cx, tg_flush_fn flush, void *user);
void tg_putc(tg_text *t, char c);
void tg_puts(tg_text *t, const char *s);
void tg_putn(tg_text *t, const char *s, size_t n);
void tg_printf(tg_text *t, const char *fmt, ...) TG_PRINTF(2, 3);
void tg_vprintf(tg_text *t, const char *fmt, va_list args) TG_PRINTF(2, 0);
void tg_indent(tg_text *t, unsigned level);                             /* 4 blanks a level */
void tg_put_int(tg_text *t, int64_t v);
/* Shortest decimal that reads back to the same double (bits 64), float (32) or half (16); no suffix.
 * Always holds a point or an exponent when @p point is set; inf and nan are written inf, -inf, nan. */
void tg_put_float(tg_text *t, double v, int bits, bool point);
void tg_put_base64(tg_text *t, const void *bytes, size_t n);            /* standard alphabet, padded, whole input at once */
void tg_put_quoted(tg_text *t, const char *s, size_t n);                /* "…" with \" \\ \n \t \r and \xHH */
const char *tg_text_z(tg_text *t);                                      /* the text so far, NUL-terminated, no flush */
bool tg_text_end(tg_text *t);                                           /* flush the rest; false if anything failed */
const char *tg_format(tg_ctx *cx, const char *fmt, ...) TG_PRINTF(2, 3);    /* arena string */

#endif
