/* compile_mem.c: buffers as views of memory; loads, stores and addresses.
 *
 * A view is checked once, where it is declared: all its elements lie in one allocation. An access then needs its
 * indices checked against the extents, and only where their ranges do not already prove it. */
#include "compile.h"

#include <string.h>

/* ---- memory of the function ---- */

uint32_t tg_region_new(tg_comp *c, size_t size_bytes, const void *fixed)
{
    if (c->nregions == c->cregions) {
        size_t cap = c->cregions == 0 ? 16 : 2 * c->cregions;
        tg_region_mem *to = TG_TEMP_ARRAY(c->cx, tg_region_mem, cap);
        if (c->nregions > 0)
            memcpy(to, c->region, c->nregions * sizeof *to);
        c->region = to;
        c->cregions = cap;
    }
    uint32_t reg = tg_build_param(&c->b);
    c->region[c->nregions++] = (tg_region_mem){ c->prog->memory_bytes, size_bytes, fixed, reg };
    if (fixed == NULL)
        c->prog->memory_bytes += (size_bytes + 127) / 64 * 64;      /* aligned, and a gap behind each */
    return reg;
}

static tg_val grown_memory(tg_comp *c, const tg_node *at, const char *what, uint32_t bytes, int pattern)
{
    tg_grow *g = tg_temp(c->cx, sizeof *g);
    *g = (tg_grow){ c->prog->ngrow++, tg_trap_new(c, at, what, 0) };
    uint32_t reg = tg_build_reg(&c->b);
    tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_ALLOC, .x = (uint16_t)pattern, .a = reg, .b = bytes, .k.p = g });
    return tg_scalar(reg);
}

tg_val tg_allocate(tg_comp *c, const tg_node *at, const char *what, uint32_t elements, int64_t unit, int pattern)
{
    uint32_t bytes = tg_build_op(&c->b, TG_OP_MUL_SIZE, elements, tg_build_int(&c->b, unit), 0, 0);
    int64_t size;
    if (!tg_build_is_const(&c->b, bytes, &size))
        return grown_memory(c, at, what, bytes, pattern);
    if (size > TG_EVAL_MAX_BYTES || c->prog->memory_bytes > (size_t)TG_EVAL_MAX_BYTES) {
        tg_comp_error(c, at->span, "%s needs %lld bytes, more than can be evaluated", what, (long long)size);
        return tg_scalar(bytes);
    }
    tg_pointee *p = tg_temp(c->cx, sizeof *p);
    *p = (tg_pointee){ 0, size, NULL, false };
    uint32_t reg = tg_region_new(c, (size_t)size, NULL);
    tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_FILL, .x = (uint16_t)pattern, .a = reg, .k.i = size });
    return (tg_val){ 1, reg, NULL, p };
}

/* ---- declaring a view ---- */

/* Variables that stand alone in a matched view are what the source has there. */
static void unify(tg_comp *c, const tg_decl *d, const tg_node *expr, uint32_t reg)
{
    if (expr->kind != TG_VAR)
        return;
    const tg_bound *b = tg_lookup(c, expr->u.var);
    if (b == NULL || b->owner == d->buf)
        tg_bind(c, expr->u.var, tg_scalar(reg), d->buf);
}

static void unify_match(tg_comp *c, const tg_decl *d)
{
    const tg_view *w = d->source;
    uint32_t lead = w->buf->ndim - d->buf->ndim;
    for (uint32_t k = 0; k < d->buf->ndim; ++k) {
        unify(c, d, d->buf->shape[k], d->region_extent[lead + k]);
        if (d->buf->strides != NULL)
            unify(c, d, d->buf->strides[k], w->stride[lead + k]);
    }
    if (d->buf->elem_offset != NULL)
        unify(c, d, d->buf->elem_offset, tg_build_op(&c->b, TG_OP_ADD, w->offset, d->source_offset, 0, 0));
    const tg_bound *data = tg_lookup(c, w->buf->data);
    if (data != NULL && d->buf->data != w->buf->data)
        tg_bind(c, d->buf->data, data->v, d->buf);
}

static void check_size(tg_comp *c, const tg_decl *d, uint32_t reg, int64_t lo, int64_t hi, uint32_t dim)
{
    if (c->b.info[reg].lo >= lo && c->b.info[reg].hi <= hi)
        return;
    uint32_t at = tg_build_op(&c->b, TG_OP_SUB, reg, tg_build_int(&c->b, lo), 0, 0);
    tg_build_check(&c->b, (tg_ins){ .op = TG_OP_CHECK_RANGE, .a = at, .b = tg_build_int(&c->b, hi - lo),
        .k.p = tg_trap_new(c, NULL, tg_format(c->cx, "the shape of %s", d->buf->name->text), dim) });
}

/* Where the view's elements begin and end, in elements from its data pointer or its source's region. */
static void view_ends(tg_comp *c, const tg_view *w, uint32_t offset, uint32_t *from, uint32_t *to)
{
    tg_build *b = &c->b;
    uint32_t zero = tg_build_int(b, 0), one = tg_build_int(b, 1), down = zero, up = one, count = one;
    for (uint32_t k = 0; k < w->buf->ndim; ++k) {
        uint32_t steps = tg_build_op(b, TG_OP_MAX, tg_build_op(b, TG_OP_SUB, w->shape[k], one, 0, 0), zero, 0, 0);
        uint32_t plus = tg_build_op(b, TG_OP_MAX, w->stride[k], zero, 0, 0);
        uint32_t minus = tg_build_op(b, TG_OP_MAX, tg_build_op(b, TG_OP_SUB, zero, w->stride[k], 0, 0), zero, 0, 0);
        up = tg_build_op(b, TG_OP_ADD, up, tg_build_op(b, TG_OP_MUL_SIZE, steps, plus, 0, 0), 0, 0);
        down = tg_build_op(b, TG_OP_ADD, down, tg_build_op(b, TG_OP_MUL_SIZE, steps, minus, 0, 0), 0, 0);
        count = tg_build_op(b, TG_OP_MUL_SIZE, count, w->shape[k], 0, 0);
    }
    uint32_t some = tg_build_op(b, TG_OP_IS_NONZERO, count, 0, 0, 0);       /* an empty view needs no memory */
    *from = tg_build_op(b, TG_OP_SELECT, some, tg_build_op(b, TG_OP_SUB, offset, down, 0, 0), offset, 0);
    *to = tg_build_op(b, TG_OP_SELECT, some, tg_build_op(b, TG_OP_ADD, offset, up, 0, 0), offset, 0);
}

static void check_view(tg_comp *c, const tg_decl *d, tg_view *w, uint32_t data, uint32_t offset)
{
    int64_t unit = (int64_t)tg_dtype_bytes(w->buf->dtype), lo, hi;
    uint32_t from, to, zero = tg_build_int(&c->b, 0);
    view_ends(c, w, offset, &from, &to);
    from = tg_build_op(&c->b, TG_OP_MUL_ADD, zero, from, 0, unit);
    to = tg_build_op(&c->b, TG_OP_MUL_ADD, zero, to, 0, unit);
    bool known = tg_build_is_const(&c->b, from, &lo);
    known = tg_build_is_const(&c->b, to, &hi) && known;
    if (known && lo == hi)
        return;
    if (known && d->param != NULL && lo >= 0) {
        d->param->size_bytes = d->param->known->after = hi;     /* the caller answers for it */
        return;
    }
    if (known && w->ptr != NULL && w->ptr->after >= 0 && lo >= -w->ptr->before && hi <= w->ptr->after)
        return;
    w->check = tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_CHECK_MEMORY, .a = data, .b = from, .c = to,
        .k.p = tg_trap_new(c, NULL, w->buf->name->text, 0) });
}

static void check_param_shape(tg_comp *c, const tg_decl *d, const tg_view *w)
{
    for (uint32_t k = 0; k < w->buf->ndim; ++k) {
        if (w->shape[k] == d->param->dim[k] || w->buf->shape[k]->kind == TG_INT)
            continue;
        tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_CHECK_EQUAL, .x = 1, .a = w->shape[k], .b = d->param->dim[k],
            .k.p = tg_trap_new(c, w->buf->shape[k], w->buf->name->text, k) });
    }
}

static const uint32_t *copy_regs(tg_comp *c, uint32_t n, const tg_val *v)
{
    uint32_t *r = TG_TEMP_ARRAY(c->cx, uint32_t, n);
    for (uint32_t k = 0; k < n; ++k)
        r[k] = v[k].reg;
    return r;
}

static const uint32_t *row_major(tg_comp *c, uint32_t n, const uint32_t *shape)
{
    uint32_t *r = TG_TEMP_ARRAY(c->cx, uint32_t, n), step = tg_build_int(&c->b, 1);
    for (uint32_t k = n; k-- > 0;) {
        r[k] = step;
        step = tg_build_op(&c->b, TG_OP_MUL_SIZE, step, shape[k], 0, 0);
    }
    return r;
}

static void view_new(tg_comp *c, const tg_decl *d, const tg_val *shape, const tg_val *stride, uint32_t offset)
{
    const tg_buffer *b = d->buf;
    tg_view *w = tg_temp(c->cx, sizeof *w);
    *w =
        (tg_view){ .buf = b, .offset = offset, .unit_bytes = (uint32_t)((b->dtype.bits + 7) / 8), .scope = c->b.scope };
    w->shape = copy_regs(c, b->ndim, shape);
    for (uint32_t k = 0; k < b->ndim; ++k)
        check_size(c, d, w->shape[k], 0, TG_MAX_ELEMENTS, k);
    w->stride = stride != NULL ? copy_regs(c, b->ndim, stride) : row_major(c, b->ndim, w->shape);
    for (uint32_t k = 0; k < b->ndim && stride != NULL; ++k)
        check_size(c, d, w->stride[k], -TG_MAX_ELEMENTS, TG_MAX_ELEMENTS, k);
    if (d->param != NULL)
        check_param_shape(c, d, w);
    int64_t unit = (int64_t)tg_dtype_bytes(b->dtype);
    if (d->source != NULL) {
        w->ptr = d->source->ptr;
        w->check = d->source->check;    /* the region was checked: nothing new is reached */
        w->base = tg_build_op(&c->b, TG_OP_MUL_ADD, d->source->base, d->source_offset, 0, unit);
    } else {
        const tg_val data = tg_lookup(c, b->data)->v;
        check_size(c, d, offset, 0, TG_MAX_ELEMENTS, 0);
        w->ptr = data.ptr;
        w->base = tg_build_op(&c->b, TG_OP_MUL_ADD, data.reg, offset, 0, unit);
        check_view(c, d, w, data.reg, offset);
    }
    tg_dict_put(c->cx, &c->view, (uint64_t)b->id + 1, w);
}

/* A matched view must be compact or say its strides; either way it reaches nothing outside the region. */
static bool match_fits(tg_comp *c, const tg_decl *d)
{
    const tg_buffer *from = d->source->buf;
    if (d->buf->ndim > from->ndim || !tg_dtype_eq(d->buf->dtype, from->dtype)) {
        tg_comp_error(c, d->span, "%s cannot be a view of %s: rank or dtype differ", d->buf->name->text,
                      from->name->text);
        return false;
    }
    return true;
}

static void check_match(tg_comp *c, const tg_decl *d, const tg_val *shape, const tg_val *stride)
{
    const tg_view *w = d->source;
    uint32_t lead = w->buf->ndim - d->buf->ndim, one = tg_build_int(&c->b, 1);
    for (uint32_t k = 0; k < w->buf->ndim; ++k) {
        uint32_t want = k < lead ? one : shape[k - lead].reg;
        if (want != d->region_extent[k])
            tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_CHECK_EQUAL, .a = d->region_extent[k], .b = want,
                .k.p = tg_trap_new(c, NULL, d->buf->name->text, k) });
    }
    const uint32_t *step = NULL;
    if (stride == NULL) {
        uint32_t *extent = TG_TEMP_ARRAY(c->cx, uint32_t, d->buf->ndim);
        for (uint32_t k = 0; k < d->buf->ndim; ++k)
            extent[k] = shape[k].reg;
        step = row_major(c, d->buf->ndim, extent);
    }
    for (uint32_t k = 0; k < d->buf->ndim; ++k) {
        int64_t extent;
        uint32_t mine = stride != NULL ? stride[k].reg : step[k];
        if (mine == w->stride[lead + k] || (tg_build_is_const(&c->b, shape[k].reg, &extent) && extent <= 1))
            continue;
        tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_CHECK_EQUAL, .a = w->stride[lead + k], .b = mine,
            .k.p = tg_trap_new(c, NULL, tg_format(c->cx, "the strides of %s", d->buf->name->text), k) });
    }
}

void tg_step_decl(tg_comp *c, tg_task *t)
{
    const tg_decl *d = t->decl;
    const tg_buffer *b = d->buf;
    bool strided = b->strides != NULL, offset = b->elem_offset != NULL && d->source == NULL;
    if (t->stage == 0) {
        if (!tg_dtype_runs(c, d->span, b->dtype) || (d->source != NULL && !match_fits(c, d)))
            return;
        if (d->source != NULL)
            unify_match(c, d);
        if (tg_lookup(c, b->data) == NULL && d->source == NULL) {
            tg_comp_error(c, d->span, "buffer %s has no memory here", b->name->text);
            return;
        }
        uint32_t n = 0;
        const tg_node **list = TG_TEMP_ARRAY(c->cx, const tg_node *, 2 * b->ndim + 1);
        for (uint32_t k = 0; k < b->ndim; ++k)
            list[n++] = b->shape[k];
        for (uint32_t k = 0; k < b->ndim && strided; ++k)
            list[n++] = b->strides[k];
        if (offset)
            list[n++] = b->elem_offset;
        t->list = list;
        t->nlist = n;
    }
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, t->nlist), *stride = strided && b->ndim > 0 ? v + b->ndim : NULL;
    uint32_t at = offset ? v[t->nlist - 1].reg : tg_build_int(&c->b, 0);
    if (d->source != NULL) {
        check_match(c, d, v, stride);
        at = tg_build_op(&c->b, TG_OP_ADD, d->source->offset, d->source_offset, 0, 0);
    }
    view_new(c, d, v, stride, at);
    tg_done(c);
}

const tg_view *tg_find_view(tg_comp *c, const tg_buffer *b, tg_span at)
{
    const tg_view *w = tg_dict_get(&c->view, (uint64_t)b->id + 1);
    if (w != NULL && w->scope->open)
        return w;
    tg_decl *d = tg_temp(c->cx, sizeof *d);
    *d = (tg_decl){ .buf = b, .span = at };
    tg_declare(c, d);
    return NULL;
}

/* ---- addresses ---- */

enum { MAX_TERMS = 40, MAX_SPLITS = 64 };

/* An offset as constant + sum of register times factor; factors and sums modulo 2^64. */
typedef struct sum { uint64_t constant; uint32_t n; struct term { uint32_t reg; uint64_t by; } term[MAX_TERMS]; } sum;

static void add_term(const tg_build *b, sum *s, uint32_t reg, uint64_t by)
{
    if (b->info[reg].constant) {
        s->constant += b->value[reg].u * by;
        return;
    }
    for (uint32_t i = 0; i < s->n; ++i) {
        if (s->term[i].reg == reg) {
            s->term[i].by += by;
            return;
        }
    }
    s->term[s->n++] = (struct term){ reg, by };
}

/* Can @p reg be taken apart so that a part is fixed in a loop further out, or constant? */
static bool splits(const tg_build *b, uint32_t reg)
{
    const tg_item *def = b->info[reg].def;
    if (def == NULL)
        return false;
    uint32_t level = b->info[reg].level;
    switch (def->ins.op) {
    case TG_OP_ADD: case TG_OP_SUB: case TG_OP_MUL_ADD:
        return b->info[def->ins.b].constant || b->info[def->ins.c].constant || b->info[def->ins.b].level < level ||
               b->info[def->ins.c].level < level;
    case TG_OP_MUL:
        return b->info[def->ins.c].constant;
    default:
        return false;
    }
}

static void split(const tg_build *b, const tg_ins *in, uint64_t by, sum *s)
{
    switch (in->op) {
    case TG_OP_ADD:
        add_term(b, s, in->b, by);
        add_term(b, s, in->c, by);
        break;
    case TG_OP_SUB:
        add_term(b, s, in->b, by);
        add_term(b, s, in->c, 0 - by);
        break;
    case TG_OP_MUL_ADD:
        add_term(b, s, in->b, by);
        add_term(b, s, in->c, by * (uint64_t)in->k.i);
        break;
    default:
        add_term(b, s, in->b, by * b->value[in->c].u);
    }
}

static void split_all(const tg_build *b, sum *s)
{
    int budget = MAX_SPLITS;
    for (uint32_t i = 0; i < s->n;) {
        struct term t = s->term[i];
        if (s->n + 1 >= MAX_TERMS || budget == 0 || !splits(b, t.reg)) {
            ++i;
            continue;
        }
        --budget;
        s->term[i] = s->term[--s->n];
        split(b, &b->info[t.reg].def->ins, t.by, s);
    }
}

/* Terms that change least often come first, so that their sums leave the inner loops. */
static void sort_terms(const tg_build *b, sum *s)
{
    for (uint32_t i = 1; i < s->n; ++i) {
        struct term t = s->term[i];
        uint32_t k = i, level = b->info[t.reg].level;
        for (; k > 0; --k) {
            uint32_t before = b->info[s->term[k - 1].reg].level;
            if (before < level || (before == level && s->term[k - 1].reg <= t.reg))
                break;
            s->term[k] = s->term[k - 1];
        }
        s->term[k] = t;
    }
}

static uint32_t sum_reg(tg_build *b, const sum *s)
{
    uint32_t acc = tg_build_int(b, 0);
    for (uint32_t i = 0; i < s->n; ++i) {
        int64_t by;
        memcpy(&by, &s->term[i].by, sizeof by);
        acc = i == 0 && by == 1 ? s->term[i].reg : tg_build_op(b, TG_OP_MUL_ADD, acc, s->term[i].reg, 0, by);
    }
    return acc;
}

static void sum_index(tg_comp *c, const tg_view *w, uint32_t n, const uint32_t *index, uint64_t lanes, sum *s)
{
    *s = (sum){ .constant = 0 };
    for (uint32_t k = 0; k < n; ++k) {
        int64_t step;
        if (tg_build_is_const(&c->b, w->stride[k], &step))
            add_term(&c->b, s, index[k], (uint64_t)step * lanes);
        else
            add_term(&c->b, s, tg_build_op(&c->b, TG_OP_MUL, index[k], w->stride[k], 0, 0), lanes);
    }
    split_all(&c->b, s);
    sort_terms(&c->b, s);
}

uint32_t tg_offset_reg(tg_comp *c, const tg_view *w, uint32_t n, const uint32_t *index)
{
    sum s;
    sum_index(c, w, n, index, 1, &s);
    int64_t constant;
    memcpy(&constant, &s.constant, sizeof constant);
    return tg_build_op(&c->b, TG_OP_ADD, sum_reg(&c->b, &s), tg_build_int(&c->b, constant), 0, 0);
}

/* Checks one index of an access; @p over: 1 where the end itself is allowed. */
static void check_index(tg_comp *c, const tg_node *n, const tg_view *w, uint32_t dim, uint32_t index, int64_t over)
{
    const tg_reg_info *i = &c->b.info[index], *extent = &c->b.info[w->shape[dim]];
    if (i->lo >= 0 && i->hi < extent->lo + over)
        return;
    tg_build_check(&c->b, (tg_ins){ .op = over ? TG_OP_CHECK_RANGE : TG_OP_CHECK_INDEX, .a = index, .b = w->shape[dim],
        .k.p = tg_trap_new(c, n, w->buf->name->text, dim) });
}

/* Registers of the indices of index lane @p lane; checked. */
static void lane_index(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index, uint32_t lane, int64_t over,
                       uint32_t *out)
{
    for (uint32_t k = 0; k < w->buf->ndim; ++k) {
        out[k] = tg_lane(&index[k], lane);
        check_index(c, n, w, k, out[k], over);
    }
}

static uint32_t index_lanes(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index)
{
    uint32_t lanes = 1;
    for (uint32_t k = 0; k < w->buf->ndim; ++k) {
        if (index[k].lanes > 1 && lanes > 1 && index[k].lanes != lanes)
            tg_comp_error(c, n->span, "the indices of %s have %u and %u lanes", w->buf->name->text, lanes,
                          index[k].lanes);
        lanes = index[k].lanes > lanes ? index[k].lanes : lanes;
    }
    return lanes;
}

/* ---- loads and stores ---- */

static enum tg_opcode load_op(DLDataType d)
{
    if (tg_is_bool(d))
        return TG_OP_LOAD_BOOL;
    if (d.code == kDLBfloat)
        return TG_OP_LOAD_BF16;
    if (d.code == kDLFloat)
        return d.bits == 16 ? TG_OP_LOAD_F16 : d.bits == 32 ? TG_OP_LOAD_F32 : TG_OP_LOAD_64;
    bool is_signed = d.code == kDLInt;
    switch ((d.bits + 7) / 8) {
    case 1: return is_signed ? TG_OP_LOAD_I8 : TG_OP_LOAD_U8;
    case 2: return is_signed ? TG_OP_LOAD_I16 : TG_OP_LOAD_U16;
    case 4: return is_signed ? TG_OP_LOAD_I32 : TG_OP_LOAD_U32;
    default: return TG_OP_LOAD_64;
    }
}

static enum tg_opcode store_op(DLDataType d)
{
    if (d.code == kDLBfloat)
        return TG_OP_STORE_BF16;
    if (d.code == kDLFloat)
        return d.bits == 16 ? TG_OP_STORE_F16 : d.bits == 32 ? TG_OP_STORE_F32 : TG_OP_STORE_64;
    switch ((d.bits + 7) / 8) {
    case 1: return TG_OP_STORE_8;
    case 2: return TG_OP_STORE_16;
    case 4: return TG_OP_STORE_32;
    default: return TG_OP_STORE_64;
    }
}

/* A loaded integer is in its dtype's range; those narrower than their bytes are brought into it. */
static uint32_t loaded(tg_comp *c, uint32_t reg, DLDataType d)
{
    if (tg_class_of(d) != TG_CLASS_INT || d.bits >= 64)
        return reg;
    if (tg_is_bool(d)) {
        tg_build_range(&c->b, reg, 0, 1);
        return reg;
    }
    int64_t top = ((int64_t)1 << (d.bits - 1)) - 1;
    if (d.bits % 8 != 0)
        return tg_wrap(c, reg, d);
    if (d.code == kDLInt)
        tg_build_range(&c->b, reg, -top - 1, top);
    else
        tg_build_range(&c->b, reg, 0, 2 * top + 1);
    return reg;
}

tg_val tg_load_lanes(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index)
{
    uint32_t inner = w->buf->dtype.lanes, lanes = index_lanes(c, n, w, index), i[TG_MAX_NDIM], one[1] = { 0 };
    uint32_t *regs = lanes * inner > 1 ? TG_TEMP_ARRAY(c->cx, uint32_t, lanes * inner) : one;
    for (uint32_t l = 0; l < lanes; ++l) {
        sum s;
        lane_index(c, n, w, index, l, 0, i);
        sum_index(c, w, w->buf->ndim, i, inner, &s);
        uint32_t offset = sum_reg(&c->b, &s);
        for (uint32_t j = 0; j < inner; ++j) {
            uint32_t r = tg_build_reg(&c->b);
            int64_t constant;
            uint64_t at = s.constant + j;
            memcpy(&constant, &at, sizeof constant);
            tg_build_ins(
                &c->b,
                (tg_ins){ .op = (uint16_t)load_op(w->buf->dtype), .a = r, .b = w->base, .c = offset, .k.i = constant });
            regs[l * inner + j] = loaded(c, r, w->buf->dtype);
        }
    }
    return (tg_val){ lanes * inner, regs[0], lanes * inner > 1 ? regs : NULL, NULL };
}

static bool may_write(tg_comp *c, const tg_node *n, const tg_view *w)
{
    if (w->ptr != NULL && w->ptr->readonly) {
        tg_comp_error(c, n->span, "a store to %s, which is a constant", w->buf->name->text);
        return false;
    }
    if (w->ptr != NULL && w->ptr->param != NULL)
        w->ptr->param->written = true;
    if (w->check != NULL)
        w->check->ins.x = 1;
    return true;
}

void tg_store_lanes(tg_comp *c, const tg_node *n, const tg_view *w, tg_val value, const tg_val *index)
{
    uint32_t inner = w->buf->dtype.lanes, lanes = index_lanes(c, n, w, index), i[TG_MAX_NDIM];
    if (value.lanes != lanes * inner && value.lanes != 1) {
        tg_comp_error(c, n->span, "a store of %u lanes to %u of %s", value.lanes, lanes * inner, w->buf->name->text);
        return;
    }
    if (!may_write(c, n, w))
        return;
    for (uint32_t l = 0; l < lanes; ++l)            /* nothing is written before every lane is known to be good */
        lane_index(c, n, w, index, l, 0, i);
    for (uint32_t l = 0; l < lanes; ++l) {
        sum s;
        for (uint32_t k = 0; k < w->buf->ndim; ++k)
            i[k] = tg_lane(&index[k], l);
        sum_index(c, w, w->buf->ndim, i, inner, &s);
        uint32_t offset = sum_reg(&c->b, &s);
        for (uint32_t j = 0; j < inner; ++j) {
            int64_t constant;
            uint64_t at = s.constant + j;
            memcpy(&constant, &at, sizeof constant);
            tg_build_ins(&c->b, (tg_ins){ .op = (uint16_t)store_op(w->buf->dtype), .a = tg_lane(&value, l * inner + j),
                .b = w->base, .c = offset, .k.i = constant });
        }
    }
}

tg_val tg_address_of(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index)
{
    uint32_t i[TG_MAX_NDIM];
    lane_index(c, n, w, index, 0, 1, i);
    int64_t unit = (int64_t)tg_dtype_bytes(w->buf->dtype), at;
    uint32_t offset = tg_offset_reg(c, w, w->buf->ndim, i);
    uint32_t total = tg_build_op(&c->b, TG_OP_ADD, offset, w->offset, 0, 0);
    tg_pointee *p = tg_temp(c->cx, sizeof *p);
    *p = (tg_pointee){ 0, -1, NULL, false };
    if (w->ptr != NULL) {
        p->param = w->ptr->param;
        p->readonly = w->ptr->readonly;
        if (w->ptr->after >= 0 && tg_build_is_const(&c->b, total, &at) && at >= 0 && at <= w->ptr->after / unit) {
            p->before = w->ptr->before + at * unit;
            p->after = w->ptr->after - at * unit;
        }
    }
    return (tg_val){ 1, tg_build_op(&c->b, TG_OP_MUL_ADD, w->base, offset, 0, unit), NULL, p };
}
