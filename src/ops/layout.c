/* layout.c: layout strings such as "NCHW4c": which dimension holds which axis, and where a coordinate lives. */
#include "build.h"

#include <string.h>

bool tg_layout_parse(tg_ctx *cx, const tg_node *call, const char *text, tg_layout *out)
{
    *out = (tg_layout){ 0 };
    for (const char *p = text; *p != '\0'; ++p) {
        int64_t factor = 0;
        for (; *p >= '0' && *p <= '9'; ++p) {
            factor = factor * 10 + (*p - '0');
            if (factor > INT32_MAX) return tg_op_error(cx, call, "layout \"%s\" has too large a factor", text) != NULL;
        }
        bool upper = *p >= 'A' && *p <= 'Z', lower = *p >= 'a' && *p <= 'z';
        if (!upper && !lower) return tg_op_error(cx, call, "layout \"%s\" is not made of axis letters", text) != NULL;
        if (upper ? factor != 0 : factor < 1)
            return tg_op_error(cx, call, "layout \"%s\": a factor belongs before a lower-case letter, and only there",
                               text) != NULL;
        char letter = upper ? *p : (char)(*p - 'a' + 'A');
        if (upper && tg_layout_find(out, letter) >= 0)
            return tg_op_error(cx, call, "layout \"%s\" names axis %c twice", text, letter) != NULL;
        if (out->n == TG_MAX_NDIM)
            return tg_op_error(cx, call, "layout \"%s\" has more than %d axes", text, (int)TG_MAX_NDIM) != NULL;
        out->axis[out->n].letter = letter;
        out->axis[out->n].inner = lower;
        out->axis[out->n++].factor = factor;
    }
    for (uint32_t k = 0; k < out->n; ++k)
        if (out->axis[k].inner && tg_layout_find(out, out->axis[k].letter) < 0)
            return tg_op_error(cx, call, "layout \"%s\" splits axis %c without having it", text, out->axis[k].letter) !=
                   NULL;
    return true;
}

int tg_layout_find(const tg_layout *l, char letter)
{
    for (uint32_t k = 0; k < l->n; ++k)
        if (l->axis[k].letter == letter && !l->axis[k].inner) return (int)k;
    return -1;
}

int64_t tg_layout_inner(const tg_layout *l, char letter)
{
    int64_t f = 1;
    for (uint32_t k = 0; k < l->n; ++k)
        if (l->axis[k].letter == letter && l->axis[k].inner) f *= l->axis[k].factor;
    return f;
}

bool tg_layout_plain(const tg_layout *l, char letter)
{
    return tg_layout_find(l, letter) >= 0 && tg_layout_inner(l, letter) == 1;
}

int64_t tg_layout_extent(const tg_layout *l, const int64_t *dim, char letter)
{
    int64_t e = 1;
    if (tg_layout_find(l, letter) < 0) return -1;
    for (uint32_t k = 0; k < l->n; ++k)
        if (l->axis[k].letter == letter && !tg_mul_fits(e, dim[k], &e)) return -1;
    return e;
}

bool tg_layout_shape(const tg_layout *l, const int64_t *primary, int64_t *dim)
{
    for (uint32_t k = 0; k < l->n; ++k) {
        int64_t inner = tg_layout_inner(l, l->axis[k].letter), e = primary[l->axis[k].letter - 'A'];
        if (!l->axis[k].inner && e % inner != 0) return false;
        dim[k] = l->axis[k].inner ? l->axis[k].factor : e / inner;
    }
    return true;
}

/* Distance in the primary axis between two neighbours of layout axis @p k: the product of the inner axes after it. */
static int64_t step(const tg_layout *l, uint32_t k)
{
    int64_t s = 1;
    for (uint32_t j = 0; j < l->n; ++j)
        if (l->axis[j].letter == l->axis[k].letter && l->axis[j].inner && (j > k || !l->axis[k].inner))
            s *= l->axis[j].factor;
    return s;
}

void tg_layout_primary(tg_ctx *cx, const tg_layout *l, const tg_at *at, tg_expr *primary)
{
    memset(primary, 0, 26 * sizeof primary[0]);
    for (uint32_t k = 0; k < l->n; ++k) {
        tg_expr part = tg_muli(cx, at->ix[k], step(l, k));
        tg_expr *p = &primary[l->axis[k].letter - 'A'];
        *p = *p == NULL ? part : tg_add(cx, *p, part);
    }
}

void tg_layout_index(tg_ctx *cx, const tg_layout *l, const tg_expr *primary, tg_at *at)
{
    at->n = 0;
    for (uint32_t k = 0; k < l->n; ++k) {
        tg_expr e = tg_floordivi(cx, primary[l->axis[k].letter - 'A'], step(l, k));
        tg_at_push(at, l->axis[k].inner ? tg_floormodi(cx, e, l->axis[k].factor) : e);
    }
}
