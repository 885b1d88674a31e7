/* tvmscript_buffer.c: buffers: their declarations, attributes, subscripts, and what a subscript means as load, store or
 * region. Formats: tvmscript-tir.md sections 5, 15, 19. */
#include "tvmscript_elab.h"

#include <string.h>

tg_val tg_el_of_buffer(const tg_syn *at, const tg_buffer *b)
{
    tg_val v = { .kind = TG_VAL_BUFFER, .at = at };
    v.w.buf = b;
    return v;
}

static tg_val var_value(tg_elab *e, const tg_syn *at, const tg_var *var)
{
    return tg_el_of_expr(at, tg_node_new(e->cx, TG_VAR, tg_el_span(e, at), var->type, var, 0, NULL));
}

/* ---- A.data, A.shape, e.astype ---- */

static tg_val expressions(tg_elab *e, const tg_syn *at, uint32_t n, const tg_node *const *expr)
{
    tg_val v = { .kind = TG_VAL_TUPLE, .at = at, .n = expr != NULL ? n : 0 };
    tg_val *item = TG_TEMP_ARRAY(e->cx, tg_val, v.n);
    for (uint32_t k = 0; k < v.n; ++k)
        item[k] = tg_el_of_expr(at, expr[k]);
    v.u.item = item;
    return v;
}

static tg_val method(tg_elab *e, const tg_syn *at, const tg_val *object, const tg_name *name)
{
    tg_val *self = tg_temp(e->cx, sizeof *self), v = { .kind = TG_VAL_METHOD, .at = at, .n = 1 };
    *self = *object;
    v.u.item = self;
    v.name = name;
    return v;
}

static tg_val text(tg_elab *e, const tg_syn *at, const char *s)
{
    tg_val v = { .kind = TG_VAL_STR, .at = at };
    v.u.name = tg_intern_z(e->cx, s);
    return v;
}

static tg_val buffer_attr(tg_elab *e, const tg_syn *at, const tg_val *object, const tg_name *name)
{
    static const char *const methods[] = { "scope", "access_ptr", "vload", "vstore" };
    const tg_buffer *b = object->w.buf;
    if (tg_name_is(name, "data"))
        return var_value(e, at, b->data);
    if (tg_name_is(name, "shape"))
        return expressions(e, at, b->ndim, b->shape);
    if (tg_name_is(name, "strides"))
        return expressions(e, at, b->ndim, b->strides);
    if (tg_name_is(name, "elem_offset"))
        return tg_el_of_expr(at, b->elem_offset != NULL ? b->elem_offset : tg_int(e->cx, TG_INT32, 0));
    if (tg_name_is(name, "dtype"))
        return text(e, at, tg_dtype_text(e->cx, b->dtype));
    for (size_t i = 0; i < TG_COUNT(methods); ++i)
        if (tg_name_is(name, methods[i]))
            return method(e, at, object, name);
    return tg_el_wrong(e, at, "buffer %s has no attribute '%s'", b->name->text, name->text);
}

tg_val tg_el_attr(tg_elab *e, const tg_syn *at, const tg_val *object, const tg_name *name)
{
    if (object->kind == TG_VAL_BUFFER)
        return buffer_attr(e, at, object, name);
    if (object->kind == TG_VAL_EXPR || object->kind == TG_VAL_ACCESS || tg_el_is_number(object)) {
        if (tg_name_is(name, "astype"))
            return method(e, at, object, name);
        if (tg_name_is(name, "dtype")) {
            const tg_node *x = tg_el_expr(e, object);
            return x != NULL ? text(e, at, tg_dtype_text(e->cx, tg_dtype_of(x)))
                             : (tg_val){ .kind = TG_VAL_ERROR, .at = at };
        }
    }
    return tg_el_wrong(e, at, "%s has no attribute '%s'", tg_el_what(object), name->text);
}

/* ---- subscripts ---- */

static tg_val access(tg_elab *e, const tg_syn *at, const tg_buffer *b, const tg_val *item, uint32_t n)
{
    if (n == 1 && item->kind == TG_VAL_TUPLE) {         /* A[()], A[(i, j)] */
        n = item->n;
        item = item->u.item;
    }
    tg_val *copy = TG_TEMP_ARRAY(e->cx, tg_val, n), v = { .kind = TG_VAL_ACCESS, .at = at, .n = n };
    for (uint32_t i = 0; i < n; ++i) {
        if (item[i].kind == TG_VAL_ERROR)
            return item[i];
        copy[i] = item[i];
    }
    v.u.item = copy;
    v.w.buf = b;
    return v;
}

static tg_val metadata_item(tg_elab *e, const tg_syn *at, const tg_val *base, const tg_val *item)
{
    tg_val v = { .kind = base->kind == TG_VAL_META ? TG_VAL_META_KEY : TG_VAL_VALUE, .at = at };
    if (base->kind == TG_VAL_META) {
        v.u.name = tg_el_str(e, item, "the key of the metadata");
        return v.u.name != NULL ? v : (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    }
    int64_t i;
    if (!tg_el_int(e, item, "the index into the metadata", &i))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (e->meta == NULL || i < 0)
        return tg_el_wrong(e, at,
                           e->meta == NULL ? "this text was printed without its metadata (show_meta=True prints it)"
                                           : "the metadata has no negative index");
    v.u.value = tg_meta_get(e->meta, tg_el_span(e, at), base->u.name->text, (uint64_t)i);
    if (v.u.value != NULL)
        return v;
    e->bad = true;
    return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
}

static tg_val sequence_item(tg_elab *e, const tg_syn *at, const tg_val *base, const tg_val *item)
{
    int64_t i;
    if (!tg_el_int(e, item, "the index", &i))
        return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
    if (i < -(int64_t)base->n || i >= (int64_t)base->n)
        return tg_el_wrong(e, at, "index %lld of %u items", (long long)i, (unsigned)base->n);
    tg_val v = base->u.item[i < 0 ? i + (int64_t)base->n : i];
    v.at = at;
    return v;
}

tg_val tg_el_subscript(tg_elab *e, const tg_syn *at, const tg_val *base, const tg_val *item, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        if (item[i].kind == TG_VAL_ERROR)
            return item[i];
    switch (base->kind) {
    case TG_VAL_ERROR:
        return *base;
    case TG_VAL_BUFFER:
        return access(e, at, base->w.buf, item, n);
    case TG_VAL_META: case TG_VAL_META_KEY:
        return n == 1 ? metadata_item(e, at, base, item) : tg_el_wrong(e, at, "the metadata takes one index");
    case TG_VAL_TUPLE: case TG_VAL_LIST:
        return n == 1 ? sequence_item(e, at, base, item) : tg_el_wrong(e, at, "a tuple takes one index");
    case TG_VAL_WORD:
    case TG_VAL_TYPE: /* T.Buffer[(8, 4), "float32"], T.Ptr[T.float32], T.let[T.int32] */
        return tg_el_call(e, at, base, item, n);
    case TG_VAL_EXPR:
        if (base->u.expr->kind == TG_VAR && base->u.expr->type->kind == TG_T_PTR) {
            const tg_buffer *b = tg_el_pointer_buffer(e, base->u.expr->u.var);
            return b != NULL ? access(e, at, b, item, n)
                             : tg_el_wrong(e, at, "the length of %s is not known: declare a buffer over it",
                                           base->u.expr->u.var->name->text);
        }
        break;
    default:
        break;
    }
    return tg_el_wrong(e, at, "%s takes no index", tg_el_what(base));
}

/* ---- loads and stores ---- */

static const tg_node *ramp(tg_elab *e, const tg_syn *at, const tg_node *base, const tg_node *stride, int64_t lanes)
{
    if (lanes < 1 || lanes > UINT16_MAX) {
        tg_el_error(e, at, "%lld lanes are not supported", (long long)lanes);
        return NULL;
    }
    if (lanes == 1)
        return base;
    DLDataType d = tg_dtype_of(base);
    d.lanes = (uint16_t)lanes;
    return tg_node_new(e->cx, TG_RAMP, tg_el_span(e, at), tg_prim(e->cx, d), NULL, 2,
                       (const tg_node *[]){ base, stride });
}

/* A[start:stop:step] as an index: lanes from start on. */
static const tg_node *slice_index(tg_elab *e, const tg_val *slice, const tg_node *whole)
{
    const tg_val *part = slice->u.item;
    tg_val zero = { .kind = TG_VAL_INT, .at = slice->at };
    const tg_node *start = tg_el_index(e, part[0].kind == TG_VAL_NONE ? &zero : &part[0]);
    const tg_node *stop = part[1].kind == TG_VAL_NONE ? whole : tg_el_index(e, &part[1]);
    int64_t step = 1;
    if (start == NULL || stop == NULL || (part[2].kind != TG_VAL_NONE && !tg_el_int(e, &part[2], "the step", &step)))
        return NULL;
    const tg_node *extent = tg_el_extent(e, slice->at, start, stop);
    if (extent == NULL)
        return NULL;
    if (extent->kind != TG_INT || step < 1 || extent->u.i < 1) {
        tg_el_error(e, slice->at, "a vector access needs a constant number of lanes");
        return NULL;
    }
    start = tg_el_cast(e, start, tg_dtype_of(extent));
    return ramp(e, slice->at, start, tg_int(e->cx, tg_dtype_of(start), step), (extent->u.i - 1) / step + 1);
}

/* Index nodes of an access with the type of what is accessed; NULL after an error. */
static const tg_node **indices(tg_elab *e, const tg_val *a, const tg_type **type)
{
    const tg_buffer *b = a->w.buf;
    if (a->n != b->ndim) {
        tg_el_error(e, a->at, "buffer %s has %u dimension%s, %u ind%s given", b->name->text, (unsigned)b->ndim,
                    b->ndim == 1 ? "" : "s", (unsigned)a->n, a->n == 1 ? "ex is" : "ices are");
        return NULL;
    }
    const tg_node **index = TG_TEMP_ARRAY(e->cx, const tg_node *, a->n + 1);
    DLDataType d = b->dtype;
    for (uint32_t k = 0; k < a->n; ++k) {
        const tg_val *v = &a->u.item[k];
        index[k] = v->kind == TG_VAL_SLICE ? slice_index(e, v, b->shape[k]) : tg_el_index(e, v);
        if (index[k] == NULL)
            return NULL;
        uint16_t lanes = tg_dtype_of(index[k]).lanes;
        if ((lanes > 1 && k + 1 < a->n) || (uint32_t)lanes * d.lanes > UINT16_MAX) {
            tg_el_error(e, v->at, lanes > 1 && k + 1 < a->n ? "only the last index may be a vector" : "too many lanes");
            return NULL;
        }
        d.lanes = (uint16_t)(d.lanes * lanes);
    }
    *type = d.lanes == b->dtype.lanes && d.lanes == 1 && d.code == kDLFloat && d.bits == 32 ? e->float32
                                                                                            : tg_prim(e->cx, d);
    return index;
}

const tg_node *tg_el_load(tg_elab *e, const tg_val *a)
{
    const tg_type *type;
    const tg_node **index = indices(e, a, &type);
    return index != NULL ? tg_node_new(e->cx, TG_LOAD, tg_el_span(e, a->at), type, a->w.buf, a->n, index) : NULL;
}

const tg_node *tg_el_store(tg_elab *e, const tg_syn *at, const tg_val *a, const tg_val *value)
{
    const tg_type *type;
    const tg_node **index = indices(e, a, &type);
    const tg_node *v = index != NULL ? tg_el_expr_as(e, value, type->dtype) : NULL;
    if (v == NULL)
        return NULL;
    memmove(index + 1, index, a->n * sizeof index[0]);
    index[0] = v;
    return tg_node_new(e->cx, TG_STORE, tg_el_span(e, at), NULL, a->w.buf, a->n + 1, index);
}

/* ---- regions ---- */

static bool region_dim(tg_elab *e, const tg_val *v, const tg_node *whole, const tg_node **min, const tg_node **extent)
{
    if (v->kind != TG_VAL_SLICE) {
        *min = tg_el_index(e, v);
        *extent = *min != NULL ? tg_int(e->cx, tg_dtype_of(*min), 1) : NULL;
        return *min != NULL;
    }
    const tg_val *part = v->u.item;
    if (part[2].kind != TG_VAL_NONE) {
        tg_el_error(e, v->at, "a region has no steps");
        return false;
    }
    const tg_node *end = part[1].kind == TG_VAL_NONE ? whole : tg_el_index(e, &part[1]);
    if (end == NULL)
        return false;
    *min = part[0].kind == TG_VAL_NONE ? tg_int(e->cx, tg_dtype_of(end), 0) : tg_el_index(e, &part[0]);
    *extent = *min != NULL ? tg_el_extent(e, v->at, *min, end) : NULL;
    if (*extent != NULL && (*min)->kind == TG_INT)
        *min = tg_el_cast(e, *min, tg_dtype_of(*extent));
    return *extent != NULL;
}

bool tg_el_region(tg_elab *e, const tg_val *v, tg_region *out)
{
    if (v->kind != TG_VAL_BUFFER && v->kind != TG_VAL_ACCESS) {
        if (v->kind != TG_VAL_ERROR)
            tg_el_error(e, v->at, "expected a region of a buffer, not %s", tg_el_what(v));
        return false;
    }
    const tg_buffer *b = v->w.buf;
    if (v->kind == TG_VAL_ACCESS && v->n != b->ndim) {
        tg_el_error(e, v->at, "buffer %s has %u dimensions, the region %u", b->name->text, (unsigned)b->ndim,
                    (unsigned)v->n);
        return false;
    }
    const tg_node **min = TG_ARRAY(e->cx, const tg_node *, b->ndim),
                  **extent = TG_ARRAY(e->cx, const tg_node *, b->ndim);
    for (uint32_t k = 0; k < b->ndim; ++k) {
        if (v->kind == TG_VAL_BUFFER) {
            min[k] = tg_int(e->cx, tg_dtype_of(b->shape[k]), 0);
            extent[k] = b->shape[k];
        } else if (!region_dim(e, &v->u.item[k], b->shape[k], &min[k], &extent[k])) {
            return false;
        }
    }
    *out = (tg_region){ b, min, extent };
    return true;
}

/* ---- declarations ---- */

enum { SHAPE, DTYPE, DATA, STRIDES, ELEM_OFFSET, SCOPE, ALIGN, OFFSET_FACTOR, BUFFER_TYPE, SEPARATORS, LAYOUT, NARGS };
#define BUFFER_ARGS                                                                                                    \
    "shape | dtype data strides elem_offset scope align offset_factor buffer_type/type axis_separators layout"

/* Slots of a buffer form; those of match_buffer begin after the matched object. */
static bool buffer_args(tg_elab *e, const tg_val *form, const tg_val **slot)
{
    if (form->w.word->id != TG_W_MATCH_BUFFER)
        return tg_el_args(e, form, BUFFER_ARGS, slot);
    const tg_val *all[NARGS + 1];
    if (!tg_el_args(e, form, "param/buffer " BUFFER_ARGS, all))
        return false;
    memcpy(slot, all + 1, NARGS * sizeof slot[0]);
    return true;
}

const tg_val *tg_el_buffer_data(tg_elab *e, const tg_val *form)
{
    const tg_val *slot[NARGS];
    return buffer_args(e, form, slot) ? slot[DATA] : NULL;
}

static const tg_node **dims(tg_elab *e, const tg_val *v, uint32_t *n)
{
    const tg_val *item;
    *n = tg_el_list(v, &item);
    if (*n > TG_MAX_NDIM) {
        tg_el_error(e, v->at, "%u dimensions: at most %d are supported", (unsigned)*n, (int)TG_MAX_NDIM);
        return NULL;
    }
    const tg_node **dim = TG_ARRAY(e->cx, const tg_node *, *n);
    for (uint32_t k = 0; k < *n; ++k) {
        tg_val name = item[k];
        if (name.kind == TG_VAL_STR)                    /* 0.26: an expression in quotes */
            name = tg_el_quoted(e, &item[k]);
        dim[k] = tg_el_index(e, &name);
        if (dim[k] == NULL)
            return NULL;
    }
    return dim;
}

static DLDataType index_type(const tg_buffer *b)
{
    return b->ndim > 0 ? tg_dtype_of(b->shape[0]) : TG_INT32;
}

static const tg_node *fresh_var(tg_elab *e, const tg_name *name, DLDataType d)
{
    return tg_var_ref(e->cx, tg_var_new(e->cx, name, tg_prim(e->cx, d)));
}

static bool set_strides(tg_elab *e, const tg_val *v, tg_buffer *b)
{
    const tg_val *item;
    uint32_t n = tg_el_list(v, &item);
    if (n == 0)
        return true;
    if (n != b->ndim) {
        tg_el_error(e, v->at, "%u strides for %u dimensions", (unsigned)n, (unsigned)b->ndim);
        return false;
    }
    const tg_node **stride = TG_ARRAY(e->cx, const tg_node *, n);
    for (uint32_t k = 0; k < n; ++k) {
        stride[k] = item[k].kind == TG_VAL_STR ? fresh_var(e, item[k].u.name, index_type(b)) : tg_el_index(e, &item[k]);
        if (stride[k] == NULL)
            return false;
    }
    b->strides = stride;
    return true;
}

/* offset_factor without elem_offset means an offset that is not known yet. */
static bool set_offset(tg_elab *e, const tg_val *offset, const tg_val *factor, tg_buffer *b)
{
    int64_t i = 0;
    if (factor != NULL && !tg_el_int(e, factor, "offset_factor", &i))
        return false;
    b->offset_factor = (int32_t)tg_wrap_to(TG_INT32, i);
    if (offset != NULL)
        b->elem_offset = tg_el_index(e, offset);
    else if (b->offset_factor != 0)
        b->elem_offset = fresh_var(e, tg_internf(e->cx, "%s_elem_offset", b->name->text), index_type(b));
    return offset == NULL || b->elem_offset != NULL;
}

static bool set_rest(tg_elab *e, const tg_val *const *slot, tg_buffer *b)
{
    int64_t align = 0;
    if (slot[ALIGN] != NULL && !tg_el_int(e, slot[ALIGN], "align", &align))
        return false;
    b->align = (int32_t)tg_wrap_to(TG_INT32, align);
    if (slot[BUFFER_TYPE] != NULL) {
        const tg_name *type = tg_el_str(e, slot[BUFFER_TYPE], "buffer_type");
        if (type == NULL)
            return false;
        b->auto_broadcast = tg_name_is(type, "auto");
        if (!b->auto_broadcast && !tg_name_is(type, "") && !tg_name_is(type, "default")) {
            tg_el_error(e, slot[BUFFER_TYPE]->at, "buffer_type is \"default\" or \"auto\"");
            return false;
        }
    }
    /* axis_separators only group dimensions, which one flat memory does not show. A layout other than the default moves elements. */
    if (slot[LAYOUT] != NULL) {
        tg_el_error(e, slot[LAYOUT]->at, "buffers with a layout of their own are not supported");
        return false;
    }
    return true;
}

/* The pointer that a data= names. */
static const tg_var *data_var(tg_elab *e, const tg_val *v)
{
    const tg_node *x = tg_el_expr(e, v);
    if (x != NULL && x->kind == TG_VAR && x->type->kind == TG_T_PTR)
        return x->u.var;
    if (x != NULL)
        tg_el_error(e, v->at, "data must be a pointer variable");
    return NULL;
}

tg_buffer *tg_el_buffer(tg_elab *e, const tg_val *form, const tg_name *name, const tg_var *data,
                        const tg_buffer *source)
{
    const tg_val *slot[NARGS];
    tg_buffer *b = TG_NEW(e->cx, tg_buffer);
    if (!buffer_args(e, form, slot))
        return NULL;
    if (slot[DATA] != NULL && (data != NULL || source != NULL || form->w.word->id == TG_W_ALLOC_BUFFER)) {
        tg_el_error(e, slot[DATA]->at, "the memory of this buffer is not for data= to say");
        return NULL;
    }
    b->name = name;
    b->span = tg_el_span(e, form->at);
    b->id = e->cx->nbuffers++;
    b->dtype = source != NULL ? source->dtype : TG_FLOAT32;
    b->scope = source != NULL ? source->scope : e->global;
    b->shape = dims(e, slot[SHAPE], &b->ndim);
    if (b->shape == NULL || (slot[DTYPE] != NULL && !tg_el_dtype(e, slot[DTYPE], &b->dtype)))
        return NULL;
    if (slot[SCOPE] != NULL && (b->scope = tg_el_str(e, slot[SCOPE], "scope")) == NULL)
        return NULL;
    if ((slot[STRIDES] != NULL && !set_strides(e, slot[STRIDES], b)) ||
        !set_offset(e, slot[ELEM_OFFSET], slot[OFFSET_FACTOR], b) || !set_rest(e, slot, b))
        return NULL;
    b->data = data != NULL ? data : slot[DATA] != NULL ? data_var(e, slot[DATA])
              : tg_var_new(e->cx, name, tg_ptr(e->cx, b->dtype, b->scope));
    return b->data != NULL ? b : NULL;
}

/* ---- p[i] of old text: a flat buffer over what the pointer is known to hold ---- */

static bool product(const tg_node *const *dim, uint32_t n, int64_t *out)
{
    *out = 1;
    for (uint32_t k = 0; k < n; ++k) {
        if (dim[k]->kind != TG_INT || dim[k]->u.i < 0 || (dim[k]->u.i > 0 && *out > TG_MAX_ELEMENTS / dim[k]->u.i))
            return false;
        *out *= dim[k]->u.i;
    }
    return true;
}

static bool pointer_length(const tg_elab *e, const tg_var *pointer, int64_t *out)
{
    for (size_t i = e->items.n; i > 0; --i) {
        const tg_el_item *it = &e->items.at[i - 1];
        if (it->stmt == NULL && it->kind == TG_ALLOCATE && it->pointer == pointer)
            return product(it->kid, it->n, out);
    }
    for (size_t i = 0; i < e->params.n; ++i)
        if (e->params.at[i].var == pointer && e->params.at[i].buf != NULL)
            return product(e->params.at[i].buf->shape, e->params.at[i].buf->ndim, out);
    return false;
}

/* The buffer matched to a parameter, if it is flat memory itself. */
static const tg_buffer *flat_param(const tg_elab *e, const tg_var *pointer)
{
    for (size_t i = 0; i < e->params.n; ++i) {
        const tg_buffer *b = e->params.at[i].buf;
        if (b != NULL && b->data == pointer)
            return b->ndim == 1 && b->strides == NULL && (b->elem_offset == NULL || tg_is_int_const(b->elem_offset, 0))
                       ? b
                       : NULL;
    }
    return NULL;
}

const tg_buffer *tg_el_pointer_buffer(tg_elab *e, const tg_var *pointer)
{
    tg_buffer *b = tg_map_get(&e->pointer_buffer, (uint64_t)pointer->id + 1);
    int64_t length;
    const tg_buffer *flat = flat_param(e, pointer);
    if (flat != NULL)
        return flat;
    if (b != NULL || !pointer_length(e, pointer, &length) || pointer->type->dtype.code == kDLOpaqueHandle)
        return b;
    b = tg_buffer_new(e->cx, pointer->name, pointer->type->dtype, 1, &length, length > INT32_MAX ? TG_INT64 : TG_INT32);
    b->data = pointer;
    if (pointer->type->name != NULL)
        b->scope = pointer->type->name;
    tg_map_put(e->cx, &e->pointer_buffer, (uint64_t)pointer->id + 1, b);
    return b;
}

tg_val tg_el_pointer_access(tg_elab *e, const tg_syn *at, const tg_val *pointer, const tg_val *index)
{
    const tg_buffer *b = pointer->kind == TG_VAL_BUFFER ? pointer->w.buf : NULL;
    if (b == NULL || b->ndim != 1) {
        const tg_node *x = b != NULL ? tg_var_ref(e->cx, b->data) : tg_el_expr(e, pointer);
        if (x == NULL)
            return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
        if (x->kind != TG_VAR || x->type->kind != TG_T_PTR)
            return tg_el_wrong(e, pointer->at, "expected a pointer");
        b = tg_el_pointer_buffer(e, x->u.var);
        if (b == NULL)
            return tg_el_wrong(e, at, "the length of %s is not known: declare a buffer over it", x->u.var->name->text);
    }
    return access(e, at, b, index, 1);
}
