/* fuzz_params.c: any bytes as a parameter file and as an .npy file. */
#include <stdint.h>
#include <stdlib.h>

#include "grammar/parse.h"
#include "ir/guard.h"
#include "tirgen/tirgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *at;
    size_t n;
} bytes;

static void count(void *user, const tirgen_diag *diag)
{
    (void)diag;
    ++*(unsigned *)user;
}

static bool read_params(tg_ctx *cx, void *arg)
{
    const bytes *b = arg;
    tg_params p = { 0, NULL };
    return tg_read_params(cx, "fuzz", b->at, b->n, &p);
}

static bool read_npy(tg_ctx *cx, void *arg)
{
    const bytes *b = arg;
    return tg_read_npy(cx, "fuzz", b->at, b->n) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = { data, size };
    for (int i = 0; i < 2; ++i) {
        unsigned ndiags = 0;
        tirgen_ctx *c = tirgen_new(NULL);
        tirgen_status status;
        if (c == NULL) return 0;
        tirgen_set_diag(c, count, &ndiags);
        status = tg_guard(c, i == 0 ? read_params : read_npy, &b);
        if (status == TIRGEN_EBUG || (status != TIRGEN_OK && status != TIRGEN_ENOMEM && ndiags == 0)) abort();
        tirgen_free(c);
    }
    return 0;
}
