/* flatten.c: accesses to n-d buffers become accesses to one-dimensional views of the same memory.
 * Needs: no blocks.  Keeps: which byte every access touches.
 * Parameters keep their buffers in the signature; a DECL_BUFFER of rank 1 at the start of the body carries the accesses.
 * A buffer declared inside is declared flat instead. What is flat already stays as it is. */
#include "passes.h"

#include "ir/walk.h"
#include "schedule/linear.h"

typedef struct flattening {
    tg_map flat;                     /* buffer id + 1 -> its rank-1 view */
    tg_map is_inner;                 /* buffer id + 1: declared inside, so the declaration is replaced */
    TG_VEC(const tg_buffer *) outer; /* views of buffers that nothing inside declares, in order of first use */
} flattening;

static uint64_t key(const tg_buffer *b)
{
    return (uint64_t)b->id + 1;
}

static bool is_flat(const tg_buffer *b)
{
    bool whole = b->elem_offset == NULL || tg_is_int_const(b->elem_offset, 0);
    return b->ndim == 1 && whole && (b->strides == NULL || tg_is_int_const(b->strides[0], 1));
}

/* ---- extent of the view ---- */

/* The dtype in which offsets are computed: int64 when shapes or indices have it, or when int32 could overflow. */
static DLDataType offset_dtype(const tg_buffer *b, const tg_node *const *index)
{
    int64_t elements;
    bool wide = tg_buffer_elements(b, &elements) && elements > INT32_MAX;
    for (uint32_t k = 0; k < b->ndim; ++k)
        wide = wide || tg_dtype_of(b->shape[k]).bits == 64 || (index != NULL && tg_dtype_of(index[k]).bits == 64) ||
               (b->strides != NULL && tg_dtype_of(b->strides[k]).bits == 64);
    return wide || (b->elem_offset != NULL && tg_dtype_of(b->elem_offset).bits == 64) ? TG_INT64 : TG_INT32;
}

static const tg_node *to(tg_ctx *cx, DLDataType d, const tg_node *a)
{
    return a->kind == TG_INT ? tg_int(cx, d, a->u.i) : tg_cast(cx, d, a);
}

static const tg_node *times(tg_ctx *cx, DLDataType d, const tg_node *a, const tg_node *b)
{
    a = to(cx, d, a);
    b = to(cx, d, b);
    if (a->kind == TG_INT && b->kind == TG_INT) return tg_int(cx, d, (int64_t)((uint64_t)a->u.i * (uint64_t)b->u.i));
    return tg_is_int_const(b, 1) ? a : tg_is_int_const(a, 1) ? b : tg_bin(cx, TG_MUL, a, b);
}

static const tg_node *plus(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    if (a == NULL || b == NULL) return a == NULL ? b : a;
    if (a->kind == TG_INT && b->kind == TG_INT)
        return tg_int(cx, tg_dtype_of(a), (int64_t)((uint64_t)a->u.i + (uint64_t)b->u.i));
    return tg_is_int_const(b, 0) ? a : tg_is_int_const(a, 0) ? b : tg_bin(cx, TG_ADD, a, b);
}

/* Elements from the start of the memory to the end of the view. */
static const tg_node *extent_of(tg_ctx *cx, const tg_buffer *b, DLDataType d)
{
    const tg_node *n = tg_int(cx, d, 1);
    if (b->strides != NULL) {
        for (uint32_t k = 0; k < b->ndim; ++k)
            n = plus(cx, n, times(cx, d, plus(cx, to(cx, d, b->shape[k]), tg_int(cx, d, -1)), b->strides[k]));
    } else {
        for (uint32_t k = 0; k < b->ndim; ++k) n = times(cx, d, n, b->shape[k]);
    }
    return b->elem_offset == NULL ? n : plus(cx, to(cx, d, b->elem_offset), n);
}

static const tg_buffer *flat_view(tg_ctx *cx, flattening *f, const tg_buffer *b)
{
    if (is_flat(b)) return b;
    const tg_buffer *known = tg_map_get(&f->flat, key(b));
    if (known != NULL) return known;
    tg_buffer *v = tg_buffer_copy(cx, b);
    const tg_node **shape = TG_ARRAY(cx, const tg_node *, 1);
    shape[0] = extent_of(cx, b, offset_dtype(b, NULL));
    v->ndim = 1;
    v->shape = shape;
    v->strides = NULL;
    v->elem_offset = NULL;
    v->offset_factor = 0;
    v->auto_broadcast = false;
    tg_map_put(cx, &f->flat, key(b), v);
    if (tg_map_get(&f->is_inner, key(b)) == NULL) TG_PUSH(cx, f->outer, v);
    return v;
}

/* ---- accesses ---- */

/* base + index * stride: a vector index stays a ramp, so that it can be seen to be contiguous. */
static const tg_node *step(tg_ctx *cx, DLDataType d, const tg_node *index, const tg_node *stride)
{
    if (index->kind != TG_RAMP) return times(cx, d, index, stride);
    const tg_node *kid[2] = { times(cx, d, index->kid[0], stride), times(cx, d, index->kid[1], stride) };
    DLDataType t = d;
    t.lanes = tg_dtype_of(index).lanes;
    return tg_node_new(cx, TG_RAMP, index->span, tg_prim(cx, t), NULL, 2, kid);
}

static const tg_node *sum(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    if (a != NULL && b->kind == TG_RAMP && a->kind != TG_RAMP) {
        const tg_node *kid[2] = { plus(cx, a, b->kid[0]), b->kid[1] };
        return tg_node_with(cx, b, 2, kid);
    }
    return plus(cx, a, b);
}

static const tg_node *offset_of(tg_ctx *cx, const tg_buffer *b, const tg_node *const *index)
{
    DLDataType d = offset_dtype(b, index);
    const tg_node *total = b->elem_offset == NULL ? NULL : to(cx, d, b->elem_offset);
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *stride = b->strides != NULL ? b->strides[k] : NULL;
        if (stride == NULL) {
            stride = tg_int(cx, d, 1);
            for (uint32_t j = k + 1; j < b->ndim; ++j) stride = times(cx, d, stride, b->shape[j]);
        }
        const tg_node *part =
            step(cx, d, index[k]->kind == TG_RAMP ? index[k] : to(cx, d, index[k]), to(cx, d, stride));
        total = sum(cx, total, part);
    }
    return total == NULL ? tg_int(cx, d, 0) : total;
}

static const tg_node *access(tg_ctx *cx, flattening *f, const tg_node *n)
{
    uint32_t skip = n->kind == TG_STORE;
    const tg_buffer *v = flat_view(cx, f, n->u.buf);
    if (v == n->u.buf) return n;
    const tg_node *offset = offset_of(cx, n->u.buf, n->kid + skip);
    const tg_node *kid[2] = { skip ? n->kid[0] : NULL, offset };
    return tg_node_new(cx, (enum tg_kind)n->kind, n->span, n->type, v, 1 + skip, kid + 1 - skip);
}

/* ---- declarations ---- */

static bool note_inner(tg_ctx *cx, const tg_node *n, void *user)
{
    if (n->kind == TG_DECL_BUFFER) tg_map_put(cx, &((flattening *)user)->is_inner, key(n->u.buf), (void *)(uintptr_t)n);
    return tg_is_stmt(n);
}

static const tg_node *flatten(tg_ctx *cx, const tg_node *n, void *user)
{
    flattening *f = user;
    switch (n->kind) {
    case TG_LOAD:
    case TG_STORE: return access(cx, f, n);
    case TG_DECL_BUFFER: {
        const tg_buffer *v = flat_view(cx, f, n->u.buf);
        return v == n->u.buf ? n : tg_node_new(cx, TG_DECL_BUFFER, n->span, NULL, v, 1, n->kid);
    }
    case TG_ALLOCATE: {
        if (n->nkids == 2) return n;
        DLDataType d = n->nkids > 1 ? tg_dtype_of(n->kid[0]) : TG_INT32;
        const tg_node *kid[2] = { tg_int(cx, d, 1), n->kid[n->nkids - 1] };
        for (uint32_t k = 0; k + 1 < n->nkids; ++k) kid[0] = times(cx, d, kid[0], n->kid[k]);
        return tg_node_new(cx, TG_ALLOCATE, n->span, NULL, n->u.alloc, 2, kid);
    }
    default: return n;
    }
}

/* Views of memory that a let, an allocation or an outer declaration binds inside are declared just below what binds it. */
typedef struct placing {
    const tg_buffer *const *view;
    size_t n;
    bool *placed;
} placing;

static const tg_node *place(tg_ctx *cx, const tg_node *n, void *user)
{
    placing *p = user;
    const tg_var *v = n->kind == TG_LET_STMT                                ? n->u.var
                      : n->kind == TG_ALLOCATE || n->kind == TG_ALLOC_CONST ? n->u.alloc->var
                                                                            : NULL;
    if (v == NULL) return n;
    const tg_node *body = n->kid[n->nkids - 1];
    for (size_t i = p->n; i > 0; --i) {
        if (p->view[i - 1]->data != v) continue;
        body = tg_decl_buffer(cx, p->view[i - 1], body);
        p->placed[i - 1] = true;
    }
    if (body == n->kid[n->nkids - 1]) return n;
    const tg_node **kid = tg_copy(cx, n->kid, n->nkids * sizeof n->kid[0]);
    kid[n->nkids - 1] = body;
    return tg_node_with(cx, n, n->nkids, kid);
}

static const tg_node *flatten_body(tg_ctx *cx, const tg_node *body)
{
    flattening f = { 0 };
    tg_visit(cx, body, note_inner, &f);
    body = tg_rewrite_node(cx, body, flatten, &f);
    placing p = { f.outer.at, f.outer.n, TG_ARRAY(cx, bool, f.outer.n) };
    if (p.n > 0) body = tg_rewrite_node(cx, body, place, &p);
    for (size_t i = p.n; i > 0; --i)
        if (!p.placed[i - 1]) body = tg_decl_buffer(cx, p.view[i - 1], body);
    return body;
}

bool tg_pass_flatten(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        const tg_node *body = f->kind == TG_FUNC_PRIM ? flatten_body(cx, f->body) : f->body;
        if (body == f->body) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        tg_module_set(m, g);
    }
    return true;
}
