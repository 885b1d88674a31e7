/* relay_model.h: Relay text compiled and run in the evaluator, for tests of passes over the graph. */
#ifndef TG_TEST_RELAY_MODEL_H
#define TG_TEST_RELAY_MODEL_H

#include "fixture.h"
#include "session.h"
#include "ir/print.h"
#include "tirgen/tirgen.h"

/* The passes up to and with @p last (NULL: all). */
static inline tirgen_status tg_test_compile(tg_fixture *f, const char *text, const char *last)
{
    tirgen_status status = tirgen_load_text(f->cx, "t.relay", text, strlen(text));
    return status == TIRGEN_OK ? tirgen_compile(f->cx, last, NULL, NULL) : status;
}

static inline void tg_test_good(tg_fixture *f, tirgen_status status)
{
    if (status != TIRGEN_OK)
        fail_msg("%s", tg_text_z(&f->log));
}

static inline const char *tg_test_printed(tg_fixture *f)
{
    tg_text t = tg_text_new(f->cx);
    tg_print_module(&t, tg_session_of(f->cx)->module);
    return tg_text_z(&t);
}

/* Runs the compiled model: @p in holds the numbers of all inputs one after another, @p out gets those of all outputs.
 * @return how many those are. */
static inline size_t tg_test_run(tg_fixture *f, const double *in, double *out)
{
    const tg_module *m = tg_session_of(f->cx)->module;
    size_t nin = 0, n = 0, nout = 0;
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_value *v = tg_v_get(m->funcs.at[i]->attrs, "input_vars");
        nin = v != NULL ? v->n : nin;
    }
    tg_tensor *t[32];
    DLTensor *arg[32];
    tirgen_tensor_info info;
    for (; tirgen_get_tensor(f->cx, n, &info) == TIRGEN_OK; ++n) {
        assert_true(n < TG_COUNT(t));
        t[n] = tg_tensor_new(f->cx, tg_tensor_type(f->cx, info.dtype, (uint32_t)info.ndim, info.shape, 0), NULL);
        arg[n] = &t[n]->dl;
        int64_t count = 0;
        tg_type_elements(t[n]->type, &count);
        for (int64_t k = 0; n < nin && k < count; ++k)
            tg_tensor_set_f64(t[n], k, *in++);
    }
    tg_test_clear_log(f);           /* of the question past the end */
    tg_test_good(f, tirgen_evaluate(f->cx, arg, n));
    for (size_t i = nin; i < n; ++i) {
        int64_t count = 0;
        tg_type_elements(t[i]->type, &count);
        for (int64_t k = 0; k < count; ++k)
            out[nout++] = tg_tensor_f64(t[i], k);
    }
    return nout;
}

/* A model, numbers in, numbers out. */
typedef struct tg_test_case { const char *what, *relay; double in[16]; size_t n; double want[16]; } tg_test_case;

static inline void tg_test_case_holds(const tg_test_case *c)
{
    void *state = NULL;
    assert_int_equal(tg_test_setup(&state), 0);
    tg_fixture *f = state;
    if (tg_test_compile(f, c->relay, NULL) != TIRGEN_OK)
        fail_msg("%s: %s", c->what, tg_text_z(&f->log));
    double out[64];
    size_t n = tg_test_run(f, c->in, out);
    if (n != c->n)
        fail_msg("%s: %zu numbers instead of %zu", c->what, n, c->n);
    for (size_t i = 0; i < n; ++i)
        if (out[i] < c->want[i] - 1e-5 || out[i] > c->want[i] + 1e-5)
            fail_msg("%s: number %zu is %g, expected %g", c->what, i, out[i], c->want[i]);
    tg_test_teardown(&state);
}

/* A model that is refused, and what the diagnostics say. */
typedef struct tg_test_refusal { const char *relay, *says; } tg_test_refusal;

static inline void tg_test_refused(const tg_test_refusal *c)
{
    void *state = NULL;
    assert_int_equal(tg_test_setup(&state), 0);
    tg_fixture *f = state;
    tirgen_status status = tg_test_compile(f, c->relay, "fuse-ops");
    if (status == TIRGEN_OK || status == TIRGEN_EBUG)
        fail_msg("%s\nis not refused: %s", c->relay, tg_text_z(&f->log));
    if (strstr(tg_text_z(&f->log), c->says) == NULL)
        fail_msg("not \"%s\" but: %s", c->says, tg_text_z(&f->log));
    tg_test_teardown(&state);
}

#endif
