/* source.h: loaded texts and their line starts; where a byte is. */
#ifndef TG_SOURCE_H
#define TG_SOURCE_H

#include "ctx.h"

typedef struct tg_source {
    const char *name;               /* as given: shown in diagnostics */
    const char *text;               /* borrowed (memory-mapped) or in the arena; no NUL */
    size_t size;
    uint32_t id;                    /* span.file */
    uint32_t *line;                 /* byte offset of each line; made on first use */
    size_t nlines;
} tg_source;

/* Register a text; @p text must outlive the context (the caller maps or copies it). */
tg_source *tg_source_add(tg_ctx *cx, const char *name, const char *text, size_t size);
tg_source *tg_source_of(tg_ctx *cx, tg_span at);                        /* NULL for TG_NOWHERE */
void tg_locate(tg_ctx *cx, tg_span at, uint32_t *line, uint32_t *column);   /* from 1; 0, 0 for TG_NOWHERE */
const char *tg_basename(const char *path);                              /* after the last slash */
/* "lenet.relay:12:8" (base name), or "" for TG_NOWHERE. For comments in emitted code. */
const char *tg_place(tg_ctx *cx, tg_span at);
static inline tg_span tg_span_join(tg_span a, tg_span b) { return a.file == 0 ? b : (tg_span){ a.file, a.begin, b.end }; }

#endif
