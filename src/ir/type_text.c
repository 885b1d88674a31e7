/* type_text.c: types as Relay prints them. Nested types stand on a stack here, so that none is too deep, and a type that
 * shares its parts so often that its text would explode is refused. */
#include "text.h"
#include "type.h"
#include "vec.h"

enum { LONGEST_TEXT = 1 << 24 };    /* bytes */

/* A type being printed, and its next part: fields from 0, the result of a function at n. */
typedef struct open_type { const tg_type *type; uint32_t next; } open_type;

static void put_tensor(tg_text *t, const tg_type *type)
{
    const char *dtype = tg_dtype_text(t->cx, type->dtype);
    if (type->n == 0) {
        tg_puts(t, dtype);
        return;
    }
    tg_puts(t, "Tensor[(");
    for (uint32_t k = 0; k < type->n; ++k) {
        if (k > 0) tg_puts(t, ", ");
        if (type->dim[k] == TG_DIM_ANY) tg_putc(t, '?');
        else tg_put_int(t, type->dim[k]);
        if ((type->wide >> k & 1) != 0 && type->dim[k] != TG_DIM_ANY) tg_puts(t, "i64");
    }
    tg_printf(t, "), %s]", dtype);
}

static void put_pointer(tg_text *t, const tg_type *type)
{
    tg_printf(t, "handle(\"%s\"", tg_dtype_text(t->cx, type->dtype));
    if (type->name != NULL) tg_printf(t, ", \"%s\"", type->name->text);
    tg_putc(t, ')');
}

/* What stands before the first part. @return whether parts follow. */
static bool put_opening(tg_text *t, const tg_type *type)
{
    switch ((enum tg_type_kind)type->kind) {
    case TG_T_PRIM: tg_puts(t, tg_dtype_text(t->cx, type->dtype)); return false;
    case TG_T_PTR: put_pointer(t, type); return false;
    case TG_T_VOID: tg_puts(t, "void"); return false;
    case TG_T_TENSOR: put_tensor(t, type); return false;
    case TG_T_UNKNOWN: tg_putc(t, '_'); return false;
    case TG_T_TUPLE: tg_putc(t, '('); return true;
    case TG_T_FUNC: tg_puts(t, "fn ("); return true;
    case TG_T_REF: tg_puts(t, "ref("); return true;
    case TG_T_VAR:
    case TG_T_ADT:
        tg_putn(t, type->name->text, type->name->len);
        if (type->kind == TG_T_VAR && type->n == 0) return false;
        tg_putc(t, '[');
        return true;
    }
    return false;
}

/* What stands after the last field. */
static const char *closing(const tg_type *type)
{
    if (type->kind == TG_T_TUPLE) return type->n == 1 ? ",)" : ")";
    if (type->kind == TG_T_FUNC) return type->ret == NULL ? ")" : ") -> ";
    return type->kind == TG_T_REF ? ")" : "]";
}

const char *tg_type_text(tg_ctx *cx, const tg_type *type)
{
    tg_text t = tg_text_new(cx);
    TG_VEC(open_type) open = { 0 };
    if (put_opening(&t, type)) TG_PUSH(cx, open, ((open_type){ type, 0 }));
    while (open.n > 0) {
        open_type *top = &open.at[open.n - 1];
        const tg_type *at = top->type, *part = NULL;
        if (top->next < at->n) {
            if (top->next > 0) tg_puts(&t, ", ");
            part = at->field[top->next];
        } else if (top->next == at->n) {
            tg_puts(&t, closing(at));
            part = at->ret;
        }
        if (part == NULL) {
            --open.n;
            continue;
        }
        ++top->next;
        if (put_opening(&t, part)) TG_PUSH(cx, open, ((open_type){ part, 0 }));
        if (t.n > LONGEST_TEXT) tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "a type is too large to print");
    }
    return tg_text_z(&t);
}
