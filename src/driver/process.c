/* process.c: other programs: the C compiler and the program made by it. */
#define _XOPEN_SOURCE 700       /* realpath */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "output.h"

void tirc_words_add(tirc_words *w, const char *word)
{
    w->word = tirc_realloc(w->word, (w->n + 2) * sizeof *w->word);
    w->word[w->n++] = tirc_copy(word);
    w->word[w->n] = NULL;
}

bool tirc_words_split(tirc_words *w, const char *text)
{
    char *word = tirc_alloc(strlen(text) + 1);
    size_t n = 0;
    char quote = '\0';
    bool any = false;
    for (;; ++text) {
        if (quote != '\0' ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote != '\0' ? '\0' : *text;
            any = true;
        } else if (*text == '\0' || (quote == '\0' && (*text == ' ' || *text == '\t' || *text == '\n'))) {
            word[n] = '\0';
            if (any) tirc_words_add(w, word);
            n = 0;
            any = false;
            if (*text == '\0') break;
        } else {
            word[n++] = *text;
            any = true;
        }
    }
    free(word);
    return quote == '\0';
}

void tirc_words_free(tirc_words *w)
{
    for (unsigned i = 0; i < w->n; ++i) free(w->word[i]);
    free(w->word);
    w->word = NULL;
    w->n = 0;
}

/* In the child: never returns. */
static void become(const tirc_words *w, const char *dir)
{
    if (dir[0] != '\0' && chdir(dir) != 0) {
        tirc_say("cannot enter %s: %s", dir, strerror(errno));
        _exit(126);
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(w->word[0], w->word);
    tirc_say("cannot run %s: %s", w->word[0], strerror(errno));
    _exit(127);
}

bool tirc_process_run(const tirc_words *w, const char *dir, int *status)
{
    struct sigaction ignore = { 0 }, interrupt, quit;
    pid_t child;
    int how = 0;
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        become(w, dir);
    }
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    if (child < 0) {
        tirc_say("cannot start %s: %s", w->word[0], strerror(errno));
        return false;
    }
    if (WIFSIGNALED(how)) {
        tirc_say("%s ended by signal %d (%s)", w->word[0], WTERMSIG(how), strsignal(WTERMSIG(how)));
        return false;
    }
    *status = WEXITSTATUS(how);
    return *status != 126 && *status != 127;
}

char *tirc_temp_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = tirc_path(base != NULL && base[0] != '\0' ? base : "/tmp", "tirc-XXXXXX");
    if (mkdtemp(dir) != NULL) return dir;
    tirc_say("cannot make a temporary folder %s: %s", dir, strerror(errno));
    free(dir);
    return NULL;
}

/* Only what stands directly in @p dir and one level below: what we and a compiler put there. */
static void empty_folder(const char *dir, int depth)
{
    struct dirent *entry;
    DIR *d = opendir(dir);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        char *path;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        path = tirc_path(dir, entry->d_name);
        if (unlink(path) != 0 && depth > 0) {
            empty_folder(path, depth - 1);
            (void)rmdir(path);
        }
        free(path);
    }
    if (d != NULL) closedir(d);
}

void tirc_temp_remove(const char *dir)
{
    if (dir == NULL) return;
    empty_folder(dir, 1);
    if (rmdir(dir) != 0) tirc_say("cannot remove %s: %s", dir, strerror(errno));
}

/* The folder in $PATH that holds the program @p name, or NULL. */
static char *folder_in_path(const char *name)
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, ":");
        char *dir = tirc_alloc(n + 2), *path;
        bool found;
        memcpy(dir, n == 0 ? "." : at, n == 0 ? 1 : n);
        path = tirc_path(dir, name);
        found = access(path, X_OK) == 0;
        free(path);
        if (found) return dir;
        free(dir);
        at += n + (at[n] == ':');
    }
    return NULL;
}

char *tirc_own_folder(const char *argv0)
{
    char *path = realpath("/proc/self/exe", NULL), *slash;
    if (path == NULL && strchr(argv0, '/') == NULL) return folder_in_path(argv0);
    if (path == NULL) path = realpath(argv0, NULL);
    if (path == NULL) return NULL;
    slash = strrchr(path, '/');
    if (slash != NULL) slash[slash == path ? 1 : 0] = '\0';
    return path;
}
