/* test_target.c: target strings as TVM writes them, and what is wrong with others. */
#include "fixture.h"
#include "schedule/schedule.h"

static const struct {
    const char *text;
    int vector_bytes, vector_registers;
    bool dsp;
} good[] = {
    { "c", 0, 0, false },
    { "", 0, 0, false },
    { "c -mcpu=cortex-m4", 4, 32, true },
    { "c -mcpu=cortex-m0plus", 4, 8, false },
    { "c -keys=arm_cpu,cpu -mcpu=cortex-m7 -model=stm32f746xx", 4, 32, true },
    { "c -keys=cpu -link-params=0 -runtime=crt -executor=aot -interface-api=c -unpacked-api=1", 0, 0, false },
    { "c --mcpu=cortex-a53", 16, 32, false },
    { "c -mcpu=skylake-avx512", 64, 32, false },
    { "c -mcpu=skylake", 32, 16, false },
    { "c -mcpu=x86-64-v3", 32, 16, false },
    { "c -mattr=+avx2,+fma", 32, 16, false },
    { "c -mattr=+avx512f,-avx2", 64, 32, false },
    { "c -mattr=+dsp", 0, 0, true },
    { "c -mcpu=something-nobody-knows", 0, 0, false },
};

static void what_targets_say(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(good); ++i) {
        tg_target t;
        if (!tg_target_parse(f->cx, good[i].text, &t)) fail_msg("%s: %s", good[i].text, tg_text_z(&f->log));
        if (t.vector_bytes != good[i].vector_bytes || t.vector_registers != good[i].vector_registers ||
            t.dsp != good[i].dsp)
            fail_msg("%s: %d bytes, %d registers, dsp %d", good[i].text, t.vector_bytes, t.vector_registers, t.dsp);
        assert_string_equal(t.kind, "c");
    }
    tg_target t;
    assert_true(tg_target_parse(f->cx, NULL, &t));
    assert_true(tg_target_parse(f->cx, "c -mcpu=native", &t));
    assert_true(tg_target_parse(f->cx, "c -mcpu=cortex-m4 -mattr=+dsp", &t));
    assert_string_equal(t.mcpu, "cortex-m4");
    assert_string_equal(t.mattr, "+dsp");
}

static const struct {
    const char *text, *message;
} bad[] = {
    { "llvm -mcpu=skylake", "target: kind \"llvm\" is not known, only \"c\" is" },
    { "c -mcup=cortex-m4", "target: unknown option \"-mcup\"" },
    { "c cortex-m4", "target: unknown option \"cortex-m4\"" },
    { "c -vector-width=8", "target: unknown option \"-vector-width\"" },
};

static void what_is_wrong_with_a_target(void **state)
{
    tg_fixture *f = *state;
    for (size_t i = 0; i < TG_COUNT(bad); ++i) {
        tg_target t;
        tg_test_clear_log(f);
        assert_false(tg_target_parse(f->cx, bad[i].text, &t));
        if (strstr(tg_text_z(&f->log), bad[i].message) == NULL) fail_msg("%s: %s", bad[i].text, tg_text_z(&f->log));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_targets_say, tg_test_setup, tg_test_teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_with_a_target, tg_test_setup, tg_test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
