/* block.c: blocks taken apart and put together; the regions a body reads and writes. */
#include "walk.h"

#include <string.h>

/* ---- parts to node ---- */

static uint32_t count_regions(const tg_region *r, uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; ++i)
        k += 2 * r[i].buf->ndim;
    return k;
}

static uint32_t put_region(const tg_node **kid, uint32_t k, const tg_region *r)
{
    for (uint32_t d = 0; d < r->buf->ndim; ++d) {
        kid[k++] = r->min[d];
        kid[k++] = r->extent[d];
    }
    return k;
}

static uint32_t count_kids(const tg_block_parts *p)
{
    uint32_t n = 3 * p->niters + 1 + count_regions(p->read, p->nreads) + count_regions(p->write, p->nwrites);
    for (uint32_t i = 0; i < p->nmatches; ++i)
        n += 2 * p->match[i].source.buf->ndim;
    return n + (p->init != NULL) + 1;
}

static const tg_buffer **region_buffers(tg_ctx *cx, const tg_region *r, uint32_t n)
{
    const tg_buffer **b = TG_ARRAY(cx, const tg_buffer *, n);
    for (uint32_t i = 0; i < n; ++i)
        b[i] = r[i].buf;
    return b;
}

const tg_node *tg_block_new(tg_ctx *cx, const tg_block_parts *p)
{
    tg_block *b = TG_NEW(cx, tg_block);
    struct tg_block_iter *iter = TG_ARRAY(cx, struct tg_block_iter, p->niters);
    struct tg_block_match *match = TG_ARRAY(cx, struct tg_block_match, p->nmatches);
    uint32_t nkids = count_kids(p), k = 0;
    const tg_node **kid = TG_ARRAY(cx, const tg_node *, nkids);
    for (uint32_t i = 0; i < p->niters; ++i) {
        iter[i] = (struct tg_block_iter){ p->iter[i].var, p->iter[i].kind };
        kid[k++] = p->iter[i].min;
        kid[k++] = p->iter[i].extent;
        kid[k++] = p->iter[i].binding;
    }
    kid[k++] = p->predicate != NULL ? p->predicate : tg_int(cx, TG_BOOL, 1);
    for (uint32_t i = 0; i < p->nreads; ++i)
        k = put_region(kid, k, &p->read[i]);
    for (uint32_t i = 0; i < p->nwrites; ++i)
        k = put_region(kid, k, &p->write[i]);
    for (uint32_t i = 0; i < p->nmatches; ++i) {
        match[i] = (struct tg_block_match){ p->match[i].view, p->match[i].source.buf };
        k = put_region(kid, k, &p->match[i].source);
    }
    if (p->init != NULL)
        kid[k++] = p->init;
    kid[k++] = p->body;
    TG_CHECK(cx, k == nkids, p->body);
    *b = (tg_block){ .name = p->name, .niters = p->niters, .nreads = p->nreads, .nwrites = p->nwrites, .nallocs = p->nallocs,
                     .nmatches = p->nmatches, .has_init = p->init != NULL, .iter = iter, .match = match,
                     .read = region_buffers(cx, p->read, p->nreads), .write = region_buffers(cx, p->write, p->nwrites),
                     .alloc = tg_copy(cx, p->alloc, p->nallocs * sizeof p->alloc[0]), .annotations = p->annotations };
    return tg_node_new(cx, TG_BLOCK, p->span, NULL, b, nkids, kid);
}

/* ---- node to parts ---- */

static tg_region take_region(tg_ctx *cx, const tg_node *n, uint32_t *k, const tg_buffer *buf)
{
    const tg_node **min = TG_ARRAY(cx, const tg_node *, buf->ndim), **extent = TG_ARRAY(cx, const tg_node *, buf->ndim);
    for (uint32_t d = 0; d < buf->ndim; ++d) {
        min[d] = n->kid[(*k)++];
        extent[d] = n->kid[(*k)++];
    }
    return (tg_region){ buf, min, extent };
}

tg_block_parts tg_block_open(tg_ctx *cx, const tg_node *n)
{
    const tg_block *b = n->u.block;
    tg_block_parts p = { .name = b->name, .span = n->span, .niters = b->niters, .nreads = b->nreads, .nwrites = b->nwrites,
                         .nallocs = b->nallocs, .nmatches = b->nmatches, .annotations = b->annotations };
    uint32_t k = 0;
    p.iter = TG_ARRAY(cx, struct tg_iter_part, b->niters);
    for (uint32_t i = 0; i < b->niters; ++i, k += 3)
        p.iter[i] = (struct tg_iter_part){ b->iter[i].var, b->iter[i].kind, n->kid[k], n->kid[k + 1], n->kid[k + 2] };
    p.predicate = n->kid[k++];
    p.read = TG_ARRAY(cx, tg_region, b->nreads);
    for (uint32_t i = 0; i < b->nreads; ++i)
        p.read[i] = take_region(cx, n, &k, b->read[i]);
    p.write = TG_ARRAY(cx, tg_region, b->nwrites);
    for (uint32_t i = 0; i < b->nwrites; ++i)
        p.write[i] = take_region(cx, n, &k, b->write[i]);
    p.match = TG_ARRAY(cx, struct tg_match_part, b->nmatches);
    for (uint32_t i = 0; i < b->nmatches; ++i)
        p.match[i] = (struct tg_match_part){ b->match[i].view, take_region(cx, n, &k, b->match[i].source) };
    p.alloc = tg_copy(cx, b->alloc, b->nallocs * sizeof b->alloc[0]);
    p.init = b->has_init ? n->kid[k++] : NULL;
    p.body = n->kid[k++];
    TG_CHECK(cx, k == n->nkids, n);
    return p;
}

/* ---- regions ---- */

typedef struct access { const tg_buffer *buf; const tg_node *const *index; bool write; } access;
typedef struct scan {
    TG_VEC(access) found;
    TG_VEC(const tg_var *) bound;           /* variables that change while the block runs */
    TG_VEC(const tg_buffer *) inner;        /* buffers that live inside */
} scan;

static bool collect(tg_ctx *cx, const tg_node *n, void *user)
{
    scan *s = user;
    switch (n->kind) {
    case TG_LOAD: TG_PUSH(cx, s->found, ((access){ n->u.buf, n->kid, false })); break;
    case TG_STORE: TG_PUSH(cx, s->found, ((access){ n->u.buf, n->kid + 1, true })); break;
    case TG_FOR: TG_PUSH(cx, s->bound, n->u.loop->var); break;
    case TG_LET:
    case TG_LET_STMT: TG_PUSH(cx, s->bound, n->u.var); break;
    case TG_DECL_BUFFER: TG_PUSH(cx, s->inner, n->u.buf); break;
    case TG_BLOCK:
        for (uint32_t i = 0; i < n->u.block->niters; ++i)
            TG_PUSH(cx, s->bound, n->u.block->iter[i].var);
        for (uint32_t i = 0; i < n->u.block->nallocs; ++i)
            TG_PUSH(cx, s->inner, n->u.block->alloc[i]);
        break;
    default: break;
    }
    return true;
}

static bool index_is_plain(tg_ctx *cx, const scan *s, const tg_node *index)
{
    for (size_t i = 0; i < s->bound.n; ++i)
        if (tg_uses_var(cx, index, s->bound.at[i]))
            return false;
    return tg_dtype_of(index).lanes == 1;
}

/* The region of all accesses to @p buf in one direction: one element where every index agrees, else the whole dimension. */
static tg_region region_of(tg_ctx *cx, const scan *s, const tg_buffer *buf, bool write)
{
    const tg_node **min = TG_ARRAY(cx, const tg_node *, buf->ndim), **extent = TG_ARRAY(cx, const tg_node *, buf->ndim);
    for (uint32_t d = 0; d < buf->ndim; ++d) {
        const tg_node *one = NULL;
        bool plain = true;
        for (size_t i = 0; plain && i < s->found.n; ++i) {
            const access *a = &s->found.at[i];
            if (a->buf != buf || a->write != write)
                continue;
            plain = one == NULL ? index_is_plain(cx, s, a->index[d]) : one == a->index[d] || tg_node_equal(cx, one, a->index[d]);
            one = a->index[d];
        }
        DLDataType t = tg_dtype_of(buf->shape[d]);
        min[d] = plain ? one : tg_int(cx, t, 0);
        extent[d] = plain ? tg_int(cx, tg_dtype_of(one), 1) : buf->shape[d];
    }
    return (tg_region){ buf, min, extent };
}

static bool has_buffer(const tg_region *r, uint32_t n, const tg_buffer *b)
{
    for (uint32_t i = 0; i < n; ++i)
        if (r[i].buf == b)
            return true;
    return false;
}

static bool is_inner(const scan *s, const tg_block_parts *p, const tg_buffer *b)
{
    for (size_t i = 0; i < s->inner.n; ++i)
        if (s->inner.at[i] == b)
            return true;
    for (uint32_t i = 0; i < p->nallocs; ++i)
        if (p->alloc[i] == b)
            return true;
    return false;
}

void tg_infer_regions(tg_ctx *cx, tg_block_parts *p)
{
    scan s = { 0 };
    if (p->init != NULL)
        tg_visit(cx, p->init, collect, &s);
    tg_visit(cx, p->body, collect, &s);
    tg_region *read = TG_ARRAY(cx, tg_region, s.found.n), *write = TG_ARRAY(cx, tg_region, s.found.n);
    p->nreads = p->nwrites = 0;
    for (size_t i = 0; i < s.found.n; ++i) {
        const access *a = &s.found.at[i];
        if (a->write && !is_inner(&s, p, a->buf) && !has_buffer(write, p->nwrites, a->buf))
            write[p->nwrites++] = region_of(cx, &s, a->buf, true);
    }
    for (size_t i = 0; i < s.found.n; ++i) {
        const access *a = &s.found.at[i];
        bool own = p->init != NULL && has_buffer(write, p->nwrites, a->buf);    /* the accumulator reads itself */
        if (!a->write && !own && !is_inner(&s, p, a->buf) && !has_buffer(read, p->nreads, a->buf))
            read[p->nreads++] = region_of(cx, &s, a->buf, false);
    }
    p->read = read;
    p->write = write;
}
