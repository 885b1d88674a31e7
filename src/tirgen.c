/* tirgen.c: the public API over the parts, and the one setjmp of the library. */
#include "tirgen/tirgen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen_c/codegen.h"
#include "eval/eval.h"
#include "grammar/parse.h"
#include "ir/diag.h"
#include "ir/guard.h"
#include "ir/pool_info.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "passes/bind_params.h"
#include "passes/passes.h"
#include "schedule/schedule.h"
#include "session.h"

/* ---- entering and leaving ---- */

tirgen_status tg_guard(tg_ctx *cx, bool (*fn)(tg_ctx *cx, void *arg), void *arg)
{
    if (cx->unwind != NULL)                 /* called from a callback of an outer call */
        return fn(cx, arg) ? TIRGEN_OK : TIRGEN_EINPUT;
    jmp_buf here;
    cx->unwind = &here;
    cx->nerrors = 0;
    tirgen_status status = TIRGEN_OK;
    if (setjmp(here) == 0)
        status = fn(cx, arg) ? TIRGEN_OK : TIRGEN_EINPUT;
    else
        status = cx->failure;
    cx->unwind = NULL;
    return status;
}

const char *tirgen_status_text(tirgen_status status)
{
    switch (status) {
    case TIRGEN_OK: return "success";
    case TIRGEN_EINPUT: return "the input is wrong";
    case TIRGEN_EOPTION: return "an option is wrong";
    case TIRGEN_EIO: return "a file could not be read or written";
    case TIRGEN_ENOMEM: return "out of memory";
    case TIRGEN_ELIMIT: return "a limit was passed";
    case TIRGEN_EBUG: return "internal error";
    }
    return "unknown status";
}

tg_session *tg_session_of(tg_ctx *cx)
{
    tg_session *s = cx->table[TG_TABLE_SESSION];
    if (s == NULL) {
        s = TG_NEW(cx, tg_session);
        s->module = tg_module_new(cx);
        s->options = (tg_options){ .prefix = "tvmgen_default", .target = "c", .interface_api = TG_INTERFACE_C, .unpacked_api = true,
                                   .workspace_align = 16, .constant_align = 16, .entry = "main" };
        cx->table[TG_TABLE_SESSION] = s;
    }
    return s;
}

tirgen_ctx *tirgen_new(const tirgen_allocator *from)
{
    tg_allocator a;
    if (from != NULL)
        a = (tg_allocator){ from->alloc, from->free, from->user };
    return tg_ctx_new(from != NULL ? &a : NULL);
}

void tirgen_free(tirgen_ctx *ctx)
{
    if (ctx == NULL)
        return;
    const tg_session *s = ctx->table[TG_TABLE_SESSION];
    for (size_t i = 0; s != NULL && i < s->maps.n; ++i)
        munmap(s->maps.at[i].at, s->maps.at[i].size);
    tg_ctx_free(ctx);
}

void tirgen_set_diag(tirgen_ctx *ctx, tirgen_diag_fn fn, void *user)
{
    ctx->diag = fn;
    ctx->diag_user = user;
}

/* ---- options ---- */

typedef struct setting { const char *name, *value; } setting;

static bool set_switch(tg_ctx *cx, const setting *s, bool *out)
{
    if (strcmp(s->value, "0") != 0 && strcmp(s->value, "1") != 0) {
        tg_error(cx, TG_NOWHERE, "-%s takes 0 or 1, not \"%s\"", s->name, s->value);
        return false;
    }
    *out = s->value[0] == '1';
    return true;
}

static bool set_align(tg_ctx *cx, const setting *s, int32_t *out)
{
    char *end;
    errno = 0;
    long v = strtol(s->value, &end, 10);
    if (errno != 0 || end == s->value || *end != '\0' || v < 1 || v > 4096 || (v & (v - 1)) != 0) {
        tg_error(cx, TG_NOWHERE, "-%s takes a power of two from 1 to 4096, not \"%s\"", s->name, s->value);
        return false;
    }
    *out = (int32_t)v;
    return true;
}

static bool set_prefix(tg_ctx *cx, const setting *s, const char **out)
{
    const char *rule = tg_prefix_check(s->value);
    if (rule != NULL) {
        tg_error(cx, TG_NOWHERE, "-prefix \"%s\": %s", s->value, rule);
        return false;
    }
    *out = tg_intern_z(cx, s->value)->text;
    return true;
}

static bool set_target(tg_ctx *cx, const setting *s, const char **out)
{
    tg_target t;
    *out = tg_intern_z(cx, s->value)->text;
    return tg_target_parse(cx, *out, &t);
}

static bool set_interface(tg_ctx *cx, const setting *s, tg_options *o)
{
    if (strcmp(s->value, "c") != 0 && strcmp(s->value, "packed") != 0) {
        tg_error(cx, TG_NOWHERE, "-interface-api takes c or packed, not \"%s\"", s->value);
        return false;
    }
    o->interface_api = s->value[0] == 'c' ? TG_INTERFACE_C : TG_INTERFACE_PACKED;
    return true;
}

/* x=1,3,32,32; the name ends at the last =, and no extents are those of a scalar. */
static bool set_shape(tg_ctx *cx, const setting *s, tg_options *o)
{
    const char *equals = strrchr(s->value, '='), *p = equals != NULL ? equals + 1 : "";
    int64_t dim[TG_MAX_NDIM];
    uint32_t n = 0;
    bool good = equals != NULL && equals != s->value;
    while (good && *p != '\0') {
        char *end;
        errno = 0;
        long long v = strtoll(p, &end, 10);
        good = errno == 0 && end != p && v >= 0 && (*end == ',' || *end == '\0') && n < TG_MAX_NDIM;
        if (good)
            dim[n++] = v;
        p = *end == ',' ? end + 1 : end;
    }
    if (!good) {
        tg_error(cx, TG_NOWHERE, "-%s takes a parameter and its extents, as in x=1,3,32,32, not \"%s\"", s->name, s->value);
        return false;
    }
    tg_shape_option *shapes = TG_ARRAY(cx, tg_shape_option, o->nshapes + 1);
    if (o->nshapes > 0)
        memcpy(shapes, o->shapes, o->nshapes * sizeof shapes[0]);
    const char *name = tg_intern(cx, s->value, (size_t)(equals - s->value))->text;
    shapes[o->nshapes++] = (tg_shape_option){ name, n, tg_copy(cx, dim, n * sizeof dim[0]) };
    o->shapes = shapes;
    return true;
}

static bool set_abi(tg_ctx *cx, const setting *s, tg_options *o)
{
    o->ffi = strcmp(s->value, "tvm-ffi") == 0;
    if (o->ffi || strcmp(s->value, "c") == 0)
        return true;
    tg_error(cx, TG_NOWHERE, "-abi takes c or tvm-ffi, not \"%s\"", s->value);
    return false;
}

static bool set_option(tg_ctx *cx, void *arg)
{
    const setting *s = arg;
    tg_options *o = &tg_session_of(cx)->options;
    if (strcmp(s->name, "prefix") == 0)
        return set_prefix(cx, s, &o->prefix);
    if (strcmp(s->name, "target") == 0)
        return set_target(cx, s, &o->target);
    if (strcmp(s->name, "interface-api") == 0)
        return set_interface(cx, s, o);
    if (strcmp(s->name, "abi") == 0)
        return set_abi(cx, s, o);
    if (strcmp(s->name, "unpacked-api") == 0)
        return set_switch(cx, s, &o->unpacked_api);
    if (strcmp(s->name, "workspace-byte-alignment") == 0)
        return set_align(cx, s, &o->workspace_align);
    if (strcmp(s->name, "constant-byte-alignment") == 0)
        return set_align(cx, s, &o->constant_align);
    if (strcmp(s->name, "keep-layout") == 0)
        return set_switch(cx, s, &o->keep_layout);
    if (strcmp(s->name, "keep-schedule") == 0)
        return set_switch(cx, s, &o->keep_schedule);
    if (strcmp(s->name, "parallel") == 0)
        return set_switch(cx, s, &o->parallel);
    if (strcmp(s->name, "shape") == 0)
        return set_shape(cx, s, o);
    if (strcmp(s->name, "entry") == 0) {
        o->entry = tg_intern_z(cx, s->value)->text;
        return true;
    }
    tg_error(cx, TG_NOWHERE, "unknown option \"%s\"", s->name);
    return false;
}

tirgen_status tirgen_set_option(tirgen_ctx *ctx, const char *name, const char *value)
{
    setting s = { name, value };
    tirgen_status status = tg_guard(ctx, set_option, &s);
    return status == TIRGEN_EINPUT ? TIRGEN_EOPTION : status;
}

/* ---- reading ---- */

typedef struct loading { const char *name, *text; size_t size; } loading;

static bool parse(tg_ctx *cx, const char *name, const char *text, size_t size)
{
    if (size > TG_MAX_TEXT)
        tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "%s: the text is larger than 2 GiB", name);
    tg_session *s = tg_session_of(cx);
    if (s->compiled) {
        tg_error(cx, TG_NOWHERE, "%s: texts must be loaded before the module is compiled", name);
        return false;
    }
    tg_source *src = tg_source_add(cx, name, text, size);
    bool good = tg_parse_any(cx, s->module, src) && tg_verify_module(cx, s->module, true);
    tg_temp_reset(cx);
    return good;
}

static bool load_text(tg_ctx *cx, void *arg)
{
    const loading *l = arg;
    if (l->size > TG_MAX_TEXT)
        tg_fail(cx, TIRGEN_ELIMIT, TG_NOWHERE, "%s: the text is larger than 2 GiB", l->name);
    return parse(cx, l->name, tg_copy(cx, l->text, l->size), l->size);
}

tirgen_status tirgen_load_text(tirgen_ctx *ctx, const char *name, const char *text, size_t size_bytes)
{
    loading l = { name, text, size_bytes };
    return tg_guard(ctx, load_text, &l);
}

/* Maps a whole file; leaves with TIRGEN_EIO when it cannot be read. */
static const void *map_file(tg_ctx *cx, const char *path, size_t *size)
{
    tg_session *s = tg_session_of(cx);
    TG_PUSH(cx, s->maps, ((tg_mapping){ NULL, 0 }));        /* room first: nothing may fail between mmap and the note of it */
    --s->maps.n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) {
        int e = fd >= 0 && S_ISDIR(st.st_mode) ? EISDIR : errno;
        if (fd >= 0)
            close(fd);
        tg_fail(cx, TIRGEN_EIO, TG_NOWHERE, "%s: %s", path, strerror(e));
    }
    *size = (size_t)st.st_size;
    void *at = *size == 0 ? NULL : mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    int e = errno;
    close(fd);
    if (at == MAP_FAILED)
        tg_fail(cx, TIRGEN_EIO, TG_NOWHERE, "%s: %s", path, strerror(e));
    if (at != NULL)
        s->maps.at[s->maps.n++] = (tg_mapping){ at, *size };
    return at != NULL ? at : "";
}

static bool load_file(tg_ctx *cx, void *arg)
{
    size_t size;
    const char *text = map_file(cx, arg, &size);
    return parse(cx, arg, text, size);
}

tirgen_status tirgen_load_file(tirgen_ctx *ctx, const char *path)
{
    return tg_guard(ctx, load_file, (void *)(uintptr_t)path);
}

/* Notes the tensors of a parameter file, whose bytes stay. */
static bool note_params(tg_ctx *cx, const char *name, const void *bytes, size_t size)
{
    tg_params p = { 0, NULL };
    if (!tg_read_params(cx, name, bytes, size, &p))
        return false;
    tg_session *s = tg_session_of(cx);
    const char *file = tg_intern_z(cx, name)->text;
    for (size_t i = 0; i < p.n; ++i) {
        TG_PUSH(cx, s->param_name, p.at[i].name);
        TG_PUSH(cx, s->param_value, p.at[i].value);
        TG_PUSH(cx, s->param_file, file);
    }
    tg_temp_reset(cx);
    return true;
}

static bool load_params(tg_ctx *cx, void *arg)
{
    size_t size;
    const void *bytes = map_file(cx, arg, &size);
    return note_params(cx, arg, bytes, size);
}

tirgen_status tirgen_load_params(tirgen_ctx *ctx, const char *path)
{
    return tg_guard(ctx, load_params, (void *)(uintptr_t)path);
}

static bool load_params_bytes(tg_ctx *cx, void *arg)
{
    const loading *l = arg;
    return note_params(cx, l->name, tg_copy(cx, l->text, l->size), l->size);
}

tirgen_status tirgen_load_params_bytes(tirgen_ctx *ctx, const char *name, const void *bytes, size_t size_bytes)
{
    loading l = { name, bytes, size_bytes };
    return tg_guard(ctx, load_params_bytes, &l);
}

/* ---- compiling ---- */

typedef struct compiling { tg_ctx *cx; const char *last; tirgen_pass_fn after; void *user; tirgen_status status; } compiling;

static bool after_pass(void *user, const tg_pass *pass, const tg_module *m, double seconds)
{
    (void)m;
    compiling *c = user;
    if (c->after == NULL || c->after(c->user, c->cx, pass->name, seconds) == 0)
        return true;
    c->status = TIRGEN_EOPTION;
    return false;
}

static bool compile(tg_ctx *cx, void *arg)
{
    compiling *c = arg;
    tg_session *s = tg_session_of(cx);
    if (c->last != NULL && tg_pass_find(c->last) == NULL) {
        tg_error(cx, TG_NOWHERE, "there is no pass \"%s\"", c->last);
        c->status = TIRGEN_EOPTION;
        return false;
    }
    if (s->options.interface_api == TG_INTERFACE_C && !s->options.unpacked_api) {
        tg_error(cx, TG_NOWHERE, "-interface-api=c and -unpacked-api=0 exclude each other: the C interface calls operators with plain pointers");
        c->status = TIRGEN_EOPTION;
        return false;
    }
    if (s->options.interface_api == TG_INTERFACE_C && s->options.ffi) {
        tg_error(cx, TG_NOWHERE, "-interface-api=c and -abi=tvm-ffi exclude each other: tvm-ffi enters through the packed interface");
        c->status = TIRGEN_EOPTION;
        return false;
    }
    if (s->compiled || s->module->funcs.n == 0) {
        tg_error(cx, TG_NOWHERE, s->compiled ? "the module was compiled already" : "no module was loaded");
        return false;
    }
    s->compiled = true;
    if (!tg_verify_globals(cx, s->module) || !tg_bind_params(cx, s->module, s->options.entry, s->param_name.n, s->param_name.at, s->param_value.at, s->param_file.at))
        return false;
    tg_temp_reset(cx);
    bool good = tg_run_pipeline(cx, s->module, &s->options, c->last, after_pass, c);
    s->complete = good && (c->last == NULL || tg_pass_find(c->last)[1].name == NULL);
    return good;
}

tirgen_status tirgen_compile(tirgen_ctx *ctx, const char *last, tirgen_pass_fn after, void *user)
{
    compiling c = { ctx, last, after, user, TIRGEN_EINPUT };
    tirgen_status status = tg_guard(ctx, compile, &c);
    return status == TIRGEN_EINPUT ? c.status : status;
}

/* The passes of a list "simplify,loops", each where it stands; false after an error. */
static bool run_list(tg_ctx *cx, compiling *c)
{
    tg_session *s = tg_session_of(cx);
    if (strcmp(c->last, "none") == 0)
        return true;
    for (const char *at = c->last; *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        const tg_pass *p = tg_pass_find(tg_intern(cx, at, n)->text);
        if (p == NULL) {
            tg_error(cx, TG_NOWHERE, "there is no pass \"%.*s\"", (int)n, at);
            c->status = TIRGEN_EOPTION;
            return false;
        }
        if (!tg_run_pass(cx, s->module, &s->options, p, after_pass, c))
            return false;
        at += n;
    }
    return true;
}

static bool run_passes(tg_ctx *cx, void *arg)
{
    tg_session *s = tg_session_of(cx);
    s->compiled = true;
    bool good = tg_verify_globals(cx, s->module) && tg_bind_params(cx, s->module, s->options.entry, s->param_name.n, s->param_name.at, s->param_value.at, s->param_file.at)
                && run_list(cx, arg);
    tg_temp_reset(cx);
    return good;
}

tirgen_status tirgen_run_passes(tirgen_ctx *ctx, const char *list, tirgen_pass_fn after, void *user)
{
    compiling c = { ctx, list, after, user, TIRGEN_EINPUT };
    tirgen_status status = tg_guard(ctx, run_passes, &c);
    return status == TIRGEN_EINPUT ? c.status : status;
}

const char *tirgen_pass_name(size_t i)
{
    for (size_t k = 0; tg_pipeline[k].name != NULL; ++k)
        if (k == i)
            return tg_pipeline[k].name;
    return NULL;
}

const char *tirgen_pass_help(size_t i)
{
    return tirgen_pass_name(i) != NULL ? tg_pipeline[i].help : NULL;
}

/* ---- writing ---- */

typedef struct printing { tirgen_write_fn write; void *user; bool failed; } printing;

static bool flush_print(void *user, const char *bytes, size_t n)
{
    printing *p = user;
    p->failed = p->failed || p->write(p->user, bytes, n) != 0;
    return !p->failed;
}

static bool print_module(tg_ctx *cx, void *arg)
{
    tg_text t = tg_text_to(cx, flush_print, arg);
    tg_print_module(&t, tg_session_of(cx)->module);
    return tg_text_end(&t);
}

tirgen_status tirgen_print(tirgen_ctx *ctx, tirgen_write_fn write, void *user)
{
    printing p = { write, user, false };
    tirgen_status status = tg_guard(ctx, print_module, &p);
    return p.failed ? TIRGEN_EIO : status;
}

typedef struct emitting { tg_ctx *cx; const tirgen_files *to; bool failed; } emitting;

static bool open_file(void *user, const char *name)
{
    emitting *e = user;
    e->failed = e->failed || e->to->open(e->to->user, name) != 0;
    return !e->failed;
}

static bool write_file(void *user, const char *at, size_t n)
{
    emitting *e = user;
    e->failed = e->failed || e->to->bytes(e->to->user, at, n) != 0;
    return !e->failed;
}

static bool close_file(void *user)
{
    emitting *e = user;
    e->failed = e->failed || e->to->close(e->to->user) != 0;
    return !e->failed;
}

static void note_symbol(void *user, const tg_func *f, const char *symbol)
{
    emitting *e = user;
    tg_map_put(e->cx, &tg_session_of(e->cx)->symbol, TG_KEY(f->name), (void *)(uintptr_t)tg_intern_z(e->cx, symbol)->text);
}

static bool emit_c(tg_ctx *cx, void *arg)
{
    tg_session *s = tg_session_of(cx);
    if (!s->complete) {
        tg_error(cx, TG_NOWHERE, "C can be emitted only after all passes ran");
        return false;
    }
    tg_files files = { open_file, write_file, close_file, note_symbol, arg };
    bool good = tg_codegen_c(cx, s->module, &s->options, &files);
    tg_temp_reset(cx);
    return good;
}

tirgen_status tirgen_emit_c(tirgen_ctx *ctx, const tirgen_files *files)
{
    emitting e = { ctx, files, false };
    tirgen_status status = tg_guard(ctx, emit_c, &e);
    return e.failed ? TIRGEN_EIO : status;
}

/* ---- the compiled model ---- */

static size_t names_in(const tg_func *f, const char *list)
{
    const tg_value *v = tg_v_get(f->attrs, list);
    return v == NULL ? 0 : v->n;
}

/* The workspace, or a pool of a module that was lowered elsewhere: parameter @p i, which no caller sees. */
static DLTensor *memory_of(tg_ctx *cx, const tg_func *f, uint32_t i)
{
    int64_t dim[TG_MAX_NDIM];
    const tg_buffer *b = f->buffer[i];
    const tg_value *pools = tg_pools_of(f);
    uint32_t first = pools == NULL ? f->nparams : f->nparams - pools->n;
    const tg_value *constants = i >= first ? tg_pool_constants(pools->item[i - first]) : NULL;
    if (b == NULL || !tg_buffer_dims(b, dim)) {
        tg_error(cx, f->param[i]->span, "%s: the size of %s is not known", f->name->text, f->param[i]->name->text);
        return NULL;
    }
    tg_tensor *t = tg_tensor_new(cx, tg_tensor_type(cx, b->dtype, b->ndim, dim, 0), NULL);
    for (uint32_t k = 0; constants != NULL && k < constants->n; ++k) {
        tg_pool_constant c = tg_pool_constant_at(constants, k);
        if (c.data == NULL || c.offset < 0 || c.data->size_bytes > t->size_bytes || (size_t)c.offset > t->size_bytes - c.data->size_bytes) {
            tg_error(cx, f->span, "%s: constant %s has no data or lies outside its pool", f->name->text, c.name);
            return NULL;
        }
        memcpy((char *)t->dl.data + c.offset, c.data->dl.data, c.data->size_bytes);
    }
    return &t->dl;
}

typedef struct evaluating { DLTensor *const *arg; size_t n; } evaluating;

static bool evaluate(tg_ctx *cx, void *arg)
{
    const evaluating *e = arg;
    tg_session *s = tg_session_of(cx);
    const tg_func *f = tg_module_main(s->module);
    if (f == NULL) {
        tg_error(cx, TG_NOWHERE, "there is no compiled model to evaluate");
        return false;
    }
    size_t n = names_in(f, "input_vars") + names_in(f, "output_vars");
    if (e->n != n) {
        tg_error(cx, TG_NOWHERE, "the model has %zu inputs and outputs together, not %zu", n, e->n);
        return false;
    }
    DLTensor **all = TG_ARRAY(cx, DLTensor *, f->nparams);
    if (n > 0)
        memcpy(all, e->arg, n * sizeof all[0]);
    for (uint32_t i = (uint32_t)n; i < f->nparams; ++i)
        if ((all[i] = memory_of(cx, f, i)) == NULL)
            return false;
    int64_t ret = 0;
    if (!tg_eval(cx, s->module, f, all, f->nparams, &ret))
        return false;
    if (ret != 0)
        tg_error(cx, TG_NOWHERE, "the model returned %lld", (long long)ret);
    return ret == 0;
}

tirgen_status tirgen_evaluate(tirgen_ctx *ctx, DLTensor *const *args, size_t nargs)
{
    evaluating e = { args, nargs };
    return tg_guard(ctx, evaluate, &e);
}

typedef struct asking { size_t i; tirgen_tensor_info *info; tirgen_report *report; } asking;

static bool get_tensor(tg_ctx *cx, void *arg)
{
    asking *a = arg;
    const tg_func *f = tg_module_main(tg_session_of(cx)->module);
    size_t nin = f == NULL ? 0 : names_in(f, "input_vars"), n = f == NULL ? 0 : nin + names_in(f, "output_vars");
    if (a->i >= n) {
        tg_error(cx, TG_NOWHERE, "the compiled model has %zu inputs and outputs: there is no tensor %zu", n, a->i);
        return false;
    }
    int64_t *dim = TG_ARRAY(cx, int64_t, TG_MAX_NDIM), elements = 0;
    const tg_buffer *b = f->buffer[a->i];
    bool known = tg_buffer_dims(b, dim) && tg_buffer_elements(b, &elements);
    TG_CHECK(cx, known, f->body);
    const tg_value *name = a->i < nin ? tg_v_get(f->attrs, "input_vars")->item[a->i] : tg_v_get(f->attrs, "output_vars")->item[a->i - nin];
    *a->info = (tirgen_tensor_info){ name->s->text, b->dtype, (int32_t)b->ndim, dim, (size_t)elements * tg_dtype_bytes(b->dtype) };
    return true;
}

tirgen_status tirgen_get_tensor(tirgen_ctx *ctx, size_t i, tirgen_tensor_info *out)
{
    asking a = { i, out, NULL };
    tirgen_status status = tg_guard(ctx, get_tensor, &a);
    return status == TIRGEN_EINPUT ? TIRGEN_EOPTION : status;
}

/* Bytes of @p f's pools that are workspaces, or that are constants. */
static size_t pool_bytes(const tg_func *f, bool constant)
{
    const tg_value *pools = tg_pools_of(f);
    size_t bytes = 0;
    for (uint32_t i = 0; pools != NULL && i < pools->n; ++i)
        if ((tg_pool_constants(pools->item[i]) != NULL) == constant && tg_pool_size(pools->item[i]) > 0)
            bytes += (size_t)tg_pool_size(pools->item[i]);
    return bytes;
}

static bool add_constant(tg_ctx *cx, const tg_node *n, void *user)
{
    tirgen_report *r = user;
    (void)cx;
    if (n->kind == TG_ALLOC_CONST && n->u.alloc->tensor != NULL)
        r->constant_bytes += n->u.alloc->tensor->size_bytes;
    return tg_is_stmt(n) && n->kind != TG_EVALUATE;
}

static bool get_report(tg_ctx *cx, void *arg)
{
    tirgen_report *r = ((asking *)arg)->report;
    const tg_session *s = tg_session_of(cx);
    const tg_func *f = tg_module_main(s->module);
    if (!s->complete || f == NULL) {
        tg_error(cx, TG_NOWHERE, "a report needs a model that is compiled to the end");
        return false;
    }
    *r = (tirgen_report){ .ninputs = names_in(f, "input_vars"), .noutputs = names_in(f, "output_vars"),
                          .workspace_bytes = (size_t)tg_v_get_int(f->attrs, "tirgen.workspace_bytes", 0) + pool_bytes(f, false),
                          .constant_bytes = pool_bytes(f, true),
                          .workspace_bound = (size_t)tg_v_get_int(f->attrs, "tirgen.workspace_bound", 0),
                          .nkernels = s->module->funcs.n - 1 };
    tg_visit(cx, f->body, add_constant, r);
    return true;
}

tirgen_status tirgen_get_report(tirgen_ctx *ctx, tirgen_report *out)
{
    asking a = { 0, NULL, out };
    tirgen_status status = tg_guard(ctx, get_report, &a);
    return status == TIRGEN_EINPUT ? TIRGEN_EOPTION : status;
}
