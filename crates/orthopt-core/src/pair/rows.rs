//! Steps (S2) to (S4) of OBCD for a pair of rows of X: its subproblem solved and the move made.

use super::PairPenalty;
use super::step::{Pair, PairResult, PairWork, Search, Shape, apply_clean, solve_pair};
use crate::smooth::{GradientRow, Quadratic, gradient_row};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::is_zero;
use orthopt_linalg::simd::{Scalar, Simd, WithSimd, dispatch, outlined};

/// The pair step as a kernel: moves rows i and j of X to the global minimiser of their
/// subproblem.
pub struct PairStep<'a, F: Quadratic, H> {
    /// The smooth part.
    pub f: &'a F,
    /// The penalty.
    pub h: &'a H,
    /// Model and search of a step.
    pub shape: Shape,
    /// The point.
    pub x: &'a mut RowMat,
    /// Image of the point.
    pub image: &'a mut F::Image,
    /// Room for a step.
    pub work: &'a mut PairWork,
    /// Gradient rows computed since X moved last, for models that do not keep the gradient.
    pub cache: Option<&'a mut GradientCache>,
    /// Moves that lower F by no more than this are not made.
    pub least: f64,
}

/// Gradient rows that are still valid. Near a solution thousands of pairs are tried between two
/// moves, and the same few nonzero rows take part in all of them.
#[derive(Clone, Debug)]
pub struct GradientCache {
    rows: RowMat,
    stamp: Vec<u64>, // `now` at the time the row was computed
    now: u64,        // moves so far, from 1
}

impl GradientCache {
    /// A cache for `f` and X with r columns, where `f` has use for it.
    pub fn new<F: Quadratic>(f: &F, image: &F::Image, r: usize) -> Option<Self> {
        let n = f.nrows();
        (!f.keeps_gradient(image)).then(|| Self { rows: RowMat::zeros(n, r), stamp: vec![0; n], now: 1 })
    }

    /// X has changed: invalidates all rows.
    #[inline(always)]
    pub fn moved(&mut self) {
        self.now += 1;
    }

    /// Makes row i valid, where `compute` gives it.
    #[inline(always)]
    fn refresh<'a>(&mut self, i: usize, compute: impl FnOnce() -> &'a [f64]) {
        if self.stamp[i] != self.now {
            self.rows.row_mut(i).copy_from_slice(compute());
            self.stamp[i] = self.now;
        }
    }

    /// Row i of ∇f(X), from the cache.
    pub fn row<F: Quadratic>(
        &mut self,
        f: &F,
        image: &F::Image,
        x: &RowMat,
        i: usize,
        buf: &mut [f64],
    ) -> &[f64] {
        self.refresh(i, || gradient_row(f, image, x, i, buf));
        self.rows.row(i)
    }
}

impl<F: Quadratic, H: PairPenalty> PairStep<'_, F, H> {
    /// The step on rows i and j.
    pub fn run(&mut self, i: usize, j: usize) -> PairResult {
        match self.shape.search {
            Search::Fast => dispatch(On { step: self, i, j }),
            Search::Plain => outlined(Scalar, On { step: self, i, j }),
        }
    }

    /// The step on rows i and j, inside a SIMD kernel.
    #[inline(always)]
    pub fn run_in<S: Simd>(&mut self, simd: S, i: usize, j: usize) -> PairResult {
        let (f, x) = (self.f, &mut *self.x);
        let (z1, z2) = (x.row(i), x.row(j));
        if is_zero(z1) && is_zero(z2) {
            return PairResult { offered: 0.0, decrease: 0.0, step: None };
        }
        let PairWork { scratch, g1, g2, new1, new2, unpacked } = &mut *self.work;
        // where X has few nonzero rows, a pass goes through the partners of one of them
        let pivot = if is_zero(z1) { j } else { i };
        let k = f.pair_curvature((i, j), pivot, unpacked);
        let (image, at) = (&*self.image, &*x);
        let gradient = |i, buf| match F::SHORT_ROWS {
            true => f.gradient_row(image, at, i, buf),
            false => outlined(simd, GradientRow { f, image, x: at, i, buf }),
        };
        let (gi, gj) = match &mut self.cache {
            Some(cache) => {
                cache.refresh(i, || gradient(i, g1));
                cache.refresh(j, || gradient(j, g2));
                (cache.rows.row(i), cache.rows.row(j))
            }
            None => (gradient(i, g1), gradient(j, g2)),
        };
        let pair = Pair { k, d: f.column_weights(), g: (gi, gj), z: (z1, z2) };
        let result = solve_pair(simd, self.h, self.shape, pair, (scratch, new1, new2));
        let Some(step) = result.step.filter(|_| result.decrease > self.least) else {
            return PairResult { decrease: 0.0, step: None, ..result };
        };
        f.move_pair(simd, self.image, i, j, new1, new2);
        // X is written with V Z itself, not with X + Δ, so that zeros are exact
        g1.copy_from_slice(z1);
        g2.copy_from_slice(z2);
        apply_clean(self.h, &step, (g1, g2), new1, new2);
        x.row_mut(i).copy_from_slice(new1);
        x.row_mut(j).copy_from_slice(new2);
        if let Some(cache) = &mut self.cache {
            cache.moved();
        }
        result
    }
}

struct On<'a, 'b, F: Quadratic, H> {
    step: &'a mut PairStep<'b, F, H>,
    i: usize,
    j: usize,
}

impl<F: Quadratic, H: PairPenalty> WithSimd for On<'_, '_, F, H> {
    type Output = PairResult;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairResult {
        self.step.run_in(simd, self.i, self.j)
    }
}
