/* ops.c: the table of operators. The rows are constant (ops.def); their attribute schemas are parsed once a context, on first use. */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *name, *args, *attrs, *dtypes;
    enum tg_fusion fusion;
    tg_type_rule type;
    tg_lower_rule lower;
} row;

#define TG_DTYPES(rule, text) static const char dtypes_##rule[] = text;
#include "dtypes.def"
#undef TG_DTYPES

static const row rows[] = {
#define TG_OP(name, args, attrs, fusion, type, lower)                                                                  \
    { name, args, attrs, dtypes_##type, TG_FUSE_##fusion, tg_type_##type, tg_lower_##lower },
#include "ops.def"
#undef TG_OP
};

typedef struct op_table {
    tg_op *op;
    tg_map by_name; /* interned name -> tg_op */
} op_table;

/* ---- schemas ---- */

/* The value at *p, moved past it: 1, -1, 0.5, None, True, 'text', [1,1]. */
static const tg_value *parse_default(tg_ctx *cx, const char **p)
{
    const char *s = *p;
    if (*s == '\'') {
        const char *end = strchr(s + 1, '\'');
        *p = end + 1;
        return tg_v_str(cx, tg_intern(cx, s + 1, (size_t)(end - s - 1)));
    }
    if (*s == '[') {
        const tg_value *item[8];
        uint32_t n = 0;
        for (++s; *s != ']';) {
            item[n++] = parse_default(cx, &s);
            s += *s == ',';
        }
        *p = s + 1;
        return tg_v_list(cx, n, item);
    }
    size_t len = strcspn(s, " ,]");
    *p = s + len;
    if (len == 4 && memcmp(s, "None", 4) == 0) return tg_v_none(cx);
    if (len == 4 && memcmp(s, "True", 4) == 0) return tg_v_bool(cx, true);
    if (len == 5 && memcmp(s, "False", 5) == 0) return tg_v_bool(cx, false);
    if (memchr(s, '.', len) != NULL || memchr(s, 'e', len) != NULL) return tg_v_float(cx, strtod(s, NULL));
    return tg_v_int(cx, strtoll(s, NULL, 10));
}

static enum tg_attr_kind parse_kind(tg_ctx *cx, const char *s, size_t n)
{
    static const struct {
        const char *text;
        enum tg_attr_kind kind;
    } kinds[] = {
        { "int", TG_ATTR_INT },       { "bool", TG_ATTR_BOOL },   { "float", TG_ATTR_FLOAT },
        { "str", TG_ATTR_STR },       { "dtype", TG_ATTR_DTYPE }, { "ints", TG_ATTR_INTS },
        { "floats", TG_ATTR_FLOATS }, { "list", TG_ATTR_LIST },   { "any", TG_ATTR_ANY },
    };
    for (size_t i = 0; i < TG_COUNT(kinds); ++i)
        if (strlen(kinds[i].text) == n && memcmp(kinds[i].text, s, n) == 0) return kinds[i].kind;
    bool known_kind = false;
    TG_CHECK(cx, known_kind, NULL); /* a typing mistake in ops.def */
    return TG_ATTR_ANY;
}

/* "strides:ints=[1,1] channels:int?=None units:int!" */
static void parse_schema(tg_ctx *cx, tg_op *op)
{
    uint32_t n = 0;
    for (const char *s = op->attrs; *s != '\0'; ++s) n += *s == ':';
    struct tg_op_attr *attr = TG_ARRAY(cx, struct tg_op_attr, n);
    op->attr = attr;
    op->nattrs = n;
    for (const char *s = op->attrs; *s != '\0'; ++attr) {
        size_t len = strcspn(s, ":");
        attr->name = tg_intern(cx, s, len);
        s += len + 1;
        len = strcspn(s, "?=! ");
        attr->kind = parse_kind(cx, s, len);
        s += len;
        attr->none = *s == '?';
        s += attr->none;
        attr->required = *s++ == '!';
        attr->otherwise = attr->required ? NULL : parse_default(cx, &s);
        s += strspn(s, " ");
    }
}

static void count_args(tg_op *op)
{
    for (const char *s = op->args; *s != '\0';) {
        size_t len = strcspn(s, " ");
        if (len > 3 && memcmp(s + len - 3, "...", 3) == 0) {
            op->nargs = -1;
            return;
        }
        ++op->nargs;
        op->nrequired += s[len - 1] != '?';
        s += len;
        s += strspn(s, " ");
    }
}

static const op_table *table_of(tg_ctx *cx)
{
    if (cx->ops != NULL) return cx->ops;
    op_table *t = TG_NEW(cx, op_table);
    t->op = TG_ARRAY(cx, tg_op, TG_COUNT(rows));
    for (size_t i = 0; i < TG_COUNT(rows); ++i) {
        tg_op *op = &t->op[i];
        op->name = rows[i].name;
        op->args = rows[i].args;
        op->attrs = rows[i].attrs;
        op->dtypes = rows[i].dtypes;
        op->fusion = rows[i].fusion;
        op->type = rows[i].type;
        op->lower = rows[i].lower == tg_lower_none ? NULL : rows[i].lower;
        parse_schema(cx, op);
        count_args(op);
        tg_map_put(cx, &t->by_name, TG_KEY(tg_intern_z(cx, op->name)), op);
    }
    cx->ops = t;
    return t;
}

/* ---- finding ---- */

const tg_op *tg_op_find(tg_ctx *cx, const tg_name *name)
{
    return tg_map_get(&table_of(cx)->by_name, TG_KEY(name));
}

const tg_op *tg_op_at(tg_ctx *cx, size_t i)
{
    return i < TG_COUNT(rows) ? &table_of(cx)->op[i] : NULL;
}

const tg_name *tg_op_arg_name(tg_ctx *cx, const tg_op *op, uint32_t i)
{
    const char *s = op->args;
    for (uint32_t k = 0; k < i && strchr(s, ' ') != NULL; ++k) s = strchr(s, ' ') + 1;
    size_t len = strcspn(s, " ?#.");
    return len > 0 ? tg_intern(cx, s, len) : tg_intern_z(cx, "data");
}

const char *tg_op_short(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* Edits that turn a into b; names are short. */
static size_t distance(const char *a, const char *b)
{
    size_t prev[64], cur[64], na = strlen(a), nb = strlen(b);
    if (na >= TG_COUNT(prev) || nb >= TG_COUNT(prev)) return SIZE_MAX;
    for (size_t j = 0; j <= nb; ++j) prev[j] = j;
    for (size_t i = 1; i <= na; ++i) {
        cur[0] = i;
        for (size_t j = 1; j <= nb; ++j) {
            size_t best = prev[j - 1] + (a[i - 1] != b[j - 1]);
            best = prev[j] + 1 < best ? prev[j] + 1 : best;
            cur[j] = cur[j - 1] + 1 < best ? cur[j - 1] + 1 : best;
        }
        memcpy(prev, cur, (nb + 1) * sizeof prev[0]);
    }
    return prev[nb];
}

const char *tg_op_suggest(tg_ctx *cx, const tg_name *name)
{
    const char *best = NULL;
    size_t least = name->len / 3 + 1;
    (void)cx;
    for (size_t i = 0; i < TG_COUNT(rows); ++i) {
        if (strcmp(tg_op_short(rows[i].name), name->text) == 0) /* "conv2d" */
            return rows[i].name;
        size_t d = distance(name->text, rows[i].name);
        if (d < least) {
            least = d;
            best = rows[i].name;
        }
    }
    return best;
}

/* Operators that TVM registers and that have no row, with the reason. */
static const char *why_not(const char *name)
{
    static const struct {
        const char *prefix, *why;
    } known[] = {
        { "random.", "random numbers are not part of inference" },
        { "vm.", "it belongs to TVM's virtual machine, after lowering" },
        { "memory.", "it belongs to TVM's virtual machine, after lowering" },
        { "contrib.ethosu.", "it belongs to an accelerator's code generator" },
        { "vta.", "it belongs to an accelerator's code generator" },
        { "nn.contrib_conv2d_winograd", "it is a rewrite for one target that tuned modules contain" },
        { "nn.contrib_conv3d_winograd", "it is a rewrite for one target that tuned modules contain" },
        { "nn.contrib_conv2d_gemm", "it is a rewrite for one target that tuned modules contain" },
        { "nn.conv2d_backward", "it belongs to training" },
        { "nn.internal.sparse_dense_padded", "it is a form for graphics processors" },
        { "auto_scheduler_layout_transform", "it is a rewrite for one target that tuned modules contain" },
        { "meta_schedule_layout_transform", "it is a rewrite for one target that tuned modules contain" },
        { "relay.op.annotation.simulated_quantize", "it belongs to calibration; quantize the module first" },
        { "qnn.simulated_", "it belongs to calibration; quantize the module first" },
        { "hardswish", "TVM knows the name and gives it no meaning; clip and multiply say the same" },
        { "vision.proposal", "region proposals of Faster-RCNN have no kernel here" },
        { "sparse_fill_empty_rows", "the shape of its result depends on the values of the data" },
    };
    for (size_t i = 0; i < TG_COUNT(known); ++i)
        if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) == 0) return known[i].why;
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, "_grad") == 0 ? "it belongs to training" : NULL;
}

/* ---- one call ---- */

static const tg_type *unknown_op(tg_ctx *cx, const tg_node *call)
{
    const tg_name *name = call->u.call->op;
    const char *why = why_not(name->text), *near = tg_op_suggest(cx, name);
    if (why != NULL) tg_error(cx, call->span, "%s is not supported: %s", name->text, why);
    else if (near != NULL) tg_error(cx, call->span, "unknown operator %s; did you mean %s?", name->text, near);
    else tg_error(cx, call->span, "unknown operator %s", name->text);
    return NULL;
}

static bool check_count(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    if (op->nargs < 0 || (call->nkids <= (uint32_t)op->nargs && call->nkids >= (uint32_t)op->nrequired)) return true;
    if (op->nargs == op->nrequired)
        tg_error(cx, call->span, "%s has %u operands, expected %d", op->name, call->nkids, op->nargs);
    else
        tg_error(cx, call->span, "%s has %u operands, expected %d to %d", op->name, call->nkids, op->nrequired,
                 op->nargs);
    if (op->args[0] != '\0') tg_note(cx, call->span, "operands of %s: %s", op->name, op->args);
    return false;
}

/* Extents that are known, products that fit. */
static bool check_result(tg_ctx *cx, const tg_node *call, const tg_type *t)
{
    if (t->kind == TG_T_TUPLE) {
        for (uint32_t i = 0; i < t->n; ++i)
            if (!check_result(cx, call, t->field[i])) return false;
        return true;
    }
    int64_t elements;
    if (t->kind != TG_T_TENSOR || tg_type_elements(t, &elements)) return true;
    tg_op_error(cx, call, "the result %s is too large", tg_type_text(cx, t));
    return false;
}

const tg_type *tg_op_infer(tg_ctx *cx, const tg_node *call)
{
    const tg_op *op = tg_op_find(cx, call->u.call->op);
    if (op == NULL) return unknown_op(cx, call);
    if (!check_count(cx, op, call) || !tg_attrs_check(cx, op, call)) return NULL;
    const tg_type *t = op->type(cx, op, call);
    return t != NULL && check_result(cx, call, t) ? t : NULL;
}

/* ---- errors ---- */

static const char *format_args(tg_ctx *cx, const char *fmt, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, fmt, args);
    return tg_format(cx, "%s", text);
}

const char *tg_operand_text(tg_ctx *cx, const tg_node *n)
{
    switch (n->kind) {
    case TG_RVAR: return tg_name_is(n->u.var->name, "_") ? "the operand" : tg_format(cx, "%%%s", n->u.var->name->text);
    case TG_RGLOBAL: return tg_format(cx, "@%s", n->u.name->text);
    case TG_RCONST: return "the constant";
    case TG_RFN: return "the function";
    default: return "the operand";
    }
}

static void note_operand(tg_ctx *cx, const tg_node *call, const tg_node *arg)
{
    tg_note(cx, arg->span.file != 0 ? arg->span : call->span, "%s is %s", tg_operand_text(cx, arg),
            arg->type != NULL ? tg_type_text(cx, arg->type) : "of unknown type");
}

static bool is_same_operand(const tg_node *a, const tg_node *b)
{
    return a == b || (a->kind == TG_RVAR && b->kind == TG_RVAR && a->u.var == b->u.var);
}

/* Says what operands are: @p first (or none: nkids), then the others, a few of them, without plain numbers. */
static void note_operands(tg_ctx *cx, const tg_node *call, uint32_t first)
{
    enum { MOST = 4 };
    const tg_node *noted[MOST];
    uint32_t n = 0;
    if (first < call->nkids) note_operand(cx, call, noted[n++] = call->kid[first]);
    for (uint32_t i = 0; i < call->nkids && n < MOST; ++i) {
        const tg_node *arg = call->kid[i];
        bool known = arg->type == NULL || (arg->kind == TG_RCONST && arg->type->n == 0);
        for (uint32_t k = 0; k < n && !known; ++k) known = is_same_operand(arg, noted[k]);
        if (!known) note_operand(cx, call, noted[n++] = arg);
    }
}

const tg_type *tg_op_error(tg_ctx *cx, const tg_node *call, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = format_args(cx, fmt, args);
    va_end(args);
    tg_error(cx, call->span, "%s: %s", call->u.call->op->text, text);
    note_operands(cx, call, call->nkids);
    return NULL;
}

const tg_type *tg_arg_error(tg_ctx *cx, const tg_node *call, uint32_t i, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = format_args(cx, fmt, args);
    va_end(args);
    tg_error(cx, call->span, "%s: %s", call->u.call->op->text, text);
    note_operands(cx, call, i);
    return NULL;
}

const tg_type *tg_type_none(tg_ctx *cx, const tg_op *op, const tg_node *call)
{
    (void)op;
    return tg_op_error(cx, call, "this operator is never part of a compiled module");
}

bool tg_lower_none(tg_lower *lo, const tg_op *op, const tg_node *call)
{
    (void)op;
    tg_op_error(lo->cx, call, "this operator is never lowered");
    return false;
}
