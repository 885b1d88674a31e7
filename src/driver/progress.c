/* progress.c: tells a person at a terminal what a slow step is doing. A thread of its own watches the clock, so the work
 * needs no calls in between. */
#include "progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

struct tirc_progress {
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_t watcher;
    const char *step;           /* NULL: nothing is running */
    struct timespec begin;
    bool shown, leave;
};

/* With the lock held. */
static void wipe(tirc_progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}

static void *watch(void *user)
{
    tirc_progress *p = user;
    struct timespec next;
    pthread_mutex_lock(&p->lock);
    while (!p->leave) {
        if (p->step == NULL) {
            pthread_cond_wait(&p->change, &p->lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec += 1;
        if (pthread_cond_timedwait(&p->change, &p->lock, &next) == ETIMEDOUT && p->step != NULL) {
            clock_gettime(CLOCK_REALTIME, &next);
            fprintf(stderr, "\r\033[Ktirc: %s ... %ld s", p->step, (long)(next.tv_sec - p->begin.tv_sec));
            p->shown = true;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

tirc_progress *tirc_progress_new(void)
{
    tirc_progress *p;
    if (isatty(STDERR_FILENO) == 0) return NULL;
    p = tirc_alloc(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, NULL);
    if (pthread_create(&p->watcher, NULL, watch, p) == 0) return p;
    free(p);
    return NULL;
}

void tirc_progress_step(tirc_progress *p, const char *step)
{
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    wipe(p);
    p->step = step;
    clock_gettime(CLOCK_REALTIME, &p->begin);
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
}

void tirc_progress_pause(tirc_progress *p)
{
    tirc_progress_step(p, NULL);
}

void tirc_progress_wipe(tirc_progress *p)
{
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    wipe(p);
    pthread_mutex_unlock(&p->lock);
}

void tirc_progress_free(tirc_progress *p)
{
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    wipe(p);
    p->leave = true;
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->watcher, NULL);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
