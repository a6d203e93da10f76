//! Stability of the components over halves of the rows.

use serde::ser::{Serialize, Serializer};

use orthopt_linalg::RowMat;

/// Frequencies and loadings over both halves of pairs of disjoint halves of the rows
/// (`orthopt::stability::stability`).
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Number of pairs whose halves both have a solution: all numbers here are of these.
    pub pairs: usize,
    /// Number of pairs asked for.
    pub requested: usize,
    /// Number of pairs left out because a half has no solution.
    pub failed: usize,
    /// Number of halves whose search a limit of time ended: a longer one may find better components of them.
    pub limited: usize,
    /// Selection frequencies (n × r): the share of the halves in which the loading is not zero.
    pub frequency: RowMat,
    /// Simultaneous selection frequencies (n × r): the share of the pairs in which the loading is zero in neither half.
    pub simultaneous: RowMat,
    /// The 2.5 % percentiles of the loadings over the halves (n × r).
    pub low: RowMat,
    /// The 97.5 % percentiles of the loadings over the halves (n × r).
    pub high: RowMat,
    /// Mean |cosine| between each component and the one of a half that it is matched to.
    pub cosine: Vec<f64>,
    /// Share of the halves in which any component uses the variable; no matching is needed for it.
    pub used: Vec<f64>,
    /// Mean number of nonzeros of each component over the halves.
    pub selected: Vec<f64>,
    /// Mean number of variables that any component uses.
    pub selected_together: f64,
}

impl Stability {
    /// Selection frequency from which on a variable counts as selected in reports.
    pub const THRESHOLD: f64 = 0.9;
    /// Pairs below which no percentages are said: the standard error of a share of 90 % of 40 halves is 5 %.
    pub const FEW: usize = 20;

    /// Bound of the expected number of variables that each component takes at this threshold although it takes them in a half
    /// no more often than a variable on the average: q²/((2τ − 1)n), q being the mean number of nonzeros over the halves
    /// (Theorem 1 of Shah & Samworth 2013 with θ = q/n; the same number as Theorem 1 of Meinshausen & Bühlmann 2010, which
    /// assumes exchangeability). Infinite for τ ≤ 1/2, of which the theorem says nothing.
    pub fn expected_false(&self, threshold: f64) -> Vec<f64> {
        self.selected.iter().map(|q| expected_false(*q, self.used.len(), threshold)).collect()
    }

    /// Bound as in [`Stability::expected_false`] for the variables that any component uses.
    pub fn expected_false_together(&self, threshold: f64) -> f64 {
        expected_false(self.selected_together, self.used.len(), threshold)
    }
}

fn expected_false(q: f64, n: usize, threshold: f64) -> f64 {
    if threshold > 0.5 { q * q / ((2.0 * threshold - 1.0) * n as f64) } else { f64::INFINITY }
}

impl Serialize for Stability {
    /// The object `stability` of JSON; its fields are a contract. Matrices are lists of rows, a variable each.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Object<'a> {
            subsamples: usize,
            pairs: usize,
            requested: usize,
            failed: usize,
            limited: usize,
            threshold: f64,
            expected_false: Vec<f64>,
            expected_false_together: f64,
            cosine: &'a [f64],
            selected: &'a [f64],
            selected_together: f64,
            used: &'a [f64],
            frequency: Vec<&'a [f64]>,
            simultaneous: Vec<&'a [f64]>,
            low: Vec<&'a [f64]>,
            high: Vec<&'a [f64]>,
        }
        let rows = |x| -> Vec<&[f64]> { (0..RowMat::nrows(x)).map(|i| x.row(i)).collect() };
        Object {
            subsamples: 2 * self.pairs,
            pairs: self.pairs,
            requested: self.requested,
            failed: self.failed,
            limited: self.limited,
            threshold: Self::THRESHOLD,
            expected_false: self.expected_false(Self::THRESHOLD),
            expected_false_together: self.expected_false_together(Self::THRESHOLD),
            cosine: &self.cosine,
            selected: &self.selected,
            selected_together: self.selected_together,
            used: &self.used,
            frequency: rows(&self.frequency),
            simultaneous: rows(&self.simultaneous),
            low: rows(&self.low),
            high: rows(&self.high),
        }
        .serialize(serializer)
    }
}
