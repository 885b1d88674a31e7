/* start.c: the first instructions on the emulated Cortex-M4F, before newlib's own start. */
#include <stdint.h>
#include <string.h>

extern uint8_t stack_top, data_start, data_end, data_load;
extern void _start(void);
void reset(void);

static void stop(void)
{
    for (;;) { }
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)stop, (void *)stop, (void *)stop, (void *)stop, (void *)stop,
};

void reset(void)
{
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20; /* the floating point unit */
    memcpy(&data_start, &data_load, (size_t)(&data_end - &data_start));
    _start();
    stop();
}
