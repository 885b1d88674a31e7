/* pool_info.c: reading of pool_args, see pool_info.h. */
#include "pool_info.h"

#include <string.h>

static const tg_value *field(const tg_value *v, const char *key)
{
    return v != NULL && v->kind == TG_V_OBJECT ? tg_v_get(v, key) : NULL;
}

const tg_value *tg_pools_of(const tg_func *f)
{
    const tg_value *v = tg_v_get(f->attrs, "pool_args");
    return v != NULL && v->kind == TG_V_LIST && v->n <= f->nparams ? v : NULL;
}

int64_t tg_pool_size(const tg_value *pool)
{
    return tg_v_get_int(pool, "allocated_size", -1);
}

const tg_value *tg_pool_constants(const tg_value *pool)
{
    const tg_value *info = field(pool, "pool_info");
    if (info == NULL || info->kind != TG_V_OBJECT || strstr(info->s->text, "ConstantPoolInfo") == NULL) return NULL;
    const tg_value *list = field(info, "");
    return list != NULL ? list : field(info, "constant_info_array");
}

tg_pool_constant tg_pool_constant_at(const tg_value *constants, uint32_t i)
{
    const tg_value *v = constants->item[i], *data = field(v, "data");
    return (tg_pool_constant){ tg_v_get_str(v, "", "constant"), data != NULL && data->kind == TG_V_TENSOR ? data->t : NULL,
                               tg_v_get_int(v, "byte_offset", -1) };
}
