/* files.h: whole files in and out. */
#ifndef TIRC_FILES_H
#define TIRC_FILES_H

#include "output.h"

/* The bytes of a file in memory that the caller frees, or NULL after a message. */
char *tirc_read_file(const char *path, size_t *size);
/* One file in @p dir, whole or not at all; false after a message. */
bool tirc_write_file(const char *dir, const char *name, const void *at, size_t n);

#endif
