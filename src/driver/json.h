/* json.h: the JSON that goes into archives: yajl's generator with keys in place of pairs of calls, and a careful reader. */
#ifndef TIRC_JSON_H
#define TIRC_JSON_H

#include <stdint.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "archive.h"

/* A text being written, two blanks a level. What goes wrong is kept until the end, which tells. */
typedef struct tirc_json {
    yajl_gen gen;
    bool failed;
} tirc_json;

void tirc_json_begin(tirc_json *j);
void tirc_json_text(tirc_json *j, const char *text);
void tirc_json_int(tirc_json *j, int64_t v);
void tirc_json_key_text(tirc_json *j, const char *key, const char *text);
void tirc_json_key_int(tirc_json *j, const char *key, int64_t v);
void tirc_json_open(tirc_json *j, const char *key, char bracket);       /* { or [ behind @p key, which may be NULL */
void tirc_json_close(tirc_json *j, char bracket);                       /* } or ] */
/* The text and a line end into the last file of @p a; frees what was written. False when some text is not UTF-8. */
bool tirc_json_end(tirc_json *j, tirc_archive *a);

/* The tree of @p m, to be freed with yajl_tree_free(); NULL with @p wrong (of @p room bytes) set. Nesting is limited. */
yajl_val tirc_json_read(const tirc_member *m, char *wrong, size_t room);
/* The member @p key of an object as text, or NULL. */
const char *tirc_json_text_of(yajl_val v, const char *key);
yajl_val tirc_json_of(yajl_val v, const char *key, yajl_type type);

#endif
