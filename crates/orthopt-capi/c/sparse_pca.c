/* Three sparse components of 200 samples of 20 variables, five nonzeros in each, and the gap to the best F there is.
   cc sparse_pca.c $(pkg-config --cflags --libs orthopt) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "orthopt.h"

enum { M = 200, N = 20 };

int main(void) {
    double *a = malloc(M * N * sizeof *a);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) a[i * N + j] = sin(i * (j % 4 + 1)) + 0.3 * cos(i * (j + 3.0));

    orthopt_matrix matrix = {.values = a, .rows = M, .cols = N, .row_stride = N, .col_stride = 1};
    orthopt_data data = {.dense = &matrix};
    const char *options = "{\"rank\": 3, \"nonzeros\": 5, \"center\": true, \"effort\": \"quick\"}";
    orthopt_handle *found = orthopt_solve("l0-pca", &data, options, NULL);
    if (orthopt_code(found)) {
        fprintf(stderr, "%s: %s\n", orthopt_kind(found), orthopt_text(found));
        return EXIT_FAILURE;
    }
    size_t rows, cols;
    const double *x = orthopt_x(found, &rows, &cols);
    printf("F = %.6f, %.0f nonzeros\n", orthopt_number(found, "objective"), orthopt_number(found, "nnz"));
    for (size_t k = 0; k < cols; k++) {
        printf("component %zu:", k + 1);
        for (size_t i = 0; i < rows; i++)
            if (x[i * cols + k] != 0) printf(" %zu", i);
        printf("\n");
    }
    orthopt_free(found);
    free(a);
}
