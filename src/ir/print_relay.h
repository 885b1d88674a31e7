/* print_relay.h: between print_relay.c, which writes the text, and print_relay_names.c, which finds out beforehand what must be
 * known from the start: numbers, names that need changing, constants. */
#ifndef TG_PRINT_RELAY_H
#define TG_PRINT_RELAY_H

#include "module.h"
#include "print.h"

/* A variable in scope, as the reader of the text will see it. */
typedef struct tg_shown {
    struct tg_shown *outer;         /* the one of the same name that it hides */
    const tg_var *var;
    uint32_t fn_depth;
    bool param, pending;            /* pending: a let whose value is being read */
} tg_shown;

typedef struct tg_relay_names {
    tg_ctx *cx;
    tg_map number;                  /* variable id + 1 -> number + 1 */
    uint64_t next_number;
    tg_map renamed;                 /* variable id + 1 -> the name to print */
    tg_map used;                    /* interned name -> anything: taken somewhere in the module */
    tg_map by_name;                 /* interned name -> innermost tg_shown */
    TG_VEC(tg_shown *) scope;
    uint32_t fn_depth;
    tg_map constant;                /* tensor -> index + 1 */
    TG_VEC(const tg_tensor *) constants;
} tg_relay_names;

tg_relay_names tg_relay_names_of(const tg_module *m);       /* all names of the module are known as taken */
tg_shown *tg_show_var(tg_relay_names *s, const tg_var *v, bool param);
void tg_hide_vars(tg_relay_names *s, size_t mark);          /* those since s->scope.n was @p mark */
void tg_use_var(tg_relay_names *s, const tg_var *v);        /* renames what would be read as another variable */
void tg_number_var(tg_relay_names *s, const tg_var *v);
const tg_name *tg_shown_name(const tg_relay_names *s, const tg_var *v);
uint64_t tg_shown_number(const tg_relay_names *s, const tg_var *v);     /* one more than the number; 0: it has a name */
/* Could "%name.0" be read as a variable of that name? */
bool tg_projection_is_name(const tg_relay_names *s, const tg_var *v, int64_t index);
uint64_t tg_constant_index(tg_relay_names *s, const tg_tensor *t);
bool tg_is_inline_constant(const tg_tensor *t);             /* a scalar whose literal is exact */

#endif
