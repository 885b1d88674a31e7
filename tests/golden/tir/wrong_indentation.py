# tirc: -passes=none
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    for i in range(4):
            A[i] = T.float32(0)
       A[0] = T.float32(1)
