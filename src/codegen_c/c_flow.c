/* c_flow.c: where pointers go. A pointer that nobody stores through is const; what a callee does counts for its caller.
 *
 *   an edge  from -> to  means that "to" is another name of what "from" points into: a let of a pointer, a parameter
 *   stored(to)      makes stored(from)
 *   constant(from)  makes constant(to)
 * The element type of a pointer that is only handed on is the one its users see. */
#include "emit.h"

typedef struct edge { const tg_var *from, *to; } edge;
typedef struct flow { tg_emit *e; TG_VEC(edge) edge; } flow;

static void add_edge(flow *f, const tg_node *from, const tg_var *to)
{
    const tg_var *root = c_root(from);
    if (root == NULL && (tg_is_call(from, "if_then_else") || from->kind == TG_SELECT)) {    /* one of two places */
        add_edge(f, from->kid[1], to);
        add_edge(f, from->kid[2], to);
        return;
    }
    if (root != NULL) {
        edge x = { root, to };
        TG_PUSH(f->e->cx, f->edge, x);
    }
}

/* ---- functions that stand elsewhere ---- */

/* Those of the standard library that texts call; the mask has a bit for each pointer that is only read. */
static const struct { const char *name; unsigned need, reads; } library[] = {
    { "memcpy", C_STRING, 2 }, { "memmove", C_STRING, 2 }, { "memset", C_STRING, 0 }, { "memcmp", C_STRING, 3 },
    { "strlen", C_STRING, 1 }, { "strcmp", C_STRING, 3 }, { "printf", C_STDIO, 1 }, { "puts", C_STDIO, 1 },
    { "abs", C_STDLIB, 0 }, { "labs", C_STDLIB, 0 }, { "llabs", C_STDLIB, 0 },
};

/* Functions of math.h, float and double. */
static const char *const math[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "ldexp", "lgamma", "log", "log10", "log1p",
    "log2", "logb", "lrint", "lround", "nearbyint", "nextafter", "pow", "remainder", "rint", "round", "sin", "sinh", "sqrt", "tan",
    "tanh", "tgamma", "trunc", "llrint", "llround",
};

static bool is_math(const char *name)
{
    for (size_t i = 0; i < TG_COUNT(math); ++i) {
        size_t k = 0;
        while (math[i][k] != '\0' && name[k] == math[i][k])
            ++k;
        if (math[i][k] == '\0' && (name[k] == '\0' || (name[k] == 'f' && name[k + 1] == '\0')))
            return true;
    }
    return false;
}

static void look_up(tg_emit *e, c_extern *x)
{
    if (is_math(x->name->text)) {
        e->need |= C_MATH;
        x->known = true;
    }
    for (size_t i = 0; i < TG_COUNT(library); ++i) {
        if (!tg_name_is(x->name, library[i].name))
            continue;
        e->need |= library[i].need;
        x->known = true;
        for (uint32_t k = 0; k < x->nargs; ++k)
            x->arg[k].constant = (library[i].reads >> k & 1) != 0;
    }
}

static DLDataType pointee(tg_emit *e, const tg_node *n)
{
    const tg_var *v = c_root(n);
    return v != NULL ? c_var_of(e, v)->elem : TG_HANDLE;
}

static c_extern *new_extern(tg_emit *e, const tg_node *call)
{
    c_extern *x = TG_NEW(e->cx, c_extern);
    x->name = call->kid[0]->u.name;
    x->ret = call->type;
    x->nargs = call->nkids - 1;
    x->arg = TG_ARRAY(e->cx, struct c_extern_arg, x->nargs);
    for (uint32_t i = 0; i < x->nargs; ++i) {
        const tg_node *a = call->kid[i + 1];
        x->arg[i].pointer = a->kind == TG_STR || c_is_pointer(a);
        x->arg[i].constant = a->kind == TG_STR;
        x->arg[i].dtype = a->kind == TG_STR || c_is_pointer(a) ? TG_HANDLE : tg_dtype_of(a);
        x->arg[i].open = true;
    }
    look_up(e, x);
    tg_map_put(e->cx, &e->extern_of, TG_KEY(x->name), x);
    TG_PUSH(e->cx, e->externs, x);
    if (!c_is_identifier(x->name->text)) {
        tg_error(e->cx, call->span, "call_extern: '%s' is not a name that C can call", x->name->text);
        e->failed = true;
    }
    return x;
}

/* Every call of a function must fit the one declaration it gets. */
static void merge_extern(tg_emit *e, const tg_node *call)
{
    c_extern *x = tg_map_get(&e->extern_of, TG_KEY(call->kid[0]->u.name));
    if (x == NULL)
        x = new_extern(e, call);
    bool same = x->nargs == call->nkids - 1 || x->known;
    for (uint32_t i = 0; same && i < x->nargs && i + 1 < call->nkids; ++i) {
        const tg_node *a = call->kid[i + 1];
        bool pointer = a->kind == TG_STR || c_is_pointer(a);
        same = pointer == x->arg[i].pointer && (pointer || tg_dtype_eq(x->arg[i].dtype, tg_dtype_of(a)));
        const tg_var *root = pointer ? c_root(a) : NULL;
        if (root != NULL && c_var_of(e, root)->constant)
            x->arg[i].constant = true;
        if (tg_is_call(a, "tvm_access_ptr") && a->kid[4]->kind == TG_INT && a->kid[4]->u.i == 1)
            x->arg[i].constant = true;
    }
    if (same && (x->known || x->ret == call->type))
        return;
    tg_error(e->cx, call->span, "%s is called in two ways: as a C function it has one list of parameters and one result",
             x->name->text);
    e->failed = true;
}

/* Elements of the pointers an external function takes: what all calls agree on, else void. */
static void type_extern(tg_emit *e, const tg_node *call)
{
    c_extern *x = tg_map_get(&e->extern_of, TG_KEY(call->kid[0]->u.name));
    for (uint32_t i = 0; i < x->nargs && i + 1 < call->nkids; ++i) {
        const tg_node *a = call->kid[i + 1];
        if (!x->arg[i].pointer || a->kind == TG_STR)
            continue;
        DLDataType d = pointee(e, a);
        if (x->arg[i].open)
            x->arg[i].dtype = d;
        else if (!c_same_storage(x->arg[i].dtype, d))
            x->arg[i].dtype = TG_HANDLE;
        x->arg[i].open = false;
    }
}

/* ---- edges of a function ---- */

static bool is_extern_call(tg_emit *e, const tg_node *call)
{
    return (tg_is_call(call, "call_extern") || tg_is_call(call, "call_pure_extern")) && call->nkids > 0
           && call->kid[0]->kind == TG_STR && c_callee(e, call) == NULL;
}

static void function_edges(flow *f, const c_fn *fn)
{
    tg_emit *e = f->e;
    for (size_t i = 0; i < fn->lets.n; ++i)
        add_edge(f, fn->lets.at[i]->kid[0], fn->lets.at[i]->u.var);
    for (size_t i = 0; i < fn->calls.n; ++i) {
        const tg_node *call = fn->calls.at[i];
        const c_fn *to = c_callee(e, call);
        for (uint32_t k = 0; to != NULL && !to->is_packed && k + 1 < call->nkids && k < to->f->nparams; ++k)
            if (c_is_pointer(call->kid[k + 1]))
                add_edge(f, call->kid[k + 1], to->f->param[k]);
    }
}

/* What the calls themselves do: stores by functions elsewhere, and through tensors of the packed convention. */
static void stores_by_calls(tg_emit *e, const c_fn *fn)
{
    for (size_t i = 0; i < fn->calls.n; ++i) {
        const tg_node *call = fn->calls.at[i];
        bool outside = is_extern_call(e, call), set = tg_is_call(call, "tvm_struct_set");
        const c_extern *x = outside ? tg_map_get(&e->extern_of, TG_KEY(call->kid[0]->u.name)) : NULL;
        for (uint32_t k = set ? 3 : 1; (set || outside) && k < call->nkids; ++k) {
            const tg_var *root = c_is_pointer(call->kid[k]) ? c_root(call->kid[k]) : NULL;
            bool reads = outside && k - 1 < x->nargs && x->arg[k - 1].constant;
            if (root != NULL && !reads && !(set && c_var_of(e, root)->constant))
                c_var_of(e, root)->stored = true;
        }
    }
}

/* ---- answers that hold for all ---- */

static void spread(flow *f)
{
    tg_emit *e = f->e;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < f->edge.n; ++i) {
            c_var *from = c_var_of(e, f->edge.at[i].from), *to = c_var_of(e, f->edge.at[i].to);
            if (from->constant && !to->constant)
                to->constant = changed = true;
        }
    }
}

static void spread_stores(flow *f)
{
    tg_emit *e = f->e;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = f->edge.n; i > 0; --i) {
            c_var *from = c_var_of(e, f->edge.at[i - 1].from), *to = c_var_of(e, f->edge.at[i - 1].to);
            if (to->stored && !from->stored)
                from->stored = changed = true;
        }
    }
}

/* ---- numbers of constants: what is only ever given a constant lies in its bounds ---- */

static c_range range_of_data(const tg_tensor *t)
{
    c_range r = { INT64_MAX, INT64_MIN };
    int64_t n = 1;
    for (int k = 0; k < t->dl.ndim; ++k)
        n *= t->dl.shape[k];
    for (int64_t i = 0; i < n; ++i) {
        int64_t v = tg_tensor_i64(t, i);
        r = c_range_join(r, (c_range){ v, v });
    }
    return r;
}

static bool has_numbers(const c_var *v)
{
    return v->data != NULL && v->data->dl.dtype.code == kDLInt && v->data->dl.dtype.bits >= 32 && v->data->size_bytes > 0;
}

/* Starts from "no number at all" for each parameter and let, and adds what flows in; a pointer to anything else spoils it. */
static void bound_constants(flow *f)
{
    tg_emit *e = f->e;
    for (size_t i = 0; i < f->edge.n; ++i) {
        c_var *from = c_var_of(e, f->edge.at[i].from), *to = c_var_of(e, f->edge.at[i].to);
        if (has_numbers(from) && !from->fixed) {
            from->range = range_of_data(from->data);
            from->fixed = true;
        }
        if (to->data == NULL && !to->fixed && !to->stored) {
            to->range = (c_range){ INT64_MAX, INT64_MIN };
            to->fixed = true;
        }
    }
    for (size_t i = 0; i < e->fn.n; ++i)
        for (uint32_t k = 0; k < e->fn.at[i]->f->nparams; ++k)
            if (e->fn.at[i]->is_public || e->fn.at[i]->is_main)
                c_var_of(e, e->fn.at[i]->f->param[k])->fixed = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < f->edge.n; ++i) {
            c_var *from = c_var_of(e, f->edge.at[i].from), *to = c_var_of(e, f->edge.at[i].to);
            c_range r = c_range_join(to->range, from->range);
            if (!to->fixed || (from->fixed && r.lo == to->range.lo && r.hi == to->range.hi))
                continue;
            to->fixed = from->fixed;
            to->range = from->fixed ? r : (c_range){ INT64_MIN, INT64_MAX };
            changed = true;
        }
    }
}

/* Constants used where they stand. */
static bool bound_local_constant(tg_ctx *cx, const tg_node *n, void *user)
{
    c_var *v = n->kind == TG_ALLOC_CONST ? c_var_of(user, n->u.alloc->var) : NULL;
    (void)cx;
    if (v != NULL && v->read && !v->fixed && has_numbers(v)) {
        v->range = range_of_data(v->data);
        v->fixed = true;
    }
    return tg_is_stmt(n);
}

/* Names without accesses of their own take the element type of those they are handed to, or of their declaration. */
static void type_pointers(flow *f)
{
    tg_emit *e = f->e;
    for (size_t i = 2 * f->edge.n; i > 0; --i) {        /* twice: a caller's edges stand behind its callee's */
        const edge *x = &f->edge.at[(i - 1) % f->edge.n];
        c_var *from = c_var_of(e, x->from), *to = c_var_of(e, x->to);
        if (from->voted == 0 && to->voted != 0) {
            from->elem = to->elem;
            from->voted = 1;
        }
    }
}

static bool set_default(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_emit *e = user;
    bool alloc = n->kind == TG_ALLOCATE || n->kind == TG_ALLOC_CONST;
    const tg_var *v = n->kind == TG_LET_STMT ? n->u.var : alloc ? n->u.alloc->var : NULL;
    (void)cx;
    if (v != NULL && v->type->kind == TG_T_PTR && c_var_of(e, v)->voted == 0) {
        DLDataType d = n->kind == TG_LET_STMT ? v->type->dtype : n->u.alloc->dtype;
        d.lanes = 1;
        c_var_of(e, v)->elem = d;
        c_var_of(e, v)->voted = 1;
    }
    return tg_is_stmt(n);
}

static void default_types(tg_emit *e, const c_fn *fn)
{
    for (uint32_t i = 0; i < fn->f->nparams; ++i) {
        const tg_var *p = fn->f->param[i];
        if (p->type->kind == TG_T_PTR && c_var_of(e, p)->voted == 0) {
            c_var_of(e, p)->elem = tg_dtype(p->type->dtype.code, p->type->dtype.bits, 1);
            c_var_of(e, p)->voted = 1;
        }
    }
    tg_visit(e->cx, fn->f->body, set_default, e);
}

static bool check_constants(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_emit *e = user;
    if (n->kind == TG_ALLOC_CONST && c_var_of(e, n->u.alloc->var)->stored) {
        tg_error(cx, n->span, "constant %s is stored to", n->u.alloc->var->name->text);
        e->failed = true;
    }
    return tg_is_stmt(n);
}

bool c_follow_pointers(tg_emit *e)
{
    flow f = { .e = e };
    for (size_t i = 0; i < e->fn.n; ++i)
        function_edges(&f, e->fn.at[i]);
    for (uint32_t i = 0; e->model.main != NULL && i < e->model.nin && i < e->model.main->f->nparams; ++i)
        c_var_of(e, e->model.main->f->param[i])->constant = true;
    spread(&f);
    for (size_t i = 0; i < e->fn.n; ++i)
        for (size_t k = 0; k < e->fn.at[i]->calls.n; ++k)
            if (is_extern_call(e, e->fn.at[i]->calls.at[k]))
                merge_extern(e, e->fn.at[i]->calls.at[k]);
    for (size_t i = 0; i < e->fn.n; ++i)
        stores_by_calls(e, e->fn.at[i]);
    spread_stores(&f);
    type_pointers(&f);
    for (size_t i = 0; i < e->fn.n; ++i)
        default_types(e, e->fn.at[i]);
    for (size_t i = 0; i < e->fn.n; ++i)
        for (size_t k = 0; k < e->fn.at[i]->calls.n; ++k)
            if (is_extern_call(e, e->fn.at[i]->calls.at[k]))
                type_extern(e, e->fn.at[i]->calls.at[k]);
    bound_constants(&f);
    for (size_t i = 0; i < e->fn.n; ++i) {
        tg_visit(e->cx, e->fn.at[i]->f->body, check_constants, e);
        tg_visit(e->cx, e->fn.at[i]->f->body, bound_local_constant, e);
    }
    return !e->failed;
}
