/* main_slots.c: which memory each tensor of the graph lives in. */
#include "main_slots.h"
#include "tail_loops.h"
#include "ir/diag.h"
#include "ir/text.h"

#include <string.h>

tg_slot *tg_slot_root(tg_slot *s)
{
    while (s->same != NULL)
        s = s->same;
    return s;
}

uint32_t tg_count_tensors(const tg_type *t)
{
    if (t->kind != TG_T_TUPLE)
        return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; ++i)
        n += tg_count_tensors(t->field[i]);
    return n;
}

void tg_list_tensors(const tg_type *t, const tg_type **out, uint32_t *n)
{
    if (t->kind != TG_T_TUPLE) {
        out[(*n)++] = t;
        return;
    }
    for (uint32_t i = 0; i < t->n; ++i)
        tg_list_tensors(t->field[i], out, n);
}

tg_slot *tg_slot_new(tg_main_build *b, enum tg_slot_kind kind, const tg_type *type)
{
    tg_slot *s = TG_NEW(b->cx, tg_slot);
    s->kind = kind;
    s->type = type;
    return s;
}

tg_slot *tg_slot_temp(tg_main_build *b, const tg_type *type)
{
    tg_slot *s = tg_slot_new(b, TG_SLOT_TEMP, type);
    TG_PUSH(b->cx, b->temp, s);
    return s;
}

const tg_type *tg_slot_pointer(tg_ctx *cx, const tg_type *tensor, const char *scope)
{
    return tg_ptr(cx, tensor->dtype, tg_intern_z(cx, scope));
}

void tg_slot_name(tg_main_build *b, tg_slot *s)
{
    s->ptr = tg_var_new(b->cx, tg_internf(b->cx, "sid_%u", b->nsid++), tg_slot_pointer(b->cx, s->type, "global.workspace"));
}

tg_slots *tg_slots_new(tg_main_build *b, uint32_t n)
{
    tg_slots *s = TG_NEW(b->cx, tg_slots);
    s->n = n;
    s->at = TG_ARRAY(b->cx, tg_slot *, n);
    return s;
}

void tg_slots_bind(tg_main_build *b, const tg_var *v, tg_slots *s)
{
    tg_map_put(b->cx, &b->scope->value, (uint64_t)v->id + 1, s);
}

static tg_slots *fresh_slots(tg_main_build *b, const tg_type *t)
{
    uint32_t n = tg_count_tensors(t), k = 0;
    const tg_type **type = TG_ARRAY(b->cx, const tg_type *, n);
    tg_list_tensors(t, type, &k);
    tg_slots *s = tg_slots_new(b, n);
    for (uint32_t i = 0; i < n; ++i)
        s->at[i] = tg_slot_temp(b, type[i]);
    return s;
}

tg_slots *tg_slots_of(tg_main_build *b, const tg_node *atom)
{
    if (atom->kind == TG_RVAR) {
        tg_slots *known = tg_map_get(&b->scope->value, (uint64_t)atom->u.var->id + 1);
        TG_CHECK(b->cx, known != NULL, atom);
        return known;
    }
    TG_CHECK(b->cx, atom->kind == TG_RCONST, atom);
    tg_slot *s = tg_map_get(&b->constant, TG_KEY(atom->u.tensor));
    if (s == NULL) {
        s = tg_slot_new(b, TG_SLOT_CONST, atom->type);
        s->tensor = atom->u.tensor;
        const char *label = s->tensor->label != NULL ? s->tensor->label->text : tg_format(b->cx, "const_%zu", b->consts.n);
        s->ptr = tg_var_new(b->cx, tg_intern_z(b->cx, label), tg_slot_pointer(b->cx, atom->type, "global"));
        tg_map_put(b->cx, &b->constant, TG_KEY(atom->u.tensor), s);
        TG_PUSH(b->cx, b->consts, s);
    }
    tg_slots *one = tg_slots_new(b, 1);
    one->at[0] = s;
    return one;
}

tg_slots *tg_slots_concat(tg_main_build *b, uint32_t n, const tg_node *const *atom)
{
    uint32_t total = 0, k = 0;
    for (uint32_t i = 0; i < n; ++i)
        total += tg_slots_of(b, atom[i])->n;
    tg_slots *s = tg_slots_new(b, total);
    for (uint32_t i = 0; i < n; ++i) {
        tg_slots *part = tg_slots_of(b, atom[i]);
        memcpy(s->at + k, part->at, part->n * sizeof part->at[0]);
        k += part->n;
    }
    return s;
}

static tg_slots *project(tg_main_build *b, const tg_node *v)
{
    const tg_type *tuple = v->kid[0]->type;
    tg_slots *all = tg_slots_of(b, v->kid[0]);
    uint32_t first = 0;
    for (int64_t i = 0; i < v->u.i; ++i)
        first += tg_count_tensors(tuple->field[i]);
    tg_slots *s = tg_slots_new(b, tg_count_tensors(v->type));
    memcpy(s->at, all->at + first, s->n * sizeof s->at[0]);
    return s;
}

bool tg_slot_unite(tg_slot *from, tg_slot *to)
{
    tg_slot *r = tg_slot_root(from);
    if (r->kind != TG_SLOT_TEMP || tg_slot_root(to) == r)
        return tg_slot_root(to) == r;
    r->same = to;
    return true;
}

/* ---- calls ---- */

bool tg_is_reshape(const tg_main_build *b, const tg_node *v)
{
    const tg_func *f = tg_module_find(b->m, v->kid[0]->u.name);
    return f != NULL && tg_v_get_int(f->attrs, "relay.reshape_only", 0) == 1 && v->nkids == 2 && v->type->kind == TG_T_TENSOR;
}

static tg_slots *resolve_kernel(tg_main_build *b, const tg_node *v)
{
    for (uint32_t i = 1; i < v->nkids; ++i)
        tg_slots_of(b, v->kid[i]);  /* constants in the order of their use */
    if (!tg_is_reshape(b, v))
        return fresh_slots(b, v->type);
    tg_slot *from = tg_slot_root(tg_slots_of(b, v->kid[1])->at[0]);
    tg_slots *s = tg_slots_new(b, 1);
    s->at[0] = tg_slot_new(b, from->kind, v->type);
    s->at[0]->same = from;
    from->has_view = true;
    return s;
}

/* ---- loops ---- */

const tg_node *tg_tail_binding(const tg_loop_site *site, const tg_node *block)
{
    const tg_node *result = block->kid[block->nkids - 1];
    for (uint32_t i = block->nkids - 1; site != NULL && result->kind == TG_RVAR && i > 0; --i) {
        const tg_node *bind = block->kid[i - 1];
        if (bind->u.var == result->u.var)
            return bind->kid[0]->kind == TG_RIF || tg_calls(bind->kid[0], site->f->name) ? bind : NULL;
    }
    return NULL;
}

tg_loop_site *tg_site_of(const tg_main_build *b, const tg_var *v)
{
    return tg_map_get(&b->scope->loop, (uint64_t)v->id + 1);
}

typedef TG_VEC(const tg_node *) blocks;

/* The blocks of a loop's body whose results leave the loop. */
static void list_exits(tg_main_build *b, const tg_loop_site *site, blocks *exits)
{
    blocks todo = { 0 };
    TG_PUSH(b->cx, todo, site->f->body);
    while (todo.n > 0) {
        const tg_node *block = todo.at[--todo.n], *tail = tg_tail_binding(site, block);
        if (tail == NULL)
            TG_PUSH(b->cx, *exits, block);
        for (uint32_t i = 1; tail != NULL && tail->kid[0]->kind == TG_RIF && i <= 2; ++i)
            TG_PUSH(b->cx, todo, tail->kid[0]->kid[i]);
    }
}

static bool binds_kernel_call(const tg_node *block, const tg_node *result)
{
    for (uint32_t i = 0; result->kind == TG_RVAR && i + 1 < block->nkids; ++i)
        if (block->kid[i]->u.var == result->u.var)
            return block->kid[i]->kid[0]->kind == TG_RCALL;
    return false;
}

/* A result that is the same carried tensor at each exit needs no copy. One that an exit computes is written where it belongs. */
static void place_results(tg_main_build *b, tg_loop_site *site)
{
    blocks exits = { 0 };
    list_exits(b, site, &exits);
    for (uint32_t j = 0; j < site->result->n; ++j) {
        tg_slot *shared = NULL;
        for (size_t i = 0; i < exits.n; ++i) {
            tg_slot *r = tg_slot_root(tg_slots_of(b, exits.at[i]->kid[exits.at[i]->nkids - 1])->at[j]);
            if (r->carried_by != site || (shared != NULL && shared != r)) {
                shared = NULL;
                break;
            }
            shared = r;
        }
        if (shared != NULL)
            site->result->at[j]->same = shared;
    }
    for (size_t i = 0; i < exits.n; ++i) {
        const tg_node *result = exits.at[i]->kid[exits.at[i]->nkids - 1];
        if (!binds_kernel_call(exits.at[i], result))
            continue;
        const tg_slots *from = tg_slots_of(b, result);
        for (uint32_t j = 0; j < from->n; ++j) {
            tg_slot *s = from->at[j];
            if (s->kind == TG_SLOT_TEMP && s->same == NULL && !s->has_view && s->carried_by == NULL && site->result->at[j]->same == NULL)
                s->same = site->result->at[j];
        }
    }
}

static void append(tg_main_build *b, tg_slots *to, const tg_slots *more)
{
    tg_slot **at = TG_ARRAY(b->cx, tg_slot *, to->n + more->n);
    if (to->n > 0)
        memcpy(at, to->at, to->n * sizeof at[0]);
    if (more->n > 0)
        memcpy(at + to->n, more->at, more->n * sizeof at[0]);
    to->at = at;
    to->n += more->n;
}

static tg_slots *resolve_loop(tg_main_build *b, const tg_var *v, const tg_node *call, const tg_func *f)
{
    enum { MOST_LOOPS = 200 };
    TG_CHECK(b->cx, ++b->nloops < MOST_LOOPS, call);        /* more is recursion, which inline-calls refuses */
    tg_loop_site *site = TG_NEW(b->cx, tg_loop_site);
    site->f = f;
    site->invariant = tg_loop_shape_of(b->cx, f, NULL, f->name).invariant;
    site->inside = TG_NEW(b->cx, tg_main_scope);
    site->init = tg_slots_new(b, 0);
    site->carried = tg_slots_new(b, 0);
    site->again = tg_slot_temp(b, tg_tensor_type(b->cx, TG_BOOL, 0, NULL, 0));
    site->result = fresh_slots(b, call->type);
    tg_main_scope *outer = b->scope;
    for (uint32_t k = 0; k < f->nparams; ++k) {
        tg_slots *from = tg_slots_of(b, call->kid[k + 1]), *own = from;
        if (site->invariant == NULL || !site->invariant[k]) {
            own = fresh_slots(b, f->param[k]->type);
            for (uint32_t i = 0; i < own->n; ++i)
                own->at[i]->carried_by = site;
            append(b, site->init, from);
            append(b, site->carried, own);
        }
        b->scope = site->inside;
        tg_slots_bind(b, f->param[k], own);
        b->scope = outer;
    }
    b->scope = site->inside;
    tg_resolve_block(b, f->body, site);
    place_results(b, site);
    b->scope = outer;
    tg_map_put(b->cx, &b->scope->loop, (uint64_t)v->id + 1, site);
    --b->nloops;
    return site->result;
}

static tg_slots *resolve_call(tg_main_build *b, const tg_var *v, const tg_node *call)
{
    const tg_func *f = tg_module_find(b->graph, call->kid[0]->u.name);
    if (f != NULL && tg_v_get_int(f->attrs, TG_TAIL_LOOP, 0) == 1)
        return resolve_loop(b, v, call, f);
    return resolve_kernel(b, call);
}

/* ---- blocks ---- */

static tg_slots *resolve_if(tg_main_build *b, const tg_node *v, tg_loop_site *site)
{
    tg_slots *s = site != NULL ? site->result : fresh_slots(b, v->type);
    tg_slots_of(b, v->kid[0]);
    tg_resolve_block(b, v->kid[1], site);
    tg_resolve_block(b, v->kid[2], site);
    return s;
}

static tg_slots *resolve_tail(tg_main_build *b, const tg_node *v, tg_loop_site *site)
{
    if (v->kind == TG_RIF)
        return resolve_if(b, v, site);
    for (uint32_t i = 1; i < v->nkids; ++i)
        tg_slots_of(b, v->kid[i]);
    return site->result;
}

static tg_slots *resolve_value(tg_main_build *b, const tg_node *bind)
{
    const tg_node *v = bind->kid[0];
    switch (v->kind) {
    case TG_RCALL: return resolve_call(b, bind->u.var, v);
    case TG_RTUPLE: return tg_slots_concat(b, v->nkids, v->kid);
    case TG_RGET: return project(b, v);
    case TG_RIF: return resolve_if(b, v, NULL);
    default: return tg_slots_of(b, v);
    }
}

void tg_resolve_block(tg_main_build *b, const tg_node *block, tg_loop_site *site)
{
    const tg_node *tail = tg_tail_binding(site, block);
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        const tg_node *bind = block->kid[i];
        tg_slots_bind(b, bind->u.var, bind == tail ? resolve_tail(b, bind->kid[0], site) : resolve_value(b, bind));
    }
    tg_slots_of(b, block->kid[block->nkids - 1]);
}

static void unite_branch(tg_main_build *b, const tg_node *block, const tg_slots *to)
{
    const tg_node *result = block->kid[block->nkids - 1];
    if (binds_kernel_call(block, result)) {     /* made in this branch, so no other path needs it elsewhere */
        const tg_slots *from = tg_slots_of(b, result);
        for (uint32_t j = 0; j < from->n; ++j)
            if (!tg_slot_root(from->at[j])->has_view)
                tg_slot_unite(from->at[j], to->at[j]);
    }
    tg_unite_branches(b, block);
}

void tg_unite_branches(tg_main_build *b, const tg_node *block)
{
    for (uint32_t i = 0; i + 1 < block->nkids; ++i) {
        const tg_node *bind = block->kid[i], *v = bind->kid[0];
        tg_loop_site *site = tg_site_of(b, bind->u.var);
        if (site != NULL) {
            tg_main_scope *outer = b->scope;
            b->scope = site->inside;
            tg_unite_branches(b, site->f->body);
            b->scope = outer;
        }
        if (v->kind != TG_RIF)
            continue;
        const tg_slots *to = tg_map_get(&b->scope->value, (uint64_t)bind->u.var->id + 1);
        unite_branch(b, v->kid[1], to);
        unite_branch(b, v->kid[2], to);
    }
}
