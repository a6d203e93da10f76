//! Scores of samples, with names and labels of the rows.

use std::path::Path;

use faer::{Mat, MatRef};
use orthopt::RowMat;
use orthopt::problem::squares_on_span;
use orthopt_data::{Matrix, Table, write_table};

/// Scores of samples and what is known of these.
#[derive(Clone, Debug)]
pub struct Rows {
    /// A row for each sample, a column for each component.
    pub scores: Mat<f64>,
    /// Names of the samples.
    pub names: Option<Vec<String>>,
    /// Groups they belong to.
    pub labels: Option<Vec<String>>,
}

impl Rows {
    /// Writes the scores as a table.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let names = component_names(self.scores.ncols());
        let (row_names, values) = (self.names.as_deref(), self.scores.as_ref());
        Ok(write_table(path, &Table { corner: "sample", row_names, names: &names, values })?)
    }
}

/// `PC1`, `PC2`, ...
pub fn component_names(count: usize) -> Vec<String> {
    (1..=count).map(|k| format!("PC{k}")).collect()
}

/// (A − 1·`means`ᵀ)·X·`factor` without a dense copy of A.
pub fn scores(a: &Matrix, means: Option<&[f64]>, factor: f64, x: &RowMat) -> Mat<f64> {
    let mut scores = match a {
        Matrix::Dense(a) => a * x.as_mat(),
        Matrix::Sparse(a) => {
            let mut scores = Mat::zeros(a.nrows(), x.ncols());
            for j in 0..a.ncols() {
                for (i, value) in a.row_idx_of_col(j).zip(a.val_of_col(j)) {
                    for (k, loading) in x.row(j).iter().enumerate() {
                        scores[(i, k)] += value * loading;
                    }
                }
            }
            scores
        }
    };
    for k in 0..x.ncols() {
        let shift = means.map_or(0.0, |means| (0..x.nrows()).map(|j| means[j] * x.get(j, k)).sum());
        scores.col_as_slice_mut(k).iter_mut().for_each(|score| *score = factor * (*score - shift));
    }
    scores
}

/// Share of the sum of squares of A − 1·`means`ᵀ that the projection of the rows on the components keeps.
pub fn share_explained(x: &RowMat, scores: MatRef<'_, f64>, sum_of_squares: f64) -> Option<f64> {
    let products = RowMat::from_mat((scores.transpose() * scores).as_ref());
    (sum_of_squares > 0.0).then(|| squares_on_span(x, &products) / sum_of_squares)
}
