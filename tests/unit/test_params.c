/* test_params.c: parameter files: TVM's own format, .npz, .npy. */
#include "fixture.h"
#include "ir/print.h"
#include "ir/tensor.h"
#include "parse.h"

typedef struct bytes { unsigned char *at; size_t n; } bytes;

static void put(bytes *b, uint64_t v, size_t n)
{
    for (size_t k = 0; k < n; ++k)
        b->at[b->n++] = (unsigned char)(v >> (8 * k));
}

static void put_text(bytes *b, const char *s)
{
    put(b, strlen(s), 8);
    memcpy(b->at + b->n, s, strlen(s));
    b->n += strlen(s);
}

/* int16 [n] holding 1, 2, 3 ... */
static void put_tensor(bytes *b, uint64_t n)
{
    put(b, 0xDD5E40F096B4A13F, 8);
    put(b, 0, 8);
    put(b, 1, 4);
    put(b, 0, 4);
    put(b, 1, 4);
    put(b, 0x00011000, 4);
    put(b, n, 8);
    put(b, 2 * n, 8);
    for (uint64_t i = 1; i <= n; ++i)
        put(b, i, 2);
}

/* The names decide where the second tensor's elements lie. */
static bytes sample(tg_fixture *f, const char *first, const char *second)
{
    bytes b = { tg_alloc(f->cx, 1024), 0 };
    put(&b, 0xF7E58D4F05049CB7, 8);
    put(&b, 0, 8);
    put(&b, 2, 8);
    put_text(&b, first);
    put_text(&b, second);
    put(&b, 2, 8);
    put_tensor(&b, 4);
    put_tensor(&b, 3);
    return b;
}

static void names_and_tensors_are_read_in_order(void **state)
{
    tg_fixture *f = *state;
    bytes b = sample(f, "conv/kernel:0", "b");
    tg_params p;
    if (!tg_read_params(f->cx, "net.params", b.at, b.n, &p))
        fail_msg("%s", tg_text_z(&f->log));
    assert_int_equal(p.n, 2);
    assert_string_equal(p.at[0].name->text, "conv/kernel:0");
    assert_string_equal(tg_type_text(f->cx, p.at[0].value->type), "Tensor[(4), int16]");
    assert_int_equal(tg_tensor_i64(p.at[1].value, 2), 3);
    assert_ptr_equal(p.at[1].value->label, p.at[1].name);
}

static void aligned_elements_are_borrowed_and_others_copied(void **state)
{
    tg_fixture *f = *state;
    for (size_t shift = 0; shift < 8; ++shift) {
        bytes b = sample(f, &"12345678"[shift], "abcdefgh");
        tg_params p;
        assert_true(tg_read_params(f->cx, "net.params", b.at, b.n, &p));
        const unsigned char *data = p.at[0].value->dl.data;
        assert_int_equal((uintptr_t)data % 8, 0);
        assert_int_equal(data >= b.at && data < b.at + b.n, shift == 0);
        assert_int_equal(tg_tensor_i64(p.at[0].value, 3), 4);
    }
}

static void damage_is_told_with_its_byte(void **state)
{
    static const struct { size_t at; unsigned char value; const char *message; } changes[] = {
        { 0, 1, "its first bytes are unknown" }, { 16, 3, "tensors for 3 names" }, { 22, 255, "names cannot fit" }, { 24, 200, "a name of 200 bytes" },
        { 42, 3, "3 tensors for 2 names" }, { 50, 0, "\"a\" is no tensor: its first eight bytes are wrong" }, { 66, 2, "device type 2" },
        { 74, 99, "99 dimensions" }, { 78, 7, "element type of code 7" }, { 79, 24, "with 24 bits" }, { 80, 4, "4 lanes" }, { 82, 5, "a byte count of 8" },
        { 89, 255, "an extent of -" },
    };
    tg_fixture *f = *state;
    tg_params p;
    for (size_t i = 0; i < TG_COUNT(changes); ++i) {
        bytes b = sample(f, "a", "b");
        b.at[changes[i].at] = changes[i].value;
        tg_test_clear_log(f);
        assert_false(tg_read_params(f->cx, "net.params", b.at, b.n, &p));
        assert_non_null(strstr(tg_text_z(&f->log), "net.params: at byte "));
        if (strstr(tg_text_z(&f->log), changes[i].message) == NULL)
            fail_msg("%zu: %s", changes[i].at, tg_text_z(&f->log));
    }
    bytes twice = sample(f, "a", "a");
    assert_false(tg_read_params(f->cx, "net.params", twice.at, twice.n, &p));
    assert_non_null(strstr(tg_text_z(&f->log), "two tensors are called \"a\""));
    bytes longer = sample(f, "a", "b");
    assert_false(tg_read_params(f->cx, "net.params", longer.at, longer.n + 1, &p));
    assert_non_null(strstr(tg_text_z(&f->log), "bytes after the last tensor"));
}

static void a_file_may_end_anywhere(void **state)
{
    tg_fixture *f = *state;
    bytes b = sample(f, "weight", "bias");
    tg_params p;
    for (size_t n = 0; n < b.n; ++n) {
        tg_test_clear_log(f);
        assert_false(tg_read_params(f->cx, "net.params", tg_copy(f->cx, b.at, n), n, &p));
        assert_int_equal(f->cx->nerrors, 1);
    }
}

/* "conv/kernel:0": float32 [1, 2], deflated; "b": int8 [1, 2, -1], stored. */
static const unsigned char npz[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x9a, 0xca, 0xab, 0xe7, 0x4c, 0x00,
    0x00, 0x00, 0x88, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x63, 0x6f, 0x6e, 0x76, 0x2f, 0x6b, 0x65, 0x72, 0x6e, 0x65,
    0x6c, 0x3a, 0x30, 0x2e, 0x6e, 0x70, 0x79, 0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e,
    0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52,
    0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16,
    0xa4, 0x02, 0xf9, 0x1a, 0x46, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x86, 0x06, 0x7b, 0x06, 0x06,
    0x06, 0x07, 0x00, 0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0xf9, 0x2f, 0x1c,
    0xda, 0x83, 0x00, 0x00, 0x00, 0x83, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x62, 0x2e, 0x6e, 0x70, 0x79, 0x93, 0x4e,
    0x55, 0x4d, 0x50, 0x59, 0x01, 0x00, 0x76, 0x00, 0x7b, 0x27, 0x64, 0x65, 0x73, 0x63, 0x72, 0x27, 0x3a, 0x20, 0x27, 0x7c,
    0x69, 0x31, 0x27, 0x2c, 0x20, 0x27, 0x66, 0x6f, 0x72, 0x74, 0x72, 0x61, 0x6e, 0x5f, 0x6f, 0x72, 0x64, 0x65, 0x72, 0x27,
    0x3a, 0x20, 0x46, 0x61, 0x6c, 0x73, 0x65, 0x2c, 0x20, 0x27, 0x73, 0x68, 0x61, 0x70, 0x65, 0x27, 0x3a, 0x20, 0x28, 0x33,
    0x2c, 0x29, 0x2c, 0x20, 0x7d, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x0a, 0x01, 0x02, 0xff, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08,
    0x00, 0x00, 0x00, 0x21, 0x00, 0x9a, 0xca, 0xab, 0xe7, 0x4c, 0x00, 0x00, 0x00, 0x88, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x63, 0x6f, 0x6e, 0x76, 0x2f,
    0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c, 0x3a, 0x30, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0xf9, 0x2f, 0x1c, 0xda, 0x83, 0x00, 0x00, 0x00, 0x83, 0x00, 0x00, 0x00,
    0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x7b, 0x00, 0x00, 0x00, 0x62, 0x2e,
    0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x72, 0x00, 0x00, 0x00, 0x21,
    0x01, 0x00, 0x00, 0x00, 0x00
};

static void archives_hold_arrays_by_name(void **state)
{
    tg_fixture *f = *state;
    tg_params p;
    if (!tg_read_params(f->cx, "net.npz", npz, sizeof npz, &p))
        fail_msg("%s", tg_text_z(&f->log));
    assert_int_equal(p.n, 2);
    assert_string_equal(p.at[0].name->text, "conv/kernel:0");
    assert_true(tg_tensor_f64(p.at[0].value, 1) == 2);
    assert_string_equal(p.at[1].name->text, "b");
    assert_int_equal(tg_tensor_i64(p.at[1].value, 2), -1);
}

static void damaged_archives_are_refused(void **state)
{
    tg_fixture *f = *state;
    tg_params p;
    for (size_t n = 2; n < sizeof npz; n += 7) {
        tg_test_clear_log(f);
        bool good = tg_read_params(f->cx, "net.npz", tg_copy(f->cx, npz, n), n, &p);
        if (good || f->cx->nerrors != 1)
            fail_msg("%zu bytes: %zu arrays\n%s", n, p.n, tg_text_z(&f->log));
    }
}

static void a_single_array_is_named_after_its_file(void **state)
{
    tg_fixture *f = *state;
    size_t size;
    tg_params p;
    void *image = tg_write_npy(f->cx, tg_tensor_scalar(f->cx, TG_FLOAT32, 2.5), &size);
    assert_true(tg_read_params(f->cx, "folder/weight.npy", image, size, &p));
    assert_int_equal(p.n, 1);
    assert_string_equal(p.at[0].name->text, "weight");
    assert_true(tg_tensor_f64(p.at[0].value, 0) == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_tensors_are_read_in_order, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(aligned_elements_are_borrowed_and_others_copied, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(damage_is_told_with_its_byte, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_file_may_end_anywhere, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(archives_hold_arrays_by_name, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(damaged_archives_are_refused, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_single_array_is_named_after_its_file, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
