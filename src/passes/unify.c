/* unify.c: whether two Relay types fit, what they share, and what type parameters stand for. Types nest no deeper than LIMIT here;
 * deeper ones do not fit anything. */
#include "unify.h"

enum { LIMIT = 200 };

tg_type_binding tg_type_binding_new(tg_ctx *cx, uint32_t n, const tg_name *const *name)
{
    return (tg_type_binding){ n, name, TG_ARRAY(cx, const tg_type *, n) };
}

static const tg_type **bound(const tg_type_binding *bind, const tg_type *t)
{
    for (uint32_t i = 0; bind != NULL && t->kind == TG_T_VAR && i < bind->n; ++i)
        if (bind->name[i] == t->name) return &bind->type[i];
    return NULL;
}

static bool complete(const tg_type *t, int depth)
{
    if (t->kind == TG_T_UNKNOWN || depth > LIMIT) return false;
    if (t->kind == TG_T_TENSOR) {
        for (uint32_t k = 0; k < t->n; ++k)
            if (t->dim[k] < 0) return false;
        return true;
    }
    if (t->kind != TG_T_TUPLE && t->kind != TG_T_FUNC && t->kind != TG_T_ADT && t->kind != TG_T_REF) return true;
    for (uint32_t i = 0; i < t->n; ++i)
        if (!complete(t->field[i], depth + 1)) return false;
    return t->ret == NULL || complete(t->ret, depth + 1);
}

bool tg_type_complete(const tg_type *t)
{
    return t != NULL && complete(t, 0);
}

static const tg_type *unify(tg_ctx *cx, const tg_type *a, const tg_type *b, tg_type_binding *bind, int depth);

static const tg_type *unify_tensors(tg_ctx *cx, const tg_type *a, const tg_type *b)
{
    if (a->n != b->n || !tg_dtype_eq(a->dtype, b->dtype)) return NULL;
    int64_t *dim = TG_ARRAY(cx, int64_t, a->n);
    for (uint32_t k = 0; k < a->n; ++k) {
        if (a->dim[k] >= 0 && b->dim[k] >= 0 && a->dim[k] != b->dim[k]) return NULL;
        dim[k] = a->dim[k] >= 0 ? a->dim[k] : b->dim[k];
    }
    return tg_tensor_type(cx, a->dtype, a->n, dim, a->wide);
}

static const tg_type *with_fields(tg_ctx *cx, const tg_type *t, const tg_type *const *field, const tg_type *ret)
{
    switch (t->kind) {
    case TG_T_TUPLE: return tg_tuple_type(cx, t->n, field);
    case TG_T_FUNC: return tg_func_type(cx, t->n, field, ret);
    case TG_T_ADT: return tg_named_type(cx, TG_T_ADT, t->name, t->n, field);
    case TG_T_REF: return tg_ref_type(cx, field[0]);
    default: return t;
    }
}

static const tg_type *unify_fields(tg_ctx *cx, const tg_type *a, const tg_type *b, tg_type_binding *bind, int depth)
{
    if (a->n != b->n || a->name != b->name) return NULL;
    const tg_type **field = TG_ARRAY(cx, const tg_type *, a->n), *ret = NULL;
    for (uint32_t i = 0; i < a->n; ++i)
        if ((field[i] = unify(cx, a->field[i], b->field[i], bind, depth + 1)) == NULL) return NULL;
    if (a->kind == TG_T_FUNC && (ret = unify(cx, a->ret, b->ret, bind, depth + 1)) == NULL) return NULL;
    return with_fields(cx, a, field, ret);
}

static const tg_type *unify(tg_ctx *cx, const tg_type *a, const tg_type *b, tg_type_binding *bind, int depth)
{
    if (depth > LIMIT) return NULL;
    const tg_type **to = bound(bind, a);
    if (to != NULL) {
        const tg_type *both = *to == NULL ? b : unify(cx, *to, b, NULL, depth + 1);
        if (both != NULL) *to = both;
        return both;
    }
    if (a == b || b->kind == TG_T_UNKNOWN) return a;
    if (a->kind == TG_T_UNKNOWN) return b;
    if (a->kind != b->kind) return NULL;
    if (a->kind == TG_T_TENSOR) return unify_tensors(cx, a, b);
    if (a->kind == TG_T_VAR) return a->name == b->name ? a : NULL;
    return unify_fields(cx, a, b, bind, depth);
}

const tg_type *tg_unify(tg_ctx *cx, const tg_type *a, const tg_type *b, tg_type_binding *bind)
{
    return unify(cx, a, b, bind, 0);
}

static const tg_type *replace(tg_ctx *cx, const tg_type *t, const tg_type_binding *bind, int depth)
{
    const tg_type **to = bound(bind, t);
    if (to != NULL) return *to != NULL ? *to : tg_unknown(cx);
    if (depth > LIMIT || t->n == 0 || t->kind == TG_T_TENSOR)
        return t->kind == TG_T_FUNC && t->n == 0 ? tg_func_type(cx, 0, NULL, replace(cx, t->ret, bind, depth + 1)) : t;
    const tg_type **field = TG_ARRAY(cx, const tg_type *, t->n);
    for (uint32_t i = 0; i < t->n; ++i) field[i] = replace(cx, t->field[i], bind, depth + 1);
    return with_fields(cx, t, field, t->ret != NULL ? replace(cx, t->ret, bind, depth + 1) : NULL);
}

const tg_type *tg_type_replace(tg_ctx *cx, const tg_type *t, const tg_type_binding *bind)
{
    return bind->n == 0 ? t : replace(cx, t, bind, 0);
}
