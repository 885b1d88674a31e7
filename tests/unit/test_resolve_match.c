/* test_resolve_match.c: algebraic types exist only while compiling: lists of fixed length, Option, trees. */
#include "relay_model.h"

#define V "#[version = \"0.0.5\"]\n"
#define LIST "type List[A] { Cons(A, List[A]), Nil, }\n"
#define OPTION "type Option[A] { Some(A), None, }\n"

static const tg_test_case cases[] = {
    { "the length of a list",
      V "type Chain[A] { Stop, Link(A, Chain[A]), }\n"
        "def @len[A](%c: Chain[A]) -> int32 { match (%c) { Stop => { 0 }, Link(_, %rest: Chain[A]) => { %0 = @len(%rest); add(1, %0) }, } }\n"
        "def @main(%x: float32) { @len(Link(%x, Link(%x, Link(%x, Stop)))) }",
      { 5 }, 1, { 3 } },
    { "map, then a fold from the left",
      V LIST "def @map[A, B](%f: fn (A) -> B, %c: List[A]) -> List[B] { match (%c) { Nil => { Nil }, Cons(%h, %t) => { Cons(%f(%h), @map(%f, %t)) }, } }\n"
        "def @foldl[A, B](%f: fn (B, A) -> B, %z: B, %c: List[A]) -> B { match (%c) { Nil => { %z }, Cons(%h, %t) => { @foldl(%f, %f(%z, %h), %t) }, } }\n"
        "def @main(%x: float32, %y: float32) {\n"
        "  let %m = @map(fn (%v: float32) -> float32 { multiply(%v, 10f) }, Cons(%x, Cons(%y, Nil)));\n"
        "  @foldl(fn (%a: float32, %b: float32) -> float32 { subtract(%a, %b) }, %x, %m) }",
      { 1, 2 }, 1, { -29 } },
    { "Some", V OPTION "def @main(%x: float32) { let %o: Option[float32] = Some(%x); match (%o) { Some(%v: float32) => { add(%v, 1f) }, None => { %x }, } }",
      { 3 }, 1, { 4 } },
    { "None, bare and with brackets",
      V OPTION "def @get(%o: Option[float32], %x: float32) -> float32 { match (%o) { Some(%v) => { %v }, None => { %x }, } }\n"
        "def @main(%x: float32) { (@get(None, %x), @get(None(), negative(%x))) }",
      { 3 }, 2, { 3, -3 } },
    { "patterns inside patterns, tuples, wildcards",
      V OPTION "def @main(%x: float32, %y: float32) {\n"
        "  let %v = Some((%x, Some(%y)));\n"
        "  match (%v) { Some((%a, None)) => { %a }, Some((_, Some(%b))) => { negative(%b) }, _ => { %x }, } }",
      { 1, 2 }, 1, { -2 } },
    { "a tuple of the run time, taken apart", V "def @main(%t: (float32, float32)) { match (%t) { (%a, %b) => { subtract(%a, %b) }, } }", { 5, 3 }, 1, { 2 } },
    { "match?", V OPTION "def @main(%x: float32) { match? (Some(%x)) { Some(%v) => { exp(negative(%v)) }, } }", { 0 }, 1, { 1 } },
    { "a constructor as a function",
      V OPTION "def @main(%x: float32) { let %mk = Some; let %o = %mk(%x); match (%o) { Some(%v) => { add(%v, %v) }, None => { %x }, } }", { 3 }, 1, { 6 } },
    { "the same constructor from both branches of an if",
      V OPTION "def @main(%c: bool, %x: float32) {\n"
        "  let %o = if (%c) { Some(negative(%x)) } else { Some(%x) };\n"
        "  match (%o) { Some(%v) => { add(%v, 1f) }, None => { %x }, } }",
      { 1, 3 }, 1, { -2 } },
    { "another constructor from each branch of an if",
      V OPTION "def @main(%c: bool, %x: float32) {\n"
        "  let %o = if (%c) { Some(negative(%x)) } else { None };\n"
        "  %0 = match (%o) { Some(%v) => { add(%v, 1f) }, None => { %x }, };\n  (%0, multiply(%0, 2f)) }",
      { 0, 3 }, 2, { 3, 6 } },
    { "options from ifs in functions, one after another",
      V OPTION "def @get(%c: bool, %x: float32) -> Option[float32] { if (%c) { Some(multiply(%x, 2f)) } else { None } }\n"
        "def @or(%o: Option[float32], %d: float32) -> float32 { match (%o) { Some(%v) => { %v }, None => { %d }, } }\n"
        "def @main(%c: bool, %d: bool, %x: float32) {\n"
        "  %0 = @get(%c, %x);\n  %1 = @get(%d, negative(%x));\n  %2 = @or(%0, @or(%1, %x));\n"
        "  %3 = if (%d) { @get(%c, %2) } else { Some(add(%2, 1f)) };\n  (%2, @or(%3, 0f)) }",
      { 0, 1, 3 }, 2, { -6, 0 } },
    { "a list as long as a number says",
      V LIST "def @make(%n: int32, %x: float32) -> List[float32] { if (less(%n, 1)) { Nil } else { Cons(%x, @make(subtract(%n, 1), add(%x, 1f))) } }\n"
        "def @sum(%l: List[float32]) -> float32 { match (%l) { Cons(%h, %t) => { add(%h, @sum(%t)) }, Nil => { 0f }, } }\n"
        "def @main(%x: float32) { @sum(@make(4, %x)) }",
      { 2 }, 1, { 14 } },
    { "a match inside a branch, on a value from outside",
      V OPTION "def @main(%c: bool, %x: float32) {\n"
        "  let %o = Some(add(%x, 1f));\n"
        "  if (%c) { match (%o) { Some(%v) => { %v }, None => { %x }, } } else { %x } }",
      { 1, 3 }, 1, { 4 } },
    { "an option that decides what a loop does",
      V OPTION "def @loop(%o: Option[float32], %i: int32, %x: float32) -> float32 {\n"
        "  if (less(%i, 3)) { match (%o) { Some(%v) => { @loop(%o, add(%i, 1), multiply(%x, %v)) }, None => { @loop(%o, add(%i, 1), %x) }, } }\n"
        "  else { %x } }\n"
        "def @main(%k: float32, %x: float32) { (@loop(Some(%k), 0, %x), @loop(None, 0, %x)) }",
      { 2, 5 }, 2, { 40, 5 } },
    { "a list summed while a condition holds",
      V LIST "def @sum(%c: List[float32], %acc: float32) -> float32 {\n"
        "  match (%c) { Nil => { %acc }, Cons(%h, %t) => { if (less(%acc, 3f)) { @sum(%t, add(%acc, %h)) } else { %acc } }, } }\n"
        "def @main(%x: float32) { @sum(Cons(%x, Cons(%x, Cons(%x, Nil))), 0f) }",
      { 2 }, 1, { 4 } },
};

static void matches_take_the_arm_that_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        tg_test_case_holds(&cases[i]);
}

static const tg_test_refusal refusals[] = {
    { V OPTION "def @main(%c: bool, %x: float32) { if (%c) { Some(%x) } else { None } }", "the result of the model is Some(…) or None" },
    { V OPTION "def @main(%o: Option[float32], %x: float32) { match (%o) { Some(%v) => { %v }, None => { %x }, } }", "cannot be an input" },
    { V OPTION "def @main(%x: float32) { Some(%x) }", "the result of the model is Some(…)" },
    { V OPTION "def @main(%x: float32) { match (None) { Some(%v) => { %v }, } }", "no arm of this match takes None" },
    { V OPTION "def @main(%x: float32) { match (%x) { Some(%v) => { %v }, None => { %x }, } }", "Some is compared with a tensor" },
    { V OPTION "def @main(%x: float32) { Some(%x, %x) }", "Some has 1 field, 2 are given" },
    { V OPTION "def @main(%x: float32) { match (Some(%x)) { Some(%v, %w) => { %v }, None => { %x }, } }", "Some has 1 field, the pattern has 2" },
    { V LIST "def @grow(%c: List[float32], %x: float32) -> List[float32] { match (%c) { Nil => { Nil }, Cons(_, _) => { @grow(Cons(%x, %c), %x) }, } }\n"
        "def @main(%x: float32) { let %l = @grow(Cons(%x, Nil), %x); %x }", "@grow calls @grow, and it does not end" },
};

static void values_known_too_late_are_refused_with_their_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(refusals); ++i)
        tg_test_refused(&refusals[i]);
}

static void a_list_of_a_thousand_is_walked(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, V LIST "def @len[A](%c: List[A]) -> int32 { match (%c) { Nil => { 0 }, Cons(_, %r) => { add(1, @len(%r)) }, } }\n"
                       "def @main(%x: float32) {\n  let %l0 = Nil;\n");
    for (int i = 1; i <= 1000; ++i)
        tg_printf(&t, "  let %%l%d = Cons(%%x, %%l%d);\n", i, i - 1);
    tg_puts(&t, "  @len(%l1000)\n}");
    tg_test_good(f, tg_test_compile(f, tg_text_z(&t), NULL));
    double in = 0, out = 0;
    assert_int_equal(tg_test_run(f, &in, &out), 1);
    assert_true(out == 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_take_the_arm_that_fits),
        cmocka_unit_test(values_known_too_late_are_refused_with_their_reason),
        cmocka_unit_test_setup_teardown(a_list_of_a_thousand_is_walked, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
