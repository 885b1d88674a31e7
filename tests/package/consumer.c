/* consumer.c: the installed library in use: text in, C out, and an error that is delivered. */
#include <stdio.h>
#include <string.h>
#include <tirgen/tirgen.h>

typedef struct told {
    unsigned files, diags;
    size_t bytes;
} told;

static int open_file(void *user, const char *name)
{
    ((told *)user)->files += strncmp(name, "tvmgen_net", 10) == 0 || strcmp(name, "CMakeLists.txt") == 0;
    return 0;
}

static int write_bytes(void *user, const char *at, size_t n)
{
    (void)at;
    ((told *)user)->bytes += n;
    return 0;
}

static int close_file(void *user)
{
    (void)user;
    return 0;
}

static void count(void *user, const tirgen_diag *diag)
{
    if (diag->severity == TIRGEN_ERROR && diag->line == 1 && diag->column > 0) ++((told *)user)->diags;
}

static tirgen_status compile(const char *text, told *t)
{
    tirgen_files files = { open_file, write_bytes, close_file, NULL };
    tirgen_ctx *c = tirgen_new(NULL);
    tirgen_status status;
    files.user = t;
    tirgen_set_diag(c, count, t);
    status = tirgen_set_option(c, "prefix", "tvmgen_net");
    if (status == TIRGEN_OK) status = tirgen_load_text(c, "net.relay", text, strlen(text));
    if (status == TIRGEN_OK) status = tirgen_compile(c, NULL, NULL, NULL);
    if (status == TIRGEN_OK) status = tirgen_emit_c(c, &files);
    tirgen_free(c);
    return status;
}

int main(void)
{
    told good = { 0, 0, 0 }, bad = { 0, 0, 0 };
    if (compile("def @main(%x: Tensor[(4), float32]) { nn.relu(%x) }\n", &good) != TIRGEN_OK) return 1;
    if (good.files < 2 || good.bytes < 100 || good.diags != 0) return 2;
    if (compile("def @main(%x: Tensor[(4), float32]) { nn.rulu(%x) }\n", &bad) != TIRGEN_EINPUT) return 3;
    if (bad.files != 0 || bad.diags == 0) return 4;
    printf("tirgen %s: %u files, %u diagnostic\n", TIRGEN_VERSION, good.files, bad.diags);
    return 0;
}
