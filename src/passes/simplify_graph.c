/* simplify_graph.c: operators that change nothing go; normalisation by known statistics becomes a product and a sum.
 * Needs: types.  Keeps: the value of every expression bit for bit (batch_norm: up to rounding); parameters and results
 * of functions.
 *
 * What only changes the shape becomes reshape, and reshapes of reshapes one. Scale and shift of a batch_norm are
 * computed here in double and rounded once. */
#include "passes.h"
#include "rebind.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

/* ---- types ---- */

static bool same_type(const tg_type *a, const tg_type *b)
{
    return a != NULL && b != NULL && a->kind == TG_T_TENSOR && b->kind == TG_T_TENSOR &&
           tg_dtype_eq(a->dtype, b->dtype) && tg_type_same_shape(a, b);
}

/* Extents known and none of them 0, which newshape would read as "copy the input's". */
static bool is_plain_shape(const tg_type *t)
{
    if (t == NULL || t->kind != TG_T_TENSOR)
        return false;
    for (uint32_t k = 0; k < t->n; ++k)
        if (t->dim[k] <= 0)
            return false;
    return true;
}

static bool is_one_of(const tg_node *v, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        if (tg_is_op_call(v, name[i]))
            return true;
    return false;
}

/* ---- shapes ---- */

static bool is_reshape(const tg_node *v)
{
    static const char *const name[] = {
        "reshape",     "contrib_reverse_reshape", "_contrib_reverse_reshape", "reshape_like", "squeeze",
        "expand_dims", "nn.batch_flatten"
    };
    return is_one_of(v, name, TG_COUNT(name));
}

static const tg_node *reshape_to(tg_rebind *r, const tg_node *data, const tg_type *type)
{
    if (same_type(data->type, type))
        return data;
    const tg_value *attrs = tg_v_with(r->cx, NULL, "newshape", tg_v_ints(r->cx, type->n, type->dim));
    return tg_rebind_call(r, "reshape", attrs, 1, &data);
}

static const tg_node *simplify_reshape(tg_rebind *r, const tg_node *v)
{
    const tg_node *data = v->kid[0], *of = tg_rebind_value(r, data);
    if (same_type(data->type, v->type))
        return data;
    if (!is_plain_shape(v->type) || data->type == NULL)
        return v;
    if (is_reshape(of) && of->kid[0]->type != NULL)
        return reshape_to(r, of->kid[0], v->type);
    return tg_is_op_call(v, "reshape") ? v : reshape_to(r, data, v->type);
}

/* ---- transpose ---- */

static bool axes_of(tg_rebind *r, const tg_node *v, uint32_t ndim, uint32_t *axis)
{
    int64_t list[TG_MAX_NDIM];
    const tg_op *op = tg_op_find(r->cx, v->u.call->op);
    if (op == NULL || ndim > TG_MAX_NDIM)
        return false;
    bool reversed = tg_attr_is_none(r->cx, op, v, "axes");
    int n = reversed ? 0 : tg_attr_ints(r->cx, op, v, "axes", list, TG_MAX_NDIM);
    for (uint32_t k = 0; k < ndim; ++k) {
        int64_t a = reversed || n == 0 ? (int64_t)(ndim - 1 - k) : list[k];
        axis[k] = (uint32_t)(a < 0 ? a + ndim : a);
        if (axis[k] >= ndim || (n > 0 && (uint32_t)n != ndim))
            return false;
    }
    return true;
}

/* Do the extents other than 1 keep their order? Then no element moves. */
static bool moves_nothing(const tg_type *t, const uint32_t *axis)
{
    int64_t last = -1;
    for (uint32_t k = 0; k < t->n; ++k) {
        if (t->dim[axis[k]] == 1)
            continue;
        if ((int64_t)axis[k] < last)
            return false;
        last = axis[k];
    }
    return true;
}

static const tg_node *simplify_transpose(tg_rebind *r, const tg_node *v)
{
    uint32_t axis[TG_MAX_NDIM], inner[TG_MAX_NDIM];
    int64_t both[TG_MAX_NDIM];
    const tg_node *data = v->kid[0], *of = tg_rebind_value(r, data);
    if (data->type == NULL || data->type->kind != TG_T_TENSOR || !axes_of(r, v, data->type->n, axis))
        return v;
    bool identity = true;
    for (uint32_t k = 0; k < data->type->n; ++k)
        identity = identity && axis[k] == k;
    if (identity)
        return data;
    if (is_plain_shape(data->type) && moves_nothing(data->type, axis))
        return reshape_to(r, data, v->type);
    if (!tg_is_op_call(of, "transpose") || !axes_of(r, of, data->type->n, inner))
        return v;
    identity = true;
    for (uint32_t k = 0; k < data->type->n; ++k) {
        both[k] = inner[axis[k]];
        identity = identity && both[k] == (int64_t)k;
    }
    if (identity)
        return of->kid[0];
    const tg_value *attrs = tg_v_with(r->cx, NULL, "axes", tg_v_ints(r->cx, data->type->n, both));
    return tg_rebind_call(r, "transpose", attrs, 1, &of->kid[0]);
}

/* ---- operators that may do nothing ---- */

static bool all_zero(const tg_value *v)
{
    for (uint32_t i = 0; i < v->n; ++i) {
        const tg_value *e = v->item[i];
        if (e->kind == TG_V_LIST ? !all_zero(e) : e->i != 0 || e->kind != TG_V_INT)
            return false;
    }
    return v->kind == TG_V_LIST;
}

static bool all_ones(const tg_value *v)
{
    for (uint32_t i = 0; v->kind == TG_V_LIST && i < v->n; ++i)
        if (!all_ones(v->item[i]))
            return false;
    return v->kind == TG_V_LIST || (v->kind == TG_V_INT && v->i == 1);
}

/* Markers, and what is the identity as soon as the result has the operand's type. */
static bool keeps_data(tg_rebind *r, const tg_node *v)
{
    static const char *const name[] = { "copy",
                                        "cast",
                                        "cast_like",
                                        "reinterpret",
                                        "on_device",
                                        "device_copy",
                                        "annotation.stop_fusion",
                                        "annotation.checkpoint",
                                        "annotation.cast_hint",
                                        "annotation.bitpack_start",
                                        "annotation.bitpack_end",
                                        "annotation.compiler_begin",
                                        "annotation.compiler_end",
                                        "annotation.with_funcid",
                                        "debug",
                                        "broadcast_to",
                                        "broadcast_to_like",
                                        "collapse_sum_like",
                                        "collapse_sum_to",
                                        "tile",
                                        "repeat",
                                        "slice_like",
                                        "nn.space_to_depth",
                                        "nn.depth_to_space",
                                        "nn.dilate" };
    const tg_op *op = tg_op_find(r->cx, v->u.call->op);
    if (op == NULL)
        return false;
    if (is_one_of(v, name, TG_COUNT(name)))
        return true;
    if (tg_is_op_call(v, "nn.pad") || tg_is_op_call(v, "nn.mirror_pad"))
        return all_zero(tg_attr(r->cx, op, v, "pad_width"));
    if (tg_is_op_call(v, "strided_slice")) {
        const tg_value *step = tg_attr(r->cx, op, v, "strides");
        return step->kind == TG_V_NONE || all_ones(step) ||
               strcmp(tg_attr_str(r->cx, op, v, "slice_mode"), "size") == 0;
    }
    if (tg_is_op_call(v, "layout_transform"))
        return strcmp(tg_attr_str(r->cx, op, v, "src_layout"), tg_attr_str(r->cx, op, v, "dst_layout")) == 0;
    return false;
}

/* Every element is @p want; the sign of zero counts. */
static bool all_equal(const tg_node *atom, double want)
{
    int64_t n;
    if (atom->kind != TG_RCONST || !tg_type_elements(atom->type, &n))
        return false;
    for (int64_t i = 0; i < n; ++i) {
        double v = tg_tensor_f64(atom->u.tensor, i);
        if (v != want || !signbit(v) != !signbit(want))
            return false;
    }
    return true;
}

/* x * 1, x / 1, x - 0, and x + 0 of integers: a float sum would turn -0 into 0. NULL: none of these. */
static const tg_node *neutral_operand(const tg_node *v)
{
    if (v->nkids != 2 || v->type == NULL || v->type->kind != TG_T_TENSOR || tg_is_bool(v->type->dtype))
        return NULL;
    const tg_node *a = v->kid[0], *b = v->kid[1];
    bool product = tg_is_op_call(v, "multiply"), sum = tg_is_op_call(v, "add") && !tg_is_float(v->type->dtype);
    if (same_type(a->type, v->type)) {
        if ((product || tg_is_op_call(v, "divide")) && all_equal(b, 1))
            return a;
        if ((sum || tg_is_op_call(v, "subtract")) && all_equal(b, 0))
            return a;
    }
    if (same_type(b->type, v->type) && ((product && all_equal(a, 1)) || (sum && all_equal(a, 0))))
        return b;
    return NULL;
}

/* ---- batch_norm ---- */

static const tg_node *channel_constant(tg_rebind *r, const tg_type *data, uint32_t axis, const double *v,
                                       const tg_name *label)
{
    int64_t dim[TG_MAX_NDIM] = { data->dim[axis] };
    for (uint32_t k = axis + 1; k < data->n; ++k)
        dim[k - axis] = 1;
    tg_tensor *t = tg_tensor_new(r->cx, tg_tensor_type(r->cx, data->dtype, data->n - axis, dim, 0), NULL);
    for (int64_t i = 0; i < dim[0]; ++i)
        tg_tensor_set_f64(t, i, v[i]);
    t->label = label;
    return tg_node_at(r->cx, tg_rconst(r->cx, t), r->origin->span);
}

/* Is operand @p i a constant of one value a channel? */
static bool is_statistic(const tg_node *call, uint32_t i, int64_t channels)
{
    const tg_node *k = call->kid[i];
    return k->kind == TG_RCONST && k->type->n == 1 && k->type->dim[0] == channels && tg_is_float(k->type->dtype);
}

/* y = x * s + (beta - mean * s), s = gamma / sqrt(var + epsilon). NULL: not all are constants; the call stays. */
static const tg_node *unpack_batch_norm(tg_rebind *r, const tg_node *call, bool *failed)
{
    const tg_op *op = tg_op_find(r->cx, call->u.call->op);
    const tg_type *data = call->nkids == 5 ? call->kid[0]->type : NULL;
    if (op == NULL || data == NULL || data->kind != TG_T_TENSOR || !tg_is_float(data->dtype))
        return NULL;
    int64_t axis = tg_attr_int(r->cx, op, call, "axis"), n;
    axis += axis < 0 ? data->n : 0;
    if (axis < 0 || axis >= (int64_t)data->n || data->dim[axis] < 0)
        return NULL;
    n = data->dim[axis];
    bool scale = tg_attr_bool(r->cx, op, call, "scale"), center = tg_attr_bool(r->cx, op, call, "center");
    double epsilon = tg_attr_float(r->cx, op, call, "epsilon");
    if ((scale && !is_statistic(call, 1, n)) || (center && !is_statistic(call, 2, n)) || !is_statistic(call, 3, n) ||
        !is_statistic(call, 4, n))
        return NULL;
    double *s = TG_ARRAY(r->cx, double, n), *t = TG_ARRAY(r->cx, double, n);
    const tg_tensor *gamma = call->kid[1]->u.tensor, *beta = call->kid[2]->u.tensor;
    for (int64_t i = 0; i < n; ++i) {
        s[i] = (scale ? tg_tensor_f64(gamma, i) : 1.0) / sqrt(tg_tensor_f64(call->kid[4]->u.tensor, i) + epsilon);
        t[i] = (center ? tg_tensor_f64(beta, i) : 0.0) - tg_tensor_f64(call->kid[3]->u.tensor, i) * s[i];
    }
    r->origin = call;
    const tg_node *arg[2] = { call->kid[0], channel_constant(r, data, (uint32_t)axis, s, scale ? gamma->label : NULL) };
    const tg_node *product = tg_rebind_call(r, "multiply", NULL, 2, arg);
    *failed = product == NULL;
    if (*failed)
        return NULL;
    const tg_node *sum[2] = { tg_rebind_let(r, product),
                              channel_constant(r, data, (uint32_t)axis, t, center ? beta->label : NULL) };
    const tg_node *y = tg_rebind_call(r, "add", NULL, 2, sum);
    *failed = y == NULL;
    return y;
}

/* ---- fields of tuples ---- */

static const tg_node *simplify_field(tg_rebind *r, const tg_node *v)
{
    const tg_node *of = tg_rebind_value(r, v->kid[0]);
    bool failed = false;
    if (of->kind == TG_RTUPLE && v->u.i >= 0 && v->u.i < (int64_t)of->nkids)
        return of->kid[v->u.i];
    if (tg_is_op_call(of, "nn.dropout") && v->u.i == 0)
        return of->kid[0];
    if (!tg_is_op_call(of, "nn.batch_norm") || of->nkids != 5)
        return v;
    if (v->u.i > 0)
        return same_type(of->kid[v->u.i + 2]->type, v->type) ? of->kid[v->u.i + 2] : v;
    const tg_node *y = unpack_batch_norm(r, of, &failed);
    return failed ? NULL : y != NULL ? y : v;
}

static const tg_node *simplify_call(tg_rebind *r, const tg_node *v)
{
    if (v->u.call->op == NULL || v->nkids == 0)
        return v;
    const tg_node *data = v->kid[0], *of = tg_rebind_value(r, data);
    if (is_reshape(v))
        return simplify_reshape(r, v);
    if (tg_is_op_call(v, "transpose"))
        return simplify_transpose(r, v);
    if (same_type(data->type, v->type) && keeps_data(r, v))
        return data;
    if (tg_is_op_call(v, "concatenate") && of->kind == TG_RTUPLE && of->nkids == 1 &&
        same_type(of->kid[0]->type, v->type))
        return of->kid[0];
    const tg_node *neutral = neutral_operand(v);
    return neutral != NULL ? neutral : v;
}

static const tg_node *simplify(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    (void)v;
    if (value->kind == TG_RGET)
        return simplify_field(r, value);
    return value->kind == TG_RCALL ? simplify_call(r, value) : value;
}

bool tg_pass_simplify_graph(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    tg_rebind r = { .cx = cx, .m = m, .fn = simplify };
    (void)opt;
    return tg_rebind_module(&r);
}
