/* tvmscript_module.c: functions and modules: signatures, attributes, the implicit root block, and what goes into the module
 * in the end. Nothing is added when an error was found. Formats: tvmscript-tir.md sections 3, 4, 13, 19. */
#include "tvmscript_elab.h"

#include <string.h>

/* ---- prefixes, versions, metadata ---- */

static void set_family(tg_elab *e, const char *alias, enum tg_family family)
{
    tg_map_put(e->cx, &e->families, TG_KEY(tg_intern_z(e->cx, alias)), (void *)(uintptr_t)family);
}

static void import(tg_elab *e, const tg_name *module, const tg_name *alias)
{
    static const struct { const char *module; enum tg_family family;
    } known[] = { { "tir", TG_FAMILY_T }, { "tirx", TG_FAMILY_T },  { "ty", TG_FAMILY_T },
                  { "ir", TG_FAMILY_I },  { "relax", TG_FAMILY_R }, { "tvm", TG_FAMILY_TVM } };
    for (size_t i = 0; i < TG_COUNT(known); ++i)
        if (tg_name_is(module, known[i].module))
            set_family(e, alias->text, known[i].family);
    if (tg_name_is(module, "tirx") || tg_name_is(module, "tir"))
        e->tirx = tg_name_is(module, "tirx");
    if (tg_name_is(module, "tir"))
        e->sticky_scalars = false;
    if (tg_name_is(module, "Axis"))
        e->sticky_scalars = true;
}

/* What the comments before @p s say, and the metadata that goes with it. */
static void prepare(tg_elab *e, const tg_syn *s)
{
    for (; e->nhints < e->p->hints.n && e->p->hints.at[e->nhints].at < s->begin; ++e->nhints)
        import(e, e->p->hints.at[e->nhints].module, e->p->hints.at[e->nhints].alias);
    e->meta = NULL;
    for (size_t i = 0; i < e->p->metas.n; ++i) {
        const tg_script_meta *m = &e->p->metas.at[i];
        if (!m->legacy && m->at < s->begin)
            e->meta = m->meta;
        else if (m->legacy && m->at > s->begin && e->meta == NULL)
            e->meta = m->meta;
    }
}

/* ---- expressions in quotes (0.26) ---- */

static void define_names(tg_elab *e, const tg_syn *root)
{
    TG_VEC(const tg_syn *) todo = { 0 };
    TG_PUSH(e->cx, todo, root);
    while (todo.n > 0) {
        const tg_syn *s = todo.at[--todo.n];
        for (TG_EACH_KID(kid, s))
            TG_PUSH(e->cx, todo, kid);
        if (s->kind != TG_SYN_NAME || tg_map_get(&e->families, TG_KEY(s->u.name)) != NULL)
            continue;
        const tg_el_cell *c = tg_map_get(&e->names, TG_KEY(s->u.name));
        if (c != NULL && c->bound)
            continue;
        const tg_type *type = tg_map_get(&e->declared, TG_KEY(s->u.name));
        tg_val v = tg_el_of_expr(s, tg_var_ref(e->cx, tg_var_new(e->cx, s->u.name, type != NULL ? type : e->int32)));
        v.quoted = true;
        tg_el_bind(e, s->u.name, v);
    }
}

tg_val tg_el_quoted(tg_elab *e, const tg_val *text)
{
    tg_script sub = { .cx = e->cx,
                      .src = tg_source_add(e->cx, "a quoted shape", text->u.name->text, text->u.name->len) };
    TG_PUSH(e->cx, sub.indents, 0);
    bool good = tg_script_read(&sub);
    const tg_syn *s = good ? tg_syn_first(sub.file) : NULL;
    if (s == NULL || s->kind != TG_SYN_EXPR || sub.file->nkids != 1) {
        if (good)
            tg_el_error(e, text->at, "a shape in quotes is one expression");
        e->bad = true;
        return (tg_val){ .kind = TG_VAL_ERROR, .at = text->at };
    }
    tg_script *outer = e->p;
    e->p = &sub;
    define_names(e, tg_syn_first(s));
    tg_val v = tg_el_value(e, tg_syn_first(s));
    e->p = outer;
    v.at = text->at;
    return v;
}

/* n = T.int32() in the body says the type of a variable that quotes in the signature use before. */
static void look_ahead(tg_elab *e, const tg_syn *suite)
{
    for (TG_EACH_KID(s, suite)) {
        const tg_syn *target = s->kind == TG_SYN_ASSIGN ? tg_syn_first(s) : NULL,
                     *value = target != NULL ? s->last : NULL;
        if (value == NULL || target->kind != TG_SYN_NAME || value->kind != TG_SYN_CALL ||
            tg_syn_first(value)->kind != TG_SYN_ATTR)
            continue;
        const tg_syn *callee = tg_syn_first(value);
        DLDataType d;
        if (tg_dtype_parse(callee->u.name->text, callee->u.name->len, &d) && tg_is_int(d))
            tg_map_put(e->cx, &e->declared, TG_KEY(target->u.name), (void *)(uintptr_t)tg_prim(e->cx, d));
    }
}

/* ---- signatures ---- */

static const tg_buffer *param_buffer(tg_elab *e, const tg_syn *s, const tg_val *type)
{
    tg_var *data = tg_var_new(e->cx, s->u.name, e->handle);
    data->span = tg_el_span(e, s);
    tg_buffer *b = tg_el_buffer(e, type, s->u.name, data, NULL);
    if (b != NULL)
        data->type = tg_ptr(e->cx, b->dtype, b->scope);
    return b;
}

static void parameter(tg_elab *e, const tg_syn *s)
{
    const tg_syn *annotation = tg_syn_first(s);
    tg_val type = tg_el_value(e, annotation);
    tg_el_param p = { .name = s->u.name };
    if (s->last->kind != TG_SYN_NONE)
        tg_el_error(e, s->last, "parameters have no default values");
    if (type.kind == TG_VAL_TYPE) {
        p.var = tg_var_new(e->cx, s->u.name, type.u.type);
        p.var->span = tg_el_span(e, s);
        p.typed = type.u.type != e->handle;
        tg_el_bind(e, p.name, tg_el_of_expr(s, tg_var_ref(e->cx, p.var)));
    } else if (type.kind == TG_VAL_FORM && type.w.word->id == TG_W_BUFFER) {
        p.buf = param_buffer(e, s, &type);
        p.var = p.buf != NULL ? (tg_var *)(uintptr_t)p.buf->data : NULL;
        if (p.buf != NULL)
            tg_el_bind(e, p.name, tg_el_of_buffer(s, p.buf));
    } else if (type.kind != TG_VAL_ERROR) {
        tg_el_error(e, s, "parameter %s needs a type: T.Buffer(…), T.handle or a scalar", s->u.name->text);
    }
    if (p.var != NULL)
        TG_PUSH(e->cx, e->params, p);
    else
        tg_el_bind(e, p.name, (tg_val){ .kind = TG_VAL_ERROR, .at = s });
}

const tg_type *tg_el_return_type(tg_elab *e, const tg_syn *def)
{
    tg_val v = tg_el_value(e, tg_syn_kid(def, 2));
    if (v.kind == TG_VAL_NONE)
        return tg_void(e->cx);
    if (v.kind == TG_VAL_TYPE && v.u.type->kind == TG_T_PRIM)
        return v.u.type;
    if (v.kind != TG_VAL_ERROR)
        tg_el_error(e, v.at, "a function returns a scalar or nothing");
    return NULL;
}

/* @T.prim_func, @T.prim_func(private=True). False after an error. */
static bool decorators(tg_elab *e, const tg_syn *def, bool *private)
{
    bool found = false;
    *private = false;
    for (TG_EACH_KID(d, tg_syn_first(def))) {
        tg_val v = tg_el_value(e, d);
        if (v.kind == TG_VAL_ERROR)
            return false;
        if ((v.kind == TG_VAL_WORD || v.kind == TG_VAL_FORM) && v.w.word->family == TG_FAMILY_R) {
            tg_el_error(e, d, "Relax functions are not supported");
            return false;
        }
        if ((v.kind != TG_VAL_WORD && v.kind != TG_VAL_FORM) || v.w.word->id != TG_W_PRIM_FUNC) {
            tg_el_error(e, d, "this decorator is not supported: expected T.prim_func");
            return false;
        }
        const tg_val *slot[5];
        if (v.kind == TG_VAL_FORM && !tg_el_args(e, &v, "| private check_well_formed s_tir persistent tirp", slot))
            return false;
        *private = v.kind == TG_VAL_FORM && slot[0] != NULL && tg_el_is_true(e, slot[0]);
        e->old = e->old || v.w.word->family == TG_FAMILY_TVM;
        found = true;
    }
    if (!found && e->bare_functions)
        return true;
    if (!found)
        tg_el_error(e, def, "function %s has no decorator: expected @T.prim_func", def->u.name->text);
    return found;
}

/* ---- functions ---- */

/* TVM's printer leaves the root block out where its reader puts it back. */
static const tg_node *with_root(tg_elab *e, tg_el_block *root, const tg_node *body)
{
    bool block = body->kind == TG_BLOCK;
    bool implied = root->allocs.n > 0 || (block ? body->u.block->niters > 0 : e->saw_block);
    return implied ? tg_el_root_block(e, root, body) : body;
}

static const tg_node *function_body(tg_elab *e, const tg_syn *def)
{
    tg_el_block root = { .root = true, .name = tg_intern_z(e->cx, "root"), .span = tg_el_span(e, def) };
    size_t floor = e->items.n;
    e->block = &root;
    e->saw_block = false;
    tg_el_statements(e, def->last);
    const tg_node *body = tg_el_close(e, floor);
    for (size_t i = e->params.n; i > 0; --i) {
        const tg_buffer *alias = tg_map_get(&e->pointer_buffer, (uint64_t)e->params.at[i - 1].var->id + 1);
        if (alias != NULL)
            body = tg_node_new(e->cx, TG_DECL_BUFFER, body->span, NULL, alias, 1, &body);
    }
    e->block = NULL;
    return with_root(e, &root, body);
}

/* Our printer keeps names of parameters that are no identifiers in an attribute. A buffer of an annotation shares its name with
 * its pointer. */
static void restore_names(tg_elab *e)
{
    const tg_value *names = tg_v_get(e->attrs, "tirgen.param_names");
    if (names == NULL || names->kind != TG_V_LIST || names->n != e->params.n)
        return;
    for (uint32_t i = 0; i < names->n; ++i) {
        tg_el_param *p = &e->params.at[i];
        bool shared = p->buf == NULL || p->buf->name == p->var->name;
        if (names->item[i]->kind != TG_V_STR)
            continue;
        if (p->buf != NULL)
            ((tg_buffer *)(uintptr_t)p->buf)->name = names->item[i]->s;
        if (shared)
            p->var->name = names->item[i]->s;
    }
    e->attrs = tg_v_without(e->cx, e->attrs, "tirgen.param_names");
}

static void store_params(tg_elab *e, tg_func *f)
{
    const tg_var **var = TG_ARRAY(e->cx, const tg_var *, e->params.n);
    const tg_buffer **buffer = TG_ARRAY(e->cx, const tg_buffer *, e->params.n);
    for (size_t i = 0; i < e->params.n; ++i) {
        var[i] = e->params.at[i].var;
        buffer[i] = e->params.at[i].buf;
    }
    f->nparams = (uint32_t)e->params.n;
    f->param = var;
    f->buffer = buffer;
}

static const tg_func *function(tg_elab *e, const tg_syn *def, const tg_name *name)
{
    size_t mark = tg_el_mark(e), before = e->cx->nerrors;
    bool private;
    e->params.n = 0;
    e->attrs = NULL;
    e->declared = (tg_map){ 0 };
    e->pointer_buffer = (tg_map){ 0 };
    if (!decorators(e, def, &private))
        return NULL;
    if (e->tirx)
        look_ahead(e, def->last);
    for (TG_EACH_KID(s, tg_syn_kid(def, 1)))
        parameter(e, s);
    e->ret = tg_el_return_type(e, def);
    tg_func *f = TG_NEW(e->cx, tg_func);
    f->body = function_body(e, def);
    f->name = name;
    f->kind = TG_FUNC_PRIM;
    f->span = (tg_span){ e->p->src->id, def->begin, def->end };
    f->ret = e->ret;
    restore_names(e);
    f->attrs = e->attrs;
    if (!private && tg_v_get(f->attrs, "global_symbol") == NULL)
        f->attrs = tg_v_with(e->cx, f->attrs, "global_symbol", tg_v_str(e->cx, name));
    store_params(e, f);
    tg_el_leave(e, mark);
    return e->cx->nerrors == before ? f : NULL;
}

/* ---- modules ---- */

typedef struct result { const tg_module *into; TG_VEC(const tg_func *) funcs; const tg_value *attrs; tg_map taken, renamed; } result;

/* A kernel stands in for a function of that name that was loaded before; but modules printed one after the other may all call
 * theirs main, and that is no reason to replace a model. */
static const tg_name *free_name(tg_elab *e, result *r, const tg_name *name)
{
    const tg_name *unique = name;
    const tg_func *model = tg_name_is(name, "main") ? tg_module_find(r->into, name) : NULL;
    bool taken = model != NULL && model->kind == TG_FUNC_RELAY;
    uintptr_t k = (uintptr_t)tg_map_get(&r->renamed, TG_KEY(name));     /* the last number that was tried */
    for (; taken || tg_map_get(&r->taken, TG_KEY(unique)) != NULL; taken = false)
        unique = tg_internf(e->cx, "%s_%u", name->text, (unsigned)++k);
    tg_map_put(e->cx, &r->renamed, TG_KEY(name), (void *)k);
    tg_map_put(e->cx, &r->taken, TG_KEY(unique), (void *)(uintptr_t)unique);
    return unique;
}

static void add_function(tg_elab *e, result *r, const tg_syn *def)
{
    const tg_name *name = tg_map_get(&e->renamed, TG_KEY(def->u.name));
    const tg_func *f = function(e, def, name != NULL ? name : free_name(e, r, def->u.name));
    if (f != NULL)
        TG_PUSH(e->cx, r->funcs, f);
    else
        e->bad = true;
}

static void module_attrs(tg_elab *e, result *r, const tg_val *form)
{
    const tg_val *slot[1];
    const tg_value *v = tg_el_args(e, form, "attrs", slot) ? tg_el_attr_dict(e, slot[0]) : NULL;
    if (v == NULL)
        return;
    if (r->attrs == NULL)
        r->attrs = v;
    for (uint32_t i = 0; r->attrs != v && i < v->n; ++i)
        r->attrs = tg_v_with(e->cx, r->attrs, v->key[i]->text, v->item[i]);
}

static void class_statement(tg_elab *e, result *r, const tg_syn *s)
{
    if (s->kind == TG_SYN_DEF) {
        add_function(e, r, s);
        return;
    }
    if (s->kind == TG_SYN_PASS)
        return;
    tg_val v = { .kind = TG_VAL_NONE };
    if (s->kind == TG_SYN_EXPR)
        v = tg_el_value(e, tg_syn_first(s));
    if (v.kind == TG_VAL_ERROR || v.kind == TG_VAL_STR)
        return;
    if (v.kind == TG_VAL_FORM && v.w.word->id == TG_W_MODULE_ATTRS)
        module_attrs(e, r, &v);
    else if (v.kind != TG_VAL_FORM ||
             v.w.word->id != TG_W_GLOBAL_INFOS) /* those name devices, which one CPU has no use for */
        tg_el_error(e, s, "a module holds functions and I.module_attrs");
}

static void class(tg_elab *e, result *r, const tg_syn *s)
{
    for (TG_EACH_KID(d, tg_syn_first(s))) {
        tg_val v = tg_el_value(e, d);
        bool known =
            (v.kind == TG_VAL_WORD || v.kind == TG_VAL_FORM) &&
            (v.w.word->id == TG_W_IR_MODULE || (v.w.word->id == TG_W_PRIM_FUNC && v.w.word->family == TG_FAMILY_TVM));
        if (!known && v.kind != TG_VAL_ERROR)
            tg_el_error(e, d, "this decorator is not supported: expected I.ir_module");
        e->old = e->old || (known && v.w.word->family == TG_FAMILY_TVM);
        e->bare_functions = known && v.w.word->id == TG_W_PRIM_FUNC;
    }
    e->class_name = s->u.name;
    e->globals = (tg_map){ 0 };
    e->renamed = (tg_map){ 0 };
    for (TG_EACH_KID(def, s->last)) {
        if (def->kind != TG_SYN_DEF)
            continue;
        if (tg_map_get(&e->globals, TG_KEY(def->u.name)) != NULL) {
            tg_el_error(e, def, "function %s is defined twice", def->u.name->text);
            continue;
        }
        tg_map_put(e->cx, &e->globals, TG_KEY(def->u.name), (void *)(uintptr_t)def);
        tg_map_put(e->cx, &e->renamed, TG_KEY(def->u.name), (void *)(uintptr_t)free_name(e, r, def->u.name));
    }
    for (TG_EACH_KID(member, s->last))
        class_statement(e, r, member);
    e->class_name = NULL;
    e->bare_functions = false;
    e->globals = (tg_map){ 0 };
    e->renamed = (tg_map){ 0 };
}

/* T.let[…] occurs from 0.25 on. */
static bool has_let_types(const tg_script *p, const tg_syn *s)
{
    for (const char *at = p->src->text + s->begin, *end = p->src->text + s->end; end - at > 6; ++at) {
        at = memchr(at, 'l', (size_t)(end - at - 3));
        if (at == NULL)
            return false;
        if (memcmp(at, "let[", 4) == 0)
            return true;
    }
    return false;
}

static void top_level(tg_elab *e, result *r, const tg_syn *s)
{
    if (s->kind == TG_SYN_IMPORT) {
        import(e, s->u.name, tg_syn_first(s)->u.name);
        return;
    }
    prepare(e, s);
    e->old = false;
    if (e->tirx && !e->sticky_scalars)
        e->sticky_scalars = has_let_types(e->p, s);
    if (s->kind == TG_SYN_CLASS)
        class(e, r, s);
    else if (s->kind == TG_SYN_DEF)
        add_function(e, r, s);
    else if (s->kind != TG_SYN_EXPR || tg_syn_first(s)->kind != TG_SYN_STRING)
        tg_el_error(e, s, "expected a module or a function");
}

bool tg_script_elaborate(tg_script *p, tg_module *m)
{
    tg_ctx *cx = p->cx;
    tg_elab *e = TG_NEW(cx, tg_elab);
    result r = { .into = m };
    e->cx = cx;
    e->p = p;
    e->words = tg_el_words(cx);
    e->int32 = tg_prim(cx, TG_INT32);
    e->float32 = tg_prim(cx, TG_FLOAT32);
    e->boolean = tg_prim(cx, TG_BOOL);
    e->handle = tg_ptr(cx, TG_HANDLE, NULL);
    e->global = tg_intern_z(cx, "global");
    set_family(e, "T", TG_FAMILY_T);
    set_family(e, "I", TG_FAMILY_I);
    set_family(e, "R", TG_FAMILY_R);
    set_family(e, "tir", TG_FAMILY_T);
    set_family(e, "ty", TG_FAMILY_T);
    set_family(e, "tvm", TG_FAMILY_TVM);
    for (TG_EACH_KID(s, p->file))
        top_level(e, &r, s);
    if (e->bad)
        return false;
    for (size_t i = 0; i < r.funcs.n; ++i)
        tg_module_set(m, r.funcs.at[i]);
    if (m->attrs == NULL)
        m->attrs = r.attrs;
    else
        for (uint32_t i = 0; r.attrs != NULL && i < r.attrs->n; ++i)
            m->attrs = tg_v_with(cx, m->attrs, r.attrs->key[i]->text, r.attrs->item[i]);
    return true;
}
