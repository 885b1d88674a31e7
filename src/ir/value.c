/* value.c: values of attributes: building, comparing, dictionaries. */
#include <stdlib.h>
#include <string.h>

#include "value.h"

static tg_value *value_new(tg_ctx *cx, enum tg_value_kind kind, uint16_t bits)
{
    tg_value *v = TG_NEW(cx, tg_value);
    v->kind = (uint16_t)kind;
    v->bits = bits;
    return v;
}

const tg_value *tg_v_none(tg_ctx *cx)
{
    return value_new(cx, TG_V_NONE, 0);
}

const tg_value *tg_v_bool(tg_ctx *cx, bool b)
{
    tg_value *v = value_new(cx, TG_V_BOOL, 1);
    v->i = b ? 1 : 0;
    return v;
}

const tg_value *tg_v_int(tg_ctx *cx, int64_t i)
{
    tg_value *v = value_new(cx, TG_V_INT, i >= INT32_MIN && i <= INT32_MAX ? 32 : 64);
    v->i = i;
    return v;
}

const tg_value *tg_v_float(tg_ctx *cx, double f)
{
    tg_value *v = value_new(cx, TG_V_FLOAT, 32);
    v->f = f;
    return v;
}

const tg_value *tg_v_str(tg_ctx *cx, const tg_name *s)
{
    tg_value *v = value_new(cx, TG_V_STR, 0);
    v->s = s;
    return v;
}

const tg_value *tg_v_strz(tg_ctx *cx, const char *s)
{
    return tg_v_str(cx, tg_intern_z(cx, s));
}

const tg_value *tg_v_list(tg_ctx *cx, uint32_t n, const tg_value *const *item)
{
    tg_value *v = value_new(cx, TG_V_LIST, 0);
    v->n = n;
    v->item = tg_copy(cx, item, n * sizeof(*item));
    return v;
}

const tg_value *tg_v_ints(tg_ctx *cx, uint32_t n, const int64_t *i)
{
    const tg_value **item = TG_ARRAY(cx, const tg_value *, n);
    for (uint32_t k = 0; k < n; ++k) item[k] = tg_v_int(cx, i[k]);
    tg_value *v = value_new(cx, TG_V_LIST, 0);
    v->n = n;
    v->item = item;
    return v;
}

const tg_value *tg_v_dict(tg_ctx *cx, uint32_t n, const tg_name *const *key, const tg_value *const *item)
{
    tg_value *v = value_new(cx, TG_V_DICT, 0);
    v->n = n;
    v->key = tg_copy(cx, key, n * sizeof(*key));
    v->item = tg_copy(cx, item, n * sizeof(*item));
    return v;
}

const tg_value *tg_v_tensor(tg_ctx *cx, const tg_tensor *t)
{
    tg_value *v = value_new(cx, TG_V_TENSOR, 0);
    v->t = t;
    return v;
}

/* Names of two contexts compare by their bytes. */
static bool same_name(const tg_name *a, const tg_name *b)
{
    if (a == b) return true;
    return a != NULL && b != NULL && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Entries of equal dictionaries are mostly in the same order: looking on from the last match keeps that linear. */
static bool same_entries(const tg_value *a, const tg_value *b)
{
    if (a->n != b->n) return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < a->n; ++i) {
        uint32_t tried = 0;
        while (tried < b->n && !same_name(a->key[i], b->key[at])) {
            at = at + 1 == b->n ? 0 : at + 1;
            ++tried;
        }
        if (tried == b->n || !tg_value_equal(a->item[i], b->item[at])) return false;
        at = at + 1 == b->n ? 0 : at + 1;
    }
    return true;
}

/* Readers limit how deep values nest, so recursion is bounded. */
bool tg_value_equal(const tg_value *a, const tg_value *b)
{
    if (a == b) return true;
    if (a == NULL) return b->kind == TG_V_DICT && b->n == 0;
    if (b == NULL) return a->kind == TG_V_DICT && a->n == 0;
    if (a->kind != b->kind) return false;
    switch ((enum tg_value_kind)a->kind) {
    case TG_V_NONE: return true;
    case TG_V_BOOL:
    case TG_V_INT: return a->i == b->i;
    case TG_V_FLOAT: return memcmp(&a->f, &b->f, sizeof(a->f)) == 0;
    case TG_V_STR: return same_name(a->s, b->s);
    case TG_V_LIST:
        if (a->n != b->n) return false;
        for (uint32_t i = 0; i < a->n; ++i) {
            if (!tg_value_equal(a->item[i], b->item[i])) return false;
        }
        return true;
    case TG_V_DICT: return same_entries(a, b);
    case TG_V_TENSOR: return tg_tensor_equal(a->t, b->t);
    case TG_V_OBJECT: return same_name(a->s, b->s) && same_entries(a, b);
    }
    return false;
}

static bool has_keys(const tg_value *v)
{
    return v != NULL && (v->kind == TG_V_DICT || v->kind == TG_V_OBJECT);
}

const tg_value *tg_v_get(const tg_value *dict, const char *key)
{
    if (!has_keys(dict)) return NULL;
    for (uint32_t i = 0; i < dict->n; ++i) {
        if (tg_name_is(dict->key[i], key)) return dict->item[i];
    }
    return NULL;
}

typedef struct entry { const tg_name *key; const tg_value *item; } entry;

static int by_key(const void *left, const void *right)
{
    const tg_name *a = ((const entry *)left)->key, *b = ((const entry *)right)->key;
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

/* @p dict, an object too, with these entries in place of its own. */
static const tg_value *with_entries(tg_ctx *cx, const tg_value *dict, uint32_t n, const entry *e)
{
    const tg_name **key = TG_ARRAY(cx, const tg_name *, n);
    const tg_value **item = TG_ARRAY(cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i) {
        key[i] = e[i].key;
        item[i] = e[i].item;
    }
    tg_value *v = value_new(cx, TG_V_DICT, 0);
    if (has_keys(dict)) *v = *dict;
    v->n = n;
    v->key = key;
    v->item = item;
    return v;
}

/* The entries of @p dict but @p key, with room for one more. */
static entry *entries_without(tg_ctx *cx, const tg_value *dict, const char *key, uint32_t *n)
{
    uint32_t count = has_keys(dict) ? dict->n : 0;
    entry *e = TG_TEMP_ARRAY(cx, entry, (size_t)count + 1);
    *n = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!tg_name_is(dict->key[i], key)) e[(*n)++] = (entry){ dict->key[i], dict->item[i] };
    }
    return e;
}

const tg_value *tg_v_with(tg_ctx *cx, const tg_value *dict, const char *key, const tg_value *v)
{
    uint32_t n;
    entry *e = entries_without(cx, dict, key, &n);
    e[n++] = (entry){ tg_intern_z(cx, key), v };
    qsort(e, n, sizeof(*e), by_key);
    return with_entries(cx, dict, n, e);
}

const tg_value *tg_v_without(tg_ctx *cx, const tg_value *dict, const char *key)
{
    if (tg_v_get(dict, key) == NULL) return dict;
    uint32_t n;
    entry *e = entries_without(cx, dict, key, &n);
    return n == 0 && dict->kind == TG_V_DICT ? NULL : with_entries(cx, dict, n, e);
}

int64_t tg_v_get_int(const tg_value *dict, const char *key, int64_t otherwise)
{
    const tg_value *v = tg_v_get(dict, key);
    return v != NULL && (v->kind == TG_V_INT || v->kind == TG_V_BOOL) ? v->i : otherwise;
}

const char *tg_v_get_str(const tg_value *dict, const char *key, const char *otherwise)
{
    const tg_value *v = tg_v_get(dict, key);
    return v != NULL && v->kind == TG_V_STR ? v->s->text : otherwise;
}
