//! What kind of point X is (docs/mathematics.md, section 5): criticality and block-2 stationarity.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::constraint::Stiefel;
use crate::linalg::RowMat;
use crate::linalg::bounded::shortest_residual;
use crate::linalg::kernels::is_zero;
use crate::linalg::products::{cross, product};
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::nonsmooth::Nonsmooth;
use crate::pair::PairPenalty;
use crate::pair::movable::Movable;
use crate::pair::step::{Pair, PairResult, PairWork, Shape, solve_pair};
use crate::problem::Problem;
use crate::smooth::{Quadratic, Smooth};

/// Block-2 stationarity of a point (docs/mathematics.md, section 5; OBCD paper, Definition 3.5).
///
/// Only pairs with a nonzero row can change X; `pairs_total` counts those. The point is
/// certified when all of them were checked and none lowers F by more than a stated tolerance.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Certificate {
    /// Pairs whose subproblem was solved globally.
    pub pairs_checked: u64,
    /// Pairs that can change X.
    pub pairs_total: u64,
    /// The largest decrease of F that any checked pair offers.
    pub max_decrease: f64,
    /// Mean over the checked pairs of dist(I, argmin)².
    pub mean_distance: f64,
}

impl Certificate {
    /// Whether every pair was checked and none offers more than `tolerance`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.pairs_checked == self.pairs_total && self.max_decrease <= tolerance
    }
}

/// Which pairs [`block_stationarity`] checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All pairs that can move.
    All,
    /// So many random ones (with repetition), by a seed.
    Sample {
        /// Number of pairs.
        pairs: u64,
        /// Seed.
        seed: u64,
    },
}

/// Solves the subproblem of every pair that can move X (or of a sample) globally, with the
/// exact model and α = 0, and reports the largest decrease of F that any of them offers and the
/// mean of dist(I, argmin)² (OBCD paper, Definition 3.5), a pair that offers less than
/// 1e-12·(1 + |F|) counting as optimal.
///
/// Cost: a gradient, then O(r log r) a pair, in parallel; the result does not depend on the
/// number of threads.
pub fn block_stationarity<F: Quadratic, H: PairPenalty>(
    p: &Problem<Stiefel, F, H>,
    x: &RowMat,
    scope: Scope,
) -> Certificate {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    p.f.gradient(x, &mut g);
    let rows = Movable::new(x);
    let total = rows.pairs();
    let noise = 1e-12 * (1.0 + p.objective(x).total.abs());
    let check = Check { p, x, g: &g, shape: Shape::exact(&p.f), noise };
    let parts: Vec<Tally> = match scope {
        Scope::All => {
            let nonzero = rows.sorted();
            nonzero
                .par_iter()
                .map_init(|| PairWork::new(x.ncols()), |work, i| check.row(*i, &rows, work))
                .collect()
        }
        Scope::Sample { pairs, seed } => {
            const CHUNK: u64 = 4096;
            (0..pairs.div_ceil(CHUNK))
                .into_par_iter()
                .map_init(
                    || PairWork::new(x.ncols()),
                    |work, c| {
                        // a stream of its own for every chunk
                        let mut rng =
                            Pcg64::seed_from_u64(seed.wrapping_add(c.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
                        let mut tally = Tally::default();
                        for _ in 0..CHUNK.min(pairs - c * CHUNK) {
                            if let Some((i, j)) = rows.random_pair(&mut rng) {
                                check.pair(i, j, i, work, &mut tally);
                            }
                        }
                        tally
                    },
                )
                .collect()
        }
    };
    let mut sum = Tally::default();
    for t in parts {
        sum.checked += t.checked;
        sum.distance += t.distance;
        sum.max_decrease = sum.max_decrease.max(t.max_decrease);
    }
    let mean_distance = if sum.checked > 0 { sum.distance / sum.checked as f64 } else { 0.0 };
    Certificate {
        pairs_checked: sum.checked,
        pairs_total: total,
        max_decrease: sum.max_decrease,
        mean_distance,
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    checked: u64,
    max_decrease: f64,
    distance: f64,
}

/// One subproblem as a kernel.
struct Solve<'a, H> {
    h: &'a H,
    shape: Shape,
    k: [f64; 3],
    g: (&'a [f64], &'a [f64]),
    z: (&'a [f64], &'a [f64]),
    work: &'a mut PairWork,
}

impl<H: PairPenalty> WithSimd for Solve<'_, H> {
    type Output = PairResult;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairResult {
        let pair = Pair { k: self.k, g: self.g, z: self.z };
        solve_pair(simd, self.h, self.shape, pair, self.work.parts())
    }
}

struct Check<'a, F, H> {
    p: &'a Problem<Stiefel, F, H>,
    x: &'a RowMat,
    g: &'a RowMat,
    shape: Shape,
    noise: f64, // decreases of F below this are rounding
}

impl<F: Quadratic, H: PairPenalty> Check<'_, F, H> {
    /// Row i (nonzero) with all partners that have not met it as the smaller nonzero row.
    fn row(&self, i: usize, rows: &Movable, work: &mut PairWork) -> Tally {
        let mut tally = Tally::default();
        for j in 0..self.x.nrows() {
            if j != i && (j > i || !rows.contains(j)) {
                self.pair(i.min(j), i.max(j), i, work, &mut tally);
            }
        }
        tally
    }

    fn pair(&self, i: usize, j: usize, pivot: usize, work: &mut PairWork, tally: &mut Tally) {
        let k = self.p.f.pair_curvature((i, j), pivot, &mut work.unpacked);
        let (g, z) = ((self.g.row(i), self.g.row(j)), (self.x.row(i), self.x.row(j)));
        debug_assert!(!is_zero(z.0) || !is_zero(z.1));
        let found = dispatch(Solve { h: &self.p.h, shape: self.shape, k, g, z, work });
        tally.checked += 1;
        tally.max_decrease = tally.max_decrease.max(found.decrease);
        // a minimiser no lower than I up to rounding (swapped duplicate rows, say) makes I one too
        if found.decrease > self.noise {
            tally.distance += found.step.map_or(0.0, |v| 2.0 * v.half_dist_sq());
        }
    }
}

/// dist(0, ∂_M F(X)) in the measure of the papers: the smallest ‖G − XGᵀX‖_F over G ∈ ∇f(X) +
/// ∂h(X), where ∂h is free (ℓ0), an interval (ℓ1) or a half-line (X ≥ 0) wherever X = 0.
///
/// The operator T(D) = D − XDᵀX is self-adjoint with ‖T‖ ≤ 2, so this is a convex quadratic in
/// the free entries with interval constraints, solved by projected gradients with momentum and
/// restart to a relative change of 1e-10. Cost 4nr² flops an iteration.
pub fn criticality<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x: &RowMat) -> f64 {
    let (n, r) = (x.nrows(), x.ncols());
    let mut grad = RowMat::zeros(n, r);
    p.f.gradient(x, &mut grad);
    let bounds: Vec<(f64, f64)> = x.data().iter().map(|v| p.h.subdifferential(*v)).collect();
    let residual = |d: &RowMat| -> RowMat {
        let mut g = grad.clone();
        g.data_mut().iter_mut().zip(d.data()).for_each(|(a, b)| *a += b);
        commutator(x, &g)
    };
    // The best entry by entry for T = I is a good start: cancel the gradient where possible.
    let mut d = grad.clone();
    d.data_mut().iter_mut().for_each(|v| *v = -*v);
    // T is self-adjoint; step 1/‖T‖² = 1/4
    let descent = |e: &RowMat| {
        let mut out = commutator(x, e);
        out.data_mut().iter_mut().for_each(|v| *v *= 0.25);
        out
    };
    shortest_residual(d, &bounds, residual, descent)
}

/// T(G) = G − XGᵀX.
fn commutator(x: &RowMat, g: &RowMat) -> RowMat {
    let gtx = cross(g, x); // GᵀX
    let mut out = g.clone();
    product(&mut out, true, -1.0, x.as_mat(), gtx.as_mat());
    out
}
