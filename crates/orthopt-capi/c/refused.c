/* Every wrong input is an error with a code and a message that says what to do, and leaks nothing. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "orthopt.h"

static int wrong;

static void refused(orthopt_handle *found, int code, const char *says) {
    if (orthopt_code(found) != code || !strstr(orthopt_text(found), says) || orthopt_x(found, NULL, NULL)) {
        printf("expected %d, ...%s...\n     got %d, %s: %s\n", code, says, orthopt_code(found), orthopt_kind(found),
               orthopt_text(found));
        wrong = 1;
    }
    orthopt_free(found);
}

static int fails(void *context, size_t rows, size_t cols, const double *x, double *value, double *gradient) {
    (void)context, (void)rows, (void)cols, (void)x, (void)value, (void)gradient;
    return 1;
}

static int no_number(void *context, size_t rows, size_t cols, const double *x, double *value, double *gradient) {
    (void)context, (void)x;
    *value = NAN;
    memset(gradient, 0, rows * cols * sizeof *gradient);
    return 0;
}

int main(void) {
    double a[12] = {1, 2, 3, 4, 5, 6.5, 7, 8, 9, 10, 11, 12.5}, nan[4] = {1, 2, NAN, 4}, skew[4] = {1, 2, 3, 4};
    orthopt_matrix m = {a, 4, 3, 3, 1}, bad = m;
    orthopt_data data = {.dense = &m}, other = {.dense = &bad}, none = {0};
    const char *r1 = "{\"rank\": 1}";

    refused(orthopt_solve(NULL, &data, r1, NULL), ORTHOPT_ARGUMENT, "problem is null");
    refused(orthopt_solve("l0-pca", NULL, r1, NULL), ORTHOPT_ARGUMENT, "data is null");
    refused(orthopt_solve("l0-pca", &none, r1, NULL), ORTHOPT_ARGUMENT, "one of data.dense, data.sparse and data.named");
    refused(orthopt_solve("l0-pca", &(orthopt_data){.dense = &m, .named = "x.csv"}, r1, NULL), ORTHOPT_ARGUMENT, "one of");
    refused(orthopt_solve("l0-pcb", &data, r1, NULL), ORTHOPT_OPTION, "did you mean 'l0-pca'?");
    refused(orthopt_solve("\xff", &data, r1, NULL), ORTHOPT_ARGUMENT, "UTF-8");
    refused(orthopt_solve("l0-pca", &data, "{\"rank\": 1", NULL), ORTHOPT_ARGUMENT, "options are a JSON object such as");
    refused(orthopt_solve("l0-pca", &data, "[1]", NULL), ORTHOPT_ARGUMENT, "options are a JSON object such as");
    refused(orthopt_solve("l0-pca", &data, "{\"ranks\": 1}", NULL), ORTHOPT_OPTION, "there is no option 'ranks'");
    refused(orthopt_solve("l0-pca", &data, "{\"rank\": 9}", NULL), ORTHOPT_OPTION, "choose a rank from 1 to 3");
    refused(orthopt_solve("l0-pca", &data, "{\"rank\": -1}", NULL), ORTHOPT_OPTION, "expected a whole number");
    refused(orthopt_solve("l0-pca", &data, "{\"lambda\": \"much\"}", NULL), ORTHOPT_OPTION, "lambda is much");
    refused(orthopt_solve("l0-pca", &data, "{\"rank\": {}}", NULL), ORTHOPT_OPTION, "rank is {}");
    refused(orthopt_solve("l0-pca", &data, "{\"save_x\": \"x.npy\"}", NULL), ORTHOPT_OPTION, "there is no option 'save_x'");
    refused(orthopt_solve("l0-pca", &data, "{\"rank\": 1, \"signature\": 2}", NULL), ORTHOPT_OPTION, "signature does not apply");
    refused(orthopt_solve("l0-pca", &(orthopt_data){.named = "no/such.csv"}, r1, NULL), ORTHOPT_DATA, "no/such.csv");

    bad.values = NULL;
    refused(orthopt_solve("l0-pca", &other, r1, NULL), ORTHOPT_ARGUMENT, "values of data.dense is null");
    bad = m, bad.rows = 0;
    refused(orthopt_solve("l0-pca", &other, r1, NULL), ORTHOPT_ARGUMENT, "at least one row and one column");
    bad = m, bad.row_stride = 1;
    refused(orthopt_solve("l0-pca", &other, r1, NULL), ORTHOPT_ARGUMENT, "3 and 1 by rows, 1 and 4 by columns");
    bad = m, bad.rows = SIZE_MAX / 2;
    refused(orthopt_solve("l0-pca", &other, r1, NULL), ORTHOPT_ARGUMENT, "no memory is that large");
    bad = (orthopt_matrix){nan, 2, 2, 2, 1};
    refused(orthopt_solve("l0-pca", &other, r1, NULL), ORTHOPT_DATA, "row 2, column 1");
    bad.values = skew;
    refused(orthopt_solve("l0-pca", &other, "{\"rank\": 1, \"gram\": true}", NULL), ORTHOPT_DATA, "not symmetric");

    int64_t at[4] = {0, 1, 2, 3}, where[3] = {0, 5, 2};
    double of[3] = {1, 2, 3};
    orthopt_sparse s = {4, 3, 3, at, where, of, false};
    orthopt_data sparse = {.sparse = &s};
    refused(orthopt_solve("l0-pca", &sparse, r1, NULL), ORTHOPT_OPTION, "row indices from 0 to 3");
    s.nnz = 2;
    refused(orthopt_solve("l0-pca", &sparse, r1, NULL), ORTHOPT_OPTION, "4 pointers that rise from 0 to 2");
    s = (orthopt_sparse){3, 4, 3, at, where, of, true};
    refused(orthopt_solve("l0-pca", &sparse, r1, NULL), ORTHOPT_ARGUMENT, "columns from 0 to 3");
    s.values = NULL;
    refused(orthopt_solve("l0-pca", &sparse, r1, NULL), ORTHOPT_ARGUMENT, "values of data.sparse is null");

    orthopt_matrix x = {a, 3, 1, 1, 1};
    refused(orthopt_certify("l0-pca", &data, NULL, NULL, NULL), ORTHOPT_ARGUMENT, "x is null");
    refused(orthopt_certify("l0-pca", &data, &x, NULL, NULL), ORTHOPT_OPTION, "not orthonormal");
    refused(orthopt_bound("l0-pca", &data, &x, "{\"rank\": 2}", NULL), ORTHOPT_OPTION, "X has 1 columns; leave the rank out");
    refused(orthopt_bound("mcp-pca", &data, NULL, r1, NULL), ORTHOPT_OPTION, "bound");
    refused(orthopt_bound("l0-pca", &data, NULL, "{\"nodes\": -1}", NULL), ORTHOPT_OPTION, "nodes is -1");

    orthopt_matrix shape = {NULL, 4, 2, 0, 0}, wide = {NULL, 2, 4, 0, 0};
    refused(orthopt_minimize(NULL, NULL, &shape, NULL, NULL), ORTHOPT_ARGUMENT, "fun is null");
    refused(orthopt_minimize(fails, NULL, NULL, NULL, NULL), ORTHOPT_ARGUMENT, "x0 is null");
    refused(orthopt_minimize(fails, NULL, &shape, NULL, NULL), ORTHOPT_CALLBACK, "fun has returned");
    refused(orthopt_minimize(no_number, NULL, &shape, NULL, NULL), ORTHOPT_DATA, "give a start x0 where");
    refused(orthopt_minimize(no_number, NULL, &wide, NULL, NULL), ORTHOPT_OPTION, "2");
    refused(orthopt_minimize(no_number, NULL, &shape, "{\"penalty\": \"l1\"}", NULL), ORTHOPT_OPTION, "the weight of the penalty l1");
    refused(orthopt_list("things"), ORTHOPT_OPTION, "choose one of: problems");
    orthopt_free(NULL);
    if (!wrong) puts("all refused");
    return wrong;
}
