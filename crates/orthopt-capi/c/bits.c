/* bits PROBLEM OPTIONS FILE ROWS COLS: solves with the numbers of FILE, row by row, and prints the bits of X. COLS entries of
   0.0 in FILE are left out with ROWS < 0, as a sparse matrix of -ROWS rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "orthopt.h"

int main(int count, char **given) {
    if (count != 6) return 2;
    long rows = labs(atol(given[4])), cols = atol(given[5]), nnz = 0;
    double *a = malloc(rows * cols * sizeof *a), *values = malloc(rows * cols * sizeof *values);
    int64_t *pointers = calloc(rows + 1, sizeof *pointers), *indices = malloc(rows * cols * sizeof *indices);
    FILE *file = fopen(given[3], "rb");
    if (!file || fread(a, sizeof *a, rows * cols, file) != (size_t)(rows * cols)) return 3;
    fclose(file);
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < cols; j++)
            if (a[i * cols + j] != 0) indices[nnz] = j, values[nnz++] = a[i * cols + j];
        pointers[i + 1] = nnz;
    }
    orthopt_matrix dense = {a, rows, cols, cols, 1};
    orthopt_sparse sparse = {rows, cols, nnz, pointers, indices, values, true};
    orthopt_data data = {0};
    if (atol(given[4]) < 0) data.sparse = &sparse;
    else data.dense = &dense;
    orthopt_handle *found = orthopt_solve(given[1], &data, given[2], NULL);
    if (orthopt_code(found)) return fprintf(stderr, "%s\n", orthopt_text(found)), 1;
    size_t n, r;
    const double *x = orthopt_x(found, &n, &r);
    for (size_t k = 0; k < n * r; k++) printf("%016" PRIx64 "\n", *(const uint64_t *)&x[k]);
    orthopt_free(found), free(a), free(values), free(pointers), free(indices);
}
