/* program.c: emitted C and the main program beside it, compiled and run in a folder. */
#define _XOPEN_SOURCE 700       /* realpath */
#include "program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "process.h"

/* ---- the command that compiles ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The C files of the folder @p dir, in the order of their names, with @p shown before each. */
static void add_sources(tirc_words *w, const char *dir, const char *shown)
{
    tirc_words found = { 0 };
    struct dirent *entry;
    DIR *d = opendir(dir);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n < 3 || strcmp(entry->d_name + n - 2, ".c") != 0) continue;
        char *path = tirc_path(shown, entry->d_name);
        tirc_words_add(&found, path);
        free(path);
    }
    if (d != NULL) closedir(d);
    if (found.n > 0) qsort(found.word, found.n, sizeof *found.word, by_name);
    for (unsigned i = 0; i < found.n; ++i) tirc_words_add(w, found.word[i]);
    tirc_words_free(&found);
}

/* The compiler's own flags stand behind ours, so that they win; then the sources in @p dir and the runtime's. */
static void add_words(tirc_words *w, const char *dir, const char *runtime)
{
    static const char *const flags[] = { "-std=c99", "-O2", "-I." };
    char text[4096];
    tirc_words all = { 0 };
    tirc_words_add(&all, w->word[0]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) tirc_words_add(&all, flags[i]);
    if (runtime != NULL) {
        snprintf(text, sizeof text, "-I%s/include", runtime);
        tirc_words_add(&all, text);
    }
    for (unsigned i = 1; i < w->n; ++i) tirc_words_add(&all, w->word[i]);
    add_sources(&all, dir, "");
    if (runtime != NULL) add_sources(&all, runtime, runtime);
    tirc_words_add(&all, "-lm");
    tirc_words_add(&all, "-o");
    tirc_words_add(&all, TIRC_HARNESS_PROGRAM);
    tirc_words_free(w);
    *w = all;
}

static char *runtime_folder(const tirc_args *args, const char *argv0)
{
    const char *given = tirc_option(args, TIRC_RUNTIME_DIR);
    char *own, *dir;
    if (given != NULL) return realpath(given, NULL);
    own = tirc_own_folder(argv0);
    if (own == NULL) return NULL;
    dir = tirc_path(own, "../share/tirgen/runtime");
    free(own);
    own = realpath(dir, NULL);
    free(dir);
    return own;
}

/* The command that makes the program; false after a message. */
static bool compiler_words(const tirc_job *job, const char *dir, const char *argv0, tirc_words *w)
{
    const char *cc = tirc_option(job->args, TIRC_CC);
    char *runtime = runtime_folder(job->args, argv0);
    if (cc == NULL) cc = getenv("CC");
    if (cc == NULL || cc[0] == '\0') cc = "cc";
    if (!tirc_words_split(w, cc) || w->n == 0) {
        tirc_say("option '-cc': '%s' is no command", cc);
        free(runtime);
        return false;
    }
    add_words(w, dir, runtime);
    free(runtime);
    return true;
}

/* ---- steps ---- */

static bool run_words(const tirc_job *job, const tirc_words *w, const char *dir, const char *step)
{
    int status = 1;
    if (tirc_option_on(job->args, TIRC_VERBOSE)) {
        fputs("tirc:", stderr);
        for (unsigned i = 0; i < w->n; ++i) fprintf(stderr, " %s", w->word[i]);
        fputc('\n', stderr);
    }
    tirc_progress_step(job->progress, step);
    bool ran = tirc_process_run(w, dir, &status);
    tirc_progress_pause(job->progress);
    if (ran && status != 0) tirc_say("%s: exit status %d", w->word[0], status);
    return ran && status == 0;
}

int tirc_program_run(const tirc_job *job, const char *dir, const char *argv0)
{
    tirc_words compile = { 0 }, program = { 0 };
    int status = compiler_words(job, dir, argv0, &compile) ? 0 : 2;
    tirc_words_add(&program, "./" TIRC_HARNESS_PROGRAM);
    if (status == 0 && !run_words(job, &compile, dir, "the C compiler")) status = 1;
    if (status == 0 && !run_words(job, &program, dir, "the compiled program")) status = 1;
    tirc_words_free(&compile);
    tirc_words_free(&program);
    return status;
}
