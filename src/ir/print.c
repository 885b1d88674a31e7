/* print.c: what is printed at every level: a module by its level, values of attributes, one line of a node for messages. */
#include "print.h"
#include "print_tir.h"

#include <math.h>

void tg_print_module(tg_text *t, const tg_module *m)
{
    if (tg_module_level(m) == TG_LEVEL_RELAY)
        tg_print_relay(t, m);
    else
        tg_print_tir(t, m);
}

/* ---- values ---- */

static bool starts_with(const tg_name *s, const char *head)
{
    const char *a = s->text;
    while (*head != '\0' && *a == *head) {
        ++a;
        ++head;
    }
    return *head == '\0';
}

static void put_int(tg_text *t, const tg_value *v, bool script)
{
    bool plain = v->bits == 32 || v->bits == 0;
    if (!plain && script)
        tg_printf(t, "T.int%u(%lld)", (unsigned)v->bits, (long long)v->i);
    else if (!plain && (v->bits == 64 || v->bits == 16))
        tg_printf(t, "%lldi%u", (long long)v->i, (unsigned)v->bits);
    else
        tg_put_int(t, v->i);
}

/* Python's numbers are doubles: a plain one keeps every bit. Relay names the width. */
static void put_float(tg_text *t, const tg_value *v, bool script)
{
    bool finite = !isnan(v->f) && !isinf(v->f), plain = v->bits == 32 || v->bits == 0;
    if (script && finite && plain) {
        tg_put_float(t, v->f, 64, true);
    } else if (script) {
        tg_printf(t, "T.float%u(%s", v->bits == 0 ? 32u : (unsigned)v->bits, finite ? "" : "\"");
        tg_put_float(t, v->f, 64, true);
        tg_puts(t, finite ? ")" : "\")");
    } else {
        tg_put_float(t, v->f, 64, false);
        tg_puts(t, v->bits == 64 ? "f64" : v->bits == 16 ? "f16" : "f");
    }
}

static void put_tensor(tg_text *t, const tg_value *v, bool script, const tg_map *tensors)
{
    uintptr_t index = tensors != NULL ? (uintptr_t)tg_map_get(tensors, TG_KEY(v->t)) : 0;
    tg_puts(t, script ? "metadata[\"runtime.NDArray\"][" : "meta[relay.Constant][");
    if (index != 0)
        tg_put_int(t, (int64_t)index - 1);
    else
        tg_putc(t, '?');
    tg_putc(t, ']');
}

static void put_value(tg_text *t, const tg_value *v, bool script, const tg_map *tensors);

static void put_items(tg_text *t, const tg_value *v, const char *between, bool quoted, bool script,
                      const tg_map *tensors)
{
    for (uint32_t i = 0; i < v->n; ++i) {
        if (i > 0)
            tg_puts(t, ", ");
        if (v->key != NULL && quoted) {
            tg_put_quoted(t, v->key[i]->text, v->key[i]->len);
            tg_puts(t, between);
        } else if (v->key != NULL && v->key[i]->len > 0) {
            tg_puts(t, v->key[i]->text);
            tg_puts(t, between);
        }
        put_value(t, v->item[i], script, tensors);
    }
}

/* I.ConstantInfo("x", byte_offset=0) and T.target({…}) as TVM writes them; objects of the metadata section by their type, whole
 * and in place, where TVM would refer to that section. */
static void put_object(tg_text *t, const tg_value *v, bool script, const tg_map *tensors)
{
    bool unnamed = v->n == 1 && v->key[0]->len == 0, target = tg_name_is(v->s, "Target") && !unnamed;
    if (!script || starts_with(v->s, "I.") || (unnamed && tg_name_is(v->s, "Target"))) {
        tg_puts(t, script && !starts_with(v->s, "I.") ? "T.target" : v->s->text);
        tg_putc(t, '(');
        put_items(t, v, "=", false, script, tensors);
        tg_putc(t, ')');
        return;
    }
    if (target) {
        tg_puts(t, "T.target({");
    } else {
        tg_puts(t, "I.object(");
        tg_put_quoted(t, v->s->text, v->s->len);
        tg_puts(t, ", {");
    }
    put_items(t, v, ": ", true, script, tensors);
    tg_puts(t, "})");
}

/* Readers limit how deep values nest, so recursion is bounded. */
static void put_value(tg_text *t, const tg_value *v, bool script, const tg_map *tensors)
{
    switch ((enum tg_value_kind)v->kind) {
    case TG_V_NONE: tg_puts(t, "None"); break;
    case TG_V_BOOL:
        tg_puts(t, script ? (v->i != 0 ? "T.bool(True)" : "T.bool(False)") : v->i != 0 ? "True" : "False");
        break;
    case TG_V_INT: put_int(t, v, script); break;
    case TG_V_FLOAT: put_float(t, v, script); break;
    case TG_V_STR: tg_put_quoted(t, v->s->text, v->s->len); break;
    case TG_V_LIST:
        tg_putc(t, '[');
        put_items(t, v, "", false, script, tensors);
        tg_putc(t, ']');
        break;
    case TG_V_DICT:
        tg_putc(t, '{');
        put_items(t, v, script ? ": " : "=", script, script, tensors);
        tg_putc(t, '}');
        break;
    case TG_V_TENSOR: put_tensor(t, v, script, tensors); break;
    case TG_V_OBJECT: put_object(t, v, script, tensors); break;
    }
}

void tg_print_value_with(tg_text *t, const tg_value *v, bool tvmscript, const tg_map *tensors)
{
    put_value(t, v, tvmscript, tensors);
}

void tg_print_value(tg_text *t, const tg_value *v, bool tvmscript)
{
    put_value(t, v, tvmscript, NULL);
}

/* ---- one line of a node ---- */

enum { LONGEST_LINE = 120 };

static void relay_text(tg_text *t, const tg_node *n)
{
    switch (n->kind) {
    case TG_RVAR: case TG_RBIND:
        tg_printf(t, "%%%s", n->u.var->name != NULL ? n->u.var->name->text : "");
        break;
    case TG_RGLOBAL: tg_printf(t, "@%s", n->u.name->text); break;
    case TG_RCTOR: tg_puts(t, n->u.name->text); break;
    case TG_RCALL:
        if (n->u.call->op != NULL)
            tg_puts(t, n->u.call->op->text);
        else if (n->kid[0]->kind == TG_RGLOBAL)
            tg_printf(t, "@%s", n->kid[0]->u.name->text);
        else
            tg_puts(t, "a call");
        break;
    case TG_RGET: tg_printf(t, "tuple.%lld", (long long)n->u.i); break;
    case TG_RCONST: tg_puts(t, "a constant"); break;
    default: tg_puts(t, tg_kind_info[n->kind].text + 1); break;
    }
}

static void head_text(tg_tir_printer *p, const tg_node *n)
{
    tg_text *t = p->t;
    switch (n->kind) {
    case TG_STORE:
        tg_puts(t, tg_tir_buffer_text(p, n->u.buf));
        for (uint32_t i = 1; i < n->nkids; ++i) {
            tg_puts(t, i == 1 ? "[" : ", ");
            tg_tir_index(p, n->kid[i]);
        }
        tg_puts(t, n->nkids == 1 ? "[()] = " : "] = ");
        tg_tir_expr(p, n->kid[0], TG_PREC_NONE);
        break;
    case TG_FOR:
        tg_printf(t, "for %s in range(", tg_tir_var_text(p, n->u.loop->var));
        if (!tg_tir_is_extent(n->kid[0], n->kid[1])) {
            tg_tir_expr(p, n->kid[0], TG_PREC_NONE);
            tg_puts(t, ", ");
        }
        tg_tir_end(p, n->kid[0], n->kid[1]);
        tg_putc(t, ')');
        break;
    case TG_IF: case TG_WHILE: case TG_ASSERT:
        tg_printf(t, "%s ", tg_kind_info[n->kind].text);
        tg_tir_expr(p, n->kid[0], TG_PREC_NONE);
        break;
    case TG_EVALUATE: tg_tir_expr(p, n->kid[0], TG_PREC_NONE); break;
    case TG_LET_STMT:
        tg_printf(t, "%s = ", tg_tir_var_text(p, n->u.var));
        tg_tir_expr(p, n->kid[0], TG_PREC_NONE);
        break;
    case TG_ALLOCATE:
    case TG_ALLOC_CONST: tg_printf(t, "%s %s", tg_kind_info[n->kind].text, tg_tir_var_text(p, n->u.alloc->var)); break;
    case TG_DECL_BUFFER: tg_printf(t, "decl_buffer %s", tg_tir_buffer_text(p, n->u.buf)); break;
    case TG_ATTR: tg_printf(t, "attr \"%s\"", n->u.attr->key->text); break;
    case TG_BLOCK: tg_printf(t, "block \"%s\"", n->u.block->name->text); break;
    case TG_SEQ: tg_printf(t, "%u statements", (unsigned)n->nkids); break;
    default: tg_tir_expr(p, n, TG_PREC_NONE); break;
    }
}

const char *tg_node_text(tg_ctx *cx, const tg_node *n)
{
    tg_text t = tg_text_new(cx);
    tg_tir_printer p = { .cx = cx, .t = &t, .raw = true, .most = LONGEST_LINE };
    if (tg_is_relay(n))
        relay_text(&t, n);
    else
        head_text(&p, n);
    if (t.n <= LONGEST_LINE + 3)
        return tg_text_z(&t);
    return tg_format(cx, "%.*s...", (int)LONGEST_LINE, tg_text_z(&t));
}
