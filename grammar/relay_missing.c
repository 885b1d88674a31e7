/* relay_missing.c: a module printed without its metadata names constants that it does not hold. They become parameters,
 * constant_0 for meta[relay.Constant][0] and so on, typed by the comment behind the first use. A function that calls
 * another which lacks constants has to hand them on, so which function needs which is found before anything is built. */
#include <stdlib.h>
#include <string.h>

#include "relay_build.h"

#define REFERENCE "meta[relay.Constant]["

/* What a function lacks, and who calls it. */
typedef struct tg_relay_needs {
    const tg_name *name;
    TG_VEC(uint64_t) index;         /* sorted once all are known */
    tg_map has;                     /* index + 1 -> the function's variable for it, or a mark before there is one */
    TG_VEC(struct tg_relay_needs *) callers;
} needs;

/* Text being looked through. */
typedef struct search {
    tg_relay *p;
    needs *at;                      /* the function around */
    TG_VEC(needs *) all;
} search;

/* ---- finding ---- */

static needs *needs_of(tg_relay *p, const tg_name *name)
{
    needs *n = tg_map_get(&p->needs, TG_KEY(name));
    if (n == NULL) {
        n = TG_NEW(p->cx, needs);
        n->name = name;
        tg_map_put(p->cx, &p->needs, TG_KEY(name), n);
    }
    return n;
}

static bool add(tg_relay *p, needs *n, uint64_t index)
{
    if (tg_map_get(&n->has, index + 1) != NULL)
        return false;
    tg_map_put(p->cx, &n->has, index + 1, n);
    TG_PUSH(p->cx, n->index, index);
    return true;
}

/* The comment behind the first use that has one tells the type. */
static uint32_t found_constant(search *s, uint32_t at)
{
    tg_relay_text *t = &s->p->t;
    uint64_t index = 0;
    at += (uint32_t)strlen(REFERENCE);
    for (; at < t->end && t->text[at] >= '0' && t->text[at] <= '9'; ++at)
        index = index * 10 + (uint64_t)(t->text[at] - '0');
    add(s->p, s->at, index);
    uint32_t comment = tg_relay_skip_blanks(t, at + 1);
    bool typed = tg_relay_stands(t, comment, "/*") && tg_relay_read_note(t, comment).type != NULL;
    if (typed && tg_map_get(&s->p->missing_note, index + 1) == NULL)
        tg_map_put(s->p->cx, &s->p->missing_note, index + 1, (void *)((uintptr_t)comment + 1));
    return at;
}

static uint32_t found_global(search *s, uint32_t at, bool defined)
{
    tg_relay_text *t = &s->p->t;
    uint32_t end = tg_relay_plain_name(t, at + 1);
    while (end < t->end && t->text[end] == '.' && tg_relay_plain_name(t, end + 1) > end + 1)
        end = tg_relay_plain_name(t, end + 1);
    needs *n = needs_of(s->p, tg_intern(s->p->cx, t->text + at + 1, end - at - 1));
    if (defined)
        s->at = n;
    else
        TG_PUSH(s->p->cx, n->callers, s->at);
    TG_PUSH(s->p->cx, s->all, n);
    return end;
}

static void look_through(search *s)
{
    tg_relay_text *t = &s->p->t;
    bool def = false;
    for (uint32_t at = 0; (at = tg_relay_next(t, at)) < t->end;) {
        char c = t->text[at];
        uint32_t end = tg_relay_plain_name(t, at);
        if (c == '"') {
            end = tg_relay_string_end(t, at);
        } else if (c == '@') {
            end = found_global(s, at, def);
        } else if (c == 'm' && tg_relay_stands(t, at, REFERENCE)) {
            end = found_constant(s, at);
        }
        def = end - at == 3 && tg_relay_stands(t, at, "def");
        at = end > at ? end : at + 1;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A pair of a function and a constant that its callers must get to know. */
typedef struct pending { needs *fn; uint64_t index; } pending;

void tg_relay_find_missing(tg_relay *p)
{
    search s = { .p = p, .at = needs_of(p, tg_intern_z(p->cx, "main")) };
    TG_VEC(pending) todo = { 0 };
    look_through(&s);
    TG_PUSH(p->cx, s.all, needs_of(p, tg_intern_z(p->cx, "main")));
    for (size_t i = 0; i < s.all.n; ++i)
        for (size_t k = 0; k < s.all.at[i]->index.n; ++k)
            TG_PUSH(p->cx, todo, ((pending){ s.all.at[i], s.all.at[i]->index.at[k] }));
    while (todo.n > 0) {
        pending q = todo.at[--todo.n];
        for (size_t k = 0; k < q.fn->callers.n; ++k)
            if (add(p, q.fn->callers.at[k], q.index))
                TG_PUSH(p->cx, todo, ((pending){ q.fn->callers.at[k], q.index }));
    }
    for (size_t i = 0; i < s.all.n; ++i)
        if (s.all.at[i]->index.n > 0)
            qsort(s.all.at[i]->index.at, s.all.at[i]->index.n, sizeof(uint64_t), by_value);
}

/* ---- building ---- */

/* The variable of the function being read that stands for a constant. */
static const tg_var *variable(tg_relay *p, tg_relay_loc l, uint64_t index)
{
    needs *n = needs_of(p, p->fn.at[0].name);
    void *known = tg_map_get(&n->has, index + 1);
    if (known != NULL && known != n)
        return known;
    uintptr_t note = (uintptr_t)tg_map_get(&p->missing_note, index + 1);
    const tg_type *type = note == 0 ? NULL : tg_relay_note_type(p, (uint32_t)(note - 1));
    if (type == NULL)
        tg_relay_wrong(p, l.span, "the text has no metadata section, and no comment says the type of this constant");
    tg_var *v = tg_relay_new_var(p, l, tg_internf(p->cx, "constant_%llu", (unsigned long long)index), type);
    tg_map_put(p->cx, &n->has, index + 1, v);
    return v;
}

const tg_node *tg_relay_missing_constant(tg_relay *p, tg_relay_loc l, uint64_t index)
{
    return tg_rvar(p->cx, variable(p, l, index), l.span);
}

void tg_relay_missing_args(tg_relay *p, tg_relay_loc l, const tg_name *callee)
{
    const needs *n = tg_map_get(&p->needs, TG_KEY(callee));
    for (size_t i = 0; n != NULL && i < n->index.n; ++i)
        tg_relay_push_node(p, tg_rvar(p->cx, variable(p, l, n->index.at[i]), l.span));
}

void tg_relay_missing_params(tg_relay *p, const tg_name *fn)
{
    const needs *n = tg_map_get(&p->needs, TG_KEY(fn));
    tg_relay_loc l = { p->fn.at[0].span, 0 };
    if (n == NULL || n->index.n == 0)
        return;
    for (size_t i = 0; i < n->index.n; ++i) {
        tg_var *v = (tg_var *)(uintptr_t)variable(p, l, n->index.at[i]);
        while (tg_map_get(&p->by_name, TG_KEY(v->name)) != NULL)
            v->name = tg_internf(p->cx, "%s_", v->name->text);
        TG_PUSH(p->cx, p->param, v);
    }
    if (p->failed)
        return;
    const tg_name *first = p->param.at[p->param.n - n->index.n]->name, *last = p->param.at[p->param.n - 1]->name;
    if (first == last)
        tg_warning(p->cx, l.span, "the data of a constant is not in the text: it became parameter %s of @%s",
                   first->text, fn->text);
    else
        tg_warning(p->cx, l.span,
                   "the data of %zu constants is not in the text: they became parameters %s to %s of @%s", n->index.n,
                   first->text, last->text, fn->text);
}
