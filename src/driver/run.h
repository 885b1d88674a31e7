/* run.h: tirc run and tirc verify: the model compiled by a C compiler and run as a program of its own. */
#ifndef TIRC_RUN_H
#define TIRC_RUN_H

#include "job.h"

/* Both return the exit status. */
int tirc_run(const tirc_args *args, tirc_progress *progress, const char *argv0);
int tirc_verify(const tirc_args *args, tirc_progress *progress, const char *argv0);

#endif
