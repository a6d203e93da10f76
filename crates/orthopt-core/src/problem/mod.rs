//! Problems: a constraint set and the terms of F, put together.

mod between;
mod covariance;
mod data;
mod j_orthogonal;
pub mod limits;
mod storage;
pub mod variance;

use crate::concave::{AnyConcave, Concave, NoConcave};
use crate::constraint::{Constraint, Stiefel};
use crate::linear_map::{AnyMap, Identity, LinearMap};
use crate::nonsmooth::Nonsmooth;
use crate::objective::{Evaluate, Objective, without_dust};
use crate::penalty::{AnyPenalty, NoPenalty};
use crate::smooth::{AnySmooth, NonlinearEig, SampleLoss, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

pub use between::Between;
pub use covariance::SMALLEST;
pub use covariance::{covariance, covariance_model, scatter};
pub use data::PcaData;
pub use j_orthogonal::JProblem;
pub use limits::nonzero_rows;
pub use limits::{Cardinality, support};
pub use storage::{Cost, STORAGES, Storage};
pub use variance::{ExplainedVariance, explained_variance, squares_on_span};
pub use variance::{by_variance, pca_share, principal_axes, projected_share, variance_in_time};

/// min F(X) = f(X) + constant − g(X) + h(A(X)) over X ∈ C.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem<C, F, H = NoPenalty, G = NoConcave, A = Identity> {
    /// The constraint set C.
    pub constraint: C,
    /// The smooth part f.
    pub f: F,
    /// The nonsmooth part h.
    pub h: H,
    /// The concave part is −g.
    pub g: G,
    /// The linear map A inside h.
    pub a: A,
    /// Constant added to f, as in data terms. No method needs it.
    pub constant: f64,
}

/// Sparse, nonnegative and plain PCA posed at run time.
pub type PcaProblem = Problem<Stiefel, AnySmooth, AnyPenalty>;

/// f − g + h∘A posed at run time.
pub type CompositeProblem = Problem<Stiefel, AnySmooth, AnyPenalty, AnyConcave, AnyMap>;

/// min ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ over XᵀX = I, ρ = diag(XXᵀ).
pub type NonlinearEigProblem = Problem<Stiefel, NonlinearEig>;

/// min f(AX) over XᵀX = I for a loss of the scores AX of samples.
pub type SampleProblem = Problem<Stiefel, SampleLoss>;

impl<F: Smooth, H: Nonsmooth> Problem<Stiefel, F, H> {
    /// min f + h over St(n, r), n the number of rows f is made for.
    ///
    /// # Errors
    /// [`Error::Rank`] unless 1 ≤ r ≤ n; an f for another number of columns.
    pub fn new(f: F, h: H, rank: usize) -> Result<Self> {
        Ok(Problem::over(Stiefel::new(f.nrows(), rank)?, f)?.plus(h))
    }
}

impl<C: Constraint, F: Smooth> Problem<C, F> {
    /// min f over the set.
    ///
    /// # Errors
    /// An f for matrices of another shape.
    pub fn over(constraint: C, f: F) -> Result<Self> {
        let (rows, cols) = constraint.shape();
        let (expected_rows, expected_cols) = (rows, cols);
        let (rows, cols) = (f.nrows(), f.ncols().unwrap_or(cols));
        if (rows, cols) != (expected_rows, expected_cols) {
            let what = if rows == expected_rows { "the linear term E" } else { "X, as f has it," }.into();
            return Err(Error::Shape { what, rows, cols, expected_rows, expected_cols });
        }
        Ok(Self { constraint, f, h: NoPenalty, g: NoConcave, a: Identity, constant: 0.0 })
    }
}

impl<C: Constraint, F: Smooth, H, G, A> Problem<C, F, H, G, A> {
    /// This problem with the nonsmooth part `h`.
    pub fn plus<T: Nonsmooth>(self, h: T) -> Problem<C, F, T, G, A> {
        let Self { constraint, f, g, a, constant, .. } = self;
        Problem { constraint, f, h, g, a, constant }
    }

    /// This problem with `g` subtracted from F.
    ///
    /// # Errors
    /// A g that does not fit such X.
    pub fn minus<T: Concave>(self, g: T) -> Result<Problem<C, F, H, T, A>> {
        let Self { constraint, f, h, a, constant, .. } = self;
        let (n, r) = constraint.shape();
        g.check(n, r)?;
        Ok(Problem { constraint, f, h, g, a, constant })
    }

    /// This problem with h(A(X)) instead of h(X).
    ///
    /// # Errors
    /// A map that does not fit such X.
    pub fn through<T: LinearMap>(self, a: T) -> Result<Problem<C, F, H, G, T>> {
        let Self { constraint, f, h, g, constant, .. } = self;
        a.output(constraint.shape())?;
        Ok(Problem { constraint, f, h, g, a, constant })
    }

    /// This problem with `constant` as the constant term of F.
    #[doc(hidden)]
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant, ..self }
    }

    /// Rows and columns of X.
    pub fn shape(&self) -> (usize, usize) {
        self.constraint.shape()
    }

    /// Number of rows n of X.
    pub fn nrows(&self) -> usize {
        self.shape().0
    }

    /// Number of columns r of X.
    pub fn rank(&self) -> usize {
        self.shape().1
    }

    /// ∇f(X).
    pub fn gradient(&self, x: &RowMat) -> RowMat {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        self.f.gradient(x, &mut g);
        g
    }
}

impl<C: Constraint, F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Problem<C, F, H, G, A> {
    /// F(X), the objective. Cost of a gradient.
    pub fn value(&self, x: &RowMat) -> f64 {
        self.smooth(x) - self.g.value(x) + self.penalty(x)
    }

    /// F(X) and its parts; `nonsmooth` is h(A(X)) − g(X). Cost of a gradient.
    pub fn objective(&self, x: &RowMat) -> Objective {
        self.parts(self.smooth(x), x)
    }

    /// True if h rewards zeros of X itself, or has its bound there.
    fn asks_for_zeros(&self) -> bool {
        (self.h.promotes_sparsity() || self.h.requires_nonneg()) && self.a.is_identity()
    }

    /// [`Evaluate::cleaned`].
    pub fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        let restore = |x: &mut RowMat| {
            let error = self.constraint.repair(x);
            // where X >= 0 a repair may take more than there is of a small entry
            if self.h.of(x).is_finite() { error } else { f64::INFINITY }
        };
        self.asks_for_zeros().then(|| without_dust(x, |x| self.objective(x), restore)).flatten()
    }

    fn smooth(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.constant
    }

    fn parts(&self, smooth: f64, x: &RowMat) -> Objective {
        let nonsmooth = self.penalty(x) - self.g.value(x);
        Objective { total: smooth + nonsmooth, smooth, nonsmooth }
    }

    /// Violation of the constraint, ‖XᵀX − I‖_F or the mean of |XᵀJX − J|.
    pub fn feasibility(&self, x: &RowMat) -> f64 {
        self.constraint.feasibility(x)
    }

    /// True if X itself must be nonnegative.
    pub fn requires_nonneg(&self) -> bool {
        self.a.is_identity() && self.h.requires_nonneg()
    }

    /// ‖min(0, X)‖_F where X must be nonnegative.
    pub fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.requires_nonneg().then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }

    /// h(A(X)).
    fn penalty(&self, x: &RowMat) -> f64 {
        if self.a.is_identity() { self.h.of(x) } else { self.h.of(&self.a.apply(x)) }
    }
}

impl<C: Constraint, F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Evaluate for Problem<C, F, H, G, A> {
    fn value(&self, x: &RowMat) -> f64 {
        self.value(x)
    }

    fn objective(&self, x: &RowMat) -> Objective {
        self.objective(x)
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let smooth = self.smooth(x);
        let (g, h) = (self.g.value(x), self.penalty(x));
        (smooth - g + h, Objective { total: smooth + (h - g), smooth, nonsmooth: h - g })
    }

    fn asks_for_zeros(&self) -> bool {
        self.asks_for_zeros()
    }

    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        self.cleaned(x)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        self.feasibility(x)
    }

    fn is_sized(&self, x: &RowMat) -> bool {
        self.constraint.is_sized(x)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.nonneg_violation(x)
    }
}
