/* relay_names.c: where variables are declared and how far their names go (relay-text.md section 10). */
#include <string.h>

#include "relay_text.h"
#include "relay_build.h"
#include "relay.tab.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The character at @p at; a line break past the end, which ends everything. */
static char peek(const tg_relay_text *t, uint32_t at)
{
    return at < t->end ? t->text[at] : '\n';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

uint32_t tg_relay_plain_name(const tg_relay_text *t, uint32_t at)
{
    uint32_t begin = at;
    while (at < t->end && (is_letter(t->text[at]) || is_digit(t->text[at])))
        ++at;
    if (at > begin && t->text[at - 1] == '/' && peek(t, at) == '*')     /* a comment follows */
        --at;
    return at;
}

/* ---- words in scope ---- */

/* FNV-1a, a byte at a time: uses are looked up while they grow. */
static uint64_t hash_more(uint64_t hash, char c)
{
    return (hash ^ (unsigned char)c) * 0x100000001b3u;
}

static const uint64_t hash_none = 0xcbf29ce484222325u;

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t hash = hash_none;
    for (size_t i = 0; i < n; ++i)
        hash = hash_more(hash, text[i]);
    return hash;
}

static tg_relay_word *find_word(const tg_relay_text *t, const char *text, size_t n, uint64_t hash)
{
    tg_relay_word *w = tg_map_get(&t->by_hash, hash);
    while (w != NULL && !(w->name->len == n && memcmp(w->name->text, text, n) == 0))
        w = w->next;
    return w;
}

void tg_relay_declare(tg_relay_text *t, const tg_name *name)
{
    uint64_t hash = hash_of(name->text, name->len);
    tg_relay_word *w = find_word(t, name->text, name->len, hash);
    if (w == NULL) {
        w = TG_NEW(t->cx, tg_relay_word);
        w->next = tg_map_get(&t->by_hash, hash);
        w->name = name;
        for (uint32_t i = 0; i < name->len && !w->odd; ++i)
            w->odd = !is_letter(name->text[i]) && !is_digit(name->text[i]);
        w->odd = w->odd || !is_letter(name->text[0]);
        tg_map_put(t->cx, &t->by_hash, hash, w);
    }
    if (w->odd && name->len > t->longest_odd)
        t->longest_odd = name->len;
    ++w->count;
    TG_PUSH(t->cx, t->words, w);
}

static void forget(tg_relay_text *t, uint32_t mark)
{
    while (t->words.n > mark)
        --t->words.at[--t->words.n]->count;
}

static bool in_scope(const tg_relay_text *t, uint32_t begin, uint32_t end)
{
    const tg_relay_word *w = find_word(t, t->text + begin, end - begin, hash_of(t->text + begin, end - begin));
    return w != NULL && w->count > 0;
}

/* ---- declarations ---- */

/* At a colon without a blank after it: does a type follow, as in hand-written "%x:int8"? A word must then be over. */
static bool type_follows(const tg_relay_text *t, uint32_t at)
{
    DLDataType d;
    uint32_t end;
    if (tg_relay_stands(t, at, "Tensor[") || tg_relay_stands(t, at, "fn ") || tg_relay_stands(t, at, "fn(") ||
        peek(t, at) == '(')
        return true;
    end = tg_relay_plain_name(t, at);
    if (end == at)
        return false;
    uint32_t next = tg_relay_skip_blanks(t, end);
    bool over = is_one_of(peek(t, next), ",)=;{") || tg_relay_stands(t, next, "/*");
    return over && tg_dtype_parse(t->text + at, end - at, &d);
}

/* A comma within the parameter list, or within the name? */
static bool comma_ends(const tg_relay_text *t, uint32_t at)
{
    char c = peek(t, at);
    if (is_blank(c) || c == '%' || c == ')' || c == '"')
        return true;
    uint32_t key = at;
    while (key < t->end && (is_letter(t->text[key]) || is_digit(t->text[key]) || t->text[key] == '.'))
        ++key;
    return key > at && peek(t, key) == '=';
}

/* Blanks within a name, or after it? The latter when something follows that can only follow a declaration. */
static bool blank_ends(const tg_relay_text *t, uint32_t at)
{
    while (peek(t, at) == ' ' || peek(t, at) == '\t')
        ++at;
    return is_one_of(peek(t, at), ":{=,);\r\n") || tg_relay_stands(t, at, "/*") || tg_relay_stands(t, at, "//");
}

static bool comment_ends_on_line(const tg_relay_text *t, uint32_t at)
{
    for (; at < t->end && t->text[at] != '\n'; ++at)
        if (tg_relay_stands(t, at, "*/"))
            return true;
    return false;
}

/* Is the name that is being declared over at this byte? @p open: parentheses within the name. */
static bool declaration_ends(const tg_relay_text *t, uint32_t at, unsigned open)
{
    char c = peek(t, at), next = peek(t, at + 1);
    bool let = t->last == LET || t->last == FREE_VAR;
    switch (c) {
    case '\n': case '\r': return true;
    case ' ': case '\t': return blank_ends(t, at);
    case ':': return is_blank(next) || type_follows(t, at + 1);
    case ',': return !let && comma_ends(t, at + 1);
    case ')': return open == 0;
    case '=': return let || next == '>';
    case '{': return tg_relay_stands(t, at, "{virtual_device");
    case ';': return t->last == FREE_VAR;
    case '/': return next == '*' && comment_ends_on_line(t, at);
    default: return false;
    }
}

uint32_t tg_relay_declared_name(tg_relay_text *t, uint32_t at)
{
    unsigned open = 0;
    while (at < t->end && !declaration_ends(t, at, open)) {
        open += t->text[at] == '(';
        open -= t->text[at] == ')' && open > 0;
        ++at;
    }
    return at;
}

bool tg_relay_declares(const tg_relay_text *t)
{
    const tg_relay_frame *f = &t->frames.at[t->frames.n - 1];
    if (t->last == LET || t->last == FREE_VAR || f->kind == TG_FRAME_PATTERN)
        return true;
    if (f->kind == TG_FRAME_PARAMS)
        return t->last == '(' || t->last == ',';
    return f->kind == TG_FRAME_MATCH && f->in_pattern;
}

/* ---- uses ---- */

/* May a use end before this byte? */
static bool use_ends(const tg_relay_text *t, uint32_t at)
{
    char c = peek(t, at);
    return is_blank(c) || is_one_of(c, ",)};(]+*<>=!{^") || (c == '.' && is_digit(peek(t, at + 1))) ||
           tg_relay_stands(t, at, "/*") || tg_relay_stands(t, at, "//");
}

/* No declared name holds these. */
static bool never_in_name(const tg_relay_text *t, uint32_t at)
{
    char c = peek(t, at);
    return c == '\n' || c == '\r' || (is_blank(peek(t, at + 1)) && (c == ',' || c == ':'));
}

static uint32_t longest_odd_name(const tg_relay_text *t, uint32_t at)
{
    uint64_t hash = hash_none;
    uint32_t best = at, last = t->end - at > t->longest_odd ? at + (uint32_t)t->longest_odd : t->end;
    for (uint32_t i = at; i < last && !never_in_name(t, i); ++i) {
        hash = hash_more(hash, t->text[i]);
        if (!use_ends(t, i + 1))
            continue;
        const tg_relay_word *w = find_word(t, t->text + at, i + 1 - at, hash);
        if (w != NULL && w->odd && w->count > 0)
            best = i + 1;
    }
    return best;
}

uint32_t tg_relay_used_name(tg_relay_text *t, uint32_t at)
{
    uint32_t odd = longest_odd_name(t, at);
    if (odd > at)
        return odd;
    uint32_t end = tg_relay_plain_name(t, at);
    if (end == at || memchr(t->text + at, '/', end - at) == NULL || in_scope(t, at, end))
        return end;
    for (uint32_t i = end; i > at + 1; --i)         /* "%x/%y" without blanks, "%x//comment" */
        if (t->text[i - 1] == '/' && in_scope(t, at, i - 1))
            return i - 1;
    return end;
}

/* ---- brackets ---- */

static void push(tg_relay_text *t, enum tg_relay_frame_kind kind, uint32_t mark)
{
    if (t->frames.n > TG_MAX_NESTING)
        tg_fail(t->cx, TIRGEN_ELIMIT, (tg_span){ t->src->id, t->at - 1, t->at }, "nested more than %d levels deep",
                TG_MAX_NESTING);
    tg_relay_frame f = { .kind = (uint8_t)kind, .mark = mark, .in_pattern = kind == TG_FRAME_MATCH };
    TG_PUSH(t->cx, t->frames, f);
}

static void open_round(tg_relay_text *t, tg_relay_frame *f)
{
    bool pattern = f->kind == TG_FRAME_PATTERN || (f->kind == TG_FRAME_MATCH && f->in_pattern);
    bool params = f->fn_next;
    f->fn_next = false;
    push(t, params ? TG_FRAME_PARAMS : pattern ? TG_FRAME_PATTERN : TG_FRAME_PLAIN, (uint32_t)t->words.n);
}

static void open_curly(tg_relay_text *t, tg_relay_frame *f)
{
    bool arms = f->match_next && !f->has_body;
    uint32_t mark = f->has_body ? f->body_mark : (uint32_t)t->words.n;
    f->match_next = f->match_next && !arms;
    f->has_body = false;
    push(t, arms ? TG_FRAME_MATCH : TG_FRAME_PLAIN, mark);
}

static void close(tg_relay_text *t)
{
    tg_relay_frame f = t->frames.at[t->frames.n - 1];
    if (t->frames.n == 1)
        return;                                     /* a closing bracket too many: the parser says so */
    --t->frames.n;
    tg_relay_frame *outer = &t->frames.at[t->frames.n - 1];
    if (f.kind == TG_FRAME_PARAMS) {
        outer->body_mark = outer->has_body ? outer->body_mark : f.mark;
        outer->has_body = true;
    } else if (f.kind != TG_FRAME_PATTERN) {
        forget(t, f.mark);
    }
}

/* The end of an expression or a declaration: a function type that was read had no body. */
static void separator(tg_relay_text *t, tg_relay_frame *f, int token)
{
    f->has_body = f->fn_next = false;
    if (token == ',' && f->kind == TG_FRAME_MATCH && !f->in_pattern) {
        forget(t, f->mark);
        f->in_pattern = true;
    }
}

void tg_relay_track(tg_relay_text *t, int token)
{
    tg_relay_frame *f = &t->frames.at[t->frames.n - 1];
    switch (token) {
    case FN: f->fn_next = true; break;
    case GLOBAL: f->fn_next = t->last == DEF; break;
    case MATCH: case MATCH_PARTIAL: f->match_next = true; break;
    case '(': open_round(t, f); break;
    case '[': push(t, f->kind == TG_FRAME_PATTERN ? TG_FRAME_PATTERN : TG_FRAME_PLAIN, (uint32_t)t->words.n); break;
    case '{': open_curly(t, f); break;
    case ')': case ']': case '}': close(t); break;
    case ',': case ';': case '=': separator(t, f, token); break;
    case FAT_ARROW: f->in_pattern = false; break;
    default: break;
    }
    t->last = token;
}
