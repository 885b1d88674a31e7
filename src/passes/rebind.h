/* rebind.h: the bindings of every Relay function gone through once, in order, blocks inside branches and functions
 * too: a pass says what each becomes. Bindings that nobody uses afterwards are dropped: the language is pure but for
 * references. */
#ifndef TG_REBIND_H
#define TG_REBIND_H

#include "ir/module.h"

typedef struct tg_rebind tg_rebind;

/* @p value is bound to @p v; its operands are replaced already. @return it, another value of the same type, or an atom
 * that takes the place of @p v; NULL after an error. */
typedef const tg_node *(*tg_rebind_fn)(tg_rebind *r, const tg_var *v, const tg_node *value);

struct tg_rebind {
    tg_ctx *cx;
    tg_module *m;
    tg_rebind_fn fn;
    void *user;
    /* kept by rebind.c */
    tg_map atom;                    /* var id + 1 -> what stands for it now */
    tg_map value;                   /* var id + 1 -> what it is bound to */
    tg_map uses;                    /* var id + 1 -> uint32_t: occurrences that are left */
    struct tg_rebind_block *block;  /* being written */
    const tg_node *origin;          /* the value being replaced: new calls take its place and layer */
    uint32_t depth;
    bool references;                /* the module reads or writes some */
};

/* Over all Relay functions of r->m; r: cx, m, fn, user set, the rest zero. False after an error. */
bool tg_rebind_module(tg_rebind *r);

/* What @p atom is bound to; @p atom itself when it is no variable or its value is not known (a parameter). */
const tg_node *tg_rebind_value(const tg_rebind *r, const tg_node *atom);
/* How often a variable occurs; constants: 1. */
uint32_t tg_rebind_uses(tg_rebind *r, const tg_node *atom);
/* A call of an operator with its type, at the place and layer of what is being replaced; NULL after an error. */
const tg_node *tg_rebind_call(tg_rebind *r, const char *op, const tg_value *attrs, uint32_t n,
                              const tg_node *const *arg);
/* Binds @p value to a new variable in front of the binding at hand. @return the variable. */
const tg_node *tg_rebind_let(tg_rebind *r, const tg_node *value);

/* The bindings of @p block (rewritten already) come in front of the binding at hand. @return its result. */
const tg_node *tg_rebind_splice(tg_rebind *r, const tg_node *block);

#endif
