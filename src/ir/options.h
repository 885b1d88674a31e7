/* options.h: what a compilation is asked for. Plain data; src/driver and the public API fill it, passes and codegen read it. */
#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum tg_interface { TG_INTERFACE_C, TG_INTERFACE_PACKED };

/* -shape x=1,3,32,32: extents for a parameter of the entry function. */
typedef struct tg_shape_option { const char *name; uint32_t ndim; const int64_t *dim; } tg_shape_option;

typedef struct tg_options {
    const char *prefix;             /* of every external symbol; default tvmgen_default. Checked: tg_prefix_check() */
    const char *target;             /* TVM target string: "c -mcpu=cortex-m4"; default "c" */
    enum tg_interface interface_api;
    bool ffi;                       /* also offer the model to tvm-ffi; with the packed interface */
    bool unpacked_api;              /* operators take plain pointers; set unless -unpacked-api=0 or the packed interface */
    int32_t workspace_align, constant_align;    /* bytes, powers of two; default 16 */
    const char *entry;              /* Relay function compiled as the model; default "main" */
    uint32_t nshapes;
    const tg_shape_option *shapes;
    bool keep_layout;               /* leave NCHW as it is */
    bool keep_schedule;             /* leave loops from text as they are */
    bool parallel;                  /* parallel loops go through TVMBackendParallelLaunch */
} tg_options;

#endif
