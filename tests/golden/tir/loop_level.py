# tirc: -passes=none
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    I.module_attrs({"runtime": None, "system": "crt"})
    @T.prim_func
    def kernel(p0: T.Buffer((1, 8), "float32"), out: T.Buffer((1, 8), "float32"), workspace: T.handle("uint8", "global")) -> T.int32:
        T.func_attr({"from_legacy_te_schedule": T.bool(True), "hash": "0011", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""})})
        workspace_buffer = T.match_buffer(workspace, (256,), "uint8", strides=(1,), align=16)
        tmp_let: T.handle("float32", "global") = T.address_of(workspace_buffer[64])
        tmp = T.Buffer((8,), data=tmp_let, align=16)
        scale = T.allocate_const([0.5, 1, -2, T.float32("inf")], "float32", [4])
        for i in T.vectorized(8):
            cse_var_1: T.int32 = i % 4
            p0_1 = T.Buffer((8,), data=p0.data)
            scale_1 = T.Buffer((4,), data=scale)
            tmp[i] = p0_1[i] * scale_1[cse_var_1]
        with T.LetStmt(workspace_buffer[0]) as first:
            assert first == T.uint8(0), "the workspace is \"dirty\""
            if T.Cast("int32", first) < 3 and not T.isnan(tmp[0]):
                T.evaluate(0)
            elif tmp[1] > T.float32(3):
                return 1
        while tmp[2] < T.float32(0):
            tmp[2] = tmp[2] + T.float32(1)
        with T.attr(0, "pragma_debug_skip_region", 1):
            out_1 = T.Buffer((8,), data=out.data)
            out_1[0:4] = tmp[4:8] + T.Broadcast(T.float32(1), 4)
            out_1[4:8] = T.Shuffle([tmp[0:4]], [3, 2, 1, 0])
        T.tvm_check_return(0, -1, T.call_extern("int32", "callee", out.data, T.address_of(tmp[2]), T.reinterpret("handle", T.uint64(0))))
        return 0
