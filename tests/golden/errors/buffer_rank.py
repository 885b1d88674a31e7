# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((4, 2), "float32")):
        for i in range(4):
            A[i] = T.float32(0)
