/* ctx.h: the context that owns everything: arenas, names, types, sources, diagnostics. No globals beside it.
 * Two contexts in two threads never meet; one context belongs to one thread at a time. */
#ifndef TG_CTX_H
#define TG_CTX_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <dlpack/dlpack.h>

#include "tirgen/diag.h"
#include "tirgen/status.h"

#include "arena.h"
#include "map.h"

#define TG_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__GNUC__)
#define TG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TG_NORETURN __attribute__((noreturn))
#else
#define TG_PRINTF(fmt, args)
#define TG_NORETURN
#endif

/* A range of bytes in a loaded text. file 0: no place. */
typedef struct tg_span { uint32_t file, begin, end; } tg_span;
#define TG_NOWHERE ((tg_span){ 0, 0, 0 })

typedef struct tg_name tg_name;
typedef struct tg_type tg_type;
typedef struct tg_node tg_node;
typedef struct tg_module tg_module;

/* Limits on hostile input; each has a message. */
enum {
    TG_MAX_NDIM = 16,               /* dimensions of a tensor */
    TG_MAX_NESTING = 20000,         /* nested expressions, types, blocks in a text */
    TG_MAX_NAME = 1u << 16,         /* bytes of a name */
    TG_MAX_ERRORS = 50              /* diagnostics before reading stops */
};
#define TG_MAX_TEXT ((size_t)2 << 30)       /* bytes of one text */
#define TG_MAX_ELEMENTS ((int64_t)1 << 40)  /* elements of one tensor */

typedef struct tirgen_ctx tg_ctx;
struct tirgen_ctx {
    tg_arena keep;                  /* text, nodes, types: until the context goes */
    tg_arena temp;                  /* scratch of one pass */
    jmp_buf *unwind;                /* set by the public entry (src/tirgen.c) */
    tirgen_status failure;          /* what tg_fail() was called with */

    tg_map names;                   /* hash of bytes -> tg_name chain */
    uint32_t nnames;
    tg_map types;                   /* structural hash -> tg_type chain */
    uint32_t ntypes;
    struct tg_source **source;      /* loaded texts, span.file - 1 */
    uint32_t nsources, csources;

    tirgen_diag_fn diag;
    void *diag_user;
    uint32_t nerrors;

    uint32_t nnodes, nvars, nbuffers;   /* next dense ids */
    const char *pass;               /* name of the running pass, for bug reports */
    void *ops;                      /* the operator table, made by src/ops on first use */
    void *table[8];                 /* other folders' lazily made tables; index = enum tg_table */
};

/* @return a fresh context, or NULL when its first allocation fails; from NULL: malloc and free. */
tg_ctx *tg_ctx_new(const tg_allocator *from);
void tg_ctx_free(tg_ctx *cx);                   /* everything the context owns; NULL is allowed */

enum tg_table { TG_TABLE_INTRIN, TG_TABLE_SESSION, TG_TABLE_TVMSCRIPT, TG_TABLE_RELAY };

/* Leave the public call with @p status after reporting the text; never returns. For limits and lack of memory. */
TG_NORETURN void tg_fail(tg_ctx *cx, tirgen_status status, tg_span at, const char *fmt, ...) TG_PRINTF(4, 5);

/* A bug of ours: names pass, node and condition, leaves as TIRGEN_EBUG. Active in release builds too. */
#define TG_CHECK(cx, cond, node) ((cond) ? (void)0 : tg_bug((cx), #cond, __FILE__, __LINE__, (node)))
TG_NORETURN void tg_bug(tg_ctx *cx, const char *cond, const char *file, int line, const tg_node *node);

#endif
