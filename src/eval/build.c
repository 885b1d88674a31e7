/* build.c: instructions being put together.
 *
 * A register's level is the number of loops around its definition. A pure instruction depends on its operands alone,
 * so it is placed in front of the outermost loop in which all operands are fixed; it may then run although the body
 * does not, which is why pure instructions never fail. The same operation on the same registers is computed once while
 * the scope that holds it is open. Ranges of integers tell where wrapping and bound checks are needed. */
#include "build.h"
#include "scalar.h"

#include <string.h>

const tg_op_info tg_op_infos[TG_NOPS] = {
#define TO TG_USE_TO
#define FROM TG_USE_FROM
#define B TG_USE_B
#define C TG_USE_C
#define D TG_USE_D
#define TG_OP(name, uses, kind) { #name, uses, TG_KIND_##kind },
#include "opcodes.def"
#undef TG_OP
#undef TO
#undef FROM
#undef B
#undef C
#undef D
};

enum { MAX_ITEMS = 1 << 24 };

/* ---- a small hash table ---- */

static size_t dict_slot(const tg_dict *t, uint64_t key)
{
    uint64_t h = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 20) & (t->cap - 1);
    while (t->key[i] != 0 && t->key[i] != key)
        i = (i + 1) & (t->cap - 1);
    return i;
}

void *tg_dict_get(const tg_dict *t, uint64_t key)
{
    return t->n == 0 ? NULL : t->val[dict_slot(t, key)];
}

void tg_dict_put(tg_ctx *cx, tg_dict *t, uint64_t key, void *val)
{
    if (t->n >= t->cap / 2) {
        tg_dict to = { NULL, NULL, t->n, t->cap == 0 ? 64 : 2 * t->cap };
        to.key = TG_TEMP_ARRAY(cx, uint64_t, to.cap);
        to.val = TG_TEMP_ARRAY(cx, void *, to.cap);
        for (size_t i = 0; i < t->cap; ++i) {
            if (t->key[i] == 0)
                continue;
            size_t k = dict_slot(&to, t->key[i]);
            to.key[k] = t->key[i];
            to.val[k] = t->val[i];
        }
        *t = to;
    }
    size_t i = dict_slot(t, key);
    if (t->key[i] == 0) {
        t->key[i] = key;
        ++t->n;
    }
    t->val[i] = val;
}

/* ---- registers ---- */

static uint32_t reg_new(tg_build *b, uint32_t level)
{
    if (b->nregs == b->cregs) {
        size_t cap = b->cregs == 0 ? 64 : 2 * b->cregs;
        tg_reg_info *info = TG_TEMP_ARRAY(b->cx, tg_reg_info, cap);
        tg_reg *value = TG_TEMP_ARRAY(b->cx, tg_reg, cap);
        if (b->nregs > 0) {
            memcpy(info, b->info, b->nregs * sizeof *info);
            memcpy(value, b->value, b->nregs * sizeof *value);
        }
        b->info = info;
        b->value = value;
        b->cregs = cap;
    }
    b->info[b->nregs] = (tg_reg_info){ INT64_MIN, INT64_MAX, NULL, level, false };
    return (uint32_t)b->nregs++;
}

void tg_build_init(tg_build *b, tg_ctx *cx)
{
    *b = (tg_build){ .cx = cx };
    b->scope = b->function = tg_temp(cx, sizeof *b->scope);
    *b->scope = (tg_scope){ NULL, &b->top, true };
}

uint32_t tg_build_reg(tg_build *b)
{
    return reg_new(b, (uint32_t)b->nloops);
}

uint32_t tg_build_param(tg_build *b)
{
    return reg_new(b, 0);
}

void tg_build_range(tg_build *b, uint32_t reg, int64_t lo, int64_t hi)
{
    b->info[reg].lo = lo;
    b->info[reg].hi = hi;
}

uint32_t tg_build_bits(tg_build *b, tg_reg v)
{
    uint64_t key = v.u ^ 0x5bd1e995a7c3d24fu;       /* 0 marks a free slot, so an unlikely constant gives up its own */
    if (key == 0)
        key = 1;
    uintptr_t found = (uintptr_t)tg_dict_get(&b->constants, key);
    if (found != 0 && b->value[found - 1].u == v.u)
        return (uint32_t)(found - 1);
    uint32_t r = reg_new(b, 0);
    b->value[r] = v;
    b->info[r].constant = true;
    b->info[r].lo = b->info[r].hi = v.i;
    tg_dict_put(b->cx, &b->constants, key, (void *)((uintptr_t)r + 1));
    return r;
}

uint32_t tg_build_int(tg_build *b, int64_t v)
{
    return tg_build_bits(b, (tg_reg){ .i = v });
}

/* ---- ranges ---- */

static bool add_ok(int64_t a, int64_t c, int64_t *out)
{
    if (c > 0 ? a > INT64_MAX - c : a < INT64_MIN - c)
        return false;
    *out = a + c;
    return true;
}

static bool mul_ok(int64_t a, int64_t c, int64_t *out)
{
    if (a == INT64_MIN || c == INT64_MIN)
        return false;
    int64_t size_a = a < 0 ? -a : a, size_c = c < 0 ? -c : c;
    if (size_a != 0 && size_c > INT64_MAX / size_a)
        return false;
    *out = a * c;
    return true;
}

/* Smallest and largest of the four products of the ends. */
static bool product_range(const tg_reg_info *x, const tg_reg_info *y, int64_t *lo, int64_t *hi)
{
    int64_t p[4];
    if (!mul_ok(x->lo, y->lo, &p[0]) || !mul_ok(x->lo, y->hi, &p[1]) || !mul_ok(x->hi, y->lo, &p[2]) ||
        !mul_ok(x->hi, y->hi, &p[3]))
        return false;
    *lo = *hi = p[0];
    for (int i = 1; i < 4; ++i) {
        *lo = p[i] < *lo ? p[i] : *lo;
        *hi = p[i] > *hi ? p[i] : *hi;
    }
    return true;
}

static bool quotient_range(enum tg_opcode op, const tg_reg_info *x, int64_t by, int64_t *lo, int64_t *hi)
{
    if (by <= 0 || (op == TG_OP_DIV_U && x->lo < 0))
        return false;
    bool floor = op == TG_OP_FLOOR_DIV;
    *lo = x->lo / by - (floor && x->lo % by < 0);
    *hi = x->hi / by - (floor && x->hi % by < 0);
    return true;
}

static bool remainder_range(enum tg_opcode op, const tg_reg_info *x, int64_t by, int64_t *lo, int64_t *hi)
{
    if (by <= 0 || (op == TG_OP_MOD_U && x->lo < 0))
        return false;
    bool unchanged = x->lo >= 0 && x->hi < by;
    *lo = unchanged ? x->lo : op == TG_OP_MOD && x->lo < 0 ? 1 - by : 0;
    *hi = unchanged ? x->hi : by - 1;
    return true;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The range of an operation's integer result; false: nothing is known. */
static bool result_range(const tg_build *b, const tg_ins *in, int64_t *lo, int64_t *hi)
{
    const tg_reg_info *x = &b->info[in->b], *y = &b->info[in->c], scale = { in->k.i, in->k.i, NULL, 0, true };
    int64_t plo, phi;
    switch (in->op) {
    case TG_OP_ADD:
        return add_ok(x->lo, y->lo, lo) && add_ok(x->hi, y->hi, hi);
    case TG_OP_SUB:
        return y->lo != INT64_MIN && y->hi != INT64_MIN && add_ok(x->lo, -y->hi, lo) && add_ok(x->hi, -y->lo, hi);
    case TG_OP_MUL:
        return product_range(x, y, lo, hi);
    case TG_OP_MUL_ADD:
        return product_range(y, &scale, &plo, &phi) && add_ok(x->lo, plo, lo) && add_ok(x->hi, phi, hi);
    case TG_OP_MUL_SIZE:
        *lo = 0;
        *hi = TG_SIZE_CAP;
        if (x->lo >= 0 && y->lo >= 0 && mul_ok(x->hi, y->hi, &phi) && phi < TG_SIZE_CAP) {
            *lo = x->lo * y->lo;
            *hi = phi;
        }
        return true;
    case TG_OP_DIV: case TG_OP_FLOOR_DIV: case TG_OP_DIV_U:
        return y->constant && quotient_range((enum tg_opcode)in->op, x, b->value[in->c].i, lo, hi);
    case TG_OP_MOD: case TG_OP_FLOOR_MOD: case TG_OP_MOD_U:
        return y->constant && remainder_range((enum tg_opcode)in->op, x, b->value[in->c].i, lo, hi);
    case TG_OP_MIN:
        *lo = smaller(x->lo, y->lo);
        *hi = smaller(x->hi, y->hi);
        return true;
    case TG_OP_MAX:
        *lo = larger(x->lo, y->lo);
        *hi = larger(x->hi, y->hi);
        return true;
    case TG_OP_SELECT:
        x = &b->info[in->d];
        *lo = smaller(x->lo, y->lo);
        *hi = larger(x->hi, y->hi);
        return true;
    case TG_OP_ADD_32: case TG_OP_SUB_32: case TG_OP_MUL_32: case TG_OP_MUL_ADD_32:
        *lo = INT32_MIN;
        *hi = INT32_MAX;
        return true;
    case TG_OP_SIGN_EXTEND:
        *hi = signed_max((unsigned)(64 - in->k.i));
        *lo = -*hi - 1;
        return true;
    case TG_OP_ZERO_EXTEND:
        *lo = 0;
        *hi = signed_max((unsigned)(65 - in->k.i));
        return in->k.i > 0;
    case TG_OP_D_TO_INT:
        *hi = signed_max((unsigned)in->k.i);
        *lo = -*hi - 1;
        return true;
    case TG_OP_D_TO_UINT:
        *lo = 0;
        *hi = in->k.i < 64 ? signed_max((unsigned)(in->k.i + 1)) : 0;
        return in->k.i < 64;
    case TG_OP_POPCOUNT: case TG_OP_CLZ:
        *lo = 0;
        *hi = in->k.i;
        return true;
    case TG_OP_AND:
        *lo = 0;
        *hi = smaller(x->lo >= 0 ? x->hi : INT64_MAX, y->lo >= 0 ? y->hi : INT64_MAX);
        return x->lo >= 0 || y->lo >= 0;
    case TG_OP_IS_NONZERO: case TG_OP_IS_ZERO: case TG_OP_EQ: case TG_OP_NE: case TG_OP_LT: case TG_OP_LE:
    case TG_OP_LT_U: case TG_OP_LE_U: case TG_OP_EQ_F: case TG_OP_NE_F: case TG_OP_LT_F: case TG_OP_LE_F:
    case TG_OP_EQ_D: case TG_OP_NE_D: case TG_OP_LT_D: case TG_OP_LE_D:
        *lo = 0;
        *hi = 1;
        return true;
    default:
        return false;
    }
}

/* ---- values that are known ---- */

typedef struct tg_known { struct tg_known *next; const tg_item *item; const tg_scope *scope; uint64_t hash; } tg_known;

static uint64_t hash_ins(const tg_ins *in)
{
    uint64_t part[4] = { (uint64_t)in->op << 32 | in->b, (uint64_t)in->c << 32 | in->d, (uint64_t)in->k.i, in->x };
    uint64_t h = 0;
    for (int i = 0; i < 4; ++i)
        h = (h ^ part[i] ^ h >> 29) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static bool same_value(const tg_ins *x, const tg_ins *y)
{
    return x->op == y->op && x->b == y->b && x->c == y->c && x->d == y->d && x->k.i == y->k.i && x->x == y->x;
}

static const tg_item *find_known(tg_build *b, const tg_ins *in, uint64_t hash)
{
    if (b->cknown == 0)
        return NULL;
    for (tg_known **at = &b->known[hash & (b->cknown - 1)]; *at != NULL;) {
        if (!(*at)->scope->open) {
            *at = (*at)->next;          /* its scope ended */
            continue;
        }
        if ((*at)->hash == hash && same_value(&(*at)->item->ins, in))
            return (*at)->item;
        at = &(*at)->next;
    }
    return NULL;
}

static void add_known(tg_build *b, const tg_item *item, const tg_scope *scope, uint64_t hash)
{
    if (b->nknown >= b->cknown) {
        size_t cap = b->cknown == 0 ? 64 : 2 * b->cknown;
        tg_known **known = TG_TEMP_ARRAY(b->cx, tg_known *, cap);
        for (size_t i = 0; i < b->cknown; ++i) {
            for (tg_known *k = b->known[i], *next; k != NULL; k = next) {
                next = k->next;
                k->next = known[k->hash & (cap - 1)];
                known[k->hash & (cap - 1)] = k;
            }
        }
        b->known = known;
        b->cknown = cap;
    }
    tg_known *k = tg_temp(b->cx, sizeof *k);
    *k = (tg_known){ b->known[hash & (b->cknown - 1)], item, scope, hash };
    b->known[hash & (b->cknown - 1)] = k;
    ++b->nknown;
}

/* ---- placing instructions ---- */

static tg_item *append(tg_build *b, tg_list *to, const tg_ins *ins)
{
    if (++b->nitems > MAX_ITEMS)
        tg_fail(b->cx, TIRGEN_ELIMIT, TG_NOWHERE, "a function is too large to evaluate: more than %d instructions",
                MAX_ITEMS);
    tg_item *it = tg_temp(b->cx, sizeof *it);
    it->ins = *ins;
    if (to->last == NULL)
        to->first = it;
    else
        to->last->next = it;
    to->last = it;
    return it;
}

static void append_list(tg_list *to, const tg_list *from)
{
    if (from->first == NULL)
        return;
    if (to->last == NULL)
        to->first = from->first;
    else
        to->last->next = from->first;
    to->last = from->last;
}

tg_item *tg_build_ins(tg_build *b, tg_ins ins)
{
    return append(b, b->scope->list, &ins);
}

uint32_t tg_build_label(tg_build *b)
{
    return b->nlabels++;
}

void tg_build_place(tg_build *b, uint32_t label)
{
    tg_build_ins(b, (tg_ins){ .op = TG_OP_LABEL, .k.i = label });
}

void tg_build_jump(tg_build *b, enum tg_opcode op, uint32_t ra, uint32_t rb, uint32_t label)
{
    tg_build_ins(b, (tg_ins){ .op = (uint16_t)op, .a = ra, .b = rb, .k.i = label });
}

void tg_build_check(tg_build *b, tg_ins ins)
{
    tg_ins key = { .op = ins.op, .b = ins.a, .c = ins.b };      /* looked up by what is compared; the trap may differ */
    uint64_t hash = hash_ins(&key);
    if (find_known(b, &key, hash) != NULL)
        return;
    tg_build_ins(b, ins);
    tg_item *mark = tg_temp(b->cx, sizeof *mark);
    mark->ins = key;
    add_known(b, mark, b->scope, hash);
}

tg_scope *tg_build_enter(tg_build *b)
{
    tg_scope *s = tg_temp(b->cx, sizeof *s);
    *s = (tg_scope){ b->scope, b->scope->list, true };
    b->scope = s;
    return s;
}

void tg_build_leave(tg_build *b)
{
    b->scope->open = false;
    b->scope = b->scope->outer;
}

void tg_build_loop_begin(tg_build *b)
{
    tg_loop_code *l = tg_temp(b->cx, sizeof *l);
    l->before = (tg_scope){ b->scope, &l->before_list, true };
    l->inside = (tg_scope){ &l->before, &l->body, true };
    if (b->nloops == b->cloops) {
        size_t cap = b->cloops == 0 ? 16 : 2 * b->cloops;
        tg_loop_code **loop = TG_TEMP_ARRAY(b->cx, tg_loop_code *, cap);
        if (b->nloops > 0)
            memcpy(loop, b->loop, b->nloops * sizeof *loop);
        b->loop = loop;
        b->cloops = cap;
    }
    b->loop[b->nloops++] = l;
    b->scope = &l->inside;
}

void tg_build_loop_end(tg_build *b, const tg_ins *head, size_t nhead)
{
    tg_loop_code *l = b->loop[--b->nloops];
    l->inside.open = l->before.open = false;
    b->scope = l->before.outer;
    append_list(b->scope->list, &l->before_list);
    for (size_t i = 0; i < nhead; ++i)
        append(b, b->scope->list, &head[i]);
    append_list(b->scope->list, &l->body);
}

/* ---- pure instructions ---- */

static bool is_commutative(enum tg_opcode op)
{
    switch (op) {
    case TG_OP_ADD: case TG_OP_MUL: case TG_OP_MUL_SIZE: case TG_OP_ADD_32: case TG_OP_MUL_32: case TG_OP_EQ:
    case TG_OP_NE: case TG_OP_AND: case TG_OP_OR: case TG_OP_XOR: case TG_OP_MIN: case TG_OP_MAX:
        return true;
    default:
        return false;
    }
}

static uint32_t fold(tg_build *b, const tg_ins *in, unsigned uses)
{
    tg_reg reg[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
    tg_ins on = *in;
    on.a = 0;
    on.b = 1;
    on.c = 2;
    on.d = 3;
    reg[1] = b->value[in->b];
    if ((uses & TG_USE_C) != 0)
        reg[2] = b->value[in->c];
    if ((uses & TG_USE_D) != 0)
        reg[3] = b->value[in->d];
    tg_run_pure(&on, reg);
    return tg_build_bits(b, reg[0]);
}

/* x + 0, x * 1, x * 0 and their like; TG_NO_REG when nothing fits. */
static uint32_t identity(tg_build *b, const tg_ins *in)
{
    int64_t v;
    if (in->op == TG_OP_MUL_ADD) {
        if (in->k.i == 0)
            return in->b;
        return in->k.i == 1 ? tg_build_op(b, TG_OP_ADD, in->b, in->c, 0, 0) : TG_NO_REG;
    }
    if (in->op == TG_OP_SELECT)
        return b->info[in->b].constant ? b->value[in->b].i != 0 ? in->c : in->d : TG_NO_REG;
    if ((tg_op_infos[in->op].uses & TG_USE_C) == 0 || !tg_build_is_const(b, in->c, &v))
        return TG_NO_REG;
    switch (in->op) {
    case TG_OP_ADD: case TG_OP_SUB: case TG_OP_OR: case TG_OP_XOR: case TG_OP_SHL: case TG_OP_SHR:
        return v == 0 ? in->b : TG_NO_REG;
    case TG_OP_MUL: case TG_OP_MUL_SIZE:
        return v == 1 ? in->b : v == 0 ? in->c : TG_NO_REG;
    case TG_OP_DIV: case TG_OP_FLOOR_DIV: case TG_OP_DIV_U:
        return v == 1 ? in->b : TG_NO_REG;
    case TG_OP_AND:
        return v == 0 ? in->c : TG_NO_REG;
    default:
        return TG_NO_REG;
    }
}

/* a + b * c in one instruction, if the product is made in the same loop. */
static void fuse(tg_build *b, tg_ins *in, enum tg_opcode product, enum tg_opcode product2, enum tg_opcode fused)
{
    for (int side = 0; side < 2; ++side) {
        uint32_t mul = side == 0 ? in->c : in->b, other = side == 0 ? in->b : in->c;
        const tg_item *def = b->info[mul].def;
        if (def == NULL || (def->ins.op != product && def->ins.op != product2) || b->info[mul].level != b->nloops)
            continue;
        *in = (tg_ins){ .op = (uint16_t)fused, .b = other, .c = def->ins.b, .d = def->ins.c };
        return;
    }
}

static uint32_t level_of(const tg_build *b, const tg_ins *in, unsigned uses)
{
    uint32_t level = b->info[in->b].level;
    if ((uses & TG_USE_C) != 0 && b->info[in->c].level > level)
        level = b->info[in->c].level;
    if ((uses & TG_USE_D) != 0 && b->info[in->d].level > level)
        level = b->info[in->d].level;
    return level;
}

uint32_t tg_build_op(tg_build *b, enum tg_opcode op, uint32_t rb, uint32_t rc, uint32_t rd, int64_t k)
{
    tg_ins in = { .op = (uint16_t)op, .b = rb, .c = rc, .d = rd, .k.i = k };
    unsigned uses = tg_op_infos[op].uses;
    bool constant = b->info[rb].constant && ((uses & TG_USE_C) == 0 || b->info[rc].constant) &&
                    ((uses & TG_USE_D) == 0 || b->info[rd].constant);
    if (constant)
        return fold(b, &in, uses);
    if (is_commutative(op) && (b->info[rb].constant || (!b->info[rc].constant && rb > rc))) {
        in.b = rc;
        in.c = rb;
    }
    uint32_t same = identity(b, &in);
    if (same != TG_NO_REG)
        return same;
    if (op == TG_OP_ADD_F)
        fuse(b, &in, TG_OP_MUL_F, TG_OP_MUL_F, TG_OP_MUL_ADD_F);
    else if (op == TG_OP_ADD_32)
        fuse(b, &in, TG_OP_MUL, TG_OP_MUL_32, TG_OP_MUL_ADD_32);
    uses = tg_op_infos[in.op].uses;
    uint64_t hash = hash_ins(&in);
    const tg_item *known = find_known(b, &in, hash);
    if (known != NULL)
        return known->ins.a;

    uint32_t level = level_of(b, &in, uses);
    tg_scope *scope = level < b->nloops ? &b->loop[level]->before : b->scope;
    in.a = reg_new(b, level);
    tg_item *item = append(b, scope->list, &in);
    b->info[in.a].def = item;
    int64_t lo, hi;
    if (result_range(b, &in, &lo, &hi))
        tg_build_range(b, in.a, lo, hi);
    add_known(b, item, scope, hash);
    return in.a;
}

/* ---- the end ---- */

static void count_uses(uint32_t *used, const tg_ins *in, uint32_t by)
{
    unsigned uses = tg_op_infos[in->op].uses;
    if ((uses & TG_USE_FROM) != 0)
        used[in->a] += by;
    if ((uses & TG_USE_B) != 0)
        used[in->b] += by;
    if ((uses & TG_USE_C) != 0)
        used[in->c] += by;
    if ((uses & TG_USE_D) != 0)
        used[in->d] += by;
}

/* Registers that calls read stand in the call's site. */
static void count_site(uint32_t *used, const tg_site *s)
{
    if (s->convention == TG_CALL_LOWERED) {
        ++used[s->values];
        ++used[s->tcodes];
        ++used[s->begin];
        ++used[s->end];
        return;
    }
    for (uint32_t i = 0; i < s->nargs; ++i) {
        ++used[s->arg[i].reg];
        for (uint32_t k = 0; k < s->arg[i].ndim; ++k)
            ++used[s->arg[i].dim[k]];
    }
}

static bool is_jump(const tg_ins *in)
{
    return in->op >= TG_OP_JUMP && in->op <= TG_OP_LOOP;
}

tg_ins *tg_build_finish(tg_build *b, size_t *n)
{
    tg_build_ins(b, (tg_ins){ .op = TG_OP_HALT });
    tg_ins *code = TG_TEMP_ARRAY(b->cx, tg_ins, b->nitems);
    uint32_t *used = TG_TEMP_ARRAY(b->cx, uint32_t, b->nregs);
    size_t count = 0;
    for (const tg_item *it = b->top.first; it != NULL; it = it->next) {
        code[count++] = it->ins;
        count_uses(used, &it->ins, 1);
        if (it->ins.op == TG_OP_CALL)
            count_site(used, it->ins.k.p);
    }
    for (size_t i = count; i-- > 0;) {
        tg_ins *in = &code[i];
        if (tg_op_infos[in->op].kind == TG_KIND_FIXED || used[in->a] > 0)
            continue;
        count_uses(used, in, (uint32_t)-1);
        in->op = TG_OP_LABEL;           /* dropped below; a label nobody jumps to */
        in->k.i = -1;
    }
    size_t *target = TG_TEMP_ARRAY(b->cx, size_t, b->nlabels + 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        if (code[i].op != TG_OP_LABEL)
            code[kept++] = code[i];
        else if (code[i].k.i >= 0)
            target[code[i].k.i] = kept;
    }
    for (size_t i = 0; i < kept; ++i)
        if (is_jump(&code[i]))
            code[i].k.i = (int64_t)target[code[i].k.i];
    *n = kept;
    return code;
}
