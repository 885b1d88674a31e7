/* tvmscript_heads.c: what names a value or memory for the rest of a suite: lets, allocations, buffers, threads, attributes,
 * asserts; in a with statement or standing alone. Formats: tvmscript-tir.md sections 5 and 8. */
#include "tvmscript_elab.h"

/* ---- names that statements define ---- */

const tg_name *tg_el_target(tg_elab *e, const tg_syn *target)
{
    if (target != NULL && target->kind == TG_SYN_NAME)
        return target->u.name;
    if (target != NULL)
        tg_el_error(e, target, "expected a single name");
    return NULL;
}

/* After an error in its definition a name stays silent. */
void tg_el_bind_failed(tg_elab *e, const tg_syn *target)
{
    if (target == NULL)
        return;
    if (target->kind == TG_SYN_NAME)
        tg_el_bind(e, target->u.name, (tg_val){ .kind = TG_VAL_ERROR, .at = target });
    else if (target->kind == TG_SYN_TUPLE || target->kind == TG_SYN_LIST)
        for (TG_EACH_KID(name, target))
            if (name->kind == TG_SYN_NAME)
                tg_el_bind(e, name->u.name, (tg_val){ .kind = TG_VAL_ERROR, .at = name });
}

tg_var *tg_el_new_var(tg_elab *e, const tg_syn *target, const tg_type *type)
{
    tg_var *v = tg_var_new(e->cx, target->u.name, type);
    v->span = tg_el_span(e, target);
    return v;
}

void tg_el_bind_var(tg_elab *e, const tg_syn *target, const tg_var *var)
{
    tg_el_bind(e, target->u.name,
               tg_el_of_expr(target, tg_node_new(e->cx, TG_VAR, tg_el_span(e, target), var->type, var, 0, NULL)));
}

/* ---- lets ---- */

void tg_el_let(tg_elab *e, const tg_syn *target, const tg_var *existing, const tg_type *type, const tg_val *value)
{
    const tg_node *x =
        type != NULL && type->kind == TG_T_PRIM ? tg_el_expr_as(e, value, type->dtype) : tg_el_expr(e, value);
    if (x == NULL || (existing == NULL && tg_el_target(e, target) == NULL)) {
        tg_el_bind_failed(e, target);
        return;
    }
    if (type != NULL && type->kind == TG_T_PTR && !tg_el_is_handle(x->type)) {
        tg_el_error(e, value->at, "a pointer is let to something that is none");
        tg_el_bind_failed(e, target);
        return;
    }
    const tg_var *var = existing != NULL ? existing : tg_el_new_var(e, target, type != NULL ? type : x->type);
    tg_el_open(e, tg_el_span(e, value->at), TG_LET_STMT, var, 1, &x);
    if (existing == NULL)
        tg_el_bind_var(e, target, var);
}

/* with T.LetStmt(value) as x, T.LetStmt(value, type) as x, T.LetStmt(value, var=x); T.let(x, value) of 0.8 */
static void let_form(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_val *slot[3];
    bool old = form->w.word->id == TG_W_LET_NAME;
    if (!tg_el_args(e, form, old ? "var value" : "value | type/type_annotation var", slot)) {
        tg_el_bind_failed(e, target);
        return;
    }
    const tg_val *var = old ? slot[0] : slot[2], *value = old ? slot[1] : slot[0];
    if (var == NULL) {
        const tg_type *type = slot[1] != NULL ? tg_el_result_type(e, slot[1]) : NULL;
        if (target == NULL)
            tg_el_error(e, form->at, "%s needs a name: with … as x", form->name->text);
        else if (slot[1] == NULL || type != NULL)
            tg_el_let(e, target, NULL, type, value);
        return;
    }
    const tg_node *x = tg_el_expr(e, var);
    if (x != NULL && x->kind != TG_VAR)
        tg_el_error(e, var->at, "expected a variable");
    else if (x != NULL)
        tg_el_let(e, target, x->u.var, x->type, value);
}

/* ---- memory ---- */

static const tg_node **extents(tg_elab *e, const tg_val *v, uint32_t *n)
{
    const tg_val *item;
    *n = tg_el_list(v, &item);
    const tg_node **x = TG_TEMP_ARRAY(e->cx, const tg_node *, *n + 1);
    for (uint32_t k = 0; k < *n; ++k)
        if ((x[k] = tg_el_index(e, &item[k])) == NULL)
            return NULL;
    if (*n > TG_MAX_NDIM)
        tg_el_error(e, v->at, "%u dimensions: at most %d are supported", (unsigned)*n, (int)TG_MAX_NDIM);
    return *n > TG_MAX_NDIM ? NULL : x;
}

static void allocate(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared)
{
    const tg_val *slot[5];
    tg_alloc_info *info = TG_NEW(e->cx, tg_alloc_info);
    uint32_t n;
    info->scope = e->global;
    if (!tg_el_args(e, form, "extents dtype | scope condition annotations", slot) ||
        !tg_el_dtype(e, slot[1], &info->dtype) ||
        (slot[2] != NULL && (info->scope = tg_el_str(e, slot[2], "scope")) == NULL) ||
        (slot[4] != NULL && (info->annotations = tg_el_attr_dict(e, slot[4])) == NULL))
        return;
    if (slot[3] != NULL && !tg_el_is_true(e, slot[3])) {
        tg_el_error(e, slot[3]->at, "allocations with a condition are not supported");
        return;
    }
    const tg_node **extent = extents(e, slot[0], &n);
    if (extent == NULL || tg_el_target(e, target) == NULL)
        return;
    if (declared == NULL)
        declared = tg_ptr(e->cx, info->dtype, info->scope);
    info->var = tg_el_new_var(e, target, declared);
    tg_el_open(e, tg_el_span(e, form->at), TG_ALLOCATE, info, n, extent);
    tg_el_bind_var(e, target, info->var);
}

static bool const_extents(tg_elab *e, const tg_val *v, int64_t *extent, uint32_t *n, int64_t *total)
{
    const tg_val *item;
    *n = tg_el_list(v, &item);
    *total = 1;
    if (*n > TG_MAX_NDIM) {
        tg_el_error(e, v->at, "%u dimensions: at most %d are supported", (unsigned)*n, (int)TG_MAX_NDIM);
        return false;
    }
    for (uint32_t k = 0; k < *n; ++k) {
        if (!tg_el_int(e, &item[k], "an extent", &extent[k]))
            return false;
        if (extent[k] < 0 || (extent[k] > 0 && *total > TG_MAX_ELEMENTS / extent[k])) {
            tg_el_error(e, item[k].at, "a constant of these extents is not possible");
            return false;
        }
        *total *= extent[k];
    }
    return true;
}

/* A value of the list as it was printed: float16 as its bits. */
static bool set_element(tg_elab *e, tg_tensor *t, int64_t i, const tg_val *v)
{
    DLDataType d = t->type->dtype;
    const tg_node *x;
    if (tg_is_float(d) && d.bits == 16 && v->kind == TG_VAL_INT) {
        int64_t bits;
        if (!tg_el_int(e, v, "a value", &bits))
            return false;
        ((uint16_t *)t->dl.data)[i] = (uint16_t)bits;
        return true;
    }
    if (tg_el_is_number(v))
        x = tg_el_literal(e, v, d);
    else
        x = tg_el_expr_as(e, v, d);
    if (x == NULL)
        return false;
    if (x->kind == TG_FLOAT)
        tg_tensor_set_f64(t, i, x->u.f);
    else if (x->kind == TG_INT)
        tg_tensor_set_i64(t, i, x->u.i);
    else
        tg_el_error(e, v->at, "the values of a constant are numbers");
    return x->kind == TG_FLOAT || x->kind == TG_INT;
}

/* The list is complete, or the printer cut it: then nothing is guessed, and the number of lost values is kept. */
static bool const_data(tg_elab *e, const tg_val *v, const tg_type *type, int64_t total, tg_alloc_info *info)
{
    if (v->kind == TG_VAL_VALUE && v->u.value->kind == TG_V_TENSOR) {
        info->tensor = v->u.value->t;
        if (info->tensor->type->dtype.code == type->dtype.code && info->tensor->type->dtype.bits == type->dtype.bits
            && tg_type_same_shape(info->tensor->type, type))
            return true;
        tg_el_error(e, v->at, "the constant is %s, declared as %s", tg_type_text(e->cx, info->tensor->type),
                    tg_type_text(e->cx, type));
        return false;
    }
    if (v->kind != TG_VAL_LIST) {
        if (v->kind != TG_VAL_ERROR)
            tg_el_error(e, v->at, "expected the values of the constant, not %s", tg_el_what(v));
        return false;
    }
    int64_t n = v->n;
    bool cut = n > 0 && v->u.item[n - 1].kind == TG_VAL_ELLIPSIS;
    n -= cut;
    if (n > total) {
        tg_el_error(e, v->at, "%lld values for %lld elements", (long long)n, (long long)total);
        return false;
    }
    info->missing = total - n;
    if (info->missing > 0 || cut)
        return true;
    tg_tensor *t = tg_tensor_new(e->cx, type, NULL);
    for (int64_t i = 0; i < n; ++i)
        if (!set_element(e, t, i, &v->u.item[i]))
            return false;
    info->tensor = t;
    return true;
}

static void allocate_const(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared)
{
    const tg_val *slot[5];
    tg_alloc_info *info = TG_NEW(e->cx, tg_alloc_info);
    int64_t *extent = TG_ARRAY(e->cx, int64_t, TG_MAX_NDIM), total;
    if (!tg_el_args(e, form, "data dtype extents | annotations missing", slot) ||
        !tg_el_dtype(e, slot[1], &info->dtype) || !const_extents(e, slot[2], extent, &info->ndim, &total) ||
        (slot[3] != NULL && (info->annotations = tg_el_attr_dict(e, slot[3])) == NULL) ||
        tg_el_target(e, target) == NULL)
        return;
    info->extent = extent;
    info->scope = e->global;
    if (!const_data(e, slot[0], tg_tensor_type(e->cx, info->dtype, info->ndim, extent, 0), total, info))
        return;
    if (slot[4] != NULL && !tg_el_int(e, slot[4], "missing", &info->missing))
        return;
    info->var = tg_el_new_var(e, target, declared != NULL ? declared : tg_ptr(e->cx, info->dtype, info->scope));
    tg_el_open(e, tg_el_span(e, form->at), TG_ALLOC_CONST, info, 0, NULL);
    tg_el_bind_var(e, target, info->var);
}

/* ---- buffers ---- */

static void bind_buffer(tg_elab *e, const tg_syn *target, const tg_buffer *b)
{
    if (b != NULL)
        tg_el_bind(e, target->u.name, tg_el_of_buffer(target, b));
    else
        tg_el_bind_failed(e, target);
}

/* Without data= the printer has merged the allocation with its buffer. */
static void declare_buffer(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_buffer *b = tg_el_buffer(e, form, target->u.name, NULL, NULL);
    if (b != NULL && tg_el_buffer_data(e, form) == NULL) {
        tg_alloc_info *info = TG_NEW(e->cx, tg_alloc_info);
        *info = (tg_alloc_info){ .var = b->data, .dtype = b->dtype, .scope = b->scope };
        tg_el_open(e, b->span, TG_ALLOCATE, info, b->ndim, b->shape);
    }
    if (b != NULL)
        tg_el_open(e, b->span, TG_DECL_BUFFER, b, 0, NULL);
    bind_buffer(e, target, b);
}

static void alloc_buffer(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    if (e->tirx && form->w.word->arg == 0) {            /* from 0.24 on a statement of its own */
        declare_buffer(e, target, form);
        return;
    }
    const tg_buffer *b = tg_el_buffer(e, form, target->u.name, NULL, NULL);
    if (b != NULL)
        TG_PUSH(e->cx, e->block->allocs, b);
    bind_buffer(e, target, b);
}

static tg_el_param *param_of(tg_elab *e, const tg_node *x)
{
    for (size_t i = 0; x != NULL && x->kind == TG_VAR && i < e->params.n; ++i)
        if (e->params.at[i].var == x->u.var)
            return &e->params.at[i];
    return NULL;
}

/* A parameter's pointer takes the type of what is matched, unless the signature has said more. */
static const tg_buffer *match_param(tg_elab *e, const tg_syn *target, const tg_val *form, tg_el_param *p)
{
    const tg_buffer *b = tg_el_buffer(e, form, target->u.name, p->var, NULL);
    if (b == NULL)
        return NULL;
    if (!p->typed)
        p->var->type = tg_ptr(e->cx, b->dtype, b->scope);
    p->buf = b;
    tg_val v = tg_el_of_expr(form->at, tg_var_ref(e->cx, p->var));
    tg_el_bind(e, p->name, v);
    return b;
}

static void match_buffer(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_buffer *b = NULL;
    const tg_val *of = form->n > 0 ? &form->u.item[0] : NULL;
    if (of == NULL) {
        tg_el_error(e, form->at, "match_buffer matches a pointer or a region");
    } else if (of->kind == TG_VAL_ACCESS || of->kind == TG_VAL_BUFFER) {
        tg_region r;
        if (e->block == NULL || e->block->root) {
            tg_el_error(e, form->at, "a region is matched in a block");
        } else if (tg_el_region(e, of, &r)) {
            b = tg_el_buffer(e, form, target->u.name, NULL, r.buf);
            if (b != NULL)
                TG_PUSH(e->cx, e->block->matches, ((struct tg_match_part){ b, r }));
        }
    } else {
        const tg_node *x = tg_el_expr(e, of);
        tg_el_param *p = param_of(e, x);
        if (p != NULL && p->buf == NULL) {
            b = match_param(e, target, form, p);
        } else if (x != NULL && x->kind == TG_VAR && x->type->kind == TG_T_PTR) {
            b = tg_el_buffer(e, form, target->u.name, x->u.var, NULL);      /* a further view of the pointer */
            if (b != NULL)
                tg_el_open(e, b->span, TG_DECL_BUFFER, b, 0, NULL);
        } else if (x != NULL) {
            tg_el_error(e, of->at, "match_buffer matches a pointer or a region");
        }
    }
    bind_buffer(e, target, b);
}

/* ---- threads: a launched axis is a loop around the rest ---- */

static void launch_thread(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_val *slot[2];
    if (!tg_el_args(e, form, "thread extent", slot))
        return;
    const tg_node *extent = tg_el_index(e, slot[1]);
    const tg_name *thread = NULL;
    const tg_var *var = NULL;
    if (slot[0]->kind == TG_VAL_EXPR && slot[0]->u.expr->kind == TG_VAR) {
        var = slot[0]->u.expr->u.var;
        thread = tg_map_get(&e->threads, (uint64_t)var->id + 1);
    } else {
        thread = tg_el_str(e, slot[0], "the thread axis");
    }
    if (extent == NULL || thread == NULL) {
        if (thread == NULL && slot[0]->kind == TG_VAL_EXPR)
            tg_el_error(e, slot[0]->at, "expected a thread axis");
        return;
    }
    tg_loop *loop = TG_NEW(e->cx, tg_loop);
    *loop = (tg_loop){ .var = var, .kind = TG_FOR_THREAD, .thread = thread };
    if (var == NULL)
        loop->var = target != NULL ? tg_el_new_var(e, target, extent->type) : tg_var_new(e->cx, thread, extent->type);
    extent = tg_el_cast(e, extent, loop->var->type->dtype);
    tg_el_open(e, tg_el_span(e, form->at), TG_FOR, loop, 2,
               (const tg_node *[]){ tg_int(e->cx, tg_dtype_of(extent), 0), extent });
    if (target != NULL)
        tg_el_bind_var(e, target, loop->var);
}

static void env_thread(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_val *slot[2];
    DLDataType d = TG_INT32;
    const tg_name *thread;
    if (!tg_el_args(e, form, "thread | dtype", slot) || (thread = tg_el_str(e, slot[0], "the thread axis")) == NULL
        || (slot[1] != NULL && !tg_el_dtype(e, slot[1], &d)))
        return;
    const tg_var *var = tg_el_new_var(e, target, tg_prim(e->cx, d));
    tg_map_put(e->cx, &e->threads, (uint64_t)var->id + 1, (void *)(uintptr_t)thread);
    tg_el_bind_var(e, target, var);
}

/* ---- x: T.int32 = e from 0.25 on: memory of one element, which x reads and x = … writes ---- */

void tg_el_scalar_buffer(tg_elab *e, const tg_syn *s, DLDataType d)
{
    const tg_syn *target = tg_syn_first(s);
    if (tg_el_target(e, target) == NULL)
        return;
    tg_val value = { .kind = TG_VAL_NONE }, access = { .kind = TG_VAL_ACCESS, .at = target, .n = 1, .sticky = true };
    if (s->nkids > 2)
        value = tg_el_value(e, s->last);
    tg_buffer *b = tg_buffer_new(e->cx, target->u.name, d, 1, &(int64_t){ 1 }, TG_INT32);
    tg_alloc_info *info = TG_NEW(e->cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = b->data, .dtype = d, .scope = b->scope };
    tg_el_open(e, tg_el_span(e, s), TG_ALLOCATE, info, 1, b->shape);
    tg_el_open(e, tg_el_span(e, s), TG_DECL_BUFFER, b, 0, NULL);
    tg_val *zero = tg_temp(e->cx, sizeof *zero);
    *zero = (tg_val){ .kind = TG_VAL_INT, .at = target };
    access.u.item = zero;
    access.w.buf = b;
    if (s->nkids > 2 && value.kind != TG_VAL_ERROR)
        tg_el_push(e, tg_el_store(e, s, &access, &value));
    tg_el_bind(e, target->u.name, access);
}

bool tg_el_scalar_store(tg_elab *e, const tg_syn *s, const tg_name *name, const tg_val *value)
{
    const tg_el_cell *c = tg_map_get(&e->names, TG_KEY(name));
    if (c == NULL || !c->bound || !c->val.sticky)
        return false;
    tg_val access = c->val;
    access.at = s;
    tg_el_push(e, tg_el_store(e, s, &access, value));
    return true;
}

/* ---- heads without a name ---- */

static void attribute(tg_elab *e, const tg_syn *at, const tg_val *node, const tg_name *key, const tg_val *value)
{
    tg_attr_stmt *attr = TG_NEW(e->cx, tg_attr_stmt);
    attr->key = key;
    const tg_node *kid[2] = { NULL, tg_el_expr(e, value) };
    if (node->kind == TG_VAL_BUFFER)
        kid[0] = tg_var_ref(e->cx, node->w.buf->data);
    else if (node->kind == TG_VAL_FORM)                 /* an iter var or a target: nothing of it is needed here */
        kid[0] = tg_int(e->cx, TG_INT32, 0);
    else
        kid[0] = tg_el_expr(e, node);
    if (key != NULL && kid[0] != NULL && kid[1] != NULL)
        tg_el_open(e, tg_el_span(e, at), TG_ATTR, attr, 2, kid);
}

/* T.attr(node, "key", value); T.attr({"key": value}) of 0.25, where the node would be 0. */
static void attribute_form(tg_elab *e, const tg_val *form)
{
    const tg_val *slot[3], *dict = form->u.item;
    tg_val zero = { .kind = TG_VAL_INT, .at = form->at };
    if (form->n == 1 && dict->kind == TG_VAL_DICT) {
        for (uint32_t i = 0; i < dict->n; i += 2)
            attribute(e, form->at, &zero, tg_el_str(e, &dict->u.item[i], "the key of an attribute"), &dict->u.item[i + 1]);
    } else if (tg_el_args(e, form, "node key/attr_key value", slot)) {
        attribute(e, form->at, slot[0], tg_el_str(e, slot[1], "the key of an attribute"), slot[2]);
    }
}

/* The message is a string; 0.24 writes ("RuntimeError", ["part", "part"]). */
static const tg_name *message(tg_elab *e, const tg_val *v)
{
    if (v == NULL)
        return tg_intern_z(e->cx, "");
    if (v->kind != TG_VAL_TUPLE || v->n != 2)
        return tg_el_str(e, v, "the message of an assert");
    tg_text t = tg_text_new(e->cx);
    const tg_val *part;
    uint32_t n = tg_el_list(&v->u.item[1], &part);
    for (uint32_t i = 0; i < n; ++i) {
        const tg_name *s = tg_el_str(e, &part[i], "a part of the message");
        if (s == NULL)
            return NULL;
        tg_putn(&t, s->text, s->len);
    }
    return tg_intern(e->cx, tg_text_z(&t), t.n);
}

void tg_el_assert(tg_elab *e, const tg_syn *at, const tg_val *cond, const tg_val *text)
{
    const tg_node *c = tg_el_cond(e, cond);
    const tg_name *s = message(e, text);
    if (c != NULL && s != NULL)
        tg_el_open(e, tg_el_span(e, at), TG_ASSERT, NULL, 2, (const tg_node *[]){ c, tg_str(e->cx, s) });
}

/* ---- forms ---- */

static bool is_buffer_form(enum tg_word_id id)
{
    return id == TG_W_BUFFER || id == TG_W_DECL_BUFFER || id == TG_W_ALLOC_BUFFER || id == TG_W_MATCH_BUFFER;
}

/* Buffers are declared under a name. T.Buffer in a body is a view that the lowered code uses without declaring it. */
static void buffer_form(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    if (tg_el_target(e, target) == NULL)
        return;
    switch (form->w.word->id) {
    case TG_W_ALLOC_BUFFER: alloc_buffer(e, target, form); break;
    case TG_W_MATCH_BUFFER: match_buffer(e, target, form); break;
    case TG_W_BUFFER:
        if (tg_el_buffer_data(e, form) == NULL) {
            if (!e->bad)
                tg_el_error(e, form->at, "a buffer in a body needs data=");
            tg_el_bind_failed(e, target);
            break;
        }
        declare_buffer(e, target, form);
        break;
    default: declare_buffer(e, target, form); break;
    }
}

bool tg_el_open_form(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared)
{
    const tg_val *slot[2];
    enum tg_word_id id = form->w.word->id;
    bool named = is_buffer_form(id) || id == TG_W_ALLOCATE || id == TG_W_ALLOCATE_CONST;
    if (named && target == NULL) {
        tg_el_error(e, form->at, "%s needs a name", form->name->text);
        return true;
    }
    if (target != NULL && target->kind == TG_SYN_NAME)
        tg_el_bind_failed(e, target);         /* unless what follows binds it */
    if (is_buffer_form(id)) {
        buffer_form(e, target, form);
        return true;
    }
    switch (id) {
    case TG_W_ALLOCATE: allocate(e, target, form, declared); return true;
    case TG_W_ALLOCATE_CONST: allocate_const(e, target, form, declared); return true;
    case TG_W_LET_STMT: case TG_W_LET_NAME: let_form(e, target, form); return true;
    case TG_W_LAUNCH_THREAD: launch_thread(e, target, form); return true;
    case TG_W_ATTR: attribute_form(e, form); return true;
    case TG_W_ASSERT:
        if (tg_el_args(e, form, "condition message", slot))
            tg_el_assert(e, form->at, slot[0], slot[1]);
        return true;
    default: return false;
    }
}

void tg_el_assign_form(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared)
{
    enum tg_word_id id = form->w.word->id;
    if (id == TG_W_AXIS || id == TG_W_REMAP) {
        tg_el_bind_failed(e, target);
        tg_el_axis(e, target, form);
    } else if (id == TG_W_ENV_THREAD && tg_el_target(e, target) != NULL) {
        tg_el_bind_failed(e, target);
        env_thread(e, target, form);
    } else if (id == TG_W_PREFLATTENED) {
        tg_el_bind_failed(e, target);
    } else if (!tg_el_open_form(e, target, form, declared)) {
        tg_el_error(e, form->at, "%s does not stand right of '='", form->name->text);
        tg_el_bind_failed(e, target);
    }
}
