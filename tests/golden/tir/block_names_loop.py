# tirc: -passes=schedule-funcs
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("b"):
            vj = T.axis.spatial(8, j)
            T.reads(A[i, vj])
            T.writes(B[i, vj])
            B[i, vj] = A[i, vj] + T.float32(1)
