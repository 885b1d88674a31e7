/* ctx.c: making and freeing a context, and the two ways out of a public call: tg_fail() and tg_bug(). */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "diag.h"
#include "node.h"
#include "source.h"
#include "text.h"

static void *from_malloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void to_free(void *user, void *p)
{
    (void)user;
    free(p);
}

tg_ctx *tg_ctx_new(const tg_allocator *from)
{
    const tg_allocator usual = { from_malloc, to_free, NULL };
    if (from == NULL) from = &usual;
    tg_ctx *cx = from->alloc(from->user, sizeof(*cx));
    if (cx == NULL) return NULL;
    memset(cx, 0, sizeof(*cx));
    tg_arena_init(&cx->keep, from);
    tg_arena_init(&cx->temp, from);
    return cx;
}

void tg_ctx_free(tg_ctx *cx)
{
    if (cx == NULL) return;
    tg_allocator from = cx->keep.from;      /* a copy: cx goes last */
    tg_arena_free(&cx->temp);
    tg_arena_free(&cx->keep);
    from.free(from.user, cx);
}

TG_NORETURN static void leave(tg_ctx *cx, tirgen_status status)
{
    cx->failure = status;
    if (cx->unwind == NULL) abort();        /* an entry point forgot to set it: there is nowhere to return to */
    longjmp(*cx->unwind, 1);
}

void tg_fail(tg_ctx *cx, tirgen_status status, tg_span at, const char *fmt, ...)
{
    if (status != TIRGEN_ENOMEM) {          /* out of memory: reporting would allocate */
        va_list args;
        va_start(args, fmt);
        tg_report(cx, TIRGEN_ERROR, at, fmt, args);
        va_end(args);
    }
    leave(cx, status);
}

void tg_bug(tg_ctx *cx, const char *cond, const char *file, int line, const tg_node *node)
{
    const char *kind = node == NULL ? "none" : node->kind < TG_NKINDS ? tg_kind_info[node->kind].text : "bad kind";
    tg_fail(cx, TIRGEN_EBUG, node == NULL ? TG_NOWHERE : node->span,
            "internal error in pass %s: '%s' does not hold at %s:%d (node: %s)",
            cx->pass == NULL ? "(none)" : cx->pass, cond, tg_basename(file), line, kind);
}
