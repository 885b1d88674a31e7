/* value.h: values of attributes, of operators, functions, blocks and modules alike. Immutable, in the arena. */
#ifndef TG_VALUE_H
#define TG_VALUE_H

#include "tensor.h"

enum tg_value_kind {
    TG_V_NONE,      /* None */
    TG_V_BOOL, TG_V_INT, TG_V_FLOAT,
    TG_V_STR,       /* s */
    TG_V_LIST,      /* n items; tuples too */
    TG_V_DICT,      /* n items, key[i] */
    TG_V_TENSOR,    /* t */
    TG_V_OBJECT     /* s: type name, n items with keys: Target(kind="c"), I.AllocatedPoolInfo(…) */
};

typedef struct tg_value tg_value;
struct tg_value {
    uint16_t kind;
    uint16_t bits;                  /* width written in the text: 32 (plain), 64, 16, 8; 1 for bool */
    uint32_t n;
    int64_t i;
    double f;
    const tg_name *s;
    const tg_tensor *t;
    const tg_value *const *item;
    const tg_name *const *key;
    tg_span span;
};

const tg_value *tg_v_none(tg_ctx *cx);
const tg_value *tg_v_bool(tg_ctx *cx, bool b);
const tg_value *tg_v_int(tg_ctx *cx, int64_t i);                        /* bits 32 when it fits, else 64 */
const tg_value *tg_v_float(tg_ctx *cx, double f);
const tg_value *tg_v_str(tg_ctx *cx, const tg_name *s);
const tg_value *tg_v_strz(tg_ctx *cx, const char *s);
const tg_value *tg_v_list(tg_ctx *cx, uint32_t n, const tg_value *const *item);
const tg_value *tg_v_ints(tg_ctx *cx, uint32_t n, const int64_t *v);    /* list of ints */
const tg_value *tg_v_dict(tg_ctx *cx, uint32_t n, const tg_name *const *key, const tg_value *const *item);
const tg_value *tg_v_tensor(tg_ctx *cx, const tg_tensor *t);
bool tg_value_equal(const tg_value *a, const tg_value *b);              /* NULL equals an empty dict; float bits; bits ignored */
const tg_value *tg_v_get(const tg_value *dict, const char *key);        /* NULL when absent or dict is NULL */
const tg_value *tg_v_with(tg_ctx *cx, const tg_value *dict, const char *key, const tg_value *v);    /* copy with key set; sorted by key */
const tg_value *tg_v_without(tg_ctx *cx, const tg_value *dict, const char *key);
int64_t tg_v_get_int(const tg_value *dict, const char *key, int64_t otherwise);     /* bool and int */
const char *tg_v_get_str(const tg_value *dict, const char *key, const char *otherwise);

#endif
