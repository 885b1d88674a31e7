/* tvmscript_value.c: evaluating expressions of the tree to values: names, families, arguments. The walk keeps its own stack,
 * so that neither long chains nor deep brackets grow C's. */
#include "tvmscript_elab.h"

#include <string.h>

/* ---- the table of names ---- */

static const tg_word words[] = {
#define TG_WORD(family, name, id, arg) { TG_FAMILY_##family, name, TG_W_##id, arg },
#include "tvmscript_names.def"
#undef TG_WORD
};

/* Names are aligned, so the low bits can tell the families apart. */
static uint64_t word_key(enum tg_family family, const tg_name *name)
{
    return TG_KEY(name) + (uint64_t)family;
}

const tg_map *tg_el_words(tg_ctx *cx)
{
    tg_map *m = cx->table[TG_TABLE_TVMSCRIPT];
    if (m == NULL) {
        m = TG_NEW(cx, tg_map);
        for (size_t i = 0; i < TG_COUNT(words); ++i)
            tg_map_put(cx, m, word_key(words[i].family, tg_intern_z(cx, words[i].name)), (void *)(uintptr_t)(i + 1));
        cx->table[TG_TABLE_TVMSCRIPT] = m;
    }
    return m;
}

const tg_word *tg_el_word(const tg_elab *e, enum tg_family family, const tg_name *name)
{
    uintptr_t i = (uintptr_t)tg_map_get(e->words, word_key(family, name));
    return i == 0 ? NULL : &words[i - 1];
}

/* ---- errors and small helpers ---- */

tg_span tg_el_span(const tg_elab *e, const tg_syn *s)
{
    return tg_syn_span(e->p, s);
}

static void report(tg_elab *e, const tg_syn *at, const char *fmt, va_list args)
{
    tg_text t = tg_text_new(e->cx);
    tg_vprintf(&t, fmt, args);
    tg_error(e->cx, tg_el_span(e, at), "%s", tg_text_z(&t));
    e->bad = true;
}

void tg_el_error(tg_elab *e, const tg_syn *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(e, at, fmt, args);
    va_end(args);
}

tg_val tg_el_wrong(tg_elab *e, const tg_syn *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(e, at, fmt, args);
    va_end(args);
    return (tg_val){ .kind = TG_VAL_ERROR, .at = at };
}

tg_val tg_el_of_expr(const tg_syn *at, const tg_node *expr)
{
    tg_val v = { .kind = expr != NULL ? TG_VAL_EXPR : TG_VAL_ERROR, .at = at };
    v.u.expr = expr;
    return v;
}

const char *tg_el_what(const tg_val *v)
{
    switch ((enum tg_val_kind)v->kind) {
    case TG_VAL_ERROR: return "an error";
    case TG_VAL_NONE: return "None";
    case TG_VAL_BOOL: return "a truth value";
    case TG_VAL_INT: return "an integer";
    case TG_VAL_FLOAT: return "a number";
    case TG_VAL_STR: return "a string";
    case TG_VAL_ELLIPSIS: return "'...'";
    case TG_VAL_LIST: return "a list";
    case TG_VAL_TUPLE: return "a tuple";
    case TG_VAL_DICT: return "a dictionary";
    case TG_VAL_SLICE: return "a slice";
    case TG_VAL_LAMBDA: return "a lambda";
    case TG_VAL_EXPR: return "an expression";
    case TG_VAL_BUFFER: return "a buffer";
    case TG_VAL_ACCESS: return "an access";
    case TG_VAL_TYPE: return "a type";
    case TG_VAL_FAMILY: return "a module of names";
    case TG_VAL_WORD: return "a function without arguments";
    case TG_VAL_FORM: return "a form that stands elsewhere";
    case TG_VAL_GLOBALS: return "the module";
    case TG_VAL_GLOBAL: return "a function";
    case TG_VAL_META: case TG_VAL_META_KEY: return "the metadata";
    case TG_VAL_VALUE: return "an object of the metadata";
    case TG_VAL_METHOD: return "a method";
    }
    return "a value";
}

/* ---- scopes ---- */

static tg_el_cell *cell_of(tg_elab *e, const tg_name *name)
{
    tg_el_cell *c = tg_map_get(&e->names, TG_KEY(name));
    if (c == NULL) {
        c = TG_NEW(e->cx, tg_el_cell);
        tg_map_put(e->cx, &e->names, TG_KEY(name), c);
    }
    return c;
}

void tg_el_bind(tg_elab *e, const tg_name *name, tg_val v)
{
    tg_el_cell *c = cell_of(e, name);
    TG_PUSH(e->cx, e->undo, ((tg_el_undo){ c, *c }));
    c->val = v;
    c->val.key = NULL;
    c->bound = true;
}

size_t tg_el_mark(const tg_elab *e)
{
    return e->undo.n;
}

void tg_el_leave(tg_elab *e, size_t mark)
{
    while (e->undo.n > mark) {
        const tg_el_undo *u = &e->undo.at[--e->undo.n];
        *u->cell = u->was;
    }
}

/* ---- arguments ---- */

/* The index of a parameter in "shape dtype | data buffer_type/type": words, alternatives after a slash. */
static uint32_t find_parameter(const char *names, const tg_name *key)
{
    uint32_t i = 0;
    for (const char *s = names; *s != '\0';) {
        size_t n = strcspn(s, " /");
        if (n == key->len && memcmp(s, key->text, n) == 0)
            return i;
        i += s[n] != '/' && *s != '|';
        s += n + (s[n] != '\0');
    }
    return UINT32_MAX;
}

static void count_parameters(const char *names, uint32_t *all, uint32_t *required)
{
    *all = 0;
    *required = UINT32_MAX;
    for (const char *s = names; *s != '\0';) {
        size_t n = strcspn(s, " ");
        if (*s == '|')
            *required = *all;
        else
            ++*all;
        s += n + (s[n] != '\0');
    }
    if (*required == UINT32_MAX)
        *required = *all;
}

/* The name of parameter @p i, for messages. */
static const char *parameter_name(tg_elab *e, const char *names, uint32_t i)
{
    const char *s = names;
    for (;;) {
        size_t n = strcspn(s, " ");
        if (*s != '|' && i-- == 0)
            return tg_format(e->cx, "%.*s", (int)strcspn(s, " /"), s);
        s += n + 1;
    }
}

bool tg_el_args(tg_elab *e, const tg_val *form, const char *names, const tg_val **slot)
{
    uint32_t all, required;
    count_parameters(names, &all, &required);
    memset(slot, 0, all * sizeof slot[0]);
    for (uint32_t i = 0; i < form->n; ++i) {
        const tg_val *v = &form->u.item[i];
        if (v->kind == TG_VAL_ERROR)
            return false;
        uint32_t k = v->key != NULL ? find_parameter(names, v->key) : i;
        if (k >= all) {
            if (v->key != NULL)
                tg_el_error(e, v->at, "%s has no parameter '%s'", form->name->text, v->key->text);
            else
                tg_el_error(e, v->at, "%s takes %u argument%s at most", form->name->text, (unsigned)all,
                            all == 1 ? "" : "s");
            return false;
        }
        if (slot[k] != NULL) {
            tg_el_error(e, v->at, "%s: '%s' is given twice", form->name->text, parameter_name(e, names, k));
            return false;
        }
        slot[k] = v;
    }
    for (uint32_t k = 0; k < all; ++k) {
        if (slot[k] != NULL && slot[k]->kind == TG_VAL_NONE && k >= required)
            slot[k] = NULL;
        if (slot[k] == NULL && k < required) {
            tg_el_error(e, form->at, "%s: '%s' is missing", form->name->text, parameter_name(e, names, k));
            return false;
        }
    }
    return true;
}

bool tg_el_int(tg_elab *e, const tg_val *v, const char *what, int64_t *out)
{
    if (v->kind == TG_VAL_ERROR)
        return false;
    if (v->kind == TG_VAL_EXPR && v->u.expr->kind == TG_INT) {
        *out = v->u.expr->u.i;
        return true;
    }
    bool small = v->u.mag <= (uint64_t)INT64_MAX + (v->negative ? 1 : 0);
    if ((v->kind == TG_VAL_INT || v->kind == TG_VAL_BOOL) && small) {
        *out = v->negative ? -(int64_t)(v->u.mag - 1) - 1 : (int64_t)v->u.mag;
        if (v->u.mag == 0)
            *out = 0;
        return true;
    }
    tg_el_error(e, v->at, "%s must be a constant integer, not %s", what,
                v->kind == TG_VAL_INT ? "one past 64 bits" : tg_el_what(v));
    return false;
}

const tg_name *tg_el_str(tg_elab *e, const tg_val *v, const char *what)
{
    if (v->kind == TG_VAL_STR)
        return v->u.name;
    if (v->kind == TG_VAL_EXPR && v->u.expr->kind == TG_STR)
        return v->u.expr->u.name;
    if (v->kind == TG_VAL_VALUE && v->u.value->kind == TG_V_STR)
        return v->u.value->s;
    if (v->kind != TG_VAL_ERROR)
        tg_el_error(e, v->at, "%s must be a string, not %s", what, tg_el_what(v));
    return NULL;
}

bool tg_el_dtype(tg_elab *e, const tg_val *v, DLDataType *out)
{
    if (v->kind == TG_VAL_TYPE && v->u.type->kind == TG_T_PRIM) {
        *out = v->u.type->dtype;
        return true;
    }
    const tg_name *name = tg_el_str(e, v, "a data type");
    if (name == NULL)
        return false;
    if (tg_dtype_parse(name->text, name->len, out) && out->code != kDLOpaqueHandle)
        return true;
    tg_el_error(e, v->at, "\"%s\" is no data type that is supported here", name->text);
    return false;
}

const tg_type *tg_el_result_type(tg_elab *e, const tg_val *v)
{
    if (v->kind == TG_VAL_TYPE)
        return v->u.type;
    if (v->kind == TG_VAL_NONE)
        return tg_void(e->cx);
    const tg_name *name = tg_el_str(e, v, "a result type");
    if (name == NULL)
        return NULL;
    if (tg_name_is(name, "handle"))
        return tg_prim(e->cx, TG_HANDLE);
    if (tg_name_is(name, "void"))
        return tg_void(e->cx);
    DLDataType d;
    return tg_el_dtype(e, v, &d) ? tg_prim(e->cx, d) : NULL;
}

uint32_t tg_el_list(const tg_val *v, const tg_val **item)
{
    if (v->kind == TG_VAL_LIST || v->kind == TG_VAL_TUPLE) {
        *item = v->u.item;
        return v->n;
    }
    *item = v;
    return 1;
}

/* ---- names ---- */

static tg_val plain(enum tg_val_kind kind, const tg_syn *at)
{
    return (tg_val){ .kind = (uint8_t)kind, .at = at };
}

static tg_val word_value(const tg_syn *at, const tg_word *word, const tg_name *name)
{
    tg_val v = plain(TG_VAL_WORD, at);
    v.w.word = word;
    v.name = name;
    return v;
}

static tg_val name_value(tg_elab *e, const tg_syn *s)
{
    const tg_name *name = s->u.name;
    const tg_el_cell *c = tg_map_get(&e->names, TG_KEY(name));
    if (c != NULL && c->bound) {
        tg_val v = c->val;
        v.at = s;
        return v;
    }
    uintptr_t family = (uintptr_t)tg_map_get(&e->families, TG_KEY(name));
    if (family != 0) {
        tg_val v = plain(TG_VAL_FAMILY, s);
        v.u.family = (enum tg_family)family;
        return v;
    }
    if (name == e->class_name || tg_name_is(name, "cls"))
        return plain(TG_VAL_GLOBALS, s);
    if (tg_name_is(name, "metadata") || tg_name_is(name, "meta") || tg_name_is(name, "__tvm_meta__"))
        return plain(TG_VAL_META, s);
    const tg_word *word = tg_el_word(e, TG_FAMILY_PY, name);
    if (word != NULL)
        return word_value(s, word, name);
    if (tg_map_get(&e->globals, TG_KEY(name)) != NULL) {
        tg_val v = plain(TG_VAL_GLOBAL, s);
        v.u.name = name;
        return v;
    }
    return tg_el_wrong(e, s, "'%s' is not defined", name->text);
}

static const tg_word other_word[] = {
    [TG_FAMILY_PY] = { TG_FAMILY_PY, "", TG_W_OTHER, 0 }, [TG_FAMILY_T] = { TG_FAMILY_T, "T", TG_W_OTHER, 0 },
    [TG_FAMILY_I] = { TG_FAMILY_I, "I", TG_W_OTHER, 0 }, [TG_FAMILY_R] = { TG_FAMILY_R, "R", TG_W_OTHER, 0 },
    [TG_FAMILY_TVM] = { TG_FAMILY_TVM, "tvm", TG_W_OTHER, 0 }
};

/* T.name, or T.axis.name when @p name is the joined rest: a row of the table, a data type, or some other name. */
static tg_val family_member(tg_elab *e, const tg_syn *s, enum tg_family family, const tg_name *name)
{
    const tg_word *word = tg_el_word(e, family, name);
    DLDataType d;
    if (word == NULL && family == TG_FAMILY_T && tg_dtype_parse(name->text, name->len, &d) &&
        d.code != kDLOpaqueHandle) {
        tg_val v = plain(TG_VAL_TYPE, s);
        v.u.type = tg_prim(e->cx, d);
        return v;
    }
    if (word != NULL && (word->id == TG_W_HANDLE || word->id == TG_W_DTYPE)) {
        tg_val v = plain(TG_VAL_TYPE, s);
        v.u.type = word->id == TG_W_HANDLE ? e->handle : e->boolean;
        return v;
    }
    return word_value(s, word != NULL ? word : &other_word[family], name);
}

enum { LONGEST_MEMBER = 200 };      /* bytes of axis.remap, script.ir_module … */

static tg_val member_value(tg_elab *e, const tg_syn *s, const tg_val *object)
{
    const tg_name *name = s->u.name;
    switch (object->kind) {
    case TG_VAL_ERROR:
        return *object;
    case TG_VAL_FAMILY:
        return family_member(e, s, object->u.family, name);
    case TG_VAL_WORD:
        if (object->w.word->id == TG_W_OTHER && object->name->len + name->len > LONGEST_MEMBER)
            return tg_el_wrong(e, s, "%s has no member of so long a name", object->w.word->name);
        if (object->w.word->id == TG_W_OTHER)
            return family_member(e, s, object->w.word->family,
                                 tg_internf(e->cx, "%s.%s", object->name->text, name->text));
        return tg_el_wrong(e, s, "%s has no member '%s'", object->name->text, name->text);
    case TG_VAL_GLOBALS: {
        tg_val v = plain(TG_VAL_GLOBAL, s);
        v.u.name = name;
        return v;
    }
    default:
        return tg_el_attr(e, s, object, name);
    }
}

/* ---- the walk ---- */

static const tg_val *keep_items(tg_elab *e, const tg_val *item, uint32_t n)
{
    tg_val *copy = TG_TEMP_ARRAY(e->cx, tg_val, n);
    if (n > 0)
        memcpy(copy, item, n * sizeof copy[0]);
    return copy;
}

static tg_val sequence(tg_elab *e, enum tg_val_kind kind, const tg_syn *s, const tg_val *item, uint32_t n)
{
    tg_val v = plain(kind, s);
    for (uint32_t i = 0; i < n; ++i)
        if (item[i].kind == TG_VAL_ERROR)
            return item[i];
    v.n = n;
    v.u.item = keep_items(e, item, n);
    return v;
}

static bool is_leaf(const tg_syn *s)
{
    return s->kind <= TG_SYN_ELLIPSIS || s->kind == TG_SYN_LAMBDA;
}

static tg_val leaf_value(tg_elab *e, const tg_syn *s)
{
    tg_val v = plain(TG_VAL_NONE, s);
    switch (s->kind) {
    case TG_SYN_NAME:
        return name_value(e, s);
    case TG_SYN_INT:
        v.kind = TG_VAL_INT;
        v.u.mag = s->u.mag;
        v.negative = s->negative;
        return v;
    case TG_SYN_FLOAT:
        v.kind = TG_VAL_FLOAT;
        v.u.f = s->u.f;
        return v;
    case TG_SYN_STRING:
        v.kind = TG_VAL_STR;
        v.u.name = s->u.name;
        return v;
    case TG_SYN_TRUE: case TG_SYN_FALSE:
        v.kind = TG_VAL_BOOL;
        v.u.mag = s->kind == TG_SYN_TRUE;
        return v;
    case TG_SYN_ELLIPSIS:
        v.kind = TG_VAL_ELLIPSIS;
        return v;
    case TG_SYN_LAMBDA:
        v.kind = TG_VAL_LAMBDA;
        return v;
    default:
        return v;
    }
}

/* The value of a node whose kids have the values item[0..n). */
static tg_val reduce(tg_elab *e, const tg_syn *s, const tg_val *item, uint32_t n)
{
    switch (s->kind) {
    case TG_SYN_ATTR:
        return member_value(e, s, &item[0]);
    case TG_SYN_CALL:
        return tg_el_call(e, s, &item[0], item + 1, n - 1);
    case TG_SYN_INDEX:
        return tg_el_subscript(e, s, &item[0], item + 1, n - 1);
    case TG_SYN_SLICE:
        return sequence(e, TG_VAL_SLICE, s, item, n);
    case TG_SYN_TUPLE:
        return sequence(e, TG_VAL_TUPLE, s, item, n);
    case TG_SYN_LIST:
        return sequence(e, TG_VAL_LIST, s, item, n);
    case TG_SYN_DICT:
        return sequence(e, TG_VAL_DICT, s, item, n);
    case TG_SYN_CHAIN:
        return tg_el_chain(e, s, item, n);
    case TG_SYN_UNARY:
        return tg_el_unary(e, s, (enum tg_op)s->op, &item[0]);
    case TG_SYN_CHOICE:
        return tg_el_choice(e, s, &item[1], &item[0], &item[2]);
    case TG_SYN_KEYWORD: {
        tg_val v = item[0];
        v.key = s->u.name;
        return v;
    }
    case TG_SYN_STAR:
        return tg_el_wrong(e, s, "'*' arguments are not supported");
    default:
        return tg_el_wrong(e, s, "this is no expression");
    }
}

tg_val tg_el_value(tg_elab *e, const tg_syn *root)
{
    size_t frames = e->frames.n;
    if (is_leaf(root))
        return leaf_value(e, root);
    TG_PUSH(e->cx, e->frames, ((tg_el_frame){ root, tg_syn_first(root) }));
    while (e->frames.n > frames) {
        tg_el_frame *f = &e->frames.at[e->frames.n - 1];
        const tg_syn *kid = f->next;
        if (kid != NULL) {
            f->next = tg_syn_after(f->s, kid);
            if (is_leaf(kid)) {
                tg_val leaf = leaf_value(e, kid);
                TG_PUSH(e->cx, e->stack, leaf);
            } else {
                TG_PUSH(e->cx, e->frames, ((tg_el_frame){ kid, tg_syn_first(kid) }));
            }
            continue;
        }
        const tg_syn *s = f->s;
        --e->frames.n;
        tg_val v = reduce(e, s, e->stack.at + e->stack.n - s->nkids, s->nkids);
        e->stack.n -= s->nkids;
        TG_PUSH(e->cx, e->stack, v);
    }
    return e->stack.at[--e->stack.n];
}
