/* tvmscript_loop.c: for statements: what stands after in, and the nest of loops it becomes.
 * Formats: tvmscript-tir.md section 7. */
#include "tvmscript_elab.h"

typedef struct loop_spec {
    enum tg_for_kind kind;
    const tg_node *min, *extent;
    int64_t step;
    const tg_name *thread;
    const tg_value *annotations;
} loop_spec;

/* T.serial(n, unroll=False) of 0.25 is short for an annotation. */
static const tg_value *unroll_annotation(tg_elab *e, const tg_val *v, const tg_value *annotations)
{
    if (v->kind == TG_VAL_INT)
        return tg_v_with(e->cx, annotations, "pragma_unroll", tg_v_int(e->cx, (int64_t)v->u.mag));
    return tg_v_with(e->cx, annotations, tg_el_is_true(e, v) ? "pragma_unroll" : "disable_unroll",
                     tg_v_bool(e->cx, true));
}

static bool read_loop(tg_elab *e, const tg_val *form, loop_spec *out)
{
    const tg_val *slot[6];
    *out = (loop_spec){ .kind = (enum tg_for_kind)form->w.word->arg, .step = 1 };
    if (!tg_el_args(e, form, "start/begin | stop/end step annotations thread unroll", slot))
        return false;
    if (slot[4] == NULL && out->kind == TG_FOR_THREAD && slot[2] != NULL && slot[2]->kind == TG_VAL_STR) {
        slot[4] = slot[2];              /* thread_binding(begin, end, "threadIdx.x") */
        slot[2] = NULL;
    }
    if (slot[4] == NULL && out->kind == TG_FOR_THREAD && slot[1] != NULL && slot[1]->kind == TG_VAL_STR) {
        slot[4] = slot[1];
        slot[1] = NULL;
    }
    const tg_node *stop = tg_el_index(e, slot[1] != NULL ? slot[1] : slot[0]);
    out->min = slot[1] != NULL ? tg_el_index(e, slot[0]) : stop != NULL ? tg_int(e->cx, tg_dtype_of(stop), 0) : NULL;
    if (stop == NULL || out->min == NULL || !tg_el_agree(e, form->at, &out->min, &stop))
        return false;
    out->extent = tg_el_extent(e, form->at, out->min, stop);
    if (out->extent == NULL || (slot[2] != NULL && !tg_el_int(e, slot[2], "the step of a loop", &out->step)))
        return false;
    if (out->step < 1 || out->step > INT32_MAX) {
        tg_el_error(e, slot[2]->at, "the step of a loop must be positive");
        return false;
    }
    if ((slot[3] != NULL && (out->annotations = tg_el_attr_dict(e, slot[3])) == NULL)
        || (slot[4] != NULL && (out->thread = tg_el_str(e, slot[4], "the thread axis")) == NULL))
        return false;
    if (slot[5] != NULL)
        out->annotations = unroll_annotation(e, slot[5], out->annotations);
    if ((out->thread != NULL) != (out->kind == TG_FOR_THREAD)) {
        tg_el_error(e, form->at,
                    out->thread != NULL ? "only thread_binding has a thread" : "thread_binding needs thread=");
        return false;
    }
    return true;
}

/* The loops of an iterator, outermost first; NULL after an error. */
static loop_spec *read_loops(tg_elab *e, const tg_val *form, uint32_t *n)
{
    bool grid = form->kind == TG_VAL_FORM && form->w.word->id == TG_W_GRID;
    if (!grid && (form->kind != TG_VAL_FORM || form->w.word->id != TG_W_LOOP)) {
        if (form->kind != TG_VAL_ERROR)
            tg_el_error(e, form->at, "%s is nothing to loop over",
                        form->kind == TG_VAL_FORM ? form->name->text : tg_el_what(form));
        return NULL;
    }
    *n = grid ? form->n : 1;
    loop_spec *loop = TG_TEMP_ARRAY(e->cx, loop_spec, *n + 1);
    if (!grid)
        return read_loop(e, form, loop) ? loop : NULL;
    for (uint32_t i = 0; i < *n; ++i) {
        const tg_val *dim = &form->u.item[i], *end = dim;
        const tg_node *stop;
        loop[i].step = 1;
        if (dim->kind == TG_VAL_TUPLE && dim->n == 2)       /* (begin, end) */
            end = &dim->u.item[1];
        if ((stop = tg_el_index(e, end)) == NULL)
            return NULL;
        loop[i].min = end != dim ? tg_el_index(e, &dim->u.item[0]) : tg_int(e->cx, tg_dtype_of(stop), 0);
        if (loop[i].min == NULL || !tg_el_agree(e, dim->at, &loop[i].min, &stop) ||
            (loop[i].extent = tg_el_extent(e, dim->at, loop[i].min, stop)) == NULL)
            return NULL;
    }
    return loop;
}

static void bind_loop_var(tg_elab *e, const tg_syn *name, const tg_var *var, const loop_spec *spec)
{
    struct tg_el_loop *known = TG_NEW(e->cx, struct tg_el_loop);
    *known = (struct tg_el_loop){ spec->min, spec->extent };
    tg_val v = tg_el_of_expr(name, tg_node_new(e->cx, TG_VAR, var->span, var->type, var, 0, NULL));
    v.w.loop = known;
    tg_el_bind(e, name->u.name, v);
}

/* With a step the loop counts, and the variable is let to its value in each turn. */
static void open_loop(tg_elab *e, const tg_syn *name, loop_spec *spec, const tg_syn *at)
{
    tg_ctx *cx = e->cx;
    tg_loop *loop = TG_NEW(cx, tg_loop);
    tg_var *var = tg_el_new_var(e, name, spec->extent->type);
    DLDataType d = tg_dtype_of(spec->extent);
    *loop = (tg_loop){ var, spec->kind, spec->thread, spec->annotations };
    const tg_node *min = spec->min;
    if (spec->step != 1) {
        const tg_node *step = tg_int(cx, d, spec->step);
        loop->var = tg_el_new_var(e, name, spec->extent->type);
        spec->extent =
            spec->extent->kind == TG_INT
                ? tg_int(cx, d, spec->extent->u.i <= 0 ? 0 : (spec->extent->u.i - 1) / spec->step + 1)
                : tg_bin(cx, TG_FLOORDIV, tg_bin(cx, TG_ADD, spec->extent, tg_int(cx, d, spec->step - 1)), step);
        spec->min = tg_int(cx, d, 0);
        tg_el_open(e, tg_el_span(e, at), TG_FOR, loop, 2, (const tg_node *[]){ spec->min, spec->extent });
        const tg_node *value = tg_bin(cx, TG_MUL, tg_var_ref(cx, loop->var), step);
        if (!tg_is_int_const(min, 0))
            value = tg_bin(cx, TG_ADD, min, value);
        tg_el_open(e, tg_el_span(e, at), TG_LET_STMT, var, 1, &value);
        tg_el_bind_var(e, name, var);
        return;
    }
    tg_el_open(e, tg_el_span(e, at), TG_FOR, loop, 2, (const tg_node *[]){ min, spec->extent });
    bind_loop_var(e, name, var, spec);
}

void tg_el_loop(tg_elab *e, const tg_syn *s)
{
    const tg_syn *target = tg_syn_first(s), *iterator = target->next;
    tg_val form = tg_el_value(e, iterator);
    uint32_t n = 0;
    size_t mark = tg_el_mark(e), floor = e->items.n;
    loop_spec *spec = read_loops(e, &form, &n);
    bool many = target->kind == TG_SYN_TUPLE || target->kind == TG_SYN_LIST;
    if (spec != NULL && n != (many ? target->nkids : 1)) {
        tg_el_error(e, target, "%u loop%s, %u name%s", (unsigned)n, n == 1 ? "" : "s",
                    many ? (unsigned)target->nkids : 1u, many && target->nkids != 1 ? "s" : "");
        spec = NULL;
    }
    if (spec == NULL) {
        tg_el_bind_failed(e, target);
    } else {
        const tg_syn *name = many ? tg_syn_first(target) : target;
        for (uint32_t i = 0; i < n; ++i, name = name->next) {
            if (tg_el_target(e, name) == NULL)
                break;
            open_loop(e, name, &spec[i], i == 0 ? s : name);
        }
    }
    unsigned outside = e->loops;
    e->loops = many ? 0 : outside + 1;          /* which of several loops a jump would leave is not said */
    tg_el_statements(e, s->last);
    e->loops = outside;
    const tg_node *body = tg_el_close(e, floor);
    tg_el_leave(e, mark);
    if (spec != NULL)
        tg_el_push(e, body->kind == TG_FOR ? tg_el_without_jumps(e, body) : body);
}
