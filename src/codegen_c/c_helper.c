/* c_helper.c: functions that C or its library lacks, or that must not evaluate an operand twice. A file carries those it uses,
 * static and once; their names are taken before any other name is given. */
#include "emit.h"

#include <string.h>

static const struct helper_row { const char *name; bool by_to, by_from; } row[C_NHELPERS] = {
    [C_H_MIN] = { "min", true, false }, [C_H_MAX] = { "max", true, false },
    [C_H_DIV] = { "div", true, false }, [C_H_MOD] = { "mod", true, false },
    [C_H_FLOORDIV] = { "floordiv", true, false }, [C_H_FLOORMOD] = { "floormod", true, false },
    [C_H_SHL] = { "shift_left", true, false }, [C_H_SHR] = { "shift_right", true, false },
    [C_H_TO_INT] = { "to", true, true },
    [C_H_POPCOUNT] = { "popcount", true, false }, [C_H_CLZ] = { "clz", true, false },
    [C_H_HALF_TO_FLOAT] = { "half_to_float", false, false }, [C_H_FLOAT_TO_HALF] = { "float_to_half", false, false },
    [C_H_ROUND_HALF] = { "round_to_half", false, false }, [C_H_BF16_TO_FLOAT] = { "bfloat16_to_float", false, false },
    [C_H_FLOAT_TO_BF16] = { "float_to_bfloat16", false, false }, [C_H_ROUND_BF16] = { "round_to_bfloat16", false, false },
    [C_H_Q_MULTIPLY] = { "q_multiply_shift", false, false }, [C_H_Q_MULTIPLY_AXIS] = { "q_multiply_shift_per_axis", false, false },
    [C_H_BITS] = { "bits", true, true }, [C_H_LOAD] = { "load", true, false }, [C_H_STORE] = { "store", true, false },
    [C_H_CALL_PACKED] = { "call_packed", false, false },
    [C_H_DOT_TILE] = { "dot_tile", true, false }, [C_H_TAP_TILE] = { "tap_tile", true, false },
};

static const char *name_of(tg_emit *e, enum c_helper kind, DLDataType to, DLDataType from)
{
    const char *t = c_short_name(to), *f = c_short_name(from);
    if (kind == C_H_TO_INT)
        return tg_format(e->cx, "%s_to_%s", f, t);
    if (row[kind].by_from)
        return tg_format(e->cx, "%s_bits_of_%s", t, f);
    return row[kind].by_to ? tg_format(e->cx, "%s_%s", row[kind].name, t) : row[kind].name;
}

const char *c_helper(tg_emit *e, enum c_helper kind, DLDataType to, DLDataType from)
{
    to.lanes = from.lanes = 1;
    for (size_t i = 0; i < e->helper.n; ++i) {
        const c_helper_use *u = &e->helper.at[i];
        if (u->kind == kind && (!row[kind].by_to || tg_dtype_eq(u->to, to)) && (!row[kind].by_from || tg_dtype_eq(u->from, from)))
            return u->name->text;
    }
    if (kind == C_H_ROUND_HALF || kind == C_H_ROUND_BF16) {
        bool half = kind == C_H_ROUND_HALF;
        c_helper(e, half ? C_H_HALF_TO_FLOAT : C_H_BF16_TO_FLOAT, to, from);
        c_helper(e, half ? C_H_FLOAT_TO_HALF : C_H_FLOAT_TO_BF16, to, from);
    }
    if (kind == C_H_FLOORDIV)
        c_helper(e, C_H_DIV, to, from);
    if (kind == C_H_FLOORMOD)
        c_helper(e, C_H_MOD, to, from);
    if ((kind >= C_H_HALF_TO_FLOAT && kind <= C_H_FLOAT_TO_BF16 && kind != C_H_ROUND_HALF) || kind == C_H_BITS || kind == C_H_LOAD
        || kind == C_H_STORE)
        e->need |= C_STRING;
    if (kind == C_H_LOAD || kind == C_H_STORE || kind == C_H_CALL_PACKED)
        e->need |= C_STDDEF;
    if (kind == C_H_CALL_PACKED)
        e->need |= C_PACKED;
    if (kind == C_H_DOT_TILE || kind == C_H_TAP_TILE)
        e->need |= C_STRING | C_DOT;
    c_helper_use use = { kind, to, from, tg_intern_z(e->cx, name_of(e, kind, to, from)) };
    TG_PUSH(e->cx, e->helper, use);
    return use.name->text;
}

void c_reserve_helpers(tg_emit *e)
{
    static const uint8_t bits[4] = { 8, 16, 32, 64 };
    DLDataType all[12];
    size_t n = 0;
    for (int i = 0; i < 4; ++i) {
        all[n++] = tg_dtype(kDLInt, bits[i], 1);
        all[n++] = tg_dtype(kDLUInt, bits[i], 1);
    }
    all[n++] = TG_FLOAT32;
    all[n++] = TG_FLOAT64;
    all[n++] = TG_FLOAT16;
    all[n++] = TG_BOOL;
    for (int kind = 0; kind < C_NHELPERS; ++kind)
        for (size_t t = 0; t < (row[kind].by_to ? n : 1); ++t)
            for (size_t f = 0; f < (row[kind].by_from ? n : 1); ++f)
                c_reserve(e, name_of(e, (enum c_helper)kind, all[t], all[f]));
    c_reserve_lanes(e);
    static const char *const part[] = { "dot_tile_%s_block", "dot_tile_%s_rows", "dot_tile_%s_lanes", "tap_tile_%s_mix", "tap_tile_%s_unmix",
                                        "tap_tile_%s_weights", "tap_tile_%s_strips", "tap_tile_%s_rest" };
    for (size_t i = 0; i < 2 * TG_COUNT(part); ++i)
        c_reserve(e, tg_format(e->cx, part[i / 2], i % 2 == 0 ? "int8" : "uint8"));
}

/* ---- their texts ---- */

static void put_extreme(tg_emit *e, const c_helper_use *u)
{
    const char *t = c_element(e, u->to, TG_NOWHERE);
    bool spare = (e->need & C_LANES) != 0;      /* it may be that only plain loops use it, and they stand aside */
    tg_printf(e->to, "%s %s %s(%s a, %s b)\n{\n    return a %c b ? a : b;\n}\n", spare ? "TIRGEN_INLINE" : "static inline", t, u->name->text, t, t,
              u->kind == C_H_MIN ? '<' : '>');
}

static void put_division(tg_emit *e, const c_helper_use *u)
{
    const char *t = c_element(e, u->to, TG_NOWHERE), *s = c_short_name(u->to), *name = u->name->text;
    bool is_signed = c_is_signed(u->to), mod = u->kind == C_H_MOD;
    const char *ut = u->to.bits > 32 ? "uint64_t" : "uint32_t";
    switch (u->kind) {
    case C_H_DIV: case C_H_MOD:
        tg_printf(e->to, "/* %s: defined for every operand; a divisor of 0 gives 0%s. */\n",
                  mod ? "Remainder of a / b" : "a / b toward zero", is_signed && !mod ? ", the one overflow wraps" : "");
        tg_printf(e->to, "static inline %s %s(%s a, %s b)\n{\n", t, name, t, t);
        tg_printf(e->to, "    if (b == 0%s) {\n        return 0;\n    }\n", is_signed && mod ? " || b == -1" : "");
        if (is_signed && !mod)
            tg_printf(e->to, "    if (b == -1) {\n        return (%s)(0U - (%s)a);\n    }\n", t, ut);
        tg_printf(e->to, "    return a %c b;\n}\n", mod ? '%' : '/');
        break;
    case C_H_FLOORDIV:
        if (!is_signed) {
            tg_printf(e->to, "static inline %s %s(%s a, %s b)\n{\n    return div_%s(a, b);\n}\n", t, name, t, t, s);
            break;
        }
        tg_printf(e->to, "/* a / b rounded down. */\nstatic inline %s %s(%s a, %s b)\n{\n", t, name, t, t);
        tg_printf(e->to, "    const %s q = div_%s(a, b);\n", t, s);
        tg_puts(e->to, "    return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;\n}\n");
        break;
    default:
        if (!is_signed) {
            tg_printf(e->to, "static inline %s %s(%s a, %s b)\n{\n    return mod_%s(a, b);\n}\n", t, name, t, t, s);
            break;
        }
        tg_puts(e->to, "/* What a / b rounded down leaves: it has the sign of b. */\n");
        tg_printf(e->to, "static inline %s %s(%s a, %s b)\n{\n", t, name, t, t);
        tg_printf(e->to, "    const %s r = mod_%s(a, b);\n    return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n", t, s);
        break;
    }
}

static void put_shift(tg_emit *e, const c_helper_use *u)
{
    bool left = u->kind == C_H_SHL, is_signed = c_is_signed(u->to);
    const char *t = c_element(e, u->to, TG_NOWHERE), *ut = u->to.bits > 32 ? "uint64_t" : "uint32_t";
    tg_puts(e->to, "/* Defined for every count: one beyond the width moves all bits out. */\n");
    tg_printf(e->to, "static inline %s %s(%s a, %s n)\n{\n", t, u->name->text, t, t);
    tg_printf(e->to, "    if (%sn > %d) {\n", is_signed ? "n < 0 || " : "", u->to.bits - 1);
    tg_puts(e->to, !left && is_signed ? "        return a < 0 ? -1 : 0;\n    }\n" : "        return 0;\n    }\n");
    if (left && is_signed)
        tg_printf(e->to, "    return (%s)((%s)a << n);\n}\n", t, ut);
    else
        tg_printf(e->to, "    return a %s n;\n}\n", left ? "<<" : ">>");
}

static void put_to_int(tg_emit *e, const c_helper_use *u)
{
    static const char *const power[2][4] = { { "128", "32768", "2147483648", "9223372036854775808" },
                                             { "256", "65536", "4294967296", "18446744073709551616" } };
    int size = u->to.bits == 8 ? 0 : u->to.bits == 16 ? 1 : u->to.bits == 32 ? 2 : 3;
    bool is_signed = c_is_signed(u->to);
    const char *t = c_element(e, u->to, TG_NOWHERE), *f = u->from.bits == 64 ? "" : "f", *p = power[!is_signed][size];
    tg_printf(e->to, "/* %s to %s toward zero; beyond the ends the nearest limit, and 0 for what is no number. */\n",
              c_short_name(u->from), t);
    tg_printf(e->to, "static inline %s %s(%s x)\n{\n", t, u->name->text, u->from.bits == 64 ? "double" : "float");
    tg_printf(e->to, "    if (x >= %s.0%s) {\n        return %s;\n    }\n", p, f, c_limit(u->to, true));
    if (is_signed) {
        tg_printf(e->to, "    if (x > -%s.0%s) {\n        return (%s)x;\n    }\n", p, f, t);
        tg_printf(e->to, "    return x <= -%s.0%s ? %s : 0;\n}\n", p, f, c_limit(u->to, false));
    } else {
        tg_printf(e->to, "    return x > 0.0%s ? (%s)x : 0;\n}\n", f, t);
    }
}

static void put_bit_count(tg_emit *e, const c_helper_use *u)
{
    bool wide = u->to.bits > 32;
    const char *t = wide ? "uint64_t" : "uint32_t";
    if (u->kind == C_H_POPCOUNT) {
        tg_printf(e->to, "/* Bits that are set. */\nstatic inline int32_t %s(%s x)\n{\n    int32_t n = 0;\n", u->name->text, t);
        tg_puts(e->to, "    for (; x != 0; x &= x - 1) {\n        ++n;\n    }\n    return n;\n}\n");
        return;
    }
    tg_printf(e->to, "/* Zeros above the highest bit that is set; all %d when none is. */\n", wide ? 64 : 32);
    tg_printf(e->to, "static inline int32_t %s(%s x)\n{\n    int32_t n = %d;\n", u->name->text, t, wide ? 64 : 32);
    tg_puts(e->to, "    for (; x != 0; x >>= 1) {\n        --n;\n    }\n    return n;\n}\n");
}

static const char half_to_float[] =
    "/* Exact: every half is a float. */\n"
    "static inline float half_to_float(uint16_t h)\n"
    "{\n"
    "    const uint32_t sign = (uint32_t)(h & 0x8000U) << 16;\n"
    "    const uint32_t exponent = (uint32_t)h >> 10 & 0x1fU;\n"
    "    const uint32_t fraction = h & 0x3ffU;\n"
    "    uint32_t bits = sign | (exponent == 31 ? 0x7f800000U : (exponent + 112) << 23) | fraction << 13;\n"
    "    float f;\n"
    "    if (exponent == 0) { /* fraction * 2^-24 */\n"
    "        f = (float)fraction / 16777216.0f;\n"
    "        memcpy(&bits, &f, sizeof bits);\n"
    "        bits |= sign;\n"
    "    }\n"
    "    memcpy(&f, &bits, sizeof f);\n"
    "    return f;\n"
    "}\n";

static const char float_to_half[] =
    "/* To the nearest half, ties to even. */\n"
    "static inline uint16_t float_to_half(float f)\n"
    "{\n"
    "    uint32_t bits, result;\n"
    "    memcpy(&bits, &f, sizeof bits);\n"
    "    const uint32_t sign = bits >> 16 & 0x8000U;\n"
    "    bits &= 0x7fffffffU;\n"
    "    if (bits >= 0x7f800000U) { /* infinite, or no number */\n"
    "        result = bits > 0x7f800000U ? 0x7e00U : 0x7c00U;\n"
    "    } else if (bits < 0x33000000U) { /* below half of the smallest */\n"
    "        result = 0;\n"
    "    } else if (bits < 0x38800000U) { /* subnormal: a multiple of 2^-24 */\n"
    "        const uint32_t shift = 126U - (bits >> 23);\n"
    "        const uint32_t fraction = (bits & 0x7fffffU) | 0x800000U;\n"
    "        const uint32_t rest = fraction & ((1U << shift) - 1U);\n"
    "        const uint32_t tie = 1U << (shift - 1U);\n"
    "        result = fraction >> shift;\n"
    "        result += rest > tie || (rest == tie && (result & 1U) != 0) ? 1U : 0U;\n"
    "    } else {\n"
    "        bits += 0xfffU + (bits >> 13 & 1U);\n"
    "        result = (bits - 0x38000000U) >> 13;\n"
    "        result = result > 0x7c00U ? 0x7c00U : result;\n"
    "    }\n"
    "    return (uint16_t)(sign | result);\n"
    "}\n";

static const char bfloat_to_float[] =
    "/* Exact: a bfloat16 is the upper half of a float. */\n"
    "static inline float bfloat16_to_float(uint16_t h)\n"
    "{\n"
    "    const uint32_t bits = (uint32_t)h << 16;\n"
    "    float f;\n"
    "    memcpy(&f, &bits, sizeof f);\n"
    "    return f;\n"
    "}\n";

static const char float_to_bfloat[] =
    "/* The upper half, so toward zero. */\n"
    "static inline uint16_t float_to_bfloat16(float f)\n"
    "{\n"
    "    uint32_t bits;\n"
    "    memcpy(&bits, &f, sizeof bits);\n"
    "    return (uint16_t)(bits >> 16 | (f != f ? 0x40U : 0U)); /* no number stays none */\n"
    "}\n";

static const char q_multiply[] =
    "/* x * y * 2^(s - q), rounded half up, in 64 bits; the result wraps. A y of 2^30 is a shift in 32 bits. Counts of shifts\n"
    " * are taken modulo the width. */\n"
    "static inline int32_t q_multiply_shift(int32_t x, int32_t y, int32_t q, int32_t s)\n"
    "{\n"
    "    if (y == 1073741824) {\n"
    "        if (s >= 1) {\n"
    "            return (int32_t)((uint32_t)x << ((s - 1) & 31));\n"
    "        }\n"
    "        return (int32_t)((uint32_t)x + (1U << ((0U - (uint32_t)s) & 31U))) >> ((1U - (uint32_t)s) & 31U);\n"
    "    }\n"
    "    const uint32_t shift = ((uint32_t)q + (s < 0 ? 0U - (uint32_t)s : 0U)) & 63U;\n"
    "    const uint64_t wide = (uint64_t)x << (s > 0 ? s & 63 : 0);\n"
    "    const uint64_t sum = wide * (uint64_t)y + (shift > 0 ? UINT64_C(1) << (shift - 1) : 0U);\n"
    "    return (int32_t)((int64_t)sum >> shift);\n"
    "}\n";

static const char q_multiply_axis[] =
    "/* x * 2^left * y / 2^(q + right), rounded half up, in 64 bits; the result wraps. Shifts count modulo 64. */\n"
    "static inline int32_t q_multiply_shift_per_axis(int32_t x, int32_t y, int32_t left, int32_t right, int32_t q,\n"
    "                                                int32_t has_left, int32_t has_right)\n"
    "{\n"
    "    const uint32_t shift = ((uint32_t)q + (uint32_t)right) & 63U;\n"
    "    const uint64_t wide = (uint64_t)x << (has_left != 0 ? left & 63 : 0);\n"
    "    const uint64_t sum = wide * (uint64_t)y + (shift > 0 ? UINT64_C(1) << (shift - 1) : 0U);\n"
    "    (void)has_right;\n"
    "    return (int32_t)((int64_t)sum >> shift);\n"
    "}\n";

static const char call_by_name[] =
    "/* A call of a function that the application registered under a name. */\n"
    "static int32_t call_packed(const char *name, TVMValue *args, int *codes, int count, TVMValue *result, int *result_code)\n"
    "{\n"
    "    TVMFunctionHandle function = NULL;\n"
    "    const int status = TVMBackendGetFuncFromEnv(NULL, name, &function);\n"
    "    return status != 0 ? status : TVMFuncCall(function, args, codes, count, result, result_code);\n"
    "}\n";

static void put_rounding(tg_emit *e, const c_helper_use *u)
{
    const char *h = u->kind == C_H_ROUND_HALF ? "half" : "bfloat16";
    tg_printf(e->to, "static inline float %s(float f)\n{\n    return %s_to_float(float_to_%s(f));\n}\n", u->name->text, h, h);
}

static void put_bits(tg_emit *e, const c_helper_use *u)
{
    const char *t = c_element(e, u->to, TG_NOWHERE), *f = c_element(e, u->from, TG_NOWHERE);
    tg_printf(e->to, "/* The same bits. */\nstatic inline %s %s(%s x)\n{\n", t, u->name->text, f);
    tg_printf(e->to, "    %s r;\n    memcpy(&r, &x, sizeof r);\n    return r;\n}\n", t);
}

static void put_memory(tg_emit *e, const c_helper_use *u)
{
    const char *t = c_element(e, u->to, TG_NOWHERE);
    if (u->kind == C_H_LOAD) {
        tg_puts(e->to, "/* Element of memory that also holds other types. */\n");
        tg_printf(e->to, "static inline %s %s(const void *at, ptrdiff_t index)\n{\n    %s x;\n", t, u->name->text, t);
        tg_puts(e->to, "    memcpy(&x, (const unsigned char *)at + index * (ptrdiff_t)sizeof x, sizeof x);\n    return x;\n}\n");
        return;
    }
    tg_printf(e->to, "static inline void %s(void *at, ptrdiff_t index, %s x)\n{\n", u->name->text, t);
    tg_puts(e->to, "    memcpy((unsigned char *)at + index * (ptrdiff_t)sizeof x, &x, sizeof x);\n}\n");
}

static void put_helper(tg_emit *e, const c_helper_use *u)
{
    switch (u->kind) {
    case C_H_MIN: case C_H_MAX: put_extreme(e, u); break;
    case C_H_DIV: case C_H_MOD: case C_H_FLOORDIV: case C_H_FLOORMOD: put_division(e, u); break;
    case C_H_SHL: case C_H_SHR: put_shift(e, u); break;
    case C_H_TO_INT: put_to_int(e, u); break;
    case C_H_POPCOUNT: case C_H_CLZ: put_bit_count(e, u); break;
    case C_H_HALF_TO_FLOAT: tg_puts(e->to, half_to_float); break;
    case C_H_FLOAT_TO_HALF: tg_puts(e->to, float_to_half); break;
    case C_H_BF16_TO_FLOAT: tg_puts(e->to, bfloat_to_float); break;
    case C_H_FLOAT_TO_BF16: tg_puts(e->to, float_to_bfloat); break;
    case C_H_ROUND_HALF: case C_H_ROUND_BF16: put_rounding(e, u); break;
    case C_H_Q_MULTIPLY: tg_puts(e->to, q_multiply); break;
    case C_H_Q_MULTIPLY_AXIS: tg_puts(e->to, q_multiply_axis); break;
    case C_H_BITS: put_bits(e, u); break;
    case C_H_LOAD: case C_H_STORE: put_memory(e, u); break;
    case C_H_CALL_PACKED: tg_puts(e->to, call_by_name); break;
    case C_H_DOT_TILE: c_put_dot(e, u->name->text, u->to.code == kDLUInt); break;
    case C_H_TAP_TILE: c_put_tap(e, u->name->text, u->to.code == kDLUInt); break;
    case C_NHELPERS: break;
    }
}

void c_put_helpers(tg_emit *e)
{
    if ((e->need & C_LANES) != 0) {
        tg_putc(e->to, '\n');
        c_put_lanes(e);
    }
    for (int kind = 0; kind < C_NHELPERS; ++kind)
        for (size_t i = 0; i < e->helper.n; ++i)
            if (e->helper.at[i].kind == (enum c_helper)kind) {
                tg_putc(e->to, '\n');
                put_helper(e, &e->helper.at[i]);
            }
}
