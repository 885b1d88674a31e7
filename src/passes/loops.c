/* loops.c: loops of one iteration go, loops of none too, unrolled loops of constant extent are written out.
 * Needs: variables bound once.  Keeps: every statement executed, in order.
 * A loop marked for unrolling stays a plain loop when the text would grow too much; the C compiler may still unroll it. */
#include "passes.h"

#include "ir/walk.h"

enum {
    MAX_COPIES = 256,               /* iterations of one unrolled loop */
    MAX_STATEMENTS = 4096           /* statements that one unrolled nest may become */
};

/* Statements in what each node became, copies counted as often as they stand: node id + 1 -> number + 1. */
typedef struct counting { tg_map size; } counting;

static int64_t size_of(const counting *c, const tg_node *n)
{
    uintptr_t known = (uintptr_t)tg_map_get(&c->size, (uint64_t)n->id + 1);
    return known > 0 ? (int64_t)known - 1 : 0;
}

static const tg_node *note_size(tg_ctx *cx, counting *c, const tg_node *n, int64_t size)
{
    if (tg_is_stmt(n))
        tg_map_put(cx, &c->size, (uint64_t)n->id + 1, (void *)((uintptr_t)(size < MAX_STATEMENTS ? size : MAX_STATEMENTS) + 1));
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
    if (value->kind == TG_INT)
        value = tg_int(cx, d, value->u.i + i);
    else if (i != 0)
        value = tg_bin(cx, TG_ADD, value, tg_int(cx, d, i));
    tg_subst_var(cx, &by, n->u.loop->var, value);
    const tg_node *body = tg_substitute(cx, n->kid[2], &by);
    return copy ? tg_freshen(cx, body) : body;
}

static const tg_node *unroll(tg_ctx *cx, const tg_node *n, int64_t size)
{
    int64_t extent = n->kid[1]->u.i;
    if (extent > MAX_COPIES || size * extent > MAX_STATEMENTS)
        return with_kind(cx, n, TG_FOR_SERIAL);
    const tg_node **s = TG_ARRAY(cx, const tg_node *, extent);
    for (int64_t i = 0; i < extent; ++i)
        s[i] = one_iteration(cx, n, i, i > 0);
    return tg_seq(cx, (uint32_t)extent, s);
}

static const tg_node *loop(tg_ctx *cx, const tg_node *n, int64_t size)
{
    if (n->u.loop->kind == TG_FOR_THREAD || n->kid[1]->kind != TG_INT || tg_has_effect(cx, n->kid[0]))
        return n;
    if (n->kid[1]->u.i <= 0)
        return tg_nop(cx);
    bool loads = false;                             /* the body may change what the bound was read from */
    tg_visit(cx, n->kid[0], find_load, &loads);
    if (loads)
        return n->kid[1]->u.i == 1 ? tg_let_stmt(cx, n->u.loop->var, n->kid[0], n->kid[2]) : n;
    if (n->kid[1]->u.i == 1)
        return one_iteration(cx, n, 0, false);
    return n->u.loop->kind == TG_FOR_UNROLLED ? unroll(cx, n, size) : n;
}

static const tg_node *loops(tg_ctx *cx, const tg_node *n, void *user)
{
    counting *c = user;
    if (!tg_is_stmt(n))
        return n;
    int64_t size = n->kind == TG_STORE || n->kind == TG_EVALUATE;
    for (uint32_t i = 0; i < n->nkids; ++i)
        size += size_of(c, n->kid[i]);
    if (n->kind != TG_FOR)
        return note_size(cx, c, n, size);
    const tg_node *now = loop(cx, n, size);
    int64_t copies = now->kind == TG_FOR || n->kid[1]->u.i == 1 ? 1 : n->kid[1]->u.i <= 0 ? 0 : n->kid[1]->u.i;
    return note_size(cx, c, now, size * copies + (now->kind == TG_FOR));
}

bool tg_pass_loops(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    (void)opt;
    counting c = { { 0 } };
    return tg_rewrite(cx, m, loops, &c);
}
