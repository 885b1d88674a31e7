# tirc: -passes=base-pointers
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def conv(x: T.Buffer((200,), "float32"), w: T.Buffer((144,), "float32"), y: T.Buffer((64,), "float32")):
        for oh, ow in T.grid(4, 4):
            tile_data = T.allocate([4], "float32", "local")
            tile = T.decl_buffer((4,), data=tile_data, scope="local")
            for oc in range(4):
                tile[oc] = T.float32(0)
            for kh, kw, ic in T.grid(3, 3, 4):
                for oc in range(4):
                    tile[oc] = tile[oc] + x[oh * 24 + ow * 4 + kh * 24 + kw * 4 + ic] * w[kh * 48 + kw * 16 + ic * 4 + oc]
            for oc in range(4):
                y[oh * 16 + ow * 4 + oc] = tile[oc]
