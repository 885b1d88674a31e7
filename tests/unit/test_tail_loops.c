/* test_tail_loops.c: functions that call themselves last run as loops. */
#include "relay_model.h"
#include "passes/tail_loops.h"
#include "grammar/parse.h"
#include "ir/source.h"

#define V "#[version = \"0.0.5\"]\n"
#define F2 "Tensor[(2), float32]"

/* ---- how a function calls itself ---- */

static const struct { const char *relay; enum tg_recursion kind; const char *invariant; } shapes[] = {
    { "def @f(%x: float32) -> float32 { exp(%x) }", TG_REC_NONE, "" },
    { "def @f(%i: int32, %x: float32) -> float32 { if (less(%i, 5)) { @f(add(%i, 1), %x) } else { %x } }", TG_REC_TAIL, "01" },
    { "def @f(%i: int32, %x: float32) -> float32 { if (less(%i, 5)) { let %r = @f(add(%i, 1), %x); %r } else { %x } }", TG_REC_TAIL, "01" },
    { "def @f(%i: int32, %j: int32) -> int32 { if (less(%i, 5)) { %j } else { if (less(%j, 5)) { @f(%i, add(%j, 1)) } else { @f(%j, %i) } } }", TG_REC_TAIL, "00" },
    { "def @f(%x: float32) -> float32 { @f(%x) }", TG_REC_ENDLESS, "1" },
    { "def @f(%i: int32) -> int32 { if (less(%i, 5)) { add(@f(add(%i, 1)), 1) } else { %i } }", TG_REC_OTHER, "1" },
    { "def @f(%i: int32) -> int32 { let %g = fn (%v: int32) -> int32 { @f(%v) }; if (less(%i, 5)) { @f(%g(%i)) } else { %i } }", TG_REC_OTHER, "0" },
    { "def @f(%i: int32) -> int32 { let %r = @f(%i); if (less(%i, 5)) { %r } else { %i } }", TG_REC_OTHER, "1" },
    { "type L { C(L), N, }\ndef @f(%l: L) -> int32 { match (%l) { N => { 0 }, C(%t) => { @f(%t) }, } }", TG_REC_STATIC, "0" },
    { "type L { C(L), N, }\ndef @f(%l: L, %i: int32) -> int32 { if (less(%i, 2)) { match (%l) { N => { 0 }, C(%t) => { @f(%l, add(%i, 1)) }, } } else { 1 } }",
      TG_REC_TAIL, "10" },
};

static void a_loop_calls_itself_last_behind_an_if(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(shapes); ++i) {
        tg_module *m = tg_module_new(f->cx);
        const char *text = tg_format(f->cx, V "%s\ndef @main(%%x: float32) { %%x }", shapes[i].relay);
        if (TG_UNWIND(f) || !tg_parse_relay(f->cx, m, tg_source_add(f->cx, "t.relay", text, strlen(text))))
            fail_msg("%s", tg_text_z(&f->log));
        const tg_func *fn = tg_module_find_z(m, "f");
        tg_loop_shape s = tg_loop_shape_of(f->cx, fn, NULL, fn->name);
        assert_int_equal(s.kind, shapes[i].kind);
        for (uint32_t k = 0; s.kind != TG_REC_NONE && k < fn->nparams; ++k)
            assert_int_equal(s.invariant[k], shapes[i].invariant[k] == '1');
    }
}

/* ---- loops that run ---- */

static const tg_test_case cases[] = {
    { "a counted loop",
      V "def @loop(%i: int32, %x: " F2 ") -> " F2 " { %0 = less(%i, 5); if (%0) { %1 = add(%i, 1); %2 = multiply(%x, 2f); @loop(%1, %2) } else { %x } }\n"
        "def @main(%x: " F2 ") { @loop(0, %x) }",
      { 1, 3 }, 2, { 32, 96 } },
    { "no round at all", V "def @loop(%i: int32, %x: float32) -> float32 { if (less(%i, 5)) { @loop(add(%i, 1), exp(%x)) } else { %x } }\n"
        "def @main(%x: float32) { @loop(5, %x) }", { 3 }, 1, { 3 } },
    { "a round that swaps two tensors",
      V "def @main(%a: " F2 ", %b: " F2 ") {\n"
        "  let %loop = fn (%i: int32, %x: " F2 ", %y: " F2 ") -> (" F2 ", " F2 ") {\n"
        "    if (less(%i, 3)) { %loop(add(%i, 1), %y, %x) } else { (%x, %y) } };\n"
        "  %loop(0, %a, %b) }",
      { 1, 2, 3, 4 }, 4, { 3, 4, 1, 2 } },
    { "a round that rotates four, one of them computed",
      V "def @f(%i: int32, %a: float32, %b: float32, %c: float32, %d: float32) -> (float32, float32, float32, float32) {\n"
        "  if (less(%i, 3)) { @f(add(%i, 1), %b, %c, add(%a, %d), %a) } else { (%a, %b, %c, %d) } }\n"
        "def @main(%a: float32, %b: float32, %c: float32, %d: float32) { @f(0, %a, %b, %c, %d) }",
      { 1, 2, 3, 4 }, 4, { 5, 3, 5, 3 } },
    { "one value in two places", V "def @f(%i: int32, %a: float32, %b: float32) -> (float32, float32) {\n"
        "  if (less(%i, 2)) { %0 = add(%a, 1f); @f(add(%i, 1), %0, %0) } else { (%b, %b) } }\n"
        "def @main(%x: float32) { @f(0, %x, %x) }", { 3 }, 2, { 5, 5 } },
    { "the old value goes on beside the new", V "def @fib(%i: int32, %a: int32, %b: int32) -> int32 {\n"
        "  if (less(%i, 10)) { @fib(add(%i, 1), %b, add(%a, %b)) } else { %a } }\n"
        "def @main(%x: int32) { @fib(0, 0, %x) }", { 1 }, 1, { 55 } },
    { "tuples that are carried", V "def @f(%i: int32, %t: (float32, (float32,))) -> (float32, (float32,)) {\n"
        "  if (less(%i, 3)) { %0 = %t.1; @f(add(%i, 1), (%0.0, (add(%t.0, 10f),))) } else { %t } }\n"
        "def @main(%x: float32, %y: float32) { %0 = @f(0, (%x, (%y,))); %1 = %0.1; (%0.0, %1.0) }", { 1, 2 }, 2, { 12, 21 } },
    { "a value captured from around a local loop", V "def @main(%k: " F2 ", %x: " F2 ", %n: int32) {\n"
        "  %0 = multiply(%k, 2f);\n"
        "  let %while = fn (%i: int32, %v: " F2 ") -> " F2 " { if (less(%i, %n)) { %while(add(%i, 1), add(%v, %0)) } else { %v } };\n"
        "  %while(0, %x) }", { 1, 2, 10, 20, 3 }, 2, { 16, 32 } },
    { "a loop over functions that are passed to it",
      V "def @while[A](%go: fn (A) -> bool, %step: fn (A) -> A, %x: A) -> A { if (%go(%x)) { @while(%go, %step, %step(%x)) } else { %x } }\n"
        "def @main(%x: float32, %k: float32) {\n"
        "  @while(fn (%v: float32) -> bool { less(%v, 50f) }, fn (%v: float32) -> float32 { multiply(%v, %k) }, %x) }", { 3, 2 }, 1, { 96 } },
    { "loops inside loops, twice", V "def @main(%n: int32, %x: float32) {\n"
        "  let %outer = fn (%i: int32, %acc: float32) -> float32 {\n"
        "    if (less(%i, %n)) {\n"
        "      let %inner = fn (%j: int32, %v: float32) -> float32 { if (less(%j, %i)) { %inner(add(%j, 1), add(%v, %x)) } else { %v } };\n"
        "      %outer(add(%i, 1), %inner(0, %acc)) } else { %acc } };\n"
        "  (%outer(0, 0f), %outer(2, 1f)) }", { 4, 10 }, 2, { 60, 51 } },
    { "several ways on and several ways out", V "def @f(%i: int32, %x: float32) -> float32 {\n"
        "  if (less(%i, 10)) { if (greater(%x, 100f)) { negative(%x) } else { if (less(%x, 10f)) { @f(add(%i, 1), multiply(%x, 3f)) } "
        "else { @f(add(%i, 2), add(%x, 7f)) } } } else { %x } }\n"
        "def @main(%x: float32, %y: float32) { (@f(0, %x), @f(5, %y)) }", { 1, 90 }, 2, { 55, -104 } },
    { "an if inside a round that is not last", V "def @f(%i: int32, %x: float32) -> float32 {\n"
        "  if (less(%i, 4)) { %0 = if (less(%x, 3f)) { add(%x, 1f) } else { add(%x, 10f) }; @f(add(%i, 1), %0) } else { %x } }\n"
        "def @main(%x: float32) { @f(0, %x) }", { 1 }, 1, { 23 } },
    { "a reshaped tensor is carried", V "def @f(%i: int32, %x: Tensor[(2, 3), float32], %y: Tensor[(6), float32]) -> Tensor[(6), float32] {\n"
        "  if (less(%i, 3)) { @f(add(%i, 1), reshape(%y, newshape=[2, 3]), reshape(%x, newshape=[6])) } else { %y } }\n"
        "def @main(%x: Tensor[(2, 3), float32]) { %0 = reshape(%x, newshape=[6]); @f(0, %x, negative(%0)) }", { 1, 2, 3, 4, 5, 6 }, 6, { 1, 2, 3, 4, 5, 6 } },
    { "what the loop leaves is used with what it began with", V "def @f(%i: int32, %x: " F2 ") -> " F2 " {\n"
        "  if (less(%i, 2)) { @f(add(%i, 1), add(%x, %x)) } else { %x } }\n"
        "def @main(%x: " F2 ") { %0 = exp(%x); %1 = @f(0, %0); (subtract(%1, %0), @f(1, %1), %x) }", { 0, 0 }, 6, { 3, 3, 8, 8, 0, 0 } },
    { "a loop in one branch", V "def @f(%i: int32, %x: float32) -> float32 { if (less(%i, 3)) { @f(add(%i, 1), add(%x, 1f)) } else { %x } }\n"
        "def @main(%c: bool, %x: float32) { if (%c) { @f(0, %x) } else { %x } }", { 1, 4 }, 1, { 7 } },
    { "the result is computed on the way out", V "def @f(%i: int32, %x: float32) -> (float32, int32, float32) {\n"
        "  if (less(%i, 3)) { @f(add(%i, 1), add(%x, 1f)) } else { (multiply(%x, %x), %i, 5f) } }\n"
        "def @main(%x: float32) { @f(0, %x) }", { 1 }, 3, { 16, 3, 5 } },
    { "a loop as importers write it: in brackets, with a limit and a flag that are carried",
      V "def @main(%m: int64, %c: bool, %y: Tensor[(1), float32]) {\n"
        "  %11 = (\n"
        "    let %while_loop: fn (int64, int64, bool, Tensor[(1), float32]) -> (int64, int64, bool, Tensor[(1), float32]) =\n"
        "        fn (%iter: int64, %max: int64, %cond: bool, %v: Tensor[(1), float32]) -> (int64, int64, bool, Tensor[(1), float32]) {\n"
        "      %0 = equal(%cond, True);\n      %1 = less(%iter, %max);\n      %2 = logical_and(%0, %1);\n"
        "      if (%2) {\n        %3 = add(%iter, 1i64);\n        %4 = add(%v, %v);\n        %5 = max(%4);\n        %6 = less(%5, 20f);\n"
        "        %while_loop(%3, %max, %6, %4)\n      } else {\n        (%iter, %max, %cond, %v)\n      }\n    };\n    %while_loop\n  );\n"
        "  %12 = %11(0i64, %m, %c, %y);\n  (%12.0, %12.2, %12.3)\n}",
      { 10, 1, 3 }, 3, { 3, 0, 24 } },
    { "parameters declared by their values alone", V "def @main(%x: float32) {\n"
        "  let %f = fn (%i, %v) { if (less(%i, 3)) { %f(add(%i, 1), add(%v, 2f)) } else { %v } };\n  %f(0, %x) }", { 1 }, 1, { 7 } },
};

static void loops_compute_what_the_recursion_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        tg_test_case_holds(&cases[i]);
}

static const tg_test_refusal refusals[] = {
    { V "def @f(%x: float32) -> float32 { if (True) { @f(%x) } else { %x } }\ndef @main(%x: float32) { @f(%x) }", "never ends" },
    { V "def @f(%c: bool, %x: float32) -> float32 { if (%c) { @f(%c, add(%x, 1f)) } else { @f(%c, %x) } }\ndef @main(%c: bool, %x: float32) { @f(%c, %x) }",
      "never ends" },
    { V "def @f(%i: int32, %x: " F2 ") -> " F2 " { if (less(%i, 3)) { @f(add(%i, 1), concatenate((%x, %x))) } else { %x } }\ndef @main(%x: " F2 ") { @f(0, %x) }",
      "Tensor[(4), float32]" },
    { V "def @main(%x: float32) { let %r = ref(%x);\n"
        "  let %f = fn (%i: int32) -> int32 { if (less(%i, 3)) { let %u = ref_write(%r, %x); %f(add(%i, 1)) } else { %i } };\n  %f(0) }", "inside an if or a loop" },
};

static void loops_that_cannot_be_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(refusals); ++i)
        tg_test_refused(&refusals[i]);
}

static void loops_read_back_after_each_pass(void **state)
{
    (void)state;
    static const char *const pass[] = { "inline-calls", "infer-types", "fold-const", "fuse-ops", "lower-ops", "lower-blocks", "plan-memory" };
    const tg_test_case *c = &cases[2];
    for (size_t i = 0; i < TG_COUNT(pass); ++i) {
        void *first = NULL, *second = NULL;
        tg_test_setup(&first);
        tg_test_setup(&second);
        tg_test_good(first, tg_test_compile(first, c->relay, pass[i]));
        const char *text = tg_test_printed(first);
        tg_test_good(second, tg_test_compile(second, text, NULL));
        double out[16];
        assert_int_equal(tg_test_run(second, c->in, out), c->n);
        for (size_t k = 0; k < c->n; ++k)
            assert_true(out[k] == c->want[k]);
        tg_test_teardown(&first);
        tg_test_teardown(&second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loop_calls_itself_last_behind_an_if, tg_test_setup, tg_test_teardown),
        cmocka_unit_test(loops_compute_what_the_recursion_says),
        cmocka_unit_test(loops_that_cannot_be_are_refused),
        cmocka_unit_test(loops_read_back_after_each_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
