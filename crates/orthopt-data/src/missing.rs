//! Treatment of missing values.

use faer::{Mat, Side};

use crate::dataset::{DataSet, Matrix, Role};
use crate::error::DataError;
use crate::text::show;
use orthopt_linalg::column_mean::ColumnMean;

/// Treatment of missing values: cells such as `NA` in tables, NaN in dense arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// They are an error that names the first of them.
    #[default]
    Error,
    /// Replaced by the mean of the column.
    Mean,
    /// Rows with missing values are left out.
    Drop,
    /// Regularised EM on a model of a few components (Josse, Pagès and Husson 2009; the `imputePCA` of
    /// missMDA): columns are standardised, missing entries begin at 0, and are then predicted by the
    /// leading components with shrunken singular values until they no longer change.
    Em,
    /// They stay NaN, for the caller to see to; nothing else is checked.
    Keep,
}

impl Missing {
    /// Names that [`Missing::parse`] reads, with one line each.
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        ("error", "missing values are an error"),
        ("mean", "replaced by the mean of the column"),
        ("drop", "rows with missing values are left out"),
        ("em", "predicted from the leading components of the other values, repeated until convergence"),
    ];

    /// A choice of [`Missing::NAMES`].
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Error, Self::Mean, Self::Drop, Self::Em];
        Self::NAMES.iter().zip(all).find(|(name, _)| name.0 == text).map(|(_, how)| how)
    }

    /// The data without missing values. Those of sparse data stay.
    ///
    /// # Errors
    /// A column without any value, no complete row, missing values in C itself.
    pub fn apply(self, mut data: DataSet) -> Result<DataSet, DataError> {
        let problem = |problem: String| DataError::File { path: data.source.clone(), problem };
        let Matrix::Dense(matrix) = &mut data.matrix else {
            return Ok(data);
        };
        let missing = missing_entries(matrix);
        if missing.is_empty() || matches!(self, Self::Error | Self::Keep) {
            return Ok(data);
        }
        if data.role == Role::Gram {
            return Err(problem(
                "missing values in C itself cannot be filled in; compute C without them".into(),
            ));
        }
        if self == Self::Drop {
            return without(data, &missing);
        }
        let means = observed_means(matrix);
        if let Some(j) = means.iter().position(|mean| mean.is_nan()) {
            let name = data
                .names
                .as_ref()
                .map_or(String::new(), |names| format!(" ({})", show(names[j].as_bytes())));
            return Err(problem(format!("column {}{name} has no values at all; remove it", j + 1)));
        }
        missing.iter().for_each(|(i, j)| matrix[(*i, *j)] = means[*j]);
        if self == Self::Em {
            em(matrix, &missing);
        }
        data.missing = missing.len();
        Ok(data)
    }
}

fn missing_entries(matrix: &Mat<f64>) -> Vec<(usize, usize)> {
    let columns = (0..matrix.ncols()).map(|j| (j, matrix.col_as_slice(j)));
    let of_column = |(j, column): (usize, &[f64])| -> Vec<(usize, usize)> {
        column.iter().enumerate().filter(|(_, v)| v.is_nan()).map(|(i, _)| (i, j)).collect()
    };
    columns.flat_map(of_column).collect()
}

/// The mean of each column over the values it has; NaN where it has none.
fn observed_means(matrix: &Mat<f64>) -> Vec<f64> {
    let mean = |column: &[f64]| {
        let observed: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        if observed.is_empty() { f64::NAN } else { ColumnMean::of(&observed, observed.len()).value() }
    };
    (0..matrix.ncols()).map(|j| mean(matrix.col_as_slice(j))).collect()
}

/// The rows that have no missing entry.
fn without(mut data: DataSet, missing: &[(usize, usize)]) -> Result<DataSet, DataError> {
    let mut complete = vec![true; data.matrix.nrows()];
    missing.iter().for_each(|(i, _)| complete[*i] = false);
    let kept: Vec<usize> = (0..complete.len()).filter(|i| complete[*i]).collect();
    if kept.is_empty() {
        let problem = "no row is complete, so none would be left; use mean or em instead of drop".into();
        return Err(DataError::File { path: data.source, problem });
    }
    data = data.with_rows(&kept);
    data.missing = missing.len();
    Ok(data)
}

/// Components of the model, as far as the sizes allow.
const COMPONENTS: usize = 5;
const ITERATIONS: usize = 300;
/// Change of the missing entries, relative to their size, that ends it.
const SETTLED: f64 = 1e-7;

/// Replaces the missing entries, which hold means; the others stay as they are, bit by bit. Cost per iteration: mn·min(m, n).
fn em(matrix: &mut Mat<f64>, missing: &[(usize, usize)]) {
    let (m, n) = matrix.shape();
    let components = COMPONENTS.min(m.min(n).saturating_sub(2));
    if components == 0 {
        return; // no model has fewer parameters than the means
    }
    let mut filled = matrix.clone();
    let scales = standardise(matrix);
    for _ in 0..ITERATIONS {
        let Some(fitted) = shrunken_fit(matrix, components) else { break };
        let (mut change, mut size) = (0.0, 0.0);
        for &(i, j) in missing {
            change += (fitted[(i, j)] - matrix[(i, j)]).powi(2);
            size += fitted[(i, j)].powi(2);
            matrix[(i, j)] = fitted[(i, j)];
        }
        if change <= SETTLED * SETTLED * size.max(1e-300) {
            break;
        }
    }
    for &(i, j) in missing {
        let (mean, spread) = scales[j];
        filled[(i, j)] = mean + spread * matrix[(i, j)];
    }
    *matrix = filled;
}

/// Mean 0 and standard deviation 1, as far as there is one; returns what was subtracted and divided by.
fn standardise(matrix: &mut Mat<f64>) -> Vec<(f64, f64)> {
    let rows = matrix.nrows() as f64;
    let columns = 0..matrix.ncols();
    let one = |column: &mut [f64]| {
        let mean = ColumnMean::of(column, column.len());
        let spread = (column.iter().map(|v| mean.apply(*v).powi(2)).sum::<f64>() / rows).sqrt();
        let spread = if spread > 0.0 { spread } else { 1.0 };
        column.iter_mut().for_each(|value| *value = mean.apply(*value) / spread);
        (mean.value(), spread)
    };
    columns.map(|j| one(matrix.col_as_slice_mut(j))).collect()
}

/// Column means plus the leading components, their singular values shrunk from s to (s² − m'σ²)/s,
/// σ² the variance of what they leave (per degree of freedom).
fn shrunken_fit(matrix: &Mat<f64>, components: usize) -> Option<Mat<f64>> {
    let (m, n) = matrix.shape();
    let means: Vec<f64> = (0..n).map(|j| matrix.col_as_slice(j).iter().sum::<f64>() / m as f64).collect();
    let centred = Mat::from_fn(m, n, |i, j| matrix[(i, j)] - means[j]);
    let wide = n > m;
    let gram = if wide { &centred * centred.transpose() } else { centred.transpose() * &centred };
    let eigen = gram.self_adjoint_eigen(Side::Lower).ok()?; // ascending
    let size = gram.nrows();
    let squares: Vec<f64> = (0..size).rev().map(|k| eigen.S().column_vector()[k].max(0.0)).collect();
    let (mf, nf, q) = (m as f64, n as f64, components as f64);
    let freedom = (mf - 1.0) * nf - (mf - 1.0) * q - nf * q + q * q;
    let noise = squares[components..].iter().sum::<f64>() / freedom.max(1.0);
    let level = noise * mf * nf / nf.min(mf - 1.0);
    let weight = |k: usize| if squares[k] > 0.0 { ((squares[k] - level) / squares[k]).max(0.0) } else { 0.0 };
    let leading = Mat::from_fn(size, components, |i, k| eigen.U()[(i, size - 1 - k)]);
    let weighted = Mat::from_fn(size, components, |i, k| leading[(i, k)] * weight(k));
    let fitted = if wide {
        &weighted * (leading.transpose() * &centred)
    } else {
        (&centred * &weighted) * leading.transpose()
    };
    Some(Mat::from_fn(m, n, |i, j| fitted[(i, j)] + means[j]))
}
