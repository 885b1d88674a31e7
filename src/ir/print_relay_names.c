/* print_relay_names.c: what variables are called in printed Relay text. Parameters keep the names of the source model wherever
 * our reader takes them back, letter by letter; a name that would be read as another variable is changed. */
#include <string.h>

#include "print_relay.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '/';
}

/* ---- names that the reader takes back ---- */

/* After a comma in a name: letters, digits, no attribute ("%x,axis=1"). */
static bool comma_stays(const char *rest)
{
    const char *p = rest;
    if (!is_word(*p) && *p != '.' && *p != '-')
        return false;
    while (is_word(*p) || *p == '.')
        ++p;
    return *p != '=';
}

/* After a colon in a name: nothing that looks like a type. */
static bool colon_stays(const char *rest)
{
    DLDataType d;
    size_t n = 0;
    while (is_word(rest[n]))
        ++n;
    if (*rest == '\0' || *rest == ' ' || *rest == '(' || strncmp(rest, "Tensor[", 7) == 0 ||
        strncmp(rest, "fn", 2) == 0)
        return false;
    return !tg_dtype_parse(rest, n, &d);
}

static bool stays(const char *p, bool first, bool param)
{
    switch (*p) {
    case ' ': return !first && (is_word(p[1]) || p[1] == '(') && p[1] != '/';
    case ',': return param && comma_stays(p + 1);
    case ':': return colon_stays(p + 1);
    case '=': return param && p[1] != '>' && p[1] != '=' && p[1] != '\0';
    case ';': return is_word(p[1]);
    case '{': case '}': return false;
    case '/': return p[1] != '*';
    case '#': return p[1] != '[';
    default: return (unsigned char)*p > ' ' && *p != 0x7f;
    }
}

/* Parentheses within a name pair up, and "%f(1)" is no call of another variable. */
static bool parentheses_stay(const tg_relay_names *s, const tg_name *name)
{
    int open = 0;
    size_t before = strcspn(name->text, "()");
    for (const char *p = name->text + before; *p != '\0' && open >= 0; ++p)
        open += (*p == '(') - (*p == ')');
    return before == name->len
           || (open == 0 && before > 0 && tg_map_get(&s->used, TG_KEY(tg_intern(s->cx, name->text, before))) == NULL);
}

static bool reads_back(const tg_relay_names *s, const tg_name *name, bool param)
{
    enum { MOST_DIGITS = 9 };
    size_t digits = strspn(name->text, "0123456789");
    if (name->len == 0 || name->len > TG_MAX_NAME / 2 || strlen(name->text) != name->len || digits > MOST_DIGITS)
        return false;
    for (const char *p = name->text; *p != '\0'; ++p)
        if (!stays(p, p == name->text, param))
            return false;
    return parentheses_stay(s, name);
}

/* Letters, digits and _ alone, and not yet taken. */
static const tg_name *fresh_name(tg_relay_names *s, const tg_name *from)
{
    size_t n = from->len < 100 ? from->len : 100;
    char *text = tg_temp(s->cx, n + 2);
    size_t k = 0;
    if (n == 0 || is_digit(from->text[0]) || !is_word(from->text[0]) || from->text[0] == '/')
        text[k++] = 'v';
    for (size_t i = 0; i < n; ++i)
        text[k++] = is_word(from->text[i]) && from->text[i] != '/' ? from->text[i] : '_';
    const tg_name *name = tg_intern(s->cx, text, k);
    for (unsigned i = 1; tg_map_get(&s->used, TG_KEY(name)) != NULL; ++i)
        name = tg_internf(s->cx, "%.*s_%u", (int)k, text, i);
    return name;
}

static void take(tg_relay_names *s, const tg_name *name)
{
    tg_map_put(s->cx, &s->used, TG_KEY(name), (void *)(uintptr_t)name);
    if (is_digit(name->text[0])) {                  /* numbers begin after those that are names */
        uint64_t number = 0;
        for (const char *p = name->text; is_digit(*p) && number < 1000000000; ++p)
            number = number * 10 + (uint64_t)(*p - '0');
        if (number < 1000000000 && number >= s->next_number)
            s->next_number = number + 1;
    }
}

static void rename_var(tg_relay_names *s, const tg_var *v)
{
    if (tg_map_get(&s->renamed, (uint64_t)v->id + 1) != NULL)
        return;
    const tg_name *name = fresh_name(s, v->name);
    take(s, name);
    tg_map_put(s->cx, &s->renamed, (uint64_t)v->id + 1, (void *)(uintptr_t)name);
}

static bool take_names(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_relay_names *s = user;
    (void)cx;
    if (n->kind == TG_RBIND && !n->u.var->numbered)
        take(s, n->u.var->name);
    else if (n->kind == TG_RPATTERN && n->u.pattern->var != NULL)
        take(s, n->u.pattern->var->name);
    return true;
}

/* Names within the functions inside, too: they wait on a list. */
tg_relay_names tg_relay_names_of(const tg_module *m)
{
    tg_relay_names s = { .cx = m->cx };
    TG_VEC(const tg_func *) todo = { 0 };
    for (size_t i = 0; i < m->funcs.n; ++i)
        TG_PUSH(m->cx, todo, m->funcs.at[i]);
    while (todo.n > 0) {
        const tg_func *f = todo.at[--todo.n];
        TG_VEC(const tg_node *) nodes = { 0 };
        for (uint32_t i = 0; i < f->nparams; ++i)
            take(&s, f->param[i]->name);
        TG_PUSH(m->cx, nodes, f->body);
        while (nodes.n > 0) {
            const tg_node *n = nodes.at[--nodes.n];
            take_names(m->cx, n, &s);
            if (n->kind == TG_RFN)
                TG_PUSH(m->cx, todo, n->u.func);
            for (uint32_t i = 0; i < n->nkids; ++i)
                TG_PUSH(m->cx, nodes, n->kid[i]);
        }
    }
    return s;
}

/* ---- scopes ---- */

tg_shown *tg_show_var(tg_relay_names *s, const tg_var *v, bool param)
{
    tg_shown *w = TG_NEW(s->cx, tg_shown);
    w->outer = tg_map_get(&s->by_name, TG_KEY(v->name));
    w->var = v;
    w->fn_depth = s->fn_depth;
    w->param = param;
    tg_map_put(s->cx, &s->by_name, TG_KEY(v->name), w);
    TG_PUSH(s->cx, s->scope, w);
    if (!reads_back(s, v->name, param))
        rename_var(s, v);
    return w;
}

void tg_hide_vars(tg_relay_names *s, size_t mark)
{
    static const tg_shown none;                     /* a name that nothing has now */
    while (s->scope.n > mark) {
        const tg_shown *w = s->scope.at[--s->scope.n];
        const tg_shown *outer = w->outer != NULL ? w->outer : &none;
        tg_map_put(s->cx, &s->by_name, TG_KEY(w->var->name), (void *)(uintptr_t)outer);
    }
}

/* The variable that the reader will find under this name. */
static const tg_var *found(const tg_relay_names *s, const tg_shown *w)
{
    while (w != NULL && w->pending && w->fn_depth == s->fn_depth)
        w = w->outer;
    return w == NULL ? NULL : w->var;
}

void tg_use_var(tg_relay_names *s, const tg_var *v)
{
    const tg_shown *top = tg_map_get(&s->by_name, TG_KEY(v->name)), *own = top;
    if (top == NULL || top->var == NULL || found(s, top) == v || tg_map_get(&s->renamed, (uint64_t)v->id + 1) != NULL)
        return;
    while (own != NULL && own->var != v)
        own = own->outer;
    if (own == NULL || !own->param) {
        rename_var(s, v);
        return;
    }
    for (; top != own; top = top->outer)
        rename_var(s, top->var);
}

/* ---- numbers and constants ---- */

void tg_number_var(tg_relay_names *s, const tg_var *v)
{
    tg_map_put(s->cx, &s->number, (uint64_t)v->id + 1, (void *)(uintptr_t)(++s->next_number));
}

const tg_name *tg_shown_name(const tg_relay_names *s, const tg_var *v)
{
    const tg_name *name = tg_map_get(&s->renamed, (uint64_t)v->id + 1);
    return name != NULL ? name : v->name;
}

uint64_t tg_shown_number(const tg_relay_names *s, const tg_var *v)
{
    return (uintptr_t)tg_map_get(&s->number, (uint64_t)v->id + 1);
}

bool tg_projection_is_name(const tg_relay_names *s, const tg_var *v, int64_t index)
{
    if (tg_shown_number(s, v) != 0)
        return false;
    const tg_name *whole = tg_internf(s->cx, "%s.%lld", tg_shown_name(s, v)->text, (long long)index);
    const tg_shown *w = tg_map_get(&s->by_name, TG_KEY(whole));
    return w != NULL && w->var != NULL;
}

uint64_t tg_constant_index(tg_relay_names *s, const tg_tensor *t)
{
    uintptr_t known = (uintptr_t)tg_map_get(&s->constant, TG_KEY(t));
    if (known != 0)
        return known - 1;
    TG_PUSH(s->cx, s->constants, t);
    tg_map_put(s->cx, &s->constant, TG_KEY(t), (void *)(uintptr_t)s->constants.n);
    return s->constants.n - 1;
}

/* Not-a-number is a literal only with the bits that "nanf" gives: no sign, nothing behind the first bit. */
static bool is_plain_nan(const tg_tensor *t)
{
    uint64_t bits = 0;
    switch (t->type->dtype.bits) {
    case 16: { uint16_t b; memcpy(&b, t->dl.data, 2); bits = b; return bits == 0x7e00; }
    case 32: { uint32_t b; memcpy(&b, t->dl.data, 4); bits = b; return bits == 0x7fc00000; }
    default: memcpy(&bits, t->dl.data, 8); return bits == 0x7ff8000000000000;
    }
}

bool tg_is_inline_constant(const tg_tensor *t)
{
    DLDataType d = t->type->dtype;
    if (t->type->n != 0)
        return false;
    if (tg_is_bool(d) || (d.code == kDLInt && d.bits != 8))
        return true;
    if (d.code != kDLFloat)
        return false;
    double v = tg_tensor_f64(t, 0);
    return v == v || is_plain_nan(t);
}
