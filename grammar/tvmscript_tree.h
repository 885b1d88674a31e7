/* tvmscript_tree.h: the generic syntax tree between tvmscript.y and the elaboration, and the state of one parse.
 * The tree says what the text is (a call, an index, a `with`), never what it means, so versions of the dialect and its
 * families (T., I., later R.) share one grammar and differ in the table of names. All of it lives in the scratch arena. */
#ifndef TG_TVMSCRIPT_TREE_H
#define TG_TVMSCRIPT_TREE_H

#include "parse.h"
#include "ir/diag.h"
#include "ir/vec.h"

enum tg_syn_kind {
    /* expressions: member of u, kids */
    TG_SYN_NAME,        /* name */
    TG_SYN_INT,         /* mag */
    TG_SYN_FLOAT,       /* f */
    TG_SYN_STRING,      /* name: the bytes */
    TG_SYN_TRUE, TG_SYN_FALSE, TG_SYN_NONE, TG_SYN_ELLIPSIS,
    TG_SYN_ATTR,        /* object . name */
    TG_SYN_CALL,        /* callee, arguments */
    TG_SYN_INDEX,       /* base, subscripts */
    TG_SYN_SLICE,       /* start, stop, step; what is missing is NONE */
    TG_SYN_TUPLE, TG_SYN_LIST,
    TG_SYN_DICT,        /* key, value, key, value */
    TG_SYN_CHAIN,       /* operands of equal precedence, left to right, joined by their links */
    TG_SYN_UNARY,       /* op; operand */
    TG_SYN_CHOICE,      /* value, condition, other value */
    TG_SYN_LAMBDA,      /* TUPLE of names, body */
    TG_SYN_KEYWORD,     /* name = value, in a call */
    TG_SYN_STAR,        /* *value, in a call */
    /* statements */
    TG_SYN_PASS, TG_SYN_BREAK, TG_SYN_CONTINUE,
    TG_SYN_RETURN,      /* [value] */
    TG_SYN_ASSERT,      /* condition [, message] */
    TG_SYN_EXPR,        /* value */
    TG_SYN_ASSIGN,      /* target, value */
    TG_SYN_ANNOTATE,    /* target, type [, value] */
    TG_SYN_AUGMENT,     /* op; target, value */
    TG_SYN_IMPORT,      /* name: the module's last part; NAME: its name here */
    TG_SYN_IF,          /* condition, SUITE, …, [SUITE of else] */
    TG_SYN_WHILE,       /* condition, SUITE */
    TG_SYN_FOR,         /* targets, iterator, SUITE */
    TG_SYN_WITH,        /* ITEM…, SUITE */
    TG_SYN_ITEM,        /* value [, target] */
    TG_SYN_DEF,         /* name; TUPLE of decorators, TUPLE of PARAM, return type or NONE, SUITE */
    TG_SYN_CLASS,       /* name; TUPLE of decorators, SUITE */
    TG_SYN_PARAM,       /* name; type or NONE, default or NONE */
    TG_SYN_SUITE        /* statements */
};

/* Operators of CHAIN, UNARY and AUGMENT, by precedence: tg_op_level(). */
enum tg_op {
    TG_OP_NONE, TG_OP_OR, TG_OP_AND,
    TG_OP_LT, TG_OP_LE, TG_OP_GT, TG_OP_GE, TG_OP_EQ, TG_OP_NE,
    TG_OP_BITOR, TG_OP_BITXOR, TG_OP_BITAND, TG_OP_SHL, TG_OP_SHR, TG_OP_ADD, TG_OP_SUB,
    TG_OP_MUL, TG_OP_DIV, TG_OP_FLOORDIV, TG_OP_FLOORMOD, TG_OP_MATMUL, TG_OP_POW,
    TG_OP_NOT, TG_OP_NEG, TG_OP_POS, TG_OP_INVERT
};

typedef struct tg_syn tg_syn;
struct tg_syn {
    uint8_t kind, op;
    uint8_t link;                   /* operand of a CHAIN: the operator before it */
    bool grouped;                   /* stood in parentheses of its own */
    bool negative;                  /* INT, FLOAT: a minus was folded in (also before 0) */
    bool huge;                      /* FLOAT: written as an integer that 64 bits do not hold */
    uint32_t nkids;
    uint32_t begin, end;            /* bytes of the source */
    union { const tg_name *name; uint64_t mag; double f; } u;
    tg_syn *last, *next;            /* last kid; kids form a ring: last->next is the first */
};

static inline const tg_syn *tg_syn_first(const tg_syn *s) { return s->last != NULL ? s->last->next : NULL; }
static inline const tg_syn *tg_syn_after(const tg_syn *parent, const tg_syn *kid) { return kid == parent->last ? NULL : kid->next; }
const tg_syn *tg_syn_kid(const tg_syn *s, uint32_t i);      /* NULL past the end; for small i */

#define TG_EACH_KID(kid, parent) \
    const tg_syn *kid = tg_syn_first(parent); kid != NULL; kid = tg_syn_after(parent, kid)

/* What comments and the metadata section say, with the place from where it holds. */
typedef struct tg_script_hint { uint32_t at; const tg_name *module, *alias; } tg_script_hint;   /* from … import module as alias */
typedef struct tg_script_meta { uint32_t at; bool legacy; tg_meta *meta; } tg_script_meta;      /* legacy: follows its module */

enum { TG_SCRIPT_BRACKETS = 4000, TG_SCRIPT_SUITES = 400 };     /* nesting that is read */

/* One parse: the scanner's place and pending indentation, the tree so far. */
typedef struct tg_script {
    tg_ctx *cx;
    tg_source *src;
    size_t fed;                     /* bytes of the source given to the scanner */
    uint32_t at;                    /* where the next token begins */
    uint32_t brackets;              /* open ( [ { */
    TG_VEC(uint32_t) indents;       /* widths of open suites, beginning with 0 */
    uint32_t dedents;               /* tokens still to be returned */
    bool line_open;                 /* tokens since the last NEWLINE */
    bool failed;                    /* an error was reported */
    TG_VEC(tg_script_hint) hints;
    TG_VEC(tg_script_meta) metas;
    tg_syn *free_nodes;             /* nodes not handed out yet */
    uint32_t nfree;
    tg_syn *file;                   /* SUITE of the whole text */
} tg_script;

static inline tg_span tg_syn_span(const tg_script *p, const tg_syn *s) { return (tg_span){ p->src->id, s->begin, s->end }; }

/* ---- builders: one call an action of the grammar ---- */
tg_syn *tg_syn_new(tg_script *p, enum tg_syn_kind kind, tg_span at);
tg_syn *tg_syn_named(tg_script *p, enum tg_syn_kind kind, tg_span at, const tg_name *name);
tg_syn *tg_syn_1(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a);
tg_syn *tg_syn_2(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a, tg_syn *b);
tg_syn *tg_syn_3(tg_script *p, enum tg_syn_kind kind, tg_span at, tg_syn *a, tg_syn *b, tg_syn *c);
tg_syn *tg_syn_list_of(tg_script *p, tg_span at, tg_syn *a);
tg_syn *tg_syn_add(tg_syn *list, tg_syn *kid);                      /* appends and widens; returns the list */
tg_syn *tg_syn_splice(tg_syn *list, tg_syn *other);                 /* appends the kids of another list */
tg_syn *tg_syn_become(tg_syn *list, enum tg_syn_kind kind, tg_span at);     /* a list turns into what it was read for */
tg_syn *tg_syn_headed(tg_syn *list, enum tg_syn_kind kind, tg_span at, tg_syn *head);   /* and gets a first kid */
tg_syn *tg_syn_grouped(tg_syn *a, tg_span at);
tg_syn *tg_syn_binary(tg_script *p, enum tg_op op, tg_span at, tg_syn *a, tg_syn *b);
tg_syn *tg_syn_unary(tg_script *p, enum tg_op op, tg_span at, tg_syn *a);
tg_syn *tg_syn_strings(tg_script *p, tg_span at, tg_syn *a, const tg_syn *b);           /* adjacent strings are one */
tg_syn *tg_syn_scoped(tg_script *p, tg_span at, const tg_name *scope, const tg_name *prefix, const tg_name *type);
tg_syn *tg_syn_import(tg_script *p, tg_span at, const tg_name *module, const tg_name *alias);
tg_syn *tg_syn_param(tg_script *p, tg_span at, const tg_name *name, tg_syn *type, tg_syn *value);
tg_syn *tg_syn_def(tg_script *p, tg_span at, const tg_name *name, tg_syn *decorators, tg_syn *params, tg_syn *ret, tg_syn *suite);
tg_syn *tg_syn_class(tg_script *p, tg_span at, const tg_name *name, tg_syn *decorators, tg_syn *suite);
tg_syn *tg_syn_if(tg_script *p, tg_span at, tg_syn *cond, tg_syn *suite, tg_syn *elifs, tg_syn *otherwise);
const char *tg_op_text(enum tg_op op);

/* ---- reading (tvmscript.l), understanding (tvmscript_module.c) ---- */
bool tg_script_read(tg_script *p);              /* fills p->file; false after an error */
bool tg_script_elaborate(tg_script *p, tg_module *m);

#endif
