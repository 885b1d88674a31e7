/* packed_kernel.c: calls the kernels of packed_kernel.py as TVM's runtime would, rightly and wrongly. */
#include <stdio.h>
#include <string.h>

#include <tirgen_rt/packed.h>

#include "tvmgen_k.h"

static int failed;

static void expect(int good, const char *what)
{
    if (!good) {
        printf("FAILED %s (%s)\n", what, TVMGetLastError());
        failed = 1;
    }
}

static DLTensor tensor(void *data, int64_t *shape, int32_t ndim)
{
    DLTensor t;
    memset(&t, 0, sizeof t);
    t.data = data;
    t.device.device_type = 1;
    t.ndim = ndim;
    t.dtype.code = 2;
    t.dtype.bits = 32;
    t.dtype.lanes = 1;
    t.shape = shape;
    return t;
}

/* Calls matmul and expects a refusal whose text holds @p text; NULL: that it works. */
static void call(DLTensor *a, DLTensor *b, DLTensor *c, int n, int code, const char *text)
{
    TVMValue args[3], result;
    int codes[3] = { 7, 7, 13 }, result_code = 0;
    args[0].v_handle = a;
    args[1].v_handle = b;
    args[2].v_handle = c;
    codes[0] = code;
    TVMAPISetLastError("");
    const int status = matmul(args, codes, n, &result, &result_code, NULL);
    expect((status == 0) == (text == NULL), text == NULL ? "a right call" : text);
    expect(text == NULL || strstr(TVMGetLastError(), text) != NULL, text == NULL ? "" : text);
}

int main(void)
{
    static float a[6] = { 1, 2, 3, 4, 5, 6 }, b[10] = { 9, 1, 0, 2, 0, 1, 3, 1, 1, 1 }, c[6];
    int64_t sa[2] = { 2, 3 }, sb[2] = { 3, 3 }, sc[2] = { 2, 3 }, turned[2] = { 1, 2 }, wrong[2] = { 4, 3 };
    DLTensor ta = tensor(a, sa, 2), tb = tensor(b, sb, 2), tc = tensor(c, sc, 2), bad;
    tb.byte_offset = sizeof b[0];
    call(&ta, &tb, &tc, 3, 7, NULL);
    expect(c[0] == 4 && c[1] == 5 && c[2] == 11 && c[3] == 10 && c[4] == 11 && c[5] == 29, "the product");
    call(&ta, &tb, &tc, 2, 7, "expected 3 arguments");
    call(&ta, &tb, &tc, 3, 3, "argument A: expected a tensor");
    call(NULL, &tb, &tc, 3, 7, "argument A: is NULL");
    bad = ta, bad.ndim = 1;
    call(&bad, &tb, &tc, 3, 7, "argument A: expected 2 dimensions");
    bad = tb, bad.dtype.bits = 64;
    call(&ta, &bad, &tc, 3, 7, "argument B: expected elements of type float32");
    bad = tb, bad.shape = wrong;
    call(&ta, &bad, &tc, 3, 7, "argument B: the extent of dimension 0 does not fit");
    bad = ta, bad.strides = turned;
    call(&bad, &tb, &tc, 3, 7, "argument A: expected a compact tensor");
    bad = tc, bad.byte_offset = 2;
    call(&ta, &tb, &bad, 3, 7, "argument C: expected data aligned to 4 bytes");

    float x[16], y[4];
    int64_t sx[2] = { 2, 2 }, pitch[2] = { 5, 1 }, steps[2] = { 5, 2 };
    for (int i = 0; i < 16; ++i) x[i] = (float)i;
    DLTensor tx = tensor(x, sx, 2), ty = tensor(y, sx, 2);
    tx.strides = pitch;
    tx.byte_offset = 3 * sizeof x[0];
    TVMValue args[3], result;
    int codes[3] = { 7, 7, 2 }, code;
    args[0].v_handle = &tx;
    args[1].v_handle = &ty;
    args[2].v_float64 = 10;
    expect(gather_rows(args, codes, 3, &result, &code, NULL) == 0, "strides and offset");
    expect(y[0] == 30 && y[1] == 40 && y[2] == 80 && y[3] == 90, "rows with a pitch");
    tx.strides = NULL;
    tx.byte_offset = 0;
    expect(gather_rows(args, codes, 3, &result, &code, NULL) == 0 && y[2] == 20, "no strides are compact strides");
    tx.strides = steps;
    expect(gather_rows(args, codes, 3, &result, &code, NULL) != 0 && strstr(TVMGetLastError(), "strides do not fit") != NULL, "a wrong stride");
    if (!failed) printf("packed kernels: all calls as expected\n");
    return failed;
}
