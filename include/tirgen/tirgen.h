/* tirgen/tirgen.h: text of tensor compilers in, C out. SPDX-License-Identifier: Apache-2.0
 *
 *     tirgen_ctx *c = tirgen_new(NULL);
 *     tirgen_set_option(c, "prefix", "tvmgen_net");
 *     if (tirgen_load_file(c, "net.relay") == TIRGEN_OK && tirgen_load_params(c, "net.params") == TIRGEN_OK
 *         && tirgen_compile(c, NULL, NULL, NULL) == TIRGEN_OK)
 *         tirgen_emit_c(c, &files);
 *     tirgen_free(c);
 *
 * A context belongs to one thread at a time; two contexts share nothing. The library never exits, aborts or prints. */
#ifndef TIRGEN_TIRGEN_H
#define TIRGEN_TIRGEN_H

#include <stddef.h>
#include <stdint.h>
#include <dlpack/dlpack.h>

#include "tirgen/status.h"
#include "tirgen/version.h"
#include "tirgen/diag.h"
#include "tirgen/report.h"
#include "tirgen/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Everything that one compilation owns: texts, nodes, options. Freed at once by tirgen_free(). */
typedef struct tirgen_ctx tirgen_ctx;

/** Where the context's memory comes from. alloc returns NULL when there is none; both get @p user. */
typedef struct tirgen_allocator {
    void *(*alloc)(void *user, size_t size_bytes);
    void (*free)(void *user, void *p);
    void *user;
} tirgen_allocator;

/** @param from  Allocator, copied; NULL for malloc and free.  @return NULL when there is no memory. */
TIRGEN_API tirgen_ctx *tirgen_new(const tirgen_allocator *from);
/** Frees the context and unmaps its files. NULL is ignored. */
TIRGEN_API void tirgen_free(tirgen_ctx *ctx);
/** @param fn  Receives each diagnostic as it is found; NULL: they are lost.  @param user  Handed to @p fn. */
TIRGEN_API void tirgen_set_diag(tirgen_ctx *ctx, tirgen_diag_fn fn, void *user);

/**
 * Set one option by its name on the command line, without dashes.
 * @param name   prefix, target, interface-api (c, packed), unpacked-api (0, 1), workspace-byte-alignment,
 *               constant-byte-alignment (powers of two, bytes), entry, keep-layout (0, 1), keep-schedule (0, 1),
 *               shape (x=1,3,32,32: extents of a parameter declared with "?"; once for each parameter).
 * @param value  Copied.
 * @retval TIRGEN_EOPTION  Unknown name, or a value outside its range; the diagnostic says which values there are.
 */
TIRGEN_API tirgen_status tirgen_set_option(tirgen_ctx *ctx, const char *name, const char *value);

/**
 * Add the functions in @p text to the module held by @p ctx. Relay text or TVMScript, seen from the text.
 * @param name  Shown in diagnostics, for example a path; copied.
 * @param text  UTF-8; no NUL needed; copied, may be freed after the call.
 * @param size_bytes  At most 2 GiB.
 * @retval TIRGEN_EINPUT  Rejected; at least one diagnostic was delivered, the module is unchanged.
 * @par Source  Relay text v0.0.4 and v0.0.5 as printed by TVM 0.6 to 0.19; TVMScript of TIR.
 */
TIRGEN_API tirgen_status tirgen_load_text(tirgen_ctx *ctx, const char *name, const char *text, size_t size_bytes);
/** The same from a file, which is mapped and must not change while the context lives. */
TIRGEN_API tirgen_status tirgen_load_file(tirgen_ctx *ctx, const char *path);
/**
 * Read named tensors (a TVM .params file or .npz), to be bound to the entry function's parameters of the same names when it is
 * compiled. The printer's leading "v" before a name that starts with a digit is allowed for. The file stays mapped.
 */
TIRGEN_API tirgen_status tirgen_load_params(tirgen_ctx *ctx, const char *path);
/** The same from memory. @param name  Shown in diagnostics; copied. @param bytes  Copied, may be freed after the call. */
TIRGEN_API tirgen_status tirgen_load_params_bytes(tirgen_ctx *ctx, const char *name, const void *bytes, size_t size_bytes);

/** Called after each pass. @p seconds: wall time of the pass. Return 0 to go on, anything else to stop (TIRGEN_EOPTION).
 *  tirgen_print() may be called from inside. */
typedef int (*tirgen_pass_fn)(void *user, tirgen_ctx *ctx, const char *pass, double seconds);
/** Run the passes up to and with @p last (NULL: all). May be called once per context. */
TIRGEN_API tirgen_status tirgen_compile(tirgen_ctx *ctx, const char *last, tirgen_pass_fn after, void *user);
/** Run just the passes of @p list ("simplify,loops", or "none"), each on the module as it is: for tests of single passes. */
TIRGEN_API tirgen_status tirgen_run_passes(tirgen_ctx *ctx, const char *list, tirgen_pass_fn after, void *user);
/** Name and one-line help of pass @p i in order; NULL past the end. Static storage. */
TIRGEN_API const char *tirgen_pass_name(size_t i);
TIRGEN_API const char *tirgen_pass_help(size_t i);

/** Receives a piece of text; returns 0, or anything else to stop with TIRGEN_EIO. */
typedef int (*tirgen_write_fn)(void *user, const char *bytes, size_t n);
/** The module as text that tirgen_load_text() reads back to an equal module. */
TIRGEN_API tirgen_status tirgen_print(tirgen_ctx *ctx, tirgen_write_fn write, void *user);

/** Receives emitted files one after another: open (name without folder), bytes …, close. Each returns 0 or an error. */
typedef struct tirgen_files {
    int (*open)(void *user, const char *name);
    int (*bytes)(void *user, const char *at, size_t n);
    int (*close)(void *user);
    void *user;
} tirgen_files;
/** The compiled module as C99: <prefix>.h, <prefix>.c, <prefix>_workspace.c, CMakeLists.txt. Needs tirgen_compile() to the end. */
TIRGEN_API tirgen_status tirgen_emit_c(tirgen_ctx *ctx, const tirgen_files *files);

/**
 * Run the compiled model (or, uncompiled, nothing) in the reference evaluator.
 * @param args  One compact CPU tensor per input, then per output, in the model's order; shapes and dtypes must match.
 * @param nargs Number of inputs plus number of outputs.
 */
TIRGEN_API tirgen_status tirgen_evaluate(tirgen_ctx *ctx, DLTensor *const *args, size_t nargs);

#ifdef __cplusplus
}
#endif
#endif
