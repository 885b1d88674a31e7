/* tvmscript_elab.h: giving the syntax tree its meaning. Private to the tvmscript_*.c files.
 *
 * An expression of the tree is evaluated bottom-up, without recursion, to a tg_val: a Python value, a TIR expression, a buffer,
 * or a form. A form is a call whose meaning depends on where it stands (T.grid in a for, T.match_buffer right of a =); the
 * statement around it takes it apart. Statements push items; at the end of a suite the items fold from the last to the first,
 * which is what gives allocations, lets and other scopes without a suite of their own the rest of the suite as body. */
#ifndef TG_TVMSCRIPT_ELAB_H
#define TG_TVMSCRIPT_ELAB_H

#include "tvmscript_tree.h"
#include "ir/text.h"

enum tg_word_id {
    TG_W_IR_MODULE, TG_W_MODULE_ATTRS, TG_W_GLOBAL_INFOS, TG_W_PRIM_FUNC, TG_W_FUNC_ATTR,
    TG_W_HANDLE, TG_W_DTYPE, TG_W_VAR, TG_W_LET_NAME,
    TG_W_BUFFER, TG_W_MATCH_BUFFER, TG_W_ALLOC_BUFFER, TG_W_DECL_BUFFER, TG_W_ALLOCATE, TG_W_ALLOCATE_CONST, TG_W_PREFLATTENED,
    TG_W_LOAD, TG_W_STORE,
    TG_W_BLOCK, TG_W_INIT, TG_W_WHERE, TG_W_REGIONS, TG_W_BLOCK_ATTR, TG_W_AXIS, TG_W_REMAP,
    TG_W_LOOP, TG_W_GRID,
    TG_W_LET_STMT, TG_W_ATTR, TG_W_ASSERT, TG_W_EVALUATE, TG_W_LAUNCH_THREAD, TG_W_ENV_THREAD, TG_W_HINT,
    TG_W_BINARY, TG_W_ARITH, TG_W_CEILDIV, TG_W_ABS, TG_W_NOT, TG_W_CAST, TG_W_SELECT, TG_W_CHOOSE, TG_W_RAMP, TG_W_BROADCAST,
    TG_W_SHUFFLE, TG_W_LET, TG_W_LIMIT, TG_W_STRING, TG_W_RANGE, TG_W_ITER_VAR, TG_W_TARGET, TG_W_SAME, TG_W_PY_FLOAT,
    TG_W_INTRIN, TG_W_LLVM, TG_W_CALL_INTRIN,
    TG_W_OTHER              /* no row: an object constructor of family I (I.ConstantInfo), or unknown */
};

enum tg_family { TG_FAMILY_PY = 1, TG_FAMILY_T, TG_FAMILY_I, TG_FAMILY_R, TG_FAMILY_TVM };

typedef struct tg_word { enum tg_family family; const char *name; enum tg_word_id id; int arg; } tg_word;

enum tg_val_kind {
    TG_VAL_ERROR,           /* reported already: whatever is made from it stays silent */
    TG_VAL_NONE,
    TG_VAL_BOOL,            /* Python's; mag */
    TG_VAL_INT,             /* Python's; mag, negative */
    TG_VAL_FLOAT,           /* Python's; f */
    TG_VAL_STR,             /* name */
    TG_VAL_ELLIPSIS,
    TG_VAL_LIST, TG_VAL_TUPLE,      /* n items */
    TG_VAL_DICT,            /* n items: key, value, … */
    TG_VAL_SLICE,           /* 3 items */
    TG_VAL_LAMBDA,          /* only its syntax */
    TG_VAL_EXPR,            /* expr; w.loop if it is a loop's variable */
    TG_VAL_BUFFER,          /* w.buf */
    TG_VAL_ACCESS,          /* w.buf, n items: a load, a store's target or a region, as the context wants */
    TG_VAL_TYPE,            /* type; called: written with (), so that it may also declare a variable */
    TG_VAL_FAMILY,          /* family: T, I, tvm … */
    TG_VAL_WORD,            /* w.word, and name as written: a name of the table that nobody called yet */
    TG_VAL_FORM,            /* w.word, name, n items: the arguments */
    TG_VAL_GLOBALS,         /* the module's class */
    TG_VAL_GLOBAL,          /* name: a function of the module */
    TG_VAL_META,            /* metadata */
    TG_VAL_META_KEY,        /* name */
    TG_VAL_VALUE,           /* value: an object or tensor of the metadata */
    TG_VAL_METHOD           /* name; the object is item[0] */
};

struct tg_el_loop { const tg_node *min, *extent; };

typedef struct tg_val tg_val;
struct tg_val {
    uint8_t kind;
    bool negative, called;
    bool quoted;                    /* EXPR: a variable that a shape in quotes has defined */
    bool sticky;                    /* ACCESS: a scalar of 0.25, assignable by its name */
    uint32_t n;
    const tg_name *key;             /* of a keyword argument */
    const tg_syn *at;
    union {
        uint64_t mag;
        double f;
        const tg_name *name;
        const tg_val *item;
        const tg_node *expr;
        const tg_type *type;
        const tg_value *value;
        enum tg_family family;
    } u;
    union { const tg_word *word; const tg_buffer *buf; const struct tg_el_loop *loop; } w;
    const tg_name *name;            /* FORM, WORD: as written, without the family */
};

/* A statement, or the head of one whose body is what follows in the suite. */
typedef struct tg_el_item {
    const tg_node *stmt;            /* NULL: a head */
    enum tg_kind kind;
    uint32_t n;
    const void *payload;
    const tg_node *const *kid;
    const tg_var *pointer;          /* ALLOCATE, LET_STMT: may get a buffer for p[i], see tg_el_pointer_buffer() */
    tg_span span;
} tg_el_item;

/* The block being filled: a T.block, or the function itself as the root block. */
typedef struct tg_el_block {
    struct tg_el_block *outer;
    bool root;
    const tg_name *name;
    tg_span span;
    TG_VEC(struct tg_iter_part) iters;
    const tg_node *predicate;
    bool has_reads, has_writes;
    TG_VEC(tg_region) reads;
    TG_VEC(tg_region) writes;
    TG_VEC(const tg_buffer *) allocs;
    TG_VEC(struct tg_match_part) matches;
    const tg_value *annotations;
    const tg_node *init;
} tg_el_block;

typedef struct tg_el_param { tg_var *var; const tg_buffer *buf; bool typed; const tg_name *name; } tg_el_param;

typedef struct tg_el_frame { const tg_syn *s, *next; } tg_el_frame;
typedef struct tg_el_cell { tg_val val; bool bound; } tg_el_cell;
typedef struct tg_el_undo { tg_el_cell *cell; tg_el_cell was; } tg_el_undo;

typedef struct tg_elab {
    tg_ctx *cx;
    tg_script *p;
    const tg_map *words;
    tg_map families;                /* name of a prefix -> enum tg_family */
    size_t nhints;                  /* of p->hints that hold here */
    tg_meta *meta;                  /* of the module at hand, or NULL */
    const tg_name *class_name;
    tg_map globals;                 /* name of a function of the class -> its DEF */
    tg_map renamed;                 /* and -> its name in the module in the end */
    bool old;                       /* 0.11 and earlier: a / b of integers truncates */
    unsigned loops;                 /* around the statement at hand, which break and continue may mean */
    bool bare_functions;            /* 0.7: the functions of a class have no decorators */
    bool tirx;                      /* 0.24 and later */
    bool sticky_scalars;            /* 0.25 and later: x: T.int32 = e is a scalar buffer */
    bool bad;                       /* an error was reported */

    TG_VEC(tg_val) stack;           /* of the evaluation */
    TG_VEC(tg_el_frame) frames;
    tg_map names;                   /* name -> tg_el_cell */
    TG_VEC(tg_el_undo) undo;
    TG_VEC(tg_el_item) items;

    TG_VEC(tg_el_param) params;     /* of the function at hand */
    const tg_value *attrs;
    const tg_type *ret;
    tg_el_block *block;
    bool saw_block;
    tg_map threads;                 /* id + 1 of a variable of T.env_thread -> its axis */
    tg_map declared;                /* name -> tg_type: variables whose declaration follows their use in a quoted shape */
    tg_map pointer_buffer;          /* id + 1 of a pointer -> the buffer that p[i] means */

    const tg_type *int32, *float32, *boolean, *handle;
    const tg_name *global;          /* "global" */
} tg_elab;

/* ---- values (tvmscript_value.c) ---- */
tg_val tg_el_value(tg_elab *e, const tg_syn *s);
void tg_el_error(tg_elab *e, const tg_syn *at, const char *fmt, ...) TG_PRINTF(3, 4);
tg_val tg_el_wrong(tg_elab *e, const tg_syn *at, const char *fmt, ...) TG_PRINTF(3, 4);    /* reports; gives an ERROR value */
tg_val tg_el_of_expr(const tg_syn *at, const tg_node *expr);        /* NULL: an ERROR value */
const char *tg_el_what(const tg_val *v);                            /* "a buffer", for messages */
tg_span tg_el_span(const tg_elab *e, const tg_syn *s);
void tg_el_bind(tg_elab *e, const tg_name *name, tg_val v);
size_t tg_el_mark(const tg_elab *e);
void tg_el_leave(tg_elab *e, size_t mark);                          /* unbinds what was bound since */
const tg_word *tg_el_word(const tg_elab *e, enum tg_family family, const tg_name *name);
const tg_map *tg_el_words(tg_ctx *cx);

/* Arguments of a form by position and keyword. @p names: "shape dtype data=…", one word a parameter, those up to '|' required.
 * Missing ones are NULL. False after an error: a name that is not there, one given twice, too many. */
bool tg_el_args(tg_elab *e, const tg_val *form, const char *names, const tg_val **slot);
bool tg_el_int(tg_elab *e, const tg_val *v, const char *what, int64_t *out);        /* a constant integer */
const tg_name *tg_el_str(tg_elab *e, const tg_val *v, const char *what);
bool tg_el_dtype(tg_elab *e, const tg_val *v, DLDataType *out);                     /* "float32x4" or T.float32x4 */
const tg_type *tg_el_result_type(tg_elab *e, const tg_val *v);      /* the same and "void", "handle" (no pointer type), T.handle(…) */
bool tg_el_is_handle(const tg_type *t);                             /* a pointer, typed or not */
uint32_t tg_el_list(const tg_val *v, const tg_val **item);          /* items of a list or tuple; any other value is one item */

/* ---- expressions and their types (tvmscript_expr.c) ---- */
const tg_node *tg_el_expr(tg_elab *e, const tg_val *v);             /* literals: int32, float32, bool. NULL after an error */
const tg_node *tg_el_expr_as(tg_elab *e, const tg_val *v, DLDataType d);    /* cast where the type differs */
const tg_node *tg_el_cond(tg_elab *e, const tg_val *v);             /* must be bool */
bool tg_el_is_true(tg_elab *e, const tg_val *v);                    /* a constant truth, in all lanes */
const tg_node *tg_el_index(tg_elab *e, const tg_val *v);            /* an integer */
const tg_node *tg_el_literal(tg_elab *e, const tg_val *v, DLDataType d);    /* a Python number as a constant of d */
bool tg_el_is_number(const tg_val *v);                              /* Python bool, int or float */
tg_val tg_el_binary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a, const tg_val *b);
tg_val tg_el_arith(tg_elab *e, const tg_syn *at, enum tg_kind kind, const tg_val *a, const tg_val *b);
tg_val tg_el_unary(tg_elab *e, const tg_syn *at, enum tg_op op, const tg_val *a);
tg_val tg_el_chain(tg_elab *e, const tg_syn *at, const tg_val *operand, uint32_t n);
tg_val tg_el_choice(tg_elab *e, const tg_syn *at, const tg_val *c, const tg_val *a, const tg_val *b);
/* Brings two expressions to one type (tvmscript-tir.md 23.1); false after an error. */
bool tg_el_agree(tg_elab *e, const tg_syn *at, const tg_node **a, const tg_node **b);
const tg_node *tg_el_cast(tg_elab *e, const tg_node *a, DLDataType d);      /* constants fold */
/* The extent of what runs from @p min to @p end: the right operand where end is min + extent, else the difference. */
const tg_node *tg_el_extent(tg_elab *e, const tg_syn *at, const tg_node *min, const tg_node *end);

/* ---- calls that are expressions (tvmscript_call.c) ---- */
tg_val tg_el_call(tg_elab *e, const tg_syn *at, const tg_val *callee, const tg_val *arg, uint32_t n);

/* ---- buffers (tvmscript_buffer.c) ---- */
tg_val tg_el_attr(tg_elab *e, const tg_syn *at, const tg_val *object, const tg_name *name);     /* A.data, A.shape */
tg_val tg_el_subscript(tg_elab *e, const tg_syn *at, const tg_val *base, const tg_val *item, uint32_t n);
const tg_node *tg_el_load(tg_elab *e, const tg_val *access);
const tg_node *tg_el_store(tg_elab *e, const tg_syn *at, const tg_val *access, const tg_val *value);
bool tg_el_region(tg_elab *e, const tg_val *v, tg_region *out);
/* A buffer from the arguments of a form, named @p name. @p data: its pointer if given from outside. */
tg_buffer *tg_el_buffer(tg_elab *e, const tg_val *form, const tg_name *name, const tg_var *data, const tg_buffer *source);
const tg_val *tg_el_buffer_data(tg_elab *e, const tg_val *form);    /* the data= of a form, or NULL */
tg_val tg_el_pointer_access(tg_elab *e, const tg_syn *at, const tg_val *pointer, const tg_val *index);  /* of a pointer or a buffer, flat */
const tg_buffer *tg_el_pointer_buffer(tg_elab *e, const tg_var *pointer);
tg_val tg_el_of_buffer(const tg_syn *at, const tg_buffer *b);
tg_val tg_el_quoted(tg_elab *e, const tg_val *text);                /* "n + 1": the expression in a string; new names become variables */

/* ---- attribute values (tvmscript_attr.c) ---- */
const tg_value *tg_el_attr_value(tg_elab *e, const tg_val *v);      /* NULL after an error */
const tg_value *tg_el_attr_dict(tg_elab *e, const tg_val *v);

/* ---- statements (tvmscript_stmt.c) ---- */
const tg_node *tg_el_suite(tg_elab *e, const tg_syn *suite);        /* a scope of its own */
void tg_el_statements(tg_elab *e, const tg_syn *suite);             /* pushes items */
/* tvmscript_jump.c: a FOR or WHILE whose body may hold break_loop and continue_loop, without them. */
const tg_node *tg_el_without_jumps(tg_elab *e, const tg_node *loop);
const tg_node *tg_el_close(tg_elab *e, size_t floor);               /* folds the items from floor on */
void tg_el_push(tg_elab *e, const tg_node *stmt);                   /* NULL: nothing */
void tg_el_open(tg_elab *e, tg_span span, enum tg_kind kind, const void *payload, uint32_t n, const tg_node *const *kid);
void tg_el_loop(tg_elab *e, const tg_syn *s);                       /* tvmscript_loop.c */

/* ---- heads (tvmscript_heads.c) ---- */
const tg_name *tg_el_target(tg_elab *e, const tg_syn *target);      /* a single name, or NULL after an error */
void tg_el_bind_failed(tg_elab *e, const tg_syn *target);           /* after an error in its definition a name stays silent */
tg_var *tg_el_new_var(tg_elab *e, const tg_syn *target, const tg_type *type);
void tg_el_bind_var(tg_elab *e, const tg_syn *target, const tg_var *var);
void tg_el_let(tg_elab *e, const tg_syn *target, const tg_var *existing, const tg_type *type, const tg_val *value);
void tg_el_assert(tg_elab *e, const tg_syn *at, const tg_val *cond, const tg_val *text);
bool tg_el_open_form(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared);   /* false: opens nothing */
void tg_el_assign_form(tg_elab *e, const tg_syn *target, const tg_val *form, const tg_type *declared);  /* target = form */
void tg_el_scalar_buffer(tg_elab *e, const tg_syn *s, DLDataType d);
bool tg_el_scalar_store(tg_elab *e, const tg_syn *s, const tg_name *name, const tg_val *value);     /* false: name is no such scalar */

/* ---- blocks (tvmscript_block.c) ---- */
void tg_el_with_block(tg_elab *e, const tg_syn *at, const tg_val *form, const tg_syn *suite);
void tg_el_with_init(tg_elab *e, const tg_syn *at, const tg_syn *suite);
bool tg_el_block_stmt(tg_elab *e, const tg_val *form);              /* T.where, T.reads …; false: none of these */
void tg_el_axis(tg_elab *e, const tg_syn *target, const tg_val *form);
const tg_node *tg_el_root_block(tg_elab *e, const tg_el_block *b, const tg_node *body);

/* ---- functions and modules (tvmscript_module.c) ---- */
const tg_type *tg_el_return_type(tg_elab *e, const tg_syn *def);

#endif
