/* session.h: what the public API keeps in a context beside the parts' own data. */
#ifndef TG_SESSION_H
#define TG_SESSION_H

#include "ir/module.h"
#include "ir/options.h"

typedef struct tg_mapping { void *at; size_t size; } tg_mapping;

typedef struct tg_session {
    tg_options options;
    tg_module *module;
    TG_VEC(tg_mapping) maps;        /* files, unmapped with the context */
    TG_VEC(const tg_name *) param_name;
    TG_VEC(tg_tensor *) param_value;
    TG_VEC(const char *) param_file;
    tg_map symbol;                  /* name of a public kernel -> its name in the emitted C */
    bool compiled, complete;        /* passes ran; to the end */
} tg_session;

tg_session *tg_session_of(tg_ctx *cx);      /* made on first use */

#endif
