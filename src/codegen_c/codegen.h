/* codegen.h: a loop-level module to C files. */
#ifndef TG_CODEGEN_H
#define TG_CODEGEN_H

#include "ir/module.h"
#include "ir/options.h"
#include "ir/text.h"

/* Where files go: open starts a file of that name (relative, no folder), bytes follow, close ends it. */
typedef struct tg_files {
    bool (*open)(void *user, const char *name);
    bool (*bytes)(void *user, const char *at, size_t n);
    bool (*close)(void *user);
    void (*symbol)(void *user, const tg_func *f, const char *symbol);   /* NULL, or told each public kernel's name in C */
    void *user;
} tg_files;

/* <prefix>.h, <prefix>.c (constants, kernels, entry with a caller's workspace), <prefix>_workspace.c (static workspace and the
 * default entry), CMakeLists.txt. Deterministic to the byte. */
bool tg_codegen_c(tg_ctx *cx, const tg_module *m, const tg_options *opt, const tg_files *out);

/* NULL when @p prefix may begin every external symbol; else the rule it breaks (DESIGN D9), for messages. */
const char *tg_prefix_check(const char *prefix);

#endif
