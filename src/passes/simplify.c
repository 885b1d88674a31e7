/* simplify.c: algebra on integer expressions, decisions by ranges, dead code.
 * Needs: variables bound once.  Keeps: the value of every expression and store, bit for bit; order of effects.
 * Expression rules stand in simplify_int.c and simplify_const.c; here are logic, lets and statements. */
#include "passes.h"
#include "simplify.h"

#include "ir/walk.h"

enum { MAX_ROUNDS = 8 };

typedef struct simplifying {
    tg_simplify s;
    tg_map value; /* var id + 1 -> the constant or variable it stands for */
    tg_map used;  /* var id + 1: mentioned by an expression or an access */
    tg_map held;  /* var id + 1: mentioned by the shape, strides or offset of a buffer */
    tg_map owned; /* var id + 1: memory that the function allocates */
    tg_map read;  /* var id + 1: memory that is read, or whose address goes somewhere */
    tg_map seen;  /* buffer id + 1: its shape is visited */
} simplifying;

static void mark(tg_ctx *cx, tg_map *set, uint64_t k)
{
    static const char there = 1;
    tg_map_put(cx, set, k, (void *)(uintptr_t)&there);
}

static uint64_t key(const tg_var *v)
{
    return (uint64_t)v->id + 1;
}

/* ---- what is used, and what a let stands for ---- */

static bool hold(tg_ctx *cx, const tg_node *n, void *user)
{
    if (n->kind == TG_VAR) mark(cx, &((simplifying *)user)->held, key(n->u.var));
    return true;
}

static void use_buffer(tg_ctx *cx, simplifying *s, const tg_buffer *b)
{
    mark(cx, &s->used, key(b->data));
    if (tg_map_get(&s->seen, (uint64_t)b->id + 1) != NULL) return;
    mark(cx, &s->seen, (uint64_t)b->id + 1);
    for (uint32_t k = 0; k < b->ndim; ++k) {
        tg_visit(cx, b->shape[k], hold, s);
        if (b->strides != NULL) tg_visit(cx, b->strides[k], hold, s);
    }
    if (b->elem_offset != NULL) tg_visit(cx, b->elem_offset, hold, s);
}

static void use_block(tg_ctx *cx, simplifying *s, const tg_block *b)
{
    for (uint32_t i = 0; i < b->nreads; ++i) use_buffer(cx, s, b->read[i]);
    for (uint32_t i = 0; i < b->nwrites; ++i) {
        use_buffer(cx, s, b->write[i]);
        mark(cx, &s->read, key(b->write[i]->data)); /* the region may be read where the block does not say so */
    }
    for (uint32_t i = 0; i < b->nmatches; ++i) {
        use_buffer(cx, s, b->match[i].source);
        use_buffer(cx, s, b->match[i].view);
    }
}

static bool is_trivial(const tg_node *value)
{
    return value->kind == TG_INT || value->kind == TG_FLOAT ||
           (value->kind == TG_VAR && value->type->kind == TG_T_PRIM);
}

/* The buffer of A[i] + …, A[i] * … and the like; NULL. */
static const tg_buffer *updated(const tg_node *n)
{
    return n->kind >= TG_ADD && n->kind <= TG_MAX && n->nkids == 2 && n->kid[0]->kind == TG_LOAD ? n->kid[0]->u.buf : NULL;
}

/* Memory is read where a load is an operand, but not to update an element of the same memory: A[i] = A[j] + …. */
static void note_reads(tg_ctx *cx, simplifying *s, const tg_node *n)
{
    for (uint32_t i = 0; i < n->nkids; ++i) {
        const tg_node *k = n->kid[i];
        const tg_buffer *through = updated(k);
        if (k->kind == TG_LOAD && !(i == 0 && updated(n) != NULL)) mark(cx, &s->read, key(k->u.buf->data));
        if (through != NULL && !(n->kind == TG_STORE && i == 0 && n->u.buf->data == through->data))
            mark(cx, &s->read, key(through->data));
    }
}

static bool collect(tg_ctx *cx, const tg_node *n, void *user)
{
    simplifying *s = user;
    note_reads(cx, s, n);
    switch (n->kind) {
    case TG_VAR:
        mark(cx, &s->used, key(n->u.var));
        mark(cx, &s->read, key(n->u.var));
        break;
    case TG_LOAD:
    case TG_STORE: use_buffer(cx, s, n->u.buf); break;
    case TG_ALLOCATE: mark(cx, &s->owned, key(n->u.alloc->var)); break;
    case TG_BLOCK: use_block(cx, s, n->u.block); break;
    case TG_LET:
    case TG_LET_STMT:
        if (is_trivial(n->kid[0]) && n->kid[0]->type == n->u.var->type)
            tg_map_put(cx, &s->value, key(n->u.var), (void *)(uintptr_t)n->kid[0]);
        break;
    default: break;
    }
    return true;
}

/* ---- expressions ---- */

static const tg_node *variable(simplifying *s, const tg_node *n)
{
    tg_ctx *cx = s->s.cx;
    for (const tg_node *v; n->kind == TG_VAR && (v = tg_map_get(&s->value, key(n->u.var))) != NULL;)
        n = v; /* a let stands for something bound before it: this ends */
    if (n->kind != TG_VAR || n->type->kind != TG_T_PRIM) return n;
    tg_range r = tg_range_of(cx, &s->s.ranges, n);
    DLDataType d = tg_dtype_of(n);
    bool integer = d.lanes == 1 && (d.code == kDLInt || d.code == kDLUInt);
    return integer && r.lo == r.hi && tg_map_get(&s->s.ranges.var, key(n->u.var)) != NULL ? tg_int(cx, d, r.lo) : n;
}

static const tg_node *logic(tg_ctx *cx, const tg_node *n)
{
    const tg_node *a = n->kid[0], *b = n->kind == TG_NOT ? NULL : n->kid[1];
    switch (n->kind) {
    case TG_AND:
        if (a->kind == TG_INT) return a->u.i != 0 ? b : a;
        if (b->kind == TG_INT && (b->u.i != 0 || !tg_has_effect(cx, a))) return b->u.i != 0 ? a : b;
        return n;
    case TG_OR:
        if (a->kind == TG_INT) return a->u.i != 0 ? a : b;
        if (b->kind == TG_INT && (b->u.i == 0 || !tg_has_effect(cx, a))) return b->u.i == 0 ? a : b;
        return n;
    default:
        if (a->kind == TG_INT) return tg_int(cx, TG_BOOL, a->u.i == 0);
        return a->kind == TG_NOT ? a->kid[0] : n;
    }
}

static const tg_node *comparison(simplifying *s, const tg_node *n)
{
    int holds = tg_has_effect(s->s.cx, n) ? -1 : tg_bounds_decide(s->s.cx, &s->s.ranges, n);
    return holds < 0 ? n : tg_int(s->s.cx, TG_BOOL, holds);
}

static const tg_node *chosen(tg_ctx *cx, const tg_node *n)
{
    const tg_node *c = n->kid[0];
    if (c->kind == TG_INT) return n->kid[c->u.i != 0 ? 1 : 2];
    return tg_node_equal(cx, n->kid[1], n->kid[2]) && !tg_has_effect(cx, c) ? n->kid[1] : n;
}

/* A conversion there and back, when the value passes through unchanged. */
static const tg_node *cast_back(simplifying *s, const tg_node *n)
{
    const tg_node *a = n->kid[0];
    if (a->kind != TG_CAST || a->kid[0]->type != n->type || !tg_is_int(tg_dtype_of(n)) || !tg_is_int(tg_dtype_of(a)))
        return n;
    tg_range all = tg_range_of_dtype(tg_dtype_of(a)), r = tg_range_of(s->s.cx, &s->s.ranges, a->kid[0]);
    bool wide = tg_dtype_of(a).bits >= tg_dtype_of(n).bits;
    return wide || tg_range_within(r, all.lo, all.hi) ? a->kid[0] : n;
}

static const tg_node *expression(simplifying *s, const tg_node *n)
{
    tg_ctx *cx = s->s.cx;
    if (n->kind == TG_VAR) return variable(s, n);
    const tg_node *now = tg_simplify_const(cx, n);
    if (now != n) return now;
    switch (n->kind) {
    case TG_ADD:
    case TG_SUB:
    case TG_MUL:
    case TG_DIV:
    case TG_MOD:
    case TG_FLOORDIV:
    case TG_FLOORMOD:
    case TG_MIN:
    case TG_MAX: return tg_is_int(tg_dtype_of(n)) ? tg_simplify_int(&s->s, n) : n;
    case TG_EQ:
    case TG_NE:
    case TG_LT:
    case TG_LE:
    case TG_GT:
    case TG_GE: return comparison(s, n);
    case TG_AND:
    case TG_OR:
    case TG_NOT: return logic(cx, n);
    case TG_SELECT: return chosen(cx, n);
    case TG_CAST: return cast_back(s, n);
    case TG_CALL:
        if (tg_is_call(n, "if_then_else")) return chosen(cx, n);
        return tg_is_call(n, "likely") && n->kid[0]->kind == TG_INT ? n->kid[0] : n;
    case TG_LET:
        if (tg_map_get(&s->value, key(n->u.var)) != NULL && tg_map_get(&s->held, key(n->u.var)) == NULL)
            return n->kid[1];
        return tg_map_get(&s->used, key(n->u.var)) == NULL && tg_map_get(&s->held, key(n->u.var)) == NULL &&
                       !tg_has_effect(cx, n->kid[0])
                   ? n->kid[1]
                   : n;
    default: return n;
    }
}

/* ---- statements ---- */

static bool is_nop(const tg_node *n)
{
    return n->kind == TG_SEQ && n->nkids == 0;
}

static const tg_node *sequence(tg_ctx *cx, const tg_node *n)
{
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (n->kid[i]->kind == TG_SEQ) return tg_seq(cx, n->nkids, n->kid);
    return n->nkids == 1 ? n->kid[0] : n;
}

/* @p e for its effect alone. */
static const tg_node *effect_of(tg_ctx *cx, const tg_node *e)
{
    return tg_has_effect(cx, e) ? tg_evaluate(cx, e) : tg_nop(cx);
}

static const tg_node *branch(tg_ctx *cx, const tg_node *n)
{
    const tg_node *c = n->kid[0], *otherwise = n->nkids > 2 && !is_nop(n->kid[2]) ? n->kid[2] : NULL;
    if (c->kind == TG_INT) return c->u.i != 0 ? n->kid[1] : otherwise != NULL ? otherwise : tg_nop(cx);
    if (is_nop(n->kid[1]))
        return otherwise != NULL ? tg_if(cx, logic(cx, tg_not(cx, c)), otherwise, NULL) : effect_of(cx, c);
    return n->nkids > 2 && otherwise == NULL ? tg_if(cx, c, n->kid[1], NULL) : n;
}

/* Whether the memory or value that @p n binds is mentioned nowhere. */
static bool is_unused(simplifying *s, const tg_var *v)
{
    return tg_map_get(&s->used, key(v)) == NULL && tg_map_get(&s->held, key(v)) == NULL;
}

static const tg_node *let(simplifying *s, const tg_node *n)
{
    bool replaced = tg_map_get(&s->value, key(n->u.var)) != NULL && tg_map_get(&s->held, key(n->u.var)) == NULL;
    return replaced || (is_unused(s, n->u.var) && !tg_has_effect(s->s.cx, n->kid[0])) ? n->kid[1] : n;
}

/* Into memory that nobody reads. */
static const tg_node *store(simplifying *s, const tg_node *n)
{
    const tg_var *to = n->u.buf->data;
    bool effect = false;
    for (uint32_t i = 0; i < n->nkids; ++i) effect = effect || tg_has_effect(s->s.cx, n->kid[i]);
    return !effect && tg_map_get(&s->owned, key(to)) != NULL && tg_map_get(&s->read, key(to)) == NULL ? tg_nop(s->s.cx) : n;
}

static const tg_node *loop(simplifying *s, const tg_node *n)
{
    tg_ctx *cx = s->s.cx;
    tg_range extent = tg_range_of(cx, &s->s.ranges, n->kid[1]);
    bool pure = !tg_has_effect(cx, n->kid[0]) && !tg_has_effect(cx, n->kid[1]);
    return pure && (extent.hi <= 0 || is_nop(n->kid[2])) ? tg_nop(cx) : n;
}

static const tg_node *simplify(tg_ctx *cx, const tg_node *n, void *user)
{
    simplifying *s = user;
    switch (n->kind) {
    case TG_SEQ: return sequence(cx, n);
    case TG_IF: return branch(cx, n);
    case TG_FOR: return loop(s, n);
    case TG_STORE: return store(s, n);
    case TG_WHILE: return tg_is_int_const(n->kid[0], 0) ? tg_nop(cx) : n;
    case TG_EVALUATE: return tg_has_effect(cx, n->kid[0]) ? n : tg_nop(cx);
    case TG_LET_STMT: return let(s, n);
    case TG_ALLOCATE: return is_unused(s, n->u.alloc->var) || is_nop(n->kid[n->nkids - 1]) ? n->kid[n->nkids - 1] : n;
    case TG_ALLOC_CONST: return is_unused(s, n->u.alloc->var) || is_nop(n->kid[0]) ? n->kid[0] : n;
    case TG_DECL_BUFFER: return tg_map_get(&s->seen, (uint64_t)n->u.buf->id + 1) == NULL ? n->kid[0] : n;
    case TG_ASSERT: return n->kid[0]->kind == TG_INT && n->kid[0]->u.i != 0 ? n->kid[2] : n;
    default: return tg_is_stmt(n) || tg_is_relay(n) ? n : expression(s, n);
    }
}

const tg_node *tg_simplify_node(tg_ctx *cx, const tg_node *root)
{
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        simplifying s = { .s = { .cx = cx } };
        tg_visit(cx, root, collect, &s);
        tg_bounds_collect(cx, &s.s.ranges, root);
        const tg_node *now = tg_rewrite_node(cx, root, simplify, &s);
        if (now == root) break;
        root = now;
    }
    return root;
}

bool tg_pass_simplify(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        const tg_node *body = f->kind == TG_FUNC_PRIM ? tg_simplify_node(cx, f->body) : f->body;
        if (body == f->body) continue;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        tg_module_set(m, g);
    }
    return true;
}
