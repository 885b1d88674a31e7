# tirc: -passes=none
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def matmul(A: T.Buffer((16, 8)), B: T.Buffer((8, 12)), C: T.Buffer((16, 12))):
        """Written by hand: regions, the root block and the types of literals are found by the reader."""
        T.func_attr({"tir.noalias": True})
        packed = T.alloc_buffer((12, 8), scope="local")
        for j, k in T.grid(12, 8):
            with T.block("pack"):
                vj, vk = T.axis.remap("SS", [j, k])
                packed[vj, vk] = B[vk, vj] * 0.5
        for io, j, k, ii in T.grid(3, 12, 8, 6):
            with T.block("C"):
                vi = T.axis.S(16, io * 6 + ii)
                vj, vk = T.axis.remap("SR", [j, k])
                T.where(io * 6 + ii < 16)
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += A[vi, vk] * packed[vj, vk]
