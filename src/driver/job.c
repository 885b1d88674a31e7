/* job.c: one compilation as the command line asks for it. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "ir/module.h"
#include "mlf.h"
#include "session.h"

int tirc_exit_status(tirgen_status status)
{
    if (status == TIRGEN_OK) return 0;
    return status == TIRGEN_EOPTION ? 2 : 1;
}

bool tirc_check_pass(enum tirc_option option, const char *name)
{
    const char *near, *names[64];
    size_t n = 0;
    while (n < 64 && (names[n] = tirgen_pass_name(n)) != NULL) {
        if (strcmp(names[n], name) == 0) return true;
        ++n;
    }
    near = tirc_nearest(name, names, n);
    tirc_say("option '%s': there is no pass '%s'%s%s%s", tirc_option_name(option), name,
             near == NULL ? "; tirc --list-passes shows them" : "; did you mean ", near == NULL ? "" : near,
             near == NULL ? "" : "?");
    return false;
}

static void show_diag(void *user, const tirgen_diag *diag)
{
    tirc_job *job = user;
    tirc_progress_wipe(job->progress);
    fputs(diag->rendered, stderr);
}

/* ---- options ---- */

static char *joined(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *out = tirc_alloc(n);
    snprintf(out, n, "%s%s%s", a, b, c);
    return out;
}

/* The target string with what TVM's command line gives piece by piece. */
static char *target_of(const tirc_args *args)
{
    static const struct { enum tirc_option id; const char *key; } part[] = {
        { TIRC_MCPU, " -mcpu=" }, { TIRC_MATTR, " -mattr=" }, { TIRC_MARCH, " -march=" },
        { TIRC_DEVICE, " -device=" }, { TIRC_MODEL, " -model=" }, { TIRC_KEYS, " -keys=" },
    };
    const char *whole = tirc_option(args, TIRC_TARGET);
    char *out = tirc_copy(whole == NULL ? "c" : whole);
    for (size_t i = 0; i < sizeof part / sizeof part[0]; ++i) {
        const char *value = tirc_option(args, part[i].id);
        if (value == NULL) continue;
        char *longer = joined(out, part[i].key, value);
        free(out);
        out = longer;
    }
    return out;
}

static char *prefix_of(const tirc_args *args)
{
    const char *prefix = tirc_option(args, TIRC_PREFIX), *name = tirc_option(args, TIRC_MODULE_NAME);
    if (prefix != NULL) return tirc_copy(prefix);
    return joined("tvmgen_", name == NULL ? "default" : name, "");
}

static int set_options(tirc_job *job)
{
    static const enum tirc_option passed_on[] = { TIRC_ABI,            TIRC_INTERFACE_API, TIRC_UNPACKED_API, TIRC_WORKSPACE_ALIGN,
                                                  TIRC_CONSTANT_ALIGN, TIRC_ENTRY,         TIRC_KEEP_LAYOUT,  TIRC_KEEP_SCHEDULE,
                                                  TIRC_PARALLEL };
    const char *abi = tirc_option(job->args, TIRC_ABI);
    tirgen_status status = tirgen_set_option(job->ctx, "prefix", job->prefix);
    if (status == TIRGEN_OK) status = tirgen_set_option(job->ctx, "target", job->target);
    if (status == TIRGEN_OK && abi != NULL && strcmp(abi, "tvm-ffi") == 0)      /* unless the command line says otherwise */
        status = tirgen_set_option(job->ctx, "interface-api", "packed");
    for (size_t i = 0; status == TIRGEN_OK && i < sizeof passed_on / sizeof passed_on[0]; ++i) {
        const char *value = tirc_option(job->args, passed_on[i]);
        if (value != NULL) status = tirgen_set_option(job->ctx, tirc_option_name(passed_on[i]) + 1, value);
    }
    for (size_t i = 0; status == TIRGEN_OK && i < tirc_option_count(job->args, TIRC_SHAPE); ++i)
        status = tirgen_set_option(job->ctx, "shape", tirc_option_at(job->args, TIRC_SHAPE, i));
    return tirc_exit_status(status);
}

int tirc_job_begin(tirc_job *job, const tirc_args *args, tirc_progress *progress)
{
    memset(job, 0, sizeof *job);
    job->args = args;
    job->progress = progress;
    job->prefix = prefix_of(args);
    job->target = target_of(args);
    job->ctx = tirgen_new(NULL);
    if (job->ctx == NULL) {
        tirc_say("out of memory");
        return 1;
    }
    tirgen_set_diag(job->ctx, show_diag, job);
    return set_options(job);
}

/* ---- reading ---- */

int tirc_job_read(tirc_job *job)
{
    const tirc_args *args = job->args;
    tirgen_status status = TIRGEN_OK;
    for (size_t i = 0; status == TIRGEN_OK && i < args->nmodels; ++i) {
        if (tirc_option_on(args, TIRC_VERBOSE)) tirc_say("reading %s", args->model[i]);
        tirc_progress_step(job->progress, args->model[i]);
        if (tirc_archive_is(args->model[i])) {
            int failed = tirc_mlf_read(job, args->model[i]);
            if (failed != 0) return failed;
        } else {
            status = tirgen_load_file(job->ctx, args->model[i]);
        }
    }
    for (size_t i = 0; status == TIRGEN_OK && i < tirc_option_count(args, TIRC_PARAMS); ++i) {
        const char *path = tirc_option_at(args, TIRC_PARAMS, i);
        if (tirc_option_on(args, TIRC_VERBOSE)) tirc_say("reading %s", path);
        tirc_progress_step(job->progress, path);
        status = tirgen_load_params(job->ctx, path);
    }
    tirc_progress_pause(job->progress);
    return tirc_exit_status(status);
}

/* ---- passes ---- */

static int write_stderr(void *user, const char *bytes, size_t n)
{
    (void)user;
    return fwrite(bytes, 1, n, stderr) == n ? 0 : 1;
}

/* One pass is done: its time, its dump, and on to the next. */
static int after_pass(void *user, tirgen_ctx *ctx, const char *pass, double seconds)
{
    tirc_job *job = user;
    const char *wanted = tirc_option(job->args, TIRC_PRINT_AFTER), *next = NULL;
    tirgen_status status = TIRGEN_OK;
    job->timing = tirc_realloc(job->timing, (job->ntimings + 1) * sizeof *job->timing);
    job->timing[job->ntimings].pass = pass;
    job->timing[job->ntimings++].seconds = seconds;
    if (wanted != NULL && (strcmp(wanted, "all") == 0 || strcmp(wanted, pass) == 0)) {
        bool relay = tg_module_level(tg_session_of(ctx)->module) == TG_LEVEL_RELAY;
        tirc_progress_wipe(job->progress);
        fprintf(stderr, "%s after %s\n", relay ? "//" : "#", pass);
        status = tirgen_print(ctx, write_stderr, NULL);
    }
    for (size_t i = 0; next == NULL && tirgen_pass_name(i) != NULL; ++i)
        if (strcmp(tirgen_pass_name(i), pass) == 0) next = tirgen_pass_name(i + 1);
    tirc_progress_step(job->progress, next == NULL ? "finishing" : next);
    return status == TIRGEN_OK ? 0 : 1;
}

static void print_times(const tirc_job *job)
{
    double sum = 0;
    for (size_t i = 0; i < job->ntimings; ++i) sum += job->timing[i].seconds;
    for (size_t i = 0; i < job->ntimings; ++i)
        fprintf(stderr, "%10.3f ms %5.1f %%  %s\n", job->timing[i].seconds * 1e3,
                sum > 0 ? 100 * job->timing[i].seconds / sum : 0, job->timing[i].pass);
    fprintf(stderr, "%10.3f ms          all passes\n", sum * 1e3);
}

int tirc_job_compile(tirc_job *job, const char *last)
{
    tirgen_status status;
    tirc_progress_step(job->progress, tirgen_pass_name(0));
    status = tirgen_compile(job->ctx, last, after_pass, job);
    tirc_progress_pause(job->progress);
    if (status == TIRGEN_OK && tirc_option_on(job->args, TIRC_TIME_PASSES)) print_times(job);
    return tirc_exit_status(status);
}

int tirc_job_passes(tirc_job *job, const char *list)
{
    tirgen_status status = tirgen_run_passes(job->ctx, list, after_pass, job);
    tirc_progress_pause(job->progress);
    if (status == TIRGEN_OK && tirc_option_on(job->args, TIRC_TIME_PASSES)) print_times(job);
    return tirc_exit_status(status);
}

/* ---- C files ---- */

static int file_open(void *user, const char *name)
{
    return tirc_output_open(user, name) ? 0 : 1;
}

int tirc_file_bytes(void *user, const char *at, size_t n)
{
    return tirc_output_bytes(user, at, n) ? 0 : 1;
}

static int file_close(void *user)
{
    return tirc_output_close(user) ? 0 : 1;
}

int tirc_job_emit(tirc_job *job, tirc_output *to)
{
    tirgen_files files = { file_open, tirc_file_bytes, file_close, to };
    tirgen_status status;
    tirc_progress_step(job->progress, "writing C");
    status = tirgen_emit_c(job->ctx, &files);
    tirc_progress_pause(job->progress);
    if (status != TIRGEN_OK) return tirc_exit_status(status);
    return tirc_output_commit(to) ? 0 : 1;
}

void tirc_job_end(tirc_job *job)
{
    tirgen_free(job->ctx);
    free(job->prefix);
    free(job->target);
    free(job->timing);
    memset(job, 0, sizeof *job);
}
