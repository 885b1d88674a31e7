/* relay_build.h: what the actions of relay.y build with. Calls nested in the text become numbered bindings of the block
 * that is open: the result is in A-normal form (docs/ir.md) as soon as it is read. Lists of any length wait on stacks here,
 * a frame of marks an open list. */
#ifndef TG_RELAY_BUILD_H
#define TG_RELAY_BUILD_H

#include "ir/diag.h"
#include "ir/module.h"
#include "parse.h"
#include "relay_text.h"

/* A literal as written. */
typedef struct tg_relay_number {
    bool is_float, suffixed;
    bool fits32;                    /* integers: within int32 */
    bool f_only;                    /* suffix f without a width */
    DLDataType dtype;               /* by suffix; int32, int64 or float64 without */
    int64_t i;
    double f64;
    float f32;
    bool special;                   /* inf or nan, in words */
} tg_relay_number;

/* A variable in scope. */
typedef struct tg_relay_binding {
    struct tg_relay_binding *outer; /* shadowed by this one */
    const tg_name *name;
    const tg_var *var;              /* NULL: out of scope */
    uint32_t fn_depth, at;          /* functions around; position in the list of those in scope */
    bool pending;                   /* a let whose value is being read: in it the name means the outer one */
} tg_relay_binding;

/* A numbered variable: the last definition, and the block it stands in. */
typedef struct tg_relay_numbered { const tg_var *var; uint32_t block; tg_span span; } tg_relay_numbered;

/* Where the items of an open list begin on each stack. */
typedef struct tg_relay_marks { uint32_t node, type, value, attr, dim, name; } tg_relay_marks;
typedef struct tg_relay_attr { const tg_name *key; const tg_value *value; tg_span span; } tg_relay_attr;
typedef struct tg_relay_dim { int64_t extent; bool wide; } tg_relay_dim;

typedef struct tg_relay_block { uint32_t first, serial, scope; } tg_relay_block;

/* A function being read. */
typedef struct tg_relay_fn {
    const tg_name *name;            /* NULL: an expression */
    tg_span span;
    tg_relay_marks marks;
    uint32_t scope, param, type_param;
} tg_relay_fn;

typedef struct tg_relay {
    tg_relay_text t;                /* first: the scanner's part */
    tg_ctx *cx;
    tg_module *m;
    tg_meta *meta;                  /* NULL: the text has no metadata section */
    struct { bool full; int token; tg_relay_loc at; const void *value; } held;     /* the scanner is a token ahead */
    bool type_only, quiet, failed;
    bool bare;                      /* the text is an expression without def */
    uint32_t resume;                /* after a syntax error: where to go on; 0: nowhere else */
    uint32_t resumed;               /* where that was last */
    const tg_type *type;            /* result of type_only */

    TG_VEC(const tg_node *) node;   /* arguments, fields, arms, sub-patterns */
    TG_VEC(const tg_type *) type_list;
    TG_VEC(const tg_value *) value;
    TG_VEC(const tg_name *) key;    /* beside value in maps */
    uint32_t value_depth;           /* values within values */
    TG_VEC(tg_relay_attr) attr;
    TG_VEC(tg_relay_dim) dim;
    TG_VEC(const tg_name *) name;   /* type parameters */
    TG_VEC(uint32_t) fn_type;       /* where those of the open function types begin */
    uint32_t adt_first_name;        /* ... of the algebraic type */
    TG_VEC(tg_ctor) ctor;
    TG_VEC(tg_relay_marks) marks;

    TG_VEC(const tg_node *) bind;   /* bindings of the open blocks */
    TG_VEC(tg_relay_block) block;
    uint32_t nblocks;               /* serial numbers given */
    TG_VEC(tg_relay_binding *) scope;
    TG_VEC(uint32_t) scope_marks;   /* of the open sequences in brackets */
    TG_VEC(const tg_var *) let;     /* whose values are being read */
    tg_map by_name;                 /* interned name -> innermost tg_relay_binding */
    tg_map numbered;                /* number + 1 -> tg_relay_numbered */
    TG_VEC(tg_relay_fn) fn;
    TG_VEC(const tg_var *) param;
    tg_map type_params;             /* interned name -> how many open functions declare it, and one */

    TG_VEC(const tg_func *) func;   /* finished definitions */
    TG_VEC(const tg_adt *) adt;
    tg_map adts, ctors, funcs;      /* interned name -> tg_adt, its tg_ctor, tg_func */
    TG_VEC(tg_span) adt_uses;
    TG_VEC(const tg_type *) adt_used;

    tg_map needs; /* function -> struct tg_relay_needs, when constants are missing (relay_missing.c) */
    tg_map missing_note;            /* index + 1 -> byte of the comment with its type, and one */
} tg_relay;

bool tg_relay_run(tg_relay *p);     /* scans and parses; ends relay.l */

/* ---- relay.y calls these; l is the place of the phrase ---- */
void tg_relay_version(tg_relay *p, tg_relay_loc l, const tg_name *version);     /* NULL: the text has none */
void tg_relay_syntax_error(tg_relay *p, tg_relay_loc l, bool reported, const char *message);
void tg_relay_recovered(tg_relay *p);

void tg_relay_open(tg_relay *p);                                    /* a list begins */
void tg_relay_open_value(tg_relay *p, tg_relay_loc l);              /* one that is an attribute value */
void tg_relay_push(tg_relay *p, tg_relay_loc l, const tg_node *n);  /* an operand, made an atom */
void tg_relay_push_node(tg_relay *p, const tg_node *n);             /* as it is */
void tg_relay_push_type(tg_relay *p, const tg_type *t);
void tg_relay_push_value(tg_relay *p, const tg_name *key, const tg_value *v);
void tg_relay_push_attr(tg_relay *p, tg_relay_loc l, const tg_name *key, const tg_value *v);
void tg_relay_push_dim(tg_relay *p, tg_relay_loc l, const tg_relay_number *n);  /* NULL: unknown */
void tg_relay_push_name(tg_relay *p, const tg_name *name);

/* expressions: each returns a node, mostly not an atom yet */
const tg_node *tg_relay_literal(tg_relay *p, tg_relay_loc l, const tg_relay_number *n);
const tg_node *tg_relay_truth(tg_relay *p, tg_relay_loc l, bool b);
const tg_node *tg_relay_local(tg_relay *p, tg_relay_loc l, const tg_name *name);
const tg_node *tg_relay_graph(tg_relay *p, tg_relay_loc l, const tg_name *digits);
const tg_node *tg_relay_global(tg_relay *p, tg_relay_loc l, const tg_name *name);
const tg_node *tg_relay_meta(tg_relay *p, tg_relay_loc l, const tg_name *ref);
const tg_node *tg_relay_opname(tg_relay *p, tg_relay_loc l, const tg_name *name);
const tg_node *tg_relay_atom(tg_relay *p, tg_relay_loc l, const tg_node *n);    /* binds what is no atom */
const tg_node *tg_relay_callee(tg_relay *p, tg_relay_loc l, const tg_node *n);     /* an operator's name, or an atom */
const tg_node *tg_relay_call(tg_relay *p, tg_relay_loc l, const tg_node *callee);
const tg_node *tg_relay_call1(tg_relay *p, tg_relay_loc l, const char *op, const tg_node *a);
const tg_node *tg_relay_get(tg_relay *p, tg_relay_loc l, const tg_node *tuple, const tg_name *digits);
const tg_node *tg_relay_tuple(tg_relay *p, tg_relay_loc l);
const tg_node *tg_relay_stack(tg_relay *p, tg_relay_loc l);
void tg_relay_left(tg_relay *p, tg_relay_loc l, const tg_node *a);
const tg_node *tg_relay_infix(tg_relay *p, tg_relay_loc l, const char *op, tg_relay_loc right, const tg_node *b);
const tg_node *tg_relay_ref(tg_relay *p, tg_relay_loc l, int what);     /* operands on the stack */
void tg_relay_attrs_of(tg_relay *p, tg_relay_loc l, const tg_name *ref);        /* meta[relay.attrs.X][i] */

/* blocks and bindings */
void tg_relay_begin_block(tg_relay *p);
const tg_node *tg_relay_end_block(tg_relay *p, tg_relay_loc l, const tg_node *result);
void tg_relay_begin_scope(tg_relay *p);
void tg_relay_end_scope(tg_relay *p);
void tg_relay_begin_let(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type);
void tg_relay_end_let(tg_relay *p, tg_relay_loc l, const tg_node *value);
void tg_relay_define(tg_relay *p, tg_relay_loc l, const tg_name *digits, tg_relay_loc at, const tg_node *value);
void tg_relay_statement(tg_relay *p, tg_relay_loc l, const tg_node *value);
void tg_relay_free_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type);
const tg_node *tg_relay_if(tg_relay *p, tg_relay_loc l, const tg_node *then, const tg_node *otherwise);
void tg_relay_begin_match(tg_relay *p, tg_relay_loc l, const tg_node *of);
const tg_node *tg_relay_end_match(tg_relay *p, tg_relay_loc l, bool partial);
void tg_relay_begin_arm(tg_relay *p);
void tg_relay_end_arm(tg_relay *p, tg_relay_loc l, const tg_node *pattern, const tg_node *body);
const tg_node *tg_relay_pattern_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type);
const tg_node *tg_relay_pattern(tg_relay *p, tg_relay_loc l, const tg_name *ctor,
                                bool tuple); /* sub-patterns on the stack */
const tg_node *tg_relay_wildcard(tg_relay *p, tg_relay_loc l);

/* functions, types, values */
void tg_relay_begin_fn(tg_relay *p, tg_relay_loc l, const tg_name *name);
void tg_relay_type_params(tg_relay *p);                             /* names on the stack */
void tg_relay_param(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type);
const tg_func *tg_relay_end_fn(tg_relay *p, tg_relay_loc l, const tg_type *ret, const tg_node *body);
const tg_node *tg_relay_fn_value(tg_relay *p, tg_relay_loc l, const tg_func *f);
void tg_relay_define_fn(tg_relay *p, tg_relay_loc l, const tg_func *f);
void tg_relay_begin_main(tg_relay *p);
void tg_relay_end_main(tg_relay *p, tg_relay_loc l, const tg_node *body);
void tg_relay_skip_fn(tg_relay *p, tg_relay_loc l, const tg_name *name);
void tg_relay_begin_adt(tg_relay *p, tg_relay_loc l, const tg_name *name);
void tg_relay_ctor(tg_relay *p, tg_relay_loc l, const tg_name *name);
void tg_relay_end_adt(tg_relay *p, tg_relay_loc l, const tg_name *name);

const tg_type *tg_relay_named_type(tg_relay *p, tg_relay_loc l, const tg_name *name, bool bare);
const tg_type *tg_relay_tensor_type(tg_relay *p, tg_relay_loc l, const tg_name *dtype);
const tg_type *tg_relay_tuple_type(tg_relay *p);
const tg_type *tg_relay_fn_type(tg_relay *p, const tg_type *ret);
void tg_relay_begin_fn_type(tg_relay *p);

const tg_value *tg_relay_number_value(tg_relay *p, tg_relay_loc l, const tg_relay_number *n);
const tg_value *tg_relay_word_value(tg_relay *p, const tg_name *word);
const tg_value *tg_relay_global_value(tg_relay *p, const tg_name *name);
const tg_value *tg_relay_meta_value(tg_relay *p, tg_relay_loc l, const tg_name *ref);
const tg_value *tg_relay_list_value(tg_relay *p);
const tg_value *tg_relay_map_value(tg_relay *p);
const tg_value *tg_relay_object_value(tg_relay *p, const tg_name *type);
const tg_value *tg_relay_raw_object(tg_relay *p, const tg_name *text);

/* ---- between the .c files of the reader ---- */
typedef struct tg_relay_note { const char *type, *layer; size_t type_len, layer_len; } tg_relay_note;
/* The annotation in the comment at byte @p at of the text (0: none): texts within the source, NULL where absent. */
tg_relay_note tg_relay_read_note(tg_relay_text *t, uint32_t at);
const tg_type *tg_relay_note_type(tg_relay *p, uint32_t at);        /* NULL: none or unreadable; no diagnostics */
bool tg_relay_note_dtype(tg_relay *p, uint32_t at, DLDataType *out);    /* of a scalar's type */
const tg_name *tg_relay_note_layer(tg_relay *p, uint32_t at);
void tg_relay_end_type_params(tg_relay *p, uint32_t from);

void tg_relay_wrong(tg_relay *p, tg_span at, const char *fmt, ...) TG_PRINTF(3, 4);    /* none when quiet */
tg_relay_marks tg_relay_mark(const tg_relay *p);
tg_relay_marks tg_relay_close(tg_relay *p); /* the innermost open list; its items are still there */
void tg_relay_drop(tg_relay *p, tg_relay_marks m);                  /* ... until this */
const tg_value *tg_relay_take_attrs(tg_relay *p, uint32_t from);
void tg_relay_bind_name(tg_relay *p, const tg_var *var, bool pending);
void tg_relay_unbind(tg_relay *p, uint32_t mark);
tg_var *tg_relay_new_var(tg_relay *p, tg_relay_loc l, const tg_name *name, const tg_type *type);
const tg_node *tg_relay_numbered_node(tg_relay *p, tg_relay_loc l, const tg_node *n, int64_t number);

/* Where the program ends and the metadata section begins; *json: where its JSON begins, 0 without one. */
uint32_t tg_relay_program_end(tg_relay_text *t, uint32_t *json);

/* relay_missing.c: constants that the text lacks become parameters (relay-text.md section 6). */
void tg_relay_find_missing(tg_relay *p);                            /* before parsing: which function needs which */
const tg_node *tg_relay_missing_constant(tg_relay *p, tg_relay_loc l, uint64_t index);
void tg_relay_missing_args(tg_relay *p, tg_relay_loc l, const tg_name *callee);    /* pushes what the callee needs */
void tg_relay_missing_params(tg_relay *p, const tg_name *fn);       /* appends them to p->param */

#endif
