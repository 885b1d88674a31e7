/* tvmscript_text.h: what the rules of tvmscript.l call. Private to the scanner. */
#ifndef TG_TVMSCRIPT_TEXT_H
#define TG_TVMSCRIPT_TEXT_H

#include "tvmscript_tree.h"

size_t tg_script_feed(tg_script *p, char *buffer, size_t most);         /* next bytes of the source for flex */
tg_span tg_script_step(tg_script *p, uint32_t n);                       /* the place of the next n bytes */
void *tg_script_block(tg_ctx *cx, void *old, size_t size_bytes);        /* flex's memory: scratch that can grow */

bool tg_script_open(tg_script *p, tg_span at);                          /* a bracket; false past the limit */
void tg_script_unclosed(tg_script *p, tg_span at);
void tg_script_bad_byte(tg_script *p, tg_span at, unsigned char c);
/* A logical line begins with these n blanks. @return 1 deeper, 0 same, -1 shallower (further DEDENTs wait in p). */
int tg_script_indent(tg_script *p, tg_span at, const char *blanks, size_t n);
void tg_script_comment(tg_script *p, tg_span at, const char *text, size_t n);   /* "# from tvm.script import tir as T" */

tg_syn *tg_script_decimal(tg_script *p, tg_span at, const char *text, size_t n);
tg_syn *tg_script_radix(tg_script *p, tg_span at, const char *text, size_t n);
tg_syn *tg_script_float(tg_script *p, tg_span at, const char *text, size_t n);

/* These begin where p->at stands, after the opening quotes that end @p text, and leave it after what they have read. */
const tg_name *tg_script_string(tg_script *p, tg_span *at, const char *text, size_t n);     /* NULL after an error */
bool tg_script_metadata(tg_script *p, tg_span at, const char *text, size_t n);
bool tg_script_legacy_metadata(tg_script *p, tg_span at);               /* raw JSON */

#endif
