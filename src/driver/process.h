/* process.h: other programs: the C compiler and the program made by it. */
#ifndef TIRC_PROCESS_H
#define TIRC_PROCESS_H

#include <stdbool.h>

/* A growing list of words for exec; frees and copies its words itself. */
typedef struct tirc_words {
    char **word;                /* ends in NULL */
    unsigned n;
} tirc_words;

void tirc_words_add(tirc_words *w, const char *word);
/* The words of @p text, which blanks separate; "double" or 'single' quotes keep blanks. False when a quote is not closed. */
bool tirc_words_split(tirc_words *w, const char *text);
void tirc_words_free(tirc_words *w);

/* Runs @p w in the folder @p dir ("" is the working folder), waits, and gives the exit status in *status. Our standard input
 * and output stay with us: the child's output goes to standard error. Interrupts reach the child, not us, so that the
 * caller can tidy up. False after a message when it could not be run or died of a signal. */
bool tirc_process_run(const tirc_words *w, const char *dir, int *status);

/* An empty folder below $TMPDIR or /tmp in memory that the caller frees, or NULL after a message. */
char *tirc_temp_folder(void);
/* Removes the folder and the files and folders in it. NULL is allowed. */
void tirc_temp_remove(const char *dir);
/* The folder of the running program's own file, in memory that the caller frees, or NULL. */
char *tirc_own_folder(const char *argv0);

#endif
