/* diag.c: one diagnostic: counted, rendered with its source line and a caret, handed to the callback. */
#include <string.h>

#include "diag.h"
#include "source.h"
#include "text.h"

enum { WIDEST_LINE = 160, BEFORE_PLACE = 80 };     /* columns shown of a long line; of them, before the place */

/* Length of the UTF-8 character at @p s, or 0 when it is none or could steer a terminal. */
static size_t shown_length(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f ? 1 : 0;
    size_t len = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    if (len == 0 || len > n) return 0;
    for (size_t i = 1; i < len; ++i) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if (s[0] == 0xc2 && s[1] < 0xa0) return 0;                          /* C1 controls */
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;                          /* longer than needed */
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xed && s[1] >= 0xa0) return 0;                         /* surrogates */
    if (s[0] == 0xf4 && s[1] >= 0x90) return 0;
    if (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8) return 0;         /* line separators, bidirectional overrides … */
    if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] < 0xb0) return 0;
    return len;
}

/* Text with each byte that is not safe to show as '?'. Tabs stay if asked for. */
static void put_safe(tg_text *t, const char *s, size_t n, bool tabs)
{
    for (size_t i = 0; i < n;) {
        size_t len = s[i] == '\t' && tabs ? 1 : shown_length((const unsigned char *)s + i, n - i);
        if (len == 0) tg_putc(t, '?');
        else tg_putn(t, s + i, len);
        i += len == 0 ? 1 : len;
    }
}

/* As many columns as put_safe() makes of it: blanks, tabs, or the caret and its tail. */
static void put_columns(tg_text *t, const char *s, size_t n, bool caret)
{
    bool first = true;
    for (size_t i = 0; i < n;) {
        size_t len = shown_length((const unsigned char *)s + i, n - i);
        if (caret) tg_putc(t, first ? '^' : '~');
        else tg_putc(t, s[i] == '\t' ? '\t' : ' ');
        first = false;
        i += len == 0 ? 1 : len;
    }
    if (caret && first) tg_putc(t, '^');            /* at the end of the line */
}

static size_t line_end(const tg_source *s, size_t from)
{
    if (from >= s->size) return s->size;
    const char *p = memchr(s->text + from, '\n', s->size - from);
    size_t end = p == NULL ? s->size : (size_t)(p - s->text);
    return end > from && s->text[end - 1] == '\r' ? end - 1 : end;
}

static void put_snippet(tg_text *t, const tg_source *s, tg_span at, uint32_t line)
{
    size_t begin = s->line[line - 1], end = line_end(s, begin);
    size_t place = at.begin < end ? at.begin : end;
    size_t left = begin, right = end;
    if (end - begin > WIDEST_LINE) {
        if (place - begin > BEFORE_PLACE) left = place - BEFORE_PLACE;
        if (end - left < WIDEST_LINE) left = end - WIDEST_LINE;
        right = left + WIDEST_LINE < end ? left + WIDEST_LINE : end;
        while (left > begin && left < place && ((unsigned char)s->text[left] & 0xc0) == 0x80) ++left;
        while (right < end && right > place && ((unsigned char)s->text[right] & 0xc0) == 0x80) --right;
    }
    size_t stop = at.end > place ? at.end : place;
    if (stop > right) stop = right;
    while (stop > place && (s->text[stop - 1] == ' ' || s->text[stop - 1] == '\t')) --stop;

    int width = line > 99999 ? 10 : 5;
    tg_printf(t, "%*u | %s", width, (unsigned)line, left > begin ? "..." : "");
    put_safe(t, s->text + left, right - left, true);
    tg_printf(t, "%s\n%*s | %s", right < end ? "..." : "", width, "", left > begin ? "   " : "");
    put_columns(t, s->text + left, place - left, false);
    put_columns(t, s->text + place, stop - place, true);
    tg_putc(t, '\n');
}

static const char *severity_text(tirgen_severity severity)
{
    return severity == TIRGEN_ERROR ? "error" : severity == TIRGEN_WARNING ? "warning" : "note";
}

static const char *message_text(tg_ctx *cx, const char *fmt, va_list args)
{
    tg_text raw = tg_text_new(cx), safe = tg_text_new(cx);
    tg_vprintf(&raw, fmt, args);
    put_safe(&safe, tg_text_z(&raw), raw.n, false);
    return tg_text_z(&safe);
}

void tg_report(tg_ctx *cx, tirgen_severity severity, tg_span at, const char *fmt, va_list args)
{
    if (severity == TIRGEN_ERROR) ++cx->nerrors;
    if (cx->diag == NULL) return;
    tirgen_diag d = { .severity = severity, .message = message_text(cx, fmt, args) };
    tg_text t = tg_text_new(cx);
    const tg_source *s = tg_source_of(cx, at);
    if (s != NULL) {
        tg_locate(cx, at, &d.line, &d.column);
        d.file = s->name;
        put_safe(&t, s->name, strlen(s->name), false);
        tg_printf(&t, ":%u:%u: ", (unsigned)d.line, (unsigned)d.column);
    }
    tg_printf(&t, "%s: ", severity_text(severity));
    tg_puts(&t, d.message);
    tg_putc(&t, '\n');
    if (s != NULL && severity != TIRGEN_NOTE) put_snippet(&t, s, at, d.line);
    d.rendered = tg_text_z(&t);
    cx->diag(cx->diag_user, &d);
}

static void stop_after_many(tg_ctx *cx, tg_span at)
{
    if (cx->nerrors >= TG_MAX_ERRORS) tg_fail(cx, TIRGEN_EINPUT, at, "too many errors, the rest is not shown");
}

void tg_error(tg_ctx *cx, tg_span at, const char *fmt, ...)
{
    stop_after_many(cx, at);
    va_list args;
    va_start(args, fmt);
    tg_report(cx, TIRGEN_ERROR, at, fmt, args);
    va_end(args);
}

void tg_warning(tg_ctx *cx, tg_span at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tg_report(cx, TIRGEN_WARNING, at, fmt, args);
    va_end(args);
}

void tg_note(tg_ctx *cx, tg_span at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tg_report(cx, TIRGEN_NOTE, at, fmt, args);
    va_end(args);
}

void tg_error_file(tg_ctx *cx, const char *file, uint64_t offset, const char *fmt, ...)
{
    stop_after_many(cx, TG_NOWHERE);
    ++cx->nerrors;
    if (cx->diag == NULL) return;
    va_list args;
    va_start(args, fmt);
    tirgen_diag d = { .severity = TIRGEN_ERROR, .file = file, .message = message_text(cx, fmt, args) };
    va_end(args);
    tg_text t = tg_text_new(cx);
    put_safe(&t, file, strlen(file), false);
    tg_printf(&t, ": at byte %llu: error: ", (unsigned long long)offset);
    tg_puts(&t, d.message);
    tg_putc(&t, '\n');
    d.rendered = tg_text_z(&t);
    cx->diag(cx->diag_user, &d);
}
