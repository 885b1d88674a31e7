# tirc: -passes=simplify
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
        for i, j in T.grid(4, 4):
            if i * 4 + j < 16:
                B[(i * 4 + j) // 4 * 4 + (i * 4 + j) % 4] = A[i * 4 + j + 0] * 1 + (j // 4)
