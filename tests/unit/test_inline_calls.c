/* test_inline_calls.c: calls written out, values known while compiling, and what is refused. */
#include "relay_model.h"

#define V "#[version = \"0.0.5\"]\n"
#define F2 "Tensor[(2), float32]"
#define FORK "let %f = if (%c) { fn (%v: float32) { %v } } else { fn (%v: float32) { exp(%v) } };"

static const tg_test_case cases[] = {
    { "a global function called twice",
      V "def @sq(%a: " F2 ") -> " F2 " { multiply(%a, %a) }\n"
        "def @main(%x: " F2 ") { %0 = @sq(%x); add(%0, @sq(%0)) }",
      { 2, 3 }, 2, { 20, 90 } },
    { "a local function that captures a parameter",
      V "def @main(%k: float32, %x: " F2 ") {\n"
        "  let %scale: fn (" F2 ") -> " F2 " = fn (%v: " F2 ") -> " F2 " { multiply(%v, %k) };\n"
        "  %0 = %scale(%x);\n  %scale(%0)\n}",
      { 3, 1, 2 }, 2, { 9, 18 } },
    { "functions as arguments and as results",
      V "def @twice[A](%f: fn (A) -> A) -> fn (A) -> A { fn (%v: A) -> A { %f(%f(%v)) } }\n"
        "def @main(%x: float32) { let %inc = fn (%v: float32) -> float32 { add(%v, 1f) }; %0 = @twice(@twice(%inc)); %0(%x) }",
      { 5 }, 1, { 9 } },
    { "a function in a tuple, called through a projection",
      V "def @main(%x: float32) { let %t = (fn (%v: float32) -> float32 { negative(%v) }, %x); %t.0(%t.1) }", { 4 }, 1, { -4 } },
    { "a global function as a value",
      V "def @neg(%v: float32) -> float32 { negative(%v) }\n"
        "def @apply(%f: fn (float32) -> float32, %x: float32) -> float32 { %f(%x) }\n"
        "def @main(%x: float32) { @apply(@neg, %x) }",
      { 4 }, 1, { -4 } },
    { "a fused function inside main, called at once",
      V "def @main(%x: " F2 ") {\n"
        "  %1 = fn (%p0: " F2 ", Primitive=1, hash=\"00\") -> " F2 " { %0 = exp(%p0); log(%0) };\n  %1(%x) }",
      { 1, 2 }, 2, { 1, 2 } },
    { "functions for other compilers are compiled here",
      V "def @main(%x: float32) {\n"
        "  %1 = fn (%p: float32, Compiler=\"npu\", Composite=\"npu.neg\", Inline=1) -> float32 { negative(%p) };\n  %1(%x) }",
      { 4 }, 1, { -4 } },
    { "nested tuples, built, taken apart and passed on",
      V "def @swap(%t: (float32, (float32, float32))) -> ((float32, float32), float32) { (%t.1, %t.0) }\n"
        "def @main(%a: float32, %b: float32, %c: float32) { %0 = (%b, %c); %1 = @swap((%a, %0)); %2 = %1.0; (%2.1, %1) }",
      { 1, 2, 3 }, 4, { 3, 2, 3, 1 } },
    { "a tuple from an if",
      V "def @main(%c: bool, %x: float32) {\n"
        "  %0 = if (%c) { (%x, (negative(%x),)) } else { (exp(%x), (%x,)) };\n  %1 = %0.1;\n  add(%0.0, %1.0) }",
      { 1, 3 }, 1, { 0 } },
    { "an if with a known condition", V "def @main(%x: float32) { if (True) { %x } else { exp(%x) } }", { 3 }, 1, { 3 } },
    { "the same function from both branches",
      V "def @main(%c: bool, %x: float32) {\n"
        "  let %f = fn (%v: float32) -> float32 { negative(%v) };\n"
        "  let %p = if (%c) { (%f, %x) } else { (%f, add(%x, 1f)) };\n  %0 = %p.0;\n  %0(%p.1) }",
      { 0, 3 }, 1, { -4 } },
    { "another function from each branch",
      V "def @main(%c: bool, %x: float32) {\n"
        "  let %f = if (%c) { fn (%v: float32) { negative(%v) } } else { fn (%v: float32) { add(%v, 1f) } };\n"
        "  %0 = %f(%x);\n  (%f(%0), multiply(%0, 10f)) }",
      { 0, 3 }, 2, { 5, 40 } },
    { "another function in each round of a loop",
      V "def @main(%n: int32, %x: float32) {\n"
        "  let %loop = fn (%i: int32, %v: float32) -> float32 { if (less(%i, %n)) {\n"
        "    let %f = if (less(%i, 2)) { fn (%a: float32) { add(%a, 1f) } } else { fn (%a: float32) { multiply(%a, 2f) } };\n"
        "    %loop(add(%i, 1), %f(%v)) } else { %v } };\n  %loop(0, %x) }",
      { 4, 3 }, 1, { 20 } },
    { "recursion that counts down from a number",
      V "def @fac(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @fac(subtract(%n, 1))) } }\n"
        "def @main(%x: int32) { add(%x, @fac(5)) }",
      { 3 }, 1, { 123 } },
    { "two functions that call each other, from a number",
      V "def @even(%n: int32, %x: float32) -> float32 { if (equal(%n, 0)) { %x } else { @odd(subtract(%n, 1), negative(%x)) } }\n"
        "def @odd(%n: int32, %x: float32) -> float32 { if (equal(%n, 0)) { 0f } else { @even(subtract(%n, 1), add(%x, 1f)) } }\n"
        "def @main(%x: float32) { (@even(4, %x), @even(3, %x)) }",
      { 3 }, 2, { 3, 0 } },
    { "ifs inside ifs", V "def @main(%a: bool, %b: bool, %x: float32) {\n"
        "  if (%a) { %0 = if (%b) { add(%x, 1f) } else { add(%x, 2f) }; multiply(%0, 10f) } else { %x } }",
      { 1, 0, 3 }, 1, { 50 } },
    { "an unused value leaves nothing behind", V "def @main(%x: float32) { let %a = exp(%x); let %b = (%a, %a); %x }", { 3 }, 1, { 3 } },
    { "shadowed names", V "def @main(%x: float32) { let %x = add(%x, 1f); let %x = add(%x, %x); %x }", { 3 }, 1, { 8 } },
    { "the same result three times", V "def @main(%x: float32) { %0 = negative(%x); (%0, %0, %x) }", { 3 }, 3, { -3, -3, 3 } },
    { "constants as results", V "def @main(%x: float32) { (1.5f, 1.5f, 7) }", { 3 }, 3, { 1.5, 1.5, 7 } },
    { "no result at all", V "def @main(%x: float32) { () }", { 3 }, 0, { 0 } },
    { "inputs that are tuples", V "def @main(%t: (float32, (float32,)), %x: float32) { %0 = %t.1; (%t, add(%0.0, %x)) }", { 1, 2, 3 }, 3, { 1, 2, 5 } },
    { "a reference written and read in a row",
      V "def @main(%x: float32) { let %r = ref(%x); let %a = ref_read(%r); let %u = ref_write(%r, add(%a, 1f)); subtract(ref_read(%r), %a) }",
      { 3 }, 1, { 1 } },
    { "a parameter without a type takes it from the callee",
      V "def @f(%a: " F2 ") -> " F2 " { negative(%a) }\ndef @main(%x: " F2 ") { let %g = fn (%v) { @f(%v) }; %g(%x) }", { 1, 2 }, 2, { -1, -2 } },
};

static void calls_compute_what_the_text_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        tg_test_case_holds(&cases[i]);
}

static const tg_test_refusal refusals[] = {
    { V "def @fact(%n: int32) -> int32 { if (equal(%n, 0)) { 1 } else { multiply(%n, @fact(subtract(%n, 1))) } }\n"
        "def @main(%n: int32) { @fact(%n) }", "@fact calls @fact" },
    { V "def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }\n"
        "def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }\n"
        "def @main(%n: int32) { @even(%n) }", "@even calls @odd calls @even" },
    { V "def @f(%x: float32) -> float32 { @f(add(%x, 1f)) }\ndef @main(%x: float32) { @f(%x) }", "@f calls @f, and nothing ends it" },
    { V "def @f(%x: float32) -> float32 { add(@f(%x), 1f) }\ndef @main(%x: float32) { @f(%x) }", "@f calls @f" },
    { V "def @f(%a: " F2 ") -> " F2 " { exp(%a) }\ndef @main(%x: Tensor[(5), float32]) { @f(%x) }",
      "%a is declared as Tensor[(2), float32], but its value is Tensor[(5), float32]" },
    { V "def @f(%a: " F2 ") -> " F2 " { exp(%a) }\ndef @main(%x: Tensor[(5), float32]) { %0 = tanh(%x);\n@f(%0) }", "t.relay:4:1: error: %a is declared" },
    { V "def @f(%a: float32) -> " F2 " { exp(%a) }\ndef @main(%x: float32) { @f(%x) }", "is declared as Tensor[(2), float32]" },
    { V "def @f(%a: float32) { %a }\ndef @main(%x: float32) { @f(%x, %x) }", "the function @f takes 1 arguments, not 2" },
    { V "def @main(%x: float32) { %x(%x) }", "is called" },
    { V "def @main(%x: float32) { fn (%v: float32) { %v } }", "the result of the model is a function" },
    { V "def @main(%x: float32) { let %f = fn (%v: float32) { %v }; exp(%f) }", "operand 0 of exp is the function %f" },
    { V "def @main(%x: float32) { let %f = fn (%v: float32) { %v }; (%x, (%f, %x)) }", "a tuple that holds the function %f" },
    { V "def @main(%c: bool, %x: float32) { if (%c) { fn (%v: float32) { %v } } else { fn (%v: float32) { exp(%v) } } }",
      "the result of the model is a function or a function" },
    { V "def @main(%c: bool, %x: float32) {" FORK FORK FORK FORK FORK FORK FORK FORK FORK FORK " %x }", "written more than 1000 times" },
    { V "def @fac(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @fac(subtract(%n, 1))) } }\n"
        "def @main(%n: int32) { @fac(%n) }", "whether it goes on is known only when the model runs" },
    { V "def @main(%f: fn (float32) -> float32, %x: float32) { %f(%x) }", "cannot be an input" },
    { V "def @main(%c: bool, %x: float32) { let %r = ref(%x); let %u = if (%c) { ref_write(%r, %x) } else { () }; ref_read(%r) }",
      "a reference is written inside an if" },
    { V "def @main(%x: float32) { let %t = (%x, %x); %t.2 }", "there is no field 2" },
};

static void what_cannot_be_compiled_is_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(refusals); ++i)
        tg_test_refused(&refusals[i]);
}

static void a_module_that_was_inlined_is_not_changed_again(void **state)
{
    tg_fixture *f = *state;
    tg_test_good(f, tg_test_compile(f, V "def @loop(%i: int32, %x: float32) -> float32 {\n"
                                         "  if (less(%i, 5)) { @loop(add(%i, 1), multiply(%x, 2f)) } else { %x } }\n"
                                         "def @f(%x: float32) -> float32 { exp(%x) }\n"
                                         "def @main(%x: float32) -> float32 { if (less(%x, 0f)) { @f(%x) } else { @loop(0, @f(%x)) } }",
                                    "inline-calls"));
    const char *once = tg_test_printed(f);
    void *other = NULL;
    tg_test_setup(&other);
    tg_test_good(other, tg_test_compile(other, once, "inline-calls"));
    assert_string_equal(tg_test_printed(other), once);
    tg_test_teardown(&other);
}

static void calls_that_double_at_each_level_are_refused_in_time(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, V "def @f0(%x: float32) -> float32 { negative(%x) }\n");
    for (int i = 1; i <= 40; ++i)
        tg_printf(&t, "def @f%d(%%x: float32) -> float32 { @f%d(@f%d(%%x)) }\n", i, i - 1, i - 1);
    tg_puts(&t, "def @main(%x: float32) { @f40(%x) }");
    assert_int_equal(tg_test_compile(f, tg_text_z(&t), "inline-calls"), TIRGEN_ELIMIT);
    assert_non_null(strstr(tg_text_z(&f->log), "with all calls written out the model has more than"));
}

static void lets_that_double_stay_linear(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, V "def @main(%a0: float32) -> float32 {\n");
    for (int i = 1; i <= 30; ++i)
        tg_printf(&t, "  let %%a%d = add(%%a%d, %%a%d);\n", i, i - 1, i - 1);
    tg_puts(&t, "  %a30\n}");
    tg_test_good(f, tg_test_compile(f, tg_text_z(&t), NULL));
    double in = 1, out = 0;
    assert_int_equal(tg_test_run(f, &in, &out), 1);
    assert_true(out == 1073741824.0);
}

static void tuples_that_double_are_refused(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, V "def @main(%x: float32) {\n  let %t0 = (%x, %x);\n");
    for (int i = 1; i <= 40; ++i)
        tg_printf(&t, "  let %%t%d = (%%t%d, %%t%d);\n", i, i - 1, i - 1);
    tg_puts(&t, "  %t40\n}");
    assert_int_equal(tg_test_compile(f, tg_text_z(&t), "inline-calls"), TIRGEN_EINPUT);
    assert_non_null(strstr(tg_text_z(&f->log), "holds more than 65536 tensors"));
}

static void many_bindings_take_no_stack(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, V "def @main(%x: float32) -> float32 {\n  %0 = negative(%x);\n");
    for (int i = 1; i < 100000; ++i)
        tg_printf(&t, "  %%%d = negative(%%%d);\n", i, i - 1);
    tg_puts(&t, "  %99999\n}");
    tg_test_good(f, tg_test_compile(f, tg_text_z(&t), "fuse-ops"));
}

static void ifs_inside_ifs_are_fine_or_refused(void **state)
{
    (void)state;
    static const int depth[] = { 90, 10000 };
    for (size_t k = 0; k < TG_COUNT(depth); ++k) {
        void *own = NULL;
        tg_test_setup(&own);
        tg_fixture *f = own;
        tg_text t = tg_text_new(f->cx);
        tg_puts(&t, V "def @main(%c: bool, %x: float32) -> float32 {\n");
        for (int i = 0; i < depth[k]; ++i)
            tg_puts(&t, "if (%c) { add(%x, 1f) } else { ");
        tg_puts(&t, "%x");
        for (int i = 0; i < depth[k]; ++i)
            tg_putc(&t, '}');
        tg_putc(&t, '}');
        tirgen_status status = tg_test_compile(f, tg_text_z(&t), NULL);
        if (depth[k] < 100) {
            tg_test_good(f, status);
            double in[2] = { 0, 7 }, out = 0;
            assert_int_equal(tg_test_run(f, in, &out), 1);
            assert_true(out == 7);
        } else {
            assert_int_not_equal(status, TIRGEN_OK);
            assert_int_not_equal(status, TIRGEN_EBUG);
        }
        tg_test_teardown(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_compute_what_the_text_says),
        cmocka_unit_test(what_cannot_be_compiled_is_refused_with_its_reason),
        cmocka_unit_test_setup_teardown(a_module_that_was_inlined_is_not_changed_again, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(calls_that_double_at_each_level_are_refused_in_time, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(lets_that_double_stay_linear, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(tuples_that_double_are_refused, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(many_bindings_take_no_stack, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(ifs_inside_ifs_are_fine_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
