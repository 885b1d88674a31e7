/* print.h: modules to text that our readers and TVM's accept. Relay functions print as Relay text with its metadata section,
 * PrimFuncs as TVMScript with the metadata first. A module holds one or the other, never both between two passes. */
#ifndef TG_PRINT_H
#define TG_PRINT_H

#include "module.h"
#include "text.h"

void tg_print_module(tg_text *t, const tg_module *m);       /* by tg_module_level() */
void tg_print_relay(tg_text *t, const tg_module *m);        /* print_relay.c */
void tg_print_tir(tg_text *t, const tg_module *m);          /* print_tir.c */
void tg_print_value(tg_text *t, const tg_value *v, bool tvmscript);     /* attribute values; tensors need the module printers */
const char *tg_node_text(tg_ctx *cx, const tg_node *n);     /* one line for messages: "A[i + 1] * 2" */
/* The NDArray blob of relay-text.md section 8 as base64. */
void tg_print_blob(tg_text *t, const tg_tensor *v);

#endif
