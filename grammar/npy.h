/* npy.h: what params.c needs to know of npy.c beside parse.h. */
#ifndef TG_NPY_H
#define TG_NPY_H

#include <stdbool.h>
#include <stddef.h>

bool tg_is_npy(const void *bytes, size_t size);     /* by the first bytes */

#endif
