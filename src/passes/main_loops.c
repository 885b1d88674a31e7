/* main_loops.c: calls of loops in the AOT main. A loop function
 *     def @f(%i, %x) { %0 = less(%i, 5); if (%0) { …; @f(%1, %2) } else { %x } }
 * becomes
 *     i = init; x = init; again = true;
 *     while (again) { less…; if (condition) { …; i, x = new i, new x } else { result = x; again = false } }
 * All new values stand in memory of their own before the first carried one is overwritten; where they are carried values themselves
 * (a round that swaps two), the copies are ordered, and a cycle goes through one more tensor. */
#include "main_emit.h"

static void set_again(tg_main_build *b, const tg_loop_site *site, bool value, tg_statements *out)
{
    const tg_buffer *flag = tg_slot_view(b, site->again, "again");
    TG_PUSH(b->cx, *out, tg_decl_buffer(b->cx, flag, tg_store(b->cx, flag, tg_int(b->cx, TG_BOOL, value), 0, NULL)));
}

void tg_emit_leave(tg_main_build *b, const tg_loop_site *site, tg_statements *out)
{
    set_again(b, site, false, out);
}

/* ---- copies that happen at once ---- */

typedef struct move { tg_slot *from, *to; } move;

static bool is_source(const move *m, size_t n, const tg_slot *root)
{
    for (size_t i = 0; i < n; ++i)
        if (tg_slot_root(m[i].from) == root)
            return true;
    return false;
}

/* What the first move overwrites is read from a copy by those that come later. */
static bool set_aside(tg_main_build *b, move *m, size_t n, tg_statements *out)
{
    tg_slot *spare = tg_slot_temp(b, m[0].to->type), *kept = tg_slot_root(m[0].to);
    tg_slot_name(b, spare);
    if (!tg_emit_copy(b, m[0].to, spare, out))
        return false;
    for (size_t k = 0; k < n; ++k) {
        if (tg_slot_root(m[k].from) != kept)
            continue;
        tg_slot *view = tg_slot_new(b, TG_SLOT_TEMP, m[k].from->type);
        view->same = spare;
        m[k].from = view;
    }
    return true;
}

static bool emit_moves(tg_main_build *b, move *m, size_t n, tg_statements *out)
{
    while (n > 0) {
        size_t i = 0;
        while (i < n && is_source(m, n, tg_slot_root(m[i].to)))
            ++i;
        if (i == n) {               /* each target is still to be read: one of them is set aside */
            if (!set_aside(b, m, n, out))
                return false;
            continue;
        }
        if (!tg_emit_copy(b, m[i].from, m[i].to, out))
            return false;
        m[i] = m[--n];
    }
    return true;
}

bool tg_emit_next_round(tg_main_build *b, const tg_loop_site *site, const tg_node *call, tg_statements *out)
{
    move *m = TG_ARRAY(b->cx, move, site->carried->n);
    size_t n = 0;
    uint32_t c = 0;
    for (uint32_t k = 0; k < site->f->nparams; ++k) {
        if (site->invariant != NULL && site->invariant[k])
            continue;
        const tg_slots *from = tg_slots_of(b, call->kid[k + 1]);
        for (uint32_t i = 0; i < from->n; ++i, ++c)
            if (tg_slot_root(from->at[i]) != tg_slot_root(site->carried->at[c]))
                m[n++] = (move){ from->at[i], site->carried->at[c] };
    }
    return emit_moves(b, m, n, out);
}

/* ---- the loop ---- */

bool tg_emit_loop(tg_main_build *b, const tg_loop_site *site, tg_statements *out)
{
    tg_ctx *cx = b->cx;
    if (!tg_emit_copies(b, site->init, site->carried, out))
        return false;
    set_again(b, site, true, out);
    tg_main_scope *outer = b->scope;
    b->scope = site->inside;
    tg_statements s = { 0 };
    bool good = tg_emit_block(b, site->f->body, site->result, site, &s);
    b->scope = outer;
    if (!good)
        return false;
    const tg_buffer *flag = tg_slot_view(b, site->again, "again");
    const tg_node *kid[2] = { tg_load(cx, flag, 0, NULL), tg_seq(cx, (uint32_t)s.n, s.at) };
    TG_PUSH(cx, *out, tg_decl_buffer(cx, flag, tg_node_new(cx, TG_WHILE, site->f->span, NULL, NULL, 2, kid)));
    return true;
}
