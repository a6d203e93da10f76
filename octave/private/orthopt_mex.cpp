// The C library as one function of MATLAB and Octave:
//   [X, text] = orthopt_mex('solve', problem, data, options, names)
//   [X, text] = orthopt_mex('bound', problem, data, options, names, X)      X may be []
//   [X, text] = orthopt_mex('certify', problem, data, options, names, X)
//   [X, text] = orthopt_mex('minimize', fun, X0, options)                   X0 is a start, or [n r]
//   [X, text] = orthopt_mex('list', list)
// Options are JSON, and so is the text of a result. Data stay where they are: dense by columns, sparse compressed by columns.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mex.h"
#include "orthopt.h"

// Ctrl-C while the library works: it ends with the best X so far, and the function returns.
#ifdef HAVE_OCTAVE
#include <octave/quit.h>
static bool interrupted() { return octave_interrupt_state > 0; }
static void forget_interrupt() { octave_interrupt_state = 0, octave_signal_caught = 0; }
#else
extern "C" bool utIsInterruptPending(void);
extern "C" bool utSetInterruptPending(bool);
static bool interrupted() { return utIsInterruptPending(); }
static void forget_interrupt() { utSetInterruptPending(false); }
#endif

static_assert(sizeof(mwIndex) == sizeof(int64_t), "indices of sparse matrices have 64 bits");

static int look(void *, const orthopt_progress *) { return interrupted(); }

static std::string text_of(const mxArray *array, const char *what) {
    char *text = mxIsChar(array) ? mxArrayToString(array) : nullptr;
    if (!text) mexErrMsgIdAndTxt("orthopt:ArgumentError", "%s is not a text", what);
    std::string found(text);
    mxFree(text);
    return found;
}

// A matrix of doubles where it is.
static orthopt_matrix matrix_of(const mxArray *array, const char *what) {
    if (!mxIsDouble(array) || mxIsComplex(array) || mxIsSparse(array) || mxGetNumberOfDimensions(array) > 2)
        mexErrMsgIdAndTxt("orthopt:ArgumentError", "%s is not a full real matrix of doubles; double(full(...)) makes one", what);
    orthopt_matrix matrix;
    matrix.values = mxGetPr(array), matrix.rows = mxGetM(array), matrix.cols = mxGetN(array);
    matrix.row_stride = 1, matrix.col_stride = matrix.rows;
    return matrix;
}

// Data with all that they point at.
struct Data {
    orthopt_matrix dense;
    orthopt_sparse sparse;
    std::string named;
    std::vector<std::string> names;
    std::vector<const char *> pointers;
    orthopt_data data = {};

    Data(const mxArray *array, const mxArray *given) {
        if (mxIsChar(array)) {
            named = text_of(array, "data");
            data.named = named.c_str();
        } else if (mxIsSparse(array) && mxIsDouble(array) && !mxIsComplex(array)) {
            const mwIndex *columns = mxGetJc(array);
            sparse.rows = mxGetM(array), sparse.cols = mxGetN(array), sparse.nnz = columns[sparse.cols];
            sparse.pointers = reinterpret_cast<const int64_t *>(columns);
            sparse.indices = reinterpret_cast<const int64_t *>(mxGetIr(array));
            sparse.values = mxGetPr(array), sparse.by_rows = false;
            data.sparse = &sparse;
        } else {
            dense = matrix_of(array, "data");
            data.dense = &dense;
        }
        if (!mxIsCell(given) || mxGetNumberOfElements(given) == 0) return;
        const size_t size = mxGetNumberOfElements(given), columns = mxGetN(array);
        if (size != columns) mexErrMsgIdAndTxt("orthopt:ArgumentError", "there are %zu names for %zu columns", size, columns);
        for (size_t k = 0; k < size; k++) names.push_back(text_of(mxGetCell(given, k), "a name"));
        for (const std::string &name : names) pointers.push_back(name.c_str());
        data.names = pointers.data();
    }
};

// [f, G, id, message] = function (X), checked by orthopt_minimize; why it failed is kept.
struct Fun {
    mxArray *function;
    std::string id, failed;
};

static int call(void *context, size_t rows, size_t cols, const double *x, double *value, double *gradient) {
    Fun &fun = *static_cast<Fun *>(context);
    mxArray *point = mxCreateDoubleMatrix(rows, cols, mxREAL), *answer[4] = {};
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++) mxGetPr(point)[k * rows + i] = x[i * cols + k];
    mxArray *arguments[2] = {fun.function, point};
    bool raised = true;
    try {
        raised = mexCallMATLABWithTrap(4, answer, 2, arguments, "feval") != nullptr;
    } catch (...) { // an interrupt of Octave must not cross the library
    }
    if (raised) {
        fun.id = "orthopt:interrupted", fun.failed = "fun was interrupted";
    } else if (!mxIsEmpty(answer[3])) {
        fun.id = text_of(answer[2], "identifier"), fun.failed = text_of(answer[3], "message");
    } else {
        *value = mxGetScalar(answer[0]);
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < cols; k++) gradient[i * cols + k] = mxGetPr(answer[1])[k * rows + i];
    }
    mxDestroyArray(point);
    for (mxArray *one : answer)
        if (one) mxDestroyArray(one);
    return !fun.failed.empty();
}

static orthopt_handle *asked(const std::string &what, int count, const mxArray *given[], Fun &fun) {
    const orthopt_watch watch = {nullptr, look, nullptr};
    if (what == "list") return orthopt_list(text_of(given[1], "list").c_str());
    if (count < 4) mexErrMsgIdAndTxt("orthopt:ArgumentError", "too few arguments for %s", what.c_str());
    const std::string options = text_of(given[3], "options");
    if (what == "minimize") {
        fun.function = const_cast<mxArray *>(given[1]);
        orthopt_matrix start = matrix_of(given[2], "x0");
        if (start.rows == 1 && start.cols == 2) { // a shape: no X with X'X = I has it
            start.rows = static_cast<size_t>(start.values[0]), start.cols = static_cast<size_t>(start.values[1]);
            start.values = nullptr;
        }
        return orthopt_minimize(call, &fun, &start, options.c_str(), &watch);
    }
    const std::string problem = text_of(given[1], "problem");
    const Data data(given[2], given[4]);
    if (what == "solve") return orthopt_solve(problem.c_str(), &data.data, options.c_str(), &watch);
    const bool searches = mxIsEmpty(given[5]);
    const orthopt_matrix x = searches ? orthopt_matrix() : matrix_of(given[5], "X");
    if (what == "bound") return orthopt_bound(problem.c_str(), &data.data, searches ? nullptr : &x, options.c_str(), &watch);
    return orthopt_certify(problem.c_str(), &data.data, searches ? nullptr : &x, options.c_str(), &watch);
}

void mexFunction(int results, mxArray *result[], int count, const mxArray *given[]) {
    if (count < 2) mexErrMsgIdAndTxt("orthopt:ArgumentError", "too few arguments");
    static std::string id, message; // they outlive an error
    {
        Fun fun = {};
        orthopt_handle *found = asked(text_of(given[0], "the name of a function"), count, given, fun);
        const bool failed = orthopt_code(found) != 0;
        id = failed ? (fun.failed.empty() ? std::string("orthopt:") + orthopt_kind(found) : fun.id) : "";
        message = failed ? (fun.failed.empty() ? orthopt_text(found) : fun.failed) : "";
        if (id.empty()) id = "orthopt:CallbackError";
        if (!failed) {
            size_t rows, cols;
            const double *x = orthopt_x(found, &rows, &cols);
            result[0] = mxCreateDoubleMatrix(rows, cols, mxREAL);
            for (size_t i = 0; i < rows; i++)
                for (size_t k = 0; k < cols; k++) mxGetPr(result[0])[k * rows + i] = x[i * cols + k];
            if (results > 1) result[1] = mxCreateString(orthopt_text(found));
        }
        orthopt_free(found);
    }
    if (interrupted()) forget_interrupt();
    if (!message.empty()) mexErrMsgIdAndTxt(id.c_str(), "%s", message.c_str());
}
