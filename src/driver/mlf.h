/* mlf.h: Model Library Format 7: a tar with the C of a model, its text, its weights and what they need. */
#ifndef TIRC_MLF_H
#define TIRC_MLF_H

#include "archive.h"
#include "job.h"

/* Runs all passes on what the job has read and writes the archive @p path. Returns 0 or the exit status after a message. */
int tirc_mlf_write(tirc_job *job, const char *path);
/* Loads the model's text and weights from an archive of version 1 to 7 that we or TVM wrote; an option that says what the
 * text means (-shape, -entry), and the prefix, are taken over where the command line has none. */
int tirc_mlf_read(tirc_job *job, const char *path);

/* What both sides call the model whose symbols begin with @p prefix: net for tvmgen_net, else the prefix. */
const char *tirc_mlf_model(const char *prefix);

#endif
