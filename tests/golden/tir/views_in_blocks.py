# tirc: -passes=none
from tvm.script import tir as T


@T.prim_func
def rows(a: T.handle, B: T.Buffer((8, 4), "float32")):
    n = T.int32()
    A = T.match_buffer(a, (n, 32), "int8", strides=("pitch", 1), offset_factor=4)
    for i in T.parallel(8):
        with T.block("rows", no_realize=False):
            v = T.axis.spatial(8, i)
            T.reads(A[v, 0:32])
            T.writes(B[v, 0:4])
            T.block_attr({"schedule_rule": "None", "pads": [0, 1]})
            row = T.match_buffer(A[v, 8:16], (1, 8), "int8", strides=("s0", "s1"), offset_factor=1)
            T.call_extern("void", "row_kernel", row.data, row.elem_offset, row.strides[0], A.strides[0], B.data)
