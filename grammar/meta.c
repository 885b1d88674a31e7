/* meta.c: reads the JSON of a metadata section piece by piece. Strings that are NDArray blobs, nearly all of the bytes,
 * are decoded as they come into the memory of their tensor; all else is small and kept as a tree for meta_graph.c.
 * The JSON parser takes its memory from the arena, so that a failure may leave at any point. */
#include "meta.h"

#include <stdarg.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "blob.h"
#include "ir/text.h"
#include "number.h"

enum {
    MAX_DEPTH = 256,                /* nested JSON containers; a metadata section has four or five */
    BLOB_PREFIX = 11                /* characters that only a blob's magic number gives */
};

bool tg_meta_error(tg_meta *m, uint32_t at, const char *fmt, ...)
{
    va_list args;
    tg_text t = tg_text_new(m->cx);
    va_start(args, fmt);
    tg_vprintf(&t, fmt, args);
    va_end(args);
    uint32_t end = m->at.end > m->at.begin ? m->at.end : UINT32_MAX; /* the caller may not know where the text ends */
    tg_span span = { m->at.file, at < end ? at : end, at < end ? at + 1 : end };
    tg_error(m->cx, span, "metadata: %s", tg_text_z(&t));
    m->failed = true;
    return false;
}

/* ---- memory of the parser: an arena block remembers its size for realloc ---- */

static void *json_alloc(void *cx, size_t size)
{
    size_t *p = tg_alloc(cx, size + 16);
    *p = size;
    return (unsigned char *)p + 16;
}

static void *json_realloc(void *cx, void *from, size_t size)
{
    unsigned char *to = json_alloc(cx, size);
    if (from != NULL) {
        size_t old = *(const size_t *)(const void *)((unsigned char *)from - 16);
        memcpy(to, from, old < size ? old : size);
    }
    return to;
}

static void json_free(void *cx, void *p)
{
    (void)cx;
    (void)p;
}

/* ---- events ---- */

/* Where the parser stands: just after the token it reports. */
static uint32_t here(const tg_meta *m)
{
    return m->place + (uint32_t)yajl_get_bytes_consumed(m->parser);
}

static int put(tg_meta *m, tg_json v)
{
    v.at = here(m);
    TG_PUSH(m->cx, m->value, v);
    return 1;
}

static int on_null(void *user)
{
    return put(user, (tg_json){ .kind = TG_JSON_NULL });
}

static int on_bool(void *user, int b)
{
    return put(user, (tg_json){ .kind = TG_JSON_BOOL, .u.i = b });
}

static int on_number(void *user, const char *text, size_t n)
{
    tg_meta *m = user;
    tg_json v = { .kind = TG_JSON_INT };
    bool negative = text[0] == '-';
    tg_decimal d;
    if (tg_read_int(text, n, &v.u.i))
        return put(m, v);
    if (!tg_read_decimal(m->cx, text + negative, n - negative, &d))
        return tg_meta_error(m, here(m), "a number that cannot be read");
    v.kind = TG_JSON_FLOAT;
    v.u.f = negative ? -d.f64 : d.f64;
    return put(m, v);
}

static bool is_blob(const char *text, size_t n)
{
    return n > BLOB_PREFIX && memcmp(text, "P6G0lvBAXt0", BLOB_PREFIX) == 0;
}

static int on_string(void *user, const unsigned char *bytes, size_t n)
{
    tg_meta *m = user;
    const char *text = (const char *)bytes;
    if (!is_blob(text, n))
        return put(m, (tg_json){ .kind = TG_JSON_STR, .u.s = tg_intern(m->cx, text, n) });
    tg_blob_error e;
    tg_tensor *t = tg_blob_read_base64(m->cx, text, n, &e);
    if (t != NULL)
        return put(m, (tg_json){ .kind = TG_JSON_TENSOR, .u.t = t });
    uint32_t end = here(m);
    size_t back = n + 1 - e.at;                     /* from the closing quote to the place */
    return tg_meta_error(m, back <= end ? end - (uint32_t)back : end, "this is %s", e.text);
}

static int on_key(void *user, const unsigned char *bytes, size_t n)
{
    tg_meta *m = user;
    TG_PUSH(m->cx, m->key, tg_intern(m->cx, (const char *)bytes, n));
    return 1;
}

static int begin(tg_meta *m, bool map)
{
    if (m->open.n == MAX_DEPTH)
        return tg_meta_error(m, here(m), "JSON nested more than %d levels deep", MAX_DEPTH);
    TG_PUSH(m->cx, m->open, ((tg_meta_open){ m->value.n, m->key.n, map }));
    return 1;
}

static int on_begin_map(void *user)
{
    return begin(user, true);
}

static int on_begin_list(void *user)
{
    return begin(user, false);
}

/* The values since the container began become its items. */
static int on_end(void *user)
{
    tg_meta *m = user;
    tg_meta_open o = m->open.at[--m->open.n];
    size_t n = m->value.n - o.value;
    tg_json v = { .kind = o.map ? TG_JSON_MAP : TG_JSON_LIST, .n = (uint32_t)n };
    if (n > 0)
        v.u.item = tg_copy(m->cx, TG_FROM(m->value, o.value), n * sizeof *m->value.at);
    if (o.map && n > 0)
        v.key = tg_copy(m->cx, TG_FROM(m->key, o.key), n * sizeof *m->key.at);
    m->value.n = o.value;
    m->key.n = o.key;
    return put(m, v);
}

static const yajl_callbacks events = {
    .yajl_null = on_null, .yajl_boolean = on_bool, .yajl_number = on_number, .yajl_string = on_string,
    .yajl_start_map = on_begin_map, .yajl_map_key = on_key, .yajl_end_map = on_end,
    .yajl_start_array = on_begin_list, .yajl_end_array = on_end
};

/* ---- feeding ---- */

tg_meta *tg_meta_new(tg_ctx *cx, tg_span at)
{
    tg_meta *m = TG_NEW(cx, tg_meta);
    m->cx = cx;
    m->at = at;
    m->place = at.begin;
    yajl_alloc_funcs memory = { json_alloc, json_realloc, json_free, cx };
    m->parser = yajl_alloc(&events, &memory, m);
    yajl_config(m->parser, yajl_dont_validate_strings, 1);      /* names in the bytes of the source model */
    return m;
}

/* What the JSON parser says, without its line break. */
static bool report_syntax(tg_meta *m, uint32_t at)
{
    if (m->failed)
        return false;
    char *text = (char *)yajl_get_error(m->parser, 0, NULL, 0);
    text[strcspn(text, "\n")] = '\0';
    return tg_meta_error(m, at, "%s", text);
}

void tg_meta_place(tg_meta *m, uint32_t begin_byte)
{
    m->place = begin_byte;
}

bool tg_meta_feed(tg_meta *m, const char *bytes, size_t n)
{
    if (m->failed)
        return false;
    if (yajl_parse(m->parser, (const unsigned char *)bytes, n) != yajl_status_ok)
        return report_syntax(m, here(m) > m->place ? here(m) - 1 : m->place);
    m->place += (uint32_t)n;
    return true;
}

bool tg_meta_end(tg_meta *m)
{
    if (m->failed)
        return false;
    if (yajl_complete_parse(m->parser) != yajl_status_ok)
        return report_syntax(m, m->place);
    if (m->value.n != 1)
        return tg_meta_error(m, m->place, "the section holds no JSON document");
    m->root = m->value.at[0];
    return tg_meta_index(m);
}
