//! The two-row subproblem of a given X solved globally: from gradient rows, curvature and rows to a move
//! that lowers F.

use super::fold::Scratch;
use super::{PairModel, PairPenalty, weighted_products};
use crate::options::choices;
use crate::smooth::{Quadratic, Unpacked};
use orthopt_linalg::kernels::dot;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::{Simd, WithSimd, outlined};

choices! {
    /// The choice of Q in step (S2).
    #[derive(Default)]
    pub enum Model as "model", MODELS {
        /// (8): the quadratic model of the block is exact.
        #[default]
        Exact = "exact", "the quadratic model of the block itself";
        /// (9): Q = ςI, ς ≥ λ_max(Q); ς = 0 for a concave f.
        Diagonal = "diagonal", "a multiple of the identity above it";
    }
}

/// Method for the two-row subproblem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// The penalty's own search on the widest vectors of the machine.
    #[default]
    Fast,
    /// The papers' scalar O(r²) search and no vector instructions beyond the baseline: the
    /// reference of the benchmarks ([`crate::pair::plain`]).
    Plain,
}

/// Parameters of the model of a block.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Model of f.
    pub model: Model,
    /// α.
    pub alpha: f64, // α
    /// Weight of the proximal term.
    pub damping: Damping,
    /// Search of the angle.
    pub search: Search,
}

/// Choice of ς in the diagonal model (9).
#[derive(Clone, Copy, Debug)]
pub enum Damping {
    /// ς = 0: f is concave, a linearisation majorises it.
    None,
    /// ς = λ_max(W ⊗ K)₊ of the pair itself.
    Pair,
    /// ς = L‖Z‖²_sp, L ≥ λ_max(H)₊: other rows move at the same time.
    Global(f64),
}

impl Damping {
    /// For moves of one working set at a time.
    pub fn of(f: &impl Quadratic) -> Self {
        if f.is_concave() { Self::None } else { Self::Pair }
    }
}

impl Shape {
    /// The exact model without a proximal term: F itself over the pair.
    pub fn exact(f: &impl Quadratic) -> Self {
        Self { model: Model::Exact, alpha: 0.0, damping: Damping::of(f), search: Search::Fast }
    }
}

/// Buffers of the pair step, sized once: a pair allocates nothing.
#[derive(Clone, Debug)]
pub struct PairWork {
    #[doc(hidden)]
    pub scratch: Scratch,
    #[doc(hidden)]
    pub g1: Vec<f64>,
    #[doc(hidden)]
    pub g2: Vec<f64>,
    #[doc(hidden)]
    pub new1: Vec<f64>, // rows of VZ, then their change
    #[doc(hidden)]
    pub new2: Vec<f64>,
    #[doc(hidden)]
    pub unpacked: Unpacked,
}

impl PairWork {
    /// Buffers for rows of length r.
    pub fn new(r: usize) -> Self {
        let row = || vec![0.0; r];
        let unpacked = Unpacked::default();
        Self { scratch: Scratch::new(r), g1: row(), g2: row(), new1: row(), new2: row(), unpacked }
    }

    /// Buffers that [`solve_pair`] writes to.
    #[inline(always)]
    #[doc(hidden)]
    pub fn parts(&mut self) -> (&mut Scratch, &mut [f64], &mut [f64]) {
        (&mut self.scratch, &mut self.new1, &mut self.new2)
    }
}

/// Result of the subproblem of a pair.
#[derive(Clone, Copy, Debug)]
pub struct PairResult {
    /// Decrease of F at the global minimiser, taken or not.
    pub offered: f64, // decrease of F at the global minimiser, taken or not
    /// Decrease of F by `step`, 0 if there is none.
    pub decrease: f64, // decrease of F by `step`, 0 if there is none
    /// The move to make.
    pub step: Option<PairMove>, // the move to make
}

/// Two rows and what is known of f there.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// Curvatures of both rows and between them.
    pub k: [f64; 3],
    /// Weights of columns.
    pub d: Option<&'a [f64]>, // weights of columns
    /// Both rows of the gradient.
    pub g: (&'a [f64], &'a [f64]),
    /// Both rows of X.
    pub z: (&'a [f64], &'a [f64]),
}

/// Solves the subproblem of a pair globally and leaves the change of its rows in `new`.
///
/// The global minimiser without the proximal term is tried first. Nearly always it satisfies the
/// sufficient decrease F(X) − F(X⁺) ≥ α/2‖V − I‖² and is what F wants; where it goes far for
/// little, the minimiser with the term α/2‖V − I‖² is taken, which satisfies it by construction.
#[inline(always)]
pub fn solve_pair<S: Simd, H: PairPenalty>(
    simd: S,
    h: &H,
    shape: Shape,
    pair: Pair<'_>,
    (scratch, new1, new2): (&mut Scratch, &mut [f64], &mut [f64]),
) -> PairResult {
    let work = (&mut *scratch, &mut *new1, &mut *new2);
    let first = outlined(simd, Try { h, shape, alpha: 0.0, pair, work });
    if first.step.is_some() || first.offered <= 0.0 {
        return first;
    }
    let work = (scratch, new1, new2);
    let second = outlined(simd, Try { h, shape, alpha: shape.alpha, pair, work });
    PairResult { offered: first.offered, ..second }
}

/// [`try_pair`] as a kernel: the searches of all penalties stand in it.
struct Try<'a, H> {
    h: &'a H,
    shape: Shape,
    alpha: f64,
    pair: Pair<'a>,
    work: (&'a mut Scratch, &'a mut [f64], &'a mut [f64]),
}

impl<H: PairPenalty> WithSimd for Try<'_, H> {
    type Output = PairResult;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairResult {
        try_pair(simd, self.h, self.shape, self.alpha, self.pair, self.work)
    }
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
    Pair { k, d, g: (g1, g2), z: (z1, z2) }: Pair<'_>,
    (scratch, new1, new2): (&mut Scratch, &mut [f64], &mut [f64]),
) -> PairResult {
    let stay = PairResult { offered: 0.0, decrease: 0.0, step: None };
    let mut varsigma = 0.0; // ς
    let model = match shape.model {
        Model::Exact => PairModel::weighted(simd, (g1, g2), k, alpha, (z1, z2), d),
        Model::Diagonal => {
            varsigma = spectral_bound(simd, shape.damping, (k, d), z1, z2);
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
    let [d11, d12, d22] = match d {
        None => [dot(simd, d1, d1), dot(simd, d1, d2), dot(simd, d2, d2)],
        Some(d) => weighted_products(d, d1, d2),
    };
    let bend = k[0] * d11 + 2.0 * k[1] * d12 + k[2] * d22;
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

/// V Z for rows of X: where zeros are requested, entries of the size of rounding become zeros, as
/// they would hide breakpoints and count as nonzero.
#[inline(always)]
pub fn apply_clean<H: PairPenalty>(
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

/// λ_max(W ⊗ K)₊ for W = ZDZᵀ.
#[cold]
#[inline(never)]
fn weighted_bound(d: &[f64], k: [f64; 3], z1: &[f64], z2: &[f64]) -> f64 {
    let ends = |[a, b, c]: [f64; 3]| [top_eigenvalue(a, b, c), -top_eigenvalue(-a, -b, -c)];
    let (w, k) = (ends(weighted_products(d, z1, z2)), ends(k));
    w.iter().flat_map(|w| k.map(|k| w * k)).fold(0.0, f64::max)
}

/// ς of the diagonal model, from the 2×2 blocks W = ZZᵀ and K.
#[inline(always)]
fn spectral_bound<S: Simd>(
    simd: S,
    damping: Damping,
    (k, d): ([f64; 3], Option<&[f64]>),
    z1: &[f64],
    z2: &[f64],
) -> f64 {
    if let (Damping::Pair, Some(d)) = (damping, d) {
        return weighted_bound(d, k, z1, z2);
    }
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
