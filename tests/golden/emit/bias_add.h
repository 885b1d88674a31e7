/* t.h: interface of the model in bias_add.relay. Made by tirgen 0.1.0. */
#ifndef T_H_
#define T_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A promise that a pointer is the only way to what it points to. */
#ifndef TIRGEN_RESTRICT
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define TIRGEN_RESTRICT restrict
#elif defined(__GNUC__) || defined(_MSC_VER)
#define TIRGEN_RESTRICT __restrict
#else
#define TIRGEN_RESTRICT
#endif
#endif

/* Input x: float32[1,4], row-major */
#define T_X_SIZE 16
#define T_X_ELEMENTS 4
#define T_X_DTYPE "float32"
#define T_X_NDIM 2
#define T_X_SHAPE { 1, 4 }

/* Input bias: float32[4], row-major */
#define T_BIAS_SIZE 16
#define T_BIAS_ELEMENTS 4
#define T_BIAS_DTYPE "float32"
#define T_BIAS_NDIM 1
#define T_BIAS_SHAPE { 4 }

/* Output output: float32[1,4], row-major */
#define T_OUTPUT_SIZE 16
#define T_OUTPUT_ELEMENTS 4
#define T_OUTPUT_DTYPE "float32"
#define T_OUTPUT_NDIM 2
#define T_OUTPUT_SHAPE { 1, 4 }

/* Memory for what stands between the operators, in bytes, and its alignment */
#define T_WORKSPACE_SIZE 0
#define T_WORKSPACE_ALIGN 16

/* Returned when an argument is NULL or the workspace is not aligned */
#define T_INVALID_ARGUMENT 0x803

#ifndef TIRGEN_UNTYPED_IO
struct t_inputs {
    const float *x; /* float32[1,4] */
    const float *bias; /* float32[4] */
};

struct t_outputs {
    float *output; /* float32[1,4] */
};
#else /* the same with void pointers */
struct t_inputs {
    const void *x; /* float32[1,4] */
    const void *bias; /* float32[4] */
};

struct t_outputs {
    void *output; /* float32[1,4] */
};
#endif

/**
 * Run the model in its static workspace. Not re-entrant.
 * The structs are only read. Outputs overlap neither each other nor inputs.
 * @return 0, or T_INVALID_ARGUMENT.
 */
int32_t t_run(struct t_inputs *inputs, struct t_outputs *outputs);

/**
 * Run the model in a workspace of the caller. Re-entrant: calls with different workspaces and
 * outputs may run at once.
 * @param workspace  May be NULL: this model needs none.
 * @return 0, or T_INVALID_ARGUMENT: a pointer is NULL or the workspace
 *         is not aligned.
 */
int32_t t_run_with_workspace(const struct t_inputs *inputs,
    const struct t_outputs *outputs, void *workspace);

#ifdef __cplusplus
}
#endif

#endif /* T_H_ */
