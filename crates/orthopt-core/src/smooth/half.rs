//! Half a product with M = −AᵀA: from variables to samples, or back.

use orthopt_linalg::RowMat;

/// A vector with few entries, each with its index.
pub type Entries = Vec<(usize, f64)>;

/// The data A (m × n) of M = −AᵀA, centred where C is, for methods that work with samples. Vectors are rows.
pub trait Samples: Sync {
    /// (AW)ᵀ (k × m) for k vectors w of variables. Cost m for an entry of W where A is dense.
    fn mixtures(&self, w: &[Entries]) -> RowMat;

    /// (AᵀZ)ᵀ (k × n) for Zᵀ (k × m). Cost of half a gradient.
    fn scores(&self, z: &RowMat) -> RowMat;

    /// Work of the scores of one z.
    fn work(&self) -> usize;
}

/// Representation of M for products with it.
#[derive(Clone, Copy)]
pub enum Halves<'a> {
    /// Two products with the data.
    Samples(&'a dyn Samples),
    /// M itself, dense and symmetric.
    Matrix(&'a RowMat),
    /// Nothing that is known: only [`apply_few`](super::Quadratic::apply_few).
    Unknown,
}

impl std::fmt::Debug for Halves<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Samples(_) => "Samples",
            Self::Matrix(_) => "Matrix",
            Self::Unknown => "Unknown",
        })
    }
}

/// Number of entries of all vectors.
pub(super) fn entries(w: &[Entries]) -> usize {
    w.iter().map(Vec::len).sum()
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use faer::sparse::{SparseColMat, Triplet};

    use super::*;
    use crate::smooth::{AnySmooth, DenseGram, Quadratic, SparseGram};

    /// Dense and sparse data, centred or not, against sums entry by entry.
    #[test]
    fn half_products_are_those_of_the_centred_matrix() {
        let (m, n, k) = (70, 23, 3);
        let entry = |i: usize, j: usize| match j {
            // a column far from 0, which has an entry in every row
            5 => 1e6 + (i % 3) as f64,
            _ if (i * j + i) % 4 == 1 => (i % 9) as f64 - 3.0,
            _ => 0.0,
        };
        let mean = |j: usize| (0..m).map(|i| entry(i, j)).sum::<f64>() / m as f64;
        let stored: Vec<_> =
            (0..m * n).map(|e| (e / n, e % n)).filter(|(i, j)| entry(*i, *j) != 0.0).collect();
        let triplets: Vec<_> = stored.iter().map(|(i, j)| Triplet::new(*i, *j, entry(*i, *j))).collect();
        let sparse = SparseColMat::<usize, f64>::try_new_from_triplets(m, n, &triplets).unwrap();
        let z = RowMat::from_fn(k, m, |l, i| ((l * 31 + i * 17) as f64).sin());
        let w: Vec<Entries> = vec![vec![(5, 0.5), (0, -1.0), (22, 2.0)], vec![], vec![(7, 1.0)]];
        for centred in [false, true] {
            let a = |i: usize, j: usize| entry(i, j) - if centred { mean(j) } else { 0.0 };
            let dense = DenseGram::new(Mat::from_fn(m, n, a).as_ref());
            let means = centred.then(|| (0..n).map(mean).collect());
            let sparse = SparseGram::new(sparse.as_ref(), means).unwrap();
            for f in [AnySmooth::DenseGram(dense), AnySmooth::SparseGram(sparse)] {
                let Halves::Samples(data) = f.halves() else { panic!("no samples") };
                let (mixtures, scores) = (data.mixtures(&w), data.scores(&z));
                for (l, w) in w.iter().enumerate() {
                    for i in 0..m {
                        let slow: f64 = w.iter().map(|(j, v)| v * a(i, *j)).sum();
                        assert!((mixtures.get(l, i) - slow).abs() <= 1e-9 * (1.0 + slow.abs()), "{l} {i}");
                    }
                    for j in 0..n {
                        let slow: f64 = (0..m).map(|i| a(i, j) * z.get(l, i)).sum();
                        let size: f64 = (0..m).map(|i| (a(i, j) * z.get(l, i)).abs()).sum();
                        assert!((scores.get(l, j) - slow).abs() <= 1e-9 * size, "{l} {j}");
                    }
                }
            }
        }
    }
}
