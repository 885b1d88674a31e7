/* c_type.c: what a dtype is in C, in memory and as a value.
 *
 *   dtype       in memory   as a value
 *   bool        uint8_t     bool        any byte but 0 is read as true, 0 and 1 are written
 *   float16     uint16_t    float       each operation is rounded to half
 *   bfloat16    uint16_t    float       likewise
 *   others      the type of stdint.h, float or double, in both places */
#include "emit.h"

#include <string.h>

c_var *c_var_of(tg_emit *e, const tg_var *v)
{
    TG_CHECK(e->cx, v->id < e->nvars, NULL);
    c_var *c = &e->var[v->id];
    while (c->same != NULL)
        c = &e->var[c->same->id];
    return c;
}

bool c_is_half(DLDataType d)
{
    return (d.code == kDLFloat || d.code == kDLBfloat) && d.bits == 16;
}

const char *c_storage(DLDataType d)
{
    static const char *const of_int[4] = { "int8_t", "int16_t", "int32_t", "int64_t" };
    static const char *const of_uint[4] = { "uint8_t", "uint16_t", "uint32_t", "uint64_t" };
    int size = d.bits == 8 ? 0 : d.bits == 16 ? 1 : d.bits == 32 ? 2 : d.bits == 64 ? 3 : -1;
    if (tg_is_bool(d))
        return "uint8_t";
    if (d.code == kDLInt && size >= 0)
        return of_int[size];
    if (d.code == kDLUInt && size >= 0)
        return of_uint[size];
    if (c_is_half(d))
        return "uint16_t";
    if (d.code == kDLFloat && d.bits == 32)
        return "float";
    return d.code == kDLFloat && d.bits == 64 ? "double" : NULL;
}

const char *c_element(tg_emit *e, DLDataType d, tg_span at)
{
    const char *t = c_storage(d);
    if (t != NULL)
        return t;
    if (d.code == kDLOpaqueHandle)
        return "void";
    if (!e->failed)
        tg_error(e->cx, at, "C has no type for %s", tg_dtype_text(e->cx, d));
    e->failed = true;
    return "int";
}

const char *c_type(tg_emit *e, DLDataType d, tg_span at)
{
    if (tg_is_bool(d)) {
        e->need |= C_STDBOOL;
        return "bool";
    }
    if (d.code == kDLOpaqueHandle)
        return "void *";
    return c_is_half(d) ? "float" : c_element(e, d, at);
}

bool c_same_storage(DLDataType a, DLDataType b)
{
    const char *x = c_storage(a), *y = c_storage(b);
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

const char *c_limit(DLDataType d, bool upper)
{
    static const char *const row[2][4][2] = {
        { { "INT8_MIN", "INT8_MAX" }, { "INT16_MIN", "INT16_MAX" }, { "INT32_MIN", "INT32_MAX" }, { "INT64_MIN", "INT64_MAX" } },
        { { "0", "UINT8_MAX" }, { "0", "UINT16_MAX" }, { "0", "UINT32_MAX" }, { "0", "UINT64_MAX" } },
    };
    int size = d.bits == 8 ? 0 : d.bits == 16 ? 1 : d.bits == 32 ? 2 : 3;
    return row[d.code == kDLUInt][size][upper];
}

const char *c_short_name(DLDataType d)
{
    static const char *const of_int[4] = { "int8", "int16", "int32", "int64" };
    static const char *const of_uint[4] = { "uint8", "uint16", "uint32", "uint64" };
    int size = d.bits <= 8 ? 0 : d.bits == 16 ? 1 : d.bits == 32 ? 2 : 3;
    if (d.code == kDLInt)
        return of_int[size];
    if (d.code == kDLUInt)
        return tg_is_bool(d) ? "bool" : of_uint[size];
    if (d.code == kDLBfloat)
        return "bfloat16";
    return d.bits == 16 ? "half" : d.bits == 64 ? "double" : "float";
}

/* An integer cast to a wider type that holds every value of the operand's. */
bool c_widens(const tg_node *n)
{
    if (n->kind != TG_CAST)
        return false;
    DLDataType to = tg_dtype_of(n), from = tg_dtype_of(n->kid[0]);
    if (!tg_is_int(to) || !tg_is_int(from) || to.bits < from.bits)
        return false;
    return to.code == from.code || (from.code == kDLUInt && to.bits > from.bits);
}

const tg_node *c_without_widening(const tg_node *n)
{
    while (c_widens(n))
        n = n->kid[0];
    return n;
}
