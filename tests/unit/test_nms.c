/* Detection: regions of interest, suppression, prior boxes. */
#include "op_case.h"

static void regions_are_pooled(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %r: Tensor[(1, 5), float32]) { vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=1f, sample_ratio=1) }",
          "1 2 3 4; 0 0 0 1 1", "2.5" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %r: Tensor[(1, 5), float32]) { vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=1f, mode=\"max\", sample_ratio=2) }",
          "1 2 3 4; 0 0 0 2 2", "4" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %r: Tensor[(1, 5), float32]) { vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=0.5f) }",
          "1 2 3 4; 0 0 0 2 2", "2.5" },
        { "def @main(%x: Tensor[(1, 1, 2, 3), float32], %r: Tensor[(1, 5), float32]) { vision.roi_pool(%x, %r, pooled_size=[1, 2], spatial_scale=1f) }",
          "1 2 3 4 5 6; 0 0 0 2 1", "5 6" },
        { "def @main(%x: Tensor[(1, 1, 2, 2), float32], %r: Tensor[(1, 5), float32]) { vision.roi_pool(%x, %r, pooled_size=[1, 1], spatial_scale=1f) }",
          "1 2 3 4; 0 5 5 6 6", "0" },
        { "def @main(%x: Tensor[(1, 4, 2, 2), int8]) { vision.yolo_reorg(%x, stride=2) }", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
          "0 2 8 10 1 3 9 11 4 6 12 14 5 7 13 15" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void valid_rows_come_first(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 3, 2), float32]) { vision.get_valid_counts(%x, 0.5f, score_threshold=0.5f) }", "0 0.2 1 0.9 -1 0.8",
          "1; 1 0.9 -1 -1 -1 -1; 1 -1 -1" },
        { "def @main(%x: Tensor[(1, 3, 2), float32]) { vision.get_valid_counts(%x, 0.5f, id_index=-1) }", "0 0.2 1 0.9 -1 0.8",
          "2; 1 0.9 -1 0.8 -1 -1; 1 2 -1" },
    };
    op_check(state, c, TG_COUNT(c));
}

#define NMS(attrs) "def @main(%x: Tensor[(1, 3, 6), float32], %n: Tensor[(1), int32], %i: Tensor[(1, 3), int32]) { vision.non_max_suppression(%x, %n, %i, -1, 0.5f" attrs ") }"
#define THREE_BOXES "0 0.6 0 0 2 2  0 0.9 0 0 2 2.2  1 0.7 0 0 2 2; 3; 10 11 12"

static void overlapping_boxes_are_suppressed(void **state)
{
    static const op_case c[] = {
        { NMS(""), THREE_BOXES, "11 12 -1; 2" },
        { NMS(", force_suppress=True"), THREE_BOXES, "11 -1 -1; 1" },
        { NMS(", return_indices=False"), THREE_BOXES, "0 0.9 0 0 2 2.2 1 0.7 0 0 2 2 -1 -1 -1 -1 -1 -1" },
        { NMS(", return_indices=False, top_k=1"), THREE_BOXES, "0 0.9 0 0 2 2.2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1" },
        { "def @main(%b: Tensor[(1, 2, 4), float32], %s: Tensor[(1, 1, 2), float32]) { vision.all_class_non_max_suppression(%b, %s, 2i64, 0.5f, 0.1f) }",
          "0 0 1 1 0 0 1 1.1; 0.5 0.9", "0 0 1 0 0 0; 1" },
        { "def @main(%b: Tensor[(1, 2, 4), float32], %s: Tensor[(1, 1, 2), float32]) { vision.all_class_non_max_suppression(%b, %s, 2i64, 0.95f, 0.1f, output_format=\"tensorflow\") }",
          "0 0 1 1 0 0 1 1.1; 0.5 0.9", "0 1 0 0; 0.9 0.5; 2" },
        { "def @main(%b: Tensor[(1, 2, 4), float32], %s: Tensor[(1, 2, 3), float32]) { vision.regular_non_max_suppression(%b, %s, max_detections_per_class=2, max_detections=3, num_classes=2, iou_threshold=0.5f, score_threshold=0.3f) }",
          "0 0 1 1 0 0 2 2; 9 0.4 0.8 9 0.5 0.1", "0 0 1 1 0 0 2 2 0 0 1 1; 1 0 0; 0.8 0.5 0.4; 3" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void single_shot_boxes_decode(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 1, 1), float32]) { vision.multibox_prior(%x, sizes=[0.5f], ratios=[1f, 4f]) }", "0",
          "0.25 0.25 0.75 0.75 0 0.375 1 0.625" },
        { "def @main(%p: Tensor[(1, 2, 2), float32], %l: Tensor[(1, 8), float32], %a: Tensor[(1, 2, 4), float32]) { vision.multibox_transform_loc(%p, %l, %a) }",
          "0.1 0.9 0.9 0.001; 0 0 0 0 0 0 0 0; 0.2 0.2 0.4 0.4 0 0 1 1", "0 0.9 0.2 0.2 0.4 0.4 -1 -1 -1 -1 -1 -1; 1" },
    };
    op_check(state, c, TG_COUNT(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = { OP_TEST(regions_are_pooled), OP_TEST(valid_rows_come_first), OP_TEST(overlapping_boxes_are_suppressed),
                                        OP_TEST(single_shot_boxes_decode) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
