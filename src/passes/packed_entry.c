/* packed_entry.c: the packed calling convention, callee's side, see packed_entry.h. What stands in front of the old body is a list of
 * steps in order: values read from the arguments, checks, views. */
#include "packed_entry.h"
#include "ir/text.h"
#include "ir/vec.h"
#include "ir/walk.h"

typedef struct step {
    const tg_var *let;      /* = value; or */
    const tg_buffer *view;  /* over what was read; or */
    const tg_node *check;   /* with a message */
    const tg_node *value;
    const char *message;
} step;

typedef struct entry {
    tg_ctx *cx;
    const tg_func *f;
    bool checked;
    const tg_var *args, *codes, *count;
    TG_VEC(step) steps;
    tg_map bound;           /* variable's id + 1: it has a value */
} entry;

/* What is known of one tensor argument while the steps are made. */
typedef struct tensor {
    uint32_t at;
    const tg_buffer *b;
    const tg_var *handle, *strides;
    const tg_buffer *dims, *steps;      /* views of its shape and strides */
    const tg_node *compact;             /* it has no strides */
    uint64_t own;                       /* bit k: a variable got its value from extent k here */
} tensor;

static const tg_node *get_field(entry *e, const tg_var *from, int64_t index, int64_t field, const tg_type *type)
{
    const tg_node *arg[3] = { tg_var_ref(e->cx, from), tg_int(e->cx, TG_INT32, index), tg_int(e->cx, TG_INT32, field) };
    return tg_call(e->cx, "tvm_struct_get", type, 3, arg);
}

static void bind(entry *e, const tg_var *v, const tg_node *value)
{
    TG_PUSH(e->cx, e->steps, ((step){ .let = v, .value = value }));
    tg_map_put(e->cx, &e->bound, (uint64_t)v->id + 1, e);
}

static void view(entry *e, const tg_buffer *b)
{
    TG_PUSH(e->cx, e->steps, ((step){ .view = b }));
}

static void check(entry *e, const tg_node *cond, const char *what, const char *name)
{
    const char *message = name == NULL ? tg_format(e->cx, "%s: %s", e->f->name->text, what)
                                       : tg_format(e->cx, "%s: argument %s: %s", e->f->name->text, name, what);
    if (e->checked) TG_PUSH(e->cx, e->steps, ((step){ .check = cond, .message = message }));
}

static const tg_node *equals(entry *e, const tg_node *a, int64_t v)
{
    return tg_bin(e->cx, TG_EQ, a, tg_int(e->cx, tg_dtype_of(a), v));
}

static bool is_open(const entry *e, const tg_node *n)
{
    return n->kind == TG_VAR && tg_map_get(&e->bound, (uint64_t)n->u.var->id + 1) == NULL;
}

static bool is_open_buffer(const entry *e, const tg_buffer *b)
{
    for (uint32_t k = 0; k < b->ndim; ++k)
        if (is_open(e, b->shape[k]) || (b->strides != NULL && is_open(e, b->strides[k]))) return true;
    return b->elem_offset != NULL && is_open(e, b->elem_offset);
}

static const tg_node *element(entry *e, const tg_buffer *of, uint32_t k)
{
    const tg_node *at = tg_int(e->cx, TG_INT32, k);
    return tg_load(e->cx, of, 1, &at);
}

/* ---- one argument ---- */

static void scalar(entry *e, uint32_t i)
{
    const tg_var *p = e->f->param[i];
    bool number = p->type->kind == TG_T_PRIM && p->type->dtype.code != kDLOpaqueHandle;
    DLDataType wide = number && tg_is_float(p->type->dtype) ? TG_FLOAT64 : TG_INT64;
    const tg_node *v = get_field(e, e->args, i, TG_FIELD_VALUE, number ? tg_prim(e->cx, wide) : p->type);
    bind(e, p, number ? tg_cast(e->cx, p->type->dtype, v) : v);
}

static const tg_buffer *numbers(entry *e, const tg_buffer *of, const char *what, const tg_var *data)
{
    int64_t n = of->ndim;
    tg_buffer *b = tg_buffer_new(e->cx, tg_internf(e->cx, "%s_%s", of->name->text, what), TG_INT64, 1, &n, TG_INT32);
    b->data = data;
    return b;
}

/* The argument's tensor, its kind, rank and element type. */
static void open_tensor(entry *e, tensor *t)
{
    tg_ctx *cx = e->cx;
    const tg_buffer *b = t->b;
    const char *name = b->name->text;
    const tg_type *handle = tg_ptr(cx, TG_HANDLE, NULL), *int32 = tg_prim(cx, TG_INT32), *wide = tg_ptr(cx, TG_INT64, NULL);
    int64_t ids = e->f->nparams;
    tg_buffer *code = tg_buffer_new(cx, e->codes->name, TG_INT32, 1, &ids, TG_INT32);
    code->data = e->codes;
    if (e->checked) {
        view(e, code);
        const tg_node *kind = element(e, code, t->at);
        check(e, tg_bin(cx, TG_OR, equals(e, kind, TG_CODE_TENSOR), equals(e, kind, TG_CODE_ARRAY)), "expected a tensor", name);
    }
    t->handle = tg_var_new(cx, tg_internf(cx, "%s_handle", name), handle);
    bind(e, t->handle, get_field(e, e->args, t->at, TG_FIELD_VALUE, handle));
    check(e, tg_not(cx, tg_call1(cx, "isnullptr", tg_var_ref(cx, t->handle))), "is NULL", name);
    check(e, equals(e, get_field(e, t->handle, 0, TG_FIELD_NDIM, int32), b->ndim), tg_format(cx, "expected %u dimensions", b->ndim), name);
    const tg_node *is = equals(e, get_field(e, t->handle, 0, TG_FIELD_CODE, tg_prim(cx, TG_UINT8)), b->dtype.code);
    is = tg_bin(cx, TG_AND, is, equals(e, get_field(e, t->handle, 0, TG_FIELD_BITS, tg_prim(cx, TG_UINT8)), b->dtype.bits));
    is = tg_bin(cx, TG_AND, is, equals(e, get_field(e, t->handle, 0, TG_FIELD_LANES, tg_prim(cx, tg_dtype(kDLUInt, 16, 1))), b->dtype.lanes));
    check(e, is, tg_format(cx, "expected elements of type %s", tg_dtype_text(cx, b->dtype)), name);
    if (b->ndim == 0 || (!e->checked && !is_open_buffer(e, b))) return;
    const tg_var *shape = tg_var_new(cx, tg_internf(cx, "%s_shape", name), wide);
    bind(e, shape, get_field(e, t->handle, 0, TG_FIELD_SHAPE, wide));
    view(e, t->dims = numbers(e, b, "shape", shape));
    t->strides = tg_var_new(cx, tg_internf(cx, "%s_strides", name), wide);
    bind(e, t->strides, get_field(e, t->handle, 0, TG_FIELD_STRIDES, wide));
    view(e, t->steps = numbers(e, b, "strides", t->strides));
    t->compact = tg_call1(cx, "isnullptr", tg_var_ref(cx, t->strides));
}

/* What a compact tensor would have as stride of dimension @p k. */
static const tg_node *compact_stride(entry *e, const tensor *t, uint32_t k)
{
    const tg_node *size = NULL;
    for (uint32_t i = k + 1; i < t->b->ndim; ++i) {
        const tg_node *n = element(e, t->dims, i);
        size = size == NULL ? n : tg_bin(e->cx, TG_MUL, size, n);
    }
    return size != NULL ? size : tg_int(e->cx, TG_INT64, 1);
}

static const tg_node *stride(entry *e, const tensor *t, uint32_t k)
{
    const tg_node *kid[3] = { t->compact, compact_stride(e, t, k), element(e, t->steps, k) };
    return tg_call(e->cx, "if_then_else", tg_prim(e->cx, TG_INT64), 3, kid);
}

static int64_t element_bytes(const tg_buffer *b)
{
    return (int64_t)tg_dtype_bytes(b->dtype);
}

static const tg_node *byte_offset(entry *e, const tensor *t)
{
    return tg_cast(e->cx, TG_INT64, get_field(e, t->handle, 0, TG_FIELD_BYTE_OFFSET, tg_prim(e->cx, tg_dtype(kDLUInt, 64, 1))));
}

static void bind_cast(entry *e, const tg_node *var, const tg_node *value)
{
    bind(e, var->u.var, tg_cast(e->cx, tg_dtype_of(var), value));
}

/* Variables that stand alone are what the argument has there. */
static void bind_open(entry *e, tensor *t)
{
    const tg_buffer *b = t->b;
    for (uint32_t k = 0; k < b->ndim; ++k)
        if (is_open(e, b->shape[k])) {
            bind_cast(e, b->shape[k], element(e, t->dims, k));
            t->own |= (uint64_t)1 << k;
        }
    for (uint32_t k = 0; b->strides != NULL && k < b->ndim; ++k)
        if (is_open(e, b->strides[k])) bind_cast(e, b->strides[k], stride(e, t, k));
    if (b->elem_offset != NULL && is_open(e, b->elem_offset))
        bind_cast(e, b->elem_offset, tg_bin(e->cx, TG_FLOORDIV, byte_offset(e, t), tg_int(e->cx, TG_INT64, element_bytes(b))));
}

static void check_extents(entry *e, const tensor *t)
{
    tg_ctx *cx = e->cx;
    const tg_buffer *b = t->b;
    for (uint32_t k = 0; k < b->ndim; ++k) {
        if ((t->own >> k & 1) != 0) continue;
        const char *what = b->shape[k]->kind == TG_INT ? tg_format(cx, "expected extent %lld in dimension %u", (long long)b->shape[k]->u.i, k)
                                                       : tg_format(cx, "the extent of dimension %u does not fit the other arguments", k);
        check(e, tg_bin(cx, TG_EQ, element(e, t->dims, k), tg_cast(cx, TG_INT64, b->shape[k])), what, b->name->text);
    }
    const tg_node *same = NULL;
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *want = b->strides != NULL ? tg_cast(cx, TG_INT64, b->strides[k]) : compact_stride(e, t, k);
        const tg_node *one = tg_bin(cx, TG_EQ, b->strides != NULL ? stride(e, t, k) : element(e, t->steps, k), want);
        if (b->strides == NULL) one = tg_bin(cx, TG_OR, equals(e, element(e, t->dims, k), 1), one);
        same = same == NULL ? one : tg_bin(cx, TG_AND, same, one);
    }
    if (same != NULL && b->strides == NULL) same = tg_bin(cx, TG_OR, t->compact, same);
    if (same != NULL) check(e, same, b->strides != NULL ? "its strides do not fit" : "expected a compact tensor", b->name->text);
}

/* The pointer, moved by the byte offset unless the buffer's own element offset stands for that. */
static void open_data(entry *e, const tensor *t)
{
    tg_ctx *cx = e->cx;
    const tg_buffer *b = t->b;
    int64_t align = b->align > element_bytes(b) ? b->align : element_bytes(b);
    if (!e->checked || (b->elem_offset != NULL && b->elem_offset->kind == TG_VAR)) {     /* what this module makes has no offset */
        bind(e, b->data, get_field(e, t->handle, 0, TG_FIELD_DATA, b->data->type));
    } else {
        const tg_type *bytes = tg_ptr(cx, TG_UINT8, NULL);
        const tg_var *raw = tg_var_new(cx, tg_internf(cx, "%s_bytes", b->name->text), bytes);
        bind(e, raw, get_field(e, t->handle, 0, TG_FIELD_DATA, bytes));
        int64_t all = INT64_MAX / 2;
        tg_buffer *memory = tg_buffer_new(cx, raw->name, TG_UINT8, 1, &all, TG_INT64);
        memory->data = raw;
        view(e, memory);
        const tg_node *at = byte_offset(e, t), *first = tg_load(cx, memory, 1, &at);
        bind(e, b->data, tg_call(cx, "address_of", b->data->type, 1, &first));
    }
    const tg_node *address = tg_call(cx, "reinterpret", tg_prim(cx, tg_dtype(kDLUInt, 64, 1)), 1, (const tg_node *[]){ tg_var_ref(cx, b->data) });
    if (align > 1)
        check(e, equals(e, tg_bin(cx, TG_FLOORMOD, address, tg_int(cx, tg_dtype(kDLUInt, 64, 1), align)), 0),
              tg_format(cx, "expected data aligned to %lld bytes", (long long)align), b->name->text);
    view(e, b);
}

/* ---- the function ---- */

static const tg_node *with_steps(const entry *e, const tg_node *body)
{
    for (size_t i = e->steps.n; i > 0; --i) {
        const step *s = &e->steps.at[i - 1];
        if (s->let != NULL) body = tg_let_stmt(e->cx, s->let, s->value, body);
        else if (s->view != NULL) body = tg_decl_buffer(e->cx, s->view, body);
        else body = tg_node_new(e->cx, TG_ASSERT, e->f->span, NULL, NULL, 3, (const tg_node *[]){ s->check, tg_strz(e->cx, s->message), body });
    }
    return body;
}

const tg_func *tg_packed_entry(tg_ctx *cx, const tg_func *f, bool checked)
{
    const tg_type *handle = tg_ptr(cx, TG_HANDLE, NULL), *codes = tg_ptr(cx, TG_INT32, NULL), *count = tg_prim(cx, TG_INT32);
    struct { const char *name; const tg_type *type; } row[6] = {
        { "args", handle }, { "arg_type_ids", codes }, { "num_args", count }, { "out_ret_value", handle },
        { "out_ret_tcode", codes }, { "resource_handle", handle },
    };
    const tg_var **param = TG_ARRAY(cx, const tg_var *, 6);
    for (size_t i = 0; i < 6; ++i) param[i] = tg_var_new(cx, tg_intern_z(cx, row[i].name), row[i].type);
    entry e = { .cx = cx, .f = f, .checked = checked, .args = param[0], .codes = param[1], .count = param[2] };
    tensor *all = TG_ARRAY(cx, tensor, f->nparams);
    uint32_t n = 0;
    check(&e, equals(&e, tg_var_ref(cx, e.count), f->nparams), tg_format(cx, "expected %u arguments", f->nparams), NULL);
    for (uint32_t i = 0; i < f->nparams; ++i) {
        if (f->buffer == NULL || f->buffer[i] == NULL) {
            scalar(&e, i);
            continue;
        }
        all[n] = (tensor){ .at = i, .b = f->buffer[i] };
        open_tensor(&e, &all[n++]);
    }
    for (uint32_t i = 0; i < n; ++i) bind_open(&e, &all[i]);
    for (uint32_t i = 0; i < n; ++i) {
        if (checked) check_extents(&e, &all[i]);
        open_data(&e, &all[i]);
    }
    const tg_node *zero = tg_evaluate(cx, tg_call1(cx, "ret", tg_int(cx, TG_INT32, 0)));
    tg_func *g = tg_func_copy(cx, f);
    g->nparams = 6;
    g->param = param;
    g->buffer = TG_ARRAY(cx, const tg_buffer *, 6);
    g->ret = tg_prim(cx, TG_INT32);
    g->attrs = tg_v_with(cx, f->attrs, "calling_conv", tg_v_int(cx, 1));
    g->body = with_steps(&e, tg_seq(cx, 2, (const tg_node *[]){ f->body, zero }));
    return g;
}

/* ---- which functions need it ---- */

bool tg_has_open_shape(tg_ctx *cx, const tg_func *f)
{
    entry e = { .cx = cx, .f = f };
    for (uint32_t i = 0; i < f->nparams; ++i) tg_map_put(cx, &e.bound, (uint64_t)f->param[i]->id + 1, &e);
    for (uint32_t i = 0; f->buffer != NULL && i < f->nparams; ++i)
        if (f->buffer[i] != NULL && is_open_buffer(&e, f->buffer[i])) return true;
    return false;
}
