/* meta_graph.c: what the nodes of a metadata section stand for. Three layouts (relay-text.md section 7, tvmscript-tir.md
 * section 13): nodes with "type_key" and attributes as strings (TVM 0.6 to 0.20, type keys changed names); the same with
 * nodes for plain values (0.21); nodes with "type" and "data" (0.22 and later). A node is resolved when first asked for. */
#include "meta.h"

#include <math.h>
#include <string.h>

#include "blob.h"
#include "ir/text.h"
#include "number.h"

enum { MAX_NODE_DEPTH = 200 };      /* nodes that refer to nodes; lists in lists in objects */

enum field_kind { BY_CONTENT, REF, STR, BOOL, FLOAT, NDARRAY, SKIP };

static const struct { const char *type, *field; enum field_kind kind; } fields[] = {
#define TG_META(type, field, kind) { type, field, kind },
#include "meta_fields.def"
#undef TG_META
};

static const tg_value *resolve(tg_meta *m, int64_t index, uint32_t at, unsigned depth);

/* ---- the document ---- */

const tg_json *tg_json_get(const tg_json *map, const char *key)
{
    for (uint32_t i = 0; map->kind == TG_JSON_MAP && i < map->n; ++i)
        if (tg_name_is(map->key[i], key))
            return &map->u.item[i];
    return NULL;
}

bool tg_meta_index(tg_meta *m)
{
    const tg_json *node = tg_json_get(&m->root, "nodes"), *blob = tg_json_get(&m->root, "b64ndarrays");
    const tg_json *top = tg_json_get(&m->root, "root");
    if (top == NULL)
        top = tg_json_get(&m->root, "root_index");
    if (node == NULL || node->kind != TG_JSON_LIST || top == NULL || top->kind != TG_JSON_INT)
        return tg_meta_error(m, m->root.at > 0 ? m->root.at - 1 : 0, "the JSON lacks \"nodes\" or \"root\"");
    if (top->u.i < 0 || top->u.i >= node->n)
        return tg_meta_error(m, top->at - 1, "root %lld of %u nodes", (long long)top->u.i, (unsigned)node->n);
    if (blob != NULL && blob->kind != TG_JSON_LIST)
        return tg_meta_error(m, blob->at - 1, "\"b64ndarrays\" must be a list");
    for (uint32_t i = 0; i < node->n; ++i)
        if (node->u.item[i].kind != TG_JSON_MAP)
            return tg_meta_error(m, node->u.item[i].at - 1, "node %u is not an object", (unsigned)i);
    for (uint32_t i = 0; blob != NULL && i < blob->n; ++i)
        if (blob->u.item[i].kind != TG_JSON_TENSOR)
            return tg_meta_error(m, blob->u.item[i].at - 1,
                                 "entry %u of \"b64ndarrays\" is no tensor: its first eight bytes are wrong",
                                 (unsigned)i);
    m->node = node->u.item;
    m->nnodes = node->n;
    m->top = (uint32_t)top->u.i;
    m->blob = blob != NULL ? blob->u.item : NULL;
    m->nblobs = blob != NULL ? blob->n : 0;
    m->has_blobs = blob != NULL;
    m->memo = TG_ARRAY(m->cx, const tg_value *, m->nnodes);
    m->busy = TG_ARRAY(m->cx, unsigned char, m->nnodes);
    return true;
}

/* ---- small readers ---- */

static const tg_value *wrong(tg_meta *m, uint32_t at, const char *what)
{
    tg_meta_error(m, at > 0 ? at - 1 : 0, "%s", what);
    return NULL;
}

static const char *type_key(const tg_json *node)
{
    const tg_json *key = tg_json_get(node, "type_key");
    if (key == NULL)
        key = tg_json_get(node, "type");
    return key != NULL && key->kind == TG_JSON_STR ? key->u.s->text : "";
}

static bool is_one_of(const char *key, const char *const *list)
{
    while (*list != NULL && strcmp(key, *list) != 0)
        ++list;
    return *list != NULL;
}

/* A number in a field: JSON number, or decimal text. */
static bool int_of(const tg_json *v, int64_t *out)
{
    if (v == NULL)
        return false;
    *out = v->u.i;
    return v->kind == TG_JSON_INT || v->kind == TG_JSON_BOOL ||
           (v->kind == TG_JSON_STR && tg_read_int(v->u.s->text, v->u.s->len, out));
}

static bool float_text(tg_ctx *cx, const tg_name *s, double *out)
{
    bool negative = s->len > 0 && s->text[0] == '-';
    const char *text = s->text + (negative ? 1 : 0);
    tg_decimal d = { 0 };
    bool known = true;
    if (strcmp(text, "inf") == 0 || strcmp(text, "nan") == 0)
        d.f64 = text[0] == 'i' ? (double)INFINITY : (double)NAN;
    else
        known = tg_read_decimal(cx, text, s->len - (negative ? 1 : 0), &d);
    *out = negative ? -d.f64 : d.f64;
    return known;
}

static bool float_of(tg_ctx *cx, const tg_json *v, double *out)
{
    if (v == NULL)
        return false;
    if (v->kind == TG_JSON_FLOAT)
        *out = v->u.f;
    else if (v->kind == TG_JSON_INT)
        *out = (double)v->u.i;
    else
        return v->kind == TG_JSON_STR && float_text(cx, v->u.s, out);
    return true;
}

static const tg_value *float_value(tg_ctx *cx, double f, uint16_t bits)
{
    tg_value *v = tg_copy(cx, tg_v_float(cx, f), sizeof *v);
    v->bits = bits;
    return v;
}

static const tg_value *int_value(tg_ctx *cx, int64_t i, uint16_t bits)
{
    tg_value *v = tg_copy(cx, tg_v_int(cx, i), sizeof *v);
    v->bits = bits;
    return v;
}

static const tg_value *object_value(tg_ctx *cx, const char *type, uint32_t n, const tg_name *const *key,
                                    const tg_value *const *item)
{
    tg_value *v = tg_copy(cx, tg_v_dict(cx, n, key, item), sizeof *v);
    if (type != NULL) {
        v->kind = TG_V_OBJECT;
        v->s = tg_intern_z(cx, type);
    }
    return v;
}

/* ---- kinds of nodes ---- */

static const tg_value *tensor_at(tg_meta *m, const tg_json *index, uint32_t at)
{
    int64_t i;
    if (!int_of(index, &i))
        return wrong(m, index != NULL ? index->at : at, "a constant without an index into \"b64ndarrays\"");
    if (i < 0 || i >= m->nblobs) {
        tg_meta_error(m, index->at - 1, "entry %lld of \"b64ndarrays\", which has %u", (long long)i,
                      (unsigned)m->nblobs);
        return NULL;
    }
    return tg_v_tensor(m->cx, m->blob[i].u.t);
}

/* Strings and what is written like them. repr_b64 holds a length and the bytes. */
static const tg_value *string_node(tg_meta *m, const tg_json *node)
{
    static const char *const plain[] = { "repr_str", "global_key", "data", NULL };
    for (size_t k = 0; plain[k] != NULL; ++k) {
        const tg_json *text = tg_json_get(node, plain[k]);
        if (text != NULL && text->kind == TG_JSON_TENSOR)
            return tg_v_tensor(m->cx, text->u.t);
        if (text != NULL && text->kind == TG_JSON_STR)
            return tg_v_str(m->cx, text->u.s);
        if (text != NULL)
            return wrong(m, text->at, "a string was expected");
    }
    const tg_json *coded = tg_json_get(node, "repr_b64");
    if (coded == NULL)
        return tg_v_strz(m->cx, "");
    size_t size;
    tg_blob_error e;
    if (coded->kind != TG_JSON_STR)
        return wrong(m, coded->at, "base64 text was expected");
    const unsigned char *bytes = tg_base64_read(m->cx, coded->u.s->text, coded->u.s->len, &size, &e);
    if (bytes == NULL)
        return wrong(m, coded->at, tg_format(m->cx, "this is %s", e.text));
    if (size < 8 || tg_le64(bytes) != size - 8)
        return wrong(m, coded->at, "the length of the string is wrong");
    return tg_v_str(m->cx, tg_intern(m->cx, (const char *)bytes + 8, size - 8));
}

/* Node indices of a list node: "data", absent when empty. False after an error. */
static bool indices(tg_meta *m, const tg_json *node, const tg_json **item, uint32_t *n)
{
    const tg_json *data = tg_json_get(node, "data");
    *n = 0;
    *item = NULL;
    if (data == NULL)
        return true;
    if (data->kind != TG_JSON_LIST) {
        wrong(m, data->at, "a list of node indices was expected");
        return false;
    }
    for (uint32_t i = 0; i < data->n; ++i)
        if (data->u.item[i].kind != TG_JSON_INT) {
            wrong(m, data->u.item[i].at, "a node index was expected");
            return false;
        }
    *n = data->n;
    *item = data->u.item;
    return true;
}

static const tg_value *list_node(tg_meta *m, const tg_json *node, unsigned depth)
{
    const tg_json *index;
    uint32_t n;
    if (!indices(m, node, &index, &n))
        return NULL;
    const tg_value **item = TG_ARRAY(m->cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i)
        if ((item[i] = resolve(m, index[i].u.i, index[i].at, depth + 1)) == NULL)
            return NULL;
    return tg_v_list(m->cx, n, item);
}

/* A key that is no string shows as its text: a dictionary from pools to sizes keeps the pools' type names. */
static const tg_name *key_name(tg_meta *m, const tg_value *v)
{
    switch ((enum tg_value_kind)v->kind) {
    case TG_V_STR: case TG_V_OBJECT: return v->s;
    case TG_V_INT: case TG_V_BOOL: return tg_internf(m->cx, "%lld", (long long)v->i);
    default: return tg_intern_z(m->cx, "?");
    }
}

static const tg_value *map_node(tg_meta *m, const tg_json *node, unsigned depth)
{
    const tg_json *index, *key = tg_json_get(node, "keys");
    uint32_t n, step = key != NULL ? 1 : 2;
    if (!indices(m, node, &index, &n))
        return NULL;
    if (key != NULL && (key->kind != TG_JSON_LIST || key->n != n))
        return wrong(m, key->at, "as many keys as values were expected");
    if (n % step != 0)
        return wrong(m, node->at, "keys and values in turn were expected");
    const tg_name **name = TG_ARRAY(m->cx, const tg_name *, n / step);
    const tg_value **item = TG_ARRAY(m->cx, const tg_value *, n / step);
    for (uint32_t i = 0; i < n / step; ++i) {
        const tg_json *at = &index[i * step + step - 1];
        if (step == 1) {
            if (key->u.item[i].kind != TG_JSON_STR)
                return wrong(m, key->u.item[i].at, "a string was expected as key");
            name[i] = key->u.item[i].u.s;
        } else {
            const tg_value *k = resolve(m, index[2 * i].u.i, index[2 * i].at, depth + 1);
            if (k == NULL)
                return NULL;
            name[i] = key_name(m, k);
        }
        if ((item[i] = resolve(m, at->u.i, at->at, depth + 1)) == NULL)
            return NULL;
    }
    return tg_v_dict(m->cx, n / step, name, item);
}

/* IntImm and FloatImm: "dtype" and "value". */
static const tg_value *number_node(tg_meta *m, const tg_json *node, const tg_json *attrs, bool is_float)
{
    const tg_json *dtype = tg_json_get(attrs, "dtype"), *value = tg_json_get(attrs, "value");
    DLDataType d = is_float ? TG_FLOAT32 : TG_INT32;
    int64_t i;
    double f;
    if (dtype != NULL && (dtype->kind != TG_JSON_STR || !tg_dtype_parse(dtype->u.s->text, dtype->u.s->len, &d)))
        return wrong(m, dtype->at, "an element type was expected");
    if (is_float && float_of(m->cx, value, &f))
        return float_value(m->cx, f, d.bits);
    if (!is_float && int_of(value, &i))
        return tg_is_bool(d) ? tg_v_bool(m->cx, i != 0) : int_value(m->cx, i, d.bits);
    return wrong(m, value != NULL ? value->at : node->at, "a number was expected as \"value\"");
}

/* Nodes of plain values: 0.21 writes attributes, 0.22 writes "data". */
static const tg_value *plain_node(tg_meta *m, const tg_json *node, const char *type)
{
    const tg_json *data = tg_json_get(node, "data"), *attrs = tg_json_get(node, "attrs");
    int64_t i;
    double f;
    if (data == NULL && attrs != NULL) {
        data = tg_json_get(attrs, strcmp(type, "float") == 0      ? "v_float64"
                                  : strcmp(type, "DataType") == 0 ? "v_type"
                                                                  : "v_int64");
        if (strcmp(type, "Device") == 0)
            data = tg_json_get(attrs, "v_device_type");
    }
    if (data == NULL)
        return wrong(m, node->at, "a value was expected");
    if (strcmp(type, "float") == 0)
        return float_of(m->cx, data, &f) ? float_value(m->cx, f, 64) : wrong(m, data->at, "a number was expected");
    if (strcmp(type, "DataType") == 0)
        return data->kind == TG_JSON_STR ? tg_v_str(m->cx, data->u.s)
                                         : wrong(m, data->at, "an element type was expected");
    if (data->kind == TG_JSON_LIST) {               /* Device and ffi.Shape */
        const tg_value **item = TG_ARRAY(m->cx, const tg_value *, data->n);
        for (uint32_t k = 0; k < data->n; ++k) {
            if (!int_of(&data->u.item[k], &i))
                return wrong(m, data->u.item[k].at, "a number was expected");
            item[k] = tg_v_int(m->cx, i);
        }
        return tg_v_list(m->cx, data->n, item);
    }
    if (!int_of(data, &i))
        return wrong(m, data->at, "a number was expected");
    return strcmp(type, "bool") == 0 ? tg_v_bool(m->cx, i != 0) : tg_v_int(m->cx, i);
}

/* ---- objects ---- */

static enum field_kind kind_of(const char *type, const char *field)
{
    enum field_kind any = BY_CONTENT;
    for (size_t k = 0; k < TG_COUNT(fields); ++k) {
        if (strcmp(fields[k].field, field) != 0)
            continue;
        if (strcmp(fields[k].type, type) == 0)
            return fields[k].kind;
        if (strcmp(fields[k].type, "*") == 0)
            any = fields[k].kind;
    }
    return any;
}

static bool is_string_node(const tg_meta *m, int64_t i)
{
    static const char *const strings[] = { "runtime.String", "ffi.String", "ffi.SmallStr", NULL };
    return i >= 0 && i < m->nnodes && is_one_of(type_key(&m->node[i]), strings);
}

static const tg_value *by_content(tg_meta *m, const tg_json *v)
{
    int64_t i;
    double f;
    switch ((enum tg_json_kind)v->kind) {
    case TG_JSON_NULL: return tg_v_none(m->cx);
    case TG_JSON_BOOL: return tg_v_bool(m->cx, v->u.i != 0);
    case TG_JSON_INT: return tg_v_int(m->cx, v->u.i);
    case TG_JSON_FLOAT: return float_value(m->cx, v->u.f, 64);
    case TG_JSON_TENSOR: return tg_v_tensor(m->cx, v->u.t);
    case TG_JSON_LIST: case TG_JSON_MAP: return wrong(m, v->at, "a plain value was expected");
    case TG_JSON_STR: break;
    }
    if (tg_name_is(v->u.s, "null"))
        return tg_v_none(m->cx);
    if (tg_read_int(v->u.s->text, v->u.s->len, &i))
        return tg_v_int(m->cx, i);
    if (float_text(m->cx, v->u.s, &f))
        return float_value(m->cx, f, 64);
    return tg_v_str(m->cx, v->u.s);
}

static const tg_value *field_value(tg_meta *m, const char *type, const char *field, const tg_json *v, unsigned depth)
{
    int64_t i = 0;
    double f;
    bool number = int_of(v, &i);
    switch (kind_of(type, field)) {
    case REF: return number ? resolve(m, i, v->at, depth + 1) : by_content(m, v);
    case STR: return number && is_string_node(m, i) ? resolve(m, i, v->at, depth + 1)
                     : number && i == 0 ? tg_v_none(m->cx)
                     : v->kind == TG_JSON_STR ? tg_v_str(m->cx, v->u.s) : by_content(m, v);
    case BOOL: return number ? tg_v_bool(m->cx, i != 0) : by_content(m, v);
    case FLOAT: return float_of(m->cx, v, &f) ? float_value(m->cx, f, 64) : by_content(m, v);
    case NDARRAY: return tensor_at(m, v, v->at);
    case SKIP: case BY_CONTENT: break;
    }
    return by_content(m, v);
}

/* Letters, digits, _ and dots: what a type may be called. */
static bool is_type_name(const char *type)
{
    return strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == strlen(type);
}

/* Attribute structures become dictionaries, other objects keep the name of their type. */
static const tg_value *object_node(tg_meta *m, const tg_json *node, const char *type, const tg_json *attrs,
                                   unsigned depth)
{
    if (!is_type_name(type))
        return wrong(m, node->at, "the name of this node's type is damaged");
    uint32_t n = 0, count = attrs != NULL && attrs->kind == TG_JSON_MAP ? attrs->n : 0;
    const tg_name **key = TG_ARRAY(m->cx, const tg_name *, count);
    const tg_value **item = TG_ARRAY(m->cx, const tg_value *, count);
    for (uint32_t k = 0; k < count; ++k) {
        if (kind_of(type, attrs->key[k]->text) == SKIP)
            continue;
        key[n] = attrs->key[k];
        if ((item[n++] = field_value(m, type, attrs->key[k]->text, &attrs->u.item[k], depth)) == NULL)
            return NULL;
    }
    if (strcmp(type, "DictAttrs") == 0 && n == 1 && item[0]->kind == TG_V_DICT)
        return item[0];
    bool plain = strncmp(type, "relay.attrs.", 12) == 0 || strncmp(type, "relax.attrs.", 12) == 0;
    return object_value(m->cx, plain ? NULL : type, n, key, item);
}

static const tg_value *constant_node(tg_meta *m, const tg_json *node, const tg_json *attrs)
{
    const tg_json *data = attrs != NULL ? tg_json_get(attrs, "data") : NULL;
    int64_t i;
    if (data != NULL && data->kind == TG_JSON_TENSOR)
        return tg_v_tensor(m->cx, data->u.t);
    if (m->has_blobs)
        return tensor_at(m, data, node->at);
    if (!int_of(data, &i))                          /* 0.22 has no b64ndarrays: a node index */
        return wrong(m, node->at, "a constant without its data");
    const tg_value *v = resolve(m, i, data->at, 1);
    return v == NULL || v->kind == TG_V_TENSOR ? v : wrong(m, data->at, "a tensor was expected");
}

static const tg_value *node_value(tg_meta *m, const tg_json *node, unsigned depth)
{
    static const char *const strings[] = {
        "runtime.String", "ffi.String", "ffi.SmallStr",    "ffi.Bytes",   "Op",         "relay.Op", "SourceName",
        "ir.SourceName",  "EnvFunc",    "runtime.NDArray", "ffi.NDArray", "ffi.Tensor", NULL
    };
    static const char *const lists[] = { "Array", "ffi.Array", NULL };
    static const char *const maps[] = { "Map", "StrMap", "ffi.Map", NULL };
    static const char *const ints[] = { "IntImm", "UIntImm", "ir.IntImm", NULL };
    static const char *const floats[] = { "FloatImm", "ir.FloatImm", NULL };
    static const char *const plain[] = { "int", "bool", "float", "DataType", "Device", "ffi.Shape", NULL };
    static const char *const constants[] = { "relay.Constant", "relax.expr.Constant", NULL };
    const char *type = type_key(node);
    const tg_json *attrs = tg_json_get(node, "attrs");
    if (attrs == NULL)
        attrs = tg_json_get(node, "data");
    if (type[0] == '\0' || strcmp(type, "None") == 0)
        return tg_v_none(m->cx);
    if (is_one_of(type, strings))
        return string_node(m, node);
    if (is_one_of(type, lists))
        return list_node(m, node, depth);
    if (is_one_of(type, maps))
        return map_node(m, node, depth);
    if (is_one_of(type, plain))
        return plain_node(m, node, type);
    if (is_one_of(type, constants))
        return constant_node(m, node, attrs);
    if (attrs != NULL && is_one_of(type, ints))
        return number_node(m, node, attrs, false);
    if (attrs != NULL && is_one_of(type, floats))
        return number_node(m, node, attrs, true);
    if (attrs != NULL && attrs->kind == TG_JSON_MAP && strcmp(type, "tir.StringImm") == 0 &&
        tg_json_get(attrs, "value") != NULL)
        return field_value(m, type, "value", tg_json_get(attrs, "value"), depth);
    if (attrs == NULL && (tg_json_get(node, "repr_str") != NULL || tg_json_get(node, "global_key") != NULL))
        return string_node(m, node);
    if (attrs != NULL && attrs->kind == TG_JSON_STR)    /* 0.22: an object written as its name */
        return tg_v_str(m->cx, attrs->u.s);
    return object_node(m, node, type, attrs, depth);
}

static const tg_value *resolve(tg_meta *m, int64_t index, uint32_t at, unsigned depth)
{
    if (index < 0 || index >= m->nnodes) {
        tg_meta_error(m, at > 0 ? at - 1 : 0, "node %lld of %u", (long long)index, (unsigned)m->nnodes);
        return NULL;
    }
    if (m->memo[index] != NULL)
        return m->memo[index];
    if (m->busy[index] || depth > MAX_NODE_DEPTH)
        return wrong(m, at, m->busy[index] ? "a node that contains itself" : "nodes nested too deep");
    m->busy[index] = 1;
    const tg_value *v = node_value(m, &m->node[index], depth);
    m->busy[index] = 0;
    m->memo[index] = v;
    return v;
}

/* ---- asking ---- */

/* The node that lists the objects of type @p key, or -1. */
static int64_t find_list(tg_meta *m, const char *key)
{
    const tg_json *top = &m->node[m->top], *keys = tg_json_get(top, "keys"), *index;
    uint32_t n;
    if (!indices(m, top, &index, &n))
        return -1;
    for (uint32_t i = 0; keys != NULL && keys->kind == TG_JSON_LIST && i < keys->n && i < n; ++i)
        if (keys->u.item[i].kind == TG_JSON_STR && tg_name_is(keys->u.item[i].u.s, key))
            return index[i].u.i;
    for (uint32_t i = 0; keys == NULL && i + 1 < n; i += 2) {
        const tg_value *k = resolve(m, index[i].u.i, index[i].at, 1);
        if (k != NULL && k->kind == TG_V_STR && tg_name_is(k->s, key))
            return index[i + 1].u.i;
    }
    return -1;
}

const tg_value *tg_meta_get(tg_meta *m, tg_span at, const char *key, uint64_t index)
{
    const tg_json *item;
    uint32_t n;
    if (m->failed)
        return NULL;
    int64_t list = find_list(m, key);
    if (m->failed)
        return NULL;
    if (list < 0 || list >= m->nnodes) {
        tg_error(m->cx, at, "the metadata section has no objects of type %s", key);
        return NULL;
    }
    if (!indices(m, &m->node[list], &item, &n))
        return NULL;
    if (index >= n) {
        tg_error(m->cx, at, "the metadata section has no %s number %llu, it holds %u", key, (unsigned long long)index,
                 (unsigned)n);
        return NULL;
    }
    const tg_value *v = resolve(m, item[index].u.i, item[index].at, 1);
    if (v == NULL)
        tg_note(m->cx, at, "needed for this %s", key);
    return v;
}
