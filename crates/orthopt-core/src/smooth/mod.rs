//! The smooth part f(X), one storage per file.
//!
//! OBCD sees f through [`Quadratic`]: rows of the gradient, the curvature of a block of rows,
//! and a cheap update after those rows change. The model decides how the gradient is kept:
//! its [`Quadratic::Image`] is Y = MX for a dense matrix and R = AX for M = −AᵀA.

mod any;
mod centring;
mod geodesic;
mod gram_dense;
mod gram_sparse;
mod half;
mod linear;
mod loss;
pub mod majoriser;
pub mod measured;
pub mod nonlinear_eig;
mod probe;
mod quadratic;
mod scale;
mod sparse_rows;
/// f and a linear term.
pub mod tilted;
pub mod two_sided;

pub use any::AnySmooth;
pub use any::JFunction;
pub use centring::Centring;
pub use centring::for_each;
pub use gram_dense::DenseGram;
pub use gram_sparse::SparseGram;
pub use half::{Entries, Halves, Samples};
pub use linear::LinearTerm;
pub use loss::{Loss, SampleLoss};
pub use measured::Small;
pub use measured::{MEASURES, Measure, Measured, Order};
pub use nonlinear_eig::NonlinearEig;
pub use probe::PLACEMENTS;
pub use probe::{Placement, Probe, euclidean_distances};
pub use quadratic::DenseQuadratic;
pub use quadratic::{QuadraticImage, mean_size};
pub use scale::Scale;
pub use two_sided::Form;
pub use two_sided::JQuadratic;
pub use two_sided::hyperbolic_minimum;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::constraint::stiefel;
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::krylov::{Operator, leading};
use orthopt_linalg::lanczos::largest_magnitude;
use orthopt_linalg::products::cross;
#[doc(no_inline)]
pub use orthopt_linalg::simd::Simd;
use orthopt_linalg::simd::{WithSimd, dispatch};
use orthopt_linalg::small::symmetric_eigen;

/// A smooth function of X (n × r). Methods that need more than values and gradients require
/// one of the capabilities: [`Quadratic`], [`FiniteSum`], [`HessianVector`].
pub trait Smooth: Send + Sync {
    /// Number of rows n of X.
    fn nrows(&self) -> usize;

    /// Number of columns of X, where f fixes it (a linear term does).
    fn ncols(&self) -> Option<usize> {
        None
    }

    /// f(X).
    fn value(&self, x: &RowMat) -> f64;

    /// G ← ∇f(X) (n × r).
    fn gradient(&self, x: &RowMat, g: &mut RowMat);

    /// G ← ∇f(X), and f(X): one pass over the data where f is quadratic.
    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g);
        self.value(x)
    }

    /// The scale of f at X, in the unit of f: the size given by the data, for any value of f. Every tolerance of F
    /// is relative to this number plus |F| (docs/mathematics.md), so that nothing depends on the unit of the data. If f is
    /// multiplied by a positive number, so is its scale.
    ///
    /// For the f of the library it depends on the data and on the number of columns r of X alone: half the sum of the r largest
    /// |Mᵢᵢ| of ½ tr(XᵀMX), which is the variance of the r largest variables where M = −C; half the largest |Mᵢⱼ| if that is more,
    /// as it may be where M is indefinite; plus the norm of every column of a linear term. For
    /// an unknown f it is |f(X)| + ‖∇f(X)‖_F, which costs a value and a gradient: methods compute it at the start and
    /// not in every iteration.
    fn scale(&self, x: &RowMat) -> f64 {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let size = self.value_and_gradient(x, &mut g).abs() + g.norm();
        if size.is_finite() { size } else { 0.0 }
    }

    /// An upper bound of the Lipschitz constant of ∇f (Frobenius norm), where one is known. Without
    /// it, methods estimate the curvature at X⁰ or find steps by backtracking.
    fn lipschitz(&self) -> Option<f64> {
        None
    }

    /// The curvature that determines step lengths, for X with `columns` columns, where the bound
    /// [`Smooth::lipschitz`] may be a rough or costly one.
    fn step_curvature(&self, _columns: usize) -> Option<f64> {
        self.lipschitz()
    }

    /// True if f is concave. Then a linearisation majorises f and ς = 0 serves in (9).
    fn is_concave(&self) -> bool {
        false
    }

    /// True if ∇f is affine in X: gradients can be extrapolated, and the change of f comes from the
    /// gradients at both ends without cancellation.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// N where f = (1/N) Σ fᵢ, 1 where f is no sum.
    fn components(&self) -> usize {
        1
    }

    /// True if f(X) → ∞ as ‖X‖ → ∞, so that on an unbounded group a large ‖X‖ is no sign of divergence.
    fn is_coercive(&self) -> bool {
        false
    }

    /// True if f is known to have a lower bound, though its minimum may lie at infinity: a sum of squares, say.
    fn is_bounded_below(&self) -> bool {
        self.is_coercive()
    }
}

/// f = (1/N) Σ fᵢ, for methods that sample components.
pub trait FiniteSum: Smooth {
    /// G ← the mean of ∇fᵢ(X) over the components in `sample` (0 ≤ i < N), and the mean of fᵢ(X).
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64;
}

/// Products with the Hessian.
pub trait HessianVector: Smooth {
    /// The derivative of ∇f at X along D. By default central differences of the gradient.
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        central_difference(self, x, d)
    }

    /// True if products are computed from second derivatives, and not as differences of gradients.
    fn has_hessian(&self) -> bool {
        false
    }
}

/// An f that may be ½tr(XᵀMXN), for methods that then need O(n) for a pair of rows or columns.
pub trait TwoSided: Smooth {
    /// M and N, if f has them.
    fn two_sided(&self) -> Option<&JQuadratic> {
        None
    }
}

/// (∇f(X + hD) − ∇f(X − hD))/2h with h‖D‖ = ε^⅓(1 + ‖X‖), truncation and rounding in balance.
#[doc(hidden)] // public by `internal`
pub fn central_difference<F: Smooth + ?Sized>(f: &F, x: &RowMat, d: &RowMat) -> RowMat {
    let size = d.norm();
    if size == 0.0 {
        return RowMat::zeros(x.nrows(), x.ncols());
    }
    let h = 6e-6 * (1.0 + x.norm()) / size;
    let at = |t: f64| {
        let moved = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k) + t * d.get(i, k));
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        f.gradient(&moved, &mut g);
        g
    };
    let (plus, minus) = (at(h), at(-h));
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| (plus.get(i, k) - minus.get(i, k)) / (2.0 * h))
}

/// Columns of a block, and the numbers that a block has at most.
const BLOCK: usize = 64;
const NUMBERS: usize = 4_000_000;

/// Number of vectors of n numbers that [`Quadratic::apply_few`] is given at once.
pub fn together(n: usize) -> usize {
    (NUMBERS / n).clamp(1, BLOCK)
}

/// M_BB, every pair of rows for itself.
fn curvature_by_pairs<F: Quadratic + ?Sized>(f: &F, rows: &[usize]) -> RowMat {
    let mut k = RowMat::zeros(rows.len(), rows.len());
    for (p, i) in rows.iter().enumerate() {
        for (q, j) in rows.iter().enumerate().take(p + 1) {
            let v = f.curvature(*i, *j);
            k.set(p, q, v);
            k.set(q, p, v);
        }
    }
    k
}

/// A quadratic f that row-block methods can work with: with one symmetric M for all columns,
/// f(X⁺) = f(X) + ⟨X⁺−X, ∇f(X)⟩ + ½ tr((X⁺−X)ᵀ M (X⁺−X) D), D = I unless [`Quadratic::column_weights`] says otherwise.
pub trait Quadratic: Smooth {
    /// Image of X that is kept to make gradient rows cheap.
    type Image: Clone + Send + Sync;

    /// The image of X from scratch. Cost of a full gradient.
    fn image(&self, x: &RowMat) -> Self::Image;

    /// The diagonal of D where f is ½ tr(XᵀMXD), which has the curvature dₖM in column k: then in column k of X
    /// [`curvature`](Self::curvature), [`apply`](Self::apply) and the like are those of M, to be multiplied by dₖ.
    fn column_weights(&self) -> Option<&[f64]> {
        None
    }

    /// True where [`gradient_row`](Self::gradient_row) is a few instructions, which are compiled into the pair step; it is a
    /// function of its own elsewhere.
    const SHORT_ROWS: bool = false;

    /// Row i of ∇f(X), either a slice of the image or computed into `buf` (length r). `x` is the X
    /// that the image belongs to.
    fn gradient_row<'a>(
        &'a self,
        image: &'a Self::Image,
        x: &RowMat,
        i: usize,
        buf: &'a mut [f64],
    ) -> &'a [f64];

    /// Mᵢⱼ.
    fn curvature(&self, i: usize, j: usize) -> f64;

    /// c if M = cI: then rows that move at the same time are independent, and over V ∈ O(k) the exact
    /// model of a block is linear.
    fn isotropic(&self) -> Option<f64> {
        None
    }

    /// K = M_BB for the rows `rows`, k × k.
    fn curvature_block(&self, rows: &[usize]) -> RowMat {
        curvature_by_pairs(self, rows)
    }

    /// K of the rows i and j: Mᵢᵢ, Mᵢⱼ, Mⱼⱼ. `pivot` is the one of the two that the caller keeps while
    /// it goes through partners, so that storages of sparse data can unpack its column once.
    #[inline(always)]
    fn pair_curvature(&self, (i, j): (usize, usize), _pivot: usize, _unpacked: &mut Unpacked) -> [f64; 3] {
        [self.curvature(i, i), self.curvature(i, j), self.curvature(j, j)]
    }

    /// Brings the image up to date after rows i and j of X changed by `di` and `dj`.
    /// `simd` is the token of the kernel it is called from.
    fn move_pair<S: Simd>(
        &self,
        simd: S,
        image: &mut Self::Image,
        i: usize,
        j: usize,
        di: &[f64],
        dj: &[f64],
    );

    /// Brings the image up to date after row `rows[k]` of X changed by row k of `delta`, for every k.
    fn move_block(&self, image: &mut Self::Image, rows: &[usize], delta: &RowMat) {
        let zero = vec![0.0; delta.ncols()];
        for (k, pair) in rows.chunks(2).enumerate() {
            let (i, j) = (pair[0], *pair.get(1).unwrap_or(&pair[0]));
            let dj = if pair.len() == 2 { delta.row(2 * k + 1) } else { &zero };
            dispatch(MovePair { f: self, image, pair: (i, j), by: (delta.row(2 * k), dj) });
        }
    }

    /// Multiplications that the gradient rows of a pair and a move of a pair take.
    fn pair_work(&self, _image: &Self::Image) -> (usize, usize) {
        (self.nrows(), self.nrows())
    }

    /// f(X) from X and its image. Cost O(nr) or O(mr).
    fn value_at(&self, _image: &Self::Image, x: &RowMat) -> f64 {
        self.value(x)
    }

    /// Diagonal of M, the scores of the coordinates as starting points (−Cᵢᵢ).
    fn diagonal(&self) -> Vec<f64> {
        (0..self.nrows()).map(|i| self.curvature(i, i)).collect()
    }

    /// Column i of M. Cost n curvature entries.
    fn column(&self, i: usize) -> Vec<f64> {
        (0..self.nrows()).map(|j| self.curvature(i, j)).collect()
    }

    /// M·V for n × k V, used for spectral starting points. Cost of a gradient.
    fn apply(&self, v: &RowMat) -> RowMat;

    /// M·v for vectors v with few entries: one row for each, because callers read them one after the other.
    /// Cost of a gradient, or less.
    fn apply_few(&self, vectors: &[Vec<(usize, f64)>]) -> RowMat {
        let mut v = RowMat::zeros(self.nrows(), vectors.len());
        for (k, vector) in vectors.iter().enumerate() {
            vector.iter().for_each(|(i, x)| v.set(*i, k, v.get(*i, k) + x));
        }
        transpose(&self.apply(&v))
    }

    /// Aᵀ (n × m) where M = −AᵀA is kept that way and dense, for methods that can do with AAᵀ.
    fn factor(&self) -> Option<&RowMat> {
        None
    }

    /// Representation of M for products with it, for methods that work with samples.
    fn halves(&self) -> Halves<'_> {
        Halves::Unknown
    }

    /// An upper bound of ‖M‖₂, and of ‖D ⊗ M‖₂: the one of [`Smooth::lipschitz`], or one found by products with M.
    fn norm(&self) -> f64 {
        let found = || spectral_norm(self.nrows(), f64::INFINITY, |v| self.apply(v));
        self.lipschitz().unwrap_or_else(found)
    }

    /// True if rows of the gradient are slices of the image, so that a row costs nothing and needs no
    /// buffer. If not, rows that have been computed are reused until X moves.
    fn keeps_gradient(&self, _image: &Self::Image) -> bool {
        false
    }

    /// Changes the way gradients are kept if `usage` shows that another one is clearly
    /// cheaper; true if it did.
    fn rebalance(&self, _image: &mut Self::Image, _x: &RowMat, _usage: Usage) -> bool {
        false
    }

    /// Storage of gradients and its reason, in words, for reports.
    fn bookkeeping(&self, image: &Self::Image) -> String {
        if self.keeps_gradient(image) { "kept".into() } else { "rows computed".into() }
    }
}

/// [`Quadratic::move_pair`] from outside a kernel.
struct MovePair<'a, F: Quadratic + ?Sized> {
    f: &'a F,
    image: &'a mut F::Image,
    pair: (usize, usize),
    by: (&'a [f64], &'a [f64]),
}

/// Row i of ∇f(X), computed with the widest vectors of the machine.
pub fn gradient_row<'a, F: Quadratic>(
    f: &'a F,
    image: &'a F::Image,
    x: &'a RowMat,
    i: usize,
    buf: &'a mut [f64],
) -> &'a [f64] {
    dispatch(GradientRow { f, image, x, i, buf })
}

/// [`gradient_row`] as a SIMD kernel, into which the row products of all storages are inlined.
pub struct GradientRow<'a, F: Quadratic> {
    /// The smooth part.
    pub f: &'a F,
    /// Image of X.
    pub image: &'a F::Image,
    /// The point.
    pub x: &'a RowMat,
    /// The row.
    pub i: usize,
    /// Room for a row.
    pub buf: &'a mut [f64],
}

impl<'a, F: Quadratic> WithSimd for GradientRow<'a, F> {
    type Output = &'a [f64];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> &'a [f64] {
        self.f.gradient_row(self.image, self.x, self.i, self.buf)
    }
}

impl<F: Quadratic + ?Sized> WithSimd for MovePair<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.f.move_pair(simd, self.image, self.pair.0, self.pair.1, self.by.0, self.by.1);
    }
}

/// The workspace of [`Quadratic::pair_curvature`]: a sparse column of the data, unpacked.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    asked: Option<usize>, // the last pivot; one that comes twice in a row is unpacked
    variable: Option<usize>,
    column: Vec<f64>, // zero but for the entries of the variable's column
}

/// Recent use of the gradient by a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Pairs of gradient rows read.
    pub pairs: u64,
    /// Pairs of rows of X that moved.
    pub moves: u64,
    /// Rows of X that are not zero.
    pub nonzero_rows: usize,
}

/// Estimate of an unknown L: ‖∇²f(X⁰)‖ by the power method on differences of gradients from
/// `direction` on, the unit of steps that methods adapt anyway. Cost of nine gradients.
pub fn estimate_lipschitz(f: &impl Smooth, x0: &RowMat, direction: &RowMat) -> f64 {
    const POWER_STEPS: usize = 8;
    // a third of the digits for truncation, the rest for rounding
    const STEP: f64 = 1e-5;
    let (mut here, mut there) = (x0.clone(), x0.clone());
    f.gradient(x0, &mut here);
    let (mut direction, mut largest) = (direction.clone(), 0.0f64);
    for _ in 0..POWER_STEPS {
        let size = direction.norm();
        if size == 0.0 || !size.is_finite() {
            break;
        }
        let t = STEP * x0.norm().max(1.0) / size;
        let moved = RowMat::from_fn(x0.nrows(), x0.ncols(), |i, k| x0.get(i, k) + t * direction.get(i, k));
        f.gradient(&moved, &mut there);
        direction = RowMat::from_fn(x0.nrows(), x0.ncols(), |i, k| (there.get(i, k) - here.get(i, k)) / t);
        let ratio = direction.norm() / size;
        if ratio.is_finite() {
            largest = largest.max(ratio);
        }
    }
    largest
}

/// The curvature of a quadratic f for step lengths: a concave f is majorised by its
/// linearisation, so a few steps of subspace iteration suffice; a convex direction needs the true bound.
pub fn ritz_curvature(f: &impl Quadratic, columns: usize) -> Option<f64> {
    const STEPS: usize = 12;
    if !f.is_concave() {
        return f.lipschitz();
    }
    let mut v = stiefel::random(f.nrows(), columns.min(4), &mut Pcg64::seed_from_u64(0x4c66));
    for _ in 0..STEPS {
        let w = f.apply(&v);
        if w.norm() == 0.0 || w.find_non_finite().is_some() {
            return Some(0.0);
        }
        v = stiefel::orthonormalise(&w);
    }
    let ritz = cross(&v, &f.apply(&v));
    Some(symmetric_eigen(&ritz).map_or(0.0, |(values, _)| values.iter().fold(0.0f64, |a, w| a.max(w.abs()))))
}

/// ‖M‖₂ up to one part in a million above its leading eigenvalue, never above `cap`, a known
/// bound.
pub fn spectral_norm(n: usize, cap: f64, apply: impl Fn(&RowMat) -> RowMat + Sync) -> f64 {
    let value = largest_magnitude(n, &apply).or_else(|| {
        let (values, _) = leading(&Operator { n, apply: &apply }, 1).ok()?;
        Some(values[0].abs()).filter(|v| v.is_finite())
    });
    value.map_or(cap, |v| (1.000_001 * v).min(cap))
}
