/* fixture.h: what every unit test starts from: a context, the diagnostics it rendered, a way to survive tg_fail(), and
 * an allocator that fails on request. */
#ifndef TG_TEST_FIXTURE_H
#define TG_TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ir/ctx.h"
#include "ir/diag.h"
#include "ir/text.h"

typedef struct tg_fixture {
    tg_ctx *cx;
    tg_text log;                    /* every rendered diagnostic; tg_text_z(&f->log) is the string */
    jmp_buf jump;
} tg_fixture;

/* if (TG_UNWIND(f)) { tg_fail() was called; see f->cx->failure } else { what is tried }.
 * Variables changed in between and read after a jump must be volatile. */
#define TG_UNWIND(f) setjmp(*tg_test_arm(f))

static inline jmp_buf *tg_test_arm(tg_fixture *f)
{
    f->cx->unwind = &f->jump;
    return &f->jump;
}

static inline void tg_test_collect(void *user, const tirgen_diag *d)
{
    tg_fixture *f = user;
    tg_puts(&f->log, d->rendered);
}

static inline int tg_test_setup(void **state)
{
    tg_fixture *f = calloc(1, sizeof(*f));
    if (f == NULL) return -1;
    f->cx = tg_ctx_new(NULL);
    if (f->cx == NULL) return -1;
    f->log = tg_text_new(f->cx);
    f->cx->diag = tg_test_collect;
    f->cx->diag_user = f;
    *state = f;
    return 0;
}

static inline int tg_test_teardown(void **state)
{
    tg_fixture *f = *state;
    tg_ctx_free(f->cx);
    free(f);
    return 0;
}

/* Forget what was reported so far. */
static inline void tg_test_clear_log(tg_fixture *f)
{
    f->log = tg_text_new(f->cx);
    f->cx->nerrors = 0;
}

/* An allocator over malloc() that gives @p left blocks and then fails; live counts what was not given back. */
typedef struct tg_test_budget { long left, live; } tg_test_budget;

static inline void *tg_test_alloc(void *user, size_t size)
{
    tg_test_budget *b = user;
    if (b->left == 0) return NULL;
    --b->left;
    ++b->live;
    return malloc(size);
}

static inline void tg_test_free(void *user, void *p)
{
    tg_test_budget *b = user;
    --b->live;
    free(p);
}

static inline tg_allocator tg_test_allocator(tg_test_budget *b)
{
    return (tg_allocator){ tg_test_alloc, tg_test_free, b };
}

#endif
