/* print_tir.c: PrimFuncs as TVMScript: the metadata section with the tensors, the class, and each function's signature.
 * The text is what TVM 0.16 prints and reads, but constants stand whole in the metadata. Formats: tvmscript-tir.md. */
#include "print_tir.h"
#include "walk.h"

/* ---- tensors of the module: shared ones once ---- */

typedef struct tensors { tg_ctx *cx; tg_map index; TG_VEC(const tg_tensor *) list; } tensors;

static void add_tensor(tensors *s, const tg_tensor *t)
{
    if (t == NULL || tg_map_get(&s->index, TG_KEY(t)) != NULL)
        return;
    TG_PUSH(s->cx, s->list, t);
    tg_map_put(s->cx, &s->index, TG_KEY(t), (void *)(uintptr_t)s->list.n);
}

static void add_value(tensors *s, const tg_value *v)
{
    if (v == NULL)
        return;
    if (v->kind == TG_V_TENSOR)
        add_tensor(s, v->t);
    for (uint32_t i = 0; i < v->n; ++i)
        add_value(s, v->item[i]);
}

static bool add_node(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    tensors *s = user;
    if (n->kind == TG_ALLOCATE || n->kind == TG_ALLOC_CONST) {
        add_tensor(s, n->u.alloc->tensor);
        add_value(s, n->u.alloc->annotations);
    } else if (n->kind == TG_FOR) {
        add_value(s, n->u.loop->annotations);
    } else if (n->kind == TG_BLOCK) {
        add_value(s, n->u.block->annotations);
    }
    return tg_is_stmt(n);
}

/* The layout of TVM 0.16: node 0 is nothing, 1 the map of type keys, 2 the list of tensors, then these. Quotes are escaped: the
 * JSON stands in a Python string. */
static void put_metadata(tg_text *t, const tensors *s)
{
    tg_puts(t, "metadata = tvm.ir.load_json(\"\"\"{\n  \\\"root\\\": 1, \n  \\\"nodes\\\": [\n"
               "    {\n      \\\"type_key\\\": \\\"\\\"\n    }, \n"
               "    {\n      \\\"type_key\\\": \\\"Map\\\", \n      \\\"keys\\\": [\n        \\\"runtime.NDArray\\\"\n      ], \n"
               "      \\\"data\\\": [2]\n    }, \n"
               "    {\n      \\\"type_key\\\": \\\"Array\\\", \n      \\\"data\\\": [");
    for (size_t i = 0; i < s->list.n; ++i)
        tg_printf(t, "%s%zu", i > 0 ? ", " : "", i + 3);
    tg_puts(t, "]\n    }");
    for (size_t i = 0; i < s->list.n; ++i) {
        tg_puts(t, ", \n    {\n      \\\"type_key\\\": \\\"runtime.NDArray\\\", \n      \\\"repr_str\\\": \\\"");
        tg_print_blob(t, s->list.at[i]);
        tg_puts(t, "\\\"\n    }");
    }
    tg_puts(t, "\n  ], \n  \\\"b64ndarrays\\\": [], \n"
               "  \\\"attrs\\\": {\\\"tvm_version\\\": \\\"0.16.0\\\"}\n}\"\"\")\n");
}

/* ---- signatures ---- */

static const tg_buffer *buffer_of(const tg_func *f, uint32_t i)
{
    return f->buffer != NULL ? f->buffer[i] : NULL;
}

/* Known from the annotation alone: the pointer has no name and no type of its own, the shape no variables. */
static bool is_annotated(tg_ctx *cx, const tg_func *f, uint32_t i)
{
    const tg_buffer *b = buffer_of(f, i);
    const tg_name *pointer = f->param[i]->name;
    return b != NULL && tg_tir_is_plain(b) && f->param[i]->type == tg_ptr(cx, b->dtype, b->scope) &&
           (pointer == b->name || pointer == NULL);
}

/* Names of buffers and scalars are the interface; those of pointers that are matched below give way to them. */
static void name_params(tg_tir_printer *p, const tg_func *f, const char **name)
{
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_buffer *b = buffer_of(f, i);
        if (b == NULL) {
            name[i] = tg_tir_define(p, f->param[i]);
            continue;
        }
        name[i] = tg_tir_define_buffer(p, b)->text;
        tg_tir_show(p, f->param[i], tg_format(p->cx, "%s.data", name[i]));
        if (b->data != f->param[i])
            tg_tir_show(p, b->data, tg_format(p->cx, "%s.data", name[i]));
    }
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_buffer *b = buffer_of(f, i);
        if (b == NULL || is_annotated(p->cx, f, i))
            continue;
        bool same = f->param[i]->name == NULL || f->param[i]->name == b->name;
        name[i] = tg_tir_name(p, same ? tg_format(p->cx, "%s_handle", name[i]) : f->param[i]->name->text, "v")->text;
    }
}

static void put_params(tg_tir_printer *p, const tg_func *f, const char *const *name)
{
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_buffer *b = buffer_of(f, i);
        tg_printf(p->t, "%s%s: ", i > 0 ? ", " : "", name[i]);
        if (is_annotated(p->cx, f, i)) {
            tg_puts(p->t, "T.Buffer(");
            tg_tir_buffer_args(p, b, NULL, true);
        } else if (b != NULL && f->param[i]->type == tg_ptr(p->cx, b->dtype, b->scope)) {
            tg_puts(p->t, "T.handle");
        } else {
            tg_puts(p->t, tg_tir_type_text(p, f->param[i]->type));
        }
    }
}

/* ---- functions ---- */

static const tg_name *interface_name(const tg_func *f, uint32_t i)
{
    return buffer_of(f, i) != NULL ? buffer_of(f, i)->name : f->param[i]->name;
}

/* The names of the parameters, where one is no identifier: models have inputs called "conv1.weight". The reader gives them back
 * their names by this attribute, which is not one of the function. */
static const tg_value *param_names(tg_tir_printer *p, const tg_func *f)
{
    const tg_value **item = TG_ARRAY(p->cx, const tg_value *, f->nparams);
    bool needed = false;
    for (uint32_t i = 0; i < f->nparams; ++i) {
        const tg_name *name = interface_name(f, i);
        const char *shown =
            buffer_of(f, i) != NULL ? tg_tir_buffer_text(p, buffer_of(f, i)) : tg_tir_var_text(p, f->param[i]);
        needed = needed || name == NULL || !tg_name_is(name, shown);
        item[i] = tg_v_str(p->cx, name != NULL ? name : tg_intern_z(p->cx, shown));
    }
    return needed ? tg_v_list(p->cx, f->nparams, item) : NULL;
}

static void put_attrs(tg_tir_printer *p, const tg_func *f)
{
    const tg_value *attrs = f->attrs, *names = param_names(p, f);
    if (names != NULL)
        attrs = tg_v_with(p->cx, attrs, "tirgen.param_names", names);
    const tg_value *symbol = tg_v_get(attrs, "global_symbol");
    if (symbol != NULL && symbol->kind == TG_V_STR && symbol->s == f->name)
        attrs = tg_v_without(p->cx, attrs, "global_symbol");        /* the name says it */
    if (attrs == NULL || attrs->n == 0)
        return;
    tg_indent(p->t, 2);
    tg_puts(p->t, "T.func_attr(");
    tg_print_value_with(p->t, attrs, true, p->tensors);
    tg_puts(p->t, ")\n");
}

static bool declare_let(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    tg_tir_printer *p = user;
    if (n->kind != TG_LET || tg_map_get(&p->shown, (uint64_t)n->u.var->id + 1) != NULL)
        return true;
    const char *type = tg_tir_type_text(p, n->u.var->type), *name = tg_tir_define(p, n->u.var);
    tg_indent(p->t, 2);
    tg_printf(p->t, n->u.var->type->kind == TG_T_PTR && type[8] == '(' ? "%s = %s\n" : "%s = %s()\n", name, type);
    return true;
}

static bool find_block(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    bool *found = user;
    *found = *found || n->kind == TG_BLOCK;
    return !*found && tg_is_stmt(n);
}

/* Is the body a root block that the reader puts back by itself? */
static bool is_implied_root(tg_ctx *cx, const tg_node *body)
{
    if (body->kind != TG_BLOCK)
        return false;
    const tg_block *b = body->u.block;
    if (!tg_name_is(b->name, "root") || b->niters + b->nreads + b->nwrites + b->nmatches > 0 || b->has_init
        || (b->annotations != NULL && b->annotations->n > 0) || !tg_is_int_const(body->kid[0], 1))
        return false;
    const tg_node *inner = tg_block_body(body);
    bool has_block = false;
    if (inner->kind != TG_BLOCK)
        tg_visit(cx, inner, find_block, &has_block);
    return b->nallocs > 0 || (inner->kind == TG_BLOCK ? inner->u.block->niters > 0 : has_block);
}

static void put_body(tg_tir_printer *p, const tg_func *f)
{
    const tg_node *body = f->body;
    if (is_implied_root(p->cx, body)) {
        tg_indent(p->t, 2);
        tg_puts(p->t, "# with T.block(\"root\"):\n");
        tg_tir_allocs(p, body->u.block, 2);
        body = tg_block_body(body);
    }
    tg_tir_suite(p, body, 2);
}

static void put_func(tg_text *t, tg_ctx *cx, const tg_func *f, const tg_map *index)
{
    tg_tir_printer p = { .cx = cx, .t = t, .tensors = index };
    const char **name = TG_ARRAY(cx, const char *, f->nparams);
    tg_puts(t, tg_v_get(f->attrs, "global_symbol") != NULL ? "    @T.prim_func\n    def "
                                                           : "    @T.prim_func(private=True)\n    def ");
    tg_puts(t, f->name->text);
    tg_putc(t, '(');
    name_params(&p, f, name);
    put_params(&p, f, name);
    if (f->ret != NULL && f->ret->kind == TG_T_PRIM)
        tg_printf(t, ") -> %s:\n", tg_tir_type_text(&p, f->ret));
    else
        tg_puts(t, "):\n");
    put_attrs(&p, f);
    for (uint32_t i = 0; i < f->nparams; ++i)
        if (buffer_of(f, i) != NULL)
            tg_tir_declare_free(&p, buffer_of(f, i), 2);
    for (uint32_t i = 0; i < f->nparams; ++i) {
        if (buffer_of(f, i) == NULL || is_annotated(cx, f, i))
            continue;
        tg_indent(t, 2);
        tg_printf(t, "%s = T.match_buffer(%s, ", tg_tir_buffer_text(&p, buffer_of(f, i)), name[i]);
        tg_tir_buffer_args(&p, buffer_of(f, i), NULL, false);
        tg_puts(t, "\n");
    }
    tg_visit(cx, f->body, declare_let, &p);
    put_body(&p, f);
}

/* ---- the module ---- */

void tg_print_tir(tg_text *t, const tg_module *m)
{
    tensors s = { .cx = m->cx };
    add_value(&s, m->attrs);
    for (size_t i = 0; i < m->funcs.n; ++i) {
        add_value(&s, m->funcs.at[i]->attrs);
        tg_visit(m->cx, m->funcs.at[i]->body, add_node, &s);
    }
    if (s.list.n > 0)
        put_metadata(t, &s);
    tg_puts(t, "# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n");
    if (m->attrs != NULL && m->attrs->n > 0) {
        tg_puts(t, "    I.module_attrs(");
        tg_print_value_with(t, m->attrs, true, &s.index);
        tg_puts(t, ")\n");
    }
    if (m->funcs.n == 0)
        tg_puts(t, "    pass\n");
    for (size_t i = 0; i < m->funcs.n; ++i) {
        if (i > 0)
            tg_putc(t, '\n');
        put_func(t, m->cx, m->funcs.at[i], &s.index);
    }
}
