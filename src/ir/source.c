/* source.c: texts by number, and places in them as people count: lines and columns from 1. */
#include <string.h>

#include "source.h"
#include "text.h"

tg_source *tg_source_add(tg_ctx *cx, const char *name, const char *text, size_t size)
{
    if (size > TG_MAX_TEXT) {
        tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "%s: a text may have at most 2 GiB, this one has %zu bytes", name, size);
    }
    if (cx->nsources == cx->csources) {
        uint32_t room = cx->csources == 0 ? 4 : cx->csources * 2;
        tg_source **to = TG_ARRAY(cx, tg_source *, room);
        for (uint32_t i = 0; i < cx->nsources; ++i) to[i] = cx->source[i];
        cx->source = to;
        cx->csources = room;
    }
    tg_source *s = TG_NEW(cx, tg_source);
    s->name = tg_copy(cx, name, strlen(name) + 1);
    s->text = text;
    s->size = size;
    cx->source[cx->nsources++] = s;
    s->id = cx->nsources;
    return s;
}

tg_source *tg_source_of(tg_ctx *cx, tg_span at)
{
    return at.file == 0 || at.file > cx->nsources ? NULL : cx->source[at.file - 1];
}

static void find_lines(tg_ctx *cx, tg_source *s)
{
    size_t n = 1;
    const char *end = s->size == 0 ? s->text : s->text + s->size;       /* an empty text may be NULL */
    if (s->size > 0) {
        for (const char *p = s->text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; ++p) ++n;
    }
    uint32_t *line = TG_ARRAY(cx, uint32_t, n);     /* line[0] is 0 */
    size_t k = 1;
    for (const char *p = s->text; k < n; ++p) {
        p = memchr(p, '\n', (size_t)(end - p));
        line[k++] = (uint32_t)(p + 1 - s->text);
    }
    s->line = line;
    s->nlines = n;
}

void tg_locate(tg_ctx *cx, tg_span at, uint32_t *line, uint32_t *column)
{
    *line = *column = 0;
    tg_source *s = tg_source_of(cx, at);
    if (s == NULL) return;
    if (s->line == NULL) find_lines(cx, s);
    uint32_t place = at.begin > s->size ? (uint32_t)s->size : at.begin;
    size_t low = 0, high = s->nlines;               /* line[low] <= place < line[high] */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->line[mid] <= place) low = mid;
        else high = mid;
    }
    *line = (uint32_t)low + 1;
    *column = place - s->line[low] + 1;
}

const char *tg_basename(const char *path)
{
    const char *base = path;
    for (const char *p = path; *p != '\0'; ++p) {
        if (*p == '/' || *p == '\\') base = p + 1;
    }
    return base;
}

const char *tg_place(tg_ctx *cx, tg_span at)
{
    const tg_source *s = tg_source_of(cx, at);
    if (s == NULL) return "";
    uint32_t line, column;
    tg_locate(cx, at, &line, &column);
    return tg_format(cx, "%s:%u:%u", tg_basename(s->name), (unsigned)line, (unsigned)column);
}
