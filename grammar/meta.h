/* meta.h: between meta.c, which reads the JSON of a metadata section, and meta_graph.c, which resolves its nodes. */
#ifndef TG_META_H
#define TG_META_H

#include "ir/diag.h"
#include "ir/value.h"
#include "ir/vec.h"
#include "parse.h"

enum tg_json_kind {
    TG_JSON_NULL,
    TG_JSON_BOOL,
    TG_JSON_INT,
    TG_JSON_FLOAT,
    TG_JSON_STR,
    TG_JSON_LIST,
    TG_JSON_MAP,
    TG_JSON_TENSOR
};

/* A JSON value. Strings that are NDArray blobs are tensors already. */
typedef struct tg_json {
    uint8_t kind;                   /* enum tg_json_kind */
    uint32_t n;                     /* items of LIST and MAP */
    uint32_t at;                    /* byte in the text where it ends */
    union {
        int64_t i;                  /* BOOL, INT */
        double f;
        const tg_name *s;
        const tg_tensor *t;
        const struct tg_json *item; /* n values */
    } u;
    const tg_name *const *key;      /* MAP: n keys */
} tg_json;

/* A container being read: where its values and keys begin on the stacks. */
typedef struct tg_meta_open { size_t value, key; bool map; } tg_meta_open;

struct tg_meta {
    tg_ctx *cx;
    tg_span at;
    uint32_t place;                 /* byte of the text where the next piece begins */
    bool failed, has_blobs;         /* has_blobs: "b64ndarrays" is there, if empty */
    struct yajl_handle_t *parser;   /* lives in the arena, as everything it allocates */
    TG_VEC(tg_json) value;          /* finished values of the open containers */
    TG_VEC(const tg_name *) key;    /* keys of the open maps */
    TG_VEC(tg_meta_open) open;

    tg_json root;                   /* the document */
    const tg_json *node, *blob;     /* "nodes" and "b64ndarrays" */
    uint32_t nnodes, nblobs, top;   /* top: the node that maps type keys to lists */
    const tg_value **memo;          /* by node: its value once known */
    unsigned char *busy;            /* by node: being resolved */
};

/* Reports at a byte of the text; m->failed is set. Always false. */
bool tg_meta_error(tg_meta *m, uint32_t at, const char *fmt, ...) TG_PRINTF(3, 4);
const tg_json *tg_json_get(const tg_json *map, const char *key);     /* NULL when absent or no map */
bool tg_meta_index(tg_meta *m);     /* finds nodes, root and blobs after reading; checks their kinds */

#endif
