//! Cross-validation by cells: every cell of the table is left out once and predicted from the other cells of its row.
//!
//! ```text
//! pattern      cell (i, j) is in fold (a_i + b_j) mod K; a and b count rows and columns in a random order, so that every row and
//!              every column has its share of every fold
//! fit          C of the cells that are left: means and products of each pair of columns over the rows that have both, which
//!              come from different rows and may be no covariance of any; then its correlations without the negative eigenvalues,
//!              with the same variances
//! prediction   of the cells M of a row from its others O: scores t from the trimmed scores X_O'a_O by their regression,
//!              t = X'C_O X_O (X_O'C_OO X_O + s I)⁺ X_O'a_O, and a_M = X_M t; s is the level of noise, the variance beyond
//!              that of the components as a mean over as many variables as are left, 1/m of the mean variance at least: the
//!              regression takes nothing from combinations of scores that noise alone accounts for
//! share        1 − Σ (a − prediction)² / Σ a² over the cells left out
//! ```
//!
//! * S. Wold: Cross-validatory estimation of the number of components in factor and principal components models.
//!   Technometrics 20 (1978) 397–405.
//! * F. Arteaga, A. Ferrer: Dealing with missing data in MSPC: several methods, different interpretations, some examples.
//!   J. Chemom. 16 (2002) 408–418, for trimmed score regression.
//! * J. Camacho, A. Ferrer: Cross-validation in PCA models with the element-wise k-fold (ekf) algorithm: theoretical aspects.
//!   J. Chemom. 26 (2012) 361–373.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use orthopt_core::problem::PcaData;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::factor::transpose;
use orthopt_linalg::products::{self, cross, symmetric_cross, times};
use orthopt_linalg::small::spectral_function;

/// Which fold a cell is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    rows: Vec<usize>,
    columns: Vec<usize>,
    count: usize,
}

/// Least number of folds: with two, half of the pairs of columns have no row in common.
const LEAST: usize = 3;

impl Pattern {
    /// `count` folds of the cells of m rows and n columns; depends on the seed alone.
    ///
    /// # Errors
    /// Fewer than three folds, or more than rows; a single column.
    pub fn new((m, n): (usize, usize), count: usize, seed: u64) -> Result<Self> {
        if count < LEAST || count > m || n < 2 {
            let expected = match n < 2 || m < LEAST {
                true => "no cross-validation by cells: the others of a row predict a cell, which takes 3 rows and 2 columns".into(),
                false => format!("a number of folds from {LEAST} to {m}, the rows, for cells"),
            };
            return Err(Error::InvalidOption { option: "cv".into(), value: count.to_string(), expected });
        }
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x43_45_4c_4c);
        let mut classes = |size: usize| {
            let mut order: Vec<usize> = (0..size).collect();
            (1..size).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
            let mut class = vec![0; size];
            order.into_iter().enumerate().for_each(|(place, i)| class[i] = place % count);
            class
        };
        Ok(Self { rows: classes(m), columns: classes(n), count })
    }

    /// The fold of a cell.
    pub fn fold(&self, row: usize, column: usize) -> usize {
        (self.rows[row] + self.columns[column]) % self.count
    }

    /// The class of the rows that lack a column in a fold.
    fn lacking(&self, column: usize, fold: usize) -> usize {
        (fold + self.count - self.columns[column]) % self.count
    }
}

/// The cells of one fold left out.
pub(super) struct Cells<'a> {
    pattern: &'a Pattern,
    fold: usize,
    /// Variables in rows, without their means of the cells that are left.
    all: RowMat,
    /// Samples in rows, 0 where a cell is left out.
    left: RowMat,
    /// C of the cells that are left, in the units of all rows.
    pub(super) c: RowMat,
}

impl<'a> Cells<'a> {
    /// `roots` are those of the weights, which the rows have been multiplied with.
    pub(super) fn new(
        data: &PcaData<'_>,
        (centred, roots): (bool, Option<&[f64]>),
        pattern: &'a Pattern,
        fold: usize,
    ) -> Result<Self> {
        let mut all = data.variables()?;
        let (n, m) = (all.nrows(), all.ncols());
        let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
        if centred {
            for j in 0..n {
                let kept = (0..m).filter(|i| pattern.fold(*i, j) != fold);
                let (sum, mass) =
                    kept.fold((0.0, 0.0), |(s, w), i| (s + all.get(j, i) * root(i), w + root(i) * root(i)));
                let mean = if mass > 0.0 { sum / mass } else { 0.0 };
                (0..m).for_each(|i| all.set(j, i, all.get(j, i) - mean * root(i)));
            }
        }
        let left = RowMat::from_fn(m, n, |i, j| if pattern.fold(i, j) == fold { 0.0 } else { all.get(j, i) });
        let mut classes = vec![0.0; pattern.count];
        (0..m).for_each(|i| classes[pattern.rows[i]] += root(i) * root(i));
        let c = of_pairs(&left, pattern, fold, &classes);
        let c = semidefinite(&c).ok_or(Error::Factorisation("the eigenvalue decomposition"))?;
        Ok(Self { pattern, fold, all, left, c })
    }

    /// s, the variance of a combination of variables that is noise.
    fn noise(&self, cx: &RowMat, x: &RowMat) -> f64 {
        let (n, r) = (x.nrows(), x.ncols());
        let variance: f64 = (0..n).map(|j| self.c.get(j, j)).sum();
        let rest = (variance - x.inner(cx)).max(0.0) / n.saturating_sub(r).max(1) as f64;
        rest.max(variance / (n * self.left.nrows()).max(1) as f64)
    }

    /// Share of the sum of squares of the cells left out that X predicts.
    pub(super) fn predicted(&self, x: &RowMat) -> f64 {
        let (n, r) = (x.nrows(), x.ncols());
        let trimmed = times(&self.left, x); // X_O'a_O of every row: what is left out is 0
        let cx = times(&self.c, x);
        let noise = self.noise(&cx, x);
        let (mut error, mut total) = (0.0, 0.0);
        for class in 0..self.pattern.count {
            let out: Vec<usize> = (0..n).filter(|j| self.pattern.lacking(*j, self.fold) == class).collect();
            let mut kept = x.clone();
            out.iter().for_each(|j| kept.row_mut(*j).fill(0.0));
            let s = cross(&kept, &times(&self.c, &kept)).symmetric_part();
            let largest = (0..r).fold(noise, |most: f64, k| most.max(s.get(k, k)));
            // without variance there is nothing to predict from
            let inverse = |v: f64| if v > NOTHING * largest { 1.0 / (v + noise) } else { 0.0 };
            let Some(inverse) = spectral_function(&s, inverse) else { return f64::NAN };
            // X'C_O X_O (…)⁺, from trimmed scores to scores
            let regression = times(&cross(&cx, &kept), &inverse);
            for i in (0..self.left.nrows()).filter(|i| self.pattern.rows[*i] == class) {
                let score: Vec<f64> = (0..r).map(|k| dot(regression.row(k), trimmed.row(i))).collect();
                for j in &out {
                    let value = self.all.get(*j, i);
                    error += (value - dot(x.row(*j), &score)).powi(2);
                    total += value * value;
                }
            }
        }
        1.0 - error / if total > 0.0 { total } else { 1.0 }
    }
}

/// Eigenvalues of scores below this share of the largest variance are rounding: a component whose variables are all left
/// out.
const NOTHING: f64 = 1e-10;

/// Products of each pair of columns over the rows that have both, in the units of all rows; `classes` are the weights of
/// the classes of rows.
fn of_pairs(left: &RowMat, pattern: &Pattern, fold: usize, classes: &[f64]) -> RowMat {
    let (n, total) = (left.ncols(), classes.iter().sum::<f64>());
    let mut c = symmetric_cross(left, left);
    for j in 0..n {
        for l in 0..n {
            let (p, q) = (pattern.lacking(j, fold), pattern.lacking(l, fold));
            let both = total - classes[p] - if p == q { 0.0 } else { classes[q] };
            let factor = if both > 0.0 { total / both } else { 0.0 };
            c.set(j, l, c.get(j, l) * factor);
        }
    }
    c
}

/// C without negative eigenvalues of its correlations, and with its variances: a step of Higham's method for the nearest
/// correlation matrix (IMA J. Numer. Anal. 22, 2002). A C that has none stays to the last bit. `None` where its eigenvalues
/// cannot be computed.
fn semidefinite(c: &RowMat) -> Option<RowMat> {
    let n = c.nrows();
    let root: Vec<f64> = (0..n).map(|j| c.get(j, j).max(0.0).sqrt()).collect();
    let share = |j: usize, l: usize, size: &[f64]| {
        let both = size[j] * size[l];
        if both > 0.0 { c.get(j, l) / both } else { 0.0 }
    };
    let correlations = RowMat::from_fn(n, n, |j, l| share(j.max(l), j.min(l), &root));
    let (values, vectors) = symmetric_eigenpairs(&correlations)?;
    let largest = values.first().copied().unwrap_or(0.0);
    if values.last().is_none_or(|least| *least >= -ROUNDING * largest) {
        return Some(c.clone());
    }
    let positive = RowMat::from_fn(n, n, |j, k| vectors.get(j, k) * values[k].max(0.0).sqrt());
    let near = products::gram(&transpose(&positive));
    let size: Vec<f64> = (0..n).map(|j| near.get(j, j).sqrt()).collect();
    let entry = |j: usize, l: usize| {
        let both = size[j] * size[l];
        let correlation = if both > 0.0 { near.get(j, l) / both } else { 0.0 };
        if j == l { c.get(j, j) } else { correlation * root[j] * root[l] }
    };
    Some(RowMat::from_fn(n, n, |j, l| entry(j.max(l), j.min(l))))
}

/// Negative eigenvalues of correlations that are rounding.
const ROUNDING: f64 = 1e-12;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn every_cell_is_left_out_once_and_lines_have_their_share() {
        let (m, n, count) = (23, 9, 5);
        let pattern = Pattern::new((m, n), count, 3).unwrap();
        for fold in 0..count {
            let of_row = |i: usize| (0..n).filter(|j| pattern.fold(i, *j) == fold).count();
            let of_column = |j: usize| (0..m).filter(|i| pattern.fold(*i, j) == fold).count();
            assert!((0..m).all(|i| (n / count..=n.div_ceil(count)).contains(&of_row(i))));
            assert!((0..n).all(|j| (m / count..=m.div_ceil(count)).contains(&of_column(j))));
        }
        assert_eq!(pattern, Pattern::new((m, n), count, 3).unwrap());
        assert_ne!(pattern, Pattern::new((m, n), count, 4).unwrap());
        for (shape, folds) in [((23, 9), 2), ((23, 9), 24), ((4, 9), 5), ((23, 1), 3), ((2, 9), 3)] {
            assert!(Pattern::new(shape, folds, 0).is_err(), "{shape:?} {folds}");
        }
        assert!(Pattern::new((20, 2), 3, 0).is_ok());
    }

    /// C and predictions from the definition, one pair of columns and one row after the other.
    #[test]
    fn cells_agree_with_the_definition() {
        let (m, n, count, fold) = (17, 6, 4, 1);
        let a = Mat::from_fn(m, n, |i, j| {
            ((7 * i + 3 * j + i * j) % 11) as f64 + if j < 3 { (i % 5) as f64 } else { 0.0 }
        });
        let roots: Vec<f64> = (0..m).map(|i| 1.0 + (i % 3) as f64).collect();
        let weighted = Mat::from_fn(m, n, |i, j| a[(i, j)] * roots[i]);
        let pattern = Pattern::new((m, n), count, 9).unwrap();
        let x = RowMat::from_fn(n, 2, |j, k| if j / 3 == k { [0.6, 0.48, 0.64][j % 3] } else { 0.0 });
        for roots in [None, Some(&roots[..])] {
            let given = if roots.is_some() { &weighted } else { &a };
            let cells = Cells::new(&PcaData::Dense(given.as_ref()), (true, roots), &pattern, fold).unwrap();
            let w = |i: usize| roots.map_or(1.0, |roots| roots[i].powi(2));
            let here = |i: usize, j: usize| pattern.fold(i, j) != fold;
            let sum = |f: &dyn Fn(usize) -> bool, g: &dyn Fn(usize) -> f64| -> f64 {
                (0..m).filter(|i| f(*i)).map(|i| w(i) * g(i)).sum()
            };
            let mean = |j: usize| sum(&|i| here(i, j), &|i| a[(i, j)]) / sum(&|i| here(i, j), &|_| 1.0);
            let value = |i: usize, j: usize| a[(i, j)] - mean(j);
            let mut classes = vec![0.0; count];
            (0..m).for_each(|i| classes[pattern.rows[i]] += w(i));
            let raw = of_pairs(&cells.left, &pattern, fold, &classes);
            for j in 0..n {
                for l in 0..n {
                    let both = |i: usize| here(i, j) && here(i, l);
                    let expected = sum(&both, &|i| value(i, j) * value(i, l)) / sum(&both, &|_| 1.0)
                        * sum(&|_| true, &|_| 1.0);
                    assert!((raw.get(j, l) - expected).abs() < 1e-9 * expected.abs().max(1.0), "{j} {l}");
                }
            }
            // disjoint components: each score is a simple regression on its trimmed score where these are uncorrelated
            let c = &cells.c;
            let variance: f64 = (0..n).map(|j| c.get(j, j)).sum();
            let of_x: f64 = (0..2)
                .flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |l| (k, j, l))))
                .map(|(k, j, l)| x.get(j, k) * c.get(j, l) * x.get(l, k))
                .sum();
            let noise = ((variance - of_x) / (n - 2) as f64).max(variance / (n * m) as f64);
            let (mut error, mut total) = (0.0, 0.0);
            for i in 0..m {
                let o: Vec<usize> = (0..n).filter(|j| here(i, *j)).collect();
                let s = Mat::from_fn(2, 2, |p, q| {
                    o.iter()
                        .flat_map(|j| o.iter().map(move |l| (*j, *l)))
                        .map(|(j, l)| x.get(j, p) * c.get(j, l) * x.get(l, q))
                        .sum::<f64>()
                        + if p == q { noise } else { 0.0 }
                });
                let h = Mat::from_fn(2, 2, |p, q| {
                    (0..n)
                        .flat_map(|j| o.iter().map(move |l| (j, *l)))
                        .map(|(j, l)| x.get(j, p) * c.get(j, l) * x.get(l, q))
                        .sum::<f64>()
                });
                let det = s[(0, 0)] * s[(1, 1)] - s[(0, 1)] * s[(1, 0)];
                let tau = [0, 1].map(|k| o.iter().map(|j| x.get(*j, k) * value(i, *j)).sum::<f64>());
                let u = [
                    (s[(1, 1)] * tau[0] - s[(0, 1)] * tau[1]) / det,
                    (s[(0, 0)] * tau[1] - s[(1, 0)] * tau[0]) / det,
                ];
                let t = [0, 1].map(|k| h[(k, 0)] * u[0] + h[(k, 1)] * u[1]);
                for j in (0..n).filter(|j| !here(i, *j)) {
                    let predicted = x.get(j, 0) * t[0] + x.get(j, 1) * t[1];
                    error += w(i) * (value(i, j) - predicted).powi(2);
                    total += w(i) * value(i, j).powi(2);
                }
            }
            let found = cells.predicted(&x);
            assert!((found - (1.0 - error / total)).abs() < 1e-10, "{found} {}", 1.0 - error / total);
        }
    }

    /// Without negative eigenvalues, with the same variances; what is a covariance stays to the last bit.
    #[test]
    fn what_is_no_covariance_is_made_one() {
        let (given, n) = (RowMat::from_fn(4, 4, |i, j| [4.0, -3.9, 0.0, 0.0][i.abs_diff(j)]), 4);
        let made = semidefinite(&given).unwrap();
        let values = symmetric_eigenpairs(&made).unwrap().0;
        assert!(symmetric_eigenpairs(&given).unwrap().0[n - 1] < -1.0);
        assert!(values[n - 1] > -1e-12 && (0..n).all(|j| made.get(j, j) == 4.0), "{values:?}");
        assert!((0..n).all(|j| (0..n).all(|l| made.get(j, l) == made.get(l, j))));
        let x = RowMat::from_fn(7, n, |i, j| ((3 * i + 5 * j + i * j) as f64).sin());
        let covariance = products::gram(&x);
        assert_eq!(semidefinite(&covariance).unwrap(), covariance);
        // a column without variance has no correlations
        let zero = RowMat::from_fn(2, 2, |i, j| if (i, j) == (1, 1) { 2.0 } else { 0.0 });
        assert_eq!(semidefinite(&zero).unwrap(), zero);
    }
}
