/* rules.c: questions that several rules ask. */
#include "rules.h"

#include <stdio.h>

void tg_rule_say(tg_sched *s, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (s->says.n > 0) tg_puts(&s->says, "; ");
    tg_puts(&s->says, text);
}

typedef struct reading {
    tg_ctx *cx;
    const tg_buffer *b;
    const tg_node *block, *load;
    bool plain;
} reading;

static bool is_iterator(const tg_node *block, const tg_node *e)
{
    if (e->kind == TG_INT) return true;
    for (uint32_t i = 0; e->kind == TG_VAR && i < block->u.block->niters; ++i)
        if (block->u.block->iter[i].var == e->u.var) return true;
    return false;
}

/* Every load of the buffer has the same indices, each an iterator of its own or a constant. */
static bool read_plainly(tg_ctx *cx, const tg_node *n, void *user)
{
    reading *r = user;
    if (n->kind != TG_LOAD || n->u.buf != r->b) return true;
    for (uint32_t k = 0; k < n->nkids; ++k) {
        r->plain = r->plain && is_iterator(r->block, n->kid[k]) &&
                   (r->load == NULL || tg_node_equal(cx, r->load->kid[k], n->kid[k]));
        for (uint32_t j = 0; j < k; ++j)
            r->plain = r->plain &&
                       (n->kid[j]->kind != TG_VAR || n->kid[k]->kind != TG_VAR || n->kid[j]->u.var != n->kid[k]->u.var);
    }
    r->load = n;
    return true;
}

static const tg_node *plain_load(tg_sched *s, const tg_node *block, const tg_buffer *b)
{
    reading r = { s->cx, b, block, NULL, true };
    tg_visit(s->cx, tg_block_body(block), read_plainly, &r);
    return r.plain ? r.load : NULL;
}

tg_nest *tg_rule_epilogue(tg_sched *s, tg_nest *block)
{
    const tg_buffer *b = tg_block_output(block->node);
    tg_nest *reader = NULL;
    if (b == NULL || tg_sched_is_param(s, b)) return NULL; /* several regions: left as it is */
    for (tg_nest *n = s->top; n != NULL; n = tg_nest_next(n, s->top)) {
        if (n->node == NULL || n == block || !tg_block_reads(s->cx, n->node, b)) continue;
        if (reader != NULL || n->kind != TG_NEST_BLOCK) return NULL;
        reader = n;
    }
    bool fits = reader != NULL && tg_block_is_complete(s->cx, reader->node) && tg_nest_is_plain(s, reader) &&
                plain_load(s, reader->node, b) != NULL;
    /* each element is read once, or the block would be computed again and again */
    int64_t elements, runs = 1;
    for (uint32_t i = 0; fits && i < reader->node->u.block->niters; ++i) runs *= reader->node->kid[3 * i + 1]->u.i;
    return fits && tg_buffer_elements(b, &elements) && elements == runs ? reader : NULL;
}

tg_nest *tg_rule_epilogue_or_copy(tg_sched *s, tg_nest *block)
{
    if (tg_block_output(block->node) == NULL) return NULL;
    tg_nest *e = tg_rule_epilogue(s, block);
    return e != NULL ? e : tg_s_cache_write(s, block, "acc");
}

tg_nest *tg_rule_loop_under(tg_sched *s, tg_nest *block, const tg_var *iter, const tg_nest *above)
{
    for (uint32_t i = 0; i < block->node->u.block->niters; ++i) {
        if (block->node->u.block->iter[i].var != iter) continue;
        for (tg_nest *p = block->parent; p != NULL && p != above; p = p->parent)
            if (p->kind == TG_NEST_LOOP && tg_uses_var(s->cx, block->node->kid[3 * i + 2], p->var)) return p;
    }
    return NULL;
}

uint32_t tg_rule_reduce_loops(tg_sched *s, tg_nest *block, const tg_nest *above, tg_nest **out)
{
    tg_nest *loops[TG_MAX_LOOPS];
    int n = tg_nest_loops(block, loops, TG_MAX_LOOPS);
    uint32_t count = 0;
    for (int i = 0; i < n; ++i) {
        if (above != NULL && (loops[i] == above || !tg_nest_under(loops[i], above))) continue;
        for (uint32_t k = 0; k < block->node->u.block->niters; ++k) {
            if (block->node->u.block->iter[k].kind != TG_ITER_REDUCE ||
                !tg_uses_var(s->cx, block->node->kid[3 * k + 2], loops[i]->var))
                continue;
            out[count++] = loops[i];
            break;
        }
    }
    return count;
}

tg_nest *tg_rule_outermost_under(tg_nest *block, const tg_nest *above)
{
    tg_nest *n = block;
    while (n->parent != above) n = n->parent;
    return n;
}

tg_nest *tg_rule_reader_loop(tg_sched *s, tg_nest *block, tg_nest *reader, const tg_var *iter)
{
    const tg_node *store = tg_block_store(s->cx, block->node), *load = plain_load(s, reader->node, store->u.buf);
    for (uint32_t k = 0; load != NULL && k < load->nkids; ++k)
        if (store->kid[k + 1]->kind == TG_VAR && store->kid[k + 1]->u.var == iter && load->kid[k]->kind == TG_VAR)
            return tg_nest_loop_of(s, reader, load->kid[k]->u.var);
    return NULL;
}

void tg_rule_name_loops(tg_sched *s, tg_nest *block, tg_nest *reader)
{
    const tg_node *n = block->node;
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        const tg_nest *from = tg_nest_loop_of(s, block, n->u.block->iter[i].var);
        tg_nest *loop = tg_rule_reader_loop(s, block, reader, n->u.block->iter[i].var);
        if (from == NULL || loop == NULL || loop->var->name == from->var->name || loop->var->type != from->var->type)
            continue;
        tg_subst by = { { 0 }, { 0 } };
        const tg_var *v = tg_sched_var(s, from->var, "");
        tg_subst_var(s->cx, &by, loop->var, tg_var_ref(s->cx, v));
        tg_nest_subst(s, loop, &by);
        loop->var = v;
    }
}
