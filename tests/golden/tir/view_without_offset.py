# tirc: -passes=none
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32")):
    V = T.Buffer((4,), data=A.data, offset_factor=4)
    for i in range(4):
        B[i] = V[i]
