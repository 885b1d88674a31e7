# tirc: -prefix=t
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def saxpy(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32"), a: T.float32):
        T.func_attr({"global_symbol": "saxpy", "tir.noalias": T.bool(True)})
        for i in range(8):
            y[i] = y[i] + a * x[i]
