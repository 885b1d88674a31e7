/* code.h: compiled functions: registers, instructions, and what instructions refer to. Made by compile*.c, executed by
 * run.c. */
#ifndef TG_EVAL_CODE_H
#define TG_EVAL_CODE_H

#include "ir/module.h"

typedef union tg_reg { int64_t i; uint64_t u; double d; float f; } tg_reg;

enum tg_opcode {
#define TG_OP(name, uses, kind) TG_OP_##name,
#include "opcodes.def"
#undef TG_OP
    TG_NOPS
};

enum tg_op_use { TG_USE_TO = 1, TG_USE_FROM = 2, TG_USE_B = 4, TG_USE_C = 8, TG_USE_D = 16 };
enum tg_op_kind { TG_KIND_PURE, TG_KIND_READ, TG_KIND_FIXED };
typedef struct tg_op_info { const char *name; uint8_t uses, kind; } tg_op_info;
extern const tg_op_info tg_op_infos[TG_NOPS];

typedef struct tg_ins {
    uint16_t op, x;
    uint32_t a, b, c, d;
    union { int64_t i; const void *p; } k;
} tg_ins;

/* A check that may fail: where it stands and what it is about. */
typedef struct tg_trap {
    const tg_node *at;              /* for the place; may be NULL */
    const char *what;               /* FAIL: the whole message; else the name of what is checked */
    uint32_t dim;
} tg_trap;

/* An allocation whose size is known only when it is reached: its memory is kept and grown. */
typedef struct tg_grow { uint32_t slot; const tg_trap *trap; } tg_grow;

#define TG_NO_REG UINT32_MAX
#define TG_NO_EXTENT (-1)           /* value of an extent's register when the caller gave no shape */

/* ---- a call ---- */
enum tg_arg_kind { TG_ARG_POINTER, TG_ARG_INT, TG_ARG_FLOAT, TG_ARG_TENSOR };

/* An argument as the caller writes it; for arrays the registers of the extents and the element type follow. */
typedef struct tg_site_arg {
    enum tg_arg_kind kind;
    uint32_t reg;                   /* FLOAT: a double */
    DLDataType dtype;
    uint32_t ndim;
    const uint32_t *dim;
} tg_site_arg;

typedef struct tg_site {
    const tg_node *at;
    const tg_name *name;
    const tg_func *callee;
    enum tg_convention { TG_CALL_PLAIN, TG_CALL_PACKED, TG_CALL_LOWERED } convention;
    DLDataType result;              /* dtype of the call's value; bits 0: none */
    uint32_t nargs;
    const tg_site_arg *arg;
    uint32_t values, tcodes, begin, end;    /* LOWERED: registers */
    size_t memory; /* offset in the frame of what the call needs: tg_arg[], then DLTensors and extents */
} tg_site;

/* ---- a function ---- */
typedef struct tg_prog_param {
    const tg_var *var;
    const tg_buffer *buffer;        /* NULL: a scalar or an untyped pointer */
    uint32_t reg;
    const uint32_t *dim;            /* per dimension: the register of the argument's extent */
    const uint32_t *stride;         /* NULL: compact */
    int64_t elem_offset;            /* constant, or 0 */
    int64_t size_bytes;             /* when the shape is constant; else -1 */
    struct tg_pointee *known;           /* while compiling: what is known of the pointer */
    bool written;
    bool needs_shape;               /* variables of the function are known from this argument's shape alone */
} tg_prog_param;

/* Memory of fixed size that an activation owns, and the register that holds its address. */
typedef struct tg_region_mem {
    size_t offset, size_bytes;
    const void *fixed;              /* a constant: stands there already */
    uint32_t reg;
} tg_region_mem;

typedef struct tg_prog {
    const tg_func *func;
    const tg_ins *code;
    size_t ncode;
    uint32_t nregs;
    const tg_reg *init;             /* nregs: constants in place */
    uint32_t nparams;
    tg_prog_param *param;
    DLDataType ret;                 /* of T.ret; bits 0: returns nothing */
    bool lowered_packed;            /* has the six parameters of the packed convention */
    size_t memory_bytes;
    size_t nregions;
    const tg_region_mem *region;
    uint32_t ngrow;
    struct tg_frame *free_frames;
} tg_prog;

/* An activation of a function. */
typedef struct tg_frame {
    struct tg_frame *next;
    const tg_prog *prog;
    tg_reg *reg;
    unsigned char *memory;
    struct tg_grown { unsigned char *at; size_t room; size_t entry; } *grown;
} tg_frame;

/* ---- the machine ---- */
typedef struct tg_span_mem { uintptr_t at; size_t size_bytes; bool readonly, dead; } tg_span_mem;

typedef struct tg_vm {
    tg_ctx *cx;
    const tg_module *m;
    tg_map progs;                   /* function -> tg_prog */
    tg_span_mem *mem;               /* live memory; a stack */
    size_t nmem, cmem, last_hit;
    struct tg_block_mem { unsigned char *at; size_t room; bool used; struct tg_block_mem *next; } *blocks;
    uint32_t depth;                 /* of calls */
} tg_vm;

/* An argument as the callee takes it. */
typedef struct tg_arg { enum tg_arg_kind kind; tg_reg v; const DLTensor *t; } tg_arg;

enum { TG_EVAL_MAX_DEPTH = 200 };
#define TG_SIZE_CAP ((int64_t)1 << 58)          /* sizes that do not fit any memory; a sum of 16 still fits int64 */
#define TG_EVAL_MAX_BYTES ((int64_t)1 << 34)    /* memory of one activation or allocation */

/* compile.c: the function, compiled once; NULL after an error. */
tg_prog *tg_compile(tg_vm *vm, const tg_func *f);
/* run.c: false after an error was reported. */
bool tg_run(tg_vm *vm, tg_frame *frame, tg_reg *result);
bool tg_run_fail(tg_vm *vm, const tg_frame *frame, const tg_trap *trap, const char *text);    /* reports; false */
/* One pure instruction on registers 0 to 3: constants are folded by the machine itself. */
void tg_run_pure(const tg_ins *in, tg_reg *reg);
/* invoke.c */
bool tg_invoke(tg_vm *vm, const tg_func *f, const tg_arg *arg, uint32_t nargs, const tg_node *at, tg_reg *result,
               DLDataType *type);
bool tg_invoke_tensors(tg_vm *vm, const tg_func *f, DLTensor *const *tensor, uint32_t n, tg_reg *result,
                       DLDataType *type);
/* *leave is set when the callee reported a failure of its own: the caller then returns -1. */
bool tg_call_site(tg_vm *vm, tg_frame *frame, const tg_site *site, tg_reg *result, bool *leave);
/* memory.c */
size_t tg_mem_add(tg_vm *vm, const void *at, size_t size_bytes, bool readonly);
/* @return the allocation that holds the bytes [at + from, at + to), or NULL; *left: bytes after @p at where it lies in
 * one. */
const tg_span_mem *tg_mem_find(tg_vm *vm, uintptr_t at, int64_t from, int64_t to, int64_t *left);
bool tg_mem_check(tg_vm *vm, tg_frame *frame, const tg_ins *in);
bool tg_mem_alloc(tg_vm *vm, tg_frame *frame, const tg_ins *in);
bool tg_mem_take(tg_vm *vm, tg_frame *frame, const tg_ins *in);
void tg_mem_give(tg_vm *vm, uintptr_t at);
bool tg_struct_get(tg_vm *vm, tg_frame *frame, const tg_ins *in);
bool tg_struct_set(tg_vm *vm, tg_frame *frame, const tg_ins *in);
/* Bytes of one element of an array of tvm_stack_alloca, 0: unknown kind. */
size_t tg_stack_unit(const char *kind);
/* The value of TVM's packed convention: 8 bytes. */
typedef union tg_packed_value { int64_t i; double d; void *p; uint64_t bits; } tg_packed_value;
enum tg_packed_code { TG_CODE_INT = 0, TG_CODE_UINT = 1, TG_CODE_FLOAT = 2, TG_CODE_HANDLE = 3, TG_CODE_NULL = 4,
                      TG_CODE_TENSOR = 7, TG_CODE_NDARRAY = 13 };

/* math.c: functions of real numbers, by intrinsic; n 0: not one of them. float32 results are those of double, rounded,
 * except where float has its own. */
typedef struct tg_math {
    int n;                          /* operands */
    double (*d1)(double);
    double (*d2)(double, double);
    double (*d3)(double, double, double);
    float (*f2)(float, float);
    float (*f3)(float, float, float);
} tg_math;
extern const tg_math tg_maths[TG_NINTRINS];

static inline unsigned char *tg_address(tg_reg r)
{
    return (unsigned char *)(uintptr_t)r.u;
}

#endif
