//! Preparation of data for a problem, only on request: selecting
//! leading columns, centring, scaling, dividing by √(m − 1).
//!
//! ```
//! use orthopt_data::{LoadOptions, Prepare, Scale, load};
//!
//! let data = load("sparse-randn:100:20:300", &LoadOptions::default())?;
//! let prepare = Prepare { center: true, scale: Scale::Unit, features: Some(10), ..Prepare::default() };
//! let prepared = prepare.apply(data.matrix)?;
//! assert_eq!(prepared.matrix.ncols(), 10);
//! assert!(prepared.means.is_some()); // still to be subtracted: the matrix stayed sparse
//! # Ok::<(), orthopt_data::DataError>(())
//! ```

use std::fmt;

use faer::Mat;
use faer::sparse::SparseColMat;

use crate::dataset::{DataSet, Matrix, Role};
use crate::error::DataError;
use crate::sparse::Columns;
use orthopt_linalg::column_mean::ColumnMean;

/// Scaling of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Scale {
    /// As they are.
    #[default]
    None,
    /// To 2-norm 1, after centring if that is asked for too. Columns of zeros stay (with
    /// centring, that means constant columns).
    Unit,
    /// To standard deviation 1 about the mean (m − 1 in the denominator). Constant columns stay.
    Std,
    /// All by this number: 1/255 takes pixels from 0..255 to 0..1.
    By(f64),
}

impl Scale {
    /// Values that [`Scale::parse`] reads, for messages.
    pub const EXPECTED: &'static str = "std, unit, none or a number > 0 that all entries are multiplied by";

    /// `none`, `unit`, `std` or a positive number.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "unit" => Some(Self::Unit),
            "std" => Some(Self::Std),
            number => number.parse().ok().filter(|v: &f64| *v > 0.0 && v.is_finite()).map(Self::By),
        }
    }

    /// Divisor of a column, from its norm and its norm about the mean; 1 for a column of zeros.
    pub(crate) fn divisor(self, rows: f64, norm: impl FnOnce() -> f64, spread: impl FnOnce() -> f64) -> f64 {
        let positive = |value: f64| if value > 0.0 { value } else { 1.0 };
        match self {
            Self::None => 1.0,
            Self::Unit => positive(norm()),
            Self::Std => positive(spread() / (rows - 1.0).sqrt()),
            Self::By(factor) => 1.0 / factor,
        }
    }
}

impl fmt::Display for Scale {
    /// As [`Scale::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Unit => f.write_str("unit"),
            Self::Std => f.write_str("std"),
            Self::By(factor) => write!(f, "{factor}"),
        }
    }
}

/// Preparation of data. The default does nothing.
///
/// The order is fixed: columns are selected, then centred, then scaled, then all is divided by √(m − 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepare {
    /// Subtract from each column its mean.
    pub center: bool,
    /// Scale the columns.
    pub scale: Scale,
    /// Divide by √(m − 1), so that AᵀA is the covariance matrix of centred columns.
    pub covariance: bool,
    /// Keep this many leading columns.
    pub features: Option<usize>,
}

/// The result of [`Prepare::apply`].
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The matrix, with all of the above done, except that of a sparse matrix only those columns are centred whose
    /// means are more than four standard deviations from 0. They have hardly any zeros, and in the squares of their
    /// entries as they are the variance would be lost.
    pub matrix: Matrix,
    /// For a sparse matrix that is to be centred: the means of the columns of `matrix`, next to 0 for those that are
    /// centred already. The data meant is `matrix` − 1·`means`ᵀ, which would be dense and is left implicit. `None`
    /// otherwise: the matrix is the data.
    pub means: Option<Vec<f64>>,
    /// Transformation of other rows to the same units.
    pub units: Units,
}

/// Transformation of a raw row to the units of the components: (row − means) / scales.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Units {
    /// Of the raw columns, where they are subtracted.
    pub means: Option<Vec<f64>>,
    /// Divisors of the columns, if they are scaled.
    pub scales: Option<Vec<f64>>,
    /// √(m − 1) where the matrix of [`Prepared`] is smaller by that; scores of its rows are not.
    pub shrunk: Option<f64>,
}

impl Prepare {
    /// Preparation with the defaults of users: [`Scale::Std`] gives correlations, and covariances are those
    /// of centred columns, unless it is said otherwise.
    pub fn of(center: Option<bool>, scale: Scale, covariance: Option<bool>, features: Option<usize>) -> Self {
        let covariance = covariance.unwrap_or(scale == Scale::Std);
        let center = center.unwrap_or(covariance || scale == Scale::Std);
        Self { center, scale, covariance, features }
    }

    /// Prepares a matrix of samples; a dense one in place.
    ///
    /// # Errors
    /// [`DataError::Features`] when more columns are to be kept than there are, or none;
    /// [`DataError::OneRow`] where a variance needs two.
    pub fn apply(&self, matrix: Matrix) -> Result<Prepared, DataError> {
        self.apply_weighted(matrix, None)
    }

    /// Prepares rows with weights above 0: AᵀA is that of a matrix in which each row stands as many times as its weight
    /// says. Rows of the result are those of the data, prepared, times the root of their weight. A sparse matrix that
    /// is to be centred or scaled by standard deviations becomes dense.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); not one weight for each row; a sparse matrix that is too large when dense.
    pub fn apply_weighted(&self, matrix: Matrix, weights: Option<&[f64]>) -> Result<Prepared, DataError> {
        let Some(weights) = weights else { return self.prepared(matrix, None) };
        if weights.len() != matrix.nrows() || weights.iter().any(|w| !(*w > 0.0 && w.is_finite())) {
            let problem = format!(
                "{} weights for {} rows; there is one above 0 for each",
                weights.len(),
                matrix.nrows()
            );
            return Err(DataError::File { path: "the data".into(), problem });
        }
        let matrix = match matrix {
            Matrix::Sparse(_) if self.center || self.scale == Scale::Std => {
                matrix.try_to_dense("the data with weights")?.into()
            }
            Matrix::Sparse(mut a) => {
                for j in 0..a.ncols() {
                    let rows: Vec<usize> = a.row_idx_of_col(j).collect();
                    a.val_of_col_mut(j).iter_mut().zip(rows).for_each(|(v, i)| *v *= weights[i].sqrt());
                }
                a.into()
            }
            dense => dense,
        };
        self.prepared(matrix, Some(weights))
    }

    fn prepared(&self, matrix: Matrix, weights: Option<&[f64]>) -> Result<Prepared, DataError> {
        let columns = matrix.ncols();
        let matrix = match self.features {
            Some(features) if features == 0 || features > columns => {
                return Err(DataError::Features { features, columns });
            }
            Some(features) if features < columns => leading_columns(matrix, features),
            _ => matrix,
        };
        let rows = matrix.nrows();
        let mass = weights.map_or(rows as f64, |weights| weights.iter().sum());
        if (mass <= 1.0 || rows < 2) && (self.covariance || self.scale == Scale::Std) {
            return Err(DataError::OneRow);
        }
        let mut matrix = matrix;
        let shrunk = self.covariance.then(|| (mass - 1.0).sqrt());
        let shrink = shrunk.unwrap_or(1.0);
        let columns: Vec<Centred> = match &mut matrix {
            Matrix::Dense(a) => match weights {
                None => (0..a.ncols()).map(|j| self.dense_column(a.col_as_slice_mut(j), shrink)).collect(),
                Some(weights) => (0..a.ncols())
                    .map(|j| self.weighted_column(a.col_as_slice_mut(j), weights, mass, shrink))
                    .collect(),
            },
            Matrix::Sparse(a) => (0..a.ncols()).map(|j| self.sparse_column(a.val_of_col(j), rows)).collect(),
        };
        let units = Units {
            means: self.center.then(|| columns.iter().map(|column| column.mean).collect()),
            scales: (self.scale != Scale::None)
                .then(|| columns.iter().map(|column| column.divisor).collect()),
            shrunk,
        };
        let means = match &mut matrix {
            Matrix::Sparse(a) => {
                let means = sparse_columns(a, &columns, shrink);
                self.center.then_some(means)
            }
            Matrix::Dense(_) => None,
        };
        Ok(Prepared { matrix, means, units })
    }

    /// Prepares a data set: its matrix as [`apply`](Self::apply) does, with the names cut to the
    /// columns that are kept. Returns the data set, the means of [`Prepared::means`] and the units. The
    /// true components are dropped when columns are, because they are not orthonormal any more.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); [`DataError::GramPreparation`] when data that is C itself is to
    /// be centred or scaled. (Keeping leading columns keeps the same rows of C.)
    pub fn apply_to(&self, data: DataSet) -> Result<(DataSet, Option<Vec<f64>>, Units), DataError> {
        let mut data = data;
        if data.role == Role::Gram {
            return Ok((self.gram(data)?, None, Units::default()));
        }
        let columns = data.matrix.ncols();
        let prepared = self.apply_weighted(data.matrix, data.weights.as_deref())?;
        data.matrix = prepared.matrix;
        forget_columns(&mut data.names, &mut data.truth, columns, data.matrix.ncols());
        Ok((data, prepared.means, prepared.units))
    }

    fn gram(&self, mut data: DataSet) -> Result<DataSet, DataError> {
        let refused = [
            // those that imply others come first
            (self.scale != Scale::None, "scaling"),
            (self.covariance, "dividing by m - 1"),
            (self.center, "centring"),
        ];
        if let Some((_, action)) = refused.into_iter().find(|(asked, _)| *asked) {
            return Err(DataError::GramPreparation { place: data.source, action });
        }
        let columns = data.matrix.ncols();
        let select = Self { features: self.features, ..Self::default() };
        data.matrix = leading_rows(select.apply(data.matrix)?.matrix, columns);
        forget_columns(&mut data.names, &mut data.truth, columns, data.matrix.ncols());
        Ok(data)
    }

    /// Prepares a column of a dense matrix.
    fn dense_column(&self, column: &mut [f64], shrunk: f64) -> Centred {
        let rows = column.len();
        let mean = self.center.then(|| ColumnMean::of(column, rows));
        if let Some(mean) = &mean {
            column.iter_mut().for_each(|value| *value = mean.apply(*value));
        }
        let spread = || centred_norm(column, rows, &ColumnMean::of(column, rows));
        let divisor = self.scale.divisor(rows as f64, || norm(column), spread);
        divide(column, divisor * shrunk);
        Centred { mean: mean.map_or(0.0, |mean| mean.value()), divisor, explicit: None }
    }

    /// Prepares a column of rows with weights.
    fn weighted_column(&self, column: &mut [f64], weights: &[f64], mass: f64, shrunk: f64) -> Centred {
        let mean = self.center.then(|| ColumnMean::weighted(column, weights));
        if let Some(mean) = &mean {
            column.iter_mut().for_each(|value| *value = mean.apply(*value));
        }
        let rooted = |about: Option<ColumnMean>| {
            let left = |value: f64| about.map_or(value, |mean| mean.apply(value));
            norm(&column.iter().zip(weights).map(|(v, w)| left(*v) * w.sqrt()).collect::<Vec<_>>())
        };
        let spread = || rooted(Some(ColumnMean::weighted(column, weights)));
        let divisor = self.scale.divisor(mass, || rooted(None), spread);
        column.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight.sqrt());
        divide(column, divisor * shrunk);
        Centred { mean: mean.map_or(0.0, |mean| mean.value()), divisor, explicit: None }
    }

    /// Centring and scaling of a sparse column with these entries.
    fn sparse_column(&self, column: &[f64], rows: usize) -> Centred {
        let mean = ColumnMean::of(column, rows);
        let about = || centred_norm(column, rows, &mean);
        let size = || if self.center { about() } else { norm(column) };
        let divisor = self.scale.divisor(rows as f64, size, about);
        let explicit = (self.center && mean.is_far()).then_some(mean);
        Centred { mean: if self.center { mean.value() } else { 0.0 }, divisor, explicit }
    }
}

/// Preparation of a column.
struct Centred {
    mean: f64,
    divisor: f64,
    /// Of a sparse column whose mean is subtracted from its entries.
    explicit: Option<ColumnMean>,
}

/// Centres the sparse columns that say so, and divides all; the means that are left.
fn sparse_columns(a: &mut SparseColMat<usize, f64>, columns: &[Centred], shrink: f64) -> Vec<f64> {
    if columns.iter().any(|column| column.explicit.is_some()) {
        let mut made = Columns::new(a.nrows(), a.compute_nnz());
        for (j, column) in columns.iter().enumerate() {
            let mut entries = a.row_idx_of_col(j).zip(a.val_of_col(j)).peekable();
            match &column.explicit {
                None => entries.for_each(|(i, value)| made.push(i, *value)),
                Some(mean) => {
                    for i in 0..a.nrows() {
                        let value = entries.next_if(|entry| entry.0 == i).map_or(0.0, |entry| *entry.1);
                        let left = mean.apply(value);
                        if left != 0.0 {
                            made.push(i, left);
                        }
                    }
                }
            }
            made.end_column();
        }
        *a = made.finish();
    }
    let divided = |(j, column): (usize, &Centred)| {
        divide(a.val_of_col_mut(j), column.divisor * shrink);
        column.explicit.map_or(column.mean, |mean| mean.left()) / (column.divisor * shrink)
    };
    columns.iter().enumerate().map(divided).collect()
}

fn divide(column: &mut [f64], divisor: f64) {
    if divisor != 1.0 {
        column.iter_mut().for_each(|value| *value /= divisor);
    }
}

/// 2-norm, safe from overflow and underflow of the squares.
fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// The norm of a sparse column minus its mean, 0 where only rounding is left. Summed around the
/// mean: the shortcut Σx² − m·mean² cancels.
fn centred_norm(stored: &[f64], rows: usize, mean: &ColumnMean) -> f64 {
    let shifted: Vec<f64> = stored.iter().map(|value| mean.apply(*value)).collect();
    let absent = (rows - stored.len()) as f64;
    norm(&shifted).hypot(absent.sqrt() * mean.apply(0.0))
}

fn leading_columns(matrix: Matrix, count: usize) -> Matrix {
    match matrix {
        Matrix::Dense(mut dense) => {
            dense.truncate(dense.nrows(), count);
            dense.into()
        }
        Matrix::Sparse(sparse) => keep(&sparse, sparse.nrows(), count).into(),
    }
}

/// After the columns of a square matrix were cut, the same for its rows.
fn leading_rows(matrix: Matrix, before: usize) -> Matrix {
    let count = matrix.ncols();
    if count == before || matrix.nrows() <= count {
        return matrix;
    }
    match matrix {
        Matrix::Dense(mut dense) => {
            dense.truncate(count, count);
            dense.into()
        }
        Matrix::Sparse(sparse) => keep(&sparse, count, count).into(),
    }
}

fn keep(matrix: &SparseColMat<usize, f64>, nrows: usize, ncols: usize) -> SparseColMat<usize, f64> {
    let mut columns = Columns::new(nrows, 0);
    for j in 0..ncols {
        let entries = matrix.row_idx_of_col(j).zip(matrix.val_of_col(j));
        entries.filter(|(i, _)| *i < nrows).for_each(|(i, value)| columns.push(i, *value));
        columns.end_column();
    }
    columns.finish()
}

fn forget_columns(
    names: &mut Option<Vec<String>>,
    truth: &mut Option<Mat<f64>>,
    before: usize,
    after: usize,
) {
    if after < before {
        *truth = None;
        if let Some(names) = names {
            names.truncate(after);
        }
    }
}
