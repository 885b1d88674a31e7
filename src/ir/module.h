/* module.h: functions of a module. A module is the one thing that changes: passes put new functions in place of old. */
#ifndef TG_MODULE_H
#define TG_MODULE_H

#include "node.h"
#include "vec.h"

enum tg_func_kind { TG_FUNC_RELAY, TG_FUNC_PRIM };

typedef struct tg_func {
    const tg_name *name;            /* in the module: "main", "fused_nn_relu" */
    enum tg_func_kind kind;
    tg_span span;
    uint32_t nparams;
    const tg_var *const *param;     /* PRIM: pointers (TG_T_PTR) or scalars */
    const tg_buffer *const *buffer; /* PRIM: nparams, the buffer matched to a pointer parameter, else NULL; NULL for Relay */
    const tg_type *ret;             /* Relay: result type or NULL; PRIM: PRIM type or VOID */
    const tg_value *attrs;          /* dict or NULL */
    const tg_node *body;            /* Relay: RBLOCK; PRIM: a statement, at TensorIR level the BLOCK named "root" without iterators */
    uint32_t ntype_params;
    const tg_name *const *type_param;
} tg_func;

/* An ADT of the module: type List[A] { Cons(A, List[A]), Nil } */
typedef struct tg_ctor { const tg_name *name; uint32_t n; const tg_type *const *field; } tg_ctor;
typedef struct tg_adt { const tg_name *name; uint32_t nparams, nctors; const tg_name *const *param; const tg_ctor *ctor; tg_span span; } tg_adt;

struct tg_module {
    tg_ctx *cx;
    TG_VEC(const tg_func *) funcs;  /* order of the text; printing sorts nothing */
    TG_VEC(const tg_adt *) adts;
    const tg_value *attrs;          /* I.module_attrs, or NULL */
    tg_map by_name;                 /* interned name -> index + 1 */
};

tg_module *tg_module_new(tg_ctx *cx);
const tg_func *tg_module_find(const tg_module *m, const tg_name *name);     /* NULL when absent */
const tg_func *tg_module_find_z(tg_module *m, const char *name);
void tg_module_add(tg_module *m, const tg_func *f);                         /* name must be new: tg_module_unique() */
void tg_module_set(tg_module *m, const tg_func *f);                         /* replaces the function of that name, or adds */
void tg_module_remove(tg_module *m, const tg_name *name);
const tg_name *tg_module_unique(tg_module *m, const char *hint);            /* hint, hint_1, hint_2 … */
tg_func *tg_func_copy(tg_ctx *cx, const tg_func *f);                        /* to change before it goes into a module */
#define TG_TASK "tirgen.task"    /* attribute of a function over a range, its last two parameters, that may run in parts at the same time */
bool tg_is_main(const tg_func *f);                                          /* the AOT main: runs the operators in order */
const tg_func *tg_module_main(const tg_module *m);                          /* NULL when there is none */
/* The level of a module by what it holds: Relay while any function is Relay, then TensorIR while any block exists. */
enum tg_level { TG_LEVEL_RELAY, TG_LEVEL_TENSORIR, TG_LEVEL_LOOP };
enum tg_level tg_module_level(const tg_module *m);

/* Structural equality up to the identity of variables and buffers. Names of parameters, functions, buffers of parameters,
 * blocks count; names of other variables, spans and layers do not. @p why gets a one-line reason on the first difference. */
bool tg_module_equal(tg_ctx *cx, const tg_module *a, const tg_module *b, const char **why);
bool tg_func_equal(tg_ctx *cx, const tg_func *a, const tg_func *b, const char **why);
bool tg_node_equal(tg_ctx *cx, const tg_node *a, const tg_node *b);         /* free variables and buffers by identity */
/* A hash that equal functions share (names of the functions apart). */
uint64_t tg_func_hash(tg_ctx *cx, const tg_func *f);

#endif
