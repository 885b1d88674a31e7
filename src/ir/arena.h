/* arena.h: block allocator. Nothing is freed singly; running out leaves the public call through tg_fail(). */
#ifndef TG_ARENA_H
#define TG_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct tirgen_ctx;

/* Where blocks come from; tests give one that fails on request. */
typedef struct tg_allocator {
    void *(*alloc)(void *user, size_t size);
    void (*free)(void *user, void *p);
    void *user;
} tg_allocator;

typedef struct tg_arena {
    struct tg_chunk *head;
    unsigned char *next, *end;
    size_t total_bytes;             /* taken from the allocator */
    tg_allocator from;
} tg_arena;

void tg_arena_init(tg_arena *a, const tg_allocator *from);
void tg_arena_free(tg_arena *a);

/* @return zeroed memory aligned to 16 bytes; never NULL. size 0 gives a valid pointer. */
void *tg_alloc(struct tirgen_ctx *cx, size_t size_bytes);
void *tg_alloc_array(struct tirgen_ctx *cx, size_t count, size_t size_bytes);   /* checks the product */
void *tg_copy(struct tirgen_ctx *cx, const void *from, size_t size_bytes);

/* The same from the scratch arena: gone at tg_temp_reset(), which the pass manager calls after each pass. */
void *tg_temp(struct tirgen_ctx *cx, size_t size_bytes);
void *tg_temp_array(struct tirgen_ctx *cx, size_t count, size_t size_bytes);
void tg_temp_reset(struct tirgen_ctx *cx);

#define TG_NEW(cx, T) ((T *)tg_alloc((cx), sizeof(T)))
#define TG_ARRAY(cx, T, n) ((T *)tg_alloc_array((cx), (size_t)(n), sizeof(T)))
#define TG_TEMP_ARRAY(cx, T, n) ((T *)tg_temp_array((cx), (size_t)(n), sizeof(T)))

#endif
