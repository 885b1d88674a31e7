/* print_tir_expr.c: names and expressions of TVMScript. What is still to be written waits on a stack, so neither long sums
 * nor deep calls grow C's. Formats: tvmscript-tir.md sections 9 to 12. */
#include "print_tir.h"

#include <math.h>
#include <string.h>

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Letters, digits and _, not beginning with a digit. */
static const char *sanitized(tg_tir_printer *p, const char *hint, const char *otherwise)
{
    if (hint[0] == '\0')
        return otherwise;
    bool good = is_letter(hint[0]);
    for (const char *s = hint; *s != '\0' && good; ++s)
        good = is_letter(*s) || (*s >= '0' && *s <= '9');
    if (good)
        return hint;
    tg_text t = tg_text_new(p->cx);
    if (hint[0] >= '0' && hint[0] <= '9')
        tg_puts(&t, "v_");
    for (const char *s = hint; *s != '\0'; ++s)
        tg_putc(&t, is_letter(*s) || (*s >= '0' && *s <= '9') ? *s : '_');
    return tg_text_z(&t);
}

static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "T",      "I",        "R",      "tvm",   "metadata", "meta",   "__tvm_meta__", "cls",     "Module", "range",
        "float",  "False",    "None",   "True",  "and",      "as",     "assert",       "async",   "await",  "break",
        "class",  "continue", "def",    "del",   "elif",     "else",   "except",       "finally", "for",    "from",
        "global", "if",       "import", "in",    "is",       "lambda", "nonlocal",     "not",     "or",     "pass",
        "raise",  "return",   "try",    "while", "with",     "yield"
    };
    for (size_t i = 0; i < TG_COUNT(words); ++i)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static tg_taken *taken_of(tg_tir_printer *p, const tg_name *name)
{
    tg_taken *k = tg_map_get(&p->taken, TG_KEY(name));
    if (k == NULL) {
        k = TG_NEW(p->cx, tg_taken);
        k->name = name;
        k->next = 1;
        k->now = is_reserved(name->text);
        tg_map_put(p->cx, &p->taken, TG_KEY(name), k);
    }
    return k;
}

const tg_name *tg_tir_name(tg_tir_printer *p, const char *hint, const char *otherwise)
{
    tg_taken *base = taken_of(p, tg_intern_z(p->cx, sanitized(p, hint, otherwise))), *k = base;
    while (k->now) {
        k = taken_of(p, tg_internf(p->cx, "%s_%u", base->name->text, base->next));
        k->base = base;
        k->suffix = base->next++;
    }
    k->now = true;
    TG_PUSH(p->cx, p->scope, k);
    return k->name;
}

void tg_tir_leave(tg_tir_printer *p, size_t mark)
{
    while (p->scope.n > mark) {
        tg_taken *k = p->scope.at[--p->scope.n];
        k->now = false;
        if (k->base != NULL && k->suffix < k->base->next)
            k->base->next = k->suffix;
    }
}

void tg_tir_show(tg_tir_printer *p, const tg_var *v, const char *text)
{
    tg_map_put(p->cx, &p->shown, (uint64_t)v->id + 1, (void *)(uintptr_t)text);
}

const char *tg_tir_define(tg_tir_printer *p, const tg_var *v)
{
    const char *text = tg_tir_name(p, v->name != NULL ? v->name->text : "", "v")->text;
    tg_tir_show(p, v, text);
    return text;
}

const tg_name *tg_tir_define_buffer(tg_tir_printer *p, const tg_buffer *b)
{
    const tg_name *name = tg_tir_name(p, b->name != NULL ? b->name->text : "", "buffer");
    tg_map_put(p->cx, &p->buffer, (uint64_t)b->id + 1, (void *)(uintptr_t)name);
    return name;
}

const char *tg_tir_var_text(tg_tir_printer *p, const tg_var *v)
{
    const char *text = tg_map_get(&p->shown, (uint64_t)v->id + 1);
    return text != NULL ? text : v->name != NULL && v->name->len > 0 ? v->name->text : "v";
}

const char *tg_tir_buffer_text(tg_tir_printer *p, const tg_buffer *b)
{
    const tg_name *name = tg_map_get(&p->buffer, (uint64_t)b->id + 1);
    return name != NULL ? name->text : b->name != NULL && b->name->len > 0 ? b->name->text : "buffer";
}

/* ---- types ---- */

static void put_pointer(tg_text *t, tg_ctx *cx, const tg_type *type)
{
    tg_printf(t, "T.handle(\"%s\"", tg_dtype_text(cx, type->dtype));
    if (type->name != NULL) {
        tg_puts(t, ", ");
        tg_put_quoted(t, type->name->text, type->name->len);
    }
    tg_putc(t, ')');
}

static bool is_opaque(tg_tir_printer *p, const tg_type *type)
{
    return type == tg_ptr(p->cx, TG_HANDLE, NULL);
}

const char *tg_tir_type_text(tg_tir_printer *p, const tg_type *type)
{
    if (type->kind != TG_T_PTR)
        return type->kind == TG_T_PRIM ? tg_format(p->cx, "T.%s", tg_dtype_text(p->cx, type->dtype)) : "None";
    if (is_opaque(p, type))
        return "T.handle";
    tg_text t = tg_text_new(p->cx);
    put_pointer(&t, p->cx, type);
    return tg_text_z(&t);
}

const char *tg_tir_result_text(tg_tir_printer *p, const tg_type *type)
{
    if (type->kind == TG_T_PTR)
        return tg_tir_type_text(p, type);
    return type->kind == TG_T_PRIM ? tg_format(p->cx, "\"%s\"", tg_dtype_text(p->cx, type->dtype)) : "\"void\"";
}

/* ---- pieces ---- */

static void later(tg_tir_printer *p, const tg_node *n, int outer)
{
    TG_PUSH(p->cx, p->pieces, ((tg_piece){ n, NULL, outer }));
}

static void later_text(tg_tir_printer *p, const char *s)
{
    TG_PUSH(p->cx, p->pieces, ((tg_piece){ NULL, s, 0 }));
}

/* kid[0], kid[1], … later; what comes last goes onto the stack first. */
static void later_list(tg_tir_printer *p, uint32_t n, const tg_node *const *kid)
{
    while (n-- > 0) {
        later(p, kid[n], TG_PREC_NONE);
        if (n > 0)
            later_text(p, ", ");
    }
}

/* ---- literals ---- */

static void put_int(tg_tir_printer *p, const tg_node *n)
{
    DLDataType d = n->type->dtype;
    if (n->type->kind == TG_T_PRIM && tg_is_bool(d))
        tg_puts(p->t, n->u.i != 0 ? "T.bool(True)" : "T.bool(False)");
    else if (n->type->kind == TG_T_PRIM && d.code == kDLInt && d.bits == 32)
        tg_put_int(p->t, n->u.i);
    else if (d.code == kDLUInt && d.bits == 64)
        tg_printf(p->t, "T.uint64(%llu)", (unsigned long long)n->u.i);
    else
        tg_printf(p->t, "T.%s(%lld)", tg_dtype_text(p->cx, d), (long long)n->u.i);
}

/* Readers round the decimal to a double, then to the type. The few digits of a shorter type survive that but for the
 * smallest and the largest numbers. */
static int digits_of(DLDataType d, double v)
{
    bool middle = v == 0 || (fabs(v) > 1e-12 && fabs(v) < 1e21);
    return d.code == kDLFloat && d.bits != 64 && middle ? 32 : 64;
}

static void put_float(tg_tir_printer *p, const tg_node *n)
{
    DLDataType d = n->type->dtype;
    tg_printf(p->t, "T.%s(", tg_dtype_text(p->cx, d));
    if (isnan(n->u.f) || isinf(n->u.f))
        tg_puts(p->t, isnan(n->u.f) ? "\"nan\"" : n->u.f > 0 ? "\"inf\"" : "\"-inf\"");
    else
        tg_put_float(p->t, n->u.f, digits_of(d, n->u.f), false);
    tg_putc(p->t, ')');
}

/* ---- operators ---- */

typedef struct operator_text { const char *infix, *call; int prec; } operator_text;

static const operator_text operators[TG_NKINDS] = {
    [TG_ADD] = { " + ", "T.Add", TG_PREC_SUM },
    [TG_SUB] = { " - ", "T.Sub", TG_PREC_SUM },
    [TG_MUL] = { " * ", "T.Mul", TG_PREC_TERM },
    [TG_DIV] = { " / ", "T.Div", TG_PREC_TERM },
    [TG_FLOORDIV] = { " // ", "T.FloorDiv", TG_PREC_TERM },
    [TG_FLOORMOD] = { " % ", "T.FloorMod", TG_PREC_TERM },
    [TG_MOD] = { NULL, "T.truncmod", 0 },
    [TG_MIN] = { NULL, "T.min", 0 },
    [TG_MAX] = { NULL, "T.max", 0 },
    [TG_EQ] = { " == ", "T.EQ", TG_PREC_COMPARE },
    [TG_NE] = { " != ", "T.NE", TG_PREC_COMPARE },
    [TG_LT] = { " < ", "T.LT", TG_PREC_COMPARE },
    [TG_LE] = { " <= ", "T.LE", TG_PREC_COMPARE },
    [TG_GT] = { " > ", "T.GT", TG_PREC_COMPARE },
    [TG_GE] = { " >= ", "T.GE", TG_PREC_COMPARE },
    [TG_AND] = { " and ", "T.And", TG_PREC_AND },
    [TG_OR] = { " or ", "T.Or", TG_PREC_OR },
    [TG_SELECT] = { NULL, "T.Select", 0 },
};

static bool is_literal(const tg_node *n)
{
    return n->kind == TG_INT || n->kind == TG_FLOAT;
}

/* Integers have no infix operator that truncates; Python would fold two literals. */
static bool is_infix(const tg_node *n)
{
    if (operators[n->kind].infix == NULL || (is_literal(n->kid[0]) && is_literal(n->kid[1])))
        return false;
    return n->kind != TG_DIV || tg_is_float(n->type->dtype);
}

static void open_call(tg_tir_printer *p, const char *name)
{
    tg_puts(p->t, name);
    tg_putc(p->t, '(');
    later_text(p, ")");
}

static void put_operator(tg_tir_printer *p, const tg_node *n, int outer)
{
    if (!is_infix(n)) {
        open_call(p, operators[n->kind].call);
        later_list(p, n->nkids, n->kid);
        return;
    }
    int prec = operators[n->kind].prec;
    if (prec < outer) {
        tg_putc(p->t, '(');
        later_text(p, ")");
    }
    /* a comparison beside a comparison keeps its brackets: Python chains them */
    later(p, n->kid[1], prec + 1);
    later_text(p, operators[n->kind].infix);
    later(p, n->kid[0], prec == TG_PREC_COMPARE ? prec + 1 : prec);
}

static void put_not(tg_tir_printer *p, const tg_node *n, int outer)
{
    if (is_literal(n->kid[0])) {
        open_call(p, "T.Not");
        later(p, n->kid[0], TG_PREC_NONE);
        return;
    }
    if (TG_PREC_NOT < outer) {
        tg_putc(p->t, '(');
        later_text(p, ")");
    }
    tg_puts(p->t, "not ");
    later(p, n->kid[0], TG_PREC_NOT);
}

/* ---- calls ---- */

static const tg_type *usual_type(tg_tir_printer *p, const tg_intrin *row, const tg_node *n)
{
    switch (row->result) {
    case TG_RESULT_SAME: return n->nkids > 0 ? n->kid[0]->type : NULL;
    case TG_RESULT_SECOND: return n->nkids > 1 ? n->kid[1]->type : NULL;
    case TG_RESULT_BOOL: return tg_prim(p->cx, tg_dtype(kDLUInt, 1, n->nkids > 0 ? n->kid[0]->type->dtype.lanes : 1));
    case TG_RESULT_I32: return tg_prim(p->cx, TG_INT32);
    case TG_RESULT_PTR: return tg_ptr(p->cx, TG_HANDLE, NULL);
    case TG_RESULT_VOID: return tg_void(p->cx);
    case TG_RESULT_GIVEN: return row->id == TG_I_large_uint_imm ? tg_prim(p->cx, tg_dtype(kDLUInt, 64, 1)) : NULL;
    }
    return NULL;
}

static void put_call(tg_tir_printer *p, const tg_node *n)
{
    const tg_intrin *row = tg_intrin_find(p->cx, n->u.name);
    open_call(p, tg_format(p->cx, "T.%s", n->u.name->text));
    const tg_type *usual = row != NULL ? usual_type(p, row, n) : NULL;
    bool given = row != NULL && row->result == TG_RESULT_GIVEN && usual == NULL;
    if (given && row->id != TG_I_tvm_struct_get) {      /* the type comes first */
        later_list(p, n->nkids, n->kid);
        tg_puts(p->t, tg_tir_result_text(p, n->type));
        if (n->nkids > 0)
            tg_puts(p->t, ", ");
        return;
    }
    if (given || n->type != usual) {                    /* last, by keyword where it is not the usual one */
        later_text(p, tg_tir_result_text(p, n->type));
        later_text(p, given ? "" : "dtype=");
        if (n->nkids > 0)
            later_text(p, ", ");
    }
    later_list(p, n->nkids, n->kid);
}

/* ---- vectors and accesses ---- */

static void put_lanes(tg_tir_printer *p, const tg_node *n, const char *name)
{
    open_call(p, name);
    later_text(p, tg_format(p->cx, ", %u", (unsigned)n->type->dtype.lanes));
    later_list(p, n->nkids, n->kid);
}

static void put_shuffle(tg_tir_printer *p, const tg_node *n)
{
    uint32_t vectors = (uint32_t)n->u.i;
    open_call(p, "T.Shuffle");
    later_text(p, "]");
    later_list(p, n->nkids - vectors, n->kid + vectors);
    later_text(p, "], [");
    later_list(p, vectors, n->kid);
    later_text(p, "[");
}

static void put_let(tg_tir_printer *p, const tg_node *n)
{
    open_call(p, "T.Let");
    later_text(p, "}");
    later(p, n->kid[0], TG_PREC_NONE);
    later_text(p, ": ");
    later_text(p, tg_tir_var_text(p, n->u.var));
    later_text(p, ", where={");
    later(p, n->kid[1], TG_PREC_NONE);
}

/* Few nodes, so that writing it twice is no loss. */
static bool is_short(const tg_node *n)
{
    const tg_node *todo[32];
    size_t waiting = 1;
    todo[0] = n;
    for (size_t seen = 0; waiting > 0; ++seen) {
        n = todo[--waiting];
        if (seen == TG_COUNT(todo) || waiting + n->nkids > TG_COUNT(todo) || n->kind == TG_LET)
            return false;
        for (uint32_t i = 0; i < n->nkids; ++i)
            todo[waiting++] = n->kid[i];
    }
    return true;
}

/* As a slice, if a constant stride makes that exact. */
static bool is_slice(const tg_node *n)
{
    const tg_node *base = n->kid[0], *stride = n->kid[1];
    if (stride->kind != TG_INT || stride->u.i < 1 || stride->u.i > INT16_MAX || stride->type != base->type)
        return false;
    int64_t span = stride->u.i * n->type->dtype.lanes;
    return base->kind == TG_INT ? tg_wrap_to(base->type->dtype, base->u.i + span) == base->u.i + span && base->u.i >= 0
                                : is_short(base);
}

static void later_index(tg_tir_printer *p, const tg_node *n)
{
    if (n->kind != TG_RAMP || !is_slice(n)) {
        later(p, n, TG_PREC_NONE);
        return;
    }
    const tg_node *base = n->kid[0], *stride = n->kid[1];
    int64_t span = stride->u.i * n->type->dtype.lanes;
    if (stride->u.i != 1) {
        later(p, stride, TG_PREC_NONE);
        later_text(p, ":");
    }
    if (base->kind == TG_INT) {
        later(p, tg_int(p->cx, base->type->dtype, base->u.i + span), TG_PREC_NONE);
    } else {
        later(p, tg_int(p->cx, base->type->dtype, span), TG_PREC_TERM);
        later_text(p, " + ");
        later(p, base, TG_PREC_SUM);
    }
    later_text(p, ":");
    later(p, base, TG_PREC_NONE);
}

static void put_load(tg_tir_printer *p, const tg_node *n)
{
    tg_puts(p->t, tg_tir_buffer_text(p, n->u.buf));
    tg_puts(p->t, n->nkids == 0 ? "[()" : "[");
    later_text(p, "]");
    for (uint32_t i = n->nkids; i > 0; --i) {
        later_index(p, n->kid[i - 1]);
        if (i > 1)
            later_text(p, ", ");
    }
}

/* ---- expressions ---- */

static void put_node(tg_tir_printer *p, const tg_node *n, int outer)
{
    switch (n->kind) {
    case TG_INT: put_int(p, n); break;
    case TG_FLOAT: put_float(p, n); break;
    case TG_STR: tg_put_quoted(p->t, n->u.name->text, n->u.name->len); break;
    case TG_VAR: case TG_RVAR: tg_puts(p->t, tg_tir_var_text(p, n->u.var)); break;
    case TG_NOT: put_not(p, n, outer); break;
    case TG_CAST:
        open_call(p, "T.Cast");
        tg_printf(p->t, "\"%s\", ", tg_dtype_text(p->cx, n->type->dtype));
        later(p, n->kid[0], TG_PREC_NONE);
        break;
    case TG_LOAD: put_load(p, n); break;
    case TG_CALL: put_call(p, n); break;
    case TG_LET: put_let(p, n); break;
    case TG_RAMP: put_lanes(p, n, "T.Ramp"); break;
    case TG_BROADCAST: put_lanes(p, n, "T.Broadcast"); break;
    case TG_SHUFFLE: put_shuffle(p, n); break;
    default:
        if (operators[n->kind].call != NULL)
            put_operator(p, n, outer);
        else
            tg_puts(p->t, tg_kind_info[n->kind].text);
        break;
    }
}

static void run(tg_tir_printer *p, size_t floor)
{
    while (p->pieces.n > floor) {
        tg_piece x = p->pieces.at[--p->pieces.n];
        if (p->raw && p->t->n > p->most)
            continue;
        if (x.s != NULL)
            tg_puts(p->t, x.s);
        else
            put_node(p, x.n, x.outer);
    }
}

void tg_tir_expr(tg_tir_printer *p, const tg_node *n, int outer)
{
    size_t floor = p->pieces.n;
    later(p, n, outer);
    run(p, floor);
}

void tg_tir_index(tg_tir_printer *p, const tg_node *n)
{
    size_t floor = p->pieces.n;
    later_index(p, n);
    run(p, floor);
}

bool tg_tir_is_extent(const tg_node *min, const tg_node *extent)
{
    bool sum_of_zero = extent->kind == TG_ADD && tg_is_int_const(extent->kid[0], 0);
    return tg_is_int_const(min, 0) && min->type == extent->type && !sum_of_zero;
}

/* The reader takes extent out of "min + extent" when min is what the range begins with, and end as extent when that is 0. */
void tg_tir_end(tg_tir_printer *p, const tg_node *min, const tg_node *extent)
{
    size_t floor = p->pieces.n;
    if (min->kind == TG_INT && extent->kind == TG_INT &&
        tg_wrap_to(extent->type->dtype, min->u.i + extent->u.i) == min->u.i + extent->u.i) {
        later(p, tg_int(p->cx, extent->type->dtype, min->u.i + extent->u.i), TG_PREC_NONE);
    } else if (tg_tir_is_extent(min, extent)) {
        later(p, extent, TG_PREC_NONE);
    } else {
        later(p, extent, TG_PREC_TERM);
        later_text(p, " + ");
        later(p, min, TG_PREC_SUM);
    }
    run(p, floor);
}

void tg_tir_region(tg_tir_printer *p, const tg_buffer *b, const tg_node *const *min_extent)
{
    tg_puts(p->t, tg_tir_buffer_text(p, b));
    tg_puts(p->t, b->ndim == 0 ? "[()" : "[");
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *min = min_extent[2 * k], *extent = min_extent[2 * k + 1];
        if (k > 0)
            tg_puts(p->t, ", ");
        tg_tir_expr(p, min, TG_PREC_NONE);
        if (tg_is_int_const(extent, 1) && extent->type == min->type)
            continue;
        tg_putc(p->t, ':');
        tg_tir_end(p, min, extent);
    }
    tg_putc(p->t, ']');
}
