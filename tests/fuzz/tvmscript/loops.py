# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, b: T.handle, n: T.int32) -> T.int32:
        A = T.match_buffer(a, (16,), "int32", align=16)
        B = T.match_buffer(b, (16,), "int32", align=16)
        buf = T.allocate([16], "int32", "global")
        C = T.Buffer((16,), "int32", data=buf)
        for i in range(16):
            C[i] = A[i] // 3 + A[i] % 3
        for i in T.unroll(4):
            for j in T.vectorized(4):
                if C[i * 4 + j] > n:
                    B[i * 4 + j] = C[i * 4 + j] - -1
                else:
                    B[i * 4 + j] = T.Cast("int32", T.float32(2.5))
        T.ret(T.int32(7))
