# tirc: -passes=none
# from tvm.script import tir as T
@tvm.script.ir_module
class Module:
    @T.prim_func
    def add(a: T.handle, b: T.handle) -> None:
        # function attr dict
        T.func_attr({"global_symbol": "add", "tir.noalias": True})
        # var definition
        x = T.var("float32")
        A = T.match_buffer(a, [2, 8], dtype="float32")
        B = T.match_buffer(b, [16], dtype="float32")
        # body
        with T.allocate([16], "float32", "global") as p:
            for i in T.serial(0, 16):
                T.store(p, i, T.exp(T.load("float32", A.data, i), dtype="float32"), True)
            with T.let(x, T.load("float32", p, 0)):
                for i in T.serial(0, 4):
                    T.store(B.data, T.ramp((i*4), 1, 4), (T.load("float32x4", p, T.ramp((i*4), 1, 4), T.broadcast(True, 4)) + T.broadcast(x, 4)), T.broadcast(True, 4))
            T.evaluate(T.call_extern("done", B.data, T.cast(T.floordiv(7, 2), "int64"), dtype="int32"))
