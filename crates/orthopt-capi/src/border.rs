//! The functions of the library as C calls them: the one file with pointers.
//!
//! Every function checks what can be checked of its pointers (null, shapes, strides, sizes), hands slices on, and catches
//! panics. What cannot be checked is written in the header: pointers that are not null point at as many elements as shapes,
//! strides and `nnz` say, which stay as they are during the call.

#![allow(unsafe_code, reason = "pointers of C; every block says why it is sound")]

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};
use std::{ptr, slice};

use faer::MatRef;
use orthopt::RowMat;
use orthopt_foreign::Borrowed;

use crate::minimize::{Functions, minimize};
use crate::options::Stated;
use crate::outcome::{Failure, Found, Outcome};
use crate::solve::{self, Data};
use crate::watch::{Caller, Progress};

/// A matrix; strides are numbers of elements, above 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Matrix {
    /// Entry (i, j) is `values[i * row_stride + j * col_stride]`.
    pub values: *const f64,
    pub rows: usize,
    pub cols: usize,
    pub row_stride: usize,
    pub col_stride: usize,
}

/// A sparse matrix: compressed columns, or compressed rows with `by_rows`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sparse {
    pub rows: usize,
    pub cols: usize,
    /// Number of entries.
    pub nnz: usize,
    /// `cols + 1` numbers from 0 to `nnz`, or `rows + 1` with `by_rows`.
    pub pointers: *const i64,
    /// `nnz` rows, which rise in each column, or columns with `by_rows`; from 0.
    pub indices: *const i64,
    /// `nnz` values.
    pub values: *const f64,
    pub by_rows: bool,
}

/// Data. One of `dense`, `sparse` and `named` is not null.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CData {
    /// Rows are samples and columns are variables; or C itself with the option `gram`.
    pub dense: *const Matrix,
    pub sparse: *const Sparse,
    /// A file, a generator or a table, as the command takes it: `builtin:pitprops`.
    pub named: *const c_char,
    /// A name for each column, or null.
    pub names: *const *const c_char,
}

/// Who waits; every field may be null.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Watch {
    /// The call ends with the best X so far soon after this is not 0; other threads and handlers of signals may set it.
    pub cancel: *mut i32,
    /// Called some ten times a second on the thread that called; another value than 0 ends the call like `cancel`.
    pub progress: Option<unsafe extern "C" fn(context: *mut c_void, now: *const Progress) -> i32>,
    /// Handed to `progress`.
    pub context: *mut c_void,
}

/// f(X), and its gradient: all partial derivatives as if there were no constraint. `x` and `gradient` are rows x cols, row by
/// row. Another value than 0 says that the function has failed and ends the call with `ORTHOPT_CALLBACK`.
pub type Fun = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        rows: usize,
        cols: usize,
        x: *const f64,
        value: *mut f64,
        gradient: *mut f64,
    ) -> i32,
>;

/// Minimises F(X) of a problem with this name over X'X = I, or X'JX = J. The JSON is that of `orthopt solve --json`, without x.
///
/// # Safety
/// See the [module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_solve(
    problem: *const c_char,
    data: *const CData,
    options: *const c_char,
    watch: *const Watch,
) -> *mut Outcome {
    // SAFETY: the caller keeps to the header.
    guarded(|| unsafe {
        let (problem, caller) = (text(problem, "problem")?, Waiting::of(watch));
        with_data(data, |data| solve::solve(problem, data, stated(options)?, &caller))
    })
}

/// Bounds F from below over all feasible X. `x` is the X whose gap is asked for, n x r, or null: then one is searched for first.
/// The JSON is that of `orthopt bound --json`; X is the best known. Own options: `time_limit` (60 seconds) and `nodes`.
///
/// # Safety
/// See the [module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_bound(
    problem: *const c_char,
    data: *const CData,
    x: *const Matrix,
    options: *const c_char,
    watch: *const Watch,
) -> *mut Outcome {
    // SAFETY: the caller keeps to the header.
    guarded(|| unsafe {
        let (problem, caller) = (text(problem, "problem")?, Waiting::of(watch));
        let x = if x.is_null() { None } else { Some(copied(x, "x")?) };
        with_data(data, |data| solve::bound(problem, data, x, stated(options)?, &caller))
    })
}

/// Checks an X: feasibility, criticality, block-2 stationarity. The JSON is that of `orthopt certify --json`.
///
/// # Safety
/// See the [module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_certify(
    problem: *const c_char,
    data: *const CData,
    x: *const Matrix,
    options: *const c_char,
    watch: *const Watch,
) -> *mut Outcome {
    // SAFETY: the caller keeps to the header.
    guarded(|| unsafe {
        let (problem, caller) = (text(problem, "problem")?, Waiting::of(watch));
        let x = copied(x, "x")?;
        with_data(data, |data| solve::certify(problem, data, x, stated(options)?, &caller))
    })
}

/// Minimises f(X) + h(X) of a function of your own over X'X = I, or f(X) over X'JX = J with the option `signature`. `x0` is the
/// start; with `values` null its shape alone counts and starts are random. `fun` is called on this thread with `context`. Own
/// option: `lipschitz`, that of the gradient.
///
/// # Safety
/// See the [module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_minimize(
    fun: Fun,
    context: *mut c_void,
    x0: *const Matrix,
    options: *const c_char,
    watch: *const Watch,
) -> *mut Outcome {
    // SAFETY: the caller keeps to the header.
    guarded(|| unsafe {
        if fun.is_none() {
            return Err(null("fun", "the function of f and its gradient"));
        }
        let start = x0.as_ref().ok_or_else(|| null("x0", "the shape of X, with values or without"))?;
        let shape = (start.rows, start.cols);
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Failure::argument(format!(
                "x0 is {} x {}; X has at least one row and one column",
                shape.0, shape.1
            )));
        }
        let x0 = if start.values.is_null() { None } else { Some(copied(x0, "x0")?) };
        minimize(Pointed { fun, context }, Waiting::of(watch), (x0, shape), stated(options)?)
    })
}

/// Names with one line each, as JSON: `problems`, `solvers`, `penalties`, `maps`, `starts`, `working-sets`, `sides`, `options`,
/// `constants`.
///
/// # Safety
/// See the [module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_list(list: *const c_char) -> *mut Outcome {
    // SAFETY: the caller keeps to the header.
    guarded(|| unsafe { solve::list(text(list, "list")?) })
}

/// Frees a handle and all that its functions have returned; null is nothing.
///
/// # Safety
/// A handle is freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_free(handle: *mut Outcome) {
    if !handle.is_null() {
        // SAFETY: the handle comes from Box::into_raw in `guarded`.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// 0, or the code of an error.
///
/// # Safety
/// A handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_code(handle: *const Outcome) -> i32 {
    // SAFETY: as above.
    unsafe { (*handle).code() }
}

/// The kind of an error, such as `RankError`; empty where there is none.
///
/// # Safety
/// A handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_kind(handle: *const Outcome) -> *const c_char {
    // SAFETY: as above.
    unsafe { (*handle).kind().as_ptr() }
}

/// The JSON of the result, or the message of an error.
///
/// # Safety
/// A handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_text(handle: *const Outcome) -> *const c_char {
    // SAFETY: as above.
    unsafe { (*handle).text().as_ptr() }
}

/// X, row by row, with its shape; null and 0 x 0 where there is none. `rows` and `cols` may be null.
///
/// # Safety
/// A handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_x(handle: *const Outcome, rows: *mut usize, cols: *mut usize) -> *const f64 {
    // SAFETY: as above.
    let x = unsafe { (*handle).x() };
    let shape = x.map_or((0, 0), |x| (x.nrows(), x.ncols()));
    for (place, size) in [(rows, shape.0), (cols, shape.1)] {
        if !place.is_null() {
            // SAFETY: it points at a number of the caller.
            unsafe { place.write(size) };
        }
    }
    x.map_or(ptr::null(), |x| x.data().as_ptr())
}

/// A number of the JSON by its name, `objective` or `certificate.pairs_total`; NaN where there is none.
///
/// # Safety
/// A handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orthopt_number(handle: *const Outcome, name: *const c_char) -> f64 {
    // SAFETY: as above.
    let found = unsafe { text(name, "name").ok().and_then(|name| (*handle).number(name)) };
    found.unwrap_or(f64::NAN)
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn orthopt_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// A handle; no panic leaves it.
fn guarded(work: impl FnOnce() -> Result<Found, Failure>) -> *mut Outcome {
    let found = catch_unwind(AssertUnwindSafe(work));
    let found = found.unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)));
    Box::into_raw(Box::new(Outcome::of(found)))
}

fn null(what: &str, expected: &str) -> Failure {
    Failure::argument(format!("{what} is null; give {expected}"))
}

/// A text of the caller.
unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(null(what, "a text"));
    }
    // SAFETY: it is not null and ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::argument(format!("{what} is not UTF-8; texts of orthopt are")))
}

unsafe fn stated(options: *const c_char) -> Result<Stated, Failure> {
    // SAFETY: as the caller's.
    Stated::parse(if options.is_null() { "" } else { unsafe { text(options, "options") }? })
}

/// Number of elements from the first to the last of a matrix.
fn extent(m: &Matrix, what: &str) -> Result<usize, Failure> {
    let Matrix { rows, cols, row_stride, col_stride, .. } = *m;
    let shown = format!("{what} is {rows} x {cols} with strides {row_stride} and {col_stride}");
    if rows == 0 || cols == 0 {
        return Err(Failure::argument(format!("{shown}; a matrix has at least one row and one column")));
    }
    if row_stride.min(col_stride) == 0 || (row_stride < cols && col_stride < rows && rows.min(cols) > 1) {
        let expected = format!(
            "strides are numbers of elements that keep entries apart: {cols} and 1 by rows, 1 and {rows} by columns"
        );
        return Err(Failure::argument(format!("{shown}; {expected}")));
    }
    let last = |size: usize, stride: usize| (size - 1).checked_mul(stride);
    let all = last(rows, row_stride)
        .zip(last(cols, col_stride))
        .and_then(|(i, j)| i.checked_add(j)?.checked_add(1));
    let most = isize::MAX as usize / size_of::<f64>();
    all.filter(|all| *all <= most)
        .ok_or_else(|| Failure::argument(format!("{shown}; no memory is that large")))
}

/// A view of a matrix of the caller.
unsafe fn view<'a>(matrix: *const Matrix, what: &str) -> Result<MatRef<'a, f64>, Failure> {
    // SAFETY: null, or a matrix.
    let Some(m) = (unsafe { matrix.as_ref() }) else { return Err(null(what, "a matrix")) };
    if m.values.is_null() || !m.values.is_aligned() {
        return Err(null(&format!("values of {what}"), "a pointer to the first entry"));
    }
    extent(m, what)?;
    // SAFETY: the strides stay inside of what the caller has, and no entry is written during the call.
    Ok(unsafe {
        MatRef::from_raw_parts(m.values, m.rows, m.cols, m.row_stride as isize, m.col_stride as isize)
    })
}

unsafe fn copied(matrix: *const Matrix, what: &str) -> Result<RowMat, Failure> {
    // SAFETY: as the caller's.
    Ok(RowMat::from_mat(unsafe { view(matrix, what) }?))
}

/// An array of the caller.
unsafe fn array<'a, T>(pointer: *const T, size: usize, what: &str) -> Result<&'a [T], Failure> {
    if size == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() || size > isize::MAX as usize / size_of::<T>() {
        return Err(null(what, &format!("{size} of them")));
    }
    // SAFETY: it is not null, aligned, and as long as the caller says.
    Ok(unsafe { slice::from_raw_parts(pointer, size) })
}

/// Calls `work` with the data.
unsafe fn with_data<T>(
    data: *const CData,
    work: impl FnOnce(&Data<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // SAFETY: null, or data; and so below for what they point at.
    let Some(given) = (unsafe { data.as_ref() }) else { return Err(null("data", "a matrix or a name")) };
    let CData { dense, sparse, named, names } = *given;
    match (dense.is_null(), unsafe { sparse.as_ref() }, named.is_null()) {
        (false, None, true) => {
            let a = unsafe { view(dense, "data.dense") }?;
            let names = unsafe { texts(names, a.ncols()) }?;
            work(&Data { matrix: Borrowed::Dense(a), names })
        }
        (true, Some(a), true) => {
            let sizes = if a.by_rows { (a.cols, a.rows) } else { (a.rows, a.cols) };
            let many = sizes
                .1
                .checked_add(1)
                .ok_or_else(|| Failure::argument("data.sparse has too many columns"))?;
            let pointers = unsafe { array(a.pointers, many, "pointers of data.sparse") }?;
            let indices = unsafe { array(a.indices, a.nnz, "indices of data.sparse") }?;
            let values = unsafe { array(a.values, a.nnz, "values of data.sparse") }?;
            let names = unsafe { texts(names, a.cols) }?;
            if !a.by_rows {
                return work(&Data { matrix: Borrowed::Sparse(sizes, pointers, indices, values), names });
            }
            let (pointers, indices, values) = by_columns(sizes, pointers, indices, values)?;
            work(&Data { matrix: Borrowed::Sparse((a.rows, a.cols), &pointers, &indices, &values), names })
        }
        (true, None, false) if names.is_null() => {
            let matrix = Borrowed::AnyProblem(unsafe { text(named, "data.named") }?);
            work(&Data { matrix, names: None })
        }
        (true, None, false) => {
            Err(Failure::argument("data.names are for matrices; files have names of their own"))
        }
        _ => Err(Failure::argument(
            "one of data.dense, data.sparse and data.named is given, and the others are null",
        )),
    }
}

unsafe fn texts(names: *const *const c_char, size: usize) -> Result<Option<Vec<String>>, Failure> {
    if names.is_null() {
        return Ok(None);
    }
    // SAFETY: there is one for each column.
    let names = unsafe { array(names, size, "data.names") }?;
    names
        .iter()
        .map(|name| Ok(unsafe { text(*name, "a name in data.names") }?.into()))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Pointers, indices and values.
type Compressed = (Vec<i64>, Vec<i64>, Vec<f64>);

/// Compressed columns of compressed rows.
fn by_columns(
    (cols, rows): (usize, usize),
    pointers: &[i64],
    indices: &[i64],
    values: &[f64],
) -> Result<Compressed, Failure> {
    let rises = pointers.first() == Some(&0)
        && pointers.last() == Some(&(values.len() as i64))
        && pointers.windows(2).all(|w| w[0] <= w[1]);
    if !rises || indices.iter().any(|j| *j < 0 || *j >= cols as i64) {
        return Err(Failure::argument(format!(
            "data.sparse by rows: expected {} pointers that rise from 0 to {}, nnz, and columns from 0 to {}",
            rows + 1,
            values.len(),
            cols.saturating_sub(1)
        )));
    }
    let mut starts = vec![0; cols + 1];
    indices.iter().for_each(|j| starts[*j as usize + 1] += 1);
    (0..cols).for_each(|j| starts[j + 1] += starts[j]);
    let (mut next, mut at, mut of) = (starts.clone(), vec![0; values.len()], vec![0.0; values.len()]);
    for i in 0..rows {
        for k in pointers[i] as usize..pointers[i + 1] as usize {
            let place = &mut next[indices[k] as usize];
            (at[*place as usize], of[*place as usize]) = (i as i64, values[k]);
            *place += 1;
        }
    }
    Ok((starts, at, of))
}

/// Time between two calls of `progress`.
const SHOWN: Duration = Duration::from_millis(100);

/// Who waits.
struct Waiting {
    watch: Option<Watch>,
    shown: Mutex<Instant>,
}

// SAFETY: the callback is used on the thread that called alone: `watched` checks it there, and `minimize` runs there. The flag is an
// atomic, and the context is handed on and never read.
unsafe impl Send for Waiting {}
// SAFETY: as above.
unsafe impl Sync for Waiting {}

impl Waiting {
    unsafe fn of(watch: *const Watch) -> Self {
        // SAFETY: null, or a watch.
        Self { watch: unsafe { watch.as_ref() }.copied(), shown: Mutex::new(Instant::now()) }
    }
}

impl Caller for Waiting {
    fn look(&self, now: &Progress) -> bool {
        let Some(Watch { progress, context, .. }) = self.watch else { return false };
        if self.has_cancelled() {
            return true;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(progress) = progress.filter(|_| shown.elapsed() >= SHOWN) else { return false };
        *shown = Instant::now();
        // SAFETY: a function of the caller, with its own context.
        unsafe { progress(context, now) != 0 }
    }

    fn has_cancelled(&self) -> bool {
        let flag = self.watch.map_or(ptr::null_mut(), |watch| watch.cancel);
        // SAFETY: the flag is an aligned int of the caller that lives as long as the call.
        !flag.is_null() && unsafe { AtomicI32::from_ptr(flag) }.load(Ordering::Relaxed) != 0
    }
}

/// f of the caller.
struct Pointed {
    fun: Fun,
    context: *mut c_void,
}

// SAFETY: the function is called on the thread that called alone, and the context is never read.
unsafe impl Send for Pointed {}
// SAFETY: as above.
unsafe impl Sync for Pointed {}

impl Functions for Pointed {
    fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> Option<f64> {
        let fun = self.fun?;
        let mut value = f64::NAN;
        let (rows, cols) = (x.nrows(), x.ncols());
        // SAFETY: x and g are rows x cols, row by row.
        let code = unsafe {
            fun(self.context, rows, cols, x.data().as_ptr(), &raw mut value, g.data_mut().as_mut_ptr())
        };
        (code == 0).then_some(value)
    }
}
