/* compile_stmt.c: statements and blocks to instructions. */
#include "compile.h"
#include "ir/dot_tile.h"

/* ---- loops ---- */

/* The variable counts from its start; one iteration needs no loop, none no code. */
static void for_setup(tg_comp *c, tg_task *t, const tg_var *var, uint32_t min, uint32_t extent, const tg_node *body)
{
    int64_t n;
    bool known = tg_build_is_const(&c->b, extent, &n);
    if (known && n <= 0) {
        tg_done(c);
        return;
    }
    t->stage = known && n == 1 ? 3 : 4;
    if (known && n == 1) {
        tg_build_enter(&c->b);
        tg_bind(c, var, tg_scalar(min), NULL);
        tg_want_stmt(c, body);
        return;
    }
    uint32_t end = tg_build_op(&c->b, TG_OP_ADD, min, extent, 0, 0);
    const tg_reg_info *from = &c->b.info[min], *to = &c->b.info[end];
    int64_t lo = from->lo, hi = to->hi;
    tg_build_loop_begin(&c->b);
    uint32_t v = tg_build_reg(&c->b);
    if (lo != INT64_MIN && hi != INT64_MAX && lo < hi)
        tg_build_range(&c->b, v, lo, hi - 1);
    t->reg = v;
    t->reg2 = end;
    t->label = tg_build_label(&c->b);           /* the body */
    t->label2 = tg_build_label(&c->b);          /* behind the loop */
    tg_ins *head = TG_TEMP_ARRAY(c->cx, tg_ins, 4);
    head[0] = (tg_ins){ .op = TG_OP_MOV, .a = v, .b = min };
    head[1] = (tg_ins){ .op = TG_OP_JUMP_GE, .a = v, .b = end, .k.i = t->label2 };
    head[2] = (tg_ins){ .op = TG_OP_LABEL, .k.i = t->label };
    if (known)
        head[1] = (tg_ins){ .op = TG_OP_LABEL, .k.i = -1 };     /* it runs at least once */
    t->state = head;
    tg_bind(c, var, tg_scalar(v), NULL);
    tg_want_stmt(c, body);
}

static void for_end(tg_comp *c, tg_task *t)
{
    tg_build_jump(&c->b, TG_OP_LOOP, t->reg, t->reg2, t->label);
    tg_build_loop_end(&c->b, t->state, 3);
    tg_build_place(&c->b, t->label2);
    tg_done(c);
}

static void step_for(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    uint32_t extent;
    switch (t->stage) {
    case 0: case 1:
        tg_want(c, n->kid[t->stage++]);
        break;
    case 2:
        extent = tg_pop(c).reg;
        for_setup(c, t, n->u.loop->var, tg_pop(c).reg, extent, n->kid[2]);
        break;
    case 3:
        tg_build_leave(&c->b);
        tg_done(c);
        break;
    default:
        for_end(c, t);
    }
}

static void step_while(tg_comp *c, tg_task *t)
{
    switch (t->stage++) {
    case 0:
        t->label = tg_build_label(&c->b);
        t->label2 = tg_build_label(&c->b);
        tg_build_loop_begin(&c->b);
        tg_build_place(&c->b, t->label);
        tg_want(c, t->n->kid[0]);
        break;
    case 1:
        tg_build_jump(&c->b, TG_OP_JUMP_ZERO, tg_pop(c).reg, 0, t->label2);
        tg_want_stmt(c, t->n->kid[1]);
        break;
    default:
        tg_build_jump(&c->b, TG_OP_JUMP, 0, 0, t->label);
        tg_build_loop_end(&c->b, NULL, 0);
        tg_build_place(&c->b, t->label2);
        tg_done(c);
    }
}

/* A thread axis as an attribute around its body (launch_thread) is a loop; every other attribute is a hint. */
static void step_attr(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n, *body = n->kid[n->nkids - 1];
    bool axis = (tg_name_is(n->u.attr->key, "thread_extent") || tg_name_is(n->u.attr->key, "virtual_thread")) &&
                n->nkids == 3 && n->kid[0]->kind == TG_VAR && (t->stage > 0 || tg_lookup(c, n->kid[0]->u.var) == NULL);
    switch (t->stage) {
    case 0:
        t->stage = axis ? 2 : 1;
        if (axis)
            tg_want(c, n->kid[1]);
        else
            tg_want_stmt(c, body);
        break;
    case 1:
        tg_done(c);
        break;
    case 2:
        for_setup(c, t, n->kid[0]->u.var, tg_build_int(&c->b, 0), tg_pop(c).reg, body);
        break;
    case 3:
        tg_build_leave(&c->b);
        tg_done(c);
        break;
    default:
        for_end(c, t);
    }
}

/* ---- conditions ---- */

static void step_if(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    bool otherwise = n->nkids > 2;
    int64_t v;
    uint32_t cond;
    switch (t->stage++) {
    case 0:
        tg_want(c, n->kid[0]);
        break;
    case 1:
        cond = tg_pop(c).reg;
        if (tg_build_is_const(&c->b, cond, &v)) {
            t->stage = 4;
            if (v != 0)
                tg_want_stmt(c, n->kid[1]);
            else if (otherwise)
                tg_want_stmt(c, n->kid[2]);
            break;
        }
        t->label = tg_build_label(&c->b);
        t->label2 = tg_build_label(&c->b);
        tg_build_jump(&c->b, TG_OP_JUMP_ZERO, cond, 0, t->label);
        tg_build_enter(&c->b);
        tg_want_stmt(c, n->kid[1]);
        break;
    case 2:
        tg_build_leave(&c->b);
        if (otherwise)
            tg_build_jump(&c->b, TG_OP_JUMP, 0, 0, t->label2);
        tg_build_place(&c->b, t->label);
        if (!otherwise) {
            tg_done(c);
            break;
        }
        tg_build_enter(&c->b);
        tg_want_stmt(c, n->kid[2]);
        break;
    case 3:
        tg_build_leave(&c->b);
        tg_build_place(&c->b, t->label2);
        tg_done(c);
        break;
    default:
        tg_done(c);
    }
}

static void step_assert(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n, *text = n->kid[1];
    uint32_t ok;
    switch (t->stage++) {
    case 0:
        tg_want(c, n->kid[0]);
        break;
    case 1:
        ok = tg_build_label(&c->b);
        tg_build_jump(&c->b, TG_OP_JUMP_NONZERO, tg_pop(c).reg, 0, ok);
        tg_build_ins(&c->b, (tg_ins){ .op = TG_OP_FAIL,
            .k.p = tg_trap_new(c, n, text->kind == TG_STR ? text->u.name->text : "", 0) });
        tg_build_place(&c->b, ok);
        tg_want_stmt(c, n->kid[2]);
        break;
    default:
        tg_done(c);
    }
}

/* ---- memory ---- */

static int pattern_of(DLDataType d)
{
    return tg_is_float(d) ? 0xff : 0x7f;        /* nan; else a large number */
}

/* The number of elements: an extent below 0 counts as 0. */
static uint32_t product(tg_comp *c, size_t n, const tg_val *extent)
{
    uint32_t p = tg_build_int(&c->b, 1), zero = tg_build_int(&c->b, 0);
    for (size_t i = 0; i < n; ++i)
        p = tg_build_op(&c->b, TG_OP_MUL_SIZE, p, tg_build_op(&c->b, TG_OP_MAX, extent[i].reg, zero, 0, 0), 0, 0);
    return p;
}

static void step_allocate(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    uint32_t nextents = n->nkids - 1;
    if (t->stage < nextents) {
        tg_want(c, n->kid[t->stage++]);
        return;
    }
    if (t->stage++ > nextents) {
        tg_done(c);
        return;
    }
    const tg_alloc_info *a = n->u.alloc;
    uint32_t elements = product(c, nextents, tg_pop_n(c, nextents));
    tg_val p = tg_allocate(c, n, a->var->name->text, elements, (int64_t)tg_dtype_bytes(a->dtype), pattern_of(a->dtype));
    tg_bind(c, a->var, p, NULL);
    tg_want_stmt(c, n->kid[nextents]);
}

static void step_alloc_const(tg_comp *c, tg_task *t)
{
    const tg_alloc_info *a = t->n->u.alloc;
    if (t->stage++ > 0) {
        tg_done(c);
        return;
    }
    if (a->tensor == NULL) {
        tg_comp_error(c, t->n->span, "%s", tg_lost_text(c->cx, a));
        return;
    }
    tg_pointee *p = tg_temp(c->cx, sizeof *p);
    *p = (tg_pointee){ 0, (int64_t)a->tensor->size_bytes, NULL, true };
    const unsigned char *at = (const unsigned char *)a->tensor->dl.data + a->tensor->dl.byte_offset;
    tg_bind(c, a->var, (tg_val){ 1, tg_region_new(c, a->tensor->size_bytes, at), NULL, p }, NULL);
    tg_want_stmt(c, t->n->kid[0]);
}

static void step_decl_buffer(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    tg_decl *d;
    switch (t->stage++) {
    case 0:
        d = tg_temp(c->cx, sizeof *d);
        *d = (tg_decl){ .buf = n->u.buf, .span = n->span };
        tg_declare(c, d);
        break;
    case 1:
        tg_want_stmt(c, n->kid[0]);
        break;
    default:
        tg_done(c);
    }
}

static void step_store(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    if (t->stage == 0 && tg_find_view(c, n->u.buf, n->span) == NULL)
        return;
    t->list = n->kid;
    t->nlist = n->nkids;
    if (tg_want_list(c, t))
        return;
    const tg_val *v = tg_pop_n(c, n->nkids);
    tg_store_lanes(c, n, tg_find_view(c, n->u.buf, n->span), v[0], v + 1);
    tg_done(c);
}

/* ---- blocks ---- */

enum block_stage { BLOCK_ITERS, BLOCK_PREDICATE, BLOCK_MATCH, BLOCK_ALLOC, BLOCK_INIT, BLOCK_BODY, BLOCK_END };

typedef struct block_state {
    enum block_stage stage;
    uint32_t at;                    /* operand, match or allocation that is next */
    uint32_t kid;                   /* first operand of the matches */
    uint32_t operand;               /* of a match */
    bool guarded, declared, initialising;
    uint32_t skip;                  /* label behind the block */
    uint32_t after_init;
    tg_val *iter;                   /* minimum, extent, binding of each */
} block_state;

static block_state *block_begin(tg_comp *c, tg_task *t)
{
    const tg_block *b = t->n->u.block;
    block_state *s = tg_temp(c->cx, sizeof *s);
    s->kid = 3 * b->niters + 1;
    for (uint32_t i = 0; i < b->nreads; ++i)
        s->kid += 2 * b->read[i]->ndim;
    for (uint32_t i = 0; i < b->nwrites; ++i)
        s->kid += 2 * b->write[i]->ndim;
    s->iter = TG_TEMP_ARRAY(c->cx, tg_val, 3 * b->niters);
    tg_build_enter(&c->b);
    return s;
}

static void block_iters(tg_comp *c, tg_task *t, block_state *s)
{
    const tg_node *n = t->n;
    const tg_block *b = n->u.block;
    if (s->at < 3 * b->niters) {
        tg_want(c, n->kid[s->at++]);
        return;
    }
    const tg_val *v = tg_pop_n(c, 3 * b->niters);
    for (uint32_t i = 0; i < 3 * b->niters; ++i)
        s->iter[i] = v[i];
    for (uint32_t i = 0; i < b->niters; ++i)
        tg_bind(c, b->iter[i].var, s->iter[3 * i + 2], NULL);
    s->stage = BLOCK_PREDICATE;
    s->at = 0;
    tg_want(c, n->kid[3 * b->niters]);
}

/* An iterator lies in its domain whenever the predicate holds. */
static void check_domains(tg_comp *c, const tg_node *n, const block_state *s)
{
    for (uint32_t i = 0; i < n->u.block->niters; ++i) {
        uint32_t min = s->iter[3 * i].reg, extent = s->iter[3 * i + 1].reg;
        uint32_t at = tg_build_op(&c->b, TG_OP_SUB, s->iter[3 * i + 2].reg, min, 0, 0);
        if (c->b.info[at].lo >= 0 && c->b.info[at].hi < c->b.info[extent].lo)
            continue;
        tg_build_check(&c->b, (tg_ins){ .op = TG_OP_CHECK_INDEX, .a = at, .b = extent,
            .k.p = tg_trap_new(c, n, tg_format(c->cx, "iterator %s of block %s", n->u.block->iter[i].var->name->text,
                                               n->u.block->name->text), UINT32_MAX) });
    }
}

static void block_predicate(tg_comp *c, tg_task *t, block_state *s)
{
    int64_t v;
    uint32_t p = tg_pop(c).reg;
    if (tg_build_is_const(&c->b, p, &v) && v == 0) {
        tg_build_leave(&c->b);
        tg_done(c);
        return;
    }
    if (!tg_build_is_const(&c->b, p, &v)) {
        s->guarded = true;
        s->skip = tg_build_label(&c->b);
        tg_build_jump(&c->b, TG_OP_JUMP_ZERO, p, 0, s->skip);
        tg_build_enter(&c->b);
    }
    check_domains(c, t->n, s);
    s->stage = BLOCK_MATCH;
}

/* match_buffer: the region's ends, then the view. */
static void block_match(tg_comp *c, tg_task *t, block_state *s)
{
    const tg_node *n = t->n;
    const tg_block *b = n->u.block;
    if (s->at == b->nmatches) {
        s->stage = BLOCK_ALLOC;
        s->at = 0;
        return;
    }
    const struct tg_block_match *m = &b->match[s->at];
    uint32_t ndim = m->source->ndim;
    if (s->operand < 2 * ndim) {
        tg_want(c, n->kid[s->kid + s->operand++]);
        return;
    }
    const tg_view *w = tg_find_view(c, m->source, n->span);
    if (w == NULL)
        return;
    const tg_val *v = tg_pop_n(c, 2 * ndim);
    uint32_t *min = TG_TEMP_ARRAY(c->cx, uint32_t, ndim), *extent = TG_TEMP_ARRAY(c->cx, uint32_t, ndim);
    for (uint32_t k = 0; k < ndim; ++k) {
        min[k] = v[2 * k].reg;
        extent[k] = v[2 * k + 1].reg;
        if (c->b.info[extent[k]].lo < 0 || c->b.info[extent[k]].hi > c->b.info[w->shape[k]].lo)
            tg_build_check(&c->b, (tg_ins){ .op = TG_OP_CHECK_RANGE, .a = extent[k], .b = w->shape[k],
                .k.p = tg_trap_new(c, n, tg_format(c->cx, "the region of %s", m->source->name->text), k) });
        uint32_t room = tg_build_op(&c->b, TG_OP_SUB, w->shape[k], extent[k], 0, 0);
        if (c->b.info[min[k]].lo < 0 || c->b.info[min[k]].hi > c->b.info[room].lo)
            tg_build_check(&c->b, (tg_ins){ .op = TG_OP_CHECK_RANGE, .a = min[k], .b = room,
                .k.p = tg_trap_new(c, n, m->source->name->text, k) });
    }
    tg_decl *d = tg_temp(c->cx, sizeof *d);
    *d = (tg_decl){ .buf = m->view,
                    .source = w,
                    .source_offset = tg_offset_reg(c, w, ndim, min),
                    .region_extent = extent,
                    .span = n->span };
    s->kid += 2 * ndim;
    s->operand = 0;
    ++s->at;
    tg_declare(c, d);
}

static void block_alloc(tg_comp *c, tg_task *t, block_state *s)
{
    const tg_block *b = t->n->u.block;
    if (s->at == b->nallocs) {
        s->stage = BLOCK_INIT;
        return;
    }
    const tg_buffer *a = b->alloc[s->at];
    if (s->operand < a->ndim) {
        tg_want(c, a->shape[s->operand++]);
        return;
    }
    uint32_t elements = product(c, a->ndim, tg_pop_n(c, a->ndim));
    tg_bind(c, a->data,
            tg_allocate(c, t->n, a->name->text, elements, (int64_t)tg_dtype_bytes(a->dtype), pattern_of(a->dtype)),
            NULL);
    tg_decl *d = tg_temp(c->cx, sizeof *d);
    *d = (tg_decl){ .buf = a, .span = t->n->span };
    s->operand = 0;
    ++s->at;
    tg_declare(c, d);
}

/* init runs where every reduce iterator is at the start of its domain; the innermost is asked first. */
static void block_init(tg_comp *c, tg_task *t, block_state *s)
{
    const tg_block *b = t->n->u.block;
    s->stage = BLOCK_BODY;
    if (!b->has_init)
        return;
    s->initialising = true;
    s->after_init = tg_build_label(&c->b);
    for (uint32_t i = b->niters; i-- > 0;) {
        if (b->iter[i].kind == TG_ITER_REDUCE && s->iter[3 * i].reg != s->iter[3 * i + 2].reg)
            tg_build_jump(&c->b, TG_OP_JUMP_NE, s->iter[3 * i + 2].reg, s->iter[3 * i].reg, s->after_init);
    }
    tg_build_enter(&c->b);
    tg_want_stmt(c, tg_block_init(t->n));
}

static void block_body(tg_comp *c, tg_task *t, block_state *s)
{
    if (s->initialising) {
        tg_build_leave(&c->b);
        tg_build_place(&c->b, s->after_init);
    }
    s->stage = BLOCK_END;
    tg_want_stmt(c, tg_block_body(t->n));
}

static void step_block(tg_comp *c, tg_task *t)
{
    block_state *s = t->state;
    if (s == NULL)
        s = t->state = block_begin(c, t);
    switch (s->stage) {
    case BLOCK_ITERS: block_iters(c, t, s); break;
    case BLOCK_PREDICATE: block_predicate(c, t, s); break;
    case BLOCK_MATCH: block_match(c, t, s); break;
    case BLOCK_ALLOC: block_alloc(c, t, s); break;
    case BLOCK_INIT: block_init(c, t, s); break;
    case BLOCK_BODY: block_body(c, t, s); break;
    case BLOCK_END:
        if (s->guarded) {
            tg_build_leave(&c->b);
            tg_build_place(&c->b, s->skip);
        }
        tg_build_leave(&c->b);
        tg_done(c);
    }
}

/* The loops it stands for. */
static void step_dot_tile(tg_comp *c, tg_task *t)
{
    const tg_node *call = t->n->kid[0];
    if (!tg_dot_is_plain(call))
        tg_comp_error(c, call->span, "%s: expected three addresses of elements and constants", call->u.call->op->text);
    else if (t->stage++ == 0) {
        tg_want_stmt(c, tg_dot_loops(c->cx, call));
        return;
    }
    tg_done(c);
}

void tg_step_stmt(tg_comp *c, tg_task *t)
{
    const tg_node *n = t->n;
    switch (n->kind) {
    case TG_STORE: step_store(c, t); break;
    case TG_FOR: step_for(c, t); break;
    case TG_WHILE: step_while(c, t); break;
    case TG_IF: step_if(c, t); break;
    case TG_SEQ:
        if (t->stage < n->nkids)
            tg_want_stmt(c, n->kid[t->stage++]);
        else
            tg_done(c);
        break;
    case TG_EVALUATE:
        if (tg_is_dot_call(n->kid[0])) {
            step_dot_tile(c, t);
        } else if (t->stage++ == 0) {
            tg_want(c, n->kid[0]);
        } else {
            tg_pop(c);
            tg_done(c);
        }
        break;
    case TG_LET_STMT:
        if (t->stage == 1)
            tg_bind(c, n->u.var, tg_pop(c), NULL);
        if (t->stage++ == 0)
            tg_want(c, n->kid[0]);
        else if (t->stage == 2)
            tg_want_stmt(c, n->kid[1]);
        else
            tg_done(c);
        break;
    case TG_ALLOCATE: step_allocate(c, t); break;
    case TG_ALLOC_CONST: step_alloc_const(c, t); break;
    case TG_DECL_BUFFER: step_decl_buffer(c, t); break;
    case TG_ATTR: step_attr(c, t); break;
    case TG_ASSERT: step_assert(c, t); break;
    case TG_BLOCK: step_block(c, t); break;
    default: tg_comp_error(c, n->span, "a %s statement cannot be evaluated", tg_kind_info[n->kind].text);
    }
}
