/* output.h: files that appear all together or not at all. Written beside their targets under other names, then renamed. */
#ifndef TIRC_OUTPUT_H
#define TIRC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tirc_output tirc_output;

/* A set of files in @p dir, which is made with its parents when the first file is opened; "" is the working folder. */
tirc_output *tirc_output_new(const char *dir);
/* One file after another: open, bytes, close. False after a message. The types suit callbacks with a user pointer. */
bool tirc_output_open(void *output, const char *name);
bool tirc_output_bytes(void *output, const char *at, size_t n);
bool tirc_output_close(void *output);
/* Puts all closed files in place of what was there. On failure what was there stays, and false comes back after a message. */
bool tirc_output_commit(tirc_output *output);
/* Number of files, and the path of the k-th. */
size_t tirc_output_count(const tirc_output *output);
const char *tirc_output_path(const tirc_output *output, size_t k);
/* Frees; without a commit before, the new files and the folders made for them vanish. NULL is allowed. */
void tirc_output_free(tirc_output *output);

/* "DIR/NAME" in memory that the caller frees; DIR "" gives NAME. */
char *tirc_path(const char *dir, const char *name);
/* malloc and its kin that say "out of memory" and leave with status 1. */
void *tirc_alloc(size_t n);
void *tirc_realloc(void *at, size_t n);
char *tirc_copy(const char *text);

#endif
