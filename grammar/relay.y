/* relay.y: the grammar of Relay text, all versions in one (relay-text.md). Each action is one call of a builder of
 * relay_build.h: the grammar says what the text is, not what it means. Nothing here recurses with the length of a text;
 * how deep it may nest is the scanner's limit. */
%code requires {
#include "relay_build.h"
}
%code {
#include "ir/text.h"

/* The parser's stacks live in the scratch arena; what it has outgrown is left behind. A level of nesting takes at most
 * twelve entries, so the scanner's limit comes first, but for chains of the old unary minus. */
#define YYMALLOC(size) tg_temp(p->cx, (size))
#define YYFREE(at) ((void)(at))
#define YYMAXDEPTH (20 * TG_MAX_NESTING)
#define YYLLOC_DEFAULT(current, rhs, n) \
    do { \
        if ((n) > 0) { \
            (current).span = tg_span_join(YYRHSLOC(rhs, 1).span, YYRHSLOC(rhs, n).span); \
            (current).note = YYRHSLOC(rhs, n).note; \
        } else { \
            uint32_t end_ = YYRHSLOC(rhs, 0).span.end; \
            (current).span = (tg_span){ p->t.src->id, end_, end_ }; \
            (current).note = 0; \
        } \
    } while (0)
}
%code provides {
int tg_relay_lex(TG_RELAY_STYPE *value, tg_relay_loc *at, void *scanner);
void tg_relay_error(const tg_relay_loc *at, tg_relay *p, void *scanner, const char *message);
}

%define api.pure full
%define api.prefix {tg_relay_}
%define api.location.type {tg_relay_loc}
%define parse.error custom
%parse-param { tg_relay *p } { void *scanner }
%lex-param { void *scanner }
%initial-action { @$ = (tg_relay_loc){ { p->t.src->id, 0, 0 }, 0 }; }
%expect 0

%union {
    const tg_name *name;
    const tg_relay_number *number;
    const tg_node *node;
    const tg_type *type;
    const tg_value *value;
    const tg_func *func;
    const void *any;
}

%token END 0 "end of text"
%token START_TYPE "a type" BAD "invalid text"
%token <name> VERSION "version"
%token DEF "def" TYPE "type" EXTERN "extern" LET "let" FN "fn" IF "if" ELSE "else" MATCH "match" MATCH_PARTIAL "match?"
%token FREE_VAR "free_var" REF "ref" REF_READ "ref_read" REF_WRITE "ref_write" TENSOR "Tensor" TRUE "True" FALSE "False"
%token ARROW "->" FAT_ARROW "=>" EQ "==" NE "!=" LE "<=" GE ">=" ASSIGN ":="
%token <name> LOCAL "variable" GRAPH "numbered variable" GET "projection"
%token <name> GLOBAL "function name" GLOBAL_DEF "function name before ="
%token <name> WORD "name" KEY "attribute name" STRING "string" QUOTED "quoted name" META "metadata reference"
%token <name> META_ATTRS "reference to attributes in metadata" TARGET "target"
%token PRIMFN "TIR function"
%token <number> NUMBER "number"

/* "free_var %x: List" without a semicolon, then "[": the brackets belong to the type. */
%precedence BARE_NAME
%precedence '['

%type <node> seq seqexpr expr match equality relational additive multiplicative unary postfix atom paren block arm_body pattern
%type <type> opt_type type ret type_ret
%type <value> attrval
%type <name> name local_name map_key
%type <func> fnrest

%%
file: header definitions
    | header begin_main seq                     { tg_relay_end_main(p, @3, $3); }
    | START_TYPE type                           { p->type = $2; }
    ;
header: %empty                                  { tg_relay_version(p, @$, NULL); }
    | VERSION                                   { tg_relay_version(p, @1, $1); }
    ;
begin_main: %empty                              { tg_relay_begin_main(p); }
    ;

/* ---- definitions ---- */
definitions: %empty
    | definitions definition
    | definitions error                         { tg_relay_recovered(p); yyclearin; yyerrok; }
    ;
definition: DEF GLOBAL begin_fn fnrest          { tg_relay_define_fn(p, @2, $4); }
    | DEF GLOBAL_DEF '=' META                   { tg_relay_skip_fn(p, @2, $2); }
    | GLOBAL_DEF '=' PRIMFN                     { tg_relay_skip_fn(p, @1, $1); }
    | PRIMFN                                    { tg_relay_skip_fn(p, @1, NULL); }
    | TYPE WORD begin_adt type_params '{' ctors '}'     { tg_relay_end_adt(p, @2, $2); }
    | EXTERN TYPE WORD begin_adt type_params semicolon  { tg_relay_end_adt(p, @3, $3); }
    ;
begin_fn: %empty                                { tg_relay_begin_fn(p, @0, $<name>0); }
    ;
begin_adt: %empty                               { tg_relay_begin_adt(p, @0, $<name>0); }
    ;
semicolon: %empty
    | ';'
    ;
ctors: %empty
    | ctor
    | ctor_list ',' ctor
    | ctor_list ','
    ;
ctor_list: ctor
    | ctor_list ',' ctor
    ;
ctor: WORD                                      { tg_relay_open(p); tg_relay_ctor(p, @1, $1); }
    | WORD '(' open types ')'                   { tg_relay_ctor(p, @1, $1); }
    ;

/* ---- functions ---- */
fnrest: type_params '(' params ')' ret '{' begin_block seq '}'
                                                { $$ = tg_relay_end_fn(p, @$, $5, tg_relay_end_block(p, @8, $8)); }
    ;
type_params: %empty
    | '[' open names comma ']'                  { tg_relay_type_params(p); }
    ;
names: name                                     { tg_relay_push_name(p, $1); }
    | names ',' name                            { tg_relay_push_name(p, $3); }
    ;
comma: %empty
    | ','
    ;
params: %empty
    | param_list comma
    ;
param_list: param
    | param_list ',' param
    ;
param: local_name device opt_type               { tg_relay_param(p, @1, $1, $3); }
    | attr
    ;
local_name: LOCAL
    | GRAPH
    ;
device: %empty
    | '{' KEY '=' attrval '}'
    ;
opt_type: %empty                                { $$ = NULL; }
    | ':' type                                  { $$ = $2; }
    ;
ret: %empty                                     { $$ = NULL; }
    | ARROW type                                { $$ = $2; }
    ;
block: '{' begin_block seq '}'                  { $$ = tg_relay_end_block(p, @3, $3); }
    ;
begin_block: %empty                             { tg_relay_begin_block(p); }
    ;

/* ---- bindings: any number, and then the result ---- */
seq: stmts expr                                 { $$ = $2; @$ = @2; }
    ;
stmts: %empty
    | stmts stmt
    ;
stmt: LET local_name device opt_type '='        { tg_relay_begin_let(p, @2, $2, $4); }
      seqexpr ';'                               { tg_relay_end_let(p, @7, $7); }
    | GRAPH '=' expr ';'                        { tg_relay_define(p, @1, $1, @3, $3); }
    | FREE_VAR local_name device opt_type semicolon     { tg_relay_free_var(p, @2, $2, $4); }
    | expr ';'                                  { tg_relay_statement(p, @1, $1); }
    ;
seqexpr: expr
    | '{' begin_scope seq '}'                   { tg_relay_end_scope(p); $$ = $3; @$ = @3; }
    ;
begin_scope: %empty                             { tg_relay_begin_scope(p); }
    ;

/* ---- expressions ---- */
expr: equality
    | match
    ;
equality: relational
    | equality EQ left relational               { $$ = tg_relay_infix(p, @$, "equal", @4, $4); }
    | equality NE left relational               { $$ = tg_relay_infix(p, @$, "not_equal", @4, $4); }
    ;
relational: additive
    | relational '<' left additive              { $$ = tg_relay_infix(p, @$, "less", @4, $4); }
    | relational LE left additive               { $$ = tg_relay_infix(p, @$, "less_equal", @4, $4); }
    | relational '>' left additive              { $$ = tg_relay_infix(p, @$, "greater", @4, $4); }
    | relational GE left additive               { $$ = tg_relay_infix(p, @$, "greater_equal", @4, $4); }
    ;
additive: multiplicative
    | additive '+' left multiplicative          { $$ = tg_relay_infix(p, @$, "add", @4, $4); }
    | additive '-' left multiplicative          { $$ = tg_relay_infix(p, @$, "subtract", @4, $4); }
    ;
multiplicative: unary
    | multiplicative '*' left unary             { $$ = tg_relay_infix(p, @$, "multiply", @4, $4); }
    | multiplicative '/' left unary             { $$ = tg_relay_infix(p, @$, "divide", @4, $4); }
    ;
left: %empty                                    { tg_relay_left(p, @-1, $<node>-1); }
    ;
unary: postfix
    | '-' unary                                 { $$ = tg_relay_call1(p, @$, "negative", tg_relay_atom(p, @2, $2)); }
    ;
postfix: atom
    | postfix GET                               { $$ = tg_relay_get(p, @$, tg_relay_atom(p, @1, $1), $2); }
    | postfix '('                               { $<node>$ = tg_relay_callee(p, @1, $1); }
      open args ')'                             { $$ = tg_relay_call(p, @$, $<node>3); }
    | postfix '^'                               { tg_relay_open(p); tg_relay_push(p, @1, $1); $$ = tg_relay_ref(p, @$, 1); }
    ;
atom: NUMBER                                    { $$ = tg_relay_literal(p, @1, $1); }
    | TRUE                                      { $$ = tg_relay_truth(p, @1, true); }
    | FALSE                                     { $$ = tg_relay_truth(p, @1, false); }
    | LOCAL                                     { $$ = tg_relay_local(p, @1, $1); }
    | GRAPH                                     { $$ = tg_relay_graph(p, @1, $1); }
    | GLOBAL                                    { $$ = tg_relay_global(p, @1, $1); }
    | META                                      { $$ = tg_relay_meta(p, @1, $1); }
    | WORD                                      { $$ = tg_relay_opname(p, @1, $1); }
    | FN begin_fn_value fnrest                  { $$ = tg_relay_fn_value(p, @$, $3); }
    | IF '(' expr ')'                           { tg_relay_open(p); tg_relay_push(p, @3, $3); }
      block ELSE block                          { $$ = tg_relay_if(p, @$, $6, $8); }
    | REF '(' open operand ')'                  { $$ = tg_relay_ref(p, @$, 0); }
    | REF_READ '(' open operand ')'             { $$ = tg_relay_ref(p, @$, 1); }
    | REF_WRITE '(' open operand ',' operand ')'        { $$ = tg_relay_ref(p, @$, 2); }
    | '[' open operands comma ']'               { $$ = tg_relay_stack(p, @$); }
    | paren
    ;
begin_fn_value: %empty                          { tg_relay_begin_fn(p, @0, NULL); }
    ;
paren: '(' begin_scope ')'                      { tg_relay_end_scope(p); tg_relay_open(p); $$ = tg_relay_tuple(p, @$); }
    | '(' begin_scope stmts expr ')'            { tg_relay_end_scope(p); $$ = $4; }
    | '(' begin_scope stmts expr ','            { tg_relay_open(p); tg_relay_push(p, @4, $4); }
      more_operands ')'                         { tg_relay_end_scope(p); $$ = tg_relay_tuple(p, @$); }
    | '(' begin_scope stmts expr ASSIGN         { tg_relay_open(p); tg_relay_push(p, @4, $4); }
      operand ')'                               { tg_relay_end_scope(p); $$ = tg_relay_ref(p, @$, 2); }
    ;
more_operands: %empty
    | operands comma
    ;
operands: operand
    | operands ',' operand
    ;
operand: expr                                   { tg_relay_push(p, @1, $1); }
    ;
open: %empty                                    { tg_relay_open(p); }
    ;
args: %empty
    | arg_list comma
    ;
arg_list: arg
    | arg_list ',' arg
    ;
arg: operand
    | attr
    | META_ATTRS                                { tg_relay_attrs_of(p, @1, $1); }
    ;
match: MATCH '(' expr ')' begin_match '{' arms '}'      { $$ = tg_relay_end_match(p, @$, false); }
    | MATCH_PARTIAL '(' expr ')' begin_match '{' arms '}'       { $$ = tg_relay_end_match(p, @$, true); }
    ;
begin_match: %empty                             { tg_relay_begin_match(p, @-1, $<node>-1); }
    ;
arms: %empty
    | arm_list comma
    ;
arm_list: arm
    | arm_list ',' arm
    ;
arm: begin_arm pattern FAT_ARROW arm_body       { tg_relay_end_arm(p, @$, $2, $4); }
    ;
begin_arm: %empty                               { tg_relay_begin_arm(p); }
    ;
arm_body: block
    | begin_block expr                          { $$ = tg_relay_end_block(p, @2, $2); }
    ;
pattern: '_'                                    { $$ = tg_relay_wildcard(p, @1); }
    | local_name opt_type                       { $$ = tg_relay_pattern_var(p, @1, $1, $2); }
    | WORD                                      { tg_relay_open(p); $$ = tg_relay_pattern(p, @1, $1, false); }
    | WORD '(' open patterns ')'                { $$ = tg_relay_pattern(p, @$, $1, false); }
    | '(' open patterns ')'                     { $$ = tg_relay_pattern(p, @$, NULL, true); }
    ;
patterns: %empty
    | pattern_list comma
    ;
pattern_list: pattern                           { tg_relay_push_node(p, $1); }
    | pattern_list ',' pattern                  { tg_relay_push_node(p, $3); }
    ;

/* ---- attributes ---- */
attr: KEY '=' attrval                           { tg_relay_push_attr(p, @$, $1, $3); }
    | STRING '=' attrval                        { tg_relay_push_attr(p, @$, $1, $3); }
    ;
attrval: NUMBER                                 { $$ = tg_relay_number_value(p, @1, $1); }
    | TRUE                                      { $$ = tg_v_bool(p->cx, true); }
    | FALSE                                     { $$ = tg_v_bool(p->cx, false); }
    | STRING                                    { $$ = tg_v_str(p->cx, $1); }
    | QUOTED                                    { $$ = tg_relay_global_value(p, $1); }
    | GLOBAL                                    { $$ = tg_relay_global_value(p, $1); }
    | META                                      { $$ = tg_relay_meta_value(p, @1, $1); }
    | META_ATTRS                                { $$ = tg_relay_meta_value(p, @1, $1); }
    | WORD                                      { $$ = tg_relay_word_value(p, $1); }
    | WORD '(' open_value fields ')'              { $$ = tg_relay_object_value(p, $1); }
    | TARGET                                    { $$ = tg_relay_raw_object(p, $1); }
    | '[' open_value values ']'                 { $$ = tg_relay_list_value(p); }
    | '(' open_value values ')'                 { $$ = tg_relay_list_value(p); }
    | '{' open_value map '}'                    { $$ = tg_relay_map_value(p); }
    | LOCAL                                     { $$ = NULL; /* an operand once more: the positional one counts */ }
    | GRAPH                                     { $$ = NULL; }
    ;
open_value: %empty                              { tg_relay_open_value(p, @0); }
    ;
values: %empty
    | value_list comma
    ;
value_list: attrval                             { tg_relay_push_value(p, NULL, $1); }
    | value_list ',' attrval                    { tg_relay_push_value(p, NULL, $3); }
    ;
map: %empty
    | map_list comma
    ;
map_list: map_item
    | map_list ',' map_item
    ;
map_item: map_key colon attrval                 { tg_relay_push_value(p, $1, $3); }
    ;
map_key: KEY
    | WORD
    | STRING
    | QUOTED
    | NUMBER                                    { $$ = tg_internf(p->cx, "%lld", (long long)$1->i); }
    ;
colon: ':'
    | '='
    ;
fields: %empty
    | field_list comma
    ;
field_list: field
    | field_list comma field
    ;
field: KEY '=' attrval                          { tg_relay_push_value(p, $1, $3); }
    ;

/* ---- types ---- */
name: WORD
    | KEY
    ;
type: name %prec BARE_NAME                      { $$ = tg_relay_named_type(p, @1, $1, true); }
    | name '[' open types ']'                   { $$ = tg_relay_named_type(p, @1, $1, false); }
    | TENSOR '[' '(' open dims ')' ',' WORD ']' { $$ = tg_relay_tensor_type(p, @$, $8); }
    | '(' open ')'                              { $$ = tg_relay_tuple_type(p); }
    | '(' open type ')'                         { tg_relay_push_type(p, $3); tg_relay_drop(p, tg_relay_close(p)); $$ = $3; }
    | '(' open type ','                         { tg_relay_push_type(p, $3); }
      more_types ')'                            { $$ = tg_relay_tuple_type(p); }
    | FN begin_fn_type type_params '(' open types ')' type_ret  { $$ = tg_relay_fn_type(p, $8); }
    | REF '(' type ')'                          { $$ = tg_ref_type(p->cx, $3); }
    | '_'                                       { $$ = tg_unknown(p->cx); }
    | META                                      { $$ = tg_unknown(p->cx); }
    ;
begin_fn_type: %empty                           { tg_relay_begin_fn_type(p); }
    ;
type_ret: %empty                                { $$ = NULL; }
    | ARROW type                                { $$ = $2; }
    ;
types: %empty
    | type_list comma
    ;
more_types: %empty
    | type_list comma
    ;
type_list: type                                 { tg_relay_push_type(p, $1); }
    | type_list ',' type                        { tg_relay_push_type(p, $3); }
    ;
dims: %empty
    | dim_list comma
    ;
dim_list: dim
    | dim_list ',' dim
    ;
dim: NUMBER                                     { tg_relay_push_dim(p, @1, $1); }
    | '?'                                       { tg_relay_push_dim(p, @1, NULL); }
    | META                                      { tg_relay_push_dim(p, @1, NULL); }
    ;
%%
static int yyreport_syntax_error(const yypcontext_t *at, tg_relay *p, void *scanner)
{
    enum { MOST = 4 };
    yysymbol_kind_t expected[MOST];
    (void)scanner;
    int n = yypcontext_expected_tokens(at, expected, MOST);     /* 0: more than that */
    tg_text t = tg_text_new(p->cx);
    tg_printf(&t, "unexpected %s", yysymbol_name(yypcontext_token(at)));
    for (int i = 0; i < n; ++i)
        tg_printf(&t, "%s%s", i == 0 ? ", expected " : i + 1 < n ? ", " : " or ", yysymbol_name(expected[i]));
    tg_relay_syntax_error(p, *yypcontext_location(at), yypcontext_token(at) == YYSYMBOL_BAD, tg_text_z(&t));
    return 0;
}

/* Only called when the parser's stack is full. */
void tg_relay_error(const tg_relay_loc *at, tg_relay *p, void *scanner, const char *message)
{
    (void)scanner;
    (void)message;
    tg_fail(p->cx, TIRGEN_ELIMIT, at->span, "the expression is nested too deep");
}
