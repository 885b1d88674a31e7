/* build.h: instructions being put together: registers with what is known of them, values computed once, loop-invariant
 * instructions placed before their loop. */
#ifndef TG_EVAL_BUILD_H
#define TG_EVAL_BUILD_H

#include "code.h"

/* A scratch hash table from pointers or numbers; the newest entry of a key wins. */
typedef struct tg_dict { uint64_t *key; void **val; size_t n, cap; } tg_dict;
void *tg_dict_get(const tg_dict *t, uint64_t key);
void tg_dict_put(tg_ctx *cx, tg_dict *t, uint64_t key, void *val);    /* val may be NULL: forgets */

typedef struct tg_item { tg_ins ins; struct tg_item *next; } tg_item;
typedef struct tg_list { tg_item *first, *last; } tg_list;

/* What is known of a register. Integers: lo <= value <= hi. */
typedef struct tg_reg_info {
    int64_t lo, hi;
    const tg_item *def;             /* the pure instruction that wrote it, or NULL */
    uint32_t level;                 /* loops around the place where it is written */
    bool constant;
} tg_reg_info;

/* Code that runs under one condition: what it computed is known until it ends. */
typedef struct tg_scope {
    struct tg_scope *outer;
    tg_list *list;
    bool open;
} tg_scope;

/* A loop: invariant instructions go to before, the rest to body. */
typedef struct tg_loop_code { tg_scope before, inside; tg_list before_list, body; } tg_loop_code;

typedef struct tg_build {
    tg_ctx *cx;
    tg_reg_info *info;
    tg_reg *value;                  /* of constants */
    size_t nregs, cregs;
    tg_list top;
    tg_scope *scope;
    tg_loop_code **loop;            /* open loops, outermost first */
    size_t nloops, cloops;
    struct tg_known **known;        /* values computed: hash chains */
    size_t nknown, cknown;
    tg_dict constants;             /* bits, mixed -> register + 1 */
    uint32_t nlabels;
    size_t nitems;
    tg_scope *function;
} tg_build;

void tg_build_init(tg_build *b, tg_ctx *cx);
uint32_t tg_build_reg(tg_build *b);                             /* a fresh register, written at the present level */
uint32_t tg_build_param(tg_build *b);                           /* a register that is set before the function starts */
void tg_build_range(tg_build *b, uint32_t reg, int64_t lo, int64_t hi);
uint32_t tg_build_int(tg_build *b, int64_t v);
uint32_t tg_build_bits(tg_build *b, tg_reg v);                  /* a constant of any class */
uint32_t tg_build_op(tg_build *b, enum tg_opcode op, uint32_t rb, uint32_t rc, uint32_t rd,
                     int64_t k);                                /* PURE: the result */
tg_item *tg_build_ins(tg_build *b, tg_ins ins);                 /* in the present scope */
uint32_t tg_build_label(tg_build *b);
void tg_build_place(tg_build *b, uint32_t label);
void tg_build_jump(tg_build *b, enum tg_opcode op, uint32_t ra, uint32_t rb, uint32_t label);
void tg_build_check(tg_build *b, tg_ins ins);                   /* dropped when the same check stands already */
tg_scope *tg_build_enter(tg_build *b);                          /* a condition begins */
void tg_build_leave(tg_build *b);
void tg_build_loop_begin(tg_build *b);
/* Ends the loop: what was found invariant goes before it, then head, then the body; the caller appends the rest. */
void tg_build_loop_end(tg_build *b, const tg_ins *head, size_t nhead);
/* Unused values go, jumps find their targets. @return the instructions. */
tg_ins *tg_build_finish(tg_build *b, size_t *n);

static inline bool tg_build_is_const(const tg_build *b, uint32_t reg, int64_t *v)
{
    *v = b->value[reg].i;
    return b->info[reg].constant;
}

#endif
