/* c_tap.c: tap_tile in C (ir/dot_tile.h): plain, and for AVX-512 VNNI, AVX2 and NEON, chosen where the file is compiled. The texts are
 * written as in c_dot.c.
 * Some of AVX-512 is in its form with a mask, of all lanes: g++ 12 warns of the others.
 *
 * With VNNI four taps are laid side by side, byte by byte, for 64 neighbours at a time; the weights likewise, once for all rows.
 * Neighbours are lanes, or lanes of several rows where those lie one behind the other. */
#include "emit.h"

#define SIZES "int32_t down, int32_t across,\n    int32_t x_row, int32_t x_down, int32_t x_across, int32_t w_down, int32_t w_across)\n"
#define PASS "down, across, x_row, x_down, x_across, w_down, w_across);\n"

static const char intro_text[] =
    "/* acc[r * lanes + l] = sum over i < down, j < across of\n"
    " *     x[i * x_down + j * x_across + r * x_row + l] * w[i * w_down + j * w_across + l]\n"
    " * Every variant gives the same bits. All sizes are constants in each call. This is for lanes from \"first\" on. */\n"
    "TIRGEN_INLINE void $N_rest(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t first, int32_t lanes, " SIZES
    "{\n"
    "    for (int32_t r = 0; r < rows; ++r) {\n"
    "        for (int32_t l = first; l < lanes; ++l) {\n"
    "            int32_t sum = 0;\n"
    "            for (int32_t i = 0; i < down; ++i) {\n"
    "                for (int32_t j = 0; j < across; ++j) {\n"
    "                    sum += x[i * x_down + j * x_across + r * x_row + l] * w[i * w_down + j * w_across + l];\n"
    "                }\n"
    "            }\n"
    "            acc[r * lanes + l] = sum;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n";

static const char vnni_text[] =
    "#if defined(__AVX512VNNI__) && defined(__AVX512BW__)\n"
    "/* Byte k of a, b, c and d side by side, the lanes of each quarter in to[0] to to[3]. */\n"
    "TIRGEN_INLINE void $N_mix(__m512i *to, __m512i a, __m512i b, __m512i c, __m512i d)\n"
    "{\n"
    "    const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);\n"
    "    const __m512i cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);\n"
    "    to[0] = _mm512_unpacklo_epi16(ab_low, cd_low);\n"
    "    to[1] = _mm512_unpackhi_epi16(ab_low, cd_low);\n"
    "    to[2] = _mm512_unpacklo_epi16(ab_high, cd_high);\n"
    "    to[3] = _mm512_unpackhi_epi16(ab_high, cd_high);\n"
    "}\n"
    "\n"
    "/* Four quarters of lanes, in order again. */\n"
    "TIRGEN_INLINE void $N_unmix(__m512i *sum)\n"
    "{\n"
    "    const __m512i a = _mm512_maskz_shuffle_i32x4(0xffff, sum[0], sum[1], 0x44);\n"
    "    const __m512i b = _mm512_maskz_shuffle_i32x4(0xffff, sum[2], sum[3], 0x44);\n"
    "    const __m512i c = _mm512_maskz_shuffle_i32x4(0xffff, sum[0], sum[1], 0xee);\n"
    "    const __m512i d = _mm512_maskz_shuffle_i32x4(0xffff, sum[2], sum[3], 0xee);\n"
    "    sum[0] = _mm512_maskz_shuffle_i32x4(0xffff, a, b, 0x88);\n"
    "    sum[1] = _mm512_maskz_shuffle_i32x4(0xffff, a, b, 0xdd);\n"
    "    sum[2] = _mm512_maskz_shuffle_i32x4(0xffff, c, d, 0x88);\n"
    "    sum[3] = _mm512_maskz_shuffle_i32x4(0xffff, c, d, 0xdd);\n"
    "}\n"
    "\n"
    "/* \"width\" weights; or as many as lanes, again and again. */\n"
    "TIRGEN_INLINE __m512i $N_weights(const int8_t *w, int32_t lanes, int32_t width)\n"
    "{\n"
    "    if (lanes == 8) {\n"
    "        return _mm512_maskz_broadcastq_epi64(0xff, _mm_loadl_epi64((const __m128i *)(const void *)w));\n"
    "    }\n"
    "    if (lanes == 16) {\n"
    "        return _mm512_maskz_broadcast_i32x4(0xffff, _mm_loadu_si128((const __m128i *)(const void *)w));\n"
    "    }\n"
    "    if (lanes == 32) {\n"
    "        return _mm512_maskz_broadcast_i64x4(0xff, _mm256_loadu_si256((const __m256i *)(const void *)w));\n"
    "    }\n"
    "    return width == 64 ? _mm512_loadu_si512(w) : _mm512_maskz_loadu_epi8(~UINT64_C(0) >> (64 - width), w);\n"
    "}\n"
    "\n";

static const char vnni_loop_text[] =
    "/* Strips of \"width\" neighbours, at most 64. */\n"
    "TIRGEN_INLINE void $N_strips(int32_t *acc, const $T *x, const int8_t *w, int32_t count, int32_t acc_row, int32_t lanes,\n"
    "    int32_t width, " SIZES
    "{\n"
    "    const int32_t taps = down * across;\n"
    "    const __m512i flip = _mm512_set1_epi8(-128), zero = _mm512_setzero_si512();\n"
    "    const __mmask64 some = ~UINT64_C(0) >> (64 - width);\n"
    "    __m512i weight[8][4], start[4];\n"
    "    start[0] = start[1] = start[2] = start[3] = zero;\n"
    "#pragma GCC unroll 8\n"
    "    for (int32_t t = 0; t < taps; t += 4) {\n"
    "        __m512i four[4];\n"
    "#pragma GCC unroll 4\n"
    "        for (int32_t k = 0; k < 4; ++k) {\n"
    "            const int32_t n = t + k;\n"
    "            four[k] = n < taps ? $N_weights(w + n / across * w_down + n % across * w_across, lanes, width) : zero;\n"
    "        }\n"
    "        $N_mix(weight[t / 4], four[0], four[1], four[2], four[3]);\n"
    "$O"
    "    }\n"
    "    for (int32_t i = 0; i < count; ++i) {\n"
    "        __m512i sum[4];\n"
    "        sum[0] = start[0];\n"
    "        sum[1] = start[1];\n"
    "        sum[2] = start[2];\n"
    "        sum[3] = start[3];\n"
    "#pragma GCC unroll 8\n"
    "        for (int32_t t = 0; t < taps; t += 4) {\n"
    "            __m512i four[4], mixed[4];\n"
    "#pragma GCC unroll 4\n"
    "            for (int32_t k = 0; k < 4; ++k) {\n"
    "                const int32_t n = t + k;\n"
    "                const $T *at = x + n / across * x_down + n % across * x_across;\n"
    "                four[k] = n >= taps ? zero : width == 64 ? _mm512_loadu_si512(at) : _mm512_maskz_loadu_epi8(some, at);\n"
    "$F"
    "            }\n"
    "            $N_mix(mixed, four[0], four[1], four[2], four[3]);\n"
    "#pragma GCC unroll 4\n"
    "            for (int32_t q = 0; q < 4; ++q) {\n"
    "                sum[q] = _mm512_dpbusd_epi32(sum[q], mixed[q], weight[t / 4][q]);\n"
    "            }\n"
    "        }\n"
    "        $N_unmix(sum);\n"
    "#pragma GCC unroll 4\n"
    "        for (int32_t q = 0; q < 4; ++q) {\n"
    "            if (width >= 16 * q + 16) {\n"
    "                _mm512_storeu_si512(acc + 16 * q, sum[q]);\n"
    "            } else if (width > 16 * q) {\n"
    "                _mm512_mask_storeu_epi32(acc + 16 * q, (__mmask16)(some >> (16 * q)), sum[q]);\n"
    "            }\n"
    "        }\n"
    "        x += x_row;\n"
    "        acc += acc_row;\n"
    "    }\n"
    "    (void)flip;\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, " SIZES
    "{\n"
    "    const int32_t all = rows * lanes, whole = all / 64, rest = all % 64, block = lanes / 64, left = lanes % 64;\n"
    "    if (x_row == lanes && (lanes == 8 || lanes == 16 || lanes == 32)) {\n"
    "        $N_strips(acc, x, w, whole, 64, lanes, 64, down, across, 64, x_down, x_across, w_down, w_across);\n"
    "        if (rest > 0) {\n"
    "            $N_strips(acc + 64 * whole, x + 64 * whole, w, 1, 64, lanes, rest, " PASS
    "        }\n"
    "    } else {\n"
    "        for (int32_t l = 0; l < 64 * block; l += 64) {\n"
    "            $N_strips(acc + l, x + l, w + l, rows, lanes, 64, 64, " PASS
    "        }\n"
    "        if (left > 0) {\n"
    "            $N_strips(acc + 64 * block, x + 64 * block, w + 64 * block, rows, lanes, 64, left, " PASS
    "        }\n"
    "    }\n"
    "}\n";

static const char avx2_text[] =
    "#elif defined(__AVX2__)\n"
    "/* Pairs of taps, eight lanes at a time. */\n"
    "TIRGEN_INLINE __m128i $N_mix(const void *a, const void *b)\n"
    "{\n"
    "    const __m128i none = _mm_setzero_si128(), even = _mm_loadl_epi64((const __m128i *)a);\n"
    "    return _mm_unpacklo_epi8(even, b != a ? _mm_loadl_epi64((const __m128i *)b) : none);\n"
    "}\n"
    "\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, " SIZES
    "{\n"
    "    const int32_t taps = down * across;\n"
    "    for (int32_t l = 0; l + 8 <= lanes; l += 8) {\n"
    "        __m256i weight[16];\n"
    "#pragma GCC unroll 16\n"
    "        for (int32_t t = 0; t < taps; t += 2) {\n"
    "            const int32_t n = t + 1 < taps ? t + 1 : t;\n"
    "            const int8_t *even = w + l + t / across * w_down + t % across * w_across;\n"
    "            const int8_t *odd = w + l + n / across * w_down + n % across * w_across;\n"
    "            weight[t / 2] = _mm256_cvtepi8_epi16($N_mix(even, odd));\n"
    "        }\n"
    "        for (int32_t r = 0; r < rows; ++r) {\n"
    "            __m256i sum = _mm256_setzero_si256();\n"
    "#pragma GCC unroll 16\n"
    "            for (int32_t t = 0; t < taps; t += 2) {\n"
    "                const int32_t n = t + 1 < taps ? t + 1 : t;\n"
    "                const $T *even = x + r * x_row + l + t / across * x_down + t % across * x_across;\n"
    "                const $T *odd = x + r * x_row + l + n / across * x_down + n % across * x_across;\n"
    "                sum = _mm256_add_epi32(sum, _mm256_madd_epi16($A($N_mix(even, odd)), weight[t / 2]));\n"
    "            }\n"
    "            _mm256_storeu_si256((__m256i *)(void *)(acc + r * lanes + l), sum);\n"
    "        }\n"
    "    }\n"
    "    if (lanes % 8 > 0) {\n"
    "        $N_rest(acc, x, w, rows, lanes - lanes % 8, lanes, " PASS
    "    }\n"
    "}\n";

static const char neon_text[] =
    "#elif defined(__aarch64__) && defined(__ARM_NEON)\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, " SIZES
    "{\n"
    "    for (int32_t l = 0; l + 8 <= lanes; l += 8) {\n"
    "        for (int32_t r = 0; r < rows; ++r) {\n"
    "            int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0);\n"
    "            for (int32_t i = 0; i < down; ++i) {\n"
    "                for (int32_t j = 0; j < across; ++j) {\n"
    "                    const int16x8_t a = $V(x + i * x_down + j * x_across + r * x_row + l)$W;\n"
    "                    const int16x8_t b = vmovl_s8(vld1_s8(w + i * w_down + j * w_across + l));\n"
    "                    low = vmlal_s16(low, vget_low_s16(a), vget_low_s16(b));\n"
    "                    high = vmlal_high_s16(high, a, b);\n"
    "                }\n"
    "            }\n"
    "            vst1q_s32(acc + r * lanes + l, low);\n"
    "            vst1q_s32(acc + r * lanes + l + 4, high);\n"
    "        }\n"
    "    }\n"
    "    if (lanes % 8 > 0) {\n"
    "        $N_rest(acc, x, w, rows, lanes - lanes % 8, lanes, " PASS
    "    }\n"
    "}\n";

static const char plain_text[] =
    "#else\n"
    "TIRGEN_INLINE void $N(int32_t *acc, const $T *x, const int8_t *w, int32_t rows, int32_t lanes, " SIZES
    "{\n"
    "    $N_rest(acc, x, w, rows, 0, lanes, " PASS
    "}\n"
    "#endif\n";

/* What stands for $T, $O … : of a signed x, of an unsigned one. A signed x is taken plus 128, and the sums start that much lower. */
static const c_difference differences[] = {
    { 'T', { "int8_t", "uint8_t" } },
    { 'O',
      { "#pragma GCC unroll 4\n"
        "        for (int32_t q = 0; q < 4; ++q) {\n"
        "            const __m512i offset = _mm512_dpbusd_epi32(zero, flip, weight[t / 4][q]);\n"
        "            start[q] = _mm512_sub_epi32(start[q], offset);\n"
        "        }\n",
        "" } },
    { 'F', { "                four[k] = n >= taps ? zero : _mm512_xor_si512(four[k], flip);\n", "" } },
    { 'A', { "_mm256_cvtepi8_epi16", "_mm256_cvtepu8_epi16" } },
    { 'V', { "vmovl_s8(vld1_s8", "vreinterpretq_s16_u16(vmovl_u8(vld1_u8" } },
    { 'W', { ")", "))" } },
};

void c_put_tap(tg_emit *e, const char *name, bool is_unsigned)
{
    static const char *const all[] = { intro_text, vnni_text, vnni_loop_text, avx2_text, neon_text, plain_text };
    c_put_inline(e);
    for (size_t i = 0; i < TG_COUNT(all); ++i)
        c_put_template(e, all[i], name, is_unsigned, differences, TG_COUNT(differences));
}
