/* main.c: runs the digits network on images of the test split and shows what it sees.
 *
 *     digits test_split.txt [COUNT]        draws the first COUNT images (3) with class and scores, then the accuracy
 *     digits test_split.txt --accuracy     the accuracy alone
 *
 * A line of the file holds the right answer and 64 pixels, row by row, each a digit of base 17: 0 is paper, g (16) is ink.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvmgen_digits.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10 };

static const char alphabet[] = "0123456789abcdefg";

/* The network's input is 0 to 1. @return 0 when the text is no image. */
static int read_image(const char *text, float image[PIXELS])
{
    for (int i = 0; i < PIXELS; ++i) {
        const char *at = text[i] == '\0' ? NULL : strchr(alphabet, text[i]);
        if (at == NULL) return 0;
        image[i] = (float)(at - alphabet) / 16.0f;
    }
    return 1;
}

static void draw(const float image[PIXELS])
{
    static const char ink[] = " .:-=+*#%@";
    for (int row = 0; row < SIDE; ++row) {
        printf("    |");
        for (int column = 0; column < SIDE; ++column) {
            char c = ink[(int)(image[row * SIDE + column] * 9.0f + 0.5f)];
            printf("%c%c", c, c);       /* twice: a character is half as wide as it is high */
        }
        printf("|\n");
    }
}

static int best(const float score[CLASSES])
{
    int at = 0;
    for (int i = 1; i < CLASSES; ++i)
        if (score[i] > score[at]) at = i;
    return at;
}

static void show(const float image[PIXELS], const float score[CLASSES], int label)
{
    int seen = best(score);
    draw(image);
    printf("    this is a %d (the label says %d)\n", seen, label);
    for (int i = 0; i < CLASSES; ++i) {
        printf("    %d %6.2f %% ", i, (double)score[i] * 100.0);
        for (int bar = 0; bar < (int)(score[i] * 40.0f + 0.5f); ++bar) putchar('#');
        putchar('\n');
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    float image[PIXELS], score[CLASSES];
    struct tvmgen_digits_inputs inputs = { image };
    struct tvmgen_digits_outputs outputs = { score };
    char line[128];
    int label, count = 3, images = 0, right = 0;
    FILE *file;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: digits test_split.txt [COUNT | --accuracy]\n");
        return 2;
    }
    if (argc == 3) count = strcmp(argv[2], "--accuracy") == 0 ? 0 : atoi(argv[2]);
    file = fopen(argv[1], "r");
    if (file == NULL) {
        perror(argv[1]);
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] < '0' || line[0] > '9' || line[1] != ' ' || !read_image(line + 2, image)) {
            fprintf(stderr, "%s: line %d is no image\n", argv[1], images + 1);
            fclose(file);
            return 1;
        }
        label = line[0] - '0';
        if (tvmgen_digits_run(&inputs, &outputs) != 0) {
            fprintf(stderr, "the network failed\n");
            fclose(file);
            return 1;
        }
        if (images < count) show(image, score, label);
        right += best(score) == label;
        ++images;
    }
    fclose(file);
    if (images == 0) {
        fprintf(stderr, "%s: holds no image\n", argv[1]);
        return 1;
    }
    printf("accuracy over %d digits never seen in training: %d right, %.2f %%\n", images, right, 100.0 * right / images);
    return 0;
}
