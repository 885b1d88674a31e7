/* tvmscript.y: the subset of Python that TVMScript is written in. Each action is one call of a builder of
 * tvmscript_tree.h: the grammar says what the text is, not what it means. Formats: tvmscript-tir.md section 2. */
%code requires {
#include "tvmscript_tree.h"
}
%code {
#include <string.h>

/* Stacks live in the scratch arena; what the parser has outgrown is left behind. */
#define YYMALLOC(size) tg_temp(p->cx, (size))
#define YYFREE(at) ((void)(at))
#define YYMAXDEPTH 200000
#define YYLLOC_DEFAULT(current, rhs, n) \
    ((current) = (n) > 0 ? tg_span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n)) \
                         : (tg_span){ p->src->id, YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end })
}
%code provides {
int tg_tvmscript_lex(TG_TVMSCRIPT_STYPE *value, tg_span *at, void *scanner);
void tg_tvmscript_error(const tg_span *at, tg_script *p, void *scanner, const char *message);
}

%define api.pure full
%define api.prefix {tg_tvmscript_}
%define api.location.type {tg_span}
%define parse.error detailed
%parse-param { tg_script *p } { void *scanner }
%lex-param { void *scanner }
%initial-action { @$ = (tg_span){ p->src->id, 0, 0 }; }
%expect 0

%union { tg_syn *syn; const tg_name *name; enum tg_op op; }

%token END 0 "end of file"
%token NEWLINE "end of line" INDENT "deeper indentation" DEDENT "end of suite" BAD "invalid text"
%token <name> NAME "name"
%token <syn> NUMBER "number" STRING "string"
%token METADATA "metadata"
%token DEF "def" CLASS "class" WITH "with" AS "as" FOR "for" IN "in" WHILE "while" IF "if" ELIF "elif" ELSE "else"
%token RETURN "return" ASSERT "assert" PASS "pass" BREAK "break" CONTINUE "continue" LAMBDA "lambda"
%token AND "and" OR "or" NOT "not" TRUE "True" FALSE "False" NONE "None" IMPORT "import" FROM "from"
%token ARROW "->" DOTS "..." SHL "<<" SHR ">>" LE "<=" GE ">=" EQ "==" NE "!=" FLOORDIV "//" POW "**"
%token <op> AUGMENT "augmented assignment"

%precedence LAMBDA
%precedence ELSE
%precedence IF
%left OR
%left AND
%precedence NOT
%left '<' LE '>' GE EQ NE
%left '|'
%left '^'
%left '&'
%left SHL SHR
%left '+' '-'
%left '*' '/' FLOORDIV '%' '@'
%precedence SIGN
%right POW

%type <syn> strings stmts stmt simple compound suite elifs import imported decorators params params_list param
%type <syn> withs with_item targets target target_list exprs expr primary atom items item_list args arg_list arg
%type <syn> slices slice_list slice bound pairs pair_list names names_list
%type <name> dotted alias

%%
file: stmts END                             { p->file = tg_syn_become($1, TG_SYN_SUITE, @$); }
    ;

stmts: %empty                               { $$ = tg_syn_new(p, TG_SYN_SUITE, @$); }
    | stmts stmt                            { $$ = tg_syn_add($1, $2); }
    | stmts import NEWLINE                  { $$ = tg_syn_splice($1, $2); }
    | stmts METADATA NEWLINE                { $$ = $1; }
    ;

stmt: simple NEWLINE                        { $$ = $1; }
    | compound
    ;

simple: PASS                                { $$ = tg_syn_new(p, TG_SYN_PASS, @$); }
    | BREAK                                 { $$ = tg_syn_new(p, TG_SYN_BREAK, @$); }
    | CONTINUE                              { $$ = tg_syn_new(p, TG_SYN_CONTINUE, @$); }
    | RETURN                                { $$ = tg_syn_new(p, TG_SYN_RETURN, @$); }
    | RETURN exprs                          { $$ = tg_syn_1(p, TG_SYN_RETURN, @$, $2); }
    | ASSERT expr                           { $$ = tg_syn_1(p, TG_SYN_ASSERT, @$, $2); }
    | ASSERT expr ',' expr                  { $$ = tg_syn_2(p, TG_SYN_ASSERT, @$, $2, $4); }
    | exprs                                 { $$ = tg_syn_1(p, TG_SYN_EXPR, @$, $1); }
    | exprs '=' exprs                       { $$ = tg_syn_2(p, TG_SYN_ASSIGN, @$, $1, $3); }
    | exprs ':' expr                        { $$ = tg_syn_2(p, TG_SYN_ANNOTATE, @$, $1, $3); }
    | exprs ':' expr '=' exprs              { $$ = tg_syn_3(p, TG_SYN_ANNOTATE, @$, $1, $3, $5); }
    | exprs AUGMENT exprs                   { $$ = tg_syn_2(p, TG_SYN_AUGMENT, @$, $1, $3); $$->op = (uint8_t)$2; }
    ;

/* A list of IMPORT: each is the last part of what is imported and its name here. */
import: IMPORT dotted alias                 { $$ = tg_syn_list_of(p, @$, tg_syn_import(p, @$, $2, $3)); }
    | FROM dotted IMPORT imported           { $$ = $4; }
    | FROM dotted IMPORT '(' imported ')'   { $$ = $5; }
    ;
imported: NAME alias                        { $$ = tg_syn_list_of(p, @$, tg_syn_import(p, @$, $1, $2)); }
    | imported ',' NAME alias               { $$ = tg_syn_add($1, tg_syn_import(p, @3, $3, $4)); }
    ;
alias: %empty                               { $$ = NULL; }
    | AS NAME                               { $$ = $2; }
    ;
dotted: NAME
    | dotted '.' NAME                       { $$ = $3; }
    ;

compound: decorators DEF NAME '(' params ')' ':' suite
                                            { $$ = tg_syn_def(p, tg_span_join(@2, @$), $3, $1, $5, NULL, $8); }
    | decorators DEF NAME '(' params ')' ARROW expr ':' suite
                                            { $$ = tg_syn_def(p, tg_span_join(@2, @$), $3, $1, $5, $8, $10); }
    | decorators CLASS NAME ':' suite       { $$ = tg_syn_class(p, tg_span_join(@2, @$), $3, $1, $5); }
    | decorators CLASS NAME '(' args ')' ':' suite
                                            { $$ = tg_syn_class(p, tg_span_join(@2, @$), $3, $1, $8); }
    | IF expr ':' suite elifs               { $$ = tg_syn_if(p, @$, $2, $4, $5, NULL); }
    | IF expr ':' suite elifs ELSE ':' suite
                                            { $$ = tg_syn_if(p, @$, $2, $4, $5, $8); }
    | WHILE expr ':' suite                  { $$ = tg_syn_2(p, TG_SYN_WHILE, @$, $2, $4); }
    | FOR targets IN exprs ':' suite        { $$ = tg_syn_3(p, TG_SYN_FOR, @$, $2, $4, $6); }
    | WITH withs ':' suite                  { $$ = tg_syn_become(tg_syn_add($2, $4), TG_SYN_WITH, @$); }
    ;
elifs: %empty                               { $$ = tg_syn_new(p, TG_SYN_LIST, @$); }
    | elifs ELIF expr ':' suite             { $$ = tg_syn_add(tg_syn_add($1, $3), $5); }
    ;
decorators: %empty                          { $$ = tg_syn_new(p, TG_SYN_TUPLE, @$); }
    | decorators '@' expr NEWLINE           { $$ = tg_syn_add($1, $3); }
    ;
suite: simple NEWLINE                       { $$ = tg_syn_1(p, TG_SYN_SUITE, @$, $1); }
    | NEWLINE INDENT stmts DEDENT           { $$ = $3; }
    ;

params: %empty                              { $$ = tg_syn_new(p, TG_SYN_TUPLE, @$); }
    | params_list
    | params_list ','                       { $$ = $1; }
    ;
params_list: param                          { $$ = tg_syn_1(p, TG_SYN_TUPLE, @$, $1); }
    | params_list ',' param                 { $$ = tg_syn_add($1, $3); }
    ;
param: NAME                                 { $$ = tg_syn_param(p, @$, $1, NULL, NULL); }
    | NAME ':' expr                         { $$ = tg_syn_param(p, @$, $1, $3, NULL); }
    | NAME '=' expr                         { $$ = tg_syn_param(p, @$, $1, NULL, $3); }
    | NAME ':' expr '=' expr                { $$ = tg_syn_param(p, @$, $1, $3, $5); }
    ;

withs: with_item                            { $$ = tg_syn_list_of(p, @$, $1); }
    | withs ',' with_item                   { $$ = tg_syn_add($1, $3); }
    ;
with_item: expr                             { $$ = tg_syn_1(p, TG_SYN_ITEM, @$, $1); }
    | expr AS target                        { $$ = tg_syn_2(p, TG_SYN_ITEM, @$, $1, $3); }
    ;

targets: target
    | target ','                            { $$ = tg_syn_1(p, TG_SYN_TUPLE, @$, $1); }
    | target ',' target_list                { $$ = tg_syn_headed($3, TG_SYN_TUPLE, @$, $1); }
    | target ',' target_list ','            { $$ = tg_syn_headed($3, TG_SYN_TUPLE, @$, $1); }
    ;
target_list: target                         { $$ = tg_syn_list_of(p, @$, $1); }
    | target_list ',' target                { $$ = tg_syn_add($1, $3); }
    ;
target: NAME                                { $$ = tg_syn_named(p, TG_SYN_NAME, @$, $1); }
    | '(' targets ')'                       { $$ = tg_syn_grouped($2, @$); }
    | '[' targets ']'                       { $$ = tg_syn_grouped($2, @$); }
    ;

exprs: expr
    | expr ','                              { $$ = tg_syn_1(p, TG_SYN_TUPLE, @$, $1); }
    | expr ',' item_list                    { $$ = tg_syn_headed($3, TG_SYN_TUPLE, @$, $1); }
    | expr ',' item_list ','                { $$ = tg_syn_headed($3, TG_SYN_TUPLE, @$, $1); }
    ;
expr: primary
    | expr OR expr                          { $$ = tg_syn_binary(p, TG_OP_OR, @$, $1, $3); }
    | expr AND expr                         { $$ = tg_syn_binary(p, TG_OP_AND, @$, $1, $3); }
    | NOT expr                              { $$ = tg_syn_unary(p, TG_OP_NOT, @$, $2); }
    | expr '<' expr                         { $$ = tg_syn_binary(p, TG_OP_LT, @$, $1, $3); }
    | expr LE expr                          { $$ = tg_syn_binary(p, TG_OP_LE, @$, $1, $3); }
    | expr '>' expr                         { $$ = tg_syn_binary(p, TG_OP_GT, @$, $1, $3); }
    | expr GE expr                          { $$ = tg_syn_binary(p, TG_OP_GE, @$, $1, $3); }
    | expr EQ expr                          { $$ = tg_syn_binary(p, TG_OP_EQ, @$, $1, $3); }
    | expr NE expr                          { $$ = tg_syn_binary(p, TG_OP_NE, @$, $1, $3); }
    | expr '|' expr                         { $$ = tg_syn_binary(p, TG_OP_BITOR, @$, $1, $3); }
    | expr '^' expr                         { $$ = tg_syn_binary(p, TG_OP_BITXOR, @$, $1, $3); }
    | expr '&' expr                         { $$ = tg_syn_binary(p, TG_OP_BITAND, @$, $1, $3); }
    | expr SHL expr                         { $$ = tg_syn_binary(p, TG_OP_SHL, @$, $1, $3); }
    | expr SHR expr                         { $$ = tg_syn_binary(p, TG_OP_SHR, @$, $1, $3); }
    | expr '+' expr                         { $$ = tg_syn_binary(p, TG_OP_ADD, @$, $1, $3); }
    | expr '-' expr                         { $$ = tg_syn_binary(p, TG_OP_SUB, @$, $1, $3); }
    | expr '*' expr                         { $$ = tg_syn_binary(p, TG_OP_MUL, @$, $1, $3); }
    | expr '/' expr                         { $$ = tg_syn_binary(p, TG_OP_DIV, @$, $1, $3); }
    | expr FLOORDIV expr                    { $$ = tg_syn_binary(p, TG_OP_FLOORDIV, @$, $1, $3); }
    | expr '%' expr                         { $$ = tg_syn_binary(p, TG_OP_FLOORMOD, @$, $1, $3); }
    | expr '@' expr                         { $$ = tg_syn_binary(p, TG_OP_MATMUL, @$, $1, $3); }
    | expr POW expr                         { $$ = tg_syn_binary(p, TG_OP_POW, @$, $1, $3); }
    | '-' expr %prec SIGN                   { $$ = tg_syn_unary(p, TG_OP_NEG, @$, $2); }
    | '+' expr %prec SIGN                   { $$ = tg_syn_unary(p, TG_OP_POS, @$, $2); }
    | '~' expr %prec SIGN                   { $$ = tg_syn_unary(p, TG_OP_INVERT, @$, $2); }
    | expr IF expr ELSE expr                { $$ = tg_syn_3(p, TG_SYN_CHOICE, @$, $1, $3, $5); }
    | LAMBDA names ':' expr %prec LAMBDA    { $$ = tg_syn_2(p, TG_SYN_LAMBDA, @$, $2, $4); }
    ;
names: %empty                               { $$ = tg_syn_new(p, TG_SYN_TUPLE, @$); }
    | names_list
    ;
names_list: NAME                            { $$ = tg_syn_1(p, TG_SYN_TUPLE, @$, tg_syn_named(p, TG_SYN_NAME, @1, $1)); }
    | names_list ',' NAME                   { $$ = tg_syn_add($1, tg_syn_named(p, TG_SYN_NAME, @3, $3)); }
    ;

primary: atom
    | primary '.' NAME                      { $$ = tg_syn_1(p, TG_SYN_ATTR, @$, $1); $$->u.name = $3; }
    | primary '(' args ')'                  { $$ = tg_syn_headed($3, TG_SYN_CALL, @$, $1); }
    | primary '[' slices ']'                { $$ = tg_syn_headed($3, TG_SYN_INDEX, @$, $1); }
    ;
atom: NAME                                  { $$ = tg_syn_named(p, TG_SYN_NAME, @$, $1); }
    | NUMBER
    | strings
    | TRUE                                  { $$ = tg_syn_new(p, TG_SYN_TRUE, @$); }
    | FALSE                                 { $$ = tg_syn_new(p, TG_SYN_FALSE, @$); }
    | NONE                                  { $$ = tg_syn_new(p, TG_SYN_NONE, @$); }
    | DOTS                                  { $$ = tg_syn_new(p, TG_SYN_ELLIPSIS, @$); }
    | '(' ')'                               { $$ = tg_syn_new(p, TG_SYN_TUPLE, @$); }
    | '(' exprs ')'                         { $$ = tg_syn_grouped($2, @$); }
    | '[' items ']'                         { $$ = tg_syn_become($2, TG_SYN_LIST, @$); }
    | '[' item_list DOTS ']'                { $$ = tg_syn_become(tg_syn_add($2, tg_syn_new(p, TG_SYN_ELLIPSIS, @3)),
                                                                 TG_SYN_LIST, @$); }
    | '{' pairs '}'                         { $$ = tg_syn_become($2, TG_SYN_DICT, @$); }
    ;
strings: STRING
    | strings STRING                        { $$ = tg_syn_strings(p, @$, $1, $2); }
    ;
items: %empty                               { $$ = tg_syn_new(p, TG_SYN_LIST, @$); }
    | item_list
    | item_list ','                         { $$ = $1; }
    ;
item_list: expr                             { $$ = tg_syn_list_of(p, @$, $1); }
    | item_list ',' expr                    { $$ = tg_syn_add($1, $3); }
    ;
pairs: %empty                               { $$ = tg_syn_new(p, TG_SYN_DICT, @$); }
    | pair_list
    | pair_list ','                         { $$ = $1; }
    ;
pair_list: expr ':' expr                    { $$ = tg_syn_2(p, TG_SYN_DICT, @$, $1, $3); }
    | pair_list ',' expr ':' expr           { $$ = tg_syn_add(tg_syn_add($1, $3), $5); }
    ;

/* "(, x" is how 0.11 prints a constant whose data it has lost. */
args: %empty                                { $$ = tg_syn_new(p, TG_SYN_LIST, @$); }
    | arg_list
    | arg_list ','                          { $$ = $1; }
    | ',' arg_list                          { $$ = tg_syn_headed($2, TG_SYN_LIST, @$, tg_syn_new(p, TG_SYN_LIST, @1)); }
    ;
arg_list: arg                               { $$ = tg_syn_list_of(p, @$, $1); }
    | arg_list ',' arg                      { $$ = tg_syn_add($1, $3); }
    ;
arg: expr
    | NAME '=' expr                         { $$ = tg_syn_1(p, TG_SYN_KEYWORD, @$, $3); $$->u.name = $1; }
    | '*' expr                              { $$ = tg_syn_1(p, TG_SYN_STAR, @$, $2); }
    ;
slices: slice_list
    | slice_list ','                        { $$ = $1; }
    ;
slice_list: slice                           { $$ = tg_syn_list_of(p, @$, $1); }
    | slice_list ',' slice                  { $$ = tg_syn_add($1, $3); }
    ;
/* The third form is a type of 0.8: T.Ptr[global T.float32]. */
slice: expr
    | bound ':' bound                       { $$ = tg_syn_3(p, TG_SYN_SLICE, @$, $1, $3, tg_syn_new(p, TG_SYN_NONE, @3)); }
    | bound ':' bound ':' bound             { $$ = tg_syn_3(p, TG_SYN_SLICE, @$, $1, $3, $5); }
    | NAME NAME '.' NAME                    { $$ = tg_syn_scoped(p, @$, $1, $2, $4); }
    ;
bound: %empty                               { $$ = tg_syn_new(p, TG_SYN_NONE, @$); }
    | expr
    ;
%%

void tg_tvmscript_error(const tg_span *at, tg_script *p, void *scanner, const char *message)
{
    (void)scanner;
    if (p->failed)
        return;             /* the scanner has told already */
    p->failed = true;
    if (strcmp(message, "memory exhausted") == 0)
        message = "expressions nest too deeply";
    tg_error(p->cx, *at, "%s", message);
}
