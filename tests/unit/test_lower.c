/* A fused Relay function becomes one PrimFunc: parameters, names, temporaries, results. */
#include "op_case.h"

static tg_func *lowered(void **state, const char *text)
{
    tg_fixture *f = *state;
    const tg_func *main = op_typed(f, text);
    assert_non_null(main);
    return tg_lower_primitive(f->cx, main);
}

static void the_last_operator_names_the_output(void **state)
{
    tg_func *f = lowered(state, "def @main(%data: Tensor[(2), float32], %bias: Tensor[(2), float32]) { %0 = add(%data, %bias); nn.relu(%0) }");
    assert_int_equal(f->nparams, 3);
    assert_string_equal(f->buffer[0]->name->text, "data");
    assert_string_equal(f->buffer[1]->name->text, "bias");
    assert_string_equal(f->buffer[2]->name->text, "relu");
    assert_int_equal(f->body->u.block->nallocs, 1);
    assert_string_equal(f->body->u.block->alloc[0]->name->text, "add");
    assert_string_equal(f->body->u.block->name->text, "root");
    assert_string_equal(tg_v_get_str(f->attrs, "tirgen.ops", ""), "add, nn.relu");
    assert_null(tg_v_get(f->attrs, "tirgen.layout"));
    assert_int_equal(tg_v_get_int(f->attrs, "tir.noalias", 0), 1);
}

static void names_that_meet_are_told_apart(void **state)
{
    tg_func *f = lowered(state, "def @main(%add: Tensor[(2), float32]) { %0 = add(%add, %add); add(%0, %0) }");
    assert_string_equal(f->buffer[0]->name->text, "add");
    assert_string_equal(f->buffer[1]->name->text, "add_2");
    assert_string_equal(f->body->u.block->alloc[0]->name->text, "add_1");
}

static void results_are_written_once_each(void **state)
{
    static const op_case c[] = {
        { "def @main(%x: Tensor[(2), float32]) { %0 = nn.relu(%x); (%x, %x, %0, %0) }", "-1 2", "-1 2; -1 2; 0 2; 0 2" },
        { "def @main(%x: Tensor[(2), float32]) { %0 = nn.relu(%x); %1 = exp(%0); (%1, %0) }", "0 -1", "1 1; 0 0" },
        { "def @main(%x: Tensor[(2), float32]) { %x }", "3 4", "3 4" },
        { "def @main(%x: Tensor[(2), float32]) { 5f }", "3 4", "5" },
        { "def @main(%x: (Tensor[(2), float32], Tensor[(1), float32])) { concatenate(%x) }", "", "error" },
        { "def @main(%x: Tensor[(2), float32]) { let %y = %x; %0 = (%y, %x); %1 = (%0, %y); %2 = %1.0; %3 = %2.1; negative(%3) }", "3 4", "-3 -4" },
    };
    for (size_t i = 0; i < TG_COUNT(c); ++i)
        if (strcmp(c[i].results, "error") != 0)
            op_check(state, &c[i], 1);
    tg_func *f = lowered(state, c[4].text);
    assert_int_equal(f->nparams, 3);
    assert_string_equal(f->buffer[0]->name->text, "x_0");
    assert_string_equal(f->buffer[1]->name->text, "x_1");
}

static void scalars_stay_inside_and_constants_are_held(void **state)
{
    tg_fixture *f = *state;
    tg_func *g = lowered(state, "def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }");
    assert_int_equal(g->nparams, 2);
    const tg_type *two = tg_tensor_type(f->cx, TG_FLOAT32, 1, (int64_t[]){ 2 }, 0);
    tg_tensor *t = tg_tensor_new(f->cx, two, NULL);
    tg_tensor_set_f64(t, 0, 10);
    tg_tensor_set_f64(t, 1, 20);
    tg_var *x = tg_var_new(f->cx, tg_intern_z(f->cx, "x"), two), *r = tg_var_new(f->cx, tg_intern_z(f->cx, "r"), two);
    const tg_node *call = tg_rcall(f->cx, tg_intern_z(f->cx, "add"), NULL, TG_NOWHERE, 2,
                                   (const tg_node *[]){ tg_rvar(f->cx, x, TG_NOWHERE), tg_rconst(f->cx, t) });
    call = tg_node_with_type(f->cx, call, two);
    const tg_node *bind = tg_rbind(f->cx, r, call), *body = tg_rblock(f->cx, 1, &bind, tg_rvar(f->cx, r, TG_NOWHERE));
    const tg_var *param = x;
    tg_func relay = { .name = tg_intern_z(f->cx, "f"), .kind = TG_FUNC_RELAY, .nparams = 1, .param = &param, .ret = two, .body = body };
    g = tg_lower_primitive(f->cx, &relay);
    assert_non_null(g);
    tg_module *m = tg_module_new(f->cx);
    tg_module_add(m, g);
    assert_true(tg_verify_module(f->cx, m, false));
    tg_tensor *in = tg_tensor_new(f->cx, two, NULL), *out = tg_tensor_new(f->cx, two, NULL);
    tg_tensor_set_f64(in, 0, 1);
    int64_t ret;
    assert_true(tg_eval(f->cx, m, g, (DLTensor *[]){ &in->dl, &out->dl }, 2, &ret));
    assert_float_equal(tg_tensor_f64(out, 0), 11, 0);
    assert_float_equal(tg_tensor_f64(out, 1), 20, 0);
}

static DLDataType index_type(const tg_func *f)
{
    const tg_node *n = f->body;
    while (n->kind != TG_FOR)
        n = n->kind == TG_BLOCK ? tg_block_body(n) : n->kid[0];
    return n->u.loop->var->type->dtype;
}

static void large_tensors_have_wide_indices(void **state)
{
    assert_int_equal(index_type(lowered(state, "def @main(%x: Tensor[(2, 1073741823), int8]) { negative(%x) }")).bits, 32);
    assert_int_equal(index_type(lowered(state, "def @main(%x: Tensor[(2, 1073741824), int8]) { negative(%x) }")).bits, 64);
    assert_int_equal(index_type(lowered(state, "def @main(%x: Tensor[(1, 1, 46340, 46340), int8], %w: Tensor[(1, 1, 3, 3), int8])"
                                               " { nn.conv2d(%x, %w, padding=[1, 1]) }")).bits, 64);
    assert_int_equal(index_type(lowered(state, "def @main(%x: Tensor[(0, 4294967296i64), int8]) { negative(%x) }")).bits, 64);
}

static void what_is_no_tensor_is_refused(void **state)
{
    tg_fixture *f = *state;
    const tg_func *main = op_typed(f, "def @main(%x: Tensor[(2), float32]) { @g(%x) } def @g(%x: Tensor[(2), float32]) { exp(%x) }");
    assert_non_null(main);
    assert_null(tg_lower_primitive(f->cx, main));
    assert_string_equal(op_diagnostic(f), "error: this call cannot be lowered");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(the_last_operator_names_the_output), OP_TEST(names_that_meet_are_told_apart), OP_TEST(results_are_written_once_each),
        OP_TEST(scalars_stay_inside_and_constants_are_held), OP_TEST(large_tensors_have_wide_indices), OP_TEST(what_is_no_tensor_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
