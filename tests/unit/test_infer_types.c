/* Types of whole modules: calls, branches, local and global functions, algebraic types; errors and what goes on after them. */
#include "op_case.h"

static void types_flow_through_every_form(void **state)
{
    static const struct { const char *text, *type; } c[] = {
        { "def @main(%x: Tensor[(2, 3), float32]) { let %y = exp(%x); %0 = (%y, %x); %1 = %0.1; %1 }", "Tensor[(2, 3), float32]" },
        { "def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { exp(%x) } else { %x } }", "Tensor[(3), float32]" },
        { "def @main(%x: Tensor[(3), float32]) { () }", "()" },
        { "def @main(%x: Tensor[(3), float32]) { @g(%x) } def @g(%a: Tensor[(3), float32]) { sum(%a) }", "float32" },
        { "def @g(%a) { sum(%a) } def @main(%x: Tensor[(3), float32]) { @g(%x) }", "float32" },
        { "def @main(%x: Tensor[(3), float32]) { let %f = fn (%a) { add(%a, %x) }; %0 = %f(%x); %f(%0) }", "Tensor[(3), float32]" },
        { "def @main(%x: Tensor[(3), float32]) { %0 = fn (%a) { sum(%a) }; %0(%x) }", "float32" },
        { "def @main(%x: Tensor[(3), float32]) { fn (%a: int32) { (%a, %x) } }", "fn (int32) -> (int32, Tensor[(3), float32])" },
        { "def @f(%n: int32, %x: float32) -> float32 { %0 = less(%n, 3); if (%0) { %1 = add(%n, 1); @f(%1, %x) } else { %x } }"
          " def @main(%x: float32) { @f(0, %x) }", "float32" },
        { "def @main(%x: float32) { let %f = fn (%n: int32) -> int32 { %0 = less(%n, 3); if (%0) { %1 = add(%n, 1); %f(%1) } else { %n } };"
          " %f(0) }", "int32" },
        { "type Option[A] { Some(A), None, } def @main(%x: float32) { let %o = Some(%x); match (%o) { Some(%v) => { %v }, None => { %x } } }",
          "float32" },
        { "type List[A] { Nil, Cons(A, List[A]), } def @main(%x: int32) { %0 = Nil; %1 = Cons(%x, %0); %1 }", "List[int32]" },
        { "type List[A] { Nil, Cons(A, List[A]), } def @len[A](%l: List[A]) -> int32 { match (%l) { Nil => { 0 },"
          " Cons(_, %r) => { %0 = @len(%r); add(1, %0) } } } def @main(%x: List[float32]) { @len(%x) }", "int32" },
        { "def @main(%p: (int32, float32)) { match (%p) { (%a, %b) => { %b } } }", "float32" },
        { "def @main(%x: int32) { %0 = ref(%x); %1 = ref_read(%0); add(%1, 1) }", "int32" },
    };
    for (size_t i = 0; i < TG_COUNT(c); ++i)
        assert_string_equal(op_type(state, c[i].text), c[i].type);
}

static void mistakes_are_named(void **state)
{
    static const struct { const char *text, *error; } c[] = {
        { "def @main(%c: int32, %x: float32) { if (%c) { %x } else { %x } }", "error: the condition is int32, expected bool" },
        { "def @main(%c: bool, %x: float32) { if (%c) { %x } else { 1 } }", "error: the branches have different types: float32 and int32" },
        { "def @main(%x: float32) { @g(%x, %x) } def @g(%a: float32) { %a }", "error: @g takes 1 arguments, 2 are given" },
        { "def @main(%x: float32) { @g(%x) } def @g(%a: int32) { %a }", "error: argument 1 of @g is float32, expected int32" },
        { "def @main(%x: float32) -> int32 { %x }", "error: @main returns float32, but is declared to return int32" },
        { "def @main(%x: float32) { let %y: int32 = exp(%x); %y }", "error: %y is declared as int32, but its value is float32" },
        { "def @main(%x: float32) { %x.0 }", "error: .0 needs a tuple, this is float32" },
        { "def @main(%x: float32) { %0 = (%x,); %0.3 }", "error: the tuple has 1 fields, there is no field 3" },
        { "def @main(%x: float32) { %x(%x) }", "error: what is called here is float32, not a function" },
        { "def @main(%x) { exp(%x) }", "error: the type of parameter %x is not given and cannot be inferred" },
        { "def @main(%x: float32) { let %f = fn (%a) { %a }; %x }", "error: the type of parameter %a is not given and the function is never called" },
        { "def @main(%x: float32) { @f(%x) } def @f(%x: float32) { @f(%x) }", "error: @f calls itself: its result type must be declared" },
        { "type Option[A] { Some(A), None, } def @main(%x: float32) { match (%x) { Some(%v) => { %v } } }",
          "error: Some is not a constructor of float32" },
    };
    for (size_t i = 0; i < TG_COUNT(c); ++i)
        assert_string_equal(op_type(state, c[i].text), c[i].error);
}

static void the_other_functions_are_still_checked(void **state)
{
    tg_fixture *f = *state;
    op_type(state, "def @a(%x: float32) { nope(%x) }\ndef @b(%x: float32) { exp(%x) }\ndef @c(%x: int32) { exp(%x) }\n"
                   "def @main(%x: float32) { @a(%x) }");
    assert_int_equal(f->cx->nerrors, 2);
    assert_non_null(strstr(tg_text_z(&f->log), "unknown operator nope"));
    assert_non_null(strstr(tg_text_z(&f->log), "exp: data must be of a floating type"));
}

static void a_typed_module_keeps_its_nodes(void **state)
{
    tg_fixture *f = *state;
    const char *text = "#[version = \"0.0.5\"]\ndef @main(%c: bool, %x: Tensor[(3), float32]) { let %f = fn (%a) { add(%a, %x) }; %0 = %f(%x);"
                       " %1 = if (%c) { exp(%0) } else { %0 }; %2 = (%1, %0); %2.0 }";
    tg_module *m = tg_module_new(f->cx);
    assert_true(tg_parse_any(f->cx, m, tg_source_add(f->cx, "t.relay", text, strlen(text))));
    assert_true(tg_pass_infer_types(f->cx, m, NULL));
    const tg_func *once = tg_module_find_z(m, "main");
    assert_true(tg_verify_module(f->cx, m, false));
    assert_true(tg_pass_infer_types(f->cx, m, NULL));
    assert_ptr_equal(tg_module_find_z(m, "main"), once);
}

/* A chain of n operators, or n nested branches: neither time nor the C stack may suffer. */
static void long_and_deep_functions_are_typed(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32]) {\n  %0 = exp(%x);\n");
    for (int i = 1; i < 100000; ++i)
        tg_printf(&t, "  %%%d = exp(%%%d);\n", i, i - 1);
    tg_puts(&t, "  %99999\n}\ndef @deep(%c: bool, %x: Tensor[(4), float32]) {\n");
    for (int i = 0; i < 3000; ++i)
        tg_puts(&t, "if (%c) { ");
    tg_puts(&t, "%x");
    for (int i = 0; i < 3000; ++i)
        tg_puts(&t, " } else { %x }");
    tg_puts(&t, "\n}\n");
    tg_module *m = tg_module_new(f->cx);
    assert_true(tg_parse_any(f->cx, m, tg_source_add(f->cx, "t.relay", tg_text_z(&t), t.n)));
    assert_true(tg_pass_infer_types(f->cx, m, NULL));
    assert_string_equal(tg_type_text(f->cx, tg_module_find_z(m, "main")->ret), "Tensor[(4), float32]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(types_flow_through_every_form), OP_TEST(mistakes_are_named), OP_TEST(the_other_functions_are_still_checked),
        OP_TEST(a_typed_module_keeps_its_nodes), OP_TEST(long_and_deep_functions_are_typed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
