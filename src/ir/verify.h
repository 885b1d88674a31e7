/* verify.h: the rules that hold between passes: operands' count and types, variables defined before use and once,
 * load and store ranks, block structure, calls that resolve. A failure is a bug of ours and is reported as such,
 * but a text from outside that breaks a rule gets an error at its place (@p from_text). */
#ifndef TG_VERIFY_H
#define TG_VERIFY_H

#include "module.h"

bool tg_verify_module(tg_ctx *cx, const tg_module *m, bool from_text);
/* When all texts are loaded: every global that a Relay function mentions is defined. An error at each that is not. */
bool tg_verify_globals(tg_ctx *cx, const tg_module *m);

#endif
