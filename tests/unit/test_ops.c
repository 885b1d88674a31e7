/* The table of operators: schemas, attributes of a call, operands, suggestions; dyn.* rewritten. */
#include "op_case.h"

static void every_row_has_a_schema_that_parses(void **state)
{
    tg_fixture *f = *state;
    size_t n = 0;
    for (const tg_op *op; (op = tg_op_at(f->cx, n)) != NULL; ++n) {
        assert_ptr_equal(tg_op_find(f->cx, tg_intern_z(f->cx, op->name)), op);  /* names are unique */
        for (uint32_t i = 0; i < op->nattrs; ++i)
            assert_true(op->attr[i].required == (op->attr[i].otherwise == NULL));
        assert_true(op->nrequired <= (op->nargs < 0 ? 0 : op->nargs));
    }
    assert_true(n > 250);
}

static void defaults_and_kinds_are_read(void **state)
{
    tg_fixture *f = *state;
    const tg_op *op = tg_op_find(f->cx, tg_intern_z(f->cx, "nn.conv2d"));
    const tg_node *call = tg_rcall(f->cx, tg_intern_z(f->cx, "nn.conv2d"), NULL, TG_NOWHERE, 0, NULL);
    int64_t v[4];
    assert_int_equal(tg_attr_ints(f->cx, op, call, "strides", v, 4), 2);
    assert_int_equal(v[1], 1);
    assert_int_equal(tg_attr_int(f->cx, op, call, "groups"), 1);
    assert_true(tg_attr_is_none(f->cx, op, call, "channels"));
    assert_string_equal(tg_attr_str(f->cx, op, call, "kernel_layout"), "OIHW");
    assert_string_equal(tg_op_arg_name(f->cx, op, 1)->text, "weight");
    assert_string_equal(tg_op_suggest(f->cx, tg_intern_z(f->cx, "nn.reul")), "nn.relu");
    assert_string_equal(tg_op_suggest(f->cx, tg_intern_z(f->cx, "conv2d")), "nn.conv2d");
    assert_null(tg_op_suggest(f->cx, tg_intern_z(f->cx, "quite_another_thing")));
}

static void wrong_calls_are_explained(void **state)
{
    tg_fixture *f = *state;
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { reul(%x) }"), "error: unknown operator reul");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.reul(%x) }"), "error: unknown operator nn.reul; did you mean nn.relu?");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { add(%x) }"), "error: add has 1 operands, expected 2");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.softmax(%x, axis=\"last\") }"),
                        "error: nn.softmax: attribute axis must be an integer");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { cast(%x, dtype=\"float33x\") }"),
                        "error: cast: attribute dtype must be the name of a dtype");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { random.uniform(%x) }"),
                        "error: random.uniform is not supported: random numbers are not part of inference");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { vm.shape_of(%x) }"),
                        "error: vm.shape_of is not supported: it belongs to TVM's virtual machine, after lowering");
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(2), float32]) { nn.relu(%x, alpha=1f) }"), "Tensor[(2), float32]");
    assert_non_null(strstr(tg_text_z(&f->log), "warning: nn.relu has no attribute alpha; it is ignored"));
    assert_non_null(strstr(tg_text_z(&f->log), "note: it has none"));
}

static void scalars_serve_as_lists_and_none_as_default(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(1, 1, 1, 4), float32]) { nn.max_pool2d(%x, pool_size=[1, 2], strides=2) }", "1 2 3 4", "2 4" },
        { "def @main(%x: Tensor[(1, 2), float32]) { nn.softmax(%x, axis=None) }", "1 1", "0.5 0.5" },
        { "def @main(%x: Tensor[(1, 2), float32]) { sum(%x, axis=[1], keepdims=1) }", "1 1", "2" },
    };
    op_check(state, c, TG_COUNT(c));
}

static void shape_operands_become_attributes(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3, 2), int8]) { %0 = shape_of(%y, dtype=\"int64\"); dyn.reshape(%x, %0) }",
          "1 2 3 4 5 6; 0 0 0 0 0 0", "1 2 3 4 5 6" },
        { "def @main(%x: Tensor[(1, 2), float32]) { %0 = shape_of(%x); %1 = multiply(%0, 2); dyn.tile(%x, %1) }", "1 2",
          "1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2" },
        { "def @main(%x: Tensor[(4), float32]) { dyn.topk(%x, 2, dtype=\"int32\") }", "3 1 3 2", "3 3; 0 2" },
        { "def @main(%x: Tensor[(4), float32]) { %0 = (1, 2); %1 = stack(%0); %2 = full(1, shape=[2], dtype=\"int32\");"
          " %3 = take(%1, 0); %4 = reshape(%3, newshape=[1]); %5 = take(%1, 1); %6 = reshape(%5, newshape=[1]); %7 = strided_slice(%2, begin=[0], end=[1]);"
          " dyn.strided_slice(%x, %4, %6, %7) }", "5 6 7 8", "6" },
    };
    op_check(state, c, TG_COUNT(c));
    assert_string_equal(op_type(state, "def @main(%x: Tensor[(4), float32], %s: Tensor[(2), int32]) { dyn.reshape(%x, %s) }"),
                        "error: dyn.reshape: newshape decides the shape of the result and must be a constant; it is computed at run time here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(every_row_has_a_schema_that_parses), OP_TEST(defaults_and_kinds_are_read), OP_TEST(wrong_calls_are_explained),
        OP_TEST(scalars_serve_as_lists_and_none_as_default), OP_TEST(shape_operands_become_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
