/* test_rt_packed.c: a packed call is checked before anything is read through it, and a refusal says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <tirgen_rt/model.h>
#include <tirgen_rt/packed.h>

static const int64_t wanted_shape[2] = { 2, 3 };
static const tirgen_rt_tensor_type expected[2] = {
    { "x", wanted_shape, 2, 2, 32, 1 },
    { "mask", NULL, 0, 1, 1, 1 },
};

typedef struct call {
    float data[8];
    uint8_t flag;
    int64_t shape[2], strides[2];
    DLTensor x, mask;
    TVMValue args[2];
    int codes[2];
} call;

static void good_call(call *c)
{
    memset(c, 0, sizeof *c);
    c->shape[0] = 2;
    c->shape[1] = 3;
    c->x.data = c->data;
    c->x.device.device_type = 1;
    c->x.ndim = 2;
    c->x.dtype.code = 2;
    c->x.dtype.bits = 32;
    c->x.dtype.lanes = 1;
    c->x.shape = c->shape;
    c->mask = c->x;
    c->mask.data = &c->flag;
    c->mask.ndim = 0;
    c->mask.dtype.code = 1;
    c->mask.dtype.bits = 1;
    c->args[0].v_handle = &c->x;
    c->args[1].v_handle = &c->mask;
    c->codes[0] = kTVMDLTensorHandle;
    c->codes[1] = kTVMNDArrayHandle;
}

static void refused(call *c, int32_t status, const char *text)
{
    assert_int_equal(tirgen_rt_check_args("f", c->args, c->codes, 2, expected, 2), status);
    assert_string_equal(TVMGetLastError(), text);
    good_call(c);
}

static void what_fits_is_accepted(void **state)
{
    call c;
    (void)state;
    good_call(&c);
    assert_int_equal(tirgen_rt_check_args("f", c.args, c.codes, 2, expected, 2), 0);
    c.codes[0] = kTVMOpaqueHandle;
    c.strides[0] = 3;
    c.strides[1] = 1;
    c.x.strides = c.strides;
    c.x.byte_offset = 8;
    c.mask.dtype.code = 6;                  /* bool of newer versions of DLPack */
    c.mask.dtype.bits = 8;
    assert_int_equal(tirgen_rt_check_args("f", c.args, c.codes, 2, expected, 2), 0);
    assert_ptr_equal(tirgen_rt_tensor_data(&c.args[0]), c.data + 2);
    assert_int_equal(tirgen_rt_check_args("f", NULL, NULL, 0, NULL, 0), 0);
}

static void every_refusal_names_the_argument_and_the_reason(void **state)
{
    call c;
    (void)state;
    good_call(&c);
    assert_int_equal(tirgen_rt_check_args("f", c.args, c.codes, 1, expected, 2), TIRGEN_RT_ARGUMENT_COUNT);
    assert_string_equal(TVMGetLastError(), "f: arguments: their number is 1, expected 2");
    assert_int_equal(tirgen_rt_check_args("f", NULL, c.codes, 2, expected, 2), TIRGEN_RT_ARGUMENT_INVALID);
    c.codes[1] = kTVMArgInt;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: mask: not a tensor");
    c.codes[0] = kTVMNullptr;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: x: not a tensor");
    c.args[0].v_handle = NULL;
    refused(&c, TIRGEN_RT_ARGUMENT_INVALID, "f: x: NULL");
    c.x.dtype.bits = 64;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: x: wrong dtype");
    c.x.dtype.lanes = 4;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: x: wrong dtype");
    c.x.ndim = 3;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: x: rank is 3, expected 2");
    c.shape[1] = -4;
    refused(&c, TIRGEN_RT_ARGUMENT_TYPE, "f: x: an extent is -4, expected 3");
    c.x.data = NULL;
    refused(&c, TIRGEN_RT_ARGUMENT_INVALID, "f: x: no data");
    c.x.device.device_type = 2;
    refused(&c, TIRGEN_RT_ARGUMENT_INVALID, "f: x: not in memory of the CPU");
    c.strides[0] = 4;
    c.strides[1] = 1;
    c.x.strides = c.strides;
    refused(&c, TIRGEN_RT_ARGUMENT_INVALID, "f: x: not compact");
    c.x.byte_offset = 2;
    refused(&c, TIRGEN_RT_ARGUMENT_INVALID, "f: x: not aligned");
}

static void a_long_text_is_cut_where_the_buffer_ends(void **state)
{
    char text[1000];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    TVMAPISetLastError(text);
    assert_int_equal(strlen(TVMGetLastError()), 159);
    TVMAPISetLastError(NULL);
    assert_string_equal(TVMGetLastError(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_accepted),
        cmocka_unit_test(every_refusal_names_the_argument_and_the_reason),
        cmocka_unit_test(a_long_text_is_cut_where_the_buffer_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
