//! Scores of samples, with names and labels of the rows; correlations of the variables with them.

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

/// Data beside the report that files show.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The samples; none where the data are C itself.
    pub rows: Option<Rows>,
    /// Correlations of the variables with the scores of the first two components: n × 2, or n × 1.
    pub correlations: Mat<f64>,
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

/// Correlations of the columns of A with scores, 0 for constant ones. Rows of both have been multiplied by `roots`, the square roots
/// of their weights.
pub fn correlations(a: &Matrix, scores: MatRef<'_, f64>, roots: Option<&[f64]>) -> Mat<f64> {
    let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
    let mass: f64 = (0..scores.nrows()).map(|i| root(i) * root(i)).sum();
    let columns = (0..scores.ncols()).map(|k| {
        let entries = (0..scores.nrows()).map(move |i| (i, scores[(i, k)]));
        let own = Column::of(entries.clone(), root, mass);
        entries.map(|(i, value)| own.deviation(value, root(i)) / own.length).collect()
    });
    let columns: Vec<Vec<f64>> = columns.collect();
    match a {
        Matrix::Dense(a) => {
            products(a.ncols(), |j| (0..a.nrows()).map(move |i| (i, a[(i, j)])), &columns, root, mass)
        }
        Matrix::Sparse(a) => products(
            a.ncols(),
            |j| a.row_idx_of_col(j).zip(a.val_of_col(j).iter().copied()),
            &columns,
            root,
            mass,
        ),
    }
}

/// Mean and length of a column, in a unit in which squares of large and small data are numbers.
struct Column {
    unit: f64,
    mean: f64,
    /// Of the deviations from the mean; infinite for a constant column, whose deviations are rounding.
    length: f64,
}

impl Column {
    /// Of the entries that are stored; others are 0.
    fn of(
        entries: impl Iterator<Item = (usize, f64)> + Clone,
        root: impl Fn(usize) -> f64,
        mass: f64,
    ) -> Self {
        let largest = entries.clone().fold(0.0, |most: f64, (_, value)| most.max(value.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let mean = entries.clone().map(|(i, value)| root(i) * (value / unit)).sum::<f64>() / mass;
        let mut own = Self { unit, mean, length: f64::INFINITY };
        let (mut square, mut stored) = (0.0, 0.0);
        for (i, value) in entries {
            square += own.deviation(value, root(i)).powi(2);
            stored += root(i) * root(i);
        }
        square += (mass - stored) * mean * mean;
        if square > mass * CONSTANT * CONSTANT {
            own.length = square.sqrt();
        }
        own
    }

    fn deviation(&self, value: f64, root: f64) -> f64 {
        value / self.unit - root * self.mean
    }
}

/// Deviations of at most this share of the entries are rounding.
const CONSTANT: f64 = 1e-14;

/// Inner products of columns, centred and of length 1, with `others`, which are.
fn products<I: Iterator<Item = (usize, f64)> + Clone>(
    n: usize,
    column: impl Fn(usize) -> I,
    others: &[Vec<f64>],
    root: impl Fn(usize) -> f64 + Copy,
    mass: f64,
) -> Mat<f64> {
    let mut found = Mat::zeros(n, others.len());
    let sums: Vec<f64> =
        others.iter().map(|z| z.iter().enumerate().map(|(i, z)| root(i) * z).sum()).collect(); // 0 to rounding
    for j in 0..n {
        let own = Column::of(column(j), root, mass);
        for (k, z) in others.iter().enumerate() {
            let (mut product, mut stored) = (0.0, 0.0);
            for (i, value) in column(j) {
                product += own.deviation(value, root(i)) * z[i];
                stored += root(i) * z[i];
            }
            found[(j, k)] = (product - (sums[k] - stored) * own.mean) / own.length;
        }
    }
    found
}

/// Correlations of variables with their scores Y = AX where C = A'A of centred samples is known: CX with columns and rows divided by
/// standard deviations, 0 where one is 0. Above 1 in size for a C that is not positive semidefinite.
pub fn correlations_of_c(c: &Matrix, x: &RowMat) -> Mat<f64> {
    let mut found = scores(c, None, 1.0, x);
    let root = |variance: f64| if variance > 0.0 { variance.sqrt() } else { f64::INFINITY };
    let entry = |j: usize| match c {
        Matrix::Dense(c) => c[(j, j)],
        Matrix::Sparse(c) => {
            c.row_idx_of_col(j).zip(c.val_of_col(j)).find(|at| at.0 == j).map_or(0.0, |at| *at.1)
        }
    };
    let of_scores: Vec<f64> =
        (0..x.ncols()).map(|k| root((0..x.nrows()).map(|j| x.get(j, k) * found[(j, k)]).sum())).collect();
    for j in 0..x.nrows() {
        let of_variable = root(entry(j));
        (0..x.ncols()).for_each(|k| found[(j, k)] = found[(j, k)] / of_variable / of_scores[k]);
    }
    found
}

/// Share of the sum of squares of A − 1·`means`ᵀ that the projection of the rows on the components keeps.
pub fn share_explained(x: &RowMat, scores: MatRef<'_, f64>, sum_of_squares: f64) -> Option<f64> {
    let products = RowMat::from_mat((scores.transpose() * scores).as_ref());
    (sum_of_squares > 0.0).then(|| squares_on_span(x, &products) / sum_of_squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::sparse::{SparseColMat, Triplet};

    /// Formula of the textbook, with frequencies as weights.
    fn slow(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
        let mass: f64 = weights.iter().sum();
        let mean = |x: &[f64]| x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() / mass;
        let (ma, mb) = (mean(a), mean(b));
        let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
            (0..x.len()).map(|i| weights[i] * (x[i] - mx) * (y[i] - my)).sum()
        };
        product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
    }

    fn table(m: usize, n: usize) -> Mat<f64> {
        Mat::from_fn(m, n, |i, j| {
            let value = ((i * 7 + j * 13 + i * i * j) % 11) as f64 - 4.0;
            if (i + j) % 3 == 0 { 0.0 } else { value }
        })
    }

    fn sparse(a: &Mat<f64>) -> Matrix {
        let entries = (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j)));
        let kept: Vec<_> =
            entries.filter(|at| a[*at] != 0.0).map(|(i, j)| Triplet::new(i, j, a[(i, j)])).collect();
        SparseColMat::try_new_from_triplets(a.nrows(), a.ncols(), &kept).unwrap().into()
    }

    #[test]
    fn correlations_are_those_of_the_textbook_in_any_unit() {
        let (m, n) = (17, 5);
        let a = table(m, n);
        let x = RowMat::from_fn(n, 2, |j, k| [0.6, -0.8, 0.0, 0.3, 0.1][(j + 2 * k) % 5]);
        let column = |a: &Mat<f64>, j: usize| -> Vec<f64> { (0..m).map(|i| a[(i, j)]).collect() };
        for weights in [vec![1.0; m], (0..m).map(|i| 1.0 + (i % 4) as f64).collect()] {
            let plain = &a * x.as_mat();
            for (unit, shift) in [(1.0, 0.0), (2f64.powi(500), 0.0), (2f64.powi(-500), 0.0), (1.0, 1e6)] {
                let moved = Mat::from_fn(m, n, |i, j| weights[i].sqrt() * (unit * a[(i, j)] + shift));
                let z = &moved * x.as_mat();
                let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
                for of in [Matrix::Dense(moved.clone()), sparse(&moved)] {
                    let found = correlations(&of, z.as_ref(), Some(&roots));
                    for (j, k) in (0..n).flat_map(|j| [(j, 0), (j, 1)]) {
                        let wanted = slow(&column(&a, j), &column(&plain, k), &weights);
                        assert!(
                            (found[(j, k)] - wanted).abs() < 1e-9,
                            "{unit} {shift} {j} {k}: {} {wanted}",
                            found[(j, k)]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn of_c_they_are_those_of_the_samples() {
        let a = table(23, 4);
        let centred = Mat::from_fn(23, 4, |i, j| a[(i, j)] - (0..23).map(|i| a[(i, j)]).sum::<f64>() / 23.0);
        let x = RowMat::from_fn(4, 2, |j, k| [0.5, -0.5, 0.5, 0.5, 0.1][j + k]);
        let wanted = correlations(&Matrix::Dense(a), (&centred * x.as_mat()).as_ref(), None);
        let c = centred.transpose() * &centred;
        for of in [Matrix::Dense(c.clone()), sparse(&c)] {
            let found = correlations_of_c(&of, &x);
            assert!((&found - &wanted).norm_max() < 1e-12, "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn constant_columns_and_empty_components_correlate_with_nothing() {
        let a = Mat::from_fn(6, 3, |i, j| [0.1, 0.0, i as f64][j]);
        let z = Mat::from_fn(6, 2, |i, k| if k == 0 { i as f64 } else { 0.0 });
        for of in [Matrix::Dense(a.clone()), sparse(&a)] {
            let found = correlations(&of, z.as_ref(), None);
            assert!((found[(2, 0)] - 1.0).abs() < 1e-15);
            let others = (0..3).flat_map(|j| [(j, 0), (j, 1)]).filter(|at| *at != (2, 0));
            others.for_each(|at| assert_eq!(found[at], 0.0, "{at:?}"));
        }
        let c = Mat::from_fn(3, 3, |i, j| f64::from(u8::from(i == 2 && j == 2)));
        let x = RowMat::from_fn(3, 2, |j, k| f64::from(u8::from(j == 2 && k == 0)));
        let found = correlations_of_c(&Matrix::Dense(c), &x);
        assert_eq!((found[(2, 0)], found[(0, 0)], found[(2, 1)]), (1.0, 0.0, 0.0));
    }
}
