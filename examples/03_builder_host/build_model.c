/* build_model.c: a model made without text, as another compiler would hand its own over, and written as C.
 *
 *     build_model DIR        y = max(0, x * w^T + b) with x float32[1][3], w and b constants; C goes to DIR */
#include <stdio.h>
#include <stdlib.h>
#include <tirgen/tirgen.h>

typedef struct writer {
    const char *dir;
    FILE *file;
} writer;

static int open_file(void *user, const char *name)
{
    writer *w = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    w->file = fopen(path, "wb");
    return w->file == NULL;
}

static int write_bytes(void *user, const char *at, size_t n)
{
    return fwrite(at, 1, n, ((writer *)user)->file) != n;
}

static int close_file(void *user)
{
    return fclose(((writer *)user)->file);
}

static void show(void *user, const tirgen_diag *diag)
{
    (void)user;
    fputs(diag->rendered, stderr);
}

static const DLDataType float32 = { kDLFloat, 32, 1 };

/* A constant of @p g over @p data, which is copied. */
static tirgen_value *constant(tirgen_graph *g, float *data, int32_t ndim, int64_t *shape)
{
    DLTensor t = { 0 };
    t.data = data;
    t.device.device_type = kDLCPU;
    t.ndim = ndim;
    t.dtype = float32;
    t.shape = shape;
    return tirgen_graph_constant(g, &t);
}

static tirgen_status build(tirgen_ctx *c)
{
    float w[2][3] = { { 1, 2, 3 }, { -1, 0, 1 } }, b[2] = { 0.5f, -4 };
    int64_t x_shape[2] = { 1, 3 }, w_shape[2] = { 2, 3 }, b_shape[1] = { 2 };
    tirgen_attr units = { .name = "units", .kind = TIRGEN_ATTR_INT, .i = 2 };
    tirgen_graph *g = tirgen_graph_begin(c, "main");
    tirgen_value *x = tirgen_graph_input(g, "x", float32, 2, x_shape);
    tirgen_value *dense_args[2] = { x, constant(g, w[0], 2, w_shape) };
    tirgen_value *dense = tirgen_graph_call(g, "nn.dense", dense_args, 2, &units, 1);
    tirgen_value *bias_args[2] = { dense, constant(g, b, 1, b_shape) };
    tirgen_value *biased = tirgen_graph_call(g, "nn.bias_add", bias_args, 2, NULL, 0);
    tirgen_value *y = tirgen_graph_call(g, "nn.relu", &biased, 1, NULL, 0);
    return tirgen_graph_end(g, y);      /* a call that failed gave NULL, and this says so */
}

int main(int argc, char **argv)
{
    writer w = { argc == 2 ? argv[1] : ".", NULL };
    tirgen_files files = { open_file, write_bytes, close_file, &w };
    tirgen_report report;
    tirgen_ctx *c = tirgen_new(NULL);
    int good;
    if (c == NULL) return 1;
    tirgen_set_diag(c, show, NULL);
    good = tirgen_set_option(c, "prefix", "tvmgen_layer") == TIRGEN_OK && build(c) == TIRGEN_OK
           && tirgen_compile(c, NULL, NULL, NULL) == TIRGEN_OK && tirgen_emit_c(c, &files) == TIRGEN_OK
           && tirgen_get_report(c, &report) == TIRGEN_OK;
    if (good) printf("wrote a model of %zu kernel with %zu bytes of weights\n", report.nkernels, report.constant_bytes);
    tirgen_free(c);
    return good ? 0 : 1;
}
