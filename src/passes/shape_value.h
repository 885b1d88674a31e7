/* shape_value.h: the value of an expression that does not depend on the model's inputs. */
#ifndef TG_SHAPE_VALUE_H
#define TG_SHAPE_VALUE_H

#include "ir/module.h"

/* @p values: id + 1 of a variable -> the typed value it is bound to. @return @p atom's value as RCONST, or NULL when it depends on
 * something else than constants and shapes. */
const tg_node *tg_shape_value(tg_ctx *cx, const tg_map *values, const tg_node *atom);

#endif
