/* parse.h: text and parameter files in, nodes out. Each reader reports through diagnostics and returns false;
 * the module is unchanged then. */
#ifndef TG_PARSE_H
#define TG_PARSE_H

#include "ir/module.h"
#include "ir/source.h"

/* Adds the definitions of @p src to @p m. The kind of the text is seen from the text: tg_parse_any(). */
bool tg_parse_any(tg_ctx *cx, tg_module *m, tg_source *src);
bool tg_parse_relay(tg_ctx *cx, tg_module *m, tg_source *src);
bool tg_parse_tvmscript(tg_ctx *cx, tg_module *m, tg_source *src);

/* The type that the comment behind a call, tuple or constant of Relay text gives it (ty=...), found by the node's place; NULL
 * when there is none. What TVM inferred, to compare with what we infer. */
const tg_type *tg_relay_annotated_type(tg_ctx *cx, tg_span at);

/* Named tensors of a parameter file. */
typedef struct tg_param { const tg_name *name; tg_tensor *value; } tg_param;
typedef struct tg_params { size_t n; tg_param *at; } tg_params;

/* A TVM .params blob or an .npz/.npy archive, by its first bytes. @p bytes stays mapped as long as the context: tensors
 * borrow from it where alignment allows. Errors name @p file and the byte offset. */
bool tg_read_params(tg_ctx *cx, const char *file, const void *bytes, size_t size, tg_params *out);
/* One .npy array (format 1.0 to 3.0, little or big endian, C or Fortran order). */
tg_tensor *tg_read_npy(tg_ctx *cx, const char *file, const void *bytes, size_t size);
/* @return the .npy image of @p t, in the arena. */
void *tg_write_npy(tg_ctx *cx, const tg_tensor *t, size_t *size_bytes);

/* The NDArray blob (relay-text.md section 8) decoded from memory; NULL after an error at @p at. */
tg_tensor *tg_read_blob(tg_ctx *cx, tg_span at, const void *bytes, size_t size);

/* meta.c: the JSON graph of a metadata section (relay-text.md section 7), for both grammars. Fed in pieces. */
typedef struct tg_meta tg_meta;
tg_meta *tg_meta_new(tg_ctx *cx, tg_span at);
bool tg_meta_feed(tg_meta *m, const char *bytes, size_t n);     /* in order; base64 strings decode as they come */
/* The next piece begins at this byte of the text: for JSON that was unescaped first. Otherwise pieces follow at.begin. */
void tg_meta_place(tg_meta *m, uint32_t begin);
bool tg_meta_end(tg_meta *m);                                   /* resolves the graph; false after an error */
/* meta[key][index]: a tensor (relay.Constant, runtime.NDArray), a value (attrs objects, strings, lists), or NULL with an error at @p at. */
const tg_value *tg_meta_get(tg_meta *m, tg_span at, const char *key, uint64_t index);

#endif
