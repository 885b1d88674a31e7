/* params.c: named tensors from a file: TVM's .params blob, an .npz archive, or one .npy array. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "blob.h"
#include "ir/diag.h"
#include "ir/map.h"
#include "ir/source.h"
#include "ir/text.h"
#include "npy.h"
#include "parse.h"

enum {
    NAME_MIN = 8,                   /* bytes of a name, its length alone */
    MAX_INFLATE = 1040              /* no deflated byte becomes more bytes than this */
};
#define LIST_MAGIC 0xF7E58D4F05049CB7u

/* A file being read from front to back. */
typedef struct input {
    tg_ctx *cx;
    const char *file;
    const unsigned char *bytes;
    size_t at, size;
} input;

static bool fails(input *in, const char *what)
{
    tg_error_file(in->cx, in->file, in->at, "%s", what);
    return false;
}

static bool take_u64(input *in, const char *what, uint64_t *out)
{
    if (in->size - in->at < 8)
        return fails(in, tg_format(in->cx, "the file ends where %s was expected", what));
    *out = tg_le64(in->bytes + in->at);
    in->at += 8;
    return true;
}

/* Two tensors of one name: which of them was meant is anybody's guess. */
static bool names_differ(input *in, const tg_params *list)
{
    tg_map seen = { 0 };
    for (size_t i = 0; i < list->n; ++i) {
        if (tg_map_get(&seen, TG_KEY(list->at[i].name)) != NULL)
            return fails(in, tg_format(in->cx, "two tensors are called \"%s\"", list->at[i].name->text));
        tg_map_put(in->cx, &seen, TG_KEY(list->at[i].name), &list->at[i]);
    }
    return true;
}

/* ---- .params ---- */

static bool take_names(input *in, tg_params *out)
{
    uint64_t n, length;
    if (!take_u64(in, "the number of names", &n))
        return false;
    if (n > (in->size - in->at) / NAME_MIN)
        return in->at -= 8, fails(in, tg_format(in->cx, "%llu names cannot fit into this file", (unsigned long long)n));
    out->n = (size_t)n;
    out->at = TG_ARRAY(in->cx, tg_param, out->n);
    for (size_t i = 0; i < out->n; ++i) {
        if (!take_u64(in, "the length of a name", &length))
            return false;
        if (length > in->size - in->at || length > TG_MAX_NAME)
            return in->at -= 8, fails(in, tg_format(in->cx, "a name of %llu bytes", (unsigned long long)length));
        out->at[i].name = tg_intern(in->cx, (const char *)in->bytes + in->at, (size_t)length);
        in->at += (size_t)length;
    }
    return true;
}

static bool take_tensor(input *in, tg_param *p)
{
    tg_blob_head head;
    tg_blob_error e;
    bool good = tg_blob_read_head(in->cx, in->bytes + in->at, in->size - in->at, &head, &e);
    if (good && in->size - in->at - head.head_bytes < head.data_bytes) {
        good = false;
        e = (tg_blob_error){ in->size - in->at, "a tensor cut off within its elements" };
    }
    if (!good) {
        in->at += e.at;
        return fails(in, tg_format(in->cx, "\"%s\" is %s", p->name->text, e.text));
    }
    p->value = tg_blob_tensor(in->cx, head.type, in->bytes + in->at + head.head_bytes);
    p->value->label = p->name;
    in->at += head.head_bytes + head.data_bytes;
    return true;
}

static bool read_list(input *in, tg_params *out)
{
    uint64_t reserved, n;
    in->at = 8;
    if (!take_u64(in, "the rest of the header", &reserved) || !take_names(in, out) ||
        !take_u64(in, "the number of tensors", &n))
        return false;
    if (n != out->n)
        return in->at -= 8, fails(in, tg_format(in->cx, "%llu tensors for %zu names", (unsigned long long)n, out->n));
    for (size_t i = 0; i < out->n; ++i)
        if (!take_tensor(in, &out->at[i]))
            return false;
    if (in->at != in->size)
        return fails(in, "bytes after the last tensor");
    return names_differ(in, out);
}

/* ---- .npz: a zip archive of .npy files. Nothing is taken from the arena while the archive is open, because running out
 * of memory leaves at once: one pass counts the bytes, the next fills them in. ---- */

typedef struct unpacked { size_t count, bytes; } unpacked;

/* By the directory at the end of the archive: one that was cut off has none, and nothing is missing silently. */
static struct archive *open_zip(const input *in)
{
    struct archive *a = archive_read_new();
    if (a != NULL && archive_read_support_format_zip_seekable(a) == ARCHIVE_OK
        && archive_read_open_memory(a, (const void *)in->bytes, in->size) == ARCHIVE_OK)
        return a;
    archive_read_free(a);
    return NULL;
}

static const char *entry_name(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (name == NULL)                               /* not in the character set of the locale */
        name = archive_entry_pathname_utf8(entry);
    return name != NULL ? name : "";
}

/* Counts and measures the entries, names included. @return what is wrong, or NULL. */
static const char *measure(const input *in, unpacked *sum)
{
    struct archive_entry *entry;
    struct archive *a = open_zip(in);
    const char *wrong = NULL;
    int status = ARCHIVE_EOF;
    if (a == NULL)
        return "the archive cannot be opened";
    while (wrong == NULL && (status = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
        uint64_t size = (uint64_t)archive_entry_size(entry);
        if (!archive_entry_size_is_set(entry) || size / MAX_INFLATE > in->size)
            wrong = "the archive is damaged: an entry has no size, or an impossible one";
        sum->count += 1;
        sum->bytes += (size_t)size + strlen(entry_name(entry)) + 1;
    }
    archive_read_free(a);
    return wrong == NULL && status != ARCHIVE_EOF ? "the archive is damaged" : wrong;
}

/* An entry in memory. */
typedef struct member { const char *name; const unsigned char *bytes; size_t size; } member;

static const char *unpack(const input *in, unpacked sum, unsigned char *to, member *out)
{
    struct archive_entry *entry;
    struct archive *a = open_zip(in);
    const char *wrong = a == NULL ? "the archive cannot be opened" : NULL;
    for (size_t i = 0, left = sum.bytes; wrong == NULL && i < sum.count; ++i) {
        if (archive_read_next_header(a, &entry) != ARCHIVE_OK) {
            wrong = "the archive is damaged";
            break;
        }
        size_t size = (size_t)archive_entry_size(entry), length = strlen(entry_name(entry)) + 1;
        if (size > left || length > left - size || archive_read_data(a, to, size) != (la_ssize_t)size) {
            wrong = "the archive is damaged: an entry cannot be unpacked";
            break;
        }
        memcpy(to + size, entry_name(entry), length);
        out[i] = (member){ (const char *)to + size, to, size };
        to += size + length;
        left -= size + length;
    }
    archive_read_free(a);
    return wrong;
}

static const tg_name *name_without_npy(tg_ctx *cx, const char *name)
{
    size_t n = strlen(name);
    if (n > 4 && memcmp(name + n - 4, ".npy", 4) == 0)
        n -= 4;
    return tg_intern(cx, name, n);
}

static bool read_zip(input *in, tg_params *out)
{
    unpacked sum = { 0, 0 };
    const char *wrong = measure(in, &sum);
    if (wrong != NULL)
        return fails(in, wrong);
    member *m = TG_TEMP_ARRAY(in->cx, member, sum.count);
    wrong = unpack(in, sum, tg_temp(in->cx, sum.bytes), m);
    if (wrong != NULL)
        return fails(in, wrong);
    out->at = TG_ARRAY(in->cx, tg_param, sum.count);
    for (size_t i = 0; i < sum.count; ++i) {
        tg_param *p = &out->at[out->n];
        if (m[i].size == 0 && strchr(m[i].name, '/') != NULL)
            continue;                               /* a folder */
        p->name = name_without_npy(in->cx, m[i].name);
        p->value = tg_read_npy(in->cx, tg_format(in->cx, "%s: %s", in->file, m[i].name), m[i].bytes, m[i].size);
        if (p->value == NULL)
            return false;
        p->value->label = p->name;
        ++out->n;
    }
    return names_differ(in, out);
}

/* ---- one array: named after the file ---- */

static bool read_array(input *in, tg_params *out)
{
    tg_tensor *t = tg_read_npy(in->cx, in->file, in->bytes, in->size);
    if (t == NULL)
        return false;
    out->n = 1;
    out->at = TG_NEW(in->cx, tg_param);
    out->at->name = name_without_npy(in->cx, tg_basename(in->file));
    out->at->value = t;
    t->label = out->at->name;
    return true;
}

bool tg_read_params(tg_ctx *cx, const char *file, const void *bytes, size_t size, tg_params *out)
{
    input in = { .cx = cx, .file = file, .bytes = bytes, .size = size };
    *out = (tg_params){ 0, NULL };
    if (size >= 8 && tg_le64(in.bytes) == LIST_MAGIC)
        return read_list(&in, out);
    if (tg_is_npy(bytes, size))
        return read_array(&in, out);
    if (size >= 4 && memcmp(bytes, "PK", 2) == 0)
        return read_zip(&in, out);
    return fails(&in, "neither a TVM parameter file nor an .npz or .npy file: its first bytes are unknown");
}
