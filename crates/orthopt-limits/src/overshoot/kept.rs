//! C on the rows of points that follow each other: they differ in a few rows, and only these are computed. On more rows than twice the
//! number of samples C is not formed, as two products with the samples cost less than one with C.

use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::measured::Covariance;
use orthopt_linalg::RowMat;
use orthopt_linalg::products::{cross, multiply, product, sparse_product};
use orthopt_linalg::work::count;

/// Rows that are computed one by one: at most this part of those that are asked for; above it all are computed together.
const NEW: usize = 8;
/// Times as many rows as are asked for that are kept at most.
const KEPT: usize = 2;

/// C on some rows, for products with it.
#[derive(Clone, Debug)]
pub(super) enum Section {
    /// The matrix.
    C(RowMat),
    /// Samples of the variables, one in each row, and what C is divided by.
    Samples(RowMat, f64),
}

impl Section {
    /// That of the samples, where products with them cost less than with C.
    pub fn of_samples<F: Quadratic>((f, cov): (&F, &Covariance), rows: &[usize]) -> Option<Self> {
        let at = f.factor().filter(|at| 2 * at.ncols() < rows.len())?;
        count(rows.len() * at.ncols());
        let part = RowMat::from_fn(rows.len(), at.ncols(), |a, l| at.get(rows[a], l));
        Some(Self::Samples(part, cov.unit()))
    }

    /// CX, entry by entry of an X that is `sparse`.
    pub fn times(&self, x: &RowMat, sparse: bool) -> RowMat {
        match self {
            Self::C(c) => multiplied(c, x, sparse),
            Self::Samples(at, unit) => {
                let scores = cross(at, x);
                let mut out = RowMat::zeros(x.nrows(), x.ncols());
                product(&mut out, false, 1.0 / unit, at.as_mat(), scores.as_mat());
                out
            }
        }
    }
}

/// MX, M symmetric, entry by entry of an X that is `sparse`.
pub(super) fn multiplied(m: &RowMat, x: &RowMat, sparse: bool) -> RowMat {
    if sparse {
        return sparse_product(m, x);
    }
    multiply(m.as_mat(), x.as_mat())
}

/// C on some rows, in increasing order.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    rows: Vec<usize>,
    c: RowMat,
}

impl Default for Kept {
    fn default() -> Self {
        Self { rows: Vec::new(), c: RowMat::zeros(0, 0) }
    }
}

impl Kept {
    /// C on `rows`, which are in increasing order, in the unit of `cov`; `None` where they are too many to keep it.
    pub fn block<F: Quadratic>(&mut self, (f, cov): (&F, &Covariance), rows: &[usize]) -> Option<RowMat> {
        if cov.matrix().is_some() {
            return cov.block(f, rows);
        }
        let new = rows.iter().filter(|i| self.rows.binary_search(i).is_err()).count();
        if new * NEW > rows.len() {
            let c = cov.block(f, rows)?;
            (self.rows, self.c) = (rows.to_vec(), c.clone());
            return Some(c);
        }
        if new > 0 {
            self.extend((f, cov), rows, new);
        }
        count(rows.len() * rows.len());
        let at: Vec<usize> = rows.iter().filter_map(|i| self.rows.binary_search(i).ok()).collect();
        Some(RowMat::from_fn(at.len(), at.len(), |a, b| self.c.get(at[a], at[b])))
    }

    /// Keeps C on these rows, of which so many are new, too.
    fn extend<F: Quadratic>(&mut self, (f, cov): (&F, &Covariance), rows: &[usize], new: usize) {
        let mut all = rows.to_vec();
        if self.rows.len() + new <= KEPT * rows.len() {
            all.extend(&self.rows);
            all.sort_unstable();
            all.dedup();
        }
        count(32 * new * all.len());
        let before: Vec<Option<usize>> = all.iter().map(|i| self.rows.binary_search(i).ok()).collect();
        let mut c = RowMat::zeros(all.len(), all.len());
        for a in 0..all.len() {
            for b in 0..=a {
                let value = match (before[a], before[b]) {
                    (Some(a), Some(b)) => self.c.get(a, b),
                    _ => -f.curvature(all[b], all[a]) / cov.unit(),
                };
                c.set(a, b, value);
                c.set(b, a, value);
            }
        }
        (self.rows, self.c) = (all, c);
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use orthopt_core::smooth::DenseGram;

    /// Products with C itself are the slow twin.
    #[test]
    fn a_product_with_samples_is_that_with_the_covariance() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
        let (m, n) = (9, 80);
        let a = Mat::from_fn(m, n, |_, _| rng.random_range(-300.0..300.0));
        let f = DenseGram::new(a.as_ref());
        let cov = Covariance::new(&f, false);
        let few: Vec<usize> = (0..2 * m).collect();
        assert!(Section::of_samples((&f, &cov), &few).is_none());
        let rows: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        let section = Section::of_samples((&f, &cov), &rows).unwrap();
        let x = RowMat::from_fn(rows.len(), 4, |_, _| rng.random_range(-1.0..1.0));
        let slow = multiplied(&cov.block(&f, &rows).unwrap(), &x, false);
        let largest = slow.data().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(largest > 1.0);
        let fast = section.times(&x, false);
        assert!(fast.data().iter().zip(slow.data()).all(|(a, b)| (a - b).abs() <= 1e-14 * largest));
    }

    /// Blocks that are computed anew are the slow twin.
    #[test]
    fn blocks_are_those_of_the_rows() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
        let n = 2500; // more than are kept as a matrix
        let a = Mat::from_fn(5, n, |_, _| rng.random_range(-1.0..1.0));
        let f = DenseGram::new(a.as_ref());
        let cov = Covariance::new(&f, false);
        assert!(cov.matrix().is_none());
        let mut kept = Kept::default();
        let mut rows: Vec<usize> = (0..60).map(|i| 7 * i + 3).collect();
        for step in 0..200 {
            match step % 40 {
                39 => rows = (0..60).map(|i| 11 * i + step).collect(),
                _ => {
                    let place = rng.random_range(0..rows.len());
                    rows[place] = rng.random_range(0..n);
                    rows.sort_unstable();
                    rows.dedup();
                }
            }
            let (c, slow) = (kept.block((&f, &cov), &rows).unwrap(), cov.block(&f, &rows).unwrap());
            assert_eq!(c.nrows(), rows.len());
            assert!(c.data().iter().zip(slow.data()).all(|(a, b)| (a - b).abs() <= 1e-14), "{step}");
            assert!(kept.rows.len() <= KEPT * rows.len() + NEW, "{step}");
        }
    }
}
