/* job.h: one compilation as the command line asks for it: options set, files read, passes run, what they did told. */
#ifndef TIRC_JOB_H
#define TIRC_JOB_H

#include "tirgen/tirgen.h"

#include "options.h"
#include "output.h"
#include "progress.h"

typedef struct tirc_timing {
    const char *pass;
    double seconds;
} tirc_timing;

typedef struct tirc_job {
    const tirc_args *args;
    tirc_progress *progress;
    tirgen_ctx *ctx;
    char *prefix, *target;      /* as set */
    tirc_timing *timing;
    size_t ntimings;
} tirc_job;

/* Each returns 0 or the exit status after diagnostics. */
int tirc_job_begin(tirc_job *job, const tirc_args *args, tirc_progress *progress);  /* a context with the options set */
int tirc_job_read(tirc_job *job);                               /* the models and parameter files */
int tirc_job_compile(tirc_job *job, const char *last);          /* passes up to and with last; NULL: all */
int tirc_job_passes(tirc_job *job, const char *list);           /* just the passes of list "a,b", or none */
int tirc_job_emit(tirc_job *job, tirc_output *to);              /* the C files, committed */
void tirc_job_end(tirc_job *job);

/* A tirgen_write_fn into the open file of the tirc_output @p user. */
int tirc_file_bytes(void *user, const char *at, size_t n);

/* The exit status that goes with @p status: 0, 1 the input is wrong, 2 the command line is wrong. */
int tirc_exit_status(tirgen_status status);
/* True when @p name is a pass; else a message that names @p option and a near spelling. */
bool tirc_check_pass(enum tirc_option option, const char *name);

#endif
