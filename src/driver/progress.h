/* progress.h: tells a person at a terminal what a slow step is doing. Silent otherwise. */
#ifndef TIRC_PROGRESS_H
#define TIRC_PROGRESS_H

typedef struct tirc_progress tirc_progress;

/* NULL, which the other calls accept, unless standard error is a terminal. */
tirc_progress *tirc_progress_new(void);
/* The step begins; after a second, and each second from then on, one line shows it. @p step must outlive it. */
void tirc_progress_step(tirc_progress *p, const char *step);
/* Nothing is running until the next step. */
void tirc_progress_pause(tirc_progress *p);
/* Takes the line away, so that other text can be printed; the step goes on. */
void tirc_progress_wipe(tirc_progress *p);
void tirc_progress_free(tirc_progress *p);

#endif
