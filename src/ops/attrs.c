/* attrs.c: attributes of a call, checked against the row's schema and read with its defaults. */
#include "build.h"

#include <stdlib.h>
#include <string.h>

static const struct tg_op_attr *find(const tg_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->nattrs; ++i)
        if (tg_name_is(op->attr[i].name, name)) return &op->attr[i];
    return NULL;
}

/* ---- kinds ---- */

static const char *kind_text(enum tg_attr_kind k)
{
    static const char *const text[] = {
        [TG_ATTR_INT] = "an integer",
        [TG_ATTR_BOOL] = "True or False",
        [TG_ATTR_FLOAT] = "a number",
        [TG_ATTR_STR] = "a string",
        [TG_ATTR_DTYPE] = "the name of a dtype",
        [TG_ATTR_INTS] = "a list of integers",
        [TG_ATTR_FLOATS] = "a list of numbers",
        [TG_ATTR_LIST] = "a list",
        [TG_ATTR_ANY] = "a value",
    };
    return text[k];
}

/* Values that come from a metadata section are texts: "1", "0.5", "float32". */
static bool text_is_number(const tg_value *v, bool integer)
{
    char *end = NULL;
    if (v->kind != TG_V_STR || v->s->len == 0) return false;
    if (integer) strtoll(v->s->text, &end, 10);
    else strtod(v->s->text, &end);
    return *end == '\0';
}

static bool is_number(const tg_value *v, bool integer)
{
    return v->kind == TG_V_INT || v->kind == TG_V_BOOL || (!integer && v->kind == TG_V_FLOAT) ||
           text_is_number(v, integer) || (v->kind == TG_V_TENSOR && v->t->dl.ndim == 0);
}

static bool is_dtype(const tg_value *v)
{
    DLDataType d;
    if (v->kind != TG_V_STR) return false;
    return v->s->len == 0 || tg_name_is(v->s, "void") ||
           (tg_dtype_parse(v->s->text, v->s->len, &d) && d.lanes == 1 && d.code != kDLOpaqueHandle);
}

static bool fits(const struct tg_op_attr *a, const tg_value *v)
{
    if (v->kind == TG_V_NONE)
        return a->none || !a->required || a->kind == TG_ATTR_ANY; /* null where there is a default: the default */
    switch (a->kind) {
    case TG_ATTR_INT:
    case TG_ATTR_BOOL: return is_number(v, true);
    case TG_ATTR_FLOAT: return is_number(v, false);
    case TG_ATTR_STR: return v->kind == TG_V_STR;
    case TG_ATTR_DTYPE: return is_dtype(v);
    case TG_ATTR_LIST: return v->kind == TG_V_LIST;
    case TG_ATTR_ANY: return true;
    default: break;
    }
    bool integer = a->kind == TG_ATTR_INTS;
    if (v->kind != TG_V_LIST) return is_number(v, integer);
    for (uint32_t i = 0; i < v->n; ++i)
        if (!is_number(v->item[i], integer)) return false;
    return true;
}

static void note_attributes(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    tg_text t = tg_text_new(cx);
    for (uint32_t i = 0; i < op->nattrs; ++i) tg_printf(&t, "%s%s", i > 0 ? ", " : "", op->attr[i].name->text);
    tg_note(cx, call->span, op->nattrs > 0 ? "its attributes: %s" : "it has none", tg_text_z(&t));
}

/* Attributes that other versions of TVM print are no reason to refuse a text; wrong values are. */
bool tg_attrs_check(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_value *dict = call->u.call->attrs;
    bool ok = true;
    for (uint32_t i = 0; dict != NULL && i < dict->n; ++i) {
        const struct tg_op_attr *a = find(op, dict->key[i]->text);
        tg_span at = dict->item[i]->span.file != 0 ? dict->item[i]->span : call->span;
        if (a == NULL) {
            tg_warning(cx, at, "%s has no attribute %s; it is ignored", op->name, dict->key[i]->text);
            note_attributes(cx, op, call);
        } else if (!fits(a, dict->item[i])) {
            tg_error(cx, at, "%s: attribute %s must be %s%s", op->name, a->name->text, kind_text(a->kind),
                     a->none ? " or None" : "");
            ok = false;
        }
    }
    for (uint32_t i = 0; i < op->nattrs; ++i) {
        if (op->attr[i].required && tg_v_get(dict, op->attr[i].name->text) == NULL) {
            tg_error(cx, call->span, "%s: attribute %s is missing", op->name, op->attr[i].name->text);
            ok = false;
        }
    }
    return ok;
}

/* ---- reading ---- */

const tg_value *tg_attr(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    const struct tg_op_attr *a = find(op, name);
    TG_CHECK(cx, a != NULL, call);
    const tg_value *v = tg_v_get(call->u.call->attrs, name);
    if (v == NULL || (v->kind == TG_V_NONE && !a->none && a->otherwise != NULL)) v = a->otherwise;
    return v != NULL ? v : tg_v_none(cx);
}

static int64_t int_of(const tg_value *v)
{
    switch (v->kind) {
    case TG_V_INT:
    case TG_V_BOOL: return v->i;
    case TG_V_FLOAT: return (int64_t)v->f;
    case TG_V_STR: return strtoll(v->s->text, NULL, 10);
    case TG_V_TENSOR: return tg_tensor_i64(v->t, 0);
    default: return 0;
    }
}

static double float_of(const tg_value *v)
{
    switch (v->kind) {
    case TG_V_FLOAT: return v->f;
    case TG_V_STR: return strtod(v->s->text, NULL);
    case TG_V_TENSOR: return tg_tensor_f64(v->t, 0);
    default: return (double)int_of(v);
    }
}

int64_t tg_attr_int(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    return int_of(tg_attr(cx, op, call, name));
}

bool tg_attr_bool(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    return tg_attr_int(cx, op, call, name) != 0;
}

double tg_attr_float(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    return float_of(tg_attr(cx, op, call, name));
}

const char *tg_attr_str(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    const tg_value *v = tg_attr(cx, op, call, name);
    return v->kind == TG_V_STR ? v->s->text : "";
}

bool tg_attr_is_none(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name)
{
    return tg_attr(cx, op, call, name)->kind == TG_V_NONE;
}

int tg_attr_ints(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, int64_t *out, int max)
{
    const tg_value *v = tg_attr(cx, op, call, name);
    if (v->kind == TG_V_NONE) return 0;
    uint32_t n = v->kind == TG_V_LIST ? v->n : 1;
    if (n > (uint32_t)max) {
        tg_op_error(cx, call, "attribute %s has %u values, at most %d are possible", name, n, max);
        return -1;
    }
    for (uint32_t i = 0; i < n; ++i) out[i] = int_of(v->kind == TG_V_LIST ? v->item[i] : v);
    return (int)n;
}

int tg_attr_floats(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, double *out, int max)
{
    const tg_value *v = tg_attr(cx, op, call, name);
    if (v->kind == TG_V_NONE) return 0;
    uint32_t n = v->kind == TG_V_LIST ? v->n : 1;
    if (n > (uint32_t)max) {
        tg_op_error(cx, call, "attribute %s has %u values, at most %d are possible", name, n, max);
        return -1;
    }
    for (uint32_t i = 0; i < n; ++i) out[i] = float_of(v->kind == TG_V_LIST ? v->item[i] : v);
    return (int)n;
}

DLDataType tg_attr_dtype(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, DLDataType otherwise)
{
    const char *text = tg_attr_str(cx, op, call, name);
    DLDataType d;
    if (text[0] == '\0' || strcmp(text, "void") == 0 || !tg_dtype_parse(text, strlen(text), &d)) return otherwise;
    return d;
}

bool tg_axis_of(tg_ctx *cx, const tg_node *call, int64_t value, uint32_t ndim, uint32_t *axis)
{
    int64_t a = value < 0 ? value + (int64_t)ndim : value;
    if (a < 0 || a >= (int64_t)ndim) {
        tg_op_error(cx, call, "axis %lld is outside of %u dimensions", (long long)value, ndim);
        return false;
    }
    *axis = (uint32_t)a;
    return true;
}

bool tg_attr_axis(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, uint32_t ndim, uint32_t *axis)
{
    return tg_axis_of(cx, call, tg_attr_int(cx, op, call, name), ndim, axis);
}
