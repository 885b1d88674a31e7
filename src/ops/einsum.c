/* einsum.c: sums of products in NumPy's notation: one block whose axes are the letters. */
#include "build.h"

#include <string.h>

enum { MAX_OPERANDS = 16, MAX_LABELS = 2 * 26 + TG_MAX_NDIM };

/* Labels: letters, and the axes of "..." counted from the right. */
typedef struct spec {
    uint32_t noperands;
    struct {
        uint32_t n;
        uint8_t label[TG_MAX_NDIM];
    } operand[MAX_OPERANDS], out;
    int64_t extent[MAX_LABELS]; /* 0: not used; extents are kept plus one */
} spec;

static int letter_label(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

static bool push_label(uint32_t *n, uint8_t *label, int l)
{
    if (*n == TG_MAX_NDIM) return false;
    label[(*n)++] = (uint8_t)l;
    return true;
}

/* One term "ab...c" up to a comma, an arrow or the end; "..." stands for @p dots axes. */
static bool read_term(const char **s, uint32_t dots, uint32_t *n, uint8_t *label)
{
    *n = 0;
    for (; **s != '\0' && **s != ',' && **s != '-'; ++*s) {
        if (**s == ' ') continue;
        if (strncmp(*s, "...", 3) == 0) {
            for (uint32_t k = 0; k < dots; ++k)
                if (!push_label(n, label, 52 + (int)(dots - 1 - k))) return false;
            *s += 2;
            continue;
        }
        int l = letter_label(**s);
        if (l < 0 || !push_label(n, label, l)) return false;
    }
    return true;
}

/* Axes that "..." stands for in a term of an operand of rank @p ndim; letters beyond the rank: more than any rank. */
static uint32_t dots_of(const char *s, uint32_t ndim)
{
    uint32_t letters = 0;
    bool dots = false;
    for (; *s != '\0' && *s != ',' && *s != '-'; ++s) {
        letters += letter_label(*s) >= 0;
        dots = dots || *s == '.';
    }
    return !dots ? 0 : letters <= ndim ? ndim - letters : TG_MAX_NDIM + 1;
}

static bool set_extent(spec *p, uint8_t label, int64_t d)
{
    int64_t *e = &p->extent[label];
    if (*e != 0 && *e != 2 && d != 1 && *e != d + 1) return false;
    if (*e == 0 || *e == 2) *e = d + 1;
    return true;
}

/* Without an arrow: "..." first, then the letters that stand once, in alphabetical order. */
static bool implicit_output(spec *p, uint32_t dots)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (uint32_t k = 0; k < dots; ++k)
        if (!push_label(&p->out.n, p->out.label, 52 + (int)(dots - 1 - k))) return false;
    for (const char *c = alphabet; *c != '\0'; ++c) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < p->noperands; ++i)
            for (uint32_t k = 0; k < p->operand[i].n; ++k) count += p->operand[i].label[k] == letter_label(*c);
        if (count == 1 && !push_label(&p->out.n, p->out.label, letter_label(*c))) return false;
    }
    return true;
}

static bool read_equation(tg_ctx *cx, const tg_op *op, const tg_node *call, const tg_type *t, spec *p)
{
    const char *text = tg_attr_str(cx, op, call, "equation"), *s = text;
    uint32_t most_dots = 0;
    *p = (spec){ .noperands = t->n };
    for (uint32_t i = 0; i < t->n; ++i) {
        const tg_type *f = t->field[i];
        uint32_t dots = dots_of(s, f->n);
        most_dots = dots > most_dots && dots <= TG_MAX_NDIM ? dots : most_dots;
        bool good = dots <= TG_MAX_NDIM && read_term(&s, dots, &p->operand[i].n, p->operand[i].label) &&
                    p->operand[i].n == f->n;
        for (uint32_t k = 0; good && k < f->n; ++k) good = set_extent(p, p->operand[i].label[k], f->dim[k]);
        if (!good)
            return tg_arg_error(cx, call, 0, "field %u of the tuple, %s, does not fit \"%s\"", i, tg_type_text(cx, f),
                                text) != NULL;
        if (i + 1 < t->n && *s++ != ',')
            return tg_op_error(cx, call, "\"%s\" has fewer terms than operands", text) != NULL;
    }
    if (*s == '\0')
        return implicit_output(p, most_dots) ||
               tg_op_error(cx, call, "the result of \"%s\" has too many axes", text) != NULL;
    if (strncmp(s, "->", 2) != 0) return tg_op_error(cx, call, "\"%s\" has more terms than operands", text) != NULL;
    s += 2;
    bool good = read_term(&s, most_dots, &p->out.n, p->out.label) && *s == '\0';
    uint64_t seen[2] = { 0, 0 };
    for (uint32_t k = 0; good && k < p->out.n; ++k) {
        uint8_t l = p->out.label[k];
        good = p->extent[l] != 0 && !(seen[l / 64] >> (l % 64) & 1);
        seen[l / 64] |= (uint64_t)1 << (l % 64);
    }
    return good || tg_op_error(cx, call, "the result of \"%s\" is not made of letters of its operands, each once",
                               text) != NULL;
}

static const tg_type *operands_of(tg_ctx *cx, const tg_node *call)
{
    const tg_type *t = tg_arg_tuple(cx, call, 0);
    if (t == NULL) return NULL;
    if (t->n == 0 || t->n > MAX_OPERANDS)
        return tg_arg_error(cx, call, 0, "the tuple must have 1 to %d fields", (int)MAX_OPERANDS);
    for (uint32_t i = 1; i < t->n; ++i)
        if (!tg_dtype_eq(t->field[i]->dtype, t->field[0]->dtype))
            return tg_arg_error(cx, call, 0, "the fields of the tuple have different types");
    return t;
}

const tg_type *tg_type_einsum(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    const tg_type *t = operands_of(cx, call);
    spec p;
    int64_t dim[TG_MAX_NDIM];
    if (t == NULL || !read_equation(cx, op, call, t, &p)) return NULL;
    for (uint32_t k = 0; k < p.out.n; ++k) dim[k] = p.extent[p.out.label[k]] - 1;
    return tg_tensor_of(cx, call, t->field[0]->dtype, p.out.n, dim);
}

static const char *label_text(tg_ctx *cx, uint32_t l)
{
    return l >= 52 ? tg_format(cx, "b%u", l - 52) : tg_format(cx, "%c", l < 26 ? 'a' + (int)l : 'A' + (int)l - 26);
}

bool tg_lower_einsum(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    tg_ctx *cx = lo->cx;
    spec p;
    if (!read_equation(cx, op, call, call->kid[0]->type, &p)) return false;
    const tg_buffer *acc = tg_accumulator(lo, "einsum", lo->out[0]);
    tg_block_build *b = tg_begin(lo, NULL);
    tg_expr axis[MAX_LABELS] = { NULL }, product = NULL;
    tg_at to = { 0 };
    for (uint32_t k = 0; k < p.out.n; ++k) {
        uint32_t l = p.out.label[k];
        axis[l] = tg_spatial(b, label_text(cx, l), p.extent[l] - 1);
        tg_at_push(&to, axis[l]);
    }
    for (uint32_t l = 0; l < MAX_LABELS; ++l)
        if (p.extent[l] != 0 && axis[l] == NULL) axis[l] = tg_reduce(b, label_text(cx, l), p.extent[l] - 1);
    for (uint32_t i = 0; i < p.noperands; ++i) {
        tg_at from = { 0 };
        for (uint32_t k = 0; k < p.operand[i].n; ++k)
            tg_at_push(&from, tg_extent(lo->in[i], k) == 1 ? tg_ix(lo, 0) : axis[p.operand[i].label[k]]);
        tg_expr x = tg_in(lo, i, &from);
        product = product == NULL ? x : tg_is_bool(tg_dtype_of(x)) ? tg_and(cx, product, x) : tg_mul(cx, product, x);
    }
    tg_expr old = tg_read(lo, acc, &to);
    bool logic = tg_is_bool(acc->dtype);
    tg_begin_init(b, tg_const(cx, acc->dtype, 0));
    tg_put(b, acc, logic ? tg_or(cx, old, product) : tg_add(cx, old, product), &to);
    tg_round_into(lo, acc, lo->out[0]);
    return true;
}
