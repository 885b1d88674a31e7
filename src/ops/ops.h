/* ops.h: what an operator is: a row of ops.def, a type rule, and the blocks it computes as. */
#ifndef TG_OPS_H
#define TG_OPS_H

#include "ir/module.h"
#include "ir/diag.h"

/* How an operator may be fused (fuse_ops.c). */
enum tg_fusion {
    TG_FUSE_ELEMWISE,       /* out[i] from in[i] alone, same shape */
    TG_FUSE_BROADCAST,      /* the same with broadcasting */
    TG_FUSE_INJECTIVE,      /* each output element from one element each: reshape, transpose, pad, concatenate */
    TG_FUSE_REDUCE,         /* reductions, pooling: may take injective producers */
    TG_FUSE_OUT,            /* convolution, dense: elementwise consumers join its epilogue */
    TG_FUSE_TUPLE,          /* several outputs from one kernel: stays alone */
    TG_FUSE_OPAQUE          /* stays alone */
};

typedef struct tg_op tg_op;
typedef struct tg_lower tg_lower;

/* Result type of @p call (operands typed already), or NULL after an error that points at the call and the argument. */
typedef const tg_type *(*tg_type_rule)(tg_ctx *cx, const tg_op *op, const tg_node *call);
/* Appends the blocks that compute @p call. lo->in: one buffer per tensor operand (tuples flattened, in order);
 * lo->out: one per result field. Says nothing about speed. False after an error. */
typedef bool (*tg_lower_rule)(tg_lower *lo, const tg_op *op, const tg_node *call);

struct tg_op {
    const char *name;
    const char *args;               /* "data weight": what operands are called, in messages and in emitted code; "data..." any number,
                                     * "bias?" may be left out, "shape#" must be a constant because the result's shape depends on it */
    int nargs;                      /* from args; -1: any number */
    const char *attrs;              /* "strides:ints=[1,1] channels:int?=None units:int!" : name, kind (? also None), default; ! has none */
    const char *dtypes;             /* element types it takes, in words (dtypes.def) */
    enum tg_fusion fusion;
    tg_type_rule type;
    tg_lower_rule lower;            /* NULL: never lowered (folded, rewritten or a bookkeeping identity) */
    uint32_t nattrs;                /* parsed from attrs at context creation */
    const struct tg_op_attr {
        const tg_name *name;
        const tg_value *otherwise;  /* default; NULL when required */
        bool required;
        bool none;                  /* may be None */
        enum tg_attr_kind { TG_ATTR_INT, TG_ATTR_BOOL, TG_ATTR_FLOAT, TG_ATTR_STR, TG_ATTR_DTYPE, TG_ATTR_INTS, TG_ATTR_FLOATS,
                            TG_ATTR_LIST, TG_ATTR_ANY } kind;
    } *attr;
    int nrequired;                  /* operands that must be there; the rest of nargs may be left out */
};

const tg_op *tg_op_find(tg_ctx *cx, const tg_name *name);       /* NULL when there is no row */
const tg_op *tg_op_at(tg_ctx *cx, size_t i);                    /* rows in order; NULL past the end: for generated docs */
const char *tg_op_suggest(tg_ctx *cx, const tg_name *name);     /* the nearest row's name for "did you mean", or NULL */

/* Name of operand @p i in the row: "weight"; of tuples and any number: the last name. */
const tg_name *tg_op_arg_name(tg_ctx *cx, const tg_op *op, uint32_t i);
/* A dyn.* call whose shape operands (marked # in the row) are RCONST, as the static operator; a call in the form of an old version as
 * later ones print it; @p call itself otherwise. */
const tg_node *tg_op_static(tg_ctx *cx, const tg_node *call);

/* Type of one call: argument count, unknown and missing attributes, then the row's rule. Reports errors. */
const tg_type *tg_op_infer(tg_ctx *cx, const tg_node *call);

/* Attributes of a call with the row's defaults filled in. */
const tg_value *tg_attr(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);
int64_t tg_attr_int(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);        /* None: 0 */
bool tg_attr_bool(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);
double tg_attr_float(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);
const char *tg_attr_str(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);    /* None: "" */
bool tg_attr_is_none(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name);
/* A list of ints into out[max]; a scalar counts as a list of one. @return the count, or -1 after an error at the call. */
int tg_attr_ints(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, int64_t *out, int max);

/* ---- building blocks: lower.c. One PrimFunc holds the blocks of one fused group. ---- */
struct tg_lower {
    tg_ctx *cx;
    const tg_node *call;            /* for spans */
    DLDataType index;               /* int32 when every tensor has < 2^31 elements, else int64 */
    uint32_t nin, nout;
    const tg_buffer *const *in;     /* of a scalar constant: a rank-0 stand-in, never loaded; its value is in imm */
    const tg_node *const *imm;      /* per input: the value of a scalar constant, else NULL */
    const tg_buffer *const *out;
    struct tg_prim_builder *prim;   /* collects statements and allocations */
};

/* A buffer of @p type's shape for a value between two blocks, allocated by the root block. */
const tg_buffer *tg_lower_temp(tg_lower *lo, const char *hint, const tg_type *type);

/* One block: axes first (its loops, outermost first), then init, then exactly one store. The index variables have dtype lo->index.
 *     tg_block_build *b = tg_begin(lo, "T_matmul");
 *     const tg_node *i = tg_spatial(b, "i", m), *j = tg_spatial(b, "j", n), *k = tg_reduce(b, "k", kk);
 *     tg_begin_init(b, tg_float(cx, d, 0));
 *     tg_end(b, out, mul_add, 2, i, j);
 */
typedef struct tg_block_build tg_block_build;
tg_block_build *tg_begin(tg_lower *lo, const char *name);
const tg_node *tg_spatial(tg_block_build *b, const char *hint, int64_t extent);
const tg_node *tg_reduce(tg_block_build *b, const char *hint, int64_t extent);
void tg_begin_init(tg_block_build *b, const tg_node *value);    /* init: out[index] = value */
void tg_block_annotate(tg_block_build *b, const char *key, const tg_value *v);
/* out[index...] = value. n = out->ndim index nodes. */
void tg_end_at(tg_block_build *b, const tg_buffer *out, const tg_node *value, uint32_t n, const tg_node *const *index);

/* Blocks whose work is sequential (sorting, scans, scatter): the body is any statement, may hold loops and store several times.
 * Buffers of the block's own: tg_block_local(). */
void tg_end_body(tg_block_build *b, const tg_node *body);
const tg_buffer *tg_block_local(tg_block_build *b, const char *hint, DLDataType d, int64_t extent);
/* A value computed once before the store; @return the reference to use. */
const tg_node *tg_block_let(tg_block_build *b, const char *hint, const tg_node *value);

/* Shorthands for index and value arithmetic; constants fold. */
const tg_node *tg_ix(tg_lower *lo, int64_t v);                  /* constant of dtype lo->index */
const tg_node *tg_add(tg_ctx *cx, const tg_node *a, const tg_node *b);
const tg_node *tg_sub(tg_ctx *cx, const tg_node *a, const tg_node *b);
const tg_node *tg_mul(tg_ctx *cx, const tg_node *a, const tg_node *b);
const tg_node *tg_addi(tg_ctx *cx, const tg_node *a, int64_t c);
const tg_node *tg_muli(tg_ctx *cx, const tg_node *a, int64_t c);
const tg_node *tg_floordivi(tg_ctx *cx, const tg_node *a, int64_t c);
const tg_node *tg_floormodi(tg_ctx *cx, const tg_node *a, int64_t c);

/* Shapes of operands for type rules. */
const tg_type *tg_arg_tensor(tg_ctx *cx, const tg_node *call, uint32_t i);      /* operand's tensor type, or NULL after an error */
/* The whole PrimFunc of a fused Relay function (attribute Primitive=1): parameters, then outputs. */
tg_func *tg_lower_primitive(tg_ctx *cx, const tg_func *relay);

#endif
