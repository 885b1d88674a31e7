/* names.h: interned strings. Equal bytes are one pointer. */
#ifndef TG_NAMES_H
#define TG_NAMES_H

#include "ctx.h"

struct tg_name { tg_name *next; uint32_t id, len; char text[]; };       /* text ends in NUL; may hold any byte */

const tg_name *tg_intern(tg_ctx *cx, const char *text, size_t len);
const tg_name *tg_intern_z(tg_ctx *cx, const char *text);
const tg_name *tg_internf(tg_ctx *cx, const char *fmt, ...) TG_PRINTF(2, 3);
static inline bool tg_name_is(const tg_name *n, const char *text)
{
    const char *a = n->text;
    while (*a != '\0' && *a == *text) { ++a; ++text; }
    return *a == *text;
}

#endif
