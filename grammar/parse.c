/* parse.c: which of the two surface syntaxes a text is in, seen from its first words. */
#include <string.h>

#include "ir/diag.h"
#include "parse.h"

typedef struct reader { const char *at, *end; } reader;

static bool take(reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool skip_line(reader *r)
{
    const char *p = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    r->at = p == NULL ? r->end : p + 1;
    return true;
}

static bool skip_comment(reader *r)
{
    while (r->at < r->end && !take(r, "*/"))
        ++r->at;
    return true;
}

static bool skip_blank(reader *r)
{
    if (r->at == r->end || strchr(" \t\r\n", *r->at) == NULL || *r->at == '\0')
        return false;
    ++r->at;
    return true;
}

/* Blanks and the comments of both; a line of Python's that begins with # is one, but "#[" belongs to Relay. */
static void skip_comments(reader *r)
{
    for (;;) {
        bool title = r->end - r->at > 1 && r->at[0] == '#' && r->at[1] == '[';
        if (skip_blank(r) || take(r, "\xef\xbb\xbf"))
            continue;
        if ((take(r, "//") && skip_line(r)) || (take(r, "/*") && skip_comment(r)) ||
            (!title && take(r, "#") && skip_line(r)))
            continue;
        return;
    }
}

static void skip_word(reader *r)
{
    while (r->at < r->end && ((*r->at >= 'a' && *r->at <= 'z') || (*r->at >= 'A' && *r->at <= 'Z') || *r->at == '_'
                              || (*r->at >= '0' && *r->at <= '9')))
        ++r->at;
}

static void skip_blanks(reader *r)
{
    while (skip_blank(r)) { }
}

/* A word and a blank. */
static bool take_word(reader *r, const char *word)
{
    reader before = *r;
    if (take(r, word) && r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        return true;
    *r = before;
    return false;
}

/* Relay: "def @main", "@f = primfn(...)". Python: "def main", a decorator, "class", "import", "from", "metadata =". */
static bool is_python(reader r)
{
    static const char *const words[] = { "class", "import", "from", "metadata", "async", "with" };
    skip_comments(&r);
    if (take_word(&r, "def")) {
        skip_blanks(&r);
        return !take(&r, "@");
    }
    if (take(&r, "@")) {
        skip_word(&r);
        skip_blanks(&r);
        return !take(&r, "=");
    }
    for (size_t k = 0; k < TG_COUNT(words); ++k)
        if (take_word(&r, words[k]))
            return true;
    return false;
}

bool tg_parse_any(tg_ctx *cx, tg_module *m, tg_source *src)
{
    reader r = { src->text, src->text + src->size };
    reader first = r;
    skip_comments(&first);
    if (first.at == first.end) {
        tg_error(cx, (tg_span){ src->id, 0, 0 }, "the text is empty: expected Relay text or TVMScript");
        return false;
    }
    return is_python(r) ? tg_parse_tvmscript(cx, m, src) : tg_parse_relay(cx, m, src);
}
