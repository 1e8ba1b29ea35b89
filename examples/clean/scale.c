#include <stdio.h>
#include <stdlib.h>

void print_label(const char *owner)
{
    char label[32];
    snprintf(label, sizeof label, "%s", owner);
    puts(label);
}

void show_label(const char *text)
{
    printf("%s", text);
}

double *grow(double *weights, size_t count)
{
    double *grown = realloc(weights, count * sizeof *weights);
    return grown != NULL ? grown : weights;
}
