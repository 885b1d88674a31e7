/* tirc.c: the command: text of tensor compilers in, C files or text out. Exit status 0 good, 1 the input is wrong, 2 the
 * command line is wrong. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/guard.h"
#include "ir/module.h"
#include "job.h"
#include "mlf.h"
#include "ops/ops.h"
#include "run.h"
#include "session.h"

/* ---- C files ---- */

static void tell_sizes(tirc_job *job, const tirc_output *to)
{
    tirgen_report r;
    if (!tirc_option_on(job->args, TIRC_VERBOSE)) return;
    for (size_t i = 0; i < tirc_output_count(to); ++i) tirc_say("wrote %s", tirc_output_path(to, i));
    if (tirgen_get_report(job->ctx, &r) == TIRGEN_OK)
        tirc_say("%zu kernels, %zu bytes of weights, %zu bytes of workspace (bound %zu)", r.nkernels, r.constant_bytes,
                 r.workspace_bytes, r.workspace_bound);
}

/* -o net.tar: a model library in place of a folder. */
static bool is_archive(const char *path)
{
    size_t n = path == NULL ? 0 : strlen(path);
    return n > 4 && strcmp(path + n - 4, ".tar") == 0;
}

static int emit_files(tirc_job *job)
{
    const char *dir = tirc_option(job->args, TIRC_OUTPUT);
    tirc_output *to;
    int status;
    if (is_archive(dir)) return tirc_mlf_write(job, dir);
    status = tirc_job_compile(job, NULL);
    if (status != 0) return status;
    to = tirc_output_new(dir == NULL ? job->prefix : dir);
    status = tirc_job_emit(job, to);
    if (status == 0) tell_sizes(job, to);
    tirc_output_free(to);
    return status;
}

/* ---- text ---- */

/* -emit=KIND: the level it names and the pass after which Relay text is there. The index is the level. */
static const struct { const char *kind, *last, *what; enum tg_level level; } texts[] = {
    [TG_LEVEL_RELAY] = { "relay", "infer-types", "Relay", TG_LEVEL_RELAY },
    [TG_LEVEL_TENSORIR] = { "tensorir", "lower-ops", "TensorIR", TG_LEVEL_TENSORIR },
    [TG_LEVEL_LOOP] = { "tir", NULL, "loop", TG_LEVEL_LOOP },
};

static int write_stdout(void *user, const char *bytes, size_t n)
{
    (void)user;
    return fwrite(bytes, 1, n, stdout) == n ? 0 : 1;
}

static int print_to_stdout(tirc_job *job)
{
    tirgen_status status = tirgen_print(job->ctx, write_stdout, NULL);
    if (fflush(stdout) == 0 && status == TIRGEN_OK) return 0;
    if (status == TIRGEN_OK || status == TIRGEN_EIO) tirc_say("cannot write standard output: %s", strerror(errno));
    return 1;
}

static int print_to_file(tirc_job *job, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = tirc_copy(path);
    tirc_output *to;
    tirgen_status status = TIRGEN_EIO;
    bool good;
    dir[slash == NULL ? 0 : slash == path ? 1 : slash - path] = '\0';
    to = tirc_output_new(dir);
    good = tirc_output_open(to, slash == NULL ? path : slash + 1);
    if (good) status = tirgen_print(job->ctx, tirc_file_bytes, to);
    good = good && tirc_output_close(to) && status == TIRGEN_OK && tirc_output_commit(to);
    tirc_output_free(to);
    free(dir);
    return good ? 0 : 1;
}

/* @return 0, or 2 after a message when the module is not at the level that -emit=KIND, row @p k, names. */
static int check_level(const tirc_job *job, size_t k, const char *last)
{
    enum tg_level level = tg_module_level(tg_session_of(job->ctx)->module);
    if (level == texts[k].level) return 0;
    tirc_say("-emit=%s: the module is at %s level%s%s; say -emit=%s", texts[k].kind, texts[level].what,
             last == NULL ? "" : " after ", last == NULL ? "" : last, texts[level].kind);
    return 2;
}

/* Prints the module after @p last, or when it has reached the level that @p kind names. TensorIR that was read is printed as it is. */
static int emit_text(tirc_job *job, const char *kind, const char *last)
{
    const char *path = tirc_option(job->args, TIRC_OUTPUT), *list = tirc_option(job->args, TIRC_PASSES);
    enum tg_level from = tg_module_level(tg_session_of(job->ctx)->module);
    size_t k = 0;
    int status = 0;
    while (k < TG_COUNT(texts) && (kind == NULL || strcmp(texts[k].kind, kind) != 0)) ++k;
    if (list != NULL)
        status = tirc_job_passes(job, list);
    else if (k == TG_COUNT(texts) || last != NULL)
        status = tirc_job_compile(job, last);
    else if (from == TG_LEVEL_RELAY || texts[k].level == TG_LEVEL_LOOP)
        status = tirc_job_compile(job, texts[k].last);
    if (status == 0 && last != NULL && job->ntimings > 0 && strcmp(job->timing[job->ntimings - 1].pass, last) != 0) {
        tirc_say("option '-stop-after': %s does not run on a module that begins at %s level", last, texts[from].what);
        status = 2;
    }
    if (status == 0 && k < TG_COUNT(texts)) status = check_level(job, k, last);
    if (status != 0) return status;
    return path == NULL ? print_to_stdout(job) : print_to_file(job, path);
}

/* ---- main ---- */

static void list_passes(void)
{
    for (size_t i = 0; tirgen_pass_name(i) != NULL; ++i) printf("%-20s %s\n", tirgen_pass_name(i), tirgen_pass_help(i));
}

static bool print_operators(tg_ctx *cx, void *arg)
{
    static const char *const fusion[] = { "element by element", "broadcasting", "moves elements", "reduction",
                                          "takes an epilogue", "several results, alone", "alone" };
    const tg_op *op;
    (void)arg;
    printf("# Operators\n\n"
           "Written by `scripts/operators` from the rows of `src/ops/ops.def`, whose first comment explains the notation. Fusion says how\n"
           "an operator may share a loop nest with its neighbours (`src/passes/fuse_ops.c`). Operators without a lowering are rewritten or\n"
           "folded before they would need one.\n\n"
           "| operator | operands | attributes | element types | fusion | lowered |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; (op = tg_op_at(cx, i)) != NULL; ++i)
        printf("| `%s` | %s | %s | %s | %s | %s |\n", op->name, op->args, op->attrs, op->dtypes, fusion[op->fusion],
               op->lower == NULL ? "no" : "yes");
    return true;
}

static int list_operators(void)
{
    tirgen_ctx *ctx = tirgen_new(NULL);
    tirgen_status status = ctx == NULL ? TIRGEN_ENOMEM : tg_guard(ctx, print_operators, NULL);
    tirgen_free(ctx);
    return tirc_exit_status(status);
}

/* What the table of options cannot say. */
static bool check_args(const tirc_args *args)
{
    const char *emit = tirc_option(args, TIRC_EMIT), *stop = tirc_option(args, TIRC_STOP_AFTER);
    const char *print = tirc_option(args, TIRC_PRINT_AFTER), *list = tirc_option(args, TIRC_PASSES);
    if (args->nmodels == 0) {
        tirc_say("no model is named; tirc --help shows how");
        return false;
    }
    if (stop != NULL && !tirc_check_pass(TIRC_STOP_AFTER, stop)) return false;
    if (print != NULL && strcmp(print, "all") != 0 && !tirc_check_pass(TIRC_PRINT_AFTER, print)) return false;
    if ((stop != NULL || list != NULL) && emit != NULL && strcmp(emit, "c") == 0) {
        tirc_say("options '%s' and '-emit=c' exclude each other: C needs all passes",
                 tirc_option_name(stop != NULL ? TIRC_STOP_AFTER : TIRC_PASSES));
        return false;
    }
    return true;
}

static int compile(const tirc_args *args, tirc_progress *progress)
{
    const char *emit = tirc_option(args, TIRC_EMIT), *stop = tirc_option(args, TIRC_STOP_AFTER);
    tirc_job job;
    int status = tirc_job_begin(&job, args, progress);
    if (status == 0) status = tirc_job_read(&job);
    if (status == 0 && stop == NULL && tirc_option(args, TIRC_PASSES) == NULL && (emit == NULL || strcmp(emit, "c") == 0))
        status = emit_files(&job);
    else if (status == 0)
        status = emit_text(&job, emit, stop);
    tirc_job_end(&job);
    return status;
}

static int work(const tirc_args *args, const char *argv0)
{
    tirc_progress *progress;
    int status;
    if (!check_args(args)) return 2;
    progress = tirc_progress_new();
    switch (args->mode) {
    case TIRC_VERIFY: status = tirc_verify(args, progress, argv0); break;
    case TIRC_RUN: status = tirc_run(args, progress, argv0); break;
    default: status = compile(args, progress); break;
    }
    tirc_progress_free(progress);
    return status;
}

int main(int argc, char **argv)
{
    tirc_args args;
    int status = 0;
    if (!tirc_options_read(&args, argc, argv))
        status = 2;
    else if (tirc_option_on(&args, TIRC_HELP))
        tirc_options_help(stdout);
    else if (tirc_option_on(&args, TIRC_VERSION))
        printf("tirc %s\n", TIRGEN_VERSION);
    else if (tirc_option_on(&args, TIRC_LIST_PASSES))
        list_passes();
    else if (tirc_option_on(&args, TIRC_LIST_OPERATORS))
        status = list_operators();
    else
        status = work(&args, argv[0]);
    if (status == 0 && fflush(stdout) != 0) status = 1;
    tirc_options_free(&args);
    return status;
}
