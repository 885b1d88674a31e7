/* kernels.h: tirc verify of a module that is no model: public PrimFuncs, each against the evaluator. */
#ifndef TIRC_KERNELS_H
#define TIRC_KERNELS_H

#include "job.h"

/* Whether the module that @p job has read holds kernels and no model. */
bool tirc_has_only_kernels(const tirc_job *job);
/* Compiles them, runs each on random numbers and compares every buffer afterwards. Ends the job. The exit status. */
int tirc_verify_kernels(tirc_job *job, const char *argv0);

#endif
