# Small kernels, each a form that generators have printed wrongly; run.kernels compares every one with the evaluator.
# from tvm.script import ir as I
# from tvm.script import tir as T
@I.ir_module
class Module:
    @T.prim_func
    def returns_seven(A: T.Buffer((2,), "float32")) -> T.int32:
        T.func_attr({"global_symbol": "returns_seven"})
        T.evaluate(T.call_extern("void", "helper", A.data))
        T.ret(7)
    @T.prim_func
    def helper(A: T.Buffer((2,), "float32")) -> None:
        T.func_attr({"global_symbol": "helper"})
        A[0] = T.float32(3)
    @T.prim_func
    def product_of_sums(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "product_of_sums"})
        for i in range(2):
            x: T.float32 = (A[i] + T.float32(1)) * (A[i] - T.float32(1))
            B[i] = x
    @T.prim_func
    def non_finite(B: T.Buffer((3,), "float32")):
        T.func_attr({"global_symbol": "non_finite"})
        B[0] = T.float32("-inf")
        B[1] = T.float32("inf")
        B[2] = T.float32("nan")
    @T.prim_func
    def bits_set(B: T.Buffer((1,), "uint64")):
        T.func_attr({"global_symbol": "bits_set"})
        B[0] = T.popcount(T.uint64(0xF0F0))
    @T.prim_func
    def cast_of_choice(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        T.func_attr({"global_symbol": "cast_of_choice"})
        B[0] = T.Cast("float32", T.Cast("int32", T.Select(A[0] > T.float32(0), A[0] * T.float32(2), A[0])))
    @T.prim_func
    def right_nested(A: T.Buffer((3,), "int32"), B: T.Buffer((3,), "int32")):
        T.func_attr({"global_symbol": "right_nested"})
        B[0] = A[0] - (A[1] - A[2])
        B[1] = T.shift_left(A[0], T.shift_left(A[1], A[2]))
        B[2] = T.truncdiv(8, T.max(A[1] * A[2], 1))
    @T.prim_func
    def by_a_power(A: T.Buffer((4,), "int32"), B: T.Buffer((16,), "int32")):
        T.func_attr({"global_symbol": "by_a_power"})
        for i in range(4):
            B[i] = T.truncdiv(A[i], 4)
            B[i + 4] = T.truncmod(A[i], 4)
            B[i + 8] = T.floordiv(A[i], 4)
            B[i + 12] = T.floormod(A[i], 4)
    @T.prim_func
    def widest_divisor(A: T.Buffer((1,), "int32"), B: T.Buffer((2,), "int32"), C: T.Buffer((1,), "int16"), D: T.Buffer((2,), "int16")):
        T.func_attr({"global_symbol": "widest_divisor"})
        B[0] = T.floordiv(A[0], 2147483647)
        B[1] = T.floormod(A[0], 2147483647)
        D[0] = T.floordiv(C[0], T.int16(32767))
        D[1] = T.floormod(C[0], T.int16(32767))
    @T.prim_func
    def unsigned_zero(B: T.Buffer((2,), "uint32")):
        T.func_attr({"global_symbol": "unsigned_zero"})
        B[0] = T.uint32(0) - T.uint32(0)
        B[1] = T.Cast("uint32", T.floordiv(0, 5))
    @T.prim_func
    def same_bits(B: T.Buffer((1,), "int32")):
        T.func_attr({"global_symbol": "same_bits"})
        B[0] = T.reinterpret("int32", T.float32(1))
    @T.prim_func
    def wide_shift(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int64")):
        T.func_attr({"global_symbol": "wide_shift"})
        B[0] = T.shift_left(T.int64(1), T.Cast("int64", A[0]))
    @T.prim_func
    def lanes_with_a_condition(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "lanes_with_a_condition"})
        for i in T.vectorized(4):
            if A[i] > T.float32(0):
                B[i] = A[i]
    @T.prim_func
    def lazy_branch(A: T.Buffer((2,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "lazy_branch"})
        for i in range(4):
            B[i] = T.if_then_else(i >= 2, A[i - 2], T.float32(0))
    @T.prim_func
    def let_in_a_branch(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "let_in_a_branch"})
        x = T.float32()
        for i in range(4):
            if A[i] > T.float32(0):
                B[i] = T.Let(x + x, where={x: A[i] * T.float32(2)})
    @T.prim_func
    def two_guards(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "two_guards"})
        for i in range(8):
            if i < 5:
                B[i] = A[i]
            if i < 5:
                B[i] = B[i] + T.float32(1)
    @T.prim_func
    def wide_index(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "wide_index"})
        for i in T.serial(T.int64(0), T.int64(4)):
            B[i] = A[T.Cast("int32", i)]
    @T.prim_func
    def vector_tail(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        T.func_attr({"global_symbol": "vector_tail"})
        for o in range(2):
            for i in T.vectorized(4):
                if o * 4 + i < 5:
                    B[o * 4 + i] = A[o * 4 + i] * T.float32(2)
    @T.prim_func
    def reversed_lanes(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "reversed_lanes"})
        B[T.Ramp(0, 1, 4)] = T.Shuffle([A[T.Ramp(0, 1, 4)]], [3, 2, 1, 0])
    @T.prim_func
    def rank_zero(A: T.Buffer((), "float32"), B: T.Buffer((), "float32")):
        T.func_attr({"global_symbol": "rank_zero"})
        B[()] = T.pow(T.abs(A[()]), T.float32(2)) + T.Cast("float32", T.bool(True))
    @T.prim_func
    def let_of_a_let(n: T.int32, B: T.Buffer((64,), "float32")):
        T.func_attr({"global_symbol": "let_of_a_let"})
        a: T.int32 = n
        b: T.int32 = a
        B[b] = T.float32(1)
    @T.prim_func
    def no_else(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
        T.func_attr({"global_symbol": "no_else"})
        if A[0] > 0:
            B[0] = 1
    @T.prim_func
    def every_loop_kind(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"global_symbol": "every_loop_kind"})
        for i in T.parallel(2):
            for j in T.unroll(2):
                for k in T.vectorized(4):
                    B[i * 8 + j * 4 + k] = A[i * 8 + j * 4 + k] + T.float32(1)
