# tirc: -passes=none
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def f(X: T.Buffer(("n", 4), "float32"), Y: T.Buffer((n, 4), "float32")):
    n = T.int64()
    half: T.let[T.int64] = n // T.int64(2)
    count: T.int32 = 0
    t = T.alloc_buffer((8,), "int32", scope="local")
    for i in range(T.int64(0), half * T.int64(2), 2):
        count = count + 1
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            T.reads(X[v, 0])
            T.writes(Y[v, 0])
            Y[v, 0] = X[v, 0]
    t[0] = count
    assert t[0] > 0, ("RuntimeError", ["nothing ", "was done"])
