/* infer.h: state of infer_types.c, shared with infer_value.c (one expression). */
#ifndef TG_INFER_H
#define TG_INFER_H

#include "ir/diag.h"
#include "ir/module.h"

typedef struct tg_infer_fn {
    const tg_func *f;
    enum { TG_FN_NEW, TG_FN_ACTIVE, TG_FN_DONE, TG_FN_FAILED } state;
    const tg_type *type;            /* signature, NULL until known */
    const tg_var *const *param;     /* while active */
} tg_infer_fn;

/* A function bound by let whose parameters have no types yet. */
typedef struct tg_infer_later {
    const tg_node *bind;
    const tg_node **out;            /* where the typed binding belongs */
    const tg_var *const *param;
    bool busy, done;
} tg_infer_later;

/* A block inside a value: a branch, an arm with its pattern, a function's body. */
typedef struct tg_infer_part {
    const tg_node *block;           /* typed */
    const tg_node *pattern;         /* typed */
    const tg_node *fn;              /* as it was; node: typed */
    const tg_node *node;
    const tg_var *const *param;
} tg_infer_part;

typedef struct tg_infer_frame {
    const tg_node *block;
    const tg_node **out;            /* its typed operands */
    uint32_t at;                    /* operand in progress */
    TG_VEC(tg_infer_part) part;     /* of that operand, as far as begun */
    tg_infer_fn *fn;                /* the module's function whose body this is */
    tg_infer_later *later;          /* or the local one */
    bool wrong;                     /* an operand has an error */
} tg_infer_frame;

enum tg_infer_step { TG_STEP_READY, TG_STEP_PUSHED, TG_STEP_FAILED };

typedef struct tg_infer {
    tg_ctx *cx;
    tg_module *m;
    bool good;
    tg_map now;                     /* variable id + 1 -> the typed variable */
    tg_map values;                  /* typed variable id + 1 -> its value */
    tg_map fns;                     /* name -> tg_infer_fn */
    tg_map later;                   /* variable id + 1 -> tg_infer_later */
    tg_map wrong;                   /* variable id + 1: bound to an error, or to what uses one */
    tg_map ctors;                   /* name -> struct tg_infer_ctor */
    TG_VEC(tg_infer_frame) frame;
} tg_infer;

void tg_infer_adts(tg_infer *t);                                            /* fills ctors */
/* A variable bound to a value of @p type; an error when it is declared as something else. */
const tg_var *tg_infer_bind(tg_infer *t, const tg_var *v, const tg_type *type, tg_span at);
const tg_type *tg_infer_atom_type(tg_infer *t, const tg_node *n);          /* NULL when it has none yet; no diagnostics */
/* The value with types; its parts are typed already, in order. NULL after an error. */
const tg_node *tg_infer_value(tg_infer *t, const tg_node *v, const tg_infer_part *part);
const tg_node *tg_infer_pattern(tg_infer *t, const tg_node *p, const tg_type *of, int depth);

#endif
