//! Decreases of f(X) + h(X), XᵀX = I, that pairs of rows offer at the current X.

use super::ObcdOptions;
use super::block::block_round;
use super::jacobi::jacobi_round;
use crate::pair_descent::{Demand, PairOracle, Tried, Upkeep, WorkingSet, stationarity_score};
use crate::prelude::*;
use orthopt_core::objective::size;
use orthopt_core::pair::PairPenalty;
use orthopt_core::pair::movable::Movable;
use orthopt_core::pair::rows::{GradientCache, PairStep};
use orthopt_core::pair::step::{Damping, Model, PairWork, Shape};
use orthopt_core::smooth::{Quadratic, Usage, gradient_row};
use orthopt_linalg::kernels::pair_products;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
use orthopt_linalg::work::count;

/// Accepted moves between two refreshes of the image from X.
const REFRESH: u64 = 100_000;
/// Accepted moves between two checks of the feasibility of X.
const LOOK: u64 = 5_000;
/// ‖XᵀX − I‖_F above which X is repaired on its support.
const DRIFT: f64 = 3e-13;

/// X, repaired where it has left the manifold by more than rounding.
pub(crate) fn repaired(mut x: RowMat) -> RowMat {
    if stiefel::feasibility(&x) > DRIFT {
        stiefel::repair_on_support(&mut x);
    }
    x
}

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
pub(super) struct Iterate<I> {
    pub x: RowMat,       // Xᵗ
    pub image: I,        // Y = MX or R = AX
    pub rows: Movable,   // nonzero rows of X
    pub scale: f64,      // of F
    pub lipschitz: f64,  // L_f, for WSS-OR and for Jacobi rounds of an f that is not concave
    pub repairs: u64,    // times X was repaired
    pub rebalanced: u64, // times the way the gradient is kept was changed
    work: PairWork,      // buffers of the pair step
    cache: Option<GradientCache>,
    scored: RowMat, // gradient rows of the pairs scored last
    usage: Usage,   // since the cost of the gradient was last weighed
}

impl<I> Iterate<I> {
    pub fn new<F: Quadratic<Image = I>>(f: &F, options: &ObcdOptions, x: RowMat) -> Self {
        let image = f.image(&x);
        let scored = options.working_set == WorkingSet::GreedyOr;
        let damped = options.jacobi && !f.is_concave();
        Self {
            cache: GradientCache::new(f, &image, x.ncols()),
            rows: Movable::new(&x),
            scale: f.scale(&x),
            lipschitz: if scored || damped { f.norm() } else { 0.0 },
            repairs: 0,
            rebalanced: 0,
            work: PairWork::new(x.ncols()),
            scored: RowMat::zeros(0, x.ncols()),
            usage: Usage { pairs: 0, moves: 0, nonzero_rows: 0 },
            image,
            x,
        }
    }

    /// Row i of ∇f(X).
    pub fn gradient_row<'a, F: Quadratic<Image = I>>(&'a mut self, f: &'a F, i: usize) -> &'a [f64] {
        let Self { x, image, cache, work, .. } = self;
        match cache {
            Some(cache) => cache.row(f, image, x, i, &mut work.g1),
            None => gradient_row(f, image, x, i, &mut work.g1),
        }
    }

    /// X has moved outside the pair step: cached gradient rows are stale.
    pub fn forget_gradients(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.moved();
        }
    }
}

/// The pairs of rows of X.
pub(super) struct RowPairs<'a, F: Quadratic, H> {
    pub p: &'a Problem<Stiefel, F, H>,
    pub options: &'a ObcdOptions,
    pub at: &'a mut Iterate<F::Image>,
}

impl<F: Quadratic, H: PairPenalty> PairOracle for RowPairs<'_, F, H> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        let shape = self.shape(demand.alpha);
        let Iterate { x, image, rows, work, cache, .. } = &mut *self.at;
        let (f, h, cache, least) = (&self.p.f, &self.p.h, cache.as_mut(), demand.least);
        let found = PairStep { f, h, shape, x: &mut *x, image, work, cache, least }.run(i, j);
        let taken = (found.decrease > 0.0).then_some(found.decrease);
        if taken.is_some() {
            rows.update(i, x);
            rows.update(j, x);
        }
        self.done(Tried::pair(found.offered, taken))
    }

    fn try_blocks(&mut self, blocks: &[Vec<usize>], demand: Demand) -> Tried {
        let (shape, p, at) = (self.shape(demand.alpha), self.p, &mut *self.at);
        let tried = block_round(&p.f, &p.h, shape, demand.least, &mut at.x, &mut at.image, blocks);
        if tried.moves > 0 {
            blocks.iter().flatten().for_each(|i| at.rows.update(*i, &at.x));
            at.forget_gradients();
        }
        self.done(tried)
    }

    /// All at once, with the diagonal model.
    fn try_matching(&mut self, pairs: &[(usize, usize)], demand: Demand) -> Tried {
        let (p, at) = (self.p, &mut *self.at);
        let damping = if p.f.is_concave() { Damping::None } else { Damping::Global(at.lipschitz) };
        let search = self.options.search;
        let shape = Shape { model: Model::Diagonal, alpha: demand.alpha, damping, search };
        let tried = jacobi_round(&p.f, &p.h, (shape, 0.0), &mut at.x, &mut at.image, pairs);
        if tried.moves > 0 {
            at.forget_gradients();
            pairs.iter().flat_map(|(i, j)| [i, j]).for_each(|i| at.rows.update(*i, &at.x));
        }
        self.done(tried)
    }

    /// |S| with G = ∇f + a subgradient of h: 0 for ℓ0 and indicators, λ sign(X) for ℓ1.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let (p, at) = (self.p, &mut *self.at);
        let Iterate { x, image, work, cache, usage, scored: g, lipschitz, scale, .. } = at;
        usage.pairs += pairs.len() as u64;
        let mut gradient = |i: usize, out: &mut [f64]| {
            let known = match cache {
                Some(cache) => cache.row(&p.f, image, x, i, &mut work.g1),
                None => gradient_row(&p.f, image, x, i, &mut work.g1),
            };
            out.copy_from_slice(known);
            add_subgradient(&p.h, x.row(i), out);
        };
        // every row once where pairs meet rows again and again, else two rows of G for each pair
        let whole = pairs.len() > 2 * x.nrows();
        let rows = if whole { x.nrows() } else { 2 * pairs.len() };
        if (g.nrows(), g.ncols()) != (rows, x.ncols()) {
            *g = RowMat::zeros(rows, x.ncols());
        }
        if whole {
            (0..rows).for_each(|i| gradient(i, g.row_mut(i)));
        } else {
            for (k, (i, j)) in pairs.iter().enumerate() {
                gradient(*i, g.row_mut(2 * k));
                gradient(*j, g.row_mut(2 * k + 1));
            }
        }
        let ObcdOptions { working_set: rule, alpha, .. } = *self.options;
        let alpha = alpha * *scale;
        dispatch(Score { g, x, pairs, whole, rule, alpha, lipschitz: *lipschitz })
    }

    fn narrow(&mut self) {
        self.at.narrow(self.p);
    }

    fn size(&self, objective: f64) -> f64 {
        size(self.at.scale, objective)
    }

    fn upkeep(&self) -> Upkeep {
        Upkeep { refresh: REFRESH, look: LOOK, between_passes: false }
    }

    fn has_drifted(&self) -> bool {
        stiefel::feasibility(&self.at.x) > DRIFT
    }

    fn refresh(&mut self) -> f64 {
        let (p, drifted, at) = (self.p, self.has_drifted(), &mut *self.at);
        if drifted {
            stiefel::repair_on_support(&mut at.x);
            at.repairs += 1;
        }
        at.image = p.f.image(&at.x);
        at.cache = GradientCache::new(&p.f, &at.image, at.x.ncols());
        p.f.value_at(&at.image, &at.x) + p.h.value(at.x.data())
    }
}

impl<F: Quadratic, H: PairPenalty> RowPairs<'_, F, H> {
    fn shape(&self, alpha: f64) -> Shape {
        let ObcdOptions { model, search, .. } = *self.options;
        Shape { model, alpha, damping: Damping::of(&self.p.f), search }
    }

    /// Every n/8 pairs or so: is the gradient kept the cheapest way?
    #[inline]
    fn done(&mut self, tried: Tried) -> Tried {
        let (read, moved) = self.p.f.pair_work(&self.at.image);
        count(tried.pairs as usize * read + tried.moves as usize * moved);
        let usage = &mut self.at.usage;
        usage.pairs += tried.pairs;
        usage.moves += tried.moves;
        if usage.pairs >= (self.at.x.nrows() as u64 / 8).max(16) {
            self.weigh();
        }
        tried
    }

    fn weigh(&mut self) {
        let (f, at) = (&self.p.f, &mut *self.at);
        let usage = Usage { nonzero_rows: at.rows.count(), ..at.usage };
        at.usage = Usage { pairs: 0, moves: 0, nonzero_rows: 0 };
        if f.rebalance(&mut at.image, &at.x, usage) {
            at.cache = GradientCache::new(f, &at.image, at.x.ncols());
            at.rebalanced += 1;
        }
    }
}

/// Scores pairs, as a kernel: the gradient rows of pair k are rows 2k and 2k + 1 of G, or those of the pair
/// where G is `whole`.
struct Score<'a> {
    g: &'a RowMat,
    x: &'a RowMat,
    pairs: &'a [(usize, usize)],
    whole: bool,
    rule: WorkingSet,
    alpha: f64,
    lipschitz: f64,
}

impl WithSimd for Score<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let (g, x) = (self.g, self.x);
        let mut out = Vec::with_capacity(self.pairs.len());
        // a plain loop: closures would be compiled without the instruction set of the kernel
        for (k, &(i, j)) in self.pairs.iter().enumerate() {
            let (gi, gj) = if self.whole { (i, j) } else { (2 * k, 2 * k + 1) };
            let products = pair_products(simd, g.row(gi), g.row(gj), x.row(i), x.row(j));
            out.push(stationarity_score(self.rule, self.alpha, self.lipschitz, products));
        }
        out
    }
}

#[inline(always)]
fn add_subgradient(h: &impl Nonsmooth, z: &[f64], g: &mut [f64]) {
    for (gi, zi) in g.iter_mut().zip(z) {
        let (lo, hi) = h.subdifferential(*zi);
        // at a kink the choice is 0, as in the papers
        if lo == hi {
            *gi += lo;
        }
    }
}
