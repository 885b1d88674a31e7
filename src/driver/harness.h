/* harness.h: the small main program around emitted C, and the command that compiles both. */
#ifndef TIRC_HARNESS_H
#define TIRC_HARNESS_H

#include "tirgen/tirgen.h"

#include "output.h"
#include "process.h"

#define TIRC_HARNESS_C "tirc_main.c"
#define TIRC_HARNESS_PROGRAM "tirc_program"

/* Writes the main program's text into the open file of @p to. info: inputs, then outputs, of the model with @p prefix.
 * packed: the model has the packed interface. */
bool tirc_harness_write(tirc_output *to, const char *prefix, bool packed, const tirgen_tensor_info *info, size_t nin, size_t nout);
/* The name of the file that holds the raw bytes of input or output @p i. */
void tirc_harness_file(char *name, size_t room, bool input, size_t i);
/* Appends flags and files to the words of a C compiler in @p w, which then runs in the folder of the emitted files. Our flags
 * come first, so that the user's win. runtime: the folder of the runtime, whose sources are compiled too; NULL when there is none. */
void tirc_harness_words(tirc_words *w, const char *prefix, const char *runtime);

#endif
