# tirc: -prefix=t
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32) -> T.int32:
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(n):
            if A[i] > T.float32(1):
                B[i] = T.float32(1)
            else:
                if A[i] < T.float32(-1):
                    B[i] = T.float32(-1)
                else:
                    B[i] = T.if_then_else(i >= 2, A[i - 2], A[i])
        while B[0] < T.float32(10):
            B[0] = B[0] * T.float32(2)
        return 7

    @T.prim_func
    def vectors(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        B[0:4] = A[0:8:2] * T.Broadcast(T.float32(2), 4)
        B[0:4] = B[1:5]
        for i in T.vectorized(4):
            if A[i] > T.float32(0):
                B[i] = A[i]

    @T.prim_func
    def lets(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        t = T.float32()
        for i in range(4):
            x: T.float32 = A[i] * A[i]
            B[i] = T.if_then_else(i >= 1, T.Let(t * t, where={t: A[i - 1]}), x)

    @T.prim_func
    def calls(A: T.Buffer((4,), "float32"), int: T.Buffer((4,), "float32"), y0: T.Buffer((4,), "float32")):
        T.call_extern("int32", "vendor_kernel", A.data, T.address_of(int[2]), 3)
        T.tvm_check_return(0, -1, T.call_extern("int32", "vendor_kernel", A.data, y0.data, 4))
        assert A[0] > T.float32(0), "A must be positive */"
