/* tvmscript_text.c: the scanner's longer actions: indentation, numbers, string literals, the metadata section. */
#include "tvmscript_text.h"
#include "number.h"
#include "ir/text.h"

#include <string.h>

static void fail_at(tg_script *p, tg_span at, const char *message)
{
    p->failed = true;
    tg_error(p->cx, at, "%s", message);
}

size_t tg_script_feed(tg_script *p, char *buffer, size_t most)
{
    size_t left = p->src->size - p->fed, n = left < most ? left : most;
    memcpy(buffer, p->src->text + p->fed, n);
    p->fed += n;
    return n;
}

tg_span tg_script_step(tg_script *p, uint32_t n)
{
    tg_span at = { p->src->id, p->at, p->at + n };
    p->at += n;
    return at;
}

typedef struct block { size_t size_bytes; size_t pad; } block;      /* keeps what follows aligned to 16 */

void *tg_script_block(tg_ctx *cx, void *old, size_t size_bytes)
{
    block *b = tg_temp(cx, sizeof *b + size_bytes);
    b->size_bytes = size_bytes;
    if (old != NULL) {
        size_t n = ((block *)old - 1)->size_bytes;
        memcpy(b + 1, old, n < size_bytes ? n : size_bytes);
    }
    return b + 1;
}

/* ---- lines and brackets ---- */

bool tg_script_open(tg_script *p, tg_span at)
{
    if (++p->brackets <= TG_SCRIPT_BRACKETS)
        return true;
    fail_at(p, at, tg_format(p->cx, "more than %d brackets are open", (int)TG_SCRIPT_BRACKETS));
    return false;
}

void tg_script_unclosed(tg_script *p, tg_span at)
{
    fail_at(p, at, "the text ends inside brackets");
}

void tg_script_bad_byte(tg_script *p, tg_span at, unsigned char c)
{
    fail_at(p, at, c > 0x20 && c < 0x7f ? tg_format(p->cx, "'%c' is no part of TVMScript", c)
                                        : tg_format(p->cx, "byte 0x%02x is no part of TVMScript", c));
}

int tg_script_indent(tg_script *p, tg_span at, const char *blanks, size_t n)
{
    uint32_t width = 0;
    for (size_t i = 0; i < n; ++i)
        width = blanks[i] == '\t' ? width / 8 * 8 + 8 : blanks[i] == ' ' ? width + 1 : width;
    uint32_t now = p->indents.at[p->indents.n - 1];
    if (width == now)
        return 0;
    if (width > now) {
        if (p->indents.n > TG_SCRIPT_SUITES)
            fail_at(p, at, tg_format(p->cx, "suites nest more than %d deep", (int)TG_SCRIPT_SUITES));
        TG_PUSH(p->cx, p->indents, width);
        return p->failed ? -1 : 1;
    }
    while (width < p->indents.at[p->indents.n - 1]) {
        --p->indents.n;
        ++p->dedents;
    }
    --p->dedents;                       /* one is returned at once */
    if (width != p->indents.at[p->indents.n - 1])
        fail_at(p, at, "this indentation fits no suite around it");
    return -1;
}

/* ---- comments that are the printer's import lines ---- */

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t'))
        ++s;
    return s;
}

static const char *skip_word(const char *s, const char *end, bool dots)
{
    while (s < end && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'
                       || (dots && *s == '.')))
        ++s;
    return s;
}

/* The word @p word and the blanks after it, or NULL. */
static const char *skip_exactly(const char *s, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - s) <= n || memcmp(s, word, n) != 0)
        return NULL;
    const char *after = skip_blanks(s + n, end);
    return after > s + n ? after : NULL;
}

void tg_script_comment(tg_script *p, tg_span at, const char *text, size_t n)
{
    const char *end = text + n, *s = memchr(text, '#', n);
    s = skip_exactly(skip_blanks(s + 1, end), end, "from");
    if (s == NULL)
        return;
    s = skip_exactly(skip_blanks(skip_word(s, end, true), end), end, "import");
    if (s == NULL)
        return;
    const char *module = s;
    s = skip_word(s, end, false);
    size_t length = (size_t)(s - module);
    const char *alias = skip_exactly(skip_blanks(s, end), end, "as");
    size_t alias_length = alias != NULL ? (size_t)(skip_word(alias, end, false) - alias) : length;
    if (alias == NULL)
        alias = module;
    if (length == 0 || alias_length == 0)
        return;
    tg_script_hint hint = { at.begin, tg_intern(p->cx, module, length), tg_intern(p->cx, alias, alias_length) };
    TG_PUSH(p->cx, p->hints, hint);
}

/* ---- numbers ---- */

enum { EXACT_POWER = 22 };

/* Both are exact doubles, so one operation rounds correctly. */
static bool short_decimal(uint64_t digits, long exponent, double *out)
{
    static const double power[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (digits >> 53 != 0 || exponent < -EXACT_POWER || exponent > EXACT_POWER)
        return false;
    *out = exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
    return true;
}

/* The double nearest to a decimal text. */
static double decimal_value(tg_script *p, tg_span at, const char *text, size_t n)
{
    char *plain = tg_temp(p->cx, n + 1);
    size_t k = 0, i = 0;
    long exponent = 0;
    uint64_t digits = 0;
    bool point = false;
    for (i = 0; i < n; ++i)
        if (text[i] != '_')
            plain[k++] = text[i];
    for (i = 0; i < k && (plain[i] == '.' || (plain[i] >= '0' && plain[i] <= '9')); ++i) {
        if (plain[i] == '.') {
            point = true;
            continue;
        }
        exponent -= point;
        digits = digits >> 53 != 0 ? UINT64_MAX : digits * 10 + (uint64_t)(plain[i] - '0');
    }
    double value;
    if (i == k && short_decimal(digits, exponent, &value))
        return value;
    tg_decimal d = { 0, 0 };
    if (!tg_read_decimal(p->cx, plain, k, &d))
        fail_at(p, at, "this is no number");
    return d.f64;
}

static tg_syn *integer(tg_script *p, tg_span at, uint64_t mag)
{
    tg_syn *s = tg_syn_new(p, TG_SYN_INT, at);
    s->u.mag = mag;
    return s;
}

tg_syn *tg_script_float(tg_script *p, tg_span at, const char *text, size_t n)
{
    tg_syn *s = tg_syn_new(p, TG_SYN_FLOAT, at);
    s->u.f = decimal_value(p, at, text, n);
    return s;
}

tg_syn *tg_script_decimal(tg_script *p, tg_span at, const char *text, size_t n)
{
    uint64_t mag = 0;
    for (size_t i = 0; i < n; ++i) {
        if (text[i] == '_')
            continue;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (mag > (UINT64_MAX - digit) / 10) {
            tg_syn *s = tg_script_float(p, at, text, n);
            s->huge = true;
            return s;
        }
        mag = mag * 10 + digit;
    }
    return integer(p, at, mag);
}

tg_syn *tg_script_radix(tg_script *p, tg_span at, const char *text, size_t n)
{
    unsigned shift = text[1] == 'x' || text[1] == 'X' ? 4 : text[1] == 'o' || text[1] == 'O' ? 3 : 1;
    uint64_t mag = 0;
    for (size_t i = 2; i < n; ++i) {
        char c = text[i];
        if (c == '_')
            continue;
        if (mag >> (64 - shift) != 0) {
            fail_at(p, at, "this number does not fit 64 bits");
            break;
        }
        mag = mag << shift | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return integer(p, at, mag);
}

/* ---- string literals ---- */

/* Where the bytes of a literal go: to a metadata reader, or into a growing buffer. Small pieces are gathered first. */
typedef struct sink { tg_meta *meta; char *at; size_t n, cap; uint32_t place; } sink;

enum { GATHER = 4096 };

static bool drain(sink *to)
{
    if (to->n == 0)
        return true;
    tg_meta_place(to->meta, to->place);
    bool good = tg_meta_feed(to->meta, to->at, to->n);
    to->n = 0;
    return good;
}

/* @p place: where in the source the bytes stand. */
static bool put(tg_script *p, sink *to, uint32_t place, const char *bytes, size_t n)
{
    if (to->meta != NULL && (n > GATHER || to->n + n > GATHER)) {
        if (!drain(to))
            return false;
        if (n > GATHER) {
            tg_meta_place(to->meta, place);
            return tg_meta_feed(to->meta, bytes, n);
        }
    }
    if (to->n == 0)
        to->place = place;
    if (to->n + n > to->cap) {
        size_t cap = to->cap * 2 > to->n + n ? to->cap * 2 : to->n + n + 64;
        char *grown = tg_temp(p->cx, cap);
        if (to->n > 0)
            memcpy(grown, to->at, to->n);
        to->at = grown;
        to->cap = cap;
    }
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static size_t utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; --i, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xf00u >> n & 0xffu) | c);
    return n;
}

/* Decodes the escape at s (after the backslash) into @p out. @return bytes read; *n bytes written. */
static size_t escape(const char *s, const char *end, char *out, size_t *n)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    const char *simple = memchr(from, *s, sizeof from - 1);
    *n = 1;
    if (simple != NULL) {
        *out = to[simple - from];
        return 1;
    }
    if (*s == '\n' || (*s == '\r' && s + 1 < end && s[1] == '\n')) {
        *n = 0;
        return *s == '\n' ? 1 : 2;
    }
    uint32_t value = 0;
    size_t k = 0;
    if (*s >= '0' && *s <= '7') {
        while (k < 3 && s + k < end && s[k] >= '0' && s[k] <= '7')
            value = value * 8 + (uint32_t)(s[k++] - '0');
        *out = (char)value;
        return k;
    }
    size_t digits = *s == 'x' ? 2 : *s == 'u' ? 4 : *s == 'U' ? 8 : 0;
    while (k < digits && s + k + 1 < end && hex_digit(s[k + 1]) >= 0)
        value = value * 16 + (uint32_t)hex_digit(s[1 + k++]);
    if (digits == 0 || k < digits || value > 0x10ffff) {      /* Python keeps the backslash of an unknown escape */
        out[0] = '\\';
        out[1] = *s;
        *n = 2;
        return 1;
    }
    if (digits == 2)
        *out = (char)value;             /* the printer means a byte, where Python would mean a character */
    else
        *n = utf8(out, value);
    return k + 1;
}

/* Reads from p->at up to and with the closing quotes. */
static bool literal(tg_script *p, tg_span at, char quote, bool triple, bool raw, sink *to)
{
    const char *text = p->src->text, *end = text + p->src->size, *s = text + p->at;
    for (;;) {
        const char *run = s;
        while (s < end && *s != quote && *s != '\\' && (triple || *s != '\n'))
            ++s;
        if (s > run && !put(p, to, (uint32_t)(run - text), run, (size_t)(s - run)))
            return false;
        if (s == end || *s == '\n') {
            fail_at(p, at, "this string is not closed");
            return false;
        }
        if (*s == quote) {
            if (!triple || (end - s >= 3 && s[1] == quote && s[2] == quote))
                break;
            if (!put(p, to, (uint32_t)(s - text), s, 1))
                return false;
            ++s;
            continue;
        }
        char out[8];
        size_t n, used = 1;
        if (++s == end)
            continue;
        if (raw) {
            out[0] = '\\';
            out[1] = *s;
            n = 2;
        } else {
            used = escape(s, end, out, &n);
        }
        if (!put(p, to, (uint32_t)(s - text), out, n))
            return false;
        s += used;
    }
    p->at = (uint32_t)(s - text) + (triple ? 3 : 1);
    return to->meta == NULL || drain(to);
}

/* The kind of quotes that end the token. */
static bool is_triple(const char *text, size_t n)
{
    return n >= 3 && text[n - 3] == text[n - 1] && text[n - 2] == text[n - 1];
}

const tg_name *tg_script_string(tg_script *p, tg_span *at, const char *text, size_t n)
{
    sink to = { 0 };
    bool raw = text[0] == 'r' || text[0] == 'R';
    if (!literal(p, *at, text[n - 1], is_triple(text, n), raw, &to))
        return NULL;
    at->end = p->at;
    return tg_intern(p->cx, to.at != NULL ? to.at : "", to.n);
}

/* ---- the metadata section ---- */

static bool meta_ends(tg_script *p, tg_script_meta meta)
{
    if (!tg_meta_end(meta.meta)) {
        p->failed = true;
        return false;
    }
    TG_PUSH(p->cx, p->metas, meta);
    return true;
}

bool tg_script_metadata(tg_script *p, tg_span at, const char *text, size_t n)
{
    tg_script_meta meta = { at.begin, false, tg_meta_new(p->cx, at) };
    sink to = { .meta = meta.meta, .at = tg_temp(p->cx, GATHER), .cap = GATHER };
    if (!literal(p, at, text[n - 1], is_triple(text, n), false, &to)) {
        p->failed = true;
        return false;
    }
    const char *s = p->src->text;
    while (p->at < p->src->size &&
           (s[p->at] == ' ' || s[p->at] == '\t' || s[p->at] == '\r' || s[p->at] == '\n' || s[p->at] == ','))
        ++p->at;
    if (p->at == p->src->size || s[p->at] != ')') {
        fail_at(p, (tg_span){ at.file, p->at, p->at }, "expected ')' after the metadata");
        return false;
    }
    ++p->at;
    return meta_ends(p, meta);
}

bool tg_script_legacy_metadata(tg_script *p, tg_span at)
{
    const char *s = p->src->text;
    uint32_t begin = p->at;
    size_t depth = 0;
    bool quoted = false;
    tg_script_meta meta = { at.begin, true, tg_meta_new(p->cx, at) };
    do {
        if (p->at >= p->src->size || (depth == 0 && s[p->at] != '{')) {
            fail_at(p, at, "the metadata is not closed");
            return false;
        }
        char c = s[p->at++];
        if (c == '"')
            quoted = !quoted;
        else if (c == '\\' && quoted)
            p->at += p->at < p->src->size;
        else if (!quoted)
            depth = c == '{' || c == '[' ? depth + 1 : c == '}' || c == ']' ? depth - 1 : depth;
    } while (depth > 0);
    tg_meta_place(meta.meta, begin);
    if (!tg_meta_feed(meta.meta, s + begin, p->at - begin)) {
        p->failed = true;
        return false;
    }
    return meta_ends(p, meta);
}
