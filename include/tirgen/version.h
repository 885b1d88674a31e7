/* tirgen/version.h: the one place that holds the version; CMake reads it. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_VERSION_H
#define TIRGEN_VERSION_H

#define TIRGEN_VERSION_MAJOR 0
#define TIRGEN_VERSION_MINOR 1
#define TIRGEN_VERSION_PATCH 0
#define TIRGEN_VERSION "0.1.0"

#endif
