/* t_workspace.c: the default entry, which runs the model in a static workspace.
 * Made by tirgen 0.1.0.
 * Not needed by applications that bring a workspace of their own. */
#include "t.h"

#include <stddef.h>

int32_t t_run(struct t_inputs *inputs, struct t_outputs *outputs)
{
    return t_run_with_workspace(inputs, outputs, NULL);
}
