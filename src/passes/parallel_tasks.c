/* parallel_tasks.c: with -parallel, loops marked parallel become functions over a range, called NAME_task: the emitter hands such a
 * function to the runtime's TVMBackendParallelLaunch, which may run parts of the range at the same time.
 * Needs: loops.  Keeps: every statement executed; iterations of such a loop do not depend on one another, says its author.
 * A loop that may leave its function stays as it is: a task cannot. */
#include "passes.h"
#include "ir/text.h"
#include "ir/vec.h"
#include "ir/walk.h"

typedef struct outlining {
    tg_ctx *cx;
    tg_module *m;
    const tg_func *f;
    /* of the loop at hand */
    TG_VEC(const tg_var *) free;
    tg_map seen;                        /* variable's id + 1: bound inside, or in free */
    TG_VEC(const tg_buffer *) view;     /* for each of free, one buffer of that memory; NULL: a number */
    bool leaves;
} outlining;

/* ---- what the loop takes from outside ---- */

static bool note_bound(tg_ctx *cx, const tg_node *n, void *user)
{
    outlining *o = user;
    const tg_var *v = n->kind == TG_FOR ? n->u.loop->var : n->kind == TG_LET || n->kind == TG_LET_STMT ? n->u.var
                      : n->kind == TG_ALLOCATE || n->kind == TG_ALLOC_CONST ? n->u.alloc->var : NULL;
    if (v != NULL) tg_map_put(cx, &o->seen, (uint64_t)v->id + 1, o);
    o->leaves = o->leaves || tg_is_call(n, "ret") || tg_is_call(n, "tvm_check_return") || tg_is_call(n, "tvm_throw_last_error") || n->kind == TG_ASSERT;
    return true;
}

static void take(outlining *o, const tg_var *v, const tg_buffer *b)
{
    for (size_t i = 0; b != NULL && i < o->free.n; ++i)
        if (o->free.at[i] == v && o->view.at[i] == NULL) o->view.at[i] = b;
    if (tg_map_get(&o->seen, (uint64_t)v->id + 1) != NULL) return;
    tg_map_put(o->cx, &o->seen, (uint64_t)v->id + 1, o);
    TG_PUSH(o->cx, o->free, v);
    TG_PUSH(o->cx, o->view, b);
}

static bool note_free(tg_ctx *cx, const tg_node *n, void *user)
{
    outlining *o = user;
    if (n->kind == TG_VAR) take(o, n->u.var, NULL);
    if (n->kind != TG_LOAD && n->kind != TG_STORE) return true;
    const tg_buffer *b = n->u.buf;
    take(o, b->data, b);
    for (uint32_t k = 0; k < b->ndim; ++k) {
        tg_visit(cx, b->shape[k], note_free, o);
        if (b->strides != NULL) tg_visit(cx, b->strides[k], note_free, o);
    }
    if (b->elem_offset != NULL) tg_visit(cx, b->elem_offset, note_free, o);
    return true;
}

/* ---- the task ---- */

static const tg_var *parameter(outlining *o, size_t i, tg_subst *by, const tg_buffer **buffer)
{
    const tg_var *v = o->free.at[i];
    const tg_buffer *b = o->view.at[i];
    tg_var *p = tg_var_new(o->cx, v->name, v->type);
    tg_subst_var(o->cx, by, v, tg_var_ref(o->cx, p));
    if (b != NULL) {
        tg_buffer *own = tg_buffer_copy(o->cx, b);
        own->data = p;
        tg_subst_buf(o->cx, by, b, own);
        *buffer = own;
    }
    return p;
}

static const tg_func *make_task(outlining *o, const tg_node *loop, const tg_name *name)
{
    tg_ctx *cx = o->cx;
    uint32_t n = (uint32_t)o->free.n;
    const tg_type *index = loop->kid[0]->type;
    const tg_var **param = TG_ARRAY(cx, const tg_var *, n + 2);
    const tg_buffer **buffer = TG_ARRAY(cx, const tg_buffer *, n + 2);
    tg_subst by = { { 0 }, { 0 } };
    for (uint32_t i = 0; i < n; ++i) param[i] = parameter(o, i, &by, &buffer[i]);
    param[n] = tg_var_new(cx, tg_intern_z(cx, "begin"), index);
    param[n + 1] = tg_var_new(cx, tg_intern_z(cx, "end"), index);
    const tg_node *extent = tg_bin(cx, TG_SUB, tg_var_ref(cx, param[n + 1]), tg_var_ref(cx, param[n]));
    const tg_node *body = tg_freshen(cx, tg_for(cx, TG_FOR_SERIAL, loop->u.loop->var, tg_var_ref(cx, param[n]), extent, tg_substitute(cx, loop->kid[2], &by)));
    tg_func *t = TG_NEW(cx, tg_func);
    t->name = name;
    t->kind = TG_FUNC_PRIM;
    t->span = loop->span;
    t->nparams = n + 2;
    t->param = param;
    t->buffer = buffer;
    t->ret = tg_prim(cx, TG_INT32);
    t->attrs = tg_v_with(cx, NULL, TG_TASK, tg_v_int(cx, 1));
    if (tg_v_get(o->f->attrs, "tir.noalias") != NULL) t->attrs = tg_v_with(cx, t->attrs, "tir.noalias", tg_v_get(o->f->attrs, "tir.noalias"));
    t->body = tg_seq(cx, 2, (const tg_node *[]){ body, tg_evaluate(cx, tg_call1(cx, "ret", tg_int(cx, TG_INT32, 0))) });
    return t;
}

/* rc = task(…, begin, end); if (rc != 0) return rc */
static const tg_node *call_task(outlining *o, const tg_node *loop, const tg_func *task)
{
    tg_ctx *cx = o->cx;
    uint32_t n = (uint32_t)o->free.n;
    const tg_node **arg = TG_ARRAY(cx, const tg_node *, n + 3);
    arg[0] = tg_str(cx, task->name);
    for (uint32_t i = 0; i < n; ++i) arg[i + 1] = tg_var_ref(cx, o->free.at[i]);
    arg[n + 1] = loop->kid[0];
    bool known = loop->kid[0]->kind == TG_INT && loop->kid[1]->kind == TG_INT;
    arg[n + 2] = known ? tg_int(cx, tg_dtype_of(loop->kid[0]), loop->kid[0]->u.i + loop->kid[1]->u.i)
                       : tg_bin(cx, TG_ADD, loop->kid[0], loop->kid[1]);
    tg_var *rc = tg_var_new(cx, tg_intern_z(cx, "rc"), tg_prim(cx, TG_INT32));
    const tg_node *failed = tg_bin(cx, TG_NE, tg_var_ref(cx, rc), tg_int(cx, TG_INT32, 0));
    const tg_node *leave = tg_evaluate(cx, tg_call1(cx, "ret", tg_var_ref(cx, rc)));
    const tg_node *call = tg_node_at(cx, tg_call(cx, "call_extern", rc->type, n + 3, arg), loop->span);
    return tg_let_stmt(cx, rc, call, tg_if(cx, failed, leave, NULL));
}

typedef struct replacing { const tg_node *loop, *by; } replacing;

static const tg_node *replace(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    const replacing *r = user;
    return n == r->loop ? r->by : n;
}

static bool first_parallel(tg_ctx *cx, const tg_node *n, void *user)
{
    const tg_node **found = user;
    (void)cx;
    if (*found == NULL && n->kind == TG_FOR && n->u.loop->kind == TG_FOR_PARALLEL) *found = n;
    return *found == NULL && tg_is_stmt(n);
}

static const tg_node *serial(tg_ctx *cx, const tg_node *loop)
{
    tg_loop *plain = tg_copy(cx, loop->u.loop, sizeof *plain);
    plain->kind = TG_FOR_SERIAL;
    return tg_for_with(cx, plain, loop->kid[0], loop->kid[1], loop->kid[2]);
}

/* @return the body with one parallel loop less; NULL when there is none. */
static const tg_node *outline_one(outlining *o, const tg_node *body)
{
    const tg_node *loop = NULL;
    tg_visit(o->cx, body, first_parallel, &loop);
    if (loop == NULL) return NULL;
    o->free.n = o->view.n = 0;
    o->seen = (tg_map){ 0 };
    o->leaves = false;
    tg_visit(o->cx, loop, note_bound, o);
    tg_visit(o->cx, loop->kid[2], note_free, o);
    replacing r = { loop, serial(o->cx, loop) };
    if (!o->leaves) {
        const tg_func *task = make_task(o, loop, tg_module_unique(o->m, tg_format(o->cx, "%s_task", o->f->name->text)));
        tg_module_add(o->m, task);
        r.by = call_task(o, loop, task);
    }
    return tg_rewrite_node(o->cx, body, replace, &r);
}

bool tg_pass_parallel_tasks(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    for (size_t i = 0, n = m->funcs.n; opt->parallel && i < n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f->kind != TG_FUNC_PRIM) continue;
        outlining o = { .cx = cx, .m = m, .f = f };
        const tg_node *body = f->body, *next;
        size_t before = m->funcs.n;
        while ((next = outline_one(&o, body)) != NULL) body = next;
        if (body == f->body) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        if (m->funcs.n > before && f->ret->kind == TG_T_VOID) {     /* launching may fail */
            g->ret = tg_prim(cx, TG_INT32);
            g->body = tg_seq(cx, 2, (const tg_node *[]){ body, tg_evaluate(cx, tg_call1(cx, "ret", tg_int(cx, TG_INT32, 0))) });
        }
        tg_module_set(m, g);
    }
    return true;
}
