/* npy.c: NumPy arrays in files: the header is a Python dictionary in text, then the elements. */
#include <string.h>

#include "blob.h"
#include "ir/diag.h"
#include "ir/text.h"
#include "npy.h"
#include "parse.h"

enum { MAGIC_BYTES = 6, DATA_ALIGN = 64 };

static const unsigned char magic[MAGIC_BYTES] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

/* The header being read. */
typedef struct npy {
    tg_ctx *cx;
    const char *file;
    const char *text;               /* the file */
    size_t at, end;                 /* within the header */
    bool swap, fortran;
    uint32_t ndim;
    int64_t dim[TG_MAX_NDIM];
    DLDataType dtype;
    bool has_descr, has_order, has_shape;
} npy;

bool tg_is_npy(const void *bytes, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0;
}

static bool fails(npy *h, const char *what)
{
    tg_error_file(h->cx, h->file, h->at, "%s", what);
    return false;
}

static void skip_blanks(npy *h)
{
    while (h->at < h->end && (h->text[h->at] == ' ' || h->text[h->at] == '\n' || h->text[h->at] == '\t'))
        ++h->at;
}

static bool take(npy *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || h->text[h->at] != c)
        return false;
    ++h->at;
    return true;
}

static bool take_word(npy *h, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(h);
    if (h->end - h->at < n || memcmp(h->text + h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

static bool take_quoted(npy *h, const char **text, size_t *n)
{
    skip_blanks(h);
    char quote = h->at < h->end ? h->text[h->at] : '\0';
    if (quote != '\'' && quote != '"')
        return fails(h, "a quoted word was expected in the header");
    *text = h->text + ++h->at;
    const char *close = memchr(*text, quote, h->end - h->at);
    if (close == NULL)
        return fails(h, "the header is cut off");
    *n = (size_t)(close - *text);
    h->at += *n + 1;
    return true;
}

static bool take_int(npy *h, int64_t *out)
{
    skip_blanks(h);
    size_t start = h->at;
    *out = 0;
    while (h->at < h->end && h->text[h->at] >= '0' && h->text[h->at] <= '9') {
        int64_t d = h->text[h->at] - '0';
        if (*out > (TG_MAX_ELEMENTS - d) / 10)
            return fails(h, "an extent that is too large");
        *out = *out * 10 + d;
        ++h->at;
    }
    if (h->at < h->end && h->text[h->at] == 'L')    /* Python 2 */
        ++h->at;
    return h->at > start || fails(h, "an extent was expected in the header");
}

/* '<f4', '|b1', '>i8' */
static bool read_descr(npy *h)
{
    static const struct { const char *text; uint8_t code, bits; } types[] = {
        { "b1", kDLUInt, 1 }, { "i1", kDLInt, 8 }, { "i2", kDLInt, 16 }, { "i4", kDLInt, 32 }, { "i8", kDLInt, 64 },
        { "u1", kDLUInt, 8 }, { "u2", kDLUInt, 16 }, { "u4", kDLUInt, 32 }, { "u8", kDLUInt, 64 },
        { "f2", kDLFloat, 16 }, { "f4", kDLFloat, 32 }, { "f8", kDLFloat, 64 }
    };
    const char *text;
    size_t n;
    if (!take_quoted(h, &text, &n))
        return false;
    bool ordered = n == 3 && strchr("<>|=", text[0]) != NULL;
    for (size_t k = 0; (ordered || n == 2) && k < TG_COUNT(types); ++k)
        if (memcmp(text + n - 2, types[k].text, 2) == 0) {
            h->dtype = tg_dtype(types[k].code, types[k].bits, 1);
            h->swap = ordered && (text[0] == '>' ? !tg_is_big_endian() : text[0] == '<' && tg_is_big_endian());
            return true;
        }
    h->at -= n + 1;
    return fails(h, tg_format(h->cx, "elements of type '%.*s' are not supported", (int)(n > 40 ? 40 : n), text));
}

static bool read_shape(npy *h)
{
    if (!take(h, '('))
        return fails(h, "a shape was expected");
    while (!take(h, ')')) {
        if (h->ndim == TG_MAX_NDIM)
            return fails(h, tg_format(h->cx, "more than %d dimensions", TG_MAX_NDIM));
        if (!take_int(h, &h->dim[h->ndim]))
            return false;
        ++h->ndim;
        if (!take(h, ',') && (h->at == h->end || h->text[h->at] != ')'))
            return fails(h, "a comma was expected in the shape");
    }
    return true;
}

static bool read_entry(npy *h)
{
    const char *key;
    size_t n;
    if (!take_quoted(h, &key, &n))
        return false;
    if (!take(h, ':'))
        return fails(h, "a colon was expected in the header");
    if (n == 5 && memcmp(key, "descr", 5) == 0)
        return h->has_descr = read_descr(h);
    if (n == 5 && memcmp(key, "shape", 5) == 0 && !h->has_shape)
        return h->has_shape = read_shape(h);
    if (n == 13 && memcmp(key, "fortran_order", 13) == 0) {
        h->fortran = take_word(h, "True");
        h->has_order = h->fortran || take_word(h, "False");
        return h->has_order || fails(h, "True or False was expected");
    }
    return fails(h, "an unknown key in the header");
}

/* Sizes in front of the dictionary, then the dictionary. h->at is then where the elements begin. */
static bool read_header(npy *h, size_t size)
{
    const unsigned char *p = (const unsigned char *)h->text;
    h->at = MAGIC_BYTES;
    if (!tg_is_npy(p, size) || size < MAGIC_BYTES + 4)
        return fails(h, "this is no .npy file");
    unsigned version = p[6];
    size_t begin = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return fails(h, tg_format(h->cx, "version %u of the .npy format is not known", version));
    if (size < begin)
        return fails(h, "the header is cut off");
    size_t length = version == 1 ? (size_t)p[8] | (size_t)p[9] << 8 : tg_le32(p + 8);
    if (length > size - begin)
        return fails(h, "the header is cut off");
    h->at = begin;
    h->end = begin + length;
    if (!take(h, '{'))
        return fails(h, "a dictionary was expected in the header");
    while (!take(h, '}')) {
        if (!read_entry(h))
            return false;
        if (!take(h, ',') && (h->at == h->end || h->text[h->at] != '}'))
            return fails(h, "a comma was expected in the header");
    }
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return fails(h, "the header lacks descr, fortran_order or shape");
    h->at = h->end;
    return true;
}

/* Row-major order from column-major: the output is written in order, the input position counts along. */
static void reorder(const npy *h, unsigned char *to, const unsigned char *from, int64_t elements)
{
    size_t width = tg_dtype_bytes(h->dtype);
    int64_t index[TG_MAX_NDIM] = { 0 }, step[TG_MAX_NDIM], at = 0, stride = 1;
    for (uint32_t k = 0; k < h->ndim; ++k) {
        step[k] = stride;
        stride *= h->dim[k];
    }
    for (int64_t i = 0; i < elements; ++i) {
        memcpy(to + (size_t)i * width, from + (size_t)at * width, width);
        for (uint32_t k = h->ndim; k-- > 0;) {
            at += step[k];
            if (++index[k] < h->dim[k])
                break;
            at -= step[k] * h->dim[k];
            index[k] = 0;
        }
    }
}

static void swap_bytes(unsigned char *p, size_t size, size_t width)
{
    for (size_t i = 0; width > 1 && i + width <= size; i += width)
        for (size_t k = 0; k < width / 2; ++k) {
            unsigned char c = p[i + k];
            p[i + k] = p[i + width - 1 - k];
            p[i + width - 1 - k] = c;
        }
}

tg_tensor *tg_read_npy(tg_ctx *cx, const char *file, const void *bytes, size_t size)
{
    npy h = { .cx = cx, .file = file, .text = bytes };
    int64_t elements, data;
    if (!read_header(&h, size))
        return NULL;
    const tg_type *type = tg_tensor_type(cx, h.dtype, h.ndim, h.dim, 0);
    if (!tg_type_elements(type, &elements) || !tg_type_bytes(type, &data)) {
        fails(&h, "an array with too many elements");
        return NULL;
    }
    if (size - h.at != (uint64_t)data) {
        fails(&h, tg_format(cx, "%s has %lld bytes of elements, the file has %zu", tg_type_text(cx, type),
                            (long long)data, size - h.at));
        return NULL;
    }
    tg_tensor *t = tg_tensor_new(cx, type, NULL);
    const unsigned char *from = (const unsigned char *)bytes + h.at;
    if (h.fortran && h.ndim > 1 && elements > 0)
        reorder(&h, t->dl.data, from, elements);
    else if (data > 0)
        memcpy(t->dl.data, from, (size_t)data);
    if (h.swap)
        swap_bytes(t->dl.data, t->size_bytes, tg_dtype_bytes(h.dtype));
    if (tg_is_bool(h.dtype))
        tg_blob_to_native(h.dtype, t->dl.data, t->size_bytes);
    return t;
}

/* ---- writing ---- */

void *tg_write_npy(tg_ctx *cx, const tg_tensor *t, size_t *size_bytes)
{
    DLDataType d = t->type->dtype;
    const char *order = tg_dtype_bytes(d) == 1 ? "|" : tg_is_big_endian() ? ">" : "<";
    char letter = tg_is_bool(d)        ? 'b'
                  : d.code == kDLInt   ? 'i'
                  : d.code == kDLFloat ? 'f'
                  : d.code == kDLUInt  ? 'u'
                                       : 'V';
    tg_text s = tg_text_new(cx);
    tg_printf(&s, "{'descr': '%s%c%d', 'fortran_order': False, 'shape': (", order, letter, (int)tg_dtype_bytes(d));
    for (uint32_t k = 0; k < t->type->n; ++k)
        tg_printf(&s, k == 0 ? "%lld," : k + 1 < t->type->n ? " %lld," : " %lld", (long long)t->type->dim[k]);
    tg_puts(&s, "), }");
    while ((10 + s.n + 1) % DATA_ALIGN != 0)
        tg_putc(&s, ' ');
    tg_putc(&s, '\n');
    *size_bytes = 10 + s.n + t->size_bytes;
    unsigned char *out = tg_alloc(cx, *size_bytes);
    memcpy(out, magic, MAGIC_BYTES);
    out[6] = 1;
    out[8] = (unsigned char)(s.n & 255);
    out[9] = (unsigned char)(s.n >> 8);
    memcpy(out + 10, s.at, s.n);
    if (t->size_bytes > 0)
        memcpy(out + 10 + s.n, t->dl.data, t->size_bytes);
    return out;
}
