/* invoke.c: one function calls another: arguments are checked and put into registers, frames are kept for the next
 * call; the packed convention is translated in both directions. */
#include "code.h"
#include "scalar.h"
#include "ir/diag.h"
#include "ir/text.h"

#include <string.h>

/* ---- frames ---- */

static tg_frame *frame_new(tg_vm *vm, tg_prog *p)
{
    tg_frame *fr = p->free_frames;
    if (fr != NULL) {
        p->free_frames = fr->next;
        return fr;
    }
    fr = tg_temp(vm->cx, sizeof *fr);
    fr->prog = p;
    fr->reg = TG_TEMP_ARRAY(vm->cx, tg_reg, p->nregs + 1);
    fr->grown = TG_TEMP_ARRAY(vm->cx, struct tg_grown, p->ngrow);
    unsigned char *at = tg_temp(vm->cx, p->memory_bytes + 64);
    fr->memory = at + (64 - (uintptr_t)at % 64) % 64;
    memcpy(fr->reg, p->init, p->nregs * sizeof *fr->reg);
    for (size_t i = 0; i < p->nregions; ++i) {
        const void *m = p->region[i].fixed != NULL ? p->region[i].fixed : fr->memory + p->region[i].offset;
        fr->reg[p->region[i].reg].u = (uintptr_t)m;
    }
    return fr;
}

static void frame_enter(tg_vm *vm, tg_frame *fr)
{
    const tg_prog *p = fr->prog;
    for (size_t i = 0; i < p->nregions; ++i)
        tg_mem_add(vm, tg_address(fr->reg[p->region[i].reg]), p->region[i].size_bytes, p->region[i].fixed != NULL);
    for (uint32_t i = 0; i < p->ngrow; ++i)
        fr->grown[i].entry = SIZE_MAX;
}

/* ---- arguments ---- */

typedef struct call_info { tg_vm *vm; const tg_prog *prog; const tg_node *at; uint32_t index; } call_info;

static bool refuse(const call_info *ci, const char *text)
{
    const tg_prog_param *p = &ci->prog->param[ci->index];
    tg_span at = ci->at != NULL && ci->at->span.file != 0 ? ci->at->span : ci->prog->func->span;
    tg_error(ci->vm->cx, at, "calling %s: argument %u (%s): %s", ci->prog->func->name->text, ci->index,
             (p->buffer != NULL ? p->buffer->name : p->var->name)->text, text);
    return false;
}

static bool is_compact(const DLTensor *t)
{
    int64_t step = 1;
    for (int k = t->ndim; t->strides != NULL && k-- > 0;) {
        if (t->shape[k] != 1 && t->strides[k] != step)
            return false;
        step *= t->shape[k];
    }
    return true;
}

/* Constant strides are what the tensor has, where there is more than one element to step to. */
static bool strides_fit(const call_info *ci, const tg_prog_param *p, const DLTensor *t)
{
    int64_t step = 1;
    if (p->stride == NULL)
        return is_compact(t) || refuse(ci, "it is not compact");
    for (uint32_t k = p->buffer->ndim; k-- > 0;) {
        const tg_node *want = p->buffer->strides[k];
        int64_t has = t->strides != NULL ? t->strides[k] : step;
        if (want->kind == TG_INT && want->u.i != has && t->shape[k] > 1)
            return refuse(ci, tg_format(ci->vm->cx, "stride %lld in dimension %u, expected %lld", (long long)has, k,
                                        (long long)want->u.i));
        step = mul_size(step, t->shape[k], TG_SIZE_CAP);
    }
    return true;
}

static bool shape_fits(const call_info *ci, const tg_prog_param *p, const DLTensor *t)
{
    const tg_buffer *b = p->buffer;
    tg_ctx *cx = ci->vm->cx;
    if (t->ndim < 0 || (uint32_t)t->ndim != b->ndim)
        return refuse(ci, tg_format(cx, "its rank is %d, expected %u", t->ndim, b->ndim));
    if (!tg_dtype_eq(t->dtype, b->dtype))
        return refuse(ci, tg_format(cx, "its dtype is %s, expected %s", tg_dtype_text(cx, t->dtype),
                                    tg_dtype_text(cx, b->dtype)));
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *want = b->shape[k];
        if (t->shape[k] < 0 || t->shape[k] > TG_MAX_ELEMENTS || (want->kind == TG_INT && want->u.i != t->shape[k]))
            return refuse(ci, tg_format(cx, "extent %lld in dimension %u, expected %s", (long long)t->shape[k], k,
                                        want->kind == TG_INT ? tg_format(cx, "%lld", (long long)want->u.i) : "a size"));
    }
    return strides_fit(ci, p, t);
}

static void set_shape(const tg_prog_param *p, const DLTensor *t, tg_reg *reg)
{
    int64_t step = 1;
    for (uint32_t k = p->buffer->ndim; k-- > 0;) {
        reg[p->dim[k]].i = t->shape[k];
        if (p->stride == NULL)
            continue;
        int64_t stride = t->strides != NULL ? t->strides[k] : step;
        reg[p->stride[k]].i = p->buffer->auto_broadcast && t->shape[k] == 1 ? 0 : stride;
        step = mul_size(step, t->shape[k], TG_SIZE_CAP);
    }
}

static bool tensor_bytes(const DLTensor *t, int64_t *out)
{
    int64_t n = (int64_t)tg_dtype_bytes(t->dtype);
    for (int k = 0; k < t->ndim; ++k)
        n = mul_size(n, t->shape[k], TG_SIZE_CAP);
    *out = n;
    return n < TG_SIZE_CAP;
}

/* A tensor for a buffer: its memory is what its shape says, or one of ours. */
static bool bind_tensor(const call_info *ci, const tg_prog_param *p, const DLTensor *t, tg_reg *reg)
{
    int64_t bytes, left;
    if (!shape_fits(ci, p, t))
        return false;
    if (!tensor_bytes(t, &bytes) || (bytes > 0 && t->data == NULL))
        return refuse(ci, "it has no data");
    uintptr_t at = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
    uintptr_t from = at - (uintptr_t)(p->elem_offset * (int64_t)tg_dtype_bytes(t->dtype));
    const tg_span_mem *m = tg_mem_find(ci->vm, from, 0, p->size_bytes > 0 ? p->size_bytes : 0, &left);
    if (p->size_bytes > 0 && m == NULL)
        return refuse(ci, "its memory is smaller than its buffer");
    if (m != NULL && m->readonly && p->written)
        return refuse(ci, "it is stored to, but its memory is a constant");
    set_shape(p, t, reg);
    reg[p->reg].u = from;
    return true;
}

static bool bind_pointer(const call_info *ci, const tg_prog_param *p, uintptr_t at, tg_reg *reg)
{
    int64_t left;
    if (p->needs_shape)
        return refuse(ci, "a plain pointer does not say the shape");
    if (p->size_bytes > 0) {
        const tg_span_mem *m = tg_mem_find(ci->vm, at, 0, p->size_bytes, &left);
        if (m == NULL)
            return refuse(ci, tg_format(ci->vm->cx, "%lld bytes are needed where it points", (long long)p->size_bytes));
        if (m->readonly && p->written)
            return refuse(ci, "it is stored to, but its memory is a constant");
    }
    for (uint32_t k = 0; p->buffer != NULL && k < p->buffer->ndim; ++k) {
        reg[p->dim[k]].i = TG_NO_EXTENT;
        if (p->stride != NULL)
            reg[p->stride[k]].i = TG_NO_EXTENT;
    }
    reg[p->reg].u = at;
    return true;
}

/* A number: integers are cut to the parameter's width, floats rounded to it. */
static bool bind_number(const call_info *ci, const tg_prog_param *p, const tg_arg *a, tg_reg *reg)
{
    DLDataType d = p->var->type->dtype;
    if (d.code == kDLOpaqueHandle) {
        reg[p->reg] = a->v;
        return a->kind != TG_ARG_FLOAT || refuse(ci, "a number where a pointer is expected");
    }
    if (tg_is_float(d)) {
        double v = a->kind == TG_ARG_INT ? (double)a->v.i : a->v.d;
        if (a->kind == TG_ARG_POINTER)
            return refuse(ci, "a pointer where a number is expected");
        reg[p->reg].u = 0;
        if (d.bits == 64)
            reg[p->reg].d = v;
        else
            reg[p->reg].f = (float)tg_round_to(d, v);
        return true;
    }
    if (a->kind != TG_ARG_INT)
        return refuse(ci, "not an integer");
    reg[p->reg].i = tg_wrap_to(d, a->v.i);
    return true;
}

/* The one element of a rank-0 tensor as a number. */
static bool scalar_of(const call_info *ci, const DLTensor *t, tg_arg *out)
{
    tg_tensor one = { .dl = *t };
    int64_t left;
    uintptr_t at = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
    if (t->ndim != 0 || tg_mem_find(ci->vm, at, 0, (int64_t)tg_dtype_bytes(t->dtype), &left) == NULL)
        return refuse(ci, "a scalar is expected");
    if (tg_is_float(t->dtype))
        *out = (tg_arg){ .kind = TG_ARG_FLOAT, .v.d = tg_tensor_f64(&one, 0) };
    else
        *out = (tg_arg){ .kind = TG_ARG_INT, .v.i = tg_tensor_i64(&one, 0) };
    return true;
}

static bool bind_arg(const call_info *ci, const tg_arg *a, tg_reg *reg)
{
    const tg_prog_param *p = &ci->prog->param[ci->index];
    bool pointer = p->var->type->kind == TG_T_PTR || p->var->type->dtype.code == kDLOpaqueHandle;
    tg_arg number;
    if (a->kind == TG_ARG_TENSOR && p->buffer != NULL)
        return bind_tensor(ci, p, a->t, reg);
    if (a->kind == TG_ARG_TENSOR && pointer)
        return bind_pointer(ci, p, (uintptr_t)a->t->data + (uintptr_t)a->t->byte_offset, reg);
    if (a->kind == TG_ARG_TENSOR)
        return scalar_of(ci, a->t, &number) && bind_number(ci, p, &number, reg);
    if (a->kind == TG_ARG_POINTER && pointer)
        return bind_pointer(ci, p, (uintptr_t)a->v.u, reg);
    if (p->buffer != NULL || p->var->type->kind == TG_T_PTR)
        return refuse(ci, "a number where a pointer is expected");
    return bind_number(ci, p, a, reg);
}

/* ---- calls ---- */

static bool too_many(tg_vm *vm, const tg_func *f, const tg_node *at)
{
    tg_error(vm->cx, at != NULL ? at->span : f->span, "calling %s: calls nest more than %d deep", f->name->text,
             TG_EVAL_MAX_DEPTH);
    return false;
}

bool tg_invoke(tg_vm *vm, const tg_func *f, const tg_arg *arg, uint32_t nargs, const tg_node *at, tg_reg *result,
               DLDataType *type)
{
    tg_prog *p = tg_compile(vm, f);
    if (p == NULL)
        return false;
    if (vm->depth >= TG_EVAL_MAX_DEPTH)
        return too_many(vm, f, at);
    if (nargs != p->nparams) {
        tg_error(vm->cx, at != NULL && at->span.file != 0 ? at->span : f->span, "calling %s: %u arguments, expected %u",
                 f->name->text, nargs, p->nparams);
        return false;
    }
    size_t mark = vm->nmem;
    tg_frame *fr = frame_new(vm, p);
    bool ok = true;
    for (uint32_t i = 0; i < nargs && ok; ++i) {
        call_info ci = { vm, p, at, i };
        ok = bind_arg(&ci, &arg[i], fr->reg);
    }
    if (ok) {
        frame_enter(vm, fr);
        ++vm->depth;
        ok = tg_run(vm, fr, result);
        --vm->depth;
    }
    vm->nmem = mark;
    fr->next = p->free_frames;
    p->free_frames = fr;
    *type = p->ret;
    return ok;
}

/* ---- the packed convention ---- */

/* Memory of a call in its frame, taken piece by piece. */
typedef struct pool { unsigned char *at; } pool;

static void *take(pool *m, size_t size)
{
    void *p = m->at;
    m->at += (size + 7) / 8 * 8;
    return p;
}

static tg_arg pointer_arg(const void *p)
{
    return (tg_arg){ .kind = TG_ARG_POINTER, .v.u = (uintptr_t)p };
}

static void pack(const tg_arg *a, tg_packed_value *value, int32_t *code)
{
    value->bits = 0;
    switch (a->kind) {
    case TG_ARG_INT: value->i = a->v.i; *code = TG_CODE_INT; break;
    case TG_ARG_FLOAT: value->d = a->v.d; *code = TG_CODE_FLOAT; break;
    case TG_ARG_POINTER: value->bits = a->v.u; *code = a->v.u == 0 ? TG_CODE_NULL : TG_CODE_HANDLE; break;
    case TG_ARG_TENSOR: value->bits = (uintptr_t)a->t; *code = TG_CODE_TENSOR; break;
    }
}

/* Calls a function of six parameters; a code of its own other than 0 is a failure of the callee. */
static bool invoke_six(tg_vm *vm, const tg_func *f, const tg_node *at, void *values, void *codes, int64_t n, pool *m,
                       tg_reg *result, DLDataType *type, bool *leave)
{
    tg_packed_value *ret = take(m, sizeof *ret);
    int32_t *ret_code = take(m, sizeof *ret_code), code;
    memset(ret, 0, sizeof *ret);
    *ret_code = TG_CODE_NULL;
    tg_arg six[6] = { pointer_arg(values), pointer_arg(codes),    { .kind = TG_ARG_INT, .v.i = n },
                      pointer_arg(ret),    pointer_arg(ret_code), pointer_arg(NULL) };
    if (!tg_invoke(vm, f, six, 6, at, result, type))
        return false;
    *leave = result->i != 0;
    memcpy(&code, ret_code, sizeof code);
    *type = TG_INT64;
    result->i = 0;
    if (code == TG_CODE_FLOAT)
        *type = TG_FLOAT64;
    if (code != TG_CODE_NULL)
        memcpy(&result->u, ret, sizeof result->u);
    return true;
}

static bool invoke_packed(tg_vm *vm, const tg_func *f, const tg_node *at, const tg_arg *arg, uint32_t n, pool *m,
                          tg_reg *result, DLDataType *type, bool *leave)
{
    tg_packed_value *value = take(m, n * sizeof *value);
    int32_t *code = take(m, n * sizeof *code);
    for (uint32_t i = 0; i < n; ++i)
        pack(&arg[i], &value[i], &code[i]);
    return invoke_six(vm, f, at, value, code, n, m, result, type, leave);
}

/* The arguments of a call site: numbers, pointers, tensors made in the frame. */
static void site_args(const tg_site *s, const tg_reg *reg, tg_arg *arg, pool *m)
{
    for (uint32_t i = 0; i < s->nargs; ++i) {
        const tg_site_arg *a = &s->arg[i];
        arg[i] = (tg_arg){ .kind = a->kind, .v = reg[a->reg] };
        if (a->kind != TG_ARG_TENSOR)
            continue;
        DLTensor *t = take(m, sizeof *t);
        memset(t, 0, sizeof *t);
        t->data = tg_address(reg[a->reg]);
        t->device.device_type = kDLCPU;
        t->ndim = (int32_t)a->ndim;
        t->dtype = a->dtype;
        t->shape = take(m, a->ndim * sizeof *t->shape);
        for (uint32_t k = 0; k < a->ndim; ++k)
            t->shape[k] = reg[a->dim[k]].i;
        arg[i].t = t;
    }
}

/* Is there a tensor at @p p, with its shape and strides in memory that is live? */
static bool is_tensor(tg_vm *vm, const DLTensor *t)
{
    int64_t left;
    if (tg_mem_find(vm, (uintptr_t)t, 0, (int64_t)sizeof *t, &left) == NULL || t->ndim < 0 || t->ndim > TG_MAX_NDIM)
        return false;
    int64_t bytes = t->ndim * (int64_t)sizeof *t->shape;
    if (bytes > 0 && tg_mem_find(vm, (uintptr_t)t->shape, 0, bytes, &left) == NULL)
        return false;
    return t->strides == NULL || tg_mem_find(vm, (uintptr_t)t->strides, 0, bytes, &left) != NULL;
}

/* The reverse: from values and codes in memory. */
static bool unpack(tg_vm *vm, const tg_frame *fr, const tg_site *s, const tg_packed_value *value, const int32_t *code,
                   tg_arg *arg)
{
    const tg_trap t = { s->at, "", 0 };
    for (uint32_t i = 0; i < s->nargs; ++i) {
        tg_packed_value v;
        int32_t c;
        memcpy(&v, &value[i], sizeof v);
        memcpy(&c, &code[i], sizeof c);
        switch (c) {
        case TG_CODE_INT: case TG_CODE_UINT: arg[i] = (tg_arg){ .kind = TG_ARG_INT, .v.i = v.i }; break;
        case TG_CODE_FLOAT: arg[i] = (tg_arg){ .kind = TG_ARG_FLOAT, .v.d = v.d }; break;
        case TG_CODE_HANDLE: case TG_CODE_NULL: arg[i] = pointer_arg(v.p); break;
        case TG_CODE_TENSOR: case TG_CODE_NDARRAY:
            arg[i] = (tg_arg){ .kind = TG_ARG_TENSOR, .t = v.p };
            if (!is_tensor(vm, v.p))
                return tg_run_fail(vm, fr, &t, tg_format(vm->cx, "argument %u of %s is no tensor", i, s->name->text));
            break;
        default:
            return tg_run_fail(vm, fr, &t,
                               tg_format(vm->cx, "argument %u of %s has type code %d", i, s->name->text, (int)c));
        }
    }
    return true;
}

static bool call_lowered(tg_vm *vm, tg_frame *fr, const tg_site *s, tg_arg *arg, pool *m, tg_reg *result,
                         DLDataType *type, bool *leave)
{
    const tg_trap t = { s->at, "the arguments of a packed call", 0 };
    int64_t begin = fr->reg[s->begin].i, left;
    uintptr_t values = (uintptr_t)(fr->reg[s->values].u + (uint64_t)begin * sizeof(tg_packed_value));
    uintptr_t codes = (uintptr_t)(fr->reg[s->tcodes].u + (uint64_t)begin * sizeof(int32_t));
    if (s->nargs > 0 && (tg_mem_find(vm, values, 0, (int64_t)(s->nargs * sizeof(tg_packed_value)), &left) == NULL ||
                         tg_mem_find(vm, codes, 0, (int64_t)(s->nargs * sizeof(int32_t)), &left) == NULL))
        return tg_run_fail(vm, fr, &t, "the arguments of a packed call are not in memory that is live");
    if (tg_compile(vm, s->callee) == NULL)
        return false;
    if (tg_compile(vm, s->callee)->lowered_packed)
        return invoke_six(vm, s->callee, s->at, (void *)values, (void *)codes, s->nargs, m, result, type, leave);
    return unpack(vm, fr, s, (const void *)values, (const void *)codes, arg) &&
           tg_invoke(vm, s->callee, arg, s->nargs, s->at, result, type);
}

static bool call_packed(tg_vm *vm, const tg_site *s, const tg_arg *arg, pool *m, tg_reg *result, DLDataType *type,
                        bool *leave)
{
    const tg_prog *p = tg_compile(vm, s->callee);
    if (p == NULL)
        return false;
    uint32_t n = s->nargs;
    bool handle_last = n > 0 && arg[n - 1].kind == TG_ARG_POINTER;      /* the resource handle */
    if (p->lowered_packed)
        return invoke_packed(vm, s->callee, s->at, arg, handle_last ? n - 1 : n, m, result, type, leave);
    if (handle_last && n == p->nparams + 1)
        --n;
    return tg_invoke(vm, s->callee, arg, n, s->at, result, type);
}

/* From the callee's type to the one that the caller wrote. */
static void convert_result(tg_reg *r, DLDataType from, DLDataType to)
{
    bool real = tg_is_float(from);
    double d = !real ? (double)r->i : from.bits == 64 ? r->d : (double)r->f;
    if (from.bits == 0)
        r->i = 0;
    if (to.bits == 0 || from.bits == 0 || tg_dtype_eq(from, to))
        return;
    if (tg_is_float(to)) {
        r->u = 0;
        if (to.bits == 64)
            r->d = d;
        else
            r->f = (float)tg_round_to(to, d);
    } else {
        r->i = tg_wrap_to(to, real ? saturate_signed(d, 64) : r->i);
    }
}

/* From outside: tensors for a function of either convention. */
bool tg_invoke_tensors(tg_vm *vm, const tg_func *f, DLTensor *const *tensor, uint32_t n, tg_reg *result,
                       DLDataType *type)
{
    tg_arg *arg = TG_TEMP_ARRAY(vm->cx, tg_arg, n);
    for (uint32_t i = 0; i < n; ++i) {
        const DLTensor *t = tensor[i];
        arg[i] = t != NULL ? (tg_arg){ .kind = TG_ARG_TENSOR, .t = t } : pointer_arg(NULL);
        if (t == NULL)
            continue;
        int64_t bytes;
        if (t->ndim < 0 || t->ndim > TG_MAX_NDIM || !tensor_bytes(t, &bytes)) {
            tg_error(vm->cx, f->span, "calling %s: argument %u is no tensor that can be used", f->name->text, i);
            return false;
        }
        tg_mem_add(vm, t, sizeof *t, true);
        tg_mem_add(vm, t->shape, (size_t)t->ndim * sizeof *t->shape, true);
        if (t->strides != NULL)
            tg_mem_add(vm, t->strides, (size_t)t->ndim * sizeof *t->strides, true);
        if (t->data != NULL)
            tg_mem_add(vm, (const unsigned char *)t->data + t->byte_offset, (size_t)bytes, false);
    }
    const tg_prog *p = tg_compile(vm, f);
    if (p == NULL)
        return false;
    if (!p->lowered_packed)
        return tg_invoke(vm, f, arg, n, NULL, result, type);
    size_t room = (n + 4) * (sizeof(tg_packed_value) + sizeof(int64_t));
    pool m = { tg_temp(vm->cx, room) };
    bool leave;
    tg_mem_add(vm, m.at, room, false);
    if (!invoke_packed(vm, f, NULL, arg, n, &m, result, type, &leave))
        return false;
    if (leave)
        *result = (tg_reg){ .i = -1 };
    return true;
}

bool tg_call_site(tg_vm *vm, tg_frame *fr, const tg_site *s, tg_reg *result, bool *leave)
{
    pool m = { fr->memory + s->memory };
    tg_arg *arg = take(&m, s->nargs * sizeof *arg);
    DLDataType type = { 0, 0, 0 };
    tg_reg r = { 0 };
    bool ok;
    *leave = false;
    if (s->convention == TG_CALL_LOWERED) {
        ok = call_lowered(vm, fr, s, arg, &m, &r, &type, leave);
    } else {
        site_args(s, fr->reg, arg, &m);
        ok = s->convention == TG_CALL_PACKED ? call_packed(vm, s, arg, &m, &r, &type, leave)
                                             : tg_invoke(vm, s->callee, arg, s->nargs, s->at, &r, &type);
    }
    if (!ok)
        return false;
    convert_result(&r, type, s->result);
    *result = r;
    return true;
}
