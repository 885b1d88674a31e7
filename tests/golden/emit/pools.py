# tirc: -prefix=t
metadata = tvm.ir.load_json("""{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", \"keys\": [\"runtime.NDArray\"], \"data\": [2]}, {\"type_key\": \"Array\", \"data\": [3]}, {\"type_key\": \"runtime.NDArray\", \"repr_str\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAM=\"}], \"b64ndarrays\": [], \"attrs\": {\"tvm_version\": \"0.16.0\"}}""")
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_main__(x: T.handle, output: T.handle, constants_var: T.handle("uint8", "global"), workspace_var: T.handle("uint8", "global")):
        T.func_attr({"global_symbol": "t___tvm_main__", "pool_args": [I.AllocatedPoolInfo(pool_info=I.ConstantPoolInfo([I.ConstantInfo("three", byte_offset=16, data=metadata["runtime.NDArray"][0])]), allocated_size=20), I.AllocatedPoolInfo(pool_info=I.WorkspacePoolInfo("global_workspace"), allocated_size=48)], "runner_function": T.bool(True)})
        x_buffer = T.match_buffer(x, (4,), "int8", align=16)
        output_buffer = T.match_buffer(output, (4,), "int8", align=16)
        constants = T.match_buffer(constants_var, (20,), "uint8", strides=(1,), align=16)
        workspace = T.match_buffer(workspace_var, (48,), "uint8", strides=(1,), align=16)
        sid_1_let: T.handle("int8", "global.workspace") = T.address_of(workspace[32])
        T.tvm_check_return(0, -1, T.call_extern("int32", "t_fused_add", x_buffer.data, sid_1_let, constants.data, workspace.data))
        T.tvm_check_return(0, -1, T.call_extern("int32", "t_fused_add", sid_1_let, output_buffer.data, constants.data, workspace.data))

    @T.prim_func
    def t_fused_add(p0: T.Buffer((4,), "int8"), T_add: T.Buffer((4,), "int8"), constants_var: T.handle("uint8", "global"), workspace_var: T.handle("uint8", "global")):
        T.func_attr({"tir.noalias": T.bool(True)})
        constants = T.match_buffer(constants_var, (20,), "uint8", strides=(1,), align=16)
        workspace = T.match_buffer(workspace_var, (48,), "uint8", strides=(1,), align=16)
        three_let: T.handle("int8") = T.address_of(constants[16])
        three = T.Buffer((1,), "int8", data=three_let)
        for i in range(4):
            T_add[i] = p0[i] + three[0]
