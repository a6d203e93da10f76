//! Data in memory as problems take them: dense matrices without a copy where nothing is done to them, compressed sparse columns,
//! or the name of a file, a generator or a table.

use faer::MatRef;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use orthopt::family::{Kind, ProblemInfo, remark_on_means};
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{self, DataFacts, TableFacts};
use orthopt::request::{Gram, Group, OPTIONS, Request, Written};
use orthopt::smooth::Centring;
use orthopt::{Error, Result};
use orthopt_data::{
    DataError, DataSet, LoadOptions, Matrix, Missing, Prepare, Role, Scale, TableOptions, check_symmetric,
    is_triangular, remark_on_c, remark_on_samples,
};

use crate::errors::message;

/// Data of another language, which stay where they are.
#[derive(Clone, Copy, Debug)]
pub enum Borrowed<'a> {
    /// A matrix.
    Dense(MatRef<'a, f64>),
    /// A sparse matrix: shape, column pointers, row indices (ascending in each column), values.
    Sparse((usize, usize), &'a [i64], &'a [i64], &'a [f64]),
    /// Text in the form of DATA of the command line.
    AnyProblem(&'a str),
}

/// An error of the library or of the readers of data.
pub trait Failure: From<Error> + From<DataError> {}

impl<E: From<Error> + From<DataError>> Failure for E {}

/// Preparation of the data.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// The matrix is C itself.
    pub gram: bool,
    /// Treatment of NaN and of missing cells of files.
    pub missing: Missing,
    /// Centring, scaling, leading columns.
    pub prepare: Prepare,
    /// Options of reading files.
    pub table: TableOptions,
    /// A weight for each row.
    pub weights: Option<Vec<f64>>,
    /// All rows but the last one, as they are written in this language.
    pub others: &'static str,
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

impl Preparation {
    /// The preparation that the options describe.
    ///
    /// # Errors
    /// A value that there is not.
    pub fn of<E: Failure>(request: &Request) -> std::result::Result<Self, E> {
        let invalid = |option: &str, value: &str, expected: &str| Error::InvalidOption {
            option: option.into(),
            value: value.into(),
            expected: expected.into(),
        };
        let scale = request.scale.as_deref().unwrap_or("none");
        let scale = Scale::parse(scale).ok_or_else(|| invalid("scale", scale, Scale::EXPECTED))?;
        let missing = request.missing.as_deref().unwrap_or("error");
        let missing =
            Missing::parse(missing).ok_or_else(|| invalid("missing", missing, "error, mean, drop or em"))?;
        let prepare = Prepare::of(request.center, scale, request.covariance, request.features);
        let mut table = TableOptions::default();
        for entry in OPTIONS.iter().filter(|entry| entry.group == Group::Table) {
            if let Some(value) = entry.get(request) {
                let text = if let Written::Flag(flag) = value { flag.to_string() } else { value.to_string() };
                // a default says nothing against a layout
                if text != "auto" {
                    table.set(entry.name, &text)?;
                }
            }
        }
        Ok(Self {
            gram: request.gram == Some(Gram::Data),
            missing,
            prepare,
            table,
            weights: None,
            others: "all rows but the last",
        })
    }
}

impl Borrowed<'_> {
    /// Prepares the data and hands them to `pose`.
    ///
    /// # Errors
    /// Data that are empty or cannot be read or prepared; whatever `pose` says.
    pub fn with<T, E: Failure>(
        self,
        info: &ProblemInfo,
        how: &Preparation,
        pose: impl FnOnce(&PcaData<'_>, &About) -> std::result::Result<T, E>,
    ) -> std::result::Result<(T, About), E> {
        let nearest = how.table.nearest;
        let table = TableOptions { nearest: false, ..how.table.clone() };
        if !matches!(self, Self::AnyProblem(_)) && table != TableOptions::default() {
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
                    return untouched(a, (how.prepare.center, how.others), pose);
                }
                let data = looked_at::<E>(unnamed(a.to_owned().into()), how)?;
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
                prepared(info, looked_at::<E>(unnamed(matrix), how)?, how, pose)
            }
            Self::AnyProblem(spec) => {
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
                    ..*how
                };
                prepared(info, data, &how, pose)
            }
        }
    }
}

/// A dense matrix of samples that stays where it is.
fn untouched<T, E: Failure>(
    a: MatRef<'_, f64>,
    (center, others): (bool, &'static str),
    pose: impl FnOnce(&PcaData<'_>, &About) -> std::result::Result<T, E>,
) -> std::result::Result<(T, About), E> {
    let notes = remark_on_samples(a, others).iter().map(message).collect();
    if !center {
        return hand_over(&PcaData::Dense(a), About { notes, ..About::default() }, pose);
    }
    let centring = Centring::of(a);
    let means = Some(centring.means().to_vec());
    hand_over(&PcaData::Centred(a, centring), About { means, notes, ..About::default() }, pose)
}

/// Data in memory, with the notes and repairs of data read from a file.
fn looked_at<E: Failure>(mut data: DataSet, how: &Preparation) -> std::result::Result<DataSet, E> {
    if how.gram {
        return Ok(data.as_gram(how.table.nearest)?);
    }
    if how.table.nearest {
        let why = " is for C itself, and these are samples; leave it out";
        return Err(Error::Incompatible(Message::about("nearest").text(why)).into());
    }
    if let Matrix::Dense(a) = &data.matrix {
        let remark = remark_on_samples(a.as_ref(), how.others);
        data.how.notes.extend(remark);
    }
    Ok(data)
}

/// Name of data without a file in errors.
const UNNAMED: &str = "the data";

fn unnamed(matrix: Matrix) -> DataSet {
    DataSet::new(matrix, UNNAMED)
}

/// A matrix of our own, prepared in place as the command line does it.
fn prepared<T, E: Failure>(
    info: &ProblemInfo,
    mut data: DataSet,
    how: &Preparation,
    pose: impl FnOnce(&PcaData<'_>, &About) -> std::result::Result<T, E>,
) -> std::result::Result<(T, About), E> {
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

fn hand_over<T, E: Failure>(
    data: &PcaData<'_>,
    about: About,
    pose: impl FnOnce(&PcaData<'_>, &About) -> std::result::Result<T, E>,
) -> std::result::Result<(T, About), E> {
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

fn check_size(rows: usize, columns: usize) -> std::result::Result<(), DataError> {
    if rows == 0 || columns == 0 {
        let place = "the data".into();
        return Err(DataError::Empty { place, rows, columns });
    }
    Ok(())
}

fn check_finite(matrix: &Matrix) -> Result<()> {
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
            return Err(Error::NotFinite { what: "the data matrix".into(), row, col: j + 1 });
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
) -> Result<()> {
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
    let expected = format!(
        "the index arrays of the sparse matrix are inconsistent: expected {} pointers that rise from 0 to {values}, the number of values, \
         and row indices from 0 to {} that rise in each column",
        cols + 1,
        rows - 1
    );
    Err(Error::Incompatible(expected.into()))
}
