/* json.c: the JSON that goes into archives. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { MAX_JSON_DEPTH = 64 };       /* the tree is freed by recursion */

void tirc_json_begin(tirc_json *j)
{
    *j = (tirc_json){ yajl_gen_alloc(NULL), false };
    if (j->gen == NULL) {
        tirc_say("out of memory");
        exit(1);
    }
    yajl_gen_config(j->gen, yajl_gen_beautify, 1);
    yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
    yajl_gen_config(j->gen, yajl_gen_validate_utf8, 1);
}

static void note(tirc_json *j, yajl_gen_status status)
{
    if (status != yajl_gen_status_ok) j->failed = true;
}

void tirc_json_text(tirc_json *j, const char *text)
{
    note(j, yajl_gen_string(j->gen, (const unsigned char *)text, strlen(text)));
}

void tirc_json_int(tirc_json *j, int64_t v)
{
    note(j, yajl_gen_integer(j->gen, v));
}

void tirc_json_key_text(tirc_json *j, const char *key, const char *text)
{
    tirc_json_text(j, key);
    tirc_json_text(j, text);
}

void tirc_json_key_int(tirc_json *j, const char *key, int64_t v)
{
    tirc_json_text(j, key);
    tirc_json_int(j, v);
}

void tirc_json_open(tirc_json *j, const char *key, char bracket)
{
    if (key != NULL) tirc_json_text(j, key);
    note(j, bracket == '{' ? yajl_gen_map_open(j->gen) : yajl_gen_array_open(j->gen));
}

void tirc_json_close(tirc_json *j, char bracket)
{
    note(j, bracket == '}' ? yajl_gen_map_close(j->gen) : yajl_gen_array_close(j->gen));
}

bool tirc_json_end(tirc_json *j, tirc_archive *a)
{
    const unsigned char *text = NULL;
    size_t n = 0;
    note(j, yajl_gen_get_buf(j->gen, &text, &n));
    if (!j->failed) {
        tirc_archive_bytes(a, text, n);
        if (n == 0 || text[n - 1] != '\n') tirc_archive_bytes(a, "\n", 1);
    }
    yajl_gen_free(j->gen);
    return !j->failed;
}

/* The deepest nesting of brackets outside strings. */
static size_t depth_of(const tirc_member *m)
{
    size_t depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < m->size; ++i) {
        char c = m->bytes[i];
        if (quoted && c == '\\')
            ++i;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            deepest = ++depth > deepest ? depth : deepest;
        else if (!quoted && (c == '}' || c == ']') && depth > 0)
            --depth;
    }
    return deepest;
}

yajl_val tirc_json_read(const tirc_member *m, char *wrong, size_t room)
{
    char *text = tirc_alloc(m->size + 1);       /* ends in NUL */
    yajl_val tree = NULL;
    snprintf(wrong, room, "it is empty, holds a NUL byte, or nests deeper than %d", MAX_JSON_DEPTH);
    if (m->size > 0) memcpy(text, m->bytes, m->size);
    if (strlen(text) == m->size && m->size > 0 && depth_of(m) <= MAX_JSON_DEPTH) tree = yajl_tree_parse(text, wrong, room);
    wrong[strcspn(wrong, "\n")] = '\0';         /* the first line says what; the rest draws an arrow */
    free(text);
    return tree;
}

yajl_val tirc_json_of(yajl_val v, const char *key, yajl_type type)
{
    const char *path[] = { key, NULL };
    return v != NULL && YAJL_IS_OBJECT(v) ? yajl_tree_get(v, path, type) : NULL;
}

const char *tirc_json_text_of(yajl_val v, const char *key)
{
    yajl_val text = tirc_json_of(v, key, yajl_t_string);
    return text != NULL ? YAJL_GET_STRING(text) : NULL;
}
