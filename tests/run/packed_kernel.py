# Kernels whose shapes only the caller knows: extents, a stride and an element offset are read from the arguments.
from tvm.script import tir as T

@T.prim_func
def matmul(a: T.handle, b: T.handle, c: T.handle):
    T.func_attr({"global_symbol": "matmul"})
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m, 3), "float32")
    C = T.match_buffer(c, (n, 3), "float32")
    for i, j, k in T.grid(n, 3, m):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

@T.prim_func
def gather_rows(x: T.handle, y: T.handle, scale: T.float32):
    T.func_attr({"global_symbol": "gather_rows"})
    rows, pitch, first = T.int32(), T.int32(), T.int32()
    X = T.match_buffer(x, (rows, 2), "float32", strides=(pitch, 1), elem_offset=first)
    Y = T.match_buffer(y, (rows, 2), "float32")
    for i, j in T.grid(rows, 2):
        Y[i, j] = X[i, j] * scale
