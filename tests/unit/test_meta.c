/* test_meta.c: metadata sections in the layouts of all versions, whole and damaged. */
#include "fixture.h"
#include "ir/print.h"
#include "ir/source.h"
#include "ir/value.h"
#include "parse.h"

#define BLOB3 "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM="           /* int8 3 */
#define BLOB123 "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQADAAAAAAAAAAwAAAAAAAAAAACAPwAAAEAAAEBA"    /* float32 [1, 2, 3] */
#define ROOT(key, rest, blobs) \
    "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", \"keys\": [\"" key "\"], \"data\": [2]}, " \
    "{\"type_key\": \"Array\", \"data\": [3]}" rest "], \"b64ndarrays\": [" blobs "], \"attrs\": {\"tvm_version\": \"0.16.0\"}}"

/* Feeds @p json in pieces of @p step bytes. */
static tg_meta *read(tg_fixture *f, const char *json, size_t step)
{
    size_t n = strlen(json);
    tg_source *src = tg_source_add(f->cx, "a.relay", json, n);
    tg_meta *m = tg_meta_new(f->cx, (tg_span){ src->id, 0, (uint32_t)n });
    bool good = true;
    for (size_t at = 0; good && at < n; at += step)
        good = tg_meta_feed(m, json + at, n - at < step ? n - at : step);
    return good && tg_meta_end(m) ? m : NULL;
}

/* The value as text; tensors show type and first element. */
static const char *shown(tg_fixture *f, const char *json, const char *key)
{
    tg_meta *m = read(f, json, SIZE_MAX / 2);
    const tg_value *v = m == NULL ? NULL : tg_meta_get(m, TG_NOWHERE, key, 0);
    if (v == NULL)
        return NULL;
    tg_text t = tg_text_new(f->cx);
    struct { const tg_value *v; const char *text; } todo[64] = { { v, NULL } };
    for (size_t n = 1; n > 0;) {
        --n;
        const tg_value *at = todo[n].v;
        if (at == NULL) {
            tg_puts(&t, todo[n].text);
            continue;
        }
        switch ((enum tg_value_kind)at->kind) {
        case TG_V_NONE: tg_puts(&t, "None"); break;
        case TG_V_BOOL: tg_puts(&t, at->i != 0 ? "True" : "False"); break;
        case TG_V_INT: tg_printf(&t, "%lldi%d", (long long)at->i, at->bits); break;
        case TG_V_FLOAT: tg_printf(&t, "%gf%d", at->f, at->bits); break;
        case TG_V_STR: tg_put_quoted(&t, at->s->text, at->s->len); break;
        case TG_V_TENSOR: tg_printf(&t, "%s %g", tg_type_text(f->cx, at->t->type), tg_tensor_f64(at->t, 0)); break;
        case TG_V_LIST: case TG_V_DICT: case TG_V_OBJECT:
            tg_printf(&t, "%s(", at->kind == TG_V_OBJECT ? at->s->text : "");
            todo[n].v = NULL;
            todo[n++].text = ")";
            for (uint32_t i = at->n; i > 0; --i) {
                todo[n].v = NULL;
                todo[n++].text = i < at->n ? " " : "";
                todo[n].v = at->item[i - 1];
                todo[n++].text = NULL;
                todo[n].v = NULL;
                todo[n++].text = at->key != NULL ? tg_format(f->cx, "%s=", at->key[i - 1]->text) : "";
            }
            break;
        }
    }
    return tg_text_z(&t);
}

static const struct { const char *json, *key, *value; } objects[] = {
    { ROOT("relay.Constant", ", {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": \"0\", \"data\": \"1\", \"span\": \"0\"}}",
           "\"" BLOB3 "\", \"" BLOB123 "\""), "relay.Constant", "Tensor[(3), float32] 1" },
    { ROOT("runtime.NDArray", ", {\"type_key\": \"runtime.NDArray\", \"repr_str\": \"" BLOB3 "\"}", ""), "runtime.NDArray", "int8 3" },
    { ROOT("relay.attrs.ScanopAttrs", ", {\"type_key\": \"relay.attrs.ScanopAttrs\", \"attrs\": {\"axis\": \"4\", \"dtype\": \"\", \"exclusive\": \"5\"}}, "
           "{\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"int32\", \"span\": \"0\", \"value\": \"-1\"}}, "
           "{\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"bool\", \"value\": \"1\"}}", ""),
      "relay.attrs.ScanopAttrs", "(axis=-1i32 dtype=\"\" exclusive=True)" },
    { ROOT("relay.attrs.ROIAlignAttrs", ", {\"type_key\": \"relay.attrs.ROIAlignAttrs\", \"attrs\": {\"layout\": \"NCHW\", \"mode\": \"avg\", "
           "\"pooled_size\": \"4\", \"sample_ratio\": \"2\", \"spatial_scale\": \"1\"}}, {\"type_key\": \"Array\", \"data\": [5, 5]}, "
           "{\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"int64\", \"value\": \"5\"}}", ""),
      "relay.attrs.ROIAlignAttrs", "(layout=\"NCHW\" mode=\"avg\" pooled_size=(5i64 5i64) sample_ratio=2i32 spatial_scale=1f64)" },
    { ROOT("relay.attrs.ScatterNDAttrs", ", {\"type_key\": \"relay.attrs.ScatterNDAttrs\", \"attrs\": {\"mode\": \"4\"}}, "
           "{\"type_key\": \"runtime.String\", \"repr_str\": \"add\"}", ""), "relay.attrs.ScatterNDAttrs", "(mode=\"add\")" },
    { ROOT("relay.attrs.ScanopAttrs", ", {\"type_key\": \"relay.attrs.ScanopAttrs\", \"attrs\": {\"axis\": \"0\", \"dtype\": \"int8\"}}", ""),
      "relay.attrs.ScanopAttrs", "(axis=None dtype=\"int8\")" },
    { ROOT("Executor", ", {\"type_key\": \"Executor\", \"attrs\": {\"attrs\": \"4\", \"name\": \"7\"}}, {\"type_key\": \"DictAttrs\", \"attrs\": {\"__dict__\": \"5\"}}, "
           "{\"type_key\": \"Map\", \"keys\": [\"unpacked-api\"], \"data\": [6]}, {\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"bool\", \"value\": \"0\"}}, "
           "{\"type_key\": \"runtime.String\", \"repr_str\": \"aot\"}", ""), "Executor", "Executor(attrs=(unpacked-api=False) name=\"aot\")" },
    { ROOT("runtime.String", ", {\"type_key\": \"runtime.String\", \"repr_b64\": \"AgAAAAAAAAAKAQ==\"}", ""), "runtime.String", "\"\\n\\x01\"" },
    { ROOT("runtime.String", ", {\"type_key\": \"runtime.String\"}", ""), "runtime.String", "\"\"" },
    { ROOT("X", ", {\"type_key\": \"X\", \"attrs\": {\"a\": \"1e-05\", \"b\": \"inf\", \"c\": \"-3000000000\", \"d\": \"3a\"}}", ""),
      "X", "X(a=1e-05f64 b=inff64 c=-3000000000i64 d=\"3a\")" },
    /* 0.6 */
    { "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"StrMap\", \"keys\": [\"relay.Constant\"], \"data\": [2]}, {\"type_key\": \"Array\","
      " \"data\": [3]}, {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": \"4\", \"data\": \"0\", \"span\": \"0\"}}, "
      "{\"type_key\": \"Variable\", \"attrs\": {}}], \"b64ndarrays\": [\"" BLOB3 "\"], \"attrs\": {\"tvm_version\": \"0.6.0\"}}", "relay.Constant", "int8 3" },
    /* 0.21 */
    { "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"ffi.Map\", \"keys\": [\"ffi.NDArray\"], \"data\": [2]}, {\"type_key\": \"ffi.Array\","
      " \"data\": [3, 4]}, {\"type_key\": \"ffi.NDArray\", \"repr_str\": \"" BLOB3 "\"}, {\"type_key\": \"int\", \"attrs\": {\"v_int64\": \"7\"}}], "
      "\"b64ndarrays\": []}", "ffi.NDArray", "int8 3" },
    { "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"ffi.Map\", \"keys\": [\"A\"], \"data\": [2]}, {\"type_key\": \"ffi.Array\", \"data\": [3]}, "
      "{\"type_key\": \"ffi.Array\", \"data\": [4, 5, 6, 7, 0]}, {\"type_key\": \"int\", \"attrs\": {\"v_int64\": \"7\"}}, {\"type_key\": \"bool\", \"attrs\": {\"v_int64\": \"1\"}}, "
      "{\"type_key\": \"float\", \"attrs\": {\"v_float64\": \"0.5\"}}, {\"type_key\": \"DataType\", \"attrs\": {\"v_type\": \"int8x4\"}}], \"b64ndarrays\": []}",
      "A", "(7i32 True 0.5f64 \"int8x4\" None)" },
    /* 0.22 */
    { "{\"root_index\": 4, \"nodes\": [{\"type\": \"ffi.String\", \"data\": \"ffi.Tensor\"}, {\"type\": \"ffi.Tensor\", \"data\": \"" BLOB123 "\"}, "
      "{\"type\": \"int\", \"data\": 5}, {\"type\": \"ffi.Array\", \"data\": [1]}, {\"type\": \"ffi.Map\", \"data\": [0, 3]}], \"metadata\": {\"tvm_version\": \"0.22.0\"}}",
      "ffi.Tensor", "Tensor[(3), float32] 1" },
    { "{\"root_index\": 8, \"nodes\": [{\"type\": \"ffi.String\", \"data\": \"K\"}, {\"type\": \"None\"}, {\"type\": \"bool\", \"data\": true}, "
      "{\"type\": \"float\", \"data\": 1.5}, {\"type\": \"ffi.Shape\", \"data\": [2, 3]}, {\"type\": \"K\", \"data\": {\"a\": 2, \"b\": \"x\", \"c\": false, \"size_hint_bytes\": 9}}, "
      "{\"type\": \"ffi.Array\", \"data\": [1, 2, 3, 4, 5]}, {\"type\": \"ffi.Array\", \"data\": [6]}, {\"type\": \"ffi.Map\", \"data\": [0, 7]}, "
      "{\"type\": \"ir.IntImm\", \"data\": {\"dtype\": \"int64\", \"value\": 4096}}]}",
      "K", "(None True 1.5f64 (2i32 3i32) K(a=2i32 b=\"x\" c=False size_hint_bytes=4096i64))" },
};

static void objects_of_every_layout_become_values(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(objects); ++i) {
        const char *value = shown(f, objects[i].json, objects[i].key);
        if (value == NULL)
            fail_msg("%s\n%s", objects[i].json, tg_text_z(&f->log));
        assert_string_equal(value, objects[i].value);
    }
}

static void text_may_arrive_in_pieces_of_any_size(void **state)
{
    tg_fixture *f = *state;
    for (size_t step = 1; step < 40; ++step) {
        tg_meta *m = read(f, objects[0].json, step);
        assert_non_null(m);
        const tg_value *v = tg_meta_get(m, TG_NOWHERE, "relay.Constant", 0);
        assert_true(v->kind == TG_V_TENSOR && tg_tensor_f64(v->t, 2) == 3);
    }
}

static void a_reference_gives_the_same_tensor_each_time(void **state)
{
    tg_fixture *f = *state;
    tg_meta *m = read(f, objects[0].json, SIZE_MAX / 2);
    assert_ptr_equal(tg_meta_get(m, TG_NOWHERE, "relay.Constant", 0)->t, tg_meta_get(m, TG_NOWHERE, "relay.Constant", 0)->t);
}

#define CONSTANT ", {\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"0\"}}"
static const struct { const char *json, *place_and_reason; } damaged[] = {
    { "", "metadata: " },
    { "hello", "a.relay:1:1: error: metadata: lexical error" },
    { "{\"root\": 1", "metadata: " },
    { "{}", "lacks \"nodes\" or \"root\"" },
    { "[1]", "lacks \"nodes\" or \"root\"" },
    { "{\"root\": 7, \"nodes\": []}", "root 7 of 0 nodes" },
    { "{\"root\": 0, \"nodes\": [3]}", "node 0 is not an object" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAA!AAIAQABAAAAAAAAAAM=\""), "a.relay:2:39: error: metadata: this is base64 text with a wrong character" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM\""), "length is not a multiple of four" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQACAAAAAAAAAAM=\""), "a byte count of 2, but int8 has 1 bytes" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAMA\""), "a tensor of 42 bytes where its header says 41" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAIAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM=\""), "device type 2" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAA////AAAIAQABAAAAAAAAAAM=\""), "dimensions; at most 16" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAHAQABAAAAAAAAAAM=\""), "element type of code 0 with 7 bits" },
    { ROOT("relay.Constant", CONSTANT, "\n \"P6G0lvBAXt0AAAAA\""), "cut off within its header" },
    { ROOT("relay.Constant", CONSTANT, "\n \"AAAA\""), "a.relay:2:7: error: metadata: entry 0 of \"b64ndarrays\" is no tensor" },
    { ROOT("relay.Constant", CONSTANT, ""), "entry 0 of \"b64ndarrays\", which has 0" },
    { ROOT("relay.Constant", ", {\"type_key\": \"relay.Constant\"}", ""), "a constant without an index" },
    { ROOT("relay.Constant", "", ""), "node 3 of 3" },
    { ROOT("relay.Constant", ", {\"type_key\": \"Array\", \"data\": [4]}, {\"type_key\": \"Array\", \"data\": [3]}", ""), "a node that contains itself" },
    { ROOT("relay.Constant", ", {\"type_key\": \"Array\", \"data\": \"x\"}", ""), "a list of node indices was expected" },
    { ROOT("relay.Constant", ", {\"type_key\": \"Map\", \"keys\": [], \"data\": [0]}", ""), "as many keys as values" },
    { ROOT("relay.Constant", ", {\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"int9\", \"value\": \"1\"}}", ""), "an element type was expected" },
    { ROOT("relay.Constant", ", {\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"int32\"}}", ""), "a number was expected as \"value\"" },
    { ROOT("relay.Constant", ", {\"type_key\": \"a/b\"}", ""), "the name of this node's type is damaged" },
    { ROOT("other", CONSTANT, ""), "no objects of type relay.Constant" },
};

static void damage_is_told_with_its_place(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(damaged); ++i) {
        tg_test_clear_log(f);
        if (shown(f, damaged[i].json, "relay.Constant") != NULL)
            fail_msg("accepted: %s", damaged[i].json);
        if (strstr(tg_text_z(&f->log), damaged[i].place_and_reason) == NULL)
            fail_msg("\"%s\" is missing in\n%s", damaged[i].place_and_reason, tg_text_z(&f->log));
    }
}

static void nesting_has_a_limit(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    for (int i = 0; i < 100000; ++i)
        tg_putc(&t, '[');
    assert_null(read(f, tg_text_z(&t), SIZE_MAX / 2));
    assert_non_null(strstr(tg_text_z(&f->log), "nested more than 256 levels"));

    tg_text deep = tg_text_new(f->cx);
    tg_puts(&deep, "{\"root\": 0, \"nodes\": [{\"type_key\": \"Map\", \"keys\": [\"X\"], \"data\": [1]}");
    for (int i = 2; i < 100000; ++i)
        tg_printf(&deep, ", {\"type_key\": \"Array\", \"data\": [%d]}", i);
    tg_puts(&deep, "]}");
    assert_null(shown(f, tg_text_z(&deep), "X"));
    assert_non_null(strstr(tg_text_z(&f->log), "nodes nested too deep"));
}

static void an_index_past_the_end_is_an_error_at_the_reference(void **state)
{
    tg_fixture *f = *state;
    tg_meta *m = read(f, objects[0].json, SIZE_MAX / 2);
    assert_null(tg_meta_get(m, (tg_span){ 1, 0, 4 }, "relay.Constant", 7));
    assert_non_null(strstr(tg_text_z(&f->log), "a.relay:1:1: error: the metadata section has no relay.Constant number 7, it holds 1"));
    assert_non_null(tg_meta_get(m, TG_NOWHERE, "relay.Constant", 0));
}

static void the_json_may_stop_anywhere(void **state)
{
    tg_fixture *f = *state;
    const char *json = objects[2].json;
    for (size_t n = 0; n + 1 < strlen(json); ++n) {
        char *cut = tg_copy(f->cx, json, n + 1);
        cut[n] = '\0';
        assert_null(shown(f, cut, "relay.attrs.ScanopAttrs"));
        assert_int_equal(f->cx->nerrors, 1);
        tg_test_clear_log(f);
    }
}

static void a_printed_blob_is_the_one_that_was_read(void **state)
{
    tg_fixture *f = *state;
    tg_meta *m = read(f, objects[0].json, SIZE_MAX / 2);
    tg_text t = tg_text_new(f->cx);
    tg_print_blob(&t, tg_meta_get(m, TG_NOWHERE, "relay.Constant", 0)->t);
    assert_string_equal(tg_text_z(&t), BLOB123);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_of_every_layout_become_values, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(text_may_arrive_in_pieces_of_any_size, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_reference_gives_the_same_tensor_each_time, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(damage_is_told_with_its_place, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(nesting_has_a_limit, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(an_index_past_the_end_is_an_error_at_the_reference, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_json_may_stop_anywhere, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_printed_blob_is_the_one_that_was_read, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
