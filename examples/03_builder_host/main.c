/* main.c: uses the C that build_model wrote. */
#include <stdio.h>

#include "tvmgen_layer.h"

int main(void)
{
    float x[3] = { 1.0f, 2.0f, 3.0f }, y[2];
    struct tvmgen_layer_inputs inputs = { x };
    struct tvmgen_layer_outputs outputs = { y };
    if (tvmgen_layer_run(&inputs, &outputs) != 0) return 1;
    printf("y = %g %g\n", (double)y[0], (double)y[1]);
    return 0;
}
