/* c_const.c: weights as constant arrays. Two constants with the same type and bytes are one array. Millions of numbers print
 * here: rows are filled by hand. */
#include "emit.h"

#include <string.h>

enum { WIDEST = 32 };

/* ---- which tables ---- */

static uint64_t key_of(const tg_tensor *t)
{
    uint64_t h = TG_KEY(t->type);
    const unsigned char *p = t->dl.data;
    size_t n = t->size_bytes;
    for (; n >= 8; n -= 8, p += 8) {            /* FNV over words: a byte at a time is slow for tens of megabytes */
        uint64_t w;
        memcpy(&w, p, sizeof w);
        h = (h ^ w) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return tg_hash(p, n, h);
}

/* The map leads from a tensor and from the hash of one to the index of its table, plus 1. */
static c_table *find_table(tg_emit *e, const tg_tensor *t, uint64_t key)
{
    uintptr_t at = (uintptr_t)tg_map_get(&e->table_of, key);
    return at != 0 && tg_tensor_equal(e->table.at[at - 1].tensor, t) ? &e->table.at[at - 1] : NULL;
}

const tg_name *c_table_name(tg_emit *e, const tg_tensor *t)
{
    uintptr_t direct = (uintptr_t)tg_map_get(&e->table_of, TG_KEY(t));
    TG_CHECK(e->cx, direct != 0, NULL);
    return e->table.at[direct - 1].name;
}

static bool collect(tg_ctx *cx, const tg_node *n, void *user)
{
    tg_emit *e = user;
    const tg_tensor *t = n->kind == TG_ALLOC_CONST ? n->u.alloc->tensor : NULL;
    if (t == NULL || !c_var_of(e, n->u.alloc->var)->used || tg_map_get(&e->table_of, TG_KEY(t)) != NULL)
        return tg_is_stmt(n);
    uint64_t key = key_of(t) | 1;               /* odd: no pointer */
    c_table *same = find_table(e, t, key);
    if (same == NULL) {
        const tg_name *hint = t->label != NULL ? t->label : n->u.alloc->var->name;
        c_table table = { t, c_global(e, hint->text, hint->len, "constant"), n->span };
        TG_PUSH(cx, e->table, table);
        same = &e->table.at[e->table.n - 1];
        tg_map_put(cx, &e->table_of, key, (void *)(uintptr_t)e->table.n);
    }
    tg_map_put(cx, &e->table_of, TG_KEY(t), (void *)(uintptr_t)((size_t)(same - e->table.at) + 1));
    return true;
}

void c_collect_tables(tg_emit *e)
{
    for (size_t i = 0; i < e->fn.n; ++i)
        tg_visit(e->cx, e->fn.at[i]->f->body, collect, e);
}

/* ---- numbers into a row ---- */

static size_t put_decimal(char *to, int64_t v)
{
    char digits[20];
    size_t n = 0, k = 0;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (v < 0)
        to[k++] = '-';
    while (n > 0)
        to[k++] = digits[--n];
    return k;
}

static size_t put_text(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return n;
}

static size_t put_hex16(char *to, uint16_t v)
{
    static const char digit[] = "0123456789abcdef";
    const char text[6] = { '0', 'x', digit[v >> 12], digit[v >> 8 & 15], digit[v >> 4 & 15], digit[v & 15] };
    memcpy(to, text, sizeof text);
    return sizeof text;
}

static size_t put_real(tg_emit *e, char *to, double v, bool is_float)
{
    uint64_t bits;
    if (v - v == 0)
        return c_hex_float(to, v, is_float);
    memcpy(&bits, &v, sizeof bits);
    e->need |= C_MATH;
    size_t n = bits >> 63 != 0 ? put_text(to, "-") : 0;
    return n + put_text(to + n, v != v ? "NAN" : "INFINITY");
}

static size_t put_wide(char *to, int64_t v)
{
    if (v == INT64_MIN)
        return put_text(to, "INT64_MIN");
    if (v >= -INT32_MAX && v <= INT32_MAX)
        return put_decimal(to, v);
    size_t n = v < 0 ? put_text(to, "-") : 0;
    n += put_text(to + n, "INT64_C(");
    n += put_decimal(to + n, v < 0 ? -v : v);
    return n + put_text(to + n, ")");
}

static size_t put_unsigned(char *to, uint64_t v, bool wide)
{
    char digits[20];
    size_t n = 0, k = 0;
    if (wide && v > UINT32_MAX)
        k = put_text(to, "UINT64_C(");
    bool bracket = k > 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    while (n > 0)
        to[k++] = digits[--n];
    to[k++] = bracket ? ')' : 'U';
    return k;
}

/* Element @p i of @p t at @p to, at most WIDEST characters. */
static size_t put_element(tg_emit *e, char *to, const tg_tensor *t, int64_t i)
{
    DLDataType d = t->dl.dtype;
    const char *at = (const char *)t->dl.data;
    size_t size = (size_t)((d.bits + 7) / 8);
    at += (size_t)i * size;
    if (c_is_half(d)) {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        return put_hex16(to, v);
    }
    if (d.code == kDLFloat && d.bits == 32) {
        float v;
        memcpy(&v, at, sizeof v);
        return put_real(e, to, (double)v, true);
    }
    if (d.code == kDLFloat)
        return put_real(e, to, tg_tensor_f64(t, i), false);
    int64_t v = tg_tensor_i64(t, i);
    if (tg_is_bool(d))
        return put_decimal(to, v != 0);
    if (d.code == kDLUInt && d.bits >= 32)
        return put_unsigned(to, d.bits == 32 ? (uint64_t)(uint32_t)v : (uint64_t)v, d.bits > 32);
    if (d.bits > 32)
        return put_wide(to, v);
    return v == INT32_MIN && d.bits == 32 ? put_text(to, "INT32_MIN") : put_decimal(to, v);
}

/* ---- a table ---- */

static int64_t count_of(const tg_tensor *t)
{
    int64_t count = t->dl.dtype.lanes;
    for (int k = 0; k < t->dl.ndim; ++k)
        count *= t->dl.shape[k];
    return count;
}

void c_put_rows(tg_emit *e, const tg_tensor *t)
{
    char line[C_COLUMNS + 8];
    size_t n = 0;
    int64_t count = count_of(t);
    for (int64_t i = 0; i < count; ++i) {
        char number[WIDEST];
        size_t k = put_element(e, number, t, i);
        if (n > 0 && n + 1 + k + 1 > C_COLUMNS) {
            line[n++] = '\n';
            tg_putn(e->to, line, n);
            n = 0;
        }
        if (n == 0) {
            memcpy(line, "    ", 4);
            n = 4;
        } else {
            line[n++] = ' ';
        }
        memcpy(line + n, number, k);
        n += k;
        line[n++] = ',';
    }
    if (n > 0) {
        line[n - 1] = '\n';                     /* no comma behind the last */
        tg_putn(e->to, line, n);
    }
}

static void put_table(tg_emit *e, const c_table *x)
{
    const tg_tensor *t = x->tensor;
    int64_t count = count_of(t);
    size_t size = (size_t)((t->dl.dtype.bits + 7) / 8);
    int64_t align = e->opt->constant_align > (int32_t)size ? e->opt->constant_align : (int64_t)size;
    tg_puts(e->to, "\n/* ");
    c_put_shape(e, t->dl.dtype, (uint32_t)t->dl.ndim, t->dl.shape);
    if (t->label != NULL) {
        tg_puts(e->to, "  ");
        c_put_comment(e, t->label->text, t->label->len);
    }
    tg_puts(e->to, " */\n");
    const char *type = c_element(e, t->dl.dtype, x->span);
    tg_printf(e->to, "static const TIRGEN_ALIGN(%lld) TIRGEN_CONST_SECTION %s %s[%lld] = {", (long long)align, type,
              x->name->text, (long long)(count > 0 ? count : 1));
    if (count == 0)
        tg_puts(e->to, " 0 };\n");              /* C has no empty array */
    else {
        tg_putc(e->to, '\n');
        c_put_rows(e, t);
        tg_puts(e->to, "};\n");
    }
}

/* Does a table hold a number that only math.h can spell? Asked before the includes are written. */
static bool has_macros(const tg_tensor *t)
{
    DLDataType d = t->dl.dtype;
    if (d.code != kDLFloat || d.bits < 32)
        return false;
    const char *p = t->dl.data;
    size_t n = t->size_bytes / (d.bits / 8);
    for (size_t i = 0; i < n; ++i) {
        uint64_t bits;
        uint32_t word;
        if (d.bits == 32)
            memcpy(&word, p + i * sizeof word, sizeof word);
        else
            memcpy(&bits, p + i * sizeof bits, sizeof bits);
        if (d.bits == 32 ? (word >> 23 & 0xff) == 0xff : (bits >> 52 & 0x7ff) == 0x7ff)
            return true;
    }
    return false;
}

void c_needs_of_tables(tg_emit *e)
{
    for (size_t i = 0; i < e->table.n; ++i)
        if (has_macros(e->table.at[i].tensor))
            e->need |= C_MATH;
    for (uint32_t i = 0; i < e->model.npools; ++i)
        for (uint32_t k = 0; k < e->model.pool[i].nparts; ++k)
            if (has_macros(e->model.pool[i].part[k].data))
                e->need |= C_MATH;
}

void c_put_tables(tg_emit *e)
{
    for (size_t i = 0; i < e->table.n; ++i)
        put_table(e, &e->table.at[i]);
}
