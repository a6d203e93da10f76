//! Data from Python as the library takes them: NumPy arrays without a copy where rows or columns
//! are contiguous, compressed sparse columns, or the name of a file, a generator or a table.

use faer::MatRef;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthopt::Error;
use orthopt::RowMat;
use orthopt::family::{Kind, ProblemInfo, remark_on_means};
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{self, DataFacts, TableFacts};
use orthopt::smooth::Centring;
use orthopt_data::{
    DataError, DataSet, FrameCells, FrameColumn, LoadOptions, Matrix, Missing, Prepare, Role, Scale,
    TableOptions, check_symmetric, is_triangular, remark_on_c, remark_on_samples,
};
use pyo3::prelude::*;

use crate::errors::{Failure, message, word};

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
    Named(String),
}

/// The same without Python objects, so that it can be used without the GIL.
pub enum Borrowed<'a> {
    Dense(MatRef<'a, f64>),
    Sparse((usize, usize), &'a [i64], &'a [i64], &'a [f64]),
    Named(&'a str),
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
            Self::Named(name) => Borrowed::Named(name),
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

/// What is done to the data first.
#[derive(Clone)]
pub struct Preparation {
    /// The matrix is C itself.
    pub gram: bool,
    /// Treatment of NaN and of missing cells of files.
    pub missing: Missing,
    /// Centring, scaling, leading columns.
    pub prepare: Prepare,
    /// How files are read.
    pub table: TableOptions,
    /// A weight for each row.
    pub weights: Option<Vec<f64>>,
}

/// Facts about the data in addition to the problem.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Facts about them for reports.
    pub facts: DataFacts,
    /// Of the columns, where they were subtracted.
    pub means: Option<Vec<f64>>,
    /// Cᵢᵢ.
    pub squares: Vec<f64>,
    /// Notes on the way the data came, and on means that were left in.
    pub notes: Vec<Message>,
    /// Roots of the weights of the rows, which these have been multiplied with.
    roots: Option<Vec<f64>>,
}

impl Borrowed<'_> {
    /// Prepares the data and hands them to `pose`.
    ///
    /// # Errors
    /// Data that are empty or cannot be read or prepared; whatever `pose` says.
    pub fn with<T>(
        self,
        info: &ProblemInfo,
        how: &Preparation,
        pose: impl FnOnce(&PcaData<'_>, &About) -> Result<T, Failure>,
    ) -> Result<(T, About), Failure> {
        let nearest = how.table.nearest;
        let table = TableOptions { nearest: false, ..how.table.clone() };
        if !matches!(self, Self::Named(_)) && table != TableOptions::default() {
            let problem =
                "options of tables are for files, and these data are in memory: arrange them first".into();
            return Err(DataError::Table { place: UNNAMED.into(), problem }.into());
        }
        match self {
            Self::Dense(a) => {
                check_size(a.nrows(), a.ncols())?;
                let plain = !nearest
                    && how.prepare.scale == Scale::None
                    && how.prepare.features.is_none()
                    && !how.prepare.covariance
                    && how.missing == Missing::Error
                    && how.weights.is_none();
                if how.gram && plain && !how.prepare.center && !is_triangular(a) {
                    let notes = remark_on_c(a).iter().map(message).collect();
                    return hand_over(&PcaData::Gram(a), About { notes, ..About::default() }, pose);
                }
                if !how.gram && plain && (!how.prepare.center || info.kind == Kind::Pca) {
                    return untouched(a, how.prepare.center, pose);
                }
                let data = looked_at(unnamed(a.to_owned().into()), how)?;
                prepared(info, data, how, pose)
            }
            Self::Sparse((rows, cols), pointers, row_idx, values) => {
                check_size(rows, cols)?;
                // a negative index becomes one that is far too large
                let unsigned = |v: &[i64]| v.iter().map(|i| *i as usize).collect::<Vec<_>>();
                let (pointers, row_idx) = (unsigned(pointers), unsigned(row_idx));
                check_pattern(rows, cols, &pointers, &row_idx, values.len())?;
                let pattern = SymbolicSparseColMat::new_checked(rows, cols, pointers, None, row_idx);
                let matrix = Matrix::Sparse(SparseColMat::new(pattern, values.to_vec()));
                check_finite(&matrix)?;
                prepared(info, looked_at(unnamed(matrix), how)?, how, pose)
            }
            Self::Named(spec) => {
                let options = LoadOptions {
                    missing: how.missing,
                    gram: how.gram,
                    table: how.table.clone(),
                    ..LoadOptions::default()
                };
                let data = orthopt_data::load(spec, &options)?;
                let gram = how.gram || data.role == Role::Gram;
                let how = Preparation {
                    gram,
                    prepare: how.prepare.clone(),
                    missing: Missing::Error,
                    table: TableOptions::default(),
                    weights: how.weights.clone(),
                };
                prepared(info, data, &how, pose)
            }
        }
    }
}

/// A dense matrix of samples that stays where it is.
fn untouched<T>(
    a: MatRef<'_, f64>,
    center: bool,
    pose: impl FnOnce(&PcaData<'_>, &About) -> Result<T, Failure>,
) -> Result<(T, About), Failure> {
    let notes = remark_on_samples(a, OTHERS).iter().map(message).collect();
    if !center {
        return hand_over(&PcaData::Dense(a), About { notes, ..About::default() }, pose);
    }
    let centring = Centring::of(a);
    let means = Some(centring.means().to_vec());
    hand_over(&PcaData::Centred(a, centring), About { means, notes, ..About::default() }, pose)
}

/// What is in memory, told and mended as what is read from a file is.
fn looked_at(mut data: DataSet, how: &Preparation) -> Result<DataSet, Failure> {
    if how.gram {
        return Ok(data.as_gram(how.table.nearest)?);
    }
    if how.table.nearest {
        let why = " is for C itself, and these are samples; leave it out";
        return Err(Error::Incompatible(Message::about("nearest").text(why)).into());
    }
    if let Matrix::Dense(a) = &data.matrix {
        let remark = remark_on_samples(a.as_ref(), OTHERS);
        data.how.notes.extend(remark);
    }
    Ok(data)
}

/// All rows of an array but the last one.
const OTHERS: &str = "X[:-1]";

/// Name of data without a file in errors.
const UNNAMED: &str = "the data";

fn unnamed(matrix: Matrix) -> DataSet {
    DataSet::new(matrix, UNNAMED)
}

/// A matrix of our own, prepared in place as the command line does it.
fn prepared<T>(
    info: &ProblemInfo,
    mut data: DataSet,
    how: &Preparation,
    pose: impl FnOnce(&PcaData<'_>, &About) -> Result<T, Failure>,
) -> Result<(T, About), Failure> {
    if how.gram {
        data.role = Role::Gram;
        // a Laplacian stays sparse, and the problem checks it
        if !(info.kind == Kind::NonlinearEig && data.matrix.is_sparse()) {
            let dense = data.matrix.try_to_dense(&data.source)?;
            check_symmetric(dense.as_ref())?;
            data.matrix = dense.into();
        }
    }
    if let Some(weights) = &how.weights {
        data = data.weighted(weights.clone())?;
    }
    let notes: Vec<Message> = data.how.notes.iter().map(message).collect();
    let read = data.sentence();
    let layout = data.how.layout().into_iter().map(|(name, value)| (name.into(), value)).collect();
    let data = how.missing.apply(data)?;
    check_finite(&data.matrix)?; // a column that is scaled has no finite value any more
    let (data, implicit, units) = how.prepare.apply_to(data)?;
    let roots: Option<Vec<f64>> = data.weights.as_ref().map(|all| all.iter().map(|w| w.sqrt()).collect());
    let facts = DataFacts {
        roots: roots.clone(),
        table: (data.source != UNNAMED).then(|| TableFacts { read, layout, ..TableFacts::default() }),
        source: if data.source == UNNAMED { String::new() } else { data.source },
        names: data.names,
        centered: how.prepare.center,
        scaled: how.prepare.scale != Scale::None,
        scale: how.prepare.scale.to_string(),
        covariance: how.prepare.covariance,
        missing: data.missing,
        means: units.means.clone(),
        scales: units.scales,
        ..DataFacts::default()
    };
    let about = About { means: units.means, facts, notes, roots, ..About::default() };
    let pca = match &data.matrix {
        Matrix::Dense(c) if how.gram => PcaData::Gram(c.as_ref()),
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(c) if how.gram => PcaData::SparseGram(c.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), implicit),
    };
    hand_over(&pca, about, pose)
}

fn hand_over<T>(
    data: &PcaData<'_>,
    about: About,
    pose: impl FnOnce(&PcaData<'_>, &About) -> Result<T, Failure>,
) -> Result<(T, About), Failure> {
    let DataFacts { rows, cols, nnz, role, centered, .. } = DataFacts::of(data);
    let centered = centered || about.facts.centered;
    let facts = DataFacts { rows, cols, nnz, role, centered, ..about.facts };
    let mut about = About { facts, squares: data.squares(), ..about };
    if !centered && role == report::Role::Samples {
        // first, as in the command
        about.notes.splice(..0, remark_on_means(data, about.roots.as_deref()));
    }
    let made = pose(data, &about)?;
    Ok((made, about))
}

fn check_size(rows: usize, columns: usize) -> Result<(), Failure> {
    if rows == 0 || columns == 0 {
        let place = "the data".into();
        return Err(DataError::Empty { place, rows, columns }.into());
    }
    Ok(())
}

fn check_finite(matrix: &Matrix) -> Result<(), Failure> {
    for j in 0..matrix.ncols() {
        let values = match matrix {
            Matrix::Dense(a) => a.col_as_slice(j),
            Matrix::Sparse(a) => a.val_of_col(j),
        };
        if let Some(k) = values.iter().position(|v| !v.is_finite()) {
            let row = match matrix {
                Matrix::Dense(_) => k + 1,
                Matrix::Sparse(a) => a.row_idx_of_col_raw(j)[k] + 1,
            };
            return Err(Error::NotFinite { what: "the data matrix".into(), row, col: j + 1 }.into());
        }
    }
    Ok(())
}

/// Error if the pattern is invalid, on which faer would panic.
fn check_pattern(
    rows: usize,
    cols: usize,
    pointers: &[usize],
    row_idx: &[usize],
    values: usize,
) -> Result<(), Error> {
    let ends = pointers.len() == cols + 1 && pointers.first() == Some(&0) && pointers.last() == Some(&values);
    let ordered = ends && row_idx.len() == values && pointers.windows(2).all(|w| w[0] <= w[1]);
    let sorted = ordered
        && pointers.windows(2).all(|w| {
            let column = &row_idx[w[0]..w[1]];
            column.iter().all(|i| *i < rows) && column.windows(2).all(|i| i[0] < i[1])
        });
    if sorted {
        return Ok(());
    }
    Err(Error::Incompatible("the index arrays of the sparse matrix are inconsistent".into()))
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
