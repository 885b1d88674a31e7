/* build_ir.h: small PrimFuncs that several tests start from. */
#ifndef TG_TEST_BUILD_IR_H
#define TG_TEST_BUILD_IR_H

#include "fixture.h"
#include "ir/module.h"
#include "ir/walk.h"

static inline tg_buffer *tg_test_buffer(tg_ctx *cx, const char *name, int64_t n)
{
    return tg_buffer_new(cx, tg_intern_z(cx, name), TG_FLOAT32, 1, &n, TG_INT32);
}

static inline tg_func *tg_test_func(tg_ctx *cx, const char *name, uint32_t n, tg_buffer *const *buffer, const tg_node *body)
{
    tg_func *f = TG_NEW(cx, tg_func);
    const tg_var **param = TG_ARRAY(cx, const tg_var *, n);
    const tg_buffer **b = TG_ARRAY(cx, const tg_buffer *, n);
    for (uint32_t i = 0; i < n; ++i) {
        b[i] = buffer[i];
        param[i] = buffer[i]->data;
    }
    f->name = tg_intern_z(cx, name);
    f->kind = TG_FUNC_PRIM;
    f->nparams = n;
    f->param = param;
    f->buffer = b;
    f->ret = tg_void(cx);
    f->body = body;
    return f;
}

/* for i in range(n): B[i] = A[i] + c */
static inline tg_func *tg_test_add(tg_ctx *cx, const char *name, int64_t n, double c)
{
    tg_buffer *ab[2] = { tg_test_buffer(cx, "A", n), tg_test_buffer(cx, "B", n) };
    tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), tg_prim(cx, TG_INT32));
    const tg_node *at = tg_var_ref(cx, i);
    const tg_node *sum = tg_bin(cx, TG_ADD, tg_load(cx, ab[0], 1, &at), tg_float(cx, TG_FLOAT32, c));
    const tg_node *body = tg_for(cx, TG_FOR_SERIAL, i, tg_int(cx, TG_INT32, 0), tg_int(cx, TG_INT32, n), tg_store(cx, ab[1], sum, 1, &at));
    return tg_test_func(cx, name, 2, ab, body);
}

#endif
