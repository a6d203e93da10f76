//! Pairs of rows of f(X) + h(X), XᵀX = I.

use super::{Certificate, Offer, PairOffers, Scope, can_be_squared, certify, largest};
use crate::constraint::Stiefel;
use crate::objective::size;
use crate::pair::PairPenalty;
use crate::pair::movable::Movable;
use crate::pair::step::{Pair, PairResult, PairWork, Shape, solve_pair};
use crate::problem::Problem;
use crate::smooth::{Quadratic, Smooth, together};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::kernels::{inner, is_zero};
use orthopt_linalg::order::largest_first;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// Block-2 stationarity of X (OBCD paper, Definition 3.5) over all pairs that can move, or a sample: the
/// largest decrease of F by any of them and the mean of dist(I, argmin)². A pair that lowers F by less than 1e-12
/// times its size counts as optimal.
///
/// Cost: a gradient, then O(r log r) a pair, in parallel; the result does not depend on the number of
/// threads. `Family::block_stationarity` can be stopped.
pub fn block_stationarity<F: Quadratic, H: PairPenalty>(
    p: &Problem<Stiefel, F, H>,
    x: &RowMat,
    scope: Scope,
) -> Certificate {
    certify(&RowOffers::new(p, x), scope, &Cancel::never())
}

/// Decreases of F by pairs of rows of X.
pub struct RowOffers<'a, F, H> {
    p: &'a Problem<Stiefel, F, H>,
    x: &'a RowMat,
    g: RowMat, // ∇f(X)
    rows: Movable,
    noise: f64,
}

impl<'a, F: Smooth, H: PairPenalty> RowOffers<'a, F, H> {
    /// Cost of a gradient.
    pub fn new(p: &'a Problem<Stiefel, F, H>, x: &'a RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        p.f.gradient(x, &mut g);
        Self { p, x, g, rows: Movable::new(x), noise: 1e-12 * size(p.f.scale(x), p.objective(x).total) }
    }
}

impl<F: Quadratic, H: PairPenalty> PairOffers for RowOffers<'_, F, H> {
    type Work = PairWork;

    fn work(&self) -> PairWork {
        PairWork::new(self.x.ncols())
    }

    fn rows(&self) -> &Movable {
        &self.rows
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn sizes(&self) -> [f64; 2] {
        [largest(&self.g), self.p.f.scale(self.x)]
    }

    fn offer(&self, (i, j): (usize, usize), pivot: usize, work: &mut PairWork) -> Offer {
        let k = self.p.f.pair_curvature((i, j), pivot, &mut work.unpacked);
        let (d, g) = (self.p.f.column_weights(), (self.g.row(i), self.g.row(j)));
        let pair = Pair { k, d, g, z: (self.x.row(i), self.x.row(j)) };
        let found = dispatch(Solve { h: &self.p.h, shape: Shape::exact(&self.p.f), pair, work });
        Offer { decrease: found.decrease, distance: found.step.map_or(0.0, |v| 2.0 * v.half_dist_sq()) }
    }
}

/// The zero rows of X that lower F, the largest decrease first: by an entry that leaves 0, where the gradient is steeper than h
/// ([`Nonsmooth::subdifferential`](crate::nonsmooth::Nonsmooth::subdifferential)), or in a pair with a row x that is not zero. Every such pair is solved globally where
/// a bound leaves it a decrease. None where h does not say what a turn costs ([`Nonsmooth::turning_price`](crate::nonsmooth::Nonsmooth::turning_price)).
///
/// V turns the two rows to cx and sx, c² + s² = 1. So f changes by Ac + Bs + D(c² − s²) + 2Ecs − A − D, and h rises by nothing where
/// c = 0, else by (|c| + |s| − 1)P at least, P the price of x; by all of P where h counts nonzeros and s ≠ 0.
///
/// Cost: the rows of C that X has, O(r) a pair, and a subproblem for each that is left.
pub fn entering_rows<F: Quadratic, H: PairPenalty>(
    p: &Problem<Stiefel, F, H>,
    x: &RowMat,
    cancel: &Cancel,
) -> Vec<usize> {
    let n = x.nrows();
    let offers = RowOffers::new(p, x);
    if !can_be_squared(offers.sizes()) {
        return Vec::new();
    }
    let m = p.f.diagonal();
    let (zero, nonzero): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| is_zero(x.row(*i)));
    let mut work = offers.work();
    let mut best = vec![0.0f64; n];
    let (_, slope) = p.h.subdifferential(0.0);
    let counts = slope.is_infinite();
    let rounding = f64::EPSILON * largest(&offers.g);
    for i in &zero {
        let steeper = offers.g.row(*i).iter().fold(0.0f64, |most, v| most.max(v.abs())) - slope;
        best[*i] = if steeper > rounding { steeper } else { 0.0 };
    }
    for some in nonzero.chunks(together(n)) {
        if cancel.is_over() {
            return Vec::new();
        }
        let units: Vec<_> = some.iter().map(|j| vec![(*j, 1.0)]).collect();
        let rows = p.f.apply_few(&units);
        for (place, j) in some.iter().enumerate() {
            let xj = x.row(*j);
            let Some(price) = p.h.turning_price(xj) else { continue };
            let size = inner(xj, xj);
            let a = inner(offers.g.row(*j), xj) - size * m[*j];
            for i in &zero {
                let mij = rows.get(place, *i);
                let b = inner(offers.g.row(*i), xj) - size * mij;
                let (d, e) = (0.25 * size * (m[*j] - m[*i]), 0.5 * size * mij);
                let most = if counts {
                    let both = (a.hypot(b) + a) + (d.hypot(e) + d) - price;
                    both.max(a + 2.0 * d + b.abs())
                } else {
                    // A(1 − c) <= A(1 − |c|) + 2 max(A, 0), and 1 − |c| <= |s|
                    let turned = b.abs() + 2.0 * (d.max(0.0) + e.abs()) - price + (a + price).max(0.0);
                    turned.max(0.0) + 2.0 * a.max(0.0)
                };
                if most > offers.noise {
                    let decrease = offers.offer(((*i).min(*j), (*i).max(*j)), *j, &mut work).decrease;
                    if decrease > offers.noise {
                        best[*i] = best[*i].max(decrease);
                    }
                }
            }
        }
    }
    let lowers = best.iter().zip(0..).filter(|(decrease, _)| **decrease > 0.0);
    let mut found: Vec<(f64, usize)> = lowers.map(|(decrease, i)| (*decrease, i)).collect();
    largest_first(&mut found);
    found.into_iter().map(|e| e.1).collect()
}

/// One subproblem as a kernel.
struct Solve<'a, H> {
    h: &'a H,
    shape: Shape,
    pair: Pair<'a>,
    work: &'a mut PairWork,
}

impl<H: PairPenalty> WithSimd for Solve<'_, H> {
    type Output = PairResult;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairResult {
        solve_pair(simd, self.h, self.shape, self.pair, self.work.parts())
    }
}
