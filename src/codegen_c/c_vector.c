/* c_vector.c: vectors of the IR: a loop over lanes; and for floats, in front of it, the vector types that gcc and clang have (the
 * test is TIRGEN_VECTORS). Every lane is computed as C computes one number, so both say the same. */
#include "emit.h"

enum { MOST_LANES = 16, MOST_LOADS = 16, MOST_LANES_UNROLLED = 64 };

/* ---- vector types ---- */

typedef struct vectors {
    tg_emit *e;
    DLDataType d;
    const tg_node *load[MOST_LOADS];
    const char *name[MOST_LOADS];
    uint32_t n;
} vectors;

static bool is_type(DLDataType d)
{
    bool lanes = d.lanes == 2 || d.lanes == 4 || d.lanes == 8 || d.lanes == MOST_LANES;
    return d.code == kDLFloat && (d.bits == 32 || d.bits == 64) && lanes;
}

/* The first element's index when they lie one behind the other, else NULL. */
static const tg_node *first_index(tg_emit *e, const tg_buffer *b, const tg_node *index, DLDataType d)
{
    DLDataType one = d;
    one.lanes = 1;
    bool here = b->ndim == 1 && b->strides == NULL && tg_dtype_eq(b->dtype, one) && c_same_storage(c_var_of(e, b->data)->elem, one);
    return here && index->kind == TG_RAMP && tg_is_int_const(index->kid[1], 1) ? index->kid[0] : NULL;
}

/* What the vector types do lane by lane; at most @p few nodes. */
static bool is_simple(vectors *x, const tg_node *n, unsigned *few)
{
    if (*few == 0)
        return false;
    --*few;
    switch (n->kind) {
    case TG_ADD: case TG_SUB: case TG_MUL: case TG_DIV:
        return tg_dtype_eq(tg_dtype_of(n), x->d) && is_simple(x, n->kid[0], few) && is_simple(x, n->kid[1], few);
    case TG_BROADCAST: return n->kid[0]->kind != TG_LET;
    case TG_LOAD:
        for (uint32_t i = 0; i < x->n; ++i)
            if (tg_node_equal(x->e->cx, x->load[i], n))
                return true;
        if (x->n == MOST_LOADS || !tg_dtype_eq(tg_dtype_of(n), x->d) || first_index(x->e, n->u.buf, n->kid[0], x->d) == NULL)
            return false;
        x->load[x->n++] = n;
        return true;
    default: return false;
    }
}

static void put_expr(vectors *x, const tg_node *n, bool bracket)
{
    tg_emit *e = x->e;
    if (n->kind == TG_BROADCAST) {
        c_expr(e, n->kid[0], C_UNARY);
        return;
    }
    for (uint32_t i = 0; n->kind == TG_LOAD && i < x->n; ++i)
        if (tg_node_equal(e->cx, x->load[i], n)) {
            tg_puts(e->to, x->name[i]);
            return;
        }
    static const char *const op[] = { [TG_ADD - TG_ADD] = "+", [TG_SUB - TG_ADD] = "-", [TG_MUL - TG_ADD] = "*", [TG_DIV - TG_ADD] = "/" };
    bool open = bracket;
    if (open)
        tg_putc(e->to, '(');
    put_expr(x, n->kid[0], n->kid[0]->kind != n->kind || n->kind == TG_SUB || n->kind == TG_DIV);
    c_operator(e, op[n->kind - TG_ADD]);
    put_expr(x, n->kid[1], true);
    if (open)
        tg_putc(e->to, ')');
}

static void put_address(tg_emit *e, const tg_buffer *b, const tg_node *first)
{
    tg_putc(e->to, '&');
    c_expr(e, tg_load(e->cx, b, 1, &first), C_UNARY);
}

/* The type's name; that it must be declared is noted. */
static const char *type_of(tg_emit *e, DLDataType d)
{
    for (size_t i = 0; i < e->vector.n; ++i)
        if (tg_dtype_eq(e->vector.at[i], d))
            return tg_format(e->cx, "%s_x%u", c_short_name(d), (unsigned)d.lanes);
    TG_PUSH(e->cx, e->vector, d);
    e->need |= C_STRING;
    return tg_format(e->cx, "%s_x%u", c_short_name(d), (unsigned)d.lanes);
}

/* The store @p n of a vector, up to and with #else, behind which the loop over lanes and #endif belong; false, and nothing printed,
 * when the vector types cannot say it. */
static bool put_typed_store(tg_emit *e, const tg_node *n)
{
    vectors x = { .e = e, .d = tg_dtype_of(n->kid[0]) };
    unsigned few = 64;
    if (!is_type(x.d) || n->nkids != 2 || e->hoisted.n > 0)
        return false;
    const tg_node *first = first_index(e, n->u.buf, n->kid[1], x.d);
    bool computes = n->kid[0]->kind >= TG_ADD && n->kid[0]->kind <= TG_DIV;     /* a copy is as plain in a loop */
    if (first == NULL || !computes || !is_simple(&x, n->kid[0], &few))
        return false;
    const char *type = type_of(e, x.d);
    size_t mark = c_scope_open(e);
    tg_puts(e->to, "#ifdef TIRGEN_VECTORS\n");
    c_line(e);
    tg_puts(e->to, "{\n");
    ++e->level;
    for (uint32_t i = 0; i < x.n; ++i) {
        const tg_buffer *b = x.load[i]->u.buf;
        x.name[i] = c_local(e, b->name->text, b->name->len, "v")->text;
        c_line(e);
        tg_printf(e->to, "%s %s;\n", type, x.name[i]);
        c_line(e);
        tg_printf(e->to, "memcpy(&%s, ", x.name[i]);
        put_address(e, b, first_index(e, b, x.load[i]->kid[0], x.d));
        tg_printf(e->to, ", sizeof %s);\n", x.name[i]);
    }
    const char *result = c_local(e, "result", 6, "result")->text;
    c_line(e);
    tg_printf(e->to, "const %s %s = ", type, result);
    put_expr(&x, n->kid[0], false);
    tg_puts(e->to, ";\n");
    c_line(e);
    tg_puts(e->to, "memcpy(");
    put_address(e, n->u.buf, first);
    tg_printf(e->to, ", &%s, sizeof %s);\n", result, result);
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n#else\n");
    c_scope_close(e, mark);
    return true;
}

void c_put_vector_types(tg_emit *e)
{
    if (e->vector.n == 0)
        return;
    tg_puts(e->to, "\n#if defined(__GNUC__) && !defined(TIRGEN_NO_VECTORS)\n#define TIRGEN_VECTORS\n");
    for (size_t i = 0; i < e->vector.n; ++i) {
        DLDataType d = e->vector.at[i];
        tg_printf(e->to, "typedef %s %s_x%u __attribute__((vector_size(%u)));\n", c_short_name(d), c_short_name(d), (unsigned)d.lanes,
                  (unsigned)d.lanes * d.bits / 8);
    }
    tg_puts(e->to, "#endif\n");
}

/* ---- a loop over lanes ---- */

static bool needs_constant_lanes(const tg_node *n, unsigned *few)
{
    bool vectors_of_vectors = (n->kind == TG_LOAD || n->kind == TG_STORE) && n->u.buf->dtype.lanes > 1 && n->nkids > 0
                              && tg_dtype_of(n->kid[n->nkids - 1]).lanes > 1;
    if (n->kind == TG_SHUFFLE || vectors_of_vectors || *few == 0)
        return true;
    --*few;
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (needs_constant_lanes(n->kid[i], few))
            return true;
    return false;
}

typedef void (*lane_fn)(tg_emit *e, const tg_node *n, const void *user);

static void each_lane(tg_emit *e, const tg_node *n, int64_t lanes, lane_fn fn, const void *user)
{
    unsigned few = 1000;
    if (needs_constant_lanes(n, &few)) {
        if (lanes > MOST_LANES_UNROLLED) {
            tg_error(e->cx, n->span, "a shuffle of more than %d lanes", MOST_LANES_UNROLLED);
            e->failed = true;
        }
        for (int64_t k = 0; k < lanes && !e->failed; ++k) {
            e->lane_at = k;
            fn(e, n, user);
        }
        e->lane_at = -1;
        return;
    }
    size_t mark = c_scope_open(e);
    e->lane = c_local(e, "lane", 4, "lane")->text;
    c_line(e);
    tg_printf(e->to, "for (int32_t %s = 0; %s < %lld; ++%s) {\n", e->lane, e->lane, (long long)lanes, e->lane);
    ++e->level;
    fn(e, n, user);
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n");
    c_scope_close(e, mark);
    e->lane = NULL;
}

static void lane_to_array(tg_emit *e, const tg_node *n, const void *array)
{
    DLDataType d = tg_dtype_of(n);
    d.lanes = 1;
    c_line(e);
    tg_puts(e->to, array);
    c_put_lane(e);
    tg_puts(e->to, " = ");
    c_assigned(e, n, d);
    tg_puts(e->to, ";\n");
}

static void lane_store(tg_emit *e, const tg_node *n, const void *user)
{
    (void)user;
    c_store(e, n);
}

/* Does the value read what the store writes, at another place? All lanes are read before any is written. */
static bool overlaps(tg_emit *e, const tg_node *store, const tg_node *n, unsigned *few)
{
    if (*few == 0)
        return true;
    --*few;
    if (n->kind == TG_LOAD) {
        const c_var *to = c_var_of(e, store->u.buf->data), *from = c_var_of(e, n->u.buf->data);
        bool same_place = n->u.buf == store->u.buf && n->nkids + 1 == store->nkids;
        for (uint32_t k = 0; same_place && k < n->nkids; ++k)
            same_place = tg_node_equal(e->cx, n->kid[k], store->kid[k + 1]);
        bool no_alias = tg_v_get_int(e->now->f->attrs, "tir.noalias", 0) != 0 || to->local || from->local;
        if ((to == from || !no_alias) && !same_place)
            return true;
    }
    for (uint32_t i = 0; i < n->nkids; ++i)
        if (overlaps(e, store, n->kid[i], few))
            return true;
    return false;
}

/* All lanes into an array, then all of it into memory. */
static void store_at_once(tg_emit *e, const tg_node *n, DLDataType d)
{
    int64_t lanes = d.lanes;
    size_t mark = c_scope_open(e);
    c_line(e);
    tg_puts(e->to, "{\n");
    ++e->level;
    const char *name = c_local(e, "lanes", 5, "lanes")->text;
    d.lanes = 1;
    c_line(e);
    tg_printf(e->to, "%s %s[%lld];\n", c_type(e, d, n->span), name, (long long)lanes);
    each_lane(e, n->kid[0], lanes, lane_to_array, name);
    e->held = name;
    each_lane(e, n, lanes, lane_store, NULL);
    e->held = NULL;
    --e->level;
    c_line(e);
    tg_puts(e->to, "}\n");
    c_scope_close(e, mark);
}

void c_put_vector_store(tg_emit *e, const tg_node *n)
{
    DLDataType d = tg_dtype_of(n->kid[0]);
    unsigned few = 1000;
    bool both = put_typed_store(e, n);
    if (overlaps(e, n, n->kid[0], &few))
        store_at_once(e, n, d);
    else
        each_lane(e, n, d.lanes, lane_store, NULL);
    if (both)
        tg_puts(e->to, "#endif\n");
}

void c_lanes_to_array(tg_emit *e, const tg_node *value, int64_t lanes, const char *array)
{
    each_lane(e, value, lanes, lane_to_array, array);
}
