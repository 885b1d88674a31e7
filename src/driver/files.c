/* files.c: whole files in and out, see files.h. */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"

char *tirc_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    char *at = NULL;
    size_t n = 0, room = 0, got;
    if (f == NULL || fstat(fileno(f), &st) != 0 || S_ISDIR(st.st_mode)) {
        tirc_say("cannot read %s: %s", path, f != NULL && S_ISDIR(st.st_mode) ? "it is a folder" : strerror(errno));
        if (f != NULL) fclose(f);
        return NULL;
    }
    do {
        if (n == room) at = tirc_realloc(at, room = room == 0 ? 65536 : 2 * room);
        got = fread(at + n, 1, room - n, f);
        n += got;
    } while (got > 0);
    if (ferror(f)) {
        tirc_say("cannot read %s: %s", path, strerror(errno));
        free(at);
        at = NULL;
    }
    fclose(f);
    *size = n;
    return at;
}

bool tirc_write_file(const char *dir, const char *name, const void *at, size_t n)
{
    tirc_output *o = tirc_output_new(dir);
    bool good = tirc_output_open(o, name) && tirc_output_bytes(o, at, n) && tirc_output_close(o) && tirc_output_commit(o);
    tirc_output_free(o);
    return good;
}
