/* print_tir.h: between the files that write TVMScript: print_tir.c (modules, functions), print_tir_stmt.c, print_tir_buffer.c,
 * print_tir_expr.c. Private to them and print.c. */
#ifndef TG_PRINT_TIR_H
#define TG_PRINT_TIR_H

#include "print.h"

/* A piece of output still to come: a node at a level of precedence, or a text. */
typedef struct tg_piece { const tg_node *n; const char *s; int outer; } tg_piece;

/* A name of the text. It is free again when the scope of what it names has ended. */
typedef struct tg_taken { const tg_name *name; struct tg_taken *base; unsigned suffix, next; bool now; } tg_taken;

typedef struct tg_tir_printer {
    tg_ctx *cx;
    tg_text *t;
    bool raw;                       /* for messages: names as they are, no scopes */
    size_t most;                    /* raw: bytes after which the rest is left out */
    tg_map shown;                   /* id + 1 of a variable -> its text: "x", "A.data", "A.strides[0]" */
    tg_map buffer;                  /* id + 1 of a buffer -> its tg_name */
    tg_map taken;                   /* name -> tg_taken */
    tg_map loops;                   /* id + 1 of a loop's variable -> the FOR */
    TG_VEC(tg_taken *) scope;       /* names in use, innermost last */
    const tg_map *tensors;          /* tensor -> its index in the metadata + 1 */
    TG_VEC(tg_piece) pieces;
} tg_tir_printer;

/* Precedence of Python's operators, loosest first. */
enum { TG_PREC_NONE, TG_PREC_OR, TG_PREC_AND, TG_PREC_NOT, TG_PREC_COMPARE, TG_PREC_SUM, TG_PREC_TERM, TG_PREC_UNARY };

/* ---- names (print_tir_expr.c) ---- */
const tg_name *tg_tir_name(tg_tir_printer *p, const char *hint, const char *otherwise);     /* takes a free name like @p hint */
void tg_tir_leave(tg_tir_printer *p, size_t mark);                  /* frees the names taken since p->scope.n was @p mark */
void tg_tir_show(tg_tir_printer *p, const tg_var *v, const char *text);
const char *tg_tir_define(tg_tir_printer *p, const tg_var *v);      /* under a name of its own */
const tg_name *tg_tir_define_buffer(tg_tir_printer *p, const tg_buffer *b);
const char *tg_tir_var_text(tg_tir_printer *p, const tg_var *v);
const char *tg_tir_buffer_text(tg_tir_printer *p, const tg_buffer *b);

/* ---- expressions ---- */
void tg_tir_expr(tg_tir_printer *p, const tg_node *n, int outer);
void tg_tir_index(tg_tir_printer *p, const tg_node *n);             /* of an access: vectors as slices */
bool tg_tir_is_extent(const tg_node *min, const tg_node *extent);   /* a range from 0 that its extent alone tells */
void tg_tir_end(tg_tir_printer *p, const tg_node *min, const tg_node *extent);     /* min + extent, as the reader takes it apart */
void tg_tir_region(tg_tir_printer *p, const tg_buffer *b, const tg_node *const *min_extent);   /* 2 * ndim nodes in turn */
const char *tg_tir_type_text(tg_tir_printer *p, const tg_type *type);       /* T.int32, T.handle("float32", "global") */
const char *tg_tir_result_text(tg_tir_printer *p, const tg_type *type);     /* "int32", "void", "handle", T.handle, T.handle("float32") */

/* ---- buffers (print_tir_buffer.c) ---- */
/* (8, 4), "float32", strides=(4, 1) …: what follows the parenthesis of a declaration. @p data is shown if not NULL. */
void tg_tir_buffer_args(tg_tir_printer *p, const tg_buffer *b, const tg_var *data, bool with_dtype);
void tg_tir_declare_free(tg_tir_printer *p, const tg_buffer *b, unsigned level);    /* n = T.int32() for variables of its shape */
bool tg_tir_is_plain(const tg_buffer *b);                           /* no variables in shape, strides, offset */

/* ---- statements (print_tir_stmt.c) ---- */
void tg_tir_suite(tg_tir_printer *p, const tg_node *body, unsigned level);
void tg_tir_allocs(tg_tir_printer *p, const tg_block *b, unsigned level);

/* ---- values (print.c) ---- */
void tg_print_value_with(tg_text *t, const tg_value *v, bool tvmscript, const tg_map *tensors);

#endif
