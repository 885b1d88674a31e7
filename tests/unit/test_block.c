/* Blocks taken apart and put together; the regions a body shows. */
#include "build_ir.h"

static tg_block_parts matmul_row(tg_ctx *cx, tg_buffer *a, tg_buffer *c)
{
    struct tg_iter_part *iter = TG_ARRAY(cx, struct tg_iter_part, 2);
    const tg_node *ref[2];
    static const char *const name[2] = { "vi", "vk" };
    for (int i = 0; i < 2; ++i) {
        tg_var *v = tg_var_new(cx, tg_intern_z(cx, name[i]), tg_prim(cx, TG_INT32));
        ref[i] = tg_var_ref(cx, v);
        iter[i] = (struct tg_iter_part){ v, i == 0 ? TG_ITER_SPATIAL : TG_ITER_REDUCE, tg_int(cx, TG_INT32, 0), tg_int(cx, TG_INT32, 8), ref[i] };
    }
    const tg_node *sum = tg_bin(cx, TG_ADD, tg_load(cx, c, 1, ref), tg_load(cx, a, 1, ref + 1));
    tg_block_parts p = { .name = tg_intern_z(cx, "sum"), .niters = 2, .iter = iter,
                         .init = tg_store(cx, c, tg_float(cx, TG_FLOAT32, 0), 1, ref), .body = tg_store(cx, c, sum, 1, ref) };
    tg_infer_regions(cx, &p);
    return p;
}

static void the_accumulator_is_written_and_not_read(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_buffer *a = tg_test_buffer(cx, "A", 8), *c = tg_test_buffer(cx, "C", 8);
    tg_block_parts p = matmul_row(cx, a, c);
    assert_int_equal(p.nreads, 1);
    assert_int_equal(p.nwrites, 1);
    assert_ptr_equal(p.read[0].buf, a);
    assert_ptr_equal(p.write[0].buf, c);
    assert_true(tg_is_int_const(p.read[0].extent[0], 1));
}

static void parts_and_node_are_two_forms_of_one_thing(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_block_parts p = matmul_row(cx, tg_test_buffer(cx, "A", 8), tg_test_buffer(cx, "C", 8));
    const tg_node *n = tg_block_new(cx, &p);
    tg_block_parts q = tg_block_open(cx, n);
    assert_true(tg_node_equal(cx, tg_block_new(cx, &q)->kid[0], n->kid[0]));
    assert_ptr_equal(q.init, p.init);
    assert_ptr_equal(q.body, p.body);
    assert_ptr_equal(tg_block_body(n), p.body);
    assert_ptr_equal(tg_block_init(n), p.init);
    assert_ptr_equal(q.iter[1].binding, p.iter[1].binding);
}

static void accesses_that_disagree_take_the_whole_dimension(void **state)
{
    tg_ctx *cx = ((tg_fixture *)*state)->cx;
    tg_buffer *a = tg_test_buffer(cx, "A", 8), *c = tg_test_buffer(cx, "C", 8);
    const tg_node *zero = tg_int(cx, TG_INT32, 0), *one = tg_int(cx, TG_INT32, 1);
    const tg_node *sum = tg_bin(cx, TG_ADD, tg_load(cx, a, 1, &zero), tg_load(cx, a, 1, &one));
    tg_block_parts p = { .name = tg_intern_z(cx, "b"), .body = tg_store(cx, c, sum, 1, &zero) };
    tg_infer_regions(cx, &p);
    assert_true(tg_is_int_const(p.read[0].min[0], 0));
    assert_true(tg_is_int_const(p.read[0].extent[0], 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_accumulator_is_written_and_not_read, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(parts_and_node_are_two_forms_of_one_thing, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(accesses_that_disagree_take_the_whole_dimension, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
