/* test_relay.c: Relay text to nodes: every form of the language, read and printed again. */
#include "fixture.h"
#include "ir/module.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parse.h"

#define HEAD "#[version = \"0.0.5\"]\n"

static tg_module *parse(tg_fixture *f, const char *text)
{
    tg_module *m = tg_module_new(f->cx);
    bool good = tg_parse_relay(f->cx, m, tg_source_add(f->cx, "a.relay", text, strlen(text)));
    return good ? m : NULL;
}

/* Parses @p text, which must be right, print as @p printed and read back from that as the same module. */
static tg_module *expect(tg_fixture *f, const char *text, const char *printed)
{
    tg_module *m = parse(f, text);
    if (m == NULL)
        fail_msg("rejected:\n%s\n%s", text, tg_text_z(&f->log));
    assert_true(tg_verify_module(f->cx, m, true));
    tg_text t = tg_text_new(f->cx);
    tg_print_relay(&t, m);
    assert_string_equal(tg_text_z(&t), printed);
    const char *why = "";
    tg_module *again = parse(f, tg_text_z(&t));
    if (again == NULL || !tg_module_equal(f->cx, m, again, &why))
        fail_msg("printed text reads differently: %s\n%s\n%s", why, printed, tg_text_z(&f->log));
    return m;
}

static void expect_error(tg_fixture *f, const char *text, const char *message)
{
    tg_test_clear_log(f);
    if (parse(f, text) != NULL)
        fail_msg("accepted:\n%s", text);
    if (strstr(tg_text_z(&f->log), message) == NULL)
        fail_msg("\"%s\" is missing in\n%s", message, tg_text_z(&f->log));
}

/* ---- expressions ---- */

/* Body of a function of %x: float32[3], %t: a nested tuple, %c: bool; and how the body prints. */
static const struct { const char *body, *printed; } bodies[] = {
    { "%x", "%x" },
    { "nn.relu(nn.relu(%x))", "%0 = nn.relu(%x);\n  nn.relu(%0)" },
    { "(%x + 1f) * %x - %x / 2f",
      "%0 = add(%x, 1f);\n  %1 = multiply(%0, %x);\n  %2 = divide(%x, 2f);\n  subtract(%1, %2)" },
    { "%x < 1f == (%x >= 2f)", "%0 = less(%x, 1f);\n  %1 = greater_equal(%x, 2f);\n  equal(%0, %1)" },
    { "%x != %x <= %x > %x", "%0 = less_equal(%x, %x);\n  %1 = greater(%0, %x);\n  not_equal(%x, %1)" },
    { "%x -1f", "subtract(%x, 1f)" },
    { "add(%x, --1f)", "add(%x, 1f)" },
    { "%5 = exp(%x); %5 = exp(%5); %05", "%0 = exp(%x);\n  exp(%0)" },
    { "%t.1.0", "%0 = %t.1;\n  %0.0" },
    { "let %f = fn (%a, Primitive=1) { %a }; %f(%t.0)", "let %f = fn (%a, Primitive=1) {\n    %a\n  };\n  %0 = %t.0;\n  %f(%0)" },
    { "(%x,)", "(%x,)" }, { "()", "()" }, { "(%x)", "%x" }, { "(%x, %c, ())", "%0 = ();\n  (%x, %c, %0)" },
    { "let %x = exp(%x); %x", "let %x = exp(%x);\n  %x" },
    { "let %y = (let %t = exp(%x); add(%t, %t)); %y", "let %t = exp(%x);\n  let %y = add(%t, %t);\n  %y" },
    { "let %y: float32 = { %0 = exp(%x); %0 }; %y", "%0 = exp(%x);\n  let %y: float32 = %0;\n  %y" },
    { "exp(%x); %x", "let %_ = exp(%x);\n  %x" },
    { "if (%c) { exp(%x) } else { let %y = %x; %y }",
      "if (%c) {\n    exp(%x)\n  } else {\n    let %y = %x;\n    %y\n  }" },
    { "%3 = if (%c) { %2 = exp(%x); %2 } else { %x }; %3",
      "if (%c) {\n    exp(%x)\n  } else {\n    %x\n  }" },
    { "%3 = if (%c) { %2 = exp(%x); f(%2, %2) } else { %x }; g(%3, %3)",
      "%1 = if (%c) {\n    %0 = exp(%x);\n    f(%0, %0)\n  } else {\n    %x\n  };\n  g(%1, %1)" },
    { "fn (%y: int32) -> int32 { add(%y, 1) }", "fn (%y: int32) -> int32 {\n    add(%y, 1)\n  }" },
    { "(fn (%y) { %y })(%x)", "%0 = fn (%y) {\n    %y\n  };\n  %0(%x)" },
    { "let %r = ref(%x); ref_write(%r, exp(ref_read(%r))); ref_read(%r)",
      "let %r = ref(%x);\n  %0 = ref_read(%r);\n  %1 = exp(%0);\n  let %_ = ref_write(%r, %1);\n  ref_read(%r)" },
    { "let %r = ref(%x); (%r := %x); %r^", "let %r = ref(%x);\n  let %_ = ref_write(%r, %x);\n  ref_read(%r)" },
    { "[1, 2]", "%0 = (1, 2);\n  stack(%0, axis=0)" },
    { "-%x", "negative(%x)" },
    { "f(%x) /* outer /* inner */ still outer **/ // tail", "f(%x)" },
    { "exp(%x,);; nn . relu (%x)", "let %_ = exp(%x);\n  nn.relu(%x)" },
};

static void nested_expressions_become_bindings_in_their_order(void **state)
{
    tg_fixture *f = *state;
    static const char sign[] = "def @main(%x: Tensor[(3), float32], %t: (int32, (int32, int32)), %c: bool) {\n  ";
    for (size_t i = 0; i < TG_COUNT(bodies); ++i)
        expect(f, tg_format(f->cx, HEAD "%s%s\n}\n", sign, bodies[i].body), tg_format(f->cx, HEAD "%s%s\n}\n", sign, bodies[i].printed));
}

static const struct { const char *text, *printed; } scalars[] = {
    { "7", "7" }, { "-2147483648", "-2147483648" }, { "2147483648", "2147483648i64" }, { "-7i64", "-7i64" }, { "7i16", "7i16" },
    { "7 /* ty=int64 */", "7i64" }, { "0.1 /* ty=float32 */", "0.1f" }, { "0.1", "0.1f64" }, { "1e-05f", "1e-05f" },
    { "0.00392157f", "0.00392157f" }, { "1f16", "1f16" }, { "0.333251953125f16", "0.3333f16" }, { "-0f", "-0f" }, { "inff", "inff" }, { "-inff64", "-inff64" },
    { "nanf", "nanf" }, { "nanf16", "nanf16" }, { "True", "True" }, { "2.5f64", "2.5f64" }, { "3.4028235e38f", "3.4028235e+38f" },
    { "16777217f", "16777216f" }, { "0.1000000014901161193847656250001f", "0.1f" }, { "-9223372036854775808i64", "-9223372036854775808i64" },
    { "inf", "inff64" }, { "--nan", "nanf64" },
};

static void literals_have_the_type_and_value_of_their_text(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(scalars); ++i)
        expect(f, tg_format(f->cx, HEAD "def @main() {\n  %s\n}\n", scalars[i].text),
               tg_format(f->cx, HEAD "def @main() {\n  %s\n}\n", scalars[i].printed));
}

/* ---- names ---- */

static const char *const odd_names[] = {
    "conv1/kernel:0", "v0.weight", "v1-in", "input layer", "a;b", "x[0]", "data,1", "onnx::LSTM_115", "serving_default_input_1:0",
    "w.0", "0.weight", "1x", "a//b", "f (1)", "x:0:1", "caf\xc3\xa9", "a=b", "model/re_lu/Relu;model/conv2d/BiasAdd", "v", "_x", "/a",
    "x.", "a.b.c.0", "a+b*c", "n#1", "a\"b", "let", "fn", "def"
};

static void names_of_any_frontend_are_read_and_kept(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(odd_names); ++i) {
        const char *n = odd_names[i];
        const char *text = tg_format(f->cx, HEAD "def @main(%%p: int32, %%%s: Tensor[(3), float32]) -> int32 {\n  %%0 = add(%%%s, %%p);\n"
                                                 "  %%1 = (%%%s, %%0);\n  %%2 = %%1.0;\n  f(%%%s, %%2)\n}\n", n, n, n, n);
        tg_module *m = parse(f, text);
        if (m == NULL)
            fail_msg("%s\n%s", text, tg_text_z(&f->log));
        assert_string_equal(m->funcs.at[0]->param[1]->name->text, n);
        const char *why;
        tg_text t = tg_text_new(f->cx);
        tg_print_relay(&t, m);
        tg_module *again = parse(f, tg_text_z(&t));
        if (again == NULL || !tg_module_equal(f->cx, m, again, &why))
            fail_msg("%s\n%s", tg_text_z(&t), tg_text_z(&f->log));
    }
}

static void the_longest_name_in_scope_wins_over_a_projection(void **state)
{
    expect(*state, HEAD "def @f(%w: (int32, int32), %w.0: int32) {\n  add(%w.0, %w.1)\n}\n\ndef @main(%w: (int32, int32)) {\n  %w.0\n}\n",
           HEAD "def @f(%w: (int32, int32), %w.0: int32) {\n  %0 = %w.1;\n  add(%w.0, %0)\n}\n\ndef @main(%w: (int32, int32)) {\n  %w.0\n}\n");
}

static void hand_written_declarations_need_no_blanks(void **state)
{
    expect(*state, HEAD "def @main(%a:int8,%b:Tensor[(3),float32],%c/*x*/:(int8,int8),axis=1){let %d=%a;add(%d,%c.0)}",
           HEAD "def @main(%a: int8, %b: Tensor[(3), float32], %c: (int8, int8), axis=1) {\n  let %d = %a;\n  %0 = %c.0;\n  add(%d, %0)\n}\n");
}

static void names_end_with_their_scope(void **state)
{
    tg_fixture *f = *state;
    expect_error(f, HEAD "def @main(%c: bool) { if (%c) { let %a:0 = 1; %a:0 } else { %a } }", "%a is not declared here");
    expect_error(f, HEAD "def @main(%c: bool) { let %f = fn (%a) { %a }; %a }", "%a is not declared here");
    expect_error(f, HEAD "def @main(%c: bool) { let %a = %a; %a }", "%a is not declared here");
    expect_error(f, HEAD "def @main(%c: bool) { %1 = if (%c) { %0 = f(%c); %0 } else { %c }; %0 }", "%0 is only known within the block");
    expect_error(f, HEAD "def @f(%c: bool) { %0 = f(%c); %0 }\ndef @main() { %0 }", "%0 is only known within the block");
    expect_error(f, HEAD "def @main() { %9 }", "%9 is not defined");
}

/* ---- definitions ---- */

static void functions_types_and_matches_are_read(void **state)
{
    static const char text[] = HEAD
        "type Chain[A] {\n  Stop,\n  Link(A, Chain[A]),\n}\n\nextern type Blob[B]\n\n"
        "def @len[A](%c: Chain[A], %b: Blob[int32]) -> int32 {\n  match (%c) {\n    Stop => {\n      0\n    },\n"
        "    Link(_, %rest: Chain[A]) => {\n      %0 = @len(%rest, %b);\n      add(1, %0)\n    },\n    _ => {\n      %2 = match? (%c) {\n"
        "        Link((%p, %q:0), %r) => {\n          %1 = (%p, %q:0, %r);\n          g(%1)\n        },\n      };\n      h(%2)\n    },\n  }\n}\n\n"
        "def @main(%k: float32, %x: Tensor[(2), float32], Compiler=\"ext\", tir.noalias=True, \"odd key\"=[1, 2i64, [], None]) -> ref(int32) {\n"
        "  let %f: fn (Tensor[(2), float32]) -> Tensor[(2), float32] = fn [T](%v: Tensor[(2), float32], %w: T) -> Tensor[(2), float32] {\n"
        "    %3 = %f(%v);\n    multiply(%3, %k)\n  };\n  %4 = Link(%x, Stop);\n  %5 = @len(%4, %k);\n  %f(%5)\n}\n";
    expect(*state, text, text);
}

static void braces_around_arms_and_bodies_are_optional_where_they_were(void **state)
{
    expect(*state, HEAD "type T { A, B(int32,), }\ndef @main(%x: T) { match (%x) { A => 0, B(%y) => { %y }, } }",
           HEAD "type T {\n  A,\n  B(int32),\n}\n\ndef @main(%x: T[]) {\n  match (%x) {\n    A => {\n      0\n    },\n    B(%y) => {\n      %y\n    },\n  }\n}\n");
}

static void a_bare_expression_is_main_of_its_free_variables(void **state)
{
    expect(*state, HEAD "free_var %u: Tensor[(2), float32];\nfree_var %v: Tensor[(2), float32]\nmaximum(%u, %v)",
           HEAD "def @main(%u: Tensor[(2), float32], %v: Tensor[(2), float32]) {\n  maximum(%u, %v)\n}\n");
    expect(*state, HEAD "fn (%u: int32, k=1) -> int32 { %u } /* ty=fn (int32) -> int32 */",
           HEAD "def @main(%u: int32, k=1) -> int32 {\n  %u\n}\n");
    expect_error(*state, HEAD "def @main() { free_var %x; %x }", "free_var %x within a function");
}

static void attribute_values_of_every_kind_are_kept(void **state)
{
    expect(*state, HEAD "def @main(%x: int32) {\n  f(%x, a=1f, b=1e-05f, c=\"a\\\"b\\n*/\\x41\\101\", d=(1, 2), type=None, fn.x=nullptr, g='name', h=@main,"
           " dev=VirtualDevice(device_type=1, target=Target(kind='c', keys={'cpu'})), m={a=1, \"b c\": 2f64}, start=%x /* ty=int32 */, i=inff, j=float32)\n}\n",
           HEAD "def @main(%x: int32) {\n  f(%x, a=1f, b=1e-05f, c=\"a\\\"b\\n*/AA\", d=[1, 2], type=None, fn.x=None, g='name', h='main',"
           " dev=VirtualDevice(device_type=1, target=Target(kind='c', keys={'cpu'})), m={a: 1, \"b c\": 2f64}, i=inff, j=\"float32\")\n}\n");
}

static void types_of_every_kind_are_read(void **state)
{
    static const char text[] = HEAD "def @main(%a: Tensor[(2i64, ?, 3), int8], %b: (int32, (bool,), ()), %c: fn (int32, fn () -> bool) -> (), %d: float16) -> "
                                    "Tensor[(6), uint8] {\n  %a\n}\n";
    expect(*state, text, text);
    expect(*state, HEAD "def @main(%a: Tensor[(6,), int8], %b: (int32), %c: Tensor[(), bool], %d: _, %e: meta[IncompleteType][0]) -> _ { %a }",
           HEAD "def @main(%a: Tensor[(6), int8], %b: int32, %c: bool, %d, %e) {\n  %a\n}\n");
}

/* ---- old texts ---- */

static void the_first_versions_are_read_too(void **state)
{
    expect(*state, "v0.0.4\ndef @main(%x: Tensor[(2), int64]) -> Tensor[(2), int64] {\n  add(%x, 7 /* ty=int64 */) /* ty=Tensor[(2), int64] */\n}\n"
           "// meta data omitted. you can use show_meta_data=True to include meta data",
           HEAD "def @main(%x: Tensor[(2), int64]) -> Tensor[(2), int64] {\n  add(%x, 7i64)\n}\n");
    tg_module *m = expect(*state, HEAD "attributes {\n  'k' = \"}\"\n}\ndef @main(%x: int32) { nn.relu(%x) /* a/b.c */ /* ty=int32 */ }\r\n",
                          HEAD "def @main(%x: int32) {\n  nn.relu(%x) /* span=a/b.c:0:0 */\n}\n");
    assert_string_equal(m->funcs.at[0]->body->kid[0]->kid[0]->u.call->layer->text, "a/b.c");
}

static void tir_functions_in_the_old_form_are_skipped(void **state)
{
    tg_fixture *f = *state;
    static const char prim[] = HEAD "@f = primfn(x: handle) -> ()\n  attr = {}\n  block([], \"root\") {\n  x = 1\n}\n\n";
    expect(f, tg_format(f->cx, "%sdef @main(%%x: int32) { %%x }", prim), HEAD "def @main(%x: int32) {\n  %x\n}\n");
    assert_non_null(strstr(tg_text_z(&f->log), "TIR function @f is skipped"));
}

/* ---- annotations ---- */

static void layers_are_taken_from_comments_whatever_they_hold(void **state)
{
    static const char *const layers[] = { "/0/Conv", "a;b/c;d", "a*/b", "x/*y", "n[0], \"q\" span=z", "a:1", "caf\xc3\xa9" };
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(layers); ++i) {
        tg_module *m = parse(f, tg_format(f->cx, HEAD "def @main(%%x: int32) { exp(%%x) /* ty=int32 span=%s:12:3 */ }\n/* more */", layers[i]));
        if (m == NULL)
            fail_msg("%s\n%s", layers[i], tg_text_z(&f->log));
        const tg_node *call = m->funcs.at[0]->body->kid[0]->kid[0];
        assert_string_equal(call->u.call->layer->text, layers[i]);
        assert_string_equal(tg_type_text(f->cx, tg_relay_annotated_type(f->cx, call->span)), "int32");
    }
}

static void places_of_calls_are_their_text(void **state)
{
    tg_fixture *f = *state;
    static const char text[] = HEAD "def @main(%x: int32) {\n  add(%x, exp(%x))\n}\n";
    tg_module *m = parse(f, text);
    const tg_node *block = m->funcs.at[0]->body;
    tg_span inner = block->kid[0]->kid[0]->span, outer = block->kid[1]->kid[0]->span;
    assert_memory_equal(text + inner.begin, "exp(%x)", inner.end - inner.begin);
    assert_memory_equal(text + outer.begin, "add(%x, exp(%x))", outer.end - outer.begin);
    assert_int_equal(outer.end - outer.begin, 16);
}

/* ---- constants ---- */

static void the_same_reference_is_the_same_tensor(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = parse(f, HEAD "def @main() { add(meta[relay.Constant][0], meta[relay.Constant][0]) }\n#[metadata]\n"
        "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]}, {\"type_key\": \"Array\","
        " \"data\": [3]}, {\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"0\"}}], \"b64ndarrays\": ["
        "\"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM=\"]}");
    assert_non_null(m);
    const tg_node *call = m->funcs.at[0]->body->kid[0]->kid[0];
    assert_ptr_equal(call->kid[0]->u.tensor, call->kid[1]->u.tensor);
    assert_int_equal(tg_tensor_i64(call->kid[0]->u.tensor, 0), 3);
}

static void constants_that_the_text_lacks_become_parameters(void **state)
{
    expect(*state, HEAD "def @h(%p: int8) {\n  add(%p, meta[relay.Constant][2] /* ty=int8 */)\n}\n"
                        "def @main(%q: int8) {\n  %1 = @h(%q);\n  multiply(@h(%1), meta[relay.Constant][0] /* ty=Tensor[(2), int8] span=a:0:0 */)\n}\n",
           HEAD "def @h(%p: int8, %constant_2: int8) {\n  add(%p, %constant_2)\n}\n\n"
                "def @main(%q: int8, %constant_0: Tensor[(2), int8], %constant_2: int8) {\n  %0 = @h(%q, %constant_2);\n"
                "  %1 = @h(%0, %constant_2);\n  multiply(%1, %constant_0)\n}\n");
    assert_non_null(strstr(tg_text_z(&((tg_fixture *)*state)->log), "became parameters constant_0 to constant_2 of @main"));
    expect_error(*state, HEAD "def @main(%x: int32) { add(%x, meta[relay.Constant][0]) }", "no comment says the type");
}

/* ---- errors ---- */

static const struct { const char *text, *message; } wrong[] = {
    { "def @main(%x: int32) { f(%x, a=1, a=2) }", "attribute a is given twice" },
    { "def @main(%x: int32, %x: int32) { %x }", "parameter %x is declared twice" },
    { "def @main() { () }\ndef @main() { () }", "function @main is defined twice" },
    { "def @main(%x: int32) { map(add, %x) }", "add is an operator" },
    { "def @main(%x: Tensor[(3), float33]) { %x }", "float33 is not an element type" },
    { "def @main(%x: Tensor[(-3), int8]) { %x }", "an extent must be a non-negative integer" },
    { "def @main(%x: Tensor[(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), int8]) { %x }", "a tensor of 17 dimensions" },
    { "def @main() { 99999999999999999999 }", "does not fit 64 bits" },
    { "def @main() { 300i8 }", "does not fit its type" },
    { "def @main() { 3000000000i32 }", "does not fit its type" },
    { "def @main() { 1f17 }", "no such number type" },
    { "def @main() { f(\"a) }", "this string is not closed" },
    { "def @main() { /* f() }", "this comment is not closed" },
    { "def @main() { % }", "a variable's name was expected" },
    { "def @main() { $ }", "'$' cannot stand here" },
    { "type T { A(int32) }\ndef @main() { A(1, 2) }", "A has 1 field, 2 are given" },
    { "type T { A(int32) }\ndef @main(%x: T) { match (%x) { A => 1 } }", "A has 1 field, the pattern has 0" },
    { "def @main(%x: int32) { match (%x) { Q(_) => 1 } }", "no type has a constructor Q" },
    { "def @main(%x: List[int32]) { %x }", "type List is not defined" },
    { "type T[A] { B }\ndef @main(%x: T) { %x }", "type T takes 1 argument, 0 are given" },
    { "def @main(%x: int32) { trilu(%x, meta[relay.attrs.TriluAttrs][0]) }", "the text has no metadata section" },
    { "def @main(%x: int32) { %x }\n#[metadata]\nnone", "metadata: lexical error" },
    { "def @main(%x: int32) { %x", "unexpected end of text" },
};

static void mistakes_are_told_with_their_reason(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(wrong); ++i)
        expect_error(f, tg_format(f->cx, HEAD "%s", wrong[i].text), wrong[i].message);
    expect_error(f, "#[version = \"0.1.0\"]\ndef @main() { () }", "version \"0.1.0\"");
}

static void one_run_shows_the_mistakes_of_several_functions(void **state)
{
    tg_fixture *f = *state;
    expect_error(f, HEAD "def @f(%x: int32) {\n  add(%x,, 1)\n}\ndef @g(%x: int32) {\n  %x +\n}\ndef @main() {\n  @f(%y)\n}\n", "a.relay:3:10");
    assert_non_null(strstr(tg_text_z(&f->log), "a.relay:7:1"));
    assert_non_null(strstr(tg_text_z(&f->log), "%y is not declared here"));
}

static void a_rejected_text_leaves_the_module_as_it_was(void **state)
{
    tg_fixture *f = *state;
    tg_module *m = tg_module_new(f->cx);
    static const char text[] = "def @f() { () }\ndef @g() { %h }";
    assert_false(tg_parse_relay(f->cx, m, tg_source_add(f->cx, "a.relay", text, strlen(text))));
    assert_int_equal(m->funcs.n, 0);
}

/* ---- size ---- */

static const char *repeat(tg_fixture *f, const char *open, const char *middle, const char *close, int n)
{
    tg_text t = tg_text_new(f->cx);
    tg_puts(&t, HEAD "def @main(%x: Tensor[(3), float32], %c: bool) {\n");
    for (int i = 0; i < n; ++i) tg_puts(&t, open);
    tg_puts(&t, middle);
    for (int i = 0; i < n; ++i) tg_puts(&t, close);
    tg_puts(&t, "\n}\n");
    return tg_text_z(&t);
}

static const struct { const char *open, *middle, *close; } deep[] = {
    { "exp(", "%x", ")" }, { "(", "%x", ")" }, { "(", "%x", ",)" }, { "if (%c) { ", "%x", " } else { %x }" }, { "fn (%y) { ", "%x", "}" },
    { "let %y = ( ", "%x", "); %y" }, { "(%x + ", "%x", ")" }, { "match (%x) { _ => ", "%x", "}" },
};

/* What tg_fail() leaves as, or OK. */
static tirgen_status status_of(tg_fixture *f, const char *text)
{
    if (TG_UNWIND(f))
        return f->cx->failure;
    return parse(f, text) != NULL ? TIRGEN_OK : TIRGEN_EINPUT;
}

static void ten_thousand_levels_are_read_and_more_are_refused(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(deep); ++i) {
        assert_int_equal(status_of(f, repeat(f, deep[i].open, deep[i].middle, deep[i].close, 10000)), TIRGEN_OK);
        tg_test_clear_log(f);
        assert_int_equal(status_of(f, repeat(f, deep[i].open, deep[i].middle, deep[i].close, 30000)), TIRGEN_ELIMIT);
        assert_non_null(strstr(tg_text_z(&f->log), "nested"));
    }
}

static void long_chains_are_read_without_recursion(void **state)
{
    tg_fixture *f = *state;
    tg_text t = tg_text_new(f->cx);
    enum { N = 50000 };
    tg_puts(&t, HEAD "def @main(%x.0: Tensor[(3), float32]) {\n");
    for (int i = 0; i < N; ++i)
        tg_printf(&t, "  let %%x.%d = exp(%%x.%d);\n  %%%d = exp(%%x.%d);\n", i + 1, i, i, i + 1);
    tg_puts(&t, "  %7\n}\n");
    tg_module *m = parse(f, tg_text_z(&t));
    assert_non_null(m);
    assert_int_equal(m->funcs.at[0]->body->nkids, 2 * N + 1);
}

/* Every byte at which a text may end: a diagnostic or a module, and reading stops within the text. */
static void a_text_may_end_anywhere(void **state)
{
    tg_fixture *f = *state;
    static const char text[] = HEAD "type T {\n  A,\n  B(int32),\n}\ndef @main(%a:0: Tensor[(3), float32] /* ty=int32 span=a:0:0 */, k=\"\\x41\") -> int32 {\n"
        "  %0 = nn.relu(%a:0, axis=[1, -2i64], s='q') /* ty=Tensor[(3), float32] span=b/c:0:0 */;\n  let %y = match? (%0) { B(%z) => { 1f }, _ => -nanf };\n"
        "  if (True) { %0.1 } else { meta[relay.Constant][0] }\n}\n#[metadata]\n{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\"}]}\n";
    for (size_t n = 0; n < sizeof text; ++n) {
        char *copy = tg_copy(f->cx, text, n);       /* fenced off under AddressSanitizer */
        bool good = tg_parse_relay(f->cx, tg_module_new(f->cx), tg_source_add(f->cx, "a.relay", copy, n));
        assert_true(good || f->cx->nerrors > 0);
        tg_test_clear_log(f);
    }
}

/* All features at once, with an allocator that gives ever more blocks before it fails. */
static tirgen_status within(tg_test_budget *budget, jmp_buf *jump)
{
    static const char text[] = HEAD "def @main(%a:0: Tensor[(3), float32], k=\"x\") {\n  %0 = if (True) { f(%a:0, meta[relay.Constant][0]) } else { %a:0 };\n"
        "  g(%0, a=[1, {b: 2}]) /* ty=int8 span=s:0:0 */\n}\n#[metadata]\n{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", "
        "\"keys\": [\"relay.Constant\"], \"data\": [2]}, {\"type_key\": \"Array\", \"data\": [3]}, {\"type_key\": \"relay.Constant\", "
        "\"attrs\": {\"data\": \"0\"}}], \"b64ndarrays\": [\"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM=\"]}";
    tg_allocator from = tg_test_allocator(budget);
    tg_ctx *cx = tg_ctx_new(&from);
    if (cx == NULL)
        return TIRGEN_ENOMEM;
    volatile tirgen_status status = TIRGEN_EINPUT;
    cx->unwind = jump;
    if (setjmp(*jump) != 0)
        status = cx->failure;
    else if (tg_parse_relay(cx, tg_module_new(cx), tg_source_add(cx, "a.relay", text, sizeof text - 1)))
        status = TIRGEN_OK;
    tg_ctx_free(cx);
    return status;
}

static void running_out_of_memory_at_any_point_leaves_nothing_behind(void **state)
{
    tg_fixture *f = *state;
    tirgen_status status = TIRGEN_ENOMEM;
    for (long n = 0; status != TIRGEN_OK; ++n) {
        assert_true(n < 100);
        tg_test_budget budget = { n, 0 };
        status = within(&budget, &f->jump);
        assert_true(status == TIRGEN_OK || status == TIRGEN_ENOMEM);
        assert_int_equal(budget.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nested_expressions_become_bindings_in_their_order, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(literals_have_the_type_and_value_of_their_text, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(names_of_any_frontend_are_read_and_kept, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_longest_name_in_scope_wins_over_a_projection, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(hand_written_declarations_need_no_blanks, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(names_end_with_their_scope, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(functions_types_and_matches_are_read, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(braces_around_arms_and_bodies_are_optional_where_they_were, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_bare_expression_is_main_of_its_free_variables, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(attribute_values_of_every_kind_are_kept, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(types_of_every_kind_are_read, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_first_versions_are_read_too, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(tir_functions_in_the_old_form_are_skipped, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(layers_are_taken_from_comments_whatever_they_hold, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(places_of_calls_are_their_text, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(the_same_reference_is_the_same_tensor, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(constants_that_the_text_lacks_become_parameters, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_told_with_their_reason, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(one_run_shows_the_mistakes_of_several_functions, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_rejected_text_leaves_the_module_as_it_was, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(ten_thousand_levels_are_read_and_more_are_refused, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(long_chains_are_read_without_recursion, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(a_text_may_end_anywhere, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(running_out_of_memory_at_any_point_leaves_nothing_behind, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
