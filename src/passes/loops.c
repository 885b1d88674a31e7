/* loops.c: loops of one iteration go, loops of none too, unrolled loops of constant extent are written out; a condition that a loop
 * does not change is tested around it.
 * Needs: variables bound once.  Keeps: every statement executed, in order.
 * A loop marked for unrolling stays a plain loop when the text would grow too much; the C compiler may still unroll it. */
#include "passes.h"

#include "ir/walk.h"

enum {
    MAX_COPIES = 256,      /* iterations of one unrolled loop */
    MAX_STATEMENTS = 4096, /* statements that one unrolled nest may become */
    MAX_CONDITIONS = 6     /* that one loop may be copied for, one inside of the other */
};

/* Statements in what each node became, copies counted as often as they stand: node id + 1 -> number + 1. */
typedef struct counting {
    tg_map size;
} counting;

static int64_t size_of(const counting *c, const tg_node *n)
{
    uintptr_t known = (uintptr_t)tg_map_get(&c->size, (uint64_t)n->id + 1);
    return known > 0 ? (int64_t)known - 1 : 0;
}

static const tg_node *note_size(tg_ctx *cx, counting *c, const tg_node *n, int64_t size)
{
    if (tg_is_stmt(n))
        tg_map_put(cx, &c->size, (uint64_t)n->id + 1,
                   (void *)((uintptr_t)(size < MAX_STATEMENTS ? size : MAX_STATEMENTS) + 1));
    return n;
}

static const tg_node *with_kind(tg_ctx *cx, const tg_node *n, enum tg_for_kind kind)
{
    tg_loop *loop = tg_copy(cx, n->u.loop, sizeof *loop);
    loop->kind = kind;
    return tg_for_with(cx, loop, n->kid[0], n->kid[1], n->kid[2]);
}

static bool find_load(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    *(bool *)user = *(bool *)user || n->kind == TG_LOAD;
    return true;
}

static const tg_node *one_iteration(tg_ctx *cx, const tg_node *n, int64_t i, bool copy)
{
    tg_subst by = { { 0 }, { 0 } };
    DLDataType d = tg_dtype_of(n->kid[0]);
    const tg_node *value = n->kid[0];
    if (value->kind == TG_INT) value = tg_int(cx, d, value->u.i + i);
    else if (i != 0) value = tg_bin(cx, TG_ADD, value, tg_int(cx, d, i));
    tg_subst_var(cx, &by, n->u.loop->var, value);
    const tg_node *body = tg_substitute(cx, n->kid[2], &by);
    return copy ? tg_freshen(cx, body) : body;
}

static const tg_node *unroll(tg_ctx *cx, const tg_node *n, int64_t size)
{
    int64_t extent = n->kid[1]->u.i;
    if (extent > MAX_COPIES || size * extent > MAX_STATEMENTS) return with_kind(cx, n, TG_FOR_SERIAL);
    const tg_node **s = TG_ARRAY(cx, const tg_node *, extent);
    for (int64_t i = 0; i < extent; ++i) s[i] = one_iteration(cx, n, i, i > 0);
    return tg_seq(cx, (uint32_t)extent, s);
}

/* ---- conditions that stay the same ---- */

typedef struct asking {
    const tg_var *v;
    bool yes;
} asking;

static bool may_change(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    asking *a = user;
    a->yes = a->yes || n->kind == TG_LOAD || n->kind == TG_CALL || (n->kind == TG_VAR && n->u.var == a->v);
    return !a->yes;
}

static bool is_invariant(tg_ctx *cx, const tg_node *c, const tg_var *v)
{
    asking a = { v, false };
    tg_visit(cx, c, may_change, &a);
    return !a.yes;
}

static const tg_node *with_body(tg_ctx *cx, const tg_node *n, const tg_node *body)
{
    return tg_node_with(cx, n, 3, (const tg_node *[]){ n->kid[0], n->kid[1], body });
}

/* for v: if c: A else B, and for v: b[i] = c ? x : y, become two loops under the condition, and those again. */
static const tg_node *unswitch(tg_ctx *cx, const tg_node *n, unsigned depth)
{
    const tg_node *body = n->kid[2], *c = NULL, *then = NULL, *otherwise = NULL;
    if (body->kind == TG_IF) {
        c = body->kid[0];
        then = body->kid[1];
        otherwise = body->nkids > 2 ? body->kid[2] : NULL;
    } else if (body->kind == TG_STORE && tg_is_call(body->kid[0], "if_then_else")) {
        const tg_node **kid = tg_copy(cx, body->kid, body->nkids * sizeof body->kid[0]);
        c = body->kid[0]->kid[0];
        kid[0] = body->kid[0]->kid[1];
        then = tg_node_with(cx, body, body->nkids, kid);
        kid[0] = body->kid[0]->kid[2];
        otherwise = tg_node_with(cx, body, body->nkids, kid);
    }
    if (c == NULL || depth == 0 || !is_invariant(cx, c, n->u.loop->var)) return n;
    then = unswitch(cx, with_body(cx, n, then), depth - 1);
    if (otherwise != NULL) otherwise = unswitch(cx, tg_freshen(cx, with_body(cx, n, otherwise)), depth - 1);
    return tg_if(cx, c, then, otherwise);
}

static const tg_node *loop(tg_ctx *cx, const tg_node *n, int64_t size)
{
    if (n->u.loop->kind == TG_FOR_THREAD || n->kid[1]->kind != TG_INT || tg_has_effect(cx, n->kid[0])) return n;
    if (n->kid[1]->u.i <= 0) return tg_nop(cx);
    bool loads = false; /* the body may change what the bound was read from */
    tg_visit(cx, n->kid[0], find_load, &loads);
    if (loads) return n->kid[1]->u.i == 1 ? tg_let_stmt(cx, n->u.loop->var, n->kid[0], n->kid[2]) : n;
    if (n->kid[1]->u.i == 1) return one_iteration(cx, n, 0, false);
    if (n->u.loop->kind == TG_FOR_UNROLLED) return unroll(cx, n, size);
    return unswitch(cx, n, MAX_CONDITIONS);
}

static const tg_node *loops(tg_ctx *cx, const tg_node *n, void *user)
{
    counting *c = user;
    if (!tg_is_stmt(n)) return n;
    int64_t size = n->kind == TG_STORE || n->kind == TG_EVALUATE;
    for (uint32_t i = 0; i < n->nkids; ++i) size += size_of(c, n->kid[i]);
    if (n->kind != TG_FOR) return note_size(cx, c, n, size);
    const tg_node *now = loop(cx, n, size);
    int64_t copies = now->kind == TG_FOR || now->kind == TG_IF || n->kid[1]->u.i == 1 ? 1
                     : n->kid[1]->u.i <= 0                                            ? 0
                                                                                      : n->kid[1]->u.i;
    return note_size(cx, c, now, size * copies + 2 * (now->kind == TG_FOR || now->kind == TG_IF));
}

bool tg_pass_loops(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    counting c = { { 0 } };
    return tg_rewrite(cx, m, loops, &c);
}
