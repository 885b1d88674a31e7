/* tirgen/status.h: what every call of the library answers with. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_STATUS_H
#define TIRGEN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define TIRGEN_API
#else
#define TIRGEN_API __attribute__((visibility("default")))
#endif

/** Result of a public call. 0 is success; every failure has delivered at least one diagnostic, TIRGEN_ENOMEM excepted. */
typedef enum tirgen_status {
    TIRGEN_OK = 0,
    TIRGEN_EINPUT = 1,   /**< The input is wrong: syntax, types, missing parameters, a corrupt file. */
    TIRGEN_EOPTION = 2,  /**< An option's name or value is wrong, or two options exclude each other. */
    TIRGEN_EIO = 3,      /**< A file could not be read or written. */
    TIRGEN_ENOMEM = 4,   /**< Out of memory; the context can only be freed. */
    TIRGEN_ELIMIT = 5,   /**< A limit (nesting, size, count) was passed; the diagnostic names it. */
    TIRGEN_EBUG = 6      /**< A check inside the library failed: please report the diagnostic. */
} tirgen_status;

/** Short English text of @p status, static storage, never NULL. */
TIRGEN_API const char *tirgen_status_text(tirgen_status status);

#ifdef __cplusplus
}
#endif
#endif
