/* tvmscript_jump.c: break and continue. The IR has no jumps: a loop with some gets two numbers of its own, stop and skip. What follows
 * a jump runs only while skip is 0, an iteration only while stop is 0:
 *     for i in range(n):            for i in range(n):
 *         if A[i] < 0: break            if stop == 0:
 *         B[i] = A[i]                       skip = 0
 *                                           if A[i] < 0: stop = 1; skip = 1
 *                                           if skip == 0: B[i] = A[i] */
#include "tvmscript_elab.h"
#include "ir/walk.h"

enum { STOP, SKIP };

typedef struct jumping {
    const tg_buffer *state;
    tg_map may;             /* node's id + 1: it may jump */
} jumping;

static const tg_node *set(tg_ctx *cx, const tg_buffer *state, int which, int64_t value)
{
    const tg_node *at = tg_int(cx, TG_INT32, which);
    return tg_store(cx, state, tg_int(cx, TG_INT32, value), 1, &at);
}

static const tg_node *is_clear(tg_ctx *cx, const tg_buffer *state, int which)
{
    const tg_node *at = tg_int(cx, TG_INT32, which);
    return tg_bin(cx, TG_EQ, tg_load(cx, state, 1, &at), tg_int(cx, TG_INT32, 0));
}

static bool is_jump(const tg_node *n)
{
    return n->kind == TG_EVALUATE && (tg_is_call(n->kid[0], "break_loop") || tg_is_call(n->kid[0], "continue_loop"));
}

static bool may_jump(const jumping *j, const tg_node *n)
{
    return tg_map_get(&j->may, (uint64_t)n->id + 1) != NULL;
}

static const tg_node *note(tg_ctx *cx, jumping *j, const tg_node *n)
{
    tg_map_put(cx, &j->may, (uint64_t)n->id + 1, j);
    return n;
}

/* The statements behind one that may jump stand under a test. */
static const tg_node *sequence(tg_ctx *cx, jumping *j, const tg_node *n)
{
    const tg_node *rest = NULL;
    for (uint32_t i = n->nkids; i > 0; --i) {
        const tg_node *s = n->kid[i - 1];
        bool jumps = may_jump(j, s);
        if (rest != NULL && jumps) rest = tg_if(cx, is_clear(cx, j->state, SKIP), rest, NULL);
        rest = rest == NULL ? s : tg_seq(cx, 2, (const tg_node *[]){ s, rest });
    }
    return rest == NULL ? n : rest;
}

static const tg_node *without(tg_ctx *cx, const tg_node *n, void *user)
{
    jumping *j = user;
    if (is_jump(n)) {
        const tg_node *skip = set(cx, j->state, SKIP, 1);
        if (tg_is_call(n->kid[0], "continue_loop")) return note(cx, j, skip);
        return note(cx, j, tg_seq(cx, 2, (const tg_node *[]){ set(cx, j->state, STOP, 1), skip }));
    }
    if (!tg_is_stmt(n)) return n;
    bool jumps = false;
    for (uint32_t i = 0; i < n->nkids; ++i) jumps = jumps || may_jump(j, n->kid[i]);
    if (!jumps) return n;
    return note(cx, j, n->kind == TG_SEQ ? sequence(cx, j, n) : n);
}

static bool find_jump(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    *(bool *)user = *(bool *)user || is_jump(n);
    return tg_is_stmt(n) && !*(bool *)user;
}

const tg_node *tg_el_without_jumps(tg_elab *e, const tg_node *loop)
{
    tg_ctx *cx = e->cx;
    bool any = false;
    uint32_t last = loop->nkids - 1;
    tg_visit(cx, loop->kid[last], find_jump, &any);
    if (!any) return loop;
    int64_t two = 2;
    tg_buffer *state = tg_buffer_new(cx, tg_intern_z(cx, "jump"), TG_INT32, 1, &two, TG_INT32);
    state->scope = tg_intern_z(cx, "local");
    state->data = tg_var_new(cx, state->name, tg_ptr(cx, TG_INT32, state->scope));
    jumping j = { .state = state };
    const tg_node *body = tg_rewrite_node(cx, loop->kid[last], without, &j), *clear = is_clear(cx, state, STOP);
    body = tg_seq(cx, 2, (const tg_node *[]){ set(cx, state, SKIP, 0), body });
    const tg_node *kid[3] = { loop->kid[0], loop->kid[1], body };
    if (loop->kind == TG_WHILE) {
        kid[0] = tg_bin(cx, TG_AND, clear, loop->kid[0]);
        kid[1] = body;
    } else {
        kid[2] = tg_if(cx, clear, body, NULL);
    }
    const tg_node *now = tg_node_with(cx, loop, loop->nkids, kid);
    now = tg_decl_buffer(cx, state, tg_seq(cx, 2, (const tg_node *[]){ set(cx, state, STOP, 0), now }));
    tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = state->data, .dtype = TG_INT32, .scope = state->scope };
    return tg_node_new(cx, TG_ALLOCATE, loop->span, NULL, info, 2, (const tg_node *[]){ state->shape[0], now });
}
