# tirc: -passes=flatten
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def transpose(A: T.Buffer((4, 8), "int8"), B: T.Buffer((8, 4), "int8")):
        for i, j in T.grid(8, 4):
            B[i, j] = A[j, i]
