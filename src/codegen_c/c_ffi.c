/* c_ffi.c: the unit that offers the model to tvm-ffi, whose functions carry no type codes beside their arguments. */
#include "emit.h"

#include "tirgen/version.h"

/* The name and its two underscores are what the loader looks up. */
void c_put_ffi_unit(tg_emit *e)
{
    const char *p = e->prefix;
    uint32_t n = e->model.nin + e->model.nout;
    const char *parameters = "(void *handle, const tirgen_rt_ffi_any *args, int32_t num_args,\n    tirgen_rt_ffi_any *result)";
    tg_printf(e->to, "/* %s_ffi.c: the model for tvm-ffi, as the function \"%s_run\" of a shared object: a tensor for each input, then for\n", p, p);
    tg_printf(e->to, " * each output, which is written. Made by tirgen %s. */\n", TIRGEN_VERSION);
    tg_printf(e->to, "#include \"%s.h\"\n\n#include <stddef.h>\n\n#include <tirgen_rt/ffi.h>\n\n", p);
    tg_puts(e->to, "#ifdef __cplusplus\nextern \"C\"\n#endif\n");
    tg_printf(e->to, "TIRGEN_RT_FFI_EXPORT int __tvm_ffi_%s_run%s;\n\n", p, parameters);
    tg_printf(e->to, "int __tvm_ffi_%s_run%s\n{\n", p, parameters);
    tg_printf(e->to, "    TVMValue value[%u];\n    int code[%u];\n", n > 0 ? n : 1, n > 0 ? n : 1);
    tg_printf(e->to, "    int32_t status = tirgen_rt_ffi_args(\"%s_run\", args, num_args, value, code, %u);\n", p, n);
    tg_puts(e->to, "    (void)handle;\n    (void)result;\n    if (status == 0) {\n");
    tg_printf(e->to, "        status = %s_run(value, code, %u, NULL, NULL, NULL);\n    }\n", p, n);
    tg_puts(e->to, "    return tirgen_rt_ffi_return(status);\n}\n");
}
