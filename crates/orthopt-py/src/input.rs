//! Data from Python as the library takes them: NumPy arrays without a copy where rows or columns
//! are contiguous, compressed sparse columns, or the name of a file, a generator or a table.

use faer::MatRef;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthopt::RowMat;
use orthopt_data::{FrameCells, FrameColumn, TableOptions};
pub use orthopt_foreign::About;
use orthopt_foreign::Borrowed;
use orthopt_foreign::errors::message;
use pyo3::prelude::*;

use crate::errors::{Failure, word};

/// All rows of an array but the last one.
pub const OTHERS: &str = "X[:-1]";

/// Name of data without a file in errors.
const UNNAMED: &str = "the data";

/// Data from Python; `orthopt._data` admits no other types.
#[derive(FromPyObject)]
pub enum Given<'py> {
    /// A matrix of numbers.
    Dense(PyReadonlyArray2<'py, f64>),
    /// A sparse matrix: shape, column pointers, row indices, values; canonical.
    Sparse(
        (usize, usize),
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, f64>,
    ),
    /// Text in the form of DATA of the command line.
    AnyProblem(String),
}

impl Given<'_> {
    /// Views of the data.
    ///
    /// # Errors
    /// An array that is not contiguous.
    pub fn borrow(&self) -> PyResult<Borrowed<'_>> {
        Ok(match self {
            Self::Dense(array) => Borrowed::Dense(view(array)?),
            Self::Sparse(shape, pointers, rows, values) => {
                Borrowed::Sparse(*shape, pointers.as_slice()?, rows.as_slice()?, values.as_slice()?)
            }
            Self::AnyProblem(name) => Borrowed::AnyProblem(name),
        })
    }
}

/// faer's view of a contiguous array.
pub fn view<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<MatRef<'a, f64>> {
    let (rows, cols) = (array.shape()[0], array.shape()[1]);
    let values = array.as_slice()?;
    Ok(if array.is_c_contiguous() {
        MatRef::from_row_major_slice(values, rows, cols)
    } else {
        MatRef::from_column_major_slice(values, rows, cols)
    })
}

/// A row-major copy of an array.
pub fn copied(array: &PyReadonlyArray2<'_, f64>) -> PyResult<RowMat> {
    Ok(RowMat::from_mat(view(array)?))
}

/// A column of a frame.
#[derive(FromPyObject)]
pub enum Cells<'py> {
    /// NaN where one is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Empty where one is missing.
    Words(Vec<String>),
}

/// Places of variables and of samples, places and numbers of columns of texts, and notes.
type Arranged<'py> = (Vec<usize>, Vec<usize>, Vec<(usize, Bound<'py, PyArray1<f64>>)>, Vec<String>);

/// How a frame is read by the rules of files, `None` where a column holds neither numbers nor texts: the places of its variables and of its samples, the numbers of columns of
/// texts, and notes.
#[pyfunction]
pub fn framed<'py>(
    py: Python<'py>,
    names: Vec<String>,
    cells: Vec<Option<Cells<'py>>>,
    rows: usize,
    index: Option<Vec<String>>,
    options: Vec<(String, String)>,
) -> PyResult<Arranged<'py>> {
    let mut table = TableOptions::default();
    for (option, value) in &options {
        table.set(option, value).map_err(Failure::from)?;
    }
    let mut columns = Vec::with_capacity(names.len());
    for (name, cells) in names.into_iter().zip(&cells) {
        let cells = match cells {
            Some(Cells::Numbers(values)) => FrameCells::Numbers(values.as_slice()?),
            Some(Cells::Words(words)) => FrameCells::Words(words.clone()),
            None => FrameCells::Other,
        };
        columns.push(FrameColumn { name, cells });
    }
    let found =
        orthopt_data::framed(&columns, rows, index.as_deref(), &table, UNNAMED).map_err(Failure::from)?;
    let numbers =
        found.numbers.into_iter().map(|(at, values)| (at, PyArray1::from_vec(py, values))).collect();
    let notes = found.how.notes.iter().map(|note| message(note).worded(word)).collect();
    Ok((found.columns, found.rows, numbers, notes))
}
