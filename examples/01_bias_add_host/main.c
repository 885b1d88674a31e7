/* main.c: the smallest use of emitted C: two inputs, one output, no setup. */
#include <stdio.h>

#include "tvmgen_bias_add.h"

int main(void)
{
    float x[4] = { 1.0f, -2.0f, 3.0f, -4.0f };
    float bias[4] = { 0.5f, 0.5f, -5.0f, 5.0f };
    float y[4];
    struct tvmgen_bias_add_inputs inputs = { x, bias };
    struct tvmgen_bias_add_outputs outputs = { y };

    if (tvmgen_bias_add_run(&inputs, &outputs) != 0) return 1;
    for (int i = 0; i < 4; ++i) printf("max(0, %4.1f + %4.1f) = %4.1f\n", (double)x[i], (double)bias[i], (double)y[i]);
    return 0;
}
