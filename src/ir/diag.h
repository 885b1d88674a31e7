/* diag.h: errors, warnings, notes with place and caret. A pass reports and returns false; it never prints. */
#ifndef TG_DIAG_H
#define TG_DIAG_H

#include <stdarg.h>
#include "ctx.h"

void tg_error(tg_ctx *cx, tg_span at, const char *fmt, ...) TG_PRINTF(3, 4);
void tg_warning(tg_ctx *cx, tg_span at, const char *fmt, ...) TG_PRINTF(3, 4);
void tg_note(tg_ctx *cx, tg_span at, const char *fmt, ...) TG_PRINTF(3, 4);
/* An error in a file that is not text (a parameter file): shown as file: at byte OFFSET. */
void tg_error_file(tg_ctx *cx, const char *file, uint64_t offset, const char *fmt, ...) TG_PRINTF(4, 5);
/* What the four above and tg_fail() share: delivers one diagnostic, counts errors, sets no limit. */
void tg_report(tg_ctx *cx, tirgen_severity severity, tg_span at, const char *fmt, va_list args);

#endif
