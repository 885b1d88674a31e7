/* compile.c: a PrimFunc to instructions: the stack of tasks, the values on it, variables, the function as a whole. */
#include "compile.h"
#include "scalar.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

void tg_comp_error(tg_comp *c, tg_span at, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    tg_error(c->cx, at, "evaluating %s: %s", c->prog->func->name->text, line);
    c->failed = true;
}

const tg_trap *tg_trap_new(tg_comp *c, const tg_node *at, const char *what, uint32_t dim)
{
    tg_trap *t = tg_temp(c->cx, sizeof *t);
    *t = (tg_trap){ at, what, dim };
    return t;
}

/* ---- tasks and values ---- */

static void *grown(tg_ctx *cx, void *at, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return at;
    size_t wider = *cap == 0 ? 64 : 2 * *cap;
    void *to = tg_temp_array(cx, wider, size);
    if (n > 0)
        memcpy(to, at, n * size);
    *cap = wider;
    return to;
}

static tg_task *task_new(tg_comp *c, tg_task t)
{
    c->task = grown(c->cx, c->task, c->ntasks, &c->ctasks, sizeof *c->task);
    c->task[c->ntasks] = t;
    return &c->task[c->ntasks++];
}

void tg_done(tg_comp *c)
{
    --c->ntasks;
}

void tg_push(tg_comp *c, tg_val v)
{
    c->val = grown(c->cx, c->val, c->nvals, &c->cvals, sizeof *c->val);
    c->val[c->nvals++] = v;
}

tg_val tg_pop(tg_comp *c)
{
    TG_CHECK(c->cx, c->nvals > 0, NULL);
    return c->val[--c->nvals];
}

const tg_val *tg_pop_n(tg_comp *c, size_t n)
{
    TG_CHECK(c->cx, c->nvals >= n, NULL);
    c->nvals -= n;
    return c->val == NULL ? NULL : c->val + c->nvals;
}

/* ---- variables ---- */

void tg_bind(tg_comp *c, const tg_var *v, tg_val value, const void *owner)
{
    tg_bound *b = tg_temp(c->cx, sizeof *b);
    *b = (tg_bound){ value, c->b.scope, owner };
    tg_dict_put(c->cx, &c->var, (uint64_t)v->id + 1, b);
}

const tg_bound *tg_lookup(tg_comp *c, const tg_var *v)
{
    const tg_bound *b = tg_dict_get(&c->var, (uint64_t)v->id + 1);
    return b != NULL && b->scope->open ? b : NULL;
}

/* ---- expressions asked for ---- */

typedef struct tg_memo { tg_val v; uint64_t statement; const tg_scope *scope; } tg_memo;

static tg_val repeat(tg_comp *c, uint32_t reg, uint32_t lanes)
{
    if (lanes <= 1)
        return tg_scalar(reg);
    uint32_t *regs = TG_TEMP_ARRAY(c->cx, uint32_t, lanes);
    for (uint32_t i = 0; i < lanes; ++i)
        regs[i] = reg;
    return (tg_val){ lanes, reg, regs, NULL };
}

static tg_val float_constant(tg_comp *c, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    tg_reg r = { 0 };
    if (tg_class_of(d) == TG_CLASS_DOUBLE)
        r.d = n->u.f;
    else
        r.f = (float)n->u.f;
    return repeat(c, tg_build_bits(&c->b, r), d.lanes);
}

static void want_var(tg_comp *c, const tg_node *n)
{
    const tg_bound *b = tg_lookup(c, n->u.var);
    if (b != NULL)
        tg_push(c, b->v);
    else
        tg_comp_error(c, n->span, "variable %s has no value", n->u.var->name->text);
}

void tg_want(tg_comp *c, const tg_node *n)
{
    if (n->type == NULL || (n->type->kind != TG_T_PRIM && n->type->kind != TG_T_PTR && n->kind != TG_CALL)) {
        tg_comp_error(c, n->span, "%s has no value", tg_kind_info[n->kind].text);
        return;
    }
    if (n->type->kind == TG_T_PRIM && !tg_dtype_runs(c, n->span, n->type->dtype))
        return;
    const tg_memo *m;
    switch (n->kind) {
    case TG_INT:
        tg_push(c, repeat(c, tg_build_int(&c->b, n->u.i), n->type->kind == TG_T_PRIM ? n->type->dtype.lanes : 1));
        return;
    case TG_FLOAT:
        tg_push(c, float_constant(c, n));
        return;
    case TG_STR:
        tg_push(c, tg_scalar(tg_build_bits(&c->b, (tg_reg){ .u = (uintptr_t)n->u.name->text })));
        return;
    case TG_VAR:
        want_var(c, n);
        return;
    default:
        m = tg_dict_get(&c->memo, TG_KEY(n));
        if (m != NULL && m->statement == c->statement && m->scope->open)
            tg_push(c, m->v);
        else
            task_new(c, (tg_task){ .n = n });
    }
}

void tg_want_stmt(tg_comp *c, const tg_node *n)
{
    ++c->statement;
    task_new(c, (tg_task){ .n = n });
}

void tg_declare(tg_comp *c, const tg_decl *d)
{
    task_new(c, (tg_task){ .decl = d });
}

bool tg_want_list(tg_comp *c, tg_task *t)
{
    if (t->stage >= t->nlist)
        return false;
    tg_want(c, t->list[t->stage++]);    /* the task may move in memory: not touched after this */
    return true;
}

void tg_result(tg_comp *c, tg_task *t, tg_val v)
{
    tg_memo *m = tg_temp(c->cx, sizeof *m);
    *m = (tg_memo){ v, c->statement, c->b.scope };
    tg_dict_put(c->cx, &c->memo, TG_KEY(t->n), m);
    tg_done(c);
    tg_push(c, v);
}

static bool run_tasks(tg_comp *c)
{
    while (c->ntasks > 0 && !c->failed) {
        tg_task *t = &c->task[c->ntasks - 1];
        if (t->n == NULL)
            tg_step_decl(c, t);
        else if (tg_is_stmt(t->n))
            tg_step_stmt(c, t);
        else
            tg_step_expr(c, t);
    }
    return !c->failed;
}

/* ---- the function ---- */

/* The convention after lower-call-packed: values, type codes, their number, where results go, a resource handle. */
static bool is_lowered_packed(const tg_func *f)
{
    if (f->nparams != 6 || f->param[2]->type->kind != TG_T_PRIM || !tg_dtype_eq(f->param[2]->type->dtype, TG_INT32))
        return false;
    for (uint32_t i = 0; i < 6; ++i) {
        bool pointer = f->param[i]->type->kind == TG_T_PTR || f->param[i]->type->dtype.code == kDLOpaqueHandle;
        if ((f->buffer != NULL && f->buffer[i] != NULL) || (i != 2 && !pointer))
            return false;
    }
    return true;
}

void tg_set_int_range(tg_comp *c, uint32_t reg, DLDataType d)
{
    if (tg_class_of(d) != TG_CLASS_INT || d.bits >= 64 || d.code == kDLOpaqueHandle)
        return;
    if (d.code == kDLUInt)
        tg_build_range(&c->b, reg, 0, signed_max(d.bits + 1u));
    else
        tg_build_range(&c->b, reg, -signed_max(d.bits) - 1, signed_max(d.bits));
}

static void bind_param(tg_comp *c, tg_prog_param *p)
{
    p->reg = tg_build_param(&c->b);
    tg_val v = tg_scalar(p->reg);
    p->size_bytes = -1;
    if (p->var->type->kind == TG_T_PTR) {
        tg_pointee *ptr = tg_temp(c->cx, sizeof *ptr);
        *ptr = (tg_pointee){ 0, -1, p, false };
        v.ptr = p->known = ptr;
    } else {
        tg_set_int_range(c, p->reg, p->var->type->dtype);
    }
    tg_bind(c, p->var, v, NULL);
    if (p->buffer != NULL && p->buffer->data != p->var)
        tg_bind(c, p->buffer->data, v, NULL);
}

/* Variables that stand alone in a parameter's shape or strides are what the argument has there. */
static uint32_t *bind_extents(tg_comp *c, tg_prog_param *p, const tg_node *const *expr)
{
    uint32_t *reg = TG_TEMP_ARRAY(c->cx, uint32_t, p->buffer->ndim);
    for (uint32_t k = 0; k < p->buffer->ndim; ++k) {
        reg[k] = tg_build_param(&c->b);
        if (expr[k]->kind != TG_VAR || tg_lookup(c, expr[k]->u.var) != NULL)
            continue;
        if (expr == p->buffer->shape)
            tg_build_range(&c->b, reg[k], 0, TG_MAX_ELEMENTS);
        tg_bind(c, expr[k]->u.var, tg_scalar(reg[k]), NULL);
        p->needs_shape = true;
    }
    return reg;
}

static void bind_shape(tg_comp *c, tg_prog_param *p)
{
    const tg_buffer *b = p->buffer;
    if (b == NULL)
        return;
    p->dim = bind_extents(c, p, b->shape);
    p->stride = b->strides != NULL ? bind_extents(c, p, b->strides) : NULL;
    if (b->elem_offset == NULL)
        return;
    if (b->elem_offset->kind == TG_INT)
        p->elem_offset = b->elem_offset->u.i;
    else if (b->elem_offset->kind == TG_VAR && tg_lookup(c, b->elem_offset->u.var) == NULL)
        tg_bind(c, b->elem_offset->u.var, tg_scalar(tg_build_int(&c->b, 0)), NULL);
}

/* Scalars and pointers first, then variables from shapes, then the views: a shape may use what a later parameter
 * gives. */
static void bind_params(tg_comp *c)
{
    const tg_func *f = c->prog->func;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        tg_prog_param *p = &c->prog->param[i];
        p->var = f->param[i];
        p->buffer = f->buffer != NULL ? f->buffer[i] : NULL;
        bind_param(c, p);
    }
    for (uint32_t i = 0; i < f->nparams; ++i)
        bind_shape(c, &c->prog->param[i]);
    for (uint32_t i = f->nparams; i-- > 0;) {
        if (c->prog->param[i].buffer == NULL)
            continue;
        tg_decl *d = tg_temp(c->cx, sizeof *d);
        *d = (tg_decl){ .buf = c->prog->param[i].buffer, .param = &c->prog->param[i], .span = f->span };
        tg_declare(c, d);
    }
}

static void finish(tg_comp *c)
{
    tg_prog *p = c->prog;
    p->code = tg_build_finish(&c->b, &p->ncode);
    p->nregs = (uint32_t)c->b.nregs;
    p->init = c->b.value;
    p->region = c->region;
    p->nregions = c->nregions;
}

tg_prog *tg_compile(tg_vm *vm, const tg_func *f)
{
    tg_prog *p = tg_map_get(&vm->progs, TG_KEY(f));
    if (p != NULL)
        return p;
    if (f->kind != TG_FUNC_PRIM) {
        tg_error(vm->cx, f->span, "evaluating %s: it is not a PrimFunc", f->name->text);
        return NULL;
    }
    tg_comp *c = tg_temp(vm->cx, sizeof *c);
    c->cx = vm->cx;
    c->vm = vm;
    c->prog = p = tg_temp(vm->cx, sizeof *p);
    p->func = f;
    p->nparams = f->nparams;
    p->param = TG_TEMP_ARRAY(vm->cx, tg_prog_param, f->nparams);
    p->lowered_packed = is_lowered_packed(f);
    if (f->ret != NULL && f->ret->kind == TG_T_PRIM)
        p->ret = f->ret->dtype;
    tg_build_init(&c->b, vm->cx);
    tg_want_stmt(c, f->body);
    bind_params(c);
    if (!run_tasks(c))
        return NULL;
    finish(c);
    tg_map_put(vm->cx, &vm->progs, TG_KEY(f), p);
    return p;
}
