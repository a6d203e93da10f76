//! Steps (S2) to (S4) for a pair of rows.

use super::{Model, Search};
use crate::linalg::RowMat;
use crate::linalg::kernels::{dot, is_zero};
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::nonsmooth::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::{PairModel, PairMove};
use crate::smooth::{BlockModel, Unpacked};

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
    pub(crate) unpacked: Unpacked,
}

impl PairWork {
    /// Buffers for rows of length r.
    pub fn new(r: usize) -> Self {
        let row = || vec![0.0; r];
        let unpacked = Unpacked::default();
        Self { scratch: Scratch::new(r), g1: row(), g2: row(), new1: row(), new2: row(), unpacked }
    }

    /// What [`solve_pair`] writes to.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut Scratch, &mut [f64], &mut [f64]) {
        (&mut self.scratch, &mut self.new1, &mut self.new2)
    }
}

/// What the subproblem of a pair came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairResult {
    pub offered: f64,           // decrease of F at the global minimiser, taken or not
    pub decrease: f64,          // decrease of F by `step`, 0 if there is none
    pub step: Option<PairMove>, // the move to make
}

/// Two rows and what is known of f there.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub k: [f64; 3],
    pub g: (&'a [f64], &'a [f64]),
    pub z: (&'a [f64], &'a [f64]),
}

/// Solves the subproblem of a pair globally and leaves the change of its rows in `new`.
///
/// The global minimiser without the proximal term is tried first. Nearly always it satisfies the
/// sufficient decrease F(X) − F(X⁺) ≥ α/2‖V − I‖² and is what F wants; where it goes far for
/// little, the minimiser with the term α/2‖V − I‖² is taken, which satisfies it by construction.
#[inline(always)]
pub(crate) fn solve_pair<S: Simd, H: PairPenalty>(
    simd: S,
    h: &H,
    shape: Shape,
    pair: Pair<'_>,
    (scratch, new1, new2): (&mut Scratch, &mut [f64], &mut [f64]),
) -> PairResult {
    let first = try_pair(simd, h, shape, 0.0, pair, (&mut *scratch, &mut *new1, &mut *new2));
    if first.step.is_some() || first.offered <= 0.0 {
        return first;
    }
    let second = try_pair(simd, h, shape, shape.alpha, pair, (scratch, new1, new2));
    PairResult { offered: first.offered, ..second }
}

/// The global minimiser of the model with the proximal weight `alpha`; its step is kept if it
/// lowers F sufficiently. The decrease is that of F itself, evaluated at the new rows as they
/// will be stored, from differences, so it is right also for tiny moves.
#[inline(always)]
fn try_pair<S: Simd, H: PairPenalty>(
    simd: S,
    h: &H,
    shape: Shape,
    alpha: f64,
    Pair { k, g: (g1, g2), z: (z1, z2) }: Pair<'_>,
    (scratch, new1, new2): (&mut Scratch, &mut [f64], &mut [f64]),
) -> PairResult {
    let stay = PairResult { offered: 0.0, decrease: 0.0, step: None };
    let mut varsigma = 0.0; // ς
    let model = match shape.model {
        Model::Exact => PairModel::new(simd, (g1, g2), k, alpha, (z1, z2)),
        Model::Diagonal => {
            varsigma = spectral_bound(simd, shape.damping, k, z1, z2);
            PairModel::new(simd, (g1, g2), [0.0; 3], varsigma + alpha, (z1, z2))
        }
    };
    let found = match shape.search {
        Search::Fast => h.search_in(simd, &model, scratch),
        Search::Plain => h.plain_search(&model),
    };
    let Some(step) = found else { return stay };
    apply_clean(h, &step, (z1, z2), new1, new2);
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
        PairResult { offered: decrease, decrease, step: Some(step) }
    } else {
        PairResult { offered: decrease.max(0.0), ..stay }
    }
}

/// Entries of a sparse X below this are rounding left over from moves; X has unit columns.
const DUST: f64 = 1e-14;

/// V Z for rows of X: where zeros are wanted, entries of the size of rounding become zeros, as
/// they would hide breakpoints and count as nonzero.
#[inline(always)]
pub(crate) fn apply_clean<H: PairPenalty>(
    h: &H,
    step: &PairMove,
    (z1, z2): (&[f64], &[f64]),
    new1: &mut [f64],
    new2: &mut [f64],
) {
    step.apply(z1, z2, new1, new2);
    if h.promotes_sparsity() {
        for v in new1.iter_mut().chain(new2) {
            *v = if v.abs() < DUST { 0.0 } else { *v };
        }
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
/// subproblem.
pub(crate) struct PairStep<'a, F: BlockModel, H> {
    pub f: &'a F,
    pub h: &'a H,
    pub shape: Shape,
    pub x: &'a mut RowMat,
    pub image: &'a mut F::Image,
    pub work: &'a mut PairWork,
    /// Gradient rows computed since X moved last, for models that do not keep the gradient.
    pub cache: Option<&'a mut GradientCache>,
    /// Moves that lower F by no more than this are not made.
    pub least: f64,
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
    pub fn new<F: BlockModel>(f: &F, image: &F::Image, r: usize) -> Option<Self> {
        let n = f.nrows();
        (!f.keeps_gradient(image)).then(|| Self { rows: RowMat::zeros(n, r), stamp: vec![0; n], now: 1 })
    }

    /// X has moved: nothing is valid any more.
    #[inline(always)]
    pub fn moved(&mut self) {
        self.now += 1;
    }

    /// Makes row i valid.
    #[inline(always)]
    fn refresh<F: BlockModel>(&mut self, f: &F, image: &F::Image, x: &RowMat, i: usize, buf: &mut [f64]) {
        if self.stamp[i] != self.now {
            let row = f.gradient_row(image, x, i, buf);
            self.rows.row_mut(i).copy_from_slice(row);
            self.stamp[i] = self.now;
        }
    }

    /// Row i of ∇f(X), from the cache.
    pub fn row<F: BlockModel>(
        &mut self,
        f: &F,
        image: &F::Image,
        x: &RowMat,
        i: usize,
        buf: &mut [f64],
    ) -> &[f64] {
        self.refresh(f, image, x, i, buf);
        self.rows.row(i)
    }
}

impl<F: BlockModel, H: PairPenalty> PairStep<'_, F, H> {
    /// The step on rows i and j.
    pub fn run(&mut self, i: usize, j: usize) -> PairResult {
        match self.shape.search {
            Search::Fast => dispatch(On { step: self, i, j }),
            Search::Plain => self.run_in(pulp::Scalar, i, j),
        }
    }

    /// The same inside a kernel.
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
        let (gi, gj) = match &mut self.cache {
            Some(cache) => {
                cache.refresh(f, self.image, x, i, g1);
                cache.refresh(f, self.image, x, j, g1);
                (cache.rows.row(i), cache.rows.row(j))
            }
            None => (f.gradient_row(self.image, x, i, g1), f.gradient_row(self.image, x, j, g2)),
        };
        let pair = Pair { k, g: (gi, gj), z: (z1, z2) };
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

struct On<'a, 'b, F: BlockModel, H> {
    step: &'a mut PairStep<'b, F, H>,
    i: usize,
    j: usize,
}

impl<F: BlockModel, H: PairPenalty> WithSimd for On<'_, '_, F, H> {
    type Output = PairResult;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairResult {
        self.step.run_in(simd, self.i, self.j)
    }
}
