/* c_header.c: the model's public header, and the build file beside it. */
#include "emit.h"

#include "tirgen/version.h"

static const char restrict_macro[] =
    "/* A promise that a pointer is the only way to what it points to. */\n"
    "#ifndef TIRGEN_RESTRICT\n"
    "#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L\n"
    "#define TIRGEN_RESTRICT restrict\n"
    "#elif defined(__GNUC__) || defined(_MSC_VER)\n"
    "#define TIRGEN_RESTRICT __restrict\n"
    "#else\n"
    "#define TIRGEN_RESTRICT\n"
    "#endif\n"
    "#endif\n";

/* "the model in lenet.relay" */
static void put_origin(tg_emit *e, const char *what, tg_span at)
{
    const tg_source *s = tg_source_of(e->cx, at);
    tg_puts(e->to, what);
    if (s != NULL) {
        const char *name = tg_basename(s->name);
        tg_puts(e->to, " in ");
        size_t n = 0;
        while (name[n] != '\0')
            ++n;
        c_put_comment(e, name, n);
    }
}

void c_put_origin(tg_emit *e, const char *what)
{
    const c_fn *fn = e->model.main != NULL ? e->model.main : e->fn.n > 0 ? e->fn.at[0] : NULL;
    put_origin(e, what, fn != NULL ? fn->f->span : TG_NOWHERE);
    tg_printf(e->to, ". Made by tirgen %s. */\n", TIRGEN_VERSION);
}

static void put_text(tg_emit *e, const char *text)
{
    size_t n = 0;
    while (text[n] != '\0')
        ++n;
    c_put_comment(e, text, n);
}

/* ---- macros ---- */

static void put_io_macros(tg_emit *e, const c_io *io, const char *what)
{
    tg_printf(e->to, "\n/* %s ", what);
    put_text(e, io->text);
    tg_puts(e->to, ": ");
    c_put_shape(e, io->buf->dtype, io->buf->ndim, io->dim);
    tg_puts(e->to, ", row-major */\n");
    tg_printf(e->to, "#define %s_%s_SIZE %lld\n", e->macro, io->macro, (long long)io->size_bytes);
    tg_printf(e->to, "#define %s_%s_ELEMENTS %lld\n", e->macro, io->macro, (long long)io->elements);
    tg_printf(e->to, "#define %s_%s_DTYPE \"%s\"\n", e->macro, io->macro, tg_dtype_text(e->cx, io->buf->dtype));
    tg_printf(e->to, "#define %s_%s_NDIM %u\n", e->macro, io->macro, io->buf->ndim);
    if (io->buf->ndim == 0)
        return;
    tg_printf(e->to, "#define %s_%s_SHAPE { ", e->macro, io->macro);
    for (uint32_t k = 0; k < io->buf->ndim; ++k)
        tg_printf(e->to, "%s%lld", k > 0 ? ", " : "", (long long)io->dim[k]);
    tg_puts(e->to, " }\n");
}

static void put_workspace_macros(tg_emit *e)
{
    int32_t align = e->opt->workspace_align > 0 ? e->opt->workspace_align : 16;
    tg_puts(e->to, "\n/* Memory for what stands between the operators, in bytes, and its alignment */\n");
    tg_printf(e->to, "#define %s_WORKSPACE_SIZE %lld\n", e->macro, (long long)e->model.workspace_bytes);
    tg_printf(e->to, "#define %s_WORKSPACE_ALIGN %d\n", e->macro, (int)align);
    tg_puts(e->to, "\n/* Returned when an argument is NULL or the workspace is not aligned */\n");
    tg_printf(e->to, "#define %s_INVALID_ARGUMENT 0x803\n", e->macro);
}

/* ---- structs ---- */

static void put_struct(tg_emit *e, const char *which, const char *qualifier, uint32_t n, const c_io *io, bool typed)
{
    tg_printf(e->to, "struct %s_%s {\n", e->prefix, which);
    if (n == 0)
        tg_puts(e->to, "    void *unused;\n");
    for (uint32_t i = 0; i < n; ++i) {
        const char *type = typed ? c_element(e, io[i].buf->dtype, TG_NOWHERE) : "void";
        tg_printf(e->to, "    %s%s *%s; /* ", io[i].stored ? "" : qualifier, type, io[i].member->text);
        c_put_shape(e, io[i].buf->dtype, io[i].buf->ndim, io[i].dim);
        tg_puts(e->to, " */\n");
    }
    tg_puts(e->to, "};\n");
}

static void put_structs(tg_emit *e, bool typed)
{
    const c_model *m = &e->model;
    put_struct(e, "inputs", "const ", m->nin, m->in, typed);
    tg_puts(e->to, "\n");
    put_struct(e, "outputs", "", m->nout, m->out, typed);
}

/* ---- functions ---- */

static void put_run(tg_emit *e)
{
    const char *p = e->prefix, *m = e->macro;
    if (e->opt->interface_api == TG_INTERFACE_PACKED) {
        tg_puts(e->to, "\n/**\n * Run the model in its static workspace, called by the packed convention: a DLTensor for each\n"
                       " * input, then for each output. Not re-entrant.\n"
                       " * @return 0, or a status with its text in TVMGetLastError(): 0x800 the number of arguments, 0x801\n"
                       " *         the kind, dtype, rank or shape of one, 0x803 a tensor that is not compact, not aligned or\n"
                       " *         has no data.\n */\n");
        tg_printf(e->to, "int32_t %s_run(TVMValue *args, int *type_codes, int num_args,\n"
                         "    TVMValue *out_ret_value, int *out_ret_tcode, void *resource_handle);\n", p);
    } else {
        tg_puts(e->to, "\n/**\n * Run the model in its static workspace. Not re-entrant.\n"
                       " * The structs are only read. Outputs overlap neither each other nor inputs.\n");
        tg_printf(e->to, " * @return 0, or %s_INVALID_ARGUMENT.\n */\n", m);
        tg_printf(e->to, "int32_t %s_run(struct %s_inputs *inputs, struct %s_outputs *outputs);\n", p, p, p);
    }
    tg_puts(e->to, "\n/**\n * Run the model in a workspace of the caller. Re-entrant: calls with different workspaces and\n"
                   " * outputs may run at once.\n");
    if (e->model.workspace_bytes > 0)
        tg_printf(e->to, " * @param workspace  %s_WORKSPACE_SIZE bytes, aligned to\n"
                         " *                   %s_WORKSPACE_ALIGN; contents do not matter.\n", m, m);
    else
        tg_puts(e->to, " * @param workspace  May be NULL: this model needs none.\n");
    tg_printf(e->to, " * @return 0, or %s_INVALID_ARGUMENT: a pointer is NULL or the workspace\n"
                     " *         is not aligned.\n */\n", m);
    tg_printf(e->to, "int32_t %s_run_with_workspace(const struct %s_inputs *inputs,\n"
                     "    const struct %s_outputs *outputs, void *workspace);\n", p, p, p);
}

static void put_model(tg_emit *e)
{
    const c_model *m = &e->model;
    for (uint32_t i = 0; i < m->nin; ++i)
        put_io_macros(e, &m->in[i], "Input");
    for (uint32_t i = 0; i < m->nout; ++i)
        put_io_macros(e, &m->out[i], "Output");
    put_workspace_macros(e);
    tg_puts(e->to, "\n#ifndef TIRGEN_UNTYPED_IO\n");
    put_structs(e, true);
    tg_puts(e->to, "#else /* the same with void pointers */\n");
    put_structs(e, false);
    tg_puts(e->to, "#endif\n");
    put_run(e);
}

static void put_kernels(tg_emit *e)
{
    for (size_t i = 0; i < e->fn.n; ++i) {
        if (!e->fn.at[i]->is_public)
            continue;
        tg_putc(e->to, '\n');
        c_describe(e, e->fn.at[i]);
        c_signature(e, e->fn.at[i]);
        tg_puts(e->to, ";\n");
        if (tg_v_get_int(e->fn.at[i]->f->attrs, "calling_conv", 0) == 1)
            e->need |= C_PACKED;
    }
}

void c_put_header(tg_emit *e)
{
    bool model = e->model.main != NULL;
    tg_text *to = e->to, body = tg_text_new(e->cx);
    e->need = model && e->opt->interface_api == TG_INTERFACE_PACKED ? C_PACKED : 0;
    e->to = &body;
    if (model)
        put_model(e);
    else
        put_kernels(e);
    e->to = to;
    tg_printf(to, "/* %s.h: ", e->prefix);
    c_put_origin(e, model ? "interface of the model" : "functions");
    tg_printf(to, "#ifndef %s_H_\n#define %s_H_\n\n#include <stdint.h>\n", e->macro, e->macro);
    if ((e->need & C_STDBOOL) != 0)
        tg_puts(to, "#include <stdbool.h>\n");
    if ((e->need & C_PACKED) != 0)
        tg_puts(to, "\n#include <tirgen_rt/packed.h>\n");
    tg_puts(to, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    tg_puts(to, restrict_macro);
    tg_putn(to, body.at, body.n);
    tg_printf(to, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s_H_ */\n", e->macro);
}

/* ---- CMakeLists.txt ---- */

void c_put_cmake(tg_emit *e)
{
    const char *p = e->prefix;
    bool model = e->model.main != NULL;
    tg_printf(e->to, "# Builds the model as a static library: add_subdirectory() this folder and link to %s.\n", p);
    tg_printf(e->to, "cmake_minimum_required(VERSION 3.13)\nproject(%s LANGUAGES C)\n\n", p);
    tg_printf(e->to, "add_library(%s STATIC %s.c%s%s)\n", p, p, model ? tg_format(e->cx, " %s_workspace.c", p) : "",
              model && e->opt->ffi ? tg_format(e->cx, " %s_ffi.c", p) : "");
    tg_printf(e->to, "target_include_directories(%s PUBLIC \"${CMAKE_CURRENT_SOURCE_DIR}\")\n", p);
    tg_printf(e->to, "target_compile_features(%s PUBLIC c_std_99)\n", p);
    if (e->packed_used)
        tg_printf(e->to, "target_link_libraries(%s PUBLIC tirgen_rt)\n", p);
    if (e->math_used)
        tg_printf(e->to, "if(UNIX)\n    target_link_libraries(%s PUBLIC m)\nendif()\n", p);
}
