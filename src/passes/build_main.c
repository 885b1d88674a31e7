/* build_main.c: the AOT main, itself a PrimFunc of packed calls (docs/ir.md, section 2).
 * First main_slots.c gives each variable its memory; then allocations, calls, branches and loops are written. */
#include "build_main.h"
#include "main_emit.h"
#include "ops/ops.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <string.h>

/* ---- kernels ---- */

const tg_node *tg_null_handle(tg_ctx *cx)
{
    return tg_call(cx, "reinterpret", tg_prim(cx, TG_HANDLE), 1, (const tg_node *[]){ tg_int(cx, tg_dtype(kDLUInt, 64, 1), 0) });
}

static const tg_node *make_array(tg_main_build *b, tg_slot *s)
{
    tg_ctx *cx = b->cx;
    const tg_type *t = s->type;
    const tg_node *dim[TG_MAX_NDIM];
    tg_slot_root(s)->used = true;
    for (uint32_t k = 0; k < t->n; ++k)
        dim[k] = tg_int(cx, t->dim[k] > INT32_MAX ? TG_INT64 : TG_INT32, t->dim[k]);
    const tg_node *arg[6] = {
        tg_var_ref(cx, tg_slot_root(s)->ptr), tg_call(cx, "tvm_stack_make_shape", NULL, t->n, dim), tg_null_handle(cx),
        tg_int(cx, tg_dtype(kDLUInt, 32, 1), t->n), tg_const(cx, t->dtype, 0), tg_int(cx, TG_INT32, 0)
    };
    return tg_call(cx, "tvm_stack_make_array", NULL, 6, arg);
}

static const tg_node *emit_call(tg_main_build *b, const tg_name *callee, tg_span span, const tg_slots *in, const tg_slots *out)
{
    tg_ctx *cx = b->cx;
    uint32_t n = in->n + out->n + 2, k = 0;
    const tg_node **arg = TG_ARRAY(cx, const tg_node *, n);
    arg[k++] = tg_str(cx, callee);
    for (uint32_t i = 0; i < in->n; ++i)
        arg[k++] = make_array(b, in->at[i]);
    for (uint32_t i = 0; i < out->n; ++i)
        arg[k++] = make_array(b, out->at[i]);
    arg[k++] = tg_null_handle(cx);
    return tg_evaluate(cx, tg_node_at(cx, tg_call(cx, "call_cpacked", NULL, n, arg), span));
}

/* The kernel that copies a tensor of @p type, made when first needed. */
static const tg_func *copy_kernel(tg_main_build *b, const tg_type *type)
{
    tg_ctx *cx = b->cx;
    const tg_name *text = tg_intern_z(cx, tg_type_text(cx, type));
    for (size_t i = 0; i < b->m->funcs.n; ++i) {
        const tg_value *of = tg_v_get(b->m->funcs.at[i]->attrs, "tirgen.copy_of");
        if (of != NULL && of->s == text)
            return b->m->funcs.at[i];
    }
    tg_var *x = tg_var_new(cx, tg_intern_z(cx, "data"), type), *v = tg_var_new(cx, tg_intern_z(cx, ""), type);
    v->numbered = true;
    const tg_node *arg = tg_rvar(cx, x, TG_NOWHERE);
    const tg_node *call = tg_node_with_type(cx, tg_rcall(cx, tg_intern_z(cx, "copy"), NULL, TG_NOWHERE, 1, &arg), type);
    const tg_node *bind = tg_rbind(cx, v, call);
    tg_func f = { .name = tg_intern_z(cx, "copy"), .kind = TG_FUNC_RELAY, .nparams = 1, .ret = type,
                  .param = (const tg_var *const *)tg_copy(cx, &x, sizeof x), .attrs = tg_v_with(cx, NULL, "Primitive", tg_v_int(cx, 1)),
                  .body = tg_rblock(cx, 1, &bind, tg_rvar(cx, v, TG_NOWHERE)) };
    tg_func *p = tg_lower_primitive(cx, &f);
    if (p == NULL)
        return NULL;
    p->name = tg_module_unique(b->m, "fused_copy");
    p->attrs = tg_v_with(cx, p->attrs, "tirgen.copy_of", tg_v_str(cx, text));
    tg_module_add(b->m, p);
    return p;
}

/* ---- single values ---- */

const tg_buffer *tg_slot_view(tg_main_build *b, tg_slot *s, const char *name)
{
    tg_buffer *view = tg_buffer_new(b->cx, tg_intern_z(b->cx, name), s->type->dtype, s->type->n, s->type->dim, TG_INT32);
    view->data = tg_slot_root(s)->ptr;
    tg_slot_root(s)->used = true;
    return view;
}

static const tg_node *immediate(tg_ctx *cx, const tg_tensor *t)
{
    DLDataType d = t->type->dtype;
    return tg_is_float(d) ? tg_float(cx, d, tg_tensor_f64(t, 0)) : tg_int(cx, d, tg_tensor_i64(t, 0));
}

/* A tensor of rank 0 is stored by main itself. */
static const tg_node *copy_scalar(tg_main_build *b, tg_slot *from, tg_slot *to)
{
    tg_ctx *cx = b->cx;
    const tg_buffer *dst = tg_slot_view(b, to, "to");
    if (tg_slot_root(from)->kind == TG_SLOT_CONST)
        return tg_decl_buffer(cx, dst, tg_store(cx, dst, immediate(cx, tg_slot_root(from)->tensor), 0, NULL));
    const tg_buffer *src = tg_slot_view(b, from, "from");
    return tg_decl_buffer(cx, src, tg_decl_buffer(cx, dst, tg_store(cx, dst, tg_load(cx, src, 0, NULL), 0, NULL)));
}

bool tg_emit_copy(tg_main_build *b, tg_slot *from, tg_slot *to, tg_statements *out)
{
    if (tg_slot_root(from) == tg_slot_root(to))
        return true;
    if (to->type->n == 0 && from->type->n == 0) {
        TG_PUSH(b->cx, *out, copy_scalar(b, from, to));
        return true;
    }
    const tg_func *f = copy_kernel(b, to->type);
    if (f == NULL)
        return false;
    tg_slots in = { 1, (tg_slot *[]){ from } }, dst = { 1, (tg_slot *[]){ to } };
    const tg_node *call = emit_call(b, f->name, TG_NOWHERE, &in, &dst);
    TG_PUSH(b->cx, *out, call);
    return true;
}

bool tg_emit_copies(tg_main_build *b, const tg_slots *from, const tg_slots *to, tg_statements *out)
{
    for (uint32_t i = 0; i < from->n; ++i)
        if (!tg_emit_copy(b, from->at[i], to->at[i], out))
            return false;
    return true;
}

/* ---- blocks ---- */

static bool emit_if(tg_main_build *b, const tg_node *v, const tg_slots *to, const tg_loop_site *site, tg_statements *out)
{
    tg_ctx *cx = b->cx;
    const tg_node *branch[2];
    for (int i = 0; i < 2; ++i) {
        tg_statements s = { 0 };
        if (!tg_emit_block(b, v->kid[1 + i], to, site, &s))
            return false;
        branch[i] = tg_seq(cx, (uint32_t)s.n, s.at);
    }
    const tg_buffer *flag = tg_slot_view(b, tg_slots_of(b, v->kid[0])->at[0], "condition");
    const tg_node *body = tg_node_at(cx, tg_if(cx, tg_load(cx, flag, 0, NULL), branch[0], branch[1]), v->span);
    TG_PUSH(cx, *out, tg_decl_buffer(cx, flag, body));
    return true;
}

static bool emit_binding(tg_main_build *b, const tg_node *bind, tg_statements *out)
{
    const tg_node *v = bind->kid[0];
    const tg_slots *s = tg_map_get(&b->scope->value, (uint64_t)bind->u.var->id + 1);
    const tg_loop_site *site = tg_site_of(b, bind->u.var);
    if (site != NULL)
        return tg_emit_loop(b, site, out);
    if (v->kind == TG_RIF)
        return emit_if(b, v, s, NULL, out);
    if (v->kind == TG_RCALL && !tg_is_reshape(b, v)) {
        const tg_node *call = emit_call(b, v->kid[0]->u.name, v->span, tg_slots_concat(b, v->nkids - 1, v->kid + 1), s);
        TG_PUSH(b->cx, *out, call);
    }
    return true;
}

bool tg_emit_block(tg_main_build *b, const tg_node *block, const tg_slots *to, const tg_loop_site *site, tg_statements *out)
{
    const tg_node *tail = tg_tail_binding(site, block);
    for (uint32_t i = 0; i + 1 < block->nkids; ++i)
        if (block->kid[i] != tail && !emit_binding(b, block->kid[i], out))
            return false;
    if (tail != NULL && tail->kid[0]->kind == TG_RIF)
        return emit_if(b, tail->kid[0], to, site, out);
    if (tail != NULL)
        return tg_emit_next_round(b, site, tail->kid[0], out);
    if (!tg_emit_copies(b, tg_slots_of(b, block->kid[block->nkids - 1]), to, out))
        return false;
    if (site != NULL)
        tg_emit_leave(b, site, out);
    return true;
}

/* ---- the function ---- */

static const tg_value *names_of(tg_ctx *cx, uint32_t n, const tg_name *const *name)
{
    const tg_value **v = TG_ARRAY(cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i)
        v[i] = tg_v_str(cx, name[i]);
    return tg_v_list(cx, n, v);
}

/* Names of the outputs: the attribute output_tensor_names when the importer left it and it fits, else output, output0 … */
static void output_names(tg_ctx *cx, const tg_func *entry, uint32_t n, const tg_name **name)
{
    const tg_value *given = tg_v_get(entry->attrs, "output_tensor_names");
    for (uint32_t i = 0; i < n; ++i) {
        if (given != NULL && given->kind == TG_V_LIST && given->n == n && given->item[i]->kind == TG_V_STR)
            name[i] = given->item[i]->s;
        else
            name[i] = n == 1 ? tg_intern_z(cx, "output") : tg_internf(cx, "output%u", i);
    }
}

static const tg_node *allocate(tg_main_build *b, const tg_slot *s, const tg_node *body)
{
    tg_ctx *cx = b->cx;
    int64_t bytes = 0;
    bool known = tg_type_bytes(s->type, &bytes);
    TG_CHECK(cx, known, body);
    tg_alloc_info *a = TG_NEW(cx, tg_alloc_info);
    a->var = s->ptr;
    a->dtype = TG_INT8;
    a->scope = tg_intern_z(cx, "global.workspace");
    const tg_node *kid[2] = { tg_int(cx, bytes > INT32_MAX ? TG_INT64 : TG_INT32, bytes), body };
    return tg_node_new(cx, TG_ALLOCATE, TG_NOWHERE, NULL, a, 2, kid);
}

static const tg_node *allocate_const(tg_main_build *b, const tg_slot *s, const tg_node *body)
{
    tg_alloc_info *a = TG_NEW(b->cx, tg_alloc_info);
    a->var = s->ptr;
    a->dtype = s->type->dtype;
    a->scope = tg_intern_z(b->cx, "global");
    a->tensor = s->tensor;
    a->ndim = s->type->n;
    a->extent = s->type->dim;
    return tg_node_new(b->cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, a, 1, &body);
}

/* What no statement mentions needs no memory: a result that nobody reads, a scalar that was stored as a literal. */
static const tg_node *wrap_allocations(tg_main_build *b, const tg_node *body)
{
    for (size_t i = b->temp.n; i > 0; --i)
        if (b->temp.at[i - 1]->same == NULL && b->temp.at[i - 1]->used)
            body = allocate(b, b->temp.at[i - 1], body);
    for (size_t i = b->consts.n; i > 0; --i)
        if (b->consts.at[i - 1]->used)
            body = allocate_const(b, b->consts.at[i - 1], body);
    return body;
}

/* A tensor of the interface: the parameter itself, or a field of one that is a tuple. */
typedef struct port { const tg_name *name; const tg_type *type; tg_span span; } port;

typedef struct ports { tg_ctx *cx; TG_VEC(port) at; } ports;

static void add_ports(ports *p, const tg_name *name, const tg_type *type, tg_span span)
{
    if (type->kind != TG_T_TUPLE)
        TG_PUSH(p->cx, p->at, ((port){ name, type, span }));
    for (uint32_t i = 0; type->kind == TG_T_TUPLE && i < type->n; ++i)
        add_ports(p, tg_internf(p->cx, "%s.%u", name->text, i), type->field[i], span);
}

static bool check_ports(const ports *p, const tg_func *entry, size_t nin)
{
    for (size_t i = 0; i < p->at.n; ++i) {
        const port *t = &p->at.at[i];
        int64_t bytes;
        if (t->type->kind == TG_T_TENSOR && tg_type_bytes(t->type, &bytes))
            continue;
        tg_error(p->cx, t->span, "@%s: %s %s of type %s cannot be an %s of a compiled model", entry->name->text, i < nin ? "parameter" : "result",
                 t->name->text, tg_type_text(p->cx, t->type), i < nin ? "input" : "output");
        return false;
    }
    return true;
}

/* The interface: parameters and their slots, inputs first. */
static bool open_ports(tg_main_build *b, const tg_func *entry, tg_func *f, tg_slots *out)
{
    tg_ctx *cx = b->cx;
    ports p = { .cx = cx };
    for (uint32_t i = 0; i < entry->nparams; ++i)
        add_ports(&p, entry->param[i]->name, entry->param[i]->type, entry->param[i]->span);
    size_t nin = p.at.n;
    add_ports(&p, tg_intern_z(cx, "output"), entry->ret, entry->span);
    if (!check_ports(&p, entry, nin))
        return false;
    uint32_t n = (uint32_t)p.at.n, nout = n - (uint32_t)nin;
    const tg_name **name = TG_ARRAY(cx, const tg_name *, n);
    for (uint32_t i = 0; i < n; ++i)
        name[i] = p.at.at[i].name;
    output_names(cx, entry, nout, name + nin);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, n);
    const tg_buffer **buffer = TG_ARRAY(cx, const tg_buffer *, n);
    tg_slot **slot = TG_ARRAY(cx, tg_slot *, n);
    for (uint32_t i = 0; i < n; ++i) {
        const tg_type *t = p.at.at[i].type;
        buffer[i] = tg_buffer_new(cx, name[i], t->dtype, t->n, t->dim, TG_INT32);
        param[i] = buffer[i]->data;
        slot[i] = tg_slot_new(b, i < nin ? TG_SLOT_INPUT : TG_SLOT_OUTPUT, t);
        slot[i]->ptr = param[i];
    }
    tg_slot **next = slot;
    for (uint32_t i = 0; i < entry->nparams; ++i) {
        tg_slots *s = tg_slots_new(b, tg_count_tensors(entry->param[i]->type));
        memcpy(s->at, next, s->n * sizeof s->at[0]);
        next += s->n;
        tg_slots_bind(b, entry->param[i], s);
    }
    *out = (tg_slots){ nout, next };
    f->nparams = n;
    f->param = param;
    f->buffer = buffer;
    f->attrs = tg_v_with(cx, NULL, "runner_function", tg_v_bool(cx, true));
    f->attrs = tg_v_with(cx, f->attrs, "input_vars", names_of(cx, (uint32_t)nin, name));
    f->attrs = tg_v_with(cx, f->attrs, "output_vars", names_of(cx, nout, name + nin));
    return true;
}

bool tg_build_main(tg_ctx *cx, const tg_module *graph, tg_module *prims, const tg_func *entry)
{
    tg_main_scope scope = { { 0 }, { 0 } };
    tg_main_build b = { .cx = cx, .graph = graph, .m = prims, .scope = &scope };
    tg_func *f = TG_NEW(cx, tg_func);
    tg_slots out = { 0, NULL };
    if (!open_ports(&b, entry, f, &out))
        return false;
    tg_resolve_block(&b, entry->body, NULL);
    const tg_slots *result = tg_slots_of(&b, entry->body->kid[entry->body->nkids - 1]);
    for (uint32_t i = 0; i < out.n; ++i)
        tg_slot_unite(result->at[i], out.at[i]);
    tg_unite_branches(&b, entry->body);
    for (size_t i = 0; i < b.temp.n; ++i)
        if (b.temp.at[i]->same == NULL)
            tg_slot_name(&b, b.temp.at[i]);
    tg_statements s = { 0 };
    if (!tg_emit_block(&b, entry->body, &out, NULL, &s))
        return false;

    f->name = tg_intern_z(cx, "__tvm_main__");
    f->kind = TG_FUNC_PRIM;
    f->span = entry->span;
    f->ret = tg_prim(cx, TG_INT32);
    const tg_node *ret = tg_evaluate(cx, tg_call1(cx, "ret", tg_int(cx, TG_INT32, 0)));
    TG_PUSH(cx, s, ret);
    f->body = wrap_allocations(&b, tg_seq(cx, (uint32_t)s.n, s.at));
    tg_module_add(prims, f);
    tg_drop_unused(cx, prims);
    return true;
}

/* ---- unused functions ---- */

static bool note_name(tg_ctx *cx, const tg_node *n, void *user)
{
    if (n->kind == TG_STR)
        tg_map_put(cx, user, TG_KEY(n->u.name), user);
    return true;
}

void tg_drop_unused(tg_ctx *cx, tg_module *m)
{
    tg_map named = { 0 };
    for (size_t i = 0; i < m->funcs.n; ++i)
        tg_visit(cx, m->funcs.at[i]->body, note_name, &named);
    TG_VEC(const tg_name *) gone = { 0 };
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        bool keep = tg_map_get(&named, TG_KEY(f->name)) != NULL || tg_v_get(f->attrs, "global_symbol") != NULL || tg_is_main(f);
        if (!keep)
            TG_PUSH(cx, gone, f->name);
    }
    for (size_t i = 0; i < gone.n; ++i)
        tg_module_remove(m, gone.at[i]);
}
