/* walk.h: visit and rewrite. No recursion: a chain of 100,000 nodes does not grow the C stack. A shared node is done once. */
#ifndef TG_WALK_H
#define TG_WALK_H

#include "module.h"

/* Called with a node whose operands are rewritten already; returns the node or its replacement (NULL: give up). */
typedef const tg_node *(*tg_rewrite_fn)(tg_ctx *cx, const tg_node *n, void *user);
const tg_node *tg_rewrite_node(tg_ctx *cx, const tg_node *root, tg_rewrite_fn fn, void *user);
/* Over the body of every PrimFunc. False if @p fn gave up. */
bool tg_rewrite(tg_ctx *cx, tg_module *m, tg_rewrite_fn fn, void *user);
/* Pre-order visit of distinct nodes; @p fn returns false to skip the operands. Buffers' shapes are not visited. */
typedef bool (*tg_visit_fn)(tg_ctx *cx, const tg_node *n, void *user);
void tg_visit(tg_ctx *cx, const tg_node *root, tg_visit_fn fn, void *user);

/* Substitution: variables by expressions (TIR and Relay), buffers by buffers. Loop, block and let variables that are bound
 * inside stay. Buffers whose data pointer or shape mention a replaced variable are replaced too. */
typedef struct tg_subst { tg_map var, buf; } tg_subst;      /* var id -> tg_node *, buffer id -> tg_buffer * */
void tg_subst_var(tg_ctx *cx, tg_subst *s, const tg_var *v, const tg_node *by);
void tg_subst_buf(tg_ctx *cx, tg_subst *s, const tg_buffer *b, const tg_buffer *by);
const tg_node *tg_substitute(tg_ctx *cx, const tg_node *root, const tg_subst *s);
/* A copy in which every variable and buffer bound inside is fresh. */
const tg_node *tg_freshen(tg_ctx *cx, const tg_node *root);
bool tg_uses_var(tg_ctx *cx, const tg_node *root, const tg_var *v);

#endif
