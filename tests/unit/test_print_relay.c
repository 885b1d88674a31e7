/* test_print_relay.c: modules that no text gave, printed and read back: names that clash, functions as operands, constants. */
#include "fixture.h"
#include "ir/module.h"
#include "ir/print.h"
#include "parse.h"

static const tg_type *vec(tg_fixture *f)
{
    return tg_tensor_type(f->cx, TG_FLOAT32, 1, (const int64_t[]){ 3 }, 0);
}

static const tg_var *named(tg_fixture *f, const char *name)
{
    return tg_var_new(f->cx, tg_intern_z(f->cx, name), vec(f));
}

static const tg_node *use(tg_fixture *f, const tg_var *v)
{
    return tg_rvar(f->cx, v, TG_NOWHERE);
}

static const tg_node *call(tg_fixture *f, const char *op, uint32_t n, const tg_node *const *arg)
{
    return tg_rcall(f->cx, tg_intern_z(f->cx, op), NULL, TG_NOWHERE, n, arg);
}

static tg_func *function(tg_fixture *f, const char *name, uint32_t n, const tg_var *const *param, const tg_node *body)
{
    tg_func *g = TG_NEW(f->cx, tg_func);
    g->name = name == NULL ? NULL : tg_intern_z(f->cx, name);
    g->kind = TG_FUNC_RELAY;
    g->nparams = n;
    g->param = tg_copy(f->cx, param, n * sizeof *param);
    g->body = body;
    return g;
}

static tg_module *module_of(tg_fixture *f, const tg_func *main)
{
    tg_module *m = tg_module_new(f->cx);
    tg_module_add(m, main);
    return m;
}

static const char *printed(tg_fixture *f, const tg_module *m)
{
    tg_text t = tg_text_new(f->cx);
    tg_print_relay(&t, m);
    return tg_text_z(&t);
}

static tg_module *read_back(tg_fixture *f, const char *text)
{
    tg_module *m = tg_module_new(f->cx);
    if (!tg_parse_relay(f->cx, m, tg_source_add(f->cx, "printed", text, strlen(text))))
        fail_msg("%s\n%s", text, tg_text_z(&f->log));
    return m;
}

static void a_variable_that_another_hides_is_renamed(void **state)
{
    tg_fixture *f = *state;
    const tg_var *x = named(f, "x"), *y = named(f, "y"), *y2 = named(f, "y"), *x2 = named(f, "x");
    const tg_node *bind[4] = {
        tg_rbind(f->cx, y, call(f, "exp", 1, (const tg_node *[]){ use(f, x) })),
        tg_rbind(f->cx, y2, call(f, "exp", 1, (const tg_node *[]){ use(f, y) })),
        tg_rbind(f->cx, x2, call(f, "add", 2, (const tg_node *[]){ use(f, y), use(f, y2) })),
    };
    const tg_var *r = named(f, "r");
    bind[3] = tg_rbind(f->cx, r, call(f, "add", 2, (const tg_node *[]){ use(f, x), use(f, x2) }));
    tg_module *m = module_of(f, function(f, "main", 1, &x, tg_rblock(f->cx, 4, bind, use(f, r))));
    assert_string_equal(printed(f, m), "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3), float32]) {\n"
        "  let %y_1: Tensor[(3), float32] = exp(%x);\n  let %y: Tensor[(3), float32] = exp(%y_1);\n"
        "  let %x_1: Tensor[(3), float32] = add(%y_1, %y);\n  let %r: Tensor[(3), float32] = add(%x, %x_1);\n  %r\n}\n");
    read_back(f, printed(f, m));
}

static void functions_may_stand_among_operands(void **state)
{
    tg_fixture *f = *state;
    const tg_var *x = named(f, "x"), *e = named(f, "e"), *n = named(f, "");
    ((tg_var *)(uintptr_t)n)->numbered = true;
    const tg_node *body = tg_rbind(f->cx, n, call(f, "exp", 1, (const tg_node *[]){ use(f, e) }));
    const tg_func *g = function(f, NULL, 1, &e, tg_rblock(f->cx, 1, &body, use(f, n)));
    const tg_node *fn = tg_node_new(f->cx, TG_RFN, TG_NOWHERE, NULL, g, 0, NULL);
    const tg_name *key = tg_intern_z(f->cx, "k");
    const tg_value *value = tg_v_int(f->cx, 1);
    const tg_node *map = tg_rcall(f->cx, tg_intern_z(f->cx, "map"), tg_v_dict(f->cx, 1, &key, &value), TG_NOWHERE, 2, (const tg_node *[]){ fn, use(f, x) });
    const tg_var *r = named(f, "r");
    const tg_node *bind[2] = { tg_rbind(f->cx, r, map), tg_rbind(f->cx, named(f, "s"), tg_rapply(f->cx, fn, TG_NOWHERE, 1, (const tg_node *[]){ use(f, r) })) };
    tg_module *m = module_of(f, function(f, "main", 1, &x, tg_rblock(f->cx, 2, bind, use(f, r))));
    assert_string_equal(printed(f, m), "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3), float32]) {\n"
        "  let %r: Tensor[(3), float32] = map(fn (%e: Tensor[(3), float32]) {\n    exp(%e)\n  }, %x, k=1);\n"
        "  let %s: Tensor[(3), float32] = (fn (%e: Tensor[(3), float32]) {\n    exp(%e)\n  })(%r);\n  %r\n}\n");
    read_back(f, printed(f, m));
}

static void a_projection_that_reads_as_a_name_gets_brackets(void **state)
{
    tg_fixture *f = *state;
    const tg_type *pair = tg_tuple_type(f->cx, 2, (const tg_type *[]){ vec(f), vec(f) });
    const tg_var *param[2] = { tg_var_new(f->cx, tg_intern_z(f->cx, "w"), pair), named(f, "w.0") };
    const tg_node *bind = tg_rbind(f->cx, named(f, "r"), tg_rget(f->cx, use(f, param[0]), 0));
    tg_module *m = module_of(f, function(f, "main", 2, param, tg_rblock(f->cx, 1, &bind, use(f, param[1]))));
    assert_non_null(strstr(printed(f, m), " = (%w).0;\n  %w.0\n"));
    const char *why = "";
    if (!tg_module_equal(f->cx, m, read_back(f, printed(f, m)), &why))
        fail_msg("%s\n%s", why, printed(f, m));
}

/* Names of pieces that mean something to the reader, put together at random. Whatever is printed must read back as the same
 * graph, if under another name. */
static void any_name_prints_as_one_that_reads_back(void **state)
{
    static const char *const pieces[] = { "a", "b", "x", "0", "1", "17", ".", ":", ": ", ",", ", ", " ", "  ", "/", "//", "/*", "*/", "(", ")", "[", "]",
        "{", "}", "=", "=>", ";", "-", "->", "\"", "'", "\\", "%", "@", "#[metadata]", "int8", "Tensor[(", "let", "fn", "axis=1", "\n", "\xc3\xa9", "_", "" };
    tg_fixture *f = *state;
    uint64_t seed = 1;
    unsigned kept = 0;
    for (int i = 0; i < 2000; ++i) {
        const tg_var *param[3];
        for (int k = 0; k < 3; ++k) {
            tg_text name = tg_text_new(f->cx);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            for (uint64_t n = (seed >> 60) % 5, bits = seed >> 8; n > 0; --n, bits /= TG_COUNT(pieces))
                tg_puts(&name, pieces[bits % TG_COUNT(pieces)]);
            param[k] = tg_var_new(f->cx, tg_intern_z(f->cx, tg_text_z(&name)), vec(f));
        }
        if (param[0]->name == param[1]->name || param[1]->name == param[2]->name || param[0]->name == param[2]->name)
            continue;
        const tg_var *n[2] = { named(f, ""), named(f, param[2]->name->text) };
        ((tg_var *)(uintptr_t)n[0])->numbered = true;
        ((tg_var *)(uintptr_t)n[0])->type = NULL;
        const tg_node *tuple = tg_rtuple(f->cx, 3, (const tg_node *[]){ use(f, param[2]), use(f, param[0]), use(f, param[1]) });
        const tg_node *get = tg_rget(f->cx, use(f, n[0]), 1), *bind[2] = { tg_rbind(f->cx, n[0], tuple), tg_rbind(f->cx, n[1], get) };
        tg_module *m = module_of(f, function(f, "main", 3, param, tg_rblock(f->cx, 2, bind, use(f, n[1]))));
        const char *text = printed(f, m);
        const tg_func *g = read_back(f, text)->funcs.at[0];
        assert_int_equal(g->nparams, 3);
        assert_int_equal(g->body->nkids, 3);
        const tg_node *again = g->body->kid[0]->kid[0];
        bool same = again->kind == TG_RTUPLE && again->nkids == 3 && again->kid[0]->u.var == g->param[2] && again->kid[1]->u.var == g->param[0]
                    && again->kid[2]->u.var == g->param[1] && g->body->kid[1]->kid[0]->kind == TG_RGET
                    && g->body->kid[2]->u.var == g->body->kid[1]->u.var;
        if (!same)
            fail_msg("%s", text);
        for (int k = 0; k < 3; ++k)
            kept += g->param[k]->name == param[k]->name;
    }
    assert_true(kept > 1000);                       /* many names are no trouble */
}

static void constants_print_as_literals_only_when_that_is_exact(void **state)
{
    tg_fixture *f = *state;
    const tg_tensor *list[] = {
        tg_tensor_scalar(f->cx, TG_FLOAT32, 0.1f), tg_tensor_scalar(f->cx, TG_FLOAT64, 0.1), tg_tensor_scalar(f->cx, TG_FLOAT16, 0.5),
        tg_tensor_scalar_int(f->cx, TG_INT32, INT32_MIN), tg_tensor_scalar_int(f->cx, TG_INT64, INT64_MIN), tg_tensor_scalar_int(f->cx, TG_BOOL, 1),
        tg_tensor_scalar_int(f->cx, TG_INT8, -3), tg_tensor_scalar_int(f->cx, TG_UINT8, 200), tg_tensor_new(f->cx, vec(f), NULL),
        tg_tensor_scalar(f->cx, TG_FLOAT32, -0.0), tg_tensor_new(f->cx, tg_tensor_type(f->cx, TG_FLOAT32, 1, (const int64_t[]){ 0 }, 0), NULL),
    };
    tg_tensor *odd_nan = tg_tensor_scalar(f->cx, TG_FLOAT32, 0);
    memcpy(odd_nan->dl.data, &(uint32_t){ 0xffc01234 }, 4);
    const tg_node *arg[TG_COUNT(list) + 2];
    for (size_t i = 0; i < TG_COUNT(list); ++i)
        arg[i] = tg_rconst(f->cx, list[i]);
    arg[TG_COUNT(list)] = tg_rconst(f->cx, odd_nan);
    arg[TG_COUNT(list) + 1] = tg_rconst(f->cx, list[8]);
    const tg_var *r = named(f, "r");
    const tg_node *bind = tg_rbind(f->cx, r, call(f, "f", TG_COUNT(arg), arg));
    tg_module *m = module_of(f, function(f, "main", 0, NULL, tg_rblock(f->cx, 1, &bind, use(f, r))));
    const char *text = printed(f, m), *why = "";
    assert_non_null(strstr(text, "f(0.1f, 0.1f64, 0.5f16, -2147483648, -9223372036854775808i64, True, meta[relay.Constant][0], meta[relay.Constant][1],"
                                 " meta[relay.Constant][2], -0f, meta[relay.Constant][3], meta[relay.Constant][4], meta[relay.Constant][2])"));
    tg_module *again = read_back(f, text);
    if (!tg_module_equal(f->cx, m, again, &why))
        fail_msg("%s\n%s", why, text);
    const tg_node *n = again->funcs.at[0]->body->kid[0]->kid[0];
    assert_memory_equal(n->kid[11]->u.tensor->dl.data, odd_nan->dl.data, 4);
    assert_string_equal(printed(f, again), text);
}

static void a_layer_that_would_break_its_comment_is_left_out(void **state)
{
    tg_fixture *f = *state;
    static const char *const layers[] = { "conv1", "a*/b", "a/*b", "a\nb" };
    for (size_t i = 0; i < TG_COUNT(layers); ++i) {
        tg_rcall_info info = { .op = tg_intern_z(f->cx, "exp"), .layer = tg_intern_z(f->cx, layers[i]) };
        const tg_var *x = named(f, "x"), *r = named(f, "r");
        const tg_node *arg = use(f, x), *made = tg_node_new(f->cx, TG_RCALL, TG_NOWHERE, vec(f), tg_copy(f->cx, &info, sizeof info), 1, &arg);
        const tg_node *bind = tg_rbind(f->cx, r, made);
        const char *text = printed(f, module_of(f, function(f, "main", 1, &x, tg_rblock(f->cx, 1, &bind, use(f, r)))));
        assert_non_null(strstr(text, i == 0 ? "exp(%x) /* ty=Tensor[(3), float32] span=conv1:0:0 */;" : "exp(%x) /* ty=Tensor[(3), float32] */;"));
        read_back(f, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_variable_that_another_hides_is_renamed, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_may_stand_among_operands, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_projection_that_reads_as_a_name_gets_brackets, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(any_name_prints_as_one_that_reads_back, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(constants_print_as_literals_only_when_that_is_exact, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_layer_that_would_break_its_comment_is_left_out, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
