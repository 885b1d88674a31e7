/* c_stmt.c: statements. Binders (let, allocate, views) print in a loop, since chains of them are as long as a model is. */
#include "emit.h"

void c_line(tg_emit *e)
{
    e->line = e->to->n;
    tg_indent(e->to, e->level);
}

static size_t indentation(const tg_emit *e, const tg_var *v)
{
    return 4 * (size_t)e->level + 16 + v->name->len;
}

static void begin_statement(tg_emit *e)
{
    e->budget = 200000;
}

/* " {", statements, "}" without the end of the line. */
static void block(tg_emit *e, const tg_node *n)
{
    size_t mark = c_scope_open(e);
    tg_puts(e->to, " {\n");
    ++e->level;
    c_body(e, n);
    --e->level;
    c_scope_close(e, mark);
    c_line(e);
    tg_putc(e->to, '}');
}

static const tg_name *name_local(tg_emit *e, const tg_var *v, const char *otherwise)
{
    const tg_name *name = c_local(e, v->name->text, v->name->len, otherwise);
    c_var_of(e, v)->name = name;
    return name;
}

/* ---- let ---- */

static void declare_scalar(tg_emit *e, const tg_var *v, const tg_node *value)
{
    bool index = tg_is_int(v->type->dtype) && c_is_index(e, value);
    c_aside right;
    c_var_of(e, v)->index = index;
    c_bind_range(e, v, value);
    const char *type = c_type(e, v->type->dtype, value->span);
    c_aside_begin(e, &right, indentation(e, v));
    e->index += index;
    c_assigned(e, value, v->type->dtype);
    e->index -= index;
    c_aside_end(e, &right);
    c_line(e);
    tg_printf(e->to, "const %s %s = ", type, name_local(e, v, "value")->text);
    tg_putn(e->to, right.text.at, right.text.n);
    tg_puts(e->to, ";\n");
}

static void declare_vector(tg_emit *e, const tg_var *v, const tg_node *value)
{
    DLDataType d = v->type->dtype;
    d.lanes = 1;
    const tg_name *name = name_local(e, v, "vector");
    c_line(e);
    tg_printf(e->to, "%s %s[%u];\n", c_type(e, d, value->span), name->text, (unsigned)v->type->dtype.lanes);
    c_lanes_to_array(e, value, v->type->dtype.lanes, name->text);
}

static const char *object_type(const c_var *v)
{
    return v->object == C_VALUES ? "TVMValue" : v->object == C_CODES ? "int" : v->object == C_SHAPE ? "int64_t" : "DLTensor";
}

static void declare_stack(tg_emit *e, const tg_var *v, const tg_node *alloca_call)
{
    const c_var *c = c_var_of(e, v);
    const tg_node *count = alloca_call->kid[1];
    if (c->object == C_DATA || count->kind != TG_INT || count->u.i < 0 || count->u.i > 1 << 20) {
        tg_error(e->cx, alloca_call->span,
                 "tvm_stack_alloca: expected one of shape, array, arg_value, arg_tcode and a constant count");
        e->failed = true;
        return;
    }
    e->need |= C_PACKED;
    c_line(e);
    const char *name = name_local(e, v, "stack")->text;
    tg_printf(e->to, "%s %s[%lld];\n", object_type(c), name, (long long)(count->u.i > 0 ? count->u.i : 1));
}

static void declare_pointer(tg_emit *e, const tg_var *v, const tg_node *value)
{
    c_var *c = c_var_of(e, v);
    const char *q = c->stored ? "" : "const ", *type = c->object == C_DATA ? c_element(e, c->elem, value->span) : object_type(c);
    bool from_field = tg_is_call(value, "tvm_struct_get") || tg_is_call(value, "TVMBackendAllocWorkspace");
    c_aside right;
    c_aside_begin(e, &right, indentation(e, v));
    if (c->object != C_DATA || from_field) {
        tg_printf(e->to, "(%s%s *)", q, type);
        c_expr(e, value, C_UNARY);
    } else {
        c_pointer(e, value, c->elem, !c->stored, C_TERNARY);
    }
    c_aside_end(e, &right);
    c_line(e);
    tg_printf(e->to, "%s%s *%s = ", q, type, name_local(e, v, "pointer")->text);
    tg_putn(e->to, right.text.at, right.text.n);
    tg_puts(e->to, ";\n");
}

static void declare(tg_emit *e, const tg_var *v, const tg_node *value)
{
    if (!c_var_of(e, v)->used) {
        if (tg_has_effect(e->cx, value) && !tg_is_call(value, "tvm_stack_alloca")) {
            c_line(e);
            tg_puts(e->to, value->type->kind == TG_T_VOID ? "" : "(void)");
            c_expr(e, value, C_UNARY);
            tg_puts(e->to, ";\n");
        }
        return;
    }
    if (tg_is_call(value, "tvm_stack_alloca"))
        declare_stack(e, v, value);
    else if (v->type->kind == TG_T_PTR || c_is_pointer(value))
        declare_pointer(e, v, value);
    else if (v->type->dtype.lanes > 1)
        declare_vector(e, v, value);
    else
        declare_scalar(e, v, value);
}

/* ---- let expressions: C has none, so their variables stand in front of the statement ---- */

static bool has_let(const tg_node *n, unsigned *few)
{
    if (n->kind == TG_LET || *few == 0)
        return true;
    --*few;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (has_let(n->kid[i], few))
            return true;
    return false;
}

static bool contains_let(const tg_node *n)
{
    unsigned few = 10000;
    return has_let(n, &few);
}

static void hoist(tg_emit *e, const tg_node *n);

static void assign_hoisted(tg_emit *e, const char *name, const tg_node *value)
{
    hoist(e, value);
    c_line(e);
    tg_printf(e->to, "%s = ", name);
    c_assigned(e, value, tg_dtype_of(value));
    tg_puts(e->to, ";\n");
}

static void branch(tg_emit *e, const char *name, const tg_node *value)
{
    size_t mark = c_scope_open(e);
    tg_puts(e->to, " {\n");
    ++e->level;
    assign_hoisted(e, name, value);
    --e->level;
    c_scope_close(e, mark);
    c_line(e);
    tg_puts(e->to, "}");
}

/* Operands that may stay unevaluated keep their variables inside a branch. */
static void hoist_lazy(tg_emit *e, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    bool choice = n->kind == TG_CALL;
    if (d.lanes > 1) {
        tg_error(e->cx, n->span, "a let inside a lazily evaluated vector");
        e->failed = true;
        return;
    }
    hoist(e, n->kid[0]);
    const char *name = c_local(e, "value", 5, "value")->text;
    c_line(e);
    tg_printf(e->to, "%s %s", c_type(e, d, n->span), name);
    if (!choice) {
        tg_puts(e->to, " = ");
        c_assigned(e, n->kid[0], d);
    }
    tg_puts(e->to, ";\n");
    c_line(e);
    tg_puts(e->to, "if (");
    if (choice)
        c_condition(e, n->kid[0]);
    else
        tg_printf(e->to, "%s%s", n->kind == TG_OR ? "!" : "", name);
    tg_putc(e->to, ')');
    branch(e, name, n->kid[1]);
    if (choice) {
        tg_puts(e->to, " else");
        branch(e, name, n->kid[2]);
    }
    tg_putc(e->to, '\n');
    tg_map_put(e->cx, &e->hoisted, (uint64_t)n->id + 1, (void *)(uintptr_t)tg_intern_z(e->cx, name));
}

static void hoist(tg_emit *e, const tg_node *n)
{
    if (e->failed || !contains_let(n) || tg_map_get(&e->hoisted, (uint64_t)n->id + 1) != NULL || !c_enter(e, n))
        return;
    bool lazy = tg_is_call(n, "if_then_else") || n->kind == TG_AND || n->kind == TG_OR;
    bool inside = false;
    for (uint32_t i = 1; lazy && i < n->nkids; ++i)
        inside = inside || contains_let(n->kid[i]);
    if (n->kind == TG_LET) {
        hoist(e, n->kid[0]);
        declare(e, n->u.var, n->kid[0]);
        hoist(e, n->kid[1]);
    } else if (inside) {
        hoist_lazy(e, n);
    } else {
        for (uint32_t i = 0; i < n->nkids; ++i)
            hoist(e, n->kid[i]);
    }
    c_leave(e);
}

/* Called in front of a statement with each of its expressions. */
static void prepare(tg_emit *e, const tg_node *n)
{
    if (e->now->has_let)
        hoist(e, n);
}

static void finish_statement(tg_emit *e)
{
    if (e->hoisted.n > 0)
        e->hoisted = (tg_map){ 0 };
}

/* ---- memory ---- */

static bool alloc_bytes(const tg_node *n, int64_t *out)
{
    int64_t size = (int64_t)tg_dtype_bytes(n->u.alloc->dtype);
    for (uint32_t i = 0; i + 1 < n->nkids; ++i) {
        int64_t d = n->kid[i]->kind == TG_INT ? n->kid[i]->u.i : -1;
        if (d < 0 || (d > 0 && size > TG_MAX_ELEMENTS / d))
            return false;
        size *= d;
    }
    *out = size;
    return true;
}

static const tg_node *without_views(const tg_node *n)
{
    while (n->kind == TG_DECL_BUFFER || n->kind == TG_ATTR)
        n = n->kid[n->nkids - 1];
    return n->kind == TG_SEQ && n->nkids > 0 ? n->kid[0] : n;
}

static void declare_array(tg_emit *e, const tg_node *n)
{
    c_var *v = c_var_of(e, n->u.alloc->var);
    int64_t bytes, size;
    if (!v->used || e->failed)
        return;
    if (!alloc_bytes(n, &bytes)) {
        tg_error(e->cx, n->span, "%s has no constant size: C would need an array of variable length", n->u.alloc->var->name->text);
        e->failed = true;
        return;
    }
    const char *type = c_element(e, v->elem, n->span);
    size = (int64_t)tg_dtype_bytes(v->elem);
    size = size < 1 ? 1 : size;
    v->single = bytes == size && !v->escapes && !v->mixed && v->read && v->stored && v->object == C_DATA;
    const char *name = name_local(e, n->u.alloc->var, "buffer")->text;
    if (!v->single) {
        int64_t count = (bytes + size - 1) / size;
        c_line(e);
        tg_printf(e->to, "%s %s[%lld];\n", type, name, (long long)(count > 0 ? count : 1));
        return;
    }
    /* a store that comes first is the initialiser */
    const tg_node *first = without_views(n->kid[n->nkids - 1]);
    v->pending = first->kind == TG_STORE && c_var_of(e, first->u.buf->data) == v && !e->now->has_let
                 && !c_reads_itself(e, first);
    if (v->pending)
        return;
    c_line(e);
    tg_printf(e->to, tg_is_float(v->elem) && !c_is_half(v->elem) ? "%s %s = 0.0f;\n" : "%s %s = 0;\n", type, name);
}

static void bind_constant(tg_emit *e, const tg_node *n)
{
    c_var *v = c_var_of(e, n->u.alloc->var);
    if (!v->used)
        return;
    if (n->u.alloc->tensor == NULL) {
        tg_error(e->cx, n->span, "%s", tg_lost_text(e->cx, n->u.alloc));
        e->failed = true;
        return;
    }
    v->name = c_table_name(e, n->u.alloc->tensor);
}

/* ---- loops and branches ---- */

static bool reads_memory(const tg_node *n, unsigned *few)
{
    if (n->kind == TG_LOAD || n->kind == TG_CALL || *few == 0)
        return true;
    --*few;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (reads_memory(n->kid[i], few))
            return true;
    return false;
}

static const tg_node *loop_end(tg_emit *e, const tg_node *min, const tg_node *extent)
{
    if (tg_is_int_const(min, 0))
        return extent;
    if (min->kind == TG_INT && extent->kind == TG_INT)
        return tg_int(e->cx, tg_dtype_of(min), min->u.i + extent->u.i);
    if (extent->kind == TG_SUB && tg_node_equal(e->cx, extent->kid[1], min))
        return extent->kid[0];
    return tg_bin(e->cx, TG_ADD, min, extent);
}

static void plain_loop(tg_emit *e, const tg_node *n)
{
    const tg_var *var = n->u.loop->var;
    DLDataType d = var->type->dtype;
    unsigned few = 100;
    if (c_is_narrow(d) || tg_is_bool(d))
        d = TG_INT32;                           /* the end may not fit a narrow type */
    const tg_node *end = loop_end(e, n->kid[0], n->kid[1]);
    prepare(e, n->kid[0]);
    prepare(e, n->kid[1]);
    size_t mark = c_scope_open(e);
    const char *type = c_type(e, d, n->span), *last = NULL;
    if (reads_memory(end, &few)) {              /* bounds are evaluated once */
        const tg_name *hint = tg_internf(e->cx, "%s_end", var->name->text);
        last = c_local(e, hint->text, hint->len, "end")->text;
        c_line(e);
        tg_printf(e->to, "const %s %s = ", type, last);
        c_index(e, end, C_TERNARY);
        tg_puts(e->to, ";\n");
        mark = c_scope_open(e);                 /* the end stays declared as long as the block around */
    }
    c_aside first, limit;
    c_aside_begin(e, &first, 0);
    c_index(e, n->kid[0], C_TERNARY);
    c_aside_end(e, &first);
    c_aside_begin(e, &limit, 4 * (size_t)e->level);
    if (last == NULL)
        c_index(e, end, C_SHIFT);
    c_aside_end(e, &limit);
    const char *i = name_local(e, var, "i")->text;
    c_line(e);
    last = last != NULL ? last : tg_text_z(&limit.text);
    tg_printf(e->to, "for (%s %s = %s; %s < %s; ++%s)", type, i, tg_text_z(&first.text), i, last, i);
    finish_statement(e);
    block(e, n->kid[2]);
    tg_putc(e->to, '\n');
    c_scope_close(e, mark);
}

static void for_loop(tg_emit *e, const tg_node *n)
{
    if (!c_is_lane_loop(e, n)) {
        plain_loop(e, n);
        return;
    }
    size_t mark = c_scope_open(e);
    e->need |= C_LANES | C_STRING;
    const char *type = c_type(e, n->u.loop->var->type->dtype, n->span), *i = name_local(e, n->u.loop->var, "i")->text;
    tg_puts(e->to, "#ifdef TIRGEN_LANES\n");
    c_line(e);
    tg_printf(e->to, "for (%s %s = 0; %s < %lld; %s += TIRGEN_LANES) {\n", type, i, i, (long long)n->kid[1]->u.i, i);
    ++e->level;
    c_put_lane_store(e, n);
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n#else\n");
    c_scope_close(e, mark);
    plain_loop(e, n);
    tg_puts(e->to, "#endif\n");
}

static void if_chain(tg_emit *e, const tg_node *n)
{
    prepare(e, n->kid[0]);
    c_line(e);
    for (;;) {
        begin_statement(e);
        tg_puts(e->to, "if (");
        c_condition(e, n->kid[0]);
        finish_statement(e);
        tg_putc(e->to, ')');
        block(e, n->kid[1]);
        if (n->nkids < 3 || e->failed)
            break;
        tg_puts(e->to, " else");
        bool more = n->kid[2]->kind == TG_IF && !(e->now->has_let && contains_let(n->kid[2]->kid[0]));
        if (!more) {
            block(e, n->kid[2]);
            break;
        }
        tg_putc(e->to, ' ');
        n = n->kid[2];
    }
    tg_putc(e->to, '\n');
}

static void while_loop(tg_emit *e, const tg_node *n)
{
    c_line(e);
    if (!e->now->has_let || !contains_let(n->kid[0])) {
        tg_puts(e->to, "while (");
        c_condition(e, n->kid[0]);
        tg_putc(e->to, ')');
        block(e, n->kid[1]);
        tg_putc(e->to, '\n');
        return;
    }
    size_t mark = c_scope_open(e);
    tg_puts(e->to, "for (;;) {\n");
    ++e->level;
    hoist(e, n->kid[0]);
    c_line(e);
    tg_puts(e->to, "if (!(");
    c_condition(e, n->kid[0]);
    finish_statement(e);
    tg_puts(e->to, ")) {\n");
    tg_indent(e->to, e->level + 1);
    tg_puts(e->to, "break;\n");
    c_line(e);
    tg_puts(e->to, "}\n");
    c_body(e, n->kid[1]);
    --e->level;
    c_scope_close(e, mark);
    c_line(e);
    tg_puts(e->to, "}\n");
}

/* ---- calls for their effect ---- */

static void leave_function(tg_emit *e, const tg_node *status)
{
    c_line(e);
    tg_puts(e->to, "return");
    if (e->now->returns && status != NULL) {
        tg_putc(e->to, ' ');
        c_assigned(e, status, e->now->ret);
    }
    tg_puts(e->to, ";\n");
}

static void braced_return(tg_emit *e, const tg_node *status, const char *otherwise)
{
    tg_puts(e->to, " {\n");
    ++e->level;
    if (status != NULL) {
        leave_function(e, status);
    } else {
        c_line(e);
        tg_printf(e->to, e->now->returns ? "return %s;\n" : "return;\n", otherwise);
    }
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n");
}

static bool gives_nothing(tg_emit *e, const tg_node *call)
{
    const c_fn *to = c_callee(e, call);
    return to != NULL ? !to->returns : call->type->kind == TG_T_VOID;
}

static void checked_call(tg_emit *e, const tg_node *n)
{
    const tg_node *call = n->kid[2];
    c_line(e);
    if (call->kind == TG_CALL && gives_nothing(e, call)) {
        c_expr(e, call, C_ANY);
        tg_puts(e->to, ";\n");
        return;
    }
    tg_puts(e->to, "if (");
    c_expr(e, call, C_EQUAL);
    tg_puts(e->to, " != ");
    c_operand(e, n->kid[0], call, C_EQUAL + 1);
    tg_putc(e->to, ')');
    braced_return(e, n->kid[1], "-1");
}

static void set_field(tg_emit *e, const tg_node *n)
{
    const tg_node *value = n->kid[3];
    int64_t field = n->kid[2]->kind == TG_INT ? n->kid[2]->u.i : -1;
    c_line(e);
    c_object_field(e, n);
    tg_puts(e->to, " = ");
    if (value->kind == TG_STR || c_is_pointer(value)) {
        c_pointer(e, value, field == 2 || field == 3 ? TG_INT64 : TG_HANDLE, false, C_TERNARY);
    } else {
        static const char *const cast[] = { [4] = "(int32_t)", [5] = "(uint8_t)", [6] = "(uint8_t)", [7] = "(uint16_t)",
                                            [8] = "(uint64_t)", [9] = "(int32_t)", [10] = "(int32_t)" };
        bool literal = value->kind == TG_INT;
        if (!literal && field >= 4 && field < (int64_t)TG_COUNT(cast))
            tg_puts(e->to, cast[field]);
        if (literal)
            tg_put_int(e->to, value->u.i);
        else if (field == 12)
            c_assigned(e, value, tg_dtype_of(value));
        else
            c_expr(e, value, C_UNARY);
    }
    tg_puts(e->to, ";\n");
}

static void evaluate(tg_emit *e, const tg_node *n)
{
    if (tg_is_call(n, "tvm_struct_set")) {
        set_field(e, n);
    } else if (tg_is_call(n, "ret")) {
        leave_function(e, n->kid[0]);
    } else if (tg_is_call(n, "tvm_check_return")) {
        checked_call(e, n);
    } else if (tg_is_call(n, "tvm_throw_last_error")) {
        c_line(e);
        tg_puts(e->to, e->now->returns ? "return -1;\n" : "return;\n");
    } else if (n->kind != TG_INT && tg_has_effect(e->cx, n)) {
        c_line(e);
        tg_puts(e->to, n->kind == TG_CALL && gives_nothing(e, n) ? "" : "(void)");
        c_expr(e, n, C_UNARY);
        tg_puts(e->to, ";\n");
    }
}

/* What is true when @p c is not, if that is one comparison or shorter than @p c; else NULL. */
static const tg_node *opposite(tg_emit *e, const tg_node *c)
{
    static const enum tg_kind turned[] = { [TG_EQ - TG_EQ] = TG_NE, [TG_NE - TG_EQ] = TG_EQ, [TG_LT - TG_EQ] = TG_GE,
                                           [TG_LE - TG_EQ] = TG_GT, [TG_GT - TG_EQ] = TG_LE, [TG_GE - TG_EQ] = TG_LT };
    if (c->kind == TG_NOT)
        return c->kid[0];
    bool whole = c->kind >= TG_EQ && c->kind <= TG_GE && !tg_is_float(tg_dtype_of(c->kid[0]));     /* neither holds for a NaN */
    return whole ? tg_bin(e->cx, turned[c->kind - TG_EQ], c->kid[0], c->kid[1]) : NULL;
}

static void assertion(tg_emit *e, const tg_node *n)
{
    const tg_node *fails = opposite(e, n->kid[0]);
    e->need |= C_CHECK;
    c_line(e);
    tg_puts(e->to, fails != NULL ? "if (TIRGEN_CHECKS && (" : "if (TIRGEN_CHECKS && !(");
    c_condition(e, fails != NULL ? fails : n->kid[0]);
    tg_puts(e->to, ")) {\n");
    tg_indent(e->to, e->level + 1);
    tg_puts(e->to, "TIRGEN_CHECK_FAILED(");
    if (n->kid[1]->kind == TG_STR)
        c_put_string(e, n->kid[1]->u.name);
    else
        tg_puts(e->to, "\"assertion\"");
    tg_puts(e->to, ");\n");
    tg_indent(e->to, e->level + 1);
    tg_puts(e->to, e->now->returns ? "return 0x500; /* a check failed */\n" : "return;\n");
    c_line(e);
    tg_puts(e->to, "}\n");
}

static void attribute(tg_emit *e, const tg_node *n)
{
    const tg_name *key = n->u.attr->key;
    if (!tg_name_is(key, "pragma_import_c") && !tg_name_is(key, "pragma_import_llvm"))
        return;                                 /* all others are hints for other targets */
    tg_error(e->cx, n->span, "%s: source text in an attribute is not supported; call a function of another file", key->text);
    e->failed = true;
}

/* ---- sequences ---- */

static bool has_array(const tg_node *n)
{
    for (;;) {
        switch (n->kind) {
        case TG_ALLOCATE: return true;
        case TG_LET_STMT:
            if (tg_is_call(n->kid[0], "tvm_stack_alloca"))
                return true;
            break;
        case TG_DECL_BUFFER: case TG_ATTR: case TG_ASSERT: case TG_ALLOC_CONST: break;
        default: return false;
        }
        n = n->kid[n->nkids - 1];
    }
}

/* One of several statements. What it allocates ends with it. */
static void member(tg_emit *e, const tg_node *n)
{
    if (!has_array(n)) {
        c_body(e, n);
        return;
    }
    size_t mark = c_scope_open(e);
    c_line(e);
    tg_puts(e->to, "{\n");
    ++e->level;
    c_body(e, n);
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n");
    c_scope_close(e, mark);
}

static void single(tg_emit *e, const tg_node *n)
{
    switch (n->kind) {
    case TG_STORE:
        for (uint32_t i = 0; i < n->nkids; ++i)
            prepare(e, n->kid[i]);
        if (tg_dtype_of(n->kid[0]).lanes > 1)
            c_put_vector_store(e, n);
        else
            c_store(e, n);
        break;
    case TG_FOR: for_loop(e, n); break;
    case TG_WHILE: while_loop(e, n); break;
    case TG_IF: if_chain(e, n); break;
    case TG_EVALUATE:
        prepare(e, n->kid[0]);
        evaluate(e, n->kid[0]);
        break;
    default: TG_CHECK(e->cx, false, n);
    }
    finish_statement(e);
}

/* A binder; @return what it covers, NULL when @p n is none. */
static const tg_node *binder(tg_emit *e, const tg_node *n)
{
    switch (n->kind) {
    case TG_LET_STMT:
        prepare(e, n->kid[0]);
        declare(e, n->u.var, n->kid[0]);
        break;
    case TG_ALLOCATE: declare_array(e, n); break;
    case TG_ALLOC_CONST: bind_constant(e, n); break;
    case TG_ATTR: attribute(e, n); break;
    case TG_ASSERT:
        prepare(e, n->kid[0]);
        assertion(e, n);
        break;
    case TG_DECL_BUFFER: break;
    default: return NULL;
    }
    finish_statement(e);
    return n->kid[n->nkids - 1];
}

void c_body(tg_emit *e, const tg_node *n)
{
    begin_statement(e);
    if (!c_enter(e, n))
        return;
    while (n != NULL && !e->failed) {
        begin_statement(e);
        const tg_node *body = binder(e, n);
        if (body != NULL) {
            n = body;
        } else if (n->kind == TG_SEQ) {
            for (uint32_t i = 0; i + 1 < n->nkids && !e->failed; ++i)
                member(e, n->kid[i]);
            n = n->nkids > 0 ? n->kid[n->nkids - 1] : NULL;
        } else {
            single(e, n);
            n = NULL;
        }
    }
    c_leave(e);
}
