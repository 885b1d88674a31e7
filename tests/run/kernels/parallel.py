# Parallel loops: over numbers and memory from outside, from a bound that is not 0, one inside a branch, two in one function.
from tvm.script import tir as T

@T.prim_func
def scaled(A: T.Buffer((64, 8), "float32"), B: T.Buffer((64, 8), "float32"), s: T.float32):
    T.func_attr({"global_symbol": "scaled", "tir.noalias": True})
    t: T.float32 = s + T.float32(1)
    for i in T.parallel(64):
        for j in range(8):
            B[i, j] = A[i, j] * t

@T.prim_func
def twice(A: T.Buffer((65,), "int32"), B: T.Buffer((65,), "int32"), n: T.int32):
    T.func_attr({"global_symbol": "twice"})
    if n > 2:
        for i in T.parallel(1, 64):
            B[i] = A[i - 1] // 2 + A[i + 1] // 2
    W = T.alloc_buffer((65,), "int32")
    for i in T.parallel(65):
        W[i] = A[64 - i] // 4
    for i in range(65):
        B[i] = B[i] // 2 + W[i]
