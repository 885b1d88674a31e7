/* relay_scope.c: which variable a name means, and the blocks that bindings go into. */
#include <stdarg.h>

#include "relay_build.h"
#include "ir/text.h"

void tg_relay_wrong(tg_relay *p, tg_span at, const char *fmt, ...)
{
    va_list args;
    p->failed = true;
    if (p->quiet)
        return;
    tg_text t = tg_text_new(p->cx);
    va_start(args, fmt);
    tg_vprintf(&t, fmt, args);
    va_end(args);
    tg_error(p->cx, at, "%s", tg_text_z(&t));
}

/* ---- lists ---- */

tg_relay_marks tg_relay_mark(const tg_relay *p)
{
    return (tg_relay_marks){ (uint32_t)p->node.n, (uint32_t)p->type_list.n, (uint32_t)p->value.n, (uint32_t)p->attr.n,
                             (uint32_t)p->dim.n, (uint32_t)p->name.n };
}

void tg_relay_open(tg_relay *p)
{
    TG_PUSH(p->cx, p->marks, tg_relay_mark(p));
}

tg_relay_marks tg_relay_close(tg_relay *p)
{
    return p->marks.at[--p->marks.n];
}

void tg_relay_drop(tg_relay *p, tg_relay_marks m)
{
    p->node.n = m.node;
    p->type_list.n = m.type;
    p->value.n = p->key.n = m.value;
    p->attr.n = m.attr;
    p->dim.n = m.dim;
    p->name.n = m.name;
}

void tg_relay_push(tg_relay *p, tg_relay_loc l, const tg_node *n)
{
    tg_relay_push_node(p, tg_relay_atom(p, l, n));
}

void tg_relay_push_node(tg_relay *p, const tg_node *n)
{
    TG_PUSH(p->cx, p->node, n);
}

void tg_relay_push_name(tg_relay *p, const tg_name *name)
{
    TG_PUSH(p->cx, p->name, name);
}

/* ---- variables ---- */

tg_var *tg_relay_new_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type)
{
    tg_var *v = tg_var_new(p->cx, name, type != NULL && type->kind == TG_T_UNKNOWN ? NULL : type);
    v->span = l.span;
    return v;
}

void tg_relay_bind_name(tg_relay *p, const tg_var *var, bool pending)
{
    tg_relay_binding *b = TG_NEW(p->cx, tg_relay_binding);
    b->outer = tg_map_get(&p->by_name, TG_KEY(var->name));
    b->name = var->name;
    b->var = var;
    b->fn_depth = (uint32_t)p->fn.n;
    b->at = (uint32_t)p->scope.n;
    b->pending = pending;
    tg_map_put(p->cx, &p->by_name, TG_KEY(var->name), b);
    TG_PUSH(p->cx, p->scope, b);
}

void tg_relay_unbind(tg_relay *p, uint32_t mark)
{
    static const tg_relay_binding gone;             /* a name without a variable */
    while (p->scope.n > mark) {
        tg_relay_binding *b = p->scope.at[--p->scope.n];
        tg_map_put(p->cx, &p->by_name, TG_KEY(b->name), b->outer != NULL ? b->outer : (void *)(uintptr_t)&gone);
    }
}

/* "let %x = add(%x, 1f)" means the outer %x; in "let %f = fn (%n) { %f(%n) }" the function means itself. */
static const tg_var *find(const tg_relay *p, const tg_name *name)
{
    const tg_relay_binding *b = tg_map_get(&p->by_name, TG_KEY(name));
    while (b != NULL && b->pending && b->fn_depth == p->fn.n)
        b = b->outer;
    return b == NULL ? NULL : b->var;
}

const tg_node *tg_relay_local(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    const tg_var *v = find(p, name);
    if (v == NULL) {
        tg_relay_wrong(p, l.span, "%%%s is not declared here", name->text);
        v = tg_relay_new_var(p, l, name, NULL);
        tg_relay_bind_name(p, v, false);            /* said once */
    }
    return tg_rvar(p->cx, v, l.span);
}

static bool block_is_open(const tg_relay *p, const tg_relay_numbered *d)
{
    size_t low = 0, high = p->block.n;              /* serial numbers rise */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->block.at[mid].serial < d->block)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->block.n && p->block.at[low].serial == d->block;
}

/* %07 is %7. */
static uint64_t number_key(const tg_relay *p, const tg_name *digits)
{
    const char *c = digits->text;
    while (*c == '0' && c[1] != '\0')
        ++c;
    return TG_KEY(tg_intern_z(p->cx, c));
}

const tg_node *tg_relay_graph(tg_relay *p, tg_relay_loc l, const tg_name *digits)
{
    const tg_var *param = find(p, digits);
    const tg_relay_numbered *d = tg_map_get(&p->numbered, number_key(p, digits));
    if (d != NULL && block_is_open(p, d))
        return tg_rvar(p->cx, d->var, l.span);
    if (param != NULL)
        return tg_rvar(p->cx, param, l.span);
    if (d == NULL)
        tg_relay_wrong(p, l.span, "%%%s is not defined", digits->text);
    else {
        tg_relay_wrong(p, l.span, "%%%s is only known within the block that defines it", digits->text);
        if (!p->quiet)
            tg_note(p->cx, d->span, "it is defined here");
    }
    return tg_rvar(p->cx, tg_relay_new_var(p, l, digits, NULL), l.span);
}

/* ---- blocks ---- */

void tg_relay_begin_block(tg_relay *p)
{
    tg_relay_block b = { (uint32_t)p->bind.n, ++p->nblocks, (uint32_t)p->scope.n };
    TG_PUSH(p->cx, p->block, b);
}

const tg_node *tg_relay_end_block(tg_relay *p, tg_relay_loc l, const tg_node *result)
{
    const tg_node *atom = tg_relay_atom(p, l, result);
    tg_relay_block b = p->block.at[--p->block.n];
    const tg_node *block = tg_rblock(p->cx, (uint32_t)p->bind.n - b.first, TG_FROM(p->bind, b.first), atom);
    p->bind.n = b.first;
    tg_relay_unbind(p, b.scope);
    return block;
}

/* A sequence in brackets: its bindings go into the block around it, its names end with it. */
void tg_relay_begin_scope(tg_relay *p)
{
    TG_PUSH(p->cx, p->scope_marks, (uint32_t)p->scope.n);
}

void tg_relay_end_scope(tg_relay *p)
{
    tg_relay_unbind(p, p->scope_marks.at[--p->scope_marks.n]);
}

static void bind(tg_relay *p, const tg_var *v, const tg_node *value)
{
    TG_PUSH(p->cx, p->bind, tg_rbind(p->cx, v, value));
}

/* A bare operator: only its call is a value. */
static bool is_operator(const tg_node *n)
{
    return n->kind == TG_STR;
}

static const tg_node *value_of(tg_relay *p, tg_relay_loc l, const tg_node *n)
{
    if (!is_operator(n))
        return n;
    tg_relay_wrong(p, l.span, "%s is an operator: it can be called, but not stand alone", n->u.name->text);
    return tg_rvar(p->cx, tg_relay_new_var(p, l, n->u.name, NULL), l.span);
}

const tg_node *tg_relay_atom(tg_relay *p, tg_relay_loc l, const tg_node *n)
{
    n = value_of(p, l, n);
    if (n->kind != TG_RFN && tg_is_atom(n))
        return n;
    tg_var *v = tg_relay_new_var(p, l, tg_intern_z(p->cx, "_"), NULL);
    v->numbered = true;
    bind(p, v, n);
    return tg_rvar(p->cx, v, l.span);
}

void tg_relay_begin_let(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type)
{
    tg_relay_begin_scope(p);
    tg_var *v = tg_relay_new_var(p, l, name, type);
    tg_relay_bind_name(p, v, true);
    TG_PUSH(p->cx, p->let, v);
}

void tg_relay_end_let(tg_relay *p, tg_relay_loc l, const tg_node *value)
{
    const tg_var *v = p->let.at[--p->let.n];
    tg_relay_end_scope(p);
    bind(p, v, value_of(p, l, value));
    tg_relay_bind_name(p, v, false);
}

void tg_relay_define(tg_relay *p, tg_relay_loc l, const tg_name *digits, tg_relay_loc at, const tg_node *value)
{
    tg_var *v = tg_relay_new_var(p, l, digits, NULL);
    tg_relay_numbered *d = TG_NEW(p->cx, tg_relay_numbered);
    v->numbered = true;
    bind(p, v, value_of(p, at, value));
    *d = (tg_relay_numbered){ v, p->block.at[p->block.n - 1].serial, l.span };
    tg_map_put(p->cx, &p->numbered, number_key(p, digits), d);
}

void tg_relay_statement(tg_relay *p, tg_relay_loc l, const tg_node *value)
{
    value = value_of(p, l, value);
    if (!tg_is_atom(value))
        bind(p, tg_relay_new_var(p, l, tg_intern_z(p->cx, "_"), NULL), value);
}

/* ---- branches ---- */

const tg_node *tg_relay_if(tg_relay *p, tg_relay_loc l, const tg_node *then, const tg_node *otherwise)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_node *kid[3] = { p->node.at[m.node], then, otherwise };
    tg_relay_drop(p, m);
    return tg_node_new(p->cx, TG_RIF, l.span, NULL, NULL, 3, kid);
}

const tg_node *tg_relay_numbered_node(tg_relay *p, tg_relay_loc l, const tg_node *n, int64_t number)
{
    tg_node *fresh = (tg_node *)(uintptr_t)n;       /* nobody else has seen it yet */
    (void)p;
    fresh->u.i = number;
    fresh->span = l.span;
    return fresh;
}

void tg_relay_begin_match(tg_relay *p, tg_relay_loc l, const tg_node *of)
{
    tg_relay_open(p);
    tg_relay_push(p, l, of);
}

const tg_node *tg_relay_end_match(tg_relay *p, tg_relay_loc l, bool partial)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_node *n =
        tg_node_new(p->cx, TG_RMATCH, l.span, NULL, NULL, (uint32_t)p->node.n - m.node, TG_FROM(p->node, m.node));
    tg_relay_drop(p, m);
    return tg_relay_numbered_node(p, l, n, partial);
}

void tg_relay_begin_arm(tg_relay *p)
{
    tg_relay_begin_scope(p);
}

void tg_relay_end_arm(tg_relay *p, tg_relay_loc l, const tg_node *pattern, const tg_node *body)
{
    const tg_node *kid[2] = { pattern, body };
    tg_relay_end_scope(p);
    tg_relay_push_node(p, tg_node_new(p->cx, TG_RARM, l.span, NULL, NULL, 2, kid));
}

static const tg_node *pattern_node(tg_relay *p, tg_relay_loc l, tg_pattern what, uint32_t n, const tg_node *const *sub)
{
    return tg_node_new(p->cx, TG_RPATTERN, l.span, NULL, tg_copy(p->cx, &what, sizeof what), n, sub);
}

const tg_node *tg_relay_wildcard(tg_relay *p, tg_relay_loc l)
{
    return pattern_node(p, l, (tg_pattern){ 0 }, 0, NULL);
}

const tg_node *tg_relay_pattern_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type)
{
    const tg_var *v = tg_relay_new_var(p, l, name, type);
    tg_relay_bind_name(p, v, false);
    return pattern_node(p, l, (tg_pattern){ .var = v }, 0, NULL);
}

const tg_node *tg_relay_pattern(tg_relay *p, tg_relay_loc l, const tg_name *ctor, bool tuple)
{
    tg_relay_marks m = tg_relay_close(p);
    uint32_t n = (uint32_t)p->node.n - m.node;
    const tg_ctor *c = ctor != NULL ? tg_map_get(&p->ctors, TG_KEY(ctor)) : NULL;
    if (ctor != NULL && c == NULL)
        tg_relay_wrong(p, l.span, "no type has a constructor %s", ctor->text);
    else if (c != NULL && c->n != n)
        tg_relay_wrong(p, l.span, "%s has %u field%s, the pattern has %u", ctor->text, (unsigned)c->n,
                       c->n == 1 ? "" : "s", (unsigned)n);
    const tg_node *node = pattern_node(p, l, (tg_pattern){ .ctor = ctor, .tuple = tuple }, n, TG_FROM(p->node, m.node));
    tg_relay_drop(p, m);
    return node;
}
