/* relay_note.c: what the comments behind tokens say (relay-text.md section 9): the layer's name in the source model, and the
 * type, which only matters where the text itself lacks it. */
#include <string.h>

#include "relay_build.h"
#include "relay.tab.h"

/* A comment's inside without blanks at its ends. */
typedef struct part { const char *at; size_t n; } part;

static part inside(tg_relay_text *t, uint32_t at, uint32_t *end)
{
    *end = tg_relay_comment(t, at);
    part c = { t->text + at + 2, *end - at >= 4 ? *end - at - 4 : 0 };
    while (c.n > 0 && c.at[0] == ' ') {
        ++c.at;
        --c.n;
    }
    while (c.n > 0 && c.at[c.n - 1] == ' ')
        --c.n;
    return c;
}

static bool begins(part c, const char *word)
{
    size_t n = strlen(word);
    return c.n >= n && memcmp(c.at, word, n) == 0;
}

/* A type never holds "=", so the first " span=" ends it. */
static size_t type_length(part c)
{
    for (size_t i = 0; i < c.n; ++i)
        if (c.at[i] == ' ' && begins((part){ c.at + i, c.n - i }, " span="))
            return i;
    return c.n;
}

/* Without the line and column that end it. */
static size_t layer_length(const char *text, size_t n)
{
    size_t whole = n;
    for (int k = 0; k < 2; ++k) {
        size_t digits = n;
        while (n > 0 && ((text[n - 1] >= '0' && text[n - 1] <= '9') || text[n - 1] == '-'))
            --n;
        if (n == digits || n == 0 || text[n - 1] != ':')
            return whole;
        --n;
    }
    return n;
}

static tg_relay_note read_part(part c)
{
    tg_relay_note note = { 0 };
    if (begins(c, "ty=")) {
        note.type = c.at + 3;
        note.type_len = type_length(c) - 3;
        size_t rest = note.type_len + 4;            /* "ty=" and a blank */
        c = rest < c.n ? (part){ c.at + rest, c.n - rest } : (part){ c.at, 0 };
    }
    if (begins(c, "span=")) {
        note.layer = c.at + 5;
        note.layer_len = layer_length(note.layer, c.n - 5);
    }
    return note;
}

tg_relay_note tg_relay_read_note(tg_relay_text *t, uint32_t at)
{
    uint32_t end;
    if (at == 0)
        return (tg_relay_note){ 0 };
    part first = inside(t, at, &end);
    if (begins(first, "ty=") || begins(first, "span="))
        return read_part(first);
    uint32_t next = tg_relay_skip_blanks(t, end);   /* 0.8: the layer and the type in comments of their own */
    if (!tg_relay_stands(t, next, "/*"))
        return (tg_relay_note){ 0 };
    part second = inside(t, next, &end);
    if (!begins(second, "ty="))
        return (tg_relay_note){ 0 };
    tg_relay_note note = read_part(second);
    note.layer = first.at;
    note.layer_len = first.n;
    return note;
}

/* TVM calls the text that its own parser read "from_string": that is no layer. */
const tg_name *tg_relay_note_layer(tg_relay *p, uint32_t at)
{
    static const char parsed[] = "from_string";
    tg_relay_note note = tg_relay_read_note(&p->t, at);
    if (note.layer_len == sizeof parsed - 1 && memcmp(note.layer, parsed, note.layer_len) == 0)
        return NULL;
    return note.layer_len == 0 || note.layer_len > TG_MAX_NAME ? NULL : tg_intern(p->cx, note.layer, note.layer_len);
}

bool tg_relay_note_dtype(tg_relay *p, uint32_t at, DLDataType *out)
{
    tg_relay_note note = tg_relay_read_note(&p->t, at);
    return note.type != NULL && tg_dtype_parse(note.type, note.type_len, out) && out->lanes == 1;
}

/* The type in a part of a source, by a parser of its own. The names in it are checked with those of @p p, if given. */
static const tg_type *parse_type(tg_ctx *cx, tg_relay *p, tg_source *src, const char *text, size_t n)
{
    tg_relay *q = TG_NEW(cx, tg_relay);
    uint32_t begin = (uint32_t)(text - src->text);
    q->cx = cx;
    q->type_only = q->quiet = true;
    tg_relay_text_init(&q->t, cx, src, begin, begin + (uint32_t)n);
    if (!tg_relay_run(q))
        return NULL;
    for (size_t i = 0; p != NULL && i < q->adt_used.n; ++i) {
        TG_PUSH(cx, p->adt_used, q->adt_used.at[i]);
        TG_PUSH(cx, p->adt_uses, q->adt_uses.at[i]);
    }
    return q->type;
}

const tg_type *tg_relay_note_type(tg_relay *p, uint32_t at)
{
    tg_relay_note note = tg_relay_read_note(&p->t, at);
    return note.type == NULL ? NULL : parse_type(p->cx, p, p->t.src, note.type, note.type_len);
}

const tg_type *tg_relay_annotated_type(tg_ctx *cx, tg_span at)
{
    tg_source *src = tg_source_of(cx, at);
    if (src == NULL)
        return NULL;
    tg_relay_text t;
    tg_relay_text_init(&t, cx, src, at.end, (uint32_t)src->size);
    uint32_t comment = tg_relay_skip_blanks(&t, at.end);
    if (!tg_relay_stands(&t, comment, "/*"))
        return NULL;
    tg_relay_note note = tg_relay_read_note(&t, comment);
    return note.type == NULL ? NULL : parse_type(cx, NULL, src, note.type, note.type_len);
}
