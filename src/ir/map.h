/* map.h: hash table from 64-bit keys to pointers, open addressing, in an arena. Order of insertion is never observable:
 * nothing that reaches an output may iterate a map. */
#ifndef TG_MAP_H
#define TG_MAP_H

#include <stddef.h>
#include <stdint.h>

struct tirgen_ctx;

typedef struct tg_map { uint64_t *key; void **val; size_t n, cap; } tg_map;

void *tg_map_get(const tg_map *m, uint64_t key);                        /* NULL when absent */
void tg_map_put(struct tirgen_ctx *cx, tg_map *m, uint64_t key, void *val);  /* replaces; val not NULL */
uint64_t tg_hash(const void *bytes, size_t n, uint64_t seed);           /* FNV-1a, same on every machine */

#define TG_KEY(p) ((uint64_t)(uintptr_t)(p))    /* key of a pointer */

#endif
