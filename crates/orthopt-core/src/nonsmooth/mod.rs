//! Trait of nonsmooth terms h(X), sums over the entries or the rows of X. The penalties are in [`crate::penalty`].

mod pieces;
mod subgradients;

pub use pieces::{Piece, Pieces};
pub use subgradients::Subgradients;

use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::inner;
use orthopt_linalg::simd::dispatch;

/// A nonsmooth term h(X) = Σ h(Xᵢⱼ), or λ Σ ‖X(i,:)‖₂ where [`Nonsmooth::row_weight`] says so. What is said of a whole X
/// holds for both; methods that take single entries ask first.
pub trait Nonsmooth: Clone + std::fmt::Debug + Send + Sync {
    /// λ where h(X) = λ Σ ‖X(i,:)‖₂, a function of the rows of X and not of its entries.
    fn row_weight(&self) -> Option<f64> {
        None
    }

    /// h(X).
    fn of(&self, x: &RowMat) -> f64 {
        match self.row_weight() {
            None => self.value(x.data()),
            Some(_) => (0..x.nrows()).map(|i| self.value(x.row(i))).sum(),
        }
    }

    /// The proximal map of μh on whole rows of `columns` entries, in place.
    fn prox_rows(&self, rows: &mut [f64], columns: usize, mu: f64) {
        let Some(lambda) = self.row_weight() else { return self.prox_all(rows, mu) };
        let t = mu * lambda;
        for row in rows.chunks_exact_mut(columns.max(1)) {
            let size = inner(row, row).sqrt();
            let share = if size > t { 1.0 - t / size } else { 0.0 };
            row.iter_mut().for_each(|v| *v *= share);
        }
    }

    /// h of one entry; +∞ outside the domain.
    fn entry(&self, x: f64) -> f64;

    /// h of a row; Σ h(xₖ) of any entries where h is a sum over entries.
    #[inline(always)]
    fn value(&self, x: &[f64]) -> f64 {
        x.iter().map(|v| self.entry(*v)).sum()
    }

    /// A minimiser of (x − v)²/(2μ) + h(x), μ > 0.
    fn prox(&self, v: f64, mu: f64) -> f64;

    /// [`Nonsmooth::prox`] of every entry, in place.
    fn prox_all(&self, v: &mut [f64], mu: f64) {
        dispatch(|| v.iter_mut().for_each(|x| *x = self.prox(*x, mu)));
    }

    /// The limiting subdifferential ∂h(x) as an interval [lo, hi] (possibly unbounded).
    fn subdifferential(&self, x: f64) -> (f64, f64);

    /// dist(−g, ∂h(x)): the distance of the entry x with gradient g from stationarity.
    fn distance_to_stationarity(&self, x: f64, g: f64) -> f64 {
        let (lo, hi) = self.subdifferential(x);
        (lo + g).max(-g - hi).max(0.0)
    }

    /// (α, β) with h(t) = α + βt + ½κt² for t near x, κ = [`Nonsmooth::bend`], where h has that
    /// form (x not a kink).
    fn affine(&self, _x: f64) -> Option<(f64, f64)> {
        None
    }

    /// κ of [`Nonsmooth::affine`]; zero unless h is curved between its kinks.
    fn bend(&self, _x: f64) -> f64 {
        0.0
    }

    /// The smallest W ≥ 0 for which h + W/2·x² is convex, `None` when there is none.
    fn weak_convexity(&self) -> Option<f64> {
        None
    }

    /// Lipschitz constant of h in one entry |x| ≤ 1 (no entry of X is larger); infinite where h
    /// jumps or is infinite.
    fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }

    /// The points where h is not smooth.
    fn kinks(&self) -> &[f64] {
        &[0.0]
    }

    /// True if h is convex, with prox and ∂h as they are for convex functions.
    fn is_convex(&self) -> bool {
        self.weak_convexity() == Some(0.0)
    }

    /// True if h = 0.
    fn is_zero(&self) -> bool {
        false
    }

    /// True if X must be nonnegative entry by entry.
    fn requires_nonneg(&self) -> bool {
        false
    }

    /// True if h(−x) = h(x), so that columns of X may change their signs.
    fn is_even(&self) -> bool {
        true
    }

    /// P with h(cx) + h(sx) >= h(x) + (|c| + |s| − 1)P for c² + s² = 1, the least that it costs to turn a row x and a zero row; h(x) where h is concave in
    /// the sizes of entries. `None` where that is not known.
    fn turning_price(&self, _x: &[f64]) -> Option<f64> {
        None
    }

    /// True if h rewards exact zeros (and a coordinate start makes sense).
    fn promotes_sparsity(&self) -> bool {
        false
    }
}
