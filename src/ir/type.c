/* type.c: dtypes and interned types: building, printing, counting elements. */
#include <string.h>

#include "text.h"
#include "type.h"

/* ---- dtypes ---- */

DLDataType tg_dtype(uint8_t code, uint8_t bits, uint16_t lanes)
{
    return (DLDataType){ code, bits, lanes };
}

bool tg_dtype_eq(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

enum { B8 = 1, B16 = 2, B32 = 4, B64 = 8, B1 = 16 };   /* widths a base name may take */

static const struct base { const char *text; uint8_t code, bits; int widths; } base[] = {
    { "int", kDLInt, 32, B8 | B16 | B32 | B64 },
    { "uint", kDLUInt, 32, B1 | B8 | B16 | B32 | B64 },
    { "float", kDLFloat, 32, B16 | B32 | B64 },
    { "bfloat", kDLBfloat, 0, B16 },
    { "bool", kDLUInt, 1, 0 },
    { "handle", kDLOpaqueHandle, 64, B64 },
};

static int width_bit(unsigned bits)
{
    return bits == 1 ? B1 : bits == 8 ? B8 : bits == 16 ? B16 : bits == 32 ? B32 : bits == 64 ? B64 : 0;
}

/* A number of at most five digits without leading zeros; moves *at. 0: there is none. */
static unsigned short_number(const char *text, size_t n, size_t *at)
{
    unsigned v = 0;
    size_t start = *at;
    while (*at < n && *at - start < 5 && text[*at] >= '0' && text[*at] <= '9') {
        if (text[start] == '0') return 0;
        v = v * 10 + (unsigned)(text[(*at)++] - '0');
    }
    return v;
}

bool tg_dtype_parse(const char *text, size_t n, DLDataType *out)
{
    if (n == 4 && memcmp(text, "void", 4) == 0) {
        *out = tg_dtype(kDLOpaqueHandle, 0, 0);
        return true;
    }
    for (size_t k = 0; k < TG_COUNT(base); ++k) {
        size_t at = strlen(base[k].text);
        if (n < at || memcmp(text, base[k].text, at) != 0) continue;
        unsigned bits = base[k].bits, lanes = 1;
        if (at < n && text[at] != 'x') {
            bits = short_number(text, n, &at);
            if ((width_bit(bits) & base[k].widths) == 0) return false;
        }
        if (at < n && text[at] == 'x') {
            ++at;
            lanes = short_number(text, n, &at);
        }
        if (at != n || bits == 0 || lanes == 0 || lanes > UINT16_MAX) return false;
        *out = tg_dtype(base[k].code, (uint8_t)bits, (uint16_t)lanes);
        return true;
    }
    return false;
}

static void put_dtype(tg_text *t, DLDataType d)
{
    if (d.code == kDLOpaqueHandle && d.bits == 0) {
        tg_puts(t, "void");
        return;
    }
    switch (d.code) {
    case kDLInt: tg_printf(t, "int%d", d.bits); break;
    case kDLUInt:
        if (d.bits == 1) tg_puts(t, "bool");
        else tg_printf(t, "uint%d", d.bits);
        break;
    case kDLFloat: tg_printf(t, "float%d", d.bits); break;
    case kDLBfloat: tg_printf(t, "bfloat%d", d.bits); break;
    case kDLOpaqueHandle: tg_puts(t, "handle"); break;
    default: tg_printf(t, "custom[%d]%d", d.code, d.bits);
    }
    if (d.lanes != 1) tg_printf(t, "x%d", d.lanes);
}

const char *tg_dtype_text(tg_ctx *cx, DLDataType d)
{
    tg_text t = tg_text_new(cx);
    put_dtype(&t, d);
    return tg_text_z(&t);
}

/* ---- interning: a proposal without arrays of its own is looked up, and copied only when it is new ---- */

static uint64_t hash_type(const tg_type *t)
{
    const uint32_t head[] = {
        t->kind, t->n, t->wide, (uint32_t)t->dtype.code << 24 | (uint32_t)t->dtype.bits << 16 | t->dtype.lanes,
        t->ret == NULL ? 0 : t->ret->id + 1, t->name == NULL ? 0 : t->name->id + 1
    };
    uint64_t h = tg_hash(head, sizeof(head), 0);
    if (t->dim != NULL) h = tg_hash(t->dim, t->n * sizeof(*t->dim), h);
    if (t->field == NULL) return h;
    for (uint32_t k = 0; k < t->n; ++k) h = tg_hash(&t->field[k]->id, sizeof(t->field[k]->id), h);
    return h;
}

static bool same_arrays(const tg_type *a, const tg_type *b)
{
    for (uint32_t k = 0; k < a->n; ++k) {
        if (a->dim != NULL && a->dim[k] != b->dim[k]) return false;
        if (a->field != NULL && a->field[k] != b->field[k]) return false;
    }
    return true;
}

static bool same_type(const tg_type *a, const tg_type *b)
{
    return a->kind == b->kind && a->n == b->n && a->wide == b->wide && tg_dtype_eq(a->dtype, b->dtype) &&
           a->ret == b->ret && a->name == b->name && same_arrays(a, b);
}

static const tg_type *intern(tg_ctx *cx, const tg_type *proposal)
{
    uint64_t hash = hash_type(proposal);
    tg_type *first = tg_map_get(&cx->types, hash);
    for (tg_type *t = first; t != NULL; t = t->next) {
        if (same_type(t, proposal)) return t;
    }
    tg_type *t = tg_copy(cx, proposal, sizeof(*proposal));
    if (t->dim != NULL) t->dim = tg_copy(cx, t->dim, t->n * sizeof(*t->dim));
    if (t->field != NULL) t->field = tg_copy(cx, t->field, t->n * sizeof(*t->field));
    t->id = cx->ntypes++;
    t->next = first;
    tg_map_put(cx, &cx->types, hash, t);
    return t;
}

static tg_type proposal(enum tg_type_kind kind)
{
    return (tg_type){ .kind = (uint16_t)kind };
}

const tg_type *tg_prim(tg_ctx *cx, DLDataType d)
{
    tg_type t = proposal(TG_T_PRIM);
    t.dtype = d;
    return intern(cx, &t);
}

const tg_type *tg_ptr(tg_ctx *cx, DLDataType to, const tg_name *scope)
{
    tg_type t = proposal(TG_T_PTR);
    t.dtype = to;
    t.name = scope;
    return intern(cx, &t);
}

const tg_type *tg_void(tg_ctx *cx)
{
    tg_type t = proposal(TG_T_VOID);
    return intern(cx, &t);
}

const tg_type *tg_tensor_type(tg_ctx *cx, DLDataType d, uint32_t ndim, const int64_t *dim, uint32_t wide)
{
    if (ndim > TG_MAX_NDIM) {
        tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "a tensor of %u dimensions: at most %d are supported", (unsigned)ndim,
                (int)TG_MAX_NDIM);
    }
    tg_type t = proposal(TG_T_TENSOR);
    t.dtype = d;
    t.n = ndim;
    t.dim = ndim == 0 ? NULL : dim;
    t.wide = wide & (((uint32_t)1 << ndim) - 1);
    for (uint32_t k = 0; k < ndim; ++k) t.nwide = (uint16_t)(t.nwide + (t.wide >> k & 1));
    return intern(cx, &t);
}

static const tg_type *of_fields(tg_ctx *cx, tg_type t, uint32_t n, const tg_type *const *field)
{
    t.n = n;
    t.field = n == 0 ? NULL : field;
    return intern(cx, &t);
}

const tg_type *tg_tuple_type(tg_ctx *cx, uint32_t n, const tg_type *const *field)
{
    return of_fields(cx, proposal(TG_T_TUPLE), n, field);
}

const tg_type *tg_func_type(tg_ctx *cx, uint32_t n, const tg_type *const *param, const tg_type *ret)
{
    tg_type t = proposal(TG_T_FUNC);
    t.ret = ret;
    return of_fields(cx, t, n, param);
}

const tg_type *tg_named_type(tg_ctx *cx, enum tg_type_kind kind, const tg_name *name, uint32_t n, const tg_type *const *arg)
{
    TG_CHECK(cx, kind == TG_T_VAR || kind == TG_T_ADT, NULL);
    tg_type t = proposal(kind);
    t.name = name;
    return of_fields(cx, t, n, arg);
}

const tg_type *tg_ref_type(tg_ctx *cx, const tg_type *to)
{
    return of_fields(cx, proposal(TG_T_REF), 1, &to);
}

const tg_type *tg_unknown(tg_ctx *cx)
{
    tg_type t = proposal(TG_T_UNKNOWN);
    return intern(cx, &t);
}

/* ---- questions ---- */

bool tg_type_same_shape(const tg_type *a, const tg_type *b)
{
    if (a->kind != TG_T_TENSOR || b->kind != TG_T_TENSOR || a->n != b->n) return false;
    for (uint32_t k = 0; k < a->n; ++k) {
        if (a->dim[k] != b->dim[k]) return false;
    }
    return true;
}

bool tg_type_elements(const tg_type *t, int64_t *out)
{
    if (t->kind != TG_T_TENSOR) return false;
    int64_t n = 1;
    bool empty = false;
    for (uint32_t k = 0; k < t->n; ++k) {
        if (t->dim[k] < 0) return false;
        if (t->dim[k] == 0) empty = true;
    }
    for (uint32_t k = 0; k < t->n && !empty; ++k) {
        if (t->dim[k] > TG_MAX_ELEMENTS / n) return false;
        n *= t->dim[k];
    }
    *out = empty ? 0 : n;
    return true;
}

bool tg_type_bytes(const tg_type *t, int64_t *out)
{
    int64_t n, each = (int64_t)tg_dtype_bytes(t->dtype);
    if (!tg_type_elements(t, &n)) return false;
    if (each != 0 && n > INT64_MAX / each) return false;
    *out = n * each;
    return true;
}
