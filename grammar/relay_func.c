/* relay_func.c: definitions: functions, algebraic types, the header, and what a module must satisfy as a whole. */
#include <string.h>

#include "relay_build.h"

/* ---- the text as a whole ---- */

void tg_relay_version(tg_relay *p, tg_relay_loc l, const tg_name *version)
{
    if (p->type_only)
        return;
    if (version == NULL)
        tg_warning(p->cx, l.span, "the text does not begin with #[version = \"0.0.5\"]; read as version 0.0.5");
    else if (strcmp(version->text, "0.0.5") != 0 && strcmp(version->text, "0.0.4") != 0)
        tg_relay_wrong(p, l.span, "version \"%s\" of the text format is not known, only 0.0.4 and 0.0.5",
                       version->text);
}

/* From this byte on, the next line that begins a definition; the end of the program otherwise. */
static uint32_t next_definition(const tg_relay_text *t, uint32_t at)
{
    while (at < t->end) {
        if ((at == 0 || t->text[at - 1] == '\n') && t->end - at > 5 && memcmp(t->text + at, "def @", 5) == 0)
            return at;
        const char *line = memchr(t->text + at, '\n', t->end - at);
        at = line == NULL ? t->end : (uint32_t)(line + 1 - t->text);
    }
    return t->end;
}

void tg_relay_syntax_error(tg_relay *p, tg_relay_loc l, bool reported, const char *message)
{
    if (!reported)
        tg_relay_wrong(p, l.span, "%s", message);
    p->failed = true;
    uint32_t from = l.span.begin > p->resumed ? l.span.begin : p->resumed + 1;
    p->resume = next_definition(&p->t, from);
    p->resumed = p->resume;
}

/* Everything that was open is forgotten; finished definitions stay. */
void tg_relay_recovered(tg_relay *p)
{
    tg_relay_drop(p, (tg_relay_marks){ 0 });
    tg_relay_unbind(p, 0);
    p->marks.n = p->bind.n = p->block.n = p->scope_marks.n = p->let.n = p->fn.n = p->param.n = p->ctor.n = 0;
    p->type_params = (tg_map){ 0 };
    p->value_depth = 0;
    p->fn_type.n = 0;
}

/* ---- functions ---- */

static void count_type_param(tg_relay *p, const tg_name *name, int by)
{
    intptr_t n = (intptr_t)tg_map_get(&p->type_params, TG_KEY(name));
    /* The map cannot hold 0: counts are kept one higher. */
    n = n == 0 ? 1 : n;
    tg_map_put(p->cx, &p->type_params, TG_KEY(name), (void *)(n + by));
}

void tg_relay_type_params(tg_relay *p)
{
    tg_relay_marks m = tg_relay_close(p);
    for (uint32_t i = m.name; i < p->name.n; ++i)
        count_type_param(p, p->name.at[i], 1);      /* the names stay until the function, or type, ends */
}

void tg_relay_end_type_params(tg_relay *p, uint32_t from)
{
    for (uint32_t i = from; i < p->name.n; ++i)
        count_type_param(p, p->name.at[i], -1);
    p->name.n = from;
}

void tg_relay_begin_fn(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    tg_relay_fn f = { .name = name, .span = l.span, .scope = (uint32_t)p->scope.n, .param = (uint32_t)p->param.n,
                      .type_param = (uint32_t)p->name.n };
    tg_relay_open(p);
    TG_PUSH(p->cx, p->fn, f);
}

void tg_relay_param(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type)
{
    const tg_relay_fn *f = &p->fn.at[p->fn.n - 1];
    const tg_relay_binding *known = tg_map_get(&p->by_name, TG_KEY(name));
    if (known != NULL && known->var != NULL && known->at >= f->scope)
        tg_relay_wrong(p, l.span, "parameter %%%s is declared twice", name->text);
    tg_var *v = tg_relay_new_var(p, l, name, type);
    tg_relay_bind_name(p, v, false);
    TG_PUSH(p->cx, p->param, v);
}

const tg_func *tg_relay_end_fn(tg_relay *p, tg_relay_loc l, const tg_type *ret, const tg_node *body)
{
    tg_relay_fn f = p->fn.at[p->fn.n - 1];
    tg_relay_marks m = tg_relay_close(p);
    if (p->fn.n == 1)
        tg_relay_missing_params(p, f.name);
    --p->fn.n;
    tg_func *made = TG_NEW(p->cx, tg_func);
    made->name = f.name;
    made->kind = TG_FUNC_RELAY;
    made->span = f.name != NULL ? f.span : l.span;
    made->nparams = (uint32_t)p->param.n - f.param;
    made->param = tg_copy(p->cx, TG_FROM(p->param, f.param), made->nparams * sizeof *p->param.at);
    made->ret = ret != NULL && ret->kind == TG_T_UNKNOWN ? NULL : ret;
    made->attrs = tg_relay_take_attrs(p, m.attr);
    made->body = body;
    made->ntype_params = (uint32_t)p->name.n - f.type_param;
    made->type_param = tg_copy(p->cx, TG_FROM(p->name, f.type_param), made->ntype_params * sizeof *p->name.at);
    p->param.n = f.param;
    tg_relay_end_type_params(p, f.type_param);
    tg_relay_drop(p, m);
    tg_relay_unbind(p, f.scope);
    return made;
}

const tg_node *tg_relay_fn_value(tg_relay *p, tg_relay_loc l, const tg_func *f)
{
    return tg_node_new(p->cx, TG_RFN, l.span, NULL, f, 0, NULL);
}

static bool is_taken(tg_relay *p, tg_span at, const tg_name *name)
{
    const tg_func *before = tg_map_get(&p->funcs, TG_KEY(name));
    if (before == NULL)
        before = tg_module_find(p->m, name);
    if (before == NULL)
        return false;
    tg_relay_wrong(p, at, "function @%s is defined twice", name->text);
    if (before->span.file != 0)
        tg_note(p->cx, before->span, "the other definition is here");
    return true;
}

/* A kernel that was loaded before stands in for the function of its name. */
static bool is_replaced(tg_relay *p, const tg_name *name)
{
    const tg_func *before = tg_module_find(p->m, name);
    return before != NULL && before->kind == TG_FUNC_PRIM && !tg_name_is(name, "main") && tg_map_get(&p->funcs, TG_KEY(name)) == NULL;
}

static void add_fn(tg_relay *p, const tg_func *f)
{
    if (is_replaced(p, f->name))
        return;
    if (is_taken(p, f->span, f->name))
        return;
    tg_map_put(p->cx, &p->funcs, TG_KEY(f->name), (void *)(uintptr_t)f);
    TG_PUSH(p->cx, p->func, f);
}

void tg_relay_define_fn(tg_relay *p, tg_relay_loc l, const tg_func *f)
{
    (void)l;
    add_fn(p, f);
}

void tg_relay_skip_fn(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    if (name == NULL) {
        tg_relay_wrong(p, l.span, "a TIR function in the old text form cannot be compiled: print it as TVMScript");
        return;
    }
    tg_warning(p->cx, l.span, "TIR function @%s is skipped: it can only be read as TVMScript", name->text);
}

/* ---- a bare expression: the function main of its free variables ---- */

void tg_relay_begin_main(tg_relay *p)
{
    tg_relay_loc nowhere = { { p->t.src->id, 0, 0 }, 0 };
    tg_relay_begin_fn(p, nowhere, tg_intern_z(p->cx, "main"));
    p->bare = true;
    tg_relay_begin_block(p);
}

void tg_relay_free_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type)
{
    if (!p->bare || p->fn.n != 1)
        tg_relay_wrong(p, l.span, "free_var %%%s within a function: only a bare expression has free variables",
                       name->text);
    tg_var *v = tg_relay_new_var(p, l, name, type);
    tg_relay_bind_name(p, v, false);
    if (p->bare)
        TG_PUSH(p->cx, p->param, v);
}

void tg_relay_end_main(tg_relay *p, tg_relay_loc l, const tg_node *body)
{
    bool function = body->kind == TG_RFN && p->bind.n == 0 && p->param.n == 0;
    const tg_func *whole = function ? body->u.func : NULL;
    const tg_func *f = tg_relay_end_fn(p, l, NULL, tg_relay_end_block(p, l, body));
    if (whole != NULL) {                            /* the printed form of one function */
        tg_func *named = tg_func_copy(p->cx, whole);
        const tg_var **param = TG_ARRAY(p->cx, const tg_var *, (size_t)whole->nparams + f->nparams);
        memcpy(param, whole->param, whole->nparams * sizeof *param);
        memcpy(param + whole->nparams, f->param, f->nparams * sizeof *param);   /* constants that the text lacks */
        named->name = f->name;
        named->nparams += f->nparams;
        named->param = param;
        f = named;
    }
    add_fn(p, f);
}

/* ---- algebraic types ---- */

void tg_relay_begin_adt(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    const tg_adt *before = tg_map_get(&p->adts, TG_KEY(name));
    if (before != NULL)
        tg_relay_wrong(p, l.span, "type %s is defined twice", name->text);
    tg_adt *adt = TG_NEW(p->cx, tg_adt);            /* its constructors may name it */
    adt->name = name;
    adt->span = l.span;
    tg_map_put(p->cx, &p->adts, TG_KEY(name), adt);
    p->adt_first_name = (uint32_t)p->name.n;
    p->ctor.n = 0;
}

void tg_relay_ctor(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    tg_relay_marks m = tg_relay_close(p);
    uint32_t n = (uint32_t)p->type_list.n - m.type;
    tg_ctor c = { name, n, tg_copy(p->cx, TG_FROM(p->type_list, m.type), n * sizeof *p->type_list.at) };
    p->type_list.n = m.type;
    if (tg_map_get(&p->ctors, TG_KEY(name)) != NULL)
        tg_relay_wrong(p, l.span, "constructor %s is defined twice", name->text);
    tg_map_put(p->cx, &p->ctors, TG_KEY(name), tg_copy(p->cx, &c, sizeof c));
    TG_PUSH(p->cx, p->ctor, c);
}

void tg_relay_end_adt(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    tg_adt *adt = tg_map_get(&p->adts, TG_KEY(name));
    (void)l;
    adt->nctors = (uint32_t)p->ctor.n;
    adt->ctor = tg_copy(p->cx, p->ctor.at, p->ctor.n * sizeof *p->ctor.at);
    adt->nparams = (uint32_t)p->name.n - p->adt_first_name;
    adt->param = tg_copy(p->cx, TG_FROM(p->name, p->adt_first_name), adt->nparams * sizeof *p->name.at);
    tg_relay_end_type_params(p, p->adt_first_name);
    p->ctor.n = 0;
    TG_PUSH(p->cx, p->adt, adt);
}

/* ---- the module ---- */

/* Functions may come with another file. */
static void check_uses(tg_relay *p)
{
    for (size_t i = 0; i < p->adt_used.n; ++i) {
        const tg_type *t = p->adt_used.at[i];
        const tg_adt *adt = tg_map_get(&p->adts, TG_KEY(t->name));
        if (adt == NULL)
            tg_relay_wrong(p, p->adt_uses.at[i], "type %s is not defined", t->name->text);
        else if (adt->nparams != t->n)
            tg_relay_wrong(p, p->adt_uses.at[i], "type %s takes %u argument%s, %u %s given", t->name->text,
                           (unsigned)adt->nparams, adt->nparams == 1 ? "" : "s", (unsigned)t->n,
                           t->n == 1 ? "is" : "are");
    }
}

/* The constants of metadata sections are parsed straight from the source. */
static bool read_metadata(tg_relay *p, uint32_t at)
{
    size_t size = p->t.src->size;
    p->meta = tg_meta_new(p->cx, (tg_span){ p->t.src->id, at, (uint32_t)size });
    return tg_meta_feed(p->meta, p->t.text + at, size - at) && tg_meta_end(p->meta);
}

/* Types and constructors of what was loaded before may be used. */
static void know_module(tg_relay *p)
{
    for (size_t i = 0; i < p->m->adts.n; ++i) {
        const tg_adt *adt = p->m->adts.at[i];
        tg_map_put(p->cx, &p->adts, TG_KEY(adt->name), (void *)(uintptr_t)adt);
        for (uint32_t k = 0; k < adt->nctors; ++k)
            tg_map_put(p->cx, &p->ctors, TG_KEY(adt->ctor[k].name), (void *)(uintptr_t)&adt->ctor[k]);
    }
}

bool tg_parse_relay(tg_ctx *cx, tg_module *m, tg_source *src)
{
    tg_relay *p = TG_NEW(cx, tg_relay);
    uint32_t json;
    p->cx = cx;
    p->m = m;
    tg_relay_text_init(&p->t, cx, src, 0, (uint32_t)src->size);
    p->t.end = tg_relay_program_end(&p->t, &json);
    if (json != 0 && !read_metadata(p, json))
        return false;
    if (json == 0)
        tg_relay_find_missing(p);
    know_module(p);
    tg_relay_run(p);
    if (!p->failed)
        check_uses(p);
    if (p->failed)
        return false;
    for (size_t i = 0; i < p->adt.n; ++i)
        TG_PUSH(cx, m->adts, p->adt.at[i]);
    for (size_t i = 0; i < p->func.n; ++i)
        tg_module_add(m, p->func.at[i]);
    return true;
}
