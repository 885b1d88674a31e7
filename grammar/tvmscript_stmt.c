/* tvmscript_stmt.c: statements. Each pushes an item; heads (allocations, lets, attributes, asserts) take what follows in the
 * suite as their body when it closes. Formats: tvmscript-tir.md sections 5 and 8. */
#include "tvmscript_elab.h"

#include <string.h>

/* ---- items ---- */

void tg_el_push(tg_elab *e, const tg_node *stmt)
{
    if (stmt != NULL)
        TG_PUSH(e->cx, e->items, ((tg_el_item){ .stmt = stmt }));
}

void tg_el_open(tg_elab *e, tg_span span, enum tg_kind kind, const void *payload, uint32_t n, const tg_node *const *kid)
{
    const tg_node **copy = TG_TEMP_ARRAY(e->cx, const tg_node *, n + 1);
    if (n > 0)
        memcpy(copy, kid, n * sizeof copy[0]);
    tg_el_item item = { .kind = kind, .n = n, .payload = payload, .kid = copy, .span = span };
    if (kind == TG_ALLOCATE)
        item.pointer = ((const tg_alloc_info *)payload)->var;
    if (kind == TG_LET_STMT)
        item.pointer = payload;
    TG_PUSH(e->cx, e->items, item);
}

static const tg_node *with_body(tg_elab *e, const tg_el_item *head, const tg_node *body)
{
    const tg_buffer *alias =
        head->pointer != NULL ? tg_map_get(&e->pointer_buffer, (uint64_t)head->pointer->id + 1) : NULL;
    if (alias != NULL)                  /* p[i] was used: its buffer is declared where p is */
        body = tg_node_new(e->cx, TG_DECL_BUFFER, head->span, NULL, alias, 1, &body);
    const tg_node **kid = TG_TEMP_ARRAY(e->cx, const tg_node *, head->n + 1);
    memcpy(kid, head->kid, head->n * sizeof kid[0]);
    kid[head->n] = body;
    return tg_node_new(e->cx, head->kind, head->span, NULL, head->payload, head->n + 1, kid);
}

const tg_node *tg_el_close(tg_elab *e, size_t floor)
{
    const tg_node **s = TG_TEMP_ARRAY(e->cx, const tg_node *, e->items.n - floor + 1);
    const tg_node *tail = NULL;
    size_t end = e->items.n;
    for (size_t i = e->items.n;; --i) {
        if (i > floor && e->items.at[i - 1].stmt != NULL)
            continue;
        uint32_t n = 0;
        for (size_t k = i; k < end; ++k)
            s[n++] = e->items.at[k].stmt;
        if (tail != NULL)
            s[n++] = tail;
        tail = tg_seq(e->cx, n, s);
        if (i == floor)
            break;
        end = i - 1;
        tail = with_body(e, &e->items.at[end], tail);
    }
    e->items.n = floor;
    return tail;
}

const tg_node *tg_el_suite(tg_elab *e, const tg_syn *suite)
{
    size_t mark = tg_el_mark(e), floor = e->items.n;
    tg_el_statements(e, suite);
    const tg_node *body = tg_el_close(e, floor);
    tg_el_leave(e, mark);
    return body;
}

/* ---- assignments ---- */

static void declare_var(tg_elab *e, const tg_syn *target, const tg_type *type)
{
    const tg_name *name = tg_el_target(e, target);
    const tg_el_cell *c = name != NULL ? tg_map_get(&e->names, TG_KEY(name)) : NULL;
    if (c != NULL && c->bound && c->val.kind == TG_VAL_EXPR && c->val.quoted)
        return;                         /* its type was looked up when a quoted shape named it */
    if (name != NULL)
        tg_el_bind_var(e, target, tg_el_new_var(e, target, type));
}

static void assign_name(tg_elab *e, const tg_syn *target, const tg_val *v)
{
    if (v->kind == TG_VAL_FORM)
        tg_el_assign_form(e, target, v, NULL);
    else if (v->kind == TG_VAL_TYPE && v->called)
        declare_var(e, target, v->u.type);
    else if (v->kind == TG_VAL_EXPR && v->u.expr->kind != TG_STR)
        tg_el_let(e, target, NULL, NULL, v);
    else if (v->kind == TG_VAL_ACCESS && (v->n == 0 || v->u.item[v->n - 1].kind != TG_VAL_SLICE))
        tg_el_let(e, target, NULL, NULL, v);
    else
        tg_el_bind(e, target->u.name, *v);      /* a Python value, a buffer, a region: another name for it */
}

static void store(tg_elab *e, const tg_syn *at, const tg_syn *target, const tg_val *value)
{
    tg_val access = tg_el_value(e, target);
    if (access.kind == TG_VAL_ACCESS && value->kind != TG_VAL_ERROR)
        tg_el_push(e, tg_el_store(e, at, &access, value));
    else if (access.kind != TG_VAL_ERROR && value->kind != TG_VAL_ERROR)
        tg_el_error(e, target, "cannot assign to %s", tg_el_what(&access));
}

static void assign_tuple(tg_elab *e, const tg_syn *target, const tg_val *v)
{
    if (v->kind == TG_VAL_FORM && v->w.word->id == TG_W_REMAP) {
        tg_el_assign_form(e, target, v, NULL);
        return;
    }
    if ((v->kind != TG_VAL_TUPLE && v->kind != TG_VAL_LIST) || v->n != target->nkids) {
        if (v->kind != TG_VAL_ERROR)
            tg_el_error(e, target, "%u names for %s", (unsigned)target->nkids, tg_el_what(v));
        tg_el_bind_failed(e, target);
        return;
    }
    uint32_t i = 0;
    for (TG_EACH_KID(name, target)) {
        if (tg_el_target(e, name) != NULL)
            assign_name(e, name, &v->u.item[i]);
        ++i;
    }
}

static void assign(tg_elab *e, const tg_syn *s)
{
    const tg_syn *target = tg_syn_first(s);
    tg_val v = tg_el_value(e, s->last);
    if (target->kind == TG_SYN_TUPLE || target->kind == TG_SYN_LIST)
        assign_tuple(e, target, &v);
    else if (target->kind == TG_SYN_NAME && v.kind != TG_VAL_ERROR && !tg_el_scalar_store(e, s, target->u.name, &v))
        assign_name(e, target, &v);
    else if (target->kind == TG_SYN_NAME && v.kind == TG_VAL_ERROR)
        tg_el_bind_failed(e, target);
    else if (target->kind != TG_SYN_NAME)
        store(e, s, target, &v);
}

static void annotate(tg_elab *e, const tg_syn *s)
{
    const tg_syn *target = tg_syn_first(s);
    tg_val type = tg_el_value(e, target->next);
    if (type.kind == TG_VAL_TYPE && e->sticky_scalars && !type.called && type.u.type->kind == TG_T_PRIM) {
        tg_el_scalar_buffer(e, s, type.u.type->dtype);
        return;
    }
    if (type.kind != TG_VAL_TYPE || s->nkids < 3) {
        if (type.kind != TG_VAL_ERROR)
            tg_el_error(e, s, s->nkids < 3 ? "a let needs a value" : "expected a type after ':'");
        tg_el_bind_failed(e, target);
        return;
    }
    tg_val v = tg_el_value(e, s->last);
    if (v.kind == TG_VAL_FORM)
        tg_el_assign_form(e, target, &v, type.u.type);
    else
        tg_el_let(e, target, NULL, type.u.type, &v);
}

static void augment(tg_elab *e, const tg_syn *s)
{
    tg_val access = tg_el_value(e, tg_syn_first(s)), value = tg_el_value(e, s->last);
    if (access.kind == TG_VAL_ERROR || value.kind == TG_VAL_ERROR)
        return;
    if (access.kind != TG_VAL_ACCESS) {
        tg_el_error(e, s, "'%s=' changes elements of buffers only", tg_op_text((enum tg_op)s->op));
        return;
    }
    tg_val sum = tg_el_binary(e, s, (enum tg_op)s->op, &access, &value);
    if (sum.kind != TG_VAL_ERROR)
        tg_el_push(e, tg_el_store(e, s, &access, &sum));
}

/* ---- expression statements ---- */

static bool in_loop(tg_elab *e, const tg_syn *at, const char *what)
{
    if (e->loops == 0)
        tg_el_error(e, at, "%s stands outside of a loop over one variable", what);
    return e->loops > 0;
}

static void evaluate(tg_elab *e, const tg_syn *at, const tg_val *v)
{
    const tg_node *x = tg_el_expr(e, v);
    bool jump = x != NULL && (tg_is_call(x, "break_loop") || tg_is_call(x, "continue_loop"));
    if (x != NULL && (!jump || in_loop(e, at, x->u.name->text)))
        tg_el_push(e, tg_node_new(e->cx, TG_EVALUATE, tg_el_span(e, at), NULL, NULL, 1, &x));
}

/* T.store(p, index, value, predicate) of 0.7 and 0.8; A.vstore([i], value), whose access is made already. */
static void store_form(tg_elab *e, const tg_val *form)
{
    const tg_val *slot[4];
    if (form->w.word->arg == 1) {
        tg_el_push(e, tg_el_store(e, form->at, &form->u.item[0], &form->u.item[1]));
        return;
    }
    if (!tg_el_args(e, form, "ptr index value | predicate", slot))
        return;
    if (slot[3] != NULL && !tg_el_is_true(e, slot[3])) {
        tg_el_error(e, form->at, "stores with a predicate are not supported");
        return;
    }
    tg_val access = tg_el_pointer_access(e, form->at, slot[0], slot[1]);
    if (access.kind == TG_VAL_ACCESS)
        tg_el_push(e, tg_el_store(e, form->at, &access, slot[2]));
}

static void form_stmt(tg_elab *e, const tg_val *form)
{
    const tg_val *slot[1];
    if (tg_el_block_stmt(e, form))
        return;
    switch (form->w.word->id) {
    case TG_W_FUNC_ATTR: {
        const tg_value *attrs = tg_el_args(e, form, "attrs", slot) ? tg_el_attr_dict(e, slot[0]) : NULL;
        if (attrs != NULL && e->attrs != NULL)
            tg_el_error(e, form->at, "a function has one func_attr");
        else if (attrs != NULL)
            e->attrs = attrs;
        return;
    }
    case TG_W_EVALUATE:
        if (tg_el_args(e, form, "value", slot))
            evaluate(e, form->at, slot[0]);
        return;
    case TG_W_STORE: store_form(e, form); return;
    case TG_W_HINT: case TG_W_PREFLATTENED: return;     /* nothing to run */
    default:
        if (!tg_el_open_form(e, NULL, form, NULL))
            tg_el_error(e, form->at, "%s is no statement", form->name->text);
    }
}

static void expression(tg_elab *e, const tg_syn *s)
{
    tg_val v = tg_el_value(e, tg_syn_first(s));
    switch (v.kind) {
    case TG_VAL_ERROR: case TG_VAL_STR: case TG_VAL_ELLIPSIS:
        return;                         /* a docstring, "..." for an empty body */
    case TG_VAL_FORM:
        form_stmt(e, &v);
        return;
    case TG_VAL_EXPR:
        if (v.u.expr->kind == TG_CALL) {
            evaluate(e, s, &v);
            return;
        }
        break;
    default:
        break;
    }
    tg_el_error(e, s, "%s does nothing here", tg_el_what(&v));
}

/* ---- compound statements ---- */

static void if_stmt(tg_elab *e, const tg_syn *s)
{
    uint32_t branches = s->nkids / 2;
    const tg_node **cond = TG_TEMP_ARRAY(e->cx, const tg_node *, branches),
                  **then = TG_TEMP_ARRAY(e->cx, const tg_node *, branches);
    const tg_syn *kid = tg_syn_first(s);
    bool good = true;
    for (uint32_t i = 0; i < branches; ++i, kid = kid->next->next) {
        tg_val c = tg_el_value(e, kid);
        cond[i] = tg_el_cond(e, &c);
        then[i] = tg_el_suite(e, kid->next);
        good = good && cond[i] != NULL;
    }
    const tg_node *otherwise = s->nkids % 2 == 1 ? tg_el_suite(e, s->last) : NULL;
    for (uint32_t i = branches; good && i > 0; --i)
        otherwise = tg_if(e->cx, cond[i - 1], then[i - 1], otherwise);
    tg_el_push(e, good ? tg_node_at(e->cx, otherwise, tg_el_span(e, s)) : NULL);
}

static void while_stmt(tg_elab *e, const tg_syn *s)
{
    tg_val c = tg_el_value(e, tg_syn_first(s));
    ++e->loops;
    const tg_node *kid[2] = { tg_el_cond(e, &c), tg_el_suite(e, s->last) };
    --e->loops;
    if (kid[0] != NULL)
        tg_el_push(e, tg_el_without_jumps(e, tg_node_new(e->cx, TG_WHILE, tg_el_span(e, s), NULL, NULL, 2, kid)));
}

/* The items from @p item on, then the suite; heads fold when it ends. */
static void with_items(tg_elab *e, const tg_syn *with, const tg_syn *item)
{
    for (; item != with->last; item = item->next) {
        const tg_syn *target = item->nkids == 2 ? item->last : NULL;
        tg_val v = tg_el_value(e, tg_syn_first(item));
        if (v.kind == TG_VAL_ERROR) {
            tg_el_bind_failed(e, target);
            continue;
        }
        enum tg_word_id id = v.kind == TG_VAL_FORM ? v.w.word->id : TG_W_OTHER;
        if ((id == TG_W_BLOCK || id == TG_W_INIT) && item->next == with->last) {
            if (id == TG_W_INIT)
                tg_el_with_init(e, item, with->last);
            else
                tg_el_with_block(e, item, &v, with->last);
            return;
        }
        if (v.kind != TG_VAL_FORM || !tg_el_open_form(e, target, &v, NULL))
            tg_el_error(e, item, "%s opens no scope", v.kind == TG_VAL_FORM ? v.name->text : tg_el_what(&v));
    }
    tg_el_statements(e, with->last);
}

static void with_stmt(tg_elab *e, const tg_syn *s)
{
    size_t mark = tg_el_mark(e), floor = e->items.n;
    with_items(e, s, tg_syn_first(s));
    const tg_node *body = tg_el_close(e, floor);
    tg_el_leave(e, mark);
    if (body->kind != TG_SEQ || body->nkids > 0)        /* with T.init() gives the block something, and no statement */
        tg_el_push(e, body);
}

static void return_stmt(tg_elab *e, const tg_syn *s)
{
    tg_val zero = { .kind = TG_VAL_INT, .at = s }, v = s->nkids > 0 ? tg_el_value(e, s->last) : zero;
    if (v.kind == TG_VAL_NONE)
        v = zero;
    const tg_node *x =
        e->ret != NULL && e->ret->kind == TG_T_PRIM ? tg_el_expr_as(e, &v, e->ret->dtype) : tg_el_expr(e, &v);
    if (x == NULL)
        return;
    x = tg_node_at(e->cx, tg_call1(e->cx, "ret", x), tg_el_span(e, s));
    tg_el_push(e, tg_node_at(e->cx, tg_evaluate(e->cx, x), tg_el_span(e, s)));
}

static void assert_stmt(tg_elab *e, const tg_syn *s)
{
    tg_val cond = tg_el_value(e, tg_syn_first(s)), text = { .kind = TG_VAL_NONE };
    if (s->nkids > 1)
        text = tg_el_value(e, s->last);
    if (cond.kind != TG_VAL_ERROR && text.kind != TG_VAL_ERROR)
        tg_el_assert(e, s, &cond, s->nkids > 1 ? &text : NULL);
}

static void jump(tg_elab *e, const tg_syn *s)
{
    bool out = s->kind == TG_SYN_BREAK;
    if (!in_loop(e, s, out ? "break" : "continue"))
        return;
    const tg_node *call = tg_call(e->cx, out ? "break_loop" : "continue_loop", NULL, 0, NULL);
    tg_el_push(e, tg_node_at(e->cx, tg_evaluate(e->cx, call), tg_el_span(e, s)));
}

static void statement(tg_elab *e, const tg_syn *s)
{
    switch (s->kind) {
    case TG_SYN_PASS: case TG_SYN_IMPORT: break;
    case TG_SYN_EXPR: expression(e, s); break;
    case TG_SYN_ASSIGN: assign(e, s); break;
    case TG_SYN_ANNOTATE: annotate(e, s); break;
    case TG_SYN_AUGMENT: augment(e, s); break;
    case TG_SYN_RETURN: return_stmt(e, s); break;
    case TG_SYN_ASSERT: assert_stmt(e, s); break;
    case TG_SYN_IF: if_stmt(e, s); break;
    case TG_SYN_WHILE: while_stmt(e, s); break;
    case TG_SYN_FOR: tg_el_loop(e, s); break;
    case TG_SYN_WITH: with_stmt(e, s); break;
    case TG_SYN_BREAK: case TG_SYN_CONTINUE:
        jump(e, s);
        break;
    default: tg_el_error(e, s, "a definition does not stand in a function"); break;
    }
}

/* Suites nest as deep as the scanner lets indentation grow, TG_SCRIPT_SUITES; so does this recursion. */
void tg_el_statements(tg_elab *e, const tg_syn *suite)
{
    for (TG_EACH_KID(s, suite))
        statement(e, s);
}
