/* map.c: open addressing with linear probing; a free slot has no value. Nothing is ever removed. */
#include "arena.h"
#include "map.h"

/* Spreads keys that differ only in a few bits, as pointers do. */
static size_t slot_of(const tg_map *m, uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    return (size_t)key & (m->cap - 1);
}

/* The slot that holds @p key, or the free one where it belongs. */
static size_t find(const tg_map *m, uint64_t key)
{
    size_t i = slot_of(m, key);
    while (m->val[i] != NULL && m->key[i] != key) i = (i + 1) & (m->cap - 1);
    return i;
}

void *tg_map_get(const tg_map *m, uint64_t key)
{
    return m->n == 0 ? NULL : m->val[find(m, key)];
}

static void grow(struct tirgen_ctx *cx, tg_map *m)
{
    tg_map to = { NULL, NULL, m->n, m->cap == 0 ? 16 : m->cap * 2 };
    to.key = TG_ARRAY(cx, uint64_t, to.cap);
    to.val = TG_ARRAY(cx, void *, to.cap);
    for (size_t i = 0; i < m->cap; ++i) {
        if (m->val[i] == NULL) continue;
        size_t k = find(&to, m->key[i]);
        to.key[k] = m->key[i];
        to.val[k] = m->val[i];
    }
    *m = to;
}

void tg_map_put(struct tirgen_ctx *cx, tg_map *m, uint64_t key, void *val)
{
    if (m->n >= m->cap / 4 * 3) grow(cx, m);
    size_t i = find(m, key);
    if (m->val[i] == NULL) {
        m->key[i] = key;
        ++m->n;
    }
    m->val[i] = val;
}

uint64_t tg_hash(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < n; ++i) {
        h ^= p[i];
        h *= 0x100000001b3u;
    }
    return h;
}
