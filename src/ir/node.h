/* node.h: the node of all three levels, its builders. Nodes never change once built: they can be shared, and
 * "did this change?" is a pointer comparison. A fact that one pass needs goes into an array indexed by id. */
#ifndef TG_NODE_H
#define TG_NODE_H

#include "source.h"
#include "value.h"

enum tg_kind {
#define TG_KIND(name, text, nkids) TG_##name,
#include "kinds.def"
#undef TG_KIND
    TG_NKINDS
};

extern const struct tg_kind_info { const char *text; int nkids; } tg_kind_info[TG_NKINDS];

/* A variable of either level. Identity is the pointer; the name is for people (and, for parameters, the interface). */
typedef struct tg_var {
    const tg_name *name;
    const tg_type *type;            /* may be NULL in Relay before infer-types */
    uint32_t id;                    /* dense */
    bool numbered;                  /* Relay: printed %0, %1 … instead of let %name */
    tg_span span;
} tg_var;

/* A typed view of memory (TIR). */
typedef struct tg_buffer {
    const tg_name *name;
    const tg_var *data;             /* its pointer, type TG_T_PTR */
    DLDataType dtype;
    uint32_t ndim, id;
    const tg_node *const *shape;    /* ndim integer expressions, usually INT */
    const tg_node *const *strides;  /* ndim, or NULL: compact row-major; in elements */
    const tg_node *elem_offset;     /* or NULL: 0 */
    const tg_name *scope;           /* "global" unless said */
    int32_t align;                  /* bytes; 0: default (64) */
    int32_t offset_factor;          /* 0: not given */
    bool auto_broadcast;            /* buffer_type="auto" */
    tg_span span;
} tg_buffer;

enum tg_for_kind { TG_FOR_SERIAL, TG_FOR_PARALLEL, TG_FOR_VECTORIZED, TG_FOR_UNROLLED, TG_FOR_THREAD };

typedef struct tg_loop {
    const tg_var *var;
    enum tg_for_kind kind;
    const tg_name *thread;          /* of TG_FOR_THREAD */
    const tg_value *annotations;    /* dict or NULL */
} tg_loop;

typedef struct tg_alloc_info {
    const tg_var *var;              /* the pointer, type TG_T_PTR */
    DLDataType dtype;
    const tg_name *scope;
    const tg_value *annotations;
    const tg_tensor *tensor;        /* ALLOC_CONST: the data. NULL there: the text had lost values (see missing) */
    int64_t missing;
    uint32_t ndim;                  /* ALLOC_CONST: extents */
    const int64_t *extent;
} tg_alloc_info;

typedef struct tg_attr_stmt { const tg_name *key; } tg_attr_stmt;

/* A Relay call: of an operator (op set), or of operand 0 (op NULL). */
typedef struct tg_rcall_info {
    const tg_name *op;              /* "nn.conv2d" */
    const tg_value *attrs;          /* dict in the order of the text, or NULL; defaults are left out, as printed */
    const tg_name *layer;           /* source name from span= comments ("/0/Conv"), or NULL; not part of equality */
} tg_rcall_info;

/* A pattern of match. op: constructor, or NULL; var: bound variable, or NULL (wildcard / tuple). */
typedef struct tg_pattern { const tg_name *ctor; const tg_var *var; bool tuple; } tg_pattern;

enum tg_iter_kind { TG_ITER_SPATIAL, TG_ITER_REDUCE, TG_ITER_SCAN, TG_ITER_OPAQUE };

/* What a block holds. The node's operands are, in order: per iterator dom_min, dom_extent, binding; predicate;
 * per region of reads, writes, then match sources: min, extent of each dimension; init (if has_init); body. */
typedef struct tg_block {
    const tg_name *name;
    uint32_t niters, nreads, nwrites, nallocs, nmatches;
    bool has_init;
    const struct tg_block_iter { const tg_var *var; enum tg_iter_kind kind; } *iter;
    const tg_buffer *const *read;   /* buffer of each read region */
    const tg_buffer *const *write;
    const tg_buffer *const *alloc;
    const struct tg_block_match { const tg_buffer *view, *source; } *match;
    const tg_value *annotations;
} tg_block;

struct tg_node {
    uint16_t kind;                  /* enum tg_kind; selects the member of u */
    uint16_t flags;
    uint32_t nkids;
    uint32_t id;                    /* dense; the index into side tables */
    tg_span span;                   /* in the loaded text; TG_NOWHERE for nodes that a pass made */
    const tg_type *type;
    union {
        int64_t i;
        double f;
        const tg_name *name;
        const tg_var *var;
        const tg_buffer *buf;
        const tg_loop *loop;
        const tg_alloc_info *alloc;
        const tg_attr_stmt *attr;
        const tg_block *block;
        const tg_tensor *tensor;
        const tg_rcall_info *call;
        const tg_pattern *pattern;
        const struct tg_func *func;
        const void *any;
    } u;
    const tg_node *kid[];           /* operands, in evaluation order */
};

/* ---- building: the general form, then the shapes that occur. All in the keep arena. ---- */
const tg_node *tg_node_new(tg_ctx *cx, enum tg_kind kind, tg_span span, const tg_type *type, const void *payload,
                           uint32_t nkids, const tg_node *const *kid);
/* The same node with other operands (count unchanged unless the kind takes any number); @p n itself if none differ. */
const tg_node *tg_node_with(tg_ctx *cx, const tg_node *n, uint32_t nkids, const tg_node *const *kid);
const tg_node *tg_node_with_type(tg_ctx *cx, const tg_node *n, const tg_type *type);
const tg_node *tg_node_at(tg_ctx *cx, const tg_node *n, tg_span span);      /* copy with another place */

tg_var *tg_var_new(tg_ctx *cx, const tg_name *name, const tg_type *type);
/* Compact buffer of constant extents in scope "global" with a fresh data pointer; shape constants have dtype @p index. */
tg_buffer *tg_buffer_new(tg_ctx *cx, const tg_name *name, DLDataType d, uint32_t ndim, const int64_t *dim, DLDataType index);
tg_buffer *tg_buffer_copy(tg_ctx *cx, const tg_buffer *b);                  /* new identity, same fields: change before use */
bool tg_buffer_dims(const tg_buffer *b, int64_t *dim);                      /* false unless all extents are INT */
bool tg_buffer_elements(const tg_buffer *b, int64_t *out);

/* expressions */
const tg_node *tg_int(tg_ctx *cx, DLDataType d, int64_t v);                 /* wrapped to d; vectors broadcast */
const tg_node *tg_float(tg_ctx *cx, DLDataType d, double v);                /* rounded to d */
const tg_node *tg_const(tg_ctx *cx, DLDataType d, double v);                /* INT or FLOAT after d */
const tg_node *tg_str(tg_ctx *cx, const tg_name *s);
const tg_node *tg_strz(tg_ctx *cx, const char *s);
const tg_node *tg_var_ref(tg_ctx *cx, const tg_var *v);                     /* VAR, or RVAR for a Relay variable (tensor, tuple, func type) */
const tg_node *tg_rvar(tg_ctx *cx, const tg_var *v, tg_span span);
const tg_node *tg_bin(tg_ctx *cx, enum tg_kind kind, const tg_node *a, const tg_node *b);   /* comparisons give bool; a broadcast is added */
const tg_node *tg_not(tg_ctx *cx, const tg_node *a);
const tg_node *tg_select(tg_ctx *cx, const tg_node *c, const tg_node *a, const tg_node *b);
const tg_node *tg_cast(tg_ctx *cx, DLDataType d, const tg_node *a);         /* a itself if it has d; lanes follow a */
const tg_node *tg_load(tg_ctx *cx, const tg_buffer *b, uint32_t n, const tg_node *const *index);
const tg_node *tg_call(tg_ctx *cx, const char *intrin, const tg_type *type, uint32_t n, const tg_node *const *arg);    /* type NULL: by intrins.def */
const tg_node *tg_call1(tg_ctx *cx, const char *intrin, const tg_node *a);
const tg_node *tg_call2(tg_ctx *cx, const char *intrin, const tg_node *a, const tg_node *b);
const tg_node *tg_call3(tg_ctx *cx, const char *intrin, const tg_node *a, const tg_node *b, const tg_node *c);

/* statements */
const tg_node *tg_store(tg_ctx *cx, const tg_buffer *b, const tg_node *value, uint32_t n, const tg_node *const *index);
const tg_node *tg_for(tg_ctx *cx, enum tg_for_kind kind, const tg_var *v, const tg_node *min, const tg_node *extent, const tg_node *body);
const tg_node *tg_for_with(tg_ctx *cx, const tg_loop *loop, const tg_node *min, const tg_node *extent, const tg_node *body);
const tg_node *tg_if(tg_ctx *cx, const tg_node *c, const tg_node *then, const tg_node *otherwise);  /* otherwise may be NULL */
const tg_node *tg_seq(tg_ctx *cx, uint32_t n, const tg_node *const *s);     /* flattens nested SEQ; one statement: itself */
const tg_node *tg_nop(tg_ctx *cx);                                          /* the empty SEQ */
const tg_node *tg_evaluate(tg_ctx *cx, const tg_node *e);
const tg_node *tg_let_stmt(tg_ctx *cx, const tg_var *v, const tg_node *value, const tg_node *body);
const tg_node *tg_decl_buffer(tg_ctx *cx, const tg_buffer *view, const tg_node *body);     /* at the place of the body */

/* Of an ALLOC_CONST whose text was cut: "constant w, Tensor[(20, 20), float32]: the text has lost 199 of its 400 values". */
const char *tg_lost_text(tg_ctx *cx, const tg_alloc_info *a);

/* blocks, taken apart and put together */
typedef struct tg_region { const tg_buffer *buf; const tg_node *const *min, *const *extent; } tg_region;   /* buf->ndim each */
typedef struct tg_block_parts {
    const tg_name *name;
    tg_span span;
    uint32_t niters;
    struct tg_iter_part { const tg_var *var; enum tg_iter_kind kind; const tg_node *min, *extent, *binding; } *iter;
    const tg_node *predicate;       /* NULL when built: true */
    uint32_t nreads, nwrites, nallocs, nmatches;
    tg_region *read, *write;
    const tg_buffer **alloc;
    struct tg_match_part { const tg_buffer *view; tg_region source; } *match;
    const tg_value *annotations;
    const tg_node *init;            /* or NULL */
    const tg_node *body;
} tg_block_parts;
const tg_node *tg_block_new(tg_ctx *cx, const tg_block_parts *p);
tg_block_parts tg_block_open(tg_ctx *cx, const tg_node *block);             /* arrays are fresh copies: may be edited */
static inline const tg_node *tg_block_body(const tg_node *b) { return b->kid[b->nkids - 1]; }
static inline const tg_node *tg_block_init(const tg_node *b) { return b->u.block->has_init ? b->kid[b->nkids - 2] : NULL; }
/* Reads and writes as the body (and init) show them, one region a buffer: the smallest box when the block iterators are
 * fixed, whole dimensions where that is not plain. Buffers allocated inside are left out. */
void tg_infer_regions(tg_ctx *cx, tg_block_parts *p);

/* questions */
static inline bool tg_is_int_const(const tg_node *n, int64_t v) { return n->kind == TG_INT && n->u.i == v; }
bool tg_is_stmt(const tg_node *n);
bool tg_is_relay(const tg_node *n);
static inline DLDataType tg_dtype_of(const tg_node *n) { return n->type->dtype; }

/* intrinsics */
enum tg_result { TG_RESULT_SAME, TG_RESULT_BOOL, TG_RESULT_I32, TG_RESULT_PTR, TG_RESULT_VOID, TG_RESULT_GIVEN, TG_RESULT_SECOND };
enum tg_effect { TG_EFFECT_PURE, TG_EFFECT_READS, TG_EFFECT_EFFECT };
enum tg_intrin_id {
#define TG_INTRIN(name, nargs, result, effect) TG_I_##name,
#include "intrins.def"
#undef TG_INTRIN
    TG_NINTRINS
};
typedef struct tg_intrin { const char *name; int nargs; enum tg_result result; enum tg_effect effect; enum tg_intrin_id id; } tg_intrin;
const tg_intrin *tg_intrin_find(tg_ctx *cx, const tg_name *name);           /* NULL when unknown */
static inline bool tg_is_call(const tg_node *n, const char *intrin) { return n->kind == TG_CALL && tg_name_is(n->u.name, intrin); }
bool tg_has_effect(tg_ctx *cx, const tg_node *expr);                        /* some call in it is not PURE or READS */

/* Relay */
const tg_node *tg_rcall(tg_ctx *cx, const tg_name *op, const tg_value *attrs, tg_span span, uint32_t n, const tg_node *const *arg);
const tg_node *tg_rapply(tg_ctx *cx, const tg_node *callee, tg_span span, uint32_t n, const tg_node *const *arg);
const tg_node *tg_rbind(tg_ctx *cx, const tg_var *v, const tg_node *value);
const tg_node *tg_rblock(tg_ctx *cx, uint32_t nbinds, const tg_node *const *bind, const tg_node *result);
const tg_node *tg_rconst(tg_ctx *cx, const tg_tensor *t);
const tg_node *tg_rget(tg_ctx *cx, const tg_node *tuple, int64_t index);
const tg_node *tg_rtuple(tg_ctx *cx, uint32_t n, const tg_node *const *field);
const tg_node *tg_rglobal(tg_ctx *cx, const tg_name *name, const tg_type *type);
static inline bool tg_is_op_call(const tg_node *n, const char *op) { return n->kind == TG_RCALL && n->u.call->op && tg_name_is(n->u.call->op, op); }
static inline bool tg_is_atom(const tg_node *n) { return n->kind == TG_RVAR || n->kind == TG_RCONST || n->kind == TG_RGLOBAL || n->kind == TG_RCTOR || n->kind == TG_RFN; }

#endif
