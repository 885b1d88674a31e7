/* tirgen_rt/config.h: every limit of the runtime. Set one with -D, or name a file of your own that sets several:
 * -DTIRGEN_RT_CONFIG_FILE='"my_config.h"'. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_CONFIG_H
#define TIRGEN_RT_CONFIG_H

#ifdef TIRGEN_RT_CONFIG_FILE
#include TIRGEN_RT_CONFIG_FILE
#endif

/** Bytes of the text that TVMGetLastError() gives, the final NUL included. 0: no text is kept and no RAM is used. */
#ifndef TIRGEN_RT_LAST_ERROR_BYTES
#define TIRGEN_RT_LAST_ERROR_BYTES 160
#endif

/** How a default definition says that another one takes precedence. Where a compiler has no such thing, leave out the source
 * files whose hooks you do not supply. */
#ifndef TIRGEN_RT_WEAK
#if defined(__GNUC__) || defined(__ARMCC_VERSION) || defined(__ICCARM__)
#define TIRGEN_RT_WEAK __attribute__((weak))
#else
#define TIRGEN_RT_WEAK
#endif
#endif

#endif
