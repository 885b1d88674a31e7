/* test_npy.c: NumPy files of every version, order and element type. */
#include "fixture.h"
#include "ir/tensor.h"
#include "parse.h"

/* A file of format @p version: header text, then @p data. */
static unsigned char *file(tg_fixture *f, int version, const char *header, const void *data, size_t n, size_t *size)
{
    size_t length = strlen(header), begin = version == 1 ? 10 : 12;
    unsigned char *p = tg_alloc(f->cx, begin + length + n);
    memcpy(p, "\x93NUMPY", 6);
    p[6] = (unsigned char)version;
    p[8] = (unsigned char)(length & 255);
    p[9] = (unsigned char)(length >> 8);
    memcpy(p + begin, header, length);
    if (n > 0)
        memcpy(p + begin + length, data, n);
    *size = begin + length + n;
    return p;
}

static tg_tensor *read(tg_fixture *f, int version, const char *header, const void *data, size_t n)
{
    size_t size;
    unsigned char *p = file(f, version, header, data, n, &size);
    return tg_read_npy(f->cx, "a.npy", p, size);
}

static const struct { const char *header; unsigned char data[16]; size_t n; const char *type; double first, last; } arrays[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", { 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40 }, 8, "Tensor[(2), float32]", 1, 2 },
    { "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", { 0x3f, 0x80, 0, 0, 0x40, 0, 0, 0 }, 8, "Tensor[(2), float32]", 1, 2 },
    { "{'descr': '|i1', 'fortran_order': False, 'shape': (), }", { 0xfe }, 1, "int8", -2, -2 },
    { "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2)}", { 1, 0, 0, 7 }, 4, "Tensor[(1, 2), int16]", 256, 7 },
    { "{\"shape\": (2L,), \"fortran_order\": True, \"descr\": \"<u2\"}\n", { 1, 0, 0xff, 0xff }, 4, "Tensor[(2), uint16]", 1, 65535 },
    { "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", { 1, 2 }, 2, "Tensor[(2), bool]", 1, 1 },
    { "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", { 0, 0x3c, 0, 0xc0 }, 4, "Tensor[(2), float16]", 1, -2 },
    { "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 8, "Tensor[(1), int64]", -1, -1 },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", { 0 }, 0, "Tensor[(0, 3), float64]", 0, 0 },
};

static void arrays_of_every_kind_are_read(void **state)
{
    tg_fixture *f = *state;
    for (int version = 1; version <= 3; ++version)
        for (size_t i = 0; i < TG_COUNT(arrays); ++i) {
            tg_tensor *t = read(f, version, arrays[i].header, arrays[i].data, arrays[i].n);
            if (t == NULL)
                fail_msg("%s", tg_text_z(&f->log));
            assert_string_equal(tg_type_text(f->cx, t->type), arrays[i].type);
            if (arrays[i].n == 0)
                continue;
            int64_t last = (int64_t)(t->size_bytes / tg_dtype_bytes(t->type->dtype)) - 1;
            assert_true(tg_tensor_f64(t, 0) == arrays[i].first && tg_tensor_f64(t, last) == arrays[i].last);
        }
}

static void columns_first_become_rows_first(void **state)
{
    tg_fixture *f = *state;
    static const unsigned char data[12] = { 0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11 };     /* [2][3][2] holding 0 .. 11 */
    tg_tensor *t = read(f, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }", data, sizeof data);
    assert_non_null(t);
    for (int64_t i = 0; i < 12; ++i)
        assert_int_equal(tg_tensor_i64(t, i), i);
}

static void what_is_written_reads_back(void **state)
{
    tg_fixture *f = *state;
    static const int64_t dims[3][3] = { { 0 }, { 5 }, { 2, 3, 4 } };
    const DLDataType types[] = { TG_BOOL, TG_INT8, TG_INT32, TG_INT64, TG_UINT8, TG_FLOAT16, TG_FLOAT32, TG_FLOAT64 };
    for (size_t k = 0; k < TG_COUNT(types); ++k)
        for (uint32_t d = 0; d < 3; ++d) {
            tg_tensor *t = tg_tensor_new(f->cx, tg_tensor_type(f->cx, types[k], d == 2 ? 3 : d, dims[d], 0), NULL);
            for (size_t i = 0; i < t->size_bytes / tg_dtype_bytes(types[k]); ++i)
                tg_tensor_set_f64(t, (int64_t)i, tg_is_bool(types[k]) ? 1 : (double)i);
            size_t size;
            unsigned char *p = tg_write_npy(f->cx, t, &size);
            assert_int_equal((size - t->size_bytes) % 64, 0);
            tg_tensor *again = tg_read_npy(f->cx, "a.npy", p, size);
            assert_non_null(again);
            assert_true(tg_tensor_equal(t, again));
        }
}

static const struct { const char *header, *message; } wrong[] = {
    { "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "elements of type '<c8' are not supported" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "Tensor[(3), float32] has 12 bytes of elements, the file has 8" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "an extent that is too large" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }", "too many elements" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", "more than 16 dimensions" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2", "a comma was expected" },
    { "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "True or False was expected" },
    { "{'descr': '<f4', 'shape': (2,), }", "lacks descr, fortran_order or shape" },
    { "{'descr: ", "the header is cut off" },
    { "['descr']", "a dictionary was expected" },
    { "{'other': 1}", "an unknown key" },
};

static void damage_is_told_with_its_byte(void **state)
{
    tg_fixture *f = *state;
    static const unsigned char data[8];
    for (size_t i = 0; i < TG_COUNT(wrong); ++i) {
        tg_test_clear_log(f);
        assert_null(read(f, 1, wrong[i].header, data, sizeof data));
        assert_non_null(strstr(tg_text_z(&f->log), "a.npy: at byte "));
        if (strstr(tg_text_z(&f->log), wrong[i].message) == NULL)
            fail_msg("%s", tg_text_z(&f->log));
    }
    assert_null(read(f, 9, arrays[0].header, data, sizeof data));
    assert_non_null(strstr(tg_text_z(&f->log), "version 9"));
}

static void a_file_may_end_anywhere(void **state)
{
    tg_fixture *f = *state;
    size_t size;
    unsigned char *p = file(f, 2, arrays[0].header, arrays[0].data, arrays[0].n, &size);
    for (size_t n = 0; n < size; ++n) {
        tg_test_clear_log(f);
        assert_null(tg_read_npy(f->cx, "a.npy", tg_copy(f->cx, p, n), n));
        assert_int_equal(f->cx->nerrors, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arrays_of_every_kind_are_read, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(columns_first_become_rows_first, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(damage_is_told_with_its_byte, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_file_may_end_anywhere, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
