/* main_emit.h: statements of the AOT main: what build_main.c and main_loops.c share. */
#ifndef TG_MAIN_EMIT_H
#define TG_MAIN_EMIT_H

#include "main_slots.h"
#include "ir/diag.h"

typedef TG_VEC(const tg_node *) tg_statements;

/* build_main.c. @p to: where the block's result belongs; @p site: the loop whose body this is part of, or NULL. */
bool tg_emit_block(tg_main_build *b, const tg_node *block, const tg_slots *to, const tg_loop_site *site, tg_statements *out);
bool tg_emit_copy(tg_main_build *b, tg_slot *from, tg_slot *to, tg_statements *out);        /* nothing when they share memory */
bool tg_emit_copies(tg_main_build *b, const tg_slots *from, const tg_slots *to, tg_statements *out);    /* one after another */
/* A buffer over the slot's memory, and the statement around @p body that declares it. */
const tg_buffer *tg_slot_view(tg_main_build *b, tg_slot *s, const char *name);

/* main_loops.c */
bool tg_emit_loop(tg_main_build *b, const tg_loop_site *site, tg_statements *out);
bool tg_emit_next_round(tg_main_build *b, const tg_loop_site *site, const tg_node *call, tg_statements *out);
void tg_emit_leave(tg_main_build *b, const tg_loop_site *site, tg_statements *out);

#endif
