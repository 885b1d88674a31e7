# Vector statements: with the compiler's vector types, lane by lane, and where one has to wait for the other.
from tvm.script import tir as T

@T.prim_func
def affine(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32"), s: T.float32):
    T.func_attr({"global_symbol": "affine", "tir.noalias": True})
    for i in range(8):
        C[T.Ramp(i * 4, 1, 4)] = (A[T.Ramp(i * 4, 1, 4)] - B[T.Ramp(i * 4, 1, 4)]) * T.Broadcast(s, 4) + A[T.Ramp(i * 4, 1, 4)] / T.Broadcast(T.float32(3), 4)

@T.prim_func
def doubles(A: T.Buffer((16,), "float64"), B: T.Buffer((16,), "float64")):
    T.func_attr({"global_symbol": "doubles"})
    for i in range(2):
        B[T.Ramp(i * 8, 1, 8)] = A[T.Ramp(i * 8, 1, 8)] - (A[T.Ramp(i * 8, 1, 8)] - T.Broadcast(A[i], 8))

@T.prim_func
def in_place(A: T.Buffer((32,), "float32")):
    T.func_attr({"global_symbol": "in_place"})
    for i in range(7):
        A[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4 + 2, 1, 4)] + T.Broadcast(T.float32(1), 4)

@T.prim_func
def strided(A: T.Buffer((32,), "float32"), B: T.Buffer((16,), "float32")):
    T.func_attr({"global_symbol": "strided"})
    for i in range(4):
        B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 8, 2, 4)] * A[T.Ramp(i * 8 + 1, 2, 4)]

@T.prim_func
def whole(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    T.func_attr({"global_symbol": "whole"})
    for i in range(4):
        B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] // T.Broadcast(3, 4) + T.Broadcast(i, 4)
