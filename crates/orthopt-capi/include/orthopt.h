/* orthopt: minimisation of nonsmooth functions under orthogonality constraints, sparse PCA with orthogonal components for one.

   Six functions: orthopt_solve, orthopt_bound, orthopt_certify, orthopt_minimize, orthopt_list, orthopt_free. All but the last
   return a handle that is never null: orthopt_code tells whether it holds a result or an error. What the accessors return lives
   until orthopt_free.

   Options are a JSON object or null: {"rank": 3, "nonzeros": 5, "center": true}. Their names are those of docs/options.md with
   underscores, orthopt_list("options") lists them, and matrices are lists of rows. What does not apply is refused.

   Data stay where they are and are not copied unless they are to be centred, scaled or transposed. Functions may be called
   from several threads at once. The same options and the same seed give the same bits of X, as in the command, Python and R.

   Made by `cargo xtask generate` from crates/orthopt-capi/src. */

#ifndef ORTHOPT_H
#define ORTHOPT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Code: an argument is null, or has a shape, strides or index arrays that do not do.
#define ORTHOPT_ARGUMENT 1

// Code: options that are no JSON, do not exist, are out of range or do not apply.
#define ORTHOPT_OPTION 2

// Code: data that cannot be read, are not finite, not symmetric, too large or too small.
#define ORTHOPT_DATA 3

// Code: a factorisation failed, or two results contradict each other.
#define ORTHOPT_NUMERICAL 4

// Code: a function of the caller has failed.
#define ORTHOPT_CALLBACK 5

// Code: a defect of the library.
#define ORTHOPT_DEFECT 6

// A result, or an error.
typedef struct orthopt_handle orthopt_handle;

// A matrix; strides are numbers of elements, above 0.
typedef struct {
  // Entry (i, j) is `values[i * row_stride + j * col_stride]`.
  const double *values;
  size_t rows;
  size_t cols;
  size_t row_stride;
  size_t col_stride;
} orthopt_matrix;

// A sparse matrix: compressed columns, or compressed rows with `by_rows`.
typedef struct {
  size_t rows;
  size_t cols;
  // Number of entries.
  size_t nnz;
  // `cols + 1` numbers from 0 to `nnz`, or `rows + 1` with `by_rows`.
  const int64_t *pointers;
  // `nnz` rows, which rise in each column, or columns with `by_rows`; from 0.
  const int64_t *indices;
  // `nnz` values.
  const double *values;
  bool by_rows;
} orthopt_sparse;

// Data. One of `dense`, `sparse` and `named` is not null.
typedef struct {
  // Rows are samples and columns are variables; or C itself with the option `gram`.
  const orthopt_matrix *dense;
  const orthopt_sparse *sparse;
  // A file, a generator or a table, as the command takes it: `builtin:pitprops`.
  const char *named;
  // A name for each column, or null.
  const char *const *names;
} orthopt_data;

// How far a run is.
typedef struct {
  // Seconds since the run began.
  double seconds;
  // F now; infinite before there is a point.
  double objective;
  // The lower bound of F, in `orthopt_bound`; minus infinity before there is one.
  double bound;
  // Iterations, or nodes in `orthopt_bound`.
  uint64_t iterations;
} orthopt_progress;

// Who waits; every field may be null.
typedef struct {
  // The call ends with the best X so far soon after this is not 0; other threads and handlers of signals may set it.
  int32_t *cancel;
  // Called some ten times a second on the thread that called; another value than 0 ends the call like `cancel`.
  int32_t (*progress)(void *context, const orthopt_progress *now);
  // Handed to `progress`.
  void *context;
} orthopt_watch;

// f(X), and its gradient: all partial derivatives as if there were no constraint. `x` and `gradient` are rows x cols, row by
// row. Another value than 0 says that the function has failed and ends the call with `ORTHOPT_CALLBACK`.
typedef int32_t (*orthopt_fun)(void *context, size_t rows, size_t cols, const double *x, double *value, double *gradient);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Minimises F(X) of a problem with this name over X'X = I, or X'JX = J. The JSON is that of `orthopt solve --json`, without x.
orthopt_handle *orthopt_solve(const char *problem,
                              const orthopt_data *data,
                              const char *options,
                              const orthopt_watch *watch);

// Bounds F from below over all feasible X. `x` is the X whose gap is asked for, n x r, or null: then one is searched for first.
// The JSON is that of `orthopt bound --json`; X is the best known. Own options: `time_limit` (60 seconds) and `nodes`.
orthopt_handle *orthopt_bound(const char *problem,
                              const orthopt_data *data,
                              const orthopt_matrix *x,
                              const char *options,
                              const orthopt_watch *watch);

// Checks an X: feasibility, criticality, block-2 stationarity. The JSON is that of `orthopt certify --json`.
orthopt_handle *orthopt_certify(const char *problem,
                                const orthopt_data *data,
                                const orthopt_matrix *x,
                                const char *options,
                                const orthopt_watch *watch);

// Minimises f(X) + h(X) of a function of your own over X'X = I, or f(X) over X'JX = J with the option `signature`. `x0` is the
// start; with `values` null its shape alone counts and starts are random. `fun` is called on this thread with `context`. Own
// option: `lipschitz`, that of the gradient.
orthopt_handle *orthopt_minimize(orthopt_fun fun,
                                 void *context,
                                 const orthopt_matrix *x0,
                                 const char *options,
                                 const orthopt_watch *watch);

// Names with one line each, as JSON: `problems`, `solvers`, `penalties`, `maps`, `starts`, `working-sets`, `sides`, `options`,
// `constants`.
orthopt_handle *orthopt_list(const char *list);

// Frees a handle and all that its functions have returned; null is nothing.
// A handle is freed once.
void orthopt_free(orthopt_handle *handle);

// 0, or the code of an error.
// A handle that is not freed.
int32_t orthopt_code(const orthopt_handle *handle);

// The kind of an error, such as `RankError`; empty where there is none.
// A handle that is not freed.
const char *orthopt_kind(const orthopt_handle *handle);

// The JSON of the result, or the message of an error.
// A handle that is not freed.
const char *orthopt_text(const orthopt_handle *handle);

// X, row by row, with its shape; null and 0 x 0 where there is none. `rows` and `cols` may be null.
// A handle that is not freed.
const double *orthopt_x(const orthopt_handle *handle, size_t *rows, size_t *cols);

// A number of the JSON by its name, `objective` or `certificate.pairs_total`; NaN where there is none.
// A handle that is not freed.
double orthopt_number(const orthopt_handle *handle, const char *name);

// The version of the library.
const char *orthopt_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ORTHOPT_H */
