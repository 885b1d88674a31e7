/* print_tir_stmt.c: statements of TVMScript. A statement that holds the rest of its suite is written flat when it is the last
 * of its sequence, with a suite of its own otherwise. What is still to be written waits on a stack.
 * Formats: tvmscript-tir.md sections 5 to 8. */
#include "print_tir.h"

#include <string.h>

/* What waits: a statement (last: of its suite), an else or init head with its suite, the end of a scope. */
enum waiting { STMT, ELSE, INIT, LEAVE };
typedef struct job { enum waiting what; const tg_node *n; unsigned level; bool last; size_t mark; } job;
typedef struct jobs { TG_VEC(job) todo; } jobs;

static void wait_for(tg_tir_printer *p, jobs *j, enum waiting what, const tg_node *n, unsigned level, bool last)
{
    TG_PUSH(p->cx, j->todo, ((job){ what, n, level, last, 0 }));
}

static void leave_after(tg_tir_printer *p, jobs *j, size_t mark)
{
    TG_PUSH(p->cx, j->todo, ((job){ LEAVE, NULL, 0, false, mark }));
}

static void put(tg_tir_printer *p, const char *s)
{
    tg_puts(p->t, s);
}

static void expr(tg_tir_printer *p, const tg_node *n)
{
    tg_tir_expr(p, n, TG_PREC_NONE);
}

static void quoted(tg_tir_printer *p, const tg_name *s)
{
    tg_put_quoted(p->t, s->text, s->len);
}

static void annotations(tg_tir_printer *p, const tg_value *v)
{
    if (v == NULL || v->n == 0)
        return;
    put(p, ", annotations=");
    tg_print_value_with(p->t, v, true, p->tensors);
}

static bool is_empty(const tg_node *n)
{
    if (n->kind != TG_SEQ)
        return false;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (n->kid[i]->kind != TG_SEQ || n->kid[i]->nkids > 0)
            return false;
    return true;
}

/* A suite one level down, whose names end with it. */
static void open_suite(tg_tir_printer *p, jobs *j, const tg_node *body, unsigned level, size_t mark)
{
    leave_after(p, j, mark);
    if (is_empty(body)) {
        tg_indent(p->t, level);
        put(p, "pass\n");
    } else {
        wait_for(p, j, STMT, body, level, true);
    }
}

/* ---- heads ---- */

/* Pointers have no value to take their type from, and a variable may be declared otherwise than its value. */
static void put_let(tg_tir_printer *p, const tg_node *n, bool last)
{
    const tg_var *v = n->u.var;
    const tg_node *value = n->kid[0];
    if (last) {
        tg_printf(p->t, "%s: %s = ", tg_tir_define(p, v), tg_tir_type_text(p, v->type));
        expr(p, value);
        return;
    }
    put(p, "with T.LetStmt(");
    expr(p, value);
    if (v->type != value->type || v->type->kind != TG_T_PRIM)
        tg_printf(p->t, ", %s", tg_tir_type_text(p, v->type));
    tg_printf(p->t, ") as %s", tg_tir_define(p, v));
}

static void put_extents(tg_tir_printer *p, uint32_t n, const tg_node *const *extent)
{
    put(p, "[");
    for (uint32_t k = 0; k < n; ++k) {
        expr(p, extent[k]);
        put(p, k + 1 < n ? ", " : "");
    }
    put(p, "]");
}

/* name = form, or with form as name. A pointer of an unusual type says so. */
static void begin_named(tg_tir_printer *p, bool last, const char *name, const tg_var *pointer, const tg_type *usual)
{
    if (!last)
        put(p, "with ");
    else if (pointer != NULL && pointer->type != usual)
        tg_printf(p->t, "%s: %s = ", name, tg_tir_type_text(p, pointer->type));
    else
        tg_printf(p->t, "%s = ", name);
}

static void end_named(tg_tir_printer *p, bool last, const char *name)
{
    if (!last)
        tg_printf(p->t, " as %s", name);
}

static void put_allocate(tg_tir_printer *p, const tg_node *n, bool last)
{
    const tg_alloc_info *a = n->u.alloc;
    const char *name = tg_tir_define(p, a->var);
    begin_named(p, last, name, a->var, tg_ptr(p->cx, a->dtype, a->scope));
    put(p, "T.allocate(");
    put_extents(p, n->nkids - 1, n->kid);
    tg_printf(p->t, ", \"%s\", ", tg_dtype_text(p->cx, a->dtype));
    if (a->scope != NULL)
        quoted(p, a->scope);
    else
        put(p, "None");
    annotations(p, a->annotations);
    put(p, ")");
    end_named(p, last, name);
}

static void put_allocate_const(tg_tir_printer *p, const tg_node *n, bool last)
{
    const tg_alloc_info *a = n->u.alloc;
    const char *name = tg_tir_define(p, a->var);
    begin_named(p, last, name, a->var, tg_ptr(p->cx, a->dtype, tg_intern_z(p->cx, "global")));
    put(p, "T.allocate_const(");
    if (a->tensor != NULL)
        tg_print_value_with(p->t, tg_v_tensor(p->cx, a->tensor), true, p->tensors);
    else
        put(p, "[...]");
    tg_printf(p->t, ", \"%s\", [", tg_dtype_text(p->cx, a->dtype));
    for (uint32_t k = 0; k < a->ndim; ++k)
        tg_printf(p->t, k > 0 ? ", %lld" : "%lld", (long long)a->extent[k]);
    put(p, "]");
    annotations(p, a->annotations);
    if (a->tensor == NULL)
        tg_printf(p->t, ", missing=%lld", (long long)a->missing);
    put(p, ")");
    end_named(p, last, name);
}

static bool same_bound(tg_tir_printer *p, const tg_node *a, const tg_node *b)
{
    if (a->kind == TG_INT && b->kind == TG_INT)
        return a->u.i == b->u.i && a->type == b->type;
    return tg_node_equal(p->cx, a, b);
}

/* An allocation right around the buffer over it is one declaration. */
static bool is_merged(tg_tir_printer *p, const tg_node *n)
{
    const tg_alloc_info *a = n->u.alloc;
    const tg_node *inner = n->kid[n->nkids - 1];
    if (n->kind != TG_ALLOCATE || inner->kind != TG_DECL_BUFFER || (a->annotations != NULL && a->annotations->n > 0))
        return false;
    const tg_buffer *b = inner->u.buf;
    if (b->data != a->var || b->ndim != n->nkids - 1 || !tg_dtype_eq(b->dtype, a->dtype) || b->scope != a->scope
        || a->var->type != tg_ptr(p->cx, b->dtype, b->scope))
        return false;
    for (uint32_t k = 0; k < b->ndim; ++k)
        if (!same_bound(p, n->kid[k], b->shape[k]))
            return false;
    return true;
}

static void put_decl_buffer(tg_tir_printer *p, const tg_buffer *b, bool merged, unsigned level, bool last)
{
    tg_tir_declare_free(p, b, level);
    const char *name = tg_tir_define_buffer(p, b)->text;
    if (merged)
        tg_tir_show(p, b->data, tg_format(p->cx, "%s.data", name));
    tg_indent(p->t, level);
    begin_named(p, last, name, NULL, NULL);
    put(p, "T.decl_buffer(");
    tg_tir_buffer_args(p, b, merged ? NULL : b->data, false);
    end_named(p, last, name);
}

static void put_attr(tg_tir_printer *p, const tg_node *n, bool last)
{
    put(p, last ? "T.attr(" : "with T.attr(");
    expr(p, n->kid[0]);
    put(p, ", ");
    quoted(p, n->u.attr->key);
    put(p, ", ");
    expr(p, n->kid[1]);
    put(p, ")");
}

static void put_assert(tg_tir_printer *p, const tg_node *n, bool last)
{
    put(p, last ? "assert " : "with T.Assert(");
    expr(p, n->kid[0]);
    put(p, ", ");
    expr(p, n->kid[1]);
    put(p, last ? "" : ")");
}

/* Heads whose body is the rest of the suite, or a suite of its own under a with. */
static void put_scope(tg_tir_printer *p, jobs *j, const tg_node *n, unsigned level, bool last)
{
    size_t mark = p->scope.n;
    bool merged = is_merged(p, n);
    const tg_node *body = n->kid[n->nkids - 1];
    if (merged) {
        put_decl_buffer(p, body->u.buf, true, level, last);
        body = body->kid[0];
    } else if (n->kind == TG_DECL_BUFFER) {
        put_decl_buffer(p, n->u.buf, false, level, last);
    } else {
        tg_indent(p->t, level);
        switch (n->kind) {
        case TG_LET_STMT: put_let(p, n, last); break;
        case TG_ALLOCATE: put_allocate(p, n, last); break;
        case TG_ALLOC_CONST: put_allocate_const(p, n, last); break;
        case TG_ATTR: put_attr(p, n, last); break;
        default: put_assert(p, n, last); break;
        }
    }
    put(p, last ? "\n" : ":\n");
    if (last)
        wait_for(p, j, STMT, body, level, true);
    else
        open_suite(p, j, body, level + 1, mark);
}

/* ---- loops ---- */

static bool is_plain_loop(const tg_node *n)
{
    return n->kind == TG_FOR && n->u.loop->kind == TG_FOR_SERIAL && tg_is_int_const(n->kid[0], 0)
           && (n->u.loop->annotations == NULL || n->u.loop->annotations->n == 0);
}

/* Loops from @p n to the one before @p inner: may it join them in a grid? Its extent must not depend on theirs. */
static bool joins_grid(const tg_node *n, const tg_node *inner)
{
    if (!is_plain_loop(inner) || (inner->kid[1]->kind != TG_INT && inner->kid[1]->kind != TG_VAR))
        return false;
    for (const tg_node *f = n; f != inner; f = f->kid[2])
        if (inner->kid[1]->kind == TG_VAR && inner->kid[1]->u.var == f->u.loop->var)
            return false;
    return true;
}

static void put_range(tg_tir_printer *p, const tg_node *n)
{
    static const char *const form[] = { [TG_FOR_SERIAL] = "T.serial(",
                                        [TG_FOR_PARALLEL] = "T.parallel(",
                                        [TG_FOR_VECTORIZED] = "T.vectorized(",
                                        [TG_FOR_UNROLLED] = "T.unroll(",
                                        [TG_FOR_THREAD] = "T.thread_binding(" };
    const tg_loop *loop = n->u.loop;
    bool plain = loop->kind == TG_FOR_SERIAL && (loop->annotations == NULL || loop->annotations->n == 0);
    put(p, plain ? "range(" : form[loop->kind]);
    if (!tg_tir_is_extent(n->kid[0], n->kid[1])) {
        expr(p, n->kid[0]);
        put(p, ", ");
    }
    tg_tir_end(p, n->kid[0], n->kid[1]);
    if (loop->kind == TG_FOR_THREAD) {
        put(p, ", thread=");
        quoted(p, loop->thread);
    }
    annotations(p, loop->annotations);
    put(p, ")");
}

static void put_grid(tg_tir_printer *p, const tg_node *n, const tg_node *innermost)
{
    put(p, "T.grid(");
    for (const tg_node *f = n;; f = f->kid[2]) {
        expr(p, f->kid[1]);
        if (f == innermost)
            break;
        put(p, ", ");
    }
    put(p, ")");
}

static void put_for(tg_tir_printer *p, jobs *j, const tg_node *n, unsigned level)
{
    size_t mark = p->scope.n;
    const tg_node *innermost = n;
    while (joins_grid(n, n) && joins_grid(n, innermost->kid[2]))
        innermost = innermost->kid[2];
    tg_indent(p->t, level);
    put(p, "for ");
    for (const tg_node *f = n;; f = f->kid[2]) {
        put(p, tg_tir_define(p, f->u.loop->var));
        tg_map_put(p->cx, &p->loops, (uint64_t)f->u.loop->var->id + 1, (void *)(uintptr_t)f);
        if (f == innermost)
            break;
        put(p, ", ");
    }
    put(p, " in ");
    if (innermost != n)
        put_grid(p, n, innermost);
    else
        put_range(p, n);
    put(p, ":\n");
    open_suite(p, j, innermost->kid[2], level + 1, mark);
}

static void put_if(tg_tir_printer *p, jobs *j, const tg_node *n, unsigned level, const char *word)
{
    tg_indent(p->t, level);
    put(p, word);
    expr(p, n->kid[0]);
    put(p, ":\n");
    if (n->nkids == 3)
        wait_for(p, j, ELSE, n->kid[2], level, true);
    open_suite(p, j, n->kid[1], level + 1, p->scope.n);
}

static void put_else(tg_tir_printer *p, jobs *j, const tg_node *n, unsigned level)
{
    if (n->kind == TG_IF) {
        put_if(p, j, n, level, "elif ");
        return;
    }
    tg_indent(p->t, level);
    put(p, "else:\n");
    open_suite(p, j, n, level + 1, p->scope.n);
}

/* ---- blocks ---- */

/* Loops whose variables are in scope, for remap. */
static const tg_node *loop_of(tg_tir_printer *p, const tg_node *binding)
{
    return binding->kind == TG_VAR ? tg_map_get(&p->loops, (uint64_t)binding->u.var->id + 1) : NULL;
}

/* Bound to a whole loop, so that remap says it all. */
static bool is_remapped(tg_tir_printer *p, const tg_block *b, const tg_node *n, uint32_t i)
{
    const tg_node *min = n->kid[3 * i], *extent = n->kid[3 * i + 1], *binding = n->kid[3 * i + 2],
                  *loop = loop_of(p, binding);
    return loop != NULL && (b->iter[i].kind == TG_ITER_SPATIAL || b->iter[i].kind == TG_ITER_REDUCE) &&
           b->iter[i].var->type == extent->type && same_bound(p, loop->kid[0], min) &&
           same_bound(p, loop->kid[1], extent);
}

static void put_remap(tg_tir_printer *p, const tg_block *b, const tg_node *n, uint32_t first, uint32_t end,
                      unsigned level)
{
    tg_indent(p->t, level);
    for (uint32_t i = first; i < end; ++i) {
        put(p, i > first ? ", " : "");
        put(p, tg_tir_define(p, b->iter[i].var));
    }
    put(p, " = T.axis.remap(\"");
    for (uint32_t i = first; i < end; ++i)
        tg_putc(p->t, b->iter[i].kind == TG_ITER_SPATIAL ? 'S' : 'R');
    put(p, "\", [");
    for (uint32_t i = first; i < end; ++i) {
        put(p, i > first ? ", " : "");
        expr(p, n->kid[3 * i + 2]);
    }
    put(p, "])\n");
}

static void put_axis(tg_tir_printer *p, const tg_block *b, const tg_node *n, uint32_t i, unsigned level)
{
    static const char *const form[] = {
        [TG_ITER_SPATIAL] = "spatial", [TG_ITER_REDUCE] = "reduce", [TG_ITER_SCAN] = "scan", [TG_ITER_OPAQUE] = "opaque"
    };
    const tg_node *min = n->kid[3 * i], *extent = n->kid[3 * i + 1];
    tg_indent(p->t, level);
    put(p, tg_tir_define(p, b->iter[i].var));
    tg_printf(p->t, " = T.axis.%s(", form[b->iter[i].kind]);
    if (tg_tir_is_extent(min, extent)) {
        expr(p, extent);
    } else {
        put(p, "(");
        expr(p, min);
        put(p, ", ");
        tg_tir_end(p, min, extent);
        put(p, ")");
    }
    put(p, ", ");
    expr(p, n->kid[3 * i + 2]);
    if (b->iter[i].var->type != extent->type)
        tg_printf(p->t, ", dtype=\"%s\"", tg_dtype_text(p->cx, b->iter[i].var->type->dtype));
    put(p, ")\n");
}

static void put_axes(tg_tir_printer *p, const tg_node *n, unsigned level)
{
    const tg_block *b = n->u.block;
    for (uint32_t i = 0, end; i < b->niters; i = end) {
        for (end = i; end < b->niters && is_remapped(p, b, n, end);)
            ++end;
        if (end > i + 1) {
            put_remap(p, b, n, i, end, level);
        } else {
            put_axis(p, b, n, i, level);
            end = i + 1;
        }
    }
}

static const tg_node *const *put_regions(tg_tir_printer *p, const char *head, uint32_t n, const tg_buffer *const *buf,
                                         const tg_node *const *kid, unsigned level)
{
    tg_indent(p->t, level);
    put(p, head);
    for (uint32_t i = 0; i < n; ++i) {
        put(p, i > 0 ? ", " : "");
        tg_tir_region(p, buf[i], kid);
        kid += 2 * buf[i]->ndim;
    }
    put(p, ")\n");
    return kid;
}

void tg_tir_allocs(tg_tir_printer *p, const tg_block *b, unsigned level)
{
    for (uint32_t i = 0; i < b->nallocs; ++i) {
        tg_tir_declare_free(p, b->alloc[i], level);
        const char *name = tg_tir_define_buffer(p, b->alloc[i])->text;
        tg_tir_show(p, b->alloc[i]->data, tg_format(p->cx, "%s.data", name));
        tg_indent(p->t, level);
        tg_printf(p->t, "%s = T.alloc_buffer(", name);
        tg_tir_buffer_args(p, b->alloc[i], NULL, false);
        put(p, "\n");
    }
}

static void put_matches(tg_tir_printer *p, const tg_block *b, const tg_node *const *kid, unsigned level)
{
    for (uint32_t i = 0; i < b->nmatches; ++i) {
        const tg_buffer *view = b->match[i].view, *source = b->match[i].source;
        tg_tir_declare_free(p, view, level);
        const char *name = tg_tir_define_buffer(p, view)->text;
        if (view->data != source->data)
            tg_tir_show(p, view->data, tg_format(p->cx, "%s.data", name));
        tg_indent(p->t, level);
        tg_printf(p->t, "%s = T.match_buffer(", name);
        tg_tir_region(p, source, kid);
        put(p, ", ");
        tg_tir_buffer_args(p, view, NULL, false);
        put(p, "\n");
        kid += 2 * source->ndim;
    }
}

static void put_block(tg_tir_printer *p, jobs *j, const tg_node *n, unsigned level)
{
    const tg_block *b = n->u.block;
    const tg_node *const *kid = n->kid + 3 * b->niters;
    size_t mark = p->scope.n;
    tg_indent(p->t, level++);
    put(p, "with T.block(");
    quoted(p, b->name);
    put(p, "):\n");
    put_axes(p, n, level);
    if (!tg_is_int_const(kid[0], 1)) {
        tg_indent(p->t, level);
        put(p, "T.where(");
        expr(p, kid[0]);
        put(p, ")\n");
    }
    kid = put_regions(p, "T.reads(", b->nreads, b->read, kid + 1, level);
    kid = put_regions(p, "T.writes(", b->nwrites, b->write, kid, level);
    if (b->annotations != NULL && b->annotations->n > 0) {
        tg_indent(p->t, level);
        put(p, "T.block_attr(");
        tg_print_value_with(p->t, b->annotations, true, p->tensors);
        put(p, ")\n");
    }
    tg_tir_allocs(p, b, level);
    put_matches(p, b, kid, level);
    leave_after(p, j, mark);
    if (!is_empty(tg_block_body(n)))
        wait_for(p, j, STMT, tg_block_body(n), level, true);
    if (b->has_init)
        wait_for(p, j, INIT, tg_block_init(n), level, true);
}

/* ---- statements ---- */

static void put_store(tg_tir_printer *p, const tg_node *n)
{
    put(p, tg_tir_buffer_text(p, n->u.buf));
    put(p, n->nkids == 1 ? "[()" : "[");
    for (uint32_t i = 1; i < n->nkids; ++i) {
        put(p, i > 1 ? ", " : "");
        tg_tir_index(p, n->kid[i]);
    }
    put(p, "] = ");
    expr(p, n->kid[0]);
    put(p, "\n");
}

static void put_evaluate(tg_tir_printer *p, const tg_node *n)
{
    const tg_node *x = n->kid[0];
    if (tg_is_call(x, "ret") && x->nkids == 1 && x->type->kind == TG_T_VOID) {
        put(p, "return ");
        expr(p, x->kid[0]);
    } else if (x->kind == TG_CALL) {
        expr(p, x);
    } else {
        put(p, "T.evaluate(");
        expr(p, x);
        put(p, ")");
    }
    put(p, "\n");
}

static void put_stmt(tg_tir_printer *p, jobs *j, const job *at)
{
    const tg_node *n = at->n;
    switch (n->kind) {
    case TG_SEQ:
        for (uint32_t i = n->nkids; i > 0; --i)
            wait_for(p, j, STMT, n->kid[i - 1], at->level, at->last && i == n->nkids);
        break;
    case TG_FOR: put_for(p, j, n, at->level); break;
    case TG_IF: put_if(p, j, n, at->level, "if "); break;
    case TG_BLOCK: put_block(p, j, n, at->level); break;
    case TG_WHILE:
        tg_indent(p->t, at->level);
        put(p, "while ");
        expr(p, n->kid[0]);
        put(p, ":\n");
        open_suite(p, j, n->kid[1], at->level + 1, p->scope.n);
        break;
    case TG_LET_STMT: case TG_ALLOCATE: case TG_ALLOC_CONST: case TG_DECL_BUFFER: case TG_ATTR: case TG_ASSERT:
        put_scope(p, j, n, at->level, at->last);
        break;
    case TG_STORE:
        tg_indent(p->t, at->level);
        put_store(p, n);
        break;
    case TG_EVALUATE:
        tg_indent(p->t, at->level);
        put_evaluate(p, n);
        break;
    default:
        tg_indent(p->t, at->level);
        tg_printf(p->t, "%s\n", tg_kind_info[n->kind].text);
        break;
    }
}

void tg_tir_suite(tg_tir_printer *p, const tg_node *body, unsigned level)
{
    jobs j = { 0 };
    open_suite(p, &j, body, level, p->scope.n);
    while (j.todo.n > 0) {
        job at = j.todo.at[--j.todo.n];
        switch (at.what) {
        case STMT: put_stmt(p, &j, &at); break;
        case ELSE: put_else(p, &j, at.n, at.level); break;
        case INIT:
            tg_indent(p->t, at.level);
            put(p, "with T.init():\n");
            open_suite(p, &j, at.n, at.level + 1, p->scope.n);
            break;
        case LEAVE: tg_tir_leave(p, at.mark); break;
        }
    }
}
