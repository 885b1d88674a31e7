/* print_tir_buffer.c: declarations of buffers in TVMScript, and the variables that they define on the way: strides in quotes,
 * an element offset that offset_factor implies. Formats: tvmscript-tir.md section 5. */
#include "print_tir.h"
#include "walk.h"

static bool is_known(const tg_tir_printer *p, const tg_var *v)
{
    return tg_map_get(&p->shown, (uint64_t)v->id + 1) != NULL;
}

bool tg_tir_is_plain(const tg_buffer *b)
{
    for (uint32_t k = 0; k < b->ndim; ++k)
        if (b->shape[k]->kind != TG_INT || (b->strides != NULL && b->strides[k]->kind != TG_INT))
            return false;
    return b->elem_offset == NULL || b->elem_offset->kind == TG_INT;
}

/* The type that the reader gives to variables a buffer defines. */
static const tg_type *index_type(tg_tir_printer *p, const tg_buffer *b)
{
    return b->ndim > 0 ? b->shape[0]->type : tg_prim(p->cx, TG_INT32);
}

/* A variable that the declaration itself can define, where it stands alone. */
static bool defines(tg_tir_printer *p, const tg_buffer *b, const tg_node *n)
{
    return n->kind == TG_VAR && !is_known(p, n->u.var) && n->type == index_type(p, b);
}

/* ---- variables declared beforehand ---- */

typedef struct freeing { tg_tir_printer *p; unsigned level; } freeing;

static bool declare(tg_ctx *cx, const tg_node *n, void *user)
{
    freeing *f = user;
    (void)cx;
    if (n->kind != TG_VAR || is_known(f->p, n->u.var))
        return true;
    const char *name = tg_tir_define(f->p, n->u.var);
    const char *type = tg_tir_type_text(f->p, n->type);
    tg_indent(f->p->t, f->level);
    tg_printf(f->p->t, n->type->kind == TG_T_PTR && type[8] == '(' ? "%s = %s\n" : "%s = %s()\n", name, type);
    return true;
}

static void declare_in(tg_tir_printer *p, const tg_node *n, unsigned level)
{
    freeing f = { p, level };
    if (n->kind != TG_INT)
        tg_visit(p->cx, n, declare, &f);
}

void tg_tir_declare_free(tg_tir_printer *p, const tg_buffer *b, unsigned level)
{
    for (uint32_t k = 0; k < b->ndim; ++k)
        declare_in(p, b->shape[k], level);
    for (uint32_t k = 0; k < b->ndim && b->strides != NULL; ++k)
        if (!defines(p, b, b->strides[k]))
            declare_in(p, b->strides[k], level);
    if (b->elem_offset != NULL && (b->offset_factor == 0 || !defines(p, b, b->elem_offset)))
        declare_in(p, b->elem_offset, level);
}

/* ---- arguments ---- */

static void put_shape(tg_tir_printer *p, const tg_buffer *b)
{
    tg_putc(p->t, '(');
    for (uint32_t k = 0; k < b->ndim; ++k) {
        tg_tir_expr(p, b->shape[k], TG_PREC_NONE);
        tg_puts(p->t, k + 1 < b->ndim ? ", " : b->ndim == 1 ? "," : "");
    }
    tg_putc(p->t, ')');
}

static void put_strides(tg_tir_printer *p, const tg_buffer *b)
{
    tg_puts(p->t, ", strides=(");
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *n = b->strides[k];
        if (defines(p, b, n)) {
            const char *name = tg_tir_var_text(p, n->u.var);
            tg_printf(p->t, "\"%s\"", name);
            tg_tir_show(p, n->u.var, tg_format(p->cx, "%s.strides[%u]", tg_tir_buffer_text(p, b), (unsigned)k));
        } else {
            tg_tir_expr(p, n, TG_PREC_NONE);
        }
        tg_puts(p->t, k + 1 < b->ndim ? ", " : b->ndim == 1 ? "," : "");
    }
    tg_putc(p->t, ')');
}

/* The factor is shown where there is an offset at all: alone it stands for an offset of its own. */
static void put_offset(tg_tir_printer *p, const tg_buffer *b)
{
    if (b->offset_factor != 0 && defines(p, b, b->elem_offset)) {
        tg_tir_show(p, b->elem_offset->u.var, tg_format(p->cx, "%s.elem_offset", tg_tir_buffer_text(p, b)));
    } else {
        tg_puts(p->t, ", elem_offset=");
        tg_tir_expr(p, b->elem_offset, TG_PREC_NONE);
    }
}

void tg_tir_buffer_args(tg_tir_printer *p, const tg_buffer *b, const tg_var *data, bool with_dtype)
{
    put_shape(p, b);
    if (with_dtype || !tg_dtype_eq(b->dtype, TG_FLOAT32))
        tg_printf(p->t, ", \"%s\"", tg_dtype_text(p->cx, b->dtype));
    if (data != NULL)
        tg_printf(p->t, ", data=%s", tg_tir_var_text(p, data));
    if (b->strides != NULL)
        put_strides(p, b);
    if (b->elem_offset != NULL)
        put_offset(p, b);
    if (b->scope != NULL && !tg_name_is(b->scope, "global")) {
        tg_puts(p->t, ", scope=");
        tg_put_quoted(p->t, b->scope->text, b->scope->len);
    }
    if (b->align > 0 && b->align != 64)
        tg_printf(p->t, ", align=%d", (int)b->align);
    if (b->offset_factor != 0 && b->elem_offset != NULL)
        tg_printf(p->t, ", offset_factor=%d", (int)b->offset_factor);
    if (b->auto_broadcast)
        tg_puts(p->t, ", buffer_type=\"auto\"");
    tg_putc(p->t, ')');
}
