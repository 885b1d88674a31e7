/* eval.c: the reference evaluator's entry: compiles the function, and each it calls once, and runs it on tensors. */
#include "eval.h"
#include "code.h"

bool tg_eval(tg_ctx *cx, const tg_module *m, const tg_func *f, DLTensor *const *args, uint32_t nargs, int64_t *ret)
{
    tg_vm *vm = tg_temp(cx, sizeof *vm);
    vm->cx = cx;
    vm->m = m;
    tg_reg result = { 0 };
    DLDataType type = { 0, 0, 0 };
    if (!tg_invoke_tensors(vm, f, args, nargs, &result, &type))
        return false;
    if (ret != NULL) {
        double d = type.bits == 64 ? result.d : (double)result.f;
        *ret = !tg_is_float(type) ? result.i
               : d != d           ? 0
               : d >= 0x1p63      ? INT64_MAX
               : d < -0x1p63      ? INT64_MIN
                                  : (int64_t)d;
    }
    return true;
}
