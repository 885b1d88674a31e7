/* layout.c: channels last inside. Convolutions written for NC… data compute in N…C with kernels …IO, and what stands between them
 * carries that order along; transposes are left where a value enters or leaves.
 * Needs: types.  Keeps: the value of every expression; parameters and results of functions, their layouts included.
 *
 * Each value that has a twin with channels last is bound to the transpose of the twin. Operators that understand the order use the
 * twin; a transpose that nobody uses in the end is dropped. Where all spatial extents are 1, or there is one channel, memory is
 * the same in both orders and a reshape takes the place of the transpose.
 * Contiguous channels let one vector hold neighbouring outputs of every convolution, depthwise ones included, whatever the stride.
 * The product with a constant matrix [units][inputs] turns into one with [inputs][units] for the same reason. */
#include "passes.h"
#include "rebind.h"
#include "ops/ops.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <string.h>

enum {
    WORTHWHILE = 16 /* multiply-adds for each output from which a single convolution pays for two transposes */
};

typedef struct layout {
    tg_map last; /* var id + 1 -> its twin */
    bool images; /* convolutions are worth turning */
} layout;

/* ---- orders ---- */

static bool is_known(const tg_type *t)
{
    if (t == NULL || t->kind != TG_T_TENSOR || t->n > TG_MAX_NDIM) return false;
    for (uint32_t k = 0; k < t->n; ++k)
        if (t->dim[k] <= 0) return false;
    return true;
}

/* Batch, channel and one to three spatial axes. */
static bool is_image(const tg_type *t)
{
    return is_known(t) && t->n >= 3 && t->n <= 5;
}

/* axes of a transpose to channels last, or back. */
static void last_axes(uint32_t n, int64_t *axes)
{
    axes[0] = 0;
    for (uint32_t k = 1; k + 1 < n; ++k) axes[k] = (int64_t)k + 1;
    axes[n - 1] = 1;
}

static void first_axes(uint32_t n, int64_t *axes)
{
    axes[0] = 0;
    axes[1] = (int64_t)n - 1;
    for (uint32_t k = 2; k < n; ++k) axes[k] = (int64_t)k - 1;
}

/* Where axis @p a of N C … is in N … C. */
static int64_t axis_in_last(uint32_t n, int64_t a)
{
    return a == 0 ? 0 : a == 1 ? (int64_t)n - 1 : a - 1;
}

static bool same_memory(const tg_type *t, const int64_t *axes)
{
    int64_t before = -1;
    for (uint32_t k = 0; k < t->n; ++k) {
        if (t->dim[axes[k]] == 1) continue;
        if (axes[k] < before) return false;
        before = axes[k];
    }
    return true;
}

/* A constant moves here and now: weights are large, and the evaluator that folds constants takes its time for each element. */
static const tg_node *reordered_constant(tg_ctx *cx, const tg_node *atom, const int64_t *axes, const int64_t *dim)
{
    const tg_tensor *from = atom->u.tensor;
    uint32_t n = from->type->n;
    size_t size = tg_dtype_bytes(from->dl.dtype);
    tg_tensor *to = tg_tensor_new(cx, tg_tensor_type(cx, from->type->dtype, n, dim, from->type->wide), NULL);
    int64_t stride[TG_MAX_NDIM], at[TG_MAX_NDIM] = { 0 }, step[TG_MAX_NDIM], elements = 1;
    for (uint32_t k = n; k-- > 0; elements *= from->type->dim[k]) stride[k] = elements;
    for (uint32_t k = 0; k < n; ++k) step[k] = stride[axes[k]];
    const unsigned char *in = from->dl.data;
    unsigned char *out = to->dl.data;
    for (int64_t offset = 0; elements > 0; --elements, out += size) {
        memcpy(out, in + (size_t)offset * size, size);
        for (uint32_t k = n; k-- > 0;) { /* the next index of the result, last axis first */
            offset += step[k];
            if (++at[k] < dim[k]) break;
            offset -= step[k] * dim[k];
            at[k] = 0;
        }
    }
    to->label = from->label;
    return tg_rconst(cx, to);
}

/* The value @p atom with its axes in another order. */
static const tg_node *reordered(tg_rebind *r, const tg_node *atom, const int64_t *axes)
{
    const tg_type *t = atom->type;
    int64_t dim[TG_MAX_NDIM];
    for (uint32_t k = 0; k < t->n; ++k) dim[k] = t->dim[axes[k]];
    if (atom->kind == TG_RCONST && t->n > 0) return reordered_constant(r->cx, atom, axes, dim);
    if (same_memory(t, axes))
        return tg_rebind_call(r, "reshape", tg_v_with(r->cx, NULL, "newshape", tg_v_ints(r->cx, t->n, dim)), 1, &atom);
    return tg_rebind_call(r, "transpose", tg_v_with(r->cx, NULL, "axes", tg_v_ints(r->cx, t->n, axes)), 1, &atom);
}

static const tg_node *bound(tg_rebind *r, const tg_node *value)
{
    return value == NULL || tg_is_atom(value) ? value : tg_rebind_let(r, value);
}

static const tg_node *twin(tg_rebind *r, const tg_node *atom)
{
    layout *l = r->user;
    return atom->kind == TG_RVAR ? tg_map_get(&l->last, (uint64_t)atom->u.var->id + 1) : NULL;
}

static void set_twin(tg_rebind *r, const tg_var *v, const tg_node *atom)
{
    layout *l = r->user;
    tg_map_put(r->cx, &l->last, (uint64_t)v->id + 1, (void *)(uintptr_t)atom);
}

/* The twin, made if need be. In the outermost block it is remembered; inside of branches it might not be visible later. */
static const tg_node *channels_last(tg_rebind *r, const tg_node *atom)
{
    const tg_node *known = twin(r, atom);
    int64_t axes[TG_MAX_NDIM];
    if (known != NULL) return known;
    last_axes(atom->type->n, axes);
    const tg_node *made = bound(r, reordered(r, atom, axes));
    if (made != NULL && atom->kind == TG_RVAR && r->depth == 1) set_twin(r, atom->u.var, made);
    return made;
}

/* @p v is bound to the value of @p call in the order N C …; the call's own becomes its twin. */
static const tg_node *finish(tg_rebind *r, const tg_var *v, const tg_node *call)
{
    int64_t axes[TG_MAX_NDIM];
    const tg_node *atom = bound(r, call);
    if (atom == NULL) return NULL;
    set_twin(r, v, atom);
    first_axes(atom->type->n, axes);
    return reordered(r, atom, axes);
}

/* ---- convolutions ---- */

static bool is_one_of(const tg_node *v, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        if (tg_is_op_call(v, name[i])) return true;
    return false;
}

static bool is_conv(const tg_node *v)
{
    static const char *const name[] = { "nn.conv1d",           "nn.conv2d",           "nn.conv3d",
                                        "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose" };
    return is_one_of(v, name, TG_COUNT(name));
}

static const char *const channels_first_name[6] = { "", "", "", "NCW", "NCHW", "NCDHW" };
static const char *const channels_last_name[6] = { "", "", "", "NWC", "NHWC", "NDHWC" };
static const char *const spatial_letters[6] = { "", "", "", "W", "HW", "DHW" };

static bool has_layout(tg_ctx *cx, const tg_op *op, const tg_node *v, const char *key, uint32_t n)
{
    return strcmp(tg_attr_str(cx, op, v, key), channels_first_name[n]) == 0;
}

/* A convolution that can be turned: NC… data, a kernel of single letters; weights that are constant, or used often enough. */
static bool can_turn(tg_ctx *cx, const tg_node *v)
{
    const tg_op *op = is_conv(v) && v->nkids == 2 ? tg_op_find(cx, v->u.call->op) : NULL;
    if (op == NULL || !is_image(v->kid[0]->type) || !is_known(v->kid[1]->type) ||
        v->kid[1]->type->n != v->kid[0]->type->n || !is_image(v->type))
        return false;
    uint32_t n = v->type->n;
    const char *out = tg_attr_str(cx, op, v, "out_layout"), *kernel = tg_attr_str(cx, op, v, "kernel_layout");
    if (!has_layout(cx, op, v, "data_layout", n) || (out[0] != '\0' && strcmp(out, channels_first_name[n]) != 0) ||
        strlen(kernel) != n)
        return false;
    int64_t positions = 1;
    for (uint32_t k = 2; k < n; ++k) positions *= v->type->dim[k];
    return v->kid[1]->kind == TG_RCONST || positions >= 64;
}

static bool is_depthwise(tg_ctx *cx, const tg_op *op, const tg_node *v)
{
    int64_t groups = tg_attr_int(cx, op, v, "groups");
    return groups > 1 && groups == v->kid[0]->type->dim[1];
}

/* Kernel letters that name other axes than @p from are a layout this pass does not know. */
static bool kernel_axes(const char *from, const char *to, int64_t *axes)
{
    for (uint32_t k = 0; to[k] != '\0'; ++k) {
        const char *at = strchr(from, to[k]);
        if (at == NULL) return false;
        axes[k] = at - from;
    }
    return true;
}

static const tg_node *turn_conv(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    tg_ctx *cx = r->cx;
    const tg_op *op = tg_op_find(cx, value->u.call->op);
    uint32_t n = value->type->n;
    int64_t axes[TG_MAX_NDIM];
    bool turned = strstr(op->name, "transpose") != NULL;
    const char *to = tg_format(cx, "%s%s", spatial_letters[n], is_depthwise(cx, op, value) && !turned ? "OI" : "IO");
    if (!kernel_axes(tg_attr_str(cx, op, value, "kernel_layout"), to, axes)) return value;
    const tg_node *arg[2] = { channels_last(r, value->kid[0]), bound(r, reordered(r, value->kid[1], axes)) };
    if (arg[0] == NULL || arg[1] == NULL) return NULL;
    const tg_value *attrs = tg_v_with(cx, value->u.call->attrs, "data_layout", tg_v_strz(cx, channels_last_name[n]));
    attrs = tg_v_with(cx, tg_v_without(cx, attrs, "out_layout"), "kernel_layout", tg_v_strz(cx, to));
    return finish(r, v, tg_rebind_call(r, op->name, attrs, 2, arg));
}

/* ---- what carries the order along ---- */

static const tg_node *same_call(tg_rebind *r, const tg_node *value, const tg_value *attrs, uint32_t n,
                                const tg_node *const *arg)
{
    return tg_rebind_call(r, value->u.call->op->text, attrs, n, arg);
}

/* An operand broadcast to rank @p n in the order N C …, in the other order. */
static const tg_node *operand_last(tg_rebind *r, const tg_node *atom, uint32_t n)
{
    int64_t elements, dim[TG_MAX_NDIM], axes[TG_MAX_NDIM];
    if (!tg_type_elements(atom->type, &elements) || elements == 1) return atom;
    if (atom->type->n == n) return channels_last(r, atom);
    uint32_t lead = n - atom->type->n;
    for (uint32_t k = 0; k < n; ++k) dim[k] = k < lead ? 1 : atom->type->dim[k - lead];
    const tg_node *whole =
        tg_rebind_call(r, "reshape", tg_v_with(r->cx, NULL, "newshape", tg_v_ints(r->cx, n, dim)), 1, &atom);
    last_axes(n, axes);
    whole = bound(r, whole);
    return whole == NULL ? NULL : bound(r, reordered(r, whole, axes));
}

static const tg_node *turn_broadcast(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    bool any = false;
    const tg_node **arg = TG_ARRAY(r->cx, const tg_node *, value->nkids);
    for (uint32_t i = 0; i < value->nkids; ++i) {
        if (!is_known(value->kid[i]->type) &&
            !(value->kid[i]->type != NULL && value->kid[i]->type->kind == TG_T_TENSOR && value->kid[i]->type->n == 0))
            return value;
        any = any || (value->kid[i]->type->n == value->type->n && twin(r, value->kid[i]) != NULL);
    }
    if (!any || !is_image(value->type)) return value;
    for (uint32_t i = 0; i < value->nkids; ++i)
        if ((arg[i] = operand_last(r, value->kid[i], value->type->n)) == NULL) return NULL;
    return finish(r, v, same_call(r, value, value->u.call->attrs, value->nkids, arg));
}

/* One operand moves to its twin and an attribute "axis" with it. */
static const tg_node *turn_axis(tg_rebind *r, const tg_var *v, const tg_node *value, const tg_op *op)
{
    uint32_t n = value->type->n;
    int64_t axis = tg_attr_int(r->cx, op, value, "axis");
    axis = axis_in_last(n, axis < 0 ? axis + n : axis);
    const tg_node **arg = tg_copy(r->cx, value->kid, value->nkids * sizeof value->kid[0]);
    arg[0] = twin(r, value->kid[0]);
    return finish(
        r, v,
        same_call(r, value, tg_v_with(r->cx, value->u.call->attrs, "axis", tg_v_int(r->cx, axis)), value->nkids, arg));
}

static bool has_attr(const tg_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->nattrs; ++i)
        if (tg_name_is(op->attr[i].name, name)) return true;
    return false;
}

/* Pools, resizing, blocks of space to channels: one operand, and an attribute that says where its channels are. */
static const tg_node *turn_layout(tg_rebind *r, const tg_var *v, const tg_node *value, const tg_op *op)
{
    uint32_t n = value->type->n;
    const char *out = has_attr(op, "out_layout") ? tg_attr_str(r->cx, op, value, "out_layout") : "";
    if (!has_layout(r->cx, op, value, "layout", n) || (out[0] != '\0' && strcmp(out, channels_first_name[n]) != 0))
        return value;
    const tg_node *arg = twin(r, value->kid[0]);
    const tg_value *attrs = tg_v_with(r->cx, value->u.call->attrs, "layout", tg_v_strz(r->cx, channels_last_name[n]));
    return finish(r, v, same_call(r, value, tg_v_without(r->cx, attrs, "out_layout"), 1, &arg));
}

/* Reductions: with keepdims the order stays; else the result must have the same order in memory either way. */
static const tg_node *turn_reduction(tg_rebind *r, const tg_var *v, const tg_node *value, const tg_op *op)
{
    tg_ctx *cx = r->cx;
    uint32_t n = value->kid[0]->type->n, count = 0;
    int64_t list[TG_MAX_NDIM], axes[TG_MAX_NDIM];
    int given = tg_attr_is_none(cx, op, value, "axis") ? 0 : tg_attr_ints(cx, op, value, "axis", list, TG_MAX_NDIM);
    bool reduced[TG_MAX_NDIM] = { false }, exclude = tg_attr_bool(cx, op, value, "exclude"),
         keep = tg_attr_bool(cx, op, value, "keepdims");
    if (given < 0) return NULL;
    for (int i = 0; i < given; ++i) reduced[list[i] < 0 ? list[i] + n : list[i]] = true;
    bool spatial_left = false;
    for (uint32_t k = 0; k < n; ++k) {
        if (tg_attr_is_none(cx, op, value, "axis") || exclude) reduced[k] = !reduced[k] || given == 0;
        spatial_left = spatial_left || (k > 1 && !reduced[k]);
        if (reduced[k]) axes[count++] = axis_in_last(n, k);
    }
    if (count == 0 || (!keep && !reduced[1] && spatial_left)) return value;
    const tg_value *attrs =
        tg_v_with(cx, tg_v_without(cx, value->u.call->attrs, "exclude"), "axis", tg_v_ints(cx, count, axes));
    const tg_node *arg = twin(r, value->kid[0]), *call = same_call(r, value, attrs, 1, &arg);
    return keep && call != NULL ? finish(r, v, call) : call;
}

static const tg_node *turn_concatenate(tg_rebind *r, const tg_var *v, const tg_node *value, const tg_op *op)
{
    const tg_node *tuple = tg_rebind_value(r, value->kid[0]);
    bool any = false;
    if (tuple->kind != TG_RTUPLE || !is_image(value->type)) return value;
    for (uint32_t i = 0; i < tuple->nkids; ++i) {
        if (!is_image(tuple->kid[i]->type) || tuple->kid[i]->type->n != value->type->n) return value;
        any = any || twin(r, tuple->kid[i]) != NULL;
    }
    if (!any) return value;
    const tg_node **field = TG_ARRAY(r->cx, const tg_node *, tuple->nkids);
    for (uint32_t i = 0; i < tuple->nkids; ++i)
        if ((field[i] = channels_last(r, tuple->kid[i])) == NULL) return NULL;
    int64_t axis = tg_attr_int(r->cx, op, value, "axis");
    axis = axis_in_last(value->type->n, axis < 0 ? axis + value->type->n : axis);
    const tg_node *arg = tg_rebind_let(r, tg_rtuple(r->cx, tuple->nkids, field));
    return finish(r, v,
                  same_call(r, value, tg_v_with(r->cx, value->u.call->attrs, "axis", tg_v_int(r->cx, axis)), 1, &arg));
}

static const tg_node *turn_pad(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    uint32_t n = value->type->n;
    const tg_value *width = tg_v_get(value->u.call->attrs, "pad_width");
    if (width == NULL || width->kind != TG_V_LIST || width->n != n) return value;
    int64_t axes[TG_MAX_NDIM];
    const tg_value *item[TG_MAX_NDIM];
    last_axes(n, axes);
    for (uint32_t k = 0; k < n; ++k) item[k] = width->item[axes[k]];
    const tg_node **arg = tg_copy(r->cx, value->kid, value->nkids * sizeof value->kid[0]);
    arg[0] = twin(r, value->kid[0]);
    return finish(r, v,
                  same_call(r, value, tg_v_with(r->cx, value->u.call->attrs, "pad_width", tg_v_list(r->cx, n, item)),
                            value->nkids, arg));
}

/* ---- where the order ends ---- */

static const tg_node *turn_reshape(tg_rebind *r, const tg_node *value)
{
    const tg_type *t = value->kid[0]->type;
    int64_t axes[TG_MAX_NDIM];
    last_axes(t->n, axes);
    if (!same_memory(t, axes) || !is_known(value->type)) return value;
    const tg_node *arg = twin(r, value->kid[0]);
    return tg_rebind_call(
        r, "reshape", tg_v_with(r->cx, NULL, "newshape", tg_v_ints(r->cx, value->type->n, value->type->dim)), 1, &arg);
}

/* A transpose of the value is one of the twin, perhaps none. */
static const tg_node *turn_transpose(tg_rebind *r, const tg_node *value, const tg_op *op)
{
    uint32_t n = value->type->n;
    int64_t axes[TG_MAX_NDIM];
    if (tg_attr_is_none(r->cx, op, value, "axes") ||
        tg_attr_ints(r->cx, op, value, "axes", axes, TG_MAX_NDIM) != (int)n)
        return value;
    bool same = true;
    for (uint32_t k = 0; k < n; ++k) {
        axes[k] = axis_in_last(n, axes[k] < 0 ? axes[k] + n : axes[k]);
        same = same && axes[k] == (int64_t)k;
    }
    const tg_node *arg = twin(r, value->kid[0]);
    return same ? arg : reordered(r, arg, axes);
}

/* dense(x, W) with a constant W[units][inputs] is matmul(x, transpose(W)). */
static const tg_node *turn_dense(tg_rebind *r, const tg_node *value)
{
    const tg_node *w = value->kid[1];
    const int64_t axes[2] = { 1, 0 };
    if (w->kind != TG_RCONST || !is_known(w->type) || !tg_is_float(w->type->dtype) || w->type->dim[0] < 8) return value;
    const tg_node *arg[2] = { value->kid[0], bound(r, reordered(r, w, axes)) };
    return arg[1] == NULL ? NULL : tg_rebind_call(r, "nn.matmul", value->u.call->attrs, 2, arg);
}

/* ---- the pass ---- */

static bool carries_axis(const tg_node *v)
{
    static const char *const name[] = { "nn.bias_add", "nn.prelu", "nn.softmax", "nn.log_softmax", "nn.fast_softmax",
                                        "qnn.quantize", "qnn.dequantize", "qnn.rescale" };
    return is_one_of(v, name, TG_COUNT(name));
}

static bool is_reduction(const tg_node *v)
{
    static const char *const name[] = { "mean", "sum", "max", "min", "prod" };
    return is_one_of(v, name, TG_COUNT(name));
}

static const tg_node *turn_with_twin(tg_rebind *r, const tg_var *v, const tg_node *value, const tg_op *op)
{
    bool same_rank = is_image(value->type) && value->type->n == value->kid[0]->type->n;
    if (op->fusion == TG_FUSE_ELEMWISE && value->nkids == 1 && same_rank) {
        const tg_node *arg = twin(r, value->kid[0]);
        return finish(r, v, same_call(r, value, value->u.call->attrs, 1, &arg));
    }
    if (carries_axis(value) && same_rank) return turn_axis(r, v, value, op);
    if (has_attr(op, "layout") && value->nkids == 1 && same_rank) return turn_layout(r, v, value, op);
    if (is_reduction(value)) return turn_reduction(r, v, value, op);
    if (tg_is_op_call(value, "nn.pad") && same_rank) return turn_pad(r, v, value);
    if (tg_is_op_call(value, "reshape") || tg_is_op_call(value, "nn.batch_flatten") || tg_is_op_call(value, "squeeze"))
        return turn_reshape(r, value);
    return tg_is_op_call(value, "transpose") && same_rank ? turn_transpose(r, value, op) : value;
}

static const tg_node *turn(tg_rebind *r, const tg_var *v, const tg_node *value)
{
    if (value->kind != TG_RCALL || value->u.call->op == NULL || value->nkids == 0 || value->type == NULL) return value;
    const tg_op *op = tg_op_find(r->cx, value->u.call->op);
    if (op == NULL) return value;
    if (((layout *)r->user)->images && can_turn(r->cx, value)) return turn_conv(r, v, value);
    if (tg_is_op_call(value, "nn.dense")) return turn_dense(r, value);
    if (tg_is_op_call(value, "concatenate")) return turn_concatenate(r, v, value, op);
    bool has_twin = twin(r, value->kid[0]) != NULL;
    const tg_node *now = has_twin ? turn_with_twin(r, v, value, op) : value;
    if (now != value) return now;
    bool broadcast = op->fusion == TG_FUSE_BROADCAST && value->nkids > 1 && !carries_axis(value) &&
                     strncmp(op->name, "broadcast_to", 12) != 0;
    return broadcast ? turn_broadcast(r, v, value) : value;
}

typedef struct counting {
    uint32_t convs;
    bool worthwhile;
} counting;

static bool count(tg_ctx *cx, const tg_node *n, void *user)
{
    counting *c = user;
    if (n->kind == TG_RFN) tg_visit(cx, n->u.func->body, count, c);
    if (n->kind != TG_RCALL || n->u.call->op == NULL || !can_turn(cx, n)) return true;
    ++c->convs;
    int64_t weights, channels = n->type->dim[1];
    c->worthwhile = c->worthwhile || (tg_type_elements(n->kid[1]->type, &weights) && weights / channels >= WORTHWHILE);
    return true;
}

bool tg_pass_layout(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    counting c = { 0, false };
    if (opt->keep_layout) return true;
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (m->funcs.at[i]->kind == TG_FUNC_RELAY) tg_visit(cx, m->funcs.at[i]->body, count, &c);
    layout l = { { 0 }, c.convs > 1 || c.worthwhile };
    tg_rebind r = { .cx = cx, .m = m, .fn = turn, .user = &l };
    return tg_rebind_module(&r);
}
