/* tirgen/diag.h: how the library tells what is wrong, and where. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_DIAG_H
#define TIRGEN_DIAG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tirgen_severity { TIRGEN_ERROR, TIRGEN_WARNING, TIRGEN_NOTE } tirgen_severity;

/** One diagnostic. All texts live only during the callback. */
typedef struct tirgen_diag {
    tirgen_severity severity;
    const char *file;      /**< Name under which the text was loaded; NULL when there is no place. */
    uint32_t line, column; /**< From 1; column counts bytes. 0 when there is no place. */
    const char *message;   /**< One line, no final newline. */
    const char *rendered;  /**< "file:line:col: error: message", then the source line and a caret; ends in a newline. */
} tirgen_diag;

/** Receives each diagnostic in order; @p user is what was given to tirgen_set_diag(). Must not call the context. */
typedef void (*tirgen_diag_fn)(void *user, const tirgen_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
