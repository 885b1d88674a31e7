/* guard.h: how a public call is entered: one setjmp for the whole library (src/tirgen.c). */
#ifndef TG_GUARD_H
#define TG_GUARD_H

#include "ctx.h"

/* Runs @p fn; true is TIRGEN_OK, false TIRGEN_EINPUT, a tg_fail() inside its status. Nested calls share the outer entry. */
tirgen_status tg_guard(tg_ctx *cx, bool (*fn)(tg_ctx *cx, void *arg), void *arg);

#endif
