/* c_entry.c: the functions that an application calls. They check what they are given, then call main. */
#include "emit.h"

#include "tirgen/version.h"

static int32_t workspace_align(const tg_emit *e)
{
    return e->opt->workspace_align > 0 ? e->opt->workspace_align : 16;
}

/* ---- <prefix>_run_with_workspace ---- */

typedef struct entry_names { const char *inputs, *outputs, *workspace; } entry_names;

static entry_names name_entry(tg_emit *e)
{
    ++e->epoch;
    return (entry_names){ c_local(e, "inputs", 6, "inputs")->text, c_local(e, "outputs", 7, "outputs")->text,
                          c_local(e, "workspace", 9, "workspace")->text };
}

/* " || inputs->x == NULL": a tensor without elements needs no memory. */
static void check_members(tg_emit *e, const char *of, uint32_t n, const c_io *io)
{
    for (uint32_t i = 0; i < n; ++i)
        if (io[i].elements > 0)
            tg_printf(e->to, "\n        || %s->%s == NULL", of, io[i].member->text);
}

static void pass_members(tg_emit *e, const char *of, uint32_t n, const c_io *io, uint32_t first)
{
    const c_fn *main = e->model.main;
    for (uint32_t i = 0; i < n; ++i) {
        const c_var *v = c_var_of(e, main->f->param[first + i]);
        tg_printf(e->to, "%s\n        (%s%s *)%s->%s", first + i > 0 ? "," : "", v->stored ? "" : "const ",
                  c_element(e, v->elem, TG_NOWHERE), of, io[i].member->text);
    }
}

void c_put_entry(tg_emit *e)
{
    const c_model *m = &e->model;
    size_t mark = c_scope_open(e);
    entry_names x = name_entry(e);
    const char *p = e->prefix;
    e->need |= C_STDDEF;
    tg_printf(e->to, "\nint32_t %s_run_with_workspace(const struct %s_inputs *%s,\n", p, p, x.inputs);
    tg_printf(e->to, "    const struct %s_outputs *%s, void *%s)\n{\n", p, x.outputs, x.workspace);
    tg_printf(e->to, "    if (%s == NULL || %s == NULL", x.inputs, x.outputs);
    check_members(e, x.inputs, m->nin, m->in);
    check_members(e, x.outputs, m->nout, m->out);
    if (m->workspace_bytes > 0)
        tg_printf(e->to, "\n        || %s == NULL || (uintptr_t)%s %% %s_WORKSPACE_ALIGN != 0", x.workspace, x.workspace,
                  e->macro);
    tg_printf(e->to, ") {\n        return %s_INVALID_ARGUMENT;\n    }\n", e->macro);
    if (!m->has_workspace)
        tg_printf(e->to, "    (void)%s;\n", x.workspace);
    tg_printf(e->to, m->main->returns ? "    return %s(" : "    %s(", m->main->name->text);
    pass_members(e, x.inputs, m->nin, m->in, 0);
    pass_members(e, x.outputs, m->nout, m->out, m->nin);
    c_pass_pools(e, x.workspace);
    if (m->has_workspace && m->npools == 0)
        tg_printf(e->to, "%s\n        (%suint8_t *)%s", m->nin + m->nout > 0 ? "," : "",
                  c_var_of(e, m->main->f->param[m->nin + m->nout])->stored ? "" : "const ", x.workspace);
    tg_puts(e->to, m->main->returns ? ");\n}\n" : ");\n    return 0;\n}\n");
    c_scope_close(e, mark);
}

/* ---- <prefix>_workspace.c ---- */

static void put_static_workspace(tg_emit *e)
{
    const c_model *m = &e->model;
    if (m->workspace_bytes == 0)
        return;
    tg_puts(e->to, "\n");
    c_put_align_macro(e);
    tg_puts(e->to, "/* Where the workspace lies, for example __attribute__((section(\".dtcm\"))). */\n"
                   "#ifndef TIRGEN_WORKSPACE_SECTION\n#define TIRGEN_WORKSPACE_SECTION\n#endif\n");
    tg_printf(e->to, "\nstatic TIRGEN_ALIGN(%d) TIRGEN_WORKSPACE_SECTION uint8_t\n", (int)workspace_align(e));
    tg_printf(e->to, "    workspace[%s_WORKSPACE_SIZE];\n", e->macro);
}

static const char *workspace_or_null(const tg_emit *e)
{
    return e->model.workspace_bytes > 0 ? "workspace" : "NULL";
}

static void put_plain_run(tg_emit *e)
{
    const char *p = e->prefix;
    tg_printf(e->to, "\nint32_t %s_run(struct %s_inputs *inputs, struct %s_outputs *outputs)\n{\n", p, p, p);
    tg_printf(e->to, "    return %s_run_with_workspace(inputs, outputs, %s);\n}\n", p, workspace_or_null(e));
}

static const c_io *io_at(const c_model *m, uint32_t i)
{
    return i < m->nin ? &m->in[i] : &m->out[i - m->nin];
}

/* What each argument of the packed entry must be. */
static void put_expected(tg_emit *e)
{
    const c_model *m = &e->model;
    uint32_t n = m->nin + m->nout;
    for (uint32_t i = 0; i < n; ++i) {
        const c_io *io = io_at(m, i);
        if (io->buf->ndim == 0)
            continue;
        tg_printf(e->to, "    static const int64_t shape_%u[%u] = { ", i, io->buf->ndim);
        for (uint32_t k = 0; k < io->buf->ndim; ++k)
            tg_printf(e->to, "%s%lld", k > 0 ? ", " : "", (long long)io->dim[k]);
        tg_puts(e->to, " };\n");
    }
    tg_printf(e->to, "    static const tirgen_rt_tensor_type expected[%u] = {\n", n > 0 ? n : 1);
    for (uint32_t i = 0; i < n; ++i) {
        const c_io *io = io_at(m, i);
        DLDataType d = io->buf->dtype;
        tg_puts(e->to, "        { ");
        c_put_string(e, tg_intern_z(e->cx, io->text));
        tg_printf(e->to, ", %s, %u, %u, %u, %u },\n", io->buf->ndim > 0 ? tg_format(e->cx, "shape_%u", i) : "NULL", io->buf->ndim,
                  (unsigned)d.code, (unsigned)d.bits, (unsigned)d.lanes);
    }
    if (n == 0)
        tg_puts(e->to, "        { NULL, NULL, 0, 0, 0, 0 },\n");
    tg_puts(e->to, "    };\n");
}

static void put_packed_run(tg_emit *e)
{
    const c_model *m = &e->model;
    const char *p = e->prefix;
    uint32_t n = m->nin + m->nout;
    tg_printf(e->to, "\nint32_t %s_run(TVMValue *args, int *type_codes, int num_args,\n"
                     "    TVMValue *out_ret_value, int *out_ret_tcode, void *resource_handle)\n{\n", p);
    tg_puts(e->to, "#ifndef TIRGEN_NO_CHECKS\n");
    put_expected(e);
    tg_printf(e->to, "    const int32_t status =\n        tirgen_rt_check_args(\"%s_run\", args, type_codes, num_args, expected, %u);\n",
              p, n);
    tg_puts(e->to, "    if (status != 0) {\n        return status;\n    }\n"
                   "#else\n    (void)type_codes;\n    (void)num_args;\n#endif\n");
    tg_printf(e->to, "    struct %s_inputs inputs;\n    struct %s_outputs outputs;\n", p, p);
    if (m->nin == 0)
        tg_puts(e->to, "    inputs.unused = NULL;\n");
    if (m->nout == 0)
        tg_puts(e->to, "    outputs.unused = NULL;\n");
    for (uint32_t i = 0; i < n; ++i) {
        const c_io *io = io_at(m, i);
        bool in = i < m->nin;
        tg_printf(e->to, "    %s.%s = (%s%s *)tirgen_rt_tensor_data(&args[%u]);\n", in ? "inputs" : "outputs",
                  io->member->text, in && !io->stored ? "const " : "", c_element(e, io->buf->dtype, TG_NOWHERE), i);
    }
    tg_puts(e->to, "    (void)out_ret_value;\n    (void)resource_handle;\n    if (out_ret_tcode != NULL) {\n"
                   "        *out_ret_tcode = kTVMNullptr;\n    }\n");
    tg_printf(e->to, "    return %s_run_with_workspace(&inputs, &outputs, %s);\n}\n", p, workspace_or_null(e));
}

void c_put_workspace_unit(tg_emit *e)
{
    bool packed = e->opt->interface_api == TG_INTERFACE_PACKED;
    tg_printf(e->to, "/* %s_workspace.c: the default entry, which runs the model in a static workspace.\n", e->prefix);
    tg_printf(e->to, " * Made by tirgen %s.\n", TIRGEN_VERSION);
    tg_puts(e->to, " * Not needed by applications that bring a workspace of their own. */\n");
    tg_printf(e->to, "#include \"%s.h\"\n", e->prefix);
    if (packed || e->model.workspace_bytes == 0)
        tg_puts(e->to, "\n#include <stddef.h>\n");
    put_static_workspace(e);
    if (packed)
        put_packed_run(e);
    else
        put_plain_run(e);
}
