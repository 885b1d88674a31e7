/* print_relay.c: Relay functions as text that TVM's reader and ours accept (relay-text.md sections 2 and 11).
 * The same walk runs twice over a module: first silently, to number the bindings (inner ones first, although they come
 * later in the text), collect the constants and find names that need changing; then to write. What is nested waits on a list
 * of pieces, so that no depth of blocks grows the C stack. */
#include "print_relay.h"

#include <string.h>

#include "text.h"

enum piece_kind {
    TEXT,           /* a string */
    LINE,           /* a line begins: indentation */
    BLOCK,          /* node: RBLOCK, from binding i on */
    BOUND,          /* node: RBIND whose value was written */
    NODE,           /* node: a value or an atom; i: 1 or 2 for the attributes of a call, 2 when operands precede */
    NOTE,           /* node: the comment behind it */
    HIDE,           /* a scope ends: back to i variables */
    LEAVE           /* a function ends likewise */
};

typedef struct piece {
    enum piece_kind kind;
    unsigned indent;
    size_t i;
    union { const tg_node *node; const char *text; } u;
} piece;

typedef struct printer {
    tg_text *out;                   /* NULL: the silent walk */
    tg_ctx *cx;
    tg_relay_names *names;
    TG_VEC(piece) todo;             /* the last one is next */
} printer;

static void put(printer *p, const char *text)
{
    if (p->out != NULL)
        tg_puts(p->out, text);
}

static void put_line(printer *p, unsigned indent)
{
    enum { DEEPEST = 100 };         /* deeper code stays there */
    for (unsigned k = 0; p->out != NULL && k < indent && k < DEEPEST; ++k)
        tg_puts(p->out, "  ");
}

static void later(printer *p, enum piece_kind kind, unsigned indent, const tg_node *node, size_t i)
{
    TG_PUSH(p->cx, p->todo, ((piece){ .kind = kind, .indent = indent, .i = i, .u.node = node }));
}

static void later_text(printer *p, const char *text)
{
    TG_PUSH(p->cx, p->todo, ((piece){ .kind = TEXT, .u.text = text }));
}

/* ---- variables and types ---- */

static void put_type(printer *p, const char *before, const tg_type *type)
{
    if (type == NULL || p->out == NULL)
        return;
    tg_puts(p->out, before);
    tg_puts(p->out, tg_type_text(p->cx, type));
}

static void put_var(printer *p, const tg_var *v)
{
    if (p->out == NULL)
        return;
    uint64_t number = tg_shown_number(p->names, v);
    const tg_name *name = tg_shown_name(p->names, v);
    tg_putc(p->out, '%');
    if (number != 0)
        tg_put_int(p->out, (int64_t)number - 1);
    else
        tg_putn(p->out, name->text, name->len);
}

static void put_use(printer *p, const tg_var *v)
{
    if (!v->numbered)
        tg_use_var(p->names, v);
    put_var(p, v);
}

/* ---- attribute values; readers limit their nesting ---- */

static const char *width_suffix(char letter, uint16_t bits)
{
    if (letter == 'f')
        return bits == 64 ? "f64" : bits == 16 ? "f16" : "f";
    return bits == 64 ? "i64" : bits == 16 ? "i16" : bits == 8 ? "i8" : "";
}

static void put_float(printer *p, double v, int digits, uint16_t bits)
{
    if (p->out != NULL)
        tg_put_float(p->out, v, digits, false);
    put(p, width_suffix('f', bits));
}

static void put_int(printer *p, int64_t v, uint16_t bits)
{
    if (p->out != NULL)
        tg_put_int(p->out, v);
    put(p, width_suffix('i', bits));
}

static void put_meta(printer *p, const tg_tensor *t)
{
    uint64_t index = tg_constant_index(p->names, t);
    if (p->out != NULL)
        tg_printf(p->out, "meta[relay.Constant][%llu]", (unsigned long long)index);
}

static void put_string(printer *p, const tg_name *s)
{
    if (p->out != NULL)
        tg_put_quoted(p->out, s->text, s->len);
}

static bool is_identifier(const tg_name *s)
{
    bool start = true;
    for (uint32_t i = 0; i < s->len; ++i) {
        char c = s->text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (start || !((c >= '0' && c <= '9') || c == '.')))
            return false;
        start = c == '.';
    }
    return !start;
}

static void put_key(printer *p, const tg_name *key)
{
    if (is_identifier(key))
        put(p, key->text);
    else
        put_string(p, key);
}

static void put_value(printer *p, const tg_value *v);

static void put_items(printer *p, const tg_value *v, const char *between)
{
    for (uint32_t i = 0; i < v->n; ++i) {
        put(p, i > 0 ? ", " : "");
        if (between != NULL) {
            put_key(p, v->key[i]);
            put(p, between);
        }
        put_value(p, v->item[i]);
    }
}

/* Functions of the module and targets have forms of their own. */
static void put_object(printer *p, const tg_value *v)
{
    const tg_value *name = tg_v_get(v, "name_hint"), *text = tg_v_get(v, "text");
    if (tg_name_is(v->s, "GlobalVar") && name != NULL && name->kind == TG_V_STR && is_identifier(name->s)) {
        put(p, "'");
        put(p, name->s->text);
        put(p, "'");
    } else if (tg_name_is(v->s, "Target") && v->n == 1 && text != NULL && text->kind == TG_V_STR) {
        put(p, text->s->text);
    } else if (is_identifier(v->s)) {
        put(p, v->s->text);
        put(p, "(");
        put_items(p, v, "=");
        put(p, ")");
    } else {
        put(p, "{");
        put_items(p, v, ": ");
        put(p, "}");
    }
}

static void put_value(printer *p, const tg_value *v)
{
    switch ((enum tg_value_kind)v->kind) {
    case TG_V_NONE: put(p, "None"); break;
    case TG_V_BOOL: put(p, v->i != 0 ? "True" : "False"); break;
    case TG_V_INT: put_int(p, v->i, v->bits); break;
    case TG_V_FLOAT: put_float(p, v->f, 64, v->bits); break;
    case TG_V_STR: put_string(p, v->s); break;
    case TG_V_LIST: put(p, "["); put_items(p, v, NULL); put(p, "]"); break;
    case TG_V_DICT: put(p, "{"); put_items(p, v, ": "); put(p, "}"); break;
    case TG_V_TENSOR: put_meta(p, v->t); break;
    case TG_V_OBJECT: put_object(p, v); break;
    }
}

/* @p follows: something stands before in the list. */
static void put_attrs(printer *p, const tg_value *attrs, bool follows)
{
    for (uint32_t i = 0; attrs != NULL && i < attrs->n; ++i) {
        put(p, follows || i > 0 ? ", " : "");
        put_key(p, attrs->key[i]);
        put(p, "=");
        put_value(p, attrs->item[i]);
    }
}

/* ---- constants ---- */

static void put_constant(printer *p, const tg_tensor *t)
{
    DLDataType d = t->type->dtype;
    if (!tg_is_inline_constant(t))
        put_meta(p, t);
    else if (tg_is_bool(d))
        put(p, tg_tensor_i64(t, 0) != 0 ? "True" : "False");
    else if (tg_is_float(d))
        put_float(p, tg_tensor_f64(t, 0), d.bits, d.bits);
    else
        put_int(p, tg_tensor_i64(t, 0), d.bits);
}

/* ---- functions ---- */

static void put_type_params(printer *p, uint32_t n, const tg_name *const *name)
{
    for (uint32_t i = 0; i < n; ++i) {
        put(p, i == 0 ? "[" : ", ");
        put(p, name[i]->text);
    }
    put(p, n > 0 ? "]" : "");
}

/* The signature; the body and what follows it wait. */
static void begin_fn(printer *p, const tg_func *f, unsigned indent)
{
    size_t mark = p->names->scope.n;
    ++p->names->fn_depth;
    put_type_params(p, f->ntype_params, f->type_param);
    put(p, "(");
    for (uint32_t i = 0; i < f->nparams; ++i) {
        put(p, i > 0 ? ", " : "");
        tg_show_var(p->names, f->param[i], true);
        put_var(p, f->param[i]);
        put_type(p, ": ", f->param[i]->type);
    }
    put_attrs(p, f->attrs, f->nparams > 0);
    put(p, ")");
    put_type(p, " -> ", f->ret);
    put(p, " {\n");
    later(p, LEAVE, 0, NULL, mark);
    later_text(p, "}");
    later(p, LINE, indent, NULL, 0);
    later(p, BLOCK, indent + 1, f->body, 0);
}

/* ---- values ---- */

static bool has_fn_operand(const tg_node *n)
{
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (n->kid[i]->kind == TG_RFN)
            return true;
    return false;
}

/* Atoms that take no lines of their own. */
static void put_atom(printer *p, const tg_node *n)
{
    switch (n->kind) {
    case TG_RVAR: put_use(p, n->u.var); break;
    case TG_RCONST: put_constant(p, n->u.tensor); break;
    case TG_RGLOBAL: put(p, "@"); put(p, n->u.name->text); break;
    case TG_RCTOR: put(p, n->u.name->text); break;
    default: TG_CHECK(p->cx, false, n);
    }
}

/* Operands from @p first on, then what closes them. A function among them makes them wait. */
static void put_operands(printer *p, const tg_node *n, uint32_t first, unsigned indent, const tg_value *attrs,
                         const char *close)
{
    if (!has_fn_operand(n)) {
        for (uint32_t i = first; i < n->nkids; ++i) {
            put(p, i > first ? ", " : "");
            put_atom(p, n->kid[i]);
        }
        put_attrs(p, attrs, n->nkids > first);
        put(p, close);
        return;
    }
    later_text(p, close);
    if (attrs != NULL)                              /* they wait too: constants are numbered in the order of the text */
        later(p, NODE, indent, n, n->nkids > first ? 2 : 1);
    for (uint32_t i = n->nkids; i > first; --i) {
        later(p, NODE, indent, n->kid[i - 1], 0);
        later_text(p, i - 1 > first ? ", " : "");
    }
}

static void put_call(printer *p, const tg_node *n, unsigned indent)
{
    const tg_rcall_info *call = n->u.call;
    uint32_t first = call->op == NULL ? 1 : 0;
    if (call->op != NULL) {
        put(p, call->op->text);
        put(p, "(");
    } else if (n->kid[0]->kind != TG_RFN) {
        put_atom(p, n->kid[0]);
        put(p, "(");
    } else {
        put_operands(p, n, first, indent, call->attrs, ")");
        later_text(p, ")(");
        later(p, NODE, indent, n->kid[0], 0);
        put(p, "(");
        return;
    }
    put_operands(p, n, first, indent, call->attrs, ")");
}

static void put_get(printer *p, const tg_node *n)
{
    bool plain = n->kid[0]->kind == TG_RVAR && !tg_projection_is_name(p->names, n->kid[0]->u.var, n->u.i);
    put(p, plain ? "" : "(");
    put_atom(p, n->kid[0]);
    put(p, plain ? "." : ").");
    put_int(p, n->u.i, 0);
}

static void put_if(printer *p, const tg_node *n, unsigned indent)
{
    put(p, "if (");
    put_atom(p, n->kid[0]);
    put(p, ") {\n");
    later_text(p, "}");
    later(p, LINE, indent, NULL, 0);
    later(p, BLOCK, indent + 1, n->kid[2], 0);
    later_text(p, "} else {\n");
    later(p, LINE, indent, NULL, 0);
    later(p, BLOCK, indent + 1, n->kid[1], 0);
}

static void put_match(printer *p, const tg_node *n, unsigned indent)
{
    put(p, n->u.i != 0 ? "match? (" : "match (");
    put_atom(p, n->kid[0]);
    put(p, ") {\n");
    later_text(p, "}");
    later(p, LINE, indent, NULL, 0);
    for (uint32_t i = n->nkids; i > 1; --i) {
        later_text(p, ",\n");
        later(p, NODE, indent + 1, n->kid[i - 1], 0);
        later(p, LINE, indent + 1, NULL, 0);
    }
}

static void put_arm(printer *p, const tg_node *n, unsigned indent)
{
    later(p, HIDE, 0, NULL, p->names->scope.n);
    later_text(p, "}");
    later(p, LINE, indent, NULL, 0);
    later(p, BLOCK, indent + 1, n->kid[1], 0);
    later_text(p, " => {\n");
    later(p, NODE, indent, n->kid[0], 0);
}

static void put_pattern(printer *p, const tg_node *n, unsigned indent)
{
    const tg_pattern *what = n->u.pattern;
    if (what->var != NULL) {
        tg_show_var(p->names, what->var, false);
        put_var(p, what->var);
        put_type(p, ": ", what->var->type);
        return;
    }
    put(p, what->ctor != NULL ? what->ctor->text : what->tuple ? "" : "_");
    if (n->nkids == 0 && !what->tuple)
        return;
    put(p, "(");
    later_text(p, ")");
    for (uint32_t i = n->nkids; i > 0; --i) {
        later(p, NODE, indent, n->kid[i - 1], 0);
        later_text(p, i > 1 ? ", " : "");
    }
}

static void put_ref(printer *p, const tg_node *n, unsigned indent)
{
    put(p, n->u.i == 0 ? "ref(" : n->u.i == 1 ? "ref_read(" : "ref_write(");
    put_operands(p, n, 0, indent, NULL, ")");
}

static void put_node(printer *p, const tg_node *n, unsigned indent)
{
    switch (n->kind) {
    case TG_RCALL: put_call(p, n, indent); break;
    case TG_RTUPLE: put(p, "("); put_operands(p, n, 0, indent, NULL, n->nkids == 1 ? ",)" : ")"); break;
    case TG_RGET: put_get(p, n); break;
    case TG_RFN: put(p, "fn "); begin_fn(p, n->u.func, indent); break;
    case TG_RIF: put_if(p, n, indent); break;
    case TG_RMATCH: put_match(p, n, indent); break;
    case TG_RARM: put_arm(p, n, indent); break;
    case TG_RPATTERN: put_pattern(p, n, indent); break;
    case TG_RREF: put_ref(p, n, indent); break;
    default: put_atom(p, n); break;
    }
}

/* Type and layer of a call. A layer's name that would end the comment, or nest another, is left out. */
static void put_note(printer *p, const tg_node *n)
{
    if (n->kind != TG_RCALL || p->out == NULL)
        return;
    const char *layer = n->u.call->layer != NULL ? n->u.call->layer->text : NULL;
    if (layer != NULL && (strstr(layer, "*/") != NULL || strstr(layer, "/*") != NULL || strpbrk(layer, "\r\n") != NULL))
        layer = NULL;
    if (n->type == NULL && layer == NULL)
        return;
    tg_puts(p->out, " /*");
    put_type(p, " ty=", n->type);
    if (layer != NULL)
        tg_printf(p->out, " span=%s:0:0", layer);
    tg_puts(p->out, " */");
}

/* ---- blocks ---- */

/* The last binding is the result itself, under a number that nothing else uses: it stands without it. */
static bool is_inline_result(const tg_node *block, size_t i)
{
    const tg_node *bind = block->kid[i], *result = block->kid[block->nkids - 1];
    if (i + 2 != block->nkids || !bind->u.var->numbered || result->kind != TG_RVAR || result->u.var != bind->u.var)
        return false;
    return bind->kid[0]->kind == TG_RFN || !tg_is_atom(bind->kid[0]);
}

/* Writes bindings until one holds blocks of its own, whose pieces then come first. */
static void put_block(printer *p, const piece *at)
{
    const tg_node *block = at->u.node;
    size_t i = at->i, last = block->nkids - 1;
    put_line(p, at->indent);
    if (i == last) {
        put_node(p, block->kid[last], at->indent);  /* a function may stand here, too */
        return;
    }
    const tg_node *bind = block->kid[i];
    bool whole = is_inline_result(block, i);
    if (!whole) {
        later(p, BLOCK, at->indent, block, i + 1);
        later_text(p, ";\n");
    }
    later(p, BOUND, 0, bind, whole);
    later(p, NOTE, 0, bind->kid[0], 0);
    if (!whole && bind->u.var->numbered) {
        put_var(p, bind->u.var);
        put(p, " = ");
    } else if (!whole) {
        tg_show_var(p->names, bind->u.var, false)->pending = true;
        put(p, "let ");
        put_var(p, bind->u.var);
        put_type(p, ": ", bind->u.var->type);
        put(p, " = ");
    }
    put_node(p, bind->kid[0], at->indent);
}

/* After the value: the binding's number, and its name is known from here on. */
static void end_binding(printer *p, const tg_node *bind, bool whole)
{
    if (whole)
        return;
    if (!bind->u.var->numbered)
        p->names->scope.at[p->names->scope.n - 1]->pending = false;
    else if (p->out == NULL)
        tg_number_var(p->names, bind->u.var);
}

static void run(printer *p)
{
    while (p->todo.n > 0) {
        piece at = p->todo.at[--p->todo.n];
        switch (at.kind) {
        case TEXT: put(p, at.u.text); break;
        case LINE: put_line(p, at.indent); break;
        case BLOCK:
            if (at.i == 0)
                later(p, HIDE, 0, NULL, p->names->scope.n);
            if (at.i + 1 == at.u.node->nkids || is_inline_result(at.u.node, at.i))
                later_text(p, "\n");
            put_block(p, &at);
            break;
        case BOUND: end_binding(p, at.u.node, at.i != 0); break;
        case NODE:
            if (at.i != 0)
                put_attrs(p, at.u.node->u.call->attrs, at.i == 2);
            else
                put_node(p, at.u.node, at.indent);
            break;
        case NOTE: put_note(p, at.u.node); break;
        case HIDE: tg_hide_vars(p->names, at.i); break;
        case LEAVE: --p->names->fn_depth; tg_hide_vars(p->names, at.i); break;
        }
    }
}

/* ---- the module ---- */

static void put_adt(printer *p, const tg_adt *adt)
{
    put(p, adt->nctors == 0 ? "extern type " : "type ");
    put(p, adt->name->text);
    put_type_params(p, adt->nparams, adt->param);
    if (adt->nctors == 0) {
        put(p, "\n");
        return;
    }
    put(p, " {\n");
    for (uint32_t i = 0; i < adt->nctors; ++i) {
        const tg_ctor *c = &adt->ctor[i];
        put(p, "  ");
        put(p, c->name->text);
        for (uint32_t k = 0; k < c->n; ++k)
            put_type(p, k == 0 ? "(" : ", ", c->field[k]);
        put(p, c->n > 0 ? "),\n" : ",\n");
    }
    put(p, "}\n");
}

static void put_definitions(printer *p, const tg_module *m)
{
    for (size_t i = 0; i < m->adts.n; ++i) {
        put(p, i > 0 ? "\n" : "");
        put_adt(p, m->adts.at[i]);
    }
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        put(p, i > 0 || m->adts.n > 0 ? "\n" : "");
        if (f->kind == TG_FUNC_PRIM) {
            put(p, "/* @");
            put(p, f->name->text);
            put(p, " is a kernel: TVMScript, a text of its own */\n");
            continue;
        }
        put(p, "def @");
        put(p, f->name->text);
        begin_fn(p, f, 0);
        run(p);
        put(p, "\n");
    }
}

/* The layout of TVM 0.16: node 0 is nothing, 1 the map of type keys, 2 the list of constants, then these. */
static void put_metadata(tg_text *t, const tg_relay_names *names)
{
    size_t n = names->constants.n;
    tg_puts(t, "\n#[metadata]\n{\n  \"root\": 1, \n  \"nodes\": [\n    {\n      \"type_key\": \"\"\n    }, \n    {\n"
               "      \"type_key\": \"Map\", \n      \"keys\": [\n        \"relay.Constant\"\n      ], \n      "
               "\"data\": [2]\n    }, \n"
               "    {\n      \"type_key\": \"Array\", \n      \"data\": [");
    for (size_t i = 0; i < n; ++i)
        tg_printf(t, "%s%zu", i > 0 ? ", " : "", i + 3);
    tg_puts(t, "]\n    }");
    for (size_t i = 0; i < n; ++i)
        tg_printf(t,
                  ", \n    {\n      \"type_key\": \"relay.Constant\", \n      \"attrs\": {\n        "
                  "\"_checked_type_\": \"0\", \n"
                  "        \"data\": \"%zu\", \n        \"span\": \"0\", \n        \"virtual_device_\": \"0\"\n      "
                  "}\n    }",
                  i);
    tg_puts(t, "\n  ], \n  \"b64ndarrays\": [\n");
    for (size_t i = 0; i < n; ++i) {
        tg_puts(t, "    \"");
        tg_print_blob(t, names->constants.at[i]);
        tg_puts(t, i + 1 < n ? "\", \n" : "\"\n");
    }
    tg_puts(t, "  ], \n  \"attrs\": {\"tvm_version\": \"0.16.0\"}\n}\n");
}

void tg_print_relay(tg_text *t, const tg_module *m)
{
    tg_relay_names names = tg_relay_names_of(m);
    printer p = { .cx = m->cx, .names = &names };
    put_definitions(&p, m);
    p.out = t;
    tg_puts(t, "#[version = \"0.0.5\"]\n");
    put_definitions(&p, m);
    if (names.constants.n > 0)
        put_metadata(t, &names);
}

/* ---- tensors ---- */

static void put_le(unsigned char *to, uint64_t v, size_t bytes)
{
    for (size_t k = 0; k < bytes; ++k)
        to[k] = (unsigned char)(v >> (8 * k));
}

/* Elements as they are on a little-endian machine. */
static const unsigned char *elements(tg_ctx *cx, const tg_tensor *v)
{
    const uint16_t one = 1;
    size_t width = tg_dtype_bytes(v->type->dtype);
    if (*(const unsigned char *)&one == 1 || width == 1)
        return v->dl.data;
    const unsigned char *from = v->dl.data;
    unsigned char *to = tg_temp(cx, v->size_bytes);
    for (size_t i = 0; i < v->size_bytes; ++i)
        to[i] = from[i / width * width + (width - 1 - i % width)];
    return to;
}

void tg_print_blob(tg_text *t, const tg_tensor *v)
{
    unsigned char head[40 + 8 * TG_MAX_NDIM + 2] = { 0 };
    const tg_type *type = v->type;
    size_t n = 40 + 8 * (size_t)type->n;
    put_le(head, 0xDD5E40F096B4A13F, 8);
    put_le(head + 16, kDLCPU, 4);
    put_le(head + 24, type->n, 4);
    head[28] = type->dtype.code;
    head[29] = type->dtype.bits;
    put_le(head + 30, type->dtype.lanes, 2);
    for (uint32_t k = 0; k < type->n; ++k)
        put_le(head + 32 + 8 * (size_t)k, (uint64_t)type->dim[k], 8);
    put_le(head + n - 8, v->size_bytes, 8);
    const unsigned char *data = elements(t->cx, v);
    size_t fill = (3 - n % 3) % 3;                  /* the header is written in whole groups of three bytes */
    fill = fill > v->size_bytes ? v->size_bytes : fill;
    memcpy(head + n, data, fill);
    tg_put_base64(t, head, n + fill);
    if (v->size_bytes > fill)
        tg_put_base64(t, data + fill, v->size_bytes - fill);
}
