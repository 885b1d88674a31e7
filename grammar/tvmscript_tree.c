/* tvmscript_tree.c: building the syntax tree. Kids hang in a ring from their parent, so that lists grow at both ends
 * without copying; every node has one parent. */
#include "tvmscript_tree.h"

#include <string.h>

enum { NODES_AT_ONCE = 256 };

tg_syn *tg_syn_new(tg_script *p, enum tg_syn_kind kind, tg_span at)
{
    if (p->nfree == 0) {
        p->free_nodes = TG_TEMP_ARRAY(p->cx, tg_syn, NODES_AT_ONCE);
        p->nfree = NODES_AT_ONCE;
    }
    tg_syn *s = &p->free_nodes[NODES_AT_ONCE - p->nfree--];
    s->kind = (uint8_t)kind;
    s->begin = at.begin;
    s->end = at.end;
    return s;
}

tg_syn *tg_syn_named(tg_script *p, enum tg_syn_kind kind, tg_span at, const tg_name *name)
{
    tg_syn *s = tg_syn_new(p, kind, at);
    s->u.name = name;
    return s;
}

const tg_syn *tg_syn_kid(const tg_syn *s, uint32_t i)
{
    if (i >= s->nkids)
        return NULL;
    const tg_syn *kid = tg_syn_first(s);
    while (i-- > 0)
        kid = kid->next;
    return kid;
}

/* ---- lists ---- */

static void hang(tg_syn *parent, tg_syn *kid, bool first)
{
    if (parent->last == NULL) {
        kid->next = kid;
        parent->last = kid;
    } else {
        kid->next = parent->last->next;
        parent->last->next = kid;
        if (!first)
            parent->last = kid;
    }
    ++parent->nkids;
}

tg_syn *tg_syn_add(tg_syn *list, tg_syn *kid)
{
    hang(list, kid, false);
    if (kid->end > list->end)
        list->end = kid->end;
    return list;
}

tg_syn *tg_syn_splice(tg_syn *list, tg_syn *other)
{
    for (uint32_t left = other->nkids; left > 0; --left) {
        tg_syn *kid = other->last->next;
        other->last->next = kid->next;
        hang(list, kid, false);
    }
    list->end = other->end;
    return list;
}

tg_syn *tg_syn_1(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a)
{
    tg_syn *s = tg_syn_new(p, kind, at);
    hang(s, a, false);
    return s;
}

tg_syn *tg_syn_2(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a, tg_syn *b)
{
    tg_syn *s = tg_syn_1(p, kind, at, a);
    hang(s, b, false);
    return s;
}

tg_syn *tg_syn_3(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a, tg_syn *b, tg_syn *c)
{
    tg_syn *s = tg_syn_2(p, kind, at, a, b);
    hang(s, c, false);
    return s;
}

tg_syn *tg_syn_list_of(tg_script *p, tg_span at, tg_syn *a)
{
    return tg_syn_1(p, TG_SYN_LIST, at, a);
}

tg_syn *tg_syn_become(tg_syn *list, enum tg_syn_kind kind, tg_span at)
{
    list->kind = (uint8_t)kind;
    list->begin = at.begin;
    list->end = at.end;
    return list;
}

tg_syn *tg_syn_headed(tg_syn *list, enum tg_syn_kind kind, tg_span at, tg_syn *head)
{
    hang(list, head, true);
    return tg_syn_become(list, kind, at);
}

tg_syn *tg_syn_grouped(tg_syn *a, tg_span at)
{
    a->grouped = true;
    a->begin = at.begin;
    a->end = at.end;
    return a;
}

/* ---- expressions ---- */

/* Operators of one level make one chain; 0 for those that stand alone. */
static int level(enum tg_op op)
{
    switch (op) {
    case TG_OP_OR: return 1;
    case TG_OP_AND: return 2;
    case TG_OP_LT: case TG_OP_LE: case TG_OP_GT: case TG_OP_GE: case TG_OP_EQ: case TG_OP_NE: return 3;
    case TG_OP_BITOR: return 4;
    case TG_OP_BITXOR: return 5;
    case TG_OP_BITAND: return 6;
    case TG_OP_SHL: case TG_OP_SHR: return 7;
    case TG_OP_ADD: case TG_OP_SUB: return 8;
    case TG_OP_MUL: case TG_OP_DIV: case TG_OP_FLOORDIV: case TG_OP_FLOORMOD: case TG_OP_MATMUL: return 9;
    default: return 0;
    }
}

/* a + b - c is one chain, and so is (a + b) - c, which some printers write. A comparison in brackets stays apart:
 * (a < b) < c is no chain of comparisons. */
static bool continues(const tg_syn *a, enum tg_op op)
{
    return a->kind == TG_SYN_CHAIN && level(op) != 0 && level((enum tg_op)a->last->link) == level(op)
           && (!a->grouped || level(op) != level(TG_OP_LT));
}

tg_syn *tg_syn_binary(tg_script *p, enum tg_op op, tg_span at, tg_syn *a, tg_syn *b)
{
    b->link = (uint8_t)op;
    if (continues(a, op)) {
        tg_syn_add(a, b);
        a->begin = at.begin;
        a->end = at.end;
        a->grouped = false;
        return a;
    }
    return tg_syn_2(p, TG_SYN_CHAIN, at, a, b);
}

tg_syn *tg_syn_unary(tg_script *p, enum tg_op op, tg_span at, tg_syn *a)
{
    bool number = (a->kind == TG_SYN_INT || a->kind == TG_SYN_FLOAT) && !a->grouped && !a->negative;
    if (number && (op == TG_OP_NEG || op == TG_OP_POS)) {
        a->negative = op == TG_OP_NEG;
        if (a->kind == TG_SYN_FLOAT && a->negative)
            a->u.f = -a->u.f;
        a->begin = at.begin;
        return a;
    }
    tg_syn *s = tg_syn_1(p, TG_SYN_UNARY, at, a);
    s->op = (uint8_t)op;
    return s;
}

tg_syn *tg_syn_strings(tg_script *p, tg_span at, tg_syn *a, const tg_syn *b)
{
    size_t n = (size_t)a->u.name->len + b->u.name->len;
    char *joined = tg_temp(p->cx, n + 1);
    memcpy(joined, a->u.name->text, a->u.name->len);
    memcpy(joined + a->u.name->len, b->u.name->text, b->u.name->len);
    a->u.name = tg_intern(p->cx, joined, n);
    a->end = at.end;
    return a;
}

/* "global T.float32" as the pair T.float32, "global". */
tg_syn *tg_syn_scoped(tg_script *p, tg_span at, const tg_name *scope, const tg_name *prefix, const tg_name *type)
{
    tg_syn *dotted = tg_syn_1(p, TG_SYN_ATTR, at, tg_syn_named(p, TG_SYN_NAME, at, prefix));
    dotted->u.name = type;
    return tg_syn_2(p, TG_SYN_TUPLE, at, dotted, tg_syn_named(p, TG_SYN_STRING, at, scope));
}

/* ---- statements ---- */

tg_syn *tg_syn_import(tg_script *p, tg_span at, const tg_name *module, const tg_name *alias)
{
    tg_syn *s = tg_syn_named(p, TG_SYN_IMPORT, at, module);
    return tg_syn_add(s, tg_syn_named(p, TG_SYN_NAME, at, alias != NULL ? alias : module));
}

static tg_syn *or_none(tg_script *p, tg_span at, tg_syn *s)
{
    return s != NULL ? s : tg_syn_new(p, TG_SYN_NONE, at);
}

tg_syn *tg_syn_param(tg_script *p, tg_span at, const tg_name *name, tg_syn *type, tg_syn *value)
{
    tg_syn *s = tg_syn_2(p, TG_SYN_PARAM, at, or_none(p, at, type), or_none(p, at, value));
    s->u.name = name;
    return s;
}

tg_syn *tg_syn_def(tg_script *p, tg_span at, const tg_name *name, tg_syn *decorators, tg_syn *params, tg_syn *ret,
                   tg_syn *suite)
{
    if (decorators->nkids > 0)
        at.begin = decorators->last->next->begin - 1;       /* the @ before the first */
    tg_syn *s = tg_syn_3(p, TG_SYN_DEF, at, decorators, params, or_none(p, at, ret));
    s->u.name = name;
    hang(s, suite, false);
    return s;
}

tg_syn *tg_syn_class(tg_script *p, tg_span at, const tg_name *name, tg_syn *decorators, tg_syn *suite)
{
    if (decorators->nkids > 0)
        at.begin = decorators->last->next->begin - 1;
    tg_syn *s = tg_syn_2(p, TG_SYN_CLASS, at, decorators, suite);
    s->u.name = name;
    return s;
}

tg_syn *tg_syn_if(tg_script *p, tg_span at, tg_syn *cond, tg_syn *suite, tg_syn *elifs, tg_syn *otherwise)
{
    tg_syn *s = tg_syn_splice(tg_syn_2(p, TG_SYN_IF, at, cond, suite), elifs);
    if (otherwise != NULL)
        hang(s, otherwise, false);
    s->end = at.end;
    return s;
}

const char *tg_op_text(enum tg_op op)
{
    static const char *const text[] = {
        [TG_OP_NONE] = "",    [TG_OP_OR] = "or",   [TG_OP_AND] = "and",     [TG_OP_LT] = "<",
        [TG_OP_LE] = "<=",    [TG_OP_GT] = ">",    [TG_OP_GE] = ">=",       [TG_OP_EQ] = "==",
        [TG_OP_NE] = "!=",    [TG_OP_BITOR] = "|", [TG_OP_BITXOR] = "^",    [TG_OP_BITAND] = "&",
        [TG_OP_SHL] = "<<",   [TG_OP_SHR] = ">>",  [TG_OP_ADD] = "+",       [TG_OP_SUB] = "-",
        [TG_OP_MUL] = "*",    [TG_OP_DIV] = "/",   [TG_OP_FLOORDIV] = "//", [TG_OP_FLOORMOD] = "%",
        [TG_OP_MATMUL] = "@", [TG_OP_POW] = "**",  [TG_OP_NOT] = "not",     [TG_OP_NEG] = "-",
        [TG_OP_POS] = "+",    [TG_OP_INVERT] = "~"
    };
    return text[op];
}
