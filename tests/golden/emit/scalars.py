# tirc: -prefix=t
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def arithmetic(a: T.Buffer((8,), "int32"), b: T.Buffer((8,), "int32"), c: T.Buffer((8,), "int32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(8):
            c[i] = a[i] - (b[i] - c[i]) * 3
            c[i] = a[i] // 4 + b[i] % 3 + T.truncdiv(a[i], b[i])
            c[i] = T.max(T.min(a[i] + b[i], 127), -128)

    @T.prim_func
    def narrow(a: T.Buffer((8,), "int8"), b: T.Buffer((8,), "uint16"), c: T.Buffer((8,), "float16")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(8):
            a[i] = a[i] + a[i] * T.int8(3)
            b[i] = b[i] * b[i]
            c[i] = c[i] * c[i] + T.float16(0.5)

    @T.prim_func
    def convert(x: T.Buffer((8,), "float32"), q: T.Buffer((8,), "int8"), m: T.Buffer((8,), "bool")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(8):
            q[i] = T.Cast("int8", x[i])
            m[i] = x[i] > T.float32(0) and not T.isinf(x[i])

    @T.prim_func
    def dense(x: T.Buffer((64,), "int8"), w: T.Buffer((16, 64), "int8"), bias: T.Buffer((16,), "int32"), y: T.Buffer((16,), "int8")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(16):
            sum_1 = T.allocate([1], "int32", "local")
            acc = T.Buffer((1,), "int32", data=sum_1)
            acc[0] = 0
            for k in range(64):
                acc[0] = acc[0] + T.Cast("int32", x[k]) * T.Cast("int32", w[i, k])
            y[i] = T.Cast("int8", T.max(T.min(T.q_multiply_shift(acc[0] + bias[i], 1431655765, 31, -6), 127), -128))
