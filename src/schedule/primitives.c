/* primitives.c: split, partition, reorder, fuse, mark: what can be done to loops. */
#include "primitives.h"

static const tg_node *constant(tg_sched *s, const tg_var *like, int64_t v)
{
    return tg_int(s->cx, like->type->dtype, v);
}

static bool check_loop(tg_sched *s, const tg_nest *n)
{
    return n->kind == TG_NEST_LOOP || tg_sched_refuse(s, "not a loop");
}

/* Every block below gets a further condition. */
static void add_predicate(tg_sched *s, tg_nest *below, const tg_node *condition)
{
    for (tg_nest *b = tg_nest_next_block(NULL, below); b != NULL; b = tg_nest_next_block(b, below)) {
        tg_block_parts p = tg_block_open(s->cx, b->node);
        bool always = p.predicate->kind == TG_INT && p.predicate->u.i != 0;
        p.predicate = always ? condition : tg_bin(s->cx, TG_AND, p.predicate, condition);
        b->node = tg_block_new(s->cx, &p);
    }
}

static bool only_blocks_below(const tg_nest *n)
{
    for (tg_nest *k = tg_nest_next(n, n); k != NULL; k = tg_nest_next(k, n))
        if (k->kind == TG_NEST_OTHER) return false;
    return true;
}

bool tg_s_split(tg_sched *s, tg_nest *loop, int64_t factor, tg_nest **outer, tg_nest **inner)
{
    tg_ctx *cx = s->cx;
    if (!check_loop(s, loop)) return false;
    if (factor < 1) return tg_sched_refuse(s, "%s cannot be split by %lld", loop->var->name->text, (long long)factor);
    bool exact = loop->extent % factor == 0;
    if (!exact && !only_blocks_below(loop))
        return tg_sched_refuse(s, "%s holds a statement that takes no predicate", loop->var->name->text);
    const tg_var *vo = tg_sched_var(s, loop->var, "_o"), *vi = tg_sched_var(s, loop->var, "_i");
    tg_nest *in = tg_nest_loop(s, vi, factor);
    const tg_node *whole =
        tg_bin(cx, TG_ADD, tg_bin(cx, TG_MUL, tg_var_ref(cx, vo), constant(s, vo, factor)), tg_var_ref(cx, vi));
    tg_subst by = { { 0 }, { 0 } };
    tg_subst_var(cx, &by, loop->var, whole);
    tg_nest_subst(s, loop, &by);
    if (!exact) add_predicate(s, loop, tg_bin(cx, TG_LT, whole, constant(s, vo, loop->extent)));
    for (size_t i = 0; i < loop->kid.n; ++i) tg_nest_add(s, in, i, loop->kid.at[i]);
    loop->kid.n = 0;
    tg_nest_add(s, loop, 0, in);
    loop->var = vo;
    loop->extent = (loop->extent + factor - 1) / factor;
    in->mode = loop->mode;
    loop->mode = TG_FOR_SERIAL;
    *outer = loop;
    *inner = in;
    return true;
}

/* ---- partition ---- */

static const tg_node *renamed(tg_sched *s, const tg_node *block)
{
    tg_block_parts p = tg_block_open(s->cx, block);
    p.name = tg_sched_name(s, p.name->text);
    return tg_block_new(s->cx, &p);
}

static tg_nest *copy_tree(tg_sched *s, const tg_nest *n, tg_subst *by)
{
    tg_nest *c = tg_nest_loop(s, n->var, n->extent);
    c->kind = n->kind;
    c->mode = n->mode;
    c->annotations = n->annotations;
    if (n->kind == TG_NEST_LOOP) {
        c->var = tg_sched_var(s, n->var, "");
        tg_subst_var(s->cx, by, n->var, tg_var_ref(s->cx, c->var));
    }
    if (n->node != NULL) {
        c->node = tg_freshen(s->cx, n->node);
        if (n->kind == TG_NEST_BLOCK) c->node = renamed(s, c->node);
    }
    for (size_t i = 0; i < n->kid.n; ++i) /* as deep as the tree, which is limited */
        tg_nest_add(s, c, i, copy_tree(s, n->kid.at[i], by));
    return c;
}

bool tg_s_partition(tg_sched *s, tg_nest *loop, int64_t at, tg_nest **first, tg_nest **rest)
{
    tg_ctx *cx = s->cx;
    if (!check_loop(s, loop)) return false;
    if (at < 1 || at >= loop->extent)
        return tg_sched_refuse(s, "%s has no place %lld to divide it", loop->var->name->text, (long long)at);
    tg_subst by = { { 0 }, { 0 } };
    tg_nest *second = copy_tree(s, loop, &by);
    second->extent = loop->extent - at;
    loop->extent = at;
    tg_subst_var(cx, &by, loop->var, tg_bin(cx, TG_ADD, tg_var_ref(cx, second->var), constant(s, second->var, at)));
    tg_nest_subst(s, second, &by);
    tg_nest_add(s, loop->parent, tg_nest_index(loop) + 1, second);
    *first = loop;
    *rest = second;
    return true;
}

/* ---- reorder ---- */

static tg_nest *only_block(tg_nest *below)
{
    tg_nest *b = tg_nest_next_block(NULL, below);
    return b != NULL && tg_nest_next_block(b, below) == NULL && only_blocks_below(below) ? b : NULL;
}

/* The block's instances may run in any order that keeps the first value of each reduce iterator first. */
static bool check_order_free(tg_sched *s, tg_nest *below)
{
    tg_nest *b = only_block(below);
    if (b == NULL) return tg_sched_refuse(s, "%s holds more than one block", below->var->name->text);
    return tg_block_is_complete(s->cx, b->node) || tg_block_is_reduction(s->cx, b->node) ||
           tg_block_is_update(s->cx, b->node) ||
           tg_sched_refuse(s, "the instances of block %s may depend on each other", b->node->u.block->name->text);
}

bool tg_s_reorder(tg_sched *s, uint32_t n, tg_nest *const *order)
{
    tg_nest *chain[TG_MAX_LOOPS], *top = NULL;
    uint32_t length = 0, found = 0;
    for (uint32_t i = 0; i < n; ++i) {
        if (!check_loop(s, order[i])) return false;
        bool outermost = true;
        for (uint32_t k = 0; k < n; ++k) outermost = outermost && tg_nest_under(order[k], order[i]);
        top = outermost ? order[i] : top;
    }
    if (top == NULL) return tg_sched_refuse(s, "the loops are not nested in each other");
    for (tg_nest *p = top; found < n; p = p->kid.at[0]) {
        bool listed = false;
        for (uint32_t k = 0; k < n; ++k) listed = listed || order[k] == p;
        found += listed;
        if (length == TG_MAX_LOOPS || (found < n && (p->kid.n != 1 || p->kid.at[0]->kind != TG_NEST_LOOP)))
            return tg_sched_refuse(s, "the loops do not form one chain");
        chain[length++] = p;
    }
    if (n > 1 && !check_order_free(s, top)) return false;
    tg_nest *parent = top->parent, *deepest = chain[length - 1];
    size_t place = tg_nest_index(top), nkids = deepest->kid.n;
    tg_nest **kids = deepest->kid.at, *now[TG_MAX_LOOPS];
    for (uint32_t i = 0, next = 0; i < length; ++i) {
        bool listed = false;
        for (uint32_t k = 0; k < n; ++k) listed = listed || order[k] == chain[i];
        now[i] = listed ? order[next++] : chain[i];
    }
    for (uint32_t i = 0; i < length; ++i) {
        now[i]->kid.at = NULL;
        now[i]->kid.n = now[i]->kid.cap = 0;
        if (i > 0) tg_nest_add(s, now[i - 1], 0, now[i]);
    }
    for (size_t i = 0; i < nkids; ++i) tg_nest_add(s, now[length - 1], i, kids[i]);
    parent->kid.at[place] = now[0];
    now[0]->parent = parent;
    return true;
}

/* ---- fuse, mark ---- */

bool tg_s_fuse(tg_sched *s, tg_nest *outer, tg_nest *inner, tg_nest **fused)
{
    tg_ctx *cx = s->cx;
    if (!check_loop(s, outer) || !check_loop(s, inner)) return false;
    if (inner->parent != outer || outer->kid.n != 1)
        return tg_sched_refuse(s, "%s is not all that stands in %s", inner->var->name->text, outer->var->name->text);
    if (outer->extent > INT32_MAX / inner->extent && outer->var->type->dtype.bits < 64)
        return tg_sched_refuse(s, "%s and %s have too many iterations together", outer->var->name->text,
                               inner->var->name->text);
    tg_subst by = { { 0 }, { 0 } };
    const tg_var *v =
        outer->extent == 1 ? inner->var
        : inner->extent == 1
            ? outer->var
            : tg_var_new(cx, tg_internf(cx, "%s_%s", outer->var->name->text, inner->var->name->text), outer->var->type);
    const tg_node *whole = tg_var_ref(cx, v), *part = constant(s, v, inner->extent);
    if (v->type != inner->var->type)
        return tg_sched_refuse(s, "%s and %s differ in type", outer->var->name->text, inner->var->name->text);
    if (outer->extent == 1) {
        tg_subst_var(cx, &by, outer->var, constant(s, v, 0));
    } else if (inner->extent == 1) {
        tg_subst_var(cx, &by, inner->var, constant(s, v, 0));
    } else {
        tg_subst_var(cx, &by, outer->var, tg_bin(cx, TG_FLOORDIV, whole, part));
        tg_subst_var(cx, &by, inner->var, tg_bin(cx, TG_FLOORMOD, whole, part));
    }
    tg_nest_subst(s, inner, &by);
    outer->var = v;
    outer->extent *= inner->extent;
    outer->kid.n = 0;
    for (size_t i = 0; i < inner->kid.n; ++i) tg_nest_add(s, outer, i, inner->kid.at[i]);
    *fused = outer;
    return true;
}

bool tg_s_mark(tg_sched *s, tg_nest *loop, enum tg_for_kind mode)
{
    if (!check_loop(s, loop)) return false;
    if (mode == TG_FOR_VECTORIZED || mode == TG_FOR_PARALLEL) {
        tg_nest *b = only_block(loop);
        if (b == NULL || !check_order_free(s, loop))
            return b != NULL ? false : tg_sched_refuse(s, "%s holds more than one block", loop->var->name->text);
        for (uint32_t i = 0; i < b->node->u.block->niters; ++i)
            if (b->node->u.block->iter[i].kind != TG_ITER_SPATIAL &&
                tg_uses_var(s->cx, b->node->kid[3 * i + 2], loop->var))
                return tg_sched_refuse(s, "%s is a reduction", loop->var->name->text);
    }
    loop->mode = mode;
    return true;
}
