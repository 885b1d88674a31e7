/* c_unit.c: the files of a module, in order: what a source file needs is known only when its functions are printed, so these
 * are printed to memory first; the constants, which are large, go out in pieces. */
#include "emit.h"

#include <string.h>

/* ---- pieces of the source file ---- */

void c_put_align_macro(tg_emit *e)
{
    tg_puts(e->to, "#ifndef TIRGEN_ALIGN\n"
                   "#if defined(__GNUC__) || defined(__ARMCC_VERSION)\n"
                   "#define TIRGEN_ALIGN(bytes) __attribute__((aligned(bytes)))\n"
                   "#elif defined(_MSC_VER)\n"
                   "#define TIRGEN_ALIGN(bytes) __declspec(align(bytes))\n"
                   "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
                   "#define TIRGEN_ALIGN(bytes) _Alignas(bytes)\n"
                   "#else\n"
                   "#define TIRGEN_ALIGN(bytes)\n"
                   "#endif\n"
                   "#endif\n");
}

static void put_includes(tg_emit *e)
{
    static const struct { unsigned need; const char *name; } row[] = {
        { C_MATH, "math.h" }, { C_STDBOOL, "stdbool.h" }, { C_STDDEF, "stddef.h" }, { C_STDIO, "stdio.h" }, { C_STDLIB, "stdlib.h" },
        { C_STRING, "string.h" },
    };
    bool first = true;
    tg_printf(e->to, "#include \"%s.h\"\n", e->prefix);
    for (size_t i = 0; i < TG_COUNT(row); ++i) {
        if ((e->need & row[i].need) == 0)
            continue;
        tg_printf(e->to, first ? "\n#include <%s>\n" : "#include <%s>\n", row[i].name);
        first = false;
    }
    if ((e->need & C_PACKED) != 0)
        tg_puts(e->to, "\n#include <tirgen_rt/packed.h>\n");
    if ((e->need & (C_DOT | C_LANES)) != 0)
        c_put_dot_headers(e);
}

static void put_kernel_macro(tg_emit *e)
{
    bool any = false;
    for (size_t i = 0; i < e->fn.n; ++i)
        any = any || c_is_model_kernel(e, e->fn.at[i]);
    if (any)
        tg_puts(e->to, "\n/* Kernels stay functions of their own: in profiles, on the stack, and where restrict is promised. */\n"
                       "#ifndef TIRGEN_KERNEL\n#if defined(__GNUC__)\n#define TIRGEN_KERNEL static __attribute__((noinline))\n"
                       "#else\n#define TIRGEN_KERNEL static\n#endif\n#endif\n");
}

static void put_macros(tg_emit *e)
{
    put_kernel_macro(e);
    if (e->table.n > 0 || c_has_constant_pools(e)) {
        tg_putc(e->to, '\n');
        c_put_align_macro(e);
        tg_puts(e->to, "/* Where the constants lie, for example __attribute__((section(\".weights\"))). */\n"
                       "#ifndef TIRGEN_CONST_SECTION\n#define TIRGEN_CONST_SECTION\n#endif\n");
    }
    if ((e->need & C_CHECK) != 0)
        tg_printf(e->to, "\n/* Called with a text when a check fails; the function then returns. -DTIRGEN_NO_CHECKS leaves the checks out. */\n"
                         "#ifndef TIRGEN_CHECK_FAILED\n#define TIRGEN_CHECK_FAILED(message) %s\n#endif\n"
                         "#ifdef TIRGEN_NO_CHECKS\n#define TIRGEN_CHECKS 0\n#else\n#define TIRGEN_CHECKS 1\n#endif\n",
                  (e->need & C_PACKED) != 0 ? "TVMAPISetLastError(message)" : "((void)0)");
}

static void put_extern(tg_emit *e, const c_extern *x)
{
    tg_printf(e->to, "%s%s(", x->ret->kind == TG_T_VOID ? "void " : x->ret->kind == TG_T_PTR ? "void *"
              : tg_format(e->cx, "%s ", c_type(e, x->ret->dtype, TG_NOWHERE)), x->name->text);
    for (uint32_t i = 0; i < x->nargs; ++i) {
        const struct c_extern_arg *a = &x->arg[i];
        if (i > 0)
            tg_puts(e->to, ", ");
        if (a->pointer && a->open)              /* strings only */
            tg_puts(e->to, "const char *");
        else if (a->pointer)
            tg_printf(e->to, "%s%s *", a->constant ? "const " : "", c_element(e, a->dtype, TG_NOWHERE));
        else
            tg_puts(e->to, c_type(e, a->dtype, TG_NOWHERE));
    }
    tg_puts(e->to, x->nargs == 0 ? "void);\n" : ");\n");
}

static void put_externs(tg_emit *e)
{
    bool any = false;
    for (size_t i = 0; i < e->externs.n; ++i) {
        if (e->externs.at[i]->known)
            continue;
        if (!any)
            tg_puts(e->to, "\n/* From other files */\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
        any = true;
        put_extern(e, e->externs.at[i]);
    }
    if (any)
        tg_puts(e->to, "#ifdef __cplusplus\n}\n#endif\n");
}

/* ---- names ---- */

static void name_public(tg_emit *e, c_fn *fn)
{
    const char *symbol = tg_v_get_str(fn->f->attrs, "global_symbol", fn->f->name->text);
    const char *clean = c_clean(e, symbol, strlen(symbol), "function");
    if (c_is_reserved(symbol))                  /* main, exp: with the prefix they harm nobody */
        clean = tg_format(e->cx, "%s_%s", e->prefix, symbol);
    fn->name = c_global(e, clean, strlen(clean), "function");
}

static void name_globals(tg_emit *e)
{
    c_reserve_helpers(e);
    for (size_t i = 0; i < e->externs.n; ++i)
        c_reserve(e, e->externs.at[i]->name->text);
    static const char *const suffix[] = { "_run", "_run_with_workspace", "_inputs", "_outputs" };
    for (size_t i = 0; i < TG_COUNT(suffix); ++i)
        c_reserve(e, tg_format(e->cx, "%s%s", e->prefix, suffix[i]));
    for (size_t i = 0; i < e->fn.n; ++i)
        if (e->fn.at[i]->is_public)
            name_public(e, e->fn.at[i]);
    for (size_t i = 0; i < e->fn.n; ++i) {
        c_fn *fn = e->fn.at[i];
        if (!fn->is_public)
            fn->name = c_global(e, fn->f->name->text, fn->f->name->len, "function");
        static const char *const of_task[] = { "_args", "_part", "_range" };
        for (size_t k = 0; k < TG_COUNT(of_task) && tg_v_get_int(fn->f->attrs, TG_TASK, 0) != 0; ++k)
            c_reserve(e, tg_format(e->cx, "%s%s", fn->name->text, of_task[k]));
    }
    c_collect_tables(e);
    c_pools_name(e);
}

/* ---- files ---- */

static bool flush(void *user, const char *bytes, size_t n)
{
    const tg_files *out = user;
    return out->bytes(out->user, bytes, n);
}

typedef void (*put_fn)(tg_emit *e);

static bool put_file(tg_emit *e, const char *name, put_fn put)
{
    if (!e->files->open(e->files->user, name))
        return false;
    tg_text t = tg_text_to(e->cx, flush, (void *)(uintptr_t)e->files);
    e->to = &t;
    put(e);
    e->to = NULL;
    bool good = tg_text_end(&t);
    return e->files->close(e->files->user) && good && !e->failed;
}

/* The functions, which say what the rest of the file must hold. */
static bool print_functions(tg_emit *e, tg_text *text)
{
    *text = tg_text_new(e->cx);
    e->to = text;
    for (size_t i = 0; i < e->fn.n && !e->failed; ++i) {
        tg_putc(text, '\n');
        if (tg_v_get_int(e->fn.at[i]->f->attrs, TG_TASK, 0) != 0)
            c_put_task(e, e->fn.at[i]);
        else
            c_function(e, e->fn.at[i]);
    }
    if (e->model.main != NULL && !e->failed)
        c_put_entry(e);
    c_needs_of_tables(e);
    return !e->failed;
}

static void put_source(tg_emit *e)
{
    tg_printf(e->to, "/* %s.c: ", e->prefix);
    c_put_origin(e, e->model.main != NULL ? "the model" : "functions");
    put_includes(e);
    put_macros(e);
    put_externs(e);
    c_put_vector_types(e);
    c_put_helpers(e);
    c_put_tables(e);
    c_put_pools(e);
    tg_putn(e->to, e->functions.at, e->functions.n);
}

static bool put_files(tg_emit *e)
{
    const char *p = e->prefix;
    unsigned need = e->need;
    e->packed_used = (need & C_PACKED) != 0 || (e->model.main != NULL && e->opt->interface_api == TG_INTERFACE_PACKED);
    e->math_used = (need & C_MATH) != 0;
    if (!put_file(e, tg_format(e->cx, "%s.h", p), c_put_header))
        return false;
    e->need = need;
    if (!put_file(e, tg_format(e->cx, "%s.c", p), put_source))
        return false;
    if (e->model.main != NULL && !put_file(e, tg_format(e->cx, "%s_workspace.c", p), c_put_workspace_unit))
        return false;
    if (e->model.main != NULL && e->opt->ffi && !put_file(e, tg_format(e->cx, "%s_ffi.c", p), c_put_ffi_unit))
        return false;
    return put_file(e, "CMakeLists.txt", c_put_cmake);
}

bool tg_codegen_c(tg_ctx *cx, const tg_module *m, const tg_options *opt, const tg_files *out)
{
    tg_emit e = { .cx = cx, .m = m, .opt = opt, .files = out, .lane_at = -1 };
    e.prefix = opt->prefix != NULL ? opt->prefix : "tvmgen_default";
    const char *broken = tg_prefix_check(e.prefix);
    if (broken != NULL) {
        tg_error(cx, TG_NOWHERE, "the prefix '%s' %s", e.prefix, broken);
        return false;
    }
    e.macro = c_upper(&e, e.prefix);
    if (!c_scan(&e))
        return false;
    c_model_count(&e);
    if (!c_follow_pointers(&e) || !c_model_make(&e))
        return false;
    name_globals(&e);
    for (size_t i = 0; out->symbol != NULL && i < e.fn.n; ++i)
        if (e.fn.at[i]->is_public)
            out->symbol(out->user, e.fn.at[i]->f, e.fn.at[i]->name->text);
    return print_functions(&e, &e.functions) && put_files(&e);
}
