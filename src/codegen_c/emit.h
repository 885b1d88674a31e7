/* emit.h: what the files of this folder share. One context goes to all of them: where text goes, names, facts, options.
 *
 * Printing decides nothing about the program. What it does decide is how C must be written so that it means the same:
 * where a cast, a bracket or a wider type is needed, and which helper functions a file must carry. */
#ifndef TG_EMIT_H
#define TG_EMIT_H

#include "codegen.h"
#include "ir/diag.h"
#include "ir/source.h"
#include "ir/vec.h"
#include "ir/walk.h"

/* Precedence of C's operators, weakest first. An operand is bracketed when its own precedence is below what its place asks. */
enum c_prec {
    C_ANY, C_COMMA, C_ASSIGN, C_TERNARY, C_OR, C_AND, C_BITOR, C_BITXOR, C_BITAND, C_EQUAL, C_LESS, C_SHIFT, C_ADD, C_MUL,
    C_UNARY, C_POSTFIX
};

/* Headers a file turns out to need. */
enum c_need { C_MATH = 1, C_STRING = 2, C_STDBOOL = 4, C_STDDEF = 8, C_STDLIB = 16, C_STDIO = 32, C_PACKED = 64, C_CHECK = 128, C_DOT = 256,
              C_LANES = 512 };

/* Bounds of an integer; INT64_MIN and INT64_MAX stand for "no bound". */
typedef struct c_range { int64_t lo, hi; } c_range;
/* Bounds of a float; nan: it may also be one. */
typedef struct c_real { double lo, hi; bool nan; } c_real;

/* Pointers that are not plain arrays: the stacks and structs of the packed convention. */
enum c_object { C_DATA, C_VALUES, C_CODES, C_SHAPE, C_TENSORS };

/* What is known of a variable, by its id. */
typedef struct c_var {
    const tg_var *same;         /* the variable of which this is another name (a parameter and its buffer's pointer) */
    const tg_name *name;        /* in C; NULL while it is out of scope */
    DLDataType elem;            /* pointers: the elements C sees; code kDLOpaqueHandle: void */
    uint8_t object;             /* enum c_object */
    uint8_t voted;              /* elem comes from accesses (2) or from calls (1) */
    bool used, read, stored;    /* mentioned at all; loaded from; stored through, here or by a callee */
    bool constant;              /* points into a constant or an input */
    bool escapes;               /* its address is passed on */
    bool mixed;                 /* seen as elements of several types */
    bool local;                 /* an array of the function itself */
    bool pending;               /* its first store declares it */
    bool single;                /* printed as a plain variable instead of an array of one */
    bool index;                 /* a loop variable, or a let made of such */
    bool measured;              /* c_update.c has looked at it */
    bool bounded;               /* the elements lie in range: always (local), or where it updates itself (others) */
    c_range range;              /* integers: of the value; pointers: of the elements */
    c_real real;                /* floats */
    bool fixed;                 /* the elements are those of constants, which lie in range */
    const tg_tensor *data;      /* ALLOC_CONST of integers: its numbers */
    int64_t times;              /* how often the allocation is entered */
} c_var;

/* A function as it will stand in C. */
typedef struct c_fn {
    const tg_func *f;
    const tg_name *name;
    bool is_main, is_public, is_packed;
    bool returns;               /* a value of type ret */
    bool gives_status;          /* the body returns a status although the function is declared void */
    bool has_let;               /* some expression holds a LET */
    DLDataType ret;
    int state;                  /* of the walk along calls: 0 unseen, 1 open, 2 done */
    TG_VEC(const tg_node *) calls;
    TG_VEC(const tg_node *) lets;   /* LET_STMTs of pointers */
} c_fn;

/* A function that stands elsewhere. */
typedef struct c_extern {
    const tg_name *name;
    const tg_type *ret;
    uint32_t nargs;
    struct c_extern_arg { bool pointer, constant, open; DLDataType dtype; } *arg;
    bool known;                 /* declared by a standard header */
} c_extern;

/* A constant table. */
typedef struct c_table { const tg_tensor *tensor; const tg_name *name; tg_span span; } c_table;

/* An input or output of the model. */
typedef struct c_io {
    const tg_name *member;      /* of the struct */
    const char *macro;          /* middle of the macros' names */
    const char *text;           /* the name in the model */
    const tg_buffer *buf;
    int64_t *dim;
    int64_t elements, size_bytes;
    bool stored;                /* an input that the model writes */
} c_io;

/* A memory pool that main takes as a parameter, in modules that TVM has planned: c_pool.c. */
typedef struct c_pool_part { int64_t offset; const tg_tensor *data; const char *name; const tg_name *member; } c_pool_part;
typedef struct c_pool {
    bool constant;
    int64_t size_bytes, offset; /* offset: of a workspace pool in the workspace */
    const tg_name *name;        /* of the constant struct */
    uint32_t nparts;
    c_pool_part *part;
} c_pool;

typedef struct c_model {
    const c_fn *main;           /* NULL: kernels alone */
    uint32_t nin, nout;
    c_io *in, *out;
    bool has_workspace;
    int64_t workspace_bytes;
    uint32_t npools;
    c_pool *pool;
} c_model;

/* Helper functions a file may carry: c_helper.c. */
enum c_helper {
    C_H_MIN, C_H_MAX, C_H_DIV, C_H_MOD, C_H_FLOORDIV, C_H_FLOORMOD, C_H_SHL, C_H_SHR,  /* by dtype of the operands */
    C_H_TO_INT,                                                             /* float to integer, by both */
    C_H_POPCOUNT, C_H_CLZ,
    C_H_HALF_TO_FLOAT, C_H_FLOAT_TO_HALF, C_H_ROUND_HALF, C_H_BF16_TO_FLOAT, C_H_FLOAT_TO_BF16, C_H_ROUND_BF16,
    C_H_Q_MULTIPLY, C_H_Q_MULTIPLY_AXIS,
    C_H_BITS,                                                               /* reinterpret, by both */
    C_H_LOAD, C_H_STORE,                                                    /* through bytes, by element */
    C_H_CALL_PACKED,
    C_H_DOT_TILE, C_H_TAP_TILE,                                             /* by elements of x */
    C_NHELPERS
};
typedef struct c_helper_use { enum c_helper kind; DLDataType to, from; const tg_name *name; } c_helper_use;

typedef struct tg_emit {
    tg_ctx *cx;
    const tg_module *m;
    const tg_options *opt;
    const tg_files *files;
    tg_text *to;                /* where text goes now */
    bool failed;                /* an error was reported */
    const char *prefix, *macro; /* tvmgen_net, TVMGEN_NET */
    unsigned need;              /* enum c_need, of the file being made */

    tg_text functions;          /* printed, waiting for the rest of their file */
    bool packed_used, math_used;

    /* names: c_names.c */
    tg_map cell;                /* interned C name -> its cell */
    uint32_t epoch;             /* function being printed */
    struct c_cell **visible;    /* local names in scope */
    size_t nvisible, cvisible;

    /* facts: c_scan.c */
    c_var *var;
    uint32_t nvars;
    TG_VEC(c_fn *) fn;          /* to print, callees first */
    tg_map fn_of;               /* tg_func -> c_fn */
    tg_map symbol;              /* interned name -> tg_func */
    TG_VEC(c_extern *) externs;
    tg_map extern_of;
    TG_VEC(c_table) table;
    tg_map table_of;            /* tensor, and hash of one -> index + 1 */
    TG_VEC(DLDataType) vector;      /* vector types that the file declares (c_vector.c) */
    TG_VEC(c_helper_use) helper;
    c_model model;

    /* while a function is printed */
    c_fn *now;
    unsigned level;             /* of indentation */
    size_t line;                /* where the current line begins in the text */
    unsigned depth;             /* of nesting */
    unsigned budget;            /* nodes the current statement may still print */
    unsigned index;             /* > 0: inside an index or a loop bound, where no overflow can happen */
    const tg_var *self;         /* buffer that the current statement updates in place, known to stay in its bounds */
    const char *lane;           /* name of the lane variable of a vector statement */
    int64_t lane_at;            /* or the lane itself; -1: none */
    bool inverted;              /* the condition being printed is negated */
    const char *held;           /* array that holds the value of the vector store being printed */
    const tg_name *ret_value, *ret_code;    /* slots for results of packed calls */
    tg_map hoisted;             /* node -> name of the variable that holds it */
} tg_emit;

/* ---- c_names.c ---- */
void c_reserve(tg_emit *e, const char *name);                               /* no name of ours may be this one */
const tg_name *c_global(tg_emit *e, const char *hint, size_t n, const char *otherwise);
const tg_name *c_local(tg_emit *e, const char *hint, size_t n, const char *otherwise);
size_t c_scope_open(tg_emit *e);
void c_scope_close(tg_emit *e, size_t mark);
const char *c_clean(tg_emit *e, const char *hint, size_t n, const char *otherwise);    /* an identifier, not yet unique */
const char *c_upper(tg_emit *e, const char *name);
bool c_is_reserved(const char *name);
bool c_is_identifier(const char *name);

/* ---- c_type.c ---- */
c_var *c_var_of(tg_emit *e, const tg_var *v);
const char *c_storage(DLDataType d);                        /* in memory; NULL when C has no such type */
const char *c_type(tg_emit *e, DLDataType d, tg_span at);   /* of a value; reports a type that C does not have */
const char *c_element(tg_emit *e, DLDataType d, tg_span at);    /* of an element; the same */
const char *c_limit(DLDataType d, bool upper);              /* "INT8_MAX" */
const char *c_short_name(DLDataType d);                     /* "int32", "float", for names of helpers */
bool c_is_half(DLDataType d);                               /* float16 or bfloat16 */
static inline bool c_is_signed(DLDataType d) { return d.code == kDLInt; }
static inline bool c_is_narrow(DLDataType d) { return (d.code == kDLInt || d.code == kDLUInt) && d.bits > 1 && d.bits < 32; }
bool c_same_storage(DLDataType a, DLDataType b);
bool c_widens(const tg_node *n);                            /* a cast that C would make by itself without loss */
const tg_node *c_without_widening(const tg_node *n);

/* ---- c_literal.c ---- */
void c_put_int(tg_emit *e, DLDataType d, int64_t v, bool exact, int outer);  /* exact: the literal alone has d's width */
void c_put_float(tg_emit *e, DLDataType d, double v, int outer);
void c_put_string(tg_emit *e, const tg_name *s);
void c_put_comment(tg_emit *e, const char *text, size_t n); /* text that cannot end a comment */
size_t c_hex_float(char *to, double v, bool is_float);      /* finite; no NUL; at most 32 bytes */
void c_put_shape(tg_emit *e, DLDataType d, uint32_t ndim, const int64_t *dim);   /* float32[1,2] */

/* ---- c_range.c ---- */
c_range c_range_of(tg_emit *e, const tg_node *n);           /* of an integer or bool expression */
c_range c_raw_range(tg_emit *e, const tg_node *n);          /* of an addition, subtraction, product before it wraps */
c_range c_unwrapped_range(tg_emit *e, const tg_node *n);    /* the same when no sum inside wraps either */
c_real c_real_of(tg_emit *e, const tg_node *n);
c_range c_dtype_range(DLDataType d);
bool c_fits(c_range r, DLDataType d);
c_range c_range_join(c_range a, c_range b);
c_range c_range_add(c_range a, c_range b);
c_range c_range_scale(c_range a, int64_t times);            /* a added up 0 to @p times times */
bool c_is_ring(const tg_node *n);                           /* ADD, SUB, MUL */

/* ---- c_scan.c, c_flow.c, c_update.c ---- */
bool c_scan(tg_emit *e);                                    /* functions to print and facts about them */
bool c_follow_pointers(tg_emit *e);                         /* const, element types, functions that stand elsewhere */
void c_bind_range(tg_emit *e, const tg_var *v, const tg_node *value);
const tg_var *c_root(const tg_node *pointer);               /* the variable a pointer expression starts from, or NULL */
const c_fn *c_callee(tg_emit *e, const tg_node *call);      /* function of the module, or NULL */
bool c_is_pointer(const tg_node *n);
void c_scan_updates(tg_emit *e, c_fn *fn);                  /* which integer accumulators cannot overflow */
bool c_reads_itself(tg_emit *e, const tg_node *store);      /* the value loads from the buffer */
const tg_node *c_update_part(tg_emit *e, const tg_node *store);  /* A[i] = A[i] + part: the part; NULL otherwise */

/* ---- c_expr.c, c_access.c, c_call.c ---- */
void c_operator(tg_emit *e, const char *op);                    /* " op ", on a new line when this one is long */
void c_comma(tg_emit *e);                                       /* ", " likewise */
void c_next_line(tg_emit *e);                                   /* goes on below, indented */
size_t c_next_column(const tg_emit *e);                         /* where that starts */
/* A piece printed into a text of its own, as if it stood behind @p column columns: to see its length, or because what stands
 * before it is printed later. */
typedef struct c_aside { tg_text text; tg_text *to; size_t line; } c_aside;
void c_aside_begin(tg_emit *e, c_aside *a, size_t column);
void c_aside_end(tg_emit *e, c_aside *a);
enum { C_COLUMNS = 100 };                                       /* of the emitted text */
void c_expr(tg_emit *e, const tg_node *n, int outer);
void c_operand(tg_emit *e, const tg_node *n, const tg_node *other, int outer);  /* of an operator whose other operand is known */
void c_assigned(tg_emit *e, const tg_node *n, DLDataType to);   /* right side of =, an argument, a returned value */
void c_unrounded(tg_emit *e, const tg_node *n, DLDataType to);  /* the same, of a half that the context rounds */
void c_index(tg_emit *e, const tg_node *n, int outer);          /* an index, extent or loop bound */
void c_condition(tg_emit *e, const tg_node *n);
bool c_is_index(tg_emit *e, const tg_node *n);                  /* made of loop variables and constants */
void c_call_expr(tg_emit *e, const tg_node *n, int outer);
void c_call_function(tg_emit *e, const tg_node *n);             /* name(arguments) of call_extern */
void c_pointer(tg_emit *e, const tg_node *n, DLDataType elem, bool constant, int outer);
void c_load(tg_emit *e, const tg_node *n, int outer);
void c_store(tg_emit *e, const tg_node *n);                     /* one scalar store, a whole line */
void c_address(tg_emit *e, const tg_node *load, int outer);
bool c_simple(tg_emit *e, const tg_node *n);                    /* fit to be written twice */
void c_object_field(tg_emit *e, const tg_node *n);              /* of tvm_struct_get and tvm_struct_set */
void c_put_lane(tg_emit *e);                                    /* [lane] */
bool c_enter(tg_emit *e, const tg_node *n);                     /* counts nodes and nesting; false: give up */
void c_leave(tg_emit *e);

/* ---- c_helper.c ---- */
const char *c_helper(tg_emit *e, enum c_helper kind, DLDataType to, DLDataType from);  /* its name; the file will carry it */
void c_reserve_helpers(tg_emit *e);
void c_put_helpers(tg_emit *e);

/* ---- c_dot.c ---- */
void c_put_dot(tg_emit *e, const char *name, bool is_unsigned);  /* the text of dot_tile */
typedef struct c_difference { char letter; const char *text[2]; } c_difference;
void c_put_template(tg_emit *e, const char *text, const char *name, bool is_unsigned, const c_difference *list, size_t n);
void c_put_dot_headers(tg_emit *e);                             /* of the machines' intrinsics */
void c_dot_call(tg_emit *e, const tg_node *n);
void c_put_inline(tg_emit *e);                                  /* TIRGEN_INLINE */

/* ---- c_tap.c ---- */
void c_put_tap(tg_emit *e, const char *name, bool is_unsigned); /* the text of tap_tile */

/* ---- c_lanes.c ---- */
void c_reserve_lanes(tg_emit *e);
void c_put_lanes(tg_emit *e);                                   /* the functions */
enum c_lane_loop { C_LANES_NONE, C_LANES_WIDE, C_LANES_NARROW };    /* narrow: with a loop of 8 inside, and 8 lanes at least */
enum c_lane_loop c_is_lane_loop(tg_emit *e, const tg_node *loop);   /* can be written with them */
void c_put_lane_store(tg_emit *e, const tg_node *loop);         /* its body */

/* ---- c_stmt.c, c_func.c, c_const.c ---- */
void c_line(tg_emit *e);                                        /* begins a line */
void c_body(tg_emit *e, const tg_node *n);                      /* statements at the current level, without braces */
void c_function(tg_emit *e, c_fn *fn);
void c_signature(tg_emit *e, const c_fn *fn);                   /* without the final ; or { */
void c_name_params(tg_emit *e, const c_fn *fn);                 /* in the scope that is open */
bool c_is_model_kernel(const tg_emit *e, const c_fn *fn);
void c_put_signature(tg_emit *e, const c_fn *fn);               /* of named parameters */
/* "const float *restrict x"; promise: with restrict where the function makes that promise. */
const char *c_param_text(tg_emit *e, const c_fn *fn, uint32_t i, bool promise);
void c_put_task(tg_emit *e, c_fn *fn);                          /* c_task.c */
/* c_vector.c */
void c_put_vector_store(tg_emit *e, const tg_node *n);
void c_lanes_to_array(tg_emit *e, const tg_node *value, int64_t lanes, const char *array);
void c_put_vector_types(tg_emit *e);
void c_describe(tg_emit *e, const c_fn *fn);                    /* the comment above a function */
void c_collect_tables(tg_emit *e);                              /* and names them */
void c_needs_of_tables(tg_emit *e);
void c_put_tables(tg_emit *e);
void c_put_rows(tg_emit *e, const tg_tensor *t);                /* its numbers */
const tg_name *c_table_name(tg_emit *e, const tg_tensor *t);

/* ---- c_model.c, c_pool.c, c_entry.c, c_header.c, c_unit.c ---- */
void c_model_count(tg_emit *e);                                 /* inputs and outputs, as far as names tell */
bool c_model_make(tg_emit *e);
bool c_pools_make(tg_emit *e, const tg_value *list);
void c_pools_name(tg_emit *e);
bool c_has_constant_pools(const tg_emit *e);
void c_put_pools(tg_emit *e);
void c_pass_pools(tg_emit *e, const char *workspace);           /* ", pool, pool" of the call of main */
void c_put_entry(tg_emit *e);                                   /* <prefix>_run_with_workspace */
void c_put_workspace_unit(tg_emit *e);
void c_put_ffi_unit(tg_emit *e);                                 /* <prefix>_ffi.c */
void c_put_header(tg_emit *e);
void c_put_cmake(tg_emit *e);
void c_put_align_macro(tg_emit *e);
void c_put_origin(tg_emit *e, const char *what);                /* "what in file. Made by tirgen." and the end of the comment */

#endif
