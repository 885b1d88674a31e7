/* t.c: the model in pools.py. Made by tirgen 0.1.0. */
#include "t.h"

#include <stddef.h>

/* Kernels stay functions of their own: in profiles, on the stack, and where restrict is promised. */
#ifndef TIRGEN_KERNEL
#if defined(__GNUC__)
#define TIRGEN_KERNEL static __attribute__((noinline))
#else
#define TIRGEN_KERNEL static
#endif
#endif

#ifndef TIRGEN_ALIGN
#if defined(__GNUC__) || defined(__ARMCC_VERSION)
#define TIRGEN_ALIGN(bytes) __attribute__((aligned(bytes)))
#elif defined(_MSC_VER)
#define TIRGEN_ALIGN(bytes) __declspec(align(bytes))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TIRGEN_ALIGN(bytes) _Alignas(bytes)
#else
#define TIRGEN_ALIGN(bytes)
#endif
#endif
/* Where the constants lie, for example __attribute__((section(".weights"))). */
#ifndef TIRGEN_CONST_SECTION
#define TIRGEN_CONST_SECTION
#endif

struct t_constants_pool {
    uint8_t gap0[16];
    int8_t three[1];
    uint8_t gap1[3];
};
typedef char t_constants_pool_at_three
    [offsetof(struct t_constants_pool, three) == 16 ? 1 : -1];

static const TIRGEN_ALIGN(16) TIRGEN_CONST_SECTION struct t_constants_pool constants = {
    { 0 },
    { /* three */
    3
    },
    { 0 },
};

/* t_fused_add  int8[4], uint8[20] -> int8[4]  pools.py:19:5 */
TIRGEN_KERNEL int32_t t_fused_add(const int8_t *TIRGEN_RESTRICT p0, int8_t *TIRGEN_RESTRICT T_add,
    const uint8_t *TIRGEN_RESTRICT constants_var, const uint8_t *TIRGEN_RESTRICT workspace_var)
{
    (void)workspace_var;
    const int8_t *three_let = (const int8_t *)(constants_var + 16);
    for (int32_t i = 0; i < 4; ++i) {
        T_add[i] = (int8_t)(p0[i] + three_let[0]);
    }
    return 0;
}

/* The operators of the model, in order.  int8[4] -> int8[4]  pools.py:8:5 */
static int32_t tvm_main(const int8_t *x, int8_t *output, const uint8_t *constants_var,
    uint8_t *workspace_var)
{
    int8_t *sid_1_let = (int8_t *)(workspace_var + 32);
    if (t_fused_add(x, sid_1_let, constants_var, workspace_var) != 0) {
        return -1;
    }
    if (t_fused_add(sid_1_let, output, constants_var, workspace_var) != 0) {
        return -1;
    }
    return 0;
}

int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace)
{
    if (inputs == NULL || outputs == NULL
        || inputs->x == NULL
        || outputs->output == NULL
        || workspace == NULL || (uintptr_t)workspace % T_WORKSPACE_ALIGN != 0) {
        return T_INVALID_ARGUMENT;
    }
    return tvm_main(
        (const int8_t *)inputs->x,
        (int8_t *)outputs->output,
        (const uint8_t *)&constants,
        (uint8_t *)workspace);
}
