/* Normalisations, dropout, losses. */
#include "op_case.h"

static void stored_statistics_scale_and_shift(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32], %m: Tensor[(2), float32], %v: Tensor[(2), float32])"
          " { nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0f) }", "3 5; 2 10; 1 0; 1 1; 4 16", "3 10; 1 1; 4 16" },
        { "def @main(%x: Tensor[(2, 1), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32], %m: Tensor[(2), float32], %v: Tensor[(2), float32])"
          " { %0 = nn.batch_norm(%x, %g, %b, %m, %v, axis=0, epsilon=0f, scale=False, center=False); %0.0 }", "3 5; 2 10; 1 0; 1 1; 4 16", "1 1" },
        { "def @main(%x: Tensor[(2), float32]) { nn.dropout(%x) }", "3 5", "3 5; 1 1" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void computed_statistics_normalise(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32]) { nn.layer_norm(%x, %g, %b, epsilon=0f) }",
          "1 3 10 20; 1 2; 0 5", "-1 7 -1 7" },
        { "def @main(%x: Tensor[(1, 2, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32]) { nn.instance_norm(%x, %g, %b, epsilon=0f) }",
          "1 3 10 20; 1 2; 0 5", "-1 1 3 7" },
        { "def @main(%x: Tensor[(1, 4, 1), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32]) { nn.group_norm(%x, %g, %b, num_groups=2, epsilon=0f) }",
          "1 3 10 20; 1 1 1 1; 0 0 0 1", "-1 1 -1 2" },
        { "def @main(%x: Tensor[(1, 2), float32]) { nn.l2_normalize(%x, eps=1e-5f, axis=[1]) }", "3 4", "0.6 0.8" },
        { "def @main(%x: Tensor[(1, 3, 1, 1), float32]) { nn.lrn(%x, size=3, bias=1f, alpha=3f, beta=1f) }", "1 1 1", "0.333333 0.25 0.333333" },
        { "def @main(%x: Tensor[(1, 2), float16], %g: Tensor[(2), float32], %b: Tensor[(2), float32]) { nn.layer_norm(%x, %g, %b, epsilon=0f) }",
          "1 3; 1 1; 0 0", "-1 1" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void losses_average_over_the_batch(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 1), float32], %y: Tensor[(2, 1), float32]) { nn.cross_entropy(%x, %y) }", "1 2.718281828; 1 1", "-0.5" },
        { "def @main(%x: Tensor[(2, 1), float32], %y: Tensor[(2, 1), float32]) { nn.cross_entropy_with_logits(%x, %y) }", "1 2; 1 1", "-1.5" },
        { "def @main(%p: Tensor[(2, 2), float32], %t: Tensor[(2), int32], %w: Tensor[(2), float32]) { nn.nll_loss(%p, %t, %w, ignore_index=-100) }",
          "1 2 3 4; 0 1; 1 3", "-3.25" },
        { "def @main(%p: Tensor[(2, 2), float32], %t: Tensor[(2), int32], %w: Tensor[(2), float32]) { nn.nll_loss(%p, %t, %w, reduction=\"none\", ignore_index=1) }",
          "1 2 3 4; 0 1; 1 3", "-1 0" },
        { "def @main(%p: Tensor[(2, 2), float32], %t: Tensor[(2), int32], %w: Tensor[(2), float32]) { nn.nll_loss(%p, %t, %w, reduction=\"sum\", ignore_index=-100) }",
          "1 2 3 4; 0 1; 1 3", "-13" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void parameters_must_fit(void **state)
{
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2, 2), float32], %g: Tensor[(3), float32], %b: Tensor[(2), float32]) { nn.layer_norm(%x, %g, %b) }"),
                        "error: nn.layer_norm: gamma has 3 values, the axis has extent 2");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 3, 1), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32]) { nn.group_norm(%x, %g, %b, num_groups=2) }"),
                        "error: nn.group_norm: axis 1 does not divide into 2 groups");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(1, 3, 1, 1), float32]) { nn.lrn(%x, size=4) }"),
                        "error: nn.lrn: size is 4, it must be odd and positive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(stored_statistics_scale_and_shift), OP_TEST(computed_statistics_normalise), OP_TEST(losses_average_over_the_batch),
        OP_TEST(parameters_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
