/* build.h: what the families of operators share: errors, shapes, expressions, indices. Private to src/ops. */
#ifndef TG_OPS_BUILD_H
#define TG_OPS_BUILD_H

#include "ops.h"
#include "ir/text.h"

typedef const tg_node *tg_expr;

/* Every rule that a row of ops.def names. */
#define TG_OP(name, args, attrs, fusion, type, lower)                                   \
    const tg_type *tg_type_##type(tg_ctx *cx, const tg_op *op, const tg_node *call);    \
    bool tg_lower_##lower(tg_lower *lo, const tg_op *op, const tg_node *call);
#include "ops.def"
#undef TG_OP

/* ---- errors: "nn.dense: weight has 3 dimensions", with a note that shows the operand ---- */
const tg_type *tg_op_error(tg_ctx *cx, const tg_node *call, const char *fmt, ...) TG_PRINTF(3, 4);              /* NULL */
const tg_type *tg_arg_error(tg_ctx *cx, const tg_node *call, uint32_t i, const char *fmt, ...) TG_PRINTF(4, 5); /* NULL */
/* A call in the form of TVM 0.6 as later versions print it (old.c); @p call itself otherwise. */
const tg_node *tg_op_current(tg_ctx *cx, const tg_node *call);
const char *tg_operand_text(tg_ctx *cx, const tg_node *n);      /* "%x", "%3", "1.5", "a constant" */

/* ---- types of operands and results ---- */
const tg_type *tg_arg_of_rank(tg_ctx *cx, const tg_node *call, uint32_t i, uint32_t ndim);      /* or NULL after an error */
/* Fields of a tuple operand, all tensors; the operand's type, or NULL after an error. A single tensor is not a tuple. */
const tg_type *tg_arg_tuple(tg_ctx *cx, const tg_node *call, uint32_t i);
bool tg_same_dtype(tg_ctx *cx, const tg_node *call, uint32_t i, uint32_t j);
bool tg_want_float(tg_ctx *cx, const tg_node *call, uint32_t i);
bool tg_want_int(tg_ctx *cx, const tg_node *call, uint32_t i);      /* integers; bool is not one */
const tg_type *tg_tensor_of(tg_ctx *cx, const tg_node *call, DLDataType d, uint32_t ndim, const int64_t *dim);   /* checked product */
const tg_type *tg_like(tg_ctx *cx, const tg_type *t, DLDataType d);                             /* t with another dtype */
/* Unknown, missing and ill-typed attributes. */
bool tg_attrs_check(tg_ctx *cx, const tg_op *op, const tg_node *call);
/* Attribute dtype @p name: the type it names, @p otherwise when it is null. */
DLDataType tg_attr_dtype(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, DLDataType otherwise);
/* Attribute @p name as an axis of @p ndim dimensions, negative ones counted from the end. */
bool tg_attr_axis(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, uint32_t ndim, uint32_t *axis);
bool tg_axis_of(tg_ctx *cx, const tg_node *call, int64_t value, uint32_t ndim, uint32_t *axis);
int tg_attr_floats(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, double *out, int max);    /* count or -1 */
/* Broadcasting of the shapes of operands first..first+n; dims of the result, or false after an error. */
bool tg_broadcast_dims(tg_ctx *cx, const tg_node *call, uint32_t first, uint32_t n, uint32_t *ndim, int64_t *dim, uint32_t *wide);
/* A constant operand's integers (RCONST of rank 0 or 1): the count, or -1 after an error that asks for a constant. */
int tg_const_ints(tg_ctx *cx, const tg_node *call, uint32_t i, int64_t *out, int max);
/* Checked arithmetic on extents from attributes. */
bool tg_mul_fits(int64_t a, int64_t b, int64_t *out);
bool tg_add_fits(int64_t a, int64_t b, int64_t *out);

/* ---- index: up to TG_MAX_NDIM coordinates ---- */
typedef struct tg_at { uint32_t n; tg_expr ix[TG_MAX_NDIM]; } tg_at;
static inline void tg_at_push(tg_at *at, tg_expr e) { at->ix[at->n++] = e; }

int64_t tg_extent(const tg_buffer *b, uint32_t axis);
void tg_lower_wide(tg_lower *lo);                               /* index arithmetic of this operator needs 64 bits */
/* Begins a block (name NULL: the operator's) with one spatial axis for each dimension of @p out. */
tg_block_build *tg_begin_over(tg_lower *lo, const char *name, const tg_buffer *out, tg_at *at);
const char *tg_axis_letter(uint32_t i);                         /* "i", "j", "k", "m" … */
const char *tg_op_short(const char *name);                      /* "nn.conv2d" -> "conv2d" */

/* ---- values. float16 and bfloat16 are computed in float32: loads widen, tg_put() rounds. ---- */
DLDataType tg_compute_dtype(DLDataType d);
tg_expr tg_read(tg_lower *lo, const tg_buffer *b, const tg_at *at);                 /* load, widened */
tg_expr tg_in(tg_lower *lo, uint32_t k, const tg_at *at);                           /* operand k; a scalar constant's value */
tg_expr tg_in0(tg_lower *lo, uint32_t k);                                           /* operand k of rank 0 (or one element) */
tg_expr tg_in_bcast(tg_lower *lo, uint32_t k, const tg_at *at);                     /* index of the result, broadcast */
tg_expr tg_in_raw(tg_lower *lo, uint32_t k, const tg_at *at);                       /* not widened */
void tg_put(tg_block_build *b, const tg_buffer *out, tg_expr value, const tg_at *at);
/* The buffer in which @p out is accumulated: itself, or a float32 temporary that tg_round_into() stores rounded. */
const tg_buffer *tg_accumulator(tg_lower *lo, const char *hint, const tg_buffer *out);
void tg_round_into(tg_lower *lo, const tg_buffer *acc, const tg_buffer *out);
const tg_buffer *tg_temp_of(tg_lower *lo, const char *hint, DLDataType d, uint32_t ndim, const int64_t *dim);
bool tg_copy_block(tg_lower *lo, const char *name, const tg_buffer *from, const tg_buffer *to);     /* same shape */
bool tg_fill_block(tg_lower *lo, const char *name, const tg_buffer *to, tg_expr value);
/* to[...] = from at the same place in row-major order: reshape. */
bool tg_reshape_block(tg_lower *lo, const char *name, const tg_buffer *from, const tg_buffer *to);

/* An operand's value as an index: signed, 64 bits when its type needs them, else 32. tg_index() makes it lo->index. */
tg_expr tg_position(tg_lower *lo, tg_expr value);
tg_expr tg_index(tg_lower *lo, tg_expr position);

/* ---- expressions; integer constants fold ---- */
tg_expr tg_num(tg_ctx *cx, tg_expr like, double v);             /* constant of the dtype of @p like */
tg_expr tg_div(tg_ctx *cx, tg_expr a, tg_expr b);               /* toward zero for integers */
tg_expr tg_floordiv(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_floormod(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_min(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_max(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_clamp(tg_ctx *cx, tg_expr v, int64_t lo, int64_t hi);        /* max(min(v, hi), lo), integers */
tg_expr tg_lt(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_le(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_gt(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_ge(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_eq(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_ne(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_and(tg_ctx *cx, tg_expr a, tg_expr b);               /* either may be NULL: true */
tg_expr tg_or(tg_ctx *cx, tg_expr a, tg_expr b);
tg_expr tg_guarded(tg_ctx *cx, tg_expr c, tg_expr a, tg_expr b);  /* if_then_else: only the chosen side is evaluated; c NULL: a */
tg_expr tg_choose(tg_ctx *cx, tg_expr c, tg_expr a, tg_expr b); /* select: both sides are safe to evaluate */
tg_expr tg_to(tg_ctx *cx, DLDataType d, tg_expr a);             /* conversion; to bool: a != 0 */
tg_expr tg_neg(tg_ctx *cx, tg_expr a);
tg_expr tg_within(tg_ctx *cx, tg_expr v, int64_t lo, int64_t hi);       /* lo <= v < hi */
tg_expr tg_lowest(tg_ctx *cx, DLDataType d, DLDataType of);     /* lowest finite value of type @p of, as a constant of dtype d */
tg_expr tg_highest(tg_ctx *cx, DLDataType d, DLDataType of);
/* The row-major offset of @p at in extents dim, and back. */
tg_expr tg_ravel(tg_ctx *cx, DLDataType index, uint32_t n, const tg_expr *ix, const int64_t *dim);
void tg_unravel(tg_ctx *cx, tg_expr flat, uint32_t n, const int64_t *dim, tg_expr *ix);

tg_expr tg_fast_exp(tg_ctx *cx, tg_expr x);                     /* the polynomial for float32 (eltwise.c) */

/* ---- layouts (relay-ops.md section 15): "NCHW4c" ---- */
typedef struct tg_layout {
    uint32_t n;
    struct { char letter; bool inner; int64_t factor; } axis[TG_MAX_NDIM];     /* letter in upper case; factor of inner axes */
} tg_layout;
bool tg_layout_parse(tg_ctx *cx, const tg_node *call, const char *text, tg_layout *out);       /* reports errors */
int tg_layout_find(const tg_layout *l, char letter);            /* position of the primary axis, or -1 */
bool tg_layout_plain(const tg_layout *l, char letter);          /* has the axis, not split */
int64_t tg_layout_inner(const tg_layout *l, char letter);       /* product of the factors of its inner axes: 1 when not split */
/* Extent of a primary axis of a tensor in this layout, -1 when the layout lacks it. */
int64_t tg_layout_extent(const tg_layout *l, const int64_t *dim, char letter);
/* Shape in layout @p l from the extents of primary axes (by letter - 'A'); false when a factor does not divide. */
bool tg_layout_shape(const tg_layout *l, const int64_t *primary, int64_t *dim);
/* Coordinates between one index and primary coordinates (by letter - 'A'; NULL where absent). */
void tg_layout_primary(tg_ctx *cx, const tg_layout *l, const tg_at *at, tg_expr *primary);
void tg_layout_index(tg_ctx *cx, const tg_layout *l, const tg_expr *primary, tg_at *at);

/* ---- statements in order, for sequential blocks (script.c) ---- */
typedef struct tg_script tg_script;
tg_script *tg_script_new(tg_lower *lo);
void tg_s_store(tg_script *s, const tg_buffer *b, tg_expr value, tg_expr index);        /* rank 1; value converted to b's dtype */
void tg_s_put(tg_script *s, const tg_buffer *b, tg_expr value, const tg_at *at);
tg_expr tg_s_let(tg_script *s, const char *hint, tg_expr value);    /* for the rest of the enclosing group */
tg_expr tg_s_for(tg_script *s, const char *hint, tg_expr min, tg_expr extent);          /* opens a group */
void tg_s_while(tg_script *s, tg_expr condition);                   /* opens a group */
void tg_s_if(tg_script *s, tg_expr condition);                      /* opens a group */
void tg_s_else(tg_script *s);                                       /* ends the group of tg_s_if(), opens the other */
void tg_s_end(tg_script *s);                                        /* ends a group */
const tg_node *tg_script_done(tg_script *s);
tg_expr tg_get(tg_lower *lo, const tg_buffer *b, int64_t at);       /* b[at] of rank 1, widened */

#endif
