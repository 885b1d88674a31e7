/* options.h: the command line of tirc as data. Rows in options.def, parsing and --help in options.c. */
#ifndef TIRC_OPTIONS_H
#define TIRC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum tirc_mode { TIRC_COMPILE, TIRC_VERIFY, TIRC_RUN };

enum tirc_option {
#define TIRC_OPTION(id, ...) TIRC_##id,
#define TIRC_ALIAS(spelling, id)
#define TIRC_GROUP(title)
#include "options.def"
#undef TIRC_OPTION
#undef TIRC_ALIAS
#undef TIRC_GROUP
    TIRC_NOPTIONS
};

/* One option as given, in order. A switch without a value has the value "1". */
typedef struct tirc_given {
    enum tirc_option id;
    const char *value;
} tirc_given;

typedef struct tirc_args {
    enum tirc_mode mode;
    tirc_given *given;
    size_t ngiven;
    char **model;               /* the files named beside the options; points into argv */
    size_t nmodels;
} tirc_args;

/* Reads the command line. False after a message on standard error that names the option; the exit status is 2 then. */
bool tirc_options_read(tirc_args *args, int argc, char **argv);
void tirc_options_free(tirc_args *args);

/* The last value given for @p id, or NULL. */
const char *tirc_option(const tirc_args *args, enum tirc_option id);
/* The value of a switch. */
bool tirc_option_on(const tirc_args *args, enum tirc_option id);
/* The value given as a number >= 0 into *out, which stays as it is when the option was not given. False after a message. */
bool tirc_option_number(const tirc_args *args, enum tirc_option id, double *out);
/* How often @p id was given, and its k-th value. */
size_t tirc_option_count(const tirc_args *args, enum tirc_option id);
const char *tirc_option_at(const tirc_args *args, enum tirc_option id, size_t k);
/* "-prefix", for messages. */
const char *tirc_option_name(enum tirc_option id);

void tirc_options_help(FILE *out);
/* "tirc: TEXT" on standard error, as one line. */
void tirc_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Of @p n words the one nearest to @p word, or NULL when none is near: for "did you mean". */
const char *tirc_nearest(const char *word, const char *const *words, size_t n);

#endif
