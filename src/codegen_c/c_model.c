/* c_model.c: what the outside sees of a model: names, shapes and sizes of its inputs and outputs, and its workspace.
 * The order is that of the parameters of main: inputs, outputs, then the workspace if there is one. */
#include "emit.h"
#include "ir/pool_info.h"

#include <string.h>

/* ---- names ---- */

typedef struct taken { tg_emit *e; tg_map names; } taken;

static bool take(taken *t, const char *name)
{
    const tg_name *n = tg_intern_z(t->e->cx, name);
    if (tg_map_get(&t->names, TG_KEY(n)) != NULL)
        return false;
    tg_map_put(t->e->cx, &t->names, TG_KEY(n), t);
    return true;
}

static const char *take_any(taken *t, const char *base)
{
    const char *name = base;
    for (unsigned i = 1; !take(t, name); ++i)
        name = tg_format(t->e->cx, "%s_%u", base, i);
    return name;
}

/* Names that are identifiers already keep them; those that had to change make way. */
static void name_members(tg_emit *e, uint32_t n, c_io *io, const char *otherwise)
{
    taken t = { .e = e };
    for (int pass = 0; pass < 2; ++pass)
        for (uint32_t i = 0; i < n; ++i) {
            const char *clean = c_clean(e, io[i].text, strlen(io[i].text), otherwise);
            bool same = strcmp(clean, io[i].text) == 0;
            if (pass == 0 && same && take(&t, clean))
                io[i].member = tg_intern_z(e->cx, clean);
            else if (pass == 1 && io[i].member == NULL)
                io[i].member = tg_intern_z(e->cx, take_any(&t, clean));
        }
}

static void name_macros(tg_emit *e)
{
    c_model *m = &e->model;
    taken t = { .e = e };
    take(&t, "WORKSPACE");                      /* PREFIX_WORKSPACE_SIZE is something else */
    for (uint32_t i = 0; i < m->nin; ++i)
        m->in[i].macro = take_any(&t, c_upper(e, m->in[i].member->text));
    for (uint32_t i = 0; i < m->nout; ++i)
        m->out[i].macro = take_any(&t, c_upper(e, m->out[i].member->text));
}

/* ---- inputs and outputs ---- */

static bool is_names(const tg_value *v)
{
    for (uint32_t i = 0; v != NULL && v->kind == TG_V_LIST && i < v->n; ++i)
        if (v->item[i]->kind != TG_V_STR)
            return false;
    return v != NULL && v->kind == TG_V_LIST;
}

static bool has_names(const tg_func *f)
{
    return is_names(tg_v_get(f->attrs, "input_vars")) && is_names(tg_v_get(f->attrs, "output_vars"));
}

void c_model_count(tg_emit *e)
{
    c_model *m = &e->model;
    if (m->main == NULL)
        return;
    const tg_func *f = m->main->f;
    if (!has_names(f))
        return;
    m->nin = tg_v_get(f->attrs, "input_vars")->n;
    m->nout = tg_v_get(f->attrs, "output_vars")->n;
}

static bool describe_io(tg_emit *e, const tg_func *f, uint32_t at, const tg_value *names, uint32_t index, c_io *io)
{
    const tg_buffer *b = f->buffer == NULL ? NULL : f->buffer[at];
    io->text = names->item[index]->s->text;
    if (b == NULL || !tg_buffer_elements(b, &io->elements)) {
        tg_error(e->cx, f->param[at]->span, "%s: the shape of %s is not known", f->name->text, io->text);
        return false;
    }
    io->buf = b;
    io->dim = TG_ARRAY(e->cx, int64_t, b->ndim);
    tg_buffer_dims(b, io->dim);
    io->size_bytes = io->elements * (int64_t)tg_dtype_bytes(b->dtype);
    return true;
}

/* The last parameter, if there is one more than inputs and outputs. */
static bool measure_workspace(tg_emit *e, const tg_func *f)
{
    c_model *m = &e->model;
    int64_t bytes = 0;
    m->has_workspace = f->nparams > m->nin + m->nout;
    if (!m->has_workspace)
        return true;
    const tg_buffer *b = f->buffer != NULL ? f->buffer[f->nparams - 1] : NULL;
    if (b == NULL || !tg_buffer_elements(b, &bytes)) {
        tg_error(e->cx, f->span, "%s: the size of the workspace is not known", f->name->text);
        return false;
    }
    m->workspace_bytes = bytes * (int64_t)tg_dtype_bytes(b->dtype);
    return true;
}

bool c_model_make(tg_emit *e)
{
    c_model *m = &e->model;
    if (m->main == NULL)
        return true;
    const tg_func *f = m->main->f;
    const tg_value *in = tg_v_get(f->attrs, "input_vars"), *out = tg_v_get(f->attrs, "output_vars");
    const tg_value *pools = tg_pools_of(f);
    uint32_t rest = f->nparams - m->nin - m->nout;
    if (m->nin + m->nout > f->nparams || (pools != NULL ? rest != pools->n : rest > 1)) {
        tg_error(e->cx, f->span, "%s has %u parameters; they should be %u inputs, %u outputs and %s", f->name->text,
                 f->nparams, m->nin, m->nout, pools != NULL ? "the pools of its attribute pool_args" : "at most one workspace");
        return false;
    }
    m->in = TG_ARRAY(e->cx, c_io, m->nin);
    m->out = TG_ARRAY(e->cx, c_io, m->nout);
    for (uint32_t i = 0; i < m->nin + m->nout; ++i) {
        bool is_in = i < m->nin;
        uint32_t k = is_in ? i : i - m->nin;
        if (!describe_io(e, f, i, is_in ? in : out, k, is_in ? &m->in[k] : &m->out[k]))
            return false;
        if (is_in)
            m->in[k].stored = c_var_of(e, f->param[i])->stored;
    }
    if (pools != NULL ? !c_pools_make(e, pools) : !measure_workspace(e, f))
        return false;
    name_members(e, m->nin, m->in, "input");
    name_members(e, m->nout, m->out, "output");
    name_macros(e);
    return true;
}
