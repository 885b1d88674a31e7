/* unify.h: whether two Relay types fit, what they share, and what type parameters stand for. */
#ifndef TG_UNIFY_H
#define TG_UNIFY_H

#include "ir/module.h"

/* What the type parameters of a callee stand for; n names with their types so far (NULL: not known yet). */
typedef struct tg_type_binding { uint32_t n; const tg_name *const *name; const tg_type **type; } tg_type_binding;
tg_type_binding tg_type_binding_new(tg_ctx *cx, uint32_t n, const tg_name *const *name);

/* A type without "_" and with all extents given. */
bool tg_type_complete(const tg_type *t);
/* The type that both describe, "_" and "?" filled from the other side; NULL when they differ. Type parameters of @p bind (may be
 * NULL) in @p a are bound. Widths of extents are those of @p a. */
const tg_type *tg_unify(tg_ctx *cx, const tg_type *a, const tg_type *b, tg_type_binding *bind);
/* @p t with the parameters of @p bind replaced; unbound ones become "_". */
const tg_type *tg_type_replace(tg_ctx *cx, const tg_type *t, const tg_type_binding *bind);

#endif
