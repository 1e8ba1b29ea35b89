#include <stdio.h>
#include <stdlib.h>

static char label[32];

void set_label(const char *text)
{
    snprintf(label, sizeof label, "%s", text);
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
