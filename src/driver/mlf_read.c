/* mlf_read.c: the text and the weights of a model out of a Model Library Format archive, versions 1 to 7. Nothing is unpacked
 * to disk. What the archive says about its files is believed only as far as they are there. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mlf.h"

typedef struct reading {
    tirc_job *job;
    const char *path;               /* of the archive, for messages */
    tirc_archive in;
    char *model;
    yajl_val meta, details;         /* metadata.json; tirc.json or NULL */
    long long version;
} reading;

/* A JSON member of the archive; NULL after a message, or without one when it need not be there. */
static yajl_val read_json(const reading *r, const char *name, bool needed, bool *good)
{
    const tirc_member *m = tirc_archive_find(&r->in, name);
    char wrong[256];
    yajl_val tree = NULL;
    if (m == NULL) {
        if (needed) tirc_say("%s: there is no %s in it: this is not a model library", r->path, name);
        *good = *good && !needed;
        return NULL;
    }
    tree = tirc_json_read(m, wrong, sizeof wrong);
    if (tree != NULL && YAJL_IS_OBJECT(tree)) return tree;
    tirc_say("%s: %s: %s", r->path, name, tree != NULL ? "it should be an object" : wrong);
    yajl_tree_free(tree);
    *good = false;
    return NULL;
}

/* The one model of the archive, whichever version describes it. */
static yajl_val find_model(const reading *r)
{
    yajl_val modules = tirc_json_of(r->meta, "modules", yajl_t_object);
    const char *wanted = tirc_option(r->job->args, TIRC_MODULE_NAME);
    if (r->version < 7) return r->meta;
    if (modules == NULL || modules->u.object.len == 0) {
        tirc_say("%s: metadata.json: \"modules\" should be an object of models", r->path);
        return NULL;
    }
    for (size_t i = 0; i < modules->u.object.len; ++i)
        if (modules->u.object.len == 1 || (wanted != NULL && strcmp(modules->u.object.keys[i], wanted) == 0))
            return modules->u.object.values[i];
    tirc_say("%s: it holds %zu models; say which one with -module-name, for example %s", r->path, modules->u.object.len,
             modules->u.object.keys[0]);
    return NULL;
}

static bool read_metadata(reading *r)
{
    bool good = true;
    yajl_val version, model;
    const char *name, *style;
    r->meta = read_json(r, "./metadata.json", true, &good);
    r->details = good ? read_json(r, "./tirc.json", false, &good) : NULL;
    if (!good) return false;
    version = tirc_json_of(r->meta, "version", yajl_t_number);
    if (version == NULL || !YAJL_IS_INTEGER(version) || YAJL_GET_INTEGER(version) < 1 || YAJL_GET_INTEGER(version) > 7) {
        tirc_say("%s: metadata.json: \"version\" should be a number from 1 to 7", r->path);
        return false;
    }
    r->version = YAJL_GET_INTEGER(version);
    model = find_model(r);
    if (model == NULL) return false;
    style = tirc_json_text_of(model, "style");
    name = tirc_json_text_of(model, "model_name");
    if (style != NULL && strcmp(style, "full-model") != 0) {
        tirc_say("%s: it is of the style \"%s\"; only a full-model archive holds the text of a model", r->path, style);
        return false;
    }
    if (name == NULL) {
        tirc_say("%s: metadata.json: the model has no \"model_name\"", r->path);
        return false;
    }
    r->model = tirc_copy(name);
    return true;
}

/* ---- loading ---- */

static char *joined(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *out = tirc_alloc(n);
    snprintf(out, n, "%s%s%s", a, b, c);
    return out;
}

/* Loads a member, which must be there, as text or as weights. */
static int load_member(const reading *r, const char *name, bool weights)
{
    const tirc_member *m = tirc_archive_find(&r->in, name);
    char *shown;
    tirgen_status status;
    if (m == NULL) {
        tirc_say("%s: there is no %s in it", r->path, name);
        return 1;
    }
    shown = joined(r->path, ":", strncmp(name, "./", 2) == 0 ? name + 2 : name);
    status = weights ? tirgen_load_params_bytes(r->job->ctx, shown, m->size == 0 ? "" : m->bytes, m->size)
                     : tirgen_load_text(r->job->ctx, shown, m->size == 0 ? "" : m->bytes, m->size);
    free(shown);
    return tirc_exit_status(status);
}

/* Each name in the list @p key of tirc.json goes to @p load. */
static int each_text(const reading *r, const char *key, int (*load)(const reading *r, const char *text))
{
    yajl_val list = tirc_json_of(r->details, key, yajl_t_array);
    int status = 0;
    if (list == NULL) {
        tirc_say("%s: tirc.json: \"%s\" should be a list", r->path, key);
        return 1;
    }
    for (size_t i = 0; status == 0 && i < list->u.array.len; ++i) {
        const char *text = YAJL_GET_STRING(list->u.array.values[i]);
        if (text == NULL) tirc_say("%s: tirc.json: \"%s\" should be a list of texts", r->path, key);
        status = text == NULL ? 1 : load(r, text);
    }
    return status;
}

static int load_text(const reading *r, const char *name) { return load_member(r, name, false); }
static int load_weights(const reading *r, const char *name) { return load_member(r, name, true); }

static int check_there(const reading *r, const char *name)
{
    if (tirc_archive_find(&r->in, name) != NULL) return 0;
    tirc_say("%s: there is no %s in it", r->path, name);
    return 1;
}

static int set_shape(const reading *r, const char *shape)
{
    return tirc_exit_status(tirgen_set_option(r->job->ctx, "shape", shape)) == 0 ? 0 : 1;
}

/* An archive of ours: its lists say which files there are. */
static int load_listed(const reading *r)
{
    const char *entry = tirc_json_text_of(r->details, "entry");
    int status = each_text(r, "sources", check_there);
    if (status == 0) status = each_text(r, "headers", check_there);
    if (status == 0) status = each_text(r, "texts", load_text);
    if (status == 0) status = each_text(r, "parameters", load_weights);
    if (status == 0 && tirc_option_count(r->job->args, TIRC_SHAPE) == 0) status = each_text(r, "shapes", set_shape);
    if (status == 0 && entry != NULL && tirc_option(r->job->args, TIRC_ENTRY) == NULL)
        status = tirgen_set_option(r->job->ctx, "entry", entry) == TIRGEN_OK ? 0 : 1;
    return status;
}

/* An archive of TVM: the version says where the text is. */
static int load_known(const reading *r)
{
    char *text = r->version >= 7 ? joined("./src/", r->model, ".relay") : tirc_copy(r->version >= 4 ? "./src/relay.txt" : "./relay.txt");
    char *weights = joined("./parameters/", r->model, ".params");
    int status = load_text(r, text);
    if (status == 0 && tirc_archive_find(&r->in, weights) != NULL) status = load_weights(r, weights);
    free(text);
    free(weights);
    return status;
}

/* The prefix that the archive's C has, unless the command line names another. */
static int take_prefix(reading *r)
{
    const char *ours = r->details == NULL ? NULL : tirc_json_text_of(r->details, "prefix");
    char *prefix;
    if (tirc_option(r->job->args, TIRC_PREFIX) != NULL || tirc_option(r->job->args, TIRC_MODULE_NAME) != NULL) return 0;
    prefix = ours != NULL ? tirc_copy(ours) : joined("tvmgen_", r->model, "");
    if (tirgen_set_option(r->job->ctx, "prefix", prefix) != TIRGEN_OK) {
        free(prefix);
        return 1;
    }
    free(r->job->prefix);
    r->job->prefix = prefix;
    return 0;
}

int tirc_mlf_read(tirc_job *job, const char *path)
{
    reading r = { .job = job, .path = path };
    int status = tirc_archive_read(&r.in, path) && read_metadata(&r) ? 0 : 1;
    if (status == 0) status = r.details != NULL ? load_listed(&r) : load_known(&r);
    if (status == 0) status = take_prefix(&r);
    yajl_tree_free(r.meta);
    yajl_tree_free(r.details);
    tirc_archive_free(&r.in);
    free(r.model);
    return status;
}
