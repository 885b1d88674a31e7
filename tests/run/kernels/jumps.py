# break and continue, as statements and as the calls of 0.22, in loops within loops and in branches.
from tvm.script import tir as T

@T.prim_func
def until_negative(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    T.func_attr({"global_symbol": "until_negative"})
    for i in range(16):
        if A[i] < -60:
            break
        B[i] = A[i]

@T.prim_func
def odd_only(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    T.func_attr({"global_symbol": "odd_only"})
    for i in range(16):
        x: T.int32 = A[i] + 1
        if x % 2 != 0:
            T.continue_loop()
        y: T.int32 = x * 3
        B[i] = y
        if y > 300:
            B[i] = -y
            continue
        B[i] = B[i] + 1

@T.prim_func
def first_above(A: T.Buffer((6, 5), "int32"), B: T.Buffer((6,), "int32")):
    T.func_attr({"global_symbol": "first_above"})
    for i in range(6):
        B[i] = -1
        for j in range(5):
            if A[i, j] < 0:
                continue
            if A[i, j] > 50:
                B[i] = j
                T.break_loop()
        if B[i] == 4:
            break

@T.prim_func
def collatz(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    T.func_attr({"global_symbol": "collatz"})
    for i in range(4):
        s = T.alloc_buffer((2,), "int32")
        s[0] = T.max(A[i] % 32, 1)
        s[1] = 0
        while True:
            if s[0] == 1:
                break
            s[1] = s[1] + 1
            if s[0] % 2 == 0:
                s[0] = s[0] // 2
                continue
            s[0] = s[0] * 3 + 1
        B[i] = s[1]
