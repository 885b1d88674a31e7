/* mlf.c: writing Model Library Format 7: metadata.json as TVM's tools read it, tirc.json with what that leaves out (order,
 * shapes, the list of files), the C, the texts and the weights. The bytes depend on the input alone. */
#include "mlf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grammar/blob.h"
#include "ir/guard.h"
#include "ir/module.h"
#include "ir/source.h"
#include "ir/text.h"
#include "json.h"
#include "session.h"

#define PARAMS_MAGIC UINT64_C(0xF7E58D4F05049CB7)
#define TENSOR_MAGIC UINT64_C(0xDD5E40F096B4A13F)
enum { CPU = 1, MLF_VERSION = 7, MAX_MTIME = 0x7FFFFFFF };

typedef struct writing {
    tirc_job *job;
    tirc_archive out;
    const char *model;              /* as the format calls it */
    tirgen_report report;
    tirgen_tensor_info *io;         /* inputs, then outputs */
    uint32_t nsources;              /* files of the module's text */
    size_t nunits;                  /* C files so far */
    time_t when;
    tirc_json json;                 /* of the file being written */
} writing;

const char *tirc_mlf_model(const char *prefix)
{
    static const char usual[] = "tvmgen_";
    size_t n = sizeof usual - 1;
    return strncmp(prefix, usual, n) == 0 && prefix[n] != '\0' ? prefix + n : prefix;
}

/* ---- texts and weights, as they were read ---- */

static bool is_relay(tg_ctx *cx, uint32_t file)
{
    const tg_module *m = tg_session_of(cx)->module;
    for (size_t i = 0; i < m->funcs.n; ++i)
        if (m->funcs.at[i]->span.file == file && m->funcs.at[i]->kind == TG_FUNC_RELAY) return true;
    return false;
}

/* "./src/net.relay" for the first text, "./src/net_1.tir" for the next. */
static const char *text_name(tg_ctx *cx, const writing *w, uint32_t file)
{
    const char *ending = is_relay(cx, file) ? "relay" : "tir";
    if (file == 1) return tg_format(cx, "./src/%s.%s", w->model, ending);
    return tg_format(cx, "./src/%s_%u.%s", w->model, file - 1, ending);
}

static void put_u64(tirc_archive *a, uint64_t v)
{
    unsigned char b[8];
    for (int i = 0; i < 8; ++i) b[i] = (unsigned char)(v >> 8 * i);
    tirc_archive_bytes(a, b, sizeof b);
}

static void put_u32(tirc_archive *a, uint32_t v)
{
    unsigned char b[4];
    for (int i = 0; i < 4; ++i) b[i] = (unsigned char)(v >> 8 * i);
    tirc_archive_bytes(a, b, sizeof b);
}

static void put_tensor(tirc_archive *a, const tg_tensor *t)
{
    const DLTensor *d = &t->dl;
    size_t at;
    put_u64(a, TENSOR_MAGIC);
    put_u64(a, 0);
    put_u32(a, CPU);
    put_u32(a, 0);
    put_u32(a, (uint32_t)d->ndim);
    put_u32(a, (uint32_t)d->dtype.code | (uint32_t)d->dtype.bits << 8 | (uint32_t)d->dtype.lanes << 16);
    for (int32_t i = 0; i < d->ndim; ++i) put_u64(a, (uint64_t)d->shape[i]);
    put_u64(a, t->size_bytes);
    at = a->at[a->n - 1].size;
    tirc_archive_bytes(a, d->data, t->size_bytes);
    if (tg_is_big_endian() && t->size_bytes > 0)
        tg_blob_to_native(d->dtype, (unsigned char *)a->at[a->n - 1].bytes + at, t->size_bytes);
}

/* The weights of the command line's parameter files, in the order read. */
static void put_params(writing *w, const tg_session *s)
{
    put_u64(&w->out, PARAMS_MAGIC);
    put_u64(&w->out, 0);
    put_u64(&w->out, s->param_name.n);
    for (size_t i = 0; i < s->param_name.n; ++i) {
        put_u64(&w->out, s->param_name.at[i]->len);
        tirc_archive_bytes(&w->out, s->param_name.at[i]->text, s->param_name.at[i]->len);
    }
    put_u64(&w->out, s->param_name.n);
    for (size_t i = 0; i < s->param_name.n; ++i) put_tensor(&w->out, s->param_value.at[i]);
}

static bool put_sources(tg_ctx *cx, void *arg)
{
    writing *w = arg;
    w->nsources = cx->nsources;
    for (uint32_t file = 1; file <= w->nsources; ++file) {
        const tg_source *s = tg_source_of(cx, (tg_span){ file, 0, 0 });
        tirc_archive_open(&w->out, text_name(cx, w, file));
        tirc_archive_bytes(&w->out, s->text, s->size);
    }
    tirc_archive_open(&w->out, tg_format(cx, "./parameters/%s.params", w->model));
    put_params(w, tg_session_of(cx));
    return true;
}

/* ---- C ---- */

/* Headers keep their names, because sources include them; sources are numbered as the format wants it. */
static int open_unit(void *user, const char *name)
{
    writing *w = user;
    const char *dot = strrchr(name, '.');
    char *path;
    size_t room = strlen(name) + strlen(w->model) + 64;
    path = tirc_alloc(room);
    if (dot != NULL && strcmp(dot, ".c") == 0)
        snprintf(path, room, "./codegen/host/src/%s_lib%zu.c", w->model, w->nunits++);
    else if (dot != NULL && strcmp(dot, ".h") == 0)
        snprintf(path, room, "./codegen/host/include/%s", name);
    else
        path[0] = '\0';             /* the build file names sources that are called otherwise here: consumers have their own */
    tirc_archive_open(&w->out, path);
    free(path);
    return 0;
}

static int put_unit(void *user, const char *at, size_t n)
{
    tirc_archive_bytes(&((writing *)user)->out, at, n);
    return 0;
}

static int close_unit(void *user)
{
    tirc_archive *a = &((writing *)user)->out;
    tirc_member *last = &a->at[a->n - 1];
    if (last->name[0] != '\0') return 0;
    free(last->name);
    free(last->bytes);
    --a->n;
    return 0;
}

/* ---- metadata.json ---- */

static int by_tensor_name(const void *a, const void *b)
{
    const tirgen_tensor_info *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* name -> bytes and dtype, sorted as all keys are. */
static void put_sizes(tg_ctx *cx, writing *w, const char *key, const tirgen_tensor_info *io, size_t n)
{
    const tirgen_tensor_info **sorted = TG_ARRAY(cx, const tirgen_tensor_info *, n);
    for (size_t i = 0; i < n; ++i) sorted[i] = &io[i];
    qsort(sorted, n, sizeof sorted[0], by_tensor_name);
    tirc_json_open(&w->json, key, '{');
    for (size_t i = 0; i < n; ++i) {
        tirc_json_open(&w->json, sorted[i]->name, '{');
        tirc_json_key_text(&w->json, "dtype", tg_dtype_text(cx, sorted[i]->dtype));
        tirc_json_key_int(&w->json, "size", (int64_t)sorted[i]->size_bytes);
        tirc_json_close(&w->json, '}');
    }
    tirc_json_close(&w->json, '}');
}

static void put_order(writing *w, const char *key, const tirgen_tensor_info *io, size_t n)
{
    tirc_json_open(&w->json, key, '[');
    for (size_t i = 0; i < n; ++i) tirc_json_text(&w->json, io[i].name);
    tirc_json_close(&w->json, ']');
}

static void put_main(tg_ctx *cx, writing *w)
{
    size_t nin = w->report.ninputs, nout = w->report.noutputs, bytes = 0;
    for (size_t i = 0; i < nin + nout; ++i) bytes += w->io[i].size_bytes;
    tirc_json_open(&w->json, "main", '[');
    tirc_json_open(&w->json, NULL, '{');
    tirc_json_key_int(&w->json, "constants_size_bytes", (int64_t)w->report.constant_bytes);
    tirc_json_key_int(&w->json, "device", CPU);
    put_order(w, "input_order", w->io, nin);
    put_sizes(cx, w, "inputs", w->io, nin);
    tirc_json_key_int(&w->json, "io_size_bytes", (int64_t)bytes);
    put_order(w, "output_order", w->io + nin, nout);
    put_sizes(cx, w, "outputs", w->io + nin, nout);
    tirc_json_key_int(&w->json, "workspace_size_bytes", (int64_t)w->report.workspace_bytes);
    tirc_json_close(&w->json, '}');
    tirc_json_close(&w->json, ']');
}

/* Scratch of a kernel: its last parameter, if that is a workspace; it lies within main's. */
static int64_t scratch_of(const tg_func *f)
{
    const tg_buffer *last = f->nparams > 0 && f->buffer != NULL ? f->buffer[f->nparams - 1] : NULL;
    int64_t bytes = 0;
    bool is = last != NULL && strcmp(last->name->text, "workspace") == 0 && tg_buffer_elements(last, &bytes);
    return is ? bytes * (int64_t)tg_dtype_bytes(last->dtype) : 0;
}

static void put_operators(tg_ctx *cx, writing *w)
{
    const tg_module *m = tg_session_of(cx)->module;
    tirc_json_open(&w->json, "operator_functions", '[');
    for (size_t i = 0; i < m->funcs.n; ++i) {
        const tg_func *f = m->funcs.at[i];
        if (tg_is_main(f)) continue;
        tirc_json_open(&w->json, NULL, '{');
        tirc_json_key_text(&w->json, "function_name", f->name->text);
        tirc_json_open(&w->json, "workspace", '[');
        tirc_json_open(&w->json, NULL, '{');
        tirc_json_key_int(&w->json, "device", CPU);
        tirc_json_key_int(&w->json, "workspace_size_bytes", scratch_of(f));
        tirc_json_close(&w->json, '}');
        tirc_json_close(&w->json, ']');
        tirc_json_close(&w->json, '}');
    }
    tirc_json_close(&w->json, ']');
}

/* The keys of every object are in the order of their bytes, as TVM writes them. */
static bool put_metadata(tg_ctx *cx, void *arg)
{
    writing *w = arg;
    char when[32];
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%SZ", gmtime_r(&w->when, &utc));
    tirc_archive_open(&w->out, "./metadata.json");
    tirc_json_open(&w->json, NULL, '{');
    tirc_json_open(&w->json, "modules", '{');
    tirc_json_open(&w->json, w->model, '{');
    tirc_json_open(&w->json, "executors", '[');
    tirc_json_text(&w->json, "aot");
    tirc_json_close(&w->json, ']');
    tirc_json_key_text(&w->json, "export_datetime", when);
    tirc_json_open(&w->json, "external_dependencies", '[');
    tirc_json_close(&w->json, ']');
    tirc_json_open(&w->json, "memory", '{');
    tirc_json_open(&w->json, "functions", '{');
    put_main(cx, w);
    put_operators(cx, w);
    tirc_json_close(&w->json, '}');
    tirc_json_close(&w->json, '}');
    tirc_json_key_text(&w->json, "model_name", w->model);
    tirc_json_key_text(&w->json, "style", "full-model");
    tirc_json_open(&w->json, "target", '[');
    tirc_json_text(&w->json, w->job->target);
    tirc_json_close(&w->json, ']');
    tirc_json_close(&w->json, '}');
    tirc_json_close(&w->json, '}');
    tirc_json_key_int(&w->json, "version", MLF_VERSION);
    tirc_json_close(&w->json, '}');
    return true;
}

/* ---- tirc.json ---- */

static void put_tensors(tg_ctx *cx, writing *w, const char *key, const tirgen_tensor_info *io, size_t n)
{
    tirc_json_open(&w->json, key, '[');
    for (size_t i = 0; i < n; ++i) {
        tirc_json_open(&w->json, NULL, '{');
        tirc_json_key_text(&w->json, "dtype", tg_dtype_text(cx, io[i].dtype));
        tirc_json_key_text(&w->json, "name", io[i].name);
        tirc_json_open(&w->json, "shape", '[');
        for (int32_t k = 0; k < io[i].ndim; ++k) tirc_json_int(&w->json, io[i].shape[k]);
        tirc_json_close(&w->json, ']');
        tirc_json_key_int(&w->json, "size_bytes", (int64_t)io[i].size_bytes);
        tirc_json_close(&w->json, '}');
    }
    tirc_json_close(&w->json, ']');
}

/* Members whose names begin with @p folder. */
static void put_members(writing *w, const char *key, const char *folder)
{
    tirc_json_open(&w->json, key, '[');
    for (size_t i = 0; i < w->out.n; ++i)
        if (strncmp(w->out.at[i].name, folder, strlen(folder)) == 0) tirc_json_text(&w->json, w->out.at[i].name);
    tirc_json_close(&w->json, ']');
}

static bool put_details(tg_ctx *cx, void *arg)
{
    writing *w = arg;
    const tirc_args *args = w->job->args;
    const char *entry = tirc_option(args, TIRC_ENTRY);
    tirc_archive_open(&w->out, "./tirc.json");
    tirc_json_open(&w->json, NULL, '{');
    tirc_json_key_text(&w->json, "entry", entry == NULL ? "main" : entry);
    put_members(w, "headers", "./codegen/host/include/");
    put_tensors(cx, w, "inputs", w->io, w->report.ninputs);
    put_tensors(cx, w, "outputs", w->io + w->report.ninputs, w->report.noutputs);
    put_members(w, "parameters", "./parameters/");
    tirc_json_key_text(&w->json, "prefix", w->job->prefix);
    tirc_json_open(&w->json, "shapes", '[');
    for (size_t i = 0; i < tirc_option_count(args, TIRC_SHAPE); ++i) tirc_json_text(&w->json, tirc_option_at(args, TIRC_SHAPE, i));
    tirc_json_close(&w->json, ']');
    put_members(w, "sources", "./codegen/host/src/");
    put_members(w, "texts", "./src/");
    tirc_json_key_int(&w->json, "version", 1);
    tirc_json_open(&w->json, "workspace", '{');
    tirc_json_key_int(&w->json, "lower_bound_bytes", (int64_t)w->report.workspace_bound);
    tirc_json_key_int(&w->json, "size_bytes", (int64_t)w->report.workspace_bytes);
    tirc_json_close(&w->json, '}');
    tirc_json_close(&w->json, '}');
    return true;
}

/* ---- the whole ---- */

/* SOURCE_DATE_EPOCH, or 1970. */
static bool read_time(time_t *out)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    char *end;
    long long v;
    *out = 0;
    if (text == NULL || *text == '\0') return true;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || v < 0 || v > MAX_MTIME) {
        tirc_say("SOURCE_DATE_EPOCH is \"%s\"; it should be seconds since 1970, at most %d", text, MAX_MTIME);
        return false;
    }
    *out = (time_t)v;
    return true;
}

static int ask_tensors(writing *w)
{
    tirgen_status status = tirgen_get_report(w->job->ctx, &w->report);
    size_t n = status == TIRGEN_OK ? w->report.ninputs + w->report.noutputs : 0;
    w->io = tirc_alloc(n * sizeof w->io[0]);
    for (size_t i = 0; status == TIRGEN_OK && i < n; ++i) status = tirgen_get_tensor(w->job->ctx, i, &w->io[i]);
    return tirc_exit_status(status);
}

/* Runs @p put, which writes one JSON file. */
static int put_json(writing *w, bool (*put)(tg_ctx *cx, void *arg))
{
    tirgen_status status;
    bool good;
    tirc_json_begin(&w->json);
    status = tg_guard(w->job->ctx, put, w);
    good = tirc_json_end(&w->json, &w->out);
    if (status == TIRGEN_OK && !good) tirc_say("a name is not UTF-8: the archive's metadata cannot hold it");
    return status == TIRGEN_OK && good ? 0 : 1;
}

static int fill(writing *w)
{
    tirgen_files files = { open_unit, put_unit, close_unit, w };
    int status = tirc_exit_status(tg_guard(w->job->ctx, put_sources, w));
    if (status == 0) status = tirc_job_compile(w->job, NULL);
    if (status == 0) status = ask_tensors(w);
    if (status == 0) status = tirc_exit_status(tirgen_emit_c(w->job->ctx, &files));
    if (status == 0) status = put_json(w, put_metadata);
    return status == 0 ? put_json(w, put_details) : status;
}

int tirc_mlf_write(tirc_job *job, const char *path)
{
    writing w = { .job = job, .model = tirc_mlf_model(job->prefix) };
    const char *slash = strrchr(path, '/');
    char *dir = tirc_copy(path);
    tirc_output *to;
    int status = read_time(&w.when) ? fill(&w) : 2;
    dir[slash == NULL ? 0 : slash == path ? 1 : slash - path] = '\0';
    to = tirc_output_new(dir);
    if (status == 0 && !(tirc_output_open(to, slash == NULL ? path : slash + 1) && tirc_archive_write(&w.out, to, w.when) &&
                         tirc_output_close(to) && tirc_output_commit(to)))
        status = 1;
    tirc_output_free(to);
    tirc_archive_free(&w.out);
    free(w.io);
    free(dir);
    return status;
}
