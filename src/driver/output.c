/* output.c: files that appear all together or not at all. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

typedef struct file {
    char *path;                 /* where it will stand */
    char *fresh;                /* where it stands until the commit */
    char *old;                  /* where its predecessor stands during the commit, or NULL */
} file;

struct tirc_output {
    char *dir;
    file *files;
    size_t n;
    FILE *open;                 /* of the last of files */
    char **made;                /* folders made, outermost first */
    size_t nmade;
    bool committed;
};

static void *must(void *at)
{
    if (at == NULL) {
        tirc_say("out of memory");
        exit(1);
    }
    return at;
}

void *tirc_alloc(size_t n)
{
    return must(calloc(1, n == 0 ? 1 : n));
}

void *tirc_realloc(void *at, size_t n)
{
    return must(realloc(at, n == 0 ? 1 : n));
}

char *tirc_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(tirc_alloc(n), text, n);
}

char *tirc_path(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *path = tirc_alloc(n + m + 2);
    bool slash = n > 0 && dir[n - 1] != '/';
    memcpy(path, dir, n);
    if (slash) path[n++] = '/';
    memcpy(path + n, name, m + 1);
    return path;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

tirc_output *tirc_output_new(const char *dir)
{
    tirc_output *o = tirc_alloc(sizeof *o);
    o->dir = tirc_copy(dir);
    return o;
}

/* Makes @p path a folder, remembering it when it is new. */
static bool make_folder(tirc_output *o, const char *path)
{
    if (mkdir(path, 0777) == 0) {
        o->made = tirc_realloc(o->made, (o->nmade + 1) * sizeof *o->made);
        o->made[o->nmade++] = tirc_copy(path);
        return true;
    }
    if (errno == EEXIST && is_folder(path)) return true;
    tirc_say("cannot make the folder %s: %s", path, errno == EEXIST ? "a file of that name is there" : strerror(errno));
    return false;
}

static bool make_folders(tirc_output *o)
{
    bool good = true;
    for (char *at = o->dir; good && *at != '\0'; ++at) {
        if (*at != '/' || at == o->dir) continue;
        *at = '\0';
        good = make_folder(o, o->dir);
        *at = '/';
    }
    return good && (o->dir[0] == '\0' || make_folder(o, o->dir));
}

/* A name beside @p path: ".NAME.WORD-PID". */
static char *beside(const char *path, const char *word)
{
    const char *slash = strrchr(path, '/');
    size_t head = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    size_t room = strlen(path) + strlen(word) + 32;
    char *out = tirc_alloc(room);
    memcpy(out, path, head);
    snprintf(out + head, room - head, ".%s.%s-%ld", path + head, word, (long)getpid());
    return out;
}

bool tirc_output_open(void *output, const char *name)
{
    tirc_output *o = output;
    file *f;
    if (o->n == 0 && !make_folders(o)) return false;
    o->files = tirc_realloc(o->files, (o->n + 1) * sizeof *o->files);
    f = &o->files[o->n++];
    f->path = tirc_path(o->dir, name);
    f->fresh = beside(f->path, "new");
    f->old = NULL;
    o->open = fopen(f->fresh, "wb");
    if (o->open == NULL) tirc_say("cannot write %s: %s", f->path, strerror(errno));
    return o->open != NULL;
}

bool tirc_output_bytes(void *output, const char *at, size_t n)
{
    tirc_output *o = output;
    if (o->open != NULL && fwrite(at, 1, n, o->open) == n) return true;
    tirc_say("cannot write %s: %s", o->n == 0 ? o->dir : o->files[o->n - 1].path, strerror(errno));
    return false;
}

bool tirc_output_close(void *output)
{
    tirc_output *o = output;
    FILE *f = o->open;
    o->open = NULL;
    if (f != NULL && fclose(f) == 0) return true;
    tirc_say("cannot write %s: %s", o->n == 0 ? o->dir : o->files[o->n - 1].path, strerror(errno));
    return false;
}

/* Moves the old file aside and the new one in. */
static bool place(file *f)
{
    char *old;
    if (is_folder(f->path)) {
        tirc_say("cannot write %s: a folder of that name is there", f->path);
        return false;
    }
    old = beside(f->path, "old");
    if (rename(f->path, old) == 0)
        f->old = old;
    else
        free(old);
    if (rename(f->fresh, f->path) == 0) return true;
    tirc_say("cannot write %s: %s", f->path, strerror(errno));
    if (f->old != NULL) (void)rename(f->old, f->path);
    free(f->old);
    f->old = NULL;
    return false;
}

bool tirc_output_commit(tirc_output *o)
{
    size_t done = 0;
    while (done < o->n && place(&o->files[done])) ++done;
    if (done < o->n) {
        while (done-- > 0) {
            file *f = &o->files[done];
            if (f->old != NULL)
                (void)rename(f->old, f->path);
            else
                (void)unlink(f->path);
        }
        return false;
    }
    for (size_t i = 0; i < o->n; ++i)
        if (o->files[i].old != NULL) (void)unlink(o->files[i].old);
    o->committed = true;
    return true;
}

size_t tirc_output_count(const tirc_output *o)
{
    return o->n;
}

const char *tirc_output_path(const tirc_output *o, size_t k)
{
    return o->files[k].path;
}

void tirc_output_free(tirc_output *o)
{
    if (o == NULL) return;
    if (o->open != NULL) fclose(o->open);
    for (size_t i = 0; i < o->n; ++i) {
        if (!o->committed) (void)unlink(o->files[i].fresh);
        free(o->files[i].path);
        free(o->files[i].fresh);
        free(o->files[i].old);
    }
    while (o->nmade-- > 0) {
        if (!o->committed) (void)rmdir(o->made[o->nmade]);
        free(o->made[o->nmade]);
    }
    free(o->made);
    free(o->files);
    free(o->dir);
    free(o);
}
