/* main.c: firmware that runs the digits network on a Cortex-M4F, reads images from the host's file (semihosting), and counts the
 * instructions of one inference with the SysTick timer.
 *
 *     firmware test_split.txt
 *
 * A line of the file holds the right answer and 64 pixels, each a digit of base 17. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tvmgen_digits.h"

enum { PIXELS = 64, CLASSES = 10 };

/* The emulator runs one instruction a nanosecond (-icount shift=0), and the timer counts a clock of 25 MHz. */
enum { INSTRUCTIONS_A_TICK = 40, LAST_TICK = 0xffffff };

static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010u;   /* control, reload, value */

static void start_timer(void)
{
    systick[1] = LAST_TICK;
    systick[2] = 0;
    systick[0] = 5;             /* the processor's clock, no interrupt */
}

static uint32_t instructions(void)
{
    return (LAST_TICK - systick[2]) * INSTRUCTIONS_A_TICK;
}

/* The network's input is 0 to 1. @return 0 when the text is no image. */
static int read_image(const char *text, float image[PIXELS])
{
    static const char alphabet[] = "0123456789abcdefg";
    for (int i = 0; i < PIXELS; ++i) {
        const char *at = text[i] == '\0' ? NULL : strchr(alphabet, text[i]);
        if (at == NULL) return 0;
        image[i] = (float)(at - alphabet) / 16.0f;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static float image[PIXELS], score[CLASSES];
    struct tvmgen_digits_inputs inputs = { image };
    struct tvmgen_digits_outputs outputs = { score };
    char line[128];
    int images = 0, right = 0;
    uint32_t took = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        printf("usage: firmware test_split.txt\n");
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        int best = 0;
        if (!read_image(line + 2, image)) return 1;
        start_timer();
        if (tvmgen_digits_run(&inputs, &outputs) != 0) return 1;
        took = instructions();
        for (int i = 1; i < CLASSES; ++i)
            if (score[i] > score[best]) best = i;
        right += best == line[0] - '0';
        ++images;
    }
    fclose(file);
    printf("workspace: %d bytes\n", TVMGEN_DIGITS_WORKSPACE_SIZE);
    printf("one inference: about %lu thousand instructions\n", (unsigned long)(took + 500) / 1000);
    printf("accuracy over %d digits never seen in training: %d right, %.2f %%\n", images, right, 100.0 * right / images);
    return 0;
}
