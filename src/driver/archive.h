/* archive.h: files in memory on their way into a tar, or out of one. Names are those of a tar: "./src/net.relay". */
#ifndef TIRC_ARCHIVE_H
#define TIRC_ARCHIVE_H

#include "output.h"

typedef struct tirc_member {
    char *name;                     /* ends in a slash: a folder */
    char *bytes;
    size_t size, room;
} tirc_member;

typedef struct tirc_archive {
    tirc_member *at;
    size_t n;
} tirc_archive;

/* A new empty file at the end; tirc_archive_bytes() appends to the last one. */
void tirc_archive_open(tirc_archive *a, const char *name);
void tirc_archive_bytes(tirc_archive *a, const void *at, size_t n);
const tirc_member *tirc_archive_find(const tirc_archive *a, const char *name);      /* NULL when absent */
/* Into the open file of @p to as ustar: members and their folders in the order of their names, all of the time @p mtime and
 * of owner 0, so that equal files give equal bytes. False after a message. */
bool tirc_archive_write(tirc_archive *a, tirc_output *to, long long mtime);
/* True when the file begins like a tar. */
bool tirc_archive_is(const char *path);
/* The regular files of a tar; names get their "./". No more memory is taken than the file is long. False after a message. */
bool tirc_archive_read(tirc_archive *a, const char *path);
void tirc_archive_free(tirc_archive *a);

#endif
