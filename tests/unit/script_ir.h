/* script_ir.h: a PrimFunc under construction for the tests of the TVMScript printer, and the round trip through text. */
#ifndef TG_TEST_SCRIPT_IR_H
#define TG_TEST_SCRIPT_IR_H

#include "fixture.h"

#include "grammar/parse.h"
#include "ir/print.h"

typedef struct maker {
    tg_fixture *f;
    tg_ctx *cx;
    tg_buffer *a, *b, *n;           /* float32[8], float32[8], int32[8]: parameters */
    const tg_var *s, *l;            /* int32 and int64 parameters */
} maker;

static inline maker make(void **state)
{
    tg_fixture *f = *state;
    tg_ctx *cx = f->cx;
    const int64_t eight = 8;
    return (maker){ f,
                    cx,
                    tg_buffer_new(cx, tg_intern_z(cx, "A"), TG_FLOAT32, 1, &eight, TG_INT32),
                    tg_buffer_new(cx, tg_intern_z(cx, "B"), TG_FLOAT32, 1, &eight, TG_INT32),
                    tg_buffer_new(cx, tg_intern_z(cx, "N"), TG_INT32, 1, &eight, TG_INT32),
                    tg_var_new(cx, tg_intern_z(cx, "s"), tg_prim(cx, TG_INT32)),
                    tg_var_new(cx, tg_intern_z(cx, "l"), tg_prim(cx, TG_INT64)) };
}

static inline const tg_func *function(const maker *m, const char *name, const tg_node *body)
{
    tg_func *f = TG_NEW(m->cx, tg_func);
    const tg_var *param[5] = { m->a->data, m->b->data, m->n->data, m->s, m->l };
    const tg_buffer *buffer[5] = { m->a, m->b, m->n, NULL, NULL };
    *f = (tg_func){ .name = tg_intern_z(m->cx, name),
                    .kind = TG_FUNC_PRIM,
                    .nparams = 5,
                    .ret = tg_void(m->cx),
                    .body = body,
                    .param = tg_copy(m->cx, param, sizeof param),
                    .buffer = tg_copy(m->cx, buffer, sizeof buffer) };
    return f;
}

/* Prints, reads, compares, prints again. */
static inline const char *round_trip(const maker *k, const tg_module *m)
{
    tg_ctx *cx = k->cx;
    tg_text text = tg_text_new(cx), again = tg_text_new(cx);
    const char *why = NULL;
    tg_print_module(&text, m);
    const char *printed = tg_text_z(&text);
    tg_module *back = tg_module_new(cx);
    if (!tg_parse_tvmscript(cx, back, tg_source_add(cx, "printed.py", printed, text.n)))
        fail_msg("%s\n%s", tg_text_z(&k->f->log), printed);
    if (!tg_module_equal(cx, m, back, &why))
        fail_msg("%s\n%s", why, printed);
    tg_print_module(&again, back);
    assert_string_equal(tg_text_z(&again), printed);
    return printed;
}

static inline const char *text_of_body(const maker *k, const tg_node *body)
{
    tg_module *m = tg_module_new(k->cx);
    tg_module_add(m, function(k, "f", body));
    return round_trip(k, m);
}

static inline void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
}

static inline const tg_node *at(const maker *k, const tg_buffer *b, int64_t i)
{
    const tg_node *index = tg_int(k->cx, TG_INT32, i);
    return tg_load(k->cx, b, 1, &index);
}

static inline const tg_node *i32(const maker *k, int64_t v)
{
    return tg_int(k->cx, TG_INT32, v);
}

static inline const tg_node *f32(const maker *k, double v)
{
    return tg_float(k->cx, TG_FLOAT32, v);
}

static inline const tg_node *scalar(const maker *k)
{
    return tg_var_ref(k->cx, k->s);
}

static inline const tg_node *wide(const maker *k)
{
    return tg_var_ref(k->cx, k->l);
}

static inline const tg_node *put(const maker *k, const tg_buffer *b, int64_t i, const tg_node *v)
{
    const tg_node *index = tg_int(k->cx, TG_INT32, i);
    return tg_store(k->cx, b, v, 1, &index);
}

static inline const char *text_of(const maker *k, const tg_node *e)
{
    return text_of_body(k, tg_evaluate(k->cx, e));
}

static inline const tg_node *pointer(const maker *k)
{
    return tg_var_ref(k->cx, k->a->data);
}

/* One statement of each kind that holds the rest of its suite, around @p body. */
static inline const tg_node *heads(const maker *k, enum tg_kind kind, const tg_node *body)
{
    tg_ctx *cx = k->cx;
    switch (kind) {
    case TG_LET_STMT:
        return tg_let_stmt(cx, tg_var_new(cx, tg_intern_z(cx, "x"), tg_prim(cx, TG_INT32)),
                           tg_bin(cx, TG_ADD, scalar(k), i32(k, 1)), body);
    case TG_ALLOCATE: {
        tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
        *info = (tg_alloc_info){ .dtype = TG_INT8, .scope = tg_intern_z(cx, "global.workspace") };
        info->var = tg_var_new(cx, tg_intern_z(cx, "p"), tg_ptr(cx, TG_INT8, info->scope));
        info->annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "alignment") },
                                      (const tg_value *[]){ tg_v_int(cx, 16) });
        return tg_node_new(cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 3,
                           (const tg_node *[]){ i32(k, 4), i32(k, 16), body });
    }
    case TG_ALLOC_CONST: {
        static const float value[6] = { 1, 2, 3, 4, 5, 0.1f };
        static const int64_t extent[2] = { 2, 3 };
        tg_alloc_info *info = TG_NEW(cx, tg_alloc_info);
        *info = (tg_alloc_info){ .dtype = TG_FLOAT32, .scope = tg_intern_z(cx, "global"), .ndim = 2, .extent = extent };
        info->var = tg_var_new(cx, tg_intern_z(cx, "w"), tg_ptr(cx, TG_FLOAT32, info->scope));
        info->tensor =
            tg_tensor_new(cx, tg_tensor_type(cx, TG_FLOAT32, 2, extent, 0), tg_copy(cx, value, sizeof value));
        return tg_node_new(cx, TG_ALLOC_CONST, TG_NOWHERE, NULL, info, 1, &body);
    }
    case TG_DECL_BUFFER: {
        tg_buffer *b = tg_buffer_new(cx, tg_intern_z(cx, "V"), TG_INT32, 2, (const int64_t[]){ 2, 4 }, TG_INT32);
        b->data = k->a->data;
        b->strides = tg_copy(cx, (const tg_node *[]){ i32(k, 4), i32(k, 1) }, 2 * sizeof(tg_node *));
        b->elem_offset = i32(k, 0);
        b->align = 16;
        b->offset_factor = 4;
        b->auto_broadcast = true;
        return tg_node_new(cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, b, 1, &body);
    }
    case TG_ATTR: {
        tg_attr_stmt *attr = TG_NEW(cx, tg_attr_stmt);
        attr->key = tg_intern_z(cx, "pragma_unroll_explicit");
        return tg_node_new(cx, TG_ATTR, TG_NOWHERE, NULL, attr, 3, (const tg_node *[]){ pointer(k), i32(k, 1), body });
    }
    default:
        return tg_node_new(
            cx, TG_ASSERT, TG_NOWHERE, NULL, NULL, 3,
            (const tg_node *[]){ tg_bin(cx, TG_LT, scalar(k), i32(k, 8)), tg_strz(cx, "s is \"too\" large"), body });
    }
}

static inline const tg_node *loop(const maker *k, enum tg_for_kind kind, const char *name, const tg_node *min,
                                  const tg_node *extent, const tg_value *annotations, const tg_node *body)
{
    tg_loop *l = TG_NEW(k->cx, tg_loop);
    *l = (tg_loop){ tg_var_new(k->cx, tg_intern_z(k->cx, name), min->type), kind,
                    kind == TG_FOR_THREAD ? tg_intern_z(k->cx, "threadIdx.x") : NULL, annotations };
    return tg_for_with(k->cx, l, min, extent, body);
}

static inline const tg_node *in_root(tg_ctx *cx, const tg_node *body, uint32_t nallocs, const tg_buffer **alloc)
{
    tg_block_parts root = { .name = tg_intern_z(cx, "root"), .nallocs = nallocs, .alloc = alloc, .body = body };
    return tg_block_new(cx, &root);
}

#endif
