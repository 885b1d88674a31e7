/* relay_expr.c: literals, constants, calls, tuples, references. */
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "number.h"
#include "relay_build.h"

/* ---- literals (relay-text.md section 1.4) ---- */

static const tg_node *constant(tg_relay *p, tg_relay_loc l, const tg_tensor *t)
{
    return tg_node_at(p->cx, tg_rconst(p->cx, t), l.span);
}

/* Old printers leave the suffix of int64 and float64 to the comment behind the number. */
static DLDataType literal_dtype(tg_relay *p, tg_relay_loc l, const tg_relay_number *n)
{
    DLDataType d;
    if (n->suffixed || !tg_relay_note_dtype(p, l.note, &d))
        return n->dtype;
    if (n->is_float)
        return tg_is_float(d) ? d : n->dtype;
    return tg_is_int(d) || tg_is_float(d) ? d : n->dtype;
}

const tg_node *tg_relay_literal(tg_relay *p, tg_relay_loc l, const tg_relay_number *n)
{
    DLDataType d = literal_dtype(p, l, n);
    if (tg_is_int(d)) {
        if (tg_wrap_to(d, n->i) != n->i)
            tg_relay_wrong(p, l.span, "%lld does not fit %s", (long long)n->i, tg_dtype_text(p->cx, d));
        return constant(p, l, tg_tensor_scalar_int(p->cx, d, n->i));
    }
    tg_tensor *t = tg_tensor_scalar(p->cx, d, d.bits == 32 ? (double)n->f32 : n->f64);
    if (!n->special && isinf(tg_tensor_f64(t, 0)))
        tg_relay_wrong(p, l.span, "this number does not fit %s; infinity is written inff", tg_dtype_text(p->cx, d));
    return constant(p, l, t);
}

const tg_node *tg_relay_truth(tg_relay *p, tg_relay_loc l, bool b)
{
    return constant(p, l, tg_tensor_scalar_int(p->cx, TG_BOOL, b));
}

/* ---- constants of the metadata section ---- */

/* "meta[relay.Constant][12]", blanks allowed: @p key gets the type key. */
static const char *split_meta(tg_relay *p, const tg_name *ref, uint64_t *index)
{
    const char *open = strchr(ref->text, '[') + 1;
    open += strspn(open, " \t\r\n");
    size_t n = strcspn(open, "] \t\r\n");
    const char *number = strrchr(ref->text, '[') + 1;
    *index = strtoull(number + strspn(number, " \t\r\n"), NULL, 10);
    return tg_intern(p->cx, open, n)->text;
}

static const tg_value *lookup(tg_relay *p, tg_relay_loc l, const char *key, uint64_t index)
{
    const tg_value *v = NULL;
    if (p->meta != NULL)
        v = tg_meta_get(p->meta, l.span, key, index);
    else
        tg_relay_wrong(p, l.span, "the text has no metadata section, so this %s is unknown", key);
    p->failed = p->failed || v == NULL;
    return v;
}

static const tg_node *unknown(tg_relay *p, tg_relay_loc l)
{
    return tg_rvar(p->cx, tg_relay_new_var(p, l, tg_intern_z(p->cx, "?"), NULL), l.span);
}

const tg_node *tg_relay_meta(tg_relay *p, tg_relay_loc l, const tg_name *ref)
{
    uint64_t index;
    const char *key = split_meta(p, ref, &index);
    if (p->meta == NULL && strcmp(key, "relay.Constant") == 0)
        return tg_relay_missing_constant(p, l, index);
    const tg_value *v = lookup(p, l, key, index);
    if (v == NULL)
        return unknown(p, l);
    if (v->kind == TG_V_TENSOR)
        return constant(p, l, v->t);
    tg_relay_wrong(p, l.span, "a constant was expected, this is a %s", key);
    return unknown(p, l);
}

/* A device or target that only the missing metadata describes: nothing follows from it here. */
static const tg_value *place_value(tg_relay *p, const char *key)
{
    tg_value *v = TG_NEW(p->cx, tg_value);
    v->kind = TG_V_OBJECT;
    v->s = tg_intern_z(p->cx, key);
    return v;
}

const tg_value *tg_relay_meta_value(tg_relay *p, tg_relay_loc l, const tg_name *ref)
{
    uint64_t index;
    const char *key = split_meta(p, ref, &index);
    if (p->meta == NULL && strcmp(key, "relay.Constant") == 0)
        return NULL;                                /* an operand once more */
    if (p->meta == NULL && (strcmp(key, "VirtualDevice") == 0 || strcmp(key, "Target") == 0))
        return place_value(p, key);
    return lookup(p, l, key, index);
}

void tg_relay_attrs_of(tg_relay *p, tg_relay_loc l, const tg_name *ref)
{
    uint64_t index;
    const char *key = split_meta(p, ref, &index);
    const tg_value *v = lookup(p, l, key, index);
    for (uint32_t i = 0; v != NULL && i < v->n && v->key != NULL; ++i)
        tg_relay_push_attr(p, l, v->key[i], v->item[i]);
}

/* ---- attributes of calls and functions ---- */

void tg_relay_push_attr(tg_relay *p, tg_relay_loc l, const tg_name *key, const tg_value *v)
{
    if (v == NULL)
        return;
    uint32_t first = p->marks.n > 0 ? p->marks.at[p->marks.n - 1].attr : 0;
    for (size_t i = first; i < p->attr.n; ++i)
        if (p->attr.at[i].key == key) {
            tg_relay_wrong(p, l.span, "attribute %s is given twice", key->text);
            return;
        }
    TG_PUSH(p->cx, p->attr, ((tg_relay_attr){ key, v, l.span }));
}

/* The attributes from @p from on as a dictionary; NULL when there are none. Each remembers its place. */
const tg_value *tg_relay_take_attrs(tg_relay *p, uint32_t from)
{
    uint32_t n = (uint32_t)p->attr.n - from;
    if (n == 0)
        return NULL;
    const tg_name **key = TG_ARRAY(p->cx, const tg_name *, n);
    const tg_value **item = TG_ARRAY(p->cx, const tg_value *, n);
    for (uint32_t i = 0; i < n; ++i) {
        tg_value *v = tg_copy(p->cx, p->attr.at[from + i].value, sizeof *v);
        v->span = p->attr.at[from + i].span;
        key[i] = p->attr.at[from + i].key;
        item[i] = v;
    }
    return tg_v_dict(p->cx, n, key, item);
}

/* ---- calls ---- */

const tg_node *tg_relay_global(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    const tg_node *n = tg_node_at(p->cx, tg_rglobal(p->cx, name, NULL), l.span);
    return n;
}

/* A name alone: a constructor of the module, else an operator, marked by the string node that it is called by. */
const tg_node *tg_relay_opname(tg_relay *p, tg_relay_loc l, const tg_name *name)
{
    if (tg_map_get(&p->ctors, TG_KEY(name)) != NULL)
        return tg_node_new(p->cx, TG_RCTOR, l.span, NULL, name, 0, NULL);
    return tg_node_at(p->cx, tg_str(p->cx, name), l.span);
}

const tg_node *tg_relay_callee(tg_relay *p, tg_relay_loc l, const tg_node *n)
{
    return n->kind == TG_STR ? n : tg_relay_atom(p, l, n);
}

static const tg_node *call_node(tg_relay *p, tg_relay_loc l, const tg_name *op, const tg_value *attrs, uint32_t n,
                                const tg_node *const *kid)
{
    tg_rcall_info info = { .op = op, .attrs = attrs, .layer = tg_relay_note_layer(p, l.note) };
    return tg_node_new(p->cx, TG_RCALL, l.span, NULL, tg_copy(p->cx, &info, sizeof info), n, kid);
}

/* Constructors take as many operands as they have fields; one without fields is a value already. */
static bool check_ctor(tg_relay *p, tg_relay_loc l, const tg_name *name, uint32_t n)
{
    const tg_ctor *c = tg_map_get(&p->ctors, TG_KEY(name));
    if (c != NULL && c->n != n)
        tg_relay_wrong(p, l.span, "%s has %u field%s, %u %s given", name->text, (unsigned)c->n, c->n == 1 ? "" : "s",
                       (unsigned)n, n == 1 ? "is" : "are");
    return c != NULL && c->n == 0 && n == 0;
}

const tg_node *tg_relay_call(tg_relay *p, tg_relay_loc l, const tg_node *callee)
{
    tg_relay_marks m = p->marks.at[p->marks.n - 1];
    const tg_node *call;
    if (callee->kind == TG_RGLOBAL)
        tg_relay_missing_args(p, l, callee->u.name);
    uint32_t n = (uint32_t)p->node.n - m.node;
    if (callee->kind == TG_RCTOR && check_ctor(p, l, callee->u.name, n)) {
        call = tg_node_at(p->cx, callee, l.span);
    } else if (callee->kind == TG_STR) {
        call = call_node(p, l, callee->u.name, tg_relay_take_attrs(p, m.attr), n, TG_FROM(p->node, m.node));
    } else {
        const tg_node **kid = TG_ARRAY(p->cx, const tg_node *, (size_t)n + 1);
        kid[0] = callee;
        if (n > 0)
            memcpy(kid + 1, p->node.at + m.node, n * sizeof *kid);
        call = call_node(p, l, NULL, tg_relay_take_attrs(p, m.attr), n + 1, kid);
    }
    tg_relay_drop(p, tg_relay_close(p));
    return call;
}

const tg_node *tg_relay_call1(tg_relay *p, tg_relay_loc l, const char *op, const tg_node *a)
{
    return call_node(p, l, tg_intern_z(p->cx, op), NULL, 1, &a);
}

/* The left operand becomes an atom before the right one is read: effects keep their order. */
void tg_relay_left(tg_relay *p, tg_relay_loc l, const tg_node *a)
{
    tg_relay_push(p, l, a);
}

const tg_node *tg_relay_infix(tg_relay *p, tg_relay_loc l, const char *op, tg_relay_loc right, const tg_node *b)
{
    const tg_node *kid[2] = { NULL, tg_relay_atom(p, right, b) };
    kid[0] = p->node.at[--p->node.n];
    return call_node(p, l, tg_intern_z(p->cx, op), NULL, 2, kid);
}

/* ---- tuples and references ---- */

const tg_node *tg_relay_get(tg_relay *p, tg_relay_loc l, const tg_node *tuple, const tg_name *digits)
{
    int64_t index = 0;
    if (!tg_read_int(digits->text, digits->len, &index) || index > UINT32_MAX)
        tg_relay_wrong(p, l.span, "a tuple has no field %s", digits->text);
    return tg_node_at(p->cx, tg_rget(p->cx, tuple, index), l.span);
}

const tg_node *tg_relay_tuple(tg_relay *p, tg_relay_loc l)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_node *n = tg_rtuple(p->cx, (uint32_t)p->node.n - m.node, TG_FROM(p->node, m.node));
    tg_relay_drop(p, m);
    return tg_node_at(p->cx, n, l.span);
}

/* [a, b] of 0.6: the operands stacked along a new first dimension. */
const tg_node *tg_relay_stack(tg_relay *p, tg_relay_loc l)
{
    const tg_name *key = tg_intern_z(p->cx, "axis");
    const tg_value *axis = tg_v_int(p->cx, 0);
    const tg_node *tuple = tg_relay_atom(p, l, tg_relay_tuple(p, l));
    return call_node(p, l, tg_intern_z(p->cx, "stack"), tg_v_dict(p->cx, 1, &key, &axis), 1, &tuple);
}

const tg_node *tg_relay_ref(tg_relay *p, tg_relay_loc l, int what)
{
    tg_relay_marks m = tg_relay_close(p);
    const tg_node *n =
        tg_node_new(p->cx, TG_RREF, l.span, NULL, NULL, (uint32_t)p->node.n - m.node, TG_FROM(p->node, m.node));
    tg_relay_drop(p, m);
    return tg_relay_numbered_node(p, l, n, what);
}
