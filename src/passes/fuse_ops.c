/* fuse_ops.c: operators that one loop nest can compute together become one function with the attribute Primitive=1.
 * Needs: types.  Gives: blocks that bind only calls of such functions and of loops, tuples, projections and ifs (docs/ir.md,
 * section 1), in the entry and in every loop. Bindings that nothing uses go.
 *
 * A group grows along the binding order. A call joins the group of one of its operands when that operand is used nowhere else,
 * so nothing outside a group ever depends on its inside and a group can run where its last member stood. */
#include "passes.h"
#include "prim_call.h"
#include "tail_loops.h"
#include "ops/ops.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <string.h>

/* Operators in one function: C compilers are slow on very long loop bodies. */
enum { MOST_MEMBERS = 64 };
#define NOWHERE UINT32_MAX

typedef struct binding {
    const tg_var *var;
    const tg_node *value;
    const tg_op *op;                /* NULL: not an operator call */
    uint32_t uses;
    uint32_t user;                  /* one of the bindings that use it; NOWHERE: the block's result, a branch */
    uint32_t group;                 /* index of the group's last member so far; follow with last_of() */
    enum tg_fusion kind;            /* of the group, kept at its last member */
    TG_VEC(uint32_t) member;        /* of the group, kept at its last member */
} binding;

/* Of the whole module. */
typedef struct sharing {
    tg_map by_hash;                 /* hash of a fused function -> the first of that hash */
    tg_map named;                   /* names of fused functions */
} sharing;

typedef struct fusing {
    tg_ctx *cx;
    tg_module *m;
    binding *at;
    uint32_t n;
    tg_map index;                   /* var id + 1 -> binding index + 1 */
    sharing *shared;
    TG_VEC(const tg_node *) out;    /* the new block's bindings */
} fusing;

static binding *binding_of(fusing *f, const tg_node *atom)
{
    if (atom->kind != TG_RVAR)
        return NULL;
    uintptr_t i = (uintptr_t)tg_map_get(&f->index, (uint64_t)atom->u.var->id + 1);
    return i == 0 ? NULL : &f->at[i - 1];
}

static bool is_scalar_const(const tg_node *n)
{
    return n->kind == TG_RCONST && n->type->n == 0;
}

/* ---- which calls go together ---- */

static bool same_shape(const tg_node *a, const tg_node *b)
{
    return a->type->kind == TG_T_TENSOR && b->type->kind == TG_T_TENSOR && tg_type_same_shape(a->type, b->type);
}

/* A group whose elements take more memory than what they are computed from. */
static bool widens(const fusing *f, const binding *last)
{
    const tg_node *first = f->at[last->member.at[0]].value, *v = last->value;
    return first->nkids > 0 && first->kid[0]->type->kind == TG_T_TENSOR && v->type->kind == TG_T_TENSOR
           && first->kid[0]->type->dtype.bits < v->type->dtype.bits;
}

static bool may_join(const fusing *f, const binding *producer, const binding *user)
{
    enum tg_fusion p = producer->kind, u = user->op->fusion;
    if (u == TG_FUSE_ELEMWISE || u == TG_FUSE_BROADCAST)
        return p <= TG_FUSE_OUT && same_shape(producer->value, user->value);
    if (u == TG_FUSE_INJECTIVE)
        return p <= TG_FUSE_INJECTIVE;
    return u == TG_FUSE_REDUCE && p <= TG_FUSE_BROADCAST && widens(f, producer);
}

/* A conversion to wider elements for a reduction alone: it goes with the reduction, the narrow ones stay between the two. */
static bool waits(const fusing *f, const binding *b)
{
    const tg_node *v = b->value;
    if (b->op->fusion > TG_FUSE_BROADCAST || b->uses != 1 || b->user == NOWHERE || f->at[b->user].op == NULL || v->nkids == 0)
        return false;
    return f->at[b->user].op->fusion == TG_FUSE_REDUCE && v->type->kind == TG_T_TENSOR && v->kid[0]->type->kind == TG_T_TENSOR
           && v->kid[0]->type->dtype.bits < v->type->dtype.bits;
}

static enum tg_fusion joined_kind(enum tg_fusion a, enum tg_fusion b)
{
    return a > b ? a : b;
}

/* Among the operands whose group the call may join, the strongest producer, and the latest of those: a convolution's epilogue
 * before an elementwise chain. */
static void join_operand(fusing *f, uint32_t i)
{
    binding *user = &f->at[i];
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < user->value->nkids && !waits(f, user); ++k) {
        binding *p = binding_of(f, user->value->kid[k]);
        if (p == NULL || p->op == NULL || p->uses != 1 || p->member.n == 0 || p->member.n >= MOST_MEMBERS || !may_join(f, p, user))
            continue;
        uint32_t at = (uint32_t)(p - f->at);
        if (best == UINT32_MAX || p->kind > f->at[best].kind || (p->kind == f->at[best].kind && at > best))
            best = at;
    }
    if (best != UINT32_MAX) {
        binding *p = &f->at[best];
        user->kind = joined_kind(p->kind, user->kind);
        user->member.at = p->member.at;
        user->member.n = p->member.n;
        user->member.cap = p->member.cap;
        p->member.n = 0;            /* the group moved on */
    }
    TG_PUSH(f->cx, user->member, i);
}

static void count_use(fusing *f, const tg_node *n, uint32_t user)
{
    binding *b = binding_of(f, n);
    if (b == NULL)
        return;
    ++b->uses;
    b->user = user;
}

static bool count_inner(tg_ctx *cx, const tg_node *n, void *user)
{
    (void)cx;
    fusing *f = user;
    if (n->kind == TG_RVAR) {       /* used in a branch: never inside a group of this block */
        count_use(f, n, NOWHERE);
        count_use(f, n, NOWHERE);
    }
    return true;
}

/* ---- the function of a group ---- */

typedef struct making {
    fusing *f;
    TG_VEC(const tg_var *) param;
    TG_VEC(const tg_node *) arg;
    TG_VEC(const tg_node *) bind;
    tg_map inside;                  /* var id + 1 of the block -> node inside the function */
} making;

/* The k-th name of a row's operand list; a list ending in "..." repeats its last word. */
static const char *operand_name(tg_ctx *cx, const tg_op *op, uint32_t k)
{
    const char *s = op->args;
    for (; k > 0 && strchr(s, ' ') != NULL; --k)
        s = strchr(s, ' ') + 1;
    size_t n = strcspn(s, " .?");
    return n == 0 ? "data" : tg_format(cx, "%.*s", (int)n, s);
}

static const tg_node *parameter(making *k, const tg_node *arg, const char *hint)
{
    tg_ctx *cx = k->f->cx;
    for (size_t i = 0; i < k->arg.n; ++i) {
        const tg_node *a = k->arg.at[i];
        if (a->kind == arg->kind && (a->kind == TG_RVAR ? a->u.var == arg->u.var : a->u.tensor == arg->u.tensor))
            return tg_rvar(cx, k->param.at[i], TG_NOWHERE);
    }
    const tg_name *name = tg_intern_z(cx, hint);
    for (size_t i = 0, n = 1; i < k->param.n; ++i) {
        if (k->param.at[i]->name == name) {
            name = tg_internf(cx, "%s_%zu", hint, n++);
            i = (size_t)-1;
        }
    }
    tg_var *v = tg_var_new(cx, name, arg->type);
    TG_PUSH(cx, k->param, v);
    TG_PUSH(cx, k->arg, arg);
    return tg_rvar(cx, v, TG_NOWHERE);
}

static const tg_node *bind_inside(making *k, const tg_node *value)
{
    tg_var *v = tg_var_new(k->f->cx, tg_intern_z(k->f->cx, ""), value->type);
    v->numbered = true;
    TG_PUSH(k->f->cx, k->bind, tg_rbind(k->f->cx, v, value));
    return tg_rvar(k->f->cx, v, TG_NOWHERE);
}

/* The fields of a tuple-typed operand as atoms of the outer block. */
static const tg_node *const *tuple_fields(fusing *f, const tg_node *tuple)
{
    binding *b = binding_of(f, tuple);
    if (b != NULL && b->value->kind == TG_RTUPLE)
        return b->value->kid;
    uint32_t n = tuple->type->n;
    const tg_node **field = TG_ARRAY(f->cx, const tg_node *, n);
    for (uint32_t i = 0; i < n; ++i) {
        const tg_node *get = tg_rget(f->cx, tuple, i);
        tg_var *v = tg_var_new(f->cx, tg_intern_z(f->cx, ""), get->type);
        v->numbered = true;
        TG_PUSH(f->cx, f->out, tg_rbind(f->cx, v, get));
        field[i] = tg_rvar(f->cx, v, TG_NOWHERE);
    }
    return field;
}

static const tg_node *operand(making *k, const tg_node *arg, const char *hint)
{
    tg_ctx *cx = k->f->cx;
    if (is_scalar_const(arg))
        return arg;
    if (arg->kind == TG_RVAR) {
        const tg_node *known = tg_map_get(&k->inside, (uint64_t)arg->u.var->id + 1);
        if (known != NULL)
            return known;
    }
    if (arg->type->kind != TG_T_TUPLE)
        return parameter(k, arg, hint);
    const tg_node *const *field = tuple_fields(k->f, arg);
    const tg_node **inner = TG_ARRAY(cx, const tg_node *, arg->type->n);
    for (uint32_t i = 0; i < arg->type->n; ++i)
        inner[i] = operand(k, field[i], tg_format(cx, "%s%u", hint, i));
    return bind_inside(k, tg_rtuple(cx, arg->type->n, inner));
}

static const tg_name *group_name(fusing *f, const binding *last)
{
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "fused");
    for (size_t i = 0; i < last->member.n; ++i) {
        tg_putc(&t, '_');
        for (const char *s = f->at[last->member.at[i]].op->name; *s != '\0'; ++s)
            tg_putc(&t, *s == '.' ? '_' : *s);
    }
    const char *name = tg_text_z(&t);
    if (strlen(name) > 80)
        name = tg_format(f->cx, "%.72s_%08x", name, (unsigned)tg_hash(name, strlen(name), 0));
    const tg_name *unique = tg_intern_z(f->cx, name);
    for (unsigned k = 1;; ++k) {
        const tg_func *known = tg_module_find(f->m, unique);
        if (tg_map_get(&f->shared->named, TG_KEY(unique)) == NULL && (known == NULL || known->kind == TG_FUNC_PRIM)) break;
        unique = tg_internf(f->cx, "%s_%u", name, k);
    }
    tg_map_put(f->cx, &f->shared->named, TG_KEY(unique), f->shared);
    return unique;
}

static bool is_reshape(const tg_name *op)
{
    static const char *const name[] = { "reshape", "nn.batch_flatten", "squeeze", "expand_dims", "copy", "reshape_like" };
    for (size_t i = 0; i < TG_COUNT(name); ++i)
        if (tg_name_is(op, name[i]))
            return true;
    return false;
}

static const tg_value *group_attrs(fusing *f, const binding *last)
{
    const tg_value *attrs = tg_v_with(f->cx, NULL, "Primitive", tg_v_int(f->cx, 1));
    for (size_t i = 0; i < last->member.n; ++i)
        if (!is_reshape(f->at[last->member.at[i]].value->u.call->op))
            return attrs;
    return tg_v_with(f->cx, attrs, "relay.reshape_only", tg_v_int(f->cx, 1));
}

static const tg_type *type_of(tg_ctx *cx, const tg_func *fn)
{
    const tg_type **param = TG_ARRAY(cx, const tg_type *, fn->nparams);
    for (uint32_t i = 0; i < fn->nparams; ++i)
        param[i] = fn->param[i]->type;
    return tg_func_type(cx, fn->nparams, param, fn->ret);
}

/* A kernel of that name, given with the model, stands in for the fused function. */
static bool is_replaced(fusing *f, const tg_func *fn)
{
    const tg_func *kernel = tg_module_find(f->m, fn->name);
    if (kernel == NULL)
        return false;
    const tg_type *is = tg_prim_type(f->cx, f->m, kernel), *should = type_of(f->cx, fn);
    if (is != should) {
        tg_error(f->cx, kernel->span, "%s stands in for the fused function of its name, but does not have its type", kernel->name->text);
        tg_note(f->cx, kernel->span, "it is %s", is == NULL ? "no function from tensors to tensors that it writes" : tg_type_text(f->cx, is));
        tg_note(f->cx, fn->span, "the fused function is %s", tg_type_text(f->cx, should));
    }
    return true;
}

/* An equal function that stands already, or @p fn added to the module. */
static const tg_func *share(fusing *f, tg_func *fn, const binding *last)
{
    uint64_t h = tg_func_hash(f->cx, fn);
    const tg_func *known = tg_map_get(&f->shared->by_hash, h | 1);
    if (known != NULL && tg_func_equal(f->cx, known, fn, NULL))
        return known;
    fn->name = group_name(f, last);
    if (!is_replaced(f, fn))
        tg_module_add(f->m, fn);
    if (known == NULL)
        tg_map_put(f->cx, &f->shared->by_hash, h | 1, fn);
    return fn;
}

static const tg_node *emit_group(fusing *f, const binding *last)
{
    tg_ctx *cx = f->cx;
    making k = { .f = f };
    for (size_t i = 0; i < last->member.n; ++i) {
        const binding *b = &f->at[last->member.at[i]];
        const tg_node **kid = TG_ARRAY(cx, const tg_node *, b->value->nkids);
        for (uint32_t j = 0; j < b->value->nkids; ++j)
            kid[j] = operand(&k, b->value->kid[j], operand_name(cx, b->op, j));
        const tg_node *inner = bind_inside(&k, tg_node_with(cx, b->value, b->value->nkids, kid));
        tg_map_put(cx, &k.inside, (uint64_t)b->var->id + 1, (void *)(uintptr_t)inner);
    }
    tg_func *fn = TG_NEW(cx, tg_func);
    fn->kind = TG_FUNC_RELAY;
    fn->span = f->at[last->member.at[0]].value->span;
    fn->nparams = (uint32_t)k.param.n;
    fn->param = k.param.at;
    fn->ret = last->value->type;
    fn->attrs = group_attrs(f, last);
    fn->body = tg_rblock(cx, (uint32_t)k.bind.n, k.bind.at, tg_map_get(&k.inside, (uint64_t)last->var->id + 1));
    const tg_func *callee = share(f, fn, last);
    const tg_node *global = tg_rglobal(cx, callee->name, type_of(cx, fn));
    const tg_node *call = tg_rapply(cx, global, fn->span, (uint32_t)k.arg.n, k.arg.at);
    return tg_node_with_type(cx, call, fn->ret);
}

/* ---- blocks ---- */

static const tg_node *fuse_block(tg_ctx *cx, tg_module *m, const tg_node *block, sharing *shared);

static const tg_node *fuse_value(fusing *f, const tg_node *v)
{
    if (v->kind != TG_RIF)
        return v;
    const tg_node *kid[3] = { v->kid[0], fuse_block(f->cx, f->m, v->kid[1], f->shared), fuse_block(f->cx, f->m, v->kid[2], f->shared) };
    return kid[1] == NULL || kid[2] == NULL ? NULL : tg_node_with(f->cx, v, 3, kid);
}

/* Memory is laid out at compile time: every extent must be known by now. */
static bool check_known(fusing *f, const tg_node *bind)
{
    const tg_type *t = bind->kid[0]->type;
    TG_CHECK(f->cx, t != NULL, bind);
    for (uint32_t i = 0; i < (t->kind == TG_T_TUPLE ? t->n : 1); ++i) {
        const tg_type *part = t->kind == TG_T_TUPLE ? t->field[i] : t;
        for (uint32_t k = 0; part->kind == TG_T_TENSOR && k < part->n; ++k) {
            if (part->dim[k] >= 0)
                continue;
            const tg_node *v = bind->kid[0];
            const char *name = bind->u.var->numbered ? "" : tg_format(f->cx, "%%%s: ", bind->u.var->name->text);
            tg_error(f->cx, bind->span, "%s%s has the type %s: its shape is known only when the model runs", name,
                     v->kind == TG_RCALL && v->u.call->op != NULL ? v->u.call->op->text : "this value", tg_type_text(f->cx, t));
            return false;
        }
    }
    return true;
}

static bool is_function_of_module(fusing *f, const tg_node *v)
{
    const tg_func *g = v->kind == TG_RCALL && v->kid[0]->kind == TG_RGLOBAL ? tg_module_find(f->m, v->kid[0]->u.name) : NULL;
    return g != NULL && (g->kind == TG_FUNC_PRIM || tg_v_get_int(g->attrs, "Primitive", 0) == 1 || tg_v_get_int(g->attrs, TG_TAIL_LOOP, 0) == 1);
}

static bool read_binding(fusing *f, binding *b)
{
    const tg_node *v = b->value;
    b->kind = TG_FUSE_OPAQUE;
    if (v->kind == TG_RCALL && v->u.call->op != NULL) {
        b->op = tg_op_find(f->cx, v->u.call->op);
        if (b->op == NULL || b->op->lower == NULL) {
            tg_error(f->cx, v->span, "%s: this operator cannot be compiled here", v->u.call->op->text);
            return false;
        }
        b->kind = b->op->fusion;
    } else if ((v->kind == TG_RCALL && !is_function_of_module(f, v)) || v->kind == TG_RFN || v->kind == TG_RMATCH || v->kind == TG_RREF) {
        tg_error(f->cx, v->span, "this %s could not be resolved at compile time",
                 v->kind == TG_RCALL ? "call of a function" : tg_kind_info[v->kind].text + 1);
        return false;
    }
    return true;
}

/* Uses are counted from the result backwards, so that what only unused bindings use counts as unused too. */
static void count_uses(fusing *f, const tg_node *block)
{
    count_use(f, block->kid[f->n], NOWHERE);
    for (uint32_t i = f->n; i > 0; --i) {
        const tg_node *v = f->at[i - 1].value;
        for (uint32_t k = 0; f->at[i - 1].uses > 0 && k < v->nkids; ++k) {
            if (v->kid[k]->kind == TG_RBLOCK)
                tg_visit(f->cx, v->kid[k], count_inner, f);
            else
                count_use(f, v->kid[k], i - 1);
        }
        if (v->kind == TG_RVAR && f->at[i - 1].uses > 0)
            count_use(f, v, i - 1);
    }
}

static bool read_block(fusing *f, const tg_node *block)
{
    f->n = block->nkids - 1;
    f->at = TG_ARRAY(f->cx, binding, f->n);
    for (uint32_t i = 0; i < f->n; ++i) {
        f->at[i].var = block->kid[i]->u.var;
        f->at[i].value = block->kid[i]->kid[0];
        tg_map_put(f->cx, &f->index, (uint64_t)f->at[i].var->id + 1, (void *)(uintptr_t)(i + 1));
    }
    count_uses(f, block);
    for (uint32_t i = 0; i < f->n; ++i)
        if (f->at[i].uses > 0 && (!check_known(f, block->kid[i]) || !read_binding(f, &f->at[i])))
            return false;
    return true;
}

static const tg_node *fuse_block(tg_ctx *cx, tg_module *m, const tg_node *block, sharing *shared)
{
    fusing f = { .cx = cx, .m = m, .shared = shared };
    if (!read_block(&f, block))
        return NULL;
    for (uint32_t i = 0; i < f.n; ++i)
        if (f.at[i].op != NULL)
            join_operand(&f, i);
    for (uint32_t i = 0; i < f.n; ++i) {
        binding *b = &f.at[i];
        if (b->uses == 0 || (b->op != NULL && b->member.n == 0))
            continue;               /* unused, or inside a group that ends later */
        const tg_node *v = b->op != NULL ? emit_group(&f, b) : fuse_value(&f, b->value);
        if (v == NULL)
            return NULL;
        TG_PUSH(cx, f.out, tg_rbind(cx, b->var, v));
    }
    return tg_rblock(cx, (uint32_t)f.out.n, f.out.at, block->kid[f.n]);
}

bool tg_pass_fuse_ops(tg_ctx *cx, tg_module *m, const tg_options *opt)
{
    const tg_func *entry = tg_module_find_z(m, opt->entry);
    if (entry == NULL) {
        tg_error(cx, TG_NOWHERE, "the module has no function @%s to compile", opt->entry);
        return false;
    }
    sharing shared = { { 0 }, { 0 } };
    uint32_t errors = cx->nerrors;
    for (size_t i = 0, n = m->funcs.n; i < n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (f != entry && (f->kind != TG_FUNC_RELAY || tg_v_get_int(f->attrs, TG_TAIL_LOOP, 0) != 1))
            continue;
        const tg_node *body = fuse_block(cx, m, f->body, &shared);
        if (body == NULL)
            return false;
        tg_func *g = tg_func_copy(cx, f);
        g->body = body;
        tg_module_set(m, g);
    }
    return cx->nerrors == errors;
}
