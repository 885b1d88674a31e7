/* kernels.c: tirc verify of kernels. Each public PrimFunc gets buffers of random numbers, once in the compiled C and once in the
 * evaluator, which runs the module as it was read; all buffers are compared afterwards, also those that should not change. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "files.h"
#include "harness.h"
#include "ir/diag.h"
#include "ir/guard.h"
#include "ir/text.h"
#include "numbers.h"
#include "process.h"
#include "program.h"
#include "session.h"

/* A parameter: its value in the compiled C, then in the evaluator. Scalars are tensors of rank 0. */
typedef struct slot {
    const char *name, *type;
    tg_tensor *compiled, *reference;
    int64_t count;
    bool scalar;
} slot;

typedef struct kernel {
    const tg_name *name;
    size_t first, n;            /* its slots */
} kernel;

typedef struct kernels {
    tirc_job *job;              /* compiled and emitted */
    tirc_job reference;         /* as it was read */
    kernel *kernel;
    slot *slot;
    size_t n, nslots;
    uint64_t random;
    const char **call;          /* C expressions */
    size_t at;                  /* the kernel at hand */
} kernels;

bool tirc_has_only_kernels(const tirc_job *job)
{
    const tg_module *m = tg_session_of(job->ctx)->module;
    return m->funcs.n > 0 && tg_module_level(m) != TG_LEVEL_RELAY && tg_module_main(m) == NULL;
}

/* ---- what there is to run: from the module as it was read ---- */

static bool is_public(const tg_func *f)
{
    return f->kind == TG_FUNC_PRIM && tg_v_get(f->attrs, "global_symbol") != NULL;
}

static bool describe_slot(tg_ctx *cx, kernels *k, const tg_func *f, uint32_t i, slot *s)
{
    const tg_buffer *b = f->buffer == NULL ? NULL : f->buffer[i];
    int64_t dim[TG_MAX_NDIM];
    const tg_type *type;
    if (b != NULL && tg_buffer_dims(b, dim)) {
        type = tg_tensor_type(cx, b->dtype, b->ndim, dim, 0);
    } else if (b == NULL && f->param[i]->type->kind == TG_T_PRIM && f->param[i]->type->dtype.code != kDLOpaqueHandle) {
        type = tg_tensor_type(cx, f->param[i]->type->dtype, 0, NULL, 0);
    } else {
        tg_error(cx, f->param[i]->span, "%s: %s", f->name->text,
                 b != NULL ? "its shapes are not constants: verify cannot choose them" : "verify cannot choose what this pointer means");
        return false;
    }
    *s = (slot){ .name = f->param[i]->name->text, .type = tg_type_text(cx, type), .scalar = b == NULL };
    s->compiled = tg_tensor_new(cx, type, NULL);
    s->reference = tg_tensor_new(cx, type, NULL);
    tg_type_elements(type, &s->count);
    tirc_fill_random(s->compiled, s->count, &k->random);
    if (s->scalar && !tg_is_float(type->dtype)) tg_tensor_set_i64(s->compiled, 0, 1 + (tg_tensor_i64(s->compiled, 0) & 7));
    memcpy(s->reference->dl.data, s->compiled->dl.data, s->compiled->size_bytes);
    return true;
}

static bool describe(tg_ctx *cx, void *arg)
{
    kernels *k = arg;
    const tg_module *m = tg_session_of(cx)->module;
    size_t slots = 0;
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (is_public(m->funcs.at[i])) slots += m->funcs.at[i]->nparams;
    k->kernel = TG_ARRAY(cx, kernel, m->funcs.n);
    k->slot = TG_ARRAY(cx, slot, slots);
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (!is_public(f)) continue;
        k->kernel[k->n++] = (kernel){ f->name, k->nslots, f->nparams };
        for (uint32_t p = 0; p < f->nparams; ++p)
            if (!describe_slot(cx, k, f, p, &k->slot[k->nslots++])) return false;
    }
    if (k->n == 0) tg_error(cx, TG_NOWHERE, "no function here is public (has a global_symbol), so there is nothing to verify");
    return k->n > 0;
}

/* ---- the compiled C ---- */

/* "conv(at[0], *(int32_t *)at[1])" */
static bool write_calls(tg_ctx *cx, void *arg)
{
    kernels *k = arg;
    k->call = TG_ARRAY(cx, const char *, k->n);
    for (size_t i = 0; i < k->n; ++i) {
        const kernel *one = &k->kernel[i];
        const char *symbol = tg_map_get(&tg_session_of(cx)->symbol, TG_KEY(tg_intern_z(cx, one->name->text)));
        tg_text t = tg_text_new(cx);
        TG_CHECK(cx, symbol != NULL, NULL);
        tg_printf(&t, "%s(", symbol);
        for (size_t p = one->first; p < one->first + one->n; ++p) {
            DLDataType d = k->slot[p].compiled->type->dtype;
            const char *kind = tg_is_float(d) ? (d.bits == 64 ? "double" : "float")
                                              : tg_format(cx, "%sint%d_t", d.code == kDLUInt ? "u" : "", d.bits < 8 ? 8 : d.bits);
            tg_puts(&t, p > one->first ? ", " : "");
            if (k->slot[p].scalar) tg_printf(&t, "*(%s *)", kind);
            tg_printf(&t, "at[%zu]", p);
        }
        tg_putc(&t, ')');
        k->call[i] = tg_text_z(&t);
    }
    return true;
}

static bool write_files(kernels *k, const char *dir)
{
    char name[64];
    size_t *size = tirc_alloc((k->nslots + 1) * sizeof *size);
    tirc_output *o = tirc_output_new(dir);
    bool good = true;
    for (size_t i = 0; good && i < k->nslots; ++i) {
        size[i] = k->slot[i].compiled->size_bytes;
        tirc_harness_file(name, sizeof name, true, i);
        good = tirc_write_file(dir, name, k->slot[i].compiled->dl.data, size[i]);
    }
    good = good && tirc_output_open(o, TIRC_HARNESS_C)
           && tirc_harness_write_kernels(o, k->job->prefix, k->call, k->n, size, k->nslots) && tirc_output_close(o) && tirc_output_commit(o);
    tirc_output_free(o);
    free(size);
    return good;
}

static bool read_files(kernels *k, const char *dir)
{
    for (size_t i = 0; i < k->nslots; ++i) {
        char name[64];
        size_t size = 0;
        tirc_harness_file(name, sizeof name, false, i);
        char *path = tirc_path(dir, name), *bytes = tirc_read_file(path, &size);
        bool good = bytes != NULL && size == k->slot[i].compiled->size_bytes;
        free(path);
        if (good) memcpy(k->slot[i].compiled->dl.data, bytes, size);
        free(bytes);
        if (!good) return false;
    }
    return true;
}

static int run_compiled(kernels *k, const char *argv0)
{
    char *dir = tirc_temp_folder();
    int status = 1;
    if (dir != NULL) {
        tirc_output *emitted = tirc_output_new(dir);
        status = tirc_job_emit(k->job, emitted);
        tirc_output_free(emitted);
    }
    if (status == 0) status = tirc_exit_status(tg_guard(k->job->ctx, write_calls, k));
    if (status == 0 && !write_files(k, dir)) status = 1;
    if (status == 0) status = tirc_program_run(k->job, dir, argv0);
    if (status == 0 && !read_files(k, dir)) status = 1;
    tirc_temp_remove(dir);
    free(dir);
    return status;
}

/* ---- the evaluator ---- */

static bool evaluate(tg_ctx *cx, void *arg)
{
    kernels *k = arg;
    const kernel *one = &k->kernel[k->at];
    const tg_module *m = tg_session_of(cx)->module;
    DLTensor **tensor = TG_ARRAY(cx, DLTensor *, one->n);
    int64_t ret = 0;
    for (size_t p = 0; p < one->n; ++p) tensor[p] = &k->slot[one->first + p].reference->dl;
    bool good = tg_eval(cx, m, tg_module_find(m, one->name), tensor, (uint32_t)one->n, &ret);
    tg_temp_reset(cx);
    return good;
}

/* ---- the report ---- */

/* One line: the parameter that is furthest off. */
static bool report(const kernels *k, const kernel *one, double rtol, double atol)
{
    const slot *worst = NULL;
    tirc_difference most = { 0, 0, 0 };
    for (size_t p = one->first; p < one->first + one->n; ++p) {
        const slot *s = &k->slot[p];
        tirc_difference d = tirc_compare(s->compiled, s->reference, s->count, rtol, atol);
        if (worst != NULL && (d.bad < most.bad || (d.bad == most.bad && !(d.absolute > most.absolute)))) continue;
        worst = s;
        most = d;
    }
    printf("%s  %s against the evaluator: largest error %.3g absolute, %.3g relative", most.bad == 0 ? "pass" : "FAIL", one->name->text,
           most.absolute, most.relative);
    if (most.bad != 0) printf(" in %s %s; %lld of %lld elements are off", worst->name, worst->type, (long long)most.bad, (long long)worst->count);
    putchar('\n');
    return most.bad == 0;
}

int tirc_verify_kernels(tirc_job *job, const char *argv0)
{
    kernels k = { .job = job };
    double rtol = 1e-3, atol = 1e-5, seed = 1;
    bool good = true;
    if (!tirc_option_number(job->args, TIRC_RTOL, &rtol) || !tirc_option_number(job->args, TIRC_ATOL, &atol)
        || !tirc_option_number(job->args, TIRC_SEED, &seed))
        return 2;
    if (tirc_option_count(job->args, TIRC_INPUT) + tirc_option_count(job->args, TIRC_EXPECT) > 0) {
        tirc_say("options '-input' and '-expect' are for models; these are kernels, which run on random numbers");
        return 2;
    }
    k.random = (uint64_t)seed;
    int status = tirc_job_begin(&k.reference, job->args, job->progress);
    if (status == 0) status = tirc_job_read(&k.reference);
    if (status == 0) status = tirc_exit_status(tg_guard(k.reference.ctx, describe, &k));
    if (status == 0) status = tirc_job_compile(job, NULL);
    if (status == 0) status = run_compiled(&k, argv0);
    for (; status == 0 && k.at < k.n; ++k.at) {
        status = tirc_exit_status(tg_guard(k.reference.ctx, evaluate, &k));
        if (status == 0) good = report(&k, &k.kernel[k.at], rtol, atol) && good;
    }
    tirc_job_end(&k.reference);
    return status == 0 && !good ? 1 : status;
}
