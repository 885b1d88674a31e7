/* main_slots.h: which memory each tensor of the graph lives in, for build_main.c.
 *
 * Every tensor value is a slot: a pointer variable that is known only when all bindings have been read, since a value that leaves
 * the function is written straight into the output parameter. Slots that share memory (reshapes, results of branches, outputs)
 * are linked to one root. A loop is built anew at each place that calls it, with slots of its own. */
#ifndef TG_MAIN_SLOTS_H
#define TG_MAIN_SLOTS_H

#include "ir/module.h"

enum tg_slot_kind { TG_SLOT_TEMP, TG_SLOT_INPUT, TG_SLOT_CONST, TG_SLOT_OUTPUT };

typedef struct tg_slot {
    struct tg_slot *same;           /* memory shared with: follow with tg_slot_root() */
    enum tg_slot_kind kind;
    const tg_type *type;            /* of this view */
    const tg_var *ptr;              /* of a root */
    const tg_tensor *tensor;
    const struct tg_loop_site *carried_by;      /* root: the loop that changes it from round to round */
    bool has_view;                  /* a reshape shares the root's memory */
    bool used;                      /* a root that some statement mentions */
} tg_slot;

typedef struct tg_slots { uint32_t n; tg_slot **at; } tg_slots;

/* The variables of one function where it is built: id + 1 -> tg_slots; those bound to calls of loops -> tg_loop_site. */
typedef struct tg_main_scope { tg_map value, loop; } tg_main_scope;

/* A loop where it is called. */
typedef struct tg_loop_site {
    const tg_func *f;
    const bool *invariant;
    tg_main_scope *inside;
    tg_slots *init, *carried;       /* of the carried parameters, all their tensors */
    tg_slots *result;
    tg_slot *again;                 /* bool: one more round */
} tg_loop_site;

typedef struct tg_main_build {
    tg_ctx *cx;
    const tg_module *graph;         /* holds the loops */
    tg_module *m;                   /* PrimFuncs */
    tg_main_scope *scope;
    tg_map constant;                /* tensor -> slot */
    TG_VEC(tg_slot *) temp;         /* of kind TEMP, in order of their making */
    TG_VEC(tg_slot *) consts;
    uint32_t nsid, nloops;          /* pointers named; loops around */
} tg_main_build;

tg_slot *tg_slot_root(tg_slot *s);
tg_slot *tg_slot_new(tg_main_build *b, enum tg_slot_kind kind, const tg_type *type);
tg_slot *tg_slot_temp(tg_main_build *b, const tg_type *type);
void tg_slot_name(tg_main_build *b, tg_slot *s);                        /* gives a root of kind TEMP its pointer */
tg_slots *tg_slots_new(tg_main_build *b, uint32_t n);
tg_slots *tg_slots_of(tg_main_build *b, const tg_node *atom);
tg_slots *tg_slots_concat(tg_main_build *b, uint32_t n, const tg_node *const *atom);
void tg_slots_bind(tg_main_build *b, const tg_var *v, tg_slots *s);
const tg_type *tg_slot_pointer(tg_ctx *cx, const tg_type *tensor, const char *scope);

uint32_t tg_count_tensors(const tg_type *t);                            /* in a tuple, nested ones too */
void tg_list_tensors(const tg_type *t, const tg_type **out, uint32_t *n);

bool tg_is_reshape(const tg_main_build *b, const tg_node *call);        /* takes no time: shares the memory */
/* The binding of @p block whose variable is its result, when that is a call of the loop itself or an if; else NULL. */
const tg_node *tg_tail_binding(const tg_loop_site *site, const tg_node *block);
tg_loop_site *tg_site_of(const tg_main_build *b, const tg_var *v);      /* NULL: not bound to the call of a loop */

/* Gives each variable of @p block its slots; @p site: the loop whose body this is, or NULL. */
void tg_resolve_block(tg_main_build *b, const tg_node *block, tg_loop_site *site);
/* Can the memory of @p from be that of @p to, so that the producer writes there at once? Inputs and constants cannot move. */
bool tg_slot_unite(tg_slot *from, tg_slot *to);
/* Branch results move into the slots of their if where nothing else holds them; outermost first, so that outputs reach inside. */
void tg_unite_branches(tg_main_build *b, const tg_node *block);

#endif
