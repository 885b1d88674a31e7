/* inline_calls.h: what the parts of the pass inline-calls share: values that are known while compiling, the blocks being written,
 * and the engine that runs a function on such values.
 *
 * The pass runs the entry function as far as it can be run without data. Functions, constructors of algebraic types and references
 * exist only in this run; tensors, and tuples of them, exist at run time, and what computes them is written out.
 *   inline_calls.c   the run: bindings, calls, branches         static_values.c  values, variables that stand for them, their types
 *   resolve_match.c  which arm of a match is taken              inline_loops.c   functions that stay, as loops
 *   tail_loops.c     how a function calls itself */
#ifndef TG_INLINE_CALLS_H
#define TG_INLINE_CALLS_H

#include "tail_loops.h"
#include "ir/diag.h"
#include "ir/module.h"

/* Limits; each has a message. */
enum {
    TG_MAX_BRANCHES = 100,          /* nested ifs and loops: C promises 127 levels of blocks, and a main needs some itself */
    TG_MAX_ACTIVE = 20000,          /* calls that wait for one another while compiling */
    TG_MAX_GUARDED = 4,             /* activations of one function, each inside an if of the one before, until it counts as recursion */
    TG_MAX_FORKS = 1000,            /* blocks whose rest is written for each branch of an if */
    TG_MAX_TUPLE_DEPTH = 100, TG_MAX_TUPLE_FIELDS = 65536,      /* of a value that exists at run time; fields at all depths together */
    TG_GROWTH_BINDINGS = 250000, TG_GROWTH_FACTOR = 4           /* result: at most factor times the text's bindings, plus these */
};

typedef struct tg_static tg_static;
typedef struct tg_env { struct tg_env *outer; tg_map value; } tg_env;       /* variables of one activation: var id + 1 -> tg_static */

enum tg_static_kind {
    TG_S_RUNTIME,       /* atom: a variable or a constant */
    TG_S_TUPLE,         /* field */
    TG_S_CTOR,          /* name, field: a value of an algebraic type */
    TG_S_FN,            /* func, env: a function and the variables around it */
    TG_S_MAKER,         /* name: a constructor that has fields, not called yet */
    TG_S_CELL,          /* cell: a reference */
    TG_S_EITHER         /* one of two that no value at run time can stand for: open; never in an environment */
};

typedef struct tg_cell { const tg_static *now; const struct tg_out *made_in; } tg_cell;

struct tg_static {
    enum tg_static_kind kind;
    uint32_t n;
    uint32_t depth, leaves;         /* of nested fields; tensors in all of them, at most TG_MAX_TUPLE_FIELDS + 1 */
    const tg_static *const *field;
    const tg_node *atom;            /* RUNTIME, and TUPLE whose fields all exist at run time; else NULL */
    const tg_name *name;            /* CTOR, MAKER; FN: what messages call it */
    const tg_func *func;
    tg_env *env;                    /* FN: NULL for a function of the module */
    const tg_var *self;             /* FN: the variable that the function calls itself by, or NULL */
    tg_cell *cell;
    const struct tg_frame *open;    /* EITHER: the if that is not written yet; field[0] is what its else branch gives */
};

/* A function that is written: the entry, or a loop. */
typedef struct tg_unit {
    struct tg_unit *outer;          /* where it is called, NULL for the entry */
    const tg_name *name;
    TG_VEC(const tg_var *) param;   /* carried, then those that stand for variables of the outer unit */
    TG_VEC(const tg_node *) init;   /* of each parameter, in the outer unit */
    tg_map lifted;                  /* var id + 1 of the outer unit -> parameter */
    const tg_static *callee;        /* the function it was made from */
    const tg_loop_shape *shape;
} tg_unit;

/* A block that is written. */
typedef struct tg_out { tg_unit *unit; TG_VEC(const tg_node *) bind; } tg_out;

enum tg_frame_kind { TG_F_ENTRY, TG_F_BODY, TG_F_THEN, TG_F_ELSE, TG_F_LOOP };

/* A block that is run. Its result goes to the binding where the frame below stands. */
typedef struct tg_frame {
    enum tg_frame_kind kind;
    const tg_node *block;
    uint32_t next;                  /* binding */
    uint32_t branches;              /* ifs and loops around it that stay */
    tg_env *env;
    tg_out *out;
    const tg_node *at;              /* the call, if or match it belongs to; NULL for the entry */
    const tg_static *callee;        /* of a call */
    uint32_t previous;              /* branches around the activation before this one of the same function */
    bool guarded;
    const tg_node *condition;       /* THEN, ELSE */
    tg_out *then_out;
    const tg_static *then_value;
    const struct tg_static *either; /* THEN, ELSE: the rest of the block below, once for each side of this */
    uint32_t from;                  /* the binding where that rest begins */
    const tg_static *result;        /* of the block, when both sides of an either have run to its end */
} tg_frame;

/* What is known of a variable that was written. */
typedef struct tg_written { tg_unit *unit; const tg_node *value; const tg_type *type; } tg_written;     /* value NULL: a parameter */

typedef struct tg_active { uint32_t live, guarded, branches; } tg_active;

typedef struct tg_inliner {
    tg_ctx *cx;
    const tg_module *m;
    TG_VEC(tg_frame) frames;
    tg_map written;                 /* var id + 1 -> tg_written */
    tg_map ctors;                   /* name -> tg_ctor */
    tg_map active;                  /* function and environment -> tg_active */
    tg_map shapes;                  /* function -> tg_loop_shape */
    tg_map recursive;               /* var id + 1 of a local function that mentions itself */
    tg_map taken;                   /* names of functions that stay */
    tg_map kept;                    /* name -> primitive function that is called */
    TG_VEC(const tg_func *) made;   /* loops */
    tg_map made_by_name;
    size_t nwritten, limit, nbindings, nforks;
    const tg_node *result_of_entry; /* its block when all is done */
    bool failed;                    /* the types of a captured value are wrong: reported */
} tg_inliner;

/* ---- static_values.c ---- */
const tg_static *tg_s_runtime(tg_inliner *e, const tg_node *atom, uint32_t depth, uint32_t leaves);
const tg_static *tg_s_fields(tg_inliner *e, enum tg_static_kind kind, const tg_name *name, uint32_t n, const tg_static *const *field);
const char *tg_s_text(tg_inliner *e, const tg_static *v);       /* "the function @f", "Cons(…)": for messages */
/* Only tensors, tuples of them, all extents known: what an annotation may demand of a value at run time. */
bool tg_is_plain(tg_inliner *e, const tg_type *t);
const tg_type *tg_plain(tg_inliner *e, const tg_type *t);       /* @p t, or NULL when it is not plain */

/* Appends a binding; its variable looks like @p like (or is numbered) and demands @p type unless that is NULL. */
const tg_var *tg_write(tg_inliner *e, tg_out *out, const tg_var *like, const tg_type *type, const tg_node *value, tg_span at);
void tg_write_param(tg_inliner *e, tg_unit *unit, const tg_var *v);
/* The atom as @p unit sees it: variables of outer units become parameters. NULL after an error. */
const tg_node *tg_atom_in(tg_inliner *e, tg_unit *unit, const tg_node *atom);
/* The value as an atom in @p out; NULL after an error that says @p what cannot be such a value. */
const tg_node *tg_to_atom(tg_inliner *e, tg_out *out, const tg_static *v, tg_span at, const char *what);
const tg_type *tg_known_type(tg_inliner *e, const tg_node *atom);       /* declared, or printed in the text; NULL */
const tg_type *tg_type_of_atom(tg_inliner *e, const tg_node *atom);     /* inferred if need be; NULL: not known, or e->failed */
/* A value that a declaration of @p type takes: writes a binding that makes infer-types compare them, if they may differ.
 * NULL after an error. */
const tg_static *tg_static_declare(tg_inliner *e, tg_out *out, const tg_static *v, const tg_var *like, const tg_type *type, tg_span at);
/* Can a value at run time stand for both branches' results, where they differ? */
bool tg_can_join(const tg_static *a, const tg_static *b);
/* One value for both branches of an if: what differs goes through it. NULL after an error. */
const tg_static *tg_join(tg_inliner *e, const tg_frame *f, const tg_static *otherwise, tg_out *out, const tg_var *like);

void tg_env_put(tg_inliner *e, tg_env *env, const tg_var *v, const tg_static *value);
const tg_static *tg_env_get(tg_inliner *e, const tg_env *env, const tg_node *atom);     /* NULL after an error */

/* ---- resolve_match.c ---- */
/* The arm that takes @p v, its variables bound in @p env; NULL after an error. */
const tg_node *tg_resolve_match(tg_inliner *e, tg_out *out, tg_env *env, const tg_node *match, const tg_static *v);

/* ---- inline_loops.c ---- */
const tg_loop_shape *tg_shape_of(tg_inliner *e, const tg_static *fn);
/* Can the call be a loop? False without an error when a carried value does not exist at run time. */
bool tg_can_loop(const tg_loop_shape *shape, uint32_t n, const tg_static *const *arg);
bool tg_start_loop(tg_inliner *e, const tg_node *call, const tg_static *fn, const tg_static *const *arg);
bool tg_is_own_loop(const tg_unit *unit, const tg_static *fn);
const tg_static *tg_continue_loop(tg_inliner *e, tg_out *out, const tg_var *like, const tg_node *call, const tg_static *const *arg);
const tg_static *tg_finish_loop(tg_inliner *e, const tg_static *result);    /* pops the frame; the loop's value where it was called */

/* ---- inline_calls.c ---- */
bool tg_push_frame(tg_inliner *e, tg_frame f);
tg_out *tg_new_out(tg_inliner *e, tg_unit *unit);
bool tg_too_deep(tg_inliner *e, const tg_node *at);     /* one more if or loop passes the limit: an error then */

#endif
