/* Images at another size, and sampled where a tensor says. */
#include "op_case.h"

#define RESIZE1(n, attrs) "def @main(%x: Tensor[(1, 1, " #n "), float32]) { image.resize1d(%x, " attrs ") }"

static void coordinates_follow_the_mode(void **state)
{
    static const op_case c[] = {
        { RESIZE1(2, "size=[4]"), "0 4", "0 1 3 4" },
        { RESIZE1(2, "size=[3], coordinate_transformation_mode=\"align_corners\""), "0 4", "0 2 4" },
        { RESIZE1(3, "size=[1], coordinate_transformation_mode=\"align_corners\""), "5 6 7", "5" },
        { RESIZE1(2, "size=[4], coordinate_transformation_mode=\"asymmetric\""), "0 4", "0 2 4 4" },
        { RESIZE1(3, "size=[1], coordinate_transformation_mode=\"pytorch_half_pixel\""), "5 6 7", "5" },
        { RESIZE1(4, "size=[2], roi=[0.5f, 1f], coordinate_transformation_mode=\"tf_crop_and_resize\""), "0 2 4 6", "3 6" },
        { RESIZE1(2, "size=[2], roi=[0f, 2f], coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=9f"), "3 4", "3 9" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void nearest_rounds_as_asked(void **state)
{
#define NEAREST(mode, round) RESIZE1(4, "size=[3], method=\"nearest_neighbor\", coordinate_transformation_mode=\"" mode "\", rounding_method=\"" round "\"")
    static const op_case c[] = {
        { NEAREST("asymmetric", "floor"), "1 2 3 4", "1 2 3" },
        { NEAREST("asymmetric", "ceil"), "1 2 3 4", "1 3 4" },
        { NEAREST("asymmetric", "round"), "1 2 3 4", "1 2 4" },
        { NEAREST("half_pixel", "round_prefer_floor"), "1 2 3 4", "1 2 4" },
        { NEAREST("half_pixel", "round_prefer_ceil"), "1 2 3 4", "1 3 4" },
        { NEAREST("align_corners", ""), "1 2 3 4", "1 3 4" },
        { "def @main(%x: Tensor[(1, 1, 1, 2), int32]) { image.resize2d(%x, size=[1, 4], method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\", rounding_method=\"ceil\") }",
          "100000001 2", "100000001 100000001 2 2" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void cubic_and_two_dimensions_interpolate(void **state)
{
    static const op_case c[] = {
        { RESIZE1(4, "size=[4], method=\"cubic\""), "1 2 3 5", "1 2 3 5" },
        { RESIZE1(2, "size=[4], method=\"cubic\", cubic_exclude=1, coordinate_transformation_mode=\"asymmetric\""), "1 2", "1 1.5 2 2.125" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32]) { nn.upsampling(%x, scale_h=2f, scale_w=2f, method=\"bilinear\") }", "0 1 2 3",
          "0 0.5 1 1 1 1.5 2 2 2 2.5 3 3 2 2.5 3 3" },
        { "def @main(%x: Tensor[(1, 1, 2), float32]) { %0 = expand_dims(%x, axis=2); nn.upsampling(%0, scale_h=1f, scale_w=2f) }", "1 2", "1 1 2 2" },
        { "def @main(%x: Tensor[(1, 2, 2, 1), uint8]) { image.resize2d(%x, size=[1, 2], layout=\"NHWC\") }", "1 2 4 8", "2 5" },
        { "def @main(%x: Tensor[(1, 1, 1, 1, 2), float32]) { nn.upsampling3d(%x, scale_d=1f, scale_h=1f, scale_w=2f, method=\"trilinear\") }", "0 4",
          "0 1 3 4" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32]) { image.resize(%x, size=[2, 2], align_corners=True) }", "1 2 3 4", "1 2 3 4" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, RESIZE1(2, "size=[2], method=\"best\"")), "error: image.resize1d: unknown method \"best\"");
    assert_string_equal(op_type(state, RESIZE1(2, "size=[0]")), "error: image.resize1d: a size of 0 is not possible");
}

#define SAMPLE(attrs) "def @main(%x: Tensor[(1, 1, 1, 3), float32], %g: Tensor[(1, 2, 1, 2), float32]) { image.grid_sample(%x, %g" attrs ") }"

static void grids_sample_between_and_beyond(void **state)
{
    static const op_case c[] = {
        { SAMPLE(""), "1 2 4; 0.5 -2 0 0", "3 0" },
        { SAMPLE(", padding_mode=\"border\""), "1 2 4; 0.5 -2 0 0", "3 1" },
        { SAMPLE(", padding_mode=\"reflection\""), "1 2 4; 0.5 -2 0 0", "3 2" },
        { SAMPLE(", method=\"nearest\""), "1 2 4; 0.4 1 0 0", "2 4" },
        { SAMPLE(", method=\"nearest\", align_corners=False"), "1 2 4; 0.9 0 0 0", "4 2" },
        { SAMPLE(", method=\"bicubic\", padding_mode=\"border\""), "1 2 4; 0 1 0 0", "2 4" },
        { "def @main(%t: Tensor[(1, 2, 3), float32]) { image.affine_grid(%t, target_shape=[1, 2]) }", "1 0 0 0 1 5", "-1 1 4 4" },
        { "def @main(%x: Tensor[(1, 1, 1, 3), float32], %b: Tensor[(1, 4), float32], %i: Tensor[(1), int32]) { image.crop_and_resize(%x, %b, %i, crop_size=[1, 3]) }",
          "1 2 4; 0 0 0 0.5; 0", "1 1.5 2" },
        { "def @main(%x: Tensor[(1, 1, 1, 3), float32], %b: Tensor[(1, 4), float32], %i: Tensor[(1), int32]) { image.crop_and_resize(%x, %b, %i, crop_size=[1, 2], method=\"nearest_neighbor\", extrapolation_value=7f) }",
          "1 2 4; 0 0 0 2; 0", "1 7" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(coordinates_follow_the_mode), OP_TEST(nearest_rounds_as_asked),
                                        OP_TEST(cubic_and_two_dimensions_interpolate), OP_TEST(grids_sample_between_and_beyond) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
