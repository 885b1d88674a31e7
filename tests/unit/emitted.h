/* emitted.h: C for a TVMScript text, straight from the reader: what the tests of src/codegen_c look at. */
#ifndef TG_TEST_EMITTED_H
#define TG_TEST_EMITTED_H

#include "fixture.h"

#include "codegen_c/codegen.h"
#include "grammar/parse.h"
#include "ir/source.h"

enum { EMITTED_MOST = 8 };

typedef struct emitted {
    tg_fixture *f;
    unsigned n;
    const char *name[EMITTED_MOST];
    tg_text text[EMITTED_MOST];
    bool open;
} emitted;

static inline bool emitted_open(void *user, const char *name)
{
    emitted *x = user;
    assert_false(x->open);
    assert_true(x->n < EMITTED_MOST);
    x->name[x->n] = tg_format(x->f->cx, "%s", name);
    x->text[x->n] = tg_text_new(x->f->cx);
    x->open = true;
    return true;
}

static inline bool emitted_bytes(void *user, const char *at, size_t n)
{
    emitted *x = user;
    assert_true(x->open);
    tg_putn(&x->text[x->n], at, n);
    return true;
}

static inline bool emitted_close(void *user)
{
    emitted *x = user;
    assert_true(x->open);
    x->open = false;
    ++x->n;
    return true;
}

static inline tg_options emitted_options(void)
{
    return (tg_options){ .prefix = "t", .target = "c", .unpacked_api = true, .workspace_align = 16, .constant_align = 16, .entry = "main" };
}

static inline tg_module *emitted_parse(tg_fixture *f, const char *script)
{
    tg_module *m = tg_module_new(f->cx);
    tg_source *src = tg_source_add(f->cx, "t.py", script, strlen(script));
    if (!tg_parse_tvmscript(f->cx, m, src)) fail_msg("%s", tg_text_z(&f->log));
    return m;
}

static inline bool emit_module(emitted *x, tg_fixture *f, const tg_module *m, const tg_options *opt)
{
    memset(x, 0, sizeof *x);
    x->f = f;
    const tg_files files = { emitted_open, emitted_bytes, emitted_close, NULL, x };
    return tg_codegen_c(f->cx, m, opt, &files);
}

/* The text of a file. */
static inline const char *emitted_file(emitted *x, const char *name)
{
    for (unsigned i = 0; i < x->n; ++i)
        if (strcmp(x->name[i], name) == 0) return tg_text_z(&x->text[i]);
    fail_msg("no file %s", name);
    return NULL;
}

/* t.c for a script that must be fine. */
static inline const char *c_of(tg_fixture *f, const char *script)
{
    emitted x;
    tg_options opt = emitted_options();
    if (!emit_module(&x, f, emitted_parse(f, script), &opt)) fail_msg("%s", tg_text_z(&f->log));
    return emitted_file(&x, "t.c");
}

/* What stands between the braces of the last function of @p c. */
static inline const char *last_body(tg_fixture *f, const char *c)
{
    const char *start = NULL;
    for (const char *p = c; (p = strstr(p, "\n{\n")) != NULL; ++p) start = p + 3;
    assert_non_null(start);
    const char *end = strstr(start, "\n}\n");
    assert_non_null(end);
    return tg_format(f->cx, "%.*s", (int)(end - start), start);
}

/* Diagnostics of a script that the emitter must refuse. */
static inline const char *refusal_of(tg_fixture *f, const char *script)
{
    emitted x;
    tg_options opt = emitted_options();
    assert_false(emit_module(&x, f, emitted_parse(f, script), &opt));
    return tg_text_z(&f->log);
}

#endif
