/* arena.c: memory in chunks, given back all at once. Under AddressSanitizer each block is fenced off from the next. */
#include <string.h>

#include "ctx.h"

#if defined(__SANITIZE_ADDRESS__)
#define TG_FENCED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_FENCED 1
#endif
#endif

#if defined(TG_FENCED)
#include <sanitizer/asan_interface.h>
#define FENCE_BYTES 16u
#define FENCE(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define OPEN(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define FENCE_BYTES 0u
#define FENCE(p, n) ((void)0)
#define OPEN(p, n) ((void)0)
#endif

enum { ALIGN = 16, HEADER_BYTES = 32, FIRST_CHUNK = 64 * 1024, LARGEST_CHUNK = 4 * 1024 * 1024 };

struct tg_chunk { struct tg_chunk *older; };

void tg_arena_init(tg_arena *a, const tg_allocator *from)
{
    *a = (tg_arena){ .from = *from };
}

void tg_arena_free(tg_arena *a)
{
    struct tg_chunk *c = a->head;
    while (c != NULL) {
        struct tg_chunk *older = c->older;
        a->from.free(a->from.user, c);
        c = older;
    }
    tg_arena_init(a, &(tg_allocator){ a->from.alloc, a->from.free, a->from.user });
}

/* A chunk with room for @p size bytes after the header, not yet linked. */
static struct tg_chunk *chunk_new(tg_ctx *cx, tg_arena *a, size_t size)
{
    struct tg_chunk *c = a->from.alloc(a->from.user, HEADER_BYTES + size);
    if (c == NULL) tg_fail(cx, TIRGEN_ENOMEM, TG_NOWHERE, "out of memory");
    a->total_bytes += HEADER_BYTES + size;
    return c;
}

/* First aligned byte after the header: the header is larger than a pointer and the alignment together. */
static unsigned char *chunk_data(struct tg_chunk *c)
{
    unsigned char *p = (unsigned char *)c + sizeof(*c);
    uintptr_t past = (uintptr_t)p % ALIGN;
    return past == 0 ? p : p + (ALIGN - past);
}

/* Chunks double from the first to the largest size, so that a small context stays small. */
static size_t chunk_size(const tg_arena *a)
{
    size_t size = FIRST_CHUNK;
    while (size < LARGEST_CHUNK && size < a->total_bytes) size *= 2;
    return size;
}

static unsigned char *from_new_chunk(tg_ctx *cx, tg_arena *a, size_t size)
{
    size_t usual = chunk_size(a);
    if (size <= usual / 4 || a->head == NULL) {
        size_t room = size > usual ? size : usual;
        struct tg_chunk *c = chunk_new(cx, a, room);
        c->older = a->head;
        a->head = c;
        a->next = chunk_data(c);
        a->end = a->next + room;
        FENCE(a->next, room);
        unsigned char *p = a->next;
        a->next += size;
        return p;
    }
    struct tg_chunk *c = chunk_new(cx, a, size);    /* a large block: the current chunk stays in use */
    c->older = a->head->older;
    a->head->older = c;
    FENCE(chunk_data(c), size);
    return chunk_data(c);
}

static void *take(tg_ctx *cx, tg_arena *a, size_t asked)
{
    if (asked > SIZE_MAX / 2) tg_fail(cx, TIRGEN_ENOMEM, TG_NOWHERE, "out of memory");
    size_t size = (asked + FENCE_BYTES + (ALIGN - 1)) / ALIGN * ALIGN;
    if (size == 0) size = ALIGN;
    unsigned char *p;
    if (a->head != NULL && size <= (size_t)(a->end - a->next)) {
        p = a->next;
        a->next += size;
    } else {
        p = from_new_chunk(cx, a, size);
    }
    OPEN(p, asked);
    memset(p, 0, asked);
    return p;
}

static size_t product(tg_ctx *cx, size_t count, size_t size_bytes)
{
    if (size_bytes != 0 && count > SIZE_MAX / size_bytes) tg_fail(cx, TIRGEN_ENOMEM, TG_NOWHERE, "out of memory");
    return count * size_bytes;
}

void *tg_alloc(tg_ctx *cx, size_t size_bytes)
{
    return take(cx, &cx->keep, size_bytes);
}

void *tg_alloc_array(tg_ctx *cx, size_t count, size_t size_bytes)
{
    return take(cx, &cx->keep, product(cx, count, size_bytes));
}

void *tg_copy(tg_ctx *cx, const void *from, size_t size_bytes)
{
    void *p = take(cx, &cx->keep, size_bytes);
    if (size_bytes > 0) memcpy(p, from, size_bytes);
    return p;
}

void *tg_temp(tg_ctx *cx, size_t size_bytes)
{
    return take(cx, &cx->temp, size_bytes);
}

void *tg_temp_array(tg_ctx *cx, size_t count, size_t size_bytes)
{
    return take(cx, &cx->temp, product(cx, count, size_bytes));
}

void tg_temp_reset(tg_ctx *cx)
{
    tg_arena_free(&cx->temp);
}
