/* fuzz_text.c: any bytes as a model: read, compiled as far as it goes, printed, emitted. Nothing may crash, leak or hang, and a
 * refusal must come with a diagnostic. The reader is chosen by the text, so one harness serves both grammars. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tirgen/tirgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct seen { unsigned ndiags; char last[512]; } seen;

static void count(void *user, const tirgen_diag *diag)
{
    seen *s = user;
    ++s->ndiags;
    snprintf(s->last, sizeof s->last, "%s", diag->message);
}

/* A fault is shown with its text, so that the text can become a test. */
static void fault(tirgen_status status, const seen *s, const uint8_t *data, size_t size)
{
    fprintf(stderr, "status %d: %s\n---- the text, %zu bytes\n", (int)status, s->ndiags == 0 ? "no diagnostic" : s->last, size);
    fwrite(data, 1, size, stderr);
    fprintf(stderr, "\n----\n");
    abort();
}

static int swallow(void *user, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)user += n;
    return 0;
}

static int open_nothing(void *user, const char *name)
{
    (void)user;
    (void)name;
    return 0;
}

static int close_nothing(void *user)
{
    (void)user;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seen s = { 0, "" };
    size_t nbytes = 0;
    tirgen_ctx *c = tirgen_new(NULL);
    tirgen_files files = { open_nothing, swallow, close_nothing, &nbytes };
    tirgen_status status;
    if (c == NULL) return 0;
    tirgen_set_diag(c, count, &s);
    status = tirgen_load_text(c, "fuzz", (const char *)data, size);
    if (status == TIRGEN_OK) status = tirgen_print(c, swallow, &nbytes);
    if (status == TIRGEN_OK) status = tirgen_compile(c, NULL, NULL, NULL);
    if (status == TIRGEN_OK) status = tirgen_emit_c(c, &files);
    if (status == TIRGEN_EBUG || (status != TIRGEN_OK && status != TIRGEN_ENOMEM && s.ndiags == 0))
        fault(status, &s, data, size);
    tirgen_free(c);
    return 0;
}
