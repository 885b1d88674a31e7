/* lower.c: a fused Relay function to a PrimFunc: parameters, one group of blocks an operator, the root block around them. */
#include "builder.h"

#include <string.h>

/* What a Relay variable stands for: the buffers of its tensors, tuples flattened. */
typedef struct slot {
    uint32_t n;
    const tg_buffer **buf;
    const tg_node **imm; /* the value of a scalar constant, else NULL */
} slot;

typedef struct lowering {
    tg_ctx *cx;
    const tg_func *relay;
    DLDataType index;
    struct tg_prim_builder prim;
    tg_map slots; /* variable -> slot */
    TG_VEC(const tg_buffer *) params;
    TG_VEC(const tg_buffer *) results;
    TG_VEC(const tg_alloc_info *) consts;
    TG_VEC(const tg_buffer *) const_buffers;
    tg_text ops;
    const char *layout;
} lowering;

/* ---- slots ---- */

static uint32_t count_tensors(const tg_type *t)
{
    if (t->kind != TG_T_TUPLE) return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; ++i) n += count_tensors(t->field[i]);
    return n;
}

static slot *new_slot(tg_ctx *cx, uint32_t n)
{
    slot *s = TG_NEW(cx, slot);
    s->n = n;
    s->buf = TG_ARRAY(cx, const tg_buffer *, n);
    s->imm = TG_ARRAY(cx, const tg_node *, n);
    return s;
}

static const tg_buffer *new_buffer(lowering *lw, const char *hint, const tg_type *t)
{
    const tg_name *name = tg_name_once(lw->cx, &lw->prim.buffer_names, hint);
    return tg_buffer_new(lw->cx, name, t->dtype, t->n, t->dim, lw->index);
}

/* Buffers for every tensor in @p t, named hint (or hint_0, hint_1 … of a tuple). */
static bool fill_slot(lowering *lw, slot *s, uint32_t *at, const char *hint, const tg_type *t, tg_span span)
{
    if (t->kind == TG_T_TENSOR) {
        int64_t elements;
        if (t->n > TG_MAX_NDIM || !tg_type_elements(t, &elements)) {
            tg_error(lw->cx, span, "%s has an extent that is not known or too large", hint);
            return false;
        }
        s->buf[(*at)++] = new_buffer(lw, hint, t);
        return true;
    }
    if (t->kind != TG_T_TUPLE) {
        tg_error(lw->cx, span, "%s is neither a tensor nor a tuple of tensors", hint);
        return false;
    }
    for (uint32_t i = 0; i < t->n; ++i)
        if (!fill_slot(lw, s, at, tg_format(lw->cx, "%s_%u", hint, i), t->field[i], span)) return false;
    return true;
}

static slot *typed_slot(lowering *lw, const char *hint, const tg_type *t, tg_span span)
{
    uint32_t at = 0;
    if (t == NULL) {
        tg_error(lw->cx, span, "%s has no type", hint);
        return NULL;
    }
    slot *s = new_slot(lw->cx, count_tensors(t));
    return fill_slot(lw, s, &at, hint, t, span) ? s : NULL;
}

/* ---- constants inside ---- */

static const tg_node *scalar_value(tg_ctx *cx, const tg_tensor *t)
{
    DLDataType d = t->dl.dtype;
    return tg_is_float(d) ? tg_float(cx, d, tg_tensor_f64(t, 0)) : tg_int(cx, d, tg_tensor_i64(t, 0));
}

/* A tensor constant that the function holds itself: allocated and filled around the root block's body. */
static const tg_buffer *constant_buffer(lowering *lw, const tg_tensor *t)
{
    tg_ctx *cx = lw->cx;
    const tg_buffer *b = new_buffer(lw, t->label != NULL ? t->label->text : "constant", t->type);
    tg_alloc_info *a = TG_NEW(cx, tg_alloc_info);
    a->var = b->data;
    a->dtype = b->dtype;
    a->scope = b->scope;
    a->tensor = t;
    a->ndim = t->type->n;
    a->extent = t->type->dim;
    TG_PUSH(cx, lw->consts, a);
    TG_PUSH(cx, lw->const_buffers, b);
    return b;
}

static slot *constant_slot(lowering *lw, const tg_tensor *t)
{
    slot *s = new_slot(lw->cx, 1);
    if (t->type->n == 0) {
        s->imm[0] = scalar_value(lw->cx, t);
        s->buf[0] = tg_buffer_new(lw->cx, tg_intern_z(lw->cx, "scalar"), t->dl.dtype, 0, NULL, lw->index);
    } else {
        s->buf[0] = constant_buffer(lw, t);
    }
    return s;
}

static slot *slot_of(lowering *lw, const tg_node *n)
{
    slot *s = NULL;
    if (n->kind == TG_RVAR) s = tg_map_get(&lw->slots, n->u.var->id + 1);
    else if (n->kind == TG_RCONST) s = constant_slot(lw, n->u.tensor);
    if (s == NULL)
        tg_error(lw->cx, n->span, "%s: %s is not a tensor that a primitive function can use", lw->relay->name->text,
                 tg_operand_text(lw->cx, n));
    return s;
}

/* ---- expressions ---- */

static slot *join_slots(lowering *lw, const tg_node *n, uint32_t from)
{
    uint32_t total = 0;
    slot **part = TG_ARRAY(lw->cx, slot *, n->nkids);
    for (uint32_t i = from; i < n->nkids; ++i) {
        if ((part[i] = slot_of(lw, n->kid[i])) == NULL) return NULL;
        total += part[i]->n;
    }
    slot *s = new_slot(lw->cx, total);
    uint32_t at = 0;
    for (uint32_t i = from; i < n->nkids; ++i) {
        for (uint32_t k = 0; k < part[i]->n; ++k, ++at) {
            s->buf[at] = part[i]->buf[k];
            s->imm[at] = part[i]->imm[k];
        }
    }
    return s;
}

static slot *project(lowering *lw, const tg_node *get)
{
    slot *all = slot_of(lw, get->kid[0]);
    const tg_type *t = get->kid[0]->type;
    if (all == NULL) return NULL;
    TG_CHECK(lw->cx, t != NULL && t->kind == TG_T_TUPLE && get->u.i >= 0 && get->u.i < (int64_t)t->n, get);
    uint32_t first = 0;
    for (int64_t i = 0; i < get->u.i; ++i) first += count_tensors(t->field[i]);
    slot *s = new_slot(lw->cx, count_tensors(t->field[get->u.i]));
    memcpy(s->buf, all->buf + first, s->n * sizeof s->buf[0]);
    memcpy(s->imm, all->imm + first, s->n * sizeof s->imm[0]);
    return s;
}

static void note_operator(lowering *lw, const tg_op *op, const tg_node *call)
{
    static const char *const keys[] = { "data_layout", "layout" };
    if (lw->ops.n > 0) tg_puts(&lw->ops, ", ");
    tg_puts(&lw->ops, op->name);
    for (size_t k = 0; lw->layout == NULL && k < TG_COUNT(keys); ++k)
        for (uint32_t i = 0; i < op->nattrs; ++i)
            if (tg_name_is(op->attr[i].name, keys[k])) lw->layout = tg_attr_str(lw->cx, op, call, keys[k]);
}

static slot *lower_call(lowering *lw, const tg_node *call)
{
    tg_ctx *cx = lw->cx;
    const tg_op *op = call->u.call->op != NULL ? tg_op_find(cx, call->u.call->op) : NULL;
    if (op == NULL || op->lower == NULL) {
        tg_error(cx, call->span, "%s cannot be lowered",
                 call->u.call->op != NULL ? call->u.call->op->text : "this call");
        return NULL;
    }
    lw->prim.op = tg_op_short(op->name);
    slot *in = join_slots(lw, call, 0), *out = typed_slot(lw, lw->prim.op, call->type, call->span);
    if (in == NULL || out == NULL) return NULL;
    for (uint32_t i = 0; i < out->n; ++i) TG_PUSH(cx, lw->prim.alloc, out->buf[i]);
    tg_lower lo = { .cx = cx,
                    .call = call,
                    .index = lw->index,
                    .nin = in->n,
                    .nout = out->n,
                    .in = in->buf,
                    .imm = in->imm,
                    .out = out->buf,
                    .prim = &lw->prim };
    note_operator(lw, op, call);
    return op->lower(&lo, op, call) ? out : NULL;
}

static slot *lower_value(lowering *lw, const tg_node *n)
{
    switch (n->kind) {
    case TG_RCALL: return lower_call(lw, n);
    case TG_RTUPLE: return join_slots(lw, n, 0);
    case TG_RGET: return project(lw, n);
    default: return slot_of(lw, n);
    }
}

/* ---- results ---- */

static bool in_list(const tg_buffer *const *list, size_t n, const tg_buffer *b)
{
    for (size_t i = 0; i < n; ++i)
        if (list[i] == b) return true;
    return false;
}

/* A value that some operator made becomes the output itself; anything else is copied into one. */
static void make_result(lowering *lw, const tg_buffer *b, const tg_node *imm)
{
    tg_ctx *cx = lw->cx;
    bool made = imm == NULL && in_list(lw->prim.alloc.at, lw->prim.alloc.n, b);
    if (made && !in_list(lw->results.at, lw->results.n, b)) {
        TG_PUSH(cx, lw->results, b);
        return;
    }
    int64_t dim[TG_MAX_NDIM];
    tg_buffer_dims(b, dim);
    lw->prim.op = "copy";
    const tg_buffer *out = new_buffer(lw, "copy", tg_tensor_type(cx, b->dtype, b->ndim, dim, 0));
    tg_lower lo = { .cx = cx, .call = lw->relay->body, .index = lw->index, .prim = &lw->prim };
    if (imm != NULL) tg_fill_block(&lo, NULL, out, imm);
    else tg_copy_block(&lo, NULL, b, out);
    TG_PUSH(cx, lw->results, out);
}

/* ---- the function ---- */

static const tg_node *root_block(lowering *lw)
{
    tg_ctx *cx = lw->cx;
    const tg_buffer **alloc = TG_ARRAY(cx, const tg_buffer *, lw->prim.alloc.n);
    uint32_t nallocs = 0;
    for (size_t i = 0; i < lw->prim.alloc.n; ++i)
        if (!in_list(lw->results.at, lw->results.n, lw->prim.alloc.at[i])) alloc[nallocs++] = lw->prim.alloc.at[i];
    const tg_node *body = tg_seq(cx, (uint32_t)lw->prim.stmt.n, lw->prim.stmt.at);
    for (size_t i = lw->consts.n; i-- > 0;) {
        body = tg_node_new(cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, lw->const_buffers.at[i], 1, &body);
        body = tg_node_new(cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, lw->consts.at[i], 1, &body);
    }
    tg_block_parts p = {
        .name = tg_intern_z(cx, "root"), .span = lw->relay->span, .nallocs = nallocs, .alloc = alloc, .body = body
    };
    return tg_block_new(cx, &p);
}

static tg_func *make_func(lowering *lw)
{
    tg_ctx *cx = lw->cx;
    size_t n = lw->params.n + lw->results.n;
    const tg_buffer **buffer = TG_ARRAY(cx, const tg_buffer *, n);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, n);
    for (size_t i = 0; i < n; ++i) {
        buffer[i] = i < lw->params.n ? lw->params.at[i] : lw->results.at[i - lw->params.n];
        param[i] = buffer[i]->data;
    }
    const tg_value *attrs = tg_v_with(cx, NULL, "tir.noalias", tg_v_bool(cx, true));
    attrs = tg_v_with(cx, attrs, "tirgen.ops", tg_v_strz(cx, tg_text_z(&lw->ops)));
    if (lw->layout != NULL && lw->layout[0] != '\0')
        attrs = tg_v_with(cx, attrs, "tirgen.layout", tg_v_strz(cx, lw->layout));
    tg_func *f = TG_NEW(cx, tg_func);
    *f = (tg_func){ .name = lw->relay->name,
                    .kind = TG_FUNC_PRIM,
                    .span = lw->relay->span,
                    .nparams = (uint32_t)n,
                    .param = param,
                    .buffer = buffer,
                    .ret = tg_void(cx),
                    .attrs = attrs,
                    .body = root_block(lw) };
    return f;
}

static bool lower_params(lowering *lw)
{
    const tg_func *f = lw->relay;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        slot *s = typed_slot(lw, f->param[i]->name->text, f->param[i]->type, f->param[i]->span);
        if (s == NULL) return false;
        for (uint32_t k = 0; k < s->n; ++k) TG_PUSH(lw->cx, lw->params, s->buf[k]);
        tg_map_put(lw->cx, &lw->slots, f->param[i]->id + 1, s);
    }
    return true;
}

static tg_func *lower_with(tg_ctx *cx, const tg_func *relay, DLDataType index, bool *too_wide)
{
    lowering lw = { .cx = cx, .relay = relay, .index = index, .ops = tg_text_new(cx) };
    const tg_node *body = relay->body;
    if (!lower_params(&lw)) return NULL;
    for (uint32_t i = 0; i + 1 < body->nkids; ++i) {
        slot *s = lower_value(&lw, body->kid[i]->kid[0]);
        if (s == NULL) return NULL;
        tg_map_put(cx, &lw.slots, body->kid[i]->u.var->id + 1, s);
    }
    slot *result = lower_value(&lw, body->kid[body->nkids - 1]);
    if (result == NULL) return NULL;
    for (uint32_t i = 0; i < result->n; ++i) make_result(&lw, result->buf[i], result->imm[i]);
    *too_wide = lw.prim.too_wide;
    return make_func(&lw);
}

/* Tensors of 2^31 elements or more, or with such an extent, need 64-bit indices. */
static bool is_wide(const tg_type *t)
{
    int64_t n;
    if (t == NULL) return false;
    for (uint32_t i = 0; t->kind == TG_T_TENSOR && i < t->n; ++i)
        if (t->dim[i] > INT32_MAX) return true;
    if (t->kind == TG_T_TUPLE) {
        for (uint32_t i = 0; i < t->n; ++i)
            if (is_wide(t->field[i])) return true;
        return false;
    }
    return t->kind == TG_T_TENSOR && (!tg_type_elements(t, &n) || n > INT32_MAX);
}

static bool needs_wide_index(const tg_func *f)
{
    for (uint32_t i = 0; i < f->nparams; ++i)
        if (is_wide(f->param[i]->type)) return true;
    for (uint32_t i = 0; i + 1 < f->body->nkids; ++i)
        if (is_wide(f->body->kid[i]->kid[0]->type)) return true;
    return false;
}

tg_func *tg_lower_primitive(tg_ctx *cx, const tg_func *relay)
{
    bool wide = needs_wide_index(relay), too_wide = false;
    tg_func *f = lower_with(cx, relay, wide ? TG_INT64 : TG_INT32, &too_wide);
    if (f != NULL && too_wide && !wide) /* a padded temporary passed the limit */
        f = lower_with(cx, relay, TG_INT64, &too_wide);
    return f;
}

/* ---- for the rules ---- */

const tg_buffer *tg_lower_temp(tg_lower *lo, const char *hint, const tg_type *type)
{
    tg_ctx *cx = lo->cx;
    int64_t n;
    if (!tg_type_elements(type, &n))
        tg_fail(cx, TIRGEN_ELIMIT, lo->call->span, "%s: the temporary %s is too large", lo->call->u.call->op->text,
                tg_type_text(cx, type));
    if (is_wide(type)) lo->prim->too_wide = true;
    const tg_buffer *b =
        tg_buffer_new(cx, tg_name_once(cx, &lo->prim->buffer_names, hint), type->dtype, type->n, type->dim, lo->index);
    TG_PUSH(cx, lo->prim->alloc, b);
    return b;
}

void tg_lower_wide(tg_lower *lo)
{
    lo->prim->too_wide = true;
}

const tg_node *tg_ix(tg_lower *lo, int64_t v)
{
    return tg_int(lo->cx, lo->index, v);
}
