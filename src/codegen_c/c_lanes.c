/* c_lanes.c: loops that rescale numbers with fixed point multipliers, some lanes at a time. The upper half of a product of 32 bits
 * is what C compilers make poor vectors of; so such a loop stands in the file twice: with the functions below where the machine that
 * the file is compiled for has vectors (TIRGEN_LANES), and as the plain loop that says the same.
 *
 * A loop qualifies when its body is one store, each element next to the last, of a value made of what these functions compute. */
#include "emit.h"

#include <string.h>

enum { MOST_LANES = 16 };

/* ---- the functions ---- */

enum machine { AVX512, AVX2, NEON, NMACHINES };

static const struct machine_row {
    const char *test, *type;
    int lanes;
} machines[NMACHINES] = {
    [AVX512] = { "defined(__AVX512F__)", "__m512i", 16 },
    [AVX2] = { "defined(__AVX2__)", "__m256i", 8 },
    [NEON] = { "defined(__aarch64__) && defined(__ARM_NEON)", "int32x4_t", 4 },
};

/* Each line of a body is a statement. NULL: the machine has none of it. With a mask of all lanes where g++ 12 warns of
 * the form without. */
static const struct function_row {
    const char *head, *body[NMACHINES];
} functions[] = {
    { "int32_lanes lanes_of(int32_t x)",
      { "return _mm512_set1_epi32(x);", "return _mm256_set1_epi32(x);", "return vdupq_n_s32(x);" } },
    { "int32_lanes lanes_load_int8(const int8_t *at)",
      { "return _mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128((const __m128i *)(const void *)at));",
        "return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));",
        "uint32_t four;\nmemcpy(&four, at, 4);\nreturn vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(four))));" } },
    { "int32_lanes lanes_load_uint8(const uint8_t *at)",
      { "return _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128((const __m128i *)(const void *)at));",
        "return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));",
        "uint32_t four;\nmemcpy(&four, at, 4);\n"
        "return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four)))));" } },
    { "int32_lanes lanes_load_int16(const int16_t *at)",
      { "return _mm512_maskz_cvtepi16_epi32(0xffff, _mm256_loadu_si256((const __m256i *)(const void *)at));",
        "return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)at));", "return vmovl_s16(vld1_s16(at));" } },
    { "int32_lanes lanes_load_int32(const int32_t *at)",
      { "return _mm512_loadu_si512(at);", "return _mm256_loadu_si256((const __m256i *)(const void *)at);",
        "return vld1q_s32(at);" } },
    { "__m128i lanes_as_int16(int32_lanes a)",
      { NULL, "return _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));", NULL } },
    { "void lanes_store_int8(int8_t *to, int32_lanes a)",
      { "_mm_storeu_si128((__m128i *)(void *)to, _mm512_maskz_cvtsepi32_epi8(0xffff, a));",
        "_mm_storel_epi64((__m128i *)(void *)to, _mm_packs_epi16(lanes_as_int16(a), _mm_setzero_si128()));",
        "const int16x4_t half = vqmovn_s32(a);\n"
        "const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(vqmovn_s16(vcombine_s16(half, half))), 0);\n"
        "memcpy(to, &four, 4);" } },
    { "void lanes_store_uint8(uint8_t *to, int32_lanes a)",
      { "const int32_lanes positive = _mm512_maskz_max_epi32(0xffff, a, _mm512_setzero_si512());\n"
        "_mm_storeu_si128((__m128i *)(void *)to, _mm512_maskz_cvtusepi32_epi8(0xffff, positive));",
        "_mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(lanes_as_int16(a), _mm_setzero_si128()));",
        "const int16x4_t half = vqmovn_s32(a);\n"
        "const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vqmovun_s16(vcombine_s16(half, half))), 0);\n"
        "memcpy(to, &four, 4);" } },
    { "void lanes_store_int16(int16_t *to, int32_lanes a)",
      { "_mm256_storeu_si256((__m256i *)(void *)to, _mm512_maskz_cvtsepi32_epi16(0xffff, a));",
        "_mm_storeu_si128((__m128i *)(void *)to, lanes_as_int16(a));", "vst1_s16(to, vqmovn_s32(a));" } },
    { "void lanes_store_int32(int32_t *to, int32_lanes a)",
      { "_mm512_storeu_si512(to, a);", "_mm256_storeu_si256((__m256i *)(void *)to, a);", "vst1q_s32(to, a);" } },
    { "int32_lanes lanes_add(int32_lanes a, int32_lanes b)",
      { "return _mm512_add_epi32(a, b);", "return _mm256_add_epi32(a, b);", "return vaddq_s32(a, b);" } },
    { "int32_lanes lanes_sub(int32_lanes a, int32_lanes b)",
      { "return _mm512_sub_epi32(a, b);", "return _mm256_sub_epi32(a, b);", "return vsubq_s32(a, b);" } },
    { "int32_lanes lanes_mul(int32_lanes a, int32_lanes b)",
      { "return _mm512_mullo_epi32(a, b);", "return _mm256_mullo_epi32(a, b);", "return vmulq_s32(a, b);" } },
    { "int32_lanes lanes_min(int32_lanes a, int32_lanes b)",
      { "return _mm512_maskz_min_epi32(0xffff, a, b);", "return _mm256_min_epi32(a, b);", "return vminq_s32(a, b);" } },
    { "int32_lanes lanes_max(int32_lanes a, int32_lanes b)",
      { "return _mm512_maskz_max_epi32(0xffff, a, b);", "return _mm256_max_epi32(a, b);", "return vmaxq_s32(a, b);" } },
    { "int32_lanes lanes_and(int32_lanes a, int32_lanes b)",
      { "return _mm512_and_si512(a, b);", "return _mm256_and_si256(a, b);", "return vandq_s32(a, b);" } },
    { "int32_lanes lanes_shift_right(int32_lanes a, int32_lanes by)",
      { "return _mm512_maskz_srav_epi32(0xffff, a, by);", "return _mm256_srav_epi32(a, by);", "return vshlq_s32(a, vnegq_s32(by));" } },
    { "int32_lanes lanes_mul_high(int32_lanes a, int32_lanes b)",
      { "const int32_lanes even = _mm512_maskz_mul_epi32(0xff, a, b);\n"
        "const int32_lanes a_odd = _mm512_maskz_srli_epi64(0xff, a, 32), b_odd = _mm512_maskz_srli_epi64(0xff, b, 32);\n"
        "const int32_lanes odd = _mm512_maskz_mul_epi32(0xff, a_odd, b_odd);\n"
        "return _mm512_mask_blend_epi32(0xaaaa, _mm512_maskz_srli_epi64(0xff, even, 32), odd);",
        "const int32_lanes even = _mm256_mul_epi32(a, b);\n"
        "const int32_lanes odd = _mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));\n"
        "return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);",
        "const int64x2_t low = vmull_s32(vget_low_s32(a), vget_low_s32(b));\n"
        "const int64x2_t high = vmull_high_s32(a, b);\n"
        "return vcombine_s32(vshrn_n_s64(low, 32), vshrn_n_s64(high, 32));" } },
};

static void put_function(tg_emit *e, const char *head, const char *body)
{
    tg_printf(e->to, "TIRGEN_INLINE %s\n{\n    ", head);
    for (; *body != '\0'; ++body) {
        tg_putc(e->to, *body);
        if (*body == '\n') tg_puts(e->to, "    ");
    }
    tg_puts(e->to, "\n}\n");
}

void c_put_lanes(tg_emit *e)
{
    c_put_inline(e);
    tg_puts(e->to, "/* Lanes of 32 bits. Sums and products wrap around; what lies beyond the elements that are stored is\n"
                   " * kept at their ends. */\n");
    for (int m = 0; m < NMACHINES; ++m) {
        tg_printf(e->to, "#%sif %s\n#define TIRGEN_LANES %d\ntypedef %s int32_lanes;\n", m > 0 ? "el" : "", machines[m].test,
                  machines[m].lanes, machines[m].type);
        for (size_t i = 0; i < TG_COUNT(functions); ++i)
            if (functions[i].body[m] != NULL) put_function(e, functions[i].head, functions[i].body[m]);
    }
    tg_puts(e->to, "#endif\n");
}

void c_reserve_lanes(tg_emit *e)
{
    c_reserve(e, "int32_lanes");
    for (size_t i = 0; i < TG_COUNT(functions); ++i) {
        const char *name = strstr(functions[i].head, "lanes_");
        c_reserve(e, tg_format(e->cx, "%.*s", (int)strcspn(name, "("), name));
    }
}

/* ---- which loops ---- */

/* How an expression is written: as one operation on its operands, or as what is the same in every lane. */
enum form { NONE, SAME, LOAD_NEXT, ADD, SUB, MUL, MIN, MAX, AND, SHIFT_RIGHT, MUL_HIGH };

typedef struct lane_loop {
    tg_emit *e;
    const tg_var *var;
    unsigned budget;            /* nodes that may still be looked at */
    bool high;                  /* a MUL_HIGH is among them */
    tg_map held;                /* node id + 1 -> name of the variable that holds it */
} lane_loop;

static bool mentions(lane_loop *l, const tg_node *n)
{
    return tg_uses_var(l->e->cx, n, l->var);
}

/* Elements that lanes can be loaded from and stored to. */
static bool is_element(DLDataType d)
{
    return d.lanes == 1 && ((d.code == kDLInt && (d.bits == 8 || d.bits == 16 || d.bits == 32)) || (d.code == kDLUInt && d.bits == 8));
}

/* base + variable, the base free of it. Its step is one if it is 1 further on for a variable that is 1 further on: only sums and
 * products by constants are looked into. */
static bool step_of(lane_loop *l, const tg_node *n, int64_t *step)
{
    int64_t a = 0, b = 0;
    *step = 0;
    if (l->budget == 0) return false;
    --l->budget;
    if (n->kind == TG_VAR && n->u.var == l->var) *step = 1;
    else if (!mentions(l, n)) return true;
    else if (n->kind == TG_ADD || n->kind == TG_SUB) {
        if (!step_of(l, n->kid[0], &a) || !step_of(l, n->kid[1], &b)) return false;
        *step = n->kind == TG_ADD ? a + b : a - b;
    } else return false;
    return true;
}

static bool is_next(lane_loop *l, const tg_node *access, uint32_t index, uint32_t nkids)
{
    int64_t step;
    return nkids == index + 1 && is_element(access->u.buf->dtype) && step_of(l, access->kid[index], &step) && step == 1;
}

static const tg_node *without_cast(const tg_node *n)
{
    return n->kind == TG_CAST ? n->kid[0] : n;
}

static bool is_int32(const tg_node *n)
{
    return tg_dtype_eq(tg_dtype_of(n), TG_INT32);
}

/* Wider than 32 bits it may not be. */
static bool is_short(const tg_node *n)
{
    DLDataType d = tg_dtype_of(n);
    return d.lanes == 1 && d.code == kDLInt && d.bits <= 32;
}

/* (int32)((int64)a * b >> 32): the two factors. */
static bool high_product(const tg_node *n, const tg_node *factor[2])
{
    if (n->kind != TG_CAST || !is_int32(n) || !tg_is_call(n->kid[0], "shift_right")) return false;
    const tg_node *shift = n->kid[0], *product = shift->kid[0];
    if (!tg_is_int_const(shift->kid[1], 32) || product->kind != TG_MUL || !tg_dtype_eq(tg_dtype_of(product), TG_INT64)) return false;
    for (int i = 0; i < 2; ++i) {
        factor[i] = product->kid[i];
        if (factor[i]->kind == TG_CAST) factor[i] = factor[i]->kid[0];
        else if (factor[i]->kind != TG_INT || factor[i]->u.i != (int32_t)factor[i]->u.i) return false;
        if (factor[i]->kind != TG_INT && !is_int32(factor[i])) return false;
    }
    return true;
}

static enum form form_of(lane_loop *l, const tg_node *n, const tg_node *kid[2])
{
    static const enum form by_kind[TG_NKINDS] = { [TG_ADD] = ADD, [TG_SUB] = SUB, [TG_MUL] = MUL, [TG_MIN] = MIN, [TG_MAX] = MAX };
    if (high_product(n, kid)) return MUL_HIGH;
    if (!mentions(l, n)) return is_short(n) || n->kind == TG_INT ? SAME : NONE;
    const tg_node *load = without_cast(n);
    if (load->kind == TG_LOAD && is_int32(n)) return is_next(l, load, 0, load->nkids) ? LOAD_NEXT : NONE;
    if (!is_int32(n)) return NONE;
    bool shift = tg_is_call(n, "shift_right"), both = tg_is_call(n, "bitwise_and");
    enum form f = shift ? SHIFT_RIGHT : both ? AND : by_kind[n->kind];
    kid[0] = f != NONE ? n->kid[0] : NULL;
    kid[1] = f != NONE ? n->kid[1] : NULL;
    return f;
}

/* Counts are in range where the text says so, so lanes may take them as they are. */
static bool has_lanes(lane_loop *l, const tg_node *n)
{
    const tg_node *todo[16], *kid[2];           /* put_operations() has room for three times as many */
    size_t count = 1;
    todo[0] = n;
    while (count > 0) {
        n = todo[--count];
        enum form f = l->budget > 0 ? form_of(l, n, kid) : NONE;
        if (f == NONE || count + 2 > TG_COUNT(todo)) return false;
        --l->budget;
        l->high = l->high || f == MUL_HIGH;
        if (f < ADD) continue;
        todo[count++] = kid[0];
        todo[count++] = kid[1];
    }
    return true;
}

/* The value that is stored, before its cast to the elements. Those that keep all bits must hold them all. */
static const tg_node *stored(lane_loop *l, const tg_node *store)
{
    const tg_node *v = store->kid[0];
    DLDataType d = store->u.buf->dtype;
    if (tg_dtype_eq(d, TG_INT32)) return v;
    if (v->kind != TG_CAST || !is_int32(v->kid[0])) return NULL;
    c_range r = c_range_of(l->e, v->kid[0]), all = c_dtype_range(d);
    return r.lo >= all.lo && r.hi <= all.hi ? v->kid[0] : NULL;
}

bool c_is_lane_loop(tg_emit *e, const tg_node *n)
{
    lane_loop l = { .e = e, .var = n->u.loop->var, .budget = 400 };
    const tg_node *s = n->kid[2];
    if (!tg_is_int_const(n->kid[0], 0) || n->kid[1]->kind != TG_INT || n->kid[1]->u.i % MOST_LANES != 0 || n->kid[1]->u.i == 0 ||
        s->kind != TG_STORE || !is_next(&l, s, 1, s->nkids) || c_reads_itself(e, s))
        return false;
    const tg_node *v = stored(&l, s);
    return v != NULL && has_lanes(&l, v) && l.high;
}

/* ---- the loop ---- */

static void pointer(tg_emit *e, const tg_buffer *b, const tg_node *at, bool constant)
{
    const tg_node *load = tg_load(e->cx, b, 1, &at);
    c_pointer(e, tg_call(e->cx, "address_of", tg_ptr(e->cx, b->dtype, NULL), 1, &load), b->dtype, constant, C_TERNARY);
}

/* A value as it is written where it is used: a load, the same in every lane, or the variable that holds it. */
static void put_operand(lane_loop *l, const tg_node *n)
{
    tg_emit *e = l->e;
    const tg_node *kid[2], *load = without_cast(n);
    const char *held = tg_map_get(&l->held, (uint64_t)n->id + 1);
    if (held != NULL) {
        tg_puts(e->to, held);
        return;
    }
    if (form_of(l, n, kid) == LOAD_NEXT) {
        tg_printf(e->to, "lanes_load_%s(", c_short_name(load->u.buf->dtype));
        pointer(e, load->u.buf, load->kid[0], true);
    } else {
        tg_puts(e->to, "lanes_of(");
        c_expr(e, n->kind == TG_INT ? tg_int(e->cx, TG_INT32, n->u.i) : n, C_TERNARY);
    }
    tg_putc(e->to, ')');
}

/* One operation a line, its result in a variable of its own. */
static void put_operation(lane_loop *l, const tg_node *n)
{
    static const struct { const char *function, *result; } text[] = {
        [ADD] = { "add", "sum" },     [SUB] = { "sub", "difference" }, [MUL] = { "mul", "product" },
        [MIN] = { "min", "least" },   [MAX] = { "max", "most" },       [AND] = { "and", "bits" },
        [MUL_HIGH] = { "mul_high", "high" },                           [SHIFT_RIGHT] = { "shift_right", "shifted" },
    };
    tg_emit *e = l->e;
    const tg_node *kid[2];
    enum form f = form_of(l, n, kid);
    const char *name = c_local(e, text[f].result, strlen(text[f].result), "lanes")->text;
    c_line(e);
    tg_printf(e->to, "const int32_lanes %s = lanes_%s(", name, text[f].function);
    put_operand(l, kid[0]);
    c_comma(e);
    put_operand(l, kid[1]);
    tg_puts(e->to, ");\n");
    tg_map_put(e->cx, &l->held, (uint64_t)n->id + 1, (void *)(uintptr_t)name);
}

/* The operations that @p n needs, and itself, each after those it uses. */
static void put_operations(lane_loop *l, const tg_node *n)
{
    struct open { const tg_node *n; bool ready; } todo[64], at;
    size_t count = 1;
    todo[0] = (struct open){ n, false };
    while (count > 0 && !l->e->failed) {
        const tg_node *kid[2];
        at = todo[--count];
        if (form_of(l, at.n, kid) < ADD || tg_map_get(&l->held, (uint64_t)at.n->id + 1) != NULL) continue;
        if (at.ready) {
            put_operation(l, at.n);
            continue;
        }
        TG_CHECK(l->e->cx, count + 3 <= TG_COUNT(todo), at.n);
        todo[count++] = (struct open){ at.n, true };
        todo[count++] = (struct open){ kid[1], false };
        todo[count++] = (struct open){ kid[0], false };
    }
}

/* What the store itself cuts off need not be cut off before. */
static const tg_node *uncut(const tg_node *v, DLDataType d)
{
    c_range all = c_dtype_range(d);
    if (d.bits < 32 && v->kind == TG_MAX && tg_is_int_const(v->kid[1], all.lo)) v = v->kid[0];
    if (d.bits < 32 && v->kind == TG_MIN && tg_is_int_const(v->kid[1], all.hi)) v = v->kid[0];
    return v;
}

void c_put_lane_store(tg_emit *e, const tg_node *loop)
{
    lane_loop l = { .e = e, .var = loop->u.loop->var, .budget = 4000 };
    const tg_node *s = loop->kid[2], *v = uncut(stored(&l, s), s->u.buf->dtype);
    put_operations(&l, v);
    c_line(e);
    tg_printf(e->to, "lanes_store_%s(", c_short_name(s->u.buf->dtype));
    pointer(e, s->u.buf, s->kid[1], false);
    c_comma(e);
    put_operand(&l, v);
    tg_puts(e->to, ");\n");
}
