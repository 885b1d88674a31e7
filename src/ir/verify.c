/* verify.c: the rules that hold between passes. One walk a function, with the variables in scope marked by id. */
#include "verify.h"
#include "walk.h"
#include "diag.h"
#include "vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct step { const tg_node *n; bool leave; } step;

typedef struct verifying {
    tg_ctx *cx;
    const tg_module *m;
    const tg_func *f;
    bool from_text, good;
    uint8_t *defined;               /* by variable id: in scope now */
    uint32_t nvars;
    TG_VEC(step) todo;
} verifying;

TG_PRINTF(3, 4) static void broken(verifying *v, tg_span at, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    v->good = false;
    const char *where = v->f->name != NULL ? v->f->name->text : "a function";
    if (!v->from_text)
        tg_fail(v->cx, TIRGEN_EBUG, at, "internal error after %s in %s: %s", v->cx->pass == NULL ? "reading" : v->cx->pass, where, text);
    tg_error(v->cx, at, "%s: %s", where, text);
}

static void define(verifying *v, const tg_var *var, bool yes)
{
    if (var != NULL && var->id < v->nvars)
        v->defined[var->id] = yes;
}

/* Variables of a shape are defined by the parameter whose shape it is. */
static void define_shape(verifying *v, const tg_buffer *b)
{
    for (uint32_t k = 0; k < b->ndim; ++k) {
        if (b->shape[k]->kind == TG_VAR)
            define(v, b->shape[k]->u.var, true);
        if (b->strides != NULL && b->strides[k]->kind == TG_VAR)
            define(v, b->strides[k]->u.var, true);
    }
    if (b->elem_offset != NULL && b->elem_offset->kind == TG_VAR)
        define(v, b->elem_offset->u.var, true);
}

/* Where memory is used through a buffer, its strides and offset must have values. A parameter or a matched region binds fresh
 * ones; a view that is only declared does not, and cannot be used then. */
static void check_layout(verifying *v, const tg_node *n, const tg_buffer *b)
{
    for (uint32_t k = 0; k <= b->ndim; ++k) {
        const tg_node *e = k == b->ndim ? b->elem_offset : b->strides == NULL ? NULL : b->strides[k];
        if (e != NULL && e->kind == TG_VAR && e->u.var->id < v->nvars && !v->defined[e->u.var->id])
            broken(v, n->span, "buffer %s is used, but its %s has no value here", b->name->text, e->u.var->name->text);
    }
}

/* ---- scopes ---- */

static void scope(verifying *v, const tg_node *n, bool enter)
{
    switch (n->kind) {
    case TG_LET: case TG_LET_STMT: define(v, n->u.var, enter); break;
    case TG_FOR: define(v, n->u.loop->var, enter); break;
    case TG_ALLOCATE: case TG_ALLOC_CONST: define(v, n->u.alloc->var, enter); break;
    case TG_BLOCK:
        for (uint32_t i = 0; i < n->u.block->niters; ++i)
            define(v, n->u.block->iter[i].var, enter);
        for (uint32_t i = 0; i < n->u.block->nallocs; ++i)
            define(v, n->u.block->alloc[i]->data, enter);
        for (uint32_t i = 0; i < n->u.block->nmatches; ++i) {
            define(v, n->u.block->match[i].view->data, enter);
            if (enter)
                define_shape(v, n->u.block->match[i].view);
        }
        break;
    default: break;
    }
}

/* ---- rules of one node ---- */

static bool is_bool(const tg_node *n)
{
    return n->type != NULL && n->type->kind == TG_T_PRIM && tg_is_bool(n->type->dtype);
}

static bool is_index(const tg_node *n)
{
    return n->type != NULL && n->type->kind == TG_T_PRIM && (tg_is_int(n->type->dtype) || tg_is_bool(n->type->dtype));
}

static void check_access(verifying *v, const tg_node *n)
{
    const tg_buffer *b = n->u.buf;
    uint32_t skip = n->kind == TG_STORE;
    if (n->nkids - skip != b->ndim) {
        broken(v, n->span, "buffer %s has %u dimensions, the access %u indices", b->name->text, b->ndim, n->nkids - skip);
        return;
    }
    for (uint32_t i = skip; i < n->nkids; ++i)
        if (!is_index(n->kid[i]))
            broken(v, n->span, "index %u of buffer %s is not an integer", i - skip, b->name->text);
    if (b->data->id < v->nvars && !v->defined[b->data->id])
        broken(v, n->span, "buffer %s is used where its memory does not exist", b->name->text);
    check_layout(v, n, b);
    const tg_node *value = skip ? n->kid[0] : n;
    if (value->type == NULL || value->type->kind == TG_T_VOID || value->type->dtype.code != b->dtype.code || value->type->dtype.bits != b->dtype.bits)
        broken(v, n->span, "buffer %s holds %s, the access is of type %s", b->name->text, tg_dtype_text(v->cx, b->dtype),
               value->type == NULL ? "none" : tg_type_text(v->cx, value->type));
}

static void check_types(verifying *v, const tg_node *n)
{
    const char *what = tg_kind_info[n->kind].text;
    if (n->kind >= TG_ADD && n->kind <= TG_GE && n->kid[0]->type != n->kid[1]->type)
        broken(v, n->span, "operands of %s have types %s and %s", what, tg_type_text(v->cx, n->kid[0]->type), tg_type_text(v->cx, n->kid[1]->type));
    if ((n->kind == TG_AND || n->kind == TG_OR) && (!is_bool(n->kid[0]) || !is_bool(n->kid[1])))
        broken(v, n->span, "operands of %s are not bool", what);
    if ((n->kind == TG_NOT || n->kind == TG_SELECT || n->kind == TG_IF || n->kind == TG_WHILE || n->kind == TG_ASSERT) && !is_bool(n->kid[0]))
        broken(v, n->span, "the condition of %s is not bool", what);
    if (n->kind == TG_SELECT && n->kid[1]->type != n->kid[2]->type)
        broken(v, n->span, "the two sides of select have types %s and %s", tg_type_text(v->cx, n->kid[1]->type), tg_type_text(v->cx, n->kid[2]->type));
    if (n->kind == TG_FOR && (n->kid[0]->type != n->kid[1]->type || n->u.loop->var->type != n->kid[0]->type))
        broken(v, n->span, "loop %s and its bounds differ in type", n->u.loop->var->name->text);
    if (n->kind == TG_LET_STMT && n->kid[0]->type->kind == TG_T_PRIM && n->kid[0]->type != n->u.var->type
        && n->u.var->type->kind == TG_T_PRIM)
        broken(v, n->span, "%s is declared %s, its value is %s", n->u.var->name->text, tg_type_text(v->cx, n->u.var->type), tg_type_text(v->cx, n->kid[0]->type));
}

static void check_call(verifying *v, const tg_node *n)
{
    const tg_intrin *row = tg_intrin_find(v->cx, n->u.name);
    if (row == NULL)
        broken(v, n->span, "unknown intrinsic %s", n->u.name->text);
    else if (row->nargs >= 0 && (uint32_t)row->nargs != n->nkids)
        broken(v, n->span, "%s takes %d operands, not %u", row->name, row->nargs, n->nkids);
}

static void check_tir(verifying *v, const tg_node *n)
{
    bool stmt = tg_is_stmt(n);
    if (stmt != (n->type == NULL)) {
        broken(v, n->span, "%s %s a type", tg_kind_info[n->kind].text, stmt ? "has" : "lacks");
        return;
    }
    for (uint32_t i = 0; i < n->nkids; ++i) {
        bool last_is_stmt = n->kind == TG_SEQ || (n->kind == TG_IF && i > 0) || (stmt && i + 1 == n->nkids && n->kind != TG_STORE && n->kind != TG_EVALUATE)
                            || (n->kind == TG_BLOCK && n->u.block->has_init && i + 2 == n->nkids);
        if (tg_is_stmt(n->kid[i]) != last_is_stmt)
            broken(v, n->span, "operand %u of %s is %s", i, tg_kind_info[n->kind].text, last_is_stmt ? "not a statement" : "a statement");
    }
    if (!v->good)
        return;
    if (n->kind == TG_VAR && n->u.var->id < v->nvars && !v->defined[n->u.var->id])
        broken(v, n->span, "variable %s is used outside its scope", n->u.var->name->text);
    else if (n->kind == TG_LOAD || n->kind == TG_STORE)
        check_access(v, n);
    else if (n->kind == TG_CALL)
        check_call(v, n);
    else
        check_types(v, n);
    for (uint32_t i = 0; n->kind == TG_BLOCK && i < n->u.block->nmatches; ++i)
        check_layout(v, n, n->u.block->match[i].source);
}

static void check_relay(verifying *v, const tg_node *n)
{
    if (n->kind == TG_RVAR && n->u.var->id < v->nvars && !v->defined[n->u.var->id])
        broken(v, n->span, "%%%s is used before its definition", n->u.var->name->text);
    if (n->kind == TG_RCALL || n->kind == TG_RTUPLE || n->kind == TG_RGET)
        for (uint32_t i = 0; i < n->nkids; ++i)
            if (!tg_is_atom(n->kid[i]))
                broken(v, n->span, "operand %u of a %s is not an atom", i, tg_kind_info[n->kind].text + 1);
    bool calls_global = n->kind == TG_RCALL && n->u.call->op == NULL && n->kid[0]->kind == TG_RGLOBAL;
    if (calls_global && !v->from_text && tg_module_find(v->m, n->kid[0]->u.name) == NULL) /* another text may define it */
        broken(v, n->span, "@%s is not defined", n->kid[0]->u.name->text);
}

/* ---- the walk ---- */

static void push(verifying *v, const tg_node *n, bool leave)
{
    TG_PUSH(v->cx, v->todo, ((step){ n, leave }));
}

static void visit_relay(verifying *v, const tg_node *n)
{
    check_relay(v, n);
    if (n->kind == TG_RPATTERN)
        define(v, n->u.pattern->var, true);
    if (n->kind == TG_RFN) {
        for (uint32_t i = 0; i < n->u.func->nparams; ++i)
            define(v, n->u.func->param[i], true);
        push(v, n->u.func->body, false);
    }
    if (n->kind == TG_RBIND && n->kid[0]->kind == TG_RFN)
        define(v, n->u.var, true);      /* a local function may call itself */
    if (n->kind == TG_RBIND)
        push(v, n, true);               /* defined once its value is done */
    for (uint32_t i = n->nkids; i > 0; --i)
        push(v, n->kid[i - 1], false);
}

static void visit(verifying *v, step s)
{
    const tg_node *n = s.n;
    if (s.leave) {
        if (n->kind == TG_RBIND)
            define(v, n->u.var, true);
        else
            scope(v, n, false);
        return;
    }
    int nkids = tg_kind_info[n->kind].nkids;
    if (nkids >= 0 && (uint32_t)nkids != n->nkids) {
        broken(v, n->span, "%s has %u operands, not %d", tg_kind_info[n->kind].text, n->nkids, nkids);
        return;
    }
    if (tg_is_relay(n)) {
        visit_relay(v, n);
        return;
    }
    check_tir(v, n);
    scope(v, n, true);
    push(v, n, true);
    for (uint32_t i = n->nkids; i > 0; --i)
        push(v, n->kid[i - 1], false);
}

static void verify_func(verifying *v, const tg_func *f)
{
    v->f = f;
    memset(v->defined, 0, v->nvars);
    for (uint32_t i = 0; i < f->nparams; ++i) {
        define(v, f->param[i], true);
        if (f->kind == TG_FUNC_PRIM && f->buffer != NULL && f->buffer[i] != NULL) {
            define(v, f->buffer[i]->data, true);
            define_shape(v, f->buffer[i]);
        }
    }
    v->todo.n = 0;
    push(v, f->body, false);
    while (v->todo.n > 0 && v->good)
        visit(v, v->todo.at[--v->todo.n]);
}

bool tg_verify_module(tg_ctx *cx, const tg_module *m, bool from_text)
{
    verifying v = { .cx = cx, .m = m, .from_text = from_text, .good = true, .nvars = cx->nvars };
    v.defined = tg_temp(cx, cx->nvars);
    bool good = true;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        v.good = true;
        verify_func(&v, m->funcs.at[i]);
        good = good && v.good;
    }
    return good;
}

typedef struct globals { const tg_module *m; TG_VEC(const tg_node *) body; } globals;      /* functions inside of others wait */

static bool check_global(tg_ctx *cx, const tg_node *n, void *user)
{
    globals *g = user;
    if (n->kind == TG_RGLOBAL && tg_module_find(g->m, n->u.name) == NULL)
        tg_error(cx, n->span, "function @%s is not defined", n->u.name->text);
    if (n->kind == TG_RFN)
        TG_PUSH(cx, g->body, n->u.func->body);
    return true;
}

bool tg_verify_globals(tg_ctx *cx, const tg_module *m)
{
    uint32_t before = cx->nerrors;
    globals g = { .m = m };
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (m->funcs.at[i]->kind == TG_FUNC_RELAY)
            TG_PUSH(cx, g.body, m->funcs.at[i]->body);
    for (size_t i = 0; i < g.body.n; ++i)
        tg_visit(cx, g.body.at[i], check_global, &g);
    return cx->nerrors == before;
}
