/* lower_blocks.c: blocks become loops.
 * Needs: TensorIR of any shape.  Keeps: which statements run with which values, in which order.
 * Iterators are replaced by their bindings, the predicate becomes an if, init runs where every reduce iterator is at the start of
 * its domain, a match_buffer becomes a view, and the buffers of a block are allocated where place_alloc.c says. */
#include "passes.h"
#include "place_alloc.h"

#include "ir/walk.h"
#include "schedule/linear.h"

typedef struct lowering {
    tg_subst by;
} lowering;

/* ---- what iterators and views stand for, outer blocks first ---- */

static const tg_node *plus(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    return a == NULL ? b : tg_linear_simplest(cx, tg_bin(cx, TG_ADD, a, tg_cast(cx, tg_dtype_of(a), b)));
}

static const tg_node *stride_of(tg_ctx *cx, const tg_buffer *b, uint32_t k)
{
    if (b->strides != NULL) return b->strides[k];
    const tg_node *s = tg_int(cx, tg_dtype_of(b->shape[k]), 1);
    for (uint32_t j = k + 1; j < b->ndim; ++j)
        s = tg_linear_simplest(cx, tg_bin(cx, TG_MUL, s, tg_cast(cx, tg_dtype_of(s), b->shape[j])));
    return s;
}

static void bind_if_var(tg_ctx *cx, lowering *l, const tg_node *e, const tg_node *value)
{
    if (e != NULL && e->kind == TG_VAR) tg_subst_var(cx, &l->by, e->u.var, tg_cast(cx, tg_dtype_of(e), value));
}

/* The view over the memory of its source: offset of the region's corner; strides that are variables are the source's. */
static void bind_view(tg_ctx *cx, lowering *l, const struct tg_match_part *m)
{
    const tg_buffer *source = tg_map_get(&l->by.buf, (uint64_t)m->source.buf->id + 1);
    source = source != NULL ? source : m->source.buf;
    const tg_node *offset = source->elem_offset;
    for (uint32_t k = 0; k < source->ndim; ++k) {
        const tg_node *at = tg_substitute(cx, m->source.min[k], &l->by), *stride = stride_of(cx, source, k);
        DLDataType d = tg_dtype_of(at);
        offset = plus(cx, offset, tg_linear_simplest(cx, tg_bin(cx, TG_MUL, at, tg_cast(cx, d, stride))));
    }
    tg_buffer *v = tg_buffer_copy(cx, m->view);
    const tg_node **strides = TG_ARRAY(cx, const tg_node *, v->ndim);
    for (uint32_t k = 0; m->view->strides != NULL && k < v->ndim; ++k) {
        bool given = m->view->strides[k]->kind == TG_VAR && k + source->ndim >= v->ndim;
        const tg_node *s =
            given ? stride_of(cx, source, k + source->ndim - v->ndim) : tg_substitute(cx, m->view->strides[k], &l->by);
        bind_if_var(cx, l, m->view->strides[k], s);
        strides[k] = s;
    }
    bind_if_var(cx, l, m->view->elem_offset, offset != NULL ? offset : tg_int(cx, TG_INT32, 0));
    tg_subst_var(cx, &l->by, m->view->data, tg_var_ref(cx, source->data));
    v->data = source->data;
    v->elem_offset = offset;
    v->offset_factor = 0;
    v->strides = m->view->strides != NULL ? strides : NULL;
    tg_subst_buf(cx, &l->by, m->view, v);
}

static bool bind(tg_ctx *cx, const tg_node *n, void *user)
{
    lowering *l = user;
    if (n->kind != TG_BLOCK) return tg_is_stmt(n);
    tg_block_parts p = tg_block_open(cx, n);
    for (uint32_t i = 0; i < p.niters; ++i) {
        const tg_node *value = tg_substitute(cx, p.iter[i].binding, &l->by);
        tg_subst_var(cx, &l->by, p.iter[i].var, tg_cast(cx, p.iter[i].var->type->dtype, value));
    }
    for (uint32_t i = 0; i < p.nmatches; ++i) bind_view(cx, l, &p.match[i]);
    return true;
}

/* ---- blocks to statements, inner blocks first ---- */

static const tg_node *both(tg_ctx *cx, const tg_node *a, const tg_node *b)
{
    return a == NULL ? b : tg_bin(cx, TG_AND, a, b);
}

/* All reduce iterators at the start of their domains; NULL when that is always so. */
static const tg_node *at_start(tg_ctx *cx, const tg_block_parts *p)
{
    const tg_node *c = NULL;
    for (uint32_t i = 0; i < p->niters; ++i) {
        const tg_node *v = p->iter[i].binding, *min = p->iter[i].min;
        if (p->iter[i].kind != TG_ITER_REDUCE || (v->kind == TG_INT && min->kind == TG_INT && v->u.i == min->u.i))
            continue;
        c = both(cx, c, tg_bin(cx, TG_EQ, v, tg_cast(cx, tg_dtype_of(v), min)));
    }
    return c;
}

static const tg_node *statement_of(tg_ctx *cx, const tg_node *n)
{
    tg_block_parts p = tg_block_open(cx, n);
    const tg_node *body = p.body;
    if (p.init != NULL) {
        const tg_node *start = at_start(cx, &p);
        const tg_node *s[2] = { start != NULL ? tg_if(cx, start, p.init, NULL) : p.init, body };
        body = tg_seq(cx, 2, s);
    }
    for (uint32_t i = p.nmatches; i > 0; --i)
        body = tg_decl_buffer(cx, p.match[i - 1].view, body);
    if (!(p.predicate->kind == TG_INT && p.predicate->u.i != 0)) body = tg_if(cx, p.predicate, body, NULL);
    for (uint32_t i = 0; i < p.nallocs; ++i) body = tg_place_alloc(cx, body, p.alloc[i]);
    return body;
}

static const tg_node *lower(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)user;
    return n->kind == TG_BLOCK ? statement_of(cx, n) : n;
}

static bool find_block(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    *(bool *)user = *(bool *)user || n->kind == TG_BLOCK;
    return tg_is_stmt(n);
}

static const tg_node *lower_body(tg_ctx *cx, const tg_node *body)
{
    lowering l = { { { 0 }, { 0 } } };
    tg_visit(cx, body, bind, &l);
    return tg_rewrite_node(cx, tg_substitute(cx, body, &l.by), lower, NULL);
}

bool tg_pass_lower_blocks(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        bool has_blocks = false;
        if (f->kind == TG_FUNC_PRIM) tg_visit(cx, f->body, find_block, &has_blocks);
        if (!has_blocks) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = lower_body(cx, f->body);
        tg_module_set(m, g);
    }
    return true;
}
