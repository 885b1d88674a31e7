/* plan_memory.c: allocations become offsets in one workspace, fixed at compile time (docs/ir.md, section 3).
 * First the large allocations of kernels become a trailing parameter that main provides, so that scratch and tensors share
 * memory; then main's own allocations are placed by their lifetimes. */
#include "passes.h"
#include "plan.h"
#include "ir/vec.h"
#include "ir/walk.h"

#include <string.h>

/* Allocations of kernels below this stay local arrays; so does anything in scope "local" (register tiles). */
enum { LOCAL_LIMIT_BYTES = 1024 };

static bool alloc_bytes(const tg_node *n, int64_t *out)
{
    int64_t size = (int64_t)tg_dtype_bytes(n->u.alloc->dtype);
    for (uint32_t i = 0; i + 1 < n->nkids; ++i) {
        int64_t d = n->kid[i]->kind == TG_INT ? n->kid[i]->u.i : -1;
        if (d < 0 || (d > 0 && size > TG_MAX_ELEMENTS / d))
            return false;
        size *= d;
    }
    *out = size;
    return true;
}

/* A trailing parameter: @p size bytes of workspace. */
static const tg_buffer *add_workspace(tg_ctx *cx, tg_func *f, int64_t size, int32_t align)
{
    tg_buffer *b = tg_buffer_new(cx, tg_intern_z(cx, "workspace"), TG_UINT8, 1, &size, size > INT32_MAX ? TG_INT64 : TG_INT32);
    b->align = align;
    const tg_var **param = TG_ARRAY(cx, const tg_var *, f->nparams + 1);
    const tg_buffer **buffer = TG_ARRAY(cx, const tg_buffer *, f->nparams + 1);
    if (f->nparams > 0) {
        memcpy(param, f->param, f->nparams * sizeof param[0]);
        memcpy(buffer, f->buffer, f->nparams * sizeof buffer[0]);
    }
    param[f->nparams] = b->data;
    buffer[f->nparams] = b;
    f->param = param;
    f->buffer = buffer;
    f->nparams += 1;
    return b;
}

static const tg_node *slice_of(tg_ctx *cx, const tg_buffer *ws, const tg_var *ptr, int64_t offset)
{
    const tg_node *index = tg_int(cx, tg_dtype_of(ws->shape[0]), offset);
    const tg_node *at = tg_load(cx, ws, 1, &index);
    return tg_call(cx, "address_of", ptr->type, 1, &at);
}

/* ---- scratch of kernels ---- */

static bool is_large(const tg_node *n)
{
    int64_t bytes;
    return n->kind == TG_ALLOCATE && !tg_name_is(n->u.alloc->scope, "local") && alloc_bytes(n, &bytes) && bytes >= LOCAL_LIMIT_BYTES;
}

typedef struct inner { tg_ctx *cx; tg_map *height; int64_t align; } inner;

/* Bottom-up: the bytes that a statement's large allocations need at once. An allocation stands on those inside it, so two that
 * nest never overlap and two that follow one another share. */
static int64_t height_of(inner *s, const tg_node *n)
{
    return (int64_t)(uintptr_t)tg_map_get(s->height, (uint64_t)n->id + 1);
}

static const tg_node *measure(tg_ctx *cx, const tg_node *n, void *user)
{
    inner *s = user;
    if (!tg_is_stmt(n))
        return n;
    int64_t h = 0, bytes = 0;
    for (uint32_t i = 0; i < n->nkids; ++i) {
        int64_t k = height_of(s, n->kid[i]);
        h = k > h ? k : h;
    }
    if (is_large(n) && alloc_bytes(n, &bytes))
        h += (bytes + s->align - 1) & ~(s->align - 1);
    if (h > 0)
        tg_map_put(cx, s->height, (uint64_t)n->id + 1, (void *)(uintptr_t)h);
    return n;
}

typedef struct placing_scratch { inner *in; const tg_buffer *ws; } placing_scratch;

static const tg_node *replace_large(tg_ctx *cx, const tg_node *n, void *user)
{
    placing_scratch *p = user;
    if (!is_large(n))
        return n;
    const tg_node *body = n->kid[n->nkids - 1];
    int64_t offset = (int64_t)(uintptr_t)tg_map_get(p->in->height, ((uint64_t)1 << 40) + n->u.alloc->var->id);
    return tg_let_stmt(cx, n->u.alloc->var, slice_of(cx, p->ws, n->u.alloc->var, offset), body);
}

static bool note_offset(tg_ctx *cx, const tg_node *n, void *user)
{
    inner *s = user;
    if (is_large(n)) {      /* it stands on what is inside */
        int64_t below = height_of(s, n->kid[n->nkids - 1]);
        if (below > 0)
            tg_map_put(cx, s->height, ((uint64_t)1 << 40) + n->u.alloc->var->id, (void *)(uintptr_t)below);
    }
    return tg_is_stmt(n);
}

/* @return bytes of scratch that @p f now takes as its last parameter, 0 when it needs none. */
static int64_t lift_scratch(tg_ctx *cx, tg_module *m, size_t at, int32_t align)
{
    const tg_func *f = m->funcs.at[at];
    tg_map height = { 0 };
    inner s = { cx, &height, align };
    tg_rewrite_node(cx, f->body, measure, &s);
    int64_t size = height_of(&s, f->body);
    if (size == 0)
        return 0;
    tg_visit(cx, f->body, note_offset, &s);
    tg_func *g = tg_func_copy(cx, f);
    placing_scratch p = { &s, add_workspace(cx, g, size, align) };
    g->body = tg_rewrite_node(cx, f->body, replace_large, &p);
    m->funcs.at[at] = g;
    return size;
}

/* ---- main ---- */

typedef struct planning {
    tg_ctx *cx;
    tg_module *m;
    tg_map scratch;                 /* kernel name -> bytes of scratch */
    TG_VEC(const tg_node *) alloc;  /* ALLOCATEs of main, outermost first */
    TG_VEC(tg_life) life;           /* of each, then of the calls' scratch */
    TG_VEC(const tg_var *) ptr;
    tg_map index;                   /* pointer id + 1 -> index + 1 */
    uint32_t now;
} planning;

static void add_life(planning *p, const tg_var *v, int64_t bytes)
{
    TG_PUSH(p->cx, p->life, ((tg_life){ bytes, UINT32_MAX, 0, 0 }));
    TG_PUSH(p->cx, p->ptr, v);
    tg_map_put(p->cx, &p->index, (uint64_t)v->id + 1, (void *)(uintptr_t)p->life.n);
}

/* Each call of a kernel with scratch gets one more argument, an allocation of its own. */
static const tg_node *pass_scratch(tg_ctx *cx, const tg_node *n, void *user)
{
    planning *p = user;
    if (!tg_is_call(n, "call_cpacked") && !tg_is_call(n, "call_packed"))
        return n;
    int64_t *bytes = tg_map_get(&p->scratch, TG_KEY(n->kid[0]->u.name));
    if (bytes == NULL)
        return n;
    tg_var *v = tg_var_new(cx, tg_intern_z(cx, "scratch"), tg_ptr(cx, TG_UINT8, tg_intern_z(cx, "global.workspace")));
    add_life(p, v, *bytes);
    DLDataType u32 = tg_dtype(kDLUInt, 32, 1);
    const tg_node *dim = tg_int(cx, *bytes > INT32_MAX ? TG_INT64 : TG_INT32, *bytes), *null = n->kid[n->nkids - 1];
    const tg_node *field[6] = { tg_var_ref(cx, v), tg_call(cx, "tvm_stack_make_shape", NULL, 1, &dim),
                                tg_call(cx, "reinterpret", tg_prim(cx, TG_HANDLE), 1, (const tg_node *[]){ tg_int(cx, tg_dtype(kDLUInt, 64, 1), 0) }),
                                tg_int(cx, u32, 1), tg_int(cx, TG_UINT8, 0), tg_int(cx, TG_INT32, 0) };
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, n->nkids + 1);
    memcpy(kid, n->kid, (n->nkids - 1) * sizeof kid[0]);
    kid[n->nkids - 1] = tg_call(cx, "tvm_stack_make_array", NULL, 6, field);
    kid[n->nkids] = null;
    return tg_node_with(cx, n, n->nkids + 1, kid);
}

static void touch(planning *p, const tg_var *v)
{
    uintptr_t i = (uintptr_t)tg_map_get(&p->index, (uint64_t)v->id + 1);
    if (i == 0)
        return;
    tg_life *l = &p->life.at[i - 1];
    l->first = p->now < l->first ? p->now : l->first;
    l->last = p->now > l->last ? p->now : l->last;
}

static bool touch_all(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    if (n->kind == TG_VAR)
        touch(user, n->u.var);
    if (n->kind == TG_LOAD || n->kind == TG_STORE)
        touch(user, n->u.buf->data);
    return true;
}

/* Positions in the order of execution. A loop is one position: what it touches is alive for all of it. */
static void live(planning *p, const tg_node *root)
{
    tg_ctx *cx = p->cx;
    TG_VEC(const tg_node *) todo = { 0 };
    TG_PUSH(cx, todo, root);
    while (todo.n > 0) {
        const tg_node *n = todo.at[--todo.n];
        switch (n->kind) {
        case TG_SEQ:
            for (uint32_t i = n->nkids; i > 0; --i)
                TG_PUSH(cx, todo, n->kid[i - 1]);
            break;
        case TG_ALLOCATE: case TG_ALLOC_CONST: case TG_DECL_BUFFER:
            TG_PUSH(cx, todo, n->kid[n->nkids - 1]);
            break;
        case TG_LET_STMT: case TG_ATTR: case TG_ASSERT: case TG_IF: {
            ++p->now;
            uint32_t heads = n->kind == TG_ATTR || n->kind == TG_ASSERT ? 2 : 1;
            for (uint32_t i = 0; i < heads; ++i)
                tg_visit(cx, n->kid[i], touch_all, p);
            for (uint32_t i = n->nkids; i > heads; --i)
                TG_PUSH(cx, todo, n->kid[i - 1]);
            break;
        }
        default:
            ++p->now;
            tg_visit(cx, n, touch_all, p);
            break;
        }
    }
}

static bool collect_allocs(tg_ctx *cx, const tg_node *n, void *user)
{
    planning *p = user;
    int64_t bytes;
    if (n->kind == TG_ALLOCATE && alloc_bytes(n, &bytes)) {
        TG_PUSH(cx, p->alloc, n);
        add_life(p, n->u.alloc->var, bytes);
    }
    return tg_is_stmt(n) && n->kind != TG_EVALUATE;
}

static const tg_node *drop_alloc(tg_ctx *cx, const tg_node *n, void *user)
{
    planning *p = user;
    (void)cx;
    if (n->kind == TG_ALLOCATE && tg_map_get(&p->index, (uint64_t)n->u.alloc->var->id + 1) != NULL)
        return n->kid[n->nkids - 1];
    return n;
}

/* Pointers into the workspace go in front of the statements, behind the constants. */
static const tg_node *bind_pointers(planning *p, const tg_buffer *ws, const tg_node *body)
{
    if (body->kind == TG_ALLOC_CONST) {     /* walk down the chain of constants without recursion */
        TG_VEC(const tg_node *) chain = { 0 };
        while (body->kind == TG_ALLOC_CONST) {
            TG_PUSH(p->cx, chain, body);
            body = body->kid[0];
        }
        body = bind_pointers(p, ws, body);
        for (size_t i = chain.n; i > 0; --i)
            body = tg_node_with(p->cx, chain.at[i - 1], 1, &body);
        return body;
    }
    for (size_t i = p->life.n; i > 0; --i)
        body = tg_let_stmt(p->cx, p->ptr.at[i - 1], slice_of(p->cx, ws, p->ptr.at[i - 1], p->life.at[i - 1].offset), body);
    return body;
}

static bool plan_main(planning *p, size_t at, int32_t align)
{
    tg_ctx *cx = p->cx;
    const tg_func *f = p->m->funcs.at[at];
    tg_visit(cx, f->body, collect_allocs, p);
    const tg_node *body = tg_rewrite_node(cx, f->body, pass_scratch, p);
    live(p, body);
    for (size_t i = 0; i < p->life.n; ++i)
        if (p->life.at[i].first == UINT32_MAX)
            p->life.at[i].first = p->life.at[i].last = 0;       /* never touched */
    tg_plan plan = tg_plan_place(cx, p->life.at, p->life.n, align);
    TG_CHECK(cx, tg_plan_check(cx, p->life.at, p->life.n, align, plan.peak_bytes), f->body);
    tg_func *g = tg_func_copy(cx, f);
    if (p->life.n > 0) {
        const tg_buffer *ws = add_workspace(cx, g, plan.peak_bytes, align);
        body = bind_pointers(p, ws, tg_rewrite_node(cx, body, drop_alloc, p));
    }
    g->body = body;
    g->attrs = tg_v_with(cx, g->attrs, "tirgen.workspace_bytes", tg_v_int(cx, plan.peak_bytes));
    g->attrs = tg_v_with(cx, g->attrs, "tirgen.workspace_bound", tg_v_int(cx, plan.bound_bytes));
    p->m->funcs.at[at] = g;
    return true;
}

bool tg_pass_plan_memory(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    planning p = { .cx = cx, .m = m };
    size_t main_at = m->funcs.n;
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (tg_is_main(m->funcs.at[i]))
            main_at = i;
    if (main_at == m->funcs.n || tg_v_get(m->funcs.at[main_at]->attrs, "tirgen.workspace_bytes") != NULL)
        return true;                /* kernels alone, or planned already */
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (i == main_at || tg_v_get(f->attrs, "global_symbol") != NULL)
            continue;
        int64_t *bytes = TG_NEW(cx, int64_t);
        *bytes = lift_scratch(cx, m, i, opt->workspace_align);
        if (*bytes > 0)
            tg_map_put(cx, &p.scratch, TG_KEY(f->name), bytes);
    }
    return plan_main(&p, main_at, opt->workspace_align);
}
