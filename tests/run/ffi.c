/* ffi.c SHARED: loads a model the way tvm-ffi does and the way TVM 0.16 does: opens the object with local symbols, finds the
 * function by name, passes tensors in every form that may arrive, and expects refusals with the right kind of error. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tirgen_rt/packed.h>

/* Written down from the description of the interface, not taken from the runtime. */
typedef struct any {
    int32_t type_index;
    uint32_t padding;
    union {
        int64_t i;
        void *p;
    } u;
} any;
typedef struct object {             /* of a tensor */
    uint64_t references;
    int32_t type_index;
    uint32_t padding;
    union {
        void *deleter;
        int64_t room;
    } d;
    DLTensor tensor;
} object;
typedef int (*ffi_function)(void *handle, const any *args, int32_t n, any *result);

static char kind[64], message[256];     /* of the error that is raised */
static int failures;

void TVMFFIErrorSetRaisedFromCStr(const char *k, const char *m);
void TVMFFIErrorSetRaisedFromCStr(const char *k, const char *m)
{
    snprintf(kind, sizeof kind, "%s", k);
    snprintf(message, sizeof message, "%s", m);
}

static void expect(int holds, const char *what)
{
    if (holds) return;
    printf("FAILED %s (%s: %s)\n", what, kind, message);
    ++failures;
}

static int64_t shape[2] = { 2, 3 }, vector[1] = { 3 };
static float x[7] = { 0, 1, -2, 3, -4, 5, -6 }, y[6] = { 1, 1, 1, 1, 1, 7 }, a[6], b[6];
static uint8_t mask[3] = { 1, 0, 1 };

static DLTensor tensor(void *data, int32_t ndim, int64_t *extents, uint8_t code, uint8_t bits)
{
    DLTensor t = { data, { 1, 0 }, ndim, { code, bits, 1 }, extents, NULL, 0 };
    return t;
}

static int right_outputs(void)
{
    int right = 1;
    for (int i = 0; i < 6; ++i) {
        float sum = x[i + 1] + y[i];
        right = right && a[i] == (mask[i % 3] ? sum : x[i + 1]) && b[i] == (sum > 0 ? sum : 0);
    }
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    return right;
}

/* Changes one thing of good arguments, and expects an error of @p expected whose text holds @p word. */
static void refuse(ffi_function run, const any *good, int k, any changed, const char *expected, const char *word)
{
    any args[5];
    memcpy(args, good, sizeof args);
    args[k] = changed;
    kind[0] = message[0] = '\0';
    expect(run(NULL, args, 5, NULL) == -1 && strcmp(kind, expected) == 0 && strstr(message, word) != NULL, word);
}

static any of(int32_t type_index, void *p)
{
    any v;
    memset(&v, 0, sizeof v);
    v.type_index = type_index;
    v.u.p = p;
    return v;
}

static void through_ffi(ffi_function run)
{
    int64_t transposed[2] = { 1, 2 }, compact[2] = { 3, 1 }, other[2] = { 3, 2 };
    DLTensor tx = tensor(x, 2, shape, 2, 32), ta = tensor(a, 2, shape, 2, 32), tb = tensor(b, 2, shape, 2, 32), bad;
    DLTensor tm = tensor(mask, 1, vector, 6, 8);            /* bool as newer DLPack has it */
    object oy = { 1, 70, 0, { NULL }, tensor(y, 2, shape, 2, 32) };
    any good[5], result = of(0, NULL);
    tx.byte_offset = sizeof x[0];
    tx.strides = compact;
    good[0] = of(7, &tx), good[1] = of(70, &oy), good[2] = of(7, &tm), good[3] = of(7, &ta), good[4] = of(7, &tb);
    expect(run(NULL, good, 5, &result) == 0 && right_outputs() && result.type_index == 0, "outputs through tvm-ffi");
    expect(run(NULL, good, 4, NULL) == -1 && strcmp(kind, "TypeError") == 0 && strstr(message, "4, expected 5"), "four arguments");
    expect(run(NULL, NULL, 5, NULL) == -1 && strcmp(kind, "ValueError") == 0, "no arguments");
    refuse(run, good, 0, of(1, NULL), "TypeError", "x: not a tensor");
    refuse(run, good, 1, of(65, &oy), "TypeError", "y: not a tensor");
    refuse(run, good, 1, of(11, NULL), "TypeError", "y: not a tensor");
    refuse(run, good, 3, of(0, NULL), "TypeError", "not a tensor");
    refuse(run, good, 0, of(7, NULL), "ValueError", "x: NULL");
    refuse(run, good, 0, of(70, NULL), "ValueError", "x: NULL");
    bad = tensor(x, 2, shape, 0, 32), refuse(run, good, 0, of(7, &bad), "TypeError", "x: wrong dtype");
    bad = tensor(x, 1, vector, 2, 32), refuse(run, good, 0, of(7, &bad), "TypeError", "x: rank is 1, expected 2");
    bad = tensor(x, 2, other, 2, 32), refuse(run, good, 1, of(7, &bad), "TypeError", "y: an extent is 3, expected 2");
    bad = tx, bad.strides = transposed, refuse(run, good, 0, of(7, &bad), "ValueError", "x: not compact");
    bad = tx, bad.byte_offset = 2, refuse(run, good, 0, of(7, &bad), "ValueError", "x: not aligned");
    bad = tx, bad.device.device_type = 2, refuse(run, good, 0, of(7, &bad), "ValueError", "x: not in memory of the CPU");
    bad = tx, bad.data = NULL, refuse(run, good, 0, of(7, &bad), "ValueError", "x: no data");
    expect(run(NULL, good, 5, &result) == 0 && right_outputs(), "outputs after refusals");
}

static void through_packed(TVMBackendPackedCFunc run)
{
    DLTensor t[5] = { tensor(x, 2, shape, 2, 32), tensor(y, 2, shape, 2, 32), tensor(mask, 1, vector, 1, 1),
                      tensor(a, 2, shape, 2, 32), tensor(b, 2, shape, 2, 32) };
    int code[5] = { 7, 13, 7, 7, 3 }, result_code = 0;
    TVMValue value[5], result;
    t[0].byte_offset = sizeof x[0];
    for (int i = 0; i < 5; ++i) value[i].v_handle = &t[i];
    expect(run(value, code, 5, &result, &result_code, NULL) == 0 && right_outputs() && result_code == 4, "outputs through the packed entry");
    code[1] = 0;
    expect(run(value, code, 5, &result, &result_code, NULL) == 0x801, "a number in place of a tensor");
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    ffi_function ffi = NULL;
    TVMBackendPackedCFunc packed = NULL;
    if (library == NULL) {
        printf("cannot open: %s\n", dlerror());
        return 1;
    }
    *(void **)&ffi = dlsym(library, "__tvm_ffi_tvmgen_net_run");
    *(void **)&packed = dlsym(library, "tvmgen_net_run");
    expect(ffi != NULL && packed != NULL, "both entries are exported");
    if (ffi != NULL) through_ffi(ffi);
    if (packed != NULL) through_packed(packed);
    dlclose(library);
    return failures != 0;
}
