/* window.c: windows that slide over spatial axes, as convolutions and pools have them: attributes, extents, padding. */
#include "conv.h"

#include <string.h>

const char *tg_spatial_letters(int n)
{
    return &"DHW"[3 - n];
}

int tg_spatial_count(const tg_op *op)
{
    for (const char *s = op->name; *s != '\0'; ++s)
        if (*s >= '1' && *s <= '3' && s[1] == 'd') return *s - '0';
    return 2;
}

bool tg_window_ints(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, int n, int64_t least,
                    int64_t *out)
{
    int count = tg_attr_ints(cx, op, call, name, out, 3);
    if (count < 0) return false;
    if (count != n && count != 1)
        return tg_op_error(cx, call, "attribute %s has %d values, expected %d", name, count, n) != NULL;
    for (int i = count; i < n; ++i) out[i] = out[0];
    for (int i = 0; i < n; ++i)
        if (out[i] < least || out[i] > INT32_MAX)
            return tg_op_error(cx, call, "attribute %s: %lld is outside of %lld to 2147483647", name, (long long)out[i],
                               (long long)least) != NULL;
    return true;
}

bool tg_window_padding(tg_ctx *cx, const tg_op *op, const tg_node *call, int n, int64_t least, tg_window *w)
{
    int64_t p[6];
    int count = tg_attr_ints(cx, op, call, "padding", p, 6);
    if (count < 0) return false;
    if (count != 1 && count != n && count != 2 * n)
        return tg_op_error(cx, call, "attribute padding has %d values, expected 1, %d or %d", count, n, 2 * n) != NULL;
    for (int i = 0; i < n; ++i) {
        w[i].before = count == 1 ? p[0] : p[i];
        w[i].after = count == 2 * n ? p[n + i] : w[i].before;
        if (w[i].before < least || w[i].after < least || w[i].before > INT32_MAX || w[i].after > INT32_MAX)
            return tg_op_error(cx, call, "attribute padding has a value outside of %lld to 2147483647",
                               (long long)least) != NULL;
    }
    return true;
}

bool tg_window_out(tg_ctx *cx, const tg_node *call, int n, tg_window *w, bool ceil_mode)
{
    for (int i = 0; i < n; ++i) {
        int64_t span;
        if (w[i].kernel < 1 || !tg_mul_fits(w[i].kernel - 1, w[i].dilation, &span))
            return tg_op_error(cx, call, "the kernel has extent %lld along %c", (long long)w[i].kernel, w[i].letter) !=
                   NULL;
        int64_t room = w[i].in + w[i].before + w[i].after - (span + 1);
        if (room < 0)
            return tg_op_error(cx, call, "the window covers %lld elements along %c, the padded input has only %lld",
                               (long long)span + 1, w[i].letter,
                               (long long)(w[i].in + w[i].before + w[i].after)) != NULL;
        w[i].out = (room + (ceil_mode ? w[i].stride - 1 : 0)) / w[i].stride + 1;
    }
    return true;
}

bool tg_layout_attr(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, const char *otherwise,
                    const char *need, tg_layout *out)
{
    const char *text = tg_attr_str(cx, op, call, name);
    if (text[0] == '\0') text = otherwise;
    if (!tg_layout_parse(cx, call, text, out)) return false;
    for (const char *s = need; *s != '\0'; ++s)
        if (tg_layout_find(out, *s) < 0)
            return tg_op_error(cx, call, "attribute %s: \"%s\" lacks axis %c", name, text, *s) != NULL;
    for (uint32_t k = 0; k < out->n; ++k) {
        if (strchr(need, out->axis[k].letter) == NULL)
            return tg_op_error(cx, call, "attribute %s: \"%s\" has an axis %c that %s does not know", name, text,
                               out->axis[k].letter, op->name) != NULL;
        if (out->axis[k].inner && strchr("DHW", out->axis[k].letter) != NULL)
            return tg_op_error(cx, call, "attribute %s: \"%s\" splits the spatial axis %c", name, text,
                               out->axis[k].letter) != NULL;
    }
    return true;
}

const char *tg_layout_axis_name(tg_ctx *cx, const tg_layout *l, uint32_t k, const char *prefix)
{
    char letter = (char)(l->axis[k].letter - 'A' + 'a');
    const char *before = letter == 'n' ? "" : prefix;
    return tg_format(cx, "%s%c%s", before, letter, l->axis[k].inner ? "i" : "");
}

/* The window over layout axis @p k, or NULL. */
static const tg_window *window_of(const tg_layout *l, uint32_t k, int n, const tg_window *w)
{
    for (int i = 0; i < n; ++i)
        if (w[i].letter == l->axis[k].letter) return &w[i];
    return NULL;
}

const tg_buffer *tg_pad_windows(tg_lower *lo, uint32_t k, const tg_layout *l, int n, const tg_window *w,
                                const int64_t *spacing, tg_expr fill)
{
    tg_ctx *cx = lo->cx;
    const tg_buffer *data = lo->in[k];
    int64_t dim[TG_MAX_NDIM];
    bool any = false;
    tg_buffer_dims(data, dim);
    for (uint32_t d = 0; d < l->n; ++d) {
        const tg_window *at = window_of(l, d, n, w);
        if (at == NULL) continue;
        int64_t gap = spacing != NULL ? spacing[at - w] : 1;
        any = any || at->before != 0 || at->after != 0 || gap != 1;
        dim[d] = (at->in - 1) * gap + 1 + at->before + at->after;
    }
    if (!any) return data;
    const tg_buffer *out = tg_temp_of(lo, "pad", data->dtype, data->ndim, dim);
    tg_block_build *b = tg_begin(lo, "pad");
    tg_at to = { 0 }, from = { 0 };
    tg_expr inside = NULL;
    for (uint32_t d = 0; d < l->n; ++d) {
        tg_expr i = tg_spatial(b, tg_layout_axis_name(cx, l, d, ""), dim[d]);
        tg_at_push(&to, i);
        const tg_window *at = window_of(l, d, n, w);
        int64_t gap = at != NULL && spacing != NULL ? spacing[at - w] : 1;
        if (at != NULL && (at->before > 0 || gap != 1))
            inside = tg_and(cx, inside, tg_ge(cx, i, tg_ix(lo, at->before)));
        if (at != NULL && (at->after > 0 || gap != 1))
            inside = tg_and(cx, inside, tg_lt(cx, i, tg_ix(lo, at->before + (at->in - 1) * gap + 1)));
        if (at != NULL) i = tg_addi(cx, i, -at->before);
        if (gap != 1) inside = tg_and(cx, inside, tg_eq(cx, tg_floormodi(cx, i, gap), tg_ix(lo, 0)));
        tg_at_push(&from, tg_floordivi(cx, i, gap));
    }
    tg_expr value = tg_load(cx, data, from.n, from.ix);
    tg_put(b, out, tg_guarded(cx, inside, value, tg_to(cx, data->dtype, fill)), &to);
    return out;
}
