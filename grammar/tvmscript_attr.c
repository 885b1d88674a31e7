/* tvmscript_attr.c: values of attributes: what stands in T.func_attr, T.block_attr, annotations and I.module_attrs. Objects keep
 * the name they are written with (I.ConstantInfo) or their type in the metadata (Executor), T.target is Target.
 * Formats: tvmscript-tir.md sections 3, 4, 16. */
#include "tvmscript_elab.h"

#include <string.h>

/* A value that contains others waits until they are known. */
typedef struct open_value { const tg_val *v; uint32_t next; const tg_value **item; } open_value;

static const tg_value *number(tg_elab *e, const tg_val *v, DLDataType d)
{
    const tg_node *x = tg_el_literal(e, v, d);
    if (x == NULL)
        return NULL;
    tg_value *copy = tg_copy(e->cx, tg_v_int(e->cx, x->u.i), sizeof *copy);
    copy->bits = d.bits;
    return copy;
}

static const tg_value *floating(tg_elab *e, double f, uint16_t bits)
{
    tg_value *copy = tg_copy(e->cx, tg_v_float(e->cx, f), sizeof *copy);
    copy->bits = bits;
    return copy;
}

static const tg_value *of_node(tg_elab *e, const tg_val *v)
{
    const tg_node *n = v->u.expr;
    if (n->kind == TG_STR)
        return tg_v_str(e->cx, n->u.name);
    if (n->kind == TG_FLOAT)
        return floating(e, n->u.f, n->type->dtype.bits);
    if (n->kind == TG_INT && tg_is_bool(n->type->dtype))
        return tg_v_bool(e->cx, n->u.i != 0);
    if (n->kind == TG_INT) {
        tg_value *copy = tg_copy(e->cx, tg_v_int(e->cx, n->u.i), sizeof *copy);
        copy->bits = n->type->dtype.bits;
        return copy;
    }
    tg_el_error(e, v->at, "an attribute must be constant");
    return NULL;
}

/* Values without others inside. *nested is set for the rest. */
static const tg_value *simple(tg_elab *e, const tg_val *v, bool *nested)
{
    *nested = false;
    switch (v->kind) {
    case TG_VAL_ERROR: return NULL;
    case TG_VAL_NONE: return tg_v_none(e->cx);
    case TG_VAL_BOOL: return tg_v_bool(e->cx, v->u.mag != 0);
    case TG_VAL_INT: {
        bool small = v->u.mag <= (uint64_t)INT32_MAX + (v->negative ? 1 : 0);
        return number(e, v, small ? TG_INT32 : TG_INT64);
    }
    case TG_VAL_FLOAT: return floating(e, v->u.f, 32);
    case TG_VAL_STR: return tg_v_str(e->cx, v->u.name);
    case TG_VAL_EXPR: return of_node(e, v);
    case TG_VAL_TYPE:
        return v->u.type->kind == TG_T_PRIM ? tg_v_strz(e->cx, tg_dtype_text(e->cx, v->u.type->dtype))
                                            : tg_v_strz(e->cx, "handle");
    case TG_VAL_VALUE: return v->u.value;
    case TG_VAL_LIST: case TG_VAL_TUPLE: case TG_VAL_DICT: case TG_VAL_FORM:
        *nested = true;
        return NULL;
    default:
        tg_el_error(e, v->at, "%s is no value of an attribute", tg_el_what(v));
        return NULL;
    }
}

static const tg_value *object(tg_elab *e, const tg_name *type, uint32_t n, const tg_name *const *key,
                              const tg_value *const *item)
{
    tg_value *v = tg_copy(e->cx, tg_v_dict(e->cx, n, key, item), sizeof *v);
    v->kind = TG_V_OBJECT;
    v->s = type;
    return v;
}

static const tg_value *dictionary(tg_elab *e, const tg_val *v, const tg_value *const *item)
{
    const tg_name **key = TG_TEMP_ARRAY(e->cx, const tg_name *, v->n / 2);
    const tg_value **value = TG_TEMP_ARRAY(e->cx, const tg_value *, v->n / 2);
    for (uint32_t i = 0; i < v->n / 2; ++i) {
        if (item[2 * i]->kind != TG_V_STR) {
            tg_el_error(e, v->u.item[2 * i].at, "the keys of an attribute's dictionary are strings");
            return NULL;
        }
        key[i] = item[2 * i]->s;
        value[i] = item[2 * i + 1];
    }
    return tg_v_dict(e->cx, v->n / 2, key, value);
}

/* T.target({…}), I.object("Executor", {…}), I.ConstantInfo("name", byte_offset=0) */
static const tg_value *called(tg_elab *e, const tg_val *v, const tg_value *const *item)
{
    bool dict = v->n == 1 && item[0]->kind == TG_V_DICT, target = v->w.word->id == TG_W_TARGET;
    if (target && dict)
        return object(e, tg_intern_z(e->cx, "Target"), item[0]->n, item[0]->key, item[0]->item);
    if (v->w.word->family == TG_FAMILY_I && tg_name_is(v->name, "object") && v->n == 2 && item[0]->kind == TG_V_STR &&
        item[1]->kind == TG_V_DICT)
        return object(e, item[0]->s, item[1]->n, item[1]->key, item[1]->item);
    if (!target && v->w.word->family != TG_FAMILY_I) {
        tg_el_error(e, v->at, "%s is no value of an attribute", v->name->text);
        return NULL;
    }
    const tg_name **key = TG_TEMP_ARRAY(e->cx, const tg_name *, v->n);
    for (uint32_t i = 0; i < v->n; ++i)
        key[i] = v->u.item[i].key != NULL ? v->u.item[i].key : tg_intern_z(e->cx, "");
    const tg_name *type = target ? tg_intern_z(e->cx, "Target") : tg_internf(e->cx, "I.%s", v->name->text);
    return object(e, type, v->n, key, item);
}

static const tg_value *finish(tg_elab *e, const tg_val *v, const tg_value *const *item)
{
    switch (v->kind) {
    case TG_VAL_DICT: return dictionary(e, v, item);
    case TG_VAL_FORM: return called(e, v, item);
    default: return tg_v_list(e->cx, v->n, item);
    }
}

const tg_value *tg_el_attr_value(tg_elab *e, const tg_val *root)
{
    TG_VEC(open_value) open = { 0 };
    const tg_val *v = root;
    for (;;) {
        bool nested;
        const tg_value *value = simple(e, v, &nested);
        if (nested) {
            TG_PUSH(e->cx, open, ((open_value){ v, 0, TG_TEMP_ARRAY(e->cx, const tg_value *, v->n) }));
        } else if (value == NULL) {
            return NULL;
        } else if (open.n == 0) {
            return value;
        } else {
            open_value *o = &open.at[open.n - 1];
            o->item[o->next++] = value;
        }
        while (open.at[open.n - 1].next == open.at[open.n - 1].v->n) {
            open_value *o = &open.at[open.n - 1];
            value = finish(e, o->v, o->item);
            if (value == NULL || --open.n == 0)
                return value;
            o = &open.at[open.n - 1];
            o->item[o->next++] = value;
        }
        v = &open.at[open.n - 1].v->u.item[open.at[open.n - 1].next];
    }
}

const tg_value *tg_el_attr_dict(tg_elab *e, const tg_val *v)
{
    if (v->kind == TG_VAL_DICT)
        return tg_el_attr_value(e, v);
    if (v->kind != TG_VAL_ERROR)
        tg_el_error(e, v->at, "expected a dictionary, not %s", tg_el_what(v));
    return NULL;
}
