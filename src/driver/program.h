/* program.h: emitted C and the main program beside it, compiled and run in a folder. */
#ifndef TIRC_PROGRAM_H
#define TIRC_PROGRAM_H

#include "job.h"

/* Compiles all C files in @p dir and the runtime's into one program and runs that in the folder. The exit status. */
int tirc_program_run(const tirc_job *job, const char *dir, const char *argv0);

#endif
