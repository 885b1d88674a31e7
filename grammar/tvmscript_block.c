/* tvmscript_block.c: blocks of TensorIR: axes, regions, allocations, init, and the block they become.
 * Formats: tvmscript-tir.md sections 6 and 19. */
#include "tvmscript_elab.h"

#include <string.h>

/* ---- axes ---- */

static tg_val zero_at(const tg_syn *at)
{
    return (tg_val){ .kind = TG_VAL_INT, .at = at };
}

/* A domain: extent, (begin, end), T.Range(begin, end). */
static bool domain(tg_elab *e, const tg_val *v, const tg_node **min, const tg_node **extent)
{
    tg_val none = zero_at(v->at);
    const tg_val *begin = &none, *end = v;
    if (v->kind == TG_VAL_FORM && v->w.word->id == TG_W_RANGE) {
        if (v->n != 1 && v->n != 2) {
            tg_el_error(e, v->at, "Range takes a begin and an end");
            return false;
        }
        begin = v->n == 2 ? &v->u.item[0] : &none;
        end = &v->u.item[v->n - 1];
    } else if (v->kind == TG_VAL_TUPLE || v->kind == TG_VAL_LIST) {
        if (v->n != 2) {
            tg_el_error(e, v->at, "a domain is an extent or (begin, end)");
            return false;
        }
        begin = &v->u.item[0];
        end = &v->u.item[1];
    }
    const tg_node *stop = tg_el_index(e, end);
    *min = begin == &none && stop != NULL ? tg_int(e->cx, tg_dtype_of(stop), 0) : tg_el_index(e, begin);
    if (stop == NULL || *min == NULL || !tg_el_agree(e, v->at, min, &stop))
        return false;
    *extent = tg_el_extent(e, v->at, *min, stop);
    return *extent != NULL;
}

/* Both sides of a domain and its binding are of one type: the widest. */
static void add_axis(tg_elab *e, const tg_syn *at, const tg_name *name, int kind, const tg_node *min,
                     const tg_node *extent, const tg_node *binding)
{
    const tg_type *type = extent->type;
    tg_var *var = tg_var_new(e->cx, name, type);
    var->span = tg_el_span(e, at);
    if (binding->type != type && binding->kind == TG_INT)
        binding = tg_el_cast(e, binding, type->dtype);
    TG_PUSH(e->cx, e->block->iters, ((struct tg_iter_part){ var, (enum tg_iter_kind)kind, min, extent, binding }));
    tg_el_bind(e, name, tg_el_of_expr(at, tg_node_new(e->cx, TG_VAR, var->span, type, var, 0, NULL)));
}

static void remap(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_val *slot[2], *loop;
    if (!tg_el_args(e, form, "kinds bindings", slot))
        return;
    const tg_name *kinds = tg_el_str(e, slot[0], "the kinds of the axes");
    uint32_t n = tg_el_list(slot[1], &loop);
    uint32_t ntargets = target->kind == TG_SYN_TUPLE || target->kind == TG_SYN_LIST ? target->nkids : 1;
    if (kinds == NULL)
        return;
    if (kinds->len != n || ntargets != n) {
        tg_el_error(e, form->at, "remap of %u kinds and %u loops to %u names", (unsigned)kinds->len, (unsigned)n,
                    (unsigned)ntargets);
        return;
    }
    const tg_syn *name = target->kind == TG_SYN_TUPLE || target->kind == TG_SYN_LIST ? tg_syn_first(target) : target;
    for (uint32_t i = 0; i < n; ++i, name = name->next) {
        const tg_name *axis = tg_el_target(e, name);
        if (axis == NULL)
            return;
        if (kinds->text[i] != 'S' && kinds->text[i] != 'R') {
            tg_el_error(e, slot[0]->at, "remap knows the kinds S and R");
            return;
        }
        if (loop[i].kind != TG_VAL_EXPR || loop[i].w.loop == NULL) {
            tg_el_error(e, loop[i].at, "remap takes variables of loops");
            return;
        }
        add_axis(e, name, axis, kinds->text[i] == 'S' ? TG_ITER_SPATIAL : TG_ITER_REDUCE, loop[i].w.loop->min,
                 loop[i].w.loop->extent, loop[i].u.expr);
    }
}

void tg_el_axis(tg_elab *e, const tg_syn *target, const tg_val *form)
{
    const tg_val *slot[3];
    if (e->block == NULL || e->block->root) {
        tg_el_error(e, form->at, "an axis stands in a block");
        return;
    }
    if (form->w.word->id == TG_W_REMAP) {
        remap(e, target, form);
        return;
    }
    const tg_node *min, *extent;
    if (!tg_el_args(e, form, "dom binding | dtype", slot) || !domain(e, slot[0], &min, &extent))
        return;
    const tg_node *binding = tg_el_index(e, slot[1]);
    const tg_name *name = binding != NULL ? tg_el_target(e, target) : NULL;
    if (name == NULL)
        return;
    DLDataType d;
    if (slot[2] != NULL) {
        if (!tg_el_dtype(e, slot[2], &d) || !tg_is_int(d) || d.lanes != 1)
            return;
        min = tg_el_cast(e, min, d);
        extent = tg_el_cast(e, extent, d);
    }
    add_axis(e, target, name, form->w.word->arg, min, extent, binding);
}

/* ---- statements that fill the block ---- */

static void regions(tg_elab *e, const tg_val *form, bool writes)
{
    tg_el_block *b = e->block;
    const tg_val *item = form->u.item;
    uint32_t n = form->n;
    if (n == 1 && (item[0].kind == TG_VAL_LIST || item[0].kind == TG_VAL_TUPLE))      /* T.reads([A[i]]) of 0.8 */
        n = tg_el_list(&form->u.item[0], &item);
    if (writes)
        b->has_writes = true;
    else
        b->has_reads = true;
    for (uint32_t i = 0; i < n; ++i) {
        tg_region r;
        if (!tg_el_region(e, &item[i], &r))
            return;
        if (writes)
            TG_PUSH(e->cx, b->writes, r);
        else
            TG_PUSH(e->cx, b->reads, r);
    }
}

bool tg_el_block_stmt(tg_elab *e, const tg_val *form)
{
    enum tg_word_id id = form->w.word->id;
    const tg_val *slot[1];
    if (id != TG_W_WHERE && id != TG_W_REGIONS && id != TG_W_BLOCK_ATTR)
        return false;
    tg_el_block *b = e->block;
    if (b == NULL || b->root) {
        tg_el_error(e, form->at, "%s stands in a block", form->name->text);
        return true;
    }
    if (id == TG_W_REGIONS) {
        regions(e, form, form->w.word->arg != 0);
    } else if (tg_el_args(e, form, id == TG_W_WHERE ? "predicate" : "attrs", slot)) {
        if (id == TG_W_WHERE)
            b->predicate = tg_el_cond(e, slot[0]);
        else
            b->annotations = tg_el_attr_dict(e, slot[0]);
    }
    return true;
}

void tg_el_with_init(tg_elab *e, const tg_syn *at, const tg_syn *suite)
{
    if (e->block == NULL || e->block->root || e->block->init != NULL) {
        tg_el_error(e, at,
                    e->block != NULL && e->block->init != NULL ? "a block has one init" : "init stands in a block");
        return;
    }
    tg_el_block *b = e->block;
    const tg_node *init = tg_el_suite(e, suite);
    b->init = init;
}

/* ---- the block ---- */

static const tg_node *make_block(tg_elab *e, const tg_el_block *b, const tg_node *body)
{
    tg_block_parts p = { .name = b->name,
                         .span = b->span,
                         .niters = (uint32_t)b->iters.n,
                         .iter = b->iters.at,
                         .predicate = b->predicate,
                         .nreads = (uint32_t)b->reads.n,
                         .read = b->reads.at,
                         .nwrites = (uint32_t)b->writes.n,
                         .write = b->writes.at,
                         .nallocs = (uint32_t)b->allocs.n,
                         .alloc = b->allocs.at,
                         .nmatches = (uint32_t)b->matches.n,
                         .match = b->matches.at,
                         .annotations = b->annotations,
                         .init = b->init,
                         .body = body };
    if (!b->root && (!b->has_reads || !b->has_writes)) {        /* hand-written: found from the body */
        tg_block_parts found = p;
        tg_infer_regions(e->cx, &found);
        if (!b->has_reads) {
            p.nreads = found.nreads;
            p.read = found.read;
        }
        if (!b->has_writes) {
            p.nwrites = found.nwrites;
            p.write = found.write;
        }
    }
    return tg_block_new(e->cx, &p);
}

const tg_node *tg_el_root_block(tg_elab *e, const tg_el_block *b, const tg_node *body)
{
    return make_block(e, b, body);
}

void tg_el_with_block(tg_elab *e, const tg_syn *at, const tg_val *form, const tg_syn *suite)
{
    const tg_val *slot[2];
    if (!tg_el_args(e, form, "| name no_realize", slot))
        return;
    tg_el_block b = { .outer = e->block, .span = tg_el_span(e, at), .name = tg_intern_z(e->cx, "") };
    if (slot[0] != NULL && (b.name = tg_el_str(e, slot[0], "the name of a block")) == NULL)
        return;
    if (slot[1] != NULL && tg_el_is_true(e, slot[1])) {
        tg_el_error(e, at, "a block without bindings (no_realize) cannot be run");
        return;
    }
    e->saw_block = true;
    e->block = &b;
    size_t before = e->cx->nerrors;
    const tg_node *body = tg_el_suite(e, suite);
    e->block = b.outer;
    if (e->cx->nerrors == before)
        tg_el_push(e, make_block(e, &b, body));
}
