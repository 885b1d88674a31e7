/* names.c: one copy of each string, found by the hash of its bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

const tg_name *tg_intern(tg_ctx *cx, const char *text, size_t len)
{
    uint64_t hash = tg_hash(text, len, 0);
    tg_name *first = tg_map_get(&cx->names, hash);
    for (tg_name *n = first; n != NULL; n = n->next) {
        if (n->len == len && memcmp(n->text, text, len) == 0) return n;
    }
    if (len > TG_MAX_TEXT) tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "a string of %zu bytes is too long", len);
    tg_name *n = tg_alloc(cx, sizeof(*n) + len + 1);
    n->next = first;
    n->id = cx->nnames++;
    n->len = (uint32_t)len;
    if (len > 0) memcpy(n->text, text, len);
    tg_map_put(cx, &cx->names, hash, n);
    return n;
}

const tg_name *tg_intern_z(tg_ctx *cx, const char *text)
{
    return tg_intern(cx, text, strlen(text));
}

const tg_name *tg_internf(tg_ctx *cx, const char *fmt, ...)
{
    char small[256];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(small, sizeof(small), fmt, args);
    va_end(args);
    TG_CHECK(cx, len >= 0, NULL);
    if ((size_t)len < sizeof(small)) return tg_intern(cx, small, (size_t)len);

    char *large = tg_temp(cx, (size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(large, (size_t)len + 1, fmt, args);
    va_end(args);
    return tg_intern(cx, large, (size_t)len);
}
