/* build.c: one block of a lowered operator: its axes, what it stores, the loops around it; values and indices for the rules. */
#include "builder.h"

#include <string.h>

enum { MAX_AXES = 3 * TG_MAX_NDIM, MAX_LETS = 64, MAX_LOCALS = 16 };

struct tg_block_build {
    tg_lower *lo;
    const tg_name *name;
    uint32_t naxes, nlets, nlocals;
    struct {
        const tg_var *loop, *iter;
        enum tg_iter_kind kind;
        int64_t extent;
    } axis[MAX_AXES];
    struct {
        const tg_var *var;
        const tg_node *value;
    } let[MAX_LETS];
    const tg_buffer *local[MAX_LOCALS];
    const tg_node *init;
    const tg_value *annotations;
};

const tg_name *tg_name_once(tg_ctx *cx, tg_map *names, const char *hint)
{
    const tg_name *base = tg_intern_z(cx, hint), *name = base;
    uintptr_t n = (uintptr_t)tg_map_get(names, TG_KEY(base));
    while (tg_map_get(names, TG_KEY(name)) != NULL) name = tg_internf(cx, "%s_%u", hint, (unsigned)n++);
    tg_map_put(cx, names, TG_KEY(base), (void *)(n > 0 ? n : 1));
    if (name != base) tg_map_put(cx, names, TG_KEY(name), (void *)(uintptr_t)1);
    return name;
}

tg_block_build *tg_begin(tg_lower *lo, const char *name)
{
    tg_block_build *b = TG_NEW(lo->cx, tg_block_build);
    b->lo = lo;
    b->name = tg_name_once(lo->cx, &lo->prim->block_names, name != NULL ? name : lo->prim->op);
    return b;
}

static const tg_node *add_axis(tg_block_build *b, const char *hint, int64_t extent, enum tg_iter_kind kind)
{
    tg_ctx *cx = b->lo->cx;
    const tg_type *type = tg_prim(cx, b->lo->index);
    TG_CHECK(cx, b->naxes < MAX_AXES, b->lo->call);
    b->axis[b->naxes].loop = tg_var_new(cx, tg_intern_z(cx, hint), type);
    b->axis[b->naxes].iter = tg_var_new(cx, tg_internf(cx, "v_%s", hint), type);
    b->axis[b->naxes].kind = kind;
    b->axis[b->naxes].extent = extent;
    return tg_var_ref(cx, b->axis[b->naxes++].iter);
}

const tg_node *tg_spatial(tg_block_build *b, const char *hint, int64_t extent)
{
    return add_axis(b, hint, extent, TG_ITER_SPATIAL);
}

const tg_node *tg_reduce(tg_block_build *b, const char *hint, int64_t extent)
{
    return add_axis(b, hint, extent, TG_ITER_REDUCE);
}

void tg_begin_init(tg_block_build *b, const tg_node *value)
{
    b->init = value;
}

void tg_block_annotate(tg_block_build *b, const char *key, const tg_value *v)
{
    b->annotations = tg_v_with(b->lo->cx, b->annotations, key, v);
}

const tg_buffer *tg_block_local(tg_block_build *b, const char *hint, DLDataType d, int64_t extent)
{
    tg_lower *lo = b->lo;
    TG_CHECK(lo->cx, b->nlocals < MAX_LOCALS, lo->call);
    const tg_name *name = tg_name_once(lo->cx, &lo->prim->buffer_names, hint);
    return b->local[b->nlocals++] = tg_buffer_new(lo->cx, name, d, 1, &extent, lo->index);
}

const tg_node *tg_block_let(tg_block_build *b, const char *hint, const tg_node *value)
{
    tg_ctx *cx = b->lo->cx;
    if (value->kind == TG_INT || value->kind == TG_FLOAT || value->kind == TG_VAR) return value;
    TG_CHECK(cx, b->nlets < MAX_LETS, b->lo->call);
    const tg_var *v = tg_var_new(cx, tg_intern_z(cx, hint), value->type);
    b->let[b->nlets].var = v;
    b->let[b->nlets++].value = value;
    return tg_var_ref(cx, v);
}

/* A reduction over nothing never reaches its init: the block stores the start value instead. */
static bool reduces_nothing(const tg_block_build *b)
{
    for (uint32_t i = 0; i < b->naxes; ++i)
        if (b->axis[i].kind == TG_ITER_REDUCE && b->axis[i].extent == 0) return true;
    return false;
}

static void drop_reduce_axes(tg_block_build *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->naxes; ++i)
        if (b->axis[i].kind != TG_ITER_REDUCE) b->axis[n++] = b->axis[i];
    b->naxes = n;
}

/* The block and its loops, appended to the function. */
static void finish(tg_block_build *b, const tg_node *init, const tg_node *body)
{
    tg_ctx *cx = b->lo->cx;
    tg_block_parts p = { .name = b->name,
                         .span = b->lo->call->span,
                         .niters = b->naxes,
                         .init = init,
                         .body = body,
                         .annotations = b->annotations,
                         .nallocs = b->nlocals,
                         .alloc = b->local };
    p.iter = TG_ARRAY(cx, struct tg_iter_part, b->naxes);
    const tg_node *zero = tg_int(cx, b->lo->index, 0);
    for (uint32_t i = 0; i < b->naxes; ++i)
        p.iter[i] =
            (struct tg_iter_part){ b->axis[i].iter, b->axis[i].kind, zero, tg_int(cx, b->lo->index, b->axis[i].extent),
                                   tg_var_ref(cx, b->axis[i].loop) };
    tg_infer_regions(cx, &p);
    const tg_node *s = tg_block_new(cx, &p);
    for (uint32_t i = b->naxes; i-- > 0;)
        s = tg_for(cx, TG_FOR_SERIAL, b->axis[i].loop, zero, tg_int(cx, b->lo->index, b->axis[i].extent), s);
    TG_PUSH(cx, b->lo->prim->stmt, s);
}

void tg_end_at(tg_block_build *b, const tg_buffer *out, const tg_node *value, uint32_t n, const tg_node *const *index)
{
    tg_ctx *cx = b->lo->cx;
    const tg_node *init = b->init != NULL ? tg_store(cx, out, b->init, n, index) : NULL;
    if (init != NULL && reduces_nothing(b)) {
        drop_reduce_axes(b);
        finish(b, NULL, init);
        return;
    }
    const tg_node *body = tg_store(cx, out, value, n, index);
    for (uint32_t i = b->nlets; i-- > 0;) body = tg_let_stmt(cx, b->let[i].var, b->let[i].value, body);
    finish(b, init, body);
}

void tg_end_body(tg_block_build *b, const tg_node *body)
{
    finish(b, NULL, body);
}

/* ---- over a whole buffer ---- */

int64_t tg_extent(const tg_buffer *b, uint32_t axis)
{
    return b->shape[axis]->u.i;
}

const char *tg_axis_letter(uint32_t i)
{
    static const char *const letter[TG_MAX_NDIM] = { "i", "j", "k", "m", "n", "p", "q", "r",
                                                     "s", "t", "u", "v", "w", "x", "y", "z" };
    return letter[i < TG_MAX_NDIM ? i : TG_MAX_NDIM - 1];
}

tg_block_build *tg_begin_over(tg_lower *lo, const char *name, const tg_buffer *out, tg_at *at)
{
    tg_block_build *b = tg_begin(lo, name);
    at->n = 0;
    for (uint32_t k = 0; k < out->ndim; ++k) tg_at_push(at, tg_spatial(b, tg_axis_letter(k), tg_extent(out, k)));
    return b;
}

/* ---- values ---- */

DLDataType tg_compute_dtype(DLDataType d)
{
    return tg_is_float(d) && d.bits < 32 ? TG_FLOAT32 : d;
}

tg_expr tg_read(tg_lower *lo, const tg_buffer *b, const tg_at *at)
{
    return tg_to(lo->cx, tg_compute_dtype(b->dtype), tg_load(lo->cx, b, at->n, at->ix));
}

tg_expr tg_in_raw(tg_lower *lo, uint32_t k, const tg_at *at)
{
    return lo->imm[k] != NULL ? lo->imm[k] : tg_load(lo->cx, lo->in[k], at->n, at->ix);
}

tg_expr tg_in(tg_lower *lo, uint32_t k, const tg_at *at)
{
    return tg_to(lo->cx, tg_compute_dtype(lo->in[k]->dtype), tg_in_raw(lo, k, at));
}

tg_expr tg_in0(tg_lower *lo, uint32_t k)
{
    tg_at at = { 0 };
    for (uint32_t i = 0; i < lo->in[k]->ndim; ++i) tg_at_push(&at, tg_ix(lo, 0));
    return tg_in(lo, k, &at);
}

tg_expr tg_in_bcast(tg_lower *lo, uint32_t k, const tg_at *at)
{
    const tg_buffer *b = lo->in[k];
    tg_at from = { 0 };
    for (uint32_t i = 0; i < b->ndim; ++i)
        tg_at_push(&from, tg_extent(b, i) == 1 ? tg_ix(lo, 0) : at->ix[at->n - b->ndim + i]);
    return tg_in(lo, k, &from);
}

void tg_put(tg_block_build *b, const tg_buffer *out, tg_expr value, const tg_at *at)
{
    tg_ctx *cx = b->lo->cx;
    if (b->init != NULL) b->init = tg_to(cx, out->dtype, b->init);
    tg_end_at(b, out, tg_to(cx, out->dtype, value), at->n, at->ix);
}

const tg_buffer *tg_temp_of(tg_lower *lo, const char *hint, DLDataType d, uint32_t ndim, const int64_t *dim)
{
    return tg_lower_temp(lo, hint, tg_tensor_type(lo->cx, d, ndim, dim, 0));
}

const tg_buffer *tg_accumulator(tg_lower *lo, const char *hint, const tg_buffer *out)
{
    DLDataType d = tg_compute_dtype(out->dtype);
    int64_t dim[TG_MAX_NDIM];
    if (tg_dtype_eq(d, out->dtype)) return out;
    tg_buffer_dims(out, dim);
    return tg_temp_of(lo, hint, d, out->ndim, dim);
}

void tg_round_into(tg_lower *lo, const tg_buffer *acc, const tg_buffer *out)
{
    if (acc != out) tg_copy_block(lo, "cast", acc, out);
}

bool tg_copy_block(tg_lower *lo, const char *name, const tg_buffer *from, const tg_buffer *to)
{
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, name, to, &at);
    tg_put(b, to, tg_load(lo->cx, from, at.n, at.ix), &at);
    return true;
}

bool tg_fill_block(tg_lower *lo, const char *name, const tg_buffer *to, tg_expr value)
{
    tg_at at;
    tg_block_build *b = tg_begin_over(lo, name, to, &at);
    tg_put(b, to, value, &at);
    return true;
}

tg_expr tg_get(tg_lower *lo, const tg_buffer *b, int64_t at)
{
    tg_at i = { 1, { tg_ix(lo, at) } };
    return tg_read(lo, b, &i);
}

tg_expr tg_position(tg_lower *lo, tg_expr value)
{
    DLDataType d = tg_dtype_of(value);
    bool wide = d.bits > 32 || (d.bits == 32 && d.code == kDLUInt);
    return tg_to(lo->cx, wide ? TG_INT64 : TG_INT32, value);
}

tg_expr tg_index(tg_lower *lo, tg_expr position)
{
    return tg_to(lo->cx, lo->index, position);
}
