/* The other functions; several threads at once; ends that are asked for. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include "orthopt.h"

#define CHECK(holds, handle) \
    if (!(holds)) printf("line %d: %s\n", __LINE__, orthopt_text(handle)), exit(1)

static const orthopt_data pitprops = {.named = "builtin:pitprops"};
static const char *counts = "{\"rank\": 2, \"lambda\": 0.1, \"effort\": \"quick\"}";

static void *solves(void *found) {
    for (int k = 0; k < 3; k++) {
        orthopt_handle *one = orthopt_solve("l0-pca", &pitprops, counts, NULL);
        if (k < 2) orthopt_free(one);
        else *(orthopt_handle **)found = one;
    }
    return NULL;
}

static void threads(void) {
    enum { MANY = 4 };
    pthread_t thread[MANY];
    orthopt_handle *found[MANY];
    for (int t = 0; t < MANY; t++) pthread_create(&thread[t], NULL, solves, &found[t]);
    for (int t = 0; t < MANY; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < MANY; t++) {
        size_t rows, cols;
        const double *x = orthopt_x(found[t], &rows, &cols), *first = orthopt_x(found[0], NULL, NULL);
        CHECK(x && rows == 13 && cols == 2 && !memcmp(x, first, rows * cols * sizeof *x), found[t]);
    }
    for (int t = 0; t < MANY; t++) orthopt_free(found[t]);
}

static void bounds(void) {
    orthopt_handle *best = orthopt_solve("l0-pca", &pitprops, counts, NULL);
    orthopt_matrix x = {.row_stride = 2, .col_stride = 1};
    x.values = orthopt_x(best, &x.rows, &x.cols);
    orthopt_handle *bound = orthopt_bound("l0-pca", &pitprops, &x, "{\"lambda\": 0.1, \"time_limit\": 5}", NULL);
    CHECK(orthopt_number(bound, "bound") <= orthopt_number(best, "objective") + 1e-9, bound);
    CHECK(orthopt_x(bound, NULL, NULL), bound);
    orthopt_handle *point = orthopt_certify("l0-pca", &pitprops, &x, "{\"lambda\": 0.1}", NULL);
    CHECK(orthopt_number(point, "certificate.pairs_total") > 50 && orthopt_number(point, "feasibility") < 1e-12, point);
    CHECK(isnan(orthopt_number(point, "nothing")), point);
    orthopt_handle *own = orthopt_bound("l0-pca", &pitprops, NULL, "{\"rank\": 1, \"nonzeros\": 3, \"time_limit\": 5}", NULL);
    CHECK(strstr(orthopt_text(own), "\"proof\":\"optimal\""), own);
    orthopt_handle *list = orthopt_list("problems");
    CHECK(strstr(orthopt_text(list), "\"l0-pca\"") && strcmp(orthopt_version(), ""), list);
    orthopt_free(best), orthopt_free(bound), orthopt_free(point), orthopt_free(own), orthopt_free(list);
}

/* The same numbers in any layout have the same bits of X. */
static void layouts(void) {
    enum { M = 40, N = 9, APART = 60 };
    static double rows[M * N], columns[M * N], apart[M * APART], by_rows[M * N], by_columns[M * N];
    static int64_t ends[M + 1], which[M * N], column_ends[N + 1], row[M * N];
    for (int i = 0; i < M; i++) {
        ends[i + 1] = ends[i];
        for (int j = 0; j < N; j++) {
            double v = (i + 2 * j) % 4 ? cos(i * (j % 3 + 1) + 0.1 * j) : 0;
            rows[i * N + j] = columns[j * M + i] = apart[i * APART + 2 * j] = v;
            if (v != 0) which[ends[i + 1]] = j, by_rows[ends[i + 1]++] = v;
        }
    }
    for (int j = 0; j < N; j++) {
        column_ends[j + 1] = column_ends[j];
        for (int i = 0; i < M; i++)
            if (rows[i * N + j] != 0) row[column_ends[j + 1]] = i, by_columns[column_ends[j + 1]++] = rows[i * N + j];
    }
    orthopt_matrix dense[3] = {{rows, M, N, N, 1}, {columns, M, N, 1, M}, {apart, M, N, APART, 2}};
    orthopt_sparse sparse[2] = {{M, N, ends[M], ends, which, by_rows, true},
                                {M, N, ends[M], column_ends, row, by_columns, false}};
    const char *options[2] = {"{\"rank\": 2, \"nonzeros\": 3, \"center\": true, \"effort\": \"quick\"}",
                              "{\"rank\": 2, \"lambda\": 0.5, \"scale\": \"unit\", \"storage\": \"gram\"}"};
    for (int o = 0; o < 2; o++) {
        orthopt_handle *found[5];
        for (int k = 0; k < 5; k++) {
            orthopt_data data = {.dense = k < 3 ? &dense[k] : NULL, .sparse = k < 3 ? NULL : &sparse[k - 3]};
            found[k] = orthopt_solve("l0-pca", &data, options[o], NULL);
            const double *x = orthopt_x(found[k], NULL, NULL), *first = orthopt_x(found[k < 3 ? 0 : 3], NULL, NULL);
            CHECK(x && !memcmp(x, first, 2 * N * sizeof *x), found[k]);
        }
        for (int k = 0; k < 5; k++) orthopt_free(found[k]);
    }
}

/* -x'Dx/2 with D = diag(n, ..., 2, 1): the minimum is minus half the sum of the largest */
static int rayleigh(void *calls, size_t rows, size_t cols, const double *x, double *value, double *gradient) {
    ++*(int *)calls, *value = 0;
    for (size_t i = 0; i < rows * cols; i++) {
        double d = rows - i / cols;
        gradient[i] = -d * x[i], *value -= d * x[i] * x[i] / 2;
    }
    return 0;
}

static void own_functions(void) {
    int calls = 0;
    orthopt_matrix shape = {NULL, 30, 3, 0, 0};
    orthopt_handle *found = orthopt_minimize(rayleigh, &calls, &shape, "{\"certify\": true}", NULL);
    CHECK(fabs(orthopt_number(found, "objective") + 43.5) < 1e-8, found);
    CHECK(orthopt_number(found, "evaluations") == calls, found);
    double start[4] = {1, 0, 0, 1};
    orthopt_matrix x0 = {start, 2, 2, 2, 1};
    orthopt_handle *square = orthopt_minimize(rayleigh, &calls, &x0, "{\"signature\": 1, \"max_iters\": 3}", NULL);
    CHECK(orthopt_code(square) == 0 && orthopt_number(square, "feasibility") < 1e-9, square);
    orthopt_free(found), orthopt_free(square);
}

static int seen(void *count, const orthopt_progress *now) {
    return ++*(int *)count >= 3 && now->seconds > 0;
}

static void *later(void *flag) {
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void ends(void) {
    orthopt_data large = {.named = "randn:200:100:1"};
    const char *long_run = "{\"rank\": 10, \"nonzeros\": 20, \"time_limit\": 600, \"effort\": \"thorough\"}";
    int count = 0, flag = 0;
    orthopt_handle *shown = orthopt_solve("l0-pca", &large, long_run, &(orthopt_watch){.progress = seen, .context = &count});
    CHECK(count >= 3 && strstr(orthopt_text(shown), "\"status\":\"interrupted\"") && orthopt_x(shown, NULL, NULL), shown);
    pthread_t thread;
    pthread_create(&thread, NULL, later, &flag);
    orthopt_handle *flagged = orthopt_solve("l0-pca", &large, long_run, &(orthopt_watch){.cancel = &flag});
    CHECK(orthopt_number(flagged, "seconds") < 60, flagged);
    pthread_join(thread, NULL);
    orthopt_free(shown), orthopt_free(flagged);
}

int main(void) {
    threads(), layouts(), bounds(), own_functions(), ends();
    puts("all as expected");
}
