/* harness.h: the small main program around emitted C. */
#ifndef TIRC_HARNESS_H
#define TIRC_HARNESS_H

#include "tirgen/tirgen.h"

#include "output.h"

#define TIRC_HARNESS_C "tirc_main.c"
#define TIRC_HARNESS_PROGRAM "tirc_program"

/* Writes the main program's text into the open file of @p to. info: inputs, then outputs, of the model with @p prefix.
 * packed: the model has the packed interface. */
bool tirc_harness_write(tirc_output *to, const char *prefix, bool packed, const tirgen_tensor_info *info, size_t nin, size_t nout);
/* The name of the file that holds the raw bytes of input or output @p i. */
void tirc_harness_file(char *name, size_t room, bool input, size_t i);
/* The main program of a module without a model: calls each of @p n kernels once. @p call holds C expressions: "f(at[0], at[1])"; the
 * buffers are @p size[0..nbuffers) bytes, read from input_N.bin and afterwards written to output_N.bin. */
bool tirc_harness_write_kernels(tirc_output *to, const char *prefix, const char *const *call, size_t n, const size_t *size, size_t nbuffers);

#endif
