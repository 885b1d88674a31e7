/* relay_text.c: pieces of Relay text that are longer than a word: comments, strings, bracketed groups, TIR functions in the
 * old form. They are read from the source itself; flex sees the words between them. */
#include "relay_text.h"

#include <string.h>

#include "ir/diag.h"
#include "relay_build.h"

void tg_relay_text_init(tg_relay_text *t, tg_ctx *cx, tg_source *src, uint32_t begin, uint32_t end)
{
    *t = (tg_relay_text){ .cx = cx, .src = src, .text = src->text, .end = end, .at = begin, .fed = begin };
    TG_PUSH(cx, t->frames, ((tg_relay_frame){ .kind = TG_FRAME_TOP }));
}

void tg_relay_text_reset(tg_relay_text *t, uint32_t at)
{
    t->at = t->fed = at;
    t->frames.n = 1;
    t->frames.at[0] = (tg_relay_frame){ .kind = TG_FRAME_TOP };
    while (t->words.n > 0)
        --t->words.at[--t->words.n]->count;
}

size_t tg_relay_feed(tg_relay_text *t, char *buffer, size_t most)
{
    enum { PIECE = 256 };
    size_t n = t->end - t->fed;
    n = n > PIECE ? PIECE : n;
    n = n > most ? most : n;
    memcpy(buffer, t->text + t->fed, n);
    t->fed += (uint32_t)n;
    return n;
}

bool tg_relay_stands(const tg_relay_text *t, uint32_t at, const char *word)
{
    size_t n = strlen(word);
    return at <= t->end && t->end - at >= n && memcmp(t->text + at, word, n) == 0;
}

uint32_t tg_relay_skip_blanks(const tg_relay_text *t, uint32_t at)
{
    while (at < t->end && (t->text[at] == ' ' || t->text[at] == '\n' || t->text[at] == '\t' || t->text[at] == '\r'))
        ++at;
    return at;
}

/* ---- comments ---- */

static uint32_t find_line_end(const tg_relay_text *t, uint32_t at, uint32_t stop)
{
    const char *p = at < stop ? memchr(t->text + at, '\n', stop - at) : NULL;
    return p == NULL ? stop : (uint32_t)(p - t->text);
}

static uint32_t line_end(const tg_relay_text *t, uint32_t at)
{
    return find_line_end(t, at, t->end);
}

/* How far an annotation may reach: to the end of the line, but no name is longer than TG_MAX_NAME. */
static uint32_t annotation_end(const tg_relay_text *t, uint32_t at)
{
    return find_line_end(t, at, t->end - at > 2 * TG_MAX_NAME ? at + 2 * TG_MAX_NAME : t->end);
}

/* ":12:8 " before this closing: the end of an annotation, whatever stood in the layer's name. */
static bool ends_in_place(const tg_relay_text *t, uint32_t begin, uint32_t close)
{
    uint32_t at = close;
    while (at > begin && t->text[at - 1] == ' ')
        --at;
    for (int k = 0; k < 2; ++k) {
        uint32_t digits = at;
        while (at > begin && ((t->text[at - 1] >= '0' && t->text[at - 1] <= '9') || t->text[at - 1] == '-'))
            --at;
        if (at == digits || at == begin || t->text[at - 1] != ':')
            return false;
        --at;
    }
    return true;
}

/* The end of "... span=source:1:2" on this line, or 0. */
static uint32_t annotation(const tg_relay_text *t, uint32_t at)
{
    uint32_t end = annotation_end(t, at);
    for (uint32_t i = at; i + 1 < end; ++i) {
        const char *p = memchr(t->text + i, '*', end - 1 - i);
        if (p == NULL)
            return 0;
        i = (uint32_t)(p - t->text);
        if (p[1] == '/' && ends_in_place(t, at, i))
            return i + 2;
    }
    return 0;
}

static uint32_t nested(const tg_relay_text *t, uint32_t at, bool nests)
{
    unsigned depth = 0;
    while (at + 1 < t->end) {
        if (t->text[at] == '/' && t->text[at + 1] == '*' && (nests || depth == 0)) {
            ++depth;
            at += 2;
        } else if (t->text[at] == '*' && t->text[at + 1] == '/') {
            at += 2;
            if (--depth == 0)
                return at;
        } else {
            ++at;
        }
    }
    return UINT32_MAX;
}

/* A span holds whatever the source model called its layers, so it may hold comment signs too. */
static bool is_annotation(const tg_relay_text *t, uint32_t at)
{
    return tg_relay_stands(t, at, "/* ty=") || tg_relay_stands(t, at, "/* span=");
}

static bool has_span(const tg_relay_text *t, uint32_t at)
{
    uint32_t end = annotation_end(t, at);
    for (uint32_t i = at; i < end; ++i) {
        const char *p = memchr(t->text + i, ' ', end - i);
        if (p == NULL)
            return false;
        i = (uint32_t)(p - t->text);
        if (tg_relay_stands(t, i, " span="))
            return true;
        if (tg_relay_stands(t, i, " */"))
            return false;
    }
    return false;
}

uint32_t tg_relay_comment(tg_relay_text *t, uint32_t at)
{
    uint32_t end = is_annotation(t, at) && has_span(t, at) ? annotation(t, at) : 0;
    if (end == 0)
        end = nested(t, at, !t->unnested);
    if (end == UINT32_MAX && is_annotation(t, at)) {
        t->unnested = true;
        end = nested(t, at, false);
    }
    return end == UINT32_MAX ? t->end : end;
}

uint32_t tg_relay_next(tg_relay_text *t, uint32_t at)
{
    for (;;) {
        at = tg_relay_skip_blanks(t, at);
        if (tg_relay_stands(t, at, "/*"))
            at = tg_relay_comment(t, at);
        else if (tg_relay_stands(t, at, "//"))
            at = line_end(t, at);
        else
            return at;
    }
}

/* ---- strings ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte that an escape stands for; moves *at behind it. An unknown escape stands for itself, backslash and all. */
static bool escape(const tg_relay_text *t, uint32_t *at, uint32_t end, char *out)
{
    static const char letters[] = "\"\\'/ntrbfav", bytes[] = "\"\\'/\n\t\r\b\f\a\v";
    char c = t->text[*at + 1];
    if (c == 'x' && *at + 3 < end && hex_digit(t->text[*at + 2]) >= 0 && hex_digit(t->text[*at + 3]) >= 0) {
        *out = (char)(hex_digit(t->text[*at + 2]) * 16 + hex_digit(t->text[*at + 3]));
        *at += 4;
        return true;
    }
    if (c >= '0' && c <= '7') {
        int value = 0;
        uint32_t i = *at + 1;
        for (int k = 0; k < 3 && i < end && t->text[i] >= '0' && t->text[i] <= '7'; ++k)
            value = value * 8 + (t->text[i++] - '0');
        *out = (char)value;
        *at = i;
        return true;
    }
    const char *p = c != '\0' ? strchr(letters, c) : NULL;
    if (p == NULL)
        return false;
    *out = bytes[p - letters];
    *at += 2;
    return true;
}

/* The closing quote; UINT32_MAX when the line ends first. */
static uint32_t closing_quote(const tg_relay_text *t, uint32_t at)
{
    char quote = t->text[at++];
    while (at < t->end && t->text[at] != quote && t->text[at] != '\n')
        at += t->text[at] == '\\' && at + 1 < t->end && t->text[at + 1] != '\n' ? 2 : 1;
    return at < t->end && t->text[at] == quote ? at : UINT32_MAX;
}

const tg_name *tg_relay_string(tg_relay_text *t, uint32_t at, uint32_t *end)
{
    uint32_t close = closing_quote(t, at);
    if (close == UINT32_MAX) {
        *end = line_end(t, at);
        return NULL;
    }
    *end = close + 1;
    char *to = tg_temp(t->cx, close - at);
    size_t n = 0;
    for (uint32_t i = at + 1; i < close;) {
        char c = t->text[i];
        if (c != '\\' || !escape(t, &i, close, &c))
            ++i;
        to[n++] = c;
    }
    return tg_intern(t->cx, to, n);
}

uint32_t tg_relay_string_end(const tg_relay_text *t, uint32_t at)
{
    uint32_t close = closing_quote(t, at);
    return close == UINT32_MAX ? at + 1 : close + 1;
}

/* ---- groups ---- */

uint32_t tg_relay_balanced(const tg_relay_text *t, uint32_t at)
{
    unsigned depth = 0;
    while (at < t->end) {
        char c = t->text[at];
        if (c == '"' || c == '\'') {
            at = tg_relay_string_end(t, at);
            continue;
        }
        depth += c == '(' || c == '[' || c == '{';
        ++at;
        if ((c == ')' || c == ']' || c == '}') && --depth == 0)
            return at;
    }
    return t->end;
}

/* legacy-primfn.md section 8: the function ends with the first line that is a closing brace and nothing else. */
uint32_t tg_relay_primfn(const tg_relay_text *t, uint32_t at)
{
    while (at < t->end) {
        at = line_end(t, at) + 1;
        if (at < t->end && t->text[at] == '}' &&
            (at + 1 == t->end || t->text[at + 1] == '\n' || t->text[at + 1] == '\r'))
            return at + 1;
    }
    return UINT32_MAX;
}

/* ---- the two parts of a file ---- */

/* The section's title at this byte: "#[metadata]", or in 0.6 a line "METADATA:". @return its length, or 0. */
static uint32_t title(const tg_relay_text *t, uint32_t at)
{
    bool begins_line = at == 0 || t->text[at - 1] == '\n';
    if (tg_relay_stands(t, at, "#[metadata]"))
        return 11;
    return begins_line && tg_relay_stands(t, at, "METADATA:") ? 9 : 0;
}

/* A title that begins a line and is followed by JSON: what counts when a variable's name looked like a comment. */
static uint32_t title_line(const tg_relay_text *t)
{
    for (uint32_t at = 0; at < t->end; at = line_end(t, at) + 1) {
        uint32_t n = title(t, at), json = tg_relay_skip_blanks(t, at + n);
        if (n > 0 && json < t->end && t->text[json] == '{')
            return at;
    }
    return UINT32_MAX;
}

uint32_t tg_relay_program_end(tg_relay_text *t, uint32_t *json)
{
    uint32_t at = 0;
    while ((at = tg_relay_next(t, at)) < t->end && title(t, at) == 0) {
        char c = t->text[at];
        uint32_t word = tg_relay_plain_name(t, at);
        at = c == '"' ? tg_relay_string_end(t, at) : word > at ? word : at + 1;
    }
    if (at == t->end)
        at = title_line(t);
    *json = at == UINT32_MAX ? 0 : at + title(t, at);
    return at == UINT32_MAX ? t->end : at;
}
