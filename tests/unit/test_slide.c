/* Deformable convolution, morphological dilation, correlation; Fourier transforms; sparse matrices; fixed point. */
#include "op_case.h"

static void unusual_windows_slide(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %o: Tensor[(1, 2, 2, 2), float32], %w: Tensor[(1, 1, 1, 1), float32]) { nn.deformable_conv2d(%x, %o, %w) }",
          "1 2 3 4; 0 0 0 0 0.5 0 -1 3; 2", "3 4 0 0" },
        { "def @main(%x: Tensor[(1, 1, 1, 3), float32], %w: Tensor[(1, 1, 2), float32]) { image.dilation2d(%x, %w) }", "1 5 2; 0 1", "6 5" },
        { "def @main(%x: Tensor[(1, 1, 3, 1), float32], %w: Tensor[(1, 2, 1), float32]) { image.dilation2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWI\") }",
          "1 5 2; 0 1", "6 5" },
        { "def @main(%a: Tensor[(1, 1, 1, 3), float32], %b: Tensor[(1, 1, 1, 3), float32]) { nn.correlation(%a, %b, padding=[1, 1]) }",
          "1 2 3; 4 5 6", "0 0 0 0 0 0 0 0 0 0 8 15 4 10 18 5 12 0 0 0 0 0 0 0 0 0 0" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void fourier_transforms_turn(void **state)
{
    static const op_case c[] = {
        { "def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) { dft(%a, %b) }", "1 2; 0 0", "3 -1; 0 1.74846e-07" },
        { "def @main(%a: Tensor[(1), float32], %b: Tensor[(1), float32]) { dft(%a, %b, inverse=True) }", "3; 4", "3; 4" },
        { "def @main(%x: Tensor[(1, 3), float32], %w: Tensor[(1), float32]) { stft(%x, %w, n_fft=1, hop_length=1) }", "1 2 3; 2", "2 0 4 0 6 0" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void sparse_rows_multiply(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 3), float32], %d: Tensor[(3), float32], %i: Tensor[(3), int32], %p: Tensor[(3), int32]) { nn.sparse_dense(%x, %d, %i, %p) }",
          "1 10 100; 1 2 3; 0 2 1; 0 2 3", "201 30" },
        { "def @main(%x: Tensor[(1, 2), float32], %d: Tensor[(1, 2, 2), float32], %i: Tensor[(1), int32], %p: Tensor[(2), int32]) { nn.sparse_dense(%x, %d, %i, %p) }",
          "1 10; 1 2 3 4; 0; 0 1", "21 43" },
        { "def @main(%x: Tensor[(2, 2), float32], %d: Tensor[(2), float32], %i: Tensor[(2), int32], %p: Tensor[(3), int32]) { nn.sparse_add(%x, %d, %i, %p) }",
          "1 2 3 4; 10 20; 1 0; 0 1 2", "1 12 23 4" },
        { "def @main(%d: Tensor[(3), float32], %i: Tensor[(3), int32], %p: Tensor[(3), int32]) { nn.sparse_transpose(%d, %i, %p) }",
          "1 2 3; 0 1 0; 0 2 3", "1 3 2; 0 1 0; 0 2 3" },
        { "def @main(%x: Tensor[(1, 1, 1, 2), float32], %d: Tensor[(1, 2, 2), float32], %i: Tensor[(1), int32], %p: Tensor[(2), int32]) { nn.sparse_conv2d(%x, %d, %i, %p) }",
          "1 10; 1 2 3 4; 0; 0 1", "21 43" },
        { "def @main(%i: Tensor[(2, 2), int64], %f: Tensor[(2), int64], %t: Tensor[(2), int64]) { sparse_reshape(%i, %f, %t) }",
          "0 1 1 2; 2 3; 3 -1", "0 1 2 1; 3 2" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void fixed_point_rounds_upward(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(3), int32]) { fixed_point_multiply(%x, multiplier=1610612736, shift=0) }", "2 -2 7", "2 -1 5" },
        { "def @main(%x: Tensor[(1), int32]) { fixed_point_multiply(%x, multiplier=1288490189, shift=-1) }", "-5", "-2" },
        { "def @main(%x: Tensor[(2), int32]) { fixed_point_multiply(%x, multiplier=1073741824, shift=2) }", "2147483647 3", "-2 6" },
        { "def @main(%x: Tensor[(2), int32]) { fixed_point_multiply(%x, multiplier=1073741824, shift=0) }", "3 -3", "2 -1" },
        { "def @main(%x: Tensor[(1, 2), int32], %m: Tensor[(2), int32], %l: Tensor[(2), int32], %r: Tensor[(2), int32]) { fixed_point_multiply_per_axis(%x, %m, %l, %r, axes=[1]) }",
          "2 -5; 1610612736 1288490189; 0 0; 0 1", "2 -2" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1), int32]) { fixed_point_multiply(%x, multiplier=3, shift=32) }"),
                        "error: fixed_point_multiply: multiplier 3 with shift 32 cannot be computed in 64 bits");
}

static void few_bits_multiply(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 3), uint8], %w: Tensor[(1, 3), uint8]) { nn.bitserial_dense(%x, %w, data_bits=2) }", "1 2 3; 1 0 1", "2" },
        { "def @main(%x: Tensor[(1, 3), uint8], %w: Tensor[(1, 3), uint8]) { nn.bitserial_dense(%x, %w, data_bits=2, unipolar=False) }", "1 2 3; 1 0 1",
          "4" },
        { "def @main(%x: Tensor[(1, 1, 1, 2), uint8], %w: Tensor[(1, 1, 1, 2), uint8]) { nn.bitserial_conv2d(%x, %w, activation_bits=2) }", "3 5; 1 0", "2" },
        { "def @main(%x: Tensor[(1, 8), uint8]) { nn.bitpack(%x, bits=2, pack_type=\"uint8\") }", "3 0 1 2 0 0 0 3", "161 145" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(unusual_windows_slide), OP_TEST(fourier_transforms_turn), OP_TEST(sparse_rows_multiply),
                                        OP_TEST(fixed_point_rounds_upward), OP_TEST(few_bits_multiply) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
