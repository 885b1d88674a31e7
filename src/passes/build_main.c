/* build_main.c: the AOT main, itself a PrimFunc of packed calls (docs/ir.md, section 2).
 *
 * Every tensor value of the graph is a slot: a pointer variable that is known only when all bindings have been read, since a
 * value that leaves the function is written straight into the output parameter. First resolve() gives each variable its slots and
 * links slots that share memory (reshapes, results of branches, outputs); then emit() writes allocations and calls. */
#include "build_main.h"
#include "ops/ops.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <string.h>

enum slot_kind { SLOT_TEMP, SLOT_INPUT, SLOT_CONST, SLOT_OUTPUT };

typedef struct slot {
    struct slot *same;              /* memory shared with: follow with root_of() */
    enum slot_kind kind;
    const tg_type *type;            /* of this view */
    const tg_var *ptr;              /* of a root */
    const tg_tensor *tensor;
    bool has_view;                  /* a reshape shares the root's memory */
} slot;

typedef struct slots { uint32_t n; slot **at; } slots;

typedef struct main_build {
    tg_ctx *cx;
    tg_module *m;
    tg_map value;                   /* Relay var id + 1 -> slots */
    tg_map constant;                /* tensor -> slot */
    TG_VEC(slot *) temp;            /* roots of kind SLOT_TEMP, in order of their making */
    TG_VEC(slot *) consts;
    uint32_t nsid;
} main_build;

static slot *root_of(slot *s)
{
    while (s->same != NULL)
        s = s->same;
    return s;
}

static uint32_t count_tensors(const tg_type *t)
{
    if (t->kind != TG_T_TUPLE)
        return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; ++i)
        n += count_tensors(t->field[i]);
    return n;
}

static void tensor_types(const tg_type *t, const tg_type **out, uint32_t *n)
{
    if (t->kind != TG_T_TUPLE) {
        out[(*n)++] = t;
        return;
    }
    for (uint32_t i = 0; i < t->n; ++i)
        tensor_types(t->field[i], out, n);
}

static slot *new_slot(main_build *b, enum slot_kind kind, const tg_type *type)
{
    slot *s = TG_NEW(b->cx, slot);
    s->kind = kind;
    s->type = type;
    return s;
}

static slot *new_temp(main_build *b, const tg_type *type)
{
    slot *s = new_slot(b, SLOT_TEMP, type);
    TG_PUSH(b->cx, b->temp, s);
    return s;
}

static slots *new_slots(main_build *b, uint32_t n)
{
    slots *s = TG_NEW(b->cx, slots);
    s->n = n;
    s->at = TG_ARRAY(b->cx, slot *, n);
    return s;
}

static const tg_type *pointer_to(tg_ctx *cx, const tg_type *tensor, const char *scope)
{
    return tg_ptr(cx, tensor->dtype, tg_intern_z(cx, scope));
}

/* ---- resolve: slots of every variable ---- */

static slots *slots_of(main_build *b, const tg_node *atom)
{
    if (atom->kind == TG_RVAR)
        return tg_map_get(&b->value, (uint64_t)atom->u.var->id + 1);
    TG_CHECK(b->cx, atom->kind == TG_RCONST, atom);
    slot *s = tg_map_get(&b->constant, TG_KEY(atom->u.tensor));
    if (s == NULL) {
        s = new_slot(b, SLOT_CONST, atom->type);
        s->tensor = atom->u.tensor;
        const char *label = s->tensor->label != NULL ? s->tensor->label->text : tg_format(b->cx, "const_%zu", b->consts.n);
        s->ptr = tg_var_new(b->cx, tg_intern_z(b->cx, label), pointer_to(b->cx, atom->type, "global"));
        tg_map_put(b->cx, &b->constant, TG_KEY(atom->u.tensor), s);
        TG_PUSH(b->cx, b->consts, s);
    }
    slots *one = new_slots(b, 1);
    one->at[0] = s;
    return one;
}

static bool is_reshape_call(const main_build *b, const tg_node *v)
{
    const tg_func *f = tg_module_find(b->m, v->kid[0]->u.name);
    return f != NULL && tg_v_get_int(f->attrs, "relay.reshape_only", 0) == 1 && v->nkids == 2 && v->type->kind == TG_T_TENSOR;
}

static slots *resolve_call(main_build *b, const tg_node *v)
{
    uint32_t n = count_tensors(v->type), k = 0;
    const tg_type **type = TG_ARRAY(b->cx, const tg_type *, n);
    tensor_types(v->type, type, &k);
    slots *s = new_slots(b, n);
    for (uint32_t i = 1; i < v->nkids; ++i)
        slots_of(b, v->kid[i]);     /* constants in the order of their use */
    if (is_reshape_call(b, v)) {
        slot *from = slots_of(b, v->kid[1])->at[0];
        s->at[0] = new_slot(b, root_of(from)->kind, v->type);
        s->at[0]->same = from;
        root_of(from)->has_view = true;
        return s;
    }
    for (uint32_t i = 0; i < n; ++i)
        s->at[i] = new_temp(b, type[i]);
    return s;
}

static slots *concat(main_build *b, uint32_t n, const tg_node *const *atom)
{
    uint32_t total = 0, k = 0;
    for (uint32_t i = 0; i < n; ++i)
        total += slots_of(b, atom[i])->n;
    slots *s = new_slots(b, total);
    for (uint32_t i = 0; i < n; ++i) {
        slots *part = slots_of(b, atom[i]);
        memcpy(s->at + k, part->at, part->n * sizeof part->at[0]);
        k += part->n;
    }
    return s;
}

static slots *project(main_build *b, const tg_node *v)
{
    const tg_type *tuple = v->kid[0]->type;
    slots *all = slots_of(b, v->kid[0]);
    uint32_t first = 0;
    for (int64_t i = 0; i < v->u.i; ++i)
        first += count_tensors(tuple->field[i]);
    slots *s = new_slots(b, count_tensors(v->type));
    memcpy(s->at, all->at + first, s->n * sizeof s->at[0]);
    return s;
}

/* Can the memory of @p from be that of @p to, so that the producer writes there at once? Inputs and constants cannot move. */
static bool unite(slot *from, slot *to)
{
    slot *r = root_of(from);
    if (r->kind != SLOT_TEMP || root_of(to) == r)
        return root_of(to) == r;
    r->same = to;
    return true;
}

static void resolve_block(main_build *b, const tg_node *block);

static slots *resolve_if(main_build *b, const tg_node *v)
{
    uint32_t n = count_tensors(v->type), k = 0;
    const tg_type **type = TG_ARRAY(b->cx, const tg_type *, n);
    tensor_types(v->type, type, &k);
    slots *s = new_slots(b, n);
    for (uint32_t i = 0; i < n; ++i)
        s->at[i] = new_temp(b, type[i]);
    slots_of(b, v->kid[0]);
    resolve_block(b, v->kid[1]);
    resolve_block(b, v->kid[2]);
    return s;
}

static void resolve_block(main_build *b, const tg_node *block)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        const tg_node *v = block->kid[i]->kid[0];
        slots *s;
        switch (v->kind) {
        case TG_RCALL: s = resolve_call(b, v); break;
        case TG_RTUPLE: s = concat(b, v->nkids, v->kid); break;
        case TG_RGET: s = project(b, v); break;
        case TG_RIF: s = resolve_if(b, v); break;
        default: s = slots_of(b, v); break;
        }
        tg_map_put(b->cx, &b->value, (uint64_t)block->kid[i]->u.var->id + 1, s);
    }
    slots_of(b, block->kid[block->nkids - 1]);
}

/* ---- emit: statements ---- */

static const tg_node *null_handle(tg_ctx *cx)
{
    return tg_call(cx, "reinterpret", tg_prim(cx, TG_HANDLE), 1, (const tg_node *[]){ tg_int(cx, tg_dtype(kDLUInt, 64, 1), 0) });
}

static const tg_node *make_array(main_build *b, slot *s)
{
    tg_ctx *cx = b->cx;
    const tg_type *t = s->type;
    const tg_node *dim[TG_MAX_NDIM];
    for (uint32_t k = 0; k < t->n; ++k)
        dim[k] = tg_int(cx, t->dim[k] > INT32_MAX ? TG_INT64 : TG_INT32, t->dim[k]);
    const tg_node *arg[6] = {
        tg_var_ref(cx, root_of(s)->ptr), tg_call(cx, "tvm_stack_make_shape", NULL, t->n, dim), null_handle(cx),
        tg_int(cx, tg_dtype(kDLUInt, 32, 1), t->n), tg_const(cx, t->dtype, 0), tg_int(cx, TG_INT32, 0)
    };
    return tg_call(cx, "tvm_stack_make_array", NULL, 6, arg);
}

static const tg_node *emit_call(main_build *b, const tg_name *callee, tg_span span, const slots *in, const slots *out)
{
    tg_ctx *cx = b->cx;
    uint32_t n = in->n + out->n + 2, k = 0;
    const tg_node **arg = TG_ARRAY(cx, const tg_node *, n);
    arg[k++] = tg_str(cx, callee);
    for (uint32_t i = 0; i < in->n; ++i)
        arg[k++] = make_array(b, in->at[i]);
    for (uint32_t i = 0; i < out->n; ++i)
        arg[k++] = make_array(b, out->at[i]);
    arg[k++] = null_handle(cx);
    return tg_evaluate(cx, tg_node_at(cx, tg_call(cx, "call_cpacked", NULL, n, arg), span));
}

/* The kernel that copies a tensor of @p type, made when first needed. */
static const tg_func *copy_kernel(main_build *b, const tg_type *type)
{
    tg_ctx *cx = b->cx;
    tg_var *x = tg_var_new(cx, tg_intern_z(cx, "data"), type), *v = tg_var_new(cx, tg_intern_z(cx, ""), type);
    v->numbered = true;
    const tg_node *arg = tg_rvar(cx, x, TG_NOWHERE);
    const tg_node *call = tg_node_with_type(cx, tg_rcall(cx, tg_intern_z(cx, "copy"), NULL, TG_NOWHERE, 1, &arg), type);
    const tg_node *bind = tg_rbind(cx, v, call);
    tg_func f = { .name = tg_intern_z(cx, tg_format(cx, "copy_%u", type->id)), .kind = TG_FUNC_RELAY, .nparams = 1, .ret = type,
                  .param = (const tg_var *const *)tg_copy(cx, &x, sizeof x), .attrs = tg_v_with(cx, NULL, "Primitive", tg_v_int(cx, 1)),
                  .body = tg_rblock(cx, 1, &bind, tg_rvar(cx, v, TG_NOWHERE)) };
    for (size_t i = 0; i < b->m->funcs.n; ++i) {
        const tg_func *g = b->m->funcs.at[i];
        const tg_value *of = tg_v_get(g->attrs, "tirgen.copy_of");
        if (of != NULL && of->s == tg_intern_z(cx, tg_type_text(cx, type)))
            return g;
    }
    tg_func *p = tg_lower_primitive(cx, &f);
    if (p == NULL)
        return NULL;
    p->name = tg_module_unique(b->m, "fused_copy");
    p->attrs = tg_v_with(cx, p->attrs, "tirgen.copy_of", tg_v_strz(cx, tg_type_text(cx, type)));
    tg_module_add(b->m, p);
    return p;
}

typedef TG_VEC(const tg_node *) statements;

/* Values that could not be written in place are copied at the end of their block. */
static bool emit_copies(main_build *b, const slots *from, const slots *to, statements *out)
{
    for (uint32_t i = 0; i < from->n; ++i) {
        if (root_of(from->at[i]) == root_of(to->at[i]))
            continue;
        const tg_func *f = copy_kernel(b, to->at[i]->type);
        if (f == NULL)
            return false;
        slots in = { 1, (slot *[]){ from->at[i] } }, dst = { 1, (slot *[]){ to->at[i] } };
        const tg_node *call = emit_call(b, f->name, TG_NOWHERE, &in, &dst);
        TG_PUSH(b->cx, *out, call);
    }
    return true;
}

static bool emit_block(main_build *b, const tg_node *block, const slots *to, statements *out);

static bool emit_if(main_build *b, const tg_node *v, const slots *to, statements *out)
{
    tg_ctx *cx = b->cx;
    slot *c = slots_of(b, v->kid[0])->at[0];
    tg_buffer *flag = tg_buffer_new(cx, tg_intern_z(cx, "condition"), c->type->dtype, 0, NULL, TG_INT32);
    flag->data = root_of(c)->ptr;
    const tg_node *branch[2];
    for (int i = 0; i < 2; ++i) {
        statements s = { 0 };
        if (!emit_block(b, v->kid[1 + i], to, &s))
            return false;
        branch[i] = tg_seq(cx, (uint32_t)s.n, s.at);
    }
    const tg_node *body = tg_if(cx, tg_load(cx, flag, 0, NULL), branch[0], branch[1]);
    const tg_node *decl = tg_node_new(cx, TG_DECL_BUFFER, v->span, NULL, flag, 1, &body);
    TG_PUSH(cx, *out, decl);
    return true;
}

static bool emit_block(main_build *b, const tg_node *block, const slots *to, statements *out)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        const tg_node *v = block->kid[i]->kid[0];
        const slots *s = tg_map_get(&b->value, (uint64_t)block->kid[i]->u.var->id + 1);
        if (v->kind == TG_RIF && !emit_if(b, v, s, out))
            return false;
        if (v->kind == TG_RCALL && !is_reshape_call(b, v)) {
            const tg_node *call = emit_call(b, v->kid[0]->u.name, v->span, concat(b, v->nkids - 1, v->kid + 1), s);
            TG_PUSH(b->cx, *out, call);
        }
    }
    return emit_copies(b, slots_of(b, block->kid[block->nkids - 1]), to, out);
}

/* Branch results move into the slots of their if where nothing else holds them; outermost first, so that outputs reach inside. */
static void unite_branches(main_build *b, const tg_node *block)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        const tg_node *v = block->kid[i]->kid[0];
        if (v->kind != TG_RIF)
            continue;
        const slots *to = tg_map_get(&b->value, (uint64_t)block->kid[i]->u.var->id + 1);
        for (uint32_t k = 1; k <= 2; ++k) {
            const tg_node *inner = v->kid[k];
            const tg_node *result = inner->kid[inner->nkids - 1];
            bool local = false;     /* made in this branch, so no other path needs it elsewhere */
            for (uint32_t j = 0; j + 1 < inner->nkids; ++j)
                local = local || (result->kind == TG_RVAR && inner->kid[j]->u.var == result->u.var && inner->kid[j]->kid[0]->kind == TG_RCALL);
            const slots *from = slots_of(b, result);
            for (uint32_t j = 0; local && j < from->n; ++j)
                if (!root_of(from->at[j])->has_view)
                    unite(from->at[j], to->at[j]);
            unite_branches(b, inner);
        }
    }
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

static const tg_node *wrap_allocations(main_build *b, const tg_node *body)
{
    tg_ctx *cx = b->cx;
    for (size_t i = b->temp.n; i > 0; --i) {
        slot *s = b->temp.at[i - 1];
        if (s->same != NULL)
            continue;
        int64_t bytes = 0;
        bool known = tg_type_bytes(s->type, &bytes);
        TG_CHECK(cx, known, body);
        tg_alloc_info *a = TG_NEW(cx, tg_alloc_info);
        a->var = s->ptr;
        a->dtype = TG_INT8;
        a->scope = tg_intern_z(cx, "global.workspace");
        const tg_node *kid[2] = { tg_int(cx, bytes > INT32_MAX ? TG_INT64 : TG_INT32, bytes), body };
        body = tg_node_new(cx, TG_ALLOCATE, TG_NOWHERE, NULL, a, 2, kid);
    }
    for (size_t i = b->consts.n; i > 0; --i) {
        slot *s = b->consts.at[i - 1];
        tg_alloc_info *a = TG_NEW(cx, tg_alloc_info);
        a->var = s->ptr;
        a->dtype = s->type->dtype;
        a->scope = tg_intern_z(cx, "global");
        a->tensor = s->tensor;
        a->ndim = s->type->n;
        a->extent = s->type->dim;
        body = tg_node_new(cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, a, 1, &body);
    }
    return body;
}

static bool check_io(tg_ctx *cx, const tg_func *entry)
{
    uint32_t n = count_tensors(entry->ret), k = 0;
    const tg_type **type = TG_ARRAY(cx, const tg_type *, n);
    tensor_types(entry->ret, type, &k);
    for (uint32_t i = 0; i < entry->nparams + n; ++i) {
        const tg_type *t = i < entry->nparams ? entry->param[i]->type : type[i - entry->nparams];
        int64_t bytes;
        if (t->kind == TG_T_TENSOR && tg_type_bytes(t, &bytes))
            continue;
        tg_error(cx, i < entry->nparams ? entry->param[i]->span : entry->span, "@%s: %s %s of type %s cannot be an %s of a compiled model",
                 entry->name->text, i < entry->nparams ? "parameter" : "result",
                 i < entry->nparams ? entry->param[i]->name->text : "", tg_type_text(cx, t), i < entry->nparams ? "input" : "output");
        return false;
    }
    return true;
}

bool tg_build_main(tg_ctx *cx, tg_module *prims, const tg_func *entry)
{
    if (!check_io(cx, entry))
        return false;
    main_build b = { .cx = cx, .m = prims };
    uint32_t nout = count_tensors(entry->ret), k = 0, n = entry->nparams + nout;
    const tg_type **type = TG_ARRAY(cx, const tg_type *, nout);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, n);
    const tg_buffer **buffer = TG_ARRAY(cx, const tg_buffer *, n);
    const tg_name **name = TG_ARRAY(cx, const tg_name *, n);
    tensor_types(entry->ret, type, &k);
    for (uint32_t i = 0; i < entry->nparams; ++i)
        name[i] = entry->param[i]->name;
    output_names(cx, entry, nout, name + entry->nparams);
    slots *out = new_slots(&b, nout);
    for (uint32_t i = 0; i < n; ++i) {
        const tg_type *t = i < entry->nparams ? entry->param[i]->type : type[i - entry->nparams];
        buffer[i] = tg_buffer_new(cx, name[i], t->dtype, t->n, t->dim, TG_INT32);
        param[i] = buffer[i]->data;
        slot *s = new_slot(&b, i < entry->nparams ? SLOT_INPUT : SLOT_OUTPUT, t);
        s->ptr = param[i];
        if (i < entry->nparams) {
            slots *one = new_slots(&b, 1);
            one->at[0] = s;
            tg_map_put(cx, &b.value, (uint64_t)entry->param[i]->id + 1, one);
        } else {
            out->at[i - entry->nparams] = s;
        }
    }
    resolve_block(&b, entry->body);
    const slots *result = slots_of(&b, entry->body->kid[entry->body->nkids - 1]);
    for (uint32_t i = 0; i < nout; ++i)
        unite(result->at[i], out->at[i]);
    unite_branches(&b, entry->body);
    for (size_t i = 0; i < b.temp.n; ++i)
        if (b.temp.at[i]->same == NULL)
            b.temp.at[i]->ptr = tg_var_new(cx, tg_internf(cx, "sid_%u", b.nsid++), pointer_to(cx, b.temp.at[i]->type, "global.workspace"));
    statements s = { 0 };
    if (!emit_block(&b, entry->body, out, &s))
        return false;

    tg_func *f = TG_NEW(cx, tg_func);
    f->name = tg_intern_z(cx, "__tvm_main__");
    f->kind = TG_FUNC_PRIM;
    f->span = entry->span;
    f->nparams = n;
    f->param = param;
    f->buffer = buffer;
    f->ret = tg_prim(cx, TG_INT32);
    f->attrs = tg_v_with(cx, NULL, "runner_function", tg_v_bool(cx, true));
    f->attrs = tg_v_with(cx, f->attrs, "input_vars", names_of(cx, entry->nparams, name));
    f->attrs = tg_v_with(cx, f->attrs, "output_vars", names_of(cx, nout, name + entry->nparams));
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
        bool keep = tg_map_get(&named, TG_KEY(f->name)) != NULL || tg_v_get(f->attrs, "global_symbol") != NULL
                    || tg_v_get_int(f->attrs, "runner_function", 0) != 0;
        if (!keep)
            TG_PUSH(cx, gone, f->name);
    }
    for (size_t i = 0; i < gone.n; ++i)
        tg_module_remove(m, gone.at[i]);
}
