/* blob.h: the NDArray blob (relay-text.md section 8): a tensor in metadata sections and parameter files. */
#ifndef TG_BLOB_H
#define TG_BLOB_H

#include "ir/tensor.h"

enum { TG_BLOB_HEAD_MIN = 40, TG_BLOB_HEAD_MAX = TG_BLOB_HEAD_MIN + 8 * TG_MAX_NDIM };   /* bytes before the elements */

typedef struct tg_blob_head {
    const tg_type *type;
    size_t head_bytes, data_bytes;
} tg_blob_head;

/* Where reading stopped, and why. */
typedef struct tg_blob_error { size_t at; const char *text; } tg_blob_error;

/* Reads and checks what stands before the elements; @p size may be more or less than the whole blob. */
bool tg_blob_read_head(tg_ctx *cx, const unsigned char *bytes, size_t size, tg_blob_head *out, tg_blob_error *e);

/* A tensor over @p bytes, which are borrowed when their alignment, the byte order of this machine and their values
 * allow; else a copy. */
tg_tensor *tg_blob_tensor(tg_ctx *cx, const tg_type *type, const unsigned char *bytes);

/* The tensor of a whole blob in base64, decoded straight into its memory. NULL with @p e set; e->at counts characters. */
tg_tensor *tg_blob_read_base64(tg_ctx *cx, const char *text, size_t n, tg_blob_error *e);

/* Base64 (standard alphabet, padded) of any bytes, into the arena. NULL with @p e set. */
unsigned char *tg_base64_read(tg_ctx *cx, const char *text, size_t n, size_t *size_bytes, tg_blob_error *e);

/* Element bytes from little endian to this machine's order and back; bools other than 0 and 1 become 1. In place. */
void tg_blob_to_native(DLDataType d, unsigned char *bytes, size_t size);
static inline bool tg_is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}
static inline uint32_t tg_le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t tg_le64(const unsigned char *p)
{
    return tg_le32(p) | (uint64_t)tg_le32(p + 4) << 32;
}

#endif
