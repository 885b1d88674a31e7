/* nest.h: a TensorIR function opened for scheduling: a tree of loops and blocks that can be changed in place.
 * tg_sched_open() takes the root block apart, primitives rewrite the tree, tg_sched_close() builds the function again. */
#ifndef TG_NEST_H
#define TG_NEST_H

#include "ir/module.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "linear.h"
#include "schedule.h"

enum tg_nest_kind {
    TG_NEST_TOP,   /* what stands in the root block, in order */
    TG_NEST_LOOP,  /* from 0, constant extent */
    TG_NEST_BLOCK, /* a block; what is inside stays closed */
    TG_NEST_OTHER  /* any other statement: nothing is moved across it */
};

typedef struct tg_nest tg_nest;
struct tg_nest {
    enum tg_nest_kind kind;
    tg_nest *parent;
    TG_VEC(tg_nest *) kid; /* TOP, LOOP */
    const tg_var *var;     /* LOOP */
    int64_t extent;
    enum tg_for_kind mode;
    const tg_value *annotations;
    const tg_node *node; /* BLOCK, OTHER */
};

typedef struct tg_sched {
    tg_ctx *cx;
    const tg_func *func;
    const tg_target *target;
    tg_block_parts root;
    TG_VEC(const tg_node *) wrap; /* statements around the body of the root block: constants and their buffers */
    tg_nest *top;
    const char *why; /* of the last refusal */
    tg_text says;    /* the schedule in words, for the function's attribute */
    tg_map names;    /* of blocks in use */
} tg_sched;

/* NULL when the function has no root block of the plain form. */
tg_sched *tg_sched_open(tg_ctx *cx, const tg_func *f, const tg_target *t);
const tg_func *tg_sched_close(tg_sched *s);
bool tg_sched_refuse(tg_sched *s, const char *fmt, ...) TG_PRINTF(2, 3); /* sets why; false */

/* ---- the tree ---- */
tg_nest *tg_nest_loop(tg_sched *s, const tg_var *v, int64_t extent); /* a new serial loop without a place */
tg_nest *tg_nest_block(tg_sched *s, const tg_node *block);
void tg_nest_add(tg_sched *s, tg_nest *parent, size_t at, tg_nest *kid); /* as operand @p at */
void tg_nest_remove(tg_nest *n);                                         /* and the loops around it that become empty */
size_t tg_nest_index(const tg_nest *n);                                  /* among the parent's operands */
bool tg_nest_under(const tg_nest *n, const tg_nest *above);              /* n is above, or below it */
tg_nest *tg_nest_next(const tg_nest *n, const tg_nest *within);          /* pre-order; NULL after the last */
tg_nest *tg_nest_next_block(const tg_nest *n, const tg_nest *within);    /* n NULL: the first block */
tg_nest *tg_nest_chain_end(tg_nest *n);                                  /* down while there is one operand */
/* Loops around @p n, outermost first, into out[max]; the count, or -1. */
int tg_nest_loops(const tg_nest *n, tg_nest **out, int max);
tg_nest *tg_nest_find(tg_sched *s, const char *block);       /* the block of that name, or NULL */
const tg_name *tg_sched_name(tg_sched *s, const char *hint); /* for a new block */
const tg_var *tg_sched_var(tg_sched *s, const tg_var *like, const char *suffix);
void tg_nest_subst(tg_sched *s, tg_nest *n, const tg_subst *by); /* in every block and statement below */

/* ---- blocks ---- */
enum { TG_MAX_LOOPS = 40 };
const tg_buffer *tg_block_output(const tg_node *block); /* the one buffer it stores to, or NULL */
const tg_node *
tg_block_store(tg_ctx *cx, const tg_node *block); /* its only store, if the body is that store under lets; else NULL */
bool tg_block_reads(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b);
bool tg_block_writes(tg_ctx *cx, const tg_node *stmt, const tg_buffer *b);
bool tg_block_has(const tg_node *block, enum tg_iter_kind kind);
/* Only spatial iterators, one store, which does not read its own buffer. */
bool tg_block_is_complete(tg_ctx *cx, const tg_node *block);
/* Spatial and reduce iterators, an init, one store out[i] = f(out[i], …) with the indices of the init. */
bool tg_block_is_reduction(tg_ctx *cx, const tg_node *block);
/* The same without an init: it stands elsewhere. */
bool tg_block_is_update(tg_ctx *cx, const tg_node *block);
/* Each iterator is bound to a loop of its own that runs over its domain, and nothing else stands in those loops. */
bool tg_nest_is_plain(tg_sched *s, tg_nest *block);
tg_nest *tg_nest_loop_of(tg_sched *s, tg_nest *block,
                         const tg_var *iter);                    /* the loop an iterator is bound to, or NULL */
const tg_node *tg_block_reparted(tg_ctx *cx, tg_block_parts *p); /* rebuilt with regions as the body shows them */
bool tg_sched_is_param(const tg_sched *s, const tg_buffer *b);
void tg_sched_ranges(tg_sched *s, tg_ranges *r); /* of all loops and iterators now */

#endif
