//! Steps (S2) to (S4) for a pair of rows.

use super::{Model, Search};
use crate::linalg::RowMat;
use crate::linalg::kernels::{dot, is_zero};
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::nonsmooth::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::{PairModel, PairMove, plain};
use crate::smooth::BlockModel;

/// What the model of a block needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub model: Model,
    pub alpha: f64, // α
    pub damping: Damping,
    pub search: Search,
}

/// How ς of the diagonal model (9) is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damping {
    /// ς = 0: f is concave, a linearisation majorises it.
    None,
    /// ς = λ_max(W ⊗ K)₊ of the pair itself.
    Pair,
    /// ς = L‖Z‖²_sp, L ≥ λ_max(H)₊: other rows move at the same time.
    Global(f64),
}

impl Damping {
    /// For moves of one working set at a time.
    pub fn of(f: &impl BlockModel) -> Self {
        if f.is_concave() { Self::None } else { Self::Pair }
    }
}

impl Shape {
    /// The exact model without a proximal term: F itself over the pair.
    pub fn exact(f: &impl BlockModel) -> Self {
        Self { model: Model::Exact, alpha: 0.0, damping: Damping::of(f), search: Search::Fast }
    }
}

/// Buffers of the pair step, sized once: a pair allocates nothing.
#[derive(Clone, Debug)]
pub struct PairWork {
    pub(crate) scratch: Scratch,
    pub(crate) g1: Vec<f64>,
    pub(crate) g2: Vec<f64>,
    pub(crate) new1: Vec<f64>, // rows of VZ, then their change
    pub(crate) new2: Vec<f64>,
}

impl PairWork {
    /// Buffers for rows of length r.
    pub fn new(r: usize) -> Self {
        let row = || vec![0.0; r];
        Self { scratch: Scratch::new(r), g1: row(), g2: row(), new1: row(), new2: row() }
    }

    /// What [`solve_pair`] writes to.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut Scratch, &mut [f64], &mut [f64]) {
        (&mut self.scratch, &mut self.new1, &mut self.new2)
    }
}

/// The best move of a pair and the decrease of F it brings (0 and `None`: stay).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairResult {
    pub decrease: f64,
    pub step: Option<PairMove>,
}

/// Solves the subproblem of rows z1, z2 with gradient rows g1, g2 and curvature k globally.
/// The new rows are left in `work`. The decrease is that of F itself, evaluated at the new
/// rows as they will be stored, from differences, so it is right also for tiny moves.
#[inline(always)]
pub(crate) fn solve_pair<S: Simd, H: PairPenalty>(
    simd: S,
    h: &H,
    shape: Shape,
    k: [f64; 3],
    (g1, g2): (&[f64], &[f64]),
    (z1, z2): (&[f64], &[f64]),
    (scratch, new1, new2): (&mut Scratch, &mut [f64], &mut [f64]),
) -> PairResult {
    let stay = PairResult { decrease: 0.0, step: None };
    let mut varsigma = 0.0; // ς
    let model = match shape.model {
        Model::Exact => PairModel::new(simd, (g1, g2), k, shape.alpha, (z1, z2)),
        Model::Diagonal => {
            varsigma = spectral_bound(simd, shape.damping, k, z1, z2);
            PairModel::new(simd, (g1, g2), [0.0; 3], varsigma + shape.alpha, (z1, z2))
        }
    };
    let found = match shape.search {
        Search::Fast => h.search_in(simd, &model, scratch),
        Search::Plain => plain::search(&model, h),
    };
    let Some(step) = found else { return stay };
    step.apply(z1, z2, new1, new2);
    let h_change = h.value(new1) + h.value(new2) - h.value(z1) - h.value(z2);
    for (new, old) in [(&mut *new1, z1), (&mut *new2, z2)] {
        new.iter_mut().zip(old).for_each(|(a, b)| *a -= b);
    }
    let (d1, d2) = (&*new1, &*new2);
    let linear = dot(simd, g1, d1) + dot(simd, g2, d2);
    let bend = k[0] * dot(simd, d1, d1) + 2.0 * k[1] * dot(simd, d1, d2) + k[2] * dot(simd, d2, d2);
    // moves of other rows at the same time are paid for by ς/2‖V − I‖²
    let others = if let Damping::Global(_) = shape.damping { varsigma * step.half_dist_sq() } else { 0.0 };
    let decrease = -(linear + 0.5 * bend + h_change) - others;
    // sufficient decrease: F(X) − F(X⁺) ≥ α/2‖V − I‖² (half_dist_sq is ½‖V − I‖²)
    if decrease > 0.0 && decrease >= shape.alpha * step.half_dist_sq() {
        PairResult { decrease, step: Some(step) }
    } else {
        stay
    }
}

/// ς of the diagonal model, from the 2×2 blocks W = ZZᵀ and K.
#[inline(always)]
fn spectral_bound<S: Simd>(simd: S, damping: Damping, k: [f64; 3], z1: &[f64], z2: &[f64]) -> f64 {
    let factor = match damping {
        Damping::None => return 0.0,
        Damping::Pair => top_eigenvalue(k[0], k[1], k[2]).max(0.0),
        Damping::Global(l) => l,
    };
    factor * top_eigenvalue(dot(simd, z1, z1), dot(simd, z1, z2), dot(simd, z2, z2))
}

/// λ_max of [a b; b c].
#[inline(always)]
fn top_eigenvalue(a: f64, b: f64, c: f64) -> f64 {
    0.5 * (a + c + ((a - c) * (a - c) + 4.0 * b * b).sqrt())
}

/// The pair step as a kernel: moves rows i and j of X to the global minimiser of their
/// subproblem; gives the decrease of F, 0 when they stay.
pub(crate) struct PairStep<'a, F: BlockModel, H> {
    pub f: &'a F,
    pub h: &'a H,
    pub shape: Shape,
    pub x: &'a mut RowMat,
    pub image: &'a mut F::Image,
    pub work: &'a mut PairWork,
    /// Gradient rows computed since X moved last, for models that do not keep the gradient.
    pub cache: Option<&'a mut GradientCache>,
}

/// Gradient rows that are still valid. Near a solution thousands of pairs are tried between two
/// moves, and the same few nonzero rows take part in all of them.
#[derive(Clone, Debug)]
pub(crate) struct GradientCache {
    rows: RowMat,
    stamp: Vec<u64>, // `now` at the time the row was computed
    now: u64,        // moves so far, from 1
}

impl GradientCache {
    /// A cache for `f` and X with r columns, where `f` has use for it.
    pub fn new(f: &impl BlockModel, r: usize) -> Option<Self> {
        let n = f.nrows();
        (!f.keeps_gradient()).then(|| Self { rows: RowMat::zeros(n, r), stamp: vec![0; n], now: 1 })
    }

    /// X has moved: nothing is valid any more.
    #[inline(always)]
    pub fn moved(&mut self) {
        self.now += 1;
    }

    /// Makes row i valid.
    #[inline(always)]
    fn refresh<F: BlockModel>(&mut self, f: &F, image: &F::Image, i: usize, buf: &mut [f64]) {
        if self.stamp[i] != self.now {
            let row = f.gradient_row(image, i, buf);
            self.rows.row_mut(i).copy_from_slice(row);
            self.stamp[i] = self.now;
        }
    }
}

impl<F: BlockModel, H: PairPenalty> PairStep<'_, F, H> {
    /// The step on rows i and j.
    pub fn run(&mut self, i: usize, j: usize) -> f64 {
        match self.shape.search {
            Search::Fast => dispatch(On { step: self, i, j }),
            Search::Plain => self.run_in(pulp::Scalar, i, j),
        }
    }

    /// The same inside a kernel.
    #[inline(always)]
    pub fn run_in<S: Simd>(&mut self, simd: S, i: usize, j: usize) -> f64 {
        let (f, x) = (self.f, &mut *self.x);
        let (z1, z2) = (x.row(i), x.row(j));
        if is_zero(z1) && is_zero(z2) {
            return 0.0;
        }
        let k = [f.curvature(i, i), f.curvature(i, j), f.curvature(j, j)];
        let PairWork { scratch, g1, g2, new1, new2 } = &mut *self.work;
        let (gi, gj) = match &mut self.cache {
            Some(cache) => {
                cache.refresh(f, self.image, i, g1);
                cache.refresh(f, self.image, j, g1);
                (cache.rows.row(i), cache.rows.row(j))
            }
            None => (f.gradient_row(self.image, i, g1), f.gradient_row(self.image, j, g2)),
        };
        let result = solve_pair(simd, self.h, self.shape, k, (gi, gj), (z1, z2), (scratch, new1, new2));
        let Some(step) = result.step else { return 0.0 };
        f.move_pair(simd, self.image, i, j, new1, new2);
        // X is written with V Z itself, not with X + Δ, so that zeros are exact
        g1.copy_from_slice(z1);
        g2.copy_from_slice(z2);
        step.apply(g1, g2, new1, new2);
        x.row_mut(i).copy_from_slice(new1);
        x.row_mut(j).copy_from_slice(new2);
        if let Some(cache) = &mut self.cache {
            cache.moved();
        }
        result.decrease
    }
}

struct On<'a, 'b, F: BlockModel, H> {
    step: &'a mut PairStep<'b, F, H>,
    i: usize,
    j: usize,
}

impl<F: BlockModel, H: PairPenalty> WithSimd for On<'_, '_, F, H> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        self.step.run_in(simd, self.i, self.j)
    }
}
