/* pool_info.h: the attribute pool_args of TVM's lowered main: memory pools that stand behind its outputs as parameters. Every entry
 * is an object I.AllocatedPoolInfo; one of a ConstantPoolInfo lists constants with their data and offsets. */
#ifndef TG_POOL_INFO_H
#define TG_POOL_INFO_H

#include "module.h"

const tg_value *tg_pools_of(const tg_func *f);                  /* the list, at most as long as the parameters; or NULL */
int64_t tg_pool_size(const tg_value *pool);                     /* bytes, -1: not said */
const tg_value *tg_pool_constants(const tg_value *pool);        /* what a constant pool holds; NULL for a workspace */
typedef struct tg_pool_constant { const char *name; const tg_tensor *data; int64_t offset; } tg_pool_constant;
/* Entry @p i of such a list; data NULL when there is none, offset -1 when it is not said. */
tg_pool_constant tg_pool_constant_at(const tg_value *constants, uint32_t i);

#endif
