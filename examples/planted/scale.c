#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void print_label(const char *owner)
{
    char label[32];
    /* Planted: a longer name runs over the end. */
    strcpy(label, owner);
    puts(label);
}

void show_label(const char *text)
{
    /* Planted: a percent sign in the text is an instruction. */
    printf(text);
}

double *grow(double *weights, size_t count)
{
    /* Planted: when there is no memory, the old block is lost. */
    weights = realloc(weights, count * sizeof *weights);
    return weights;
}
