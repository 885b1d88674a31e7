/* run.c: the machine: executes the instructions of opcodes.def. float32 arithmetic is rounded to float32 after each
 * operation; this file must be compiled without contraction to fused multiply-add, which ISO mode of the compilers
 * gives. */
#include "code.h"
#include "scalar.h"
#include "ir/diag.h"
#include "ir/text.h"

/* ---- failing ---- */

bool tg_run_fail(tg_vm *vm, const tg_frame *fr, const tg_trap *t, const char *text)
{
    const tg_func *f = fr->prog->func;
    tg_error(vm->cx, t->at != NULL && t->at->span.file != 0 ? t->at->span : f->span, "evaluating %s: %s", f->name->text,
             text);
    return false;
}

static const char *dim_text(tg_ctx *cx, const tg_trap *t)
{
    return t->dim == UINT32_MAX ? "" : tg_format(cx, " in dimension %u", t->dim);
}

static bool fail_index(tg_vm *vm, const tg_frame *fr, const tg_ins *in)
{
    const tg_trap *t = in->k.p;
    return tg_run_fail(vm, fr, t, tg_format(vm->cx, "%s: index %lld is out of bounds%s of extent %lld", t->what,
        (long long)fr->reg[in->a].i, dim_text(vm->cx, t), (long long)fr->reg[in->b].i));
}

static bool fail_equal(tg_vm *vm, const tg_frame *fr, const tg_ins *in)
{
    const tg_trap *t = in->k.p;
    return tg_run_fail(vm, fr, t, tg_format(vm->cx, "%s: %lld is not %lld%s", t->what, (long long)fr->reg[in->a].i,
        (long long)fr->reg[in->b].i, dim_text(vm->cx, t)));
}

/* ---- elements of memory; memcpy, since views may stand at any address ---- */

#define ELEMENT(T) (tg_address(r[in->b]) + (r[in->c].i + in->k.i) * (int64_t)sizeof(T))
#define LOAD(T, member) do { T v_; memcpy(&v_, ELEMENT(T), sizeof v_); r[in->a].member = v_; } while (0)
#define STORE(T, value) do { T v_ = (T)(value); memcpy(ELEMENT(T), &v_, sizeof v_); } while (0)
#define FLOAT(value) (r[in->a].f = (value))
#define RB r[in->b]
#define RC r[in->c]
#define RD r[in->d]

bool tg_run(tg_vm *vm, tg_frame *fr, tg_reg *result)
{
    tg_reg *r = fr->reg;
    const tg_ins *code = fr->prog->code, *in = code;
    bool leave = false;
    for (;; ++in) {
        switch ((enum tg_opcode)in->op) {
        /* control */
        case TG_OP_HALT: result->i = 0; return true;
        case TG_OP_LABEL: break;
        case TG_OP_MOV: r[in->a] = RB; break;
        case TG_OP_JUMP: in = code + in->k.i - 1; break;
        case TG_OP_JUMP_ZERO: if (r[in->a].i == 0) in = code + in->k.i - 1; break;
        case TG_OP_JUMP_NONZERO: if (r[in->a].i != 0) in = code + in->k.i - 1; break;
        case TG_OP_JUMP_NE: if (r[in->a].i != RB.i) in = code + in->k.i - 1; break;
        case TG_OP_JUMP_GE: if (r[in->a].i >= RB.i) in = code + in->k.i - 1; break;
        case TG_OP_LOOP: if (++r[in->a].i < RB.i) in = code + in->k.i - 1; break;
        case TG_OP_RETURN: *result = r[in->a]; return true;
        case TG_OP_CALL:
            if (!tg_call_site(vm, fr, in->k.p, &r[in->a], &leave)) return false;
            if (leave) { result->i = -1; return true; }
            break;
        case TG_OP_FAIL: return tg_run_fail(vm, fr, in->k.p, ((const tg_trap *)in->k.p)->what);

        /* checks */
        case TG_OP_CHECK_INDEX: if (r[in->a].u >= RB.u) return fail_index(vm, fr, in); break;
        case TG_OP_CHECK_RANGE: if (r[in->a].u > RB.u) return fail_index(vm, fr, in); break;
        case TG_OP_CHECK_NONZERO:
            if (r[in->a].i == 0) return tg_run_fail(vm, fr, in->k.p, ((const tg_trap *)in->k.p)->what);
            break;
        case TG_OP_CHECK_EQUAL:
            if (r[in->a].i != RB.i && !(in->x != 0 && RB.i == TG_NO_EXTENT)) return fail_equal(vm, fr, in);
            break;
        case TG_OP_CHECK_MEMORY:
            if (!tg_mem_check(vm, fr, in)) return false;
            break;

        /* memory */
        case TG_OP_FILL: memset(tg_address(r[in->a]), in->x, (size_t)in->k.i); break;
        case TG_OP_ALLOC: if (!tg_mem_alloc(vm, fr, in)) return false; break;
        case TG_OP_TAKE: if (!tg_mem_take(vm, fr, in)) return false; break;
        case TG_OP_GIVE: tg_mem_give(vm, (uintptr_t)r[in->a].u); break;
        case TG_OP_STRUCT_GET: if (!tg_struct_get(vm, fr, in)) return false; break;
        case TG_OP_STRUCT_SET: if (!tg_struct_set(vm, fr, in)) return false; break;
        case TG_OP_LOAD_BOOL: r[in->a].i = *ELEMENT(uint8_t) != 0; break;
        case TG_OP_LOAD_I8: LOAD(int8_t, i); break;
        case TG_OP_LOAD_U8: LOAD(uint8_t, u); break;
        case TG_OP_LOAD_I16: LOAD(int16_t, i); break;
        case TG_OP_LOAD_U16: LOAD(uint16_t, u); break;
        case TG_OP_LOAD_I32: LOAD(int32_t, i); break;
        case TG_OP_LOAD_U32: LOAD(uint32_t, u); break;
        case TG_OP_LOAD_64: LOAD(uint64_t, u); break;
        case TG_OP_LOAD_F16: { uint16_t h; memcpy(&h, ELEMENT(uint16_t), sizeof h); FLOAT(tg_half_to_float(h)); break; }
        case TG_OP_LOAD_BF16: { uint16_t h; memcpy(&h, ELEMENT(uint16_t), sizeof h); FLOAT(float_of_bf16(h)); break; }
        case TG_OP_LOAD_F32: LOAD(float, f); break;
        case TG_OP_STORE_8: STORE(uint8_t, r[in->a].u); break;
        case TG_OP_STORE_16: STORE(uint16_t, r[in->a].u); break;
        case TG_OP_STORE_32: STORE(uint32_t, r[in->a].u); break;
        case TG_OP_STORE_64: STORE(uint64_t, r[in->a].u); break;
        case TG_OP_STORE_F16: STORE(uint16_t, tg_float_to_half(r[in->a].f)); break;
        case TG_OP_STORE_BF16: STORE(uint16_t, bf16_of_float(r[in->a].f)); break;
        case TG_OP_STORE_F32: STORE(float, r[in->a].f); break;

        /* integers */
        case TG_OP_ADD: r[in->a].u = RB.u + RC.u; break;
        case TG_OP_SUB: r[in->a].u = RB.u - RC.u; break;
        case TG_OP_MUL: r[in->a].u = RB.u * RC.u; break;
        case TG_OP_MUL_ADD: r[in->a].u = RB.u + RC.u * (uint64_t)in->k.i; break;
        case TG_OP_MUL_SIZE: r[in->a].i = mul_size(RB.i, RC.i, TG_SIZE_CAP); break;
        case TG_OP_ADD_32: r[in->a].i = wrap32(RB.u + RC.u); break;
        case TG_OP_SUB_32: r[in->a].i = wrap32(RB.u - RC.u); break;
        case TG_OP_MUL_32: r[in->a].i = wrap32(RB.u * RC.u); break;
        case TG_OP_MUL_ADD_32: r[in->a].i = wrap32(RB.u + RC.u * RD.u); break;
        case TG_OP_SIGN_EXTEND: r[in->a].i = sign_extend(RB.u, (unsigned)in->k.i); break;
        case TG_OP_ZERO_EXTEND: r[in->a].u = low_bits(RB.u, 64 - in->k.i); break;
        case TG_OP_IS_NONZERO: r[in->a].i = RB.i != 0; break;
        case TG_OP_IS_ZERO: r[in->a].i = RB.i == 0; break;
        case TG_OP_DIV: r[in->a].i = div_trunc(RB.i, RC.i); break;
        case TG_OP_MOD: r[in->a].i = mod_trunc(RB.i, RC.i); break;
        case TG_OP_FLOOR_DIV: r[in->a].i = div_floor(RB.i, RC.i); break;
        case TG_OP_FLOOR_MOD: r[in->a].i = mod_floor(RB.i, RC.i); break;
        case TG_OP_DIV_U: r[in->a].u = RC.u == 0 ? 0 : RB.u / RC.u; break;
        case TG_OP_MOD_U: r[in->a].u = RC.u == 0 ? 0 : RB.u % RC.u; break;
        case TG_OP_MIN: r[in->a].i = RB.i < RC.i ? RB.i : RC.i; break;
        case TG_OP_MAX: r[in->a].i = RB.i > RC.i ? RB.i : RC.i; break;
        case TG_OP_MIN_U: r[in->a].u = RB.u < RC.u ? RB.u : RC.u; break;
        case TG_OP_MAX_U: r[in->a].u = RB.u > RC.u ? RB.u : RC.u; break;
        case TG_OP_EQ: r[in->a].i = RB.i == RC.i; break;
        case TG_OP_NE: r[in->a].i = RB.i != RC.i; break;
        case TG_OP_LT: r[in->a].i = RB.i < RC.i; break;
        case TG_OP_LE: r[in->a].i = RB.i <= RC.i; break;
        case TG_OP_LT_U: r[in->a].i = RB.u < RC.u; break;
        case TG_OP_LE_U: r[in->a].i = RB.u <= RC.u; break;
        case TG_OP_AND: r[in->a].u = RB.u & RC.u; break;
        case TG_OP_OR: r[in->a].u = RB.u | RC.u; break;
        case TG_OP_XOR: r[in->a].u = RB.u ^ RC.u; break;
        case TG_OP_NOT: r[in->a].u = ~RB.u; break;
        case TG_OP_SHL: r[in->a].u = shift_left(RB.u, RC.i, in->k.i); break;
        case TG_OP_SHR: r[in->a].i = shift_right(RB.i, RC.i, in->k.i); break;
        case TG_OP_SHR_U: r[in->a].u = shift_right_unsigned(RB.u, RC.i, in->k.i); break;
        case TG_OP_POPCOUNT: r[in->a].i = count_ones(low_bits(RB.u, in->k.i)); break;
        case TG_OP_CLZ: r[in->a].i = count_leading_zeros(low_bits(RB.u, in->k.i), in->k.i); break;
        case TG_OP_SELECT: r[in->a] = RB.i != 0 ? RC : RD; break;

        /* float */
        case TG_OP_ADD_F: FLOAT(RB.f + RC.f); break;
        case TG_OP_SUB_F: FLOAT(RB.f - RC.f); break;
        case TG_OP_MUL_F: FLOAT(RB.f * RC.f); break;
        case TG_OP_DIV_F: FLOAT(RB.f / RC.f); break;
        case TG_OP_MUL_ADD_F: { float product = RC.f * RD.f; FLOAT(RB.f + product); break; }
        case TG_OP_MIN_F: FLOAT(RB.f < RC.f ? RB.f : RC.f); break;
        case TG_OP_MAX_F: FLOAT(RB.f > RC.f ? RB.f : RC.f); break;
        case TG_OP_EQ_F: r[in->a].i = RB.f == RC.f; break;
        case TG_OP_NE_F: r[in->a].i = RB.f != RC.f; break;
        case TG_OP_LT_F: r[in->a].i = RB.f < RC.f; break;
        case TG_OP_LE_F: r[in->a].i = RB.f <= RC.f; break;
        case TG_OP_MATH1_F: FLOAT((float)tg_maths[in->k.i].d1((double)RB.f)); break;
        case TG_OP_MATH2_F:
            if (tg_maths[in->k.i].f2 != NULL) FLOAT(tg_maths[in->k.i].f2(RB.f, RC.f));
            else FLOAT((float)tg_maths[in->k.i].d2((double)RB.f, (double)RC.f));
            break;
        case TG_OP_MATH3_F: FLOAT(tg_maths[in->k.i].f3(RB.f, RC.f, RD.f)); break;
        case TG_OP_ROUND_F16: FLOAT(tg_half_to_float(tg_float_to_half(RB.f))); break;
        case TG_OP_ROUND_BF16: FLOAT(float_of_bf16(bf16_of_float(RB.f))); break;

        /* double */
        case TG_OP_ADD_D: r[in->a].d = RB.d + RC.d; break;
        case TG_OP_SUB_D: r[in->a].d = RB.d - RC.d; break;
        case TG_OP_MUL_D: r[in->a].d = RB.d * RC.d; break;
        case TG_OP_DIV_D: r[in->a].d = RB.d / RC.d; break;
        case TG_OP_MIN_D: r[in->a].d = RB.d < RC.d ? RB.d : RC.d; break;
        case TG_OP_MAX_D: r[in->a].d = RB.d > RC.d ? RB.d : RC.d; break;
        case TG_OP_EQ_D: r[in->a].i = RB.d == RC.d; break;
        case TG_OP_NE_D: r[in->a].i = RB.d != RC.d; break;
        case TG_OP_LT_D: r[in->a].i = RB.d < RC.d; break;
        case TG_OP_LE_D: r[in->a].i = RB.d <= RC.d; break;
        case TG_OP_MATH1_D: r[in->a].d = tg_maths[in->k.i].d1(RB.d); break;
        case TG_OP_MATH2_D: r[in->a].d = tg_maths[in->k.i].d2(RB.d, RC.d); break;
        case TG_OP_MATH3_D: r[in->a].d = tg_maths[in->k.i].d3(RB.d, RC.d, RD.d); break;

        /* conversions */
        case TG_OP_INT_TO_F: FLOAT((float)RB.i); break;
        case TG_OP_UINT_TO_F: FLOAT((float)RB.u); break;
        case TG_OP_INT_TO_D: r[in->a].d = (double)RB.i; break;
        case TG_OP_UINT_TO_D: r[in->a].d = (double)RB.u; break;
        case TG_OP_F_TO_D: r[in->a].d = (double)RB.f; break;
        case TG_OP_D_TO_F: FLOAT((float)RB.d); break;
        case TG_OP_D_TO_F16: FLOAT((float)tg_round_to(TG_FLOAT16, RB.d)); break;
        case TG_OP_D_TO_BF16: FLOAT((float)tg_round_to(tg_dtype(kDLBfloat, 16, 1), RB.d)); break;
        case TG_OP_D_TO_INT: r[in->a].i = saturate_signed(RB.d, in->k.i); break;
        case TG_OP_D_TO_UINT: r[in->a].u = saturate_unsigned(RB.d, in->k.i); break;
        case TG_OP_F_BITS: r[in->a].u = bits_of_float(RB.f); break;
        case TG_OP_BITS_F: FLOAT(float_of_bits((uint32_t)RB.u)); break;
        case TG_OP_F16_BITS: r[in->a].u = tg_float_to_half(RB.f); break;
        case TG_OP_BITS_F16: FLOAT(tg_half_to_float((uint16_t)RB.u)); break;
        case TG_OP_BF16_BITS: r[in->a].u = bf16_of_float(RB.f); break;
        case TG_OP_BITS_BF16: FLOAT(float_of_bf16((uint16_t)RB.u)); break;
        case TG_NOPS: return false;
        }
    }
}

/* reg[0] must be cleared: a float result fills only a part of it, and equal constants have equal bits. */
void tg_run_pure(const tg_ins *in, tg_reg *reg)
{
    tg_ins code[2] = { *in, { .op = TG_OP_HALT } };
    tg_prog prog = { .code = code, .ncode = 2 };
    tg_frame frame = { .prog = &prog, .reg = reg };
    tg_reg none;
    tg_run(NULL, &frame, &none);
}
