/* parallel_launch.c: a port with threads: three tasks of each launch run at the same time. Stands in for the runtime's own. */
#include <pthread.h>
#include <stdio.h>

#include <tirgen_rt/packed.h>

#include "tvmgen_k.h"

enum { TASKS = 3 };

static int launches;

typedef struct part {
    FTVMParallelLambda run;
    void *data;
    TVMParallelGroupEnv env;
    int id, status;
} part;

static void *start(void *arg)
{
    part *p = (part *)arg;
    p->status = p->run(p->id, &p->env, p->data);
    return NULL;
}

int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task)
{
    pthread_t thread[TASKS];
    part all[TASKS];
    int status = 0;
    (void)num_task;
    ++launches;
    for (int i = 0; i < TASKS; ++i) {
        all[i].run = flambda;
        all[i].data = cdata;
        all[i].env.sync_handle = NULL;
        all[i].env.num_task = TASKS;
        all[i].id = i;
        if (pthread_create(&thread[i], NULL, start, &all[i]) != 0) return 1;
    }
    for (int i = 0; i < TASKS; ++i) {
        pthread_join(thread[i], NULL);
        if (status == 0) status = all[i].status;
    }
    return status;
}

int main(void)
{
    static float a[64 * 8], b[64 * 8];
    static int32_t c[65], d[65];
    for (int i = 0; i < 64 * 8; ++i) a[i] = (float)i;
    for (int i = 0; i < 65; ++i) c[i] = 8 * i;
    if (scaled(a, b, 2.0f) != 0 || twice(c, d, 3) != 0) return 1;
    for (int i = 0; i < 64 * 8; ++i)
        if (b[i] != a[i] * 3.0f) return printf("FAILED scaled at %d\n", i), 1;
    for (int i = 0; i < 65; ++i) {
        int32_t first = i > 0 && i < 64 ? c[i - 1] / 2 + c[i + 1] / 2 : 0;
        if (d[i] != first / 2 + c[64 - i] / 4) return printf("FAILED twice at %d\n", i), 1;
    }
    if (launches != 3) return printf("FAILED %d launches\n", launches), 1;
    printf("three tasks at a time: right\n");
    return 0;
}
