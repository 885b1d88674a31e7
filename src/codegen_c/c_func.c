/* c_func.c: one function: the comment above it, its signature, its body. */
#include "emit.h"

#include <string.h>


/* ---- the comment ---- */

typedef struct paragraph { tg_emit *e; size_t column; } paragraph;

/* Adds a piece that is not broken, behind @p gap blanks; begins a new line when it does not fit. */
static void add_piece(paragraph *p, unsigned gap, const char *text, size_t n)
{
    if (n == 0)
        return;
    if (p->column + gap + n > C_COLUMNS - 3 && p->column > 3) {
        tg_puts(p->e->to, "\n * ");
        p->column = 3;
        gap = 0;
    }
    for (; gap > 0 && p->column > 3; --gap, ++p->column)
        tg_putc(p->e->to, ' ');
    c_put_comment(p->e, text, n);
    p->column += n;
}

/* Words of a text, separated by ", ". */
static void add_list(paragraph *p, unsigned gap, const char *text)
{
    while (*text != '\0') {
        const char *comma = strstr(text, ", ");
        size_t n = comma == NULL ? strlen(text) : (size_t)(comma - text) + 1;
        add_piece(p, gap, text, n);
        gap = 1;
        text += comma == NULL ? n : n + 1;
    }
}

static const char *extent_text(tg_emit *e, const tg_node *n)
{
    if (n->kind == TG_INT)
        return tg_format(e->cx, "%lld", (long long)n->u.i);
    return n->kind == TG_VAR ? n->u.var->name->text : "?";
}

static const char *shape_text(tg_emit *e, const tg_buffer *b)
{
    tg_text t = tg_text_new(e->cx);
    tg_printf(&t, "%s[", tg_dtype_text(e->cx, b->dtype));
    for (uint32_t k = 0; k < b->ndim; ++k)
        tg_printf(&t, "%s%s", k > 0 ? "," : "", extent_text(e, b->shape[k]));
    tg_putc(&t, ']');
    return tg_text_z(&t);
}

/* Memory that is neither input nor output. */
static bool is_scratch(const tg_emit *e, const c_fn *fn, uint32_t i)
{
    const tg_buffer *b = fn->f->buffer == NULL ? NULL : fn->f->buffer[i];
    if (fn->is_main)
        return i >= e->model.nin + e->model.nout;
    return b != NULL && i + 1 == fn->f->nparams && tg_name_is(b->name, "workspace") && b->ndim == 1 && b->dtype.bits == 8;
}

/* float32[1,16], float32[16] -> float32[1,16] */
static void add_shapes(paragraph *p, const c_fn *fn)
{
    tg_emit *e = p->e;
    unsigned gap = 2, count[2] = { 0, 0 };
    for (int out = 0; out < 2; ++out) {
        for (uint32_t i = 0; i < fn->f->nparams; ++i) {
            const tg_buffer *b = fn->f->buffer == NULL ? NULL : fn->f->buffer[i];
            if (b == NULL || is_scratch(e, fn, i) || c_var_of(e, fn->f->param[i])->stored != (out == 1))
                continue;
            if (out == 1 && count[1] == 0)
                add_piece(p, count[0] > 0 ? 1 : gap, "->", 2);
            if (count[out]++ > 0) {
                tg_putc(e->to, ',');
                ++p->column;
            }
            const char *text = shape_text(e, b);
            add_piece(p, out == 1 || count[0] > 1 ? 1 : gap, text, strlen(text));
        }
    }
}

/* On a line of its own: tiles, what is kept where. */
static void add_schedule(paragraph *p, const char *says)
{
    if (says[0] == '\0')
        return;
    tg_puts(p->e->to, "\n * Schedule:");
    p->column = strlen(" * Schedule:");
    while (*says != '\0') {
        size_t n = strcspn(says, " ");
        add_piece(p, 1, says, n);
        says += n + (says[n] == ' ');
    }
}

void c_describe(tg_emit *e, const c_fn *fn)
{
    paragraph p = { e, 3 };
    const char *ops = tg_v_get_str(fn->f->attrs, "tirgen.ops", ""), *layout = tg_v_get_str(fn->f->attrs, "tirgen.layout", "");
    const char *place = tg_place(e->cx, fn->f->span);
    tg_puts(e->to, "/* ");
    if (fn->is_main)
        ops = "The operators of the model, in order.";
    else if (ops[0] == '\0')
        ops = fn->f->name->text;
    add_list(&p, 0, ops);
    add_piece(&p, 2, layout, strlen(layout));
    add_shapes(&p, fn);
    add_piece(&p, 2, place, strlen(place));
    add_schedule(&p, tg_v_get_str(fn->f->attrs, "tirgen.schedule", ""));
    tg_puts(e->to, " */\n");
}

/* ---- the signature ---- */

static const char *pointer_text(tg_emit *e, const c_fn *fn, uint32_t i, bool promise)
{
    const tg_var *v = fn->f->param[i];
    const c_var *c = c_var_of(e, v);
    const char *type = v->type->kind == TG_T_PTR || c->voted != 0 ? c_element(e, c->elem, v->span) : "void";
    bool no_alias = promise && tg_v_get_int(fn->f->attrs, "tir.noalias", 0) != 0 && fn->f->buffer != NULL && fn->f->buffer[i] != NULL;
    return tg_format(e->cx, "%s%s *%s%s", c->stored ? "" : "const ", type, no_alias ? "TIRGEN_RESTRICT " : "", c->name->text);
}

const char *c_param_text(tg_emit *e, const c_fn *fn, uint32_t i, bool promise)
{
    static const char *const packed[6] = { "TVMValue *", "int *", "int ", "TVMValue *", "int *", "void *" };
    const tg_var *v = fn->f->param[i];
    if (fn->is_packed)
        return tg_format(e->cx, "%s%s", packed[i], c_var_of(e, v)->name->text);
    if (v->type->kind == TG_T_PTR || v->type->dtype.code == kDLOpaqueHandle)
        return pointer_text(e, fn, i, promise);
    return tg_format(e->cx, "%s %s", c_type(e, v->type->dtype, v->span), c_var_of(e, v)->name->text);
}

/* Parameters are named here, in the scope that the caller has opened. */
void c_name_params(tg_emit *e, const c_fn *fn)
{
    for (uint32_t i = 0; i < fn->f->nparams; ++i) {
        const tg_var *v = fn->f->param[i];
        c_var_of(e, v)->name = c_local(e, v->name->text, v->name->len, "arg");
    }
}

/* An operator of a model: not its main, not a function of its own right. */
bool c_is_model_kernel(const tg_emit *e, const c_fn *fn)
{
    return e->model.main != NULL && !fn->is_main && !fn->is_public && tg_v_get_int(fn->f->attrs, TG_TASK, 0) == 0;
}

void c_put_signature(tg_emit *e, const c_fn *fn)
{
    const char *type = fn->returns ? c_type(e, fn->ret, fn->f->span) : "void";
    const char *start = tg_format(e->cx, "%s%s %s(", fn->is_public ? "" : c_is_model_kernel(e, fn) ? "TIRGEN_KERNEL " : "static ", type, fn->name->text);
    size_t column = strlen(start);
    tg_puts(e->to, start);
    for (uint32_t i = 0; i < fn->f->nparams; ++i) {
        const char *text = c_param_text(e, fn, i, true);
        size_t n = strlen(text);
        if (i > 0)
            tg_putc(e->to, ',');
        if (column + n + 3 > C_COLUMNS) {
            tg_puts(e->to, "\n    ");
            column = 4;
        } else if (i > 0) {
            tg_putc(e->to, ' ');
        }
        tg_puts(e->to, text);
        column += n + 2;
    }
    tg_puts(e->to, fn->f->nparams == 0 ? "void)" : ")");
}

void c_signature(tg_emit *e, const c_fn *fn)
{
    size_t mark = c_scope_open(e);
    ++e->epoch;
    c_name_params(e, fn);
    c_put_signature(e, fn);
    c_scope_close(e, mark);
}

/* ---- the body ---- */

static bool ends_in_return(const tg_node *n)
{
    for (;;) {
        switch (n->kind) {
        case TG_EVALUATE: return tg_is_call(n->kid[0], "ret") || tg_is_call(n->kid[0], "tvm_throw_last_error");
        case TG_LET_STMT: case TG_ALLOCATE: case TG_ALLOC_CONST: case TG_DECL_BUFFER: case TG_ATTR: case TG_ASSERT: case TG_SEQ:
            if (n->nkids == 0)
                return false;
            n = n->kid[n->nkids - 1];
            break;
        default: return false;
        }
    }
}

static bool has_packed_calls(const c_fn *fn)
{
    for (size_t i = 0; i < fn->calls.n; ++i)
        if (tg_is_call(fn->calls.at[i], "call_cpacked_lowered") || tg_is_call(fn->calls.at[i], "call_packed_lowered"))
            return true;
    return false;
}

static void put_result_slots(tg_emit *e)
{
    e->need |= C_PACKED;
    e->ret_value = c_local(e, "ret_value", 9, "ret_value");
    e->ret_code = c_local(e, "ret_tcode", 9, "ret_tcode");
    tg_printf(e->to, "    TVMValue %s;\n    int %s;\n", e->ret_value->text, e->ret_code->text);
}

void c_function(tg_emit *e, c_fn *fn)
{
    size_t mark = c_scope_open(e);
    ++e->epoch;
    e->now = fn;
    e->level = 1;
    e->depth = e->index = 0;
    e->lane_at = -1;
    if (fn->is_packed)
        e->need |= C_PACKED;
    c_scan_updates(e, fn);
    c_name_params(e, fn);
    c_describe(e, fn);
    c_put_signature(e, fn);
    tg_puts(e->to, "\n{\n");
    for (uint32_t i = 0; i < fn->f->nparams; ++i)
        if (!c_var_of(e, fn->f->param[i])->used)
            tg_printf(e->to, "    (void)%s;\n", c_var_of(e, fn->f->param[i])->name->text);
    if (has_packed_calls(fn))
        put_result_slots(e);
    c_body(e, fn->f->body);
    if (fn->returns && !ends_in_return(fn->f->body))
        tg_puts(e->to, "    return 0;\n");
    tg_puts(e->to, "}\n");
    c_scope_close(e, mark);
}
