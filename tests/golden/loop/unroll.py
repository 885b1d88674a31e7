# tirc: -passes=loops
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for one in range(1):
            for i in T.unroll(4):
                B[i + one] = A[i] * T.float32(2)
