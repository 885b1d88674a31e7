/* archive.c: files in memory on their way into a tar, or out of one. */
#include "archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"

enum { MAX_MEMBERS = 10000, READ_BLOCK = 65536 };

void tirc_archive_open(tirc_archive *a, const char *name)
{
    a->at = tirc_realloc(a->at, (a->n + 1) * sizeof a->at[0]);
    a->at[a->n++] = (tirc_member){ tirc_copy(name), NULL, 0, 0 };
}

void tirc_archive_bytes(tirc_archive *a, const void *at, size_t n)
{
    tirc_member *m = &a->at[a->n - 1];
    if (n == 0) return;
    if (n > m->room - m->size) {
        m->room = m->room + m->room / 2 > m->size + n ? m->room + m->room / 2 : m->size + n;
        m->bytes = tirc_realloc(m->bytes, m->room);
    }
    memcpy(m->bytes + m->size, at, n);
    m->size += n;
}

const tirc_member *tirc_archive_find(const tirc_archive *a, const char *name)
{
    for (size_t i = 0; i < a->n; ++i)
        if (strcmp(a->at[i].name, name) == 0) return &a->at[i];
    return NULL;
}

void tirc_archive_free(tirc_archive *a)
{
    for (size_t i = 0; i < a->n; ++i) {
        free(a->at[i].name);
        free(a->at[i].bytes);
    }
    free(a->at);
    *a = (tirc_archive){ NULL, 0 };
}

/* ---- writing ---- */

static void add_folders(tirc_archive *a)
{
    for (size_t i = 0, n = a->n; i < n; ++i) {
        char *path = tirc_copy(a->at[i].name);
        for (char *slash = strrchr(path, '/'); slash != NULL && slash != path; slash = strrchr(path, '/')) {
            slash[1] = '\0';
            if (tirc_archive_find(a, path) == NULL) tirc_archive_open(a, path);
            slash[0] = '\0';
        }
        free(path);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tirc_member *)a)->name, ((const tirc_member *)b)->name);
}

static la_ssize_t write_block(struct archive *tar, void *user, const void *at, size_t n)
{
    if (tirc_output_bytes(user, at, n)) return (la_ssize_t)n;
    archive_set_error(tar, EIO, "%s", "write");
    return -1;
}

static bool write_member(struct archive *tar, struct archive_entry *entry, const tirc_member *m, long long mtime)
{
    bool folder = m->name[strlen(m->name) - 1] == '/';
    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, m->name);
    archive_entry_set_filetype(entry, folder ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, folder ? 0755 : 0644);
    archive_entry_set_mtime(entry, mtime, 0);
    archive_entry_set_uid(entry, 0);
    archive_entry_set_gid(entry, 0);
    archive_entry_set_uname(entry, "root");
    archive_entry_set_gname(entry, "root");
    archive_entry_set_size(entry, (la_int64_t)m->size);
    return archive_write_header(tar, entry) == ARCHIVE_OK &&
           (m->size == 0 || archive_write_data(tar, m->bytes, m->size) == (la_ssize_t)m->size);
}

bool tirc_archive_write(tirc_archive *a, tirc_output *to, long long mtime)
{
    struct archive *tar = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    bool good = tar != NULL && entry != NULL && archive_write_set_format_ustar(tar) == ARCHIVE_OK &&
                archive_write_open(tar, to, NULL, write_block, NULL) == ARCHIVE_OK;
    add_folders(a);
    qsort(a->at, a->n, sizeof a->at[0], by_name);
    for (size_t i = 0; good && i < a->n; ++i) {
        good = write_member(tar, entry, &a->at[i], mtime);
        if (!good) tirc_say("cannot put %s into the archive: %s", a->at[i].name, archive_error_string(tar));
    }
    if (good && archive_write_close(tar) != ARCHIVE_OK) {
        tirc_say("cannot finish the archive: %s", archive_error_string(tar));
        good = false;
    }
    archive_entry_free(entry);
    if (tar != NULL) archive_write_free(tar);
    return good;
}

/* ---- reading ---- */

bool tirc_archive_is(const char *path)
{
    enum { MAGIC_AT = 257 };        /* "ustar" in the header of the first member */
    char head[MAGIC_AT + 5];
    FILE *f = fopen(path, "rb");
    bool is = f != NULL && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head + MAGIC_AT, "ustar", 5) == 0;
    if (f != NULL) fclose(f);
    return is;
}

/* The bytes of the member that @p tar stands at. @p left is what all further members may take. */
static const char *read_member(struct archive *tar, tirc_archive *a, size_t *left)
{
    char block[READ_BLOCK];
    la_ssize_t n;
    while ((n = archive_read_data(tar, block, sizeof block)) > 0) {
        if ((size_t)n > *left) return "its members are larger than the archive";
        *left -= (size_t)n;
        tirc_archive_bytes(a, block, (size_t)n);
    }
    return n == 0 ? NULL : "it is damaged or cut off";
}

/* @return what is wrong, or NULL. */
static const char *read_members(struct archive *tar, tirc_archive *a, size_t left)
{
    struct archive_entry *entry;
    const char *wrong = NULL;
    int status;
    while (wrong == NULL && (status = archive_read_next_header(tar, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        char *dotted;
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL || name == NULL) continue;
        if (a->n == MAX_MEMBERS) return "it has too many members";
        dotted = strncmp(name, "./", 2) == 0 ? tirc_copy(name) : tirc_path(".", name);
        if (tirc_archive_find(a, dotted) != NULL) wrong = "two members have the same name";
        tirc_archive_open(a, dotted);
        free(dotted);
        if (wrong == NULL) wrong = read_member(tar, a, &left);
    }
    return wrong != NULL || status == ARCHIVE_EOF ? wrong : "it is damaged or cut off";
}

bool tirc_archive_read(tirc_archive *a, const char *path)
{
    struct stat st;
    struct archive *tar = archive_read_new();
    const char *wrong = "cannot be opened";
    if (tar != NULL && stat(path, &st) == 0 && archive_read_support_format_tar(tar) == ARCHIVE_OK &&
        archive_read_open_filename(tar, path, READ_BLOCK) == ARCHIVE_OK)
        wrong = read_members(tar, a, (size_t)st.st_size);
    if (tar != NULL) archive_read_free(tar);
    if (wrong != NULL) tirc_say("%s: %s", path, wrong);
    return wrong == NULL;
}
