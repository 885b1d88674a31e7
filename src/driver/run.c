/* run.c: tirc run and tirc verify. The emitted C goes into a temporary folder with a small main program, the C compiler makes a
 * program of both, which reads the inputs and writes the outputs as raw bytes in that folder. */
#define _XOPEN_SOURCE 700       /* realpath */
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "grammar/parse.h"
#include "files.h"
#include "harness.h"
#include "ir/diag.h"
#include "ir/guard.h"
#include "ir/tensor.h"
#include "kernels.h"
#include "numbers.h"
#include "process.h"
#include "program.h"

/* One input or output of the compiled model. */
typedef struct slot {
    tirgen_tensor_info info;
    const char *type;           /* "Tensor[(1, 10), float32]" */
    int64_t count;              /* elements */
    tg_tensor *value;           /* an input, or what the compiled C gave; in the job's context */
    tg_tensor *reference;       /* of outputs: the evaluator's */
    tg_tensor *expected;        /* of outputs: from -expect, or NULL */
} slot;

typedef struct model {
    tirc_job job;
    tirgen_report report;
    slot *slot;                 /* inputs, then outputs */
    size_t n;
    bool kernels;               /* no model was read, but functions */
} model;

/* ---- tensors and files ---- */

/* What a guarded call needs and gives: reading, writing and making tensors of a slot. */
typedef struct tensor_call {
    slot *slot;
    const char *path;
    const void *bytes;
    size_t size;
    const tg_tensor *from;
    tg_tensor *tensor;
    void *image;
} tensor_call;

static const tg_type *slot_type(tg_ctx *cx, const slot *s)
{
    return tg_tensor_type(cx, s->info.dtype, (uint32_t)s->info.ndim, s->info.shape, 0);
}

static bool make_tensor(tg_ctx *cx, void *arg)
{
    tensor_call *c = arg;
    const tg_type *type = slot_type(cx, c->slot);
    c->tensor = tg_tensor_new(cx, type, NULL);
    c->slot->type = tg_type_text(cx, type);
    return tg_type_elements(type, &c->slot->count);
}

/* .npy files have no bfloat16: its bits stand there as uint16. */
static bool is_dtype(DLDataType file, DLDataType want)
{
    return tg_dtype_eq(file, want) || (want.code == kDLBfloat && file.code == kDLUInt && file.bits == want.bits && file.lanes == want.lanes);
}

static bool decode_npy(tg_ctx *cx, void *arg)
{
    tensor_call *c = arg;
    const tg_tensor *t = tg_read_npy(cx, c->path, c->bytes, c->size);
    const tg_type *want = slot_type(cx, c->slot);
    if (t == NULL) return false;
    if (!is_dtype(t->type->dtype, want->dtype) || !tg_type_same_shape(t->type, want)) {
        tg_error(cx, TG_NOWHERE, "%s holds %s, but %s is %s", c->path, tg_type_text(cx, t->type), c->slot->info.name,
                 tg_type_text(cx, want));
        return false;
    }
    c->tensor = tg_tensor_new(cx, want, NULL);
    memcpy(c->tensor->dl.data, t->dl.data, t->size_bytes);
    return true;
}

static bool encode_npy(tg_ctx *cx, void *arg)
{
    tensor_call *c = arg;
    c->image = tg_write_npy(cx, c->from, &c->size);
    return c->image != NULL;
}

static tg_tensor *new_tensor(model *m, slot *s)
{
    tensor_call c = { .slot = s };
    return tg_guard(m->job.ctx, make_tensor, &c) == TIRGEN_OK ? c.tensor : NULL;
}

static tg_tensor *read_tensor(model *m, slot *s, const char *path)
{
    tensor_call c = { .slot = s, .path = path };
    char *bytes = tirc_read_file(path, &c.size);
    tirgen_status status;
    if (bytes == NULL) return NULL;
    c.bytes = bytes;
    status = tg_guard(m->job.ctx, decode_npy, &c);
    free(bytes);
    return status == TIRGEN_OK ? c.tensor : NULL;
}

/* ---- setting up ---- */

/* Compiles and learns what the model takes and gives. */
static int open_model(model *m, const tirc_args *args, tirc_progress *progress)
{
    int status;
    memset(m, 0, sizeof *m);
    status = tirc_job_begin(&m->job, args, progress);
    if (status == 0) status = tirc_job_read(&m->job);
    if (status == 0 && tirc_has_only_kernels(&m->job)) {
        m->kernels = true;
        return 0;
    }
    if (status == 0) status = tirc_job_compile(&m->job, NULL);
    if (status == 0) status = tirc_exit_status(tirgen_get_report(m->job.ctx, &m->report)) != 0;
    if (status != 0) return status;
    m->n = m->report.ninputs + m->report.noutputs;
    m->slot = tirc_alloc(m->n * sizeof *m->slot);
    for (size_t i = 0; i < m->n; ++i) {
        if (tirgen_get_tensor(m->job.ctx, i, &m->slot[i].info) != TIRGEN_OK) return 1;
        m->slot[i].value = new_tensor(m, &m->slot[i]);
        if (m->slot[i].value == NULL) return 1;
    }
    return 0;
}

static void close_model(model *m)
{
    free(m->slot);
    tirc_job_end(&m->job);
}

static bool check_count(const tirc_args *args, enum tirc_option id, size_t need, const char *what)
{
    size_t given = tirc_option_count(args, id);
    if (given == need) return true;
    tirc_say("option '%s' is given %zu times, but the model has %zu %s%s", tirc_option_name(id), given, need, what,
             need == 1 ? "" : "s");
    return false;
}

static int read_inputs(model *m)
{
    if (!check_count(m->job.args, TIRC_INPUT, m->report.ninputs, "input")) return 2;
    for (size_t i = 0; i < m->report.ninputs; ++i) {
        m->slot[i].value = read_tensor(m, &m->slot[i], tirc_option_at(m->job.args, TIRC_INPUT, i));
        if (m->slot[i].value == NULL) return 1;
    }
    return 0;
}

/* ---- the compiled C ---- */

static bool write_inputs(const model *m, const char *dir)
{
    char name[64];
    for (size_t i = 0; i < m->report.ninputs; ++i) {
        tirc_harness_file(name, sizeof name, true, i);
        if (!tirc_write_file(dir, name, m->slot[i].value->dl.data, m->slot[i].info.size_bytes)) return false;
    }
    return true;
}

static bool read_outputs(model *m, const char *dir)
{
    char name[64];
    for (size_t i = m->report.ninputs; i < m->n; ++i) {
        slot *s = &m->slot[i];
        size_t size = 0;
        tirc_harness_file(name, sizeof name, false, i - m->report.ninputs);
        char *path = tirc_path(dir, name), *bytes = tirc_read_file(path, &size);
        free(path);
        if (bytes == NULL || size != s->info.size_bytes) {
            free(bytes);
            tirc_say("the compiled program wrote no output %s", s->info.name);
            return false;
        }
        memcpy(s->value->dl.data, bytes, size);
        free(bytes);
    }
    return true;
}

static bool write_harness(const model *m, const char *dir)
{
    tirgen_tensor_info *info = tirc_alloc(m->n * sizeof *info);
    const char *api = tirc_option(m->job.args, TIRC_INTERFACE_API);
    tirc_output *o = tirc_output_new(dir);
    bool good;
    for (size_t i = 0; i < m->n; ++i) info[i] = m->slot[i].info;
    good = tirc_output_open(o, TIRC_HARNESS_C)
           && tirc_harness_write(o, m->job.prefix, api != NULL && strcmp(api, "packed") == 0, info, m->report.ninputs,
                                 m->report.noutputs)
           && tirc_output_close(o) && tirc_output_commit(o);
    tirc_output_free(o);
    free(info);
    return good;
}

/* Everything in @p dir: 0, or the exit status. */
static int run_in(model *m, const char *dir, const char *argv0)
{
    tirc_output *emitted = tirc_output_new(dir);
    int status = tirc_job_emit(&m->job, emitted);
    tirc_output_free(emitted);
    if (status == 0 && (!write_inputs(m, dir) || !write_harness(m, dir))) status = 1;
    if (status == 0) status = tirc_program_run(&m->job, dir, argv0);
    return status == 0 && !read_outputs(m, dir) ? 1 : status;
}

static int run_compiled(model *m, const char *argv0)
{
    char *dir = tirc_temp_folder();
    int status = 1;
    if (dir != NULL) status = run_in(m, dir, argv0);
    tirc_temp_remove(dir);
    free(dir);
    return status;
}

/* ---- the evaluator ---- */

static int evaluate(tirgen_ctx *ctx, tirc_progress *progress, DLTensor **tensor, size_t n)
{
    tirgen_status status;
    tirc_progress_step(progress, "the reference evaluator");
    status = tirgen_evaluate(ctx, tensor, n);
    tirc_progress_pause(progress);
    return tirc_exit_status(status);
}

/* The fully lowered module, for run -evaluator. */
static int run_evaluator(model *m)
{
    DLTensor **tensor = tirc_alloc(m->n * sizeof *tensor);
    int status;
    for (size_t i = 0; i < m->n; ++i) tensor[i] = &m->slot[i].value->dl;
    status = evaluate(m->job.ctx, m->job.progress, tensor, m->n);
    free(tensor);
    return status;
}

/* The module as soon as it is TIR, before schedules and lowering, in a context of its own: what verify compares with. */
static int run_reference(model *m)
{
    DLTensor **tensor = tirc_alloc(m->n * sizeof *tensor);
    tirc_args quiet = *m->job.args;
    tirc_job job;
    int status = 0;
    quiet.given = tirc_alloc((quiet.ngiven + 1) * sizeof *quiet.given);
    quiet.ngiven = 0;
    for (size_t i = 0; i < m->job.args->ngiven; ++i) {      /* dumps, times and sizes were shown the first time */
        tirc_given g = m->job.args->given[i];
        if (g.id != TIRC_PRINT_AFTER && g.id != TIRC_TIME_PASSES && g.id != TIRC_VERBOSE) quiet.given[quiet.ngiven++] = g;
    }
    for (size_t i = 0; i < m->n; ++i) {
        if (i >= m->report.ninputs) m->slot[i].reference = new_tensor(m, &m->slot[i]);
        const tg_tensor *t = i < m->report.ninputs ? m->slot[i].value : m->slot[i].reference;
        if (t == NULL) status = 1;
        tensor[i] = t == NULL ? NULL : (DLTensor *)(uintptr_t)&t->dl;
    }
    if (status == 0) status = tirc_job_begin(&job, &quiet, m->job.progress);
    else memset(&job, 0, sizeof job);
    if (status == 0) status = tirc_job_read(&job);
    if (status == 0) status = tirc_job_compile(&job, "main-interface");
    if (status == 0) status = evaluate(job.ctx, job.progress, tensor, m->n);
    tirc_job_end(&job);
    free(quiet.given);
    free(tensor);
    return status;
}

/* ---- tirc run ---- */

/* Writes all outputs or none. */
static int write_outputs(model *m)
{
    tirc_output *o = tirc_output_new("");
    bool good = true;
    for (size_t i = m->report.ninputs; good && i < m->n; ++i) {
        tensor_call c = { .slot = &m->slot[i], .from = m->slot[i].value };
        good = tg_guard(m->job.ctx, encode_npy, &c) == TIRGEN_OK
               && tirc_output_open(o, tirc_option_at(m->job.args, TIRC_OUTPUT, i - m->report.ninputs))
               && tirc_output_bytes(o, c.image, c.size) && tirc_output_close(o);
    }
    good = good && tirc_output_commit(o);
    tirc_output_free(o);
    return good ? 0 : 1;
}

int tirc_run(const tirc_args *args, tirc_progress *progress, const char *argv0)
{
    model m;
    int status = open_model(&m, args, progress);
    if (status == 0 && m.kernels) {
        tirc_say("there is no model to run: these are kernels, which tirc verify runs");
        status = 1;
    }
    if (status == 0) status = read_inputs(&m);
    if (status == 0 && !check_count(args, TIRC_OUTPUT, m.report.noutputs, "output")) status = 2;
    if (status == 0) status = tirc_option_on(args, TIRC_EVALUATOR) ? run_evaluator(&m) : run_compiled(&m, argv0);
    if (status == 0) status = write_outputs(&m);
    close_model(&m);
    return status;
}

/* ---- tirc verify ---- */

/* One line of the report. @return false when the output is off. */
static bool report_output(const slot *s, const tg_tensor *want, const char *against, double rtol, double atol)
{
    tirc_difference d = tirc_compare(s->value, want, s->count, rtol, atol);
    printf("%s  %s %s  against %s: largest error %.3g absolute, %.3g relative", d.bad == 0 ? "pass" : "FAIL", s->info.name,
           s->type, against, d.absolute, d.relative);
    if (d.bad != 0) printf("; %lld of %lld elements are off", (long long)d.bad, (long long)s->count);
    putchar('\n');
    return d.bad == 0;
}

static int read_expected(model *m)
{
    if (tirc_option_count(m->job.args, TIRC_EXPECT) == 0) return 0;
    if (!check_count(m->job.args, TIRC_EXPECT, m->report.noutputs, "output")) return 2;
    for (size_t i = m->report.ninputs; i < m->n; ++i) {
        const char *path = tirc_option_at(m->job.args, TIRC_EXPECT, i - m->report.ninputs);
        m->slot[i].expected = read_tensor(m, &m->slot[i], path);
        if (m->slot[i].expected == NULL) return 1;
    }
    return 0;
}

static int make_inputs(model *m)
{
    double seed = 1;
    uint64_t state;
    if (tirc_option_count(m->job.args, TIRC_INPUT) > 0) return read_inputs(m);
    if (!tirc_option_number(m->job.args, TIRC_SEED, &seed)) return 2;
    state = (uint64_t)seed;
    for (size_t i = 0; i < m->report.ninputs; ++i) tirc_fill_random(m->slot[i].value, m->slot[i].count, &state);
    return 0;
}

int tirc_verify(const tirc_args *args, tirc_progress *progress, const char *argv0)
{
    model m;
    double rtol = 1e-3, atol = 1e-5;
    bool good = true;
    int status;
    if (!tirc_option_number(args, TIRC_RTOL, &rtol) || !tirc_option_number(args, TIRC_ATOL, &atol)) return 2;
    status = open_model(&m, args, progress);
    if (status == 0 && m.kernels) {
        status = tirc_verify_kernels(&m.job, argv0);
        close_model(&m);
        return status;
    }
    if (status == 0) status = make_inputs(&m);
    if (status == 0) status = read_expected(&m);
    if (status == 0) status = run_compiled(&m, argv0);
    if (status == 0) status = run_reference(&m);
    for (size_t i = m.report.ninputs; status == 0 && i < m.n; ++i) {
        const slot *s = &m.slot[i];
        good = report_output(s, s->reference, "the evaluator", rtol, atol) && good;
        if (s->expected != NULL)
            good = report_output(s, s->expected, tirc_option_at(args, TIRC_EXPECT, i - m.report.ninputs), rtol, atol) && good;
    }
    close_model(&m);
    return status == 0 && !good ? 1 : status;
}
