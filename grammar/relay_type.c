/* relay_type.c: types, and the values of attributes. */
#include <string.h>

#include "relay_build.h"

/* ---- types ---- */

void tg_relay_push_type(tg_relay *p, const tg_type *t)
{
    TG_PUSH(p->cx, p->type_list, t);
}

void tg_relay_push_dim(tg_relay *p, tg_relay_loc l, const tg_relay_number *n)
{
    tg_relay_dim d = { TG_DIM_ANY, false };
    if (n != NULL) {
        if (n->is_float || n->i < 0)
            tg_relay_wrong(p, l.span, "an extent must be a non-negative integer");
        d = (tg_relay_dim){ n->i, n->dtype.bits == 64 };
    }
    TG_PUSH(p->cx, p->dim, d);
}

const tg_type *tg_relay_tensor_type(tg_relay *p, tg_relay_loc l, const tg_name *dtype)
{
    tg_relay_marks m = tg_relay_close(p);
    size_t n = p->dim.n - m.dim;
    int64_t extent[TG_MAX_NDIM];
    uint32_t wide = 0;
    DLDataType d;
    if (!tg_dtype_parse(dtype->text, dtype->len, &d)) {
        tg_relay_wrong(p, l.span, "%s is not an element type", dtype->text);
        d = TG_FLOAT32;
    }
    if (n > TG_MAX_NDIM) {
        tg_relay_wrong(p, l.span, "a tensor of %zu dimensions: at most %d are supported", n, TG_MAX_NDIM);
        n = TG_MAX_NDIM;
    }
    for (size_t k = 0; k < n; ++k) {
        extent[k] = p->dim.at[m.dim + k].extent;
        wide |= (uint32_t)p->dim.at[m.dim + k].wide << k;
    }
    p->dim.n = m.dim;
    return tg_tensor_type(p->cx, d, (uint32_t)n, extent, wide);
}

const tg_type *tg_relay_tuple_type(tg_relay *p)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_type *t = tg_tuple_type(p->cx, (uint32_t)p->type_list.n - m.type, TG_FROM(p->type_list, m.type));
    p->type_list.n = m.type;
    return t;
}

void tg_relay_begin_fn_type(tg_relay *p)
{
    tg_relay_begin_scope(p);
    TG_PUSH(p->cx, p->fn_type, (uint32_t)p->name.n);
}

const tg_type *tg_relay_fn_type(tg_relay *p, const tg_type *ret)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_type *t = tg_func_type(p->cx, (uint32_t)p->type_list.n - m.type, TG_FROM(p->type_list, m.type), ret);
    p->type_list.n = m.type;
    tg_relay_end_type_params(p, p->fn_type.at[--p->fn_type.n]);
    tg_relay_end_scope(p);
    return t;
}

/* A dtype is a scalar tensor; else a type parameter in scope, else an algebraic type. */
const tg_type *tg_relay_named_type(tg_relay *p, tg_relay_loc l, const tg_name *name, bool bare)
{
    tg_relay_marks m = bare ? tg_relay_mark(p) : tg_relay_close(p);
    uint32_t n = (uint32_t)p->type_list.n - m.type;
    DLDataType d;
    const tg_type *t;
    if (bare && tg_dtype_parse(name->text, name->len, &d)) {
        t = tg_tensor_type(p->cx, d, 0, NULL, 0);
    } else if ((intptr_t)tg_map_get(&p->type_params, TG_KEY(name)) > 1) {
        t = tg_named_type(p->cx, TG_T_VAR, name, n, TG_FROM(p->type_list, m.type));
    } else {
        t = tg_named_type(p->cx, TG_T_ADT, name, n, TG_FROM(p->type_list, m.type));
        TG_PUSH(p->cx, p->adt_used, t);
        TG_PUSH(p->cx, p->adt_uses, l.span);
    }
    p->type_list.n = m.type;
    return t;
}

/* ---- values ---- */

void tg_relay_open_value(tg_relay *p, tg_relay_loc l)
{
    enum { DEEPEST = 200 };         /* whoever looks at values may recurse */
    if (++p->value_depth > DEEPEST)
        tg_fail(p->cx, TIRGEN_ELIMIT, l.span, "an attribute value nested more than %d levels deep", DEEPEST);
    tg_relay_open(p);
}

void tg_relay_push_value(tg_relay *p, const tg_name *key, const tg_value *v)
{
    TG_PUSH(p->cx, p->value, v != NULL ? v : tg_v_none(p->cx));
    TG_PUSH(p->cx, p->key, key);
}

/* A float keeps all digits of its text: attributes are doubles, whatever the suffix says. */
const tg_value *tg_relay_number_value(tg_relay *p, tg_relay_loc l, const tg_relay_number *n)
{
    tg_value *v;
    (void)l;
    if (n->is_float)
        v = tg_copy(p->cx, tg_v_float(p->cx, n->f64), sizeof *v);
    else
        v = tg_copy(p->cx, tg_v_int(p->cx, n->i), sizeof *v);
    v->bits = n->dtype.bits;
    return v;
}

const tg_value *tg_relay_word_value(tg_relay *p, const tg_name *word)
{
    if (tg_name_is(word, "None") || tg_name_is(word, "nullptr"))
        return tg_v_none(p->cx);
    return tg_v_str(p->cx, word);
}

static tg_value *object(tg_relay *p, const char *type, const tg_value *fields)
{
    tg_value *v = tg_copy(p->cx, fields, sizeof *v);
    v->kind = TG_V_OBJECT;
    v->s = tg_intern_z(p->cx, type);
    return v;
}

/* An object with one field that is a string. */
static const tg_value *object1(tg_relay *p, const char *type, const char *field, const tg_name *s)
{
    const tg_name *key = tg_intern_z(p->cx, field);
    const tg_value *item = tg_v_str(p->cx, s);
    return object(p, type, tg_v_dict(p->cx, 1, &key, &item));
}

const tg_value *tg_relay_global_value(tg_relay *p, const tg_name *name)
{
    return object1(p, "GlobalVar", "name_hint", name);
}

/* Target(...): its text has no grammar of its own, so it stays text. */
const tg_value *tg_relay_raw_object(tg_relay *p, const tg_name *text)
{
    return object1(p, "Target", "text", text);
}

const tg_value *tg_relay_list_value(tg_relay *p)
{
    tg_relay_marks m = tg_relay_close(p);
    --p->value_depth;
    const tg_value *v = tg_v_list(p->cx, (uint32_t)p->value.n - m.value, TG_FROM(p->value, m.value));
    p->value.n = p->key.n = m.value;
    return v;
}

const tg_value *tg_relay_map_value(tg_relay *p)
{
    tg_relay_marks m = tg_relay_close(p);
    --p->value_depth;
    const tg_value *v = tg_v_dict(p->cx, (uint32_t)p->value.n - m.value, TG_FROM(p->key, m.value), TG_FROM(p->value, m.value));
    p->value.n = p->key.n = m.value;
    return v;
}

const tg_value *tg_relay_object_value(tg_relay *p, const tg_name *type)
{
    return object(p, type->text, tg_relay_map_value(p));
}
