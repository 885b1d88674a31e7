/* types.c: what type rules share: operands of a rank, broadcasting, results with checked sizes. */
#include "build.h"

#include <string.h>

/* ---- operands ---- */

static const char *name_of(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    return tg_op_arg_name(cx, tg_op_find(cx, call->u.call->op), i)->text;
}

static const tg_type *known_extents(tg_ctx *cx, const tg_node *call, uint32_t i, const tg_type *t)
{
    if (t->n > TG_MAX_NDIM)
        return tg_arg_error(cx, call, i, "%s has %u dimensions, at most %d are possible", name_of(cx, call, i), t->n,
                            (int)TG_MAX_NDIM);
    for (uint32_t k = 0; k < t->n; ++k)
        if (t->dim[k] < 0)
            return tg_arg_error(cx, call, i, "dimension %u of %s is not known at compile time", k,
                                name_of(cx, call, i));
        else if (t->dim[k] > TG_MAX_ELEMENTS)
            return tg_arg_error(cx, call, i, "dimension %u of %s is too large", k, name_of(cx, call, i));
    int64_t elements;
    return tg_type_elements(t, &elements) ? t : tg_arg_error(cx, call, i, "%s is too large", name_of(cx, call, i));
}

const tg_type *tg_arg_tensor(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    const tg_type *t = call->kid[i]->type;
    if (t == NULL || t->kind != TG_T_TENSOR)
        return tg_arg_error(cx, call, i, "%s must be a tensor", name_of(cx, call, i));
    if (t->dtype.lanes != 1 || t->dtype.code == kDLOpaqueHandle)
        return tg_arg_error(cx, call, i, "%s must hold numbers", name_of(cx, call, i));
    return known_extents(cx, call, i, t);
}

const tg_type *tg_arg_of_rank(tg_ctx *cx, const tg_node *call, uint32_t i, uint32_t ndim)
{
    const tg_type *t = tg_arg_tensor(cx, call, i);
    if (t == NULL || t->n == ndim) return t;
    return tg_arg_error(cx, call, i, "%s has %u dimensions, expected %u", name_of(cx, call, i), t->n, ndim);
}

const tg_type *tg_arg_tuple(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    const tg_type *t = call->kid[i]->type;
    if (t == NULL || t->kind != TG_T_TUPLE)
        return tg_arg_error(cx, call, i, "%s must be a tuple of tensors", name_of(cx, call, i));
    for (uint32_t k = 0; k < t->n; ++k) {
        if (t->field[k]->kind != TG_T_TENSOR)
            return tg_arg_error(cx, call, i, "field %u of the tuple is not a tensor", k);
        if (known_extents(cx, call, i, t->field[k]) == NULL) return NULL;
    }
    return t;
}

bool tg_same_dtype(tg_ctx *cx, const tg_node *call, uint32_t i, uint32_t j)
{
    DLDataType a = call->kid[i]->type->dtype, b = call->kid[j]->type->dtype;
    if (tg_dtype_eq(a, b)) return true;
    tg_arg_error(cx, call, i, "operands have different types: %s and %s", tg_dtype_text(cx, a), tg_dtype_text(cx, b));
    return false;
}

bool tg_want_float(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    return tg_is_float(call->kid[i]->type->dtype) ||
           tg_arg_error(cx, call, i, "%s must be of a floating type", name_of(cx, call, i)) != NULL;
}

bool tg_want_int(tg_ctx *cx, const tg_node *call, uint32_t i)
{
    return tg_is_int(call->kid[i]->type->dtype) ||
           tg_arg_error(cx, call, i, "%s must be of an integer type", name_of(cx, call, i)) != NULL;
}

/* ---- results ---- */

const tg_type *tg_tensor_of(tg_ctx *cx, const tg_node *call, DLDataType d, uint32_t ndim, const int64_t *dim)
{
    if (ndim > TG_MAX_NDIM)
        return tg_op_error(cx, call, "the result has %u dimensions, at most %d are possible", ndim, (int)TG_MAX_NDIM);
    for (uint32_t k = 0; k < ndim; ++k)
        if (dim[k] < 0) return tg_op_error(cx, call, "extent %u of the result would be %lld", k, (long long)dim[k]);
    return tg_tensor_type(cx, d, ndim, dim, 0);
}

const tg_type *tg_like(tg_ctx *cx, const tg_type *t, DLDataType d)
{
    return tg_tensor_type(cx, d, t->n, t->dim, t->wide);
}

/* Adds the shape of @p t to *ndim, dim; false when an extent disagrees, *bad is it then. */
static bool merge_shape(const tg_type *t, uint32_t *ndim, int64_t *dim, uint32_t *wide)
{
    uint32_t n = t->n > *ndim ? t->n : *ndim;
    int64_t out[TG_MAX_NDIM];
    uint32_t out_wide = 0;
    for (uint32_t k = 0; k < n; ++k) { /* k counts from the right */
        uint32_t at = n - 1 - k;
        int64_t a = k < *ndim ? dim[*ndim - 1 - k] : 1, b = k < t->n ? t->dim[t->n - 1 - k] : 1;
        bool wide_a = k < *ndim && (*wide >> (*ndim - 1 - k) & 1), wide_b = k < t->n && (t->wide >> (t->n - 1 - k) & 1);
        if (a != b && a != 1 && b != 1) return false;
        out[at] = a == 1 ? b : a;
        if ((a == 1 && k < t->n) ? wide_b : wide_a) out_wide |= 1u << at;
    }
    *ndim = n;
    *wide = out_wide;
    memcpy(dim, out, n * sizeof out[0]);
    return true;
}

bool tg_broadcast_dims(tg_ctx *cx, const tg_node *call, uint32_t first, uint32_t n, uint32_t *ndim, int64_t *dim,
                       uint32_t *wide)
{
    *ndim = 0;
    *wide = 0;
    for (uint32_t i = first; i < first + n; ++i) {
        const tg_type *t = tg_arg_tensor(cx, call, i);
        if (t == NULL) return false;
        if (merge_shape(t, ndim, dim, wide)) continue;
        tg_op_error(cx, call, "the shapes of the operands cannot be broadcast together");
        return false;
    }
    return true;
}

int tg_const_ints(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t *out, int max)
{
    const tg_node *n = call->kid[i];
    const tg_op *op = tg_op_find(cx, call->u.call->op);
    const char *name = tg_op_arg_name(cx, op, i)->text;
    if (n->kind != TG_RCONST) {
        tg_arg_error(cx, call, i,
                     "%s decides the shape of the result and must be a constant; it is computed at run time here",
                     name);
        return -1;
    }
    const tg_type *t = n->u.tensor->type;
    int64_t count = t->n == 0 ? 1 : t->dim[0];
    if (t->n > 1 || count > max) {
        tg_arg_error(cx, call, i, "%s must be a list of at most %d integers", name, max);
        return -1;
    }
    for (int64_t k = 0; k < count; ++k) out[k] = tg_tensor_i64(n->u.tensor, k);
    return (int)count;
}
