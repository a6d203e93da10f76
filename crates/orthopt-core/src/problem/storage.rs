//! Storage of the data in f, chosen by the operations of the methods (docs/mathematics.md, section 3).

use super::PcaData;
use crate::options::choices;

choices! {
    /// Representation of the data in f.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Storage as "storage", STORAGES {
        /// Chosen from the shape and the number of nonzeros.
        #[default]
        Auto = "auto", "the cheaper one";
        /// C = AᵀA formed (n² numbers).
        Dense = "dense", "C";
        /// A kept as it is, nothing n × n.
        Gram = "gram", "A";
    }
}

/// Multiplications per column of X.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// A full gradient.
    pub gradient: f64,
    /// Preparation of a pair of rows.
    pub pair: f64,
    /// A move of a pair of rows.
    pub moved: f64,
}

/// Cost of a multiplication with an entry found by its index, relative to one of a product.
const SCATTERED: f64 = 4.0;
/// Cost of a multiplication of a row operation, relative to one of a product, which is blocked for the cache.
const ROWWISE: f64 = 4.0;
/// Cost of a multiplication in a weighted sum of rows, which stays in registers
/// (`linalg::kernels::add_weighted_rows`).
const SUMMED: f64 = 1.5;
/// Share of pairs that move, for searches with few and with many moves.
const MOVES: f64 = 0.25;
/// Up to this number of variables C fits into the cache, rows of its gradient cost nothing,
/// and forming it takes milliseconds.
const FEW: usize = 400;
/// Largest n for which C is formed although A is smaller (128 MB), and for sparse data, where A itself
/// is small.
const DENSE_LIMIT: usize = 4096;
const SPARSE_LIMIT: usize = 2048;
/// Products that the leading eigenvectors take.
const PRODUCTS: f64 = 12.0;

impl Cost {
    /// Of C = AᵀA formed, with the gradient kept.
    pub fn dense(n: usize) -> Self {
        let n = n as f64;
        Self { gradient: n * n, pair: 0.0, moved: 2.0 * ROWWISE * n }
    }

    /// Of A (m × n), with AX kept.
    pub fn gram(m: usize, n: usize) -> Self {
        let (m, n) = (m as f64, n as f64);
        Self { gradient: 2.0 * m * n, pair: 2.0 * SUMMED * m, moved: 2.0 * ROWWISE * m }
    }

    /// Costs of a sparse A with `entries` entries in n columns, with AX kept.
    pub fn sparse(entries: usize, n: usize) -> Self {
        let gradient = 2.0 * SCATTERED * entries as f64;
        Self { gradient, pair: gradient / n.max(1) as f64, moved: gradient / n.max(1) as f64 }
    }

    /// A round of a search: a gradient, and as many pairs as there are rows.
    pub fn round(&self, n: usize) -> f64 {
        self.gradient + n as f64 * (self.pair + MOVES * self.moved)
    }

    /// Cost with the data kept unchanged; `None` for a given C.
    pub fn kept(data: &PcaData<'_>) -> Option<Self> {
        match data {
            PcaData::Dense(a) | PcaData::Centred(a, _) => Some(Self::gram(a.nrows(), a.ncols())),
            PcaData::Sparse(a, _) => Some(Self::sparse(a.compute_nnz(), a.ncols())),
            PcaData::Gram(_) | PcaData::SparseGram(_) => None,
        }
    }
}

impl Storage {
    /// `Dense` or `Gram`, for a search by full gradients and by pairs of rows: the cheaper [`Cost::round`],
    /// but C where there are few variables, and A where C would be large. Never `Auto`.
    #[must_use]
    pub fn for_search(self, data: &PcaData<'_>) -> Self {
        let n = data.ncols();
        let room = match data {
            PcaData::Sparse(..) => n <= SPARSE_LIMIT,
            PcaData::Dense(a) | PcaData::Centred(a, _) => n <= DENSE_LIMIT || n <= 2 * a.nrows(),
            PcaData::Gram(_) | PcaData::SparseGram(_) => true,
        };
        self.unless_fixed(|| {
            let cheaper = Cost::kept(data).is_none_or(|kept| Cost::dense(n).round(n) <= kept.round(n));
            room && (n <= FEW || cheaper)
        })
    }

    /// The choice for a few products with C, as for leading eigenvectors: C is formed only if
    /// that is cheaper, or is fast and there are many rows.
    #[must_use]
    #[doc(hidden)]
    pub fn for_products(self, data: &PcaData<'_>, rank: usize) -> Self {
        let n = data.ncols();
        self.unless_fixed(|| {
            let Some(kept) = Cost::kept(data) else { return true };
            // a column of C takes half a gradient of one column, a product with C one of n²
            let forming = 0.5 * kept.gradient * n as f64;
            let products = PRODUCTS * rank as f64;
            let tall = 0.5 * kept.gradient >= (n * n) as f64;
            tall && (n <= FEW || forming + products * Cost::dense(n).gradient <= products * kept.gradient)
        })
    }

    fn unless_fixed(self, dense: impl FnOnce() -> bool) -> Self {
        match self {
            Self::Auto if dense() => Self::Dense,
            Self::Auto => Self::Gram,
            fixed => fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(m: usize, n: usize) -> (Storage, Storage) {
        let a = faer::Mat::<f64>::zeros(m, n);
        let data = PcaData::Dense(a.as_ref());
        (Storage::Auto.for_search(&data), Storage::Auto.for_products(&data, 5))
    }

    #[test]
    fn wide_data_are_kept_and_the_gram_matrix_of_tall_ones_is_formed() {
        use Storage::{Dense, Gram};
        assert_eq!(chosen(50, 300), (Dense, Gram));
        assert_eq!(chosen(50, 2000), (Gram, Gram));
        assert_eq!(chosen(2000, 300), (Dense, Dense));
        assert_eq!(chosen(1500, 1000), (Dense, Gram));
        assert_eq!(chosen(100, 5000), (Gram, Gram));
        assert_eq!(chosen(0, 3), (Dense, Gram));
    }

    #[test]
    fn what_is_asked_for_is_taken() {
        let a = faer::Mat::<f64>::zeros(3, 2);
        for fixed in [Storage::Dense, Storage::Gram] {
            assert_eq!(fixed.for_search(&PcaData::Dense(a.as_ref())), fixed);
            assert_eq!(fixed.for_products(&PcaData::Dense(a.as_ref()), 1), fixed);
        }
        let given = PcaData::Gram(a.as_ref());
        assert_eq!(Storage::Auto.for_search(&given), Storage::Dense);
        assert_eq!(Storage::Auto.for_products(&given, 1), Storage::Dense);
    }

    #[test]
    fn the_fewer_the_entries_the_earlier_sparse_data_are_kept() {
        let n = 1500;
        let keeps = |entries: usize| Cost::sparse(entries, n).round(n) < Cost::dense(n).round(n);
        let choices: Vec<bool> = (0..12).map(|k| keeps(n << k)).collect();
        assert!(choices[0] && !choices[11] && choices.windows(2).all(|w| w[0] >= w[1]), "{choices:?}");
    }
}
