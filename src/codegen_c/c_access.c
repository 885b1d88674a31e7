/* c_access.c: memory. Where an element lies, loads and stores of elements, pointers that are handed on.
 *
 * Buffers are views: an access prints as the C pointer or array they stand on, indexed by the offset of the element. When the
 * view has another element type than C sees there, characters go through a cast pointer and all else through memcpy, which
 * compilers turn into one instruction: C forbids reading an object through a pointer to another type. */
#include "emit.h"

#include <string.h>

/* ---- where an element lies ---- */

static bool is_wide(const tg_node *n)
{
    return tg_dtype_of(n).bits > 32;
}

static const tg_node *as_wide(tg_emit *e, const tg_node *n, bool wide)
{
    if (!wide || is_wide(n))
        return n;
    DLDataType d = TG_INT64;
    d.lanes = tg_dtype_of(n).lanes;
    return n->kind == TG_INT ? tg_int(e->cx, d, n->u.i) : tg_cast(e->cx, d, n);
}

static const tg_node *same_type(tg_emit *e, const tg_node *n, const tg_node *as)
{
    DLDataType d = tg_dtype_of(as);
    d.lanes = tg_dtype_of(n).lanes;
    return n->kind == TG_INT ? tg_int(e->cx, d, n->u.i) : tg_cast(e->cx, d, n);
}

static const tg_node *times(tg_emit *e, const tg_node *a, const tg_node *b)
{
    b = same_type(e, b, a);
    if (tg_is_int_const(a, 0) || tg_is_int_const(b, 1))
        return a;
    if (a->kind == TG_INT && b->kind == TG_INT)
        return tg_int(e->cx, tg_dtype_of(a), a->u.i * b->u.i);
    return tg_bin(e->cx, TG_MUL, a, b);
}

static const tg_node *plus(tg_emit *e, const tg_node *a, const tg_node *b)
{
    if (a == NULL)
        return b;
    b = same_type(e, b, a);
    if (tg_is_int_const(a, 0))
        return b;
    if (tg_is_int_const(b, 0))
        return a;
    if (a->kind == TG_INT && b->kind == TG_INT)
        return tg_int(e->cx, tg_dtype_of(a), a->u.i + b->u.i);
    return tg_bin(e->cx, TG_ADD, a, b);
}

/* Offset in elements of the buffer. Row-major, or by strides; 64 bits wide when some part is or the buffer is that large. */
static const tg_node *offset(tg_emit *e, const tg_buffer *b, const tg_node *const *ix)
{
    int64_t elements = 0;
    bool wide = !tg_buffer_elements(b, &elements) ? false : elements > INT32_MAX && b->ndim > 1;
    const tg_node *at = NULL;
    for (uint32_t k = 0; k < b->ndim; ++k)
        wide = wide || is_wide(ix[k]) || (b->strides == NULL && b->shape[k]->kind != TG_INT && is_wide(b->shape[k]));
    for (uint32_t k = 0; k < b->ndim; ++k) {
        const tg_node *i = as_wide(e, ix[k], wide);
        if (b->strides != NULL)
            at = plus(e, at, times(e, i, b->strides[k]));
        else
            at = plus(e, at == NULL ? NULL : times(e, at, b->shape[k]), i);
    }
    if (b->elem_offset != NULL && !tg_is_int_const(b->elem_offset, 0))
        at = at == NULL ? b->elem_offset : plus(e, at, b->elem_offset);
    return at == NULL ? tg_int(e->cx, TG_INT32, 0) : at;
}

/* The offset in scalars. Elements that are vectors lie lane by lane. */
static const tg_node *scalar_offset(tg_emit *e, const tg_buffer *b, const tg_node *const *ix, int64_t *lane)
{
    const tg_node *at = offset(e, b, ix);
    int64_t lanes = b->dtype.lanes;
    *lane = e->lane_at;
    if (lanes == 1)
        return at;
    const tg_node *width = tg_int(e->cx, TG_INT32, lanes);
    if (tg_dtype_of(at).lanes == 1) {
        const tg_node *base = times(e, at, width);
        const tg_node *ramp[2] = { base, tg_int(e->cx, tg_dtype_of(base), 1) };
        DLDataType d = tg_dtype_of(base);
        d.lanes = b->dtype.lanes;
        return tg_node_new(e->cx, TG_RAMP, TG_NOWHERE, tg_prim(e->cx, d), NULL, 2, ramp);
    }
    TG_CHECK(e->cx, e->lane_at >= 0, at);       /* c_stmt.c unrolls such statements */
    *lane = e->lane_at / lanes;                 /* of the index; the element's lane is added behind it */
    DLDataType d = tg_dtype_of(at);
    const tg_node *scaled = tg_bin(e->cx, TG_MUL, at, tg_int(e->cx, tg_dtype(d.code, d.bits, 1), lanes));
    return plus(e, scaled, tg_int(e->cx, d, e->lane_at % lanes));
}

/* ---- one element ---- */

/* How C reaches elements of @p d in the memory of @p v. */
enum reach { DIRECT, CAST, BYTES };

static enum reach reach(const c_var *v, DLDataType d)
{
    if (c_same_storage(v->elem, d) || (v->object != C_DATA && (v->object == C_CODES || v->object == C_SHAPE)))
        return DIRECT;
    return d.bits <= 8 ? CAST : BYTES;
}

static const c_var *memory(tg_emit *e, const tg_buffer *b, tg_span at)
{
    const c_var *v = c_var_of(e, b->data);
    if (v->name == NULL) {
        tg_error(e->cx, at, "the memory of buffer %s does not exist here", b->name->text);
        e->failed = true;
        return NULL;
    }
    return v;
}

static void subscript(tg_emit *e, const tg_buffer *b, const tg_node *const *ix, const c_var *v)
{
    int64_t lane, keep = e->lane_at;
    const tg_node *at = scalar_offset(e, b, ix, &lane);
    DLDataType d = b->dtype;
    d.lanes = 1;
    if (v->single) {
        tg_puts(e->to, v->name->text);
        return;
    }
    if (reach(v, d) == CAST)
        tg_printf(e->to, "((%s%s *)%s)", v->stored ? "" : "const ", c_element(e, d, TG_NOWHERE), v->name->text);
    else
        tg_puts(e->to, v->name->text);
    tg_putc(e->to, '[');
    e->lane_at = lane;
    c_index(e, at, C_ANY);
    e->lane_at = keep;
    tg_putc(e->to, ']');
}

static void element(tg_emit *e, const tg_buffer *b, const tg_node *const *ix, const c_var *v)
{
    DLDataType d = b->dtype;
    d.lanes = 1;
    if (reach(v, d) != BYTES) {
        subscript(e, b, ix, v);
        return;
    }
    int64_t lane, keep = e->lane_at;
    const tg_node *at = scalar_offset(e, b, ix, &lane);
    tg_printf(e->to, "%s(%s, ", c_helper(e, C_H_LOAD, d, d), v->name->text);
    e->lane_at = lane;
    c_index(e, at, C_TERNARY);
    e->lane_at = keep;
    tg_putc(e->to, ')');
}

void c_load(tg_emit *e, const tg_node *n, int outer)
{
    const tg_buffer *b = n->u.buf;
    DLDataType d = b->dtype;
    const c_var *v = memory(e, b, n->span);
    if (v == NULL)
        return;
    if (c_is_half(d)) {
        tg_printf(e->to, "%s(", c_helper(e, d.code == kDLBfloat ? C_H_BF16_TO_FLOAT : C_H_HALF_TO_FLOAT, d, d));
        element(e, b, n->kid, v);
        tg_putc(e->to, ')');
        return;
    }
    bool bracket = tg_is_bool(d) && C_EQUAL < outer, inverted = e->inverted;
    e->inverted = false;
    if (bracket)
        tg_putc(e->to, '(');
    element(e, b, n->kid, v);
    if (tg_is_bool(d))
        tg_puts(e->to, inverted ? " == 0" : " != 0");   /* whatever byte a caller has put there */
    if (bracket)
        tg_putc(e->to, ')');
}

/* ---- stores ---- */

/* The right side. A half is rounded once, by the conversion itself. */
static void stored_value(tg_emit *e, const tg_node *value, DLDataType d)
{
    bool half = c_is_half(d);
    if (half)
        tg_printf(e->to, "%s(", c_helper(e, d.code == kDLBfloat ? C_H_FLOAT_TO_BF16 : C_H_FLOAT_TO_HALF, d, d));
    DLDataType from = value->kind == TG_CAST ? tg_dtype_of(value->kid[0]) : d;
    bool cast = half && tg_is_float(from) && from.bits == 32;
    if (e->held != NULL) {
        tg_puts(e->to, e->held);
        c_put_lane(e);
    } else {
        c_unrounded(e, cast ? value->kid[0] : value, d);
    }
    if (half)
        tg_putc(e->to, ')');
}

/* A[i] += v instead of A[i] = A[i] + v, where C computes just that. */
static const tg_node *compound(tg_emit *e, const tg_node *n, const char **op)
{
    DLDataType d = n->u.buf->dtype;
    const tg_node *part = c_update_part(e, n), *value = n->kid[0];
    if (part == NULL || d.bits < 32 || e->held != NULL)
        return NULL;
    if (c_is_signed(d) && !c_fits(c_raw_range(e, value), d))
        return NULL;
    *op = value->kind == TG_ADD ? "+=" : value->kind == TG_SUB ? "-=" : "*=";
    return part;
}

/* The right side as it prints behind @p column columns; @return whether it stays on one line. */
static bool on_one_line(tg_emit *e, c_aside *a, size_t column, const tg_node *part, const tg_node *value, DLDataType d)
{
    c_aside_begin(e, a, column);
    if (part != NULL)
        c_assigned(e, part, d);
    else
        stored_value(e, value, d);
    c_aside_end(e, a);
    return column + a->text.n < C_COLUMNS && strchr(tg_text_z(&a->text), '\n') == NULL;
}

/* What stands behind the assignment operator. It starts a line of its own when that keeps it in one piece. */
static void right_side(tg_emit *e, const tg_node *part, const tg_node *value, DLDataType d)
{
    c_aside here, below;
    size_t column = e->to->n - e->line + 1;
    bool fits = on_one_line(e, &here, column, part, value, d);
    if (!fits && column > c_next_column(e) && on_one_line(e, &below, c_next_column(e), part, value, d)) {
        c_next_line(e);
        tg_putn(e->to, below.text.at, below.text.n);
    } else {
        tg_putc(e->to, ' ');
        tg_putn(e->to, here.text.at, here.text.n);
    }
}

/* What is left of "x = value" for a variable that is declared by its first store. */
static void declaring_store(tg_emit *e, const tg_node *n, c_var *v)
{
    v->pending = false;
    tg_printf(e->to, "%s %s = ", c_element(e, v->elem, n->span), v->name->text);
    stored_value(e, n->kid[0], n->u.buf->dtype);
    tg_puts(e->to, ";\n");
}

void c_store(tg_emit *e, const tg_node *n)
{
    const tg_buffer *b = n->u.buf;
    DLDataType d = b->dtype;
    d.lanes = 1;
    const c_var *v = memory(e, b, n->span);
    if (v == NULL)
        return;
    const tg_var *keep = e->self;
    e->self = v->bounded && !v->local ? b->data : NULL;
    c_line(e);
    if (v->pending) {
        declaring_store(e, n, c_var_of(e, b->data));
    } else if (reach(v, d) == BYTES) {
        int64_t lane, keep_lane = e->lane_at;
        const tg_node *at = scalar_offset(e, b, n->kid + 1, &lane);
        tg_printf(e->to, "%s(%s, ", c_helper(e, C_H_STORE, d, d), v->name->text);
        e->lane_at = lane;
        c_index(e, at, C_TERNARY);
        e->lane_at = keep_lane;
        tg_puts(e->to, ", ");
        stored_value(e, n->kid[0], d);
        tg_puts(e->to, ");\n");
    } else {
        const char *op = "=";
        const tg_node *part = compound(e, n, &op);
        subscript(e, b, n->kid + 1, v);
        tg_printf(e->to, " %s", op);
        right_side(e, part, n->kid[0], d);
        tg_puts(e->to, ";\n");
    }
    e->self = keep;
}

/* ---- pointers ---- */

/* base + offset in elements of @p d, counted in the elements C sees there. */
static void moved(tg_emit *e, const c_var *v, DLDataType d, const tg_node *at, int outer)
{
    bool zero = tg_is_int_const(at, 0), direct = c_same_storage(v->elem, d);
    bool bracket = !zero && C_ADD < outer;
    if (bracket)
        tg_putc(e->to, '(');
    if (direct)
        tg_puts(e->to, v->name->text);
    else
        tg_printf(e->to, "(%s%s *)%s%s", v->stored ? "" : "const ", c_element(e, d, TG_NOWHERE),
                  d.bits > 8 ? (v->stored ? "(void *)" : "(const void *)") : "", v->name->text);
    if (!zero) {
        tg_puts(e->to, " + ");
        c_index(e, at, C_MUL);
    }
    if (bracket)
        tg_putc(e->to, ')');
}

/* &A[i], an operand of address_of. */
void c_address(tg_emit *e, const tg_node *load, int outer)
{
    const c_var *v = memory(e, load->u.buf, load->span);
    int64_t lane;
    DLDataType d = load->u.buf->dtype;
    d.lanes = 1;
    if (v == NULL)
        return;
    const tg_node *at = scalar_offset(e, load->u.buf, load->kid, &lane);
    if (at->kind == TG_RAMP)
        at = at->kid[0];
    if (v->object == C_SHAPE || v->object == C_CODES)
        d = v->elem;
    moved(e, v, d, at, outer);
}

/* What a pointer expression gives in C: its elements, and whether they are const. */
static DLDataType pointee(tg_emit *e, const tg_node *n, bool *constant)
{
    const tg_var *root = c_root(n);
    *constant = false;
    if (root == NULL)
        return TG_HANDLE;
    const c_var *v = c_var_of(e, root);
    *constant = !v->stored && !v->local;
    DLDataType d = v->elem;
    if (tg_is_call(n, "address_of"))
        d = v->object == C_DATA ? n->kid[0]->u.buf->dtype : v->elem;
    if (tg_is_call(n, "tvm_access_ptr") && n->kid[0]->type->kind == TG_T_PRIM)
        d = n->kid[0]->type->dtype;
    d.lanes = 1;
    return v->object == C_TENSORS || v->object == C_VALUES ? TG_HANDLE : d;
}

static bool is_null(const tg_node *n)
{
    return tg_is_call(n, "reinterpret") && n->kid[0]->kind == TG_INT && n->kid[0]->u.i == 0;
}

static void access_ptr(tg_emit *e, const tg_node *n, int outer)
{
    const tg_var *root = c_root(n->kid[1]);
    const c_var *v = root == NULL ? NULL : c_var_of(e, root);
    bool constant;
    if (v == NULL || v->name == NULL) {
        tg_error(e->cx, n->span, "tvm_access_ptr: expected the pointer of a buffer");
        e->failed = true;
        return;
    }
    moved(e, v, pointee(e, n, &constant), n->kid[2], outer);
}

static void bare_pointer(tg_emit *e, const tg_node *n, int outer)
{
    if (is_null(n)) {
        e->need |= C_STDDEF;
        tg_puts(e->to, "NULL");
    } else if (tg_is_call(n, "address_of") && n->kid[0]->kind == TG_LOAD) {
        c_address(e, n->kid[0], outer);
    } else if (tg_is_call(n, "tvm_access_ptr")) {
        access_ptr(e, n, outer);
    } else {
        c_expr(e, n, outer);
    }
}

void c_pointer(tg_emit *e, const tg_node *n, DLDataType elem, bool constant, int outer)
{
    bool is_const;
    DLDataType from = pointee(e, n, &is_const);
    bool to_void = c_storage(elem) == NULL, from_void = c_storage(from) == NULL;
    if (n->kind == TG_STR || is_null(n) || (to_void && (constant || !is_const))
        || (!to_void && !from_void && c_same_storage(from, elem) && (constant || !is_const))) {
        bare_pointer(e, n, outer);              /* C converts it by itself */
        return;
    }
    bool bracket = C_UNARY < outer;
    if (bracket)
        tg_putc(e->to, '(');
    const char *q = constant ? "const " : "";
    if (!constant && is_const)                  /* the packed convention has no const: a cast would be warned about */
        tg_printf(e->to, "(%s *)(uintptr_t)", to_void ? "void" : c_element(e, elem, n->span));
    else if (from_void || elem.bits <= 8)
        tg_printf(e->to, "(%s%s *)", q, c_element(e, elem, n->span));
    else
        tg_printf(e->to, "(%s%s *)(%svoid *)", q, c_element(e, elem, n->span), q);
    bare_pointer(e, n, C_UNARY);
    if (bracket)
        tg_putc(e->to, ')');
}
