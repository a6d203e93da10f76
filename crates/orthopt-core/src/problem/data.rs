//! The data of PCA problems.

use faer::MatRef;
use faer::sparse::SparseColMatRef;

use crate::smooth::{Centring, for_each};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Data of a PCA problem: samples in rows and variables in columns, or C itself.
#[derive(Clone, Debug)]
pub enum PcaData<'a> {
    /// A dense A (m × n), C = AᵀA.
    Dense(MatRef<'a, f64>),
    /// A dense A (m × n) and its column means, C = (A − 1μᵀ)ᵀ(A − 1μᵀ), without a copy of A.
    Centred(MatRef<'a, f64>, Centring),
    /// A sparse A (m × n), C = AᵀA; with column means, C = (A − 1μᵀ)ᵀ(A − 1μᵀ), not densified.
    Sparse(SparseColMatRef<'a, usize, f64>, Option<Vec<f64>>),
    /// A symmetric C (n × n).
    Gram(MatRef<'a, f64>),
    /// A sparse symmetric C. Nonlinear eigenvalue problems keep Laplacians sparse, all others make
    /// C dense.
    SparseGram(SparseColMatRef<'a, usize, f64>),
}

impl PcaData<'_> {
    /// n, the number of variables.
    pub fn ncols(&self) -> usize {
        match self {
            Self::Dense(a) | Self::Centred(a, _) => a.ncols(),
            Self::Sparse(a, _) => a.ncols(),
            Self::Gram(c) => c.ncols(),
            Self::SparseGram(c) => c.ncols(),
        }
    }

    /// m, the number of samples; `None` of C itself.
    pub fn samples(&self) -> Option<usize> {
        match self {
            Self::Dense(a) | Self::Centred(a, _) => Some(a.nrows()),
            Self::Sparse(a, _) => Some(a.nrows()),
            Self::Gram(_) | Self::SparseGram(_) => None,
        }
    }

    /// A dense copy of the samples, a variable in each row (n × m), centred as C is; of C itself without columns.
    ///
    /// # Errors
    /// Data that are not finite.
    #[doc(hidden)]
    pub fn variables(&self) -> Result<RowMat> {
        let (n, m) = (self.ncols(), self.samples().unwrap_or(0));
        let out = match self {
            Self::Dense(a) => RowMat::from_fn(n, m, |j, i| a[(i, j)]),
            Self::Centred(a, centring) => RowMat::from_fn(n, m, |j, i| centring.apply(j, a[(i, j)])),
            Self::Sparse(a, means) => {
                let mean = |j: usize| means.as_ref().map_or(0.0, |means| means[j]);
                let mut out = RowMat::from_fn(n, m, |j, _| -mean(j));
                for j in 0..n {
                    let entries = a.row_idx_of_col(j).zip(a.val_of_col(j));
                    entries.for_each(|(i, v)| out.set(j, i, v - mean(j)));
                }
                out
            }
            Self::Gram(_) | Self::SparseGram(_) => RowMat::zeros(n, 0),
        };
        match out.find_non_finite() {
            Some((j, i)) => Err(Error::NotFinite { what: "the data matrix".into(), row: i + 1, col: j + 1 }),
            None => Ok(out),
        }
    }

    /// Cᵢᵢ, without C.
    pub fn squares(&self) -> Vec<f64> {
        match self {
            Self::Gram(c) => (0..c.ncols().min(c.nrows())).map(|i| c[(i, i)]).collect(),
            Self::SparseGram(c) => (0..c.ncols()).map(|j| c.get(j, j).copied().unwrap_or(0.0)).collect(),
            Self::Centred(a, centring) => centring.squares(*a),
            Self::Dense(a) => {
                let mut sums = vec![0.0; a.ncols()];
                for_each(*a, |_, j, v| sums[j] += v * v);
                sums
            }
            Self::Sparse(a, means) => (0..a.ncols())
                .map(|j| {
                    let mean = means.as_ref().map_or(0.0, |m| m[j]);
                    let stored = a.val_of_col(j);
                    let absent = (a.nrows() - stored.len()) as f64;
                    stored.iter().map(|v| (v - mean).powi(2)).sum::<f64>() + absent * mean * mean
                })
                .collect(),
        }
    }
}

impl<'a> From<&'a RowMat> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: &'a RowMat) -> Self {
        Self::Dense(a.as_mat())
    }
}

impl<'a> From<&'a faer::Mat<f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: &'a faer::Mat<f64>) -> Self {
        Self::Dense(a.as_ref())
    }
}

impl<'a> From<MatRef<'a, f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: MatRef<'a, f64>) -> Self {
        Self::Dense(a)
    }
}

impl<'a> From<SparseColMatRef<'a, usize, f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: SparseColMatRef<'a, usize, f64>) -> Self {
        Self::Sparse(a, None)
    }
}
