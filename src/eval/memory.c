/* memory.c: what addresses may be used: the live allocations, fresh memory, the structs of the packed convention. */
#include "code.h"
#include "ir/text.h"

#include <string.h>

/* ---- live allocations ---- */

size_t tg_mem_add(tg_vm *vm, const void *at, size_t size_bytes, bool readonly)
{
    if (vm->nmem == vm->cmem) {
        size_t cap = vm->cmem == 0 ? 64 : 2 * vm->cmem;
        tg_span_mem *to = TG_TEMP_ARRAY(vm->cx, tg_span_mem, cap);
        if (vm->nmem > 0)
            memcpy(to, vm->mem, vm->nmem * sizeof *to);
        vm->mem = to;
        vm->cmem = cap;
    }
    vm->mem[vm->nmem] = (tg_span_mem){ (uintptr_t)at, size_bytes, readonly, false };
    return vm->nmem++;
}

static bool holds(const tg_span_mem *m, uintptr_t at, int64_t from, int64_t to)
{
    if (m->dead || at < m->at || at - m->at > m->size_bytes)
        return false;
    int64_t before = (int64_t)(at - m->at), after = (int64_t)(m->size_bytes - (at - m->at));
    return from >= -before && to <= after;
}

const tg_span_mem *tg_mem_find(tg_vm *vm, uintptr_t at, int64_t from, int64_t to, int64_t *left)
{
    if (vm->last_hit < vm->nmem && holds(&vm->mem[vm->last_hit], at, from, to))
        return &vm->mem[vm->last_hit];
    *left = -1;
    for (size_t i = vm->nmem; i-- > 0;) {
        const tg_span_mem *m = &vm->mem[i];
        if (holds(m, at, from, to)) {
            vm->last_hit = i;
            return m;
        }
        if (holds(m, at, 0, 0))
            *left = (int64_t)(m->size_bytes - (at - m->at));
    }
    return NULL;
}

static bool check_memory(tg_vm *vm, tg_frame *fr, const tg_trap *t, uintptr_t at, int64_t from, int64_t to, bool write)
{
    int64_t left;
    if (from >= to)
        return true;
    const tg_span_mem *m = tg_mem_find(vm, at, from, to, &left);
    if (m != NULL && !(write && m->readonly))
        return true;
    if (m != NULL)
        return tg_run_fail(vm, fr, t, tg_format(vm->cx, "%s is stored to, but its memory is a constant", t->what));
    if (left < 0)
        return tg_run_fail(vm, fr, t, tg_format(vm->cx, "%s: the address points to no memory that is live", t->what));
    return tg_run_fail(vm, fr, t,
                       tg_format(vm->cx, "%s: bytes %lld to %lld are needed, but its memory ends after %lld", t->what,
                                 (long long)from, (long long)to, (long long)left));
}

bool tg_mem_check(tg_vm *vm, tg_frame *fr, const tg_ins *in)
{
    const tg_reg *r = fr->reg;
    return check_memory(vm, fr, in->k.p, (uintptr_t)r[in->a].u, r[in->b].i, r[in->c].i, in->x != 0);
}

/* ---- fresh memory ---- */

static bool size_runs(tg_vm *vm, tg_frame *fr, const tg_trap *t, int64_t size)
{
    if (size >= 0 && size <= TG_EVAL_MAX_BYTES)
        return true;
    return tg_run_fail(vm, fr, t,
                       tg_format(vm->cx, "%s needs %lld bytes, more than can be evaluated", t->what, (long long)size));
}

/* The memory of one place is kept from one time it is reached to the next. */
bool tg_mem_alloc(tg_vm *vm, tg_frame *fr, const tg_ins *in)
{
    const tg_grow *g = in->k.p;
    struct tg_grown *mine = &fr->grown[g->slot];
    int64_t size = fr->reg[in->b].i;
    if (!size_runs(vm, fr, g->trap, size))
        return false;
    if (mine->at == NULL || (size_t)size > mine->room) {
        mine->room = (size_t)size + (size_t)size / 2;
        mine->at = tg_temp(vm->cx, mine->room + 64);
    }
    if (mine->entry == SIZE_MAX)
        mine->entry = tg_mem_add(vm, mine->at, (size_t)size, false);
    vm->mem[mine->entry].at = (uintptr_t)mine->at;
    vm->mem[mine->entry].size_bytes = (size_t)size;
    memset(mine->at, in->x, (size_t)size);
    fr->reg[in->a].u = (uintptr_t)mine->at;
    return true;
}

bool tg_mem_take(tg_vm *vm, tg_frame *fr, const tg_ins *in)
{
    int64_t size = fr->reg[in->b].i;
    if (!size_runs(vm, fr, in->k.p, size))
        return false;
    struct tg_block_mem *b = vm->blocks;
    while (b != NULL && (b->used || b->room < (size_t)size))
        b = b->next;
    if (b == NULL) {
        b = tg_temp(vm->cx, sizeof *b);
        *b = (struct tg_block_mem){ tg_temp(vm->cx, (size_t)size + 64), (size_t)size, true, vm->blocks };
        vm->blocks = b;
    }
    b->used = true;
    memset(b->at, 0x7f, (size_t)size);
    tg_mem_add(vm, b->at, (size_t)size, false);
    fr->reg[in->a].u = (uintptr_t)b->at;
    return true;
}

void tg_mem_give(tg_vm *vm, uintptr_t at)
{
    for (struct tg_block_mem *b = vm->blocks; b != NULL; b = b->next)
        if ((uintptr_t)b->at == at)
            b->used = false;
    for (size_t i = vm->nmem; i-- > 0;) {
        if (vm->mem[i].at == at && !vm->mem[i].dead) {
            vm->mem[i].dead = true;
            return;
        }
    }
}

/* ---- structs: DLTensor and TVMValue as this machine lays them out ---- */

size_t tg_stack_unit(const char *kind)
{
    if (strcmp(kind, "shape") == 0)
        return sizeof(int64_t);
    if (strcmp(kind, "arg_value") == 0)
        return sizeof(tg_packed_value);
    if (strcmp(kind, "arg_tcode") == 0)
        return sizeof(int32_t);
    return strcmp(kind, "array") == 0 ? sizeof(DLTensor) : 0;
}

enum field {
    FIELD_ADDRESS,
    FIELD_DATA,
    FIELD_SHAPE,
    FIELD_STRIDES,
    FIELD_NDIM,
    FIELD_CODE,
    FIELD_BITS,
    FIELD_LANES,
    FIELD_OFFSET,
    FIELD_DEVICE_ID,
    FIELD_DEVICE_TYPE,
    FIELD_VALUE = 12
};

static const struct { size_t at, size; } layout[] = {
    [FIELD_DATA] = { offsetof(DLTensor, data), sizeof(void *) },
    [FIELD_SHAPE] = { offsetof(DLTensor, shape), sizeof(int64_t *) },
    [FIELD_STRIDES] = { offsetof(DLTensor, strides), sizeof(int64_t *) },
    [FIELD_NDIM] = { offsetof(DLTensor, ndim), sizeof(int32_t) },
    [FIELD_CODE] = { offsetof(DLTensor, dtype) + offsetof(DLDataType, code), 1 },
    [FIELD_BITS] = { offsetof(DLTensor, dtype) + offsetof(DLDataType, bits), 1 },
    [FIELD_LANES] = { offsetof(DLTensor, dtype) + offsetof(DLDataType, lanes), 2 },
    [FIELD_OFFSET] = { offsetof(DLTensor, byte_offset), sizeof(uint64_t) },
    [FIELD_DEVICE_ID] = { offsetof(DLTensor, device) + offsetof(DLDevice, device_id), sizeof(int32_t) },
    [FIELD_DEVICE_TYPE] = { offsetof(DLTensor, device) + offsetof(DLDevice, device_type), sizeof(int32_t) },
};

/* Where the field is and how large; checked. NULL after an error. */
static unsigned char *field_at(tg_vm *vm, tg_frame *fr, const tg_ins *in, bool write, size_t *size)
{
    int64_t index = fr->reg[in->c].i;
    size_t unit = sizeof(DLTensor), at = 0;
    if (in->x == FIELD_VALUE) {
        unit = sizeof(tg_packed_value);
        *size = sizeof(int64_t);
    } else if (in->x > 0 && in->x < TG_COUNT(layout)) {
        at = layout[in->x].at;
        *size = layout[in->x].size;
    } else {
        tg_run_fail(vm, fr, in->k.p, tg_format(vm->cx, "a struct has no field %u", in->x));
        return NULL;
    }
    if (index < 0 || index > (int64_t)1 << 32) {
        tg_run_fail(vm, fr, in->k.p, tg_format(vm->cx, "a struct at index %lld", (long long)index));
        return NULL;
    }
    int64_t from = index * (int64_t)unit + (int64_t)at;
    if (!check_memory(vm, fr, in->k.p, (uintptr_t)fr->reg[in->b].u, from, from + (int64_t)*size, write))
        return NULL;
    return tg_address(fr->reg[in->b]) + from;
}

bool tg_struct_get(tg_vm *vm, tg_frame *fr, const tg_ins *in)
{
    size_t size;
    if (in->x == FIELD_ADDRESS) {
        fr->reg[in->a].u = fr->reg[in->b].u + fr->reg[in->c].u * sizeof(DLTensor);
        return true;
    }
    const unsigned char *p = field_at(vm, fr, in, false, &size);
    if (p == NULL)
        return false;
    int32_t four;
    uint16_t two;
    uint64_t eight;
    switch (size) {
    case 1: fr->reg[in->a].u = *p; break;
    case 2: memcpy(&two, p, 2); fr->reg[in->a].u = two; break;
    case 4: memcpy(&four, p, 4); fr->reg[in->a].i = four; break;
    default: memcpy(&eight, p, 8); fr->reg[in->a].u = eight; break;
    }
    return true;
}

bool tg_struct_set(tg_vm *vm, tg_frame *fr, const tg_ins *in)
{
    size_t size;
    unsigned char *p = field_at(vm, fr, in, true, &size);
    if (p == NULL)
        return false;
    uint64_t v = fr->reg[in->a].u;
    uint32_t four = (uint32_t)v;
    uint16_t two = (uint16_t)v;
    switch (size) {
    case 1: *p = (unsigned char)v; break;
    case 2: memcpy(p, &two, 2); break;
    case 4: memcpy(p, &four, 4); break;
    default: memcpy(p, &v, 8); break;
    }
    return true;
}
