/* blob.c: the NDArray blob, from memory and from base64. Everything in its header is checked before memory is taken. */
#include "blob.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/text.h"
#include "parse.h"

static bool fails(tg_blob_error *e, size_t at, const char *text)
{
    *e = (tg_blob_error){ at, text };
    return false;
}

/* ---- the header ---- */

enum { BOOL_CODE = 6 };             /* of bool in TVM 0.23 and later; before, it is an unsigned integer of one bit */

static bool read_dtype(tg_ctx *cx, const unsigned char *p, DLDataType *out, tg_blob_error *e)
{
    uint8_t code = p[0], bits = p[1];
    unsigned lanes = (unsigned)p[2] | (unsigned)p[3] << 8;
    bool power = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    *out = tg_dtype(code, bits, 1);
    if (lanes != 1)
        return fails(e, 30, tg_format(cx, "an element of %u lanes", lanes));
    if (code == BOOL_CODE && bits == 8)
        *out = TG_BOOL;
    else if (!((code == kDLInt && power) || (code == kDLUInt && (power || bits == 1))
               || (code == kDLFloat && power && bits != 8) || (code == kDLBfloat && bits == 16)))
        return fails(e, 28,
                     tg_format(cx, "an element type of code %u with %u bits, which is not supported", code, bits));
    return true;
}

static bool read_shape(tg_ctx *cx, const unsigned char *p, uint32_t ndim, int64_t *dim, tg_blob_error *e)
{
    for (uint32_t k = 0; k < ndim; ++k) {
        dim[k] = (int64_t)tg_le64(p + 8 * (size_t)k);
        if (dim[k] < 0)
            return fails(e, 32 + 8 * (size_t)k, tg_format(cx, "an extent of %lld", (long long)dim[k]));
    }
    return true;
}

bool tg_blob_read_head(tg_ctx *cx, const unsigned char *bytes, size_t size, tg_blob_head *out, tg_blob_error *e)
{
    static const unsigned char magic[8] = { 0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd };
    int64_t dim[TG_MAX_NDIM], data;
    DLDataType d;
    if (size < TG_BLOB_HEAD_MIN)
        return fails(e, size, "a tensor cut off within its header");
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return fails(e, 0, "no tensor: its first eight bytes are wrong");
    if (tg_le32(bytes + 16) != kDLCPU)
        return fails(e, 16,
                     tg_format(cx, "a tensor of device type %u; only 1 (CPU) is known", (unsigned)tg_le32(bytes + 16)));
    uint32_t ndim = tg_le32(bytes + 24);
    if (ndim > TG_MAX_NDIM)
        return fails(e, 24,
                     tg_format(cx, "a tensor of %u dimensions; at most %d are supported", (unsigned)ndim, TG_MAX_NDIM));
    out->head_bytes = TG_BLOB_HEAD_MIN + 8 * (size_t)ndim;
    if (size < out->head_bytes)
        return fails(e, size, "a tensor cut off within its header");
    if (!read_dtype(cx, bytes + 28, &d, e) || !read_shape(cx, bytes + 32, ndim, dim, e))
        return false;
    out->type = tg_tensor_type(cx, d, ndim, dim, 0);
    if (!tg_type_bytes(out->type, &data))
        return fails(e, 32, "a tensor with too many elements");
    uint64_t said = tg_le64(bytes + out->head_bytes - 8);
    if (said != (uint64_t)data)
        return fails(e, out->head_bytes - 8,
                     tg_format(cx, "a byte count of %llu, but %s has %lld bytes", (unsigned long long)said,
                               tg_type_text(cx, out->type), (long long)data));
    out->data_bytes = (size_t)data;
    return true;
}

/* ---- the elements ---- */

void tg_blob_to_native(DLDataType d, unsigned char *bytes, size_t size)
{
    size_t width = tg_dtype_bytes(d);
    if (tg_is_bool(d))
        for (size_t i = 0; i < size; ++i)
            bytes[i] = bytes[i] != 0;
    if (!tg_is_big_endian() || width < 2)
        return;
    for (size_t i = 0; i + width <= size; i += width)
        for (size_t k = 0; k < width / 2; ++k) {
            unsigned char c = bytes[i + k];
            bytes[i + k] = bytes[i + width - 1 - k];
            bytes[i + width - 1 - k] = c;
        }
}

/* May a tensor point at these bytes as they are? */
static bool can_borrow(DLDataType d, const unsigned char *bytes, size_t size)
{
    if ((uintptr_t)bytes % 8 != 0 || (tg_is_big_endian() && tg_dtype_bytes(d) > 1))
        return false;
    for (size_t i = 0; tg_is_bool(d) && i < size; ++i)
        if (bytes[i] > 1)
            return false;
    return true;
}

tg_tensor *tg_blob_tensor(tg_ctx *cx, const tg_type *type, const unsigned char *bytes)
{
    int64_t size = 0;
    bool fits = tg_type_bytes(type, &size);
    TG_CHECK(cx, fits, NULL);
    if (can_borrow(type->dtype, bytes, (size_t)size))
        return tg_tensor_new(cx, type, (void *)(uintptr_t)bytes);   /* constants are never written to */
    tg_tensor *t = tg_tensor_new(cx, type, NULL);
    if (size > 0)
        memcpy(t->dl.data, bytes, (size_t)size);
    tg_blob_to_native(type->dtype, t->dl.data, (size_t)size);
    return t;
}

tg_tensor *tg_read_blob(tg_ctx *cx, tg_span at, const void *bytes, size_t size)
{
    tg_blob_head head;
    tg_blob_error e;
    bool good = tg_blob_read_head(cx, bytes, size, &head, &e);
    if (good && size - head.head_bytes != head.data_bytes)
        good = fails(
            &e, size,
            tg_format(cx, "a tensor of %zu bytes where its header says %zu", size, head.head_bytes + head.data_bytes));
    if (!good) {
        tg_error(cx, at, "this is %s", e.text);
        return NULL;
    }
    return tg_blob_tensor(cx, head.type, (const unsigned char *)bytes + head.head_bytes);
}

/* ---- base64 ---- */

enum { BAD = 0x80 };

/* Value of each character; BAD for what is not in the alphabet. */
static const unsigned char sextet[256] = {
#define B BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD
    B, B, B, B, B,
    BAD, BAD, BAD, 62, BAD, BAD, BAD, 63,
    52, 53, 54, 55, 56, 57, 58, 59,
    60, 61, BAD, BAD, BAD, BAD, BAD, BAD,
    BAD, 0, 1, 2, 3, 4, 5, 6,
    7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22,
    23, 24, 25, BAD, BAD, BAD, BAD, BAD,
    BAD, 26, 27, 28, 29, 30, 31, 32,
    33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, BAD, BAD, BAD, BAD, BAD,
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B
#undef B
};

/* Decodes whole groups of four characters without padding. @return the first bad character, or @p n. */
static size_t decode_groups(unsigned char *to, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < n; i += 4, to += 3) {
        uint32_t a = sextet[s[i]], b = sextet[s[i + 1]], c = sextet[s[i + 2]], d = sextet[s[i + 3]];
        if (((a | b | c | d) & BAD) != 0) {
            while (sextet[s[i]] != BAD) ++i;
            return i;
        }
        uint32_t three = a << 18 | b << 12 | c << 6 | d;
        to[0] = (unsigned char)(three >> 16);
        to[1] = (unsigned char)(three >> 8);
        to[2] = (unsigned char)three;
    }
    return n;
}

/* Size of the decoded bytes. False unless the text is groups of four, the last one padded with at most two '='. */
static bool decoded_size(const char *text, size_t n, size_t *size, tg_blob_error *e)
{
    if (n % 4 != 0)
        return fails(e, n, "base64 text whose length is not a multiple of four");
    size_t padding = n > 0 && text[n - 1] == '=' ? (text[n - 2] == '=' ? 2 : 1) : 0;
    *size = n / 4 * 3 - padding;
    return true;
}

/* Decodes text[from .. n), from a multiple of four, into @p to, which holds exactly the decoded bytes. */
static bool decode(unsigned char *to, const char *text, size_t from, size_t n, size_t size, tg_blob_error *e)
{
    size_t whole = size / 3 * 4, bad = decode_groups(to, text + from, whole);
    if (bad != whole)
        return fails(e, from + bad, "base64 text with a wrong character");
    if (size % 3 == 0)
        return true;
    char last[4] = { 'A', 'A', 'A', 'A' };          /* the padding as zero bits */
    unsigned char three[3];
    memcpy(last, text + n - 4, size % 3 + 1);
    bad = decode_groups(three, last, 4);
    if (bad != 4)
        return fails(e, n - 4 + bad, "base64 text with a wrong character");
    memcpy(to + size / 3 * 3, three, size % 3);
    return true;
}

unsigned char *tg_base64_read(tg_ctx *cx, const char *text, size_t n, size_t *size_bytes, tg_blob_error *e)
{
    if (!decoded_size(text, n, size_bytes, e))
        return NULL;
    unsigned char *to = tg_alloc(cx, *size_bytes);
    return decode(to, text, 0, n, *size_bytes, e) ? to : NULL;
}

tg_tensor *tg_blob_read_base64(tg_ctx *cx, const char *text, size_t n, tg_blob_error *e)
{
    enum { HEAD_CHARS = (TG_BLOB_HEAD_MAX + 2) / 3 * 4 };
    unsigned char front[HEAD_CHARS / 4 * 3];        /* the header, and for most tensors the first elements */
    size_t size;
    tg_blob_head head;
    if (!decoded_size(text, n, &size, e))
        return NULL;
    const size_t front_chars = n < HEAD_CHARS ? n : HEAD_CHARS;
    const size_t front_size = n == front_chars ? size : sizeof front;
    if (!decode(front, text, 0, front_chars, front_size, e))
        return NULL;
    if (!tg_blob_read_head(cx, front, front_size, &head, e)) {
        e->at = e->at / 3 * 4;
        return NULL;
    }
    if (size - head.head_bytes != head.data_bytes) {
        fails(
            e, n,
            tg_format(cx, "a tensor of %zu bytes where its header says %zu", size, head.head_bytes + head.data_bytes));
        return NULL;
    }
    tg_tensor *t = tg_tensor_new(cx, head.type, NULL);
    unsigned char *to = t->dl.data;
    size_t first = front_size - head.head_bytes;
    memcpy(to, front + head.head_bytes, first);
    if (size > front_size && !decode(to + first, text, front_chars, n, size - front_size, e))
        return NULL;
    tg_blob_to_native(head.type->dtype, to, head.data_bytes);
    return t;
}
