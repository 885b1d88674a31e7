# tirc: -passes=none
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4, 4), "float32"), n: T.int32):
    for i in range(4):
        A[i] = A[i, undefined]
    x: T.int32 = T.no_such_call(n)
    A[x, 0] = A[0, 1.5]
    with T.block("b"):
        v = T.axis.remap("S", [n])
