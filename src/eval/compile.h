/* compile.h: a PrimFunc on its way to instructions. The work is a stack of tasks, so nesting in the text never becomes
 * nesting of C calls: a task is stepped until it is done, and asks for operands by pushing tasks for them. */
#ifndef TG_EVAL_COMPILE_H
#define TG_EVAL_COMPILE_H

#include "build.h"
#include "ir/diag.h"
#include "ir/text.h"

/* What is known of an address while compiling. */
typedef struct tg_pointee {
    int64_t before, after;          /* bytes of its allocation on either side; after -1: not known */
    tg_prog_param *param;           /* derived from this parameter, or NULL */
    bool readonly;
} tg_pointee;

/* A compiled expression: a register a lane. */
typedef struct tg_val {
    uint32_t lanes, reg;            /* lanes 1: reg */
    const uint32_t *regs;
    const tg_pointee *ptr;              /* NULL: nothing known */
} tg_val;

/* A buffer whose memory is known. */
typedef struct tg_view {
    const tg_buffer *buf;
    uint32_t base;                  /* address of element 0: data pointer and elem_offset */
    uint32_t offset;                /* elem_offset */
    const uint32_t *shape, *stride; /* registers */
    uint32_t unit_bytes;            /* of one lane */
    const tg_pointee *ptr;
    tg_item *check;                 /* CHECK_MEMORY of this view, or NULL */
    const tg_scope *scope;
} tg_view;

/* A buffer to be declared: as a view of its data pointer, or of a region of another view. */
typedef struct tg_decl {
    const tg_buffer *buf;
    tg_prog_param *param;           /* parameter of the function */
    const tg_view *source;          /* match_buffer: with the region's offset in elements and its extents */
    uint32_t source_offset;
    const uint32_t *region_extent;  /* of the source's dimensions */
    tg_span span;
} tg_decl;

typedef struct tg_task {
    const tg_node *n;               /* a statement or expression; NULL: decl */
    const tg_decl *decl;
    uint32_t stage;
    uint32_t nlist;                 /* operands asked for so far: stage of them */
    const tg_node *const *list;
    uint32_t label, label2, reg, reg2;
    void *state;
} tg_task;

typedef struct tg_comp {
    tg_ctx *cx;
    tg_vm *vm;
    tg_prog *prog;
    tg_build b;
    tg_task *task;
    size_t ntasks, ctasks;
    tg_val *val;                    /* operands that are ready */
    size_t nvals, cvals;
    tg_dict var;                    /* var id + 1 -> tg_bound */
    tg_dict view;                   /* buffer id + 1 -> tg_view */
    tg_dict memo;                   /* node -> tg_memo: an expression shared within a statement is computed once */
    uint64_t statement;             /* counts them; part of what makes a memo valid */
    tg_region_mem *region;
    size_t nregions, cregions;
    bool failed;
} tg_comp;

typedef struct tg_bound { tg_val v; const tg_scope *scope; const void *owner; } tg_bound;

enum tg_class { TG_CLASS_INT, TG_CLASS_FLOAT, TG_CLASS_DOUBLE };

/* ---- compile.c: tasks ---- */
TG_PRINTF(3, 4) void tg_comp_error(tg_comp *c, tg_span at, const char *fmt, ...);
void tg_want(tg_comp *c, const tg_node *n);                     /* its value will be on the stack; leaves are at once */
void tg_want_stmt(tg_comp *c, const tg_node *n);
void tg_declare(tg_comp *c, const tg_decl *d);
bool tg_want_list(tg_comp *c, tg_task *t);                      /* asks for the next of t->list; false: all are there */
void tg_done(tg_comp *c);                                       /* the task on top is done */
tg_val tg_pop(tg_comp *c);
const tg_val *tg_pop_n(tg_comp *c, size_t n);                   /* in order; good until the next push */
void tg_push(tg_comp *c, tg_val v);
void tg_result(tg_comp *c, tg_task *t, tg_val v); /* value of an expression: pushed, remembered, task done */
void tg_bind(tg_comp *c, const tg_var *v, tg_val value, const void *owner);
const tg_bound *tg_lookup(tg_comp *c, const tg_var *v);         /* NULL: no value here */
const tg_trap *tg_trap_new(tg_comp *c, const tg_node *at, const char *what, uint32_t dim);

/* ---- compile_stmt.c ---- */
void tg_step_stmt(tg_comp *c, tg_task *t);
/* ---- compile_expr.c ---- */
void tg_step_expr(tg_comp *c, tg_task *t);
enum tg_class tg_class_of(DLDataType d);
bool tg_dtype_runs(tg_comp *c, tg_span at, DLDataType d);       /* reports dtypes that cannot be evaluated */
uint32_t tg_wrap(tg_comp *c, uint32_t reg, DLDataType d);       /* integers into range, small floats rounded */
uint32_t tg_convert(tg_comp *c, uint32_t reg, DLDataType from, DLDataType to);
uint32_t tg_arith(tg_comp *c, const tg_node *at, enum tg_kind kind, DLDataType d, uint32_t x, uint32_t y);
uint32_t tg_math_op(tg_comp *c, enum tg_intrin_id id, DLDataType d, int n, uint32_t x, uint32_t y);
uint32_t tg_op1(tg_comp *c, enum tg_opcode op, uint32_t x);
uint32_t tg_op2(tg_comp *c, enum tg_opcode op, uint32_t x, uint32_t y);
/* fn on each lane of at most three operands; scalars stand for all lanes. */
typedef uint32_t (*tg_lane_fn)(tg_comp *c, const tg_node *n, const uint32_t *x);
tg_val tg_each_lane(tg_comp *c, const tg_node *n, uint32_t nargs, const tg_val *arg, tg_lane_fn fn);
bool tg_is_cheap(const tg_node *n, int depth);                  /* better computed than jumped over */
void tg_set_int_range(tg_comp *c, uint32_t reg, DLDataType d);  /* a register that holds some value of the dtype */
/* A choice of which only the taken side is computed: steps the task. A NULL side is the constant of "or" (1) and "and"
 * (0). */
void tg_lazy(tg_comp *c, tg_task *t, const tg_node *cond, const tg_node *then, const tg_node *otherwise);
static inline uint32_t tg_lane(const tg_val *v, uint32_t i) { return v->lanes > 1 ? v->regs[i] : v->reg; }
static inline tg_val tg_scalar(uint32_t reg) { return (tg_val){ 1, reg, NULL, NULL }; }
/* ---- compile_mem.c ---- */
void tg_step_decl(tg_comp *c, tg_task *t);
const tg_view *tg_find_view(tg_comp *c, const tg_buffer *b, tg_span at);    /* NULL: declared first, ask again */
tg_val tg_load_lanes(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index);
void tg_store_lanes(tg_comp *c, const tg_node *n, const tg_view *w, tg_val value, const tg_val *index);
tg_val tg_address_of(tg_comp *c, const tg_node *n, const tg_view *w, const tg_val *index);
/* Fresh memory: of @p elements (a register) times @p unit bytes. */
tg_val tg_allocate(tg_comp *c, const tg_node *at, const char *what, uint32_t elements, int64_t unit, int pattern);
uint32_t tg_region_new(tg_comp *c, size_t size_bytes, const void *fixed);   /* @return its address register */
uint32_t tg_offset_reg(tg_comp *c, const tg_view *w, uint32_t n, const uint32_t *index);    /* in elements */
/* ---- compile_call.c ---- */
void tg_step_call(tg_comp *c, tg_task *t);

#endif
