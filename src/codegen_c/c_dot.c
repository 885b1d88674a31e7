/* c_dot.c: dot_tile in C (ir/dot_tile.h): plain, and with the byte products of AVX-512 VNNI, AVX2, NEON and the DSP
 * extension of Cortex-M, chosen where the file is compiled. In the texts $N is the function, $T the elements of x; the
 * rest are the places where signed and unsigned x differ. Sums of unsigned times signed bytes take a signed x plus 128,
 * and NEON's signed times signed an unsigned x minus 128; the offset is summed beside and taken off. */
#include "emit.h"

#include "ir/diag.h"
#include "ir/dot_tile.h"

static const char intro_text[] =
    "/* acc[r * lanes + l] = sum over o < outer, s < steps, p < 4 of\n"
    " *     x[o * x_outer + s * 4 + p + r * x_row] * w[(o * steps + s) * w_step + l * 4 + p]\n"
    " * Every variant gives the same bits. Rows, lanes and steps are constants in each call. */\n";

static const char vnni_text[] =
    "#if defined(__AVX512VNNI__) && defined(__AVX512F__)\n"
    "typedef uint32_t $N_lanes __attribute__((vector_size(64)));\n"
    "\n"
    "TIRGEN_INLINE void $N_block(int32_t *acc, const $T *x, const int8_t *w, int32_t lanes, int32_t rows, int32_t vectors,\n"
    "    int32_t left, int32_t outer, int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    $N_lanes sum[6][8], offset[8];\n"
    "    const __m512i flip = _mm512_set1_epi8(-128);\n"
    "#pragma GCC unroll 8\n"
    "    for (int32_t v = 0; v < vectors; ++v) {\n"
    "        offset[v] = ($N_lanes)_mm512_setzero_si512();\n"
    "#pragma GCC unroll 6\n"
    "        for (int32_t r = 0; r < rows; ++r) {\n"
    "            sum[r][v] = ($N_lanes)_mm512_setzero_si512();\n"
    "        }\n"
    "    }\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            __m512i b[8];\n"
    "#pragma GCC unroll 8\n"
    "            for (int32_t v = 0; v < vectors; ++v) {\n"
    "                const int32_t n = left - 16 * v;\n"
    "                const __mmask16 some = (__mmask16)(n >= 16 ? 0xffffU : (1U << n) - 1U);\n"
    "                b[v] = n >= 16 ? _mm512_loadu_si512(w + 64 * v) : _mm512_maskz_loadu_epi32(some, w + 64 * v);\n"
    "$C\n"
    "            }\n"
    "#pragma GCC unroll 6\n"
    "            for (int32_t r = 0; r < rows; ++r) {\n"
    "                int32_t four;\n"
    "                memcpy(&four, x + r * x_row + s * 4, 4);\n"
    "                const __m512i a = $X;\n"
    "#pragma GCC unroll 8\n"
    "                for (int32_t v = 0; v < vectors; ++v) {\n"
    "                    sum[r][v] = ($N_lanes)_mm512_dpbusd_epi32((__m512i)sum[r][v], a, b[v]);\n"
    "                }\n"
    "            }\n"
    "            w += w_step;\n"
    "        }\n"
    "        x += x_outer;\n"
    "    }\n"
    "#pragma GCC unroll 6\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "#pragma GCC unroll 8\n"
    "        for (int32_t v = 0; v < vectors; ++v) {\n"
    "            const int32_t n = left - 16 * v;\n"
    "            const __mmask16 some = (__mmask16)(n >= 16 ? 0xffffU : (1U << n) - 1U);\n"
    "            const __m512i all = (__m512i)(sum[r][v] - offset[v]);\n"
    "            if (n >= 16) {\n"
    "                _mm512_storeu_si512(acc + r * lanes + 16 * v, all);\n"
    "            } else {\n"
    "                _mm512_mask_storeu_epi32(acc + r * lanes + 16 * v, some, all);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    (void)flip;\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N_rows(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    const int32_t vectors = rows == 1 ? 8 : rows == 2 ? 6 : rows == 3 ? 4 : rows == 4 ? 3 : 2;\n"
    "    const int32_t left = lanes % (16 * vectors);\n"
    "    int32_t l = 0;\n"
    "    for (; l + 16 * vectors <= lanes; l += 16 * vectors) {\n"
    "        $N_block(acc + l, x, w + 4 * l, lanes, rows, vectors, 16 * vectors, outer, steps, x_row, x_outer,\n"
    "            w_step);\n"
    "    }\n"
    "    if (left > 0) {\n"
    "        $N_block(acc + l, x, w + 4 * l, lanes, rows, (left + 15) / 16, left, outer, steps, x_row, x_outer,\n"
    "            w_step);\n"
    "    }\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    const int32_t most = rows == 8 || rows == 4 ? 4 : rows % 5 == 0 ? 5 : 6;\n"
    "    int32_t r = 0;\n"
    "    for (; r + most <= rows; r += most) {\n"
    "        $N_rows(acc + r * lanes, x + r * x_row, w, most, lanes, outer, steps, x_row, x_outer, w_step);\n"
    "    }\n"
    "    if (rows % most > 0) {\n"
    "        $N_rows(acc + r * lanes, x + r * x_row, w, rows % most, lanes, outer, steps, x_row, x_outer, w_step);\n"
    "    }\n"
    "}\n";

static const char avx2_text[] =
    "#elif defined(__AVX2__)\n"
    "TIRGEN_INLINE void $N_block(int32_t *acc, const $T *x, const int8_t *w, int32_t lanes, int32_t rows, int32_t left,\n"
    "    int32_t outer, int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    __m256i sum[4][2];\n"
    "    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);\n"
    "    const __m256i some = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), number);\n"
    "#pragma GCC unroll 4\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "        sum[r][0] = sum[r][1] = _mm256_setzero_si256();\n"
    "    }\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            const __m256i b = _mm256_maskload_epi32((const int *)(const void *)w, some);\n"
    "            const __m256i low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(b));\n"
    "            const __m256i high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(b, 1));\n"
    "#pragma GCC unroll 4\n"
    "            for (int32_t r = 0; r < rows; ++r) {\n"
    "                int32_t four;\n"
    "                memcpy(&four, x + r * x_row + s * 4, 4);\n"
    "                const __m256i a = $A(_mm_set1_epi32(four));\n"
    "                sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(a, low));\n"
    "                sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(a, high));\n"
    "            }\n"
    "            w += w_step;\n"
    "        }\n"
    "        x += x_outer;\n"
    "    }\n"
    "#pragma GCC unroll 4\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "        const __m256i pairs = _mm256_hadd_epi32(sum[r][0], sum[r][1]);\n"
    "        _mm256_maskstore_epi32(acc + r * lanes, some, _mm256_permute4x64_epi64(pairs, 0xd8));\n"
    "    }\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    const int32_t most = rows < 4 ? rows : 4;\n"
    "    int32_t r = 0;\n"
    "    for (; r + most <= rows; r += most) {\n"
    "        for (int32_t l = 0; l < lanes; l += 8) {\n"
    "            $N_block(acc + r * lanes + l, x + r * x_row, w + 4 * l, lanes, most, lanes - l, outer, steps, x_row,\n"
    "                x_outer, w_step);\n"
    "        }\n"
    "    }\n"
    "    for (int32_t l = 0; rows % most > 0 && l < lanes; l += 8) {\n"
    "        $N_block(acc + r * lanes + l, x + r * x_row, w + 4 * l, lanes, rows % most, lanes - l, outer, steps,\n"
    "            x_row, x_outer, w_step);\n"
    "    }\n"
    "}\n";

static const char neon_text[] =
    "#elif defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_NEON)\n"
    "TIRGEN_INLINE void $N_block(int32_t *acc, const $T *x, const int8_t *w, int32_t lanes, int32_t rows, int32_t left,\n"
    "    int32_t outer, int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    int32x4_t sum[4], offset = vdupq_n_s32(0);\n"
    "    int32_t out[4];\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "        sum[r] = vdupq_n_s32(0);\n"
    "    }\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            int8_t some[16] = { 0 };\n"
    "            if (left < 4) {\n"
    "                memcpy(some, w, (size_t)left * 4);\n"
    "            }\n"
    "            const int8x16_t b = left < 4 ? vld1q_s8(some) : vld1q_s8(w);\n"
    "$D\n"
    "            for (int32_t r = 0; r < rows; ++r) {\n"
    "                uint32_t four;\n"
    "                memcpy(&four, x + r * x_row + s * 4, 4);\n"
    "                sum[r] = vdotq_s32(sum[r], vreinterpretq_s8_u32(vdupq_n_u32($U)), b);\n"
    "            }\n"
    "            w += w_step;\n"
    "        }\n"
    "        x += x_outer;\n"
    "    }\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "        vst1q_s32(out, vsubq_s32(sum[r], offset));\n"
    "        memcpy(acc + r * lanes, out, (size_t)(left < 4 ? left : 4) * sizeof out[0]);\n"
    "    }\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    for (int32_t r = 0; r < rows; r += 4) {\n"
    "        for (int32_t l = 0; l < lanes; l += 4) {\n"
    "            $N_block(acc + r * lanes + l, x + r * x_row, w + 4 * l, lanes, rows - r < 4 ? rows - r : 4, lanes - l,\n"
    "                outer, steps, x_row, x_outer, w_step);\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char dsp_text[] =
    "#elif defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)\n"
    "/* Two rows by two lanes: each word of four bytes is taken apart once for two products. */\n"
    "TIRGEN_INLINE void $N_block(int32_t *acc, const $T *x, const int8_t *w, int32_t lanes, int32_t left, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;\n"
    "    const int32_t right = left > 1 ? 4 : 0;\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        const $T *at = x + o * x_outer;\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            uint32_t x0, x1, w0, w1;\n"
    "            memcpy(&x0, at, 4);\n"
    "            memcpy(&x1, at + x_row, 4);\n"
    "            memcpy(&w0, w, 4);\n"
    "            memcpy(&w1, w + right, 4);\n"
    "            const int16x2_t a0 = $Ex0), b0 = $E(x0 >> 8));\n"
    "            const int16x2_t a1 = $Ex1), b1 = $E(x1 >> 8));\n"
    "            const int16x2_t c0 = __sxtb16((int8x4_t)w0), d0 = __sxtb16((int8x4_t)(w0 >> 8));\n"
    "            const int16x2_t c1 = __sxtb16((int8x4_t)w1), d1 = __sxtb16((int8x4_t)(w1 >> 8));\n"
    "            s00 = __smlad(b0, d0, __smlad(a0, c0, s00));\n"
    "            s01 = __smlad(b0, d1, __smlad(a0, c1, s01));\n"
    "            s10 = __smlad(b1, d0, __smlad(a1, c0, s10));\n"
    "            s11 = __smlad(b1, d1, __smlad(a1, c1, s11));\n"
    "            at += 4;\n"
    "            w += w_step;\n"
    "        }\n"
    "    }\n"
    "    acc[0] = s00;\n"
    "    acc[lanes] = s10;\n"
    "    if (left > 1) {\n"
    "        acc[1] = s01;\n"
    "        acc[lanes + 1] = s11;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* One row by four lanes. */\n"
    "TIRGEN_INLINE void $N_rows(int32_t *acc, const $T *x, const int8_t *w, int32_t left, int32_t outer, int32_t steps,\n"
    "    int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    int32_t sum[4] = { 0, 0, 0, 0 };\n"
    "    const int32_t second = left > 1 ? 4 : 0, third = left > 2 ? 8 : 0, fourth = left > 3 ? 12 : 0;\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        const $T *at = x + o * x_outer;\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            uint32_t x0, w0, w1, w2, w3;\n"
    "            memcpy(&x0, at, 4);\n"
    "            memcpy(&w0, w, 4);\n"
    "            memcpy(&w1, w + second, 4);\n"
    "            memcpy(&w2, w + third, 4);\n"
    "            memcpy(&w3, w + fourth, 4);\n"
    "            const int16x2_t a = $Ex0), b = $E(x0 >> 8));\n"
    "            sum[0] = __smlad(a, __sxtb16((int8x4_t)w0), __smlad(b, __sxtb16((int8x4_t)(w0 >> 8)), sum[0]));\n"
    "            sum[1] = __smlad(a, __sxtb16((int8x4_t)w1), __smlad(b, __sxtb16((int8x4_t)(w1 >> 8)), sum[1]));\n"
    "            sum[2] = __smlad(a, __sxtb16((int8x4_t)w2), __smlad(b, __sxtb16((int8x4_t)(w2 >> 8)), sum[2]));\n"
    "            sum[3] = __smlad(a, __sxtb16((int8x4_t)w3), __smlad(b, __sxtb16((int8x4_t)(w3 >> 8)), sum[3]));\n"
    "            at += 4;\n"
    "            w += w_step;\n"
    "        }\n"
    "    }\n"
    "    for (int32_t l = 0; l < 4 && l < left; ++l) {\n"
    "        acc[l] = sum[l];\n"
    "    }\n"
    "}\n"
    "\n"
    "static inline void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    int32_t r = 0;\n"
    "    for (; r + 1 < rows; r += 2) {\n"
    "        for (int32_t l = 0; l < lanes; l += 2) {\n"
    "            $N_block(acc + r * lanes + l, x + r * x_row, w + 4 * l, lanes, lanes - l, outer, steps, x_row, x_outer,\n"
    "                w_step);\n"
    "        }\n"
    "    }\n"
    "    for (int32_t l = 0; r < rows && l < lanes; l += 4) {\n"
    "        $N_rows(acc + r * lanes + l, x + r * x_row, w + 4 * l, lanes - l, outer, steps, x_outer, w_step);\n"
    "    }\n"
    "}\n";

static const char plain_text[] =
    "#else\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, int32_t outer,\n"
    "    int32_t steps, int32_t x_row, int32_t x_outer, int32_t w_step)\n"
    "{\n"
    "    for (int32_t i = 0; i < rows * lanes; ++i) {\n"
    "        acc[i] = 0;\n"
    "    }\n"
    "    for (int32_t o = 0; o < outer; ++o) {\n"
    "        for (int32_t s = 0; s < steps; ++s) {\n"
    "            for (int32_t r = 0; r < rows; ++r) {\n"
    "                const $T *at = x + o * x_outer + s * 4 + r * x_row;\n"
    "                const int32_t x0 = at[0], x1 = at[1], x2 = at[2], x3 = at[3];\n"
    "                int32_t *to = acc + r * lanes;\n"
    "                for (int32_t l = 0; l < lanes; ++l) {\n"
    "                    to[l] = (int32_t)((uint32_t)to[l]\n"
    "                        + (uint32_t)(x0 * w[4 * l] + x1 * w[4 * l + 1] + x2 * w[4 * l + 2] + x3 * w[4 * l + 3]));\n"
    "                }\n"
    "            }\n"
    "            w += w_step;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "#endif\n";

/* What stands for $C, $X … : of a signed x, of an unsigned one. */
static const c_difference differences[] = {
    { 'T', { "int8_t", "uint8_t" } },
    { 'C', { "                offset[v] = ($N_lanes)_mm512_dpbusd_epi32((__m512i)offset[v], flip, b[v]);", "" } },
    { 'X', { "_mm512_xor_si512(_mm512_set1_epi32(four), flip)", "_mm512_set1_epi32(four)" } },
    { 'A', { "_mm256_cvtepi8_epi16", "_mm256_cvtepu8_epi16" } },
    { 'D', { "", "            offset = vdotq_s32(offset, vdupq_n_s8(-128), b);" } },
    { 'U', { "four", "four ^ 0x80808080U" } },
    { 'E', { "__sxtb16((int8x4_t)", "(int16x2_t)__uxtb16((uint8x4_t)" } },
};

void c_put_template(tg_emit *e, const char *text, const char *name, bool is_unsigned, const c_difference *list, size_t n)
{
    for (; *text != '\0'; ++text) {
        if (*text != '$') {
            tg_putc(e->to, *text);
            continue;
        }
        ++text;
        if (*text == 'N') tg_puts(e->to, name);
        for (size_t i = 0; i < n; ++i)
            if (list[i].letter == *text) c_put_template(e, list[i].text[is_unsigned], name, is_unsigned, list, n);
    }
}

void c_put_inline(tg_emit *e)
{
    tg_puts(e->to, "#ifndef TIRGEN_INLINE\n#if defined(__GNUC__)\n"
                   "#define TIRGEN_INLINE static inline __attribute__((always_inline, unused))\n"
                   "#else\n#define TIRGEN_INLINE static inline\n#endif\n#endif\n");
}

void c_put_dot(tg_emit *e, const char *name, bool is_unsigned)
{
    static const char *const all[] = { intro_text, vnni_text, avx2_text, neon_text, dsp_text, plain_text };
    c_put_inline(e);
    for (size_t i = 0; i < TG_COUNT(all); ++i)
        c_put_template(e, all[i], name, is_unsigned, differences, TG_COUNT(differences));
}

void c_put_dot_headers(tg_emit *e)
{
    tg_puts(e->to, "#if defined(__AVX512F__) || defined(__AVX2__)\n#include <immintrin.h>\n");
    tg_puts(e->to, "#elif defined(__ARM_NEON)\n#include <arm_neon.h>\n#endif\n");
    tg_puts(e->to, "#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)\n#include <arm_acle.h>\n#endif\n");
}

void c_dot_call(tg_emit *e, const tg_node *n)
{
    if (!tg_dot_is_plain(n)) {
        if (!e->failed)
            tg_error(e->cx, n->span, "%s: expected three addresses of elements and constants", n->u.call->op->text);
        e->failed = true;
        return;
    }
    DLDataType d = tg_dtype_of(n->kid[TG_DOT_X]->kid[0]);
    tg_printf(e->to, "%s(", c_helper(e, tg_is_call(n, "tap_tile") ? C_H_TAP_TILE : C_H_DOT_TILE, d, d));
    c_pointer(e, n->kid[TG_DOT_ACC], TG_INT32, false, C_TERNARY);
    c_comma(e);
    c_pointer(e, n->kid[TG_DOT_X], d, true, C_TERNARY);
    c_comma(e);
    c_pointer(e, n->kid[TG_DOT_W], TG_INT8, true, C_TERNARY);
    for (uint32_t i = TG_DOT_ROWS; i < n->nkids; ++i) {
        c_comma(e);
        c_expr(e, n->kid[i], C_TERNARY);
    }
    tg_putc(e->to, ')');
}
